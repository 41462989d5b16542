#include "base/span.h"
#include "ledger/report.h"
#include "replay/simulate_html.h"

/* Of a chart over time, in its own units; and how many bars it has at most. */
enum { WIDTH = 1000, HEIGHT = 100, SLOTS_MAX = 60 };

/* Of a row of the chart of busts, in CSS pixels: the cause above its bar, its figures below. */
enum { ROW_PX = 60, NAME_PX = 14, BAR_TOP_PX = 20, BAR_PX = 12, FIGURES_PX = 46 };

static const char style[] =
    ".time svg{height:9rem;border-bottom:1px solid var(--line)}.time figcaption{margin:.2rem 0}"
    ".raw{fill:var(--other);opacity:.55}.sent{fill:var(--ours)}"
    ".k-raw{background:var(--other)}.k-sent{background:var(--ours)}"
    ".sums{display:grid;gap:.5rem;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));"
    "margin:.75rem 0}.sums div{background:var(--panel);border:1px solid var(--line);"
    "border-radius:.5rem;padding:.5rem .75rem}.sums strong{display:block;font-size:1.3rem}\n";

#define KEY(name, words) "<span class=\"k\"><i class=\"key k-" name "\"></i>" words "</span> "

/* ---- figures ---- */

static void write_usd(struct wr_buf *out, int64_t micro_usd)
{
    double usd = (double)micro_usd / 1e6;
    wr_buf_printf(out, usd < 1 && usd > -1 ? "%s$%.4f" : "%s$%.2f", usd < 0 ? "\xe2\x88\x92" : "",
                  usd < 0 ? -usd : usd);
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

static int64_t saved(const struct wr_tally *t)
{
    return (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t sum_busts(const uint64_t *busts)
{
    uint64_t sum = 0;
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        sum += busts[i];
    return sum;
}

/* ---- time ---- */

/* A stretch of time: as many hours as leave at most SLOTS_MAX of them. */
struct slot {
    uint64_t raw, sent;
};

struct series {
    struct slot slots[SLOTS_MAX];
    size_t count;
    uint64_t peak;
    int64_t first_ms, slot_ms;
};

typedef struct slot take_fn(const struct wr_report_hour *hour);

static struct slot take_money(const struct wr_report_hour *hour)
{
    return (struct slot){hour->unchanged_micro_usd, hour->micro_usd};
}

static struct slot take_tokens(const struct wr_report_hour *hour)
{
    return (struct slot){hour->raw_tokens, hour->sent_tokens};
}

static struct series read_series(const struct wr_report *report, take_fn *take)
{
    struct series s = {.slot_ms = 3600000};
    size_t last = report->hours_count ? report->hours_count - 1 : 0;

    if (!report->hours_count)
        return s;
    s.first_ms = report->hours[0].start_ms;
    int64_t hours = (report->hours[last].start_ms - s.first_ms) / s.slot_ms + 1;
    s.slot_ms *= (hours + SLOTS_MAX - 1) / SLOTS_MAX;
    for (size_t i = 0; i < report->hours_count; i++) {
        size_t at = (size_t)((report->hours[i].start_ms - s.first_ms) / s.slot_ms);
        struct slot one = take(&report->hours[i]);
        s.slots[at].raw += one.raw;
        s.slots[at].sent += one.sent;
        s.count = at + 1;
    }
    for (size_t i = 0; i < s.count; i++) {
        s.peak = s.slots[i].raw > s.peak ? s.slots[i].raw : s.peak;
        s.peak = s.slots[i].sent > s.peak ? s.slots[i].sent : s.peak;
    }
    return s;
}

static void write_column(struct wr_buf *out, const char *class, size_t at, size_t count,
                         uint64_t value, uint64_t peak, double share)
{
    double step = (double)WIDTH / (double)count;
    double height = peak ? (double)value * HEIGHT / (double)peak : 0;
    wr_buf_printf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
                  class, (double)at * step + step * (1 - share) / 2, HEIGHT - height, step * share,
                  height);
}

static void write_span_of_time(struct wr_buf *out, const struct series *s)
{
    char from[WR_REPORT_TIME_BYTES], to[WR_REPORT_TIME_BYTES];
    int64_t hours = s->slot_ms / 3600000;

    wr_report_time(s->first_ms, from);
    wr_report_time(s->first_ms + s->slot_ms * (int64_t)s->count, to);
    wr_buf_printf(out, "%s to %s UTC, a column is %lld hour%s", from, to, (long long)hours,
                  hours == 1 ? "" : "s");
}

static void write_series(struct wr_buf *out, const char *id, const char *title, const char *legend,
                         const struct series *s, bool is_money)
{
    wr_buf_printf(out,
                  "<section id=\"%s\" class=\"time\"><h2>%s</h2>\n<figure><figcaption>%s"
                  "</figcaption><svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %d %d\" "
                  "preserveAspectRatio=\"none\">",
                  id, title, legend, title, WIDTH, HEIGHT);
    for (size_t i = 0; i < s->count; i++) {
        write_column(out, "raw", i, s->count, s->slots[i].raw, s->peak, 0.9);
        write_column(out, "bar sent", i, s->count, s->slots[i].sent, s->peak, 0.5);
    }
    wr_buf_text(out, "</svg><figcaption>");
    write_span_of_time(out, s);
    wr_buf_text(out, "; the highest is ");
    if (is_money)
        write_usd(out, (int64_t)s->peak);
    else
        write_tokens(out, s->peak);
    wr_buf_text(out, "</figcaption></figure></section>\n");
}

/* ---- busts ---- */

static const char *const causes[] = {
    [WR_BUST_HOST] = "the agent changed what it had sent",
    [WR_BUST_WEIR] = "planned rewrites: they are paid for in what was saved",
    [WR_BUST_MODEL] = "another model, or other tools",
    [WR_BUST_EXPIRED] = "the pause was too long",
    [WR_BUST_PROVIDER] = "nothing had changed",
};

static void write_busts(struct wr_buf *out, const struct wr_tally *all)
{
    uint64_t most = 0;
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        most = all->bust_tokens[i] > most ? all->bust_tokens[i] : most;
    wr_buf_printf(out,
                  "<section id=\"busts\"><h2>Cache busts by cause</h2>\n<figure><figcaption>Tokens "
                  "that were in the provider's cache and were not read from it.</figcaption>"
                  "<svg role=\"img\" aria-label=\"Cache busts by cause\" height=\"%d\">\n",
                  WR_BUSTS_COUNT * ROW_PX + 4);
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        int top = i * ROW_PX;
        wr_buf_printf(out,
                      "<text x=\"0\" y=\"%d\">%s: %s</text><rect class=\"back\" x=\"0\" y=\"%d\" "
                      "width=\"100%%\" height=\"%d\"/><text class=\"v\" x=\"0\" y=\"%d\">",
                      top + NAME_PX, wr_bust_name((enum wr_bust)i), causes[i], top + BAR_TOP_PX,
                      BAR_PX, top + FIGURES_PX);
        write_tokens(out, all->bust_tokens[i]);
        wr_buf_printf(out,
                      " tokens in %llu</text><rect class=\"bar %s\" x=\"0\" y=\"%d\" "
                      "width=\"%.3f%%\" height=\"%d\"/>\n",
                      (unsigned long long)all->busts[i], i == WR_BUST_WEIR ? "other" : "dear",
                      top + BAR_TOP_PX, percent(all->bust_tokens[i], most), BAR_PX);
    }
    wr_buf_text(out, "</svg></figure></section>\n");
}

/* ---- tables ---- */

static void write_count(struct wr_buf *out, uint64_t count, bool is_bad)
{
    wr_buf_printf(out, "<td%s>%llu</td>", is_bad && count ? " class=\"bad\"" : "",
                  (unsigned long long)count);
}

static void write_money_cell(struct wr_buf *out, int64_t micro_usd, bool is_known, bool may_be_bad)
{
    wr_buf_text(out, may_be_bad && is_known && micro_usd < 0 ? "<td class=\"bad\">" : "<td>");
    if (is_known)
        write_usd(out, micro_usd);
    else
        wr_buf_text(out, "?");
    wr_buf_text(out, "</td>");
}

static void write_part(struct wr_buf *out, const struct wr_report_part *part)
{
    const struct wr_tally *t = &part->tally;
    const struct wr_quality *q = &t->quality;
    bool is_priced = t->unpriced_count < t->requests_count;

    wr_buf_text(out, "<tr><td>");
    wr_html_escape(out, part->name.len ? part->name : WR_LIT("(not known)"));
    wr_buf_text(out, "</td>");
    write_count(out, t->requests_count, false);
    write_count(out, t->changed_count, false);
    write_money_cell(out, (int64_t)t->micro_usd, is_priced, false);
    write_money_cell(out, saved(t), is_priced, true);
    wr_buf_printf(out, "<td>%.0f %%</td>", percent(t->sent_tokens, t->raw_tokens));
    write_count(out, sum_busts(t->busts), false);
    write_count(out, q->recalls, false);
    write_count(out, q->missing_artifact_requests, true);
    write_count(out, q->task_completed, false);
    write_count(out, q->corrective_user_messages, false);
    write_count(out, q->repeated_tool_call_count, false);
    write_count(out, q->model_reread_requests, false);
    write_count(out, q->test_or_build_failed_after_rewrite, false);
    write_count(out, q->invalid_tool_call_continuation, true);
    write_count(out, q->upstream_context_errors, false);
    write_count(out, q->placeholders_written, true);
    wr_buf_text(out, "</tr>\n");
}

static void write_parts(struct wr_buf *out, const char *id, const char *title, const char *column,
                        const struct wr_report_parts *parts)
{
    wr_buf_printf(out,
                  "<section id=\"%s\"><h2>%s</h2><div class=\"scroll\"><table><thead><tr><th>%s"
                  "</th><th>requests</th><th>changed</th><th>paid</th><th>saved</th><th>sent of "
                  "what came</th><th>busts</th><th>recalls</th><th>missing</th><th>completed</th>"
                  "<th>corrections</th><th>repeated calls</th><th>read again</th><th>tests broken"
                  "</th><th>bad pairs</th><th>too long</th><th>placeholders</th></tr></thead>"
                  "<tbody>\n",
                  id, title, column);
    for (size_t i = 0; i < parts->count; i++)
        write_part(out, &parts->items[i]);
    wr_buf_text(out, "</tbody></table></div></section>\n");
}

/* ---- the page ---- */

static void write_sums(struct wr_buf *out, const struct wr_report *report)
{
    const struct wr_tally *all = &report->all;

    wr_buf_text(out, "<div class=\"sums\"><div><strong>");
    write_usd(out, (int64_t)all->micro_usd);
    wr_buf_text(out, "</strong>paid</div><div><strong>");
    write_usd(out, (int64_t)all->unchanged_micro_usd);
    wr_buf_text(out, "</strong>had nothing been changed</div><div><strong>");
    write_usd(out, saved(all));
    wr_buf_printf(out, "</strong>saved, recalls and busts paid%s</div><div><strong>",
                  saved(all) < 0 ? ": it was dearer" : "");
    write_tokens(out, all->sent_tokens);
    wr_buf_text(out, "</strong>tokens sent of ");
    write_tokens(out, all->raw_tokens);
    wr_buf_printf(out, "</div><div><strong>%llu</strong>planned rewrites of the cache, cost ",
                  (unsigned long long)all->busts[WR_BUST_WEIR]);
    write_usd(out, (int64_t)all->steps_micro_usd);
    wr_buf_printf(out,
                  "</div><div><strong>%llu</strong>cache busts by others</div><div>"
                  "<strong>%llu</strong>recalls, %llu brought nothing</div></div>\n",
                  (unsigned long long)(sum_busts(all->busts) - all->busts[WR_BUST_WEIR]),
                  (unsigned long long)all->quality.recalls,
                  (unsigned long long)all->quality.missing_artifact_requests);
}

static void write_head(struct wr_buf *out, const struct wr_report *report)
{
    const struct wr_tally *all = &report->all;

    wr_buf_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                     "<link rel=\"icon\" href=\"data:,\"/>\n<title>weir report</title>\n<style>");
    wr_buf_text(out, wr_html_style);
    wr_buf_text(out, style);
    wr_buf_printf(out,
                  "</style></head>\n<body>\n<h1>%llu request%s through Weir</h1>\n<p>Money is what "
                  "the providers' usage says, at their prices.",
                  (unsigned long long)all->requests_count, all->requests_count == 1 ? "" : "s");
    if (all->estimated_count)
        wr_buf_printf(out, " Of %llu requests without usage it is estimated.",
                      (unsigned long long)all->estimated_count);
    if (all->unpriced_count)
        wr_buf_printf(out, " %llu went to models without a price and are in no sum of money.",
                      (unsigned long long)all->unpriced_count);
    if (all->shadow_count)
        wr_buf_printf(out,
                      " %llu were in shadow: their %llu tokens (estimated) would have been sent as "
                      "%llu, which is in no sum.",
                      (unsigned long long)all->shadow_count,
                      (unsigned long long)all->shadow_prompt_tokens,
                      (unsigned long long)all->shadow_would_send_tokens);
    wr_buf_text(out, "</p>\n");
}

void wr_report_html(const struct wr_report *report, struct wr_buf *out)
{
    struct series money = read_series(report, take_money);
    struct series tokens = read_series(report, take_tokens);

    write_head(out, report);
    write_sums(out, report);
    wr_buf_text(out, "<div class=\"charts\">\n");
    write_series(out, "money", "Money over time",
                 KEY("raw", "had nothing been changed") KEY("sent", "paid"), &money, true);
    write_series(out, "tokens", "Tokens that came, and that were sent",
                 KEY("raw", "came") KEY("sent", "sent"), &tokens, false);
    write_busts(out, &report->all);
    wr_buf_text(out, "</div>\n");
    write_parts(out, "agents", "By agent", "agent", &report->agents);
    write_parts(out, "models", "By model", "model", &report->models);
    wr_buf_text(out, "<p class=\"soft\">Signs of quality are counts of what was seen, not verdicts:"
                     " docs/quality.md says what each one means.</p>\n</body></html>\n");
}
