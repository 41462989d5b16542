/* agent_prompt.h -- the prompt of `weir agent`: how to work, what the agent's directory says, where
 * it runs. `weir prompt` shows the same. */
#ifndef WR_AGENT_AGENT_PROMPT_H
#define WR_AGENT_AGENT_PROMPT_H

#include "base/buf.h"
#include "weir/session.h"
#include "weir/weir.h"

/* Adds all sections but the tools. `root` is where the agent works, `dir` where AGENT.md and the
 * like are. */
WEIR_MUST_USE weir_status wr_agent_prompt_add(struct weir_prompt *prompt, const char *root,
                                              const char *dir, int64_t now_ms,
                                              struct weir_err *err);

/* Adds the definitions of the tools as a section that is counted: they travel in a field of their
 * own. */
WEIR_MUST_USE weir_status wr_agent_prompt_add_tools(struct weir_prompt *prompt,
                                                    struct weir_err *err);

/* ---- moment ----
 *
 * What is said of the moment at the end of the user's words: the clock, and what was
 * done last.
 *
 * It stays where it was said, so the prompt before it stays cached (docs/session.md, "The prompt").
 */

/* The last calls of the session, a line each, the oldest first: "- process_start make: failed".
 * Nothing where there was none. */
void wr_moment_footprint(const struct weir_session *session, struct wr_buf *out);

/* Both sections, as the prompt writes them. Nothing is appended where words of the user do not
 * wait, since it would not be sent. */
WEIR_MUST_USE weir_status wr_moment_write(const struct weir_session *session, int64_t now_ms,
                                          struct wr_buf *out, struct weir_err *err);

#endif
