#include "proxy/mcp_page.h"

#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "mcp/server.h"
#include "proxy/mcp_record.h"
#include "proxy/page_call.h"
#include "proxy/pages.h"

struct wr_mcp_page {
    struct wr_page_desk desk;
    struct wr_service *service;
    struct wr_mcp *server; /* owned; used under the desk's lock */
};

/* What a call is about, in its arena. */
struct message {
    struct wr_mcp_headers headers;
    bool wants_events;
    struct wr_mcp_answer told; /* without its text */
};

static wr_page_work_fn work;
static wr_page_over_fn over;

struct wr_mcp_page *wr_mcp_page_new(uv_loop_t *loop, const struct wr_config *config,
                                    struct wr_service *service)
{
    struct wr_mcp_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    *page = (struct wr_mcp_page){.service = service,
                                 .desk = {.calls_max = WR_MCP_CALLS_MAX,
                                          .body_bytes_max = WR_MCP_BODY_BYTES_MAX,
                                          .answer_bytes_max = WR_MCP_ANSWER_BYTES_MAX + 64,
                                          .work = work,
                                          .over = over,
                                          .user = page}};
    if (wr_mcp_new(&page->server, config->store_dir) || !wr_page_desk_init(&page->desk, loop)) {
        wr_mcp_free(page->server);
        free(page);
        return NULL;
    }
    return page;
}

void wr_mcp_page_free(struct wr_mcp_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    wr_mcp_free(page->server);
    free(page);
}

bool wr_mcp_page_is(weir_span target)
{
    return wr_span_is(target, "/mcp") || wr_span_starts(target, WR_LIT("/mcp?"));
}

/* ---- how to ask ---- */

/* The words of a list of types, their parameters aside. */
static bool accepts(weir_span value, const char *type, const char *range)
{
    while (value.len) {
        const char *comma = memchr(value.ptr, ',', value.len);
        size_t bytes = comma ? (size_t)(comma - value.ptr) : value.len;
        weir_span word = wr_span_cut(value, 0, bytes);
        const char *semicolon = memchr(word.ptr, ';', word.len);
        if (semicolon)
            word.len = (size_t)(semicolon - word.ptr);
        word = wr_span_trim(word);
        if (wr_span_is(word, "*/*") || wr_span_is(word, range) ||
            (word.len == strlen(type) && !strncasecmp(word.ptr, type, word.len)))
            return true;
        value = wr_span_cut(value, bytes + (comma ? 1 : 0), value.len);
    }
    return false;
}

struct refusal {
    int status;
    const char *why; /* NULL: it may go on */
};

static struct refusal judge(const struct wr_head *head)
{
    weir_span accept = wr_head_find(head, "accept");
    weir_span coding = wr_head_find(head, "content-encoding");

    if (!wr_span_is(head->method, "POST"))
        return (struct refusal){405, "MCP is spoken with POST; there is no stream to GET"};
    if (!accepts(wr_head_find(head, "content-type"), "application/json", "application/json"))
        return (struct refusal){415, "the Content-Type of a message is application/json"};
    if (coding.len && !wr_span_is(coding, "identity"))
        return (struct refusal){415, "messages are not compressed"};
    if (accept.len && !accepts(accept, "application/json", "application/*") &&
        !accepts(accept, "text/event-stream", "text/*"))
        return (struct refusal){406, "the answer is application/json or text/event-stream"};
    return (struct refusal){0, NULL};
}

/* A refusal of the method says which there is. */
static void refuse(struct wr_conn *conn, int status, const char *why)
{
    struct wr_header allow = {WR_LIT("Allow"), WR_LIT("POST")};
    struct wr_answer answer = {.status = 405, .headers = &allow, .headers_count = 1};

    if (status != 405) {
        wr_page_error(conn, WR_API_NONE, status, why);
        return;
    }
    wr_conn_begin(conn, &answer);
    wr_conn_end(conn);
}

/* ---- one call ---- */

/* On a thread. */
static void work(struct wr_page_call *call)
{
    struct wr_mcp_page *page = call->desk->user;
    struct message *message = call->user;
    struct wr_mcp_peer peer = {.headers = message ? &message->headers : NULL};
    struct wr_mcp_answer answer;

    wr_mcp_answer(page->server, wr_span_of(call->tenant), &peer, wr_buf_view(&call->body), &answer);
    call->status = answer.http_status;
    if (message)
        message->told = answer;
    if (!message || !message->wants_events || !answer.message.len) {
        wr_buf_append(&call->answer, answer.message);
        return;
    }
    call->type = WR_LIT("text/event-stream");
    wr_buf_text(&call->answer, "event: message\ndata: ");
    wr_buf_append(&call->answer, answer.message);
    wr_buf_text(&call->answer, "\n\n");
}

/* A line of the log, and figures; no word of what was asked or answered. */
static void over(struct wr_page_call *call)
{
    struct wr_service *service = ((struct wr_mcp_page *)call->desk->user)->service;
    const struct message *message = call->user;
    struct wr_mcp_record r = {.number = ++service->requests_count,
                              .started_ms = call->started_ms,
                              .total_us = wr_clock_steady_us() - call->started_us,
                              .tenant = wr_span_of(call->tenant),
                              .run = wr_span_of(call->run),
                              .agent = call->agent,
                              .status = call->conn ? call->status : 0,
                              .request_bytes = call->body.len,
                              .answer_bytes = call->answer.len,
                              .told = message ? &message->told : NULL};

    if (!r.told)
        return;
    wr_metrics_count_mcp(service->metrics, r.told);
    wr_buf_reset(&service->line);
    wr_mcp_record_write(&r, &service->line);
    if (service->log && !wr_buf_status(&service->line))
        wr_log_add(service->log, wr_buf_view(&service->line));
}

void *wr_mcp_page_begin(struct wr_mcp_page *page, struct wr_conn *conn, const struct wr_head *head,
                        const struct wr_entry *entry)
{
    struct refusal refusal = judge(head);
    weir_span accept = wr_head_find(head, "accept");

    if (refusal.why) {
        atomic_fetch_add(&page->service->metrics->requests_refused, 1);
        refuse(conn, refusal.status, refusal.why);
        return NULL;
    }
    struct wr_page_call *call = wr_page_call_begin(&page->desk, conn, head, entry);
    struct message *message = call ? wr_arena_zalloc(&call->arena, sizeof(*message)) : NULL;
    if (!message)
        return call;
    message->wants_events = accept.len && !accepts(accept, "application/json", "application/*");
    message->headers.version = wr_page_call_header(call, head, "mcp-protocol-version");
    message->headers.method = wr_page_call_header(call, head, "mcp-method");
    message->headers.name = wr_page_call_header(call, head, "mcp-name");
    call->user = message;
    return call;
}
