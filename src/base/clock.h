/* clock.h -- what time it is. The only place that asks the system.
 *
 * Folders whose results must be the same at any time (everything up to store and session) may not
 * include this: what they need of the time comes in as an argument. tools/lint checks it.
 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The clocks asked for here are there on every system that builds this: a failure would be a
 * program error, and reads as the time 0. */
static inline struct timespec wr_clock_read(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return now;
}

static inline uint64_t wr_clock_us_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* Milliseconds since 1970. May jump. */
static inline int64_t wr_clock_ms(void)
{
    struct timespec now = wr_clock_read(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Microseconds since some moment; never goes back. For waits and for how long something took. */
static inline uint64_t wr_clock_steady_us(void)
{
    return wr_clock_us_of(wr_clock_read(CLOCK_MONOTONIC));
}

/* Microseconds that this thread has computed; waiting for a processor does not count. */
static inline uint64_t wr_clock_thread_us(void)
{
    return wr_clock_us_of(wr_clock_read(CLOCK_THREAD_CPUTIME_ID));
}

/* The moment `ms` from now on the steady clock, as pthread's timed waits want it. */
static inline struct timespec wr_clock_steady_in_ms(uint64_t ms)
{
    struct timespec time = wr_clock_read(CLOCK_MONOTONIC);
    time.tv_sec += (time_t)(ms / 1000);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

#endif
