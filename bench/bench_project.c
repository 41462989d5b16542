/* What a projection costs, stage by stage, on the newest request of recorded sessions, beside
 * memcpy; then the requests of each session in order through the public engine, and the newest once
 * more by an engine that has never seen the session. Those are in time of the processor, so that
 * other work on the machine does not count. usage:
 * bench_project SESSION.jsonl...   one Chat message a line; WEIR_BENCH_API=NAME: requests of that
 * API
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "bench/clock.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "engine/run.h"
#include "lab/session.h"
#include "models/registry.h"
#include "policy/meter.h"
#include "weir/weir.h"

enum { ROUNDS = 30, WINDOW_TOKENS = 200000, FILE_BYTES_MAX = 64 * 1024 * 1024 };

static weir_dialect dialect; /* that requests are written in */

struct bench {
    weir_span body;
    char *copy;
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_measure measure;
    struct wr_meter *meter;
    struct wr_memo *memo; /* NULL: cold */
    const struct wr_policy *policy;
    struct wr_buf out;
    bool ok;
};

static void run_memcpy(void *user)
{
    struct bench *b = user;
    memcpy(b->copy, b->body.ptr, b->body.len);
    b->ok &= b->copy[b->body.len - 1] == '}';
}

static void run_parse(void *user)
{
    struct bench *b = user;
    wr_arena_reset(&b->arena);
    b->ok &= !wr_json_parse(&b->doc, &b->arena, b->body, NULL, NULL);
}

static void run_read(void *user)
{
    struct bench *b = user;
    struct wr_api_options options = {.memo = b->memo};
    run_parse(b);
    b->ok &= !wr_api_read(&b->transcript, &b->arena, &b->doc, &options, NULL);
}

static void run_measure(void *user)
{
    struct bench *b = user;
    run_read(b);
    b->ok &= !wr_meter_measure(b->meter, &b->transcript, &b->arena, &b->measure);
}

static void run_project(void *user)
{
    struct bench *b = user;
    struct wr_ways ways;
    struct wr_run run;
    run_measure(b);
    b->ok &= !wr_ways_read(&ways, &b->arena, &b->transcript);
    struct wr_fold_input input = {.transcript = &b->transcript,
                                  .tokens = b->measure.segment_tokens,
                                  .policy = b->policy,
                                  .ways = &ways,
                                  .window_tokens = 200000,
                                  .reserve_tokens = 10000,
                                  .base_tokens = b->measure.base_tokens,
                                  .overheads = b->measure.segment_overheads,
                                  .message_overhead_tokens = b->measure.message_overhead_tokens,
                                  .count = wr_meter_count,
                                  .user = b->meter};
    wr_buf_reset(&b->out);
    b->ok &= !wr_run_policy(&run, &b->arena, &input, NULL, &b->out, NULL);
}

