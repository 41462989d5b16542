/* The report of the strict replay: rows of executed cases, the lines computed from them, and both
 * as text for people and as JSON for programs. A line's name, threshold and place are one row of
 * WR_STRICT_LINE_MAP, so that none can be printed that is not judged.
 *
 * Shares are rounded down, so that 100 is all of it, and times up. */
#include "lab/strict.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

static const struct {
    const char *name;
    enum wr_strict_threshold kind;
    int64_t limit;
} lines[] = {
#define X(name, kind, limit) {#name, WR_STRICT_##kind, limit},
    WR_STRICT_LINE_MAP(X)
#undef X
};

/* A reduction that is one worth having, in percent. */
enum { REDUCTION_MIN = 20 };

void wr_strict_report_init(struct wr_strict_report *report, const char *policy)
{
    *report = (struct wr_strict_report){.policy = policy};
    wr_arena_init(&report->arena, WR_ARENA_BYTES_MAX);
}

void wr_strict_report_release(struct wr_strict_report *report)
{
    wr_arena_release(&report->arena);
}

static struct wr_strict_row *add_row(struct wr_strict_report *r)
{
    if (!WR_ARENA_ROOM(&r->arena, r->rows, r->rows_count, r->rows_cap, 32))
        return NULL;
    return &r->rows[r->rows_count];
}

weir_status wr_strict_report_add(struct wr_strict_report *report, struct wr_strict_runner *runner,
                                 const struct wr_cases *cases, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < cases->count && !status; i++) {
        const struct wr_case *c = &cases->items[i];
        struct wr_strict_row *row = add_row(report);
        if (!row)
            return wr_arena_status(&report->arena);
        *row = (struct wr_strict_row){.id = wr_arena_copy(&report->arena, c->id),
                                      .window_tokens = c->window_tokens};
        if (!row->id.ptr)
            return wr_arena_status(&report->arena);
        status = wr_strict_run(runner, c, &report->arena, &row->result, err);
        report->rows_count += !status;
    }
    return status;
}

/* ---- arithmetic ---- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of an even count the mean of the two in the middle. Sorts `numbers`. */
static int64_t median(int64_t *numbers, uint32_t count)
{
    if (!count)
        return 0;
    qsort(numbers, count, sizeof(*numbers), by_number);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* Rounded down, so that 100 is all of it. */
static int64_t percent(uint64_t part, uint64_t whole)
{
    return whole ? (int64_t)(part * 100 / whole) : 100;
}

/* By how much `after` is less; below zero where it is more. */
static int64_t reduction(uint64_t before, uint64_t after)
{
    if (!before)
        return 0;
    return ((int64_t)before - (int64_t)after) * 100 / (int64_t)before;
}

/* ---- the lines ---- */

struct sums {
    uint64_t successes[WR_STRICT_WAYS];
    uint64_t continuations, continuations_kept, links_kept, later, fallbacks;
    uint64_t signals, signals_kept, unresolved, corrupted, recoveries;
    uint32_t times_count;
};

static struct sums add_up(const struct wr_strict_report *r)
{
    struct sums s = {.times_count = 0};
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_figures *ways = r->rows[i].result.ways;
        const struct wr_strict_figures *f = &ways[WR_STRICT_OPTIMIZED];
        for (int way = 0; way < WR_STRICT_WAYS; way++)
            s.successes[way] += ways[way].is_success;
        s.continuations += f->continuations;
        s.continuations_kept += f->continuations_kept;
        s.links_kept += f->links_kept;
        s.later += f->later;
        s.fallbacks += f->fallbacks;
        s.signals += f->signals;
        s.signals_kept += f->signals_kept;
        s.unresolved += f->unresolved_refs;
        s.corrupted += f->corrupted;
        s.recoveries += f->recoveries;
        s.times_count += f->times_count;
    }
    return s;
}

