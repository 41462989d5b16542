/* events.h -- the events of an answer that is streamed, as text/event-stream, as lines of JSON or
 * in frames of AWS. */
#ifndef WR_API_EVENTS_H
#define WR_API_EVENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

/* ==== events of a text stream ====
 *
 * Or of lines of JSON.
 *
 * 1. Every way of cutting one stream into chunks yields the same events.
 * 2. Memory is bounded: of an event whose data is longer than the cap only the name comes out, and
 *    the stream goes on.
 * 3. An event that the stream's end cuts off is no event.
 */

struct wr_sse_event {
    weir_span name; /* empty: the stream gave none */
    weir_span data; /* its `data` lines joined by LF */
    bool is_cut;    /* the data was longer than the cap: it is empty here */
};

/* `event` dies with the call. */
typedef void wr_sse_fn(void *user, const struct wr_sse_event *event);

struct wr_sse { /* private; visible so that an owner can hold one */
    struct wr_buf line, name, data;
    size_t data_bytes_max;
    size_t seen_bytes; /* of the stream, as far as a byte order mark could reach */
    bool after_cr, has_data, is_line_cut, is_cut;
    bool is_lines; /* set by the owner: every line is the data of an event without a name */
    wr_sse_fn *on_event;
    void *user;
};

void wr_sse_init(struct wr_sse *sse, size_t data_bytes_max, wr_sse_fn *on_event, void *user);
void wr_sse_feed(struct wr_sse *sse, weir_span chunk);
void wr_sse_release(struct wr_sse *sse);

/* ==== frames of AWS ====
 *
 * Events from an AWS event stream (application/vnd.amazon.eventstream).
 *
 *   4 bytes   of the whole frame, this number included
 *   4         of its headers
 *   4         checksum (CRC-32) of the eight before
 *   ...       headers: length and name, type, value
 *   ...       payload: JSON
 *   4         checksum of all before
 *
 * 1. Every way of cutting one stream into chunks yields the same frames.
 * 2. Memory is bounded: of a frame that is longer than the cap only the headers come out, and the
 *    stream goes on.
 * 3. A frame that the stream's end cuts off is none, and one whose checksum is wrong is none. Where
 *    the first eight bytes are wrong nobody knows where the next frame begins: the reader is lost
 *    and says nothing more. wr_bridge_is_lost() tells whether any of that was so.
 */

#define WR_FRAMES_TYPE "application/vnd.amazon.eventstream"

struct wr_frame {
    weir_span kind;    /* :message-type, "event", "exception" or "error"; empty: none was given */
    weir_span name;    /* :event-type, or what the exception or the error is called */
    weir_span payload; /* empty where it is cut */
    weir_span raw;     /* all of the frame; empty where it is cut */
    bool is_cut;
};

/* `frame` dies with the call. */
typedef void wr_frame_fn(void *user, const struct wr_frame *frame);

struct wr_frames { /* private; visible so that an owner can hold one */
    struct wr_buf held;
    size_t frame_bytes_max;
    size_t wanted_bytes; /* in `held`, before there is something to do */
    size_t frame_bytes, headers_bytes;
    size_t left_bytes; /* of a frame that is too long, behind its headers */
    bool has_prelude, has_spoilt, is_lost;
    wr_frame_fn *on_frame;
    void *user;
};

void wr_frames_init(struct wr_frames *frames, size_t frame_bytes_max, wr_frame_fn *on_frame,
                    void *user);
void wr_frames_feed(struct wr_frames *frames, weir_span chunk);
void wr_frames_release(struct wr_frames *frames);

/* Appends a frame with such a payload of JSON. */
void wr_frame_write(struct wr_buf *out, const char *kind, weir_span name, weir_span payload);

/* The event that a frame is, as one of a text/event-stream would be:
 *
 *   a `chunk` with `bytes` in base64        what the bytes are, and their `type` (InvokeModel)
 *   any other event                         its name and its payload (Converse)
 *   an exception or an error                `error` and {"type":"error","error":{"type","message"}}
 *
 * False: it is none (no JSON, or no memory). The data may be in `data`, which is emptied first; the
 * arena is only used meanwhile. */
bool wr_frame_open(const struct wr_frame *frame, struct wr_arena *arena, struct wr_buf *data,
                   struct wr_sse_event *event);

/* Appends the payload of a `chunk` whose bytes are `data`. */
void wr_frame_wrap(weir_span data, struct wr_buf *payload);

/* ---- frames to events and back ----
 *
 * An AWS event stream on its way through what knows text/event-stream alone.
 *
 *   frames ──wr_bridge_in──▶ events as text ──▶ (api/join.h) ──▶ events as text ──wr_bridge_out──▶
 *   frames
 *
 * 1. An event that comes out as it went in leaves in the frame it came in, byte for byte.
 * 2. One that was changed, or is new, gets a frame like those that came.
 * 3. What cannot be read of the frames is left out; wr_bridge_is_lost() says so at the end.
 */

struct wr_bridge;

/* NULL: out of memory. */
struct wr_bridge *wr_bridge_new(void);
void wr_bridge_free(struct wr_bridge *bridge); /* NULL is fine */

/* Another stream begins; what came before is forgotten. */
void wr_bridge_begin(struct wr_bridge *bridge);

/* Bytes of the stream; appends the events in them. */
void wr_bridge_in(struct wr_bridge *bridge, weir_span frames, struct wr_buf *events);
/* The way back. An event that is cut is waited for. */
void wr_bridge_out(struct wr_bridge *bridge, weir_span events, struct wr_buf *frames);

/* Of a stream that has ended: a frame was spoilt or cut off, or there was no memory: more came than
 * went in. */
bool wr_bridge_is_lost(const struct wr_bridge *bridge);

#endif
