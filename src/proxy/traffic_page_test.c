/* The page's files, its cookie, what it refuses and how a session is played; what its calls answer
 * is in src/traffic. The child that plays is this program itself. */
#include "proxy/traffic_page.h"

#include "proxy/audit.h"
#include "proxy/what_if.h"
#include "tests/test_file.h"
#include "tests/test_service.h"

#define TRAFFIC "/weir/v1/traffic"

static struct test_service *service_with_page(const char *yaml)
{
    struct test_service *s = test_service_new(yaml);

    s->service.traffic = wr_traffic_page_new(&s->loop, s->config, &s->service);
    assert_non_null(s->service.traffic);
    return s;
}

static void the_paths_are_known(void **state)
{
    static const struct {
        const char *target;
        bool is_it;
    } rows[] = {{"/weir/", true},         {"/weir/app.js?x=1", true}, {TRAFFIC, true},
                {TRAFFIC "?x=1", true},   {TRAFFIC "/live", true},    {TRAFFIC "s", false},
                {"/weir/v1/login", true}, {"/weir/v1/logout", true},  {"/weir/v1/logins", false},
                {"/weir/v1/plan", false}, {"/v1/traffic", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_traffic_page_is(wr_span_of(rows[i].target)) != rows[i].is_it)
            fail_msg("%s", rows[i].target);
}

static void files_are_given_and_nothing_else(void **state)
{
    static const struct test_call calls[] = {
        {"the page", "GET", "/weir/", "", "", 200,
         "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; ", NULL},
        {"its type", "GET", "/weir/style.css", "", "", 200,
         "\r\nContent-Type: text/css; charset=utf-8\r\n", NULL},
        {"without the last slash", "GET", "/weir", "", "", 308, "\r\nLocation: /weir/\r\n", NULL},
        {"it is read", "POST", "/weir/", "", "", 405, "\r\nAllow: GET, HEAD\r\n", "POST"},
        {"and so is what it asks", "POST", TRAFFIC, "", "", 405, "\r\nAllow: GET, HEAD\r\n", NULL},
        {"which is JSON", "GET", TRAFFIC, "", "", 200, "\r\nContent-Type: application/json\r\n",
         "error"},
        {"with a query", "GET", TRAFFIC "/sessions?limit=1", "", "", 200, "\"sessions\":[]", NULL},
        {"and nothing else", "GET", TRAFFIC "/nothing", "", "", 404, "error", NULL},
    };
    struct test_service *s = service_with_page("");
    (void)state;

    test_calls(s, calls, WR_COUNT_OF(calls));
    assert_non_null(wr_traffic_page_models(s->service.traffic));
    test_service_free(s);
}

/* A token becomes a cookie that only the page brings, and is noted. */
static void who_logs_in_gets_a_cookie(void **state)
{
    enum { TOKEN_BYTES = 3000 };
    static char longest[TOKEN_BYTES + 32];
    static const struct test_call calls[] = {
        {"a token", "POST", "/weir/v1/login", "x-weir-token: to~\r\n", "", 204,
         "\r\nSet-Cookie: weir_token=746f7e; Path=/weir/; HttpOnly; SameSite=Strict; "
         "Max-Age=2592000\r\nCache-Control: no-store\r\n",
         NULL},
        {"no more", "POST", "/weir/v1/logout", "x-weir-token: to~\r\n", "", 204,
         "\r\nSet-Cookie: weir_token=; Path=/weir/; HttpOnly; SameSite=Strict; Max-Age=0\r\n",
         NULL},
        {"one that is too long", "POST", "/weir/v1/login", longest, "", 413,
         "weir: the token is too long", "Set-Cookie"},
        {"by POST", "GET", "/weir/v1/login", "x-weir-token: to~\r\n", "", 405,
         "\r\nAllow: POST\r\n", "Set-Cookie"},
        {"to leave, too", "GET", "/weir/v1/logout", "", "", 405, "this path is asked with POST",
         NULL},
    };
    struct test_service *s = service_with_page("");
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf text;
    (void)state;

    (void)snprintf(longest, sizeof(longest), "x-weir-token: %0*d\r\n", TOKEN_BYTES, 7);
    (void)snprintf(path, sizeof(path), "%s/audit", s->dir.path);
    s->service.audit = wr_audit_open(path);
    assert_non_null(s->service.audit);
    test_calls(s, calls, WR_COUNT_OF(calls));
    wr_audit_close(s->service.audit);
    wr_buf_init(&text, TEST_BYTES_MAX);
    assert_true(wr_test_file(path, &text));
    wr_buf_byte(&text, '\0');
    const char *login = strstr(text.bytes, "\"act\":\"login\"");
    if (!login || !strstr(login, "\"act\":\"logout\"") || !strstr(login, "\"tenant\":\"local\""))
        fail_msg("%s", text.bytes);
    wr_buf_release(&text);
    test_service_free(s);
}

static void a_session_is_played(void **state)
{
    static const struct test_call calls[] = {
        {"nothing was", "GET", TRAFFIC "/whatif", "", "", 200,
         "\"is_done\":true,\"done\":0,\"total\":", NULL},
        {"a session that is not there", "POST", TRAFFIC "/whatif", "", "{\"session\":\"nobody\"}",
         404, "\"error\":{", NULL},
        {"none is named", "POST", TRAFFIC "/whatif", "", "{}", 400,
         "the body is {\\\"session\\\": NAME}", NULL},
        {"nor in what is no JSON", "POST", TRAFFIC "/whatif", "", "{", 400, "the body is {", NULL},
        {"one that is there", "POST", TRAFFIC "/whatif?x=1", "", "{\"session\":\"weir:s1\"}", 200,
         "{\"session\":\"weir:s1\",\"is_done\":false,\"done\":0,", "\"error\":{"},
        {"how far it is", "GET", TRAFFIC "/whatif", "", "", 200, "\"session\":\"weir:s1\"", NULL},
        {"one at a time", "POST", TRAFFIC "/whatif", "", "{\"session\":\"weir:s1\"}", 409,
         "\"error\":{", NULL},
        {"by these", "PUT", TRAFFIC "/whatif", "", "{}", 405, "\r\nAllow: GET, HEAD, POST\r\n",
         NULL},
    };
    static const struct test_call without[] = {
        {"no store", "GET", TRAFFIC "/whatif", "", "", 404,
         "weir: this server has no store: nothing can be played", NULL},
        {"nor to play", "POST", TRAFFIC "/whatif", "", "{\"session\":\"weir:s1\"}", 404,
         "this server has no store", NULL},
        {"nor to show", "GET", TRAFFIC, "", "", 404, "this server has no store: nothing is kept",
         NULL},
    };
    struct test_service *s = service_with_page("");
    (void)state;

    test_session(s, "s1");
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
    s = service_with_page(TEST_NO_STORE);
    test_calls(s, without, WR_COUNT_OF(without));
    test_service_free(s);
}

/* The longest name that is looked for, and one more. */
static void a_name_may_be_so_long(void **state)
{
    static char names[2][WR_WHAT_IF_BYTES + 32];
    struct test_service *s = service_with_page("");
    struct test_call calls[] = {
        {"the longest", "POST", TRAFFIC "/whatif", "", names[0], 404, "\"error\":{", "the body is"},
        {"one more", "POST", TRAFFIC "/whatif", "", names[1], 400, "the body is {", NULL},
    };
    (void)state;

    for (int more = 0; more < 2; more++)
        (void)snprintf(names[more], sizeof(names[more]), "{\"session\":\"%0*d\"}",
                       WR_WHAT_IF_BYTES - 1 + more, 7);
    test_calls(s, calls, WR_COUNT_OF(calls));
    test_service_free(s);
}

static void the_page_is_told_how_the_server_is(void **state)
{
    static const struct test_call well[] = {
        {"well", "GET", TRAFFIC, "", "", 200, "\"mode\":\"active\"", NULL},
        {"it plays", "GET", TRAFFIC, "", "", 200, "\"whatif\":true", NULL},
    };
    static const struct test_call ill[] = {
        {"its store", "GET", TRAFFIC, "", "", 200, "there is no room left", NULL},
    };
    static const struct test_call bare[] = {
        {"only originals are kept", "GET", TRAFFIC, "", "", 200, "\"whatif\":false", NULL},
    };
    struct test_service *s = service_with_page("");
    (void)state;

    test_calls(s, well, WR_COUNT_OF(well));
    atomic_store(&s->metrics->store_trouble, (uint64_t)WEIR_TROUBLE_FULL);
    test_calls(s, ill, WR_COUNT_OF(ill));
    test_service_free(s);
    s = service_with_page("keep: originals\n");
    test_calls(s, bare, WR_COUNT_OF(bare));
    test_service_free(s);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paths_are_known),
        cmocka_unit_test(files_are_given_and_nothing_else),
        cmocka_unit_test(who_logs_in_gets_a_cookie),
        cmocka_unit_test(a_session_is_played),
        cmocka_unit_test(a_name_may_be_so_long),
        cmocka_unit_test(the_page_is_told_how_the_server_is),
    };
    if (count > 1 && !strcmp(words[1], "simulate"))
        return pause();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
