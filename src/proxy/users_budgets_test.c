#include "proxy/users.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/config.h"

#define USERS "users: {anna: {team: search}, bob: {team: search}, carl: {}}\n"

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *wanted; /* NULL: it is right */
    } cases[] = {
        {"none", USERS "budgets: []\n", NULL},
        {"one of each kind",
         USERS "budgets:\n  - {user: \"*\", per: minute, requests: 60}\n"
               "  - {user: anna, per: day, usd: 5.25, action: warn}\n"
               "  - {team: search, per: month, usd: 500, tokens: 20000000}\n",
         NULL},
        {"before the users", "budgets: [{user: anna, per: day, usd: 1}]\n" USERS, NULL},
        {"nobody of that name", USERS "budgets:\n  - {user: dora, per: day, usd: 1}\n",
         "line 3, column 1: no user is called 'dora'"},
        {"a user is no team", USERS "budgets:\n  - {team: anna, per: day, usd: 1}\n",
         "no team is called 'anna'"},
        {"of nobody", USERS "budgets: [{per: day, usd: 1}]\n", "has user or team, per"},
        {"without a period", USERS "budgets: [{user: anna, usd: 1}]\n", "has user or team, per"},
        {"without a limit", USERS "budgets: [{user: anna, per: day}]\n", "has user or team, per"},
        {"of both", USERS "budgets: [{user: anna, team: search, per: day, usd: 1}]\n",
         "a user or for a team"},
        {"another period", USERS "budgets: [{user: anna, per: week, usd: 1}]\n",
         "minute, day or month"},
        {"money in words", USERS "budgets: [{user: anna, per: day, usd: much}]\n", "USD"},
        {"too fine money", USERS "budgets: [{user: anna, per: day, usd: 0.0000001}]\n", "USD"},
        {"a negative number", USERS "budgets: [{user: anna, per: day, tokens: -1}]\n", "a number"},
        {"another action", USERS "budgets: [{user: anna, per: day, usd: 1, action: beg}]\n",
         "refuse or warn"},
        {"a member that is none", USERS "budgets: [{user: anna, per: day, dollars: 1}]\n",
         "not 'dollars'"},
        {"without a store", USERS "budgets_without_store: perhaps\n", "pass or refuse"},
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

static void the_smallest_that_fits_holds(void **state)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS];

    (void)state;
    assert_int_equal(
        wr_config_read(config,
                       WR_LIT(USERS "budgets:\n"
                                    "  - {user: \"*\", per: day, usd: 5}\n"
                                    "  - {user: bob, per: day, usd: 0.5}\n"
                                    "  - {user: anna, per: day, usd: 50}\n"
                                    "  - {user: anna, per: day, usd: 4, action: warn}\n"
                                    "  - {team: \"*\", per: month, requests: 9}\n"),
                       &err),
        WEIR_OK);
    const struct wr_users *users = &config->users;
    const struct wr_user *anna = wr_users_named(users, WR_LIT("anna"));
    assert_true(wr_budgets_limits(&config->budgets, anna, false, limits));
    assert_int_equal(limits[0][WR_SPEND_DAY][WR_SPEND_MONEY], 5000000);
    assert_int_equal(limits[0][WR_SPEND_DAY][WR_SPEND_TOKENS], WR_SPEND_NO_LIMIT);
    assert_int_equal(limits[1][WR_SPEND_MONTH][WR_SPEND_REQUESTS], 9);
    assert_true(wr_budgets_limits(&config->budgets, anna, true, limits));
    assert_int_equal(limits[0][WR_SPEND_DAY][WR_SPEND_MONEY], 4000000);
    assert_int_equal(limits[1][WR_SPEND_MONTH][WR_SPEND_REQUESTS], WR_SPEND_NO_LIMIT);
    assert_true(
        wr_budgets_limits(&config->budgets, wr_users_named(users, WR_LIT("bob")), false, limits));
    assert_int_equal(limits[0][WR_SPEND_DAY][WR_SPEND_MONEY], 500000);
    /* Who has no team has no team's budget. */
    assert_true(
        wr_budgets_limits(&config->budgets, wr_users_named(users, WR_LIT("carl")), false, limits));
    assert_int_equal(limits[1][WR_SPEND_MONTH][WR_SPEND_REQUESTS], WR_SPEND_NO_LIMIT);
    assert_false(
        wr_budgets_limits(&config->budgets, wr_users_named(users, WR_LIT("carl")), true, limits));
    wr_config_free(config);
}

static void an_amount_of_money_has_six_decimals(void **state)
{
    static const struct {
        const char *text;
        int64_t micro_usd; /* -1: it is none */
    } rows[] = {{"0", 0},
                {"12.5", 12500000},
                {"0.000001", 1},
                {"1.123456", 1123456},
                {"1.1234567", -1},
                {"1.", -1},
                {".5", -1},
                {"", -1},
                {"x", -1},
                {"1.x", -1},
                {"1.5.5", -1},
                {"-1", -1},
                {"1000000000", INT64_C(1000000000000000)},
                {"1000000001", -1}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        int64_t micro_usd = -1;
        bool is = wr_money_parse(wr_span_of(rows[i].text), &micro_usd);
        if (is != (rows[i].micro_usd >= 0) || (is && micro_usd != rows[i].micro_usd))
            fail_msg("'%s': %lld", rows[i].text, (long long)micro_usd);
    }
}

static void there_are_so_many_budgets_at_most(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        struct wr_buf yaml;
        wr_buf_init(&yaml, 1000000);
        wr_buf_text(&yaml, "users: {anna: {}}\nbudgets:\n");
        for (int i = 0; i < WR_PROXY_BUDGETS_MAX + more; i++)
            wr_buf_text(&yaml, "  - {user: anna, per: day, requests: 1}\n");
        assert_int_equal(wr_config_read(config, wr_buf_view(&yaml), &err),
                         more ? WEIR_LIMIT : WEIR_OK);
        assert_int_equal(strstr(err.text, "256 budgets at most") != NULL, more);
        wr_buf_release(&yaml);
        wr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_of_money_has_six_decimals),
        cmocka_unit_test(there_are_so_many_budgets_at_most),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(the_smallest_that_fits_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
