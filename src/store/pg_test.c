/* What is PostgreSQL's own; what every store promises is in store_test.c, of the ledger in
 * ledger_test.c, and both run against a server too. */
#include "store/pg.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_postgres.h"

#define LOCAL WR_LIT("local")

struct fixture {
    const char *url;
    struct weir_store *store;
    struct wr_ledger *ledger;
    struct wr_buf body;
};

/* On a busy machine a second is over soon, and here nothing is to be seen of that. */
static const struct weir_store_options patient = {.struct_bytes = sizeof(struct weir_store_options),
                                                  .busy_ms_max = 20000};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct weir_gc_report report;

    assert_non_null(f);
    *state = f;
    wr_buf_init(&f->body, 64 * 1024 * 1024);
    f->url = wr_test_postgres();
    if (!f->url)
        return 0;
    assert_int_equal(weir_store_open(f->url, &patient, &f->store, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(f->url, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    return (int)weir_store_purge_all(f->store, &report, NULL);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    weir_store_close(f->store);
    wr_ledger_close(f->ledger);
    wr_buf_release(&f->body);
    free(f);
    return 0;
}

static struct fixture *fixture_of(void **state)
{
    struct fixture *f = *state;
    if (!f->store)
        skip();
    return f;
}

/* Text that does not repeat itself. */
static weir_span grow_body(struct fixture *f, size_t bytes, uint64_t seed)
{
    while (bytes--) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        wr_buf_byte(&f->body, (char)(seed >> 56));
    }
    return wr_buf_view(&f->body);
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

static weir_handle put(struct fixture *f, const char *session, weir_span text)
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {.session = wr_span_of(session),
                               .used_ms = 1000,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    assert_int_equal(weir_store_commit(f->store, &batch, NULL), WEIR_OK);
    return weir_hash_handle(&artifact.hash);
}

static void a_large_original_is_in_chunks(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_artifact found;
    struct weir_verify_report verified;
    struct weir_gc_report report;

    weir_span text = grow_body(f, 3 * WR_STORE_CHUNK_BYTES + 100, 1);
    struct weir_lookup lookup = {.handle = put(f, "s", text)};
    assert_int_equal(number(f, "SELECT count(*) FROM weir.artifact_chunk"), 3);
    assert_int_equal(weir_store_get(f->store, &lookup, &found, NULL, NULL), WEIR_OK);
    assert_true(wr_span_eq(found.text, text));
    assert_int_equal(weir_store_verify(f->store, NULL, NULL, &verified, NULL), WEIR_OK);
    assert_int_equal(verified.artifacts_count * 10 + verified.corrupt_count, 10);
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("s"), &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.artifact_chunk"), 0);
}

static void what_is_damaged_is_written_anew(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_artifact found;
    weir_miss miss;

    struct weir_lookup lookup = {.handle = put(f, "s", WR_LIT("a text that is damaged"))};
    run(f, "UPDATE weir.artifact SET data = 'another text, as long'");
    assert_int_equal(weir_store_get(f->store, &lookup, &found, &miss, NULL), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    (void)put(f, "s", WR_LIT("a text that is damaged"));
    assert_int_equal(weir_store_get(f->store, &lookup, &found, &miss, NULL), WEIR_OK);
}

static void add_row(struct fixture *f, const char *session, int64_t time_ms, weir_span came,
                    weir_span sent)
{
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = LOCAL,
                                .session = wr_span_of(session),
                                .model = WR_LIT("gpt-5"),
                                .line = WR_LIT("{}"),
                                .came = came,
                                .sent = sent};
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_said_lost(f->ledger), 0);
}

static void days_leave_whole(void **state)
{
    struct fixture *f = fixture_of(state);
    const int64_t day = 86400000, now = 5000 * day + 100;
    struct weir_gc_options gc = WEIR_GC_OPTIONS_INIT;
    struct weir_gc_report report;

    run(f, "SELECT weir.make_days_1(5000::bigint * 86400000)");
    for (int i = 0; i < 3; i++)
        add_row(f, "moves on", now + i, WR_LIT(""), WR_LIT(""));
    add_row(f, "stays", now + 3, WR_LIT(""), WR_LIT(""));
    add_row(f, "moves on", now + 10 * day, WR_LIT(""), WR_LIT(""));
    assert_int_equal(number(f, "SELECT count(*) FROM weir.request_5000"), 4);
    assert_int_equal(weir_store_touch(f->store, LOCAL, WR_LIT("stays"), now + 10 * day, NULL),
                     WEIR_OK);
    gc.now_ms = now + 10 * day;
    gc.retention_ms = 5 * day;
    assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    assert_int_equal(report.rows_count, 3);
    assert_int_equal(number(f, "SELECT count(to_regclass('weir.request_5000'))"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.request"), 2);
}

/* Somebody reads a day for long: what is to leave waits for the next time, and nobody for it. */
static void a_day_in_use_leaves_the_next_time(void **state)
{
    struct fixture *f = fixture_of(state);
    const int64_t day_ms = 86400000, now_ms = 40000 * day_ms;
    struct weir_gc_options old = {.now_ms = now_ms, .live_ms = 0};
    struct weir_gc_options gc = {.now_ms = now_ms + 9 * day_ms, .retention_ms = 3 * day_ms};
    struct weir_gc_report report;
    struct wr_pg_link reader;

    assert_int_equal(weir_store_gc(f->store, &old, &report, NULL), WEIR_OK); /* makes its day */
    add_row(f, "gone", now_ms + 1, WR_LIT(""), WR_LIT(""));
    add_row(f, "stays", now_ms + 2, WR_LIT(""), WR_LIT(""));
    add_row(f, "stays", now_ms + 8 * day_ms, WR_LIT(""), WR_LIT(""));
    assert_int_equal(wr_pg_link_open(&reader, f->url, 20000, NULL), WEIR_OK);
    wr_pg_start(&reader);
    assert_true(wr_pg_run(&reader, "BEGIN", NULL));
    assert_true(wr_pg_run(&reader, "SELECT count(*) FROM weir.request_40000", NULL));
    assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT (to_regclass('weir.request_40000') IS NULL)::int"), 0);
    add_row(f, "stays", now_ms + 8 * day_ms + 1, WR_LIT(""), WR_LIT("")); /* goes on meanwhile */
    assert_true(wr_pg_run(&reader, "COMMIT", NULL));
    assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT (to_regclass('weir.request_40000') IS NULL)::int"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.request"), 2);
    wr_pg_link_close(&reader);
}

static void what_was_said_comes_back(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_which which = {.tenant = LOCAL, .session = WR_LIT("s"), .is_last = true};
    struct wr_ledger_row said;
    struct weir_gc_report report;
    struct weir_err err = {.text = ""};

    for (int i = 1; i <= 10; i++)
        add_row(f, "s", i, grow_body(f, 30000, (uint64_t)i), WR_LIT("shorter"));
    assert_int_equal(wr_ledger_said(f->ledger, &which, &said, NULL), WEIR_OK);
    assert_true(wr_span_eq(said.came, wr_buf_view(&f->body)));
    assert_true(wr_span_is(said.sent, "shorter"));
    assert_int_equal(said.report.len, 0);
    assert_true(number(f, "SELECT sum(text_bytes)::bigint FROM weir.piece") < 600000);
    which.tenant = WR_LIT("other");
    assert_int_equal(wr_ledger_said(f->ledger, &which, &said, NULL), WEIR_NOTFOUND);
    run(f, "UPDATE weir.piece SET data = substr(data, 2)");
    which.tenant = LOCAL;
    assert_int_not_equal(wr_ledger_said(f->ledger, &which, &said, &err), WEIR_OK);
    assert_string_equal(err.text, "what the request said is damaged in the store");
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("s"), &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.piece"), 0);
}

/* 8 MiB fill a group, which is one transaction; the next row begins another. */
static void bodies_are_kept_in_groups(void **state)
{
    enum { BODY_BYTES = 4 * 1024 * 1024, ROWS_COUNT = 3 };
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row rows[ROWS_COUNT], said;
    char *body = calloc(1, BODY_BYTES);
    assert_non_null(body);

    for (int i = 0; i < ROWS_COUNT; i++)
        rows[i] = (struct wr_ledger_row){.time_ms = i + 1,
                                         .tenant = LOCAL,
                                         .session = WR_LIT("s"),
                                         .line = WR_LIT("{}"),
                                         .came = {body, BODY_BYTES}};
    assert_int_equal(wr_ledger_add(f->ledger, rows, ROWS_COUNT, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_said_lost(f->ledger), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.said"), ROWS_COUNT);
    assert_int_equal(number(f, "SELECT count(DISTINCT xmin::text) FROM weir.said"), 2);
    struct wr_ledger_which which = {.tenant = LOCAL, .session = WR_LIT("s"), .is_last = true};
    assert_int_equal(wr_ledger_said(f->ledger, &which, &said, NULL), WEIR_OK);
    assert_true(wr_span_eq(said.came, rows[0].came));
    free(body);
}

/* ---- several at once ---- */

enum { WRITERS = 4, COMMITS = 40 };

struct writer {
    pthread_t thread;
    const char *url;
    int number, failures;
};

/* Of a session of its own and texts and marks of all. */
static void *write_much(void *user)
{
    struct writer *w = user;
    struct weir_store *store;
    char session[16];

    (void)snprintf(session, sizeof(session), "writer %d", w->number);
    if (weir_store_open(w->url, &patient, &store, NULL, NULL)) {
        w->failures = COMMITS;
        return NULL;
    }
    for (int i = 0; i < COMMITS; i++) {
        char text[2][64];
        struct weir_artifact artifacts[2];
        struct weir_mark marks[2];
        for (int n = 0; n < 2; n++) {
            (void)snprintf(text[n], sizeof(text[n]), "text %d", (i + n * w->number) % COMMITS);
            artifacts[n] = (struct weir_artifact){.text = wr_span_of(text[n])};
            marks[n] = (struct weir_mark){
                .kind = WEIR_MARK_SENT, .value = wr_span_of(text[n]), .replaces = true};
            marks[n].key.bytes[0] = (unsigned char)((w->number % 2 ? n : 1 - n) + 1);
        }
        struct weir_batch batch = {.session = wr_span_of(session),
                                   .used_ms = i,
                                   .artifacts = artifacts,
                                   .artifacts_count = 2,
                                   .marks = marks,
                                   .marks_count = 2};
        /* A lock is waited for 1.5 s, which on a busy machine may be a turn of its processor. */
        weir_status status = weir_store_commit(store, &batch, NULL);
        for (int tries = 0; tries < 20 && weir_store_trouble(store) == WEIR_TROUBLE_LOCKED; tries++)
            status = weir_store_commit(store, &batch, NULL);
        w->failures += status != WEIR_OK;
    }
    weir_store_close(store);
    return NULL;
}

static void writers_wait_and_do_not_fail(void **state)
{
    struct fixture *f = fixture_of(state);
    struct writer writers[WRITERS];
    struct weir_gc_options gc = {.now_ms = 1000000, .retention_ms = 1, .live_ms = 0};
    struct weir_gc_report report;
    struct weir_store_stats stats;
    int failures = 0;

    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.url = f->url, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_much, &writers[i]), 0);
    }
    for (int i = 0; i < 10; i++) /* takes sessions out under them */
        assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    for (int i = 0; i < WRITERS; i++) {
        (void)pthread_join(writers[i].thread, NULL);
        failures += writers[i].failures;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    assert_int_equal(weir_store_stats(f->store, &stats, NULL), WEIR_OK);
    assert_int_equal(stats.sessions_count + stats.artifacts_count + stats.marks_count, 0);
}

/* ---- trips ---- */

static weir_status count_found(void *user, size_t key_index, const struct weir_mark *mark)
{
    (void)key_index;
    (void)mark;
    ++*(int *)user;
    return WEIR_OK;
}

struct node {
    struct weir_store *store;
    uint64_t trips_before;
};

static uint64_t trips_of(struct node *node)
{
    uint64_t now = wr_pg_of(node->store)->link.trips_count, trips = now - node->trips_before;
    node->trips_before = now;
    return trips;
}

/* A request as the engine makes it: it reads the pin and the marks of its turns, asks whether the
 * originals are there, and commits; of turn `turn` there is a mark and an original. Gives how many
 * marks it found, or minus the trouble. */
static int request(struct node *node, const char *session, int turn, const char *form)
{
    struct weir_store *store = node->store;
    struct weir_pin pin = {.model = WR_LIT("m"), .value = WR_LIT("p")};
    struct weir_artifact artifacts[2] = {{.text = WR_LIT("first")}, {.text = wr_span_of(form)}};
    struct weir_mark mark = {.kind = WEIR_MARK_STEP, .value = wr_span_of(form)};
    weir_hash keys[32] = {{{0}}};
    int found = 0;

    assert_int_equal(weir_store_begin(store, LOCAL, wr_span_of(session), NULL), WEIR_OK);
    (void)!weir_store_pin(store, LOCAL, wr_span_of(session), &pin, NULL);
    for (int i = 0; i <= turn; i++) {
        keys[i].bytes[0] = (unsigned char)(i + 1);
        memcpy(keys[i].bytes + 1, session, strlen(session));
    }
    assert_int_equal(
        weir_store_marks(store, LOCAL, keys, (size_t)turn + 1, count_found, &found, NULL), WEIR_OK);
    mark.key = keys[turn];
    struct weir_batch batch = {.tenant = LOCAL,
                               .session = wr_span_of(session),
                               .used_ms = turn,
                               .artifacts = artifacts,
                               .artifacts_count = 2,
                               .marks = &mark,
                               .marks_count = 1,
                               .pins = &pin,
                               .pins_count = 1};
    return weir_store_commit(store, &batch, NULL) ? -(int)weir_store_trouble(store) : found;
}

static void open_nodes(struct fixture *f, struct node nodes[2])
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(weir_store_open(f->url, &patient, &nodes[i].store, NULL, NULL), WEIR_OK);
        nodes[i].trips_before = 0;
        (void)trips_of(&nodes[i]);
    }
}

