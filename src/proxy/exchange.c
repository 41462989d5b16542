#include "proxy/exchange.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/span.h"
#include "proxy/agent_name.h"
#include "proxy/answer_note.h"
#include "proxy/counts.h"
#include "proxy/door.h"
#include "proxy/mcp_page.h"
#include "proxy/sidecar_page.h"
#include "proxy/pages.h"
#include "proxy/refusal.h"

enum {
    URL_BYTES_MAX = WR_NET_HEAD_BYTES_MAX + 4096,
    DEADLINE_TICK_MS = 50,
    BELIEVED_BYTES_MAX = 1024 * 1024,
    SPARE_BYTES = 128 * 1024,    /* what a socket may bring before it is heard that we wait */
    PLACE_BYTES_MIN = 64 * 1024, /* less room is not worth a read of its own */
};

struct wr_exchange {
    struct wr_service *service;
    const struct wr_config *config;
    struct wr_conn *conn;       /* NULL: the client is done, or gone */
    const struct wr_head *head; /* the request's; as long as `conn` */
    struct wr_route route;
    struct wr_entry entry;
    const char *agent;                                   /* empty: not known */
    char mode[16], policy[WR_POLICY_NAME_BYTES_MAX + 1]; /* headers that a job reads: it may run
                                                          * longer than the connection lives */
    struct wr_exchange *next_waiting;

    struct wr_buf body; /* collected; or of a streamed one what the upstream has not taken */
    size_t body_taken_bytes;
    bool is_read;     /* by the engine, once it is complete */
    bool is_streamed; /* sent on as it comes */
    bool is_replayed; /* of a streamed one: all of it is kept, to be sent again if need be */
    bool has_body_ended, is_upload_paused;

    struct wr_task job;
    bool has_job, is_job_running, is_sent;
    bool is_job_ready;    /* what it says of the request is there; it may still run */
    bool is_retry_due;    /* when it no longer runs */
    bool is_sent_changed; /* what left is job.out */
    bool is_fresh;        /* it left on a connection of its own */
    bool is_late;         /* it left as it came because its projection took too long */
    bool is_answer_kept;

    struct wr_fetch *fetch; /* NULL: none runs */
    struct wr_tap tap;
    struct wr_refusal refusal; /* an answer that is looked at before it goes on */
    uint32_t retries_count;
    const char *retry_reason;
    struct wr_remedy remedy; /* of the second try */

    uint64_t started_us, body_ended_us, job_started_us, sent_us, first_byte_us;
    uint64_t request_bytes, sent_bytes, answer_bytes;
    int64_t started_ms;
    int status;
    const char *end;
};

static bool start_fetch(struct wr_exchange *ex, weir_span body);

/* ---- the end ---- */

/* An id of the answer, where a later request may go on from it. */
static weir_span id_of(const struct wr_exchange *ex, const struct wr_buf *id)
{
    return ex->job.is_continued ? wr_buf_view(id) : (weir_span){"", 0};
}

/* How the task goes, with what the answer shows of it. */
static void watch_answer(struct wr_exchange *ex)
{
    struct wr_seen_usage unknown;
    struct wr_watch_answer answer = {
        .usage = ex->tap.arena ? &ex->tap.usage : &unknown,
        .counts_cached_apart = ex->route.api == WR_API_MESSAGES,
        .is_answered = ex->status == 200 && !ex->tap.has_error,
        .was_sent_changed = ex->is_sent_changed,
        .was_overflow_retried = ex->retries_count && ex->remedy.overflow_tokens,
        .teaches = ex->config->learns,
        .error = ex->tap.error_kind,
        .finish = ex->tap.finish,
        .miss = ex->tap.miss,
        .calls_count = (uint32_t)ex->tap.calls.count,
        .answer_id = id_of(ex, &ex->tap.calls.answer_id),
        .conversation_id = id_of(ex, &ex->tap.calls.conversation_id),
        .tenant = wr_span_of(ex->entry.tenant),
        .session = wr_session_span(&ex->job.session),
        .now_ms = ex->started_ms,
    };

    wr_seen_usage_init(&unknown);
    if (ex->service->watch && ex->has_job && !ex->is_job_running && ex->job.is_watched)
        wr_watch_answer(ex->service->watch, &answer, &ex->job.note);
}

