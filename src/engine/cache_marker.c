/* Two kinds of marker in a body: the provider's, which say where its cache ends, and Weir's own
 * lines, which stand where something was taken out (own_markers.h).
 */

#include "engine/cache_marker.h"

#include <stdlib.h>

#include "api/api.h"
#include "api/lawful.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/plan.h"

/* A marker finds an entry at its own block or at one of the 19 before it. */
enum { LOOK_BACK_BLOCKS = 20 };

#define NOWHERE UINT32_MAX

/* A content block of the request as it leaves. What is put in is one block a message. */
struct block {
    uint32_t segment; /* NONE: put in */
    bool from_model;
    wr_json_id marker; /* the key of a marker of the request, or NONE */
};

struct view {
    const struct wr_plan *plan;
    struct block *blocks;
    uint32_t count;
};

/* ---- the request as it leaves ---- */

static int compare_inserts(const void *x, const void *y)
{
    const struct wr_insert *a = x, *b = y;
    return a->before < b->before ? -1 : a->before > b->before;
}

/* NONE, the end, is the largest of all nodes. */
static weir_status sort_inserts(const struct wr_plan *plan, struct wr_insert **sorted)
{
    *sorted = WR_ARENA_ARRAY(plan->arena, struct wr_insert, plan->inserts_count);
    if (!*sorted)
        return wr_arena_status(plan->arena);
    for (uint32_t i = 0; i < plan->inserts_count; i++)
        (*sorted)[i] = plan->inserts[i];
    if (plan->inserts_count)
        qsort(*sorted, plan->inserts_count, sizeof(**sorted), compare_inserts);
    return WEIR_OK;
}

static weir_status add_insert(struct view *v, const struct wr_insert *insert)
{
    struct wr_json doc;
    weir_status status = wr_json_parse(&doc, v->plan->arena, insert->json, NULL, NULL);
    if (status == WEIR_NOMEM)
        return status;
    bool from_model = !status && wr_json_text_is(&doc, wr_json_find(&doc, 0, "role"), "assistant");
    v->blocks[v->count++] = (struct block){WR_SEGMENT_NONE, from_model, WR_JSON_NONE};
    return WEIR_OK;
}

static weir_status add_blocks(struct view *v, const struct wr_insert *inserts,
                              const wr_json_id *markers)
{
    const struct wr_transcript *t = v->plan->transcript;
    const struct wr_insert *end = inserts + v->plan->inserts_count;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < t->segments_count && !status; i++) {
        const struct wr_segment *s = &t->segments[i];
        while (inserts < end && !status && s->message != WR_JSON_NONE &&
               inserts->before <= s->message)
            status = add_insert(v, inserts++);
        if (!wr_plan_drops(v->plan, i))
            v->blocks[v->count++] = (struct block){i, s->from_model, markers[i]};
    }
    while (inserts < end && !status)
        status = add_insert(v, inserts++);
    return status;
}

/* The marker beside the messages marks the last block. */
static weir_status open_view(struct view *v, const struct wr_plan *plan)
{
    const struct wr_transcript *t = plan->transcript;
    wr_json_id automatic = wr_find_marker(t->doc, 0);
    const wr_json_id *markers = NULL;
    struct wr_insert *inserts = NULL;

    *v = (struct view){.plan = plan};
    v->blocks = WR_ARENA_ARRAY(plan->arena, struct block, t->segments_count + plan->inserts_count);
    if (!v->blocks)
        return wr_arena_status(plan->arena);
    weir_status status = wr_apply_markers(plan, plan->arena, &markers);
    if (!status)
        status = sort_inserts(plan, &inserts);
    if (!status)
        status = add_blocks(v, inserts, markers);
    if (!status && v->count && v->blocks[v->count - 1].marker == WR_JSON_NONE)
        v->blocks[v->count - 1].marker = automatic;
    return status;
}

/* ---- ends of earlier requests ---- */

/* Requests end with their inputs. The newest one's are behind the last output, but for an output
 * that the model is to continue. */
