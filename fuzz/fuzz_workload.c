/* Workloads in token counts: whatever file is read, its runs are sums that can be.
 *
 * An input is a workload; where it holds a form feed, prices follow it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "lab/workload.h"

enum { ARENA_BYTES_MAX = 64 * 1024 * 1024, LOOPS_MAX = 200, CALLS_MAX = 200 };

static const char usual_prices[] =
    "{\"pricing\":{\"input_per_million\":2.5,\"cached_input_per_million\":0.25,"
    "\"output_per_million\":15},\"cache\":{\"min_tokens\":1024,\"step_tokens\":128},"
    "\"limits\":{\"context_tokens\":30000},\"simulation\":{\"system_tokens\":1800,"
    "\"tool_schema_tokens\":2400,\"memory_catalog_tokens\":420,"
    "\"loop_compaction_overhead_tokens\":96,\"snapshot_overhead_tokens\":256,"
    "\"context_threshold_tokens\":14000,\"keep_recent_loops_on_snapshot\":1,"
    "\"compaction_output_tokens_per_loop\":180,\"recovery_model_overhead_tokens\":1400,"
    "\"failure_penalty_cost\":0.02}}";

static bool is_small(const struct wr_workload *w)
{
    for (uint32_t i = 0; i < w->loops_count; i++)
        if (w->loops[i].calls_count > CALLS_MAX)
            return false;
    return w->loops_count <= LOOPS_MAX;
}

static void check(const struct wr_workload *w, const struct wr_workload_result *r)
{
    double usd = wr_workload_usd(r);
    if (!isfinite(usd) || usd < 0 || r->cached_tokens > r->input_tokens ||
        r->shown_tokens > r->raw_tokens || r->turns_completed > r->turns ||
        r->turns > w->loops_count || r->turns_completed + (r->over_limit > 0) < r->turns ||
        r->recovery_calls < 0 || r->failures < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_span text = {(const char *)data, size}, prices_text = wr_span_of(usual_prices);
    const char *cut = size ? memchr(data, '\f', size) : NULL;
    struct wr_workload_file file;
    struct wr_workload_prices prices;
    struct wr_arena arena;

    if (cut) {
        size_t at = (size_t)(cut - text.ptr);
        prices_text = wr_span_cut(text, at + 1, size);
        text = wr_span_cut(text, 0, at);
    }
    wr_arena_init(&arena, ARENA_BYTES_MAX);
    if (!wr_workload_prices_read(&prices, &arena, prices_text, NULL) &&
        !wr_workload_read(&file, &arena, text, NULL))
        for (uint32_t i = 0; i < file.count && is_small(&file.workloads[i]); i++)
            for (uint32_t k = 0; k < wr_workload_policies_count(); k++) {
                struct wr_workload_result result;
                if (!wr_workload_run(&file.workloads[i], k, &prices, &arena, &result))
                    check(&file.workloads[i], &result);
            }
    wr_arena_release(&arena);
    return 0;
}
