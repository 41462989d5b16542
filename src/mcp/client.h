/* client.h -- the other end of MCP: what a client writes and reads, without a transport.
 *
 *   initialize ─▶ initialized ─▶ tools/list (page by page) ─▶ tools/call ...
 *
 * Servers of any version speak that. What the server is, and whatever it sends, is somebody else's
 * text: everything is checked, and a server's own request is answered without doing anything for
 * it.
 */
#ifndef WR_MCP_CLIENT_H
#define WR_MCP_CLIENT_H

#include "json/json.h"

/* A message of ours, without a line end. Ids are numbers. */
void wr_mcp_write_initialize(struct wr_buf *out, uint64_t id);
void wr_mcp_write_initialized(struct wr_buf *out);
void wr_mcp_write_list(struct wr_buf *out, uint64_t id, weir_span cursor); /* empty: the first */
void wr_mcp_write_call(struct wr_buf *out, uint64_t id, weir_span name, weir_span arguments);
void wr_mcp_write_cancelled(struct wr_buf *out, uint64_t id);

enum wr_mcp_said {
    WR_MCP_SAID_RESULT,  /* to our request: `result` */
    WR_MCP_SAID_ERROR,   /* the same: `text` says why it was refused */
    WR_MCP_SAID_REQUEST, /* of the server: `reply` is what to answer */
    WR_MCP_SAID_OTHER,   /* a notification, or an answer to something else */
    WR_MCP_SAID_NOTHING, /* it is no message */
};

struct wr_mcp_said_message {
    struct wr_json doc;
    wr_json_id result;
    weir_span text;      /* in the arena */
    struct wr_buf reply; /* to be released */
};

/* Reads one message that came while `id` is waited for. */
enum wr_mcp_said wr_mcp_read(struct wr_mcp_said_message *message, struct wr_arena *arena,
                             weir_span text, uint64_t id);

/* Whether the answer to initialize names a version that we know; it is in `version` then. */
bool wr_mcp_read_initialized(const struct wr_mcp_said_message *message, struct wr_arena *arena,
                             weir_span *version);

struct wr_mcp_listed_tool {
    weir_span name, description, schema;
};
/* False: that is enough. */
typedef bool wr_mcp_listed_fn(void *user, const struct wr_mcp_listed_tool *tool);

/* False: that is no list of tools. `cursor` of the next page; empty: it was the last. */
bool wr_mcp_read_tools(const struct wr_mcp_said_message *message, struct wr_arena *arena,
                       wr_mcp_listed_fn *fn, void *user, weir_span *cursor);

/* Appends what a called tool gave, as text: of what is no text, what it is and how large. True: the
 * tool says that it failed. */
bool wr_mcp_read_content(const struct wr_mcp_said_message *message, struct wr_arena *arena,
                         struct wr_buf *out);

#endif
