/* The run of a fold: turn by turn segments arrive, then the stages look at the whole.
 *
 * Time is asked for before a new segment is given a form and before a new request's stages begin.
 * Once it is up, what is new stays whole; where it was up is for the session's marks, so that the
 * same is done ever after (law L6). */
#include "policy/fold_change.h"

#include "base/limits.h"
#include "base/span.h"
#include "models/window.h"
#include "policy/fold_state.h"
#include "policy/stage.h"

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

    if (!d->now_us || (fold->is_late && !d->all_us_max))
        return WEIR_OK;
    uint64_t now_us = d->now_us(d->user);
    if (d->all_us_max && now_us - d->started_us > d->all_us_max)
        return WEIR_LIMIT;
    if (!is_new_turn(fold) || fold->is_late)
        return WEIR_OK;
    if (!fold->has_new)
        fold->new_since_us = fold->resumed_count ? d->started_us : now_us;
    fold->has_new = true;
    if (now_us - fold->new_since_us <= d->new_us_max)
        return WEIR_OK;
    fold->is_late = true;
    fold->late_turn = fold->turn;
    fold->late_from = next - fold->turn_first;
    return WEIR_OK;
}

bool wr_fold_late_turn(const struct wr_fold *fold, uint32_t turn, uint32_t *from)
{
    *from = turn == fold->late_turn ? fold->late_from : 0;
    return fold->is_late && turn >= fold->late_turn && turn <= fold->turn;
}

static bool is_late_now(const struct wr_fold *fold)
{
    return turn_now(fold)->is_late || (fold->is_late && is_new_turn(fold));
}

static bool stays_whole(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_turn *turn = turn_now(fold);
    if (turn->is_whole || (fold->is_late && is_new_turn(fold)))
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

/* What was put in may stand behind the user's words, after a blank line (engine/alternate.h). */
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
    for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++)
        if (wr_span_starts(text, wr_span_of(notices[i])) || has_joined(text, notices[i]))
            fold->notice = segment;
    fold->came_stepped |= fold->notice == segment;
}

static bool shows_file(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_RESULT && s->handles && s->handles->kind == WR_EFFECT_READ &&
           s->handles->path.len;
}

/* Where the newest read of the same path stands in the index, or would stand. */
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

void wr_fold_add_read(struct wr_fold *fold, uint32_t segment)
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
           (fold->segments[earlier].form != WR_FORM_EXACT || fold->segments[earlier].is_marked);
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
    wr_fold_add_read(fold, segment);
    if (!stays_whole(fold, segment))
        return give_form(fold, segment);
    fold->late_count += fold->is_late && is_new_turn(fold) &&
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

static weir_status at_request(struct wr_fold *fold)
{
    const struct wr_policy *policy = fold->input->policy;
    bool may_step = wr_fold_may_step(fold);
    weir_status status = look_at_clock(fold, fold->arrived);

    if (turn_now(fold)->is_switched)
        wr_fold_drop_thinking(fold);
    if (status || skips_request(fold))
        return status;
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

static uint64_t as_we_count(const struct wr_fold *fold, uint64_t tokens)
{
    return fold->factor_bp ? tokens * 10000 / fold->factor_bp : tokens;
}

/* Where the window ends, and what of it is the answer's, in tokens as we count them. An answer that
 * would take all of the window, because an overflow error said that it is smaller than it was
 * believed to be, counts as one that was not named. */
static void measure_window(struct wr_fold *fold)
{
    const struct wr_fold_input *input = fold->input;
    bool is_said = fold->answer != WR_ANSWER_AS_BEFORE;
    bool is_named = is_said ? fold->answer == WR_ANSWER_NAMED : input->is_reserve_named;
    uint64_t window = as_we_count(fold, input->window_tokens);

    if (fold->narrowed_tokens && (!window || fold->narrowed_tokens < window))
        window = fold->narrowed_tokens;
    uint64_t share = window / WR_RESERVE_SHARE;
    uint64_t reserve = as_we_count(fold, is_said ? fold->answer_tokens : input->reserve_tokens);
    if (is_named && reserve >= window)
        is_named = false;
    if (fold->answer == WR_ANSWER_DEFAULT ||
        (!is_named && fold->narrowed_tokens && reserve > share))
        reserve = share;
    fold->window_tokens = window;
    fold->reserve_tokens = !is_named && reserve > window ? share : reserve;
    fold->is_reserve_named = is_named;
}

/* What was decided about the window when this turn came. */
static void set_window(struct wr_fold *fold)
{
    const struct wr_fold_turn *now = turn_now(fold);

    if (now->window_tokens &&
        (!fold->narrowed_tokens || now->window_tokens < fold->narrowed_tokens))
        fold->narrowed_tokens = now->window_tokens;
    if (now->answer != WR_ANSWER_AS_BEFORE) {
        fold->answer = now->answer;
        fold->answer_tokens = now->answer_tokens;
    }
    if (now->factor_bp)
        fold->factor_bp = now->factor_bp;
    measure_window(fold);
}

/* ---- the run ---- */

static weir_status begin(struct wr_fold *fold, struct wr_arena *arena,
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
    fold->factor_bp = input->factor_bp;
    measure_window(fold);
    fold->segments = WR_ARENA_ARRAY(arena, struct wr_fold_segment, t->segments_count);
    fold->lists[0] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    fold->lists[1] = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    if (!fold->segments || !fold->lists[0] || !fold->lists[1])
        return wr_arena_status(arena);
    weir_status status = find_group_ends(fold);
    if (!status)
        status = wr_index_init(&fold->reads, arena, t->segments_count);
    if (!status && input->from && wr_fold_state_fits(input->from, input))
        status = wr_fold_state_restore(input->from, fold);
    return status;
}

weir_status wr_fold_run(struct wr_fold *fold, struct wr_arena *arena,
                        const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;
    weir_status status = begin(fold, arena, input);

    for (uint32_t i = fold->arrived; i < t->segments_count && !status; i++) {
        bool begins_turn = !i || fold->turn != t->segments[i].turn;
        if (begins_turn) {
            fold->turn = t->segments[i].turn;
            fold->turn_first = i;
            fold->changed_first = UINT32_MAX;
            set_window(fold);
        }
        if (begins_turn || is_new_turn(fold))
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
