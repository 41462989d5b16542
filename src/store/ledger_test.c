#include "store/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "store/sqlite.h"
#include "tests/test_dir.h"
#include "tests/test_postgres.h"

#define LOCAL WR_LIT("local")

struct fixture {
    struct wr_test_dir dir;
    struct wr_ledger *ledger;
    struct weir_store *store;
    struct wr_buf seen; /* what the callbacks were told */
    bool is_postgres;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    wr_buf_init(&f->seen, 64 * 1024);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_open(f->dir.path, NULL, &f->store, NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int set_up_postgres(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    const char *url = wr_test_postgres();
    struct weir_gc_report report;

    assert_non_null(f);
    *state = f;
    f->is_postgres = true;
    if (!url)
        return 0;
    wr_buf_init(&f->seen, 64 * 1024);
    assert_int_equal(wr_ledger_open(url, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_open(url, NULL, &f->store, NULL, NULL), WEIR_OK);
    return (int)weir_store_purge_all(f->store, &report, NULL);
}

/* Of the fixture, where there is a server for it. */
static struct fixture *fixture_of(void **state)
{
    struct fixture *f = *state;
    if (!f->ledger)
        skip();
    return f;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_ledger_close(f->ledger);
    weir_store_close(f->store);
    if (!f->is_postgres)
        wr_test_dir_remove(&f->dir);
    wr_buf_release(&f->seen);
    free(f);
    return 0;
}

/* ---- short ways to say things ---- */

static struct wr_ledger_row row_of(const char *session, int64_t time_ms, const char *line)
{
    return (struct wr_ledger_row){.time_ms = time_ms,
                                  .tenant = LOCAL,
                                  .session = wr_span_of(session),
                                  .agent = WR_LIT("codex"),
                                  .model = WR_LIT("gpt-5"),
                                  .line = wr_span_of(line)};
}

static void add(struct fixture *f, const char *session, int64_t time_ms, const char *line)
{
    struct wr_ledger_row row = row_of(session, time_ms, line);
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
}

static void add_sample(struct fixture *f, const char *bucket, const char *session, bool is_bad)
{
    struct wr_ledger_sample sample = {.bucket = wr_span_of(bucket),
                                      .tenant = LOCAL,
                                      .session = wr_span_of(session),
                                      .time_ms = 1,
                                      .is_bad = is_bad};
    assert_int_equal(wr_ledger_add_sample(f->ledger, &sample, NULL), WEIR_OK);
}

static weir_status see_row(void *user, const struct wr_ledger_row *row)
{
    struct fixture *f = user;
    wr_buf_printf(&f->seen, "%.*s@%lld=%.*s ", (int)row->session.len, row->session.ptr,
                  (long long)row->time_ms, (int)row->line.len, row->line.ptr);
    return WEIR_OK;
}

static weir_status see_whose(void *user, const struct wr_ledger_row *row)
{
    struct fixture *f = user;
    const weir_span parts[] = {row->tenant, row->session, row->agent, row->model, row->line};
    for (size_t i = 0; i < WR_COUNT_OF(parts); i++)
        wr_buf_printf(&f->seen, "%.*s ", (int)parts[i].len, parts[i].ptr);
    return WEIR_OK;
}

static weir_status see_session(void *user, const struct wr_ledger_session *s)
{
    struct fixture *f = user;
    wr_buf_printf(&f->seen, "%.*s:%.*s:%.*s:%lld-%lld:%llu ", (int)s->session.len, s->session.ptr,
                  (int)s->agent.len, s->agent.ptr, (int)s->model.len, s->model.ptr,
                  (long long)s->first_ms, (long long)s->last_ms,
                  (unsigned long long)s->requests_count);
    return WEIR_OK;
}

static weir_status see_bucket(void *user, weir_span bucket, uint64_t samples, uint64_t bad)
{
    struct fixture *f = user;
    wr_buf_printf(&f->seen, "%.*s:%llu/%llu ", (int)bucket.len, bucket.ptr, (unsigned long long)bad,
                  (unsigned long long)samples);
    return WEIR_OK;
}

static void assert_seen(struct fixture *f, const char *wanted)
{
    wr_buf_byte(&f->seen, '\0');
    assert_string_equal(f->seen.bytes, wanted);
    wr_buf_reset(&f->seen);
}

static void assert_rows(struct fixture *f, struct wr_ledger_filter filter, const char *wanted)
{
    assert_int_equal(wr_ledger_each(f->ledger, &filter, see_row, f, NULL), WEIR_OK);
    assert_seen(f, wanted);
}

static struct weir_store_stats stats_of(struct fixture *f)
{
    struct weir_store_stats stats;
    assert_int_equal(weir_store_stats(f->store, &stats, NULL), WEIR_OK);
    return stats;
}

/* ---- rows ---- */

static void rows_come_back_as_the_filter_says(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row other = row_of("b", 40, "{\"n\":4}");

    add(f, "a", 10, "{\"n\":1}");
    add(f, "b", 20, "{\"n\":2}");
    add(f, "a", 30, "{\"n\":3}");
    other.agent = WR_LIT("pi");
    other.tenant = WR_LIT("other");
    assert_int_equal(wr_ledger_add(f->ledger, &other, 1, NULL), WEIR_OK);

    assert_rows(f, (struct wr_ledger_filter){0},
                "a@10={\"n\":1} b@20={\"n\":2} a@30={\"n\":3} b@40={\"n\":4} ");
    assert_rows(f, (struct wr_ledger_filter){.session = WR_LIT("a")},
                "a@10={\"n\":1} a@30={\"n\":3} ");
    assert_rows(f, (struct wr_ledger_filter){.tenant = LOCAL, .session = WR_LIT("b")},
                "b@20={\"n\":2} ");
    struct wr_ledger_filter pi = {.agent = WR_LIT("pi")};
    assert_rows(f, pi, "b@40={\"n\":4} ");
    assert_int_equal(wr_ledger_each(f->ledger, &pi, see_whose, f, NULL), WEIR_OK);
    assert_seen(f, "other b pi gpt-5 {\"n\":4} ");
    assert_rows(f, (struct wr_ledger_filter){.since_ms = 30}, "a@30={\"n\":3} b@40={\"n\":4} ");
    assert_rows(f, (struct wr_ledger_filter){.after_id = 2}, "a@30={\"n\":3} b@40={\"n\":4} ");
    assert_rows(f, (struct wr_ledger_filter){.session = WR_LIT("no such")}, "");
}

static void sessions_come_newest_first(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row last = row_of("a", 30, "{}");
    struct wr_ledger_filter all = {0}, since = {.since_ms = 25};

    add(f, "a", 10, "{}");
    add(f, "b", 20, "{}");
    last.agent = WR_LIT("pi");
    last.model = WR_LIT("gpt-6");
    assert_int_equal(wr_ledger_add(f->ledger, &last, 1, NULL), WEIR_OK);
    add(f, "", 5, "{}");
    assert_int_equal(wr_ledger_sessions(f->ledger, &all, see_session, f, NULL), WEIR_OK);
    assert_seen(f, "a:pi:gpt-6:10-30:2 b:codex:gpt-5:20-20:1 :codex:gpt-5:5-5:1 ");
    assert_int_equal(wr_ledger_sessions(f->ledger, &since, see_session, f, NULL), WEIR_OK);
    assert_seen(f, "a:pi:gpt-6:30-30:1 ");
}

static weir_status stop(void *user, const struct wr_ledger_row *row)
{
    (void)see_row(user, row);
    return WEIR_LIMIT;
}

static void a_callback_stops_the_reading(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_filter all = {0};
    add(f, "a", 10, "{}");
    add(f, "a", 20, "{}");
    assert_int_equal(wr_ledger_each(f->ledger, &all, stop, f, NULL), WEIR_LIMIT);
    assert_seen(f, "a@10={} ");
}

static void all_rows_are_kept_or_none(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row rows[] = {row_of("a", 1, "{}"), row_of("b", 2, "{}")};
    struct weir_err err = {0};
    char *line = calloc(1, WR_LEDGER_LINE_BYTES_MAX + 1);
    assert_non_null(line);

    rows[1].line = (weir_span){line, WR_LEDGER_LINE_BYTES_MAX + 1};
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, &err), WEIR_LIMIT);
    assert_true(err.text[0] != '\0');
    rows[1].line = WR_LIT("{}");
    rows[1].came = (weir_span){line, WR_LEDGER_SAID_BYTES_MAX + 1};
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_LIMIT);
    rows[1].sent = rows[1].came;
    rows[1].came.len = 0;
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_LIMIT);
    rows[1].sent.len = 0;
    rows[1].tenant = WR_LIT("");
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_INVALID);
    rows[1].tenant = (weir_span){"a\0b", 3};
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_LIMIT);
    assert_rows(f, (struct wr_ledger_filter){0}, "");
    /* A name has WR_STORE_NAME_BYTES_MAX bytes at most. */
    memset(line, 'n', WR_LEDGER_LINE_BYTES_MAX);
    rows[1].tenant = rows[0].tenant;
    rows[1].agent = (weir_span){line, WR_STORE_NAME_BYTES_MAX + 1};
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_LIMIT);
    rows[1].agent.len--;
    assert_int_equal(wr_ledger_add(f->ledger, rows, 2, NULL), WEIR_OK);
    free(line);
}

