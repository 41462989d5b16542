/* A request and changes of it, both made from the input: | flags | count | changes | request |.
 *
 * Oracle: a model that knows which nodes the changes that stand are about, and writes original and
 * result down without white space and cache markers: the two must read the same. Pairing is checked
 * by a reader of its own; markers may move but not multiply, but for the one a plan may add, which
 * never costs the changes their place; where nothing stands, or the structure
 * failed, the result is the input; new texts alone never fail the structure; and carrying out the
 * plan again gives the same.
 *
 * The same request is also run under a policy in a window that it hardly fits in, with a store or
 * without one, by a model that binds its thinking or one that does not: pairs stay pairs, the
 * user's newest words stay, every handle that leaves is that of an original, nothing leaves for the
 * operator without a store or where a recall tool is there, and a second run gives the same. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/lawful.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/cache_marker.h"
#include "engine/run.h"
#include "fuzz/policy_check.h"
#include "fuzz/project_pieces.h"

#define CHECK(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

enum { CHANGES_MAX = 16, CHANGE_BYTES = 4, SEGMENTS_MAX = 512, IDS_MAX = 512, BYTES_MAX = 1 << 22 };

_Noreturn static void broken(const char *condition, int line)
{
    fprintf(stderr, "line %d: %s does not hold\n", line, condition);
    abort();
}

/* ---- a request made from bytes: pieces of messages, lawful or not ---- */

struct maker {
    const uint8_t *bytes, *bytes_end;
    struct wr_buf *out;
    bool has_items;
};

static uint8_t take(struct maker *m)
{
    return m->bytes < m->bytes_end ? *m->bytes++ : 0;
}

static const char *choose(struct maker *m, const char *const *from, size_t count)
{
    return from[take(m) % count];
}

#define TEXTS                                                                                    \
    "", "one", "two\\nlines", "\\ud83d alone", "[steering] go on", "caf\xC3\xA9", " ",           \
        "src/a.c:3:1: error: unknown\\nmake: *** [a.o] Error 1\\nand some more words behind it", \
        "a line that is long enough that nobody says it twice by mere chance\\nthe end"
#define MARKS                                                                               \
    "", "", "", ",\"cache_control\":{\"type\":\"ephemeral\"}", " , \"cache_control\":null", \
        ",\"prompt_cache_breakpoint\" : {\"mode\":\"explicit\"}",                           \
        ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"
#define IDS "a", "b", "c", "d", ""

static const char *const texts[] = {TEXTS};
static const char *const marks[] = {MARKS};
static const char *const ids[] = {IDS};

/* Text goes in where a piece has $T, an id for $I, a marker for $M. */
static void make_piece(struct maker *m, const char *piece)
{
    for (; *piece; piece++) {
        if (*piece != '$')
            wr_buf_byte(m->out, *piece);
        else if (*++piece == 'T')
            wr_buf_text(m->out, choose(m, texts, WR_COUNT_OF(texts)));
        else if (*piece == 'I')
            wr_buf_text(m->out, choose(m, ids, WR_COUNT_OF(ids)));
        else
            wr_buf_text(m->out, choose(m, marks, WR_COUNT_OF(marks)));
    }
}

static const struct {
    const char *dialect, *start;
    const char *const *pieces;
    size_t pieces_count;
} shapes[] = {
    {"chat", "{\"model\":\"m\", \"temperature\" : 1.50,\"tools\":[{}],\"messages\" : [",
     chat_messages, WR_COUNT_OF(chat_messages)},
    {"responses", " {\"instructions\":\"i\",\"input\":[", response_items,
     WR_COUNT_OF(response_items)},
    {"messages",
     "{\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_control\":{\"type\":\"ephemeral\"}}],"
     "\"messages\":[",
     messages_messages, WR_COUNT_OF(messages_messages)},
    {"gemini",
     "{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"tools\":[{\"functionDeclarations\":["
     "{\"name\":\"weir_recall\"}]}],\"contents\":[",
     gemini_contents, WR_COUNT_OF(gemini_contents)},
};

