/* `weir simulate`: what every policy would have cost on recorded sessions.
 *
 * Several threads take sessions from one list of files, each with a simulator of its own, and add
 * their results to one report behind one lock. Misses are written as each session ends, since all
 * of them at once would not fit into memory. With several models the whole run is repeated for
 * each.
 *
 * Folds are three kinds of passes over the same files: one that measures what the odds are fitted
 * from, one under odds of all, and one for each repository under odds without it.
 *
 * A rival (lab/rival.h) is one more column of the result. A workload needs no recordings; it
 * has its own part at the end and shares only the options with the rest.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/log_files.h"
#include "cli/open.h"
#include "lab/fit.h"
#include "lab/import_walk.h"
#include "lab/rival.h"
#include "lab/simulate_answer.h"
#include "lab/simulate_csv.h"
#include "lab/simulate_html.h"
#include "lab/workload.h"

#define DEFAULT_MODEL "claude-sonnet-5-5"

enum { PLACES_MAX = 16, JOBS_MAX = 64, WINDOW_TOKENS = 200000, BAR_CELLS = 30 };

struct simulate_options {
    struct wr_opt_list policies, models, prices;
    const char *policies_file, *html, *csv, *misses, *workload, *folds, *odds_file;
    const char *through, *through_name, *through_store;
    uint64_t window_tokens, jobs, upstream_port, cold_percent; /* 0: not told */
    struct wr_opt_list headers;
    bool no_recall, as_json, shows_skipped, fits, shows_all;
    bool are_found; /* the logs were looked for, not named */
};

/* A policy of ours, or a baseline to compare with. */
static void list_lanes(wr_word_fn *each, void *user)
{
    wr_list_policies(each, user);
    for (uint32_t i = 0; i < wr_baseline_count(); i++)
        each(user, wr_baseline_at(i)->name, wr_baseline_at(i)->what);
}

#define VALUES struct simulate_options

static const struct wr_option options[] = {
    {"policy", WR_LIST("P", policies),
     "a policy or a baseline; again for more. Without it the answer is a sentence and a table of "
     "four; --json, --html and --csv then have all there are",
     .list = list_lanes},
    {"all", WR_FLAG(shows_all), "every policy and baseline, by agent, with all figures"},
    {"model", WR_LIST("M", models),
     "price as this model, whatever the log names; again for more: the first in full, all of them "
     "side by side. Without it each log's own model, and with --policy, --json, --html, --csv or "
     "--folds " DEFAULT_MODEL,
     .list = wr_list_models},
    {"window", WR_NUMBER("N", window_tokens, 1, 1000000000),
     "the context window in tokens (default: 200000, and the model's own where logs have theirs)"},
    {"cold", WR_NUMBER("PERCENT", cold_percent, 0, 100),
     "so many requests more come after a pause in which every cache expires (default 0)"},
    {"no-recall", WR_FLAG(no_recall), "as if the agent had no weir_recall"},
    {"policies", WR_FILE(policies_file), "policies of your own, in YAML"},
    {"jobs", WR_NUMBER("N", jobs, 1, JOBS_MAX),
     "sessions run at once (default: the processors there are)"},
    {"json", WR_FLAG(as_json), "everything, for programs"},
    {"html", WR_FILE(html), "a page with charts, too"},
    {"csv", WR_FILE(csv), "a row for every session and policy, too"},
    {"misses", WR_FILE(misses),
     "a row for every result and policy, too: how much of it was shown at first, and what answers "
     "used of it and did not find in the prompt"},
    {"folds", WR_TEXT("repository", folds),
     "judge each repository under odds that were fitted on all others, and say where that is worse "
     "than under odds fitted on all"},
    {"fit", WR_FLAG(fits), "only print the rows of data/odds.tsv, fitted on these logs"},
    {"odds", WR_FILE(odds_file), "odds to decide by, in place of those that come with Weir"},
    {"skipped", WR_FLAG(shows_skipped),
     "name every file that is no log or was read in part, not only the first few"},
    {"through", WR_TEXT("URL", through),
     "one more row: a proxy whose provider is our port; every request is posted to URL in its "
     "agent's API (Claude Code: Messages, Codex: Responses, else Chat), and what arrives at the "
     "port is priced and judged like the rest"},
    {"upstream", WR_NUMBER("PORT", upstream_port, 1, UINT16_MAX),
     "that port, on 127.0.0.1: name it to the proxy as its provider"},
    {"name", WR_TEXT("N", through_name), "of that row (default through)"},
    {"header", WR_LIST("H", headers), "'Name: value', sent to the proxy; again for more"},
    {"store", WR_DIR(through_store), "of a weir serve behind the URL: where its handles lead"},
    {"workload", WR_FILE(workload),
     "instead of logs: made-up loops in token counts, as DuckAgent's simulator reads them, under "
     "its policies"},
    {"prices", WR_LIST("FILE", prices),
     "of a workload: its prices, cache and limits; again for more", .words = WR_WORDS_FILE},
};

