/* What it is worth to shorten something, and the two stages of `auto` that decide by it: `weigh` as
 * a result arrives, `deepen` when a step pays.
 *
 * Both sides of the sum are in one unit, hundredths of a token of plain input, so that prices, odds
 * and tokens can be added; the functions at the top are all that knows how. */
#include "policy/worth.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "models/registry.h"
#include "policy/budget.h"
#include "policy/stage.h"

/* ---- the sums ---- */

enum {
    WRITE_PCT = 125,
    READ_PCT = 10,
    OUTPUT_PCT = 500,
    /* Of the files that agents read, so many percent are used again after the next action. */
    AGAIN_PCT = 48
};

static uint32_t percent(uint64_t price, uint64_t of)
{
    return (uint32_t)((price * 100 + of / 2) / of);
}

struct wr_fold_prices wr_fold_prices_of(const struct wr_model *model)
{
    struct wr_prices p = wr_model_prices(model, 0, NULL);
    struct wr_fold_prices prices = {0};
    if (p.input == WR_PRICE_UNSET || !p.input)
        return prices;
    prices.write_pct = percent(p.cache_write, p.input);
    /* What a cache that promises no hit does not read costs what input does. */
    uint64_t hits = wr_cache_read_likely(model, 100);
    prices.read_pct =
        (uint32_t)((percent(p.cache_read, p.input) * hits + 100 * (100 - hits)) / 100);
    prices.output_pct = p.output == WR_PRICE_UNSET ? 0 : percent(p.output, p.input);
    prices.tier_tokens = model->tiers_count ? model->tiers[0].above_tokens : 0;
    return prices;
}

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

/* The odds that a later action quotes a whole line that was left out, as the session has them: what
 * earlier sessions have shown may have raised those of the table. */
static uint64_t worth_blind_bp(const struct wr_fold *fold, uint64_t table_bp)
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

/* ---- weigh ---- */

/* A result is condensed as it arrives where the expected saving exceeds the expected cost of
 * a recall, and as far as it pays best.
 *
 * What the very next action quotes and does not find costs more than a recall: the model may not
 * know that it is missing. Each such string has a price, `miss_tokens`, and a cut whose odds of a
 * miss are worse than `first_sight_bp` is not considered at all. So has a result of which any later
 * action quotes a whole line that was left out, `quote_tokens`: an edit that fails. */

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
    misses += worth_blind_bp(fold, wr_odds_blind_bp(row, tokens, cut)) *
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

/* ---- deepen ---- */

/* One deep step instead of many small ones, taken when it costs least.
 *
 * A step is taken when the cache has expired anyway (`cold`), when the window or a dearer price
 * tier forces one (`window`), or when leaving the old results out pays for writing the rest again
 * (`pays`). Then completed loops fold into one summary each, and older results become stubs:
 * outdated reads and polls first, then all for which the saving exceeds the expected cost of a
 * recall. Between two steps that no expired cache allows lie `quiet_turns` at least. */

enum {
    LOOP_PREVIEW_TOKENS = 120,
    LOOP_SUMMARY_TOKENS = 500,
    LOOP_BRIEF_TOKENS = 120, /* of a summary that has a budget: what is not its lists */
    LOOP_RESULT_TOKENS = 100,
    PAYS_TOKENS_MIN = 1000
};
enum {
    FORCED_BP = 9500,   /* of the room or of a price tier: past it a step does not wait */
    CLOSE_TURNS = 10,   /* a result of these is as likely to be asked for as a new one */
    OUTDATED_SHARE = 5, /* one that is outdated is asked for again a fifth as often as an old one */
    GAIN_SHARE = 20,    /* of a price tier: what a step that it forces must free */
    BP_A_PCT = 100
};

/* ---- what would go ---- */

/* What came later is not known yet at this turn; what is outdated by then stays so. */
static bool is_outdated(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    bool is_past = s->stale_by != WR_SEGMENT_NONE && s->stale_by < fold->arrived;
    return is_past && (s->staleness == WR_STALE || s->is_superseded);
}

/* Text that was recalled is whole as it arrives; a later step may send it back (law L2). It was
 * asked for one answer, which has been given by then. */
static bool is_recalled(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->kind == WEIR_KIND_TOOL_RESULT && s->handles && s->handles->kind == WR_EFFECT_RECALL &&
           wr_fold_is_sent(fold, segment);
}

