/* floor.h -- what a session would cost had each result, as it arrived, been cut to the lines that
 * later answers use: a clairvoyant.
 *
 * 1. It keeps of each result exactly the lines that some later answer has an item of
 *    (lab/evidence.h) that counts, in their order, and the framing. Nothing else changes, and
 *    nothing changes later.
 * 2. So no projection that edits only results, only as they arrive, each to some of its lines, and
 *    that supports every answer without a recall has a request with fewer tokens. Its cost is no
 *    smaller either, as far as a provider charges no less for more: a prompt below the minimum
 *    that can be cached, and rounding to steps of tokens, are exceptions (docs/evidence.md).
 * 3. A projection that folds, drops or re-forms what is older, or cuts inside lines, may cost less.
 * 4. With `with_words` it also leaves out the lines of the model's own texts and calls that no
 * later answer uses: the least for what may take those too. A call keeps its name and framing.
 *
 *     for each request:  note and find (lab/evidence.h), then wr_floor_note()
 *     wr_floor_finish()
 *     for each request:  wr_floor_request(), then wr_cache_request()
 */
#ifndef WR_LAB_FLOOR_H
#define WR_LAB_FLOOR_H

#include "policy/fold.h"
#include "lab/money.h"
#include "lab/evidence.h"

struct wr_floor { /* private; visible only so that callers can hold one */
    struct wr_arena *arena;
    wr_count_fn *count;
    void *user;
    struct wr_cache_block *blocks; /* by the segments' numbers */
    weir_span *texts;              /* of what may be cut, as it came, then as it is kept */
    uint32_t *overheads;
    uint32_t segments_count, segments_cap;
    struct wr_evidence_place *lines;
    uint32_t lines_count, lines_cap;
    bool with_words;
};

/* `arena` is borrowed for as long as the floor is used; `count` counts tokens of a text. */
void wr_floor_init(struct wr_floor *floor, struct wr_arena *arena, wr_count_fn *count, void *user,
                   bool with_words);

/* Takes in what is new in a request, and what its answer used. `blocks` are the request's
 * (wr_cache_blocks()); `overheads` are those that went into them, or NULL. Every request of the
 * session is given, in order; texts are copied. */
WEIR_MUST_USE weir_status wr_floor_note(struct wr_floor *floor,
                                        const struct wr_transcript *original,
                                        const struct wr_evidence_at *at,
                                        const struct wr_cache_block *blocks,
                                        const uint32_t *overheads,
                                        const struct wr_evidence_items *found);

/* Cuts every result to what was used of it. */
WEIR_MUST_USE weir_status wr_floor_finish(struct wr_floor *floor);

/* The blocks of the request noted at `at`, as the clairvoyant sends them: at->segments_count,
 * shared with other requests. Set the markers anew for each request. */
struct wr_cache_block *wr_floor_request(struct wr_floor *floor, const struct wr_evidence_at *at);

/* What is kept of the result with this number, after wr_floor_finish(). */
weir_span wr_floor_kept(const struct wr_floor *floor, uint32_t number);

#endif
