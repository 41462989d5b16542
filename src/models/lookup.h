/* lookup.h -- from a name in a request to what Weir knows about that model.
 *
 * 1. The first rule that fits decides: the id itself; an alias; the id behind a prefix, date or
 * tag; a family pattern; the fallback. A lookup always answers, and says by which rule.
 * 2. Looking up the id of the answer gives the same answer.
 */
#ifndef WR_MODELS_LOOKUP_H
#define WR_MODELS_LOOKUP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "models/registry.h"
#include "weir/span.h"

/* What was taken off a name to find it. */
enum wr_name_change {                       /* bits */
                      WR_NAME_PREFIXED = 1, /* a path or vendor in front was taken off */
                      WR_NAME_DATED = 2,    /* a date, or a word like -latest */
                      WR_NAME_TAGGED = 4,   /* ":free", "-v1:0", "-thinking" */
                      WR_NAME_WINDOW = 8,   /* "[1m]" */
                      WR_NAME_SPELT = 16,   /* "claude-opus-4.5" for "claude-opus-4-5" */
};

enum wr_model_rule {
    WR_RULE_EXACT,
    WR_RULE_ALIAS,
    WR_RULE_FORM,   /* a dated, prefixed, tagged or differently spelt form of an id or alias */
    WR_RULE_FAMILY, /* `pattern` was found in the name */
    WR_RULE_FALLBACK,
};

struct wr_model_match {
    enum wr_model_rule rule;
    const struct wr_model *model; /* never NULL */
    unsigned changes;             /* enum wr_name_change bits, for WR_RULE_FORM */
    weir_span pattern;            /* for WR_RULE_FAMILY */
    uint32_t window_tokens; /* the model's, or what the name asked for ("[1m]"); 0: not known */
};

enum { WR_SUGGESTIONS_MAX = 3, WR_TABLE_WINDOW_TOKENS = 128000 };

struct wr_model_match wr_models_lookup(const struct wr_models *models, weir_span name);

/* "dated and prefixed form of claude-opus-4-5": one line, for people. */
void wr_model_match_describe(const struct wr_model_match *match, struct wr_buf *out);
const char *wr_model_rule_text(enum wr_model_rule rule);

/* The ids and aliases nearest to `name`, nearest first; returns how many were near enough. */
uint32_t wr_models_suggest(const struct wr_models *models, weir_span name,
                           weir_span suggestions[WR_SUGGESTIONS_MAX]);

/* The fixed table of default windows by family (docs/models.md), nothing else: 128,000 where no
 * pattern fits. The `layers` policy is defined by it. */
uint32_t wr_models_table_window(const struct wr_models *models, weir_span name);

#endif
