/* Windows, shares and limits: the arithmetic of the documents that the presets follow.
 *
 * Each document has its own numbers (80 % here, 85 % from 200,000 tokens on there). No sum can
 * wrap: a window of zero, an answer larger than its window or a count of UINT64_MAX gives the
 * nearest number that makes sense, never a huge one. All sums are in this file because they share
 * four helpers, and because docs/budget.md lists the documents' numbers side by side. */
#include "policy/budget.h"

#include "models/window.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t clamp(uint64_t n, uint64_t low, uint64_t high)
{
    return n < low ? low : n > high ? high : n;
}

/* a * b / c without overflow of the product; c is not 0. Exact while a is below 2^50. */
static uint64_t scaled(uint64_t a, uint32_t b, uint64_t c)
{
    if (!b || a <= UINT64_MAX / b)
        return a * b / c;
    uint64_t parts = a / c;
    return parts > UINT64_MAX / b ? UINT64_MAX : parts * b;
}

uint64_t wr_share_tokens(uint64_t tokens, uint32_t basis_points)
{
    return scaled(tokens, basis_points, 10000);
}

static enum wr_band band_of(uint32_t basis_points)
{
    if (basis_points >= 10000)
        return WR_BAND_EXHAUSTED;
    if (basis_points >= 9000)
        return WR_BAND_CRITICAL;
    if (basis_points >= 7500)
        return WR_BAND_HIGH;
    return basis_points >= 5000 ? WR_BAND_MODERATE : WR_BAND_LOW;
}

static unsigned find_risks(const struct wr_pressure_input *input)
{
    unsigned risks = 0;
    if (!input->window_known)
        risks |= WR_RISK_UNKNOWN_WINDOW;
    else if (!input->window_tokens)
        risks |= WR_RISK_ZERO_WINDOW;
    if (input->window_known && input->reserve_tokens >= input->window_tokens &&
        input->reserve_tokens)
        risks |= WR_RISK_RESERVE_TAKES_ALL;
    if (input->used_source == WR_COUNT_UNKNOWN)
        risks |= WR_RISK_UNKNOWN_USED;
    return risks;
}

static uint64_t safety_floor(const struct wr_pressure_input *input)
{
    if (!input->window_known)
        return 2000;
    return clamp(minus(input->window_tokens, input->reserve_tokens) / 20, 1000, 8000);
}

struct wr_pressure wr_pressure(const struct wr_pressure_input *input)
{
    struct wr_pressure out = {0};

    out.usable_known = input->window_known && input->window_tokens >= input->reserve_tokens;
    if (out.usable_known)
        out.usable_tokens = input->window_tokens - input->reserve_tokens;
    out.known = out.usable_tokens > 0;
    if (out.known) {
        uint64_t bp = scaled(input->used_tokens, 10000, out.usable_tokens);
        out.basis_points = (uint32_t)least(bp, UINT32_MAX);
        out.band = band_of(out.basis_points);
    }
    out.available_tokens = minus(out.usable_tokens, input->used_tokens);
    out.floor_tokens = safety_floor(input);
    out.risks = find_risks(input);
    out.confidence = wr_confidence_of(input->used_source, out.known);
    return out;
}

const char *wr_band_text(enum wr_band band)
{
    static const char *const texts[] = {"unknown", "low",      "moderate",
                                        "high",    "critical", "exhausted"};
    return texts[band];
}

enum wr_room wr_room_of(uint64_t available_tokens)
{
    if (available_tokens < 2000)
        return WR_ROOM_MINIMAL;
    if (available_tokens < 8000)
        return WR_ROOM_CONDENSED;
    return available_tokens < 16000 ? WR_ROOM_LARGE : WR_ROOM_EXACT;
}

/* What each room allows. ORDER ROOM */
static const struct {
    enum wr_budget_mode mode;
    uint64_t inline_bytes_max, rehydrate_tokens_max;
    enum wr_budget_reason reason;
} rooms[] = {
    [WR_ROOM_MINIMAL] = {WR_MODE_MINIMAL_REFS_ONLY, 1024, 1000, WR_REASON_CRITICAL_BUDGET},
    [WR_ROOM_CONDENSED] = {WR_MODE_ARTIFACT_CONDENSED, 8 * 1024, 4000, WR_REASON_TIGHT_BUDGET},
    [WR_ROOM_LARGE] = {WR_MODE_LARGE_LOSSLESS, 32 * 1024, 12000, WR_REASON_MODERATE_BUDGET},
    [WR_ROOM_EXACT] = {WR_MODE_EXACT_PASS_THROUGH, WR_BUDGET_NO_CAP, WR_BUDGET_NO_CAP,
                       WR_REASON_PLENTY_OF_BUDGET},
};

struct wr_budget_plan wr_budget_plan(const struct wr_pressure *pressure)
{
    uint64_t available = pressure->usable_known ? pressure->available_tokens : WR_BUDGET_NO_CAP;
    struct wr_budget_plan plan = {.room = wr_room_of(available)};

