/* The list of what is to be changed.
 *
 * Setting a change asks only whether the segment can be changed that way; whether the result is
 * lawful is asked when the plan is settled. Dropping is by groups: a call, its results and the
 * reasoning before them are linked once, when the plan is made, and leave together.
 */
#include "engine/plan.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/vec.h"
#include "api/lawful.h"

enum { CAP_FIRST_COUNT = 16 };

/* Links the members of each group, so that a drop walks its group and not the transcript. A group
 * has the number of its first member. */
static weir_status link_groups(struct wr_plan *plan)
{
    const struct wr_transcript *t = plan->transcript;
    uint32_t *last = WR_ARENA_ARRAY(plan->arena, uint32_t, t->segments_count);

    plan->group_next = WR_ARENA_ARRAY(plan->arena, uint32_t, t->segments_count);
    if (!last || !plan->group_next)
        return wr_arena_status(plan->arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        uint32_t group = t->segments[i].group;
        plan->group_next[i] = WR_SEGMENT_NONE;
        if (group == WR_SEGMENT_NONE)
            continue;
        if (group != i)
            plan->group_next[last[group]] = i;
        last[group] = i;
    }
    return WEIR_OK;
}

weir_status wr_plan_init(struct wr_plan *plan, struct wr_arena *arena,
                         const struct wr_transcript *transcript)
{
    *plan = (struct wr_plan){.transcript = transcript, .arena = arena};
    plan->by_segment = WR_ARENA_ARRAY(arena, uint32_t, transcript->segments_count);
    return plan->by_segment ? link_groups(plan) : wr_arena_status(arena);
}

const struct wr_change *wr_plan_find(const struct wr_plan *plan, uint32_t segment)
{
    uint32_t number = plan->by_segment[segment];
    if (!number || plan->changes[number - 1].is_rolled_back)
        return NULL;
    return &plan->changes[number - 1];
}

bool wr_plan_is_empty(const struct wr_plan *plan)
{
    for (uint32_t i = 0; i < plan->changes_count; i++)
        if (!plan->changes[i].is_rolled_back)
            return false;
    return !plan->inserts_count && !plan->marker.is_standing;
}

static weir_status reserve_changes(struct wr_plan *plan, uint32_t more, struct weir_err *err)
{
    if (!WR_ARENA_ROOM(plan->arena, plan->changes, plan->changes_count + more, plan->changes_cap,
                       CAP_FIRST_COUNT))
        return wr_fail(err, wr_arena_status(plan->arena), 0, "no memory for the plan");
    return WEIR_OK;
}

/* A segment has one change: a new one takes the place of one that was rolled back. */
static void put_change(struct wr_plan *plan, const struct wr_change *change)
{
    uint32_t *number = &plan->by_segment[change->segment];
    if (!*number)
        *number = ++plan->changes_count;
    plan->changes[*number - 1] = *change;
}

static weir_status refuse(const struct wr_plan *plan, uint32_t segment, const char *what,
                          struct weir_err *err)
{
    const struct wr_segment *s = &plan->transcript->segments[segment];
    return wr_fail(err, WEIR_INVALID, wr_segment_range(plan->transcript, s).start,
                   "segment %u (%s, %s) %s", segment, weir_kind_name(s->kind),
                   weir_class_name(s->class_), what);
}

static weir_status check_index(const struct wr_plan *plan, uint32_t segment, struct weir_err *err)
{
    if (segment < plan->transcript->segments_count)
        return WEIR_OK;
    return wr_fail(err, WEIR_INVALID, 0, "there is no segment %u: this request has %u, from 0",
                   segment, plan->transcript->segments_count);
}

weir_status wr_plan_set(struct wr_plan *plan, const struct wr_change *change, struct weir_err *err)
{
    weir_status status = check_index(plan, change->segment, err);
    if (status)
        return status;
    if (change->form == WR_FORM_DROPPED)
        return refuse(plan, change->segment, "can be dropped, but not by an edit", err);
    if (change->form == WR_FORM_PRUNED)
        return refuse(plan, change->segment, "can be pruned, but not by an edit", err);
    if (!wr_segment_is_editable(&plan->transcript->segments[change->segment]))
        return refuse(plan, change->segment, "has no text that may be edited", err);
    if (wr_plan_find(plan, change->segment))
        return refuse(plan, change->segment, "is changed twice", err);
    status = reserve_changes(plan, 1, err);
    if (!status)
        put_change(plan, change);
    return status;
}

static bool is_inside(const struct wr_json *doc, wr_json_id outer, wr_json_id node)
{
    return node >= outer && node < doc->nodes[outer].after;
}

weir_status wr_plan_prune(struct wr_plan *plan, const struct wr_change *change,
                          struct weir_err *err)
{
    weir_status status = check_index(plan, change->segment, err);
    if (status)
        return status;
    const struct wr_segment *s = &plan->transcript->segments[change->segment];
    const struct wr_json *doc = plan->transcript->doc;
    bool is_call = s->kind == WEIR_KIND_TOOL_CALL && !s->is_opaque && s->payload != WR_JSON_NONE;
    if (!is_call || change->form != WR_FORM_PRUNED || !change->arguments_count)
        return refuse(plan, change->segment, "has no arguments that may be pruned", err);
    for (uint32_t i = 0; i < change->arguments_count; i++) {
        wr_json_id node = change->arguments[i].node;
        if (!is_inside(doc, s->payload, node) || doc->nodes[node].is_key ||
            !wr_json_is(doc, node, WR_JSON_STRING))
            return refuse(plan, change->segment, "has no such string in its arguments", err);
    }
    if (wr_plan_find(plan, change->segment))
        return refuse(plan, change->segment, "is changed twice", err);
    status = reserve_changes(plan, 1, err);
    if (!status)
        put_change(plan, change);
    return status;
}

