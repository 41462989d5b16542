/* tool.h -- what a tool call is about: the handles by which its result can be named, found again,
 * or known to be out of date.
 *
 * 1. A tool is known by its NAME and the keys of its arguments, never by the client's name: one
 *    table (tool_table.c) holds every dialect. A name with a server in front
 *    (`mcp__fs__read_file`, `fs__read_file`, `fs_read_file`, `fs.read_file`) is looked up by its
 *    last part where the keys fit.
 * 2. Handles come from the call first, then from the result's footer, then from its header: a
 *    later source fills what an earlier one left unknown, and narrows the lines to those that
 *    were shown. Exit codes and the ids of new processes are in results only.
 * 3. Malformed arguments give fewer handles, never an error. The only failure is the arena's.
 * 4. Of a result only WR_TOOL_RESULT_HEAD_BYTES and WR_TOOL_RESULT_TAIL_BYTES are read, and the
 *    marks of a cut in the middle are sought in its first WR_TOOL_RESULT_CUT_BYTES_MAX.
 */
#ifndef WR_TRANSCRIPT_TOOL_H
#define WR_TRANSCRIPT_TOOL_H

#include "base/arena.h"
#include "transcript/effect.h"

enum wr_tool_dialect {
    WR_TOOL_UNKNOWN,
    WR_TOOL_CLAUDE_CODE,
    WR_TOOL_CODEX,
    WR_TOOL_OPENCODE,
    WR_TOOL_GEMINI_CLI,
    WR_TOOL_CLINE,
    WR_TOOL_SWE_AGENT,
    WR_TOOL_OPENHANDS,
    WR_TOOL_PI,
    WR_TOOL_ANTHROPIC,
    WR_TOOL_MINI_SWE_AGENT,
    WR_TOOL_COPILOT,
    WR_TOOL_DIALECTS
};

enum wr_tool_cut {
    WR_TOOL_CUT_NONE, /* the result is whole, as far as it says */
    WR_TOOL_CUT_HEAD, /* the beginning is missing */
    WR_TOOL_CUT_TAIL, /* the end is missing */
    WR_TOOL_CUT_MIDDLE,
    WR_TOOL_CUT_SOMEWHERE,
};

struct wr_tool_handles {
    enum wr_tool_dialect dialect;
    enum wr_effect_kind kind; /* what the result shows; see wr_tool_call() */
    bool is_known;            /* the tool is in the table: name and keys fit */
    bool is_shell;            /* the effects come from a command line */
    bool is_understood;       /* of a shell: all of the command line could be read */
    bool is_error;            /* the result says that the call failed */
    bool is_unchanged;        /* the result only says that the file is as it was when last read */
    bool is_running;          /* the process goes on; see process_id */
    bool is_instructions;     /* the result shows instructions (instructions.h) */
    bool has_exit_code;
    int exit_code;
    enum wr_tool_cut cut; /* what the client left out before we saw it */

    weir_span path;               /* of the first effect of this kind; empty: none */
    int64_t start_line, end_line; /* as in struct wr_effect; 0: not known */
    int64_t offset, limit;        /* arguments as given, lines or entries; -1: not given */
    int64_t next_offset;          /* where to go on, in the tool's own counting; -1: not known */
    int64_t total_lines;          /* -1: not known */
    weir_span query;              /* pattern, search term, URL or question */
    weir_span process_id;         /* session, task, shell or process, as the tool spells it */
    weir_span cursor;             /* what a next page is asked by, where it is not an offset */
    weir_span mode;               /* output mode, sub-command, or kind of agent */
    weir_span command;            /* command line of a shell */
    weir_span workdir;
    weir_span spill_path; /* a file with the whole output */

    struct wr_effect *effects; /* everything the call did, in order */
    size_t effects_count;
};

/* Handles of a call. `arguments` is the JSON object's text, or the bare text of a custom tool.
 * `cwd` is the directory relative paths are meant from; may be empty. Spans point into the given
 * texts or into `arena`; both must outlive the handles.
 *
 * A command line may have several effects. Then `kind` is RUN if anything was run, else the first
 * effect that shows something, else the first write. */
WEIR_MUST_USE weir_status wr_tool_call(struct wr_tool_handles *handles, struct wr_arena *arena,
                                       weir_span name, weir_span arguments, weir_span cwd);

/* Refines the handles of a call by its result, which must outlive them. `is_error` is what the
 * protocol says. */
void wr_tool_result(struct wr_tool_handles *handles, weir_span result, bool is_error);

/* The name of a tool that stands in a namespace, as a model spells it: both, joined by `__`, which
 * some clients write at the end of the namespace. An empty namespace adds nothing. NULL ptr: out of
 * memory. */
weir_span wr_tool_join(struct wr_arena *arena, weir_span space, weir_span name);

/* Whether a tool's name is a spelling of `weir_recall`: alone, or as the last part after `__`, `_`,
 * `.` or `/`. Never judged by its schema. */
bool wr_tool_is_recall(weir_span name);

/* Whether it is one of Weir's own tools: weir_recall, weir_context or weir_steer, spelt in any of
 * these ways. */
bool wr_tool_is_own(weir_span name);

/* The next effect, from `*at` on, that changes files; NULL when there is none. A failed call of an
 * editing tool changes none; a failed command line may have changed all it names. */
const struct wr_effect *wr_tool_next_write(const struct wr_tool_handles *handles, size_t *at);

/* What is known first stays. */
static inline void wr_set_once(weir_span *field, weir_span text)
{
    if (!field->len)
        *field = text;
}

const char *wr_tool_dialect_text(enum wr_tool_dialect dialect); /* "claude_code", ... */
const char *wr_tool_cut_text(enum wr_tool_cut cut);             /* "none", "head", ... */

#endif
