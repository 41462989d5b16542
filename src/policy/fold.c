#include "policy/fold.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

enum { CAP_FIRST_COUNT = 16, GAIN_SHARE = 20, STUB_TOKENS = 48, RESERVE_SHARE_MIN = 20 };

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
    return !now->is_pinned && !now->is_marked && !wr_stage_exempts(stage, s->tool);
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

static bool has_result_in_turn(const struct wr_fold *fold)
{
    const struct wr_transcript *t = fold->transcript;
    for (uint32_t i = fold->arrived; i-- > 0 && t->segments[i].turn == fold->turn;)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            return true;
    return false;
}

static const struct wr_fold_turn *turn_now(const struct wr_fold *fold)
{
    static const struct wr_fold_turn nothing_decided;
    return fold->input->turns ? &fold->input->turns[fold->turn] : &nothing_decided;
}

bool wr_fold_is_cold(const struct wr_fold *fold)
{
    return turn_now(fold)->is_cold;
}

bool wr_fold_may_step(const struct wr_fold *fold)
{
    /* What has arrived counts, not what the request holds: a later request holds more. */
    bool binds = fold->input->binds_thinking && fold->has_signed;
    return !fold->transcript->is_delta && !(binds && has_result_in_turn(fold));
}

uint64_t wr_fold_threshold(const struct wr_fold *fold, uint64_t basis_points)
{
    uint64_t window = fold->window_tokens, reserve = fold->reserve_tokens;
    if (!window)
        return UINT64_MAX;
    uint64_t room = reserve < window ? window - reserve : 1;
    return room / 10000 * basis_points + room % 10000 * basis_points / 10000;
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

static void note_change(struct wr_fold *fold, uint32_t segment)
{
    if (segment < fold->changed_first)
        fold->changed_first = segment;
}

static weir_status declare_step(struct wr_fold *fold, enum wr_step_reason reason)
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

static uint32_t overhead_of(const struct wr_fold *fold, uint32_t segment)
{
    return fold->input->overheads ? fold->input->overheads[segment] : 0;
}

static void set_tokens(struct wr_fold *fold, struct wr_fold_segment *now, uint64_t tokens)
{
    fold->total_tokens = fold->total_tokens - now->tokens + tokens;
    now->tokens = tokens;
    if (wr_fold_is_sent(fold, (uint32_t)(now - fold->segments)))
        note_change(fold, (uint32_t)(now - fold->segments));
}

static void drop(struct wr_fold *fold, uint32_t segment, const char *reason)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    now->form = WR_FORM_DROPPED;
    now->reason = reason;
    set_tokens(fold, now, 0);
    fold->total_tokens -= overhead_of(fold, segment);
}

/* The signed thinking before a step goes with it, from the start: what it was signed over is no
 * more. */
static void drop_thinking(struct wr_fold *fold)
{
    if (!fold->input->binds_thinking)
        return;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        struct wr_fold_segment *now = &fold->segments[i];
        if (!fold->transcript->segments[i].is_signed || now->form == WR_FORM_DROPPED ||
            !wr_fold_is_sent(fold, i))
            continue;
        drop(fold, i, "thinking");
    }
}

static weir_status text_with_marker(struct wr_fold *fold, weir_span first,
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
        status = text_with_marker(fold, form->text, &marker, &text);
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
    drop_thinking(fold);
    return declare_step(fold, form->reason);
}

static weir_status add_insert(struct wr_fold *fold, const struct wr_fold_insert *insert)
{
    if (fold->inserts_count == WR_FOLD_INSERTS_MAX)
        return WEIR_LIMIT;
    if (fold->inserts_count == fold->inserts_cap) {
        uint32_t cap = fold->inserts_cap ? fold->inserts_cap * 2 : CAP_FIRST_COUNT;
        struct wr_fold_insert *grown = wr_arena_grow(
            fold->arena, fold->inserts, fold->inserts_cap * sizeof(*grown), cap * sizeof(*grown));
        if (!grown)
            return wr_arena_status(fold->arena);
        fold->inserts = grown;
        fold->inserts_cap = cap;
    }
    fold->inserts[fold->inserts_count++] = *insert;
    fold->total_tokens += insert->tokens;
    return WEIR_OK;
}

static uint64_t tokens_of(const struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < r->segments_count; i++)
        tokens += fold->segments[r->segments[i]].tokens;
    return tokens;
}

/* Of what an insert stands for, and of what the one before it stood for: counting the text of all
 * of it at every step would take longer with each. */
static uint64_t original_tokens(const struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < r->segments_count; i++)
        tokens += fold->input->tokens[r->segments[i]];
    if (r->supersedes != WR_INSERT_NONE)
        tokens += fold->inserts[r->supersedes].original_tokens;
    return tokens;
}

