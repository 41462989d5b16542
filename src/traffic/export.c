#include "traffic/export.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"
#include "traffic/body.h"

static const char *role_of(const struct weir_segment *s)
{
    if (s->kind == WEIR_KIND_TOOL_RESULT)
        return "tool";
    if (s->kind == WEIR_KIND_TOOL_CALL || s->role == WEIR_ROLE_ASSISTANT)
        return "assistant";
    if (s->kind == WEIR_KIND_SYSTEM || s->role == WEIR_ROLE_SYSTEM)
        return "system";
    return s->role == WEIR_ROLE_DEVELOPER ? "developer" : "user";
}

static void put_call(struct wr_json_writer *w, const struct weir_segment *s, weir_span arguments)
{
    wr_json_member_null(w, "content");
    wr_json_write_key(w, "tool_calls");
    wr_json_write_array(w);
    wr_json_write_object(w);
    wr_json_member_text(w, "id", s->call_id);
    wr_json_member_word(w, "type", "function");
    wr_json_write_key(w, "function");
    wr_json_write_object(w);
    wr_json_member_text(w, "name", s->tool);
    wr_json_member_text(w, "arguments", arguments);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
}

/* Parts of one model output have one id, by which a reader puts them together. */
static void put_message(struct wr_buf *out, const struct weir_segment *s, weir_span text)
{
    struct wr_json_writer w;
    char id[24];

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "role", role_of(s));
    if (!strcmp(role_of(s), "assistant")) {
        (void)snprintf(id, sizeof(id), "output_%u", s->turn);
        wr_json_member_word(&w, "id", id);
    }
    if (s->kind == WEIR_KIND_TOOL_RESULT)
        wr_json_member_text(&w, "tool_call_id", s->call_id);
    if (s->kind == WEIR_KIND_TOOL_CALL)
        put_call(&w, s, text);
    else
        wr_json_member_text(&w, "content", text);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static bool is_said(weir_kind kind)
{
    return kind == WEIR_KIND_TEXT || kind == WEIR_KIND_SYSTEM || kind == WEIR_KIND_TOOL_CALL ||
           kind == WEIR_KIND_TOOL_RESULT;
}

weir_status wr_export_log(const struct wr_ledger_row *said, struct wr_buf *out,
                          struct weir_err *err)
{
    struct weir_request *request;
    struct wr_arena arena;
    uint64_t replaced_count;
    weir_status status = wr_body_read(said, false, &request, err);

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (uint32_t i = 0; !status && i < weir_request_segments(request); i++) {
        struct weir_segment s;
        weir_span text;
        status = weir_request_segment(request, i, &s);
        if (status || !is_said(s.kind))
            continue;
        status = weir_request_text(request, i, &text);
        if (!status)
            status = wr_valid_text(&arena, text, &text, &replaced_count);
        if (!status)
            put_message(out, &s, text);
    }
    wr_arena_release(&arena);
    weir_request_free(request);
    return status ? status : wr_buf_status(out);
}
