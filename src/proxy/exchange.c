/* exchange.c -- one request and its answer (exchange.h draws the states).
 *
 * In the order of the file: the body comes in, is projected, and leaves; the answer passes; what
 * happened is told. A refusal may lead to a second try (leave.c). Two things run beside each
 * other and may end in any order, the task on its thread and the fetch on the loop. So the state is
 * of what the client waits for, and `task_state` of the thread.
 */
#include "proxy/exchange.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/span.h"
#include "proxy/audit.h"
#include "proxy/call_page.h"
#include "proxy/counts.h"
#include "proxy/credential.h"
#include "proxy/door.h"
#include "proxy/exchange_inside.h"
#include "proxy/mcp_page.h"
#include "proxy/pages.h"
#include "proxy/sidecar.h"
#include "proxy/steer_page.h"
#include "proxy/tell.h"
#include "proxy/traffic_page.h"

enum {
    URL_BYTES_MAX = WR_NET_HEAD_BYTES_MAX + 4096,
    DEADLINE_TICK_MS = 50,
    BELIEVED_BYTES_MAX = 1024 * 1024,
    SPARE_BYTES = 128 * 1024,    /* what a socket may bring before it is heard that we wait */
    PLACE_BYTES_MIN = 64 * 1024, /* less room is not worth a read of its own */
};

static const struct wr_fetch_events fetch_events;
static void unlink_waiting(struct wr_exchange *ex);

/* With every mode off nothing is read. */
static bool wants_reading(const struct wr_exchange *ex)
{
    const struct wr_config *config = ex->config;
    return ex->route.api && !ex->route.is_signed &&
           (config->mode != WR_MODE_OFF || config->rules_count || ex->admission.state) &&
           ex->head->content_bytes <= WR_NET_BODY_BYTES_MAX;
}

/* ---- the request ---- */

/* Who asks whom. */
static void begin_record(struct wr_exchange *ex, const char *agent, int64_t started_ms)
{
    const struct wr_route *route = &ex->route;
    struct wr_record *r = &ex->record;

    wr_record_init(r);
    r->time_ms = started_ms;
    r->api = route->api;
    r->asks_model = route->is_answer;
    r->upstream = wr_span_of(route->upstream->name);
    r->base_url = route->upstream->base_url;
    r->provider = wr_word_of(wr_credential_provider(route->upstream, route->api));
    r->path = wr_word_of(route->path);
    r->tenant = wr_span_of(ex->entry.tenant);
    if (ex->entry.user) {
        r->user = wr_span_of(ex->entry.user->name);
        r->team = wr_span_of(ex->entry.user->team);
    }
    r->agent = wr_span_of(agent);
    r->run = wr_span_of(ex->entry.run);
    if (wr_otel_is_on(&ex->config->otel))
        wr_otel_begin(ex->service->otel, ex->head, &r->trace);
}

/* Whether its body may have to be signed: here, or at another place of the upstream. */
static bool may_be_signed(const struct wr_upstream *upstream)
{
    bool is_signed = upstream->aws != NULL;

    for (size_t i = 0; i < upstream->places_count; i++)
        is_signed |= upstream->places[i].aws != NULL;
    return is_signed;
}

/* What is not read is streamed, but for small bodies: whole, they can be sent again where a kept
 * connection turns out to be dead. */
static void choose_upload(struct wr_exchange *ex)
{
    const struct wr_head *head = ex->head;

    if (may_be_signed(ex->route.upstream) || ex->admission.state) /* its hash, its cost are asked */
        return;
    if (!wants_reading(ex) && head->is_chunked)
        ex->upload = WR_UPLOAD_STREAMED;
    else if (!wants_reading(ex) && head->content_bytes > WR_NET_QUEUED_BYTES_MAX)
        ex->upload = head->content_bytes <= WR_NET_REPLAYED_BYTES_MAX ? WR_UPLOAD_REPLAYED
                                                                      : WR_UPLOAD_STREAMED;
}

