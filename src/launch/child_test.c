#include "launch/child.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

enum { WAIT_S = 60 };

/* What wr_child_run() gives in a process that got SIGCHLD as `inherited`; -1: it never came back.
 */
static int run_in_child(void (*inherited)(int), const char *script)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
        struct wr_plan plan = {.argv = argv};
        (void)signal(SIGCHLD, inherited);
        (void)alarm(WAIT_S);
        wr_child_prepare();
        _exit(wr_child_run("/bin/sh", &plan));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void status_is_the_childs(void **state)
{
    static const struct {
        const char *behaviour;
        void (*inherited)(int);
        const char *script;
        int status;
    } cases[] = {
        {"its exit status", SIG_DFL, "exit 3", 3},
        {"128 and the signal that ended it", SIG_DFL, "kill -9 $$", 128 + 9},
        {"also where whoever started us ignores the ends of children", SIG_IGN, "exit 3", 3},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        int status = run_in_child(cases[i].inherited, cases[i].script);
        if (status != cases[i].status)
            fail_msg("%s: %d, wanted %d", cases[i].behaviour, status, cases[i].status);
    }
}

static void what_cannot_be_run_says_why(void **state)
{
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    assert_non_null(wr_child_find(&arena, "sh"));
    errno = 0;
    assert_null(wr_child_find(&arena, "/tmp")); /* a folder may be entered, not run */
    assert_int_equal(errno, EACCES);
    assert_null(wr_child_find(&arena, "/no/such/program"));
    assert_int_equal(errno, ENOENT);
    assert_null(wr_child_find(&arena, "no-such-program"));
    assert_int_equal(errno, ENOENT);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(status_is_the_childs),
                                       cmocka_unit_test(what_cannot_be_run_says_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
