/* Fills the message that replaces the running calls:
 *
 *   summary    extracted like any other (policy/summary.h), from all that such folds took so far
 *   results    the newest, which the model has not read yet, whole; if they are too large, each is
 *              cut to head and tail, the largest most
 *   more       older results and files of instructions, the newest first, each whole or not at all,
 *              until about half of the room is used: the task continues, and it probably needs next
 *              what it read last
 *
 * Results are plain text here, without their own handles: the message's one handle brings all of it
 * back. A condensed result keeps its condensed text, without its own marker. */
#include "policy/open_loop.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/budget.h"
#include "policy/loop_summary.h"
#include "policy/stage.h"

const char wr_open_loop_name[] = "open_loop";

enum {
    DEPTH_BP = 5000, /* of the room: how far older results fill it again */
    FULL_BP = 9000,  /* and how far the newest may */
    SUMMARY_TOKENS_MAX = 4000,
    SUMMARY_SHARE = 8, /* of what can be filled at all, that the summary may take */
    CUT_TOKENS_MIN = 60,
    HEADING_TOKENS = 40, /* of a result's line and its fence, about */
    HEADING_CHARS_MAX = 160,
    BYTES_A_TOKEN = 4, /* as wr_cap_text() counts */
};

struct open_loop {
    struct wr_fold *fold;
    uint32_t first; /* segment of the running calls */
    uint32_t *list; /* what leaves, ascending */
    uint32_t count;
    weir_span *texts; /* by place in the list: what is shown of it; no pointer: nothing */
    uint64_t *tokens; /* of these */
    weir_span summary;
    uint64_t rest_tokens;  /* of what stays in the prompt */
    uint64_t fixed_tokens; /* of that, what no step can take */
};

/* ---- what leaves ---- */

static bool can_leave(const struct open_loop *o, uint32_t segment)
{
    const struct wr_fold *fold = o->fold;
    const struct wr_segment *s = &fold->transcript->segments[segment];
    bool is_call = s->kind == WEIR_KIND_TOOL_CALL;

    return s->array != WR_JSON_NONE && s->kind != WEIR_KIND_COMPACTION && s->group >= o->first &&
           fold->group_end[s->group] <= fold->arrived && !(is_call && s->pair >= fold->arrived);
}

static bool collect_loop(struct open_loop *o)
{
    const struct wr_fold *fold = o->fold;

    for (uint32_t i = o->first; i < fold->arrived; i++) {
        const struct wr_segment *s = &fold->transcript->segments[i];
        if (fold->segments[i].form == WR_FORM_DROPPED)
            continue;
        if (s->group == WR_SEGMENT_NONE && !s->from_model)
            continue; /* the user's words */
        if (s->group == WR_SEGMENT_NONE || !can_leave(o, i))
            return false;
        o->list[o->count++] = i;
    }
    return o->count > 0;
}

/* What remains of the prompt, and what of it later steps cannot take either: all but calls, results
 * and answers. */
static void measure_rest(struct open_loop *o, uint32_t supersedes)
{
    const struct wr_fold *fold = o->fold;
    uint64_t movable = 0;

    o->rest_tokens = fold->total_tokens;
    for (uint32_t i = 0; i < o->count; i++)
        o->rest_tokens -= fold->segments[o->list[i]].tokens + wr_fold_overhead(fold, o->list[i]);
    if (supersedes != WR_INSERT_NONE)
        o->rest_tokens -= fold->inserts[supersedes].tokens;
    for (uint32_t i = 0; i < o->first; i++)
        if (fold->transcript->segments[i].group != WR_SEGMENT_NONE)
            movable += fold->segments[i].tokens;
    o->fixed_tokens = o->rest_tokens > movable ? o->rest_tokens - movable : 0;
}

static uint64_t room_above(const struct wr_fold *fold, uint64_t basis_points, uint64_t used)
{
    uint64_t limit = wr_fold_threshold(fold, basis_points);
    return limit > used ? limit - used : 0;
}

/* ---- the summary ---- */

static bool is_of_open_loops(const struct wr_fold *fold, uint32_t segment)
{
    return fold->segments[segment].reason == wr_open_loop_name;
}

