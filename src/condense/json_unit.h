/* json_unit.h -- JSON on one line, with a line for each of its parts.
 *
 * The elements and members of every container of more than WR_UNIT_BYTES_MAX are units; so are the
 * openings and ends of those containers. Smaller containers stay in one piece. A line end is put
 * before each unit and nothing else is changed: the text means the same, and a unit is a line that
 * can be kept or left out.
 */
#ifndef WR_CONDENSE_JSON_UNIT_H
#define WR_CONDENSE_JSON_UNIT_H

#include <stdbool.h>

#include "base/arena.h"

enum { WR_UNIT_BYTES_MAX = 200 };

struct wr_units {
    weir_span text;    /* in the arena; ends in a line end */
    uint16_t *indents; /* how deep each unit stands */
    uint32_t count;
};

/* For what is no JSON from end to end, as where a client cut it: a unit ends behind "}," before the
 * next record. All stand outermost. */
WEIR_MUST_USE weir_status wr_units_split(struct wr_units *units, struct wr_arena *arena,
                                         weir_span line);

/* Fails with WEIR_SYNTAX where `line` is not JSON from end to end, WEIR_LIMIT or WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_units_read(struct wr_units *units, struct wr_arena *arena,
                                        weir_span line);

#endif
