#include "agent/answer_stream.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

/* ---- small readings ---- */

static weir_span text_at(struct wr_answer_stream *s, const struct wr_json *doc, wr_json_id object,
                         const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, &s->arena, id);
    if (!text.ptr)
        s->status = WEIR_NOMEM;
    return text.ptr ? text : (weir_span){"", 0};
}

static void set_text(struct wr_buf *buf, weir_span text)
{
    if (!text.len)
        return;
    wr_buf_reset(buf);
    wr_buf_append(buf, text);
}

static void show(struct wr_answer_stream *s, enum wr_piece kind, weir_span text)
{
    if (text.len && s->on_piece)
        s->on_piece(s->user, kind, text);
}

static void set_error(struct wr_answer_stream *s, weir_span json)
{
    s->has_error = true;
    set_text(&s->error, json);
}

/* Members of the `usage` objects one after the other: what comes later counts. */
static void add_usage(struct wr_answer_stream *s, const struct wr_json *doc, wr_json_id usage)
{
    if (!wr_json_is(doc, usage, WR_JSON_OBJECT) || !wr_json_count(doc, usage))
        return;
    weir_span raw = wr_json_raw(doc, usage);
    if (s->usage.len)
        wr_buf_byte(&s->usage, ',');
    wr_buf_append(&s->usage, wr_span_cut(raw, 1, raw.len - 1));
}

/* ---- blocks ---- */

static void init_block(struct wr_answer_block *b, int64_t index)
{
    struct wr_buf *const bufs[] = {&b->type, &b->id, &b->name, &b->text, &b->signature, &b->raw};
    *b = (struct wr_answer_block){.index = index};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        wr_buf_init(bufs[i], WR_AGENT_ANSWER_BYTES_MAX);
}

static struct wr_answer_block *new_block(struct wr_answer_stream *s, int64_t index)
{
    if (s->blocks_count == WR_AGENT_BLOCKS_MAX) {
        s->status = WEIR_LIMIT;
        return NULL;
    }
    struct wr_answer_block *grown = realloc(s->blocks, (s->blocks_count + 1) * sizeof(*s->blocks));
    if (!grown) {
        s->status = WEIR_NOMEM;
        return NULL;
    }
    s->blocks = grown;
    init_block(&grown[s->blocks_count], index);
    return &grown[s->blocks_count++];
}

/* The newest of that number; NULL: there is none. */
static struct wr_answer_block *find_block(struct wr_answer_stream *s, int64_t index)
{
    for (size_t i = s->blocks_count; i > 0; i--)
        if (s->blocks[i - 1].index == index)
            return &s->blocks[i - 1];
    return NULL;
}

/* ---- Chat Completions ---- */

/* Some servers give every call the number 0: another id is another call. */
static struct wr_answer_block *call_at(struct wr_answer_stream *s, int64_t index, weir_span id)
{
    struct wr_answer_block *call = find_block(s, index);

    if (call && id.len && call->id.len && !wr_span_eq(wr_buf_view(&call->id), id))
        call = NULL;
    return call ? call : new_block(s, index);
}

static void read_chat_calls(struct wr_answer_stream *s, const struct wr_json *doc, wr_json_id list)
{
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id function = wr_json_find(doc, at, "function");
        wr_json_id number = wr_json_find(doc, at, "index");
        int64_t index = (int64_t)s->blocks_count;
        if (number != WR_JSON_NONE)
            (void)wr_json_i64(doc, number, &index);
        weir_span id = text_at(s, doc, at, "id");
        struct wr_answer_block *call = call_at(s, index, id);
        if (!call)
            return;
        set_text(&call->id, id);
        set_text(&call->name, text_at(s, doc, function, "name"));
        wr_buf_append(&call->text, text_at(s, doc, function, "arguments"));
    }
}

