/* The MCP server on a stream: every way of cutting it yields the same answers; every answer is one
 * line of valid JSON-RPC under the id of its request, and there is one for each request and none
 * for anything else that can be read.
 *
 * The first byte of an input says how the rest is cut, and its lowest bit whether a handshake came
 * before. The store holds one text, whose handle is in the dictionary. */
#include <stdint.h>
#include <stdlib.h>

#include "base/span.h"
#include "json/json.h"
#include "mcp/line_reader.h"
#include "mcp/server.h"

enum { LINE_BYTES_MAX = 4096, TRACE_BYTES_MAX = 64 * 1024 * 1024 };

#define TENANT WR_LIT("local")

struct stream {
    struct wr_mcp *mcp;
    struct wr_mcp_peer peer;
    struct wr_buf answers;
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The id that the answer must have; NULL ptr: there may be no answer. */
static weir_span expected_id(struct wr_arena *arena, weir_span line)
{
    struct wr_json_options options = {.depth_max = WR_MCP_DEPTH_MAX};
    static const char *const names[] = {"id", "method", "result", "error", "jsonrpc", "params"};
    struct wr_json doc;
    wr_json_id v[6];

    if (wr_json_parse(&doc, arena, line, &options, NULL) || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return WR_LIT("null");
    /* What stands there twice makes it no message, but it is answered by the id it has. */
    bool is_valid = wr_json_pick(&doc, 0, names, 6, v) && wr_json_text_is(&doc, v[4], "2.0") &&
                    (wr_json_is(&doc, v[1], WR_JSON_STRING) ||
                     (v[1] == WR_JSON_NONE && (v[2] != WR_JSON_NONE || v[3] != WR_JSON_NONE)));
    if (v[0] == WR_JSON_NONE)
        return is_valid ? (weir_span){NULL, 0} : WR_LIT("null");
    weir_span id = wr_json_raw(&doc, v[0]);
    bool is_integer = wr_json_is(&doc, v[0], WR_JSON_NUMBER) && !memchr(id.ptr, '.', id.len) &&
                      !memchr(id.ptr, 'e', id.len) && !memchr(id.ptr, 'E', id.len);
    if ((!is_integer && !wr_json_is(&doc, v[0], WR_JSON_STRING)) || id.len > WR_MCP_ID_BYTES_MAX)
        return WR_LIT("null");
    return is_valid && v[1] == WR_JSON_NONE ? (weir_span){NULL, 0} : id;
}

static void check_answer(weir_span answer, weir_span id)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    require(!memchr(answer.ptr, '\n', answer.len));
    require(!wr_json_parse(&doc, &arena, answer, NULL, NULL));
    require(wr_json_count(&doc, 0) == 3);
    require(wr_json_text_is(&doc, wr_json_find(&doc, 0, "jsonrpc"), "2.0"));
    require(wr_span_eq(wr_json_raw(&doc, wr_json_find(&doc, 0, "id")), id));
    bool has_result = wr_json_is(&doc, wr_json_find(&doc, 0, "result"), WR_JSON_OBJECT);
    bool has_error = wr_json_is(&doc, wr_json_find(&doc, 0, "error"), WR_JSON_OBJECT);
    require(has_result != has_error);
    wr_arena_release(&arena);
}

static void on_line(void *user, weir_span line, bool is_too_long)
{
    struct stream *stream = user;
    struct wr_mcp_answer answer;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span id = is_too_long ? WR_LIT("null") : expected_id(&arena, line);
    if (is_too_long)
        wr_mcp_answer_too_long(&answer);
    else
        wr_mcp_answer(stream->mcp, TENANT, &stream->peer, line, &answer);
    /* A message that cannot be read has an answer, whatever else is wrong with it. */
    if (id.ptr)
        require(answer.message.len > 0);
    if (answer.message.len)
        check_answer(answer.message, id.ptr ? id : WR_LIT("null"));
    require(answer.http_status == 202 || answer.message.len > 0);
    wr_buf_append(&stream->answers, answer.message);
    wr_buf_byte(&stream->answers, '\n');
    wr_arena_release(&arena);
}

static struct wr_mcp *new_server(void)
{
    struct wr_mcp *mcp;
    struct weir_artifact artifact = {.text = WR_LIT("one\ntwo\nthr\xFF"
                                                    "ee\n\nlast")};
    struct weir_batch batch = {
        .tenant = TENANT, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};

    require(!wr_mcp_new(&mcp, NULL));
    require(!weir_store_new_memory(0, &wr_mcp_world(mcp)->store));
    require(!weir_store_commit(wr_mcp_world(mcp)->store, &batch, NULL));
    return mcp;
}

static void play(struct wr_mcp *mcp, bool has_initialized, weir_span input, size_t piece_bytes,
                 struct wr_buf *answers)
{
    struct stream stream = {.mcp = mcp, .peer = {.has_initialized = has_initialized}};
    struct wr_mcp_line_reader reader;

    wr_buf_init(&stream.answers, TRACE_BYTES_MAX);
    wr_mcp_line_reader_init(&reader, LINE_BYTES_MAX, on_line, &stream);
    for (size_t at = 0; at < input.len; at += piece_bytes) {
        size_t left = input.len - at;
        wr_mcp_line_reader_feed(
            &reader, wr_span_cut(input, at, at + (left < piece_bytes ? left : piece_bytes)));
    }
    wr_mcp_line_reader_end(&reader);
    wr_mcp_line_reader_release(&reader);
    *answers = stream.answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wr_mcp *mcp; /* kept: it has no state but the store */
    struct wr_buf whole, cut;

    if (size < 2)
        return 0;
    if (!mcp)
        mcp = new_server();
    weir_span input = {(const char *)data + 1, size - 1};
    play(mcp, data[0] & 1, input, input.len, &whole);
    play(mcp, data[0] & 1, input, (size_t)data[0] / 2 % 64 + 1, &cut);
    require(wr_span_eq(wr_buf_view(&whole), wr_buf_view(&cut)));
    wr_buf_release(&whole);
    wr_buf_release(&cut);
    return 0;
}