static void a_request_is_one_trip_where_the_last_was(void **state)
{
    struct fixture *f = fixture_of(state);
    struct node nodes[2];

    open_nodes(f, nodes);
    assert_int_equal(request(&nodes[0], "s", 0, "a"), 0); /* begins: nothing is known of it */
    assert_int_equal(trips_of(&nodes[0]), 3);
    for (int turn = 1; turn < 5; turn++) {
        assert_int_equal(request(&nodes[0], "s", turn, "b"), turn);
        assert_int_equal(trips_of(&nodes[0]), 1);
    }
    assert_int_equal(request(&nodes[1], "s", 5, "c"), 5); /* elsewhere */
    assert_int_equal(trips_of(&nodes[1]), 2);
    for (int i = 0; i < 2; i++)
        weir_store_close(nodes[i].store);
}

/* Two nodes at the same turn: one form is kept, and the other learns of it. */
static void who_is_outrun_takes_over_what_was_kept(void **state)
{
    struct fixture *f = fixture_of(state);
    struct node nodes[2];

    open_nodes(f, nodes);
    assert_int_equal(request(&nodes[0], "s", 0, "a"), 0);
    assert_int_equal(request(&nodes[1], "s", 1, "theirs"), 1);
    (void)trips_of(&nodes[0]);
    assert_int_equal(request(&nodes[0], "s", 1, "ours"), -(int)WEIR_TROUBLE_OUTRUN);
    assert_int_equal(trips_of(&nodes[0]), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark WHERE value = 'ours'"), 0);
    assert_int_equal(request(&nodes[0], "s", 1, "theirs"), 2);
    assert_int_equal(trips_of(&nodes[0]), 1);
    assert_int_equal(request(&nodes[0], "s", 2, "ours"), 2);
    for (int i = 0; i < 2; i++)
        weir_store_close(nodes[i].store);
}

/* Another conversation under the same name, such as a subagent's, is nothing that this rests on. */
static void what_was_not_asked_for_is_no_race(void **state)
{
    struct fixture *f = fixture_of(state);
    struct node nodes[2];
    struct weir_mark mark = {.kind = WEIR_MARK_STEP, .value = WR_LIT("aside"), .key = {{99}}};
    struct weir_batch aside = {
        .tenant = LOCAL, .session = WR_LIT("s"), .used_ms = 1, .marks = &mark, .marks_count = 1};

    open_nodes(f, nodes);
    assert_int_equal(request(&nodes[0], "s", 0, "a"), 0);
    assert_int_equal(weir_store_commit(nodes[1].store, &aside, NULL), WEIR_OK);
    (void)trips_of(&nodes[0]);
    assert_int_equal(request(&nodes[0], "s", 1, "b"), 1);
    assert_int_equal(trips_of(&nodes[0]), 2);
    for (int i = 0; i < 2; i++)
        weir_store_close(nodes[i].store);
}

/* A session that is taken out is begun anew by who knew it. */
static void who_knew_a_session_that_left_begins_it_anew(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_gc_report report;
    struct node nodes[2];

    open_nodes(f, nodes);
    assert_int_equal(request(&nodes[0], "s", 0, "a"), 0);
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("s"), &report, NULL), WEIR_OK);
    assert_int_equal(request(&nodes[0], "s", 1, "b"), -(int)WEIR_TROUBLE_OUTRUN);
    assert_int_equal(request(&nodes[0], "s", 1, "b"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.artifact"), 2);
    for (int i = 0; i < 2; i++)
        weir_store_close(nodes[i].store);
}

/* What is told to all sessions of a tenant is kept under a name of its own, which every request
 * reads too: it costs no trip, and a request that does not know the newest is made again. */
static int hearing_request(struct node *node, int turn)
{
    struct weir_pin order = {.model = WR_LIT("order")};
    struct weir_mark mark = {.kind = WEIR_MARK_STEP, .value = WR_LIT("x"), .key = {{7}}};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .used_ms = 1, .marks = &mark, .marks_count = 1};

    mark.key.bytes[1] = (unsigned char)turn;
    assert_int_equal(weir_store_begin(node->store, LOCAL, WR_LIT("s"), NULL), WEIR_OK);
    weir_status heard = weir_store_pin(node->store, LOCAL, WR_LIT("all"), &order, NULL);
    if (weir_store_commit(node->store, &batch, NULL))
        return -(int)weir_store_trouble(node->store);
    assert_int_equal(weir_store_begin(node->store, LOCAL, WR_LIT(""), NULL), WEIR_OK);
    return heard == WEIR_OK;
}

