/* A copy is what it is made of: from files into a database and back, and taken up where it was
 * broken off. Without PostgreSQL between two folders. */
#include "store/copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "store/ledger.h"
#include "store/spend.h"
#include "tests/test_dir.h"
#include "tests/test_postgres.h"
#include "tests/test_spent.h"

enum { SESSIONS = 5, TURNS = 4 };

#define SPENT_MS 1234567890123

struct fixture {
    struct wr_test_dir source, middle, target;
    const char *database; /* where there is none: a folder */
    int differ_count;
};

static weir_status set_calibration(void *user, const struct wr_ledger_calibration *stored,
                                   struct wr_ledger_calibration *changed)
{
    (void)user;
    (void)stored;
    changed->time_ms = 5;
    changed->accepted_tokens = 1000;
    changed->data = WR_LIT("{\"n\":1}");
    return WEIR_OK;
}

/* Originals that sessions share, one that is large, marks of all kinds, pins; rows with what they
 * said, a report, notes, samples. */
static void fill_turn(struct weir_store *store, struct wr_ledger *ledger, weir_span tenant,
                      weir_span session, int turn)
{
    static char large[2 * WR_STORE_CHUNK_BYTES];
    char text[64];
    struct weir_artifact artifacts[2] = {{.text = WR_LIT("of all sessions")}};
    struct weir_mark marks[WEIR_MARK_KINDS_COUNT] = {{.value = {NULL, 0}}};
    struct weir_pin pin = {.model = WR_LIT("gpt-5"), .value = WR_LIT("200000 auto")};
    struct wr_ledger_row row = {.time_ms = 1000 + turn,
                                .tenant = tenant,
                                .session = session,
                                .agent = WR_LIT("codex"),
                                .model = WR_LIT("gpt-5"),
                                .line = WR_LIT("{\"id\":1}"),
                                .report = WR_LIT("{\"changes\":[]}"),
                                .came = WR_LIT("what came"),
                                .sent = WR_LIT("what was sent")};
    struct wr_ledger_note note = {
        .tenant = tenant, .session = session, .time_ms = turn, .data = WR_LIT("calls")};
    struct wr_ledger_sample sample = {
        .bucket = WR_LIT("b"), .tenant = tenant, .session = session, .time_ms = 3, .is_bad = true};

    (void)snprintf(text, sizeof(text), "%.*s turn %d", (int)session.len, session.ptr, turn);
    artifacts[1].text = wr_span_of(text);
    for (size_t i = 0; i < sizeof(large) && !turn; i++)
        large[i] = (char)(i * i >> 7);
    if (!turn)
        artifacts[1].text = (weir_span){large, sizeof(large)};
    for (int i = 0; i < WEIR_MARK_KINDS_COUNT; i++) {
        marks[i] = (struct weir_mark){.kind = (weir_mark_kind)i, .value = wr_span_of(text)};
        memcpy(marks[i].key.bytes, text, strlen(text) < 32 ? strlen(text) : 32);
    }
    pin.first_turn.bytes[0] = (unsigned char)turn;
    memcpy(note.key, text, WR_LEDGER_KEY_BYTES);
    struct weir_batch batch = {.tenant = tenant,
                               .session = session,
                               .used_ms = 1000 + turn,
                               .artifacts = artifacts,
                               .artifacts_count = 2,
                               .marks = marks,
                               .marks_count = WEIR_MARK_KINDS_COUNT,
                               .pins = &pin,
                               .pins_count = 1};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_keep(ledger, &row, 1, &note, 1, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_add_sample(ledger, &sample, NULL), WEIR_OK);
}

