/* Ollama's own API: messages as in Chat Completions, but
 *
 *   - what a call is called with is an object, and a call has no id: a result names its tool, and
 *     belongs to the next call of it (calls.h). Newer servers give ids and take them;
 *   - content is a string, never a list; images stand beside it;
 *   - a stream is lines of JSON, and an answer is one unless the request says otherwise;
 *   - usage stands among the members of the last line, and an error is a text.
 *
 * docs/ollama.md has what the vendor's types say.
 */
#include "api/answer.h"
#include "api/join_api.h"
#include "api/join_chat.h"
#include "api/own_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"

enum field { F_ROLE, F_CONTENT, F_THINKING, F_IMAGES, F_CALLS, F_TOOL_NAME, F_CALL_ID, F_COUNT };

static const char *const field_names[F_COUNT] = {"role",       "content",   "thinking",    "images",
                                                 "tool_calls", "tool_name", "tool_call_id"};

/* ---- requests ---- */

static weir_status no_blocks(struct wr_transcript *t, const struct wr_place *place,
                             wr_json_id blocks, wr_json_id block)
{
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, blocks, block, false);
}

static weir_status read_ollama_call(struct wr_calls *calls, const struct wr_place *place,
                                    wr_json_id call)
{
    static const char *const names[] = {"id", "function"}, *const inside[] = {"name", "arguments"};
    struct wr_transcript *t = calls->t;
    wr_json_id values[2], fields[2];
    weir_status status = WEIR_OK;

    if (!wr_json_is(t->doc, call, WR_JSON_OBJECT) ||
        !wr_json_pick(t->doc, call, names, 2, values) ||
        !wr_json_pick(t->doc, values[1], inside, 2, fields))
        return wr_add_opaque(t, place, WEIR_KIND_OTHER, call, false);
    struct wr_segment segment =
        wr_segment_at(place, WEIR_KIND_TOOL_CALL, fields[1] != WR_JSON_NONE ? fields[1] : call);
    segment.block = call;
    segment.is_opaque = true;
    segment.tool = wr_text_or_empty(t, fields[0], &status);
    segment.call_id = wr_text_or_empty(t, values[0], &status);
    if (!status)
        status = wr_calls_number(calls, &segment);
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_assistant(struct wr_calls *calls, const struct wr_place *place,
                                  const wr_json_id fields[F_COUNT])
{
    struct wr_transcript *t = calls->t;
    const struct wr_json *doc = t->doc;
    weir_status status = WEIR_OK;

    if (wr_json_is(doc, fields[F_THINKING], WR_JSON_STRING) &&
        wr_json_inner(doc, fields[F_THINKING]).len)
        status = wr_add_opaque(t, place, WEIR_KIND_REASONING, fields[F_THINKING], true);
    if (!status)
        status = wr_add_content(t, place, fields[F_CONTENT], no_blocks);
    if (!wr_json_is(doc, fields[F_CALLS], WR_JSON_ARRAY))
        return status;
    for (wr_json_id call = wr_json_first(doc, fields[F_CALLS]); call != WR_JSON_NONE && !status;
         call = wr_json_next(doc, fields[F_CALLS], call))
        status = read_ollama_call(calls, place, call);
    return status;
}

static weir_status read_ollama_result(struct wr_calls *calls, const struct wr_place *place,
                                      const wr_json_id fields[F_COUNT])
{
    struct wr_transcript *t = calls->t;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, place->message);
    weir_status status = WEIR_OK;

    segment.block = place->message;
    segment.tool = wr_text_or_empty(t, fields[F_TOOL_NAME], &status);
    segment.call_id = wr_text_or_empty(t, fields[F_CALL_ID], &status);
    if (!status)
        status = wr_calls_find(calls, place->message, segment.tool, &segment.call_id);
    if (!status && wr_json_is(t->doc, fields[F_CONTENT], WR_JSON_STRING))
        status = wr_set_result_parts(t, &segment, fields[F_CONTENT], "text");
    segment.has_exact_blocks |= fields[F_IMAGES] != WR_JSON_NONE;
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_ollama_message(struct wr_calls *calls, wr_json_id list, wr_json_id message)
{
    struct wr_transcript *t = calls->t;
    wr_json_id fields[F_COUNT];
    bool is_unique = wr_json_pick(t->doc, message, field_names, F_COUNT, fields);
    struct wr_place place = {message, list, wr_role_of(t->doc, fields[F_ROLE])};
    weir_status status = WEIR_OK;

    if (!is_unique || place.role == WEIR_ROLE_NONE)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, message, false);
    if (place.role == WEIR_ROLE_TOOL)
        return read_ollama_result(calls, &place, fields);
    if (place.role == WEIR_ROLE_ASSISTANT)
        status = read_assistant(calls, &place, fields);
    else
        status = wr_add_content(t, &place, fields[F_CONTENT], no_blocks);
    if (!status && wr_json_is(t->doc, fields[F_IMAGES], WR_JSON_ARRAY) &&
        wr_json_first(t->doc, fields[F_IMAGES]) != WR_JSON_NONE)
        status = wr_add_opaque(t, &place, WEIR_KIND_IMAGE, fields[F_IMAGES], false);
    return status;
}

