/* settings.h -- what a user puts into an agent's settings so that it calls our hook.
 *
 * It is only printed: the files are the user's. `weir doctor` looks whether it is in them.
 */
#ifndef WR_HOOK_SETTINGS_H
#define WR_HOOK_SETTINGS_H

#include "hook/hook.h"

struct wr_hook_words { /* how the hook is to be called */
    const char *weir;  /* this program */
    const char *store; /* NULL: the usual one */
};

/* Appends the words of a shell that call the hook. */
void wr_hook_command(const struct wr_hook_agent *agent, const struct wr_hook_words *words,
                     struct wr_buf *out);

/* Appends the text: JSON, or a plugin in JavaScript. Nothing for an agent that takes nothing. */
void wr_hook_settings(const struct wr_hook_agent *agent, const struct wr_hook_words *words,
                      struct wr_buf *out);

/* For people: where the text goes, and how the agent gets weir_recall. */
const char *wr_hook_settings_place(const struct wr_hook_agent *agent);

#endif
