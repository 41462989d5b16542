#include "replay/simulate_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "json/write.h"

const char *const *wr_simulate_all(uint32_t *count)
{
    static const char *const names[] = {"exact",          "auto",
                                        "lean",           "careful",
                                        "smart",          "guarded-mid",
                                        "tiered",         "compress",
                                        "layers",         "exact-duplicates",
                                        "head-tail",      "clear-tool-uses",
                                        "opencode-prune", "mask-last-10"};
    *count = sizeof(names) / sizeof(names[0]);
    return names;
}

/* ---- gathering ---- */

static bool open_agent(struct wr_simulate_agent *agent, const char *name, uint32_t lanes_count)
{
    *agent = (struct wr_simulate_agent){.name = name};
    agent->lanes = calloc(lanes_count ? lanes_count : 1, sizeof(*agent->lanes));
    for (uint32_t i = 0; agent->lanes && i < lanes_count; i++) {
        agent->lanes[i].is_cost_known = true;
        agent->lanes[i].times_stride = 1;
    }
    return agent->lanes != NULL;
}

weir_status wr_simulate_report_new(struct wr_simulate_report **report,
                                   const struct wr_simulate_options *options)
{
    *report = calloc(1, sizeof(**report));
    if (!*report)
        return WEIR_NOMEM;
    (*report)->options = *options;
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
    free(row->costs);
    free(row->tokens);
    free(row->first_sight_bp);
}

void wr_simulate_report_free(struct wr_simulate_report *report)
{
    if (!report)
        return;
    for (uint32_t i = 0; i < report->sessions_count; i++)
        free_row(&report->rows[i]);
    for (uint32_t i = 0; i < report->agents_count; i++)
        free(report->agents[i].lanes);
    free(report->pooled.lanes);
    free(report->rows);
    free(report);
}

double wr_simulate_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
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
        .costs = calloc(count, sizeof(uint64_t)),
        .tokens = calloc(count, sizeof(uint64_t)),
        .first_sight_bp = calloc(count, sizeof(uint64_t))};
    if (!row->path || !row->agent || !row->costs || !row->tokens || !row->first_sight_bp)
        return false;
    for (uint32_t i = 0; i < report->sessions_count; i++)
        row->number += !strcmp(report->rows[i].path, path);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *sight = s->lanes[i].evidence.first_sight;
        row->costs[i] = s->lanes[i].cost_micro_usd;
        row->tokens[i] = s->lanes[i].prompt_tokens;
        row->first_sight_bp[i] = (uint64_t)(wr_simulate_share(sight[WR_EVIDENCE_SUPPORTED],
                                                              wr_simulate_evidence_total(sight)) *
                                            10000);
    }
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
    if (!open_agent(agent, name, report->options.policies_count))
        return NULL;
    report->agents_count++;
    return agent;
}

static void add_to(struct wr_simulate_agent *agent, const struct wr_simulate_report *report,
                   const struct wr_simulated *s)
{
    agent->sessions_count++;
    agent->floor_micro_usd += s->floor_micro_usd;
    for (uint32_t i = 0; i < report->options.policies_count; i++)
        wr_lane_result_add(&agent->lanes[i], &s->lanes[i]);
}

