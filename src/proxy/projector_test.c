/* What becomes of a request on a projector's thread, by what was decided and asked for; how
 * exchanges and threads meet is in exchange_test.c and exchange_states_test.c. */
#include "proxy/projector.h"

#include <dirent.h>

#include "tests/test_service.h"

#define CHAT  "/v1/chat/completions"
#define GOOD  TEST_WHOLE("200 OK", "{\"choices\":[]}")
#define HOLDS 5

/* Sends it, and waits until it is told. */
static void play(struct test_service *s, const char *headers, size_t results, size_t told)
{
    struct wr_buf body;

    test_chat(&body, "gpt-5", results, 100);
    test_upstream_says(s, GOOD);
    struct test_client *c = test_client_post(s, CHAT, headers, wr_buf_view(&body));
    test_until(s, test_is_told(s, told) && test_is_answered(c));
    assert_int_equal(test_status(c), 200);
    wr_buf_release(&body);
}

static const char *last_line(struct test_service *s)
{
    const char *log = test_log(s), *line = log;
    for (const char *at = log; (at = strchr(at, '\n')) && at[1]; at++)
        line = at + 1;
    return line;
}

static void each_is_projected_as_it_was_decided(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *headers;
        bool leaves_whole;
        const char *holds[HOLDS], *lacks;
    } rows[] = {
        {"active",
         "",
         "x-weir-session: a\r\n",
         false,
         {"\"session\":\"weir:a\"", "\"policy\":\"small\"", "\"changed\":true",
          "\"held_back\":null", "\"not_read\":null"},
         "shadow_"},
        {"a session by its first words",
         "",
         "",
         false,
         {"\"session\":\"hash:", "\"changed\":true"},
         NULL},
        {"a policy that the request asks for",
         "",
         "x-weir-policy: tight\r\n",
         true,
         {"\"policy\":\"tight\"", "\"changed\":false"},
         NULL},
        {"one that is not there",
         "",
         "x-weir-policy: nosuch\r\n",
         true,
         {"\"not_read\":\"no_such_policy\""},
         NULL},
        {"counted",
         "mode: meter\n",
         "",
         true,
         {"\"rollout_mode\":\"meter\"", "\"policy\":\"exact\"", "\"changed\":false",
          "\"estimated_tokens_before\":28"},
         "artifact_hash_failures"},
        {"shadowed",
         "mode: shadow\n",
         "",
         true,
         {"\"shadow_policy\":\"small\"", "\"shadow_changed\":true",
          "\"estimated_tokens_before\":28"},
         "\"changed\":true,\"step"},
        {"exact",
         "",
         "x-weir-mode: exact\r\n",
         true,
         {"\"rollout_reason\":\"exact\"", "\"policy\":\"exact\"", "\"changed\":false"},
         NULL},
        {"without a store nothing leaves",
         TEST_NO_STORE,
         "",
         true,
         {"\"policy\":\"exact\"", "\"changed\":false", "\"held_back\":null"},
         NULL},
        {"a rule of its own",
         "rollout: [{model: gpt-5, mode: active, policy: tight}]\n",
         "",
         true,
         {"\"policy\":\"tight\""},
         NULL},
        {"a tool that is left alone",
         "rollout: [{tool: read_file, mode: off}]\n",
         "",
         true,
         {"\"policy\":\"small\"", "\"changed\":false"},
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        struct wr_buf body;
        play(s, rows[i].headers, 3, 1);
        test_chat(&body, "gpt-5", 3, 100);
        const char *log = last_line(s);
        bool is_whole = wr_span_eq(test_asked(s, 0), wr_buf_view(&body));
        bool is_right = is_whole == rows[i].leaves_whole;
        for (size_t w = 0; w < HOLDS && rows[i].holds[w]; w++)
            is_right = is_right && strstr(log, rows[i].holds[w]);
        if (!is_right || (rows[i].lacks && strstr(log, rows[i].lacks)))
            fail_msg("%s: %s", rows[i].behaviour, log);
        wr_buf_release(&body);
        test_service_free(s);
    }
}

/* What is asked of one request by its header is the session's from then on. */
static void a_session_keeps_the_policy_that_was_asked_for(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;

    play(s, "x-weir-session: a\r\nx-weir-policy: tight\r\n", 2, 1);
    assert_non_null(strstr(last_line(s), "\"policy\":\"tight\""));
    play(s, "x-weir-session: a\r\n", 3, 2);
    assert_non_null(strstr(last_line(s), "\"policy\":\"tight\""));
    play(s, "x-weir-session: b\r\n", 3, 3);
    assert_non_null(strstr(last_line(s), "\"policy\":\"small\""));
    s = test_service_again(s, "");
    play(s, "x-weir-session: a\r\n", 4, 1);
    assert_non_null(strstr(last_line(s), "\"policy\":\"tight\""));
    test_service_free(s);
}

static size_t count_files(const char *dir)
{
    DIR *files = opendir(dir);
    size_t count = 0;

    for (struct dirent *at; files && (at = readdir(files));)
        count += strstr(at->d_name, ".came.json") || strstr(at->d_name, ".made.json") ||
                 strstr(at->d_name, ".report.json");
    if (files)
        (void)closedir(files);
    return count;
}

static void shadow_is_kept_where_somebody_asked_for_it(void **state)
{
    static const struct {
        const char *yaml, *headers;
        bool has_dir;
        size_t files;
    } rows[] = {{"mode: shadow\n", "", true, 3},
                {"mode: shadow\n", "", false, 0},
                {"mode: shadow\n", "x-weir-policy: tight\r\n", true, 0}, /* it changed nothing */
                {"", "", true, 0}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        if (rows[i].has_dir)
            s->config->shadow_dir = s->dir.path;
        play(s, rows[i].headers, 3, 1);
        assert_int_equal(count_files(s->dir.path), rows[i].files);
        test_service_free(s);
    }
}

static void what_is_no_request_passes_unread(void **state)
{
    static const char *const bodies[] = {"{}", "[]", "{\"messages\":", "x"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(bodies); i++) {
        struct test_service *s = test_service_new("");
        test_upstream_says(s, GOOD);
        struct test_client *c = test_client_post(s, CHAT, "", wr_span_of(bodies[i]));
        test_until(s, test_is_told(s, 1) && test_is_answered(c));
        assert_true(wr_span_is(test_asked(s, 0), bodies[i]));
        if (!strstr(last_line(s), "\"not_read\":\"not_a_request\""))
            fail_msg("%s: %s", bodies[i], last_line(s));
        assert_int_equal(atomic_load(&s->metrics->requests_unread), 1);
        test_service_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_projected_as_it_was_decided),
        cmocka_unit_test(a_session_keeps_the_policy_that_was_asked_for),
        cmocka_unit_test(shadow_is_kept_where_somebody_asked_for_it),
        cmocka_unit_test(what_is_no_request_passes_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
