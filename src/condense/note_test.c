#include "condense/note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/signal.h"

/* ---- notes ---- */

static const struct {
    const char *line;
    bool is_note, is_cut;
} rows[] = {
    {"Exit code: 1", true, false},
    {"Wall time: 1.2 seconds", true, false},
    {"Process running with session ID 7", true, false},
    {"Command running in background with ID: b7. Output is being written to: /tmp/b7.output", true,
     false},
    {"<returncode>0</returncode>", true, false},
    {"  <task_id>b7</task_id>", true, false},
    {"Output too large (4.8MB). Full output saved to: /x/y.txt", true, false},
    {"[Showing lines 1-5 of 9. Full output: /tmp/x]", true, false},
    {"[Command finished with exit code 0]", true, false},
    {"words\xe2\x80\xa6"
     "123 tokens truncated\xe2\x80\xa6more words",
     false, true},
    {"...output truncated...", false, true},
    {"[... output truncated: 900 chars total. ...]", false, true},
    {"[... 3 lines left out: 7-9]", false, true},
    {"plain words", false, false},
    {"exit code handling is done here", false, false},
    {"", false, false},
};

static void knows_notes(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_note_is(wr_span_of(rows[i].line)) != rows[i].is_note ||
            wr_note_is_cut(wr_span_of(rows[i].line)) != rows[i].is_cut) {
            print_error("%s\n", rows[i].line);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

static uint32_t keep_notes(struct wr_arena *arena, const struct wr_buf *text)
{
    struct wr_keep keep;
    struct wr_condense_input input = {.text = wr_buf_view(text)};
    uint32_t count = 0;
    assert_int_equal(wr_keep_init(&keep, arena, &input), WEIR_OK);
    wr_note_keep(&keep);
    for (uint32_t line = 0; line < keep.lines_count; line++)
        count += keep.is_kept[line];
    return count;
}

/* Lines like a header in the middle are part of what was printed; marks of cuts may stand there. */
static void seeks_them_where_they_stand(void **state)
{
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    wr_buf_text(&text, "Exit code: 1\n");
    for (int i = 0; i < 100; i++)
        wr_buf_text(&text, i == 50 ? "Exit code: 1\n...output truncated...\n" : "words\n");
    wr_buf_text(&text, "[Full output: /tmp/x]\n");
    assert_int_equal(keep_notes(&arena, &text), 3);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

/* ---- gaps ---- */

static const struct {
    const char *behaviour, *line;
    bool is_gap;
} gaps_rows[] = {
    {"several lines", "[... 80 lines left out: 41-120]", true},
    {"one line", "[... 1 line left out: 7]", true},
    {"with its line end", "[... 1 line left out: 7]\r\n", true},
    {"not with an indent", " [... 1 line left out: 7]", false},
    {"not with words behind it", "[... 1 line left out: 7] and more", false},
    {"not without numbers", "[... lines left out: 41-120]", false},
    {"not without the last number", "[... 80 lines left out: 41]", false},
    {"not another mark", "[... output truncated: 80 chars total]", false},
    {"not nothing", "", false},
};

static void knows_its_lines(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(gaps_rows); i++)
        if (wr_gap_is(wr_span_of(gaps_rows[i].line)) != gaps_rows[i].is_gap) {
            print_error("%s\n", gaps_rows[i].behaviour);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

static void knows_what_it_writes(void **state)
{
    struct wr_buf buf;
    (void)state;
    wr_buf_init(&buf, 1000);
    for (uint64_t count = 1; count < 4; count++) {
        wr_buf_reset(&buf);
        wr_gap_write(&buf, UINT32_MAX, count);
        assert_true(wr_gap_is(wr_buf_view(&buf)));
        wr_buf_reset(&buf);
        wr_gap_write_shown(&buf, count);
        assert_true(wr_gap_is(wr_buf_view(&buf)));
    }
    wr_buf_release(&buf);
}

/* What stands behind a gap is read in the light of what stands before it. */
static void is_passed_over_by_the_scan(void **state)
{
    struct wr_arena arena;
    struct wr_signal_set whole, gapped;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_signal_scan(&whole, &arena,
                                    WR_LIT("--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n-a\n+b\n"
                                           "@@ -7,2 +7,2 @@\n-error: c\n+d\n"),
                                    WR_OUTPUT_PROCESS),
                     WEIR_OK);
    assert_int_equal(wr_signal_scan(&gapped, &arena,
                                    WR_LIT("--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n"
                                           "[... 2 lines left out: 4-5]\n@@ -7,2 +7,2 @@\n"
                                           "[... 2 lines left out: 7-8]\n"),
                                    WR_OUTPUT_PROCESS),
                     WEIR_OK);
    assert_true(wr_signal_set_equal(&whole, &gapped, NULL));
    assert_int_equal(whole.count, 3);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_notes),
        cmocka_unit_test(seeks_them_where_they_stand),
        cmocka_unit_test(knows_its_lines),
        cmocka_unit_test(knows_what_it_writes),
        cmocka_unit_test(is_passed_over_by_the_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
