/* Asking a provider, on a loop of the client's own.
 *
 *   start ──▶ fetch, until it ends, is interrupted, or nothing came for WR_AGENT_IDLE_S_MAX
 *         ──▶ judge: done, refused, broken, unreachable or interrupted
 *         ──▶ a pause and another try, where nothing was shown yet and a later try may go well
 *
 * The loop only runs while somebody waits. Everything that may end the wait is a watcher on it:
 * the fetch, the timer, the keyboard, signals; that is why a pause is a timer too and no sleep.
 *
 * An answer that broke off is not asked for again: part of it was on the screen already.
 */
#include "agent/client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/write.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "models/window.h"
#include "net/http.h"
#include "weir/version.h"

/* ---- endpoint ---- */

/* The API that the model's name suggests, or the only one that there is a key for. */
static const struct wr_api *api_told(const char *model, wr_getenv_fn *get)
{
    const struct wr_api *only = NULL;

    for (size_t i = 0; model && i < WR_APIS_COUNT; i++)
        if (wr_apis[i]->model_word && strstr(model, wr_apis[i]->model_word))
            return wr_apis[i];
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const struct wr_api *api = wr_apis[i];
        if (!api->url || (!get(api->key_variable) && !get(api->url_variable)))
            continue;
        if (only && strcmp(only->key_variable, api->key_variable))
            return NULL;
        only = api;
    }
    return only && only->model_word ? only : NULL;
}

static const struct wr_api *find_api(const struct wr_endpoint_options *o, wr_getenv_fn *get)
{
    if (o->api)
        return wr_api_named(wr_span_of(o->api));
    if (o->base_url)
        return &wr_api_chat; /* every server of one's own speaks it */
    const struct wr_api *told = api_told(o->model, get);
    return told ? told : &wr_api_responses;
}

/* Somebody's own server: it may take no key, tells its window, and may want turns to be taken. */
static bool is_near(const char *url)
{
    struct wr_host host;
    return wr_host_of_url(wr_span_of(url), &host) && wr_host_is_private(host.name);
}

/* An address without a path means its /v1, or what its API has there. */
static bool set_base(struct wr_endpoint *e, const char *url)
{
    size_t bytes = strlen(url);
    const char *host = strstr(url, "://");

    while (bytes && url[bytes - 1] == '/')
        bytes--;
    if (!host || bytes <= (size_t)(host - url) + 3 || bytes + 16 > sizeof(e->base_url))
        return false;
    bool has_path = memchr(host + 3, '/', bytes - (size_t)(host - url) - 3);
    (void)snprintf(e->base_url, sizeof(e->base_url), "%.*s%s", (int)bytes, url,
                   has_path            ? ""
                   : e->api->base_path ? e->api->base_path
                                       : "/v1");
    e->is_local = is_near(url);
    return true;
}

weir_status wr_endpoint_find(struct wr_endpoint *e, const struct wr_endpoint_options *o,
                             wr_getenv_fn *get, struct weir_err *err)
{
    *e = (struct wr_endpoint){.key = NULL};
    e->api = find_api(o, get);
    if (!e->api)
        return wr_fail(err, WEIR_INVALID, 0, "--api is " WR_API_NAMES ", not '%s'", o->api);
    if (!e->api->url)
        return wr_fail(err, WEIR_INVALID, 0,
                       "weir agent does not speak %s; clients of it may go through weir serve",
                       e->api->name);
    const char *url = o->base_url;
    if (!url)
        url = get(e->api->url_variable);
    if (!url)
        url = e->api->url;
    if (!set_base(e, url))
        return wr_fail(err, WEIR_INVALID, 0, "'%s' is no address such as http://127.0.0.1:11434",
                       url);
    e->key = get(e->api->key_variable);
    if (e->key && !*e->key)
        e->key = NULL;
    if (!e->key && !e->is_local)
        return wr_fail(err, WEIR_INVALID, 0,
                       "no key for %s: set %s, or give --base-url of a local server", e->base_url,
                       e->api->key_variable);
    return WEIR_OK;
}

void wr_endpoint_url(const struct wr_endpoint *e, weir_span body, struct wr_buf *url)
{
    wr_buf_text(url, e->base_url);
    if (e->api->write_path)
        e->api->write_path(url, body);
    else
        wr_buf_text(url, e->api->paths[0].end);
    wr_buf_byte(url, '\0');
}

