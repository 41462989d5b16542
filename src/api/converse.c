/* Bedrock's Converse: messages of a user and a model that take turns, as in Anthropic Messages, but
 *
 *   - a block says what it is by its only key: {"text": ...}, {"toolUse": {...}};
 *   - a cache point is a block of its own and stands behind what it marks. Here it is the marker of
 *     the segment before it, so that it leaves and moves with that; one that has nothing before it
 *     in its message stays where it is;
 *   - the model stands in the path, what an answer may take in `inferenceConfig`;
 *   - an answer has no id, its stream is frames (events.h) whose names say what an event is, and
 *     only calls have an event that begins them;
 *   - an error is {"message": "words"}.
 *
 * docs/bedrock.md has what the vendor's types say.
 */
#include "api/answer.h"
#include "api/join_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/span.h"
#include "base/text.h"

/* ---- requests ---- */

enum field { F_TEXT, F_USE, F_RESULT, F_REASONING, F_POINT, F_COUNT };

static const char *const field_names[F_COUNT] = {"text", "toolUse", "toolResult",
                                                 "reasoningContent", "cachePoint"};

/* Blocks that stay exact, and what they are. */
static const struct {
    const char *key;
    weir_kind kind;
    bool is_continuation;
} exact_blocks[] = {
    {"image", WEIR_KIND_IMAGE, false},        {"document", WEIR_KIND_FILE, false},
    {"video", WEIR_KIND_FILE, false},         {"audio", WEIR_KIND_FILE, false},
    {"searchResult", WEIR_KIND_FILE, false},  {"toolAddition", WEIR_KIND_TOOLS, false},
    {"toolRemoval", WEIR_KIND_TOOLS, false},  {"citationsContent", WEIR_KIND_OTHER, true},
    {"guardContent", WEIR_KIND_OTHER, false},
};

static weir_status read_exact(struct wr_transcript *t, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block)
{
    for (size_t i = 0; i < WR_COUNT_OF(exact_blocks); i++)
        if (wr_json_find(t->doc, block, exact_blocks[i].key) != WR_JSON_NONE)
            return wr_add_exact_block(t, place, exact_blocks[i].kind, blocks, block,
                                      exact_blocks[i].is_continuation &&
                                          place->role == WEIR_ROLE_ASSISTANT);
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
}

static weir_status read_reasoning(struct wr_transcript *t, const struct wr_place *place,
                                  wr_json_id blocks, wr_json_id block, wr_json_id content)
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_REASONING, block);

    segment.element = block;
    segment.array = blocks;
    segment.is_opaque = true;
    segment.is_continuation = true;
    segment.is_signed = wr_json_find(t->doc, content, "redactedContent") != WR_JSON_NONE ||
                        wr_has_signature(t->doc, wr_json_find(t->doc, content, "reasoningText"));
    t->binds_prefix |= segment.is_signed;
    return wr_transcript_add(t, &segment);
}

/* A tool that the provider runs: what it was asked and what it gave stay as they are. */
static weir_status read_server_block(struct wr_transcript *t, struct wr_segment *segment,
                                     wr_json_id block, enum wr_link link)
{
    segment->kind = WEIR_KIND_OTHER;
    segment->payload = block;
    segment->is_opaque = true;
    segment->is_continuation = true;
    segment->link = link;
    return wr_transcript_add(t, segment);
}

