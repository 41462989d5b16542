/* OpenAI Chat Completions, and the many servers that speak it. */
#include "wire/read.h"

#include "base/span.h"

enum field {
    F_ROLE,
    F_CONTENT,
    F_TOOL_CALLS,
    F_TOOL_CALL_ID,
    F_NAME,
    F_FUNCTION_CALL,
    F_REFUSAL,
    F_AUDIO,
    F_REASONING_CONTENT,
    F_REASONING,
    F_REASONING_DETAILS,
    F_THINKING_BLOCKS,
    F_EXTRA_CONTENT,
    F_COUNT
};

static const char *const field_names[F_COUNT] = {
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "name",
    "function_call",
    "refusal",
    "audio",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking_blocks",
    "extra_content",
};

/* Parts that stay exact, OpenAI's own and those of servers that take more. */
static const struct {
    const char *type;
    weir_kind kind;
    bool is_continuation;
} exact_parts[] = {
    {"image_url", WEIR_KIND_IMAGE, false},   {"image", WEIR_KIND_IMAGE, false},
    {"file", WEIR_KIND_FILE, false},         {"input_audio", WEIR_KIND_FILE, false},
    {"audio_url", WEIR_KIND_FILE, false},    {"video_url", WEIR_KIND_FILE, false},
    {"document_url", WEIR_KIND_FILE, false}, {"thinking", WEIR_KIND_REASONING, true},
};

static weir_status read_part(struct wr_transcript *t, const struct wr_place *place,
                             wr_json_id parts, wr_json_id part)
{
    static const char *const names[] = {"type", "text", "refusal"};
    const struct wr_json *doc = t->doc;
    wr_json_id values[3];

    if (!wr_json_pick(doc, part, names, 3, values))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    if (wr_json_text_is(doc, values[0], "text"))
        return wr_add_text_block(t, place, parts, part, values[1]);
    if (wr_json_text_is(doc, values[0], "refusal"))
        return wr_add_refusal(t, place, parts, part, values[2]);
    for (size_t i = 0; i < sizeof(exact_parts) / sizeof(exact_parts[0]); i++)
        if (wr_json_text_is(doc, values[0], exact_parts[i].type))
            return wr_add_exact_block(t, place, exact_parts[i].kind, parts, part,
                                      exact_parts[i].is_continuation);
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
}

