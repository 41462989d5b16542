/* `weir count`: tokens of files of any size, read in pieces. */
#include "cli/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/open.h"
#include "tokens/bpe_load.h"
#include "tokens/bpe_stream.h"

struct count_options {
    const char *model, *encoding, *pattern;
};

#define VALUES struct count_options

static const struct wr_option options[] = {
    {"model", WR_TEXT("M", model),
     "count as this model does (see `weir models`); where its tokenizer is not public the number "
     "is an estimate, and the line says so",
     .list = wr_list_models},
    {"encoding", WR_TEXT("E", encoding),
     "o200k_base (the default), cl100k_base, fitted, bytes/4, runs; or a file of your own: a "
     "tokenizer.json, or a .tiktoken rank file",
     .words = "o200k_base cl100k_base fitted bytes/4 runs " WR_WORDS_FILE},
    {"pattern", WR_CHOICE("P", pattern),
     "how a rank file's text is cut: cl100k (the default), o200k, qwen2, gpt2, none",
     .words = "cl100k o200k qwen2 gpt2 none"},
};

enum { CHUNK_BYTES = 256 * 1024 };

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
            *tokens += wr_meter_count(meter, (weir_span){chunk, got});
    }
    if (!status && scratch) {
        status = wr_bpe_stream_count(&stream, &total);
        *tokens = total;
    }
    if (scratch)
        wr_bpe_stream_release(&stream);
    if (status)
        wr_cli_fail("%s: %s", name, weir_status_text(status));
    else if (ferror(file))
        wr_cli_fail("%s: %s", name, strerror(errno));
    return !status && !ferror(file);
}

static bool count_file(struct wr_meter *meter, const char *path, uint64_t *tokens)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file) {
        wr_cli_fail("%s: %s; name files that can be read, or - for stdin", path, strerror(errno));
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

    if (pattern_name)
        (void)wr_bpe_pattern_find(wr_span_of(pattern_name), &pattern);
    if (!wr_cli_read(path, &file)) {
        wr_buf_release(&file);
        return false;
    }
    bool is_json = wr_span_ends(wr_span_of(path), WR_LIT(".json"));
    status = is_json ? wr_bpe_load_json(&table, wr_buf_view(&file), &report, &err)
                     : wr_bpe_load_tiktoken(&table, wr_buf_view(&file), pattern, &err);
    if (status)
        wr_cli_fail_at(path, wr_buf_view(&file), &err, NULL);
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
        wr_cli_fail("%s", err.text);
        return false;
    }
    if (wr_estimator_find(wr_span_of(name), &estimator)) {
        wr_meter_use_estimator(meter, estimator);
        return true;
    }
    if (strchr(name, '/') || strchr(name, '.'))
        return use_table(meter, name, pattern);
    struct wr_near near = wr_near_to(wr_span_of(name));
    wr_words_each(options[1].words, NULL, wr_near_offer, &near);
    wr_cli_fail("no encoding is called '%s'%s there are o200k_base, cl100k_base, fitted, bytes/4, "
                "runs, or the path of a table",
                name, near.text);
    return false;
}

static int count_all(struct wr_meter *meter, const struct wr_words *files)
{
    static char dash[] = "-", *only_stdin[] = {dash};
    char **paths = files->count ? files->items : only_stdin;
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

static int run_count(void *values, const struct wr_words *files)
{
    const struct count_options *o = values;
    struct wr_ruler ruler;
    int code = WR_EXIT_USAGE;

    if (o->model && o->encoding)
        return wr_cli_fail("--model and --encoding both say how to count; give one");
    if (!wr_ruler_open(&ruler, o->model ? wr_span_of(o->model) : WR_LIT(""), o->model != NULL))
        return WR_EXIT_USAGE;
    if (o->model || use_encoding(ruler.meter, o->encoding ? o->encoding : "o200k_base", o->pattern))
        code = count_all(ruler.meter, files);
    wr_ruler_close(&ruler);
    return code;
}

const struct wr_command wr_cmd_count = {
    .name = "count",
    .purpose = "tokens of files or stdin",
    .usage = "[--model M | --encoding E [--pattern P]] [FILE...]",
    .about = "Prints the tokens of each file (of stdin without one, or for -), the number first on "
             "the line.",
    WR_OPTIONS(options),
    .words_max = SIZE_MAX,
    .words = WR_WORDS_FILE,
    .example = "weir count --model gpt-5 README.md src/base/buf.c\ngit diff | weir count",
    .run = run_count,
};
