/* An MCP server over Streamable HTTP: each message is a POST of its own.
 *
 * The answer is one JSON text or a stream of events, each a message; the stream is left as soon as
 * ours is among them. The server may name a session, which every later request repeats. What is not
 * answered as the protocol says (a page, a refusal) is told with its status, for whoever wrote the
 * address.
 */
#include "agent/mcp_link.h"

#include <stdio.h>
#include <string.h>

#include "api/sse.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { LOOK_MS = 100, TELL_S = 10, REPLIES_MAX = 16, HEADERS_MAX = WR_AGENT_MCP_PAIRS_MAX + 4 };

struct post {
    struct wr_mcp_link *link;
    struct wr_fetch *fetch; /* NULL: it is over */
    struct wr_sse events;
    struct wr_buf body; /* of what is no stream */
    bool is_stream;
    int status;
    enum wr_fetch_result result;
    char why[256];
    uv_timer_t timer;
    uint64_t until_ms; /* of the loop's clock */
    bool is_late, is_too_long, is_timer_closed;
};

static void keep_header(char *into, size_t bytes_max, weir_span value)
{
    if (value.len && value.len < bytes_max)
        (void)snprintf(into, bytes_max, "%.*s", (int)value.len, value.ptr);
}

static void on_head(void *user, const struct wr_head *head)
{
    struct post *p = user;

    p->status = head->status;
    p->is_stream = head->status == 200 &&
                   wr_span_starts(wr_head_find(head, "content-type"), WR_LIT("text/event-stream"));
    keep_header(p->link->session, sizeof(p->link->session), wr_head_find(head, "mcp-session-id"));
}

static bool on_data(void *user, weir_span bytes)
{
    struct post *p = user;

    if (p->is_stream)
        wr_sse_feed(&p->events, bytes);
    else
        wr_buf_append(&p->body, bytes);
    p->is_too_long = wr_buf_status(&p->body) != WEIR_OK;
    if (p->is_too_long)
        uv_stop(&p->link->client->loop);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct post *p = user;

    p->fetch = NULL;
    p->result = result;
    (void)snprintf(p->why, sizeof(p->why), "%s", why ? why : "");
    uv_stop(&p->link->client->loop);
}

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct post *p = user;

    if (event->data.len)
        wr_mcp_link_take(p->link, event->data);
    if (p->link->has_answer)
        uv_stop(&p->link->client->loop);
}

static void on_timer(uv_timer_t *timer)
{
    struct post *p = timer->data;

    p->is_late = uv_now(timer->loop) >= p->until_ms;
    uv_stop(timer->loop);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct post *p = handle->data;
    p->is_timer_closed = true;
}

static size_t put_headers(const struct wr_mcp_link *link, struct wr_header headers[HEADERS_MAX])
{
    size_t count = 0;

    headers[count++] = (struct wr_header){WR_LIT("content-type"), WR_LIT("application/json")};
    headers[count++] =
        (struct wr_header){WR_LIT("accept"), WR_LIT("application/json, text/event-stream")};
    if (link->session[0])
        headers[count++] = (struct wr_header){WR_LIT("mcp-session-id"), wr_span_of(link->session)};
    if (link->version[0])
        headers[count++] =
            (struct wr_header){WR_LIT("mcp-protocol-version"), wr_span_of(link->version)};
    for (size_t i = 0; i < link->setting->pairs_count; i++)
        headers[count++] = (struct wr_header){wr_span_of(link->setting->pairs[i].name),
                                              wr_span_of(link->setting->pairs[i].value)};
    return count;
}

/* Until it is over, too late, or interrupted; keys and signals are watched on the same loop. */
static void wait_for_end(struct post *p, uint64_t timeout_s)
{
    uv_loop_t *loop = &p->link->client->loop;

    uv_update_time(loop);
    p->until_ms = uv_now(loop) + timeout_s * 1000;
    (void)uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    (void)uv_timer_start(&p->timer, on_timer, LOOK_MS, LOOK_MS);
    while (p->fetch && !p->is_late && !p->is_too_long &&
           !(p->link->wanted && p->link->has_answer) && !wr_mcp_link_is_interrupted(p->link))
        (void)uv_run(loop, UV_RUN_ONCE);
    if (p->fetch)
        wr_fetch_cancel(p->fetch);
    uv_close((uv_handle_t *)&p->timer, on_timer_closed);
    while (!p->is_timer_closed)
        (void)uv_run(loop, UV_RUN_ONCE);
}

