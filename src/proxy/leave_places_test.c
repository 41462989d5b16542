/* A request whose place fails leaves for another one (leave.c); which one that is, is in
 * places_test.c.
 */
#include "proxy/exchange_inside.h"
#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define BODY "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"
#define GOOD TEST_WHOLE("200 OK", "{\"choices\":[]}")
#define BUSY "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\n"

/* The upstream has three places: /v1, /two/v1 and /three/v1. */
static struct wr_upstream places[3];
static char urls[3][64];

static struct test_service *service_with_places(const char *yaml)
{
    static const char *const fronts[] = {"", "/two", "/three"};
    static const char *const names[] = {"1", "2", "3"};
    struct test_service *s = test_service_new(yaml);
    struct wr_upstream *upstream = &s->config->upstreams[0];

    for (size_t i = 0; i < WR_COUNT_OF(places); i++) {
        int bytes = snprintf(urls[i], sizeof(urls[i]), "http://127.0.0.1:%d", s->upstream_port);
        (void)snprintf(urls[i] + bytes, sizeof(urls[i]) - (size_t)bytes, "%s/v1", fronts[i]);
        places[i] = *upstream;
        places[i].base_url = urls[i];
        places[i].path = urls[i] + bytes;
        places[i].place_name = names[i];
        places[i].weight = 1;
    }
    upstream->places = places;
    upstream->places_count = WR_COUNT_OF(places);
    return s;
}

/* The client's status, once it is told. */
static int ask(struct test_service *s, const char *headers, size_t told)
{
    struct test_client *c = test_client_post(s, CHAT, headers, WR_LIT(BODY));
    test_until(s, test_is_told(s, told) && test_is_answered(c));
    return test_status(c);
}

static bool was_asked_at(const struct test_service *s, size_t i, const char *front)
{
    char line[128];
    (void)snprintf(line, sizeof(line), "POST %s/v1/chat/completions HTTP/1.1\r\n", front);
    return i < s->asked_count && test_has(&s->asked[i], line);
}

