/* What many sessions gave, added up: a row a session, sums by agent and of all, the largest
 * session's life. Workers add sessions in the order in which they end; rows and agents are sorted
 * before anything is written, and ties go to the path, so that the same logs give the same bytes.
 *
 * Ratios are against `exact` of the same session, and the median over sessions stands beside the
 * ratio of the sums: a few long sessions decide a sum. */
#include "lab/simulate_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/table.h"
#include "base/text.h"
#include "json/write.h"

const char *const *wr_simulate_all(uint32_t *count)
{
    static const char *const names[] = {"exact",
                                        "auto",
                                        "lean",
                                        "careful",
                                        "smart",
                                        "guarded-mid",
                                        "tiered",
                                        "compress",
                                        "layers",
                                        "exact-duplicates",
                                        "head-tail",
                                        "clear-tool-uses",
                                        "opencode-prune",
                                        "mask-last-10",
                                        WR_BASELINE_CLAIRVOYANT,
                                        WR_BASELINE_CLAIRVOYANT_ALL};
    *count = WR_COUNT_OF(names);
    return names;
}

/* ---- gathering ---- */

static struct wr_lane_result *new_sums(uint32_t count)
{
    struct wr_lane_result *sums = calloc(count ? count : 1, sizeof(*sums));
    for (uint32_t i = 0; sums && i < count; i++) {
        sums[i].is_cost_known = true;
        sums[i].times_stride = 1;
    }
    return sums;
}

static bool open_agent(struct wr_simulate_agent *agent, const char *name, uint32_t lanes_count)
{
    *agent = (struct wr_simulate_agent){.name = name};
    agent->lanes = new_sums(lanes_count);
    agent->unbarred = new_sums(lanes_count);
    return agent->lanes && agent->unbarred;
}

static void close_agent(struct wr_simulate_agent *agent)
{
    free(agent->lanes);
    free(agent->unbarred);
}

weir_status wr_simulate_report_new(struct wr_simulate_report **report,
                                   const struct wr_simulate_options *options)
{
    *report = calloc(1, sizeof(**report));
    if (!*report)
        return WEIR_NOMEM;
    (*report)->options = *options;
    (*report)->first_ms = INT64_MAX;
    (*report)->last_ms = INT64_MIN;
    if (open_agent(&(*report)->pooled, "all", options->policies_count))
        return WEIR_OK;
    wr_simulate_report_free(*report);
    *report = NULL;
    return WEIR_NOMEM;
}

static void free_row(struct wr_simulate_row *row)
{
    free(row->path);
    free(row->agent);
    free(row->cells);
}

void wr_simulate_report_free(struct wr_simulate_report *report)
{
    if (!report)
        return;
    for (uint32_t i = 0; i < report->sessions_count; i++)
        free_row(&report->rows[i]);
    for (uint32_t i = 0; i < report->agents_count; i++)
        close_agent(&report->agents[i]);
    close_agent(&report->pooled);
    free(report->longest.path);
    free(report->longest.points);
    free(report->rows);
    free(report);
}

double wr_simulate_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

double wr_simulate_blind(const struct wr_evidence_tally *e)
{
    return e->answers ? (double)e->answers_blind / (double)e->answers : 0;
}

static double simulate_all_missing(const struct wr_evidence_tally *e)
{
    return e->answers ? (double)e->answers_all_missing / (double)e->answers : 0;
}

uint64_t wr_simulate_evidence_total(const uint64_t verdicts[WR_EVIDENCE_VERDICTS])
{
    uint64_t total = 0;
    for (int i = 0; i < WR_EVIDENCE_VERDICTS; i++)
        total += verdicts[i];
    return total;
}

