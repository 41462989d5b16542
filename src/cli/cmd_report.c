/* `weir report`: what went through the proxy, what it cost, and how the tasks went. */
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "compare/holdout.h"
#include "base/table.h"
#include "ledger/report.h"

struct report_options {
    const char *since, *html, *store, *config;
    bool as_json, is_holdout;
};

#define VALUES struct report_options

static const struct wr_option options[] = {
    WR_ROW_SINCE(since),
    {"json", WR_FLAG(as_json), "one JSON object (docs/report.md)"},
    {"holdout", WR_FLAG(is_holdout),
     "instead: sessions that a holdout or canary left alone against those through Weir, with "
     "intervals (docs/compare.md)"},
    {"html", WR_FILE(html), "a page with charts, too"},
    WR_ROW_STORE(store),
    WR_ROW_PRICES(config),
};

/* ---- the table ---- */

static void put_money_line(struct wr_buf *out, const struct wr_tally *t)
{
    int64_t saved = (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd;

    wr_buf_text(out, "money     ");
    wr_cli_put_money(out, (int64_t)t->micro_usd);
    wr_buf_text(out, " paid, ");
    wr_cli_put_money(out, (int64_t)t->unchanged_micro_usd);
    wr_buf_text(out, " had nothing been changed: ");
    wr_cli_put_money(out, saved);
    wr_buf_text(out, " saved");
    if (t->unchanged_micro_usd)
        wr_buf_printf(out, " (%.1f %%)", 100.0 * (double)saved / (double)t->unchanged_micro_usd);
    wr_buf_byte(out, '\n');
    if (t->estimated_count)
        wr_buf_printf(out, "          estimated for %s requests without usage\n",
                      WR_GROUPED(t->estimated_count));
    if (t->unpriced_count)
        wr_buf_printf(out, "          without %s requests to models that have no price\n",
                      WR_GROUPED(t->unpriced_count));
}

static void put_shadow_line(struct wr_buf *out, const struct wr_tally *t)
{
    if (t->shadow_count)
        wr_buf_printf(
            out,
            "shadow    %s requests of %s tokens by estimate would have been sent with %s; "
            "none of that is in the sums\n",
            WR_GROUPED(t->shadow_count), WR_GROUPED(t->shadow_prompt_tokens),
            WR_GROUPED(t->shadow_would_send_tokens));
}

static void put_tokens_line(struct wr_buf *out, const struct wr_tally *t)
{
    wr_buf_printf(out, "tokens    %s came, %s sent", WR_GROUPED(t->raw_tokens),
                  WR_GROUPED(t->sent_tokens));
    if (t->raw_tokens)
        wr_buf_printf(out, " (%.1f %%)", 100.0 * (double)t->sent_tokens / (double)t->raw_tokens);
    wr_buf_printf(out, "\ncache     %s read, %s written", WR_GROUPED(t->cache_read_tokens),
                  WR_GROUPED(t->cache_write_tokens));
    if (t->busts[WR_BUST_WEIR]) {
        wr_buf_printf(out, "\nrewrites  %s planned (%s tokens), cost ",
                      WR_GROUPED(t->busts[WR_BUST_WEIR]), WR_GROUPED(t->bust_tokens[WR_BUST_WEIR]));
        wr_cli_put_money(out, (int64_t)t->steps_micro_usd);
        wr_buf_text(out, ", paid for in the sums");
    }
    wr_buf_printf(out, "\nbusts    ");
    uint64_t any = 0;
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        if (i == WR_BUST_WEIR)
            continue;
        any += t->busts[i];
        if (t->busts[i])
            wr_buf_printf(out, " %s %s (%s tokens)", wr_bust_name((enum wr_bust)i),
                          WR_GROUPED(t->busts[i]), WR_GROUPED(t->bust_tokens[i]));
    }
    wr_buf_text(out, any ? "\n" : " none\n");
    wr_buf_printf(out, "recalls   %s brought a text back, %s brought nothing\n",
                  WR_GROUPED(t->quality.recalls), WR_GROUPED(t->quality.missing_artifact_requests));
    if (t->passed_count)
        wr_buf_printf(out, "passed    %s requests of `weir run` unread, %s bytes both ways\n",
                      WR_GROUPED(t->passed_count), WR_GROUPED(t->passed_bytes));
}

