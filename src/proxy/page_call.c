/* A call of a path of our own: its body is collected on the loop, answered on one of libuv's
 * threads, and sent on the loop.
 *
 *   begin ──▶ body ──▶ body_end ──▶ on_thread ──▶ on_worked: `over`, answer, free
 *               └── too long: 413      └── the client is gone: worked on to the end, then freed
 *
 * Two may hold a call, the client's connection and the thread. Whoever lets go last frees it:
 * on_gone() while nothing is worked on, on_worked() otherwise.
 */
#include "proxy/page_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "proxy/door.h"
#include "proxy/pages.h"

bool wr_page_desk_init(struct wr_page_desk *desk, uv_loop_t *loop)
{
    desk->loop = loop;
    desk->calls_count = 0;
    return !uv_mutex_init(&desk->lock);
}

void wr_page_desk_release(struct wr_page_desk *desk)
{
    uv_mutex_destroy(&desk->lock);
}

static void free_call(struct wr_page_call *call)
{
    call->desk->calls_count--;
    wr_buf_release(&call->body);
    wr_buf_release(&call->answer);
    wr_arena_release(&call->arena);
    free(call);
}

static void refuse_call(struct wr_page_call *call, int status, const char *why)
{
    struct wr_conn *conn = call->conn;
    free_call(call);
    wr_page_error(conn, NULL, status, why);
}

/* ---- working ---- */

static void on_thread(uv_work_t *request)
{
    struct wr_page_call *call = request->data;

    uv_mutex_lock(&call->desk->lock);
    call->desk->work(call);
    uv_mutex_unlock(&call->desk->lock);
}

static void send_answer(struct wr_page_call *call)
{
    weir_span body = wr_buf_view(&call->answer);
    struct wr_header headers[] = {{WR_LIT("Content-Type"), call->type},
                                  {WR_LIT("Cache-Control"), WR_LIT("no-store")},
                                  {WR_LIT("X-Accel-Buffering"), WR_LIT("no")},
                                  {WR_LIT("X-Content-Type-Options"), WR_LIT("nosniff")}};
    struct wr_answer answer = {.status = call->status,
                               .headers = headers,
                               .headers_count = body.len ? 4 : 0,
                               .content_bytes = (int64_t)body.len};

    wr_conn_begin(call->conn, &answer);
    wr_conn_write(call->conn, body);
    wr_conn_end(call->conn);
}

static void note_act(const struct wr_page_call *call)
{
    const char *query = memchr(call->target.ptr, '?', call->target.len);
    weir_span path =
        wr_span_cut(call->target, 0, query ? (size_t)(query - call->target.ptr) : call->target.len);
    const char *slash = wr_os_last_byte(path.ptr, '/', path.len);
    weir_span last = slash ? wr_span_from(path, (size_t)(slash - path.ptr) + 1) : path;
    char act[64];

    if (!call->desk->audit || wr_span_is(call->method, "GET") || wr_span_is(call->method, "HEAD"))
        return;
    (void)snprintf(act, sizeof(act), "%s.%.*s", call->desk->audit_name, (int)last.len, last.ptr);
    wr_audit_note(call->desk->audit, &(struct wr_act){.act = act,
                                                      .user = call->who,
                                                      .tenant = call->tenant,
                                                      .subject = call->subject,
                                                      .status = call->status,
                                                      .is_refused = call->has_changed_nothing});
}

static void on_worked(uv_work_t *request, int status)
{
    struct wr_page_call *call = request->data;

    call->is_working = false;
    if (!status) /* also what cannot be told has been done */
        note_act(call);
    if (call->conn && (status || wr_buf_status(&call->answer))) {
        refuse_call(call, 503, "out of memory");
        return;
    }
    if (call->desk->over)
        call->desk->over(call);
    if (call->conn)
        send_answer(call);
    free_call(call);
}

/* ---- the request ---- */

static void on_body(void *user, weir_span bytes)
{
    struct wr_page_call *call = user;

    wr_buf_append(&call->body, bytes);
    weir_status status = wr_buf_status(&call->body);
    if (status == WEIR_LIMIT)
        refuse_call(call, 413, "the body is too long");
    else if (status)
        refuse_call(call, 503, "out of memory");
}

static void on_body_end(void *user)
{
    struct wr_page_call *call = user;

    call->request.data = call;
    call->is_working = !uv_queue_work(call->desk->loop, &call->request, on_thread, on_worked);
    if (!call->is_working)
        refuse_call(call, 503, "out of memory");
}

static void on_room(void *user)
{
    (void)user;
}

static void on_gone(void *user)
{
    struct wr_page_call *call = user;
    call->conn = NULL;
    if (!call->is_working)
        free_call(call);
}

/* `begin` and `refused` are the server's own handler's. */
static const struct wr_server_handler call_handler = {NULL,    on_body, on_body_end, on_room,
                                                      on_gone, NULL,    NULL};

weir_span wr_page_call_header(struct wr_page_call *call, const struct wr_head *head,
                              const char *name)
{
    weir_span value = wr_head_find(head, name);
    return value.ptr ? wr_arena_copy(&call->arena, value) : value;
}

static const char *refusal_of(const struct wr_page_desk *desk, const struct wr_head *head,
                              int *status)
{
    if (head->content_bytes > (int64_t)desk->body_bytes_max) {
        *status = 413;
        return "the body is too long";
    }
    *status = 503;
    return desk->calls_count >= desk->calls_max ? "too many calls at once; try again" : NULL;
}

struct wr_page_call *wr_page_call_begin(struct wr_page_desk *desk, struct wr_conn *conn,
                                        const struct wr_head *head, const struct wr_entry *entry)
{
    int status;
    const char *why = refusal_of(desk, head, &status);
    struct wr_page_call *call = why ? NULL : calloc(1, sizeof(*call));

    if (!call) {
        wr_page_error(conn, NULL, status, why ? why : "out of memory");
        return NULL;
    }
    desk->calls_count++;
    *call = (struct wr_page_call){.desk = desk, .conn = conn, .type = WR_LIT("application/json")};
    (void)snprintf(call->tenant, sizeof(call->tenant), "%s", entry->tenant);
    (void)snprintf(call->run, sizeof(call->run), "%s", entry->run);
    call->who = entry->user;
    call->agent = wr_agent_name(head);
    call->started_us = wr_clock_steady_us();
    call->started_ms = wr_clock_ms();
    wr_arena_init(&call->arena, 2 * (WR_NET_HEAD_BYTES_MAX + WR_ARENA_CHUNK_BYTES));
    wr_buf_init(&call->body, desk->body_bytes_max);
    wr_buf_init(&call->answer, desk->answer_bytes_max);
    call->method = wr_arena_copy(&call->arena, head->method);
    call->target = wr_arena_copy(&call->arena, entry->target);
    if (wr_arena_status(&call->arena)) {
        refuse_call(call, 503, "out of memory");
        return NULL;
    }
    wr_conn_hand_over(conn, &call_handler);
    return call;
}
