/* The proxy's own recall in requests: how an exchange is known again and put back.
 *
 * A client sends back the one answer that it was shown. What it was shown of earlier legs stands in
 * their elements already, so it is cut off the front of that answer; the elements, byte for byte as
 * they went to the provider, are put before what is left. Calls of ours that stood beside the
 * client's are put among them, and their results among the results.
 *
 *   [user] [answer: A1 A2]            ─▶ [user] [A1 call] [result] [A2]
 *   [user] [answer: c1 c2] [r1] [r2]  ─▶ [user] [c1 call c2] [r1] [result] [r2]
 *
 * Clients change answers: they trim texts, drop thinking, spell a text as a string or as parts.
 * What is cut off is therefore found by what it says, never by its bytes. Where that fails (a
 * client that splits or joins messages, an edit) the exchange stays out: half of one would be worse
 * than none.
 */
#include "api/own.h"

#include <stdlib.h>

#include "api/lawful.h"
#include "api/own_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "transcript/recall_words.h"
#include "transcript/tool.h"

_Static_assert(sizeof(WR_OWN_TOOL_NAME) == sizeof(WR_RECALL_NAME), "one name");

enum { EDITS_CAP_FIRST = 16, MARKS_CAP_FIRST = 8 };

/* ---- what the client saw ---- */

/* FNV-1a, twice: it takes a text byte by byte, however it is cut into parts. */
static const wr_hash128 SEEN_START = {0xcbf29ce484222325u, 0x6c62272e07bb0142u};

static void see_byte(wr_hash128 *seen, unsigned char byte)
{
    seen->low = (seen->low ^ byte) * 0x100000001b3u;
    seen->high = (seen->high ^ byte) * 0x9e3779b97f4a7c15u;
    seen->high ^= seen->high >> 29;
}

static void see_id(wr_hash128 *seen, weir_span id)
{
    see_byte(seen, 0xFF); /* no text has it */
    for (size_t i = 0; i < id.len; i++)
        see_byte(seen, (unsigned char)id.ptr[i]);
}

/* Parts may be joined by white space, and clients trim. */
static void see_text(wr_hash128 *seen, weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(" \t\r\n", text.ptr[i], 4))
            see_byte(seen, (unsigned char)text.ptr[i]);
}

wr_hash128 wr_own_seen_of_legs(const struct wr_leg *legs, size_t legs_count)
{
    wr_hash128 calls = SEEN_START, text = SEEN_START;
    bool has_calls = false;

    for (size_t i = 0; i < legs_count; i++)
        for (size_t at = 0; at < legs[i].parts_count; at++) {
            const struct wr_leg_part *part = &legs[i].parts[at];
            if (part->kind == WR_LEG_CALL)
                see_id(&calls, part->id);
            if (part->kind == WR_LEG_TEXT)
                see_text(&text, part->text);
            has_calls |= part->kind == WR_LEG_CALL;
        }
    return has_calls ? calls : text;
}

static weir_status see_answer(const struct wr_transcript *t, struct wr_arena *arena,
                              struct wr_own_answer *answer)
{
    const struct wr_joiner *joiner = wr_api_of(t->dialect)->joiner;
    bool is_marked = joiner && joiner->mark_call;
    wr_hash128 calls = SEEN_START, text = SEEN_START;
    bool has_calls = false;

    for (uint32_t i = answer->first; i <= answer->last; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind == WEIR_KIND_TOOL_CALL) {
            uint64_t mark = is_marked ? joiner->mark_call(t->doc, s->block, arena) : 0;
            weir_span bytes = {(const char *)&mark, sizeof(mark)};
            if (is_marked && wr_arena_status(arena))
                return wr_arena_status(arena);
            see_id(&calls, is_marked ? bytes : s->call_id);
            has_calls = true;
        } else if (s->kind == WEIR_KIND_TEXT && (!s->is_opaque || is_marked)) {
            weir_span said = wr_segment_text(t, s, arena);
            if (!said.ptr)
                return wr_arena_status(arena);
            see_text(&text, said);
        }
    }
    answer->seen = has_calls ? calls : text;
    return WEIR_OK;
}

