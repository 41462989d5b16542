#include "replay/strict.h"

#include <stdlib.h>

#include "base/limits.h"
#include "replay/strict_coverage.h"

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
    if (r->rows_count == r->rows_cap) {
        uint32_t cap = r->rows_cap ? r->rows_cap * 2 : 32;
        struct wr_strict_row *grown =
            wr_arena_grow(&r->arena, r->rows, r->rows_cap * sizeof(*grown), cap * sizeof(*grown));
        if (!grown)
            return NULL;
        r->rows = grown;
        r->rows_cap = cap;
    }
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
    int64_t *lines = r->lines;
    uint64_t cases = r->rows_count;
    int64_t exact = (int64_t)s->successes[WR_STRICT_EXACT];
    int64_t optimized = (int64_t)s->successes[WR_STRICT_OPTIMIZED];

    lines[WR_STRICT_exact_success_rate_percent] = percent(s->successes[WR_STRICT_EXACT], cases);
    lines[WR_STRICT_current_success_rate_percent] = percent(s->successes[WR_STRICT_CURRENT], cases);
    lines[WR_STRICT_optimized_success_rate_percent] =
        percent(s->successes[WR_STRICT_OPTIMIZED], cases);
    lines[WR_STRICT_success_regression_basis_points] =
        cases ? (exact - optimized) * 10000 / (int64_t)cases : 0;
    lines[WR_STRICT_optimized_missing_context_recovery_turns] = (int64_t)s->recoveries;
    lines[WR_STRICT_continuation_integrity_percent] =
        percent(s->continuations_kept, s->continuations);
    lines[WR_STRICT_tool_call_integrity_percent] = percent(s->links_kept, s->continuations);
    lines[WR_STRICT_critical_signal_recall_percent] = percent(s->signals_kept, s->signals);
    lines[WR_STRICT_unresolved_mandatory_artifact_refs] = (int64_t)s->unresolved;
    lines[WR_STRICT_corrupted_json_count] = (int64_t)s->corrupted;
    lines[WR_STRICT_continuation_fallback_rate_percent] =
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
    int64_t *lines = r->lines;

    if (!open_columns(&c, r))
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < r->rows_count; i++)
        if (r->rows[i].result.is_eligible)
            add_session(&c, r->rows[i].result.ways);
    lines[WR_STRICT_eligible_long_sessions] = c.count;
    lines[WR_STRICT_current_comparison_sessions] = c.count;
    lines[WR_STRICT_median_input_token_reduction_percent_vs_exact] = median(c.reduced, c.count);
    lines[WR_STRICT_current_median_input_token_reduction_percent_vs_exact] =
        median(c.reduced_current, c.count);
    lines[WR_STRICT_median_additional_input_token_reduction_percent_vs_current] =
        median(c.reduced_more, c.count);
    lines[WR_STRICT_long_sessions_with_at_least_20_percent_reduction_percent] =
        c.count ? percent(c.well_reduced, c.count) : 0;
    lines[WR_STRICT_exact_median_total_tokens_until_completion] =
        median(c.totals[WR_STRICT_EXACT], c.count);
    lines[WR_STRICT_current_median_total_tokens_until_completion] =
        median(c.totals[WR_STRICT_CURRENT], c.count);
    lines[WR_STRICT_optimized_median_total_tokens_until_completion] =
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

static const struct {
    enum wr_strict_threshold kind;
    int64_t limit;
} thresholds[] = {
#define X(name, kind, limit) {WR_STRICT_##kind, limit},
    WR_STRICT_LINE_MAP(X)
#undef X
};

bool wr_strict_is_law(enum wr_strict_line line)
{
    return thresholds[line].kind == WR_STRICT_LAW_MIN || thresholds[line].kind == WR_STRICT_LAW_MAX;
}

bool wr_strict_is_met(const struct wr_strict_report *report, enum wr_strict_line line)
{
    int64_t value = report->lines[line], limit = thresholds[line].limit;
    switch (thresholds[line].kind) {
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
    report->is_passed = report->covered == (UINT32_C(1) << WR_COVERS) - 1;
    for (int line = 0; line < WR_STRICT_LINES; line++)
        report->is_passed &= wr_strict_is_met(report, (enum wr_strict_line)line);
    return status;
}
