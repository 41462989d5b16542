/* What a request consists of, for `weir inspect` and for weir_call(): one writer, so that a program
 * and the command line say the same. Segments are shown through their public view (weir_segment):
 * what is written is what a program that uses the library can know. Totals are by kind and class.
 */
#include "face/inspection.h"

#include <string.h>

#include "base/span.h"
#include "engine/engine.h"

static void add_to_tally(struct wr_tally *tally, uint64_t bytes, uint64_t tokens)
{
    tally->segments++;
    tally->bytes += bytes;
    tally->tokens += tokens;
}

static void view_of(const struct wr_inspection *in, uint32_t i, struct weir_segment *view)
{
    if (weir_request_segment(in->request, i, view))
        *view = (struct weir_segment){0};
}

static void make_totals(struct wr_inspection *in)
{
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        uint64_t bytes = s.span.end - s.span.start;
        add_to_tally(&in->all, bytes, in->measured.segment_tokens[i]);
        add_to_tally(&in->by_kind[s.kind], bytes, in->measured.segment_tokens[i]);
        add_to_tally(&in->by_class[s.class_], bytes, in->measured.segment_tokens[i]);
    }
}

weir_status wr_inspection_make(struct wr_inspection *in, struct weir_request *request,
                               struct wr_meter *meter, size_t body_bytes)
{
    *in = (struct wr_inspection){
        .request = request,
        .method = wr_meter_method(meter),
        .confidence = wr_confidence_text(wr_confidence_of(wr_meter_source(meter), true)),
        .body_bytes = body_bytes};
    weir_status status =
        wr_meter_measure(meter, &request->transcript, &request->arena, &in->measured);
    if (!status)
        make_totals(in);
    return status;
}

static void write_member(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (text.len)
        wr_json_member_text(w, key, text);
}

static void write_text_or_null(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    if (text.len)
        wr_json_write_text(w, text);
    else
        wr_json_write_null(w);
}

static void write_known(struct wr_json_writer *w, const char *key, int64_t number, int64_t unknown)
{
    if (number != unknown)
        wr_json_member_i64(w, key, number);
}

static void write_index(struct wr_json_writer *w, const char *key, uint32_t index)
{
    wr_json_write_key(w, key);
    if (index == WEIR_NONE)
        wr_json_write_null(w);
    else
        wr_json_write_i64(w, index);
}

static void write_range(struct wr_json_writer *w, weir_range range)
{
    wr_json_write_array(w);
    wr_json_write_i64(w, range.start);
    wr_json_write_i64(w, range.end);
    wr_json_write_array_end(w);
}

static void write_handles(struct wr_json_writer *w, const struct weir_handles *h)
{
    wr_json_member_object(w, "handles");
    if (h->effect)
        wr_json_member_word(w, "effect", h->effect);
    write_member(w, "path", h->path);
    write_known(w, "start_line", h->start_line, 0);
    write_known(w, "end_line", h->end_line, 0);
    write_known(w, "offset", h->offset, -1);
    write_known(w, "limit", h->limit, -1);
    write_known(w, "next_offset", h->next_offset, -1);
    write_known(w, "total_lines", h->total_lines, -1);
    write_member(w, "query", h->query);
    write_member(w, "command", h->command);
    write_member(w, "process_id", h->process_id);
    write_member(w, "cursor", h->cursor);
    write_member(w, "mode", h->mode);
    write_member(w, "spill_path", h->spill_path);
    if (h->has_exit_code)
        wr_json_member_i64(w, "exit_code", h->exit_code);
    if (h->truncated && strcmp(h->truncated, "none"))
        wr_json_member_word(w, "truncated", h->truncated);
    wr_json_write_object_end(w);
}

