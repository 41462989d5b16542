#include "agent/agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_agent.h"

/* ---- a large result ---- */

static void fill(struct wr_buf *result, size_t bytes)
{
    wr_buf_init(result, WR_AGENT_FILE_BYTES_MAX);
    while (result->len < bytes)
        wr_buf_byte(result, result->len % 10 == 9 ? '\n' : 'x');
}

static void a_large_result_is_a_file_that_its_end_names(void **state)
{
    char dir[] = "/tmp/weir-large-XXXXXX", path[200], command[100];
    struct wr_buf result;
    struct stat info;
    (void)state;
    assert_non_null(mkdtemp(dir));
    fill(&result, WR_AGENT_LARGE_RESULT_BYTES);
    wr_large_result_keep(dir, WR_LIT("../call/1"), &result);
    (void)snprintf(path, sizeof(path), "%s/large_tool_results/___call_1.txt", dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, WR_AGENT_LARGE_RESULT_BYTES);
    assert_true(wr_span_has(wr_buf_view(&result), wr_span_of(path)));
    assert_true(wr_span_ends(wr_buf_view(&result), WR_LIT("; read_file pages it]")));
    wr_buf_release(&result);
    (void)snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void others_stay_as_they_are(void **state)
{
    struct wr_buf result;
    (void)state;
    fill(&result, WR_AGENT_LARGE_RESULT_BYTES - 1);
    wr_large_result_keep("/tmp", WR_LIT("c1"), &result);
    assert_int_equal(result.len, WR_AGENT_LARGE_RESULT_BYTES - 1);
    wr_buf_byte(&result, 'x');
    wr_large_result_keep("/nowhere/at/all", WR_LIT("c1"), &result);
    assert_int_equal(result.len, WR_AGENT_LARGE_RESULT_BYTES);
    wr_buf_release(&result);
}

/* ---- agent ---- */

/* Somebody who watches and counts, answers questions with `consent`, and has had enough after so
 * many results. */
struct watcher {
    enum wr_consent consent;
    size_t results_max;
    size_t calls, asked, results, errors, notices;
    struct wr_buf last; /* result */
    struct wr_buf diff; /* of the last question */
};

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    (void)user;
    (void)kind;
    (void)text;
}

static void on_call(void *user, const struct weir_call *call, weir_span line)
{
    struct watcher *w = user;
    (void)call;
    (void)line;
    w->calls++;
}

static void on_result(void *user, const struct weir_call *call, weir_span text, bool is_error)
{
    struct watcher *w = user;
    (void)call;
    w->results++;
    w->errors += is_error;
    wr_buf_reset(&w->last);
    wr_buf_append(&w->last, text);
}

static enum wr_consent on_consent(void *user, const struct weir_call *call,
                                  const struct wr_consent_asked *asked)
{
    struct watcher *w = user;
    (void)call;
    w->asked++;
    wr_buf_reset(&w->diff);
    wr_buf_append(&w->diff, asked->diff);
    return w->consent;
}

static void on_notice(void *user, const char *text)
{
    struct watcher *w = user;
    (void)text;
    w->notices++;
}

static void on_turn(void *user, const struct weir_session_turn *turn)
{
    (void)user;
    (void)turn;
    fail_msg("nothing is to be asked here");
}

static bool on_steering(void *user, struct wr_buf *line)
{
    (void)user;
    (void)line;
    return false;
}

static bool has_had_enough(void *user)
{
    const struct watcher *w = user;
    return w->results >= w->results_max;
}

struct bench {
    struct test_agent session;
    struct watcher watcher;
    struct wr_view view;
    struct wr_agent agent;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    test_agent_init(&b->session);
    b->session.now_ms = wr_clock_ms();
    test_agent_open(&b->session, "model: {name: gpt-4o-mini}\n");
    wr_buf_init(&b->watcher.last, 100000);
    wr_buf_init(&b->watcher.diff, 100000);
    b->view = (struct wr_view){.user = &b->watcher,
                               .piece = on_piece,
                               .call = on_call,
                               .result = on_result,
                               .consent = on_consent,
                               .notice = on_notice,
                               .turn = on_turn,
                               .steering = on_steering};
    b->agent = (struct wr_agent){.session = b->session.session,
                                 .name = "n",
                                 .toolbox = {.root = b->session.root},
                                 .view = &b->view,
                                 .interrupt = has_had_enough,
                                 .interrupt_user = &b->watcher};
    test_agent_say(&b->session, "go");
    (void)test_agent_request(&b->session, WEIR_DIALECT_CHAT);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    wr_buf_release(&b->watcher.last);
    wr_buf_release(&b->watcher.diff);
    test_agent_release(&b->session);
    free(b);
    return 0;
}