static void keep_header(char *text, size_t text_bytes, const struct wr_head *head, const char *name)
{
    weir_span value = wr_head_find(head, name);
    (void)snprintf(text, text_bytes, "%.*s", (int)value.len, value.len ? value.ptr : "");
}

/* Figures of all are the operator's: who reads them is noted now and then, and who may not. So is
 * who is refused at the page. */
static void note_entry(const struct wr_service *service, const struct wr_entry *entry)
{
    struct wr_act act = {
        .act = "metrics", .tenant = entry->status ? "unknown" : NULL, .status = entry->status};

    if (entry->status && wr_span_is(wr_target_path(entry->target), WR_DOOR_LOGIN))
        act.act = "login";
    else if (!wr_span_starts(entry->target, WR_LIT("/metrics")))
        return;
    wr_audit_note_often(service->audit, &act);
}

/* What is asked of the program itself, and not of a provider: a page begins it. */
static bool begin_page(struct wr_service *service, struct wr_conn *conn, const struct wr_head *head,
                       const struct wr_entry *entry, void **begun)
{
    weir_span target = entry->target;

    if (!wr_door_may_be_ours(target))
        return false;
    if (wr_sidecar_page_is(target))
        *begun = wr_sidecar_page_begin(service->sidecar, conn, head, entry);
    else if (wr_traffic_page_is(target))
        *begun = wr_traffic_page_begin(service->traffic, conn, head, entry);
    else if (wr_steer_page_is(target))
        *begun = wr_steer_page_begin(service->steer, service->config, conn, head, entry);
    else if (wr_call_page_is(target))
        *begun = wr_call_page_begin(service->calls, service->config, conn, head, entry);
    else if (wr_mcp_page_is(target))
        *begun = wr_mcp_page_begin(service->mcp, conn, head, entry);
    else
        return false;
    return true;
}

static bool may_show_key(const struct wr_config *config, const struct wr_head *head,
                         const struct wr_route *route)
{
    return !wr_config_wants_token(config) || !wr_upstream_shows_key(route->upstream) ||
           wr_key_paths_allow(&config->key_paths, head, route->target, route->api != NULL);
}

static void *on_begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct wr_service *service = user;
    struct wr_entry entry = wr_door_enter(service->config, head);
    bool is_barred = entry.status || head->is_upgrade;
    void *page = NULL;

    if (!is_barred && begin_page(service, conn, head, &entry, &page))
        return page;
    if (is_barred || wr_page_is_ours(entry.target) ||
        wr_door_is_open(service->config, head, entry.target)) {
        atomic_fetch_add(&service->metrics->requests_refused, is_barred);
        note_entry(service, &entry);
        wr_page_answer(service, conn, head, &entry);
        return NULL;
    }
    struct wr_exchange *ex = calloc(1, sizeof(*ex));
    struct wr_route route = wr_route_find(service->config, head, entry.target);
    if (!ex || !route.upstream) {
        free(ex);
        atomic_fetch_add(&service->metrics->requests_refused, 1);
        wr_page_not_begun(conn, service->config, &route);
        return NULL;
    }
    bool wants_key = entry.is_shown_as_key && !wr_upstream_has_key(route.upstream);
    if (wants_key || !may_show_key(service->config, head, &route)) {
        free(ex);
        atomic_fetch_add(&service->metrics->requests_refused, 1);
        if (wants_key)
            wr_page_no_key(conn, &route);
        else
            wr_page_other_path(conn, &route);
        return NULL;
    }
    *ex = (struct wr_exchange){.service = service,
                               .config = service->config,
                               .conn = conn,
                               .head = head,
                               .route = route,
                               .entry = entry,
                               .started_us = wr_clock_steady_us()};
    begin_record(ex, wr_agent_name(head), wr_clock_ms());
    keep_header(ex->mode, sizeof(ex->mode), head, "x-weir-mode");
    keep_header(ex->policy, sizeof(ex->policy), head, "x-weir-policy");
    keep_header(ex->recall, sizeof(ex->recall), head, "x-weir-recall");
    wr_buf_init(&ex->body, WR_NET_BODY_BYTES_MAX + WR_NET_QUEUED_BYTES_MAX * 2);
    wr_buf_init(&ex->path, URL_BYTES_MAX);
    if (route.api) {
        wr_buf_append(&ex->path, route.target);
        wr_buf_byte(&ex->path, '\0');
    }
    atomic_fetch_add(service->exchanges_open, 1);
    wr_admit_begin(ex);
    choose_upload(ex);
    if (ex->upload != WR_UPLOAD_WHOLE && !wr_exchange_ask(ex, (weir_span){"", 0}))
        return NULL;
    return ex;
}