static char *copy_span(weir_span text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

static struct wr_simulate_cell cell_of(const struct wr_lane_result *r)
{
    const uint64_t *sight = r->evidence.first_sight;
    return (struct wr_simulate_cell){.cost_micro_usd = r->cost_micro_usd,
                                     .prompt_tokens = r->prompt_tokens,
                                     .requests = r->requests,
                                     .first_sight_supported = sight[WR_EVIDENCE_SUPPORTED],
                                     .first_sight_count = wr_simulate_evidence_total(sight),
                                     .answers = r->evidence.answers,
                                     .answers_blind = r->evidence.answers_blind,
                                     .user_tokens_gone = r->evidence.user_tokens_gone,
                                     .lost = r->evidence.all[WR_EVIDENCE_LOST],
                                     .recalls = r->recalls,
                                     .steps = r->steps};
}

static bool fill_row(struct wr_simulate_row *row, const struct wr_simulate_report *report,
                     const struct wr_session *session, const char *path,
                     const struct wr_simulated *s)
{
    uint32_t count = report->options.policies_count;
    *row = (struct wr_simulate_row){
        .requests_count = s->requests_count,
        .has_times = s->has_times,
        .floor_micro_usd = s->floor_micro_usd,
        .floor_tokens = s->floor_tokens,
        .path = strdup(path),
        .agent = copy_span(session->agent.len ? session->agent : WR_LIT("unknown")),
        .cells = calloc(count ? count : 1, sizeof(*row->cells))};
    if (!row->path || !row->agent || !row->cells)
        return false;
    for (uint32_t i = 0; i < report->sessions_count; i++)
        row->number += !strcmp(report->rows[i].path, path);
    for (uint32_t i = 0; i < count; i++)
        row->cells[i] = cell_of(&s->lanes[i]);
    return true;
}

/* Ties go to the path, so that the order in which sessions end does not show. */
static bool is_longer(const struct wr_simulate_life *life, const char *path,
                      const struct wr_simulated *s)
{
    uint64_t tokens = s->lanes[0].prompt_tokens;
    return !life->path || tokens > life->prompt_tokens ||
           (tokens == life->prompt_tokens && strcmp(path, life->path) < 0);
}

static bool note_life(struct wr_simulate_report *report, const char *path,
                      const struct wr_simulated *s)
{
    struct wr_simulate_life *life = &report->longest;
    uint32_t count = report->options.policies_count;
    if (!count || !s->points_count || !is_longer(life, path, s))
        return true;
    char *copy = strdup(path);
    uint32_t *points = calloc((size_t)count * s->points_count, sizeof(*points));
    if (!copy || !points) {
        free(copy);
        free(points);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(points + (size_t)i * s->points_count, s->points[i],
               s->points_count * sizeof(*points));
    free(life->path);
    free(life->points);
    *life = (struct wr_simulate_life){.path = copy,
                                      .prompt_tokens = s->lanes[0].prompt_tokens,
                                      .requests_count = s->requests_count,
                                      .points_count = s->points_count,
                                      .points = points};
    return true;
}

static struct wr_simulate_agent *agent_of(struct wr_simulate_report *report, const char *name)
{
    for (uint32_t i = 0; i < report->agents_count; i++)
        if (!strcmp(report->agents[i].name, name))
            return &report->agents[i];
    if (report->agents_count == WR_REPORT_AGENTS_MAX)
        return &report->agents[WR_REPORT_AGENTS_MAX - 1];
    struct wr_simulate_agent *agent = &report->agents[report->agents_count];
    if (!open_agent(agent, name, report->options.policies_count)) {
        close_agent(agent);
        return NULL;
    }
    report->agents_count++;
    return agent;
}

static void add_to(struct wr_simulate_agent *agent, const struct wr_simulate_report *report,
                   const struct wr_simulated *s)
{
    agent->sessions_count++;
    agent->floor_micro_usd += s->floor_micro_usd;
    for (uint32_t i = 0; i < report->options.policies_count; i++) {
        wr_lane_result_add(&agent->lanes[i], &s->lanes[i]);
        wr_lane_result_add(&agent->unbarred[i], &s->unbarred[i]);
    }
}

weir_status wr_simulate_report_add(struct wr_simulate_report *report,
                                   const struct wr_session *session, const char *path,
                                   const struct wr_simulated *simulated)
{
    if (!WR_HEAP_ROOM(report->rows, report->sessions_count, report->rows_cap, 64))
        return WEIR_NOMEM;
    struct wr_simulate_row *row = &report->rows[report->sessions_count];
    bool ok = fill_row(row, report, session, path, simulated);
    struct wr_simulate_agent *agent =
        ok && note_life(report, path, simulated) ? agent_of(report, row->agent) : NULL;
    if (!agent) {
        free_row(row);
        return WEIR_NOMEM;
    }
    report->sessions_count++;
    report->without_times_count += !simulated->has_times;
    report->repriced_count += simulated->is_repriced;
    if (simulated->first_ms < report->first_ms)
        report->first_ms = simulated->first_ms;
    if (simulated->last_ms > report->last_ms)
        report->last_ms = simulated->last_ms;
    report->binds_thinking |= simulated->binds_thinking;
    add_to(agent, report, simulated);
    add_to(&report->pooled, report, simulated);
    return WEIR_OK;
}

/* ---- ratios ---- */

static int by_path(const void *a, const void *b)
{
    const struct wr_simulate_row *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static int by_name(const void *a, const void *b)
{
    const struct wr_simulate_agent *x = a, *y = b;
    return strcmp(x->name, y->name);
}

void wr_simulate_report_sort(struct wr_simulate_report *report)
{
    if (report->sessions_count)
        qsort(report->rows, report->sessions_count, sizeof(*report->rows), by_path);
    if (report->agents_count)
        qsort(report->agents, report->agents_count, sizeof(*report->agents), by_name);
}

uint32_t wr_simulate_report_shown(const struct wr_simulate_report *report)
{
    return report->options.policies_count - report->options.hidden_count;
}

uint32_t wr_simulate_report_base(const struct wr_simulate_report *report)
{
    for (uint32_t i = 0; i < report->options.policies_count; i++)
        if (!strcmp(report->options.policies[i], "exact") ||
            !strcmp(report->options.policies[i], "raw"))
            return i;
    return UINT32_MAX;
}

static int by_ratio(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_of(const struct wr_simulate_report *report, const struct wr_simulate_agent *agent,
                  const struct wr_simulate_row *row)
{
    return agent == &report->pooled || !strcmp(row->agent, agent->name);
}

/* The same over one agent's sessions; those of `pooled` are all. */
static double simulate_report_agent_median(const struct wr_simulate_report *report,
                                           const struct wr_simulate_agent *agent, uint32_t policy)
{
    uint32_t base = wr_simulate_report_base(report), count = 0;
    double *ratios = malloc((report->sessions_count + 1) * sizeof(*ratios)), median = -1;
    for (uint32_t i = 0; ratios && base != UINT32_MAX && i < report->sessions_count; i++) {
        const struct wr_simulate_cell *cells = report->rows[i].cells;
        if (cells[base].cost_micro_usd && is_of(report, agent, &report->rows[i]))
            ratios[count++] =
                wr_simulate_share(cells[policy].cost_micro_usd, cells[base].cost_micro_usd);
    }
    if (count) {
        qsort(ratios, count, sizeof(*ratios), by_ratio);
        median = count % 2 ? ratios[count / 2] : (ratios[count / 2 - 1] + ratios[count / 2]) / 2;
    }
    free(ratios);
    return median;
}

/* Cost of a policy against the base, median over the sessions; -1 without a base. */
static double simulate_report_median(const struct wr_simulate_report *report, uint32_t policy)
{
    return simulate_report_agent_median(report, &report->pooled, policy);
}

uint32_t wr_simulate_report_dearer(const struct wr_simulate_report *report, uint32_t policy)
{
    uint32_t base = wr_simulate_report_base(report), count = 0;
    for (uint32_t i = 0; base != UINT32_MAX && i < report->sessions_count; i++)
        count += report->rows[i].cells[policy].cost_micro_usd * 100 >
                 report->rows[i].cells[base].cost_micro_usd * 102;
    return count;
}

double wr_simulate_report_ratio(const struct wr_simulate_report *report,
                                const struct wr_simulate_agent *agent, uint32_t policy)
{
    uint32_t base = wr_simulate_report_base(report);
    if (base == UINT32_MAX)
        return -1;
    return wr_simulate_share(agent->lanes[policy].cost_micro_usd,
                             agent->lanes[base].cost_micro_usd);
}

/* ---- the table ---- */

static const struct wr_table_column agent_columns[] = {
    {"policy", .cut_min = 12},
    {"USD", .is_right = true},
    {"of raw", .is_right = true},
    {"median", .is_right = true, .rank = 5},
    {"floor", .is_right = true, .rank = 4},
    {"blind", .is_right = true, .rank = 3},
    {"nothing", .is_right = true, .rank = 9},
    {"user gone", .is_right = true, .rank = 8},
    {"1st sight", .is_right = true, .rank = 2},
    {"at hand", .is_right = true},
    {"lost", .is_right = true},
    {"recalls", .is_right = true},
    {"cached", .is_right = true, .rank = 7},
    {"steps", .is_right = true, .rank = 1},
    {"over", .is_right = true, .rank = 6},
};

static void put_count(struct wr_table *table, uint64_t count)
{
    wr_table_format(table, "%llu", (unsigned long long)count);
}

static void put_percent(struct wr_table *table, double share)
{
    wr_table_format(table, "%.2f%%", 100 * share);
}

static void put_row(struct wr_table *table, const struct wr_simulate_report *report,
                    const struct wr_simulate_agent *agent, uint32_t i)
{
    const struct wr_lane_result *r = &agent->lanes[i];
    const struct wr_evidence_tally *e = &r->evidence;
    double ratio = wr_simulate_report_ratio(report, agent, i);

    wr_table_cell(table, wr_span_of(report->options.policies[i]));
    wr_table_format(table, "%.2f", (double)r->cost_micro_usd / 1e6);
    if (ratio < 0) {
        wr_table_cell(table, WR_LIT("-"));
        wr_table_cell(table, WR_LIT("-"));
    } else {
        wr_table_format(table, "%.1f%%", 100 * ratio);
        wr_table_format(table, "%.1f%%", 100 * simulate_report_agent_median(report, agent, i));
    }
    wr_table_format(table, "%.2fx", wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd));
    put_percent(table, wr_simulate_blind(e));
    put_percent(table, simulate_all_missing(e));
    put_count(table, e->user_tokens_gone);
    put_percent(table, wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED],
                                         wr_simulate_evidence_total(e->first_sight)));
    put_percent(table, wr_simulate_share(e->all[WR_EVIDENCE_SUPPORTED],
                                         wr_simulate_evidence_total(e->all)));
    put_count(table, e->all[WR_EVIDENCE_LOST]);
    put_count(table, r->recalls);
    wr_table_format(table, "%.1f%%", 100 * wr_simulate_share(r->read_tokens, r->prompt_tokens));
    put_count(table, r->steps);
    put_count(table, r->over_window);
}

static int compare_costs(const struct wr_lane_result *lanes, uint32_t a, uint32_t b)
{
    return lanes[a].cost_micro_usd < lanes[b].cost_micro_usd
               ? -1
               : lanes[a].cost_micro_usd > lanes[b].cost_micro_usd;
}

void wr_simulate_report_rank(const struct wr_simulate_report *report,
                             const struct wr_simulate_agent *agent, uint32_t *order)
{
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++) {
        uint32_t at = i;
        for (; at > 0 && compare_costs(agent->lanes, i, order[at - 1]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void write_agent(struct wr_buf *out, const struct wr_simulate_report *report,
                        const struct wr_simulate_agent *agent, uint32_t columns)
{
    uint32_t order[WR_SIMULATE_LANES_MAX];
    struct wr_table table;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, agent_columns, WR_COUNT_OF(agent_columns), &arena);
    wr_simulate_report_rank(report, agent, order);
    wr_buf_printf(out, "\n%s: %u sessions, floor %.2f USD\n", agent->name, agent->sessions_count,
                  (double)agent->floor_micro_usd / 1e6);
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        put_row(&table, report, agent, order[i]);
    wr_table_print(&table, columns, out);
    wr_arena_release(&arena);
}

/* Blind quotes by age, and first sight by what was used of: a string, a result, a request. */
static void write_missed(struct wr_buf *out, const struct wr_simulate_report *report,
                         uint32_t columns)
{
    struct wr_table_column of[6 + WR_EVIDENCE_AGES] = {{"policy", .cut_min = 12},
                                                       {"blind", .is_right = true}};
    static const struct wr_table_column last[] = {
        {"string", .is_right = true, .rank = 1},
        {"result", .is_right = true},
        {"request", .is_right = true, .rank = 2},
        {"user's words", .is_right = true, .rank = 3},
    };
    struct wr_table table;
    struct wr_arena arena;

    for (int k = 0; k < WR_EVIDENCE_AGES; k++)
        of[2 + k] = (struct wr_table_column){wr_evidence_age_text(k), .is_right = true,
                                             .rank = 4 + (uint32_t)k};
    memcpy(&of[2 + WR_EVIDENCE_AGES], last, sizeof(last));
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, of, WR_COUNT_OF(of), &arena);
    wr_buf_text(out, "\nblind quotes by the age of the line (answers since it came), and first "
                     "sight by string, result, request\n");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++) {
        const struct wr_evidence_tally *e = &report->pooled.lanes[i].evidence;
        wr_table_cell(&table, wr_span_of(report->options.policies[i]));
        put_count(&table, e->answers_blind);
        for (int k = 0; k < WR_EVIDENCE_AGES; k++)
            put_count(&table, e->blind_by_age[k]);
        put_percent(&table, wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED],
                                              wr_simulate_evidence_total(e->first_sight)));
        put_percent(&table, wr_simulate_share(e->sight_results_whole, e->sight_results));
        put_percent(&table, wr_simulate_share(e->sight_answers_whole, e->sight_answers));
        put_percent(&table, wr_simulate_share(e->users[WR_EVIDENCE_SUPPORTED],
                                              wr_simulate_evidence_total(e->users)));
    }
    wr_table_print(&table, columns, out);
    wr_arena_release(&arena);
}

