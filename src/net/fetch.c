/* Requests to upstreams: libcurl does HTTP, libuv watches its sockets and its timer.
 *
 *   wr_fetch_start    begin_fetch() hands the request to libcurl and lets it work at once
 *   on_socket,        libcurl asks us to watch a socket or to set its one timer
 *   on_timer
 *   on_poll,          something is ready or due: call_curl() lets libcurl work, and it calls back
 *   on_timeout          on_header, on_data, on_more
 *   leave_curl        behind the outermost call: tell of fetches that ended, free cancelled ones
 *
 * libcurl must not be called for a transfer from inside its own callbacks, and a handle must not be
 * removed there. So `depth` counts the calls we are inside of, a cancelled fetch waits in a list,
 * and ends are told only when depth is back at 0. That is also why `end` may start a new fetch.
 *
 * An answer's head is collected line by line and handed on whole. A 1xx head is dropped; whatever
 * we could not pass on is refused (refuse_answer), and nothing of it is told.
 *
 * Watches of sockets that libcurl opened are kept between requests: libcurl stops and starts
 * watching a kept connection with every request, and a new watch each time costs four system calls.
 */
#include "net/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "net/server.h"

enum {
    RECEIVE_BYTES = 16 * 1024,
    SEND_BYTES = 64 * 1024,
    IDLE_HANDLES_MAX = 64,
    HEADER_BYTES_MAX = WR_NET_HEAD_BYTES_MAX,
    IDLE_CLOSE_US_MAX = 1000 * 1000,
};

/* A watched socket of libcurl's. */
struct watch {
    uv_poll_t poll;
    struct wr_fetcher *fetcher;
    int fd;
    bool is_kept;
};

struct wr_fetcher {
    uv_loop_t *loop; /* borrowed */
    uv_timer_t timer;
    CURLM *multi;
    char *ca_file;
    struct watch **watches; /* by socket */
    size_t watches_cap;
    struct wr_fetch *fetches;   /* owned list of those that run */
    struct wr_fetch *cancelled; /* to be freed when libcurl has returned */
    int fetches_count;
    CURL *idle[IDLE_HANDLES_MAX];
    size_t idle_count;
    int depth; /* calls of libcurl we are inside of */
    bool is_timeout;
};

struct wr_fetch {
    struct wr_fetcher *fetcher;
    struct wr_fetch *next, *prev;
    CURL *easy;
    struct curl_slist *headers;
    const struct wr_fetch_events *events;
    void *user;
    enum wr_fetch_state state;
    struct wr_buf head; /* lines of the answer's head */
    int paused;         /* CURLPAUSE_RECV: there is no room for the answer; CURLPAUSE_SEND: there
                         * are no bytes of the request yet */
    int64_t body_bytes; /* of the request; -1: not known */
    bool found_no_fd;   /* the process may open no more sockets */
    bool is_dropped;    /* nobody waits for the rest of the answer */
    const char *unfit;  /* why the answer that came cannot be passed on; NULL: it can */
    char error[CURL_ERROR_SIZE];
};

/* ---- the end of a fetch ---- */

static void unlink_fetch(struct wr_fetch *fetch)
{
    if (fetch->prev)
        fetch->prev->next = fetch->next;
    else
        fetch->fetcher->fetches = fetch->next;
    if (fetch->next)
        fetch->next->prev = fetch->prev;
    fetch->fetcher->fetches_count--;
}

static void free_fetch(struct wr_fetch *fetch)
{
    struct wr_fetcher *fetcher = fetch->fetcher;

    (void)curl_multi_remove_handle(fetcher->multi, fetch->easy);
    if (fetcher->idle_count < IDLE_HANDLES_MAX) {
        curl_easy_reset(fetch->easy);
        fetcher->idle[fetcher->idle_count++] = fetch->easy;
    } else {
        curl_easy_cleanup(fetch->easy);
    }
    curl_slist_free_all(fetch->headers);
    wr_buf_release(&fetch->head);
    free(fetch);
}