static void fill(const char *where)
{
    struct weir_store *store;
    struct wr_ledger *ledger;
    char name[32];

    assert_int_equal(weir_store_open(where, NULL, &store, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(where, NULL, &ledger, NULL, NULL), WEIR_OK);
    for (int i = 0; i < SESSIONS; i++)
        for (int turn = 0; turn < TURNS; turn++) {
            (void)snprintf(name, sizeof(name), "session %d", i);
            fill_turn(store, ledger, i % 2 ? WR_LIT("one") : WR_LIT("other"), wr_span_of(name),
                      turn);
        }
    assert_int_equal(wr_ledger_calibrate(ledger, WR_LIT("gpt-5"), set_calibration, NULL, NULL),
                     WEIR_OK);
    struct wr_spend_request request = {
        .ticket = "of copy_test.c!!", .now_ms = SPENT_MS, .scopes_count = 1, .most = {1, 500, 70}};
    struct wr_spend_verdict verdict;
    request.scopes[0].name = WR_LIT("user:anna");
    for (int i = 0; i < WR_SPEND_PERIODS * WR_SPEND_KINDS; i++)
        request.scopes[0].limits[i / WR_SPEND_KINDS][i % WR_SPEND_KINDS] = WR_SPEND_NO_LIMIT;
    assert_int_equal(wr_ledger_reserve(ledger, &request, &verdict, NULL), WEIR_OK);
    wr_ledger_close(ledger);
    weir_store_close(store);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct weir_store *store;
    struct weir_gc_report report;

    assert_non_null(f);
    f->source = wr_test_dir_fast();
    f->middle = wr_test_dir_fast();
    f->target = wr_test_dir_fast();
    f->database = wr_test_postgres();
    if (!f->database)
        f->database = f->middle.path;
    assert_int_equal(weir_store_open(f->database, NULL, &store, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_purge_all(store, &report, NULL), WEIR_OK);
    weir_store_close(store);
    fill(f->source.path);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_test_dir_remove(&f->source);
    wr_test_dir_remove(&f->middle);
    wr_test_dir_remove(&f->target);
    free(f);
    return 0;
}

static void count_differs(void *user, weir_span tenant, weir_span session)
{
    struct fixture *f = user;
    (void)tenant;
    (void)session;
    f->differ_count++;
}

static struct wr_copy_report copy(struct fixture *f, const char *from, const char *to)
{
    struct wr_copy_report report;
    struct weir_err err = {0};

    weir_status status = wr_store_copy(from, to, count_differs, f, &report, &err);
    if (status)
        print_message("%s\n", err.text);
    assert_int_equal(status, WEIR_OK);
    return report;
}

static void it_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct wr_copy_report there = copy(f, f->source.path, f->database);
    struct wr_copy_report back = copy(f, f->database, f->target.path);

    assert_int_equal(there.sessions_count, SESSIONS);
    assert_int_equal(there.rows_count, SESSIONS * TURNS);
    assert_int_equal(there.artifacts_count, SESSIONS * (TURNS + 1));
    assert_int_equal(there.marks_count, SESSIONS * TURNS * WEIR_MARK_KINDS_COUNT);
    assert_int_equal(there.calibrations_count * 100 + there.notes_count, 100 + SESSIONS * TURNS);
    assert_memory_equal(&there, &back, sizeof(there));
    /* What was copied twice is the first, to the last byte of what each session has. */
    struct wr_copy_report again = copy(f, f->source.path, f->target.path);
    assert_int_equal(again.same_count, SESSIONS);
    assert_int_equal(again.artifacts_count + again.rows_count, 0);
    assert_int_equal(f->differ_count, 0);
}

/* What a user has used is not forgotten by moving, and what is under way there is used here. */
static void budgets_go_on_where_they_were(void **state)
{
    struct fixture *f = *state;
    const char *const places[] = {f->database, f->target.path};
    struct wr_ledger *ledger;
    struct wr_spent spent, more = {.used = {9, 400, 80}};

    assert_int_equal(copy(f, f->source.path, f->database).counters_count, WR_SPEND_PERIODS - 1);
    assert_true(copy(f, f->database, f->target.path).counters_count >= WR_SPEND_PERIODS - 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wr_ledger_open(places[i], NULL, &ledger, NULL, NULL), WEIR_OK);
        for (int p = WR_SPEND_DAY; p < WR_SPEND_PERIODS; p++) {
            spent = wr_test_spent(ledger, "user:anna", (enum wr_spend_period)p, SPENT_MS);
            assert_int_equal(spent.used[WR_SPEND_REQUESTS], 1);
            assert_int_equal(spent.used[WR_SPEND_TOKENS], 500);
            assert_int_equal(spent.used[WR_SPEND_MONEY], 70);
            assert_int_equal(spent.held[WR_SPEND_TOKENS], 0);
        }
        /* The larger of both, and a second copy adds nothing. */
        assert_int_equal(wr_ledger_raise(ledger, WR_LIT("user:anna"), WR_SPEND_MONTH,
                                         wr_spend_start_ms(WR_SPEND_MONTH, SPENT_MS), &more, NULL),
                         WEIR_OK);
        (void)copy(f, f->source.path, places[i]);
        spent = wr_test_spent(ledger, "user:anna", WR_SPEND_MONTH, SPENT_MS);
        assert_int_equal(spent.used[WR_SPEND_REQUESTS], 9);
        assert_int_equal(spent.used[WR_SPEND_TOKENS], 500);
        assert_int_equal(spent.used[WR_SPEND_MONEY], 80);
        wr_ledger_close(ledger);
    }
}

