/* The table of odds: what is read, what is refused, and the odds between its columns. */
#include "policy/odds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "tests/test_transcript.h"

#define WITHOUT_LEAST                                                           \
    "# version\t3\n# turns_left\t40\n# recall_tokens\t600\n# call_tokens\t80\n" \
    "# prompt_tokens\t60000\n"
#define SETTINGS WITHOUT_LEAST "# turns_left_min\t6\n"
#define REST     "other\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n"

static struct wr_odds embedded(void)
{
    struct wr_odds odds;
    struct weir_err err = {0};
    if (wr_odds_read(&odds, wr_odds_embedded(), &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
    return odds;
}

static void the_embedded_table_is_whole(void **state)
{
    struct wr_odds odds = embedded();
    bool has[WR_ODDS_CLASSES] = {false};
    (void)state;
    assert_true(odds.version >= 1);
    assert_true(odds.turns_left_min >= 1 && odds.turns_left_min <= odds.turns_left);
    assert_true(odds.rows_count > 10);
    for (uint32_t i = 0; i < odds.rows_count; i++) {
        const struct wr_odds_row *row = &odds.rows[i];
        has[row->class] = true;
        for (int c = 0; c < WR_ODDS_CUTS_COUNT; c++) {
            assert_true(row->next_pct[c] <= 100 && row->ever_pct[c] <= 100);
            /* What the next action misses, some later one misses. */
            assert_true(row->next_pct[c] <= row->ever_pct[c]);
            /* Where something is missed, it is a string at least. */
            assert_true(row->lack_pct[c] >= row->next_pct[c]);
        }
        /* Of one kind the sizes rise, and the last is any size: else a row is never found. */
        if (i && odds.rows[i - 1].class == row->class)
            assert_true(!row->tokens_max || odds.rows[i - 1].tokens_max < row->tokens_max);
        if (i + 1 == odds.rows_count || odds.rows[i + 1].class != row->class)
            assert_int_equal(row->tokens_max, 0);
    }
    for (int i = 0; i < WR_ODDS_CLASSES; i++)
        assert_true(has[i]);
}

static void a_row_is_found_by_class_and_size(void **state)
{
    static const struct {
        const char *behaviour;
        enum wr_odds_class class;
        uint64_t tokens;
        uint64_t row_tokens_max;
    } cases[] = {
        {"a small file", WR_ODDS_FILE, 1, 1000},
        {"the limit belongs to the row", WR_ODDS_FILE, 1000, 1000},
        {"one more does not", WR_ODDS_FILE, 1001, 2000},
        {"the last row has no limit", WR_ODDS_FILE, UINT64_MAX, 0},
        {"another class", WR_ODDS_TEST, 2001, 0},
    };
    struct wr_odds odds = embedded();
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const struct wr_odds_row *row = wr_odds_find(&odds, cases[i].class, cases[i].tokens);
        if (row->class != cases[i].class || row->tokens_max != cases[i].row_tokens_max)
            fail_msg("%s: the row of %llu", cases[i].behaviour,
                     (unsigned long long)row->tokens_max);
    }
}

static void a_class_without_a_row_has_that_of_the_rest(void **state)
{
    struct wr_odds odds;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, WR_LIT(SETTINGS REST), NULL), WEIR_OK);
    assert_int_equal(wr_odds_find(&odds, WR_ODDS_AGENT, 5)->class, WR_ODDS_OTHER);
}

