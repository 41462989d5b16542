#include "replay/session.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

enum { ANSWER_TOKENS_MAX = 32000 }; /* that Claude Code asks for */

enum field { F_ROLE, F_CONTENT, F_TOOL_CALLS, F_TOOL_CALL_ID, F_COUNT };

static const char *const field_names[F_COUNT] = {"role", "content", "tool_calls", "tool_call_id"};

/* A message with its fields found. */
struct message {
    const struct wr_json *doc;
    wr_json_id fields[F_COUNT];
};

struct bodywriter {
    struct wr_json_writer json;
    struct wr_arena scratch; /* for one call's arguments at a time */
    const char *open_role;   /* Messages: of the message that is being written */
    bool is_posted;          /* see wr_session_write_posted() */
};

static struct message message_of(const struct wr_json *doc)
{
    struct message m = {.doc = doc};
    (void)wr_json_pick(doc, 0, field_names, F_COUNT, m.fields);
    return m;
}

static bool is_from(const struct message *m, const char *role)
{
    return wr_json_text_is(m->doc, m->fields[F_ROLE], role);
}

static bool has_text(const struct message *m)
{
    wr_json_id content = m->fields[F_CONTENT];
    return wr_json_is(m->doc, content, WR_JSON_STRING) && wr_json_inner(m->doc, content).len;
}

static void write_pair(struct bodywriter *w, const char *key, const char *value)
{
    wr_json_write_key(&w->json, key);
    wr_json_write_text(&w->json, wr_span_of(value));
}

/* A value copied from a message with its own spelling. */
static void write_value(struct bodywriter *w, const char *key, const struct wr_json *doc,
                        wr_json_id id)
{
    wr_json_write_key(&w->json, key);
    wr_json_write_raw(&w->json, id == WR_JSON_NONE ? WR_LIT("\"\"") : wr_json_raw(doc, id));
}

/* The object that was written last ends a prefix that the provider is to keep. */
static void mark_last(struct bodywriter *w)
{
    struct wr_buf *out = w->json.out;
    if (out->status || !out->len || out->bytes[out->len - 1] != '}')
        return;
    out->len--;
    wr_buf_text(out, ",\"cache_control\":{\"type\":\"ephemeral\"}}");
}

static bool has_markers(const struct bodywriter *w, const struct wr_session_request *request)
{
    return w->is_posted && request->dialect == WEIR_DIALECT_MESSAGES;
}

static void write_text_block(struct bodywriter *w, const char *type, const struct message *m)
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", type);
    write_value(w, "text", m->doc, m->fields[F_CONTENT]);
    wr_json_write_object_end(&w->json);
}

static void write_tool(struct bodywriter *w, weir_span name, weir_dialect dialect)
{
    bool nested = dialect == WEIR_DIALECT_CHAT;
    wr_json_write_object(&w->json);
    if (dialect != WEIR_DIALECT_MESSAGES)
        write_pair(w, "type", "function");
    if (nested) {
        wr_json_write_key(&w->json, "function");
        wr_json_write_object(&w->json);
    }
    wr_json_write_key(&w->json, "name");
    wr_json_write_text(&w->json, name);
    wr_json_write_key(&w->json, dialect == WEIR_DIALECT_MESSAGES ? "input_schema" : "parameters");
    wr_json_write_raw(&w->json, WR_LIT("{\"type\":\"object\"}"));
    if (nested)
        wr_json_write_object_end(&w->json);
    wr_json_write_object_end(&w->json);
}

static void write_tools(struct bodywriter *w, const struct wr_session *s,
                        const struct wr_session_request *request)
{
    wr_json_write_key(&w->json, "tools");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < s->tools_count; i++)
        write_tool(w, s->tools[i], request->dialect);
    if (request->with_tools != WR_SESSION_TOOLS_WITHOUT_RECALL)
        write_tool(w, WR_LIT("weir_recall"), request->dialect);
    if (has_markers(w, request))
        mark_last(w);
    wr_json_write_array_end(&w->json);
}

/* Calls `write` for each call of one message. */
typedef void call_fn(struct bodywriter *w, const struct wr_json *doc, wr_json_id id,
                     wr_json_id name, wr_json_id arguments);

static void each_call(struct bodywriter *w, const struct message *m, call_fn *write)
{
    const struct wr_json *doc = m->doc;
    wr_json_id calls = m->fields[F_TOOL_CALLS];
    if (!wr_json_is(doc, calls, WR_JSON_ARRAY))
        return;
    for (wr_json_id call = wr_json_first(doc, calls); call != WR_JSON_NONE;
         call = wr_json_next(doc, calls, call)) {
        wr_json_id function = wr_json_find(doc, call, "function");
        wr_json_id name = wr_json_find(doc, function, "name"),
                   arguments = wr_json_find(doc, function, "arguments");
        if (name != WR_JSON_NONE && wr_json_is(doc, arguments, WR_JSON_STRING))
            write(w, doc, wr_json_find(doc, call, "id"), name, arguments);
    }
}

