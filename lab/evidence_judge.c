/* Whether a projected prompt still has what an answer used. The segments of the prompt are laid
 * beside those of the request as it came; then each item is sought first in what stands for the
 * segments that held it, and if it is gone, in the originals that the handles in the prompt lead
 * to.
 *
 * A string may stand in JSON with escapes, once or twice over. It is sought as it is, then
 * escaped; the text is parsed only where both fail and JSON might spell it in another way. */
#include "lab/evidence.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"

/* ---- the original's segments in the projection ---- */

struct aligning {
    struct wr_arena *arena;
    const struct wr_transcript *original, *projected;
    uint64_t *hashes; /* of the original's segments */
    struct wr_shown *shown;
    weir_span *inserts;
    uint32_t inserts_count;
};

/* Calls and results are known by their ids; anything else only stays as it is. */
static bool is_same(const struct aligning *a, uint32_t original, const struct wr_segment *projected,
                    uint64_t hash)
{
    const struct wr_segment *o = &a->original->segments[original];
    if (a->hashes[original] == hash)
        return true;
    return o->kind == projected->kind && projected->call_id.len &&
           (o->kind == WEIR_KIND_TOOL_CALL || o->kind == WEIR_KIND_TOOL_RESULT) &&
           wr_span_eq(o->call_id, projected->call_id);
}

static weir_span text_of(const struct aligning *a, const struct wr_segment *segment)
{
    if (segment->payload == WR_JSON_NONE)
        return WR_LIT("");
    return wr_segment_text(a->projected, segment, a->arena);
}

static weir_status align(struct aligning *a)
{
    uint32_t cursor = 0, count = a->original->segments_count;
    for (uint32_t i = 0; i < a->projected->segments_count; i++) {
        const struct wr_segment *segment = &a->projected->segments[i];
        uint64_t hash = wr_segment_hash(a->projected, segment);
        uint32_t at = cursor;
        while (at < count && !is_same(a, at, segment, hash))
            at++;
        bool is_whole = at < count && a->hashes[at] == hash;
        weir_span text = is_whole ? (weir_span){0} : text_of(a, segment);
        if (!is_whole && !text.ptr)
            return wr_arena_status(a->arena);
        if (at == count) {
            a->inserts[a->inserts_count++] = text;
            continue;
        }
        a->shown[at] = (struct wr_shown){.is_whole = is_whole, .text = text};
        cursor = at + 1;
    }
    return WEIR_OK;
}

weir_status wr_evidence_view_read(struct wr_evidence_view *view, struct wr_arena *arena,
                                  const struct wr_transcript *original,
                                  const struct wr_transcript *projected)
{
    struct aligning a = {.arena = arena, .original = original, .projected = projected};
    a.hashes = WR_ARENA_ARRAY(arena, uint64_t, original->segments_count);
    a.shown = WR_ARENA_ARRAY(arena, struct wr_shown, original->segments_count);
    a.inserts = WR_ARENA_ARRAY(arena, weir_span, projected->segments_count);
    if (!a.hashes || !a.shown || !a.inserts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < original->segments_count; i++)
        a.hashes[i] = wr_segment_hash(original, &original->segments[i]);
    weir_status status = align(&a);
    *view = (struct wr_evidence_view){.segments = a.shown,
                                      .segments_count = original->segments_count,
                                      .inserts = a.inserts,
                                      .inserts_count = a.inserts_count};
    return status;
}

weir_status wr_evidence_view_whole(struct wr_evidence_view *view, struct wr_arena *arena,
                                   uint32_t segments_count)
{
    struct wr_shown *shown = WR_ARENA_ARRAY(arena, struct wr_shown, segments_count);
    if (!shown)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < segments_count; i++)
        shown[i].is_whole = true;
    *view = (struct wr_evidence_view){.segments = shown, .segments_count = segments_count};
    return WEIR_OK;
}

/* ---- strings in texts ---- */