static void what_all_sessions_are_told_is_compared_too(void **state)
{
    struct fixture *f = fixture_of(state);
    struct node nodes[2];
    struct weir_pin order = {.model = WR_LIT("order"), .value = WR_LIT("pause")};
    struct weir_batch told = {
        .tenant = LOCAL, .session = WR_LIT("all"), .used_ms = 1, .pins = &order, .pins_count = 1};

    open_nodes(f, nodes);
    assert_int_equal(hearing_request(&nodes[0], 1), 0);
    (void)trips_of(&nodes[0]);
    assert_int_equal(hearing_request(&nodes[0], 2), 0);
    assert_int_equal(trips_of(&nodes[0]), 1);
    assert_int_equal(weir_store_commit(nodes[1].store, &told, NULL), WEIR_OK);
    assert_int_equal(hearing_request(&nodes[0], 3), -(int)WEIR_TROUBLE_OUTRUN);
    assert_int_equal(number(f, "SELECT count(*) FROM weir.mark"), 2);
    for (int turn = 3; turn < 6; turn++) {
        (void)trips_of(&nodes[0]);
        assert_int_equal(hearing_request(&nodes[0], turn), 1);
    }
    assert_int_equal(trips_of(&nodes[0]), 1);
    for (int i = 0; i < 2; i++)
        weir_store_close(nodes[i].store);
}

