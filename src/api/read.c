/* What the readers of requests share: segments of the parts that every API has in some shape.
 *
 * An API's own file knows its keys; here is what becomes of them. Calls that a model without tools
 * speaks as text (spoken.h), and the calls that another request's answer made (calls.h), are put
 * in by the same functions, so that nobody behind them can tell where a call came from.
 */

#include "api/read.h"

#include <stdio.h>

#include "api/lawful.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "transcript/transcript.h"

struct wr_segment wr_segment_at(const struct wr_place *place, weir_kind kind, wr_json_id payload)
{
    return (struct wr_segment){
        .role = place->role,
        .kind = kind,
        .from_model = place->role == WEIR_ROLE_ASSISTANT,
        .payload = payload,
        .element = place->message,
        .array = place->list,
        .message = place->message,
        .block = WR_JSON_NONE,
        .marker = WR_JSON_NONE,
    };
}

weir_role wr_role_of(const struct wr_json *doc, wr_json_id role)
{
    static const weir_role roles[] = {WEIR_ROLE_SYSTEM, WEIR_ROLE_DEVELOPER, WEIR_ROLE_USER,
                                      WEIR_ROLE_ASSISTANT, WEIR_ROLE_TOOL};
    for (size_t i = 0; i < WR_COUNT_OF(roles); i++)
        if (wr_json_text_is(doc, role, weir_role_name(roles[i])))
            return roles[i];
    return WEIR_ROLE_NONE;
}

static bool is_instructions(weir_role role)
{
    return role == WEIR_ROLE_SYSTEM || role == WEIR_ROLE_DEVELOPER;
}

weir_span wr_text_or_empty(struct wr_transcript *transcript, wr_json_id id, weir_status *status)
{
    if (!wr_json_is(transcript->doc, id, WR_JSON_STRING))
        return (weir_span){"", 0};
    weir_span text = wr_json_text(transcript->doc, transcript->arena, id);
    if (!text.ptr)
        *status = wr_arena_status(transcript->arena);
    return text;
}

static weir_status set_parts(struct wr_transcript *transcript, struct wr_segment *segment,
                             wr_json_id part)
{
    wr_json_id *parts = WR_ARENA_ARRAY(transcript->arena, wr_json_id, 1);
    if (!parts)
        return wr_arena_status(transcript->arena);
    parts[0] = part;
    segment->parts = parts;
    segment->parts_count = 1;
    return WEIR_OK;
}

/* What is not known here stays where it is. */
static void make_opaque(struct wr_segment *segment, bool is_continuation)
{
    segment->is_opaque = true;
    segment->is_continuation = is_continuation;
    if (segment->kind == WEIR_KIND_OTHER && !is_continuation)
        segment->array = WR_JSON_NONE;
}

/* Text of the user and of the model may be edited by hand; instructions never. */
static weir_status add_text(struct wr_transcript *transcript, struct wr_segment *segment,
                            wr_json_id text)
{
    if (is_instructions(segment->role)) {
        segment->kind = WEIR_KIND_SYSTEM;
    } else if (segment->role == WEIR_ROLE_NONE) {
        segment->kind = WEIR_KIND_OTHER;
        make_opaque(segment, false);
    } else {
        weir_status status = set_parts(transcript, segment, text);
        if (status)
            return status;
    }
    return wr_transcript_add(transcript, segment);
}

weir_status wr_add_opaque(struct wr_transcript *transcript, const struct wr_place *place,
                          weir_kind kind, wr_json_id payload, bool is_continuation)
{
    struct wr_segment segment = wr_segment_at(place, kind, payload);
    make_opaque(&segment, is_continuation);
    return wr_transcript_add(transcript, &segment);
}

weir_status wr_add_content(struct wr_transcript *transcript, const struct wr_place *place,
                           wr_json_id content, wr_block_fn *read_block)
{
    const struct wr_json *doc = transcript->doc;

    if (content == WR_JSON_NONE || wr_json_kind(doc, content) == WR_JSON_NULL)
        return WEIR_OK;
    if (wr_json_kind(doc, content) == WR_JSON_STRING) {
        struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TEXT, content);
        return wr_json_inner(doc, content).len ? add_text(transcript, &segment, content) : WEIR_OK;
    }
    if (wr_json_kind(doc, content) != WR_JSON_ARRAY)
        return wr_add_opaque(transcript, place, WEIR_KIND_OTHER, content, false);
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block)) {
        weir_status status = read_block(transcript, place, content, block);
        if (status)
            return status;
    }
    return WEIR_OK;
}

