/* `weir context`: what fills the window of a session, and what happens as it fills. */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "cli/ledger_open.h"
#include "cli/store_dir.h"
#include "ledger/context.h"

static const char help[] =
    "usage: weir context [SESSION] [--json] [--store DIR] [--tenant T] [--config FILE]\n"
    "\n"
    "Shows what fills the window of a session that went through `weir serve`: tokens by kind of\n"
    "content, what the provider counted, where the session's policy does what, and what the "
    "session\n"
    "has cost. SESSION is its name or how that begins; without it, the most recent one.\n"
    "\n"
    "  --json          the same as one line of JSON\n"
    "  --store DIR     the store (default: $XDG_DATA_HOME/weir, or ~/.local/share/weir)\n"
    "  --tenant T      whose session (default: local)\n"
    "  --config FILE   your prices (docs/models.md)\n"
    "\n"
    "example: weir context\n";

enum { BAR_COLUMNS = 60 };

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

/* Of the window; what is smaller than a cell may have none. */
static void put_bar(struct page *p)
{
    const struct wr_context *c = p->c;
    uint64_t whole = c->window_tokens > c->sent_tokens ? c->window_tokens : c->sent_tokens;
    uint64_t done_tokens = 0, done_cells = 0;

    if (!whole)
        return;
    wr_buf_byte(&p->out, '[');
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++) {
        done_tokens += c->tokens[i];
        uint64_t cells = done_tokens * BAR_COLUMNS / whole;
        cells = cells > BAR_COLUMNS ? BAR_COLUMNS : cells;
        put_cells(p, looks[i].colour, looks[i].letter, cells - done_cells);
        done_cells = cells;
    }
    for (; done_cells < BAR_COLUMNS; done_cells++)
        wr_buf_byte(&p->out, '.');
    wr_buf_text(&p->out, "]\n");
}

static void put_share(struct page *p, const char *label, uint64_t tokens, char letter)
{
    uint64_t whole = p->c->window_tokens ? p->c->window_tokens : p->c->sent_tokens;
    uint64_t permille = whole ? tokens * 1000 / whole : 0;
    wr_buf_printf(&p->out, "  %c %-13s %12s  %3llu.%llu %%\n", letter, label, wr_cli_number(tokens),
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
            put_share(p, wr_category_name((enum wr_category)i), c->tokens[i], looks[i].letter);
    if (wr_context_held(c))
        put_share(p, "provider held", wr_context_held(c), ' ');
    if (free_tokens >= 0)
        put_share(p, "free", (uint64_t)free_tokens, '.');
    if (c->window_tokens && used > c->window_tokens)
        wr_buf_printf(&p->out, "  over the window by %s\n", wr_cli_number(used - c->window_tokens));
}

static void put_head(struct page *p)
{
    const struct wr_context *c = p->c;

    wr_cli_excerpt(&p->out, c->session.session, 80);
    wr_buf_text(&p->out, "\n");
    wr_cli_excerpt(&p->out, c->session.agent.len ? c->session.agent : WR_LIT("agent not known"),
                   40);
    wr_buf_text(&p->out, ", ");
    wr_cli_excerpt(&p->out, c->model, 64);
    wr_buf_printf(&p->out, ", %s requests, the latest ", wr_cli_number(c->tally.requests_count));
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
                      wr_cli_number(c->window_tokens), wr_cli_number(c->usable_tokens));
    wr_buf_printf(&p->out, "estimate   %s tokens came, %s were sent\n",
                  wr_cli_number(c->raw_tokens), wr_cli_number(c->sent_tokens));
    if (c->is_delta)
        wr_buf_text(&p->out, "           of what was new: the provider holds the rest\n");
    if (c->usage_tokens < 0)
        wr_buf_text(&p->out, "provider   has not said what it counted\n");
    else
        wr_buf_printf(&p->out, "provider   %s tokens counted, %s of them read from its cache\n",
                      wr_cli_number((uint64_t)c->usage_tokens),
                      wr_cli_number(c->usage_read_tokens > 0 ? (uint64_t)c->usage_read_tokens : 0));
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
        wr_buf_printf(&p->out, "; %s requests estimated", wr_cli_number(t->estimated_count));
    wr_buf_byte(&p->out, '\n');
}