/* The body itself, as far as there is room: what lies behind it belongs to the next request. */
static char *body_place(void *user, size_t *bytes_max)
{
    struct wr_exchange *ex = user;
    struct wr_buf *body = &ex->body;
    size_t room = body->cap - body->len;

    if (ex->upload != WR_UPLOAD_WHOLE || ex->head->is_chunked || wr_buf_status(body) ||
        ex->head->content_bytes <= (int64_t)body->len)
        return NULL;
    size_t left = (size_t)ex->head->content_bytes - body->len;
    *bytes_max = left < room ? left : room;
    return *bytes_max == left || room >= PLACE_BYTES_MIN ? body->bytes + body->len : NULL;
}

static void on_body(void *user, weir_span bytes)
{
    struct wr_exchange *ex = user;
    int64_t announced_bytes = ex->head->content_bytes;

    /* What is announced is made room for at once, but no more than is harmless to believe. */
    if (!ex->record.received_bytes && ex->upload == WR_UPLOAD_WHOLE && announced_bytes > 0)
        (void)wr_buf_try_reserve(&ex->body, announced_bytes < BELIEVED_BYTES_MAX
                                                ? (size_t)announced_bytes
                                                : BELIEVED_BYTES_MAX);
    ex->record.received_bytes += bytes.len;
    if (ex->body.bytes && bytes.ptr == ex->body.bytes + ex->body.len)
        ex->body.len += bytes.len; /* it was put there */
    else
        wr_buf_append(&ex->body, bytes);
    if (wr_buf_status(&ex->body)) {
        struct wr_fetch *fetch = ex->fetch;
        ex->fetch = NULL;
        if (fetch)
            wr_fetch_cancel(fetch);
        wr_exchange_fail(ex, 503, "no_memory", "out of memory");
        return;
    }
    /* What finds no room in memory passes unread, as what is too long does (law L6). */
    bool is_full = ex->upload == WR_UPLOAD_WHOLE &&
                   (int64_t)ex->record.received_bytes != announced_bytes &&
                   !wr_buf_try_reserve(&ex->body, SPARE_BYTES);
    if (is_full || (ex->upload == WR_UPLOAD_WHOLE && ex->body.len > WR_NET_BODY_BYTES_MAX)) {
        if (may_be_signed(ex->route.upstream) || ex->admission.state) {
            wr_exchange_fail(ex, 413, "too_long_to_sign",
                             "Weir signs this request, or counts it for a budget, and cannot do so "
                             "with one this long");
            return;
        }
        ex->upload = WR_UPLOAD_STREAMED;
        if (!wr_exchange_ask(ex, (weir_span){"", 0}))
            return;
    }
    if (ex->upload == WR_UPLOAD_WHOLE || !ex->conn)
        return;
    if (is_full || ex->body.len - ex->body_taken_bytes > WR_NET_QUEUED_BYTES_MAX) {
        ex->is_upload_paused = true;
        wr_conn_pause(ex->conn);
    }
    if (ex->fetch)
        wr_fetch_resume_body(ex->fetch);
}

static void on_body_end(void *user)
{
    struct wr_exchange *ex = user;

    ex->body_ended_us = wr_clock_steady_us();
    if (ex->upload != WR_UPLOAD_WHOLE) {
        if (ex->fetch)
            wr_fetch_resume_body(ex->fetch);
    } else if (wants_reading(ex) ? !wr_exchange_project(ex, WR_EXCHANGE_PROJECTING)
                                 : !wr_own_legs_name(ex)) {
        wr_exchange_send(ex);
    }
}

