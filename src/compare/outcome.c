/* What came of a comparison: sums over runs, intervals, and which files the two arms left
 * otherwise.
 *
 * One task: its runs are the units, and the arms are independent. Several tasks: a task is the
 * unit, by the means of its runs, and the arms are paired, because tasks differ more than arms do.
 * Checks are shares of all runs in either case; taking pairs of one task as independent makes that
 * interval a little too wide, never too narrow.
 */
#include "compare/outcome.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"
#include "weir/weir.h"

enum { CAP_FIRST = 16, LEAST_RUNS = 3, FILES_SHOWN = 20 };

void wr_outcome_init(struct wr_outcome *outcome)
{
    *outcome = (struct wr_outcome){.policy = "", .agent = ""};
    wr_arena_init(&outcome->arena, WR_COMPARE_MEMORY_BYTES_MAX);
}

void wr_outcome_release(struct wr_outcome *outcome)
{
    wr_arena_release(&outcome->arena);
}

weir_status wr_outcome_add(struct wr_outcome *o, const struct wr_trial *trial)
{
    if (!WR_ARENA_ROOM(&o->arena, o->trials, o->trials_count, o->trials_cap, CAP_FIRST))
        return wr_arena_status(&o->arena);
    o->trials[o->trials_count++] = *trial;
    return WEIR_OK;
}

weir_status wr_outcome_add_file(struct wr_outcome *o, const char *path, uint64_t content)
{
    size_t bytes = strlen(path) + 1;
    char *copy = wr_arena_alloc(&o->arena, bytes);

    if (!copy || !WR_ARENA_ROOM(&o->arena, o->files, o->files_count, o->files_cap, CAP_FIRST))
        return wr_arena_status(&o->arena);
    memcpy(copy, path, bytes);
    o->files[o->files_count++] = (struct wr_trial_file){
        .trial = (uint32_t)o->trials_count - 1, .path = copy, .content = content};
    return WEIR_OK;
}

/* ---- measures ---- */

static double requests_of(const struct wr_trial *t)
{
    return (double)t->requests_count;
}

static double prompt_of(const struct wr_trial *t)
{
    return (double)t->prompt_tokens;
}

static double output_of(const struct wr_trial *t)
{
    return (double)t->output_tokens;
}

static double money_of(const struct wr_trial *t)
{
    return (double)t->micro_usd / 1e6;
}

static double seconds_of(const struct wr_trial *t)
{
    return (double)t->agent_ms / 1e3;
}

static double files_of(const struct wr_trial *t)
{
    return (double)t->files_count;
}

const struct wr_yardstick wr_yardsticks[] = {
    {"requests", "requests", "", requests_of},
    {"prompt_tokens", "prompt tokens", "", prompt_of},
    {"output_tokens", "output tokens", "", output_of},
    {"usd", "money", "$", money_of},
    {"seconds", "seconds", "s", seconds_of},
    {"files_changed", "files changed", "", files_of},
    {NULL, NULL, NULL, NULL},
};

/* A run that was not measured says nothing of what it used, and one without a price nothing of
 * money. */
static bool counts_for(const struct wr_trial *t, const struct wr_yardstick *m)
{
    return t->is_measured && (m->value != money_of || t->is_priced);
}

static struct wr_arm arm_of(const struct wr_outcome *o, const struct wr_yardstick *m,
                            enum wr_arm_name arm, uint32_t task)
{
    struct wr_arm sums = {0};

    for (size_t i = 0; i < o->trials_count; i++) {
        const struct wr_trial *t = &o->trials[i];
        if (t->arm == arm && t->task == task && counts_for(t, m))
            wr_arm_add(&sums, m->value(t), 1);
    }
    return sums;
}

struct wr_contrast wr_outcome_contrast(const struct wr_outcome *o, const struct wr_yardstick *m)
{
    double first[WR_COMPARE_TASKS_MAX], second[WR_COMPARE_TASKS_MAX];
    struct wr_least least = {LEAST_RUNS, 0};
    size_t count = 0;

