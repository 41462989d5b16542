/* What a policy makes of a request: the fold as a plan, the plan settled, and the list of originals
 * that must be in the store before the result may leave (law L2).
 *
 * What the fold decided can still be taken back by the checks of the result, segment by segment or
 * all of it. So the tokens that are reported, the originals and the hash of the forms are taken
 * from what still stands in the plan, never from the fold alone (law L8). */
#include "engine/run.h"

#include <stdlib.h>

#include "api/write.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/cache_marker.h"
#include "policy/budget.h"

/* ---- a plan settled ---- */

static void roll_back(struct wr_change *change, struct wr_settled *p, const char *reason)
{
    change->is_rolled_back = true;
    change->reason = reason;
    p->rolled_back_count++;
}

static void note(struct wr_settled *p, const struct wr_finding *finding)
{
    if (!p->first.found)
        p->first = *finding;
}

static void fall_back(struct wr_plan *plan, struct wr_settled *p, const struct wr_finding *finding)
{
    note(p, finding);
    for (uint32_t i = 0; i < plan->changes_count; i++)
        if (!plan->changes[i].is_rolled_back)
            roll_back(&plan->changes[i], p, finding->what);
    plan->inserts_count = 0;
    plan->marker.is_standing = false;
    p->is_fallback = true;
}

static weir_status settle_changes(struct wr_plan *plan, struct wr_arena *arena, bool references,
                                  struct wr_settled *p)
{
    for (uint32_t i = 0; i < plan->changes_count; i++) {
        struct wr_change *change = &plan->changes[i];
        struct wr_finding finding;
        if ((change->refers_to != WR_SEGMENT_NONE) != references)
            continue;
        weir_status status = wr_validate_change(plan, change, arena, &finding);
        if (status)
            return status;
        if (!finding.found)
            continue;
        note(p, &finding);
        roll_back(change, p, finding.what);
    }
    return WEIR_OK;
}

/* References come last: what they refer to is whole again where its own change did not stand. */
static weir_status settle_plan(struct wr_plan *plan, struct wr_arena *arena, struct wr_settled *p)
{
    struct wr_finding finding;

    for (uint32_t i = 0; i < plan->changes_count; i++) {
        plan->changes[i].is_rolled_back = false;
        plan->changes[i].reason = NULL;
    }
    plan->inserts_count = plan->inserts_made_count;
    plan->marker.is_standing = plan->marker.is_made;
    wr_validate_shape(plan, &finding);
    if (finding.found) {
        fall_back(plan, p, &finding);
        return WEIR_OK;
    }
    weir_status status = settle_changes(plan, arena, false, p);
    return status ? status : settle_changes(plan, arena, true, p);
}

/* Changes that cannot be written together are a finding about the structure. */
static weir_status write_changes(const struct wr_plan *plan, struct wr_arena *arena,
                                 struct wr_buf *out, struct wr_finding *finding)
{
    struct wr_touches touches;
    weir_status status = wr_apply_touches(plan, arena, &touches);
    if (!status)
        status = wr_apply_write(plan->transcript->doc, arena, &touches, out, NULL);
    if (status == WEIR_INVALID) {
        *finding =
            (struct wr_finding){true, WR_SEGMENT_NONE, "the changes do not fit together", {"", 0}};
        return WEIR_OK;
    }
    return status ? status : wr_validate_result(plan, &touches, wr_buf_view(out), arena, finding);
}

weir_status wr_plan_settle(struct wr_plan *plan, struct wr_arena *arena, struct wr_buf *out,
                           struct wr_settled *settled, struct weir_err *err)
{
    struct wr_finding finding;

    *settled = (struct wr_settled){.body = plan->transcript->doc->text};
    weir_status status = settle_plan(plan, arena, settled);
    if (!status && wr_plan_is_empty(plan))
        return WEIR_OK;
    if (!status)
        status = write_changes(plan, arena, out, &finding);
    if (status)
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    if (finding.found)
        fall_back(plan, settled, &finding);
    else
        settled->body = wr_buf_view(out);
    return WEIR_OK;
}

