/* summary: past a share of the window the middle of the conversation becomes a structured summary.
 * The first `head` and the last `tail` messages stay, and so does everything the user said.
 *
 * A later summary covers what the earlier one did and more, and takes its place.
 */
#include "policy/stage.h"

#include "base/limits.h"
#include "policy/summary.h"

enum {
    SHALLOW_BP = 7500, /* of the room: a step that leaves more is followed by another soon */
    WINDOW_SHARE = 3,  /* of a small window, that a summary may take at most, */
    DEEP_SHARE = 12,   /* and in a step that was to go deeper, */
    DEEP_TAIL = 2      /* which leaves no more than the newest exchange */
};

/* The segment that begins the message `count` messages after the first of the conversation. */
static uint32_t behind_head(const struct wr_fold *fold, uint32_t count)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t messages = 0;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        bool is_first = i == 0 || t->segments[i].message != t->segments[i - 1].message;
        if (t->segments[i].array == WR_JSON_NONE || !is_first)
            continue;
        if (messages++ == count)
            return i;
    }
    return fold->arrived;
}

static uint32_t before_tail(const struct wr_fold *fold, uint32_t count)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t messages = 0;
    for (uint32_t i = fold->arrived; i-- > 0;) {
        bool is_first = i == 0 || t->segments[i].message != t->segments[i - 1].message;
        messages += is_first;
        if (messages == count)
            return i;
    }
    return 0;
}

/* Whole groups between head and tail. */
static uint32_t collect_groups(struct wr_fold *fold, uint32_t from, uint32_t to, uint32_t *list)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t count = 0;
    for (uint32_t g = from; g < to; g++) {
        if (t->segments[g].group != g || fold->group_end[g] > to ||
            !wr_fold_group_may_leave(fold, g))
            continue;
        for (uint32_t i = g; i < fold->group_end[g]; i++)
            if (t->segments[i].group == g && fold->segments[i].form != WR_FORM_DROPPED)
                list[count++] = i;
    }
    return count;
}

static uint64_t tokens_of(const struct wr_fold *fold, const uint32_t *list, uint32_t count)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < count; i++)
        tokens += fold->segments[list[i]].tokens;
    return tokens;
}

/* A stage before this one had to take a step for the window, and it is so shallow that one of the
 * next requests would have to take another: what was sent is changed anyway, so it goes deep. */
static bool goes_on(const struct wr_fold *fold)
{
    const struct wr_fold_step *step = wr_fold_step_now(fold);
    return step && step->reason == WR_STEP_WINDOW &&
           fold->total_tokens > wr_fold_threshold(fold, SHALLOW_BP);
}

static uint64_t tokens_max(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t max = (uint64_t)stage->params[WR_SUMMARY_MAX_TOKENS];
    uint64_t share = fold->window.tokens / (goes_on(fold) ? DEEP_SHARE : WINDOW_SHARE);
    return fold->window.tokens && share < max ? share : max;
}

/* The summary of everything this stage has taken out, what it takes out now included. */
static weir_status summarise(struct wr_fold *fold, const struct wr_stage *stage, uint32_t first,
                             uint32_t end, weir_span *text)
{
    struct wr_summary_input input = {.tokens_max = tokens_max(fold, stage),
                                     .count = fold->input->count,
                                     .user = fold->input->user};
    struct wr_arena scratch; /* facts are many, and only the summary of them stays */
    weir_status status = WEIR_NOMEM;

    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    bool *is_included = WR_ARENA_ARRAY(&scratch, bool, end);
    if (is_included) {
        for (uint32_t i = first; i < end; i++)
            is_included[i] = fold->transcript->segments[i].role == WEIR_ROLE_USER ||
                             !fold->segments[i].is_offloaded ||
                             fold->segments[i].reason == fold->stage;
        input.range = (struct wr_facts_range){fold->transcript, first, end, is_included};
        status = wr_summary_build(&input, &scratch, text);
    }
    if (!status) {
        *text = wr_arena_copy(fold->arena, *text);
        status = text->ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_arena_release(&scratch);
    return status;
}

static weir_status summary_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_replacement r = {.role = WEIR_ROLE_USER, .reason = WR_STEP_PRESSURE};
    bool taken;

    if (fold->total_tokens <= wr_stage_trigger(fold, stage) && !goes_on(fold))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0];
    uint32_t from = behind_head(fold, (uint32_t)stage->params[WR_SUMMARY_HEAD]);
    uint32_t tail = (uint32_t)stage->params[WR_SUMMARY_TAIL];
    uint32_t to = before_tail(fold, goes_on(fold) && tail > DEEP_TAIL ? DEEP_TAIL : tail);
    uint32_t count = collect_groups(fold, from, to, list);
    if (!count || tokens_of(fold, list, count) < wr_fold_gain_min(fold))
        return WEIR_OK;
    wr_stage_omit(fold, list, count, &r);
    weir_status status = summarise(fold, stage, r.before, list[count - 1] + 1, &r.text);
    return status || !r.text.len ? status : wr_fold_replace(fold, &r, &taken);
}

const struct wr_stage_def wr_stage_summary = {
    .name = "summary",
    .what = "past a share of the window the middle becomes a structured summary",
    .request = summary_request,
    .acts_at = wr_stage_at_share,
    .work = WR_WORK_SUMMARY,
    .params = {{"at_bp", 8500, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 170000, 1, 1000000000, NULL, "where the window is not known"},
               {"head", 2, 0, 100000, NULL, "messages at the start that stay"},
               {"tail", 6, 1, 100000, NULL, "messages at the end that stay"},
               {"max_tokens", 4000, 100, 1000000, NULL, "the summary's own size"}},
    .params_count = 5,
};