/* ---- releases ---- */

static void a_later_schema_serves_as_long_as_it_says(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_store *store = NULL;
    struct weir_err err;
    weir_trouble trouble;

    run(f, "UPDATE weir.schema_version SET version = version + 1");
    assert_int_equal(weir_store_open(f->url, &patient, &store, &trouble, &err), WEIR_OK);
    weir_store_close(store);
    run(f, "UPDATE weir.schema_version SET serves = version");
    assert_int_equal(weir_store_open(f->url, &patient, &store, &trouble, &err), WEIR_INVALID);
    assert_int_equal(trouble, WEIR_TROUBLE_NEWER);
    (void)put(f, "s", WR_LIT("who was there before goes on"));
    run(f, "UPDATE weir.schema_version SET version = version - 1, serves = 1");
}

/* As nodes of the release before made it. */
static void make_schema_1(struct fixture *f)
{
    struct wr_buf sql;
    FILE *file = fopen("data/postgres/1.sql", "r");

    wr_buf_init(&sql, 1024 * 1024);
    assert_non_null(file);
    wr_buf_text(&sql, "DO $weir$ BEGIN DROP SCHEMA weir CASCADE; CREATE SCHEMA weir; CREATE TABLE"
                      " weir.schema_version(version int NOT NULL); INSERT INTO weir.schema_version"
                      " VALUES(1); EXECUTE $step$");
    for (int c; (c = fgetc(file)) != EOF;)
        wr_buf_byte(&sql, (char)c);
    (void)fclose(file);
    wr_buf_text(&sql, "$step$; END $weir$");
    wr_buf_byte(&sql, '\0');
    assert_int_equal(wr_buf_status(&sql), WEIR_OK);
    run(f, sql.bytes);
    wr_buf_release(&sql);
}

