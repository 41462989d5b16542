/* Commits of several threads, as one and one by one. */
#include "store/pg_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <time.h>

#include "base/span.h"
#include "store/pg.h"
#include "tests/test_postgres.h"

#define LOCAL WR_LIT("local")

struct fixture {
    const char *url;
    struct weir_store *store;
};

/* On a busy machine a second is over soon, and here nothing is to be seen of that. */
static const struct weir_store_options patient = {.struct_bytes = sizeof(struct weir_store_options),
                                                  .busy_ms_max = 20000};

static int set_up(void **state)
{
    static struct fixture f;
    struct weir_gc_report report;

    *state = &f;
    f = (struct fixture){.url = wr_test_postgres()};
    if (!f.url)
        return 0;
    assert_int_equal(weir_store_open(f.url, &patient, &f.store, NULL, NULL), WEIR_OK);
    return (int)weir_store_purge_all(f.store, &report, NULL);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    weir_store_close(f->store);
    return 0;
}

static struct fixture *fixture_of(void **state)
{
    struct fixture *f = *state;
    if (!f->store)
        skip();
    return f;
}

static int64_t number(struct fixture *f, const char *sql)
{
    struct wr_pg_link *link = &wr_pg_of(f->store)->link;
    wr_pg_start(link);
    int64_t found = wr_pg_ask_number(link, sql);
    assert_int_equal(link->status, WEIR_OK);
    return found;
}

static void run(struct fixture *f, const char *sql)
{
    struct wr_pg_link *link = &wr_pg_of(f->store)->link;
    wr_pg_start(link);
    assert_true(wr_pg_run(link, sql, NULL));
}

static weir_status count_found(void *user, size_t key_index, const struct weir_mark *mark)
{
    (void)key_index;
    (void)mark;
    ++*(int *)user;
    return WEIR_OK;
}

enum { GATHERED = 8, TIMES = 40 };

struct gatherer {
    pthread_t thread;
    struct weir_store *store;
    int number, failures;
    int made;             /* of commits of the session that all are at */
    uint64_t own_trips;   /* of those of its own */
    weir_trouble trouble; /* of the last that failed */
};

static struct weir_mark mark_of(const char *session, int turn, weir_span value)
{
    struct weir_mark mark = {.kind = WEIR_MARK_SENT, .value = value, .replaces = true};

    mark.key.bytes[0] = (unsigned char)turn;
    memcpy(mark.key.bytes + 1, session, strlen(session));
    return mark;
}

/* One more turn of it, behind those that are there; `all` sessions have a mark in common too. Until
 * nobody was faster: then what was read is the newest. */
static bool commit_next_turn(struct gatherer *g, const char *session)
{
    struct weir_store *store = g->store;
    weir_status status = WEIR_IO;

    for (int tries = 0; status && tries < 100 * TIMES; tries++) {
        struct weir_mark marks[2] = {mark_of(session, 0, WR_LIT("x")),
                                     mark_of("all", 0, wr_span_of(session))};
        weir_hash keys[256];
        int found = 0;
        for (int turn = 0; turn < 256; turn++)
            keys[turn] = mark_of(session, turn, WR_LIT("")).key;
        if (weir_store_begin(store, LOCAL, wr_span_of(session), NULL) ||
            weir_store_marks(store, LOCAL, keys, 256, count_found, &found, NULL))
            return false;
        marks[0].key = keys[found];
        marks[1].kind = WEIR_MARK_SESSION;
        struct weir_batch batch = {.tenant = LOCAL,
                                   .session = wr_span_of(session),
                                   .used_ms = found,
                                   .marks = marks,
                                   .marks_count = 2};
        status = weir_store_commit(store, &batch, NULL);
        if (status && weir_store_trouble(store) != WEIR_TROUBLE_OUTRUN) {
            g->trouble = weir_store_trouble(store);
            return false;
        }
    }
    return !status;
}

static void *gather(void *user)
{
    struct gatherer *g = user;
    char own[16];

    (void)snprintf(own, sizeof(own), "own %d", g->number);
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = wr_pg_of(g->store)->link.trips_count;
        g->failures += !commit_next_turn(g, own);
        g->own_trips += wr_pg_of(g->store)->link.trips_count - before;
        if (i % 4)
            continue;
        bool is_made = commit_next_turn(g, "common");
        g->failures += !is_made;
        g->made += is_made;
    }
    return NULL;
}

