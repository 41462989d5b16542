/* Gemini: several answers shown as one.
 *
 * An answer is a row of chunks, each with parts, so a call comes whole and nothing has to wait for
 * its name. A part is shown as it came or left out; nothing is numbered. What is held is the end:
 * the chunk that says why the answer ended. It may have parts too, even our call: where more legs
 * may follow, its words are shown without the reason, and the reason is held without the words.
 *
 * A stream without `alt=sse` is one JSON array of such chunks. It is held as a whole answer is, and
 * shown as one array. Code Assist wraps each chunk: {"response": {...}}.
 */
#include "api/gemini.h"
#include "api/join_api.h"
#include "api/own_api.h"
#include "api/read.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- a chunk ---- */

struct chunk {
    wr_json_id root, candidate, content, parts, finish, usage;
    bool is_end; /* it says why the answer ended, or that there is none */
};

static struct chunk chunk_of(const struct wr_json *doc, wr_json_id at)
{
    wr_json_id inner = wr_json_find(doc, at, "response");
    struct chunk c = {.root = wr_json_is(doc, inner, WR_JSON_OBJECT) ? inner : at,
                      .candidate = WR_JSON_NONE};
    wr_json_id candidates = wr_json_find(doc, c.root, "candidates");
    wr_json_id feedback = wr_json_find(doc, c.root, "promptFeedback");

    if (wr_json_is(doc, candidates, WR_JSON_ARRAY))
        c.candidate = wr_json_first(doc, candidates);
    c.content = wr_json_find(doc, c.candidate, "content");
    c.parts = wr_json_find(doc, c.content, "parts");
    if (!wr_json_is(doc, c.parts, WR_JSON_ARRAY))
        c.parts = WR_JSON_NONE;
    c.finish = wr_json_find(doc, c.candidate, "finishReason");
    c.usage = wr_json_find(doc, c.root, "usageMetadata");
    c.is_end = wr_json_is(doc, c.finish, WR_JSON_STRING) ||
               wr_json_find(doc, feedback, "blockReason") != WR_JSON_NONE;
    return c;
}

static bool is_own(const struct wr_json *doc, wr_json_id part)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    return wr_join_is_own(doc, wr_json_find(doc, fields[P_CALL], "name"));
}

/* A stream often ends with a text of nothing. */
static bool is_empty(const struct wr_json *doc, wr_json_id part)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    return wr_json_is(doc, fields[P_TEXT], WR_JSON_STRING) &&
           !wr_json_inner(doc, fields[P_TEXT]).len && fields[P_SIGNATURE] == WR_JSON_NONE;
}

/* Its parts: all, calls of ours, and those that say nothing. */
struct tally {
    size_t parts, own, empty;
};

static struct tally tally_of(const struct wr_json *doc, const struct chunk *c)
{
    struct tally n = {0, 0, 0};

    for (wr_json_id part = c->parts == WR_JSON_NONE ? WR_JSON_NONE : wr_json_first(doc, c->parts);
         part != WR_JSON_NONE; part = wr_json_next(doc, c->parts, part)) {
        n.parts++;
        n.own += is_own(doc, part);
        n.empty += is_empty(doc, part);
    }
    return n;
}

/* A list that has nothing left leaves: the service leaves out empty ones too. */
static void remove_own(struct wr_splice *splice, const struct wr_json *doc, const struct chunk *c,
                       const struct tally *n)
{
    if (n->own && n->own == n->parts) {
        wr_splice_remove(splice, c->content, c->parts - 1);
        return;
    }
    for (wr_json_id part = n->own ? wr_json_first(doc, c->parts) : WR_JSON_NONE;
         part != WR_JSON_NONE; part = wr_json_next(doc, c->parts, part))
        if (is_own(doc, part))
            wr_splice_remove(splice, c->parts, part);
}

static void edit_envelope(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                          wr_json_id root)
{
    struct {
        const char *key;
        weir_span *value;
    } const rows[] = {
        {"responseId", &j->id}, {"modelVersion", &j->model}, {"createTime", &j->created}};

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        wr_json_id id = wr_json_find(doc, root, rows[i].key);
        if (!wr_json_is(doc, id, WR_JSON_STRING))
            continue;
        if (wr_join_is_first(j) && !rows[i].value->len)
            *rows[i].value = wr_join_keep(j, wr_json_raw(doc, id));
        else if (!wr_join_is_first(j) && rows[i].value->len && splice &&
                 !wr_span_eq(*rows[i].value, wr_json_raw(doc, id)))
            wr_splice_set_json(splice, id, *rows[i].value);
    }
}

