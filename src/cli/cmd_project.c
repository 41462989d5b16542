#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/span.h"
#include "base/limits.h"
#include "cli/store_dir.h"
#include "json/json.h"
#include "policy/policy_yaml.h"
#include "store/result_file.h"

static const char help[] =
    "usage: weir project [--policy P] [--policies FILE] [--dialect D] [--model M] [--window N]\n"
    "                    [--store DIR] [--report FILE] [--results DIR] [--edit I=TEXT] [--drop I]  "
    " < request\n"
    "\n"
    "Reads a request on stdin and writes the one that would be sent on to stdout. Originals of "
    "what was\n"
    "taken out are in the store before a byte is written; `weir recall HANDLE` brings them back.\n"
    "\n"
    "  --policy P      exact, auto, lean, careful, smart, guarded-mid, compress, layers, tiered;\n"
    "                  without it the one the session in --store began with, else exact\n"
    "  --policies FILE policies of your own, in YAML, for --policy to name\n"
    "  --model M       count and budget for this model, whatever the request names\n"
    "  --window N      the context window in tokens, whatever is known of the model\n"
    "  --store DIR     where originals go; without it $XDG_DATA_HOME/weir or ~/.local/share/weir\n"
    "  --report FILE   what was done and why, as JSON; `weir why FILE` reads it\n"
    "  --results DIR   evicted results also as files, DIR/large_tool_results/HANDLE\n"
    "  --edit I=TEXT   segment I says TEXT instead (the numbers are those of weir inspect)\n"
    "  --drop I        segment I is taken out; a call, its result and its model output leave "
    "together\n"
    "  --dialect D     chat, responses or messages: do not guess the API\n"
    "\n"
    "example: weir project --policy auto --report r.json < request.json > smaller.json && weir "
    "why r.json\n"
    "         weir project --edit 5='[left out: 120 lines]' < request.json > smaller.json\n";

struct project_options {
    const char *policy, *policies, *dialect, *model, *window, *store, *report, *results;
    struct wr_opt_list edits, drops;
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
        return wr_cli_fail("project", "--edit wants I=TEXT with I a segment's number, not '%s'",
                           edit);
    if (weir_request_edit(request, index, wr_span_of(equals + 1), &err))
        return wr_cli_fail("project", "%s; `weir inspect` shows what can be edited", err.text);
    return WR_EXIT_OK;
}

static int add_drop(struct weir_request *request, const char *drop)
{
    struct weir_err err = {0};
    uint32_t index;

    if (!read_index(drop, strlen(drop), &index))
        return wr_cli_fail("project", "--drop wants a segment's number, not '%s'", drop);
    if (weir_request_drop(request, index, &err))
        return wr_cli_fail("project", "%s; `weir inspect` shows what can be dropped", err.text);
    return WR_EXIT_OK;
}

/* By hand, a change that does not stand is a wrong call: nothing is written. */
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
        return wr_cli_fail("project", "%s", err.text);
    if (report.first_reason && report.first_segment != WEIR_NONE)
        return wr_cli_fail("project", "segment %u cannot be changed so: %s; nothing was written",
                           report.first_segment, report.first_reason);
    if (report.first_reason)
        return wr_cli_fail("project",
                           "the provider would refuse the result: %s; nothing was written",
                           report.first_reason);
    return wr_cli_write("project", body) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

/* ---- by policy ---- */

static bool write_report(const char *path, weir_span report)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(report.ptr, 1, report.len, file) == report.len;
    if (file && fclose(file))
        ok = false;
    if (!ok)
        wr_cli_fail("project", "%s: %s", path, strerror(errno));
    return ok;
}

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
        wr_cli_fail("project", "--results %s: %s", dir, err.text);
    return ok;
}

