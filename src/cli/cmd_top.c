/* `weir top`: what goes through the proxy as it happens, in a terminal.
 *
 * It reads the store, as the page does (traffic/index.h), so it needs no server and no token, and
 * shows what every server on that store does. It is drawn on the terminal's other screen, line over
 * line: clearing it first would flicker, and what stood there before comes back at the end.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "base/table.h"
#include "traffic/index.h"

struct top_options {
    const char *store, *tenant, *config;
    uint64_t seconds;
    bool is_once;
};

#define VALUES struct top_options

static const struct wr_option options[] = {
    {"once", WR_FLAG(is_once), "print it once and end, as it does where no terminal is"},
    {"every", WR_NUMBER("SECONDS", seconds, 1, 3600), "look again after so long (default 1)"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
    WR_ROW_PRICES(config),
};

enum { SESSIONS_SHOWN = 20, BAR_CELLS = 11, OTHER_LINES = 7, WRAPPED_LINES = 3, WIDE_COLUMNS = 80 };

static volatile sig_atomic_t is_over;

static void on_signal(int number)
{
    (void)number;
    is_over = 1;
}

/* ---- one picture ---- */

static void put_saved(struct wr_buf *out, uint64_t paid, uint64_t without)
{
    int64_t saved = (int64_t)without - (int64_t)paid;

    wr_cli_put_money(out, (int64_t)paid);
    wr_buf_text(out, " instead of ");
    wr_cli_put_money(out, (int64_t)without);
    wr_buf_text(out, ", saved ");
    wr_cli_put_money(out, saved);
    if (without)
        wr_buf_printf(out, " (%.0f %%)", 100.0 * (double)saved / (double)without);
}

static void put_head(struct wr_buf *out, const struct wr_traffic_index *index)
{
    const struct wr_tally *all = &wr_traffic_index_report(index)->all;
    struct wr_traffic_progress progress = wr_traffic_index_progress(index);

    if (!progress.is_whole)
        wr_buf_printf(out, "reading the store: %s of %s requests\n",
                      WR_GROUPED(progress.read_count), WR_GROUPED(progress.rows_count));
    wr_buf_printf(out, "%s requests, ", WR_GROUPED(all->requests_count));
    put_saved(out, all->micro_usd, all->unchanged_micro_usd);
    wr_buf_printf(out, "\ntokens %s came, %s sent; %s recalls, and %s that brought nothing\n\n",
                  WR_GROUPED(all->raw_tokens), WR_GROUPED(all->sent_tokens),
                  WR_GROUPED(all->quality.recalls),
                  WR_GROUPED(all->quality.missing_artifact_requests));
}

/* The last prompt: '#' of what was sent, '.' of what was left out, in parts of what came. */
static void put_bar(struct wr_table *table, const struct wr_spark *spark)
{
    char bar[BAR_CELLS + 1] = "";
    uint32_t came = spark->count ? spark->came[spark->count - 1] : 0;
    uint32_t sent = spark->count ? spark->sent[spark->count - 1] : 0;
    uint32_t filled = came ? (uint32_t)((uint64_t)sent * BAR_CELLS / came) : 0;

    for (uint32_t i = 0; i < BAR_CELLS && came; i++)
        bar[i] = i < filled ? '#' : '.';
    wr_table_cell(table, wr_span_of(bar));
}

static void put_what_happened(struct wr_table *table, const struct wr_tally *t)
{
    struct wr_buf words;
    const struct {
        uint64_t count;
        const char *what;
    } signs[] = {{t->steps_count, "planned"},
                 {t->busts[WR_BUST_HOST], "broken"},
                 {t->busts[WR_BUST_PROVIDER], "lost"},
                 {t->quality.recalls, "recalled"},
                 {t->quality.missing_artifact_requests, "missed"},
                 {t->quality.blind_edits, "blind edits"},
                 {t->failed_count, "failed"}};

    wr_buf_init(&words, 1024);
    for (size_t i = 0; i < WR_COUNT_OF(signs); i++)
        if (signs[i].count)
            wr_buf_printf(&words, "%s%llu %s", words.len ? ", " : "",
                          (unsigned long long)signs[i].count, signs[i].what);
    wr_table_cell(table, wr_buf_view(&words));
    wr_buf_release(&words);
}

static void put_session(struct wr_table *table, const struct wr_traffic_session *s, weir_span words)
{
    struct wr_buf saved;

    wr_table_cell(table, words.len ? words : s->session);
    wr_table_cell(table, s->agent);
    wr_table_format(table, "%s", WR_GROUPED(s->tally.requests_count));
    put_bar(table, &s->spark);
    wr_buf_init(&saved, 64);
    wr_cli_put_money(&saved, (int64_t)s->tally.unchanged_micro_usd - (int64_t)s->tally.micro_usd);
    wr_table_cell(table, wr_buf_view(&saved));
    wr_buf_reset(&saved);
    wr_cli_put_ago(&saved, s->last_ms);
    wr_table_cell(table, wr_buf_view(&saved));
    wr_buf_release(&saved);
    put_what_happened(table, &s->tally);
}