/* By a bit of its own, so that what was found with three shapes is still found. */
enum { SHAPES_BY_REST = 3, GEMINI_BIT = 0x40 };

static void make_request(struct wr_buf *out, size_t shape, const uint8_t *bytes, size_t len)
{
    static const char *const commas[] = {",", ",", " , ", ",\n\t"};
    struct maker m = {bytes, bytes + len, out, false};

    wr_buf_text(out, shapes[shape].start);
    while (m.bytes < m.bytes_end) {
        if (m.has_items)
            wr_buf_text(out, choose(&m, commas, WR_COUNT_OF(commas)));
        make_piece(&m, choose(&m, shapes[shape].pieces, shapes[shape].pieces_count));
        m.has_items = true;
    }
    wr_buf_text(out, " ] , \"stream\":true}\n");
}

/* ---- changes made from bytes, and the model of those that stand ---- */

struct model {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_plan plan;
    bool *removed;         /* by node */
    const weir_span **set; /* by node: what a string says now */
    bool *dropped;         /* by segment */
    bool has_only_text;    /* nothing comes or leaves: every other byte stays */
    bool places_marker;    /* as a run places one */
};

static const weir_span new_texts[] = {
    {"", 0},
    {"x", 1},
    {"two\nlines", 9},
    {"\"quoted\" \\ \x01", 12},
    {"\xC3\xA9\xF0\x9F\x98\x80", 6},
    {"half \xED\xA0\xBD", 8},
    {"\xED\xA0\xBD\xED\xB8\x80", 6},
    {"bad \xFF", 5},
    {"src/a.c:3:1: error: unknown", 27},
    {" ", 1},
};

static wr_json_id nth_message(const struct model *m, uint32_t number)
{
    wr_json_id list = m->transcript.list, id = wr_json_first(&m->doc, list);
    while (number-- && id != WR_JSON_NONE)
        id = wr_json_next(&m->doc, list, id);
    return id;
}

static weir_status add_insert(struct model *m, size_t shape, const uint8_t bytes[CHANGE_BYTES])
{
    static const char *const wrong[] = {"", "{", "1,2", " {} ", "\"text\""};
    struct wr_buf json;
    struct maker maker = {bytes + 1, bytes + CHANGE_BYTES, &json, false};

    wr_buf_init(&json, BYTES_MAX);
    if (bytes[3] % 8 == 0)
        wr_buf_text(&json, wrong[bytes[2] % WR_COUNT_OF(wrong)]);
    else
        make_piece(&maker, shapes[shape].pieces[bytes[2] % shapes[shape].pieces_count]);
    weir_span copy = wr_arena_copy(&m->arena, wr_buf_view(&json));
    wr_buf_release(&json);
    /* Now and then before something that is no message. */
    wr_json_id before = bytes[3] % 8 == 1 ? bytes[1] : nth_message(m, bytes[1] % 16);
    return wr_plan_insert(&m->plan, before, copy, NULL);
}

/* One like a marker of the request, or like something that is none. */
static weir_status add_marker(struct model *m, uint32_t segment, const uint8_t bytes[CHANGE_BYTES])
{
    uint32_t number = bytes[2] % (m->transcript.segments_count + 1);
    bool was_made = m->plan.marker.is_made;
    wr_json_id like = number == m->transcript.segments_count
                          ? wr_find_marker(&m->doc, 0)
                          : m->transcript.segments[number].marker;
    if (bytes[3] % 16 == 15)
        like = bytes[2];
    weir_status status = wr_plan_mark(&m->plan, segment, like, NULL);
    CHECK(m->plan.marker.is_made == (was_made || !status));
    return status;
}

