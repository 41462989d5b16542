/* Streams of events before a ledger that the test writes into. */
#include "proxy/traffic_page.h"

#include "store/ledger.h"
#include "tests/test_service.h"

struct world {
    struct test_service *s;
    struct wr_live_rows *live;
    struct wr_models *models;
    struct wr_ledger *ledger;
    struct wr_test_dir dir;
    const struct wr_user_token *token; /* that lets in who comes */
    bool is_draining;
};

static void *begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct world *w = user;
    struct wr_entry entry = wr_door_enter(w->s->config, head);

    entry.token = w->token;
    return wr_live_rows_begin(w->live, conn, head, &entry);
}

static void on_refused(void *user, int status)
{
    (void)user;
    (void)status;
}

static const struct wr_server_handler handler = {.begin = begin, .refused = on_refused};

static void start_world(struct world *w)
{
    *w = (struct world){.is_draining = false};
    w->dir = wr_test_dir_new();
    assert_int_equal(wr_models_new(&w->models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(w->dir.path, NULL, &w->ledger, NULL, NULL), WEIR_OK);
    /* A ledger alone is half a store: what follows it wants both. */
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    struct weir_store *store;
    assert_int_equal(weir_store_open(w->dir.path, &options, &store, NULL, NULL), WEIR_OK);
    weir_store_close(store);
    w->s = test_service_with("", &handler, w);
    w->live = wr_live_rows_new(&w->s->loop, w->dir.path, w->models, &w->is_draining);
    assert_non_null(w->live);
}

static void end_world(struct world *w)
{
    wr_live_rows_close(w->live);
    test_service_free(w->s);
    wr_live_rows_free(w->live);
    wr_ledger_close(w->ledger);
    wr_models_free(w->models);
    wr_test_dir_remove(&w->dir);
}

static void add(struct world *w, const char *tenant, const char *session)
{
    char line[400];
    int bytes = snprintf(line, sizeof(line),
                         "{\"time_ms\":1000,\"api\":\"chat\",\"path\":\"/v1/chat/completions\","
                         "\"status\":200,\"session\":\"%s\",\"model\":\"gpt-5\","
                         "\"estimated_tokens_before\":90,\"estimated_tokens_after\":40,"
                         "\"changed\":true,\"policy\":\"auto\"}",
                         session);
    struct wr_ledger_row row = {.time_ms = 1000,
                                .tenant = wr_span_of(tenant),
                                .session = wr_span_of(session),
                                .model = WR_LIT("gpt-5"),
                                .line = {line, (size_t)bytes}};
    assert_int_equal(wr_ledger_add(w->ledger, &row, 1, NULL), WEIR_OK);
}

static struct test_client *listen_from(struct world *w, const char *headers)
{
    struct test_client *c = test_client_new(w->s);
    test_send(c, "GET /live HTTP/1.1\r\nHost: localhost\r\n");
    test_send(c, headers);
    test_send(c, "\r\n");
    return c;
}

/* How many events a stream was given. */
static size_t told(const struct test_client *c)
{
    weir_span got = wr_buf_view(&c->got);
    size_t count = 0, at = 0;
    while ((at = wr_span_find(got, WR_LIT("event: request\n"), at)) != SIZE_MAX) {
        count++;
        at++;
    }
    return count;
}

static void a_stream_goes_on_behind_the_row_that_is_named(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    add(&w, "local", "one");
    add(&w, "other", "hidden");
    add(&w, "local", "two");
    struct test_client *c = listen_from(&w, "Last-Event-ID: 1\r\n");
    test_until(w.s, told(c) == 1);
    assert_true(test_has(&c->got, "Content-Type: text/event-stream; charset=utf-8\r\n"));
    assert_true(test_has(&c->got, "id: 3\nevent: request\ndata: "));
    assert_true(test_has(&c->got, "{\"id\":3,"));
    assert_true(test_has(&c->got, "\"session\":\"two\""));
    assert_true(test_has(&c->got, "\"came\":90,\"sent\":40"));
    add(&w, "local", "three");
    test_until(w.s, told(c) == 2);
    assert_true(test_has(&c->got, "\"session\":\"three\""));
    assert_false(test_has(&c->got, "hidden"));
    assert_false(test_has(&c->got, "\"session\":\"one\""));
    end_world(&w);
}

/* A row that comes right after a stream begins may be its first or be before it; what is behind
 * both must come, and what was there before must not. */
static void a_new_stream_begins_with_what_comes(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    add(&w, "local", "old");
    struct test_client *late = listen_from(&w, "");
    struct test_client *early = listen_from(&w, "Last-Event-ID: 0\r\n");
    test_until(w.s, told(early) == 1 && test_has(&late->got, "retry: 1000\n"));
    for (int i = 0; i < 100 && !told(late); i++) {
        size_t before = told(early);
        add(&w, "local", "new");
        test_until(w.s, told(early) > before);
    }
    assert_true(test_has(&late->got, "\"session\":\"new\""));
    assert_false(test_has(&late->got, "\"session\":\"old\""));
    end_world(&w);
}

static void who_leaves_is_forgotten_and_a_server_that_drains_ends_all(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    struct test_client *gone = listen_from(&w, "Last-Event-ID: 0\r\n");
    struct test_client *stays = listen_from(&w, "Last-Event-ID: 0\r\n");
    test_until(w.s, test_has(&gone->got, "retry: ") && test_has(&stays->got, "retry: "));
    test_leave(gone);
    add(&w, "local", "one");
    test_until(w.s, told(stays) == 1);
    w.is_draining = true;
    test_until(w.s, test_has(&stays->got, "\r\n0\r\n\r\n"));
    end_world(&w);
}

/* Whoever listens would be told of others' requests for as long as the connection lasts. */
static void a_stream_ends_with_what_let_it_in(void **state)
{
    struct wr_user_token ends = {.expires_ms = 0}, stays = {.expires_ms = 0};
    struct world w;

    (void)state;
    start_world(&w);
    w.token = &ends;
    struct test_client *expired = listen_from(&w, "Last-Event-ID: 0\r\n");
    test_until(w.s, test_has(&expired->got, "retry: "));
    w.token = &stays;
    struct test_client *good = listen_from(&w, "Last-Event-ID: 0\r\n");
    test_until(w.s, test_has(&good->got, "retry: "));
    ends.expires_ms = 1;
    test_until(w.s, test_has(&expired->got, "\r\n0\r\n\r\n"));
    add(&w, "local", "later");
    test_until(w.s, told(good) == 1);
    assert_int_equal(told(expired), 0);
    wr_live_rows_end_all(w.live);
    test_until(w.s, test_has(&good->got, "\r\n0\r\n\r\n"));
    end_world(&w);
}

static void too_many_streams_are_refused(void **state)
{
    struct world w;
    struct test_client *last = NULL;
    (void)state;
    start_world(&w);
    for (int i = 0; i < WR_TRAFFIC_STREAMS_MAX; i++)
        last = listen_from(&w, "");
    test_until(w.s, test_has(&last->got, "retry: "));
    last = listen_from(&w, "");
    test_until(w.s, test_is_answered(last));
    assert_int_equal(test_status(last), 503);
    assert_true(test_has(&last->got, "too many pages listen"));
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_goes_on_behind_the_row_that_is_named),
        cmocka_unit_test(a_new_stream_begins_with_what_comes),
        cmocka_unit_test(who_leaves_is_forgotten_and_a_server_that_drains_ends_all),
        cmocka_unit_test(a_stream_ends_with_what_let_it_in),
        cmocka_unit_test(too_many_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
