/* Gives every segment its class, which says what may be done with it, and a sentence that says why.
 *
 * Results are the interesting ones; the first reason that holds decides (classify_result):
 *   exact          it has no text that may be edited
 *   rehydratable   it was recalled
 *   exact          it is a plan or instructions, an error of the turn under way, or an image, a
 *                  file or a reference stands beside its text
 *   duplicate      the same text stands earlier
 *   rehydratable   it is a read of a file that has not changed since
 *   lossless       only control bytes, trailing space or blank lines would go
 *   condensable    everything else
 *
 * Everything that is not a result keeps its bytes: it is protocol, the user's words, or state that
 * the provider checks. Duplicates are found by a hash of the text as it stands in the body, and
 * then compared byte by byte; texts under 64 bytes are not looked for.
 */
#include "transcript/order.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/span.h"

/* A shorter result is not worth a reference to an earlier one. */
enum { DUPLICATE_BYTES_MIN = 64 };

/* So many line ends in a row are two blank lines, of which one is enough. */
enum { BLANK_RUN_LINES = 3 };

static void set_class(struct wr_segment *s, weir_class class_, const char *why)
{
    s->class_ = class_;
    s->why = why;
}

static void classify_opaque(struct wr_segment *s)
{
    switch (s->kind) {
    case WEIR_KIND_TOOLS:
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "tool schemas");
        return;
    case WEIR_KIND_REASONING:
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "reasoning goes back as it came");
        return;
    case WEIR_KIND_COMPACTION:
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "the provider's own summary");
        return;
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "an attachment");
        return;
    case WEIR_KIND_SYSTEM:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions");
        return;
    case WEIR_KIND_TEXT:
    case WEIR_KIND_TOOL_CALL:
    case WEIR_KIND_TOOL_RESULT:
    case WEIR_KIND_OTHER:
        break;
    }
    if (s->is_continuation)
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "state that the provider checks");
    else
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a kind that is not known here");
}

static bool parts_equal(const struct wr_transcript *t, const struct wr_segment *a,
                        const struct wr_segment *b)
{
    if (a->parts_count != b->parts_count)
        return false;
    for (uint32_t i = 0; i < a->parts_count; i++)
        if (!wr_span_eq(wr_json_inner(t->doc, a->parts[i]), wr_json_inner(t->doc, b->parts[i])))
            return false;
    return true;
}

static size_t parts_bytes(const struct wr_transcript *t, const struct wr_segment *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < s->parts_count; i++)
        bytes += wr_json_inner(t->doc, s->parts[i]).len;
    return bytes;
}

/* The first result with the same text, or NONE; a new text is remembered. */
static uint32_t find_same_text(const struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    uint32_t at, item;

    if (parts_bytes(t, &t->segments[i]) < DUPLICATE_BYTES_MIN)
        return WR_SEGMENT_NONE;
    uint64_t hash = wr_segment_body_hash(t, &t->segments[i]).low;
    for (at = wr_index_first(texts, hash); (item = wr_index_item(texts, at)) != WR_INDEX_NONE;
         at = wr_index_next(texts, at, hash))
        if (parts_equal(t, &t->segments[item], &t->segments[i]))
            return item;
    wr_index_put(texts, at, hash, i);
    return WR_SEGMENT_NONE;
}

static bool is_escape(weir_span text, size_t at)
{
    return (wr_span_starts(wr_span_from(text, at), WR_LIT("\\u001b")) ||
            wr_span_starts(wr_span_from(text, at), WR_LIT("\\u001B")));
}

/* What a lossless transform would take: terminal control bytes, trailing space, runs of blank
 * lines. The text is looked at as it stands in the body, where these are escapes; an escaped
 * backslash before an `r` or a `b` is a path or a pattern, not one of them. */