enum { JSON_DEPTH_MAX = 2 }; /* JSON in a string of JSON */

struct seeking {
    weir_span string;
    struct wr_arena *scratch;
    bool is_found;
};

bool wr_evidence_is_json(weir_span text)
{
    text = wr_span_trim(text);
    return text.len && (text.ptr[0] == '{' || text.ptr[0] == '[');
}

/* Whether JSON may spell it otherwise: letters, digits and most signs stand for themselves. */
static bool is_spelt_otherwise(weir_span string)
{
    for (size_t i = 0; i < string.len; i++) {
        unsigned char c = (unsigned char)string.ptr[i];
        if (c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '/')
            return true;
    }
    return false;
}

static weir_status seek_inner(void *user, weir_span key, weir_span text)
{
    struct seeking *s = user;
    (void)key;
    s->is_found = s->is_found || wr_span_find(text, s->string, 0) != SIZE_MAX;
    return WEIR_OK;
}

static weir_status seek(void *user, weir_span key, weir_span text)
{
    struct seeking *s = user;
    weir_status status = seek_inner(user, key, text);
    if (!status && !s->is_found && wr_evidence_is_json(text))
        status = wr_evidence_each_string(text, s->scratch, seek_inner, user);
    return status;
}

/* As JSON is mostly spelt; this also finds it in what is only a piece of JSON. */
static bool holds_escaped(weir_span text, weir_span string, struct wr_arena *scratch)
{
    bool is_found = false;
    for (int depth = 0; depth < JSON_DEPTH_MAX && !is_found; depth++) {
        struct wr_buf spelt;
        wr_buf_init(&spelt, WR_ARENA_BYTES_MAX);
        wr_json_escape(&spelt, string);
        is_found = !spelt.status && wr_span_find(text, wr_buf_view(&spelt), 0) != SIZE_MAX;
        string = wr_arena_copy(scratch, wr_buf_view(&spelt));
        wr_buf_release(&spelt);
        if (!string.ptr)
            return false;
    }
    return is_found;
}

bool wr_evidence_holds(weir_span text, weir_span string, struct wr_arena *scratch)
{
    struct seeking s = {.string = string, .scratch = scratch};
    if (!text.ptr)
        return false;
    if (wr_span_find(text, string, 0) != SIZE_MAX)
        return true;
    if (!is_spelt_otherwise(string))
        return false;
    if (holds_escaped(text, string, scratch))
        return true;
    /* Without memory it is not found, as if it were spelt in a way that nobody knows. */
    return wr_evidence_is_json(text) && !wr_evidence_each_string(text, scratch, seek, &s) &&
           s.is_found;
}

/* ---- verdicts ---- */

struct judging {
    struct wr_arena scratch; /* of one string */
    const struct wr_evidence *evidence;
    const struct wr_evidence_at *at;
    const struct wr_evidence_view *view;
    const struct wr_evidence_ways *ways;
};

/* What the projection shows of segment `number`; NULL where it is not of this request. */
static const struct wr_shown *shown_of(const struct judging *j, uint32_t number)
{
    uint32_t i = number - j->at->base;
    return number >= j->at->base && i < j->at->segments_count && i < j->view->segments_count
               ? &j->view->segments[i]
               : NULL;
}

/* The newest posting at or after `posting` that belongs to this request, or NONE. */
static uint32_t of_this_request(const struct judging *j, uint32_t posting)
{
    const struct wr_evidence_posting *postings = j->evidence->index.postings;
    while (posting != WR_EVIDENCE_NONE && !shown_of(j, postings[posting].segment))
        posting =
            postings[posting].segment < j->at->base ? WR_EVIDENCE_NONE : postings[posting].older;
    return posting;
}

