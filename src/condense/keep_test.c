#include "condense/keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- keep ---- */

/* ---- cutting one line ---- */

static void a_cut_line_says_how_much_was_cut(void **state)
{
    struct wr_line_cut cut = {WR_KEEP_CUT_BYTES_MIN, WR_LIT("")};
    struct wr_buf line, got;
    (void)state;
    wr_buf_init(&line, 4096);
    wr_buf_init(&got, 4096);
    for (unsigned i = 0; i < 1000; i++)
        wr_buf_byte(&line, (char)('a' + i % 26));
    wr_keep_cut(&got, wr_buf_view(&line), &cut);
    assert_true(
        wr_span_eq(wr_buf_view(&got), WR_LIT("abcdefghijklmnopqrstuvwxyzabcdefghijkl"
                                             " [… 944 bytes left out …] uvwxyzabcdefghijkl")));
    wr_buf_reset(&got);
    cut = (struct wr_line_cut){WR_KEEP_CUT_BYTES_MIN + 6, WR_LIT("base64")};
    wr_keep_cut(&got, wr_buf_view(&line), &cut);
    assert_true(wr_span_has(wr_buf_view(&got), WR_LIT(" [… 944 bytes of base64 left out …] ")));
    wr_buf_release(&line);
    wr_buf_release(&got);
}

static void a_line_that_is_not_too_long_stays(void **state)
{
    struct wr_line_cut cut = {WR_KEEP_CUT_BYTES_MIN, WR_LIT("")};
    struct wr_buf got;
    (void)state;
    wr_buf_init(&got, 4096);
    wr_keep_cut(&got, WR_LIT("short"), &cut);
    assert_true(wr_span_is(wr_buf_view(&got), "short"));
    wr_buf_release(&got);
}

static void no_character_is_cut_and_the_length_is_kept(void **state)
{
    static const char *const units[] = {"x", "ä", "€", "𝄞", "aä€𝄞"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(units); i++)
        for (size_t bytes_max = WR_KEEP_CUT_BYTES_MIN; bytes_max < WR_KEEP_CUT_BYTES_MIN + 24;
             bytes_max++) {
            struct wr_line_cut cut = {bytes_max, WR_LIT("")};
            struct wr_buf line, got;
            wr_buf_init(&line, 4096);
            wr_buf_init(&got, 4096);
            while (line.len < 900)
                wr_buf_text(&line, units[i]);
            wr_keep_cut(&got, wr_buf_view(&line), &cut);
            assert_true(got.len <= bytes_max);
            assert_int_equal(wr_utf8_check(wr_buf_view(&got), false), got.len);
            wr_buf_release(&line);
            wr_buf_release(&got);
        }
}

static void bytes_that_are_no_text_are_cut_anywhere(void **state)
{
    struct wr_line_cut cut = {WR_KEEP_CUT_BYTES_MIN, WR_LIT("")};
    char bytes[400];
    struct wr_buf got;
    (void)state;
    memset(bytes, 0x80, sizeof(bytes));
    wr_buf_init(&got, 4096);
    wr_keep_cut(&got, (weir_span){bytes, sizeof(bytes)}, &cut);
    assert_true(got.len <= WR_KEEP_CUT_BYTES_MIN);
    wr_buf_release(&got);
}

/* ---- cutting in a text ---- */

#define FILL "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "

/* Lines kept: all. `cut_lines` as "1,3", from 1. */
static const struct {
    const char *behaviour;
    enum wr_output_kind kind;
    const char *text, *cut_lines;
} cases[] = {
    {"long lines are cut, others are not", WR_OUTPUT_FILE, FILL FILL FILL "\nshort\n" FILL FILL,
     "1,3,"},
    {"a line that carries a signal is whole", WR_OUTPUT_PROCESS,
     FILL FILL "\nerror: " FILL FILL "\n", "1,"},
    {"no line is cut where that would make a signal", WR_OUTPUT_PROCESS,
     FILL FILL "\n" FILL FILL "nonexit status 123456\n", ""},
    {"a line of wr_keep_whole() is whole", WR_OUTPUT_FILE, "whole " FILL FILL FILL "\n" FILL FILL,
     "2,"},
};

