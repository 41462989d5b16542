/* The messages of an MCP client: written, and read back.
 *
 * The handshake is that of the older protocol, which every server in use speaks; the newest version
 * that has it is offered, and whatever known version the server answers with is fine, since the
 * methods used here are the same in all of them. A server's requests (sampling, roots, questions to
 * the user) are refused by the book, with "no such method"; only a ping is answered: an agent that
 * promises no capability is asked for nothing, and one that is asked all the same must not hang.
 */
#include "mcp/client.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"
#include "mcp/server.h"
#include "weir/weir.h"

/* ---- writing ---- */

static void begin_message(struct wr_json_writer *w, struct wr_buf *out, const char *method)
{
    wr_json_write_init(w, out);
    wr_json_write_object(w);
    wr_json_member_word(w, "jsonrpc", "2.0");
    wr_json_member_word(w, "method", method);
}

static void begin_request(struct wr_json_writer *w, struct wr_buf *out, uint64_t id,
                          const char *method)
{
    begin_message(w, out, method);
    wr_json_member_number(w, "id", id);
    wr_json_member_object(w, "params");
}

static void end_request(struct wr_json_writer *w)
{
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

void wr_mcp_write_initialize(struct wr_buf *out, uint64_t id)
{
    struct wr_json_writer w;

    begin_request(&w, out, id, "initialize");
    wr_json_member_word(&w, "protocolVersion", wr_mcp_version());
    wr_json_member_object(&w, "capabilities");
    wr_json_write_object_end(&w);
    wr_json_member_object(&w, "clientInfo");
    wr_json_member_word(&w, "name", "weir");
    wr_json_member_word(&w, "version", weir_version());
    wr_json_write_object_end(&w);
    end_request(&w);
}

void wr_mcp_write_initialized(struct wr_buf *out)
{
    struct wr_json_writer w;

    begin_message(&w, out, "notifications/initialized");
    wr_json_write_object_end(&w);
}

void wr_mcp_write_list(struct wr_buf *out, uint64_t id, weir_span cursor)
{
    struct wr_json_writer w;

    begin_request(&w, out, id, "tools/list");
    if (cursor.len)
        wr_json_member_text(&w, "cursor", cursor);
    end_request(&w);
}

void wr_mcp_write_call(struct wr_buf *out, uint64_t id, weir_span name, weir_span arguments)
{
    struct wr_json_writer w;

    begin_request(&w, out, id, "tools/call");
    wr_json_member_text(&w, "name", name);
    wr_json_member_raw(&w, "arguments", arguments.len ? arguments : WR_LIT("{}"));
    end_request(&w);
}

void wr_mcp_write_cancelled(struct wr_buf *out, uint64_t id)
{
    struct wr_json_writer w;

    begin_message(&w, out, "notifications/cancelled");
    wr_json_member_object(&w, "params");
    wr_json_member_number(&w, "requestId", id);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
}

static void write_reply(struct wr_buf *out, weir_span id, bool is_ping)
{
    wr_buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    wr_buf_append(out, id);
    wr_buf_text(out, is_ping ? ",\"result\":{}}"
                             : ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
}

/* ---- reading ---- */

enum { ID, METHOD, RESULT, ERROR, MEMBERS_COUNT };

enum wr_mcp_said wr_mcp_read(struct wr_mcp_said_message *m, struct wr_arena *arena, weir_span text,
                             uint64_t id)
{
    static const char *const names[] = {"id", "method", "result", "error"};
    struct wr_json_options options = {.depth_max = WR_MCP_DEPTH_MAX};
    wr_json_id v[MEMBERS_COUNT];
    int64_t number = -1;

    *m = (struct wr_mcp_said_message){.result = WR_JSON_NONE, .text = {"", 0}};
    wr_buf_init(&m->reply, WR_MCP_ANSWER_BYTES_MAX);
    if (wr_json_parse(&m->doc, arena, text, &options, NULL) ||
        !wr_json_is(&m->doc, 0, WR_JSON_OBJECT) ||
        !wr_json_pick(&m->doc, 0, names, MEMBERS_COUNT, v))
        return WR_MCP_SAID_NOTHING;
    if (v[METHOD] != WR_JSON_NONE && v[ID] != WR_JSON_NONE) {
        write_reply(&m->reply, wr_json_raw(&m->doc, v[ID]),
                    wr_json_text_is(&m->doc, v[METHOD], "ping"));
        return WR_MCP_SAID_REQUEST;
    }
    bool is_ours = v[ID] != WR_JSON_NONE && wr_json_i64(&m->doc, v[ID], &number) && number >= 0 &&
                   (uint64_t)number == id;
    if (!is_ours || (v[RESULT] == WR_JSON_NONE && v[ERROR] == WR_JSON_NONE))
        return WR_MCP_SAID_OTHER;
    m->result = v[RESULT];
    if (v[ERROR] == WR_JSON_NONE)
        return WR_MCP_SAID_RESULT;
    wr_json_id why = wr_json_find(&m->doc, v[ERROR], "message");
    m->text = wr_json_is(&m->doc, why, WR_JSON_STRING) ? wr_json_text(&m->doc, arena, why)
                                                       : WR_LIT("no reason is given");
    return WR_MCP_SAID_ERROR;
}

bool wr_mcp_read_initialized(const struct wr_mcp_said_message *m, struct wr_arena *arena,
                             weir_span *version)
{
    wr_json_id id = wr_json_find(&m->doc, m->result, "protocolVersion");

    if (!wr_json_is(&m->doc, id, WR_JSON_STRING))
        return false;
    *version = wr_json_text(&m->doc, arena, id);
    return wr_mcp_knows_version(*version);
}

bool wr_mcp_read_tools(const struct wr_mcp_said_message *m, struct wr_arena *arena,
                       wr_mcp_listed_fn *fn, void *user, weir_span *cursor)
{
    wr_json_id list = wr_json_find(&m->doc, m->result, "tools");

    *cursor = wr_json_find_text(&m->doc, arena, m->result, "nextCursor");
    if (!wr_json_is(&m->doc, list, WR_JSON_ARRAY))
        return false;
    WR_JSON_EACH(i, &m->doc, list) {
        wr_json_id schema = wr_json_find(&m->doc, i, "inputSchema");
        struct wr_mcp_listed_tool tool = {.name = wr_json_find_text(&m->doc, arena, i, "name"),
                                          .description =
                                              wr_json_find_text(&m->doc, arena, i, "description")};
        /* APIs refuse a whole request for one schema of anything but an object. */
        if (wr_json_text_is(&m->doc, wr_json_find(&m->doc, schema, "type"), "object"))
            tool.schema = wr_json_raw(&m->doc, schema);
        if (tool.name.len && !fn(user, &tool))
            break;
    }
    return true;
}

/* What is no text cannot be a result here; that it is missing is said. */
static void put_other(const struct wr_mcp_said_message *m, struct wr_arena *arena, wr_json_id block,
                      struct wr_buf *out)
{
    weir_span type = wr_json_find_text(&m->doc, arena, block, "type"),
              mime = wr_json_find_text(&m->doc, arena, block, "mimeType");
    weir_span uri = wr_json_find_text(&m->doc, arena, block, "uri"),
              data = wr_json_find_text(&m->doc, arena, block, "data");

    wr_buf_text(out, "[");
    wr_text_one_line_max(out, type.len ? type : WR_LIT("something"), 40);
    if (mime.len) {
        wr_buf_text(out, ", ");
        wr_text_one_line_max(out, mime, 80);
    }
    if (uri.len) {
        wr_buf_text(out, ", ");
        wr_text_one_line_max(out, uri, 400);
    }
    if (data.len)
        wr_buf_printf(out, ", %zu bytes", data.len / 4 * 3);
    wr_buf_text(out, ": not shown]");
}

static void put_block(const struct wr_mcp_said_message *m, struct wr_arena *arena, wr_json_id block,
                      struct wr_buf *out)
{
    wr_json_id resource = wr_json_find(&m->doc, block, "resource");
    weir_span text = wr_json_find_text(&m->doc, arena, block, "text");

    if (!text.len && resource != WR_JSON_NONE)
        text = wr_json_find_text(&m->doc, arena, resource, "text");
    if (text.len || wr_json_text_is(&m->doc, wr_json_find(&m->doc, block, "type"), "text"))
        wr_buf_append(out, text);
    else
        put_other(m, arena, resource != WR_JSON_NONE ? resource : block, out);
}

bool wr_mcp_read_content(const struct wr_mcp_said_message *m, struct wr_arena *arena,
                         struct wr_buf *out)
{
    wr_json_id list = wr_json_find(&m->doc, m->result, "content");
    wr_json_id whole = wr_json_find(&m->doc, m->result, "structuredContent");
    wr_json_id failed = wr_json_find(&m->doc, m->result, "isError");
    size_t begin = out->len;

    if (wr_json_is(&m->doc, list, WR_JSON_ARRAY))
        WR_JSON_EACH(i, &m->doc, list) {
            if (out->len > begin && out->bytes[out->len - 1] != '\n')
                wr_buf_byte(out, '\n');
            put_block(m, arena, i, out);
        }
    if (out->len == begin && whole != WR_JSON_NONE)
        wr_buf_append(out, wr_json_raw(&m->doc, whole));
    return wr_json_is(&m->doc, failed, WR_JSON_TRUE);
}
