/* trail.h -- the turns of a request as a chain of hashes, by which a later request is known again.
 *
 * 1. The hash of turn k stands for the whole conversation up to the inputs of turn k, which is what
 *    the request of that turn held. A request that extends it has the same hash at turn k.
 * 2. Cache markers are not in it, nor are instructions and tools: clients change those under a
 *    running conversation. `head` stands for them.
 */
#ifndef WR_ENGINE_TRAIL_H
#define WR_ENGINE_TRAIL_H

#include "base/hash.h"
#include "transcript/transcript.h"

struct wr_trail {
    wr_hash128 *turns; /* of each turn */
    wr_hash128 *heads; /* of each turn: what of `head` had come by then, and where it stood */
    uint32_t *ends;    /* of each turn: behind the last segment that its request held */
    uint32_t turns_count;
    uint64_t head;  /* instructions and tools */
    uint64_t model; /* its name */
};

/* Everything is in `arena`. */
WEIR_MUST_USE weir_status wr_trail_read(struct wr_trail *trail, struct wr_arena *arena,
                                        const struct wr_transcript *transcript);

#endif
