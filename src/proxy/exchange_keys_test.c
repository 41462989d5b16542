/* What leaves with a request where Weir holds the upstream's key, and what is refused then. */
#include "proxy/exchange.h"
#include "tests/test_service.h"

#define CHAT  "/v1/chat/completions"
#define BODY  "{\"model\":\"gpt-5\",\"messages\":[]}"
#define TOKEN "0123456789abcdef"
#define HOLDS 4

static struct test_service *service_with_key(const char *key)
{
    struct test_service *s = test_service_new("tokens: [" TOKEN "]\n");
    s->config->upstreams[0].key = key;
    return s;
}

static void credentials_stay_where_they_belong(void **state)
{
    static const struct {
        const char *behaviour, *headers, *path, *key;
        const char *leaves[HOLDS], *stays[HOLDS]; /* of what the upstream is asked */
    } rows[] = {
        {"a key of ours takes the place of the client's",
         "x-weir-token: " TOKEN "\r\nAuthorization: Bearer sk-client\r\nx-api-key: k\r\n",
         CHAT,
         "sk-ours",
         {"\r\nAuthorization: Bearer sk-ours\r\n"},
         {"sk-client", "x-api-key", TOKEN, "x-weir"}},
        {"the token may stand in its place",
         "Authorization: Bearer " TOKEN "\r\n",
         CHAT,
         "sk-ours",
         {"\r\nAuthorization: Bearer sk-ours\r\n"},
         {TOKEN}},
        {"as a parameter too",
         "",
         CHAT "?key=" TOKEN "&a=b",
         "sk-ours",
         {CHAT "?a=b HTTP/1.1\r\n", "Bearer sk-ours"},
         {TOKEN}},
        {"without one of ours the client's goes on",
         "x-weir-token: " TOKEN "\r\nAuthorization: Bearer sk-client\r\n",
         CHAT,
         NULL,
         {"\r\nAuthorization: Bearer sk-client\r\n"},
         {TOKEN, "x-weir"}},
        {"but not a token of ours",
         "x-weir-token: " TOKEN "\r\nx-api-key: " TOKEN "\r\n",
         CHAT,
         NULL,
         {"POST "},
         {TOKEN, "x-api-key"}},
        {"nor the page's cookie",
         "x-weir-token: " TOKEN "\r\nCookie: a=b; weir_token=00\r\n",
         CHAT,
         NULL,
         {"POST "},
         {"Cookie", "weir_token"}},
        {"another's cookie does",
         "x-weir-token: " TOKEN "\r\nCookie: a=b\r\n",
         CHAT,
         NULL,
         {"\r\nCookie: a=b\r\n"},
         {NULL}},
        {"what is of the connection stays",
         "x-weir-token: " TOKEN "\r\nX-Weir-Session: s\r\nTE: trailers\r\nConnection: x-mine\r\n"
         "x-mine: 1\r\nx-other: 2\r\nAccept-Encoding: br\r\n",
         CHAT,
         NULL,
         {"\r\nx-other: 2\r\n", "\r\nAccept-Encoding: br\r\n"},
         {"X-Weir-Session", "x-mine", "localhost"}},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = service_with_key(rows[i].key);
        test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
        struct test_client *c = test_client_post(s, rows[i].path, rows[i].headers, WR_LIT(BODY));
        test_until(s, test_is_answered(c) && test_is_told(s, 1));
        assert_int_equal(test_status(c), 200);
        assert_int_equal(s->asked_count, 1);
        for (size_t w = 0; w < HOLDS; w++)
            if ((rows[i].leaves[w] && !test_has(&s->asked[0], rows[i].leaves[w])) ||
                (rows[i].stays[w] && test_has(&s->asked[0], rows[i].stays[w])))
                fail_msg("%s: %s", rows[i].behaviour, test_text(&s->asked[0]));
        test_service_free(s);
    }
}

/* Several people share one account: only what can be counted and kept apart passes. */
static void a_key_is_shown_where_it_may_be(void **state)
{
    static const struct test_call calls[] = {
        {"files", "GET", "/v1/files", "x-weir-token: " TOKEN "\r\n", "", 403,
         "weir: nothing was sent: Weir holds this upstream's key for several people", NULL},
        {"batches", "POST", "/v1/batches", "x-weir-token: " TOKEN "\r\n", "{}", 403, "other_paths",
         NULL},
        {"nobody", "GET", "/v1/models", "", "", 401, "an access token of weir.yaml", NULL},
        {"models", "GET", "/v1/models", "x-weir-token: " TOKEN "\r\n", "", 200, "[]", NULL},
        {"another's key", "POST", CHAT, "Authorization: Bearer sk-client\r\n", BODY, 401, NULL,
         NULL},
    };
    struct test_service *s = service_with_key("sk-ours");
    (void)state;
    test_upstream_says(s, TEST_WHOLE("200 OK", "[]"));
    test_calls(s, calls, WR_COUNT_OF(calls));
    assert_int_equal(s->asked_count, 1);
    assert_int_equal(atomic_load(&s->metrics->requests_refused), 4);
    test_service_free(s);
}

/* A place of the upstream may have one, too. */
static void a_place_with_a_key_is_one_of_several_people(void **state)
{
    static const struct test_call calls[] = {
        {"files", "GET", "/v1/files", "x-weir-token: " TOKEN "\r\n", "", 403, "nothing was sent",
         NULL},
    };
    struct wr_upstream places[2];
    struct test_service *s = service_with_key(NULL);
    (void)state;
    places[0] = places[1] = s->config->upstreams[0];
    places[1].key = "sk-ours";
    s->config->upstreams[0].places = places;
    s->config->upstreams[0].places_count = 2;
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

/* Another upstream has a key, and this one's is not Weir's to add. */
static void a_token_where_no_key_is_held_is_explained(void **state)
{
    static const struct test_call calls[] = {
        {"in the key's place", "POST", CHAT, "Authorization: Bearer " TOKEN "\r\n", BODY, 401,
         "weir: Weir's token stands where a key of upstream belongs, and Weir has none", NULL},
        {"in its own", "POST", CHAT, "x-weir-token: " TOKEN "\r\n", BODY, 200, "{}", NULL},
    };
    struct test_service *s = service_with_key(NULL);
    (void)state;
    s->config->upstreams[1] = s->config->upstreams[0];
    s->config->upstreams[1].name = "other";
    s->config->upstreams[1].key = "sk-ours";
    s->config->upstreams_count = 2;
    test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credentials_stay_where_they_belong),
        cmocka_unit_test(a_key_is_shown_where_it_may_be),
        cmocka_unit_test(a_place_with_a_key_is_one_of_several_people),
        cmocka_unit_test(a_token_where_no_key_is_held_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
