/* observe.h -- signs of how a task goes that a request shows: calls made again, files read again,
 * recalls, corrections, tests that begin to fail.
 *
 * 1. Only what is new is counted: the newest model output and what came after it. A request that
 *    is sent again shows the same again; whoever adds up leaves such a one out.
 * 2. It reads structure, handles and the front of a few texts; never the whole prompt.
 * 3. Of a request whose history the provider holds only what it carries is seen.
 */
#ifndef WR_QUALITY_OBSERVE_H
#define WR_QUALITY_OBSERVE_H

#include <stdbool.h>

#include "api/answer.h"
#include "engine/record.h"
#include "transcript/transcript.h"
#include "weir/span.h"

struct wr_observe_input {
    const struct wr_transcript *transcript; /* texts that are asked for are made in its arena */
    const bool *changed; /* by segment: the model saw another form of it; NULL: of none */
    uint32_t changed_count;
};

struct wr_observed {
    struct wr_quality quality;
    uint32_t outputs_after_edit; /* of the open loop: model outputs after its first edit */
    /* Of the newest blind edit: the segments of its call, and of what had shown the file last.
     * WR_SEGMENT_NONE: there was none. */
    uint32_t blind_call, blind_source;
};

void wr_quality_observe(const struct wr_observe_input *input, struct wr_observed *observed);

/* ---- signs that an answer shows: refusals, and the end of a loop ---- */

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

/* ---- correction ----
 *
 * Whether a user's message says that what was done is wrong.
 *
 * In English, German, French, Spanish, Portuguese, Chinese and Japanese (observe.c has the
 * words), and only where it is said plainly: at the beginning of the message, or in one of a few
 * sentences that mean nothing else. Better to miss one than to see one that is none: a message that
 * merely speaks of errors ("why is this test wrong?") is not a correction.
 */

bool wr_is_correction(weir_span message);

#endif