static const struct wr_table_column median_columns[] = {
    {"policy", .cut_min = 12},
    {"median", .is_right = true},
    {"dearer", .is_right = true},
    {"rewrite ms p50", .is_right = true, .rank = 1},
    {"p95", .is_right = true, .rank = 2},
    {"p99", .is_right = true, .rank = 3},
    {"steps", .wraps = true},
};

static void put_median(struct wr_table *table, const struct wr_simulate_report *report, uint32_t i)
{
    const struct wr_lane_result *r = &report->pooled.lanes[i];
    double median = simulate_report_median(report, i);
    struct wr_buf steps;

    wr_table_cell(table, wr_span_of(report->options.policies[i]));
    if (median < 0) {
        wr_table_cell(table, WR_LIT("-"));
        wr_table_cell(table, WR_LIT("-"));
    } else {
        wr_table_format(table, "%.1f%%", 100 * median);
        put_count(table, wr_simulate_report_dearer(report, i));
    }
    for (size_t k = 0; k < 3; k++)
        wr_table_format(table, "%.2f",
                        wr_lane_result_time_us(r, (const uint32_t[]){50, 95, 99}[k]) / 1e3);
    wr_buf_init(&steps, WR_OUTPUT_BYTES_MAX);
    for (int k = 0; k < WR_LANE_REASONS_MAX && r->reasons[k].text; k++)
        wr_buf_printf(&steps, "%s%llu %s", k ? ", " : "", (unsigned long long)r->reasons[k].count,
                      r->reasons[k].text);
    if (r->prefix_violations || r->validation_failures)
        wr_buf_printf(&steps, "%sBROKEN: %llu prefixes, %llu validations", steps.len ? "; " : "",
                      (unsigned long long)r->prefix_violations,
                      (unsigned long long)r->validation_failures);
    wr_table_cell(table, wr_buf_view(&steps));
    wr_buf_release(&steps);
}

