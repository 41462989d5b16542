#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static void time_goes_on(void **state)
{
    (void)state;
    int64_t ms = wr_clock_ms();
    assert_true(ms > 1577836800000);  /* 2020: milliseconds, not seconds */
    assert_true(ms < 32503680000000); /* 3000: nor microseconds */
    assert_true(ms / 1000 - (int64_t)time(NULL) <= 1);
    uint64_t steady = wr_clock_steady_us(), own = wr_clock_thread_us();
    while (wr_clock_thread_us() - own < 2000)
        ;
    /* A thread cannot work for longer than time has passed; a tick of rounding aside. */
    assert_true(wr_clock_steady_us() - steady + 1 >= 2000);
}

static void a_moment_ahead_is_that_far_ahead(void **state)
{
    static const uint64_t ahead_ms[] = {0, 1, 999, 1000, 1001, 86400000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ahead_ms); i++) {
        uint64_t before = wr_clock_steady_us();
        struct timespec then = wr_clock_steady_in_ms(ahead_ms[i]);
        uint64_t after = wr_clock_steady_us();
        uint64_t then_us = (uint64_t)then.tv_sec * 1000000 + (uint64_t)then.tv_nsec / 1000;
        assert_true(then.tv_nsec >= 0 && then.tv_nsec < 1000000000);
        assert_true(then_us >= before + ahead_ms[i] * 1000);
        assert_true(then_us <= after + ahead_ms[i] * 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_goes_on),
                                       cmocka_unit_test(a_moment_ahead_is_that_far_ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