static weir_status read_use(struct wr_transcript *t, const struct wr_place *place,
                            wr_json_id blocks, wr_json_id block, wr_json_id use)
{
    static const char *const names[] = {"toolUseId", "name", "input", "type"};
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_CALL, use);
    wr_json_id fields[4];
    weir_status status = WEIR_OK;

    if (!wr_json_pick(t->doc, use, names, 4, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
    if (fields[2] != WR_JSON_NONE)
        segment.payload = fields[2];
    wr_place_block(t, &segment, blocks, block);
    segment.call_id = wr_text_or_empty(t, fields[0], &status);
    segment.tool = wr_text_or_empty(t, fields[1], &status);
    if (!status && fields[3] != WR_JSON_NONE)
        return read_server_block(t, &segment, block, WR_LINK_ASKS);
    return status ? status : wr_transcript_add(t, &segment);
}

/* A list of texts, or one object: then the strings that are nearly all of it. */
static weir_status set_parts(struct wr_transcript *t, struct wr_segment *segment,
                             wr_json_id content)
{
    const struct wr_json *doc = t->doc;
    wr_json_id only =
        wr_json_is(doc, content, WR_JSON_ARRAY) ? wr_json_first(doc, content) : WR_JSON_NONE;
    wr_json_id object = wr_json_find(doc, only, "json");

    if (wr_json_is(doc, object, WR_JSON_OBJECT) && wr_json_count(doc, only) == 1 &&
        wr_json_next(doc, content, only) == WR_JSON_NONE)
        return wr_set_object_parts(t, segment, object);
    segment->payload = content != WR_JSON_NONE ? content : segment->payload;
    return only == WR_JSON_NONE ? WEIR_OK : wr_set_result_parts(t, segment, content, NULL);
}

static weir_status read_converse_result(struct wr_transcript *t, const struct wr_place *place,
                                        wr_json_id blocks, wr_json_id block, wr_json_id result)
{
    static const char *const names[] = {"toolUseId", "content", "status", "type"};
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, result);
    wr_json_id fields[4];
    weir_status status = WEIR_OK;

    if (!wr_json_pick(t->doc, result, names, 4, fields))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
    wr_place_block(t, &segment, blocks, block);
    segment.call_id = wr_text_or_empty(t, fields[0], &status);
    if (!status && fields[3] != WR_JSON_NONE)
        return read_server_block(t, &segment, block, WR_LINK_ANSWERS);
    segment.role = WEIR_ROLE_TOOL;
    segment.from_model = false;
    segment.is_error = wr_json_text_is(t->doc, fields[2], "error");
    if (!status)
        status = set_parts(t, &segment, fields[1]);
    return status ? status : wr_transcript_add(t, &segment);
}

/* The block before it has its marker here. */
static weir_status read_point(struct wr_transcript *t, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block, wr_json_id point)
{
    struct wr_segment *last = t->segments_count ? &t->segments[t->segments_count - 1] : NULL;
    bool is_behind = last && last->message == place->message && last->kind != WEIR_KIND_TOOLS &&
                     last->marker == WR_JSON_NONE &&
                     wr_json_next(t->doc, blocks, last->element) == block;

    if (!is_behind || !wr_json_is(t->doc, point, WR_JSON_OBJECT) ||
        wr_json_count(t->doc, block) != 1)
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
    last->marker = point - 1; /* a value's key is the node before it */
    return WEIR_OK;
}

static weir_status read_converse_block(struct wr_transcript *t, const struct wr_place *place,
                                       wr_json_id blocks, wr_json_id block)
{
    bool calls = place->role == WEIR_ROLE_USER || place->role == WEIR_ROLE_ASSISTANT;
    wr_json_id fields[F_COUNT];

    if (!wr_json_pick(t->doc, block, field_names, F_COUNT, fields) ||
        !wr_json_is(t->doc, block, WR_JSON_OBJECT) || wr_json_count(t->doc, block) != 1)
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
    if (fields[F_TEXT] != WR_JSON_NONE)
        return wr_add_text_block(t, place, blocks, block, fields[F_TEXT]);
    if (fields[F_POINT] != WR_JSON_NONE)
        return read_point(t, place, blocks, block, fields[F_POINT]);
    if (calls && fields[F_USE] != WR_JSON_NONE)
        return read_use(t, place, blocks, block, fields[F_USE]);
    if (calls && fields[F_RESULT] != WR_JSON_NONE)
        return read_converse_result(t, place, blocks, block, fields[F_RESULT]);
    if (calls && fields[F_REASONING] != WR_JSON_NONE)
        return read_reasoning(t, place, blocks, block, fields[F_REASONING]);
    return read_exact(t, place, blocks, block);
}