/* What the workers share. */
struct work {
    struct wr_simulate_options options;
    struct wr_rival_port *port; /* NULL: no rival */
    atomic_size_t next;
    pthread_mutex_t lock; /* of what is below */
    struct wr_log_files files;
    struct wr_simulate_report *report;
    struct wr_fit *fit; /* NULL: nothing is fitted; else there is no report */
    struct wr_habits habits;
    bool notes_habits;
    struct wr_repositories repositories;
    uint32_t *groups; /* by file: its repository, once it was read; owned; or NULL */
    uint32_t only;    /* the repository whose files are run, or WR_FIT_NO_GROUP: all */
    FILE *misses;     /* NULL: they are not asked for */
    bool shows_progress;
    size_t done; /* files, under this model */
    size_t models_done, models_count;
    weir_status status;
};

/* ---- the workers ---- */

/* On one line of the terminal, drawn over again and gone at the end. */
static void show_progress(const struct work *w)
{
    char bar[BAR_CELLS + 1];
    size_t done = w->done + w->models_done * w->files.count;
    size_t all = w->models_count * w->files.count;
    if (!w->shows_progress)
        return;
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', done * BAR_CELLS / all);
    bar[BAR_CELLS] = 0;
    fprintf(stderr, "\r[%s] %3zu %%, %zu of %zu files, %u sessions\033[K", bar, done * 100 / all,
            w->done, w->files.count, w->report ? w->report->sessions_count : 0);
}

static void hide_progress(const struct work *w)
{
    if (w->shows_progress)
        fputs("\r\033[K", stderr);
}

/* As each session ends: all of them at once would not fit. */
static weir_status write_misses(struct work *w, const struct wr_simulator *simulator,
                                const struct wr_misses_of *of)
{
    struct wr_buf out;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_misses_csv_rows(wr_simulator_misses(simulator), of, &out);
    weir_status status = out.status;
    if (!status && fwrite(out.bytes, 1, out.len, w->misses) != out.len)
        status = WEIR_IO;
    wr_buf_release(&out);
    return status;
}

static weir_status run_session(struct work *w, struct wr_simulator *simulator,
                               const struct wr_import *import, uint32_t number, const char *path,
                               uint32_t group)
{
    const struct wr_session *session = &import->sessions[number];
    struct wr_simulated *out = malloc(sizeof(*out));
    if (!out)
        return WEIR_NOMEM;
    weir_status status = wr_simulate_session(simulator, session, out);
    pthread_mutex_lock(&w->lock);
    /* A rival that does not answer is nothing of the session's. */
    bool is_stopped = w->port && wr_rival_port_why(w->port)[0];
    if (status && status != WEIR_NOMEM && !is_stopped) {
        hide_progress(w);
        wr_log_files_left_out(&w->files, path, weir_status_text(status), NULL);
        status = WEIR_OK;
    } else if (!status && w->fit) {
        status = wr_fit_add(w->fit, wr_simulator_misses(simulator), group);
    } else if (!status) {
        status = wr_simulate_report_add(w->report, session, path, out);
        if (w->notes_habits)
            wr_habits_add(&w->habits, wr_simulator_misses(simulator), out->requests_count);
        if (!status && w->misses)
            status =
                write_misses(w, simulator,
                             &(struct wr_misses_of){.path = path,
                                                    .session = number,
                                                    .agent = session->agent,
                                                    .policies = w->options.policies,
                                                    .policies_count = w->options.policies_count -
                                                                      w->options.hidden_count});
    }
    pthread_mutex_unlock(&w->lock);
    free(out);
    return status;
}

