/* outline.h -- the definitions of a file, found line by line.
 *
 * Not a parser: a definition is a line that looks like one in its language, and what stands inside
 * it is what is indented further. That is enough to name what a file holds and where, at the speed
 * of reading it, and it works on parts of files and on files that do not compile.
 * 1. The language comes from the path's suffix, else from a look at the text; where both fail, what
 *    most languages share is sought.
 * 2. Numbers that a tool printed before the lines are passed over.
 * 3. Items are in the order of the lines, at most one a line.
 * 4. Time is linear in the text.
 */
#ifndef WR_CONDENSE_OUTLINE_H
#define WR_CONDENSE_OUTLINE_H

#include "base/arena.h"
#include "condense/definition.h"

struct wr_outline_item {
    uint32_t line, end; /* its first line from 0, and the line behind what it holds */
    uint16_t depth;     /* items it stands in */
    enum wr_definition_kind kind;
    weir_span name; /* in the text; may be empty */
};

struct wr_outline {
    const struct wr_language *language;
    struct wr_outline_item *items; /* in the arena */
    uint32_t count;
};

/* `path` may be empty. Failure: that of the arena. */
WEIR_MUST_USE weir_status wr_outline_read(struct wr_outline *outline, struct wr_arena *arena,
                                          weir_span text, weir_span path);

#endif
