#include "tests/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "api/api.h"

void wr_listing_read(struct wr_listing_request *r, const char *body, const char *dialect,
                     const char *path)
{
    struct wr_api_options options = {.dialect = dialect, .path = path};

    wr_arena_init(&r->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&r->body, WR_JSON_BODY_BYTES_MAX);
    wr_buf_text(&r->body, body);
    for (size_t i = 0; i < r->body.len; i++)
        if (r->body.bytes[i] == '\'')
            r->body.bytes[i] = '"';
    r->err = (struct weir_err){0};
    r->status = wr_json_parse(&r->doc, &r->arena, wr_buf_view(&r->body), NULL, &r->err);
    if (!r->status)
        r->status = wr_api_read(&r->transcript, &r->arena, &r->doc, &options, &r->err);
}

void wr_listing_release(struct wr_listing_request *r)
{
    wr_buf_release(&r->body);
    wr_arena_release(&r->arena);
}

static void write_quoted(struct wr_buf *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        wr_buf_byte(out, text.ptr[i] == '"' ? '\'' : text.ptr[i]);
}

static void write_tool(struct wr_buf *out, const struct wr_segment *s)
{
    if (!s->tool.len && !s->call_id.len)
        return;
    wr_buf_byte(out, ' ');
    wr_buf_append(out, s->tool);
    if (s->call_id.len) {
        wr_buf_byte(out, '#');
        wr_buf_append(out, s->call_id);
    }
}

static void write_links(struct wr_buf *out, const struct wr_segment *s)
{
    if (s->pair != WR_SEGMENT_NONE)
        wr_buf_printf(out, " pair %u", s->pair);
    if (s->group != WR_SEGMENT_NONE)
        wr_buf_printf(out, " group %u", s->group);
}

static void write_flags(struct wr_buf *out, const struct wr_segment *s)
{
    const struct {
        bool is_set;
        const char *name;
    } flags[] = {
        {s->is_error, " error"},
        {s->is_steering, " steering"},
        {s->is_repeated_result, " repeated"},
        {s->is_signed, " signed"},
        {s->is_superseded, " superseded"},
        {s->marker != WR_JSON_NONE, " marked"},
        {s->array == WR_JSON_NONE, " fixed"},
    };
    for (size_t i = 0; i < WR_COUNT_OF(flags); i++)
        if (flags[i].is_set)
            wr_buf_text(out, flags[i].name);
}

static void write_payload(struct wr_buf *out, const struct wr_transcript *t,
                          const struct wr_segment *s)
{
    weir_range span = wr_segment_range(t, s);
    bool is_text = s->parts_count == 1 && s->parts[0] == s->payload;

    wr_buf_text(out, is_text ? " = " : " | ");
    write_quoted(out, wr_span_cut(t->doc->text, span.start, span.end));
    for (uint32_t i = 0; i < s->parts_count && !is_text; i++) {
        wr_buf_text(out, " > ");
        write_quoted(out, wr_json_inner(t->doc, s->parts[i]));
    }
    wr_buf_byte(out, '\n');
}

void wr_listing_write(const struct wr_transcript *t, struct wr_buf *out)
{
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        wr_buf_printf(out, "%s %s %u.", weir_role_name(s->role), weir_kind_name(s->kind), s->turn);
        if (s->loop == WR_SEGMENT_NONE)
            wr_buf_byte(out, '-');
        else
            wr_buf_printf(out, "%u", s->loop);
        weir_span class_ = wr_span_of(weir_class_name(s->class_));
        wr_buf_byte(out, ' ');
        wr_buf_append(out, wr_span_cut(class_, 0, strcspn(class_.ptr, " ")));
        write_tool(out, s);
        write_links(out, s);
        write_flags(out, s);
        write_payload(out, t, s);
    }
}

/* Prints what is wrong with a row; the memory is released before the test fails. */
static bool row_holds(const struct wr_listing_row *row, const char *dialect)
{
    struct wr_listing_request r;
    struct wr_buf listing;

    wr_listing_read(&r, row->body, dialect, NULL);
    wr_buf_init(&listing, WR_JSON_BODY_BYTES_MAX);
    if (r.status)
        wr_buf_printf(&listing, "not read: %s, byte %zu\n", r.err.text, r.err.at_byte);
    else
        wr_listing_write(&r.transcript, &listing);
    bool holds = !wr_buf_status(&listing) && wr_span_is(wr_buf_view(&listing), row->expected);
    if (!holds)
        print_error("%s\n--- expected\n%s--- got\n%.*s\n", row->behaviour, row->expected,
                    (int)listing.len, listing.bytes ? listing.bytes : "");
    wr_buf_release(&listing);
    wr_listing_release(&r);
    return holds;
}

void wr_listing_check(const struct wr_listing_row *rows, size_t count, const char *dialect)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += !row_holds(&rows[i], dialect);
    if (failed)
        fail_msg("%zu of %zu rows do not hold", failed, count);
}
