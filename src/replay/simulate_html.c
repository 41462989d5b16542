#include "replay/simulate_html.h"

#include "base/span.h"
#include "base/utf8.h"

/* Of a bar chart, in CSS pixels: the policy above each bar, its figures below, so that a long name
 * and long figures do not meet on a phone. */
enum { ROW_PX = 60, NAME_PX = 14, BAR_TOP_PX = 20, BAR_PX = 12, FIGURES_PX = 46 };

/* Of a small chart of a session's life, in its own units. */
enum { LIFE_WIDTH = 1000, LIFE_HEIGHT = 100 };

const char wr_html_style[] =
    ":root{color-scheme:light dark;--page:#fcfcfa;--ink:#1d2327;--soft:#5a646b;--line:#d9dcd8;"
    "--panel:#fff;--ours:#1f6f8b;--other:#8a8f94;--warn:#b3261e;--read:#4a9a6a;--write:#d08a1d;"
    "--plain:#7b6fb0}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#14181a;--ink:#e6eaea;--soft:#a3adb0;"
    "--line:#333b3e;--panel:#1b2023;--ours:#5bb3d0;--other:#8b9296;--warn:#ff8a80;--read:#67bd8a;"
    "--write:#e2ab52;--plain:#a79be0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:76rem;padding:.75rem;background:var(--page);color:var(--ink);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:0 0 .25rem}\n"
    "p{margin:.35rem 0;max-width:46rem}.soft,figcaption{color:var(--soft);font-size:.9rem}\n"
    ".charts{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),"
    "1fr))}\n"
    "section{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;"
    "padding:.75rem;margin:1rem 0;min-width:0}.charts section{margin:0}\n"
    "figure{margin:0;min-width:0}svg{display:block;width:100%;overflow:hidden}\n"
    "svg text{fill:var(--ink);font:13px system-ui,sans-serif}svg "
    "text.v{fill:var(--soft);font-size:12px;"
    "font-variant-numeric:tabular-nums}svg text.bad{fill:var(--warn)}\n"
    ".back{fill:var(--line);opacity:.45}.ours{fill:var(--ours)}.other{fill:var(--other)}"
    ".dear{fill:var(--warn)}.read,.hand{fill:var(--read)}.write,.call{fill:var(--write)}"
    ".plain{fill:var(--plain)}.lost{fill:var(--warn)}\n"
    ".floor{stroke:var(--ink);stroke-dasharray:3 3}\n"
    ".k{white-space:nowrap;margin-right:.8em}.key{display:inline-block;width:.8em;height:.8em;"
    "margin-right:.3em;border-radius:2px}"
    ".k-ours{background:var(--ours)}.k-other{background:"
    "var(--other)}.k-dear,.k-lost{background:var(--warn)}.k-read,.k-hand{background:var(--read)}"
    ".k-write,.k-call{background:var(--write)}.k-plain{background:var(--plain)}\n"
    ".lives{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr))}\n"
    ".lives svg{height:5rem;border-bottom:1px solid var(--line)}.lives figcaption{line-height:1.3}"
    ".lives .raw{fill:none;stroke:var(--other);stroke-width:1.5}.lives .area{fill:var(--ours);"
    "opacity:.75}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;"
    "font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    "th,td{padding:.2rem .55rem;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "td.bad{color:var(--warn);font-weight:600}\n"
    "summary{cursor:pointer;padding:.3rem 0}summary strong{font-size:1.02rem}\n";

/* ---- small things ---- */

void wr_html_escape(struct wr_buf *out, weir_span text)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    while (text.len) {
        uint32_t code;
        size_t bytes = wr_utf8_decode(text, false, &code);
        bool is_shown = bytes && code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0) &&
                        (code & 0xfffe) != 0xfffe;
        if (!is_shown)
            wr_buf_text(out, "\xef\xbf\xbd");
        else if (code < sizeof(names) / sizeof(names[0]) && names[code])
            wr_buf_text(out, names[code]);
        else
            wr_buf_append(out, wr_span_cut(text, 0, bytes));
        text = wr_span_cut(text, bytes ? bytes : 1, text.len);
    }
}