static void a_body_of_the_largest_size_is_kept(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_which last = {.tenant = LOCAL, .session = WR_LIT("a"), .is_last = true};
    struct wr_ledger_row row = row_of("a", 1, "{}"), said;
    char *body = calloc(1, WR_LEDGER_SAID_BYTES_MAX + 1);
    assert_non_null(body);

    row.came = row.sent = (weir_span){body, WR_LEDGER_SAID_BYTES_MAX};
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_said_lost(f->ledger), 0);
    assert_int_equal(wr_ledger_said(f->ledger, &last, &said, NULL), WEIR_OK);
    assert_true(wr_span_eq(said.came, row.came) && wr_span_eq(said.sent, row.sent));
    row.came.len++;
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_LIMIT);
    row.came.len--;
    row.sent.len++;
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_LIMIT);
    free(body);
}

static void a_locked_store_keeps_nothing_and_says_so(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_store_options options = {.busy_ms_max = 20};
    struct wr_ledger_row row = row_of("a", 1, "{}");
    struct wr_ledger *other;
    struct wr_db *db = &wr_sqlite_of(f->store)->db;

    assert_int_equal(wr_ledger_open(f->dir.path, &options, &other, NULL, NULL), WEIR_OK);
    wr_db_begin(db);
    assert_int_equal(wr_ledger_add(other, &row, 1, NULL), WEIR_IO);
    assert_int_equal(wr_ledger_trouble(other), WEIR_TROUBLE_LOCKED);
    wr_db_end(db);
    assert_int_equal(wr_ledger_add(other, &row, 1, NULL), WEIR_OK);
    assert_rows(f, (struct wr_ledger_filter){0}, "a@1={} ");
    wr_ledger_close(other);
}