static void write_medians(struct wr_buf *out, const struct wr_simulate_report *report,
                          uint32_t columns)
{
    struct wr_table table;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, median_columns, WR_COUNT_OF(median_columns), &arena);
    wr_buf_text(out, "\nby session, against raw: median, and how many are dearer by over 2 %\n");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        put_median(&table, report, i);
    wr_table_print(&table, columns, out);
    wr_arena_release(&arena);
}

/* The floor bounds what edits results as they arrive; what folds, prunes or steps may pass it, and
 * so may anything near the least that a provider caches. */
static void write_below_floor(struct wr_buf *out, const struct wr_simulate_report *report,
                              uint32_t policy)
{
    const struct wr_simulate_row *lowest = NULL;
    double least = 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->sessions_count; i++) {
        const struct wr_simulate_row *row = &report->rows[i];
        double multiple =
            wr_simulate_share(row->cells[policy].cost_micro_usd, row->floor_micro_usd);
        count += multiple < 1;
        if (multiple >= least)
            continue;
        least = multiple;
        lowest = row;
    }
    if (lowest)
        wr_buf_printf(out, "below the floor: %s in %u session%s, lowest %.3fx in %s (%u)\n",
                      report->options.policies[policy], count, count == 1 ? "" : "s", least,
                      lowest->path, lowest->number + 1);
}