/* ---- the fold as a plan ---- */

static weir_status plan_segment(struct wr_run *run, uint32_t i, struct weir_err *err)
{
    const struct wr_fold_segment *now = &run->fold.segments[i];
    struct wr_change change = {
        .segment = i, .form = now->form, .text = now->text, .refers_to = now->refers_to};

    if (now->form == WR_FORM_EXACT)
        return WEIR_OK;
    if (now->form == WR_FORM_DROPPED)
        return run->fold.transcript->segments[i].is_signed
                   ? wr_plan_drop_thinking(&run->plan, i, err)
                   : wr_plan_drop(&run->plan, i, err);
    return wr_plan_set(&run->plan, &change, err);
}

/* Strings of an object are nodes of the request, numbered from it; arguments that are a string
 * are replaced as the text they are. */
static weir_status plan_pruned(struct wr_run *run, uint32_t i, struct weir_err *err)
{
    const struct wr_fold_segment *now = &run->fold.segments[i];
    const struct wr_transcript *t = run->fold.transcript;
    wr_json_id payload = t->segments[i].payload;
    bool is_text = wr_json_kind(t->doc, payload) == WR_JSON_STRING;
    struct wr_change change = {.segment = i,
                               .form = WR_FORM_PRUNED,
                               .refers_to = WR_SEGMENT_NONE,
                               .arguments_count = is_text ? 1 : now->members_count};
    struct wr_argument_change *arguments =
        WR_ARENA_ARRAY(run->fold.arena, struct wr_argument_change, change.arguments_count);

    if (!arguments)
        return wr_fail(err, wr_arena_status(run->fold.arena), 0, "no memory for the plan");
    for (uint32_t m = 0; m < change.arguments_count; m++)
        arguments[m] =
            (struct wr_argument_change){payload + now->members[m].node, now->members[m].text};
    if (is_text)
        arguments[0] = (struct wr_argument_change){payload, now->text};
    change.arguments = arguments;
    return wr_plan_prune(&run->plan, &change, err);
}

static weir_status plan_insert(struct wr_run *run, const struct wr_fold_insert *insert,
                               struct wr_arena *arena, struct weir_err *err)
{
    const struct wr_transcript *t = run->fold.transcript;
    struct wr_line line = {.kind = insert->role == WEIR_ROLE_ASSISTANT ? WR_LINE_ANSWER
                                   : insert->role == WEIR_ROLE_USER    ? WR_LINE_WORDS
                                                                       : WR_LINE_NOTICE,
                           .text = insert->text};
    weir_span text = wr_body_message(wr_api_of(t->dialect), &line, arena);

    if (!text.ptr)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for a message");
    bool is_last = insert->before == t->segments_count;
    return wr_plan_insert(&run->plan, is_last ? WR_JSON_NONE : t->segments[insert->before].message,
                          text, err);
}

/* The plan drops groups whole; what the fold did not mean to drop is in no stored original (law
 * L2). */
static weir_status check_drops(const struct wr_run *run, struct weir_err *err)
{
    for (uint32_t i = 0; i < run->fold.transcript->segments_count; i++) {
        if (wr_plan_drops(&run->plan, i) && run->fold.segments[i].form != WR_FORM_DROPPED)
            return wr_fail(err, WEIR_INVALID, 0, "segment %u would leave without its original", i);
    }
    return WEIR_OK;
}

static bool is_joined(const struct wr_run *run, uint32_t insert)
{
    return run->alternation.is_joined && run->alternation.is_joined[insert];
}

