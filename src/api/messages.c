/* Anthropic Messages: content blocks in messages of a user and a model that take turns. */
#include <stdio.h>

#include "api/answer.h"
#include "api/join_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/span.h"
#include "base/text.h"

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

static weir_status read_messages_result(struct wr_transcript *t, const struct wr_place *place,
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
    for (size_t i = 0; i < WR_COUNT_OF(exact_blocks); i++)
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

static weir_status read_messages_block(struct wr_transcript *t, const struct wr_place *place,
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
        return read_messages_result(t, place, blocks, block, fields);
    if (wr_json_text_is(doc, type, "thinking") || wr_json_text_is(doc, type, "redacted_thinking"))
        return read_thinking(t, place, blocks, block, fields);
    enum wr_link link = server_link(doc, type);
    if (link != WR_LINK_NONE)
        return read_server_block(t, place, blocks, block, fields, link);
    return read_exact(t, place, blocks, block, type);
}

static weir_status read_messages_message(struct wr_transcript *t, wr_json_id list,
                                         wr_json_id message)
{
    static const char *const names[] = {"role", "content"};
    wr_json_id values[2];
    bool unique = wr_json_pick(t->doc, message, names, 2, values);
    struct wr_place place = {message, list, wr_role_of(t->doc, values[0])};

    if (!unique || place.role == WEIR_ROLE_NONE || place.role == WEIR_ROLE_TOOL)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    return wr_add_content(t, &place, values[1], read_messages_block);
}

static weir_status read_system(struct wr_transcript *t, wr_json_id system)
{
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};
    return wr_add_content(t, &place, system, read_messages_block);
}

static weir_status read_messages_request(struct wr_transcript *transcript)
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
    for (wr_json_id m = wr_first_unread(transcript, &status); !status && m != WR_JSON_NONE;
         m = wr_json_next(doc, top[0], m))
        status = read_messages_message(transcript, top[0], m);
    return status;
}

static weir_span id_before(const struct wr_json *doc)
{
    wr_json_id id = wr_json_find(doc, wr_json_find(doc, 0, "thread"), "previous_message_id");
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

static bool is_continued(const struct wr_json *doc)
{
    return wr_json_find(doc, 0, "thread") != WR_JSON_NONE;
}

/* ---- answers ---- */

static enum wr_look look_at_messages(const struct wr_sse_event *event)
{
    static const char *const telling[] = {"message_start", "content_block_start", "message_delta",
                                          "error"};
    if (wr_span_is(event->name, "message_stop"))
        return WR_LOOK_LAST;
    for (size_t i = 0; i < WR_COUNT_OF(telling); i++)
        if (wr_span_is(event->name, telling[i]))
            return WR_LOOK_INTO;
    bool is_call = wr_span_find(event->data, WR_LIT("\"input_json_delta\""), 0) != SIZE_MAX;
    return is_call ? WR_LOOK_INTO : WR_LOOK_AWAY;
}

static bool is_type(const struct wr_json *doc, wr_json_id object, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, object, "type"), type);
}

static enum wr_part_kind kind_of(const struct wr_json *doc, wr_json_id block)
{
    return is_type(doc, block, "tool_use")   ? WR_PART_CALL
           : is_type(doc, block, "text")     ? WR_PART_TEXT
           : is_type(doc, block, "thinking") ? WR_PART_THINKING
                                             : WR_PART_OTHER;
}

static struct wr_part *add_part(struct wr_reply *a, const struct wr_json *doc, wr_json_id block,
                                int64_t index)
{
    enum wr_part_kind kind = kind_of(doc, block);
    struct wr_part *part = wr_answer_part(a, kind, index);

    if (!part)
        return NULL;
    if (kind == WR_PART_CALL) {
        wr_buf_append(&part->id, wr_answer_text(a, doc, block, "id"));
        wr_buf_append(&part->name, wr_answer_text(a, doc, block, "name"));
    } else {
        wr_answer_extend(
            a, part, wr_answer_text(a, doc, block, kind == WR_PART_THINKING ? "thinking" : "text"));
        wr_buf_append(&part->signature, wr_answer_text(a, doc, block, "signature"));
        wr_buf_append(&part->raw, wr_json_raw(doc, block));
    }
    return part;
}

static void begin_part(struct wr_reply *a, const struct wr_json *doc, int64_t index)
{
    wr_json_id block = wr_json_find(doc, 0, "content_block");

    if (!wr_json_is(doc, block, WR_JSON_OBJECT) || wr_answer_find(a, index)) {
        wr_answer_fail(a, WEIR_SYNTAX);
        return;
    }
    (void)add_part(a, doc, block, index);
    wr_answer_show(a, WR_PIECE_TEXT, wr_answer_text(a, doc, block, "text"));
}

