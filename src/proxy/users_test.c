#include "proxy/users.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/config.h"

#define HASH_A "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" /* "test" */
#define HASH_B "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752" /* "test2" */

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *wanted; /* NULL: it is right */
    } cases[] = {
        {"nobody", "users: {}\n", NULL},
        {"one with two tokens",
         "users:\n  anna:\n    team: search\n    tokens:\n      - {sha256: " HASH_A "}\n"
         "      - {sha256: " HASH_B ", expires: 2026-12-31, note: laptop}\n",
         NULL},
        {"a token as it is", "users: {anna: {tokens: [test]}}\n",
         "line 1, column 25: a token does"},
        {"a short hash", "users: {anna: {tokens: [{sha256: ab}]}}\n", "64 hex digits"},
        {"no hash", "users: {anna: {tokens: [{expires: 2026-12-31}]}}\n", "has a sha256"},
        {"a wrong date", "users: {anna: {tokens: [{sha256: " HASH_A ", expires: soon}]}}\n",
         "YYYY-MM-DD"},
        {"one token of two users",
         "users:\n  anna: {tokens: [{sha256: " HASH_A "}]}\n"
         "  bob: {tokens: [{sha256: " HASH_A "}]}\n",
         "anna's already"},
        {"a name with a blank", "users: {\"an na\": {}}\n", "line 1, column 9: a user or team"},
        {"a team with a quote", "users: {anna: {team: \"a\\\"b\"}}\n", "a user or team"},
        {"a long name", "users: {abcdefghijklmnopqrstuvwxyzabcdefg: {}}\n", "up to 32"},
        {"a member that is none", "users: {anna: {tokken: []}}\n", "has team and tokens"},
        {"tenants by something else", "tenant_by: colour\n", "user (each"},
        {"the metrics' token is a user's",
         "metrics_token: test-token-of-metrics\nusers:\n  anna: {tokens: [{sha256: "
         "715e8403b11c38191211cfee49a715d038c57e1da5d52dfa4bb75e2bfb22d456}]}\n",
         "none of a user's"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        weir_status status = wr_config_read(config, wr_span_of(cases[i].yaml), &err);
        if (cases[i].wanted ? !status || !strstr(err.text, cases[i].wanted) : status != WEIR_OK)
            fail_msg("%s: %s", cases[i].behaviour, err.text);
        wr_config_free(config);
    }
}

static void a_token_is_found_by_its_hash(void **state)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    const struct wr_user_token *token;

    (void)state;
    assert_int_equal(
        wr_config_read(config,
                       WR_LIT("users:\n  anna: {team: search, tokens: [{sha256: " HASH_A "}]}\n"
                              "  bob: {tokens: [{sha256: " HASH_B ", expires: 2026-12-31}]}\n"
                              "tenant_by: team\n"),
                       &err),
        WEIR_OK);
    token = wr_users_find(&config->users, WR_LIT("test"));
    assert_non_null(token);
    assert_string_equal(token->user->name, "anna");
    assert_string_equal(token->user->team, "search");
    assert_true(wr_user_token_is_good(token, INT64_MAX));
    token = wr_users_find(&config->users, WR_LIT("test2"));
    assert_string_equal(token->user->name, "bob");
    assert_true(wr_user_token_is_good(token, INT64_C(1798761599999)));
    assert_false(wr_user_token_is_good(token, INT64_C(1798761600000)));
    assert_null(wr_users_find(&config->users, WR_LIT("test3")));
    assert_null(wr_users_find(&config->users, WR_LIT("")));
    assert_null(wr_users_find(&config->users, WR_LIT(HASH_A))); /* the hash opens nothing */
    assert_true(config->users.is_tenant_team);
    assert_true(wr_users_has_team(&config->users, WR_LIT("search")));
    assert_false(wr_users_has_team(&config->users, WR_LIT("searc")));
    /* A file that is read again replaces all of it. */
    assert_int_equal(wr_config_read(config, WR_LIT("mode: meter\n"), &err), WEIR_OK);
    assert_null(wr_users_find(&config->users, WR_LIT("test")));
    wr_config_free(config);
}

static void a_name_is_short_and_of_few_letters(void **state)
{
    static const struct {
        const char *name;
        bool is_one;
    } rows[] = {{"a", true},
                {"z", true},
                {"A", true},
                {"Z", true},
                {"0", true},
                {"9", true},
                {"a.b", true},
                {"a_b", true},
                {"a-b", true},
                {".a", false},
                {"-a", false},
                {"_a", false},
                {"", false},
                {"a b", false},
                {"a@b", false},
                {"a[b", false},
                {"a`b", false},
                {"a{b", false},
                {"a/b", false},
                {"a:b", false},
                {"abcdefghijklmnopqrstuvwxyz012345", true},
                {"abcdefghijklmnopqrstuvwxyz0123456", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_user_name_is(wr_span_of(rows[i].name)) != rows[i].is_one)
            fail_msg("'%s'", rows[i].name);
}

static void a_token_has_the_hash_that_is_read(void **state)
{
    char hex[WR_SHA256_HEX_BYTES + 1];
    (void)state;
    assert_int_equal(wr_user_token_hash(WR_LIT("test"), hex), WEIR_OK);
    assert_string_equal(hex, HASH_A);
    assert_int_equal(wr_user_token_hash(WR_LIT("test2"), hex), WEIR_OK);
    assert_string_equal(hex, HASH_B);
}

static void a_token_is_good_until_its_last_moment(void **state)
{
    struct wr_user_token token = {.expires_ms = 0};
    (void)state;
    assert_true(wr_user_token_is_good(&token, INT64_MAX));
    token.expires_ms = 1000;
    assert_true(wr_user_token_is_good(&token, 999));
    assert_false(wr_user_token_is_good(&token, 1000));
}

static void who_is_there_is_found_by_name(void **state)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err;
    (void)state;
    assert_int_equal(
        wr_config_read(config, WR_LIT("users: {anna: {team: search}, bob: {}}\n"), &err), WEIR_OK);
    assert_string_equal(wr_users_named(&config->users, WR_LIT("bob"))->name, "bob");
    assert_string_equal(wr_users_named(&config->users, WR_LIT("anna"))->team, "search");
    assert_null(wr_users_named(&config->users, WR_LIT("search")));
    assert_true(wr_users_has_team(&config->users, WR_LIT("search")));
    assert_false(wr_users_has_team(&config->users, WR_LIT("bob")));
    assert_null(wr_users_find(&config->users, WR_LIT("test")));
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_short_and_of_few_letters),
        cmocka_unit_test(a_token_has_the_hash_that_is_read),
        cmocka_unit_test(a_token_is_good_until_its_last_moment),
        cmocka_unit_test(who_is_there_is_found_by_name),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(a_token_is_found_by_its_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
