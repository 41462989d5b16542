/* A proxy under test, between a client and a provider that are both ours.
 *
 * One loop serves both sides: the request is posted to the proxy, and while its answer is awaited
 * what the proxy sends on arrives at our port, is kept, and is answered with what was recorded.
 * Requests go one at a time, so that what arrives belongs to the one that was sent.
 */
#include "lab/rival.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "json/json.h"
#include "lab/session.h"
#include "net/fetch.h"
#include "net/server.h"

enum { WHY_BYTES_MAX = 400, ANSWER_SHOWN_BYTES = 160, SESSION_BYTES_MAX = 48 };

static const char side_answer[] =
    "{\"role\":\"assistant\",\"content\":\"The work so far went as the messages say.\"}";

struct wr_rival_port {
    const struct wr_rival_port_options *options;
    struct wr_rival rival;
    uv_loop_t loop;
    uv_timer_t patience;
    int listener;
    struct wr_server *server;
    struct wr_fetcher *fetcher;
    struct wr_buf url; /* of the request at hand */
    struct wr_arena arena;
    struct wr_json side; /* the answer to what the proxy asks on its own account */
    uint32_t sessions_count;
    char session[SESSION_BYTES_MAX];
    char why[WHY_BYTES_MAX];
    /* Of the request at hand. */
    const struct wr_json *answer;
    weir_dialect dialect;
    bool has_tools;
    struct wr_fetch *fetch; /* NULL: it has ended */
    int status;
    struct wr_buf answered; /* what the proxy answered */
    struct wr_buf bodies[WR_RIVAL_BODIES_MAX];
    weir_span spans[WR_RIVAL_BODIES_MAX];
    weir_dialect dialects[WR_RIVAL_BODIES_MAX];
    bool is_own[WR_RIVAL_BODIES_MAX];
    uint32_t bodies_count;
};

/* ---- our side of the provider ---- */

struct arriving {
    struct wr_rival_port *port;
    struct wr_conn *conn;
    struct wr_buf body;
    weir_dialect dialect;
    bool is_post, is_packed;
};

/* The API that a target is of: a proxy may have turned one into another. */
static weir_dialect dialect_of(weir_span target)
{
    const struct wr_api *api = wr_api_by_path(target, NULL);
    return api ? api->dialect : WR_SESSION_DIALECT;
}

static void *begin(void *user, struct wr_conn *conn, const struct wr_head *head)
{
    weir_span packed = wr_head_find(head, "content-encoding");
    struct arriving *a = calloc(1, sizeof(*a));
    if (!a) {
        wr_conn_abort(conn);
        return NULL;
    }
    *a = (struct arriving){.port = user,
                           .conn = conn,
                           .dialect = dialect_of(head->target),
                           .is_post = wr_span_is(head->method, "POST"),
                           .is_packed = packed.len && !wr_span_is(packed, "identity")};
    wr_buf_init(&a->body, WR_OUTPUT_BYTES_MAX);
    return a;
}

static void on_body(void *exchange, weir_span bytes)
{
    struct arriving *a = exchange;
    if (a)
        wr_buf_append(&a->body, bytes);
}

static void free_arriving(void *exchange)
{
    struct arriving *a = exchange;
    if (a)
        wr_buf_release(&a->body);
    free(a);
}

static bool offers_tools(weir_span body)
{
    struct wr_arena arena;
    struct wr_json doc;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool ok = !wr_json_parse(&doc, &arena, body, NULL, NULL) &&
              wr_json_is(&doc, wr_json_find(&doc, 0, "tools"), WR_JSON_ARRAY);
    wr_arena_release(&arena);
    return ok;
}

/* A whole answer that says what the message does. */
static void reply(struct wr_conn *conn, weir_dialect dialect, const struct wr_json *message)
{
    struct wr_buf out;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_session_write_answer(message, dialect, &out);
    if (out.status)
        wr_conn_abort(conn);
    else
        wr_conn_reply(conn, 200, "application/json", wr_buf_view(&out));
    wr_buf_release(&out);
}

/* Takes a body over. False: there is no room for it. */
static bool keep_body(struct wr_rival_port *p, struct arriving *a)
{
    if (p->bodies_count == WR_RIVAL_BODIES_MAX || a->body.status || a->is_packed)
        return false;
    uint32_t i = p->bodies_count++;
    wr_buf_release(&p->bodies[i]);
    p->bodies[i] = a->body;
    a->body = (struct wr_buf){0};
    p->spans[i] = wr_buf_view(&p->bodies[i]);
    p->dialects[i] = a->dialect;
    p->is_own[i] = !p->has_tools || offers_tools(p->spans[i]);
    return true;
}

static void body_end(void *exchange)
{
    struct arriving *a = exchange;
    if (!a)
        return;
    struct wr_rival_port *p = a->port;
    if (!a->is_post)
        wr_conn_reply(a->conn, 200, "application/json",
                      WR_LIT("{\"object\":\"list\",\"data\":[]}"));
    else if (!keep_body(p, a))
        wr_conn_reply(a->conn, 415, "text/plain", WR_LIT("one plain JSON body at a time\n"));
    else
        reply(a->conn, a->dialect, p->is_own[p->bodies_count - 1] ? p->answer : &p->side);
    free_arriving(a);
}

