/* What the proxy adds: requests a second, time to the first byte, memory of open streams.
 *
 *   bench_proxy [--quick] [--policy P] [--peer PORT NAME] [--small | --talks | --large SESSIONS]
 *               [WEIR...]
 *   bench_proxy --own SESSIONS
 *
 * The program is the `weir` beside this one's folder. A peer is a gateway that already runs on that
 * port and was told where its upstream is by a header; tools/bench-peer does that. `--small`
 * measures small requests alone, beside mode `off`; `--large` large sessions alone, that many;
 * `--talks` conversations that grow, many at once: each request leaves something in the store.
 * Other builds of the program that are named behind either get the same requests in the same run.
 * `--own` compares a client that brings a recall tool with one that is given the proxy's own
 * (docs/own-recall.md), in answers that do not recall: the first byte of a stream.
 */
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
    RATIO_ROUNDS = 5,
    TALKS_COUNT = 32, /* at once */
    TALK_TURNS = 20,  /* then the next begins */
    BODY_BYTES_MAX = 8 * 1024 * 1024,
    SERVERS_MAX = 8,
};

/* A running program. */
struct server {
    char weir[4096], dir[64]; /* the program; its store */
    int port;
    pid_t pid;
    const char *recall; /* whose tool is the way back; NULL: the default */
    uint64_t *large_ns; /* what each large request took */
};