static void read_chat(struct wr_answer_stream *s, const struct wr_json *doc)
{
    wr_json_id choice = wr_json_first(doc, wr_json_find(doc, 0, "choices"));
    wr_json_id delta = wr_json_find(doc, choice, "delta");
    wr_json_id error = wr_json_find(doc, 0, "error");

    if (wr_json_is(doc, error, WR_JSON_OBJECT))
        set_error(s, wr_json_raw(doc, error));
    set_text(&s->model, text_at(s, doc, 0, "model"));
    add_usage(s, doc, wr_json_find(doc, 0, "usage"));
    weir_span text = text_at(s, doc, delta, "content");
    weir_span thinking = text_at(s, doc, delta, "reasoning_content");
    wr_buf_append(&s->text, text);
    show(s, WR_PIECE_THINKING, thinking);
    show(s, WR_PIECE_TEXT, text);
    read_chat_calls(s, doc, wr_json_find(doc, delta, "tool_calls"));
    weir_span stop = text_at(s, doc, choice, "finish_reason");
    set_text(&s->stop, stop);
    s->has_ended |= stop.len > 0;
}

static void put(struct wr_json_writer *w, const char *key, const struct wr_buf *text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, wr_buf_view(text));
}

static void put_literal(struct wr_json_writer *w, const char *key, const char *text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, wr_span_of(text));
}

static bool has_id_of_its_own(const struct wr_answer_stream *s, size_t at)
{
    if (!s->blocks[at].id.len)
        return false;
    for (size_t i = 0; i < at; i++)
        if (wr_span_eq(wr_buf_view(&s->blocks[i].id), wr_buf_view(&s->blocks[at].id)))
            return false;
    return true;
}

/* A call without an id gets one, so that it can have a result. The same stream gives the same id;
 * another request of the session has another usage. */
static void name_calls(struct wr_answer_stream *s)
{
    for (size_t i = 0; i < s->blocks_count; i++) {
        struct wr_answer_block *call = &s->blocks[i];
        const uint64_t parts[] = {i, wr_hash64(wr_buf_view(&s->usage)),
                                  wr_hash64(wr_buf_view(&call->name)),
                                  wr_hash64(wr_buf_view(&call->text))};
        if (has_id_of_its_own(s, i))
            continue;
        wr_buf_reset(&call->id);
        wr_buf_printf(
            &call->id, "call_%016llx",
            (unsigned long long)wr_hash64((weir_span){(const char *)parts, sizeof(parts)}));
    }
}

static void write_chat_call(struct wr_json_writer *w, const struct wr_answer_block *call)
{
    wr_json_write_object(w);
    put(w, "id", &call->id);
    put_literal(w, "type", "function");
    wr_json_write_key(w, "function");
    wr_json_write_object(w);
    put(w, "name", &call->name);
    put(w, "arguments", &call->text);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

static void write_chat(struct wr_answer_stream *s, struct wr_json_writer *w)
{
    name_calls(s);
    wr_json_write_key(w, "choices");
    wr_json_write_array(w);
    wr_json_write_object(w);
    put(w, "finish_reason", &s->stop);
    wr_json_write_key(w, "message");
    wr_json_write_object(w);
    put_literal(w, "role", "assistant");
    wr_json_write_key(w, "content");
    if (s->text.len)
        wr_json_write_text(w, wr_buf_view(&s->text));
    else
        wr_json_write_null(w);
    if (s->blocks_count) {
        wr_json_write_key(w, "tool_calls");
        wr_json_write_array(w);
        for (size_t i = 0; i < s->blocks_count; i++)
            write_chat_call(w, &s->blocks[i]);
        wr_json_write_array_end(w);
    }
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
}

/* ---- Responses ---- */

static bool is_type(const struct wr_json *doc, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, 0, "type"), type);
}

static void add_item(struct wr_answer_stream *s, const struct wr_json *doc, wr_json_id item)
{
    if (!wr_json_is(doc, item, WR_JSON_OBJECT))
        return;
    if (s->text.len)
        wr_buf_byte(&s->text, ',');
    wr_buf_append(&s->text, wr_json_raw(doc, item));
}