weir_status wr_simulate_report_add(struct wr_simulate_report *report,
                                   const struct wr_session *session, const char *path,
                                   const struct wr_simulated *simulated)
{
    if (report->sessions_count == report->rows_cap) {
        uint32_t cap = report->rows_cap ? report->rows_cap * 2 : 64;
        struct wr_simulate_row *grown = realloc(report->rows, cap * sizeof(*grown));
        if (!grown)
            return WEIR_NOMEM;
        report->rows = grown;
        report->rows_cap = cap;
    }
    struct wr_simulate_row *row = &report->rows[report->sessions_count];
    bool ok = fill_row(row, report, session, path, simulated);
    struct wr_simulate_agent *agent = ok ? agent_of(report, row->agent) : NULL;
    if (!agent) {
        free_row(row);
        return WEIR_NOMEM;
    }
    report->sessions_count++;
    report->without_times_count += !simulated->has_times;
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

double wr_simulate_report_median(const struct wr_simulate_report *report, uint32_t policy)
{
    uint32_t base = wr_simulate_report_base(report), count = 0;
    double *ratios = malloc((report->sessions_count + 1) * sizeof(*ratios)), median = -1;
    for (uint32_t i = 0; ratios && base != UINT32_MAX && i < report->sessions_count; i++)
        if (report->rows[i].costs[base])
            ratios[count++] =
                wr_simulate_share(report->rows[i].costs[policy], report->rows[i].costs[base]);
    if (count) {
        qsort(ratios, count, sizeof(*ratios), by_ratio);
        median = count % 2 ? ratios[count / 2] : (ratios[count / 2 - 1] + ratios[count / 2]) / 2;
    }
    free(ratios);
    return median;
}

/* Sessions that a policy made dearer by more than two in a hundred. */
static uint32_t dearer_count(const struct wr_simulate_report *report, uint32_t policy)
{
    uint32_t base = wr_simulate_report_base(report), count = 0;
    for (uint32_t i = 0; base != UINT32_MAX && i < report->sessions_count; i++)
        count += report->rows[i].costs[policy] * 100 > report->rows[i].costs[base] * 102;
    return count;
}

/* ---- the table ---- */

static void write_row(struct wr_buf *out, const struct wr_simulate_report *report,
                      const struct wr_simulate_agent *agent, uint32_t i)
{
    const struct wr_lane_result *r = &agent->lanes[i];
    uint32_t base = wr_simulate_report_base(report);
    const uint64_t *all = r->evidence.all, *sight = r->evidence.first_sight;
    double ratio = base == UINT32_MAX ? -1
                                      : 100 * wr_simulate_share(r->cost_micro_usd,
                                                                agent->lanes[base].cost_micro_usd);

    wr_buf_printf(out, "%-17s %10.2f ", report->options.policies[i],
                  (double)r->cost_micro_usd / 1e6);
    if (ratio < 0)
        wr_buf_printf(out, "%8s ", "-");
    else
        wr_buf_printf(out, "%7.1f%% ", ratio);
    wr_buf_printf(
        out, "%7.2fx %8.1f%% %9.2f%% %8.2f%% %6llu %7llu %6llu %6llu\n",
        wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd),
        100 * wr_simulate_share(r->read_tokens, r->prompt_tokens),
        100 * wr_simulate_share(sight[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(sight)),
        100 * wr_simulate_share(all[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(all)),
        (unsigned long long)all[WR_EVIDENCE_LOST], (unsigned long long)r->recalls,
        (unsigned long long)r->steps, (unsigned long long)r->over_window);
}

static int compare_costs(const struct wr_lane_result *lanes, uint32_t a, uint32_t b)
{
    return lanes[a].cost_micro_usd < lanes[b].cost_micro_usd
               ? -1
               : lanes[a].cost_micro_usd > lanes[b].cost_micro_usd;
}

/* The cheapest first. */
static void rank(const struct wr_simulate_agent *agent, uint32_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && compare_costs(agent->lanes, i, order[at - 1]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void write_agent(struct wr_buf *out, const struct wr_simulate_report *report,
                        const struct wr_simulate_agent *agent)
{
    uint32_t order[WR_SIMULATE_LANES_MAX];
    rank(agent, report->options.policies_count, order);
    wr_buf_printf(out,
                  "\n%s: %u sessions, floor %.2f USD\n%-17s %10s %8s %8s %9s %10s %9s %6s %7s %6s "
                  "%6s\n",
                  agent->name, agent->sessions_count, (double)agent->floor_micro_usd / 1e6,
                  "policy", "USD", "of raw", "floor", "cached", "1st sight", "at hand", "lost",
                  "recalls", "steps", "over");
    for (uint32_t i = 0; i < report->options.policies_count; i++)
        write_row(out, report, agent, order[i]);
}

static void write_medians(struct wr_buf *out, const struct wr_simulate_report *report)
{
    wr_buf_text(out, "\nby session, against raw: median, and how many are dearer by over 2 %\n");
    for (uint32_t i = 0; i < report->options.policies_count; i++) {
        const struct wr_lane_result *r = &report->pooled.lanes[i];
        wr_buf_printf(out, "%-17s %6.1f%% %4u    rewrite ms p50 %.2f p95 %.2f p99 %.2f",
                      report->options.policies[i], 100 * wr_simulate_report_median(report, i),
                      dearer_count(report, i), wr_lane_result_time_us(r, 50) / 1e3,
                      wr_lane_result_time_us(r, 95) / 1e3, wr_lane_result_time_us(r, 99) / 1e3);
        for (int k = 0; k < WR_LANE_REASONS_MAX && r->reasons[k].text; k++)
            wr_buf_printf(out, "%s %llu %s",
                          k ? "," : "    steps:", (unsigned long long)r->reasons[k].count,
                          r->reasons[k].text);
        if (r->prefix_violations || r->validation_failures)
            wr_buf_printf(out, "    BROKEN: %llu prefixes, %llu validations",
                          (unsigned long long)r->prefix_violations,
                          (unsigned long long)r->validation_failures);
        wr_buf_byte(out, '\n');
    }
}

void wr_simulate_report_table(struct wr_simulate_report *report, struct wr_buf *out)
{
    wr_simulate_report_sort(report);
    wr_buf_printf(out, "%u sessions at the prices of %s, window %u", report->sessions_count,
                  report->options.model ? report->options.model : "each log's own model",
                  report->options.window_tokens);
    if (report->without_times_count)
        wr_buf_printf(out, "; %u logs have no time stamps: no pauses there",
                      report->without_times_count);
    wr_buf_byte(out, '\n');
    for (uint32_t i = 0; i < report->agents_count; i++)
        write_agent(out, report, &report->agents[i]);
    write_agent(out, report, &report->pooled);
    write_medians(out, report);
}

/* ---- JSON ---- */

static void write_double(struct wr_json_writer *w, const char *key, double value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%.6g", value);
    wr_json_write_key(w, key);
    wr_json_write_raw(w, wr_span_of(text));
}

static void write_number(struct wr_json_writer *w, const char *key, uint64_t value)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)value);
}

static void write_evidence(struct wr_json_writer *w, const struct wr_evidence_tally *e)
{
    uint64_t all = wr_simulate_evidence_total(e->all);
    uint64_t sight = wr_simulate_evidence_total(e->first_sight);
    wr_json_write_key(w, "evidence");
    wr_json_write_object(w);
    write_double(w, "supported", wr_simulate_share(e->all[WR_EVIDENCE_SUPPORTED], all));
    write_double(w, "recallable", all ? wr_simulate_share(e->all[WR_EVIDENCE_RECALLABLE], all) : 0);
    write_number(w, "lost", e->all[WR_EVIDENCE_LOST]);
    write_double(w, "first_sight_supported",
                 wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED], sight));
    wr_json_write_object_end(w);
}