static void record(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;
    uint64_t ended_us = wr_clock_steady_us();
    struct wr_record r = {
        .number = ++service->requests_count,
        .started_ms = ex->started_ms,
        .upstream = ex->route.upstream ? ex->route.upstream->name : NULL,
        .path = ex->route.path,
        .api = ex->route.api,
        .agent = ex->agent,
        .tenant = wr_span_of(ex->entry.tenant),
        .run = wr_span_of(ex->entry.run),
        .job = ex->has_job && !ex->is_job_running ? &ex->job : NULL,
        .tap = &ex->tap,
        .status = ex->status,
        .request_bytes = ex->request_bytes,
        .sent_bytes = ex->sent_bytes,
        .answer_bytes = ex->answer_bytes,
        .added_us = ex->sent_us > ex->body_ended_us ? ex->sent_us - ex->body_ended_us : 0,
        .first_byte_us = ex->first_byte_us ? ex->first_byte_us - ex->sent_us : 0,
        .total_us = ended_us - ex->started_us,
        .retries_count = ex->retries_count,
        .retry_reason = ex->retry_reason,
        .end = ex->end ? ex->end : "done",
    };

    watch_answer(ex);
    if (r.job && ex->route.is_answer) /* what has answered is loaded by now */
        wr_loaded_windows_ask(service->loaded, ex->route.upstream, ex->job.model);
    wr_counts_take(service->counts, &r);
    wr_metrics_count(service->metrics, &r);
    atomic_fetch_sub(service->exchanges_open, 1);
    wr_buf_reset(&service->line);
    wr_record_write(&r, &service->line);
    if (wr_buf_status(&service->line))
        return;
    if (service->log)
        wr_log_add(service->log, wr_buf_view(&service->line));
    /* A run's receipt also counts what only passed. */
    bool is_counted = ex->route.is_answer || (r.run.len && ex->route.api == WR_API_NONE);
    if (service->ledger && is_counted)
        wr_record_keep(&r, wr_buf_view(&service->line), service->ledger);
}

/* Invariant 3. */
static void free_if_over(struct wr_exchange *ex)
{
    if (ex->conn || ex->fetch || ex->is_job_running)
        return;
    record(ex);
    if (ex->has_job)
        wr_task_release(&ex->job);
    wr_tap_release(&ex->tap);
    wr_refusal_release(&ex->refusal);
    wr_buf_release(&ex->body);
    free(ex);
}

/* An answer of our own, in the API's shape, where none has begun; else the answer is cut. */
static void fail(struct wr_exchange *ex, int status, const char *end, const char *why)
{
    struct wr_conn *conn = ex->conn;

    ex->end = end;
    ex->conn = NULL;
    if (conn && wr_conn_has_begun(conn)) {
        wr_conn_abort(conn);
    } else if (conn) {
        ex->status = status;
        wr_page_error(conn, ex->route.api, status, why);
    }
    free_if_over(ex);
}

/* ---- the answer ---- */

static bool is_forwarded_answer(const struct wr_head *head, const struct wr_header *header)
{
    return !wr_head_is_hop(head, header) && !wr_header_is(header, "content-length") &&
           !wr_header_starts(header, "x-weir-");
}

