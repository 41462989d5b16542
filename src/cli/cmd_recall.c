/* `weir recall`: the text behind a handle, whole or in part. */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "cli/store_dir.h"
#include "weir/recall.h"

static const char help[] =
    "usage: weir recall HANDLE [--lines A-B | --head N | --tail N] [--grep RE [--context N]]\n"
    "                   [--store DIR] [--tenant T]\n"
    "\n"
    "Prints what was taken out of a request and replaced by HANDLE (wr_ and 20 hex digits): byte\n"
    "for byte, checked against its SHA-256.\n"
    "\n"
    "  --lines A-B     only these lines, counted from 1; also A-, A, and several: 1-20,90-\n"
    "  --head N        the first N lines\n"
    "  --tail N        the last N lines\n"
    "  --grep RE       only lines that match (PCRE2), with their numbers; within --lines if given\n"
    "  --context N     and N lines around each match\n"
    "  --store DIR     the store (default: $XDG_DATA_HOME/weir, or ~/.local/share/weir)\n"
    "  --tenant T      whose it is (default: local)\n"
    "\n"
    "Exit 1: there is no such text (never stored, expired, another tenant's, or corrupt), or no\n"
    "line matches. Exit 2: the call is wrong, or the store cannot be read.\n"
    "\n"
    "example: weir recall wr_0123456789abcdef0123 --grep 'error|FAILED' --context 3\n";

struct recall_options {
    const char *lines, *head, *tail, *grep, *context, *store, *tenant;
};

/* A number of lines; absent is 0. */
static bool read_count(const char *option, const char *text, uint64_t *number)
{
    *number = 0;
    if (!text || (wr_span_u64(wr_span_of(text), number) && *number > 0))
        return true;
    wr_cli_fail("recall", "--%s wants a number from 1, not '%s'", option, text);
    return false;
}

static bool read_selection(const struct recall_options *o, struct weir_lines *lines,
                           struct weir_recall_options *selection)
{
    struct weir_err err = {0};

    if (o->lines && weir_lines_parse(wr_span_of(o->lines), lines, WR_RECALL_RANGES_MAX,
                                     &selection->lines_count, &err)) {
        wr_cli_fail("recall", "--lines %s: %s, at byte %zu", o->lines, err.text, err.at_byte);
        return false;
    }
    selection->lines = lines;
    if (!read_count("head", o->head, &selection->head_lines) ||
        !read_count("tail", o->tail, &selection->tail_lines) ||
        !read_count("context", o->context, &selection->context_lines))
        return false;
    if (o->grep && !o->grep[0]) {
        wr_cli_fail("recall", "--grep wants a pattern");
        return false;
    }
    if (o->context && !o->grep) {
        wr_cli_fail("recall", "--context goes with --grep");
        return false;
    }
    selection->pattern = wr_span_of(o->grep ? o->grep : "");
    return true;
}

static int print(const struct weir_recalled *recalled, bool is_search)
{
    if (is_search && !recalled->matches_count) {
        (void)wr_cli_fail("recall", "no line of %llu matches",
                          (unsigned long long)recalled->lines_total);
        return WR_EXIT_CHECK;
    }
    return wr_cli_write("recall", recalled->text) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

static const char *advice(weir_miss miss, weir_trouble trouble)
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

static int recall(const struct recall_options *o, const struct weir_lookup *lookup,
                  const struct weir_recall_options *selection)
{
    struct weir_store_options options = {.must_exist = true};
    struct weir_recalled recalled;
    struct weir_err err = {0};
    weir_miss miss = WEIR_MISS_NONE;
    int code;

    struct weir_store *store = wr_cli_store("recall", o->store, &options);
    if (!store)
        return WR_EXIT_USAGE;
    weir_status status = weir_recall(store, lookup, selection, &recalled, &miss, &err);
    if (!status)
        code = print(&recalled, selection->pattern.len > 0);
    else
        code = wr_cli_fail("recall", "%s%s", err.text, advice(miss, weir_store_trouble(store)));
    if (miss != WEIR_MISS_NONE)
        code = WR_EXIT_CHECK;
    weir_recalled_release(&recalled);
    weir_store_close(store);
    return code;
}

int wr_cmd_recall(int argc, char **argv)
{
    struct recall_options o = {.tenant = WR_CLI_TENANT};
    struct weir_recall_options selection = {.lines = NULL};
    struct weir_lines lines[WR_RECALL_RANGES_MAX];
    /* Whoever runs this can read the file, so may be told of other tenants. */
    struct weir_lookup lookup = {.is_operator = true};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {
        {"lines", WR_OPT_TEXT, &o.lines},     {"head", WR_OPT_TEXT, &o.head},
        {"tail", WR_OPT_TEXT, &o.tail},       {"grep", WR_OPT_TEXT, &o.grep},
        {"context", WR_OPT_TEXT, &o.context}, {"store", WR_OPT_TEXT, &o.store},
        {"tenant", WR_OPT_TEXT, &o.tenant},
    };
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count != 1)
        return wr_cli_fail(
            "recall", "one handle is wanted, not %zu; `weir recall --help` shows how", rest.count);
    if (!weir_handle_parse(wr_span_of(rest.items[0]), &lookup.handle))
        return wr_cli_fail("recall", "'%s' is no handle: that is wr_ and 20 lower-case hex digits",
                           rest.items[0]);
    if (!read_selection(&o, lines, &selection))
        return WR_EXIT_USAGE;
    lookup.tenant = wr_span_of(o.tenant);
    return recall(&o, &lookup, &selection);
}
