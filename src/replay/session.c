#include "replay/session.h"

#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "json/write.h"

enum field { F_ROLE, F_CONTENT, F_TOOL_CALLS, F_TOOL_CALL_ID, F_COUNT };

static const char *const field_names[F_COUNT] = {"role", "content", "tool_calls", "tool_call_id"};

static uint32_t count_lines(weir_span text)
{
    uint32_t count = 0;
    weir_span line;
    while (wr_span_line(&text, &line))
        count++;
    return count;
}

static weir_status add_tool(struct wr_session *s, weir_span name)
{
    for (uint32_t i = 0; i < s->tools_count; i++)
        if (wr_span_eq(s->tools[i], name))
            return WEIR_OK;
    weir_span *grown = wr_arena_grow(s->arena, s->tools, s->tools_count * sizeof(*grown),
                                     (s->tools_count + 1) * sizeof(*grown));
    if (!grown)
        return wr_arena_status(s->arena);
    s->tools = grown;
    s->tools[s->tools_count++] = name;
    return WEIR_OK;
}

static weir_status note_tools(struct wr_session *s, const struct wr_json *message)
{
    wr_json_id calls = wr_json_find(message, 0, "tool_calls");
    weir_status status = WEIR_OK;

    if (!wr_json_is(message, calls, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id call = wr_json_first(message, calls); call != WR_JSON_NONE && !status;
         call = wr_json_next(message, calls, call)) {
        wr_json_id name = wr_json_find(message, wr_json_find(message, call, "function"), "name");
        if (!wr_json_is(message, name, WR_JSON_STRING))
            continue;
        weir_span text = wr_json_text(message, s->arena, name);
        status = text.ptr ? add_tool(s, text) : wr_arena_status(s->arena);
    }
    return status;
}

static weir_status add_message(struct wr_session *s, const struct wr_json *message)
{
    if (wr_json_text_is(message, wr_json_find(message, 0, "role"), "assistant"))
        s->requests[s->requests_count++] = s->messages_count;
    s->messages[s->messages_count++] = *message;
    return note_tools(s, message);
}

weir_status wr_session_read(struct wr_session *session, struct wr_arena *arena, weir_span text,
                            struct weir_err *err)
{
    uint32_t lines = count_lines(text);
    weir_span rest = text, line;

    *session = (struct wr_session){.arena = arena};
    session->messages = WR_ARENA_ARRAY(arena, struct wr_json, lines);
    session->requests = WR_ARENA_ARRAY(arena, uint32_t, lines);
    if (!session->messages || !session->requests)
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for the session");
    while (wr_span_line(&rest, &line)) {
        struct wr_json message;
        size_t at = (size_t)(line.ptr - text.ptr);
        if (!wr_span_trim(line).len)
            continue;
        weir_status status = wr_json_parse(&message, arena, line, NULL, err);
        if (status) {
            if (err)
                err->at_byte += at;
            return status;
        }
        if (!wr_json_is(&message, 0, WR_JSON_OBJECT))
            return wr_fail(err, WEIR_INVALID, at,
                           "a session has one message a line; this line is none");
        status = add_message(session, &message);
        if (status)
            return wr_fail(err, status, at, "%s", weir_status_text(status));
    }
    return WEIR_OK;
}

/* ---- writing ---- */

struct bodywriter {
    struct wr_json_writer json;
    struct wr_buf *out;
};

static void write_pair(struct bodywriter *w, const char *key, const char *value)
{
    wr_json_write_key(&w->json, key);
    wr_json_write_text(&w->json, wr_span_of(value));
}

/* A value copied from a message with its own spelling. */
static void write_raw(struct bodywriter *w, const char *key, weir_span raw)
{
    if (key)
        wr_json_write_key(&w->json, key);
    wr_json_write_raw(&w->json, raw);
}

static bool has_text(const struct wr_json *m, wr_json_id content)
{
    return wr_json_is(m, content, WR_JSON_STRING) && wr_json_inner(m, content).len;
}

static void write_text_block(struct bodywriter *w, const char *type, weir_span raw)
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", type);
    write_raw(w, "text", raw);
    wr_json_write_object_end(&w->json);
}

static void write_tools(struct bodywriter *w, const struct wr_session *s, weir_dialect dialect)
{
    wr_json_write_key(&w->json, "tools");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i <= s->tools_count; i++) {
        weir_span name = i < s->tools_count ? s->tools[i] : WR_LIT("weir_recall");
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
        write_raw(w, dialect == WEIR_DIALECT_MESSAGES ? "input_schema" : "parameters",
                  WR_LIT("{\"type\":\"object\"}"));
        if (nested)
            wr_json_write_object_end(&w->json);
        wr_json_write_object_end(&w->json);
    }
    wr_json_write_array_end(&w->json);
}

