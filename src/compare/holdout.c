/* Rows of a holdout, gathered by session and compared by agent and model.
 *
 *   row ──▶ unit: a session and its model, with a tally (ledger/tally.h)
 *                  └──▶ group: agent and model ──▶ two arms ──▶ contrasts
 */
#include "compare/holdout.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/record_row.h"
#include "json/write.h"

enum { CAP_FIRST = 64, RARE_LEAST = 10 };

struct unit {
    uint64_t key; /* of its session and model */
    uint32_t group;
    bool is_weir;
    struct wr_tally tally;
};

struct group {
    weir_span agent, model;
};

struct wr_holdout {
    struct wr_tallier *tallier;
    int64_t since_ms;
    struct unit *units;
    size_t units_count, units_cap;
    struct wr_index index; /* of units, by their keys */
    struct group *groups;
    size_t groups_count, groups_cap;
    struct wr_arena arena; /* owns the lists */
    struct wr_arena row;   /* of one row */
};

/* ---- life ---- */

struct wr_holdout *wr_holdout_new(const struct wr_models *models, int64_t since_ms)
{
    struct wr_holdout *h = calloc(1, sizeof(*h));

    if (!h || !(h->tallier = wr_tallier_new(models))) {
        free(h);
        return NULL;
    }
    h->since_ms = since_ms;
    wr_arena_init(&h->arena, WR_COMPARE_MEMORY_BYTES_MAX);
    wr_arena_init(&h->row, WR_ARENA_BYTES_MAX);
    if (wr_index_init(&h->index, &h->arena, WR_COMPARE_SESSIONS_MAX)) {
        wr_holdout_free(h);
        return NULL;
    }
    return h;
}

void wr_holdout_free(struct wr_holdout *h)
{
    if (!h)
        return;
    wr_tallier_free(h->tallier);
    wr_arena_release(&h->arena);
    wr_arena_release(&h->row);
    free(h);
}

/* ---- rows ---- */

static uint32_t find_group(struct wr_holdout *h, weir_span agent, weir_span model)
{
    for (size_t i = 0; i < h->groups_count; i++)
        if (wr_span_eq(h->groups[i].agent, agent) && wr_span_eq(h->groups[i].model, model))
            return (uint32_t)i;
    if (!WR_ARENA_ROOM(&h->arena, h->groups, h->groups_count, h->groups_cap, CAP_FIRST))
        return UINT32_MAX;
    h->groups[h->groups_count] = (struct group){.agent = wr_arena_copy(&h->arena, agent),
                                                .model = wr_arena_copy(&h->arena, model)};
    return (uint32_t)h->groups_count++;
}

static bool is_with_weir(const struct wr_record *r)
{
    bool is_in = r->bucket < r->bucket_percent;
    return wr_span_is(r->mode, "holdout") ? !is_in : is_in;
}

/* NULL: out of memory, or there are too many. */
static struct unit *find_unit(struct wr_holdout *h, const struct wr_ledger_row *row,
                              const struct wr_record *r)
{
    uint64_t key =
        wr_hash64_seeded(row->model, wr_hash64_seeded(row->session, wr_hash64(row->tenant)));
    uint32_t at = wr_index_first(&h->index, key), item;

    while ((item = wr_index_item(&h->index, at)) != WR_INDEX_NONE && h->units[item].key != key)
        at = wr_index_next(&h->index, at, key);
    if (item != WR_INDEX_NONE)
        return &h->units[item];
    uint32_t group = find_group(h, row->agent, row->model);
    if (group == UINT32_MAX || h->units_count == WR_COMPARE_SESSIONS_MAX ||
        !WR_ARENA_ROOM(&h->arena, h->units, h->units_count, h->units_cap, CAP_FIRST))
        return NULL;
    wr_index_put(&h->index, at, key, (uint32_t)h->units_count);
    h->units[h->units_count] =
        (struct unit){.key = key, .group = group, .is_weir = is_with_weir(r)};
    return &h->units[h->units_count++];
}

