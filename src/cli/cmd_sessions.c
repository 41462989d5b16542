/* `weir sessions`: the conversations that went through the proxy, and what each was worth. */
#include "base/table.h"
#include "cli/open.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "ledger/context.h"

struct sessions_options {
    const char *store, *since, *agent, *config, *user, *team, *model, *upstream;
    bool as_json;
};

#define VALUES struct sessions_options

static const struct wr_option options[] = {
    WR_ROW_SINCE(since),
    {"agent", WR_TEXT("A", agent), "of one agent, such as codex",
     .words = "codex claude opencode gemini pi qwen aider"},
    {"user", WR_TEXT("NAME", user), "of one user of a gateway (docs/gateway.md)"},
    {"team", WR_TEXT("NAME", team), "of one team"},
    {"model", WR_TEXT("M", model), "that asked this model last"},
    {"upstream", WR_TEXT("NAME", upstream), "that asked this upstream last"},
    {"json", WR_FLAG(as_json), "one object a line"},
    WR_ROW_STORE(store),
    WR_ROW_PRICES(config),
};

struct listed {
    struct wr_ledger_session session;
    struct wr_tally tally;
    weir_span user, team; /* of its last request; empty: its token has no name */
    weir_span upstream;   /* the same */
};

struct listing {
    struct wr_arena arena;
    struct wr_arena row;  /* of one row */
    struct listed *items; /* in the arena */
    size_t count, cap;
    struct wr_tallier *tallier;
    int64_t since_ms;
    struct listed *item; /* that is being read */
    bool has_users;
    struct wr_buf out;
};

/* ---- reading ---- */

static weir_status on_session(void *user, const struct wr_ledger_session *session)
{
    struct listing *l = user;

    if (!session->session.len)
        return WEIR_OK; /* a row without a session's name is not counted */
    if (!WR_ARENA_ROOM(&l->arena, l->items, l->count, l->cap, 64))
        return wr_arena_status(&l->arena);
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
    struct wr_tally *tallies[] = {&l->item->tally};
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &l->row, &record);

    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status;
    if (record.user.len && !wr_span_eq(record.user, l->item->user)) {
        l->item->user = wr_arena_copy(&l->arena, record.user);
        l->item->team = wr_arena_copy(&l->arena, record.team);
        l->has_users = true;
    }
    if (record.upstream.len && !wr_span_eq(record.upstream, l->item->upstream))
        l->item->upstream = wr_arena_copy(&l->arena, record.upstream);
    return wr_tallier_add(l->tallier, row, &record, tallies, row->time_ms >= l->since_ms ? 1 : 0);
}

static weir_status read_sessions(struct wr_ledger *ledger, const struct sessions_options *o,
                                 struct listing *l, struct weir_err *err)
{
    struct wr_ledger_filter filter = {.since_ms = l->since_ms,
                                      .agent = o->agent ? wr_span_of(o->agent) : WR_LIT("")};
    weir_status status = wr_ledger_sessions(ledger, &filter, on_session, l, err);

    for (size_t i = 0; i < l->count && !status; i++) {
        struct wr_ledger_filter one = {.tenant = l->items[i].session.tenant,
                                       .session = l->items[i].session.session};
        l->item = &l->items[i];
        status = wr_ledger_each(ledger, &one, on_row, l, err);
    }
    return status;
}

/* ---- output ---- */

static void put_json(struct listing *l, const struct listed *item)
{
    const struct wr_ledger_session *s = &item->session;
    struct wr_json_writer w;

    wr_json_write_init(&w, &l->out);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "session", s->session);
    wr_json_member_text(&w, "tenant", s->tenant);
    if (item->user.len)
        wr_json_member_text(&w, "user", item->user);
    if (item->team.len)
        wr_json_member_text(&w, "team", item->team);
    wr_json_member_text(&w, "agent", s->agent);
    wr_json_member_text(&w, "model", s->model);
    wr_json_member_text(&w, "upstream", item->upstream);
    wr_json_member_i64(&w, "first_ms", s->first_ms);
    wr_json_member_i64(&w, "last_ms", s->last_ms);
    wr_tally_write_json(&item->tally, &w);
    wr_json_write_object_end(&w);
    wr_buf_byte(&l->out, '\n');
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
        /* A step of ours was planned, and paid for itself. */
        wr_buf_printf(out, "%s%s %s", between, WR_GROUPED(t->busts[i]),
                      i == WR_BUST_WEIR ? "planned" : wr_bust_name((enum wr_bust)i));
        between = ", ";
    }
    if (!*between)
        wr_buf_text(out, "none");
}

static const struct wr_table_column columns[] = {
    {"session", .cut_min = 18},
    {"user", .rank = 2, .cut_min = 8},
    {"agent", .rank = 1, .cut_min = 8},
    {"model", .cut_min = 12},
    {"requests", .is_right = true},
    {"ago", .rank = 3},
    {"tokens came", .is_right = true, .rank = 4},
    {"sent", .is_right = true, .rank = 4},
    {"saved", .cut_min = 0},
    {"cache lost", .rank = 2, .cut_min = 10},
};

