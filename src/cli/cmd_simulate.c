#include "cli/cmd.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "models/lookup.h"
#include "models/registry.h"
#include "replay/import_walk.h"
#include "replay/simulate_csv.h"
#include "replay/simulate_html.h"
#include "replay/workload.h"

static const char help[] =
    "usage: weir simulate PATH... [--policy P]... [--model M]... [--window N] [--no-recall]\n"
    "                    [--policies FILE] [--jobs N] [--json] [--html FILE] [--csv FILE]\n"
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
    "  --workload FILE instead of logs: made-up loops in token counts, as DuckAgent's simulator\n"
    "                  reads them, under its policies\n"
    "  --prices FILE   of a workload: its prices, cache and limits; again for more\n"
    "\n"
    "example: weir simulate ~/.claude/projects ~/.codex --policy auto --policy tiered\n";

enum { JOBS_MAX = 64, WINDOW_TOKENS = 200000 };

struct simulate_options {
    struct wr_opt_list policies, models, prices;
    const char *window, *policies_file, *jobs, *html, *csv, *workload;
    bool no_recall, as_json;
};

struct file_list {
    char **paths;
    size_t count, cap;
};

/* What the workers share. */
struct work {
    struct wr_simulate_options options;
    struct file_list files;
    atomic_size_t next;
    pthread_mutex_t lock; /* of what is below */
    struct wr_simulate_report *report;
    bool shows_progress;
    size_t done;
    weir_status status;
};

/* ---- what there is to read ---- */

static weir_status add_file(void *user, const struct wr_import_file *file)
{
    struct file_list *files = user;
    if (file->state != WR_IMPORT_FILE_FOUND) {
        fprintf(stderr, "weir simulate: %s: %s\n", file->path,
                wr_import_file_state_text(file->state));
        return WEIR_OK;
    }
    if (files->count == files->cap) {
        size_t cap = files->cap ? files->cap * 2 : 64;
        char **grown = realloc(files->paths, cap * sizeof(*grown));
        if (!grown)
            return WEIR_NOMEM;
        files->paths = grown;
        files->cap = cap;
    }
    char *path = strdup(file->path);
    if (!path)
        return WEIR_NOMEM;
    files->paths[files->count++] = path;
    return WEIR_OK;
}

static void free_files(struct file_list *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
}

/* ---- the workers ---- */

static void show_progress(struct work *w)
{
    if (w->shows_progress)
        fprintf(stderr, "\r%zu of %zu files, %u sessions", w->done, w->files.count,
                w->report->sessions_count);
}

static weir_status run_session(struct work *w, struct wr_simulator *simulator,
                               const struct wr_session *session, const char *path)
{
    struct wr_simulated *out = malloc(sizeof(*out));
    if (!out)
        return WEIR_NOMEM;
    weir_status status = wr_simulate_session(simulator, session, out);
    pthread_mutex_lock(&w->lock);
    if (status && status != WEIR_NOMEM) {
        fprintf(stderr, "%sweir simulate: %s: skipped: %s\n", w->shows_progress ? "\n" : "", path,
                weir_status_text(status));
        status = WEIR_OK;
    } else if (!status) {
        status = wr_simulate_report_add(w->report, session, path, out);
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
    if (status && status != WEIR_NOMEM) {
        fprintf(stderr, "%sweir simulate: %s: skipped: %s\n", w->shows_progress ? "\n" : "", path,
                err.text[0] ? err.text : weir_status_text(status));
        status = WEIR_OK;
    } else {
        for (uint32_t i = 0; i < import.sessions_count && !status; i++)
            status = run_session(w, simulator, &import.sessions[i], path);
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
        status = run_file(w, simulator, w->files.paths[i]);
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
    if (w->shows_progress)
        fputc('\n', stderr);
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

static int list_files(struct work *w, const struct wr_opt_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct weir_err err = {0};
        weir_status status = wr_import_list(paths->items[i], add_file, &w->files, &err);
        if (status == WEIR_NOTFOUND)
            return wr_cli_fail("simulate", "%s: there is nothing there", paths->items[i]);
        if (status)
            return wr_cli_fail("simulate", "%s: %s", paths->items[i], weir_status_text(status));
    }
    return w->files.count ? WR_EXIT_OK : wr_cli_fail("simulate", "no files to read");
}

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
    if (status)
        return wr_cli_fail("simulate", "%s", weir_status_text(status));
    if (!w->report->sessions_count)
        return wr_cli_fail("simulate", "no session was found in %zu files", w->files.count);
    return WR_EXIT_OK;
}

static int simulate(struct work *w, const struct simulate_options *o,
                    const struct wr_opt_list *paths, uint32_t jobs)
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
    if (!code)
        code = list_files(w, paths);
    if (!code && (!can_write(o->html) || !can_write(o->csv)))
        code = WR_EXIT_USAGE;
    for (size_t i = 0; i < o->models.count && !code; i++)
        code = run_model(w, o->models.items[i], jobs, &set);
    if (!code)
        code = print(&set, o);
    for (uint32_t i = 0; i < set.count; i++)
        wr_simulate_report_free(set.reports[i]);
    return code;
}

static int simulate_logs(struct simulate_options *o, const struct wr_opt_list *paths)
{
    struct work w = {.lock = PTHREAD_MUTEX_INITIALIZER};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t window = WINDOW_TOKENS, jobs = processors > 0 ? (uint64_t)processors : 1;
    struct wr_buf yaml = {0};

    if (!read_number(o->window, "--window", 1000000000, &window) ||
        !read_number(o->jobs, "--jobs", JOBS_MAX, &jobs))
        return WR_EXIT_USAGE;
    if (o->policies_file && !wr_cli_read("simulate", o->policies_file, &yaml))
        return WR_EXIT_USAGE;
    if (!o->models.count)
        o->models.items[o->models.count++] = "claude-sonnet-5-5";
    w.options = (struct wr_simulate_options){.policies = o->policies.items,
                                             .policies_count = (uint32_t)o->policies.count,
                                             .model = o->models.items[0],
                                             .window_tokens = (uint32_t)window,
                                             .without_recall = o->no_recall,
                                             .places_markers = true,
                                             .policies_yaml = wr_buf_view(&yaml)};
    if (!o->policies.count)
        w.options.policies = wr_simulate_all(&w.options.policies_count);
    int code = simulate(&w, o, paths, jobs > JOBS_MAX ? JOBS_MAX : (uint32_t)jobs);
    free_files(&w.files);
    wr_buf_release(&yaml);
    return code;
}

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
    struct wr_opt_list paths = {.count = 0};
    const struct wr_opt options[] = {{"policy", WR_OPT_LIST, &o.policies},
                                     {"model", WR_OPT_LIST, &o.models},
                                     {"window", WR_OPT_TEXT, &o.window},
                                     {"no-recall", WR_OPT_FLAG, &o.no_recall},
                                     {"policies", WR_OPT_TEXT, &o.policies_file},
                                     {"jobs", WR_OPT_TEXT, &o.jobs},
                                     {"json", WR_OPT_FLAG, &o.as_json},
                                     {"html", WR_OPT_TEXT, &o.html},
                                     {"csv", WR_OPT_TEXT, &o.csv},
                                     {"workload", WR_OPT_TEXT, &o.workload},
                                     {"prices", WR_OPT_LIST, &o.prices}};
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &paths,
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