static weir_status make_plan(struct wr_run *run, struct wr_arena *arena, struct weir_err *err)
{
    weir_status status = wr_plan_init(&run->plan, arena, run->fold.transcript);
    run->plan.memo = run->fold.input->memo;
    run->plan.memo_seed = run->fold.input->memo_seed;
    for (uint32_t i = 0; i < run->fold.transcript->segments_count && !status; i++)
        status = run->fold.segments[i].form == WR_FORM_PRUNED ? plan_pruned(run, i, err)
                                                              : plan_segment(run, i, err);
    bool must_alternate = wr_api_of(run->fold.transcript->dialect)->must_alternate;
    if (!status && run->fold.input->alternates && !must_alternate)
        status = wr_alternate_plan(&run->alternation, &run->fold, &run->plan, err);
    for (uint32_t i = 0; i < run->fold.inserts_count && !status; i++)
        if (!run->fold.inserts[i].is_gone && !is_joined(run, i))
            status = plan_insert(run, &run->fold.inserts[i], arena, err);
    if (!status && must_alternate)
        status = wr_alternate_fill(&run->alternation, &run->plan, arena, err);
    return status ? status : check_drops(run, err);
}

/* ---- what goes to the store ---- */

static uint32_t count_artifacts(const struct wr_fold *fold)
{
    uint32_t count = fold->inserts_count;
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++)
        count += fold->segments[i].members_count ? fold->segments[i].members_count : 1;
    return count;
}

static void add_artifact(struct wr_run *run, const struct wr_handle *handle, weir_span text)
{
    run->artifacts[run->artifacts_count++] = (struct wr_artifact){*handle, text};
}

static weir_status add_segment(struct wr_run *run, struct wr_arena *arena, uint32_t i)
{
    const struct wr_fold *fold = &run->fold;
    const struct wr_change *change = wr_plan_find(&run->plan, i);

    if (!change || change->form == WR_FORM_DROPPED || change->form == WR_FORM_EDITED)
        return WEIR_OK;
    run->originals_count++;
    if (fold->segments[i].is_stored)
        return WEIR_OK;
    fold->segments[i].is_stored = true;
    if (change->form == WR_FORM_PRUNED) {
        for (uint32_t m = 0; m < fold->segments[i].members_count; m++)
            add_artifact(run, &fold->segments[i].members[m].handle,
                         fold->segments[i].members[m].original);
        return WEIR_OK;
    }
    weir_span text = wr_segment_text(fold->transcript, &fold->transcript->segments[i], arena);
    if (!text.ptr)
        return wr_arena_status(arena);
    add_artifact(run, &fold->segments[i].handle, text);
    return WEIR_OK;
}

static weir_status add_insert(struct wr_run *run, uint32_t i)
{
    struct wr_fold_insert *insert = &run->fold.inserts[i];
    weir_span text;

    run->originals_count++;
    if (insert->is_stored)
        return WEIR_OK;
    insert->is_stored = true;
    weir_status status = wr_fold_insert_original(&run->fold, i, &text);
    if (!status)
        add_artifact(run, &insert->handle, text);
    return status;
}

/* What the session committed with an earlier request is in its store. */
static weir_status list_artifacts(struct wr_run *run, struct wr_arena *arena)
{
    const struct wr_fold *fold = &run->fold;
    weir_status status = WEIR_OK;

    run->artifacts = WR_ARENA_ARRAY(arena, struct wr_artifact, count_artifacts(fold));
    if (!run->artifacts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < fold->transcript->segments_count && !status; i++)
        status = add_segment(run, arena, i);
    for (uint32_t i = 0; i < fold->inserts_count && !run->settled.is_fallback && !status; i++)
        if (!fold->inserts[i].is_gone)
            status = add_insert(run, i);
    return status;
}

static uint64_t tokens_before(const struct wr_fold_input *input)
{
    uint64_t tokens = input->base_tokens;
    for (uint32_t i = 0; i < input->transcript->segments_count; i++)
        tokens += input->tokens[i] + (input->overheads ? input->overheads[i] : 0);
    return tokens;
}

