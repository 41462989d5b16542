/* counts.h -- how providers count prompts, learnt from their answers and shared through the store.
 *
 * 1. A sample is the provider's count of a prompt, in `usage` or in a refusal as too long, beside
 *    ours of the same prompt. One outside half to double of ours is in the log and nowhere else.
 * 2. What was learnt holds from the next request on: the engine takes it up by a mark (law L3).
 * 3. A process writes what it learnt when a request of that model has left, and reads then what
 *    others have written, so that nodes agree; no request waits for either.
 */
#ifndef WR_PROXY_COUNTS_H
#define WR_PROXY_COUNTS_H

#include "models/calibrate.h"
#include "proxy/record.h"

struct wr_counts;

struct wr_counts *wr_counts_new(const char *store_dir); /* NULL: it is kept in memory alone */
void wr_counts_free(struct wr_counts *counts);          /* NULL is fine, here and below */

struct wr_known_count {
    uint32_t factor_bp;       /* tokens of theirs for 10000 of ours; 0: not known */
    uint32_t accepted_tokens; /* the largest prompt that was accepted, by their count */
};

/* On any thread. */
struct wr_known_count wr_counts_find(struct wr_counts *counts, const char *model);

/* False: it is no sample. */
bool wr_counts_add(struct wr_counts *counts, const char *model, uint64_t ours_tokens,
                   uint64_t theirs_tokens);

/* Takes what an answer says of the prompt that was sent. */
void wr_counts_take(struct wr_counts *counts, const struct wr_record *record);

/* Writes what was learnt of the model since, or reads what others wrote. */
void wr_counts_sync(struct wr_counts *counts, const char *model, int64_t now_ms);

#endif
