/* `weir replay`: recorded sessions through the real engine, or with --strict cases.
 *
 * A recorded session is run under every policy that was named and compared with what was recorded
 * (lane 0). A case says itself what must come out; cases are run and judged one by one, and the
 * exit status says whether all held.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/log_files.h"
#include "cli/open.h"
#include "lab/import_walk.h"
#include "lab/simulate.h"
#include "lab/strict.h"

enum { WINDOW_TOKENS = 200000 };

struct replay_options {
    struct wr_opt_list policies;
    const char *model;
    uint64_t window_tokens; /* 0: not told */
    bool is_strict, as_json, shows_skipped;
};

#define VALUES struct replay_options

static const struct wr_option options[] = {
    {"policy", WR_LIST("P", policies),
     "the policy (default auto; with --strict smart); again for more", .list = wr_list_policies},
    {"model", WR_TEXT("M", model), "count and price as this model (default: the one the log names)",
     .list = wr_list_models},
    {"window", WR_NUMBER("N", window_tokens, 1, WR_MODEL_TOKENS_MAX),
     "the context window in tokens (default 200000; a case has its own)"},
    {"strict", WR_FLAG(is_strict), "the report on cases"},
    {"json", WR_FLAG(as_json), "everything, for programs"},
    {"skipped", WR_FLAG(shows_skipped),
     "name every file that is no log or was read in part, not only the first few"},
};

/* ---- recorded sessions ---- */

/* One session under all policies, as a table's rows or as JSON. Lane 0 is what was recorded. */
struct printer {
    const struct replay_options *options;
    struct wr_log_files *files;
    struct wr_json_writer *json; /* NULL: a table */
    struct wr_buf *out;
    struct wr_arena arena; /* the table's */
    struct wr_table table;
    uint32_t sessions_count;
};

static void write_lane(struct wr_json_writer *w, const char *policy, uint64_t tokens_before,
                       const struct wr_lane_result *r)
{
    const uint64_t *e = r->evidence.all;
    wr_json_write_object(w);
    wr_json_member_word(w, "policy", policy);
    wr_json_member_i64(w, "requests", (int64_t)r->requests);
    wr_json_member_i64(w, "tokens_before", (int64_t)tokens_before);
    wr_json_member_i64(w, "tokens_after", (int64_t)r->prompt_tokens);
    wr_json_member_i64(w, "steps", (int64_t)r->steps);
    wr_json_member_i64(w, "recalls", (int64_t)r->recalls);
    wr_json_member_i64(w, "supported", (int64_t)e[WR_EVIDENCE_SUPPORTED]);
    wr_json_member_i64(w, "recallable", (int64_t)e[WR_EVIDENCE_RECALLABLE]);
    wr_json_member_i64(w, "lost", (int64_t)e[WR_EVIDENCE_LOST]);
    wr_json_member_i64(w, "over_window", (int64_t)r->over_window);
    wr_json_member_i64(w, "prefix_violations", (int64_t)r->prefix_violations);
    wr_json_member_i64(w, "validation_failures", (int64_t)r->validation_failures);
    wr_json_write_object_end(w);
}

static void print_json(struct printer *p, const char *path, const struct wr_session *session,
                       const struct wr_simulated *s)
{
    struct wr_json_writer *w = p->json;
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "path", path);
    wr_json_member_text(w, "agent", session->agent);
    wr_json_member_i64(w, "requests", (int64_t)session->requests_count);
    wr_json_member_array(w, "policies");
    for (size_t i = 0; i < p->options->policies.count; i++)
        write_lane(w, p->options->policies.items[i], s->lanes[0].prompt_tokens, &s->lanes[i + 1]);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static const struct wr_table_column columns[] = {
    {"session", .cut_min = 12},
    {"requests", .is_right = true, .rank = 2},
    {"tokens before", .is_right = true},
    {"tokens after", .is_right = true},
    {"steps", .is_right = true, .rank = 1},
    {"supported", .is_right = true, .rank = 4},
    {"recallable", .is_right = true, .rank = 3},
    {"lost", .is_right = true},
};

static void print_rows(struct printer *p, const char *path, const struct wr_simulated *s)
{
    weir_span end = wr_cli_end_of_path(wr_span_of(path), wr_cli_columns_told());

    wr_table_heading(&p->table, end);
    for (size_t i = 0; i < p->options->policies.count; i++) {
        const struct wr_lane_result *r = &s->lanes[i + 1];
        const uint64_t *e = r->evidence.all;
        const uint64_t numbers[] = {
            r->requests,        s->lanes[0].prompt_tokens, r->prompt_tokens,
            r->steps,           e[WR_EVIDENCE_SUPPORTED],  e[WR_EVIDENCE_RECALLABLE],
            e[WR_EVIDENCE_LOST]};
        wr_table_cell(&p->table, wr_span_of(p->options->policies.items[i]));
        for (size_t k = 0; k < WR_COUNT_OF(numbers); k++)
            wr_table_format(&p->table, "%llu", (unsigned long long)numbers[k]);
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
        wr_json_member_array(p->json, "sessions");
    }
    for (size_t i = 0; i < p->files->count && !status; i++)
        status = replay_file(p, simulator, p->files->items[i]);
    wr_log_files_end(p->files);
    if (p->json && !status) {
        wr_json_write_array_end(p->json);
        wr_import_troubles_json(&p->files->troubles, p->json);
        wr_json_write_object_end(p->json);
        wr_buf_byte(p->out, '\n');
    } else if (!status) {
        wr_table_print(&p->table, wr_cli_columns_told(), p->out);
    }
    return status;
}

