#include "condense/json_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/span.h"
#include "tests/condense_rows.h"

/* ---- output ---- */

#define RECORD(id)                                                    \
    "  {\n"                                                           \
    "    \"id\": " id ",\n"                                           \
    "    \"note\": \"a text that takes some room in every record\"\n" \
    "  },\n"
#define RECORD_5(n) RECORD(n "1") RECORD(n "2") RECORD(n "3") RECORD(n "4") RECORD(n "5")
#define LINE(id)    "{\"id\":" id ",\"text\":\"a text that takes some room in every record\"}\n"
#define LINE_5(n)   LINE(n "1") LINE(n "2") LINE(n "3") LINE(n "4") LINE(n "5")
#define ITEM(id)    "{\"id\":" id ",\"name\":\"item " id "\",\"text\":\"a text that takes room\"}"
#define ITEM_5(n)   ITEM(n "1") "," ITEM(n "2") "," ITEM(n "3") "," ITEM(n "4") "," ITEM(n "5") ","

static const struct form_case ROWS[] = {
    {"what fits is not touched", "{\"a\": 1}\n", 100, NULL, NULL, "{\"a\": 1}\n"},
    {"an array shows its first, its last and its second element",
     "[\n" RECORD_5("1") RECORD_5("2") "  {\n    \"id\": 31,\n    \"note\": \"a text that takes "
                                       "some room in every record\"\n  }\n]\n",
     330, NULL, NULL,
     "[\n" RECORD("11") RECORD("12") "[... 32 lines left out: 10-41]\n"
                                     "  {\n    \"id\": 31,\n    \"note\": \"a text that takes some "
                                     "room in every record\"\n  }\n]\n"},
    {"the record that failed is seen, with what holds it",
     "{\n  \"jobs\": [\n"
     "    {\n      \"id\": 1,\n      \"state\": \"done\",\n      \"log\": \"a text with some "
     "room\"\n    },\n"
     "    {\n      \"id\": 2,\n      \"state\": \"done\",\n      \"log\": \"a text with some "
     "room\"\n    },\n"
     "    {\n      \"id\": 3,\n      \"state\": \"failed\",\n      \"log\": \"a text with some "
     "room\"\n    },\n"
     "    {\n      \"id\": 4,\n      \"state\": \"done\",\n      \"log\": \"a text with some "
     "room\"\n    }\n"
     "  ]\n}\n",
     190, NULL, NULL,
     "{\n  \"jobs\": [\n"
     "[... 10 lines left out: 3-12]\n"
     "    {\n"
     "      \"id\": 3,\n"
     "      \"state\": \"failed\",\n"
     "      \"log\": \"a text with some room\"\n"
     "    },\n"
     "[... 5 lines left out: 18-22]\n"
     "  ]\n}\n"},
    {"of records a line each, the one with other keys stays",
     LINE_5("1") LINE_5("2") "{\"id\":30,\"reason\":\"none of the others has one\"}\n" LINE_5("4"),
     330, NULL, NULL,
     LINE("11") LINE("12") "[... 8 lines left out: 3-10]\n"
                           "{\"id\":30,\"reason\":\"none of the others has one\"}\n"
                           "[... 4 lines left out: 12-15]\n" LINE("45")},
    {"a line with a word that matters stays",
     LINE_5("1") LINE_5(
         "2") "{\"id\":30,\"text\":\"retry_budget, and text as in every record\"}\n" LINE_5("4"),
     300, NULL, "retry_budget",
     LINE("11") "[... 9 lines left out: 2-10]\n"
                "{\"id\":30,\"text\":\"retry_budget, and text as in every record\"}\n"
                "[... 4 lines left out: 12-15]\n" LINE("45")},
    {"JSON on one line is written part by part",
     "{\"total\":20,\"items\":[" ITEM_5("1") ITEM_5("2") ITEM_5("3")
         ITEM_5("4") "{\"id\":51,\"name\":\"item 51\",\"text\":\"a text that takes "
                     "room\"}],\"next\":null}\n",
     420, NULL, NULL,
     "{\n\"total\":20,\n\"items\":[\n" ITEM("11") ",\n" ITEM("12") ",\n" ITEM("13") ",\n" ITEM(
         "14") ",\n"
               "[... 16 parts left out of this line]\n" ITEM("51") "\n],\n\"next\":null\n}\n"},
    {"a long text is cut in its middle, and the names of what is left out stay",
     "{\n  \"id\": 7,\n  \"body\": \"It begins here and goes on, and on, and on, and on, and on, "
     "and in src/keep/one.c on, and on, and on, and on, and on, and read_lines on, and on, and "
     "on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, "
     "and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and "
     "on, and on, and on, and on, and on, and on, and on, and on, and on, and ends there.\",\n"
     "  \"state\": \"open\"\n}\n",
     250, NULL, NULL,
     "{\n  \"id\": 7,\n  \"body\": \"It begins here and goes on, and on, and on, and on, and on, "
     "and in src/keep/one.c on, and on, an [\xe2\x80\xa6 287 bytes left out \xe2\x80\xa6] "
     "read_lines \xe2\x80\xa6 , and on, and on, and ends there.\",\n"
     "  \"state\": \"open\"\n}\n"},
    {"links and members without a value come last",
     "{\n  \"avatar_url\": \"https://example.com/a/b/c/d\",\n"
     "  \"events_url\": \"https://example.com/a/b/c/d/e\",\n"
     "  \"closed_by\": null,\n  \"milestone\": null,\n  \"assignee\": null,\n"
     "  \"title\": \"what it is about\",\n  \"number\": 950\n}\n",
     120, NULL, NULL,
     "{\n[... 4 lines left out: 2-5]\n  \"assignee\": null,\n  \"title\": \"what it is about\",\n  "
     "\"number\": 950\n}\n"},
    {"YAML has the same shape",
     "items:\n"
     "- name: first\n  text: a text that takes some room in every record\n"
     "- name: second\n  text: a text that takes some room in every record\n"
     "- name: third\n  text: a text that takes some room in every record\n"
     "- name: fourth\n  text: a text that takes some room in every record\n"
     "total: 4\n",
     220, NULL, NULL,
     "items:\n"
     "- name: first\n  text: a text that takes some room in every record\n"
     "- name: second\n"
     "[... 3 lines left out: 5-7]\n"
     "- name: fourth\n  text: a text that takes some room in every record\n"
     "total: 4\n"},
};

