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

#include "quality/quality.h"
#include "transcript/transcript.h"

struct wr_observe_input {
    const struct wr_transcript *transcript; /* texts that are asked for are made in its arena */
    const bool *changed; /* by segment: the model saw another form of it; NULL: of none */
    uint32_t changed_count;
};

struct wr_observed {
    struct wr_quality quality;
    uint32_t outputs_after_edit; /* of the open loop: model outputs behind its first edit */
};

void wr_quality_observe(const struct wr_observe_input *input, struct wr_observed *observed);

#endif
