/* numbered.h -- line numbers that tools print before the lines of a file.
 *
 * "   12→text", "12\ttext", "12: text", "12:text", "  12 | text", "L12: text". A text is taken to
 * be numbered where two lines that follow one another near its front have numbers that do so too.
 */
#ifndef WR_CONDENSE_NUMBERED_H
#define WR_CONDENSE_NUMBERED_H

#include <stdbool.h>

#include "base/buf.h"

struct wr_numbered {
    weir_span separator; /* between number and text; empty: there are no numbers */
};

struct wr_numbered wr_numbered_detect(weir_span text);

/* Bytes before the text of `line`: 0 where it has no number. `number` may be NULL. */
size_t wr_numbered_skip(const struct wr_numbered *numbered, weir_span line, uint64_t *number);

/* Whether a tool has numbered the lines of the text, and not the file's writer: numbers that stand
 * behind an arrow, blanks or a nought, or before a line without text. */
bool wr_numbered_by_tool(const struct wr_numbered *numbered, weir_span text);

/* The number before a line, taken apart; sizes in bytes, `len` of all of it, 0: there is none. */
struct wr_number_before {
    uint64_t number;
    size_t blanks, digits, separator_len, len;
    bool has_letter, has_nought;
};

/* Goes through a text line by line, and says how many bytes of the number before each a reader can
 * count from the lines above and below; 0: it stays. It does so at every `every`th line, at the
 * first and the last of a run of numbers, where it does not follow from the number above as a tool
 * would print it, and where the line's own text begins like a number. So numbers that are left out
 * can be put back, byte for byte. */
struct wr_numbered_walk {
    struct wr_numbered numbered;
    weir_span rest, line; /* `line` is the one below */
    struct wr_number_before here, below;
    uint32_t every;
    bool goes_on;
};

void wr_numbered_walk_init(struct wr_numbered_walk *walk, const struct wr_numbered *numbered,
                           weir_span text, uint32_t every);
bool wr_numbered_walk_next(struct wr_numbered_walk *walk, weir_span *line, size_t *left);

/* Appends `text` without those, and returns how many they are; 0: nothing is left out. */
uint32_t wr_numbered_thin(struct wr_buf *out, weir_span text, uint32_t every);

#endif
