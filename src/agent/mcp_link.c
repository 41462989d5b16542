/* A connection to one MCP server, by a program's two pipes or by HTTP.
 *
 * What both ways share is which message is the answer, and what becomes of the others: a request of
 * the server's is answered, a notification left aside, nonsense kept to be shown. Each way has its
 * own wait, since a program is read by poll() and HTTP by the loop of the client; both look every
 * tenth of a second whether the user has interrupted.
 */
#include "agent/mcp_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process.h"
#include "api/events.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"
#include "mcp/client.h"

static bool mcp_link_is_interrupted(const struct wr_mcp_link *link)
{
    return link->interrupt && link->interrupt(link->interrupt_user);
}

void wr_mcp_link_take(struct wr_mcp_link *link, weir_span text)
{
    struct wr_mcp_said_message said;
    struct wr_arena arena;
    struct wr_buf line;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    switch (wr_mcp_read(&said, &arena, text, link->wanted)) {
    case WR_MCP_SAID_RESULT:
    case WR_MCP_SAID_ERROR:
        if (link->has_answer || !link->wanted)
            break;
        wr_buf_append(&link->answer, text);
        link->has_answer = !wr_buf_status(&link->answer);
        break;
    case WR_MCP_SAID_REQUEST:
        /* One that asks on and on and reads no answers gets none. */
        if (link->going.len > WR_AGENT_MCP_REPLIES_BYTES_MAX)
            break;
        wr_buf_append(&link->going, wr_buf_view(&said.reply));
        wr_buf_byte(&link->going, '\n');
        break;
    case WR_MCP_SAID_NOTHING:
        wr_buf_init(&line, sizeof(link->noise) * 4);
        wr_text_one_line_max(&line, wr_text_head(text, 400), 100);
        (void)snprintf(link->noise, sizeof(link->noise), "%.*s", (int)line.len,
                       line.len ? line.bytes : "");
        wr_buf_release(&line);
        break;
    case WR_MCP_SAID_OTHER:
        break;
    }
    wr_buf_release(&said.reply);
    wr_arena_release(&arena);
}

/* ---- a program of its own ----
 *
 * An MCP server that is a program: a message a line, in and out.
 *
 * It gets the list of harmless variables that commands get (process.h) and those that its
 * setting names. Its standard error is a file without a name, of which the last line is shown when
 * it is gone; while it is asked for something the file is kept short. Reading and writing wait for
 * each other's turn in one poll(): a server may be blocked on its output while we write to it.
 *
 * It is in a group of its own, so that Ctrl+C in the terminal does not reach it. It ends with its
 * input, as the protocol says; who does not is ended by force, and by
 * the system (SIGTERM) where the agent was killed.
 */

enum { LOOK_MS = 100, WRITE_MS = 2000, END_MS = 2000, STEP_MS = 20 };

/* ---- starting ---- */

