#include "store/spend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/calendar.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"
#include "tests/test_postgres.h"
#include "tests/test_spent.h"

enum { NODES = 3 };

struct fixture {
    struct wr_test_dir dir;
    struct wr_ledger *ledgers[NODES]; /* of one store, as several processes have them */
    bool is_postgres;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    for (int i = 0; i < NODES; i++)
        assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledgers[i], NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int set_up_postgres(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    const char *url = wr_test_postgres();

    assert_non_null(f);
    f->is_postgres = true;
    *state = f;
    for (int i = 0; i < NODES && url; i++)
        assert_int_equal(wr_ledger_open(url, NULL, &f->ledgers[i], NULL, NULL), WEIR_OK);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < NODES; i++)
        wr_ledger_close(f->ledgers[i]);
    if (!f->is_postgres)
        wr_test_dir_remove(&f->dir);
    free(f);
    return 0;
}

static struct fixture *fixture_of(void **state)
{
    struct fixture *f = *state;
    if (!f->ledgers[0])
        skip();
    return f;
}

#define NOON_MS INT64_C(1795003200000) /* 2026-11-18T12:00:00Z */

static struct wr_spend_request request_of(const char *user, const char *team, uint64_t number,
                                          int64_t tokens, int64_t micro_usd)
{
    struct wr_spend_request r = {.now_ms = NOON_MS, .scopes_count = 2};

    memcpy(r.ticket, &number, sizeof(number));
    memcpy(r.ticket + 8, user, strlen(user) < 8 ? strlen(user) : 8);
    r.scopes[0].name = wr_span_of(user);
    r.scopes[1].name = wr_span_of(team);
    r.most[WR_SPEND_REQUESTS] = 1;
    r.most[WR_SPEND_TOKENS] = tokens;
    r.most[WR_SPEND_MONEY] = micro_usd;
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            for (int k = 0; k < WR_SPEND_KINDS; k++)
                r.scopes[s].limits[p][k] = WR_SPEND_NO_LIMIT;
    return r;
}

static struct wr_spend_verdict reserve(struct wr_ledger *ledger, const struct wr_spend_request *r)
{
    struct wr_spend_verdict verdict;
    assert_int_equal(wr_ledger_reserve(ledger, r, &verdict, NULL), WEIR_OK);
    return verdict;
}

static struct wr_spent spent_of(struct fixture *f, const char *scope, enum wr_spend_period period)
{
    return wr_test_spent(f->ledgers[0], scope, period, NOON_MS);
}