static void room(void *exchange)
{
    (void)exchange;
}

static void refused(void *user, int status)
{
    (void)user;
    (void)status;
}

static const struct wr_server_handler handler = {begin,         on_body, body_end, room,
                                                 free_arriving, refused, NULL};

/* ---- the agent's side ---- */

static void on_head(void *user, const struct wr_head *head)
{
    struct wr_rival_port *p = user;
    p->status = head->status;
}

static bool on_data(void *user, weir_span bytes)
{
    struct wr_rival_port *p = user;
    wr_buf_append(&p->answered, bytes);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct wr_rival_port *p = user;
    p->fetch = NULL;
    if (result != WR_FETCH_DONE)
        (void)snprintf(p->why, sizeof(p->why), "%s: no answer: %s", p->options->url, why);
}

static void on_patience(uv_timer_t *timer)
{
    struct wr_rival_port *p = timer->data;
    if (!p->fetch)
        return;
    wr_fetch_cancel(p->fetch);
    p->fetch = NULL;
    (void)snprintf(p->why, sizeof(p->why), "%s: no answer in %d s", p->options->url,
                   (int)(WR_RIVAL_ANSWER_MS_MAX / 1000));
}

static const struct wr_fetch_events events = {on_head, on_data, on_end, NULL};

static size_t list_headers(const struct wr_rival_port *p, struct wr_header *headers)
{
    const struct wr_api *api = wr_api_of(p->dialect);
    size_t count = 0;
    headers[count++] = (struct wr_header){WR_LIT("content-type"), WR_LIT("application/json")};
    headers[count++] = (struct wr_header){WR_LIT("session-id"), wr_span_of(p->session)};
    headers[count++] = (struct wr_header){WR_LIT("x-session-id"), wr_span_of(p->session)};
    if (api->version_header)
        headers[count++] =
            (struct wr_header){wr_span_of(api->version_header), wr_span_of(api->version)};
    for (size_t i = 0; i < p->options->headers_count; i++) {
        weir_span line = wr_span_of(p->options->headers[i]);
        size_t colon = wr_span_find(line, WR_LIT(":"), 0);
        headers[count++] = (struct wr_header){wr_span_cut(line, 0, colon),
                                              wr_span_trim(wr_span_cut(line, colon + 1, line.len))};
    }
    return count;
}

/* Posts the body and waits until the proxy has answered; what it sends on meanwhile is kept. */
static bool post(struct wr_rival_port *p, weir_span body)
{
    struct wr_header headers[WR_RIVAL_HEADERS_MAX + 4];
    const char *base = p->options->url;
    wr_buf_reset(&p->url);
    bool has_slash = base[strlen(base) - 1] == '/';
    wr_buf_printf(&p->url, "%s%s", base, wr_api_of(p->dialect)->paths[0].end + has_slash);
    wr_buf_byte(&p->url, '\0');
    struct wr_fetch_request request = {.url = p->url.bytes,
                                       .method = WR_LIT("POST"),
                                       .headers = headers,
                                       .headers_count = list_headers(p, headers),
                                       .has_body = true,
                                       .body = body};
    struct weir_err err = {0};

    if (wr_fetch_start(&p->fetch, p->fetcher, &request, &events, p, &err)) {
        (void)snprintf(p->why, sizeof(p->why), "%.*s", WHY_BYTES_MAX - 1, err.text);
        return false;
    }
    (void)uv_timer_start(&p->patience, on_patience, WR_RIVAL_ANSWER_MS_MAX, 0);
    while (p->fetch)
        (void)uv_run(&p->loop, UV_RUN_ONCE);
    (void)uv_timer_stop(&p->patience);
    return !p->why[0];
}

static bool is_answered(struct wr_rival_port *p)
{
    weir_span said = wr_buf_view(&p->answered);
    if (p->status != 200)
        (void)snprintf(p->why, sizeof(p->why), "%s answered %d: %.*s", p->options->url, p->status,
                       (int)(said.len < ANSWER_SHOWN_BYTES ? said.len : ANSWER_SHOWN_BYTES),
                       said.len ? said.ptr : "");
    else if (!p->bodies_count)
        (void)snprintf(p->why, sizeof(p->why),
                       "%s answered, but nothing arrived at port %u: is that its provider?",
                       p->options->url, p->options->port);
    return !p->why[0];
}

static weir_status send_request(void *user, const struct wr_rival_request *request,
                                struct wr_rival_arrived *arrived)
{
    struct wr_rival_port *p = user;