static weir_status run_file(struct work *w, struct wr_simulator *simulator, size_t file)
{
    const char *path = w->files.items[file];
    uint32_t group = 0;
    struct wr_import import;
    struct weir_err err = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_import_file_read(&import, &arena, path, &err);
    pthread_mutex_lock(&w->lock);
    hide_progress(w);
    if (status && status != WEIR_NOMEM) {
        wr_log_files_left_out(&w->files, path, err.text[0] ? err.text : weir_status_text(status),
                              &import);
        import.sessions_count = 0;
        status = WEIR_OK;
    } else if (!status) {
        wr_log_files_were_read(&w->files, path, &import);
    }
    if (!status && w->groups) {
        group = w->groups[file] = wr_repositories_of(&w->repositories, import.folder, path);
        status = group == UINT32_MAX ? WEIR_NOMEM : WEIR_OK;
    }
    show_progress(w);
    pthread_mutex_unlock(&w->lock);
    if (!status) {
        for (uint32_t i = 0; i < import.sessions_count && !status; i++)
            status = run_session(w, simulator, &import, i, path, group);
    }
    wr_arena_release(&arena);
    return status;
}

static void *run_worker(void *user)
{
    struct work *w = user;
    struct wr_simulator *simulator;
    size_t i;
    weir_status status = wr_simulator_new(&simulator, &w->options, NULL);

    while (!status && (i = atomic_fetch_add(&w->next, 1)) < w->files.count) {
        bool is_run = w->only == WR_FIT_NO_GROUP || w->groups[i] == w->only;
        status = is_run ? run_file(w, simulator, i) : WEIR_OK;
        pthread_mutex_lock(&w->lock);
        w->done++;
        show_progress(w);
        pthread_mutex_unlock(&w->lock);
    }
    wr_simulator_free(simulator);
    pthread_mutex_lock(&w->lock);
    if (status)
        w->status = status;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static weir_status run_all(struct work *w, uint32_t jobs)
{
    pthread_t threads[JOBS_MAX];
    uint32_t started = 0;
    while (started + 1 < jobs && started + 1 < w->files.count &&
           !pthread_create(&threads[started], NULL, run_worker, w))
        started++;
    run_worker(w);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    hide_progress(w);
    return w->status;
}

/* ---- what comes out ---- */

static bool open_misses(struct work *w, const char *path)
{
    struct wr_buf head;
    if (!path)
        return true;
    wr_buf_init(&head, WR_OUTPUT_BYTES_MAX);
    wr_misses_csv_head(&head);
    w->misses = fopen(path, "wb");
    bool ok = w->misses && !head.status && fwrite(head.bytes, 1, head.len, w->misses) == head.len;
    if (!ok)
        wr_cli_fail("%s: cannot be written: %s", path, strerror(errno));
    wr_buf_release(&head);
    return ok;
}

static bool close_misses(struct work *w, const char *path)
{
    bool ok = !w->misses || !fclose(w->misses);
    if (!ok)
        wr_cli_fail("%s: cannot be written: %s", path, strerror(errno));
    w->misses = NULL;
    return ok;
}

static bool write_page(const struct wr_simulate_set *set, const char *path, bool is_html)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (is_html)
        wr_simulate_html(set, &out);
    else
        wr_simulate_csv_head(&out);
    for (uint32_t i = 0; i < set->count && !is_html; i++)
        wr_simulate_csv_rows(set->reports[i], &out);
    bool ok = !out.status && wr_cli_write_file(path, wr_buf_view(&out));
    if (out.status)
        wr_cli_fail("%s: cannot be written: %s", path, weir_status_text(out.status));
    wr_buf_release(&out);
    return ok;
}

