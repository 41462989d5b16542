/* tool_args.h -- the arguments of a call, as the model wrote them, asked for by name. */
#ifndef WR_AGENT_TOOL_ARGS_H
#define WR_AGENT_TOOL_ARGS_H

#include "agent/toolbox.h"

struct wr_tool_args {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_tool_output *output; /* says what is wrong */
};

/* False: the arguments are no JSON object, and `output` says so. To be released in either case. */
bool wr_tool_args_init(struct wr_tool_args *args, weir_span text, struct wr_tool_output *output);
void wr_tool_args_release(struct wr_tool_args *args);

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