static int replay_logs(struct replay_options *o, struct wr_log_files *files)
{
    const char *policies[WR_OPT_LIST_MAX + 1] = {"exact"};
    struct wr_simulate_options how = {
        .policies = policies,
        .policies_count = (uint32_t)o->policies.count + 1,
        .model = o->model,
        .window_tokens = (uint32_t)(o->window_tokens ? o->window_tokens : WINDOW_TOKENS),
        .places_markers = true};
    struct wr_simulator *simulator;
    struct weir_err err = {0};
    struct wr_json_writer json;
    struct wr_buf out;

    memcpy(&policies[1], o->policies.items, o->policies.count * sizeof(policies[0]));
    if (wr_simulator_new(&simulator, &how, &err))
        return wr_cli_fail("%s", err.text);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&json, &out);
    struct printer p = {
        .options = o, .files = files, .json = o->as_json ? &json : NULL, .out = &out};
    wr_arena_init(&p.arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&p.table, columns, WR_COUNT_OF(columns), &p.arena);
    weir_status status = replay_files(&p, simulator);
    wr_arena_release(&p.arena);
    wr_simulator_free(simulator);
    if (!status && p.sessions_count)
        return wr_cli_end(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    if (status)
        return wr_cli_fail("%s", weir_status_text(status));
    return wr_cli_fail("no session was found in %zu files", files->count);
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
    if (!wr_cli_read(path, &file->text))
        return WR_EXIT_USAGE;
    if (wr_cases_read(&file->cases, &file->arena, wr_buf_view(&file->text), &err))
        return wr_cli_fail_at(path, wr_buf_view(&file->text), &err,
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
        return wr_cli_fail("%s", err.text);
    for (size_t i = 0; i < paths->count && code == WR_EXIT_OK; i++)
        if (wr_strict_report_add(report, runner, &files[i].cases, &err))
            code = err.text[0] ? wr_cli_fail("%s: %s", paths->items[i], err.text)
                               : wr_cli_fail("%s: it cannot be run", paths->items[i]);
    wr_strict_runner_free(runner);
    if (code == WR_EXIT_OK && wr_strict_report_finish(report))
        return wr_cli_fail("no memory");
    return code;
}

static int judge_cases(const struct replay_options *o, const struct wr_log_files *paths,
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
        return wr_cli_end(&out, is_passed ? WR_EXIT_OK : WR_EXIT_CHECK);
    wr_buf_release(&out);
    return code;
}

static int replay_strictly(const struct replay_options *o, const struct wr_log_files *paths)
{
    struct case_file *files = calloc(paths->count, sizeof(*files));
    int code = files ? WR_EXIT_OK : wr_cli_fail("no memory");

    for (size_t i = 0; i < paths->count && code == WR_EXIT_OK; i++)
        code = read_cases(paths->items[i], &files[i]);
    if (code == WR_EXIT_OK)
        code = judge_cases(o, paths, files);
    for (size_t i = 0; files && i < paths->count; i++) {
        wr_arena_release(&files[i].arena);
        wr_buf_release(&files[i].text);
    }
    free(files);
    return code;
}

/* ---- the command ---- */

static int run_replay(void *values, const struct wr_words *paths)
{
    struct replay_options *o = values;
    struct wr_log_files files = {.shows_all = o->shows_skipped};
    int code = WR_EXIT_USAGE;

    if (o->is_strict && (o->model || o->window_tokens))
        return wr_cli_fail("--model and --window are not for --strict: a case has its own");
    if (!o->policies.count)
        o->policies.items[o->policies.count++] = o->is_strict ? "smart" : "auto";
    if (wr_log_files_list(&files, paths))
        code = o->is_strict ? replay_strictly(o, &files) : replay_logs(o, &files);
    wr_log_files_free(&files);
    return code;
}

const struct wr_command wr_cmd_replay = {
    .name = "replay",
    .purpose = "recorded sessions through the engine; with --strict, cases",
    .usage = "[OPTIONS] PATH...\n--strict [--policy P]... [--json] PATH...",
    .about = "Runs recorded sessions (agents' logs; files or folders) through the real engine and "
             "says of each what was sent instead, and whether every answer still had what it "
             "used.\n\n"
             "With --strict the paths are cases: requests, and what must be true of what is sent "
             "for them. Each is executed as it came, with duplicates taken out, and under the "
             "policy; the report is computed from that. docs/replay.md has the format of cases and "
             "every line of the report.",
    WR_OPTIONS(options),
    .words_min = 1,
    .words_max = SIZE_MAX,
    .wants = "name a log, a file of cases or a folder of them",
    .words = WR_WORDS_FILE,
    .exits = "Exit 1: a case missed a threshold.",
    .example = "weir replay ~/.claude/projects --policy auto",
    .run = run_replay,
};
