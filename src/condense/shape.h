/* shape.h -- what lines have in common that a program printed in a loop.
 *
 * Two lines have the same shape where they differ only in words with digits in them (numbers,
 * times, hashes, names that were counted) and in how much white space stands between words. They
 * have the same outline where, besides, all words but the first may differ: "Compiling a v1" and
 * "Compiling b v2". Both are hashes: two shapes that are taken for one cost a line of context,
 * nothing more.
 */
#ifndef WR_CONDENSE_SHAPE_H
#define WR_CONDENSE_SHAPE_H

#include "condense/keep.h"

uint64_t wr_shape_of(weir_span line);
uint64_t wr_shape_outline_of(weir_span line);

struct wr_shape {
    uint64_t hash;
    uint32_t lines_count, first_line, last_line;
};

struct wr_shapes {
    struct wr_shape *shapes; /* by first line */
    uint32_t count;
    uint32_t *of_line; /* which shape each line has */
};

/* Finds the shapes of the lines of `keep`; in its arena. Failure: that of the arena. */
WEIR_MUST_USE weir_status wr_shapes_find(struct wr_shapes *shapes, const struct wr_keep *keep);

#endif
