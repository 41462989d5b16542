/* An MCP server that is a program: a message a line, in and out.
 *
 * It gets the list of harmless variables that commands get (process_env.h) and those that its
 * setting names. Its standard error is a file without a name, of which the last line is shown when
 * it is gone; while it is asked for something the file is kept short. Reading and writing wait for
 * each other's turn in one poll(): a server may be blocked on its output while we write to it.
 *
 * It is in a group of its own, so that Ctrl+C in the terminal does not reach it. It ends with its
 * input, as the protocol says; who does not is ended by force, and by
 * the system (SIGTERM) where the agent was killed.
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

#include "agent/process_env.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"

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

static bool start(struct wr_mcp_link *link, const int in[2], const int out[2])
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

bool wr_mcp_stdio_open(struct wr_mcp_link *link)
{
    int in[2], out[2];

    link->errors = wr_process_open_output();
    if (link->errors >= 0 && !wr_os_pipe(in)) {
        bool has_both = !wr_os_pipe(out);
        if (has_both && start(link, in, out))
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

void wr_mcp_stdio_close(struct wr_mcp_link *link)
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

void wr_mcp_stdio_run(struct wr_mcp_link *link, uint64_t timeout_s)
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
        if (wr_mcp_link_is_interrupted(link)) {
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