static weir_status read_ollama_request(struct wr_transcript *t)
{
    static const char *const names[] = {"messages", "tools", "options"};
    const struct wr_json *doc = t->doc;
    struct wr_calls calls;
    wr_json_id top[3];
    int64_t tokens;

    (void)wr_json_pick(doc, 0, names, 3, top);
    wr_json_id most = wr_json_find(doc, top[2], "num_predict");
    if (most != WR_JSON_NONE && wr_json_i64(doc, most, &tokens) && tokens > 0)
        t->answer_tokens_max = (uint64_t)tokens;
    wr_json_id window = wr_json_find(doc, top[2], "num_ctx");
    if (window != WR_JSON_NONE && wr_json_i64(doc, window, &tokens) && tokens > 0 &&
        tokens <= WR_MODEL_TOKENS_MAX)
        t->loads_tokens = (uint32_t)tokens;
    t->list = top[0];
    weir_status status = wr_add_whole(t, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[1]);
    wr_json_id message = wr_first_unread(t, &status);
    wr_calls_init(&calls, t);
    calls.takes_nameless = true;
    for (; !status && message != WR_JSON_NONE; message = wr_json_next(doc, t->list, message))
        status = read_ollama_message(&calls, t->list, message);
    return status;
}

/* ---- answers ---- */

static enum wr_look look_at_ollama(const struct wr_sse_event *event)
{
    static const char *const telling[] = {"\"done\":true", "\"done\": true", "\"tool_calls\"",
                                          "\"error\""};

    for (size_t i = 0; i < WR_COUNT_OF(telling); i++)
        if (wr_span_find(event->data, wr_span_of(telling[i]), 0) != SIZE_MAX)
            return WR_LOOK_INTO;
    return WR_LOOK_AWAY;
}

/* What is said goes on in one text, what is thought in another. */
static void add_piece(struct wr_reply *a, enum wr_part_kind kind, weir_span text)
{
    int64_t index = kind == WR_PART_TEXT ? -2 : -3;
    struct wr_part *part = text.len && a->keeps_all ? wr_answer_find(a, index) : NULL;

    if (text.len && !part)
        part = wr_answer_part(a, kind, index);
    if (part)
        wr_answer_extend(a, part, text);
    wr_answer_show(a, kind == WR_PART_TEXT ? WR_PIECE_TEXT : WR_PIECE_THINKING, text);
}

static void read_ollama_item(struct wr_reply *a, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id list = wr_json_find(doc, message, "tool_calls");

    add_piece(a, WR_PART_THINKING, wr_answer_text(a, doc, message, "thinking"));
    add_piece(a, WR_PART_TEXT, wr_answer_text(a, doc, message, "content"));
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id function = wr_json_find(doc, at, "function");
        wr_json_id arguments = wr_json_find(doc, function, "arguments");
        weir_span raw = arguments == WR_JSON_NONE ? WR_LIT("{}") : wr_json_raw(doc, arguments);
        wr_answer_add_call(a, wr_answer_text(a, doc, at, "id"),
                           wr_answer_text(a, doc, function, "name"), raw);
    }
}