static void put_hooks_line(struct wr_buf *out, const struct wr_tally *t)
{
    if (!t->hooked_count)
        return;
    wr_buf_printf(out,
                  "hooks     %s results condensed as they came, from %s tokens to %s; in no sum\n",
                  WR_GROUPED(t->hooked_count), WR_GROUPED(t->hooked_raw_tokens),
                  WR_GROUPED(t->hooked_sent_tokens));
}

/* The title of the first column is what the rows are. */
static const struct wr_table_column columns_of_parts[][10] = {
#define COLUMNS(what)                                                                            \
    {                                                                                            \
        {what, .cut_min = 12}, {"requests", .is_right = true}, {"paid", .is_right = true},       \
            {"saved", .is_right = true}, {"completed", .is_right = true, .rank = 3},             \
            {"corrections", .is_right = true, .rank = 1},                                        \
            {"repeated", .is_right = true, .rank = 4}, {"rereads", .is_right = true, .rank = 5}, \
            {"tests broken", .is_right = true, .rank = 1},                                       \
        {                                                                                        \
            "refusals", .is_right = true, .rank = 2                                              \
        }                                                                                        \
    }
    COLUMNS("agent"), COLUMNS("model"), COLUMNS("upstream"), COLUMNS("user"), COLUMNS("team"),
#undef COLUMNS
};

static void put_part(struct wr_table *table, const struct wr_report_part *part)
{
    const struct wr_tally *t = &part->tally;
    const struct wr_quality *q = &t->quality;
    struct wr_buf cell;

    wr_buf_init(&cell, WR_OUTPUT_BYTES_MAX);
    wr_table_cell(table, part->name);
    wr_table_format(table, "%s", WR_GROUPED(t->requests_count));
    const int64_t money[] = {(int64_t)t->micro_usd,
                             (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd};
    for (size_t i = 0; i < WR_COUNT_OF(money); i++) {
        wr_buf_reset(&cell);
        if (t->unpriced_count == t->requests_count)
            wr_buf_text(&cell, "?");
        else
            wr_cli_put_money(&cell, money[i]);
        wr_table_cell(table, wr_buf_view(&cell));
    }
    wr_buf_release(&cell);
    wr_table_format(table, "%s", WR_GROUPED(q->task_completed));
    wr_table_format(table, "%s", WR_GROUPED(q->corrective_user_messages));
    wr_table_format(table, "%s", WR_GROUPED(q->repeated_tool_call_count));
    wr_table_format(table, "%s", WR_GROUPED(q->model_reread_requests));
    wr_table_format(table, "%s", WR_GROUPED(q->test_or_build_failed_after_rewrite));
    wr_table_format(table, "%s",
                    WR_GROUPED(q->invalid_tool_call_continuation + q->upstream_context_errors +
                               q->previous_response_not_found));
}

static void put_parts(struct wr_buf *out, const struct wr_table_column columns[10],
                      const struct wr_report_parts *parts)
{
    struct wr_arena arena;
    struct wr_table table;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, columns, 10, &arena);
    for (size_t i = 0; i < parts->count; i++)
        put_part(&table, &parts->items[i]);
    wr_buf_byte(out, '\n');
    wr_table_print(&table, wr_cli_columns_told(), out);
    wr_arena_release(&arena);
}

static void put_table(struct wr_buf *out, const struct wr_report *report)
{
    const struct wr_tally *all = &report->all;
    char from[WR_REPORT_TIME_BYTES], to[WR_REPORT_TIME_BYTES];

    if (!all->requests_count) {
        wr_buf_text(out, "no requests; `weir serve` keeps them\n");
        put_hooks_line(out, all);
        return;
    }
    wr_report_time(all->first_ms, from);
    wr_report_time(all->last_ms, to);
    wr_buf_printf(out, "%s request%s, %s changed, %s step%s, %s failed; %s to %s UTC\n",
                  WR_GROUPED(all->requests_count), all->requests_count == 1 ? "" : "s",
                  WR_GROUPED(all->changed_count), WR_GROUPED(all->steps_count),
                  all->steps_count == 1 ? "" : "s", WR_GROUPED(all->failed_count), from, to);
    if (report->damaged_count)
        wr_buf_printf(out, "%s rows could not be read\n", WR_GROUPED(report->damaged_count));
    put_money_line(out, all);
    put_tokens_line(out, all);
    put_shadow_line(out, all);
    put_hooks_line(out, all);
    const struct wr_report_parts *parts[] = {&report->agents, &report->models, &report->upstreams,
                                             &report->users, &report->teams};
    for (size_t i = 0; i < WR_COUNT_OF(parts); i++)
        if (i < 2 || parts[i]->count > (i == 2)) /* one upstream alone is all that is above */
            put_parts(out, columns_of_parts[i], parts[i]);
}

