/* An exchange walked through its states: the server, the upstream and the client are in one loop,
 * and the test decides who says what when (exchange_states_test.c: what happens while it waits). */
#include "tests/test_service.h"

#define CHAT    "/v1/chat/completions"
#define OK_BODY "{\"id\":\"a\",\"choices\":[]}"
#define OK      TEST_WHOLE("200 OK", OK_BODY)
#define TOO_LONG                                                                              \
    "{\"error\":{\"message\":\"This model's maximum context length is 8000 tokens. However, " \
    "your messages resulted in 11000 tokens.\",\"code\":\"context_length_exceeded\"}}"
#define UNBOUND                                                                                 \
    "{\"error\":{\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block. " \
    "The block is bound to a different conversation\"}}"

enum { SMALL_LINES = 3, LARGE_LINES = 200, RESULTS = 6, WORDS_MAX = 5 };

enum sent { NOTHING_SENT, AS_IT_CAME, CHANGED };

/* ---- one request, from its beginning to its end ---- */

static const struct {
    const char *behaviour, *yaml, *headers;
    size_t lines;                /* of each result: small ones are not worth a change */
    const char *says[3];         /* of the upstream; NULL: no more */
    int status;                  /* for the client */
    const char *answer;          /* words of it */
    enum sent sent;              /* the last time that the upstream was asked */
    size_t asked_count;          /* how often it was */
    const char *told[WORDS_MAX]; /* words of the log */
} rows[] = {
    {"what is small goes as it came",
     "",
     "",
     SMALL_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"end\":\"done\"", "\"changed\":false", "\"not_read\":null", "\"answer_bytes\":23,",
      "\"rollout_reason\":\"rollout_active\""}},
    {"what is large goes projected",
     "",
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     CHANGED,
     1,
     {"\"changed\":true", "\"retries\":0", "\"policy\":\"small\"", "\"artifacts_stored\":1,"}},
    {"off: nothing is read",
     "mode: off\n",
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"end\":\"done\"", "\"answer_finished\":true"}},
    {"off but for a rule: it is read",
     "mode: off\nrollout:\n  - {model: m*, mode: active}\n",
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     CHANGED,
     1,
     {"\"changed\":true"}},
    {"meter: it is counted and goes as it came",
     "mode: meter\n",
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"rollout_reason\":\"rollout_meter\"", "\"estimated_tokens_before\":"}},
    {"shadow: what would have been sent is told",
     "mode: shadow\n",
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"shadow_changed\":true", "\"shadow_estimated_tokens_after\":"}},
    {"a header asks for what came",
     "",
     "x-weir-mode: exact\r\n",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"rollout_reason\":\"exact\""}},
    {"a header names another policy",
     "",
     "x-weir-policy: exact\r\n",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"policy\":\"exact\"", "\"changed\":false"}},
    {"without a store nothing that needs a way back is taken out",
     TEST_NO_STORE,
     "",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"changed\":false"}},
    {"a coding that nobody knows goes unread",
     "",
     "Content-Encoding: lzma\r\n",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"not_read\":\"not_decoded\""}},
    {"what is not coded as it says goes unread",
     "",
     "Content-Encoding: gzip\r\n",
     LARGE_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"not_read\":\"not_decoded\""}},
    {"the session is the header's",
     "",
     "x-weir-session: s1\r\nsession_id: codex-1\r\n",
     SMALL_LINES,
     {OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     1,
     {"\"session\":\"codex"}},

    {"too long: tried again, smaller",
     "policy: tight\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", TOO_LONG), OK},
     200,
     OK_BODY,
     CHANGED,
     2,
     {"\"retries\":1", "\"retry_reason\":\"context_overflow\"", "\"changed\":true",
      "\"status\":200", "\"step_reason\":\"window\""}},
    {"so where the status is 413",
     "policy: tight\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("413 Too Large", TOO_LONG), OK},
     200,
     OK_BODY,
     CHANGED,
     2,
     {"\"retries\":1"}},
    {"other statuses are for the client",
     "policy: tight\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("422 No", TOO_LONG)},
     422,
     TOO_LONG,
     AS_IT_CAME,
     1,
     {"\"retries\":0", "\"status\":422"}},
    {"once is enough",
     "policy: tight\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", TOO_LONG), TEST_WHOLE("400 Bad Request", TOO_LONG)},
     400,
     TOO_LONG,
     CHANGED,
     2,
     {"\"retries\":1", "\"status\":400", "\"answer_bytes\":"}},
    {"what cannot be made smaller is not sent again",
     "",
     "x-weir-policy: exact\r\n",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", TOO_LONG)},
     400,
     TOO_LONG,
     AS_IT_CAME,
     1,
     {"\"retries\":0", "\"answer_bytes\":"}},
    {"what is to go as it came neither",
     "policy: tight\n",
     "x-weir-mode: exact\r\n",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", TOO_LONG)},
     400,
     TOO_LONG,
     AS_IT_CAME,
     1,
     {"\"retries\":0"}},
    {"off: a refusal is the client's",
     "mode: off\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", TOO_LONG)},
     400,
     TOO_LONG,
     AS_IT_CAME,
     1,
     {"\"retries\":0"}},
    {"a refusal without a remedy is shown as it came",
     "",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", "{\"error\":{}}")},
     400,
     "\r\n\r\n{\"error\":{}}",
     CHANGED,
     1,
     {"\"retries\":0", "\"answer_bytes\":12,", "\"end\":\"done\""}},
    {"thinking that is bound to what came: it goes as it came",
     "",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", UNBOUND), OK},
     200,
     OK_BODY,
     AS_IT_CAME,
     2,
     {"\"retry_reason\":\"thinking_bound\"", "\"changed\":false"}},
    {"bound, and never projected: there is no other form",
     "mode: meter\n",
     "",
     LARGE_LINES,
     {TEST_WHOLE("400 Bad Request", UNBOUND)},
     400,
     UNBOUND,
     AS_IT_CAME,
     1,
     {"\"retries\":0"}},

    {"nobody answers",
     "",
     "",
     SMALL_LINES,
     {""},
     502,
     "\"message\":\"weir: upstream (http://",
     AS_IT_CAME,
     1,
     {"\"end\":\"upstream_unanswered\"", "\"status\":502"}},
    {"an answer that is none",
     "",
     "",
     SMALL_LINES,
     {"What?\r\n\r\nconnection: close"},
     502,
     "\"error\"",
     AS_IT_CAME,
     1,
     {"\"status\":502"}},
    {"an answer that breaks off is cut",
     "",
     "",
     SMALL_LINES,
     {"HTTP/1.1 200 OK\r\nconnection: close\r\nContent-Length: 99\r\n\r\n{\"half"},
     200,
     "{\"half",
     AS_IT_CAME,
     1,
     {"\"end\":\"upstream_broke_off\"", "\"status\":200", "\"answer_bytes\":6,"}},
    {"a refusal that breaks off is an upstream that does",
     "",
     "",
     SMALL_LINES,
     {"HTTP/1.1 400 No\r\nconnection: close\r\nContent-Length: 99\r\n\r\n{\"half"},
     502,
     "\"error\"",
     AS_IT_CAME,
     1,
     {"\"end\":\"upstream_broke_off\"", "\"status\":502"}},
    {"what belongs to a connection is not forwarded",
     "",
     "",
     SMALL_LINES,
     {"HTTP/1.1 200 OK\r\nConnection: x-hop\r\nx-hop: 1\r\nx-weir-note: 1\r\nx-stays: 1\r\n"
      "Content-Length: 2\r\n\r\n{}"},
     200,
     "HTTP/1.1 200 OK\r\nx-stays: 1\r\nContent-Length: 2\r\n\r\n{}",
     AS_IT_CAME,
     1,
     {"\"end\":\"done\""}},
    {"the words behind a status are the upstream's",
     "",
     "",
     SMALL_LINES,
     {"HTTP/1.1 299 Fine By Me\r\nContent-Length: 2\r\n\r\n{}"},
     299,
     "HTTP/1.1 299 Fine By Me\r\n",
     AS_IT_CAME,
     1,
     {"\"status\":299"}},
};