/* Four bytes of input are one change; what a plan refuses it must refuse without a trace. */
static void add_change(struct model *m, size_t shape, const uint8_t bytes[CHANGE_BYTES])
{
    uint32_t segment = bytes[1] % (m->transcript.segments_count + 1);
    uint32_t changes = m->plan.changes_count, inserts = m->plan.inserts_count;
    struct wr_change change = {.segment = segment,
                               .form = (enum wr_form)(1 + (bytes[0] >> 3) % WR_FORM_DROPPED),
                               .text = new_texts[bytes[2] % WR_COUNT_OF(new_texts)],
                               .bytes_max = bytes[3] & 1 ? bytes[3] >> 4 : 0,
                               .refers_to = WR_SEGMENT_NONE};
    weir_status status;

    if (bytes[0] % 8 == 0)
        status = wr_plan_drop(&m->plan, segment, NULL);
    else if (bytes[0] % 8 == 1)
        status = wr_plan_drop_thinking(&m->plan, segment, NULL);
    else if (bytes[0] % 8 == 2)
        status = add_insert(m, shape, bytes);
    else if (bytes[0] % 8 == 7 && bytes[3] % 4 == 3)
        status = add_marker(m, segment, bytes);
    else {
        if (bytes[0] % 8 == 3)
            change.refers_to = bytes[3] % (m->transcript.segments_count + 2);
        status = wr_plan_set(&m->plan, &change, NULL);
    }
    CHECK(status == WEIR_OK || status == WEIR_INVALID);
    CHECK(!status || (changes == m->plan.changes_count && inserts == m->plan.inserts_count));
}

/* The element of `array` that holds the node `part`. */
static wr_json_id element_around(const struct wr_json *doc, wr_json_id array, wr_json_id part)
{
    for (wr_json_id id = wr_json_first(doc, array); id != WR_JSON_NONE;
         id = wr_json_next(doc, array, id))
        if (part >= id && part < doc->nodes[id].after)
            return id;
    return WR_JSON_NONE;
}

static void model_text(struct model *m, const struct wr_change *change)
{
    static const weir_span nothing = {"", 0};
    const struct wr_segment *s = &m->transcript.segments[change->segment];

    CHECK(s->parts_count > 0);
    m->set[s->parts[0]] = &change->text;
    for (uint32_t i = 1; i < s->parts_count; i++) {
        bool is_list = wr_json_is(&m->doc, s->payload, WR_JSON_ARRAY);
        wr_json_id block =
            is_list ? element_around(&m->doc, s->payload, s->parts[i]) : WR_JSON_NONE;
        CHECK(!is_list || block != WR_JSON_NONE);
        bool is_text_block = is_list && wr_json_find(&m->doc, block, "text") == s->parts[i];
        m->has_only_text &= !is_text_block;
        if (is_text_block)
            m->removed[block] = true;
        else
            m->set[s->parts[i]] = &nothing;
    }
}

/* A message leaves when everything of it does; else its blocks do. */
static void model_drop(struct model *m, uint32_t segment)
{
    const struct wr_segment *segments = m->transcript.segments;
    bool all = true;

    for (uint32_t i = 0; i < m->transcript.segments_count; i++)
        if (segments[i].message == segments[segment].message)
            all &= m->dropped[i];
    m->removed[all ? segments[segment].message : segments[segment].element] = true;
    m->has_only_text = false;
}

static void model_changes(struct model *m)
{
    m->has_only_text = !m->plan.inserts_count && !m->plan.marker.is_standing;
    for (uint32_t i = 0; i < m->plan.changes_count; i++) {
        const struct wr_change *change = &m->plan.changes[i];
        if (!change->is_rolled_back && change->form == WR_FORM_DROPPED)
            m->dropped[change->segment] = true;
        else if (!change->is_rolled_back)
            model_text(m, change);
    }
    for (uint32_t i = 0; i < m->transcript.segments_count; i++)
        if (m->dropped[i])
            model_drop(m, i);
}