_Noreturn static void become_server(const struct wr_mcp_link *link, int in, int out, pid_t agent)
{
    static const int signals[] = {SIGINT, SIGPIPE, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    const struct wr_mcp_setting *setting = link->setting;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;

    (void)setpgid(0, 0);
    for (size_t i = 0; i < WR_COUNT_OF(signals); i++)
        (void)sigaction(signals[i], &usual, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (!wr_parent_watch(agent, SIGTERM)) /* a server that waits for an answer reads no end */
        _exit(126);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(link->errors, 2) < 0)
        _exit(126);
    wr_os_close_from(3);
    if (chdir(link->root))
        _exit(126);
    if (environ)
        wr_process_env_filter(environ);
    for (size_t i = 0; i < setting->pairs_count; i++)
        (void)setenv(setting->pairs[i].name, setting->pairs[i].value, 1);
    (void)execvp(setting->words[0], (char **)(uintptr_t)setting->words);
    (void)fprintf(stderr, "%s: %s\n", setting->words[0], strerror(errno));
    _exit(127);
}

static void take_line(void *user, weir_span line, bool is_too_long)
{
    struct wr_mcp_link *link = user;

    if (is_too_long)
        (void)snprintf(link->noise, sizeof(link->noise), "a line of more than %d bytes",
                       WR_AGENT_MCP_BYTES_MAX);
    else
        wr_mcp_link_take(link, line);
}

static bool start_program(struct wr_mcp_link *link, const int in[2], const int out[2])
{
    pid_t agent = getpid();

    link->pid = fork();
    if (!link->pid)
        become_server(link, in[0], out[1], agent);
    (void)close(in[0]);
    (void)close(out[1]);
    link->in = in[1];
    link->out = out[0];
    if (link->pid < 0)
        return false;
    (void)setpgid(link->pid, link->pid);
    (void)fcntl(link->in, F_SETFL, O_NONBLOCK);
    (void)fcntl(link->out, F_SETFL, O_NONBLOCK);
    wr_mcp_line_reader_init(&link->lines, WR_AGENT_MCP_BYTES_MAX, take_line, link);
    return true;
}

static void close_files(struct wr_mcp_link *link)
{
    int *files[] = {&link->in, &link->out, &link->errors};

    for (size_t i = 0; i < WR_COUNT_OF(files); i++) {
        if (*files[i] >= 0)
            (void)close(*files[i]);
        *files[i] = -1;
    }
}

static bool mcp_stdio_open(struct wr_mcp_link *link)
{
    int in[2], out[2];

    link->errors = wr_process_open_output();
    if (link->errors >= 0 && !wr_os_pipe(in)) {
        bool has_both = !wr_os_pipe(out);
        if (has_both && start_program(link, in, out))
            return true;
        if (!has_both) {
            (void)close(in[0]);
            (void)close(in[1]);
        }
    }
    (void)snprintf(link->why, sizeof(link->why), "it cannot be started: %s", strerror(errno));
    close_files(link);
    return false;
}

/* ---- ending ---- */

static bool has_ended(struct wr_mcp_link *link, int *status)
{
    return link->pid <= 0 || waitpid(link->pid, status, WNOHANG) != 0;
}

static void end_program(struct wr_mcp_link *link)
{
    struct timespec step = {.tv_nsec = STEP_MS * 1000 * 1000};
    int status = 0, waited_ms = 0;

    while (!has_ended(link, &status)) {
        if (waited_ms >= END_MS)
            (void)kill(-link->pid, waited_ms >= 2 * END_MS ? SIGKILL : SIGTERM);
        (void)nanosleep(&step, NULL);
        waited_ms += STEP_MS;
    }
    if (link->pid > 0)
        (void)kill(-link->pid, SIGKILL); /* what it left behind */
    link->pid = 0;
}

static void mcp_stdio_close(struct wr_mcp_link *link)
{
    if (link->in >= 0)
        (void)close(link->in);
    link->in = -1;
    end_program(link);
    close_files(link);
    wr_mcp_line_reader_release(&link->lines);
}

/* The last line on its standard error says why, most of the time. */
static void tell_end(struct wr_mcp_link *link)
{
    char tail[400];
    off_t size = lseek(link->errors, 0, SEEK_END);
    off_t from = size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) : 0;
    ssize_t bytes = pread(link->errors, tail, sizeof(tail), from);
    weir_span rest = wr_span_trim((weir_span){tail, bytes > 0 ? (size_t)bytes : 0});
    weir_span line = {"", 0}, last = {"", 0};
    struct wr_buf shown;

    while (wr_span_line(&rest, &line))
        last = wr_span_trim(line).len ? line : last;
    wr_buf_init(&shown, sizeof(tail) * 4);
    wr_text_one_line_max(&shown, last, 200);
    (void)snprintf(link->why, sizeof(link->why), "it has ended%s%.*s", shown.len ? ": " : "",
                   (int)shown.len, shown.len ? shown.bytes : "");
    wr_buf_release(&shown);
    wr_mcp_link_close(link);
}

/* ---- messages ---- */

/* False: it is gone. */
static bool write_some(struct wr_mcp_link *link)
{
    weir_span rest = wr_buf_view(&link->going);
    ssize_t bytes = write(link->in, rest.ptr, rest.len);

    if (bytes < 0)
        return errno == EAGAIN || errno == EINTR;
    memmove(link->going.bytes, link->going.bytes + bytes, rest.len - (size_t)bytes);
    link->going.len -= (size_t)bytes;
    return true;
}

static bool read_some(struct wr_mcp_link *link)
{
    char bytes[16 * 1024];
    ssize_t count = read(link->out, bytes, sizeof(bytes));

    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    if (count)
        wr_mcp_line_reader_feed(&link->lines, (weir_span){bytes, (size_t)count});
    else
        wr_mcp_line_reader_end(&link->lines);
    return count > 0;
}

