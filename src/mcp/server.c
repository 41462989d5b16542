/* One message of an MCP client: read, judged, answered.
 *
 *   read_message    read_envelope   JSON-RPC: id, method, params
 *                   judge_named,    which era it is of, and whether its version is spoken
 *                   judge_unnamed
 *                   judge_headers   over HTTP: whether the headers repeat what the body says
 *   run_method      a row of `methods` for that era; tools/call goes on to tool.c
 *   finish_answer   the result, or the first thing that was wrong, as one JSON-RPC answer
 *
 * What is wrong is noted in the message (fail_message), and the envelope is still read to its end:
 * an error is answered under the id of its request. Only the first fault counts.
 *
 * A result is written while it is made. Where it does not fit or memory runs out, the buffers are
 * emptied and an error is written instead; if even that has no memory, the answer is a constant.
 */
#include "mcp/server.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "mcp/tool.h"
#include "weir/weir.h"

/* Errors of JSON-RPC and of MCP. */
enum rpc_code {
    RPC_OK = 0,
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_HEADERS = -32020,
    RPC_VERSION = -32022,
};

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTIFICATION, MESSAGE_RESPONSE };

struct message {
    struct wr_json doc;
    enum message_kind kind;
    weir_span id; /* its token as it came; "null" where there is none that can be given back */
    weir_span method;
    wr_json_id params; /* NONE: there are none */
    bool is_modern;

    enum rpc_code code; /* what is wrong with it; OK: nothing */
    int http_status;    /* then */
    char why[160];
    weir_span requested; /* of RPC_VERSION: the version that is not spoken */
};

/* Newest first; the first is the modern one, the second the newest of the others. */
enum { VERSIONS_COUNT = 5, MODERN_VERSION = 0, NEWEST_LEGACY = 1 };
static const char *const versions[VERSIONS_COUNT] = {"2026-07-28", "2025-11-25", "2025-06-18",
                                                     "2025-03-26", "2024-11-05"};

#define META        "io.modelcontextprotocol/"
#define CODED_FRONT WR_LIT("=?base64?")
#define CODED_END   WR_LIT("?=")
#define NO_ID       WR_LIT("null")
#define SHOWN(span) (int)((span).len < 64 ? (span).len : 64), (span).ptr ? (span).ptr : ""