/* What is not known here may be one half of a pair that is not known here either. As part of a
 * model output it leaves with that. */
static bool is_droppable(const struct wr_segment *s)
{
    switch (s->kind) {
    case WEIR_KIND_SYSTEM:
    case WEIR_KIND_TOOLS:
    case WEIR_KIND_COMPACTION:
        return false;
    case WEIR_KIND_OTHER:
        return s->group != WR_SEGMENT_NONE;
    case WEIR_KIND_TEXT:
    case WEIR_KIND_TOOL_CALL:
    case WEIR_KIND_TOOL_RESULT:
    case WEIR_KIND_REASONING:
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        break;
    }
    return s->array != WR_JSON_NONE && s->message != WR_JSON_NONE;
}

static weir_status check_drop(const struct wr_plan *plan, uint32_t segment, struct weir_err *err)
{
    const struct wr_change *standing = wr_plan_find(plan, segment);
    if (!is_droppable(&plan->transcript->segments[segment]))
        return refuse(plan, segment, "cannot be dropped", err);
    if (standing && standing->form != WR_FORM_DROPPED)
        return refuse(plan, segment, "is changed twice", err);
    return WEIR_OK;
}

static void put_drop(struct wr_plan *plan, uint32_t segment)
{
    struct wr_change change = {
        .segment = segment, .form = WR_FORM_DROPPED, .refers_to = WR_SEGMENT_NONE};
    put_change(plan, &change);
}

/* Everything that can fail comes before anything is changed: half a group is no plan. */
weir_status wr_plan_drop(struct wr_plan *plan, uint32_t segment, struct weir_err *err)
{
    weir_status status = check_index(plan, segment, err);
    uint32_t members = 0;
    if (status)
        return status;
    uint32_t group = plan->transcript->segments[segment].group;
    uint32_t first = group == WR_SEGMENT_NONE ? segment : group;

    for (uint32_t i = first; i != WR_SEGMENT_NONE && !status; i = plan->group_next[i], members++)
        status = check_drop(plan, i, err);
    if (!status)
        status = reserve_changes(plan, members, err);
    for (uint32_t i = first; i != WR_SEGMENT_NONE && !status; i = plan->group_next[i])
        put_drop(plan, i);
    return status;
}

weir_status wr_plan_drop_thinking(struct wr_plan *plan, uint32_t segment, struct weir_err *err)
{
    weir_status status = check_index(plan, segment, err);
    if (status)
        return status;
    if (!plan->transcript->segments[segment].is_signed)
        return refuse(plan, segment, "is not signed thinking", err);
    status = check_drop(plan, segment, err);
    if (!status)
        status = reserve_changes(plan, 1, err);
    if (!status)
        put_drop(plan, segment);
    return status;
}

static bool is_inside_list(const struct wr_transcript *t, wr_json_id node)
{
    return node > t->list && node < t->doc->nodes[t->list].after;
}

weir_status wr_plan_insert(struct wr_plan *plan, wr_json_id before, weir_span json,
                           struct weir_err *err)
{
    const struct wr_transcript *t = plan->transcript;

    if (t->list == WR_JSON_NONE)
        return wr_fail(err, WEIR_INVALID, 0, "this request has no list of messages to insert into");
    if (before != WR_JSON_NONE && !is_inside_list(t, before))
        return wr_fail(err, WEIR_INVALID, 0, "there is no message %u to insert before", before);
    if (!WR_ARENA_ROOM(plan->arena, plan->inserts, plan->inserts_made_count, plan->inserts_cap,
                       CAP_FIRST_COUNT))
        return wr_fail(err, wr_arena_status(plan->arena), 0, "no memory for the plan");
    plan->inserts[plan->inserts_made_count++] = (struct wr_insert){before, json};
    plan->inserts_count = plan->inserts_made_count;
    return WEIR_OK;
}

/* Markers that live long come first. */
static bool keeps_order(const struct wr_transcript *t, uint32_t segment, wr_json_id like)
{
    bool is_long = wr_lawful_marker_is_long(t->doc, like);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].marker == WR_JSON_NONE)
            continue;
        bool other_is_long = wr_lawful_marker_is_long(t->doc, t->segments[i].marker);
        if (i < segment ? is_long && !other_is_long : !is_long && other_is_long)
            return false;
    }
    return true;
}

weir_status wr_plan_mark(struct wr_plan *plan, uint32_t segment, wr_json_id like,
                         struct weir_err *err)
{
    const struct wr_transcript *t = plan->transcript;
    weir_status status = check_index(plan, segment, err);
    if (status)
        return status;
    const struct wr_segment *s = &t->segments[segment];
    if (plan->marker.is_made)
        return wr_fail(err, WEIR_INVALID, 0, "the plan has a cache marker already");
    if (!wr_lawful_is_marker(t->doc, like))
        return wr_fail(err, WEIR_INVALID, 0, "node %u is not the key of a cache marker", like);
    if (wr_lawful_markers_count(t->doc) >= WR_CACHE_MARKERS_MAX)
        return wr_fail(err, WEIR_INVALID, 0, "the request has all the cache markers it may have");
    if (s->marker != WR_JSON_NONE || !wr_lawful_can_hold_marker(t, s))
        return refuse(plan, segment, "cannot be given a cache marker", err);
    if (!keeps_order(t, segment, like))
        return refuse(plan, segment, "cannot be given a cache marker of that lifetime", err);
    plan->marker = (struct wr_plan_marker){segment, like, true, true};
    return WEIR_OK;
}
