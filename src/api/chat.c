/* OpenAI Chat Completions, and the many servers that speak it. */
#include "api/answer.h"
#include "api/join_api.h"
#include "api/lawful.h"
#include "api/own_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/span.h"
#include "base/text.h"

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
    for (size_t i = 0; i < WR_COUNT_OF(exact_parts); i++)
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

static weir_status read_chat_call(struct wr_transcript *t, const struct wr_place *place,
                                  wr_json_id call)
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

static weir_status read_chat_calls(struct wr_transcript *t, const struct wr_place *place,
                                   wr_json_id calls)
{
    if (!wr_json_is(t->doc, calls, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id call = wr_json_first(t->doc, calls); call != WR_JSON_NONE;
         call = wr_json_next(t->doc, calls, call)) {
        weir_status status = read_chat_call(t, place, call);
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
    bool is_call = false;
    weir_status status = read_reasoning(t, place, fields);
    if (!status && fields[F_TOOL_CALLS] == WR_JSON_NONE)
        status = wr_add_spoken_call(t, place, fields[F_CONTENT], &is_call);
    if (!status && !is_call)
        status = wr_add_content(t, place, fields[F_CONTENT], read_part);
    if (!status)
        status = wr_add_refusal(t, place, WR_JSON_NONE, WR_JSON_NONE, fields[F_REFUSAL]);
    if (!status && wr_json_is(doc, fields[F_AUDIO], WR_JSON_OBJECT))
        status = wr_add_opaque(t, place, WEIR_KIND_OTHER, fields[F_AUDIO], true);
    if (!status)
        status = read_chat_calls(t, place, fields[F_TOOL_CALLS]);
    wr_json_id legacy = fields[F_FUNCTION_CALL];
    if (!status && wr_json_is(doc, legacy, WR_JSON_OBJECT))
        status = add_call(t, place, legacy, WR_JSON_NONE, wr_json_find(doc, legacy, "name"),
                          wr_json_find(doc, legacy, "arguments"));
    return status;
}

static weir_status read_chat_result(struct wr_transcript *t, const struct wr_place *place,
                                    const wr_json_id fields[F_COUNT], bool is_error)
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, place->message);
    weir_status status = WEIR_OK;
    segment.tool = wr_text_or_empty(t, fields[F_NAME], &status);
    segment.call_id = wr_text_or_empty(t, fields[F_TOOL_CALL_ID], &status);
    if (!segment.call_id.len)
        segment.call_id = wr_spoken_call_id(t);
    segment.is_error = is_error;
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

static weir_status read_chat_message(struct wr_transcript *t, wr_json_id list, wr_json_id message)
{
    const struct wr_json *doc = t->doc;
    wr_json_id fields[F_COUNT];
    bool unique = wr_json_pick(doc, message, field_names, F_COUNT, fields);
    struct wr_place place = {message, list, wr_role_of(doc, fields[F_ROLE])};
    bool is_error = false;

    if (!unique)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    if (place.role == WEIR_ROLE_ASSISTANT)
        return read_assistant(t, &place, fields);
    if (wr_json_text_is(doc, fields[F_ROLE], "function"))
        place.role = WEIR_ROLE_TOOL;
    if (place.role == WEIR_ROLE_USER && wr_is_spoken_result(t, fields[F_CONTENT], &is_error))
        place.role = WEIR_ROLE_TOOL;
    if (place.role == WEIR_ROLE_TOOL)
        return read_chat_result(t, &place, fields, is_error);
    if (place.role == WEIR_ROLE_NONE)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    return wr_add_content(t, &place, fields[F_CONTENT], read_part);
}

static weir_status read_chat_request(struct wr_transcript *transcript)
{
    static const char *const names[] = {"messages", "tools", "functions"};
    const struct wr_json *doc = transcript->doc;
    wr_json_id top[3];
    (void)wr_json_pick(doc, 0, names, 3, top);

    weir_status status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[1]);
    if (!status)
        status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[2]);
    transcript->list = top[0];
    for (wr_json_id m = wr_first_unread(transcript, &status); !status && m != WR_JSON_NONE;
         m = wr_json_next(doc, top[0], m)) {
        status = read_chat_message(transcript, top[0], m);
        mark_last(transcript, m);
    }
    return status;
}

