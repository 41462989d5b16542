/* The page of `weir simulate`: its JSON, and beside it what only the page shows: which policies are
 * not Weir's own, the session that each policy served worst, and how the prompt of the largest
 * session grew. What is drawn of it is web/page/simulate.js. */
#include "lab/simulate_html.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/web.h"
#include "weir/weir.h"

static bool is_other(const char *policy)
{
    return wr_baseline_find(wr_span_of(policy)) || !strcmp(policy, "exact");
}

static void write_others(struct wr_json_writer *w, const struct wr_simulate_report *report)
{
    wr_json_member_array(w, "others");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        if (is_other(report->options.policies[i]))
            wr_json_write_text(w, wr_span_of(report->options.policies[i]));
    wr_json_write_array_end(w);
}

/* The session that a policy served worst, against the base. */
static void write_worst_of(struct wr_json_writer *w, const struct wr_simulate_report *report,
                           uint32_t policy, uint32_t base)
{
    const struct wr_simulate_row *row = NULL;
    double worst = -1;

    for (uint32_t i = 0; i < report->sessions_count; i++) {
        const struct wr_simulate_cell *cells = report->rows[i].cells;
        double ratio = wr_simulate_share(cells[policy].cost_micro_usd, cells[base].cost_micro_usd);
        if (ratio <= worst)
            continue;
        worst = ratio;
        row = &report->rows[i];
    }
    if (!row)
        return;
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "policy", report->options.policies[policy]);
    wr_json_member_fixed(w, "ratio", worst, 6);
    wr_json_member_word(w, "path", row->path);
    wr_json_write_object_end(w);
}

static void write_worst(struct wr_json_writer *w, const struct wr_simulate_report *report)
{
    uint32_t base = wr_simulate_report_base(report);

    wr_json_member_array(w, "worst");
    for (uint32_t i = 0; base != UINT32_MAX && i < wr_simulate_report_shown(report); i++)
        write_worst_of(w, report, i, base);
    wr_json_write_array_end(w);
}

static void write_longest(struct wr_json_writer *w, const struct wr_simulate_report *report)
{
    const struct wr_simulate_life *life = &report->longest;

    if (!life->path)
        return;
    wr_json_member_object(w, "longest");
    wr_json_member_word(w, "path", life->path);
    wr_json_member_number(w, "requests", life->requests_count);
    wr_json_member_array(w, "policies");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++) {
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_word(w, "policy", report->options.policies[i]);
        wr_json_member_array(w, "points");
        for (uint32_t k = 0; k < life->points_count; k++)
            wr_json_write_i64(w, life->points[(size_t)i * life->points_count + k]);
        wr_json_write_array_end(w);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

void wr_simulate_html(const struct wr_simulate_set *set, struct wr_buf *out)
{
    struct wr_simulate_report *report = set->reports[0];
    struct wr_buf data, json;
    struct wr_json_writer w;

    wr_buf_init(&data, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    wr_simulate_report_sort(report);
    wr_simulate_models_json(set, &json);
    wr_json_write_init(&w, &data);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "view", "simulate");
    wr_json_member_word(&w, "version", weir_version());
    write_others(&w, report);
    write_worst(&w, report);
    write_longest(&w, report);
    wr_json_member_raw(&w, "report", wr_buf_view(&json));
    wr_json_write_object_end(&w);
    if (wr_buf_status(&data) || wr_buf_status(&json))
        out->status = WEIR_LIMIT;
    wr_web_page(out, "weir simulate", wr_buf_view(&data));
    wr_buf_release(&json);
    wr_buf_release(&data);
}