weir_status wr_fold_replace(struct wr_fold *fold, const struct wr_fold_replacement *r, bool *taken)
{
    uint64_t before_tokens = tokens_of(fold, r);
    struct wr_fold_insert insert = {.before = r->before,
                                    .turn = fold->turn,
                                    .role = r->role,
                                    .original = r->original,
                                    .stage = fold->stage};
    struct wr_marker marker = {.way = {.kind = WR_WAY_RECALL, .tool = wr_fold_recall(fold)},
                               .what = "left out"};

    *taken = false;
    if (!marker.way.tool.len || !r->segments_count)
        return WEIR_OK;
    if (r->supersedes != WR_INSERT_NONE)
        before_tokens += fold->inserts[r->supersedes].tokens;
    insert.original_tokens = marker.tokens = original_tokens(fold, r);
    weir_status status = wr_handle_of(r->original, &marker.handle);
    if (!status)
        status = text_with_marker(fold, r->text, &marker, &insert.text);
    if (status)
        return status;
    insert.handle = marker.handle;
    insert.tokens =
        fold->input->count(fold->input->user, insert.text) + fold->input->message_overhead_tokens;
    if (insert.tokens >= before_tokens)
        return WEIR_OK;

    for (uint32_t i = 0; i < r->segments_count; i++) {
        fold->segments[r->segments[i]].is_offloaded = true;
        drop(fold, r->segments[i], fold->stage);
    }
    *taken = true;
    note_change(fold, r->before);
    if (r->supersedes != WR_INSERT_NONE) {
        note_change(fold, fold->inserts[r->supersedes].before);
        fold->inserts[r->supersedes].is_gone = true;
        fold->total_tokens -= fold->inserts[r->supersedes].tokens;
    }
    status = add_insert(fold, &insert);
    if (status)
        return status;
    drop_thinking(fold);
    return declare_step(fold, r->reason);
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
    drop_thinking(fold);
    return declare_step(fold, pruning->reason);
}

static uint32_t behind_message(const struct wr_transcript *t, uint32_t segment)
{
    uint32_t next = segment + 1;
    while (next < t->segments_count && t->segments[next].message == t->segments[segment].message)
        next++;
    return next;
}

weir_status wr_fold_rehydrate(struct wr_fold *fold, uint32_t segment,
                              const struct wr_handle *handle, weir_span text, weir_span original)
{
    struct wr_fold_insert insert = {.before = behind_message(fold->transcript, segment),
                                    .turn = fold->turn,
                                    .role = WEIR_ROLE_USER,
                                    .text = text,
                                    .original = original,
                                    .handle = *handle,
                                    .tokens = fold->input->count(fold->input->user, text),
                                    .stage = fold->stage,
                                    .is_rehydrated = true};
    weir_status status = add_insert(fold, &insert);
    if (!status)
        fold->rehydrated_tokens += insert.tokens;
    return status;
}

static bool handles_equal(const struct wr_handle *a, const struct wr_handle *b)
{
    return !strcmp(a->text, b->text);
}

bool wr_fold_original(struct wr_fold *fold, const struct wr_handle *handle, weir_span *original)
{
    for (uint32_t i = 0; i < fold->arrived; i++) {
        const struct wr_fold_segment *now = &fold->segments[i];
        for (uint32_t m = 0; m < now->members_count; m++)
            if (handles_equal(&now->members[m].handle, handle)) {
                *original = now->members[m].original;
                return true;
            }
        if (!now->members_count && handles_equal(&now->handle, handle)) {
            *original = wr_fold_text(fold, i);
            return true;
        }
    }
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (handles_equal(&fold->inserts[i].handle, handle)) {
            *original = fold->inserts[i].original;
            return true;
        }
    return false;
}

uint32_t wr_fold_own_insert(const struct wr_fold *fold)
{
    for (uint32_t i = fold->inserts_count; i-- > 0;)
        if (fold->inserts[i].stage == fold->stage && !fold->inserts[i].is_gone)
            return i;
    return WR_INSERT_NONE;
}

bool wr_fold_group_may_leave(const struct wr_fold *fold, uint32_t group)
{
    const struct wr_transcript *t = fold->transcript;
    bool has_call = false;
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

/* ---- the run ---- */

static weir_status find_group_ends(struct wr_fold *fold)
{
    const struct wr_transcript *t = fold->transcript;
    fold->group_end = WR_ARENA_ARRAY(fold->arena, uint32_t, t->segments_count);
    if (!fold->group_end)
        return wr_arena_status(fold->arena);
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].group != WR_SEGMENT_NONE)
            fold->group_end[t->segments[i].group] = i + 1;
    return WEIR_OK;
}

/* Looked for in the text as it stands in the body: a marker has no character that JSON escapes
 * before its handle ends. */
static bool holds_marker(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_json *doc = fold->transcript->doc;
    for (uint32_t i = 0; i < s->parts_count; i++)
        if (wr_span_find(wr_json_inner(doc, s->parts[i]), WR_LIT("[weir wr_"), 0) != SIZE_MAX)
            return true;
    return s->kind == WEIR_KIND_TOOL_CALL && s->payload != WR_JSON_NONE &&
           wr_span_find(wr_json_raw(doc, s->payload), WR_LIT("[weir wr_"), 0) != SIZE_MAX;
}

