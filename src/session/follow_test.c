#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "session/follow.h"
#include "tests/test_agent.h"

struct seen {
    uint64_t count, last_seq;
    char last[64];
};

static weir_status see(void *user, const struct wr_event *event, weir_span line)
{
    struct seen *seen = user;
    (void)line;
    seen->count++;
    seen->last_seq = event->seq;
    (void)snprintf(seen->last, sizeof(seen->last), "%.*s", (int)event->text.len, event->text.ptr);
    return WEIR_OK;
}

/* What comes is seen when it is whole: half a line is not, and one that is taken back never was. */
static void events_are_seen_as_they_come(void **state)
{
    struct test_agent agent;
    struct wr_follow follow;
    struct seen seen = {0};
    char path[256];
    (void)state;

    test_agent_init(&agent);
    assert_int_equal(wr_follow_open(&follow, agent.dir, see, &seen, &agent.err), WEIR_NOTFOUND);
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    test_agent_say(&agent, "one");
    TEST_OK(&agent, wr_follow_open(&follow, agent.dir, see, &seen, &agent.err));
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "one");
    uint64_t before = seen.count;
    test_agent_say(&agent, "two");
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "two");
    assert_int_equal(seen.count, before + 1);
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_int_equal(seen.count, before + 1);
    test_agent_close(&agent);

    (void)snprintf(path, sizeof(path), "%s/events.jsonl", agent.dir);
    int fd = open(path, O_WRONLY | O_APPEND);
    struct stat whole;
    assert_int_equal(fstat(fd, &whole), 0);
    assert_int_equal(write(fd, "{\"seq\":9", 8), 8); /* a writer that is killed here */
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_int_equal(seen.count, before + 1);
    (void)close(fd);
    test_agent_open(&agent, "model: {name: gpt-5}\n"); /* puts it aside */
    test_agent_say(&agent, "three");
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "three");
    assert_int_equal(seen.last_seq, weir_session_last_event(agent.session));
    wr_follow_close(&follow);
    test_agent_release(&agent);
}

/* Nobody who keeps to the rules does that; whoever watches is told, and does not wait for ever. */
static void a_journal_that_was_cut_is_told(void **state)
{
    struct test_agent agent;
    struct wr_follow follow;
    struct seen seen = {0};
    char path[256];
    (void)state;

    test_agent_init(&agent);
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    test_agent_say(&agent, "one");
    TEST_OK(&agent, wr_follow_open(&follow, agent.dir, see, &seen, &agent.err));
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    (void)snprintf(path, sizeof(path), "%s/events.jsonl", agent.dir);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(wr_follow_read(&follow, &agent.err), WEIR_SYNTAX);
    assert_has(wr_span_of(agent.err.text), "shorter than what was read of it");
    assert_string_equal(seen.last, "one");
    wr_follow_close(&follow);
    test_agent_release(&agent);
}

/* The second process is told who the first one is; when that is killed the session is free. */
static void who_has_a_session_open_is_known(void **state)
{
    struct test_agent agent;
    int ready[2];
    pid_t pid;
    char byte, number[32];
    (void)state;

    test_agent_init(&agent);
    assert_false(wr_journal_is_held(agent.dir, &pid));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        test_agent_open(&agent, "model: {name: gpt-5}\n");
        (void)!write(ready[1], "r", 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(wr_journal_is_held(agent.dir, &pid));
    assert_int_equal(pid, child);
    assert_int_equal(test_agent_try_open(&agent, ""), WEIR_IO);
    (void)snprintf(number, sizeof(number), "session open (%d)", (int)child);
    assert_has(wr_span_of(agent.err.text), number);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(wr_journal_is_held(agent.dir, &pid));
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    (void)close(ready[0]);
    (void)close(ready[1]);
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_seen_as_they_come),
        cmocka_unit_test(a_journal_that_was_cut_is_told),
        cmocka_unit_test(who_has_a_session_open_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
