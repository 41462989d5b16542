#include "condense/lossless.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/condense_check.h"

#define ESC "\x1b"

/* `origins` from 1, as "1,2,5": the line each line of the result was; "-": it has no number. */
static const struct {
    const char *behaviour;
    enum wr_output_kind kind;
    const char *text, *expected, *origins;
} rows[] = {
    {"a clean text passes", WR_OUTPUT_PROCESS, "one\n\ntwo\n", "one\n\ntwo\n", ""},
    {"an empty text passes", WR_OUTPUT_PROCESS, "", "", ""},
    {"white space at the end of lines goes", WR_OUTPUT_PROCESS, "one  \n\ttwo\t \nthree \n",
     "one\n\ttwo\nthree\n", "1,2,3,"},
    {"and that of the last line", WR_OUTPUT_PROCESS, "one\ntwo  ", "one\ntwo", "1,2,"},
    {"and carriage returns before line ends", WR_OUTPUT_LOG, "one\r\ntwo\r\n", "one\ntwo\n",
     "1,2,"},
    {"blank lines behind a blank line go", WR_OUTPUT_PROCESS, "one\n\n\n \t\ntwo\n", "one\n\ntwo\n",
     "1,2,5,"},
    {"also at the front and at the end", WR_OUTPUT_TEST, "\n\none\n\n\n", "\none\n\n", "1,3,4,"},
    {"nothing but white space does not become nothing", WR_OUTPUT_PROCESS, "   ", "   ", ""},
    {"lines of white space become one line end", WR_OUTPUT_PROCESS, " \n \n", "\n", "1,"},
    {"a bar shows its last state", WR_OUTPUT_PROCESS, "get\n 10%\r 50%\r100%\ndone\n",
     "get\n100%\ndone\n", "1,2,3,"},
    {"colours go", WR_OUTPUT_LIST, ESC "[34msrc" ESC "[0m\nREADME\n", "src\nREADME\n", "1,2,"},
    {"lines that are drawn again have no numbers", WR_OUTPUT_PROCESS,
     "a: wait\nb: wait\n" ESC "[2A" ESC "[2Ka: done\n" ESC "[2Kb: done\n", "a: done\nb: done\n",
     "-"},
    {"an error that is drawn over stays, and so do all frames", WR_OUTPUT_PROCESS,
     "error: disk full\rretrying         \ndone\n", "error: disk full\rretrying\ndone\n", "1,2,"},
    {"a file keeps its white space", WR_OUTPUT_FILE, "one  \n\n\n\ntwo\n", "one  \n\n\n\ntwo\n",
     ""},
    {"a diff keeps its white space", WR_OUTPUT_DIFF, "+one  \n \n+\n", "+one  \n \n+\n", ""},
    {"search results keep theirs", WR_OUTPUT_SEARCH, "a.c:1:one  \n", "a.c:1:one  \n", ""},
    {"data keeps its own", WR_OUTPUT_JSON, "a: |\n  one  \n\n\n\n", "a: |\n  one  \n\n\n\n", ""},
};

static void write_origins(struct wr_buf *out, const struct wr_lossless_text *text)
{
    if (!text->is_same && text->lines_moved)
        wr_buf_text(out, "-");
    for (uint32_t i = 0; text->origins && i < text->lines_count; i++)
        wr_buf_printf(out, "%u,", text->origins[i] + 1);
}

static bool row_holds(size_t at, struct wr_arena *arena, struct wr_buf *origins)
{
    struct wr_lossless_text out, again;
    weir_span text = wr_span_of(rows[at].text);
    if (wr_lossless(&out, arena, text, rows[at].kind) ||
        wr_lossless(&again, arena, out.text, rows[at].kind))
        return false;
    write_origins(origins, &out);
    bool counted = !out.origins || out.origins[out.lines_count] == out.lines_total;
    return counted && out.is_same == wr_span_eq(out.text, text) &&
           wr_span_is(out.text, rows[at].expected) && wr_span_eq(again.text, out.text) &&
           wr_span_is(wr_buf_view(origins), rows[at].origins);
}

static void takes_out_what_no_reader_misses(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        struct wr_buf origins;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&origins, 1000);
        if (!row_holds(i, &arena, &origins)) {
            print_error("%s\n", rows[i].behaviour);
            wrong++;
        }
        wr_buf_release(&origins);
        wr_arena_release(&arena);
    }
    assert_int_equal(wrong, 0);
}

