#include "mcp/server.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "mcp/tool.h"
#include "base/valid_text.h"
#include "weir/weir.h"

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
    struct wr_mcp_message message;
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

static void put(struct wr_json_writer *w, const char *key, const char *text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, wr_span_of(text));
}

/* Texts of others may hold anything. */
static void put_any(struct turn *turn, const char *key, weir_span text)
{
    uint64_t replaced_count;
    weir_span valid;

    if (wr_valid_text(&turn->mcp->arena, text, &valid, &replaced_count))
        valid = (weir_span){"", 0};
    wr_json_write_key(&turn->writer, key);
    wr_json_write_text(&turn->writer, valid);
}

static void put_empty(struct wr_json_writer *w, const char *key)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    wr_json_write_object_end(w);
}

static void open_answer(struct turn *turn, const char *what)
{
    struct wr_json_writer *w = &turn->writer;

    wr_buf_reset(&turn->mcp->out);
    wr_json_write_init(w, &turn->mcp->out);
    wr_json_write_object(w);
    put(w, "jsonrpc", "2.0");
    wr_json_write_key(w, "id");
    wr_json_write_raw(w, turn->message.id);
    wr_json_write_key(w, what);
    wr_json_write_object(w);
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
        put(&turn->writer, "resultType", "complete");
}

static void write_server_info(struct wr_json_writer *w, const char *key)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    put(w, "name", "weir");
    put(w, "version", weir_version());
    wr_json_write_object_end(w);
}

static void close_result(struct turn *turn)
{
    if (turn->message.is_modern) {
        wr_json_write_key(&turn->writer, "_meta");
        wr_json_write_object(&turn->writer);
        write_server_info(&turn->writer, "io.modelcontextprotocol/serverInfo");
        wr_json_write_object_end(&turn->writer);
    }
    close_answer(turn);
}

static void write_versions(struct wr_json_writer *w, const char *key)
{
    wr_json_write_key(w, key);
    wr_json_write_array(w);
    for (size_t i = 0; i < WR_MCP_VERSIONS_COUNT; i++)
        wr_json_write_text(w, wr_span_of(wr_mcp_versions[i]));
    wr_json_write_array_end(w);
}

static void write_capabilities(struct wr_json_writer *w)
{
    wr_json_write_key(w, "capabilities");
    wr_json_write_object(w);
    put_empty(w, "tools");
    wr_json_write_object_end(w);
}

/* What every client is given alike, it may share with others. */
static void write_cache_hints(struct turn *turn)
{
    if (!turn->message.is_modern)
        return;
    wr_json_write_key(&turn->writer, "ttlMs");
    wr_json_write_i64(&turn->writer, LIST_TTL_MS);
    put(&turn->writer, "cacheScope", "public");
}

static void write_error(struct turn *turn)
{
    struct wr_mcp_message *m = &turn->message;
    struct wr_json_writer *w = &turn->writer;

    open_answer(turn, "error");
    wr_json_write_key(w, "code");
    wr_json_write_i64(w, m->code);
    put_any(turn, "message", wr_span_of(m->why));
    if (m->code == WR_MCP_VERSION) {
        wr_json_write_key(w, "data");
        wr_json_write_object(w);
        write_versions(w, "supported");
        put_any(turn, "requested", m->requested);
        wr_json_write_object_end(w);
    }
    close_answer(turn);
}

/* ---- methods ---- */

/* The version asked for where it is spoken in this way, else the newest that is. */
static const char *choose_version(struct turn *turn)
{
    struct wr_mcp_message *m = &turn->message;
    wr_json_id asked = wr_json_find(&m->doc, m->params, "protocolVersion");
    for (int i = WR_MCP_NEWEST_LEGACY; i < WR_MCP_VERSIONS_COUNT; i++)
        if (wr_json_text_is(&m->doc, asked, wr_mcp_versions[i]))
            return wr_mcp_versions[i];
    return wr_mcp_versions[WR_MCP_NEWEST_LEGACY];
}

static void do_initialize(struct turn *turn)
{
    const char *version = choose_version(turn);

    turn->peer->has_initialized = true;
    turn->message.is_modern = false;
    open_result(turn);
    put(&turn->writer, "protocolVersion", version);
    write_capabilities(&turn->writer);
    write_server_info(&turn->writer, "serverInfo");
    put(&turn->writer, "instructions", instructions);
    close_result(turn);
}

