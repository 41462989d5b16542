/* errors.h -- what a provider's error is about, as far as it concerns what was sent. */
#ifndef WR_API_ERRORS_H
#define WR_API_ERRORS_H

#include <stdbool.h>

#include "json/json.h"

#define WR_ANSWER_ERROR_MAP(X)                                           \
    X(NONE)                                                              \
    X(CONTEXT)      /* the prompt is too long */                         \
    X(PREVIOUS)     /* the answer that the request names is not known */ \
    X(CONTINUATION) /* a call without its result, or the other way round */

enum wr_answer_error {
#define X(name) WR_ANSWER_ERROR_##name,
    WR_ANSWER_ERROR_MAP(X)
#undef X
};

/* By the words of all APIs; either may be empty. */
enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message);

/* Whether a refusal says that signed thinking stands behind another prompt than it was made for. */
bool wr_error_is_unbound(weir_span text);

/* The words with which a model says that it is done; a limit, a refusal and a pause are not. */
bool wr_finish_is_end(weir_span word);

/* What an error's body says to people; empty: nothing. */
weir_span wr_error_message(const struct wr_json *doc, struct wr_arena *arena);

#endif