static bool may_send_back(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];
    return is_recalled(fold, segment) && now->form == WR_FORM_EXACT && now->has_arrived &&
           s->parts_count && !s->is_opaque && !wr_fold_is_held(fold, segment) && !now->is_marked &&
           !wr_result_has_failed(s, s->handles) && wr_fold_may_change(fold, s->tool) &&
           wr_way_to(fold->input->ways, s, fold->arrived).kind == WR_WAY_RECALL;
}

/* A stub has no lines of the original; a condensed form may become one, as it was exact before. */
static bool may_stub(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    const struct wr_segment *s = &fold->transcript->segments[segment];
    if (now->form == WR_FORM_CONDENSED)
        return !wr_fold_is_held(fold, segment) && !wr_stage_exempts(stage, s->tool);
    return wr_fold_is_open(fold, stage, segment) || may_send_back(fold, segment);
}

static bool is_old(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    return fold->transcript->segments[segment].turn +
               (uint32_t)stage->params[WR_DEEPEN_KEEP_TURNS] <
           fold->turn;
}

/* The odds that a result of this age is asked for again. */
static uint32_t odds_bp(const struct wr_fold *fold, uint32_t segment, const struct wr_odds_row *row)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    bool is_far = fold->turn - s->turn > CLOSE_TURNS;
    bool is_done = is_outdated(fold, segment) || is_recalled(fold, segment);
    return is_done  ? row->far_pct * BP_A_PCT / OUTDATED_SHARE
           : is_far ? row->far_pct * BP_A_PCT
                    : row->ever_pct[0] * BP_A_PCT;
}

static bool is_worth_it(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                        struct wr_fold_value *value)
{
    uint64_t gain = wr_fold_gain(fold, segment);
    const struct wr_odds_row *row;
    if (fold->segments[segment].tokens <= (uint64_t)stage->params[WR_DEEPEN_OVER] ||
        wr_stage_odds(fold, segment, &row))
        return false; /* without memory it stays as it is */
    *value = (struct wr_fold_value){.saves = wr_worth_saves(fold, gain),
                                    .ever_miss_bp = odds_bp(fold, segment, row),
                                    .turns_left = wr_worth_turns_left(fold),
                                    .is_weighed = true};
    value->costs = wr_worth_recall(fold) * value->ever_miss_bp / 10000;
    /* Of those that are asked for again, so many because a whole line is quoted. */
    uint64_t blind_bp =
        row->ever_pct[0] ? (uint64_t)value->ever_miss_bp * row->blind_pct[0] / row->ever_pct[0] : 0;
    return value->saves > value->costs + worth_blind_bp(fold, blind_bp) *
                                             (uint64_t)stage->params[WR_DEEPEN_QUOTE_TOKENS] / 100;
}

/* A result that becomes a stub, or a loop that folds. */
struct item {
    uint32_t first; /* where the prompt begins to change */
    uint32_t loop;  /* WR_SEGMENT_NONE: a result */
    uint64_t gain_tokens;
    bool is_outdated;
};

struct items {
    struct item *list; /* in the order of the prompt */
    uint32_t count;
    uint64_t gain_tokens;
};

static void add_item(struct items *items, const struct item *item)
{
    items->list[items->count++] = *item;
    items->gain_tokens += item->gain_tokens;
}

/* Where a completed loop stands. */
struct loop_range {
    uint32_t loop, first, end;
};

/* What may become an item now or later; looked through at every request. What never can is left out
 * for good: tokens of a segment only get fewer, and what is dropped or a stub stays so. So a
 * request costs what the prompt still holds, not what the session has ever held. */
struct candidates {
    const struct wr_stage *stage; /* whose they are */
    struct item *items;
    uint32_t *results; /* ascending */
    struct loop_range *loops;
    int64_t *group_tokens; /* scratch: a place for every group */
    uint32_t results_count, loops_count;
    uint32_t seen;                   /* segments before this one were looked at */
    uint32_t loops_seen, loop_first; /* completed loops, and where the next one begins */
};

