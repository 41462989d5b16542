#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pipe's end tells when all who could write have ended. */
static void a_child_ends_with_its_parent(void **state)
{
    int alive[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(alive), 0);
    pid_t parent = fork();
    if (!parent) {
        pid_t self = getpid();
        if (!fork()) {
            byte = wr_parent_watch(self, SIGKILL) ? 'y' : 'n';
            if (write(alive[1], &byte, 1) != 1)
                _exit(1);
            for (;;)
                (void)pause();
        }
        for (;;)
            (void)pause();
    }
    (void)close(alive[1]);
    assert_int_equal(read(alive[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_int_equal(read(alive[0], &byte, 1), 0);
    (void)close(alive[0]);
}

static void a_parent_that_is_gone_is_told(void **state)
{
    (void)state;
    assert_false(wr_parent_watch(getpid(), 0)); /* nobody is the parent of himself */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_ends_with_its_parent),
                                       cmocka_unit_test(a_parent_that_is_gone_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