/* ---- answers ---- */

static bool holds(weir_span data, const char *word)
{
    return wr_span_find(data, wr_span_of(word), 0) != SIZE_MAX;
}

static enum wr_look look_at_chat(const struct wr_sse_event *event)
{
    if (wr_span_is(event->data, "[DONE]"))
        return WR_LOOK_LAST;
    bool tells = holds(event->data, "\"usage\"") || holds(event->data, "\"tool_calls\"") ||
                 holds(event->data, "\"error\"") || holds(event->data, "\"finish_reason\":\"") ||
                 holds(event->data, "\"finish_reason\": \"");
    return tells ? WR_LOOK_INTO : WR_LOOK_AWAY;
}

/* Some servers give every call the number 0: another id is another call. */
static struct wr_part *call_at(struct wr_reply *a, int64_t index, weir_span id)
{
    struct wr_part *call = wr_answer_find(a, index);

    if (call && id.len && call->id.len && !wr_span_eq(wr_buf_view(&call->id), id))
        call = NULL;
    return call ? call : wr_answer_part(a, WR_PART_CALL, index);
}

static void set_text(struct wr_buf *buf, weir_span text)
{
    if (!text.len)
        return;
    wr_buf_reset(buf);
    wr_buf_append(buf, text);
}

static void read_answer_calls(struct wr_reply *a, const struct wr_json *doc, wr_json_id list)
{
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id function = wr_json_find(doc, at, "function");
        wr_json_id number = wr_json_find(doc, at, "index");
        int64_t index = (int64_t)a->parts_count;
        if (number != WR_JSON_NONE)
            (void)wr_json_i64(doc, number, &index);
        weir_span id = wr_answer_text(a, doc, at, "id");
        struct wr_part *call = call_at(a, index, id);
        if (!call)
            return;
        set_text(&call->id, id);
        set_text(&call->name, wr_answer_text(a, doc, function, "name"));
        wr_answer_extend(a, call, wr_answer_text(a, doc, function, "arguments"));
    }
}

/* All that is said is one text, beside the calls. */
static void read_answer_message(struct wr_reply *a, const struct wr_json *doc, wr_json_id message)
{
    enum { TEXT_INDEX = -2 };
    weir_span text = wr_answer_text(a, doc, message, "content");

    if (text.len && a->keeps_all) {
        struct wr_part *part = wr_answer_find(a, TEXT_INDEX);
        if (!part)
            part = wr_answer_part(a, WR_PART_TEXT, TEXT_INDEX);
        if (part)
            wr_answer_extend(a, part, text);
    }
    wr_answer_show(a, WR_PIECE_THINKING, wr_answer_text(a, doc, message, "reasoning_content"));
    wr_answer_show(a, WR_PIECE_TEXT, text);
    read_answer_calls(a, doc, wr_json_find(doc, message, "tool_calls"));
}

static void read_answer_head(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id error = wr_json_find(doc, 0, "error");

    wr_answer_read_id(a, doc, 0);
    wr_answer_read_error(a, doc, error, error);
    wr_answer_read_usage(a, doc, wr_json_find(doc, 0, "usage"));
}

/* Who wants all of an answer has asked for one choice. */
static void read_chat_event(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id choices = wr_json_find(doc, 0, "choices");

    read_answer_head(a, doc);
    for (wr_json_id at = wr_json_first(doc, choices); at != WR_JSON_NONE;
         at = a->keeps_all ? WR_JSON_NONE : wr_json_next(doc, choices, at)) {
        weir_span stop = wr_answer_text(a, doc, at, "finish_reason");
        read_answer_message(a, doc, wr_json_find(doc, at, "delta"));
        wr_answer_read_finish(a, stop);
        a->has_stopped |= stop.len > 0;
    }
}