    if (o->tasks_count == 1) {
        struct wr_arm direct = arm_of(o, m, WR_ARM_DIRECT, 0), weir = arm_of(o, m, WR_ARM_WEIR, 0);
        return wr_contrast_arms(&direct, &weir, least);
    }
    for (uint32_t i = 0; i < o->tasks_count && i < WR_COMPARE_TASKS_MAX; i++) {
        struct wr_arm direct = arm_of(o, m, WR_ARM_DIRECT, i), weir = arm_of(o, m, WR_ARM_WEIR, i);
        if (!direct.count || !weir.count)
            continue;
        first[count] = wr_arm_figure(&direct);
        second[count++] = wr_arm_figure(&weir);
    }
    return wr_contrast_pairs(first, second, count, LEAST_RUNS);
}

static void count_checks(const struct wr_outcome *o, enum wr_arm_name arm, const uint32_t *task,
                         uint64_t *passed, uint64_t *count)
{
    *passed = *count = 0;
    for (size_t i = 0; i < o->trials_count; i++)
        if (o->trials[i].arm == arm && o->trials[i].check_status >= 0 &&
            (!task || o->trials[i].task == *task)) {
            ++*count;
            *passed += !o->trials[i].check_status;
        }
}

struct wr_contrast wr_outcome_checks(const struct wr_outcome *o)
{
    uint64_t passed[WR_ARMS_COUNT], counts[WR_ARMS_COUNT];

    for (int arm = 0; arm < WR_ARMS_COUNT; arm++)
        count_checks(o, (enum wr_arm_name)arm, NULL, &passed[arm], &counts[arm]);
    return wr_contrast_shares(passed[0], counts[0], passed[1], counts[1], LEAST_RUNS);
}

/* ---- the table ---- */

static const char *verdict_words(const struct wr_outcome *o, const struct wr_contrast *c)
{
    switch (c->verdict) {
    case WR_VERDICT_TOO_FEW:
        return "too few to tell";
    case WR_VERDICT_UNKNOWN:
        return "no difference seen";
    case WR_VERDICT_LESS:
        return o->is_recorded ? "less in the second" : "less with Weir";
    case WR_VERDICT_MORE:
        return o->is_recorded ? "more in the second" : "more with Weir";
    }
    return "";
}

static void put_figure(struct wr_buf *out, const char *unit, double value)
{
    char text[32];

    if (!*unit && value >= 1000) {
        wr_buf_printf(out, "%9s", WR_GROUPED((uint64_t)(value + 0.5)));
        return;
    }
    (void)snprintf(text, sizeof(text), *unit == '$' ? "$%.4f" : "%.1f", value);
    wr_buf_printf(out, "%9s", text);
}

static void put_contrast(const struct wr_outcome *o, const struct wr_yardstick *m,
                         struct wr_buf *out)
{
    struct wr_contrast contrast = wr_outcome_contrast(o, m), *c = &contrast;

    wr_buf_printf(out, "%-14s", m->words);
    put_figure(out, m->unit, c->first);
    put_figure(out, m->unit, c->second);
    if (c->has_percent && c->verdict != WR_VERDICT_TOO_FEW)
        wr_buf_printf(out, " %+6.1f %% %+5.1f to %+6.1f %%  %s\n", c->percent, c->percent_low,
                      c->percent_high, verdict_words(o, c));
    else if (c->has_percent)
        wr_buf_printf(out, " %+6.1f %% %17s  %s\n", c->percent, "", verdict_words(o, c));
    else
        wr_buf_printf(out, " %8s %17s  %s\n", "", "",
                      c->first > 0 || c->second > 0 ? verdict_words(o, c) : "none in either");
}

static void put_checks(const struct wr_outcome *o, struct wr_buf *out)
{
    uint64_t passed[WR_ARMS_COUNT], counts[WR_ARMS_COUNT];
    struct wr_contrast c = wr_outcome_checks(o);

    wr_buf_printf(out, "%-14s", "check passed");
    for (int arm = 0; arm < WR_ARMS_COUNT; arm++) {
        char text[32];
        count_checks(o, (enum wr_arm_name)arm, NULL, &passed[arm], &counts[arm]);
        (void)snprintf(text, sizeof(text), "%llu of %llu", (unsigned long long)passed[arm],
                       (unsigned long long)counts[arm]);
        wr_buf_printf(out, "%9s", text);
    }
    wr_buf_printf(out, " %+6.1f pt %+5.1f to %+6.1f pt %s\n", 100 * c.difference, 100 * c.low,
                  100 * c.high, verdict_words(o, &c));
}

