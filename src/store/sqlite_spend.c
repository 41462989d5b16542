/* sqlite_spend.c -- what users and teams have used (spend.h), in the tables of a SQLite store.
 *
 * The caller has begun a transaction that writes, so counters are read and changed under its lock.
 * A request that is refused has changed nothing when it is found out: all counters are looked at
 * before the first is written. */
#include "store/spend.h"

#include "base/limits.h"
#include "base/span.h"
#include "store/db.h"

static struct wr_spent read_counter(struct wr_db *db, weir_span scope, enum wr_spend_period period,
                                    int64_t start_ms)
{
    sqlite3_stmt *read =
        wr_db_use(db, WR_SQL_SPEND_READ,
                  "SELECT requests, tokens, micro_usd, held_tokens, held_micro_usd FROM spend"
                  " WHERE scope = ?1 AND period = ?2 AND start_ms = ?3");
    struct wr_spent spent = {.used = {0}};

    wr_db_bind_text(db, read, 1, scope);
    wr_db_bind_number(db, read, 2, period);
    wr_db_bind_number(db, read, 3, start_ms);
    if (wr_db_next(db, read)) {
        for (int i = 0; i < WR_SPEND_KINDS; i++)
            spent.used[i] = sqlite3_column_int64(read, i);
        spent.held[WR_SPEND_TOKENS] = sqlite3_column_int64(read, 3);
        spent.held[WR_SPEND_MONEY] = sqlite3_column_int64(read, 4);
    }
    wr_db_done(read);
    return spent;
}

/* Adds to a counter, which is made where there is none. */
static void add_counter(struct wr_db *db, weir_span scope, enum wr_spend_period period,
                        int64_t start_ms, const struct wr_spent *more)
{
    sqlite3_stmt *add = wr_db_use(
        db, WR_SQL_SPEND_ADD,
        "INSERT INTO spend(scope, period, start_ms, requests, tokens, micro_usd, held_tokens,"
        " held_micro_usd) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET"
        " requests = requests + excluded.requests, tokens = tokens + excluded.tokens,"
        " micro_usd = micro_usd + excluded.micro_usd,"
        " held_tokens = held_tokens + excluded.held_tokens,"
        " held_micro_usd = held_micro_usd + excluded.held_micro_usd");

    wr_db_bind_text(db, add, 1, scope);
    wr_db_bind_number(db, add, 2, period);
    wr_db_bind_number(db, add, 3, start_ms);
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        wr_db_bind_number(db, add, 4 + i, more->used[i]);
    wr_db_bind_number(db, add, 7, more->held[WR_SPEND_TOKENS]);
    wr_db_bind_number(db, add, 8, more->held[WR_SPEND_MONEY]);
    wr_db_run(db, add);
}

static void hold(struct wr_db *db, const struct wr_spend_request *r)
{
    sqlite3_stmt *add =
        wr_db_use(db, WR_SQL_SPEND_HOLD,
                  "INSERT INTO spend_hold(ticket, time_ms, scope_1, scope_2, tokens,"
                  " micro_usd) VALUES(?1, ?2, ?3, ?4, ?5, ?6)");

    wr_db_bind_blob(db, add, 1, (weir_span){(const char *)r->ticket, WR_SPEND_TICKET_BYTES});
    wr_db_bind_number(db, add, 2, r->now_ms);
    for (int i = 0; i < WR_SPEND_SCOPES_MAX; i++)
        wr_db_bind_text(db, add, 3 + i,
                        (size_t)i < r->scopes_count ? r->scopes[i].name : WR_LIT(""));
    wr_db_bind_number(db, add, 5, r->most[WR_SPEND_TOKENS]);
    wr_db_bind_number(db, add, 6, r->most[WR_SPEND_MONEY]);
    wr_db_run(db, add);
}

static bool is_held(struct wr_db *db, weir_span ticket)
{
    sqlite3_stmt *find =
        wr_db_use(db, WR_SQL_SPEND_FIND, "SELECT 1 FROM spend_hold WHERE ticket = ?1");
    wr_db_bind_blob(db, find, 1, ticket);
    bool is_found = wr_db_next(db, find);
    wr_db_done(find);
    return is_found;
}

void wr_sqlite_reserve(struct wr_db *db, const struct wr_spend_request *r,
                       struct wr_spend_verdict *verdict)
{
    struct wr_spent more = {.used = {0}};
    bool is_again = is_held(db, (weir_span){(const char *)r->ticket, WR_SPEND_TICKET_BYTES});

