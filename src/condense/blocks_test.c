/* A text of lines of 50 bytes; a letter a line says what is known of it: a digit is its worth, 's'
 * before one begins a block, '_' is blank. */
#include "condense/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/limits.h"

enum { LINE_BYTES = 50 };

static const struct {
    const char *behaviour, *lines;
    uint32_t lines_max, keeps_lines;
    const char *kept; /* '+' or '.' a line */
} cases[] = {
    {"the densest block is kept first", "11s99s11", 9, 2, "..++.."},
    {"a block ends behind a blank line", "11_99_11", 9, 3, "...+++.."},
    {"a block that does not fit is kept from its front", "11s99999s11", 9, 3, "..+++...."},
    {"a long block is cut in parts", "1199", 2, 2, "..++"},
    {"of equals the one nearer to the front", "55_55_55_55_", 9, 3, "+++........."},
    {"the front counts for a little", "55_55_55_56_", 9, 3, "+++........."},
    {"the neighbour of a dense block comes before others", "11_11_11_99_11_", 9, 6,
     "......++++++..."},
    {"what is worth nothing is left out, even where there is room", "11s00s00", 9, 9, "++...."},
};

static uint32_t read_lines(struct wr_block_line *lines, struct wr_buf *text, const char *notation)
{
    uint32_t count = 0;
    bool is_start = false;
    for (; *notation; notation++) {
        if (*notation == 's') {
            is_start = true;
            continue;
        }
        lines[count++] =
            (struct wr_block_line){.worth = (uint16_t)(*notation == '_' ? 0 : *notation - '0'),
                                   .is_start = is_start,
                                   .is_blank = *notation == '_'};
        is_start = false;
        wr_buf_printf(text, "%*s\n", LINE_BYTES - 1, "x");
    }
    return count;
}

static void blocks_are_kept_by_density(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_keep keep;
        struct wr_buf text;
        struct wr_block_line lines[32];
        char kept[32 + 1] = {0};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 16);
        uint32_t count = read_lines(lines, &text, cases[i].lines);
        struct wr_condense_input input = {.text = wr_buf_view(&text),
                                          .bytes_budget = cases[i].keeps_lines * LINE_BYTES +
                                                          2 * WR_KEEP_GAP_BYTES};
        assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
        assert_int_equal(keep.lines_count, count);
        assert_int_equal(wr_blocks_keep(&keep, lines, cases[i].lines_max), WEIR_OK);
        for (uint32_t line = 0; line < count; line++)
            kept[line] = keep.is_kept[line] ? '+' : '.';
        if (!wr_span_is(wr_span_of(kept), cases[i].kept))
            fail_msg("%s: %s, not %s", cases[i].behaviour, kept, cases[i].kept);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_kept_by_density)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
