/* The page of `weir simulate`: web/simulate.html holds the words, the charts' frames and the
 * tables' heads; fill_place() writes the data of each place in it. So a change of look
 * touches no C, and what a bar means can be read beside the text that explains it. Bars, lines and
 * rows of tables are written here, because their number is known only now. */
#include "lab/simulate_html.h"

#include "base/embed.h"
#include "base/html.h"
#include "base/span.h"

WR_EMBED(wr_simulate_page, "web/simulate.html");

/* Of a small chart of a session's life, in its own units. */
enum { LIFE_WIDTH = 1000, LIFE_HEIGHT = 100 };

/* Of the chart of cost against blind quotes: the plot in pixels, and the room around it for the
 * words at its edges. */
enum { PLOT_WIDTH = 560, PLOT_HEIGHT = 300, PLOT_LEFT = 50, PLOT_TOP = 12, PLOT_BELOW = 40 };

struct page {
    const struct wr_simulate_set *set;
    const struct wr_simulate_report *report; /* the set's first */
    uint32_t order[WR_SIMULATE_LANES_MAX];   /* of the policies, the cheapest first */
    uint32_t count;
};

/* ---- small things ---- */

static void escape(struct wr_buf *out, const char *text)
{
    wr_html_escape(out, wr_span_of(text));
}

static void write_usd(struct wr_buf *out, uint64_t micro_usd)
{
    wr_buf_printf(out, micro_usd < 1000000 ? "%.4f" : "%.2f", (double)micro_usd / 1e6);
}

static double percent(uint64_t part, uint64_t whole)
{
    return 100 * wr_simulate_share(part, whole);
}

/* Of the width of a chart; nothing of nothing is no bar. */
static double width_of(uint64_t part, uint64_t whole)
{
    return whole ? percent(part, whole) : 0;
}

static bool is_other(const char *policy)
{
    return wr_baseline_find(wr_span_of(policy)) || !strcmp(policy, "exact");
}

/* The policy at a row of a chart: its name and what it came to. */
static const char *policy_at(const struct page *p, uint32_t row)
{
    return p->report->options.policies[p->order[row]];
}

static const struct wr_lane_result *lane_at(const struct page *p, uint32_t row)
{
    return &p->report->pooled.lanes[p->order[row]];
}

/* ---- bars ---- */

static void write_cost_bars(struct wr_buf *out, const struct page *p)
{
    const struct wr_simulate_agent *pooled = &p->report->pooled;
    uint64_t dearest = p->count ? lane_at(p, p->count - 1)->cost_micro_usd : 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t cost = lane_at(p, i)->cost_micro_usd;
        double ratio = wr_simulate_report_ratio(p->report, pooled, p->order[i]);
        const char *class = ratio > 1                   ? "bar dear"
                            : is_other(policy_at(p, i)) ? "bar other"
                                                        : "bar ours";
        wr_html_row(out, i, wr_span_of(policy_at(p, i)), ratio > 1);
        write_usd(out, cost);
        wr_buf_text(out, " USD");
        if (ratio >= 0)
            wr_buf_printf(out, " \xc2\xb7 %.1f %%", 100 * ratio);
        wr_buf_printf(out, " \xc2\xb7 %.2f\xc3\x97</text>",
                      wr_simulate_share(cost, pooled->floor_micro_usd));
        wr_html_bar(out, i, class, 0, width_of(cost, dearest));
        wr_html_mark(out, i, "floor", width_of(pooled->floor_micro_usd, dearest));
        wr_buf_byte(out, '\n');
    }
}

static void write_evidence_bars(struct wr_buf *out, const struct page *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct wr_evidence_tally *e = &lane_at(p, i)->evidence;
        uint64_t all = wr_simulate_evidence_total(e->all);
        double hand = width_of(e->all[WR_EVIDENCE_SUPPORTED], all);
        double call = width_of(e->all[WR_EVIDENCE_RECALLABLE], all);
        wr_html_row(out, i, wr_span_of(policy_at(p, i)), e->all[WR_EVIDENCE_LOST] > 0);
        wr_buf_printf(out,
                      "blind %.1f %% \xc2\xb7 1st sight %.1f %% \xc2\xb7 at hand %.1f %% \xc2\xb7 "
                      "lost %llu</text>",
                      100 * wr_simulate_blind(e),
                      percent(e->first_sight[WR_EVIDENCE_SUPPORTED],
                              wr_simulate_evidence_total(e->first_sight)),
                      percent(e->all[WR_EVIDENCE_SUPPORTED], all),
                      (unsigned long long)e->all[WR_EVIDENCE_LOST]);
        wr_html_bar(out, i, "bar hand", 0, hand);
        wr_html_bar(out, i, "call", hand, call);
        wr_html_bar(out, i, "lost", hand + call, width_of(e->all[WR_EVIDENCE_LOST], all));
        wr_buf_byte(out, '\n');
    }
}