static void extend_part(struct wr_reply *a, const struct wr_json *doc, int64_t index)
{
    wr_json_id delta = wr_json_find(doc, 0, "delta");
    struct wr_part *part = wr_answer_find(a, index);

    if (!part) { /* a part of what never began */
        wr_answer_fail(a, WEIR_SYNTAX);
        return;
    }
    weir_span text = wr_answer_text(a, doc, delta, "text");
    weir_span thinking = wr_answer_text(a, doc, delta, "thinking");
    wr_answer_extend(a, part, text);
    wr_answer_extend(a, part, thinking);
    wr_answer_extend(a, part, wr_answer_text(a, doc, delta, "partial_json"));
    wr_buf_append(&part->signature, wr_answer_text(a, doc, delta, "signature"));
    wr_answer_show(a, WR_PIECE_TEXT, text);
    wr_answer_show(a, WR_PIECE_THINKING, thinking);
}

/* The reason stands by itself or as an object's type. */
static void read_miss(struct wr_reply *a, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id said = wr_json_find(doc, message, "diagnostics");

    wr_answer_read_miss(
        a, wr_answer_text(a, doc, wr_json_find(doc, said, "cache_miss_reason"), "type"));
    wr_answer_read_miss(a, wr_answer_text(a, doc, said, "cache_miss_reason"));
}

static void read_messages_event(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id message = wr_json_find(doc, 0, "message");
    wr_json_id number = wr_json_find(doc, 0, "index");
    int64_t index = 0;

    if (number != WR_JSON_NONE)
        (void)wr_json_i64(doc, number, &index);
    if (is_type(doc, 0, "message_start")) {
        wr_answer_read_id(a, doc, message);
        read_miss(a, doc, message);
        wr_answer_read_usage(a, doc, wr_json_find(doc, message, "usage"));
    } else if (is_type(doc, 0, "content_block_start")) {
        begin_part(a, doc, index);
    } else if (is_type(doc, 0, "content_block_delta")) {
        extend_part(a, doc, index);
    } else if (is_type(doc, 0, "message_delta")) {
        wr_answer_read_finish(a,
                              wr_answer_text(a, doc, wr_json_find(doc, 0, "delta"), "stop_reason"));
        wr_answer_read_usage(a, doc, wr_json_find(doc, 0, "usage"));
    } else if (is_type(doc, 0, "message_stop")) {
        a->is_finished = true;
    } else if (is_type(doc, 0, "error")) {
        wr_answer_read_error(a, doc, wr_json_find(doc, 0, "error"), 0);
    }
}

static void read_answer_block(struct wr_reply *a, const struct wr_json *doc, wr_json_id block)
{
    struct wr_part *part = add_part(a, doc, block, -1);
    wr_json_id input = wr_json_find(doc, block, "input");

    if (part && part->kind == WR_PART_CALL)
        wr_answer_extend(a, part, input == WR_JSON_NONE ? WR_LIT("{}") : wr_json_raw(doc, input));
}

static bool read_messages_whole(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id content = wr_json_find(doc, 0, "content");

    wr_answer_read_id(a, doc, 0);
    wr_answer_read_error(a, doc, wr_json_find(doc, 0, "error"), 0);
    read_miss(a, doc, 0);
    wr_answer_read_finish(a, wr_answer_text(a, doc, 0, "stop_reason"));
    wr_answer_read_usage(a, doc, wr_json_find(doc, 0, "usage"));
    if (!wr_json_is(doc, content, WR_JSON_ARRAY))
        return false;
    wr_answer_read_items(a, doc, content);
    return true;
}

static void write_part(struct wr_json_writer *w, const struct wr_part *part)
{
    if (part->kind == WR_PART_OTHER) {
        wr_json_write_raw(w, wr_buf_view(&part->raw));
        return;
    }
    bool is_thinking = part->kind == WR_PART_THINKING;
    wr_json_write_object(w);
    if (part->kind == WR_PART_CALL) {
        wr_json_member_word(w, "type", "tool_use");
        wr_json_member_text(w, "id", wr_buf_view(&part->id));
        wr_json_member_text(w, "name", wr_buf_view(&part->name));
        wr_json_write_key(w, "input");
        wr_json_write_raw(w, part->text.len ? wr_buf_view(&part->text) : WR_LIT("{}"));
    } else {
        wr_json_member_word(w, "type", is_thinking ? "thinking" : "text");
        wr_json_member_text(w, is_thinking ? "thinking" : "text", wr_buf_view(&part->text));
        if (is_thinking)
            wr_json_member_text(w, "signature", wr_buf_view(&part->signature));
    }
    wr_json_write_object_end(w);
}

