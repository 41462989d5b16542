/* `weir project`: a request on stdin, as it would be sent on, on stdout. */
#include "cli/open.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "store/result_file.h"

struct project_options {
    const char *policy, *policies, *dialect, *model, *store, *report, *results;
    uint64_t window_tokens;
    struct wr_opt_list edits, drops;
};

#define VALUES struct project_options

static const struct wr_option options[] = {
    {"policy", WR_TEXT("P", policy),
     "what is taken out (`weir policies` lists them); without it the one the session in --store "
     "began with, else exact",
     .list = wr_list_policies},
    {"policies", WR_FILE(policies), "policies of your own, in YAML, for --policy to name"},
    {"model", WR_TEXT("M", model), "count and budget for this model, whatever the request names",
     .list = wr_list_models},
    {"window", WR_NUMBER("N", window_tokens, 1, 1000000000),
     "the context window in tokens, whatever is known of the model"},
    WR_ROW_STORE(store),
    {"report", WR_FILE(report), "what was done and why, as JSON; `weir why FILE` reads it"},
    {"results", WR_DIR(results), "evicted results also as files, DIR/large_tool_results/HANDLE"},
    {"edit", WR_LIST("I=TEXT", edits),
     "segment I says TEXT instead (the numbers are those of weir inspect)"},
    {"drop", WR_LIST("I", drops),
     "segment I is taken out; a call, its result and its model output leave together"},
    WR_ROW_DIALECT(dialect),
};

/* ---- by hand ---- */

static bool read_index(const char *text, size_t len, uint32_t *index)
{
    uint64_t number;
    if (!wr_span_u64((weir_span){text, len}, &number) || number >= WEIR_NONE)
        return false;
    *index = (uint32_t)number;
    return true;
}

static int add_edit(struct weir_request *request, const char *edit)
{
    const char *equals = strchr(edit, '=');
    struct weir_err err = {0};
    uint32_t index;

    if (!equals || !read_index(edit, (size_t)(equals - edit), &index))
        return wr_cli_fail("--edit wants I=TEXT with I a segment's number, not '%s'", edit);
    if (weir_request_edit(request, index, wr_span_of(equals + 1), &err))
        return wr_cli_fail("%s; `weir inspect` shows what can be edited", err.text);
    return WR_EXIT_OK;
}

static int add_drop(struct weir_request *request, const char *drop)
{
    struct weir_err err = {0};
    uint32_t index;

    if (!read_index(drop, strlen(drop), &index))
        return wr_cli_fail("--drop wants a segment's number, not '%s'", drop);
    if (weir_request_drop(request, index, &err))
        return wr_cli_fail("%s; `weir inspect` shows what can be dropped", err.text);
    return WR_EXIT_OK;
}

/* A change that validation takes back is an error here, where somebody asked for it: nothing is
 * written. */