static void put_threshold(struct page *p, const struct wr_threshold *t)
{
    uint64_t used = wr_context_used(p->c), at = t->when.at_tokens;

    wr_buf_printf(&p->out, "  %s: %s\n    ", t->stage, t->what);
    if (t->when.words)
        wr_buf_printf(&p->out, "%s%s", t->when.words, at ? "; at the latest " : "");
    if (at)
        wr_buf_printf(&p->out, "at %s tokens (", wr_cli_number(at));
    if (at && used >= at)
        wr_buf_text(&p->out, "reached)");
    else if (at)
        wr_buf_printf(&p->out, "%s to go)", wr_cli_number(at - used));
    wr_buf_byte(&p->out, '\n');
}

static void put_last_step(struct page *p)
{
    const struct wr_context_step *step = &p->c->last_step;

    if (!step->time_ms)
        return;
    wr_buf_printf(&p->out, "last step  %s -> %s tokens (%s), ", wr_cli_number(step->tokens_before),
                  wr_cli_number(step->tokens_after), step->reason[0] ? step->reason : "no reason");
    wr_cli_put_ago(&p->out, step->time_ms);
    wr_buf_text(&p->out, " ago\n");
}

static void put_policy(struct page *p)
{
    const struct wr_context *c = p->c;

    wr_buf_text(&p->out, "\npolicy ");
    wr_cli_excerpt(&p->out, c->policy.len ? c->policy : WR_LIT("not known"), 64);
    if (!c->is_policy_known)
        wr_buf_text(&p->out, " is none of the presets: `weir policies` shows its stages\n");
    else if (!c->thresholds_count)
        wr_buf_text(&p->out, " changes nothing\n");
    else
        wr_buf_byte(&p->out, '\n');
    for (uint32_t i = 0; i < c->thresholds_count; i++)
        put_threshold(p, &c->thresholds[i]);
}

static int print(const struct wr_context *context)
{
    struct page p = {.c = context, .has_colours = wr_cli_colours()};
    int code = WR_EXIT_OK;

    wr_buf_init(&p.out, 1024 * 1024);
    put_head(&p);
    put_categories(&p);
    put_sizes(&p);
    put_money(&p);
    put_last_step(&p);
    put_policy(&p);
    if (wr_buf_status(&p.out))
        code = wr_cli_fail("context", "%s", weir_status_text(wr_buf_status(&p.out)));
    else if (!wr_cli_write("context", wr_buf_view(&p.out)))
        code = WR_EXIT_USAGE;
    wr_buf_release(&p.out);
    return code;
}

static int fail(weir_span session, const struct weir_err *err)
{
    return wr_cli_fail("context", "%.*s%s%s; `weir sessions` lists them", (int)session.len,
                       session.ptr, session.len ? ": " : "", err->text);
}

static int run(struct wr_ledger *ledger, const struct wr_models *models, weir_span tenant,
               weir_span session, bool as_json)
{
    struct wr_context context;
    struct weir_err err = {0};
    struct wr_arena arena;
    struct wr_buf json;
    int code = WR_EXIT_OK;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&json, 1024 * 1024);
    if (as_json && wr_context_write_json(ledger, tenant, session, models, &json, &err)) {
        code = fail(session, &err);
    } else if (as_json) {
        wr_buf_byte(&json, '\n');
        code = wr_cli_write("context", wr_buf_view(&json)) ? WR_EXIT_OK : WR_EXIT_USAGE;
    } else if (wr_context_read(ledger, tenant, session, models, &arena, &context, &err)) {
        code = fail(session, &err);
    } else {
        code = print(&context);
    }
    wr_buf_release(&json);
    wr_arena_release(&arena);
    return code;
}

int wr_cmd_context(int argc, char **argv)
{
    const char *store = NULL, *tenant = WR_CLI_TENANT, *config = NULL;
    bool as_json = false, done;
    const struct wr_opt options[] = {{"store", WR_OPT_TEXT, &store},
                                     {"tenant", WR_OPT_TEXT, &tenant},
                                     {"config", WR_OPT_TEXT, &config},
                                     {"json", WR_OPT_FLAG, &as_json}};
    struct wr_opt_list rest = {.count = 0};
    int code = WR_EXIT_USAGE;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count > 1)
        return wr_cli_fail("context", "one session at a time, not also '%s'", rest.items[1]);
    struct wr_models *models = wr_cli_models("context", config);
    struct wr_ledger *ledger = models ? wr_cli_ledger("context", store) : NULL;
    if (ledger)
        code = run(ledger, models, wr_span_of(tenant),
                   rest.count ? wr_span_of(rest.items[0]) : WR_LIT(""), as_json);
    wr_ledger_close(ledger);
    wr_models_free(models);
    return code;
}
