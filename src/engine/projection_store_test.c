/* What a session keeps in its store beside its steps: pins, what it was attached to, a narrower
 * window; and what becomes of it when the store fails. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "base/span.h"
#include "tests/test_world.h"

/* ---- pins ---- */

static void a_session_keeps_its_policy_and_its_window(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options first = {.policy_default = "cut",
                                         .session = WR_LIT("s"),
                                         .window_tokens = 123456,
                                         .now_ms = NOON_MS};
    struct weir_project_options next = {
        .policy_default = "cold", .session = WR_LIT("s"), .now_ms = NOON_MS + SECOND_MS};
    struct answer *a = ask(w, &talk, first);
    assert_string_equal(a->policy, "cut");
    assert_int_equal(w->store.pins, 1);

    restart(w);
    talk.results = 8;
    talk.tool = "Grep"; /* tools come and go in a session */
    struct answer *b = ask(w, &talk, next);
    assert_string_equal(b->policy, "cut");
    assert_int_equal(b->window_tokens, 123456);
    assert_int_equal(w->store.pins, 0);

    struct weir_project_options told = next;
    told.policy = "cold";
    told.window_tokens = 50000;
    talk.results = 9;
    struct answer *c = ask(w, &talk, told);
    assert_string_equal(c->policy, "cold");
    assert_int_equal(c->window_tokens, 50000);
    talk.results = 10;
    struct answer *d = ask(w, &talk, next);
    assert_string_equal(d->policy, "cut");
    assert_int_equal(d->window_tokens, 123456);
    close_world(w);
}

static void a_session_that_began_exact_stays_exact(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = {.policy_default = "exact", .session = WR_LIT("s")};
    (void)ask(w, &talk, options);
    assert_int_equal(w->store.pins, 1);
    assert_int_equal(w->store.marks[WEIR_MARK_SENT], 1);
    restart(w);
    options.policy_default = "cut";
    talk.results = 8;
    struct answer *b = ask(w, &talk, options);
    bool is_exact = !strcmp(b->policy, "exact");
    close_world(w);
    if (!is_exact)
        fail_msg("a running session changed its policy");
}

static const struct {
    const char *behaviour, *model, *first, *session;
    bool is_pinned;
} sides[] = {
    {"the session's own next request", "gpt-5", "start", "s", true},
    {"a side call with another model", "gpt-5-mini", "start", "s", false},
    {"a side call with another first turn", "gpt-5", "name this session", "s", false},
    {"another session that begins the same", "gpt-5", "start", "t", false},
};

static void side_calls_have_a_pin_of_their_own(void **state)
{
    for (size_t i = 0; i < WR_COUNT_OF(sides); i++) {
        struct world *w = open_world(state);
        struct test_talk talk = gpt, side = with_results(&gpt, 8);
        struct weir_project_options main_options = {
            .policy_default = "cut", .session = WR_LIT("s"), .window_tokens = 123456};
        struct weir_project_options side_options = {.policy_default = "cut_more",
                                                    .session = wr_span_of(sides[i].session)};
        (void)ask(w, &talk, main_options);
        side.model = sides[i].model;
        side.first = sides[i].first;
        struct answer *a = ask(w, &side, side_options);
        bool is_pinned = !strcmp(a->policy, "cut") && a->window_tokens == 123456;
        if (is_pinned != sides[i].is_pinned)
            fail_msg("%s: policy %s", sides[i].behaviour, a->policy);
        talk.results = 9;
        assert_string_equal(
            ask(w, &talk, side_options.session.ptr[0] == 's' ? side_options : main_options)->policy,
            "cut");
        close_world(w);
    }
}

static void a_pinned_policy_that_is_gone_gives_way_to_the_default(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = {.policy_default = "cut"};
    (void)ask(w, &talk, options);
    assert_int_equal(weir_engine_load_policies(w->engine, (weir_span){"", 0}, NULL), WEIR_OK);
    options.policy_default = "tiered";
    talk.results = 8;
    assert_string_equal(ask(w, &talk, options)->policy, "tiered");
    close_world(w);
}

static void a_pin_that_another_process_wrote_first_holds(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = {.policy_default = "cut", .session = WR_LIT("s")};
    (void)ask(w, &talk, options);
    w->store.hides_pins = true;
    options.policy_default = "cut_more";
    talk.results = 8;
    struct answer *b = ask(w, &talk, options);
    assert_true(b->is_changed);
    assert_false(b->held[0]);
    w->store.hides_pins = false;
    talk.results = 9;
    assert_string_equal(ask(w, &talk, options)->policy, "cut");
    close_world(w);
}