/* ---- both documents written down without white space, commas and cache markers ---- */

static bool is_marker(const struct wr_json *doc, wr_json_id id)
{
    return doc->nodes[id].is_key && wr_json_is(doc, wr_json_value(id), WR_JSON_OBJECT) &&
           (wr_json_text_is(doc, id, "cache_control") ||
            wr_json_text_is(doc, id, "prompt_cache_breakpoint"));
}

struct writer {
    struct wr_buf *out;
    struct model *model; /* NULL: as it stands */
    const struct wr_json *doc;
    wr_json_id open[WR_JSON_DEPTH_MAX];
    uint32_t depth;
};

static void write_document(struct wr_buf *out, const struct wr_json *doc, struct model *model);

static void write_inserts(struct writer *w, wr_json_id container, wr_json_id before)
{
    if (!w->model || container != w->model->transcript.list)
        return;
    for (uint32_t i = 0; i < w->model->plan.inserts_count; i++) {
        const struct wr_insert *insert = &w->model->plan.inserts[i];
        struct wr_json doc;
        if (insert->before != before)
            continue;
        CHECK(!wr_json_parse(&doc, &w->model->arena, insert->json, NULL, NULL));
        write_document(w->out, &doc, NULL);
    }
}

static void write_close(struct writer *w, wr_json_id id)
{
    while (w->depth && w->doc->nodes[w->open[w->depth - 1]].after <= id) {
        wr_json_id closed = w->open[--w->depth];
        write_inserts(w, closed, WR_JSON_NONE);
        wr_buf_byte(w->out, wr_json_kind(w->doc, closed) == WR_JSON_ARRAY ? ']' : '}');
    }
}

static void write_node(struct writer *w, wr_json_id id)
{
    if (wr_json_kind(w->doc, id) >= WR_JSON_ARRAY) {
        wr_buf_byte(w->out, wr_json_kind(w->doc, id) == WR_JSON_ARRAY ? '[' : '{');
        w->open[w->depth++] = id;
    } else if (w->model && w->model->set[id]) {
        wr_buf_byte(w->out, '"');
        wr_json_escape(w->out, *w->model->set[id]);
        wr_buf_byte(w->out, '"');
    } else {
        wr_buf_append(w->out, wr_json_raw(w->doc, id));
    }
    wr_buf_byte(w->out, '\n');
}

static void write_document(struct wr_buf *out, const struct wr_json *doc, struct model *model)
{
    struct writer w = {.out = out, .model = model, .doc = doc};
    wr_json_id id = 0;

    while (id < doc->nodes_count) {
        write_close(&w, id);
        if (w.depth)
            write_inserts(&w, w.open[w.depth - 1], id);
        if (is_marker(doc, id)) {
            id = doc->nodes[wr_json_value(id)].after;
        } else if (model && model->removed[id]) {
            id = doc->nodes[id].after;
        } else {
            write_node(&w, id);
            id++;
        }
    }
    write_close(&w, id);
}

static void check_values(struct model *m, const struct wr_json *after)
{
    struct wr_buf expected, found;
    wr_buf_init(&expected, BYTES_MAX);
    wr_buf_init(&found, BYTES_MAX);
    write_document(&expected, &m->doc, m);
    write_document(&found, after, NULL);
    CHECK(!wr_buf_status(&expected) && !wr_buf_status(&found));
    CHECK(wr_span_eq(wr_buf_view(&expected), wr_buf_view(&found)));
    wr_buf_release(&expected);
    wr_buf_release(&found);
}

/* Where only strings changed, every byte beside them is what it was. */
static void check_bytes(struct model *m, weir_span result)
{
    struct wr_buf expected;
    size_t copied = 0;

    wr_buf_init(&expected, BYTES_MAX);
    for (wr_json_id id = 0; id < m->doc.nodes_count; id++) {
        if (!m->set[id])
            continue;
        wr_buf_append(&expected, wr_span_cut(m->doc.text, copied, m->doc.nodes[id].start + 1));
        wr_json_escape(&expected, *m->set[id]);
        copied = m->doc.nodes[id].end - 1;
    }
    wr_buf_append(&expected, wr_span_cut(m->doc.text, copied, m->doc.text.len));
    CHECK(wr_span_eq(wr_buf_view(&expected), result));
    wr_buf_release(&expected);
}