static void check_row(size_t i, struct test_service *s, struct test_client *c, weir_span body)
{
    const char *log = test_log(s);

    if (test_status(c) != rows[i].status || !test_has(&c->got, rows[i].answer))
        fail_msg("%s: the client got %s", rows[i].behaviour, test_text(&c->got));
    if (s->asked_count != rows[i].asked_count)
        fail_msg("%s: the upstream was asked %zu times", rows[i].behaviour, s->asked_count);
    bool is_same = wr_span_eq(test_asked(s, s->asked_count - 1), body);
    if (is_same != (rows[i].sent == AS_IT_CAME))
        fail_msg("%s: it was sent %s", rows[i].behaviour, is_same ? "as it came" : "changed");
    for (size_t w = 0; w < WORDS_MAX && rows[i].told[w]; w++)
        if (!strstr(log, rows[i].told[w]))
            fail_msg("%s: %s is not in %s", rows[i].behaviour, rows[i].told[w], log);
}

static void each_request_has_its_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        struct wr_buf body;
        for (size_t n = 0; n < WR_COUNT_OF(rows[i].says) && rows[i].says[n]; n++)
            test_upstream_says(s, rows[i].says[n]);
        test_chat(&body, "m", RESULTS, rows[i].lines);
        struct test_client *c = test_client_post(s, CHAT, rows[i].headers, wr_buf_view(&body));
        test_until(s, test_is_told(s, 1) && (c->has_ended || test_has(&c->got, rows[i].answer)));
        check_row(i, s, c, wr_buf_view(&body));
        wr_buf_release(&body);
        test_service_free(s);
    }
}

