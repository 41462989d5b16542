#include "condense/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

enum { BYTES_BUDGET = 100000 };

static void begin(struct wr_keep *keep, struct wr_arena *arena, const char *text)
{
    struct wr_condense_input input = {
        .text = wr_span_of(text), .kind = WR_OUTPUT_PROCESS, .bytes_budget = BYTES_BUDGET};
    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_choose_begin(keep, arena, &input), WEIR_OK);
}

/* Whether exactly the lines that `picture` marks with 'x' are kept. */
static void assert_kept(const struct wr_keep *keep, const char *picture)
{
    for (uint32_t line = 0; line < keep->lines_count; line++)
        if (keep->is_kept[line] != (picture[line] == 'x'))
            fail_msg("line %u is%s kept", line, keep->is_kept[line] ? "" : " not");
}

static void keeps_signals_and_notes_first(void **state)
{
    struct wr_arena arena;
    struct wr_keep keep;
    (void)state;
    begin(&keep, &arena, "Exit code 1\nwords\nerror: no such thing\nwords\n");
    assert_kept(&keep, "x.x.");
    wr_arena_release(&arena);
}

static void keeps_context_up_to_borders(void **state)
{
    static const uint8_t none[10] = {0};
    static const uint8_t borders[10] = {[2] = WR_BORDER_HEADING, [7] = WR_BORDER_WALL};
    static const char text[] = "a\nb\nc\nd\nerror: no such thing\nf\ng\nh\ni\nj\n";
    struct wr_arena arena;
    struct wr_keep keep;
    (void)state;
    begin(&keep, &arena, text);
    assert_int_equal(wr_choose_context(&keep, none, 1, 3), WEIR_OK);
    assert_kept(&keep, "...xxxxx..");
    wr_arena_release(&arena);
    begin(&keep, &arena, text);
    assert_int_equal(wr_choose_context(&keep, borders, 9, 9), WEIR_OK);
    assert_kept(&keep, "..xxxxx...");
    wr_arena_release(&arena);
}

static void shares_what_is_left(void **state)
{
    struct wr_arena arena;
    struct wr_keep keep;
    (void)state;
    begin(&keep, &arena, "words\n");
    keep.bytes_used = BYTES_BUDGET - 1000;
    assert_int_equal(wr_choose_share(&keep, 40), BYTES_BUDGET);
    assert_int_equal(keep.bytes_budget, BYTES_BUDGET - 600);
    keep.bytes_used = 2 * BYTES_BUDGET; /* signals took more */
    (void)wr_choose_share(&keep, 40);
    assert_int_equal(keep.bytes_budget, 2 * BYTES_BUDGET);
    wr_arena_release(&arena);
}

static void spreads_over_all_lines(void **state)
{
    static const uint32_t lines[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct wr_arena arena;
    struct wr_keep keep;
    (void)state;
    begin(&keep, &arena, "aaaa\nbbbb\ncccc\ndddd\neeee\nffff\ngggg\nhhhh\n");
    /* Room for two lines, one of them with a gap on both sides. */
    keep.bytes_budget = keep.bytes_used + 5 + 5 + WR_KEEP_GAP_BYTES;
    wr_choose_spread(&keep, lines, 8);
    assert_kept(&keep, "x...x...");
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_signals_and_notes_first),
        cmocka_unit_test(keeps_context_up_to_borders),
        cmocka_unit_test(shares_what_is_left),
        cmocka_unit_test(spreads_over_all_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
