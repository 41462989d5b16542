/* lines.h -- ranges of lines, and ranges of ranges: what `sed -n '40,80p' | head -5` leaves.
 *
 * A positive number counts lines from the first, a negative one from the last (-1), 0 is not known.
 * A range ends with its file at the latest: 1 to 50 of a short file is all of it.
 */
#ifndef WR_TRANSCRIPT_LINES_H
#define WR_TRANSCRIPT_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct wr_lines {
    int64_t start, end; /* inclusive */
    bool if_long;       /* holds only where the file is long enough for every number in it */
};

/* The lines `slice` of the lines `of`. {0, 0} where that is empty or cannot be told without the
 * file. */
struct wr_lines wr_lines_slice(struct wr_lines of, struct wr_lines slice);

#endif