/* What it logs begins anew before it fills the disk: the file is opened for appending. */
static void shorten_log(const struct wr_mcp_link *link)
{
    struct stat info;

    if (!fstat(link->errors, &info) && info.st_size > WR_AGENT_MCP_LOG_BYTES_MAX)
        (void)!ftruncate(link->errors, 0);
}

/* One turn of the wait. False: the server is gone. */
static bool turn(struct wr_mcp_link *link)
{
    struct pollfd files[] = {{.fd = link->out, .events = POLLIN},
                             {.fd = link->going.len ? link->in : -1, .events = POLLOUT}};

    int ready = poll(files, 2, LOOK_MS);
    shorten_log(link);
    if (ready <= 0)
        return true;
    if (files[1].revents && !write_some(link))
        return false;
    return !files[0].revents || read_some(link);
}

static void mcp_stdio_run(struct wr_mcp_link *link, uint64_t timeout_s)
{
    uint64_t wait_us = timeout_s ? timeout_s * 1000 * 1000 : (uint64_t)WRITE_MS * 1000;
    uint64_t until_us = wr_clock_steady_us() + wait_us;

    if (!link->is_open)
        return;
    while (timeout_s ? !link->has_answer : link->going.len > 0) {
        if (!turn(link)) {
            if (!link->has_answer)
                tell_end(link);
            return;
        }
        if (mcp_link_is_interrupted(link)) {
            (void)snprintf(link->why, sizeof(link->why), "the user interrupted");
            return;
        }
        if (wr_clock_steady_us() > until_us) {
            (void)snprintf(link->why, sizeof(link->why), "no answer came for %llu s",
                           (unsigned long long)timeout_s);
            return;
        }
    }
}

/* ---- Streamable HTTP ----
 *
 * An MCP server over Streamable HTTP: each message is a POST of its own.
 *
 * The answer is one JSON text or a stream of events, each a message; the stream is left as soon as
 * ours is among them. The server may name a session, which every later request repeats. What is not
 * answered as the protocol says (a page, a refusal) is told with its status, for whoever wrote the
 * address.
 */

enum {
    HTTP_LOOK_MS = 100,
    TELL_S = 10,
    REPLIES_MAX = 16,
    HEADERS_MAX = WR_AGENT_MCP_PAIRS_MAX + 4
};

struct post {
    struct wr_mcp_link *link;
    struct wr_fetch *fetch; /* NULL: it is over */
    struct wr_sse events;
    struct wr_buf body; /* of what is no stream */
    bool is_stream;
    int status;
    enum wr_fetch_result result;
    char why[256];
    uv_timer_t timer;
    uint64_t until_ms; /* of the loop's clock */
    bool is_late, is_too_long, is_timer_closed;
};

static void keep_header(char *into, size_t bytes_max, weir_span value)
{
    if (value.len && value.len < bytes_max)
        (void)snprintf(into, bytes_max, "%.*s", (int)value.len, value.ptr);
}

static void on_head(void *user, const struct wr_head *head)
{
    struct post *p = user;

    p->status = head->status;
    p->is_stream = head->status == 200 &&
                   wr_span_starts(wr_head_find(head, "content-type"), WR_LIT("text/event-stream"));
    keep_header(p->link->session, sizeof(p->link->session), wr_head_find(head, "mcp-session-id"));
}

static bool on_data(void *user, weir_span bytes)
{
    struct post *p = user;

    if (p->is_stream)
        wr_sse_feed(&p->events, bytes);
    else
        wr_buf_append(&p->body, bytes);
    p->is_too_long = wr_buf_status(&p->body) != WEIR_OK;
    if (p->is_too_long)
        uv_stop(&p->link->client->loop);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct post *p = user;

    p->fetch = NULL;
    p->result = result;
    (void)snprintf(p->why, sizeof(p->why), "%s", why ? why : "");
    uv_stop(&p->link->client->loop);
}

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct post *p = user;

    if (event->data.len)
        wr_mcp_link_take(p->link, event->data);
    if (p->link->has_answer)
        uv_stop(&p->link->client->loop);
}