static weir_status read_converse_message(struct wr_transcript *t, wr_json_id list,
                                         wr_json_id message)
{
    static const char *const names[] = {"role", "content"};
    wr_json_id values[2];
    bool is_unique = wr_json_pick(t->doc, message, names, 2, values);
    struct wr_place place = {message, list, wr_role_of(t->doc, values[0])};

    if (!is_unique || place.role == WEIR_ROLE_NONE || place.role == WEIR_ROLE_TOOL ||
        !wr_json_is(t->doc, values[1], WR_JSON_ARRAY))
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    return wr_add_content(t, &place, values[1], read_converse_block);
}

static weir_status read_converse_request(struct wr_transcript *t)
{
    static const char *const names[] = {"messages", "toolConfig", "system", "inferenceConfig"};
    struct wr_place instructions = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};
    const struct wr_json *doc = t->doc;
    wr_json_id top[4];
    int64_t tokens;

    (void)wr_json_pick(doc, 0, names, 4, top);
    wr_json_id most = wr_json_find(doc, top[3], "maxTokens");
    if (most != WR_JSON_NONE && wr_json_i64(doc, most, &tokens) && tokens > 0)
        t->answer_tokens_max = (uint64_t)tokens;
    t->list = top[0];
    weir_status status =
        wr_add_whole(t, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, wr_json_find(doc, top[1], "tools"));
    if (!status)
        status = wr_add_content(t, &instructions, top[2], read_converse_block);
    for (wr_json_id m = wr_first_unread(t, &status); !status && m != WR_JSON_NONE;
         m = wr_json_next(doc, t->list, m))
        status = read_converse_message(t, t->list, m);
    return status;
}

/* ---- answers ---- */

static enum wr_look look_at_converse(const struct wr_sse_event *event)
{
    static const char *const telling[] = {"contentBlockStart", "messageStop", "metadata", "error"};

    for (size_t i = 0; i < WR_COUNT_OF(telling); i++)
        if (wr_span_is(event->name, telling[i]))
            return WR_LOOK_INTO;
    bool is_call = wr_span_find(event->data, WR_LIT("\"toolUse\""), 0) != SIZE_MAX;
    return is_call ? WR_LOOK_INTO : WR_LOOK_AWAY;
}

static void begin_call(struct wr_reply *a, const struct wr_json *doc, wr_json_id use, int64_t index)
{
    struct wr_part *part = wr_answer_find(a, index) ? NULL : wr_answer_part(a, WR_PART_CALL, index);

    if (!part) {
        wr_answer_fail(a, WEIR_SYNTAX);
        return;
    }
    wr_buf_append(&part->id, wr_answer_text(a, doc, use, "toolUseId"));
    wr_buf_append(&part->name, wr_answer_text(a, doc, use, "name"));
}

/* Words and thinking begin with their first piece. */
static struct wr_part *part_of(struct wr_reply *a, enum wr_part_kind kind, int64_t index)
{
    struct wr_part *part = wr_answer_find(a, index);
    return part ? part : wr_answer_part(a, kind, index);
}

static void extend_reasoning(struct wr_reply *a, const struct wr_json *doc, wr_json_id delta,
                             int64_t index)
{
    weir_span text = wr_answer_text(a, doc, delta, "text");
    wr_json_id redacted = wr_json_find(doc, delta, "redactedContent");
    struct wr_part *part =
        part_of(a, redacted == WR_JSON_NONE ? WR_PART_THINKING : WR_PART_OTHER, index);

    wr_answer_show(a, WR_PIECE_THINKING, text);
    if (!part)
        return;
    wr_answer_extend(a, part, text);
    wr_buf_append(&part->signature, wr_answer_text(a, doc, delta, "signature"));
    if (redacted != WR_JSON_NONE) { /* it comes in one piece */
        wr_buf_reset(&part->raw);
        wr_buf_text(&part->raw, "{\"reasoningContent\":{\"redactedContent\":");
        wr_buf_append(&part->raw, wr_json_raw(doc, redacted));
        wr_buf_text(&part->raw, "}}");
    }
}