/* What failed once is forgiven by whatever is asked next. */
static void a_failure_is_not_the_next_ones(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_store_options options = {.busy_ms_max = 20};
    static const unsigned char key[WR_LEDGER_KEY_BYTES] = {1};
    struct wr_ledger_row row = row_of("a", 1, "{}"), report;
    struct wr_ledger_calibration calibration;
    struct wr_ledger *other;
    struct wr_db *db = &wr_sqlite_of(f->store)->db;
    weir_span data;

    assert_int_equal(wr_ledger_open(f->dir.path, &options, &other, NULL, NULL), WEIR_OK);
    wr_db_begin(db);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(wr_ledger_add(other, &row, 1, NULL), WEIR_IO);
        weir_status status =
            i == 0 ? wr_ledger_buckets(other, LOCAL, 8, see_bucket, f, NULL)
            : i == 1
                ? wr_ledger_sessions(other, &(struct wr_ledger_filter){0}, see_session, f, NULL)
            : i == 2 ? wr_ledger_each(other, &(struct wr_ledger_filter){0}, see_row, f, NULL)
            : i == 3 ? wr_ledger_report(other, LOCAL, WR_LIT("a"), &report, NULL)
            : i == 4 ? wr_ledger_note(other, LOCAL, key, &data, NULL)
                     : wr_ledger_calibration(other, WR_LIT("m"), &calibration, NULL);
        assert_int_equal(status, i < 3 ? WEIR_OK : WEIR_NOTFOUND);
    }
    wr_db_end(db);
    wr_ledger_close(other);
}

