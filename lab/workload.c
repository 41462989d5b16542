/* Workloads and price files, which are JSON of another project's form, checked number by number: a
 * count that is missing must not pass for a zero, which would make a policy look cheap. */
#include "lab/workload.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "models/fields.h"

/* A number of six decimals that fits: a price, a share, a penalty. */
enum { DECIMALS = 6, TOKENS_MAX = 1000 * 1000 * 1000 };

struct reader {
    struct wr_json doc;
    struct wr_arena *arena;
    struct weir_err *err;
};

struct field {
    const char *key;
    size_t offset;
    bool is_decimal, is_optional;
};

static weir_status refuse(struct reader *r, wr_json_id id, const char *key, const char *wants)
{
    size_t at = id == WR_JSON_NONE ? 0 : r->doc.nodes[id].start;
    return wr_fail(r->err, WEIR_INVALID, at, "\"%s\" should be %s", key, wants);
}

static bool read_decimal(const struct reader *r, wr_json_id id, double *number)
{
    uint32_t scaled;
    if (!wr_json_is(&r->doc, id, WR_JSON_NUMBER) ||
        !wr_decimal_scaled(wr_json_raw(&r->doc, id), DECIMALS, UINT32_MAX, &scaled))
        return false;
    *number = (double)scaled / 1e6;
    return true;
}

static bool read_tokens(const struct reader *r, wr_json_id id, uint64_t *tokens)
{
    int64_t number;
    if (!wr_json_is(&r->doc, id, WR_JSON_NUMBER) || !wr_json_i64(&r->doc, id, &number) ||
        number < 0 || number > TOKENS_MAX)
        return false;
    *tokens = (uint64_t)number;
    return true;
}

static weir_status read_fields(struct reader *r, wr_json_id object, const struct field *fields,
                               size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        wr_json_id id = wr_json_find(&r->doc, object, fields[i].key);
        void *at = (char *)into + fields[i].offset;
        if (id == WR_JSON_NONE && fields[i].is_optional)
            continue;
        if (fields[i].is_decimal && !read_decimal(r, id, at))
            return refuse(r, id, fields[i].key, "a number from 0 to 4294 with six decimals");
        if (!fields[i].is_decimal && !read_tokens(r, id, at))
            return refuse(r, id, fields[i].key, "a whole number from 0 to 1000000000");
    }
    return WEIR_OK;
}

/* ---- needs ---- */

static const char *const need_names[WR_NEEDS] = {
    [WR_NEED_NONE] = "none",           [WR_NEED_CONCLUSION] = "global_conclusion",
    [WR_NEED_DETAIL] = "local_detail", [WR_NEED_HANDLE] = "continuation_handle",
    [WR_NEED_RAW] = "raw_content",     [WR_NEED_EXACT] = "exact_evidence",
};

/* Shares of anything, made to sum up to 1; nothing at all is `none`. */
static weir_status read_needs(struct reader *r, wr_json_id loop, const char *key, double *needs)
{
    wr_json_id object = wr_json_find(&r->doc, loop, key);
    double sum = 0;
    for (int i = 0; i < WR_NEEDS; i++) {
        wr_json_id id = wr_json_find(&r->doc, object, need_names[i]);
        needs[i] = 0;
        if (id != WR_JSON_NONE && !read_decimal(r, id, &needs[i]))
            return refuse(r, id, need_names[i], "a probability");
        sum += needs[i];
    }
    if (sum <= 0)
        needs[WR_NEED_NONE] = sum = 1;
    for (int i = 0; i < WR_NEEDS; i++)
        needs[i] /= sum;
    return WEIR_OK;
}

static weir_status read_event(struct reader *r, wr_json_id object, struct wr_workload_event *event)
{
    static const struct field fields[] = {
        {"source_loop_offset", offsetof(struct wr_workload_event, loops_back), false, true},
        {"probability", offsetof(struct wr_workload_event, probability), true, true},
        {"recovery_tokens", offsetof(struct wr_workload_event, recovery_tokens), false, true}};
    weir_span need = wr_json_find_text(&r->doc, r->arena, object, "dependency");

    *event = (struct wr_workload_event){
        .loops_back = 1, .need = WR_NEEDS, .probability = 1, .recovery_tokens = UINT64_MAX};
    for (int i = 0; i < WR_NEEDS; i++)
        if (wr_span_is(need, need_names[i]))
            event->need = (enum wr_workload_need)i;
    if (event->need == WR_NEEDS)
        return refuse(r, object, "dependency", "a kind of dependency");
    weir_status status = read_fields(r, object, fields, WR_COUNT_OF(fields), event);
    if (!status && !event->loops_back)
        return refuse(r, object, "source_loop_offset", "1 or more");
    if (event->probability > 1)
        event->probability = 1;
    return status;
}

