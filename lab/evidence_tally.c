/* Sums of verdicts. What an answer used is looked at once as strings, once as the results they came
 * from, once as a request, because each hides what another shows: one rewritten file is hundreds of
 * strings, and a request that misses one string of a hundred may fail all the same. */
#include "lab/evidence_tally.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "lab/evidence.h"

/* ---- evidence judge ----
 *
 * Whether a projected prompt still has what an answer used. The segments of the prompt are laid
 * beside those of the request as it came; then each item is sought first in what stands for the
 * segments that held it, and if it is gone, in the originals that the handles in the prompt lead
 * to.
 *
 * A string may stand in JSON with escapes, once or twice over. It is sought as it is, then
 * escaped; the text is parsed only where both fail and JSON might spell it in another way.
 */

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

/* ---- evidence tally ---- */

/* The oldest of each band. */
static const struct {
    uint32_t to;
    const char *text;
} ages[WR_EVIDENCE_AGES] = {{0, "0"}, {3, "1-3"}, {10, "4-10"}, {30, "11-30"}, {UINT32_MAX, "31+"}};

const char *wr_evidence_age_text(int age)
{
    return ages[age].text;
}

static int band_of(uint32_t age)
{
    int band = 0;
    while (age > ages[band].to)
        band++;
    return band;
}

/* The next source after `source` among what was seen for the first time; NONE: there is no more. */
static uint32_t next_source(const struct wr_evidence_items *found, uint32_t source)
{
    uint32_t next = WR_EVIDENCE_NONE;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct wr_evidence_item *item = &found->items[i];
        bool is_behind = source == WR_EVIDENCE_NONE || item->source > source;
        if (!item->is_repeated && item->is_first_sight && is_behind && item->source < next)
            next = item->source;
    }
    return next;
}

static void count_sight(struct wr_evidence_tally *tally, const struct wr_evidence_items *found,
                        const struct wr_evidence_judged *judged)
{
    bool is_request_whole = true, is_any = false;
    for (uint32_t source = next_source(found, WR_EVIDENCE_NONE); source != WR_EVIDENCE_NONE;
         source = next_source(found, source)) {
        bool is_whole = true;
        for (uint32_t i = 0; i < found->count; i++)
            is_whole &= found->items[i].is_repeated || found->items[i].source != source ||
                        judged[i].verdict == WR_EVIDENCE_SUPPORTED;
        tally->sight_results++;
        tally->sight_results_whole += is_whole;
        is_request_whole &= is_whole;
        is_any = true;
    }
    tally->sight_answers += is_any;
    tally->sight_answers_whole += is_any && is_request_whole;
}

static void count_answer(struct wr_evidence_tally *tally, const struct wr_evidence_items *found,
                         const struct wr_evidence_judged *judged)
{
    uint32_t count = 0, missing = 0, blind_age = UINT32_MAX;
    bool is_blind = false, has_own = false, is_own_blind = false;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct wr_evidence_item *item = &found->items[i];
        bool is_own_line = item->is_written && item->kind == WR_EVIDENCE_LINE;
        has_own |= is_own_line;
        is_own_blind |= is_own_line && judged[i].verdict != WR_EVIDENCE_SUPPORTED;
        if (item->is_repeated)
            continue;
        count++;
        if (judged[i].verdict == WR_EVIDENCE_SUPPORTED)
            continue;
        missing++;
        if (item->kind != WR_EVIDENCE_LINE)
            continue;
        is_blind = true;
        blind_age = item->age < blind_age ? item->age : blind_age;
    }
    tally->answers += count > 0;
    tally->answers_wanting += missing > 0;
    tally->answers_all_missing += count && missing == count;
    tally->answers_blind += is_blind;
    tally->answers_own += has_own;
    tally->answers_own_blind += is_own_blind;
    if (is_blind)
        tally->blind_by_age[band_of(blind_age)]++;
}

void wr_evidence_count(struct wr_evidence_tally *tally, const struct wr_evidence_items *found,
                       const struct wr_evidence_judged *judged)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct wr_evidence_item *item = &found->items[i];
        enum wr_evidence_verdict verdict = judged[i].verdict;
        if (item->is_users)
            tally->users[verdict]++;
        else if (item->is_own)
            tally->own[verdict]++;
        else if (item->is_repeated)
            tally->repeated[verdict]++;
        else
            tally->all[verdict]++;
        tally->first_sight[verdict] += !item->is_repeated && item->is_first_sight;
    }
    count_answer(tally, found, judged);
    count_sight(tally, found, judged);
}