void wr_simulate_report_table(struct wr_simulate_report *report, uint32_t columns,
                              struct wr_buf *out)
{
    wr_simulate_report_sort(report);
    wr_buf_printf(out, "%s sessions at the prices of %s, window ",
                  WR_GROUPED(report->sessions_count),
                  report->options.model ? report->options.model : "each log's own model");
    if (report->options.window_tokens)
        wr_buf_text(out, WR_GROUPED(report->options.window_tokens));
    else
        wr_buf_text(out, "its own");
    if (report->without_times_count)
        wr_buf_printf(out, "; %u logs have no time stamps: no pauses there",
                      report->without_times_count);
    wr_buf_byte(out, '\n');
    for (uint32_t i = 0; i < report->agents_count; i++)
        write_agent(out, report, &report->agents[i], columns);
    if (report->agents_count != 1) /* else it would be the same table again */
        write_agent(out, report, &report->pooled, columns);
    write_missed(out, report, columns);
    write_medians(out, report, columns);
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        write_below_floor(out, report, i);
}

/* ---- JSON ---- */

static void write_double(struct wr_json_writer *w, const char *key, double value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%.6g", value);
    wr_json_member_raw(w, key, wr_span_of(text));
}

static void write_evidence(struct wr_json_writer *w, const struct wr_evidence_tally *e)
{
    uint64_t all = wr_simulate_evidence_total(e->all);
    uint64_t sight = wr_simulate_evidence_total(e->first_sight);
    wr_json_member_object(w, "evidence");
    write_double(w, "blind_quotes", wr_simulate_blind(e));
    wr_json_member_number(w, "blind_quotes_requests", e->answers_blind);
    wr_json_member_number(w, "user_tokens_gone", e->user_tokens_gone);
    write_double(w, "all_missing", simulate_all_missing(e));
    wr_json_member_number(w, "all_missing_requests", e->answers_all_missing);
    wr_json_member_number(w, "requests", e->answers);
    wr_json_member_object(w, "blind_quotes_by_age");
    for (int i = 0; i < WR_EVIDENCE_AGES; i++)
        wr_json_member_number(w, wr_evidence_age_text(i), e->blind_by_age[i]);
    wr_json_write_object_end(w);
    write_double(w, "supported", wr_simulate_share(e->all[WR_EVIDENCE_SUPPORTED], all));
    write_double(w, "recallable", all ? wr_simulate_share(e->all[WR_EVIDENCE_RECALLABLE], all) : 0);
    wr_json_member_number(w, "lost", e->all[WR_EVIDENCE_LOST]);
    write_double(w, "first_sight_supported",
                 wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED], sight));
    write_double(w, "first_sight_results",
                 wr_simulate_share(e->sight_results_whole, e->sight_results));
    write_double(w, "first_sight_requests",
                 wr_simulate_share(e->sight_answers_whole, e->sight_answers));
    write_double(
        w, "users_supported",
        wr_simulate_share(e->users[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(e->users)));
    write_double(
        w, "own_supported",
        wr_simulate_share(e->own[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(e->own)));
    wr_json_member_number(w, "own_lost", e->own[WR_EVIDENCE_LOST]);
    wr_json_member_number(w, "own_quotes_requests", e->answers_own);
    wr_json_member_number(w, "own_quotes_blind_requests", e->answers_own_blind);
    wr_json_write_object_end(w);
}

static void write_times(struct wr_json_writer *w, const struct wr_lane_result *r)
{
    wr_json_member_object(w, "rewrite_ms");
    write_double(w, "p50", wr_lane_result_time_us(r, 50) / 1e3);
    write_double(w, "p95", wr_lane_result_time_us(r, 95) / 1e3);
    write_double(w, "p99", wr_lane_result_time_us(r, 99) / 1e3);
    wr_json_write_object_end(w);
}

static void write_money(struct wr_json_writer *w, const struct wr_lane_result *r)
{
    wr_json_member_object(w, "cost_by_kind");
    for (int i = 0; i < WR_MONEY_KINDS; i++)
        write_double(w, wr_money_text((enum wr_money)i), (double)r->pico_usd[i] / 1e12);
    wr_json_write_object_end(w);
}

static void write_reasons(struct wr_json_writer *w, const struct wr_lane_result *r)
{
    wr_json_member_object(w, "steps_by_reason");
    for (int i = 0; i < WR_LANE_REASONS_MAX && r->reasons[i].text; i++)
        wr_json_member_number(w, r->reasons[i].text, r->reasons[i].count);
    wr_json_write_object_end(w);
}

void wr_simulate_report_unbarred(const struct wr_simulate_report *report,
                                 const struct wr_simulate_agent *agent, uint32_t i,
                                 struct wr_json_writer *w)
{
    const struct wr_lane_result *r = &agent->unbarred[i];
    uint32_t base = wr_simulate_report_base(report);

    if (!report->binds_thinking)
        return;
    wr_json_member_object(w, "unbarred");
    write_double(w, "cost_usd", (double)r->cost_micro_usd / 1e6);
    if (base != UINT32_MAX)
        write_double(w, "cost_ratio_to_exact",
                     wr_simulate_share(r->cost_micro_usd, agent->unbarred[base].cost_micro_usd));
    write_double(w, "floor_multiple", wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd));
    wr_json_member_number(w, "steps", r->steps);
    wr_json_member_number(w, "over_window", r->over_window);
    wr_json_member_number(w, "recalls", r->recalls);
    write_evidence(w, &r->evidence);
    wr_json_write_object_end(w);
}