static void what_was_said_comes_too(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_which which = {.tenant = WR_LIT("one"), .session = WR_LIT("session 1")};
    struct wr_ledger_row row;
    struct wr_ledger *ledger;

    (void)copy(f, f->source.path, f->database);
    assert_int_equal(wr_ledger_open(f->database, NULL, &ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_said(ledger, &which, &row, NULL), WEIR_OK);
    assert_true(wr_span_is(row.came, "what came") && wr_span_is(row.sent, "what was sent"));
    assert_int_equal(wr_ledger_report(ledger, which.tenant, which.session, &row, NULL), WEIR_OK);
    assert_true(wr_span_is(row.report, "{\"changes\":[]}"));
    wr_ledger_close(ledger);
}

/* As far as one that was killed came: some sessions whole, of one the half. */
static void one_that_was_broken_off_goes_on(void **state)
{
    struct fixture *f = *state;
    struct weir_store *store;
    struct wr_ledger *ledger;

    assert_int_equal(weir_store_open(f->database, NULL, &store, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(f->database, NULL, &ledger, NULL, NULL), WEIR_OK);
    for (int turn = 0; turn < TURNS; turn++)
        fill_turn(store, ledger, WR_LIT("other"), WR_LIT("session 0"), turn);
    fill_turn(store, ledger, WR_LIT("one"), WR_LIT("session 1"), 0);
    wr_ledger_close(ledger);
    weir_store_close(store);
    struct wr_copy_report report = copy(f, f->source.path, f->database);
    assert_int_equal(report.same_count, 1);
    assert_int_equal(report.rows_count, (SESSIONS - 1) * TURNS - 1);
    assert_int_equal(f->differ_count, 0);
    assert_int_equal(copy(f, f->source.path, f->database).same_count, SESSIONS);
}

static void a_session_that_the_target_has_used_is_told(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger *ledger;
    struct wr_ledger_row row = {.time_ms = 7,
                                .tenant = WR_LIT("one"),
                                .session = WR_LIT("session 1"),
                                .line = WR_LIT("{\"other\":1}")};

    assert_int_equal(wr_ledger_open(f->database, NULL, &ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_add(ledger, &row, 1, NULL), WEIR_OK);
    wr_ledger_close(ledger);
    assert_int_equal(copy(f, f->source.path, f->database).differ_count, 1);
    assert_int_equal(f->differ_count, 1);
}

static void a_store_is_not_copied_into_itself(void **state)
{
    struct fixture *f = *state;
    struct wr_copy_report report;

    assert_int_equal(wr_store_copy(f->source.path, f->source.path, NULL, NULL, &report, NULL),
                     WEIR_INVALID);
    assert_int_equal(wr_store_copy(f->target.path, f->database, NULL, NULL, &report, NULL),
                     WEIR_NOTFOUND); /* there is nothing at the source */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_comes_back_as_it_was),           TEST(what_was_said_comes_too),
        TEST(one_that_was_broken_off_goes_on),   TEST(a_session_that_the_target_has_used_is_told),
        TEST(a_store_is_not_copied_into_itself), TEST(budgets_go_on_where_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