/* ---- Responses ---- */

static void write_function_call(struct bodywriter *w, const struct wr_json *doc, wr_json_id id,
                                wr_json_id name, wr_json_id arguments)
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", "function_call");
    write_value(w, "call_id", doc, id);
    write_value(w, "name", doc, name);
    write_value(w, "arguments", doc, arguments);
    wr_json_write_object_end(&w->json);
}

static void write_item(struct bodywriter *w, const struct message *m)
{
    if (is_from(m, "tool")) {
        wr_json_write_object(&w->json);
        write_pair(w, "type", "function_call_output");
        write_value(w, "call_id", m->doc, m->fields[F_TOOL_CALL_ID]);
        write_value(w, "output", m->doc, m->fields[F_CONTENT]);
        wr_json_write_object_end(&w->json);
        return;
    }
    if (has_text(m)) {
        wr_json_write_object(&w->json);
        write_pair(w, "type", "message");
        write_value(w, "role", m->doc, m->fields[F_ROLE]);
        wr_json_write_key(&w->json, "content");
        wr_json_write_array(&w->json);
        write_text_block(w, is_from(m, "assistant") ? "output_text" : "input_text", m);
        wr_json_write_array_end(&w->json);
        wr_json_write_object_end(&w->json);
    }
    each_call(w, m, write_function_call);
}

/* ---- Messages ---- */

/* Arguments become an object; what a model wrote that is none is kept under one key. */
static void write_input(struct bodywriter *w, const struct wr_json *doc, wr_json_id arguments)
{
    struct wr_json parsed;
    weir_span text = wr_json_text(doc, &w->scratch, arguments);
    weir_status status = text.ptr ? wr_json_parse(&parsed, &w->scratch, text, NULL, NULL)
                                  : wr_arena_status(&w->scratch);
    bool is_object = !status && wr_json_is(&parsed, 0, WR_JSON_OBJECT);

    wr_json_write_key(&w->json, "input");
    if (is_object) {
        wr_json_write_raw(&w->json, wr_json_raw(&parsed, 0));
    } else {
        wr_json_write_object(&w->json);
        write_value(w, "input", doc, arguments);
        wr_json_write_object_end(&w->json);
    }
    if (status == WEIR_NOMEM && !w->json.out->status)
        w->json.out->status = WEIR_NOMEM; /* what it is could not be found out */
    wr_arena_reset(&w->scratch);
}

static void write_tool_use(struct bodywriter *w, const struct wr_json *doc, wr_json_id id,
                           wr_json_id name, wr_json_id arguments)
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", "tool_use");
    write_value(w, "id", doc, id);
    write_value(w, "name", doc, name);
    write_input(w, doc, arguments);
    wr_json_write_object_end(&w->json);
}

static void write_blocks(struct bodywriter *w, const struct message *m)
{
    if (is_from(m, "tool")) {
        wr_json_write_object(&w->json);
        write_pair(w, "type", "tool_result");
        write_value(w, "tool_use_id", m->doc, m->fields[F_TOOL_CALL_ID]);
        write_value(w, "content", m->doc, m->fields[F_CONTENT]);
        wr_json_write_object_end(&w->json);
        return;
    }
    if (has_text(m))
        write_text_block(w, "text", m);
    each_call(w, m, write_tool_use);
}

/* The Messages role of a message; NULL for what has nothing to say. */
static const char *messages_role(const struct message *m)
{
    if (is_from(m, "tool"))
        return "user";
    if (is_from(m, "assistant"))
        return has_text(m) || wr_json_is(m->doc, m->fields[F_TOOL_CALLS], WR_JSON_ARRAY)
                   ? "assistant"
                   : NULL;
    if (!has_text(m))
        return NULL;
    if (is_from(m, "user"))
        return "user";
    return is_from(m, "system") || is_from(m, "developer") ? "system" : NULL;
}

static void close_message(struct bodywriter *w)
{
    if (!w->open_role)
        return;
    wr_json_write_array_end(&w->json);
    wr_json_write_object_end(&w->json);
    w->open_role = NULL;
}

/* Messages of one role in a row are one message. */
static void write_turn(struct bodywriter *w, const struct message *m)
{
    const char *role = messages_role(m);
    if (!role)
        return;
    if (w->open_role && strcmp(w->open_role, role))
        close_message(w);
    if (!w->open_role) {
        wr_json_write_object(&w->json);
        write_pair(w, "role", role);
        wr_json_write_key(&w->json, "content");
        wr_json_write_array(&w->json);
        w->open_role = role;
    }
    write_blocks(w, m);
}