static void write_cache_bars(struct wr_buf *out, const struct page *p)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (lane_at(p, i)->prompt_tokens > most)
            most = lane_at(p, i)->prompt_tokens;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct wr_lane_result *r = lane_at(p, i);
        uint64_t plain = r->prompt_tokens - r->read_tokens - r->written_tokens;
        double read = width_of(r->read_tokens, most), written = width_of(r->written_tokens, most);
        wr_html_row(out, i, wr_span_of(policy_at(p, i)), false);
        wr_html_tokens(out, r->prompt_tokens);
        wr_buf_printf(out, " \xc2\xb7 read %.1f %% \xc2\xb7 written %.1f %%</text>",
                      percent(r->read_tokens, r->prompt_tokens),
                      width_of(r->written_tokens, r->prompt_tokens));
        wr_html_bar(out, i, "bar read", 0, read);
        wr_html_bar(out, i, "write", read, written);
        wr_html_bar(out, i, "plain", read + written, width_of(plain, most));
        wr_buf_byte(out, '\n');
    }
}

/* ---- the frontier ---- */

/* What a policy costs, as a share of raw or of the dearest that is shown. */
static double cost_share(const struct page *p, uint32_t row)
{
    double ratio = wr_simulate_report_ratio(p->report, &p->report->pooled, p->order[row]);
    uint64_t dearest = lane_at(p, p->count - 1)->cost_micro_usd;
    return ratio >= 0 ? ratio : wr_simulate_share(lane_at(p, row)->cost_micro_usd, dearest);
}

/* Nobody chooses what costs more than raw by a fifth: it would press all others together. */
static bool is_plotted(const struct page *p, uint32_t row)
{
    return cost_share(p, row) <= 1.2;
}

/* Whether another policy is cheaper with no more blind quotes, or as cheap with fewer. */
static bool is_beaten(const struct page *p, uint32_t row)
{
    double cost = cost_share(p, row), blind = wr_simulate_blind(&lane_at(p, row)->evidence);
    for (uint32_t i = 0; i < p->count; i++) {
        double other = cost_share(p, i), other_blind = wr_simulate_blind(&lane_at(p, i)->evidence);
        bool is_floor = wr_span_starts(wr_span_of(policy_at(p, i)), WR_LIT("clairvoyant"));
        if (i != row && !is_floor && other <= cost && other_blind <= blind &&
            (other < cost || other_blind < blind))
            return true;
    }
    return false;
}

static double plotted_blind_max(const struct page *p)
{
    double most = 0.02;
    for (uint32_t i = 0; i < p->count; i++) {
        double blind = wr_simulate_blind(&lane_at(p, i)->evidence);
        if (is_plotted(p, i) && blind > most)
            most = blind;
    }
    return most * 1.15;
}

static void write_axes(struct wr_buf *out, double blind_max)
{
    enum { TICKS = 4 };
    for (int i = 0; i <= TICKS; i++) {
        double x = PLOT_LEFT + (double)PLOT_WIDTH * i / TICKS;
        double y = PLOT_TOP + (double)PLOT_HEIGHT * i / TICKS;
        wr_buf_printf(out,
                      "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%.1f %%</text>"
                      "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.0f %%</text>"
                      "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.0f\" y2=\"%.0f\"/>\n",
                      x, PLOT_TOP + PLOT_HEIGHT + 16, 100 * blind_max * i / TICKS, PLOT_LEFT - 6,
                      y + 4, 120 - 30.0 * i, PLOT_LEFT, PLOT_LEFT + PLOT_WIDTH, y, y);
    }
    wr_buf_printf(out,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">blind quotes, of requests with "
                  "evidence</text>\n",
                  PLOT_LEFT + PLOT_WIDTH / 2, PLOT_TOP + PLOT_HEIGHT + 34);
}

