/* Tells of a run that was judged where it was not fitted: by repository, and beside the same run
 * fitted on everything. The sums by repository are made from the rows of sessions, which both
 * reports have. */
#include "lab/simulate_folds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/span.h"
#include "json/write.h"

enum { CAP_FIRST = 16, GAP_POINTS = 2, PICKED_BLIND_PCT = 6 };

/* Numbers that were chosen by hand, looking at these sessions or others; a fold fits the rows of
 * data/odds.tsv and nothing else. */
static const char *const not_refitted[] = {
    "numbers: over, every", "weigh: over, first_sight_bp, margin_pct, miss_tokens, quote_tokens",
    "prune_arguments: min_tokens, new_over",
    ("deepen: keep_turns, over, gain_bp, at_bp, to_bp, quiet_turns, margin_pct, evidence_tokens, "
     "summary_tokens, quote_tokens"),
    "data/odds.tsv: turns_left, turns_left_min, recall_tokens, call_tokens, prompt_tokens"};

/* ---- repositories ---- */

void wr_repositories_release(struct wr_repositories *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->names[i]);
    free(r->names);
    *r = (struct wr_repositories){0};
}

/* "/logs/cc-gate-07.jsonl.gz" is cc-gate. */
static weir_span name_before_number(const char *path)
{
    const char *slash = strrchr(path, '/');
    weir_span name = wr_span_of(slash ? slash + 1 : path);
    size_t end = 0;
    while (end < name.len && !wr_is_digit(name.ptr[end]) && name.ptr[end] != '.')
        end++;
    while (end > 0 && (name.ptr[end - 1] == '-' || name.ptr[end - 1] == '_'))
        end--;
    return end ? wr_span_cut(name, 0, end) : name;
}

/* Copies of one repository stand in many places, on other machines and in work trees: what is the
 * same is its name, the last part before a folder of work trees. */
static weir_span name_of_folder(weir_span folder)
{
    size_t at = wr_span_find(folder, WR_LIT("worktrees"), 0), begin;
    if (at != SIZE_MAX)
        folder = wr_span_cut(folder, 0, at);
    while (folder.len > 1 && strchr("/._", folder.ptr[folder.len - 1]))
        folder.len--;
    for (begin = folder.len; begin > 0 && folder.ptr[begin - 1] != '/';)
        begin--;
    return wr_span_cut(folder, begin, folder.len);
}

uint32_t wr_repositories_of(struct wr_repositories *r, weir_span folder, const char *path)
{
    weir_span name = name_of_folder(folder);
    if (!name.len)
        name = name_before_number(path);
    for (uint32_t i = 0; i < r->count; i++)
        if (wr_span_is(name, r->names[i]))
            return i;
    char *copy = malloc(name.len + 1);
    if (!copy || !WR_HEAP_ROOM(r->names, r->count, r->cap, CAP_FIRST)) {
        free(copy);
        return UINT32_MAX;
    }
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = 0;
    r->names[r->count] = copy;
    return r->count++;
}

/* ---- figures ---- */

/* Shares in percent; the floor's multiple is not one. */
enum figure { OF_RAW, BLIND, SIGHT, HAND, FIGURES };
static const char *const figure_names[FIGURES] = {"of raw", "blind", "1st sight", "at hand"};
static const char *const figure_keys[FIGURES] = {"cost_ratio_to_exact", "blind_quotes",
                                                 "first_sight_supported", "supported"};

static double figure_of(const struct wr_simulate_report *report, uint32_t policy, enum figure f)
{
    const struct wr_evidence_tally *e = &report->pooled.lanes[policy].evidence;
    switch (f) {
    case OF_RAW:
        return wr_simulate_report_ratio(report, &report->pooled, policy);
    case BLIND:
        return wr_simulate_blind(e);
    case SIGHT:
        return wr_simulate_share(e->first_sight[WR_EVIDENCE_SUPPORTED],
                                 wr_simulate_evidence_total(e->first_sight));
    case HAND:
    case FIGURES:
        break;
    }
    return wr_simulate_share(e->all[WR_EVIDENCE_SUPPORTED], wr_simulate_evidence_total(e->all));
}

static double multiple_of(const struct wr_simulate_report *report, uint32_t policy)
{
    return wr_simulate_share(report->pooled.lanes[policy].cost_micro_usd,
                             report->pooled.floor_micro_usd);
}

static bool is_overfitted(const struct wr_simulate_folds *folds, uint32_t policy, enum figure f)
{
    return fabs(figure_of(folds->held, policy, f) - figure_of(folds->fitted, policy, f)) * 100 >
           GAP_POINTS;
}

struct sums {
    uint32_t sessions;
    uint64_t cost, base, floor, answers, blind, sight, sight_supported;
};