static struct candidates *candidates_of(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t segments = fold->transcript->segments_count;
    struct candidates *c = fold->scratch.items;

    if (c && c->stage == stage)
        return c;
    c = WR_ARENA_ARRAY(fold->arena, struct candidates, 1);
    if (!c)
        return NULL;
    c->items = WR_ARENA_ARRAY(fold->arena, struct item, segments + 1);
    c->results = WR_ARENA_ARRAY(fold->arena, uint32_t, segments);
    c->loops = WR_ARENA_ARRAY(fold->arena, struct loop_range, fold->transcript->loops_count);
    c->group_tokens = WR_ARENA_ARRAY(fold->arena, int64_t, segments);
    if (!c->items || !c->results || !c->loops || !c->group_tokens)
        return NULL;
    c->stage = stage;
    fold->scratch.items = c;
    return c;
}

static bool may_become_stub(const struct wr_fold *fold, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    return fold->transcript->segments[segment].kind == WEIR_KIND_TOOL_RESULT &&
           (wr_form_says_all(form) || form == WR_FORM_CONDENSED) && wr_fold_gain(fold, segment);
}

/* About what is left of a loop with so many results, its model's words aside where they are known
 * to stay: in a budget, or with a block for each. */
static uint64_t summary_tokens(const struct wr_stage *stage, uint64_t results_count)
{
    uint64_t budget = (uint64_t)stage->params[WR_DEEPEN_SUMMARY_TOKENS];
    uint64_t blocks = results_count * LOOP_RESULT_TOKENS;
    if (budget)
        return LOOP_BRIEF_TOKENS + (blocks < budget ? blocks : budget);
    return LOOP_SUMMARY_TOKENS + (uint64_t)stage->params[WR_DEEPEN_EVIDENCE_TOKENS] + blocks;
}

/* The model's words stay in a summary that has a budget for all else. */
static uint64_t words_tokens(const struct wr_fold *fold, const struct wr_stage *stage,
                             uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return stage->params[WR_DEEPEN_SUMMARY_TOKENS] && s->kind == WEIR_KIND_TEXT
               ? fold->segments[segment].tokens
               : 0;
}

static bool is_of_loop(const struct wr_fold *fold, const struct loop_range *range, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->loop == range->loop && s->group != WR_SEGMENT_NONE &&
           fold->segments[segment].form != WR_FORM_DROPPED;
}

/* Whether add_loop() can ever say yes. It asks for more than twice what is kept, to which every
 * result adds; groups may leave meanwhile, but only whole: so those that speak against it are taken
 * for gone. */
static bool may_ever_fold(const struct wr_fold *fold, const struct wr_stage *stage,
                          const struct loop_range *range, int64_t *group_tokens)
{
    const struct wr_segment *segments = fold->transcript->segments;
    int64_t tokens = 0;

    for (uint32_t i = range->first; i < range->end; i++) {
        if (!is_of_loop(fold, range, i))
            continue;
        bool is_result =
            segments[i].kind == WEIR_KIND_TOOL_RESULT && !stage->params[WR_DEEPEN_SUMMARY_TOKENS];
        group_tokens[segments[i].group] += (int64_t)fold->segments[i].tokens -
                                           2 * (int64_t)words_tokens(fold, stage, i) -
                                           (is_result ? 2 * LOOP_RESULT_TOKENS : 0);
    }
    for (uint32_t i = range->first; i < range->end; i++) {
        if (!is_of_loop(fold, range, i))
            continue;
        int64_t *group = &group_tokens[segments[i].group];
        tokens += *group > 0 ? *group : 0;
        *group = 0;
    }
    return tokens > 2 * (int64_t)summary_tokens(stage, 0);
}

/* Takes up what has arrived and completed since the last time. */
static void look_for_candidates(const struct wr_fold *fold, const struct wr_stage *stage,
                                struct candidates *c, uint32_t loop)
{
    const struct wr_segment *segments = fold->transcript->segments;

    for (; c->seen < fold->arrived; c->seen++)
        if (may_become_stub(fold, c->seen))
            c->results[c->results_count++] = c->seen;
    for (; c->loops_seen < loop; c->loops_seen++) {
        struct loop_range range = {c->loops_seen, c->loop_first, c->loop_first};
        while (range.end < fold->arrived && (segments[range.end].loop == WR_SEGMENT_NONE ||
                                             segments[range.end].loop <= range.loop))
            range.end++;
        c->loop_first = range.end;
        if (may_ever_fold(fold, stage, &range, c->group_tokens))
            c->loops[c->loops_count++] = range;
    }
}