static void a_place_that_fails_is_left(void **state)
{
    static const struct {
        const char *behaviour, *says;
        bool has_key;
        int status;
        const char *told; /* of the first place; NULL: it was not left */
    } rows[] = {
        {"it takes no more", BUSY "\r\nbusy", false, 200,
         "\"upstream_left\":\"1\",\"upstream_left_reason\":\"429\",\"upstream_places_failed\":1"},
        {"it is overloaded", TEST_WHOLE("529 Overloaded", "{}"), false, 200, "_reason\":\"529\""},
        {"its front fails", TEST_WHOLE("502 Bad Gateway", "{}"), false, 200, "_reason\":\"502\""},
        {"it is away", TEST_WHOLE("503 Unavailable", "{}"), false, 200, "_reason\":\"503\""},
        {"it takes too long", TEST_WHOLE("504 Timeout", "{}"), false, 200, "_reason\":\"504\""},
        {"an error of its own", TEST_WHOLE("500 Error", "{}"), false, 500, NULL},
        {"one that nobody knows", TEST_WHOLE("505 Error", "{}"), false, 505, NULL},
        {"a key that the client brought", TEST_WHOLE("401 Unauthorized", "{}"), false, 401, NULL},
        {"a key of ours", TEST_WHOLE("401 Unauthorized", "{}"), true, 200, "_reason\":\"401\""},
        {"that may not", TEST_WHOLE("403 Forbidden", "{}"), true, 200, "_reason\":\"403\""},
        {"what is not there", TEST_WHOLE("404 Not Found", "{}"), true, 404, NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = service_with_places("");
        for (size_t at = 0; at < WR_COUNT_OF(places); at++)
            places[at].key = rows[i].has_key ? "sk-0123456789" : NULL;
        test_upstream_says(s, rows[i].says);
        test_upstream_says(s, GOOD);
        int status = ask(s, "", 1);
        const char *log = test_log(s);
        bool is_told = rows[i].told ? strstr(log, rows[i].told) != NULL
                                    : strstr(log, "\"upstream_left\"") == NULL;
        if (status != rows[i].status || !is_told || !was_asked_at(s, 0, "") ||
            was_asked_at(s, 1, "/two") != (rows[i].told != NULL))
            fail_msg("%s: %d %s", rows[i].behaviour, status, log);
        test_service_free(s);
    }
}

/* A session stays where its cache is now; others do not go where a place rests. */
static void where_it_went_it_stays(void **state)
{
    struct test_service *s = service_with_places("");
    (void)state;

    test_upstream_says(s, BUSY "Retry-After: 3000\r\n\r\nbusy");
    for (int i = 0; i < 4; i++)
        test_upstream_says(s, GOOD);
    assert_int_equal(ask(s, "x-weir-session: a\r\n", 1), 200);
    assert_int_equal(ask(s, "x-weir-session: a\r\n", 2), 200);
    assert_int_equal(ask(s, "x-weir-session: b\r\n", 3), 200);
    assert_true(was_asked_at(s, 1, "/two") && was_asked_at(s, 2, "/two"));
    assert_true(was_asked_at(s, 3, "/two"));
    const char *log = test_log(s);
    assert_non_null(strstr(log, "\"upstream_left\":\"1\",\"upstream_left_reason\":\"rests\""));
    assert_non_null(strstr(log, "\"upstream_place\":\"2\""));
    test_service_free(s);
}

/* A rest that the place asked for in milliseconds is soon over; the session came back to nothing.
 */
static void it_rests_as_long_as_it_says(void **state)
{
    static const struct {
        const char *header;
        int64_t ms_min, ms_max;
    } rows[] = {{"retry-after-ms: 1500\r\n", 0, 1500},
                {"retry-after: 20\r\n", 15000, 20000},
                {"", 10000, WR_PROXY_REST_MS},
                {"retry-after: 99999999\r\n", 10000, WR_PROXY_REST_MS},
                {"retry-after: soon\r\n", 10000, WR_PROXY_REST_MS}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = service_with_places("");
        char says[256];
        int64_t until_ms = 0;
        (void)snprintf(says, sizeof(says), BUSY "%s\r\nbusy", rows[i].header);
        test_upstream_says(s, says);
        test_upstream_says(s, GOOD);
        assert_int_equal(ask(s, "", 1), 200);
        int64_t now_ms = wr_clock_ms();
        for (size_t at = 0; at < WR_PLACES_RESTS; at++)
            if (atomic_load(&s->metrics->places.rests[at].place))
                until_ms = atomic_load(&s->metrics->places.rests[at].until_ms);
        if (until_ms - now_ms > rows[i].ms_max || until_ms - now_ms + 9000 < rows[i].ms_min)
            fail_msg("%s: %lld ms", rows[i].header, (long long)(until_ms - now_ms));
        test_service_free(s);
    }
}

static void each_place_is_asked_once(void **state)
{
    struct test_service *s = service_with_places("");
    (void)state;

    for (int i = 0; i < 3; i++)
        test_upstream_says(s, TEST_WHOLE("503 Unavailable", "{}"));
    assert_int_equal(ask(s, "", 1), 503);
    assert_int_equal(s->asked_count, 3);
    assert_true(was_asked_at(s, 1, "/two") && was_asked_at(s, 2, "/three"));
    assert_non_null(strstr(test_log(s), "\"upstream_places_failed\":2"));
    test_service_free(s);
}

/* Nobody listens there. */
static void a_place_that_is_away_is_left(void **state)
{
    struct test_service *s = service_with_places("");
    (void)state;

    places[0].base_url = "http://127.0.0.1:1/v1";
    places[0].path = places[0].base_url + strlen("http://127.0.0.1:1");
    test_upstream_says(s, GOOD);
    assert_int_equal(ask(s, "", 1), 200);
    assert_true(was_asked_at(s, 0, "/two"));
    assert_non_null(strstr(test_log(s), "\"upstream_left_reason\":\"unreachable\""));
    test_service_free(s);
}

/* It may have been carried out: it is not asked for elsewhere, but the next one is. */
static void what_was_heard_and_not_answered_is_not_sent_again(void **state)
{
    struct test_service *s = service_with_places("");
    (void)state;

    test_upstream_says(s, "");
    test_upstream_says(s, GOOD);
    assert_int_equal(ask(s, "", 1), 502);
    assert_int_equal(ask(s, "", 2), 200);
    assert_true(was_asked_at(s, 0, "") && was_asked_at(s, 1, "/two"));
    test_service_free(s);
}

/* A place that may not see the credential is none. */
static void a_credential_bars_places(void **state)
{
    struct test_service *s = service_with_places("");
    (void)state;

    places[0].base_url = "https://api.anthropic.com/v1";
    places[0].path = places[0].base_url + strlen("https://api.anthropic.com");
    test_upstream_says(s, GOOD);
    assert_int_equal(ask(s, "Authorization: Bearer sk-proj-0123456789012345678901234567\r\n", 1),
                     200);
    assert_true(was_asked_at(s, 0, "/two"));
    assert_null(strstr(test_log(s), "\"upstream_left\""));
    test_service_free(s);
}

/* What streams through is not all here any more. */
static void what_was_streamed_stays(void **state)
{
    struct test_service *s = service_with_places("mode: off\n");
    (void)state;

    test_upstream_says(s, TEST_WHOLE("503 Unavailable", "{}"));
    test_upstream_says(s, GOOD);
    struct test_client *c = test_client_new(s);
    test_send(c, "POST " CHAT " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "2\r\n{}\r\n0\r\n\r\n");
    test_until(s, test_is_told(s, 1) && test_is_answered(c));
    assert_int_equal(test_status(c), 503);
    assert_int_equal(s->asked_count, 1);
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_that_fails_is_left),
        cmocka_unit_test(where_it_went_it_stays),
        cmocka_unit_test(it_rests_as_long_as_it_says),
        cmocka_unit_test(each_place_is_asked_once),
        cmocka_unit_test(a_place_that_is_away_is_left),
        cmocka_unit_test(what_was_heard_and_not_answered_is_not_sent_again),
        cmocka_unit_test(a_credential_bars_places),
        cmocka_unit_test(what_was_streamed_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
