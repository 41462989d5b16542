/* The fold itself: turn by turn segments arrive and get their forms, then the stages look at the
 * whole.
 *
 *   begin ─▶ (a state that fits is taken over) ─▶ for each segment: arrive ─▶ the stages' `arrive`
 *                                                 at a request's end:      ─▶ `turn`, then
 * `request`
 *
 * A request is folded from its first turn on, as if each earlier request were sent again: that is
 * what makes a form independent of who sent it and when (law L3). A long session would pay for its
 * whole past each time, so the state after a request is kept (wr_fold_state) and the next one goes
 * on from there. What a stage may do to the fold while it runs is in fold_change.c.
 *
 * Time is asked for before a new segment is given a form and before a new request's stages begin.
 * Once it is up, what is new stays whole; where it was up is for the session's marks, so that the
 * same is done ever after (law L6). */
#include "policy/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "models/window.h"
#include "policy/fold_inside.h"
#include "policy/stage.h"

/* The first segment of the inputs that end before `end`. */
static uint32_t first_of_inputs(const struct wr_fold *fold, uint32_t end)
{
    while (end > 0 && !fold->transcript->segments[end - 1].from_model)
        end--;
    return end;
}

static uint32_t first_of_output(const struct wr_fold *fold, uint32_t end)
{
    while (end > 0 && fold->transcript->segments[end - 1].from_model)
        end--;
    return end;
}

/* A result that was folded into a message of ours is no result to the provider any more. */
static bool has_result(const struct wr_fold *fold, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (fold->transcript->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            fold->segments[i].form != WR_FORM_DROPPED)
            return true;
    return false;
}

static bool has_result_in_turn(const struct wr_fold *fold)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t first = fold->arrived;

    while (first > 0 && segments[first - 1].turn == fold->turn)
        first--;
    return has_result(fold, first, fold->arrived);
}

uint32_t wr_fold_open_first(const struct wr_fold *fold)
{
    uint32_t first = fold->arrived, inputs = first_of_inputs(fold, first);

    while (has_result(fold, inputs, first)) {
        first = first_of_output(fold, inputs);
        if (first == inputs)
            break; /* a result without a call */
        inputs = first_of_inputs(fold, first);
    }
    return first;
}

uint32_t wr_fold_new_first(const struct wr_fold *fold)
{
    return first_of_output(fold, first_of_inputs(fold, fold->arrived));
}

static bool has_thinking(const struct wr_fold *fold, uint32_t first)
{
    for (uint32_t i = first; i < fold->arrived; i++)
        if (fold->transcript->segments[i].is_signed && fold->segments[i].form != WR_FORM_DROPPED)
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
    if (fold->transcript->is_delta)
        return false;
    if (!binds || !has_result_in_turn(fold))
        return true;
    return fold->is_over &&
           (fold->transcript->drops_thinking || !has_thinking(fold, wr_fold_open_first(fold)));
}

/* ---- time ---- */

static bool is_new_turn(const struct wr_fold *fold)
{
    return fold->turn >= fold->input->deadline.known_turns;
}

/* A fold that goes on from an earlier one has done nothing but what is new since it started; one
 * that began at the start does not count what it did for the turns that are known. */
static weir_status look_at_clock(struct wr_fold *fold, uint32_t next)
{
    const struct wr_fold_deadline *d = &fold->input->deadline;

    if (!d->now_us || (fold->late.is_up && !d->all_us_max))
        return WEIR_OK;
    uint64_t now_us = d->now_us(d->user);
    if (d->all_us_max && now_us - d->started_us > d->all_us_max)
        return WEIR_LIMIT;
    if (!is_new_turn(fold) || fold->late.is_up)
        return WEIR_OK;
    if (!fold->late.has_new)
        fold->late.new_since_us = fold->resumed_count ? d->started_us : now_us;
    fold->late.has_new = true;
    if (now_us - fold->late.new_since_us <= d->new_us_max)
        return WEIR_OK;
    fold->late.is_up = true;
    fold->late.turn = fold->turn;
    fold->late.from = next - fold->turn_first;
    return WEIR_OK;
}

bool wr_fold_late_turn(const struct wr_fold *fold, uint32_t turn, uint32_t *from)
{
    *from = turn == fold->late.turn ? fold->late.from : 0;
    return fold->late.is_up && turn >= fold->late.turn && turn <= fold->turn;
}