weir_status wr_own_answers(const struct wr_transcript *t, struct wr_arena *arena,
                           const struct wr_own_answer **answers, uint32_t *count)
{
    struct wr_own_answer *found = NULL;
    uint32_t cap = 0;
    weir_status status = WEIR_OK;

    *count = 0;
    *answers = NULL;
    for (uint32_t i = 0; i < t->segments_count && !status; i++) {
        bool goes_on = i && t->segments[i - 1].from_model;
        if (!t->segments[i].from_model)
            continue;
        if (goes_on) {
            found[*count - 1].last = i;
            continue;
        }
        if (!WR_ARENA_ROOM(arena, found, *count, cap, EDITS_CAP_FIRST))
            return wr_arena_status(arena);
        found[(*count)++] =
            (struct wr_own_answer){.turn = t->segments[i].turn, .first = i, .last = i};
    }
    for (uint32_t i = 0; i < *count && !status; i++)
        status = see_answer(t, arena, &found[i]);
    *answers = found;
    return status;
}

/* ---- a request's own words ---- */

void wr_own_definition(const struct wr_api *api, struct wr_buf *out)
{
    struct weir_tool tool = {.name = WR_LIT(WR_RECALL_NAME),
                             .description = WR_LIT(WR_RECALL_DESCRIPTION),
                             .schema = WR_LIT(WR_RECALL_SCHEMA)};
    struct wr_body body;

    wr_body_init(&body, api, out);
    api->write_tool(&body, &tool);
    wr_body_release(&body);
}

static weir_status look_at_offer(void *user, const struct wr_offer *offer)
{
    struct wr_own_look *look = user;
    look->has_recall |= wr_tool_is_recall(offer->name);
    look->is_name_taken |= wr_span_is(offer->name, WR_OWN_TOOL_NAME);
    return WEIR_OK;
}

/* The list that tools are put into: the request's own, else the one in its first item. */
static wr_json_id tools_list(const struct wr_transcript *t)
{
    const struct wr_joiner *joiner = wr_api_of(t->dialect)->joiner;
    wr_json_id list = wr_json_find(t->doc, 0, "tools");

    if (joiner && joiner->find_tools)
        return joiner->find_tools(t);
    if (wr_json_first(t->doc, list) != WR_JSON_NONE && wr_json_is(t->doc, list, WR_JSON_ARRAY))
        return list;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOLS || s->message == WR_JSON_NONE)
            continue;
        list = wr_json_find(t->doc, s->payload, "tools");
        if (wr_json_is(t->doc, list, WR_JSON_ARRAY))
            return list;
    }
    return WR_JSON_NONE;
}

/* Spelt as a word, or as an object of that type. */
static bool bars_calls(const struct wr_json *doc)
{
    wr_json_id choice = wr_json_find(doc, 0, "tool_choice");
    return wr_json_text_is(doc, choice, "none") ||
           wr_json_text_is(doc, wr_json_find(doc, choice, "type"), "none");
}

/* Ollama streams unless told otherwise. */
static bool asks_for_stream(const struct wr_transcript *t)
{
    wr_json_id stream = wr_json_find(t->doc, 0, "stream");
    return wr_api_of(t->dialect)->streams_lines ? !wr_json_is(t->doc, stream, WR_JSON_FALSE)
                                                : wr_json_is(t->doc, stream, WR_JSON_TRUE);
}

struct wr_own_look wr_own_look_at(const struct wr_transcript *t, struct wr_arena *arena)
{
    const struct wr_joiner *joiner = wr_api_of(t->dialect)->joiner;
    const struct wr_json *doc = t->doc;
    wr_json_id list = tools_list(t);
    struct wr_own_look look = {.has_model_turn = t->is_delta, .is_stream = asks_for_stream(t)};

    for (uint32_t i = 0; i < t->segments_count; i++)
        look.has_model_turn |= t->segments[i].from_model;
    /* Without memory nothing is offered. */
    if (!joiner || (t->list_tools && t->list_tools(t, arena, look_at_offer, &look)))
        return look;
    look.may_join = joiner->may_join(doc);
    bool is_barred = joiner->bars_calls ? joiner->bars_calls(doc) : bars_calls(doc);
    look.may_call = look.may_join && !is_barred;
    for (wr_json_id tool = wr_json_first(doc, list); tool != WR_JSON_NONE;
         tool = wr_json_next(doc, list, tool))
        look.has_tools |= wr_json_is(doc, tool, WR_JSON_OBJECT) && !joiner->is_hosted(doc, tool);
    return look;
}

/* ---- edits ---- */

static void add_edit(struct wr_own_edits *e, struct wr_own_edit edit)
{
    if (e->status)
        return;
    if (!WR_ARENA_ROOM(e->arena, e->items, e->count, e->cap, EDITS_CAP_FIRST)) {
        e->status = wr_arena_status(e->arena);
        return;
    }
    e->items[e->count++] = edit;
}