static void on_timer(uv_timer_t *timer)
{
    struct post *p = timer->data;

    p->is_late = uv_now(timer->loop) >= p->until_ms;
    uv_stop(timer->loop);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct post *p = handle->data;
    p->is_timer_closed = true;
}

static size_t put_headers(const struct wr_mcp_link *link, struct wr_header headers[HEADERS_MAX])
{
    size_t count = 0;

    headers[count++] = (struct wr_header){WR_LIT("content-type"), WR_LIT("application/json")};
    headers[count++] =
        (struct wr_header){WR_LIT("accept"), WR_LIT("application/json, text/event-stream")};
    if (link->session[0])
        headers[count++] = (struct wr_header){WR_LIT("mcp-session-id"), wr_span_of(link->session)};
    if (link->version[0])
        headers[count++] =
            (struct wr_header){WR_LIT("mcp-protocol-version"), wr_span_of(link->version)};
    for (size_t i = 0; i < link->setting->pairs_count; i++)
        headers[count++] = (struct wr_header){wr_span_of(link->setting->pairs[i].name),
                                              wr_span_of(link->setting->pairs[i].value)};
    return count;
}

/* Until it is over, too late, or interrupted; keys and signals are watched on the same loop. */
static void wait_for_end(struct post *p, uint64_t timeout_s)
{
    uv_loop_t *loop = &p->link->client->loop;

    uv_update_time(loop);
    p->until_ms = uv_now(loop) + timeout_s * 1000;
    (void)uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    (void)uv_timer_start(&p->timer, on_timer, HTTP_LOOK_MS, HTTP_LOOK_MS);
    while (p->fetch && !p->is_late && !p->is_too_long &&
           !(p->link->wanted && p->link->has_answer) && !mcp_link_is_interrupted(p->link))
        (void)uv_run(loop, UV_RUN_ONCE);
    if (p->fetch)
        wr_fetch_cancel(p->fetch);
    uv_close((uv_handle_t *)&p->timer, on_timer_closed);
    while (!p->is_timer_closed)
        (void)uv_run(loop, UV_RUN_ONCE);
}

static void tell_failure(struct post *p, uint64_t timeout_s)
{
    struct wr_mcp_link *link = p->link;
    struct wr_buf said;

    wr_buf_init(&said, 4096);
    wr_text_one_line_max(&said, wr_text_head(wr_buf_view(&p->body), 800), 160);
    if (p->is_late)
        (void)snprintf(link->why, sizeof(link->why), "no answer came for %llu s",
                       (unsigned long long)timeout_s);
    else if (p->is_too_long)
        (void)snprintf(link->why, sizeof(link->why), "it answered with more than %d bytes",
                       WR_AGENT_MCP_BYTES_MAX);
    else if (p->fetch)
        (void)snprintf(link->why, sizeof(link->why), "the user interrupted");
    else if (p->result != WR_FETCH_DONE)
        (void)snprintf(link->why, sizeof(link->why), "%s", p->why);
    else if (p->status < 200 || p->status > 299)
        (void)snprintf(link->why, sizeof(link->why), "it answered %d%s%.*s", p->status,
                       said.len ? ": " : "", (int)said.len, said.len ? said.bytes : "");
    else
        (void)snprintf(link->why, sizeof(link->why), "it gave no answer to this request");
    wr_buf_release(&said);
    if (p->status == 404)
        link->is_open = false; /* the session that it named is over: the next call begins anew */
}

/* True: the connection was an old one, and a fresh one may do better. */
static bool post_once(struct wr_mcp_link *link, weir_span message, uint64_t timeout_s,
                      bool is_fresh)
{
    struct wr_header headers[HEADERS_MAX];
    struct wr_fetch_events events = {on_head, on_data, on_end, NULL};
    struct post p = {.link = link};
    struct weir_err err = {0};
    struct wr_fetch_request request = {.url = link->setting->url,
                                       .method = WR_LIT("POST"),
                                       .headers = headers,
                                       .has_body = true,
                                       .body = message,
                                       .content_bytes = (int64_t)message.len,
                                       .is_fresh = is_fresh,
                                       .proxy = wr_fetch_proxy(NULL, link->setting->url)};

    request.headers_count = put_headers(link, headers);
    wr_sse_init(&p.events, WR_AGENT_MCP_BYTES_MAX, on_event, &p);
    wr_buf_init(&p.body, WR_AGENT_MCP_BYTES_MAX);
    if (wr_fetch_start(&p.fetch, link->client->fetcher, &request, &events, &p, &err)) {
        (void)snprintf(link->why, sizeof(link->why), "%s", err.text);
    } else {
        wait_for_end(&p, timeout_s);
        if (!p.is_stream && p.status == 200 && p.body.len && !p.is_too_long)
            wr_mcp_link_take(link, wr_buf_view(&p.body));
        if (link->wanted && !link->has_answer)
            tell_failure(&p, timeout_s);
    }
    wr_sse_release(&p.events);
    wr_buf_release(&p.body);
    return p.result == WR_FETCH_STALE && !is_fresh;
}

