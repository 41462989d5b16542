#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* ---- process env ---- */

static const struct {
    const char *behaviour, *entry;
    bool is_allowed;
} env_rows[] = {
    {"programs are found", "PATH=/bin", true},
    {"a family by its beginning", "LC_ALL=C.UTF-8", true},
    {"but no longer name of a single one", "PATHS=/bin", false},
    {"nor a shorter one", "PAT=/bin", false},
    {"a provider's key", "OPENAI_API_KEY=sk-1", false},
    {"a token", "GITHUB_TOKEN=ghp_1", false},
    {"a key that nobody has heard of", "ACME_BUILD=s3cr3t", false},
    {"a cloud's secret", "AWS_SECRET_ACCESS_KEY=x", false},
    {"an agent that signs", "SSH_AUTH_SOCK=/run/x", false},
    {"a proxy", "https_proxy=http://proxy:3128", true},
    {"a proxy with a password", "https_proxy=http://me:word@proxy:3128", false},
    {"and without the scheme", "HTTPS_PROXY=me:word@proxy:3128", false},
    {"no variable", "PATH", false},
};

static void only_what_is_on_the_list_is_passed(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(env_rows); i++)
        if (wr_process_env_allows(env_rows[i].entry) != env_rows[i].is_allowed)
            fail_msg("%s", env_rows[i].behaviour);
}

static void the_rest_is_taken_out_in_place(void **state)
{
    char path[] = "PATH=/bin", key[] = "X_KEY=1", home[] = "HOME=/h";
    char *entries[] = {key, path, key, home, NULL};
    (void)state;
    wr_process_env_filter(entries);
    assert_ptr_equal(entries[0], path);
    assert_ptr_equal(entries[1], home);
    assert_null(entries[2]);
}

static void what_proc_shows_is_wiped(void **state)
{
    char path[] = "PATH=/bin", key[] = "X_KEY=1", base[] = "OPENAI_BASE_URL=http://h/v1";
    char *entries[] = {path, key, base, NULL};
    (void)state;
    wr_process_env_hide(entries);
    assert_string_equal(key, "");
    assert_string_equal(entries[1], "X_KEY=1"); /* the process has it still */
    assert_ptr_equal(entries[0], path);
    assert_ptr_equal(entries[2], base);
    free(entries[1]);
}

/* ---- process ---- */

enum { LONG_MS = 60 * 1000 };

static int set_up(void **state)
{
    *state = wr_processes_new("/", NULL, NULL);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    wr_processes_free(*state);
    return 0;
}

static uint64_t start(struct wr_processes *p, const char *command)
{
    uint64_t id = 0;
    assert_null(wr_process_start(p, command, &id));
    return id;
}

static void read_all(struct wr_processes *p, uint64_t id, struct wr_buf *out)
{
    wr_buf_init(out, 100000);
    wr_process_output(p, id, 0, 100000, out);
}

static void commands_end_with_a_code(void **state)
{
    static const struct {
        const char *behaviour, *command;
        enum wr_process_state state;
        int code;
        const char *output;
    } rows[] = {
        {"both channels, in order", "echo a; echo b >&2; exit 3", WR_PROCESS_EXITED, 3, "a\nb\n"},
        {"a signal", "kill -9 $$", WR_PROCESS_KILLED, 9, ""},
        {"there is no input", "cat; echo end", WR_PROCESS_EXITED, 0, "end\n"},
        {"nor a terminal", "[ -t 0 ] || [ -t 1 ] || echo none", WR_PROCESS_EXITED, 0, "none\n"},
        {"a command that is none", "exec /nonexistent/x 2>/dev/null", WR_PROCESS_EXITED, 127, ""},
    };
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_process_status status;
        struct wr_buf output;
        uint64_t id = start(*state, rows[i].command);
        assert_true(wr_process_wait(*state, id, LONG_MS, NULL, &status));
        read_all(*state, id, &output);
        if (status.state != rows[i].state || status.code != rows[i].code ||
            !wr_span_is(wr_buf_view(&output), rows[i].output))
            fail_msg("%s: state %d, code %d, output %.*s", rows[i].behaviour, (int)status.state,
                     status.code, (int)output.len, output.bytes);
        wr_buf_release(&output);
    }
}

/* A store, a journal and sockets are none of a command's business. */
static void commands_get_no_files_of_ours(void **state)
{
    struct wr_process_status status;
    struct wr_buf output;
    int leak = fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 50); /* not close-on-exec */

    assert_true(leak >= 50);
    uint64_t id = start(*state, "exec ls /proc/self/fd"); /* whose own is 3 */
    assert_true(wr_process_wait(*state, id, LONG_MS, NULL, &status));
    read_all(*state, id, &output);
    assert_true(wr_span_is(wr_buf_view(&output), "0\n1\n2\n3\n"));
    wr_buf_release(&output);
    (void)close(leak);
}