static void count_integrity(struct wr_strict_report *r, const struct sums *s)
{
    int64_t *values = r->lines;
    uint64_t cases = r->rows_count;
    int64_t exact = (int64_t)s->successes[WR_STRICT_EXACT];
    int64_t optimized = (int64_t)s->successes[WR_STRICT_OPTIMIZED];

    values[WR_STRICT_exact_success_rate_percent] = percent(s->successes[WR_STRICT_EXACT], cases);
    values[WR_STRICT_current_success_rate_percent] =
        percent(s->successes[WR_STRICT_CURRENT], cases);
    values[WR_STRICT_optimized_success_rate_percent] =
        percent(s->successes[WR_STRICT_OPTIMIZED], cases);
    values[WR_STRICT_success_regression_basis_points] =
        cases ? (exact - optimized) * 10000 / (int64_t)cases : 0;
    values[WR_STRICT_optimized_missing_context_recovery_turns] = (int64_t)s->recoveries;
    values[WR_STRICT_continuation_integrity_percent] =
        percent(s->continuations_kept, s->continuations);
    values[WR_STRICT_tool_call_integrity_percent] = percent(s->links_kept, s->continuations);
    values[WR_STRICT_critical_signal_recall_percent] = percent(s->signals_kept, s->signals);
    values[WR_STRICT_unresolved_mandatory_artifact_refs] = (int64_t)s->unresolved;
    values[WR_STRICT_corrupted_json_count] = (int64_t)s->corrupted;
    values[WR_STRICT_continuation_fallback_rate_percent] =
        s->later ? percent(s->fallbacks, s->later) : 0;
}

/* The eligible sessions' numbers, one a session, in the arena. */
struct columns {
    int64_t *reduced, *reduced_current, *reduced_more, *totals[WR_STRICT_WAYS];
    uint32_t count, well_reduced;
};

static bool open_columns(struct columns *c, struct wr_strict_report *r)
{
    c->reduced = WR_ARENA_ARRAY(&r->arena, int64_t, r->rows_count);
    c->reduced_current = WR_ARENA_ARRAY(&r->arena, int64_t, r->rows_count);
    c->reduced_more = WR_ARENA_ARRAY(&r->arena, int64_t, r->rows_count);
    for (int way = 0; way < WR_STRICT_WAYS; way++)
        c->totals[way] = WR_ARENA_ARRAY(&r->arena, int64_t, r->rows_count);
    return !r->arena.status;
}

static void add_session(struct columns *c, const struct wr_strict_figures *ways)
{
    uint64_t exact = ways[WR_STRICT_EXACT].input_tokens;
    uint64_t current = ways[WR_STRICT_CURRENT].input_tokens;
    uint64_t optimized = ways[WR_STRICT_OPTIMIZED].input_tokens;

    c->reduced[c->count] = reduction(exact, optimized);
    c->reduced_current[c->count] = reduction(exact, current);
    c->reduced_more[c->count] = reduction(current, optimized);
    c->well_reduced += c->reduced[c->count] >= REDUCTION_MIN;
    for (int way = 0; way < WR_STRICT_WAYS; way++)
        c->totals[way][c->count] = (int64_t)(ways[way].input_tokens + ways[way].output_tokens);
    c->count++;
}

static weir_status count_tokens(struct wr_strict_report *r)
{
    struct columns c = {.count = 0};
    int64_t *values = r->lines;

    if (!open_columns(&c, r))
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < r->rows_count; i++)
        if (r->rows[i].result.is_eligible)
            add_session(&c, r->rows[i].result.ways);
    values[WR_STRICT_eligible_long_sessions] = c.count;
    values[WR_STRICT_current_comparison_sessions] = c.count;
    values[WR_STRICT_median_input_token_reduction_percent_vs_exact] = median(c.reduced, c.count);
    values[WR_STRICT_current_median_input_token_reduction_percent_vs_exact] =
        median(c.reduced_current, c.count);
    values[WR_STRICT_median_additional_input_token_reduction_percent_vs_current] =
        median(c.reduced_more, c.count);
    values[WR_STRICT_long_sessions_with_at_least_20_percent_reduction_percent] =
        c.count ? percent(c.well_reduced, c.count) : 0;
    values[WR_STRICT_exact_median_total_tokens_until_completion] =
        median(c.totals[WR_STRICT_EXACT], c.count);
    values[WR_STRICT_current_median_total_tokens_until_completion] =
        median(c.totals[WR_STRICT_CURRENT], c.count);
    values[WR_STRICT_optimized_median_total_tokens_until_completion] =
        median(c.totals[WR_STRICT_OPTIMIZED], c.count);
    return WEIR_OK;
}

/* Rounded up to whole milliseconds. */
static weir_status find_p95(struct wr_strict_report *r, uint32_t times_count)
{
    int64_t *times = WR_ARENA_ARRAY(&r->arena, int64_t, times_count);
    uint32_t count = 0;

    if (!times)
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_figures *f = &r->rows[i].result.ways[WR_STRICT_OPTIMIZED];
        for (uint32_t k = 0; k < f->times_count; k++)
            times[count++] = f->times_us[k];
    }
    qsort(times, count, sizeof(*times), by_number);
    if (count)
        r->lines[WR_STRICT_p95_rewrite_overhead_ms] =
            (times[(uint64_t)(count - 1) * 95 / 100] + 999) / 1000;
    return WEIR_OK;
}