static bool is_json(struct wr_arena *arena, weir_span text)
{
    struct wr_json doc;
    wr_arena_reset(arena);
    return !text.len || !wr_json_parse(&doc, arena, text, NULL, NULL);
}

static void write_messages_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    wr_json_member_word(w, "role", "assistant");
    wr_json_member_word(w, "stop_reason", a->finish);
    wr_json_write_key(w, "content");
    wr_json_write_array(w);
    for (size_t i = 0; i < a->parts_count; i++) {
        const struct wr_part *part = &a->parts[i];
        if (part->kind == WR_PART_CALL && !is_json(a->arena, wr_buf_view(&part->text)))
            wr_answer_fail(a, WEIR_SYNTAX); /* the answer was cut inside its arguments */
        else
            write_part(w, part);
    }
    wr_json_write_array_end(w);
}

static const char *error_type(int status)
{
    static const struct {
        int status;
        const char *type;
    } rows[] = {{400, "invalid_request_error"}, {401, "authentication_error"},
                {403, "permission_error"},      {404, "not_found_error"},
                {413, "request_too_large"},     {429, "rate_limit_error"}};

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (rows[i].status == status)
            return rows[i].type;
    return "api_error";
}

static void write_messages_error(struct wr_json_writer *w, int status, const char *message)
{
    wr_json_member_word(w, "type", "error");
    wr_json_write_key(w, "error");
    wr_json_write_object(w);
    wr_json_member_word(w, "type", error_type(status));
    wr_json_member_word(w, "message", message);
    wr_json_write_object_end(w);
}

/* ---- writing ---- */

static void write_prompt(struct wr_body *b, const struct wr_body_head *head)
{
    if (!head->prompts)
        return;
    wr_json_write_key(&b->w, "system");
    wr_json_write_array(&b->w);
    for (size_t i = 0; i < head->prompts_count; i++)
        wr_body_block(b, "text", head->prompts[i]);
    if (head->has_markers)
        wr_body_mark(b);
    wr_json_write_array_end(&b->w);
}

static void write_tool(struct wr_body *b, const struct weir_tool *tool)
{
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "name", tool->name);
    if (tool->description.len)
        wr_json_member_text(&b->w, "description", tool->description);
    wr_body_schema(b, "input_schema", tool);
    wr_json_write_object_end(&b->w);
}

static void write_blocks(struct wr_body *b, const struct wr_line *line)
{
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    if (line->text.len)
        wr_body_block(b, "text", line->text);
    for (size_t i = 0; i < line->calls_count; i++) {
        wr_json_write_object(&b->w);
        wr_json_member_word(&b->w, "type", "tool_use");
        wr_body_id(b, "id", line->calls[i].id);
        wr_body_text(b, "name", line->calls[i].name);
        wr_body_object(b, "input", line->calls[i].arguments);
        wr_json_write_object_end(&b->w);
    }
}

static void write_messages_image(struct wr_body *b, const struct wr_line_image *image)
{
    char type[32];

    (void)snprintf(type, sizeof(type), "image/%s", image->type);
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "image");
    wr_json_write_key(&b->w, "source");
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "base64");
    wr_json_member_word(&b->w, "media_type", type);
    wr_json_member_text(&b->w, "data", image->base64);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* What the host says at its place is a user message of its own here. */
static void write_messages_line(struct wr_body *b, const struct wr_line *line)
{
    switch (line->kind) {
    case WR_LINE_NOTICE:
        wr_body_open(b, line->role ? "system" : "user");
        wr_body_block(b, "text", line->text);
        break;
    case WR_LINE_WORDS:
        wr_body_open(b, "user");
        wr_body_block(b, "text", line->text);
        wr_body_images(b, line);
        break;
    case WR_LINE_RESULT:
        wr_body_open(b, "user");
        wr_json_write_object(&b->w);
        wr_json_member_word(&b->w, "type", "tool_result");
        wr_body_id(b, "tool_use_id", line->call_id);
        wr_body_text(b, "content", line->text);
        if (line->is_error)
            wr_json_member_bool(&b->w, "is_error", true);
        wr_json_write_object_end(&b->w);
        break;
    case WR_LINE_ANSWER:
        wr_body_open(b, "assistant");
        write_blocks(b, line);
        break;
    }
}

