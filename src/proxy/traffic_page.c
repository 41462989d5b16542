/* The page and its answers (traffic_page.h).
 *
 * Its files come from the program itself, with a policy by which a browser runs nothing but them:
 * no script in the text, nothing from elsewhere, no frame around it. Whatever a session holds is
 * data that the page's script puts into text nodes.
 */
#include "proxy/traffic_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "proxy/pages.h"
#include "proxy/store_state.h"
#include "proxy/what_if.h"
#include "traffic/rows.h"
#include "traffic/traffic.h"

#define FRONT "/weir/v1/traffic"

#define PAGE_POLICY                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src " \
    "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

struct wr_traffic_page {
    struct wr_page_desk desk;
    struct wr_service *service;
    struct wr_models *models; /* owned; NULL: nothing can be priced, nor shown */
    struct wr_traffic *traffic;
    struct wr_live_rows *live;
    struct wr_what_if *what_if;
};

/* What goes with a call, in its arena. */
struct asked {
    struct wr_traffic_facts facts;
    struct wr_what_if_job *job; /* NULL: nothing is to be played */
};

static wr_page_work_fn answer_call;
static wr_page_over_fn begin_job;

/* ---- life ---- */

struct wr_traffic_page *wr_traffic_page_new(uv_loop_t *loop, const struct wr_config *config,
                                            struct wr_service *service)
{
    struct wr_traffic_page *page = calloc(1, sizeof(*page));
    struct wr_models_source source = {.overrides_shared = true};

    if (!page)
        return NULL;
    *page = (struct wr_traffic_page){.service = service,
                                     .desk = {.calls_max = WR_TRAFFIC_CALLS_MAX,
                                              .body_bytes_max = WR_TRAFFIC_BODY_BYTES_MAX,
                                              .answer_bytes_max = WR_TRAFFIC_ANSWER_BYTES_MAX,
                                              .work = answer_call,
                                              .over = begin_job,
                                              .user = page}};
    if (config->models_yaml)
        source.overrides = wr_span_of(config->models_yaml);
    if (wr_models_new(&page->models, &source, NULL))
        page->models = NULL;
    page->traffic = page->models ? wr_traffic_new(config->store_dir, page->models) : NULL;
    page->live = page->traffic ? wr_live_rows_new(loop, config->store_dir, page->models,
                                                  &service->is_draining)
                               : NULL;
    page->what_if = config->store_dir ? wr_what_if_new(loop, config->store_dir) : NULL;
    if (page->live && wr_page_desk_init(&page->desk, loop))
        return page;
    wr_live_rows_close(page->live); /* the process ends without serving: its memory stays */
    return NULL;
}

void wr_traffic_page_reloaded(struct wr_traffic_page *page)
{
    if (page)
        wr_live_rows_end_all(page->live);
}

void wr_traffic_page_close(struct wr_traffic_page *page)
{
    if (!page)
        return;
    wr_live_rows_close(page->live);
    wr_what_if_close(page->what_if);
}

void wr_traffic_page_free(struct wr_traffic_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    wr_live_rows_free(page->live);
    wr_what_if_free(page->what_if);
    wr_traffic_free(page->traffic);
    wr_models_free(page->models);
    free(page);
}

/* ---- paths ---- */

static weir_span query_of(weir_span target)
{
    size_t path_bytes = wr_target_path(target).len;
    return path_bytes < target.len ? wr_span_from(target, path_bytes + 1) : (weir_span){"", 0};
}

static bool is_traffic(weir_span path)
{
    return wr_span_is(path, FRONT) || wr_span_starts(path, WR_LIT(FRONT "/"));
}

static bool is_door(weir_span path)
{
    return wr_span_is(path, WR_DOOR_LOGIN) || wr_span_is(path, "/weir/v1/logout");
}

const struct wr_models *wr_traffic_page_models(const struct wr_traffic_page *page)
{
    return page->models;
}

bool wr_traffic_page_is(weir_span target)
{
    weir_span path = wr_target_path(target);
    return is_traffic(path) || is_door(path) || wr_page_file_is(path);
}

/* ---- files ---- */

