/* Law L1 asked of the result: two documents walked side by side, node by node. Where a touch is due
 * the two may differ as it says; everywhere else kind, bytes and white space between must be equal.
 * This shares nothing with the splice but the list of touches, so that an error in one is not
 * repeated by the other.
 */
#include "engine/compare.h"

#include "base/limits.h"
#include "base/span.h"

/* Both documents are walked side by side, node by node; values without a touch inside are compared
 * as the bytes they are. What stands between two values is compared too, except where something was
 * taken out or put in: which comma went with it is the splice's affair, and that the rest is JSON
 * the reader's. */
struct walk {
    const struct wr_json *before, *after;
    struct wr_arena *arena;
    const struct wr_touch *touch, *touches_end;
    wr_json_id i, j;            /* the next node of each */
    size_t before_at, after_at; /* the bytes compared so far */
    bool is_loose;              /* something came or went since the last value */
    bool is_same;
    uint32_t depth;
    struct {
        wr_json_id i, j;
    } open[WR_JSON_DEPTH_MAX];
};

static bool touch_is_here(const struct walk *w, enum wr_touch_kind kind, wr_json_id container,
                          wr_json_id node)
{
    return w->touch < w->touches_end && w->touch->kind == kind && w->touch->node == node &&
           (container == WR_JSON_NONE || w->touch->container == container);
}

/* Touches come in the order of the walk, so that the next one speaks for all. */
static bool has_touch_inside(const struct walk *w, wr_json_id container)
{
    if (w->touch == w->touches_end)
        return false;
    wr_json_id at = w->touch->node != WR_JSON_NONE ? w->touch->node : w->touch->container;
    return at >= container && at < w->before->nodes[container].after;
}

/* Compares up to the given bytes; behind a loose place only from the two nodes on. */
static void pass_bytes(struct walk *w, uint32_t before_start, uint32_t before_end,
                       uint32_t after_start, uint32_t after_end)
{
    size_t before_from = w->is_loose ? before_start : w->before_at;
    size_t after_from = w->is_loose ? after_start : w->after_at;
    w->is_same &= wr_span_eq(wr_span_cut(w->before->text, before_from, before_end),
                             wr_span_cut(w->after->text, after_from, after_end));
    w->before_at = before_end;
    w->after_at = after_end;
    w->is_loose = false;
}

/* An inserted element or member must stand here, byte for byte. */
static void pass_insert(struct walk *w)
{
    if (w->j >= w->after->nodes_count) {
        w->is_same = false;
        return;
    }
    bool is_member = w->after->nodes[w->j].is_key;
    wr_json_id last = is_member ? wr_json_value(w->j) : w->j;
    weir_span found = is_member ? wr_json_member(w->after, w->j) : wr_json_raw(w->after, w->j);
    w->is_same &= wr_span_eq(wr_span_trim(w->touch->text), found);
    w->j = w->after->nodes[last].after;
    w->after_at = w->after->nodes[last].end;
    w->is_loose = true;
    w->touch++;
}

static void pass_removed(struct walk *w)
{
    wr_json_id last = w->before->nodes[w->i].is_key ? wr_json_value(w->i) : w->i;
    w->i = w->before->nodes[last].after;
    w->before_at = w->before->nodes[last].end;
    w->is_loose = true;
    w->touch++;
}

static void close_finished(struct walk *w)
{
    while (w->depth && w->is_same) {
        wr_json_id i = w->open[w->depth - 1].i, j = w->open[w->depth - 1].j;
        const struct wr_json_node *a = &w->before->nodes[i], *b = &w->after->nodes[j];
        if (w->i < a->after)
            return;
        while (w->is_same && touch_is_here(w, WR_TOUCH_INSERT, i, WR_JSON_NONE))
            pass_insert(w);
        w->is_same &= w->j == b->after;
        if (w->is_same)
            pass_bytes(w, a->end - 1, a->end, b->end - 1, b->end);
        w->depth--;
    }
}

static weir_status pass_text(struct walk *w)
{
    const struct wr_json_node *a = &w->before->nodes[w->i], *b = &w->after->nodes[w->j];
    if (b->kind != WR_JSON_STRING || b->is_key) {
        w->is_same = false;
        return WEIR_OK;
    }
    weir_span said = wr_json_text(w->after, w->arena, w->j);
    if (!said.ptr)
        return wr_arena_status(w->arena);
    pass_bytes(w, a->start, a->start + 1, b->start, b->start + 1);
    w->is_same &= wr_span_eq(said, w->touch->text);
    w->before_at = a->end;
    w->after_at = b->end;
    w->touch++;
    w->i++;
    w->j++;
    return WEIR_OK;
}

static void pass_same(struct walk *w)
{
    const struct wr_json_node *a = &w->before->nodes[w->i], *b = &w->after->nodes[w->j];
    w->is_same &= a->kind == b->kind && a->is_key == b->is_key;
    if (!has_touch_inside(w, w->i)) {
        pass_bytes(w, a->start, a->end, b->start, b->end);
        w->i = a->after;
        w->j = b->after;
        return;
    }
    pass_bytes(w, a->start, a->start + 1, b->start, b->start + 1);
    w->open[w->depth].i = w->i++;
    w->open[w->depth].j = w->j++;
    w->depth++;
}

static weir_status pass_node(struct walk *w)
{
    if (touch_is_here(w, WR_TOUCH_REMOVE, WR_JSON_NONE, w->i)) {
        pass_removed(w);
        return WEIR_OK;
    }
    if (w->j >= w->after->nodes_count) {
        w->is_same = false;
        return WEIR_OK;
    }
    if (touch_is_here(w, WR_TOUCH_TEXT, WR_JSON_NONE, w->i))
        return pass_text(w);
    pass_same(w);
    return WEIR_OK;
}

static weir_status walk_all(struct walk *w)
{
    while (w->is_same && w->i < w->before->nodes_count) {
        while (w->is_same && touch_is_here(w, WR_TOUCH_INSERT, WR_JSON_NONE, w->i))
            pass_insert(w);
        weir_status status = pass_node(w);
        if (status)
            return status;
        close_finished(w);
    }
    if (!w->is_same)
        return WEIR_OK;
    weir_span before = w->before->text, after = w->after->text;
    w->is_same = w->j == w->after->nodes_count && w->touch == w->touches_end &&
                 wr_span_eq(wr_span_cut(before, w->before_at, before.len),
                            wr_span_cut(after, w->after_at, after.len));
    return WEIR_OK;
}

weir_status wr_compare_documents(const struct wr_json *before, const struct wr_json *after,
                                 const struct wr_touches *touches, struct wr_arena *arena,
                                 bool *is_same)
{
    struct walk w = {.before = before, .after = after, .arena = arena, .is_same = true};
    if (touches->count) {
        w.touch = touches->items;
        w.touches_end = touches->items + touches->count;
    }
    weir_status status = walk_all(&w);
    *is_same = w.is_same;
    return status;
}
