/* Frames to events and back.
 *
 * Every frame that came is kept until its event comes out again, known by a hash of what the event
 * says. Most come out at once and in order, so the search begins at the oldest that is left. Frames
 * of events that never come out (hidden ones, and those that got other numbers) are kept to the end
 * of their stream, within a cap; past it frames are made anew, which says the same in other bytes.
 * They would make every search longer than the last, so only the newest are sought among.
 */
#include "api/frame_bridge.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/vec.h"
#include "json/json.h"
#include "json/write.h"

enum { KEPT_CAP_FIRST = 64 };

struct kept {
    wr_hash128 event;
    size_t at, bytes; /* in `raw` */
    bool is_gone;
};

struct wr_bridge {
    struct wr_frames frames;
    struct wr_sse sse;
    struct wr_arena arena;
    struct wr_buf opened, raw, payload;
    struct kept *kept;
    size_t kept_count, kept_cap, kept_first;
    struct wr_buf *out; /* of the call at hand */
    bool is_named;      /* events stand in frames of their own name, not in chunks */
    bool is_lost;
};

static wr_hash128 hash_of(weir_span name, weir_span data)
{
    return wr_hash128_seeded(data, wr_hash128_seeded(name, (wr_hash128){0, 0}));
}

/* ---- in ---- */

/* False: there is no room; its event will get a new frame. */
static bool keep(struct wr_bridge *b, const struct wr_sse_event *event, weir_span raw)
{
    if (!WR_HEAP_ROOM(b->kept, b->kept_count, b->kept_cap, KEPT_CAP_FIRST))
        return false;
    if (!wr_buf_try_reserve(&b->raw, raw.len))
        return false;
    b->kept[b->kept_count++] =
        (struct kept){hash_of(event->name, event->data), b->raw.len, raw.len, false};
    wr_buf_append(&b->raw, raw);
    return true;
}

/* One that would not come out of a line of text as it went in is no name of an event. */
static bool is_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ')
            return false;
    return name.len <= WR_SSE_NAME_BYTES_MAX;
}

static bool is_line_break(char c)
{
    return c == '\n' || c == '\r';
}

/* Line breaks can only stand between the values of JSON, where a space says the same. A carriage
 * return ends a line of an event stream: what stands behind it would be lost. False: no memory. */
static bool put_on_one_line(struct wr_bridge *b, struct wr_sse_event *event)
{
    size_t at = 0;

    while (at < event->data.len && !is_line_break(event->data.ptr[at]))
        at++;
    if (at == event->data.len)
        return true;
    if (event->data.ptr != b->opened.bytes) {
        wr_buf_reset(&b->opened);
        wr_buf_append(&b->opened, event->data);
    }
    if (wr_buf_status(&b->opened))
        return false;
    for (; at < b->opened.len; at++)
        if (is_line_break(b->opened.bytes[at]))
            b->opened.bytes[at] = ' ';
    event->data = wr_buf_view(&b->opened);
    return true;
}

static void on_frame(void *user, const struct wr_frame *frame)
{
    struct wr_bridge *b = user;
    struct wr_sse_event event;

    if (frame->is_cut || !wr_frame_open(frame, &b->arena, &b->opened, &event) ||
        !is_name(event.name) || !put_on_one_line(b, &event)) {
        b->is_lost = true;
        return;
    }
    b->is_named |= wr_span_is(frame->kind, "event") && !wr_span_is(frame->name, "chunk");
    (void)keep(b, &event, frame->raw);
    if (event.name.len) {
        wr_buf_text(b->out, "event: ");
        wr_buf_append(b->out, event.name);
        wr_buf_byte(b->out, '\n');
    }
    wr_buf_text(b->out, "data: ");
    wr_buf_append(b->out, event.data);
    wr_buf_text(b->out, "\n\n");
}

void wr_bridge_in(struct wr_bridge *b, weir_span frames, struct wr_buf *events)
{
    b->out = events;
    wr_frames_feed(&b->frames, frames);
    b->is_lost |= b->frames.is_lost || wr_buf_status(events);
}

/* ---- out ---- */

