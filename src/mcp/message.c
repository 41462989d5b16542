#include "mcp/message.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

const char *const wr_mcp_versions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};

_Static_assert(sizeof(wr_mcp_versions) / sizeof(wr_mcp_versions[0]) == WR_MCP_VERSIONS_COUNT,
               "the versions are counted in the header");

#define META        "io.modelcontextprotocol/"
#define CODED_FRONT WR_LIT("=?base64?")
#define CODED_END   WR_LIT("?=")
#define NO_ID       WR_LIT("null")
#define SHOWN(span) (int)((span).len < 64 ? (span).len : 64), (span).ptr ? (span).ptr : ""

void wr_mcp_message_fail(struct wr_mcp_message *message, enum wr_mcp_code code, int http_status,
                         const char *format, ...)
{
    va_list values;
    if (message->code)
        return;
    message->code = code;
    message->http_status = http_status;
    va_start(values, format);
    (void)vsnprintf(message->why, sizeof(message->why), format, values);
    va_end(values);
}

/* ---- JSON-RPC ---- */

static bool is_integer(weir_span token)
{
    size_t at = token.len && token.ptr[0] == '-' ? 1 : 0;
    for (size_t i = at; i < token.len; i++)
        if (!wr_ascii_digit(token.ptr[i]))
            return false;
    return token.len > at;
}

/* The token is given back as it came, so it need not fit any number of ours. */
static void read_id(struct wr_mcp_message *m, wr_json_id id)
{
    weir_span token = wr_json_raw(&m->doc, id);
    bool is_id = wr_json_is(&m->doc, id, WR_JSON_STRING) ||
                 (wr_json_is(&m->doc, id, WR_JSON_NUMBER) && is_integer(token));
    if (!is_id)
        wr_mcp_message_fail(m, WR_MCP_INVALID, 400, "the id must be a string or an integer");
    else if (token.len > WR_MCP_ID_BYTES_MAX)
        wr_mcp_message_fail(m, WR_MCP_INVALID, 400, "the id is longer than %d bytes",
                            (int)WR_MCP_ID_BYTES_MAX);
    else
        m->id = token;
}

enum { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, MEMBERS_COUNT };

static void read_envelope(struct wr_mcp_message *m, struct wr_arena *arena)
{
    static const char *const names[] = {"jsonrpc", "id", "method", "params", "result", "error"};
    wr_json_id v[MEMBERS_COUNT];

    bool is_clear = wr_json_pick(&m->doc, 0, names, MEMBERS_COUNT, v);
    bool has_answer = v[RESULT] != WR_JSON_NONE || v[ERROR] != WR_JSON_NONE;
    if (v[ID] == WR_JSON_NONE)
        m->kind = WR_MCP_NOTIFICATION;
    else
        read_id(m, v[ID]);
    if (!is_clear)
        wr_mcp_message_fail(m, WR_MCP_INVALID, 400, "a member of the message stands there twice");
    if (!wr_json_text_is(&m->doc, v[JSONRPC], "2.0"))
        wr_mcp_message_fail(m, WR_MCP_INVALID, 400, "jsonrpc must be \"2.0\"");
    if (v[METHOD] == WR_JSON_NONE && has_answer) {
        m->kind = WR_MCP_RESPONSE;
        return;
    }
    if (!wr_json_is(&m->doc, v[METHOD], WR_JSON_STRING)) {
        wr_mcp_message_fail(m, WR_MCP_INVALID, 400, "method must be a string");
        return;
    }
    m->method = wr_json_text(&m->doc, arena, v[METHOD]);
    m->params = v[PARAMS];
    if (m->kind == WR_MCP_REQUEST && v[PARAMS] != WR_JSON_NONE &&
        !wr_json_is(&m->doc, v[PARAMS], WR_JSON_OBJECT))
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 400, "params must be an object");
}

/* ---- the era ---- */

static int find_version(weir_span version)
{
    for (int i = 0; i < WR_MCP_VERSIONS_COUNT; i++)
        if (wr_span_is(version, wr_mcp_versions[i]))
            return i;
    return -1;
}

static void refuse_version(struct wr_mcp_message *m, weir_span version)
{
    m->requested = version;
    wr_mcp_message_fail(m, WR_MCP_VERSION, 400, "Unsupported protocol version");
}

/* A request that names its version in `_meta`. */
static void judge_named(struct wr_mcp_message *m, struct wr_arena *arena, wr_json_id meta,
                        wr_json_id version, const struct wr_mcp_headers *headers)
{
    m->is_modern = true;
    if (!wr_json_is(&m->doc, version, WR_JSON_STRING)) {
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 400, META "protocolVersion must be a string");
        return;
    }
    weir_span text = wr_json_text(&m->doc, arena, version);
    int known = find_version(text);
    if (headers && !headers->version.ptr && known <= WR_MCP_MODERN)
        wr_mcp_message_fail(m, WR_MCP_HEADERS, 400, "the header MCP-Protocol-Version is missing");
    if (headers && headers->version.ptr && !wr_span_eq(headers->version, text))
        wr_mcp_message_fail(m, WR_MCP_HEADERS, 400,
                            "the header MCP-Protocol-Version says '%.*s', the body '%.*s'",
                            SHOWN(headers->version), SHOWN(text));
    if (known < 0)
        refuse_version(m, text);
    m->is_modern = known <= WR_MCP_MODERN;
    if (m->is_modern && !wr_json_is(&m->doc, wr_json_find(&m->doc, meta, META "clientCapabilities"),
                                    WR_JSON_OBJECT))
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 400,
                            "_meta must have " META "clientCapabilities, an object");
}

