/* pages.h -- a large block of zeroed memory that is read at random.
 *
 * Where the system has large pages the block asks for them: a hash table of megabytes then costs
 * fewer faults to fill. Elsewhere it is plain memory.
 */
#ifndef WR_BASE_PAGES_H
#define WR_BASE_PAGES_H

#include <stddef.h>

struct wr_pages {
    void *memory; /* aligned for any type; NULL on failure */
    void *held;   /* owned: what the memory is a part of */
};

struct wr_pages wr_pages_new(size_t bytes);
void wr_pages_free(struct wr_pages pages); /* NULL is fine */

#endif