static void add_member(struct wr_join *j, struct wr_splice *splice, wr_json_id object,
                       const char *key, int64_t number)
{
    struct wr_buf member;
    weir_span text = {"", 0};

    wr_buf_init(&member, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&member, "\"%s\":%lld", key, (long long)number);
    wr_join_fail_with(j, wr_text_keep(&j->scratch, &member, &text));
    if (!j->is_broken)
        wr_splice_insert(splice, object, WR_JSON_NONE, text);
}

/* Thinking is counted beside the words here, and leg->usage has both as output. Prompt and cache
 * are the last leg's. */
static void edit_usage(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                       const struct chunk *c)
{
    int64_t words = 0, thoughts = 0;

    for (size_t i = 0; i + 1 < j->legs_count; i++) {
        const struct wr_seen_usage *usage = &j->legs[i].usage;
        int64_t of_thoughts = usage->reasoning_tokens > 0 ? usage->reasoning_tokens : 0;
        thoughts += of_thoughts;
        words += usage->output_tokens > of_thoughts ? usage->output_tokens - of_thoughts : 0;
    }
    struct {
        const char *key;
        int64_t more;
        bool is_added;
    } const rows[] = {{"candidatesTokenCount", words, true},
                      {"thoughtsTokenCount", thoughts, true},
                      {"totalTokenCount", words + thoughts, false}};
    if (!wr_json_is(doc, c->usage, WR_JSON_OBJECT))
        return;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        wr_json_id id = wr_json_find(doc, c->usage, rows[i].key);
        int64_t now;
        if (!rows[i].more)
            continue;
        if (id == WR_JSON_NONE && rows[i].is_added && c->is_end)
            add_member(j, splice, c->usage, rows[i].key, rows[i].more);
        else if (id != WR_JSON_NONE && wr_json_i64(doc, id, &now) && now >= 0 &&
                 now <= WR_MODEL_TOKENS_MAX)
            wr_join_set_number(j, splice, id, now + rows[i].more);
    }
}

/* ---- events ---- */

static void begin_edits(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                        const struct chunk *c)
{
    wr_splice_init(splice, doc, &j->scratch);
    edit_envelope(j, splice, doc, c->root);
    edit_usage(j, splice, doc, c);
}

/* The end of a leg with a call of ours: another may follow, so the words go now. */
static void split_end(struct wr_join *j, const struct wr_join_event *event, const struct chunk *c,
                      const struct tally *n)
{
    struct wr_splice splice;

    begin_edits(j, &splice, event->doc, c);
    remove_own(&splice, event->doc, c, n);
    if (c->finish != WR_JSON_NONE)
        wr_splice_remove(&splice, c->candidate, c->finish - 1);
    wr_join_show(j, event, &splice);
    begin_edits(j, &splice, event->doc, c);
    wr_splice_remove(&splice, c->content, c->parts - 1);
    wr_join_hold(j, event, &splice);
}

static void join_chunk(struct wr_join *j, const struct wr_join_event *event, const struct chunk *c,
                       const struct tally *n)
{
    struct wr_splice splice;
    bool says = n->parts > n->own + n->empty;

    if (c->is_end && j->has_hidden && says) {
        split_end(j, event, c, n);
        return;
    }
    if (!c->is_end && n->parts && n->parts == n->own)
        return;
    begin_edits(j, &splice, event->doc, c);
    remove_own(&splice, event->doc, c, n);
    if (c->is_end || !n->parts)
        wr_join_hold(j, event, &splice);
    else
        wr_join_show(j, event, &splice);
}

static void join_gemini_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;

    if (j->is_ending) { /* it was edited when it came */
        wr_join_show(j, event, NULL);
        return;
    }
    if (!doc) {
        if (wr_join_is_plain(j))
            wr_join_show(j, event, NULL);
        else
            wr_join_hold(j, event, NULL);
        return;
    }
    struct chunk c = chunk_of(doc, 0);
    struct tally n = tally_of(doc, &c);
    j->has_hidden |= n.own > 0;
    if (!wr_join_is_first(j) && wr_json_find(doc, c.root, "error") != WR_JSON_NONE) {
        j->has_error = true;
    } else if (wr_join_is_plain(j)) {
        edit_envelope(j, NULL, doc, c.root);
        wr_join_show(j, event, NULL);
    } else {
        join_chunk(j, event, &c, &n);
    }
}

