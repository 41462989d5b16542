/* tokens.h -- how many tokens a text has, as a model or an encoding counts them.
 *
 *     struct weir_tokens_options options = WEIR_TOKENS_OPTIONS_INIT;
 *     struct weir_tokens *tokens;
 *     options.model = "gpt-4o";
 *     if (weir_tokens_new(&options, &tokens, &err) == WEIR_OK) {
 *         uint64_t count = weir_tokens_count(tokens, text);
 *         weir_tokens_free(tokens);
 *     }
 *
 * A count is a pure function of the text and what was chosen: the same everywhere and at any time.
 * Where a model's tokenizer is not public its counts are estimates, and weir_tokens_is_exact() says
 * so. Any bytes are text; what a provider adds around messages is not in the count.
 *
 * A counter is used by one thread at a time; several may be used at once. To make one takes some
 * milliseconds and 16 MB, so keep it.
 */
#ifndef WEIR_TOKENS_H
#define WEIR_TOKENS_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

struct weir_tokens; /* a counter */

/* One of the two, or none: o200k_base. */
struct weir_tokens_options {
    size_t struct_bytes;  /* sizeof, by WEIR_TOKENS_OPTIONS_INIT; see weir/api.h */
    const char *model;    /* any spelling that providers use; NULL: `encoding` says how */
    const char *encoding; /* "o200k_base", "cl100k_base"; "fitted", "bytes/4", "runs" estimate */
};
#define WEIR_TOKENS_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_tokens_options)

/* WEIR_NOTFOUND: there is no such encoding (a model that is not known is estimated). WEIR_INVALID:
 * both were given. `options` and `err` may be NULL; nothing of them is kept. */
WEIR_API WEIR_MUST_USE weir_status weir_tokens_new(const struct weir_tokens_options *options,
                                                   struct weir_tokens **tokens,
                                                   struct weir_err *err);
WEIR_API void weir_tokens_free(struct weir_tokens *tokens); /* NULL is fine */

/* The tokens of `text`. `tokens` is a struct weir_tokens: the function is a weir_tokens_fn, as
 * weir_recall_options.count_tokens wants it. It cannot fail: a single word too long for the memory
 * is estimated. */
WEIR_API uint64_t weir_tokens_count(void *tokens, weir_span text);

/* False: the counts are estimates. */
WEIR_API bool weir_tokens_is_exact(const struct weir_tokens *tokens);

/* How it counts, for people: "exact, o200k_base", "fitted estimate", ...; a constant. */
WEIR_API const char *weir_tokens_method(const struct weir_tokens *tokens);

WEIR_END_DECLS

#endif