static void on_room(void *user)
{
    struct wr_exchange *ex = user;
    if (ex->fetch)
        wr_fetch_resume(ex->fetch);
}

static void on_gone(void *user)
{
    struct wr_exchange *ex = user;
    struct wr_fetch *fetch = ex->fetch;

    ex->conn = NULL;
    /* Some leave when the last event has come and do not wait for the end of the stream. */
    ex->record.end = ex->tap.answer.is_finished ? WR_LIT("done") : WR_LIT("client_gone");
    ex->fetch = NULL;
    if (fetch && ex->state == WR_EXCHANGE_ASKING && wr_fetch_is_unanswered(fetch))
        wr_admit_note_lost(ex);
    if (fetch)
        wr_fetch_cancel(fetch);
    if (ex->state == WR_EXCHANGE_PROJECTING || ex->state == WR_EXCHANGE_REPROJECTING)
        unlink_waiting(ex);
    ex->state = WR_EXCHANGE_OVER;
    wr_exchange_free_if_over(ex);
}

static void on_refused(void *user, int status)
{
    struct wr_service *service = user;
    (void)status;
    atomic_fetch_add(&service->metrics->requests_refused, 1);
}

/* ---- projecting ---- */

static void unlink_waiting(struct wr_exchange *ex)
{
    for (struct wr_exchange **at = &ex->service->waiting; *at; at = &(*at)->next_waiting)
        if (*at == ex) {
            *at = ex->next_waiting;
            break;
        }
}

/* In any other state it is too late: the request was already sent unchanged, or the client has
 * left. */
static void on_task_ready(void *user, struct wr_task *task)
{
    struct wr_exchange *ex = user;
    enum wr_exchange_state state = ex->state;

    (void)task;
    ex->task_state = WR_TASK_MISSED;
    if (state == WR_EXCHANGE_RECALLING) {
        ex->task_state = WR_TASK_READY;
        wr_own_legs_ready(ex);
        return;
    }
    if (state != WR_EXCHANGE_PROJECTING && state != WR_EXCHANGE_REPROJECTING) {
        wr_exchange_tell_missed(ex);
        return;
    }
    ex->task_state = WR_TASK_READY;
    unlink_waiting(ex);
    if (state == WR_EXCHANGE_PROJECTING)
        wr_exchange_send(ex);
    else
        wr_second_try_send(ex);
}

static void on_task_done(void *user, struct wr_task *task)
{
    struct wr_exchange *ex = user;

    if (ex->task_state == WR_TASK_RUNNING)
        on_task_ready(user, task);
    if (ex->task_state == WR_TASK_MISSED && ex->state != WR_EXCHANGE_RETRY_DUE)
        wr_own_legs_forget(ex);
    if (ex->task_state == WR_TASK_MISSED && ex->record.deed == WR_DEED_PROJECTED)
        ex->record.deed = ex->is_late ? WR_DEED_LATE : WR_DEED_UNWAITED;
    ex->task_state = WR_TASK_DONE;
    if (ex->state == WR_EXCHANGE_RETRY_DUE)
        wr_second_try_project(ex);
    else if (ex->state == WR_EXCHANGE_LEG_DUE)
        wr_own_legs_next(ex);
    else
        wr_exchange_free_if_over(ex);
}

/* Whoever waits too long goes as he came (law L6); his projection is thrown away when it comes. */
static void on_deadline(uv_timer_t *timer)
{
    struct wr_service *service = timer->data;
    uint64_t now = wr_clock_steady_us();

    for (struct wr_exchange **at = &service->waiting; *at;) {
        struct wr_exchange *ex = *at;
        if (now - ex->task_started_us < (uint64_t)ex->config->project_ms_max * 1000) {
            at = &ex->next_waiting;
            continue;
        }
        *at = ex->next_waiting;
        ex->is_late = true;
        if (ex->state == WR_EXCHANGE_REPROJECTING)
            wr_second_try_give_up(ex);
        else
            wr_exchange_send(ex);
    }
    if (!service->waiting)
        (void)uv_timer_stop(timer);
}

