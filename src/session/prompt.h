/* prompt.h -- the inside of a prompt, and the files that sections come from. */
#ifndef WR_SESSION_PROMPT_H
#define WR_SESSION_PROMPT_H

#include "base/arena.h"
#include "base/limits.h"
#include "weir/prompt.h"

struct weir_prompt {
    struct wr_arena arena; /* owns everything */
    struct weir_section sections[WR_PROMPT_SECTIONS_MAX];
    size_t sections_count;
    const char *troubles[WR_PROMPT_TROUBLES_MAX];
    size_t troubles_count;
    weir_span system, context;
};

/* Remembers what was wrong with a file; past the cap it is forgotten. */
WEIR_MUST_USE weir_status wr_prompt_note_trouble(struct weir_prompt *prompt, const char *text);

/* Adds the index of DIR/skills: `- NAME: DESCRIPTION`, by name. */
WEIR_MUST_USE weir_status wr_skills_add(struct weir_prompt *prompt, const char *dir,
                                        struct weir_err *err);

/* Reads `name` and `description` of a skill's front matter (YAML between two lines `---`), each on
 * one line, in `arena`. WEIR_INVALID or WEIR_SYNTAX, and `err` says what is missing where. */
WEIR_MUST_USE weir_status wr_skill_front(weir_span text, struct wr_arena *arena, weir_span *name,
                                         weir_span *description, struct weir_err *err);

#endif
