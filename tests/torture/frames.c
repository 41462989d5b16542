/* An AWS event stream on its way through the bridge. What is told is what the frames say, not their
 * bytes: a frame that could not be kept is made anew. */
#include "api/events.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/torture/torture.h"

struct hearing {
    struct wr_arena arena;
    struct wr_buf data, told;
    bool is_whole;
};

static void on_frame(void *user, const struct wr_frame *frame)
{
    struct hearing *h = user;
    struct wr_sse_event event;

    if (!wr_frame_open(frame, &h->arena, &h->data, &event)) {
        h->is_whole = false;
        return;
    }
    wr_buf_append(&h->told, event.name);
    wr_buf_byte(&h->told, '|');
    wr_buf_append(&h->told, event.data);
}

static weir_status hear(weir_span frames)
{
    struct hearing h = {.is_whole = true};
    struct wr_frames reader;

    wr_arena_init(&h.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&h.data, 1 << 16);
    wr_buf_init(&h.told, 1 << 16);
    wr_frames_init(&reader, 1 << 16, on_frame, &h);
    wr_frames_feed(&reader, frames);
    bool is_whole = h.is_whole && !reader.is_lost && !wr_buf_status(&h.told);
    if (is_whole)
        torture_tell(wr_buf_view(&h.told));
    wr_frames_release(&reader);
    wr_buf_release(&h.data);
    wr_buf_release(&h.told);
    wr_arena_release(&h.arena);
    return is_whole ? WEIR_OK : WEIR_NOMEM;
}

weir_status torture_frames(void)
{
    struct wr_bridge *bridge = wr_bridge_new();
    struct wr_buf stream, payload, events, back;
    weir_status status = WEIR_NOMEM;

    if (!bridge)
        return status;
    wr_buf_init(&stream, 1 << 16);
    wr_buf_init(&payload, 1 << 16);
    wr_buf_init(&events, 1 << 16);
    wr_buf_init(&back, 1 << 16);
    wr_frame_wrap(WR_LIT("{\"type\":\"message_start\"}"), &payload);
    wr_frame_write(&stream, "event", WR_LIT("chunk"), wr_buf_view(&payload));
    wr_frame_write(&stream, "exception", WR_LIT("x"), WR_LIT("{\"message\":\"s\\nlow\"}"));
    if (!wr_buf_status(&stream) && !wr_buf_status(&payload)) {
        wr_bridge_in(bridge, wr_buf_view(&stream), &events);
        wr_buf_text(&events, "event: error\ndata: {\"error\":{\"message\":\"o\\nurs\"}}\n\n");
        wr_bridge_out(bridge, wr_buf_view(&events), &back);
        if (!wr_bridge_is_lost(bridge) && !wr_buf_status(&events))
            status = hear(wr_buf_view(&back));
    }
    wr_bridge_free(bridge);
    wr_buf_release(&stream);
    wr_buf_release(&payload);
    wr_buf_release(&events);
    wr_buf_release(&back);
    return status;
}
