/* prompt.h -- the inside of a prompt, and the files that sections come from. */
#ifndef WR_SESSION_PROMPT_H
#define WR_SESSION_PROMPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "weir/prompt.h"
#include "weir/session.h"

/* ---- pieces ----
 *
 * The journal keeps such a line beside a prompt and for the tools, so that a session that goes on
 * with others can say which of them are new, gone or changed.
 */

void wr_pieces_of_tools(struct wr_buf *out, const struct weir_tool *tools, size_t tools_count);

/* Of the sections that are part of the system text. */
void wr_pieces_of_prompt(struct wr_buf *out, const struct weir_prompt *prompt);

/* Appends `+NEW -GONE ~CHANGED`, or "their order" where nothing else differs; nothing where the
 * lines are the same. */
void wr_pieces_diff(struct wr_buf *out, weir_span before, weir_span now);

/* ---- the prompt ---- */

struct weir_prompt {
    struct wr_arena arena; /* owns everything */
    struct weir_section sections[WR_PROMPT_SECTIONS_MAX];
    size_t sections_count;
    const char *troubles[WR_PROMPT_TROUBLES_MAX];
    size_t troubles_count;
    weir_span system, context;
};

/* Reads `name` and `description` of a skill's front matter (YAML between two lines `---`), each on
 * one line, in `arena`. WEIR_INVALID or WEIR_SYNTAX, and `err` says what is missing where. */
WEIR_MUST_USE weir_status wr_skill_front(weir_span text, struct wr_arena *arena, weir_span *name,
                                         weir_span *description, struct weir_err *err);

#endif
