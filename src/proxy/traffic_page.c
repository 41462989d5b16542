/* The page and its answers (traffic_page.h).
 *
 * Its files come from the program itself, with a policy by which a browser runs nothing but them:
 * no script in the text, nothing from elsewhere, no frame around it. Whatever a session holds is
 * data that the page's script puts into text nodes.
 */
#include "proxy/traffic_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "proxy/live_rows.h"
#include "proxy/pages.h"
#include "proxy/store_state.h"
#include "proxy/what_if.h"
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
