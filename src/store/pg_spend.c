/* pg_spend.c -- what users and teams have used (spend.h), in PostgreSQL.
 *
 * A reservation and its end are one statement each (data/postgres/3.sql), so a node that dies has
 * done it or has not. A statement whose answer was lost is made again: the ticket says that it was
 * done. What is left by nodes that died is ended one ticket at a time, because a transaction that
 * held counters of many users would wait for others, and they for it. */
#include "store/spend.h"

#include "base/limits.h"
#include "base/span.h"
#include "store/pg.h"

enum { SCOPES, STARTS, LIMITS };

static void give_arrays(struct wr_pg *pg, const struct wr_spend_request *r, struct wr_pg_args *args)
{
    struct wr_buf *scopes = wr_pg_array_of(pg, SCOPES, WR_PG_BYTES, r->scopes_count);
    struct wr_buf *starts = wr_pg_array_of(pg, STARTS, WR_PG_NUMBER, WR_SPEND_PERIODS);
    struct wr_buf *limits = wr_pg_array_of(pg, LIMITS, WR_PG_NUMBER,
                                           r->scopes_count * WR_SPEND_PERIODS * WR_SPEND_KINDS);

    for (int p = 0; p < WR_SPEND_PERIODS; p++)
        wr_pg_item_number(starts, wr_spend_start_ms((enum wr_spend_period)p, r->now_ms));
    for (size_t s = 0; s < r->scopes_count; s++) {
        wr_pg_item(scopes, r->scopes[s].name);
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            for (int k = 0; k < WR_SPEND_KINDS; k++)
                wr_pg_item_number(limits, r->scopes[s].limits[p][k]);
    }
    wr_pg_give_array(pg, args, SCOPES);
    wr_pg_give_array(pg, args, STARTS);
    wr_pg_give_array(pg, args, LIMITS);
}

static struct wr_spent read_spent(const struct wr_pg_link *link, int row)
{
    struct wr_spent spent = {.used = {0}};

    for (int i = 0; i < WR_SPEND_KINDS; i++)
        spent.used[i] = wr_pg_get_number(link, row, 1 + i);
    spent.held[WR_SPEND_TOKENS] = wr_pg_get_number(link, row, 4);
    spent.held[WR_SPEND_MONEY] = wr_pg_get_number(link, row, 5);
    return spent;
}

weir_status wr_pg_reserve(struct wr_pg *pg, const struct wr_spend_request *r,
                          struct wr_spend_verdict *verdict, struct weir_err *err)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_bytes(&args, (weir_span){(const char *)r->ticket, WR_SPEND_TICKET_BYTES});
    wr_pg_number(&args, r->now_ms);
    give_arrays(pg, r, &args);
    wr_pg_number(&args, r->most[WR_SPEND_TOKENS]);
    wr_pg_number(&args, r->most[WR_SPEND_MONEY]);
    do
        (void)wr_pg_run_often(&pg->link, "SELECT * FROM weir.reserve_1($1, $2, $3, $4, $5, $6, $7)",
                              &args);
    while (wr_pg_again(&pg->link));
    weir_status status = wr_pg_end(pg, err);
    int rows = status ? 0 : wr_pg_rows(&pg->link);
    for (int i = 0; i < rows && i < WR_SPEND_SCOPES_MAX * WR_SPEND_PERIODS; i++) {
        size_t scope = (size_t)i / WR_SPEND_PERIODS;
        enum wr_spend_period period = (enum wr_spend_period)(i % WR_SPEND_PERIODS);
        verdict->spent[scope][period] = read_spent(&pg->link, i);
        if (wr_pg_get_number(&pg->link, i, 0))
            (void)wr_spend_is_over(r, scope, period, &verdict->spent[scope][period], verdict);
    }
    return status;
}

weir_status wr_pg_settle(struct wr_pg *pg, weir_span ticket, int64_t tokens, int64_t micro_usd,
                         struct weir_err *err)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_bytes(&args, ticket);
    wr_pg_number(&args, tokens);
    wr_pg_number(&args, micro_usd);
    do
        (void)wr_pg_run_often(&pg->link, "SELECT weir.settle_1($1, $2, $3)", &args);
    while (wr_pg_again(&pg->link));
    return wr_pg_end(pg, err);
}

/* The ticket of one that is held since before; false: there is none, or it failed. */
static bool find_old(struct wr_pg *pg, int64_t before_ms, char ticket[WR_SPEND_TICKET_BYTES])
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_number(&args, before_ms);
    do
        (void)wr_pg_run(&pg->link, "SELECT ticket FROM weir.spend_hold WHERE time_ms < $1 LIMIT 1",
                        &args);
    while (wr_pg_again(&pg->link));
    if (pg->link.status || !wr_pg_rows(&pg->link) ||
        wr_pg_get(&pg->link, 0, 0).len != WR_SPEND_TICKET_BYTES)
        return false;
    memcpy(ticket, wr_pg_get(&pg->link, 0, 0).ptr, WR_SPEND_TICKET_BYTES);
    return true;
}

weir_status wr_pg_expire(struct wr_pg *pg, int64_t before_ms, int64_t forget_ms,
                         uint64_t *expired_count, struct weir_err *err)
{
    char ticket[WR_SPEND_TICKET_BYTES];
    struct wr_pg_args args = {.count = 0};
    weir_status status = WEIR_OK;

    while (!status && find_old(pg, before_ms, ticket)) {
        status = wr_pg_settle(pg, (weir_span){ticket, sizeof(ticket)}, -1, -1, err);
        *expired_count += !status;
    }
    if (status)
        return status;
    wr_pg_start(&pg->link);
    wr_pg_number(&args, forget_ms);
    do
        (void)wr_pg_run(&pg->link, "DELETE FROM weir.spend WHERE start_ms < $1", &args);
    while (wr_pg_again(&pg->link));
    return wr_pg_end(pg, err);
}

weir_status wr_pg_raise(struct wr_pg *pg, weir_span scope, enum wr_spend_period period,
                        int64_t start_ms, const struct wr_spent *least, struct weir_err *err)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, scope);
    wr_pg_number(&args, (int64_t)period);
    wr_pg_number(&args, start_ms);
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        wr_pg_number(&args, least->used[i]);
    wr_pg_start(&pg->link);
    do
        (void)wr_pg_run(&pg->link,
                        "INSERT INTO weir.spend AS x VALUES($1, $2, $3, $4, $5, $6, 0, 0)"
                        " ON CONFLICT (scope, period, start_ms) DO UPDATE SET"
                        " requests = greatest(x.requests, excluded.requests),"
                        " tokens = greatest(x.tokens, excluded.tokens),"
                        " micro_usd = greatest(x.micro_usd, excluded.micro_usd)",
                        &args);
    while (wr_pg_again(&pg->link));
    return wr_pg_end(pg, err);
}
