/* agent_prompt.h -- the prompt of `weir agent`: how to work, what the agent's directory says, where
 * it runs. `weir prompt` shows the same. */
#ifndef WR_AGENT_AGENT_PROMPT_H
#define WR_AGENT_AGENT_PROMPT_H

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

#endif
