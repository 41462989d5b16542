/* The reader of AWS event streams.
 *
 * The first byte of an input says how it is cut. The rest is a stream as it comes, or (where the
 * second byte is odd) payloads cut at 0xFF of which sound frames are made, with one byte spoilt at
 * the place that the input's last bytes say. Of all:
 *   every way of cutting gives the same frames;
 *   they are those that a second reader finds, which has all bytes at once and computes the
 * checksum bit by bit;
 *   what goes over the bridge to events and back is the stream, byte for byte, or the bridge says
 * that something of it was lost. Of sound frames also: each comes back as it was written, but for
 * the one that was spoilt.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/events.h"
#include "base/limits.h"
#include "base/span.h"

enum { TRACE_BYTES_MAX = 16 * 1024 * 1024, FRAME_BYTES_MAX = 300 };

static void tell(struct wr_buf *out, weir_span kind, weir_span name, weir_span payload, bool is_cut)
{
    wr_buf_printf(out, "%d:", is_cut);
    wr_buf_append(out, kind);
    wr_buf_byte(out, ' ');
    wr_buf_append(out, name);
    wr_buf_byte(out, '|');
    wr_buf_append(out, payload);
    wr_buf_byte(out, '\n');
}

struct listener {
    struct wr_buf *out;
    struct wr_arena arena;
    struct wr_buf data;
};

static void on_frame(void *user, const struct wr_frame *frame)
{
    struct listener *l = user;
    struct wr_sse_event event;

    tell(l->out, frame->kind, frame->name, frame->payload, frame->is_cut);
    (void)wr_frame_open(frame, &l->arena, &l->data, &event);
}

static void read_pieces(weir_span input, size_t piece, struct wr_buf *out)
{
    struct listener l = {.out = out};
    struct wr_frames frames;

    wr_arena_init(&l.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&l.data, FRAME_BYTES_MAX * 8);
    wr_frames_init(&frames, FRAME_BYTES_MAX, on_frame, &l);
    for (size_t at = 0; at < input.len; at += piece)
        wr_frames_feed(&frames,
                       wr_span_cut(input, at, input.len - at < piece ? input.len : at + piece));
    wr_frames_release(&frames);
    wr_buf_release(&l.data);
    wr_arena_release(&l.arena);
}

/* ---- the second reader ---- */

static uint32_t slow_sum(const unsigned char *bytes, size_t count)
{
    uint32_t sum = 0xFFFFFFFFu;

    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xEDB88320u : sum >> 1;
    }
    return ~sum;
}

static size_t big(const unsigned char *p, size_t bytes)
{
    size_t number = 0;
    while (bytes--)
        number = number << 8 | *p++;
    return number;
}

/* False: the headers end in the middle of one, or have a type that nobody knows. */
static bool walk_headers(const unsigned char *p, size_t left, weir_span *kind, weir_span *name)
{
    while (left) {
        size_t name_bytes = *p, value = 0, skip;
        if (left < 2 + name_bytes)
            return false;
        weir_span key = {(const char *)p + 1, name_bytes};
        unsigned type = p[1 + name_bytes];
        p += 2 + name_bytes;
        left -= 2 + name_bytes;
        switch (type) {
        case 0:
        case 1:
            skip = 0;
            break;
        case 2:
            skip = 1;
            break;
        case 3:
            skip = 2;
            break;
        case 4:
            skip = 4;
            break;
        case 5:
        case 8:
            skip = 8;
            break;
        case 9:
            skip = 16;
            break;
        case 6:
        case 7:
            if (left < 2)
                return false;
            value = big(p, 2);
            skip = 2 + value;
            break;
        default:
            return false;
        }
        if (skip > left)
            return false;
        weir_span text = {(const char *)p + 2, value};
        if (type == 7 && wr_span_is(key, ":message-type"))
            *kind = text;
        else if (type == 7 &&
                 (wr_span_is(key, ":event-type") || wr_span_is(key, ":exception-type") ||
                  wr_span_is(key, ":error-code")))
            *name = text;
        p += skip;
        left -= skip;
    }
    return true;
}