static bool is_supported(struct judging *j, weir_span string, uint32_t newest)
{
    const struct wr_evidence_posting *postings = j->evidence->index.postings;
    for (uint32_t at = of_this_request(j, newest); at != WR_EVIDENCE_NONE;
         at = of_this_request(j, postings[at].older)) {
        const struct wr_shown *shown = shown_of(j, postings[at].segment);
        if (shown->is_whole || wr_evidence_holds(shown->text, string, &j->scratch))
            return true;
    }
    for (uint32_t i = 0; i < j->view->inserts_count; i++)
        if (wr_evidence_holds(j->view->inserts[i], string, &j->scratch))
            return true;
    return false;
}

/* Whether a handle in `text` leads to an original that holds the string. `own` is the original of
 * the segment that the text stands for: NULL, none. */
static bool leads_back(struct judging *j, weir_span text, weir_span string, const weir_handle *own,
                       weir_handle *handle)
{
    weir_span original;
    if (!text.ptr)
        return false;
    for (size_t at = weir_handle_find(text, 0, handle); at != SIZE_MAX;
         at = weir_handle_find(text, at + WEIR_HANDLE_TEXT_BYTES, handle)) {
        if (own && !memcmp(own->bytes, handle->bytes, sizeof(own->bytes)))
            return true;
        if (j->ways && j->ways->original && j->ways->original(j->ways->user, *handle, &original) &&
            wr_evidence_holds(original, string, &j->scratch))
            return true;
    }
    return false;
}

static bool is_recallable(struct judging *j, weir_span string, uint32_t newest, weir_handle *handle)
{
    const struct wr_evidence_posting *postings = j->evidence->index.postings;
    for (uint32_t at = of_this_request(j, newest); at != WR_EVIDENCE_NONE;
         at = of_this_request(j, postings[at].older)) {
        uint32_t number = postings[at].segment;
        weir_handle own;
        bool has_own = wr_evidence_handle(j->evidence, number, &own);
        if (leads_back(j, shown_of(j, number)->text, string, has_own ? &own : NULL, handle))
            return true;
    }
    for (uint32_t i = 0; i < j->view->inserts_count; i++)
        if (leads_back(j, j->view->inserts[i], string, NULL, handle))
            return true;
    return false;
}

void wr_evidence_judge(const struct wr_evidence *evidence, const struct wr_evidence_at *at,
                       const struct wr_evidence_items *found, const struct wr_evidence_view *view,
                       const struct wr_evidence_ways *ways, struct wr_evidence_judged *judged)
{
    struct judging j = {.evidence = evidence, .at = at, .view = view, .ways = ways};
    wr_arena_init(&j.scratch, WR_ARENA_BYTES_MAX);
    for (uint32_t i = 0; i < found->count; i++) {
        weir_span string = found->items[i].text;
        wr_arena_reset(&j.scratch);
        const struct wr_evidence_string *known = wr_evidence_index_find(&evidence->index, string);
        uint32_t newest = known ? known->posting : WR_EVIDENCE_NONE;
        judged[i] = (struct wr_evidence_judged){.verdict = WR_EVIDENCE_LOST};
        if (is_supported(&j, string, newest))
            judged[i].verdict = WR_EVIDENCE_SUPPORTED;
        else if (is_recallable(&j, string, newest, &judged[i].handle))
            judged[i].verdict = WR_EVIDENCE_RECALLABLE;
    }
    wr_arena_release(&j.scratch);
}

bool wr_evidence_is_needed(const struct wr_evidence_item *item)
{
    return !item->is_repeated || (item->is_written && item->kind == WR_EVIDENCE_LINE);
}

uint32_t wr_evidence_recalls(const struct wr_evidence_items *found,
                             const struct wr_evidence_judged *judged, weir_handle *handles)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        bool is_new =
            judged[i].verdict == WR_EVIDENCE_RECALLABLE && wr_evidence_is_needed(&found->items[i]);
        for (uint32_t n = 0; n < count && is_new; n++)
            is_new = memcmp(handles[n].bytes, judged[i].handle.bytes, sizeof(handles[n].bytes));
        if (is_new)
            handles[count++] = judged[i].handle;
    }
    return count;
}
