/* A session read from lines of messages, and what its n-th request consisted of: the messages
 * before the n-th answer or, where the host compacted, what the compaction left and the messages
 * since. Bodies are written further down. */
#include "lab/session.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

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
    if (s->tools_count == WR_SESSION_TOOLS_MAX)
        return WEIR_OK;
    weir_span *grown = wr_arena_grow(s->arena, s->tools, s->tools_count * sizeof(*grown),
                                     (s->tools_count + 1) * sizeof(*grown));
    if (!grown)
        return wr_arena_status(s->arena);
    s->tools = grown;
    s->tools[s->tools_count++] = name;
    return WEIR_OK;
}

weir_status wr_session_note_tools(struct wr_session *s, const struct wr_json *message)
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
    return wr_session_note_tools(s, message);
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

/* ---- what a request consists of ---- */

/* How many compactions lie behind a request of `count` messages; the last of them counts. */
static uint32_t compactions_before(const struct wr_session *s, uint32_t count)
{
    uint32_t low = 0, high = s->compactions_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->compactions[middle].at <= count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A request is sent when the last message it brings has come. Some logs time only the answers. */
static int64_t sent_ms(const struct wr_session *s, uint32_t n)
{
    uint32_t answer = s->requests[n], from = n ? s->requests[n - 1] + 1 : 0;
    int64_t newest_ms = WR_SESSION_NO_TIME;
    if (!s->times_ms)
        return WR_SESSION_NO_TIME;
    for (uint32_t i = from; i < answer; i++)
        if (s->times_ms[i] > newest_ms)
            newest_ms = s->times_ms[i];
    return newest_ms == WR_SESSION_NO_TIME ? s->times_ms[answer] : newest_ms;
}

/* The messages of request `n`, as far as they can be said without the one before it. */
static struct wr_session_view view_of(const struct wr_session *s, uint32_t n, uint32_t compactions)
{
    uint32_t count = s->requests[n], from = 0;
    struct wr_session_view view = {.answer = &s->messages[count], .sent_ms = sent_ms(s, n)};
    if (compactions) {
        const struct wr_session_compaction *last = &s->compactions[compactions - 1];
        view.kept = last->kept;
        view.kept_thinks = last->kept_thinks;
        view.kept_count = last->kept_count;
        from = last->at;
    }
    view.since = s->messages + from;
    view.since_thinks = s->thinks ? s->thinks + from : NULL;
    view.since_count = count - from;
    return view;
}

/* A message that was kept as it is has the same nodes. */
static uint32_t count_shared(const struct wr_session_view *a, const struct wr_session_view *b)
{
    uint32_t i = 0, count_a = wr_session_view_count(a), count_b = wr_session_view_count(b);
    while (i < count_a && i < count_b &&
           wr_session_view_message(a, i)->nodes == wr_session_view_message(b, i)->nodes)
        i++;
    return i;
}

struct wr_session_view wr_session_view(const struct wr_session *s, uint32_t n)
{
    WR_ASSERT(n < s->requests_count);
    uint32_t compactions = compactions_before(s, s->requests[n]);
    struct wr_session_view view = view_of(s, n, compactions);
    if (!n)
        return view;
    uint32_t earlier = compactions_before(s, s->requests[n - 1]);
    struct wr_session_view before = view_of(s, n - 1, earlier);
    view.is_compacted = compactions != earlier;
    view.shared_count =
        view.is_compacted ? count_shared(&before, &view) : wr_session_view_count(&before);
    return view;
}

/* ---- session write ----
 *
 * A recorded session as the body of a request, in any API. The session's messages are those of Chat
 * Completions: to a Chat body they go as they are, to the others line by line (api/write.h), with
 * the spelling that their texts have.
 */

enum { ANSWER_TOKENS_MAX = 32000 }; /* that Claude Code asks for */

enum field { F_ROLE, F_CONTENT, F_TOOL_CALLS, F_TOOL_CALL_ID, F_COUNT };

static const char *const field_names[F_COUNT] = {"role", "content", "tool_calls", "tool_call_id"};

/* A message with its fields found. */
struct message {
    const struct wr_json *doc;
    wr_json_id fields[F_COUNT];
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

static weir_span raw_of(const struct wr_json *doc, wr_json_id id)
{
    return id == WR_JSON_NONE ? WR_LIT("\"\"") : wr_json_raw(doc, id);
}

/* Its text with the quotes; empty where it has none. */
static weir_span text_of(const struct message *m)
{
    wr_json_id content = m->fields[F_CONTENT];
    bool has_text =
        wr_json_is(m->doc, content, WR_JSON_STRING) && wr_json_inner(m->doc, content).len;
    return has_text ? wr_json_raw(m->doc, content) : (weir_span){"", 0};
}

static weir_status list_calls(const struct message *m, struct wr_arena *arena, struct wr_line *line)
{
    const struct wr_json *doc = m->doc;
    wr_json_id list = m->fields[F_TOOL_CALLS];
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    struct weir_call *calls = WR_ARENA_ARRAY(arena, struct weir_call, wr_json_count(doc, list));
    if (!calls)
        return wr_arena_status(arena);
    line->calls = calls;
    WR_JSON_EACH(call, doc, list) {
        wr_json_id function = wr_json_find(doc, call, "function");
        wr_json_id name = wr_json_find(doc, function, "name"),
                   arguments = wr_json_find(doc, function, "arguments");
        if (name != WR_JSON_NONE && wr_json_is(doc, arguments, WR_JSON_STRING))
            calls[line->calls_count++] =
                (struct weir_call){raw_of(doc, wr_json_find(doc, call, "id")),
                                   wr_json_raw(doc, name), wr_json_raw(doc, arguments)};
    }
    return WEIR_OK;
}

/* False: it says nothing. */
static bool line_of(const struct message *m, struct wr_line *line)
{
    *line = (struct wr_line){.text = text_of(m)};
    if (is_from(m, "tool")) {
        line->kind = WR_LINE_RESULT;
        line->call_id = raw_of(m->doc, m->fields[F_TOOL_CALL_ID]);
        line->text = raw_of(m->doc, m->fields[F_CONTENT]);
        return true;
    }
    if (is_from(m, "assistant")) {
        line->kind = WR_LINE_ANSWER;
        return line->text.len || wr_json_is(m->doc, m->fields[F_TOOL_CALLS], WR_JSON_ARRAY);
    }
    bool is_user = is_from(m, "user");
    line->kind = is_user ? WR_LINE_WORDS : WR_LINE_NOTICE;
    line->role = is_from(m, "developer") ? "developer" : "system";
    return line->text.len && (is_user || is_from(m, "system") || is_from(m, "developer"));
}

static void write_message(struct wr_body *body, const struct wr_json *doc,
                          void (*write)(struct wr_body *body, const struct wr_line *line))
{
    struct message m = message_of(doc);
    weir_span raw = wr_json_raw(doc, 0);
    struct wr_arena arena;
    struct wr_line line;

    if (!line_of(&m, &line) && body->api->dialect != WR_SESSION_DIALECT)
        return;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = list_calls(&m, &arena, &line);
    if (body->api->dialect == WR_SESSION_DIALECT) {
        line.kind = WR_LINE_ANSWER;
        line.items = &raw;
        line.items_count = 1;
    }
    if (status && !body->w.out->status)
        body->w.out->status = status;
    write(body, &line);
    wr_arena_release(&arena);
}

/* ---- a whole body ---- */

/* Which compaction a request begins with, and how many messages it has. */
struct list {
    struct wr_session_view view;
    uint32_t compaction; /* 0: none */
    uint32_t count;
    uint32_t instructions_count; /* system messages it begins with, where they stand apart */
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
    if (!wr_api_of(request->dialect)->has_prompt_apart)
        return list;
    while (list.instructions_count < list.count) {
        struct message m = message_of(wr_session_view_message(&list.view, list.instructions_count));
        if (!is_from(&m, "system") && !is_from(&m, "developer"))
            break;
        list.instructions_count++;
    }
    return list;
}

/* The instructions that stand apart. */
static weir_status list_prompts(const struct list *list, struct wr_arena *arena,
                                struct wr_body_head *head)
{
    weir_span *prompts = WR_ARENA_ARRAY(arena, weir_span, list->instructions_count);
    if (!prompts)
        return wr_arena_status(arena);
    head->prompts = prompts;
    for (uint32_t i = 0; i < list->instructions_count; i++) {
        struct message m = message_of(wr_session_view_message(&list->view, i));
        if (text_of(&m).len)
            prompts[head->prompts_count++] = text_of(&m);
    }
    return WEIR_OK;
}

static weir_status list_tools(const struct wr_session *s, enum wr_session_tools with,
                              struct wr_arena *arena, struct wr_body_head *head)
{
    struct weir_tool *tools = WR_ARENA_ARRAY(arena, struct weir_tool, s->tools_count + 1);
    if (!tools)
        return wr_arena_status(arena);
    head->tools = tools;
    head->has_tools = true;
    for (uint32_t i = 0; i < s->tools_count; i++)
        tools[head->tools_count++].name = s->tools[i];
    if (with != WR_SESSION_TOOLS_WITHOUT_RECALL)
        tools[head->tools_count++].name = WR_LIT("weir_recall");
    return WEIR_OK;
}

static void begin_body(struct wr_body *body, const struct wr_session *s,
                       const struct wr_session_request *request, const struct list *list,
                       bool is_posted)
{
    uint64_t tokens_max = body->api->output_tokens_default ? ANSWER_TOKENS_MAX : 0;
    struct wr_body_head head = {.model = wr_span_of(request->model),
                                .output_tokens_max = is_posted ? tokens_max : 0,
                                .is_bare = !is_posted,
                                .has_markers = is_posted,
                                .has_marked_tools = is_posted};
    struct wr_arena arena;
    weir_status status = WEIR_OK;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    body->is_raw = true;
    if (request->with_tools)
        status = list_tools(s, request->with_tools, &arena, &head);
    if (!status && body->api->has_prompt_apart)
        status = list_prompts(list, &arena, &head);
    if (status && !body->w.out->status)
        body->w.out->status = status;
    wr_body_begin(body, &head);
    wr_arena_release(&arena);
}

static void write_from(struct wr_body *body, const struct list *list, uint32_t from)
{
    for (uint32_t i = from; i < list->count; i++)
        if (i >= list->instructions_count)
            write_message(body, wr_session_view_message(&list->view, i), wr_body_line);
}

static size_t write_body(const struct wr_session *session, const struct wr_session_request *request,
                         bool is_posted, struct wr_buf *out)
{
    struct list list = list_of(session, request);
    struct wr_body body;

    wr_body_init(&body, wr_api_of(request->dialect), out);
    begin_body(&body, session, request, &list, is_posted);
    size_t list_at = out->len;
    write_from(&body, &list, 0);
    if (is_posted && body.open_role)
        wr_body_mark(&body);
    wr_body_end(&body);
    wr_body_release(&body);
    return list_at;
}

size_t wr_session_write(const struct wr_session *session, const struct wr_session_request *request,
                        struct wr_buf *out)
{
    return write_body(session, request, false, out);
}

void wr_session_write_posted(const struct wr_session *session,
                             const struct wr_session_request *request, struct wr_buf *out)
{
    (void)write_body(session, request, true, out);
}

void wr_session_write_answer(const struct wr_json *answer, weir_dialect dialect, struct wr_buf *out)
{
    struct wr_body body;

    wr_body_init(&body, wr_api_of(dialect), out);
    body.is_raw = true;
    write_message(&body, answer, wr_body_reply);
    wr_body_release(&body);
}

/* ---- one body after the other ---- */

void wr_session_body_init(struct wr_session_body *body, const struct wr_session *session,
                          const struct wr_session_request *request)
{
    *body = (struct wr_session_body){.session = session, .request = *request};
    wr_buf_init(&body->out, WR_OUTPUT_BYTES_MAX);
    wr_body_init(&body->body, wr_api_of(request->dialect), &body->out);
}

/* Goes back to where the body that is there was still open, or to its beginning. */
static uint32_t reopen(struct wr_session_body *body, const struct list *list)
{
    bool goes_on = body->is_begun && body->compaction == list->compaction &&
                   body->written_count <= list->count && body->open_bytes <= body->out.len;
    if (goes_on) {
        body->out.len = body->open_bytes;
        body->body.w = body->writer;
        body->body.open_role = body->open_role;
        return body->written_count;
    }
    wr_buf_reset(&body->out);
    wr_json_write_init(&body->body.w, &body->out);
    begin_body(&body->body, body->session, &body->request, list, false);
    return 0;
}

weir_span wr_session_body_at(struct wr_session_body *body, uint32_t n)
{
    WR_ASSERT(n < body->session->requests_count);
    body->request.messages_count = body->session->requests[n];
    struct list list = list_of(body->session, &body->request);
    write_from(&body->body, &list, reopen(body, &list));
    body->writer = body->body.w;
    body->open_bytes = body->out.len;
    body->open_role = body->body.open_role;
    body->written_count = list.count;
    body->compaction = list.compaction;
    body->is_begun = true;
    wr_body_end(&body->body);
    return wr_buf_view(&body->out);
}

weir_status wr_session_body_status(const struct wr_session_body *body)
{
    return wr_buf_status(&body->out);
}

void wr_session_body_release(struct wr_session_body *body)
{
    wr_body_release(&body->body);
    wr_buf_release(&body->out);
}
