/* Applies edits to a document's text in one pass, from its beginning to its end.
 *
 *   wr_splice_set_text,
 *   wr_splice_set_json    become an edit of bytes [start, end) at once
 *   wr_splice_remove,
 *   wr_splice_insert      are kept as operations on a container's list of children
 *   wr_splice_apply       compile_ops: each container's operations become edits, commas included
 *                         sort the edits by place; refuse those that overlap
 *                         write_spliced: copy the text, with the edits in their places
 *
 * Removals and insertions wait until all of them are known because of the commas. Which comma
 * leaves with an element depends on which of its neighbours stay: children that leave side by side
 * are one run, and a run takes the comma behind it while a kept child follows, else the comma
 * before it.
 *
 * What no edit names is copied byte by byte, never written anew: that is law L1.
 */
#include "json/splice.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum edit_mode { MODE_ESCAPE, MODE_RAW, MODE_COMMA_BEFORE, MODE_COMMA_AFTER };

/* The bytes [start, end) of the text become `text`. */
struct wr_splice_edit {
    uint32_t start, end;
    uint32_t order; /* of the calls, for edits at one place */
    uint8_t mode;
    weir_span text;
};

/* A change of a container's list of children, kept until all of them are known. */
struct wr_splice_op {
    wr_json_id container, child; /* child NONE: behind the last */
    uint32_t order;
    bool is_insert;
    weir_span json;
};

enum { CAP_FIRST_COUNT = 16 };

void wr_splice_init(struct wr_splice *splice, const struct wr_json *doc, struct wr_arena *arena)
{
    *splice = (struct wr_splice){.doc = doc, .arena = arena};
}

static void add_edit(struct wr_splice *s, uint32_t start, uint32_t end, enum edit_mode mode,
                     weir_span text)
{
    if (s->status)
        return;
    if (!WR_ARENA_ROOM(s->arena, s->edits, s->edits_count, s->edits_cap, CAP_FIRST_COUNT)) {
        s->status = wr_arena_status(s->arena);
        return;
    }
    s->edits[s->edits_count] =
        (struct wr_splice_edit){start, end, s->edits_count, (uint8_t)mode, text};
    s->edits_count++;
}

static void add_op(struct wr_splice *s, wr_json_id container, wr_json_id child, bool is_insert,
                   weir_span json)
{
    WR_ASSERT(wr_json_is(s->doc, container, WR_JSON_ARRAY) ||
              wr_json_is(s->doc, container, WR_JSON_OBJECT));
    if (s->status)
        return;
    if (!WR_ARENA_ROOM(s->arena, s->ops, s->ops_count, s->ops_cap, CAP_FIRST_COUNT)) {
        s->status = wr_arena_status(s->arena);
        return;
    }
    s->ops[s->ops_count] = (struct wr_splice_op){container, child, s->ops_count, is_insert, json};
    s->ops_count++;
}

void wr_splice_set_text(struct wr_splice *splice, wr_json_id id, weir_span text)
{
    const struct wr_json_node *node = &splice->doc->nodes[id];
    WR_ASSERT(node->kind == WR_JSON_STRING);
    add_edit(splice, node->start + 1, node->end - 1, MODE_ESCAPE, text);
}

void wr_splice_set_json(struct wr_splice *splice, wr_json_id id, weir_span json)
{
    const struct wr_json_node *node = &splice->doc->nodes[id];
    add_edit(splice, node->start, node->end, MODE_RAW, json);
}

void wr_splice_remove(struct wr_splice *splice, wr_json_id container, wr_json_id child)
{
    WR_ASSERT(child != WR_JSON_NONE);
    add_op(splice, container, child, false, (weir_span){NULL, 0});
}

void wr_splice_insert(struct wr_splice *splice, wr_json_id container, wr_json_id child,
                      weir_span json)
{
    add_op(splice, container, child, true, json);
}

