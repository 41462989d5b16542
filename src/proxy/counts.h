/* counts.h -- what servers say of their models: how they count prompts, how long a prompt they
 * take. */
#ifndef WR_PROXY_COUNTS_H
#define WR_PROXY_COUNTS_H

#include "engine/record.h"
#include "models/calibrate.h"
#include "net/fetch.h"
#include "proxy/config.h"

/* ==== how providers count ====
 *
 * It is learnt from their answers and shared through the store.
 *
 * It is known for each server and model: one name is another model, or another tokenizer,
 * elsewhere.
 *
 * 1. A sample is the provider's count of a prompt, in `usage` or in a refusal as too long, beside
 *    ours of the same prompt. One outside half to double of ours, or of a prompt that the server
 *    may have cut, is in the log and nowhere else.
 * 2. What was learnt holds from the next request on: the engine takes it up by a mark (law L3).
 * 3. When a request of a model has left, a process adds what it learnt to what the store has, and
 *    takes over what others have added; one that has learnt nothing does so once a minute. So nodes
 *    come to agree, and no request waits for it.
 */

struct wr_counts;

struct wr_counts *wr_counts_new(const char *store_dir); /* NULL: it is kept in memory alone */
void wr_counts_free(struct wr_counts *counts);          /* NULL is fine, here and below */

struct wr_known_count {
    uint32_t factor_bp;       /* tokens of theirs for 10000 of ours; 0: not known */
    uint32_t accepted_tokens; /* the largest prompt that was accepted, by their count */
};

/* `base_url` is the upstream's; its path does not matter. NULL: nothing is known or learnt. On any
 * thread, all of these. */
struct wr_known_count wr_counts_find(struct wr_counts *counts, const char *base_url,
                                     const char *model);

/* False: it is no sample. */
bool wr_counts_add(struct wr_counts *counts, const char *base_url, const char *model,
                   uint64_t ours_tokens, uint64_t theirs_tokens);

/* Fills in how the provider has counted the prompt of a record that is over, and whether that is
 * to be believed: a count of a part of the prompt is not. */
void wr_counts_judge(struct wr_record *record);

/* A sink: takes what an answer says of the prompt that was sent. */
void wr_counts_take(struct wr_counts *counts, const struct wr_record *record);

/* Adds what was learnt of the model since to the store, and takes over what others have. */
void wr_counts_sync(struct wr_counts *counts, const char *base_url, const char *model,
                    int64_t now_ms);

/* ==== what local servers have loaded ====
 *
 * They are asked beside the requests.
 *
 * 1. No request waits for it: a session's first one may go under what the registry says, and a
 *    later one under what its server says.
 * 2. Only upstreams on this machine or in a private network are asked, one question at a time, with
 *    a short time for all of it. What was learnt is kept, and asked for again while it is used:
 *    a server may be started anew with another size.
 * 3. The loop asks; threads that project read.
 */

struct wr_loaded_windows;

struct wr_loaded_windows_options {
    uv_loop_t *loop;
    struct wr_fetcher *fetcher; /* borrowed; closed after this */
};

struct wr_loaded_windows *wr_loaded_windows_new(
    const struct wr_loaded_windows_options *options);            /* NULL: no memory */
void wr_loaded_windows_close(struct wr_loaded_windows *windows); /* NULL is fine, here and below */
void wr_loaded_windows_free(struct wr_loaded_windows *windows);  /* once the loop has run again */

/* Asks in the background, unless it was asked lately, the upstream is far away or one is being
 * asked now. On the loop. */
void wr_loaded_windows_ask(struct wr_loaded_windows *windows, const struct wr_upstream *upstream,
                           const char *model);

/* Tokens; 0: nobody has said. On any thread. */
uint32_t wr_loaded_windows_find(struct wr_loaded_windows *windows, const char *base_url,
                                weir_span model);

#endif