/* ---- a leg ---- */

static weir_span json_of(struct wr_join *j, const struct wr_part *part)
{
    struct wr_json_writer writer;
    struct wr_buf out;

    if (part->kind == WR_PART_CALL || part->kind == WR_PART_OTHER)
        return wr_join_keep(j, wr_buf_view(&part->raw));
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&writer, &out);
    wr_gemini_write_part(&writer, part);
    wr_join_fail_with(j, wr_buf_status(&out));
    weir_span json = wr_join_keep(j, wr_buf_view(&out));
    wr_buf_release(&out);
    return json;
}

static uint64_t mark_call(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    uint64_t name = wr_own_likeness(doc, wr_json_find(doc, fields[P_CALL], "name"), arena);
    uint64_t args = wr_own_likeness(doc, wr_json_find(doc, fields[P_CALL], "args"), arena);
    return name * 0x9e3779b97f4a7c15u + args;
}

static weir_span mark_of(struct wr_join *j, weir_span part)
{
    struct wr_json doc;
    uint64_t mark = 0;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, part, NULL, NULL);
    if (!status)
        mark = mark_call(&doc, 0, &j->scratch);
    wr_join_fail_with(j, status ? status : wr_arena_status(&j->scratch));
    return wr_join_keep(j, (weir_span){(const char *)&mark, sizeof(mark)});
}

static void add_part(struct wr_join *j, struct wr_leg *leg, const struct wr_part *part,
                     weir_span json)
{
    bool is_call = part->kind == WR_PART_CALL;
    bool is_ours = is_call && wr_span_is(wr_buf_view(&part->name), WR_OWN_TOOL_NAME);
    struct wr_leg_part *added = wr_leg_add(j, leg,
                                           is_ours                      ? WR_LEG_OWN
                                           : is_call                    ? WR_LEG_CALL
                                           : part->kind == WR_PART_TEXT ? WR_LEG_TEXT
                                                                        : WR_LEG_OTHER);

    if (!added)
        return;
    added->json = json.ptr ? wr_join_keep(j, json) : json_of(j, part);
    added->text = wr_join_keep(j, wr_buf_view(&part->text));
    if (is_call)
        added->id = is_ours ? wr_join_keep(j, wr_buf_view(&part->id)) : mark_of(j, added->json);
    added->is_dropped = (part->kind == WR_PART_TEXT || part->kind == WR_PART_THINKING) &&
                        !part->signature.len && wr_text_is_blank(added->text);
}

/* Of a stream the events have said it. */
static void note_envelope(struct wr_join *j, weir_span bytes)
{
    struct wr_json doc;

    if (!wr_join_is_first(j) || !bytes.len)
        return;
    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, bytes, NULL, NULL);
    if (status) { /* what is no JSON is no answer, as who reads it says */
        wr_join_fail_with(j, status == WEIR_NOMEM ? status : WEIR_OK);
        return;
    }
    wr_json_id at = wr_json_is(&doc, 0, WR_JSON_ARRAY) ? wr_json_first(&doc, 0) : 0;
    if (at != WR_JSON_NONE)
        edit_envelope(j, NULL, &doc, chunk_of(&doc, at).root);
}

static void read_leg(struct wr_join *j, struct wr_leg *leg)
{
    struct wr_arena arena;
    struct wr_reply reply;

    note_envelope(j, leg->bytes);
    wr_leg_read_answer(j, leg, &arena, &reply);
    leg->has_error |= j->has_error;
    bool is_whole = leg->bytes.len > 0 && reply.items_count == reply.parts_count;
    for (size_t i = 0; i < reply.parts_count && !j->is_broken; i++)
        add_part(j, leg, &reply.parts[i], is_whole ? reply.items[i] : (weir_span){NULL, 0});
    wr_answer_release(&reply);
    wr_arena_release(&arena);
}

/* ---- whole answers ---- */