/* ---- bodies that are not read ---- */

static void fill(struct wr_buf *body, size_t bytes)
{
    wr_buf_init(body, TEST_BYTES_MAX);
    while (body->len < bytes)
        wr_buf_printf(body, "%zu,", body->len);
    body->len = bytes;
}

/* Without the sizes of its chunks. */
static void join_chunks(weir_span chunks, struct wr_buf *body)
{
    const char *at = chunks.ptr;
    size_t bytes;

    wr_buf_init(body, TEST_BYTES_MAX);
    while ((bytes = strtoul(at, NULL, 16)) > 0) {
        at = strstr(at, "\r\n") + 2;
        wr_buf_append(body, (weir_span){at, bytes});
        at += bytes + 2;
    }
}

enum { KB = 1024, MB = 1024 * 1024 };

static const struct {
    const char *behaviour, *path;
    size_t bytes;
    bool is_chunked, is_deaf; /* the upstream hears it only when all of it was said */
} uploads[] = {
    {"a small one", "/v1/files", 10, false, false},
    {"one that is kept to be sent again", "/v1/files", 300 * KB, false, false},
    {"one that is too long for that", "/v1/files", 5 * MB, false, false},
    {"one that ends nobody knows where", "/v1/files", 300 * KB, true, false},
    {"one that is longer than is read, and says so", CHAT, 33 * MB, false, false},
    {"one that is, and does not", CHAT, 33 * MB, true, false},
    {"one that fills what there is until its upstream hears it", "/v1/files", 9 * MB, true, true},
    {"the same, and it says how long it is", "/v1/files", 9 * MB, false, true},
};

static void send_chunked(struct test_client *c, const char *path, weir_span body)
{
    enum { PIECE = 100 * KB };
    char head[256];

    (void)snprintf(head, sizeof(head),
                   "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
                   path);
    test_send(c, head);
    for (size_t at = 0; at < body.len; at += PIECE) {
        size_t end = at + PIECE < body.len ? at + PIECE : body.len;
        (void)snprintf(head, sizeof(head), "%zx\r\n", end - at);
        test_send(c, head);
        test_send_bytes(c, wr_span_cut(body, at, end));
        test_send(c, "\r\n");
    }
    test_send(c, "0\r\n\r\n");
}

/* Nothing goes on: who is to take it does not, and who says it was told to stop. */
static void wait_until_it_is_stuck(struct test_service *s, struct test_client *c)
{
    size_t left = 0, rounds = 0;

    while (rounds++ < 50) {
        if (left != c->tcp.write_queue_size)
            rounds = 0;
        left = c->tcp.write_queue_size;
        (void)uv_run(&s->loop, UV_RUN_NOWAIT);
    }
}

static void what_is_not_read_passes_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(uploads); i++) {
        struct test_service *s = test_service_new("");
        struct wr_buf body, joined;
        fill(&body, uploads[i].bytes);
        s->is_upstream_deaf = uploads[i].is_deaf;
        test_upstream_says(s, OK);
        struct test_client *c = test_client_new(s);
        if (uploads[i].is_chunked)
            send_chunked(c, uploads[i].path, wr_buf_view(&body));
        else
            test_post_on(c, uploads[i].path, "Expect: 100-continue\r\n", wr_buf_view(&body));
        if (uploads[i].is_deaf) {
            test_until(s, s->peers_count == 2);
            wait_until_it_is_stuck(s, c);
            test_upstream_hear(s->peers[1]);
        }
        test_until(s, test_is_told(s, 1) && test_has(&c->got, OK_BODY));
        join_chunks(test_asked(s, 0), &joined);
        weir_span came = uploads[i].is_chunked ? wr_buf_view(&joined) : test_asked(s, 0);
        if (!wr_span_eq(came, wr_buf_view(&body)))
            fail_msg("%s: %zu bytes of %zu", uploads[i].behaviour, came.len, body.len);
        assert_null(strstr(test_text(&s->asked[0]), "xpect:"));
        assert_non_null(strstr(test_log(s), "\"end\":\"done\""));
        wr_buf_release(&joined);
        wr_buf_release(&body);
        test_service_free(s);
    }
}

