/* A document and edits of it, both made from the input: | count | edits | document |.
 *
 * Oracle: a model that knows only which node is edited, removed, or has something inserted before
 * it. It says whether the edits overlap; if they do not, the result is read again and walked beside
 * the original: edited strings say the new text, what was removed is gone, what was inserted is in
 * its place, and every value in which nothing was edited has the bytes it had. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "json/splice.h"

#define CHECK(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

enum { EDITS_MAX = 24, EDIT_BYTES = 4, MADE_DEPTH_MAX = 12, BYTES_MAX = 1 << 20 };

_Noreturn static void broken(const char *condition, int line)
{
    fprintf(stderr, "line %d: %s does not hold\n", line, condition);
    abort();
}

/* Where the input is no JSON itself, its bytes choose what to write. */
struct maker {
    const uint8_t *bytes, *bytes_end;
    struct wr_buf *out;
    bool in_object[MADE_DEPTH_MAX];
    bool has_items[MADE_DEPTH_MAX];
    uint32_t depth;
};

static const char *choose(struct maker *m, const char *const *from, size_t count)
{
    return m->bytes < m->bytes_end ? from[*m->bytes++ % count] : from[0];
}

static void make_space(struct maker *m)
{
    static const char *const spaces[] = {"", "", "", " ", "\n\t", "\r\n  "};
    wr_buf_text(m->out, choose(m, spaces, WR_COUNT_OF(spaces)));
}

static void make_string(struct maker *m)
{
    static const char *const strings[] = {
        "\"\"",
        "\"a\"",
        "\"\\n\\u00e9\"",
        "\"\xC3\xA9,]}\"",
        "\"\\ud83d\"",
        "\"\\\"\\\\\"",
        "\"\xE4\xB8\xAD\xF0\x9F\x98\x80\"",
        "\"a longer string, with commas, [brackets] and {braces}: more than a block\"",
    };
    wr_buf_text(m->out, choose(m, strings, WR_COUNT_OF(strings)));
}

static void make_open(struct maker *m, bool is_object)
{
    wr_buf_byte(m->out, is_object ? '{' : '[');
    m->in_object[m->depth] = is_object;
    m->has_items[m->depth++] = false;
}

static void make_close(struct maker *m)
{
    make_space(m);
    wr_buf_byte(m->out, m->in_object[--m->depth] ? '}' : ']');
}

static void make_before_item(struct maker *m)
{
    uint32_t level = m->depth - 1;
    if (m->has_items[level]) {
        make_space(m);
        wr_buf_byte(m->out, ',');
    }
    m->has_items[level] = true;
    make_space(m);
    if (m->in_object[level]) {
        make_string(m);
        make_space(m);
        wr_buf_byte(m->out, ':');
        make_space(m);
    }
}

static void make_item(struct maker *m)
{
    static const char *const words[] = {"null", "true",     "false",
                                        "0",    "-1.50e+3", "12345678901234567890"};
    uint8_t what = *m->bytes++ % 8;

    if (what == 0) {
        make_close(m);
        return;
    }
    make_before_item(m);
    if (what <= 2 && m->depth < MADE_DEPTH_MAX)
        make_open(m, what == 1);
    else if (what <= 5)
        make_string(m);
    else
        wr_buf_text(m->out, choose(m, words, WR_COUNT_OF(words)));
}

static void make_document(struct wr_buf *out, const uint8_t *bytes, size_t len)
{
    struct maker m = {.bytes = bytes, .bytes_end = bytes + len, .out = out};
    make_open(&m, len && bytes[0] & 1);
    while (m.depth && m.bytes < m.bytes_end)
        make_item(&m);
    while (m.depth)
        make_close(&m);
}

enum verb { SET, REMOVE, INSERT };

struct edit {
    enum verb verb;
    wr_json_id container, node; /* node NONE: behind the last */
    weir_span text;             /* what a string shall say, or a value */
};