static void escape(struct wr_buf *out, const char *text)
{
    wr_html_escape(out, wr_span_of(text));
}

static double usd(uint64_t micro_usd)
{
    return (double)micro_usd / 1e6;
}

static void write_usd(struct wr_buf *out, uint64_t micro_usd)
{
    wr_buf_printf(out, micro_usd < 1000000 ? "%.4f" : "%.2f", usd(micro_usd));
}

static void write_tokens(struct wr_buf *out, uint64_t tokens)
{
    if (tokens >= 1000000)
        wr_buf_printf(out, "%.1f M", (double)tokens / 1e6);
    else if (tokens >= 1000)
        wr_buf_printf(out, "%.1f K", (double)tokens / 1e3);
    else
        wr_buf_printf(out, "%llu", (unsigned long long)tokens);
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

/* ---- bars ---- */

/* An entry of a chart's legend. */
#define KEY(name, words) "<span class=\"k\"><i class=\"key k-" name "\"></i>" words "</span> "

struct chart {
    struct wr_buf *out;
    const struct wr_simulate_report *report;
    uint32_t order[WR_SIMULATE_LANES_MAX];
    uint32_t count;
    uint64_t whole; /* what the full width stands for */
};

static const struct wr_lane_result *lane_of(const struct chart *c, uint32_t row)
{
    return &c->report->pooled.lanes[c->order[row]];
}

static void open_chart(struct chart *c, const char *id, const char *title, const char *caption)
{
    wr_buf_printf(c->out,
                  "<section id=\"%s\"><h2>%s</h2>\n<figure><figcaption>%s</figcaption>\n"
                  "<svg role=\"img\" aria-label=\"%s\" height=\"%u\">\n",
                  id, title, caption, title, c->count * ROW_PX + 4);
}

static void close_chart(struct chart *c)
{
    wr_buf_text(c->out, "</svg></figure></section>\n");
}

/* The policy's name and the ground of its bar; the figures follow, which the caller writes and ends
 * with `</text>`. */
static void open_row(struct chart *c, uint32_t row, bool is_bad)
{
    const char *policy = c->report->options.policies[c->order[row]];
    uint32_t top = row * ROW_PX;
    wr_buf_printf(c->out, "<text x=\"0\" y=\"%u\">", top + NAME_PX);
    escape(c->out, policy);
    wr_buf_printf(c->out,
                  "</text><rect class=\"back\" x=\"0\" y=\"%u\" width=\"100%%\" height=\"%d\"/>"
                  "<text class=\"v%s\" x=\"0\" y=\"%u\">",
                  top + BAR_TOP_PX, BAR_PX, is_bad ? " bad" : "", top + FIGURES_PX);
}

static void write_bar(struct chart *c, uint32_t row, const char *class, double from, double width)
{
    wr_buf_printf(c->out,
                  "<rect class=\"%s\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"/>",
                  class, from, row * ROW_PX + BAR_TOP_PX, width, BAR_PX);
}

static void write_floor(const struct chart *c, uint32_t row)
{
    double floor = width_of(c->report->pooled.floor_micro_usd, c->whole);
    uint32_t top = row * ROW_PX + BAR_TOP_PX;
    wr_buf_printf(c->out,
                  "<line class=\"floor\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%u\" y2=\"%u\"/>\n",
                  floor, floor, top - 3, top + BAR_PX + 3);
}

static void write_cost_chart(struct chart *c)
{
    const struct wr_simulate_agent *pooled = &c->report->pooled;
    open_chart(c, "cost", "What each policy costs",
               "All sessions together, the cheapest first: USD, share of raw, times the floor (the "
               "dashed mark). " KEY("ours", "ours")
                   KEY("other", "raw, or a model of another system")
                       KEY("dear", "dearer than raw"));
    c->whole = c->count ? lane_of(c, c->count - 1)->cost_micro_usd : 0;
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t cost = lane_of(c, i)->cost_micro_usd;
        double ratio = wr_simulate_report_ratio(c->report, pooled, c->order[i]);
        bool other = is_other(c->report->options.policies[c->order[i]]);
        open_row(c, i, ratio > 1);
        write_usd(c->out, cost);
        wr_buf_text(c->out, " USD");
        if (ratio >= 0)
            wr_buf_printf(c->out, " \xc2\xb7 %.1f %%", 100 * ratio);
        wr_buf_printf(c->out, " \xc2\xb7 %.2f\xc3\x97</text>",
                      wr_simulate_share(cost, pooled->floor_micro_usd));
        write_bar(c, i,
                  ratio > 1 ? "bar dear"
                  : other   ? "bar other"
                            : "bar ours",
                  0, width_of(cost, c->whole));
        write_floor(c, i);
    }
    close_chart(c);
}