/* What joined a message has no framing of its own; lines that stand for the model's have. */
static uint64_t alternation_tokens(const struct wr_run *run)
{
    const struct wr_fold_input *input = run->fold.input;
    const struct wr_alternation *a = &run->alternation;
    uint64_t tokens = 0;
    if (a->lines_count)
        tokens = a->lines_count * (input->count(input->user, WR_LIT(WR_ALTERNATE_LINE)) +
                                   input->message_overhead_tokens);
    return tokens - (uint64_t)a->joined_count * input->message_overhead_tokens;
}

/* What was taken back leaves as it came (law L8). A drop that was taken back has all of its group
 * back, and their framing. */
static uint64_t tokens_sent(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    uint64_t tokens = fold->total_tokens;

    if (run->settled.is_fallback)
        return run->tokens_before;
    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        const struct wr_change *change = &run->plan.changes[i];
        uint32_t segment = change->segment;
        if (!change->is_rolled_back)
            continue;
        tokens = tokens - fold->segments[segment].tokens + fold->input->tokens[segment];
        if (change->form == WR_FORM_DROPPED)
            tokens += wr_fold_overhead(fold, segment);
    }
    return tokens + alternation_tokens(run);
}

void wr_run_fall_back(struct wr_run *run, const char *reason)
{
    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        struct wr_change *change = &run->plan.changes[i];
        run->settled.rolled_back_count += !change->is_rolled_back;
        change->is_rolled_back = true;
        change->reason = reason;
    }
    run->plan.inserts_count = 0;
    run->plan.marker.is_standing = false;
    run->settled.body = run->fold.transcript->doc->text;
    run->settled.is_fallback = true;
    run->settled.first =
        (struct wr_finding){.found = true, .segment = WR_SEGMENT_NONE, .what = reason};
    run->artifacts_count = run->originals_count = 0;
    run->tokens_after = run->tokens_before;
    run->forms_end = 0;
}

/* A message that lost what had joined it has lost what stands for others (law L2). */
static bool joins_stand(const struct wr_run *run)
{
    for (uint32_t i = 0; i < run->plan.changes_count; i++)
        if (run->plan.changes[i].form == WR_FORM_EDITED && run->plan.changes[i].is_rolled_back)
            return false;
    return true;
}

weir_status wr_run_policy(struct wr_run *run, struct wr_arena *arena,
                          const struct wr_fold_input *input, struct wr_starts *starts,
                          struct wr_buf *out, struct weir_err *err)
{
    *run = (struct wr_run){.tokens_before = tokens_before(input)};
    weir_status status = wr_fold_run(&run->fold, arena, input);
    if (status)
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    const struct wr_fold_step *step = wr_fold_step_now(&run->fold);
    if (step)
        run->step = (struct wr_run_step){.is_taken = true, .reason = step->reason};
    status = make_plan(run, arena, err);
    if (status == WEIR_INVALID) {
        /* A change that the plan refuses is doubt about the whole: the original goes on (law L6).
         */
        wr_run_fall_back(run, "a change was not possible");
        return WEIR_OK;
    }
    if (!status && input->places_markers)
        status = wr_cache_marker_place(&run->plan, run->fold.steps, run->fold.steps_count);
    run->plan.starts = starts;
    if (!status)
        status = wr_plan_settle(&run->plan, arena, out, &run->settled, err);
    if (status)
        return status;
    if (!run->settled.is_fallback && !joins_stand(run))
        wr_run_fall_back(run, "a summary could not be put in");
    run->tokens_after = tokens_sent(run);
    status = list_artifacts(run, arena);
    return status ? wr_fail(err, status, 0, "%s", weir_status_text(status)) : WEIR_OK;
}

enum { INSERTED = 255, JOINED = 254 }; /* where a form stands otherwise */