struct model {
    struct wr_json doc;
    struct wr_arena arena;
    wr_json_id *parents;
    bool *touched; /* an edit is inside */
    bool *removed;
    const struct edit **set;
    struct edit edits[EDITS_MAX];
    size_t edits_count;
};

static void find_parents(struct model *m)
{
    m->parents[0] = WR_JSON_NONE;
    for (wr_json_id container = 0; container < m->doc.nodes_count; container++)
        for (wr_json_id id = wr_json_first(&m->doc, container); id != WR_JSON_NONE;
             id = wr_json_next(&m->doc, container, id)) {
            m->parents[id] = container;
            if (m->doc.nodes[id].is_key)
                m->parents[wr_json_value(id)] = container;
        }
}

static const weir_span texts[] = {
    {"", 0},
    {"plain", 5},
    {"\"quoted\" \\ and\n\x01", 16},
    {"\xC3\xA9\xF0\x9F\x98\x80", 6},
    {"\xED\xA0\xBD lone", 8},
    {"]},{[,\":", 8},
    {"not UTF-8: \xC3", 12},
};
static const char *const fragments[] = {"7", "\"new\"", "[ 1 , {} ]", "{\"x\" : null}"};

static bool is_child(const struct model *m, wr_json_id id)
{
    return id && (m->doc.nodes[id].is_key || m->doc.nodes[m->parents[id]].kind == WR_JSON_ARRAY);
}

static wr_json_id nearest(const struct model *m, wr_json_id from,
                          bool fits(const struct model *, wr_json_id))
{
    for (uint32_t i = 0; i < m->doc.nodes_count; i++) {
        wr_json_id id = (from + i) % m->doc.nodes_count;
        if (fits(m, id))
            return id;
    }
    return WR_JSON_NONE;
}

static bool is_string(const struct model *m, wr_json_id id)
{
    return m->doc.nodes[id].kind == WR_JSON_STRING;
}

static bool is_container(const struct model *m, wr_json_id id)
{
    return m->doc.nodes[id].kind >= WR_JSON_ARRAY;
}

/* Four bytes of input are one edit, of the nearest node that can have it. */
static void add_edit(struct model *m, const uint8_t bytes[EDIT_BYTES])
{
    wr_json_id from = (wr_json_id)(bytes[1] | bytes[2] << 8) % m->doc.nodes_count;
    struct edit edit = {.verb = bytes[0] % 3,
                        .text = wr_span_of(fragments[bytes[3] % WR_COUNT_OF(fragments)])};

    if (edit.verb == SET) {
        edit.node = nearest(m, from, is_string);
        edit.text = texts[bytes[3] % WR_COUNT_OF(texts)];
    } else if (edit.verb == REMOVE || bytes[0] & 0x80) {
        edit.node = nearest(m, from, is_child);
        edit.container = edit.node == WR_JSON_NONE ? WR_JSON_NONE : m->parents[edit.node];
    } else {
        edit.node = WR_JSON_NONE;
        edit.container = nearest(m, from, is_container);
    }
    if (edit.verb != SET && edit.container == WR_JSON_NONE)
        return;
    if (edit.verb != INSERT && edit.node == WR_JSON_NONE)
        return;
    m->edits[m->edits_count++] = edit;
}

static bool is_inside_removed(const struct model *m, wr_json_id id)
{
    for (; id != WR_JSON_NONE; id = m->parents[id])
        if (m->removed[id])
            return true;
    return false;
}

static void touch(struct model *m, wr_json_id id)
{
    for (; id != WR_JSON_NONE; id = m->parents[id])
        m->touched[id] = true;
}

