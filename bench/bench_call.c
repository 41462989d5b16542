/* What a call costs in C: weir_call_bytes() as bindings make it. bench/bindings.py prints it beside
 * the same calls of Python and Node.
 *
 *     bench_call [FILE...]   requests, each by `exact` and by `lean` in a session of one name
 *
 * A line is "what: BEST MEDIAN", microseconds a call over the rounds. Rounds are short, so that on
 * a busy machine most of them are over before something else has its turn.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "weir/weir.h"

enum { ROUNDS = 150, CALLS = 20, FILE_BYTES_MAX = 64 * 1024 * 1024 };

struct bench {
    struct weir_engine *engine;
    struct weir_store *store;
    const char *method, *json;
    const char *bytes;
    size_t bytes_count;
};

static void make_calls(void *user)
{
    const struct bench *b = user;
    for (int i = 0; i < CALLS; i++) {
        struct weir_called called;
        if (weir_call_bytes(b->engine, b->store, b->method, b->json, strlen(b->json), b->bytes,
                            b->bytes_count, &called, NULL)) {
            (void)fprintf(stderr, "%s\n", called.json);
            exit(1);
        }
        weir_called_release(&called);
    }
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, struct bench *b)
{
    double took_us[ROUNDS];

    make_calls(b); /* tables are made, the session is known */
    for (int i = 0; i < ROUNDS; i++)
        took_us[i] = bench_best_s(make_calls, b, 1) / CALLS * 1e6;
    qsort(took_us, ROUNDS, sizeof(*took_us), compare_times);
    printf("%s: %.2f %.2f\n", what, took_us[0], took_us[ROUNDS / 2]);
}

static char *read_all(const char *path, size_t *bytes_count)
{
    FILE *file = fopen(path, "rb");
    char *bytes = file ? malloc(FILE_BYTES_MAX) : NULL;
    if (bytes)
        *bytes_count = fread(bytes, 1, FILE_BYTES_MAX, file);
    if (file)
        (void)fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    static const char text[] = "What is a weir?";
    struct bench b = {
        .method = "count", .json = "{}", .bytes = text, .bytes_count = sizeof(text) - 1};
    char *body;

    /* Interpreters keep the memory of a call for the next one; without this C would give it back to
     * the system each time, and its figure would be that of page faults. */
    (void)mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
    (void)mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    if (weir_engine_new(&b.engine, NULL) || weir_store_new_memory(0, &b.store))
        return 1;
    measure("count", &b);
    for (int i = 1; i < argc; i++) {
        char what[64];
        body = read_all(argv[i], &b.bytes_count);
        if (!body)
            return 1;
        b.bytes = body;
        b.method = "project";
        b.json = "{}";
        (void)snprintf(what, sizeof(what), "%d, exact", i);
        measure(what, &b);
        (void)snprintf(what, sizeof(what), "%d, lean", i);
        b.json = "{\"policy\":\"lean\",\"session\":\"s\"}";
        measure(what, &b);
        free(body);
    }
    weir_store_close(b.store);
    weir_engine_free(b.engine);
    return 0;
}
