/* Two requests of a conversation, and what the second says of the provider's cache. */
#include "proxy/quality_watch.h"

#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define USED(prompt, cached)                                                                      \
    TEST_WHOLE("200 OK",                                                                          \
               "{\"id\":\"a\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"finish_reason\":"   \
               "\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"}}],\"usage\":{"    \
               "\"prompt_tokens\":" prompt ",\"completion_tokens\":5,\"prompt_tokens_details\":{" \
               "\"cached_tokens\":" cached "}}}")
#define UNUSED TEST_WHOLE("200 OK", "{\"id\":\"a\",\"choices\":[]}")

enum { RESULTS = 6, LINES = 100, WORDS_MAX = 3 };

static const char session[] = "session_id: s-1\r\n";

/* Sends it, and waits until all is told. */
static void play(struct test_service *s, const char *path, const char *headers, weir_span body,
                 const char *says)
{
    size_t told_count = s->service.requests_count + 1;
    s->says_count = s->asked_count;
    test_upstream_says(s, says);
    struct test_client *c = test_client_post(s, path, headers, body);
    test_until(s, test_is_told(s, told_count) && test_is_answered(c));
    test_leave(c);
}

static void play_chat(struct test_service *s, const char *model, size_t results, size_t lines,
                      const char *headers, const char *says)
{
    struct wr_buf body;
    test_chat(&body, model, results, lines);
    play(s, CHAT, headers, wr_buf_view(&body), says);
    wr_buf_release(&body);
}

/* The last line of the log. */
static const char *last_line(struct test_service *s)
{
    const char *log = test_log(s), *line = log;
    for (const char *at = log; (at = strchr(at, '\n')) && at[1]; at++)
        line = at + 1;
    return line;
}

static const struct {
    const char *behaviour, *first_says, *model;
    size_t results, lines;
    const char *headers, *says;
    const char *words[WORDS_MAX], *not_there;
} rows[] = {
    {"it goes on, and what was sent is read from the cache",
     USED("11000", "0"),
     "gpt-5",
     RESULTS + 1,
     LINES,
     session,
     USED("13000", "10880"),
     {"\"cache_expected_tokens\":10880"},
     "bust"},
    {"it goes on, and nothing is: that is the provider's",
     USED("11000", "0"),
     "gpt-5",
     RESULTS + 1,
     LINES,
     session,
     USED("13000", "0"),
     {"\"cache_expected_tokens\":10880", "\"cache_bust_tokens\":10880",
      "\"cache_bust_cause\":\"provider\""},
     NULL},
    {"its agent has changed what it sent",
     USED("11000", "0"),
     "gpt-5",
     RESULTS + 1,
     LINES - 1,
     session,
     USED("13000", "0"),
     {"\"cache_bust_cause\":\"host\"", "\"cache_bust_at\":\""},
     NULL},
    {"another model has another cache",
     USED("11000", "0"),
     "gpt-4o",
     RESULTS + 1,
     LINES,
     session,
     USED("13000", "0"),
     {"\"cache_bust_cause\":\"model\""},
     NULL},
    {"what was said of the first is not known",
     UNUSED,
     "gpt-5",
     RESULTS + 1,
     LINES,
     session,
     USED("13000", "0"),
     {"\"usage_input_tokens\":13000"},
     "cache_expected"},
    {"what was said of this one is not",
     USED("11000", "0"),
     "gpt-5",
     RESULTS + 1,
     LINES,
     session,
     UNUSED,
     {"\"usage_known\":false"},
     "bust"},
    {"what was refused has left nothing",
     TEST_WHOLE("429 Slow", "{\"error\":{}}"),
     "gpt-5",
     RESULTS + 1,
     LINES,
     session,
     USED("13000", "0"),
     {"\"usage_input_tokens\":13000"},
     "cache_expected"},
    {"another session has nothing to do with it",
     USED("11000", "0"),
     "gpt-5",
     RESULTS + 1,
     LINES,
     "session_id: s-2\r\n",
     USED("13000", "0"),
     {"\"usage_input_tokens\":13000"},
     "cache_expected"},
};

static void what_was_not_read_from_a_cache_is_somebodys(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WR_COUNT_OF(rows); i++) {
        size_t r = i / 2;
        bool is_other_process = i % 2;
        struct test_service *s = test_service_new("mode: meter\n");
        play_chat(s, "gpt-5", RESULTS, LINES, session, rows[r].first_says);
        if (is_other_process)
            s = test_service_again(s, "mode: meter\n");
        play_chat(s, rows[r].model, rows[r].results, rows[r].lines, rows[r].headers, rows[r].says);
        const char *line = last_line(s);
        for (size_t w = 0; w < WORDS_MAX && rows[r].words[w]; w++)
            if (!strstr(line, rows[r].words[w]))
                fail_msg("%s%s: %s is not in %s", rows[r].behaviour,
                         is_other_process ? ", in another process" : "", rows[r].words[w], line);
        if (rows[r].not_there && strstr(line, rows[r].not_there))
            fail_msg("%s: %s is in %s", rows[r].behaviour, rows[r].not_there, line);
        test_service_free(s);
    }
}

