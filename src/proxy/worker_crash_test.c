#include "proxy/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

/* A worker that dies with a body in its hands, and another that it has finished. */
static void die_with(struct wr_crash_table *table, uint64_t body, uint64_t finished)
{
    pid_t pid = fork();
    if (!pid) {
        int note;
        (void)wr_crash_enter(table, getpid(), finished, &note);
        wr_crash_leave(table, note);
        (void)wr_crash_enter(table, getpid(), body, &note);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
    assert_int_equal(wr_crash_blame(table, pid), 1);
}

static void a_body_in_two_crashes_is_left_alone(void **state)
{
    struct wr_crash_table *table = wr_crash_table_new();
    int note;
    (void)state;
    assert_non_null(table);
    die_with(table, 100, 200);
    assert_true(wr_crash_enter(table, getpid(), 100, &note)); /* once may be chance */
    wr_crash_leave(table, note);
    die_with(table, 100, 200);
    assert_false(wr_crash_enter(table, getpid(), 100, &note));
    assert_true(wr_crash_enter(table, getpid(), 200, &note));
    wr_crash_leave(table, note);
    assert_int_equal(wr_crash_blame(table, getpid()), 0);
}

static void many_at_once_are_no_failure(void **state)
{
    struct wr_crash_table *table = wr_crash_table_new();
    int note;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++)
        assert_true(wr_crash_enter(table, getpid(), i * 2, &note));
    wr_crash_leave(table, note);
    assert_true(wr_crash_enter(NULL, getpid(), 1, &note));
    wr_crash_leave(NULL, note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_body_in_two_crashes_is_left_alone),
                                       cmocka_unit_test(many_at_once_are_no_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
