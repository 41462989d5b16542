/* workload.h -- made-up sessions in token counts, run as DuckAgent's offline simulator runs them.
 *
 * A workload is a list of loops: what the user says, which calls are made, how many tokens each
 * result takes whole, as an excerpt, as a summary and as a handle, and how likely a later turn
 * needs what kind of it. No text is there, so no engine runs: the policies here are that
 * simulator's own, and what comes out can be compared with what it publishes (docs/benchmark.md).
 *
 * 1. Everything is expectation: a need that is not met costs its probability times a recovery.
 * 2. A request is read from cache as far as it equals the one before it: from the minimum on, in
 *    steps. After any change of older content that is the stable prefix alone.
 * 3. A price file may set `context_threshold_ratio` and `context_target_ratio` in "simulation";
 *    without them the threshold is `context_threshold_tokens`.
 */
#ifndef WR_LAB_WORKLOAD_H
#define WR_LAB_WORKLOAD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

enum { WR_WORKLOAD_PRICES_MAX = 16, WR_WORKLOAD_POLICIES_MAX = 16 };

enum wr_workload_need {
    WR_NEED_NONE,
    WR_NEED_CONCLUSION, /* what the answer said, which always stays */
    WR_NEED_HANDLE,     /* to go on with a process */
    WR_NEED_DETAIL,
    WR_NEED_EXACT,
    WR_NEED_RAW,
    WR_NEEDS
};

struct wr_workload_call {
    uint64_t purpose_tokens, args_tokens;
    uint64_t raw_tokens, excerpt_tokens, summary_tokens, handle_tokens; /* of its result */
    uint64_t recovery_tokens[WR_NEEDS];
    bool is_read, is_process, is_working, is_reference;
};

struct wr_workload_event { /* a loop needs something of an earlier one */
    uint64_t loops_back;   /* 1: the loop before */
    enum wr_workload_need need;
    double probability;
    uint64_t recovery_tokens; /* UINT64_MAX: what the calls say */
};

struct wr_workload_loop {
    uint64_t user_tokens, answer_tokens;
    struct wr_workload_call *calls;
    uint32_t calls_count;
    struct wr_workload_event *events;
    uint32_t events_count;
    double later[WR_NEEDS], own[WR_NEEDS]; /* what later turns and its own answer need; sum 1 */
};

struct wr_workload {
    weir_span name;
    struct wr_workload_loop *loops;
    uint32_t loops_count;
};

struct wr_workload_file {
    struct wr_workload *workloads;
    uint32_t count;
};

struct wr_workload_prices {
    weir_span name;
    double input_usd, cached_usd, output_usd; /* a million tokens */
    uint64_t cache_min_tokens, cache_step_tokens;
    uint64_t context_tokens, input_tokens, output_tokens; /* limits; 0: not said */
    uint64_t system_tokens, tool_schema_tokens, memory_catalog_tokens;
    uint64_t loop_compaction_overhead_tokens, snapshot_overhead_tokens;
    uint64_t context_threshold_tokens, keep_recent_loops;
    uint64_t compaction_output_tokens, recovery_overhead_tokens;
    double failure_usd;
    double threshold_ratio, target_ratio; /* of the prompt limit; 0: not said */
};

struct wr_workload_result {
    const char *policy;
    uint64_t requests, turns, turns_completed;
    uint64_t input_tokens, cached_tokens, output_tokens, prompt_tokens_max;
    uint64_t raw_tokens, shown_tokens; /* of results */
    uint64_t compactions, compaction_input_tokens, compaction_output_tokens;
    uint64_t over_limit;
    double recovery_tokens, recovery_calls, failures; /* expected */
    double request_usd, recovery_usd, compaction_usd, penalty_usd;
};

/* Texts are borrowed from `text`, the rest is in `arena`. WEIR_SYNTAX, WEIR_INVALID (a number that
 * is missing, no number or impossible, with its byte), WEIR_LIMIT, WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_workload_read(struct wr_workload_file *file, struct wr_arena *arena,
                                           weir_span text, struct weir_err *err);
WEIR_MUST_USE weir_status wr_workload_prices_read(struct wr_workload_prices *prices,
                                                  struct wr_arena *arena, weir_span text,
                                                  struct weir_err *err);

uint32_t wr_workload_policies_count(void);
const char *wr_workload_policy_name(uint32_t policy);

/* One workload under one policy; NOMEM only. `arena` holds what it needs meanwhile. */
WEIR_MUST_USE weir_status wr_workload_run(const struct wr_workload *workload, uint32_t policy,
                                          const struct wr_workload_prices *prices,
                                          struct wr_arena *arena,
                                          struct wr_workload_result *result);

void wr_workload_result_add(struct wr_workload_result *sum,
                            const struct wr_workload_result *result);
double wr_workload_usd(const struct wr_workload_result *result);

/* Every policy on all workloads under each price file: a table, or JSON. */
WEIR_MUST_USE weir_status wr_workload_report(const struct wr_workload_file *file,
                                             const struct wr_workload_prices *prices,
                                             uint32_t prices_count, bool as_json,
                                             struct wr_buf *out);

#endif
