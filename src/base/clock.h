/* clock.h -- what time it is. The only place that asks the system.
 *
 * Folders whose results must be the same at any time (everything up to store and session) may not
 * include this: what they need of the time comes in as an argument. tools/lint checks it.
 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since 1970. May jump. */
int64_t wr_clock_ms(void);

/* Microseconds since some moment; never goes back. For waits and for how long something took. */
uint64_t wr_clock_steady_us(void);

/* Microseconds that this thread has computed; waiting for a processor does not count. */
uint64_t wr_clock_thread_us(void);

/* The moment `ms` from now on the steady clock, as pthread's timed waits want it. */
struct timespec wr_clock_steady_in_ms(uint64_t ms);

#endif