static void end_response(struct wr_answer_stream *s, const struct wr_json *doc)
{
    wr_json_id response = wr_json_find(doc, 0, "response");
    wr_json_id items = wr_json_find(doc, response, "output");

    set_text(&s->model, text_at(s, doc, response, "model"));
    add_usage(s, doc, wr_json_find(doc, response, "usage"));
    set_text(&s->stop, text_at(s, doc, response, "status"));
    s->has_ended = true;
    if (s->text.len || !wr_json_is(doc, items, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, items); at != WR_JSON_NONE;
         at = wr_json_next(doc, items, at))
        add_item(s, doc, at);
}

/* The last event holds the whole answer; some servers leave its list of items empty there, so they
 * are kept as they come. Others give them only there. */
static void read_responses(struct wr_answer_stream *s, const struct wr_json *doc)
{
    if (is_type(doc, "response.output_text.delta")) {
        show(s, WR_PIECE_TEXT, text_at(s, doc, 0, "delta"));
    } else if (is_type(doc, "response.reasoning_summary_text.delta") ||
               is_type(doc, "response.reasoning_text.delta")) {
        show(s, WR_PIECE_THINKING, text_at(s, doc, 0, "delta"));
    } else if (is_type(doc, "response.output_item.done")) {
        add_item(s, doc, wr_json_find(doc, 0, "item"));
    } else if (is_type(doc, "response.completed") || is_type(doc, "response.incomplete")) {
        end_response(s, doc);
    } else if (is_type(doc, "response.failed")) {
        wr_json_id error = wr_json_find(doc, wr_json_find(doc, 0, "response"), "error");
        set_error(s, error != WR_JSON_NONE ? wr_json_raw(doc, error) : WR_LIT("failed"));
    } else if (is_type(doc, "error")) {
        set_error(s, wr_json_raw(doc, 0));
    }
}

static void write_responses(const struct wr_answer_stream *s, struct wr_json_writer *w)
{
    put(w, "status", &s->stop);
    wr_json_write_key(w, "output");
    wr_json_write_array(w);
    if (s->text.len)
        wr_json_write_raw(w, wr_buf_view(&s->text));
    wr_json_write_array_end(w);
}

/* ---- Messages ---- */

static void begin_block(struct wr_answer_stream *s, const struct wr_json *doc, int64_t index)
{
    wr_json_id value = wr_json_find(doc, 0, "content_block");
    bool is_sound = wr_json_is(doc, value, WR_JSON_OBJECT) && !find_block(s, index);
    struct wr_answer_block *block = is_sound ? new_block(s, index) : NULL;

    if (!is_sound)
        s->status = WEIR_SYNTAX;
    if (!block)
        return;
    wr_buf_append(&block->type, text_at(s, doc, value, "type"));
    wr_buf_append(&block->id, text_at(s, doc, value, "id"));
    wr_buf_append(&block->name, text_at(s, doc, value, "name"));
    wr_buf_append(&block->text, text_at(s, doc, value, "text"));
    wr_buf_append(&block->text, text_at(s, doc, value, "thinking"));
    wr_buf_append(&block->signature, text_at(s, doc, value, "signature"));
    wr_buf_append(&block->raw, wr_json_raw(doc, value));
    show(s, WR_PIECE_TEXT, text_at(s, doc, value, "text"));
}

static void extend_block(struct wr_answer_stream *s, const struct wr_json *doc, int64_t index)
{
    wr_json_id delta = wr_json_find(doc, 0, "delta");
    struct wr_answer_block *block = find_block(s, index);

    if (!block) { /* a part of what never began */
        s->status = WEIR_SYNTAX;
        return;
    }
    weir_span text = text_at(s, doc, delta, "text"), thinking = text_at(s, doc, delta, "thinking");
    wr_buf_append(&block->text, text);
    wr_buf_append(&block->text, thinking);
    wr_buf_append(&block->text, text_at(s, doc, delta, "partial_json"));
    wr_buf_append(&block->signature, text_at(s, doc, delta, "signature"));
    show(s, WR_PIECE_TEXT, text);
    show(s, WR_PIECE_THINKING, thinking);
}