/* What a loop would free: all of it but a summary. False where it cannot fold, or is too small. */
static bool add_loop(const struct wr_fold *fold, const struct wr_stage *stage, struct items *items,
                     const struct loop_range *range)
{
    struct item item = {.first = WR_SEGMENT_NONE, .loop = range->loop};
    bool has_call = false, may_fold = true;
    uint64_t tokens = 0, kept = 0, results_count = 0;
    for (uint32_t i = range->first; i < range->end; i++) {
        const struct wr_segment *s = &fold->transcript->segments[i];
        if (!is_of_loop(fold, range, i) || wr_fold_group_stays(fold, s->group))
            continue;
        may_fold &= wr_stage_may_fold(fold, i);
        has_call |= s->kind == WEIR_KIND_TOOL_CALL;
        kept += words_tokens(fold, stage, i);
        results_count += s->kind == WEIR_KIND_TOOL_RESULT;
        tokens += fold->segments[i].tokens;
        if (item.first == WR_SEGMENT_NONE)
            item.first = i;
    }
    kept += summary_tokens(stage, results_count);
    if (tokens <= 2 * kept || !has_call || !may_fold)
        return false;
    item.gain_tokens = tokens - kept;
    add_item(items, &item);
    return true;
}

/* A loop that came with a marker was weighed as a whole before, and its results with it. */
static bool came_marked(const struct wr_fold *fold, const struct loop_range *range)
{
    for (uint32_t i = range->first; i < range->end; i++)
        if (fold->segments[i].is_marked && is_of_loop(fold, range, i))
            return true;
    return false;
}

/* A step that the window forces takes results whether they are worth it or not. */
static void add_result(struct wr_fold *fold, const struct wr_stage *stage, struct items *items,
                       uint32_t segment, bool forced)
{
    struct wr_fold_value value;
    struct item item = {.first = segment,
                        .loop = WR_SEGMENT_NONE,
                        .gain_tokens = wr_fold_gain(fold, segment),
                        .is_outdated = is_outdated(fold, segment)};
    bool may_be_worth =
        forced || fold->segments[segment].tokens > (uint64_t)stage->params[WR_DEEPEN_OVER];
    if (may_be_worth && is_old(fold, stage, segment) && may_stub(fold, stage, segment) &&
        (is_worth_it(fold, stage, segment, &value) || forced))
        add_item(items, &item);
}

struct walk {
    struct candidates *candidates;
    uint32_t at, kept; /* results that were looked at, and those of them that stay candidates */
    bool forced;
};

/* Passes the results before segment `end`. */
static void pass_results(struct wr_fold *fold, const struct wr_stage *stage, struct walk *walk,
                         uint32_t end, struct items *items)
{
    struct candidates *c = walk->candidates;
    while (walk->at < c->results_count && c->results[walk->at] < end) {
        uint32_t segment = c->results[walk->at++];
        if (!may_become_stub(fold, segment))
            continue;
        c->results[walk->kept++] = segment;
        if (items)
            add_result(fold, stage, items, segment, walk->forced);
    }
}

/* Completed loops, or their results where a loop cannot fold; then the results of the loop at
 * work. */
static void collect_for_deepen(struct wr_fold *fold, const struct wr_stage *stage,
                               struct candidates *c, bool forced, struct items *items)
{
    struct walk walk = {.candidates = c, .forced = forced};
    uint32_t loops_kept = 0;

    for (uint32_t i = 0; i < c->loops_count; i++) {
        struct loop_range range = c->loops[i];
        /* This is asked first, because a fold that continues an earlier one no longer finds such
         * a loop. */
        if (!may_ever_fold(fold, stage, &range, c->group_tokens))
            continue;
        c->loops[loops_kept++] = range;
        pass_results(fold, stage, &walk, range.first, items);
        bool is_weighed = add_loop(fold, stage, items, &range) || came_marked(fold, &range);
        pass_results(fold, stage, &walk, range.end, is_weighed ? NULL : items);
    }
    pass_results(fold, stage, &walk, fold->arrived, items);
    c->loops_count = loops_kept;
    c->results_count = walk.kept;
}

/* ---- when ---- */