/* ---- a whole body ---- */

/* Which compaction a request begins with, and how many messages it has. */
struct list {
    struct wr_session_view view;
    uint32_t compaction; /* 0: none */
    uint32_t count;
    uint32_t instructions_count; /* Messages: the system messages it begins with, put apart */
};

static struct list list_of(const struct wr_session *s, const struct wr_session_request *request)
{
    struct list list = {.view = {.since = s->messages}};
    uint32_t from = 0;

    WR_ASSERT(request->messages_count <= s->messages_count);
    while (list.compaction < s->compactions_count &&
           s->compactions[list.compaction].at <= request->messages_count)
        list.compaction++;
    if (list.compaction) {
        const struct wr_session_compaction *last = &s->compactions[list.compaction - 1];
        list.view.kept = last->kept;
        list.view.kept_count = last->kept_count;
        from = last->at;
    }
    list.view.since = s->messages + from;
    list.view.since_count = request->messages_count - from;
    list.count = wr_session_view_count(&list.view);
    if (request->dialect != WEIR_DIALECT_MESSAGES)
        return list;
    while (list.instructions_count < list.count) {
        struct message m = message_of(wr_session_view_message(&list.view, list.instructions_count));
        if (!is_from(&m, "system") && !is_from(&m, "developer"))
            break;
        list.instructions_count++;
    }
    return list;
}

static void write_system(struct bodywriter *w, const struct wr_session_request *request,
                         const struct list *list)
{
    wr_json_write_key(&w->json, "system");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < list->instructions_count; i++) {
        struct message m = message_of(wr_session_view_message(&list->view, i));
        if (has_text(&m))
            write_text_block(w, "text", &m);
    }
    if (has_markers(w, request))
        mark_last(w);
    wr_json_write_array_end(&w->json);
}

static void begin_body(struct bodywriter *w, const struct wr_session *s,
                       const struct wr_session_request *request, const struct list *list)
{
    wr_json_write_object(&w->json);
    write_pair(w, "model", request->model);
    if (has_markers(w, request)) {
        wr_json_write_key(&w->json, "max_tokens");
        wr_json_write_i64(&w->json, ANSWER_TOKENS_MAX);
    }
    if (w->is_posted && request->dialect == WEIR_DIALECT_RESPONSES) {
        wr_json_write_key(&w->json, "store");
        wr_json_write_bool(&w->json, false);
    }
    if (request->with_tools)
        write_tools(w, s, request);
    if (request->dialect == WEIR_DIALECT_MESSAGES)
        write_system(w, request, list);
    wr_json_write_key(&w->json, request->dialect == WEIR_DIALECT_RESPONSES ? "input" : "messages");
    wr_json_write_array(&w->json);
}

static void write_from(struct bodywriter *w, const struct list *list, weir_dialect dialect,
                       uint32_t from)
{
    for (uint32_t i = from; i < list->count; i++) {
        const struct wr_json *doc = wr_session_view_message(&list->view, i);
        if (dialect == WEIR_DIALECT_CHAT) {
            wr_json_write_raw(&w->json, wr_json_raw(doc, 0));
            continue;
        }
        struct message m = message_of(doc);
        if (dialect == WEIR_DIALECT_RESPONSES)
            write_item(w, &m);
        else if (i >= list->instructions_count)
            write_turn(w, &m);
    }
}

static void end_body(struct bodywriter *w)
{
    close_message(w);
    wr_json_write_array_end(&w->json);
    wr_json_write_object_end(&w->json);
}

static void write_body(const struct wr_session *session, const struct wr_session_request *request,
                       bool is_posted, struct wr_buf *out)
{
    struct list list = list_of(session, request);
    struct bodywriter w = {.is_posted = is_posted};

    wr_arena_init(&w.scratch, WR_ARENA_BYTES_MAX);
    wr_json_write_init(&w.json, out);
    begin_body(&w, session, request, &list);
    write_from(&w, &list, request->dialect, 0);
    if (has_markers(&w, request) && w.open_role)
        mark_last(&w);
    end_body(&w);
    wr_arena_release(&w.scratch);
}

void wr_session_write(const struct wr_session *session, const struct wr_session_request *request,
                      struct wr_buf *out)
{
    write_body(session, request, false, out);
}

void wr_session_write_posted(const struct wr_session *session,
                             const struct wr_session_request *request, struct wr_buf *out)
{
    write_body(session, request, true, out);
}

/* ---- answers ---- */

