#include "lab/simulate_models.h"

#include "base/span.h"

static const char *model_of(const struct wr_simulate_report *report)
{
    return report->options.model ? report->options.model : "each log's own";
}

static double usd(uint64_t micro_usd)
{
    return (double)micro_usd / 1e6;
}

static void write_row(const struct wr_simulate_set *set, uint32_t policy, struct wr_buf *out)
{
    wr_buf_printf(out, "%-17s", set->reports[0]->options.policies[policy]);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct wr_simulate_agent *pooled = &set->reports[i]->pooled;
        const struct wr_lane_result *lane = &pooled->lanes[policy];
        double ratio = wr_simulate_report_ratio(set->reports[i], pooled, policy);
        if (!lane->is_cost_known) {
            wr_buf_printf(out, " %26s", "no price");
            continue;
        }
        wr_buf_printf(out, " %9.2f", usd(lane->cost_micro_usd));
        if (ratio < 0)
            wr_buf_printf(out, " %7s", "-");
        else
            wr_buf_printf(out, " %6.1f%%", 100 * ratio);
        wr_buf_printf(out, " %7.2fx",
                      wr_simulate_share(lane->cost_micro_usd, pooled->floor_micro_usd));
    }
    wr_buf_byte(out, '\n');
}

void wr_simulate_models_table(const struct wr_simulate_set *set, struct wr_buf *out)
{
    const struct wr_simulate_report *first = set->reports[0];
    uint32_t order[WR_SIMULATE_LANES_MAX];

    wr_buf_printf(out, "\npolicies x models: USD, of raw, times the floor\n%-17s", "policy");
    for (uint32_t i = 0; i < set->count; i++)
        wr_buf_printf(out, " %26.26s", model_of(set->reports[i]));
    wr_buf_byte(out, '\n');
    wr_simulate_report_rank(first, &first->pooled, order);
    for (uint32_t i = 0; i < wr_simulate_report_shown(first); i++)
        write_row(set, order[i], out);
}

/* ---- JSON ---- */

static void write_policy(struct wr_json_writer *w, const struct wr_simulate_report *report,
                         uint32_t policy)
{
    const struct wr_lane_result *lane = &report->pooled.lanes[policy];
    const uint64_t *sight = lane->evidence.first_sight;
    double ratio = wr_simulate_report_ratio(report, &report->pooled, policy);

    wr_json_write_object(w);
    wr_json_member_word(w, "policy", report->options.policies[policy]);
    wr_json_member_fixed(w, "cost_usd", usd(lane->cost_micro_usd), 6);
    if (ratio >= 0) {
        wr_json_member_fixed(w, "cost_ratio_to_exact", ratio, 6);
    }
    wr_json_member_fixed(w, "floor_multiple",
                         wr_simulate_share(lane->cost_micro_usd, report->pooled.floor_micro_usd),
                         6);
    wr_json_member_fixed(w, "blind_quotes", wr_simulate_blind(&lane->evidence), 6);
    wr_json_write_key(w, "first_sight_supported");
    wr_json_write_fixed(
        w, wr_simulate_share(sight[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(sight)), 6);
    wr_json_member_number(w, "lost", lane->evidence.all[WR_EVIDENCE_LOST]);
    wr_simulate_report_unbarred(report, &report->pooled, policy, w);
    wr_json_write_object_end(w);
}

static void write_model(struct wr_json_writer *w, const struct wr_simulate_report *report)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "model", report->options.model ? report->options.model : "");
    wr_json_member_fixed(w, "floor_usd", usd(report->pooled.floor_micro_usd), 6);
    wr_json_member_array(w, "policies");
    for (uint32_t i = 0; i < wr_simulate_report_shown(report); i++)
        write_policy(w, report, i);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

void wr_simulate_models_json(const struct wr_simulate_set *set, struct wr_buf *out)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_simulate_report_members(set->reports[0], &w);
    if (set->count > 1) {
        wr_json_member_array(&w, "by_model");
        for (uint32_t i = 0; i < set->count; i++)
            write_model(&w, set->reports[i]);
        wr_json_write_array_end(&w);
    }
    if (set->folds)
        wr_simulate_folds_json(set->folds, &w);
    wr_import_troubles_json(set->troubles, &w);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}