static void outputs_are_condensed(void **state)
{
    (void)state;
    form_case_rows(ROWS, WR_COUNT_OF(ROWS), wr_condense_json, WR_OUTPUT_JSON);
}

static void lines_are_a_tree(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_keep keep;
    struct wr_tree tree;
    struct wr_condense_input input = {
        .text = WR_LIT("{\n  \"a\": [\n    1,\n    2\n  ],\n\n  \"b\": 3\n}\n"),
        .bytes_budget = 100};
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
    assert_int_equal(wr_tree_build(&tree, &keep, NULL), WEIR_OK);
    assert_int_equal(tree.roots, 1);
    assert_int_equal(tree.nodes[0].children, 2);
    assert_int_equal(tree.nodes[0].close, 7);
    assert_int_equal(tree.nodes[1].children, 2);
    assert_int_equal(tree.nodes[1].close, 4);
    assert_int_equal(tree.nodes[3].parent, 1);
    assert_int_equal(tree.nodes[3].index, 1);
    assert_true(tree.nodes[3].is_element);
    assert_true(tree.nodes[5].is_closing); /* blank */
    assert_int_equal(tree.nodes[6].index, 1);
    assert_false(tree.nodes[6].is_element);
    wr_arena_release(&arena);
}

static void units_are_the_text(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_units units;
    weir_span line = WR_LIT("{\"a\":[1,2],\"b\":[" ITEM_5("1") ITEM_5("2") "7]}");
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_units_read(&units, &arena, line), WEIR_OK);
    assert_int_equal(units.count, 1 + 2 + 11 + 2); /* '{', members, elements, ends */
    size_t at = 0;
    for (size_t i = 0; i < units.text.len; i++)
        if (units.text.ptr[i] != '\n')
            assert_int_equal(units.text.ptr[i], line.ptr[at++]);
    assert_int_equal(at, line.len);
    assert_int_equal(wr_units_read(&units, &arena, WR_LIT("{\"a\":")), WEIR_SYNTAX);
    wr_arena_release(&arena);
}