void wr_place_block(struct wr_transcript *transcript, struct wr_segment *segment, wr_json_id blocks,
                    wr_json_id block)
{
    segment->element = block;
    segment->array = segment->message == WR_JSON_NONE ? WR_JSON_NONE : blocks;
    segment->block = block;
    segment->marker = wr_find_marker(transcript->doc, block);
}

weir_status wr_add_text_block(struct wr_transcript *transcript, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block, wr_json_id text)
{
    if (!wr_json_is(transcript->doc, text, WR_JSON_STRING))
        return wr_add_exact_block(transcript, place, WEIR_KIND_OTHER, blocks, block, false);
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TEXT, text);
    wr_place_block(transcript, &segment, blocks, block);
    return add_text(transcript, &segment, text);
}

weir_status wr_add_exact_block(struct wr_transcript *transcript, const struct wr_place *place,
                               weir_kind kind, wr_json_id blocks, wr_json_id block,
                               bool is_continuation)
{
    struct wr_segment segment = wr_segment_at(place, kind, block);
    wr_place_block(transcript, &segment, blocks, block);
    make_opaque(&segment, is_continuation);
    return wr_transcript_add(transcript, &segment);
}

weir_status wr_add_refusal(struct wr_transcript *transcript, const struct wr_place *place,
                           wr_json_id blocks, wr_json_id block, wr_json_id refusal)
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TEXT, refusal);
    bool is_text = wr_json_is(transcript->doc, refusal, WR_JSON_STRING);
    if (block == WR_JSON_NONE && (!is_text || !wr_json_inner(transcript->doc, refusal).len))
        return WEIR_OK;
    if (!is_text)
        return wr_add_exact_block(transcript, place, WEIR_KIND_OTHER, blocks, block, false);
    if (block != WR_JSON_NONE)
        wr_place_block(transcript, &segment, blocks, block);
    segment.is_opaque = true;
    return wr_transcript_add(transcript, &segment);
}

bool wr_has_signature(const struct wr_json *doc, wr_json_id block)
{
    wr_json_id signature = wr_json_find(doc, block, "signature");
    return wr_json_is(doc, signature, WR_JSON_STRING) && wr_json_inner(doc, signature).len;
}

static wr_json_id text_of_block(const struct wr_json *doc, wr_json_id block, const char *text_type)
{
    static const char *const names[] = {"type", "text"};
    wr_json_id values[2];
    if (!wr_json_pick(doc, block, names, 2, values))
        return WR_JSON_NONE;
    bool is_text = text_type ? wr_json_text_is(doc, values[0], text_type)
                             : values[0] == WR_JSON_NONE && wr_json_count(doc, block) == 1;
    if (!is_text)
        return WR_JSON_NONE;
    return wr_json_is(doc, values[1], WR_JSON_STRING) ? values[1] : WR_JSON_NONE;
}

weir_status wr_set_result_parts(struct wr_transcript *transcript, struct wr_segment *segment,
                                wr_json_id content, const char *text_type)
{
    const struct wr_json *doc = transcript->doc;

    if (content == WR_JSON_NONE)
        return WEIR_OK;
    segment->payload = content;
    if (wr_json_kind(doc, content) == WR_JSON_STRING)
        return set_parts(transcript, segment, content);
    if (wr_json_kind(doc, content) != WR_JSON_ARRAY)
        return WEIR_OK;

    wr_json_id *parts = WR_ARENA_ARRAY(transcript->arena, wr_json_id, wr_json_count(doc, content));
    if (!parts)
        return wr_arena_status(transcript->arena);
    uint32_t count = 0;
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block)) {
        wr_json_id text = text_of_block(doc, block, text_type);
        if (text != WR_JSON_NONE)
            parts[count++] = text;
        else
            segment->has_exact_blocks = true;
        wr_json_id marker = wr_find_marker(doc, block);
        if (segment->marker == WR_JSON_NONE)
            segment->marker = marker;
    }
    segment->parts = parts;
    segment->parts_count = count;
    return WEIR_OK;
}