void wr_fetch_cancel(struct wr_fetch *fetch)
{
    if (fetch->state == WR_FETCH_CANCELLED)
        return;
    fetch->state = WR_FETCH_CANCELLED;
    unlink_fetch(fetch);
    if (!fetch->fetcher->depth) {
        free_fetch(fetch);
        return;
    }
    fetch->next = fetch->fetcher->cancelled;
    fetch->fetcher->cancelled = fetch;
}

void wr_fetch_drop(struct wr_fetch *fetch)
{
    fetch->is_dropped = true;
}

/* Whether the fetch used a connection that was kept, instead of opening one. */
static bool is_on_kept(const struct wr_fetch *fetch)
{
    long opened_count = 0;
    char *address = NULL;
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_NUM_CONNECTS, &opened_count);
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_PRIMARY_IP, &address);
    return !opened_count && address && address[0];
}

/* Bytes that left are those that the system has taken. */
static bool is_sent(const struct wr_fetch *fetch)
{
    long head_bytes = 0;
    curl_off_t body_bytes = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_REQUEST_SIZE, &head_bytes);
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_SIZE_UPLOAD_T, &body_bytes);
    return head_bytes > 0 && fetch->body_bytes >= 0 && body_bytes >= fetch->body_bytes;
}

bool wr_fetch_is_unanswered(const struct wr_fetch *fetch)
{
    return fetch->state == WR_FETCH_ASKING && is_sent(fetch);
}

/* A server that closes a connection because it was idle does so at once; one that had the request
 * for longer has read it. */
static bool is_idle_close(const struct wr_fetch *fetch)
{
    curl_off_t ready_us = 0, ended_us = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_PRETRANSFER_TIME_T, &ready_us);
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_TOTAL_TIME_T, &ended_us);
    return is_on_kept(fetch) && ended_us - ready_us < (curl_off_t)IDLE_CLOSE_US_MAX;
}

static enum wr_fetch_result fetch_result(const struct wr_fetch *fetch, CURLcode code)
{
    if (code == CURLE_OK)
        return WR_FETCH_DONE;
    if (fetch->state == WR_FETCH_ANSWERING)
        return WR_FETCH_BROKEN;
    if (fetch->unfit)
        return WR_FETCH_UNFIT;
    if (fetch->found_no_fd)
        return WR_FETCH_NO_FD;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return WR_FETCH_TIMEOUT;
    /* When a kept connection has died, libcurl itself tries a fresh one. It gives up where it would
     * have to read the body a second time. */
    if (code == CURLE_SEND_FAIL_REWIND || is_idle_close(fetch) ||
        (is_on_kept(fetch) && !is_sent(fetch)))
        return WR_FETCH_STALE;
    return is_sent(fetch) ? WR_FETCH_UNANSWERED : WR_FETCH_UNREACHABLE;
}

/* libcurl's own words, unless they name a file of this machine: the client is told the reason, and
 * the file is none of its business. */
static const char *fetch_reason(const struct wr_fetch *fetch, CURLcode code)
{
    bool names_file = code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM ||
                      code == CURLE_SSL_CRL_BADFILE;

    if (fetch->unfit)
        return fetch->unfit;
    if (fetch->found_no_fd)
        return "too many files and sockets are open";
    return fetch->error[0] && !names_file ? fetch->error : curl_easy_strerror(code);
}

static void finish_fetch(struct wr_fetch *fetch, CURLcode code)
{
    char why[CURL_ERROR_SIZE];
    const struct wr_fetch_events *events = fetch->events;
    void *user = fetch->user;
    enum wr_fetch_result result = fetch_result(fetch, code);

    (void)snprintf(why, sizeof(why), "%s", fetch_reason(fetch, code));
    unlink_fetch(fetch);
    free_fetch(fetch);
    events->end(user, result, why);
}

/* ---- calls into libcurl ---- */

static void enter_curl(struct wr_fetcher *fetcher)
{
    fetcher->depth++;
}

static void leave_curl(struct wr_fetcher *fetcher)
{
    CURLMsg *message;
    int left;

    if (--fetcher->depth)
        return;
    while (fetcher->cancelled) {
        struct wr_fetch *fetch = fetcher->cancelled;
        fetcher->cancelled = fetch->next;
        free_fetch(fetch);
    }
    while ((message = curl_multi_info_read(fetcher->multi, &left))) {
        struct wr_fetch *fetch = NULL;
        CURLcode code = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&fetch);
        if (message->msg == CURLMSG_DONE && fetch)
            finish_fetch(fetch, code);
    }
}

