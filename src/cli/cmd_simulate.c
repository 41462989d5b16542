#include "cli/cmd.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/log_files.h"
#include "cli/rival_port.h"
#include "models/lookup.h"
#include "models/registry.h"
#include "replay/import_walk.h"
#include "replay/simulate_csv.h"
#include "replay/simulate_html.h"
#include "replay/workload.h"

static const char help[] =
    "usage: weir simulate PATH... [--policy P]... [--model M]... [--window N] [--no-recall]\n"
    "                    [--policies FILE] [--jobs N] [--json] [--html FILE] [--csv FILE]\n"
    "                    [--misses FILE]\n"
    "       weir simulate PATH... --through URL --upstream PORT [--name N] [--header H]... ...\n"
    "       weir simulate --workload FILE --prices FILE... [--json]\n"
    "\n"
    "Runs recorded sessions (logs of Claude Code, Codex, Copilot CLI, pi, opencode, Gemini CLI, "
    "SWE-agent,\n"
    "OpenHands and others; files or folders, gzip too) under every policy, through the real "
    "engine, and says\n"
    "what each would have cost at the provider's cache prices and what it would have lost.\n"
    "\n"
    "  --policy P      a policy or a baseline; again for more. Without it all there are\n"
    "  --model M       price as this model, whatever the log names (default claude-sonnet-5-5);\n"
    "                  again for more: the first in full, all of them side by side\n"
    "  --window N      the context window in tokens (default 200000)\n"
    "  --no-recall     as if the agent had no weir_recall\n"
    "  --policies FILE policies of your own, in YAML\n"
    "  --jobs N        sessions run at once (default: the processors there are)\n"
    "  --json          everything, for programs\n"
    "  --html FILE     a page with charts, too\n"
    "  --csv FILE      a row for every session and policy, too\n"
    "  --misses FILE   a row for every result and policy, too: how much of it was shown at first, "
    "and what\n"
    "                  answers used of it and did not find in the prompt\n"
    "  --skipped       name every file that is no log or was read in part, not only the first few\n"
    "  --through URL   one more row: a proxy whose provider is our port; every request is posted "
    "to URL\n"
    "                  in its agent's API (Claude Code: Messages, Codex: Responses, else Chat), "
    "and\n"
    "                  what arrives at the port is priced and judged like the rest\n"
    "  --upstream PORT that port, on 127.0.0.1: name it to the proxy as its provider\n"
    "  --name N        of that row (default through)\n"
    "  --header H      'Name: value', sent to the proxy; again for more\n"
    "  --store DIR     of a weir serve behind the URL: where its handles lead\n"
    "  --workload FILE instead of logs: made-up loops in token counts, as DuckAgent's simulator\n"
    "                  reads them, under its policies\n"
    "  --prices FILE   of a workload: its prices, cache and limits; again for more\n"
    "\n"
    "example: weir simulate ~/.claude/projects ~/.codex --policy auto --policy tiered\n"
    "         weir simulate ~/.codex --policy exact --through http://127.0.0.1:8787/v1 --upstream "
    "9001\n";

enum { JOBS_MAX = 64, WINDOW_TOKENS = 200000, BAR_CELLS = 30 };

struct simulate_options {
    struct wr_opt_list policies, models, prices;
    const char *window, *policies_file, *jobs, *html, *csv, *misses, *workload;
    const char *through, *upstream, *through_name, *through_store;
    struct wr_opt_list headers;
    bool no_recall, as_json, shows_skipped;
};