static void post_message(struct wr_mcp_link *link, weir_span message, uint64_t timeout_s)
{
    if (post_once(link, message, timeout_s, false))
        (void)post_once(link, message, timeout_s, true);
}

/* Answers to the server's own requests are posted behind ours. A server that asks again in each
 * answer would be answered for ever: behind so many it waits for our next message in vain. */
static void mcp_http_run(struct wr_mcp_link *link, uint64_t timeout_s)
{
    size_t posted = 0;

    while (link->going.len) {
        struct wr_buf message = link->going;
        wr_buf_init(&link->going, WR_AGENT_MCP_BYTES_MAX);
        weir_span rest = wr_buf_view(&message), line;
        while (wr_span_line(&rest, &line) && posted++ <= REPLIES_MAX &&
               (timeout_s || !mcp_link_is_interrupted(link))) {
            post_message(link, line, timeout_s ? timeout_s : TELL_S);
            link->wanted = timeout_s ? 0 : link->wanted;
            timeout_s = 0;
        }
        wr_buf_release(&message);
    }
}

/* The server may forget the session. */
static void mcp_http_close(struct wr_mcp_link *link)
{
    link->session[0] = link->version[0] = '\0';
}

/* ---- life ---- */

void wr_mcp_link_init(struct wr_mcp_link *link, const struct wr_mcp_setting *setting,
                      struct wr_client *client, const char *root)
{
    *link = (struct wr_mcp_link){
        .setting = setting, .client = client, .root = root, .in = -1, .out = -1, .errors = -1};
    wr_buf_init(&link->answer, WR_AGENT_MCP_BYTES_MAX);
    wr_buf_init(&link->going, WR_AGENT_MCP_BYTES_MAX);
}

void wr_mcp_link_release(struct wr_mcp_link *link)
{
    wr_mcp_link_close(link);
    wr_buf_release(&link->answer);
    wr_buf_release(&link->going);
}

bool wr_mcp_link_open(struct wr_mcp_link *link)
{
    link->why[0] = link->noise[0] = '\0';
    link->session[0] = link->version[0] = '\0';
    wr_buf_reset(&link->going);
    link->is_open = link->setting->url || mcp_stdio_open(link);
    return link->is_open;
}

void wr_mcp_link_close(struct wr_mcp_link *link)
{
    if (!link->is_open)
        return;
    if (link->setting->url)
        mcp_http_close(link);
    else
        mcp_stdio_close(link);
    link->is_open = false;
}

/* ---- asking and telling ---- */

static void run_link(struct wr_mcp_link *link, uint64_t timeout_s)
{
    if (link->setting->url)
        mcp_http_run(link, timeout_s);
    else
        mcp_stdio_run(link, timeout_s);
}

bool wr_mcp_link_ask(struct wr_mcp_link *link, weir_span message, uint64_t id, uint64_t timeout_s)
{
    link->wanted = id;
    link->has_answer = false;
    link->why[0] = '\0';
    wr_buf_reset(&link->answer);
    wr_buf_append(&link->going, message);
    wr_buf_byte(&link->going, '\n');
    run_link(link, timeout_s);
    size_t len = strlen(link->why);
    if (!link->has_answer && link->noise[0])
        (void)snprintf(link->why + len, sizeof(link->why) - len, "; it said what is no message: %s",
                       link->noise);
    return link->has_answer;
}

void wr_mcp_link_tell(struct wr_mcp_link *link, weir_span message)
{
    link->wanted = 0;
    wr_buf_append(&link->going, message);
    wr_buf_byte(&link->going, '\n');
    run_link(link, 0);
}
