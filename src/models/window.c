#include "models/window.h"

static struct wr_window from_registry(const struct wr_window_evidence *evidence)
{
    const struct wr_model_match *match = evidence->match;
    if (!match || !match->window_tokens)
        return (struct wr_window){0};
    /* A family's window is a guess about a name; a larger request that was accepted is a fact. */
    if (match->rule == WR_RULE_FAMILY && evidence->observed_tokens > match->window_tokens)
        return (struct wr_window){.tokens = evidence->observed_tokens,
                                  .source = WR_WINDOW_OBSERVED};
    return (struct wr_window){.tokens = match->window_tokens,
                              .source = match->rule == WR_RULE_FAMILY ? WR_WINDOW_FAMILY
                                                                      : WR_WINDOW_REGISTRY};
}

static struct wr_window from_source(const struct wr_window_evidence *evidence)
{
    if (evidence->configured_tokens)
        return (struct wr_window){.tokens = evidence->configured_tokens,
                                  .source = WR_WINDOW_CONFIG};
    if (evidence->loaded_tokens)
        return (struct wr_window){.tokens = evidence->loaded_tokens, .source = WR_WINDOW_LOADED};
    struct wr_window listed = from_registry(evidence);
    if (listed.tokens)
        return listed;
    /* What was accepted is a lower bound of the window; below the fallback it says nothing new. */
    uint32_t fallback = evidence->fallback_tokens ? evidence->fallback_tokens : WR_FALLBACK_TOKENS;
    if (evidence->observed_tokens > fallback)
        return (struct wr_window){.tokens = evidence->observed_tokens,
                                  .source = WR_WINDOW_OBSERVED};
    return (struct wr_window){.tokens = fallback, .source = WR_WINDOW_FALLBACK};
}

struct wr_window wr_window_select(const struct wr_window_evidence *evidence)
{
    struct wr_window window = from_source(evidence);
    if (evidence->overflow_tokens && evidence->overflow_tokens < window.tokens) {
        window.tokens = evidence->overflow_tokens;
        window.capped = true;
    }
    return window;
}

const char *wr_window_source_text(enum wr_window_source source)
{
    switch (source) {
    case WR_WINDOW_CONFIG:
        return "configuration";
    case WR_WINDOW_LOADED:
        return "loaded";
    case WR_WINDOW_REGISTRY:
        return "registry";
    case WR_WINDOW_FAMILY:
        return "family";
    case WR_WINDOW_OBSERVED:
        return "observed";
    case WR_WINDOW_FALLBACK:
        return "fallback";
    }
    return "unknown";
}