weir_status wr_holdout_add(void *holdout, const struct wr_ledger_row *row)
{
    struct wr_holdout *h = holdout;
    struct wr_record record;

    wr_arena_reset(&h->row);
    weir_status status = wr_row_parse(row->line, &h->row, &record);
    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
    bool counts = record.has_bucket && record.api && row->time_ms >= h->since_ms;
    struct unit *unit = counts ? find_unit(h, row, &record) : NULL;
    if (counts && !unit)
        return WEIR_NOMEM;
    struct wr_tally *tallies[] = {unit ? &unit->tally : NULL};
    return wr_tallier_add(h->tallier, row, &record, tallies, unit ? 1 : 0);
}

/* ---- measures ---- */

static double turns_of(const struct wr_tally *t)
{
    return (double)t->requests_count;
}

static double money_of(const struct wr_tally *t)
{
    return (double)t->micro_usd / 1e6;
}

static double corrections_of(const struct wr_tally *t)
{
    return (double)t->quality.corrective_user_messages;
}

static double failed_edits_of(const struct wr_tally *t)
{
    return (double)t->quality.failed_edits;
}

static double repeated_of(const struct wr_tally *t)
{
    return (double)t->quality.repeated_tool_call_count;
}

static double tests_of(const struct wr_tally *t)
{
    return (double)t->quality.test_or_build_failed;
}

static double recalls_of(const struct wr_tally *t)
{
    return (double)t->quality.recalls;
}

static const struct figure {
    const char *name, *words;
    double (*value)(const struct wr_tally *tally);
    bool is_rare, is_money;
} figures[] = {
    {"turns_a_task", "turns a task", turns_of, false, false},
    {"usd_a_task", "money a task", money_of, false, true},
    {"corrections_a_task", "corrections", corrections_of, true, false},
    {"failed_edits_a_task", "failed edits", failed_edits_of, true, false},
    {"repeated_calls_a_task", "repeated calls", repeated_of, true, false},
    {"tests_broken_a_task", "tests broken", tests_of, true, false},
    {"recalls_a_task", "recalls", recalls_of, true, false},
};

struct arms {
    struct wr_arm alone, weir;
};

static struct arms arms_of(const struct wr_holdout *h, uint32_t group, const struct figure *f)
{
    struct arms arms = {{0}, {0}};

    for (size_t i = 0; i < h->units_count; i++) {
        const struct unit *u = &h->units[i];
        if (u->group == group && !(f->is_money && u->tally.unpriced_count))
            wr_arm_add(u->is_weir ? &arms.weir : &arms.alone, f->value(&u->tally),
                       (double)u->tally.quality.task_completed);
    }
    return arms;
}

static struct wr_contrast contrast_of(const struct arms *arms, const struct figure *f)
{
    struct wr_least least = {WR_HOLDOUT_LEAST, f->is_rare ? RARE_LEAST : 0};
    return wr_contrast_arms(&arms->alone, &arms->weir, least);
}

/* ---- for people ---- */

static void put_verdict(const struct wr_contrast *c, struct wr_buf *out)
{
    static const char *const words[] = {[WR_VERDICT_TOO_FEW] = "too few to tell",
                                        [WR_VERDICT_UNKNOWN] = "no difference seen",
                                        [WR_VERDICT_LESS] = "less with Weir",
                                        [WR_VERDICT_MORE] = "more with Weir"};

    if (c->verdict != WR_VERDICT_TOO_FEW && c->has_percent)
        wr_buf_printf(out, "  %+7.1f %%  %+7.1f to %+6.1f %%", c->percent, c->percent_low,
                      c->percent_high);
    else if (c->verdict != WR_VERDICT_TOO_FEW)
        wr_buf_printf(out, "  %9s  %+8.3f to %+8.3f", "", c->low, c->high);
    else
        wr_buf_printf(out, "  %9s  %19s", "", "");
    wr_buf_printf(out, "  %s", words[c->verdict]);
    if (c->has_needed && c->needed_count)
        wr_buf_printf(out, "; %llu sessions more tell 5 %% apart",
                      (unsigned long long)c->needed_count);
    wr_buf_byte(out, '\n');
}