static void read_messages(struct wr_answer_stream *s, const struct wr_json *doc)
{
    wr_json_id message = wr_json_find(doc, 0, "message");
    wr_json_id number = wr_json_find(doc, 0, "index");
    int64_t index = 0;

    if (number != WR_JSON_NONE)
        (void)wr_json_i64(doc, number, &index);
    if (is_type(doc, "message_start")) {
        set_text(&s->model, text_at(s, doc, message, "model"));
        add_usage(s, doc, wr_json_find(doc, message, "usage"));
    } else if (is_type(doc, "content_block_start")) {
        begin_block(s, doc, index);
    } else if (is_type(doc, "content_block_delta")) {
        extend_block(s, doc, index);
    } else if (is_type(doc, "message_delta")) {
        set_text(&s->stop, text_at(s, doc, wr_json_find(doc, 0, "delta"), "stop_reason"));
        add_usage(s, doc, wr_json_find(doc, 0, "usage"));
    } else if (is_type(doc, "message_stop")) {
        s->has_ended = true;
    } else if (is_type(doc, "error")) {
        set_error(s, wr_json_raw(doc, 0));
    }
}

static void write_block(struct wr_json_writer *w, const struct wr_answer_block *block)
{
    weir_span type = wr_buf_view(&block->type);
    bool is_text = wr_span_is(type, "text"), is_thinking = wr_span_is(type, "thinking");
    bool is_call = wr_span_is(type, "tool_use");

    if (!is_text && !is_thinking && !is_call) {
        wr_json_write_raw(w, wr_buf_view(&block->raw));
        return;
    }
    wr_json_write_object(w);
    put(w, "type", &block->type);
    if (is_call) {
        put(w, "id", &block->id);
        put(w, "name", &block->name);
        wr_json_write_key(w, "input");
        wr_json_write_raw(w, block->text.len ? wr_buf_view(&block->text) : WR_LIT("{}"));
    } else {
        put(w, is_text ? "text" : "thinking", &block->text);
        if (is_thinking)
            put(w, "signature", &block->signature);
    }
    wr_json_write_object_end(w);
}

static bool is_json(struct wr_arena *arena, weir_span text)
{
    struct wr_json doc;
    wr_arena_reset(arena);
    return !text.len || !wr_json_parse(&doc, arena, text, NULL, NULL);
}

static void write_messages(struct wr_answer_stream *s, struct wr_json_writer *w)
{
    put_literal(w, "role", "assistant");
    put(w, "stop_reason", &s->stop);
    wr_json_write_key(w, "content");
    wr_json_write_array(w);
    for (size_t i = 0; i < s->blocks_count; i++) {
        struct wr_answer_block *block = &s->blocks[i];
        bool is_call = wr_span_is(wr_buf_view(&block->type), "tool_use");
        if (is_call && !is_json(&s->arena, wr_buf_view(&block->text)))
            s->status = WEIR_SYNTAX; /* the answer was cut inside its arguments */
        else
            write_block(w, block);
    }
    wr_json_write_array_end(w);
}

/* ---- life ---- */

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct wr_answer_stream *s = user;
    struct wr_json doc;

    if (event->is_cut)
        s->status = WEIR_LIMIT;
    if (!event->data.len)
        return;
    if (wr_span_is(event->data, "[DONE]")) {
        s->has_ended |= s->dialect == WEIR_DIALECT_CHAT; /* not all give a finish_reason */
        return;
    }
    wr_arena_reset(&s->arena);
    if (wr_json_parse(&doc, &s->arena, event->data, NULL, NULL)) {
        s->status = WEIR_SYNTAX; /* what was in it is missing: half a command must not run */
        return;
    }
    if (s->dialect == WEIR_DIALECT_CHAT)
        read_chat(s, &doc);
    else if (s->dialect == WEIR_DIALECT_RESPONSES)
        read_responses(s, &doc);
    else
        read_messages(s, &doc);
}