/* What the legs before the last have shown, as members of an object that lacks them. */
static void write_shown(struct wr_join *j, struct wr_buf *out)
{
    const char *comma = "";

    wr_buf_text(out, "\"parts\":[");
    for (size_t i = 0; i + 1 < j->legs_count; i++)
        for (size_t at = 0; at < j->legs[i].parts_count; at++)
            if (j->legs[i].parts[at].kind != WR_LEG_OWN) {
                wr_buf_text(out, comma);
                wr_buf_append(out, j->legs[i].parts[at].json);
                comma = ",";
            }
    wr_buf_byte(out, ']');
}

/* A last leg that said nothing may have no list to put them into. */
static void add_shown(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                      const struct chunk *c)
{
    bool has_content = wr_json_is(doc, c->content, WR_JSON_OBJECT);
    wr_json_id object = has_content ? c->content : c->candidate;
    struct wr_buf member;
    weir_span text = {"", 0};

    if (c->parts != WR_JSON_NONE) {
        wr_join_insert_shown(j, splice, doc, c->parts);
        return;
    }
    if (wr_join_is_first(j) || !wr_json_is(doc, object, WR_JSON_OBJECT) ||
        wr_json_find(doc, object, has_content ? "parts" : "content") != WR_JSON_NONE)
        return;
    wr_buf_init(&member, WR_OUTPUT_BYTES_MAX);
    if (!has_content)
        wr_buf_text(&member, "\"content\":{\"role\":\"model\",");
    write_shown(j, &member);
    if (!has_content)
        wr_buf_byte(&member, '}');
    wr_join_fail_with(j, wr_text_keep(&j->scratch, &member, &text));
    if (!j->is_broken)
        wr_splice_insert(splice, object, WR_JSON_NONE, text);
}

/* One chunk of a list. */
static void edit_listed(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                        wr_json_id list, wr_json_id at, bool is_last)
{
    struct chunk c = chunk_of(doc, at);
    struct tally n = tally_of(doc, &c);

    if (n.parts == n.own && (is_last ? n.parts && !c.is_end : true)) {
        wr_splice_remove(splice, list, at);
        return;
    }
    remove_own(splice, doc, &c, &n);
    if (!is_last) {
        if (c.finish != WR_JSON_NONE)
            wr_splice_remove(splice, c.candidate, c.finish - 1);
        return;
    }
    edit_envelope(j, splice, doc, c.root);
    edit_usage(j, splice, doc, &c);
}

/* The chunks of a leg before the last; nothing where there are none to show. */
static weir_span listed_before(struct wr_join *j, weir_span bytes)
{
    struct wr_splice splice;
    struct wr_json doc;
    struct wr_buf out;
    weir_span text = {"", 0};

    weir_status status = wr_json_parse(&doc, &j->scratch, bytes, NULL, NULL);
    if (status || !wr_json_is(&doc, 0, WR_JSON_ARRAY)) {
        wr_join_fail_with(j, status ? status : WEIR_INVALID);
        return text;
    }
    wr_splice_init(&splice, &doc, &j->scratch);
    for (wr_json_id at = wr_json_first(&doc, 0); at != WR_JSON_NONE; at = wr_json_next(&doc, 0, at))
        edit_listed(j, &splice, &doc, 0, at, false);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    status = wr_splice_apply(&splice, &out, NULL);
    if (status) {
        wr_buf_release(&out);
        wr_join_fail_with(j, status);
        return text;
    }
    wr_join_fail_with(j, wr_text_keep(&j->scratch, &out, &text));
    text = wr_span_trim(text);
    return text.len > 1 ? wr_span_trim(wr_span_cut(text, 1, text.len - 1)) : text;
}

static void edit_list(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    wr_json_id first = wr_json_first(doc, 0);

    for (size_t i = 0; i + 1 < j->legs_count && !j->is_broken; i++) {
        weir_span chunks = listed_before(j, j->legs[i].bytes);
        if (chunks.len)
            wr_splice_insert(splice, 0, first, chunks);
    }
    for (wr_json_id at = first; at != WR_JSON_NONE; at = wr_json_next(doc, 0, at))
        edit_listed(j, splice, doc, 0, at, true);
}