static int print_answer(struct work *w, bool are_found)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_simulate_answer(w->report, &w->habits, are_found, wr_cli_columns(), &out);
    wr_buf_text(&out, "\nNext: weir simulate --all        every policy, all figures\n"
                      "      weir simulate --html FILE  the same as a page\n"
                      "      weir run -- claude         use it (or codex, ...)\n");
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}

static int print_results(const struct wr_simulate_set *set, const struct simulate_options *o)
{
    struct wr_buf out;
    if ((o->html && !write_page(set, o->html, true)) || (o->csv && !write_page(set, o->csv, false)))
        return WR_EXIT_USAGE;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (o->as_json)
        wr_simulate_models_json(set, &out);
    else if (set->folds)
        wr_simulate_folds_table(set->folds, wr_cli_columns_told(), &out);
    else
        wr_simulate_report_table(set->reports[0], wr_cli_columns_told(), &out);
    if (!o->as_json && set->count > 1)
        wr_simulate_models_table(set, &out);
    return o->as_json ? wr_cli_end(&out, WR_EXIT_OK) : wr_cli_end_fitted(&out, WR_EXIT_OK);
}

/* ---- fitting ---- */

static int end_pass(const struct work *w, weir_status status)
{
    if (status && w->port && wr_rival_port_why(w->port)[0])
        return wr_cli_fail("%s", wr_rival_port_why(w->port));
    return status ? wr_cli_fail("%s", weir_status_text(status)) : WR_EXIT_OK;
}

static int run_pass(struct work *w, uint32_t jobs)
{
    w->done = 0;
    atomic_store(&w->next, 0);
    return end_pass(w, run_all(w, jobs));
}

/* Runs all files under the policies that odds are fitted from. */
static int measure_cuts(struct work *w, uint32_t jobs, struct wr_fit *fit)
{
    struct wr_simulate_options judged = w->options;
    w->groups = calloc(w->files.count ? w->files.count : 1, sizeof(*w->groups));
    if (!w->groups)
        return wr_cli_fail("no memory");
    w->options.policies = wr_fit_policies(&w->options.policies_count);
    w->options.hidden_count = 0;
    w->options.policies_yaml = wr_fit_yaml();
    w->options.with_misses = true;
    w->options.rival = NULL;
    w->fit = fit;
    int code = run_pass(w, jobs);
    w->files.is_quiet = true;
    w->fit = NULL;
    w->options = judged;
    if (!code && !fit->count)
        code = wr_cli_fail("no result over 300 tokens was found in %zu files", w->files.count);
    return code;
}

static int print_fit(struct work *w, uint32_t jobs, struct wr_odds *odds)
{
    struct wr_fit fit = {0};
    struct wr_buf out;
    int code = measure_cuts(w, jobs, &fit);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!code) {
        wr_fit_odds(&fit, WR_FIT_NO_GROUP, odds);
        wr_fit_write(odds, &out);
    }
    wr_fit_release(&fit);
    return code ? code : wr_cli_end(&out, WR_EXIT_OK);
}

/* One pass under odds fitted without `but`, on the files of `only`, into `report`. */
static int run_fold(struct work *w, uint32_t jobs, const struct wr_fit *fit, uint32_t but,
                    struct wr_simulate_report *report)
{
    struct wr_odds odds = {0};
    struct weir_err err = {0};
    if (wr_odds_read(&odds, wr_odds_embedded(), &err))
        return wr_cli_fail("%s", err.text);
    wr_fit_odds(fit, but, &odds);
    w->options.odds = &odds;
    w->report = report;
    w->only = but;
    int code = run_pass(w, jobs);
    w->options.odds = NULL;
    w->only = WR_FIT_NO_GROUP;
    return code;
}

