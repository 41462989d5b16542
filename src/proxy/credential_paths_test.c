#include "proxy/credential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/config.h"

static bool allows(const struct wr_config *config, const char *method, const char *target)
{
    struct wr_head head = {.method = wr_span_of(method)};
    return wr_key_paths_allow(&config->key_paths, &head, wr_span_of(target), false);
}

static void what_is_known_passes(void **state)
{
    struct wr_config *config = wr_config_new();

    (void)state;
    static const char *const reads[] = {"/v1/models", "/v1/models/gpt-5", "/v1beta/models?key=x",
                                        "/api/tags", "/v1/responses/resp_1/input_items?limit=2"};
    static const char *const kept[] = {
        "/v1/files",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses/",
        "/v1/responses?after=/responses/x",
        "/v1/files?x=/models/a",
        "/v1/responses/x/../../files",
        "/v1/responses/x/%2E%2e/%2e%2E/files",
        "/v1/models/..%2ffiles",
        "/v1/models/..%5Cfiles",
        "/v1/models/%252e%252e/files",
        "/v1/models/..\\files",
        "/v1//models/x",
        "/v1/files#/models/x",
        "/v1/files%3F/models/x",
        "/v1/files%23/models/x",
        "/v1/files%00/models/x",
        "/v1/models/..;/files",
        "/v1/embeddings",
        "",
    };
    for (size_t i = 0; i < WR_COUNT_OF(reads); i++)
        assert_true(allows(config, "GET", reads[i]));
    assert_true(allows(config, "POST", "/v1/responses/resp_1/cancel"));
    assert_true(allows(config, "DELETE", "/v1/responses/resp_1"));
    /* An odd spelling of what begins an answer is none by its id. */
    assert_false(allows(config, "POST", "/v1/responses/COMPACT"));
    assert_false(allows(config, "POST", "/v1/responses/;x"));
    assert_false(allows(config, "POST", "/v1/responses/%20"));
    assert_false(allows(config, "POST", "/v1/responses/cancel"));
    assert_false(allows(config, "PUT", "/v1/responses/resp_1"));
    assert_false(allows(config, "DELETE", "/v1/models/gpt-5"));
    assert_false(allows(config, "POST", "/v1/models"));
    for (size_t i = 0; i < WR_COUNT_OF(kept); i++)
        if (allows(config, "GET", kept[i]))
            fail_msg("%s", kept[i]);
    wr_config_free(config);
}

static void a_conversation_is_asked_for_by_no_odd_path(void **state)
{
    static const char *const asked[] = {
        "/v1/chat/completions",
        "/v1/chat/completions?api-version=1#x;",
        "//v1/chat/completions",
        "/v1beta/models/gemini-2.5-pro:generateContent",
        "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        "/model/arn%3Aaws%3Abedrock%3Aeu-1%3A1%3Ainference-profile%2Feu.claude/invoke",
    };
    static const char *const kept[] = {
        "/v1/files;/v1/chat/completions",
        "/v1/files%3f/v1/chat/completions",
        "/v1/files%23/v1/chat/completions",
        "/v1/files%00/v1/chat/completions",
        "/v1/files\\..\\v1/chat/completions",
        "/v1/files/../chat/completions",
        "/v1/files/./chat/completions",
        "/model/cheap/../dear/converse",
        "/model/cheap/%2e%2E/dear/converse",
        "/model/cheap%2f..%2Fdear/converse",
        "/v1beta/models/cheap/%252e%252e/dear:generateContent",
    };
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("POST")};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(asked); i++)
        if (!wr_key_paths_allow(&config->key_paths, &head, wr_span_of(asked[i]), true))
            fail_msg("%s", asked[i]);
    for (size_t i = 0; i < WR_COUNT_OF(kept); i++)
        if (wr_key_paths_allow(&config->key_paths, &head, wr_span_of(kept[i]), true))
            fail_msg("%s", kept[i]);
    wr_config_free(config);
}

static void others_pass_where_they_are_named(void **state)
{
    struct wr_config *config = wr_config_new();

    (void)state;
    assert_int_equal(wr_config_read(config, WR_LIT("other_paths: [/v1/embeddings]"), NULL),
                     WEIR_OK);
    assert_true(allows(config, "POST", "/v1/embeddings"));
    assert_true(allows(config, "POST", "/v1/embeddings/x?y"));
    assert_false(allows(config, "POST", "/v1/embeddings-2"));
    assert_false(allows(config, "POST", "/v1/embeddings/../files"));
    assert_int_equal(wr_config_read(config, WR_LIT("other_paths: [\"/\"]"), NULL), WEIR_OK);
    assert_true(allows(config, "PUT", "/v1//files%2f"));
    assert_int_equal(wr_config_read(config, WR_LIT("mode: active"), NULL), WEIR_OK);
    assert_false(allows(config, "POST", "/v1/embeddings"));
    wr_config_free(config);
}

static void what_is_wrong_has_a_place(void **state)
{
    static const struct {
        const char *yaml, *said;
    } rows[] = {
        {"other_paths: /v1/files", "line 1, column 14: a list of paths"},
        {"other_paths: [v1]", "line 1, column 15: the beginning of a path"},
        {"other_paths: [/v1/files/]", "the beginning of a path"},
        {"other_paths: [/v1/../x]", "the beginning of a path"},
        {"other_paths: [\"/v1?x\"]", "the beginning of a path"},
        {"other_paths: [{}]", "the beginning of a path"},
    };

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        assert_int_equal(wr_config_read(config, wr_span_of(rows[i].yaml), &err), WEIR_INVALID);
        assert_non_null(strstr(err.text, rows[i].said));
        wr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_passes),
        cmocka_unit_test(a_conversation_is_asked_for_by_no_odd_path),
        cmocka_unit_test(others_pass_where_they_are_named),
        cmocka_unit_test(what_is_wrong_has_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