static void send_file(struct wr_conn *conn, weir_span path)
{
    struct wr_web_file file;
    struct wr_header headers[] = {
        {WR_LIT("Content-Type"), {"", 0}},
        {WR_LIT("Content-Security-Policy"), WR_LIT(PAGE_POLICY)},
        {WR_LIT("X-Content-Type-Options"), WR_LIT("nosniff")},
        {WR_LIT("Referrer-Policy"), WR_LIT("no-referrer")},
        {WR_LIT("Cross-Origin-Opener-Policy"), WR_LIT("same-origin")},
        {WR_LIT("Cache-Control"), WR_LIT("no-cache")},
    };
    const struct wr_header moved[] = {{WR_LIT("Location"), WR_LIT("/weir/")}};

    if (!wr_page_file_find(path, &file)) {
        wr_conn_begin(conn,
                      &(struct wr_answer){.status = 308, .headers = moved, .headers_count = 1});
        wr_conn_end(conn);
        return;
    }
    headers[0].value = wr_span_of(file.type);
    wr_conn_begin(conn, &(struct wr_answer){.status = 200,
                                            .headers = headers,
                                            .headers_count = WR_COUNT_OF(headers),
                                            .content_bytes = (int64_t)file.text.len});
    wr_conn_write(conn, file.text);
    wr_conn_end(conn);
}

/* ---- the cookie ---- */

/* The door has let the token in that the request brings as a header; from then on the browser
 * brings it by itself. It is written in hexadecimal digits, which any cookie can hold. */
static void set_cookie(struct wr_conn *conn, weir_span token)
{
    struct wr_buf cookie;

    wr_buf_init(&cookie, 4096);
    wr_buf_text(&cookie, WR_DOOR_COOKIE "=");
    for (size_t i = 0; i < token.len; i++)
        wr_buf_printf(&cookie, "%02x", (unsigned char)token.ptr[i]);
    wr_buf_printf(&cookie, "; Path=/weir/; HttpOnly; SameSite=Strict; Max-Age=%d",
                  token.len ? 30 * 24 * 60 * 60 : 0);
    struct wr_header headers[] = {{WR_LIT("Set-Cookie"), wr_buf_view(&cookie)},
                                  {WR_LIT("Cache-Control"), WR_LIT("no-store")}};
    if (wr_buf_status(&cookie)) {
        wr_page_error(conn, NULL, 413, "the token is too long");
    } else {
        wr_conn_begin(conn,
                      &(struct wr_answer){.status = 204, .headers = headers, .headers_count = 2});
        wr_conn_end(conn);
    }
    wr_buf_release(&cookie);
}

/* ---- calls ---- */

static void answer_error(struct wr_page_call *call, int status, const char *why)
{
    struct wr_json_writer w;

    call->status = status;
    wr_buf_reset(&call->answer);
    wr_json_write_init(&w, &call->answer);
    wr_json_write_object(&w);
    wr_api_write_error(NULL, &w, status, why);
    wr_json_write_object_end(&w);
}

/* On a thread: puts the session that the body names into a file. */
static void prepare_job(struct wr_traffic_page *page, struct wr_page_call *call,
                        struct wr_what_if_job *job)
{
    struct weir_err err = {0};
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_buf log;
    weir_status status = WEIR_INVALID;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&log, WR_TRAFFIC_ANSWER_BYTES_MAX);
    (void)snprintf(err.text, sizeof(err.text), "the body is {\"session\": NAME}");
    if (!wr_json_parse(&doc, &arena, wr_buf_view(&call->body), NULL, NULL)) {
        wr_json_id id = wr_json_find(&doc, 0, "session");
        weir_span name = wr_json_is(&doc, id, WR_JSON_STRING) ? wr_json_text(&doc, &arena, id)
                                                              : (weir_span){NULL, 0};
        if (name.ptr && name.len < sizeof(job->session)) {
            (void)snprintf(job->session, sizeof(job->session), "%.*s", (int)name.len, name.ptr);
            status = wr_traffic_log(page->traffic, wr_span_of(call->tenant), name, &log, job->model,
                                    sizeof(job->model), &err);
            if (!status)
                status = wr_what_if_log(page->what_if, wr_buf_view(&log), job->path, &err);
        }
    }
    wr_buf_release(&log);
    wr_arena_release(&arena);
    call->status = 200;
    if (status)
        answer_error(call,
                     status == WEIR_NOTFOUND  ? 404
                     : status == WEIR_INVALID ? 400
                                              : 503,
                     err.text);
}