static void write_segment(struct wr_json_writer *w, const struct weir_segment *s, uint64_t tokens)
{
    wr_json_write_object(w);
    write_index(w, "i", s->index);
    write_index(w, "turn", s->turn);
    write_index(w, "loop", s->loop);
    write_index(w, "group", s->group);
    wr_json_member_word(w, "role", weir_role_name(s->role));
    wr_json_member_word(w, "kind", weir_kind_name(s->kind));
    wr_json_member_word(w, "class", weir_class_name(s->class_));
    wr_json_member_word(w, "why", s->why);
    if (s->why_other != WEIR_NONE)
        write_index(w, "why_segment", s->why_other);
    write_text_or_null(w, "tool", s->tool);
    write_text_or_null(w, "call_id", s->call_id);
    write_index(w, "pair", s->pair);
    wr_json_member_i64(w, "bytes", s->span.end - s->span.start);
    wr_json_member_i64(w, "tokens", (int64_t)tokens);
    wr_json_write_key(w, "span");
    write_range(w, s->span);
    wr_json_member_array(w, "parts");
    for (uint32_t p = 0; p < s->parts_count; p++)
        write_range(w, s->parts[p]);
    wr_json_write_array_end(w);
    write_handles(w, &s->handles);
    wr_json_member_bool(w, "stale", !strcmp(s->stale, "yes"));
    if (!strcmp(s->stale, "maybe"))
        write_member(w, "stale_doubt", WR_LIT("a later call may have changed it"));
    if (s->is_superseded)
        wr_json_member_bool(w, "superseded", true);
    wr_json_member_bool(w, "error", s->is_error);
    wr_json_write_object_end(w);
}

static void write_tally(struct wr_json_writer *w, const char *key, const struct wr_tally *tally)
{
    wr_json_member_object(w, key);
    wr_json_member_i64(w, "segments", (int64_t)tally->segments);
    wr_json_member_i64(w, "bytes", (int64_t)tally->bytes);
    wr_json_member_i64(w, "tokens", (int64_t)tally->tokens);
    wr_json_write_object_end(w);
}

static void write_totals(struct wr_json_writer *w, const struct wr_inspection *in)
{
    wr_json_member_object(w, "totals");
    wr_json_member_i64(w, "segments", (int64_t)in->all.segments);
    wr_json_member_i64(w, "bytes", (int64_t)in->all.bytes);
    wr_json_member_i64(w, "body_bytes", (int64_t)in->body_bytes);
    wr_json_member_i64(w, "tokens", (int64_t)in->all.tokens);
    wr_json_member_i64(w, "overhead_tokens", (int64_t)in->measured.overhead_tokens);
    wr_json_member_word(w, "counted_by", in->method);
    wr_json_member_word(w, "confidence", in->confidence);
    wr_json_member_object(w, "by_kind");
    for (int k = 0; k < WR_KINDS_COUNT; k++)
        if (in->by_kind[k].segments)
            write_tally(w, weir_kind_name((weir_kind)k), &in->by_kind[k]);
    wr_json_write_object_end(w);
    wr_json_member_object(w, "by_class");
    for (int c = 0; c < WR_CLASSES_COUNT; c++)
        if (in->by_class[c].segments)
            write_tally(w, weir_class_name((weir_class)c), &in->by_class[c]);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

void wr_inspection_write(struct wr_json_writer *w, const struct wr_inspection *in)
{
    wr_json_member_word(w, "dialect", weir_dialect_name(weir_request_dialect(in->request)));
    wr_json_member_text(w, "model", weir_request_model(in->request));
    wr_json_member_bool(w, "delta", weir_request_is_delta(in->request));
    wr_json_member_i64(w, "turns", weir_request_turns(in->request));
    wr_json_member_i64(w, "loops", weir_request_loops(in->request));
    wr_json_member_array(w, "segments");
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        wr_json_write_newline(w);
        write_segment(w, &s, in->measured.segment_tokens[i]);
    }
    wr_json_write_array_end(w);
    wr_json_write_newline(w);
    write_totals(w, in);
}

weir_status wr_inspection_members(struct wr_json_writer *w, struct weir_request *request,
                                  struct wr_meter *meter, size_t body_bytes)
{
    struct wr_inspection in;
    weir_status status = wr_inspection_make(&in, request, meter, body_bytes);
    if (!status)
        wr_inspection_write(w, &in);
    return status;
}