static int run_folds(struct work *w, uint32_t jobs, struct wr_simulate_folds *folds)
{
    struct wr_fit fit = {0};
    int code = measure_cuts(w, jobs, &fit);
    if (!code && (wr_simulate_report_new(&folds->held, &w->options) ||
                  wr_simulate_report_new(&folds->fitted, &w->options)))
        code = wr_cli_fail("no memory");
    if (!code && w->repositories.count < 2)
        code = wr_cli_fail("--folds wants logs of two repositories at least");
    if (!code)
        code = run_fold(w, jobs, &fit, WR_FIT_NO_GROUP, folds->fitted);
    for (uint32_t i = 0; i < w->repositories.count && !code; i++)
        code = run_fold(w, jobs, &fit, i, folds->held);
    folds->repositories = &w->repositories;
    folds->paths = (const char *const *)w->files.items;
    folds->groups = w->groups;
    folds->files_count = w->files.count;
    wr_fit_release(&fit);
    return code;
}

/* ---- the models ---- */

/* A model without a price would make every policy cost nothing. */
static int check_models(const struct wr_opt_list *names)
{
    struct wr_models *models;
    struct weir_err err = {0};
    int code = WR_EXIT_OK;
    if (names->count > WR_SIMULATE_MODELS_MAX)
        return wr_cli_fail("%zu models are too many: at most %d at once", names->count,
                           (int)WR_SIMULATE_MODELS_MAX);
    if (wr_models_new(&models, NULL, &err))
        return wr_cli_fail("%s", err.text);
    for (size_t i = 0; i < names->count && !code; i++)
        if (names->items[i] &&
            wr_models_lookup(models, wr_span_of(names->items[i])).model->prices.input ==
                WR_PRICE_UNSET)
            code = wr_cli_fail_model(models, wr_span_of(names->items[i]));
    wr_models_free(models);
    return code;
}

static int run_model(struct work *w, const char *model, uint32_t jobs, struct wr_simulate_set *set)
{
    w->options.model = model;
    w->report = NULL;
    if (wr_simulate_report_new(&w->report, &w->options))
        return wr_cli_fail("no memory");
    set->reports[set->count++] = w->report;
    int code = run_pass(w, jobs);
    if (code)
        return code;
    if (!w->report->sessions_count)
        return wr_cli_fail("no session was found in %zu files", w->files.count);
    return WR_EXIT_OK;
}

static int simulate_on_threads(struct work *w, const struct simulate_options *o,
                               const struct wr_words *paths, uint32_t jobs)
{
    struct wr_simulate_set set = {.count = 0};
    struct wr_simulate_folds folds = {0};
    struct wr_simulator *probe;
    struct weir_err err = {0};

    /* Wrong names are said before an hour of work, not after it. */
    if (wr_simulator_new(&probe, &w->options, &err))
        return wr_cli_fail("%s", err.text);
    wr_simulator_free(probe);
    w->shows_progress = !o->as_json && isatty(STDERR_FILENO);
    int code = check_models(&o->models);
    if (!code && !wr_log_files_list(&w->files, paths))
        code = WR_EXIT_USAGE;
    if (!code &&
        (!wr_cli_can_write(o->html) || !wr_cli_can_write(o->csv) || !open_misses(w, o->misses)))
        code = WR_EXIT_USAGE;
    w->models_count = o->models.count;
    if (!code && o->folds) {
        code = run_folds(w, jobs, &folds);
        if (folds.held)
            set.reports[set.count++] = folds.held;
        set.folds = &folds;
    }
    for (w->models_done = 0; !o->folds && w->models_done < o->models.count && !code;
         w->models_done++) {
        code = run_model(w, o->models.items[w->models_done], jobs, &set);
        w->files.is_quiet = true;
    }
    set.troubles = &w->files.troubles;
    if (w->files.troubles.status && !code)
        code = wr_cli_fail("%s", weir_status_text(w->files.troubles.status));
    wr_log_files_end(&w->files);
    if (!close_misses(w, o->misses) && !code)
        code = WR_EXIT_USAGE;
    if (!code)
        code = w->notes_habits ? print_answer(w, o->are_found) : print_results(&set, o);
    for (uint32_t i = 0; i < set.count; i++)
        wr_simulate_report_free(set.reports[i]);
    wr_simulate_report_free(folds.fitted);
    return code;
}