static void write_chat_answer(struct bodywriter *w, const struct message *m, bool has_calls)
{
    write_pair(w, "id", "chatcmpl-meter");
    write_pair(w, "object", "chat.completion");
    wr_json_write_key(&w->json, "created");
    wr_json_write_i64(&w->json, 0);
    wr_json_write_key(&w->json, "choices");
    wr_json_write_array(&w->json);
    wr_json_write_object(&w->json);
    wr_json_write_key(&w->json, "index");
    wr_json_write_i64(&w->json, 0);
    wr_json_write_key(&w->json, "message");
    wr_json_write_raw(&w->json, wr_json_raw(m->doc, 0));
    write_pair(w, "finish_reason", has_calls ? "tool_calls" : "stop");
    wr_json_write_object_end(&w->json);
    wr_json_write_array_end(&w->json);
}

static void write_responses_answer(struct bodywriter *w, const struct message *m)
{
    write_pair(w, "id", "resp_meter");
    write_pair(w, "object", "response");
    wr_json_write_key(&w->json, "created_at");
    wr_json_write_i64(&w->json, 0);
    write_pair(w, "status", "completed");
    wr_json_write_key(&w->json, "output");
    wr_json_write_array(&w->json);
    write_item(w, m);
    wr_json_write_array_end(&w->json);
}

static void write_messages_answer(struct bodywriter *w, const struct message *m, bool has_calls)
{
    write_pair(w, "id", "msg_meter");
    write_pair(w, "type", "message");
    write_pair(w, "role", "assistant");
    wr_json_write_key(&w->json, "content");
    wr_json_write_array(&w->json);
    write_blocks(w, m);
    wr_json_write_array_end(&w->json);
    write_pair(w, "stop_reason", has_calls ? "tool_use" : "end_turn");
    wr_json_write_key(&w->json, "stop_sequence");
    wr_json_write_null(&w->json);
}

void wr_session_write_answer(const struct wr_json *answer, weir_dialect dialect, struct wr_buf *out)
{
    struct message m = message_of(answer);
    struct bodywriter w = {0};
    bool has_calls = wr_json_is(answer, m.fields[F_TOOL_CALLS], WR_JSON_ARRAY);

    wr_arena_init(&w.scratch, WR_ARENA_BYTES_MAX);
    wr_json_write_init(&w.json, out);
    wr_json_write_object(&w.json);
    if (dialect == WEIR_DIALECT_CHAT)
        write_chat_answer(&w, &m, has_calls);
    else if (dialect == WEIR_DIALECT_RESPONSES)
        write_responses_answer(&w, &m);
    else
        write_messages_answer(&w, &m, has_calls);
    write_pair(&w, "model", "meter");
    wr_json_write_object_end(&w.json);
    wr_arena_release(&w.scratch);
}

/* ---- one body after the other ---- */

void wr_session_body_init(struct wr_session_body *body, const struct wr_session *session,
                          const struct wr_session_request *request)
{
    *body = (struct wr_session_body){.session = session, .request = *request};
    wr_buf_init(&body->out, WR_OUTPUT_BYTES_MAX);
}

/* Goes back to where the body that is there was still open, or to its beginning. */
static uint32_t reopen(struct wr_session_body *body, struct bodywriter *w, const struct list *list)
{
    bool goes_on = body->is_begun && body->compaction == list->compaction &&
                   body->written_count <= list->count && body->open_bytes <= body->out.len;
    if (goes_on) {
        body->out.len = body->open_bytes;
        w->json = body->writer;
        w->open_role = body->open_role;
        return body->written_count;
    }
    wr_buf_reset(&body->out);
    wr_json_write_init(&w->json, &body->out);
    begin_body(w, body->session, &body->request, list);
    return 0;
}

weir_span wr_session_body_at(struct wr_session_body *body, uint32_t n)
{
    struct bodywriter w = {0};

    WR_ASSERT(n < body->session->requests_count);
    body->request.messages_count = body->session->requests[n];
    struct list list = list_of(body->session, &body->request);
    wr_arena_init(&w.scratch, WR_ARENA_BYTES_MAX);
    write_from(&w, &list, body->request.dialect, reopen(body, &w, &list));
    body->writer = w.json;
    body->open_bytes = body->out.len;
    body->open_role = w.open_role;
    body->written_count = list.count;
    body->compaction = list.compaction;
    body->is_begun = true;
    end_body(&w);
    wr_arena_release(&w.scratch);
    return wr_buf_view(&body->out);
}

weir_status wr_session_body_status(const struct wr_session_body *body)
{
    return wr_buf_status(&body->out);
}

void wr_session_body_release(struct wr_session_body *body)
{
    wr_buf_release(&body->out);
}