static void put_row(struct wr_table *table, const struct listed *item, bool has_users)
{
    const struct wr_tally *t = &item->tally;
    struct wr_buf cell;

    wr_buf_init(&cell, WR_OUTPUT_BYTES_MAX);
    wr_session_put_short(&cell, item->session.session);
    wr_table_cell(table, wr_buf_view(&cell));
    wr_buf_reset(&cell);
    if (has_users)
        wr_table_cell(table, item->user);
    wr_table_cell(table, item->session.agent);
    wr_table_cell(table, item->session.model);
    wr_table_format(table, "%s", WR_GROUPED(t->requests_count));
    wr_cli_put_ago(&cell, item->session.last_ms);
    wr_table_cell(table, wr_buf_view(&cell));
    wr_table_format(table, "%s", WR_GROUPED(t->raw_tokens));
    wr_table_format(table, "%s", WR_GROUPED(t->sent_tokens));
    wr_buf_reset(&cell);
    put_money(&cell, t);
    wr_table_cell(table, wr_buf_view(&cell));
    wr_buf_reset(&cell);
    put_busts(&cell, t);
    wr_table_cell(table, wr_buf_view(&cell));
    wr_buf_release(&cell);
}

/* The column of users is there where there are some. */
static void take_columns(bool has_users, struct wr_table_column taken[WR_COUNT_OF(columns)])
{
    for (size_t i = 0, at = 0; i < WR_COUNT_OF(columns); i++)
        if (i != 1 || has_users)
            taken[at++] = columns[i];
}

static bool is_wanted(const struct listed *item, const struct sessions_options *o)
{
    return (!o->user || wr_span_is(item->user, o->user)) &&
           (!o->team || wr_span_is(item->team, o->team)) &&
           (!o->model || wr_span_is(item->session.model, o->model)) &&
           (!o->upstream || wr_span_is(item->upstream, o->upstream));
}

static bool is_narrowed(const struct sessions_options *o)
{
    return o->since || o->agent || o->user || o->team || o->model || o->upstream;
}

static int print_sessions(struct listing *l, const struct sessions_options *o)
{
    struct wr_table_column taken[WR_COUNT_OF(columns)];
    struct wr_table table;
    size_t count = 0;
    bool as_json = o->as_json;

    take_columns(l->has_users, taken);
    wr_table_init(&table, taken, WR_COUNT_OF(columns) - !l->has_users, &l->arena);
    for (size_t i = 0; i < l->count; i++) {
        if (!is_wanted(&l->items[i], o))
            continue;
        count++;
        if (as_json)
            put_json(l, &l->items[i]);
        else
            put_row(&table, &l->items[i], l->has_users);
    }
    if (!as_json && count)
        wr_table_print(&table, wr_cli_columns_told(), &l->out);
    if (!as_json && !count)
        wr_buf_text(&l->out, is_narrowed(o)
                                 ? "no session fits all of that; `weir sessions` alone lists them\n"
                                 : "no sessions; `weir serve` keeps them\n");
    return wr_cli_end(&l->out, WR_EXIT_OK);
}

static int list_sessions(const struct wr_books *books, const struct sessions_options *o,
                         int64_t since_ms)
{
    struct listing l = {.since_ms = since_ms, .tallier = wr_tallier_new(books->models)};
    struct weir_err err = {0};
    int code;

    wr_arena_init(&l.arena, WR_ARENA_BYTES_MAX);
    wr_arena_init(&l.row, WR_ARENA_BYTES_MAX);
    wr_buf_init(&l.out, WR_OUTPUT_BYTES_MAX);
    weir_status status = l.tallier ? read_sessions(books->ledger, o, &l, &err) : WEIR_NOMEM;
    code = status ? wr_cli_fail_status(status, &err) : print_sessions(&l, o);
    wr_tallier_free(l.tallier);
    wr_buf_release(&l.out);
    wr_arena_release(&l.row);
    wr_arena_release(&l.arena);
    return code;
}

static int run_sessions(void *values, const struct wr_words *words)
{
    const struct sessions_options *o = values;
    struct wr_books books;
    int64_t since_ms;
    int code = WR_EXIT_USAGE;

    (void)words;
    if (!wr_cli_since(o->since, &since_ms))
        return WR_EXIT_USAGE;
    if (wr_books_open(&books, o->store, o->config))
        code = list_sessions(&books, o, since_ms);
    wr_books_close(&books);
    return code;
}

const struct wr_command wr_cmd_sessions = {
    .name = "sessions",
    .purpose = "what went through the proxy, and what it was worth",
    .usage = "[OPTIONS]",
    .about = "Lists the sessions that went through `weir serve`, the most recently used first: "
             "requests, tokens as they came and as they were sent, and what was saved, net: the "
             "provider's usage at the model's prices beside what the same requests would have cost "
             "unchanged (docs/telemetry.md has the sums). A `~` says that some requests gave no "
             "usage; a `?` that the model has no price. `weir context SESSION` shows one.",
    WR_OPTIONS(options),
    .wants = "`weir context SESSION` shows one",
    .example = "weir sessions --since 24h",
    .run = run_sessions,
};
