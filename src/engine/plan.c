/* The list of what is to be changed.
 *
 * Setting a change asks only whether the segment can be changed that way; whether the result is
 * lawful is asked when the plan is settled. Dropping is by groups: a call, its results and the
 * reasoning before them are linked once, when the plan is made, and leave together.
 */

#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/lawful.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"

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

static weir_status refuse_change(const struct wr_plan *plan, uint32_t segment, const char *what,
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
        return refuse_change(plan, change->segment, "can be dropped, but not by an edit", err);
    if (change->form == WR_FORM_PRUNED)
        return refuse_change(plan, change->segment, "can be pruned, but not by an edit", err);
    if (!wr_segment_is_editable(&plan->transcript->segments[change->segment]))
        return refuse_change(plan, change->segment, "has no text that may be edited", err);
    if (wr_plan_find(plan, change->segment))
        return refuse_change(plan, change->segment, "is changed twice", err);
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
        return refuse_change(plan, change->segment, "has no arguments that may be pruned", err);
    for (uint32_t i = 0; i < change->arguments_count; i++) {
        wr_json_id node = change->arguments[i].node;
        if (!is_inside(doc, s->payload, node) || doc->nodes[node].is_key ||
            !wr_json_is(doc, node, WR_JSON_STRING))
            return refuse_change(plan, change->segment, "has no such string in its arguments", err);
    }
    if (wr_plan_find(plan, change->segment))
        return refuse_change(plan, change->segment, "is changed twice", err);
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
        return refuse_change(plan, segment, "cannot be dropped", err);
    if (standing && standing->form != WR_FORM_DROPPED)
        return refuse_change(plan, segment, "is changed twice", err);
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
        return refuse_change(plan, segment, "is not signed thinking", err);
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
        return refuse_change(plan, segment, "cannot be given a cache marker", err);
    if (!keeps_order(t, segment, like))
        return refuse_change(plan, segment, "cannot be given a cache marker of that lifetime", err);
    plan->marker = (struct wr_plan_marker){segment, like, true, true};
    return WEIR_OK;
}

/* ==== apply ====
 *
 * A plan turned into touches of nodes, and those into bytes.
 *
 * What a plan says of segments becomes what happens to nodes: a string gets another text, an
 * element leaves, JSON is inserted, a cache marker moves. A message of which no block is left
 * leaves whole. The touches are sorted by the place where they take effect in a walk over the
 * nodes, because wr_compare_documents() walks both documents side by side and expects them in that
 * order.
 */

enum { TOUCHES_FIRST_COUNT = 32 };

struct applier {
    const struct wr_plan *plan;
    const struct wr_transcript *transcript;
    const struct wr_json *doc;
    struct wr_arena *arena;
    struct wr_touches *touches;
    weir_status status; /* sticky */
};

static void touch(struct applier *a, struct wr_touch item)
{
    struct wr_touches *t = a->touches;
    if (a->status)
        return;
    if (!WR_ARENA_ROOM(a->arena, t->items, t->count, t->cap, TOUCHES_FIRST_COUNT)) {
        a->status = wr_arena_status(a->arena);
        return;
    }
    t->items[t->count++] = item;
}

/* The blocks of a result, walked beside its parts: both come in the order of the text. */
struct block_walk {
    wr_json_id payload, block;
};

static struct block_walk first_block(const struct wr_json *doc, wr_json_id payload)
{
    bool has_blocks = wr_json_kind(doc, payload) == WR_JSON_ARRAY;
    return (struct block_walk){payload, has_blocks ? wr_json_first(doc, payload) : WR_JSON_NONE};
}

/* The block whose text is the string `part`; NONE where the string is no block's text. */
static wr_json_id block_of_part(const struct wr_json *doc, struct block_walk *walk, wr_json_id part)
{
    while (walk->block != WR_JSON_NONE && part >= doc->nodes[walk->block].after)
        walk->block = wr_json_next(doc, walk->payload, walk->block);
    return wr_json_find(doc, walk->block, "text") == part ? walk->block : WR_JSON_NONE;
}