size_t wr_endpoint_headers(const struct wr_endpoint *e, const char *session, struct wr_buf *text,
                           struct wr_header headers[WR_ENDPOINT_HEADERS_MAX])
{
    size_t count = 0;

    wr_buf_text(text, e->key ? "Bearer " : "");
    wr_buf_text(text, e->key ? e->key : "");
    headers[count++] = (struct wr_header){WR_LIT("content-type"), WR_LIT("application/json")};
    headers[count++] = (struct wr_header){WR_LIT("accept"), WR_LIT("text/event-stream")};
    headers[count++] =
        (struct wr_header){WR_LIT("user-agent"), WR_LIT("weir-agent/" WEIR_VERSION_STRING)};
    headers[count++] = (struct wr_header){WR_LIT("x-weir-session"), wr_span_of(session)};
    if (e->api->version_header)
        headers[count++] =
            (struct wr_header){wr_span_of(e->api->version_header), wr_span_of(e->api->version)};
    if (e->key && e->api->key_header)
        headers[count++] = (struct wr_header){wr_span_of(e->api->key_header), wr_span_of(e->key)};
    else if (e->key && !wr_buf_status(text))
        headers[count++] = (struct wr_header){WR_LIT("authorization"), wr_buf_view(text)};
    return count;
}

/* ---- client ---- */

struct asking {
    struct wr_client *client;
    uv_timer_t idle; /* since the last byte */
    uint64_t idle_ms;
    bool is_late, is_idle_closed;
    struct wr_fetch *fetch; /* NULL: it is over */
    struct wr_arena arena;
    struct wr_reply answer;
    struct wr_buf text; /* of what is no stream */
    int status;
    bool is_stream, has_begun;
    char type[80];
    uint64_t retry_after_s;
    enum wr_fetch_result result;
    char why[256];
};

/* ---- events ---- */

static void on_head(void *user, const struct wr_head *head)
{
    struct asking *a = user;
    weir_span type = wr_head_find(head, "content-type");
    weir_span after = wr_head_find(head, "retry-after");

    (void)uv_timer_again(&a->idle);
    a->status = head->status;
    a->has_begun = true;
    a->is_stream = head->status == 200 && wr_answer_is_stream(a->answer.api, type);
    (void)snprintf(a->type, sizeof(a->type), "%.*s", (int)type.len, type.len ? type.ptr : "");
    if (after.len && !wr_span_u64(after, &a->retry_after_s))
        a->retry_after_s = 0;
}

static bool on_data(void *user, weir_span bytes)
{
    struct asking *a = user;
    (void)uv_timer_again(&a->idle);
    if (a->is_stream)
        wr_answer_feed(&a->answer, bytes);
    else
        wr_buf_append(&a->text, bytes);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct asking *a = user;
    a->fetch = NULL;
    a->result = result;
    (void)snprintf(a->why, sizeof(a->why), "%s", why ? why : "");
    uv_stop(&a->client->loop);
}

static const struct wr_fetch_events events = {on_head, on_data, on_end, NULL};

/* ---- one try ---- */

static void on_idle(uv_timer_t *timer)
{
    struct asking *a = timer->data;
    a->is_late = true;
    uv_stop(timer->loop);
}

static void on_idle_closed(uv_handle_t *handle)
{
    struct asking *a = handle->data;
    a->is_idle_closed = true;
}

static void run_fetch(struct wr_client *client, struct asking *a)
{
    (void)uv_timer_init(&client->loop, &a->idle);
    a->idle.data = a;
    (void)uv_timer_start(&a->idle, on_idle, a->idle_ms, a->idle_ms);
    while (a->fetch && !client->is_interrupted && !a->is_late)
        (void)uv_run(&client->loop, UV_RUN_ONCE);
    if (a->fetch)
        wr_fetch_cancel(a->fetch);
    if (a->fetch && a->is_late) {
        a->result = WR_FETCH_BROKEN;
        (void)snprintf(a->why, sizeof(a->why), "nothing came for %llu seconds",
                       (unsigned long long)(a->idle_ms / 1000));
    }
    a->fetch = NULL;
    uv_close((uv_handle_t *)&a->idle, on_idle_closed);
    while (!a->is_idle_closed)
        (void)uv_run(&client->loop, UV_RUN_ONCE);
}

