#include "models/window.h"

#include "base/span.h"

static struct wr_window from_registry(const struct wr_window_evidence *evidence)
{
    const struct wr_model_match *match = evidence->match;
    if (!match || !match->window_tokens)
        return (struct wr_window){0};
    /* A family's window is a guess about a name; a larger request that was accepted is a fact. */
    if (match->rule == WR_RULE_FAMILY && !match->model->is_window_set &&
        evidence->observed_tokens > match->window_tokens)
        return (struct wr_window){.tokens = evidence->observed_tokens,
                                  .source = WR_WINDOW_OBSERVED};
    return (struct wr_window){.tokens = match->window_tokens,
                              .source = match->model->is_window_set     ? WR_WINDOW_CONFIG
                                        : match->rule == WR_RULE_FAMILY ? WR_WINDOW_FAMILY
                                                                        : WR_WINDOW_REGISTRY};
}

static struct wr_window from_source(const struct wr_window_evidence *evidence)
{
    if (evidence->configured_tokens)
        return (struct wr_window){.tokens = evidence->configured_tokens,
                                  .source = WR_WINDOW_CONFIG};
    bool is_set = evidence->match && evidence->match->model->is_window_set;
    if (evidence->loaded_tokens && !is_set)
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

/* The input limit belongs to the model's own context. It says nothing about a size that a server
 * has loaded, or that was configured for this use. */
static uint32_t input_limit(const struct wr_window_evidence *evidence,
                            const struct wr_window *window)
{
    bool is_models = window->source != WR_WINDOW_LOADED && !evidence->configured_tokens;
    return evidence->match && is_models ? evidence->match->model->input_tokens_max : 0;
}

struct wr_window wr_window_select(const struct wr_window_evidence *evidence)
{
    struct wr_window window = from_source(evidence);
    uint32_t limit = input_limit(evidence, &window);

    window.context_tokens = window.tokens;
    if (limit && limit < window.tokens)
        window.tokens = limit;
    if (evidence->overflow_tokens && evidence->overflow_tokens < window.tokens) {
        window.tokens = window.context_tokens = evidence->overflow_tokens;
        window.capped = true;
    }
    return window;
}

const char *wr_window_source_find(weir_span text)
{
    for (int i = WR_WINDOW_CONFIG; i <= WR_WINDOW_FALLBACK; i++)
        if (wr_span_is(text, wr_window_source_text((enum wr_window_source)i)))
            return wr_window_source_text((enum wr_window_source)i);
    return NULL;
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

struct wr_reserve wr_window_reserve(const struct wr_reserve_input *input)
{
    const struct wr_model *model = input->model;
    uint64_t window = input->window_tokens, asked = input->asked_tokens, apart = 0;

    if (model && model->output_tokens_max && asked > model->output_tokens_max)
        asked = model->output_tokens_max;
    if (model && model->input_tokens_max == window && model->window_tokens > window)
        apart = model->window_tokens - window;
    if (!asked || asked >= window + apart)
        return (struct wr_reserve){false, (uint32_t)(window / WR_RESERVE_SHARE)};
    asked = asked > apart ? asked - apart : 0;
    if (asked > window / 4 * 3)
        asked = window / 4 * 3;
    return (struct wr_reserve){true, (uint32_t)asked};
}