static void call_curl(struct wr_fetcher *fetcher, curl_socket_t fd, int events)
{
    int running;
    enter_curl(fetcher);
    (void)curl_multi_socket_action(fetcher->multi, fd, events, &running);
    leave_curl(fetcher);
}

static void on_timeout(uv_timer_t *timer)
{
    struct wr_fetcher *fetcher = timer->data;

    fetcher->is_timeout = true;
    call_curl(fetcher, CURL_SOCKET_TIMEOUT, 0);
    fetcher->is_timeout = false;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;

    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    call_curl(watch->fetcher, watch->fd, flags);
}

/* ---- what libcurl asks for ---- */

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
    struct wr_fetcher *fetcher = user;
    (void)multi;
    if (uv_is_closing((uv_handle_t *)&fetcher->timer))
        return 0;
    /* A server that sends faster than we take has libcurl ask for the next moment in each of them,
     * and libuv runs all timers of a moment before it looks at anything else: for ever, then. */
    if (!timeout_ms && fetcher->is_timeout)
        timeout_ms = 1;
    if (timeout_ms < 0)
        (void)uv_timer_stop(&fetcher->timer);
    else
        (void)uv_timer_start(&fetcher->timer, on_timeout, (uint64_t)timeout_ms, 0);
    return 0;
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_watch(struct wr_fetcher *fetcher, int fd)
{
    struct watch *watch = (size_t)fd < fetcher->watches_cap ? fetcher->watches[fd] : NULL;
    if (!watch)
        return;
    fetcher->watches[fd] = NULL;
    if (uv_is_active((uv_handle_t *)&watch->poll))
        (void)uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static bool make_watch_room(struct wr_fetcher *fetcher, int fd)
{
    if ((size_t)fd < fetcher->watches_cap)
        return true;
    size_t cap = (size_t)fd * 2 + 64;
    struct watch **watches = realloc(fetcher->watches, cap * sizeof(struct watch *));
    if (!watches)
        return false;
    memset(watches + fetcher->watches_cap, 0,
           (cap - fetcher->watches_cap) * sizeof(struct watch *));
    fetcher->watches = watches;
    fetcher->watches_cap = cap;
    return true;
}

static struct watch *open_watch(struct wr_fetcher *fetcher, int fd)
{
    if (!make_watch_room(fetcher, fd))
        return NULL;
    if (fetcher->watches[fd])
        return fetcher->watches[fd];
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->fetcher = fetcher;
    watch->fd = fd;
    watch->poll.data = watch;
    if (uv_poll_init_socket(fetcher->loop, &watch->poll, fd) < 0) {
        free(watch);
        return NULL;
    }
    fetcher->watches[fd] = watch;
    return watch;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
    struct wr_fetcher *fetcher = user;
    (void)easy;
    (void)socket_user;
    struct watch *watch = (size_t)fd < fetcher->watches_cap ? fetcher->watches[fd] : NULL;

    if (what == CURL_POLL_REMOVE) {
        if (watch && watch->is_kept)
            (void)uv_poll_stop(&watch->poll);
        else
            close_watch(fetcher, fd);
        return 0;
    }
    if (!watch)
        watch = open_watch(fetcher, fd);
    if (!watch)
        return -1;
    int events = 0;
    if (what & CURL_POLL_IN)
        events |= UV_READABLE;
    if (what & CURL_POLL_OUT)
        events |= UV_WRITABLE;
    return uv_poll_start(&watch->poll, events, on_poll) < 0 ? -1 : 0;
}

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct wr_fetch *fetch = user;
    (void)purpose;
    int fd = wr_os_socket_no_wait(address->family, address->socktype, address->protocol);
    fetch->found_no_fd = fd < 0 && (errno == EMFILE || errno == ENFILE);
    struct watch *watch = fd < 0 ? NULL : open_watch(fetch->fetcher, fd);
    if (watch)
        watch->is_kept = true;
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int on_close(void *user, curl_socket_t fd)
{
    close_watch(user, fd);
    return close(fd);
}

/* ---- what comes back ---- */

/* Taking 0 bytes of a piece makes libcurl end the fetch. */
static size_t refuse_answer(struct wr_fetch *fetch, const char *why)
{
    fetch->unfit = why;
    return 0;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    struct wr_fetch *fetch = user;
    weir_span line = {bytes, size * count};
    struct wr_head head;

    if (fetch->state == WR_FETCH_CANCELLED)
        return 0;
    if (fetch->state == WR_FETCH_ANSWERING) /* trailers */
        return line.len;
    if (wr_span_starts(line, WR_LIT("HTTP/")))
        wr_buf_reset(&fetch->head);
    wr_buf_append(&fetch->head, line);
    if (wr_buf_status(&fetch->head))
        return refuse_answer(fetch, "the head of its answer is too long");
    if (wr_span_trim(line).len)
        return line.len;
    if (!wr_answer_head_read(wr_buf_view(&fetch->head), &head))
        return refuse_answer(fetch, "the head of its answer is not well formed");
    /* What follows a 101 is another protocol. Nobody can have asked for it: requests for an upgrade
     * are declined before they come here. */
    if (head.status == 101)
        return refuse_answer(fetch, "it answered 101 Switching Protocols, which nobody asked for");
    if (head.status / 100 == 1)
        return line.len;
    fetch->state = WR_FETCH_ANSWERING;
    fetch->events->head(fetch->user, &head);
    wr_buf_release(&fetch->head);
    return fetch->state == WR_FETCH_CANCELLED || fetch->is_dropped ? 0 : line.len;
}

static size_t on_data(char *bytes, size_t size, size_t count, void *user)
{
    struct wr_fetch *fetch = user;
    if (fetch->state == WR_FETCH_CANCELLED)
        return 0;
    if (fetch->state == WR_FETCH_ASKING)
        return refuse_answer(fetch, "its answer has no head");
    bool was_taken = fetch->events->data(fetch->user, (weir_span){bytes, size * count});
    if (fetch->state == WR_FETCH_CANCELLED)
        return 0;
    if (was_taken)
        return size * count;
    fetch->paused |= CURLPAUSE_RECV;
    return CURL_WRITEFUNC_PAUSE;
}

static size_t on_more(char *into, size_t size, size_t count, void *user)
{
    struct wr_fetch *fetch = user;
    bool has_ended = false;
    if (fetch->state == WR_FETCH_CANCELLED)
        return CURL_READFUNC_ABORT;
    size_t bytes = fetch->events->more(fetch->user, into, size * count, &has_ended);
    if (bytes || has_ended)
        return bytes;
    fetch->paused |= CURLPAUSE_SEND;
    return CURL_READFUNC_PAUSE;
}

/* One direction goes on; the other stays as it is. */
static void resume_curl(struct wr_fetch *fetch, int direction)
{
    struct wr_fetcher *fetcher = fetch->fetcher;

    if (fetch->state == WR_FETCH_CANCELLED || !(fetch->paused & direction))
        return;
    fetch->paused &= ~direction;
    enter_curl(fetcher);
    (void)curl_easy_pause(fetch->easy, fetch->paused);
    leave_curl(fetcher);
}

void wr_fetch_resume(struct wr_fetch *fetch)
{
    resume_curl(fetch, CURLPAUSE_RECV);
}

void wr_fetch_resume_body(struct wr_fetch *fetch)
{
    resume_curl(fetch, CURLPAUSE_SEND);
}

/* ---- the beginning of a fetch ---- */

/* For libcurl "Name:" means to leave that header out, and "Name;" to send it without a value. */
static bool add_header(struct wr_fetch *fetch, struct wr_buf *line, const struct wr_header *header)
{
    wr_buf_reset(line);
    wr_buf_append(line, header->name);
    if (header->value.len) {
        wr_buf_text(line, ": ");
        wr_buf_append(line, header->value);
    } else {
        wr_buf_byte(line, ';');
    }
    wr_buf_byte(line, '\0');
    if (wr_buf_status(line))
        return false;
    struct curl_slist *list = curl_slist_append(fetch->headers, line->bytes);
    if (list)
        fetch->headers = list;
    return list;
}

static bool add_header_text(struct wr_fetch *fetch, const char *text)
{
    struct curl_slist *list = curl_slist_append(fetch->headers, text);
    if (list)
        fetch->headers = list;
    return list;
}

static bool has_header(const struct wr_fetch_request *request, const char *name)
{
    for (size_t i = 0; i < request->headers_count; i++)
        if (wr_header_is(&request->headers[i], name))
            return true;
    return false;
}

static bool add_headers(struct wr_fetch *fetch, const struct wr_fetch_request *request)
{
    struct wr_buf line;
    bool ok = true;

    wr_buf_init(&line, HEADER_BYTES_MAX);
    for (size_t i = 0; ok && i < request->headers_count; i++)
        ok = add_header(fetch, &line, &request->headers[i]);
    wr_buf_release(&line);
    ok = ok && add_header_text(fetch, "Expect:");
    if (ok && !has_header(request, "accept"))
        ok = add_header_text(fetch, "Accept:");
    if (ok && !has_header(request, "content-type"))
        ok = add_header_text(fetch, "Content-Type:");
    if (ok && request->is_streamed && request->content_bytes < 0)
        ok = add_header_text(fetch, "Transfer-Encoding: chunked");
    return ok;
}

#define SET(option, value) (void)curl_easy_setopt(fetch->easy, (option), (value))

static void set_body(struct wr_fetch *fetch, const struct wr_fetch_request *request)
{
    if (!request->has_body) {
        SET(CURLOPT_HTTPGET, 1L);
    } else if (request->is_streamed) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_READFUNCTION, on_more);
        SET(CURLOPT_READDATA, fetch);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->content_bytes);
    } else {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        SET(CURLOPT_POSTFIELDS, request->body.len ? request->body.ptr : "");
    }
    if (wr_span_is(request->method, "HEAD"))
        SET(CURLOPT_NOBODY, 1L);
}