static void write_chat(struct bodywriter *w, const struct wr_session *s, uint32_t count)
{
    wr_json_write_key(&w->json, "messages");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < count; i++)
        write_raw(w, NULL, wr_json_raw(&s->messages[i], 0));
    wr_json_write_array_end(&w->json);
}

/* Calls of one message: function(w, message, id, name, arguments) for each. */
typedef void call_fn(struct bodywriter *w, const struct wr_json *m, wr_json_id id, wr_json_id name,
                     wr_json_id arguments, struct wr_arena *arena);

static void each_call(struct bodywriter *w, const struct wr_json *m, wr_json_id calls,
                      struct wr_arena *arena, call_fn *write)
{
    if (!wr_json_is(m, calls, WR_JSON_ARRAY))
        return;
    for (wr_json_id call = wr_json_first(m, calls); call != WR_JSON_NONE;
         call = wr_json_next(m, calls, call)) {
        wr_json_id function = wr_json_find(m, call, "function");
        wr_json_id name = wr_json_find(m, function, "name"),
                   arguments = wr_json_find(m, function, "arguments");
        if (name != WR_JSON_NONE && wr_json_is(m, arguments, WR_JSON_STRING))
            write(w, m, wr_json_find(m, call, "id"), name, arguments, arena);
    }
}

static void write_function_call(struct bodywriter *w, const struct wr_json *m, wr_json_id id,
                                wr_json_id name, wr_json_id arguments, struct wr_arena *arena)
{
    (void)arena;
    wr_json_write_object(&w->json);
    write_pair(w, "type", "function_call");
    write_raw(w, "call_id", wr_json_raw(m, id));
    write_raw(w, "name", wr_json_raw(m, name));
    write_raw(w, "arguments", wr_json_raw(m, arguments));
    wr_json_write_object_end(&w->json);
}

static void write_item(struct bodywriter *w, const struct wr_session *s, const struct wr_json *m)
{
    wr_json_id fields[F_COUNT];
    (void)wr_json_pick(m, 0, field_names, F_COUNT, fields);
    if (wr_json_text_is(m, fields[F_ROLE], "tool")) {
        wr_json_write_object(&w->json);
        write_pair(w, "type", "function_call_output");
        write_raw(w, "call_id", wr_json_raw(m, fields[F_TOOL_CALL_ID]));
        write_raw(w, "output", wr_json_raw(m, fields[F_CONTENT]));
        wr_json_write_object_end(&w->json);
        return;
    }
    bool from_model = wr_json_text_is(m, fields[F_ROLE], "assistant");
    if (has_text(m, fields[F_CONTENT])) {
        wr_json_write_object(&w->json);
        write_pair(w, "type", "message");
        write_raw(w, "role", wr_json_raw(m, fields[F_ROLE]));
        wr_json_write_key(&w->json, "content");
        wr_json_write_array(&w->json);
        write_text_block(w, from_model ? "output_text" : "input_text",
                         wr_json_raw(m, fields[F_CONTENT]));
        wr_json_write_array_end(&w->json);
        wr_json_write_object_end(&w->json);
    }
    each_call(w, m, fields[F_TOOL_CALLS], s->arena, write_function_call);
}

static void write_responses(struct bodywriter *w, const struct wr_session *s, uint32_t count)
{
    wr_json_write_key(&w->json, "input");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < count; i++)
        write_item(w, s, &s->messages[i]);
    wr_json_write_array_end(&w->json);
}

/* Arguments become an object; what a model wrote that is none is kept under one key. */
static void write_input(struct bodywriter *w, const struct wr_json *m, wr_json_id arguments,
                        struct wr_arena *arena)
{
    struct wr_json parsed;
    weir_span text = wr_json_text(m, arena, arguments);
    bool is_object = text.ptr && !wr_json_parse(&parsed, arena, text, NULL, NULL) &&
                     wr_json_is(&parsed, 0, WR_JSON_OBJECT);
    if (is_object) {
        write_raw(w, "input", wr_json_raw(&parsed, 0));
        return;
    }
    wr_json_write_key(&w->json, "input");
    wr_json_write_object(&w->json);
    write_raw(w, "input", wr_json_raw(m, arguments));
    wr_json_write_object_end(&w->json);
}

