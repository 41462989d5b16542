/* registry.h -- the models Weir knows, read once and then only looked at; which one a name means.
 *
 * The base is data/models.json, which is part of the library; a user's YAML is laid over it
 * (docs/models.md has both formats). A registry never changes after wr_models_new(), so it may be
 * shared by threads, and the pointers it gives live until wr_models_free().
 */
#ifndef WR_MODELS_REGISTRY_H
#define WR_MODELS_REGISTRY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "models/model.h"
#include "weir/span.h"
#include "weir/status.h"

enum { WR_MODELS_SCHEMA = 1 };

struct wr_models;

struct wr_models_source {
    weir_span registry;    /* JSON; empty: the embedded one */
    weir_span overrides;   /* YAML; empty: none */
    bool overrides_shared; /* the YAML has other sections as well (weir.yaml): they are skipped */
};

struct wr_alias {
    weir_span name; /* lower case */
    const struct wr_model *model;
};

/* `source` may be NULL: the embedded registry alone. The texts are copied. Failure: WEIR_SYNTAX or
 * WEIR_INVALID, with err->text naming line and column for the YAML, err->at_byte for the JSON;
 * WEIR_LIMIT; WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_models_new(struct wr_models **models,
                                        const struct wr_models_source *source,
                                        struct weir_err *err);
void wr_models_free(struct wr_models *models); /* NULL is fine */

weir_span wr_models_generated(const struct wr_models *models); /* the date of its facts */

uint32_t wr_models_count(const struct wr_models *models);
const struct wr_model *wr_models_at(const struct wr_models *models, uint32_t index);
uint32_t wr_models_alias_count(const struct wr_models *models);
struct wr_alias wr_models_alias_at(const struct wr_models *models, uint32_t index);

/* The model, family or fallback whose id is `id`, letter case aside, or NULL. No other rule. */
const struct wr_model *wr_models_find(const struct wr_models *models, weir_span id);

/* ==== the model that a request names ==== */

/* From a name in a request to what Weir knows about that model.
 *
 * 1. The first rule that fits decides: the id itself; an alias; the id behind a prefix, date or
 * tag; a family pattern; the fallback. A lookup always answers, and says by which rule.
 * 2. Looking up the id of the answer gives the same answer.
 */

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