    if (!pressure->usable_known)
        plan.reasons |= WR_REASON_UNKNOWN_TOKEN_WINDOW;
    if (pressure->risks & ~(unsigned)WR_RISK_UNKNOWN_WINDOW)
        plan.reasons |= WR_REASON_UNSAFE_ACCOUNTING;
    if (plan.reasons) {
        plan.mode = WR_MODE_EXACT_PASS_THROUGH;
        plan.inline_bytes_max = WR_BUDGET_NO_CAP;
        plan.rehydrate_tokens_max = available;
        return plan;
    }
    plan.mode = rooms[plan.room].mode;
    plan.inline_bytes_max = rooms[plan.room].inline_bytes_max;
    plan.rehydrate_tokens_max = least(rooms[plan.room].rehydrate_tokens_max, available);
    plan.reasons = rooms[plan.room].reason;
    return plan;
}

const char *wr_budget_mode_text(enum wr_budget_mode mode)
{
    static const char *const texts[] = {"exact_pass_through", "large_lossless",
                                        "artifact_condensed", "minimal_refs_only"};
    return texts[mode];
}

const char *wr_budget_reason_text(enum wr_budget_reason reason)
{
    switch (reason) {
    case WR_REASON_UNKNOWN_TOKEN_WINDOW:
        return "unknown_token_window";
    case WR_REASON_UNSAFE_ACCOUNTING:
        return "unsafe_accounting";
    case WR_REASON_PLENTY_OF_BUDGET:
        return "plenty_of_budget";
    case WR_REASON_MODERATE_BUDGET:
        return "moderate_budget";
    case WR_REASON_TIGHT_BUDGET:
        return "tight_budget";
    case WR_REASON_CRITICAL_BUDGET:
        return "critical_budget";
    }
    return "unknown";
}

uint64_t wr_loop_budget(uint64_t limit_tokens, uint64_t output_tokens_max)
{
    uint64_t left = minus(limit_tokens, output_tokens_max);
    return minus(left, wr_share_tokens(limit_tokens, WR_LAYERS_MARGIN_BP));
}

uint64_t wr_render_budget(const struct wr_render_input *input)
{
    uint64_t left = wr_loop_budget(input->limit_tokens, input->output_tokens_max);
    left = minus(left, plus(input->system_tokens, input->directive_tokens));
    left = minus(left, input->tool_tokens);
    return input->history_tokens_max ? least(left, input->history_tokens_max) : left;
}

uint32_t wr_actor_message_limit(uint64_t input_tokens_max)
{
    return (uint32_t)clamp(input_tokens_max / 200 * 2, 100, 2000);
}

uint64_t wr_guarded_mid_trigger(uint64_t window_tokens)
{
    if (!window_tokens)
        window_tokens = WR_FALLBACK_GUARDED_MID_TOKENS;
    return wr_share_tokens(window_tokens, window_tokens < 200000 ? 8000 : 8500);
}

uint32_t wr_tiered_keep_recent(uint64_t window_tokens)
{
    return window_tokens && window_tokens < 100000 ? 3 : 6;
}

/* ---- the limits of a run ---- */

bool wr_compress_due(const struct wr_compress_input *input)
{
    uint64_t total =
        plus(plus(input->system_tokens, input->content_tokens), input->argument_tokens);
    uint64_t window = input->window_tokens ? input->window_tokens : UINT64_MAX;
    uint64_t limit = least(window, input->run_tokens_remaining);
    uint32_t threshold_bp = input->threshold_bp ? input->threshold_bp : WR_COMPRESS_THRESHOLD_BP;

    /* Whole tokens: more than the share exactly when more than the share rounded down. */
    return total > wr_share_tokens(limit, threshold_bp);
}

struct wr_run_limits wr_run_limits_default(void)
{
    return (struct wr_run_limits){
        .tokens_max = 1000000,
        .turns_max = 200,
        .tool_calls_max = 200,
        .cost_micro_usd_max = 2000000,
        .elapsed_ms_max = 30 * 60 * 1000,
    };
}

static bool reached(uint64_t used, uint64_t most)
{
    return most && used >= most;
}

static enum wr_run_limit find_limit(const struct wr_run_limits *limits,
                                    const struct wr_run_used *used)
{
    if (reached(used->tokens, limits->tokens_max))
        return WR_RUN_LIMIT_TOKENS;
    if (reached(used->turns, limits->turns_max))
        return WR_RUN_LIMIT_TURNS;
    if (reached(used->tool_calls, limits->tool_calls_max))
        return WR_RUN_LIMIT_TOOL_CALLS;
    if (reached(used->cost_micro_usd, limits->cost_micro_usd_max))
        return WR_RUN_LIMIT_COST;
    if (reached(used->elapsed_ms, limits->elapsed_ms_max))
        return WR_RUN_LIMIT_TIME;
    return WR_RUN_LIMIT_NONE;
}

struct wr_run_verdict wr_run_check(const struct wr_run_limits *limits,
                                   const struct wr_run_used *used,
                                   const struct wr_compress_input *prompt)
{
    struct wr_compress_input input = *prompt;
    struct wr_run_verdict verdict = {0};

    input.run_tokens_remaining = UINT64_MAX;
    if (limits->tokens_max)
        input.run_tokens_remaining = minus(limits->tokens_max, used->tokens);
    verdict.compress = wr_compress_due(&input);
    verdict.limit = find_limit(limits, used);
    verdict.aborted = verdict.limit != WR_RUN_LIMIT_NONE;
    return verdict;
}

const char *wr_run_limit_text(enum wr_run_limit limit)
{
    static const char *const texts[] = {"none", "tokens", "turns", "tool_calls", "cost", "time"};
    return texts[limit];
}