static void wait_for_task(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;
    ex->task_started_us = wr_clock_steady_us();
    ex->is_late = false;
    ex->next_waiting = service->waiting;
    service->waiting = ex;
    if (!uv_is_active((uv_handle_t *)&service->deadline)) {
        service->deadline.data = service;
        (void)uv_timer_start(&service->deadline, on_deadline, DEADLINE_TICK_MS, DEADLINE_TICK_MS);
    }
}

bool wr_exchange_start_task(struct wr_exchange *ex, enum wr_exchange_state state)
{
    ex->task.ready = on_task_ready;
    ex->task.done = on_task_done;
    ex->task.user = ex;
    ex->task.record = &ex->record;
    if (!wr_projector_add(ex->service->projector, &ex->task))
        return false;
    ex->state = state;
    ex->task_state = WR_TASK_RUNNING;
    return true;
}

bool wr_exchange_project(struct wr_exchange *ex, enum wr_exchange_state state)
{
    ex->task = (struct wr_task){
        .config = ex->config,
        .route = &ex->route,
        .path = ex->path.len ? ex->path.bytes : NULL,
        .body = wr_buf_view(&ex->body),
        .coding = wr_coding_of(wr_head_find(ex->head, "content-encoding")),
        .mode = wr_span_of(ex->mode),
        .policy = wr_span_of(ex->policy),
        .recall = wr_span_of(ex->recall),
        .overflow_tokens = ex->remedy.overflow_tokens,
        .bind = ex->remedy.bind,
        .now_ms = wr_clock_ms(),
    };
    wr_identity_from_head(ex->head, &ex->task.session);
    ex->record.session = wr_session_span(&ex->task.session);
    if (!wr_exchange_start_task(ex, state))
        return false;
    wait_for_task(ex);
    return true;
}

/* ---- asking the upstream ---- */

/* An upstream that is slower than the client never takes everything at once. The part it has
 * taken is dropped when it is half of the buffer, so each byte is moved about once. */
static void drop_taken(struct wr_exchange *ex)
{
    size_t left = ex->body.len - ex->body_taken_bytes;

    if (ex->upload == WR_UPLOAD_REPLAYED || ex->body_taken_bytes < left)
        return;
    if (left)
        memmove(ex->body.bytes, ex->body.bytes + ex->body_taken_bytes, left);
    ex->body.len = left;
    ex->body_taken_bytes = 0;
}

static size_t on_more(void *user, char *into, size_t bytes_max, bool *has_ended)
{
    struct wr_exchange *ex = user;
    size_t left = ex->body.len - ex->body_taken_bytes;
    size_t bytes = left < bytes_max ? left : bytes_max;

    if (bytes)
        memcpy(into, ex->body.bytes + ex->body_taken_bytes, bytes);
    ex->body_taken_bytes += bytes;
    ex->record.sent_bytes += bytes;
    drop_taken(ex);
    if (ex->conn && ex->is_upload_paused &&
        ex->body.len - ex->body_taken_bytes < WR_NET_QUEUED_BYTES_LOW) {
        ex->is_upload_paused = false;
        wr_conn_resume(ex->conn);
    }
    *has_ended = ex->body_ended_us != 0;
    return bytes;
}

/* What was decoded and changed leaves in no coding; else bytes and coding are as they came. */
static bool is_forwarded(const struct wr_exchange *ex, const struct wr_header *header)
{
    if (wr_head_is_hop(ex->head, header) || wr_header_starts(header, "x-weir-") ||
        wr_header_is(header, "host") || wr_header_is(header, "content-length") ||
        wr_header_is(header, "expect"))
        return false;
    /* The client's credential stays here where Weir has one, and Weir's own token always. */
    if (wr_key_replaces(wr_exchange_asked(ex), header) ||
        (wr_key_is_credential(header) && wr_door_is_token(ex->config, wr_key_value(header))) ||
        (wr_header_is(header, "cookie") &&
         wr_span_find(header->value, WR_LIT(WR_DOOR_COOKIE "="), 0) != SIZE_MAX))
        return false;
    /* An answer that may have to be joined with another is asked for in no coding. */
    if (wr_header_is(header, "accept-encoding") && (wr_own_legs_may_come(ex) || ex->own.named.len))
        return false;
    return !(wr_header_is(header, "content-encoding") && ex->is_sent_changed);
}