/* Notes what is wrong, unless something else was wrong before. */
__attribute__((format(printf, 4, 5))) static void fail_message(struct message *message,
                                                               enum rpc_code code, int http_status,
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

/* ---- reading a message: JSON-RPC ---- */

static bool is_integer(weir_span token)
{
    size_t at = token.len && token.ptr[0] == '-' ? 1 : 0;
    for (size_t i = at; i < token.len; i++)
        if (!wr_is_digit(token.ptr[i]))
            return false;
    return token.len > at;
}

/* The token is given back as it came, so it need not fit any number of ours. */
static void read_id(struct message *m, wr_json_id id)
{
    weir_span token = wr_json_raw(&m->doc, id);
    bool is_id = wr_json_is(&m->doc, id, WR_JSON_STRING) ||
                 (wr_json_is(&m->doc, id, WR_JSON_NUMBER) && is_integer(token));
    if (!is_id)
        fail_message(m, RPC_INVALID, 400, "the id must be a string or an integer");
    else if (token.len > WR_MCP_ID_BYTES_MAX)
        fail_message(m, RPC_INVALID, 400, "the id is longer than %d bytes",
                     (int)WR_MCP_ID_BYTES_MAX);
    else
        m->id = token;
}

enum { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, MEMBERS_COUNT };

static void read_envelope(struct message *m, struct wr_arena *arena)
{
    static const char *const names[] = {"jsonrpc", "id", "method", "params", "result", "error"};
    wr_json_id v[MEMBERS_COUNT];

    bool is_clear = wr_json_pick(&m->doc, 0, names, MEMBERS_COUNT, v);
    bool has_answer = v[RESULT] != WR_JSON_NONE || v[ERROR] != WR_JSON_NONE;
    if (v[ID] == WR_JSON_NONE)
        m->kind = MESSAGE_NOTIFICATION;
    else
        read_id(m, v[ID]);
    if (!is_clear)
        fail_message(m, RPC_INVALID, 400, "a member of the message stands there twice");
    if (!wr_json_text_is(&m->doc, v[JSONRPC], "2.0"))
        fail_message(m, RPC_INVALID, 400, "jsonrpc must be \"2.0\"");
    if (v[METHOD] == WR_JSON_NONE && has_answer) {
        m->kind = MESSAGE_RESPONSE;
        return;
    }
    if (!wr_json_is(&m->doc, v[METHOD], WR_JSON_STRING)) {
        fail_message(m, RPC_INVALID, 400, "method must be a string");
        return;
    }
    m->method = wr_json_text(&m->doc, arena, v[METHOD]);
    m->params = v[PARAMS];
    if (m->kind == MESSAGE_REQUEST && v[PARAMS] != WR_JSON_NONE &&
        !wr_json_is(&m->doc, v[PARAMS], WR_JSON_OBJECT))
        fail_message(m, RPC_PARAMS, 400, "params must be an object");
}

/* ---- reading a message: its era ---- */

static int find_version(weir_span version)
{
    for (int i = 0; i < VERSIONS_COUNT; i++)
        if (wr_span_is(version, versions[i]))
            return i;
    return -1;
}

const char *wr_mcp_version(void)
{
    return versions[NEWEST_LEGACY];
}

bool wr_mcp_knows_version(weir_span version)
{
    return find_version(version) >= 0;
}

static void refuse_version(struct message *m, weir_span version)
{
    m->requested = version;
    fail_message(m, RPC_VERSION, 400, "Unsupported protocol version");
}

/* A request that names its version in `_meta`. */
static void judge_named(struct message *m, struct wr_arena *arena, wr_json_id meta,
                        wr_json_id version, const struct wr_mcp_headers *headers)
{
    m->is_modern = true;
    if (!wr_json_is(&m->doc, version, WR_JSON_STRING)) {
        fail_message(m, RPC_PARAMS, 400, META "protocolVersion must be a string");
        return;
    }
    weir_span text = wr_json_text(&m->doc, arena, version);
    int known = find_version(text);
    if (headers && !headers->version.ptr && known <= MODERN_VERSION)
        fail_message(m, RPC_HEADERS, 400, "the header MCP-Protocol-Version is missing");
    if (headers && headers->version.ptr && !wr_span_eq(headers->version, text))
        fail_message(m, RPC_HEADERS, 400,
                     "the header MCP-Protocol-Version says '%.*s', the body '%.*s'",
                     SHOWN(headers->version), SHOWN(text));
    if (known < 0)
        refuse_version(m, text);
    m->is_modern = known <= MODERN_VERSION;
    if (m->is_modern && !wr_json_is(&m->doc, wr_json_find(&m->doc, meta, META "clientCapabilities"),
                                    WR_JSON_OBJECT))
        fail_message(m, RPC_PARAMS, 400, "_meta must have " META "clientCapabilities, an object");
}

/* One that does not: legacy, unless the header or the missing handshake say that it is not. */
static void judge_unnamed(struct message *m, const struct wr_mcp_peer *peer)
{
    bool is_opening = wr_span_is(m->method, "initialize") || wr_span_is(m->method, "ping");
    weir_span version = peer->headers ? peer->headers->version : (weir_span){NULL, 0};

    if (version.ptr && !wr_span_is(m->method, "initialize") && find_version(version) < 0)
        refuse_version(m, version);
    m->is_modern = wr_span_is(m->method, "server/discover"); /* a probe is always answered */
    if (m->is_modern || is_opening)
        return;
    m->is_modern = peer->headers ? find_version(version) == MODERN_VERSION : !peer->has_initialized;
    if (m->is_modern)
        fail_message(m, RPC_PARAMS, 400,
                     "_meta must have " META "protocolVersion and " META
                     "clientCapabilities; or open with initialize");
}

/* ---- reading a message: headers of HTTP that repeat the body ---- */

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

static void judge_header(struct message *m, const char *name, weir_span header, weir_span body)
{
    if (!header.ptr)
        fail_message(m, RPC_HEADERS, 400, "the header %s is missing or malformed", name);
    else if (!wr_span_eq(header, body))
        fail_message(m, RPC_HEADERS, 400, "the header %s says '%.*s', the body '%.*s'", name,
                     SHOWN(header), SHOWN(body));
}

/* Which member of params the header Mcp-Name repeats; NULL: none. */
static const char *named_member(weir_span method)
{
    if (wr_span_is(method, "tools/call") || wr_span_is(method, "prompts/get"))
        return "name";
    return wr_span_is(method, "resources/read") ? "uri" : NULL;
}

static void judge_headers(struct message *m, struct wr_arena *arena,
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

static void judge_request(struct message *m, struct wr_arena *arena, const struct wr_mcp_peer *peer)
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

/* Reads one message. What is wrong is noted in `message`, which refers to `text` and `arena`. */
static void read_message(struct message *message, struct wr_arena *arena, weir_span text,
                         const struct wr_mcp_peer *peer)
{
    struct wr_json_options options = {.depth_max = WR_MCP_DEPTH_MAX};
    struct weir_err err = {0};

    *message = (struct message){.id = NO_ID, .params = WR_JSON_NONE};
    weir_status status = wr_json_parse(&message->doc, arena, text, &options, &err);
    if (status == WEIR_SYNTAX)
        fail_message(message, RPC_PARSE, 400, "not JSON: %s at byte %zu", err.text, err.at_byte);
    else if (status == WEIR_LIMIT)
        fail_message(message, RPC_INVALID, 400, "the message is too deep or too large");
    else if (status)
        fail_message(message, RPC_INTERNAL, 500, "out of memory");
    else if (!wr_json_is(&message->doc, 0, WR_JSON_OBJECT))
        fail_message(message, RPC_INVALID, 400, "a message is one object; there are no batches");
    if (message->code)
        return;
    read_envelope(message, arena);
    if (!message->code && message->kind == MESSAGE_REQUEST)
        judge_request(message, arena, peer);
    if (!message->code && wr_arena_status(arena))
        fail_message(message, RPC_INTERNAL, 500, "out of memory");
}

/* ---- the server ---- */

/* Tools never change, so a client may keep the list for a day. */
enum { LIST_TTL_MS = 24 * 60 * 60 * 1000 };

struct wr_mcp {
    struct wr_mcp_world world;
    struct wr_arena arena; /* of the message at hand */
    struct wr_buf out;     /* the last answer */
    struct wr_buf text;    /* of the tool at hand */
};

struct turn {
    struct wr_mcp *mcp;
    weir_span tenant;
    struct wr_mcp_peer *peer;
    struct message message;
    struct wr_json_writer writer;
    struct wr_mcp_answer *answer;
};

static const char instructions[] =
    "Some tool output in this conversation was left out to save room. A line [weir wr_...: ...] "
    "stands in its place: weir_recall with that handle brings the text back, by lines or grep.";

weir_status wr_mcp_new(struct wr_mcp **mcp, const char *store_dir)
{
    struct wr_mcp *m = calloc(1, sizeof(*m));
    *mcp = m;
    if (!m)
        return WEIR_NOMEM;
    wr_mcp_world_init(&m->world, store_dir);
    wr_arena_init(&m->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&m->out, WR_MCP_ANSWER_BYTES_MAX);
    wr_buf_init(&m->text, WR_MCP_ANSWER_BYTES_MAX);
    return WEIR_OK;
}

void wr_mcp_free(struct wr_mcp *mcp)
{
    if (!mcp)
        return;
    wr_mcp_world_release(&mcp->world);
    wr_arena_release(&mcp->arena);
    wr_buf_release(&mcp->out);
    wr_buf_release(&mcp->text);
    free(mcp);
}

struct wr_mcp_world *wr_mcp_world(struct wr_mcp *mcp)
{
    return &mcp->world;
}

/* ---- writing ---- */

/* Texts of others may hold anything. */
static void put_valid_text(struct turn *turn, const char *key, weir_span text)
{
    uint64_t replaced_count;
    weir_span valid;

    if (wr_valid_text(&turn->mcp->arena, text, &valid, &replaced_count))
        valid = (weir_span){"", 0};
    wr_json_member_text(&turn->writer, key, valid);
}

static void put_empty_object(struct wr_json_writer *w, const char *key)
{
    wr_json_member_object(w, key);
    wr_json_write_object_end(w);
}

static void open_answer(struct turn *turn, const char *what)
{
    struct wr_json_writer *w = &turn->writer;

    wr_buf_reset(&turn->mcp->out);
    wr_json_write_init(w, &turn->mcp->out);
    wr_json_write_object(w);
    wr_json_member_word(w, "jsonrpc", "2.0");
    wr_json_member_raw(w, "id", turn->message.id);
    wr_json_member_object(w, what);
}

static void close_answer(struct turn *turn)
{
    wr_json_write_object_end(&turn->writer);
    wr_json_write_object_end(&turn->writer);
}

static void open_result(struct turn *turn)
{
    open_answer(turn, "result");
    if (turn->message.is_modern)
        wr_json_member_word(&turn->writer, "resultType", "complete");
}

static void write_server_info(struct wr_json_writer *w, const char *key)
{
    wr_json_member_object(w, key);
    wr_json_member_word(w, "name", "weir");
    wr_json_member_word(w, "version", weir_version());
    wr_json_write_object_end(w);
}

static void close_result(struct turn *turn)
{
    if (turn->message.is_modern) {
        wr_json_member_object(&turn->writer, "_meta");
        write_server_info(&turn->writer, "io.modelcontextprotocol/serverInfo");
        wr_json_write_object_end(&turn->writer);
    }
    close_answer(turn);
}

static void write_versions(struct wr_json_writer *w, const char *key)
{
    wr_json_member_array(w, key);
    for (size_t i = 0; i < VERSIONS_COUNT; i++)
        wr_json_write_text(w, wr_span_of(versions[i]));
    wr_json_write_array_end(w);
}

static void write_capabilities(struct wr_json_writer *w)
{
    wr_json_member_object(w, "capabilities");
    put_empty_object(w, "tools");
    wr_json_write_object_end(w);
}

/* What every client is given alike, it may share with others. */
static void write_cache_hints(struct turn *turn)
{
    if (!turn->message.is_modern)
        return;
    wr_json_member_i64(&turn->writer, "ttlMs", LIST_TTL_MS);
    wr_json_member_word(&turn->writer, "cacheScope", "public");
}

static void write_error(struct turn *turn)
{
    struct message *m = &turn->message;
    struct wr_json_writer *w = &turn->writer;

    open_answer(turn, "error");
    wr_json_member_i64(w, "code", m->code);
    put_valid_text(turn, "message", wr_span_of(m->why));
    if (m->code == RPC_VERSION) {
        wr_json_member_object(w, "data");
        write_versions(w, "supported");
        put_valid_text(turn, "requested", m->requested);
        wr_json_write_object_end(w);
    }
    close_answer(turn);
}

/* ---- methods ---- */

/* The version asked for where it is spoken in this way, else the newest that is. */
static const char *choose_version(struct turn *turn)
{
    struct message *m = &turn->message;
    wr_json_id asked = wr_json_find(&m->doc, m->params, "protocolVersion");
    for (int i = NEWEST_LEGACY; i < VERSIONS_COUNT; i++)
        if (wr_json_text_is(&m->doc, asked, versions[i]))
            return versions[i];
    return versions[NEWEST_LEGACY];
}

static void do_initialize(struct turn *turn)
{
    const char *version = choose_version(turn);

    turn->peer->has_initialized = true;
    turn->message.is_modern = false;
    open_result(turn);
    wr_json_member_word(&turn->writer, "protocolVersion", version);
    write_capabilities(&turn->writer);
    write_server_info(&turn->writer, "serverInfo");
    wr_json_member_word(&turn->writer, "instructions", instructions);
    close_result(turn);
}

static void do_discover(struct turn *turn)
{
    open_result(turn);
    write_versions(&turn->writer, "supportedVersions");
    write_capabilities(&turn->writer);
    write_server_info(&turn->writer, "serverInfo");
    wr_json_member_word(&turn->writer, "instructions", instructions);
    write_cache_hints(turn);
    close_result(turn);
}

static void do_ping(struct turn *turn)
{
    open_result(turn);
    close_result(turn);
}

static void do_list(struct turn *turn)
{
    struct message *m = &turn->message;
    wr_json_id cursor = wr_json_find(&m->doc, m->params, "cursor");

    if (cursor != WR_JSON_NONE && !wr_json_is(&m->doc, cursor, WR_JSON_NULL)) {
        fail_message(m, RPC_PARAMS, 200, "no cursor was given: the list has one page");
        return;
    }
    open_result(turn);
    wr_json_write_key(&turn->writer, "tools");
    wr_mcp_tools_write(&turn->writer);
    write_cache_hints(turn);
    close_result(turn);
}

static void write_tool_result(struct turn *turn, const struct wr_mcp_call *call)
{
    struct wr_json_writer *w = &turn->writer;

    open_result(turn);
    wr_json_member_array(w, "content");
    wr_json_write_object(w);
    wr_json_member_word(w, "type", "text");
    put_valid_text(turn, "text", wr_buf_view(call->out));
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    wr_json_member_bool(w, "isError", call->is_error);
    close_result(turn);
}

static void do_call(struct turn *turn)
{
    struct message *m = &turn->message;
    wr_json_id name = wr_json_find(&m->doc, m->params, "name");
    struct wr_mcp_call call = {.arena = &turn->mcp->arena,
                               .tenant = turn->tenant,
                               .doc = &m->doc,
                               .arguments = wr_json_find(&m->doc, m->params, "arguments"),
                               .out = &turn->mcp->text};

    if (!wr_json_is(&m->doc, name, WR_JSON_STRING)) {
        fail_message(m, RPC_PARAMS, 200, "tools/call wants the name of a tool");
        return;
    }
    weir_span text = wr_json_text(&m->doc, call.arena, name);
    wr_mcp_tool_fn *tool = wr_mcp_tool_find(text, &turn->answer->tool);
    if (!tool) {
        fail_message(m, RPC_PARAMS, 200, "Unknown tool: %.*s", (int)(text.len < 64 ? text.len : 64),
                     text.ptr);
        return;
    }
    if (wr_json_is(&m->doc, call.arguments, WR_JSON_NULL))
        call.arguments = WR_JSON_NONE;
    if (call.arguments != WR_JSON_NONE && !wr_json_is(&m->doc, call.arguments, WR_JSON_OBJECT)) {
        fail_message(m, RPC_PARAMS, 200, "arguments must be an object");
        return;
    }
    wr_buf_reset(call.out);
    tool(&turn->mcp->world, &call);
    turn->answer->is_error = call.is_error;
    turn->answer->miss = call.miss;
    turn->answer->act = call.act;
    turn->answer->subject = call.subject;
    turn->answer->has_acted = call.has_acted;
    write_tool_result(turn, &call);
}

enum { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

static const struct {
    const char *name;
    int eras;
    void (*run)(struct turn *turn);
} methods[] = {
    {"initialize", BOTH, do_initialize}, {"server/discover", BOTH, do_discover},
    {"ping", LEGACY, do_ping},           {"tools/list", BOTH, do_list},
    {"tools/call", BOTH, do_call},
};

static void run_method(struct turn *turn)
{
    struct message *m = &turn->message;
    int era = m->is_modern ? MODERN : LEGACY;

    for (size_t i = 0; i < WR_COUNT_OF(methods); i++)
        if (wr_span_is(m->method, methods[i].name) && (methods[i].eras & era)) {
            turn->answer->method = methods[i].name;
            methods[i].run(turn);
            return;
        }
    fail_message(m, RPC_NO_METHOD, m->is_modern ? 404 : 200, "Method not found: %.*s",
                 (int)(m->method.len < 64 ? m->method.len : 64), m->method.ptr);
}

/* ---- one message ---- */

static const char no_memory[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}";

/* An answer that did not fit or had no memory is an error instead; it too may have none. */
static void finish_answer(struct turn *turn, struct wr_mcp_answer *answer)
{
    struct wr_mcp *mcp = turn->mcp;

    if (turn->message.code)
        write_error(turn);
    if (wr_buf_status(&mcp->out) || wr_buf_status(&mcp->text)) {
        wr_buf_release(&mcp->out);
        wr_buf_release(&mcp->text);
        wr_buf_init(&mcp->out, WR_MCP_ANSWER_BYTES_MAX);
        wr_buf_init(&mcp->text, WR_MCP_ANSWER_BYTES_MAX);
        turn->message.code = RPC_OK;
        fail_message(&turn->message, RPC_INTERNAL, 500, "out of memory");
        write_error(turn);
    }
    answer->message = wr_buf_status(&mcp->out) ? wr_span_of(no_memory) : wr_buf_view(&mcp->out);
    answer->http_status = turn->message.code ? turn->message.http_status : 200;
    answer->is_error |= turn->message.code != RPC_OK;
}

void wr_mcp_answer(struct wr_mcp *mcp, weir_span tenant, struct wr_mcp_peer *peer, weir_span text,
                   struct wr_mcp_answer *answer)
{
    struct turn turn = {.mcp = mcp, .tenant = tenant, .peer = peer, .answer = answer};

    *answer = (struct wr_mcp_answer){.message = {"", 0}, .method = "other"};
    wr_arena_reset(&mcp->arena);
    read_message(&turn.message, &mcp->arena, text, peer);
    if (!turn.message.code && turn.message.kind != MESSAGE_REQUEST) {
        answer->method = "notification";
        answer->http_status = 202;
        return;
    }
    if (!turn.message.code)
        run_method(&turn);
    finish_answer(&turn, answer);
}

void wr_mcp_answer_too_long(struct wr_mcp_answer *answer)
{
    *answer = (struct wr_mcp_answer){
        .message = WR_LIT("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                          "\"message\":\"the message is too long\"}}"),
        .http_status = 413,
        .method = "other",
        .is_error = true};
}

const char *wr_mcp_result_name(const struct wr_mcp_answer *answer)
{
    return answer->miss ? "missed" : answer->is_error ? "refused" : "done";
}