static void write_evidence_chart(struct chart *c)
{
    open_chart(c, "evidence", "What the answers still found",
               "Of all that recorded answers took from earlier results: " KEY("hand", "at hand")
                   KEY("call", "a recall away, which is paid for")
                       KEY("lost", "lost") "First sight: of what came since the answer before, how "
                                           "much was in the prompt.");
    for (uint32_t i = 0; i < c->count; i++) {
        const struct wr_evidence_tally *e = &lane_of(c, i)->evidence;
        uint64_t all = wr_simulate_evidence_total(e->all);
        double hand = width_of(e->all[WR_EVIDENCE_SUPPORTED], all);
        double call = width_of(e->all[WR_EVIDENCE_RECALLABLE], all);
        double lost = width_of(e->all[WR_EVIDENCE_LOST], all);
        open_row(c, i, e->all[WR_EVIDENCE_LOST] > 0);
        wr_buf_printf(c->out,
                      "1st sight %.1f %% \xc2\xb7 at hand %.1f %% \xc2\xb7 lost %llu</text>",
                      percent(e->first_sight[WR_EVIDENCE_SUPPORTED],
                              wr_simulate_evidence_total(e->first_sight)),
                      percent(e->all[WR_EVIDENCE_SUPPORTED], all),
                      (unsigned long long)e->all[WR_EVIDENCE_LOST]);
        write_bar(c, i, "bar hand", 0, hand);
        write_bar(c, i, "call", hand, call);
        write_bar(c, i, "lost", hand + call, lost);
        wr_buf_byte(c->out, '\n');
    }
    close_chart(c);
}

static void write_cache_chart(struct chart *c)
{
    open_chart(c, "cache", "What is read from cache, and written to it",
               "Tokens of all prompts: " KEY("read", "read from the provider's cache")
                   KEY("write", "written to it") KEY("plain", "neither"));
    c->whole = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (lane_of(c, i)->prompt_tokens > c->whole)
            c->whole = lane_of(c, i)->prompt_tokens;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct wr_lane_result *r = lane_of(c, i);
        uint64_t plain = r->prompt_tokens - r->read_tokens - r->written_tokens;
        double read = width_of(r->read_tokens, c->whole);
        double written = width_of(r->written_tokens, c->whole);
        open_row(c, i, false);
        write_tokens(c->out, r->prompt_tokens);
        wr_buf_printf(c->out, " \xc2\xb7 read %.1f %% \xc2\xb7 written %.1f %%</text>",
                      percent(r->read_tokens, r->prompt_tokens),
                      width_of(r->written_tokens, r->prompt_tokens));
        write_bar(c, i, "bar read", 0, read);
        write_bar(c, i, "write", read, written);
        write_bar(c, i, "plain", read + written, width_of(plain, c->whole));
        wr_buf_byte(c->out, '\n');
    }
    close_chart(c);
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