/* The counts stand beside the message. */
static void read_usage(struct wr_reply *a, const struct wr_json *doc)
{
    wr_seen_usage_read(&a->usage, doc, 0);
    if (!a->keeps_all || !wr_seen_usage_is_known(&a->usage))
        return;
    wr_buf_reset(&a->usage_raw);
    wr_buf_printf(&a->usage_raw, "\"prompt_eval_count\":%lld,\"eval_count\":%lld",
                  (long long)(a->usage.input_tokens > 0 ? a->usage.input_tokens : 0),
                  (long long)(a->usage.output_tokens > 0 ? a->usage.output_tokens : 0));
}

/* What is around the message; false: it is no answer. */
static bool read_head(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id message = wr_json_find(doc, 0, "message");

    wr_answer_read_id(a, doc, 0);
    wr_answer_read_error(a, doc, wr_json_find(doc, 0, "error"), 0);
    wr_answer_read_finish(a, wr_answer_text(a, doc, 0, "done_reason"));
    if (wr_json_is(doc, wr_json_find(doc, 0, "done"), WR_JSON_TRUE)) {
        read_usage(a, doc);
        a->is_finished = true;
    }
    return wr_json_is(doc, message, WR_JSON_OBJECT);
}

static void read_ollama_event(struct wr_reply *a, const struct wr_json *doc)
{
    if (read_head(a, doc))
        read_ollama_item(a, doc, wr_json_find(doc, 0, "message"));
}

static bool read_ollama_whole(struct wr_reply *a, const struct wr_json *doc)
{
    bool is_answer = read_head(a, doc);

    if (is_answer)
        wr_answer_read_item(a, doc, wr_json_find(doc, 0, "message"));
    return is_answer;
}

static void write_answer_calls(const struct wr_reply *a, struct wr_json_writer *w)
{
    size_t count = 0;

    for (size_t i = 0; i < a->parts_count; i++) {
        const struct wr_part *call = &a->parts[i];
        if (call->kind != WR_PART_CALL)
            continue;
        if (!count++) {
            wr_json_write_key(w, "tool_calls");
            wr_json_write_array(w);
        }
        wr_json_write_object(w);
        wr_json_member_text(w, "id", wr_buf_view(&call->id));
        wr_json_write_key(w, "function");
        wr_json_write_object(w);
        wr_json_member_text(w, "name", wr_buf_view(&call->name));
        wr_json_write_key(w, "arguments");
        wr_json_write_raw(w, wr_buf_view(&call->text));
        wr_json_write_object_end(w);
        wr_json_write_object_end(w);
    }
    if (count)
        wr_json_write_array_end(w);
}

static void write_ollama_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    static const char *const keys[] = {[WR_PART_TEXT] = "content", [WR_PART_THINKING] = "thinking"};
    bool has_text = false;

    wr_json_write_key(w, "message");
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "assistant");
    for (size_t i = 0; i < a->parts_count; i++) {
        const struct wr_part *part = &a->parts[i];
        if (part->kind == WR_PART_TEXT || part->kind == WR_PART_THINKING)
            wr_json_member_text(w, keys[part->kind], wr_buf_view(&part->text));
        has_text |= part->kind == WR_PART_TEXT;
    }
    if (!has_text)
        wr_json_member_word(w, "content", "");
    write_answer_calls(a, w);
    wr_json_write_object_end(w);
    wr_json_member_bool(w, "done", true);
    wr_json_member_word(w, "done_reason", a->finish);
}

static void write_ollama_error(struct wr_json_writer *w, int status, const char *message)
{
    (void)status;
    wr_json_member_word(w, "error", message);
}

/* ---- writing ---- */

/* The laboratory's sessions are written as the vendor's types have them: without ids. */
static void write_id(struct wr_body *b, const char *key, weir_span id)
{
    if (!b->is_raw)
        wr_body_id(b, key, id);
}