/* ---- a rival ---- */

static bool read_rival(const struct simulate_options *o, struct wr_rival_port_options *port)
{
    if (!o->through &&
        (o->upstream_port || o->through_name || o->through_store || o->headers.count)) {
        wr_cli_fail("--upstream, --name, --header and --store are for --through URL");
        return false;
    }
    if (!o->through)
        return true;
    if (strncmp(o->through, "http://", 7) && strncmp(o->through, "https://", 8)) {
        wr_cli_fail("--through wants the URL of a proxy, not '%s'", o->through);
        return false;
    }
    if (!o->upstream_port) {
        wr_cli_fail("--through wants --upstream PORT: where the proxy sends to");
        return false;
    }
    *port = (struct wr_rival_port_options){.name = o->through_name ? o->through_name : "through",
                                           .url = o->through,
                                           .port = (uint16_t)o->upstream_port,
                                           .headers = o->headers.items,
                                           .headers_count = o->headers.count};
    if (o->through_store)
        port->store = wr_cli_store(o->through_store, NULL);
    return !o->through_store || port->store;
}

static bool has_reference(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(names[i], "exact") || !strcmp(names[i], "raw"))
            return true;
    return false;
}

/* The policies that were named, or all, and then the rival. Costs are shown as a share of what
 * sending everything unchanged costs; if that policy was not named it is run as well, unseen. */
static void name_lanes(struct work *w, const struct simulate_options *o,
                       const char *names[WR_OPT_LIST_MAX + 2])
{
    const char *const *given = o->policies.items;
    uint32_t count = (uint32_t)o->policies.count;
    if (w->notes_habits)
        given = wr_simulate_answer_policies(&count);
    else if (!count)
        given = wr_simulate_all(&count);
    memcpy(names, given, count * sizeof(names[0]));
    if (w->port) {
        w->options.rival = wr_rival_port_rival(w->port);
        names[count++] = w->options.rival->name;
    }
    if (!has_reference(names, count) && count < WR_SIMULATE_LANES_MAX) {
        names[count++] = "exact";
        w->options.hidden_count = 1;
    }
    w->options.policies = names;
    w->options.policies_count = count;
}

/* ---- recorded sessions ---- */

/* The odds that were named, or those that come with Weir, whose settings a fit keeps. */
static bool read_odds(const struct simulate_options *o, struct wr_odds *odds)
{
    struct wr_buf text = {0};
    struct weir_err err = {0};
    if (o->odds_file && !wr_cli_read(o->odds_file, &text))
        return false;
    weir_span table = o->odds_file ? wr_buf_view(&text) : wr_odds_embedded();
    bool ok = !wr_odds_read(odds, table, &err);
    if (!ok)
        wr_cli_fail_at(o->odds_file, table, &err, "these are no odds");
    wr_buf_release(&text);
    return ok;
}

static int fit_logs(struct work *w, const struct simulate_options *o, const struct wr_words *paths,
                    uint32_t jobs, struct wr_odds *odds)
{
    w->shows_progress = isatty(STDERR_FILENO);
    w->models_count = 1;
    int code = check_models(&o->models);
    if (!code && !wr_log_files_list(&w->files, paths))
        code = WR_EXIT_USAGE;
    if (!code)
        code = print_fit(w, jobs, odds);
    wr_log_files_end(&w->files);
    return code;
}

/* The answer is read by a person, who asked for nothing in particular. */
static bool is_for_people_only(const struct simulate_options *o)
{
    return !o->policies.count && o->models.count < 2 && !o->as_json && !o->html && !o->csv &&
           !o->misses && !o->folds && !o->fits && !o->through && !o->odds_file && !o->policies_file;
}