static uint32_t previous_end(const struct view *v)
{
    uint32_t at = v->count;
    while (at && v->blocks[at - 1].from_model)
        at--;
    while (at && !v->blocks[at - 1].from_model)
        at--;
    while (at && v->blocks[at - 1].from_model)
        at--;
    return at ? at - 1 : NOWHERE;
}

static uint32_t block_of_segment(const struct view *v, uint32_t segment)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (v->blocks[i].segment == segment)
            return i;
    return NOWHERE;
}

/* The newest end of a request that no step since has changed anything before. */
static uint32_t standing_end(const struct view *v, const struct wr_fold_step *steps,
                             uint32_t steps_count)
{
    const struct wr_transcript *t = v->plan->transcript;
    uint32_t first = UINT32_MAX, turn = t->turns_count;

    for (uint32_t i = t->segments_count; i-- > 0;) {
        const struct wr_segment *s = &t->segments[i];
        if (s->from_model || s->turn == turn)
            continue;
        turn = s->turn; /* and this its last input */
        if (turn + 1 == t->turns_count)
            continue;
        for (; steps_count && steps[steps_count - 1].turn > turn; steps_count--)
            if (steps[steps_count - 1].first < first)
                first = steps[steps_count - 1].first;
        if (i < first)
            return block_of_segment(v, i);
    }
    return NOWHERE;
}

/* ---- the place ---- */

static uint32_t next_marker(const struct view *v, uint32_t at)
{
    while (at < v->count && v->blocks[at].marker == WR_JSON_NONE)
        at++;
    return at < v->count ? at : NOWHERE;
}

/* An empty result may be one of those that are refused. */
static bool can_be_marked(const struct view *v, const struct block *block)
{
    const struct wr_transcript *t = v->plan->transcript;
    if (block->segment == WR_SEGMENT_NONE || block->marker != WR_JSON_NONE)
        return false;
    const struct wr_segment *s = &t->segments[block->segment];
    if (s->kind == WEIR_KIND_TOOL_RESULT && !s->parts_count && !s->has_exact_blocks)
        return false;
    return wr_lawful_can_hold_marker(t, s);
}

/* From a block on, the first place whose marker would reach back to it, where none does. Text that
 * is a plain string has no block to mark. */
static uint32_t place_for(const struct view *v, uint32_t end)
{
    uint32_t marker = end == NOWHERE ? NOWHERE : next_marker(v, end);
    if (marker == NOWHERE || marker - end < LOOK_BACK_BLOCKS ||
        !wr_json_text_is(v->plan->transcript->doc, v->blocks[marker].marker,
                         wr_api_of(v->plan->transcript->dialect)->marker_key))
        return NOWHERE;
    for (uint32_t at = end; at - end < LOOK_BACK_BLOCKS; at++)
        if (can_be_marked(v, &v->blocks[at]))
            return at;
    return NOWHERE;
}

weir_status wr_cache_marker_place(struct wr_plan *plan, const struct wr_fold_step *steps,
                                  uint32_t steps_count)
{
    const struct wr_transcript *t = plan->transcript;
    struct view v;

    if (!wr_api_of(t->dialect)->marker_key || t->is_delta)
        return WEIR_OK;
    uint32_t markers_count = wr_lawful_markers_count(t->doc);
    if (!markers_count || markers_count >= WR_CACHE_MARKERS_MAX)
        return WEIR_OK;
    weir_status status = open_view(&v, plan);
    if (status)
        return status;
    /* The first rule goes before the second: a result that comes in again has no step, and what
     * the first rule would do to it must have been done. */
    uint32_t at = place_for(&v, previous_end(&v));
    bool is_step = steps_count && steps[steps_count - 1].turn + 1 == t->turns_count;
    if (at == NOWHERE && is_step)
        at = place_for(&v, standing_end(&v, steps, steps_count));
    if (at != NOWHERE)
        status =
            wr_plan_mark(plan, v.blocks[at].segment, v.blocks[next_marker(&v, at)].marker, NULL);
    /* A client whose markers are out of order gets no further one. */
    return status == WEIR_INVALID ? WEIR_OK : status;
}