static void edit_whole(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    if (wr_json_is(doc, 0, WR_JSON_ARRAY)) {
        edit_list(j, splice, doc);
        return;
    }
    struct chunk c = chunk_of(doc, 0);
    struct tally n = tally_of(doc, &c);
    edit_envelope(j, splice, doc, c.root);
    edit_usage(j, splice, doc, &c);
    add_shown(j, splice, doc, &c);
    for (wr_json_id part = n.own ? wr_json_first(doc, c.parts) : WR_JSON_NONE; part != WR_JSON_NONE;
         part = wr_json_next(doc, c.parts, part))
        if (is_own(doc, part))
            wr_splice_remove(splice, c.parts, part);
}

/* ---- what goes back ---- */

static void write_elements(const struct wr_leg *leg, struct wr_buf *out)
{
    wr_buf_text(out, "{\"role\":\"model\",\"parts\":[");
    wr_leg_write_parts(leg, out);
    wr_buf_text(out, "]},{\"role\":\"user\",\"parts\":[");
    wr_leg_write_results(leg, out);
    wr_buf_text(out, "]}");
}

static void write_joined_gemini_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                       weir_span text, bool is_error)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "functionResponse");
    wr_json_write_object(w);
    if (call->id.len)
        wr_json_member_text(w, "id", call->id);
    wr_json_member_word(w, "name", WR_OWN_TOOL_NAME);
    wr_json_write_key(w, "response");
    wr_json_write_object(w);
    wr_json_member_text(w, is_error ? "error" : "output", text);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

/* ==== exchanges put back into requests ====
 *
 * A client sends an answer back as one content of the model, or, where it keeps every chunk of a
 * stream, as several that follow each other; either is read as one row of parts. Calls often have
 * no ids, and clients make up ids of their own, so an answer is known by what its calls say. Our
 * result needs no id to find our call: the service pairs by name and order, and no other tool is
 * called as ours is.
 */

/* ---- what a request says ---- */

static wr_json_id find_in(const struct wr_json *doc, const char *name, const char *other)
{
    return wr_gemini_find(doc, wr_api_root_of(doc, &wr_api_gemini), name, other);
}

/* One answer, and a history that is all here. */
static bool may_join(const struct wr_json *doc)
{
    wr_json_id config = find_in(doc, "generationConfig", "generation_config");
    wr_json_id cached = find_in(doc, "cachedContent", "cached_content");
    int64_t answers = 1;

    (void)wr_json_i64(doc, wr_gemini_find(doc, config, "candidateCount", "candidate_count"),
                      &answers);
    return answers == 1 &&
           !(wr_json_is(doc, cached, WR_JSON_STRING) && wr_json_inner(doc, cached).len);
}

static bool bars_calls(const struct wr_json *doc)
{
    wr_json_id config = find_in(doc, "toolConfig", "tool_config");
    wr_json_id calling =
        wr_gemini_find(doc, config, "functionCallingConfig", "function_calling_config");

    return wr_json_text_is(doc, wr_json_find(doc, calling, "mode"), "NONE");
}

/* Of what stands in a list of declarations none is. */
static bool is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    return wr_json_find(doc, tool, "name") == WR_JSON_NONE;
}

static wr_json_id find_tools(const struct wr_transcript *t)
{
    const struct wr_json *doc = t->doc;
    wr_json_id tools = wr_json_find(doc, wr_api_root(t), "tools");

    if (!wr_json_is(doc, tools, WR_JSON_ARRAY))
        return WR_JSON_NONE;
    for (wr_json_id tool = wr_json_first(doc, tools); tool != WR_JSON_NONE;
         tool = wr_json_next(doc, tools, tool)) {
        wr_json_id list =
            wr_gemini_find(doc, tool, "functionDeclarations", "function_declarations");
        if (wr_json_is(doc, list, WR_JSON_ARRAY) && wr_json_first(doc, list) != WR_JSON_NONE)
            return list;
    }
    return WR_JSON_NONE;
}

/* ---- what earlier legs have said ---- */

struct fronts {
    struct wr_own_front words, thoughts;
};