static void extend_part(struct wr_reply *a, const struct wr_json *doc, wr_json_id delta,
                        int64_t index)
{
    wr_json_id use = wr_json_find(doc, delta, "toolUse");
    wr_json_id reasoning = wr_json_find(doc, delta, "reasoningContent");
    struct wr_part *part;

    if (reasoning != WR_JSON_NONE) {
        extend_reasoning(a, doc, reasoning, index);
    } else if (use != WR_JSON_NONE) {
        part = wr_answer_find(a, index);
        if (part)
            wr_answer_extend(a, part, wr_answer_text(a, doc, use, "input"));
        else /* a part of what never began */
            wr_answer_fail(a, WEIR_SYNTAX);
    } else if (wr_json_find(doc, delta, "text") != WR_JSON_NONE) {
        weir_span text = wr_answer_text(a, doc, delta, "text");
        part = part_of(a, WR_PART_TEXT, index);
        if (part)
            wr_answer_extend(a, part, text);
        wr_answer_show(a, WR_PIECE_TEXT, text);
    }
}

/* What an event is, is told by its members too: the frame's name is not at hand. */
static void read_converse_event(struct wr_reply *a, const struct wr_json *doc)
{
    static const char *const names[] = {"contentBlockIndex", "start", "delta", "usage", "error",
                                        "stopReason"};
    wr_json_id fields[6];
    int64_t index = 0;

    (void)wr_json_pick(doc, 0, names, 6, fields);
    if (fields[0] != WR_JSON_NONE)
        (void)wr_json_i64(doc, fields[0], &index);
    wr_json_id use = wr_json_find(doc, fields[1], "toolUse");
    if (use != WR_JSON_NONE)
        begin_call(a, doc, use, index);
    if (fields[2] != WR_JSON_NONE)
        extend_part(a, doc, fields[2], index);
    if (fields[5] != WR_JSON_NONE) {
        wr_answer_read_finish(a, wr_answer_text(a, doc, 0, "stopReason"));
        a->has_stopped = true;
    }
    if (fields[3] != WR_JSON_NONE) { /* the last event */
        wr_answer_read_usage(a, doc, fields[3]);
        a->is_finished = true;
    }
    wr_answer_read_error(a, doc, fields[4], 0);
}

static void read_converse_item(struct wr_reply *a, const struct wr_json *doc, wr_json_id block)
{
    wr_json_id use = wr_json_find(doc, block, "toolUse");
    wr_json_id input = wr_json_find(doc, use, "input");
    wr_json_id reasoning =
        wr_json_find(doc, wr_json_find(doc, block, "reasoningContent"), "reasoningText");
    struct wr_part *part;

    if (use != WR_JSON_NONE) {
        wr_answer_add_call(a, wr_answer_text(a, doc, use, "toolUseId"),
                           wr_answer_text(a, doc, use, "name"),
                           input == WR_JSON_NONE ? WR_LIT("{}") : wr_json_raw(doc, input));
        return;
    }
    bool is_text = wr_json_is(doc, wr_json_find(doc, block, "text"), WR_JSON_STRING);
    part = wr_answer_part(a,
                          is_text                     ? WR_PART_TEXT
                          : reasoning != WR_JSON_NONE ? WR_PART_THINKING
                                                      : WR_PART_OTHER,
                          -1);
    if (!part)
        return;
    wr_answer_extend(a, part, wr_answer_text(a, doc, is_text ? block : reasoning, "text"));
    wr_buf_append(&part->signature, wr_answer_text(a, doc, reasoning, "signature"));
    wr_buf_append(&part->raw, wr_json_raw(doc, block));
}

static bool read_converse_whole(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id message = wr_json_find(doc, wr_json_find(doc, 0, "output"), "message");
    wr_json_id content = wr_json_find(doc, message, "content");

    wr_answer_read_finish(a, wr_answer_text(a, doc, 0, "stopReason"));
    wr_answer_read_usage(a, doc, wr_json_find(doc, 0, "usage"));
    if (wr_json_is(doc, content, WR_JSON_ARRAY)) {
        wr_answer_read_items(a, doc, content);
        return true;
    }
    wr_json_id words = wr_json_find(doc, 0, "message");
    if (words == WR_JSON_NONE) /* some of AWS' services spell it so */
        words = wr_json_find(doc, 0, "Message");
    wr_answer_read_error(a, doc, words, 0);
    return false;
}

