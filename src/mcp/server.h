/* server.h -- an MCP server without a transport: one JSON-RPC message in, one out or none.
 *
 *   server.c        reads and judges a message, and answers its method
 *   tool.c          the tools; recall_tool.c, context_tool.c
 *   line_reader.c   messages from a stream
 *
 * Two eras are spoken. Legacy clients (2024-11-05 to 2025-11-25) open with `initialize`. Modern
 * ones (2026-07-28) never do, and say version and capabilities in the `_meta` of every request. A
 * request that names a modern version is modern, whatever came before it.
 *
 * 1. A request has exactly one answer, under its id as it was spelt; a notification has none.
 * 2. An answer is one line of JSON, whatever the texts hold.
 * 3. What a tool cannot do is a result that says so (isError); errors are for wrong calls only.
 */
#ifndef WR_MCP_SERVER_H
#define WR_MCP_SERVER_H

#include "mcp/tool.h"

struct wr_mcp;

/* The headers of HTTP that say again what the body says; a NULL ptr where one did not come. */
struct wr_mcp_headers {
    weir_span version, method, name;
};

/* What is known of the client before this message. */
struct wr_mcp_peer {
    bool has_initialized;                 /* on this stream, in the legacy way */
    const struct wr_mcp_headers *headers; /* NULL: not over HTTP */
};

struct wr_mcp_answer {
    weir_span message; /* without a line end; empty: none is to be given */
    int http_status;   /* for it, where it goes over HTTP */
    /* What it was, in words that live for ever and are not the client's. */
    const char *method;    /* "other": none that is known */
    const char *tool;      /* NULL: no tool was called */
    bool is_error;         /* the message was wrong, or the tool says that it failed */
    enum wr_mcp_miss miss; /* the recall brought nothing back */
    const char *act;       /* what the tool was to change, as "pin"; NULL: nothing */
    weir_span subject;     /* then: the session, as it is known or as it was asked for */
    bool has_acted;        /* and it has */
};

/* `store_dir` is borrowed; NULL: no store. Used by one thread at a time. */
WEIR_MUST_USE weir_status wr_mcp_new(struct wr_mcp **mcp, const char *store_dir);
void wr_mcp_free(struct wr_mcp *mcp); /* NULL is fine */

/* What the tools look at, for tests. */
struct wr_mcp_world *wr_mcp_world(struct wr_mcp *mcp);

/* Answers one message of a tenant's. The answer lives until the next call. `peer` is told of a
 * handshake. */
void wr_mcp_answer(struct wr_mcp *mcp, weir_span tenant, struct wr_mcp_peer *peer, weir_span text,
                   struct wr_mcp_answer *answer);

/* The answer to a message that was too long to be read. */
void wr_mcp_answer_too_long(struct wr_mcp_answer *answer);

/* The newest version that begins with initialize, and whether one is known. */
const char *wr_mcp_version(void);
bool wr_mcp_knows_version(weir_span version);

/* "done", "missed" (the recall brought nothing back) or "refused" (the call was wrong). */
const char *wr_mcp_result_name(const struct wr_mcp_answer *answer);

#endif
