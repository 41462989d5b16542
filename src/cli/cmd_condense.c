/* `weir condense`: one tool output, condensed, as a pipe. */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "weir/condense.h"

enum { TOKEN_BYTES = 4 };

struct condense_options {
    const char *tool, *command, *path, *query;
    uint64_t budget_tokens;
    bool as_json;
};

#define VALUES struct condense_options

static const struct wr_option options[] = {
    {"tool", WR_TEXT("T", tool), "the tool that gave it, which says what kind of output it is",
     .words = "Read Bash Grep Glob WebFetch"},
    {"command", WR_TEXT("C", command), "the command line that printed it"},
    {"path", WR_TEXT("P", path), "the file that was read", .words = WR_WORDS_FILE},
    {"query", WR_TEXT("Q", query), "what was sought"},
    {"budget", WR_NUMBER("N", budget_tokens, 1, WR_JSON_BODY_BYTES_MAX),
     "tokens of four bytes the result has at most, within a tenth; only signals may take more "
     "(default: a quarter of the input, and at least 500)"},
    {"json", WR_FLAG(as_json),
     "{\"kind\",\"bytes_before\",\"bytes_after\",\"lines\",\"kept\":[[first,last],...],\"text\"}"},
};

static weir_span span_or_empty(const char *text)
{
    return text ? wr_span_of(text) : (weir_span){"", 0};
}

static void write_condensed(struct wr_buf *out, const struct weir_condensed *c, weir_span text)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "kind", c->kind);
    wr_json_member_i64(&w, "bytes_before", (int64_t)text.len);
    wr_json_member_i64(&w, "bytes_after", (int64_t)c->text.len);
    wr_json_member_i64(&w, "lines", (int64_t)c->lines_total);
    wr_json_member_array(&w, "kept");
    for (size_t i = 0; i < c->lines_count; i++) {
        wr_json_write_array(&w);
        wr_json_write_i64(&w, (int64_t)c->lines[i].first);
        wr_json_write_i64(&w, (int64_t)c->lines[i].last);
        wr_json_write_array_end(&w);
    }
    wr_json_write_array_end(&w);
    wr_json_member_text(&w, "text", c->text);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}

static int condense_text(const struct condense_options *o, weir_span text)
{
    struct weir_condense_options how = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    struct wr_buf json;
    int code = WR_EXIT_USAGE;

    how.tool = span_or_empty(o->tool);
    how.command = span_or_empty(o->command);
    how.path = span_or_empty(o->path);
    how.query = span_or_empty(o->query);
    how.budget_bytes = o->budget_tokens * TOKEN_BYTES;
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    weir_status status = weir_condense(text, &how, &condensed, NULL);
    if (!status && o->as_json) {
        write_condensed(&json, &condensed, text);
        status = json.status == WEIR_INVALID ? WEIR_OK : json.status;
    }
    if (status)
        wr_cli_fail("%s", weir_status_text(status));
    else if (wr_cli_write(o->as_json ? wr_buf_view(&json) : condensed.text))
        code = WR_EXIT_OK;
    wr_buf_release(&json);
    weir_condensed_release(&condensed);
    return code;
}

static int run_condense(void *values, const struct wr_words *files)
{
    struct wr_buf text;
    int code = WR_EXIT_USAGE;

    if (wr_cli_read(files->items[0], &text))
        code = condense_text(values, wr_buf_view(&text));
    wr_buf_release(&text);
    return code;
}

const struct wr_command wr_cmd_condense = {
    .name = "condense",
    .purpose = "one tool output, condensed, as a pipe",
    .usage = "[OPTIONS] FILE|-",
    .about = "One tool output, condensed, as a pipe: the lines that matter stay as they are, a "
             "line in brackets says which were left out. Every error, exit code, failed test, "
             "place and hunk header stays.",
    WR_OPTIONS(options),
    .words_min = 1,
    .words_max = 1,
    .wants = "name one file, or - for stdin",
    .words = WR_WORDS_FILE,
    .example = "make test 2>&1 | weir condense --command 'make test' --budget 500 -",
    .run = run_condense,
};
