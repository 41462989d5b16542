#include "proxy/pages.h"

#include "tests/test_service.h"

enum { WORDS_MAX = 5 };

static const char two[] = "upstreams:\n  openai: {base_url: \"https://api.openai.com/v1\"}\n"
                          "  anthropic: {base_url: \"https://api.anthropic.com\"}\n";

/* What stands behind the head of its answer, on a connection that ends then. */
static const char *ask(struct test_service *s, const char *line, const char *headers, int *status)
{
    char all[512];
    (void)snprintf(all, sizeof(all), "%sConnection: close\r\n", headers);
    struct test_client *c = test_client_ask(s, line, all);
    test_until(s, c->has_ended);
    *status = test_status(c);
    return test_text(&c->got);
}

static void each_path_of_our_own_has_its_page(void **state)
{
    static const struct {
        const char *behaviour, *line, *headers;
        int status;
        const char *words[WORDS_MAX];
    } cases[] = {
        {"it lives", "GET /healthz", "", 200, {"\r\n\r\nok\n", "text/plain"}},
        {"it is ready", "GET /readyz?x=1", "", 200, {"\r\n\r\nok\n"}},
        {"what it is told",
         "GET /weir/v1/health",
         "",
         200,
         {"{\"status\":\"ok\",\"version\":\"", "\"mode\":\"active\",\"policy\":\"small\"",
          "\"store\":\"ok\",\"mode_said\":false,\"policy_said\":false,\"uptime_s\":",
          "\"requests\":0}\n", "application/json"}},
        {"what it has counted",
         "GET /metrics",
         "",
         200,
         {"text/plain; version=0.0.4", "weir_requests_refused_total"}},
        {"a HEAD", "HEAD /healthz", "", 200, {"\r\n\r\n"}},
        {"a path that is read is not written to",
         "DELETE /metrics",
         "",
         405,
         {"Allow: GET, HEAD\r\n", "{\"error\":{\"type\":", "\"weir: this path is read with GET\""}},
        {"a path that is none",
         "GET /weir/v1/nothing",
         "",
         404,
         {"\"weir: there is nothing at this path; Weir's own are"}},
        {"another protocol",
         "GET /v1/responses",
         "Upgrade: websocket\r\nConnection: Upgrade\r\n",
         426,
         {"WebSockets are not spoken here; set "}},
        {"a page that may not ask",
         "GET /healthz",
         "Origin: https://evil.example\r\n",
         403,
         {"\"error\""}},
    };
    struct test_service *s = test_service_new("");
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        int status;
        const char *got = ask(s, cases[i].line, cases[i].headers, &status);
        for (size_t w = 0; w < WORDS_MAX && cases[i].words[w]; w++)
            if (status != cases[i].status || !strstr(got, cases[i].words[w]))
                fail_msg("%s: %s", cases[i].behaviour, got);
    }
    assert_int_equal(atomic_load(&s->metrics->requests_refused), 2); /* of those at the door */
    assert_int_equal(s->asked_count, 0);
    test_service_free(s);
}

static void who_is_ready_says_so_of_its_store(void **state)
{
    static const struct {
        const char *behaviour, *yaml;
        bool is_draining;
        weir_trouble trouble;
        int status;
        const char *ready, *health[2];
    } cases[] = {
        {"all is well", "", false, WEIR_TROUBLE_NONE, 200, "ok\n", {"\"store\":\"ok\""}},
        {"nobody asked for a store",
         TEST_NO_STORE,
         false,
         WEIR_TROUBLE_NONE,
         200,
         "ok\n",
         {"\"store\":\"none\""}},
        {"its store is full",
         "",
         false,
         WEIR_TROUBLE_FULL,
         503,
         "store: there is no room left; nothing new is shortened\n",
         {"\"store\":\"there is no room left\"", "\"status\":\"ok\""}},
        {"it is about to end",
         "",
         true,
         WEIR_TROUBLE_FULL,
         503,
         "draining\n",
         {"\"status\":\"draining\""}},
        {"what was typed is said",
         "mode: shadow\n",
         false,
         WEIR_TROUBLE_NONE,
         200,
         "ok\n",
         {"\"mode\":\"shadow\""}},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new(cases[i].yaml);
        int ready, status;
        s->service.is_draining = cases[i].is_draining;
        atomic_store(&s->metrics->store_trouble, (uint64_t)cases[i].trouble);
        const char *got = ask(s, "GET /readyz", "", &ready);
        if (ready != cases[i].status || !strstr(got, cases[i].ready))
            fail_msg("%s: %s", cases[i].behaviour, got);
        got = ask(s, "GET /weir/v1/health", "", &status);
        for (size_t w = 0; w < 2 && cases[i].health[w]; w++)
            if (!strstr(got, cases[i].health[w]))
                fail_msg("%s: %s", cases[i].behaviour, got);
        (void)ask(s, "GET /healthz", "", &status);
        assert_int_equal(status, 200); /* it lives all the same */
        test_service_free(s);
    }
}

