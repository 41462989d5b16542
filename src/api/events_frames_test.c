#include "api/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/answer.h"
#include "base/base64.h"
#include "base/limits.h"
#include "base/span.h"

enum { FRAME_BYTES_MAX = 200, TEXT_BYTES_MAX = 1 << 16 };

/* A frame that was put together byte by byte, its checksums by another program (Python's zlib): one
 * header that we do not write, and a payload that is no JSON. */
static const unsigned char foreign[] = {
    0x00, 0x00, 0x00, 0x3d, 0x00, 0x00, 0x00, 0x20, 0x07, 0xfd, 0x83, 0x96, 0x0c, 'c',  'o', 'n',
    't',  'e',  'n',  't',  '-',  't',  'y',  'p',  'e',  0x07, 0x00, 0x10, 'a',  'p',  'p', 'l',
    'i',  'c',  'a',  't',  'i',  'o',  'n',  '/',  'j',  's',  'o',  'n',  '{',  '\'', 'f', 'o',
    'o',  '\'', ':',  '\'', 'b',  'a',  'r',  '\'', '}',  0x8d, 0x9c, 0x08, 0xb1,
};

static void show(void *user, const struct wr_frame *f)
{
    wr_buf_printf(user, "[%.*s %.*s|%.*s%s]", (int)f->kind.len, f->kind.ptr, (int)f->name.len,
                  f->name.ptr, (int)f->payload.len, f->payload.ptr, f->is_cut ? "cut" : "");
}

static void feed(weir_span stream, size_t piece, struct wr_buf *out)
{
    struct wr_frames frames;

    wr_frames_init(&frames, FRAME_BYTES_MAX, show, out);
    for (size_t at = 0; at < stream.len; at += piece)
        wr_frames_feed(&frames,
                       wr_span_cut(stream, at, stream.len - at < piece ? stream.len : at + piece));
    wr_frames_release(&frames);
}

static void make_stream(struct wr_buf *s)
{
    char text[FRAME_BYTES_MAX * 2];

    wr_buf_init(s, TEXT_BYTES_MAX);
    memset(text, 'x', sizeof(text));
    wr_frame_write(s, "event", WR_LIT("chunk"), WR_LIT("{\"bytes\":\"e30=\"}"));
    wr_frame_write(s, "event", WR_LIT("long"), (weir_span){text, sizeof(text)});
    wr_frame_write(s, "exception", WR_LIT("throttlingException"), WR_LIT("{\"message\":\"slow\"}"));
    wr_frame_write(s, "event", WR_LIT("empty"), WR_LIT(""));
    assert_int_equal(wr_buf_status(s), WEIR_OK);
}

static void every_cut_gives_the_same_frames(void **state)
{
    struct wr_buf stream;
    (void)state;

    make_stream(&stream);
    for (size_t piece = 1; piece <= stream.len; piece++) {
        struct wr_buf out;
        wr_buf_init(&out, TEXT_BYTES_MAX);
        feed(wr_buf_view(&stream), piece, &out);
        wr_buf_byte(&out, '\0');
        assert_string_equal(out.bytes, "[event chunk|{\"bytes\":\"e30=\"}][event long|cut]"
                                       "[exception throttlingException|{\"message\":\"slow\"}]"
                                       "[event empty|]");
        wr_buf_release(&out);
    }
    wr_buf_release(&stream);
}

/* Each byte of one frame is made wrong: it says nothing, and what stands behind it is read unless
 * the length itself is in doubt. */
static void a_wrong_byte_is_no_frame(void **state)
{
    struct wr_buf stream;
    (void)state;

    wr_buf_init(&stream, TEXT_BYTES_MAX);
    wr_frame_write(&stream, "event", WR_LIT("a"), WR_LIT("{}"));
    size_t first = stream.len;
    wr_frame_write(&stream, "event", WR_LIT("b"), WR_LIT("{}"));
    for (size_t i = 0; i < first; i++) {
        struct wr_buf out;
        wr_buf_init(&out, TEXT_BYTES_MAX);
        stream.bytes[i] ^= 0x20;
        feed(wr_buf_view(&stream), SIZE_MAX / 2, &out);
        stream.bytes[i] ^= 0x20;
        wr_buf_byte(&out, '\0');
        assert_string_equal(out.bytes, i < 12 ? "" : "[event b|{}]");
        wr_buf_release(&out);
    }
    wr_buf_release(&stream);
}

static void a_frame_of_another_writer_is_read(void **state)
{
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, TEXT_BYTES_MAX);
    feed((weir_span){(const char *)foreign, sizeof(foreign)}, 7, &out);
    wr_buf_byte(&out, '\0');
    assert_string_equal(out.bytes, "[ |{'foo':'bar'}]");
    wr_buf_release(&out);
}

