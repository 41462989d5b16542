/* A session read from lines of messages, and what its n-th request consisted of: the messages
 * before the n-th answer or, where the host compacted, what the compaction left and the messages
 * since. Bodies are written elsewhere (session_write.c). */
#include "lab/session.h"

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
