#include "base/clock.h"

/* The clocks asked for here are there on every system that builds this: a failure would be a
 * program error, and reads as the time 0. */
static struct timespec read_clock(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return now;
}

static uint64_t us_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

int64_t wr_clock_ms(void)
{
    struct timespec now = read_clock(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t wr_clock_steady_us(void)
{
    return us_of(read_clock(CLOCK_MONOTONIC));
}

uint64_t wr_clock_thread_us(void)
{
    return us_of(read_clock(CLOCK_THREAD_CPUTIME_ID));
}

struct timespec wr_clock_steady_in_ms(uint64_t ms)
{
    struct timespec time = read_clock(CLOCK_MONOTONIC);
    time.tv_sec += (time_t)(ms / 1000);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}