/* `function` or `custom` of a call: its name and the string that holds what it was called with. */
static weir_status add_call(struct wr_transcript *t, const struct wr_place *place, wr_json_id call,
                            wr_json_id id, wr_json_id name, wr_json_id arguments)
{
    struct wr_segment segment =
        wr_segment_at(place, WEIR_KIND_TOOL_CALL, arguments != WR_JSON_NONE ? arguments : call);
    weir_status status = WEIR_OK;
    segment.tool = wr_text_or_empty(t, name, &status);
    segment.call_id = wr_text_or_empty(t, id, &status);
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_call(struct wr_transcript *t, const struct wr_place *place, wr_json_id call)
{
    static const char *const names[] = {"id", "function", "custom"};
    const struct wr_json *doc = t->doc;
    wr_json_id values[3];

    if (!wr_json_pick(doc, call, names, 3, values) || !wr_json_is(doc, call, WR_JSON_OBJECT))
        return wr_add_opaque(t, place, WEIR_KIND_OTHER, call, false);
    bool is_custom = wr_json_is(doc, values[2], WR_JSON_OBJECT);
    wr_json_id body = is_custom ? values[2] : values[1];
    const char *arguments = is_custom ? "input" : "arguments";
    return add_call(t, place, call, values[0], wr_json_find(doc, body, "name"),
                    wr_json_find(doc, body, arguments));
}

static weir_status read_calls(struct wr_transcript *t, const struct wr_place *place,
                              wr_json_id calls)
{
    if (!wr_json_is(t->doc, calls, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id call = wr_json_first(t->doc, calls); call != WR_JSON_NONE;
         call = wr_json_next(t->doc, calls, call)) {
        weir_status status = read_call(t, place, call);
        if (status)
            return status;
    }
    return WEIR_OK;
}

static bool is_empty(const struct wr_json *doc, wr_json_id value)
{
    if (value == WR_JSON_NONE || wr_json_kind(doc, value) == WR_JSON_NULL)
        return true;
    if (wr_json_kind(doc, value) == WR_JSON_STRING)
        return !wr_json_inner(doc, value).len;
    return wr_json_kind(doc, value) == WR_JSON_ARRAY && wr_json_first(doc, value) == WR_JSON_NONE;
}

/* A gateway hands on the signed thinking of the model behind it, block by block. */
static bool holds_signature(const struct wr_json *doc, wr_json_id value)
{
    if (!wr_json_is(doc, value, WR_JSON_ARRAY))
        return false;
    for (wr_json_id block = wr_json_first(doc, value); block != WR_JSON_NONE;
         block = wr_json_next(doc, value, block))
        if (wr_has_signature(doc, block) ||
            wr_json_text_is(doc, wr_json_find(doc, block, "type"), "redacted_thinking"))
            return true;
    return false;
}

/* Vendors' reasoning fields: opaque, in the order in which the model wrote them. */
static weir_status read_reasoning(struct wr_transcript *t, const struct wr_place *place,
                                  const wr_json_id fields[F_COUNT])
{
    for (enum field f = F_REASONING_CONTENT; f <= F_EXTRA_CONTENT; f++) {
        struct wr_segment segment = wr_segment_at(place, WEIR_KIND_REASONING, fields[f]);
        if (is_empty(t->doc, fields[f]))
            continue;
        segment.is_opaque = true;
        segment.is_continuation = true;
        segment.is_signed = holds_signature(t->doc, fields[f]);
        t->binds_prefix |= segment.is_signed;
        weir_status status = wr_transcript_add(t, &segment);
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status read_assistant(struct wr_transcript *t, const struct wr_place *place,
                                  const wr_json_id fields[F_COUNT])
{
    const struct wr_json *doc = t->doc;
    weir_status status = read_reasoning(t, place, fields);
    if (!status)
        status = wr_add_content(t, place, fields[F_CONTENT], read_part);
    if (!status)
        status = wr_add_refusal(t, place, WR_JSON_NONE, WR_JSON_NONE, fields[F_REFUSAL]);
    if (!status && wr_json_is(doc, fields[F_AUDIO], WR_JSON_OBJECT))
        status = wr_add_opaque(t, place, WEIR_KIND_OTHER, fields[F_AUDIO], true);
    if (!status)
        status = read_calls(t, place, fields[F_TOOL_CALLS]);
    wr_json_id legacy = fields[F_FUNCTION_CALL];
    if (!status && wr_json_is(doc, legacy, WR_JSON_OBJECT))
        status = add_call(t, place, legacy, WR_JSON_NONE, wr_json_find(doc, legacy, "name"),
                          wr_json_find(doc, legacy, "arguments"));
    return status;
}

static weir_status read_result(struct wr_transcript *t, const struct wr_place *place,
                               const wr_json_id fields[F_COUNT])
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, place->message);
    weir_status status = WEIR_OK;
    segment.tool = wr_text_or_empty(t, fields[F_NAME], &status);
    segment.call_id = wr_text_or_empty(t, fields[F_TOOL_CALL_ID], &status);
    segment.block = place->message;
    if (!status)
        status = wr_set_result_parts(t, &segment, fields[F_CONTENT], "text");
    return status ? status : wr_transcript_add(t, &segment);
}

/* A marker beside the content marks the message's end. */
static void mark_last(struct wr_transcript *t, wr_json_id message)
{
    struct wr_segment *last = t->segments_count ? &t->segments[t->segments_count - 1] : NULL;
    wr_json_id marker = wr_find_marker(t->doc, message);
    if (last && last->message == message && last->marker == WR_JSON_NONE)
        last->marker = marker;
}

static weir_status read_message(struct wr_transcript *t, wr_json_id list, wr_json_id message)
{
    const struct wr_json *doc = t->doc;
    wr_json_id fields[F_COUNT];
    bool unique = wr_json_pick(doc, message, field_names, F_COUNT, fields);
    struct wr_place place = {message, list, wr_role_of(doc, fields[F_ROLE])};

    if (!unique)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    if (place.role == WEIR_ROLE_ASSISTANT)
        return read_assistant(t, &place, fields);
    if (wr_json_text_is(doc, fields[F_ROLE], "function"))
        place.role = WEIR_ROLE_TOOL;
    if (place.role == WEIR_ROLE_TOOL)
        return read_result(t, &place, fields);
    if (place.role == WEIR_ROLE_NONE)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    return wr_add_content(t, &place, fields[F_CONTENT], read_part);
}

weir_status wr_chat_read(struct wr_transcript *transcript)
{
    static const char *const names[] = {"messages", "tools", "functions"};
    const struct wr_json *doc = transcript->doc;
    wr_json_id top[3];
    (void)wr_json_pick(doc, 0, names, 3, top);

    weir_status status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[1]);
    if (!status)
        status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[2]);
    transcript->list = top[0];
    for (wr_json_id m = wr_json_first(doc, top[0]); !status && m != WR_JSON_NONE;
         m = wr_json_next(doc, top[0], m)) {
        status = read_message(transcript, top[0], m);
        mark_last(transcript, m);
    }
    return status;
}