static void write_call(struct wr_body *b, const struct weir_call *call)
{
    wr_body_note_call(b, call->id, call->name);
    wr_json_write_object(&b->w);
    write_id(b, "id", call->id);
    wr_json_write_key(&b->w, "function");
    wr_json_write_object(&b->w);
    wr_body_text(b, "name", call->name);
    wr_body_object(b, "arguments", call->arguments);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* The calls of a message that the server gave: their results name the tool. */
static void note_item(struct wr_body *b, weir_span item)
{
    struct wr_json doc;

    wr_arena_reset(&b->scratch);
    if (wr_json_parse(&doc, &b->scratch, item, NULL, NULL))
        return;
    wr_json_id list = wr_json_find(&doc, 0, "tool_calls");
    if (!wr_json_is(&doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(&doc, list); at != WR_JSON_NONE;
         at = wr_json_next(&doc, list, at)) {
        wr_json_id id = wr_json_find(&doc, at, "id");
        wr_json_id name = wr_json_find(&doc, wr_json_find(&doc, at, "function"), "name");
        if (wr_json_is(&doc, id, WR_JSON_STRING) && wr_json_is(&doc, name, WR_JSON_STRING))
            wr_body_note_call(b, wr_json_text(&doc, &b->scratch, id),
                              wr_json_text(&doc, &b->scratch, name));
    }
}

static void write_model_message(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->items_count; i++)
        note_item(b, line->items[i]);
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", "assistant");
    wr_body_text(b, "content", line->text);
    if (line->calls_count) {
        wr_json_write_key(&b->w, "tool_calls");
        wr_json_write_array(&b->w);
        for (size_t i = 0; i < line->calls_count; i++)
            write_call(b, &line->calls[i]);
        wr_json_write_array_end(&b->w);
    }
    wr_json_write_object_end(&b->w);
}

static void write_ollama_result(struct wr_body *b, const struct wr_line *line)
{
    weir_span tool = wr_body_tool_of(b, line->call_id);

    wr_body_close(b);
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", "tool");
    wr_body_text(b, "content", line->text);
    if (tool.len)
        wr_body_text(b, "tool_name", tool);
    write_id(b, "tool_call_id", line->call_id);
    wr_json_write_object_end(&b->w);
}

/* JSON that stands as it is cannot be joined. */
static void add_ollama_words(struct wr_body *b, weir_span text)
{
    if (b->is_raw)
        wr_body_plain(b, "user", text);
    else
        wr_body_words(b, text);
}

static void write_ollama_image(struct wr_body *b, const struct wr_line_image *image)
{
    wr_json_write_text(&b->w, image->base64);
}

static void write_ollama_line(struct wr_body *b, const struct wr_line *line)
{
    switch (line->kind) {
    case WR_LINE_NOTICE:
        if (b->alternates)
            add_ollama_words(b, line->text);
        else
            wr_body_plain(b, line->role ? line->role : "system", line->text);
        break;
    case WR_LINE_WORDS:
        add_ollama_words(b, line->text);
        wr_body_keep_images(b, line);
        break;
    case WR_LINE_RESULT:
        write_ollama_result(b, line);
        break;
    case WR_LINE_ANSWER:
        wr_body_close(b);
        write_model_message(b, line);
        break;
    }
}

static void write_ollama_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_write_key(&b->w, "message");
    write_model_message(b, line);
    wr_json_member_bool(&b->w, "done", true);
    wr_json_member_word(&b->w, "done_reason", "stop");
}

/* ---- the table ---- */

static const char *const end_words[] = {"stop", NULL};
static const struct wr_api_path paths[] = {{"/api/chat", "/api/chat", true}};
static const struct wr_api_front fronts[] = {
    {"/api/chat", "ollama"},  {"/api/generate", "ollama"}, {"/api/tags", "ollama"},
    {"/api/show", "ollama"},  {"/api/ps", "ollama"},       {"/api/version", "ollama"},
    {"/api/embed", "ollama"}, {"/api/pull", "ollama"},     {NULL, NULL}};
static const struct wr_api_upstream upstreams[] = {{"ollama", "http://127.0.0.1:11434"},
                                                   {NULL, NULL}};

