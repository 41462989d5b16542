/* Requests of Google's Gemini: contents of a user and a model, each a list of parts.
 *
 *   - names of members are read in both spellings that the service takes (functionCall,
 *     function_call). An object that has one twice stays exact;
 *   - calls and results often have no ids: a result belongs to the next call of its name in the
 *     model output before it. Such a call is known here by its number in the conversation, "#12",
 *     which does not depend on what comes later;
 *   - a result is an object, not a text. Its strings may be edited where they are nearly all that
 *     it says; else it stays whole;
 *   - calls carry signatures that must come back: calls are never edited, nor are signed words.
 */
#include <stdio.h>

#include "api/gemini.h"
#include "api/read.h"
#include "base/span.h"

/* From P_SIGNATURE on each has a second spelling. */
static const char *const part_names[WR_GEMINI_FIELDS] = {
    "text",          "thought",           "thoughtSignature",
    "functionCall",  "functionResponse",  "inlineData",
    "fileData",      "executableCode",    "codeExecutionResult",
    "toolCall",      "toolResponse",      "thought_signature",
    "function_call", "function_response", "inline_data",
    "file_data",     "executable_code",   "code_execution_result",
    "tool_call",     "tool_response"};

bool wr_gemini_pick(const struct wr_json *doc, wr_json_id part, wr_json_id fields[WR_GEMINI_FIELDS])
{
    bool is_unique = wr_json_pick(doc, part, part_names, WR_GEMINI_FIELDS, fields);

    for (int i = P_SIGNATURE; i < P_COUNT; i++) {
        wr_json_id other = fields[i + P_COUNT - P_SIGNATURE];
        if (other == WR_JSON_NONE)
            continue;
        is_unique &= fields[i] == WR_JSON_NONE;
        fields[i] = other;
    }
    return is_unique;
}

wr_json_id wr_gemini_find(const struct wr_json *doc, wr_json_id object, const char *name,
                          const char *other)
{
    wr_json_id id = wr_json_find(doc, object, name);
    return id != WR_JSON_NONE ? id : wr_json_find(doc, object, other);
}

/* ---- calls and their results ---- */

struct reader {
    struct wr_transcript *t;
    uint32_t calls_count; /* in the conversation so far */
    /* The model output that results at hand answer; found when the first of a content comes. */
    wr_json_id content; /* whose results these are */
    uint32_t output_first, output_end;
    bool *is_answered; /* of each of its segments */
};

/* An output with more calls than that pairs by id alone; what a result may say beside its text. */
enum { CALLS_SEARCHED_MAX = 1024, NUMBER_BYTES = 12, REST_BYTES_MIN = 128, REST_SHARE = 4 };

static bool is_numbered(const struct wr_segment *call)
{
    return call->call_id.len && call->call_id.ptr[0] == '#';
}

