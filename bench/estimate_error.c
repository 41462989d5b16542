/* The error of the estimates against exact counts, on chunks of 2 KB, by file.
 *
 * usage: estimate_error [--features] FILE...
 *
 * Without options a table: mean of |estimate / exact - 1| over a file's chunks, and the error of
 * its sum, for each estimator against o200k_base. With --features a line a chunk for
 * tools/fit-estimate: the file's number, the exact count, the features. tools/text-samples makes
 * files to give it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "bench/clock.h"
#include "tokens/bpe.h"
#include "tokens/estimate.h"

enum { CHUNK_BYTES = 2048, CHUNK_BYTES_LEAST = 512, ROUNDS = 5, FILE_BYTES_MAX = 64 << 20 };

struct totals {
    double errors, estimates;
};

static weir_span read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(FILE_BYTES_MAX);
    if (!file || !bytes) {
        fprintf(stderr, "estimate_error: cannot read %s\n", path);
        exit(2);
    }
    size_t len = fread(bytes, 1, FILE_BYTES_MAX, file);
    fclose(file);
    return (weir_span){bytes, len};
}

/* The next chunk, not cut inside a character. */
static weir_span take_chunk(weir_span *rest)
{
    size_t len = rest->len < CHUNK_BYTES ? rest->len : CHUNK_BYTES;
    while (len < rest->len && ((unsigned char)rest->ptr[len] & 0xC0) == 0x80)
        len++;
    weir_span chunk = wr_span_cut(*rest, 0, len);
    *rest = wr_span_cut(*rest, len, rest->len);
    return chunk;
}

static void print_features(int file, weir_span chunk, size_t exact)
{
    struct wr_estimate_features features;
    wr_estimate_features(chunk, &features);
    printf("%d %zu", file, exact);
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        printf(" %llu", (unsigned long long)features.counts[i]);
    putchar('\n');
}

static void print_row(const char *path, const struct totals *totals, double exact, double chunks)
{
    const char *slash = strrchr(path, '/');
    printf("%-16s", slash ? slash + 1 : path);
    for (int i = 0; i < WR_ESTIMATORS_COUNT; i++)
        printf("  %6.1f %% %+6.1f %%", 100 * totals[i].errors / chunks,
               100 * (totals[i].estimates / exact - 1));
    printf("  %8.0f\n", chunks);
}

static void measure(struct wr_bpe_scratch *scratch, const char *path, int number, bool features)
{
    struct totals totals[WR_ESTIMATORS_COUNT] = {{0, 0}};
    weir_span text = read_file(path), rest = text;
    double chunks = 0, sum = 0;

    while (rest.len >= CHUNK_BYTES_LEAST) {
        weir_span chunk = take_chunk(&rest);
        size_t exact;
        if (wr_bpe_count(scratch, chunk, &exact))
            exit(2);
        if (features)
            print_features(number, chunk, exact);
        for (int i = 0; i < WR_ESTIMATORS_COUNT; i++) {
            double estimate = (double)wr_estimate_tokens((enum wr_estimator)i, chunk);
            double error = estimate / (double)exact - 1;
            totals[i].errors += error < 0 ? -error : error;
            totals[i].estimates += estimate;
        }
        sum += (double)exact;
        chunks++;
    }
    if (!features && chunks > 0)
        print_row(path, totals, sum, chunks);
    free((char *)text.ptr);
}

static void estimate_all(void *user)
{
    volatile size_t tokens = wr_estimate_tokens(WR_ESTIMATOR_FITTED, *(weir_span *)user);
    (void)tokens;
}

static void print_speed(const char *path)
{
    weir_span text = read_file(path);
    double best_s = bench_best_s(estimate_all, &text, ROUNDS);
    printf("speed of fitted: %.2f GB/s on %s\n", (double)text.len / best_s / 1e9, path);
    free((char *)text.ptr);
}

int main(int argc, char **argv)
{
    bool features = argc > 1 && !strcmp(argv[1], "--features");
    struct wr_bpe *bpe = NULL;
    struct wr_bpe_scratch *scratch = NULL;
    int first = features ? 2 : 1;

    if (first == argc) {
        fputs("usage: estimate_error [--features] FILE...\n", stderr);
        return 2;
    }
    if (wr_bpe_new(&bpe, WR_BPE_O200K_BASE, NULL) || wr_bpe_scratch_new(&scratch, bpe))
        return 2;
    if (!features)
        printf("%-16s  %18s  %18s  %18s  %8s\n", "mean error, sum", wr_estimator_name(0),
               wr_estimator_name(1), wr_estimator_name(2), "chunks");
    for (int i = first; i < argc; i++)
        measure(scratch, argv[i], i - first, features);
    if (!features)
        print_speed(argv[first]);
    wr_bpe_scratch_free(scratch);
    wr_bpe_free(bpe);
    return 0;
}
