/* message.h -- one JSON-RPC message of an MCP client, read and judged before its method is looked
 * at.
 *
 * Two eras are spoken. Legacy clients (2024-11-05 to 2025-11-25) open with `initialize`; modern
 * ones (2026-07-28) never do, and say version and capabilities in the `_meta` of every request. A
 * request that names a modern version is modern, whatever came before it.
 */
#ifndef WR_MCP_MESSAGE_H
#define WR_MCP_MESSAGE_H

#include "json/json.h"

/* Errors of JSON-RPC and of MCP. */
enum wr_mcp_code {
    WR_MCP_OK = 0,
    WR_MCP_PARSE = -32700,
    WR_MCP_INVALID = -32600,
    WR_MCP_NO_METHOD = -32601,
    WR_MCP_PARAMS = -32602,
    WR_MCP_INTERNAL = -32603,
    WR_MCP_HEADERS = -32020,
    WR_MCP_VERSION = -32022,
};

/* Newest first; the first is the modern one, the second the newest of the others. */
extern const char *const wr_mcp_versions[];
enum { WR_MCP_VERSIONS_COUNT = 5, WR_MCP_MODERN = 0, WR_MCP_NEWEST_LEGACY = 1 };

/* The headers of HTTP that say again what the body says; a NULL ptr where one did not come. */
struct wr_mcp_headers {
    weir_span version, method, name;
};

enum wr_mcp_kind { WR_MCP_REQUEST, WR_MCP_NOTIFICATION, WR_MCP_RESPONSE };

struct wr_mcp_message {
    struct wr_json doc;
    enum wr_mcp_kind kind;
    weir_span id; /* its token as it came; "null" where there is none that can be given back */
    weir_span method;
    wr_json_id params; /* NONE: there are none */
    bool is_modern;

    enum wr_mcp_code code; /* what is wrong with it; OK: nothing */
    int http_status;       /* then */
    char why[160];
    weir_span requested; /* of WR_MCP_VERSION: the version that is not spoken */
};

/* What is known of the client before this message. */
struct wr_mcp_peer {
    bool has_initialized;                 /* on this stream, in the legacy way */
    const struct wr_mcp_headers *headers; /* NULL: not over HTTP */
};

/* Reads one message; what is wrong is in `message`, which refers to `text` and `arena`. */
void wr_mcp_message_read(struct wr_mcp_message *message, struct wr_arena *arena, weir_span text,
                         const struct wr_mcp_peer *peer);

/* Notes what is wrong, unless something else was before. */
void wr_mcp_message_fail(struct wr_mcp_message *message, enum wr_mcp_code code, int http_status,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
