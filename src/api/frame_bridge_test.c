#include "api/frame_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/join.h"
#include "base/limits.h"
#include "base/span.h"

enum { BYTES_MAX = 1 << 20 };

static void add_chunk(struct wr_buf *stream, const char *event)
{
    struct wr_buf payload;

    wr_buf_init(&payload, BYTES_MAX);
    wr_frame_wrap(wr_span_of(event), &payload);
    payload.len--; /* with letters behind it, as the provider has them */
    wr_buf_text(&payload, ",\"p\":\"abc\"}");
    wr_frame_write(stream, "event", WR_LIT("chunk"), wr_buf_view(&payload));
    wr_buf_release(&payload);
}

static void what_is_not_touched_leaves_as_it_came(void **state)
{
    struct wr_buf stream, events, back;
    (void)state;

    wr_buf_init(&stream, BYTES_MAX);
    add_chunk(&stream, "{\"type\":\"message_start\",\"message\":{}}");
    add_chunk(&stream, "{\"type\":\"ping\"}");
    add_chunk(&stream, "{\"type\":\"ping\"}");
    add_chunk(&stream, "{\n\"type\":\"x\"\n}");
    add_chunk(&stream, "[1]");
    wr_frame_write(&stream, "exception", WR_LIT("throttlingException"),
                   WR_LIT("{\"message\":\"slow\",\"more\":1}"));
    for (size_t piece = 1; piece < 60; piece += 7) {
        struct wr_bridge *bridge = wr_bridge_new();
        assert_non_null(bridge);
        wr_buf_init(&events, BYTES_MAX);
        wr_buf_init(&back, BYTES_MAX);
        for (size_t at = 0; at < stream.len; at += piece)
            wr_bridge_in(bridge,
                         wr_span_cut(wr_buf_view(&stream), at,
                                     stream.len - at < piece ? stream.len : at + piece),
                         &events);
        for (size_t at = 0; at < events.len; at += piece)
            wr_bridge_out(bridge,
                          wr_span_cut(wr_buf_view(&events), at,
                                      events.len - at < piece ? events.len : at + piece),
                          &back);
        assert_false(wr_bridge_is_lost(bridge));
        assert_true(wr_span_eq(wr_buf_view(&back), wr_buf_view(&stream)));
        wr_bridge_free(bridge);
        wr_buf_release(&events);
        wr_buf_release(&back);
    }
    wr_buf_release(&stream);
}

static void show(void *user, const struct wr_frame *f)
{
    struct wr_arena arena;
    struct wr_buf data;
    struct wr_sse_event event;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&data, BYTES_MAX);
    assert_true(wr_frame_open(f, &arena, &data, &event));
    wr_buf_printf(user, "[%.*s %.*s|%.*s]", (int)f->kind.len, f->kind.ptr, (int)event.name.len,
                  event.name.ptr, (int)event.data.len, event.data.ptr);
    wr_buf_release(&data);
    wr_arena_release(&arena);
}

static const struct {
    const char *behaviour;
    bool is_named;
    const char *events, *shown;
} changed[] = {
    {"what is new becomes a chunk", false, "event: a\ndata: {\"type\":\"a\"}\n\n",
     "[event a|{\"type\":\"a\"}]"},
    {"an error of ours is an exception", false,
     "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"no \\\"way\\\"\"}}\n\n",
     "[exception error|{\"type\":\"error\",\"error\":{\"type\":\"internalServerException\","
     "\"message\":\"no \\\"way\\\"\"}}]"},
    {"where events have frames of their own so has a new one", true,
     "event: messageStop\ndata: {}\n\n", "[event messageStop|{}]"},
};

static void what_is_changed_gets_a_frame(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(changed); i++) {
        struct wr_bridge *bridge = wr_bridge_new();
        struct wr_buf stream, events, back, shown;
        struct wr_frames frames;
        wr_buf_init(&stream, BYTES_MAX);
        wr_buf_init(&events, BYTES_MAX);
        wr_buf_init(&back, BYTES_MAX);
        wr_buf_init(&shown, BYTES_MAX);
        if (changed[i].is_named)
            wr_frame_write(&stream, "event", WR_LIT("messageStart"), WR_LIT("{}"));
        else
            add_chunk(&stream, "{}");
        wr_bridge_in(bridge, wr_buf_view(&stream), &events);
        wr_bridge_out(bridge, wr_span_of(changed[i].events), &back);
        wr_frames_init(&frames, BYTES_MAX, show, &shown);
        wr_frames_feed(&frames, wr_buf_view(&back));
        wr_frames_release(&frames);
        if (!wr_span_is(wr_buf_view(&shown), changed[i].shown))
            fail_msg("%s: %.*s", changed[i].behaviour, (int)shown.len, shown.bytes);
        wr_bridge_free(bridge);
        wr_buf_release(&stream);
        wr_buf_release(&events);
        wr_buf_release(&back);
        wr_buf_release(&shown);
    }
}

static void a_spoilt_stream_is_said(void **state)
{
    struct wr_bridge *bridge = wr_bridge_new();
    struct wr_buf stream, events;
    (void)state;

    wr_buf_init(&stream, BYTES_MAX);
    wr_buf_init(&events, BYTES_MAX);
    add_chunk(&stream, "{}");
    stream.bytes[5] ^= 1;
    wr_bridge_in(bridge, wr_buf_view(&stream), &events);
    assert_true(wr_bridge_is_lost(bridge));
    wr_bridge_free(bridge);
    wr_buf_release(&stream);
    wr_buf_release(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_touched_leaves_as_it_came),
                                       cmocka_unit_test(what_is_changed_gets_a_frame),
                                       cmocka_unit_test(a_spoilt_stream_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
