#include "proxy/references.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/config.h"
#include "tests/test_dir.h"

static void a_value_may_stand_elsewhere(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char path[WR_TEST_PATH_BYTES + 32];
    static const struct {
        const char *behaviour, *yaml, *wanted, *fails; /* %s: the file; of metrics_token */
    } cases[] = {
        {"a variable", "metrics_token: ${TEST_TOKEN}\n", "token-of-the-variable", NULL},
        {"within a value", "metrics_token: a-${TEST_TOKEN}-b\n", "a-token-of-the-variable-b", NULL},
        {"another where it is not set", "metrics_token: ${TEST_NONE:-token-of-the-default}\n",
         "token-of-the-default", NULL},
        {"as it stands", "metrics_token: $${TEST_TOKEN}${TEST_TOKEN}\n",
         "${TEST_TOKEN}token-of-the-variable", NULL},
        {"a value is no YAML", "metrics_token: ${TEST_YAML}\n", "[a, b]: {c: d} # a comment", NULL},
        {"a file", "metrics_token: {file: %s}\n", "token-of-the-file", NULL},
        {"a file by a variable", "metrics_token: {file: \"${TEST_DIR}/token\"}\n",
         "token-of-the-file", NULL},
        {"in a list", "tokens: [{file: %s}]\nmetrics_token: 0123456789abcdef\n", "0123456789abcdef",
         NULL},
        {"not set", "mode: meter\nmetrics_token: ${TEST_NONE}\n", NULL,
         "line 2, column 16: the variable TEST_NONE is not set"},
        {"without an end", "metrics_token: ${TEST_TOKEN\n", NULL, "a } is missing"},
        {"without a name", "metrics_token: ${}\n", NULL, "names a variable"},
        {"a file that is none", "metrics_token: {file: /no/such/file}\n", NULL,
         "line 1, column 23: this file cannot be read"},
    };
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/token", dir.path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs("  token-of-the-file\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("TEST_TOKEN", "token-of-the-variable", 1), 0);
    assert_int_equal(setenv("TEST_YAML", "[a, b]: {c: d} # a comment", 1), 0);
    assert_int_equal(setenv("TEST_DIR", dir.path, 1), 0);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        struct wr_buf yaml;

        wr_buf_init(&yaml, 65536);
        const char *at = strstr(cases[i].yaml, "%s");
        wr_buf_append(&yaml,
                      wr_span_cut(wr_span_of(cases[i].yaml), 0,
                                  at ? (size_t)(at - cases[i].yaml) : strlen(cases[i].yaml)));
        if (at)
            wr_buf_printf(&yaml, "%s%s", path, at + 2);
        weir_status status = wr_config_read(config, wr_buf_view(&yaml), &err);
        bool ok = cases[i].fails ? status && strstr(err.text, cases[i].fails)
                                 : !status && !strcmp(config->metrics_token, cases[i].wanted);
        if (!ok)
            fail_msg("%s: %s", cases[i].behaviour, err.text);
        wr_buf_release(&yaml);
        wr_config_free(config);
    }
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_may_stand_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
