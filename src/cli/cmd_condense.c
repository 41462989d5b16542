#include "cli/cmd.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "weir/condense.h"

enum { TOKEN_BYTES = 4 };

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

static void write_json(struct wr_buf *out, const struct weir_condensed *c, weir_span text)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "kind");
    wr_json_write_text(&w, wr_span_of(c->kind));
    wr_json_write_key(&w, "bytes_before");
    wr_json_write_i64(&w, (int64_t)text.len);
    wr_json_write_key(&w, "bytes_after");
    wr_json_write_i64(&w, (int64_t)c->text.len);
    wr_json_write_key(&w, "lines");
    wr_json_write_i64(&w, (int64_t)c->lines_total);
    wr_json_write_key(&w, "kept");
    wr_json_write_array(&w);
    for (size_t i = 0; i < c->lines_count; i++) {
        wr_json_write_array(&w);
        wr_json_write_i64(&w, (int64_t)c->lines[i].first);
        wr_json_write_i64(&w, (int64_t)c->lines[i].last);
        wr_json_write_array_end(&w);
    }
    wr_json_write_array_end(&w);
    wr_json_write_key(&w, "text");
    wr_json_write_text(&w, c->text);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}

static int condense(const struct condense_options *o, weir_span text, uint64_t budget_tokens)
{
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    struct wr_buf json;
    int code = WR_EXIT_USAGE;

    options.tool = span_or_empty(o->tool);
    options.command = span_or_empty(o->command);
    options.path = span_or_empty(o->path);
    options.query = span_or_empty(o->query);
    options.budget_bytes = budget_tokens * TOKEN_BYTES;
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    weir_status status = weir_condense(text, &options, &condensed, NULL);
    if (!status && o->as_json) {
        write_json(&json, &condensed, text);
        status = json.status == WEIR_INVALID ? WEIR_OK : json.status;
    }
    if (status)
        wr_cli_fail("condense", "%s", weir_status_text(status));
    else if (wr_cli_write("condense", o->as_json ? wr_buf_view(&json) : condensed.text))
        code = WR_EXIT_OK;
    wr_buf_release(&json);
    weir_condensed_release(&condensed);
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
