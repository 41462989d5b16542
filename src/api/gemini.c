/* Google's Gemini: its answers, its writing and its table. Its requests are read in gemini_read.c.
 *
 *   - the path names the model, and whether the answer comes as a stream. gemini-cli with a login
 *     of Google's wraps a request ({model, project, request}) and gets its answer wrapped;
 *   - a stream is one of events, or one JSON array;
 *   - a call may have no id, and a result must name its tool.
 */
#include "api/gemini.h"

#include <stdio.h>

#include "api/answer.h"
#include "api/join_api.h"
#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* The provider holds what stands before. */
static weir_span id_before(const struct wr_json *doc)
{
    wr_json_id root = wr_json_find(doc, 0, "request");
    wr_json_id id = wr_gemini_find(doc, wr_json_is(doc, root, WR_JSON_OBJECT) ? root : 0,
                                   "cachedContent", "cached_content");
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

/* ".../models/NAME:generateContent". */
static weir_span model_of_path(weir_span path)
{
    size_t at = wr_span_find(path, WR_LIT("models/"), 0), end;

    if (at == SIZE_MAX)
        at = wr_span_find(path, WR_LIT("tunedModels/"), 0);
    if (at == SIZE_MAX)
        return (weir_span){"", 0};
    while (path.ptr[at] != '/')
        at++;
    for (end = ++at; end < path.len && !memchr("/:?#", path.ptr[end], 4);)
        end++;
    return wr_span_cut(path, at, end);
}

/* ---- answers ---- */

/* Every event has a usage, and the last one's counts: that one says why the answer ended. */
static enum wr_look look_at_gemini(const struct wr_sse_event *event)
{
    static const char *const telling[] = {"\"finishReason\"", "\"functionCall\"", "\"error\"",
                                          "\"blockReason\""};

    for (size_t i = 0; i < WR_COUNT_OF(telling); i++)
        if (wr_span_find(event->data, wr_span_of(telling[i]), 0) != SIZE_MAX)
            return WR_LOOK_INTO;
    return WR_LOOK_AWAY;
}

static int64_t number_of(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    int64_t number;
    return id != WR_JSON_NONE && wr_json_i64(doc, id, &number) && number > 0 ? number : 0;
}

/* Thinking is counted beside the words, and what the provider's own tools read beside the prompt.
 */
static void read_usage(struct wr_reply *a, const struct wr_json *doc, wr_json_id usage)
{
    if (!wr_json_is(doc, usage, WR_JSON_OBJECT))
        return;
    wr_buf_reset(&a->usage_raw);
    wr_answer_read_usage(a, doc, usage);
    int64_t thoughts = number_of(doc, usage, "thoughtsTokenCount");
    int64_t tools = number_of(doc, usage, "toolUsePromptTokenCount");
    if (thoughts)
        a->usage.output_tokens = number_of(doc, usage, "candidatesTokenCount") + thoughts;
    if (tools)
        a->usage.input_tokens = number_of(doc, usage, "promptTokenCount") + tools;
}

static void add_call(struct wr_reply *a, const struct wr_json *doc, wr_json_id part,
                     const wr_json_id *fields)
{
    struct wr_part *call = wr_answer_part(a, WR_PART_CALL, -1);
    wr_json_id args = wr_json_find(doc, fields[P_CALL], "args");

    if (!call)
        return;
    wr_buf_append(&call->id, wr_answer_text(a, doc, fields[P_CALL], "id"));
    wr_buf_append(&call->name, wr_answer_text(a, doc, fields[P_CALL], "name"));
    wr_answer_extend(a, call, args == WR_JSON_NONE ? WR_LIT("{}") : wr_json_raw(doc, args));
    if (a->keeps_all)
        wr_buf_append(&call->raw, wr_json_raw(doc, part));
    if (a->keeps_all && wr_json_is(doc, fields[P_SIGNATURE], WR_JSON_STRING))
        wr_buf_append(&call->signature, wr_json_raw(doc, fields[P_SIGNATURE]));
}

/* Pieces of a text go on until it is signed; a part that came whole stands alone. */
static void add_text(struct wr_reply *a, const struct wr_json *doc, wr_json_id part,
                     const wr_json_id *fields, bool is_piece)
{
    bool is_thought = wr_json_is(doc, fields[P_THOUGHT], WR_JSON_TRUE);
    enum wr_part_kind kind = is_thought ? WR_PART_THINKING : WR_PART_TEXT;
    struct wr_part *last = a->parts_count ? &a->parts[a->parts_count - 1] : NULL;
    weir_span text = wr_answer_text(a, doc, part, "text");

    if (!last || last->kind != kind || last->signature.len || !is_piece)
        last = wr_answer_part(a, kind, -1);
    if (!last)
        return;
    wr_answer_extend(a, last, text);
    if (wr_json_is(doc, fields[P_SIGNATURE], WR_JSON_STRING))
        wr_buf_append(&last->signature, wr_json_raw(doc, fields[P_SIGNATURE]));
    wr_answer_show(a, is_thought ? WR_PIECE_THINKING : WR_PIECE_TEXT, text);
}

static void add_part(struct wr_reply *a, const struct wr_json *doc, wr_json_id part, bool is_piece)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    if (wr_json_is(doc, fields[P_CALL], WR_JSON_OBJECT)) {
        add_call(a, doc, part, fields);
    } else if (wr_json_is(doc, fields[P_TEXT], WR_JSON_STRING)) {
        add_text(a, doc, part, fields, is_piece);
    } else {
        struct wr_part *other = wr_answer_part(a, WR_PART_OTHER, -1);
        if (other)
            wr_buf_append(&other->raw, wr_json_raw(doc, part));
    }
}