static weir_status write_summary(struct open_loop *o, uint32_t supersedes)
{
    struct wr_fold *fold = o->fold;
    uint64_t share = room_above(fold, FULL_BP, o->fixed_tokens) / SUMMARY_SHARE;
    struct wr_stage_past past = {
        .first = supersedes == WR_INSERT_NONE ? o->list[0] : fold->inserts[supersedes].first,
        .end = fold->arrived,
        .tokens_max = share < SUMMARY_TOKENS_MAX ? share : SUMMARY_TOKENS_MAX,
        .is_told = is_of_open_loops,
        .all_from = o->first};

    return wr_stage_summarise(fold, &past, &o->summary);
}

/* ---- which results are shown ---- */

/* The text of a result as the prompt has it, without a marker of its own. Forms that stand for a
 * text that is not here are not shown. */
static weir_status read_shown(struct open_loop *o, uint32_t segment, weir_span *text)
{
    struct wr_fold *fold = o->fold;
    const struct wr_fold_segment *now = &fold->segments[segment];
    size_t end = SIZE_MAX, at = 0;

    *text = (weir_span){NULL, 0};
    if (now->form == WR_FORM_EXACT) {
        weir_span own = wr_fold_text(fold, segment);
        if (!own.ptr)
            return wr_arena_status(fold->arena);
        if (own.len)
            *text = own;
        return WEIR_OK;
    }
    if (now->form != WR_FORM_TIDIED && now->form != WR_FORM_CONDENSED &&
        now->form != WR_FORM_CAPPED && now->form != WR_FORM_EVICTED)
        return WEIR_OK;
    for (; (at = wr_span_find(now->text, WR_LIT("\n[weir wr_"), at)) != SIZE_MAX; at++)
        end = at;
    if (end != SIZE_MAX && end)
        *text = wr_span_cut(now->text, 0, end);
    return WEIR_OK;
}

static bool is_newest(const struct open_loop *o, uint32_t segment)
{
    return o->fold->transcript->segments[segment].turn == o->fold->turn;
}

static weir_status show_result(struct open_loop *o, uint32_t place)
{
    struct wr_fold *fold = o->fold;
    weir_status status = read_shown(o, o->list[place], &o->texts[place]);

    if (!status && o->texts[place].ptr)
        o->tokens[place] = fold->input->count(fold->input->user, o->texts[place]) + HEADING_TOKENS;
    return status;
}

static uint64_t shown_at(const struct open_loop *o, uint64_t level)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < o->count; i++)
        tokens += o->tokens[i] < level ? o->tokens[i] : level;
    return tokens;
}

/* The largest size for each with which all of them together take at most `budget`. */
static uint64_t find_level(const struct open_loop *o, uint64_t budget)
{
    uint64_t low = CUT_TOKENS_MIN + HEADING_TOKENS, high = low;

    for (uint32_t i = 0; i < o->count; i++)
        high = o->tokens[i] > high ? o->tokens[i] : high;
    if (shown_at(o, high) <= budget)
        return high;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (shown_at(o, middle) <= budget)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static weir_status cut_result(struct open_loop *o, uint32_t place, uint64_t level)
{
    uint64_t tokens = o->tokens[place] - HEADING_TOKENS, to = level - HEADING_TOKENS;
    struct wr_buf buf;
    bool is_cut;

    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_cap_text(&buf, o->texts[place], o->texts[place].len * to / tokens / BYTES_A_TOKEN,
                WR_CAP_BOTH, &is_cut);
    o->tokens[place] = level;
    return wr_text_keep(o->fold->arena, &buf, &o->texts[place]);
}

static weir_status show_newest(struct open_loop *o, uint64_t summary_tokens)
{
    const struct wr_fold *fold = o->fold;
    /* As long as the rest stays they take what it leaves; but they may take half of all that could
     * be freed, and the stages behind then free it. */
    uint64_t free_now = room_above(fold, FULL_BP, o->rest_tokens + summary_tokens);
    uint64_t free_ever = room_above(fold, FULL_BP, o->fixed_tokens + summary_tokens) / 2;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < o->count && !status; i++)
        if (is_newest(o, o->list[i]) &&
            fold->transcript->segments[o->list[i]].kind == WEIR_KIND_TOOL_RESULT)
            status = show_result(o, i);
    uint64_t level = find_level(o, free_now > free_ever ? free_now : free_ever);
    for (uint32_t i = 0; i < o->count && !status; i++)
        if (o->tokens[i] > level)
            status = cut_result(o, i, level);
    return status;
}