/* ---- markers and pairs, read by other means ---- */

static uint32_t count_markers(const struct wr_json *doc)
{
    uint32_t count = 0;
    for (wr_json_id id = 0; id < doc->nodes_count; id++)
        count += is_marker(doc, id);
    return count;
}

/* Objects that have a marker's key twice. */
static uint32_t count_doubled(const struct wr_json *doc)
{
    static const char *const names[] = {"cache_control", "prompt_cache_breakpoint"};
    uint32_t count = 0;
    for (wr_json_id id = 0; id < doc->nodes_count; id++) {
        wr_json_id values[WR_COUNT_OF(names)];
        count += !wr_json_pick(doc, id, names, WR_COUNT_OF(names), values);
    }
    return count;
}

static void check_markers(const struct model *m, const struct wr_json *after)
{
    uint32_t before_count = count_markers(&m->doc), after_count = count_markers(after);
    if (!m->plan.inserts_count)
        CHECK(count_doubled(after) <= count_doubled(&m->doc));
    if (!m->plan.inserts_count)
        CHECK(after_count <= before_count + m->plan.marker.is_standing);
    CHECK(after_count <= before_count || after_count <= WR_CACHE_MARKERS_MAX);
}

struct pairs {
    struct {
        weir_span id;
        bool is_result, is_paired;
    } items[IDS_MAX];
    size_t count;
    bool is_vague; /* a result may be of a call without an id, too */
};

static void add_id(struct pairs *p, const struct wr_json *doc, wr_json_id id, bool is_result)
{
    if (!wr_json_is(doc, id, WR_JSON_STRING) || !wr_json_inner(doc, id).len || p->count == IDS_MAX)
        return;
    p->items[p->count].id = wr_json_inner(doc, id);
    p->items[p->count].is_result = is_result;
    p->items[p->count++].is_paired = false;
}

static bool pair_with(struct pairs *p, size_t result, size_t call)
{
    if (p->items[call].is_result || !wr_span_eq(p->items[call].id, p->items[result].id))
        return false;
    p->items[call].is_paired = p->items[result].is_paired = true;
    return true;
}

/* A result answers the nearest call before it; where order does not matter, one that is left
 * answers a call that is left. */
static void find_pairs(struct pairs *p, bool is_anywhere)
{
    for (size_t r = 0; r < p->count; r++)
        for (size_t c = r; p->items[r].is_result && c-- > 0;)
            if (pair_with(p, r, c))
                break;
    for (size_t r = 0; r < p->count && is_anywhere; r++)
        for (size_t c = r; p->items[r].is_result && !p->items[r].is_paired && c < p->count; c++)
            if (!p->items[c].is_paired && pair_with(p, r, c))
                break;
}

static bool has_unique_keys(const struct wr_json *doc, wr_json_id object)
{
    static const char *const names[] = {"role",    "content",    "type",         "id",
                                        "call_id", "tool_calls", "tool_call_id", "tool_use_id",
                                        "output",  "text"};
    wr_json_id values[WR_COUNT_OF(names)];
    return wr_json_pick(doc, object, names, WR_COUNT_OF(names), values);
}

static void read_chat_pairs(struct pairs *p, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id role = wr_json_find(doc, message, "role"),
               calls = wr_json_find(doc, message, "tool_calls");
    if (wr_json_text_is(doc, role, "tool"))
        add_id(p, doc, wr_json_find(doc, message, "tool_call_id"), true);
    if (!wr_json_text_is(doc, role, "assistant") || !wr_json_is(doc, calls, WR_JSON_ARRAY))
        return;
    for (wr_json_id call = wr_json_first(doc, calls); call != WR_JSON_NONE;
         call = wr_json_next(doc, calls, call))
        add_id(p, doc, wr_json_find(doc, call, "id"), false);
}