/* ---- thresholds ---- */

static bool strict_is_law(enum wr_strict_line line)
{
    return lines[line].kind == WR_STRICT_LAW_MIN || lines[line].kind == WR_STRICT_LAW_MAX;
}

bool wr_strict_is_met(const struct wr_strict_report *report, enum wr_strict_line line)
{
    int64_t value = report->lines[line], limit = lines[line].limit;
    switch (lines[line].kind) {
    case WR_STRICT_NONE:
        break;
    case WR_STRICT_LAW_MIN:
    case WR_STRICT_GOAL_MIN:
        return value >= limit;
    case WR_STRICT_LAW_MAX:
    case WR_STRICT_GOAL_MAX:
        return value <= limit;
    }
    return true;
}

static bool is_complete(const struct wr_strict_report *r)
{
    return r->covered == (UINT32_C(1) << WR_COVERS) - 1;
}

weir_status wr_strict_report_finish(struct wr_strict_report *report)
{
    struct sums sums = add_up(report);
    count_integrity(report, &sums);
    weir_status status = count_tokens(report);
    if (!status)
        status = find_p95(report, sums.times_count);
    report->covered = 0;
    for (uint32_t i = 0; i < report->rows_count; i++)
        report->covered |= report->rows[i].result.covered;
    report->is_passed = is_complete(report);
    for (int line = 0; line < WR_STRICT_LINES; line++)
        report->is_passed &= wr_strict_is_met(report, (enum wr_strict_line)line);
    return status;
}

/* ---- the report as text and as JSON ---- */

static const char *const way_names[] = {"exact", "current", "optimized"};

/* ---- text ---- */

static void write_table(const struct wr_strict_report *r, struct wr_buf *out)
{
    wr_buf_printf(out, "%-40s %7s %8s %9s %9s %9s %5s %7s\n", "case", "window", "requests", "exact",
                  "current", "optimized", "less", "recalls");
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_row *row = &r->rows[i];
        const struct wr_strict_figures *w = row->result.ways;
        wr_buf_printf(out, "%-40.*s %7u %8llu %9llu %9llu %9llu %4lld%% %7llu%s\n",
                      (int)row->id.len, row->id.ptr, row->window_tokens,
                      (unsigned long long)w[WR_STRICT_OPTIMIZED].requests,
                      (unsigned long long)w[WR_STRICT_EXACT].input_tokens,
                      (unsigned long long)w[WR_STRICT_CURRENT].input_tokens,
                      (unsigned long long)w[WR_STRICT_OPTIMIZED].input_tokens,
                      (long long)reduction(w[WR_STRICT_EXACT].input_tokens,
                                           w[WR_STRICT_OPTIMIZED].input_tokens),
                      (unsigned long long)w[WR_STRICT_OPTIMIZED].recoveries,
                      row->result.is_eligible ? "" : "  (short)");
    }
    wr_buf_text(out, "\n");
}

static void write_failures(const struct wr_strict_report *r, struct wr_buf *out)
{
    size_t begin = out->len;
    for (uint32_t i = 0; i < r->rows_count; i++)
        for (int way = 0; way < WR_STRICT_WAYS; way++) {
            const struct wr_strict_figures *f = &r->rows[i].result.ways[way];
            if (!f->is_success)
                wr_buf_printf(out, "failed: %.*s, turn %u, %s: %s\n", (int)r->rows[i].id.len,
                              r->rows[i].id.ptr, f->failed_turn, way_names[way], f->failure);
        }
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        enum wr_strict_line line = (enum wr_strict_line)i;
        bool is_min = lines[i].kind == WR_STRICT_LAW_MIN || lines[i].kind == WR_STRICT_GOAL_MIN;
        if (!wr_strict_is_met(r, line))
            wr_buf_printf(out, "%s: %s is %lld, %s %lld\n",
                          strict_is_law(line) ? "broken" : "goal missed", lines[i].name,
                          (long long)r->lines[i], is_min ? "at least" : "at most",
                          (long long)lines[i].limit);
    }
    if (out->len > begin)
        wr_buf_text(out, "\n");
}