static bool write_url(const struct wr_exchange *ex, struct wr_buf *url)
{
    struct wr_route route = ex->route;
    struct wr_buf target;

    route.upstream = wr_exchange_asked(ex);
    wr_buf_init(&target, WR_NET_HEAD_BYTES_MAX);
    if (wr_upstream_has_key(route.upstream) || wr_config_wants_token(ex->config)) {
        wr_key_clean_target(ex->config, route.upstream, route.target, &target);
        route.target = wr_buf_view(&target);
    }
    wr_route_url(&route, url);
    bool ok = !wr_buf_status(url) && !wr_buf_status(&target);
    wr_buf_release(&target);
    return ok;
}

/* Adds the upstream's own key, where Weir has it. */
static bool show_key(const struct wr_exchange *ex, struct wr_fetch_request *request,
                     struct wr_header *headers, weir_span url, struct wr_buf *text)
{
    struct wr_key_call call = {.upstream = wr_exchange_asked(ex),
                               .api = ex->route.api,
                               .method = request->method,
                               .url = wr_span_cut(url, 0, url.len - 1), /* the NUL */
                               .body = request->body,
                               .now_ms = wr_clock_ms()};

    if (!wr_upstream_has_key(call.upstream))
        return true;
    size_t count = wr_key_headers(&call, headers + request->headers_count, text);
    request->headers_count += count;
    return count > 0;
}

/* `body` is empty where it is streamed. False: the client was told, and `ex` may be no more. */
bool wr_exchange_ask(struct wr_exchange *ex, weir_span body)
{
    wr_exchange_choose_place(ex);
    struct wr_header headers[WR_NET_HEADERS_MAX + WR_KEY_HEADERS_MAX];
    struct wr_buf url, key;
    struct wr_fetch_request request = {
        .method = ex->head->method,
        .headers = headers,
        .has_body = ex->head->is_chunked || ex->head->content_bytes >= 0,
        .is_streamed = ex->upload != WR_UPLOAD_WHOLE,
        .body = body,
        .content_bytes = ex->head->content_bytes,
        .http2 = wr_exchange_asked(ex)->http2,
        .proxy = wr_exchange_asked(ex)->proxy,
        .is_fresh = ex->is_fresh || ex->upload == WR_UPLOAD_STREAMED,
    };

    for (size_t i = 0; i < ex->head->headers_count; i++)
        if (is_forwarded(ex, &ex->head->headers[i]))
            headers[request.headers_count++] = ex->head->headers[i];
    wr_buf_init(&url, URL_BYTES_MAX);
    wr_buf_init(&key, WR_NET_HEAD_BYTES_MAX * 2);
    bool ok = write_url(ex, &url) && show_key(ex, &request, headers, wr_buf_view(&url), &key);
    request.url = url.bytes;
    ex->state = WR_EXCHANGE_ASKING;
    ex->sent_us = wr_clock_steady_us();
    ex->record.sent_bytes = body.len;
    ok = ok && !wr_fetch_start(&ex->fetch, ex->service->fetcher, &request, &fetch_events, ex, NULL);
    wr_key_forget(&key);
    wr_buf_release(&url);
    if (!ok)
        wr_exchange_fail(ex, 503, "no_memory", "out of memory");
    return ok;
}

/* ---- the answer ---- */

static bool is_forwarded_answer(const struct wr_exchange *ex, const struct wr_head *head,
                                const struct wr_header *header)
{
    return !wr_head_is_hop(head, header) && !wr_header_is(header, "content-length") &&
           !wr_header_starts(header, "x-weir-") &&
           !(ex->own.decoder && wr_header_is(header, "content-encoding"));
}