static struct kept *find_kept(struct wr_bridge *b, const struct wr_sse_event *event)
{
    wr_hash128 hash = hash_of(event->name, event->data);

    if (b->kept_count > b->kept_first + WR_NET_FRAMES_SOUGHT_MAX)
        b->kept_first = b->kept_count - WR_NET_FRAMES_SOUGHT_MAX;
    while (b->kept_first < b->kept_count && b->kept[b->kept_first].is_gone)
        b->kept_first++;
    for (size_t i = b->kept_first; i < b->kept_count; i++)
        if (!b->kept[i].is_gone && b->kept[i].event.low == hash.low &&
            b->kept[i].event.high == hash.high)
            return &b->kept[i];
    return NULL;
}

/* An error of ours: {"error":{"message":...}} as an exception. */
static void write_exception(struct wr_bridge *b, weir_span data)
{
    struct wr_json_writer w;
    struct wr_json doc;
    weir_span message = data;

    wr_arena_reset(&b->arena);
    weir_status status = wr_json_parse(&doc, &b->arena, data, NULL, NULL);
    if (!status) {
        wr_json_id id = wr_json_find(&doc, wr_json_find(&doc, 0, "error"), "message");
        if (wr_json_is(&doc, id, WR_JSON_STRING))
            message = wr_json_text(&doc, &b->arena, id);
    }
    b->is_lost |= status == WEIR_NOMEM || !message.ptr;
    wr_json_write_init(&w, &b->payload);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "message", message.ptr ? message : data);
    wr_json_write_object_end(&w);
    wr_frame_write(b->out, "exception", WR_LIT("internalServerException"),
                   wr_buf_view(&b->payload));
}

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct wr_bridge *b = user;
    struct kept *kept = event->is_cut ? NULL : find_kept(b, event);

    if (kept) {
        kept->is_gone = true;
        wr_buf_append(b->out, wr_span_cut(wr_buf_view(&b->raw), kept->at, kept->at + kept->bytes));
        return;
    }
    wr_buf_reset(&b->payload);
    if (wr_span_is(event->name, "error")) {
        write_exception(b, event->data);
    } else if (b->is_named) {
        wr_frame_write(b->out, "event", event->name, event->data);
    } else {
        wr_frame_wrap(event->data, &b->payload);
        wr_frame_write(b->out, "event", WR_LIT("chunk"), wr_buf_view(&b->payload));
    }
    b->is_lost |= event->is_cut || wr_buf_status(&b->payload);
}

void wr_bridge_out(struct wr_bridge *b, weir_span events, struct wr_buf *frames)
{
    b->out = frames;
    wr_sse_feed(&b->sse, events);
    b->is_lost |= wr_buf_status(frames) || wr_buf_status(&b->sse.name) ||
                  wr_buf_status(&b->sse.line) || wr_buf_status(&b->sse.data);
}

/* ---- life ---- */

struct wr_bridge *wr_bridge_new(void)
{
    struct wr_bridge *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    wr_arena_init(&b->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b->opened, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&b->raw, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&b->payload, WR_OUTPUT_BYTES_MAX);
    wr_sse_init(&b->sse, WR_AGENT_ANSWER_BYTES_MAX, on_event, b);
    wr_frames_init(&b->frames, WR_AGENT_ANSWER_BYTES_MAX, on_frame, b);
    return b;
}

void wr_bridge_begin(struct wr_bridge *b)
{
    wr_frames_release(&b->frames);
    wr_frames_init(&b->frames, WR_AGENT_ANSWER_BYTES_MAX, on_frame, b);
    wr_buf_reset(&b->raw);
    b->kept_count = b->kept_first = 0;
}

void wr_bridge_free(struct wr_bridge *b)
{
    if (!b)
        return;
    wr_frames_release(&b->frames);
    wr_sse_release(&b->sse);
    wr_buf_release(&b->opened);
    wr_buf_release(&b->raw);
    wr_buf_release(&b->payload);
    wr_arena_release(&b->arena);
    free(b->kept);
    free(b);
}

bool wr_bridge_is_lost(const struct wr_bridge *b)
{
    return b->is_lost || !wr_frames_is_whole(&b->frames);
}