/* Fills the model; false where no order of applying the edits would be right. */
static bool model_edits(struct model *m)
{
    bool ok = true;

    for (size_t i = 0; i < m->edits_count; i++) {
        const struct edit *edit = &m->edits[i];
        touch(m, edit->verb == SET ? edit->node : edit->container);
        if (edit->verb != REMOVE)
            continue;
        m->removed[edit->node] = true;
        if (m->doc.nodes[edit->node].is_key)
            m->removed[wr_json_value(edit->node)] = true;
    }
    for (size_t i = 0; i < m->edits_count; i++) {
        const struct edit *edit = &m->edits[i];
        ok &= !is_inside_removed(m, edit->verb == SET ? edit->node : edit->container);
        if (edit->verb != SET)
            continue;
        ok &= !m->set[edit->node] && wr_utf8_check(edit->text, true) == edit->text.len;
        m->set[edit->node] = edit;
    }
    return ok;
}

/* A member is inserted with its key. */
static weir_span fragment_of(struct model *m, const struct edit *edit)
{
    struct wr_buf buf;
    if (m->doc.nodes[edit->container].kind == WR_JSON_ARRAY)
        return edit->text;
    wr_buf_init(&buf, BYTES_MAX);
    wr_buf_text(&buf, "\"key\" :");
    wr_buf_append(&buf, edit->text);
    weir_span copy = wr_arena_copy(&m->arena, wr_buf_view(&buf));
    wr_buf_release(&buf);
    return copy;
}

static void collect(struct model *m, struct wr_splice *splice)
{
    wr_splice_init(splice, &m->doc, &m->arena);
    for (size_t i = 0; i < m->edits_count; i++) {
        const struct edit *edit = &m->edits[i];
        if (edit->verb == SET)
            wr_splice_set_text(splice, edit->node, edit->text);
        else if (edit->verb == REMOVE)
            wr_splice_remove(splice, edit->container, edit->node);
        else
            wr_splice_insert(splice, edit->container, edit->node, fragment_of(m, edit));
    }
}

/* One container of the original beside what it became. */
struct pair {
    wr_json_id before, after;
    wr_json_id before_child, after_child;
};

struct comparison {
    struct model *m;
    const struct wr_json *result;
    struct pair open[WR_JSON_DEPTH_MAX];
    uint32_t depth;
};

static void compare_node(struct comparison *c, wr_json_id before, wr_json_id after)
{
    const struct wr_json *doc = &c->m->doc;

    if (!c->m->touched[before]) {
        CHECK(wr_span_eq(wr_json_raw(doc, before), wr_json_raw(c->result, after)));
    } else if (c->m->set[before]) {
        CHECK(wr_json_is(c->result, after, WR_JSON_STRING));
        CHECK(wr_span_eq(wr_json_text(c->result, &c->m->arena, after), c->m->set[before]->text));
    } else {
        CHECK(wr_json_kind(doc, before) == wr_json_kind(c->result, after));
        c->open[c->depth++] = (struct pair){before, after, wr_json_first(doc, before),
                                            wr_json_first(c->result, after)};
    }
}

static wr_json_id take_child(const struct comparison *c, struct pair *pair)
{
    wr_json_id child = pair->after_child;
    CHECK(child != WR_JSON_NONE);
    pair->after_child = wr_json_next(c->result, pair->after, child);
    return child;
}

static void compare_inserted(const struct comparison *c, struct pair *pair)
{
    for (size_t i = 0; i < c->m->edits_count; i++) {
        const struct edit *edit = &c->m->edits[i];
        if (edit->verb != INSERT || edit->container != pair->before ||
            edit->node != pair->before_child)
            continue;
        wr_json_id child = take_child(c, pair);
        if (c->result->nodes[child].is_key) {
            CHECK(wr_json_text_is(c->result, child, "key"));
            child = wr_json_value(child);
        }
        CHECK(wr_span_eq(wr_json_raw(c->result, child), edit->text));
    }
}