const char *wr_fetch_proxy(const char *told, const char *url)
{
    struct wr_host host;

    if (told)
        return told;
    return wr_host_of_url(wr_span_of(url), &host) && wr_host_is_private(host.name) ? "" : NULL;
}

/* Where libcurl is told nothing it takes the proxy from the environment. */
static void set_proxy(struct wr_fetch *fetch, const struct wr_fetch_request *request)
{
    const char *proxy = wr_fetch_proxy(request->proxy, request->url);

    if (!proxy)
        return;
    SET(CURLOPT_PROXY, proxy);
    SET(CURLOPT_NOPROXY, ""); /* what was told also holds against NO_PROXY */
}

static void set_options(struct wr_fetch *fetch, const struct wr_fetch_request *request,
                        const char *method)
{
    struct wr_fetcher *fetcher = fetch->fetcher;

    SET(CURLOPT_URL, request->url);
    set_proxy(fetch, request);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTP_VERSION,
        request->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BYTES);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)WR_NET_CONNECT_MS_MAX);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_FRESH_CONNECT, request->is_fresh ? 1L : 0L);
    if (fetcher->ca_file)
        SET(CURLOPT_CAINFO, fetcher->ca_file);
    set_body(fetch, request);
    SET(CURLOPT_CUSTOMREQUEST, method);
    SET(CURLOPT_HTTPHEADER, fetch->headers);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, fetch);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, fetch);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_open);
    SET(CURLOPT_OPENSOCKETDATA, fetch);
    SET(CURLOPT_CLOSESOCKETFUNCTION, on_close);
    SET(CURLOPT_CLOSESOCKETDATA, fetcher);
    SET(CURLOPT_PRIVATE, fetch);
    SET(CURLOPT_ERRORBUFFER, fetch->error);
}