static void write_coverage(const struct wr_strict_report *r, struct wr_buf *out)
{
    wr_buf_text(out, "required_replay_coverage:");
    if (is_complete(r))
        wr_buf_text(out, " complete");
    else
        wr_buf_text(out, " missing");
    for (int i = 0; i < WR_COVERS; i++)
        if (!(r->covered & UINT32_C(1) << i))
            wr_buf_printf(out, " %s", wr_cover_text((enum wr_cover)i));
    wr_buf_text(out, "\n");
}

void wr_strict_report_text(const struct wr_strict_report *report, struct wr_buf *out)
{
    wr_buf_printf(out, "policy %s, %u cases; input tokens of all requests, recalls included\n",
                  report->policy, report->rows_count);
    write_table(report, out);
    write_failures(report, out);
    for (int i = 0; i < WR_STRICT_LINES; i++)
        wr_buf_printf(out, "%s: %lld\n", lines[i].name, (long long)report->lines[i]);
    write_coverage(report, out);
    wr_buf_printf(out, "passed: %s\n", report->is_passed ? "true" : "false");
}

/* ---- JSON ---- */

static void write_thresholds(struct wr_json_writer *w, const struct wr_strict_report *r)
{
    wr_json_member_array(w, "thresholds");
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        enum wr_strict_line line = (enum wr_strict_line)i;
        bool is_min = lines[i].kind == WR_STRICT_LAW_MIN || lines[i].kind == WR_STRICT_GOAL_MIN;
        if (lines[i].kind == WR_STRICT_NONE)
            continue;
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_word(w, "line", lines[i].name);
        wr_json_member_i64(w, is_min ? "min" : "max", lines[i].limit);
        wr_json_member_text(w, "kind", strict_is_law(line) ? WR_LIT("law") : WR_LIT("goal"));
        wr_json_member_bool(w, "met", wr_strict_is_met(r, line));
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static void write_way(struct wr_json_writer *w, const char *name, const struct wr_strict_figures *f)
{
    wr_json_member_object(w, name);
    wr_json_member_bool(w, "success", f->is_success);
    wr_json_member_number(w, "requests", f->requests);
    wr_json_member_number(w, "changed_requests", f->changed);
    wr_json_member_number(w, "input_tokens", f->input_tokens);
    wr_json_member_number(w, "total_tokens_until_completion", f->input_tokens + f->output_tokens);
    wr_json_member_number(w, "recovery_turns", f->recoveries);
    wr_json_member_number(w, "over_window", f->over_window);
    wr_json_member_number(w, "critical_signals", f->signals);
    wr_json_member_number(w, "critical_signals_kept", f->signals_kept);
    wr_json_member_number(w, "fallbacks", f->fallbacks);
    if (!f->is_success) {
        wr_json_member_number(w, "failed_turn", f->failed_turn);
        wr_json_member_word(w, "failure", f->failure);
    }
    wr_json_write_object_end(w);
}

static void write_sessions(struct wr_json_writer *w, const struct wr_strict_report *r)
{
    wr_json_member_array(w, "sessions");
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_row *row = &r->rows[i];
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_text(w, "id", row->id);
        wr_json_member_number(w, "context_window_tokens", row->window_tokens);
        wr_json_member_bool(w, "eligible", row->result.is_eligible);
        for (int way = 0; way < WR_STRICT_WAYS; way++)
            write_way(w, way_names[way], &row->result.ways[way]);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

void wr_strict_report_json(const struct wr_strict_report *report, struct wr_buf *out)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "policy", report->policy);
    wr_json_member_number(&w, "cases", report->rows_count);
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        wr_json_write_newline(&w);
        wr_json_member_i64(&w, lines[i].name, report->lines[i]);
    }
    wr_json_write_newline(&w);
    wr_json_member_text(&w, "required_replay_coverage",
                        is_complete(report) ? WR_LIT("complete") : WR_LIT("missing"));
    wr_json_member_array(&w, "missing_coverage");
    for (int i = 0; i < WR_COVERS; i++)
        if (!(report->covered & UINT32_C(1) << i))
            wr_json_write_text(&w, wr_span_of(wr_cover_text((enum wr_cover)i)));
    wr_json_write_array_end(&w);
    wr_json_member_bool(&w, "passed", report->is_passed);
    wr_json_write_newline(&w);
    write_thresholds(&w, report);
    wr_json_write_newline(&w);
    write_sessions(&w, report);
    wr_json_write_object_end(&w);
}