/* What a client cut in the middle is no JSON any more. */
static void cut_json_is_split(void **state)
{
    (void)state;
    struct wr_buf buf;
    wr_buf_init(&buf, 1024 * 1024);
    wr_buf_text(&buf, "[");
    for (unsigned i = 0; i < 200; i++)
        wr_buf_printf(&buf, "{\"id\":%u,\"text\":\"a text that takes some room\"},", i);
    wr_buf_text(&buf, "{\"id\":200,\"te");
    struct wr_condense_input input = {
        .text = wr_buf_view(&buf), .kind = WR_OUTPUT_JSON, .bytes_budget = buf.len / 4};
    assert_null(condense_check(&input, wr_condense_json));
    struct wr_arena arena;
    struct wr_condensed out;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_condense_json(&out, &arena, &input), WEIR_OK);
    assert_true(out.text.len <= input.bytes_budget);
    wr_arena_release(&arena);
    wr_buf_release(&buf);
}

/* ---- names ---- */

#define MARK "\xe2\x80\xa6"
#define ON   "and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, "

static const struct {
    const char *behaviour, *line;
    size_t bytes_max;
    const char *expected;
} rows[] = {
    {"a line that fits passes", "short", 120, "short"},
    {"the middle goes", ON ON ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and on, and on,  [" MARK
     " 163 bytes left out " MARK "]  on, and on, end"},
    {"paths and identifiers of the middle stay",
     ON ON "in src/a/b.c there is read_all and readLine, " ON "end", 120,
     "and on, and on, and on, and on, and o [" MARK " 235 bytes left out " MARK "] src/a/b.c " MARK
     " read_all " MARK "  on, and on, end"},
    {"each once", ON ON "read_all, read_all, read_all " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and [" MARK " 205 bytes left out " MARK
     "] read_all " MARK "  on, and on, end"},
    {"an escape is no part of a name", ON ON "\\nread_all\\n " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and [" MARK " 189 bytes left out " MARK
     "] read_all " MARK "  on, and on, end"},
    {"words that a dash joins are no name", ON ON "well-known etc. v1.2 " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and on, and on,  [" MARK
     " 184 bytes left out " MARK "]  on, and on, end"},
};

static void cuts_lines(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf buf;
        wr_buf_init(&buf, 1000);
        wr_names_cut_write(&buf, wr_span_of(rows[i].line), rows[i].bytes_max);
        weir_span got = wr_buf_view(&buf);
        if (!wr_span_is(got, rows[i].expected) || got.len > rows[i].bytes_max) {
            print_error("%s: \"%.*s\"\n", rows[i].behaviour, (int)got.len, got.ptr);
            wrong++;
        }
        wr_buf_release(&buf);
    }
    assert_int_equal(wrong, 0);
}

static void cuts_no_character_in_two(void **state)
{
    struct wr_buf line, buf;
    (void)state;
    wr_buf_init(&line, 4000);
    for (int i = 0; i < 300; i++)
        wr_buf_text(&line, "\xe2\x82\xac");
    for (size_t bytes_max = WR_NAMES_CUT_BYTES_MIN; bytes_max < 300; bytes_max++) {
        wr_buf_init(&buf, 1000);
        wr_names_cut_write(&buf, wr_buf_view(&line), bytes_max);
        weir_span got = wr_buf_view(&buf);
        size_t mark = wr_span_find(got, WR_LIT(" [" MARK), 0);
        size_t end = wr_span_find(got, WR_LIT(MARK "] "), 0);
        assert_true(got.len <= bytes_max);
        assert_true(mark != SIZE_MAX && mark % 3 == 0);
        assert_true(end != SIZE_MAX && (got.len - end - 5) % 3 == 0);
        wr_buf_release(&buf);
    }
    wr_buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_condensed),
        cmocka_unit_test(lines_are_a_tree),
        cmocka_unit_test(units_are_the_text),
        cmocka_unit_test(cut_json_is_split),
        cmocka_unit_test(cuts_lines),
        cmocka_unit_test(cuts_no_character_in_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