static void fetch_once(struct wr_client *client, struct asking *a,
                       const struct wr_fetch_request *request)
{
    struct weir_err err = {0};

    a->client = client;
    a->result = WR_FETCH_UNREACHABLE;
    if (wr_fetch_start(&a->fetch, client->fetcher, request, &events, a, &err)) {
        (void)snprintf(a->why, sizeof(a->why), "%s", err.text);
        a->fetch = NULL;
        return;
    }
    run_fetch(client, a);
}

static void begin_asking(struct asking *a, const struct wr_ask *ask)
{
    *a = (struct asking){.idle_ms = (uint64_t)WR_AGENT_IDLE_S_MAX * 1000};
    wr_arena_init(&a->arena, WR_ARENA_BYTES_MAX);
    if (ask)
        wr_answer_init(&a->answer, &(struct wr_answer_options){.api = ask->endpoint->api,
                                                               .arena = &a->arena,
                                                               .keeps_all = true,
                                                               .on_piece = ask->on_piece,
                                                               .user = ask->user});
    wr_buf_init(&a->text, WR_AGENT_ANSWER_BYTES_MAX);
}

static void end_asking(struct asking *a)
{
    wr_answer_release(&a->answer);
    wr_arena_release(&a->arena);
    wr_buf_release(&a->text);
}

static void post_body(struct wr_client *client, const struct wr_ask *ask, struct asking *a)
{
    struct wr_header headers[WR_ENDPOINT_HEADERS_MAX];
    struct wr_buf url, text;

    wr_buf_init(&url, WR_NET_HEAD_BYTES_MAX);
    wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX);
    wr_endpoint_url(ask->endpoint, ask->body, &url);
    struct wr_fetch_request request = {.url = url.bytes,
                                       .method = WR_LIT("POST"),
                                       .headers = headers,
                                       .has_body = true,
                                       .body = ask->body,
                                       .content_bytes = (int64_t)ask->body.len};
    request.headers_count = wr_endpoint_headers(ask->endpoint, ask->session, &text, headers);
    fetch_once(client, a, &request);
    wr_buf_release(&url);
    wr_buf_release(&text);
}

/* ---- what became of it ---- */

static void take_answer(struct asking *a, struct wr_asked_result *r)
{
    weir_span body = wr_buf_view(&a->text);
    struct weir_answer said = {.text = {"", 0}};
    weir_status status = a->is_stream ? wr_answer_end(&a->answer, &body) : WEIR_OK;

    if (!a->is_stream) /* what is no answer is for the session to refuse */
        (void)wr_answer_whole(&a->answer, body, NULL);
    if (status && a->answer.has_error) {
        r->asked = WR_ASKED_REFUSED;
        body = wr_buf_view(&a->answer.refusal);
    } else if (status) {
        r->asked = WR_ASKED_BROKEN;
        (void)snprintf(r->why, sizeof(r->why), "the answer is not whole");
        return;
    }
    wr_buf_append(&r->body, body);
    r->has_usage = wr_seen_usage_is_known(&a->answer.usage);
    r->usage = wr_seen_usage_split(&a->answer.usage, a->answer.api->counts_cached_apart);
    if (!status && !wr_answer_said(&a->answer, &a->arena, &said, NULL))
        wr_buf_append(&r->text, said.text);
}

static void judge_asking(const struct wr_client *client, struct asking *a,
                         struct wr_asked_result *r)
{
    r->status = a->status;
    r->is_stream = a->is_stream;
    memcpy(r->type, a->type, sizeof(r->type));
    (void)snprintf(r->why, sizeof(r->why), "%s", a->why);
    if (client->is_interrupted) {
        r->asked = WR_ASKED_INTERRUPTED;
    } else if (a->result != WR_FETCH_DONE) {
        r->asked = a->has_begun || a->is_late ? WR_ASKED_BROKEN : WR_ASKED_UNREACHABLE;
    } else if (a->status != 200) {
        r->asked = WR_ASKED_REFUSED;
        wr_buf_append(&r->body, wr_buf_view(&a->text));
    } else {
        r->asked = WR_ASKED_DONE;
        take_answer(a, r);
    }
}