/* gpt-5 has a window of 400,000 and takes 272,000 of input. */
static void the_room_is_no_larger_than_the_input_that_a_model_takes(void **state)
{
    struct world *w = open_world(state);
    struct answer *a = ask(w, &gpt, at("cold", NOON_MS));
    uint64_t room_tokens = a->room_tokens;
    close_world(w);
    assert_true(room_tokens > 100000);
    assert_true(room_tokens <= 272000);
}

/* ---- attaching ---- */

static void what_others_sent_stays_as_it_is(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = at("cut", NOON_MS);
    options.attaches = true;
    struct answer *a = ask(w, &talk, options);
    assert_int_equal(w->store.marks[WEIR_MARK_ATTACHED], 1);
    for (uint32_t n = 1; n < 7; n++)
        assert_true(is_whole(a, n));
    assert_false(is_whole(a, 7));

    restart(w);
    talk.results = 8;
    options.now_ms += SECOND_MS;
    struct answer *b = ask(w, &talk, options);
    assert_true(extends(a, b));
    assert_false(b->is_step);
    assert_false(is_whole(b, 8));
    options.attaches = false;
    talk.results = 9;
    struct answer *c = ask(w, &talk, options);
    assert_true(extends(b, c));
    close_world(w);
}

static void without_attaching_history_is_folded_from_its_start(void **state)
{
    struct world *w = open_world(state);
    struct answer *a = ask(w, &gpt, at("cut", NOON_MS));
    for (uint32_t n = 1; n <= 7; n++)
        assert_false(is_whole(a, n));
    assert_int_equal(w->store.marks[WEIR_MARK_ATTACHED], 0);
    close_world(w);
}

static void a_known_session_is_not_attached_to(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = at("cut", NOON_MS);
    struct answer *a = ask(w, &talk, options);
    options.attaches = true;
    talk.results = 9; /* two turns later: the last known request is extended all the same */
    struct answer *b = ask(w, &talk, options);
    assert_int_equal(w->store.marks[WEIR_MARK_ATTACHED], 0);
    assert_true(extends(a, b));
    assert_false(is_whole(b, 8));
    struct test_talk one = with_results(&gpt, 0);
    one.first = "something new";
    (void)ask(w, &one, options);
    assert_int_equal(w->store.marks[WEIR_MARK_ATTACHED], 0); /* there is no history */
    close_world(w);
}

static void what_was_attached_leaves_in_a_step(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    struct weir_project_options options = at("cold", NOON_MS);
    options.attaches = true;
    struct answer *a = ask(w, &talk, options);
    assert_false(a->is_changed);
    talk.results = 8;
    options.now_ms += DAY_MS;
    struct answer *b = ask(w, &talk, options);
    assert_string_equal(b->reason, "cold");
    assert_false(is_whole(b, 1));
    restart(w);
    talk.results = 9;
    options.now_ms += SECOND_MS;
    assert_true(extends(b, ask(w, &talk, options)));
    close_world(w);
}

/* ---- overflow ---- */

static void an_overflow_narrows_the_window_from_then_on(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt, six = with_results(&gpt, 6);
    struct answer *before = ask(w, &six, at("cold", NOON_MS));
    struct weir_project_options options = at("cold", NOON_MS + SECOND_MS);
    struct answer *whole = ask(w, &talk, options);
    assert_false(whole->is_changed);
    options.overflow_tokens = 8000;
    struct answer *narrow = ask(w, &talk, options);
    assert_int_equal(w->store.marks[WEIR_MARK_WINDOW], 1);
    assert_string_equal(narrow->reason, "window");
    assert_true(narrow->tokens_after <= 8000);

    options.overflow_tokens = 0;
    restart(w);
    struct answer *again = ask(w, &talk, options);
    assert_true(is_same(narrow, again));
    assert_false(again->is_step);
    talk.results = 8;
    struct answer *next = ask(w, &talk, options);
    assert_true(extends(narrow, next) || !strcmp(next->reason, "window"));
    assert_true(next->tokens_after <= 8000);
    assert_true(is_same(before, ask(w, &six, options))); /* a rewind has its own window */
    close_world(w);
}

static void a_second_overflow_narrows_it_again(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct weir_project_options options = at("cold", NOON_MS);
    options.overflow_tokens = 12000;
    (void)ask(w, &talk, options);
    options.overflow_tokens = 8000;
    struct answer *b = ask(w, &talk, options);
    assert_true(b->tokens_after <= 8000);
    options.overflow_tokens = 0;
    restart(w);
    assert_true(is_same(b, ask(w, &talk, options)));
    close_world(w);
}