static bool read_chat_whole(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id choices = wr_json_find(doc, 0, "choices");
    bool is_answer = false;

    read_answer_head(a, doc);
    for (wr_json_id at = wr_json_first(doc, choices); at != WR_JSON_NONE;
         at = a->keeps_all ? WR_JSON_NONE : wr_json_next(doc, choices, at)) {
        wr_json_id message = wr_json_find(doc, at, "message");
        wr_answer_read_finish(a, wr_answer_text(a, doc, at, "finish_reason"));
        if (!wr_json_is(doc, message, WR_JSON_OBJECT))
            continue;
        is_answer = true;
        wr_answer_read_item(a, doc, message);
    }
    return is_answer;
}

static void write_answer_call(struct wr_json_writer *w, const struct wr_part *call)
{
    wr_json_write_object(w);
    wr_json_member_text(w, "id", wr_buf_view(&call->id));
    wr_json_member_word(w, "type", "function");
    wr_json_write_key(w, "function");
    wr_json_write_object(w);
    wr_json_member_text(w, "name", wr_buf_view(&call->name));
    wr_json_member_text(w, "arguments", wr_buf_view(&call->text));
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

static void write_answer_message(const struct wr_reply *a, struct wr_json_writer *w)
{
    const struct wr_part *text = NULL;
    size_t calls_count = 0;

    for (size_t i = 0; i < a->parts_count; i++) {
        calls_count += a->parts[i].kind == WR_PART_CALL;
        if (a->parts[i].kind == WR_PART_TEXT)
            text = &a->parts[i];
    }
    wr_json_member_word(w, "role", "assistant");
    wr_json_write_key(w, "content");
    if (text)
        wr_json_write_text(w, wr_buf_view(&text->text));
    else
        wr_json_write_null(w);
    if (!calls_count)
        return;
    wr_json_write_key(w, "tool_calls");
    wr_json_write_array(w);
    for (size_t i = 0; i < a->parts_count; i++)
        if (a->parts[i].kind == WR_PART_CALL)
            write_answer_call(w, &a->parts[i]);
    wr_json_write_array_end(w);
}

static void write_chat_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    wr_json_write_key(w, "choices");
    wr_json_write_array(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "finish_reason", a->finish);
    wr_json_write_key(w, "message");
    wr_json_write_object(w);
    write_answer_message(a, w);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
}

/* ---- writing ---- */

