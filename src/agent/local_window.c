#include "agent/local_window.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

/* Where an answer keeps its models, their names, and the loaded window. */
struct place {
    const char *path, *list, *name, *window;
    const char *inside; /* the object that holds `window`, where that is not the model itself */
};

static const struct place places[] = {
    {"/api/ps", "models", "name", "context_length", NULL},
    {"/props", NULL, NULL, "n_ctx", "default_generation_settings"},
    {"/api/v0/models", "data", "id", "loaded_context_length", NULL},
    {"/v1/models", "data", "id", "max_model_len", NULL},
};

enum { PLACES_COUNT = sizeof(places) / sizeof(places[0]) };

static uint32_t number_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    int64_t number;

    if (id == WR_JSON_NONE || !wr_json_i64(doc, id, &number) || number <= 0 ||
        number > WR_MODEL_TOKENS_MAX)
        return 0;
    return (uint32_t)number;
}

/* "qwen3" is also "qwen3:latest". */
static bool is_named(const struct wr_json *doc, wr_json_id model, const char *key, const char *name)
{
    wr_json_id id = wr_json_find(doc, model, key);
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    weir_span said = wr_json_inner(doc, id), wanted = wr_span_of(name);
    return wr_span_eq(said, wanted) ||
           (wr_span_starts(said, wanted) &&
            wr_span_is(wr_span_cut(said, wanted.len, said.len), ":latest"));
}

static uint32_t read_place(const struct place *place, const struct wr_json *doc, const char *model)
{
    if (!place->list)
        return number_at(doc, wr_json_find(doc, 0, place->inside), place->window);
    wr_json_id list = wr_json_find(doc, 0, place->list);
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at))
        if (is_named(doc, at, place->name, model))
            return number_at(doc, at, place->window);
    return 0;
}

uint32_t wr_local_window_read(const char *path, weir_span answer, const char *model)
{
    struct wr_arena arena;
    struct wr_json doc;
    uint32_t window = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_json_parse(&doc, &arena, answer, NULL, NULL))
        for (size_t i = 0; i < PLACES_COUNT; i++)
            if (!strcmp(path, places[i].path))
                window = read_place(&places[i], &doc, model);
    wr_arena_release(&arena);
    return window;
}

uint32_t wr_local_window(struct wr_client *client, const struct wr_endpoint *endpoint,
                         const char *model)
{
    const char *host = strstr(endpoint->base_url, "://");
    const char *slash = host ? strchr(host + 3, '/') : NULL;
    int root_bytes = slash ? (int)(slash - endpoint->base_url) : (int)strlen(endpoint->base_url);
    uint32_t window = 0;

    for (size_t i = 0; i < PLACES_COUNT && !window; i++) {
        char url[sizeof(endpoint->base_url) + 64];
        struct wr_buf answer;
        (void)snprintf(url, sizeof(url), "%.*s%s", root_bytes, endpoint->base_url, places[i].path);
        wr_buf_init(&answer, WR_AGENT_ANSWER_BYTES_MAX);
        if (wr_client_get(client, url, &answer))
            window = wr_local_window_read(places[i].path, wr_buf_view(&answer), model);
        wr_buf_release(&answer);
    }
    return window;
}
