#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE_BYTES = 2 * 1024 * 1024 };

struct wr_pages wr_pages_new(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * LARGE_PAGE_BYTES)
        return (struct wr_pages){NULL, NULL};
    /* The system gives a block of this size zeroed and untouched. Nobody ever touches what lies
     * outside the large pages, so it costs addresses and no memory. */
    char *held = calloc(1, bytes + 2 * LARGE_PAGE_BYTES);
    if (!held)
        return (struct wr_pages){NULL, NULL};
    char *memory = held + (LARGE_PAGE_BYTES - (uintptr_t)held % LARGE_PAGE_BYTES);
#if defined(MADV_HUGEPAGE)
    /* Advice only: without large pages everything still works. */
    (void)madvise(memory, (bytes + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES,
                  MADV_HUGEPAGE);
#endif
    return (struct wr_pages){memory, held};
}

void wr_pages_free(struct wr_pages pages)
{
    free(pages.held);
}