static void write_times(struct wr_json_writer *w, const struct wr_lane_result *r)
{
    wr_json_write_key(w, "rewrite_ms");
    wr_json_write_object(w);
    write_double(w, "p50", wr_lane_result_time_us(r, 50) / 1e3);
    write_double(w, "p95", wr_lane_result_time_us(r, 95) / 1e3);
    write_double(w, "p99", wr_lane_result_time_us(r, 99) / 1e3);
    wr_json_write_object_end(w);
}

static void write_reasons(struct wr_json_writer *w, const struct wr_lane_result *r)
{
    wr_json_write_key(w, "steps_by_reason");
    wr_json_write_object(w);
    for (int i = 0; i < WR_LANE_REASONS_MAX && r->reasons[i].text; i++)
        write_number(w, r->reasons[i].text, r->reasons[i].count);
    wr_json_write_object_end(w);
}

static void write_lane(struct wr_json_writer *w, const struct wr_simulate_report *report,
                       const struct wr_simulate_agent *agent, uint32_t i)
{
    const struct wr_lane_result *r = &agent->lanes[i];
    uint32_t base = wr_simulate_report_base(report);

    write_double(w, "cost_usd", (double)r->cost_micro_usd / 1e6);
    if (base != UINT32_MAX)
        write_double(w, "cost_ratio_to_exact",
                     wr_simulate_share(r->cost_micro_usd, agent->lanes[base].cost_micro_usd));
    write_double(w, "floor_multiple", wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd));
    write_number(w, "requests", r->requests);
    write_number(w, "prompt_tokens", r->prompt_tokens);
    write_double(w, "cached_share", wr_simulate_share(r->read_tokens, r->prompt_tokens));
    write_number(w, "written_tokens", r->written_tokens);
    write_evidence(w, &r->evidence);
    write_number(w, "recalls", r->recalls);
    write_number(w, "recalled_tokens", r->recalled_tokens);
    write_number(w, "saved_prompt_tokens", r->saved_tokens);
    write_number(w, "steps", r->steps);
    write_reasons(w, r);
    write_number(w, "over_window", r->over_window);
    write_number(w, "over_tier", r->over_tier);
    write_double(w, "over_60_share", r->requests ? wr_simulate_share(r->over_60, r->requests) : 0);
    write_double(w, "over_80_share", r->requests ? wr_simulate_share(r->over_80, r->requests) : 0);
    write_double(w, "over_85_share", r->requests ? wr_simulate_share(r->over_85, r->requests) : 0);
    write_number(w, "prefix_violations", r->prefix_violations);
    write_number(w, "validation_failures", r->validation_failures);
    write_times(w, r);
}

static void write_policy(struct wr_json_writer *w, const struct wr_simulate_report *report,
                         uint32_t i)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_write_key(w, "policy");
    wr_json_write_text(w, wr_span_of(report->options.policies[i]));
    write_lane(w, report, &report->pooled, i);
    write_double(w, "median_ratio", wr_simulate_report_median(report, i));
    write_number(w, "sessions_dearer", dearer_count(report, i));
    wr_json_write_key(w, "by_agent");
    wr_json_write_array(w);
    for (uint32_t a = 0; a < report->agents_count; a++) {
        wr_json_write_object(w);
        wr_json_write_key(w, "agent");
        wr_json_write_text(w, wr_span_of(report->agents[a].name));
        write_number(w, "sessions", report->agents[a].sessions_count);
        write_lane(w, report, &report->agents[a], i);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

void wr_simulate_report_json(struct wr_simulate_report *report, struct wr_buf *out)
{
    struct wr_json_writer w;
    wr_simulate_report_sort(report);
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    write_number(&w, "sessions", report->sessions_count);
    write_number(&w, "sessions_without_times", report->without_times_count);
    wr_json_write_key(&w, "model");
    wr_json_write_text(&w, wr_span_of(report->options.model ? report->options.model : ""));
    write_number(&w, "window_tokens", report->options.window_tokens);
    write_double(&w, "floor_usd", (double)report->pooled.floor_micro_usd / 1e6);
    wr_json_write_key(&w, "policies");
    wr_json_write_array(&w);
    for (uint32_t i = 0; i < report->options.policies_count; i++)
        write_policy(&w, report, i);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}