static void read_messages_pairs(struct pairs *p, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id blocks = wr_json_find(doc, message, "content");
    if (!wr_json_is(doc, blocks, WR_JSON_ARRAY))
        return;
    for (wr_json_id b = wr_json_first(doc, blocks); b != WR_JSON_NONE;
         b = wr_json_next(doc, blocks, b)) {
        wr_json_id type = wr_json_find(doc, b, "type");
        if (!has_unique_keys(doc, b))
            continue;
        if (wr_json_text_is(doc, type, "tool_use"))
            add_id(p, doc, wr_json_find(doc, b, "id"), false);
        else if (wr_json_text_is(doc, type, "tool_result"))
            add_id(p, doc, wr_json_find(doc, b, "tool_use_id"), true);
    }
}

static void read_response_pairs(struct pairs *p, const struct wr_json *doc, wr_json_id item)
{
    static const char *const types[][2] = {{"function_call", "function_call_output"},
                                           {"custom_tool_call", "custom_tool_call_output"},
                                           {"shell_call", "shell_call_output"},
                                           {"apply_patch_call", "apply_patch_call_output"},
                                           {"computer_call", "computer_call_output"}};
    wr_json_id type = wr_json_find(doc, item, "type"), id = wr_json_find(doc, item, "call_id");

    for (size_t i = 0; i < WR_COUNT_OF(types); i++)
        if (wr_json_text_is(doc, type, types[i][0]) || wr_json_text_is(doc, type, types[i][1]))
            add_id(p, doc, id, wr_json_text_is(doc, type, types[i][1]));
}

static void read_gemini_pairs(struct pairs *p, const struct wr_json *doc, wr_json_id content)
{
    wr_json_id parts = wr_json_find(doc, content, "parts");
    bool is_models = wr_json_text_is(doc, wr_json_find(doc, content, "role"), "model");

    if (!wr_json_is(doc, parts, WR_JSON_ARRAY))
        return;
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        wr_json_id given = wr_json_find(doc, part, is_models ? "functionCall" : "functionResponse");
        wr_json_id id = wr_json_find(doc, given, "id");
        bool is_glob = wr_json_text_is(doc, wr_json_find(doc, given, "name"), "glob");
        bool has_id = wr_json_is(doc, id, WR_JSON_STRING) && wr_json_inner(doc, id).len;
        p->is_vague |= given != WR_JSON_NONE && is_glob == has_id;
        add_id(p, doc, id, !is_models);
    }
}

static void read_pairs(struct pairs *p, const struct wr_json *doc, weir_dialect dialect)
{
    wr_json_id list = wr_json_find(doc, 0, wr_api_of(dialect)->list_key);
    p->count = 0;
    p->is_vague = false;
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id m = wr_json_first(doc, list); m != WR_JSON_NONE;
         m = wr_json_next(doc, list, m)) {
        if (!has_unique_keys(doc, m))
            continue;
        if (dialect == WEIR_DIALECT_CHAT)
            read_chat_pairs(p, doc, m);
        else if (dialect == WEIR_DIALECT_MESSAGES)
            read_messages_pairs(p, doc, m);
        else if (dialect == WEIR_DIALECT_GEMINI)
            read_gemini_pairs(p, doc, m);
        else
            read_response_pairs(p, doc, m);
    }
    find_pairs(p, dialect == WEIR_DIALECT_RESPONSES);
}

static size_t count_alone(const struct pairs *p, weir_span id, bool is_result)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += !p->items[i].is_paired && p->items[i].is_result == is_result &&
                 wr_span_eq(p->items[i].id, id);
    return count;
}

