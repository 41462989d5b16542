/* window.h -- which context window to believe, and where that number came from.
 *
 * One resolver for the proxy, the agent and sessions. The first source that has a number decides:
 * the configuration; for a local upstream the loaded size; the registry; its family; what was
 * observed; the policy's fallback. An overflow error caps whichever it was. A prompt may have all
 * of that window, or the model's input limit where that is less. What the answer takes from it is
 * wr_window_reserve().
 */
#ifndef WR_MODELS_WINDOW_H
#define WR_MODELS_WINDOW_H

#include <stdbool.h>

#include "models/registry.h"
#include "weir/span.h"
#include "weir/status.h"

/* What a policy assumes of a model it knows nothing about, by its document. */
enum {
    WR_FALLBACK_GUARDED_MID_TOKENS = 32000,
    WR_FALLBACK_LAYERS_TOKENS = 128000,
    WR_FALLBACK_TOKENS = 32000, /* the others: the smallest of them */
};

/* Where a request does not say how long its answer may be, a twentieth of the window is held free:
 * about what answers take, and room for counts that are a little off. */
enum { WR_RESERVE_SHARE = 20 };

enum wr_window_source {
    WR_WINDOW_CONFIG,
    WR_WINDOW_LOADED,
    WR_WINDOW_REGISTRY, /* the id, an alias or a form of it */
    WR_WINDOW_FAMILY,   /* the registry's default for the family */
    WR_WINDOW_OBSERVED, /* more than this was never refused */
    WR_WINDOW_FALLBACK,
};

struct wr_window_evidence {     /* 0: there is none */
    uint32_t configured_tokens; /* for this use; what is configured for the model is in `match` */
    uint32_t loaded_tokens;     /* wr_loaded_read() */
    const struct wr_model_match *match; /* NULL: the request names no model */
    uint32_t observed_tokens;           /* the largest request this model has accepted */
    uint32_t overflow_tokens;           /* wr_overflow_cap() of the latest refusal */
    uint32_t fallback_tokens;           /* 0: WR_FALLBACK_TOKENS */
};

struct wr_window {
    uint32_t tokens;         /* that a prompt may have, before any reserve; never 0 */
    uint32_t context_tokens; /* of prompt and answer; the same unless an input limit is less */
    enum wr_window_source source;
};

/* What an answer takes from the room for a prompt. */
struct wr_reserve {
    bool is_named; /* by the request; else it is the default */
    uint32_t tokens;
};

struct wr_reserve_input {
    uint64_t asked_tokens;        /* what the request lets the answer take; 0: it does not say */
    uint32_t window_tokens;       /* what a prompt may have: the context, or the input limit */
    const struct wr_model *model; /* NULL: not known */
};

/* The model's output limit caps what was asked for. Where the input limit is below the context, the
 * tokens between the two are the answer's and take nothing from the prompt. A request that asks for
 * so much that nothing is left counts as if it had not asked, because no provider holds it to that.
 * One that would leave less than a quarter counts as three quarters. */
struct wr_reserve wr_window_reserve(const struct wr_reserve_input *input);

struct wr_window wr_window_select(const struct wr_window_evidence *evidence);
const char *wr_window_source_text(enum wr_window_source source);
const char *wr_window_source_find(weir_span text); /* the same constant; NULL: there is none */

/* ---- overflow ----
 *
 * Recognising that a provider refused a request as too long, and how long it may be.
 *
 * Providers have no common code for it, so their texts are known by heart. Give it the body of an
 * error as it came, JSON or not. Never give it the body of a success: a model may write such words
 * itself.
 */

struct wr_overflow {
    const char *provider;   /* whose wording it is; static text */
    uint32_t window_tokens; /* 0: the text does not say */
    uint32_t used_tokens;   /* by the prompt; 0: the text does not say */
};

/* False: the text is not about the window (a rate limit, an output cap, anything else). */
bool wr_overflow_read(weir_span text, struct wr_overflow *overflow);

/* The request that was refused, as we counted it. 0 for any: not known. */
struct wr_overflow_sent {
    uint32_t window_tokens; /* that was believed */
    uint32_t prompt_tokens;
    uint32_t answer_tokens; /* that the request let its answer take */
};

/* The window to believe from now on, in tokens as we count them. It is what the text said; where
 * the text also says how long the prompt was by the provider's count, it is scaled by the ratio of
 * our count to theirs. (A count below half or above double of ours is of something else, and is not
 * used.) Where the text names no window it is nine tenths of the window believed, or of the prompt
 * that was refused, whichever is less. Never above `window_tokens`. 0 when nothing is known. */
uint32_t wr_overflow_cap(const struct wr_overflow *overflow, const struct wr_overflow_sent *sent);

/* Whether a provider's count and ours can be of the same prompt. */
bool wr_counts_agree(uint64_t ours_tokens, uint64_t theirs_tokens);

/* ---- loaded ----
 *
 * The window a local server really loaded a model with.
 *
 * A local model's advertised maximum says nothing about the context it was started with; sizing
 * against it overflows without a warning. These read what the servers say about themselves; asking
 * them is the caller's business.
 */

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

/* `model` is the name in the request; llama.cpp and TGI serve one model and ignore it. Failure:
 * WEIR_SYNTAX, WEIR_NOTFOUND (the model is not loaded, or the server does not say), WEIR_LIMIT,
 * WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_loaded_read(enum wr_model_server server, weir_span body,
                                         weir_span model, uint32_t *window_tokens);

#endif
