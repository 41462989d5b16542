/* prompt.h -- a system prompt put together from sections, each with its phase, priority and size.
 *
 * Contributors add sections in any order; what comes out is ordered by phase (constraint, tools,
 * task, memory), then by priority, the higher first, then by the order of adding. Sticky sections
 * are never shortened. Volatile ones (the clock, the recent footprint) are not part of the system
 * text: they go at the end of the newest user message, so that what is cached stays the same.
 */
#ifndef WEIR_PROMPT_H
#define WEIR_PROMPT_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

#define WEIR_PHASE_MAP(X)       \
    X(CONSTRAINT, "constraint") \
    X(TOOLS, "tools")           \
    X(TASK, "task")             \
    X(MEMORY, "memory")

typedef enum weir_phase {
#define X(name, text) WEIR_PHASE_##name,
    WEIR_PHASE_MAP(X)
#undef X
} weir_phase;

WEIR_API const char *weir_phase_name(weir_phase phase);

struct weir_section {
    const char *name; /* "identity", "contract", ... */
    weir_phase phase;
    int priority;     /* within the phase; higher first */
    bool is_sticky;   /* never shortened */
    bool is_volatile; /* goes to the newest user message */
    bool is_field;    /* travels in a field of its own (the tools): counted, not written */
    weir_span text;
    const char *source; /* the file it came from, for a notice; NULL: none */
    uint64_t tokens;    /* filled in by weir_prompt_build() */
    bool is_left_out;   /* likewise: a notice stands in its place */
};

struct weir_prompt; /* owns copies of all that is added */

WEIR_API WEIR_MUST_USE weir_status weir_prompt_new(struct weir_prompt **prompt);
WEIR_API void weir_prompt_free(struct weir_prompt *prompt); /* NULL is fine */

/* An empty text adds nothing. WEIR_LIMIT past the most sections. */
WEIR_API WEIR_MUST_USE weir_status weir_prompt_add(struct weir_prompt *prompt,
                                                   const struct weir_section *section,
                                                   struct weir_err *err);

/* What an agent's directory has: AGENT.md (identity), CONTRACT.md, skills/NAME/SKILL.md (an index
 * of names and descriptions), HINTS.md (domain hints), MEMORY.md (the index of notes). None of them
 * must be there. What cannot be read is a trouble, and the others still work. */
WEIR_API WEIR_MUST_USE weir_status weir_prompt_add_dir(struct weir_prompt *prompt, const char *dir,
                                                       struct weir_err *err);

/* What was wrong with single files, a sentence each; NULL past the last. */
WEIR_API const char *weir_prompt_trouble(const struct weir_prompt *prompt, size_t index);

/* Sections that every run has. `now_ms` is shown as UTC, to the minute. */
struct weir_runtime {
    const char *os, *shell, *cwd; /* NULL: not said */
    int64_t now_ms;               /* 0: no clock */
    weir_span footprint;          /* what was done last, a line each; empty: none */
};
WEIR_API WEIR_MUST_USE weir_status weir_prompt_add_runtime(struct weir_prompt *prompt,
                                                           const struct weir_runtime *runtime,
                                                           struct weir_err *err);

/* Orders and measures. Over `tokens_max` (0: no cap) the sections that are not sticky leave, the
 * last phase and the lowest priority first, each for a line that says so. `model` (NULL: not known)
 * says how tokens are counted. */
WEIR_API WEIR_MUST_USE weir_status weir_prompt_build(struct weir_prompt *prompt, const char *model,
                                                     uint64_t tokens_max, struct weir_err *err);

/* After a build, until the next add or build. */
WEIR_API size_t weir_prompt_sections(const struct weir_prompt *prompt);
WEIR_API const struct weir_section *weir_prompt_section(const struct weir_prompt *prompt,
                                                        size_t index);
WEIR_API weir_span weir_prompt_system(const struct weir_prompt *prompt);
WEIR_API weir_span weir_prompt_context(const struct weir_prompt *prompt); /* the volatile ones */

/* ---- skills and notes, read when they are asked for ---- */

/* The text of a file of an agent's directory; the caller frees `*text` with weir_text_free(). A
 * skill is DIR/skills/NAME/SKILL.md, a note DIR/memory/NAME.md. WEIR_NOTFOUND names those that
 * there are; WEIR_INVALID: a name that could leave the directory. */
WEIR_API WEIR_MUST_USE weir_status weir_skill_read(const char *dir, const char *name,
                                                   weir_span *text, struct weir_err *err);
WEIR_API WEIR_MUST_USE weir_status weir_note_read(const char *dir, const char *name,
                                                  weir_span *text, struct weir_err *err);
WEIR_API void weir_text_free(weir_span text);

/* Writes a note whole, and its line `- [NAME](memory/NAME.md): DESCRIPTION` in MEMORY.md. Both are
 * replaced in one step each; the next session sees them. */
WEIR_API WEIR_MUST_USE weir_status weir_note_write(const char *dir, const char *name,
                                                   weir_span description, weir_span text,
                                                   struct weir_err *err);

WEIR_END_DECLS

#endif
