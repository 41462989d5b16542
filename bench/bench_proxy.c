/* What the proxy adds: requests a second, time to the first byte, memory of open streams.
 *
 *   bench_proxy [--quick] [--policy P] [--peer PORT NAME]
 *
 * The program is the `weir` beside this one's folder. A peer is a gateway that already runs on that
 * port and was told where its upstream is by a header; tools/bench-peer does that. */
#include <stdbool.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "bench/clock.h"
#include "bench/proxy_client.h"
#include "bench/proxy_upstream.h"

enum {
    SMALL_REQUESTS = 20000,
    SERIAL_REQUESTS = 2000,
    LARGE_TURNS = 40,
    LARGE_BYTES = 430 * 1000, /* of the first turn: those in the middle have 500 KB */
    RESULT_BYTES = 4000,
    STREAMS = 2000,
    STREAM_EVENTS = 25,
    STEADY_REQUESTS = 100000,
    BODY_BYTES_MAX = 8 * 1024 * 1024,
};

struct bench {
    char weir[4096], dir[64]; /* the program; its store */
    int upstream_port, weir_port, peer_port;
    const char *peer_name, *policy;
    pid_t upstream_pid, weir_pid;
    int scale; /* divides the counts in a quick run */
};

/* ---- requests ---- */

static void put_request(struct wr_buf *out, const char *body, size_t len, const char *headers)
{
    wr_buf_printf(out,
                  "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                  "k\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
                  headers, len);
    wr_buf_append(out, (weir_span){body, len});
}

static const char small_body[] =
    "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"system\",\"content\":\"You are a helpful "
    "assistant.\"},{\"role\":\"user\",\"content\":\"What is the capital of France?\"}]}";