static bool is_late_now(const struct wr_fold *fold)
{
    return turn_now(fold)->is_late || (fold->late.is_up && is_new_turn(fold));
}

static bool stays_whole(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_turn *turn = turn_now(fold);
    if (turn->is_whole || (fold->late.is_up && is_new_turn(fold)))
        return true;
    return turn->is_late && segment - fold->turn_first >= turn->late_from;
}

/* ---- segments ---- */

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

static bool holds_ours(weir_span raw, wr_marker_fn *is_ours, void *user)
{
    weir_handle handle;
    return wr_marker_last(raw, &handle) && (!is_ours || is_ours(user, handle));
}

bool wr_segment_holds_marker(const struct wr_transcript *t, uint32_t segment, wr_marker_fn *is_ours,
                             void *user)
{
    const struct wr_segment *s = &t->segments[segment];
    for (uint32_t i = 0; i < s->parts_count; i++)
        if (holds_ours(wr_json_inner(t->doc, s->parts[i]), is_ours, user))
            return true;
    /* A call's arguments, and a notice among the messages, which is nobody's text to edit. */
    bool has_whole = s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_SYSTEM;
    return has_whole && s->payload != WR_JSON_NONE &&
           holds_ours(wr_json_raw(t->doc, s->payload), is_ours, user);
}

static bool came_marked(const struct wr_fold *fold, uint32_t segment)
{
    if (fold->input->is_marked)
        return fold->input->is_marked[segment];
    return wr_segment_holds_marker(fold->transcript, segment, NULL, NULL);
}

/* A message that we put in may have been joined to the user's words, after a blank line
 * (engine/run.h). */
static bool has_joined(weir_span text, const char *front)
{
    for (size_t at = 0; (at = wr_span_find(text, wr_span_of(front), at)) != SIZE_MAX; at++)
        if (at > 1 && text.ptr[at - 1] == '\n' && text.ptr[at - 2] == '\n')
            return true;
    return false;
}

/* A prompt may be a projection that comes in again: what was weighed then stays. */
static void note_trace(struct wr_fold *fold, uint32_t segment)
{
    static const char *const notices[] = {WR_LOOP_FRONT, WR_SUMMARY_FRONT, WR_OMITTED_NOTICE,
                                          WR_TRUNCATED_FRONT};
    weir_span text = wr_fold_text(fold, segment);

    fold->came_stepped |= wr_span_starts(text, WR_LIT(WR_STUB_FRONT)) ||
                          wr_span_starts(text, WR_LIT(WR_ANSWER_FRONT)) ||
                          wr_span_starts(text, WR_LIT(WR_WORDS_FRONT));
    for (size_t i = 0; i < WR_COUNT_OF(notices); i++)
        if (wr_span_starts(text, wr_span_of(notices[i])) || has_joined(text, notices[i]))
            fold->notice = segment;
    fold->came_stepped |= fold->notice == segment;
}

static bool shows_file(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_RESULT && s->handles && s->handles->kind == WR_EFFECT_READ &&
           s->handles->path.len;
}

/* The place in the index of the newest read of the same path, or where it would be inserted. */
static uint32_t place_of_read(const struct wr_fold *fold, uint32_t segment, uint64_t hash)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t at, item;
    for (at = wr_index_first(&fold->reads, hash);
         (item = wr_index_item(&fold->reads, at)) != WR_INDEX_NONE;
         at = wr_index_next(&fold->reads, at, hash))
        if (wr_span_eq(segments[item].handles->path, segments[segment].handles->path))
            break;
    return at;
}

static void add_read(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    if (!shows_file(s))
        return;
    uint64_t hash = wr_hash64(s->handles->path);
    wr_index_put(&fold->reads, place_of_read(fold, segment, hash), hash, segment);
}

/* Groups may have thousands of results, and are asked for those that instruct at every request. */
static void note_instructions(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_fold_segment *now = &fold->segments[segment];

    now->instructs_last = now->instructs_before = WR_SEGMENT_NONE;
    if (s->group == WR_SEGMENT_NONE || s->kind != WEIR_KIND_TOOL_RESULT || !s->handles ||
        !s->handles->is_instructions)
        return;
    now->instructs_before = fold->segments[s->group].instructs_last;
    fold->segments[s->group].instructs_last = segment;
}

