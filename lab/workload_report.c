/* Every policy on every workload, summed for each price file, the cheapest first: as a table, or
 * as JSON. Failures and recoveries are expectations, so counts of them have fractions. */
#include "lab/workload.h"

#include <string.h>

#include "base/limits.h"
#include "json/write.h"

double wr_workload_usd(const struct wr_workload_result *r)
{
    return r->request_usd + r->recovery_usd + r->compaction_usd + r->penalty_usd;
}

void wr_workload_result_add(struct wr_workload_result *sum, const struct wr_workload_result *r)
{
    sum->policy = r->policy;
    sum->requests += r->requests;
    sum->turns += r->turns;
    sum->turns_completed += r->turns_completed;
    sum->input_tokens += r->input_tokens;
    sum->cached_tokens += r->cached_tokens;
    sum->output_tokens += r->output_tokens;
    if (r->prompt_tokens_max > sum->prompt_tokens_max)
        sum->prompt_tokens_max = r->prompt_tokens_max;
    sum->raw_tokens += r->raw_tokens;
    sum->shown_tokens += r->shown_tokens;
    sum->compactions += r->compactions;
    sum->compaction_input_tokens += r->compaction_input_tokens;
    sum->compaction_output_tokens += r->compaction_output_tokens;
    sum->over_limit += r->over_limit;
    sum->recovery_tokens += r->recovery_tokens;
    sum->recovery_calls += r->recovery_calls;
    sum->failures += r->failures;
    sum->request_usd += r->request_usd;
    sum->recovery_usd += r->recovery_usd;
    sum->compaction_usd += r->compaction_usd;
    sum->penalty_usd += r->penalty_usd;
}

/* All workloads under every policy; a scratch arena is emptied after each. */
static weir_status run_all(const struct wr_workload_file *file,
                           const struct wr_workload_prices *prices, struct wr_workload_result *sums)
{
    struct wr_arena scratch;
    weir_status status = WEIR_OK;
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    for (uint32_t k = 0; k < wr_workload_policies_count(); k++)
        sums[k] = (struct wr_workload_result){.policy = wr_workload_policy_name(k)};
    for (uint32_t i = 0; i < file->count && !status; i++)
        for (uint32_t k = 0; k < wr_workload_policies_count() && !status; k++) {
            struct wr_workload_result result;
            wr_arena_reset(&scratch);
            status = wr_workload_run(&file->workloads[i], k, prices, &scratch, &result);
            if (!status)
                wr_workload_result_add(&sums[k], &result);
        }
    wr_arena_release(&scratch);
    return status;
}

