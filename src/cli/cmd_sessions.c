/* `weir sessions`: the conversations that went through the proxy, and what each was worth. */
#include "cli/cmd.h"

#include "base/limits.h"
#include "base/span.h"
#include "cli/ledger_open.h"
#include "json/write.h"
#include "ledger/context.h"

static const char help[] =
    "usage: weir sessions [--json] [--since T] [--agent A] [--store DIR] [--config FILE]\n"
    "\n"
    "Lists the sessions that went through `weir serve`, the most recently used first: requests,\n"
    "tokens as they came and as they were sent, and what was saved, net: the provider's usage at\n"
    "the model's prices beside what the same requests would have cost unchanged\n"
    "(docs/telemetry.md has the sums). A `~` says that some requests gave no usage; a `?` that "
    "the\n"
    "model has no price.\n"
    "\n"
    "  --since T       requests since then: 90m, 24h, 7d ago, or seconds since 1970\n"
    "  --agent A       of one agent, such as codex\n"
    "  --json          one object a line\n"
    "  --store DIR     the store (default: $XDG_DATA_HOME/weir, or ~/.local/share/weir)\n"
    "  --config FILE   your prices (docs/models.md)\n"
    "\n"
    "example: weir sessions --since 24h\n";

struct sessions_options {
    const char *store, *since, *agent, *config;
    bool as_json;
};

struct listed {
    struct wr_ledger_session session;
    struct wr_tally tally;
};

struct listing {
    struct wr_arena arena;
    struct listed *items; /* in the arena */
    size_t count, cap;
    struct wr_tallier *tallier;
    int64_t since_ms;
    struct wr_tally *tally; /* of the session that is being read */
    struct wr_buf out;
};

/* ---- reading ---- */

static weir_status on_session(void *user, const struct wr_ledger_session *session)
{
    struct listing *l = user;

    if (!session->session.len)
        return WEIR_OK; /* what names no session is none */
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct listed *items = WR_ARENA_ARRAY(&l->arena, struct listed, cap);
        if (!items)
            return wr_arena_status(&l->arena);
        if (l->count)
            memcpy(items, l->items, l->count * sizeof(*items));
        l->items = items;
        l->cap = cap;
    }
    struct listed *item = &l->items[l->count++];
    *item = (struct listed){.session = *session};
    item->session.tenant = wr_arena_copy(&l->arena, session->tenant);
    item->session.session = wr_arena_copy(&l->arena, session->session);
    item->session.agent = wr_arena_copy(&l->arena, session->agent);
    item->session.model = wr_arena_copy(&l->arena, session->model);
    return wr_arena_status(&l->arena);
}

/* What came before --since is not counted, but the cache knows it. */
static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct listing *l = user;
    struct wr_tally *tallies[] = {l->tally};
    weir_status status =
        wr_tallier_add(l->tallier, row, tallies, row->time_ms >= l->since_ms ? 1 : 0);
    return status == WEIR_SYNTAX ? WEIR_OK : status;
}

static weir_status read_all(struct wr_ledger *ledger, const struct sessions_options *o,
                            struct listing *l, struct weir_err *err)
{
    struct wr_ledger_filter filter = {.since_ms = l->since_ms,
                                      .agent = o->agent ? wr_span_of(o->agent) : WR_LIT("")};
    weir_status status = wr_ledger_sessions(ledger, &filter, on_session, l, err);

    for (size_t i = 0; i < l->count && !status; i++) {
        struct wr_ledger_filter one = {.tenant = l->items[i].session.tenant,
                                       .session = l->items[i].session.session};
        l->tally = &l->items[i].tally;
        status = wr_ledger_each(ledger, &one, on_row, l, err);
    }
    return status;
}

/* ---- output ---- */

static void put_json(struct listing *l, const struct listed *item)
{
    const struct wr_ledger_session *s = &item->session;
    const struct {
        const char *key;
        weir_span text;
    } names[] = {
        {"session", s->session}, {"tenant", s->tenant}, {"agent", s->agent}, {"model", s->model}};
    struct wr_json_writer w;

    wr_json_write_init(&w, &l->out);
    wr_json_write_object(&w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        wr_json_write_key(&w, names[i].key);
        wr_json_write_text(&w, names[i].text);
    }
    wr_json_write_key(&w, "first_ms");
    wr_json_write_i64(&w, s->first_ms);
    wr_json_write_key(&w, "last_ms");
    wr_json_write_i64(&w, s->last_ms);
    wr_tally_write_json(&item->tally, &w);
    wr_json_write_object_end(&w);
    wr_buf_byte(&l->out, '\n');
}

static size_t columns_of(weir_span text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.len; i++)
        columns += (text.ptr[i] & 0xC0) != 0x80;
    return columns;
}

