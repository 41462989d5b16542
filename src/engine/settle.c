#include "engine/settle.h"

#include "base/err.h"

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