void wr_evidence_tally_add(struct wr_evidence_tally *sum, const struct wr_evidence_tally *t)
{
    for (int i = 0; i < WR_EVIDENCE_VERDICTS; i++) {
        sum->all[i] += t->all[i];
        sum->first_sight[i] += t->first_sight[i];
        sum->repeated[i] += t->repeated[i];
        sum->users[i] += t->users[i];
        sum->own[i] += t->own[i];
    }
    sum->answers_own += t->answers_own;
    sum->answers_own_blind += t->answers_own_blind;
    sum->answers += t->answers;
    sum->answers_wanting += t->answers_wanting;
    sum->answers_all_missing += t->answers_all_missing;
    sum->answers_blind += t->answers_blind;
    for (int i = 0; i < WR_EVIDENCE_AGES; i++)
        sum->blind_by_age[i] += t->blind_by_age[i];
    sum->sight_answers += t->sight_answers;
    sum->sight_answers_whole += t->sight_answers_whole;
    sum->sight_results += t->sight_results;
    sum->sight_results_whole += t->sight_results_whole;
    sum->user_tokens_gone += t->user_tokens_gone;
}

/* ---- words of the user ---- */

static bool is_users_word(const struct wr_segment *s)
{
    return s->payload != WR_JSON_NONE && !s->is_opaque &&
           (s->kind == WEIR_KIND_TEXT || s->kind == WEIR_KIND_SYSTEM) &&
           (s->role == WEIR_ROLE_USER || s->role == WEIR_ROLE_SYSTEM ||
            s->role == WEIR_ROLE_DEVELOPER);
}

static bool shows(const struct wr_evidence_view *view, const struct wr_shown *own, weir_span line,
                  struct wr_arena *scratch)
{
    if (wr_evidence_holds(own->text, line, scratch))
        return true;
    for (uint32_t i = 0; i < view->inserts_count; i++)
        if (wr_evidence_holds(view->inserts[i], line, scratch))
            return true;
    return false;
}

static uint64_t tokens_lacking(const struct wr_evidence_view *view, const struct wr_shown *own,
                               weir_span text, wr_count_fn *count, void *user)
{
    struct wr_arena scratch;
    weir_span line;
    uint64_t tokens = 0;
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    while (wr_span_line(&text, &line)) {
        wr_arena_reset(&scratch);
        if (!wr_text_is_blank(line) && !shows(view, own, wr_span_trim(line), &scratch))
            tokens += count(user, line);
    }
    wr_arena_release(&scratch);
    return tokens;
}

weir_status wr_evidence_user_tokens_gone(struct wr_evidence_gone *gone,
                                         const struct wr_transcript *original,
                                         const struct wr_evidence_at *at,
                                         const struct wr_evidence_view *view, wr_count_fn *count,
                                         void *user, uint64_t *tokens)
{
    uint32_t end = at->base + view->segments_count;
    *tokens = 0;
    if (end > gone->cap) {
        uint32_t cap = end * 2;
        bool *grown = wr_arena_grow(gone->arena, gone->is_gone, gone->cap, cap);
        if (!grown)
            return wr_arena_status(gone->arena);
        memset(grown + gone->cap, 0, cap - gone->cap);
        gone->is_gone = grown;
        gone->cap = cap;
    }
    for (uint32_t i = 0; i < view->segments_count && i < original->segments_count; i++) {
        const struct wr_segment *s = &original->segments[i];
        bool *is_gone = &gone->is_gone[at->base + i];
        if (view->segments[i].is_whole || *is_gone || !is_users_word(s))
            continue;
        weir_span text = wr_segment_text(original, s, original->arena);
        if (!text.ptr)
            return wr_arena_status(original->arena);
        uint64_t lacking = tokens_lacking(view, &view->segments[i], text, count, user);
        *is_gone = lacking > 0;
        *tokens += lacking;
    }
    return WEIR_OK;
}
