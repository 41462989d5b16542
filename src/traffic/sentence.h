/* sentence.h -- what was done to a part of a prompt, as a person would say it. */
#ifndef WR_TRAFFIC_SENTENCE_H
#define WR_TRAFFIC_SENTENCE_H

#include <stdint.h>

#include "base/buf.h"

struct wr_sentence {
    weir_span form;                       /* policy/form.h */
    bool is_rolled_back;                  /* it stays whole after all, */
    weir_span reason;                     /* because of this; else the stage */
    bool is_in_summary;                   /* of dropped: a summary stands for it */
    bool is_operators;                    /* no tool of the request brings it back */
    uint64_t tokens_before, tokens_after; /* 0: not known */
    uint64_t lines_before, lines_after;   /* 0: not known */
    bool has_worth;
    uint64_t saves_tokens, costs_tokens, turns_left, ever_miss_bp;
};

/* What was done. */
void wr_sentence_deed(const struct wr_sentence *sentence, struct wr_buf *out);

/* Its sum: why it was worth it. Nothing where it was not weighed. */
void wr_sentence_sum(const struct wr_sentence *sentence, struct wr_buf *out);

/* What a step is, by its reason: why older parts were changed just then. */
const char *wr_sentence_step(weir_span reason);

/* What to change in an agent, by who broke the cache and where. */
const char *wr_sentence_advice(weir_span bust, weir_span place);

#endif
