/* tally.h -- rows of the ledger added up: requests, tokens, money, and what it was worth.
 *
 * 1. Money is what the provider's `usage` says at the model's prices; a request without usage is
 *    estimated, and counted as such.
 * 2. Beside it stands the counterfactual: the same requests sent as they came, at the same cache
 *    rules. There a request that only brings recalls back does not exist, nor do the definitions
 *    of Weir's own tools, and the prefix that the host kept is read from the cache unless it had
 *    expired (docs/telemetry.md has the sums).
 * 3. A model without prices is counted and not priced; nothing is called free.
 *
 * Rows of one session are added in order; rows of several sessions may be mixed.
 */
#ifndef WR_LEDGER_TALLY_H
#define WR_LEDGER_TALLY_H

#include "engine/record.h"
#include "models/registry.h"
#include "store/ledger.h"

struct wr_tally {
    uint64_t requests_count, changed_count, steps_count, failed_count, shadow_count;
    uint64_t estimated_count; /* of requests without usage */
    uint64_t unpriced_count;  /* of a model without prices: in no sum of money */
    uint64_t raw_tokens;      /* prompt tokens as they came, */
    uint64_t sent_tokens;     /* and as they were sent */
    uint64_t input_tokens, cache_read_tokens, cache_write_tokens, output_tokens; /* usage */
    uint64_t micro_usd, unchanged_micro_usd; /* real; and had nothing been changed */
    uint64_t refused_count; /* requests that would have been refused for their length, unchanged */
    uint64_t steps_micro_usd; /* of micro_usd: what our own steps cost by writing the cache anew */
    uint64_t busts[WR_BUSTS_COUNT], bust_tokens[WR_BUSTS_COUNT];
    uint64_t bust_micro_usd[WR_BUSTS_COUNT]; /* of micro_usd: what writing those anew cost */
    struct wr_quality quality;               /* sums */
    int64_t first_ms, last_ms;
    uint64_t shadow_prompt_tokens;     /* estimates of requests in shadow: as they came and went, */
    uint64_t shadow_would_send_tokens; /* and as they would have been sent. In no other sum */
    uint64_t shadow_micro_usd;         /* of micro_usd, what they cost; */
    uint64_t shadow_would_micro_usd;   /* and an estimate of what they would have, in no other sum.
                                        * What recalls would have cost is not in it */
    uint64_t passed_count; /* requests of no API that is read: they are in no other sum */
    uint64_t passed_bytes; /* of their bodies, both ways */
    uint64_t hooked_count; /* results that agents' hooks condensed: they are in no other sum, */
    uint64_t hooked_raw_tokens, hooked_sent_tokens; /* nor are their tokens, before and after */
};

struct wr_tallier; /* what is remembered of sessions between their rows */

/* `models` is borrowed. NULL: out of memory. */
struct wr_tallier *wr_tallier_new(const struct wr_models *models);
void wr_tallier_free(struct wr_tallier *tallier); /* NULL is fine */

/* Adds a row, whose line is `record` (engine/record_row.h), to each of `tallies` (such as one of
 * its agent, one of all). Fails for lack of memory only. */
WEIR_MUST_USE weir_status wr_tallier_add(struct wr_tallier *tallier,
                                         const struct wr_ledger_row *row,
                                         const struct wr_record *record,
                                         struct wr_tally *const *tallies, size_t tallies_count);

/* Members of an object that is being written, in every command that has a tally: its sums; those
 * with `busts` and `quality`; and one number for each cause of a bust. */
struct wr_json_writer;
void wr_tally_write_sums(const struct wr_tally *tally, struct wr_json_writer *writer);
void wr_tally_write_json(const struct wr_tally *tally, struct wr_json_writer *writer);
void wr_tally_write_busts(struct wr_json_writer *writer, const char *key, const uint64_t *numbers);

#endif
