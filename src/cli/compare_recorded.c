/* Runs that are recorded in a store, as the arms of a comparison. */
#include "cli/compare_run.h"

#include "base/limits.h"
#include "base/span.h"
#include "cli/open.h"
#include "engine/record_row.h"
#include "ledger/tally.h"

struct reading {
    weir_span name;
    struct wr_tally tally;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
};

/* A run's name, or how a session's begins, with or without what stands before its first ':'. */
static bool is_named(const struct wr_ledger_row *row, weir_span run, weir_span name)
{
    size_t colon = wr_span_find(row->session, WR_LIT(":"), 0);

    return wr_span_eq(run, name) || wr_span_starts(row->session, name) ||
           (colon != SIZE_MAX && wr_span_starts(wr_span_from(row->session, colon + 1), name));
}

/* A row of others is read along: what it left in a session's cache counts. */
static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->tally};
    struct wr_record record;

    wr_arena_reset(&r->arena);
    weir_status status = wr_row_parse(row->line, &r->arena, &record);
    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
    return wr_tallier_add(r->tallier, row, &record, tallies, is_named(row, record.run, r->name));
}

static struct wr_trial trial_of(const struct wr_tally *t, enum wr_arm_name arm)
{
    return (struct wr_trial){.arm = arm,
                             .is_measured = true,
                             .check_status = -1,
                             .requests_count = t->requests_count,
                             .changed_count = t->changed_count,
                             .failed_count = t->failed_count,
                             .prompt_tokens = t->sent_tokens,
                             .cache_read_tokens = t->cache_read_tokens,
                             .output_tokens = t->output_tokens,
                             .micro_usd = t->micro_usd,
                             .is_priced = !t->unpriced_count,
                             .agent_ms = (uint64_t)(t->last_ms - t->first_ms),
                             .recalls_count = t->quality.recalls};
}

static bool read_one(struct wr_outcome *outcome, const struct wr_books *books, weir_span name,
                     enum wr_arm_name arm)
{
    struct reading r = {.name = name, .tallier = wr_tallier_new(books->models)};
    struct wr_ledger_filter all = {.since_ms = 0};
    struct weir_err err = {0};
    weir_status status = WEIR_NOMEM;

    wr_arena_init(&r.arena, WR_ARENA_BYTES_MAX);
    if (r.tallier)
        status = wr_ledger_each(books->ledger, &all, on_row, &r, &err);
    wr_tallier_free(r.tallier);
    wr_arena_release(&r.arena);
    if (!status && !r.tally.requests_count)
        return !wr_cli_fail("%.*s is no run and no session of this store; a receipt names its run, "
                            "`weir sessions` lists sessions",
                            (int)name.len, name.ptr);
    struct wr_trial trial = trial_of(&r.tally, arm);
    if (!status)
        status = wr_outcome_add(outcome, &trial);
    return !status || !wr_cli_fail_status(status, &err);
}

bool wr_compare_read(struct wr_outcome *outcome, const struct wr_books *books, const char *names,
                     enum wr_arm_name arm)
{
    weir_span rest = wr_span_of(names);

    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t bytes = comma ? (size_t)(comma - rest.ptr) : rest.len;
        if (bytes && !read_one(outcome, books, wr_span_cut(rest, 0, bytes), arm))
            return false;
        rest = wr_span_cut(rest, comma ? bytes + 1 : bytes, rest.len);
    }
    return true;
}