static void write_lane(struct wr_json_writer *w, const struct wr_simulate_report *report,
                       const struct wr_simulate_agent *agent, uint32_t i)
{
    const struct wr_lane_result *r = &agent->lanes[i];
    double ratio = wr_simulate_report_ratio(report, agent, i);

    write_double(w, "cost_usd", (double)r->cost_micro_usd / 1e6);
    if (ratio >= 0)
        write_double(w, "cost_ratio_to_exact", ratio);
    write_double(w, "floor_multiple", wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd));
    wr_json_member_number(w, "requests", r->requests);
    wr_json_member_number(w, "prompt_tokens", r->prompt_tokens);
    write_double(w, "cached_share", wr_simulate_share(r->read_tokens, r->prompt_tokens));
    wr_json_member_number(w, "written_tokens", r->written_tokens);
    write_money(w, r);
    write_evidence(w, &r->evidence);
    wr_json_member_number(w, "recalls", r->recalls);
    wr_json_member_number(w, "recalled_tokens", r->recalled_tokens);
    wr_json_member_number(w, "saved_prompt_tokens", r->saved_tokens);
    wr_json_member_number(w, "steps", r->steps);
    write_reasons(w, r);
    wr_json_member_number(w, "steps_tokens", r->steps_tokens);
    write_double(w, "steps_usd", (double)r->steps_micro_usd / 1e6);
    wr_json_member_number(w, "over_window", r->over_window);
    wr_json_member_number(w, "over_tier", r->over_tier);
    write_double(w, "over_60_share", r->requests ? wr_simulate_share(r->over_60, r->requests) : 0);
    write_double(w, "over_80_share", r->requests ? wr_simulate_share(r->over_80, r->requests) : 0);
    write_double(w, "over_85_share", r->requests ? wr_simulate_share(r->over_85, r->requests) : 0);
    wr_json_member_number(w, "prefix_violations", r->prefix_violations);
    wr_json_member_number(w, "validation_failures", r->validation_failures);
    write_times(w, r);
    wr_simulate_report_unbarred(report, agent, i, w);
}

