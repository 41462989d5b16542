#include "condense/condense.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/condense_check.h"

static struct wr_condense_input input_of(weir_span text, enum wr_output_kind kind)
{
    return (struct wr_condense_input){.text = text,
                                      .kind = kind,
                                      .command = {"", 0},
                                      .path = {"", 0},
                                      .query = {"", 0},
                                      .focus = {"", 0},
                                      .bytes_budget = text.len / 10};
}

static void write_lines(struct wr_buf *out, const char *front, unsigned lines, const char *end)
{
    wr_buf_text(out, front);
    for (unsigned i = 0; i < lines; i++)
        wr_buf_printf(out, "src/part_%u.c has something to say about item %u\n", i, i * 7);
    wr_buf_text(out, end);
}

static const struct {
    const char *behaviour, *front;
    unsigned lines;
    enum wr_output_origin origin;
    bool is_whole;
} exempt_rows[] = {
    {"what a command printed is condensed", "", 200, WR_ORIGIN_RUN, false},
    {"and what no tool is known of", "", 200, WR_ORIGIN_UNKNOWN, false},
    {"recalled text stays", "", 200, WR_ORIGIN_TELL, true},
    {"what is said of an edit stays", "The file a.c has been updated.\n", 60, WR_ORIGIN_CHANGE,
     true},
    {"unless it shows all of the file", "The file a.c has been updated.\n", 400, WR_ORIGIN_CHANGE,
     false},
    {"a stub that points at an earlier read stays", "File unchanged since last read.\n", 20,
     WR_ORIGIN_READ, true},
    {"a file that begins like one does not", "File unchanged since last read.\n", 200,
     WR_ORIGIN_READ, false},
};

static void some_are_never_condensed(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(exempt_rows); i++) {
        struct wr_condensed out;
        struct wr_arena arena;
        struct wr_buf text;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 20);
        write_lines(&text, exempt_rows[i].front, exempt_rows[i].lines, "");
        struct wr_condense_input input = input_of(wr_buf_view(&text), WR_OUTPUT_FILE);
        input.origin = exempt_rows[i].origin;
        assert_int_equal(wr_condense(&out, &arena, &input), WEIR_OK);
        if (out.is_same != exempt_rows[i].is_whole) {
            print_error("%s\n", exempt_rows[i].behaviour);
            wrong++;
        }
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    assert_int_equal(wrong, 0);
}

static void what_fits_is_whole_whatever_its_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < WR_OUTPUT_KINDS; kind++) {
        struct wr_condensed out;
        struct wr_arena arena;
        struct wr_buf text;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 20);
        write_lines(&text, "first\nerror: two\n", 90, "");
        struct wr_condense_input input = input_of(wr_buf_view(&text), (enum wr_output_kind)kind);
        input.bytes_budget = input.text.len;
        assert_int_equal(wr_condense(&out, &arena, &input), WEIR_OK);
        assert_true(out.is_same && wr_span_eq(out.text, input.text));
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

/* Lines without which more of an output cannot be had, at its front or at its end. */
static const struct {
    const char *line;
    bool is_front;
} way_rows[] = {
    {"Process running with session ID 48497\n", true},
    {"Command running in background with ID: bt2kelt7i. Output is being written to: /t/b.out\n",
     true},
    {"<task_id>bt2kelt7i</task_id>\n", true},
    {"Output too large (4.8MB). Full output saved to: /t/x.txt\n", true},
    {"Background PIDs: 12, 13\n", false},
    {"[Full output: /t/x.txt]\n", false},
};

static void ways_to_more_stay(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(way_rows); i++)
        for (int kind = 0; kind < WR_OUTPUT_KINDS; kind++) {
            struct wr_condensed out;
            struct wr_arena arena;
            struct wr_buf text;
            wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
            wr_buf_init(&text, 1 << 20);
            write_lines(&text, way_rows[i].is_front ? way_rows[i].line : "", 200,
                        way_rows[i].is_front ? "" : way_rows[i].line);
            struct wr_condense_input input =
                input_of(wr_buf_view(&text), (enum wr_output_kind)kind);
            input.bytes_budget = 10;
            assert_int_equal(wr_condense(&out, &arena, &input), WEIR_OK);
            if (!wr_span_has(out.text, wr_span_of(way_rows[i].line))) {
                print_error("%s: %s\n", wr_output_kind_text(input.kind), way_rows[i].line);
                wrong++;
            }
            assert_null(condense_check(&input, wr_condense));
            wr_buf_release(&text);
            wr_arena_release(&arena);
        }
    assert_int_equal(wrong, 0);
}

/* ---- what repeats ---- */

static const struct {
    const char *behaviour, *line;
    enum wr_output_kind kind;
    unsigned times;
    size_t bytes_max;
} repeated_rows[] = {
    {"a line that a process repeats is shown twice", "the water is calm and the bank is dry\n",
     WR_OUTPUT_PROCESS, 20000, 200},
    {"so it is of a run of tests", "the water is calm and the bank is dry\n", WR_OUTPUT_TEST, 20000,
     200},
    {"and of a file", "the water is calm and the bank is dry\n", WR_OUTPUT_FILE, 20000, 200},
    {"an error that repeats is still there", "error: the bank is wet\n", WR_OUTPUT_PROCESS, 20000,
     200},
};

static void what_repeats_is_shown_once_or_twice(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(repeated_rows); i++) {
        struct wr_condensed out;
        struct wr_arena arena;
        struct wr_buf text;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 20);
        for (unsigned n = 0; n < repeated_rows[i].times; n++)
            wr_buf_text(&text, repeated_rows[i].line);
        struct wr_condense_input input = input_of(wr_buf_view(&text), repeated_rows[i].kind);
        assert_int_equal(wr_condense(&out, &arena, &input), WEIR_OK);
        if (out.text.len > repeated_rows[i].bytes_max ||
            !wr_span_starts(out.text, wr_span_of(repeated_rows[i].line))) {
            print_error("%s: %zu bytes\n", repeated_rows[i].behaviour, out.text.len);
            wrong++;
        }
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_are_never_condensed),
        cmocka_unit_test(what_fits_is_whole_whatever_its_kind),
        cmocka_unit_test(ways_to_more_stay),
        cmocka_unit_test(what_repeats_is_shown_once_or_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