static void add_to_list(struct wr_fetcher *fetcher, struct wr_fetch *fetch)
{
    fetch->next = fetcher->fetches;
    if (fetcher->fetches)
        fetcher->fetches->prev = fetch;
    fetcher->fetches = fetch;
    fetcher->fetches_count++;
}

/* By itself libcurl would begin in the next turn of the loop, by its timer. We let it begin now. A
 * fetch that ends at once is still told in the next turn, not inside the call that starts it. */
static void begin_fetch(struct wr_fetcher *fetcher, struct wr_fetch *fetch)
{
    int running = fetcher->fetches_count;

    fetcher->depth++;
    (void)curl_multi_add_handle(fetcher->multi, fetch->easy);
    if (fetcher->depth == 1)
        (void)curl_multi_socket_action(fetcher->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    fetcher->depth--;
    if (running < fetcher->fetches_count)
        (void)uv_timer_start(&fetcher->timer, on_timeout, 0, 0);
}

weir_status wr_fetch_start(struct wr_fetch **result, struct wr_fetcher *fetcher,
                           const struct wr_fetch_request *request,
                           const struct wr_fetch_events *events, void *user, struct weir_err *err)
{
    char method[32];
    struct wr_fetch *fetch = calloc(1, sizeof(*fetch));

    *result = NULL;
    if (!fetch)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    fetch->fetcher = fetcher;
    fetch->events = events;
    fetch->user = user;
    fetch->body_bytes = request->is_streamed ? request->content_bytes : (int64_t)request->body.len;
    wr_buf_init(&fetch->head, WR_NET_HEAD_BYTES_MAX);
    fetch->easy = fetcher->idle_count ? fetcher->idle[--fetcher->idle_count] : curl_easy_init();
    if (!fetch->easy || !add_headers(fetch, request)) {
        if (fetch->easy)
            curl_easy_cleanup(fetch->easy);
        curl_slist_free_all(fetch->headers);
        free(fetch);
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    }
    (void)snprintf(method, sizeof(method), "%.*s", (int)request->method.len, request->method.ptr);
    set_options(fetch, request, method);
    add_to_list(fetcher, fetch);
    *result = fetch;
    begin_fetch(fetcher, fetch);
    return WEIR_OK;
}

/* ---- life ---- */

weir_status wr_fetcher_new(struct wr_fetcher **result, uv_loop_t *loop,
                           const struct wr_fetcher_options *options, struct weir_err *err)
{
    struct wr_fetcher *fetcher = calloc(1, sizeof(*fetcher));

    *result = fetcher;
    if (!fetcher || curl_global_init(CURL_GLOBAL_DEFAULT))
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    fetcher->loop = loop;
    fetcher->timer.data = fetcher;
    fetcher->multi = curl_multi_init();
    const char *ca_file = options->ca_file ? options->ca_file : wr_ca_file_find();
    fetcher->ca_file = ca_file ? strdup(ca_file) : NULL;
    if (!fetcher->multi || (ca_file && !fetcher->ca_file) ||
        uv_timer_init(loop, &fetcher->timer) < 0)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_MAXCONNECTS,
                            (long)wr_fd_room_exchanges(WR_NET_UPSTREAM_CONNECTIONS_MAX));
    return WEIR_OK;
}