void wr_converse_write_part(struct wr_json_writer *w, const struct wr_part *part, weir_span input)
{
    if (part->kind == WR_PART_OTHER) {
        wr_json_write_raw(w, wr_buf_view(&part->raw));
        return;
    }
    wr_json_write_object(w);
    if (part->kind == WR_PART_CALL) {
        wr_json_write_key(w, "toolUse");
        wr_json_write_object(w);
        wr_json_member_text(w, "toolUseId", wr_buf_view(&part->id));
        wr_json_member_text(w, "name", wr_buf_view(&part->name));
        wr_json_write_key(w, "input");
        wr_json_write_raw(w, input);
        wr_json_write_object_end(w);
    } else if (part->kind == WR_PART_THINKING) {
        wr_json_write_key(w, "reasoningContent");
        wr_json_write_object(w);
        wr_json_write_key(w, "reasoningText");
        wr_json_write_object(w);
        wr_json_member_text(w, "text", wr_buf_view(&part->text));
        if (part->signature.len)
            wr_json_member_text(w, "signature", wr_buf_view(&part->signature));
        wr_json_write_object_end(w);
        wr_json_write_object_end(w);
    } else {
        wr_json_member_text(w, "text", wr_buf_view(&part->text));
    }
    wr_json_write_object_end(w);
}

static bool is_object(struct wr_arena *arena, weir_span text)
{
    struct wr_json doc;
    wr_arena_reset(arena);
    return !text.len || !wr_json_parse(&doc, arena, text, NULL, NULL);
}

static void write_converse_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    wr_json_write_key(w, "output");
    wr_json_write_object(w);
    wr_json_write_key(w, "message");
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "assistant");
    wr_json_write_key(w, "content");
    wr_json_write_array(w);
    for (size_t i = 0; i < a->parts_count; i++) {
        const struct wr_part *part = &a->parts[i];
        weir_span input = wr_buf_view(&part->text);
        if (part->kind == WR_PART_CALL && !is_object(a->arena, input))
            wr_answer_fail(a, WEIR_SYNTAX); /* the answer was cut inside its arguments */
        else
            wr_converse_write_part(w, part, input.len ? input : WR_LIT("{}"));
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_json_member_word(w, "stopReason", a->finish);
}

static void write_converse_error(struct wr_json_writer *w, int status, const char *message)
{
    (void)status;
    wr_json_member_word(w, "message", message);
}

/* ---- writing ---- */

static void write_text_block(struct wr_body *b, weir_span text)
{
    wr_json_write_object(&b->w);
    wr_body_text(b, "text", text);
    wr_json_write_object_end(&b->w);
}

static void write_prompt(struct wr_body *b, const struct wr_body_head *head)
{
    uint64_t tokens = head->output_tokens_max;

    if (tokens) {
        wr_json_write_key(&b->w, "inferenceConfig");
        wr_json_write_object(&b->w);
        wr_json_member_number(&b->w, "maxTokens", tokens);
        wr_json_write_object_end(&b->w);
    }
    if (!head->prompts)
        return;
    wr_json_write_key(&b->w, "system");
    wr_json_write_array(&b->w);
    for (size_t i = 0; i < head->prompts_count; i++)
        write_text_block(b, head->prompts[i]);
    if (head->has_markers)
        wr_body_mark(b);
    wr_json_write_array_end(&b->w);
}

static void write_tool(struct wr_body *b, const struct weir_tool *tool)
{
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "toolSpec");
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "name", tool->name);
    if (tool->description.len)
        wr_json_member_text(&b->w, "description", tool->description);
    wr_json_write_key(&b->w, "inputSchema");
    wr_json_write_object(&b->w);
    wr_body_schema(b, "json", tool);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_blocks(struct wr_body *b, const struct wr_line *line)
{
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    if (line->text.len)
        write_text_block(b, line->text);
    for (size_t i = 0; i < line->calls_count; i++) {
        wr_json_write_object(&b->w);
        wr_json_write_key(&b->w, "toolUse");
        wr_json_write_object(&b->w);
        wr_body_id(b, "toolUseId", line->calls[i].id);
        wr_body_text(b, "name", line->calls[i].name);
        wr_body_object(b, "input", line->calls[i].arguments);
        wr_json_write_object_end(&b->w);
        wr_json_write_object_end(&b->w);
    }
}

