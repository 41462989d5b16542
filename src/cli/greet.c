/* `weir` alone: what this is, whether a server runs, what was saved so far, and what to type next.
 *
 * Nothing is made and nothing is asked over the network: a server is found by its lock, what was
 * saved is read from a store that is there. What cannot be read is left out, since nobody has
 * asked for it; `weir report` then says why.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/open.h"
#include "launch/serving.h"
#include "ledger/report.h"

enum { SHOWN_DAYS = 30 };
#define SHOWN_MS (SHOWN_DAYS * 24LL * 60 * 60 * 1000)

static void put_server(struct wr_buf *out, const char *store)
{
    struct wr_server_facts facts;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    if (!wr_lock_find(store, &arena, &facts))
        wr_buf_printf(out, "running   http://%s:%u, mode %s, policy %s (process %lld)\n",
                      facts.host, facts.port, facts.mode, facts.policy, (long long)facts.pid);
    else
        wr_buf_text(out, "running   nothing; `weir run` starts what it needs\n");
    wr_arena_release(&arena);
}

static void put_sums(struct wr_buf *out, const struct wr_tally *all)
{
    int64_t saved = (int64_t)all->unchanged_micro_usd - (int64_t)all->micro_usd;

    if (!all->requests_count) {
        wr_buf_printf(out, "saved     nothing yet: no requests in %d days\n", (int)SHOWN_DAYS);
        return;
    }
    wr_buf_text(out, "saved     ");
    wr_cli_put_money(out, saved);
    wr_buf_text(out, " of ");
    wr_cli_put_money(out, (int64_t)all->unchanged_micro_usd);
    if (all->unchanged_micro_usd)
        wr_buf_printf(out, " (%.0f %%)", 100.0 * (double)saved / (double)all->unchanged_micro_usd);
    wr_buf_printf(out, " in %d days, %s requests\n", (int)SHOWN_DAYS,
                  WR_GROUPED(all->requests_count));
}

/* False: there is nothing to be read. */
static bool put_saved(struct wr_buf *out, const char *store)
{
    int64_t since_ms = wr_clock_ms() - SHOWN_MS;
    struct wr_ledger_filter filter = {.since_ms = since_ms - WR_REPORT_LOOK_BACK_MS};
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger = NULL;
    struct wr_models *models = NULL;
    struct wr_report report;

    if (wr_ledger_open(store, &options, &ledger, NULL, NULL) ||
        wr_models_new(&models, NULL, NULL) || wr_report_init(&report, models, since_ms)) {
        wr_ledger_close(ledger);
        wr_models_free(models);
        return false;
    }
    bool is_read = !wr_ledger_each(ledger, &filter, wr_report_add, &report, NULL);
    if (is_read)
        put_sums(out, &report.all);
    wr_report_release(&report);
    wr_ledger_close(ledger);
    wr_models_free(models);
    return is_read;
}

int wr_cli_greet(void)
{
    struct wr_buf out, store;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&out,
                  "Weir %s takes out of an agent's prompts what the model no longer needs.\n"
                  "Long sessions fit and cost less; all that is taken out can be put back.\n\n",
                  weir_version());
    if (wr_cli_store_path(NULL, &store)) {
        put_server(&out, store.bytes);
        if (!put_saved(&out, store.bytes))
            wr_buf_text(&out, "saved     nothing yet\n");
    }
    wr_buf_release(&store);
    wr_buf_text(&out, "\nweir simulate        what your past sessions would have cost; changes "
                      "nothing\n"
                      "weir run -- claude   the next one through Weir (or codex, opencode, ...)\n\n"
                      "`weir --help` lists all commands.\n");
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}