void wr_fetcher_close(struct wr_fetcher *fetcher)
{
    while (fetcher->fetches)
        wr_fetch_cancel(fetcher->fetches);
    while (fetcher->idle_count)
        curl_easy_cleanup(fetcher->idle[--fetcher->idle_count]);
    uv_close((uv_handle_t *)&fetcher->timer, NULL);
    (void)curl_multi_cleanup(fetcher->multi);
    for (size_t i = 0; i < fetcher->watches_cap; i++)
        close_watch(fetcher, (int)i);
}

void wr_fetcher_free(struct wr_fetcher *fetcher)
{
    free(fetcher->watches);
    free(fetcher->ca_file);
    free(fetcher);
}

/* ==== certificates ==== */

const char *wr_ca_file_choose(const char *built_in, const char *said,
                              bool (*can_read)(const char *path))
{
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones */
        "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine, macOS, the BSDs */
        "/usr/local/share/certs/ca-root-nss.crt",            /* FreeBSD */
    };

    if (built_in && can_read(built_in))
        return NULL;
    if (said && *said)
        return said;
    for (size_t i = 0; i < WR_COUNT_OF(places); i++)
        if (can_read(places[i]))
            return places[i];
    return NULL;
}

static bool can_read(const char *path)
{
    return !access(path, R_OK);
}

const char *wr_ca_file_find(void)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    const char *built_in = curl->cainfo ? curl->cainfo : curl->capath;

    return wr_ca_file_choose(built_in, getenv("SSL_CERT_FILE"), can_read);
}