/* On a thread. */
static void answer_call(struct wr_page_call *call)
{
    struct wr_traffic_page *page = call->desk->user;
    const struct asked *asked = call->user;
    struct wr_traffic_call about = {
        .tenant = wr_span_of(call->tenant),
        .path = wr_span_from(wr_target_path(call->target), strlen(FRONT)),
        .query = query_of(call->target),
        .now_ms = call->started_ms,
        .facts = asked ? asked->facts : (struct wr_traffic_facts){.is_serving = true},
    };
    struct wr_traffic_answer answer = {.body = &call->answer};

    if (asked && asked->job) {
        prepare_job(page, call, asked->job);
        return;
    }
    wr_traffic_ask(page->traffic, &about, &answer);
    call->status = answer.status;
    call->type = wr_span_of(answer.type);
}

/* On the loop, before the answer is sent. */
static void begin_job(struct wr_page_call *call)
{
    struct wr_traffic_page *page = call->desk->user;
    const struct asked *asked = call->user;
    struct weir_err err = {0};

    if (!asked || !asked->job || call->status != 200)
        return;
    asked->job->tenant = call->tenant;
    if (wr_what_if_begin(page->what_if, asked->job, &err))
        answer_error(call, 409, err.text);
    else
        wr_what_if_write(page->what_if, call->tenant, &call->answer);
}

static struct asked *make_asked(struct wr_traffic_page *page, struct wr_arena *arena, bool plays)
{
    const struct wr_config *config = page->service->config;
    struct wr_metrics *metrics = page->service->metrics;
    struct asked *asked = wr_arena_zalloc(arena, sizeof(*asked));
    weir_trouble trouble = wr_store_state_trouble(metrics);

    if (!asked)
        return NULL;
    asked->job = plays ? wr_arena_zalloc(arena, sizeof(*asked->job)) : NULL;
    asked->facts = (struct wr_traffic_facts){
        .mode = wr_mode_name(config->mode),
        .policy = config->policy,
        .trouble = trouble ? weir_trouble_text(trouble) : NULL,
        .keeps_transcripts = wr_config_keeps_transcripts(config),
        .transcripts_skipped = atomic_load(&metrics->transcripts_skipped),
        .plays = page->what_if && wr_config_keeps_transcripts(config),
        .is_serving = true,
    };
    return asked;
}

static bool is_what_if(weir_span path)
{
    return wr_span_is(path, FRONT "/whatif");
}

static const char *refusal_of(weir_span path, const struct wr_head *head)
{
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");

    if (is_what_if(path) && wr_span_is(head->method, "POST"))
        return NULL;
    if (is_door(path))
        return wr_span_is(head->method, "POST") ? NULL : "this path is asked with POST";
    return is_read ? NULL : "this path is read with GET";
}

static void show_job(struct wr_traffic_page *page, struct wr_conn *conn,
                     const struct wr_entry *entry)
{
    struct wr_buf answer;

    if (!page->what_if) {
        wr_page_error(conn, NULL, 404, "this server has no store: nothing can be played");
        return;
    }
    wr_buf_init(&answer, WR_TRAFFIC_ANSWER_BYTES_MAX);
    wr_what_if_write(page->what_if, entry->tenant, &answer);
    wr_conn_reply(conn, 200, "application/json", wr_buf_view(&answer));
    wr_buf_release(&answer);
}