static void tell_failure(struct post *p, uint64_t timeout_s)
{
    struct wr_mcp_link *link = p->link;
    struct wr_buf said;

    wr_buf_init(&said, 4096);
    wr_text_one_line_max(&said, wr_text_head(wr_buf_view(&p->body), 800), 160);
    if (p->is_late)
        (void)snprintf(link->why, sizeof(link->why), "no answer came for %llu s",
                       (unsigned long long)timeout_s);
    else if (p->is_too_long)
        (void)snprintf(link->why, sizeof(link->why), "it answered with more than %d bytes",
                       WR_AGENT_MCP_BYTES_MAX);
    else if (p->fetch)
        (void)snprintf(link->why, sizeof(link->why), "the user interrupted");
    else if (p->result != WR_FETCH_DONE)
        (void)snprintf(link->why, sizeof(link->why), "%s", p->why);
    else if (p->status < 200 || p->status > 299)
        (void)snprintf(link->why, sizeof(link->why), "it answered %d%s%.*s", p->status,
                       said.len ? ": " : "", (int)said.len, said.len ? said.bytes : "");
    else
        (void)snprintf(link->why, sizeof(link->why), "it gave no answer to this request");
    wr_buf_release(&said);
    if (p->status == 404)
        link->is_open = false; /* the session that it named is over: the next call begins anew */
}

/* True: the connection was an old one, and a fresh one may do better. */
static bool post_once(struct wr_mcp_link *link, weir_span message, uint64_t timeout_s,
                      bool is_fresh)
{
    struct wr_header headers[HEADERS_MAX];
    struct wr_fetch_events events = {on_head, on_data, on_end, NULL};
    struct post p = {.link = link};
    struct weir_err err = {0};
    struct wr_fetch_request request = {.url = link->setting->url,
                                       .method = WR_LIT("POST"),
                                       .headers = headers,
                                       .has_body = true,
                                       .body = message,
                                       .content_bytes = (int64_t)message.len,
                                       .is_fresh = is_fresh,
                                       .proxy = wr_fetch_proxy(NULL, link->setting->url)};

    request.headers_count = put_headers(link, headers);
    wr_sse_init(&p.events, WR_AGENT_MCP_BYTES_MAX, on_event, &p);
    wr_buf_init(&p.body, WR_AGENT_MCP_BYTES_MAX);
    if (wr_fetch_start(&p.fetch, link->client->fetcher, &request, &events, &p, &err)) {
        (void)snprintf(link->why, sizeof(link->why), "%s", err.text);
    } else {
        wait_for_end(&p, timeout_s);
        if (!p.is_stream && p.status == 200 && p.body.len && !p.is_too_long)
            wr_mcp_link_take(link, wr_buf_view(&p.body));
        if (link->wanted && !link->has_answer)
            tell_failure(&p, timeout_s);
    }
    wr_sse_release(&p.events);
    wr_buf_release(&p.body);
    return p.result == WR_FETCH_STALE && !is_fresh;
}

static void post_message(struct wr_mcp_link *link, weir_span message, uint64_t timeout_s)
{
    if (post_once(link, message, timeout_s, false))
        (void)post_once(link, message, timeout_s, true);
}

/* Answers to the server's own requests are posted behind ours. A server that asks again in each
 * answer would be answered for ever: behind so many it waits for our next message in vain. */
void wr_mcp_http_run(struct wr_mcp_link *link, uint64_t timeout_s)
{
    size_t posted = 0;

    while (link->going.len) {
        struct wr_buf message = link->going;
        wr_buf_init(&link->going, WR_AGENT_MCP_BYTES_MAX);
        weir_span rest = wr_buf_view(&message), line;
        while (wr_span_line(&rest, &line) && posted++ <= REPLIES_MAX &&
               (timeout_s || !wr_mcp_link_is_interrupted(link))) {
            post_message(link, line, timeout_s ? timeout_s : TELL_S);
            link->wanted = timeout_s ? 0 : link->wanted;
            timeout_s = 0;
        }
        wr_buf_release(&message);
    }
}

/* The server may forget the session. */
void wr_mcp_http_close(struct wr_mcp_link *link)
{
    link->session[0] = link->version[0] = '\0';
}
