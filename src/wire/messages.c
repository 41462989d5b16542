/* Anthropic Messages. */
#include "wire/read.h"

#include "base/span.h"

enum field {
    F_TYPE,
    F_TEXT,
    F_ID,
    F_NAME,
    F_INPUT,
    F_TOOL_USE_ID,
    F_CONTENT,
    F_IS_ERROR,
    F_SIGNATURE,
    F_COUNT
};

static const char *const field_names[F_COUNT] = {
    "type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "signature",
};

static weir_status read_thinking(struct wr_transcript *t, const struct wr_place *place,
                                 wr_json_id blocks, wr_json_id block,
                                 const wr_json_id fields[F_COUNT])
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_REASONING, block);
    segment.element = block;
    segment.array = blocks;
    segment.is_opaque = true;
    segment.is_continuation = true;
    /* Redacted thinking is bound like signed thinking. Servers that only speak the dialect do not
     * sign. */
    segment.is_signed = wr_json_text_is(t->doc, fields[F_TYPE], "redacted_thinking") ||
                        wr_has_signature(t->doc, block);
    t->binds_prefix |= segment.is_signed;
    return wr_transcript_add(t, &segment);
}

static weir_status read_use(struct wr_transcript *t, const struct wr_place *place,
                            wr_json_id blocks, wr_json_id block, const wr_json_id fields[F_COUNT])
{
    wr_json_id input = fields[F_INPUT];
    struct wr_segment segment =
        wr_segment_at(place, WEIR_KIND_TOOL_CALL, input != WR_JSON_NONE ? input : block);
    weir_status status = WEIR_OK;
    wr_place_block(t, &segment, blocks, block);
    segment.tool = wr_text_or_empty(t, fields[F_NAME], &status);
    segment.call_id = wr_text_or_empty(t, fields[F_ID], &status);
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_result(struct wr_transcript *t, const struct wr_place *place,
                               wr_json_id blocks, wr_json_id block,
                               const wr_json_id fields[F_COUNT])
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, block);
    weir_status status = WEIR_OK;
    wr_place_block(t, &segment, blocks, block);
    segment.role = WEIR_ROLE_TOOL;
    segment.from_model = false;
    segment.is_error = wr_json_is(t->doc, fields[F_IS_ERROR], WR_JSON_TRUE);
    segment.call_id = wr_text_or_empty(t, fields[F_TOOL_USE_ID], &status);
    if (!status)
        status = wr_set_result_parts(t, &segment, fields[F_CONTENT], "text");
    return status ? status : wr_transcript_add(t, &segment);
}

/* Blocks that stay exact, and what they are. */
static const struct {
    const char *type;
    weir_kind kind;
    bool is_continuation;
} exact_blocks[] = {
    {"image", WEIR_KIND_IMAGE, false},          {"document", WEIR_KIND_FILE, false},
    {"search_result", WEIR_KIND_FILE, false},   {"container_upload", WEIR_KIND_FILE, false},
    {"compaction", WEIR_KIND_COMPACTION, true}, {"tool_addition", WEIR_KIND_TOOLS, false},
    {"tool_removal", WEIR_KIND_TOOLS, false},   {"mcp_tool_listing", WEIR_KIND_OTHER, true},
    {"fallback", WEIR_KIND_OTHER, true},
};

static weir_status read_exact(struct wr_transcript *t, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block, wr_json_id type)
{
    for (size_t i = 0; i < sizeof(exact_blocks) / sizeof(exact_blocks[0]); i++)
        if (wr_json_text_is(t->doc, type, exact_blocks[i].type))
            return wr_add_exact_block(t, place, exact_blocks[i].kind, blocks, block,
                                      exact_blocks[i].is_continuation);
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
}

/* What the provider's own tools were asked and what they gave: `server_tool_use`, `mcp_tool_use`,
 * and one kind of result for each tool. They are known by how their names end, as new tools come
 * often. */
static enum wr_link server_link(const struct wr_json *doc, wr_json_id type)
{
    if (!wr_json_is(doc, type, WR_JSON_STRING))
        return WR_LINK_NONE;
    if (wr_span_ends(wr_json_inner(doc, type), WR_LIT("_tool_use")))
        return WR_LINK_ASKS;
    bool is_result = wr_span_ends(wr_json_inner(doc, type), WR_LIT("_tool_result"));
    return is_result ? WR_LINK_ANSWERS : WR_LINK_NONE;
}

static weir_status read_server_block(struct wr_transcript *t, const struct wr_place *place,
                                     wr_json_id blocks, wr_json_id block,
                                     const wr_json_id fields[F_COUNT], enum wr_link link)
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_OTHER, block);
    weir_status status = WEIR_OK;
    wr_place_block(t, &segment, blocks, block);
    segment.is_opaque = true;
    segment.is_continuation = true;
    segment.link = link;
    segment.tool = wr_text_or_empty(t, fields[F_NAME], &status);
    segment.call_id =
        wr_text_or_empty(t, fields[link == WR_LINK_ASKS ? F_ID : F_TOOL_USE_ID], &status);
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_block(struct wr_transcript *t, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block)
{
    const struct wr_json *doc = t->doc;
    wr_json_id fields[F_COUNT];

    if (!wr_json_pick(doc, block, field_names, F_COUNT, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
    wr_json_id type = fields[F_TYPE];
    if (wr_json_text_is(doc, type, "text"))
        return wr_add_text_block(t, place, blocks, block, fields[F_TEXT]);
    if (place->role != WEIR_ROLE_USER && place->role != WEIR_ROLE_ASSISTANT)
        return read_exact(t, place, blocks, block, type); /* instructions call nothing */
    if (wr_json_text_is(doc, type, "tool_use"))
        return read_use(t, place, blocks, block, fields);
    if (wr_json_text_is(doc, type, "tool_result"))
        return read_result(t, place, blocks, block, fields);
    if (wr_json_text_is(doc, type, "thinking") || wr_json_text_is(doc, type, "redacted_thinking"))
        return read_thinking(t, place, blocks, block, fields);
    enum wr_link link = server_link(doc, type);
    if (link != WR_LINK_NONE)
        return read_server_block(t, place, blocks, block, fields, link);
    return read_exact(t, place, blocks, block, type);
}

static weir_status read_message(struct wr_transcript *t, wr_json_id list, wr_json_id message)
{
    static const char *const names[] = {"role", "content"};
    wr_json_id values[2];
    bool unique = wr_json_pick(t->doc, message, names, 2, values);
    struct wr_place place = {message, list, wr_role_of(t->doc, values[0])};

    if (!unique || place.role == WEIR_ROLE_NONE || place.role == WEIR_ROLE_TOOL)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    return wr_add_content(t, &place, values[1], read_block);
}

static weir_status read_system(struct wr_transcript *t, wr_json_id system)
{
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};
    return wr_add_content(t, &place, system, read_block);
}

weir_status wr_messages_read(struct wr_transcript *transcript)
{
    static const char *const names[] = {"messages", "tools", "system", "thread"};
    const struct wr_json *doc = transcript->doc;
    wr_json_id top[4];
    (void)wr_json_pick(doc, 0, names, 4, top);

    transcript->is_delta = wr_json_text_is(doc, wr_json_find(doc, top[3], "type"), "continue");
    transcript->list = top[0];
    weir_status status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[1]);
    if (!status)
        status = read_system(transcript, top[2]);
    for (wr_json_id m = wr_json_first(doc, top[0]); !status && m != WR_JSON_NONE;
         m = wr_json_next(doc, top[0], m))
        status = read_message(transcript, top[0], m);
    return status;
}
