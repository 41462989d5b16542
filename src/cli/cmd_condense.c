#include "cli/cmd.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "condense/condense.h"
#include "json/write.h"
#include "policy/output.h"

enum { TOKEN_BYTES = 4 };
enum { WHOLE_TOKENS = 500 }; /* an output of so many is not condensed unless a budget says so */

static const char help[] =
    "usage: weir condense [--tool T] [--command C] [--path P] [--query Q] [--budget N] [--json] "
    "FILE|-\n"
    "\n"
    "One tool output, condensed, as a pipe: the lines that matter stay as they are, a line in "
    "brackets says\n"
    "which were left out. Every error, exit code, failed test, place and hunk header stays.\n"
    "\n"
    "  --tool T      the tool that gave it (Read, Bash, Grep, ...), which says what kind of output "
    "it is\n"
    "  --command C   the command line that printed it\n"
    "  --path P      the file that was read; --query Q what was sought\n"
    "  --budget N    tokens of four bytes the result has at most, within a tenth; only signals may "
    "take\n"
    "                more (default: a quarter of the input, and at least 500)\n"
    "  --json        "
    "{\"kind\",\"bytes_before\",\"bytes_after\",\"lines\",\"kept\":[[first,last],...],\"text\"}\n"
    "\n"
    "example: make test 2>&1 | weir condense --command 'make test' --budget 500 -\n";

struct condense_options {
    const char *tool, *command, *path, *query, *budget;
    bool as_json;
};

static weir_span span_or_empty(const char *text)
{
    return text ? wr_span_of(text) : (weir_span){"", 0};
}

/* The call as an agent would have made it, as far as the options tell. */
static weir_status find_kind(const struct condense_options *o, weir_span text,
                             struct wr_arena *arena, enum wr_output_kind *kind)
{
    struct wr_output_hint hint = {.command = span_or_empty(o->command),
                                  .path = span_or_empty(o->path)};
    struct wr_tool_handles handles;
    struct wr_json_writer w;
    struct wr_buf arguments;

    wr_buf_init(&arguments, WR_JSON_BODY_BYTES_MAX);
    wr_json_write_init(&w, &arguments);
    wr_json_write_object(&w);
    if (o->command) {
        wr_json_write_key(&w, "command");
        wr_json_write_text(&w, hint.command);
    }
    if (o->path) {
        wr_json_write_key(&w, "file_path");
        wr_json_write_text(&w, hint.path);
    }
    wr_json_write_object_end(&w);
    weir_span tool = span_or_empty(o->tool      ? o->tool
                                   : o->command ? "Bash"
                                   : o->path    ? "Read"
                                                : NULL);
    weir_status status = wr_buf_status(&arguments);
    if (!status)
        status = wr_tool_call(&handles, arena, tool, wr_buf_view(&arguments), (weir_span){"", 0});
    if (!status) {
        hint.origin = wr_output_origin_of(handles.kind);
        if (!hint.path.len)
            hint.path = handles.path;
        *kind = wr_output_kind(&hint, text);
    }
    wr_buf_release(&arguments);
    return status;
}

static void write_json(struct wr_buf *out, const struct wr_condensed *c, enum wr_output_kind kind,
                       weir_span text)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "kind");
    wr_json_write_text(&w, wr_span_of(wr_output_kind_text(kind)));
    wr_json_write_key(&w, "bytes_before");
    wr_json_write_i64(&w, (int64_t)text.len);
    wr_json_write_key(&w, "bytes_after");
    wr_json_write_i64(&w, (int64_t)c->text.len);
    wr_json_write_key(&w, "lines");
    wr_json_write_i64(&w, c->lines_total);
    wr_json_write_key(&w, "kept");
    wr_json_write_array(&w);
    for (uint32_t i = 0; i < c->kept_count; i++) {
        wr_json_write_array(&w);
        wr_json_write_i64(&w, (int64_t)c->kept[i].first + 1);
        wr_json_write_i64(&w, c->kept[i].end);
        wr_json_write_array_end(&w);
    }
    wr_json_write_array_end(&w);
    wr_json_write_key(&w, "text");
    wr_json_write_text(&w, c->text);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}

/* A short output says more than what could stand for it, so by default it stays as it is. */
static size_t budget_bytes(weir_span text, uint64_t budget_tokens)
{
    size_t whole_bytes = (size_t)WHOLE_TOKENS * TOKEN_BYTES, quarter_bytes = text.len / 4;

    if (budget_tokens)
        return budget_tokens * TOKEN_BYTES;
    return quarter_bytes > whole_bytes ? quarter_bytes : whole_bytes;
}

static int condense(const struct condense_options *o, weir_span text, uint64_t budget_tokens)
{
    struct wr_condense_input input = {.text = text,
                                      .command = span_or_empty(o->command),
                                      .path = span_or_empty(o->path),
                                      .query = span_or_empty(o->query),
                                      .bytes_budget = budget_bytes(text, budget_tokens)};
    struct wr_condensed condensed;
    struct wr_arena arena;
    struct wr_buf json;
    int code = WR_EXIT_USAGE;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    weir_status status = find_kind(o, text, &arena, &input.kind);
    if (!status)
        status = wr_condense_within(&condensed, &arena, &input);
    if (!status && o->as_json) {
        write_json(&json, &condensed, input.kind, text);
        status = json.status == WEIR_INVALID ? WEIR_OK : json.status;
    }
    if (status)
        wr_cli_fail("condense", "%s", weir_status_text(status));
    else if (wr_cli_write("condense", o->as_json ? wr_buf_view(&json) : condensed.text))
        code = WR_EXIT_OK;
    wr_buf_release(&json);
    wr_arena_release(&arena);
    return code;
}

int wr_cmd_condense(int argc, char **argv)
{
    struct condense_options o = {0};
    struct wr_opt_list files = {.count = 0};
    const struct wr_opt options[] = {
        {"tool", WR_OPT_TEXT, &o.tool},     {"command", WR_OPT_TEXT, &o.command},
        {"path", WR_OPT_TEXT, &o.path},     {"query", WR_OPT_TEXT, &o.query},
        {"budget", WR_OPT_TEXT, &o.budget}, {"json", WR_OPT_FLAG, &o.as_json}};
    struct wr_buf text;
    uint64_t budget_tokens = 0;
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &files,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (files.count != 1)
        return wr_cli_fail("condense",
                           "name one file, or - for stdin; `weir condense --help` has an example");
    if (o.budget && (!wr_span_u64(wr_span_of(o.budget), &budget_tokens) || !budget_tokens ||
                     budget_tokens > WR_JSON_BODY_BYTES_MAX))
        return wr_cli_fail("condense", "--budget wants a number of tokens from 1, not '%s'",
                           o.budget);
    int code = WR_EXIT_USAGE;
    if (wr_cli_read("condense", files.items[0], &text))
        code = condense(&o, wr_buf_view(&text), budget_tokens);
    wr_buf_release(&text);
    return code;
}