static void periods_are_of_the_calendar(void **state)
{
    static const struct {
        const char *behaviour;
        enum wr_spend_period period;
        const char *now, *start, *end;
    } cases[] = {
        {"a minute", WR_SPEND_MINUTE, "2026-11-18T12:34:56Z", "2026-11-18T12:34:00Z",
         "2026-11-18T12:35:00Z"},
        {"a day", WR_SPEND_DAY, "2026-11-18T23:59:59Z", "2026-11-18T00:00:00Z",
         "2026-11-19T00:00:00Z"},
        {"a month", WR_SPEND_MONTH, "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z",
         "2028-03-01T00:00:00Z"},
        {"the last month of a year", WR_SPEND_MONTH, "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z",
         "2027-01-01T00:00:00Z"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        char start[WR_DATE_BYTES], end[WR_DATE_BYTES];
        int64_t now_ms;
        assert_true(wr_date_parse(wr_span_of(cases[i].now), &now_ms));
        wr_date_write(wr_spend_start_ms(cases[i].period, now_ms), start);
        wr_date_write(wr_spend_end_ms(cases[i].period, now_ms), end);
        assert_string_equal(start, cases[i].start);
        assert_string_equal(end, cases[i].end);
    }
}

static void a_limit_is_kept_to_the_request(void **state)
{
    struct fixture *f = fixture_of(state);
    uint64_t admitted = 0;

    for (uint64_t i = 1; i <= 20; i++) {
        struct wr_spend_request r = request_of("user:exact", "team:exact", i, 10, 100);
        r.scopes[1].limits[WR_SPEND_DAY][WR_SPEND_REQUESTS] = 7;
        struct wr_spend_verdict v = reserve(f->ledgers[i % NODES], &r);
        admitted += !v.is_refused;
        if (v.is_refused) {
            assert_int_equal(v.scope, 1);
            assert_int_equal(v.period, WR_SPEND_DAY);
            assert_int_equal(v.kind, WR_SPEND_REQUESTS);
            assert_false(v.is_held); /* a request that was let in is not given back */
            assert_int_equal(v.spent[1][WR_SPEND_DAY].used[WR_SPEND_REQUESTS], 7);
        }
    }
    assert_int_equal(admitted, 7);
    /* One that was refused by the team has not been counted for the user either. */
    assert_int_equal(spent_of(f, "user:exact", WR_SPEND_MONTH).used[WR_SPEND_REQUESTS], 7);
    assert_int_equal(spent_of(f, "user:exact", WR_SPEND_MONTH).held[WR_SPEND_MONEY], 700);
}

static void what_is_held_comes_back_when_it_is_settled(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_spend_request first = request_of("user:held", "team:held", 1, 10, 900);
    struct wr_spend_request second = request_of("user:held", "team:held", 2, 10, 900);

    first.scopes[0].limits[WR_SPEND_DAY][WR_SPEND_MONEY] = 1000;
    second.scopes[0].limits[WR_SPEND_DAY][WR_SPEND_MONEY] = 1000;
    assert_false(reserve(f->ledgers[0], &first).is_refused);
    assert_false(reserve(f->ledgers[1], &first).is_refused); /* the same ticket: nothing new */
    assert_int_equal(spent_of(f, "user:held", WR_SPEND_DAY).used[WR_SPEND_MONEY], 900);
    struct wr_spend_verdict v = reserve(f->ledgers[1], &second);
    assert_true(v.is_refused && v.is_held);
    for (int i = 0; i < 2; i++) /* told twice, done once */
        assert_int_equal(wr_ledger_settle(f->ledgers[2], first.ticket, 3, 40, NULL), WEIR_OK);
    struct wr_spent spent = spent_of(f, "team:held", WR_SPEND_MONTH);
    assert_int_equal(spent.used[WR_SPEND_MONEY], 40);
    assert_int_equal(spent.used[WR_SPEND_TOKENS], 3);
    assert_int_equal(spent.used[WR_SPEND_REQUESTS], 1);
    assert_int_equal(spent.held[WR_SPEND_MONEY], 0);
    assert_false(reserve(f->ledgers[1], &second).is_refused);
    assert_int_equal(wr_ledger_settle(f->ledgers[1], second.ticket, 3, 970, NULL), WEIR_OK);
    /* More than its most: the sum is true, and what is used up has no room for anybody. */
    assert_int_equal(spent_of(f, "user:held", WR_SPEND_DAY).used[WR_SPEND_MONEY], 1010);
    struct wr_spend_request free_one = request_of("user:held", "team:held", 3, 0, 0);
    free_one.scopes[0].limits[WR_SPEND_DAY][WR_SPEND_MONEY] = 1000;
    v = reserve(f->ledgers[0], &free_one);
    assert_true(v.is_refused && !v.is_held);
}

static void a_request_is_of_the_period_that_it_began_in(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_spend_request r = request_of("user:midnight", "team:midnight", 1, 10, 500);

    assert_true(wr_date_parse(WR_LIT("2026-11-30T23:59:59Z"), &r.now_ms));
    assert_false(reserve(f->ledgers[0], &r).is_refused);
    assert_int_equal(wr_ledger_settle(f->ledgers[0], r.ticket, 4, 50, NULL), WEIR_OK);
    for (int p = 0; p < WR_SPEND_PERIODS; p++) {
        enum wr_spend_period period = (enum wr_spend_period)p;
        struct wr_spent then = wr_test_spent(f->ledgers[0], "user:midnight", period, r.now_ms);
        struct wr_spent next =
            wr_test_spent(f->ledgers[0], "user:midnight", period, r.now_ms + 1000);
        assert_int_equal(then.used[WR_SPEND_MONEY], 50);
        assert_int_equal(next.used[WR_SPEND_REQUESTS], 0);
    }
}

/* ---- any order of calls, against a model of them ---- */

enum { TICKETS = 200, USERS = 3 };

struct model {
    enum { NEVER, HELD, GONE } states[TICKETS];
    int64_t most[TICKETS], real[TICKETS], times_ms[TICKETS];
    int users[TICKETS];
    int64_t used[USERS + 1], held[USERS + 1], requests[USERS + 1]; /* the last: the team */
};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void count_model(struct model *m, int ticket, int64_t used, int64_t held, int64_t requests)
{
    const int scopes[] = {m->users[ticket], USERS};
    for (size_t i = 0; i < 2; i++) {
        m->used[scopes[i]] += used;
        m->held[scopes[i]] += held;
        m->requests[scopes[i]] += requests;
    }
}

static void step_reserve(struct fixture *f, struct model *m, int ticket, int64_t limit,
                         uint64_t *seed)
{
    char user[32];
    int node = (int)(next_random(seed) % NODES);

    (void)snprintf(user, sizeof(user), "user:model%d", m->users[ticket]);
    struct wr_spend_request r =
        request_of(user, "team:model", (uint64_t)ticket + 1, m->most[ticket], m->most[ticket]);
    memset(r.ticket + 8, 'm', 8);
    r.now_ms = m->times_ms[ticket];
    r.scopes[1].limits[WR_SPEND_MONTH][WR_SPEND_MONEY] = limit;
    struct wr_spend_verdict v = reserve(f->ledgers[node], &r);
    bool is_over = m->used[USERS] >= limit || m->most[ticket] > limit - m->used[USERS];
    if (m->states[ticket] == HELD)
        is_over = false; /* it is in already */
    assert_int_equal(v.is_refused, is_over);
    if (v.is_refused || m->states[ticket] == HELD)
        return;
    m->states[ticket] = HELD;
    count_model(m, ticket, m->most[ticket], m->most[ticket], 1);
    assert_true(m->used[USERS] <= limit); /* invariant 1 */
}

static void step_settle(struct fixture *f, struct model *m, int ticket, uint64_t *seed)
{
    char user[32];

    (void)snprintf(user, sizeof(user), "user:model%d", m->users[ticket]);
    struct wr_spend_request r = request_of(user, "", (uint64_t)ticket + 1, 0, 0);
    memset(r.ticket + 8, 'm', 8);
    assert_int_equal(wr_ledger_settle(f->ledgers[next_random(seed) % NODES], r.ticket,
                                      m->real[ticket], m->real[ticket], NULL),
                     WEIR_OK);
    if (m->states[ticket] != HELD)
        return;
    m->states[ticket] = GONE;
    count_model(m, ticket, m->real[ticket] - m->most[ticket], -m->most[ticket], 0);
}

static void step_expire(struct fixture *f, struct model *m, int64_t before_ms)
{
    uint64_t expected = 0, count = 0;

    for (int i = 0; i < TICKETS; i++)
        if (m->states[i] == HELD && m->times_ms[i] < before_ms) {
            m->states[i] = GONE;
            count_model(m, i, 0, -m->most[i], 0);
            expected++;
        }
    assert_int_equal(wr_ledger_expire(f->ledgers[1], before_ms, 0, &count, NULL), WEIR_OK);
    assert_true(count >= expected); /* others of the store expire too */
}

static void check_model(struct fixture *f, const struct model *m)
{
    for (int i = 0; i <= USERS; i++) {
        char scope[32] = "team:model";
        if (i < USERS)
            (void)snprintf(scope, sizeof(scope), "user:model%d", i);
        struct wr_spent spent = spent_of(f, scope, WR_SPEND_MONTH);
        assert_int_equal(spent.used[WR_SPEND_MONEY], m->used[i]);
        assert_int_equal(spent.held[WR_SPEND_MONEY], m->held[i]);
        assert_int_equal(spent.used[WR_SPEND_TOKENS], m->used[i]);
        assert_int_equal(spent.used[WR_SPEND_REQUESTS], m->requests[i]);
        assert_true(spent.used[WR_SPEND_MONEY] >= spent.held[WR_SPEND_MONEY]);
    }
}

static void any_order_of_calls_gives_the_same_sums(void **state)
{
    struct fixture *f = fixture_of(state);
    struct model *m = calloc(1, sizeof(*m));
    uint64_t seed = 22;
    int64_t limit = 12000;

    assert_non_null(m);
    for (int i = 0; i < TICKETS; i++) {
        m->users[i] = (int)(next_random(&seed) % USERS);
        m->most[i] = (int64_t)(next_random(&seed) % 500);
        m->real[i] = (int64_t)(next_random(&seed) % (uint64_t)(m->most[i] + 1));
        m->times_ms[i] = NOON_MS + (int64_t)(next_random(&seed) % 1000000);
    }
    for (int i = 0; i < 600; i++) {
        int ticket = (int)(next_random(&seed) % TICKETS);
        uint64_t what = next_random(&seed) % 16;
        if (m->states[ticket] == GONE)
            what = 15; /* a ticket is used once */
        if (what < 9)
            step_reserve(f, m, ticket, limit, &seed);
        else if (what < 15)
            step_settle(f, m, ticket, &seed);
        else if (!(i % 40))
            step_expire(f, m, m->times_ms[ticket]);
        if (i % 100 == 99)
            check_model(f, m);
    }
    check_model(f, m);
    assert_true(m->requests[USERS] > 40);
    free(m);
}

static void old_counters_are_forgotten(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_spend_request r = request_of("user:old", "team:old", 1, 1, 1);

    r.now_ms = WR_DAY_MS * INT64_C(400);
    assert_false(reserve(f->ledgers[0], &r).is_refused);
    assert_int_equal(
        wr_ledger_expire(f->ledgers[0], r.now_ms + 1, r.now_ms + WR_DAY_MS, NULL, NULL), WEIR_OK);
    struct wr_spent spent = wr_test_spent(f->ledgers[0], "user:old", WR_SPEND_MONTH, r.now_ms);
    assert_int_equal(spent.used[WR_SPEND_REQUESTS], 0);
    assert_int_equal(wr_ledger_settle(f->ledgers[0], r.ticket, 1, 1, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_settle(f->ledgers[0], r.ticket, -1, 1, NULL), WEIR_INVALID);
}

static void a_name_has_its_bounds(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_spend_request r = request_of("user:long", "team:long", 1, 1, 1);
    struct wr_spend_verdict verdict;
    char name[WR_STORE_NAME_BYTES_MAX + 1];

    memset(name, 'n', sizeof(name));
    r.scopes[0].name = (weir_span){name, WR_STORE_NAME_BYTES_MAX};
    assert_false(reserve(f->ledgers[0], &r).is_refused);
    r.scopes[0].name.len++;
    assert_int_equal(wr_ledger_reserve(f->ledgers[0], &r, &verdict, NULL), WEIR_INVALID);
    r.scopes[0].name.len = 0;
    assert_int_equal(wr_ledger_reserve(f->ledgers[0], &r, &verdict, NULL), WEIR_INVALID);
}

#define BOTH(test)                                                     \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down),          \
    {                                                                  \
#test " in PostgreSQL", test, set_up_postgres, tear_down, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods_are_of_the_calendar),
        BOTH(a_limit_is_kept_to_the_request),
        BOTH(what_is_held_comes_back_when_it_is_settled),
        BOTH(a_request_is_of_the_period_that_it_began_in),
        BOTH(any_order_of_calls_gives_the_same_sums),
        BOTH(old_counters_are_forgotten),
        BOTH(a_name_has_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
