/* /mcp: the MCP server over HTTP. The head is judged here (method, types), the message by
 * mcp/server.c on a thread, and when it is answered a line goes to the log and figures to the
 * metrics.
 *
 * The answer is one JSON object. A client that only takes text/event-stream gets the same object
 * as one event; there is no stream that goes on, because nothing here ever speaks first.
 */
#include "proxy/mcp_page.h"

#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "mcp/server.h"
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

static wr_page_work_fn answer_call;
static wr_page_over_fn on_call_over;

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
                                          .work = answer_call,
                                          .over = on_call_over,
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
static bool lists_type(weir_span value, const char *type, const char *range)
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

static struct refusal judge_head(const struct wr_head *head)
{
    weir_span accept = wr_head_find(head, "accept");
    weir_span coding = wr_head_find(head, "content-encoding");

    if (!wr_span_is(head->method, "POST"))
        return (struct refusal){405, "MCP is spoken with POST; there is no stream to GET"};
    if (!lists_type(wr_head_find(head, "content-type"), "application/json", "application/json"))
        return (struct refusal){415, "the Content-Type of a message is application/json"};
    if (coding.len && !wr_span_is(coding, "identity"))
        return (struct refusal){415, "messages are not compressed"};
    if (accept.len && !lists_type(accept, "application/json", "application/*") &&
        !lists_type(accept, "text/event-stream", "text/*"))
        return (struct refusal){406, "the answer is application/json or text/event-stream"};
    return (struct refusal){0, NULL};
}

/* A refusal of the method says which there is. */
static void refuse_call(struct wr_conn *conn, int status, const char *why)
{
    struct wr_header allow = {WR_LIT("Allow"), WR_LIT("POST")};
    struct wr_answer answer = {.status = 405, .headers = &allow, .headers_count = 1};

    if (status != 405) {
        wr_page_error(conn, NULL, status, why);
        return;
    }
    wr_conn_begin(conn, &answer);
    wr_conn_end(conn);
}

/* ---- one call ---- */

/* On a thread. */
static void answer_call(struct wr_page_call *call)
{
    struct wr_mcp_page *page = call->desk->user;
    struct message *message = call->user;
    struct wr_mcp_peer peer = {.headers = message ? &message->headers : NULL};
    struct wr_mcp_answer answer;

    wr_mcp_answer(page->server, wr_span_of(call->tenant), &peer, wr_buf_view(&call->body), &answer);
    call->status = answer.http_status;
    (void)snprintf(call->subject, sizeof(call->subject), "%.*s", (int)answer.subject.len,
                   answer.subject.len ? answer.subject.ptr : "");
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

/* The line of the log (docs/telemetry.md): sizes, times and words of ours, never what was asked or
 * answered. */
static void write_call_line(const struct wr_page_call *call, const struct wr_mcp_answer *told,
                            uint64_t number, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_number(&w, "time_ms", (uint64_t)call->started_ms);
    wr_json_member_number(&w, "request", number);
    wr_json_member_text(&w, "api", WR_LIT("mcp"));
    wr_json_member_text(&w, "path", WR_LIT("/mcp"));
    wr_json_member_text(&w, "tenant", wr_span_of(call->tenant));
    wr_json_member_text(&w, "agent", wr_span_of(call->agent));
    if (call->run[0])
        wr_json_member_text(&w, "run", wr_span_of(call->run));
    wr_json_member_number(&w, "status", call->conn ? (uint64_t)call->status : 0);
    wr_json_member_text(&w, "end",
                        call->conn && call->status ? WR_LIT("done") : WR_LIT("client_gone"));
    wr_json_member_number(&w, "body_bytes_received", call->body.len);
    wr_json_member_number(&w, "answer_bytes", call->answer.len);
    wr_json_member_number(&w, "total_us", wr_clock_steady_us() - call->started_us);
    wr_json_member_text(&w, "mcp_method", wr_span_of(told->method));
    if (told->tool)
        wr_json_member_text(&w, "mcp_tool", wr_span_of(told->tool));
    wr_json_member_text(&w, "mcp_result", wr_span_of(wr_mcp_result_name(told)));
    if (told->miss)
        wr_json_member_text(&w, "mcp_miss", wr_span_of(wr_mcp_miss_name(told->miss)));
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

/* What a tool has changed, or was to. */
static void note_act(const struct wr_page_call *call, const struct wr_mcp_answer *told)
{
    struct wr_service *service = ((struct wr_mcp_page *)call->desk->user)->service;
    char act[64];

    if (!told->act)
        return;
    (void)snprintf(act, sizeof(act), "mcp.%s", told->act);
    wr_audit_note(service->audit, &(struct wr_act){.act = act,
                                                   .user = call->who,
                                                   .tenant = call->tenant,
                                                   .subject = call->subject,
                                                   .status = call->status,
                                                   .is_refused = !told->has_acted});
}

static void on_call_over(struct wr_page_call *call)
{
    struct wr_service *service = ((struct wr_mcp_page *)call->desk->user)->service;
    const struct message *message = call->user;

    service->requests_count++;
    if (!message)
        return;
    wr_metrics_count_mcp(service->metrics, &message->told);
    note_act(call, &message->told);
    wr_buf_reset(&service->line);
    write_call_line(call, &message->told, service->requests_count, &service->line);
    if (service->log && !wr_buf_status(&service->line))
        wr_log_add(service->log, wr_buf_view(&service->line));
}

void *wr_mcp_page_begin(struct wr_mcp_page *page, struct wr_conn *conn, const struct wr_head *head,
                        const struct wr_entry *entry)
{
    struct refusal refusal = judge_head(head);
    weir_span accept = wr_head_find(head, "accept");

    if (refusal.why) {
        atomic_fetch_add(&page->service->metrics->requests_refused, 1);
        refuse_call(conn, refusal.status, refusal.why);
        return NULL;
    }
    struct wr_page_call *call = wr_page_call_begin(&page->desk, conn, head, entry);
    struct message *message = call ? wr_arena_zalloc(&call->arena, sizeof(*message)) : NULL;
    if (!message)
        return call;
    message->wants_events = accept.len && !lists_type(accept, "application/json", "application/*");
    message->headers.version = wr_page_call_header(call, head, "mcp-protocol-version");
    message->headers.method = wr_page_call_header(call, head, "mcp-method");
    message->headers.name = wr_page_call_header(call, head, "mcp-name");
    call->user = message;
    return call;
}