static uint64_t sum_of(const struct wr_outcome *o, enum wr_arm_name arm,
                       uint64_t (*value)(const struct wr_trial *t))
{
    uint64_t sum = 0;
    for (size_t i = 0; i < o->trials_count; i++)
        sum += o->trials[i].arm == arm ? value(&o->trials[i]) : 0;
    return sum;
}

static uint64_t is_run(const struct wr_trial *t)
{
    (void)t;
    return 1;
}

static uint64_t is_lost(const struct wr_trial *t)
{
    return !t->is_measured;
}

static uint64_t has_failed(const struct wr_trial *t)
{
    return t->exit_status != 0;
}

static uint64_t recalls_of(const struct wr_trial *t)
{
    return t->recalls_count;
}

static uint64_t requests_count_of(const struct wr_trial *t)
{
    return t->requests_count;
}

static uint64_t changed_of(const struct wr_trial *t)
{
    return t->changed_count;
}

static void put_notes(const struct wr_outcome *o, struct wr_buf *out)
{
    uint64_t lost = sum_of(o, WR_ARM_DIRECT, is_lost) + sum_of(o, WR_ARM_WEIR, is_lost);

    wr_buf_printf(out,
                  "\nwith Weir %llu of %llu requests were changed, and %llu texts were asked "
                  "for again\n",
                  (unsigned long long)sum_of(o, WR_ARM_WEIR, changed_of),
                  (unsigned long long)sum_of(o, WR_ARM_WEIR, requests_count_of),
                  (unsigned long long)sum_of(o, WR_ARM_WEIR, recalls_of));
    if (lost)
        wr_buf_printf(out,
                      "%llu runs asked no model through Weir, and are in no sum of requests, "
                      "tokens, money and time\n",
                      (unsigned long long)lost);
}

/* ---- tasks ---- */

static void put_task(const struct wr_outcome *o, uint32_t task, struct wr_buf *out)
{
    wr_buf_printf(out, "%-20.20s", o->tasks[task]);
    for (int arm = 0; arm < WR_ARMS_COUNT; arm++) {
        struct wr_arm money = arm_of(o, &wr_yardsticks[3], (enum wr_arm_name)arm, task);
        struct wr_arm turns = arm_of(o, &wr_yardsticks[0], (enum wr_arm_name)arm, task);
        uint64_t passed, count;
        count_checks(o, (enum wr_arm_name)arm, &task, &passed, &count);
        wr_buf_printf(out, "  %3llu of %-3llu %6.1f  $%-8.4f", (unsigned long long)passed,
                      (unsigned long long)count, wr_arm_figure(&turns), wr_arm_figure(&money));
    }
    wr_buf_byte(out, '\n');
}

static void put_tasks(const struct wr_outcome *o, struct wr_buf *out)
{
    if (o->tasks_count < 2)
        return;
    wr_buf_printf(out, "\n%-20s  %-10s %6s  %-9s  %-10s %6s  %-9s\n", "task", "direct:", "turns",
                  "money", "Weir:", "turns", "money");
    for (uint32_t i = 0; i < o->tasks_count; i++)
        put_task(o, i, out);
}

/* ---- files ---- */

static int by_path(const void *a, const void *b)
{
    const struct wr_trial_file *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    if (order)
        return order;
    return x->content < y->content ? -1 : x->content > y->content;
}

struct file_row {
    uint64_t runs[WR_ARMS_COUNT];
    uint64_t contents[WR_ARMS_COUNT], common; /* distinct ones; of both arms */
};

