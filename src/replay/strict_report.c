/* The strict report as text for people and as JSON for programs. */
#include "replay/strict.h"

#include "base/span.h"
#include "json/write.h"
#include "replay/strict_coverage.h"

static const struct {
    const char *name;
    enum wr_strict_threshold kind;
    int64_t limit;
} lines[] = {
#define X(name, kind, limit) {#name, WR_STRICT_##kind, limit},
    WR_STRICT_LINE_MAP(X)
#undef X
};

static const char *const way_names[] = {"exact", "current", "optimized"};

static bool is_complete(const struct wr_strict_report *r)
{
    return r->covered == (UINT32_C(1) << WR_COVERS) - 1;
}

static int64_t reduction_of(const struct wr_strict_row *row)
{
    int64_t exact = (int64_t)row->result.ways[WR_STRICT_EXACT].input_tokens;
    int64_t optimized = (int64_t)row->result.ways[WR_STRICT_OPTIMIZED].input_tokens;
    return exact ? (exact - optimized) * 100 / exact : 0;
}

/* ---- text ---- */

static void write_table(const struct wr_strict_report *r, struct wr_buf *out)
{
    wr_buf_printf(out, "%-40s %7s %8s %9s %9s %9s %5s %7s\n", "case", "window", "requests", "exact",
                  "current", "optimized", "less", "recalls");
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_row *row = &r->rows[i];
        const struct wr_strict_figures *w = row->result.ways;
        wr_buf_printf(
            out, "%-40.*s %7u %8llu %9llu %9llu %9llu %4lld%% %7llu%s\n", (int)row->id.len,
            row->id.ptr, row->window_tokens, (unsigned long long)w[WR_STRICT_OPTIMIZED].requests,
            (unsigned long long)w[WR_STRICT_EXACT].input_tokens,
            (unsigned long long)w[WR_STRICT_CURRENT].input_tokens,
            (unsigned long long)w[WR_STRICT_OPTIMIZED].input_tokens, (long long)reduction_of(row),
            (unsigned long long)w[WR_STRICT_OPTIMIZED].recoveries,
            row->result.is_eligible ? "" : "  (short)");
    }
    wr_buf_text(out, "\n");
}

static void write_failures(const struct wr_strict_report *r, struct wr_buf *out)
{
    size_t begin = out->len;
    for (uint32_t i = 0; i < r->rows_count; i++)
        for (int way = 0; way < WR_STRICT_WAYS; way++) {
            const struct wr_strict_figures *f = &r->rows[i].result.ways[way];
            if (!f->is_success)
                wr_buf_printf(out, "failed: %.*s, turn %u, %s: %s\n", (int)r->rows[i].id.len,
                              r->rows[i].id.ptr, f->failed_turn, way_names[way], f->failure);
        }
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        enum wr_strict_line line = (enum wr_strict_line)i;
        bool is_min = lines[i].kind == WR_STRICT_LAW_MIN || lines[i].kind == WR_STRICT_GOAL_MIN;
        if (!wr_strict_is_met(r, line))
            wr_buf_printf(out, "%s: %s is %lld, %s %lld\n",
                          wr_strict_is_law(line) ? "broken" : "goal missed", lines[i].name,
                          (long long)r->lines[i], is_min ? "at least" : "at most",
                          (long long)lines[i].limit);
    }
    if (out->len > begin)
        wr_buf_text(out, "\n");
}

static void write_coverage(const struct wr_strict_report *r, struct wr_buf *out)
{
    wr_buf_text(out, "required_replay_coverage:");
    if (is_complete(r))
        wr_buf_text(out, " complete");
    else
        wr_buf_text(out, " missing");
    for (int i = 0; i < WR_COVERS; i++)
        if (!(r->covered & UINT32_C(1) << i))
            wr_buf_printf(out, " %s", wr_cover_text((enum wr_cover)i));
    wr_buf_text(out, "\n");
}