/* The new text goes into the first part. Further text blocks leave: an empty one would be refused
 * by the provider; the first, which stays, takes over their cache marker. Streams of a shell result
 * cannot leave, and may be empty. */
static void touch_text(struct applier *a, const struct wr_segment *s, weir_span text)
{
    struct block_walk walk = first_block(a->doc, s->payload);
    wr_json_id first = block_of_part(a->doc, &walk, s->parts[0]);
    bool takes_marker = first != WR_JSON_NONE && !wr_lawful_has_marker_key(a->doc, first);

    touch(a, (struct wr_touch){WR_TOUCH_TEXT, WR_JSON_NONE, s->parts[0], text});
    for (uint32_t i = 1; i < s->parts_count; i++) {
        wr_json_id block = block_of_part(a->doc, &walk, s->parts[i]);
        if (block == WR_JSON_NONE) {
            touch(a, (struct wr_touch){WR_TOUCH_TEXT, WR_JSON_NONE, s->parts[i], {"", 0}});
            continue;
        }
        wr_json_id marker = wr_find_marker(a->doc, block);
        if (takes_marker && marker != WR_JSON_NONE) {
            touch(a, (struct wr_touch){WR_TOUCH_INSERT, first, WR_JSON_NONE,
                                       wr_json_member(a->doc, marker)});
            takes_marker = false;
        }
        touch(a, (struct wr_touch){WR_TOUCH_REMOVE, s->payload, block, {NULL, 0}});
    }
}

static void touch_arguments(struct applier *a, const struct wr_change *change)
{
    for (uint32_t i = 0; i < change->arguments_count; i++)
        touch(a, (struct wr_touch){WR_TOUCH_TEXT, WR_JSON_NONE, change->arguments[i].node,
                                   change->arguments[i].text});
}

/* Thinking that a gateway hands on in a field beside the content is that field's array: its blocks
 * leave, the field stays and is empty. */
static bool has_own_field(const struct applier *a, const struct wr_segment *s)
{
    return s->is_signed && s->element == s->message &&
           wr_json_kind(a->doc, s->payload) == WR_JSON_ARRAY;
}

static void touch_field(struct applier *a, wr_json_id field)
{
    for (wr_json_id block = wr_json_first(a->doc, field); block != WR_JSON_NONE;
         block = wr_json_next(a->doc, field, block))
        touch(a, (struct wr_touch){WR_TOUCH_REMOVE, field, block, {NULL, 0}});
}

/* APIs whose markers are blocks of their own: the marker follows what it marks. */
static bool has_own_block(const struct wr_transcript *t, const struct wr_segment *s)
{
    return wr_api_of(t->dialect)->marks_with_blocks && s->marker != WR_JSON_NONE;
}

static void touch_part(struct applier *a, const struct wr_segment *s)
{
    if (has_own_block(a->transcript, s))
        touch(a, (struct wr_touch){WR_TOUCH_REMOVE,
                                   s->array,
                                   wr_json_next(a->doc, s->array, s->element),
                                   {NULL, 0}});
    if (has_own_field(a, s))
        touch_field(a, s->payload);
    else
        touch(a, (struct wr_touch){WR_TOUCH_REMOVE, s->array, s->element, {NULL, 0}});
}

/* Whether a segment that leaves is all that the list has of its message. */
static bool is_whole_message(const struct applier *a, const struct wr_segment *s)
{
    return s->element == s->message && !has_own_field(a, s);
}

/* Segments of one message stand side by side. The message leaves whole when all of them do. */
static void touch_message(struct applier *a, uint32_t first, uint32_t end)
{
    const struct wr_segment *segments = a->transcript->segments;
    bool all = true, any = false, takes_message = false;

    for (uint32_t i = first; i < end; i++) {
        bool dropped = wr_plan_drops(a->plan, i);
        all &= dropped;
        any |= dropped;
        takes_message |= dropped && is_whole_message(a, &segments[i]);
    }
    if (!any)
        return;
    if (all || takes_message) {
        touch(a, (struct wr_touch){
                     WR_TOUCH_REMOVE, a->transcript->list, segments[first].message, {NULL, 0}});
        return;
    }
    for (uint32_t i = first; i < end; i++)
        if (wr_plan_drops(a->plan, i))
            touch_part(a, &segments[i]);
}

