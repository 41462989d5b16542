/* store_kill.h -- a writer that is killed while it commits, again and again, on one store.
 *
 * A child commits batch after batch and says the number of each through a pipe, but only once the
 * commit has returned. Its SQLite runs on a VFS that raises SIGKILL at the n-th operation on a file
 * (write, sync, truncate, delete, lock): before it, after it, or in the middle of a write. What was
 * said must be there, byte for byte; what was not must be there whole or not at all.
 */
#ifndef TESTS_STORE_KILL_H
#define TESTS_STORE_KILL_H

#include <stdbool.h>
#include <stdint.h>

struct store_kill_report {
    uint32_t kills;           /* children that were killed */
    uint32_t kills_by_way[3]; /* before, after, in the middle */
    uint32_t ends;            /* children that came to their end first */
    uint64_t batches;         /* promised */
    uint64_t handles;         /* recalled and compared */
    uint64_t marks;           /* read and compared */
    char problem[256];        /* empty: all promises were kept */
};

/* Runs until `kills` children were killed. False: report->problem says what was not kept. */
bool store_kill_run(uint32_t kills, uint32_t seed, struct store_kill_report *report);

#endif
