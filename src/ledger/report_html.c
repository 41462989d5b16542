/* The page of `weir report`: web/report.html holds the words, the charts' frames and the tables'
 * heads; fill_place() writes the data of each place in it. Columns, bars and rows of tables are
 * written here, because their number is known only now. */
#include <stdio.h>

#include "base/embed.h"
#include "base/html.h"
#include "base/span.h"
#include "ledger/report.h"

WR_EMBED(wr_report_page, "web/report.html");

/* The size of a chart over time, in the units of its viewBox, and the most columns it has. */
enum { WIDTH = 1000, HEIGHT = 100, SLOTS_MAX = 60 };

/* ---- figures ---- */

static void write_usd(struct wr_buf *out, int64_t micro_usd)
{
    double usd = (double)micro_usd / 1e6;
    wr_buf_printf(out, usd < 1 && usd > -1 ? "%s$%.4f" : "%s$%.2f", usd < 0 ? "\xe2\x88\x92" : "",
                  usd < 0 ? -usd : usd);
}

static int64_t saved_micro_usd(const struct wr_tally *t)
{
    return (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd;
}

static double percent_of(uint64_t part, uint64_t whole)
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

static void write_columns(struct wr_buf *out, const struct series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        write_column(out, "raw", i, s->count, s->slots[i].raw, s->peak, 0.9);
        write_column(out, "bar sent", i, s->count, s->slots[i].sent, s->peak, 0.5);
    }
}

/* ---- busts ---- */

static const char *const causes[] = {
    [WR_BUST_HOST] = "the agent changed what it had sent",
    [WR_BUST_WEIR] = "planned rewrites: they are paid for in what was saved",
    [WR_BUST_MODEL] = "another model, or other tools",
    [WR_BUST_EXPIRED] = "the pause was too long",
    [WR_BUST_PROVIDER] = "nothing had changed",
};

static void write_bust_bars(struct wr_buf *out, const struct wr_tally *all)
{
    uint64_t most = 0;
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        most = all->bust_tokens[i] > most ? all->bust_tokens[i] : most;
    for (uint32_t i = 0; i < WR_BUSTS_COUNT; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s: %s", wr_bust_name((enum wr_bust)i), causes[i]);
        wr_html_row(out, i, wr_span_of(name), false);
        wr_html_tokens(out, all->bust_tokens[i]);
        wr_buf_printf(out, " tokens in %llu</text>", (unsigned long long)all->busts[i]);
        wr_html_bar(out, i, i == WR_BUST_WEIR ? "bar other" : "bar dear", 0,
                    percent_of(all->bust_tokens[i], most));
        wr_buf_byte(out, '\n');
    }
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
    write_money_cell(out, saved_micro_usd(t), is_priced, true);
    wr_buf_printf(out, "<td>%.0f %%</td>", percent_of(t->sent_tokens, t->raw_tokens));
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

static void write_parts(struct wr_buf *out, const struct wr_report_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        write_part(out, &parts->items[i]);
}

/* ---- the page ---- */

struct page {
    const struct wr_report *report;
    struct series money, tokens;
};

static void write_number(struct wr_buf *out, uint64_t number)
{
    wr_buf_printf(out, "%llu", (unsigned long long)number);
}

/* What the sums of money leave out, or only guess. */
static void write_not_counted(struct wr_buf *out, const struct wr_tally *all)
{
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
}

static bool fill_sum(struct wr_buf *out, weir_span name, const struct wr_tally *all)
{
    if (wr_span_is(name, "?dearer"))
        return saved_micro_usd(all) < 0;
    if (wr_span_is(name, "requests_count"))
        wr_buf_printf(out, "%llu request%s", (unsigned long long)all->requests_count,
                      all->requests_count == 1 ? "" : "s");
    else if (wr_span_is(name, "not_counted"))
        write_not_counted(out, all);
    else if (wr_span_is(name, "paid"))
        write_usd(out, (int64_t)all->micro_usd);
    else if (wr_span_is(name, "unchanged"))
        write_usd(out, (int64_t)all->unchanged_micro_usd);
    else if (wr_span_is(name, "saved"))
        write_usd(out, saved_micro_usd(all));
    else if (wr_span_is(name, "sent_tokens"))
        wr_html_tokens(out, all->sent_tokens);
    else if (wr_span_is(name, "raw_tokens"))
        wr_html_tokens(out, all->raw_tokens);
    else if (wr_span_is(name, "steps_count"))
        write_number(out, all->busts[WR_BUST_WEIR]);
    else if (wr_span_is(name, "steps_cost"))
        write_usd(out, (int64_t)all->steps_micro_usd);
    else if (wr_span_is(name, "busts_count"))
        write_number(out, sum_busts(all->busts) - all->busts[WR_BUST_WEIR]);
    else if (wr_span_is(name, "recalls"))
        write_number(out, all->quality.recalls);
    else if (wr_span_is(name, "recalls_missing"))
        write_number(out, all->quality.missing_artifact_requests);
    else
        return false;
    return true;
}

static bool fill_place(struct wr_buf *out, weir_span name, const void *data)
{
    const struct page *p = data;
    if (wr_span_is(name, "money_columns"))
        write_columns(out, &p->money);
    else if (wr_span_is(name, "money_peak"))
        write_usd(out, (int64_t)p->money.peak);
    else if (wr_span_is(name, "token_columns"))
        write_columns(out, &p->tokens);
    else if (wr_span_is(name, "token_peak"))
        wr_html_tokens(out, p->tokens.peak);
    else if (wr_span_is(name, "hours"))
        write_span_of_time(out, &p->money);
    else if (wr_span_is(name, "busts_px"))
        wr_buf_printf(out, "%d", WR_BUSTS_COUNT * WR_HTML_ROW_PX + 4);
    else if (wr_span_is(name, "bust_bars"))
        write_bust_bars(out, &p->report->all);
    else if (wr_span_is(name, "agent_rows"))
        write_parts(out, &p->report->agents);
    else if (wr_span_is(name, "model_rows"))
        write_parts(out, &p->report->models);
    else
        return fill_sum(out, name, &p->report->all);
    return true;
}

void wr_report_html(const struct wr_report *report, struct wr_buf *out)
{
    struct page p = {report, read_series(report, take_money), read_series(report, take_tokens)};
    wr_html_fill(out, WR_EMBEDDED(wr_report_page), fill_place, &p);
}