static void read_gemini_item(struct wr_reply *a, const struct wr_json *doc, wr_json_id part)
{
    add_part(a, doc, part, false);
}

/* What comes at once, or one of the pieces; it may be wrapped. False: it is no answer. */
static bool read_chunk(struct wr_reply *a, const struct wr_json *doc, wr_json_id chunk,
                       bool is_piece)
{
    wr_json_id inner = wr_json_find(doc, chunk, "response"),
               error = wr_json_find(doc, chunk, "error");

    if (wr_json_is(doc, inner, WR_JSON_OBJECT))
        chunk = inner;
    wr_json_id candidates = wr_json_find(doc, chunk, "candidates");
    wr_json_id feedback = wr_json_find(doc, chunk, "promptFeedback");
    wr_json_id first =
        wr_json_is(doc, candidates, WR_JSON_ARRAY) ? wr_json_first(doc, candidates) : WR_JSON_NONE;
    wr_json_id parts = wr_json_find(doc, wr_json_find(doc, first, "content"), "parts");

    wr_answer_read_id(a, doc, chunk);
    wr_answer_read_error(a, doc, error, chunk);
    read_usage(a, doc, wr_json_find(doc, chunk, "usageMetadata"));
    if (wr_json_is(doc, parts, WR_JSON_ARRAY) && !is_piece)
        wr_answer_read_items(a, doc, parts);
    for (wr_json_id part = wr_json_first(doc, parts);
         wr_json_is(doc, parts, WR_JSON_ARRAY) && is_piece && part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part))
        add_part(a, doc, part, true);
    weir_span why = wr_answer_text(a, doc, first, "finishReason");
    if (!why.len)
        why = wr_answer_text(a, doc, feedback, "blockReason");
    wr_answer_read_finish(a, why);
    a->is_finished |= why.len > 0;
    return candidates != WR_JSON_NONE || feedback != WR_JSON_NONE;
}

static void read_gemini_event(struct wr_reply *a, const struct wr_json *doc)
{
    (void)read_chunk(a, doc, 0, true);
}

static bool read_gemini_whole(struct wr_reply *a, const struct wr_json *doc)
{
    bool is_answer = false;

    if (!wr_json_is(doc, 0, WR_JSON_ARRAY))
        return read_chunk(a, doc, 0, false);
    for (wr_json_id chunk = wr_json_first(doc, 0); chunk != WR_JSON_NONE;
         chunk = wr_json_next(doc, 0, chunk))
        is_answer |= read_chunk(a, doc, chunk, false);
    return is_answer;
}