/* From 0 to 120 % of raw upwards, and from no blind quotes to the right. */
static void write_frontier(struct wr_buf *out, const struct page *p)
{
    double blind_max = plotted_blind_max(p);
    wr_buf_printf(out,
                  "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"cost "
                  "against blind quotes\">\n",
                  PLOT_LEFT + PLOT_WIDTH + 110, PLOT_TOP + PLOT_HEIGHT + PLOT_BELOW);
    write_axes(out, blind_max);
    for (uint32_t i = 0; i < p->count; i++) {
        double blind = wr_simulate_blind(&lane_at(p, i)->evidence);
        double x = PLOT_LEFT + PLOT_WIDTH * blind / blind_max;
        double y = PLOT_TOP + PLOT_HEIGHT * (1 - cost_share(p, i) / 1.2);
        if (!is_plotted(p, i))
            continue;
        wr_buf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
                      is_other(policy_at(p, i)) ? "dot-other" : "dot-ours", x, y,
                      is_beaten(p, i) ? 3 : 6);
        escape(out, policy_at(p, i));
        wr_buf_printf(out, ": %.1f %% of raw, %.2f %% blind</title></circle>",
                      100 * cost_share(p, i), 100 * blind);
        wr_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 9, y + 4);
        escape(out, policy_at(p, i));
        wr_buf_text(out, "</text>\n");
    }
    wr_buf_text(out, "</svg>");
}

/* ---- the prompt over a session's life ---- */

static uint32_t peak_of(const uint32_t *points, uint32_t count)
{
    uint32_t peak = 0;
    for (uint32_t i = 0; i < count; i++)
        if (points[i] > peak)
            peak = points[i];
    return peak;
}

static void write_points(struct wr_buf *out, const uint32_t *points, uint32_t count, uint32_t peak)
{
    for (uint32_t i = 0; i < count; i++)
        wr_buf_printf(out, "%s%.1f,%.1f", i ? " " : "",
                      count > 1 ? (double)i * LIFE_WIDTH / (count - 1) : 0.0,
                      LIFE_HEIGHT - (peak ? (double)points[i] * LIFE_HEIGHT / peak : 0.0));
}

static void write_life(struct wr_buf *out, const struct page *p, uint32_t policy, uint32_t peak)
{
    const struct wr_simulate_life *life = &p->report->longest;
    const uint32_t *points = life->points + (size_t)policy * life->points_count;
    uint32_t base = wr_simulate_report_base(p->report), count = life->points_count;

    wr_buf_printf(out,
                  "<figure><svg role=\"img\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "aria-label=\"prompt size under ",
                  LIFE_WIDTH, LIFE_HEIGHT);
    escape(out, p->report->options.policies[policy]);
    wr_buf_printf(out, "\"><polygon class=\"area\" points=\"0,%d ", LIFE_HEIGHT);
    write_points(out, points, count, peak);
    wr_buf_printf(out, " %d,%d\"/>", count > 1 ? LIFE_WIDTH : 0, LIFE_HEIGHT);
    if (base != UINT32_MAX) {
        wr_buf_text(out, "<polyline class=\"raw\" vector-effect=\"non-scaling-stroke\" points=\"");
        write_points(out, life->points + (size_t)base * count, count, peak);
        wr_buf_text(out, "\"/>");
    }
    wr_buf_text(out, "</svg><figcaption>");
    escape(out, p->report->options.policies[policy]);
    wr_buf_text(out, "<br/>at most ");
    wr_html_tokens(out, peak_of(points, count));
    wr_buf_text(out, "</figcaption></figure>\n");
}

static uint32_t highest_of_lives(const struct page *p)
{
    return peak_of(p->report->longest.points, p->count * p->report->longest.points_count);
}

static void write_lives(struct wr_buf *out, const struct page *p)
{
    uint32_t peak = highest_of_lives(p);
    for (uint32_t i = 0; i < p->count; i++)
        write_life(out, p, p->order[i], peak);
}

/* ---- tables ---- */

static void write_td(struct wr_buf *out, bool is_bad)
{
    wr_buf_text(out, is_bad ? "<td class=\"bad\">" : "<td>");
}

static void write_count(struct wr_buf *out, uint64_t count, bool is_bad)
{
    write_td(out, is_bad && count);
    wr_buf_printf(out, "%llu</td>", (unsigned long long)count);
}