static void keep_all_lines(struct wr_keep *keep)
{
    if (wr_span_starts(keep->text, WR_LIT("whole ")))
        wr_keep_whole(keep, 0);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
}

static void lines_are_cut_lawfully(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_keep keep;
        struct wr_condensed out;
        struct wr_buf got;
        struct wr_condense_input input = {
            .text = wr_span_of(cases[i].text), .kind = cases[i].kind, .bytes_budget = SIZE_MAX / 2};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&got, 4096);
        assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
        assert_int_equal(wr_keep_shorten(&keep, 0, WR_LIT("")), WEIR_OK);
        assert_int_equal(wr_keep_signals(&keep, cases[i].kind, 0), WEIR_OK);
        keep_all_lines(&keep);
        assert_int_equal(wr_keep_write(&keep, &out), WEIR_OK);
        for (uint32_t k = 0; k < out.cut_count; k++)
            wr_buf_printf(&got, "%u,", out.cut_lines[k] + 1);
        if (!wr_span_is(wr_buf_view(&got), cases[i].cut_lines))
            fail_msg("%s: cut %.*s:\n%.*s", cases[i].behaviour, (int)got.len,
                     got.bytes ? got.bytes : "", (int)out.text.len, out.text.ptr);
        wr_buf_release(&got);
        wr_arena_release(&arena);
    }
}

/* Three lines of 1000, 300 and 10 bytes, cut to 100: what the budget has left is shared. */
static void what_is_left_widens_cuts(void **state)
{
    struct wr_arena arena;
    struct wr_keep keep;
    struct wr_condensed out;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 4096);
    for (unsigned i = 0; i < 1310; i++)
        wr_buf_text(&text, i == 1000 || i == 1300 ? "\nx" : "x");
    struct wr_condense_input input = {
        .text = wr_buf_view(&text), .kind = WR_OUTPUT_FILE, .bytes_budget = 900};
    assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
    assert_int_equal(wr_keep_shorten(&keep, 100, WR_LIT("")), WEIR_OK);
    (void)wr_keep_from_front(&keep, 0, keep.lines_count);
    wr_keep_widen(&keep);
    assert_int_equal(wr_keep_write(&keep, &out), WEIR_OK);
    assert_int_equal(out.cut_count, 1); /* the second has room for all of it by now */
    assert_true(out.text.len <= 900 && out.text.len > 850);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

static void shares_are_of_the_whole_budget(void **state)
{
    struct wr_keep keep = {0};
    (void)state;
    wr_keep_spend_until(&keep, 1000, 10);
    assert_int_equal(keep.bytes_budget, 100 + WR_KEEP_GAP_BYTES);
    wr_keep_spend_until(&keep, 1000, 100);
    assert_int_equal(keep.bytes_budget, 1000);
    wr_keep_spend_until(&keep, 10, 50);
    assert_int_equal(keep.bytes_budget, 10);
}

/* ---- choose ---- */

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
        cmocka_unit_test(a_cut_line_says_how_much_was_cut),
        cmocka_unit_test(a_line_that_is_not_too_long_stays),
        cmocka_unit_test(no_character_is_cut_and_the_length_is_kept),
        cmocka_unit_test(bytes_that_are_no_text_are_cut_anywhere),
        cmocka_unit_test(lines_are_cut_lawfully),
        cmocka_unit_test(what_is_left_widens_cuts),
        cmocka_unit_test(shares_are_of_the_whole_budget),
        cmocka_unit_test(keeps_signals_and_notes_first),
        cmocka_unit_test(keeps_context_up_to_borders),
        cmocka_unit_test(shares_what_is_left),
        cmocka_unit_test(spreads_over_all_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