static void begin_answer(struct wr_exchange *ex, const struct wr_head *head)
{
    struct wr_header headers[WR_NET_HEADERS_MAX];
    struct wr_answer answer = {.status = head->status,
                               .reason = head->target,
                               .headers = headers,
                               .content_bytes = head->content_bytes};

    for (size_t i = 0; i < head->headers_count; i++)
        if (is_forwarded_answer(head, &head->headers[i]))
            headers[answer.headers_count++] = head->headers[i];
    ex->status = head->status;
    wr_tap_init(&ex->tap, ex->route.is_answer ? ex->route.api : WR_API_NONE, head,
                &ex->service->events);
    wr_conn_begin(ex->conn, &answer);
}

/* Whether the provider's refusal may be our doing, and a second try could mend it. */
static bool may_retry(const struct wr_exchange *ex, int status)
{
    return (status == 400 || status == 413) && !ex->retries_count && ex->is_read &&
           !ex->is_streamed && strcmp(ex->mode, "exact");
}

/* Before the client has the end of the answer, and with it a reason to ask again. */
static void keep_answer(struct wr_exchange *ex)
{
    if (!ex->tap.is_finished || ex->is_answer_kept || !ex->is_job_ready)
        return;
    ex->is_answer_kept = true;
    if (ex->tap.usage.cache_read_tokens > 0)
        wr_sessions_read_cache(ex->service->sessions, wr_span_of(ex->entry.tenant),
                               wr_session_span(&ex->job.session));
    if (!ex->job.is_continued)
        return;
    wr_answers_keep(ex->service->answers, wr_span_of(ex->entry.tenant),
                    wr_session_span(&ex->job.session), &ex->tap.calls);
    wr_answer_note_keep(ex->service->notes, wr_span_of(ex->entry.tenant),
                        wr_session_span(&ex->job.session), &ex->tap.calls,
                        ex->job.decision.action == WR_ACTION_PROJECT, ex->started_ms);
}

static void on_answer_head(void *user, const struct wr_head *head)
{
    struct wr_exchange *ex = user;
    if (!ex->conn)
        return;
    ex->first_byte_us = wr_clock_steady_us();
    if (may_retry(ex, head->status) && wr_refusal_begin(&ex->refusal, head))
        return;
    begin_answer(ex, head);
}

/* The refusal that was looked at goes to the client as it came. */
static void show_refusal(struct wr_exchange *ex)
{
    weir_span body = wr_buf_view(&ex->refusal.body);

    begin_answer(ex, ex->refusal.head);
    wr_conn_write(ex->conn, body);
    wr_tap_feed(&ex->tap, body);
    ex->answer_bytes += body.len;
    wr_refusal_release(&ex->refusal);
}

static bool on_answer_data(void *user, weir_span bytes)
{
    struct wr_exchange *ex = user;

    if (!ex->conn)
        return true;
    if (ex->refusal.is_held) {
        if (wr_refusal_add(&ex->refusal, bytes))
            return true;
        show_refusal(ex); /* it is too long to be one */
    }
    if (!wr_conn_has_room(ex->conn))
        return false;
    ex->answer_bytes += bytes.len;
    wr_conn_write(ex->conn, bytes);
    wr_tap_feed(&ex->tap, bytes);
    keep_answer(ex);
    return true;
}

static void finish_answer(struct wr_exchange *ex)
{
    struct wr_conn *conn = ex->conn;

    wr_tap_end(&ex->tap);
    keep_answer(ex);
    ex->conn = NULL;
    if (conn)
        wr_conn_end(conn);
    free_if_over(ex);
}

/* ---- a second try ---- */

static bool start_job(struct wr_exchange *ex);
static void send_body(struct wr_exchange *ex);

static void forget_job(struct wr_exchange *ex)
{
    if (ex->has_job)
        wr_task_release(&ex->job);
    ex->has_job = ex->is_job_ready = ex->is_sent = false;
}

static void finish_refusal(struct wr_exchange *ex)
{
    show_refusal(ex);
    finish_answer(ex);
}

/* Projects what came once more, as the provider wants it. The refusal is held until that is done:
 * it may turn out that there is nothing else to send. */