void wr_gemini_write_part(struct wr_json_writer *w, const struct wr_part *part)
{
    if (part->kind == WR_PART_OTHER) {
        wr_json_write_raw(w, wr_buf_view(&part->raw));
        return;
    }
    wr_json_write_object(w);
    if (part->kind == WR_PART_CALL) {
        wr_json_write_key(w, "functionCall");
        wr_json_write_object(w);
        wr_json_member_text(w, "id", wr_buf_view(&part->id));
        wr_json_member_text(w, "name", wr_buf_view(&part->name));
        wr_json_write_key(w, "args");
        wr_json_write_raw(w, wr_buf_view(&part->text));
        wr_json_write_object_end(w);
    } else {
        wr_json_member_text(w, "text", wr_buf_view(&part->text));
        if (part->kind == WR_PART_THINKING)
            wr_json_member_bool(w, "thought", true);
    }
    if (part->signature.len) {
        wr_json_write_key(w, "thoughtSignature");
        wr_json_write_raw(w, wr_buf_view(&part->signature));
    }
    wr_json_write_object_end(w);
}

static void begin_candidate(struct wr_json_writer *w)
{
    wr_json_write_key(w, "candidates");
    wr_json_write_array(w);
    wr_json_write_object(w);
    wr_json_write_key(w, "content");
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "model");
    wr_json_write_key(w, "parts");
    wr_json_write_array(w);
}

static void end_candidate(struct wr_json_writer *w, const char *why)
{
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    wr_json_member_word(w, "finishReason", why);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
}

static void write_gemini_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    begin_candidate(w);
    for (size_t i = 0; i < a->parts_count; i++)
        wr_gemini_write_part(w, &a->parts[i]);
    end_candidate(w, a->finish);
}

static const char *status_word(int status)
{
    static const struct {
        int status;
        const char *word;
    } rows[] = {{400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"},  {403, "PERMISSION_DENIED"},
                {404, "NOT_FOUND"},        {413, "INVALID_ARGUMENT"}, {429, "RESOURCE_EXHAUSTED"},
                {503, "UNAVAILABLE"},      {504, "DEADLINE_EXCEEDED"}};

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (rows[i].status == status)
            return rows[i].word;
    return "INTERNAL";
}

static void write_gemini_error(struct wr_json_writer *w, int status, const char *message)
{
    wr_json_write_key(w, "error");
    wr_json_write_object(w);
    wr_json_member_number(w, "code", (uint64_t)status);
    wr_json_member_word(w, "message", message);
    wr_json_member_word(w, "status", status_word(status));
    wr_json_write_object_end(w);
}

/* ---- writing ---- */

static void write_text_part(struct wr_body *b, weir_span text)
{
    wr_json_write_object(&b->w);
    wr_body_text(b, "text", text);
    wr_json_write_object_end(&b->w);
}

static void write_prompt(struct wr_body *b, const struct wr_body_head *head)
{
    if (head->output_tokens_max) {
        wr_json_write_key(&b->w, "generationConfig");
        wr_json_write_object(&b->w);
        wr_json_member_number(&b->w, "maxOutputTokens", head->output_tokens_max);
        wr_json_write_object_end(&b->w);
    }
    if (!head->prompts_count)
        return;
    wr_json_write_key(&b->w, "systemInstruction");
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "parts");
    wr_json_write_array(&b->w);
    for (size_t i = 0; i < head->prompts_count; i++)
        write_text_part(b, head->prompts[i]);
    wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_tool(struct wr_body *b, const struct weir_tool *tool)
{
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "name", tool->name);
    if (tool->description.len)
        wr_json_member_text(&b->w, "description", tool->description);
    wr_body_schema(b, "parametersJsonSchema", tool);
    wr_json_write_object_end(&b->w);
}

/* Current models refuse a call without a signature; a call that another model made has this. */
#define NO_SIGNATURE "skip_thought_signature_validator"

/* The laboratory's sessions are written as the service itself writes most: without ids. */
static void write_id(struct wr_body *b, weir_span id)
{
    if (!b->is_raw)
        wr_body_id(b, "id", id);
}

