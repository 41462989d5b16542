/* spend.h -- what users and teams have used: requests, tokens and money, by minute, day and month.
 *
 * A request is counted twice: when it is let in, with the most that it can cost, and when it is
 * over, with what it did cost. In between its most is held.
 *
 *            reserve: used += most, held += most        settle: used += real - most, held -= most
 *   (none) ─────────────────────────────────────▶ HELD ──────────────────────────────▶ (gone)
 *      │                                            │
 *      │ reserve: a limit would be passed           │ expire: held -= most; `used` keeps the most,
 *      ▼ (nothing is counted)                       ▼ for nobody knows what it did cost
 *   refused                                       (gone)
 *
 * 1. used >= held, of everything, always. `used` never passes a limit by a reservation; only by a
 *    request that cost more than its most.
 * 2. Each call is all or nothing, in the store: what a process was told holds after its death, on
 *    every node. A ticket is reserved once and settled once, however often that is asked.
 * 3. A request belongs to the periods in which it was let in, whenever it ends. Periods are those
 *    of the calendar in UTC.
 */
#ifndef WR_STORE_SPEND_H
#define WR_STORE_SPEND_H

#include "store/ledger.h"

enum wr_spend_period { WR_SPEND_MINUTE, WR_SPEND_DAY, WR_SPEND_MONTH, WR_SPEND_PERIODS };

enum wr_spend_kind {
    WR_SPEND_REQUESTS,
    WR_SPEND_TOKENS,
    WR_SPEND_MONEY, /* micro_usd */
    WR_SPEND_KINDS
};

enum { WR_SPEND_SCOPES_MAX = 2, WR_SPEND_TICKET_BYTES = 16 };

#define WR_SPEND_NO_LIMIT INT64_MAX

const char *wr_spend_period_name(enum wr_spend_period period); /* "minute" */

/* When the period that a moment is in began, and when the next one begins. */
int64_t wr_spend_start_ms(enum wr_spend_period period, int64_t now_ms);
int64_t wr_spend_end_ms(enum wr_spend_period period, int64_t now_ms);

/* What one counter says: of one user or team, in one period. */
struct wr_spent {
    int64_t used[WR_SPEND_KINDS], held[WR_SPEND_KINDS]; /* of requests none are held */
};

/* Whose counters a request goes to. */
struct wr_spend_scope {
    weir_span name; /* such as "user:anna" */
    int64_t limits[WR_SPEND_PERIODS][WR_SPEND_KINDS];
};

struct wr_spend_request {
    unsigned char ticket[WR_SPEND_TICKET_BYTES]; /* unlike any other's */
    int64_t now_ms;
    struct wr_spend_scope scopes[WR_SPEND_SCOPES_MAX]; /* on all nodes in the same order */
    size_t scopes_count;
    int64_t most[WR_SPEND_KINDS]; /* of WR_SPEND_REQUESTS: 1 */
};

struct wr_spend_verdict {
    bool is_refused;
    size_t scope; /* then: whose limit, */
    enum wr_spend_period period;
    enum wr_spend_kind kind;
    bool is_held; /* and whether it is only held: it may be free before the period ends */
    /* What the counters say now, this request among them where it was let in; of those that were
     * not looked at any more, zeroes. */
    struct wr_spent spent[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS];
};

WEIR_MUST_USE weir_status wr_ledger_reserve(struct wr_ledger *ledger,
                                            const struct wr_spend_request *request,
                                            struct wr_spend_verdict *verdict, struct weir_err *err);

/* A ticket that is not held (any more) changes nothing. */
WEIR_MUST_USE weir_status wr_ledger_settle(struct wr_ledger *ledger,
                                           const unsigned char ticket[WR_SPEND_TICKET_BYTES],
                                           int64_t tokens, int64_t micro_usd, struct weir_err *err);

/* Ends what is held since before `before_ms`, and forgets counters of periods that began before
 * `forget_ms`. `expired_count` may be NULL. */
WEIR_MUST_USE weir_status wr_ledger_expire(struct wr_ledger *ledger, int64_t before_ms,
                                           int64_t forget_ms, uint64_t *expired_count,
                                           struct weir_err *err);

/* A counter of the period that began at `start_ms` says at least what `least` has as used: it comes
 * from another store, where nothing is under way any more. */
WEIR_MUST_USE weir_status wr_ledger_raise(struct wr_ledger *ledger, weir_span scope,
                                          enum wr_spend_period period, int64_t start_ms,
                                          const struct wr_spent *least, struct weir_err *err);

/* ---- for those who keep a ledger ---- */

/* Whether `spent`, as it was before, has no room for the request; then all but the counters of the
 * verdict is filled in. */
bool wr_spend_is_over(const struct wr_spend_request *request, size_t scope,
                      enum wr_spend_period period, const struct wr_spent *spent,
                      struct wr_spend_verdict *verdict);

struct wr_db;
void wr_sqlite_reserve(struct wr_db *db, const struct wr_spend_request *request,
                       struct wr_spend_verdict *verdict);
void wr_sqlite_settle(struct wr_db *db, weir_span ticket, int64_t tokens, int64_t micro_usd);
uint64_t wr_sqlite_expire(struct wr_db *db, int64_t before_ms, int64_t forget_ms);
void wr_sqlite_raise(struct wr_db *db, weir_span scope, enum wr_spend_period period,
                     int64_t start_ms, const struct wr_spent *least);

#endif