static void *open_one(void *user)
{
    struct node *node = user;
    return weir_store_open(wr_test_postgres(), &patient, &node->store, NULL, NULL) ? node : NULL;
}

/* Several nodes of this release start at once where one of the release before is at work: one of
 * them takes the step, what is there stays, and both releases go on with each other's sessions. */
static void nodes_of_two_releases_share_a_database(void **state)
{
    enum { NODES = 6 };
    struct fixture *f = fixture_of(state);
    struct node nodes[NODES] = {{.store = NULL}};
    pthread_t threads[NODES];
    void *failed;

    make_schema_1(f);
    (void)number(f, "SELECT n FROM weir.commit_1('local', 's', 1, 100, 0, -1, '{}', '{}', '{}',"
                    " '{}', '{}', '{}', '{}', 0, ARRAY['\\x0173'::bytea || decode(repeat('00', 30),"
                    " 'hex')], '{0}', '{old}', '{0}', '{}', '{}', '{}', '{}')");
    for (int i = 0; i < NODES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_one, &nodes[i]), 0);
    for (int i = 0; i < NODES; i++) {
        (void)pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(number(f, "SELECT 10 * version + serves FROM weir.schema_version"), 51);
    (void)trips_of(&nodes[0]);
    assert_int_equal(request(&nodes[0], "s", 1, "new"), 1); /* the old one's mark is found */
    (void)number(f, "SELECT n FROM weir.commit_1('local', 's', 1, 100, 0, -1, '{}', '{}', '{}',"
                    " '{}', '{}', '{}', '{}', 0, ARRAY['\\x0373'::bytea || decode(repeat('00', 30),"
                    " 'hex')], '{0}', '{old}', '{0}', '{}', '{}', '{}', '{}')");
    assert_int_equal(request(&nodes[0], "s", 2, "new"), -(int)WEIR_TROUBLE_OUTRUN);
    assert_int_equal(request(&nodes[0], "s", 2, "old"), 3);
    for (int i = 0; i < NODES; i++)
        weir_store_close(nodes[i].store);
}