bool wr_order_has_slack(weir_span text)
{
    size_t at = 0, lines = 0, after_line = SIZE_MAX;
    const char *found;

    while (at < text.len && (found = memchr(text.ptr + at, '\\', text.len - at))) {
        size_t start = (size_t)(found - text.ptr);
        char letter = text.ptr[start + 1];
        if (letter == 'r' || letter == 'b' || is_escape(text, start))
            return true;
        at = start + 2;
        if (letter != 'n')
            continue;
        lines = start == after_line ? lines + 1 : 1;
        after_line = at;
        if (lines == BLANK_RUN_LINES || (start && text.ptr[start - 1] == ' '))
            return true;
    }
    return false;
}

static bool has_lossless_slack(const struct wr_transcript *t, const struct wr_segment *s)
{
    if (s->is_slack_known)
        return s->has_slack;
    for (uint32_t p = 0; p < s->parts_count; p++)
        if (wr_order_has_slack(wr_json_inner(t->doc, s->parts[p])))
            return true;
    return false;
}

bool wr_result_has_failed(const struct wr_segment *result, const struct wr_tool_handles *handles)
{
    return result->is_error ||
           (handles && (handles->is_error || (handles->has_exit_code && handles->exit_code != 0)));
}

static void classify_result(struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    struct wr_segment *s = &t->segments[i];
    enum wr_effect_kind effect = s->handles ? s->handles->kind : WR_EFFECT_OTHER;
    bool is_newest = s->turn + 1 == t->turns_count;

    if (s->is_opaque || !s->parts_count) {
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a result without text that may be edited");
        return;
    }
    uint32_t same = find_same_text(t, texts, i);
    if (effect == WR_EFFECT_RECALL) {
        set_class(s, WEIR_CLASS_REHYDRATABLE_EXACT, "recalled text comes back whole");
    } else if (effect == WR_EFFECT_PLAN) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "a plan or instructions");
    } else if (s->handles && s->handles->is_instructions && s->staleness != WR_STALE) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions that were read");
    } else if (is_newest && wr_result_has_failed(s, s->handles)) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "an error of the current turn");
    } else if (s->has_exact_blocks) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "a result with an image, a file or a reference");
    } else if (same != WR_SEGMENT_NONE) {
        set_class(s, WEIR_CLASS_DROPPABLE_DUPLICATE, "the same text stands earlier, in segment");
        s->why_other = same;
    } else if (effect == WR_EFFECT_READ && s->handles->path.len && s->staleness == WR_FRESH) {
        set_class(s, WEIR_CLASS_REHYDRATABLE_EXACT, "a file that can be read again");
    } else if (has_lossless_slack(t, s)) {
        set_class(s, WEIR_CLASS_LOSSLESS_TRANSFORMABLE,
                  "control bytes, trailing space or blank lines");
    } else {
        set_class(s, WEIR_CLASS_CONDENSABLE,
                  s->staleness == WR_STALE ? "a read of a file that changed since" : "tool output");
    }
}

static void classify_segment(struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    struct wr_segment *s = &t->segments[i];

    switch (s->kind) {
    case WEIR_KIND_TOOL_RESULT:
        classify_result(t, texts, i);
        return;
    case WEIR_KIND_TOOL_CALL:
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a call and its arguments");
        return;
    case WEIR_KIND_SYSTEM:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions");
        return;
    case WEIR_KIND_TEXT:
        if (s->from_model)
            set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "the model's own words");
        else
            set_class(s, WEIR_CLASS_CRITICAL_EXACT, "the user's words");
        return;
    case WEIR_KIND_REASONING:
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
    case WEIR_KIND_TOOLS:
    case WEIR_KIND_COMPACTION:
    case WEIR_KIND_OTHER:
        classify_opaque(s);
        return;
    }
}

weir_status wr_order_classify(struct wr_transcript *t)
{
    struct wr_index texts;
    weir_status status = wr_index_init(&texts, t->arena, t->segments_count);
    if (status)
        return status;
    for (uint32_t i = 0; i < t->segments_count; i++)
        classify_segment(t, &texts, i);
    return WEIR_OK;
}
