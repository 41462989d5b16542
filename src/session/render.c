#include "session/render.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"

enum { MESSAGES_OUTPUT_TOKENS = 8192 }; /* the API wants a number */

static const char no_output[] = "(no output)";

struct body {
    const struct wr_render *r;
    struct wr_json_writer w;
    struct wr_arena scratch;
    struct wr_buf words;   /* chat: of the user's message that is open */
    const char *open_role; /* Messages and Responses: of the message that is open */
    uint32_t marked[2];    /* Messages: says that end with a cache marker */
    bool marks_next;
};

/* ---- small parts ---- */

static void pair(struct body *b, const char *key, weir_span value)
{
    wr_json_write_key(&b->w, key);
    wr_json_write_text(&b->w, value);
}

static void pair_of(struct body *b, const char *key, const char *value)
{
    pair(b, key, wr_span_of(value));
}

static void note_status(struct body *b, weir_status status)
{
    if (status && !b->w.out->status)
        b->w.out->status = status;
}

/* Ids that a provider would refuse: the letters of Messages are letters everywhere. */
static weir_span safe_id(weir_span id, char room[24])
{
    bool is_good = id.len > 0 && id.len <= 64;
    for (size_t i = 0; i < id.len && is_good; i++) {
        char c = id.ptr[i];
        is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
    }
    if (is_good)
        return id;
    (void)snprintf(room, 24, "call_%016llx", (unsigned long long)wr_hash64(id));
    return wr_span_of(room);
}

static void pair_id(struct body *b, const char *key, weir_span id)
{
    char room[24];
    pair(b, key, b->r->dialect == WEIR_DIALECT_MESSAGES ? safe_id(id, room) : id);
}

static weir_span result_text(const struct wr_say *say)
{
    return wr_text_is_blank(say->text) ? wr_span_of(no_output) : say->text;
}

static void marker(struct body *b)
{
    if (!b->marks_next)
        return;
    wr_json_write_key(&b->w, "cache_control");
    wr_json_write_raw(&b->w, WR_LIT("{\"type\":\"ephemeral\"}"));
    b->marks_next = false;
}

static void text_block(struct body *b, const char *type, weir_span text)
{
    wr_json_write_object(&b->w);
    pair_of(b, "type", type);
    pair(b, "text", text);
    marker(b);
    wr_json_write_object_end(&b->w);
}

/* ---- answers ---- */

/* Whether the provider's own items go back: to the same model, over the same API. */
static bool has_items(const struct body *b, const struct wr_event *event)
{
    return event->items_count && event->dialect == b->r->dialect &&
           wr_span_eq(event->model, b->r->model);
}

static bool item_is(struct body *b, weir_span item, const char *type, struct wr_json *doc)
{
    wr_arena_reset(&b->scratch);
    weir_status status = wr_json_parse(doc, &b->scratch, item, NULL, NULL);
    note_status(b, status == WEIR_NOMEM ? status : WEIR_OK);
    return !status && wr_json_text_is(doc, wr_json_find(doc, 0, "type"), type);
}

/* Thinking whose prefix is another by now, and texts that the API refuses. */
static bool leaves(struct body *b, const struct wr_event *event, weir_span item)
{
    struct wr_json doc;
    if (b->r->dialect != WEIR_DIALECT_MESSAGES)
        return false;
    if (item_is(b, item, "text", &doc)) {
        wr_json_id text = wr_json_find(&doc, 0, "text");
        weir_span said = wr_json_is(&doc, text, WR_JSON_STRING)
                             ? wr_json_text(&doc, &b->scratch, text)
                             : WR_LIT("");
        note_status(b, said.ptr ? WEIR_OK : wr_arena_status(&b->scratch));
        return said.ptr && wr_text_is_blank(said);
    }
    return event->seq < b->r->binds_after &&
           (item_is(b, item, "thinking", &doc) || item_is(b, item, "redacted_thinking", &doc));
}

static bool says_nothing(struct body *b, const struct wr_event *event)
{
    if (!has_items(b, event))
        return wr_text_is_blank(event->text) && !event->calls_count;
    for (uint32_t i = 0; i < event->items_count; i++)
        if (!leaves(b, event, event->items[i]))
            return false;
    return true;
}

