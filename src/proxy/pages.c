/* What Weir answers itself: errors, health, metrics, calls that are answered on a thread, files.
 *
 * /healthz says that the process lives, for whoever would restart it. /readyz says that it can do
 * what it is there for, for whoever would send requests elsewhere; it is 503 while the server
 * drains, while the store is in trouble, and while requests reach none of the upstreams that they
 * were for. /weir/v1/health tells people and `weir run` more. Errors have the form of the API that
 * was asked, so that an agent shows their text to its user.
 */
#include "proxy/pages.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "json/write.h"
#include "proxy/door.h"
#include "proxy/store_state.h"
#include "weir/weir.h"

enum { PAGE_BYTES_MAX = 1024 * 1024, METRICS_BYTES_MAX = 8 * 1024 * 1024 };

bool wr_page_is_ours(weir_span target)
{
    weir_span path = wr_target_path(target);
    return wr_span_is(path, "/metrics") || wr_span_is(path, "/healthz") ||
           wr_span_is(path, "/readyz") || wr_span_starts(path, WR_LIT("/weir/"));
}

/* libcurl's words may hold bytes of a host's name that are no UTF-8. */
static void make_ascii(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

/* Whose owner releases it. */
static void write_error(struct wr_buf *page, const struct wr_api *api, int status, const char *why)
{
    char message[1024];
    struct wr_json_writer w;

    (void)snprintf(message, sizeof(message), "weir: %s", why);
    make_ascii(message);
    wr_buf_init(page, PAGE_BYTES_MAX);
    wr_json_write_init(&w, page);
    wr_json_write_object(&w);
    wr_api_write_error(api, &w, status, message);
    wr_json_write_object_end(&w);
    wr_buf_byte(page, '\n');
}

static void send_page(struct wr_conn *conn, struct wr_answer *answer, struct wr_buf *page)
{
    answer->content_bytes = (int64_t)page->len;
    wr_conn_begin(conn, answer);
    wr_conn_write(conn, wr_buf_view(page));
    wr_conn_end(conn);
    wr_buf_release(page);
}

void wr_page_wrong_method(struct wr_conn *conn, const char *allow, const char *why)
{
    struct wr_header headers[] = {{WR_LIT("Content-Type"), WR_LIT("application/json")},
                                  {WR_LIT("Allow"), wr_span_of(allow)}};
    struct wr_answer answer = {
        .status = 405, .headers = headers, .headers_count = WR_COUNT_OF(headers)};
    struct wr_buf page;

    write_error(&page, NULL, 405, why);
    send_page(conn, &answer, &page);
}

/* SDKs of OpenAI and Anthropic try again by themselves unless x-should-retry says no. */
void wr_page_refusal(struct wr_conn *conn, const struct wr_api *api,
                     const struct wr_page_refusal *refusal)
{
    struct wr_header headers[4] = {{WR_LIT("Content-Type"), WR_LIT("application/json")}};
    struct wr_answer answer = {.status = refusal->status, .headers = headers, .headers_count = 1};
    char seconds[32];
    struct wr_buf page;

    write_error(&page, api, refusal->status, refusal->why);
    (void)snprintf(seconds, sizeof(seconds), "%lld", (long long)refusal->retry_s);
    if (refusal->retry_s)
        headers[answer.headers_count++] =
            (struct wr_header){WR_LIT("Retry-After"), wr_span_of(seconds)};
    if (!refusal->retry_s || !refusal->is_soon)
        headers[answer.headers_count++] =
            (struct wr_header){WR_LIT("x-should-retry"), WR_LIT("false")};
    if (refusal->note[0])
        headers[answer.headers_count++] =
            (struct wr_header){WR_LIT("x-weir-budget"), wr_span_of(refusal->note)};
    send_page(conn, &answer, &page);
}

void wr_page_error(struct wr_conn *conn, const struct wr_api *api, int status, const char *why)
{
    struct wr_buf page;

    write_error(&page, api, status, why);
    wr_conn_reply(conn, status, "application/json", wr_buf_view(&page));
    wr_buf_release(&page);
}

static void explain_credential(struct wr_buf *why, const struct wr_config *config,
                               const struct wr_credential *c)
{
    const struct wr_upstream *own = wr_credential_upstream(c->provider, config);

    wr_buf_printf(why,
                  "nothing was sent: %s is a credential for %s, and this path leads to an upstream "
                  "of another. ",
                  c->shown, c->provider);
    if (own)
        wr_buf_printf(why, "Ask for /p/%s/ instead", own->name);
    else
        wr_buf_printf(why,
                      "Name one in weir.yaml, `upstreams: {%s: {base_url: \"%s\"}}`, or start "
                      "with --upstream %s=URL",
                      c->provider, c->base_url, c->provider);
}

struct wr_page_failure wr_page_failure(enum wr_fetch_result result)
{
    static const struct wr_page_failure failures[] = {
        [WR_FETCH_UNREACHABLE] = {502, "upstream_unreachable"},
        [WR_FETCH_TIMEOUT] = {504, "upstream_timeout"},
        [WR_FETCH_STALE] = {502, "upstream_unreachable"},
        [WR_FETCH_UNANSWERED] = {502, "upstream_unanswered"},
        [WR_FETCH_UNFIT] = {502, "upstream_unfit"},
        [WR_FETCH_NO_FD] = {503, "no_descriptor"},
        [WR_FETCH_BROKEN] = {502, "upstream_broke_off"},
    };
    return failures[result];
}

void wr_page_not_begun(struct wr_conn *conn, const struct wr_config *config,
                       const struct wr_route *route)
{
    struct wr_buf why;

    if (route->upstream) {
        wr_page_error(conn, route->api, 503, "out of memory");
        return;
    }
    wr_buf_init(&why, PAGE_BYTES_MAX);
    if (route->credential.provider)
        explain_credential(&why, config, &route->credential);
    else
        wr_buf_text(&why, "no upstream is configured for this path");
    wr_buf_text(&why, "; /p/NAME/ goes to one of");
    for (size_t i = 0; i < config->upstreams_count; i++)
        wr_buf_printf(&why, "%s %s", i ? "," : "", config->upstreams[i].name);
    wr_buf_byte(&why, '\0');
    wr_page_error(conn, route->api, 404,
                  wr_buf_status(&why) ? "no upstream for this path" : why.bytes);
    wr_buf_release(&why);
}

void wr_page_no_key(struct wr_conn *conn, const struct wr_route *route)
{
    char why[512];

    (void)snprintf(why, sizeof(why),
                   "Weir's token stands where a key of %s belongs, and Weir has none: name one in "
                   "weir.yaml, `upstreams: {%s: {key: {env: NAME}}}`, or send the provider's key "
                   "there and the token as x-weir-token or as /k/TOKEN/ in front of the path",
                   route->upstream->name, route->upstream->name);
    wr_page_error(conn, route->api, 401, why);
}

void wr_page_other_path(struct wr_conn *conn, const struct wr_route *route)
{
    wr_page_error(conn, route->api, 403,
                  "nothing was sent: Weir holds this upstream's key for several people, and does "
                  "not know this path as a request to a model, which it could count and keep apart "
                  "from others'. Whoever runs this Weir can name it in weir.yaml, `other_paths: "
                  "[/v1/embeddings]`");
}

static const char *store_text(const struct wr_service *service)
{
    weir_trouble trouble = wr_store_state_trouble(service->metrics);

    if (!service->config->store_dir)
        return "none";
    return trouble ? weir_trouble_text(trouble) : "ok";
}

static void answer_health(struct wr_service *service, struct wr_conn *conn)
{
    struct wr_json_writer w;
    struct wr_buf page;

    wr_buf_init(&page, PAGE_BYTES_MAX);
    wr_json_write_init(&w, &page);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "status", service->is_draining ? "draining" : "ok");
    wr_json_member_word(&w, "version", weir_version());
    wr_json_member_word(&w, "mode", wr_mode_name(service->config->mode));
    wr_json_member_word(&w, "policy", service->config->policy);
    wr_json_member_word(&w, "store", store_text(service));
    wr_json_member_bool(&w, "mode_said", service->config->is_mode_said);
    wr_json_member_bool(&w, "policy_said", service->config->is_policy_said);
    wr_json_member_i64(&w, "uptime_s", (wr_clock_ms() - service->started_ms) / 1000);
    wr_json_member_number(&w, "requests", service->requests_count);
    wr_json_write_object_end(&w);
    wr_buf_byte(&page, '\n');
    wr_conn_reply(conn, 200, "application/json", wr_buf_view(&page));
    wr_buf_release(&page);
}

