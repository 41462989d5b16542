#include "proxy/tap.h"

#include "base/limits.h"
#include "base/span.h"

static weir_status on_decoded(void *user, weir_span bytes)
{
    struct wr_tap *tap = user;
    if (tap->kind == WR_TAP_STREAM)
        wr_answer_feed(&tap->answer, bytes);
    else if (tap->kind == WR_TAP_FRAMES)
        wr_answer_feed_frames(&tap->answer, bytes);
    else
        wr_buf_append(&tap->whole, bytes);
    return wr_buf_status(&tap->whole);
}

void wr_tap_init(struct wr_tap *tap, const struct wr_api *api, const struct wr_head *answer,
                 struct wr_arena *arena)
{
    weir_span type = wr_head_find(answer, "content-type");
    enum wr_coding coding = wr_coding_of(wr_head_find(answer, "content-encoding"));

    *tap = (struct wr_tap){.kind = WR_TAP_OFF};
    wr_answer_init(&tap->answer, &(struct wr_answer_options){.api = api, .arena = arena});
    wr_buf_init(&tap->whole, WR_PROXY_ANSWER_BYTES_MAX);
    if (wr_answer_is_stream(api, type))
        tap->kind = WR_TAP_STREAM;
    else if (wr_span_starts(type, WR_LIT(WR_FRAMES_TYPE)))
        tap->kind = WR_TAP_FRAMES;
    else if (wr_span_starts(type, WR_LIT("application/json")))
        tap->kind = WR_TAP_WHOLE;
    if (!api || coding == WR_CODING_UNKNOWN)
        tap->kind = WR_TAP_OFF;
    if (tap->kind == WR_TAP_OFF || coding == WR_CODING_IDENTITY)
        return;
    tap->decoder = wr_decoder_new(coding, SIZE_MAX, on_decoded, tap);
    if (!tap->decoder)
        tap->kind = WR_TAP_OFF;
}

void wr_tap_feed(struct wr_tap *tap, weir_span bytes)
{
    if (tap->kind == WR_TAP_OFF)
        return;
    weir_status status =
        tap->decoder ? wr_decoder_feed(tap->decoder, bytes) : on_decoded(tap, bytes);
    if (!status)
        return;
    tap->kind = WR_TAP_OFF;
    wr_buf_release(&tap->whole);
}

void wr_tap_end(struct wr_tap *tap)
{
    if (tap->kind == WR_TAP_STREAM)
        wr_answer_end_feed(&tap->answer);
    if (tap->kind != WR_TAP_WHOLE)
        return;
    wr_arena_reset(tap->answer.arena);
    weir_status status = wr_answer_whole(&tap->answer, wr_buf_view(&tap->whole), NULL);
    if (status == WEIR_SYNTAX && tap->answer.api->streams_lines) { /* lines that are called JSON */
        wr_answer_feed(&tap->answer, wr_buf_view(&tap->whole));
        wr_answer_end_feed(&tap->answer);
    }
}

void wr_tap_tell(const struct wr_tap *tap, struct wr_record *r)
{
    const struct wr_reply *answer = &tap->answer;

    r->is_answer_read = r->api != NULL;
    if (answer->arena)
        r->usage = answer->usage;
    r->is_usage_known = wr_seen_usage_is_known(&r->usage);
    r->answer_events = answer->events_count;
    r->answer_calls = answer->parts_count;
    r->is_answer_finished = answer->is_finished;
    r->answer_model = wr_span_of(answer->model);
    if (answer->has_error)
        r->answer_error = wr_span_of(answer->error);
    r->answer_finish = wr_span_of(answer->finish);
    r->cache_miss = wr_span_of(answer->miss);
}

void wr_tap_release(struct wr_tap *tap)
{
    wr_decoder_free(tap->decoder);
    wr_buf_release(&tap->whole);
    wr_answer_release(&tap->answer);
    tap->decoder = NULL;
    tap->kind = WR_TAP_OFF;
}
