/* lane_recall.h -- the turn in which a model brings back what it needs. Private to src/replay. */
#ifndef WR_REPLAY_LANE_RECALL_H
#define WR_REPLAY_LANE_RECALL_H

#include "replay/lane.h"

/* What an answer needs and does not see. */
struct wr_lane_wants {
    const struct wr_evidence_items *found;
    struct wr_evidence_judged *judged;
    weir_handle *handles; /* to be recalled */
    uint32_t handles_count;
};

/* A wr_original_fn over a lane's store; `user` is a struct wr_lane_originals. */
struct wr_lane_originals {
    struct wr_lane *lane;
    struct wr_arena *arena;
};
bool wr_lane_original(void *user, weir_handle handle, weir_span *text);

/* Appends one message of the model's with all the calls, and their results, to the conversation:
 * the lines around each thing wanted. */
WEIR_MUST_USE weir_status wr_lane_add_recalls(struct wr_lane *lane, struct wr_arena *arena,
                                              const struct wr_lane_wants *wants);

#endif
