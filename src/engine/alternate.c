#include "engine/alternate.h"

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