/* ---- loops ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a result's shorter forms take where the file does not say. */
static weir_status read_outputs(struct reader *r, wr_json_id outputs, struct wr_workload_call *call)
{
    static const struct {
        const char *key;
        size_t offset;
    } forms[] = {{"raw", offsetof(struct wr_workload_call, raw_tokens)},
                 {"summary", offsetof(struct wr_workload_call, summary_tokens)},
                 {"exact_excerpt", offsetof(struct wr_workload_call, excerpt_tokens)},
                 {"handle", offsetof(struct wr_workload_call, handle_tokens)}};
    for (size_t i = 0; i < WR_COUNT_OF(forms); i++) {
        wr_json_id id = wr_json_find(&r->doc, outputs, forms[i].key);
        if (id == WR_JSON_NONE)
            continue;
        if (!read_tokens(r, id, (uint64_t *)(void *)((char *)call + forms[i].offset)))
            return refuse(r, id, forms[i].key, "a whole number of tokens");
    }
    if (wr_json_find(&r->doc, outputs, "summary") == WR_JSON_NONE)
        call->summary_tokens = least(call->raw_tokens, 256);
    if (wr_json_find(&r->doc, outputs, "exact_excerpt") == WR_JSON_NONE)
        call->excerpt_tokens = call->summary_tokens;
    if (wr_json_find(&r->doc, outputs, "handle") == WR_JSON_NONE)
        call->handle_tokens = least(call->summary_tokens, 96);
    return WEIR_OK;
}

static weir_status read_call(struct reader *r, wr_json_id object, struct wr_workload_call *call)
{
    static const struct field fields[] = {
        {"purpose_tokens", offsetof(struct wr_workload_call, purpose_tokens), false, false},
        {"args_tokens", offsetof(struct wr_workload_call, args_tokens), false, false}};
    weir_span capability = wr_json_find_text(&r->doc, r->arena, object, "capability"),
              kept = wr_json_find_text(&r->doc, r->arena, object, "preserve");
    wr_json_id recovery = wr_json_find(&r->doc, object, "recovery_tokens");

    *call = (struct wr_workload_call){.is_read = wr_span_is(capability, "read_file"),
                                      .is_process = wr_span_starts(capability, WR_LIT("process_")),
                                      .is_working = wr_span_is(kept, "working_evidence"),
                                      .is_reference = wr_span_is(kept, "reference")};
    weir_status status = read_fields(r, object, fields, WR_COUNT_OF(fields), call);
    if (!status)
        status = read_outputs(r, wr_json_find(&r->doc, object, "outputs"), call);
    for (int i = 0; i < WR_NEEDS && !status; i++) {
        wr_json_id id = wr_json_find(&r->doc, recovery, need_names[i]);
        if (id != WR_JSON_NONE && !read_tokens(r, id, &call->recovery_tokens[i]))
            status = refuse(r, id, need_names[i], "a whole number of tokens");
    }
    return status;
}

static weir_status read_calls(struct reader *r, wr_json_id object, struct wr_workload_loop *loop)
{
    wr_json_id list = wr_json_find(&r->doc, object, "tool_calls");
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    loop->calls = WR_ARENA_ARRAY(r->arena, struct wr_workload_call, wr_json_count(&r->doc, list));
    if (!loop->calls)
        return wr_arena_status(r->arena);
    for (wr_json_id id = wr_json_first(&r->doc, list); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, list, id))
        status = read_call(r, id, &loop->calls[loop->calls_count++]);
    return status;
}

static weir_status read_events(struct reader *r, wr_json_id object, struct wr_workload_loop *loop)
{
    wr_json_id list = wr_json_find(&r->doc, object, "raw_dependency_events");
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    loop->events = WR_ARENA_ARRAY(r->arena, struct wr_workload_event, wr_json_count(&r->doc, list));
    if (!loop->events)
        return wr_arena_status(r->arena);
    for (wr_json_id id = wr_json_first(&r->doc, list); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, list, id))
        status = read_event(r, id, &loop->events[loop->events_count++]);
    return status;
}

static weir_status read_loop(struct reader *r, wr_json_id object, struct wr_workload_loop *loop)
{
    static const struct field fields[] = {
        {"user_tokens", offsetof(struct wr_workload_loop, user_tokens), false, false},
        {"assistant_final_tokens", offsetof(struct wr_workload_loop, answer_tokens), false, false}};
    weir_status status = read_fields(r, object, fields, WR_COUNT_OF(fields), loop);
    if (!status)
        status = read_needs(r, object, "dependency_probabilities", loop->later);
    if (!status)
        status = read_needs(r, object, "final_dependency_probabilities", loop->own);
    if (!status)
        status = read_calls(r, object, loop);
    return status ? status : read_events(r, object, loop);
}

static weir_status read_workload(struct reader *r, wr_json_id object, struct wr_workload *workload)
{
    wr_json_id list = wr_json_find(&r->doc, object, "loops");
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, list, WR_JSON_ARRAY))
        return refuse(r, object, "loops", "a list");
    workload->name = wr_json_find_text(&r->doc, r->arena, object, "name");
    workload->loops =
        WR_ARENA_ARRAY(r->arena, struct wr_workload_loop, wr_json_count(&r->doc, list));
    if (!workload->loops)
        return wr_arena_status(r->arena);
    for (wr_json_id id = wr_json_first(&r->doc, list); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, list, id))
        status = read_loop(r, id, &workload->loops[workload->loops_count++]);
    return status;
}