static void write_messages_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_member_word(&b->w, "id", "msg_meter");
    wr_json_member_word(&b->w, "type", "message");
    wr_json_member_word(&b->w, "role", "assistant");
    wr_json_write_key(&b->w, "content");
    wr_json_write_array(&b->w);
    write_blocks(b, line);
    wr_json_write_array_end(&b->w);
    wr_json_member_word(&b->w, "stop_reason", line->calls_count ? "tool_use" : "end_turn");
    wr_json_member_null(&b->w, "stop_sequence");
}

/* Thinking whose prefix is another by now, and texts that the API refuses. */
static bool drops_item(struct wr_body *b, weir_span item, bool is_unbound)
{
    struct wr_json doc;

    wr_arena_reset(&b->scratch);
    weir_status status = wr_json_parse(&doc, &b->scratch, item, NULL, NULL);
    bool is_text = !status && is_type(&doc, 0, "text");
    wr_json_id text = is_text ? wr_json_find(&doc, 0, "text") : WR_JSON_NONE;
    weir_span said = {"", 0};
    if (wr_json_is(&doc, text, WR_JSON_STRING))
        said = wr_json_text(&doc, &b->scratch, text);
    if (!said.ptr)
        status = wr_arena_status(&b->scratch);
    if (status == WEIR_NOMEM && !b->w.out->status)
        b->w.out->status = status;
    if (is_text)
        return said.ptr && wr_text_is_blank(said);
    return is_unbound && !status &&
           (is_type(&doc, 0, "thinking") || is_type(&doc, 0, "redacted_thinking"));
}

static bool is_signed_item(weir_span item)
{
    return wr_span_find(item, WR_LIT("thinking\""), 0) != SIZE_MAX;
}

/* ---- the table ---- */

static const char *const overflow_codes[] = {"request_too_large", NULL};
static const char *const continuation_words[] = {
    "ids were found without `tool_result` blocks", "must have a corresponding `tool_result` block",
    "must have a corresponding `tool_use` block", "unexpected `tool_use_id`", NULL};
static const char *const end_words[] = {"end_turn", "stop_sequence", NULL};
static const char *const previous_codes[] = {"thread_not_found", NULL};
static const char *const unbound_words[] = {"bound to a different conversation", NULL};
static const struct wr_api_path paths[] = {
    {"/messages", "/v1/messages", true},
    {"/messages/count_tokens", "/v1/messages/count_tokens", false},
};
static const struct wr_api_front fronts[] = {{"/v1/messages", "anthropic"}, {NULL, NULL}};
static const struct wr_api_upstream upstreams[] = {{"anthropic", "https://api.anthropic.com/v1"},
                                                   {NULL, NULL}};

const struct wr_api wr_api_messages = {
    .dialect = WEIR_DIALECT_MESSAGES,
    .name = "messages",
    .paths = paths,
    .paths_count = WR_COUNT_OF(paths),
    .fronts = fronts,
    .upstreams = upstreams,
    .read_request = read_messages_request,
    .list_tools = wr_list_tools,
    .list_key = "messages",
    .content_key = "content",
    .prompt_key = "system",
    .id_before = id_before,
    .is_continued = is_continued,
    /* With tools Anthropic puts a prompt of its own in front: 346 tokens. */
    .framing = {.request = 4, .message = 4, .call = 24, .tools = 346, .tool = 16},
    .has_user_ends = true,
    .has_results_first = true,
    .look = look_at_messages,
    .read_event = read_messages_event,
    .read_whole = read_messages_whole,
    .read_item = read_answer_block,
    .write_answer = write_messages_answer,
    .write_error = write_messages_error,
    .write_prompt = write_prompt,
    .write_tool = write_tool,
    .write_line = write_messages_line,
    .write_image = write_messages_image,
    .write_reply = write_messages_reply,
    .drops_item = drops_item,
    .is_signed_item = is_signed_item,
    .marker_key = "cache_control",
    .marker = "\"cache_control\":{\"type\":\"ephemeral\"}",
    .output_max_key = "max_tokens",
    .provider_max_key = "max_tokens",
    .output_tokens_default = 8192,
    .has_prompt_apart = true,
    .checks_ids = true,
    .overflow_codes = overflow_codes,
    .continuation_words = continuation_words,
    .end_words = end_words,
    .previous_codes = previous_codes,
    .unbound_words = unbound_words,
    .url = "https://api.anthropic.com",
    .url_variable = "ANTHROPIC_BASE_URL",
    .older_url_variable = "ANTHROPIC_API_BASE",
    .key_variable = "ANTHROPIC_API_KEY",
    .key_header = "x-api-key",
    .version_header = "anthropic-version",
    .version = "2023-06-01",
    .model = "claude-sonnet-5-5",
    .model_word = "claude",
    .stream_members = "\"stream\":true",
    .joiner = &wr_joiner_messages,
    .counts_cached_apart = true,
};
