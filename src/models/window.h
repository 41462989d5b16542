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

#include "models/lookup.h"

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
    uint32_t loaded_tokens;     /* already capped by the memory budget: wr_loaded_read() */
    const struct wr_model_match *match; /* NULL: the request names no model */
    uint32_t observed_tokens;           /* the largest request this model has accepted */
    uint32_t overflow_tokens;           /* wr_overflow_cap() of the latest refusal */
    uint32_t fallback_tokens;           /* 0: WR_FALLBACK_TOKENS */
};

struct wr_window {
    uint32_t tokens;         /* that a prompt may have, before any reserve; never 0 */
    uint32_t context_tokens; /* of prompt and answer; the same unless an input limit is less */
    enum wr_window_source source;
    bool capped; /* an overflow error said less than the source */
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

#endif