static pid_t read_pid(struct wr_processes *p, uint64_t id)
{
    struct wr_process_status status;
    struct wr_buf output;
    uint64_t number = 0, cursor = 0;

    assert_true(wr_process_wait(p, id, LONG_MS, &cursor, &status));
    read_all(p, id, &output);
    assert_true(wr_span_u64(wr_span_trim(wr_buf_view(&output)), &number));
    wr_buf_release(&output);
    return (pid_t)number;
}

/* Somebody else reaps it, soon. */
static void expect_gone(pid_t pid)
{
    for (int i = 0; i < 6000 && !kill(pid, 0); i++) {
        char path[64], line[256] = "";
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "r");
        bool is_zombie = file && fgets(line, sizeof(line), file) && strstr(line, ") Z ");
        if (file)
            (void)fclose(file);
        if (is_zombie)
            return;
        (void)usleep(10 * 1000);
    }
    assert_int_equal(kill(pid, 0) ? errno : 0, ESRCH);
}

static void what_is_left_in_the_background_ends_with_the_session(void **state)
{
    struct wr_processes *p = wr_processes_new("/", NULL, NULL);
    struct wr_process_status status;
    (void)state;

    assert_non_null(p);
    pid_t pid = read_pid(p, start(p, "sleep 600 >/dev/null 2>&1 & echo $!"));
    assert_true(wr_process_wait(p, 1, LONG_MS, NULL, &status));
    assert_int_equal(status.state, WR_PROCESS_EXITED);
    assert_int_equal(kill(pid, 0), 0);
    wr_processes_free(p);
    expect_gone(pid);
}

static void what_leaves_its_group_ends_with_the_session(void **state)
{
    struct wr_processes *p = wr_processes_new("/", NULL, NULL);
    char mark[64];
    (void)state;

    assert_non_null(p);
    (void)snprintf(mark, sizeof(mark), "process_test.%d", (int)getpid());
    assert_int_equal(wr_processes_mark(p, mark), 0);
    pid_t pid = read_pid(p, start(p, "setsid sh -c 'echo $$; exec sleep 600' & exec sleep 600"));
    assert_int_equal(kill(pid, 0), 0);
    wr_processes_free(p);
    expect_gone(pid);
}

/* One that leaves group, session and environment, and its parents too. */
static const char daemon_command[] =
    "(setsid env -i sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &) ; exec sleep 600";

static void what_throws_its_environment_away_ends_too(void **state)
{
    struct wr_processes *p = wr_processes_new("/", NULL, NULL);
    struct wr_process_status status;
    (void)state;

    assert_non_null(p);
    pid_t pid = read_pid(p, start(p, daemon_command));
    assert_int_equal(kill(pid, 0), 0);
    assert_true(wr_process_stop(p, 1, &status)); /* the call's own commands */
    assert_int_equal(kill(pid, 0), 0);           /* this one lives as long as the session */
    wr_processes_free(p);
    expect_gone(pid);
}

/* Nobody opens the session again: they end all the same. */
static void what_a_killed_agent_started_ends_by_itself(void **state)
{
    int pipe_of[2];
    pid_t left = 0;
    (void)state;

    assert_int_equal(pipe(pipe_of), 0);
    pid_t agent = fork();
    if (agent == 0) {
        struct wr_processes *p = wr_processes_new("/", NULL, NULL);
        pid_t pid = read_pid(p, start(p, daemon_command));
        (void)!write(pipe_of[1], &pid, sizeof(pid));
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(pipe_of[0], &left, sizeof(left)), sizeof(left));
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    expect_gone(left);
    (void)close(pipe_of[0]);
    (void)close(pipe_of[1]);
}

/* Agent and keeper were killed: nobody ends the commands, the next one with their mark does. */
static void what_a_killed_agent_left_is_found_and_ended(void **state)
{
    char mark[64];
    int pipe_of[2];
    pid_t left = 0;
    (void)state;

    (void)snprintf(mark, sizeof(mark), "process_test.killed.%d", (int)getpid());
    assert_int_equal(pipe(pipe_of), 0);
    pid_t agent = fork();
    if (agent == 0) {
        struct wr_processes *p = wr_processes_new("/", NULL, NULL);
        (void)wr_processes_mark(p, mark);
        pid_t pid =
            read_pid(p, start(p, "setsid sh -c 'echo $$; kill -9 '$PPID'; exec sleep 600' & "
                                 "exec sleep 600"));
        (void)!write(pipe_of[1], &pid, sizeof(pid));
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(pipe_of[0], &left, sizeof(left)), sizeof(left));
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    assert_int_equal(kill(left, 0), 0);
    struct wr_processes *next = wr_processes_new("/", NULL, NULL);
    assert_non_null(next);
    assert_true(wr_processes_mark(next, mark) >= 1);
    expect_gone(left);
    wr_processes_free(next);
    (void)close(pipe_of[0]);
    (void)close(pipe_of[1]);
}

