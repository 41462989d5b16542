#include "models/loaded.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "models/name.h"

static bool read_positive(const struct wr_json *doc, wr_json_id id, uint32_t *tokens)
{
    int64_t number;
    if (id == WR_JSON_NONE || !wr_json_i64(doc, id, &number) || number <= 0 ||
        number > WR_MODEL_TOKENS_MAX)
        return false;
    *tokens = (uint32_t)number;
    return true;
}

/* Ollama calls "llama3.1" and "llama3.1:latest" the same. */
static bool same_model(weir_span listed, weir_span wanted)
{
    const weir_span latest = WR_LIT(":latest");
    if (wr_span_ends(listed, latest))
        listed.len -= latest.len;
    if (wr_span_ends(wanted, latest))
        wanted.len -= latest.len;
    return wr_name_eq(listed, wanted);
}

static bool is_named(const struct wr_json *doc, struct wr_arena *arena, wr_json_id entry,
                     const char *key, weir_span model)
{
    wr_json_id id = wr_json_find(doc, entry, key);
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    weir_span name = wr_json_text(doc, arena, id);
    return name.ptr && same_model(name, model);
}

static bool find_listed(const struct wr_json *doc, struct wr_arena *arena, const char *list_key,
                        const char *const name_keys[2], const char *tokens_key, weir_span model,
                        uint32_t *tokens)
{
    wr_json_id list = wr_json_find(doc, 0, list_key);
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return false;
    for (wr_json_id entry = wr_json_first(doc, list); entry != WR_JSON_NONE;
         entry = wr_json_next(doc, list, entry)) {
        if (!is_named(doc, arena, entry, name_keys[0], model) &&
            !is_named(doc, arena, entry, name_keys[1], model))
            continue;
        return read_positive(doc, wr_json_find(doc, entry, tokens_key), tokens);
    }
    return false;
}

static bool find_window(enum wr_model_server server, const struct wr_json *doc,
                        struct wr_arena *arena, weir_span model, uint32_t *tokens)
{
    static const char *const ollama_names[2] = {"name", "model"};
    static const char *const vllm_names[2] = {"id", "root"};

    switch (server) {
    case WR_SERVER_OLLAMA:
        return find_listed(doc, arena, "models", ollama_names, "context_length", model, tokens);
    case WR_SERVER_VLLM:
        return find_listed(doc, arena, "data", vllm_names, "max_model_len", model, tokens);
    case WR_SERVER_LMSTUDIO:
        return find_listed(doc, arena, "data", vllm_names, "loaded_context_length", model, tokens);
    case WR_SERVER_TGI:
        return read_positive(doc, wr_json_find(doc, 0, "max_total_tokens"), tokens);
    case WR_SERVERS_COUNT:
        return false;
    case WR_SERVER_LLAMACPP: {
        wr_json_id settings = wr_json_find(doc, 0, "default_generation_settings");
        return read_positive(doc, wr_json_find(doc, settings, "n_ctx"), tokens) ||
               read_positive(doc, wr_json_find(doc, 0, "n_ctx"), tokens);
    }
    }
    return false;
}

const char *wr_server_path(enum wr_model_server server)
{
    static const char *const paths[WR_SERVERS_COUNT] = {[WR_SERVER_OLLAMA] = "/api/ps",
                                                        [WR_SERVER_LLAMACPP] = "/props",
                                                        [WR_SERVER_LMSTUDIO] = "/api/v0/models",
                                                        [WR_SERVER_VLLM] = "/v1/models",
                                                        [WR_SERVER_TGI] = "/info"};
    return server < WR_SERVERS_COUNT ? paths[server] : "";
}

weir_status wr_loaded_read(enum wr_model_server server, weir_span body, weir_span model,
                           uint32_t memory_tokens_max, struct wr_loaded *loaded,
                           struct weir_err *err)
{
    struct wr_arena arena;
    struct wr_json doc;

    *loaded = (struct wr_loaded){0};
    if (body.len > WR_SERVER_BODY_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "the server's answer is over %d bytes",
                       WR_SERVER_BODY_BYTES_MAX);
    wr_arena_init(&arena, 32 * (size_t)WR_SERVER_BODY_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, body, NULL, err);
    if (!status && !find_window(server, &doc, &arena, model, &loaded->window_tokens))
        status = wr_fail(err, WEIR_NOTFOUND, 0, "the server does not say how it loaded this model");
    wr_arena_release(&arena);
    if (!status && memory_tokens_max && memory_tokens_max < loaded->window_tokens) {
        loaded->window_tokens = memory_tokens_max;
        loaded->capped = true;
    }
    return status;
}
