#include "api/events.h"

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
    add_chunk(&stream, "{\r\n\"type\":\"x\",\r\"y\":1}\n");
    wr_frame_write(&stream, "event", WR_LIT("messageStop"), WR_LIT("{\r\"a\":1}\r\n\r\n"));
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

/* At the end of a stream that lacks something its client must not be told that all is well. */
static const struct {
    const char *behaviour;
    size_t at;        /* the byte that is spoilt; SIZE_MAX: none */
    size_t cut_bytes; /* off the end; SIZE_MAX: all but the beginning of the last frame */
    bool is_lost;
} spoilt[] = {
    {"a whole stream lacks nothing", SIZE_MAX, 0, false},
    {"a length that is wrong", 5, 0, true},
    {"a header that is wrong", 20, 0, true},
    {"a payload that is wrong", 100, 0, true},
    {"a frame that is cut off", SIZE_MAX, 1, true},
    {"a frame of which only the beginning came", SIZE_MAX, SIZE_MAX, true},
};

static void a_spoilt_stream_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(spoilt); i++) {
        struct wr_bridge *bridge = wr_bridge_new();
        struct wr_buf stream, events;
        wr_buf_init(&stream, BYTES_MAX);
        wr_buf_init(&events, BYTES_MAX);
        add_chunk(&stream, "{\"type\":\"content_block_delta\"}");
        size_t first_bytes = stream.len;
        add_chunk(&stream, "{}");
        if (spoilt[i].at != SIZE_MAX)
            stream.bytes[spoilt[i].at] ^= 1;
        size_t bytes =
            spoilt[i].cut_bytes == SIZE_MAX ? first_bytes + 3 : stream.len - spoilt[i].cut_bytes;
        wr_bridge_in(bridge, wr_span_cut(wr_buf_view(&stream), 0, bytes), &events);
        if (wr_bridge_is_lost(bridge) != spoilt[i].is_lost)
            fail_msg("%s", spoilt[i].behaviour);
        wr_bridge_free(bridge);
        wr_buf_release(&stream);
        wr_buf_release(&events);
    }
}

/* Written as text/event-stream it would become something else. */
static void a_name_that_is_no_line_is_not_bridged(void **state)
{
    char long_name[WR_SSE_NAME_BYTES_MAX + 2];
    const char *const names[] = {"a\ndata: {}\n", "a\rb", long_name};
    (void)state;

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct wr_bridge *bridge = wr_bridge_new();
        struct wr_buf stream, events;
        wr_buf_init(&stream, BYTES_MAX);
        wr_buf_init(&events, BYTES_MAX);
        wr_frame_write(&stream, "event", wr_span_of(names[i]), WR_LIT("{}"));
        wr_bridge_in(bridge, wr_buf_view(&stream), &events);
        assert_true(wr_bridge_is_lost(bridge));
        assert_int_equal(events.len, 0);
        wr_bridge_free(bridge);
        wr_buf_release(&stream);
        wr_buf_release(&events);
    }
}

/* Thousands of events that got other numbers lie before it. */
static void what_stands_behind_many_changes_leaves_as_it_came(void **state)
{
    enum { EVENTS = 3 * WR_NET_FRAMES_SOUGHT_MAX };
    struct wr_bridge *bridge = wr_bridge_new();
    struct wr_buf stream, events, back;
    (void)state;

    for (size_t i = 0; i <= EVENTS; i++) {
        wr_buf_init(&stream, BYTES_MAX);
        wr_buf_init(&events, BYTES_MAX);
        wr_buf_init(&back, BYTES_MAX);
        add_chunk(&stream, i < EVENTS ? "{\"index\":1}" : "{\"last\":1}");
        wr_bridge_in(bridge, wr_buf_view(&stream), &events);
        weir_span shown = i < EVENTS ? WR_LIT("data: {\"index\":0}\n\n") : wr_buf_view(&events);
        wr_bridge_out(bridge, shown, &back);
        assert_int_equal(wr_span_eq(wr_buf_view(&back), wr_buf_view(&stream)), i == EVENTS);
        wr_buf_release(&stream);
        wr_buf_release(&events);
        wr_buf_release(&back);
    }
    assert_false(wr_bridge_is_lost(bridge));
    wr_bridge_free(bridge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_touched_leaves_as_it_came),
        cmocka_unit_test(what_is_changed_gets_a_frame), cmocka_unit_test(a_spoilt_stream_is_said),
        cmocka_unit_test(a_name_that_is_no_line_is_not_bridged),
        cmocka_unit_test(what_stands_behind_many_changes_leaves_as_it_came)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