/* How many sessions fit the terminal. */
static size_t sessions_shown(bool is_once)
{
    struct winsize size;

    if (is_once || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
        return SESSIONS_SHOWN;
    int others = OTHER_LINES + (wr_cli_columns() < WIDE_COLUMNS ? WRAPPED_LINES : 0);
    return size.ws_row > others ? (size_t)(size.ws_row - others) : 1;
}

static weir_status draw_picture(struct wr_traffic_index *index, struct wr_ledger *ledger,
                                bool is_once, struct wr_buf *out)
{
    static const struct wr_table_column columns[] = {{"session", .cut_min = 18},
                                                     {"agent", .rank = 5},
                                                     {"requests", .is_right = true, .rank = 2},
                                                     {"last prompt", .rank = 1},
                                                     {"saved", .is_right = true},
                                                     {"ago", .is_right = true},
                                                     {"what happened", .rank = 3}};
    struct wr_traffic_filter filter = {.sort = WR_TRAFFIC_SORT_LAST};
    struct wr_arena arena;
    struct wr_table table;
    size_t count, shown = sessions_shown(is_once);

    put_head(out, index);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    const struct wr_traffic_session **found =
        wr_traffic_index_find(index, ledger, &filter, &arena, &count);
    wr_table_init(&table, columns, WR_COUNT_OF(columns), &arena);
    for (size_t i = 0; found && i < count && i < shown; i++)
        put_session(&table, found[i], wr_traffic_index_words(index, ledger, found[i]));
    if (count)
        wr_table_print(&table, wr_cli_columns_told(), out);
    else
        wr_buf_text(out,
                    "Nothing has come through yet. Start an agent with `weir run -- claude`.\n");
    if (!is_once)
        wr_buf_text(out, "\nplanned: Weir's steps; broken: caches, by the agent, lost: by the "
                         "provider\nCtrl-C ends");
    weir_status status = found ? wr_buf_status(out) : WEIR_NOMEM;
    wr_arena_release(&arena);
    return status;
}

/* ---- over and over ---- */

/* Every line over what stood there, and nothing below the last. */
static void show_picture(const struct wr_buf *out)
{
    struct wr_buf fitted;
    weir_span rest, line;

    wr_buf_init(&fitted, WR_OUTPUT_BYTES_MAX);
    wr_text_fit(&fitted, wr_buf_view(out), wr_cli_columns());
    rest = wr_buf_view(&fitted);
    (void)fputs("\033[H", stdout);
    for (bool is_first = true; wr_span_line(&rest, &line); is_first = false)
        (void)printf("%s%.*s\033[K", is_first ? "" : "\r\n", (int)line.len, line.ptr);
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
    wr_buf_release(&fitted);
}

static int show_top(struct wr_books *books, const struct top_options *o)
{
    bool is_once = o->is_once || !isatty(STDOUT_FILENO);
    struct wr_traffic_index *index = wr_traffic_index_new(wr_span_of(o->tenant), books->models);
    struct weir_err err = {0};
    struct wr_buf out;
    weir_status status = index ? WEIR_OK : WEIR_NOMEM;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!is_once)
        (void)fputs("\033[?1049h\033[?25l", stdout);
    while (!status && !is_over) {
        wr_buf_reset(&out);
        do
            status = wr_traffic_index_refresh(index, books->ledger, &err);
        while (is_once && !status && !wr_traffic_index_progress(index).is_whole);
        if (!status)
            status = draw_picture(index, books->ledger, is_once, &out);
        if (is_once || status)
            break;
        show_picture(&out);
        (void)nanosleep(&(struct timespec){.tv_sec = (time_t)o->seconds}, NULL);
    }
    if (!is_once)
        (void)fputs("\033[?25h\033[?1049l", stdout);
    wr_traffic_index_free(index);
    if (status) {
        wr_buf_release(&out);
        return wr_cli_fail_status(status, &err);
    }
    if (is_once)
        return wr_cli_end_fitted(&out, WR_EXIT_OK);
    wr_buf_release(&out);
    return WR_EXIT_OK;
}

static int run_top(void *values, const struct wr_words *words)
{
    const struct top_options *o = values;
    struct wr_books books;
    int code = WR_EXIT_USAGE;

    (void)words;
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    if (wr_books_open(&books, o->store, o->config))
        code = show_top(&books, o);
    wr_books_close(&books);
    return code;
}

const struct wr_command wr_cmd_top = {
    .name = "top",
    .purpose = "what goes through the proxy, as it happens",
    .usage = "[OPTIONS]",
    .about = "The sessions that were used last, with what was paid and saved, how much of the last "
             "prompt was sent ('#', of what came) and what happened: planned steps, caches that "
             "somebody broke, recalls. It is drawn anew every second until Ctrl-C. The page at "
             "/weir/ of `weir serve` shows the same and more.",
    WR_OPTIONS(options),
    .defaults = &(const struct top_options){.tenant = WR_CLI_TENANT, .seconds = 1},
    .example = "weir top",
    .run = run_top,
};