static void write_calls(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->calls_count; i++) {
        const struct weir_call *call = &line->calls[i];
        wr_body_note_call(b, call->id, call->name);
        wr_json_write_object(&b->w);
        wr_json_write_key(&b->w, "functionCall");
        wr_json_write_object(&b->w);
        write_id(b, call->id);
        wr_body_text(b, "name", call->name);
        wr_body_object(b, "args", call->arguments);
        wr_json_write_object_end(&b->w);
        if (!i && !b->is_raw)
            wr_json_member_word(&b->w, "thoughtSignature", NO_SIGNATURE);
        wr_json_write_object_end(&b->w);
    }
}

/* The calls among what the provider gave: their results must name the tool. */
static void note_item(struct wr_body *b, weir_span item)
{
    struct wr_json doc;
    wr_json_id fields[WR_GEMINI_FIELDS];

    wr_arena_reset(&b->scratch);
    if (wr_json_parse(&doc, &b->scratch, item, NULL, NULL))
        return;
    (void)wr_gemini_pick(&doc, 0, fields);
    wr_json_id id = wr_json_find(&doc, fields[P_CALL], "id");
    wr_json_id name = wr_json_find(&doc, fields[P_CALL], "name");
    if (wr_json_is(&doc, id, WR_JSON_STRING) && wr_json_is(&doc, name, WR_JSON_STRING))
        wr_body_note_call(b, wr_json_text(&doc, &b->scratch, id),
                          wr_json_text(&doc, &b->scratch, name));
}

static void write_parts(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->items_count; i++)
        note_item(b, line->items[i]);
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    if (line->text.len)
        write_text_part(b, line->text);
    write_calls(b, line);
}

static void write_gemini_result(struct wr_body *b, const struct wr_line *line)
{
    weir_span tool = wr_body_tool_of(b, line->call_id);

    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "functionResponse");
    wr_json_write_object(&b->w);
    write_id(b, line->call_id);
    if (tool.len)
        wr_body_text(b, "name", tool);
    else
        wr_json_member_word(&b->w, "name", "tool");
    wr_json_write_key(&b->w, "response");
    wr_json_write_object(&b->w);
    wr_body_text(b, line->is_error ? "error" : "output", line->text);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_gemini_image(struct wr_body *b, const struct wr_line_image *image)
{
    char type[32];

    (void)snprintf(type, sizeof(type), "image/%s", image->type);
    wr_json_write_object(&b->w);
    wr_json_write_key(&b->w, "inlineData");
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "mimeType", type);
    wr_json_member_text(&b->w, "data", image->base64);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* What is put into a conversation in the model's name is the user's here: calls of the model may
 * stand behind it, and those must not stand behind its words. */
static void write_gemini_line(struct wr_body *b, const struct wr_line *line)
{
    bool is_models = line->kind == WR_LINE_ANSWER && !b->is_single;

    wr_body_open(b, is_models ? "model" : "user");
    switch (line->kind) {
    case WR_LINE_NOTICE:
    case WR_LINE_WORDS:
        write_text_part(b, line->text);
        wr_body_images(b, line);
        break;
    case WR_LINE_RESULT:
        write_gemini_result(b, line);
        break;
    case WR_LINE_ANSWER:
        write_parts(b, line);
        break;
    }
}

static void write_gemini_reply(struct wr_body *b, const struct wr_line *line)
{
    begin_candidate(&b->w);
    write_parts(b, line);
    end_candidate(&b->w, "STOP");
}

/* Texts that say nothing, unless a signature stands on them. */
static bool drops_item(struct wr_body *b, weir_span item, bool is_unbound)
{
    struct wr_json doc;
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)is_unbound;
    wr_arena_reset(&b->scratch);
    if (wr_json_parse(&doc, &b->scratch, item, NULL, NULL))
        return false;
    (void)wr_gemini_pick(&doc, 0, fields);
    if (!wr_json_is(&doc, fields[P_TEXT], WR_JSON_STRING) || fields[P_SIGNATURE] != WR_JSON_NONE)
        return false;
    weir_span text = wr_json_text(&doc, &b->scratch, fields[P_TEXT]);
    return text.ptr && wr_text_is_blank(text);
}

