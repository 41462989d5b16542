/* `weir context`: what fills the window of a session, and what happens as it fills.
 *
 * The page is a bar, a line for each kind of content, sizes, money, and the policy's thresholds.
 * Each kind has a letter beside its colour, so that the bar can be read without colours.
 * Everything shown comes from ledger/context.c, which the MCP tool weir_context uses too.
 */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "ledger/context.h"

struct context_options {
    const char *store, *tenant, *config;
    bool as_json;
};

#define VALUES struct context_options

static const struct wr_option options[] = {
    {"json", WR_FLAG(as_json), "the same as one line of JSON"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
    WR_ROW_PRICES(config),
};

enum { BAR_COLUMNS_MAX = 60 };

struct page {
    const struct wr_context *c;
    struct wr_buf out;
    bool has_colours;
};

/* A colour and a letter for each kind: the bar can be read without colours. */
static const struct {
    const char *colour;
    char letter;
} looks[WR_CATEGORIES_COUNT] = {{"34", 's'}, {"35", 't'}, {"94", 'i'}, {"32", 'u'}, {"36", 'a'},
                                {"90", 'q'}, {"33", 'c'}, {"31", 'r'}, {"95", 'm'}, {"37", 'o'}};

static void put_cells(struct page *p, const char *colour, char letter, uint64_t cells)
{
    if (p->has_colours && cells)
        wr_buf_printf(&p->out, "\033[%sm", colour);
    for (uint64_t i = 0; i < cells; i++) {
        if (p->has_colours)
            wr_buf_text(&p->out, "█");
        else
            wr_buf_byte(&p->out, letter);
    }
    if (p->has_colours && cells)
        wr_buf_text(&p->out, "\033[0m");
}

/* The bar is the prompt and not the window: of a large window a prompt takes a cell or two, and its
 * parts would not be seen. A part smaller than a cell may get none. */
static void put_bar(struct page *p)
{
    const struct wr_context *c = p->c;
    uint64_t whole = 0;
    uint64_t done_tokens = 0, done_cells = 0, bar_cells = wr_cli_columns() - 2;

    if (bar_cells > BAR_COLUMNS_MAX)
        bar_cells = BAR_COLUMNS_MAX;
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        whole += c->tokens[i];
    if (!whole)
        return;
    wr_buf_byte(&p->out, '[');
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++) {
        done_tokens += c->tokens[i];
        uint64_t cells = done_tokens * bar_cells / whole;
        put_cells(p, looks[i].colour, looks[i].letter, cells - done_cells);
        done_cells = cells;
    }
    wr_buf_text(&p->out, "]\n");
}

/* `category` is WR_CATEGORIES_COUNT for what has no part of the bar. */
static void put_share(struct page *p, const char *label, uint64_t tokens, int category)
{
    uint64_t whole = p->c->window_tokens ? p->c->window_tokens : p->c->sent_tokens;
    uint64_t permille = whole ? tokens * 1000 / whole : 0;
    wr_buf_text(&p->out, "  ");
    if (category < WR_CATEGORIES_COUNT)
        put_cells(p, looks[category].colour, looks[category].letter, 1);
    else
        wr_buf_byte(&p->out, ' ');
    wr_buf_printf(&p->out, " %-13s %12s  %3llu.%llu %%\n", label, WR_GROUPED(tokens),
                  (unsigned long long)permille / 10, (unsigned long long)permille % 10);
}

static void put_categories(struct page *p)
{
    const struct wr_context *c = p->c;
    uint64_t used = wr_context_used(c);
    int64_t free_tokens = wr_context_free(c);

    put_bar(p);
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        if (c->tokens[i])
            put_share(p, wr_category_name((enum wr_category)i), c->tokens[i], i);
    if (wr_context_held(c))
        put_share(p, "provider held", wr_context_held(c), WR_CATEGORIES_COUNT);
    if (free_tokens >= 0)
        put_share(p, "free", (uint64_t)free_tokens, WR_CATEGORIES_COUNT);
    if (c->window_tokens && used > c->window_tokens)
        wr_buf_printf(&p->out, "  over the window by %s\n", WR_GROUPED(used - c->window_tokens));
}

static void put_head(struct page *p)
{
    const struct wr_context *c = p->c;

    wr_text_excerpt(&p->out, c->session.session, 80);
    wr_buf_text(&p->out, "\n");
    wr_text_excerpt(&p->out, c->session.agent.len ? c->session.agent : WR_LIT("agent not known"),
                    40);
    wr_buf_text(&p->out, ", ");
    wr_text_excerpt(&p->out, c->model, 64);
    wr_buf_printf(&p->out, ", %s requests, the latest ", WR_GROUPED(c->tally.requests_count));
    wr_cli_put_ago(&p->out, c->time_ms);
    wr_buf_text(&p->out, " ago\n");
    if (c->prompts_count > 1)
        wr_buf_printf(&p->out, "the largest of its %llu prompts; the others are helpers'\n",
                      (unsigned long long)c->prompts_count);
    wr_buf_byte(&p->out, '\n');
}

static void put_sizes(struct page *p)
{
    const struct wr_context *c = p->c;

    if (c->window_tokens)
        wr_buf_printf(&p->out, "\nwindow     %s tokens, %s of them for the prompt\n",
                      WR_GROUPED(c->window_tokens), WR_GROUPED(c->usable_tokens));
    wr_buf_printf(&p->out, "estimate   %s tokens came, %s were sent\n", WR_GROUPED(c->raw_tokens),
                  WR_GROUPED(c->sent_tokens));
    if (c->is_delta)
        wr_buf_text(&p->out, "           of what was new: the provider holds the rest\n");
    if (c->usage_tokens < 0)
        wr_buf_text(&p->out, "provider   has not said what it counted\n");
    else
        wr_buf_printf(&p->out, "provider   %s tokens counted, %s of them read from its cache\n",
                      WR_GROUPED((uint64_t)c->usage_tokens),
                      WR_GROUPED(c->usage_read_tokens > 0 ? (uint64_t)c->usage_read_tokens : 0));
}