static void touch_drops(struct applier *a)
{
    const struct wr_transcript *t = a->transcript;
    for (uint32_t i = 0, end; i < t->segments_count; i = end) {
        end = i + 1;
        if (t->segments[i].message == WR_JSON_NONE)
            continue;
        while (end < t->segments_count && t->segments[end].message == t->segments[i].message)
            end++;
        touch_message(a, i, end);
    }
}

static bool message_leaves(const struct wr_plan *plan, uint32_t segment)
{
    const struct wr_transcript *t = plan->transcript;
    const struct wr_segment *s = t->segments;
    uint32_t first = segment, end = segment + 1;
    while (first && s[first - 1].message == s[segment].message)
        first--;
    for (; end < t->segments_count && s[end].message == s[segment].message; end++)
        ;
    while (first < end && wr_plan_drops(plan, first))
        first++;
    return first == end;
}

/* A marker that stands on the message leaves with the message only. */
static wr_json_id leaving_marker(const struct wr_plan *plan, uint32_t segment)
{
    const struct wr_transcript *t = plan->transcript;
    const struct wr_segment *s = &t->segments[segment];
    if (s->marker == WR_JSON_NONE || has_own_block(t, s) ||
        (s->marker > s->element && s->marker < t->doc->nodes[s->element].after))
        return s->marker;
    return message_leaves(plan, segment) ? s->marker : WR_JSON_NONE;
}

/* A removed marker goes to the nearest earlier block that stays and can hold it; one that is marked
 * already, or was given one just now, needs no second. */
static void move_markers(const struct wr_plan *plan, wr_json_id *markers)
{
    const struct wr_transcript *t = plan->transcript;
    uint32_t holder = WR_SEGMENT_NONE;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool leaves = wr_plan_drops(plan, i);
        markers[i] = leaves ? WR_JSON_NONE : s->marker;
        if (!leaves && wr_lawful_can_hold_marker(t, s))
            holder = i;
        wr_json_id marker = leaves ? leaving_marker(plan, i) : WR_JSON_NONE;
        if (marker != WR_JSON_NONE && holder != WR_SEGMENT_NONE && markers[holder] == WR_JSON_NONE)
            markers[holder] = marker;
    }
}

weir_status wr_apply_markers(const struct wr_plan *plan, struct wr_arena *arena,
                             const wr_json_id **markers)
{
    const struct wr_plan_marker *added = &plan->marker;
    wr_json_id *all = WR_ARENA_ARRAY(arena, wr_json_id, plan->transcript->segments_count);
    if (!all)
        return wr_arena_status(arena);
    move_markers(plan, all);
    if (added->is_standing && !wr_plan_drops(plan, added->segment) &&
        all[added->segment] == WR_JSON_NONE)
        all[added->segment] = added->like;
    *markers = all;
    return WEIR_OK;
}

static void touch_marker(struct applier *a, const struct wr_segment *s, wr_json_id marker)
{
    weir_span member = wr_json_member(a->doc, marker);

    if (!wr_api_of(a->transcript->dialect)->marks_with_blocks) {
        touch(a, (struct wr_touch){WR_TOUCH_INSERT, s->block, WR_JSON_NONE, member});
        return;
    }
    char *block = wr_arena_alloc(a->arena, member.len + 2);
    if (!block) {
        a->status = wr_arena_status(a->arena);
        return;
    }
    block[0] = '{';
    memcpy(block + 1, member.ptr, member.len);
    block[member.len + 1] = '}';
    touch(a, (struct wr_touch){WR_TOUCH_INSERT,
                               s->array,
                               wr_json_next(a->doc, s->array, s->block),
                               {block, member.len + 2}});
}