static struct sums sums_of(const struct wr_simulate_folds *folds, uint32_t repository,
                           uint32_t policy)
{
    const struct wr_simulate_report *report = folds->held;
    uint32_t base = wr_simulate_report_base(report);
    struct sums s = {0};
    for (uint32_t i = 0; i < report->sessions_count; i++) {
        const struct wr_simulate_row *row = &report->rows[i];
        const struct wr_simulate_cell *cell = &row->cells[policy];
        size_t file = 0;
        while (file < folds->files_count && strcmp(folds->paths[file], row->path) != 0)
            file++;
        if (file == folds->files_count || folds->groups[file] != repository)
            continue;
        s.sessions++;
        s.cost += cell->cost_micro_usd;
        s.base += base == UINT32_MAX ? 0 : row->cells[base].cost_micro_usd;
        s.floor += row->floor_micro_usd;
        s.answers += cell->answers;
        s.blind += cell->answers_blind;
        s.sight += cell->first_sight_count;
        s.sight_supported += cell->first_sight_supported;
    }
    return s;
}

/* ---- which policy the others would pick ---- */

static void add_sums(struct sums *sum, const struct sums *s)
{
    sum->sessions += s->sessions;
    sum->cost += s->cost;
    sum->base += s->base;
    sum->floor += s->floor;
    sum->answers += s->answers;
    sum->blind += s->blind;
    sum->sight += s->sight;
    sum->sight_supported += s->sight_supported;
}

static bool is_better(const struct sums *a, const struct sums *b)
{
    bool a_keeps = a->blind * 100 <= a->answers * PICKED_BLIND_PCT;
    bool b_keeps = b->blind * 100 <= b->answers * PICKED_BLIND_PCT;
    if (a_keeps != b_keeps)
        return a_keeps;
    return a_keeps ? a->cost < b->cost : a->blind < b->blind;
}

/* The cheapest on all other repositories, each of which was held out itself, of those that keep
 * blind quotes low there; where none does, the one with the fewest. Run with variants of one policy
 * this refits what tells them apart. */
static uint32_t pick_policy(const struct wr_simulate_folds *folds, uint32_t repository)
{
    struct sums best = {0};
    uint32_t picked = 0;
    for (uint32_t policy = 0; policy < wr_simulate_report_shown(folds->held); policy++) {
        struct sums others = {0};
        for (uint32_t i = 0; i < folds->repositories->count; i++) {
            struct sums s = i == repository ? (struct sums){0} : sums_of(folds, i, policy);
            add_sums(&others, &s);
        }
        if (policy && !is_better(&others, &best))
            continue;
        best = others;
        picked = policy;
    }
    return picked;
}

static struct sums picked_sums(const struct wr_simulate_folds *folds)
{
    struct sums sum = {0};
    for (uint32_t i = 0; i < folds->repositories->count; i++) {
        struct sums s = sums_of(folds, i, pick_policy(folds, i));
        add_sums(&sum, &s);
    }
    return sum;
}

/* ---- the table ---- */

static double blind_of(const struct sums *s)
{
    return s->answers ? wr_simulate_share(s->blind, s->answers) : 0;
}

static void write_picked(const struct wr_simulate_folds *folds, struct wr_buf *out)
{
    struct sums s = picked_sums(folds);
    wr_buf_printf(
        out,
        "\nFor each repository the policy that the others pick (the cheapest there with "
        "at most %d %% blind quotes):\n%.1f%% of raw, %.2fx floor, blind %.2f%%, 1st sight "
        "%.2f%%\n",
        (int)PICKED_BLIND_PCT, 100 * wr_simulate_share(s.cost, s.base),
        wr_simulate_share(s.cost, s.floor), 100 * blind_of(&s),
        100 * wr_simulate_share(s.sight_supported, s.sight));
    for (uint32_t i = 0; i < folds->repositories->count; i++)
        wr_buf_printf(out, "  %-28.28s %s\n", folds->repositories->names[i],
                      folds->held->options.policies[pick_policy(folds, i)]);
}

static void write_repositories(const struct wr_simulate_folds *folds, uint32_t policy,
                               struct wr_buf *out)
{
    wr_buf_printf(out, "%s by repository\n%-28s %8s %8s %8s %8s %10s\n",
                  folds->held->options.policies[policy], "", "sessions", "of raw", "floor", "blind",
                  "1st sight");
    for (uint32_t i = 0; i < folds->repositories->count; i++) {
        struct sums s = sums_of(folds, i, policy);
        if (s.sessions)
            wr_buf_printf(out, "%-28.28s %8u %7.1f%% %7.2fx %7.2f%% %9.2f%%\n",
                          folds->repositories->names[i], s.sessions,
                          100 * wr_simulate_share(s.cost, s.base),
                          wr_simulate_share(s.cost, s.floor), 100 * blind_of(&s),
                          100 * wr_simulate_share(s.sight_supported, s.sight));
    }
}

static void write_policy(const struct wr_simulate_folds *folds, uint32_t policy, struct wr_buf *out)
{
    wr_buf_printf(out, "%-17s %7.2fx %7.2fx", folds->held->options.policies[policy],
                  multiple_of(folds->fitted, policy), multiple_of(folds->held, policy));
    for (int f = 0; f < FIGURES; f++)
        wr_buf_printf(out, "   %6.2f%% %6.2f%%",
                      100 * figure_of(folds->fitted, policy, (enum figure)f),
                      100 * figure_of(folds->held, policy, (enum figure)f));
    for (int f = 0; f < FIGURES; f++)
        if (is_overfitted(folds, policy, (enum figure)f))
            wr_buf_printf(out, "   OVERFITTING: %s", figure_names[f]);
    wr_buf_byte(out, '\n');
}

