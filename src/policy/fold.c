#include "policy/fold.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/budget.h"
#include "policy/fold_change.h"

enum { CAP_FIRST_COUNT = 16, GAIN_SHARE = 20, STUB_TOKENS = 48 };

const char *wr_step_reason_text(enum wr_step_reason reason)
{
    switch (reason) {
#define X(name, text)    \
    case WR_STEP_##name: \
        return text;
        WR_STEP_MAP(X)
#undef X
    }
    return "unknown";
}

bool wr_fold_is_sent(const struct wr_fold *fold, uint32_t segment)
{
    return fold->transcript->segments[segment].turn < fold->turn;
}

weir_span wr_fold_text(struct wr_fold *fold, uint32_t segment)
{
    return wr_segment_text(fold->transcript, &fold->transcript->segments[segment], fold->arena);
}

/* Classes speak of a request's newest turn; a fold has a newest turn of its own at every request.
 */
static bool is_failure(const struct wr_segment *s)
{
    return s->is_error ||
           (s->handles &&
            (s->handles->is_error || (s->handles->has_exit_code && s->handles->exit_code != 0)));
}

static bool tool_fits(weir_span pattern, weir_span tool)
{
    if (pattern.len && pattern.ptr[pattern.len - 1] == '*')
        return wr_span_starts(tool, wr_span_cut(pattern, 0, pattern.len - 1));
    return wr_span_eq(pattern, tool);
}

/* The first word that fits decides; each begins with its sign. */
static bool may_change_results(const char *words, weir_span tool)
{
    weir_span rest = words ? wr_span_of(words) : (weir_span){"", 0};

    while (rest.len) {
        size_t space = wr_span_find(rest, WR_LIT(" "), 0);
        weir_span word = wr_span_cut(rest, 0, space < rest.len ? space : rest.len);
        if (word.len && tool_fits(wr_span_cut(word, 1, word.len), tool))
            return word.ptr[0] != '-';
        rest = wr_span_cut(rest, word.len + (word.len < rest.len), rest.len);
    }
    return true;
}

bool wr_fold_may_change(const struct wr_fold *fold, weir_span tool)
{
    return may_change_results(fold->input->tools, tool);
}

/* What came later is not known yet at this turn. */
bool wr_fold_is_instructions(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->kind == WEIR_KIND_TOOL_RESULT && s->handles && s->handles->is_instructions &&
           !(s->staleness == WR_STALE && s->stale_by < fold->arrived);
}

bool wr_fold_group_instructs(const struct wr_fold *fold, uint32_t group)
{
    uint32_t i = fold->segments[group].instructs_last;
    while (i != WR_SEGMENT_NONE &&
           (!wr_fold_is_instructions(fold, i) || fold->segments[i].form != WR_FORM_EXACT))
        i = fold->segments[i].instructs_before; /* a stub instructs nobody */
    return i != WR_SEGMENT_NONE;
}

bool wr_fold_is_plain(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];

    if (s->kind != WEIR_KIND_TOOL_RESULT || !s->parts_count || !now->has_arrived ||
        now->form != WR_FORM_EXACT)
        return false;
    if (fold->transcript->is_delta && s->pair == WR_SEGMENT_NONE && !s->handles)
        return false; /* nobody here knows what was called */
    if (s->is_opaque || ((is_failure(s) || now->is_reread) && !wr_fold_is_sent(fold, segment)))
        return false;
    if (s->handles && (s->handles->kind == WR_EFFECT_RECALL || s->handles->kind == WR_EFFECT_PLAN))
        return false;
    if (wr_fold_is_instructions(fold, segment))
        return false;
    return !now->is_pinned && !now->is_marked && !wr_stage_exempts(stage, s->tool) &&
           wr_fold_may_change(fold, s->tool);
}

weir_span wr_fold_recall(const struct wr_fold *fold)
{
    return wr_ways_recall(fold->input->ways, fold->arrived);
}