/* ---- a connection to the upstream that was kept and had died ---- */

static void a_kept_connection_that_died_is_tried_once_more(void **state)
{
    static const struct {
        const char *behaviour, *path;
        size_t bytes;
    } cases[] = {
        {"all of the body is here", CHAT, 10},
        {"it was streamed, and kept", "/v1/files", 300 * KB},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        struct wr_buf body;
        fill(&body, cases[i].bytes);
        test_upstream_says(s, OK);
        test_upstream_says(s, ""); /* on the connection that was kept */
        test_upstream_says(s, OK);
        struct test_client *c = test_client_ask(s, "GET /v1/models", "");
        test_until(s, test_is_told(s, 1) && test_is_answered(c));
        struct test_client *d = test_client_post(s, cases[i].path, "", wr_buf_view(&body));
        test_until(s, test_is_told(s, 2) && test_is_answered(d));
        if (test_status(d) != 200 || s->asked_count != 3 ||
            !wr_span_eq(test_asked(s, 2), wr_buf_view(&body)))
            fail_msg("%s: %s", cases[i].behaviour, test_text(&d->got));
        wr_buf_release(&body);
        test_service_free(s);
    }
}

static void an_upstream_that_is_not_there_is_told_of(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_close(s);
    struct test_client *c = test_client_ask(s, "GET /v1/models", "");
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    assert_int_equal(test_status(c), 502);
    assert_true(test_has(&c->got, "weir: upstream (http://127.0.0.1:"));
    assert_non_null(strstr(test_log(s), "\"end\":\"upstream_unreachable\""));
    assert_int_equal(atomic_load(&s->metrics->upstream_failures), 1);
    test_service_free(s);
}

/* ---- answers ---- */

static void an_answer_waits_for_nothing_but_its_client(void **state)
{
    struct test_service *s = test_service_new("");
    struct test_client *c = test_client_ask(s, "GET /v1/models", "");
    struct wr_buf body;
    (void)state;
    test_until(s, s->asked_count == 1);
    test_say(s, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                "Transfer-Encoding: chunked\r\n\r\n6\r\none.\n\n\r\n");
    test_until(s, test_has(&c->got, "one."));
    assert_false(test_is_answered(c));
    assert_int_equal(uv_read_stop((uv_stream_t *)&c->tcp), 0); /* it takes no more */
    fill(&body, 9 * MB);
    test_send(s->asker, "900000\r\n");
    test_send_bytes(s->asker, wr_buf_view(&body));
    wait_until_it_is_stuck(s, s->asker);
    test_send(s->asker, "\r\n0\r\n\r\n");
    test_client_listen(c);
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    struct wr_buf joined;
    join_chunks(wr_span_of(strstr(test_text(&c->got), "\r\n\r\n") + 4), &joined);
    assert_int_equal(joined.len, body.len + 6);
    assert_memory_equal(joined.bytes + 6, body.bytes, body.len);
    assert_non_null(strstr(test_log(s), "\"answer_bytes\":9437190,"));
    wr_buf_release(&joined);
    wr_buf_release(&body);
    test_service_free(s);
}

static void a_refusal_that_is_too_long_to_be_held_is_shown(void **state)
{
    struct test_service *s = test_service_new("policy: tight\n");
    struct wr_buf body, refusal;
    (void)state;
    test_chat(&body, "m", RESULTS, LARGE_LINES);
    fill(&refusal, 300 * KB);
    struct test_client *c = test_client_post(s, CHAT, "", wr_buf_view(&body));
    test_until(s, s->asked_count == 1);
    test_say(s, "HTTP/1.1 400 No\r\nContent-Length: 307200\r\n\r\n");
    test_send_bytes(s->asker, wr_buf_view(&refusal));
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    assert_int_equal(test_status(c), 400);
    assert_memory_equal(strstr(test_text(&c->got), "\r\n\r\n") + 4, refusal.bytes, refusal.len);
    assert_non_null(strstr(test_log(s), "\"answer_bytes\":307200,"));
    assert_int_equal(s->asked_count, 1);
    wr_buf_release(&refusal);
    wr_buf_release(&body);
    test_service_free(s);
}

