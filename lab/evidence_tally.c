/* Sums of verdicts. What an answer used is looked at once as strings, once as the results they came
 * from, once as a request, because each hides what another shows: one rewritten file is hundreds of
 * strings, and a request that misses one string of a hundred may fail all the same. */
#include "lab/evidence_tally.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

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
