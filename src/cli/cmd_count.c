#include "cli/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/measure.h"
#include "tokens/bpe_load.h"
#include "tokens/bpe_stream.h"

static const char help[] =
    "usage: weir count [--model M | --encoding E [--pattern P]] [FILE...]\n"
    "\n"
    "Prints the tokens of each file (of stdin without one, or for -), the number first on the "
    "line.\n"
    "\n"
    "  --model M      count as this model does (see weir models); where its tokenizer is not "
    "public the\n"
    "                 number is an estimate, and the line says so\n"
    "  --encoding E   o200k_base (the default), cl100k_base, fitted, bytes/4, runs; or a file of "
    "your own:\n"
    "                 a tokenizer.json, or a .tiktoken rank file\n"
    "  --pattern P    how a rank file's text is cut: cl100k (the default), o200k, qwen2, gpt2, "
    "none\n"
    "\n"
    "example: weir count --model gpt-5 README.md src/base/buf.c\n"
    "         git diff | weir count\n";

enum { CHUNK_BYTES = 256 * 1024 };

static uint64_t estimate_chunk(struct wr_meter *meter, weir_span chunk)
{
    return wr_meter_count(meter, chunk);
}

/* Reads a file chunk by chunk: any size goes, the count is that of the whole. */
static bool count_stream(struct wr_meter *meter, FILE *file, const char *name, uint64_t *tokens)
{
    static char chunk[CHUNK_BYTES];
    struct wr_bpe_scratch *scratch = wr_meter_scratch(meter);
    struct wr_bpe_stream stream;
    weir_status status = WEIR_OK;
    size_t got, total = 0;

    *tokens = 0;
    if (scratch)
        wr_bpe_stream_init(&stream, scratch);
    while (!status && (got = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        if (scratch)
            status = wr_bpe_stream_feed(&stream, (weir_span){chunk, got});
        else
            *tokens += estimate_chunk(meter, (weir_span){chunk, got});
    }
    if (!status && scratch) {
        status = wr_bpe_stream_count(&stream, &total);
        *tokens = total;
    }
    if (scratch)
        wr_bpe_stream_release(&stream);
    if (status)
        wr_cli_fail("count", "%s: %s", name, weir_status_text(status));
    else if (ferror(file))
        wr_cli_fail("count", "%s: %s", name, strerror(errno));
    return !status && !ferror(file);
}

static bool count_file(struct wr_meter *meter, const char *path, uint64_t *tokens)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file) {
        wr_cli_fail("count", "%s: %s; name files that can be read, or - for stdin", path,
                    strerror(errno));
        return false;
    }
    bool ok = count_stream(meter, file, is_stdin ? "stdin" : path, tokens);
    if (!is_stdin)
        fclose(file);
    return ok;
}

/* A file of the user's: tokenizer.json by its end, else a rank file. */
static bool use_table(struct wr_meter *meter, const char *path, const char *pattern_name)
{
    enum wr_bpe_pattern pattern = WR_BPE_PATTERN_CL100K;
    struct wr_bpe_load_report report = {.exact = true};
    struct weir_err err = {0};
    struct wr_buf file;
    struct wr_bpe *table = NULL;
    weir_status status;

    if (pattern_name && !wr_bpe_pattern_find(wr_span_of(pattern_name), &pattern)) {
        wr_cli_fail("count",
                    "no pattern is called '%s'; there are cl100k, o200k, qwen2, gpt2, none",
                    pattern_name);
        return false;
    }
    if (!wr_cli_read("count", path, &file)) {
        wr_buf_release(&file);
        return false;
    }
    bool is_json = wr_span_ends(wr_span_of(path), WR_LIT(".json"));
    status = is_json ? wr_bpe_load_json(&table, wr_buf_view(&file), &report, &err)
                     : wr_bpe_load_tiktoken(&table, wr_buf_view(&file), pattern, &err);
    if (status)
        wr_cli_fail_at("count", path, wr_buf_view(&file), &err, NULL);
    else if (!report.exact)
        fprintf(stderr, "weir count: %s: %s\n", path, report.text);
    if (!status)
        status = wr_meter_take_table(meter, table);
    wr_buf_release(&file);
    return !status;
}

static bool use_encoding(struct wr_meter *meter, const char *name, const char *pattern)
{
    enum wr_bpe_encoding encoding;
    enum wr_estimator estimator;
    struct weir_err err = {0};

    if (wr_bpe_encoding_find(wr_span_of(name), &encoding)) {
        if (!wr_meter_use_encoding(meter, encoding, &err))
            return true;
        wr_cli_fail("count", "%s", err.text);
        return false;
    }
    if (wr_estimator_find(wr_span_of(name), &estimator)) {
        wr_meter_use_estimator(meter, estimator);
        return true;
    }
    if (strchr(name, '/') || strchr(name, '.'))
        return use_table(meter, name, pattern);
    wr_cli_fail(
        "count",
        "no encoding is called '%s'; there are o200k_base, cl100k_base, fitted, bytes/4, runs, "
        "or the path of a table",
        name);
    return false;
}

static int count_all(struct wr_meter *meter, const struct wr_opt_list *files)
{
    static const char *const only_stdin[] = {"-"};
    const char *const *paths = files->count ? files->items : only_stdin;
    size_t count = files->count ? files->count : 1;
    const char *note = wr_meter_source(meter) == WR_COUNT_EXACT ? "" : "  (";
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t tokens;
        if (!count_file(meter, paths[i], &tokens))
            return WR_EXIT_USAGE;
        total += tokens;
        printf("%llu %s%s%s%s\n", (unsigned long long)tokens, paths[i], note,
               *note ? wr_meter_method(meter) : "", *note ? ")" : "");
    }
    if (count > 1)
        printf("%llu total\n", (unsigned long long)total);
    return WR_EXIT_OK;
}

int wr_cmd_count(int argc, char **argv)
{
    const char *model = NULL, *encoding = NULL, *pattern = NULL;
    struct wr_opt_list files = {.count = 0};
    const struct wr_opt options[] = {{"model", WR_OPT_TEXT, &model},
                                     {"encoding", WR_OPT_TEXT, &encoding},
                                     {"pattern", WR_OPT_TEXT, &pattern}};
    struct wr_ruler ruler;
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &files,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (model && encoding)
        return wr_cli_fail("count", "--model and --encoding both say how to count; give one");
    if (!wr_ruler_open(&ruler, "count", model ? wr_span_of(model) : WR_LIT(""), model != NULL))
        return WR_EXIT_USAGE;
    int code = WR_EXIT_USAGE;
    if (model || use_encoding(ruler.meter, encoding ? encoding : "o200k_base", pattern))
        code = count_all(ruler.meter, &files);
    wr_ruler_close(&ruler);
    return code;
}