static int write_by_hand(struct weir_request *request, const struct project_options *o)
{
    struct weir_write_report report;
    struct weir_err err = {0};
    weir_span body;
    int code = WR_EXIT_OK;

    for (size_t i = 0; i < o->edits.count && !code; i++)
        code = add_edit(request, o->edits.items[i]);
    for (size_t i = 0; i < o->drops.count && !code; i++)
        code = add_drop(request, o->drops.items[i]);
    if (code)
        return code;
    if (weir_request_write(request, &body, &report, &err))
        return wr_cli_fail("%s", err.text);
    if (report.first_reason && report.first_segment != WEIR_NONE)
        return wr_cli_fail("segment %u cannot be changed so: %s; nothing was written",
                           report.first_segment, report.first_reason);
    if (report.first_reason)
        return wr_cli_fail("the provider would refuse the result: %s; nothing was written",
                           report.first_reason);
    return wr_cli_write(body) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

/* ---- by policy ---- */

/* Evicted results as files that a local agent can read. */
static bool write_results(const char *dir, struct weir_store *store, weir_span report)
{
    struct weir_err err = {0};
    struct wr_arena arena;
    struct wr_json doc;
    bool ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    ok = !wr_json_parse(&doc, &arena, report, NULL, &err);
    wr_json_id edits = ok ? wr_json_find(&doc, 0, "edits") : WR_JSON_NONE;
    for (wr_json_id e = wr_json_first(&doc, edits); ok && e != WR_JSON_NONE;
         e = wr_json_next(&doc, edits, e)) {
        struct weir_lookup lookup = {.tenant = WR_LIT("local")};
        wr_json_id handle = wr_json_find(&doc, e, "handle");
        if (!wr_json_text_is(&doc, wr_json_find(&doc, e, "form"), "evicted") ||
            !wr_json_is(&doc, handle, WR_JSON_STRING) ||
            !weir_handle_parse(wr_json_inner(&doc, handle), &lookup.handle))
            continue;
        ok = !wr_result_file_recall(store, &lookup, dir, NULL, &err);
    }
    wr_arena_release(&arena);
    if (!ok)
        wr_cli_fail("--results %s: %s", dir, err.text);
    return ok;
}

static int write_by_policy(struct weir_engine *engine, struct weir_request *request,
                           struct weir_store *store, const struct project_options *o)
{
    struct weir_project_options how = {.policy = o->policy,
                                       .model = o->model,
                                       .window_tokens = (uint32_t)o->window_tokens,
                                       .store = store,
                                       .now_ms = wr_clock_ms()};
    struct weir_projected projected;
    struct weir_err err = {0};

    weir_status status = weir_engine_project(engine, request, &how, &projected, &err);
    if (status == WEIR_NOMEM || status == WEIR_LIMIT) {
        /* The request is still there to be sent as it came (law L6). */
        fprintf(stderr, "weir project: nothing was changed: %s\n", err.text);
        if (o->report && !wr_cli_write_file(o->report, WR_LIT("{\"step\":null,\"edits\":[]}\n")))
            return WR_EXIT_USAGE;
        return wr_cli_write(projected.body) ? WR_EXIT_OK : WR_EXIT_USAGE;
    }
    if (status)
        return wr_cli_fail("%s", err.text);
    if (o->report && !wr_cli_write_file(o->report, projected.report))
        return WR_EXIT_USAGE;
    if (!o->policy && !o->store && isatty(STDERR_FILENO))
        wr_cli_fail("without --policy nothing is changed; `weir policies` lists them");
    if (o->results && store && !write_results(o->results, store, projected.report))
        return WR_EXIT_USAGE;
    if (projected.held_back)
        fprintf(stderr, "weir project: a change was held back: %s\n", projected.held_back);
    return wr_cli_write(projected.body) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

/* A wrong name is a wrong call, said before a store is made for it. */
static bool load_policies(struct weir_engine *engine, const struct project_options *o)
{
    struct wr_buf yaml;
    struct weir_err err = {0};
    struct wr_policies *policies = wr_cli_policies(o->policies, &yaml);
    bool ok = policies && (!o->policy || wr_cli_policy(policies, o->policy));

    if (ok && o->policies && weir_engine_load_policies(engine, wr_buf_view(&yaml), &err)) {
        wr_cli_fail("%s: %s", o->policies, err.text);
        ok = false;
    }
    wr_policies_free(policies);
    wr_buf_release(&yaml);
    return ok;
}

static int project_by_policy(struct weir_request *request, const struct project_options *o)
{
    bool wants_store = o->policy ? strcmp(o->policy, "exact") != 0 : o->store != NULL;
    struct weir_store *store = NULL;
    struct weir_engine *engine;
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    if (weir_engine_new(&engine, &err))
        return wr_cli_fail("%s", err.text);
    if (load_policies(engine, o)) {
        /* A store that cannot be opened, which is said, costs the changes and not the request (law
         * L6). */
        if (wants_store)
            store = wr_cli_store(o->store, NULL);
        code = write_by_policy(engine, request, store, o);
    }
    weir_store_close(store);
    weir_engine_free(engine);
    return code;
}

/* A name that is wrong is said before anybody waits for stdin. */
static bool is_preset(const char *name)
{
    struct wr_buf yaml;
    struct wr_policies *presets = wr_cli_policies(NULL, &yaml);
    bool is_found = presets && wr_cli_policy(presets, name);

    wr_policies_free(presets);
    return is_found;
}

static int run_project(void *values, const struct wr_words *words)
{
    const struct project_options *o = values;
    bool is_by_hand = o->edits.count || o->drops.count;
    struct wr_buf body = {0};
    int code = WR_EXIT_USAGE;

    (void)words;
    if (is_by_hand && o->policy && strcmp(o->policy, "exact"))
        return wr_cli_fail("--edit and --drop change a request by hand; leave --policy out");
    if (o->policy && !o->policies && !is_preset(o->policy))
        return code;
    struct weir_request *request = wr_cli_request("-", o->dialect, &body);
    if (request)
        code = is_by_hand ? write_by_hand(request, o) : project_by_policy(request, o);
    weir_request_free(request);
    wr_buf_release(&body);
    return code;
}

const struct wr_command wr_cmd_project = {
    .name = "project",
    .purpose = "a request on stdin, as it would be sent on, on stdout",
    .usage = "[OPTIONS] < request",
    .about = "Reads a request on stdin and writes the one that would be sent on to stdout. "
             "Originals of what was taken out are in the store before a byte is written; `weir "
             "recall HANDLE` brings them back.",
    WR_OPTIONS(options),
    .wants = "the request comes on stdin",
    .example = "weir project --policy auto --report r.json < request.json > smaller.json && weir "
               "why r.json\n"
               "weir project --edit 5='[left out: 120 lines]' < request.json > smaller.json",
    .run = run_project,
};