static void who_is_ready_reaches_its_upstreams(void **state)
{
    static const struct {
        const char *behaviour, *down[2], *reached; /* names; NULL: none */
        int status;
        const char *words;
    } cases[] = {
        {"all are reached", {NULL}, "openai", 200, "\r\n\r\nok\n"},
        {"one of two is not",
         {"openai"},
         "anthropic",
         200,
         "\r\n\r\nupstream openai: not reached for "},
        {"the one that was asked is not",
         {"openai"},
         NULL,
         503,
         "upstream openai: not reached for 7 s\n"},
        {"none is", {"openai", "anthropic"}, NULL, 503, " s\nupstream anthropic: not reached for "},
        {"nobody knows it", {"elsewhere"}, NULL, 200, "\r\n\r\nok\n"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new(two);
        struct wr_upstream_states *states = &s->metrics->upstreams;
        int status;
        for (size_t d = 0; d < 2 && cases[i].down[d]; d++)
            for (int tries = 0; tries < WR_UPSTREAM_TRIES_MIN; tries++)
                wr_upstream_state_note(states, cases[i].down[d], false, wr_clock_ms() - 7200);
        if (cases[i].reached)
            wr_upstream_state_note(states, cases[i].reached, true, 0);
        const char *got = ask(s, "GET /readyz", "", &status);
        if (status != cases[i].status || !strstr(got, cases[i].words))
            fail_msg("%s: %s", cases[i].behaviour, got);
        test_service_free(s);
    }
}

static void the_root_says_what_this_is(void **state)
{
    struct test_service *s = test_service_new(two);
    int status;
    (void)state;
    s->config->has_one_upstream = false;
    const char *got = ask(s, "GET /", "", &status);
    assert_int_equal(status, 200);
    assert_non_null(strstr(got, ": a gateway between agents and their models."));
    test_service_free(s);
}

static void who_has_no_upstream_is_told_which_there_are(void **state)
{
    static const struct {
        const char *behaviour, *line, *headers, *words;
    } cases[] = {
        {"a name that nobody has", "GET /p/nobody/v1/models", "",
         "no upstream is configured for this path; /p/NAME/ goes to one of upstream, openai, "
         "anthropic\""},
        {"a credential of somebody else", "GET /p/openai/v1/models",
         "Authorization: Bearer sk-ant-api03-0123456789abcdef0123456789\r\n",
         "is a credential for anthropic, and this path leads to an upstream of another. Ask for "
         "/p/anthropic/ instead; /p/NAME/ goes to one of"},
        {"one of whom nobody here is", "GET /p/openai/v1/models",
         "Authorization: Bearer gsk_0123456789abcdef0123456789abcdef0123456789abcdef0123\r\n",
         "Name one in weir.yaml, `upstreams: {groq: {base_url: "},
    };
    struct test_service *s = test_service_new(two);
    (void)state;
    s->config->has_one_upstream = false;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        int status;
        const char *got = ask(s, cases[i].line, cases[i].headers, &status);
        if (status != 404 || !strstr(got, cases[i].words))
            fail_msg("%s: %s", cases[i].behaviour, got);
    }
    assert_int_equal(atomic_load(&s->metrics->requests_refused), WR_COUNT_OF(cases));
    test_service_free(s);
}

static void how_an_upstream_failed_has_a_status_and_a_name(void **state)
{
    static const struct {
        enum wr_fetch_result result;
        int status;
        const char *end;
    } cases[] = {
        {WR_FETCH_UNREACHABLE, 502, "upstream_unreachable"},
        {WR_FETCH_TIMEOUT, 504, "upstream_timeout"},
        {WR_FETCH_UNANSWERED, 502, "upstream_unanswered"},
        {WR_FETCH_STALE, 502, "upstream_unreachable"},
        {WR_FETCH_UNFIT, 502, "upstream_unfit"},
        {WR_FETCH_NO_FD, 503, "no_descriptor"},
        {WR_FETCH_BROKEN, 502, "upstream_broke_off"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_page_failure failure = wr_page_failure(cases[i].result);
        assert_int_equal(failure.status, cases[i].status);
        assert_string_equal(failure.end, cases[i].end);
    }
}

static void our_paths_are_known_by_their_front(void **state)
{
    static const struct {
        const char *target;
        bool is_ours;
    } cases[] = {
        {"/metrics", true},
        {"/metrics?x=1", true},
        {"/metricsx", false},
        {"/healthz", true},
        {"/readyz", true},
        {"/weir/v1/health", true},
        {"/weir/v1/", true},
        {"/weir/v1", true},
        {"/weir/v2/health", true},
        {"/weird", false},
        {"/v1/models?/metrics", false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_page_is_ours(wr_span_of(cases[i].target)) != cases[i].is_ours)
            fail_msg("%s", cases[i].target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_of_our_own_has_its_page),
        cmocka_unit_test(who_is_ready_says_so_of_its_store),
        cmocka_unit_test(who_is_ready_reaches_its_upstreams),
        cmocka_unit_test(the_root_says_what_this_is),
        cmocka_unit_test(who_has_no_upstream_is_told_which_there_are),
        cmocka_unit_test(how_an_upstream_failed_has_a_status_and_a_name),
        cmocka_unit_test(our_paths_are_known_by_their_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
