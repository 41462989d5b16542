/* weigh: a result is condensed as it arrives where the expected saving exceeds the expected cost of
 * a recall, and as far as it pays best.
 *
 * What the very next action quotes and does not find costs more than a recall: the model may not
 * know that it is missing. Each such string has a price, `miss_tokens`, and a cut whose odds of a
 * miss are worse than `first_sight_bp` is not considered at all. So has a result of which any later
 * action quotes a whole line that was left out, `quote_tokens`: an edit that fails. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "policy/worth.h"

static const uint32_t cuts[] = {220, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000};

struct choice {
    uint64_t to_tokens; /* 0: nothing is worth it */
    int64_t net;
    struct wr_fold_value value;
};

/* What is saved counts from the form that it has; how much is missed, from the text. */
static void consider(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                     const struct wr_odds_row *row, uint64_t cut, struct choice *best)
{
    uint64_t tokens = fold->input->tokens[segment], now = fold->segments[segment].tokens;
    struct wr_fold_value value = {.next_miss_bp = wr_odds_next_bp(row, tokens, cut),
                                  .ever_miss_bp = wr_odds_ever_bp(row, tokens, cut),
                                  .turns_left = wr_worth_turns_left(fold),
                                  .is_weighed = true};

    if (value.next_miss_bp > (uint64_t)stage->params[WR_WEIGH_FIRST_SIGHT_BP])
        return;
    value.saves = wr_worth_saves(fold, now - cut);
    value.costs = wr_worth_recall(fold) * value.ever_miss_bp / 10000;
    uint64_t misses =
        wr_odds_lack_bp(row, tokens, cut) * (uint64_t)stage->params[WR_WEIGH_MISS_TOKENS] / 100;
    misses += wr_worth_blind_bp(fold, wr_odds_blind_bp(row, tokens, cut)) *
              (uint64_t)stage->params[WR_WEIGH_QUOTE_TOKENS] / 100;
    int64_t net = (int64_t)value.saves - (int64_t)misses -
                  (int64_t)(value.costs * (uint64_t)stage->params[WR_WEIGH_MARGIN_PCT] / 100);
    if (net <= best->net)
        return;
    *best = (struct choice){cut, net, value};
}

static weir_status weigh_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    uint64_t tokens = fold->input->tokens[segment], now = fold->segments[segment].tokens;
    struct choice best = {0};
    enum wr_output_kind kind;
    const struct wr_odds_row *row;

    if (!fold->input->odds || tokens <= (uint64_t)wr_stage_param(stage, s->tool, WR_WEIGH_OVER) ||
        !wr_fold_is_open(fold, stage, segment))
        return WEIR_OK;
    weir_status status = wr_stage_kind(fold, segment, &kind);
    if (!status)
        status = wr_stage_odds(fold, segment, &row);
    if (status)
        return status;
    for (size_t i = 0; i < WR_COUNT_OF(cuts) && cuts[i] + cuts[i] / 4 < now; i++)
        consider(fold, stage, segment, row, cuts[i], &best);
    if (!best.to_tokens)
        return WEIR_OK;
    status = wr_stage_condense_to(fold, segment, kind, best.to_tokens);
    if (!wr_form_says_all(fold->segments[segment].form))
        fold->segments[segment].value = best.value;
    return status;
}

const struct wr_stage_def wr_stage_weigh = {
    .name = "weigh",
    .what = "a result is condensed as it arrives where that is worth more than it may cost",
    .arrive = weigh_arrive,
    .acts = "on arrival",
    .params = {{"over", 300, WR_CONDENSE_TOKENS_MIN, 10000000, NULL, "shorter results stay"},
               {"first_sight_bp", 10000, 0, 10000, NULL,
                "highest odds that the next action misses something, in basis points"},
               {"margin_pct", 150, 0, 100000, NULL,
                "the saving must exceed this share of the expected cost"},
               {"miss_tokens", 18000, 0, 100000000, NULL,
                "price of a string that the next action misses, in tokens of plain input"},
               {"quote_tokens", 0, 0, 100000000, NULL,
                "price of a result of which a later action quotes a missing line, likewise"}},
    .params_count = 5,
    .takes_tools = true,
    .tool_params = 1U << WR_WEIGH_OVER,
};