void wr_exchange_begin_answer(struct wr_exchange *ex, const struct wr_head *head,
                              int64_t content_bytes)
{
    struct wr_header headers[WR_NET_HEADERS_MAX];
    struct wr_answer answer = {.status = head->status,
                               .reason = head->target,
                               .headers = headers,
                               .content_bytes = content_bytes};

    for (size_t i = 0; i < head->headers_count; i++)
        if (is_forwarded_answer(ex, head, &head->headers[i]))
            headers[answer.headers_count++] = head->headers[i];
    if (ex->admission.note[0] && answer.headers_count < WR_NET_HEADERS_MAX)
        headers[answer.headers_count++] =
            (struct wr_header){WR_LIT("x-weir-budget"), wr_span_of(ex->admission.note)};
    ex->state = WR_EXCHANGE_ANSWERING;
    ex->record.status = (uint64_t)head->status;
    wr_conn_begin(ex->conn, &answer);
}

/* An answer that passes as it comes, and is looked at. */
static void pass_answer(struct wr_exchange *ex, const struct wr_head *head)
{
    wr_tap_init(&ex->tap, ex->route.is_answer ? ex->route.api : NULL, head, &ex->service->events);
    wr_exchange_begin_answer(ex, head, head->content_bytes);
}

/* Whether the provider's refusal may be our doing, and a second try could mend it. */
static bool may_retry(const struct wr_exchange *ex, int status)
{
    return (status == 400 || status == 413) && !ex->record.retries_count && wants_reading(ex) &&
           ex->upload == WR_UPLOAD_WHOLE && strcmp(ex->mode, "exact") && !ex->own.count;
}

/* Before the client has the end of the answer, and with it a reason to ask again. */
static void keep_answer(struct wr_exchange *ex)
{
    if (!ex->tap.answer.is_finished || ex->is_answer_kept || !wr_exchange_is_task_ready(ex))
        return;
    ex->is_answer_kept = true;
    if (ex->tap.answer.usage.cache_read_tokens > 0)
        wr_sessions_read_cache(ex->service->sessions, wr_span_of(ex->entry.tenant),
                               wr_session_span(&ex->task.session));
    if (!ex->task.is_continued)
        return;
    wr_answers_keep(ex->service->answers, wr_span_of(ex->entry.tenant),
                    wr_session_span(&ex->task.session), &ex->tap.answer);
    wr_answer_note_keep(ex->service->notes, wr_span_of(ex->entry.tenant),
                        wr_session_span(&ex->task.session), &ex->tap.answer,
                        ex->task.decision.action == WR_ACTION_PROJECT, ex->record.time_ms);
}

static void on_answer_head(void *user, const struct wr_head *head)
{
    struct wr_exchange *ex = user;
    if (!ex->conn)
        return;
    ex->first_byte_us = wr_clock_steady_us();
    wr_upstream_state_note(&ex->service->metrics->upstreams, ex->route.upstream->name, true, 0);
    if (wr_exchange_leaves_place(ex, head))
        return;
    if (may_retry(ex, head->status) && wr_refusal_begin(&ex->refusal, head)) {
        ex->state = WR_EXCHANGE_REFUSED;
        return;
    }
    if (wr_own_legs_hold_named(ex, head))
        return;
    if (!wr_own_legs_may_come(ex) || !wr_own_legs_head(ex, head))
        pass_answer(ex, head);
}

/* The refusal that was looked at goes to the client as it came. */
void wr_exchange_show_refusal(struct wr_exchange *ex)
{
    weir_span body = wr_buf_view(&ex->refusal.body);

    pass_answer(ex, ex->refusal.head);
    wr_conn_write(ex->conn, body);
    wr_tap_feed(&ex->tap, body);
    ex->record.answer_bytes += body.len;
    wr_refusal_release(&ex->refusal);
}