static void *let_go_later(void *user)
{
    struct timespec pause = {.tv_nsec = 600 * 1000 * 1000};

    (void)nanosleep(&pause, NULL);
    return wr_pg_run(user, "COMMIT", NULL) ? NULL : user;
}

/* What reads all of a database takes longer than a request would wait. */
static void what_reads_all_is_given_its_time(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    struct weir_verify_report verified = {0};
    struct weir_store_stats stats;
    struct weir_store *store;
    struct wr_pg_link holder;
    pthread_t thread;
    void *failed;

    (void)put(f, "s", WR_LIT("a text"));
    options.busy_ms_max = 100;
    /* A busy machine may need longer than that for the opening, which is not what is tried. */
    for (int tries = 0; weir_store_open(f->url, &options, &store, NULL, NULL); tries++)
        assert_in_range(tries, 0, 100);
    assert_int_equal(wr_pg_link_open(&holder, f->url, 20000, NULL), WEIR_OK);
    for (int i = 0; i < 2; i++) {
        wr_pg_start(&holder);
        assert_true(wr_pg_run(&holder, "BEGIN", NULL));
        assert_true(wr_pg_run(&holder, "LOCK TABLE weir.artifact", NULL));
        assert_int_equal(pthread_create(&thread, NULL, let_go_later, &holder), 0);
        assert_int_equal(i ? weir_store_stats(store, &stats, NULL)
                           : weir_store_verify(store, NULL, NULL, &verified, NULL),
                         WEIR_OK);
        (void)pthread_join(thread, &failed);
        assert_null(failed);
    }
    assert_int_equal(verified.artifacts_count, 1);
    assert_int_equal(stats.artifacts_count, 1);
    wr_pg_link_close(&holder);
    weir_store_close(store);
}