static void write_life(const struct chart *c, uint32_t policy, uint32_t peak)
{
    const struct wr_simulate_life *life = &c->report->longest;
    const uint32_t *points = life->points + (size_t)policy * life->points_count;
    uint32_t base = wr_simulate_report_base(c->report), count = life->points_count;

    wr_buf_printf(c->out,
                  "<figure><svg role=\"img\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "aria-label=\"prompt size under ",
                  LIFE_WIDTH, LIFE_HEIGHT);
    escape(c->out, c->report->options.policies[policy]);
    wr_buf_printf(c->out, "\"><polygon class=\"area\" points=\"0,%d ", LIFE_HEIGHT);
    write_points(c->out, points, count, peak);
    wr_buf_printf(c->out, " %d,%d\"/>", count > 1 ? LIFE_WIDTH : 0, LIFE_HEIGHT);
    if (base != UINT32_MAX) {
        wr_buf_text(c->out,
                    "<polyline class=\"raw\" vector-effect=\"non-scaling-stroke\" points=\"");
        write_points(c->out, life->points + (size_t)base * count, count, peak);
        wr_buf_text(c->out, "\"/>");
    }
    wr_buf_text(c->out, "</svg><figcaption>");
    escape(c->out, c->report->options.policies[policy]);
    wr_buf_text(c->out, "<br/>at most ");
    write_tokens(c->out, peak_of(points, count));
    wr_buf_text(c->out, "</figcaption></figure>\n");
}