struct bench {
    struct server servers[SERVERS_MAX]; /* the first is the one that all is measured of */
    size_t servers_count;
    int upstream_port, peer_port;
    const char *peer_name, *policy;
    pid_t upstream_pid;
    int scale;          /* divides the counts in a quick run */
    size_t large_count; /* sessions, where nothing else is measured; 0: everything is */
    bool is_small;      /* small requests, where nothing else is measured */
    bool is_talks;      /* conversations, likewise */
    size_t own_count;   /* sessions for the proxy's own recall, likewise */
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

/* A session of file reads that has `pairs` of them, each different, with one tool. */
static void put_session(struct wr_buf *out, size_t number, size_t pairs, const char *tool)
{
    wr_buf_printf(out,
                  "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                  "\"%s\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":[{"
                  "\"role\":\"user\",\"content\":\"Find the bug.\"}",
                  tool);
    number *= 10000; /* no two sessions have a result in common */
    for (size_t i = 0; i < pairs; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_%zu\","
            "\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":"
            "\"{\\\"path\\\":\\\"src/file_%zu.c\\\"}\"}}]},{\"role\":\"tool\","
            "\"tool_call_id\":\"call_%zu\",\"content\":\"",
            i, i, i);
        for (size_t bytes = 0; bytes < RESULT_BYTES; bytes += 40)
            wr_buf_printf(out, "    total_%04zu += values[%04zu];   \\n", number + i * 7 + bytes,
                          bytes);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

/* ---- processes ---- */

static void start_weir(struct bench *b, struct server *server, const char *mode)
{
    char upstream[64];
    int fds[2];

    (void)snprintf(upstream, sizeof(upstream), "http://127.0.0.1:%d/v1", b->upstream_port);
    (void)snprintf(server->dir, sizeof(server->dir), "/tmp/bench_proxy.XXXXXX");
    if (!mkdtemp(server->dir) || pipe(fds))
        abort();
    server->pid = fork();
    if (!server->pid) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        execl(server->weir, "weir", "serve", "--listen", "127.0.0.1:0", "--upstream", upstream,
              "--mode", mode, "--policy", b->policy, "--store", server->dir,
              server->recall ? "--recall" : NULL, server->recall, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    FILE *output = fdopen(fds[0], "r");
    char line[1024] = "";
    if (!output || !fgets(line, sizeof(line), output)) {
        fprintf(stderr, "cannot start %s\n", server->weir);
        exit(1);
    }
    const char *port = strstr(line, "127.0.0.1:");
    server->port = port ? (int)strtol(port + strlen("127.0.0.1:"), NULL, 10) : 0;
    usleep(1500 * 1000); /* its tables are read in the background */
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
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

/* Of the worker: the one child of the supervisor. */
static FILE *open_worker_file(const struct server *server, const char *name)
{
    char path[64], line[256];
    long pid = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", server->pid, server->pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof(line), file))
        pid = strtol(line, NULL, 10);
    if (file)
        fclose(file);
    (void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
    return fopen(path, "r");
}

static long worker_rss_kb(const struct server *server)
{
    char line[256];
    long kb = 0;
    FILE *file = open_worker_file(server, "status");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* Of the processor, of all its threads. */
static double worker_time_s(const struct server *server)
{
    unsigned long user_ticks = 0, system_ticks = 0;
    FILE *file = open_worker_file(server, "stat");
    if (file && fscanf(file, "%*d %*s %*s %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                       &user_ticks, &system_ticks) != 2)
        user_ticks = system_ticks = 0;
    if (file)
        fclose(file);
    return (double)(user_ticks + system_ticks) / (double)sysconf(_SC_CLK_TCK);
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

    (void)run(b->servers[0].port, &request, 32, many / 4);
    row("small, 32 connections", "direct", run(b->upstream_port, &request, 32, many));
    row("small, 32 connections", "weir", run(b->servers[0].port, &request, 32, many));
    if (b->peer_port) {
        (void)run(b->peer_port, &request, 32, many / 10);
        row("small, 32 connections", b->peer_name, run(b->peer_port, &request, 32, many / 4));
    }
    struct result direct = run(b->upstream_port, &request, 1, few);
    struct result weir = run(b->servers[0].port, &request, 1, few);
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

static int by_rate(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What reading, deciding and keeping leaves of the rate at which requests pass unread. Both take
 * turns, so that other work on the machine meets both, and the median of the rounds is printed. */
static void bench_ratio(struct bench *b, const struct server *server)
{
    struct server off = *server;
    double rates[RATIO_ROUNDS], off_rates[RATIO_ROUNDS], ratios[RATIO_ROUNDS];
    size_t count = SMALL_REQUESTS / (size_t)b->scale, middle = RATIO_ROUNDS / 2;
    struct wr_buf request;

    wr_buf_init(&request, BODY_BYTES_MAX);
    put_request(&request, small_body, sizeof(small_body) - 1, "");
    start_weir(b, &off, "off");
    (void)run(server->port, &request, 32, count / 4);
    (void)run(off.port, &request, 32, count / 4);
    double from_s = worker_time_s(server), off_from_s = worker_time_s(&off);
    for (size_t i = 0; i < RATIO_ROUNDS; i++) {
        rates[i] = run(server->port, &request, 32, count).per_s;
        off_rates[i] = run(off.port, &request, 32, count).per_s;
        ratios[i] = rates[i] / off_rates[i];
    }
    qsort(rates, RATIO_ROUNDS, sizeof(double), by_rate);
    qsort(off_rates, RATIO_ROUNDS, sizeof(double), by_rate);
    qsort(ratios, RATIO_ROUNDS, sizeof(double), by_rate);
    double each = 1e6 / (double)(RATIO_ROUNDS * count);
    printf("small: %s / off = %.0f %%   (%.0f and %.0f req/s, %.0f to %.0f %%; %.0f and %.0f us of "
           "the "
           "processor each) %s\n",
           b->policy, 100 * ratios[middle], rates[middle], off_rates[middle], 100 * ratios[0],
           100 * ratios[RATIO_ROUNDS - 1], (worker_time_s(server) - from_s) * each,
           (worker_time_s(&off) - off_from_s) * each, server->weir);
    (void)fflush(stdout);
    stop(off.pid);
    remove_dir(off.dir);
    wr_buf_release(&request);
}

/* ---- conversations that grow ---- */

struct talk { /* one a connection, at its place */
    struct wr_buf body, request;
    size_t number, turns_count;
};

static struct talk talks[TALKS_COUNT];
static size_t talks_begun; /* no two have a name or a text in common */

static void next_of_talk(struct client_conn *conn)
{
    struct talk *talk = &talks[conn - conn->load->conns];
    char headers[64];

    if (!talk->number || talk->turns_count == TALK_TURNS) {
        wr_buf_reset(&talk->body);
        talk->number = ++talks_begun;
        talk->turns_count = 0;
        wr_buf_printf(&talk->body,
                      "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"system\",\"content\":"
                      "\"You are helpful.\"},{\"role\":\"user\",\"content\":\"Talk %zu of %d\"}",
                      talk->number, (int)getpid());
    } else {
        talk->body.len -= strlen("]}");
        wr_buf_printf(&talk->body,
                      ",{\"role\":\"assistant\",\"content\":\"That is %zu.\"},{\"role\":"
                      "\"user\",\"content\":\"And the next, behind %zu?\"}",
                      talk->turns_count, talk->turns_count);
    }
    wr_buf_text(&talk->body, "]}");
    talk->turns_count++;
    wr_buf_reset(&talk->request);
    (void)snprintf(headers, sizeof(headers), "session-id: talk %d %zu\r\n", (int)getpid(),
                   talk->number);
    put_request(&talk->request, talk->body.bytes, talk->body.len, headers);
    conn->out = talk->request.bytes;
    conn->out_len = talk->request.len;
}

static double run_talks(int port, size_t requests, size_t *failed_count)
{
    uv_loop_t loop;
    struct load load = {.loop = &loop,
                        .port = port,
                        .conns_count = TALKS_COUNT,
                        .next = next_of_talk,
                        .requests_max = requests};

    for (size_t i = 0; i < TALKS_COUNT; i++)
        talks[i].number = 0; /* those of the round before are at their end */
    uv_loop_init(&loop);
    double from = bench_now_s();
    load_begin(&load);
    uv_run(&loop, UV_RUN_DEFAULT);
    double per_s = (double)load.done_count / (bench_now_s() - from);
    *failed_count += load.failed_count + (load.done_count < requests);
    load_free(&load);
    uv_loop_close(&loop);
    return per_s;
}

/* The servers take turns, so that other work on the machine meets all of them. */
static void bench_talks(struct bench *b)
{
    double rates[SERVERS_MAX][RATIO_ROUNDS], from_s[SERVERS_MAX], first = 0;
    size_t failed[SERVERS_MAX] = {0}, count = SMALL_REQUESTS / (size_t)b->scale;
    size_t middle = RATIO_ROUNDS / 2;

    for (size_t i = 0; i < TALKS_COUNT; i++) {
        wr_buf_init(&talks[i].body, BODY_BYTES_MAX);
        wr_buf_init(&talks[i].request, BODY_BYTES_MAX);
    }
    for (size_t i = 0; i < b->servers_count; i++) {
        (void)run_talks(b->servers[i].port, count / 4, &failed[i]);
        from_s[i] = worker_time_s(&b->servers[i]);
    }
    for (size_t round = 0; round < RATIO_ROUNDS; round++)
        for (size_t i = 0; i < b->servers_count; i++)
            rates[i][round] = run_talks(b->servers[i].port, count, &failed[i]);
    for (size_t i = 0; i < b->servers_count; i++) {
        double took_s = worker_time_s(&b->servers[i]) - from_s[i];
        qsort(rates[i], RATIO_ROUNDS, sizeof(double), by_rate);
        first = i ? first : rates[0][middle];
        printf("%d talks at once, %d turns each   %6.0f req/s (%.0f to %.0f), %3.0f %% of the "
               "first; node: %.0f ms of the processor per 1,000%s   %s\n",
               (int)TALKS_COUNT, (int)TALK_TURNS, rates[i][middle], rates[i][0],
               rates[i][RATIO_ROUNDS - 1], 100 * rates[i][middle] / first,
               took_s * 1e6 / (double)(RATIO_ROUNDS * count), failed[i] ? "   FAILED REQUESTS" : "",
               b->servers[i].weir);
    }
    (void)fflush(stdout);
    for (size_t i = 0; i < TALKS_COUNT; i++) {
        wr_buf_release(&talks[i].body);
        wr_buf_release(&talks[i].request);
    }
}

struct large {
    uint64_t *direct_ns;
    size_t turns, count; /* in a session; measured so far */
    size_t bytes_first, bytes_last;
};

/* Each server in turn goes first. */
static void measure_large(struct bench *b, struct large *large, const struct wr_buf *request,
                          bool is_counted)
{
    size_t at = large->count;

    large->direct_ns[at] = (uint64_t)(run(b->upstream_port, request, 1, 1).p50_ms * 1e6);
    for (size_t i = 0; i < b->servers_count; i++) {
        struct server *server = &b->servers[(i + at) % b->servers_count];
        server->large_ns[at] = (uint64_t)(run(server->port, request, 1, 1).p50_ms * 1e6);
    }
    large->count += is_counted;
}

/* Turns of one session, each with one more read: what a warm engine sees from the third on. */
static void play_large(struct bench *b, struct large *large, size_t number)
{
    size_t pairs = LARGE_BYTES / (RESULT_BYTES - 400);
    char headers[64];

    (void)snprintf(headers, sizeof(headers), "session-id: bench %zu\r\n", number);
    for (size_t i = 0; i < large->turns + 2; i++) {
        struct wr_buf body, request;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&request, BODY_BYTES_MAX);
        put_session(&body, number, pairs + i, "weir_recall");
        put_request(&request, body.bytes, body.len, headers);
        measure_large(b, large, &request, i >= 2);
        large->bytes_last = body.len;
        if (!large->bytes_first)
            large->bytes_first = body.len;
        wr_buf_release(&body);
        wr_buf_release(&request);
    }
}

static void bench_large(struct bench *b)
{
    struct large large = {.turns = LARGE_TURNS / (size_t)b->scale};
    size_t sessions = b->large_count ? b->large_count : 1;
    size_t room = large.turns * sessions + 1; /* what is not counted has a place behind the rest */

    large.direct_ns = calloc(room, sizeof(uint64_t));
    for (size_t i = 0; i < b->servers_count; i++)
        if (!(b->servers[i].large_ns = calloc(room, sizeof(uint64_t))))
            abort();
    for (size_t i = 0; i < sessions && large.direct_ns; i++)
        play_large(b, &large, i);
    double d_ms = load_percentile_ms(large.direct_ns, large.count, 50);
    for (size_t i = 0; i < b->servers_count; i++) {
        struct server *server = &b->servers[i];
        double w_ms = load_percentile_ms(server->large_ns, large.count, 50);
        printf("%-34s %-10s p50 direct %.3f ms, through weir %.3f ms: added %.3f ms (%zu to %zu "
               "KB)%s%s\n",
               "large, warm, projected", b->policy, d_ms, w_ms, w_ms - d_ms,
               large.bytes_first / 1000, large.bytes_last / 1000, i ? " by " : "",
               i ? server->weir : "");
        free(server->large_ns);
    }
    free(large.direct_ns);
}

/* One request of a session, streamed, to each server; each in turn goes first. */
static void measure_own(struct bench *b, size_t number, size_t pairs, size_t at, struct large *own)
{
    char headers[64];

    (void)snprintf(headers, sizeof(headers), "session-id: own %zu\r\nx-events: 1\r\n", number);
    for (size_t i = 0; i < b->servers_count; i++) {
        struct server *server = &b->servers[(i + at) % b->servers_count];
        struct wr_buf body, request;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&request, BODY_BYTES_MAX);
        put_session(&body, number, pairs, server == b->servers ? "weir_recall" : "read_file");
        put_request(&request, body.bytes, body.len, headers);
        if (!i)
            own->direct_ns[at] =
                (uint64_t)(run(b->upstream_port, &request, 1, 1).first_p50_ms * 1e6);
        server->large_ns[at] = (uint64_t)(run(server->port, &request, 1, 1).first_p50_ms * 1e6);
        own->bytes_last = body.len;
        wr_buf_release(&body);
        wr_buf_release(&request);
    }
}

/* A session is given the tool by its first request, where the model has said nothing yet. */
static void bench_own(struct bench *b, const char *what, size_t pairs, size_t numbers_from)
{
    struct large own = {.turns = LARGE_TURNS};
    size_t room = own.turns * b->own_count;

    own.direct_ns = calloc(room + 1, sizeof(uint64_t));
    for (size_t i = 0; i < b->servers_count; i++)
        b->servers[i].large_ns = calloc(room + 1, sizeof(uint64_t));
    for (size_t s = 0; s < b->own_count; s++)
        for (size_t turn = 0; turn < own.turns + 3; turn++) {
            size_t at = turn < 3 ? room : own.count++;
            measure_own(b, numbers_from + s, turn ? pairs + turn : 0, at, &own);
        }
    double direct_ms = load_percentile_ms(own.direct_ns, own.count, 50), added_ms[2];
    for (size_t i = 0; i < b->servers_count; i++) {
        added_ms[i] = load_percentile_ms(b->servers[i].large_ns, own.count, 50) - direct_ms;
        free(b->servers[i].large_ns);
    }
    printf("%-34s first byte, added at p50: the client's tool %.3f ms, our own %.3f ms (%+.3f ms, "
           "x %.2f; up to %zu KB)\n",
           what, added_ms[0], added_ms[1], added_ms[1] - added_ms[0], added_ms[1] / added_ms[0],
           own.bytes_last / 1000);
    (void)fflush(stdout);
    free(own.direct_ns);
}

static void bench_first_byte(struct bench *b)
{
    struct wr_buf request;
    size_t count = 200 / (size_t)b->scale;

    wr_buf_init(&request, BODY_BYTES_MAX);
    put_request(&request, small_body, sizeof(small_body) - 1, "x-events: 1\r\n");
    struct result direct = run(b->upstream_port, &request, 1, count);
    struct result weir = run(b->servers[0].port, &request, 1, count);
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
                        .port = b->servers[0].port,
                        .conns_count = streams,
                        .request = request.bytes,
                        .request_len = request.len,
                        .requests_max = streams,
                        .checks_events = true};
    long before_kb = worker_rss_kb(&b->servers[0]), peak_kb = before_kb;
    uv_loop_init(&loop);
    load_begin(&load);
    while (uv_run(&loop, UV_RUN_ONCE) && load.done_count + load.failed_count < streams) {
        long kb = worker_rss_kb(&b->servers[0]);
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
        (void)run(b->servers[0].port, &request, 32, part);
        last_kb = worker_rss_kb(&b->servers[0]);
        if (i == 1)
            first_kb = last_kb;
    }
    printf("%-34s %-10s %ld KB after %zu, %ld KB after %zu requests\n", "memory", "weir", first_kb,
           part * 2, last_kb, part * 10);
    wr_buf_release(&request);
}

static struct server *add_server(struct bench *b, const char *program)
{
    struct server *server = &b->servers[b->servers_count++];
    (void)snprintf(server->weir, sizeof(server->weir), "%s", program);
    return server;
}

static void read_arguments(struct bench *b, int argc, char **argv)
{
    char *slash, *weir = add_server(b, argv[0])->weir;
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
        b->is_small |= !strcmp(argv[i], "--small");
        b->is_talks |= !strcmp(argv[i], "--talks");
        if (!strcmp(argv[i], "--own") && i + 1 < argc)
            b->own_count = (size_t)strtoul(argv[++i], NULL, 10);
        if (!strcmp(argv[i], "--large") && i + 1 < argc)
            b->large_count = (size_t)strtoul(argv[++i], NULL, 10);
        if (b->is_small || b->is_talks || b->large_count) {
            while (i + 1 < argc && argv[i + 1][0] != '-' && b->servers_count < SERVERS_MAX)
                (void)add_server(b, argv[++i]);
        }
    }
    for (int i = 0; i < 2; i++)
        if ((slash = strrchr(weir, '/')))
            *slash = '\0';
    size_t len = strlen(weir);
    (void)snprintf(weir + len, sizeof(b->servers[0].weir) - len, "/weir");
    if (b->own_count) {
        b->servers_count = 1;
        add_server(b, weir)->recall = "own";
        b->servers[0].recall = "client";
    }
}

static void bench_all(struct bench *b)
{
    bench_small(b);
    bench_ratio(b, &b->servers[0]);
    bench_large(b);
    bench_first_byte(b);
    bench_streams(b);
    bench_steady(b);
}

int main(int argc, char **argv)
{
    struct bench b = {0};

    read_arguments(&b, argc, argv);
    (void)signal(SIGPIPE, SIG_IGN);
    b.upstream_pid = upstream_start(&b.upstream_port);
    for (size_t i = 0; i < b.servers_count; i++)
        start_weir(&b, &b.servers[i], "active");
    if (b.own_count) {
        bench_own(&b, "small, streamed", 1, 0);
        bench_own(&b, "large, streamed", LARGE_BYTES / (RESULT_BYTES - 400), b.own_count);
    } else if (b.is_small)
        for (size_t i = 0; i < b.servers_count; i++)
            bench_ratio(&b, &b.servers[i]);
    else if (b.is_talks)
        bench_talks(&b);
    else if (b.large_count)
        bench_large(&b);
    else
        bench_all(&b);
    for (size_t i = 0; i < b.servers_count; i++) {
        stop(b.servers[i].pid);
        remove_dir(b.servers[i].dir);
    }
    kill(b.upstream_pid, SIGKILL);
    waitpid(b.upstream_pid, NULL, 0);
    return 0;
}
