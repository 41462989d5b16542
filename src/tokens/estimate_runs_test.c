#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "json/json.h"
#include "tokens/estimate.h"

static const struct {
    const char *behaviour, *text;
    size_t tokens;
} cases[] = {
    {"nothing is nothing", "", 0},
    {"four letters are one token, a fifth begins another", "abcd abcde", 3},
    {"three digits are one", "123 1234", 3},
    {"underscore and hyphen belong to a word", "a_b-", 1},
    {"four brackets are one", "{}[]", 1},
    {"eight line ends are one", "\n\n\n\n\n\n\n\n\n", 2},
    {"any other character is one", "a=b", 3},
    {"a character that is not ASCII is one", "日本", 2},
    {"space is free, but half of bytes/4 is the least", "                ", 2},
};

static void runs_are_counted_as_the_document_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_estimate_tokens(WR_ESTIMATOR_RUNS, wr_span_of(cases[i].text)) != cases[i].tokens)
            fail_msg("%s: %zu", cases[i].behaviour,
                     wr_estimate_tokens(WR_ESTIMATOR_RUNS, wr_span_of(cases[i].text)));
    assert_int_equal(wr_estimate_tokens(WR_ESTIMATOR_RUNS, WR_LIT("\xff\xff\xff\xff\xff")), 2);
}

/* Rows of {"text", "tokens"} in a list of a fixture. */
static void check_rows(const char *path, const char *list_name, enum wr_estimator estimator)
{
    struct wr_buf file;
    struct wr_arena arena;
    struct wr_json doc;
    wr_buf_init(&file, 1 << 20);
    if (!wr_test_file(path, &file)) {
        wr_buf_release(&file);
        skip();
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&file), NULL, NULL), WEIR_OK);
    wr_json_id list = wr_json_find(&doc, 0, list_name);
    assert_true(wr_json_count(&doc, list) > 3);
    for (wr_json_id row = wr_json_first(&doc, list); row != WR_JSON_NONE;
         row = wr_json_next(&doc, list, row)) {
        int64_t tokens = -1;
        weir_span text = wr_json_text(&doc, &arena, wr_json_find(&doc, row, "text"));
        assert_true(wr_json_i64(&doc, wr_json_find(&doc, row, "tokens"), &tokens));
        if ((int64_t)wr_estimate_tokens(estimator, text) != tokens)
            fail_msg("%s: '%.*s' should be %lld", list_name, (int)text.len, text.ptr,
                     (long long)tokens);
    }
    wr_arena_release(&arena);
    wr_buf_release(&file);
}

static void golden_runs_pass(void **state)
{
    (void)state;
    check_rows("../shared/fixtures/prodex-numbers.json", "estimator", WR_ESTIMATOR_RUNS);
}

static void golden_bytes_pass(void **state)
{
    (void)state;
    check_rows("../shared/fixtures/duragent.json", "estimate_tokens", WR_ESTIMATOR_BYTES_4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_are_counted_as_the_document_says),
                                       cmocka_unit_test(golden_runs_pass),
                                       cmocka_unit_test(golden_bytes_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