/* ---- a store that fails ---- */

/* Fails at the 7th result, works from the 8th on. `stop` and `mend` are told which store. */
static void check_failure(struct world *w, void (*stop)(struct world *w),
                          void (*mend)(struct world *w))
{
    struct test_talk talk = with_results(&gpt, 6);
    struct answer *six = ask(w, &talk, at("cut", NOON_MS));
    assert_false(is_whole(six, 6));
    stop(w);
    talk.results = 7;
    struct answer *seven = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
    assert_true(extends(six, seven));
    assert_true(is_whole(seven, 7));
    assert_true(seven->held[0]);
    assert_false(seven->is_step);
    talk.results = 8;
    struct answer *eight = ask(w, &talk, at("cut", NOON_MS + 2 * SECOND_MS));
    assert_true(extends(seven, eight));
    assert_true(is_whole(eight, 8));
    mend(w);
    talk.results = 9;
    struct answer *nine = ask(w, &talk, at("cut", NOON_MS + 3 * SECOND_MS));
    assert_true(extends(eight, nine));
    assert_false(is_whole(nine, 9));
    assert_false(nine->held[0]);
    assert_false(nine->is_step);
    assert_int_equal(w->store.marks[WEIR_MARK_KEPT_WHOLE], 2);
    restart(w);
    talk.results = 10;
    struct answer *ten = ask(w, &talk, at("cut", NOON_MS + 4 * SECOND_MS));
    assert_true(extends(nine, ten));
    assert_true(is_whole(ten, 7) && is_whole(ten, 8) && !is_whole(ten, 10));
}

static void refuse_commits(struct world *w)
{
    w->store.fails_commit = true;
}

static void take_commits(struct world *w)
{
    w->store.fails_commit = false;
}

static void what_is_new_stays_whole_where_nothing_can_be_written(void **state)
{
    struct world *w = open_world(state);
    check_failure(w, refuse_commits, take_commits);
    close_world(w);
}

static sqlite3 *holder;