/* What the workers share. */
struct work {
    struct wr_simulate_options options;
    struct wr_rival_port *port; /* NULL: no rival */
    atomic_size_t next;
    pthread_mutex_t lock; /* of what is below */
    struct wr_log_files files;
    struct wr_simulate_report *report;
    FILE *misses; /* NULL: they are not asked for */
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
            w->done, w->files.count, w->report->sessions_count);
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
                               const struct wr_import *import, uint32_t number, const char *path)
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
    } else if (!status) {
        status = wr_simulate_report_add(w->report, session, path, out);
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

static weir_status run_file(struct work *w, struct wr_simulator *simulator, const char *path)
{
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
    show_progress(w);
    pthread_mutex_unlock(&w->lock);
    if (!status) {
        for (uint32_t i = 0; i < import.sessions_count && !status; i++)
            status = run_session(w, simulator, &import, i, path);
    }
    wr_arena_release(&arena);
    return status;
}

static void *worker(void *user)
{
    struct work *w = user;
    struct wr_simulator *simulator;
    size_t i;
    weir_status status = wr_simulator_new(&simulator, &w->options, NULL);

    while (!status && (i = atomic_fetch_add(&w->next, 1)) < w->files.count) {
        status = run_file(w, simulator, w->files.items[i]);
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
           !pthread_create(&threads[started], NULL, worker, w))
        started++;
    worker(w);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    hide_progress(w);
    return w->status;
}

static bool read_number(const char *text, const char *option, uint64_t max, uint64_t *number)
{
    if (!text)
        return true;
    if (wr_span_u64(wr_span_of(text), number) && *number && *number <= max)
        return true;
    wr_cli_fail("simulate", "%s wants a number from 1 to %llu, not '%s'", option,
                (unsigned long long)max, text);
    return false;
}

/* ---- what comes out ---- */

static bool write_file(const char *path, struct wr_buf *out)
{
    FILE *file = out->status ? NULL : fopen(path, "wb");
    bool ok = file && fwrite(out->bytes, 1, out->len, file) == out->len;
    int reason = errno;
    if (file && fclose(file)) {
        reason = errno;
        ok = false;
    }
    if (!ok)
        wr_cli_fail("simulate", "%s: cannot be written: %s", path,
                    out->status ? weir_status_text(out->status) : strerror(reason));
    return ok;
}

/* What cannot be written is said before an hour of work, too. */
static bool can_write(const char *path)
{
    FILE *file = path ? fopen(path, "ab") : NULL;
    if (path && !file)
        wr_cli_fail("simulate", "%s: cannot be written: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return !path || file;
}

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
        wr_cli_fail("simulate", "%s: cannot be written: %s", path, strerror(errno));
    wr_buf_release(&head);
    return ok;
}

static bool close_misses(struct work *w, const char *path)
{
    bool ok = !w->misses || !fclose(w->misses);
    if (!ok)
        wr_cli_fail("simulate", "%s: cannot be written: %s", path, strerror(errno));
    w->misses = NULL;
    return ok;
}

static bool write_html(const struct wr_simulate_set *set, const char *path)
{
    struct wr_buf out;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_simulate_html(set, &out);
    bool ok = write_file(path, &out);
    wr_buf_release(&out);
    return ok;
}

static bool write_csv(const struct wr_simulate_set *set, const char *path)
{
    struct wr_buf out;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_simulate_csv_head(&out);
    for (uint32_t i = 0; i < set->count; i++)
        wr_simulate_csv_rows(set->reports[i], &out);
    bool ok = write_file(path, &out);
    wr_buf_release(&out);
    return ok;
}

static int print(const struct wr_simulate_set *set, const struct simulate_options *o)
{
    struct wr_buf out;
    if ((o->html && !write_html(set, o->html)) || (o->csv && !write_csv(set, o->csv)))
        return WR_EXIT_USAGE;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (o->as_json)
        wr_simulate_models_json(set, &out);
    else
        wr_simulate_report_table(set->reports[0], &out);
    if (!o->as_json && set->count > 1)
        wr_simulate_models_table(set, &out);
    bool ok = !out.status && wr_cli_write("simulate", wr_buf_view(&out));
    wr_buf_release(&out);
    return ok ? WR_EXIT_OK : WR_EXIT_USAGE;
}

/* ---- the command ---- */

/* A model without a price would make every policy cost nothing. */
static int check_models(const struct wr_opt_list *names)
{
    struct wr_models *models;
    struct weir_err err = {0};
    int code = WR_EXIT_OK;
    if (names->count > WR_SIMULATE_MODELS_MAX)
        return wr_cli_fail("simulate", "%zu models are too many: at most %d at once", names->count,
                           (int)WR_SIMULATE_MODELS_MAX);
    if (wr_models_new(&models, NULL, &err))
        return wr_cli_fail("simulate", "%s", err.text);
    for (size_t i = 0; i < names->count && !code; i++)
        if (wr_models_lookup(models, wr_span_of(names->items[i])).model->prices.input ==
            WR_PRICE_UNSET)
            code = wr_cli_fail("simulate",
                               "no price of '%.60s' is known; `weir models` lists those "
                               "that have one",
                               names->items[i]);
    wr_models_free(models);
    return code;
}

static int run_model(struct work *w, const char *model, uint32_t jobs, struct wr_simulate_set *set)
{
    w->options.model = model;
    w->report = NULL;
    w->done = 0;
    atomic_store(&w->next, 0);
    if (wr_simulate_report_new(&w->report, &w->options))
        return wr_cli_fail("simulate", "no memory");
    set->reports[set->count++] = w->report;
    weir_status status = run_all(w, jobs);
    if (status && w->port && wr_rival_port_why(w->port)[0])
        return wr_cli_fail("simulate", "%s", wr_rival_port_why(w->port));
    if (status)
        return wr_cli_fail("simulate", "%s", weir_status_text(status));
    if (!w->report->sessions_count)
        return wr_cli_fail("simulate", "no session was found in %zu files", w->files.count);
    return WR_EXIT_OK;
}

static int simulate(struct work *w, const struct simulate_options *o,
                    const struct wr_opt_words *paths, uint32_t jobs)
{
    struct wr_simulate_set set = {.count = 0};
    struct wr_simulator *probe;
    struct weir_err err = {0};

    /* Wrong names are said before an hour of work, not after it. */
    if (wr_simulator_new(&probe, &w->options, &err))
        return wr_cli_fail("simulate", "%s", err.text);
    wr_simulator_free(probe);
    w->shows_progress = !o->as_json && isatty(STDERR_FILENO);
    int code = check_models(&o->models);
    if (!code && !wr_log_files_list(&w->files, paths))
        code = WR_EXIT_USAGE;
    if (!code && (!can_write(o->html) || !can_write(o->csv) || !open_misses(w, o->misses)))
        code = WR_EXIT_USAGE;
    w->models_count = o->models.count;
    for (w->models_done = 0; w->models_done < o->models.count && !code; w->models_done++) {
        code = run_model(w, o->models.items[w->models_done], jobs, &set);
        w->files.is_quiet = true;
    }
    set.troubles = &w->files.troubles;
    if (w->files.troubles.status && !code)
        code = wr_cli_fail("simulate", "%s", weir_status_text(w->files.troubles.status));
    wr_log_files_end(&w->files);
    if (!close_misses(w, o->misses) && !code)
        code = WR_EXIT_USAGE;
    if (!code)
        code = print(&set, o);
    for (uint32_t i = 0; i < set.count; i++)
        wr_simulate_report_free(set.reports[i]);
    return code;
}

/* ---- a rival ---- */

static bool read_rival(const struct simulate_options *o, struct wr_rival_port_options *port)
{
    uint64_t number = 0;
    if (!o->through && (o->upstream || o->through_name || o->through_store || o->headers.count)) {
        wr_cli_fail("simulate", "--upstream, --name, --header and --store are for --through URL");
        return false;
    }
    if (!o->through)
        return true;
    if (strncmp(o->through, "http://", 7) && strncmp(o->through, "https://", 8)) {
        wr_cli_fail("simulate", "--through wants the URL of a proxy, not '%s'", o->through);
        return false;
    }
    if (!o->upstream) {
        wr_cli_fail("simulate", "--through wants --upstream PORT: where the proxy sends to");
        return false;
    }
    if (!read_number(o->upstream, "--upstream", UINT16_MAX, &number))
        return false;
    *port = (struct wr_rival_port_options){.command = "simulate",
                                           .name = o->through_name ? o->through_name : "through",
                                           .url = o->through,
                                           .port = (uint16_t)number,
                                           .headers = &o->headers,
                                           .store_dir = o->through_store};
    return true;
}

static bool has_reference(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(names[i], "exact") || !strcmp(names[i], "raw"))
            return true;
    return false;
}

