/* events.c -- the events of an answer that is streamed, read along as its bytes pass. */
#include "api/events.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

/* ==== events of a text stream ====
 *
 *   chunk ──wr_sse_feed──▶ lines ──take_line──▶ fields ──empty line, dispatch──▶ on_event
 *
 * A line that a chunk cuts off is kept until its end comes (keep_part). A CR ends its line at once;
 * the LF of a CRLF may come in the next chunk, so it is recognised when it arrives.
 */

enum { FIELD_BYTES = 16, MARK_BYTES = 3 };

static const char byte_order_mark[MARK_BYTES] = {'\xEF', '\xBB', '\xBF'};

void wr_sse_init(struct wr_sse *sse, size_t data_bytes_max, wr_sse_fn *on_event, void *user)
{
    *sse = (struct wr_sse){.data_bytes_max = data_bytes_max, .on_event = on_event, .user = user};
    wr_buf_init(&sse->line, data_bytes_max + FIELD_BYTES);
    wr_buf_init(&sse->name, WR_SSE_NAME_BYTES_MAX);
    wr_buf_init(&sse->data, data_bytes_max);
}

void wr_sse_release(struct wr_sse *sse)
{
    wr_buf_release(&sse->line);
    wr_buf_release(&sse->name);
    wr_buf_release(&sse->data);
}

static void add_data(struct wr_sse *sse, weir_span value)
{
    size_t joined_bytes = sse->data.len + sse->has_data + value.len;

    if (joined_bytes > sse->data_bytes_max)
        sse->is_cut = true;
    if (sse->is_cut)
        return;
    if (sse->has_data)
        wr_buf_byte(&sse->data, '\n');
    wr_buf_append(&sse->data, value);
    sse->has_data = true;
    if (wr_buf_status(&sse->data))
        sse->is_cut = true;
}

static void dispatch(struct wr_sse *sse)
{
    struct wr_sse_event event = {wr_buf_view(&sse->name), wr_buf_view(&sse->data), sse->is_cut};

    if (sse->is_cut)
        event.data = (weir_span){"", 0};
    if (sse->has_data || sse->is_cut)
        sse->on_event(sse->user, &event);
    wr_buf_reset(&sse->name);
    wr_buf_reset(&sse->data);
    sse->has_data = sse->is_cut = false;
}