/* A file that is read again after an earlier read of it was shortened stays whole as it arrives:
 * the model came back for the rest (law L2). Where a notice says that messages were taken out of
 * what came, nobody can tell whether that read was among them. */
static bool is_reread(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    if (!shows_file(s))
        return false;
    uint32_t earlier =
        wr_index_item(&fold->reads, place_of_read(fold, segment, wr_hash64(s->handles->path)));
    if (fold->notice != WR_SEGMENT_NONE && (earlier == WR_INDEX_NONE || earlier < fold->notice))
        return true;
    return earlier != WR_INDEX_NONE &&
           (!wr_fold_says_it(fold, earlier) || fold->segments[earlier].is_marked);
}

static weir_status give_form(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_policy *policy = fold->input->policy;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < policy->stages_count && !status; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        fold->stage = stage->def->name;
        if (stage->def->arrive)
            status = stage->def->arrive(fold, stage, segment);
    }
    return status;
}

static weir_status arrive(struct wr_fold *fold, uint32_t segment)
{
    struct wr_fold_segment *now = &fold->segments[segment];

    now->form = WR_FORM_EXACT;
    now->refers_to = WR_SEGMENT_NONE;
    now->tokens = fold->input->tokens[segment];
    now->has_arrived = true;
    now->is_marked = came_marked(fold, segment);
    if (now->is_marked)
        note_trace(fold, segment);
    now->same = WR_SEGMENT_NONE;
    note_instructions(fold, segment);
    fold->total_tokens += now->tokens + wr_fold_overhead(fold, segment);
    fold->has_signed |= fold->transcript->segments[segment].is_signed;
    fold->arrived = segment + 1;
    now->is_reread = is_reread(fold, segment);
    add_read(fold, segment);
    weir_status status = wr_fold_keep(fold, segment);
    if (status || now->kept_by)
        return status;
    if (!stays_whole(fold, segment))
        return give_form(fold, segment);
    fold->late.count += fold->late.is_up && is_new_turn(fold) &&
                        fold->transcript->segments[segment].kind == WEIR_KIND_TOOL_RESULT;
    return WEIR_OK;
}

/* ---- requests ---- */

/* A prompt that is too large would be refused: then late is better than never. */
static bool skips_request(const struct wr_fold *fold)
{
    if (turn_now(fold)->is_whole)
        return true;
    return is_late_now(fold) && fold->total_tokens <= wr_fold_threshold(fold, 10000);
}

/* Before all others a stage may open the way for steps where thinking bars them. */
static weir_status unbar_step(struct wr_fold *fold)
{
    const struct wr_policy *policy = fold->input->policy;
    weir_status status = WEIR_OK;

    if (!fold->is_over || fold->transcript->is_delta || wr_fold_may_step(fold))
        return WEIR_OK;
    for (uint32_t i = 0; i < policy->stages_count && !status; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        fold->stage = stage->def->name;
        if (stage->def->unbar)
            status = stage->def->unbar(fold, stage);
    }
    return status;
}

/* What a step has just brought back is not taken again in the same breath, unless it must be. */
static bool is_undone_now(const struct wr_fold *fold)
{
    const struct wr_fold_step *step = wr_fold_step_now(fold);
    return step && step->reason == WR_STEP_UNDONE && !fold->is_over;
}

weir_status wr_fold_run_stages(struct wr_fold *fold, bool may_step)
{
    const struct wr_policy *policy = fold->input->policy;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < policy->stages_count && !status; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        fold->stage = stage->def->name;
        if (stage->def->turn)
            status = stage->def->turn(fold, stage);
        if (!status && stage->def->request && may_step && !is_undone_now(fold))
            status = stage->def->request(fold, stage);
    }
    return status;
}

static weir_status at_request(struct wr_fold *fold)
{
    weir_status status = look_at_clock(fold, fold->arrived);

    if (turn_now(fold)->is_switched)
        wr_fold_drop_thinking(fold);
    fold->is_over = fold->total_tokens > wr_fold_threshold(fold, 10000);
    if (turn_now(fold)->is_whole)
        wr_fold_disobey(fold);
    if (status || skips_request(fold))
        return status;
    fold->said.is_at_request = true;
    status = unbar_step(fold);
    bool may_step = wr_fold_may_step(fold);
    if (!status)
        status = wr_fold_obey_before(fold, may_step);
    if (!status)
        status = wr_fold_run_stages(fold, may_step);
    if (!status)
        status = wr_fold_obey_after(fold, may_step);
    fold->said.is_at_request = false;
    return status;
}

