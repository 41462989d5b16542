/* toolbox.h -- the tools of `weir agent`: what the model may ask for, and doing it.
 *
 * 1. A tool never fails the agent: what goes wrong is the text of an erroneous result, and says
 *    what to do.
 * 2. Paths are taken from the working directory. Files are changed only below it; what is read
 *    elsewhere needs consent, but for the session's and the agent's own folders.
 * 3. Whether the user has consented is asked by the caller, before wr_toolbox_run().
 */
#ifndef WR_AGENT_TOOLBOX_H
#define WR_AGENT_TOOLBOX_H

#include <stdbool.h>

#include "agent/mcp_servers.h"
#include "agent/process.h"
#include "base/limits.h"
#include "json/json.h"
#include "mcp/tool.h"
#include "weir/session.h"

enum { WR_TOOLBOX_TOOLS_MAX = 16 + WR_AGENT_MCP_TOOLS_MAX };

struct wr_tool_output { /* released by the caller */
    struct wr_buf text;
    bool is_error;
};

/* A file is about to be changed. */
struct wr_change {
    const char *path;
    bool exists; /* false: it is new */
    weir_span before, after;
};
typedef void wr_before_change_fn(void *user, const struct wr_change *change);

struct wr_toolbox {
    const char *root;               /* the working directory, absolute */
    const char *agent_dir;          /* skills and notes (weir/prompt.h); NULL: no such tools */
    const char *session_dir;        /* what left the prompt is there; NULL: none */
    struct wr_processes *processes; /* NULL: no process tools */
    struct wr_mcp_world *world;     /* where recalled text is; NULL: no recall */
    weir_span tenant;               /* of it */
    struct wr_mcp_servers *servers; /* tools of others; NULL: none */
    bool has_helpers;               /* the caller runs spawn_agent itself, before it comes here */
    bool is_list_only;              /* none will be run: all are there, whatever they need */
    wr_before_change_fn *before_change; /* may be NULL */
    void *before_change_user;
    wr_interrupt_fn *interrupt; /* ends a long search; may be NULL */
    void *interrupt_user;
    struct wr_buf *preview; /* gets a diff instead of the file being changed; NULL: it is changed */
    const char *const *only; /* names of those that are there, NULL at the end; NULL: all */
};

struct wr_tool_call_text {
    weir_span name, arguments; /* as the model wrote them */
};

/* Fills in the definitions, in a fixed order, and returns how many there are. */
size_t wr_toolbox_tools(const struct wr_toolbox *box, struct weir_tool tools[WR_TOOLBOX_TOOLS_MAX]);

/* Whether a tool changes or runs something, whoever has consented. */
bool wr_tool_changes(weir_span name);

/* Whether what it gives is a file's text, or one that was stored: it can be read again in parts. */
bool wr_toolbox_shows_file(weir_span name);

/* Whether a call changes something, runs something or reads outside the working directory. Unknown
 * tools do not. `command`: of a call that runs one, its text, in `arena`; else empty. */
bool wr_toolbox_needs_consent(const struct wr_toolbox *box, struct wr_arena *arena,
                              const struct wr_tool_call_text *call, weir_span *command);

/* What a call would change, as lines of a diff; nothing where it changes no file, or would fail. Of
 * a command all of its lines, where wr_toolbox_describe() does not show it as it is. */
void wr_toolbox_preview(const struct wr_toolbox *box, const struct wr_tool_call_text *call,
                        struct wr_buf *diff);

/* One line that says what a call would do, for a card or a question. */
void wr_toolbox_describe(const struct wr_tool_call_text *call, struct wr_buf *line);

void wr_toolbox_run(const struct wr_toolbox *box, const struct wr_tool_call_text *call,
                    struct wr_tool_output *output);

/* ---- files, whole: of the tools, and of what takes their changes back ---- */

/* Appends a regular file's bytes. NULL: done; else why not. */
const char *wr_file_read(const char *path, struct wr_buf *into);

/* Puts `content` in its place in one move: whoever reads sees the old bytes or the new ones. What
 * the name leads to through links is replaced, and keeps its mode. NULL: done; else why not. */
const char *wr_file_replace(const char *path, weir_span content);

/* ---- the arguments of a call, as the model wrote them, asked for by name ---- */

struct wr_tool_args {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_tool_output *output; /* says what is wrong */
};

/* False: the arguments are no JSON object, and `output` says so. To be released in either case. */

/* False: it is missing or no string, and the output says so. */
bool wr_tool_args_text(struct wr_tool_args *args, const char *name, weir_span *text);

/* If there is no such argument `*text` stays as it is. False: there is one and it is no string, and
 * the output says so. */
bool wr_tool_args_may_text(struct wr_tool_args *args, const char *name, weir_span *text);
bool wr_tool_args_may_number(struct wr_tool_args *args, const char *name, uint64_t *number);
bool wr_tool_args_may_bool(struct wr_tool_args *args, const char *name, bool *value);

/* Begins an erroneous result with this text. */
void wr_tool_fail(struct wr_tool_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes a path absolute; it may lead out of the working directory. NULL: it is no path, or out of
 * memory; the output says so. */
const char *wr_tool_path(struct wr_tool_args *args, const struct wr_toolbox *box, weir_span path);

/* Whether a path, taken from the working directory, really leads below `dir`: links and `..` are
 * followed, and what is not there yet counts by the folder that is. */
bool wr_tool_is_below(const struct wr_toolbox *box, struct wr_arena *arena, weir_span path,
                      const char *dir);

/* ---- the tools: tool_file.c, tool_search.c, tool_process.c; toolbox.c has the small ones ---- */

typedef void wr_tool_fn(const struct wr_toolbox *box, struct wr_tool_args *args,
                        struct wr_tool_output *output);

wr_tool_fn wr_tool_read_file, wr_tool_write, wr_tool_edit;
wr_tool_fn wr_tool_list, wr_tool_grep;
wr_tool_fn wr_tool_process_start, wr_tool_process_read, wr_tool_process_stop;

/* A copy in the arena that ends with a NUL. NULL: the text holds a NUL, or out of memory; the
 * output says so. */
const char *wr_tool_string(struct wr_tool_args *args, weir_span text);

#endif