const struct wr_api wr_api_ollama = {
    .dialect = WEIR_DIALECT_OLLAMA,
    .name = "ollama",
    .paths = paths,
    .paths_count = WR_COUNT_OF(paths),
    .fronts = fronts,
    .upstreams = upstreams,
    .read_request = read_ollama_request,
    .list_tools = wr_list_tools,
    .list_key = "messages",
    .content_key = "content",
    .numbers_calls = true,
    .framing = {.request = 3, .message = 4, .call = 16, .tools = 12, .tool = 8},
    .look = look_at_ollama,
    .read_event = read_ollama_event,
    .read_whole = read_ollama_whole,
    .read_item = read_ollama_item,
    .write_answer = write_ollama_answer,
    .write_error = write_ollama_error,
    .write_prompt = wr_body_prompts,
    .write_tool = wr_body_function,
    .write_line = write_ollama_line,
    .write_image = write_ollama_image,
    .images_key = "images",
    .write_reply = write_ollama_reply,
    .has_prompt_in_list = true,
    .end_words = end_words,
    .url = "http://127.0.0.1:11434",
    .base_path = "",
    .url_variable = "OLLAMA_BASE_URL",
    .older_url_variable = "OLLAMA_API_BASE",
    .key_variable = "OLLAMA_API_KEY",
    .model = "qwen3",
    .stream_members = "\"stream\":true",
    .joiner = &wr_joiner_ollama,
    .streams_lines = true,
    .names_calls = true,
};

/* ==== the proxy's own recall ====
 *
 * A stream is lines of JSON, each with the next piece of a message like one of Chat Completions,
 * but that calls come whole, so nothing has to wait for a name. What is held is the end, the line
 * that is `done`. It may say something too: where more legs may follow, its words are shown as a
 * line that is not done, and the end is held without them.
 *
 * Legs are read, written and put back as those of Chat Completions (join_chat_leg.c, chat.c).
 * Most servers give calls no ids: a call of the client's is known by its name and what it is called
 * with, a result by the name of its tool and its place.
 */

struct line {
    wr_json_id message, calls;
    size_t own_count, others_count; /* calls */
    bool has_words, is_done;
};

static bool says(const struct wr_json *doc, wr_json_id message, const char *key)
{
    wr_json_id id = wr_json_find(doc, message, key);
    return wr_json_is(doc, id, WR_JSON_STRING) && wr_json_inner(doc, id).len;
}

static struct line read_joined_ollama_line(const struct wr_json *doc)
{
    struct line l = {.message = wr_json_find(doc, 0, "message")};

    l.calls = wr_json_find(doc, l.message, "tool_calls");
    if (!wr_json_is(doc, l.calls, WR_JSON_ARRAY))
        l.calls = WR_JSON_NONE;
    for (wr_json_id at = l.calls == WR_JSON_NONE ? l.calls : wr_json_first(doc, l.calls);
         at != WR_JSON_NONE; at = wr_json_next(doc, l.calls, at)) {
        wr_json_id name = wr_json_find(doc, wr_json_find(doc, at, "function"), "name");
        bool is_own = wr_join_is_own(doc, name);
        l.own_count += is_own;
        l.others_count += !is_own;
    }
    l.has_words = says(doc, l.message, "content") || says(doc, l.message, "thinking");
    l.is_done = wr_json_is(doc, wr_json_find(doc, 0, "done"), WR_JSON_TRUE);
    return l;
}

static void hide_own(struct wr_splice *splice, const struct wr_json *doc, const struct line *l)
{
    if (l->own_count && !l->others_count)
        wr_splice_remove(splice, l->message, l->calls - 1);
    else if (l->own_count)
        wr_join_remove_own(splice, doc, l->calls);
}

