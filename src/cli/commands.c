/* Which commands there are, and what becomes of a command line before one of them runs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "cli/plain.h"
#include "launch/serving.h"
#include "ledger/report.h"

/* ---- greet ----
 *
 * `weir` alone: what this is, whether a server runs, what was saved so far, and what to type next.
 *
 * Nothing is made and nothing is asked over the network: a server is found by its lock, what was
 * saved is read from a store that is there. What cannot be read is left out, since nobody has
 * asked for it; `weir report` then says why.
 */

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

/* `weir` without a command: what it is, what it did, what to type. */
static int cli_greet(void)
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

/* ---- commands ---- */

const struct wr_command *const wr_commands[] = {
    /* try it */
    &wr_cmd_simulate, &wr_cmd_try,
    /* use it */
    &wr_cmd_run, &wr_cmd_install, &wr_cmd_uninstall, &wr_cmd_serve, &wr_cmd_doctor, &wr_cmd_mcp,
    &wr_cmd_hook, &wr_cmd_agent,
    /* see what it did */
    &wr_cmd_sessions, &wr_cmd_why, &wr_cmd_recall, &wr_cmd_context, &wr_cmd_top, &wr_cmd_report,
    &wr_cmd_compare, &wr_cmd_learn,
    /* steer a running session */
    &wr_cmd_plan, &wr_cmd_pin, &wr_cmd_unpin, &wr_cmd_undo, &wr_cmd_exact, &wr_cmd_pause,
    &wr_cmd_resume, &wr_cmd_rules,
    /* one request, one output */
    &wr_cmd_inspect, &wr_cmd_project, &wr_cmd_diff, &wr_cmd_condense, &wr_cmd_count, &wr_cmd_prompt,
    /* look up, keep in order */
    &wr_cmd_models, &wr_cmd_policies, &wr_cmd_replay, &wr_cmd_store, &wr_cmd_token,
    &wr_cmd_completion, NULL};

/* Where each group of them begins. */
static const struct wr_help_group groups[] = {
    {&wr_cmd_simulate, "Try it, without changing anything"},
    {&wr_cmd_run, "Use it"},
    {&wr_cmd_sessions, "See what it did"},
    {&wr_cmd_plan, "Steer a running session"},
    {&wr_cmd_inspect, "One request, or one output of a tool"},
    {&wr_cmd_models, "What it knows and keeps"},
    {NULL, NULL},
};

static const struct wr_command *find_command(const char *name)
{
    struct wr_near near = wr_near_to(wr_span_of(name));

    for (size_t i = 0; wr_commands[i]; i++) {
        if (!strcmp(wr_commands[i]->name, name))
            return wr_commands[i];
        wr_near_offer(&near, wr_commands[i]->name, "");
    }
    wr_cli_fail("no command '%s'%s `weir --help` lists them", name, near.text);
    return NULL;
}

/* The manual, of all or of one command. */
static int print_manual(const char *about)
{
    const struct wr_command *command = about ? find_command(about) : NULL;
    struct wr_buf out;

    if (about && !command)
        return WR_EXIT_USAGE;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (command)
        wr_help_manual_of(command, weir_version(), &out);
    else
        wr_help_manual(wr_commands, weir_version(), &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int print_help(const char *about)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (about)
        wr_help_print(find_command(about), &out);
    else
        wr_help_overview(wr_commands, groups, &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int print_candidates(const char *const *words, size_t count)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_complete(wr_commands, words, count, &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int run_command(const struct wr_command *command, int argc, char **argv)
{
    void *values = calloc(1, command->values_bytes + 1);
    struct wr_plain plain;
    struct wr_words words;
    int code = WR_EXIT_USAGE;

    if (!values)
        return wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    if (command->defaults)
        memcpy(values, command->defaults, command->values_bytes);
    wr_cli_use_name(command->name);
    wr_plain_begin(&plain, command->name, argv);
    enum wr_parsed parsed = wr_options_parse(command, argc, argv, values, &words);
    if (parsed == WR_PARSED_HELP)
        code = print_help(command->name);
    else if (parsed == WR_PARSED)
        code = command->run(values, &words);
    code = wr_plain_end(&plain, code);
    wr_cli_use_name("");
    free(values);
    return code;
}

int wr_cli_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word)
        return cli_greet();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        const char *about = argc > 2 ? argv[2] : NULL;
        if (about && !strcmp(about, "--man"))
            return print_manual(argc > 3 ? argv[3] : NULL);
        if (about && !strcmp(about, "help"))
            about = NULL;
        if (about && !find_command(about))
            return WR_EXIT_USAGE;
        return print_help(about);
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
        printf("weir %s\n", weir_version());
        return WR_EXIT_OK;
    }
    if (!strcmp(word, "--complete"))
        return print_candidates((const char *const *)argv + 2, (size_t)argc - 2);
    const struct wr_command *command = find_command(word);
    return command ? run_command(command, argc - 1, argv + 1) : WR_EXIT_USAGE;
}