/* Compares up to one child of the innermost open pair. */
static void compare_step(struct comparison *c)
{
    struct pair *pair = &c->open[c->depth - 1];
    wr_json_id child = pair->before_child;

    compare_inserted(c, pair);
    if (child == WR_JSON_NONE) {
        CHECK(pair->after_child == WR_JSON_NONE);
        c->depth--;
        return;
    }
    pair->before_child = wr_json_next(&c->m->doc, pair->before, child);
    if (c->m->removed[child])
        return;
    wr_json_id after = take_child(c, pair);
    if (c->m->doc.nodes[child].is_key) {
        CHECK(c->result->nodes[after].is_key);
        compare_node(c, child, after);
        child = wr_json_value(child);
        after = wr_json_value(after);
    }
    compare_node(c, child, after);
}

/* Where only strings were edited, every byte between them is what it was. */
static void compare_between(const struct model *m, const struct wr_json *result)
{
    size_t before = 0, after = 0;

    for (size_t i = 0; i < m->edits_count; i++)
        if (m->edits[i].verb != SET)
            return;
    CHECK(m->doc.nodes_count == result->nodes_count);
    for (uint32_t i = 0; i < m->doc.nodes_count; i++) {
        if (!m->set[i])
            continue;
        CHECK(wr_span_eq(wr_span_cut(m->doc.text, before, m->doc.nodes[i].start),
                         wr_span_cut(result->text, after, result->nodes[i].start)));
        before = m->doc.nodes[i].end;
        after = result->nodes[i].end;
    }
    CHECK(wr_span_eq(wr_span_cut(m->doc.text, before, m->doc.text.len),
                     wr_span_cut(result->text, after, result->text.len)));
}

static void check_splice(struct model *m)
{
    struct wr_splice splice;
    struct wr_buf out;
    struct wr_json result;
    struct weir_err err = {0};
    bool ok = model_edits(m);

    wr_buf_init(&out, BYTES_MAX);
    collect(m, &splice);
    weir_status status = wr_splice_apply(&splice, &out, &err);
    CHECK(status == (ok ? WEIR_OK : WEIR_INVALID) && err.code == status);
    if (ok) {
        CHECK(wr_json_parse(&result, &m->arena, wr_buf_view(&out), NULL, &err) == WEIR_OK);
        struct comparison c = {.m = m, .result = &result};
        compare_node(&c, 0, 0);
        while (c.depth)
            compare_step(&c);
        compare_between(m, &result);
    }
    wr_buf_release(&out);
}

static bool read_document(struct model *m, struct wr_buf *made, weir_span text)
{
    /* Three levels are left for what is inserted. */
    const struct wr_json_options options = {.depth_max = WR_JSON_DEPTH_MAX - 3};
    if (!wr_json_parse(&m->doc, &m->arena, text, &options, NULL))
        return true;
    make_document(made, (const uint8_t *)text.ptr, text.len);
    return !wr_json_parse(&m->doc, &m->arena, wr_buf_view(made), &options, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct model m = {0};
    struct wr_buf made;
    size_t edits = len ? bytes[0] % (EDITS_MAX + 1u) : 0;

    if (len < 1 + edits * EDIT_BYTES)
        return 0;
    const uint8_t *text = bytes + 1 + edits * EDIT_BYTES;
    wr_arena_init(&m.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&made, BYTES_MAX);
    CHECK(read_document(&m, &made, (weir_span){(const char *)text, len - 1 - edits * EDIT_BYTES}));
    m.parents = WR_ARENA_ARRAY(&m.arena, wr_json_id, m.doc.nodes_count);
    m.touched = WR_ARENA_ARRAY(&m.arena, bool, m.doc.nodes_count);
    m.removed = WR_ARENA_ARRAY(&m.arena, bool, m.doc.nodes_count);
    m.set = WR_ARENA_ARRAY(&m.arena, const struct edit *, m.doc.nodes_count);
    CHECK(m.parents && m.touched && m.removed && m.set);
    find_parents(&m);
    for (size_t i = 0; i < edits; i++)
        add_edit(&m, bytes + 1 + i * EDIT_BYTES);
    check_splice(&m);
    wr_buf_release(&made);
    wr_arena_release(&m.arena);
    return 0;
}