static void write_tool_use(struct bodywriter *w, const struct wr_json *m, wr_json_id id,
                           wr_json_id name, wr_json_id arguments, struct wr_arena *arena)
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", "tool_use");
    write_raw(w, "id", wr_json_raw(m, id));
    write_raw(w, "name", wr_json_raw(m, name));
    write_input(w, m, arguments, arena);
    wr_json_write_object_end(&w->json);
}

static void write_tool_result(struct bodywriter *w, const struct wr_json *m,
                              const wr_json_id fields[F_COUNT])
{
    wr_json_write_object(&w->json);
    write_pair(w, "type", "tool_result");
    write_raw(w, "tool_use_id", wr_json_raw(m, fields[F_TOOL_CALL_ID]));
    write_raw(w, "content", wr_json_raw(m, fields[F_CONTENT]));
    wr_json_write_object_end(&w->json);
}

static void write_blocks(struct bodywriter *w, const struct wr_session *s, const struct wr_json *m)
{
    wr_json_id fields[F_COUNT];
    (void)wr_json_pick(m, 0, field_names, F_COUNT, fields);
    if (wr_json_text_is(m, fields[F_ROLE], "tool")) {
        write_tool_result(w, m, fields);
        return;
    }
    if (has_text(m, fields[F_CONTENT]))
        write_text_block(w, "text", wr_json_raw(m, fields[F_CONTENT]));
    each_call(w, m, fields[F_TOOL_CALLS], s->arena, write_tool_use);
}

/* The Messages role of a message: NULL for what belongs to `system` or has nothing to say. */
static const char *messages_role(const struct wr_json *m)
{
    wr_json_id fields[F_COUNT];
    (void)wr_json_pick(m, 0, field_names, F_COUNT, fields);
    if (wr_json_text_is(m, fields[F_ROLE], "assistant"))
        return has_text(m, fields[F_CONTENT]) || wr_json_is(m, fields[F_TOOL_CALLS], WR_JSON_ARRAY)
                   ? "assistant"
                   : NULL;
    if (wr_json_text_is(m, fields[F_ROLE], "tool"))
        return "user";
    return wr_json_text_is(m, fields[F_ROLE], "user") && has_text(m, fields[F_CONTENT]) ? "user"
                                                                                        : NULL;
}

static void write_system(struct bodywriter *w, const struct wr_session *s, uint32_t count)
{
    wr_json_write_key(&w->json, "system");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < count; i++) {
        const struct wr_json *m = &s->messages[i];
        wr_json_id content = wr_json_find(m, 0, "content");
        if (wr_json_text_is(m, wr_json_find(m, 0, "role"), "system") && has_text(m, content))
            write_text_block(w, "text", wr_json_raw(m, content));
    }
    wr_json_write_array_end(&w->json);
}

static void write_messages(struct bodywriter *w, const struct wr_session *s, uint32_t count)
{
    const char *open = NULL;

    write_system(w, s, count);
    wr_json_write_key(&w->json, "messages");
    wr_json_write_array(&w->json);
    for (uint32_t i = 0; i < count; i++) {
        const char *role = messages_role(&s->messages[i]);
        if (!role)
            continue;
        if (open && strcmp(open, role)) {
            wr_json_write_array_end(&w->json);
            wr_json_write_object_end(&w->json);
            open = NULL;
        }
        if (!open) {
            wr_json_write_object(&w->json);
            write_pair(w, "role", role);
            wr_json_write_key(&w->json, "content");
            wr_json_write_array(&w->json);
            open = role;
        }
        write_blocks(w, s, &s->messages[i]);
    }
    if (open) {
        wr_json_write_array_end(&w->json);
        wr_json_write_object_end(&w->json);
    }
    wr_json_write_array_end(&w->json);
}

void wr_session_write(const struct wr_session *session, const struct wr_session_request *request,
                      struct wr_buf *out)
{
    struct bodywriter w = {.out = out};

    WR_ASSERT(request->messages_count <= session->messages_count);
    wr_json_write_init(&w.json, out);
    wr_json_write_object(&w.json);
    write_pair(&w, "model", request->model);
    if (request->with_tools)
        write_tools(&w, session, request->dialect);
    if (request->dialect == WEIR_DIALECT_CHAT)
        write_chat(&w, session, request->messages_count);
    else if (request->dialect == WEIR_DIALECT_RESPONSES)
        write_responses(&w, session, request->messages_count);
    else
        write_messages(&w, session, request->messages_count);
    wr_json_write_object_end(&w.json);
}