static void write_policy(struct wr_buf *out, const struct wr_simulate_report *report,
                         const struct wr_simulate_agent *agent, uint32_t policy)
{
    const struct wr_lane_result *r = &agent->lanes[policy];
    const uint64_t *all = r->evidence.all, *sight = r->evidence.first_sight;
    double ratio = wr_simulate_report_ratio(report, agent, policy);

    wr_buf_text(out, "<tr><td>");
    escape(out, report->options.policies[policy]);
    wr_buf_text(out, "</td><td>");
    write_usd(out, r->cost_micro_usd);
    wr_buf_text(out, "</td>");
    write_td(out, ratio > 1);
    if (ratio >= 0)
        wr_buf_printf(out, "%.1f %%</td><td>%.1f %%", 100 * ratio,
                      100 * wr_simulate_report_agent_median(report, agent, policy));
    else
        wr_buf_text(out, "</td><td>");
    wr_buf_printf(out, "</td><td>%.2f\xc3\x97</td><td>%.2f %%</td><td>%.2f %%</td>",
                  wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd),
                  100 * wr_simulate_blind(&r->evidence),
                  100 * wr_simulate_all_missing(&r->evidence));
    write_count(out, r->evidence.user_tokens_gone, true);
    wr_buf_printf(out, "<td>%.2f %%</td><td>%.2f %%</td><td>%.2f %%</td>",
                  percent(sight[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(sight)),
                  percent(r->evidence.sight_results_whole, r->evidence.sight_results),
                  percent(all[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(all)));
    write_count(out, all[WR_EVIDENCE_LOST], true);
    write_count(out, r->recalls, false);
    wr_buf_printf(out, "<td>%.1f %%</td>", percent(r->read_tokens, r->prompt_tokens));
    write_count(out, r->steps, false);
    write_count(out, r->over_window, true);
    wr_buf_text(out, "</tr>\n");
}

static void write_agent(struct wr_buf *out, const struct wr_simulate_report *report,
                        const struct wr_simulate_agent *agent)
{
    uint32_t order[WR_SIMULATE_LANES_MAX];
    wr_simulate_report_rank(report, agent, order);
    wr_buf_text(out, "<details open=\"open\"><summary><strong>");
    escape(out, agent->name);
    wr_buf_printf(out, "</strong>, %u session%s, floor ", agent->sessions_count,
                  agent->sessions_count == 1 ? "" : "s");
    write_usd(out, agent->floor_micro_usd);
    wr_buf_text(out, " USD</summary><div class=\"scroll\"><table>\n<tr><th>policy</th><th>USD</th>"
                     "<th>of raw</th><th>median</th><th>floor</th><th>blind quotes</th>"
                     "<th>nothing at hand</th><th>user tokens gone</th><th>first sight</th>"
                     "<th>by result</th><th>at hand</th><th>lost</th><th>recalls</th>"
                     "<th>cached</th><th>steps</th><th>over window</th></tr>\n");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        write_policy(out, report, agent, order[i]);
    wr_buf_text(out, "</table></div></details>\n");
}

static void write_agents(struct wr_buf *out, const struct wr_simulate_report *report)
{
    write_agent(out, report, &report->pooled);
    for (uint32_t i = 0; i < report->agents_count; i++)
        write_agent(out, report, &report->agents[i]);
}

/* The session that a policy served worst; NULL: there is nothing to compare with. */
static const struct wr_simulate_row *worst_of(const struct wr_simulate_report *report,
                                              uint32_t policy, double *worst)
{
    uint32_t base = wr_simulate_report_base(report);
    const struct wr_simulate_row *row = NULL;
    *worst = -1;
    for (uint32_t i = 0; base != UINT32_MAX && i < report->sessions_count; i++) {
        const struct wr_simulate_cell *cells = report->rows[i].cells;
        double ratio = wr_simulate_share(cells[policy].cost_micro_usd, cells[base].cost_micro_usd);
        if (ratio <= *worst)
            continue;
        *worst = ratio;
        row = &report->rows[i];
    }
    return row;
}

static void write_session_rows(struct wr_buf *out, const struct page *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        double ratio, median = wr_simulate_report_median(p->report, p->order[i]);
        const struct wr_simulate_row *row = worst_of(p->report, p->order[i], &ratio);
        wr_buf_text(out, "<tr><td>");
        escape(out, policy_at(p, i));
        wr_buf_printf(out, "</td><td>%.1f %%</td>", 100 * median);
        write_count(out, wr_simulate_report_dearer(p->report, p->order[i]), true);
        write_td(out, ratio > 1.02);
        wr_buf_printf(out, "%.1f %%</td><td>", 100 * ratio);
        escape(out, row ? row->path : "");
        wr_buf_text(out, "</td></tr>\n");
    }
}

