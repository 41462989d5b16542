/* strict_check.h -- what was sent, read again and held against what came in.
 *
 * Nothing here asks the engine what it did: both bodies are read from their bytes.
 */
#ifndef WR_REPLAY_STRICT_CHECK_H
#define WR_REPLAY_STRICT_CHECK_H

#include "replay/strict_case.h"
#include "transcript/transcript.h"
#include "weir/handle.h"

struct wr_strict_body {
    struct wr_json doc;
    struct wr_transcript transcript;
    weir_span words; /* the texts of all segments, unescaped, each on lines of its own */
};

struct wr_strict_handles {
    weir_handle *items; /* distinct, as they come */
    uint32_t count;
};

/* Reads `bytes`, which are borrowed. Any failure but WEIR_NOMEM: the provider could not read it. */
WEIR_MUST_USE weir_status wr_strict_body_read(struct wr_strict_body *body, struct wr_arena *arena,
                                              weir_span bytes, const char *dialect,
                                              struct wr_memo *memo);

/* Whether all members of the body but its messages (items) have the same keys, order and bytes. */
bool wr_strict_same_root(const struct wr_strict_body *in, const struct wr_strict_body *out);

/* Whether the value at `pointer` has the same bytes in both. */
bool wr_strict_same_value(const struct wr_strict_body *in, const struct wr_strict_body *out,
                          struct wr_arena *arena, weir_span pointer);

/* Whether the calls and results that are left have the ids, the order and the partners they had. */
bool wr_strict_same_calls(const struct wr_strict_body *in, const struct wr_strict_body *out);

/* Whether the tools that the request offers have one that recalls. */
bool wr_strict_offers_recall(const struct wr_strict_body *body);

WEIR_MUST_USE weir_status wr_strict_handles(struct wr_strict_handles *handles,
                                            struct wr_arena *arena, weir_span words);

/* The segment of `body` that answers call `call_id`; NULL: there is none. */
const struct wr_segment *wr_strict_result_of(const struct wr_strict_body *body, weir_span call_id);

/* ---- signals ---- */

struct wr_strict_signals {
    uint64_t count; /* errors, exit codes and failed tests in results that were changed */
    uint64_t kept;
    weir_span lost; /* the first that was not kept; empty: none */
};

/* Adds what became of the signals of `result`, a segment of `in` whose text is another in `out`.
 * `is_recallable`: its form promises a way back instead of its signals, and the way is there. */
WEIR_MUST_USE weir_status wr_strict_count_signals(
    struct wr_strict_signals *signals, struct wr_arena *arena, const struct wr_strict_body *in,
    const struct wr_strict_body *out, const struct wr_segment *result, bool is_recallable);

#endif
