#include "replay/strict_check.h"

#include "base/limits.h"
#include "base/span.h"
#include "condense/signal.h"
#include "policy/output.h"
#include "transcript/tool.h"
#include "wire/wire.h"

static weir_status join_words(struct wr_strict_body *body, struct wr_arena *arena)
{
    const struct wr_transcript *t = &body->transcript;
    struct wr_buf words;

    wr_buf_init(&words, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        wr_buf_append(&words, wr_segment_text(t, &t->segments[i], arena));
        wr_buf_byte(&words, '\n');
    }
    weir_status status = wr_buf_status(&words);
    if (!status)
        body->words = wr_arena_copy(arena, wr_buf_view(&words));
    wr_buf_release(&words);
    return status ? status : wr_arena_status(arena);
}

weir_status wr_strict_body_read(struct wr_strict_body *body, struct wr_arena *arena,
                                weir_span bytes, const char *dialect, struct wr_memo *memo)
{
    struct wr_wire_options options = {.dialect = dialect, .memo = memo, .structure_only = !memo};
    weir_status status = wr_json_parse(&body->doc, arena, bytes, NULL, NULL);
    if (!status)
        status = wr_wire_read(&body->transcript, arena, &body->doc, &options, NULL);
    return status ? status : join_words(body, arena);
}

/* ---- structure ---- */

bool wr_strict_same_root(const struct wr_strict_body *in, const struct wr_strict_body *out)
{
    wr_json_id a = wr_json_first(&in->doc, 0), b = wr_json_first(&out->doc, 0);

    while (a != WR_JSON_NONE && b != WR_JSON_NONE) {
        bool is_list = wr_json_value(a) == in->transcript.list;
        if (!wr_span_eq(wr_json_raw(&in->doc, a), wr_json_raw(&out->doc, b)))
            return false;
        if (is_list != (wr_json_value(b) == out->transcript.list))
            return false;
        if (!is_list && !wr_span_eq(wr_json_raw(&in->doc, wr_json_value(a)),
                                    wr_json_raw(&out->doc, wr_json_value(b))))
            return false;
        a = wr_json_next(&in->doc, 0, a);
        b = wr_json_next(&out->doc, 0, b);
    }
    return a == b;
}

bool wr_strict_same_value(const struct wr_strict_body *in, const struct wr_strict_body *out,
                          struct wr_arena *arena, weir_span pointer)
{
    wr_json_id a = wr_json_pointer(&in->doc, arena, pointer);
    wr_json_id b = wr_json_pointer(&out->doc, arena, pointer);
    return a != WR_JSON_NONE && b != WR_JSON_NONE &&
           wr_span_eq(wr_json_raw(&in->doc, a), wr_json_raw(&out->doc, b));
}

static bool is_link(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT;
}

static bool is_same_link(const struct wr_segment *a, const struct wr_segment *b)
{
    return a->kind == b->kind && wr_span_eq(a->call_id, b->call_id) &&
           (a->pair == WR_SEGMENT_NONE) == (b->pair == WR_SEGMENT_NONE);
}

bool wr_strict_same_calls(const struct wr_strict_body *in, const struct wr_strict_body *out)
{
    const struct wr_transcript *a = &in->transcript, *b = &out->transcript;
    uint32_t at = 0;

    for (uint32_t i = 0; i < b->segments_count; i++) {
        if (!is_link(&b->segments[i]))
            continue;
        while (at < a->segments_count && !is_same_link(&a->segments[at], &b->segments[i]))
            at++;
        if (at++ == a->segments_count)
            return false;
    }
    return true;
}

bool wr_strict_offers_recall(const struct wr_strict_body *body)
{
    wr_json_id tools = wr_json_find(&body->doc, 0, "tools");
    for (wr_json_id id = wr_json_first(&body->doc, tools); id != WR_JSON_NONE;
         id = wr_json_next(&body->doc, tools, id)) {
        wr_json_id function = wr_json_find(&body->doc, id, "function");
        wr_json_id name =
            wr_json_find(&body->doc, function == WR_JSON_NONE ? id : function, "name");
        if (wr_json_is(&body->doc, name, WR_JSON_STRING) &&
            wr_tool_is_recall(wr_json_inner(&body->doc, name)))
            return true;
    }
    return false;
}

const struct wr_segment *wr_strict_result_of(const struct wr_strict_body *body, weir_span call_id)
{
    const struct wr_transcript *t = &body->transcript;
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            wr_span_eq(t->segments[i].call_id, call_id))
            return &t->segments[i];
    return NULL;
}

/* ---- handles ---- */

static bool has_handle(const struct wr_strict_handles *handles, weir_handle handle)
{
    for (uint32_t i = 0; i < handles->count; i++)
        if (!memcmp(&handles->items[i], &handle, sizeof(handle)))
            return true;
    return false;
}

weir_status wr_strict_handles(struct wr_strict_handles *handles, struct wr_arena *arena,
                              weir_span words)
{
    uint32_t cap = 0;
    weir_handle handle;

    *handles = (struct wr_strict_handles){NULL, 0};
    for (size_t at = 0; (at = weir_handle_find(words, at, &handle)) != SIZE_MAX;
         at += WEIR_HANDLE_TEXT_BYTES) {
        if (has_handle(handles, handle))
            continue;
        if (handles->count == cap) {
            uint32_t wanted = cap ? cap * 2 : 16;
            handles->items =
                wr_arena_grow(arena, handles->items, cap * sizeof(handle), wanted * sizeof(handle));
            if (!handles->items)
                return wr_arena_status(arena);
            cap = wanted;
        }
        handles->items[handles->count++] = handle;
    }
    return WEIR_OK;
}

/* ---- signals ---- */

static bool is_critical(enum wr_signal_kind kind)
{
    return kind == WR_SIGNAL_CRITICAL || kind == WR_SIGNAL_ERROR || kind == WR_SIGNAL_EXIT ||
           kind == WR_SIGNAL_FAILED_TEST;
}

weir_status wr_strict_count_signals(struct wr_strict_signals *signals, struct wr_arena *arena,
                                    const struct wr_strict_body *in,
                                    const struct wr_strict_body *out,
                                    const struct wr_segment *result, bool is_recallable)
{
    const struct wr_segment *sent = wr_strict_result_of(out, result->call_id);
    weir_span text = wr_segment_text(&in->transcript, result, arena);
    weir_span form = sent ? wr_segment_text(&out->transcript, sent, arena) : WR_LIT("");
    struct wr_signal_set before, after;

    if (!text.ptr || !form.ptr)
        return wr_arena_status(arena);
    enum wr_output_kind kind = wr_output_kind_of(result, text);
    weir_status status = wr_signal_scan(&before, arena, text, kind);
    if (!status)
        status = wr_signal_scan(&after, arena, form, kind);
    for (uint32_t i = 0; !status && i < before.count; i++) {
        const struct wr_signal *s = &before.signals[i];
        if (!is_critical(s->kind))
            continue;
        bool is_kept = is_recallable || wr_signal_set_find(&after, s->kind, s->text) ||
                       wr_span_find(out->words, s->text, 0) != SIZE_MAX;
        signals->count++;
        signals->kept += is_kept;
        if (!is_kept && !signals->lost.len)
            signals->lost = s->text;
    }
    return status;
}