static void try_again(struct wr_exchange *ex)
{
    ex->is_retry_due = false;
    forget_job(ex);
    if (!start_job(ex))
        finish_refusal(ex);
}

/* What is sent: what came, or what was made of it. */
static weir_span body_of(const struct wr_exchange *ex, bool is_changed)
{
    return wr_buf_view(is_changed ? &ex->job.out : &ex->body);
}

static struct wr_remedy find_remedy(const struct wr_exchange *ex)
{
    bool is_known = ex->is_job_ready && ex->job.is_read;
    struct wr_refused refused = {
        .body = body_of(ex, ex->is_sent_changed),
        .was_changed = ex->is_sent_changed,
        .may_project = !(is_known && ex->job.decision.bound == WR_BOUND_RAW),
        .was_projected = is_known && ex->job.decision.action == WR_ACTION_PROJECT,
        .tokens_sent = is_known ? ex->job.tokens_after : 0,
        .answer_tokens = is_known ? ex->job.answer_tokens : 0,
    };
    return wr_refusal_judge(&ex->refusal, &refused);
}

/* True: the request goes out again, or may; nothing of the refusal is shown yet. */
static bool retry(struct wr_exchange *ex)
{
    ex->remedy = find_remedy(ex);
    wr_counts_refuse(ex->service->counts, ex->is_job_ready ? &ex->job : NULL,
                     ex->remedy.counted_tokens);
    if (!ex->remedy.reason)
        return false;
    ex->retries_count++;
    ex->retry_reason = ex->remedy.reason;
    ex->first_byte_us = 0;
    ex->is_retry_due = ex->is_job_running;
    if (!ex->is_job_running)
        try_again(ex);
    return true;
}

/* The second try is projected: what is not another form of what was refused is not sent. */
static void send_again(struct wr_exchange *ex)
{
    bool is_changed = ex->is_job_ready && ex->job.is_changed;

    if (!wr_remedy_fits(&ex->remedy, body_of(ex, is_changed), is_changed)) {
        ex->retries_count--;
        ex->retry_reason = NULL;
        finish_refusal(ex);
        return;
    }
    wr_refusal_release(&ex->refusal);
    send_body(ex);
}

/* A connection that was kept had died: one more try on a fresh one, where all of the body is
 * here. */
static bool try_fresh(struct wr_exchange *ex)
{
    if (ex->is_fresh || (ex->is_streamed && !ex->is_replayed))
        return false;
    ex->is_fresh = true;
    ex->body_taken_bytes = 0;
    if (ex->is_streamed)
        (void)start_fetch(ex, (weir_span){"", 0});
    else
        send_body(ex);
    return true;
}

static void on_answer_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct wr_exchange *ex = user;
    const struct wr_upstream *upstream = ex->route.upstream;
    char text[512];

    ex->fetch = NULL;
    if (!ex->conn) {
        free_if_over(ex);
        return;
    }
    if (ex->refusal.is_held && result == WR_FETCH_DONE) {
        if (retry(ex))
            return;
        show_refusal(ex);
    }
    if (result == WR_FETCH_DONE) {
        finish_answer(ex);
        return;
    }
    if (result == WR_FETCH_STALE && try_fresh(ex))
        return;
    (void)snprintf(text, sizeof(text), "%s (%s): %s", upstream->name, upstream->base_url, why);
    fail(ex, wr_page_failure(result).status, wr_page_failure(result).end, text);
}

/* An upstream that is slower than the client never takes all that is there: what it has taken is
 * dropped when that is half of it, so that each byte is moved about once. */
static void drop_taken(struct wr_exchange *ex)
{
    size_t left = ex->body.len - ex->body_taken_bytes;

    if (ex->is_replayed || ex->body_taken_bytes < left)
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
    ex->sent_bytes += bytes;
    drop_taken(ex);
    if (ex->conn && ex->is_upload_paused &&
        ex->body.len - ex->body_taken_bytes < WR_NET_QUEUED_BYTES_LOW) {
        ex->is_upload_paused = false;
        wr_conn_resume(ex->conn);
    }
    *has_ended = ex->has_body_ended;
    return bytes;
}