/* Files of one path, which stand together, by content. */
static struct file_row count_file(const struct wr_outcome *o, const struct wr_trial_file *files,
                                  size_t count)
{
    struct file_row row = {{0}, {0}, 0};

    for (size_t i = 0; i < count;) {
        bool is_in[WR_ARMS_COUNT] = {false, false};
        uint64_t content = files[i].content;
        for (; i < count && files[i].content == content; i++) {
            enum wr_arm_name arm = o->trials[files[i].trial].arm;
            row.runs[arm]++;
            is_in[arm] = true;
        }
        for (int arm = 0; arm < WR_ARMS_COUNT; arm++)
            row.contents[arm] += is_in[arm];
        row.common += is_in[0] && is_in[1];
    }
    return row;
}

static void put_file(const char *path, const struct file_row *row, const uint64_t runs[],
                     struct wr_buf *out)
{
    const char *how = row->contents[0] == 1 && row->contents[1] == 1 && row->common ? "the same"
                      : row->common                          ? "partly the same"
                      : row->contents[0] && row->contents[1] ? "never the same"
                                                             : "one arm alone";
    wr_buf_printf(out, "  %-44s %3llu of %-3llu direct, %3llu of %-3llu with Weir: %s\n", path,
                  (unsigned long long)row->runs[0], (unsigned long long)runs[0],
                  (unsigned long long)row->runs[1], (unsigned long long)runs[1], how);
}

/* Only of one task: files of several have nothing in common. */
static void put_files(const struct wr_outcome *o, struct wr_buf *out)
{
    uint64_t runs[] = {sum_of(o, WR_ARM_DIRECT, is_run), sum_of(o, WR_ARM_WEIR, is_run)};
    size_t shown = 0;

    if (o->tasks_count != 1 || !o->files_count)
        return;
    qsort(o->files, o->files_count, sizeof(*o->files), by_path);
    wr_buf_text(out, "\nfiles that runs left otherwise than they found them, and whether both arms "
                     "left the same:\n");
    for (size_t i = 0, end; i < o->files_count; i = end) {
        for (end = i; end < o->files_count && !strcmp(o->files[end].path, o->files[i].path);)
            end++;
        if (shown++ >= FILES_SHOWN)
            continue;
        struct file_row row = count_file(o, o->files + i, end - i);
        put_file(o->files[i].path, &row, runs, out);
    }
    if (shown > FILES_SHOWN)
        wr_buf_printf(out, "  and %zu more\n", shown - FILES_SHOWN);
}

static void put_head(const struct wr_outcome *o, struct wr_buf *out)
{
    unsigned long long direct = sum_of(o, WR_ARM_DIRECT, is_run),
                       weir = sum_of(o, WR_ARM_WEIR, is_run);

    if (o->is_recorded)
        wr_buf_printf(out, "%llu recorded %s against %llu\n\n", direct,
                      direct == 1 ? "run" : "runs", weir);
    else
        wr_buf_printf(
            out, "%s\n%llu run%s direct, %llu through Weir (policy %s), order by seed %llu\n\n",
            o->agent, direct, direct == 1 ? "" : "s", weir, o->policy, (unsigned long long)o->seed);
    wr_buf_printf(out, "%-14s%9s%9s %9s %17s\n",
                  o->tasks_count > 1 ? "mean of a task" : "mean of a run",
                  o->is_recorded ? "first" : "direct", o->is_recorded ? "second" : "Weir",
                  "differ by", "95 % interval");
}

/* The tables of runs that were made for this. */
static void put_rest(const struct wr_outcome *o, struct wr_buf *out)
{
    uint64_t failed[] = {sum_of(o, WR_ARM_DIRECT, has_failed), sum_of(o, WR_ARM_WEIR, has_failed)};

    put_notes(o, out);
    if (failed[0] || failed[1])
        wr_buf_printf(out, "the agent failed in %llu runs direct and %llu with Weir\n",
                      (unsigned long long)failed[0], (unsigned long long)failed[1]);
    put_tasks(o, out);
    put_files(o, out);
}