static bool read_file(const char *path, struct wr_buf *text)
{
    char block[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    while ((got = fread(block, 1, sizeof(block), file)) > 0)
        wr_buf_append(text, (weir_span){block, got});
    fclose(file);
    return true;
}

static void print_row(const char *what, double took_s, double copy_s)
{
    printf("  %-34s %8.3f ms  %6.1fx memcpy's time\n", what, took_s * 1e3, took_s / copy_s);
}

static void measure_once(struct bench *b, const char *how, double copy_s)
{
    char what[64];
    (void)snprintf(what, sizeof(what), "%s: transcript", how);
    print_row(what, bench_best_s(run_read, b, ROUNDS), copy_s);
    (void)snprintf(what, sizeof(what), "%s: + tokens", how);
    print_row(what, bench_best_s(run_measure, b, ROUNDS), copy_s);
    for (uint32_t p = 0; p < wr_policy_count(); p++) {
        b->policy = wr_policy_at(p);
        (void)snprintf(what, sizeof(what), "%s: + %s, whole", how, b->policy->name);
        print_row(what, bench_best_s(run_project, b, ROUNDS), copy_s);
    }
}

/* Cold: nothing is remembered but token counts. Warm: the session's last request was this one. */
static void measure_body(struct bench *b, const char *path)
{
    double copy_s = bench_best_s(run_memcpy, b, ROUNDS);
    printf("%s: %zu bytes\n", path, b->body.len);
    print_row("parse", bench_best_s(run_parse, b, ROUNDS), copy_s);
    b->memo = NULL;
    measure_once(b, "cold", copy_s);
    if (wr_memo_new(&b->memo, WR_MEMO_BYTES_MAX))
        return;
    measure_once(b, "warm", copy_s);
    wr_memo_free(b->memo);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double own_time_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

struct cost {
    double took_ms;
    size_t arena_bytes; /* all that the request asked for: nothing is given back before its end */
};

/* What a request of the session costs, in order, through the engine as the proxy asks it (no report
 * is written), its commit to a store in memory included. */
static bool project_one(struct weir_engine *engine, struct weir_store *store, const char *policy,
                        weir_span body, int64_t now_ms, struct cost *cost)
{
    double start_ms = own_time_ms();
    struct weir_project_options options = {
        .policy = policy, .store = store, .window_tokens = WINDOW_TOKENS, .now_ms = now_ms};
    struct weir_projected projected;
    struct wr_record record = {0};
    struct weir_request *request = NULL;
    weir_status status = weir_engine_request(engine, body, NULL, &request, NULL);
    if (!status)
        status = wr_engine_project(engine, request, &options, &record, &projected, NULL);
    cost->arena_bytes = request ? request->arena.bytes_held : 0;
    weir_request_free(request);
    cost->took_ms = own_time_ms() - start_ms;
    return !status && !projected.held_back;
}

struct times {
    double *took_ms, *last_ms; /* all, and those of the last third: the largest requests */
    uint32_t count, last_count;
    size_t bytes_last, arena_bytes_max;
};

static void print_times(struct times *t, const char *policy, const struct cost *cold)
{
    if (!t->count || !t->last_count)
        return;
    qsort(t->took_ms, t->count, sizeof(double), by_time);
    qsort(t->last_ms, t->last_count, sizeof(double), by_time);
    printf("  in order, %-12s %4u requests up to %zu bytes: p50 %.2f ms, p99 %.2f ms; last third "
           "p50 %.2f ms, arena %.1f MB at most; cold %.1f ms, arena %.1f MB\n",
           policy, t->count, t->bytes_last, t->took_ms[t->count / 2],
           t->took_ms[t->count * 99 / 100], t->last_ms[t->last_count / 2],
           (double)t->arena_bytes_max / 1e6, cold->took_ms, (double)cold->arena_bytes / 1e6);
}

static void write_request(const struct wr_session *session, uint32_t n, struct wr_buf *body)
{
    struct wr_session_request request = {.dialect = dialect,
                                         .messages_count = session->requests[n],
                                         .model = "gpt-5",
                                         .with_tools = WR_SESSION_TOOLS};
    wr_buf_init(body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, body);
}

/* The newest request after a restart: the store is there, and nothing is remembered but the tables
 * of tokens, which a projection of another request brings in. */
static struct cost bench_cold(struct bench *b, const struct wr_session *session,
                              struct weir_store *store, const char *policy)
{
    static const char hello[] = "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\","
                                "\"content\":\"hello\"}]}";
    uint32_t newest = session->requests_count - 1;
    struct weir_engine *engine = NULL;
    struct cost cost = {0};
    struct wr_buf body;

    write_request(session, newest, &body);
    b->ok &= !weir_engine_new(&engine, NULL) &&
             project_one(engine, NULL, "exact", wr_span_of(hello), 1, &cost) &&
             project_one(engine, store, policy, wr_buf_view(&body), 2 + newest, &cost);
    weir_engine_free(engine);
    wr_buf_release(&body);
    return cost;
}

/* The session as it happened: every request in order, each reading what the last one left in the
 * engine's memo. */
static void bench_in_order(struct bench *b, const struct wr_session *session, const char *policy)
{
    struct times t = {.took_ms = calloc(session->requests_count, sizeof(double)),
                      .last_ms = calloc(session->requests_count, sizeof(double))};
    struct weir_engine *engine = NULL;
    struct weir_store *store = NULL;

    b->ok &= t.took_ms && t.last_ms && !weir_engine_new(&engine, NULL) &&
             !weir_store_new_memory(0, &store);
    for (uint32_t n = 0; b->ok && n < session->requests_count; n++) {
        struct cost cost;
        struct wr_buf body;
        write_request(session, n, &body);
        t.bytes_last = body.len;
        b->ok &= project_one(engine, store, policy, wr_buf_view(&body), 1 + n, &cost);
        t.took_ms[t.count++] = cost.took_ms;
        if (cost.arena_bytes > t.arena_bytes_max)
            t.arena_bytes_max = cost.arena_bytes;
        if (n >= session->requests_count / 3 * 2)
            t.last_ms[t.last_count++] = cost.took_ms;
        wr_buf_release(&body);
    }
    struct cost cold = {0};
    if (b->ok)
        cold = bench_cold(b, session, store, policy);
    print_times(&t, policy, &cold);
    weir_store_close(store);
    weir_engine_free(engine);
    free(t.took_ms);
    free(t.last_ms);
}

static bool bench_session(struct bench *b, const char *path)
{
    struct wr_buf text, body;
    struct wr_arena arena;
    struct wr_session session;
    bool ok = true;

    wr_buf_init(&text, FILE_BYTES_MAX);
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!read_file(path, &text) || wr_session_read(&session, &arena, wr_buf_view(&text), NULL) ||
        !session.requests_count) {
        printf("%s: skipped, no session\n", path);
    } else {
        struct wr_session_request request = {.dialect = dialect,
                                             .messages_count =
                                                 session.requests[session.requests_count - 1],
                                             .model = "gpt-5",
                                             .with_tools = WR_SESSION_TOOLS};
        wr_session_write(&session, &request, &body);
        b->body = wr_buf_view(&body);
        b->copy = malloc(b->body.len);
        ok = b->copy != NULL;
        if (ok)
            measure_body(b, path);
        free(b->copy);
        static const char *const policies[] = {"exact",  "guarded-mid", "compress", "layers",
                                               "tiered", "smart",       "auto"};
        for (size_t i = 0; i < WR_COUNT_OF(policies); i++)
            bench_in_order(b, &session, policies[i]);
    }
    wr_arena_release(&arena);
    wr_buf_release(&body);
    wr_buf_release(&text);
    return ok;
}

int main(int argc, char **argv)
{
    struct bench b = {.ok = true};
    const char *name = getenv("WEIR_BENCH_API");
    const struct wr_api *api = wr_api_named(wr_span_of(name ? name : "chat"));
    struct wr_models *models;

    if (!api)
        return 2;
    dialect = api->dialect;

    if (argc < 2) {
        puts("skipped: no recorded sessions here");
        return 0;
    }
    if (wr_models_new(&models, NULL, NULL) || wr_meter_new(&b.meter) ||
        wr_meter_use_model(b.meter, wr_models_lookup(models, WR_LIT("gpt-5")).model, NULL))
        return 2;
    wr_arena_init(&b.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b.out, WR_OUTPUT_BYTES_MAX);
    for (int i = 1; i < argc; i++)
        b.ok &= bench_session(&b, argv[i]);
    puts(b.ok ? "all rounds gave a result" : "A ROUND FAILED");
    wr_buf_release(&b.out);
    wr_arena_release(&b.arena);
    wr_meter_free(b.meter);
    wr_models_free(models);
    return b.ok ? 0 : 1;
}