static void lock(struct world *w)
{
    char path[2 * WR_TEST_PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/store.db", w->dir.path);
    assert_int_equal(sqlite3_open_v2(path, &holder, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
}

static void unlock(struct world *w)
{
    (void)w;
    assert_int_equal(sqlite3_exec(holder, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(holder), SQLITE_OK);
}

static void a_locked_store_is_no_reason_to_lose_the_prefix(void **state)
{
    struct world *w = open_world(state);
    if (w->is_on_disk)
        check_failure(w, lock, unlock);
    close_world(w);
}

static void a_step_that_cannot_be_written_is_not_taken(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    struct answer *a = ask(w, &talk, at("cold", NOON_MS));
    refuse_commits(w);
    talk.results = 8;
    struct answer *b = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
    assert_false(b->is_changed);
    assert_false(b->is_step);
    assert_true(extends(a, b));
    close_world(w);
}

static void without_the_originals_nothing_is_taken_out_and_that_is_a_step(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct answer *a = ask(w, &talk, at("cut", NOON_MS));
    assert_true(a->is_changed);
    refuse_commits(w);
    w->store.fails_has = true;
    talk.results = 8;
    struct answer *b = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
    assert_false(b->is_changed);
    assert_true(b->held[0]);
    assert_false(extends(a, b));
    bool is_declared = b->is_step && !strcmp(b->reason, "store");
    close_world(w);
    if (!is_declared)
        fail_msg("the prefix changed and no step was declared");
}

static int count_row(void *count, int columns, char **values, char **names)
{
    (void)names;
    *(long *)count = columns ? strtol(values[0], NULL, 10) : -1;
    return 0;
}

/* Runs `sql` beside the engine's store; the first column of its last row. */
static long run_sql(const struct world *w, const char *sql)
{
    char path[2 * WR_TEST_PATH_BYTES];
    sqlite3 *db;
    long count = 0;

    (void)snprintf(path, sizeof(path), "%s/store.db", w->dir.path);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, count_row, &count, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return count;
}

static void an_original_that_was_lost_is_put_back_before_the_next_request_leaves(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&gpt, 6);
    struct answer *six = ask(w, &talk, at("cut", NOON_MS));

    if (w->is_on_disk) {
        long count = run_sql(w, "SELECT count(*) FROM artifact");
        assert_true(count > 0);
        (void)run_sql(w, "DELETE FROM artifact WHERE id = (SELECT min(id) FROM artifact)");
        assert_int_equal(run_sql(w, "SELECT count(*) FROM artifact"), count - 1);
        talk.results = 7;
        struct answer *seven = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
        assert_true(extends(six, seven));
        assert_int_equal(run_sql(w, "SELECT count(*) FROM artifact"), count + 1);
    }
    close_world(w);
}

/* ---- a store that is taken away ---- */

struct thief {
    struct world *world;
    int calls_left; /* until its files are removed */
};

static void steal(void *user)
{
    static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm"};
    struct thief *thief = user;

    if (thief->calls_left-- != 0)
        return;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        char path[2 * WR_TEST_PATH_BYTES];
        (void)snprintf(path, sizeof(path), "%s/%s", thief->world->dir.path, names[i]);
        assert_int_equal(unlink(path), 0);
    }
}

/* A session with a step behind it and an overflow, whose store is removed before the nth call of
 * its next request. False: it has not so many. */
static bool check_theft(struct world *w, const char *policy, int call)
{
    struct thief thief = {w, call};
    struct weir_project_options narrow = at(policy, NOON_MS + DAY_MS);
    struct test_talk talk = with_results(&claude, 5);

    (void)ask(w, &talk, at(policy, NOON_MS));
    narrow.overflow_tokens = 100000;
    talk.results = 6;
    struct answer *six = ask(w, &talk, narrow);
    w->store.before_call = steal;
    w->store.user = &thief;
    talk.results = 7;
    struct answer *seven = ask(w, &talk, at(policy, NOON_MS + DAY_MS + SECOND_MS));
    w->store.before_call = NULL;
    bool is_stolen = thief.calls_left < 0;
    assert_true(extends(six, seven));
    assert_false(seven->is_step);
    assert_false(seven->held[0]);
    assert_int_equal(w->store.store.replaced_count, is_stolen);
    talk.results = 8;
    struct answer *eight = ask(w, &talk, at(policy, NOON_MS + DAY_MS + 2 * SECOND_MS));
    assert_true(extends(seven, eight));
    restart(w); /* what is known is now the new store's */
    talk.results = 9;
    struct answer *nine = ask(w, &talk, at(policy, NOON_MS + DAY_MS + 3 * SECOND_MS));
    assert_true(extends(eight, nine));
    assert_true(nine->is_changed);
    assert_false(nine->is_step);
    return is_stolen;
}

static void a_stolen_store_is_filled_again_and_forms_stay(void **state)
{
    static const char *const names[] = {"cut", "cold"};

    for (size_t i = 0; i < 2; i++) {
        bool is_stolen = true;
        for (int call = 0; is_stolen; call++) {
            struct world *w = open_world(state);
            is_stolen = w->is_on_disk && check_theft(w, names[i], call);
            assert_true(call > 3 || is_stolen || !w->is_on_disk);
            close_world(w);
        }
    }
}

/* A step that was taken because the provider counts twice what we do; then the store is replaced,
 * and a process that knows nothing but the new one goes on. */
static void a_replaced_store_is_told_how_the_provider_counts(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_CHAT, .model = "some-local-model", .lines = 48, .results = 7};
    struct weir_project_options plain = at("cold", NOON_MS);
    struct thief thief = {w, 0};

    plain.window_tokens = 16000;
    struct weir_project_options learnt = plain;
    learnt.factor_bp = 20000;
    if (w->is_on_disk) {
        assert_false(ask(w, &talk, plain)->is_changed);
        talk.results = 8;
        struct answer *step = ask(w, &talk, learnt);
        assert_true(step->is_step); /* 8,000 tokens of ours are all of the window */
        w->store.before_call = steal;
        w->store.user = &thief;
        talk.results = 9;
        struct answer *nine = ask(w, &talk, learnt);
        w->store.before_call = NULL;
        assert_true(extends(step, nine));
        assert_int_equal(w->store.store.replaced_count, 1);
        restart(w);
        talk.results = 10;
        struct answer *ten = ask(w, &talk, plain);
        assert_false(ten->is_step);
        assert_true(extends(nine, ten));
    }
    close_world(w);
}

/* A step that was taken because the answer may take half of the window; then the store is replaced,
 * and a process that knows nothing but the new one goes on. */
static void a_replaced_store_is_told_what_answers_take(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_CHAT, .model = "some-local-model", .lines = 62, .answer = 8000};
    struct weir_project_options options = at("cold", NOON_MS);
    struct thief thief = {w, 0};
    struct answer *step = NULL;

    options.window_tokens = 16000;
    for (talk.results = 1; w->is_on_disk && (!step || !step->is_step); talk.results++)
        step = ask(w, &talk, options);
    if (step) {
        assert_true(talk.results > 3 && step->tokens_after <= 8000);
        w->store.before_call = steal;
        w->store.user = &thief;
        struct answer *next = ask(w, &talk, options);
        w->store.before_call = NULL;
        assert_true(extends(step, next));
        assert_int_equal(w->store.store.replaced_count, 1);
        restart(w);
        talk.results++;
        struct answer *last = ask(w, &talk, options);
        assert_false(last->is_step);
        assert_true(extends(next, last));
    }
    close_world(w);
}