bool wr_fold_is_open(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    return wr_fold_is_plain(fold, stage, segment) &&
           wr_way_to(fold->input->ways, &fold->transcript->segments[segment], fold->arrived).kind !=
               WR_WAY_NONE;
}

uint64_t wr_fold_threshold(const struct wr_fold *fold, uint64_t basis_points)
{
    uint64_t window = fold->window_tokens, reserve = fold->reserve_tokens;
    if (!window)
        return UINT64_MAX;
    uint64_t room = reserve < window ? window - reserve : 1;
    return room / 10000 * basis_points + room % 10000 * basis_points / 10000;
}

uint64_t wr_fold_room(const struct wr_fold *fold)
{
    uint64_t window = fold->window_tokens, reserve = fold->reserve_tokens;
    if (!window)
        return UINT64_MAX;
    return fold->is_reserve_named && reserve < window ? window - reserve : window;
}

uint64_t wr_fold_trigger(const struct wr_fold *fold, uint64_t basis_points)
{
    uint64_t share = wr_share_tokens(fold->window_tokens, (uint32_t)basis_points);
    uint64_t room = wr_fold_room(fold);
    return share < room ? share : room;
}

uint64_t wr_fold_gain(const struct wr_fold *fold, uint32_t segment)
{
    uint64_t tokens = fold->segments[segment].tokens;
    return tokens > STUB_TOKENS + WR_FOLD_GAIN_TOKENS_MIN ? tokens - STUB_TOKENS : 0;
}

uint64_t wr_fold_gain_min(const struct wr_fold *fold)
{
    return fold->window_tokens / GAIN_SHARE;
}

void wr_fold_note_change(struct wr_fold *fold, uint32_t segment)
{
    if (segment < fold->changed_first)
        fold->changed_first = segment;
}

weir_status wr_fold_declare_step(struct wr_fold *fold, enum wr_step_reason reason)
{
    if (reason == WR_STEP_COLD)
        fold->cold_turn = fold->turn;
    if (fold->steps_count && fold->steps[fold->steps_count - 1].turn == fold->turn) {
        fold->steps[fold->steps_count - 1].first = fold->changed_first;
        return WEIR_OK;
    }
    if (fold->steps_count == fold->steps_cap) {
        uint32_t cap = fold->steps_cap ? fold->steps_cap * 2 : CAP_FIRST_COUNT;
        struct wr_fold_step *grown = wr_arena_grow(
            fold->arena, fold->steps, fold->steps_cap * sizeof(*grown), cap * sizeof(*grown));
        if (!grown)
            return wr_arena_status(fold->arena);
        fold->steps = grown;
        fold->steps_cap = cap;
    }
    fold->steps[fold->steps_count++] =
        (struct wr_fold_step){fold->turn, reason, fold->changed_first};
    return WEIR_OK;
}

static void set_tokens(struct wr_fold *fold, struct wr_fold_segment *now, uint64_t tokens)
{
    fold->total_tokens = fold->total_tokens - now->tokens + tokens;
    now->tokens = tokens;
    if (wr_fold_is_sent(fold, (uint32_t)(now - fold->segments)))
        wr_fold_note_change(fold, (uint32_t)(now - fold->segments));
}

void wr_fold_drop(struct wr_fold *fold, uint32_t segment, const char *reason)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    now->form = WR_FORM_DROPPED;
    now->reason = reason;
    set_tokens(fold, now, 0);
    fold->total_tokens -= wr_fold_overhead(fold, segment);
}

/* The signed thinking before a step goes with it, from the start: what it was signed over is no
 * more. */
void wr_fold_drop_thinking(struct wr_fold *fold)
{
    if (!fold->input->binds_thinking)
        return;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        struct wr_fold_segment *now = &fold->segments[i];
        if (!fold->transcript->segments[i].is_signed || now->form == WR_FORM_DROPPED ||
            !wr_fold_is_sent(fold, i))
            continue;
        wr_fold_drop(fold, i, "thinking");
    }
}