static void take_line(struct wr_sse *sse, weir_span line)
{
    if (sse->is_lines && line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (sse->is_lines && line.len)
        add_data(sse, line);
    if (sse->is_lines || !line.len) {
        dispatch(sse);
        return;
    }
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t at = colon ? (size_t)(colon - line.ptr) : line.len;
    weir_span field = wr_span_cut(line, 0, at);
    weir_span value = wr_span_cut(line, at < line.len ? at + 1 : at, line.len);
    if (value.len && value.ptr[0] == ' ')
        value = wr_span_cut(value, 1, value.len);
    if (wr_span_is(field, "data")) {
        add_data(sse, value);
    } else if (wr_span_is(field, "event")) {
        wr_buf_reset(&sse->name);
        if (value.len <= WR_SSE_NAME_BYTES_MAX)
            wr_buf_append(&sse->name, value);
    }
}

/* A line that does not fit cannot be looked at; as most of what is long is data, its event is taken
 * to be cut. */
static void end_line(struct wr_sse *sse, weir_span rest)
{
    if (sse->is_line_cut || sse->line.len + rest.len > sse->line.cap_max) {
        sse->is_cut = true;
    } else if (!sse->line.len) {
        take_line(sse, rest);
    } else {
        wr_buf_append(&sse->line, rest);
        if (wr_buf_status(&sse->line))
            sse->is_cut = true;
        else
            take_line(sse, wr_buf_view(&sse->line));
    }
    if (sse->is_lines && sse->is_cut)
        dispatch(sse);
    sse->is_line_cut = false;
    wr_buf_reset(&sse->line);
}

static void keep_part(struct wr_sse *sse, weir_span part)
{
    if (sse->is_line_cut || sse->line.len + part.len > sse->line.cap_max) {
        sse->is_line_cut = true;
        wr_buf_reset(&sse->line);
        return;
    }
    wr_buf_append(&sse->line, part);
    if (wr_buf_status(&sse->line))
        sse->is_line_cut = true;
}

static size_t line_end(const struct wr_sse *sse, weir_span chunk, size_t from)
{
    const char *lf = memchr(chunk.ptr + from, '\n', chunk.len - from);
    size_t end = lf ? (size_t)(lf - chunk.ptr) : chunk.len;
    if (sse->is_lines) /* in JSON a CR is white space, and ends nothing */
        return end;
    const char *cr = memchr(chunk.ptr + from, '\r', end - from);
    return cr ? (size_t)(cr - chunk.ptr) : end;
}

/* The mark may come in pieces too: its bytes are dropped one by one while they are the mark's. */
static size_t skip_mark(struct wr_sse *sse, weir_span chunk)
{
    size_t at = 0;
    while (at < chunk.len && sse->seen_bytes < MARK_BYTES) {
        if (chunk.ptr[at] != byte_order_mark[sse->seen_bytes]) {
            sse->seen_bytes = MARK_BYTES;
            break;
        }
        sse->seen_bytes++;
        at++;
    }
    return at;
}

void wr_sse_feed(struct wr_sse *sse, weir_span chunk)
{
    size_t at = skip_mark(sse, chunk);

    while (at < chunk.len) {
        /* A CR has ended its line already; the LF behind it, in whatever chunk, is part of it. */
        if (sse->after_cr && chunk.ptr[at] == '\n') {
            sse->after_cr = false;
            at++;
            continue;
        }
        sse->after_cr = false;
        size_t end = line_end(sse, chunk, at);
        if (end == chunk.len) {
            keep_part(sse, wr_span_cut(chunk, at, end));
            return;
        }
        end_line(sse, wr_span_cut(chunk, at, end));
        sse->after_cr = chunk.ptr[end] == '\r';
        at = end + 1;
    }
}

/* ==== frames of AWS ====
 *
 * The AWS event stream: frames cut out of bytes, and what is in them.
 *
 * A frame is held until it is whole, because its checksum stands at its end. One that is too long
 * for that is held as far as its headers go, and the rest is counted down (`left_bytes`); its
 * checksum is then not looked at, for nothing of its payload is used.
 */

enum {
    PRELUDE_BYTES = 12,
    CHECKED_BYTES = 8, /* of the prelude, before its checksum */
    SUM_BYTES = 4,
    TYPE_TEXT = 7,
};

static uint32_t number_at(weir_span bytes, size_t at)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr + at;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t sum_of(weir_span bytes)
{
    return (uint32_t)crc32(0, (const Bytef *)bytes.ptr, (uInt)bytes.len);
}

/* ---- headers ---- */

/* How many bytes a value of that type takes; SIZE_MAX: the type is not known, or it is cut. */
static size_t value_bytes(unsigned type, weir_span rest)
{
    static const unsigned char fixed[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};

    if (type >= sizeof(fixed))
        return SIZE_MAX;
    if (type != 6 && type != TYPE_TEXT)
        return fixed[type];
    if (rest.len < 2)
        return SIZE_MAX;
    return 2 + ((size_t)(unsigned char)rest.ptr[0] << 8 | (unsigned char)rest.ptr[1]);
}

static void take_header(struct wr_frame *frame, weir_span name, weir_span value)
{
    if (wr_span_is(name, ":message-type"))
        frame->kind = value;
    else if (wr_span_is(name, ":event-type") || wr_span_is(name, ":exception-type") ||
             wr_span_is(name, ":error-code"))
        frame->name = value;
}

/* False: they cannot be read. */
static bool read_headers(struct wr_frame *frame, weir_span rest)
{
    while (rest.len) {
        size_t name_bytes = (unsigned char)rest.ptr[0];
        if (rest.len < name_bytes + 2)
            return false;
        weir_span name = wr_span_cut(rest, 1, 1 + name_bytes);
        unsigned type = (unsigned char)rest.ptr[1 + name_bytes];
        rest = wr_span_from(rest, name_bytes + 2);
        size_t bytes = value_bytes(type, rest);
        if (bytes == SIZE_MAX || bytes > rest.len)
            return false;
        if (type == TYPE_TEXT)
            take_header(frame, name, wr_span_cut(rest, 2, bytes));
        rest = wr_span_from(rest, bytes);
    }
    return true;
}

/* ---- frames ---- */

void wr_frames_init(struct wr_frames *f, size_t frame_bytes_max, wr_frame_fn *on_frame, void *user)
{
    *f = (struct wr_frames){.frame_bytes_max = frame_bytes_max,
                            .wanted_bytes = PRELUDE_BYTES,
                            .on_frame = on_frame,
                            .user = user};
    wr_buf_init(&f->held, frame_bytes_max > WR_NET_FRAME_HEADERS_BYTES_MAX + PRELUDE_BYTES
                              ? frame_bytes_max
                              : WR_NET_FRAME_HEADERS_BYTES_MAX + PRELUDE_BYTES);
}

void wr_frames_release(struct wr_frames *f)
{
    wr_buf_release(&f->held);
}

static void begin_frame(struct wr_frames *f)
{
    wr_buf_reset(&f->held);
    f->wanted_bytes = PRELUDE_BYTES;
    f->has_prelude = false;
    f->left_bytes = 0;
}

static void read_prelude(struct wr_frames *f)
{
    weir_span held = wr_buf_view(&f->held);

    f->frame_bytes = number_at(held, 0);
    f->headers_bytes = number_at(held, 4);
    f->has_prelude = true;
    f->is_lost = sum_of(wr_span_cut(held, 0, CHECKED_BYTES)) != number_at(held, CHECKED_BYTES) ||
                 f->headers_bytes > WR_NET_FRAME_HEADERS_BYTES_MAX ||
                 f->frame_bytes < PRELUDE_BYTES + SUM_BYTES + f->headers_bytes;
    f->wanted_bytes =
        f->frame_bytes <= f->frame_bytes_max ? f->frame_bytes : PRELUDE_BYTES + f->headers_bytes;
    f->left_bytes = f->frame_bytes - f->wanted_bytes;
}

static void tell_frame(struct wr_frames *f)
{
    weir_span held = wr_buf_view(&f->held), none = {"", 0};
    size_t headers_end = PRELUDE_BYTES + f->headers_bytes;
    struct wr_frame frame = {none, none, none, none, held.len < f->frame_bytes};
    bool is_sound = read_headers(&frame, wr_span_cut(held, PRELUDE_BYTES, headers_end));

    if (!frame.is_cut) {
        size_t end = held.len - SUM_BYTES;
        is_sound &= sum_of(wr_span_cut(held, 0, end)) == number_at(held, end);
        frame.payload = wr_span_cut(held, headers_end, end);
        frame.raw = held;
    }
    f->has_spoilt |= !is_sound;
    if (is_sound)
        f->on_frame(f->user, &frame);
}

/* Whether all bytes that were fed have come out as frames; of a stream that has ended: whether
 * nothing of it is missing. */
static bool is_whole(const struct wr_frames *f)
{
    return !f->is_lost && !f->has_spoilt && !f->held.len;
}

void wr_frames_feed(struct wr_frames *f, weir_span chunk)
{
    while (chunk.len && !f->is_lost) {
        bool is_skipping = f->held.len == f->wanted_bytes;
        size_t missing = is_skipping ? f->left_bytes : f->wanted_bytes - f->held.len;
        size_t bytes = missing < chunk.len ? missing : chunk.len;

        if (is_skipping)
            f->left_bytes -= bytes;
        else
            wr_buf_append(&f->held, wr_span_cut(chunk, 0, bytes));
        chunk = wr_span_from(chunk, bytes);
        f->is_lost = wr_buf_status(&f->held) != WEIR_OK;
        if (f->is_lost || f->held.len < f->wanted_bytes)
            return;
        if (!f->has_prelude)
            read_prelude(f);
        if (!f->is_lost && f->held.len == f->wanted_bytes && !f->left_bytes) {
            tell_frame(f);
            begin_frame(f);
        }
    }
}

/* ---- writing ---- */

static void write_number(struct wr_buf *out, uint32_t number)
{
    char bytes[4] = {(char)(number >> 24), (char)(number >> 16), (char)(number >> 8), (char)number};
    wr_buf_append(out, (weir_span){bytes, sizeof(bytes)});
}

static void write_header(struct wr_buf *out, const char *name, weir_span value)
{
    wr_buf_byte(out, (char)strlen(name));
    wr_buf_text(out, name);
    wr_buf_byte(out, TYPE_TEXT);
    wr_buf_byte(out, (char)(value.len >> 8));
    wr_buf_byte(out, (char)value.len);
    wr_buf_append(out, value);
}

static size_t header_bytes(const char *name, weir_span value)
{
    return 1 + strlen(name) + 1 + 2 + value.len;
}

void wr_frame_write(struct wr_buf *out, const char *kind, weir_span name, weir_span payload)
{
    const char *name_header = strcmp(kind, "event") ? ":exception-type" : ":event-type";
    static const char type_header[] = ":content-type", kind_header[] = ":message-type";
    weir_span type = WR_LIT("application/json"), kind_span = wr_span_of(kind);
    size_t at = out->len;
    size_t headers_bytes = header_bytes(name_header, name) + header_bytes(type_header, type) +
                           header_bytes(kind_header, kind_span);

    write_number(out, (uint32_t)(PRELUDE_BYTES + headers_bytes + payload.len + SUM_BYTES));
    write_number(out, (uint32_t)headers_bytes);
    if (wr_buf_status(out))
        return;
    write_number(out, sum_of(wr_span_cut(wr_buf_view(out), at, at + CHECKED_BYTES)));
    write_header(out, name_header, name);
    write_header(out, type_header, type);
    write_header(out, kind_header, kind_span);
    wr_buf_append(out, payload);
    if (!wr_buf_status(out))
        write_number(out, sum_of(wr_span_cut(wr_buf_view(out), at, out->len)));
}

void wr_frame_wrap(weir_span data, struct wr_buf *payload)
{
    wr_buf_text(payload, "{\"bytes\":\"");
    wr_base64_encode(data, payload);
    wr_buf_text(payload, "\"}");
}

/* ---- what a frame says ---- */

static void write_error(struct wr_buf *data, weir_span name, weir_span message)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, data);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "type", "error");
    wr_json_write_key(&w, "error");
    wr_json_write_object(&w);
    wr_json_member_text(&w, "type", name);
    wr_json_member_text(&w, "message", message);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
}

