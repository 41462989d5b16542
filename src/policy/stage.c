/* What stages share: lists of results that are kept up to date, stubs, what replaces messages, and
 * when a stage acts.
 *
 * Every stage looks at results at every request. Forms only go one way, so a list drops for good
 * what has left the prompt: a request costs what the prompt holds and not what the session ever
 * held. */
#include "policy/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "policy/budget.h"
#include "policy/output.h"

enum { STUB_NAME_CHARS_MAX = 160 };

/* Forms only go one way, so what is dropped leaves the list. */
static bool is_result(const struct wr_fold *fold, uint32_t segment)
{
    return fold->transcript->segments[segment].kind == WEIR_KIND_TOOL_RESULT &&
           fold->segments[segment].form != WR_FORM_DROPPED;
}

static bool is_large(const struct wr_fold *fold, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    return fold->input->tokens[segment] > WR_CONDENSE_TOKENS_MIN && is_result(fold, segment) &&
           (wr_form_says_all(form) || form == WR_FORM_CONDENSED);
}

/* Brings a list up to date: `belongs` says what may be in it, and never says yes again behind a no.
 */
static void update_list(struct wr_fold *fold, struct wr_fold_list *list,
                        bool (*belongs)(const struct wr_fold *fold, uint32_t segment))
{
    uint32_t kept = 0;
    if (!list->segments)
        list->segments = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->transcript->segments_count);
    if (!list->segments)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (belongs(fold, list->segments[i]))
            list->segments[kept++] = list->segments[i];
    for (; list->seen < fold->arrived; list->seen++)
        if (belongs(fold, list->seen))
            list->segments[kept++] = list->seen;
    list->count = kept;
}

uint32_t wr_stage_results(struct wr_fold *fold, uint32_t *results)
{
    update_list(fold, &fold->scratch.results, is_result);
    if (fold->scratch.results.count)
        memcpy(results, fold->scratch.results.segments,
               fold->scratch.results.count * sizeof(*results));
    return fold->scratch.results.count;
}

const struct wr_fold_list *wr_stage_large(struct wr_fold *fold)
{
    update_list(fold, &fold->scratch.large, is_large);
    return fold->scratch.large.segments ? &fold->scratch.large : NULL;
}

bool wr_stage_is_too_long(weir_span text)
{
    uint32_t lines = 0;
    if (text.len > WR_CONDENSE_BYTES_MAX)
        return true;
    if (text.len <= WR_CONDENSE_LINES_MAX) /* every line has a byte */
        return false;
    for (const char *at = text.ptr, *end = at + text.len;
         lines <= WR_CONDENSE_LINES_MAX && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines > WR_CONDENSE_LINES_MAX;
}

weir_status wr_stage_kind(struct wr_fold *fold, uint32_t segment, enum wr_output_kind *kind)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    if (!now->output_kind) {
        weir_span text = wr_fold_text(fold, segment);
        if (!text.ptr)
            return wr_arena_status(fold->arena);
        now->output_kind =
            (uint8_t)(wr_output_kind_of(&fold->transcript->segments[segment], text) + 1);
    }
    *kind = (enum wr_output_kind)(now->output_kind - 1);
    return WEIR_OK;
}

weir_status wr_stage_odds(struct wr_fold *fold, uint32_t segment, const struct wr_odds_row **row)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    const struct wr_segment *s = &fold->transcript->segments[segment];
    enum wr_output_kind kind;
    weir_status status = wr_stage_kind(fold, segment, &kind);
    if (status)
        return status;
    if (!now->odds_class)
        now->odds_class =
            (uint8_t)(wr_odds_class_of(s, kind, wr_odds_is_target(fold->transcript, segment)) + 1);
    *row = wr_odds_find(fold->input->odds, (enum wr_odds_class)(now->odds_class - 1),
                        fold->input->tokens[segment]);
    return WEIR_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

weir_status wr_stage_stub(struct wr_fold *fold, uint32_t segment, const char *front,
                          enum wr_step_reason reason)
{
    struct wr_fold_form form = {
        .form = WR_FORM_CLEARED, .refers_to = WR_SEGMENT_NONE, .reason = reason};
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_tool_handles *h = s->handles;
    weir_span name = h && h->path.len ? h->path : h && h->command.len ? h->command : s->tool;
    struct wr_buf buf;

    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&buf, front);
    wr_text_one_line_max(&buf, name, STUB_NAME_CHARS_MAX);
    wr_buf_text(&buf, "]");
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

/* Groups taken together are in the order of their first segments; the store and a summary want the
 * order of the conversation. */
void wr_stage_omit(struct wr_fold *fold, uint32_t *segments, uint32_t count,
                   struct wr_fold_replacement *r)
{
    if (count)
        qsort(segments, count, sizeof(*segments), by_number);
    r->segments = segments;
    r->segments_count = count;
    r->before = count ? segments[0] : fold->arrived;
    r->supersedes = wr_fold_own_insert(fold);
    if (r->supersedes != WR_INSERT_NONE && fold->inserts[r->supersedes].before < r->before)
        r->before = fold->inserts[r->supersedes].before;
}

/* ---- when a stage acts ---- */

uint64_t wr_stage_at_share(const struct wr_stage *stage, const struct wr_stage_room *room,
                           uint32_t *share_bp)
{
    if (!room->window_tokens)
        return (uint64_t)stage->params[1];
    *share_bp = (uint32_t)stage->params[0];
    return wr_share_tokens(room->window_tokens, *share_bp);
}

uint64_t wr_stage_trigger(const struct wr_fold *fold, const struct wr_stage *stage)
{
    if (wr_fold_is_asked(fold))
        return 0;
    return fold->window.tokens ? wr_fold_trigger(fold, (uint64_t)stage->params[0])
                               : (uint64_t)stage->params[1];
}

struct wr_stage_when wr_stage_when(const struct wr_stage *stage, const struct wr_stage_room *room)
{
    struct wr_stage_when when = {.words = stage->def->acts};

    if (stage->def->acts_at)
        when.at_tokens = stage->def->acts_at(stage, room, &when.share_bp);
    if (!when.at_tokens && !when.words)
        when.words = "when the window is full";
    return when;
}
