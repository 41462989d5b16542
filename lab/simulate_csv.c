#include "lab/simulate_csv.h"

#include <string.h>

#include "base/span.h"

void wr_simulate_csv_head(struct wr_buf *out)
{
    wr_buf_text(out, "model,window_tokens,agent,path,session,has_times,policy,requests,cost_usd,"
                     "ratio_to_raw,floor_usd,floor_multiple,prompt_tokens,first_sight,lost,recalls,"
                     "steps,requests_with_evidence,blind_quotes,user_tokens_gone\r\n");
}

void wr_csv_text(struct wr_buf *out, weir_span text)
{
    bool is_formula = text.len && strchr("=+-@\t", text.ptr[0]), is_quoted = is_formula;
    for (size_t i = 0; i < text.len && !is_quoted; i++)
        is_quoted = strchr(",\"\r\n", text.ptr[i]) != NULL;
    if (!is_quoted) {
        wr_buf_append(out, text);
        return;
    }
    wr_buf_byte(out, '"');
    if (is_formula)
        wr_buf_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            wr_buf_byte(out, '"');
        wr_buf_byte(out, text.ptr[i]);
    }
    wr_buf_byte(out, '"');
}

static void write_text(struct wr_buf *out, const char *text)
{
    wr_csv_text(out, wr_span_of(text));
}

static void write_cell(struct wr_buf *out, const struct wr_simulate_report *report,
                       const struct wr_simulate_row *row, uint32_t policy)
{
    const struct wr_simulate_cell *c = &row->cells[policy];
    uint32_t base = wr_simulate_report_base(report);

    write_text(out, report->options.model ? report->options.model : "");
    wr_buf_printf(out, ",%u,", report->options.window_tokens);
    write_text(out, row->agent);
    wr_buf_byte(out, ',');
    write_text(out, row->path);
    wr_buf_printf(out, ",%u,%d,", row->number, row->has_times);
    write_text(out, report->options.policies[policy]);
    wr_buf_printf(out, ",%llu,%.6f,", (unsigned long long)c->requests,
                  (double)c->cost_micro_usd / 1e6);
    if (base != UINT32_MAX)
        wr_buf_printf(out, "%.6f",
                      wr_simulate_share(c->cost_micro_usd, row->cells[base].cost_micro_usd));
    wr_buf_printf(out, ",%.6f,%.6f,%llu,%.6f,%llu,%llu,%llu,%llu,%llu,%llu\r\n",
                  (double)row->floor_micro_usd / 1e6,
                  wr_simulate_share(c->cost_micro_usd, row->floor_micro_usd),
                  (unsigned long long)c->prompt_tokens,
                  wr_simulate_share(c->first_sight_supported, c->first_sight_count),
                  (unsigned long long)c->lost, (unsigned long long)c->recalls,
                  (unsigned long long)c->steps, (unsigned long long)c->answers,
                  (unsigned long long)c->answers_blind, (unsigned long long)c->user_tokens_gone);
}

void wr_simulate_csv_rows(struct wr_simulate_report *report, struct wr_buf *out)
{
    wr_simulate_report_sort(report);
    for (uint32_t i = 0; i < report->sessions_count; i++)
        for (uint32_t k = 0; k < wr_simulate_report_shown(report); k++)
            write_cell(out, report, &report->rows[i], k);
}