/* ---- results that are objects ---- */

static wr_json_id longest_string(const struct wr_json *doc, wr_json_id value)
{
    wr_json_id longest = WR_JSON_NONE;

    for (wr_json_id i = value; i < doc->nodes[value].after; i++)
        if (wr_json_is(doc, i, WR_JSON_STRING) && !doc->nodes[i].is_key &&
            (longest == WR_JSON_NONE ||
             wr_json_inner(doc, i).len > wr_json_inner(doc, longest).len))
            longest = i;
    return longest;
}

/* Text blocks as MCP's tools give them: under `content`, or under that of a `result`. */
static wr_json_id find_blocks(const struct wr_json *doc, wr_json_id response)
{
    wr_json_id content = wr_json_find(doc, response, "content");

    if (!wr_json_is(doc, content, WR_JSON_ARRAY))
        content = wr_json_find(doc, wr_json_find(doc, response, "result"), "content");
    return wr_json_is(doc, content, WR_JSON_ARRAY) ? content : WR_JSON_NONE;
}

/* What a result may say beside its text. */
enum { REST_BYTES_MIN = 128, REST_SHARE = 4 };

/* Both streams of a command, or the one string that matters. */
static weir_status set_strings(struct wr_transcript *t, struct wr_segment *segment,
                               wr_json_id response)
{
    static const char *const streams[] = {"stdout", "stderr"};
    wr_json_id *strings = WR_ARENA_ARRAY(t->arena, wr_json_id, 2);

    if (!strings)
        return wr_arena_status(t->arena);
    segment->parts = strings;
    for (size_t i = 0; i < 2; i++) {
        wr_json_id stream = wr_json_find(t->doc, response, streams[i]);
        if (wr_json_is(t->doc, stream, WR_JSON_STRING) && wr_json_inner(t->doc, stream).len)
            strings[segment->parts_count++] = stream;
    }
    if (segment->parts_count == 2 && strings[0] > strings[1]) { /* in the order of the body */
        wr_json_id first = strings[1];
        strings[1] = strings[0];
        strings[0] = first;
    }
    if (segment->parts_count)
        return WEIR_OK;
    strings[0] = longest_string(t->doc, response);
    segment->parts_count = strings[0] != WR_JSON_NONE;
    if (segment->parts_count && wr_json_count(t->doc, response) == 1 &&
        strings[0] == response + 2) /* the value of its only member */
        segment->payload = strings[0];
    return WEIR_OK;
}

/* The parts of a result, where they are nearly all that it says: the rest is neither counted nor
 * condensed. */
weir_status wr_set_object_parts(struct wr_transcript *t, struct wr_segment *segment,
                                wr_json_id response)
{
    const struct wr_json *doc = t->doc;
    wr_json_id blocks = find_blocks(doc, response);
    size_t bytes = 0;

    segment->payload = response;
    weir_status status = blocks != WR_JSON_NONE ? wr_set_result_parts(t, segment, blocks, "text")
                                                : set_strings(t, segment, response);
    for (uint32_t i = 0; i < segment->parts_count; i++)
        bytes += wr_json_raw(doc, segment->parts[i]).len;
    size_t rest_bytes = wr_json_raw(doc, response).len - bytes;
    if (rest_bytes <= REST_BYTES_MIN || rest_bytes <= bytes / REST_SHARE)
        return status;
    segment->payload = response;
    segment->parts_count = 0;
    return status;
}

weir_status wr_add_whole(struct wr_transcript *transcript, weir_kind kind, weir_role role,
                         wr_json_id payload)
{
    const struct wr_json *doc = transcript->doc;
    if (payload == WR_JSON_NONE || wr_json_kind(doc, payload) == WR_JSON_NULL)
        return WEIR_OK;
    if (wr_json_kind(doc, payload) == WR_JSON_ARRAY && wr_json_first(doc, payload) == WR_JSON_NONE)
        return WEIR_OK;
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, role};
    return wr_add_opaque(transcript, &place, kind, payload, false);
}

/* ---- tools ---- */

