#include "policy/run_limits.h"

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
        input.run_tokens_remaining =
            used->tokens < limits->tokens_max ? limits->tokens_max - used->tokens : 0;
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
