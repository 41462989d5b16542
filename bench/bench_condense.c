/* How fast each kind of output is condensed to a quarter, on texts made from the project's own
 * sources and from lines such as programs print, and how many copies of the text the machine makes
 * in the same time. */
#include "condense/condense.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "bench/clock.h"
#include "condense/outline.h"
#include "condense/terminal.h"

enum { TEXT_BYTES = 8 * 1024 * 1024, FILE_BYTES_MAX = 256 * 1024, ROUNDS = 5 };

struct job {
    weir_span text;
    enum wr_output_kind kind;
    struct wr_arena arena;
    char *copy;
    size_t out_bytes;
};

static void condense(void *user)
{
    struct job *job = user;
    struct wr_condensed out = {.text = {"", 0}};
    struct wr_condense_input input = {.text = job->text,
                                      .kind = job->kind,
                                      .command = {"", 0},
                                      .path = {"", 0},
                                      .query = {"", 0},
                                      .focus = {"", 0},
                                      .bytes_budget = job->text.len / 4};
    wr_arena_reset(&job->arena);
    if (wr_condense(&out, &job->arena, &input))
        fprintf(stderr, "condensing failed\n");
    job->out_bytes = out.text.len;
}

static void render(void *user)
{
    struct job *job = user;
    struct wr_terminal_text out = {.text = {"", 0}};
    wr_arena_reset(&job->arena);
    if (wr_terminal_render(&out, &job->arena, job->text))
        fprintf(stderr, "rendering failed\n");
    job->out_bytes = out.text.len;
}

static void outline(void *user)
{
    struct job *job = user;
    struct wr_outline out = {.count = 0};
    wr_arena_reset(&job->arena);
    if (wr_outline_read(&out, &job->arena, job->text, (weir_span){"a.c", 3}))
        fprintf(stderr, "reading the outline failed\n");
    job->out_bytes = out.count;
}

static void copy(void *user)
{
    struct job *job = user;
    memcpy(job->copy, job->text.ptr, job->text.len);
    __asm__ volatile("" : : "r"(job->copy) : "memory"); /* or the compiler leaves it out */
}

/* -- texts ------------------------------------------------------------------------------------- */

static void append_file(struct wr_buf *out, const char *path, const char *prefix)
{
    static char bytes[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    for (size_t from = 0, line = 1; from < len; line++) {
        const char *end = memchr(bytes + from, '\n', len - from);
        size_t to = end ? (size_t)(end - bytes) + 1 : len;
        if (*prefix)
            wr_buf_printf(out, "%s%s:%zu:", prefix, path, line);
        wr_buf_append(out, (weir_span){bytes + from, to - from});
        from = to;
    }
}

static void append_sources(struct wr_buf *out, const char *prefix)
{
    static const char *const paths[] = {"src/condense/signal.c",   "src/condense/signal_words.c",
                                        "src/condense/volatile.c", "src/json/json.c",
                                        "src/json/json.c",         "src/transcript/tool_result.c",
                                        "src/store/sqlite.c",      "src/policy/fold.c",
                                        "src/condense/keep.c",     "src/tokens/pretoken.c",
                                        "src/api/messages.c",      "src/models/registry.c"};
    while (out->len < TEXT_BYTES) {
        size_t before = out->len;
        for (size_t i = 0; i < WR_COUNT_OF(paths); i++)
            append_file(out, paths[i], prefix);
        if (out->len == before)
            return; /* not run from the project's root */
    }
}

static void write_file(struct wr_buf *out)
{
    append_sources(out, "");
}

static void write_search(struct wr_buf *out)
{
    append_sources(out, "./");
}

static void write_build(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        if (i % 400 == 399)
            wr_buf_printf(out, "src/part_%u.c:%u:%u: warning: unused variable 'v%u'\n", i % 50,
                          i % 900 + 1, i % 70 + 1, i % 90);
        else
            wr_buf_printf(out, "[%3u%%] Building C object lib/core.dir/src/part_%u/unit_%u.c.o\n",
                          i % 100, i % 50, i);
    }
}

static void write_words(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        if (i % 7 == 6)
            wr_buf_printf(out, "\n## Section %u\n\n", i / 7);
        else
            wr_buf_printf(out,
                          "The quick brown fox number %u jumps over the lazy dog, and then it "
                          "goes on to say so in many words.\n",
                          i * 31 % 997);
    }
}

static void write_log(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        unsigned second = i / 20 % 60;
        if (i % 500 == 499)
            wr_buf_printf(out, "2024-03-04T05:06:%02u.%03uZ ERROR [pool-%u] store: lost shard %u\n",
                          second, i % 1000, i % 8, i % 16);
        else
            wr_buf_printf(out,
                          "2024-03-04T05:06:%02u.%03uZ INFO [pool-%u] http: GET /v1/items/%u 200\n",
                          second, i % 1000, i % 8, i * 7919);
    }
}

static void write_test(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        if (i % 200 == 199)
            wr_buf_printf(out,
                          "    part_%u_test.go:%u: got %u, want 2\n--- FAIL: TestPart%u (0.00s)\n",
                          i % 90, i % 900, i % 7, i % 1000);
        else
            wr_buf_printf(out, "=== RUN   TestPart%u\n--- PASS: TestPart%u (0.0%us)\n", i, i,
                          i % 10);
    }
}