static void write_converse_result(struct wr_body *b, const struct wr_line *line)
{
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "toolResult");
    wr_json_write_object(&b->w);
    wr_body_id(b, "toolUseId", line->call_id);
    wr_json_write_key(&b->w, "content");
    wr_json_write_array(&b->w);
    write_text_block(b, line->text);
    wr_json_write_array_end(&b->w);
    if (line->is_error)
        wr_json_member_word(&b->w, "status", "error");
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_converse_image(struct wr_body *b, const struct wr_line_image *image)
{
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "image");
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "format", image->type);
    wr_json_write_key(&b->w, "source");
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "bytes", image->base64);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* What the host says at its place is the user's here. */
static void write_converse_line(struct wr_body *b, const struct wr_line *line)
{
    wr_body_open(b, line->kind == WR_LINE_ANSWER ? "assistant" : "user");
    switch (line->kind) {
    case WR_LINE_NOTICE:
    case WR_LINE_WORDS:
        write_text_block(b, line->text);
        wr_body_images(b, line);
        break;
    case WR_LINE_RESULT:
        write_converse_result(b, line);
        break;
    case WR_LINE_ANSWER:
        write_blocks(b, line);
        break;
    }
}

static void write_converse_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_write_key(&b->w, "output");
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "message");
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", "assistant");
    wr_json_write_key(&b->w, "content");
    wr_json_write_array(&b->w);
    write_blocks(b, line);
    wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_json_member_word(&b->w, "stopReason", line->calls_count ? "tool_use" : "end_turn");
}

/* Thinking whose prefix is another by now, and texts that the API refuses. */
static bool drops_item(struct wr_body *b, weir_span item, bool is_unbound)
{
    struct wr_json doc;

    wr_arena_reset(&b->scratch);
    if (wr_json_parse(&doc, &b->scratch, item, NULL, NULL))
        return false;
    wr_json_id text = wr_json_find(&doc, 0, "text");
    if (wr_json_is(&doc, text, WR_JSON_STRING)) {
        weir_span said = wr_json_text(&doc, &b->scratch, text);
        return said.ptr && wr_text_is_blank(said);
    }
    return is_unbound && wr_json_find(&doc, 0, "reasoningContent") != WR_JSON_NONE;
}

static bool is_signed_item(weir_span item)
{
    return wr_span_find(item, WR_LIT("\"reasoningContent\""), 0) != SIZE_MAX;
}

/* ---- the table ---- */

static const char *const end_words[] = {"end_turn", "stop_sequence", NULL};
static const char *const continuation_words[] = {"number of toolresult blocks",
                                                 "expected toolresult blocks", NULL};

const struct wr_api wr_api_converse = {
    .dialect = WEIR_DIALECT_CONVERSE,
    .name = "converse",
    .read_request = read_converse_request,
    .list_tools = wr_list_tools,
    .list_key = "messages",
    .content_key = "content",
    .prompt_key = "system",
    .framing = {.request = 4, .message = 4, .call = 24, .tools = 346, .tool = 16},
    .has_user_ends = true,
    .has_results_first = true,
    .must_alternate = true,
    .look = look_at_converse,
    .read_event = read_converse_event,
    .read_whole = read_converse_whole,
    .read_item = read_converse_item,
    .write_answer = write_converse_answer,
    .write_error = write_converse_error,
    .write_prompt = write_prompt,
    .write_tool = write_tool,
    .write_line = write_converse_line,
    .write_image = write_converse_image,
    .write_reply = write_converse_reply,
    .drops_item = drops_item,
    .is_signed_item = is_signed_item,
    .marker_key = "cachePoint",
    .marker = "\"cachePoint\":{\"type\":\"default\"}",
    .marks_with_blocks = true,
    .tools_object_key = "toolConfig",
    .has_prompt_apart = true,
    .checks_ids = true,
    .continuation_words = continuation_words,
    .end_words = end_words,
    .joiner = &wr_joiner_converse,
    .counts_cached_apart = true,
};
