#include "cli/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/log_files.h"
#include "json/write.h"
#include "replay/import_walk.h"
#include "replay/simulate.h"
#include "replay/strict.h"

static const char help[] =
    "usage: weir replay PATH... [--policy P]... [--model M] [--window N] [--json]\n"
    "       weir replay PATH... --strict [--policy P]... [--json]\n"
    "\n"
    "Runs recorded sessions (agents' logs; files or folders) through the real engine and says of "
    "each what\n"
    "was sent instead, and whether every answer still had what it used.\n"
    "\n"
    "With --strict the paths are cases: requests, and what must be true of what is sent for them. "
    "Each is\n"
    "executed as it came, with duplicates taken out, and under the policy; the report is computed "
    "from that.\n"
    "Exit 1: a threshold was missed. docs/replay.md has the format of cases and every line of the "
    "report.\n"
    "\n"
    "  --policy P   the policy (default auto; with --strict smart); again for more\n"
    "  --model M    count and price as this model (default: the one the log names)\n"
    "  --window N   the context window in tokens (default 200000; a case has its own)\n"
    "  --strict     the report on cases\n"
    "  --json       everything, for programs\n"
    "  --skipped    name every file that is no log or was read in part, not only the first few\n"
    "\n"
    "example: weir replay ~/.claude/projects --policy auto\n";

enum { WINDOW_TOKENS = 200000 };

struct replay_options {
    struct wr_opt_list policies;
    struct wr_opt_words paths;
    const char *model, *window;
    bool is_strict, as_json, shows_skipped;
    uint64_t window_tokens;
};

static int finish(struct wr_buf *out, int code)
{
    bool is_written = !out->status && wr_cli_write("replay", wr_buf_view(out));
    wr_buf_release(out);
    return is_written ? code : WR_EXIT_USAGE;
}

/* ---- recorded sessions ---- */

/* One session under all policies, as a table's rows or as JSON. Lane 0 is what was recorded. */
struct printer {
    const struct replay_options *options;
    struct wr_log_files *files;
    struct wr_json_writer *json; /* NULL: a table */
    struct wr_buf *out;
    uint32_t sessions_count;
};

static void write_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void write_lane(struct wr_json_writer *w, const char *policy, uint64_t tokens_before,
                       const struct wr_lane_result *r)
{
    const uint64_t *e = r->evidence.all;
    wr_json_write_object(w);
    wr_json_write_key(w, "policy");
    wr_json_write_text(w, wr_span_of(policy));
    write_number(w, "requests", r->requests);
    write_number(w, "tokens_before", tokens_before);
    write_number(w, "tokens_after", r->prompt_tokens);
    write_number(w, "steps", r->steps);
    write_number(w, "recalls", r->recalls);
    write_number(w, "supported", e[WR_EVIDENCE_SUPPORTED]);
    write_number(w, "recallable", e[WR_EVIDENCE_RECALLABLE]);
    write_number(w, "lost", e[WR_EVIDENCE_LOST]);
    write_number(w, "over_window", r->over_window);
    write_number(w, "prefix_violations", r->prefix_violations);
    write_number(w, "validation_failures", r->validation_failures);
    wr_json_write_object_end(w);
}

