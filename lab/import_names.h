/* import_names.h -- texts numbered in the order they first came: ids of messages, entries, calls.
 *
 * Borrowed texts, numbers without gaps, constant time. Private to the importers.
 */
#ifndef WR_LAB_IMPORT_NAMES_H
#define WR_LAB_IMPORT_NAMES_H

#include <stdbool.h>

#include "base/hash.h"

#define WR_NAMES_NONE UINT32_MAX

struct wr_names {
    weir_span *items;
    uint32_t *values; /* what the caller knows of each; 0 at first */
    uint32_t count, cap;
    struct wr_index index;
};

/* The number of `text`, which is new where `*is_new` says so. NONE: no memory. */
uint32_t wr_names_add(struct wr_names *names, struct wr_arena *arena, weir_span text, bool *is_new);

/* The number of `text`, or NONE. */
uint32_t wr_names_find(const struct wr_names *names, weir_span text);

#endif