static void a_first_request_that_cannot_be_written_leaves_as_it_came(void **state)
{
    struct world *w = open_world(state);
    refuse_commits(w);
    struct answer *a = ask(w, &gpt, at("cut", NOON_MS));
    assert_false(a->is_changed);
    assert_true(a->held[0]);
    assert_false(a->is_step);
    close_world(w);
}

static weir_status be_outrun(struct weir_store *store, struct weir_batch *batch,
                             struct weir_err *err)
{
    struct test_store *s = (struct test_store *)store;
    weir_status status = test_store_commit(store, batch, err);
    store->trouble = s->fails_commit ? WEIR_TROUBLE_OUTRUN : store->trouble;
    return status;
}

/* What another committed meanwhile may be read and kept to; a store that is full stays so. */
static void only_who_is_outrun_begins_anew(void **state)
{
    enum { TRIES = 3 };
    for (int is_outrun = 0; is_outrun < 2; is_outrun++) {
        struct world *w = open_world(state);
        struct weir_store_ops ops = *w->store.store.ops;
        if (is_outrun)
            ops.commit = be_outrun;
        w->store.store.ops = &ops;
        refuse_commits(w);
        assert_true(ask(w, &gpt, at("cut", NOON_MS))->held[0]);
        assert_int_equal(w->store.commits, is_outrun ? TRIES : 1);
        close_world(w);
    }
}

static void marks_that_cannot_be_read_leave_the_request_as_it_came(void **state)
{
    struct world *w = open_world(state);
    struct weir_project_options options = at("cut", NOON_MS);
    struct weir_projected p;
    struct weir_request *request;
    struct weir_err err = {0};
    struct wr_buf body;

    w->store.fails_marks = true;
    options.store = &w->store.store;
    wr_buf_init(&body, TEST_BODY_BYTES_MAX);
    test_talk_write(&body, &gpt);
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&body), NULL, &request, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, request, &options, &p, &err), WEIR_IO);
    assert_int_equal(err.code, WEIR_IO);
    assert_string_equal(err.text, weir_status_text(WEIR_IO));
    assert_ptr_equal(p.body.ptr, body.bytes);
    assert_false(p.is_changed);
    weir_request_free(request);
    wr_buf_release(&body);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_session_keeps_its_policy_and_its_window),
        BOTH(a_session_that_began_exact_stays_exact),
        BOTH(side_calls_have_a_pin_of_their_own),
        BOTH(a_pinned_policy_that_is_gone_gives_way_to_the_default),
        BOTH(a_pin_that_another_process_wrote_first_holds),
        BOTH(the_room_is_no_larger_than_the_input_that_a_model_takes),
        BOTH(what_others_sent_stays_as_it_is),
        BOTH(without_attaching_history_is_folded_from_its_start),
        BOTH(a_known_session_is_not_attached_to),
        BOTH(what_was_attached_leaves_in_a_step),
        BOTH(an_overflow_narrows_the_window_from_then_on),
        BOTH(a_second_overflow_narrows_it_again),
        BOTH(what_is_new_stays_whole_where_nothing_can_be_written),
        BOTH(a_locked_store_is_no_reason_to_lose_the_prefix),
        BOTH(a_step_that_cannot_be_written_is_not_taken),
        BOTH(without_the_originals_nothing_is_taken_out_and_that_is_a_step),
        BOTH(an_original_that_was_lost_is_put_back_before_the_next_request_leaves),
        BOTH(a_stolen_store_is_filled_again_and_forms_stay),
        BOTH(a_replaced_store_is_told_how_the_provider_counts),
        BOTH(a_replaced_store_is_told_what_answers_take),
        BOTH(a_first_request_that_cannot_be_written_leaves_as_it_came),
        BOTH(only_who_is_outrun_begins_anew),
        BOTH(marks_that_cannot_be_read_leave_the_request_as_it_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