/* Nothing was shown yet, and a later try may go well. */
static bool is_worth_another(const struct wr_asked_result *r, const struct asking *a)
{
    if (r->asked == WR_ASKED_UNREACHABLE)
        return true;
    return r->asked == WR_ASKED_REFUSED && !a->is_stream &&
           (r->status == 408 || r->status == 429 || r->status >= 500);
}

static void on_timer(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void on_closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

/* The keyboard and signals are still watched. */
static void sleep_on_loop(struct wr_client *client, uint64_t seconds)
{
    uv_timer_t timer;
    bool is_closed = false;

    (void)uv_timer_init(&client->loop, &timer);
    timer.data = &is_closed;
    (void)uv_timer_start(&timer, on_timer, seconds * 1000, 0);
    while (uv_is_active((uv_handle_t *)&timer) && !client->is_interrupted)
        (void)uv_run(&client->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, on_closed);
    while (!is_closed)
        (void)uv_run(&client->loop, UV_RUN_ONCE);
}

static bool wait_for_another(struct wr_client *client, const struct wr_ask *ask,
                             const struct wr_asked_result *r, const struct asking *a,
                             unsigned tries)
{
    uint64_t seconds = a->retry_after_s ? a->retry_after_s : (uint64_t)1 << tries;
    char why[300];

    if (seconds > WR_AGENT_RETRY_S_MAX)
        return false;
    if (r->status)
        (void)snprintf(why, sizeof(why), "the provider answered %d", r->status);
    else
        (void)snprintf(why, sizeof(why), "%s", r->why);
    if (ask->on_wait)
        ask->on_wait(ask->user, why, seconds);
    sleep_on_loop(client, seconds);
    return !client->is_interrupted;
}

void wr_asked_release(struct wr_asked_result *r)
{
    wr_buf_release(&r->body);
    wr_buf_release(&r->text);
}

void wr_client_ask(struct wr_client *client, const struct wr_ask *ask, struct wr_asked_result *r)
{
    bool again = true;

    client->is_interrupted = client->has_ended;
    for (unsigned tries = 0; again; tries++) {
        struct asking a;
        *r = (struct wr_asked_result){.status = 0};
        wr_buf_init(&r->body, WR_AGENT_ANSWER_BYTES_MAX);
        wr_buf_init(&r->text, WR_AGENT_ANSWER_BYTES_MAX);
        begin_asking(&a, ask);
        post_body(client, ask, &a);
        judge_asking(client, &a, r);
        again = tries + 1 < WR_AGENT_TRIES_MAX && is_worth_another(r, &a) &&
                wait_for_another(client, ask, r, &a, tries);
        if (again)
            wr_asked_release(r);
        end_asking(&a);
    }
    if (client->is_interrupted)
        r->asked = WR_ASKED_INTERRUPTED;
}

/* What it says of itself a server knows at once; one that hangs must not keep the agent from
 * beginning. */
enum { SERVER_IDLE_MS = 10000 };

static bool get_answer(struct wr_client *client, const char *url, struct wr_buf *body,
                       bool *is_late)
{
    struct wr_fetch_request request = {.url = url, .method = WR_LIT("GET"), .content_bytes = -1};
    struct asking a;

    client->is_interrupted = client->has_ended;
    begin_asking(&a, NULL);
    a.idle_ms = SERVER_IDLE_MS;
    fetch_once(client, &a, &request);
    *is_late = a.is_late;
    bool ok = a.result == WR_FETCH_DONE && a.status == 200 && !a.is_stream;
    if (ok)
        wr_buf_append(body, wr_buf_view(&a.text));
    end_asking(&a);
    return ok && !wr_buf_status(body);
}

uint32_t wr_local_window(struct wr_client *client, const struct wr_endpoint *endpoint,
                         const char *model)
{
    const char *host = strstr(endpoint->base_url, "://");
    const char *slash = host ? strchr(host + 3, '/') : NULL;
    int root_bytes = slash ? (int)(slash - endpoint->base_url) : (int)strlen(endpoint->base_url);
    uint32_t window_tokens = 0;
    bool is_late = false;

    for (int i = 0; i < WR_SERVERS_COUNT && !is_late; i++) {
        char url[sizeof(endpoint->base_url) + 64];
        struct wr_buf answer;
        (void)snprintf(url, sizeof(url), "%.*s%s", root_bytes, endpoint->base_url,
                       wr_server_path((enum wr_model_server)i));
        wr_buf_init(&answer, WR_SERVER_BODY_BYTES_MAX);
        bool is_told = get_answer(client, url, &answer, &is_late) &&
                       !wr_loaded_read((enum wr_model_server)i, wr_buf_view(&answer),
                                       wr_span_of(model), &window_tokens);
        wr_buf_release(&answer);
        if (is_told)
            return window_tokens;
        is_late |= client->is_interrupted;
    }
    return 0;
}

void wr_client_interrupt(struct wr_client *client)
{
    client->is_interrupted = true;
    uv_stop(&client->loop);
}

bool wr_client_sleep(struct wr_client *client, uint64_t seconds)
{
    client->is_interrupted = client->has_ended;
    sleep_on_loop(client, seconds);
    return !client->is_interrupted;
}

/* ---- signals ---- */

static void on_signal(uv_signal_t *signal, int number)
{
    struct wr_client *client = signal->data;
    if (number != SIGINT || client->ends_at_interrupt)
        client->has_ended = true;
    wr_client_interrupt(client);
}

/* nohup starts programs so, and it must stay so. */
static bool is_ignored(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void wr_client_watch_signals(struct wr_client *client, bool ends_at_interrupt)
{
    static const int numbers[WR_CLIENT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

    client->ends_at_interrupt = ends_at_interrupt;
    for (size_t i = client->signals_count ? WR_CLIENT_SIGNALS : 0; i < WR_CLIENT_SIGNALS; i++) {
        uv_signal_t *signal = &client->signals[client->signals_count];
        if (is_ignored(numbers[i]) || uv_signal_init(&client->loop, signal))
            continue;
        client->signals_count++;
        signal->data = client;
        (void)uv_signal_start(signal, on_signal, numbers[i]);
    }
}

bool wr_client_has_ended(struct wr_client *client)
{
    if (client->signals_count && !client->has_ended)
        (void)uv_run(&client->loop, UV_RUN_NOWAIT);
    return client->has_ended;
}

/* ---- life ---- */

weir_status wr_client_init(struct wr_client *client, const char *ca_file, struct weir_err *err)
{
    struct wr_fetcher_options options = {.ca_file = ca_file};

    *client = (struct wr_client){.fetcher = NULL};
    if (uv_loop_init(&client->loop))
        return WEIR_NOMEM;
    weir_status status = wr_fetcher_new(&client->fetcher, &client->loop, &options, err);
    if (status)
        (void)uv_loop_close(&client->loop);
    return status;
}

void wr_client_release(struct wr_client *client)
{
    if (!client->fetcher)
        return;
    for (size_t i = 0; i < client->signals_count; i++)
        uv_close((uv_handle_t *)&client->signals[i], NULL);
    client->signals_count = 0;
    wr_fetcher_close(client->fetcher);
    (void)uv_run(&client->loop, UV_RUN_DEFAULT);
    wr_fetcher_free(client->fetcher);
    (void)uv_loop_close(&client->loop);
    client->fetcher = NULL;
}

/* ---- a summary, asked for ---- */

/* Only the newest part of a longer conversation goes to the model; the facts of the rest are in the
 * extract. */
enum { BYTES_A_TOKEN = 4 };

static const char instructions[] =
    "Summarise the conversation below for the agent that will go on with it. Keep what was asked, "
    "what was decided and why, files and their state, what failed with its exact message, and what "
    "is to be done next. Keep every path, name and number that the extract names. Write plain "
    "text, no preamble.\n\n";

void wr_summary_call_init(struct wr_summary_call *call)
{
    *call = (struct wr_summary_call){.model = NULL};
    wr_buf_init(&call->text, WR_AGENT_ANSWER_BYTES_MAX);
}

void wr_summary_call_release(struct wr_summary_call *call)
{
    wr_buf_release(&call->text);
}

/* ---- the request ---- */

static void write_request(const struct wr_summary_call *call, weir_span question,
                          uint64_t tokens_max, struct wr_buf *out)
{
    struct wr_body_head head = {.model = wr_span_of(call->model),
                                .output_tokens_max = tokens_max,
                                .is_for_provider = true,
                                .extra = WR_LIT("\"stream\":true")};
    struct wr_line line = {.kind = WR_LINE_WORDS, .text = question};
    struct wr_body body;

    wr_body_init(&body, call->endpoint->api, out);
    wr_body_begin(&body, &head);
    wr_body_line(&body, &line);
    wr_body_end(&body);
    wr_body_release(&body);
}

/* ---- asking, for so long ---- */

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_summary_call *call = user;
    if (kind == WR_PIECE_TEXT)
        wr_buf_append(&call->text, text);
}

static void on_late(uv_timer_t *timer)
{
    wr_client_interrupt(timer->data);
}

static void on_limit_closed(uv_handle_t *handle)
{
    handle->data = NULL;
}

static enum wr_asked ask_within(struct wr_summary_call *call, weir_span body,
                                const struct weir_summary_task *task)
{
    struct wr_ask ask = {.endpoint = call->endpoint,
                         .session = call->session,
                         .body = body,
                         .on_piece = on_piece,
                         .user = call};
    struct wr_asked_result result;
    uv_timer_t timer;

    (void)uv_timer_init(&call->client->loop, &timer);
    timer.data = call->client;
    if (task->timeout_ms > 0)
        (void)uv_timer_start(&timer, on_late, (uint64_t)task->timeout_ms, 0);
    wr_client_ask(call->client, &ask, &result);
    if (result.asked == WR_ASKED_DONE && result.has_usage && task->spent)
        *task->spent = (struct weir_session_spent){.model = call->model, .usage = result.usage};
    wr_asked_release(&result);
    uv_close((uv_handle_t *)&timer, on_limit_closed);
    while (timer.data)
        (void)uv_run(&call->client->loop, UV_RUN_ONCE);
    return result.asked;
}

/* Whether asking could cost more than the task allows. A model without a price is asked. */
static bool is_too_dear(const struct wr_summary_call *call, const struct weir_summary_task *task,
                        size_t question_bytes)
{
    struct weir_session_usage usage = {.input_tokens = question_bytes / BYTES_A_TOKEN,
                                       .output_tokens = task->tokens_max};
    uint64_t micro_usd;

    return call->live && task->cost_micro_usd_max &&
           weir_session_price(call->live, call->model, &usage, &micro_usd) &&
           micro_usd > task->cost_micro_usd_max;
}

static void write_question(struct wr_buf *question, const struct weir_summary_task *task)
{
    weir_span history = task->history;

    wr_buf_text(question, instructions);
    if (task->refused)
        wr_buf_printf(question,
                      "You were asked before, and what you wrote was not taken: %s. Name every "
                      "changed file, every open error and every open item of the extract.\n\n",
                      task->refused);
    wr_buf_text(question, "THE EXTRACT\n");
    wr_buf_append(question, task->extracted);
    wr_buf_text(question, "\n\nTHE CONVERSATION\n");
    if (history.len > WR_AGENT_SUMMARY_BYTES_MAX) {
        size_t from = history.len - WR_AGENT_SUMMARY_BYTES_MAX;
        while (from < history.len && wr_utf8_is_tail(history.ptr[from]))
            from++;
        wr_buf_printf(question, "[... its first %zu bytes are left out: the extract has them]\n",
                      from);
        history = wr_span_cut(history, from, history.len);
    }
    wr_buf_append(question, history);
}

weir_status wr_summary_call(void *user, const struct weir_summary_task *task, weir_span *text)
{
    struct wr_summary_call *call = user;
    struct wr_buf question, body;

    wr_buf_reset(&call->text);
    wr_buf_init(&question, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&body, WR_AGENT_FILE_BYTES_MAX * 2);
    write_question(&question, task);
    write_request(call, wr_buf_view(&question), task->tokens_max, &body);
    weir_status status = wr_buf_status(&question) || wr_buf_status(&body) ? WEIR_IO : WEIR_OK;
    if (!status && is_too_dear(call, task, question.len))
        status = WEIR_LIMIT;
    if (!status && ask_within(call, wr_buf_view(&body), task) != WR_ASKED_DONE)
        status = WEIR_IO;
    wr_buf_release(&question);
    wr_buf_release(&body);
    *text = wr_buf_view(&call->text);
    return status ? status : wr_buf_status(&call->text);
}
