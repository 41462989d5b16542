#include "weir/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/recall.h"

static const struct {
    const char *behaviour, *model, *encoding;
    weir_status status;
    bool is_exact;
    uint64_t tokens; /* of "What is a weir?"; 0: more than none */
} rows[] = {
    {"nothing said is o200k_base", NULL, NULL, WEIR_OK, true, 6},
    {"an encoding", NULL, "cl100k_base", WEIR_OK, true, 5},
    {"a model whose tokenizer is public", "gpt-4o", NULL, WEIR_OK, true, 6},
    {"a model whose tokenizer is not", "claude-sonnet-4-5", NULL, WEIR_OK, false, 0},
    {"a model that nobody knows", "no-such-model", NULL, WEIR_OK, false, 0},
    {"a quarter of the bytes", NULL, "bytes/4", WEIR_OK, false, 3},
    {"an encoding that is not there", NULL, "o300k", WEIR_NOTFOUND, false, 0},
    {"both", "gpt-4o", "o200k_base", WEIR_INVALID, false, 0},
};

static void a_counter_counts_as_it_was_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_tokens_options options = WEIR_TOKENS_OPTIONS_INIT;
        struct weir_err err = {0};
        struct weir_tokens *tokens;

        options.model = rows[i].model;
        options.encoding = rows[i].encoding;
        weir_status status = weir_tokens_new(&options, &tokens, &err);
        if (status != rows[i].status)
            fail_msg("%s: status %d", rows[i].behaviour, (int)status);
        if (status) {
            assert_null(tokens);
            assert_int_equal(err.code, status);
            continue;
        }
        uint64_t count = weir_tokens_count(tokens, WR_LIT("What is a weir?"));
        if (rows[i].tokens ? count != rows[i].tokens : !count)
            fail_msg("%s: %llu tokens", rows[i].behaviour, (unsigned long long)count);
        if (weir_tokens_is_exact(tokens) != rows[i].is_exact)
            fail_msg("%s: exact or not", rows[i].behaviour);
        assert_true(strlen(weir_tokens_method(tokens)) > 0);
        assert_int_equal(weir_tokens_count(tokens, WR_LIT("")), 0);
        weir_tokens_free(tokens);
    }
    weir_tokens_free(NULL);
}

static void a_counter_measures_pages(void **state)
{
    struct weir_recall_options options = WEIR_RECALL_OPTIONS_INIT;
    struct weir_recalled recalled;
    struct weir_tokens *tokens;
    struct wr_buf text;
    (void)state;

    wr_buf_init(&text, 1 << 16);
    assert_int_equal(weir_tokens_new(NULL, &tokens, NULL), WEIR_OK);
    options.page_tokens_max = 200;
    options.count_tokens = weir_tokens_count;
    options.user = tokens;
    for (int i = 0; i < 40; i++)
        wr_buf_text(&text, "one two three four five six seven eight nine ten\n");
    assert_int_equal(weir_recall_select(wr_buf_view(&text), &options, &recalled, NULL), WEIR_OK);
    assert_true(recalled.lines_count >= 1 && recalled.lines_count < 40);
    assert_true(recalled.next.len > 0);
    assert_true(weir_tokens_count(tokens, recalled.text) <= 200);
    weir_recalled_release(&recalled);
    weir_tokens_free(tokens);
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_counts_as_it_was_told),
        cmocka_unit_test(a_counter_measures_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
