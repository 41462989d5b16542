/* worth.h -- what it is worth to shorten something, in hundredths of a token of plain input.
 *
 * On arrival, leaving out D tokens of a result saves D * (write + read * turns left). With the odds
 * q that some later action needs them, it costs q * (the prefix read once more + what is recalled,
 * written and read from then on + the call's output). In a step the prefix behind the change is
 * written again instead of read, unless the cache has expired (docs/policies.md has the arithmetic
 * with numbers).
 */
#ifndef WR_POLICY_WORTH_H
#define WR_POLICY_WORTH_H

#include "models/registry.h"
#include "policy/fold.h"

/* A model's prices in percent of plain input; all zero where its price of input is not known. */
struct wr_fold_prices wr_fold_prices_of(const struct wr_model *model);

/* Prices where the model's are not known: those of most. */
struct wr_fold_prices wr_worth_prices(const struct wr_fold *fold);

/* Requests that will probably still come: as many as there were, within the bounds of the odds. A
 * session that has lasted is likely to last. */
uint32_t wr_worth_turns_left(const struct wr_fold *fold);

/* What it saves to leave out `left_out_tokens` that arrive now. */
uint64_t wr_worth_saves(const struct wr_fold *fold, uint64_t left_out_tokens);

/* The price of one recall. */
uint64_t wr_worth_recall(const struct wr_fold *fold);

/* What a step brings: it leaves `gain_tokens` out, and `suffix_tokens` that would have been read
 * from the cache are written again, which is counted with a margin in percent. */
int64_t wr_worth_step(const struct wr_fold *fold, uint64_t gain_tokens, uint64_t suffix_tokens,
                      uint64_t margin_pct);

/* Whether what one recall of the proxy's own has brought, `tokens` in all, costs more to keep in
 * the prompt of a session of so many turns than to be asked for again if it is needed again. */
bool wr_worth_exchange_leaves(const struct wr_fold_prices *prices, const struct wr_odds *odds,
                              uint32_t turns, uint64_t tokens);

#endif