struct offering {
    const struct wr_json *doc;
    struct wr_arena *arena;
    uint32_t segment;
    wr_offer_fn *on_offer;
    void *user;
};

/* Names stand under `name` of a tool, or of what each API has inside it. */
static weir_status offer_tool(const struct offering *o, weir_span space, wr_json_id tool)
{
    static const char *const inside[] = {NULL, "function", "custom", "toolSpec", "systemTool"};
    wr_json_id deferred = wr_json_find(o->doc, tool, "defer_loading");
    struct wr_offer offer = {.definition = tool,
                             .segment = o->segment,
                             .is_deferred = wr_json_is(o->doc, deferred, WR_JSON_TRUE)};
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < WR_COUNT_OF(inside) && !status; i++) {
        wr_json_id body = inside[i] ? wr_json_find(o->doc, tool, inside[i]) : tool;
        wr_json_id name = wr_json_find(o->doc, body, "name");
        if (!wr_json_is(o->doc, name, WR_JSON_STRING))
            continue;
        offer.name = wr_tool_join(o->arena, space, wr_json_text(o->doc, o->arena, name));
        status = offer.name.ptr ? o->on_offer(o->user, &offer) : wr_arena_status(o->arena);
    }
    return status;
}

/* The name of a namespace; empty for any other list of tools. */
static weir_span space_name(const struct offering *o, wr_json_id tool)
{
    wr_json_id name = wr_json_find(o->doc, tool, "name");
    if (!wr_json_text_is(o->doc, wr_json_find(o->doc, tool, "type"), "namespace") ||
        !wr_json_is(o->doc, name, WR_JSON_STRING))
        return (weir_span){"", 0};
    return wr_json_text(o->doc, o->arena, name);
}

static weir_status offer_list(const struct offering *o, wr_json_id list)
{
    weir_status status = WEIR_OK;

    if (!wr_json_is(o->doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id tool = wr_json_first(o->doc, list); tool != WR_JSON_NONE && !status;
         tool = wr_json_next(o->doc, list, tool)) {
        status = offer_tool(o, (weir_span){"", 0}, tool);
        wr_json_id inner = wr_json_find(o->doc, tool, "tools");
        if (status || !wr_json_is(o->doc, inner, WR_JSON_ARRAY))
            continue;
        weir_span space = space_name(o, tool);
        if (!space.ptr)
            return wr_arena_status(o->arena);
        for (wr_json_id t = wr_json_first(o->doc, inner); t != WR_JSON_NONE && !status;
             t = wr_json_next(o->doc, inner, t))
            status = offer_tool(o, space, t);
    }
    return status;
}

void wr_read_answers(struct wr_transcript *t, wr_json_id id)
{
    int64_t answers;

    if (id != WR_JSON_NONE && wr_json_i64(t->doc, id, &answers) && answers > 0)
        t->answers_count = answers < WR_API_ANSWERS_MAX ? (uint32_t)answers : WR_API_ANSWERS_MAX;
}

weir_status wr_list_tools(const struct wr_transcript *transcript, struct wr_arena *arena,
                          wr_offer_fn *on_offer, void *user)
{
    struct offering o = {
        .doc = transcript->doc, .arena = arena, .on_offer = on_offer, .user = user};
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < transcript->segments_count && !status; i++) {
        const struct wr_segment *s = &transcript->segments[i];
        if (s->kind != WEIR_KIND_TOOLS)
            continue;
        bool is_list = wr_json_kind(o.doc, s->payload) == WR_JSON_ARRAY;
        o.segment = i;
        status = offer_list(&o, is_list ? s->payload : wr_json_find(o.doc, s->payload, "tools"));
    }
    return status;
}

void wr_write_openai_error(struct wr_json_writer *w, int status, const char *message)
{
    (void)status; /* their SDKs go by that of the answer */
    wr_json_write_key(w, "error");
    wr_json_write_object(w);
    wr_json_member_word(w, "type", "weir_error");
    wr_json_member_word(w, "message", message);
    wr_json_member_null(w, "param");
    wr_json_member_word(w, "code", "weir");
    wr_json_write_object_end(w);
}

wr_json_id wr_first_unread(struct wr_transcript *transcript, weir_status *status)
{
    if (*status)
        return WR_JSON_NONE;
    return wr_start_segments(transcript->start, transcript, transcript->list, status);
}