void wr_answer_stream_init(struct wr_answer_stream *s, weir_dialect dialect, wr_piece_fn *on_piece,
                           void *user)
{
    struct wr_buf *const bufs[] = {&s->model, &s->text, &s->usage, &s->stop, &s->body, &s->error};

    *s = (struct wr_answer_stream){.dialect = dialect, .on_piece = on_piece, .user = user};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        wr_buf_init(bufs[i], WR_AGENT_ANSWER_BYTES_MAX);
    wr_arena_init(&s->arena, WR_ARENA_BYTES_MAX);
    wr_sse_init(&s->sse, WR_AGENT_ANSWER_BYTES_MAX, on_event, s);
}

void wr_answer_stream_release(struct wr_answer_stream *s)
{
    struct wr_buf *const bufs[] = {&s->model, &s->text, &s->usage, &s->stop, &s->body, &s->error};

    for (size_t i = 0; i < s->blocks_count; i++) {
        struct wr_answer_block *b = &s->blocks[i];
        struct wr_buf *const own[] = {&b->type, &b->id, &b->name, &b->text, &b->signature, &b->raw};
        for (size_t j = 0; j < sizeof(own) / sizeof(own[0]); j++)
            wr_buf_release(own[j]);
    }
    free(s->blocks);
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        wr_buf_release(bufs[i]);
    wr_sse_release(&s->sse);
    wr_arena_release(&s->arena);
}

void wr_answer_stream_feed(struct wr_answer_stream *s, weir_span bytes)
{
    wr_sse_feed(&s->sse, bytes);
}

static void write_body(struct wr_answer_stream *s)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, &s->body);
    wr_json_write_object(&w);
    if (s->model.len)
        put(&w, "model", &s->model);
    if (s->dialect == WEIR_DIALECT_CHAT)
        write_chat(s, &w);
    else if (s->dialect == WEIR_DIALECT_RESPONSES)
        write_responses(s, &w);
    else
        write_messages(s, &w);
    wr_json_write_object_end(&w);
    if (!s->usage.len || wr_buf_status(&s->body))
        return;
    s->body.len--; /* the brace */
    wr_buf_text(&s->body, ",\"usage\":{");
    wr_buf_append(&s->body, wr_buf_view(&s->usage));
    wr_buf_text(&s->body, "}}");
}

/* A part that did not fit is missing, and there is no answer without it. */
static void check_parts(struct wr_answer_stream *s)
{
    const struct wr_buf *const bufs[] = {&s->model, &s->text, &s->usage, &s->stop};

    for (size_t i = 0; !s->status && i < sizeof(bufs) / sizeof(bufs[0]); i++)
        s->status = wr_buf_status(bufs[i]);
    for (size_t i = 0; !s->status && i < s->blocks_count; i++) {
        const struct wr_answer_block *b = &s->blocks[i];
        const struct wr_buf *const own[] = {&b->type, &b->id,        &b->name,
                                            &b->text, &b->signature, &b->raw};
        for (size_t j = 0; !s->status && j < sizeof(own) / sizeof(own[0]); j++)
            s->status = wr_buf_status(own[j]);
    }
}

weir_status wr_answer_stream_end(struct wr_answer_stream *s, weir_span *body)
{
    *body = (weir_span){"", 0};
    if (s->has_error || !s->has_ended)
        return WEIR_INVALID;
    check_parts(s);
    if (!s->status)
        write_body(s);
    *body = wr_buf_view(&s->body);
    return s->status ? s->status : wr_buf_status(&s->body);
}