void *wr_traffic_page_begin(struct wr_traffic_page *page, struct wr_conn *conn,
                            const struct wr_head *head, const struct wr_entry *entry)
{
    weir_span path = wr_target_path(entry->target);
    const char *why = refusal_of(path, head);

    if (why) {
        wr_page_wrong_method(conn,
                             is_door(path)      ? "POST"
                             : is_what_if(path) ? "GET, HEAD, POST"
                                                : "GET, HEAD",
                             why);
        return NULL;
    }
    if (is_door(path)) {
        bool is_login = wr_span_is(path, WR_DOOR_LOGIN);
        wr_audit_note(page->service->audit, &(struct wr_act){.act = is_login ? "login" : "logout",
                                                             .user = entry->user,
                                                             .tenant = entry->tenant});
        set_cookie(conn, is_login ? wr_head_find(head, "x-weir-token") : (weir_span){"", 0});
        return NULL;
    }
    if (!is_traffic(path)) {
        send_file(conn, path);
        return NULL;
    }
    if (wr_span_is(path, FRONT "/live"))
        return wr_live_rows_begin(page->live, conn, head, entry);
    bool plays = is_what_if(path) && wr_span_is(head->method, "POST");
    if (is_what_if(path) && (!plays || !page->what_if)) {
        show_job(page, conn, entry);
        return NULL;
    }
    struct wr_page_call *call = wr_page_call_begin(&page->desk, conn, head, entry);
    if (call)
        call->user = make_asked(page, &call->arena, plays);
    return call;
}

/* ==== rows as they happen ====
 *
 *   begin ──▶ list of streams ──▶ on_tick ──▶ look (thread) ──▶ on_looked: each its own tenant's
 * rows ▲                              │ └──────────────────────────────┘ while somebody listens
 *
 * A stream whose client does not read on is ended: the browser asks again with the number of the
 * last row it saw. So is one whose token has expired, and every one when weir.yaml is read again: a
 * stream has no end of its own, and would go on telling somebody who was taken out. Every 15 s
 * without a row a comment is sent, so that what is in between does not think the connection dead.
 */

enum { EVENTS_BYTES_MAX = 8 * 1024 * 1024, QUIET_TICKS_MAX = 15000 / WR_TRAFFIC_POLL_MS };

struct stream {
    struct stream *next;
    struct wr_live_rows *live;
    struct wr_conn *conn; /* NULL: the client is gone; freed at the next tick */
    char tenant[WR_TENANT_BYTES];
    const struct wr_user_token
        *token;       /* that let it in, of a configuration; NULL: none that ends */
    int64_t after_id; /* -1: from what comes next on */
    uint32_t quiet_ticks;
};

/* One event that a look has found; its text is in `events`. */
struct event {
    int64_t id;
    char tenant[WR_TENANT_BYTES];
    size_t from, to;
};

struct wr_live_rows {
    uv_timer_t timer;
    bool has_timer, is_closed;
    const bool *is_draining;
    struct stream *streams;
    size_t streams_count;
    int64_t seen_id; /* the newest row of all looks; -1: there was none yet */
    /* Of a look: the thread's while `is_looking`. */
    uv_work_t work;
    bool is_looking;
    struct wr_traffic *traffic;
    const struct wr_models *models;
    int64_t after_id; /* it reads what is behind; -1: nothing, it only learns which is the newest */
    int64_t newest_id;
    struct wr_buf text;
    struct event *events;
    size_t events_count, events_cap;
};

/* ---- looking, on a thread ---- */

struct looking {
    struct wr_live_rows *live;
    struct wr_traffic_rows rows;
    struct wr_json_writer w;
};

static weir_status take_row(void *user, const struct wr_ledger_row *row)
{
    struct looking *looking = user;
    struct wr_live_rows *live = looking->live;
    struct event event = {.id = row->id, .from = live->text.len};

    if (!WR_HEAP_ROOM(live->events, live->events_count, live->events_cap, 64))
        return WEIR_NOMEM;
    (void)snprintf(event.tenant, sizeof(event.tenant), "%.*s", (int)row->tenant.len,
                   row->tenant.ptr);
    wr_json_write_init(&looking->w, &live->text);
    wr_json_write_array(&looking->w);
    event.from = live->text.len;
    weir_status status = wr_traffic_rows_add(&looking->rows, row);
    event.to = live->text.len;
    live->newest_id = row->id;
    if (!status && event.to > event.from)
        live->events[live->events_count++] = event;
    return status;
}