static void the_class_of_a_result(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_tool_handles handles;
        enum wr_output_kind kind;
        enum wr_odds_class class;
    } cases[] = {
        {"a command",
         {.kind = WR_EFFECT_RUN, .command = {"ls", 2}},
         WR_OUTPUT_PROCESS,
         WR_ODDS_PROCESS},
        {"what looks like tests",
         {.kind = WR_EFFECT_RUN, .command = {"make", 4}},
         WR_OUTPUT_TEST,
         WR_ODDS_TEST},
        {"a run without a command", {.kind = WR_EFFECT_RUN}, WR_OUTPUT_PROSE, WR_ODDS_AGENT},
        {"a log that was read",
         {.kind = WR_EFFECT_READ, .start_line = 1},
         WR_OUTPUT_LOG,
         WR_ODDS_PROCESS},
        {"more of a process", {.kind = WR_EFFECT_POLL}, WR_OUTPUT_TEST, WR_ODDS_POLL},
        {"an edit", {.kind = WR_EFFECT_EDIT}, WR_OUTPUT_FILE, WR_ODDS_EDIT},
        {"a file that was written", {.kind = WR_EFFECT_WRITE}, WR_OUTPUT_DIFF, WR_ODDS_EDIT},
        {"a file from its start",
         {.kind = WR_EFFECT_READ, .start_line = 1},
         WR_OUTPUT_FILE,
         WR_ODDS_FILE},
        {"and from further down",
         {.kind = WR_EFFECT_READ, .start_line = 2},
         WR_OUTPUT_FILE,
         WR_ODDS_PART},
        {"a part that is no text of a file",
         {.kind = WR_EFFECT_READ, .start_line = 2},
         WR_OUTPUT_JSON,
         WR_ODDS_JSON},
        {"nothing that has a row", {.kind = WR_EFFECT_OTHER}, WR_OUTPUT_BLOB, WR_ODDS_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_segment result = {.handles = &cases[i].handles};
        if (wr_odds_class_of(&result, cases[i].kind, false) != cases[i].class)
            fail_msg("%s", cases[i].behaviour);
    }
    struct wr_segment unknown = {.handles = NULL};
    assert_int_equal(wr_odds_class_of(&unknown, WR_OUTPUT_LIST, true), WR_ODDS_LIST);
}

#define CALL(id, tool, arguments, result)                                                     \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                  \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" tool "\",\"arguments\":\"" arguments \
    "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" result "\"}"
#define READ        CALL("1", "Read", "{\\\"file_path\\\":\\\"/r/src/gate.c\\\"}", "1\\tint gate;")
#define USER(text)  "{\"role\":\"user\",\"content\":\"" text "\"}"
#define MODEL(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define EDIT(path)                                                                              \
    CALL("e", "Edit",                                                                           \
         "{\\\"file_path\\\":\\\"" path "\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":" \
         "\\\"b\\\"}",                                                                          \
         "done")