/* The policies that were named, or all, and the rival behind them. Where none of them is what was
 * sent, that is run too, unseen, to have what the others' costs are a share of. */
static void name_lanes(struct work *w, const struct simulate_options *o,
                       const char *names[WR_OPT_LIST_MAX + 2])
{
    const char *const *given = o->policies.items;
    uint32_t count = (uint32_t)o->policies.count;
    if (!count)
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

static int simulate_logs(struct simulate_options *o, const struct wr_opt_words *paths)
{
    struct work w = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct wr_rival_port_options rival = {.url = NULL};
    const char *names[WR_OPT_LIST_MAX + 2];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t window = WINDOW_TOKENS, jobs = processors > 0 ? (uint64_t)processors : 1;
    struct wr_buf yaml = {0};

    if (!read_number(o->window, "--window", 1000000000, &window) ||
        !read_number(o->jobs, "--jobs", JOBS_MAX, &jobs) || !read_rival(o, &rival))
        return WR_EXIT_USAGE;
    if (o->misses && o->models.count > 1)
        return wr_cli_fail("simulate", "--misses wants one model, not %zu", o->models.count);
    if (o->policies_file && !wr_cli_read("simulate", o->policies_file, &yaml))
        return WR_EXIT_USAGE;
    if (!o->models.count)
        o->models.items[o->models.count++] = "claude-sonnet-5-5";
    w.files = (struct wr_log_files){.command = "simulate", .shows_all = o->shows_skipped};
    w.options = (struct wr_simulate_options){.model = o->models.items[0],
                                             .window_tokens = (uint32_t)window,
                                             .without_recall = o->no_recall,
                                             .places_markers = true,
                                             .with_misses = o->misses != NULL,
                                             .policies_yaml = wr_buf_view(&yaml)};
    /* A rival gets one request at a time, so that what arrives is known to be its. */
    if (rival.url || jobs > JOBS_MAX)
        jobs = rival.url ? 1 : JOBS_MAX;
    int code = WR_EXIT_USAGE;
    if (!rival.url || wr_rival_port_open(&w.port, &rival)) {
        name_lanes(&w, o, names);
        code = simulate(&w, o, paths, (uint32_t)jobs);
    }
    wr_rival_port_close(w.port);
    wr_log_files_free(&w.files);
    wr_buf_release(&yaml);
    return code;
}

/* ---- workloads ---- */

static bool read_prices(const char *path, struct wr_arena *arena, struct wr_workload_prices *prices,
                        struct wr_buf *text)
{
    struct weir_err err = {0};
    if (!wr_cli_read("simulate", path, text))
        return false;
    if (!wr_workload_prices_read(prices, arena, wr_buf_view(text), &err))
        return true;
    wr_cli_fail_at("simulate", path, wr_buf_view(text), &err, "this is no price file");
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

    if (o->policies.count || o->models.count || o->headers.count || o->window || o->policies_file ||
        o->jobs || o->html || o->csv || o->misses || o->through || o->upstream || o->through_name ||
        o->through_store || o->no_recall || o->shows_skipped)
        return wr_cli_fail("simulate", "--workload has policies and prices of its own: it takes "
                                       "--prices and --json alone");
    if (!o->prices.count || o->prices.count > WR_WORKLOAD_PRICES_MAX)
        return wr_cli_fail("simulate", "--workload wants --prices FILE, at most %d times",
                           (int)WR_WORKLOAD_PRICES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!wr_cli_read("simulate", o->workload, &texts[0]))
        goto out;
    if (wr_workload_read(&file, &arena, wr_buf_view(&texts[0]), &err)) {
        wr_cli_fail_at("simulate", o->workload, wr_buf_view(&texts[0]), &err,
                       "this is no workload");
        goto out;
    }
    for (size_t i = 0; i < o->prices.count; i++)
        if (!read_prices(o->prices.items[i], &arena, &prices[i], &texts[i + 1]))
            goto out;
    weir_status status =
        wr_workload_report(&file, prices, (uint32_t)o->prices.count, o->as_json, &out);
    if (status)
        wr_cli_fail("simulate", "%s", weir_status_text(status));
    else if (wr_cli_write("simulate", wr_buf_view(&out)))
        code = WR_EXIT_OK;
out:
    for (size_t i = 0; i <= WR_WORKLOAD_PRICES_MAX; i++)
        wr_buf_release(&texts[i]);
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return code;
}

int wr_cmd_simulate(int argc, char **argv)
{
    struct simulate_options o = {.window = NULL};
    struct wr_opt_words paths;
    const struct wr_opt options[] = {{"policy", WR_OPT_LIST, &o.policies},
                                     {"model", WR_OPT_LIST, &o.models},
                                     {"window", WR_OPT_TEXT, &o.window},
                                     {"no-recall", WR_OPT_FLAG, &o.no_recall},
                                     {"policies", WR_OPT_TEXT, &o.policies_file},
                                     {"jobs", WR_OPT_TEXT, &o.jobs},
                                     {"json", WR_OPT_FLAG, &o.as_json},
                                     {"skipped", WR_OPT_FLAG, &o.shows_skipped},
                                     {"through", WR_OPT_TEXT, &o.through},
                                     {"upstream", WR_OPT_TEXT, &o.upstream},
                                     {"name", WR_OPT_TEXT, &o.through_name},
                                     {"header", WR_OPT_LIST, &o.headers},
                                     {"store", WR_OPT_TEXT, &o.through_store},
                                     {"html", WR_OPT_TEXT, &o.html},
                                     {"csv", WR_OPT_TEXT, &o.csv},
                                     {"misses", WR_OPT_TEXT, &o.misses},
                                     {"workload", WR_OPT_TEXT, &o.workload},
                                     {"prices", WR_OPT_LIST, &o.prices}};
    bool done;

    if (!wr_opt_parse_words(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &paths,
                            &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (o.workload ? paths.count > 0 : o.prices.count > 0)
        return wr_cli_fail("simulate", "--workload and --prices go together, and without logs");
    if (o.workload)
        return simulate_workload(&o);
    if (!paths.count)
        return wr_cli_fail("simulate", "name a log or a folder of logs; `weir simulate --help` has "
                                       "an example");
    return simulate_logs(&o, &paths);
}