static int simulate_logs(struct simulate_options *o, const struct wr_words *paths)
{
    struct work w = {.lock = PTHREAD_MUTEX_INITIALIZER, .only = WR_FIT_NO_GROUP};
    struct wr_rival_port_options rival = {.url = NULL};
    struct weir_err err = {0};
    const char *names[WR_OPT_LIST_MAX + 2];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = o->jobs ? o->jobs : processors > 0 ? (uint64_t)processors : 1;
    struct wr_buf yaml = {0};

    if ((o->misses || o->folds) && o->models.count > 1)
        return wr_cli_fail("--%s wants one model, not %zu", o->misses ? "misses" : "folds",
                           o->models.count);
    if (o->folds && (strcmp(o->folds, "repository") != 0 || o->misses || o->through))
        return wr_cli_fail("--folds wants the word repository, and neither --misses nor --through");
    if (o->policies_file && !wr_cli_read(o->policies_file, &yaml))
        return WR_EXIT_USAGE;
    if (!read_rival(o, &rival)) {
        wr_buf_release(&yaml);
        return WR_EXIT_USAGE;
    }
    bool is_for_people = is_for_people_only(o);
    bool has_own_models = is_for_people && !o->models.count;
    if (!o->models.count) /* NULL is each log's own */
        o->models.items[o->models.count++] = has_own_models ? NULL : DEFAULT_MODEL;
    w.notes_habits = is_for_people && !o->shows_all;
    w.files = (struct wr_log_files){.shows_all = o->shows_skipped};
    w.options =
        (struct wr_simulate_options){.model = o->models.items[0],
                                     .fallback_model = has_own_models ? DEFAULT_MODEL : NULL,
                                     .window_tokens = (uint32_t)(o->window_tokens ? o->window_tokens
                                                                 : has_own_models ? 0
                                                                                  : WINDOW_TOKENS),
                                     .without_recall = o->no_recall,
                                     .cold_bp = (uint32_t)o->cold_percent * 100,
                                     .places_markers = true,
                                     .with_misses = o->misses || w.notes_habits,
                                     .policies_yaml = wr_buf_view(&yaml)};
    /* A rival gets one request at a time, so that what arrives is known to be its. */
    if (rival.url || jobs > JOBS_MAX)
        jobs = rival.url ? 1 : JOBS_MAX;
    int code = WR_EXIT_OK;
    struct wr_odds odds;
    if (!read_odds(o, &odds)) {
        code = WR_EXIT_USAGE;
    } else if (o->fits) {
        code = fit_logs(&w, o, paths, (uint32_t)jobs, &odds);
    } else if (rival.url && wr_rival_port_open(&w.port, &rival, &err)) {
        code = wr_cli_fail("%s", err.text);
    } else {
        name_lanes(&w, o, names);
        w.options.odds = o->odds_file ? &odds : NULL;
        code = simulate_on_threads(&w, o, paths, (uint32_t)jobs);
    }
    wr_rival_port_close(w.port);
    weir_store_close(rival.store);
    wr_repositories_release(&w.repositories);
    free(w.groups);
    wr_log_files_free(&w.files);
    wr_buf_release(&yaml);
    return code;
}

/* ---- workloads ---- */

static bool read_prices(const char *path, struct wr_arena *arena, struct wr_workload_prices *prices,
                        struct wr_buf *text)
{
    struct weir_err err = {0};
    if (!wr_cli_read(path, text))
        return false;
    if (!wr_workload_prices_read(prices, arena, wr_buf_view(text), &err))
        return true;
    wr_cli_fail_at(path, wr_buf_view(text), &err, "this is no price file");
    return false;
}