weir_status wr_fold_text_with_marker(struct wr_fold *fold, weir_span first,
                                     const struct wr_marker *marker, weir_span *text)
{
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&buf, first);
    if (first.len)
        wr_buf_byte(&buf, '\n');
    wr_marker_write(&buf, marker);
    weir_status status = buf.status;
    if (!status) {
        *text = wr_arena_copy(fold->arena, wr_buf_view(&buf));
        status = text->ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_buf_release(&buf);
    return status;
}

weir_status wr_fold_give(struct wr_fold *fold, uint32_t segment, const struct wr_fold_form *form)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_fold_segment *now = &fold->segments[segment];
    weir_span original = wr_fold_text(fold, segment), text;
    struct wr_marker marker = {.way = wr_way_to(fold->input->ways, s, fold->arrived),
                               .lines = form->lines_missing,
                               .tokens = fold->input->tokens[segment],
                               .what = form->what ? form->what : "left out"};

    if (!original.ptr)
        return wr_arena_status(fold->arena);
    if (form->refers_to != WR_SEGMENT_NONE)
        marker.way = (struct wr_way){.kind = WR_WAY_HERE, .tool = {"", 0}, .path = {"", 0}};
    weir_status status = wr_handle_of(original, &marker.handle);
    if (!status)
        status = wr_fold_text_with_marker(fold, form->text, &marker, &text);
    if (status)
        return status;
    uint64_t tokens = fold->input->count(fold->input->user, text);
    if (tokens + WR_FOLD_GAIN_TOKENS_MIN > now->tokens || text.len >= original.len)
        return WEIR_OK;

    now->form = form->form;
    now->text = text;
    now->handle = marker.handle;
    now->refers_to = form->refers_to;
    if (form->refers_to != WR_SEGMENT_NONE)
        fold->segments[form->refers_to].is_pinned = true;
    now->reason = fold->stage;
    set_tokens(fold, now, tokens);
    if (!wr_fold_is_sent(fold, segment))
        return WEIR_OK;
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, form->reason);
}

weir_status wr_fold_prune(struct wr_fold *fold, uint32_t segment,
                          const struct wr_fold_pruning *pruning)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    uint64_t name_tokens =
        fold->input->count(fold->input->user, fold->transcript->segments[segment].tool);
    uint64_t tokens = fold->input->count(fold->input->user, pruning->arguments) + name_tokens;

    if (!pruning->members_count || tokens + WR_FOLD_GAIN_TOKENS_MIN > now->tokens)
        return WEIR_OK;
    now->form = WR_FORM_PRUNED;
    now->text = pruning->arguments;
    now->members = pruning->members;
    now->members_count = pruning->members_count;
    now->handle = pruning->members[0].handle;
    now->reason = fold->stage;
    set_tokens(fold, now, tokens);
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, pruning->reason);
}

bool wr_fold_group_may_leave(const struct wr_fold *fold, uint32_t group)
{
    const struct wr_transcript *t = fold->transcript;
    bool has_call = false;
    if (wr_fold_group_instructs(fold, group))
        return false;
    for (uint32_t i = group; i < fold->group_end[group] && i < fold->arrived; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->group != group || (s->is_signed && fold->segments[i].form == WR_FORM_DROPPED))
            continue;
        bool is_call = s->kind == WEIR_KIND_TOOL_CALL;
        if (fold->segments[i].form == WR_FORM_DROPPED || fold->segments[i].is_pinned ||
            !wr_fold_is_sent(fold, i) || s->array == WR_JSON_NONE ||
            (is_call && s->pair >= fold->arrived))
            return false; /* the result that comes later is not here yet */
        has_call |= is_call;
    }
    return has_call && fold->group_end[group] <= fold->arrived;
}
