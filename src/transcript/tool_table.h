/* tool_table.h -- the tools of the known agents: what each argument means. */
#ifndef WR_TRANSCRIPT_TOOL_TABLE_H
#define WR_TRANSCRIPT_TOOL_TABLE_H

#include "json/json.h"
#include "transcript/tool.h"

/* What an argument says. */
enum wr_tool_role {
    WR_ROLE_NONE,
    WR_ROLE_PATH,
    WR_ROLE_PATHS,   /* strings, or objects with a path and lines */
    WR_ROLE_FROM,    /* a path that is moved away */
    WR_ROLE_OFFSET,  /* first line, from 1; of a search, entries to skip */
    WR_ROLE_OFFSET0, /* first line, from 0 */
    WR_ROLE_LIMIT,
    WR_ROLE_START,  /* first line */
    WR_ROLE_END,    /* last line, inclusive */
    WR_ROLE_LINES,  /* an array of both */
    WR_ROLE_AROUND, /* a line that will be shown */
    WR_ROLE_QUERY,
    WR_ROLE_COMMAND,  /* a shell's command line, or its words */
    WR_ROLE_COMMANDS, /* several */
    WR_ROLE_SOURCE,   /* a program that is not a shell's */
    WR_ROLE_WORKDIR,
    WR_ROLE_PROCESS,
    WR_ROLE_INPUT, /* what is typed into a process; nothing: it is polled */
    WR_ROLE_MODE,
    WR_ROLE_PATCH,
    WR_ROLE_VERB, /* view, create, str_replace, ...: decides the effect */
};

enum { WR_TOOL_ARGS_MAX = 12 };

struct wr_tool_row {
    const char *name;
    const char *keys; /* that must be there, between spaces */
    enum wr_tool_dialect dialect;
    enum wr_effect_kind kind;
    struct {
        const char *key;
        enum wr_tool_role role;
    } args[WR_TOOL_ARGS_MAX];
};

/* The first row whose name is `name`, or the part of it behind a server's name, and whose keys the
 * object has. `object` NONE: arguments that are no object; rows without keys fit. NULL: none. */
const struct wr_tool_row *wr_tool_find(weir_span name, const struct wr_json *doc,
                                       wr_json_id object);

/* What the name alone says ("read_notes" reads), for tools of no known agent. */
enum wr_effect_kind wr_tool_guess(weir_span name);

/* The arguments such tools usually have. */
extern const struct wr_tool_row wr_tool_any_row;

#endif