/* ".../models/NAME:streamGenerateContent", of the model that the body names. */
static void write_path(struct wr_buf *url, weir_span body)
{
    struct wr_arena arena;
    struct wr_json doc;
    weir_span model = {"", 0};

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_json_parse(&doc, &arena, body, NULL, NULL)) {
        wr_json_id id = wr_json_find(&doc, 0, "model");
        if (wr_json_is(&doc, id, WR_JSON_STRING))
            model = wr_json_inner(&doc, id);
    }
    wr_buf_text(url, memchr(model.ptr, '/', model.len) ? "/" : "/models/");
    wr_buf_append(url, model);
    wr_buf_text(url, ":streamGenerateContent?alt=sse");
    wr_arena_release(&arena);
}

/* ---- the table ---- */

static const char *const continuation_words[] = {
    "number of function response parts is equal to the number of function call parts",
    "function response turn comes immediately after a function call turn",
    "function call turn comes immediately after a user turn", NULL};
static const char *const end_words[] = {"STOP", NULL};
static const char *const wrapper_keys[] = {"request", "generateContentRequest", NULL};
static const struct wr_api_path paths[] = {
    {":generateContent", "/v1beta/models/*:generateContent", true},
    {":streamGenerateContent", "/v1beta/models/*:streamGenerateContent", true},
    {":countTokens", "/v1beta/models/*:countTokens", false},
};
static const struct wr_api_front fronts[] = {
    {"/v1beta", "gemini"}, {"/v1alpha", "gemini"}, {"/v1internal", "codeassist"}, {NULL, NULL}};
static const struct wr_api_upstream upstreams[] = {
    {"gemini", "https://generativelanguage.googleapis.com"},
    {"codeassist", "https://cloudcode-pa.googleapis.com"},
    {NULL, NULL},
};

const struct wr_api wr_api_gemini = {
    .dialect = WEIR_DIALECT_GEMINI,
    .name = "gemini",
    .semconv_operation = "generate_content",
    .paths = paths,
    .paths_count = WR_COUNT_OF(paths),
    .fronts = fronts,
    .upstreams = upstreams,
    .model_of_path = model_of_path,
    .read_request = wr_gemini_read,
    .list_tools = wr_gemini_list_tools,
    .list_key = "contents",
    .content_key = "parts",
    .prompt_key = "systemInstruction",
    .session_key = "session_id",
    .wrapper_keys = wrapper_keys,
    .model_role = "model",
    .may_lack_role = true,
    .numbers_calls = true,
    .id_before = id_before,
    .framing = {.request = 4, .message = 4, .call = 16, .tools = 16, .tool = 12},
    .has_user_ends = true,
    .has_calls_next = true,
    .look = look_at_gemini,
    .read_event = read_gemini_event,
    .read_whole = read_gemini_whole,
    .read_item = read_gemini_item,
    .write_answer = write_gemini_answer,
    .write_error = write_gemini_error,
    .write_prompt = write_prompt,
    .write_tool = write_tool,
    .write_line = write_gemini_line,
    .write_image = write_gemini_image,
    .write_reply = write_gemini_reply,
    .drops_item = drops_item,
    .tools_key = "functionDeclarations",
    .model_front = "models/",
    .has_prompt_apart = true,
    .continuation_words = continuation_words,
    .end_words = end_words,
    .url = "https://generativelanguage.googleapis.com",
    .base_path = "/v1beta",
    .url_variable = "GOOGLE_GEMINI_BASE_URL",
    .key_variable = "GEMINI_API_KEY",
    .other_key_variable = "GOOGLE_API_KEY",
    .key_header = "x-goog-api-key",
    .write_path = write_path,
    .model = "gemini-3.8-flash",
    .model_word = "gemini",
    .stream_members = "",
    .joiner = &wr_joiner_gemini,
    .usage_key = "usageMetadata",
    .streams_lists = true,
    .names_calls = true,
};