static void answer(struct bench *b, const char *const *names, size_t count)
{
    struct weir_call calls[4];
    static const char *const ids[] = {"c0", "c1", "c2", "c3"};

    for (size_t i = 0; i < count; i++)
        calls[i] = (struct weir_call){wr_span_of(ids[i]), wr_span_of(names[i]),
                                      WR_LIT("{\"path\":\"x\",\"content\":\"y\"}")};
    struct weir_answer said = {.calls = calls, .calls_count = count};
    TEST_OK(&b->session,
            weir_session_answer(b->session.session, &said, ++b->session.now_ms, &b->session.err));
}

static bool is_written(const struct bench *b)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/x", b->session.root);
    return !access(path, F_OK);
}

static void calls_that_change_something_ask_first(void **state)
{
    static const char *const names[] = {"write", "write", "list", "nonsense"};
    struct bench *b = *state;

    answer(b, names, 4);
    b->watcher.results_max = 4;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_int_equal(b->watcher.asked, 2);
    assert_int_equal(b->watcher.results, 4);
    assert_false(is_written(b));
}

static void always_asks_once(void **state)
{
    static const char *const names[] = {"write", "write"};
    struct bench *b = *state;

    answer(b, names, 2);
    b->watcher.results_max = 2;
    b->watcher.consent = WR_CONSENT_ALWAYS;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_int_equal(b->watcher.asked, 1);
    assert_int_equal(b->watcher.errors, 0);
    assert_true(is_written(b));
}

static void always_is_for_the_tool_that_was_asked_about(void **state)
{
    static const char *const names[] = {"write", "edit", "write"};
    struct bench *b = *state;

    answer(b, names, 3);
    b->watcher.results_max = 3;
    b->watcher.consent = WR_CONSENT_ALWAYS;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_int_equal(b->watcher.asked, 2);
    assert_int_equal(b->agent.grants.count, 2);
}

static void a_question_shows_what_would_change(void **state)
{
    static const char *const names[] = {"write"};
    struct bench *b = *state;

    answer(b, names, 1);
    b->watcher.results_max = 1;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_true(wr_span_is(wr_buf_view(&b->watcher.diff), "@@ line 1 @@\n+y\n"));
    assert_false(is_written(b));
}

/* As a process leaves it that was killed at work. */
static void a_call_that_was_running_is_not_done_again(void **state)
{
    static const char *const names[] = {"write", "list"};
    struct bench *b = *state;

    answer(b, names, 2);
    TEST_OK(&b->session, weir_session_begin_call(b->session.session, WR_LIT("c0"),
                                                 ++b->session.now_ms, &b->session.err));
    test_agent_close(&b->session);
    test_agent_open(&b->session, "model: {name: gpt-4o-mini}\n");
    b->agent.session = b->session.session;
    b->agent.needs_no_consent = true;
    b->watcher.results_max = 1;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_has(wr_buf_view(&b->watcher.last),
               "was running when the session ended; its outcome is unknown");
    assert_false(is_written(b));
    b->watcher.results_max = 0;
}

static void an_interruption_closes_what_was_not_done(void **state)
{
    static const char *const names[] = {"list", "list", "list"};
    const struct weir_call *pending;
    struct bench *b = *state;

    answer(b, names, 3);
    b->watcher.results_max = 1;
    assert_int_equal(wr_agent_work(&b->agent, (weir_span){"", 0}), WR_WORKED_INTERRUPTED);
    assert_int_equal(b->watcher.calls, 1);
    assert_int_equal(weir_session_pending(b->session.session, &pending), 0);
}

/* A command whose result cannot be kept must not be run again and again. */
static void a_full_disk_ends_the_work(void **state)
{
    static const char *const names[] = {"list", "list"};
    struct rlimit before, none;
    struct bench *b = *state;

    answer(b, names, 2);
    b->watcher.results_max = 100;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 1; /* every write fails */
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    enum wr_worked worked = wr_agent_work(&b->agent, (weir_span){"", 0});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(worked, WR_WORKED_FAILED);
    assert_int_equal(b->watcher.calls, 1);
    assert_true(b->watcher.notices > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_result_is_a_file_that_its_end_names),
        cmocka_unit_test(others_stay_as_they_are),
        CASE(calls_that_change_something_ask_first),
        CASE(always_asks_once),
        CASE(calls_that_change_something_ask_first),
        CASE(a_call_that_was_running_is_not_done_again),
        CASE(always_is_for_the_tool_that_was_asked_about),
        CASE(a_question_shows_what_would_change),
        CASE(an_interruption_closes_what_was_not_done),
        CASE(a_full_disk_ends_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
