/* What a call costs in C: weir_call_bytes() as bindings make it. bench/bindings.py prints it beside
 * the same calls of Python and Node.
 *
 *     bench_call [FILE]      FILE is a request; without one only a count is measured
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "weir/weir.h"

enum { ROUNDS = 30, CALLS = 200, CALLS_LARGE = 20, FILE_BYTES_MAX = 64 * 1024 * 1024 };

struct bench {
    struct weir_engine *engine;
    struct weir_store *store;
    const char *method, *json;
    const char *bytes;
    size_t bytes_count;
    int calls;
};

static void make_calls(void *user)
{
    const struct bench *b = user;
    for (int i = 0; i < b->calls; i++) {
        struct weir_called called;
        if (weir_call_bytes(b->engine, b->store, b->method, b->json, strlen(b->json), b->bytes,
                            b->bytes_count, &called, NULL)) {
            (void)fprintf(stderr, "%s\n", called.json);
            exit(1);
        }
        weir_called_release(&called);
    }
}

static void measure(const char *what, struct bench *b)
{
    make_calls(b); /* tables are made, the session is known */
    double best_s = bench_best_s(make_calls, b, ROUNDS);
    printf("%s: %.2f us a call\n", what, best_s / b->calls * 1e6);
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
    char *body = NULL;

    /* Interpreters keep the memory of a call for the next one; without this C would give it back to
     * the system each time, and its figure would be that of page faults. */
    (void)mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
    (void)mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    if (weir_engine_new(&b.engine, NULL) || weir_store_new_memory(0, &b.store))
        return 1;
    b.calls = CALLS;
    measure("count", &b);
    if (argc > 1) {
        body = read_all(argv[1], &b.bytes_count);
        if (!body)
            return 1;
        b.bytes = body;
        b.method = "project";
        b.calls = CALLS_LARGE;
        measure("project, exact", &b);
        b.json = "{\"policy\":\"lean\",\"session\":\"s\"}";
        measure("project, lean", &b);
    }
    weir_store_close(b.store);
    weir_engine_free(b.engine);
    free(body);
    return 0;
}