static void a_step_of_ours_is_ours(void **state)
{
    struct test_service *s = test_service_new("policy: tight\n");
    (void)state;
    play_chat(s, "gpt-5", RESULTS, LINES, session, USED("11000", "0"));
    play_chat(s, "gpt-5", RESULTS + 1, LINES, "session_id: s-1\r\nx-weir-policy: small\r\n",
              USED("9000", "0"));
    if (!strstr(last_line(s), "\"cache_bust_cause\":\"weir\""))
        fail_msg("%s", last_line(s));
    test_service_free(s);
}

static void what_was_expected_and_lost_is_counted(void **state)
{
    struct test_service *s = test_service_new("mode: meter\n");
    (void)state;
    play_chat(s, "gpt-5", RESULTS, LINES, session, USED("11000", "0"));
    play_chat(s, "gpt-5", RESULTS + 1, LINES, session, USED("13000", "1024"));
    assert_int_equal(atomic_load(&s->metrics->cache_judged), 1);
    assert_int_equal(atomic_load(&s->metrics->cache_expected_tokens), 10880);
    assert_int_equal(atomic_load(&s->metrics->busts[WR_BUST_PROVIDER]), 1);
    assert_int_equal(atomic_load(&s->metrics->bust_tokens[WR_BUST_PROVIDER]), 10880 - 1024);
    assert_int_equal(atomic_load(&s->metrics->usage_input_tokens), 24000);
    assert_int_equal(atomic_load(&s->metrics->usage_cache_read_tokens), 1024);
    test_service_free(s);
}

/* ---- where the provider holds the history ---- */

#define ANSWER(id, input, cached)                                                               \
    TEST_WHOLE("200 OK",                                                                        \
               "{\"id\":\"" id "\",\"object\":\"response\",\"status\":\"completed\",\"model\":" \
               "\"gpt-5\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":" \
               "\"read_file\",\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":" input        \
               ",\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":" cached "}}}")
#define FIRST(more)                             \
    "{\"model\":\"gpt-5\",\"store\":true," more \
    "\"input\":[{\"role\":\"user\",\"content\":\"Find it.\"}]}"
#define NEXT(id, more)                                                           \
    "{\"model\":\"gpt-5\",\"store\":true," more "\"previous_response_id\":\"" id \
    "\",\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"x\"}]}"

static void who_goes_on_from_an_answer_is_judged_by_it(void **state)
{
    static const struct {
        const char *behaviour, *body, *says, *words[WORDS_MAX];
    } cases[] = {
        {"read from the cache",
         NEXT("r1", ""),
         ANSWER("r2", "5200", "4992"),
         {"\"cache_expected_tokens\":", "\"delta\":true"}},
        {"not read",
         NEXT("r1", ""),
         ANSWER("r2", "5200", "0"),
         {"\"cache_bust_cause\":\"provider\""}},
        {"other instructions",
         NEXT("r1", "\"instructions\":\"Do.\","),
         ANSWER("r2", "5200", "0"),
         {"\"cache_bust_cause\":\"host\""}},
        {"an answer that nobody knows",
         NEXT("r9", ""),
         ANSWER("r2", "5200", "0"),
         {"\"cache_not_judged\":\"previous_answer_unknown\""}},
        {"without usage",
         NEXT("r1", ""),
         TEST_WHOLE("200 OK", "{\"id\":\"r2\",\"status\":\"completed\",\"output\":[]}"),
         {"\"cache_not_judged\":\"usage_unknown\""}},
    };
    (void)state;
    for (size_t i = 0; i < 2 * WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("mode: meter\n");
        play(s, "/v1/responses", "", WR_LIT(FIRST("")), ANSWER("r1", "5000", "0"));
        if (i % 2)
            s = test_service_again(s, "mode: meter\n");
        play(s, "/v1/responses", "", wr_span_of(cases[i / 2].body), cases[i / 2].says);
        for (size_t w = 0; w < WORDS_MAX && cases[i / 2].words[w]; w++)
            if (!strstr(last_line(s), cases[i / 2].words[w]))
                fail_msg("%s%s: %s is not in %s", cases[i / 2].behaviour,
                         i % 2 ? ", in another process" : "", cases[i / 2].words[w], last_line(s));
        test_service_free(s);
    }
}

static void without_usage_of_the_one_before_nothing_is_expected(void **state)
{
    struct test_service *s = test_service_new("mode: meter\n");
    (void)state;
    play(s, "/v1/responses", "", WR_LIT(FIRST("")),
         TEST_WHOLE("200 OK", "{\"id\":\"r1\",\"status\":\"completed\",\"output\":[]}"));
    play(s, "/v1/responses", "", WR_LIT(NEXT("r1", "")), ANSWER("r2", "5200", "0"));
    assert_non_null(strstr(last_line(s), "\"cache_not_judged\":\"previous_usage_unknown\""));
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_read_from_a_cache_is_somebodys),
        cmocka_unit_test(a_step_of_ours_is_ours),
        cmocka_unit_test(what_was_expected_and_lost_is_counted),
        cmocka_unit_test(who_goes_on_from_an_answer_is_judged_by_it),
        cmocka_unit_test(without_usage_of_the_one_before_nothing_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