void wr_own_remove(struct wr_own_edits *e, wr_json_id container, wr_json_id child)
{
    add_edit(e, (struct wr_own_edit){WR_OWN_REMOVE, container, child, {NULL, 0}});
}

void wr_own_insert(struct wr_own_edits *e, wr_json_id container, wr_json_id child, weir_span json)
{
    add_edit(e, (struct wr_own_edit){WR_OWN_INSERT, container, child, json});
}

void wr_own_set_text(struct wr_own_edits *e, wr_json_id id, weir_span text)
{
    add_edit(e, (struct wr_own_edit){WR_OWN_TEXT, WR_JSON_NONE, id, text});
}

void wr_own_set_json(struct wr_own_edits *e, wr_json_id id, weir_span json)
{
    add_edit(e, (struct wr_own_edit){WR_OWN_JSON, WR_JSON_NONE, id, json});
}

weir_span wr_own_text(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id id)
{
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, e->arena, id);
    if (!text.ptr)
        e->status = wr_arena_status(e->arena);
    return text.ptr ? text : (weir_span){"", 0};
}

/* ---- what earlier legs have said ---- */

static uint64_t mark_of(const struct wr_json *doc, wr_json_id part, bool has_id,
                        struct wr_arena *arena)
{
    static const char *const names[] = {
        "signature", "data",           "id", "tool_use_id", "encrypted_content",
        "thinking",  "redactedContent"};
    wr_json_id inner = wr_json_find(doc, part, "reasoningContent");
    if (inner != WR_JSON_NONE) {
        wr_json_id text = wr_json_find(doc, inner, "reasoningText");
        part = text != WR_JSON_NONE ? text : inner;
    }
    wr_json_id type = wr_json_find(doc, part, "type");
    uint64_t mark = wr_json_is(doc, type, WR_JSON_STRING) ? wr_hash64(wr_json_inner(doc, type)) : 0;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        wr_json_id id = wr_json_find(doc, part, names[i]);
        if (!wr_json_is(doc, id, WR_JSON_STRING) || !wr_json_inner(doc, id).len ||
            (!has_id && !strcmp(names[i], "id")))
            continue;
        weir_span text = wr_json_text(doc, arena, id);
        return text.ptr ? wr_hash64_seeded(text, mark) : 0;
    }
    wr_json_id text = inner != WR_JSON_NONE ? wr_json_find(doc, part, "text") : WR_JSON_NONE;
    return wr_json_is(doc, text, WR_JSON_STRING) ? wr_hash64(wr_json_inner(doc, text)) : mark;
}

uint64_t wr_own_mark(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena)
{
    return mark_of(doc, part, true, arena);
}

uint64_t wr_own_mark_without_id(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena)
{
    return mark_of(doc, part, false, arena);
}

void wr_own_add_mark(struct wr_own_edits *e, struct wr_own_front *front, uint64_t mark)
{
    if (!WR_ARENA_ROOM(e->arena, front->marks, front->marks_count, front->marks_cap,
                       MARKS_CAP_FIRST)) {
        e->status = wr_arena_status(e->arena);
        return;
    }
    front->marks[front->marks_count++] = mark;
}

bool wr_own_has_mark(const struct wr_own_front *front, uint64_t mark)
{
    for (size_t i = 0; i < front->marks_count; i++)
        if (front->marks[i] == mark)
            return true;
    return false;
}

uint64_t wr_own_likeness(const struct wr_json *doc, wr_json_id value, struct wr_arena *arena)
{
    uint64_t sum = 0;

    if (value == WR_JSON_NONE)
        return 0;
    for (wr_json_id i = value; i < doc->nodes[value].after; i++)
        if (wr_json_is(doc, i, WR_JSON_STRING)) {
            weir_span text = wr_json_text(doc, arena, i);
            sum += text.ptr ? wr_hash64_seeded(text, doc->nodes[i].is_key) : 0;
        }
    return sum;
}

weir_status wr_own_parse_elements(struct wr_arena *arena, weir_span elements, struct wr_json *doc)
{
    struct wr_buf text;
    weir_span list;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_buf_byte(&text, '[');
    wr_buf_append(&text, elements);
    wr_buf_byte(&text, ']');
    weir_status status = wr_text_keep(arena, &text, &list);
    return status ? status : wr_json_parse(doc, arena, list, NULL, NULL);
}