/* Arguments as an object; what a model wrote that is none is kept under one key. */
static void write_input(struct body *b, weir_span arguments)
{
    struct wr_json doc;

    wr_json_write_key(&b->w, "input");
    wr_arena_reset(&b->scratch);
    weir_status status =
        arguments.len ? wr_json_parse(&doc, &b->scratch, arguments, NULL, NULL) : WEIR_SYNTAX;
    note_status(b, status == WEIR_NOMEM ? status : WEIR_OK);
    if (!status && wr_json_is(&doc, 0, WR_JSON_OBJECT)) {
        wr_json_write_raw(&b->w, wr_json_raw(&doc, 0));
        return;
    }
    wr_json_write_object(&b->w);
    if (!wr_text_is_blank(arguments))
        pair(b, "input", arguments);
    wr_json_write_object_end(&b->w);
}

static weir_span arguments_text(const struct weir_call *call)
{
    return wr_text_is_blank(call->arguments) ? WR_LIT("{}") : call->arguments;
}

/* ---- chat ---- */

static void chat_flush(struct body *b)
{
    note_status(b, wr_buf_status(&b->words));
    if (!b->words.len)
        return;
    wr_json_write_object(&b->w);
    pair_of(b, "role", "user");
    pair(b, "content", wr_buf_view(&b->words));
    wr_json_write_object_end(&b->w);
    wr_buf_reset(&b->words);
}

static void chat_system(struct body *b, weir_span text)
{
    wr_json_write_object(&b->w);
    pair_of(b, "role", "system");
    pair(b, "content", text);
    wr_json_write_object_end(&b->w);
}

/* Words of the user that follow each other are one message. */
static void chat_words(struct body *b, weir_span text)
{
    if (b->words.len)
        wr_buf_text(&b->words, "\n\n");
    wr_buf_append(&b->words, text);
}