void wr_outcome_print(const struct wr_outcome *o, struct wr_buf *out)
{
    put_head(o, out);
    if (o->has_check)
        put_checks(o, out);
    for (const struct wr_yardstick *m = wr_yardsticks; m->name; m++)
        if (!o->is_recorded || m->value != files_of)
            put_contrast(o, m, out);
    if (!o->is_recorded)
        put_rest(o, out);
}

/* ---- JSON ---- */

static const char *first_name(const struct wr_outcome *o)
{
    return o->is_recorded ? "first" : "direct";
}

static const char *second_name(const struct wr_outcome *o)
{
    return o->is_recorded ? "second" : "weir";
}

static void write_contrast(const struct wr_outcome *o, struct wr_json_writer *w, const char *name,
                           const struct wr_contrast *c)
{
    wr_json_member_object(w, name);
    wr_json_member_fixed(w, first_name(o), c->first, 6);
    wr_json_member_fixed(w, second_name(o), c->second, 6);
    wr_json_member_fixed(w, "difference", c->difference, 6);
    if (c->has_percent)
        wr_json_member_fixed(w, "percent", c->percent, 3);
    if (c->verdict != WR_VERDICT_TOO_FEW) {
        wr_json_member_fixed(w, "low", c->low, 6);
        wr_json_member_fixed(w, "high", c->high, 6);
    }
    if (c->has_percent && c->verdict != WR_VERDICT_TOO_FEW) {
        wr_json_member_fixed(w, "percent_low", c->percent_low, 3);
        wr_json_member_fixed(w, "percent_high", c->percent_high, 3);
    }
    if (c->has_needed)
        wr_json_member_number(w, "units_needed_for_5_percent", c->needed_count);
    wr_json_member_word(w, "verdict", wr_verdict_name(c->verdict));
    wr_json_write_object_end(w);
}

static void write_trial(const struct wr_outcome *o, size_t i, struct wr_json_writer *w)
{
    const struct wr_trial *t = &o->trials[i];

    wr_json_write_object(w);
    wr_json_member_word(w, "arm", t->arm == WR_ARM_WEIR ? second_name(o) : first_name(o));
    if (o->tasks_count > 1)
        wr_json_member_word(w, "task", o->tasks[t->task]);
    wr_json_member_i64(w, "exit_status", t->exit_status);
    if (t->check_status >= 0)
        wr_json_member_i64(w, "check_status", t->check_status);
    wr_json_member_bool(w, "measured", t->is_measured);
    wr_json_member_number(w, "requests", t->requests_count);
    wr_json_member_number(w, "changed", t->changed_count);
    wr_json_member_number(w, "failed", t->failed_count);
    wr_json_member_number(w, "prompt_tokens", t->prompt_tokens);
    wr_json_member_number(w, "cache_read_tokens", t->cache_read_tokens);
    wr_json_member_number(w, "output_tokens", t->output_tokens);
    if (t->is_priced)
        wr_json_member_number(w, "micro_usd", t->micro_usd);
    wr_json_member_number(w, "agent_ms", t->agent_ms);
    wr_json_member_number(w, "recalls", t->recalls_count);
    wr_json_member_array(w, "files_changed");
    for (size_t k = 0; k < o->files_count; k++)
        if (o->files[k].trial == i)
            wr_json_write_text(w, wr_span_of(o->files[k].path));
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

void wr_outcome_write(const struct wr_outcome *o, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "weir_version", weir_version());
    wr_json_member_word(&w, "agent", o->agent);
    wr_json_member_word(&w, "policy", o->policy);
    wr_json_member_number(&w, "seed", o->seed);
    wr_json_member_object(&w, "contrasts");
    if (o->has_check) {
        struct wr_contrast c = wr_outcome_checks(o);
        write_contrast(o, &w, "check_passed", &c);
    }
    for (const struct wr_yardstick *m = wr_yardsticks; m->name; m++) {
        struct wr_contrast c = wr_outcome_contrast(o, m);
        write_contrast(o, &w, m->name, &c);
    }
    wr_json_write_object_end(&w);
    wr_json_member_array(&w, "runs");
    for (size_t i = 0; i < o->trials_count; i++) {
        wr_json_write_newline(&w);
        write_trial(o, i, &w);
    }
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}