/* By container, then by child; insertions before the removal of the same child. */
static int compare_ops(const void *a, const void *b)
{
    const struct wr_splice_op *x = a, *y = b;
    if (x->container != y->container)
        return x->container < y->container ? -1 : 1;
    if (x->child != y->child)
        return x->child < y->child ? -1 : 1; /* NONE is the largest id */
    if (x->is_insert != y->is_insert)
        return x->is_insert ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_edits(const void *a, const void *b)
{
    const struct wr_splice_edit *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if ((x->start == x->end) != (y->start == y->end))
        return x->start == x->end ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A walk over one container's children that collects what leaves and what comes in. Where no child
 * is kept, there is no comma left that a run could take. */
struct children_walk {
    const struct wr_splice_op *op, *ops_end;
    const struct wr_splice_op *pending; /* insertions not yet placed: [pending, pending_end) */
    const struct wr_splice_op *pending_end;
    uint32_t run_start, run_end; /* bytes of the run being removed */
    bool in_run;
    uint32_t kept_end; /* where the last kept child ends */
    bool has_kept;
};

static void place_pending(struct wr_splice *s, struct children_walk *w, uint32_t at,
                          enum edit_mode mode)
{
    bool alone = mode == MODE_RAW;
    for (const struct wr_splice_op *op = w->pending; op < w->pending_end; op++) {
        if (!op->is_insert)
            continue;
        add_edit(s, at, at, mode, op->json);
        if (alone)
            mode = MODE_COMMA_BEFORE;
    }
    w->pending = w->pending_end;
}

static void walk_child(struct wr_splice *s, struct children_walk *w, wr_json_id child,
                       uint32_t start, uint32_t end)
{
    bool leaves = false;
    for (; w->op < w->ops_end && w->op->child == child; w->op++) {
        leaves |= !w->op->is_insert;
        w->pending_end = w->op + 1;
    }
    if (leaves) {
        if (!w->in_run)
            w->run_start = start;
        w->run_end = end;
        w->in_run = true;
        return;
    }
    if (w->in_run)
        add_edit(s, w->run_start, start, MODE_RAW, (weir_span){NULL, 0});
    w->in_run = false;
    place_pending(s, w, start, MODE_COMMA_AFTER);
    w->kept_end = end;
    w->has_kept = true;
}

static void walk_end(struct wr_splice *s, struct children_walk *w, wr_json_id container)
{
    w->pending_end = w->ops_end;
    if (w->has_kept) {
        place_pending(s, w, w->kept_end, MODE_COMMA_BEFORE);
        if (w->in_run)
            add_edit(s, w->kept_end, w->run_end, MODE_RAW, (weir_span){NULL, 0});
        return;
    }
    uint32_t inside = s->doc->nodes[container].start + 1;
    place_pending(s, w, w->in_run ? w->run_start : inside, MODE_RAW);
    if (w->in_run)
        add_edit(s, w->run_start, w->run_end, MODE_RAW, (weir_span){NULL, 0});
}

static weir_status compile_container(struct wr_splice *s, const struct wr_splice_op *ops,
                                     const struct wr_splice_op *ops_end, struct weir_err *err)
{
    const struct wr_json *doc = s->doc;
    wr_json_id container = ops->container;
    struct children_walk w = {.op = ops, .ops_end = ops_end, .pending = ops, .pending_end = ops};

    for (wr_json_id id = wr_json_first(doc, container); id != WR_JSON_NONE;
         id = wr_json_next(doc, container, id)) {
        wr_json_id last = doc->nodes[id].is_key ? wr_json_value(id) : id;
        walk_child(s, &w, id, doc->nodes[id].start, doc->nodes[last].end);
    }
    if (w.op < ops_end && w.op->child != WR_JSON_NONE)
        return wr_fail(err, WEIR_INVALID, doc->nodes[w.op->child].start,
                       "an edit names a child of another value");
    walk_end(s, &w, container);
    return WEIR_OK;
}

static weir_status fail_no_memory(const struct wr_splice *s, struct weir_err *err)
{
    return wr_fail(err, s->status, 0, "%s", weir_status_text(s->status));
}

static weir_status compile_ops(struct wr_splice *s, struct weir_err *err)
{
    if (!s->ops_count)
        return WEIR_OK;
    wr_sort(s->ops, s->ops_count, sizeof(*s->ops), compare_ops);
    for (uint32_t i = 0, end; i < s->ops_count; i = end) {
        for (end = i; end < s->ops_count && s->ops[end].container == s->ops[i].container;)
            end++;
        weir_status status = compile_container(s, s->ops + i, s->ops + end, err);
        if (status)
            return status;
    }
    s->ops_count = 0;
    return s->status ? fail_no_memory(s, err) : WEIR_OK;
}

static weir_status check_overlap(const struct wr_splice *s, struct weir_err *err)
{
    for (uint32_t i = 1; i < s->edits_count; i++) {
        const struct wr_splice_edit *a = &s->edits[i - 1], *b = &s->edits[i];
        bool same_string = a->start == b->start && a->mode == MODE_ESCAPE && b->mode == MODE_ESCAPE;
        if (b->start < a->end || same_string)
            return wr_fail(err, WEIR_INVALID, b->start, "two edits overlap");
    }
    return WEIR_OK;
}

static void append_edit(struct wr_buf *out, const struct wr_splice_edit *edit)
{
    if (edit->mode == MODE_ESCAPE) {
        wr_json_escape(out, edit->text);
        return;
    }
    if (edit->mode == MODE_COMMA_BEFORE)
        wr_buf_byte(out, ',');
    wr_buf_append(out, edit->text);
    if (edit->mode == MODE_COMMA_AFTER)
        wr_buf_byte(out, ',');
}

static weir_status write_spliced(const struct wr_splice *s, struct wr_buf *out,
                                 struct weir_err *err)
{
    weir_span text = s->doc->text;
    size_t copied = 0, room = out->cap_max - out->len;

    wr_buf_reserve(out, text.len < room ? text.len : room); /* a guess: the result may be shorter */
    for (uint32_t i = 0; i < s->edits_count; i++) {
        const struct wr_splice_edit *edit = &s->edits[i];
        wr_buf_append(out, (weir_span){text.ptr + copied, edit->start - copied});
        append_edit(out, edit);
        copied = edit->end;
        if (out->status)
            return wr_fail(err, out->status, edit->start,
                           out->status == WEIR_INVALID ? "the new text is not UTF-8" : "%s",
                           weir_status_text(out->status));
    }
    wr_buf_append(out, (weir_span){text.ptr + copied, text.len - copied});
    return out->status ? wr_fail(err, out->status, copied, "%s", weir_status_text(out->status))
                       : WEIR_OK;
}

weir_status wr_splice_apply(struct wr_splice *splice, struct wr_buf *out, struct weir_err *err)
{
    if (splice->status)
        return fail_no_memory(splice, err);
    weir_status status = compile_ops(splice, err);
    if (status)
        return status;
    if (splice->edits_count)
        wr_sort(splice->edits, splice->edits_count, sizeof(*splice->edits), compare_edits);
    status = check_overlap(splice, err);
    return status ? status : write_spliced(splice, out, err);
}
