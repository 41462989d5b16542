/* loaded.h -- the window a local server really loaded a model with.
 *
 * A local model's advertised maximum says nothing about the context it was started with; sizing
 * against it overflows without a warning. These read what the servers say about themselves; asking
 * them is the caller's business.
 */
#ifndef WR_MODELS_LOADED_H
#define WR_MODELS_LOADED_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

enum wr_model_server {                     /* in the order in which an unknown server is asked */
                       WR_SERVER_OLLAMA,   /* GET /api/ps:        models[].context_length */
                       WR_SERVER_LLAMACPP, /* GET /props:         default_generation_settings.n_ctx,
                                              one slot's share */
                       WR_SERVER_LMSTUDIO, /* GET /api/v0/models: data[].loaded_context_length */
                       WR_SERVER_VLLM,     /* GET /v1/models:     data[].max_model_len */
                       WR_SERVER_TGI,      /* GET /info:          max_total_tokens */
                       WR_SERVERS_COUNT,
};

/* The path to ask, from the server's root. */
const char *wr_server_path(enum wr_model_server server);

struct wr_loaded {
    uint32_t window_tokens;
    bool capped; /* by the memory budget */
};

/* `model` is the name in the request; llama.cpp and TGI serve one model and ignore it.
 * `memory_tokens_max` is how many tokens of context the caller's memory allows, 0: no such cap.
 * Failure: WEIR_SYNTAX, WEIR_NOTFOUND (the model is not loaded, or the server does not say),
 * WEIR_LIMIT, WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_loaded_read(enum wr_model_server server, weir_span body,
                                         weir_span model, uint32_t memory_tokens_max,
                                         struct wr_loaded *loaded, struct weir_err *err);

#endif
