/* strict_recall.h -- the turn in which a model recalls what a turn requires. Private to src/replay.
 */
#ifndef WR_REPLAY_STRICT_RECALL_H
#define WR_REPLAY_STRICT_RECALL_H

#include "replay/strict_check.h"
#include "weir/store.h"

/* A required text that is not in the prompt, and the handle that leads to it. */
struct wr_strict_want {
    weir_handle handle;
    weir_span text;
};

struct wr_strict_wants {
    struct wr_strict_want *items;
    uint32_t count;
    weir_span lost; /* the first that no handle leads to; empty: none */
};

/* Seeks those of `required` that `words` lack in what `handles` lead to. */
WEIR_MUST_USE weir_status wr_strict_find_wants(
    struct wr_strict_wants *wants, struct wr_arena *arena, const struct wr_case_texts *required,
    weir_span words, const struct wr_strict_handles *handles, struct weir_store *store);

/* Appends the model's calls and their results to a list of messages or items: `,{...},{...}`. The
 * results are the lines around each text, by weir_recall(). `number` makes the ids distinct.
 * `*call_bytes` is how much of it the model wrote. */
WEIR_MUST_USE weir_status wr_strict_write_recalls(struct wr_buf *out, size_t *call_bytes,
                                                  const struct wr_strict_wants *wants,
                                                  weir_dialect dialect, uint64_t number,
                                                  struct weir_store *store);

#endif