/* ==== spoken ==== */

/* As the text stands in the body, where a line's end is two characters. One call and no more: with
 * several, which part of the answer belongs to which cannot be told. */
#define CALL_FRONT   "Calling tools:\\n[{'id': '"
#define CALL_MIDDLE  "', 'type': 'function', 'function': {'name': '"
#define CALL_END     "', 'arguments': "
#define RESULT_FRONT "Observation:\\n"
#define ERROR_FRONT  "Error:\\n"
#define ID_FRONT     "Call id: "

enum { HANDLE_DIGITS = 20 };

/* The one text of a message; NONE: it has several parts, or another kind. */
static wr_json_id only_text(const struct wr_json *doc, wr_json_id content)
{
    if (wr_json_is(doc, content, WR_JSON_ARRAY)) {
        wr_json_id part = wr_json_first(doc, content);
        if (part == WR_JSON_NONE || wr_json_next(doc, content, part) != WR_JSON_NONE ||
            !wr_json_text_is(doc, wr_json_find(doc, part, "type"), "text"))
            return WR_JSON_NONE;
        content = wr_json_find(doc, part, "text");
    }
    return wr_json_is(doc, content, WR_JSON_STRING) ? content : WR_JSON_NONE;
}

/* Takes what stands before `end` off `rest`, and `end` with it; empty: it is not there, or is no
 * plain name. */
static weir_span take_name(weir_span *rest, const char *end)
{
    weir_span mark = wr_span_of(end);
    size_t at = wr_span_find(*rest, mark, 0);
    weir_span name = wr_span_cut(*rest, 0, at == SIZE_MAX ? 0 : at);

    for (size_t i = 0; i < name.len; i++)
        if (!wr_is_word(name.ptr[i]) && !strchr("-.:", name.ptr[i]))
            return (weir_span){"", 0};
    *rest = wr_span_cut(*rest, at == SIZE_MAX ? rest->len : at + mark.len, rest->len);
    return name;
}

static bool read_call(weir_span text, weir_span *id, weir_span *tool)
{
    if (!wr_span_starts(text, WR_LIT(CALL_FRONT)))
        return false;
    weir_span rest = wr_span_cut(text, strlen(CALL_FRONT), text.len);
    *id = take_name(&rest, CALL_MIDDLE);
    *tool = id->len ? take_name(&rest, CALL_END) : (weir_span){"", 0};
    return tool->len && wr_span_ends(rest, WR_LIT("}}]")) &&
           !wr_span_has(rest, WR_LIT(CALL_MIDDLE));
}

weir_status wr_add_spoken_call(struct wr_transcript *t, const struct wr_place *place,
                               wr_json_id content, bool *is_call)
{
    wr_json_id text = only_text(t->doc, content);
    weir_span id, tool;

    *is_call = text != WR_JSON_NONE && read_call(wr_json_inner(t->doc, text), &id, &tool);
    if (!*is_call)
        return WEIR_OK;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_CALL, text);
    segment.call_id = id;
    segment.tool = tool;
    return wr_transcript_add(t, &segment);
}

weir_span wr_spoken_call_id(const struct wr_transcript *t)
{
    const struct wr_segment *last = t->segments_count ? &t->segments[t->segments_count - 1] : NULL;
    weir_span id, tool;

    if (!last || last->kind != WEIR_KIND_TOOL_CALL ||
        !wr_json_is(t->doc, last->payload, WR_JSON_STRING) ||
        !read_call(wr_json_inner(t->doc, last->payload), &id, &tool))
        return (weir_span){"", 0};
    return last->call_id;
}

/* What stands for a text that was taken out may begin otherwise, but names its handle. */
static bool has_handle(weir_span text)
{
    for (size_t at = 0; (at = wr_span_find(text, WR_LIT("wr_"), at)) != SIZE_MAX; at += 3) {
        size_t digits = 0;
        while (digits < HANDLE_DIGITS && at + 3 + digits < text.len &&
               wr_is_hex(text.ptr[at + 3 + digits]))
            digits++;
        if (digits == HANDLE_DIGITS)
            return true;
    }
    return false;
}