static void touch_markers(struct applier *a)
{
    const struct wr_transcript *t = a->transcript;
    const wr_json_id *markers = NULL;

    if (!a->status)
        a->status = wr_apply_markers(a->plan, a->arena, &markers);
    for (uint32_t i = 0; i < t->segments_count && !a->status; i++)
        if (markers[i] != WR_JSON_NONE && markers[i] != t->segments[i].marker)
            touch_marker(a, &t->segments[i], markers[i]);
}

/* Where a touch takes effect in a walk over the nodes: an insertion at a container's end comes when
 * everything inside the container has passed. */
static uint32_t place_of(const struct wr_json *doc, const struct wr_touch *t)
{
    return t->node != WR_JSON_NONE ? t->node : doc->nodes[t->container].after;
}

struct keyed_touch {
    struct wr_touch touch;
    uint32_t place, order;
};

static int compare_touches(const void *x, const void *y)
{
    const struct keyed_touch *a = x, *b = y;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    /* At one place: inner containers end first, insertions come before what they stand before. */
    bool a_ends = a->touch.node == WR_JSON_NONE, b_ends = b->touch.node == WR_JSON_NONE;
    if (a_ends != b_ends)
        return a_ends ? -1 : 1;
    if (a_ends && a->touch.container != b->touch.container)
        return a->touch.container > b->touch.container ? -1 : 1;
    bool a_inserts = a->touch.kind == WR_TOUCH_INSERT, b_inserts = b->touch.kind == WR_TOUCH_INSERT;
    if (a_inserts != b_inserts)
        return a_inserts ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static weir_status sort_touches(struct applier *a)
{
    struct wr_touches *t = a->touches;
    struct keyed_touch *keyed = WR_ARENA_ARRAY(a->arena, struct keyed_touch, t->count);
    if (!keyed)
        return wr_arena_status(a->arena);
    for (uint32_t i = 0; i < t->count; i++)
        keyed[i] = (struct keyed_touch){t->items[i], place_of(a->doc, &t->items[i]), i};
    wr_sort(keyed, t->count, sizeof(*keyed), compare_touches);
    for (uint32_t i = 0; i < t->count; i++)
        t->items[i] = keyed[i].touch;
    return WEIR_OK;
}

weir_status wr_apply_touches(const struct wr_plan *plan, struct wr_arena *arena,
                             struct wr_touches *touches)
{
    const struct wr_transcript *t = plan->transcript;
    struct applier a = {plan, t, t->doc, arena, touches, WEIR_OK};

    *touches = (struct wr_touches){0};
    for (uint32_t i = 0; i < plan->changes_count; i++) {
        const struct wr_change *change = &plan->changes[i];
        if (change->is_rolled_back || change->form == WR_FORM_DROPPED)
            continue;
        if (change->form == WR_FORM_PRUNED)
            touch_arguments(&a, change);
        else
            touch_text(&a, &t->segments[change->segment], change->text);
    }
    touch_drops(&a);
    touch_markers(&a);
    for (uint32_t i = 0; i < plan->inserts_count; i++)
        touch(&a, (struct wr_touch){WR_TOUCH_INSERT, t->list, plan->inserts[i].before,
                                    plan->inserts[i].json});
    return a.status || !touches->count ? a.status : sort_touches(&a);
}

weir_status wr_apply_write(const struct wr_json *doc, struct wr_arena *arena,
                           const struct wr_touches *touches, struct wr_buf *out,
                           struct weir_err *err)
{
    struct wr_splice splice;
    wr_splice_init(&splice, doc, arena);
    for (uint32_t i = 0; i < touches->count; i++) {
        const struct wr_touch *t = &touches->items[i];
        if (t->kind == WR_TOUCH_TEXT)
            wr_splice_set_text(&splice, t->node, t->text);
        else if (t->kind == WR_TOUCH_REMOVE)
            wr_splice_remove(&splice, t->container, t->node);
        else
            wr_splice_insert(&splice, t->container, t->node, t->text);
    }
    return wr_splice_apply(&splice, out, err);
}