/* A file that is read again after an earlier read of it was shortened stays whole as it arrives:
 * the model came back for the rest (law L2). */
static void note_read(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *segments = fold->transcript->segments;
    const struct wr_tool_handles *h = segments[segment].handles;
    uint32_t at, item;

    if (segments[segment].kind != WEIR_KIND_TOOL_RESULT || !h || h->kind != WR_EFFECT_READ ||
        !h->path.len)
        return;
    uint64_t hash = wr_hash64(h->path);
    for (at = wr_index_first(&fold->reads, hash);
         (item = wr_index_item(&fold->reads, at)) != WR_INDEX_NONE;
         at = wr_index_next(&fold->reads, at, hash)) {
        if (!wr_span_eq(segments[item].handles->path, h->path))
            continue;
        fold->segments[segment].is_reread =
            fold->segments[item].form != WR_FORM_EXACT || fold->segments[item].is_marked;
        break;
    }
    wr_index_put(&fold->reads, at, hash, segment);
}

static weir_status arrive(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_policy *policy = fold->input->policy;
    struct wr_fold_segment *now = &fold->segments[segment];

    now->form = WR_FORM_EXACT;
    now->refers_to = WR_SEGMENT_NONE;
    now->tokens = fold->input->tokens[segment];
    now->has_arrived = true;
    now->is_marked = holds_marker(fold, segment);
    now->same = WR_SEGMENT_NONE;
    fold->total_tokens += now->tokens + overhead_of(fold, segment);
    fold->has_signed |= fold->transcript->segments[segment].is_signed;
    fold->arrived = segment + 1;
    note_read(fold, segment);
    if (turn_now(fold)->is_whole)
        return WEIR_OK;
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        fold->stage = stage->def->name;
        weir_status status =
            stage->def->arrive ? stage->def->arrive(fold, stage, segment) : WEIR_OK;
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status at_request(struct wr_fold *fold)
{
    const struct wr_policy *policy = fold->input->policy;
    bool may_step = wr_fold_may_step(fold);
    weir_status status = WEIR_OK;

    if (turn_now(fold)->is_whole)
        return WEIR_OK;
    for (uint32_t i = 0; i < policy->stages_count && !status; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        fold->stage = stage->def->name;
        if (stage->def->turn)
            status = stage->def->turn(fold, stage);
        if (!status && stage->def->request && may_step)
            status = stage->def->request(fold, stage);
    }
    return status;
}

/* A request ends with its inputs; the output that answers it comes only in the next one. */
static bool ends_request(const struct wr_transcript *t, uint32_t segment)
{
    if (segment + 1 == t->segments_count)
        return true;
    return !t->segments[segment].from_model && t->segments[segment + 1].from_model;
}

/* An overflow error said that the window is smaller than it was believed to be. */
static void narrow_window(struct wr_fold *fold)
{
    uint64_t window_tokens = turn_now(fold)->window_tokens;
    if (!window_tokens || (fold->window_tokens && window_tokens >= fold->window_tokens))
        return;
    fold->window_tokens = window_tokens;
    if (fold->reserve_tokens > window_tokens / RESERVE_SHARE_MIN)
        fold->reserve_tokens = window_tokens / RESERVE_SHARE_MIN;
}

weir_status wr_fold_run(struct wr_fold *fold, struct wr_arena *arena,
                        const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;

    *fold = (struct wr_fold){
        .input = input, .transcript = t, .arena = arena, .stage = "", .cold_turn = UINT32_MAX};
    fold->total_tokens = input->base_tokens;
    fold->window_tokens = input->window_tokens;
    fold->reserve_tokens = input->reserve_tokens;
    fold->segments = WR_ARENA_ARRAY(arena, struct wr_fold_segment, t->segments_count);
    fold->lists[0] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    fold->lists[1] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    if (!fold->segments || !fold->lists[0] || !fold->lists[1])
        return wr_arena_status(arena);
    weir_status status = find_group_ends(fold);
    if (!status)
        status = wr_index_init(&fold->reads, arena, t->segments_count);
    for (uint32_t i = 0; i < t->segments_count && !status; i++) {
        if (!i || fold->turn != t->segments[i].turn) {
            fold->turn = t->segments[i].turn;
            fold->changed_first = UINT32_MAX;
            narrow_window(fold);
        }
        status = arrive(fold, i);
        if (!status && ends_request(t, i))
            status = at_request(fold);
    }
    return status;
}

bool wr_fold_took_cold(const struct wr_fold *fold)
{
    return fold->cold_turn == fold->turn;
}

const struct wr_fold_step *wr_fold_step_now(const struct wr_fold *fold)
{
    if (!fold->steps_count || fold->steps[fold->steps_count - 1].turn != fold->turn)
        return NULL;
    return &fold->steps[fold->steps_count - 1];
}