/* What an event calls itself, which a text/event-stream says beside the data too. False: there is
 * no memory. */
static bool read_type(weir_span data, struct wr_arena *arena, weir_span *name)
{
    struct wr_json doc;

    *name = (weir_span){"", 0};
    wr_arena_reset(arena);
    weir_status status = wr_json_parse(&doc, arena, data, NULL, NULL);
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return status != WEIR_NOMEM;
    wr_json_id type = wr_json_find(&doc, 0, "type");
    if (wr_json_is(&doc, type, WR_JSON_STRING))
        *name = wr_json_inner(&doc, type);
    return true;
}

bool wr_frame_open(const struct wr_frame *frame, struct wr_arena *arena, struct wr_buf *data,
                   struct wr_sse_event *event)
{
    bool is_event = !frame->kind.len || wr_span_is(frame->kind, "event");
    struct wr_json doc;
    wr_json_id inner;

    *event = (struct wr_sse_event){frame->name, frame->payload, frame->is_cut};
    wr_buf_reset(data);
    if (frame->is_cut || (is_event && !wr_span_is(frame->name, "chunk")))
        return true;
    wr_arena_reset(arena);
    weir_status status = wr_json_parse(&doc, arena, frame->payload, NULL, NULL);
    bool is_json = !status;
    if (status == WEIR_NOMEM)
        return false;
    if (!is_event) {
        weir_span message = frame->payload;
        inner = is_json ? wr_json_find(&doc, 0, "message") : WR_JSON_NONE;
        if (is_json && wr_json_is(&doc, inner, WR_JSON_STRING))
            message = wr_json_text(&doc, arena, inner);
        if (message.ptr)
            write_error(data, frame->name, message);
        *event = (struct wr_sse_event){WR_LIT("error"), wr_buf_view(data), false};
        return message.ptr && !wr_buf_status(data);
    }
    inner = is_json ? wr_json_find(&doc, 0, "bytes") : WR_JSON_NONE;
    if (!is_json || !wr_json_is(&doc, inner, WR_JSON_STRING))
        return is_json;
    /* Some write "/" as "\/". */
    weir_span text = wr_json_text(&doc, arena, inner);
    if (!text.ptr || !wr_base64_decode(text, data))
        return false;
    *event = (struct wr_sse_event){{"", 0}, wr_buf_view(data), false};
    return read_type(event->data, arena, &event->name);
}

/* ==== frames to events and back ====
 *
 * Every frame that came is kept until its event comes out again, known by a hash of what the event
 * says. Most come out at once and in order, so the search begins at the oldest that is left. Frames
 * of events that never come out (hidden ones, and those that got other numbers) are kept to the end
 * of their stream, within a cap; past it frames are made anew, which says the same in other bytes.
 * They would make every search longer than the last, so only the newest are sought among.
 */

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
static bool keep_event(struct wr_bridge *b, const struct wr_sse_event *event, weir_span raw)
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
    (void)keep_event(b, &event, frame->raw);
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
    return b->is_lost || !is_whole(&b->frames);
}