static void write_chat_image(struct wr_body *b, const struct wr_line_image *image)
{
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "image_url");
    wr_json_write_key(&b->w, "image_url");
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "url", image->url);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_call(struct wr_body *b, const struct weir_call *call)
{
    wr_json_write_object(&b->w);
    wr_body_id(b, "id", call->id);
    wr_json_member_word(&b->w, "type", "function");
    wr_json_write_key(&b->w, "function");
    wr_json_write_object(&b->w);
    wr_body_text(b, "name", call->name);
    wr_body_arguments(b, call->arguments);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_model_message(struct wr_body *b, const struct wr_line *line)
{
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", "assistant");
    if (line->text.len)
        wr_body_text(b, "content", line->text);
    else
        wr_json_member_null(&b->w, "content");
    if (line->calls_count) {
        wr_json_write_key(&b->w, "tool_calls");
        wr_json_write_array(&b->w);
        for (size_t i = 0; i < line->calls_count; i++)
            write_call(b, &line->calls[i]);
        wr_json_write_array_end(&b->w);
    }
    wr_json_write_object_end(&b->w);
}

static void write_chat_line(struct wr_body *b, const struct wr_line *line)
{
    switch (line->kind) {
    case WR_LINE_NOTICE:
        if (b->alternates)
            wr_body_words(b, line->text);
        else
            wr_body_plain(b, line->role ? line->role : "system", line->text);
        break;
    case WR_LINE_WORDS:
        wr_body_words(b, line->text);
        wr_body_keep_images(b, line);
        break;
    case WR_LINE_RESULT:
        wr_body_close(b);
        wr_json_write_object(&b->w);
        wr_json_member_word(&b->w, "role", "tool");
        wr_body_id(b, "tool_call_id", line->call_id);
        wr_body_text(b, "content", line->text);
        wr_json_write_object_end(&b->w);
        break;
    case WR_LINE_ANSWER:
        wr_body_close(b);
        write_model_message(b, line);
        break;
    }
}

static void write_chat_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_member_word(&b->w, "id", "chatcmpl-meter");
    wr_json_member_word(&b->w, "object", "chat.completion");
    wr_json_member_number(&b->w, "created", 0);
    wr_json_write_key(&b->w, "choices");
    wr_json_write_array(&b->w);
    wr_json_write_object(&b->w);
    wr_json_member_number(&b->w, "index", 0);
    wr_json_write_key(&b->w, "message");
    write_model_message(b, line);
    wr_json_member_word(&b->w, "finish_reason", line->calls_count ? "tool_calls" : "stop");
    wr_json_write_object_end(&b->w);
    wr_json_write_array_end(&b->w);
}

/* ---- the table ---- */

static const char *const overflow_codes[] = {"context_length_exceeded", NULL};
static const char *const continuation_words[] = {
    "must be followed by tool messages",
    "must be a response to a preceeding message", /* spelt so by the provider */
    "must be a response to a preceding message", "did not have response messages", NULL};
static const char *const end_words[] = {"stop", NULL};
static const struct wr_api_path paths[] = {
    {"/chat/completions", "/v1/chat/completions", true},
};
/* Of Responses too: both are OpenAI's. */
static const struct wr_api_upstream upstreams[] = {
    {"openai", "https://api.openai.com/v1"},
    {"chatgpt", "https://chatgpt.com/backend-api/codex"},
    {NULL, NULL},
};

const struct wr_api wr_api_chat = {
    .dialect = WEIR_DIALECT_CHAT,
    .name = "chat",
    .paths = paths,
    .paths_count = WR_COUNT_OF(paths),
    .upstreams = upstreams,
    .read_request = read_chat_request,
    .list_tools = wr_list_tools,
    .list_key = "messages",
    .content_key = "content",
    .framing = {.request = 3, .message = 4, .call = 8, .tools = 12, .tool = 8},
    .may_alternate = true,
    .marks_blocks_only = true,
    .look = look_at_chat,
    .read_event = read_chat_event,
    .read_whole = read_chat_whole,
    .read_item = read_answer_message,
    .write_answer = write_chat_answer,
    .write_error = wr_write_openai_error,
    .write_prompt = wr_body_prompts,
    .write_tool = wr_body_function,
    .write_line = write_chat_line,
    .write_image = write_chat_image,
    .write_reply = write_chat_reply,
    .output_max_key = "max_tokens",
    .provider_max_key = "max_completion_tokens",
    .has_prompt_in_list = true,
    .overflow_codes = overflow_codes,
    .continuation_words = continuation_words,
    .end_words = end_words,
    .url = "https://api.openai.com",
    .url_variable = "OPENAI_BASE_URL",
    .older_url_variable = "OPENAI_API_BASE",
    .key_variable = "OPENAI_API_KEY",
    .model = "gpt-5.6-terra",
    .stream_members = "\"stream\":true,\"stream_options\":{\"include_usage\":true}",
    .joiner = &wr_joiner_chat,
    .names_calls = true,
};

/* ==== exchanges of own recall, put back into requests ==== */

