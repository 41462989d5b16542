/* How fast tokens are counted, beside npm gpt-tokenizer and npm tiktoken, in one run on one core.
 *
 * usage: bench_tokens [DIR]     run at the root of the tree
 *
 * DIR (build/text-samples) holds what tools/text-samples made; it is made where it is missing. The
 * average is that of mixed.txt: 5 MB of code, logs and JSON. Figures are of the best round, because
 * other work on the machine only ever makes a round slower.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "bench/clock.h"
#include "tokens/bpe.h"
#include "tokens/bpe_stream.h"

enum {
    FILE_BYTES_MAX = 16 << 20,
    WORST_BYTES = 50000,
    ROUNDS = 12,
    ROUNDS_WORST = 60,
    CHUNK = 65536
};

struct job {
    struct wr_bpe_scratch *scratch;
    weir_span text;
    size_t tokens;
};

static void count(void *user)
{
    struct job *job = user;
    if (wr_bpe_count(job->scratch, job->text, &job->tokens))
        exit(2);
}

/* One round; `best_s` keeps the shortest time of each chunk. */
static void count_stream(struct job *job, double *best_s)
{
    struct wr_bpe_stream stream;
    wr_bpe_stream_init(&stream, job->scratch);
    for (size_t at = 0; at < job->text.len; at += CHUNK, best_s++) {
        size_t to = at + CHUNK < job->text.len ? at + CHUNK : job->text.len;
        double start_s = bench_now_s();
        if (wr_bpe_stream_feed(&stream, wr_span_cut(job->text, at, to)))
            exit(2);
        double took_s = bench_now_s() - start_s;
        *best_s = took_s < *best_s ? took_s : *best_s;
    }
    if (wr_bpe_stream_count(&stream, &job->tokens))
        exit(2);
    wr_bpe_stream_release(&stream);
}

/* MB/s of the text in chunks of 64 KB. */
static double stream_row(const char *name, struct job *job)
{
    size_t chunks = job->text.len / CHUNK + 1;
    double *best_s = malloc(chunks * sizeof *best_s), sum_s = 0;
    if (!best_s)
        exit(2);
    for (size_t i = 0; i < chunks; i++)
        best_s[i] = 1e9;
    for (int round = 0; round < ROUNDS; round++)
        count_stream(job, best_s);
    for (size_t i = 0; i * CHUNK < job->text.len; i++)
        sum_s += best_s[i];
    free(best_s);
    double speed = (double)job->text.len / sum_s / 1e6;
    printf("%-34s %8.1f MB/s %9zu tokens\n", name, speed, job->tokens);
    return speed;
}

static void encode(void *user)
{
    struct job *job = user;
    struct wr_arena arena;
    struct wr_bpe_ids ids;
    wr_arena_init(&arena, 1 << 30);
    if (wr_bpe_encode(job->scratch, &arena, job->text, &ids))
        exit(2);
    job->tokens = ids.count;
    wr_arena_release(&arena);
}

static void open_close(void *user)
{
    struct wr_bpe *bpe;
    (void)user;
    if (wr_bpe_new(&bpe, WR_BPE_O200K_BASE, NULL))
        exit(2);
    wr_bpe_free(bpe);
}

/* Prints a row: how fast, and beside the average. */
static void row(const char *name, bench_fn *fn, struct job *job, int rounds, double average)
{
    double speed = (double)job->text.len / bench_best_s(fn, job, rounds) / 1e6;
    printf("%-34s %8.1f MB/s %9zu tokens", name, speed, job->tokens);
    printf("  %5.2f of the average\n", speed / average);
}

static weir_span read_file(const char *dir, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(FILE_BYTES_MAX);
    if (!file || !bytes) {
        fprintf(stderr, "bench_tokens: cannot read %s\n", path);
        exit(2);
    }
    size_t len = fread(bytes, 1, FILE_BYTES_MAX, file);
    fclose(file);
    return (weir_span){bytes, len};
}

static void make_samples(const char *dir)
{
    char path[512], command[600];
    (void)snprintf(path, sizeof path, "%s/mixed.txt", dir);
    (void)snprintf(command, sizeof command, "tools/text-samples '%s'", dir);
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    else if (system(command))
        exit(2);
}