static void write_lives(const struct chart *c)
{
    const struct wr_simulate_life *life = &c->report->longest;
    if (!life->path)
        return;
    uint32_t peak = peak_of(life->points, c->count * life->points_count);
    wr_buf_text(c->out, "<section id=\"life\"><h2>How the prompt grows in the largest session</h2>"
                        "\n<p class=\"soft\">");
    escape(c->out, life->path);
    wr_buf_printf(c->out, ", %u requests from left to right, 0 to ", life->requests_count);
    write_tokens(c->out, peak);
    wr_buf_text(c->out, " tokens from bottom to top; the line is the prompt as the agent sent it."
                        "</p>\n<div class=\"lives\">\n");
    for (uint32_t i = 0; i < c->count; i++)
        write_life(c, c->order[i], peak);
    wr_buf_text(c->out, "</div></section>\n");
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
    wr_buf_printf(out, "</td><td>%.2f\xc3\x97</td><td>%.1f %%</td><td>%.2f %%</td><td>%.2f %%</td>",
                  wr_simulate_share(r->cost_micro_usd, agent->floor_micro_usd),
                  percent(r->read_tokens, r->prompt_tokens),
                  percent(sight[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(sight)),
                  percent(all[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(all)));
    write_count(out, all[WR_EVIDENCE_LOST], true);
    write_count(out, r->recalls, false);
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
                     "<th>of raw</th><th>median</th><th>floor</th><th>cached</th><th>first "
                     "sight</th><th>at hand</th>"
                     "<th>lost</th><th>recalls</th><th>steps</th><th>over window</th></tr>\n");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        write_policy(out, report, agent, order[i]);
    wr_buf_text(out, "</table></div></details>\n");
}

static void write_agents(struct wr_buf *out, const struct wr_simulate_report *report)
{
    wr_buf_text(out, "<section id=\"agents\"><h2>By agent</h2>\n");
    write_agent(out, report, &report->pooled);
    for (uint32_t i = 0; i < report->agents_count; i++)
        write_agent(out, report, &report->agents[i]);
    wr_buf_text(out, "</section>\n");
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

static void write_sessions(const struct chart *c)
{
    const struct wr_simulate_report *report = c->report;
    struct wr_buf *out = c->out;
    if (wr_simulate_report_base(report) == UINT32_MAX)
        return;
    wr_buf_text(out, "<section id=\"sessions\"><h2>Session by session, against raw</h2>\n"
                     "<div class=\"scroll\"><table><tr><th>policy</th><th>median</th>"
                     "<th>dearer by over 2 %</th><th>worst</th><th>the worst session</th></tr>\n");
    for (uint32_t i = 0; i < c->count; i++) {
        double ratio, median = wr_simulate_report_median(report, c->order[i]);
        const struct wr_simulate_row *row = worst_of(report, c->order[i], &ratio);
        wr_buf_text(out, "<tr><td>");
        escape(out, report->options.policies[c->order[i]]);
        wr_buf_printf(out, "</td><td>%.1f %%</td>", 100 * median);
        write_count(out, wr_simulate_report_dearer(report, c->order[i]), true);
        write_td(out, ratio > 1.02);
        wr_buf_printf(out, "%.1f %%</td><td>", 100 * ratio);
        escape(out, row ? row->path : "");
        wr_buf_text(out, "</td></tr>\n");
    }
    wr_buf_text(out, "</table></div></section>\n");
}

static void write_models(const struct chart *c, const struct wr_simulate_set *set)
{
    struct wr_buf *out = c->out;
    if (set->count < 2)
        return;
    wr_buf_text(out, "<section id=\"models\"><h2>At other prices</h2>\n<p class=\"soft\">USD, "
                     "share of raw, times the floor.</p><div class=\"scroll\"><table>"
                     "<tr><th>policy</th>");
    for (uint32_t i = 0; i < set->count; i++) {
        wr_buf_text(out, "<th>");
        escape(out, set->reports[i]->options.model ? set->reports[i]->options.model : "");
        wr_buf_text(out, "</th>");
    }
    wr_buf_text(out, "</tr>\n");
    for (uint32_t k = 0; k < c->count; k++) {
        wr_buf_text(out, "<tr><td>");
        escape(out, c->report->options.policies[c->order[k]]);
        wr_buf_text(out, "</td>");
        for (uint32_t i = 0; i < set->count; i++) {
            const struct wr_simulate_agent *pooled = &set->reports[i]->pooled;
            uint64_t cost = pooled->lanes[c->order[k]].cost_micro_usd;
            double ratio = wr_simulate_report_ratio(set->reports[i], pooled, c->order[k]);
            write_td(out, ratio > 1);
            write_usd(out, cost);
            if (ratio >= 0)
                wr_buf_printf(out, " \xc2\xb7 %.1f %%", 100 * ratio);
            wr_buf_printf(out, " \xc2\xb7 %.2f\xc3\x97</td>",
                          wr_simulate_share(cost, pooled->floor_micro_usd));
        }
        wr_buf_text(out, "</tr>\n");
    }
    wr_buf_text(out, "</table></div></section>\n");
}

/* ---- the page ---- */

static void write_head(const struct chart *c)
{
    const struct wr_simulate_report *report = c->report;
    struct wr_buf *out = c->out;
    wr_buf_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                     "<link rel=\"icon\" href=\"data:,\"/>\n<title>weir simulate</title>\n<style>");
    wr_buf_text(out, wr_html_style);
    wr_buf_printf(out,
                  "</style></head>\n<body>\n<h1>What %u recorded session%s would have cost</h1>\n"
                  "<p>At the prices and cache rules of <strong>",
                  report->sessions_count, report->sessions_count == 1 ? "" : "s");
    escape(out, report->options.model ? report->options.model : "each log's own model");
    wr_buf_printf(out, "</strong>, in a window of %u tokens%s. ", report->options.window_tokens,
                  report->options.without_recall ? ", without weir_recall" : "");
    if (report->without_times_count)
        wr_buf_printf(out,
                      "%u of the logs ha%s no time stamps: there nothing expires from the cache, "
                      "so they come out cheaper than in life.",
                      report->without_times_count, report->without_times_count == 1 ? "s" : "ve");
    else
        wr_buf_text(out, "Every log has time stamps, so pauses count.");
    wr_buf_text(out, "</p>\n<p class=\"soft\">Every request went through the real engine; a recall "
                     "is a whole extra request. The floor is a clairvoyant that keeps of each "
                     "result only the lines that a later answer uses. What the page does not show: "
                     "whether the agent would have answered as well.</p>\n");
}

void wr_simulate_html(const struct wr_simulate_set *set, struct wr_buf *out)
{
    struct chart c = {.out = out, .report = set->reports[0]};
    wr_simulate_report_sort(set->reports[0]);
    c.count = wr_simulate_report_shown(c.report);
    wr_simulate_report_rank(c.report, &c.report->pooled, c.order);
    write_head(&c);
    wr_buf_text(out, "<div class=\"charts\">\n");
    write_cost_chart(&c);
    write_evidence_chart(&c);
    write_cache_chart(&c);
    wr_buf_text(out, "</div>\n");
    write_lives(&c);
    write_sessions(&c);
    write_models(&c, set);
    write_agents(out, c.report);
    wr_buf_text(out, "</body></html>\n");
}