static void print_json(struct printer *p, const char *path, const struct wr_session *session,
                       const struct wr_simulated *s)
{
    struct wr_json_writer *w = p->json;
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_write_key(w, "path");
    wr_json_write_text(w, wr_span_of(path));
    wr_json_write_key(w, "agent");
    wr_json_write_text(w, session->agent);
    write_number(w, "requests", session->requests_count);
    wr_json_write_key(w, "policies");
    wr_json_write_array(w);
    for (size_t i = 0; i < p->options->policies.count; i++)
        write_lane(w, p->options->policies.items[i], s->lanes[0].prompt_tokens, &s->lanes[i + 1]);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static void print_rows(struct printer *p, const char *path, const struct wr_simulated *s)
{
    wr_buf_printf(p->out, "%s\n", path);
    for (size_t i = 0; i < p->options->policies.count; i++) {
        const struct wr_lane_result *r = &s->lanes[i + 1];
        const uint64_t *e = r->evidence.all;
        wr_buf_printf(
            p->out, "  %-14s %8llu %14llu %14llu %6llu %10llu %10llu %6llu\n",
            p->options->policies.items[i], (unsigned long long)r->requests,
            (unsigned long long)s->lanes[0].prompt_tokens, (unsigned long long)r->prompt_tokens,
            (unsigned long long)r->steps, (unsigned long long)e[WR_EVIDENCE_SUPPORTED],
            (unsigned long long)e[WR_EVIDENCE_RECALLABLE], (unsigned long long)e[WR_EVIDENCE_LOST]);
    }
}

static weir_status replay_session(struct printer *p, struct wr_simulator *simulator,
                                  const struct wr_session *session, const char *path)
{
    struct wr_simulated *s = malloc(sizeof(*s));
    if (!s)
        return WEIR_NOMEM;
    weir_status status = wr_simulate_session(simulator, session, s);
    if (status && status != WEIR_NOMEM) {
        wr_log_files_left_out(p->files, path, weir_status_text(status), NULL);
        status = WEIR_OK;
    } else if (!status) {
        p->sessions_count++;
        if (p->json)
            print_json(p, path, session, s);
        else
            print_rows(p, path, s);
    }
    free(s);
    return status;
}

static weir_status replay_file(struct printer *p, struct wr_simulator *simulator, const char *path)
{
    struct wr_import import;
    struct weir_err err = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_import_file_read(&import, &arena, path, &err);
    if (status && status != WEIR_NOMEM) {
        wr_log_files_left_out(p->files, path, err.text[0] ? err.text : weir_status_text(status),
                              &import);
        status = WEIR_OK;
    } else if (!status) {
        wr_log_files_were_read(p->files, path, &import);
        for (uint32_t i = 0; i < import.sessions_count && !status; i++)
            status = replay_session(p, simulator, &import.sessions[i], path);
    }
    wr_arena_release(&arena);
    return status;
}

static weir_status replay_files(struct printer *p, struct wr_simulator *simulator)
{
    weir_status status = WEIR_OK;
    if (p->json) {
        wr_json_write_object(p->json);
        wr_json_write_key(p->json, "sessions");
        wr_json_write_array(p->json);
    } else {
        wr_buf_printf(p->out, "%-16s %8s %14s %14s %6s %10s %10s %6s\n", "session", "requests",
                      "tokens before", "tokens after", "steps", "supported", "recallable", "lost");
    }
    for (size_t i = 0; i < p->files->count && !status; i++)
        status = replay_file(p, simulator, p->files->items[i]);
    wr_log_files_end(p->files);
    if (p->json && !status) {
        wr_json_write_array_end(p->json);
        wr_import_troubles_json(&p->files->troubles, p->json);
        wr_json_write_object_end(p->json);
        wr_buf_byte(p->out, '\n');
    }
    return status;
}

static int replay(struct replay_options *o, struct wr_log_files *files)
{
    const char *policies[WR_OPT_LIST_MAX + 1] = {"exact"};
    struct wr_simulate_options options = {.policies = policies,
                                          .policies_count = (uint32_t)o->policies.count + 1,
                                          .model = o->model,
                                          .window_tokens = (uint32_t)o->window_tokens,
                                          .places_markers = true};
    struct wr_simulator *simulator;
    struct weir_err err = {0};
    struct wr_json_writer json;
    struct wr_buf out;

    memcpy(&policies[1], o->policies.items, o->policies.count * sizeof(policies[0]));
    if (wr_simulator_new(&simulator, &options, &err))
        return wr_cli_fail("replay", "%s", err.text);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&json, &out);
    struct printer p = {
        .options = o, .files = files, .json = o->as_json ? &json : NULL, .out = &out};
    weir_status status = replay_files(&p, simulator);
    wr_simulator_free(simulator);
    if (!status && p.sessions_count)
        return finish(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    if (status)
        return wr_cli_fail("replay", "%s", weir_status_text(status));
    return wr_cli_fail("replay", "no session was found in %zu files", files->count);
}

/* ---- cases ---- */

struct case_file {
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_cases cases;
};

static int read_cases(const char *path, struct case_file *file)
{
    struct weir_err err = {0};
    wr_arena_init(&file->arena, WR_ARENA_BYTES_MAX);
    if (!wr_cli_read("replay", path, &file->text))
        return WR_EXIT_USAGE;
    if (wr_cases_read(&file->cases, &file->arena, wr_buf_view(&file->text), &err))
        return wr_cli_fail_at("replay", path, wr_buf_view(&file->text), &err,
                              "docs/replay.md has the format of cases");
    return WR_EXIT_OK;
}

static int run_cases(const char *policy, const struct wr_log_files *paths,
                     const struct case_file *files, struct wr_strict_report *report)
{
    struct wr_strict_runner *runner;
    struct weir_err err = {0};
    int code = WR_EXIT_OK;

    if (wr_strict_runner_new(&runner, policy, &err))
        return wr_cli_fail("replay", "%s", err.text);
    for (size_t i = 0; i < paths->count && code == WR_EXIT_OK; i++)
        if (wr_strict_report_add(report, runner, &files[i].cases, &err))
            code = err.text[0] ? wr_cli_fail("replay", "%s: %s", paths->items[i], err.text)
                               : wr_cli_fail("replay", "%s: it cannot be run", paths->items[i]);
    wr_strict_runner_free(runner);
    if (code == WR_EXIT_OK && wr_strict_report_finish(report))
        return wr_cli_fail("replay", "no memory");
    return code;
}

static int judge(const struct replay_options *o, const struct wr_log_files *paths,
                 const struct case_file *files)
{
    struct wr_buf out;
    int code = WR_EXIT_OK;
    bool is_passed = true, as_list = o->as_json && o->policies.count > 1;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (as_list)
        wr_buf_byte(&out, '[');
    for (size_t i = 0; i < o->policies.count && code == WR_EXIT_OK; i++) {
        struct wr_strict_report report;
        wr_strict_report_init(&report, o->policies.items[i]);
        code = run_cases(o->policies.items[i], paths, files, &report);
        if (i)
            wr_buf_text(&out, as_list ? ",\n" : "\n");
        if (code == WR_EXIT_OK && o->as_json)
            wr_strict_report_json(&report, &out);
        else if (code == WR_EXIT_OK)
            wr_strict_report_text(&report, &out);
        is_passed &= report.is_passed;
        wr_strict_report_release(&report);
    }
    if (o->as_json)
        wr_buf_text(&out, as_list ? "]\n" : "\n");
    if (code == WR_EXIT_OK)
        return finish(&out, is_passed ? WR_EXIT_OK : WR_EXIT_CHECK);
    wr_buf_release(&out);
    return code;
}

static int replay_strictly(const struct replay_options *o, const struct wr_log_files *paths)
{
    struct case_file *files = calloc(paths->count, sizeof(*files));
    int code = files ? WR_EXIT_OK : wr_cli_fail("replay", "no memory");

    for (size_t i = 0; i < paths->count && code == WR_EXIT_OK; i++)
        code = read_cases(paths->items[i], &files[i]);
    if (code == WR_EXIT_OK)
        code = judge(o, paths, files);
    for (size_t i = 0; files && i < paths->count; i++) {
        wr_arena_release(&files[i].arena);
        wr_buf_release(&files[i].text);
    }
    free(files);
    return code;
}

/* ---- the command ---- */

static int check_options(struct replay_options *o)
{
    if (!o->paths.count)
        return wr_cli_fail("replay",
                           "name a log, a file of cases or a folder of them; `weir replay "
                           "--help` has an example");
    if (o->is_strict && (o->model || o->window))
        return wr_cli_fail("replay", "--model and --window are not for --strict: a case has its "
                                     "own");
    if (o->window && (!wr_span_u64(wr_span_of(o->window), &o->window_tokens) || !o->window_tokens ||
                      o->window_tokens > WR_MODEL_TOKENS_MAX))
        return wr_cli_fail("replay", "--window wants a number from 1 to %d, not '%s'",
                           (int)WR_MODEL_TOKENS_MAX, o->window);
    if (!o->policies.count)
        o->policies.items[o->policies.count++] = o->is_strict ? "smart" : "auto";
    return WR_EXIT_OK;
}

int wr_cmd_replay(int argc, char **argv)
{
    struct replay_options o = {.window_tokens = WINDOW_TOKENS};
    const struct wr_opt options[] = {
        {"policy", WR_OPT_LIST, &o.policies}, {"model", WR_OPT_TEXT, &o.model},
        {"window", WR_OPT_TEXT, &o.window},   {"strict", WR_OPT_FLAG, &o.is_strict},
        {"json", WR_OPT_FLAG, &o.as_json},    {"skipped", WR_OPT_FLAG, &o.shows_skipped}};
    struct wr_log_files files = {.command = "replay"};
    bool done;

    if (!wr_opt_parse_words(argc, argv, options, sizeof(options) / sizeof(options[0]), help,
                            &o.paths, &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    int code = check_options(&o);
    files.shows_all = o.shows_skipped;
    if (code == WR_EXIT_OK && !wr_log_files_list(&files, &o.paths))
        code = WR_EXIT_USAGE;
    if (code == WR_EXIT_OK)
        code = o.is_strict ? replay_strictly(&o, &files) : replay(&o, &files);
    wr_log_files_free(&files);
    return code;
}