/* A prompt that holds what a step left was weighed then, with turns that are not there any more;
 * how long ago nobody can tell. */
static bool is_quiet(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t quiet = (uint32_t)stage->params[WR_DEEPEN_QUIET_TURNS];

    if (fold->steps_count && fold->turn - fold->steps[fold->steps_count - 1].turn < quiet)
        return false;
    return !fold->came_stepped;
}

static bool is_forced(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t tier = fold->input->prices.tier_tokens, total = fold->total_tokens;
    uint64_t at = wr_fold_threshold(fold, (uint64_t)stage->params[WR_DEEPEN_AT_BP]);
    if (total > wr_fold_threshold(fold, FORCED_BP))
        return true;
    return is_quiet(fold, stage) && (total > at || (tier && total > tier * FORCED_BP / 10000));
}

/* A step that frees too little would be followed by another at once, so it is left to other stages,
 * which may have more to take. */
static uint64_t forced_gain_min(const struct wr_fold *fold)
{
    uint64_t tier = fold->input->prices.tier_tokens, gain = wr_fold_gain_min(fold);
    bool is_tier = tier && fold->total_tokens > tier * FORCED_BP / 10000;
    return is_tier && tier / GAIN_SHARE < gain ? tier / GAIN_SHARE : gain;
}

/* The item from which on a step brings most; the count where none pays. */
static uint32_t best_start(const struct wr_fold *fold, const struct wr_stage *stage,
                           const struct items *items)
{
    uint64_t behind = 0, gain = 0;
    uint32_t at = fold->arrived, best = items->count;
    int64_t best_net = 0;

    for (uint32_t i = items->count; i-- > 0;) {
        while (at > items->list[i].first)
            behind += fold->segments[--at].tokens;
        gain += items->list[i].gain_tokens;
        int64_t net = wr_worth_step(fold, gain, behind > gain ? behind - gain : 0,
                                    (uint64_t)stage->params[WR_DEEPEN_MARGIN_PCT]);
        if (net <= best_net || gain < PAYS_TOKENS_MIN)
            continue;
        best_net = net;
        best = i;
    }
    return best;
}

/* Why to take a step now, and from which item on; false: not now. */
static bool find_reason(struct wr_fold *fold, const struct wr_stage *stage,
                        const struct items *items, enum wr_step_reason *reason, uint32_t *start)
{
    uint64_t enough =
        fold->total_tokens * (uint64_t)stage->params[WR_DEEPEN_GAIN_BP] / 10000 + PAYS_TOKENS_MIN;

    *start = 0;
    if (!items->count)
        return false;
    if (wr_fold_is_asked(fold)) {
        *reason = WR_STEP_ASKED;
        return true;
    }
    if (wr_fold_is_cold(fold) && items->gain_tokens >= enough) {
        *reason = WR_STEP_COLD;
        return true;
    }
    if (is_forced(fold, stage) && items->gain_tokens >= forced_gain_min(fold)) {
        *reason = WR_STEP_WINDOW;
        return true;
    }
    *reason = WR_STEP_PAYS;
    *start = is_quiet(fold, stage) ? best_start(fold, stage, items) : items->count;
    return *start < items->count;
}

/* ---- the step ---- */

static weir_status stub_result(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                               enum wr_step_reason reason)
{
    struct wr_fold_value value = {0};

    if (fold->segments[segment].form == WR_FORM_DROPPED)
        return WEIR_OK; /* its loop was folded */
    (void)is_worth_it(fold, stage, segment, &value);
    weir_status status = wr_stage_stub(
        fold, segment,
        is_outdated(fold, segment) ? WR_STUB_FRONT ", outdated since: " : WR_STUB_FRONT ": ",
        reason);
    if (fold->segments[segment].form == WR_FORM_CLEARED)
        fold->segments[segment].value = value;
    return status;
}

static weir_status change_item(struct wr_fold *fold, const struct wr_stage *stage,
                               const struct item *item, enum wr_step_reason reason)
{
    struct wr_stage_loop options = {
        .evidence_tokens = (uint64_t)stage->params[WR_DEEPEN_EVIDENCE_TOKENS],
        .preview_tokens = LOOP_PREVIEW_TOKENS,
        .summary_tokens = (uint64_t)stage->params[WR_DEEPEN_SUMMARY_TOKENS],
        .reason = reason};
    bool taken;
    if (item->loop == WR_SEGMENT_NONE)
        return stub_result(fold, stage, item->first, reason);
    return wr_stage_fold_loop(fold, &options, item->loop, fold->scratch.lists[1], &taken);
}

