/* An engine with a store: a long request is made smaller, and what was taken out is brought back.
 *
 *   recall [REQUEST.json]
 *
 * Without a file the request is one that this program makes up. A request that offers the tool
 * `weir_recall` tells Weir that the model can ask for what it misses: this program answers such
 * calls with weir_recall(), as an agent or a server would.
 *   cc recall.c $(pkg-config --cflags --libs weir)
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

enum { RESULTS = 12, LINES = 150, WINDOW_TOKENS = 16000 };

/* A conversation in which many files were read: any JSON library would do better. */
static FILE *make_request(char **bytes, size_t *len)
{
    FILE *out = open_memstream(bytes, len);
    if (!out)
        return NULL;
    fputs("{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
          "\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"Which gate leaks?\"}",
          out);
    for (int i = 0; i < RESULTS; i++) {
        fprintf(out,
                ",{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c%d\",\"type\":\"function\","
                "\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat "
                "gate%d.log\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"",
                i, i, i);
        for (int line = 0; line < LINES; line++)
            fprintf(out, "gate %d, hour %d: the level is %d cm\\n", i, line, (line * 37 + i) % 300);
        fputs("\"}", out);
    }
    fputs("]}", out);
    return out;
}

static int read_request(const char *path, char **bytes, size_t *len)
{
    FILE *in = path ? fopen(path, "rb") : NULL;
    FILE *out = path ? open_memstream(bytes, len) : make_request(bytes, len);
    int c;

    if (path && !in)
        perror(path);
    while (in && out && (c = fgetc(in)) != EOF)
        fputc(c, out);
    int ok = out && (!path || in);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return ok;
}

/* What a model gets that calls weir_recall for a handle it saw: here the first lines of it. */
static weir_status show_original(struct weir_store *store, weir_handle handle, struct weir_err *err)
{
    struct weir_lookup lookup = {.handle = handle};
    struct weir_recall_options options = WEIR_RECALL_OPTIONS_INIT;
    struct weir_recalled recalled;
    char name[WEIR_HANDLE_TEXT_BYTES + 1];

    options.head_lines = 1;
    weir_status status = weir_recall(store, &lookup, &options, &recalled, NULL, err);
    if (status)
        return status;
    weir_handle_format(handle, name);
    printf("%s has %llu lines: %.*s", name, (unsigned long long)recalled.lines_total,
           (int)recalled.text.len, recalled.text.ptr);
    weir_recalled_release(&recalled);
    return WEIR_OK;
}

static weir_status project(struct weir_engine *engine, struct weir_store *store, weir_span body,
                           struct weir_err *err)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
    struct weir_projected projected;
    struct weir_request *request = NULL;
    weir_handle handle, last = {{0}};

    options.policy = "tiered";
    options.window_tokens = WINDOW_TOKENS;
    options.store = store;
    options.session = (weir_span){"example", 7};
    weir_status status = weir_engine_request(engine, body, NULL, &request, err);
    if (!status)
        status = weir_engine_project(engine, request, &options, &projected, err);
    if (!status)
        printf("%llu tokens became %llu\n", (unsigned long long)projected.tokens_before,
               (unsigned long long)projected.tokens_after);
    /* projected.body is what to send; the handles in it are the names of what was taken out. */
    for (size_t at = 0; !status; at += WEIR_HANDLE_TEXT_BYTES) {
        at = weir_handle_find(projected.body, at, &handle);
        if (at == SIZE_MAX)
            break;
        if (memcmp(&handle, &last, sizeof(handle)) != 0)
            status = show_original(store, handle, err);
        last = handle;
    }
    weir_request_free(request);
    return status;
}

int main(int argc, char **argv)
{
    struct weir_engine *engine = NULL;
    struct weir_store *store = NULL;
    struct weir_err err = {WEIR_OK, 0, ""};
    char *bytes = NULL;
    size_t len = 0;

    if (!read_request(argc > 1 ? argv[1] : NULL, &bytes, &len))
        return 2;
    /* weir_store_open() keeps originals on disk; this store dies with the program. */
    weir_status status = weir_store_new_memory(0, &store);
    if (!status)
        status = weir_engine_new(&engine, &err);
    if (!status)
        status = project(engine, store, (weir_span){bytes, len}, &err);
    if (status)
        fprintf(stderr, "recall: %s\n", err.code ? err.text : weir_status_text(status));
    weir_engine_free(engine);
    weir_store_close(store);
    free(bytes);
    return status ? 1 : 0;
}