/* A session of file reads that has `pairs` of them, each different, with a recall tool. */
static void put_session(struct wr_buf *out, size_t pairs)
{
    wr_buf_text(out,
                "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                "\"weir_recall\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":[{"
                "\"role\":\"user\",\"content\":\"Find the bug.\"}");
    for (size_t i = 0; i < pairs; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_%zu\","
            "\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":"
            "\"{\\\"path\\\":\\\"src/file_%zu.c\\\"}\"}}]},{\"role\":\"tool\","
            "\"tool_call_id\":\"call_%zu\",\"content\":\"",
            i, i, i);
        for (size_t bytes = 0; bytes < RESULT_BYTES; bytes += 40)
            wr_buf_printf(out, "    total_%04zu += values[%04zu];   \\n", i * 7 + bytes, bytes);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

/* ---- processes ---- */

static void start_weir(struct bench *b, const char *mode)
{
    char upstream[64];
    int fds[2];

    (void)snprintf(upstream, sizeof(upstream), "http://127.0.0.1:%d/v1", b->upstream_port);
    if (pipe(fds))
        abort();
    b->weir_pid = fork();
    if (!b->weir_pid) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        execl(b->weir, "weir", "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--mode",
              mode, "--policy", b->policy, "--store", b->dir, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    FILE *output = fdopen(fds[0], "r");
    char line[1024] = "";
    if (!output || !fgets(line, sizeof(line), output)) {
        fprintf(stderr, "cannot start %s\n", b->weir);
        exit(1);
    }
    const char *port = strstr(line, "127.0.0.1:");
    b->weir_port = port ? (int)strtol(port + strlen("127.0.0.1:"), NULL, 10) : 0;
    usleep(1500 * 1000); /* its tables are read in the background */
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

/* Of the worker: the one child of the supervisor. */
static long worker_rss_kb(const struct bench *b)
{
    char path[64], line[256];
    long pid = 0, kb = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", b->weir_pid, b->weir_pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof(line), file))
        pid = strtol(line, NULL, 10);
    if (file)
        fclose(file);
    (void)snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* ---- measuring ---- */

struct result {
    double per_s, p50_ms, p99_ms, first_p50_ms;
    size_t failed_count, out_of_order_count, events_count;
};

static struct result run(int port, const struct wr_buf *request, size_t conns, size_t requests)
{
    uv_loop_t loop;
    struct load load = {.loop = &loop,
                        .port = port,
                        .conns_count = conns,
                        .request = request->bytes,
                        .request_len = request->len,
                        .requests_max = requests};
    uv_loop_init(&loop);
    double from = bench_now_s();
    load_begin(&load);
    uv_run(&loop, UV_RUN_DEFAULT);
    double took_s = bench_now_s() - from;
    struct result result = {.per_s = (double)load.done_count / took_s,
                            .p50_ms = load_percentile_ms(load.latency_ns, load.done_count, 50),
                            .p99_ms = load_percentile_ms(load.latency_ns, load.done_count, 99),
                            .first_p50_ms =
                                load_percentile_ms(load.first_byte_ns, load.done_count, 50),
                            .failed_count = load.failed_count + (load.done_count < requests)};
    load_free(&load);
    uv_loop_close(&loop);
    return result;
}

static void row(const char *what, const char *who, struct result r)
{
    printf("%-34s %-10s %9.0f req/s   p50 %7.3f ms   p99 %7.3f ms%s\n", what, who, r.per_s,
           r.p50_ms, r.p99_ms, r.failed_count ? "   FAILED REQUESTS" : "");
    (void)fflush(stdout);
}

static void bench_small(struct bench *b)
{
    struct wr_buf request;
    char headers[256];
    (void)snprintf(
        headers, sizeof(headers),
        "x-portkey-provider: openai\r\nx-portkey-custom-host: http://127.0.0.1:%d/v1\r\n",
        b->upstream_port);
    wr_buf_init(&request, BODY_BYTES_MAX);
    put_request(&request, small_body, sizeof(small_body) - 1, headers);
    size_t many = SMALL_REQUESTS / (size_t)b->scale, few = SERIAL_REQUESTS / (size_t)b->scale;

    (void)run(b->weir_port, &request, 32, many / 4);
    row("small, 32 connections", "direct", run(b->upstream_port, &request, 32, many));
    row("small, 32 connections", "weir", run(b->weir_port, &request, 32, many));
    if (b->peer_port) {
        (void)run(b->peer_port, &request, 32, many / 10);
        row("small, 32 connections", b->peer_name, run(b->peer_port, &request, 32, many / 4));
    }
    struct result direct = run(b->upstream_port, &request, 1, few);
    struct result weir = run(b->weir_port, &request, 1, few);
    row("small, 1 connection", "direct", direct);
    row("small, 1 connection", "weir", weir);
    printf("%-34s %-10s %.3f ms\n", "small: added at p50", "weir", weir.p50_ms - direct.p50_ms);
    if (b->peer_port) {
        struct result peer = run(b->peer_port, &request, 1, few);
        row("small, 1 connection", b->peer_name, peer);
        printf("%-34s %-10s %.3f ms\n", "small: added at p50", b->peer_name,
               peer.p50_ms - direct.p50_ms);
    }
    wr_buf_release(&request);
}

/* Turns of one session, each with one more read: what a warm engine sees. */
static void bench_large(struct bench *b)
{
    size_t pairs = LARGE_BYTES / (RESULT_BYTES - 400), turns = LARGE_TURNS / (size_t)b->scale;
    uint64_t *direct = calloc(turns, sizeof(uint64_t)), *weir = calloc(turns, sizeof(uint64_t));
    size_t bytes_first = 0, bytes_last = 0;

    for (size_t i = 0; i < turns + 2 && direct && weir; i++) {
        struct wr_buf body, request;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&request, BODY_BYTES_MAX);
        put_session(&body, pairs + i);
        put_request(&request, body.bytes, body.len, "session-id: bench\r\n");
        double d_ms = run(b->upstream_port, &request, 1, 1).p50_ms;
        double w_ms = run(b->weir_port, &request, 1, 1).p50_ms;
        if (i >= 2) {
            direct[i - 2] = (uint64_t)(d_ms * 1e6);
            weir[i - 2] = (uint64_t)(w_ms * 1e6);
        }
        bytes_last = body.len;
        if (!bytes_first)
            bytes_first = body.len;
        wr_buf_release(&body);
        wr_buf_release(&request);
    }
    double d_ms = load_percentile_ms(direct, turns, 50), w_ms = load_percentile_ms(weir, turns, 50);
    printf("%-34s %-10s p50 direct %.3f ms, through weir %.3f ms: added %.3f ms (%zu to %zu KB)\n",
           "large, warm, projected", b->policy, d_ms, w_ms, w_ms - d_ms, bytes_first / 1000,
           bytes_last / 1000);
    free(direct);
    free(weir);
}

static void bench_first_byte(struct bench *b)
{
    struct wr_buf request;
    size_t count = 200 / (size_t)b->scale;

    wr_buf_init(&request, BODY_BYTES_MAX);
    put_request(&request, small_body, sizeof(small_body) - 1, "x-events: 1\r\n");
    struct result direct = run(b->upstream_port, &request, 1, count);
    struct result weir = run(b->weir_port, &request, 1, count);
    printf("%-34s %-10s p50 direct %.3f ms, through weir %.3f ms: added %.3f ms\n",
           "first byte of a stream", "weir", direct.first_p50_ms, weir.first_p50_ms,
           weir.first_p50_ms - direct.first_p50_ms);
    wr_buf_release(&request);
}

static void bench_streams(struct bench *b)
{
    uv_loop_t loop;
    struct wr_buf request;
    size_t streams = STREAMS / (size_t)b->scale;

    wr_buf_init(&request, BODY_BYTES_MAX);
    char headers[64];
    (void)snprintf(headers, sizeof(headers), "x-events: %d\r\n", STREAM_EVENTS);
    put_request(&request, small_body, sizeof(small_body) - 1, headers);
    struct load load = {.loop = &loop,
                        .port = b->weir_port,
                        .conns_count = streams,
                        .request = request.bytes,
                        .request_len = request.len,
                        .requests_max = streams,
                        .checks_events = true};
    long before_kb = worker_rss_kb(b), peak_kb = before_kb;
    uv_loop_init(&loop);
    load_begin(&load);
    while (uv_run(&loop, UV_RUN_ONCE) && load.done_count + load.failed_count < streams) {
        long kb = worker_rss_kb(b);
        if (kb > peak_kb)
            peak_kb = kb;
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    printf("%-34s %-10s %zu done, %zu failed, %zu of %zu events, %zu out of order, %.1f KB each\n",
           "streams at 5 events a second", "weir", load.done_count, load.failed_count,
           load.events_count, streams * STREAM_EVENTS, load.out_of_order_count,
           (double)(peak_kb - before_kb) / (double)streams);
    load_free(&load);
    uv_loop_close(&loop);
    wr_buf_release(&request);
}

static void bench_steady(struct bench *b)
{
    struct wr_buf request;
    size_t part = STEADY_REQUESTS / 10 / (size_t)b->scale;
    long first_kb = 0, last_kb = 0;

    wr_buf_init(&request, BODY_BYTES_MAX);
    put_request(&request, small_body, sizeof(small_body) - 1, "");
    for (int i = 0; i < 10; i++) {
        (void)run(b->weir_port, &request, 32, part);
        last_kb = worker_rss_kb(b);
        if (i == 1)
            first_kb = last_kb;
    }
    printf("%-34s %-10s %ld KB after %zu, %ld KB after %zu requests\n", "memory", "weir", first_kb,
           part * 2, last_kb, part * 10);
    wr_buf_release(&request);
}

static void remove_dir(const char *dir)
{
    pid_t pid = fork();
    if (!pid) {
        execlp("rm", "rm", "-rf", dir, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

static void read_arguments(struct bench *b, int argc, char **argv)
{
    char *slash;
    b->scale = 1;
    b->policy = "auto";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            b->scale = 10;
        if (!strcmp(argv[i], "--policy") && i + 1 < argc)
            b->policy = argv[i + 1];
        if (!strcmp(argv[i], "--peer") && i + 2 < argc) {
            b->peer_port = (int)strtol(argv[i + 1], NULL, 10);
            b->peer_name = argv[i + 2];
        }
    }
    (void)snprintf(b->weir, sizeof(b->weir), "%s", argv[0]);
    for (int i = 0; i < 2; i++)
        if ((slash = strrchr(b->weir, '/')))
            *slash = '\0';
    size_t len = strlen(b->weir);
    (void)snprintf(b->weir + len, sizeof(b->weir) - len, "/weir");
}

int main(int argc, char **argv)
{
    struct bench b = {.dir = "/tmp/bench_proxy.XXXXXX"};

    read_arguments(&b, argc, argv);
    if (!mkdtemp(b.dir))
        return 1;
    (void)signal(SIGPIPE, SIG_IGN);
    b.upstream_pid = upstream_start(&b.upstream_port);
    start_weir(&b, "active");
    bench_small(&b);
    bench_large(&b);
    bench_first_byte(&b);
    bench_streams(&b);
    bench_steady(&b);
    stop(b.weir_pid);
    kill(b.upstream_pid, SIGKILL);
    waitpid(b.upstream_pid, NULL, 0);
    remove_dir(b.dir);
    return 0;
}