static void put_money(struct page *p)
{
    const struct wr_tally *t = &p->c->tally;

    wr_buf_text(&p->out, "cost       ");
    if (t->unpriced_count == t->requests_count) {
        wr_buf_text(&p->out, "the model has no price\n");
        return;
    }
    wr_cli_put_money(&p->out, (int64_t)t->micro_usd);
    wr_buf_text(&p->out, "; unchanged it would have been ");
    wr_cli_put_money(&p->out, (int64_t)t->unchanged_micro_usd);
    if (t->estimated_count)
        wr_buf_printf(&p->out, "; %s requests estimated", WR_GROUPED(t->estimated_count));
    wr_buf_byte(&p->out, '\n');
}

static void put_threshold(struct page *p, const struct wr_threshold *t)
{
    uint64_t used = wr_context_used(p->c), at = t->when.at_tokens;

    wr_buf_printf(&p->out, "  %s: %s\n    ", t->stage, t->what);
    if (t->when.words)
        wr_buf_printf(&p->out, "%s%s", t->when.words, at ? "; at the latest " : "");
    if (at)
        wr_buf_printf(&p->out, "at %s tokens (", WR_GROUPED(at));
    if (at && used >= at)
        wr_buf_text(&p->out, "reached)");
    else if (at)
        wr_buf_printf(&p->out, "%s to go)", WR_GROUPED(at - used));
    wr_buf_byte(&p->out, '\n');
}

static void put_last_step(struct page *p)
{
    const struct wr_context_step *step = &p->c->last_step;

    if (!step->time_ms)
        return;
    wr_buf_printf(&p->out, "last step  %s -> %s tokens (%s), ", WR_GROUPED(step->tokens_before),
                  WR_GROUPED(step->tokens_after), step->reason[0] ? step->reason : "no reason");
    wr_cli_put_ago(&p->out, step->time_ms);
    wr_buf_text(&p->out, " ago\n");
}

static void put_policy(struct page *p)
{
    const struct wr_context *c = p->c;

    wr_buf_text(&p->out, "\npolicy ");
    wr_text_excerpt(&p->out, c->policy.len ? c->policy : WR_LIT("not known"), 64);
    if (!c->is_policy_known)
        wr_buf_text(&p->out, " is none of the presets: `weir policies` shows its stages\n");
    else if (!c->thresholds_count)
        wr_buf_text(&p->out, " changes nothing\n");
    else
        wr_buf_byte(&p->out, '\n');
    for (uint32_t i = 0; i < c->thresholds_count; i++)
        put_threshold(p, &c->thresholds[i]);
}

static int print_context(const struct wr_context *context)
{
    struct page p = {.c = context, .has_colours = wr_cli_colours()};

    wr_buf_init(&p.out, 1024 * 1024);
    put_head(&p);
    put_categories(&p);
    put_sizes(&p);
    put_money(&p);
    put_last_step(&p);
    put_policy(&p);
    return wr_cli_end_fitted(&p.out, WR_EXIT_OK);
}

static int show_context(const struct wr_books *books, const struct context_options *o,
                        weir_span session)
{
    struct wr_context context;
    struct weir_err err = {0};
    struct wr_arena arena;
    struct wr_buf json;
    int code;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&json, 1024 * 1024);
    weir_status status = o->as_json ? wr_context_write_json(books->ledger, wr_span_of(o->tenant),
                                                            session, books->models, &json, &err)
                                    : wr_context_read(books->ledger, wr_span_of(o->tenant), session,
                                                      books->models, &arena, &context, &err);
    if (status) {
        code = wr_cli_fail("%.*s%s%s", (int)session.len, session.ptr, session.len ? ": " : "",
                           err.text);
    } else if (o->as_json) {
        wr_buf_byte(&json, '\n');
        code = wr_cli_end(&json, WR_EXIT_OK);
    } else {
        code = print_context(&context);
    }
    wr_buf_release(&json);
    wr_arena_release(&arena);
    return code;
}

static int run_context(void *values, const struct wr_words *words)
{
    const struct context_options *o = values;
    struct wr_books books;
    int code = WR_EXIT_USAGE;

    if (wr_books_open(&books, o->store, o->config))
        code = show_context(&books, o, words->count ? wr_span_of(words->items[0]) : WR_LIT(""));
    wr_books_close(&books);
    return code;
}

const struct wr_command wr_cmd_context = {
    .name = "context",
    .purpose = "what fills a session's window, and what happens as it fills",
    .usage = "[OPTIONS] [SESSION]",
    .about =
        "Shows what fills the window of a session that went through `weir serve`: tokens by "
        "kind of content (the bar is the prompt, the shares are of the window; `other` is what "
        "frames messages, summaries and notices), what the provider counted, where the session's "
        "policy does what, "
        "and what the session has cost. SESSION is its name or how that begins; without it, "
        "the most recent one.",
    WR_OPTIONS(options),
    .defaults = &(const struct context_options){.tenant = WR_CLI_TENANT},
    .words_max = 1,
    .list = wr_list_sessions,
    .wants = "one session at a time",
    .example = "weir context",
    .run = run_context,
};
