#include "tests/condense_rows.h"

#define BODY      "*12     total += weigh(item_@, ~);\n"
#define LONG_BODY "*40     total += weigh(item_@, ~);\n"

static const struct kept_case rows[] = {
    {"what fits stays", "def a():\n    return 1\n", 1000, "all", NULL},
    {"the definitions stay, and the first and the last lines",
     "import os\n"
     "\n"
     "def first(item):\n" LONG_BODY "    return total\n"
     "\n"
     "class Second:\n"
     "    def inner(self):\n" LONG_BODY "\n"
     "def third(item):\n" LONG_BODY "    return total\n",
     1100, "1-4 27-49 89 124-130", NULL},
    {"where the budget is small, mostly the first and the last lines",
     "import os\n"
     "\n"
     "def first(item):\n" BODY "    return total\n"
     "\n"
     "class Second:\n"
     "    def inner(self):\n" BODY "\n"
     "def third(item):\n" BODY "    return total\n",
     560, "1-6 18-23 42-46", NULL},
    {"what is named stays with its body",
     "import os\n"
     "\n"
     "def first(item):\n" LONG_BODY "\n"
     "def second(item):\n"
     "    count = prepare_shipment(item)\n"
     "    if not count:\n"
     "        raise NothingToShip(item)\n"
     "    return count\n"
     "\n"
     "def third(item):\n" LONG_BODY "\n"
     "def fourth(item):\n" LONG_BODY,
     1100, "1-4 27-41 45-51 93 128-133", "why does prepare_shipment fail"},
    {"the numbers a tool printed are no hindrance",
     "     1\tpackage main\n"
     "     2\t\n"
     "     3\tfunc first() {\n"
     "*90    @\t\tcall(~)\n"
     "    94\t}\n"
     "    95\t\n"
     "    96\tfunc second() {\n"
     "*90    @\t\tcall(~)\n"
     "   187\t}\n",
     1000, "1-5 27-37 51-74 96 177-187", NULL},
    {"marks of a merge that failed stay",
     "*30 line @ of the file, with the number ~\n"
     "\n"
     "<<<<<<< HEAD\n"
     "ours\n"
     "=======\n"
     "theirs\n"
     ">>>>>>> main\n"
     "\n"
     "*30 line @ of the file, with the number ~\n",
     500, "1-3 25 32-37 64-67", NULL},
    {"a complaint of the tool stays, whatever the budget",
     "*30 line @ of the file, with the number ~\n"
     "cat: b.txt: No such file or directory\n"
     "*30 line @ of the file, with the number ~\n",
     10, "31", NULL},
    {"a signature over several lines stays whole",
     "import os\n"
     "*60 value_@ = ~\n"
     "\n"
     "def long_one(\n"
     "    first,\n"
     "    second,\n"
     "):\n"
     "*60     step(~)\n"
     "\n"
     "*60 value_@ = ~\n",
     1000, "1-51 63-66 176-187", NULL},
};

static void keeps_lines_by_worth(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_FILE, wr_condense_file);
}

/* A long file of all that may stand in one. */
static void write_file(struct wr_buf *text)
{
    for (unsigned i = 0; i < 60; i++) {
        wr_buf_printf(text, "/* Says what step_%u does. */\nstatic int step_%u(int item)\n{\n", i,
                      i);
        for (unsigned k = 0; k < i; k++)
            wr_buf_printf(text, "    total += measure_%u_%u(item);\n", i, k);
        wr_buf_text(text, "    return total;\n}\n\n");
    }
}

static void the_budget_is_kept(void **state)
{
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    write_file(&text);
    for (size_t percent = 1; percent <= 90; percent++) {
        struct wr_arena arena;
        struct wr_condensed out;
        struct wr_condense_input input = {.text = wr_buf_view(&text),
                                          .kind = WR_OUTPUT_FILE,
                                          .path = WR_LIT("src/steps.c"),
                                          .focus = WR_LIT("measure_40_7 in step_50"),
                                          .bytes_budget = text.len * percent / 100};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_condense_file(&out, &arena, &input), WEIR_OK);
        assert_true(out.text.len <= input.bytes_budget);
        assert_true(out.text.len >= input.bytes_budget / 2);
        wr_arena_release(&arena);
        assert_null(condense_check(&input, wr_condense_file));
    }
    wr_buf_release(&text);
}

static bool keeps(const struct wr_condense_input *input, const char *line)
{
    struct wr_arena arena;
    struct wr_condensed out;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_condense_file(&out, &arena, input), WEIR_OK);
    bool kept = wr_span_has(out.text, wr_span_of(line));
    wr_arena_release(&arena);
    return kept;
}

static void what_was_sought_is_found(void **state)
{
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    write_file(&text);
    struct wr_condense_input input = {.text = wr_buf_view(&text),
                                      .kind = WR_OUTPUT_FILE,
                                      .command = WR_LIT("sed -n '1,4000p' src/steps.c"),
                                      .bytes_budget = text.len / 10};
    assert_false(keeps(&input, "measure_40_7(item)"));
    input.query = WR_LIT("measure_40_7\\(");
    assert_true(keeps(&input, "measure_40_7(item)"));
    wr_buf_release(&text);
}

/* Lines of 8 are numbered as a tool does it, and every fourth number stays. A gap says where the
 * next line stands, so numbers may be left out behind it, too. */
static void numbers_that_can_be_counted_make_room(void **state)
{
    struct wr_condense_input input = {.kind = WR_OUTPUT_FILE, .path = WR_LIT("src/steps.c")};
    struct wr_arena arena;
    struct wr_condensed out;
    struct wr_buf text;
    uint32_t shown[2] = {0, 0};
    (void)state;

    wr_buf_init(&text, 1 << 20);
    for (unsigned i = 1; i <= 400; i++)
        wr_buf_printf(&text, "%6u\t    total += weigh(item_%u);\n", i, i);
    input.text = wr_buf_view(&text);
    input.bytes_budget = text.len / 4;
    for (int pass = 0; pass < 2; pass++, input.number_every = 4) {
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_condense_file(&out, &arena, &input), WEIR_OK);
        assert_true(out.text.len <= input.bytes_budget);
        for (uint32_t i = 0; i < out.kept_count; i++)
            shown[pass] += out.kept[i].end - out.kept[i].first;
        if (pass)
            assert_true(wr_span_starts(out.text, WR_LIT("     1\t    total += weigh(item_1);\n"
                                                        "    total += weigh(item_2);\n"
                                                        "    total += weigh(item_3);\n"
                                                        "     4\t    total += weigh(item_4);\n")));
        wr_arena_release(&arena);
        assert_null(condense_check(&input, wr_condense_file));
    }
    assert_true(shown[1] * 100 > shown[0] * 110);
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines_by_worth),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(what_was_sought_is_found),
        cmocka_unit_test(numbers_that_can_be_counted_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