static void a_session_keeps_its_newest_report(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row row = row_of("a", 1, "{}"), found;

    assert_int_equal(wr_ledger_report(f->ledger, LOCAL, WR_LIT("a"), &found, NULL), WEIR_NOTFOUND);
    row.report = WR_LIT("{\"first\":true}");
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    row.report = WR_LIT("{\"edits\":[]}");
    row.time_ms = 2;
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    add(f, "a", 3, "{}"); /* was not changed */
    assert_int_equal(wr_ledger_report(f->ledger, LOCAL, WR_LIT("a"), &found, NULL), WEIR_OK);
    assert_true(wr_span_is(found.report, "{\"edits\":[]}"));
    assert_true(wr_span_is(found.model, "gpt-5"));
    assert_int_equal(found.time_ms, 2);
    assert_int_equal(wr_ledger_report(f->ledger, WR_LIT("other"), WR_LIT("a"), &found, NULL),
                     WEIR_NOTFOUND);
}

static void a_store_that_must_exist_is_not_made(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger;
    weir_trouble trouble;
    (void)state;
    assert_int_equal(wr_ledger_open(dir.path, &options, &ledger, &trouble, NULL), WEIR_NOTFOUND);
    assert_int_equal(trouble, WEIR_TROUBLE_MISSING);
    assert_null(ledger);
    wr_test_dir_remove(&dir);
}

/* ---- samples ---- */

static void a_bucket_counts_a_session_once(void **state)
{
    struct fixture *f = fixture_of(state);

    add_sample(f, "w", "a", false);
    add_sample(f, "w", "b", true);
    add_sample(f, "w", "b", false); /* stays bad */
    add_sample(f, "v", "a", false);
    assert_int_equal(wr_ledger_buckets(f->ledger, WR_LIT(""), 8, see_bucket, f, NULL), WEIR_OK);
    assert_seen(f, "v:0/1 w:1/2 ");
    assert_int_equal(wr_ledger_buckets(f->ledger, WR_LIT("other"), 8, see_bucket, f, NULL),
                     WEIR_OK);
    assert_seen(f, "");
    assert_int_equal(wr_ledger_forget(f->ledger, WR_LIT("w"), NULL), WEIR_OK);
    assert_int_equal(wr_ledger_buckets(f->ledger, LOCAL, 8, see_bucket, f, NULL), WEIR_OK);
    assert_seen(f, "v:0/1 ");
    assert_int_equal(wr_ledger_forget(f->ledger, WR_LIT(""), NULL), WEIR_OK);
    assert_int_equal(stats_of(f).samples_count, 0);
}

/* What went badly long ago is outweighed by what went well since. */
static void the_newest_samples_count(void **state)
{
    struct fixture *f = fixture_of(state);
    char name[16];

    for (int i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        struct wr_ledger_sample sample = {.bucket = WR_LIT("w"),
                                          .tenant = LOCAL,
                                          .session = wr_span_of(name),
                                          .time_ms = 100 - i, /* the first is the newest */
                                          .is_bad = i >= 4};
        assert_int_equal(wr_ledger_add_sample(f->ledger, &sample, NULL), WEIR_OK);
    }
    assert_int_equal(wr_ledger_buckets(f->ledger, LOCAL, 5, see_bucket, f, NULL), WEIR_OK);
    assert_seen(f, "w:1/5 ");
    assert_int_equal(wr_ledger_buckets(f->ledger, LOCAL, 4, see_bucket, f, NULL), WEIR_OK);
    assert_seen(f, "w:0/4 ");
    assert_int_equal(wr_ledger_buckets(f->ledger, LOCAL, 9, see_bucket, f, NULL), WEIR_OK);
    assert_seen(f, "w:2/6 ");
}

/* ---- what leaves ---- */

static void assert_nowhere(const struct wr_test_dir *dir, const char *name, const char *text)
{
    char path[2 * WR_TEST_PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    if (access(path, R_OK))
        return;
    struct wr_buf file;
    wr_buf_init(&file, 64 * 1024 * 1024);
    assert_true(wr_test_file(path, &file));
    assert_int_equal(wr_span_find(wr_buf_view(&file), wr_span_of(text), 0), SIZE_MAX);
    wr_buf_release(&file);
}

static void a_purge_leaves_no_trace(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row row = row_of("gone", 1, "{\"mark\":\"needle in a line\"}");
    struct weir_gc_report report;

    row.report = WR_LIT("{\"mark\":\"needle in a report\"}");
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    add_sample(f, "needle in a bucket", "gone", true);
    add(f, "stays", 2, "{}");
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("gone"), &report, NULL), WEIR_OK);
    assert_int_equal(report.rows_count, 1);
    assert_int_equal(report.sessions_count, 1);
    assert_rows(f, (struct wr_ledger_filter){0}, "stays@2={} ");
    assert_int_equal(stats_of(f).samples_count, 0);
    assert_int_equal(wr_ledger_report(f->ledger, LOCAL, WR_LIT("gone"), &row, NULL), WEIR_NOTFOUND);
    assert_nowhere(&f->dir, "store.db", "needle in a");
    assert_nowhere(&f->dir, "store.db-wal", "needle in a");
    assert_int_equal(weir_store_purge_all(f->store, &report, NULL), WEIR_OK);
    assert_int_equal(stats_of(f).rows_count, 0);
    assert_int_equal(stats_of(f).sessions_count, 0);
}