bool wr_own_read_front(struct wr_own_edits *e, wr_own_element_fn *read_element,
                       struct wr_own_front *front)
{
    struct wr_buf text;

    *front = (struct wr_own_front){.text = {"", 0}};
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < e->exchange->legs_count && !e->status; i++) {
        struct wr_json doc;
        if (!e->exchange->legs[i].elements.len)
            continue;
        e->status = wr_own_parse_elements(e->arena, e->exchange->legs[i].elements, &doc);
        if (e->status)
            break;
        for (wr_json_id at = wr_json_first(&doc, 0); at != WR_JSON_NONE;
             at = wr_json_next(&doc, 0, at))
            read_element(e, &doc, at, front, &text);
    }
    weir_status status = wr_text_keep(e->arena, &text, &front->text);
    if (!e->status)
        e->status = status;
    return !e->status;
}

static size_t skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.ptr[at], 4))
        at++;
    return at;
}

/* White space is no part of it: clients trim, parts are joined by some, and a text that is nothing
 * else did not go back to the provider. */
enum wr_own_match wr_own_match_text(struct wr_own_front *front, weir_span said, weir_span *rest)
{
    weir_span sought = front->text;
    size_t of_sought = skip_blanks(sought, 0), of_said = skip_blanks(said, 0), end = 0,
           end_said = 0;

    *rest = said;
    if (of_sought == sought.len)
        return WR_OWN_CUT;
    while (of_sought < sought.len && of_said < said.len) {
        if (sought.ptr[of_sought] != said.ptr[of_said])
            return WR_OWN_NO_MATCH;
        end = ++of_sought;
        end_said = ++of_said;
        of_sought = skip_blanks(sought, of_sought);
        of_said = skip_blanks(said, of_said);
        front->has_begun = true;
    }
    front->text = wr_span_from(sought, of_sought);
    if (of_said == said.len)
        return WR_OWN_ALL;
    /* The blanks behind it are the earlier leg's as far as it had them. */
    while (end < sought.len && sought.ptr[end] == said.ptr[end_said]) {
        end++;
        end_said++;
    }
    *rest = wr_span_from(said, end_said);
    return WR_OWN_CUT;
}

bool wr_own_front_is_over(const struct wr_own_front *front)
{
    return wr_text_is_blank(front->text);
}

/* All APIs' kinds of texts end so: text, output_text, input_text. */
bool wr_own_is_text_part(const struct wr_json *doc, wr_json_id part)
{
    wr_json_id type = wr_json_find(doc, part, "type");

    return wr_json_is(doc, type, WR_JSON_STRING) &&
           wr_span_ends(wr_json_inner(doc, type), WR_LIT("text")) &&
           wr_json_is(doc, wr_json_find(doc, part, "text"), WR_JSON_STRING);
}

static enum wr_own_fate cut_text(struct wr_own_edits *e, struct wr_own_front *front,
                                 wr_json_id text)
{
    weir_span said = wr_own_text(e, e->t->doc, text), rest;

    switch (wr_own_match_text(front, said, &rest)) {
    case WR_OWN_NO_MATCH:
        return WR_OWN_FITS_NOT;
    case WR_OWN_ALL:
        return WR_OWN_GONE;
    case WR_OWN_CUT:
        break;
    }
    if (wr_text_is_blank(rest))
        return WR_OWN_GONE;
    if (rest.len < said.len)
        wr_own_set_text(e, text, rest);
    return WR_OWN_STAYS;
}

static enum wr_own_fate cut_parts(struct wr_own_edits *e, struct wr_own_front *front,
                                  wr_json_id content)
{
    const struct wr_json *doc = e->t->doc;
    size_t count = e->count;
    bool is_gone = true;

    for (wr_json_id part = wr_json_first(doc, content); part != WR_JSON_NONE;
         part = wr_json_next(doc, content, part)) {
        bool is_text = wr_own_is_text_part(doc, part);
        enum wr_own_fate fate = WR_OWN_STAYS;
        if (is_text && !wr_own_front_is_over(front))
            fate = cut_text(e, front, wr_json_find(doc, part, "text"));
        if (fate == WR_OWN_FITS_NOT)
            return fate;
        if (fate == WR_OWN_GONE)
            wr_own_remove(e, content, part);
        is_gone &= fate == WR_OWN_GONE;
    }
    if (is_gone) /* the whole of it is replaced, or leaves with its message */
        e->count = count;
    return is_gone ? WR_OWN_GONE : WR_OWN_STAYS;
}