static void write_model_names(struct wr_buf *out, const struct wr_simulate_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        wr_buf_text(out, "<th>");
        escape(out, set->reports[i]->options.model ? set->reports[i]->options.model : "");
        wr_buf_text(out, "</th>");
    }
}

static void write_model_rows(struct wr_buf *out, const struct page *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        wr_buf_text(out, "<tr><td>");
        escape(out, policy_at(p, k));
        wr_buf_text(out, "</td>");
        for (uint32_t i = 0; i < p->set->count; i++) {
            const struct wr_simulate_agent *pooled = &p->set->reports[i]->pooled;
            uint64_t cost = pooled->lanes[p->order[k]].cost_micro_usd;
            double ratio = wr_simulate_report_ratio(p->set->reports[i], pooled, p->order[k]);
            write_td(out, ratio > 1);
            write_usd(out, cost);
            if (ratio >= 0)
                wr_buf_printf(out, " \xc2\xb7 %.1f %%", 100 * ratio);
            wr_buf_printf(out, " \xc2\xb7 %.2f\xc3\x97</td>",
                          wr_simulate_share(cost, pooled->floor_micro_usd));
        }
        wr_buf_text(out, "</tr>\n");
    }
}

/* ---- the page ---- */

static bool fill_head(struct wr_buf *out, weir_span name, const struct wr_simulate_report *report)
{
    const struct wr_simulate_options *o = &report->options;
    uint32_t sessions = report->sessions_count, timeless = report->without_times_count;
    if (wr_span_is(name, "sessions_count"))
        wr_buf_printf(out, "%u recorded session%s", sessions, sessions == 1 ? "" : "s");
    else if (wr_span_is(name, "model"))
        escape(out, o->model ? o->model : "each log's own model");
    else if (wr_span_is(name, "window"))
        wr_buf_printf(out, "%u tokens%s", o->window_tokens,
                      o->without_recall ? ", without weir_recall" : "");
    else if (wr_span_is(name, "times") && timeless)
        wr_buf_printf(out,
                      "%u of the logs ha%s no time stamps: there nothing expires from the cache, "
                      "so they come out cheaper than in life.",
                      timeless, timeless == 1 ? "s" : "ve");
    else if (wr_span_is(name, "times"))
        wr_buf_text(out, "Every log has time stamps, so pauses count.");
    else
        return false;
    return true;
}

static bool fill_place(struct wr_buf *out, weir_span name, const void *data)
{
    const struct page *p = data;
    const struct wr_simulate_life *life = &p->report->longest;
    if (wr_span_is(name, "?life"))
        return life->path;
    if (wr_span_is(name, "?sessions"))
        return wr_simulate_report_base(p->report) != UINT32_MAX;
    if (wr_span_is(name, "?models"))
        return p->set->count > 1;
    if (wr_span_is(name, "chart_px"))
        wr_buf_printf(out, "%u", p->count * WR_HTML_ROW_PX + 4);
    else if (wr_span_is(name, "cost_bars"))
        write_cost_bars(out, p);
    else if (wr_span_is(name, "evidence_bars"))
        write_evidence_bars(out, p);
    else if (wr_span_is(name, "frontier"))
        write_frontier(out, p);
    else if (wr_span_is(name, "cache_bars"))
        write_cache_bars(out, p);
    else if (wr_span_is(name, "life_path"))
        escape(out, life->path);
    else if (wr_span_is(name, "life_requests"))
        wr_buf_printf(out, "%u", life->requests_count);
    else if (wr_span_is(name, "life_peak"))
        wr_html_tokens(out, highest_of_lives(p));
    else if (wr_span_is(name, "lives"))
        write_lives(out, p);
    else if (wr_span_is(name, "session_rows"))
        write_session_rows(out, p);
    else if (wr_span_is(name, "model_names"))
        write_model_names(out, p->set);
    else if (wr_span_is(name, "model_rows"))
        write_model_rows(out, p);
    else if (wr_span_is(name, "agents"))
        write_agents(out, p->report);
    else
        return fill_head(out, name, p->report);
    return true;
}

void wr_simulate_html(const struct wr_simulate_set *set, struct wr_buf *out)
{
    struct page p = {.set = set, .report = set->reports[0]};
    wr_simulate_report_sort(set->reports[0]);
    p.count = wr_simulate_report_shown(p.report);
    wr_simulate_report_rank(p.report, &p.report->pooled, p.order);
    wr_html_fill(out, WR_EMBEDDED(wr_simulate_page), fill_place, &p);
}