static weir_status read_call(struct reader *r, const struct wr_place *place, wr_json_id parts,
                             wr_json_id part, wr_json_id call)
{
    static const char *const names[] = {"name", "args", "id"};
    struct wr_transcript *t = r->t;
    wr_json_id fields[3];
    weir_status status = WEIR_OK;

    if (!wr_json_pick(t->doc, call, names, 3, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    struct wr_segment segment =
        wr_segment_at(place, WEIR_KIND_TOOL_CALL, fields[1] != WR_JSON_NONE ? fields[1] : call);
    wr_place_block(t, &segment, parts, part);
    segment.is_opaque = true;
    segment.tool = wr_text_or_empty(t, fields[0], &status);
    segment.call_id = wr_text_or_empty(t, fields[2], &status);
    r->calls_count++;
    if (!segment.call_id.len) {
        char *number = wr_arena_alloc(t->arena, NUMBER_BYTES);
        if (!number)
            return wr_arena_status(t->arena);
        int bytes = snprintf(number, NUMBER_BYTES, "#%u", r->calls_count);
        segment.call_id = (weir_span){number, (size_t)bytes};
    }
    return status ? status : wr_transcript_add(t, &segment);
}

/* Finds the model output before a content, and which of its calls have results already. */
static weir_status find_output(struct reader *r, wr_json_id content)
{
    struct wr_transcript *t = r->t;
    uint32_t end = t->segments_count;

    if (r->content == content)
        return WEIR_OK;
    r->content = content;
    while (end && !t->segments[end - 1].from_model)
        end--;
    uint32_t first = end;
    while (first && t->segments[first - 1].from_model && end - first < CALLS_SEARCHED_MAX)
        first--;
    r->output_first = first;
    r->output_end = end;
    r->is_answered = WR_ARENA_ARRAY(t->arena, bool, end - first);
    if (!r->is_answered)
        return wr_arena_status(t->arena);
    for (uint32_t i = end; i < t->segments_count && i - end < CALLS_SEARCHED_MAX; i++)
        for (uint32_t k = first; k < end && t->segments[i].kind == WEIR_KIND_TOOL_RESULT; k++)
            if (wr_span_eq(t->segments[k].call_id, t->segments[i].call_id))
                r->is_answered[k - first] = true;
    return WEIR_OK;
}

/* The id of the call that a result answers. A result may have an id that the client made up for a
 * call without one. */
static weir_span find_call_id(struct reader *r, weir_span tool, weir_span id)
{
    for (uint32_t i = r->output_first; i < r->output_end; i++) {
        const struct wr_segment *call = &r->t->segments[i];
        if (call->kind != WEIR_KIND_TOOL_CALL || r->is_answered[i - r->output_first])
            continue;
        bool is_meant = id.len && !is_numbered(call) ? wr_span_eq(call->call_id, id)
                                                     : wr_span_eq(call->tool, tool);
        if (!is_meant)
            continue;
        r->is_answered[i - r->output_first] = true;
        return call->call_id;
    }
    return id;
}

/* ---- what a result says ---- */

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
static weir_status set_response_parts(struct wr_transcript *t, struct wr_segment *segment,
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

static bool has_failed(const struct wr_json *doc, wr_json_id response)
{
    wr_json_id error = wr_json_find(doc, response, "error");
    return (error != WR_JSON_NONE && !wr_json_is(doc, error, WR_JSON_NULL) &&
            wr_json_find(doc, response, "output") == WR_JSON_NONE) ||
           wr_json_is(doc, wr_json_find(doc, response, "isError"), WR_JSON_TRUE);
}

static weir_status read_response(struct reader *r, const struct wr_place *place, wr_json_id parts,
                                 wr_json_id part, wr_json_id given)
{
    static const char *const names[] = {"name", "response", "id", "parts"};
    struct wr_transcript *t = r->t;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, given);
    wr_json_id fields[4];
    weir_status status = find_output(r, place->message);

    if (status)
        return status;
    if (!wr_json_pick(t->doc, given, names, 4, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    wr_place_block(t, &segment, parts, part);
    segment.role = WEIR_ROLE_TOOL;
    segment.tool = wr_text_or_empty(t, fields[0], &status);
    segment.call_id = find_call_id(r, segment.tool, wr_text_or_empty(t, fields[2], &status));
    segment.is_error = has_failed(t->doc, fields[1]);
    if (!status && wr_json_is(t->doc, fields[1], WR_JSON_OBJECT))
        status = set_response_parts(t, &segment, fields[1]);
    segment.has_exact_blocks |= wr_json_first(t->doc, fields[3]) != WR_JSON_NONE;
    return status ? status : wr_transcript_add(t, &segment);
}

/* ---- parts ---- */

static weir_status read_text(struct wr_transcript *t, const struct wr_place *place,
                             wr_json_id parts, wr_json_id part, const wr_json_id *fields)
{
    if (wr_json_is(t->doc, fields[P_THOUGHT], WR_JSON_TRUE)) {
        struct wr_segment segment = wr_segment_at(place, WEIR_KIND_REASONING, fields[P_TEXT]);
        segment.element = part;
        segment.array = parts;
        segment.is_opaque = true;
        segment.is_continuation = true;
        return wr_transcript_add(t, &segment);
    }
    if (fields[P_SIGNATURE] != WR_JSON_NONE) /* words that may not be edited, as a refusal's */
        return wr_add_refusal(t, place, parts, part, fields[P_TEXT]);
    return wr_add_text_block(t, place, parts, part, fields[P_TEXT]);
}

static weir_status read_data(struct wr_transcript *t, const struct wr_place *place,
                             wr_json_id parts, wr_json_id part, wr_json_id data)
{
    wr_json_id type = wr_gemini_find(t->doc, data, "mimeType", "mime_type");
    bool is_image = wr_json_is(t->doc, type, WR_JSON_STRING) &&
                    wr_span_starts(wr_json_inner(t->doc, type), WR_LIT("image/"));
    return wr_add_exact_block(t, place, is_image ? WEIR_KIND_IMAGE : WEIR_KIND_FILE, parts, part,
                              false);
}

static weir_status read_part(struct reader *r, const struct wr_place *place, wr_json_id parts,
                             wr_json_id part)
{
    struct wr_transcript *t = r->t;
    wr_json_id fields[WR_GEMINI_FIELDS];
    bool from_model = place->role == WEIR_ROLE_ASSISTANT;

    if (!wr_gemini_pick(t->doc, part, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    if (fields[P_CALL] != WR_JSON_NONE && from_model)
        return read_call(r, place, parts, part, fields[P_CALL]);
    if (fields[P_RESPONSE] != WR_JSON_NONE && place->role == WEIR_ROLE_USER)
        return read_response(r, place, parts, part, fields[P_RESPONSE]);
    if (wr_json_is(t->doc, fields[P_TEXT], WR_JSON_STRING))
        return read_text(t, place, parts, part, fields);
    for (int i = P_INLINE; i <= P_FILE; i++)
        if (fields[i] != WR_JSON_NONE)
            return read_data(t, place, parts, part, fields[i]);
    /* What the provider runs itself stands in the model's own output. */
    bool is_known = false;
    for (int i = P_CODE; i < P_COUNT; i++)
        is_known |= fields[i] != WR_JSON_NONE;
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, is_known && from_model);
}

static weir_status read_parts(struct reader *r, const struct wr_place *place, wr_json_id parts)
{
    const struct wr_json *doc = r->t->doc;
    weir_status status = WEIR_OK;

    if (parts == WR_JSON_NONE || wr_json_is(doc, parts, WR_JSON_NULL))
        return WEIR_OK;
    if (!wr_json_is(doc, parts, WR_JSON_ARRAY))
        return wr_add_opaque(r->t, place, WEIR_KIND_OTHER, parts, false);
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE && !status;
         part = wr_json_next(doc, parts, part))
        status = read_part(r, place, parts, part);
    return status;
}

/* Who says nothing of the kind is the user; "function" is an older word for who gives results. */
static weir_role role_of(const struct wr_json *doc, wr_json_id role)
{
    if (role == WR_JSON_NONE || wr_json_text_is(doc, role, "user") ||
        wr_json_text_is(doc, role, "function"))
        return WEIR_ROLE_USER;
    return wr_json_text_is(doc, role, "model") ? WEIR_ROLE_ASSISTANT : WEIR_ROLE_NONE;
}

static weir_status read_content(struct reader *r, wr_json_id list, wr_json_id content)
{
    static const char *const names[] = {"role", "parts"};
    wr_json_id values[2];
    bool is_unique = wr_json_pick(r->t->doc, content, names, 2, values);
    struct wr_place place = {content, list, role_of(r->t->doc, values[0])};

    if (!is_unique || place.role == WEIR_ROLE_NONE ||
        !wr_json_is(r->t->doc, content, WR_JSON_OBJECT))
        return wr_add_opaque(r->t, &place, WEIR_KIND_OTHER, content, false);
    return read_parts(r, &place, values[1]);
}

static weir_status read_instructions(struct reader *r, wr_json_id content)
{
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};

    if (wr_json_is(r->t->doc, content, WR_JSON_STRING))
        return wr_add_whole(r->t, WEIR_KIND_SYSTEM, WEIR_ROLE_SYSTEM, content);
    return read_parts(r, &place, wr_json_find(r->t->doc, content, "parts"));
}

static uint32_t count_calls(const struct wr_transcript *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->segments_count; i++)
        count += t->segments[i].kind == WEIR_KIND_TOOL_CALL;
    return count;
}

static void read_settings(struct wr_transcript *t, wr_json_id root)
{
    const struct wr_json *doc = t->doc;
    wr_json_id config = wr_gemini_find(doc, root, "generationConfig", "generation_config");
    wr_json_id most = wr_gemini_find(doc, config, "maxOutputTokens", "max_output_tokens");
    wr_json_id cached = wr_gemini_find(doc, root, "cachedContent", "cached_content");
    int64_t tokens;

    if (most != WR_JSON_NONE && wr_json_i64(doc, most, &tokens) && tokens > 0)
        t->answer_tokens_max = (uint64_t)tokens;
    t->is_delta = wr_json_is(doc, cached, WR_JSON_STRING) && wr_json_inner(doc, cached).len;
}

weir_status wr_gemini_read(struct wr_transcript *transcript)
{
    const struct wr_json *doc = transcript->doc;
    wr_json_id root = wr_api_root(transcript);
    struct reader r = {.t = transcript, .content = WR_JSON_NONE};

    read_settings(transcript, root);
    transcript->list = wr_json_find(doc, root, "contents");
    weir_status status =
        wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, wr_json_find(doc, root, "tools"));
    if (!status)
        status = read_instructions(
            &r, wr_gemini_find(doc, root, "systemInstruction", "system_instruction"));
    wr_json_id content = wr_first_unread(transcript, &status);
    r.calls_count = count_calls(transcript);
    for (; !status && content != WR_JSON_NONE;
         content = wr_json_next(doc, transcript->list, content))
        status = read_content(&r, transcript->list, content);
    return status;
}

/* Definitions stand in lists inside of tools; the provider's own have none. */
weir_status wr_gemini_list_tools(const struct wr_transcript *t, struct wr_arena *arena,
                                 wr_offer_fn *on_offer, void *user)
{
    const struct wr_json *doc = t->doc;
    weir_status status = WEIR_OK;
    uint32_t i = 0;

    while (i < t->segments_count && t->segments[i].kind != WEIR_KIND_TOOLS)
        i++;
    wr_json_id tools = i < t->segments_count ? t->segments[i].payload : WR_JSON_NONE;
    if (!wr_json_is(doc, tools, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id tool = wr_json_first(doc, tools); tool != WR_JSON_NONE;
         tool = wr_json_next(doc, tools, tool)) {
        wr_json_id list =
            wr_gemini_find(doc, tool, "functionDeclarations", "function_declarations");
        if (!wr_json_is(doc, list, WR_JSON_ARRAY))
            continue;
        for (wr_json_id d = wr_json_first(doc, list); d != WR_JSON_NONE && !status;
             d = wr_json_next(doc, list, d)) {
            wr_json_id name = wr_json_find(doc, d, "name");
            if (!wr_json_is(doc, name, WR_JSON_STRING))
                continue;
            struct wr_offer offer = {wr_json_text(doc, arena, name), d, i, false};
            status = offer.name.ptr ? on_offer(user, &offer) : wr_arena_status(arena);
        }
    }
    return status;
}
