#include "agent/process_env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *entry;
    bool is_allowed;
} rows[] = {
    {"programs are found", "PATH=/bin", true},
    {"a family by its beginning", "LC_ALL=C.UTF-8", true},
    {"but no longer name of a single one", "PATHS=/bin", false},
    {"nor a shorter one", "PAT=/bin", false},
    {"a provider's key", "OPENAI_API_KEY=sk-1", false},
    {"a token", "GITHUB_TOKEN=ghp_1", false},
    {"a key that nobody has heard of", "ACME_BUILD=s3cr3t", false},
    {"a cloud's secret", "AWS_SECRET_ACCESS_KEY=x", false},
    {"an agent that signs", "SSH_AUTH_SOCK=/run/x", false},
    {"a proxy", "https_proxy=http://proxy:3128", true},
    {"a proxy with a password", "https_proxy=http://me:word@proxy:3128", false},
    {"and without the scheme", "HTTPS_PROXY=me:word@proxy:3128", false},
    {"no variable", "PATH", false},
};

static void only_what_is_on_the_list_is_passed(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_process_env_allows(rows[i].entry) != rows[i].is_allowed)
            fail_msg("%s", rows[i].behaviour);
}

static void the_rest_is_taken_out_in_place(void **state)
{
    char path[] = "PATH=/bin", key[] = "X_KEY=1", home[] = "HOME=/h";
    char *entries[] = {key, path, key, home, NULL};
    (void)state;
    wr_process_env_filter(entries);
    assert_ptr_equal(entries[0], path);
    assert_ptr_equal(entries[1], home);
    assert_null(entries[2]);
}

static void what_proc_shows_is_wiped(void **state)
{
    char path[] = "PATH=/bin", key[] = "X_KEY=1", base[] = "OPENAI_BASE_URL=http://h/v1";
    char *entries[] = {path, key, base, NULL};
    (void)state;
    wr_process_env_hide(entries);
    assert_string_equal(key, "");
    assert_string_equal(entries[1], "X_KEY=1"); /* the process has it still */
    assert_ptr_equal(entries[0], path);
    assert_ptr_equal(entries[2], base);
    free(entries[1]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_on_the_list_is_passed),
        cmocka_unit_test(the_rest_is_taken_out_in_place),
        cmocka_unit_test(what_proc_shows_is_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