static const struct wr_fetch_events fetch_events = {on_answer_head, on_answer_data, on_answer_end,
                                                    on_more};

/* ---- asking the upstream ---- */

/* What was decoded and changed leaves in no coding; what was not changed keeps its bytes and with
 * them its coding. */
static bool is_forwarded(const struct wr_exchange *ex, const struct wr_header *header)
{
    if (wr_head_is_hop(ex->head, header) || wr_header_starts(header, "x-weir-") ||
        wr_header_is(header, "host") || wr_header_is(header, "content-length") ||
        wr_header_is(header, "expect"))
        return false;
    return !(wr_header_is(header, "content-encoding") && ex->is_sent_changed);
}

/* `body` is empty where it is streamed. False: it could not be, the client was told, and the
 * exchange may be no more. */
static bool start_fetch(struct wr_exchange *ex, weir_span body)
{
    struct wr_header headers[WR_NET_HEADERS_MAX];
    struct wr_buf url;
    struct wr_fetch_request request = {
        .method = ex->head->method,
        .headers = headers,
        .has_body = ex->head->is_chunked || ex->head->content_bytes >= 0,
        .is_streamed = ex->is_streamed,
        .body = body,
        .content_bytes = ex->head->content_bytes,
        .http2 = ex->route.upstream->http2,
        .proxy = ex->route.upstream->proxy,
        .is_fresh = ex->is_fresh || (ex->is_streamed && !ex->is_replayed),
    };

    for (size_t i = 0; i < ex->head->headers_count; i++)
        if (is_forwarded(ex, &ex->head->headers[i]))
            headers[request.headers_count++] = ex->head->headers[i];
    wr_buf_init(&url, URL_BYTES_MAX);
    wr_route_url(&ex->route, &url);
    request.url = url.bytes;
    ex->is_sent = true;
    ex->sent_us = wr_clock_steady_us();
    ex->sent_bytes = body.len;
    bool ok = !wr_buf_status(&url) &&
              !wr_fetch_start(&ex->fetch, ex->service->fetcher, &request, &fetch_events, ex, NULL);
    wr_buf_release(&url);
    if (!ok)
        fail(ex, 503, "no_memory", "out of memory");
    return ok;
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

static void send_raw(struct wr_exchange *ex)
{
    ex->is_sent_changed = false;
    (void)start_fetch(ex, wr_buf_view(&ex->body));
}

static void send_body(struct wr_exchange *ex)
{
    ex->is_sent_changed = ex->is_job_ready && ex->job.is_changed;
    (void)start_fetch(ex, body_of(ex, ex->is_sent_changed));
}

static void on_job_ready(void *user, struct wr_task *job)
{
    struct wr_exchange *ex = user;

    ex->is_job_ready = true;
    if (ex->is_sent) { /* too late: the request left as it came, or nobody waits for it */
        wr_task_leave_unchanged(job, ex->is_late);
        return;
    }
    unlink_waiting(ex);
    if (ex->refusal.is_held)
        send_again(ex);
    else
        send_body(ex);
}

static void on_job_done(void *user, struct wr_task *job)
{
    struct wr_exchange *ex = user;

    if (!ex->is_job_ready)
        on_job_ready(user, job);
    ex->is_job_running = false;
    if (ex->conn && ex->is_retry_due)
        try_again(ex);
    else
        free_if_over(ex);
}

/* Whoever waits too long goes as he came (law L6); his projection is thrown away when it comes. */
static void on_deadline(uv_timer_t *timer)
{
    struct wr_service *service = timer->data;
    uint64_t now = wr_clock_steady_us();

    for (struct wr_exchange **at = &service->waiting; *at;) {
        struct wr_exchange *ex = *at;
        if (now - ex->job_started_us < (uint64_t)ex->config->project_ms_max * 1000) {
            at = &ex->next_waiting;
            continue;
        }
        *at = ex->next_waiting;
        ex->is_sent = ex->is_late = true;
        if (ex->refusal.is_held)
            finish_refusal(ex);
        else
            send_raw(ex);
    }
    if (!service->waiting)
        (void)uv_timer_stop(timer);
}

static void wait_for_job(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;
    ex->job_started_us = wr_clock_steady_us();
    ex->next_waiting = service->waiting;
    service->waiting = ex;
    if (!uv_is_active((uv_handle_t *)&service->deadline)) {
        service->deadline.data = service;
        (void)uv_timer_start(&service->deadline, on_deadline, DEADLINE_TICK_MS, DEADLINE_TICK_MS);
    }
}

static bool start_job(struct wr_exchange *ex)
{
    ex->job = (struct wr_task){
        .config = ex->config,
        .body = wr_buf_view(&ex->body),
        .coding = wr_coding_of(wr_head_find(ex->head, "content-encoding")),
        .path = ex->route.path,
        .upstream = ex->route.upstream->name,
        .alternates = ex->route.upstream->alternates,
        .base_url = ex->route.upstream->base_url,
        .tenant = wr_span_of(ex->entry.tenant),
        .run = wr_span_of(ex->entry.run),
        .mode = wr_span_of(ex->mode),
        .policy = wr_span_of(ex->policy),
        .overflow_tokens = ex->remedy.overflow_tokens,
        .bind = ex->remedy.bind,
        .is_watched = ex->route.is_answer,
        .now_ms = wr_clock_ms(),
        .ready = on_job_ready,
        .done = on_job_done,
        .user = ex,
    };
    wr_identity_from_head(ex->head, &ex->job.session);
    ex->has_job = ex->is_job_running = wr_projector_add(ex->service->projector, &ex->job);
    if (ex->has_job)
        wait_for_job(ex);
    return ex->has_job;
}

/* ---- the request ---- */

/* With every mode off nothing is read. */
static bool wants_reading(const struct wr_exchange *ex)
{
    const struct wr_config *config = ex->config;
    return ex->route.api != WR_API_NONE && (config->mode != WR_MODE_OFF || config->rules_count) &&
           ex->head->content_bytes <= WR_NET_BODY_BYTES_MAX;
}

/* What is not read is streamed, but for small bodies: whole, they can be sent again where a kept
 * connection turns out to be dead. */
static bool wants_streaming(const struct wr_exchange *ex)
{
    return !ex->is_read &&
           (ex->head->is_chunked || ex->head->content_bytes > WR_NET_QUEUED_BYTES_MAX);
}

static void keep_header(char *text, size_t text_bytes, const struct wr_head *head, const char *name)
{
    weir_span value = wr_head_find(head, name);
    (void)snprintf(text, text_bytes, "%.*s", (int)value.len, value.len ? value.ptr : "");
}

static void *on_begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    struct wr_service *service = user;
    struct wr_entry entry = wr_door_enter(service->config, head);
    bool is_barred = entry.status || head->is_upgrade;

    if (!is_barred && wr_sidecar_page_is(entry.target))
        return wr_sidecar_page_begin(service->sidecar, conn, head, &entry);
    if (is_barred || wr_page_is_ours(entry.target)) {
        atomic_fetch_add(&service->metrics->requests_refused, is_barred);
        wr_page_answer(service, conn, head, &entry);
        return NULL;
    }
    if (wr_mcp_page_is(entry.target))
        return wr_mcp_page_begin(service->mcp, conn, head, &entry);
    struct wr_exchange *ex = calloc(1, sizeof(*ex));
    struct wr_route route = wr_route_find(service->config, head, entry.target);
    if (!ex || !route.upstream) {
        free(ex);
        atomic_fetch_add(&service->metrics->requests_refused, 1);
        wr_page_not_begun(conn, service->config, &route);
        return NULL;
    }
    *ex = (struct wr_exchange){.service = service,
                               .config = service->config,
                               .conn = conn,
                               .head = head,
                               .route = route,
                               .entry = entry,
                               .agent = wr_agent_name(head),
                               .started_us = wr_clock_steady_us(),
                               .started_ms = wr_clock_ms()};
    keep_header(ex->mode, sizeof(ex->mode), head, "x-weir-mode");
    keep_header(ex->policy, sizeof(ex->policy), head, "x-weir-policy");
    wr_buf_init(&ex->body, WR_NET_BODY_BYTES_MAX + WR_NET_QUEUED_BYTES_MAX * 2);
    atomic_fetch_add(service->exchanges_open, 1);
    ex->is_read = wants_reading(ex);
    ex->is_streamed = wants_streaming(ex);
    ex->is_replayed =
        ex->is_streamed && !head->is_chunked && head->content_bytes <= WR_NET_REPLAYED_BYTES_MAX;
    if (ex->is_streamed && !start_fetch(ex, (weir_span){"", 0}))
        return NULL;
    return ex;
}

