/* `weir report`: what went through the proxy, what it cost, and how the tasks went. */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/ledger_open.h"
#include "ledger/report.h"

static const char help[] =
    "usage: weir report [--since T] [--json] [--html FILE] [--store DIR] [--config FILE]\n"
    "\n"
    "What went through the proxy: money, tokens, cache busts and who caused them, recalls, and\n"
    "signs of how the tasks went, by agent and by model. Money is what the providers' usage says\n"
    "at their prices; beside it stands what the same requests would have cost unchanged.\n"
    "\n"
    "  --since T      only from then on: how long ago (90m, 24h, 7d) or seconds since 1970\n"
    "  --json         one JSON object (docs/report.md)\n"
    "  --html FILE    a page with charts, too\n"
    "  --store DIR    the store of `weir serve`; unless told, the user's own\n"
    "  --config FILE  a weir.yaml with models and prices of your own\n"
    "\n"
    "example: weir report --since 7d --html week.html\n";

struct report_options {
    const char *since, *html, *store, *config;
    bool as_json;
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
                      wr_cli_number(t->estimated_count));
    if (t->unpriced_count)
        wr_buf_printf(out, "          without %s requests to models that have no price\n",
                      wr_cli_number(t->unpriced_count));
}

static void put_shadow_line(struct wr_buf *out, const struct wr_tally *t)
{
    if (t->shadow_count)
        wr_buf_printf(
            out,
            "shadow    %s requests of %s tokens by estimate would have been sent with %s; "
            "none of that is in the sums\n",
            wr_cli_number(t->shadow_count), wr_cli_number(t->shadow_prompt_tokens),
            wr_cli_number(t->shadow_would_send_tokens));
}

static void put_tokens_line(struct wr_buf *out, const struct wr_tally *t)
{
    wr_buf_printf(out, "tokens    %s came, %s sent", wr_cli_number(t->raw_tokens),
                  wr_cli_number(t->sent_tokens));
    if (t->raw_tokens)
        wr_buf_printf(out, " (%.1f %%)", 100.0 * (double)t->sent_tokens / (double)t->raw_tokens);
    wr_buf_printf(out, "\ncache     %s read, %s written", wr_cli_number(t->cache_read_tokens),
                  wr_cli_number(t->cache_write_tokens));
    if (t->busts[WR_BUST_WEIR]) {
        wr_buf_printf(out, "\nrewrites  %s planned (%s tokens), cost ",
                      wr_cli_number(t->busts[WR_BUST_WEIR]),
                      wr_cli_number(t->bust_tokens[WR_BUST_WEIR]));
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
                          wr_cli_number(t->busts[i]), wr_cli_number(t->bust_tokens[i]));
    }
    wr_buf_text(out, any ? "\n" : " none\n");
    wr_buf_printf(out, "recalls   %s, and %s that brought nothing\n",
                  wr_cli_number(t->quality.recalls),
                  wr_cli_number(t->quality.missing_artifact_requests));
    if (t->passed_count)
        wr_buf_printf(out, "passed    %s requests of `weir run` unread, %s bytes both ways\n",
                      wr_cli_number(t->passed_count), wr_cli_number(t->passed_bytes));
}