static void look(uv_work_t *work)
{
    struct wr_live_rows *live = work->data;
    struct looking looking = {.live = live};

    live->events_count = 0;
    live->newest_id = live->after_id;
    wr_buf_reset(&live->text);
    if (live->after_id < 0) {
        if (wr_traffic_newest(live->traffic, &live->newest_id, NULL))
            live->newest_id = -1;
        return;
    }
    if (!wr_traffic_rows_init(&looking.rows, live->models, &looking.w)) {
        looking.rows.names_session = true;
        if (wr_traffic_follow(live->traffic, live->after_id, take_row, &looking, NULL))
            looking.rows.count = 0; /* what was read is told, the rest at the next look */
    }
    wr_traffic_rows_release(&looking.rows);
}

/* ---- streams ---- */

static void end_stream(struct stream *stream)
{
    struct wr_conn *conn = stream->conn;
    stream->conn = NULL;
    if (conn)
        wr_conn_end(conn);
}

static void drop_gone(struct wr_live_rows *live)
{
    for (struct stream **at = &live->streams; *at;) {
        struct stream *stream = *at;
        if (stream->conn) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        live->streams_count--;
        free(stream);
    }
}

static void write_event(struct stream *stream, int64_t id, weir_span json)
{
    char head[64];
    weir_span line = wr_span_trim(json);

    (void)snprintf(head, sizeof(head), "id: %lld\nevent: request\ndata: ", (long long)id);
    wr_conn_write(stream->conn, wr_span_of(head));
    wr_conn_write(stream->conn, line);
    wr_conn_write(stream->conn, WR_LIT("\n\n"));
    stream->quiet_ticks = 0;
}

static void feed_stream(struct wr_live_rows *live, struct stream *stream)
{
    weir_span text = wr_buf_view(&live->text);

    /* A look may have begun further back, for somebody who has missed rows. */
    if (stream->after_id < 0)
        stream->after_id = live->seen_id < 0 ? live->newest_id : live->seen_id;
    for (size_t i = 0; i < live->events_count && stream->conn; i++) {
        const struct event *event = &live->events[i];
        if (event->id <= stream->after_id || strcmp(event->tenant, stream->tenant))
            continue;
        if (!wr_conn_has_room(stream->conn)) {
            end_stream(stream);
            return;
        }
        write_event(stream, event->id, wr_span_cut(text, event->from, event->to));
        stream->after_id = event->id;
    }
    if (stream->conn && ++stream->quiet_ticks > QUIET_TICKS_MAX) {
        wr_conn_write(stream->conn, WR_LIT(": still here\n\n"));
        stream->quiet_ticks = 0;
    }
}

static void on_looked(uv_work_t *work, int status)
{
    struct wr_live_rows *live = work->data;

    live->is_looking = false;
    if (!status && !live->is_closed && !wr_buf_status(&live->text))
        for (struct stream *s = live->streams; s; s = s->next)
            if (s->conn)
                feed_stream(live, s);
    if (!status && live->newest_id > live->seen_id)
        live->seen_id = live->newest_id;
    if (wr_buf_status(&live->text)) { /* too much at once: what is lost here is in the store */
        wr_buf_release(&live->text);
        wr_buf_init(&live->text, EVENTS_BYTES_MAX);
    }
}

/* The oldest row that somebody has not seen. */
static int64_t first_wanted(const struct wr_live_rows *live)
{
    int64_t after_id = live->seen_id;
    for (const struct stream *s = live->streams; s; s = s->next)
        if (s->after_id >= 0 && (after_id < 0 || s->after_id < after_id))
            after_id = s->after_id;
    return after_id;
}

static void on_tick(uv_timer_t *timer)
{
    struct wr_live_rows *live = timer->data;

    for (struct stream *s = live->streams; s; s = s->next)
        if (*live->is_draining || (s->token && !wr_user_token_is_good(s->token, wr_clock_ms())))
            end_stream(s);
    drop_gone(live);
    if (live->is_looking)
        return;
    if (!live->streams) {
        (void)uv_timer_stop(timer);
        live->seen_id = -1;
        return;
    }
    live->after_id = first_wanted(live);
    live->work.data = live;
    live->is_looking = !uv_queue_work(timer->loop, &live->work, look, on_looked);
}