static void rows_go_with_age_and_the_cap(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_gc_options by_age = {.now_ms = 1000, .retention_ms = 500, .live_ms = 1};
    struct weir_gc_options by_cap = {.now_ms = 1000, .live_ms = 1, .stored_bytes_max = 12};
    struct weir_gc_report report;

    add(f, "old", 10, "{\"n\":1}");
    add(f, "long", 20, "{\"n\":2}");
    add(f, "long", 600, "{\"n\":3}");
    add(f, "new", 700, "{\"n\":4}");
    assert_int_equal(weir_store_gc(f->store, &by_age, &report, NULL), WEIR_OK);
    assert_int_equal(report.sessions_count, 1);
    assert_int_equal(report.rows_count, 2);
    assert_rows(f, (struct wr_ledger_filter){0}, "long@600={\"n\":3} new@700={\"n\":4} ");
    assert_int_equal(weir_store_gc(f->store, &by_cap, &report, NULL), WEIR_OK);
    assert_int_equal(report.rows_count, 1);
    assert_int_equal(report.stored_bytes, 7);
    assert_false(report.is_over);
    assert_rows(f, (struct wr_ledger_filter){0}, "new@700={\"n\":4} ");
}

static void verify_and_stats_know_the_rows(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_verify_report report;

    add(f, "a", 10, "{\"n\":1}");
    assert_int_equal(stats_of(f).rows_count, 1);
    assert_int_equal(stats_of(f).rows_bytes, 7);
    assert_int_equal(stats_of(f).schema_version, wr_schema_current.steps_count);
    assert_int_equal(weir_store_verify(f->store, NULL, NULL, &report, NULL), WEIR_OK);
    assert_false(report.has_damage);
    wr_db_exec(&wr_sqlite_of(f->store)->db, "DELETE FROM session");
    assert_int_equal(weir_store_verify(f->store, NULL, NULL, &report, NULL), WEIR_OK);
    assert_true(report.has_damage);
}

/* ---- notes ---- */

static struct wr_ledger_note note_of(const char *session, unsigned char key, int64_t time_ms,
                                     const char *data)
{
    return (struct wr_ledger_note){.tenant = LOCAL,
                                   .session = wr_span_of(session),
                                   .key = {key},
                                   .time_ms = time_ms,
                                   .data = wr_span_of(data)};
}

static void put_note(struct fixture *f, const char *session, unsigned char key, int64_t time_ms,
                     const char *data)
{
    struct wr_ledger_note note = note_of(session, key, time_ms, data);
    assert_int_equal(wr_ledger_keep(f->ledger, NULL, 0, &note, 1, NULL), WEIR_OK);
}

/* NULL: there is none. */
static void assert_note(struct fixture *f, weir_span tenant, unsigned char key, const char *data)
{
    unsigned char whole[WR_LEDGER_KEY_BYTES] = {key};
    weir_span found;

    weir_status status = wr_ledger_note(f->ledger, tenant, whole, &found, NULL);
    assert_int_equal(status, data ? WEIR_OK : WEIR_NOTFOUND);
    assert_true(wr_span_is(found, data ? data : ""));
}

static void the_newest_note_of_a_key_stands(void **state)
{
    struct fixture *f = fixture_of(state);

    assert_note(f, LOCAL, 1, NULL);
    put_note(f, "a", 1, 10, "first");
    put_note(f, "a", 1, 20, "second");
    put_note(f, "a", 2, 20, "");
    assert_note(f, LOCAL, 1, "second");
    assert_note(f, LOCAL, 2, "");
    assert_note(f, WR_LIT("other"), 1, NULL); /* another tenant (law L7) */
}