    for (int i = 0; i < WR_SPEND_KINDS; i++) {
        more.used[i] = r->most[i];
        more.held[i] = i == WR_SPEND_REQUESTS ? 0 : r->most[i];
    }
    for (size_t s = 0; s < r->scopes_count; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++) {
            enum wr_spend_period period = (enum wr_spend_period)p;
            struct wr_spent *spent = &verdict->spent[s][p];
            *spent =
                read_counter(db, r->scopes[s].name, period, wr_spend_start_ms(period, r->now_ms));
            if (!is_again && wr_spend_is_over(r, s, period, spent, verdict))
                return;
        }
    if (is_again)
        return;
    hold(db, r);
    for (size_t s = 0; s < r->scopes_count; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++) {
            enum wr_spend_period period = (enum wr_spend_period)p;
            add_counter(db, r->scopes[s].name, period, wr_spend_start_ms(period, r->now_ms), &more);
            for (int i = 0; i < WR_SPEND_KINDS; i++) {
                verdict->spent[s][p].used[i] += more.used[i];
                verdict->spent[s][p].held[i] += more.held[i];
            }
        }
}

/* What is held by a ticket, taken out. */
struct held {
    int64_t time_ms, tokens, micro_usd;
    char scopes[WR_SPEND_SCOPES_MAX][WR_STORE_NAME_BYTES_MAX + 1];
};

static bool take_held(struct wr_db *db, weir_span ticket, struct held *held)
{
    sqlite3_stmt *take =
        wr_db_use(db, WR_SQL_SPEND_TAKE,
                  "DELETE FROM spend_hold WHERE ticket = ?1 RETURNING time_ms, tokens, micro_usd,"
                  " scope_1, scope_2");

    wr_db_bind_blob(db, take, 1, ticket);
    bool is_found = wr_db_next(db, take);
    if (is_found) {
        held->time_ms = sqlite3_column_int64(take, 0);
        held->tokens = sqlite3_column_int64(take, 1);
        held->micro_usd = sqlite3_column_int64(take, 2);
        for (int i = 0; i < WR_SPEND_SCOPES_MAX; i++) {
            weir_span name = wr_db_column(take, 3 + i);
            (void)snprintf(held->scopes[i], sizeof(held->scopes[i]), "%.*s", (int)name.len,
                           name.len ? name.ptr : "");
        }
    }
    wr_db_done(take);
    return is_found;
}

/* A cost of -1: as much as was held. */
static bool end_held(struct wr_db *db, weir_span ticket, int64_t tokens, int64_t micro_usd)
{
    struct held held;

    if (!take_held(db, ticket, &held))
        return false;
    struct wr_spent more = {.used = {0, tokens < 0 ? 0 : tokens - held.tokens,
                                     micro_usd < 0 ? 0 : micro_usd - held.micro_usd},
                            .held = {0, -held.tokens, -held.micro_usd}};
    for (int s = 0; s < WR_SPEND_SCOPES_MAX; s++)
        for (int p = 0; p < WR_SPEND_PERIODS && held.scopes[s][0]; p++)
            add_counter(db, wr_span_of(held.scopes[s]), (enum wr_spend_period)p,
                        wr_spend_start_ms((enum wr_spend_period)p, held.time_ms), &more);
    return true;
}

void wr_sqlite_settle(struct wr_db *db, weir_span ticket, int64_t tokens, int64_t micro_usd)
{
    (void)end_held(db, ticket, tokens, micro_usd);
}

static bool find_old(struct wr_db *db, int64_t before_ms, char ticket[WR_SPEND_TICKET_BYTES])
{
    sqlite3_stmt *find = wr_db_make(db, "SELECT ticket FROM spend_hold WHERE time_ms < ?1 LIMIT 1");
    wr_db_bind_number(db, find, 1, before_ms);
    bool is_found = wr_db_next(db, find) && wr_db_column_is(find, 0, WR_SPEND_TICKET_BYTES);
    if (is_found)
        memcpy(ticket, wr_db_column(find, 0).ptr, WR_SPEND_TICKET_BYTES);
    wr_db_drop(find);
    return is_found;
}

uint64_t wr_sqlite_expire(struct wr_db *db, int64_t before_ms, int64_t forget_ms)
{
    char ticket[WR_SPEND_TICKET_BYTES];
    uint64_t count = 0;

    while (find_old(db, before_ms, ticket) &&
           end_held(db, (weir_span){ticket, sizeof(ticket)}, -1, -1))
        count++;
    sqlite3_stmt *forget = wr_db_make(db, "DELETE FROM spend WHERE start_ms < ?1");
    wr_db_bind_number(db, forget, 1, forget_ms);
    wr_db_run(db, forget);
    wr_db_drop(forget);
    return count;
}

void wr_sqlite_raise(struct wr_db *db, weir_span scope, enum wr_spend_period period,
                     int64_t start_ms, const struct wr_spent *least)
{
    struct wr_spent spent = read_counter(db, scope, period, start_ms);
    struct wr_spent more = {.used = {0}};

    for (int i = 0; i < WR_SPEND_KINDS; i++)
        more.used[i] = least->used[i] > spent.used[i] ? least->used[i] - spent.used[i] : 0;
    add_counter(db, scope, period, start_ms, &more);
}