static void sort(struct wr_workload_result *sums)
{
    for (uint32_t i = 1; i < wr_workload_policies_count(); i++) {
        struct wr_workload_result moved = sums[i];
        uint32_t at = i;
        for (; at > 0 && wr_workload_usd(&moved) < wr_workload_usd(&sums[at - 1]); at--)
            sums[at] = sums[at - 1];
        sums[at] = moved;
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* A name as it may stand on a terminal. */
static void write_name(struct wr_buf *out, weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        wr_buf_byte(out,
                    (unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f ? ' ' : name.ptr[i]);
}

static void write_table(const struct wr_workload_prices *prices,
                        const struct wr_workload_result *sums, struct wr_buf *out)
{
    double raw = 0;
    for (uint32_t i = 0; i < wr_workload_policies_count(); i++)
        if (sums[i].policy == wr_workload_policy_name(0))
            raw = wr_workload_usd(&sums[i]);
    write_name(out, prices->name);
    wr_buf_printf(out, "\n%-22s %11s %7s %9s %7s %9s %8s %9s %8s %9s %9s %5s\n", "policy", "USD",
                  "of raw", "requests", "cached", "largest", "recovers", "tokens", "compacts",
                  "saved", "turns", "over");
    for (uint32_t i = 0; i < wr_workload_policies_count(); i++) {
        const struct wr_workload_result *r = &sums[i];
        wr_buf_printf(out,
                      "%-22s %11.6f %6.1f%% %9llu %6.1f%% %9llu %8.2f %9.0f %8llu %9llu "
                      "%4llu/%-4llu %5llu\n",
                      r->policy, wr_workload_usd(r), raw > 0 ? 100 * wr_workload_usd(r) / raw : 0,
                      (unsigned long long)r->requests,
                      100 * share(r->cached_tokens, r->input_tokens),
                      (unsigned long long)r->prompt_tokens_max, r->recovery_calls,
                      r->recovery_tokens, (unsigned long long)r->compactions,
                      (unsigned long long)(r->raw_tokens - r->shown_tokens),
                      (unsigned long long)r->turns_completed, (unsigned long long)r->turns,
                      (unsigned long long)r->over_limit);
    }
    wr_buf_byte(out, '\n');
}

/* ---- JSON ---- */

static void write_result(struct wr_json_writer *w, const struct wr_workload_result *r)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_text(w, "policy", (weir_span){r->policy, strlen(r->policy)});
    wr_json_member_fixed(w, "cost_usd", wr_workload_usd(r), 6);
    wr_json_member_fixed(w, "request_usd", r->request_usd, 6);
    wr_json_member_fixed(w, "recovery_usd", r->recovery_usd, 6);
    wr_json_member_fixed(w, "compaction_usd", r->compaction_usd, 6);
    wr_json_member_fixed(w, "penalty_usd", r->penalty_usd, 6);
    wr_json_member_number(w, "requests", r->requests);
    wr_json_member_number(w, "turns", r->turns);
    wr_json_member_number(w, "turns_completed", r->turns_completed);
    wr_json_member_number(w, "input_tokens", r->input_tokens);
    wr_json_member_number(w, "cached_tokens", r->cached_tokens);
    wr_json_member_fixed(w, "cached_share", share(r->cached_tokens, r->input_tokens), 6);
    wr_json_member_number(w, "output_tokens", r->output_tokens);
    wr_json_member_number(w, "prompt_tokens_max", r->prompt_tokens_max);
    wr_json_member_number(w, "result_tokens_saved", r->raw_tokens - r->shown_tokens);
    wr_json_member_fixed(w, "recovery_tokens", r->recovery_tokens, 6);
    wr_json_member_fixed(w, "recovery_calls", r->recovery_calls, 6);
    wr_json_member_fixed(w, "failures", r->failures, 6);
    wr_json_member_number(w, "compactions", r->compactions);
    wr_json_member_number(w, "over_limit", r->over_limit);
    wr_json_write_object_end(w);
}

static void write_json(struct wr_json_writer *w, const struct wr_workload_prices *prices,
                       const struct wr_workload_result *sums)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_text(w, "prices", prices->name);
    wr_json_write_key(w, "policies");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < wr_workload_policies_count(); i++)
        write_result(w, &sums[i]);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

weir_status wr_workload_report(const struct wr_workload_file *file,
                               const struct wr_workload_prices *prices, uint32_t prices_count,
                               bool as_json, struct wr_buf *out)
{
    struct wr_workload_result sums[WR_WORKLOAD_POLICIES_MAX];
    struct wr_json_writer w;
    weir_status status = WEIR_OK;

    wr_json_write_init(&w, out);
    if (as_json) {
        wr_json_write_object(&w);
        wr_json_member_number(&w, "workloads", file->count);
        wr_json_write_key(&w, "profiles");
        wr_json_write_array(&w);
    }
    for (uint32_t i = 0; i < prices_count && !status; i++) {
        status = run_all(file, &prices[i], sums);
        if (status)
            break;
        sort(sums);
        if (as_json)
            write_json(&w, &prices[i], sums);
        else
            write_table(&prices[i], sums, out);
    }
    if (as_json) {
        wr_json_write_array_end(&w);
        wr_json_write_object_end(&w);
        wr_json_write_newline(&w);
    }
    return status ? status : wr_buf_status(out);
}