static const struct {
    const char *behaviour, *kind, *name, *payload, *expected;
} opened[] = {
    {"a chunk is what its bytes are", "event", "chunk",
     "{\"bytes\":\"eyJ0eXBlIjoicGluZyJ9\",\"p\":\"abcd\"}", "ping|{\"type\":\"ping\"}"},
    {"its letters may be escaped", "event", "chunk", "{\"bytes\":\"Ii8\\/Ii4=\"}", "|\"/?\"."},
    {"bytes that are none", "event", "chunk", "{\"bytes\":\"*\"}", "none"},
    {"a chunk of another kind stays", "event", "chunk", "{\"a\":1}", "chunk|{\"a\":1}"},
    {"a chunk that is no JSON", "event", "chunk", "{", "none"},
    {"an event has its name", "event", "messageStop", "{\"stopReason\":\"x\"}",
     "messageStop|{\"stopReason\":\"x\"}"},
    {"an exception is an error", "exception", "throttlingException", "{\"message\":\"slow\"}",
     "error|{\"type\":\"error\",\"error\":{\"type\":\"throttlingException\",\"message\":\"slow\"}"
     "}"},
    {"so is one without JSON", "exception", "x", "slow",
     "error|{\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"slow\"}}"},
};

static void frames_are_events(void **state)
{
    struct wr_arena arena;
    struct wr_buf data, out;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&data, TEXT_BYTES_MAX);
    wr_buf_init(&out, TEXT_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(opened); i++) {
        struct wr_frame frame = {wr_span_of(opened[i].kind),
                                 wr_span_of(opened[i].name),
                                 wr_span_of(opened[i].payload),
                                 {"", 0},
                                 false};
        struct wr_sse_event event;
        wr_buf_reset(&out);
        if (wr_frame_open(&frame, &arena, &data, &event))
            wr_buf_printf(&out, "%.*s|%.*s", (int)event.name.len, event.name.ptr,
                          (int)event.data.len, event.data.ptr);
        else
            wr_buf_text(&out, "none");
        if (!wr_span_is(wr_buf_view(&out), opened[i].expected))
            fail_msg("%s: %.*s", opened[i].behaviour, (int)out.len, out.bytes);
    }
    wr_buf_release(&data);
    wr_buf_release(&out);
    wr_arena_release(&arena);
}

static void add_chunk(struct wr_buf *stream, const char *event)
{
    struct wr_buf payload;

    wr_buf_init(&payload, TEXT_BYTES_MAX);
    wr_frame_wrap(wr_span_of(event), &payload);
    wr_frame_write(stream, "event", WR_LIT("chunk"), wr_buf_view(&payload));
    wr_buf_release(&payload);
}

static void an_answer_is_read_from_frames(void **state)
{
    struct wr_arena arena;
    struct wr_reply reply;
    struct wr_buf stream;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&stream, TEXT_BYTES_MAX);
    add_chunk(&stream, "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\","
                       "\"usage\":{\"input_tokens\":40,\"cache_read_input_tokens\":7}}}");
    add_chunk(&stream, "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                       "\"tool_use\",\"id\":\"t1\",\"name\":\"read\",\"input\":{}}}");
    add_chunk(&stream, "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                       "\"input_json_delta\",\"partial_json\":\"{}\"}}");
    add_chunk(&stream, "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"
                       "\"usage\":{\"output_tokens\":5}}");
    add_chunk(&stream, "{\"type\":\"message_stop\"}");
    wr_answer_init(&reply, &(struct wr_answer_options){.api = &wr_api_messages, .arena = &arena});
    for (size_t at = 0; at < stream.len; at += 5)
        wr_answer_feed_frames(&reply, wr_span_cut(wr_buf_view(&stream), at,
                                                  stream.len - at < 5 ? stream.len : at + 5));
    assert_true(reply.is_finished);
    assert_false(reply.has_error);
    assert_int_equal(reply.usage.input_tokens, 40);
    assert_int_equal(reply.usage.cache_read_tokens, 7);
    assert_int_equal(reply.usage.output_tokens, 5);
    assert_int_equal(reply.parts_count, 1);
    assert_true(wr_span_is(wr_buf_view(&reply.parts[0].name), "read"));
    assert_string_equal(reply.finish, "tool_use");
    wr_answer_release(&reply);
    wr_buf_release(&stream);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cut_gives_the_same_frames),
                                       cmocka_unit_test(a_wrong_byte_is_no_frame),
                                       cmocka_unit_test(a_frame_of_another_writer_is_read),
                                       cmocka_unit_test(frames_are_events),
                                       cmocka_unit_test(an_answer_is_read_from_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