/* "Error:", with the call's id on a line before it or without. */
static bool is_failure(weir_span text, weir_span id)
{
    weir_span rest = wr_span_cut(text, strlen(ID_FRONT), text.len);

    if (wr_span_starts(text, WR_LIT(ID_FRONT)) && wr_span_starts(rest, id)) {
        text = wr_span_cut(rest, id.len, rest.len);
        if (!wr_span_starts(text, WR_LIT("\\n")))
            return false;
        text = wr_span_cut(text, 2, text.len);
    }
    return wr_span_starts(text, WR_LIT(ERROR_FRONT));
}

bool wr_is_spoken_result(const struct wr_transcript *t, wr_json_id content, bool *is_error)
{
    weir_span id = wr_spoken_call_id(t);

    *is_error = false;
    if (!id.len)
        return false;
    wr_json_id text = only_text(t->doc, content);
    weir_span inner = text != WR_JSON_NONE ? wr_json_inner(t->doc, text) : (weir_span){"", 0};
    *is_error = is_failure(inner, id);
    return *is_error || wr_span_starts(inner, WR_LIT(RESULT_FRONT)) || has_handle(inner);
}

/* ==== calls ==== */

/* An output with more calls than that pairs by id alone. */
enum { CALLS_SEARCHED_MAX = 1024, NUMBER_BYTES = 12 };

void wr_calls_init(struct wr_calls *calls, struct wr_transcript *t)
{
    *calls = (struct wr_calls){.t = t, .message = WR_JSON_NONE};
    for (uint32_t i = 0; i < t->segments_count; i++)
        calls->count += t->segments[i].kind == WEIR_KIND_TOOL_CALL;
}

static bool is_numbered(const struct wr_segment *call)
{
    return call->call_id.len && call->call_id.ptr[0] == '#';
}

weir_status wr_calls_number(struct wr_calls *calls, struct wr_segment *call)
{
    calls->count++;
    if (call->call_id.len)
        return WEIR_OK;
    char *number = wr_arena_alloc(calls->t->arena, NUMBER_BYTES);
    if (!number)
        return wr_arena_status(calls->t->arena);
    int bytes = snprintf(number, NUMBER_BYTES, "#%u", calls->count);
    call->call_id = (weir_span){number, (size_t)bytes};
    return WEIR_OK;
}

/* Finds the model output before a message, and which of its calls have results already. */
static weir_status find_output(struct wr_calls *calls, wr_json_id message)
{
    struct wr_transcript *t = calls->t;
    uint32_t end = t->segments_count;

    if (calls->message == message)
        return WEIR_OK;
    calls->message = message;
    while (end && !t->segments[end - 1].from_model)
        end--;
    uint32_t first = end;
    while (first && t->segments[first - 1].from_model && end - first < CALLS_SEARCHED_MAX)
        first--;
    calls->output_first = first;
    calls->output_end = end;
    calls->is_answered = WR_ARENA_ARRAY(t->arena, bool, end - first);
    if (!calls->is_answered)
        return wr_arena_status(t->arena);
    for (uint32_t i = end; i < t->segments_count && i - end < CALLS_SEARCHED_MAX; i++)
        for (uint32_t k = first; k < end && t->segments[i].kind == WEIR_KIND_TOOL_RESULT; k++)
            if (wr_span_eq(t->segments[k].call_id, t->segments[i].call_id))
                calls->is_answered[k - first] = true;
    return WEIR_OK;
}

weir_status wr_calls_find(struct wr_calls *calls, wr_json_id message, weir_span tool, weir_span *id)
{
    weir_status status = find_output(calls, message);

    for (uint32_t i = calls->output_first; i < calls->output_end && !status; i++) {
        const struct wr_segment *call = &calls->t->segments[i];
        if (call->kind != WEIR_KIND_TOOL_CALL || calls->is_answered[i - calls->output_first])
            continue;
        bool is_meant = id->len && !is_numbered(call)
                            ? wr_span_eq(call->call_id, *id)
                            : wr_span_eq(call->tool, tool) || (calls->takes_nameless && !tool.len);
        if (!is_meant)
            continue;
        calls->is_answered[i - calls->output_first] = true;
        *id = call->call_id;
        break;
    }
    return status;
}