static wr_hash128 add_form(wr_hash128 hash, uint32_t place, uint32_t form, weir_span text)
{
    unsigned char head[8];
    for (int i = 0; i < 4; i++) {
        head[i] = (unsigned char)(place >> 8 * i);
        head[4 + i] = (unsigned char)(form >> 8 * i);
    }
    hash = wr_hash128_seeded((weir_span){(const char *)head, sizeof(head)}, hash);
    return wr_hash128_seeded(text, hash);
}

/* A step that no stage took does not say where it begins. */
uint64_t wr_run_rewrites(const struct wr_run *run, uint32_t last_turn, uint32_t end)
{
    const struct wr_fold *fold = &run->fold;
    uint32_t first = UINT32_MAX;

    for (uint32_t i = fold->steps_count; i-- > 0 && fold->steps[i].turn > last_turn;)
        if (fold->steps[i].first < first)
            first = fold->steps[i].first;
    return first < end ? wr_fold_tokens_from(fold, first, end) : 0;
}

/* A request is asked of twice, for its last turn before and for its newest: the second goes on from
 * the first. */
wr_hash128 wr_run_forms(struct wr_run *run, uint32_t turn, uint32_t end)
{
    const struct wr_fold *fold = &run->fold;
    uint32_t head = 0; /* tools and instructions: how many there are is none of our doing */

    while (head < end && fold->transcript->segments[head].message == WR_JSON_NONE)
        head++;
    /* Places are counted from the head's end on: what ended within it is no beginning of this. */
    bool goes_on = run->forms_end > head && run->forms_end <= end;
    wr_hash128 hash = goes_on ? run->forms : (wr_hash128){0, 0};
    for (uint32_t i = goes_on ? run->forms_end : 0; i < end; i++) {
        const struct wr_change *change = wr_plan_find(&run->plan, i);
        if (change && !change->is_rolled_back)
            hash = add_form(hash, i - head, (uint32_t)change->form,
                            change->form == WR_FORM_DROPPED ? (weir_span){"", 0}
                                                            : fold->segments[i].text);
    }
    run->forms_end = end;
    run->forms = hash;
    for (uint32_t i = 0; i < fold->inserts_count && !run->settled.is_fallback; i++) {
        const struct wr_fold_insert *insert = &fold->inserts[i];
        if (!insert->is_gone && (insert->before < end || insert->turn <= turn))
            hash = add_form(hash, insert->before - head, is_joined(run, i) ? JOINED : INSERTED,
                            insert->text);
    }
    return hash;
}

/* ==== alternate ==== */

#define BETWEEN "\n\n"

/* ---- what joins a message of the user ---- */

static bool can_be_joined(const struct wr_fold *fold, uint32_t i)
{
    const struct wr_segment *s = &fold->transcript->segments[i];
    return s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_USER && s->parts_count == 1 &&
           !s->is_opaque && s->array != WR_JSON_NONE && fold->segments[i].form == WR_FORM_EXACT;
}

/* What brings an original back came with this turn: no message of an earlier one may change. */
static uint32_t find_message(const struct wr_fold *fold, const struct wr_fold_insert *insert)
{
    for (uint32_t i = insert->before; i-- > 0;)
        if (can_be_joined(fold, i))
            return i;
        else if (insert->is_rehydrated)
            return WR_SEGMENT_NONE;
    /* Only what was there when it was put in: a later message would take it out of where it was
     * sent before (law L3). */
    const struct wr_transcript *t = fold->transcript;
    for (uint32_t i = insert->before; i < t->segments_count && t->segments[i].turn <= insert->turn;
         i++)
        if (can_be_joined(fold, i))
            return i;
    return WR_SEGMENT_NONE;
}