static void a_head_has_a_length_and_no_body(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, "HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n");
    struct test_client *c = test_client_ask(s, "HEAD /v1/models", "Connection: close\r\n");
    test_until(s, test_is_told(s, 1) && c->has_ended);
    assert_true(test_has(&c->got, "Content-Length: 123\r\n"));
    assert_string_equal(strstr(test_text(&c->got), "\r\n\r\n"), "\r\n\r\n");
    assert_non_null(strstr(test_text(&s->asked[0]), "HEAD /v1/models HTTP/1.1\r\n"));
    test_service_free(s);
}

static void what_is_weirs_does_not_reach_the_upstream(void **state)
{
    static const char *const kept[] = {"Authorization: Bearer x\r\n", "X-Empty:", "POST " CHAT};
    static const char *const dropped[] = {"weir-", "x-hop", "TE:", "localhost", "Expect"};
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, OK);
    struct test_client *c =
        test_client_post(s, CHAT,
                         "Authorization: Bearer x\r\nX-Weir-Session: s\r\nX-Empty:\r\n"
                         "Connection: x-hop\r\nx-hop: 1\r\nTE: trailers\r\n",
                         WR_LIT("{}"));
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    for (size_t i = 0; i < WR_COUNT_OF(kept); i++)
        if (!test_has(&s->asked[0], kept[i]))
            fail_msg("%s is not in %s", kept[i], test_text(&s->asked[0]));
    for (size_t i = 0; i < WR_COUNT_OF(dropped); i++)
        if (test_has(&s->asked[0], dropped[i]))
            fail_msg("%s is in %s", dropped[i], test_text(&s->asked[0]));
    assert_non_null(strstr(test_log(s), "\"not_read\":\"not_a_request\""));
    test_service_free(s);
}

/* ---- budgets that nobody can count ---- */

#define BUDGET(requests)                                                     \
    "users: {anna: {tokens: [{sha256: "                                      \
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]}}\n" \
    "budgets: [{user: anna, per: day, requests: " requests "}]\n"

/* There was no memory for the gate: no budget may be passed without a word. */
static void what_cannot_be_counted_is_said_or_refused(void **state)
{
    static const struct {
        const char *yaml, *told;
        int status;
    } cases[] = {{"", "\"budget\":\"not counted: the store could not be asked\"", 200},
                 {"budgets_without_store: refuse\n", "\"end\":\"budget\"", 503}};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), BUDGET("1") "%s", cases[i].yaml);
        struct test_service *s = test_service_new(text);
        assert_null(s->service.gate);
        test_upstream_says(s, OK);
        struct test_client *c = test_client_post(s, CHAT, "x-weir-token: test\r\n",
                                                 WR_LIT("{\"model\":\"gpt-5\",\"messages\":[]}"));
        test_until(s, test_is_told(s, 1) && test_is_answered(c));
        assert_int_equal(test_status(c), cases[i].status);
        if (!strstr(test_log(s), cases[i].told))
            fail_msg("%s is not in %s", cases[i].told, test_log(s));
        test_service_free(s);
    }
}

static struct test_service *start_counting(const char *yaml)
{
    struct test_service *s = test_service_new(yaml);
    s->service.gate = wr_gate_new(&s->loop, s->config->store_dir);
    assert_non_null(s->service.gate);
    return s;
}

static struct test_client *post_as_anna(struct test_service *s)
{
    return test_client_post(s, CHAT, "x-weir-token: test\r\n",
                            WR_LIT("{\"model\":\"gpt-5\",\"messages\":[]}"));
}

static void a_budget_lets_in_what_it_has_room_for(void **state)
{
    static const int statuses[] = {200, 200, 429};
    struct test_service *s = start_counting(BUDGET("2"));
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(statuses); i++) {
        test_upstream_says(s, OK);
        struct test_client *c = post_as_anna(s);
        test_until(s, test_is_told(s, i + 1) && test_is_answered(c));
        assert_int_equal(test_status(c), statuses[i]);
        assert_int_equal(test_has(&c->got, "the budget is used up: "), statuses[i] == 429);
    }
    assert_int_equal(s->asked_count, 2);
    assert_null(strstr(test_log(s), "not counted"));
    assert_int_equal(atomic_load(&s->metrics->budget_uncounted), 0);
    test_service_free(s);
}