/* ---- in a condensed text ---- */

static void write_bars(struct wr_buf *out, unsigned lines, const char *before)
{
    for (unsigned i = 0; i < lines; i++)
        wr_buf_printf(out, "%spart %u:  10%%\rpart %u: 100%%   \n\n\n", before, i, i);
}

static void condense_in(struct wr_condensed *out, struct wr_arena *arena, weir_span text,
                        size_t bytes_budget)
{
    struct wr_condense_input input = {.text = text,
                                      .kind = WR_OUTPUT_PROCESS,
                                      .command = {"", 0},
                                      .path = {"", 0},
                                      .query = {"", 0},
                                      .focus = {"", 0},
                                      .bytes_budget = bytes_budget};
    assert_int_equal(wr_condense(out, arena, &input), WEIR_OK);
    const char *broken = condense_check(&input, wr_condense);
    if (broken)
        print_error("%s\n", broken);
    assert_null(broken);
}

static void counts_lines_as_they_came(void **state)
{
    struct wr_condensed out;
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 100000);
    write_bars(&text, 200, "");
    condense_in(&out, &arena, wr_buf_view(&text), 600);
    assert_int_equal(out.lines_total, 600);
    assert_true(out.text.len <= 700);
    assert_null(memchr(out.text.ptr, '\r', out.text.len));
    assert_int_equal(out.kept[out.kept_count - 1].end, 600);
    /* Each part has three lines, of which two are shown. */
    for (uint32_t i = 0; i < out.kept_count; i++)
        assert_true(out.kept[i].first % 3 != 2 && out.kept[i].end % 3 != 2);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

static void gives_no_numbers_to_moved_lines(void **state)
{
    struct wr_condensed out;
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 100000);
    write_bars(&text, 200, "one\n" ESC "[1A");
    condense_in(&out, &arena, wr_buf_view(&text), 600);
    assert_true(out.lines_moved && !out.is_same && !out.kept_count);
    assert_true(wr_span_has(out.text, WR_LIT(" lines left out of what was shown]")));
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

static void says_when_only_frames_went(void **state)
{
    struct wr_condensed out;
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    condense_in(&out, &arena, WR_LIT("a\n 10%\r100%\nb\n"), 1000);
    assert_true(wr_span_is(out.text, "a\n100%\nb\n"));
    assert_false(out.is_same);
    assert_int_equal(out.kept_count, 1);
    assert_int_equal(out.kept[0].end, 3);
    wr_arena_release(&arena);
}

/* A stream with control bytes keeps its last 256 KB, whatever the budget, and an error before. */
static void caps_streams_and_values(void **state)
{
    struct wr_condensed out;
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 4 << 20);
    wr_buf_text(&text, "first\nerror: no disk\n");
    for (unsigned i = 0; i < 40000; i++)
        wr_buf_printf(&text, "  1%%\rstep %u is done\n", i);
    condense_in(&out, &arena, wr_buf_view(&text), 4 << 20);
    assert_true(out.text.len <= WR_TERMINAL_STREAM_BYTES_MAX);
    assert_true(out.text.len > WR_TERMINAL_STREAM_BYTES_MAX - 100);
    assert_true(wr_span_has(out.text, WR_LIT("error: no disk\n")));
    assert_true(wr_span_ends(out.text, WR_LIT("step 39999 is done\n")));

    wr_buf_reset(&text);
    for (unsigned i = 0; i < 20000; i++)
        wr_buf_text(&text, "value ");
    wr_buf_text(&text, "\n 1%\rend\n");
    condense_in(&out, &arena, wr_buf_view(&text), 4 << 20);
    assert_true(out.text.len <= WR_TERMINAL_VALUE_BYTES_MAX + sizeof("end\n"));
    assert_true(out.text.len > WR_TERMINAL_VALUE_BYTES_MAX - 100);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_out_what_no_reader_misses),
        cmocka_unit_test(counts_lines_as_they_came),
        cmocka_unit_test(gives_no_numbers_to_moved_lines),
        cmocka_unit_test(says_when_only_frames_went),
        cmocka_unit_test(caps_streams_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