/* A number that is always the same for the same state. */
static uint32_t chance(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

enum worst { ONE_LETTER, LETTERS, EMOJI, ONE_EMOJI, SPACES, LINES, BYTES, WORST_COUNT };

static const char *const worst_names[] = {
    "50 KB of one letter", "50 KB of random letters", "50 KB of random emoji", "50 KB of one emoji",
    "50 KB of spaces",     "50 KB of line ends",      "50 KB of random bytes",
};

static void fill_worst(enum worst kind, char *text)
{
    uint32_t state = 1;
    for (size_t i = 0; i < WORST_BYTES; i++)
        text[i] = kind == ONE_LETTER ? 'a'
                  : kind == LETTERS  ? (char)('a' + chance(&state) % 26)
                  : kind == SPACES   ? ' '
                  : kind == LINES    ? '\n'
                                     : (char)chance(&state);
    for (size_t i = 0; (kind == EMOJI || kind == ONE_EMOJI) && i < WORST_BYTES; i += 4) {
        uint32_t number = kind == EMOJI ? chance(&state) % 0x350 : 0x300; /* from U+1F300 on */
        const unsigned char emoji[] = {0xF0, 0x9F, (unsigned char)(0x8C + (number >> 6)),
                                       (unsigned char)(0x80 + (number & 63))};
        memcpy(text + i, emoji, 4);
    }
}

static void worst_rows(struct wr_bpe_scratch *scratch, double average)
{
    char *text = malloc(WORST_BYTES);
    if (!text)
        exit(2);
    for (int kind = 0; kind < WORST_COUNT; kind++) {
        struct job job = {scratch, {text, WORST_BYTES}, 0};
        fill_worst((enum worst)kind, text);
        row(worst_names[kind], count, &job, ROUNDS_WORST, average);
    }
    free(text);
}

static void peer_rows(const char *dir, const struct job *job, double average)
{
    char line[512], name[64];
    double seconds;
    size_t tokens;
    (void)snprintf(line, sizeof line, "bench/tokens_peers '%s/mixed.txt'", dir);
    FILE *peers = popen(line, "r");
    while (peers && fgets(line, sizeof line, peers)) {
        if (sscanf(line, "%63s %lf %zu", name, &seconds, &tokens) != 3) {
            fputs(line, stdout);
            continue;
        }
        double speed = (double)job->text.len / seconds / 1e6;
        printf("npm %-30s %8.1f MB/s %9zu tokens  we are %.0f times as fast\n", name, speed, tokens,
               average / speed);
    }
    if (peers)
        pclose(peers);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "build/text-samples";
    struct wr_bpe *o200k, *cl100k;
    struct wr_bpe_scratch *scratch, *other;

    make_samples(dir);
    if (wr_bpe_new(&o200k, WR_BPE_O200K_BASE, NULL) ||
        wr_bpe_new(&cl100k, WR_BPE_CL100K_BASE, NULL) || wr_bpe_scratch_new(&scratch, o200k) ||
        wr_bpe_scratch_new(&other, cl100k))
        return 2;
    printf("%-34s %8.1f ms\n", "making o200k_base ready",
           bench_best_s(open_close, NULL, ROUNDS) * 1e3);

    struct job mixed = {scratch, read_file(dir, "mixed.txt"), 0};
    struct job mixed_other = {other, mixed.text, 0};
    struct job cjk = {scratch, read_file(dir, "held/cjk.txt"), 0};
    double average = stream_row("5 MB mixed, o200k_base", &mixed);
    row("the same, whole", count, &mixed, ROUNDS, average);
    row("the same, ids", encode, &mixed, ROUNDS, average);
    (void)stream_row("5 MB mixed, cl100k_base", &mixed_other);
    (void)stream_row("Chinese, Japanese, Korean", &cjk);
    worst_rows(scratch, average);
    peer_rows(dir, &mixed, average);

    free((char *)mixed.text.ptr);
    free((char *)cjk.text.ptr);
    wr_bpe_scratch_free(scratch);
    wr_bpe_scratch_free(other);
    wr_bpe_free(o200k);
    wr_bpe_free(cl100k);
    return 0;
}