enum wr_own_fate wr_own_cut_content(struct wr_own_edits *e, struct wr_own_front *front,
                                    wr_json_id content)
{
    bool is_list = wr_json_is(e->t->doc, content, WR_JSON_ARRAY);
    return is_list ? cut_parts(e, front, content) : cut_text(e, front, content);
}

void wr_own_insert_elements(struct wr_own_edits *e, wr_json_id child)
{
    for (uint32_t i = 0; i < e->exchange->legs_count; i++)
        if (e->exchange->legs[i].elements.len)
            wr_own_insert(e, e->t->list, child, e->exchange->legs[i].elements);
}

const struct wr_own_leg *wr_own_beside(const struct wr_own_edits *e)
{
    const struct wr_own_leg *last = &e->exchange->legs[e->exchange->legs_count - 1];
    return last->elements.len ? NULL : last;
}

/* ---- the view ---- */

static void offer_tool(struct wr_own_edits *e, weir_span definition)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id list = tools_list(e->t), at;

    if (list == WR_JSON_NONE) {
        e->status = WEIR_INVALID;
        return;
    }
    for (at = wr_json_first(doc, list); at != WR_JSON_NONE; at = wr_json_next(doc, list, at))
        if (wr_find_marker(doc, at) != WR_JSON_NONE ||
            wr_find_marker(doc, wr_json_find(doc, at, "function")) != WR_JSON_NONE)
            break;
    wr_own_insert(e, list, at, definition);
}

/* The id that the request goes on from is spelt in one place. */
static void set_previous(struct wr_own_edits *e, weir_span id)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_api *api = wr_api_of(e->t->dialect);
    weir_span now = api->id_before ? api->id_before(doc) : (weir_span){NULL, 0};

    for (wr_json_id at = 0; now.len && at < doc->nodes_count; at++)
        if (wr_json_is(doc, at, WR_JSON_STRING) && wr_json_inner(doc, at).ptr == now.ptr) {
            wr_own_set_text(e, at, id);
            return;
        }
    e->status = WEIR_INVALID;
}

/* A request may say its words as one text: then they become the list's first element. */
static void append_elements(struct wr_own_edits *e, weir_span elements)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id words = wr_json_find(doc, wr_api_root(e->t), wr_api_of(e->t->dialect)->list_key);
    struct wr_buf list;
    weir_span text;

    if (wr_json_is(doc, words, WR_JSON_ARRAY)) {
        wr_own_insert(e, words, WR_JSON_NONE, elements);
        return;
    }
    if (!wr_json_is(doc, words, WR_JSON_STRING)) {
        e->status = WEIR_INVALID;
        return;
    }
    wr_buf_init(&list, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&list, "[{\"role\":\"user\",\"content\":");
    wr_buf_append(&list, wr_json_raw(doc, words));
    wr_buf_text(&list, "},");
    wr_buf_append(&list, elements);
    wr_buf_byte(&list, ']');
    e->status = wr_text_keep(e->arena, &list, &text);
    wr_own_set_json(e, words, text);
}

/* What tells the reasoning of the legs that asked. */
static void mark_parts(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                       struct wr_own_front *front, struct wr_buf *text)
{
    wr_json_id parts = wr_json_find(doc, element, wr_api_of(e->t->dialect)->content_key);

    (void)text;
    wr_own_add_mark(e, front, wr_own_mark(doc, element, e->arena));
    if (!wr_json_is(doc, parts, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, parts); at != WR_JSON_NONE;
         at = wr_json_next(doc, parts, at))
        wr_own_add_mark(e, front, wr_own_mark(doc, at, e->arena));
}

/* Reasoning may be a member of a message that says other things too: that message stays whole. */
static bool stands_alone(const struct wr_own_edits *e, const struct wr_segment *reasoning)
{
    for (uint32_t i = e->answer->first; i <= e->answer->last; i++) {
        const struct wr_segment *s = &e->t->segments[i];
        if (s != reasoning && s->element == reasoning->element)
            return false;
    }
    return reasoning->array != WR_JSON_NONE;
}

