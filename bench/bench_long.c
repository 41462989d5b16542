/* What very long sessions cost: one made here, projected once by an engine that has never seen it
 * and then turn after turn, as an agent sends it. Times are the processor's, so that other work on
 * the machine does not count.
 *
 * usage: bench_long [TURNS [BYTES [WINDOW [POLICY...]]]]   turns, bytes of a result, tokens */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "weir/weir.h"

enum { WARM_TURNS = 20, LOOP_TURNS = 25, TURNS = 4000, RESULT_BYTES = 1500, WINDOW = 100000 };

struct long_session {
    uint32_t turns, result_bytes, window_tokens;
    const char *policy;
};

static void write_result(struct wr_buf *out, uint32_t turn, uint32_t bytes)
{
    static const char *const words[] = {"river", "stone", "gate", "water", "level", "bank", "sill"};
    size_t end = out->len + bytes;
    for (uint32_t line = 0; out->len < end; line++)
        wr_buf_printf(out, "src/part_%u.c:%u: the %s of the %s holds %s %u\\n", turn % 97, line,
                      words[(line + turn) % 7], words[(line * 3 + 1) % 7], words[(line / 7) % 7],
                      turn * 7919 + line);
}

/* A user speaks every LOOP_TURNS turns; in between the model calls and the tools answer. */
static void write_turn(struct wr_buf *out, const struct long_session *s, uint32_t turn)
{
    if (turn % LOOP_TURNS == 0) {
        wr_buf_printf(out, "%s{\"role\":\"user\",\"content\":\"now look at part %u of the river\"}",
                      turn ? ",{\"role\":\"assistant\",\"content\":\"That part is done.\"}," : "",
                      turn);
        return;
    }
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
                  "\"{\\\"command\\\":\\\"grep -n river src/part_%u.c\\\"}\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
                  turn, turn % 97, turn);
    write_result(out, turn, s->result_bytes);
    wr_buf_text(out, "\"}");
}

static void write_head(struct wr_buf *out)
{
    wr_buf_text(out, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":"
                     "{\"name\":\"weir_recall\"}}],\"messages\":[");
}

struct figures {
    double took_ms;
    size_t arena_bytes;
    uint64_t tokens_after;
    bool is_step, is_held;
    weir_status status;
};

static double own_time_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct figures project(struct weir_engine *engine, struct weir_store *store,
                              const struct long_session *s, weir_span body, int64_t now_ms)
{
    struct weir_project_options options = {
        .policy = s->policy, .store = store, .window_tokens = s->window_tokens, .now_ms = now_ms};
    struct weir_projected projected = {0};
    struct wr_record record = {0};
    struct weir_request *request = NULL;
    double start_s = own_time_s();
    weir_status status = weir_engine_request(engine, body, NULL, &request, NULL);
    if (!status)
        status = wr_engine_project(engine, request, &options, &record, &projected, NULL);
    struct figures f = {.took_ms = (own_time_s() - start_s) * 1e3,
                        .arena_bytes = request ? request->arena.bytes_held : 0,
                        .tokens_after = projected.tokens_after,
                        .is_step = projected.is_step,
                        .is_held = projected.held_back != NULL,
                        .status = status};
    weir_request_free(request);
    return f;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_long(const struct long_session *s, size_t body_bytes, const struct figures *cold,
                       double *warm_ms, const struct figures *last)
{
    qsort(warm_ms, WARM_TURNS, sizeof(*warm_ms), by_time);
    printf("  %-12s %6u turns %8zu bytes: cold %8.1f ms %6.1f MB (%s, %llu tokens); then p50 "
           "%7.2f ms, slowest %7.2f ms, %5.1f MB%s\n",
           s->policy, s->turns, body_bytes, cold->took_ms, (double)cold->arena_bytes / 1e6,
           cold->status    ? weir_status_text(cold->status)
           : cold->is_held ? "held back"
                           : "projected",
           (unsigned long long)cold->tokens_after, warm_ms[WARM_TURNS / 2], warm_ms[WARM_TURNS - 1],
           (double)last->arena_bytes / 1e6, last->status ? ", FAILED" : "");
    (void)fflush(stdout);
}

static bool bench_long(const struct long_session *s)
{
    double warm_ms[WARM_TURNS];
    struct figures cold = {0}, last = {0};
    struct weir_engine *engine = NULL;
    struct weir_store *store = NULL;
    struct wr_buf body;

    if (weir_engine_new(&engine, NULL) || weir_store_new_memory(1024 * 1024 * 1024, &store))
        return false;
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    write_head(&body);
    for (uint32_t turn = 0; turn < s->turns + WARM_TURNS; turn++) {
        write_turn(&body, s, turn);
        if (turn + 1 < s->turns)
            continue;
        wr_buf_text(&body, "]}");
        last = project(engine, store, s, wr_buf_view(&body), 1 + turn);
        body.len -= 2;
        if (turn + 1 == s->turns)
            cold = last;
        else
            warm_ms[turn - s->turns] = last.took_ms;
    }
    print_long(s, body.len, &cold, warm_ms, &last);
    wr_buf_release(&body);
    weir_store_close(store);
    weir_engine_free(engine);
    return !cold.status && !last.status;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"exact",  "guarded-mid", "compress", "layers",
                                           "tiered", "smart",       "auto"};
    struct long_session s = {TURNS, RESULT_BYTES, WINDOW, NULL};
    uint32_t *const numbers[] = {&s.turns, &s.result_bytes, &s.window_tokens};
    bool ok = true;

    for (int i = 1; i < argc && i <= 3; i++)
        *numbers[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    printf("sessions of %u turns, a result of %u bytes each, window %u tokens\n", s.turns,
           s.result_bytes, s.window_tokens);
    for (size_t i = 0; i < WR_COUNT_OF(policies) && argc <= 4; i++) {
        s.policy = policies[i];
        ok &= bench_long(&s);
    }
    for (int i = 4; i < argc; i++) {
        s.policy = argv[i];
        ok &= bench_long(&s);
    }
    return ok ? 0 : 1;
}
