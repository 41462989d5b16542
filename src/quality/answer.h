/* answer.h -- signs of how a task goes that an answer shows: refusals, and the end of a loop. */
#ifndef WR_QUALITY_ANSWER_H
#define WR_QUALITY_ANSWER_H

#include "quality/quality.h"
#include "weir/span.h"

/* What a provider's error is about, as far as it concerns what is sent. */
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

/* By the words of all three APIs; either may be empty. */
enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message);

struct wr_answer_seen {
    enum wr_answer_error error;
    bool is_overflow_retried; /* a refusal as too long was not shown but mended */
    weir_span finish;         /* the provider's word for why it ended; empty: it did not say */
    uint32_t calls_count;
    uint64_t input_tokens;       /* all of the prompt, cached or not; 0: not known */
    uint32_t outputs_after_edit; /* of the request: quality/observe.h */
};

/* Adds what the answer shows. */
void wr_quality_answer(const struct wr_answer_seen *seen, struct wr_quality *quality);

#endif