static size_t count_calls(const struct pairs *p, weir_span id)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += !p->items[i].is_result && wr_span_eq(p->items[i].id, id);
    return count;
}

/* Nothing stands alone that did not stand alone before. Where a result may stand before its call,
 * two calls of one id leave open which is meant. */
static void check_pairs(const struct model *m, const struct wr_json *after)
{
    static struct pairs old, new;
    read_pairs(&old, &m->doc, m->transcript.dialect);
    read_pairs(&new, after, m->transcript.dialect);
    if (old.is_vague)
        return;
    for (size_t i = 0; i < new.count; i++) {
        weir_span id = new.items[i].id;
        bool is_result = new.items[i].is_result;
        if (m->transcript.dialect == WEIR_DIALECT_RESPONSES && count_calls(&old, id) > 1)
            continue;
        CHECK(new.items[i].is_paired ||
              count_alone(&new, id, is_result) <= count_alone(&old, id, is_result));
    }
}

/* ---- one plan, carried out ---- */

static void check_result(struct model *m, const struct wr_settled *found)
{
    struct wr_json after;
    CHECK(!wr_json_parse(&after, &m->arena, found->body, NULL, NULL));
    model_changes(m);
    check_values(m, &after);
    if (m->has_only_text)
        check_bytes(m, found->body);
    check_markers(m, &after);
    check_pairs(m, &after);
}

static void check_report(const struct model *m, const struct wr_settled *found)
{
    uint32_t rolled_back = 0;
    bool has_structure = m->plan.inserts_made_count > 0;
    for (uint32_t i = 0; i < m->plan.changes_count; i++) {
        has_structure |= m->plan.changes[i].form == WR_FORM_DROPPED;
        rolled_back += m->plan.changes[i].is_rolled_back;
        CHECK(m->plan.changes[i].is_rolled_back == (m->plan.changes[i].reason != NULL));
        CHECK(!found->is_fallback || m->plan.changes[i].is_rolled_back);
    }
    CHECK(!found->is_fallback || !m->plan.marker.is_standing);
    CHECK(rolled_back == found->rolled_back_count);
    /* A text costs no more than itself. But Gemini's calls often have no ids: where the agent's own
     * results stand away from their calls, an edit of one is blamed for that, and all goes as it
     * came. */
    CHECK(has_structure || !found->is_fallback || m->transcript.dialect == WEIR_DIALECT_GEMINI);
    CHECK(found->first.found == (rolled_back || found->is_fallback));
    CHECK(!found->is_fallback || found->body.ptr == m->doc.text.ptr);
    CHECK(!wr_plan_is_empty(&m->plan) || found->body.ptr == m->doc.text.ptr);
    CHECK(found->body.ptr != m->doc.text.ptr || found->body.len == m->doc.text.len);
}

/* A marker that was placed is enough: the result, of which no step is known, gets no second. A text
 * that was empty and is no more may take one. */
static void check_settled(struct model *m, const struct wr_settled *found)
{
    struct wr_api_options reading = {.dialect = weir_dialect_name(m->transcript.dialect)};
    struct wr_transcript transcript;
    struct wr_plan plan;
    struct wr_json doc;

    for (uint32_t i = 0; i < m->plan.changes_count; i++)
        if (m->plan.changes[i].form != WR_FORM_DROPPED)
            return;
    if (!m->plan.marker.is_standing || m->plan.inserts_count)
        return;
    CHECK(!wr_json_parse(&doc, &m->arena, found->body, NULL, NULL));
    CHECK(!wr_api_read(&transcript, &m->arena, &doc, &reading, NULL));
    CHECK(!wr_plan_init(&plan, &m->arena, &transcript));
    CHECK(!wr_cache_marker_place(&plan, NULL, 0));
    CHECK(wr_plan_is_empty(&plan));
}