/* A request ends with its inputs; the output that answers it comes only in the next one. */
static bool ends_request(const struct wr_transcript *t, uint32_t segment)
{
    if (segment + 1 == t->segments_count)
        return true;
    return !t->segments[segment].from_model && t->segments[segment + 1].from_model;
}

static uint64_t as_we_count(const struct wr_fold *fold, uint64_t tokens)
{
    return fold->window.factor_bp ? tokens * 10000 / fold->window.factor_bp : tokens;
}

/* Where the window ends, and what of it is the answer's, in tokens as we count them. An answer that
 * would take all of the window, because an overflow error said that it is smaller than it was
 * believed to be, counts as one that was not named. */
static void measure_window(struct wr_fold *fold)
{
    const struct wr_fold_input *input = fold->input;
    bool is_said = fold->window.answer != WR_ANSWER_AS_BEFORE;
    bool is_named = is_said ? fold->window.answer == WR_ANSWER_NAMED : input->is_reserve_named;
    uint64_t window = as_we_count(fold, input->window_tokens);

    if (fold->window.narrowed_tokens && (!window || fold->window.narrowed_tokens < window))
        window = fold->window.narrowed_tokens;
    uint64_t share = window / WR_RESERVE_SHARE;
    uint64_t reserve =
        as_we_count(fold, is_said ? fold->window.answer_tokens : input->reserve_tokens);
    if (is_named && reserve >= window)
        is_named = false;
    if (fold->window.answer == WR_ANSWER_DEFAULT ||
        (!is_named && fold->window.narrowed_tokens && reserve > share))
        reserve = share;
    fold->window.tokens = window;
    fold->window.reserve_tokens = !is_named && reserve > window ? share : reserve;
    fold->window.is_reserve_named = is_named;
}

/* What was decided about the window when this turn came. */
static void set_window(struct wr_fold *fold)
{
    const struct wr_fold_turn *now = turn_now(fold);

    if (now->window_tokens &&
        (!fold->window.narrowed_tokens || now->window_tokens < fold->window.narrowed_tokens))
        fold->window.narrowed_tokens = now->window_tokens;
    if (now->answer != WR_ANSWER_AS_BEFORE) {
        fold->window.answer = now->answer;
        fold->window.answer_tokens = now->answer_tokens;
    }
    if (now->factor_bp)
        fold->window.factor_bp = now->factor_bp;
    measure_window(fold);
}

/* ---- a state to go on from ---- */

struct wr_fold_state {
    struct wr_arena arena; /* owns everything below */
    struct wr_fold fold;   /* its numbers and arrays; what belonged to the request is NULL */
    struct wr_fold_turn *turns;
    wr_hash128 shape;
};

/* A result that comes later may answer an older call: that is then another request. */
static uint32_t within(uint32_t segment, uint32_t end)
{
    return segment < end ? segment : WR_SEGMENT_NONE;
}

/* All of a segment that a fold looks at beside its text. Hashed as it stands, so without gaps. */
struct shape_row {
    uint64_t tokens;
    uint32_t turn, loop, group, pair, overhead;
    uint8_t kind, role, is_first, is_signed, is_opaque, is_error, from_model, has_array;
    uint32_t nothing;
};
_Static_assert(sizeof(struct shape_row) == 40, "no gaps");

static wr_hash128 shape_of(const struct wr_fold_input *input, uint32_t end)
{
    struct shape_row rows[64];
    wr_hash128 shape = {end, input->base_tokens};
    const struct wr_segment *segments = input->transcript->segments;

    for (uint32_t i = 0, filled = 0; i < end; i++) {
        const struct wr_segment *s = &segments[i];
        rows[filled++] = (struct shape_row){
            .tokens = input->tokens[i],
            .turn = s->turn,
            .loop = s->loop,
            .group = s->group,
            .pair = within(s->pair, end),
            .overhead = input->overheads ? input->overheads[i] : 0,
            .kind = (uint8_t)s->kind,
            .role = (uint8_t)s->role,
            .is_first = i == 0 || segments[i - 1].message != s->message,
            .is_signed = s->is_signed,
            .is_opaque = s->is_opaque,
            .is_error = s->is_error,
            .from_model = s->from_model,
            .has_array = s->array != WR_JSON_NONE,
        };
        if (filled == WR_COUNT_OF(rows) || i + 1 == end) {
            shape =
                wr_hash128_seeded((weir_span){(const char *)rows, filled * sizeof(rows[0])}, shape);
            filled = 0;
        }
    }
    return shape;
}

