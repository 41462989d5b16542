/* weir_context: what fills the window of a session, from the rows of its requests. */
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "ledger/context.h"
#include "mcp/tool.h"

static void put_share(struct wr_buf *out, const char *name, uint64_t tokens, uint64_t whole)
{
    uint64_t permille = whole ? tokens * 1000 / whole : 0;
    wr_buf_printf(out, "  %-13s %9llu  %3llu.%llu %%\n", name, (unsigned long long)tokens,
                  (unsigned long long)permille / 10, (unsigned long long)permille % 10);
}

static void put_shares(struct wr_buf *out, const struct wr_context *c)
{
    int64_t free_tokens = wr_context_free(c);
    uint64_t whole = c->window_tokens ? c->window_tokens : c->sent_tokens;

    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        if (c->tokens[i])
            put_share(out, wr_category_name((enum wr_category)i), c->tokens[i], whole);
    if (wr_context_held(c))
        put_share(out, "provider held", wr_context_held(c), whole);
    if (free_tokens >= 0)
        put_share(out, "free", (uint64_t)free_tokens, whole);
}

static void put_threshold(struct wr_buf *out, const struct wr_threshold *t, uint64_t used)
{
    uint64_t at = t->when.at_tokens;

    wr_buf_printf(out, "  %s: %s, ", t->stage, t->what);
    if (t->when.words)
        wr_buf_printf(out, "%s%s", t->when.words, at ? "; at the latest " : "");
    if (at)
        wr_buf_printf(out, "at %llu tokens%s", (unsigned long long)at,
                      used >= at ? " (reached)" : "");
    wr_buf_byte(out, '\n');
}

static void put_context(struct wr_buf *out, const struct wr_context *c)
{
    wr_buf_text(out, "session ");
    wr_text_one_line_max(out, c->session.session, 80);
    wr_buf_text(out, ", model ");
    wr_text_one_line_max(out, c->model, 64);
    wr_buf_printf(out, ", %llu requests\n", (unsigned long long)c->tally.requests_count);
    if (c->window_tokens)
        wr_buf_printf(out, "window %llu tokens, %llu of them for the prompt; in use ~%llu\n",
                      (unsigned long long)c->window_tokens, (unsigned long long)c->usable_tokens,
                      (unsigned long long)wr_context_used(c));
    put_shares(out, c);
    if (c->usage_tokens >= 0)
        wr_buf_printf(out, "the provider counted %lld tokens\n", (long long)c->usage_tokens);
    wr_buf_printf(out,
                  "of the latest prompt ~%llu tokens came and ~%llu were sent; what was left "
                  "out has a handle, and weir_recall brings it back\n",
                  (unsigned long long)c->raw_tokens, (unsigned long long)c->sent_tokens);
    wr_buf_text(out, "policy ");
    wr_text_one_line_max(out, c->policy.len ? c->policy : WR_LIT("not known"), 64);
    wr_buf_byte(out, '\n');
    for (uint32_t i = 0; i < c->thresholds_count; i++)
        put_threshold(out, &c->thresholds[i], wr_context_used(c));
}

static void read_context(struct wr_mcp_world *world, struct wr_mcp_call *call,
                         struct wr_ledger *ledger, weir_span session)
{
    const struct wr_models *models = wr_mcp_world_models(world);
    struct weir_err err = {0};
    struct wr_context context;

    weir_status status =
        models ? wr_context_read(ledger, call->tenant, session, models, call->arena, &context, &err)
               : WEIR_NOMEM;
    if (!status)
        put_context(call->out, &context);
    else if (status == WEIR_NOTFOUND && !session.len)
        wr_buf_text(call->out, "No request of a session has been read yet.\n");
    else
        wr_mcp_call_fail(call,
                         "That session cannot be shown: %s. Leave `session` out for the most "
                         "recent one.",
                         err.text[0] ? err.text : weir_status_text(status));
}

void wr_mcp_context(struct wr_mcp_world *world, struct wr_mcp_call *call)
{
    static const char *const names[] = {"session"};
    struct weir_store_options options = {.must_exist = true};
    weir_trouble trouble = WEIR_TROUBLE_MISSING;
    struct wr_ledger *ledger = NULL;
    struct weir_err err = {0};
    weir_span session;

    if (!wr_mcp_call_knows(call, names, 1) || !wr_mcp_call_text(call, "session", &session))
        return;
    if (world->store_dir && wr_ledger_open(world->store_dir, &options, &ledger, &trouble, &err))
        ledger = NULL;
    if (ledger)
        read_context(world, call, ledger, session);
    else if (trouble == WEIR_TROUBLE_MISSING)
        wr_buf_text(call->out, "Nothing is stored yet.\n");
    else
        wr_mcp_call_fail(call, "The store cannot be read: %s. Try again.", err.text);
    wr_ledger_close(ledger);
}