void wr_strict_report_text(const struct wr_strict_report *report, struct wr_buf *out)
{
    wr_buf_printf(out, "policy %s, %u cases; input tokens of all requests, recalls included\n",
                  report->policy, report->rows_count);
    write_table(report, out);
    write_failures(report, out);
    for (int i = 0; i < WR_STRICT_LINES; i++)
        wr_buf_printf(out, "%s: %lld\n", lines[i].name, (long long)report->lines[i]);
    write_coverage(report, out);
    wr_buf_printf(out, "passed: %s\n", report->is_passed ? "true" : "false");
}

/* ---- JSON ---- */

static void write_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void write_bool(struct wr_json_writer *w, const char *key, bool value)
{
    wr_json_write_key(w, key);
    wr_json_write_bool(w, value);
}

static void write_text(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void write_thresholds(struct wr_json_writer *w, const struct wr_strict_report *r)
{
    wr_json_write_key(w, "thresholds");
    wr_json_write_array(w);
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        enum wr_strict_line line = (enum wr_strict_line)i;
        bool is_min = lines[i].kind == WR_STRICT_LAW_MIN || lines[i].kind == WR_STRICT_GOAL_MIN;
        if (lines[i].kind == WR_STRICT_NONE)
            continue;
        wr_json_write_newline(w);
        wr_json_write_object(w);
        write_text(w, "line", wr_span_of(lines[i].name));
        wr_json_write_key(w, is_min ? "min" : "max");
        wr_json_write_i64(w, lines[i].limit);
        write_text(w, "kind", wr_strict_is_law(line) ? WR_LIT("law") : WR_LIT("goal"));
        write_bool(w, "met", wr_strict_is_met(r, line));
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static void write_way(struct wr_json_writer *w, const char *name, const struct wr_strict_figures *f)
{
    wr_json_write_key(w, name);
    wr_json_write_object(w);
    write_bool(w, "success", f->is_success);
    write_number(w, "requests", f->requests);
    write_number(w, "changed_requests", f->changed);
    write_number(w, "input_tokens", f->input_tokens);
    write_number(w, "total_tokens_until_completion", f->input_tokens + f->output_tokens);
    write_number(w, "recovery_turns", f->recoveries);
    write_number(w, "over_window", f->over_window);
    write_number(w, "critical_signals", f->signals);
    write_number(w, "critical_signals_kept", f->signals_kept);
    write_number(w, "fallbacks", f->fallbacks);
    if (!f->is_success) {
        write_number(w, "failed_turn", f->failed_turn);
        write_text(w, "failure", wr_span_of(f->failure));
    }
    wr_json_write_object_end(w);
}

static void write_sessions(struct wr_json_writer *w, const struct wr_strict_report *r)
{
    wr_json_write_key(w, "sessions");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < r->rows_count; i++) {
        const struct wr_strict_row *row = &r->rows[i];
        wr_json_write_newline(w);
        wr_json_write_object(w);
        write_text(w, "id", row->id);
        write_number(w, "context_window_tokens", row->window_tokens);
        write_bool(w, "eligible", row->result.is_eligible);
        for (int way = 0; way < WR_STRICT_WAYS; way++)
            write_way(w, way_names[way], &row->result.ways[way]);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

void wr_strict_report_json(const struct wr_strict_report *report, struct wr_buf *out)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    write_text(&w, "policy", wr_span_of(report->policy));
    write_number(&w, "cases", report->rows_count);
    for (int i = 0; i < WR_STRICT_LINES; i++) {
        wr_json_write_newline(&w);
        wr_json_write_key(&w, lines[i].name);
        wr_json_write_i64(&w, report->lines[i]);
    }
    wr_json_write_newline(&w);
    write_text(&w, "required_replay_coverage",
               is_complete(report) ? WR_LIT("complete") : WR_LIT("missing"));
    wr_json_write_key(&w, "missing_coverage");
    wr_json_write_array(&w);
    for (int i = 0; i < WR_COVERS; i++)
        if (!(report->covered & UINT32_C(1) << i))
            wr_json_write_text(&w, wr_span_of(wr_cover_text((enum wr_cover)i)));
    wr_json_write_array_end(&w);
    write_bool(&w, "passed", report->is_passed);
    wr_json_write_newline(&w);
    write_thresholds(&w, report);
    wr_json_write_newline(&w);
    write_sessions(&w, report);
    wr_json_write_object_end(&w);
}
