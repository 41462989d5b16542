/* pieces.h -- what a prompt or a list of tools is made of, in a line: `NAME=HASH NAME=HASH ...`.
 *
 * The journal keeps such a line beside a prompt and for the tools, so that a session that goes on
 * with others can say which of them are new, gone or changed.
 */
#ifndef WR_SESSION_PIECES_H
#define WR_SESSION_PIECES_H

#include "base/buf.h"
#include "weir/prompt.h"
#include "weir/session.h"

void wr_pieces_of_tools(struct wr_buf *out, const struct weir_tool *tools, size_t tools_count);

/* Of the sections that are part of the system text. */
void wr_pieces_of_prompt(struct wr_buf *out, const struct weir_prompt *prompt);

/* Appends `+NEW -GONE ~CHANGED`, or "their order" where nothing else differs; nothing where the
 * lines are the same. */
void wr_pieces_diff(struct wr_buf *out, weir_span before, weir_span now);

#endif