/* Whether the process lives, for whoever would restart it. */
static void answer_alive(struct wr_conn *conn)
{
    wr_conn_reply(conn, 200, "text/plain", WR_LIT("ok\n"));
}

/* Upstreams that requests do not reach, a line each. */
static size_t put_down(const struct wr_service *service, struct wr_buf *text)
{
    const struct wr_config *config = service->config;
    int64_t since_ms, now_ms = wr_clock_ms();
    size_t count = 0;

    for (size_t i = 0; i < config->upstreams_count; i++) {
        if (!wr_upstream_is_down(&service->metrics->upstreams, config->upstreams[i].name,
                                 &since_ms))
            continue;
        wr_buf_printf(text, "upstream %s: not reached for %lld s\n", config->upstreams[i].name,
                      (long long)((now_ms - since_ms) / 1000));
        count++;
    }
    return count;
}

/* How many upstreams requests have been for. */
static size_t count_asked(const struct wr_service *service)
{
    const struct wr_config *config = service->config;
    size_t count = 0;

    for (size_t i = 0; i < config->upstreams_count; i++)
        count += wr_upstream_is_known(&service->metrics->upstreams, config->upstreams[i].name);
    return count;
}

static void answer_what(struct wr_conn *conn)
{
    char text[512];

    (void)snprintf(
        text, sizeof(text),
        "Weir %s: a gateway between agents and their models.\n\n"
        "Set your agent's base URL to this address (for OpenAI's clients with /v1 behind "
        "it).\n/weir/ shows your sessions, /healthz and /readyz say how it is.\n",
        weir_version());
    wr_conn_reply(conn, 200, "text/plain", wr_span_of(text));
}