static void a_session_keeps_its_newest_notes(void **state)
{
    struct fixture *f = fixture_of(state);

    put_note(f, "other", 0, 1, "stays");
    for (int i = 1; i <= WR_LEDGER_NOTES_MAX + 1; i++)
        put_note(f, "a", (unsigned char)i, i, "x");
    assert_note(f, LOCAL, 1, NULL);
    assert_note(f, LOCAL, 2, "x");
    assert_note(f, LOCAL, WR_LEDGER_NOTES_MAX + 1, "x");
    assert_note(f, LOCAL, 0, "stays");
}

static void rows_and_notes_are_kept_together_or_not(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row row = row_of("a", 10, "{}");
    struct wr_ledger_note notes[] = {note_of("a", 1, 10, "good"), note_of("a", 2, 10, "long")};
    char *text = calloc(1, WR_LEDGER_NOTE_BYTES_MAX + 1);

    assert_non_null(text);
    notes[1].data = (weir_span){text, WR_LEDGER_NOTE_BYTES_MAX + 1};
    assert_int_equal(wr_ledger_keep(f->ledger, &row, 1, notes, 2, NULL), WEIR_LIMIT);
    notes[1].data.len--;
    notes[1].tenant = WR_LIT("");
    assert_int_equal(wr_ledger_keep(f->ledger, &row, 1, notes, 2, NULL), WEIR_INVALID);
    notes[1].tenant = LOCAL;
    notes[1].session = (weir_span){"a\0b", 3};
    assert_int_equal(wr_ledger_keep(f->ledger, &row, 1, notes, 2, NULL), WEIR_INVALID);
    notes[1].session = notes[0].session;
    assert_note(f, LOCAL, 1, NULL);
    assert_rows(f, (struct wr_ledger_filter){0}, "");
    notes[1].tenant = LOCAL;
    assert_int_equal(wr_ledger_keep(f->ledger, &row, 1, notes, 2, NULL), WEIR_OK);
    assert_note(f, LOCAL, 1, "good");
    assert_rows(f, (struct wr_ledger_filter){0}, "a@10={} ");
    free(text);
}

/* What many requests leave at once: rows in their order, of each session the last report and of
 * each key the last note, whatever comes between. */
static void a_group_of_many_sessions_is_kept_in_order(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_row rows[] = {row_of("b", 11, "1"), row_of("a", 12, "2"), row_of("b", 13, "3"),
                                   row_of("a", 14, "4"), row_of("c", 15, "5")};
    struct wr_ledger_note notes[] = {note_of("a", 1, 11, "old"), note_of("b", 2, 12, "b's"),
                                     note_of("a", 1, 13, "new"), note_of("a", 1, 14, "newest"),
                                     note_of("c", 1, 15, "another's")};
    struct wr_ledger_row found;

    notes[4].tenant = rows[4].tenant = WR_LIT("other");
    rows[0].report = WR_LIT("b's first");
    rows[2].report = WR_LIT("b's last");
    rows[1].report = WR_LIT("a's");
    assert_int_equal(wr_ledger_keep(f->ledger, rows, 5, notes, 5, NULL), WEIR_OK);
    assert_rows(f, (struct wr_ledger_filter){0}, "b@11=1 a@12=2 b@13=3 a@14=4 c@15=5 ");
    assert_rows(f, (struct wr_ledger_filter){.tenant = WR_LIT("other")}, "c@15=5 ");
    assert_int_equal(wr_ledger_report(f->ledger, LOCAL, WR_LIT("b"), &found, NULL), WEIR_OK);
    assert_true(wr_span_is(found.report, "b's last") && found.time_ms == 13);
    assert_int_equal(wr_ledger_report(f->ledger, LOCAL, WR_LIT("a"), &found, NULL), WEIR_OK);
    assert_true(wr_span_is(found.report, "a's"));
    assert_note(f, LOCAL, 1, "newest");
    assert_note(f, LOCAL, 2, "b's");
    assert_note(f, WR_LIT("other"), 1, "another's");
    assert_int_equal(stats_of(f).sessions_count, 3);
}