/* What a forced step goes on for: the share of the window, or of the price tier it is above. */
static uint64_t target_tokens(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t to_bp = (uint64_t)stage->params[WR_DEEPEN_TO_BP];
    uint64_t target = wr_fold_threshold(fold, to_bp), tier = fold->input->prices.tier_tokens;
    if (tier && fold->total_tokens > tier * FORCED_BP / 10000 && tier * to_bp / 10000 < target)
        target = tier * to_bp / 10000;
    return target;
}

/* Under pressure only as much as is needed: loops and what is outdated first. */
static weir_status take_step(struct wr_fold *fold, const struct wr_stage *stage,
                             const struct items *items, uint32_t start, enum wr_step_reason reason)
{
    uint64_t target = target_tokens(fold, stage);
    weir_status status = WEIR_OK;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = start; i < items->count && !status; i++) {
            const struct item *item = &items->list[i];
            bool is_first = item->loop != WR_SEGMENT_NONE || item->is_outdated;
            if (reason == WR_STEP_WINDOW && fold->total_tokens <= target)
                return WEIR_OK;
            if (is_first == (pass == 0))
                status = change_item(fold, stage, item, reason);
        }
    return status;
}

static weir_status deepen_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t loop = fold->transcript->segments[fold->arrived - 1].loop, start;
    enum wr_step_reason reason;
    struct items items = {0};

    /* Looking for items costs time: only where a step is thinkable. */
    if (!fold->input->odds || (!wr_fold_is_cold(fold) && !wr_fold_is_asked(fold) &&
                               !is_quiet(fold, stage) && !is_forced(fold, stage)))
        return WEIR_OK;
    if (loop == WR_SEGMENT_NONE)
        loop = 0;
    struct candidates *candidates = candidates_of(fold, stage);
    if (!candidates)
        return wr_arena_status(fold->arena);
    items.list = candidates->items;
    look_for_candidates(fold, stage, candidates, loop);
    collect_for_deepen(fold, stage, candidates, is_forced(fold, stage), &items);
    if (fold->arena->status)
        return fold->arena->status;
    if (!find_reason(fold, stage, &items, &reason, &start))
        return WEIR_OK;
    return take_step(fold, stage, &items, start, reason);
}

static uint64_t deepen_at(const struct wr_stage *stage, const struct wr_stage_room *room,
                          uint32_t *share_bp)
{
    *share_bp = (uint32_t)stage->params[WR_DEEPEN_AT_BP];
    return wr_share_tokens(room->usable_tokens, *share_bp);
}

const struct wr_stage_def wr_stage_deepen = {
    .name = "deepen",
    .what =
        "older results become stubs and completed loops fold, in one deep step when it is cheap",
    .request = deepen_request,
    .acts = "as soon as it pays, or when the cache has expired",
    .acts_at = deepen_at,
    .work = WR_WORK_SHORTENS,
    .counts_cost = true,
    .params = {{"keep_turns", 2, 0, 100000, NULL, "the newest turns stay"},
               {"over", 200, 50, 10000000, NULL, "shorter results stay"},
               {"gain_bp", 1000, 0, 10000, NULL,
                "a step must free this share of the prompt, in basis points"},
               {"at_bp", 8500, 1, 10000, NULL, "above this share of the window a step is forced"},
               {"to_bp", 5000, 1, 10000, NULL, "and goes on until this share is left"},
               {"quiet_turns", 20, 0, 100000, NULL, "turns between two steps with a live cache"},
               {"margin_pct", 150, 0, 100000, NULL,
                "the saving must exceed this share of what a step costs"},
               {"evidence_tokens", 1000, 0, 10000000, NULL, "lines read that a folded loop keeps"},
               {"summary_tokens", 0, 0, 10000000, NULL,
                "files and calls that a folded loop lists, the newest first; 0: all, at length"},
               {"quote_tokens", 0, 0, 100000000, NULL,
                "price of a result of which a later action quotes a missing line, in tokens"}},
    .params_count = 10,
    .takes_tools = true,
};