/* A link that found the database away, and was not needed until others had written, waits for it as
 * if nothing had been: its next request would else go as it came where the machine is busy. */
static void who_was_away_is_back_for_all_when_one_has_written(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_pg_link late, holder;
    pthread_t thread;
    void *failed;

    assert_int_equal(wr_pg_link_open(&late, f->url, 200, NULL), WEIR_OK);
    assert_int_equal(wr_pg_link_open(&holder, f->url, 20000, NULL), WEIR_OK);
    wr_pg_start(&holder);
    assert_true(wr_pg_run(&holder, "BEGIN", NULL));
    assert_true(wr_pg_run(&holder, "LOCK TABLE weir.place", NULL));
    wr_pg_start(&late);
    do
        assert_false(wr_pg_run(&late, "UPDATE weir.place SET id = id", NULL));
    while (wr_pg_again(&late)); /* silent until its deadline */
    assert_int_equal(late.trouble, WEIR_TROUBLE_AWAY);
    late.wait_ms_max = 20000;
    wr_pg_start(&late);
    assert_true(late.until_us - late.began_us < 1000000);
    late.away_us = late.began_us; /* as if that had not been answered either */
    (void)put(f, "s", WR_LIT("another link writes"));
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, &holder), 0);
    wr_pg_start(&late);
    assert_true(wr_pg_run(&late, "UPDATE weir.place SET id = id", NULL));
    (void)pthread_join(thread, &failed);
    assert_null(failed);
    wr_pg_link_close(&holder);
    wr_pg_link_close(&late);
}

static void who_cannot_be_reached_is_waited_for_briefly(void **state)
{
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    struct weir_store *store;
    struct weir_err err;
    weir_trouble trouble;

    (void)state;
    options.busy_ms_max = 100;
    assert_int_equal(
        weir_store_open("postgresql://x@/d?host=/nowhere", &options, &store, &trouble, &err),
        WEIR_IO);
    assert_int_equal(trouble, WEIR_TROUBLE_AWAY);
    assert_null(store);
}

