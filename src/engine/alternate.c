#include "engine/alternate.h"

#include <stdlib.h>

#include "api/write.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

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
        const struct wr_change *change = wr_plan_find(plan, *at);
        has_segments = true;
        leaves_all &= change && change->form == WR_FORM_DROPPED;
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