/* `texts` has what each segment says with what has joined it so far. */
static weir_status join(struct wr_fold *fold, const struct wr_fold_insert *insert, uint32_t segment,
                        weir_span *texts)
{
    weir_span own = texts[segment].ptr ? texts[segment] : wr_fold_text(fold, segment);
    bool is_behind = segment < insert->before;
    struct wr_buf buf;

    if (!own.ptr)
        return wr_arena_status(fold->arena);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&buf, is_behind ? own : insert->text);
    wr_buf_text(&buf, BETWEEN);
    wr_buf_append(&buf, is_behind ? insert->text : own);
    weir_status status = wr_buf_status(&buf);
    if (!status) {
        texts[segment] = wr_arena_copy(fold->arena, wr_buf_view(&buf));
        status = texts[segment].ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_buf_release(&buf);
    return status;
}

static weir_status join_all(struct wr_alternation *a, struct wr_fold *fold, struct wr_plan *plan,
                            struct weir_err *err)
{
    uint32_t count = fold->transcript->segments_count;
    weir_span *texts = WR_ARENA_ARRAY(fold->arena, weir_span, count);
    weir_status status = texts ? WEIR_OK : wr_arena_status(fold->arena);

    for (uint32_t i = 0; i < fold->inserts_count && !status; i++) {
        const struct wr_fold_insert *insert = &fold->inserts[i];
        if (insert->is_gone || insert->role == WEIR_ROLE_ASSISTANT)
            continue;
        uint32_t segment = find_message(fold, insert);
        if (segment == WR_SEGMENT_NONE)
            continue;
        status = join(fold, insert, segment, texts);
        a->is_joined[i] = true;
        a->joined_count++;
    }
    if (status)
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    for (uint32_t i = 0; i < count && a->joined_count && !status; i++) {
        struct wr_change change = {
            .segment = i, .form = WR_FORM_EDITED, .text = texts[i], .refers_to = WR_SEGMENT_NONE};
        if (texts[i].ptr)
            status = wr_plan_set(plan, &change, err);
    }
    return status;
}

/* ---- where all that the model said is gone ---- */

static bool leaves(const struct wr_fold *fold, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (fold->segments[i].form != WR_FORM_DROPPED)
            return false;
    return true;
}

/* Whether something of the model's is put in between two segments. */
static bool has_summary_between(const struct wr_fold *fold, uint32_t after, uint32_t before)
{
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (!fold->inserts[i].is_gone && fold->inserts[i].role == WEIR_ROLE_ASSISTANT &&
            fold->inserts[i].before > after && fold->inserts[i].before <= before)
            return true;
    return false;
}

static weir_status add_lines(struct wr_alternation *a, const struct wr_fold *fold,
                             struct wr_plan *plan, struct weir_err *err)
{
    const struct wr_transcript *t = fold->transcript;
    struct wr_line said = {.kind = WR_LINE_ANSWER, .text = WR_LIT(WR_ALTERNATE_LINE)};
    weir_span line = wr_body_message(wr_api_of(t->dialect), &said, fold->arena);
    uint32_t user = WR_SEGMENT_NONE, end; /* the last message that stays, where it is the user's */
    bool has_gap = false;
    weir_status status =
        line.ptr ? WEIR_OK : wr_fail(err, WEIR_NOMEM, 0, "no memory for a message");

    for (uint32_t i = 0; i < t->segments_count && !status; i = end) {
        for (end = i + 1;
             end < t->segments_count && t->segments[end].message == t->segments[i].message;)
            end++;
        if (t->segments[i].array == WR_JSON_NONE)
            continue;
        if (leaves(fold, i, end)) {
            has_gap |= t->segments[i].role != WEIR_ROLE_USER;
            continue;
        }
        bool is_user = t->segments[i].role == WEIR_ROLE_USER;
        if (is_user && has_gap && user != WR_SEGMENT_NONE && !has_summary_between(fold, user, i)) {
            status = wr_plan_insert(plan, t->segments[i].message, line, err);
            a->lines_count++;
        }
        user = is_user ? i : WR_SEGMENT_NONE;
        has_gap = false;
    }
    return status;
}

