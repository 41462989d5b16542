/* A desk of the test's own behind a server: what comes goes back, when the test lets it. */
#include "proxy/pages.h"

#include "tests/test_service.h"

enum { BODY_BYTES_MAX = 1000, ANSWER_BYTES_MAX = 1100, CALLS_MAX = 2 };

struct world {
    struct test_service *s;
    struct wr_page_desk desk;
    uv_sem_t begun, may_go; /* a call on its thread says that, and waits for that */
    bool waits;
    size_t over_count;
    int last_status;
};

static void echo(struct wr_page_call *call)
{
    struct world *w = call->desk->user;

    if (w->waits) {
        uv_sem_post(&w->begun);
        uv_sem_wait(&w->may_go);
    }
    call->status = call->body.len ? 200 : 202;
    if (call->body.len)
        wr_buf_printf(&call->answer, "%.*s %.*s by %s: ", (int)call->method.len, call->method.ptr,
                      (int)call->target.len, call->target.ptr, call->tenant);
    wr_buf_append(&call->answer, wr_buf_view(&call->body));
}

static void on_over(struct wr_page_call *call)
{
    struct world *w = call->desk->user;
    w->over_count++;
    w->last_status = call->status;
}

static void *begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct world *w = user;
    struct wr_entry entry = wr_door_enter(w->s->config, head);
    return wr_page_call_begin(&w->desk, conn, head, &entry);
}

static void on_refused(void *user, int status)
{
    (void)user;
    (void)status;
}

static const struct wr_server_handler handler = {.begin = begin, .refused = on_refused};

static void start_world(struct world *w)
{
    *w = (struct world){.waits = false};
    w->s = test_service_with("", &handler, w);
    assert_true(wr_page_desk_init(&w->desk, &w->s->loop));
    w->desk.calls_max = CALLS_MAX;
    w->desk.body_bytes_max = BODY_BYTES_MAX;
    w->desk.answer_bytes_max = ANSWER_BYTES_MAX;
    w->desk.work = echo;
    w->desk.over = on_over;
    w->desk.user = w;
    assert_int_equal(uv_sem_init(&w->begun, 0), 0);
    assert_int_equal(uv_sem_init(&w->may_go, 0), 0);
}

static void end_world(struct world *w)
{
    assert_int_equal(w->desk.calls_count, 0);
    test_service_free(w->s);
    wr_page_desk_release(&w->desk);
    uv_sem_destroy(&w->begun);
    uv_sem_destroy(&w->may_go);
}

static void a_call_is_answered_by_its_work(void **state)
{
    static const struct {
        const char *behaviour;
        size_t bytes;
        bool is_chunked;
        int status;
        const char *words;
        size_t over_count;
    } cases[] = {
        {"with what it made", 5, false, 200, "POST /x by local: aaaaa", 1},
        {"which is nobody's to keep", 5, false, 200,
         "Content-Type: application/json\r\nCache-Control: no-store\r\n", 1},
        {"with nothing, where it made nothing", 0, false, 202, "Content-Length: 0\r\n", 1},
        {"a body that comes in pieces", 5, true, 200, "by local: aaaaa", 1},
        {"as long as it may be", BODY_BYTES_MAX, false, 200, "aaaaa", 1},
        {"longer, and says so", BODY_BYTES_MAX + 1, false, 413, "the body is too long", 0},
        {"longer, and does not", BODY_BYTES_MAX + 1, true, 413, "the body is too long", 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct world w;
        char body[2 * BODY_BYTES_MAX], head[64];
        start_world(&w);
        memset(body, 'a', sizeof(body));
        struct test_client *c = test_client_new(w.s);
        if (cases[i].is_chunked) {
            test_send(c,
                      "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
            (void)snprintf(head, sizeof(head), "%zx\r\n", cases[i].bytes);
            test_send(c, head);
            test_send_bytes(c, (weir_span){body, cases[i].bytes});
            test_send(c, "\r\n0\r\n\r\n");
        } else {
            test_post_on(c, "/x", "", (weir_span){body, cases[i].bytes});
        }
        test_until(w.s, test_is_answered(c));
        if (test_status(c) != cases[i].status || !test_has(&c->got, cases[i].words) ||
            w.over_count != cases[i].over_count ||
            (w.over_count && w.last_status != cases[i].status))
            fail_msg("%s: %s", cases[i].behaviour, test_text(&c->got));
        end_world(&w);
    }
}

static void an_answer_that_finds_no_room_is_none(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    w.desk.answer_bytes_max = 3;
    struct test_client *c = test_client_post(w.s, "/x", "", WR_LIT("hello"));
    test_until(w.s, test_is_answered(c));
    assert_int_equal(test_status(c), 503);
    assert_int_equal(w.over_count, 0);
    end_world(&w);
}

static void one_call_too_many_is_refused(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    w.waits = true;
    struct test_client *a = test_client_post(w.s, "/x", "", WR_LIT("a"));
    struct test_client *b = test_client_post(w.s, "/x", "", WR_LIT("b"));
    test_until(w.s, w.desk.calls_count == CALLS_MAX);
    struct test_client *c = test_client_post(w.s, "/x", "", WR_LIT("c"));
    test_until(w.s, test_is_answered(c));
    assert_int_equal(test_status(c), 503);
    assert_true(test_has(&c->got, "too many calls at once; try again"));
    assert_false(test_is_answered(a) || test_is_answered(b));
    uv_sem_post(&w.may_go);
    uv_sem_post(&w.may_go);
    test_until(w.s, test_is_answered(a) && test_is_answered(b));
    assert_int_equal(test_status(a) + test_status(b), 400);
    assert_true(test_has(&a->got, "local: a") && test_has(&b->got, "local: b"));
    end_world(&w);
}

static void who_leaves_while_it_is_worked_on_is_waited_for(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    w.waits = true;
    struct test_client *c = test_client_post(w.s, "/x", "", WR_LIT("a"));
    while (uv_sem_trywait(&w.begun))
        (void)uv_run(&w.s->loop, UV_RUN_NOWAIT);
    test_leave(c);
    test_until(w.s, !wr_server_connections(w.s->server));
    assert_int_equal(w.desk.calls_count, 1);
    uv_sem_post(&w.may_go);
    test_until(w.s, !w.desk.calls_count);
    assert_int_equal(w.over_count, 1);
    end_world(&w);
}

static void who_leaves_within_its_body_is_gone(void **state)
{
    struct world w;
    (void)state;
    start_world(&w);
    struct test_client *c = test_client_new(w.s);
    test_send(c, "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc");
    test_until(w.s, w.desk.calls_count == 1);
    test_leave(c);
    test_until(w.s, !w.desk.calls_count);
    assert_int_equal(w.over_count, 0);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered_by_its_work),
        cmocka_unit_test(an_answer_that_finds_no_room_is_none),
        cmocka_unit_test(one_call_too_many_is_refused),
        cmocka_unit_test(who_leaves_while_it_is_worked_on_is_waited_for),
        cmocka_unit_test(who_leaves_within_its_body_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
