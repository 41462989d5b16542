#include "policy/worth.h"

enum {
    WRITE_PCT = 125,
    READ_PCT = 10,
    OUTPUT_PCT = 500,
    /* Of the files that agents read, so many percent are used again after the next action. */
    AGAIN_PCT = 48
};

static struct wr_fold_prices known_prices(struct wr_fold_prices prices)
{
    if (!prices.write_pct || !prices.read_pct) {
        prices.write_pct = WRITE_PCT;
        prices.read_pct = READ_PCT;
    }
    if (!prices.output_pct)
        prices.output_pct = OUTPUT_PCT;
    return prices;
}

struct wr_fold_prices wr_worth_prices(const struct wr_fold *fold)
{
    return known_prices(fold->input->prices);
}

static uint32_t turns_left(const struct wr_odds *odds, uint32_t turn)
{
    if (turn < odds->turns_left_min)
        return odds->turns_left_min;
    return turn > odds->turns_left ? odds->turns_left : turn;
}

uint32_t wr_worth_turns_left(const struct wr_fold *fold)
{
    return turns_left(fold->input->odds, fold->turn);
}

/* A token that enters the prompt now and stays. */
static uint64_t token_for_good(const struct wr_fold *fold)
{
    struct wr_fold_prices p = wr_worth_prices(fold);
    return p.write_pct + (uint64_t)p.read_pct * wr_worth_turns_left(fold);
}

uint64_t wr_worth_saves(const struct wr_fold *fold, uint64_t left_out_tokens)
{
    return left_out_tokens * token_for_good(fold);
}

uint64_t wr_worth_recall(const struct wr_fold *fold)
{
    struct wr_fold_prices p = wr_worth_prices(fold);
    const struct wr_odds *odds = fold->input->odds;
    return (uint64_t)odds->prompt_tokens * p.read_pct + odds->recall_tokens * token_for_good(fold) +
           (uint64_t)odds->call_tokens * p.output_pct;
}

uint64_t wr_worth_blind_bp(const struct wr_fold *fold, uint64_t table_bp)
{
    uint64_t bp = fold->said.blind_pct ? table_bp * fold->said.blind_pct / 100 : table_bp;
    return bp < 10000 ? bp : 10000;
}

int64_t wr_worth_step(const struct wr_fold *fold, uint64_t gain_tokens, uint64_t suffix_tokens,
                      uint64_t margin_pct)
{
    struct wr_fold_prices p = wr_worth_prices(fold);
    uint64_t dearer_pct = p.write_pct > p.read_pct ? p.write_pct - p.read_pct : 0;
    uint64_t saved = gain_tokens * p.read_pct * wr_worth_turns_left(fold);
    return (int64_t)saved - (int64_t)(suffix_tokens * dearer_pct * margin_pct / 100);
}

/* It is in the provider's cache already, so to keep it costs reading it. */
bool wr_worth_exchange_leaves(const struct wr_fold_prices *prices, const struct wr_odds *odds,
                              uint32_t turns, uint64_t tokens)
{
    struct wr_fold_prices p = known_prices(*prices);
    uint64_t stay = tokens * p.read_pct * turns_left(odds, turns);
    uint64_t again = (uint64_t)odds->prompt_tokens * p.read_pct + tokens * p.write_pct + stay +
                     (uint64_t)odds->call_tokens * p.output_pct;
    return stay * 100 > again * AGAIN_PCT;
}