/* The body itself, as far as there is room: what lies behind it belongs to the next request. */
static char *body_place(void *user, size_t *bytes_max)
{
    struct wr_exchange *ex = user;
    struct wr_buf *body = &ex->body;
    size_t room = body->cap - body->len;

    if (ex->is_streamed || ex->head->is_chunked || wr_buf_status(body) ||
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
    if (!ex->request_bytes && !ex->is_streamed && announced_bytes > 0)
        (void)wr_buf_try_reserve(&ex->body, announced_bytes < BELIEVED_BYTES_MAX
                                                ? (size_t)announced_bytes
                                                : BELIEVED_BYTES_MAX);
    ex->request_bytes += bytes.len;
    if (ex->body.bytes && bytes.ptr == ex->body.bytes + ex->body.len)
        ex->body.len += bytes.len; /* it was put there */
    else
        wr_buf_append(&ex->body, bytes);
    if (wr_buf_status(&ex->body)) {
        struct wr_fetch *fetch = ex->fetch;
        ex->fetch = NULL;
        if (fetch)
            wr_fetch_cancel(fetch);
        fail(ex, 503, "no_memory", "out of memory");
        return;
    }
    /* What finds no room in memory passes unread, as what is too long does (law L6). */
    bool is_full = !ex->is_streamed && (int64_t)ex->request_bytes != announced_bytes &&
                   !wr_buf_try_reserve(&ex->body, SPARE_BYTES);
    if (is_full || (!ex->is_streamed && ex->body.len > WR_NET_BODY_BYTES_MAX)) {
        ex->is_streamed = true;
        if (!start_fetch(ex, (weir_span){"", 0}))
            return;
    }
    if (!ex->is_streamed || !ex->conn)
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

    ex->has_body_ended = true;
    ex->body_ended_us = wr_clock_steady_us();
    if (ex->is_streamed) {
        if (ex->fetch)
            wr_fetch_resume_body(ex->fetch);
    } else if (!ex->is_read || !start_job(ex)) {
        send_raw(ex);
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
    ex->end = ex->tap.is_finished ? "done" : "client_gone";
    ex->fetch = NULL;
    if (fetch)
        wr_fetch_cancel(fetch);
    if (ex->is_job_running && !ex->is_sent) {
        unlink_waiting(ex);
        ex->is_sent = true;
    }
    free_if_over(ex);
}

static void on_refused(void *user, int status)
{
    struct wr_service *service = user;
    (void)status;
    atomic_fetch_add(&service->metrics->requests_refused, 1);
}

const struct wr_server_handler wr_exchange_handler = {on_begin, on_body,    on_body_end, on_room,
                                                      on_gone,  on_refused, body_place};
