/* An exchange of the proxy's own recall as bytes, as the store keeps it (own_api.h shows them). */
#include "api/own_api.h"
#include "base/limits.h"
#include "base/span.h"

enum { VERSION = 1, SUM_BYTES = 8 };

static void put_number(struct wr_buf *out, uint64_t number)
{
    for (; number > 127; number >>= 7)
        wr_buf_byte(out, (char)((number & 127) | 128));
    wr_buf_byte(out, (char)number);
}

static void put_text(struct wr_buf *out, weir_span text)
{
    put_number(out, text.len);
    wr_buf_append(out, text);
}

static void put_beside(struct wr_buf *out, const struct wr_leg *leg)
{
    uint32_t shown = 0, calls = 0;
    size_t own = 0;

    for (size_t i = 0; i < leg->parts_count; i++)
        shown += leg->parts[i].kind != WR_LEG_OWN;
    put_number(out, 1);
    put_number(out, shown);
    put_number(out, leg->calls_count);
    shown = 0;
    for (size_t i = 0; i < leg->parts_count; i++) {
        if (leg->parts[i].kind != WR_LEG_OWN) {
            shown++;
            calls += leg->parts[i].kind == WR_LEG_CALL;
            continue;
        }
        put_number(out, calls);
        put_number(out, shown);
        put_text(out, leg->parts[i].json);
        put_text(out, leg->results[own++]);
    }
}

static void put_sum(struct wr_buf *out, size_t from)
{
    uint64_t sum = wr_hash64(wr_span_from(wr_buf_view(out), from));

    for (size_t i = 0; i < SUM_BYTES; i++)
        wr_buf_byte(out, (char)(sum >> 8 * i & 255));
}

void wr_own_encode(weir_dialect dialect, const struct wr_leg *legs, size_t legs_count,
                   struct wr_buf *out)
{
    size_t from = out->len, count = 0;

    for (size_t i = 0; i < legs_count; i++)
        count += legs[i].verdict != WR_JOIN_PLAIN;
    wr_buf_text(out, "WX");
    put_number(out, VERSION);
    put_number(out, (uint64_t)dialect);
    put_number(out, count);
    for (size_t i = 0; i < legs_count; i++) {
        if (legs[i].verdict == WR_JOIN_BESIDE)
            put_beside(out, &legs[i]);
        if (legs[i].verdict != WR_JOIN_ASK)
            continue;
        put_number(out, 0);
        put_text(out, legs[i].elements);
    }
    if (!wr_buf_status(out))
        put_sum(out, from);
}

struct reader {
    weir_span rest;
    bool is_bad;
};

static uint64_t take_number(struct reader *r, uint64_t most)
{
    uint64_t number = 0;

    for (unsigned shift = 0; r->rest.len && shift < 63; shift += 7) {
        unsigned char byte = (unsigned char)r->rest.ptr[0];
        r->rest = wr_span_from(r->rest, 1);
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            r->is_bad |= number > most;
            return number > most ? 0 : number;
        }
    }
    r->is_bad = true;
    return 0;
}

static weir_span take_text(struct reader *r)
{
    size_t bytes = (size_t)take_number(r, r->rest.len);

    if (r->is_bad || bytes > r->rest.len) {
        r->is_bad = true;
        return (weir_span){"", 0};
    }
    weir_span text = wr_span_cut(r->rest, 0, bytes);
    r->rest = wr_span_from(r->rest, bytes);
    return text;
}

static weir_status take_leg(struct reader *r, struct wr_arena *arena, struct wr_own_leg *leg)
{
    bool is_beside = take_number(r, 1);

    if (!is_beside) {
        leg->elements = take_text(r);
        r->is_bad |= !leg->elements.len;
        return WEIR_OK;
    }
    leg->parts_count = (uint32_t)take_number(r, WR_AGENT_BLOCKS_MAX);
    leg->hidden_count = (uint32_t)take_number(r, WR_AGENT_BLOCKS_MAX);
    if (r->is_bad)
        return WEIR_OK;
    leg->hidden = WR_ARENA_ARRAY(arena, struct wr_own_hidden, leg->hidden_count);
    if (!leg->hidden)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < leg->hidden_count; i++) {
        leg->hidden[i].calls_before = (uint32_t)take_number(r, WR_AGENT_BLOCKS_MAX);
        leg->hidden[i].parts_before = (uint32_t)take_number(r, WR_AGENT_BLOCKS_MAX);
        leg->hidden[i].call = take_text(r);
        leg->hidden[i].result = take_text(r);
    }
    return WEIR_OK;
}

static bool has_sum(weir_span bytes)
{
    if (bytes.len < SUM_BYTES)
        return false;
    uint64_t sum = wr_hash64(wr_span_cut(bytes, 0, bytes.len - SUM_BYTES)), said = 0;
    for (size_t i = 0; i < SUM_BYTES; i++)
        said |= (uint64_t)(unsigned char)bytes.ptr[bytes.len - SUM_BYTES + i] << 8 * i;
    return said == sum;
}

weir_status wr_own_decode(weir_dialect dialect, weir_span bytes, struct wr_arena *arena,
                          struct wr_own_exchange *exchange)
{
    weir_status status = WEIR_OK;

    if (!has_sum(bytes) || !wr_span_starts(bytes, WR_LIT("WX")))
        return WEIR_INVALID;
    struct reader r = {wr_span_cut(bytes, 2, bytes.len - SUM_BYTES), false};
    if (take_number(&r, VERSION) != VERSION || take_number(&r, 255) != (uint64_t)dialect)
        return WEIR_INVALID;
    exchange->legs_count = (uint32_t)take_number(&r, WR_JOINED_LEGS_MAX);
    exchange->legs = WR_ARENA_ARRAY(arena, struct wr_own_leg, exchange->legs_count);
    if (!exchange->legs)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < exchange->legs_count && !r.is_bad && !status; i++)
        status = take_leg(&r, arena, &exchange->legs[i]);
    if (status)
        return status;
    /* Other calls go to the client, so the leg that has them is the last. */
    for (uint32_t i = 0; i + 1 < exchange->legs_count && !r.is_bad; i++)
        r.is_bad = !exchange->legs[i].elements.len;
    return r.is_bad || r.rest.len || !exchange->legs_count ? WEIR_INVALID : WEIR_OK;
}
