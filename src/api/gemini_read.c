/* Requests of Google's Gemini: contents of a user and a model, each a list of parts.
 *
 *   - names of members are read in both spellings that the service takes (functionCall,
 *     function_call). An object that has one twice stays exact;
 *   - calls and results often have no ids (calls.h);
 *   - a result is an object, not a text. Its strings may be edited where they are nearly all that
 *     it says; else it stays whole;
 *   - calls carry signatures that must come back: calls are never edited, nor are signed words.
 */
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

static weir_status read_gemini_call(struct wr_calls *calls, const struct wr_place *place,
                                    wr_json_id parts, wr_json_id part, wr_json_id call)
{
    static const char *const names[] = {"name", "args", "id"};
    struct wr_transcript *t = calls->t;
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
    if (!status)
        status = wr_calls_number(calls, &segment);
    return status ? status : wr_transcript_add(t, &segment);
}

static bool has_failed(const struct wr_json *doc, wr_json_id response)
{
    wr_json_id error = wr_json_find(doc, response, "error");
    return (error != WR_JSON_NONE && !wr_json_is(doc, error, WR_JSON_NULL) &&
            wr_json_find(doc, response, "output") == WR_JSON_NONE) ||
           wr_json_is(doc, wr_json_find(doc, response, "isError"), WR_JSON_TRUE);
}

static weir_status read_response(struct wr_calls *calls, const struct wr_place *place,
                                 wr_json_id parts, wr_json_id part, wr_json_id given)
{
    static const char *const names[] = {"name", "response", "id", "parts"};
    struct wr_transcript *t = calls->t;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, given);
    wr_json_id fields[4];
    weir_status status = WEIR_OK;

    if (!wr_json_pick(t->doc, given, names, 4, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    wr_place_block(t, &segment, parts, part);
    segment.role = WEIR_ROLE_TOOL;
    segment.tool = wr_text_or_empty(t, fields[0], &status);
    segment.call_id = wr_text_or_empty(t, fields[2], &status);
    if (!status)
        status = wr_calls_find(calls, place->message, segment.tool, &segment.call_id);
    segment.is_error = has_failed(t->doc, fields[1]);
    if (!status && wr_json_is(t->doc, fields[1], WR_JSON_OBJECT))
        status = wr_set_object_parts(t, &segment, fields[1]);
    segment.has_exact_blocks |= wr_json_first(t->doc, fields[3]) != WR_JSON_NONE;
    return status ? status : wr_transcript_add(t, &segment);
}

/* ---- parts ---- */

static weir_status read_gemini_text(struct wr_transcript *t, const struct wr_place *place,
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

static weir_status read_part(struct wr_calls *calls, const struct wr_place *place, wr_json_id parts,
                             wr_json_id part)
{
    struct wr_transcript *t = calls->t;
    wr_json_id fields[WR_GEMINI_FIELDS];
    bool from_model = place->role == WEIR_ROLE_ASSISTANT;

    if (!wr_gemini_pick(t->doc, part, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    if (fields[P_CALL] != WR_JSON_NONE && from_model)
        return read_gemini_call(calls, place, parts, part, fields[P_CALL]);
    if (fields[P_RESPONSE] != WR_JSON_NONE && place->role == WEIR_ROLE_USER)
        return read_response(calls, place, parts, part, fields[P_RESPONSE]);
    if (wr_json_is(t->doc, fields[P_TEXT], WR_JSON_STRING))
        return read_gemini_text(t, place, parts, part, fields);
    for (int i = P_INLINE; i <= P_FILE; i++)
        if (fields[i] != WR_JSON_NONE)
            return read_data(t, place, parts, part, fields[i]);
    /* What the provider runs itself stands in the model's own output. */
    bool is_known = false;
    for (int i = P_CODE; i < P_COUNT; i++)
        is_known |= fields[i] != WR_JSON_NONE;
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, is_known && from_model);
}

static weir_status read_parts(struct wr_calls *calls, const struct wr_place *place,
                              wr_json_id parts)
{
    const struct wr_json *doc = calls->t->doc;
    weir_status status = WEIR_OK;

    if (parts == WR_JSON_NONE || wr_json_is(doc, parts, WR_JSON_NULL))
        return WEIR_OK;
    if (!wr_json_is(doc, parts, WR_JSON_ARRAY))
        return wr_add_opaque(calls->t, place, WEIR_KIND_OTHER, parts, false);
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE && !status;
         part = wr_json_next(doc, parts, part))
        status = read_part(calls, place, parts, part);
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

static weir_status read_content(struct wr_calls *calls, wr_json_id list, wr_json_id content)
{
    static const char *const names[] = {"role", "parts"};
    wr_json_id values[2];
    bool is_unique = wr_json_pick(calls->t->doc, content, names, 2, values);
    struct wr_place place = {content, list, role_of(calls->t->doc, values[0])};

    if (!is_unique || place.role == WEIR_ROLE_NONE ||
        !wr_json_is(calls->t->doc, content, WR_JSON_OBJECT))
        return wr_add_opaque(calls->t, &place, WEIR_KIND_OTHER, content, false);
    return read_parts(calls, &place, values[1]);
}

static weir_status read_instructions(struct wr_calls *calls, wr_json_id content)
{
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};

    if (wr_json_is(calls->t->doc, content, WR_JSON_STRING))
        return wr_add_whole(calls->t, WEIR_KIND_SYSTEM, WEIR_ROLE_SYSTEM, content);
    return read_parts(calls, &place, wr_json_find(calls->t->doc, content, "parts"));
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
    wr_read_answers(t, wr_gemini_find(doc, config, "candidateCount", "candidate_count"));
    t->is_delta = wr_json_is(doc, cached, WR_JSON_STRING) && wr_json_inner(doc, cached).len;
}

weir_status wr_gemini_read(struct wr_transcript *transcript)
{
    const struct wr_json *doc = transcript->doc;
    wr_json_id root = wr_api_root(transcript);
    struct wr_calls calls = {.t = transcript, .message = WR_JSON_NONE};

    read_settings(transcript, root);
    transcript->list = wr_json_find(doc, root, "contents");
    weir_status status =
        wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, wr_json_find(doc, root, "tools"));
    if (!status)
        status = read_instructions(
            &calls, wr_gemini_find(doc, root, "systemInstruction", "system_instruction"));
    wr_json_id content = wr_first_unread(transcript, &status);
    wr_calls_init(&calls, transcript);
    for (; !status && content != WR_JSON_NONE;
         content = wr_json_next(doc, transcript->list, content))
        status = read_content(&calls, transcript->list, content);
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
