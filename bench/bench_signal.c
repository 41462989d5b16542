/* How fast signals are found, in a log with few of them and in diagnostics that are all of them,
 * against one pass that only looks for line ends. */
#include "condense/signal.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "bench/clock.h"

enum { TEXT_BYTES = 16 * 1024 * 1024, ROUNDS = 7 };

struct job {
    weir_span text;
    enum wr_output_kind kind;
    struct wr_arena arena;
    uint32_t signals_count;
    size_t line_ends;
};

static void scan(void *user)
{
    struct job *job = user;
    struct wr_signal_set set;
    wr_arena_reset(&job->arena);
    if (wr_signal_scan(&set, &job->arena, job->text, job->kind))
        fprintf(stderr, "the scan failed\n");
    job->signals_count = set.count;
}

static void count_line_ends(void *user)
{
    struct job *job = user;
    weir_span rest = job->text, line;
    size_t count = 0;
    while (wr_span_line(&rest, &line))
        count++;
    job->line_ends = count;
}

static void write_log(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        unsigned second = i / 20 % 60;
        if (i % 500 == 499)
            wr_buf_printf(
                out,
                "2024-03-04T05:06:%02u.%03uZ ERROR [pool-%u] store: lost connection to shard %u\n",
                second, i % 1000, i % 8, i % 16);
        else if (i % 3)
            wr_buf_printf(
                out,
                "2024-03-04T05:06:%02u.%03uZ INFO [pool-%u] http: GET /v1/items/%u 200 in %ums\n",
                second, i % 1000, i % 8, i * 7919, i % 90);
        else
            wr_buf_printf(
                out, "2024-03-04T05:06:%02u.%03uZ DEBUG [pool-%u] cache: hit key=user:%u age=%us\n",
                second, i % 1000, i % 8, i * 31, i % 900);
    }
}

static void write_diagnostics(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        if (i % 4 == 3)
            wr_buf_printf(out,
                          "src/module_%u/file_%u.c:%u:%u: warning: unused variable 'value_%u' "
                          "[-Wunused-variable]\n",
                          i % 40, i % 300, i % 900 + 1, i % 70 + 1, i % 50);
        else
            wr_buf_printf(
                out,
                "src/module_%u/file_%u.c:%u:%u: error: 'name_%u' undeclared (first use in "
                "this function)\n",
                i % 40, i % 300, i % 900 + 1, i % 70 + 1, i % 200);
    }
}

static void write_plain(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(
            out, "  [%3u%%] Building C object lib/CMakeFiles/core.dir/src/part_%u/unit_%u.c.o\n",
            i % 100, i % 50, i);
}

static void write_search(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(out, "src/module_%u/file_%u.c:%u:    return wr_value_of(context, %u);\n",
                      i % 40, i % 300, i % 2000 + 1, i % 9);
}

static void measure(const char *name, enum wr_output_kind kind, void (*write)(struct wr_buf *out))
{
    struct wr_buf text;
    struct job job = {.kind = kind};
    wr_buf_init(&text, 2 * (size_t)TEXT_BYTES);
    write(&text);
    job.text = wr_buf_view(&text);
    wr_arena_init(&job.arena, WR_ARENA_BYTES_MAX);
    double lines_s = bench_best_s(count_line_ends, &job, ROUNDS);
    double scan_s = bench_best_s(scan, &job, ROUNDS);
    double mb = (double)job.text.len / 1e6;
    printf("signal %-22s %7.0f MB/s   %5.1f x the time of finding line ends   %u signals in %zu "
           "lines\n",
           name, mb / scan_s, scan_s / lines_s, job.signals_count, job.line_ends);
    wr_arena_release(&job.arena);
    wr_buf_release(&text);
}

int main(void)
{
    measure("log, few signals", WR_OUTPUT_LOG, write_log);
    measure("build, no signals", WR_OUTPUT_PROCESS, write_plain);
    measure("dense diagnostics", WR_OUTPUT_PROCESS, write_diagnostics);
    measure("search results", WR_OUTPUT_SEARCH, write_search);
    return 0;
}