/* ---- output ---- */

static int print_report(const struct wr_report *report, const struct report_options *o)
{
    struct wr_buf out, page;
    bool ok = true;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&page, WR_OUTPUT_BYTES_MAX);
    if (o->html)
        wr_report_html(report, &page);
    if (o->as_json)
        wr_report_json(report, &out);
    else
        put_table(&out, report);
    if (wr_buf_status(&page))
        ok = !wr_cli_fail("%s", weir_status_text(wr_buf_status(&page)));
    else if (o->html)
        ok = wr_cli_write_file(o->html, wr_buf_view(&page));
    wr_buf_release(&page);
    if (ok)
        return o->as_json ? wr_cli_end(&out, WR_EXIT_OK) : wr_cli_end_fitted(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    return WR_EXIT_USAGE;
}

static int make_report(const struct wr_books *books, const struct report_options *o,
                       int64_t since_ms)
{
    struct wr_ledger_filter filter = {
        .since_ms = since_ms > WR_REPORT_LOOK_BACK_MS ? since_ms - WR_REPORT_LOOK_BACK_MS : 0};
    struct wr_report report;
    struct weir_err err = {0};
    int code;

    weir_status status = wr_report_init(&report, books->models, since_ms);
    if (!status)
        status = wr_ledger_each(books->ledger, &filter, wr_report_add, &report, &err);
    if (status) {
        code = wr_cli_fail_status(status, &err);
    } else {
        wr_report_sort(&report);
        code = print_report(&report, o);
    }
    wr_report_release(&report);
    return code;
}

static int make_holdout(const struct wr_books *books, const struct report_options *o,
                        int64_t since_ms)
{
    struct wr_ledger_filter filter = {
        .since_ms = since_ms > WR_REPORT_LOOK_BACK_MS ? since_ms - WR_REPORT_LOOK_BACK_MS : 0};
    struct wr_holdout *holdout = wr_holdout_new(books->models, since_ms);
    struct weir_err err = {0};
    struct wr_buf out;
    weir_status status = holdout
                             ? wr_ledger_each(books->ledger, &filter, wr_holdout_add, holdout, &err)
                             : WEIR_NOMEM;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!status && o->as_json)
        wr_holdout_write(holdout, &out);
    else if (!status)
        wr_holdout_print(holdout, &out);
    wr_holdout_free(holdout);
    if (!status)
        return o->as_json ? wr_cli_end(&out, WR_EXIT_OK) : wr_cli_end_fitted(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    return wr_cli_fail_status(status, &err);
}

static int run_report(void *values, const struct wr_words *words)
{
    const struct report_options *o = values;
    struct wr_books books;
    int64_t since_ms;
    int code = WR_EXIT_USAGE;

    (void)words;
    if (!wr_cli_since(o->since, &since_ms))
        return WR_EXIT_USAGE;
    if (wr_books_open(&books, o->store, o->config))
        code = o->is_holdout ? make_holdout(&books, o, since_ms) : make_report(&books, o, since_ms);
    wr_books_close(&books);
    return code;
}

const struct wr_command wr_cmd_report = {
    .name = "report",
    .purpose = "money, tokens, cache busts and quality, as a table or a page",
    .usage = "[OPTIONS]",
    .about =
        "What went through the proxy: money, tokens, cache busts and who caused them, "
        "recalls, and signs of how the tasks went, by agent and by model; by upstream, user and "
        "team where there are several. Money is what the "
        "providers' usage says at their prices; beside it stands what the same requests would "
        "have cost unchanged.",
    WR_OPTIONS(options),
    .example = "weir report --since 7d --html week.html",
    .run = run_report,
};