    if (request->is_first)
        (void)snprintf(p->session, sizeof(p->session), "meter-%ld-%u", (long)getpid(),
                       ++p->sessions_count);
    p->why[0] = '\0';
    p->status = 0;
    p->bodies_count = 0;
    p->answer = request->answer;
    p->dialect = request->dialect;
    p->has_tools = offers_tools(request->body);
    wr_buf_reset(&p->answered);
    if (!post(p, request->body) || !is_answered(p))
        return WEIR_IO;
    *arrived = (struct wr_rival_arrived){
        .bodies = p->spans, .dialects = p->dialects, .count = p->bodies_count};
    arrived->own = p->bodies_count - 1;
    for (uint32_t i = 0; i < p->bodies_count; i++)
        if (p->is_own[i])
            arrived->own = i;
    return WEIR_OK;
}

static bool original(void *user, weir_handle handle, struct wr_arena *arena, weir_span *text)
{
    struct wr_rival_port *p = user;
    struct weir_lookup lookup = {.tenant = WR_LIT(WEIR_TENANT_DEFAULT), .handle = handle};
    struct weir_artifact artifact;
    if (weir_store_get(p->options->store, &lookup, &artifact, NULL, NULL))
        return false;
    *text = wr_arena_copy(arena, artifact.text);
    return text->ptr != NULL;
}

/* ---- opening and closing ---- */

static weir_status open_listener(struct wr_rival_port *p, struct weir_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(p->options->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    p->listener = wr_os_socket(AF_INET, SOCK_STREAM, 0);
    if (p->listener >= 0)
        (void)setsockopt(p->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (p->listener >= 0 && !bind(p->listener, (struct sockaddr *)&address, sizeof(address)) &&
        !listen(p->listener, SOMAXCONN))
        return WEIR_OK;
    return wr_fail(err, WEIR_IO, 0, "cannot listen on 127.0.0.1:%u: %s", p->options->port,
                   strerror(errno));
}

static weir_status check_headers(const struct wr_rival_port_options *o, struct weir_err *err)
{
    WR_ASSERT(o->headers_count <= WR_RIVAL_HEADERS_MAX);
    for (size_t i = 0; i < o->headers_count; i++) {
        const char *colon = strchr(o->headers[i], ':');
        if (!colon || colon == o->headers[i])
            return wr_fail(err, WEIR_INVALID, 0, "--header wants 'Name: value', not '%s'",
                           o->headers[i]);
    }
    return WEIR_OK;
}

static weir_status start_loop(struct wr_rival_port *p, struct weir_err *err)
{
    struct wr_fetcher_options fetcher = {.ca_file = NULL};
    struct wr_server_options server = {.limits = wr_server_limits_default};
    weir_status status = open_listener(p, err);

    if (status)
        return status;
    if (uv_loop_init(&p->loop))
        return wr_fail(err, WEIR_NOMEM, 0, "no loop for events");
    server.listener = p->listener;
    (void)uv_timer_init(&p->loop, &p->patience);
    p->patience.data = p;
    status = wr_fetcher_new(&p->fetcher, &p->loop, &fetcher, err);
    return status ? status : wr_server_new(&p->server, &p->loop, &server, &handler, p, err);
}

weir_status wr_rival_port_open(struct wr_rival_port **port,
                               const struct wr_rival_port_options *options, struct weir_err *err)
{
    *port = NULL;
    weir_status status = check_headers(options, err);
    struct wr_rival_port *p = status ? NULL : calloc(1, sizeof(*p));
    if (!p)
        return status ? status : wr_fail(err, WEIR_NOMEM, 0, "no memory");
    p->options = options;
    p->listener = -1;
    wr_buf_init(&p->answered, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&p->url, WR_NET_HEAD_BYTES_MAX);
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    p->rival = (struct wr_rival){.name = options->name,
                                 .send = send_request,
                                 .original = options->store ? original : NULL,
                                 .side_answer = wr_span_of(side_answer),
                                 .user = p};
    status = wr_json_parse(&p->side, &p->arena, wr_span_of(side_answer), NULL, err);
    if (!status)
        status = start_loop(p, err);
    if (status)
        wr_rival_port_close(p);
    else
        *port = p;
    return status;
}

void wr_rival_port_close(struct wr_rival_port *p)
{
    if (!p)
        return;
    if (p->server) {
        wr_server_close(p->server);
        wr_fetcher_close(p->fetcher);
        uv_close((uv_handle_t *)&p->patience, NULL);
        (void)uv_run(&p->loop, UV_RUN_DEFAULT);
        wr_server_free(p->server);
        wr_fetcher_free(p->fetcher);
        (void)uv_loop_close(&p->loop);
    }
    if (p->listener >= 0)
        (void)close(p->listener);
    for (uint32_t i = 0; i < WR_RIVAL_BODIES_MAX; i++)
        wr_buf_release(&p->bodies[i]);
    wr_buf_release(&p->answered);
    wr_buf_release(&p->url);
    wr_arena_release(&p->arena);
    free(p);
}

const struct wr_rival *wr_rival_port_rival(const struct wr_rival_port *port)
{
    return &port->rival;
}

const char *wr_rival_port_why(const struct wr_rival_port *port)
{
    return port->why;
}