static void read_at_once(weir_span input, struct wr_buf *out)
{
    const unsigned char *p = (const unsigned char *)input.ptr;

    for (size_t left = input.len; left >= 12;) {
        size_t all = big(p, 4), headers = big(p + 4, 4);
        if (slow_sum(p, 8) != big(p + 8, 4) || headers > WR_NET_FRAME_HEADERS_BYTES_MAX ||
            all < headers + 16)
            return;
        if (left < all)
            return;
        weir_span kind = {"", 0}, name = {"", 0};
        bool is_cut = all > FRAME_BYTES_MAX;
        bool is_sound = walk_headers(p + 12, headers, &kind, &name) &&
                        (is_cut || slow_sum(p, all - 4) == big(p + all - 4, 4));
        if (is_sound)
            tell(out, kind, name,
                 is_cut ? (weir_span){"", 0}
                        : (weir_span){(const char *)p + 12 + headers, all - headers - 16},
                 is_cut);
        p += all;
        left -= all;
    }
}

/* ---- sound frames ---- */

static void make_frames(weir_span acts, struct wr_buf *stream, struct wr_buf *expected)
{
    while (acts.len) {
        const char *end = memchr(acts.ptr, 0xFF, acts.len);
        size_t bytes = end ? (size_t)(end - acts.ptr) : acts.len;
        weir_span payload = wr_span_cut(acts, 0, bytes);
        const char *kind = bytes % 3 ? "event" : "exception";
        weir_span name = bytes % 2 ? WR_LIT("chunk") : WR_LIT("messageStop");
        size_t at = stream->len;
        wr_frame_write(stream, kind, name, payload);
        bool is_cut = stream->len - at > FRAME_BYTES_MAX;
        tell(expected, wr_span_of(kind), name, is_cut ? (weir_span){"", 0} : payload, is_cut);
        acts = wr_span_from(acts, bytes + (end ? 1 : 0));
    }
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "not so: %s\n", what);
    abort();
}

static void check_bridge(weir_span stream, size_t piece)
{
    struct wr_bridge *bridge = wr_bridge_new();
    struct wr_buf events, back;

    require(bridge != NULL, "there is memory");
    wr_buf_init(&events, TRACE_BYTES_MAX);
    wr_buf_init(&back, TRACE_BYTES_MAX);
    for (size_t at = 0; at < stream.len; at += piece) {
        wr_buf_reset(&events);
        wr_bridge_in(bridge,
                     wr_span_cut(stream, at, stream.len - at < piece ? stream.len : at + piece),
                     &events);
        wr_bridge_out(bridge, wr_buf_view(&events), &back);
    }
    require(wr_bridge_is_lost(bridge) || wr_span_eq(wr_buf_view(&back), stream),
            "what is not touched leaves as it came");
    wr_bridge_free(bridge);
    wr_buf_release(&events);
    wr_buf_release(&back);
}

static void check_stream(weir_span stream, size_t piece, struct wr_buf *once)
{
    struct wr_buf cut, other;

    wr_buf_init(&cut, TRACE_BYTES_MAX);
    wr_buf_init(&other, TRACE_BYTES_MAX);
    read_pieces(stream, SIZE_MAX / 2, once);
    read_pieces(stream, piece, &cut);
    read_at_once(stream, &other);
    require(wr_span_eq(wr_buf_view(once), wr_buf_view(&cut)), "every cut gives the same");
    require(wr_span_eq(wr_buf_view(once), wr_buf_view(&other)), "the second reader agrees");
    check_bridge(stream, piece);
    wr_buf_release(&cut);
    wr_buf_release(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_buf stream, expected, once;

    if (size < 3 || size > 64 * 1024)
        return 0;
    size_t piece = (size_t)data[0] % 64 + 1;
    weir_span rest = {(const char *)data + 2, size - 2};
    wr_buf_init(&stream, TRACE_BYTES_MAX);
    wr_buf_init(&expected, TRACE_BYTES_MAX);
    wr_buf_init(&once, TRACE_BYTES_MAX);
    if (data[1] % 2) {
        make_frames(rest, &stream, &expected);
        check_stream(wr_buf_view(&stream), piece, &once);
        require(wr_span_eq(wr_buf_view(&once), wr_buf_view(&expected)), "what was written is read");
        size_t spoilt = ((size_t)data[size - 1] << 8 | data[0]) % stream.len;
        stream.bytes[spoilt] = (char)(stream.bytes[spoilt] ^ (data[1] | 1));
        wr_buf_reset(&once);
        check_stream(wr_buf_view(&stream), piece, &once);
    } else {
        check_stream(rest, piece, &once);
    }
    wr_buf_release(&stream);
    wr_buf_release(&expected);
    wr_buf_release(&once);
    return 0;
}