/* ---- what an answer is kept for ---- */

#define FIRST "{\"model\":\"m\",\"store\":true,\"input\":\"Find it.\"}"
#define CALL                                                                               \
    "{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\"," \
    "\"output\":[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"read_file\","   \
    "\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":70,\"output_tokens\":7,"           \
    "\"input_tokens_details\":{\"cached_tokens\":64}}}"
#define SECOND                                                                        \
    "{\"model\":\"m\",\"store\":true,\"previous_response_id\":\"resp_1\",\"input\":[" \
    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"found\"}]}"

static const char *word_behind(const char *text, const char *name, char word[64])
{
    const char *at = strstr(text, name);
    (void)snprintf(word, 64, "%.*s", at ? (int)strcspn(at + strlen(name), "\"") : 0,
                   at ? at + strlen(name) : "");
    return at ? at + strlen(name) : NULL;
}

static void who_goes_on_from_an_answer_is_of_its_session(void **state)
{
    struct test_service *s = test_service_new("");
    char first[64], second[64];
    (void)state;
    test_upstream_says(s, TEST_WHOLE("200 OK", CALL));
    test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
    struct test_client *c = test_client_post(s, "/v1/responses", "", WR_LIT(FIRST));
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    c = test_client_post(s, "/v1/responses", "", WR_LIT(SECOND));
    test_until(s, test_is_told(s, 2) && test_is_answered(c));
    const char *rest = word_behind(test_log(s), "\"session\":\"", first);
    assert_non_null(rest);
    assert_non_null(word_behind(rest, "\"session\":\"", second));
    assert_string_equal(first, second);
    assert_non_null(strstr(rest, "\"delta\":true"));
    assert_non_null(strstr(test_log(s), "\"usage_input_tokens\":70,"));
    assert_non_null(strstr(test_log(s), "\"usage_cache_read_tokens\":64,"));
    assert_non_null(strstr(test_log(s), "\"answer_calls\":1,"));
    test_service_free(s);
}

static void requests_of_a_connection_are_answered_in_turn(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, TEST_WHOLE("200 OK", "{\"first\":1}"));
    test_upstream_says(s, TEST_WHOLE("200 OK", "{\"second\":1}"));
    struct test_client *c = test_client_post(s, CHAT, "", WR_LIT("{\"a\":1}"));
    test_post_on(c, CHAT, "", WR_LIT("{\"b\":22}"));
    test_until(s, test_is_told(s, 2) && test_has(&c->got, "second"));
    assert_true(wr_span_is(test_asked(s, 0), "{\"a\":1}"));
    assert_true(wr_span_is(test_asked(s, 1), "{\"b\":22}"));
    assert_true(strstr(test_text(&c->got), "first") < strstr(test_text(&c->got), "second"));
    assert_non_null(strstr(test_log(s), "\"request\":2,"));
    test_service_free(s);
}

static void without_a_store_there_are_no_sessions(void **state)
{
    (void)state;
    for (int has_store = 0; has_store < 2; has_store++) {
        struct test_service *s = test_service_new(has_store ? "" : TEST_NO_STORE);
        struct test_client *c = test_client_ask(s, "GET /weir/v1/sessions", "");
        test_until(s, test_is_answered(c));
        assert_int_equal(test_status(c), has_store ? 200 : 503);
        assert_int_equal(test_has(&c->got, "there is no store"), !has_store);
        test_service_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_its_way),
        cmocka_unit_test(what_is_not_read_passes_whole),
        cmocka_unit_test(a_kept_connection_that_died_is_tried_once_more),
        cmocka_unit_test(an_upstream_that_is_not_there_is_told_of),
        cmocka_unit_test(an_answer_waits_for_nothing_but_its_client),
        cmocka_unit_test(a_refusal_that_is_too_long_to_be_held_is_shown),
        cmocka_unit_test(a_head_has_a_length_and_no_body),
        cmocka_unit_test(what_is_weirs_does_not_reach_the_upstream),
        cmocka_unit_test(what_cannot_be_counted_is_said_or_refused),
        cmocka_unit_test(a_budget_lets_in_what_it_has_room_for),
        cmocka_unit_test(who_goes_on_from_an_answer_is_of_its_session),
        cmocka_unit_test(requests_of_a_connection_are_answered_in_turn),
        cmocka_unit_test(without_a_store_there_are_no_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