/* Names come from headers: control bytes do not reach the terminal. */
static void put_cell(struct wr_buf *out, weir_span text, size_t width)
{
    struct wr_buf cell;

    wr_buf_init(&cell, 4096);
    wr_cli_excerpt(&cell, text.len ? text : WR_LIT("-"), width - 1);
    wr_buf_append(out, wr_buf_view(&cell));
    for (size_t i = columns_of(wr_buf_view(&cell)); i < width + 2; i++)
        wr_buf_byte(out, ' ');
    wr_buf_release(&cell);
}

static void put_money(struct wr_buf *out, const struct wr_tally *t)
{
    if (t->unpriced_count == t->requests_count) {
        wr_buf_text(out, "?");
        return;
    }
    if (t->estimated_count || t->unpriced_count)
        wr_buf_byte(out, '~');
    wr_cli_put_money(out, (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd);
    wr_buf_text(out, " of ");
    wr_cli_put_money(out, (int64_t)t->unchanged_micro_usd);
}

static void put_busts(struct wr_buf *out, const struct wr_tally *t)
{
    const char *between = "";
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        if (!t->busts[i])
            continue;
        wr_buf_printf(out, "%s%llu %s", between, (unsigned long long)t->busts[i],
                      wr_bust_name((enum wr_bust)i));
        between = ", ";
    }
    if (!*between)
        wr_buf_text(out, "none");
}

static void put_line(struct listing *l, const struct listed *item)
{
    const struct wr_tally *t = &item->tally;
    struct wr_buf *out = &l->out;
    struct wr_buf cell;

    put_cell(out, item->session.session, 30);
    put_cell(out, item->session.agent, 13);
    put_cell(out, item->session.model, 20);
    wr_buf_printf(out, "%8s  ", wr_cli_number(t->requests_count));
    wr_buf_init(&cell, 256);
    wr_cli_put_ago(&cell, item->session.last_ms);
    put_cell(out, wr_buf_view(&cell), 8);
    wr_buf_printf(out, "%12s → %-12s ", wr_cli_number(t->raw_tokens),
                  wr_cli_number(t->sent_tokens));
    wr_buf_reset(&cell);
    put_money(&cell, t);
    put_cell(out, wr_buf_view(&cell), 20);
    wr_buf_release(&cell);
    put_busts(out, t);
    wr_buf_byte(out, '\n');
}

static int print(struct listing *l, bool as_json)
{
    if (!as_json && l->count)
        wr_buf_printf(&l->out, "%-32s%-15s%-22s%8s  %-10s%12s   %-12s %-22s%s\n", "session",
                      "agent", "model", "requests", "ago", "tokens came", "sent", "saved", "busts");
    for (size_t i = 0; i < l->count; i++) {
        if (as_json)
            put_json(l, &l->items[i]);
        else
            put_line(l, &l->items[i]);
    }
    if (!as_json && !l->count)
        wr_buf_text(&l->out, "no sessions; `weir serve` keeps them\n");
    if (wr_buf_status(&l->out))
        return wr_cli_fail("sessions", "%s", weir_status_text(wr_buf_status(&l->out)));
    return wr_cli_write("sessions", wr_buf_view(&l->out)) ? WR_EXIT_OK : WR_EXIT_USAGE;
}

static int run(struct wr_ledger *ledger, const struct wr_models *models,
               const struct sessions_options *o, int64_t since_ms)
{
    struct listing l = {.since_ms = since_ms, .tallier = wr_tallier_new(models)};
    struct weir_err err = {0};
    int code;

    wr_arena_init(&l.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&l.out, WR_OUTPUT_BYTES_MAX);
    if (!l.tallier)
        code = wr_cli_fail("sessions", "%s", weir_status_text(WEIR_NOMEM));
    else if (read_all(ledger, o, &l, &err))
        code = wr_cli_fail("sessions", "%s", err.text);
    else
        code = print(&l, o->as_json);
    wr_tallier_free(l.tallier);
    wr_buf_release(&l.out);
    wr_arena_release(&l.arena);
    return code;
}

int wr_cmd_sessions(int argc, char **argv)
{
    struct sessions_options o = {.as_json = false};
    const struct wr_opt options[] = {{"store", WR_OPT_TEXT, &o.store},
                                     {"since", WR_OPT_TEXT, &o.since},
                                     {"agent", WR_OPT_TEXT, &o.agent},
                                     {"config", WR_OPT_TEXT, &o.config},
                                     {"json", WR_OPT_FLAG, &o.as_json}};
    struct wr_opt_list rest = {.count = 0};
    int64_t since_ms = 0;
    bool done;
    int code = WR_EXIT_USAGE;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count)
        return wr_cli_fail("sessions", "takes no '%s'; `weir context SESSION` shows one",
                           rest.items[0]);
    if (o.since && !wr_cli_since("sessions", o.since, &since_ms))
        return WR_EXIT_USAGE;
    struct wr_models *models = wr_cli_models("sessions", o.config);
    struct wr_ledger *ledger = models ? wr_cli_ledger("sessions", o.store) : NULL;
    if (ledger)
        code = run(ledger, models, &o, since_ms);
    wr_ledger_close(ledger);
    wr_models_free(models);
    return code;
}