/* What is known of the file that the first read shows, by the time it comes. */
static void a_target_was_changed_or_named_before(void **state)
{
    static const struct {
        const char *behaviour, *messages;
        bool is_target;
    } cases[] = {
        {"nothing is known of it", USER("go") "," READ, false},
        {"the user named it", USER("mend src/gate.c please") "," READ, true},
        {"the model did", USER("go") "," MODEL("It is gate.c.") "," USER("yes") "," READ, true},
        {"another name ends so", USER("mend src/floodgate.c") "," READ, false},
        {"it was changed", USER("go") "," EDIT("/r/src/gate.c") "," READ, true},
        {"another was changed", USER("go") "," EDIT("/r/lib/gate.c") "," READ, false},
        {"it is named later", USER("go") "," READ "," USER("mend gate.c"), false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_transcript test;
        char body[2048];
        (void)snprintf(body, sizeof(body), "{\"messages\":[%s]}", cases[i].messages);
        test_transcript_open(&test, wr_span_of(body));
        uint32_t result = 0;
        while (!wr_span_is(test.transcript.segments[result].call_id, "1") ||
               test.transcript.segments[result].kind != WEIR_KIND_TOOL_RESULT)
            result++;
        if (wr_odds_is_target(&test.transcript, result) != cases[i].is_target)
            fail_msg("%s", cases[i].behaviour);
        test_transcript_close(&test);
    }
}

static void between_two_cuts_the_odds_are_on_the_line(void **state)
{
    static const struct wr_odds_row row = {.next_pct = {22, 11, 31, 8},
                                           .ever_pct = {100, 50, 50, 0}};
    static const struct {
        uint64_t cut;
        uint32_t next_bp, ever_bp;
    } cases[] = {
        {0, 2200, 10000},   {220, 2200, 10000},
        {360, 1650, 7500},                      /* half of 220..500: 22 - 5.5; 100 - 25 */
        {500, 1100, 5000},  {750, 2100, 5000},  /* half of 500..1000: 11 + 10 */
        {1000, 3100, 5000}, {1250, 2525, 3750}, /* a quarter of 1000..2000: 31 - 5.75; 50 - 12.5 */
        {2000, 800, 0},     {6000, 400, 0},     /* half of 2000..10000, which is all of it */
        {9000, 100, 0},     {10000, 0, 0},
        {UINT64_MAX, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_odds_next_bp(&row, 10000, cases[i].cut) != cases[i].next_bp ||
            wr_odds_ever_bp(&row, 10000, cases[i].cut) != cases[i].ever_bp)
            fail_msg("cut to %llu: %u and %u basis points", (unsigned long long)cases[i].cut,
                     wr_odds_next_bp(&row, 10000, cases[i].cut),
                     wr_odds_ever_bp(&row, 10000, cases[i].cut));
}

static void a_table_is_read_or_refused(void **state)
{
    static const struct {
        const char *behaviour, *table;
        weir_status status;
        const char *at; /* the line that is wrong; NULL: the end */
    } cases[] = {
        {"the least", SETTINGS REST, WEIR_OK, NULL},
        {"words and empty lines", "# words, 40 of them\n\n" SETTINGS REST "\n", WEIR_OK, NULL},
        {"no newline at the end", SETTINGS "other\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4",
         WEIR_OK, NULL},
        {"nothing", "", WEIR_INVALID, NULL},
        {"no settings", REST, WEIR_INVALID, NULL},
        {"no least number of turns", WITHOUT_LEAST REST, WEIR_INVALID, NULL},
        {"a least number of 0", SETTINGS "# turns_left_min\t0\n" REST, WEIR_INVALID, NULL},
        {"a prompt of 0 tokens", SETTINGS "# prompt_tokens\t0\n" REST, WEIR_INVALID, NULL},
        {"no row for the rest", SETTINGS "file\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n",
         WEIR_INVALID, NULL},
        {"a row for the rest that has a limit",
         SETTINGS "other\t9\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n", WEIR_INVALID, NULL},
        {"a setting of 0", "# version\t0\n" SETTINGS REST, WEIR_OK, NULL}, /* said again later */
        {"a setting that is no number", SETTINGS "# turns_left\tmany\n" REST, WEIR_INVALID,
         "# turns_left\tmany"},
        {"a setting that is too large", SETTINGS "# turns_left\t1000001\n" REST, WEIR_INVALID,
         "# turns_left\t1000001"},
        {"a kind that there is not",
         SETTINGS REST "files\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n", WEIR_INVALID, "files"},
        {"more than all", SETTINGS "file\t0\t101\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n" REST,
         WEIR_INVALID, "file\t0\t101"},
        {"a column too few", SETTINGS REST "file\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\n",
         WEIR_INVALID, "file"},
        {"lines that are quoted blind",
         SETTINGS REST "file\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\t5\t6\t7\t8\n", WEIR_OK,
         NULL},
        {"a column too many", SETTINGS REST "file\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\t5\n",
         WEIR_INVALID, "file"},
        {"less than nothing", SETTINGS REST "file\t0\t-1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\t3\t4\n",
         WEIR_INVALID, "file"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_odds odds;
        struct weir_err err = {0};
        const char *table = cases[i].table, *at = cases[i].at;
        size_t at_byte = at ? (size_t)(strstr(table, at) - table) : strlen(table);
        weir_status status = wr_odds_read(&odds, wr_span_of(table), &err);
        if (status != cases[i].status || (status && err.at_byte != at_byte))
            fail_msg("%s: %s at byte %zu", cases[i].behaviour, weir_status_text(status),
                     err.at_byte);
    }
}

static void each_setting_is_read(void **state)
{
    struct wr_odds odds;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, WR_LIT(SETTINGS REST), NULL), WEIR_OK);
    assert_int_equal(odds.version, 3);
    assert_int_equal(odds.turns_left, 40);
    assert_int_equal(odds.turns_left_min, 6);
    assert_int_equal(odds.recall_tokens, 600);
    assert_int_equal(odds.call_tokens, 80);
    assert_int_equal(odds.prompt_tokens, 60000);
}

static void too_many_rows_are_refused(void **state)
{
    struct wr_odds odds;
    struct wr_buf table;
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        wr_buf_init(&table, 1 << 16);
        wr_buf_text(&table, SETTINGS);
        for (int i = 0; i < WR_ODDS_ROWS_MAX + extra; i++)
            wr_buf_text(&table, REST);
        assert_int_equal(wr_odds_read(&odds, wr_buf_view(&table), NULL),
                         extra ? WEIR_LIMIT : WEIR_OK);
        wr_buf_release(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_embedded_table_is_whole),
        cmocka_unit_test(a_row_is_found_by_class_and_size),
        cmocka_unit_test(a_class_without_a_row_has_that_of_the_rest),
        cmocka_unit_test(the_class_of_a_result),
        cmocka_unit_test(a_target_was_changed_or_named_before),
        cmocka_unit_test(between_two_cuts_the_odds_are_on_the_line),
        cmocka_unit_test(a_table_is_read_or_refused),
        cmocka_unit_test(each_setting_is_read),
        cmocka_unit_test(too_many_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
