/* record_row.h -- the line of a request (docs/telemetry.md): a sink of the record, and its inverse.
 *
 * The line is what the log has, and what the row of its session in the store holds. One table names
 * each member and its place in the record; writing and reading both go by it, so what one process
 * writes another reads back into the same struct.
 *
 * 1. Reading what was written gives the record again, as far as the line tells of it: no lists.
 * 2. What an older line does not say is as wr_record_init() leaves it; what is no such value, or is
 *    not known here, is passed over.
 */
#ifndef WR_ENGINE_RECORD_ROW_H
#define WR_ENGINE_RECORD_ROW_H

#include "engine/record.h"
#include "json/json.h"
#include "json/write.h"

/* Appends one line, LF included. */
void wr_row_write(const struct wr_record *record, struct wr_buf *out);

/* Reads the line in `doc`, which is an object. Words point into its text, escapes and all. */
void wr_row_read(const struct wr_json *doc, struct wr_record *record);

/* The same of a line that is not parsed yet; what is needed for that is in `arena`, which is
 * emptied. WEIR_SYNTAX: it is damaged. */
WEIR_MUST_USE weir_status wr_row_parse(weir_span line, struct wr_arena *arena,
                                       struct wr_record *record);

/* Members that the report shares with the line: the budget, sizes and counters. */
void wr_row_put_figures(const struct wr_record *record, struct wr_json_writer *writer);

#endif