/* All of them at once; how many trips the commits of their own sessions took. */
static uint64_t gather_all(struct fixture *f, struct gatherer all[GATHERED])
{
    uint64_t trips = 0;

    for (int i = 0; i < GATHERED; i++) {
        struct gatherer *g = &all[i];
        *g = (struct gatherer){.number = i};
        assert_int_equal(weir_store_open(f->url, &patient, &g->store, NULL, NULL), WEIR_OK);
    }
    for (int i = 0; i < GATHERED; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, gather, &all[i]), 0);
    for (int i = 0; i < GATHERED; i++) {
        (void)pthread_join(all[i].thread, NULL);
        trips += all[i].own_trips;
        weir_store_close(all[i].store);
    }
    return trips;
}

static void check_gathered(struct fixture *f, const struct gatherer all[GATHERED])
{
    int made = 0, failures = 0;

    for (int i = 0; i < GATHERED; i++) {
        made += all[i].made;
        failures += all[i].failures;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(made, GATHERED * TIMES / 4);
    /* Each turn once: nobody wrote over what another had committed. */
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark WHERE kind = 4"),
                     GATHERED * TIMES + made);
    assert_int_equal(number(f, "SELECT version FROM weir.session WHERE name = 'common'"), made);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.session WHERE name <> 'common' AND"
                               " version = 40"),
                     GATHERED);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark WHERE kind = 6"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark_use u JOIN weir.mark k ON k.id ="
                               " u.mark_id WHERE k.kind = 6"),
                     GATHERED + 1);
}

static void commits_gather_and_none_is_lost(void **state)
{
    struct fixture *f = fixture_of(state);
    struct gatherer all[GATHERED];
    struct weir_gc_report report;

    assert_true(gather_all(f, all) < GATHERED * TIMES);
    check_gathered(f, all);
    /* Where a group fails, all of it is committed alone. */
    assert_int_equal(weir_store_purge_all(f->store, &report, NULL), WEIR_OK);
    run(f, "ALTER FUNCTION weir.commits_1 RENAME TO gone_1");
    assert_true(gather_all(f, all) >= GATHERED * TIMES);
    run(f, "ALTER FUNCTION weir.gone_1 RENAME TO commits_1");
    check_gathered(f, all);
}

static void *end_connections(void *user)
{
    struct fixture *f = user;
    struct timespec pause = {.tv_nsec = 30 * 1000 * 1000};
    struct wr_pg_link link;

    if (wr_pg_link_open(&link, f->url, 20000, NULL))
        return f;
    for (int i = 0; i < 20; i++) {
        (void)nanosleep(&pause, NULL);
        wr_pg_start(&link);
        (void)wr_pg_run(&link,
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
                        NULL);
    }
    wr_pg_link_close(&link);
    return NULL;
}

/* Of a commit whose answer was lost nobody knows whether it was made; whoever asks again finds it.
 * So there may be more turns than were told of, but each commit is one, and none is half there. */
static void connections_end_under_groups(void **state)
{
    struct fixture *f = fixture_of(state);
    struct gatherer all[GATHERED];
    struct weir_store_stats stats;
    pthread_t thread;
    void *failed;

    assert_int_equal(pthread_create(&thread, NULL, end_connections, f), 0);
    (void)gather_all(f, all);
    (void)pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(weir_store_stats(f->store, &stats, NULL), WEIR_OK); /* on a new connection */
    for (int i = 0; i < GATHERED; i++)
        assert_int_equal(all[i].failures, 0);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.session s WHERE version <>"
                               " (SELECT count(*) FROM weir.mark_use u JOIN weir.mark k ON k.id ="
                               " u.mark_id WHERE u.session_id = s.id AND k.kind = 4)"),
                     0);
    assert_true(number(f, "SELECT count(*) FROM weir.mark WHERE kind = 4") >=
                GATHERED * (TIMES + TIMES / 4));
}

/* A database without room, and one that may not be written, refuse a group as they do one commit:
 * everybody is told, and nothing of it is there. */