static int simulate_workload(const struct simulate_options *o)
{
    struct wr_workload_prices prices[WR_WORKLOAD_PRICES_MAX];
    struct wr_buf texts[WR_WORKLOAD_PRICES_MAX + 1] = {{0}}, out;
    struct wr_workload_file file;
    struct weir_err err = {0};
    struct wr_arena arena;
    int code = WR_EXIT_USAGE;

    if (o->policies.count || o->models.count || o->headers.count || o->window_tokens ||
        o->policies_file || o->jobs || o->html || o->csv || o->misses || o->through || o->folds ||
        o->fits || o->odds_file || o->cold_percent || o->upstream_port || o->through_name ||
        o->through_store || o->no_recall || o->shows_skipped)
        return wr_cli_fail("--workload has policies and prices of its own: it takes "
                           "--prices and --json alone");
    if (!o->prices.count || o->prices.count > WR_WORKLOAD_PRICES_MAX)
        return wr_cli_fail("--workload wants --prices FILE, at most %d times",
                           (int)WR_WORKLOAD_PRICES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!wr_cli_read(o->workload, &texts[0]))
        goto out;
    if (wr_workload_read(&file, &arena, wr_buf_view(&texts[0]), &err)) {
        wr_cli_fail_at(o->workload, wr_buf_view(&texts[0]), &err, "this is no workload");
        goto out;
    }
    for (size_t i = 0; i < o->prices.count; i++)
        if (!read_prices(o->prices.items[i], &arena, &prices[i], &texts[i + 1]))
            goto out;
    weir_status status =
        wr_workload_report(&file, prices, (uint32_t)o->prices.count, o->as_json, &out);
    code = status ? wr_cli_fail_status(status, NULL) : wr_cli_end(&out, WR_EXIT_OK);
out:
    for (size_t i = 0; i <= WR_WORKLOAD_PRICES_MAX; i++)
        wr_buf_release(&texts[i]);
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return code;
}

/* The logs of every agent on this machine. */
static int simulate_found(struct simulate_options *o)
{
    size_t places_count;
    const struct wr_import_place *places = wr_import_places(&places_count);
    char *paths[PLACES_MAX];
    struct wr_words words = {.items = paths};
    struct wr_arena arena;
    int code;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < places_count && i < PLACES_MAX; i++) {
        char *path = wr_import_place_path(&places[i], getenv("HOME"), &arena);
        if (path && !access(path, R_OK))
            paths[words.count++] = path;
    }
    o->are_found = true;
    if (words.count)
        code = simulate_logs(o, &words);
    else
        code =
            wr_cli_fail("no logs of Claude Code, Codex, Copilot CLI, Gemini CLI or pi were found "
                        "in the home folder; name a log or a folder: weir simulate PATH");
    wr_log_files_tell_elsewhere();
    wr_arena_release(&arena);
    return code;
}

static int run_simulate(void *values, const struct wr_words *paths)
{
    struct simulate_options *o = values;

    if (o->workload ? paths->count > 0 : o->prices.count > 0)
        return wr_cli_fail("--workload and --prices go together, and without logs");
    if (o->workload)
        return simulate_workload(o);
    return paths->count ? simulate_logs(o, paths) : simulate_found(o);
}

const struct wr_command wr_cmd_simulate = {
    .name = "simulate",
    .purpose = "what your past sessions would have cost; needs no key",
    .usage = "[OPTIONS] [PATH...]\n"
             "--through URL --upstream PORT [--name N] [--header H]... PATH...\n"
             "--workload FILE --prices FILE... [--json]",
    .about =
        "Runs recorded sessions (logs of Claude Code, Codex, Copilot CLI, pi, opencode, Gemini "
        "CLI, SWE-agent, OpenHands and others; files or folders, gzip too) through the real "
        "engine, and says what they would have cost at the provider's cache prices and what would "
        "have been lost. Without a PATH the logs of all agents on this machine are taken. Nothing "
        "is sent anywhere.",
    WR_OPTIONS(options),
    .words_max = SIZE_MAX,
    .words = WR_WORDS_FILE,
    .example = "weir simulate\n"
               "weir simulate ~/.claude/projects ~/.codex --policy auto --policy tiered\n"
               "weir simulate ~/.codex --policy exact --through http://127.0.0.1:8787/v1 "
               "--upstream 9001",
    .run = run_simulate,
};