bool wr_fold_state_fits(const struct wr_fold_state *state, const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;
    uint32_t end = state->fold.arrived;

    if (end > t->segments_count || (end < t->segments_count && !t->segments[end].from_model) ||
        wr_transcript_has_late_answer(t, end))
        return false;
    wr_hash128 shape = shape_of(input, end);
    return shape.low == state->shape.low && shape.high == state->shape.high;
}

static void *copy(struct wr_fold_state *state, const void *items, size_t count, size_t item_bytes)
{
    weir_span kept =
        wr_arena_copy(&state->arena, (weir_span){items, wr_arena_array_bytes(count, item_bytes)});
    return (void *)(uintptr_t)kept.ptr;
}

static void copy_text(struct wr_fold_state *state, weir_span *text)
{
    *text = wr_arena_copy(&state->arena, *text);
}

static void copy_members(struct wr_fold_state *state, struct wr_fold_segment *now)
{
    struct wr_fold_member *members =
        copy(state, now->members, now->members_count, sizeof(*members));
    for (uint32_t i = 0; members && i < now->members_count; i++) {
        copy_text(state, &members[i].text);
        copy_text(state, &members[i].original);
    }
    now->members = members;
}

/* An exact or a dropped segment may still hold a text it had in between; nobody reads that. */
static void copy_segments(struct wr_fold_state *state)
{
    struct wr_fold *fold = &state->fold;

    fold->segments = copy(state, fold->segments, fold->arrived, sizeof(*fold->segments));
    for (uint32_t i = 0; fold->segments && i < fold->arrived; i++) {
        struct wr_fold_segment *now = &fold->segments[i];
        if (now->form == WR_FORM_EXACT || now->form == WR_FORM_DROPPED)
            now->text = (weir_span){"", 0};
        else
            copy_text(state, &now->text);
        if (now->members_count)
            copy_members(state, now);
    }
}

/* Whether what is gone may come back: the step that took it can still be undone. */
static bool may_come_back(const struct wr_fold *fold, const struct wr_fold_insert *insert)
{
    return insert->gone_at == fold->said.now.turn + 1 ||
           insert->gone_at == fold->said.last.turn + 1;
}

/* The original of what was brought back is another's, and in the store. */
static void copy_inserts(struct wr_fold_state *state)
{
    struct wr_fold *fold = &state->fold;

    fold->inserts = copy(state, fold->inserts, fold->inserts_count, sizeof(*fold->inserts));
    for (uint32_t i = 0; fold->inserts && i < fold->inserts_count; i++) {
        if (fold->inserts[i].is_gone && !may_come_back(fold, &fold->inserts[i]))
            fold->inserts[i].text = (weir_span){"", 0};
        else
            copy_text(state, &fold->inserts[i].text);
        fold->inserts[i].original = (weir_span){"", 0};
    }
    fold->inserts_cap = fold->inserts_count;
}

static void copy_turns(struct wr_fold_state *state, const struct wr_fold *fold)
{
    uint32_t count = fold->turn + 1;
    state->turns = fold->input->turns
                       ? copy(state, fold->input->turns, count, sizeof(*state->turns))
                       : WR_ARENA_ARRAY(&state->arena, struct wr_fold_turn, count);
    for (uint32_t i = 0; state->turns && i < count; i++)
        if (state->turns[i].orders.len)
            copy_text(state, &state->turns[i].orders);
}

weir_status wr_fold_state_new(struct wr_fold_state **state, const struct wr_fold *fold)
{
    struct wr_fold_state *s = *state = calloc(1, sizeof(*s));

    if (!s)
        return WEIR_NOMEM;
    wr_arena_init(&s->arena, WR_FOLD_STATE_BYTES_MAX);
    s->fold = *fold;
    s->shape = shape_of(fold->input, fold->arrived);
    copy_segments(s);
    copy_inserts(s);
    s->fold.steps = copy(s, fold->steps, fold->steps_count, sizeof(*fold->steps));
    s->fold.steps_cap = fold->steps_count;
    copy_turns(s, fold);
    wr_fold_said_copy(&s->fold.said, &s->arena);
    s->fold.input = NULL;
    s->fold.transcript = NULL;
    s->fold.arena = NULL;
    weir_status status = wr_arena_status(&s->arena);
    if (status) {
        wr_fold_state_free(s);
        *state = NULL;
    }
    return status;
}