/* One that does not: legacy, unless the header or the missing handshake say that it is not. */
static void judge_unnamed(struct wr_mcp_message *m, const struct wr_mcp_peer *peer)
{
    bool is_opening = wr_span_is(m->method, "initialize") || wr_span_is(m->method, "ping");
    weir_span version = peer->headers ? peer->headers->version : (weir_span){NULL, 0};

    if (version.ptr && !wr_span_is(m->method, "initialize") && find_version(version) < 0)
        refuse_version(m, version);
    m->is_modern = wr_span_is(m->method, "server/discover"); /* a probe is always answered */
    if (m->is_modern || is_opening)
        return;
    m->is_modern = peer->headers ? find_version(version) == WR_MCP_MODERN : !peer->has_initialized;
    if (m->is_modern)
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 400,
                            "_meta must have " META "protocolVersion and " META
                            "clientCapabilities; or open with initialize");
}

/* ---- headers ---- */

static weir_span decode_header(struct wr_arena *arena, weir_span value)
{
    weir_span none = {NULL, 0};
    size_t around = CODED_FRONT.len + CODED_END.len;
    if (value.len < around || !wr_span_starts(value, CODED_FRONT) ||
        !wr_span_ends(value, CODED_END))
        return value;
    weir_span coded = wr_span_cut(value, CODED_FRONT.len, value.len - CODED_END.len);
    unsigned char *text = wr_arena_alloc(arena, coded.len + 3);
    if (!text || coded.len % 4 || coded.len > WR_MCP_BODY_BYTES_MAX)
        return none;
    int bytes = EVP_DecodeBlock(text, (const unsigned char *)coded.ptr, (int)coded.len);
    if (bytes < 0)
        return none;
    size_t padding = 0;
    while (padding < 2 && padding < coded.len && coded.ptr[coded.len - 1 - padding] == '=')
        padding++;
    return (weir_span){(const char *)text, (size_t)bytes - padding};
}

static void judge_header(struct wr_mcp_message *m, const char *name, weir_span header,
                         weir_span body)
{
    if (!header.ptr)
        wr_mcp_message_fail(m, WR_MCP_HEADERS, 400, "the header %s is missing or malformed", name);
    else if (!wr_span_eq(header, body))
        wr_mcp_message_fail(m, WR_MCP_HEADERS, 400, "the header %s says '%.*s', the body '%.*s'",
                            name, SHOWN(header), SHOWN(body));
}

/* Which member of params the header Mcp-Name repeats; NULL: none. */
static const char *named_member(weir_span method)
{
    if (wr_span_is(method, "tools/call") || wr_span_is(method, "prompts/get"))
        return "name";
    return wr_span_is(method, "resources/read") ? "uri" : NULL;
}

static void judge_headers(struct wr_mcp_message *m, struct wr_arena *arena,
                          const struct wr_mcp_headers *headers)
{
    const char *member = named_member(m->method);
    judge_header(m, "Mcp-Method", headers->method, m->method);
    if (!member || m->code)
        return;
    wr_json_id name = wr_json_find(&m->doc, m->params, member);
    if (wr_json_is(&m->doc, name, WR_JSON_STRING))
        judge_header(m, "Mcp-Name",
                     headers->name.ptr ? decode_header(arena, headers->name) : headers->name,
                     wr_json_text(&m->doc, arena, name));
}

static void judge_request(struct wr_mcp_message *m, struct wr_arena *arena,
                          const struct wr_mcp_peer *peer)
{
    wr_json_id meta = wr_json_find(&m->doc, m->params, "_meta");
    wr_json_id version = wr_json_find(&m->doc, meta, META "protocolVersion");
    if (version == WR_JSON_NONE)
        judge_unnamed(m, peer);
    else
        judge_named(m, arena, meta, version, peer->headers);
    if (m->is_modern && peer->headers && !m->code && version != WR_JSON_NONE)
        judge_headers(m, arena, peer->headers);
}

void wr_mcp_message_read(struct wr_mcp_message *message, struct wr_arena *arena, weir_span text,
                         const struct wr_mcp_peer *peer)
{
    struct wr_json_options options = {.depth_max = WR_MCP_DEPTH_MAX};
    struct weir_err err = {0};

    *message = (struct wr_mcp_message){.id = NO_ID, .params = WR_JSON_NONE};
    weir_status status = wr_json_parse(&message->doc, arena, text, &options, &err);
    if (status == WEIR_SYNTAX)
        wr_mcp_message_fail(message, WR_MCP_PARSE, 400, "not JSON: %s at byte %zu", err.text,
                            err.at_byte);
    else if (status == WEIR_LIMIT)
        wr_mcp_message_fail(message, WR_MCP_INVALID, 400, "the message is too deep or too large");
    else if (status)
        wr_mcp_message_fail(message, WR_MCP_INTERNAL, 500, "out of memory");
    else if (!wr_json_is(&message->doc, 0, WR_JSON_OBJECT))
        wr_mcp_message_fail(message, WR_MCP_INVALID, 400,
                            "a message is one object; there are no batches");
    if (message->code)
        return;
    read_envelope(message, arena);
    if (!message->code && message->kind == WR_MCP_REQUEST)
        judge_request(message, arena, peer);
    if (!message->code && wr_arena_status(arena))
        wr_mcp_message_fail(message, WR_MCP_INTERNAL, 500, "out of memory");
}