static void put_part(struct wr_buf *out, const struct wr_report_part *part)
{
    const struct wr_tally *t = &part->tally;
    const struct wr_quality *q = &t->quality;
    struct wr_buf cell;

    wr_buf_init(&cell, 4096);
    wr_cli_excerpt(&cell, part->name.len ? part->name : WR_LIT("-"), 24);
    wr_buf_printf(out, "%-26.*s", (int)cell.len, cell.bytes ? cell.bytes : "");
    wr_buf_reset(&cell);
    if (t->unpriced_count == t->requests_count)
        wr_buf_text(&cell, "?");
    else
        wr_cli_put_money(&cell, (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd);
    wr_buf_printf(out, "%9s  %10.*s", wr_cli_number(t->requests_count), (int)cell.len, cell.bytes);
    wr_buf_release(&cell);
    wr_buf_printf(out, "  %9s", wr_cli_number(q->task_completed));
    wr_buf_printf(out, "  %11s", wr_cli_number(q->corrective_user_messages));
    wr_buf_printf(out, "  %8s", wr_cli_number(q->repeated_tool_call_count));
    wr_buf_printf(out, "  %7s", wr_cli_number(q->model_reread_requests));
    wr_buf_printf(out, "  %12s", wr_cli_number(q->test_or_build_failed_after_rewrite));
    wr_buf_printf(out, "  %8s\n",
                  wr_cli_number(q->invalid_tool_call_continuation + q->upstream_context_errors +
                                q->previous_response_not_found));
}

static void put_parts(struct wr_buf *out, const char *column, const struct wr_report_parts *parts)
{
    wr_buf_printf(out, "\n%-26s%9s  %10s  %9s  %11s  %8s  %7s  %12s  %8s\n", column, "requests",
                  "saved", "completed", "corrections", "repeated", "rereads", "tests broken",
                  "refusals");
    for (size_t i = 0; i < parts->count; i++)
        put_part(out, &parts->items[i]);
}

static void put_table(struct wr_buf *out, const struct wr_report *report)
{
    const struct wr_tally *all = &report->all;
    char from[WR_REPORT_TIME_BYTES], to[WR_REPORT_TIME_BYTES];

    if (!all->requests_count) {
        wr_buf_text(out, "no requests; `weir serve` keeps them\n");
        return;
    }
    wr_report_time(all->first_ms, from);
    wr_report_time(all->last_ms, to);
    wr_buf_printf(out, "%s requests, %s changed, %s steps, %s failed; %s to %s UTC\n",
                  wr_cli_number(all->requests_count), wr_cli_number(all->changed_count),
                  wr_cli_number(all->steps_count), wr_cli_number(all->failed_count), from, to);
    if (report->damaged_count)
        wr_buf_printf(out, "%s rows could not be read\n", wr_cli_number(report->damaged_count));
    put_money_line(out, all);
    put_tokens_line(out, all);
    put_shadow_line(out, all);
    put_parts(out, "agent", &report->agents);
    put_parts(out, "model", &report->models);
}

/* ---- output ---- */

static bool write_file(const char *path, weir_span text)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(text.ptr, 1, text.len, file) == text.len;
    int reason = errno;
    if (file && fclose(file)) {
        reason = errno;
        ok = false;
    }
    if (!ok)
        wr_cli_fail("report", "%s: cannot be written: %s", path, strerror(reason));
    return ok;
}

static int print(const struct wr_report *report, const struct report_options *o)
{
    struct wr_buf out, page;
    int code = WR_EXIT_USAGE;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&page, WR_OUTPUT_BYTES_MAX);
    if (o->html)
        wr_report_html(report, &page);
    if (o->as_json)
        wr_report_json(report, &out);
    else
        put_table(&out, report);
    if (wr_buf_status(&out) || wr_buf_status(&page))
        (void)wr_cli_fail("report", "%s", weir_status_text(WEIR_NOMEM));
    else if ((!o->html || write_file(o->html, wr_buf_view(&page))) &&
             wr_cli_write("report", wr_buf_view(&out)))
        code = WR_EXIT_OK;
    wr_buf_release(&page);
    wr_buf_release(&out);
    return code;
}

static int run(struct wr_ledger *ledger, const struct wr_models *models,
               const struct report_options *o, int64_t since_ms)
{
    struct wr_ledger_filter filter = {
        .since_ms = since_ms > WR_REPORT_LOOK_BACK_MS ? since_ms - WR_REPORT_LOOK_BACK_MS : 0};
    struct wr_report report;
    struct weir_err err = {0};
    int code;

    weir_status status = wr_report_init(&report, models, since_ms);
    if (!status)
        status = wr_ledger_each(ledger, &filter, wr_report_add, &report, &err);
    if (status) {
        code = wr_cli_fail("report", "%s", err.text[0] ? err.text : weir_status_text(status));
    } else {
        wr_report_sort(&report);
        code = print(&report, o);
    }
    wr_report_release(&report);
    return code;
}

int wr_cmd_report(int argc, char **argv)
{
    struct report_options o = {.as_json = false};
    const struct wr_opt options[] = {{"since", WR_OPT_TEXT, &o.since},
                                     {"html", WR_OPT_TEXT, &o.html},
                                     {"store", WR_OPT_TEXT, &o.store},
                                     {"config", WR_OPT_TEXT, &o.config},
                                     {"json", WR_OPT_FLAG, &o.as_json}};
    struct wr_opt_list rest = {.count = 0};
    int64_t since_ms = 0;
    int code = WR_EXIT_USAGE;
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count)
        return wr_cli_fail("report", "takes no '%s'; `weir report --help` shows what it takes",
                           rest.items[0]);
    if (o.since && !wr_cli_since("report", o.since, &since_ms))
        return WR_EXIT_USAGE;
    struct wr_models *models = wr_cli_models("report", o.config);
    struct wr_ledger *ledger = models ? wr_cli_ledger("report", o.store) : NULL;
    if (ledger)
        code = run(ledger, models, &o, since_ms);
    wr_ledger_close(ledger);
    wr_models_free(models);
    return code;
}