weir_status wr_workload_read(struct wr_workload_file *file, struct wr_arena *arena, weir_span text,
                             struct weir_err *err)
{
    struct reader r = {.arena = arena, .err = err};
    *file = (struct wr_workload_file){0};
    weir_status status = wr_json_parse(&r.doc, arena, text, NULL, err);
    if (status)
        return status;
    wr_json_id list = wr_json_find(&r.doc, 0, "workloads");
    if (!wr_json_is(&r.doc, list, WR_JSON_ARRAY) || !wr_json_count(&r.doc, list))
        return refuse(&r, list, "workloads", "a list with something in it");
    file->workloads = WR_ARENA_ARRAY(arena, struct wr_workload, wr_json_count(&r.doc, list));
    if (!file->workloads)
        return wr_arena_status(arena);
    for (wr_json_id id = wr_json_first(&r.doc, list); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r.doc, list, id))
        status = read_workload(&r, id, &file->workloads[file->count++]);
    return status;
}

/* ---- prices ---- */

#define AT(member) offsetof(struct wr_workload_prices, member)

static const struct field price_fields[] = {
    {"input_per_million", AT(input_usd), true, false},
    {"cached_input_per_million", AT(cached_usd), true, false},
    {"output_per_million", AT(output_usd), true, false}};
static const struct field cache_fields[] = {{"min_tokens", AT(cache_min_tokens), false, false},
                                            {"step_tokens", AT(cache_step_tokens), false, false}};
static const struct field limit_fields[] = {{"context_tokens", AT(context_tokens), false, true},
                                            {"input_tokens", AT(input_tokens), false, true},
                                            {"output_tokens", AT(output_tokens), false, true}};
static const struct field simulation_fields[] = {
    {"system_tokens", AT(system_tokens), false, false},
    {"tool_schema_tokens", AT(tool_schema_tokens), false, false},
    {"memory_catalog_tokens", AT(memory_catalog_tokens), false, false},
    {"loop_compaction_overhead_tokens", AT(loop_compaction_overhead_tokens), false, false},
    {"snapshot_overhead_tokens", AT(snapshot_overhead_tokens), false, false},
    {"context_threshold_tokens", AT(context_threshold_tokens), false, false},
    {"keep_recent_loops_on_snapshot", AT(keep_recent_loops), false, false},
    {"compaction_output_tokens_per_loop", AT(compaction_output_tokens), false, false},
    {"recovery_model_overhead_tokens", AT(recovery_overhead_tokens), false, false},
    {"failure_penalty_cost", AT(failure_usd), true, false},
    {"context_threshold_ratio", AT(threshold_ratio), true, true},
    {"context_target_ratio", AT(target_ratio), true, true}};

static const struct {
    const char *key;
    const struct field *fields;
    size_t count;
} price_parts[] = {{"pricing", price_fields, WR_COUNT_OF(price_fields)},
                   {"cache", cache_fields, WR_COUNT_OF(cache_fields)},
                   {"limits", limit_fields, WR_COUNT_OF(limit_fields)},
                   {"simulation", simulation_fields, WR_COUNT_OF(simulation_fields)}};

weir_status wr_workload_prices_read(struct wr_workload_prices *prices, struct wr_arena *arena,
                                    weir_span text, struct weir_err *err)
{
    struct reader r = {.arena = arena, .err = err};
    *prices = (struct wr_workload_prices){0};
    weir_status status = wr_json_parse(&r.doc, arena, text, NULL, err);
    for (size_t i = 0; i < WR_COUNT_OF(price_parts) && !status; i++)
        status = read_fields(&r, wr_json_find(&r.doc, 0, price_parts[i].key), price_parts[i].fields,
                             price_parts[i].count, prices);
    if (status)
        return status;
    prices->name = wr_json_find_text(&r.doc, r.arena, wr_json_find(&r.doc, 0, "metadata"), "name");
    if (!prices->cache_step_tokens)
        return refuse(&r, WR_JSON_NONE, "step_tokens", "1 or more");
    if (prices->cached_usd > prices->input_usd)
        return refuse(&r, WR_JSON_NONE, "cached_input_per_million",
                      "no more than input_per_million");
    if (prices->threshold_ratio > 1 || prices->target_ratio > 1)
        return refuse(&r, WR_JSON_NONE, "context_threshold_ratio", "no more than 1");
    return WEIR_OK;
}

/* ---- workload report ----
 *
 * Every policy on every workload, summed for each price file, the cheapest first: as a table, or
 * as JSON. Failures and recoveries are expectations, so counts of them have fractions.
 */

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
    wr_json_member_array(w, "policies");
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
        wr_json_member_array(&w, "profiles");
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