weir_status wr_alternate_plan(struct wr_alternation *a, struct wr_fold *fold, struct wr_plan *plan,
                              struct weir_err *err)
{
    *a = (struct wr_alternation){.is_joined =
                                     WR_ARENA_ARRAY(fold->arena, bool, fold->inserts_count)};
    if (!a->is_joined)
        return wr_fail(err, wr_arena_status(fold->arena), 0, "no memory for the plan");
    weir_status status = join_all(a, fold, plan, err);
    return status ? status : add_lines(a, fold, plan, err);
}

/* ---- where every server wants turns ---- */

struct fill {
    struct wr_alternation *a;
    struct wr_plan *plan;
    weir_span lines[2]; /* of the user, of the model */
    const struct wr_insert *inserts;
    uint32_t inserts_count, inserts_at; /* the next that is not put in yet */
    bool has_last, last_is_model;       /* what stands last in the request as it leaves */
    bool is_touched;                    /* something left or came in behind that */
    struct weir_err *err;
};

/* A line of the other side where two of one side would meet, or the model would begin. */
static weir_status fill_before(struct fill *f, wr_json_id before, bool is_model)
{
    bool is_due = f->has_last ? f->last_is_model == is_model : is_model;
    weir_status status = WEIR_OK;

    if (is_due && f->is_touched) {
        status = wr_plan_insert(f->plan, before, f->lines[!is_model], f->err);
        f->a->lines_count++;
    }
    f->has_last = true;
    f->last_is_model = is_model;
    return status;
}

static weir_status fill_inserts(struct fill *f, wr_json_id before)
{
    weir_status status = WEIR_OK;

    for (; f->inserts_at < f->inserts_count && !status; f->inserts_at++) {
        const struct wr_insert *insert = &f->inserts[f->inserts_at];
        if (insert->before != before)
            break;
        f->is_touched = true;
        status =
            fill_before(f, before, wr_span_starts(insert->json, WR_LIT("{\"role\":\"assistant\"")));
        if (!status)
            status = wr_plan_insert(f->plan, before, insert->json, f->err);
    }
    return status;
}

/* Whether all that is known of a message leaves; `*at` goes behind its segments. */
static bool message_leaves(const struct wr_plan *plan, wr_json_id message, uint32_t *at)
{
    const struct wr_transcript *t = plan->transcript;
    bool has_segments = false, leaves_all = true;

    while (*at < t->segments_count && t->segments[*at].message == WR_JSON_NONE)
        ++*at;
    for (; *at < t->segments_count && t->segments[*at].message == message; ++*at) {
        has_segments = true;
        leaves_all &= wr_plan_drops(plan, *at);
    }
    return has_segments && leaves_all;
}

static weir_status fill_list(struct fill *f)
{
    const struct wr_transcript *t = f->plan->transcript;
    weir_status status = WEIR_OK;
    uint32_t at = 0;

    for (wr_json_id m = wr_json_first(t->doc, t->list); m != WR_JSON_NONE && !status;
         m = wr_json_next(t->doc, t->list, m)) {
        status = fill_inserts(f, m);
        if (message_leaves(f->plan, m, &at)) {
            f->is_touched = true;
            continue;
        }
        if (!status)
            status = fill_before(
                f, m, wr_json_text_is(t->doc, wr_json_find(t->doc, m, "role"), "assistant"));
        f->is_touched = false;
    }
    return status ? status : fill_inserts(f, WR_JSON_NONE);
}

static int compare_places(const void *x, const void *y)
{
    const struct wr_insert *const *a = x, *const *b = y;
    if ((*a)->before != (*b)->before)
        return (*a)->before < (*b)->before ? -1 : 1;
    return *a < *b ? -1 : *a > *b; /* as they were put in */
}