void wr_fold_state_free(struct wr_fold_state *state)
{
    if (!state)
        return;
    wr_arena_release(&state->arena);
    free(state);
}

size_t wr_fold_state_bytes(const struct wr_fold_state *state)
{
    return sizeof(*state) + state->arena.bytes_held;
}

const struct wr_fold_turn *wr_fold_state_turns(const struct wr_fold_state *state, uint32_t *count)
{
    *count = state->fold.turn + 1;
    return state->turns;
}

uint32_t wr_fold_state_segments(const struct wr_fold_state *state)
{
    return state->fold.arrived;
}

/* Sets a fold that has just begun to where the state's stood. Texts stay the state's own, which
 * must live as long. */
static weir_status go_on_from(const struct wr_fold_state *state, struct wr_fold *fold)
{
    struct wr_fold now = state->fold;

    memcpy(fold->segments, now.segments, now.arrived * sizeof(*now.segments));
    now.input = fold->input;
    now.transcript = fold->transcript;
    now.arena = fold->arena;
    now.segments = fold->segments;
    now.scratch = fold->scratch;
    now.reads = fold->reads;
    now.group_end = fold->group_end;
    now.stage = "";
    now.resumed_count = now.arrived;
    now.late = (struct wr_fold_lateness){0};
    now.inserts = wr_arena_alloc(fold->arena, now.inserts_count * sizeof(*now.inserts));
    now.steps = wr_arena_alloc(fold->arena, now.steps_count * sizeof(*now.steps));
    now.said.pins = wr_arena_alloc(fold->arena, now.said.pins_count * sizeof(*now.said.pins));
    if (!now.inserts || !now.steps || !now.said.pins)
        return wr_arena_status(fold->arena);
    if (now.said.pins_count)
        memcpy(now.said.pins, state->fold.said.pins, now.said.pins_count * sizeof(*now.said.pins));
    memcpy(now.inserts, state->fold.inserts, now.inserts_count * sizeof(*now.inserts));
    memcpy(now.steps, state->fold.steps, now.steps_count * sizeof(*now.steps));
    *fold = now;
    for (uint32_t i = 0; i < fold->arrived; i++)
        add_read(fold, i);
    return WEIR_OK;
}

/* ---- the run ---- */

static weir_status begin_fold(struct wr_fold *fold, struct wr_arena *arena,
                              const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;

    *fold = (struct wr_fold){.input = input,
                             .transcript = t,
                             .arena = arena,
                             .stage = "",
                             .cold_turn = UINT32_MAX,
                             .notice = WR_SEGMENT_NONE};
    fold->total_tokens = input->base_tokens;
    fold->window.factor_bp = input->factor_bp;
    measure_window(fold);
    fold->segments = WR_ARENA_ARRAY(arena, struct wr_fold_segment, t->segments_count);
    fold->scratch.lists[0] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    fold->scratch.lists[1] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    if (!fold->segments || !fold->scratch.lists[0] || !fold->scratch.lists[1])
        return wr_arena_status(arena);
    weir_status status = find_group_ends(fold);
    if (!status)
        status = wr_index_init(&fold->reads, arena, t->segments_count);
    if (!status && input->from && wr_fold_state_fits(input->from, input))
        status = go_on_from(input->from, fold);
    return status;
}

weir_status wr_fold_run(struct wr_fold *fold, struct wr_arena *arena,
                        const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;
    weir_status status = begin_fold(fold, arena, input);

    for (uint32_t i = fold->arrived; i < t->segments_count && !status; i++) {
        bool begins_turn = !i || fold->turn != t->segments[i].turn;
        if (begins_turn) {
            fold->turn = t->segments[i].turn;
            fold->turn_first = i;
            fold->changed_first = UINT32_MAX;
            set_window(fold);
            status = wr_fold_hear(fold, turn_now(fold)->orders);
        }
        if (!status && (begins_turn || is_new_turn(fold)))
            status = look_at_clock(fold, i);
        if (!status)
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