void wr_live_rows_end_all(struct wr_live_rows *live)
{
    for (struct stream *s = live ? live->streams : NULL; s; s = s->next)
        end_stream(s);
}

/* ---- the request ---- */

static void on_body(void *user, weir_span bytes)
{
    (void)user;
    (void)bytes;
}

static void on_body_end(void *user)
{
    const struct wr_header headers[] = {
        {WR_LIT("Content-Type"), WR_LIT("text/event-stream; charset=utf-8")},
        {WR_LIT("Cache-Control"), WR_LIT("no-store")},
        {WR_LIT("X-Accel-Buffering"), WR_LIT("no")},
        {WR_LIT("X-Content-Type-Options"), WR_LIT("nosniff")}};
    struct stream *stream = user;
    struct wr_answer answer = {.status = 200,
                               .headers = headers,
                               .headers_count = WR_COUNT_OF(headers),
                               .content_bytes = -1};

    if (!stream->conn || wr_conn_has_begun(stream->conn))
        return;
    wr_conn_begin(stream->conn, &answer);
    wr_conn_write(stream->conn, WR_LIT("retry: 1000\n\n"));
}

static void on_room(void *user)
{
    (void)user;
}

static void on_gone(void *user)
{
    struct stream *stream = user;
    stream->conn = NULL;
}

static const struct wr_server_handler stream_handler = {NULL,    on_body, on_body_end, on_room,
                                                        on_gone, NULL,    NULL};

void *wr_live_rows_begin(struct wr_live_rows *live, struct wr_conn *conn,
                         const struct wr_head *head, const struct wr_entry *entry)
{
    uint64_t last_id;
    struct stream *stream = live->streams_count < WR_TRAFFIC_STREAMS_MAX && !live->is_closed
                                ? calloc(1, sizeof(*stream))
                                : NULL;

    if (!stream) {
        wr_page_error(conn, NULL, 503, "too many pages listen");
        return NULL;
    }
    *stream = (struct stream){
        .live = live, .conn = conn, .next = live->streams, .token = entry->token, .after_id = -1};
    if (wr_span_u64(wr_head_find(head, "last-event-id"), &last_id) && last_id <= INT64_MAX)
        stream->after_id = (int64_t)last_id;
    (void)snprintf(stream->tenant, sizeof(stream->tenant), "%s", entry->tenant);
    live->streams = stream;
    live->streams_count++;
    wr_conn_hand_over(conn, &stream_handler);
    if (!uv_is_active((uv_handle_t *)&live->timer))
        (void)uv_timer_start(&live->timer, on_tick, 0, WR_TRAFFIC_POLL_MS);
    return stream;
}

/* ---- life ---- */

struct wr_live_rows *wr_live_rows_new(uv_loop_t *loop, const char *store_dir,
                                      const struct wr_models *models, const bool *is_draining)
{
    struct wr_live_rows *live = calloc(1, sizeof(*live));

    if (!live)
        return NULL;
    live->models = models;
    live->is_draining = is_draining;
    live->seen_id = -1;
    live->traffic = wr_traffic_new(store_dir, models);
    wr_buf_init(&live->text, EVENTS_BYTES_MAX);
    live->timer.data = live;
    live->has_timer = live->traffic && !uv_timer_init(loop, &live->timer);
    if (live->has_timer)
        return live;
    wr_live_rows_free(live);
    return NULL;
}

void wr_live_rows_close(struct wr_live_rows *live)
{
    if (!live || live->is_closed)
        return;
    live->is_closed = true;
    uv_close((uv_handle_t *)&live->timer, NULL);
}

void wr_live_rows_free(struct wr_live_rows *live)
{
    if (!live)
        return;
    for (struct stream *s = live->streams; s; s = s->next)
        s->conn = NULL;
    drop_gone(live);
    wr_traffic_free(live->traffic);
    wr_buf_release(&live->text);
    free(live->events);
    free(live);
}