/* Whether requests are shortened, for whoever would send them elsewhere otherwise. Requests are
 * answered in any case. */
static void answer_ready(const struct wr_service *service, struct wr_conn *conn)
{
    weir_trouble trouble = wr_store_state_trouble(service->metrics);
    size_t down_count = 0;
    bool is_well = !service->is_draining && !trouble;
    struct wr_buf text;

    wr_buf_init(&text, PAGE_BYTES_MAX);
    wr_buf_text(&text, is_well ? "" : service->is_draining ? "draining\n" : "store: ");
    if (trouble && !service->is_draining)
        wr_buf_printf(&text, "%s; nothing new is shortened\n", weir_trouble_text(trouble));
    down_count = put_down(service, &text);
    if (is_well && !text.len)
        wr_buf_text(&text, "ok\n");
    is_well = is_well && (!down_count || down_count < count_asked(service));
    wr_conn_reply(conn, is_well ? 200 : 503, "text/plain", wr_buf_view(&text));
    wr_buf_release(&text);
}

static void answer_metrics(struct wr_service *service, struct wr_conn *conn)
{
    struct wr_buf page;
    wr_buf_init(&page, METRICS_BYTES_MAX);
    wr_metrics_write(service->metrics, &page);
    wr_conn_reply(conn, 200, "text/plain; version=0.0.4", wr_buf_view(&page));
    wr_buf_release(&page);
}

/* Codex takes a 426 for "speak HTTP" at once, and stays with it for the session. */
static void decline_upgrade(struct wr_conn *conn)
{
    wr_page_error(conn, NULL, 426,
                  "WebSockets are not spoken here; set the client's transport to HTTP (Codex takes "
                  "it by itself, or with supports_websockets = false in its provider)");
}

void wr_page_answer(struct wr_service *service, struct wr_conn *conn, const struct wr_head *head,
                    const struct wr_entry *entry)
{
    weir_span path = wr_target_path(entry->target);

    if (entry->status)
        wr_page_error(conn, NULL, entry->status, entry->why);
    else if (head->is_upgrade)
        decline_upgrade(conn);
    else if (!wr_span_is(head->method, "GET") && !wr_span_is(head->method, "HEAD"))
        wr_page_wrong_method(conn, "GET, HEAD", "this path is read with GET");
    else if (wr_span_is(path, "/metrics"))
        answer_metrics(service, conn);
    else if (wr_span_is(path, "/healthz"))
        answer_alive(conn);
    else if (wr_span_is(path, "/"))
        answer_what(conn);
    else if (wr_span_is(path, "/readyz"))
        answer_ready(service, conn);
    else if (wr_span_is(path, "/weir/v1/health"))
        answer_health(service, conn);
    else
        wr_page_error(conn, NULL, 404,
                      "there is nothing at this path; Weir's own are /weir/, "
                      "/weir/v1/..., /metrics, /mcp, /healthz and /readyz");
}

/* ==== calls that are answered on a thread ====
 *
 * A call of a path of our own: its body is collected on the loop, answered on one of libuv's
 * threads, and sent on the loop.
 *
 *   begin ──▶ body ──▶ body_end ──▶ on_thread ──▶ on_worked: `over`, answer, free
 *               └── too long: 413      └── the client is gone: worked on to the end, then freed
 *
 * Two may hold a call, the client's connection and the thread. Whoever lets go last frees it:
 * on_gone() while nothing is worked on, on_worked() otherwise.
 */

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
                                  {WR_LIT("X-Content-Type-Options"), WR_LIT("nosniff")},
                                  {WR_LIT("Allow"), wr_span_of(call->allow ? call->allow : "")}};
    struct wr_answer answer = {.status = call->status,
                               .headers = headers,
                               .headers_count = call->allow ? 5
                                                : body.len  ? 4
                                                            : 0,
                               .content_bytes = (int64_t)body.len};

    wr_conn_begin(call->conn, &answer);
    wr_conn_write(call->conn, body);
    wr_conn_end(call->conn);
}

static void note_act(const struct wr_page_call *call)
{
    weir_span path = wr_target_path(call->target);
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

/* ==== the files of the page ==== */

bool wr_page_file_find(weir_span path, struct wr_web_file *file)
{
    weir_span front = WR_LIT("/weir/");

    if (!wr_span_starts(path, front))
        return false;
    weir_span name = wr_span_from(path, front.len);
    if (wr_span_is(name, "index.html") || wr_span_is(name, "file.js"))
        return false; /* the page has one address, and a page in a file is not served */
    return wr_web_find(name.len ? name : WR_LIT("index.html"), file);
}

bool wr_page_file_is(weir_span path)
{
    struct wr_web_file file;
    return wr_span_is(path, "/weir") || wr_page_file_find(path, &file);
}