static void a_group_that_is_refused_is_told(void **state)
{
    static const struct {
        const char *state;
        weir_trouble trouble;
    } rows[] = {{"53100", WEIR_TROUBLE_FULL}, {"42501", WEIR_TROUBLE_DENIED}};
    struct fixture *f = fixture_of(state);
    struct gatherer all[GATHERED];
    char sql[256];

    (void)gather_all(f, all);
    int64_t marks = number(f, "SELECT (count(*) + sum(mark_id))::bigint FROM weir.mark_use");
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        (void)snprintf(sql, sizeof(sql),
                       "CREATE FUNCTION refuse_1() RETURNS trigger LANGUAGE plpgsql AS"
                       " 'BEGIN RAISE SQLSTATE ''%s''; END'",
                       rows[i].state);
        run(f, sql);
        run(f, "CREATE TRIGGER refuses BEFORE INSERT ON weir.mark EXECUTE FUNCTION refuse_1()");
        (void)gather_all(f, all);
        run(f, "DROP FUNCTION refuse_1 CASCADE");
        for (int n = 0; n < GATHERED; n++) {
            assert_int_equal(all[n].failures, TIMES + TIMES / 4);
            assert_int_equal(all[n].trouble, rows[i].trouble);
        }
        assert_int_equal(number(f, "SELECT (count(*) + sum(mark_id))::bigint FROM weir.mark_use"),
                         marks);
    }
}

/* Only those of a group are made that hold: by version, by the keys that may not be there, by what
 * all sessions are told. One that somebody is at is left to go alone. */
static void a_group_makes_what_holds(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_pg_link holder;
    weir_span names[] = {WR_LIT("a"), WR_LIT("b"), WR_LIT("c"), WR_LIT("d"), WR_LIT("e")};

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct weir_batch batch = {.tenant = LOCAL, .session = names[i], .used_ms = 1};
        assert_int_equal(weir_store_commit(f->store, &batch, NULL), WEIR_OK);
    }
    struct weir_mark there = {.key = {{1}}, .kind = WEIR_MARK_SENT, .value = WR_LIT("v")};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("x"), .marks = &there, .marks_count = 1};
    assert_int_equal(weir_store_commit(f->store, &batch, NULL), WEIR_OK);
    assert_int_equal(wr_pg_link_open(&holder, f->url, 20000, NULL), WEIR_OK);
    wr_pg_start(&holder);
    assert_true(wr_pg_run(&holder, "BEGIN", NULL));
    assert_true(wr_pg_run(&holder, "SELECT 1 FROM weir.session WHERE name = 'e' FOR UPDATE", NULL));
    /* b has another version, c a key that is there, d was told of "x" as it is not. */
    assert_int_equal(
        number(f, "SELECT sum(10 ^ place)::bigint FROM (SELECT array_agg(id ORDER BY name) AS ids,"
                  " (array_agg(id) FILTER (WHERE name = 'x'))[1] AS x FROM weir.session) s,"
                  " weir.commits_1(100, 0, s.ids[1:5], '{1,7,1,1,1}', '{2,2,2,2,2}',"
                  " ARRAY['x', '', '', 'x', '']::bytea[], ARRAY[s.x, 0, 0, s.x, 0],"
                  " '{1,0,0,9,0}', '{1,3}', ARRAY['\\x05'::bytea, '\\x01'::bytea ||"
                  " decode(repeat('00', 31), 'hex')], '{1,2,3,4,5}',"
                  " '{k1,k2,k3,k4,k5}', '{4,4,4,4,4}', '{w1,w2,w3,w4,w5}')"),
        10);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark WHERE value IN ('w1', 'w2', 'w3',"
                               " 'w4', 'w5')"),
                     1);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark_use u JOIN weir.mark k ON k.id ="
                               " u.mark_id AND k.value = 'w1' JOIN weir.session s ON s.id ="
                               " u.session_id AND s.name = 'a' AND s.version = u.version"
                               " AND s.version = 2"),
                     1);
    wr_pg_link_close(&holder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commits_gather_and_none_is_lost),
        TEST(connections_end_under_groups),
        TEST(a_group_that_is_refused_is_told),
        TEST(a_group_makes_what_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