static void chat_call(struct body *b, const struct weir_call *call)
{
    wr_json_write_object(&b->w);
    pair_id(b, "id", call->id);
    pair_of(b, "type", "function");
    wr_json_write_key(&b->w, "function");
    wr_json_write_object(&b->w);
    pair(b, "name", call->name);
    pair(b, "arguments", arguments_text(call));
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void chat_answer(struct body *b, const struct wr_event *event)
{
    chat_flush(b);
    if (has_items(b, event)) {
        for (uint32_t i = 0; i < event->items_count; i++)
            wr_json_write_raw(&b->w, event->items[i]);
        return;
    }
    wr_json_write_object(&b->w);
    pair_of(b, "role", "assistant");
    wr_json_write_key(&b->w, "content");
    if (wr_text_is_blank(event->text))
        wr_json_write_null(&b->w);
    else
        wr_json_write_text(&b->w, event->text);
    if (event->calls_count) {
        wr_json_write_key(&b->w, "tool_calls");
        wr_json_write_array(&b->w);
        for (uint32_t i = 0; i < event->calls_count; i++)
            chat_call(b, &event->calls[i]);
        wr_json_write_array_end(&b->w);
    }
    wr_json_write_object_end(&b->w);
}

static void chat_say(struct body *b, const struct wr_say *say)
{
    switch (say->kind) {
    case WR_SAY_NOTICE:
        if (b->r->alternates)
            chat_words(b, say->text);
        else
            chat_system(b, say->text);
        break;
    case WR_SAY_TEXT:
        chat_words(b, say->text);
        break;
    case WR_SAY_RESULT:
        chat_flush(b);
        wr_json_write_object(&b->w);
        pair_of(b, "role", "tool");
        pair_id(b, "tool_call_id", say->event->call_id);
        pair(b, "content", result_text(say));
        wr_json_write_object_end(&b->w);
        break;
    case WR_SAY_ANSWER:
        chat_answer(b, say->event);
        break;
    }
}

/* ---- messages and items: one that is open ---- */

static void close_message(struct body *b)
{
    if (!b->open_role)
        return;
    wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
    b->open_role = NULL;
}

static void open_message(struct body *b, const char *role)
{
    if (b->open_role && !strcmp(b->open_role, role))
        return;
    close_message(b);
    wr_json_write_object(&b->w);
    if (b->r->dialect == WEIR_DIALECT_RESPONSES)
        pair_of(b, "type", "message");
    pair_of(b, "role", role);
    wr_json_write_key(&b->w, "content");
    wr_json_write_array(&b->w);
    b->open_role = role;
}

/* ---- responses ---- */

static void responses_call(struct body *b, const struct weir_call *call)
{
    wr_json_write_object(&b->w);
    pair_of(b, "type", "function_call");
    pair_id(b, "call_id", call->id);
    pair(b, "name", call->name);
    pair(b, "arguments", arguments_text(call));
    wr_json_write_object_end(&b->w);
}

static void responses_answer(struct body *b, const struct wr_event *event)
{
    close_message(b);
    if (has_items(b, event)) {
        for (uint32_t i = 0; i < event->items_count; i++)
            wr_json_write_raw(&b->w, event->items[i]);
        return;
    }
    if (!wr_text_is_blank(event->text)) {
        open_message(b, "assistant");
        text_block(b, "output_text", event->text);
        close_message(b);
    }
    for (uint32_t i = 0; i < event->calls_count; i++)
        responses_call(b, &event->calls[i]);
}

static void responses_say(struct body *b, const struct wr_say *say)
{
    switch (say->kind) {
    case WR_SAY_NOTICE:
        open_message(b, "system");
        text_block(b, "input_text", say->text);
        break;
    case WR_SAY_TEXT:
        open_message(b, "user");
        text_block(b, "input_text", say->text);
        break;
    case WR_SAY_RESULT:
        close_message(b);
        wr_json_write_object(&b->w);
        pair_of(b, "type", "function_call_output");
        pair_id(b, "call_id", say->event->call_id);
        pair(b, "output", result_text(say));
        wr_json_write_object_end(&b->w);
        break;
    case WR_SAY_ANSWER:
        responses_answer(b, say->event);
        break;
    }
}

/* ---- messages ---- */

static void messages_call(struct body *b, const struct weir_call *call)
{
    wr_json_write_object(&b->w);
    pair_of(b, "type", "tool_use");
    pair_id(b, "id", call->id);
    pair(b, "name", call->name);
    write_input(b, call->arguments);
    wr_json_write_object_end(&b->w);
}

static void messages_answer(struct body *b, const struct wr_event *event)
{
    open_message(b, "assistant");
    if (has_items(b, event)) {
        for (uint32_t i = 0; i < event->items_count; i++)
            if (!leaves(b, event, event->items[i]))
                wr_json_write_raw(&b->w, event->items[i]);
        return;
    }
    if (!wr_text_is_blank(event->text))
        text_block(b, "text", event->text);
    for (uint32_t i = 0; i < event->calls_count; i++)
        messages_call(b, &event->calls[i]);
}

static void messages_result(struct body *b, const struct wr_say *say)
{
    open_message(b, "user");
    wr_json_write_object(&b->w);
    pair_of(b, "type", "tool_result");
    pair_id(b, "tool_use_id", say->event->call_id);
    pair(b, "content", result_text(say));
    if (say->event->is_error) {
        wr_json_write_key(&b->w, "is_error");
        wr_json_write_bool(&b->w, true);
    }
    marker(b);
    wr_json_write_object_end(&b->w);
}

static void messages_say(struct body *b, const struct wr_say *say)
{
    if (say->kind == WR_SAY_ANSWER)
        messages_answer(b, say->event);
    else if (say->kind == WR_SAY_RESULT)
        messages_result(b, say);
    else {
        open_message(b, "user");
        text_block(b, "text", say->text);
    }
}

/* The ends of the newest user message and of the one before: the provider has written up to the
 * second and reads it there. */
static void find_marked(struct body *b)
{
    const struct wr_view *view = b->r->view;
    uint32_t found = 0;

    b->marked[0] = b->marked[1] = UINT32_MAX;
    for (uint32_t i = view->says_count; i-- > 0 && found < 2;) {
        bool is_last = i + 1 == view->says_count || !wr_say_is_user(&view->says[i + 1]);
        if (is_last && wr_say_is_user(&view->says[i]))
            b->marked[found++] = i;
    }
}

/* ---- the head of a body ---- */

static void write_schema(struct body *b, const char *key, weir_span schema)
{
    wr_json_write_key(&b->w, key);
    wr_json_write_raw(&b->w, schema.len ? schema : WR_LIT("{\"type\":\"object\"}"));
}

static void write_tool(struct body *b, const struct weir_tool *tool)
{
    bool is_chat = b->r->dialect == WEIR_DIALECT_CHAT;
    bool is_messages = b->r->dialect == WEIR_DIALECT_MESSAGES;

    wr_json_write_object(&b->w);
    if (!is_messages)
        pair_of(b, "type", "function");
    if (is_chat) {
        wr_json_write_key(&b->w, "function");
        wr_json_write_object(&b->w);
    }
    pair(b, "name", tool->name);
    if (tool->description.len)
        pair(b, "description", tool->description);
    write_schema(b, is_messages ? "input_schema" : "parameters", tool->schema);
    if (is_chat)
        wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

static void write_output_max(struct body *b)
{
    static const char *const keys[] = {"max_tokens", "max_output_tokens", "max_tokens"};
    uint64_t tokens = b->r->output_tokens_max;

    if (!tokens && b->r->dialect == WEIR_DIALECT_MESSAGES)
        tokens = MESSAGES_OUTPUT_TOKENS;
    if (!tokens)
        return;
    wr_json_write_key(&b->w, keys[b->r->dialect]);
    wr_json_write_i64(&b->w, (int64_t)tokens);
}

static void write_prompt(struct body *b)
{
    if (!b->r->prompt.len)
        return;
    if (b->r->dialect == WEIR_DIALECT_RESPONSES) {
        pair(b, "instructions", b->r->prompt);
    } else if (b->r->dialect == WEIR_DIALECT_MESSAGES) {
        wr_json_write_key(&b->w, "system");
        wr_json_write_array(&b->w);
        b->marks_next = b->r->has_markers;
        text_block(b, "text", b->r->prompt);
        wr_json_write_array_end(&b->w);
    }
}

static void write_head(struct body *b)
{
    const struct wr_render *r = b->r;

    pair(b, "model", r->model);
    write_output_max(b);
    if (r->dialect == WEIR_DIALECT_RESPONSES) {
        wr_json_write_key(&b->w, "store");
        wr_json_write_bool(&b->w, false);
    }
    if (r->extra.len) {
        wr_buf_byte(b->w.out, ',');
        wr_buf_append(b->w.out, r->extra);
    }
    if (r->tools_count) {
        wr_json_write_key(&b->w, "tools");
        wr_json_write_array(&b->w);
        for (size_t i = 0; i < r->tools_count; i++)
            write_tool(b, &r->tools[i]);
        wr_json_write_array_end(&b->w);
    }
    write_prompt(b);
}

static void write_says(struct body *b)
{
    const struct wr_view *view = b->r->view;

    for (uint32_t i = 0; i < view->says_count; i++) {
        const struct wr_say *say = &view->says[i];
        if (say->kind == WR_SAY_ANSWER && says_nothing(b, say->event))
            continue;
        b->marks_next = b->r->has_markers && b->r->dialect == WEIR_DIALECT_MESSAGES &&
                        (i == b->marked[0] || i == b->marked[1]);
        if (b->r->dialect == WEIR_DIALECT_CHAT)
            chat_say(b, say);
        else if (b->r->dialect == WEIR_DIALECT_RESPONSES)
            responses_say(b, say);
        else
            messages_say(b, say);
    }
    chat_flush(b);
    close_message(b);
}

void wr_render_write(const struct wr_render *render, struct wr_buf *out)
{
    struct body b = {.r = render};

    wr_json_write_init(&b.w, out);
    wr_arena_init(&b.scratch, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b.words, WR_OUTPUT_BYTES_MAX);
    find_marked(&b);
    wr_json_write_object(&b.w);
    write_head(&b);
    wr_json_write_key(&b.w, render->dialect == WEIR_DIALECT_RESPONSES ? "input" : "messages");
    wr_json_write_array(&b.w);
    if (render->dialect == WEIR_DIALECT_CHAT && render->prompt.len)
        chat_system(&b, render->prompt);
    write_says(&b);
    wr_json_write_array_end(&b.w);
    wr_json_write_object_end(&b.w);
    wr_buf_release(&b.words);
    wr_arena_release(&b.scratch);
}