static void do_discover(struct turn *turn)
{
    open_result(turn);
    write_versions(&turn->writer, "supportedVersions");
    write_capabilities(&turn->writer);
    write_server_info(&turn->writer, "serverInfo");
    put(&turn->writer, "instructions", instructions);
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
    struct wr_mcp_message *m = &turn->message;
    wr_json_id cursor = wr_json_find(&m->doc, m->params, "cursor");

    if (cursor != WR_JSON_NONE && !wr_json_is(&m->doc, cursor, WR_JSON_NULL)) {
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 200, "no cursor was given: the list has one page");
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
    wr_json_write_key(w, "content");
    wr_json_write_array(w);
    wr_json_write_object(w);
    put(w, "type", "text");
    put_any(turn, "text", wr_buf_view(call->out));
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    wr_json_write_key(w, "isError");
    wr_json_write_bool(w, call->is_error);
    close_result(turn);
}

static void do_call(struct turn *turn)
{
    struct wr_mcp_message *m = &turn->message;
    wr_json_id name = wr_json_find(&m->doc, m->params, "name");
    struct wr_mcp_call call = {.arena = &turn->mcp->arena,
                               .tenant = turn->tenant,
                               .doc = &m->doc,
                               .arguments = wr_json_find(&m->doc, m->params, "arguments"),
                               .out = &turn->mcp->text};

    if (!wr_json_is(&m->doc, name, WR_JSON_STRING)) {
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 200, "tools/call wants the name of a tool");
        return;
    }
    weir_span text = wr_json_text(&m->doc, call.arena, name);
    wr_mcp_tool_fn *tool = wr_mcp_tool_find(text, &turn->answer->tool);
    if (!tool) {
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 200, "Unknown tool: %.*s",
                            (int)(text.len < 64 ? text.len : 64), text.ptr);
        return;
    }
    if (wr_json_is(&m->doc, call.arguments, WR_JSON_NULL))
        call.arguments = WR_JSON_NONE;
    if (call.arguments != WR_JSON_NONE && !wr_json_is(&m->doc, call.arguments, WR_JSON_OBJECT)) {
        wr_mcp_message_fail(m, WR_MCP_PARAMS, 200, "arguments must be an object");
        return;
    }
    wr_buf_reset(call.out);
    tool(&turn->mcp->world, &call);
    turn->answer->is_error = call.is_error;
    turn->answer->miss = call.miss;
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
    struct wr_mcp_message *m = &turn->message;
    int era = m->is_modern ? MODERN : LEGACY;

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (wr_span_is(m->method, methods[i].name) && (methods[i].eras & era)) {
            turn->answer->method = methods[i].name;
            methods[i].run(turn);
            return;
        }
    wr_mcp_message_fail(m, WR_MCP_NO_METHOD, m->is_modern ? 404 : 200, "Method not found: %.*s",
                        (int)(m->method.len < 64 ? m->method.len : 64), m->method.ptr);
}

/* ---- one message ---- */

static const char no_memory[] =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}";

/* An answer that did not fit or had no memory is an error instead; it too may have none. */
static void finish(struct turn *turn, struct wr_mcp_answer *answer)
{
    struct wr_mcp *mcp = turn->mcp;

    if (turn->message.code)
        write_error(turn);
    if (wr_buf_status(&mcp->out) || wr_buf_status(&mcp->text)) {
        wr_buf_release(&mcp->out);
        wr_buf_release(&mcp->text);
        wr_buf_init(&mcp->out, WR_MCP_ANSWER_BYTES_MAX);
        wr_buf_init(&mcp->text, WR_MCP_ANSWER_BYTES_MAX);
        turn->message.code = WR_MCP_OK;
        wr_mcp_message_fail(&turn->message, WR_MCP_INTERNAL, 500, "out of memory");
        write_error(turn);
    }
    answer->message = wr_buf_status(&mcp->out) ? wr_span_of(no_memory) : wr_buf_view(&mcp->out);
    answer->http_status = turn->message.code ? turn->message.http_status : 200;
    answer->is_error |= turn->message.code != WR_MCP_OK;
}

void wr_mcp_answer(struct wr_mcp *mcp, weir_span tenant, struct wr_mcp_peer *peer, weir_span text,
                   struct wr_mcp_answer *answer)
{
    struct turn turn = {.mcp = mcp, .tenant = tenant, .peer = peer, .answer = answer};

    *answer = (struct wr_mcp_answer){.message = {"", 0}, .method = "other"};
    wr_arena_reset(&mcp->arena);
    wr_mcp_message_read(&turn.message, &mcp->arena, text, peer);
    if (!turn.message.code && turn.message.kind != WR_MCP_REQUEST) {
        answer->method = "notification";
        answer->http_status = 202;
        return;
    }
    if (!turn.message.code)
        run_method(&turn);
    finish(&turn, answer);
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