static void write_diff(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        wr_buf_printf(out, "diff --git a/src/f%u.c b/src/f%u.c\n--- a/src/f%u.c\n+++ b/src/f%u.c\n",
                      i, i, i, i);
        for (unsigned hunk = 1; hunk < 4; hunk++) {
            wr_buf_printf(out, "@@ -%u,12 +%u,13 @@ static int f(void)\n", hunk * 90, hunk * 91);
            for (unsigned line = 0; line < 12; line++)
                wr_buf_printf(out, "%c    value_%u = wr_value_of(context, %u);\n", " +- "[line % 4],
                              line, i * line % 977);
        }
    }
}

static void write_json(struct wr_buf *out)
{
    wr_buf_text(out, "[\n");
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(out, "{\"id\": %u, \"name\": \"item %u\", \"state\": \"%s\", \"n\": %u},\n",
                      i, i, i % 700 ? "done" : "failed", i * 7 % 991);
    wr_buf_text(out, "{\"id\": -1}]\n");
}

static void write_list(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(out, "./src/module_%u/part_%u/file_%u.%s\n", i / 400, i / 20 % 20, i % 20,
                      i % 3 ? "c" : "h");
}

static void write_blob(struct wr_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (unsigned i = 0, seed = 1; out->len < TEXT_BYTES; i++) {
        seed = seed * 1103515245u + 12345u;
        wr_buf_byte(out, i % 77 == 76 ? '\n' : digits[seed >> 16 & 63]);
    }
}

static void write_crlf(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(out, "[%3u%%] Building C object lib/core.dir/src/part_%u/unit_%u.c.o  \r\n%s",
                      i % 100, i % 50, i, i % 9 ? "" : "\r\n\r\n");
}

static void write_bars(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++) {
        if (i % 50 == 49)
            wr_buf_printf(out, "\r\x1b[Kpart %u: done\n", i / 50);
        else
            wr_buf_printf(out, "\r\x1b[32mpart %u\x1b[0m: [%-30.*s] %u%%", i / 50, (int)(i % 31),
                          "##############################", i * 2 % 100);
    }
}

static void write_coloured(struct wr_buf *out)
{
    for (unsigned i = 0; out->len < TEXT_BYTES; i++)
        wr_buf_printf(out, "\x1b[2m12:00:%02u\x1b[0m \x1b[32mINFO\x1b[0m served item %u in %ums\n",
                      i % 60, i * 7, i % 90);
}

/* ---------------------------------------------------------------------------------------------- */

static void measure(const char *name, enum wr_output_kind kind, void (*write)(struct wr_buf *out),
                    bench_fn *fn)
{
    struct wr_buf text;
    struct job job = {.kind = kind};
    wr_buf_init(&text, 2 * (size_t)TEXT_BYTES);
    write(&text);
    job.text = wr_buf_view(&text);
    job.copy = malloc(job.text.len + 1);
    if (!job.copy || wr_buf_status(&text) || !job.text.len) {
        printf("condense %-20s skipped: no text\n", name);
    } else {
        wr_arena_init(&job.arena, WR_ARENA_BYTES_MAX);
        copy(&job);
        double copy_s = bench_best_s(copy, &job, ROUNDS);
        double fn_s = bench_best_s(fn, &job, ROUNDS);
        printf("condense %-20s %6.0f MB/s   %6.1f x the time of memcpy   kept %4.1f %%\n", name,
               (double)job.text.len / 1e6 / fn_s, fn_s / copy_s,
               100.0 * (double)job.out_bytes / (double)job.text.len);
        wr_arena_release(&job.arena);
    }
    free(job.copy);
    wr_buf_release(&text);
}

int main(void)
{
    static const struct {
        const char *name;
        enum wr_output_kind kind;
        void (*write)(struct wr_buf *out);
        bench_fn *fn;
    } benches[] = {
        {"process, build", WR_OUTPUT_PROCESS, write_build, condense},
        {"process, sources", WR_OUTPUT_PROCESS, write_file, condense},
        {"process, words", WR_OUTPUT_PROCESS, write_words, condense},
        {"file", WR_OUTPUT_FILE, write_file, condense},
        {"log", WR_OUTPUT_LOG, write_log, condense},
        {"test", WR_OUTPUT_TEST, write_test, condense},
        {"search", WR_OUTPUT_SEARCH, write_search, condense},
        {"diff", WR_OUTPUT_DIFF, write_diff, condense},
        {"json", WR_OUTPUT_JSON, write_json, condense},
        {"list", WR_OUTPUT_LIST, write_list, condense},
        {"blob", WR_OUTPUT_BLOB, write_blob, condense},
        {"prose", WR_OUTPUT_PROSE, write_words, condense},
        {"process, white space", WR_OUTPUT_PROCESS, write_crlf, condense},
        {"process, bars", WR_OUTPUT_PROCESS, write_bars, condense},
        {"process, colours", WR_OUTPUT_PROCESS, write_coloured, condense},
        {"outline", WR_OUTPUT_FILE, write_file, outline},
        {"terminal, bars", WR_OUTPUT_PROCESS, write_bars, render},
        {"terminal, colours", WR_OUTPUT_PROCESS, write_coloured, render},
        {"terminal, plain", WR_OUTPUT_PROCESS, write_build, render},
    };
    for (size_t i = 0; i < WR_COUNT_OF(benches); i++)
        measure(benches[i].name, benches[i].kind, benches[i].write, benches[i].fn);
    return 0;
}