static void write_policy(struct wr_json_writer *w, const struct wr_simulate_report *report,
                         uint32_t i)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "policy", report->options.policies[i]);
    write_lane(w, report, &report->pooled, i);
    write_double(w, "median_ratio", simulate_report_median(report, i));
    wr_json_member_number(w, "sessions_dearer", wr_simulate_report_dearer(report, i));
    wr_json_member_array(w, "by_agent");
    for (uint32_t a = 0; a < report->agents_count; a++) {
        wr_json_write_object(w);
        wr_json_member_word(w, "agent", report->agents[a].name);
        wr_json_member_number(w, "sessions", report->agents[a].sessions_count);
        write_lane(w, report, &report->agents[a], i);
        write_double(w, "median_ratio",
                     simulate_report_agent_median(report, &report->agents[a], i));
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

void wr_simulate_report_members(struct wr_simulate_report *report, struct wr_json_writer *w)
{
    wr_simulate_report_sort(report);
    wr_json_member_number(w, "sessions", report->sessions_count);
    wr_json_member_number(w, "sessions_without_times", report->without_times_count);
    wr_json_member_word(w, "model", report->options.model ? report->options.model : "");
    wr_json_member_number(w, "window_tokens", report->options.window_tokens);
    write_double(w, "floor_usd", (double)report->pooled.floor_micro_usd / 1e6);
    wr_json_member_array(w, "policies");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        write_policy(w, report, i);
    wr_json_write_array_end(w);
}