static int write_by_policy(struct weir_engine *engine, struct weir_request *request,
                           struct weir_store *store, const struct project_options *o,
                           uint32_t window_tokens)
{
    struct weir_project_options options = {.policy = o->policy,
                                           .model = o->model,
                                           .window_tokens = window_tokens,
                                           .store = store,
                                           .now_ms = wr_clock_ms()};
    struct weir_projected projected;
    struct weir_err err = {0};

    weir_status status = weir_engine_project(engine, request, &options, &projected, &err);
    if (status == WEIR_NOMEM || status == WEIR_LIMIT) {
        /* The request is still there to be sent as it came (law L6). */
        fprintf(stderr, "weir project: nothing was changed: %s\n", err.text);
        if (o->report && !write_report(o->report, WR_LIT("{\"step\":null,\"edits\":[]}\n")))
            return WR_EXIT_USAGE;
        return wr_cli_write("project", projected.body) ? WR_EXIT_OK : WR_EXIT_USAGE;
    }
    if (status)
        return wr_cli_fail("project", "%s", err.text);
    if (o->report && !write_report(o->report, projected.report))
        return WR_EXIT_USAGE;
    if (o->results && store && !write_results(o->results, store, projected.report))
        return WR_EXIT_USAGE;
    if (projected.held_back)
        fprintf(stderr, "weir project: a change was held back: %s\n", projected.held_back);
    return wr_cli_write("project", projected.body) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

/* A wrong name is a wrong call, said before a store is made for it. */
static bool has_policy(weir_span yaml, const char *name)
{
    struct wr_policies *policies;
    struct weir_err err = {0};

    if (wr_policies_new(&policies, yaml, &err)) {
        wr_cli_fail("project", "%s", err.text);
        return false;
    }
    bool is_there = wr_policies_find(policies, wr_span_of(name)) != NULL;
    wr_policies_free(policies);
    if (!is_there)
        wr_cli_fail("project", "no policy is called '%.60s'; `weir policies` lists them", name);
    return is_there;
}

static bool load_policies(struct weir_engine *engine, const struct project_options *o)
{
    struct wr_buf yaml = {0};
    struct weir_err err = {0};
    bool ok = true;

    if (o->policies)
        ok = wr_cli_read("project", o->policies, &yaml);
    if (ok && o->policies && weir_engine_load_policies(engine, wr_buf_view(&yaml), &err)) {
        wr_cli_fail("project", "%s: %s", o->policies, err.text);
        ok = false;
    }
    ok = ok && (!o->policy || has_policy(wr_buf_view(&yaml), o->policy));
    wr_buf_release(&yaml);
    return ok;
}

static bool read_window(const struct project_options *o, uint32_t *tokens)
{
    uint64_t number = 0;
    if (o->window &&
        (!wr_span_u64(wr_span_of(o->window), &number) || !number || number > 1000000000)) {
        wr_cli_fail("project", "--window wants a number of tokens from 1 to 1000000000, not '%s'",
                    o->window);
        return false;
    }
    *tokens = (uint32_t)number;
    return true;
}

static int project_by_policy(struct weir_request *request, const struct project_options *o)
{
    struct weir_engine *engine;
    struct weir_err err = {0};
    uint32_t window_tokens;

    if (!read_window(o, &window_tokens))
        return WR_EXIT_USAGE;
    if (weir_engine_new(&engine, &err))
        return wr_cli_fail("project", "%s", err.text);
    if (!load_policies(engine, o)) {
        weir_engine_free(engine);
        return WR_EXIT_USAGE;
    }
    /* A store that cannot be opened, which is said, costs the changes and not the request (law L6).
     */
    struct weir_store *store = NULL;
    bool wants_store = o->policy ? strcmp(o->policy, "exact") != 0 : o->store != NULL;
    if (wants_store)
        store = wr_cli_store("project", o->store, NULL);
    int code = write_by_policy(engine, request, store, o, window_tokens);
    weir_store_close(store);
    weir_engine_free(engine);
    return code;
}

static int run(const struct project_options *o)
{
    struct wr_buf body = {0};
    int code = WR_EXIT_USAGE;
    struct weir_request *request = wr_cli_request("project", "-", o->dialect, &body);

    if (request && (o->edits.count || o->drops.count))
        code = write_by_hand(request, o);
    else if (request)
        code = project_by_policy(request, o);
    weir_request_free(request);
    wr_buf_release(&body);
    return code;
}

int wr_cmd_project(int argc, char **argv)
{
    struct project_options o = {0};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {
        {"policy", WR_OPT_TEXT, &o.policy},     {"dialect", WR_OPT_TEXT, &o.dialect},
        {"model", WR_OPT_TEXT, &o.model},       {"window", WR_OPT_TEXT, &o.window},
        {"store", WR_OPT_TEXT, &o.store},       {"report", WR_OPT_TEXT, &o.report},
        {"edit", WR_OPT_LIST, &o.edits},        {"drop", WR_OPT_LIST, &o.drops},
        {"policies", WR_OPT_TEXT, &o.policies}, {"results", WR_OPT_TEXT, &o.results}};
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count)
        return wr_cli_fail("project", "the request comes on stdin; '%s' is one word too many",
                           rest.items[0]);
    if ((o.edits.count || o.drops.count) && o.policy && strcmp(o.policy, "exact"))
        return wr_cli_fail("project",
                           "--edit and --drop change a request by hand; leave --policy out");
    return run(&o);
}