bool wr_own_chat_may_join(const struct wr_json *doc)
{
    int64_t answers = 1;

    (void)wr_json_i64(doc, wr_json_find(doc, 0, "n"), &answers);
    return answers == 1 && wr_json_find(doc, 0, "functions") == WR_JSON_NONE;
}

bool wr_own_chat_is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    return !wr_json_is(doc, wr_json_find(doc, tool, "function"), WR_JSON_OBJECT) &&
           !wr_json_is(doc, wr_json_find(doc, tool, "custom"), WR_JSON_OBJECT);
}

/* Members in which servers say what a model thought, as a text. */
static const char *const thoughts[] = {"reasoning_content", "reasoning", "thinking"};

static bool is_model(const struct wr_json *doc, wr_json_id message)
{
    return wr_json_text_is(doc, wr_json_find(doc, message, "role"), "assistant");
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    wr_json_id content = wr_json_find(doc, element, "content");

    (void)front;
    if (!is_model(doc, element))
        return;
    if (wr_json_is(doc, content, WR_JSON_STRING))
        wr_buf_append(text, wr_own_text(e, doc, content));
    else if (wr_json_is(doc, content, WR_JSON_ARRAY))
        for (wr_json_id part = wr_json_first(doc, content); part != WR_JSON_NONE;
             part = wr_json_next(doc, content, part))
            if (wr_json_text_is(doc, wr_json_find(doc, part, "type"), "text"))
                wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, part, "text")));
}

static void read_thought(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[0])));
}

static void read_other_thought(struct wr_own_edits *e, const struct wr_json *doc,
                               wr_json_id element, struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[1])));
}

static void read_thinking(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                          struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[2])));
}

/* What a model thought in earlier legs stands in their messages. A client that sends it back
 * otherwise keeps what it sends. */
static void cut_thoughts(struct wr_own_edits *e, wr_json_id message)
{
    static wr_own_element_fn *const readers[] = {read_thought, read_other_thought, read_thinking};

    for (size_t i = 0; i < WR_COUNT_OF(readers); i++) {
        wr_json_id member = wr_json_find(e->t->doc, message, thoughts[i]);
        struct wr_own_front front;
        weir_span rest;
        if (!wr_json_is(e->t->doc, member, WR_JSON_STRING) ||
            !wr_own_read_front(e, readers[i], &front) || wr_own_front_is_over(&front))
            continue;
        enum wr_own_match match =
            wr_own_match_text(&front, wr_own_text(e, e->t->doc, member), &rest);
        if (match == WR_OWN_NO_MATCH)
            continue;
        if (match == WR_OWN_ALL || wr_text_is_blank(rest))
            wr_own_remove(e, message, member - 1);
        else
            wr_own_set_text(e, member, rest);
    }
}

/* The same in lists, whose parts may be signed. */
static const char *const thought_lists[] = {"reasoning_details", "thinking_blocks"};

static void read_marks(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                       struct wr_own_front *front, const char *key)
{
    wr_json_id list = is_model(doc, element) ? wr_json_find(doc, element, key) : WR_JSON_NONE;

    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id part = wr_json_first(doc, list); part != WR_JSON_NONE;
         part = wr_json_next(doc, list, part))
        wr_own_add_mark(e, front, wr_own_mark(doc, part, e->arena));
}

static void read_details(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    (void)text;
    read_marks(e, doc, element, front, thought_lists[0]);
}

static void read_blocks(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                        struct wr_own_front *front, struct wr_buf *text)
{
    (void)text;
    read_marks(e, doc, element, front, thought_lists[1]);
}