static bool on_answer_data(void *user, weir_span bytes)
{
    struct wr_exchange *ex = user;

    if (!ex->conn || ex->is_moving)
        return true;
    if (ex->state == WR_EXCHANGE_REFUSED) {
        if (wr_refusal_add(&ex->refusal, bytes))
            return true;
        wr_exchange_show_refusal(ex); /* it is too long to be one */
    }
    if (!wr_conn_has_room(ex->conn))
        return false;
    ex->record.answer_bytes += bytes.len;
    if (ex->own.join)
        wr_own_legs_data(ex, bytes);
    else if (ex->own.is_named)
        wr_buf_append(&ex->own.out, bytes);
    else
        wr_conn_write(ex->conn, bytes);
    wr_tap_feed(&ex->tap, bytes);
    keep_answer(ex);
    return true;
}

void wr_exchange_finish(struct wr_exchange *ex)
{
    struct wr_conn *conn = ex->conn;

    wr_tap_end(&ex->tap);
    keep_answer(ex);
    ex->state = WR_EXCHANGE_OVER;
    ex->conn = NULL;
    if (conn)
        wr_conn_end(conn);
    wr_exchange_free_if_over(ex);
}

/* ---- the end of an answer ---- */

static void on_answer_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct wr_exchange *ex = user;
    const struct wr_upstream *upstream = wr_exchange_asked(ex);
    char text[512];

    ex->fetch = NULL;
    if (!ex->conn) {
        wr_exchange_free_if_over(ex);
        return;
    }
    if (wr_exchange_sends_again(ex, result))
        return;
    if (ex->state == WR_EXCHANGE_REFUSED && result == WR_FETCH_DONE) {
        if (wr_second_try_begin(ex))
            return;
        wr_exchange_show_refusal(ex);
    }
    if (result == WR_FETCH_DONE && ex->own.join) {
        wr_own_legs_end(ex);
        return;
    }
    if (result == WR_FETCH_DONE && ex->own.is_named) {
        wr_own_legs_show_named(ex);
        return;
    }
    if (result == WR_FETCH_DONE) {
        wr_exchange_finish(ex);
        return;
    }
    if (result != WR_FETCH_UNFIT && result != WR_FETCH_NO_FD && !ex->first_byte_us)
        wr_upstream_state_note(&ex->service->metrics->upstreams, upstream->name, false,
                               wr_clock_ms());
    (void)snprintf(text, sizeof(text), "%s (%s): %s", upstream->name, upstream->base_url, why);
    if (ex->own.count) {
        wr_own_legs_fail(ex, text);
        return;
    }
    wr_exchange_fail(ex, wr_page_failure(result).status, wr_page_failure(result).end, text);
}

static const struct wr_fetch_events fetch_events = {on_answer_head, on_answer_data, on_answer_end,
                                                    on_more};

/* ---- the end ---- */

/* Invariant 3. */
void wr_exchange_free_if_over(struct wr_exchange *ex)
{
    if (ex->conn || ex->fetch || wr_exchange_is_task_running(ex) || ex->own.is_keeping ||
        ex->admission.state == WR_ADMIT_ASKING)
        return;
    atomic_fetch_sub(ex->service->exchanges_open, 1);
    wr_exchange_tell(ex);
    wr_admit_settle(ex);
    if (ex->task_state != WR_TASK_NONE)
        wr_task_release(&ex->task);
    wr_tap_release(&ex->tap);
    wr_refusal_release(&ex->refusal);
    wr_own_legs_release(ex);
    wr_buf_release(&ex->body);
    wr_buf_release(&ex->path);
    free(ex);
}

/* An answer of our own, in the API's shape, where none has begun; else the answer is cut. */
void wr_exchange_fail(struct wr_exchange *ex, int status, const char *end, const char *why)
{
    struct wr_conn *conn = ex->conn;

    ex->record.end = wr_span_of(end);
    ex->state = WR_EXCHANGE_OVER;
    ex->conn = NULL;
    if (conn && wr_conn_has_begun(conn)) {
        wr_conn_abort(conn);
    } else if (conn) {
        ex->record.status = (uint64_t)status;
        wr_page_error(conn, ex->route.api, status, why);
    }
    wr_exchange_free_if_over(ex);
}

const struct wr_server_handler wr_exchange_handler = {on_begin, on_body,    on_body_end, on_room,
                                                      on_gone,  on_refused, body_place};