static void a_stubborn_command_is_killed(void **state)
{
    struct wr_process_status status;
    uint64_t id = start(*state, "trap '' TERM; echo ready; while :; do sleep 1; done");
    uint64_t cursor = 0;

    assert_true(wr_process_wait(*state, id, LONG_MS, &cursor, &status));
    assert_true(wr_process_stop(*state, id, &status));
    assert_int_equal(status.state, WR_PROCESS_KILLED);
    assert_int_equal(status.code, SIGKILL);
    assert_true(wr_process_stop(*state, id, &status)); /* again changes nothing */
    assert_int_equal(status.code, SIGKILL);
    assert_false(wr_process_stop(*state, 99, &status));
}

/* The agent waits for another command meanwhile, or for its user. */
static void what_prints_without_end_is_ended_also_where_nobody_looks(void **state)
{
    struct wr_process_status status;

    wr_processes_limit_output(*state, 1000 * 1000);
    uint64_t id = start(*state, "echo $$; sleep 1; while echo more of the same; do :; done");
    expect_gone(read_pid(*state, id));
    /* Gone it is a moment before the one who started it has told how. */
    assert_true(wr_process_wait(*state, id, LONG_MS, NULL, &status));
    assert_true(status.is_too_long && status.state == WR_PROCESS_KILLED);
}

/* A session that works for days starts more commands than anybody counts. */
static void ended_commands_make_room_for_new_ones(void **state)
{
    struct wr_process_status status;
    uint64_t asleep = start(*state, "exec sleep 600"), id = 0;

    for (uint64_t i = 0; i < WR_AGENT_PROCESSES_MAX + 5; i++) {
        id = start(*state, ":");
        assert_int_equal(id, asleep + 1 + i); /* a number is never given twice */
        assert_true(wr_process_wait(*state, id, LONG_MS, NULL, &status));
        assert_int_equal(status.state, WR_PROCESS_EXITED);
    }
    assert_false(wr_process_look(*state, asleep + 1, &status)); /* the oldest that had ended */
    assert_true(wr_process_look(*state, asleep, &status));
    assert_int_equal(status.state, WR_PROCESS_RUNNING);
    assert_true(wr_process_look(*state, id - 1, &status));
}

static bool yes(void *user)
{
    (*(int *)user)++;
    return true;
}

static void a_wait_can_be_interrupted(void **state)
{
    int asked = 0;
    struct wr_processes *p = wr_processes_new("/", yes, &asked);
    struct wr_process_status status;
    (void)state;

    assert_non_null(p);
    assert_true(wr_process_wait(p, start(p, "exec sleep 600"), LONG_MS, NULL, &status));
    assert_int_equal(status.state, WR_PROCESS_RUNNING);
    assert_int_equal(asked, 1);
    wr_processes_free(p);
}

/* Of the environment commands get what is on a list; a key with any name is not. */
static void commands_do_not_get_the_users_keys(void **state)
{
    static const char command[] = "echo \"$OPENAI_API_KEY,$ANTHROPIC_API_KEY,$ACME_TOKEN,$TZ\"";
    struct wr_process_status status;
    struct wr_buf output;

    assert_int_equal(setenv("OPENAI_API_KEY", "sk-1", 1), 0);
    assert_int_equal(setenv("ANTHROPIC_API_KEY", "sk-2", 1), 0);
    assert_int_equal(setenv("ACME_TOKEN", "t", 1), 0);
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    for (int passes = 0; passes < 2; passes++) {
        if (passes)
            wr_processes_pass_keys(*state);
        uint64_t id = start(*state, command);
        assert_true(wr_process_wait(*state, id, LONG_MS, NULL, &status));
        read_all(*state, id, &output);
        assert_true(wr_span_is(wr_buf_view(&output), passes ? "sk-1,sk-2,t,UTC\n" : ",,,UTC\n"));
        wr_buf_release(&output);
    }
    assert_string_equal(getenv("OPENAI_API_KEY"), "sk-1"); /* the agent has it still */
    (void)unsetenv("OPENAI_API_KEY");
    (void)unsetenv("ANTHROPIC_API_KEY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_on_the_list_is_passed),
        cmocka_unit_test(the_rest_is_taken_out_in_place),
        cmocka_unit_test(what_proc_shows_is_wiped),
        cmocka_unit_test_setup_teardown(commands_end_with_a_code, set_up, tear_down),
        cmocka_unit_test_setup_teardown(commands_get_no_files_of_ours, set_up, tear_down),
        cmocka_unit_test(what_is_left_in_the_background_ends_with_the_session),
        cmocka_unit_test(what_leaves_its_group_ends_with_the_session),
        cmocka_unit_test(what_throws_its_environment_away_ends_too),
        cmocka_unit_test(what_a_killed_agent_started_ends_by_itself),
        cmocka_unit_test(what_a_killed_agent_left_is_found_and_ended),
        cmocka_unit_test_setup_teardown(a_stubborn_command_is_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_prints_without_end_is_ended_also_where_nobody_looks,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(ended_commands_make_room_for_new_ones, set_up, tear_down),
        cmocka_unit_test(a_wait_can_be_interrupted),
        cmocka_unit_test_setup_teardown(commands_do_not_get_the_users_keys, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
