#include "policy/history.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { FENCE_BYTES_MIN = 3 };

static size_t longest_backtick_run(weir_span text)
{
    size_t longest = 0, at = 0;
    const char *found;

    while (at < text.len && (found = memchr(text.ptr + at, '`', text.len - at))) {
        size_t start = (size_t)(found - text.ptr);
        for (at = start; at < text.len && text.ptr[at] == '`'; at++)
            ;
        if (at - start > longest)
            longest = at - start;
    }
    return longest;
}

static void write_fence(struct wr_buf *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        wr_buf_byte(out, '`');
    wr_buf_byte(out, '\n');
}

void wr_history_fence(struct wr_buf *out, weir_span text)
{
    size_t run = longest_backtick_run(text);
    size_t fence = run < FENCE_BYTES_MIN ? FENCE_BYTES_MIN : run + 1;
    write_fence(out, fence);
    wr_buf_append(out, text);
    if (!wr_span_ends(text, WR_LIT("\n")))
        wr_buf_byte(out, '\n');
    write_fence(out, fence);
}

static void write_heading(struct wr_buf *out, const struct wr_segment *s, bool is_first)
{
    const char *verb = s->kind == WEIR_KIND_TOOL_CALL ? "assistant calls " : "result of ";

    wr_buf_text(out, is_first ? "## " : "\n## ");
    if (s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT) {
        wr_buf_text(out, verb);
        wr_text_one_line(out, s->tool.len ? s->tool : WR_LIT("a tool"));
        if (s->call_id.len) {
            wr_buf_text(out, " (");
            wr_text_one_line(out, s->call_id);
            wr_buf_byte(out, ')');
        }
    } else {
        wr_buf_text(out, weir_role_name(s->role));
        if (s->kind != WEIR_KIND_TEXT)
            wr_buf_printf(out, ", %s", weir_kind_name(s->kind));
    }
    wr_buf_text(out, "\n\n");
}

static bool is_prose(const struct wr_segment *s)
{
    bool is_words = s->kind == WEIR_KIND_TEXT || s->kind == WEIR_KIND_SYSTEM;
    return is_words && s->parts_count;
}

/* A result with images beside its text is whole only as the JSON it came as. */
static weir_span exact_text(const struct wr_transcript *t, const struct wr_segment *s,
                            struct wr_arena *arena)
{
    bool is_call = s->kind == WEIR_KIND_TOOL_CALL;
    if (s->payload == WR_JSON_NONE)
        return (weir_span){"", 0};
    if ((is_call || s->parts_count) && !s->has_exact_blocks)
        return wr_segment_text(t, s, arena);
    return wr_json_raw(t->doc, s->payload);
}

static weir_status write_segment(struct wr_buf *out, struct wr_arena *arena,
                                 const struct wr_transcript *t, const struct wr_segment *s,
                                 bool is_first)
{
    weir_span text = exact_text(t, s, arena);
    if (!text.ptr)
        return wr_arena_status(arena);
    write_heading(out, s, is_first);
    if (!is_prose(s)) {
        wr_history_fence(out, text);
        return wr_buf_status(out);
    }
    wr_buf_append(out, text);
    if (!wr_span_ends(text, WR_LIT("\n")))
        wr_buf_byte(out, '\n');
    return wr_buf_status(out);
}

weir_status wr_history_write(struct wr_buf *out, struct wr_arena *arena,
                             const struct wr_transcript *t, const uint32_t *segments,
                             uint32_t segments_count)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < segments_count && !status; i++)
        status = write_segment(out, arena, t, &t->segments[segments[i]], !out->len);
    return status ? status : wr_buf_status(out);
}

weir_status wr_history_hash_add(struct wr_history_hash *hash, struct wr_arena *arena,
                                const struct wr_transcript *t, const uint32_t *segments,
                                uint32_t segments_count)
{
    weir_status status = WEIR_OK;
    struct wr_buf piece;

    if (!hash->is_begun)
        wr_sha256_begin(&hash->stream);
    wr_buf_init(&piece, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < segments_count && !status; i++) {
        wr_buf_reset(&piece);
        status = write_segment(&piece, arena, t, &t->segments[segments[i]], !hash->is_begun);
        wr_sha256_add(&hash->stream, wr_buf_view(&piece));
        hash->is_begun = true;
    }
    wr_buf_release(&piece);
    return status;
}