/* Everything else that the client was shown of those legs stays where it is. */
static bool leave_out(struct wr_own_edits *e)
{
    const struct wr_own_answer *answer = e->answer;
    struct wr_own_front front;
    uint32_t stays = 0;

    if (!answer || wr_own_beside(e) || !wr_own_read_front(e, mark_parts, &front))
        return false;
    for (uint32_t i = answer->first; i <= answer->last; i++) {
        const struct wr_segment *s = &e->t->segments[i];
        uint64_t mark = s->kind == WEIR_KIND_REASONING && stands_alone(e, s)
                            ? wr_own_mark(e->t->doc, s->element, e->arena)
                            : 0;
        bool is_theirs = mark && wr_own_has_mark(&front, mark); /* 0: nothing tells it */
        if (is_theirs)
            wr_own_remove(e, s->array, s->element);
        else
            stays++;
    }
    return stays > 0;
}

bool wr_own_may_leave(weir_dialect dialect, weir_span exchange, struct wr_arena *arena)
{
    struct wr_own_exchange decoded;

    if (wr_own_decode(dialect, exchange, arena, &decoded))
        return false;
    for (uint32_t i = 0; i < decoded.legs_count; i++)
        if (!decoded.legs[i].elements.len)
            return false;
    return decoded.legs_count > 0;
}

/* False: it does not fit, and the request is as if it were not there. */
static bool put_back(struct wr_own_edits *e, const struct wr_own_put *put)
{
    struct wr_own_exchange exchange;
    size_t count = e->count;

    weir_status status = wr_own_decode(e->t->dialect, put->exchange, e->arena, &exchange);
    if (status) {
        if (status != WEIR_INVALID)
            e->status = status;
        return false;
    }
    e->answer = put->answer;
    e->exchange = &exchange;
    bool fits = put->leaves ? leave_out(e) : wr_api_of(e->t->dialect)->joiner->put_back(e);
    if (e->status == WEIR_SYNTAX) /* elements that are no JSON */
        e->status = WEIR_OK, fits = false;
    if (!fits)
        e->count = count;
    /* Reasoning that led to calls which are not there is refused by some: it leaves. */
    if (!fits && !put->leaves && !e->status && !leave_out(e))
        e->count = count;
    return fits;
}

static weir_status write_edits(const struct wr_own_edits *e, struct wr_buf *out)
{
    struct wr_splice splice;
    size_t len = out->len;

    wr_splice_init(&splice, e->t->doc, e->arena);
    for (size_t i = 0; i < e->count; i++) {
        const struct wr_own_edit *edit = &e->items[i];
        switch (edit->kind) {
        case WR_OWN_REMOVE:
            wr_splice_remove(&splice, edit->container, edit->child);
            break;
        case WR_OWN_INSERT:
            wr_splice_insert(&splice, edit->container, edit->child, edit->text);
            break;
        case WR_OWN_TEXT:
            wr_splice_set_text(&splice, edit->child, edit->text);
            break;
        case WR_OWN_JSON:
            wr_splice_set_json(&splice, edit->child, edit->text);
            break;
        }
    }
    weir_status status = wr_splice_apply(&splice, out, NULL);
    if (status)
        out->len = len;
    return status;
}

weir_status wr_own_view_write(const struct wr_transcript *t, struct wr_arena *arena,
                              const struct wr_own_view *view, struct wr_buf *out,
                              uint32_t *left_out)
{
    struct wr_own_edits edits = {.t = t, .arena = arena};

    *left_out = 0;
    if (!wr_api_of(t->dialect)->joiner)
        return WEIR_INVALID;
    if (view->definition.len)
        offer_tool(&edits, view->definition);
    for (size_t i = 0; i < view->puts_count && !edits.status; i++)
        *left_out += !put_back(&edits, &view->puts[i]);
    if (view->previous_id.len && !edits.status)
        set_previous(&edits, view->previous_id);
    if (view->elements.len && !edits.status)
        append_elements(&edits, view->elements);
    return edits.status ? edits.status : write_edits(&edits, out);
}

/* ==== answers that were stored ==== */

weir_status wr_own_show_stored(const struct wr_api *api, weir_span body,
                               const struct wr_own_stored *stored, struct wr_buf *out)
{
    struct wr_splice splice;
    struct wr_json doc;

    if (!api || !api->joiner || !api->joiner->show_stored)
        return WEIR_INVALID;
    weir_status status = wr_json_parse(&doc, stored->arena, body, NULL, NULL);
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return WEIR_INVALID;
    wr_splice_init(&splice, &doc, stored->arena);
    api->joiner->show_stored(&splice, &doc, stored);
    return wr_splice_apply(&splice, out, NULL);
}
