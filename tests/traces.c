#include "tests/traces.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

static const char recorded[] = "../shared/traces/normalized";
static const char made_here[] = "examples/session.json";

enum { FILE_BYTES_MAX = 256 * 1024 * 1024 };

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add(struct traces *traces, const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (!path || traces->count == TRACES_MAX)
        abort();
    (void)snprintf(path, bytes, "%s%s%s", folder, *folder ? "/" : "", name);
    traces->paths[traces->count++] = path;
}

void traces_open(struct traces *traces)
{
    DIR *folder = opendir(recorded);
    struct dirent *entry;

    *traces = (struct traces){.are_recorded = folder != NULL};
    while (folder && (entry = readdir(folder)))
        if (wr_span_ends(wr_span_of(entry->d_name), WR_LIT(".jsonl")))
            add(traces, recorded, entry->d_name);
    if (folder)
        closedir(folder);
    if (!traces->count) {
        traces->are_recorded = false;
        add(traces, "", made_here);
    }
    qsort(traces->paths, traces->count, sizeof(traces->paths[0]), by_name);
    printf("sessions: %zu from %s\n", traces->count, traces->are_recorded ? recorded : made_here);
}

uint32_t traces_setting(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

size_t traces_step(const struct traces *traces, size_t wanted)
{
    return traces->count > wanted ? traces->count / wanted : 1;
}

void traces_close(struct traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        free(traces->paths[i]);
    *traces = (struct traces){0};
}

static void read_file(const char *path, struct wr_buf *text)
{
    char block[65536];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    wr_buf_init(text, FILE_BYTES_MAX);
    while ((got = fread(block, 1, sizeof(block), file)) > 0)
        wr_buf_append(text, (weir_span){block, got});
    fclose(file);
}

/* A request body's messages, one a line, as a session has them. */
static void lines_of_request(struct wr_buf *text)
{
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_buf lines;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&lines, FILE_BYTES_MAX);
    if (wr_json_parse(&doc, &arena, wr_buf_view(text), NULL, NULL))
        abort();
    wr_json_id messages = wr_json_find(&doc, 0, "messages");
    for (wr_json_id m = wr_json_first(&doc, messages); m != WR_JSON_NONE;
         m = wr_json_next(&doc, messages, m)) {
        weir_span raw = wr_json_raw(&doc, m);
        for (size_t i = 0; i < raw.len; i++)
            wr_buf_byte(&lines, raw.ptr[i] == '\n' ? ' ' : raw.ptr[i]);
        wr_buf_byte(&lines, '\n');
    }
    wr_buf_release(text);
    *text = lines;
    wr_arena_release(&arena);
}

void traces_read(const struct traces *traces, size_t index, struct wr_buf *text,
                 struct wr_arena *arena, struct wr_session *session)
{
    struct weir_err err = {0};
    read_file(traces->paths[index], text);
    if (!traces->are_recorded)
        lines_of_request(text);
    if (wr_session_read(session, arena, wr_buf_view(text), &err)) {
        fprintf(stderr, "%s: %s at byte %zu\n", traces->paths[index], err.text, err.at_byte);
        exit(1);
    }
}

bool traces_all_hold(uint32_t wanted, traces_fn *holds, void *user)
{
    struct traces traces;
    bool all = true;

    traces_open(&traces);
    size_t step = traces_step(&traces, wanted);
    for (size_t i = 0; i < traces.count; i += step) {
        struct wr_arena arena;
        struct wr_buf text;
        struct wr_session session;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        traces_read(&traces, i, &text, &arena, &session);
        if (!holds(user, &session, i / step, i)) {
            printf("  in %s\n", traces.paths[i]);
            all = false;
        }
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    traces_close(&traces);
    return all;
}