static uint64_t mark_signature(const struct wr_json *doc, const wr_json_id *fields)
{
    bool is_signed = wr_json_is(doc, fields[P_SIGNATURE], WR_JSON_STRING);
    return is_signed ? wr_hash64(wr_json_inner(doc, fields[P_SIGNATURE])) : 0;
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text, bool wants_thoughts)
{
    wr_json_id parts = wr_json_find(doc, element, "parts"), fields[WR_GEMINI_FIELDS];

    if (!wr_json_text_is(doc, wr_json_find(doc, element, "role"), "model"))
        return;
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        (void)wr_gemini_pick(doc, part, fields);
        bool is_thought = wr_json_is(doc, fields[P_THOUGHT], WR_JSON_TRUE);
        if (!wr_json_is(doc, fields[P_TEXT], WR_JSON_STRING))
            wr_own_add_mark(e, front, wr_own_likeness(doc, part, e->arena));
        else if (is_thought == wants_thoughts)
            wr_buf_append(text, wr_own_text(e, doc, fields[P_TEXT]));
        if (fields[P_SIGNATURE] != WR_JSON_NONE)
            wr_own_add_mark(e, front, mark_signature(doc, fields));
    }
}

static void read_words(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                       struct wr_own_front *front, struct wr_buf *text)
{
    read_element(e, doc, element, front, text, false);
}

static void read_thoughts(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                          struct wr_own_front *front, struct wr_buf *text)
{
    read_element(e, doc, element, front, text, true);
}

/* ---- the client's answer ---- */

/* Its contents, up to `end`, the one behind them or NONE. */
struct answer {
    wr_json_id first, end;
    bool has_words;
};

static wr_json_id parts_of(const struct wr_json *doc, wr_json_id content)
{
    wr_json_id parts = wr_json_find(doc, content, "parts");
    return wr_json_is(doc, parts, WR_JSON_ARRAY) ? parts : WR_JSON_NONE;
}

static wr_json_id first_of(const struct wr_json *doc, wr_json_id parts)
{
    return parts == WR_JSON_NONE ? WR_JSON_NONE : wr_json_first(doc, parts);
}

static bool has_field(const struct wr_json *doc, wr_json_id part, enum part_field field)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    return fields[field] != WR_JSON_NONE;
}

/* A thought that an earlier leg has not had stays: some clients shorten them. */
static enum wr_own_fate cut_text(struct wr_own_edits *e, struct fronts *f, struct answer *answer,
                                 const wr_json_id *fields)
{
    const struct wr_json *doc = e->t->doc;
    bool is_thought = wr_json_is(doc, fields[P_THOUGHT], WR_JSON_TRUE);
    struct wr_own_front *front = is_thought ? &f->thoughts : &f->words;
    weir_span said = wr_own_text(e, doc, fields[P_TEXT]), rest;

    if (wr_text_is_blank(said)) {
        bool is_known = fields[P_SIGNATURE] != WR_JSON_NONE &&
                        wr_own_has_mark(&f->words, mark_signature(doc, fields));
        return is_known ? WR_OWN_GONE : WR_OWN_STAYS;
    }
    answer->has_words |= !is_thought;
    if (wr_own_front_is_over(front))
        return WR_OWN_STAYS;
    switch (wr_own_match_text(front, said, &rest)) {
    case WR_OWN_NO_MATCH:
        return is_thought ? WR_OWN_STAYS : WR_OWN_FITS_NOT;
    case WR_OWN_ALL:
        return WR_OWN_GONE;
    case WR_OWN_CUT:
        break;
    }
    if (wr_text_is_blank(rest))
        return WR_OWN_GONE;
    if (rest.len < said.len)
        wr_own_set_text(e, fields[P_TEXT], rest);
    return WR_OWN_STAYS;
}

static enum wr_own_fate cut_part(struct wr_own_edits *e, struct fronts *f, struct answer *answer,
                                 wr_json_id part)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(e->t->doc, part, fields);
    if (wr_json_is(e->t->doc, fields[P_TEXT], WR_JSON_STRING))
        return cut_text(e, f, answer, fields);
    bool is_known = wr_own_has_mark(&f->words, wr_own_likeness(e->t->doc, part, e->arena));
    return is_known ? WR_OWN_GONE : WR_OWN_STAYS;
}

/* Cuts what earlier legs have off the front; they had no calls of the client's. A content that has
 * nothing left leaves, not its parts. */
