/* calls.h -- calls that may have no id, and which of them a result answers. Private to src/api.
 *
 * Such a call is known by its number in the conversation, "#12", which does not depend on what
 * comes later. A result with the id of a call is that call's; any other is of the next call of its
 * tool in the model output before it, whatever id the client made up for it.
 */
#ifndef WR_API_CALLS_H
#define WR_API_CALLS_H

#include "transcript/transcript.h"

struct wr_calls {
    struct wr_transcript *t;
    uint32_t count;      /* of calls in the conversation so far */
    bool takes_nameless; /* a result that names no tool is of the next call */
    /* The model output that results at hand answer; found when the first of a message comes. */
    wr_json_id message; /* whose results these are */
    uint32_t output_first, output_end;
    bool *is_answered; /* of each of its segments */
};

/* Calls that the transcript has already are counted. */
void wr_calls_init(struct wr_calls *calls, struct wr_transcript *transcript);

/* Counts a call, and gives one without an id its number. */
weir_status wr_calls_number(struct wr_calls *calls, struct wr_segment *call);

/* The id of the call that a result in `message` answers; `*id` is its own, or empty. */
weir_status wr_calls_find(struct wr_calls *calls, wr_json_id message, weir_span tool,
                          weir_span *id);

#endif