/* What the last line says, in a line that is not the last. */
static void show_words(struct wr_join *j, const struct wr_join_event *event, const struct line *l)
{
    static const char *const stay[] = {"model", "created_at", "message", "done"};
    const struct wr_json *doc = event->doc;
    struct wr_splice splice;

    wr_splice_init(&splice, doc, &j->scratch);
    wr_join_envelope(j, &splice, doc, 0);
    hide_own(&splice, doc, l);
    wr_splice_set_json(&splice, wr_json_find(doc, 0, "done"), WR_LIT("false"));
    for (wr_json_id key = wr_json_first(doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(doc, 0, key)) {
        bool stays = false;
        for (size_t i = 0; i < WR_COUNT_OF(stay); i++)
            stays |= wr_json_text_is(doc, key, stay[i]);
        if (!stays)
            wr_splice_remove(&splice, 0, key);
    }
    wr_join_show(j, event, &splice);
}

static void hold_end(struct wr_join *j, const struct wr_join_event *event, const struct line *l)
{
    const struct wr_json *doc = event->doc;
    wr_json_id thinking = wr_json_find(doc, l->message, "thinking");
    struct wr_splice splice;

    if (l->has_words || l->others_count)
        show_words(j, event, l);
    wr_splice_init(&splice, doc, &j->scratch);
    if (says(doc, l->message, "content"))
        wr_splice_set_text(&splice, wr_json_find(doc, l->message, "content"), WR_LIT(""));
    if (thinking != WR_JSON_NONE)
        wr_splice_remove(&splice, l->message, thinking - 1);
    if (l->calls != WR_JSON_NONE)
        wr_splice_remove(&splice, l->message, l->calls - 1);
    wr_join_hold(j, event, &splice);
}

static void join_ollama_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;
    struct wr_splice splice;

    if (!doc) {
        wr_join_show(j, event, NULL);
        return;
    }
    struct line l = read_joined_ollama_line(doc);
    j->has_hidden |= l.own_count > 0;
    if (wr_json_find(doc, 0, "error") != WR_JSON_NONE && !wr_join_is_first(j)) {
        j->has_error = true;
        return;
    }
    wr_splice_init(&splice, doc, &j->scratch);
    wr_join_envelope(j, &splice, doc, 0);
    if (wr_join_is_plain(j)) {
        wr_join_show(j, event, NULL);
    } else if (j->is_ending) {
        wr_join_edit_usage(j, &splice, doc, 0); /* it stands among the line's members */
        wr_join_show(j, event, &splice);
    } else if (l.is_done) {
        hold_end(j, event, &l);
    } else if (!l.own_count || l.others_count || l.has_words) {
        hide_own(&splice, doc, &l);
        wr_join_show(j, event, &splice);
    }
}

static void write_joined_ollama_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                       weir_span text, bool is_error)
{
    (void)is_error; /* the API has no word for it */
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "tool");
    wr_json_member_text(w, "content", text);
    wr_json_member_word(w, "tool_name", WR_OWN_TOOL_NAME);
    if (call->id.len)
        wr_json_member_text(w, "tool_call_id", call->id);
    wr_json_write_object_end(w);
}

/* ---- requests ---- */

static bool may_join(const struct wr_json *doc)
{
    (void)doc;
    return true;
}

static uint64_t mark_call(const struct wr_json *doc, wr_json_id call, struct wr_arena *arena)
{
    wr_json_id function = wr_json_find(doc, call, "function");
    uint64_t name = wr_own_likeness(doc, wr_json_find(doc, function, "name"), arena);
    uint64_t arguments = wr_own_likeness(doc, wr_json_find(doc, function, "arguments"), arena);

    return name * 0x9e3779b97f4a7c15u + arguments;
}

/* ---- the table ---- */

static const char *const call_words[] = {"stop", NULL}; /* it has no other word for it */

const struct wr_joiner wr_joiner_ollama = {
    .join_event = join_ollama_event,
    .read_leg = wr_chat_read_leg,
    .edit_whole = wr_chat_edit_whole,
    .write_elements = wr_chat_write_elements,
    .write_result = write_joined_ollama_result,
    .error_front = "",
    .error_back = "\n",
    .ping = "",
    .call_words = call_words,
    .may_join = may_join,
    .is_hosted = wr_own_chat_is_hosted,
    .mark_call = mark_call,
    .put_back = wr_own_chat_put_back,
};