static void cut_thought_lists(struct wr_own_edits *e, wr_json_id message)
{
    static wr_own_element_fn *const readers[] = {read_details, read_blocks};
    const struct wr_json *doc = e->t->doc;

    for (size_t i = 0; i < WR_COUNT_OF(readers); i++) {
        wr_json_id list = wr_json_find(doc, message, thought_lists[i]);
        struct wr_own_front front;
        size_t edits_count = e->count, cut = 0;
        if (!wr_json_is(doc, list, WR_JSON_ARRAY) || !wr_own_read_front(e, readers[i], &front))
            continue;
        wr_json_id part = wr_json_first(doc, list);
        for (; part != WR_JSON_NONE && cut < front.marks_count &&
               front.marks[cut] == wr_own_mark(doc, part, e->arena);
             part = wr_json_next(doc, list, part), cut++)
            wr_own_remove(e, list, part);
        if (part != WR_JSON_NONE || !cut)
            continue;
        e->count = edits_count; /* all of it leaves */
        wr_own_remove(e, message, list - 1);
    }
}

static enum wr_own_fate cut_content(struct wr_own_edits *e, wr_json_id content)
{
    const struct wr_json *doc = e->t->doc;
    struct wr_own_front front;
    enum wr_own_fate fate = WR_OWN_GONE;

    if (!wr_own_read_front(e, read_element, &front))
        return WR_OWN_FITS_NOT;
    bool is_list = wr_json_is(doc, content, WR_JSON_ARRAY);
    /* Some clients drop what was said beside calls. */
    if (!is_list && (!wr_json_is(doc, content, WR_JSON_STRING) || !wr_json_inner(doc, content).len))
        return WR_OWN_GONE;
    if (wr_own_front_is_over(&front))
        return WR_OWN_STAYS;
    fate = wr_own_cut_content(e, &front, content);
    return wr_own_front_is_over(&front) ? fate : WR_OWN_FITS_NOT;
}

/* ---- calls and results ---- */

static wr_json_id child_at(const struct wr_json *doc, wr_json_id list, uint32_t before)
{
    wr_json_id at = wr_json_first(doc, list);

    while (at != WR_JSON_NONE && before--)
        at = wr_json_next(doc, list, at);
    return at;
}

static bool is_result(const struct wr_json *doc, wr_json_id message)
{
    return message != WR_JSON_NONE &&
           wr_json_text_is(doc, wr_json_find(doc, message, "role"), "tool");
}

static bool put_beside(struct wr_own_edits *e, const struct wr_own_leg *beside, wr_json_id message)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id calls = wr_json_find(doc, message, "tool_calls");

    if (!wr_json_is(doc, calls, WR_JSON_ARRAY))
        return false;
    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        const struct wr_own_hidden *h = &beside->hidden[i];
        wr_json_id at = wr_json_next(doc, e->t->list, message);
        for (uint32_t before = h->calls_before; before && is_result(doc, at); before--)
            at = wr_json_next(doc, e->t->list, at);
        wr_own_insert(e, calls, child_at(doc, calls, h->calls_before), h->call);
        wr_own_insert(e, e->t->list, at, h->result);
    }
    return true;
}

bool wr_own_chat_put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);

    if (!e->answer || e->t->list == WR_JSON_NONE)
        return false;
    wr_json_id message = e->t->segments[e->answer->first].message;
    if (message == WR_JSON_NONE || e->t->segments[e->answer->last].message != message)
        return false;
    wr_json_id content = wr_json_find(doc, message, "content");
    wr_json_id calls = wr_json_find(doc, message, "tool_calls");
    bool has_calls =
        wr_json_is(doc, calls, WR_JSON_ARRAY) && wr_json_first(doc, calls) != WR_JSON_NONE;
    enum wr_own_fate fate = cut_content(e, content);
    if (fate == WR_OWN_FITS_NOT)
        return false;
    wr_own_insert_elements(e, message);
    if (fate == WR_OWN_GONE && !has_calls) {
        wr_own_remove(e, e->t->list, message);
        return !beside;
    }
    if (fate == WR_OWN_GONE && content != WR_JSON_NONE && e->exchange->legs[0].elements.len)
        wr_own_set_json(e, content, WR_LIT("null"));
    cut_thoughts(e, message);
    cut_thought_lists(e, message);
    return !beside || put_beside(e, beside, message);
}