/* ==== own markers ==== */

struct asking {
    const struct wr_own_markers *own;
    uint32_t turn;
    bool is_read;       /* what the marks say of this turn, which is asked for where it matters */
    size_t known_bytes; /* of `text` */
    struct wr_buf text; /* handles of this turn that are text: those of the marks, then new ones */
    bool is_in_doubt;   /* the store did not answer */
};

static bool is_text(struct asking *a, weir_span handle)
{
    if (!a->is_read && a->own->marks)
        wr_buf_append(&a->text, wr_marks_look_alikes(a->own->marks, a->turn));
    if (!a->is_read)
        a->known_bytes = a->text.len;
    a->is_read = true;
    return wr_span_find(wr_buf_view(&a->text), handle, 0) != SIZE_MAX;
}

static void put_down(struct asking *a, weir_span handle)
{
    if (a->text.len + handle.len + 1 > WR_STORE_MARK_BYTES_MAX)
        return; /* the store answers for the rest */
    wr_buf_append(&a->text, handle);
    wr_buf_byte(&a->text, ' ');
}

static bool is_ours(void *user, weir_handle handle)
{
    struct asking *a = user;
    struct weir_lookup lookup = {.tenant = a->own->tenant, .handle = handle};
    struct weir_artifact artifact;
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_miss miss;

    weir_handle_format(handle, name);
    if (is_text(a, wr_span_of(name)))
        return false;
    weir_status status = weir_store_get(a->own->store, &lookup, &artifact, &miss, NULL);
    if (!status || miss == WEIR_MISS_EXPIRED || miss == WEIR_MISS_CORRUPT)
        return true;
    a->is_in_doubt |= status != WEIR_NOTFOUND;
    if (status == WEIR_NOTFOUND)
        put_down(a, wr_span_of(name));
    return status != WEIR_NOTFOUND;
}

static void begin_turn(struct asking *a, uint32_t turn)
{
    a->turn = turn;
    a->is_read = false;
    a->known_bytes = 0;
    wr_buf_reset(&a->text);
}

static weir_status end_turn(struct asking *a, struct wr_arena *arena)
{
    if (a->text.status || !a->own->marks || a->text.len == a->known_bytes)
        return a->text.status;
    weir_span handles = wr_arena_copy(arena, wr_buf_view(&a->text));
    return handles.ptr ? wr_marks_set_look_alikes(a->own->marks, a->turn, handles)
                       : wr_arena_status(arena);
}

/* What the store could not say about the newest turn it may say at the next request. */
static weir_status keep_newest_whole(struct wr_marks *marks)
{
    uint32_t newest = marks->trail.turns_count - 1;
    if (marks->turns[newest].is_whole || marks->turns[newest].is_late)
        return WEIR_OK;
    marks->turns[newest].is_whole = true;
    return wr_marks_add(marks, WEIR_MARK_KEPT_WHOLE, newest, (weir_span){"", 0});
}

weir_status wr_own_markers_find(const struct wr_own_markers *own, struct wr_arena *arena,
                                bool *is_marked)
{
    const struct wr_transcript *t = own->transcript;
    struct asking a = {.own = own, .turn = WR_SEGMENT_NONE};
    weir_status status = WEIR_OK;

    wr_buf_init(&a.text, WR_STORE_MARK_BYTES_MAX);
    for (uint32_t i = own->first_segment; i < t->segments_count && !status; i++) {
        if (t->segments[i].turn != a.turn) {
            status = end_turn(&a, arena);
            begin_turn(&a, t->segments[i].turn);
        }
        is_marked[i] = wr_segment_holds_marker(t, i, is_ours, &a);
    }
    if (!status)
        status = end_turn(&a, arena);
    wr_buf_release(&a.text);
    if (status || !a.is_in_doubt || !own->marks)
        return status;
    return keep_newest_whole(own->marks);
}