static void check_plan(struct model *m)
{
    struct wr_settled found, again;
    struct wr_buf out, second;

    wr_buf_init(&out, BYTES_MAX);
    wr_buf_init(&second, BYTES_MAX);
    CHECK(!wr_plan_settle(&m->plan, &m->arena, &out, &found, NULL));
    check_report(m, &found);
    CHECK(!wr_plan_settle(&m->plan, &m->arena, &second, &again, NULL));
    check_report(m, &again);
    CHECK(wr_span_eq(found.body, again.body) && found.rolled_back_count == again.rolled_back_count);
    if (found.body.ptr != m->doc.text.ptr)
        check_result(m, &found);
    if (m->places_marker)
        check_settled(m, &found);
    wr_buf_release(&out);
    wr_buf_release(&second);
}

/* Places a marker as a run does, after a step that changed something. */
static void place_marker(struct model *m, uint8_t byte)
{
    uint32_t turns = m->transcript.turns_count;
    struct wr_fold_step step = {turns - 1, WR_STEP_COLD, byte % (m->transcript.segments_count + 1)};
    m->places_marker = turns && !m->plan.marker.is_made;
    if (m->places_marker)
        CHECK(!wr_cache_marker_place(&m->plan, &step, byte % 2));
}

static bool open_model(struct model *m, size_t shape, weir_span body)
{
    /* A level is left for a marker that moves, and some for what is inserted. */
    const struct wr_json_options options = {.depth_max = WR_JSON_DEPTH_MAX - 8};
    struct wr_api_options reading = {.dialect = shapes[shape].dialect};

    if (wr_json_parse(&m->doc, &m->arena, body, &options, NULL) ||
        wr_api_read(&m->transcript, &m->arena, &m->doc, &reading, NULL))
        return false;
    if (m->transcript.segments_count > SEGMENTS_MAX)
        return false;
    CHECK(!wr_plan_init(&m->plan, &m->arena, &m->transcript));
    m->removed = WR_ARENA_ARRAY(&m->arena, bool, m->doc.nodes_count);
    m->set = WR_ARENA_ARRAY(&m->arena, const weir_span *, m->doc.nodes_count);
    m->dropped = WR_ARENA_ARRAY(&m->arena, bool, m->transcript.segments_count);
    CHECK(m->removed && m->set && m->dropped);
    return true;
}

static void check_policy(struct model *m, uint8_t flags, uint8_t size)
{
    struct wr_json after;
    struct wr_buf out;

    wr_buf_init(&out, BYTES_MAX);
    weir_span body = policy_check(&m->transcript, &m->arena, flags, size, &out);
    CHECK(!wr_json_parse(&after, &m->arena, body, NULL, NULL));
    check_pairs(m, &after);
    wr_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct model m = {0};
    struct wr_buf made;
    size_t changes = len > 1 ? bytes[1] % (CHANGES_MAX + 1u) : 0, head = 2 + changes * CHANGE_BYTES;

    if (len < head)
        return 0;
    size_t shape = bytes[0] & GEMINI_BIT ? SHAPES_BY_REST : bytes[0] % SHAPES_BY_REST;
    wr_arena_init(&m.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&made, BYTES_MAX);
    if (bytes[0] & 0x80)
        wr_buf_append(&made, (weir_span){(const char *)bytes + head, len - head});
    else
        make_request(&made, shape, bytes + head, len - head);
    if (!wr_buf_status(&made) && open_model(&m, shape, wr_buf_view(&made))) {
        check_plan(&m);
        for (size_t i = 0; i < changes; i++)
            add_change(&m, shape, bytes + 2 + i * CHANGE_BYTES);
        if (bytes[0] & 0x40)
            place_marker(&m, bytes[1]);
        check_plan(&m);
        if (m.transcript.segments_count)
            check_policy(&m, bytes[1], len > head ? bytes[head] : 0);
    }
    wr_buf_release(&made);
    wr_arena_release(&m.arena);
    return 0;
}
