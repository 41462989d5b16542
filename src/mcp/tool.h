/* tool.h -- the tools that the server offers, and one call of one of them.
 *
 * The list is fixed, and its bytes are the same in every session: a tool that comes or goes would
 * cost the client its whole prompt cache. Definitions are short, because every request pays for
 * them.
 *
 * A tool writes text for a model. What goes wrong is text too, and says what to do.
 */
#ifndef WR_MCP_TOOL_H
#define WR_MCP_TOOL_H

#include "json/json.h"
#include "json/write.h"
#include "models/registry.h"
#include "policy/meter.h"
#include "weir/handle.h"
#include "weir/recall.h"

/* ---- what the tools look at: the store, which a server may be writing, and a meter ----
 *
 * The store is opened when it is first needed and again when it does not know a handle: a server
 * may have made it, or made it anew, since. Used by one thread at a time.
 */

struct wr_mcp_world {
    const char *store_dir;    /* borrowed; NULL: there is none */
    struct weir_store *store; /* owned; NULL: not open */
    struct wr_meter *meter;   /* owned; NULL: not needed yet */
    struct wr_models *models; /* the same */
};

void wr_mcp_world_init(struct wr_mcp_world *world, const char *store_dir);
void wr_mcp_world_release(struct wr_mcp_world *world);

/* The store, opened if it is not; NULL: `err` and `trouble` say why not. */
struct weir_store *wr_mcp_world_store(struct wr_mcp_world *world, weir_trouble *trouble,
                                      struct weir_err *err);

/* The text behind a handle; it lives until the next call. */
WEIR_MUST_USE weir_status wr_mcp_world_get(struct wr_mcp_world *world,
                                           const struct weir_lookup *lookup, weir_span *text,
                                           weir_miss *miss, weir_trouble *trouble,
                                           struct weir_err *err);

/* What is known of models; NULL: out of memory. */
const struct wr_models *wr_mcp_world_models(struct wr_mcp_world *world);

/* Tokens of `text` as o200k_base has them; a weir_tokens_fn with the world as `user`. */
uint64_t wr_mcp_world_count(void *world, weir_span text);

/* ---- tool ---- */

/* Why a recall brought nothing back, for counting. */
#define WR_MCP_MISS_MAP(X)          \
    X(NONE, "")                     \
    X(NEVER_STORED, "never_stored") \
    X(EXPIRED, "expired")           \
    X(CORRUPT, "corrupt")           \
    X(UNREADABLE, "unreadable") /* the store is not there, or cannot be read */

enum wr_mcp_miss {
#define X(name, text) WR_MCP_MISS_##name,
    WR_MCP_MISS_MAP(X)
#undef X
        WR_MCP_MISSES_COUNT
};

const char *wr_mcp_miss_name(enum wr_mcp_miss miss);

struct wr_mcp_call {
    struct wr_arena *arena;
    weir_span tenant;
    const struct wr_json *doc;
    wr_json_id arguments; /* an object, or NONE */
    struct wr_buf *out;   /* the text */
    bool is_error;
    enum wr_mcp_miss miss; /* of a call that failed for want of what it asks for */
    const char *act;       /* what was to be changed, a word that lives for ever; NULL: nothing */
    weir_span subject;     /* then: which session, in the arena */
    bool has_acted;        /* and it was */
};

typedef void wr_mcp_tool_fn(struct wr_mcp_world *world, struct wr_mcp_call *call);

void wr_mcp_recall(struct wr_mcp_world *world, struct wr_mcp_call *call);
void wr_mcp_context(struct wr_mcp_world *world, struct wr_mcp_call *call);
void wr_mcp_steer(struct wr_mcp_world *world, struct wr_mcp_call *call);

/* NULL: there is no such tool. `*known`, its name, lives for ever. */
wr_mcp_tool_fn *wr_mcp_tool_find(weir_span name, const char **known);

/* Writes the array of definitions. */
void wr_mcp_tools_write(struct wr_json_writer *writer);

/* Makes this the call's text, and the call a failed one. */
void wr_mcp_call_fail(struct wr_mcp_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- arguments ---- */

/* False, with the call failed: there is an argument that is none of `names`. */
bool wr_mcp_call_knows(struct wr_mcp_call *call, const char *const *names, size_t names_count);

/* The argument's value. NONE where it is not there, or is null, 0, "" or false: models write these
 * for arguments they do not mean. */
wr_json_id wr_mcp_call_argument(const struct wr_mcp_call *call, const char *name);

/* A text, or a number as it is written. False, with the call failed: it is neither. Absent: empty.
 */
bool wr_mcp_call_text(struct wr_mcp_call *call, const char *name, weir_span *text);

/* A number from 1, also inside quotes. Absent: 0. */
bool wr_mcp_call_count(struct wr_mcp_call *call, const char *name, uint64_t *count);

/* ---- recall_tool.c ---- */

/* The handle in what a model wrote where a handle was asked for. Models copy more or less than the
 * handle: the whole line that names it, brackets or quotes around it, another case, a `-` for the
 * `_`, the digits alone, or all 64 digits of the hash. Each of these names one text as long as it
 * holds one run of 20 (or 64) hex digits. */
enum wr_handle_word {
    WR_HANDLE_WORD_NONE,
    WR_HANDLE_WORD_ONE,
    WR_HANDLE_WORD_SEVERAL, /* different ones; `handle` is the first */
};

enum wr_handle_word wr_handle_word_read(weir_span text, weir_handle *handle);

#endif