static bool cut_answer(struct wr_own_edits *e, struct answer *answer)
{
    const struct wr_json *doc = e->t->doc;
    struct fronts f;
    bool has_called = false;

    if (!wr_own_read_front(e, read_words, &f.words) ||
        !wr_own_read_front(e, read_thoughts, &f.thoughts))
        return false;
    for (wr_json_id at = answer->first; at != answer->end; at = wr_json_next(doc, e->t->list, at)) {
        wr_json_id parts = parts_of(doc, at);
        size_t edits_count = e->count, count = 0, gone = 0;
        for (wr_json_id part = first_of(doc, parts); part != WR_JSON_NONE;
             part = wr_json_next(doc, parts, part)) {
            has_called |= has_field(doc, part, P_CALL);
            enum wr_own_fate fate = has_called ? WR_OWN_STAYS : cut_part(e, &f, answer, part);
            if (fate == WR_OWN_FITS_NOT)
                return false;
            if (fate == WR_OWN_GONE)
                wr_own_remove(e, parts, part);
            gone += fate == WR_OWN_GONE;
            count++;
        }
        if (!count || gone < count)
            continue;
        e->count = edits_count;
        wr_own_remove(e, e->t->list, at);
    }
    /* Some clients drop what was said beside calls. */
    return wr_own_front_is_over(&f.words) || !answer->has_words;
}

/* ---- calls and results ---- */

/* The place in a list behind so many of a kind: before the next of them, else behind the last.
 * False: it has none. `*before` has what is left to count. */
static bool find_place(const struct wr_json *doc, wr_json_id parts, enum part_field field,
                       uint32_t *before, wr_json_id *place, bool *is_found)
{
    bool has_any = false;

    for (wr_json_id part = first_of(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        if (!has_field(doc, part, field))
            continue;
        has_any = true;
        if (!*before) {
            *place = part;
            *is_found = true;
            return true;
        }
        --*before;
        *place = wr_json_next(doc, parts, part);
    }
    return has_any;
}

static bool put_call(struct wr_own_edits *e, const struct answer *answer,
                     const struct wr_own_hidden *h)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id list = WR_JSON_NONE, place = WR_JSON_NONE;
    uint32_t before = h->calls_before;
    bool is_found = false;

    for (wr_json_id at = answer->first; at != answer->end && !is_found;
         at = wr_json_next(doc, e->t->list, at)) {
        wr_json_id parts = parts_of(doc, at);
        if (find_place(doc, parts, P_CALL, &before, &place, &is_found))
            list = parts;
    }
    if (list == WR_JSON_NONE)
        return false;
    wr_own_insert(e, list, place, h->call);
    return true;
}

static bool put_beside(struct wr_own_edits *e, const struct wr_own_leg *beside,
                       const struct answer *answer)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id results = answer->end == WR_JSON_NONE ? WR_JSON_NONE : parts_of(doc, answer->end);

    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        uint32_t before = beside->hidden[i].calls_before;
        wr_json_id place = WR_JSON_NONE;
        bool is_found = false;
        if (!put_call(e, answer, &beside->hidden[i]) ||
            !find_place(doc, results, P_RESPONSE, &before, &place, &is_found))
            return false;
        wr_own_insert(e, results, place, beside->hidden[i].result);
    }
    return true;
}

static bool put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);

    if (!e->answer || !wr_json_is(doc, e->t->list, WR_JSON_ARRAY))
        return false;
    wr_json_id first = e->t->segments[e->answer->first].message;
    wr_json_id last = e->t->segments[e->answer->last].message;
    if (first == WR_JSON_NONE || last == WR_JSON_NONE)
        return false;
    struct answer answer = {.first = first, .end = wr_json_next(doc, e->t->list, last)};
    if (!cut_answer(e, &answer))
        return false;
    wr_own_insert_elements(e, first);
    return !beside || put_beside(e, beside, &answer);
}

/* ---- the table ---- */

static const char *const call_words[] = {"STOP", NULL};

const struct wr_joiner wr_joiner_gemini = {
    .join_event = join_gemini_event,
    .read_leg = read_leg,
    .edit_whole = edit_whole,
    .write_elements = write_elements,
    .write_result = write_joined_gemini_result,
    .error_front = "data: ",
    .error_back = "\n\n",
    .ping = ": ping\n\n",
    .call_words = call_words,
    .may_join = may_join,
    .bars_calls = bars_calls,
    .is_hosted = is_hosted,
    .find_tools = find_tools,
    .mark_call = mark_call,
    .put_back = put_back,
};