static void put_group(const struct wr_holdout *h, uint32_t group, struct wr_buf *out)
{
    const struct group *g = &h->groups[group];
    struct arms all = arms_of(h, group, &figures[0]);

    wr_buf_printf(out,
                  "%.*s, %.*s: %llu sessions left alone with %.0f tasks, %llu through Weir "
                  "with %.0f\n",
                  (int)(g->agent.len ? g->agent.len : 1), g->agent.len ? g->agent.ptr : "-",
                  (int)g->model.len, g->model.ptr, (unsigned long long)all.alone.count,
                  all.alone.size, (unsigned long long)all.weir.count, all.weir.size);
    wr_buf_printf(out, "  %-16s%12s%12s  %9s  %19s\n", "by task", "left alone", "Weir", "differ by",
                  "95 % interval");
    for (size_t i = 0; i < WR_COUNT_OF(figures); i++) {
        struct arms arms = arms_of(h, group, &figures[i]);
        struct wr_contrast c = contrast_of(&arms, &figures[i]);
        wr_buf_printf(out, figures[i].is_money ? "  %-16s%12.4f%12.4f" : "  %-16s%12.3f%12.3f",
                      figures[i].words, c.first, c.second);
        put_verdict(&c, out);
    }
}

void wr_holdout_print(struct wr_holdout *h, struct wr_buf *out)
{
    if (!h->groups_count)
        wr_buf_text(out, "no session of a holdout; `mode: \"holdout 10%\"` in weir.yaml leaves one "
                         "in ten alone\n");
    for (uint32_t i = 0; i < h->groups_count; i++) {
        wr_buf_text(out, i ? "\n" : "");
        put_group(h, i, out);
    }
}

/* ---- for programs ---- */

static void write_figure(struct wr_json_writer *w, const struct wr_contrast *c, const char *name)
{
    wr_json_member_object(w, name);
    wr_json_member_fixed(w, "alone", c->first, 6);
    wr_json_member_fixed(w, "weir", c->second, 6);
    if (c->verdict != WR_VERDICT_TOO_FEW) {
        wr_json_member_fixed(w, "low", c->low, 6);
        wr_json_member_fixed(w, "high", c->high, 6);
    }
    if (c->has_percent && c->verdict != WR_VERDICT_TOO_FEW) {
        wr_json_member_fixed(w, "percent", c->percent, 3);
        wr_json_member_fixed(w, "percent_low", c->percent_low, 3);
        wr_json_member_fixed(w, "percent_high", c->percent_high, 3);
    }
    if (c->has_needed)
        wr_json_member_number(w, "sessions_needed_for_5_percent", c->needed_count);
    wr_json_member_word(w, "verdict", wr_verdict_name(c->verdict));
    wr_json_write_object_end(w);
}

static void write_group(const struct wr_holdout *h, uint32_t group, struct wr_json_writer *w)
{
    struct arms all = arms_of(h, group, &figures[0]);

    wr_json_write_object(w);
    wr_json_member_text(w, "agent", h->groups[group].agent);
    wr_json_member_text(w, "model", h->groups[group].model);
    wr_json_member_number(w, "sessions_alone", all.alone.count);
    wr_json_member_number(w, "sessions_weir", all.weir.count);
    wr_json_member_number(w, "tasks_alone", (uint64_t)all.alone.size);
    wr_json_member_number(w, "tasks_weir", (uint64_t)all.weir.size);
    for (size_t i = 0; i < WR_COUNT_OF(figures); i++) {
        struct arms arms = arms_of(h, group, &figures[i]);
        struct wr_contrast c = contrast_of(&arms, &figures[i]);
        write_figure(w, &c, figures[i].name);
    }
    wr_json_write_object_end(w);
}

void wr_holdout_write(struct wr_holdout *h, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_array(&w, "holdout");
    for (uint32_t i = 0; i < h->groups_count; i++)
        write_group(h, i, &w);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}
