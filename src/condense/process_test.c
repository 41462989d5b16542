#include "base/span.h"
#include "tests/condense_rows.h"

#define HEADER                             \
    "Chunk ID: 6d3c98\n"                   \
    "Wall time: 0.2 seconds\n"             \
    "Process running with session ID 71\n" \
    "Output:\n"

static const struct kept_case rows[] = {
    {"what fits stays", "one\ntwo\nthree\n", 1000, "all", NULL},
    {"no text", "", 100, "all", NULL},
    {"header, process id and end stay",
     HEADER "*20 words @ said once in a line of text\n"
            "the last words\n",
     260, "1-5 23-25", NULL},
    {"an error stays with what stands around it, and so does the sum at the end",
     "*20 step @ went well and took some time\n"
     "src/a.c: In function 'f':\n"
     "src/a.c:12:5: error: 'x' undeclared\n"
     "   12 |     x = 1;\n"
     "      |     ^\n"
     "\n"
     "*20 step @ went well and took some time\n"
     "make: *** [all] Error 2\n",
     500, "1-2 20-26 42-46", NULL},
    {"of lines that say the same, the first and the last",
     "start\n*9 Waiting for server (~s)\nready on port 8080\n", 200, "1-2 10-11", NULL},
    {"what a loop printed comes last",
     "Building the thing\n"
     "*20    Compiling crate_@ v0.1.0 (from some registry)\n"
     "a line that no loop has printed\n"
     "Finished\n",
     300, "1-3 20-23", NULL},
    {"tests that passed come last",
     "build done\n*20 core test: (pass) it does @ as it should\nall is well that ends well\n", 240,
     "1-2 20-22", NULL},
    {"lines with words that matter stay",
     "*20 some @ is here and elsewhere\n"
     "the needle_name is in this one\n"
     "*20 other @ is there and nowhere\n",
     300, "1-2 20-22 40-41", "needle_name"},
    {"lines that head others stay over those below them",
     "first:\n"
     "*20     detail @ of the first one\n"
     "second:\n"
     "*20     detail @ of the second one\n"
     "third:\n"
     "*20     detail @ of the third one\n",
     420, "1-3 21-23 42-44 62-63", NULL},
    {"the first line on each file heads the others",
     "*30 src/a.c:~: uses @ in some way or other\n"
     "*30 src/b.c:~: uses @ in some way or other\n"
     "*30 src/c.c:~: uses @ in some way or other\n",
     600, "1-4 31 61 86-90", NULL},
    {"options stay by their names",
     "Usage: tool [flags]\n\nFlags:\n"
     "*20   --opt-@ string    explains what it does at length\n",
     640, "1-23", NULL},
    {"a mark of what was cut out stays",
     "*20 words @ of the front\n"
     "\xe2\x80\xa6"
     "123 tokens truncated\xe2\x80\xa6\n"
     "*20 words @ of the rear\n",
     300, "1-3 20-22 38-41", NULL},
};

static void keeps_lines_by_worth(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_PROCESS, wr_condense_process);
}

/* A frame below the top of a stack must not become its top where the stack comes again. */
static void adds_no_signals(void **state)
{
    static const char stack[] = "Error: boom\n    at first (a.js:1:2)\n    at second (b.js:3:4)\n"
                                "    at third (c.js:5:6)\n\nplain words\n";
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 50; i++)
        wr_buf_text(&text, stack);
    for (size_t budget = 0; budget < text.len; budget += 97) {
        struct wr_condense_input input = {.text = wr_buf_view(&text),
                                          .kind = WR_OUTPUT_PROCESS,
                                          .query = {"", 0},
                                          .focus = {"third", 5},
                                          .bytes_budget = budget};
        const char *broken = condense_check(&input, wr_condense_process);
        if (broken)
            fail_msg("budget %zu: %s", budget, broken);
    }
    wr_buf_release(&text);
}

static void stays_within_the_budget(void **state)
{
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 3000; i++)
        wr_buf_printf(&text, "%*sline %d of many, the %dth\n", i % 5, "", i, i * 7 % 11);
    for (size_t budget = 2000; budget < text.len; budget += 4999) {
        struct wr_condensed out;
        struct wr_condense_input input = {.text = wr_buf_view(&text),
                                          .kind = WR_OUTPUT_PROCESS,
                                          .query = {"", 0},
                                          .focus = {"", 0},
                                          .bytes_budget = budget};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_condense_process(&out, &arena, &input), WEIR_OK);
        if (out.text.len > budget || out.text.len < budget / 10 * 8)
            fail_msg("%zu bytes for a budget of %zu", out.text.len, budget);
        wr_arena_release(&arena);
    }
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines_by_worth),
        cmocka_unit_test(adds_no_signals),
        cmocka_unit_test(stays_within_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