static void notes_leave_with_age_and_with_their_session(void **state)
{
    struct fixture *f = fixture_of(state);
    struct weir_gc_options by_age = {.now_ms = 1000, .retention_ms = 500, .live_ms = 1};
    struct weir_gc_report report;

    put_note(f, "old", 1, 10, "of a session that goes");
    put_note(f, "long", 2, 20, "too old");
    put_note(f, "long", 3, 600, "young");
    assert_int_equal(weir_store_gc(f->store, &by_age, &report, NULL), WEIR_OK);
    assert_note(f, LOCAL, 1, NULL);
    assert_note(f, LOCAL, 2, NULL);
    assert_note(f, LOCAL, 3, "young");
    assert_int_equal(report.stored_bytes, strlen("of a session that goes"));
    put_note(f, "long", 3, 700, "needle in a note");
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("long"), &report, NULL), WEIR_OK);
    assert_note(f, LOCAL, 3, NULL);
    assert_nowhere(&f->dir, "store.db", "needle in a");
    assert_nowhere(&f->dir, "store.db-wal", "needle in a");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct change {
    const struct wr_ledger_calibration *to; /* NULL: it fails */
    uint64_t seen_tokens;                   /* that were stored before */
};

static weir_status change_calibration(void *user, const struct wr_ledger_calibration *stored,
                                      struct wr_ledger_calibration *changed)
{
    struct change *change = user;

    change->seen_tokens = stored ? stored->accepted_tokens : 0;
    if (!change->to)
        return WEIR_LIMIT;
    *changed = *change->to;
    return WEIR_OK;
}

static void a_calibration_is_changed_as_it_stands(void **state)
{
    struct fixture *f = fixture_of(state);
    struct wr_ledger_calibration row = {
        .time_ms = 5, .accepted_tokens = 9, .data = WR_LIT("first")};
    struct wr_ledger_calibration found;
    struct change change = {&row, 1};

    assert_int_equal(wr_ledger_calibration(f->ledger, WR_LIT("m"), &found, NULL), WEIR_NOTFOUND);
    assert_int_equal(wr_ledger_calibrate(f->ledger, WR_LIT("m"), change_calibration, &change, NULL),
                     WEIR_OK);
    assert_int_equal(change.seen_tokens, 0);
    row.data = WR_LIT("second");
    row.accepted_tokens = 7;
    assert_int_equal(wr_ledger_calibrate(f->ledger, WR_LIT("m"), change_calibration, &change, NULL),
                     WEIR_OK);
    assert_int_equal(change.seen_tokens, 9);
    change.to = NULL;
    assert_int_equal(wr_ledger_calibrate(f->ledger, WR_LIT("m"), change_calibration, &change, NULL),
                     WEIR_LIMIT);
    assert_int_equal(wr_ledger_calibration(f->ledger, WR_LIT("m"), &found, NULL), WEIR_OK);
    assert_true(wr_span_is(found.data, "second"));
    assert_int_equal(found.accepted_tokens, 7);
    assert_int_equal(wr_ledger_calibration(f->ledger, WR_LIT("n"), &found, NULL), WEIR_NOTFOUND);
    assert_int_equal(wr_ledger_calibrate(f->ledger, WR_LIT(""), change_calibration, &change, NULL),
                     WEIR_INVALID);
}

/* On both. */
#define BOTH(name) TEST(name), cmocka_unit_test_setup_teardown(name, set_up_postgres, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(rows_come_back_as_the_filter_says),
        BOTH(sessions_come_newest_first),
        BOTH(a_callback_stops_the_reading),
        BOTH(all_rows_are_kept_or_none),
        BOTH(a_body_of_the_largest_size_is_kept),
        TEST(a_locked_store_keeps_nothing_and_says_so),
        TEST(a_failure_is_not_the_next_ones),
        BOTH(a_session_keeps_its_newest_report),
        TEST(a_store_that_must_exist_is_not_made),
        BOTH(a_bucket_counts_a_session_once),
        BOTH(the_newest_samples_count),
        BOTH(a_purge_leaves_no_trace),
        BOTH(rows_go_with_age_and_the_cap),
        TEST(verify_and_stats_know_the_rows),
        BOTH(a_calibration_is_changed_as_it_stands),
        BOTH(the_newest_note_of_a_key_stands),
        BOTH(a_session_keeps_its_newest_notes),
        BOTH(rows_and_notes_are_kept_together_or_not),
        BOTH(a_group_of_many_sessions_is_kept_in_order),
        BOTH(notes_leave_with_age_and_with_their_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