void wr_simulate_folds_table(const struct wr_simulate_folds *folds, uint32_t columns,
                             struct wr_buf *out)
{
    uint32_t count = wr_simulate_report_shown(folds->held);
    wr_simulate_report_table(folds->held, columns, out);
    wr_buf_printf(out,
                  "\nThe above is held out: odds fitted on all of %u repositories but the one that "
                  "is judged.\nfitted on all, then held out; a gap over %d points is overfitting\n"
                  "%-17s %17s",
                  folds->repositories->count, (int)GAP_POINTS, "policy", "floor");
    for (int f = 0; f < FIGURES; f++)
        wr_buf_printf(out, "   %15s", figure_names[f]);
    wr_buf_byte(out, '\n');
    for (uint32_t i = 0; i < count; i++)
        write_policy(folds, i, out);
    for (uint32_t i = 0; i < count; i++) {
        wr_buf_byte(out, '\n');
        write_repositories(folds, i, out);
    }
    if (count > 1)
        write_picked(folds, out);
    wr_buf_text(out, "\nnot refitted:\n");
    for (size_t i = 0; i < WR_COUNT_OF(not_refitted); i++)
        wr_buf_printf(out, "  %s\n", not_refitted[i]);
}

/* ---- JSON ---- */

static void write_figures(struct wr_json_writer *w, const struct wr_simulate_report *report,
                          uint32_t policy, const char *key)
{
    wr_json_member_object(w, key);
    wr_json_member_fixed(w, "floor_multiple", multiple_of(report, policy), 6);
    for (int f = 0; f < FIGURES; f++)
        wr_json_member_fixed(w, figure_keys[f], figure_of(report, policy, (enum figure)f), 6);
    wr_json_write_object_end(w);
}

static void write_policy_json(struct wr_json_writer *w, const struct wr_simulate_folds *folds,
                              uint32_t policy)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "policy", folds->held->options.policies[policy]);
    write_figures(w, folds->fitted, policy, "fitted");
    write_figures(w, folds->held, policy, "held_out");
    wr_json_member_array(w, "overfitting");
    for (int f = 0; f < FIGURES; f++)
        if (is_overfitted(folds, policy, (enum figure)f))
            wr_json_write_text(w, wr_span_of(figure_keys[f]));
    wr_json_write_array_end(w);
    wr_json_member_array(w, "by_repository");
    for (uint32_t i = 0; i < folds->repositories->count; i++) {
        struct sums s = sums_of(folds, i, policy);
        if (!s.sessions)
            continue;
        wr_json_write_object(w);
        wr_json_member_text(w, "repository", wr_span_of(folds->repositories->names[i]));
        wr_json_member_number(w, "sessions", s.sessions);
        wr_json_member_fixed(w, "cost_ratio_to_exact", wr_simulate_share(s.cost, s.base), 6);
        wr_json_member_fixed(w, "floor_multiple", wr_simulate_share(s.cost, s.floor), 6);
        wr_json_member_fixed(w, "blind_quotes", blind_of(&s), 6);
        wr_json_member_fixed(w, "first_sight_supported",
                             wr_simulate_share(s.sight_supported, s.sight), 6);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static void write_picked_json(struct wr_json_writer *w, const struct wr_simulate_folds *folds)
{
    struct sums s = picked_sums(folds);
    wr_json_member_object(w, "picked");
    wr_json_member_fixed(w, "cost_ratio_to_exact", wr_simulate_share(s.cost, s.base), 6);
    wr_json_member_fixed(w, "floor_multiple", wr_simulate_share(s.cost, s.floor), 6);
    wr_json_member_fixed(w, "blind_quotes", blind_of(&s), 6);
    wr_json_member_fixed(w, "first_sight_supported", wr_simulate_share(s.sight_supported, s.sight),
                         6);
    wr_json_member_object(w, "by_repository");
    for (uint32_t i = 0; i < folds->repositories->count; i++)
        wr_json_member_word(w, folds->repositories->names[i],
                            folds->held->options.policies[pick_policy(folds, i)]);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

void wr_simulate_folds_json(const struct wr_simulate_folds *folds, struct wr_json_writer *w)
{
    wr_json_member_object(w, "folds");
    wr_json_member_word(w, "by", "repository");
    wr_json_member_number(w, "repositories", folds->repositories->count);
    wr_json_member_array(w, "not_refitted");
    for (size_t i = 0; i < WR_COUNT_OF(not_refitted); i++)
        wr_json_write_text(w, wr_span_of(not_refitted[i]));
    wr_json_write_array_end(w);
    wr_json_member_array(w, "policies");
    for (uint32_t i = 0; i < wr_simulate_report_shown(folds->held); i++)
        write_policy_json(w, folds, i);
    wr_json_write_array_end(w);
    write_picked_json(w, folds);
    wr_json_write_object_end(w);
}
