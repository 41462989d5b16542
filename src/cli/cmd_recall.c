/* `weir recall`: the text behind a handle, whole or in part. */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "cli/open.h"
#include "weir/recall.h"

struct recall_options {
    const char *lines, *grep, *store, *tenant;
    uint64_t head_lines, tail_lines, context_lines; /* 0: not asked for */
};

#define VALUES struct recall_options

static const struct wr_option options[] = {
    {"lines", WR_TEXT("A-B", lines),
     "only these lines, counted from 1; also A-, A, and several: 1-20,90-"},
    {"head", WR_NUMBER("N", head_lines, 1, 0), "the first N lines"},
    {"tail", WR_NUMBER("N", tail_lines, 1, 0), "the last N lines"},
    {"grep", WR_TEXT("RE", grep),
     "only lines that match (PCRE2), with their numbers; within --lines if given"},
    {"context", WR_NUMBER("N", context_lines, 1, 0), "and N lines around each match"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
};

static bool read_selection(const struct recall_options *o, struct weir_lines *lines,
                           struct weir_recall_options *selection)
{
    struct weir_err err = {0};

    *selection = (struct weir_recall_options){.lines = lines,
                                              .head_lines = o->head_lines,
                                              .tail_lines = o->tail_lines,
                                              .context_lines = o->context_lines,
                                              .pattern = wr_span_of(o->grep ? o->grep : "")};
    if (o->lines && weir_lines_parse(wr_span_of(o->lines), lines, WR_RECALL_RANGES_MAX,
                                     &selection->lines_count, &err))
        wr_cli_fail("--lines %s: %s, at byte %zu", o->lines, err.text, err.at_byte);
    else if (o->grep && !o->grep[0])
        wr_cli_fail("--grep wants a pattern");
    else if (o->context_lines && !o->grep)
        wr_cli_fail("--context goes with --grep");
    else
        return true;
    return false;
}

static int print_recalled(const struct weir_recalled *recalled, bool is_search)
{
    if (is_search && !recalled->matches_count) {
        (void)wr_cli_fail("no line of %llu matches", (unsigned long long)recalled->lines_total);
        return WR_EXIT_CHECK;
    }
    return wr_cli_write(recalled->text) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

static const char *advice_on_miss(weir_miss miss, weir_trouble trouble)
{
    switch (miss) {
    case WEIR_MISS_NONE:
        return wr_cli_store_advice(trouble);
    case WEIR_MISS_NEVER_STORED:
        return "; check the handle, and whether --store and --tenant are the right ones";
    case WEIR_MISS_EXPIRED:
        return "; `weir store gc --days N` keeps sessions longer";
    case WEIR_MISS_OTHER_TENANT:
        return "; --tenant T says whose it is";
    case WEIR_MISS_CORRUPT:
        return "; the next request that holds it stores it anew, `weir store verify` lists others";
    }
    return "";
}

static int recall_text(const struct recall_options *o, const struct weir_lookup *lookup,
                       const struct weir_recall_options *selection)
{
    struct weir_store_options how = {.must_exist = true};
    struct weir_recalled recalled;
    struct weir_err err = {0};
    weir_miss miss = WEIR_MISS_NONE;
    int code;

    struct weir_store *store = wr_cli_store(o->store, &how);
    if (!store)
        return WR_EXIT_USAGE;
    weir_status status = weir_recall(store, lookup, selection, &recalled, &miss, &err);
    if (!status)
        code = print_recalled(&recalled, selection->pattern.len > 0);
    else
        code = wr_cli_fail("%s%s", err.text, advice_on_miss(miss, weir_store_trouble(store)));
    if (miss != WEIR_MISS_NONE)
        code = WR_EXIT_CHECK;
    weir_recalled_release(&recalled);
    weir_store_close(store);
    return code;
}

static int run_recall(void *values, const struct wr_words *words)
{
    const struct recall_options *o = values;
    struct weir_recall_options selection;
    struct weir_lines lines[WR_RECALL_RANGES_MAX];
    /* Whoever runs this can read the file, so may be told of other tenants. */
    struct weir_lookup lookup = {.is_operator = true, .tenant = wr_span_of(o->tenant)};

    if (!weir_handle_parse(wr_span_of(words->items[0]), &lookup.handle))
        return wr_cli_fail("'%s' is no handle: that is wr_ and 20 lower-case hex digits",
                           words->items[0]);
    return read_selection(o, lines, &selection) ? recall_text(o, &lookup, &selection)
                                                : WR_EXIT_USAGE;
}

const struct wr_command wr_cmd_recall = {
    .name = "recall",
    .purpose = "what was taken out, by its handle",
    .usage = "[OPTIONS] HANDLE",
    .about = "Prints what was taken out of a request and replaced by HANDLE (wr_ and 20 hex "
             "digits): byte for byte, checked against its SHA-256.",
    WR_OPTIONS(options),
    .defaults = &(const struct recall_options){.tenant = WR_CLI_TENANT},
    .words_min = 1,
    .words_max = 1,
    .wants = "one handle is wanted",
    .exits = "Exit 1: there is no such text (never stored, expired, another tenant's, or corrupt), "
             "or no line matches. Exit 2: the call is wrong, or the store cannot be read.",
    .example = "weir recall wr_0123456789abcdef0123 --grep 'error|FAILED' --context 3",
    .run = run_recall,
};