/* A server that takes connections and says nothing. */
static void who_has_no_time_tries_once(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char url[WR_TEST_URL_BYTES];
    struct wr_pg_link link;
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), tries_count = 0;

    (void)state;
    assert_true(server >= 0);
    assert_true(snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.5432", dir.path) <
                (int)sizeof(address.sun_path));
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server, 8), 0);
    (void)snprintf(url, sizeof(url), "postgresql://x@/d?host=%s", dir.path);

    assert_int_equal(wr_pg_link_open(&link, url, 0, NULL), WEIR_OK);
    wr_pg_start(&link);
    assert_false(wr_pg_run(&link, "SELECT 1", NULL));
    assert_int_equal(link.trouble, WEIR_TROUBLE_AWAY);
    wr_pg_link_close(&link);
    for (int fd; (fd = accept(server, NULL, NULL)) >= 0; tries_count++)
        (void)close(fd);
    assert_int_equal(tries_count, 1);
    (void)close(server);
    wr_test_dir_remove(&dir);
}

/* libpq's own words for these hold the password, or the half of it behind the sign in it. */
static void an_address_that_is_not_read_is_not_repeated(void **state)
{
    static const char *const urls[] = {
        "postgresql://u:zecret%zz@h/d",         "postgresql://u:zecret@[::1/d",
        "postgresql://u:zecret@h:port/d",       "postgresql://u:half@zecret@h/d",
        "postgresql://u:zecret/half@h/d",       "postgresql://u:123/zecret@h/d",
        "postgresql://u@h/d?password=zecret&x", "postgresql://u@h/d?zecret=1",
    };
    struct wr_pg_link link;

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(urls); i++) {
        struct weir_err err = {.code = WEIR_OK};
        struct weir_store *store;
        weir_trouble trouble;
        assert_int_equal(weir_store_open(urls[i], &patient, &store, &trouble, &err), WEIR_INVALID);
        assert_int_equal(trouble, WEIR_TROUBLE_DENIED);
        assert_null(strstr(err.text, "zecret"));
    }
    /* Nobody need be named. */
    assert_int_equal(wr_pg_link_open(&link, "postgresql:///d?host=/nowhere", 0, NULL), WEIR_OK);
    wr_pg_link_close(&link);
}

/* One more, and the database is asked. */
static void so_many_keys_are_noted_and_no_more(void **state)
{
    enum { KEYS_MAX = 65536 };
    struct wr_pg pg = {.asked = NULL};
    weir_hash key = {{0}};
    (void)state;

    for (size_t i = 0; i < KEYS_MAX; i++)
        if (!wr_pg_note_key(&pg, &key, false))
            fail_msg("no room for key %zu", i);
    assert_false(wr_pg_note_key(&pg, &key, false));
    assert_int_equal(pg.asked_count, KEYS_MAX);
    free(pg.asked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_large_original_is_in_chunks),
        TEST(what_is_damaged_is_written_anew),
        TEST(days_leave_whole),
        TEST(a_day_in_use_leaves_the_next_time),
        TEST(what_was_said_comes_back),
        TEST(bodies_are_kept_in_groups),
        TEST(writers_wait_and_do_not_fail),
        TEST(a_request_is_one_trip_where_the_last_was),
        TEST(who_is_outrun_takes_over_what_was_kept),
        TEST(what_was_not_asked_for_is_no_race),
        TEST(who_knew_a_session_that_left_begins_it_anew),
        TEST(what_all_sessions_are_told_is_compared_too),
        TEST(a_later_schema_serves_as_long_as_it_says),
        TEST(nodes_of_two_releases_share_a_database),
        TEST(what_reads_all_is_given_its_time),
        TEST(who_was_away_is_back_for_all_when_one_has_written),
        cmocka_unit_test(so_many_keys_are_noted_and_no_more),
        cmocka_unit_test(an_address_that_is_not_read_is_not_repeated),
        cmocka_unit_test(who_cannot_be_reached_is_waited_for_briefly),
        cmocka_unit_test(who_has_no_time_tries_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