static weir_status show_more(struct open_loop *o, uint64_t summary_tokens)
{
    struct wr_fold *fold = o->fold;
    uint64_t left =
        room_above(fold, DEPTH_BP, o->rest_tokens + summary_tokens + shown_at(o, UINT64_MAX));
    weir_status status = WEIR_OK;

    for (uint32_t i = o->count; i-- > 0 && !status;) {
        const struct wr_segment *s = &fold->transcript->segments[o->list[i]];
        if (s->kind != WEIR_KIND_TOOL_RESULT || is_newest(o, o->list[i]) || s->is_superseded ||
            wr_loop_is_outdated(s, fold->arrived) || fold->segments[o->list[i]].tokens > left)
            continue;
        status = show_result(o, i);
        if (o->tokens[i] > left) {
            o->texts[i] = (weir_span){NULL, 0};
            o->tokens[i] = 0;
        }
        left -= o->tokens[i];
    }
    return status;
}

/* ---- the message ---- */

static weir_status write_result(const struct open_loop *o, uint32_t place, struct wr_buf *out)
{
    const struct wr_transcript *t = o->fold->transcript;
    const struct wr_segment *s = &t->segments[o->list[place]];
    struct wr_call call;
    weir_status status = wr_call_read(&call, o->fold->arena, t, s->pair);

    if (status)
        return status;
    wr_buf_text(out, "\n## result of ");
    wr_text_one_line_max(out, call.capability, HEADING_CHARS_MAX);
    if (call.arguments.len) {
        wr_buf_byte(out, ' ');
        wr_text_one_line_max(out, call.arguments, HEADING_CHARS_MAX);
    }
    wr_buf_text(out, s->is_error ? " (it failed)\n" : "\n");
    wr_history_fence(out, o->texts[place]);
    if (s->has_exact_blocks)
        wr_buf_text(out, "(what stood beside the text is left out)\n");
    return wr_buf_status(out);
}

static weir_status write_message(const struct open_loop *o, weir_span *text)
{
    struct wr_buf buf;
    weir_status status = WEIR_OK;

    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&buf, o->summary.len ? o->summary : WR_LIT(WR_OMITTED_NOTICE));
    wr_buf_text(&buf, "\n" WR_OPEN_LOOP_LINE "\n");
    for (uint32_t i = 0; i < o->count && !status; i++)
        if (o->texts[i].ptr)
            status = write_result(o, i, &buf);
    if (!status)
        return wr_text_keep(o->fold->arena, &buf, text);
    wr_buf_release(&buf);
    return status;
}

static weir_status fill_message(struct open_loop *o, uint32_t supersedes, weir_span *text)
{
    struct wr_fold *fold = o->fold;

    measure_rest(o, supersedes);
    weir_status status = write_summary(o, supersedes);
    uint64_t summary_tokens = status ? 0 : fold->input->count(fold->input->user, o->summary);
    if (!status)
        status = show_newest(o, summary_tokens);
    if (!status)
        status = show_more(o, summary_tokens);
    return status ? status : write_message(o, text);
}

weir_status wr_open_loop_fold(struct wr_fold *fold, bool *taken)
{
    const char *stage = fold->stage;
    struct open_loop o = {.fold = fold, .first = wr_fold_open_first(fold)};
    uint32_t room = fold->arrived - o.first;
    struct wr_fold_replacement r = {
        .role = WEIR_ROLE_USER, .reason = WR_STEP_WINDOW, .before = fold->arrived};

    *taken = false;
    if (!room || !wr_fold_has_way(fold))
        return WEIR_OK;
    o.list = WR_ARENA_ARRAY(fold->arena, uint32_t, room);
    o.texts = WR_ARENA_ARRAY(fold->arena, weir_span, room);
    o.tokens = WR_ARENA_ARRAY(fold->arena, uint64_t, room);
    if (!o.list || !o.texts || !o.tokens)
        return wr_arena_status(fold->arena);
    if (!collect_loop(&o))
        return WEIR_OK;
    fold->stage = wr_open_loop_name;
    r.segments = o.list;
    r.segments_count = o.count;
    r.supersedes = wr_fold_own_insert(fold);
    weir_status status = fill_message(&o, r.supersedes, &r.text);
    if (!status)
        status = wr_fold_replace(fold, &r, taken);
    fold->stage = stage;
    return status;
}