weir_status wr_alternate_fill(struct wr_alternation *a, struct wr_plan *plan,
                              struct wr_arena *arena, struct weir_err *err)
{
    const struct wr_api *api = wr_api_of(plan->transcript->dialect);
    uint32_t count = plan->inserts_count;
    struct wr_insert *sorted = WR_ARENA_ARRAY(arena, struct wr_insert, count);
    const struct wr_insert **order = WR_ARENA_ARRAY(arena, const struct wr_insert *, count);
    struct wr_line words = {.kind = WR_LINE_WORDS, .text = WR_LIT(WR_ALTERNATE_LINE)};
    struct wr_line said = {.kind = WR_LINE_ANSWER, .text = WR_LIT(WR_ALTERNATE_LINE)};
    struct fill f = {
        a,      plan,  {wr_body_message(api, &words, arena), wr_body_message(api, &said, arena)},
        sorted, count, .err = err};

    *a = (struct wr_alternation){.is_joined = NULL};
    if (!sorted || !order || !f.lines[0].ptr || !f.lines[1].ptr)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the plan");
    if (plan->transcript->list == WR_JSON_NONE || (!count && !plan->changes_count))
        return WEIR_OK;
    for (uint32_t i = 0; i < count; i++)
        order[i] = &plan->inserts[i];
    if (count)
        qsort(order, count, sizeof(*order), compare_places);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = *order[i];
    plan->inserts_count = plan->inserts_made_count = 0;
    return fill_list(&f);
}

/* ==== over window ==== */

/* What stays, by why it stays. */
enum part { USER, INSTRUCTIONS, NEWS, REST, PARTS_COUNT };

static enum part part_of(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];

    if (s->kind == WEIR_KIND_SYSTEM || s->kind == WEIR_KIND_TOOLS)
        return INSTRUCTIONS;
    if (s->role == WEIR_ROLE_USER && s->kind != WEIR_KIND_TOOL_RESULT)
        return USER;
    return s->turn == fold->turn && !s->from_model ? NEWS : REST;
}

/* Where what never leaves is too much by itself, the rest was left alone and is not the reason. */
static const char *largest_part(const struct wr_fold *fold)
{
    static const char *const sentences[PARTS_COUNT] = {
        [USER] = "most of it are the user's words, which stay",
        [INSTRUCTIONS] = "most of it are instructions and tools, which stay",
        [NEWS] = "most of it has just come and stays whole until a step",
        [REST] = "nothing lawful is left to take"};
    uint64_t tokens[PARTS_COUNT] = {0};
    enum part largest = USER;

    for (uint32_t i = 0; i < fold->arrived; i++)
        tokens[part_of(fold, i)] += fold->segments[i].tokens;
    if (tokens[USER] + tokens[INSTRUCTIONS] > wr_fold_room(fold))
        tokens[NEWS] = tokens[REST] = 0;
    for (enum part p = USER; p < PARTS_COUNT; p++)
        if (tokens[p] > tokens[largest])
            largest = p;
    return sentences[largest];
}

/* A policy with a last resort is barred by nothing but the law. */
static bool has_last_resort(const struct wr_policy *policy)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->unbar)
            return true;
    return false;
}

const char *wr_over_window(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    const struct wr_policy *policy = fold->input->policy;

    if (run->tokens_after <= wr_fold_room(fold))
        return NULL;
    if (!policy->stages_count)
        return "the policy takes nothing out";
    if (run->settled.is_fallback)
        return "what was to be taken out was held back";
    if (fold->transcript->is_delta)
        return "the provider holds the rest of the conversation";
    if (!wr_fold_recall(fold).len && !fold->input->keeps_originals)
        return "there is no store to keep what would be taken out";
    if (!wr_fold_recall(fold).len && !has_last_resort(policy))
        return "the request offers no way back to what would be taken out";
    if (!wr_fold_may_step(fold) && !has_last_resort(policy))
        return "signed thinking bars a step until the user speaks";
    return largest_part(fold);
}
