#include "store/spend.h"

#include "base/calendar.h"
#include "base/err.h"
#include "base/limits.h"
#include "store/ledger_host.h"

enum { MINUTE_MS = 60 * 1000 };

const char *wr_spend_period_name(enum wr_spend_period period)
{
    static const char *const names[WR_SPEND_PERIODS] = {"minute", "day", "month"};
    return names[period];
}

int64_t wr_spend_start_ms(enum wr_spend_period period, int64_t now_ms)
{
    if (period == WR_SPEND_MONTH) {
        struct wr_date date = wr_date_of(now_ms);
        date.day = 1;
        return wr_date_ms(date);
    }
    return now_ms - now_ms % (period == WR_SPEND_DAY ? WR_DAY_MS : MINUTE_MS);
}

int64_t wr_spend_end_ms(enum wr_spend_period period, int64_t now_ms)
{
    if (period == WR_SPEND_MONTH) {
        struct wr_date date = wr_date_of(now_ms);
        date.day = 1;
        date.month++;
        return wr_date_ms(date);
    }
    return wr_spend_start_ms(period, now_ms) + (period == WR_SPEND_DAY ? WR_DAY_MS : MINUTE_MS);
}

/* What is used up is used up, even for a request of which nobody knows what it costs. */
bool wr_spend_is_over(const struct wr_spend_request *request, size_t scope,
                      enum wr_spend_period period, const struct wr_spent *spent,
                      struct wr_spend_verdict *verdict)
{
    for (int kind = 0; kind < WR_SPEND_KINDS; kind++) {
        int64_t limit = request->scopes[scope].limits[period][kind];
        int64_t used = spent->used[kind], most = request->most[kind];
        if (limit == WR_SPEND_NO_LIMIT || (used < limit && most <= limit - used))
            continue;
        int64_t settled = used - spent->held[kind];
        verdict->is_refused = true;
        verdict->scope = scope;
        verdict->period = period;
        verdict->kind = (enum wr_spend_kind)kind;
        verdict->is_held = settled < limit && most <= limit - settled;
        return true;
    }
    return false;
}

weir_status wr_ledger_reserve(struct wr_ledger *ledger, const struct wr_spend_request *request,
                              struct wr_spend_verdict *verdict, struct weir_err *err)
{
    *verdict = (struct wr_spend_verdict){.is_refused = false};
    for (size_t i = 0; i < request->scopes_count; i++)
        if (!request->scopes[i].name.len || request->scopes[i].name.len > WR_STORE_NAME_BYTES_MAX)
            return wr_fail(err, WEIR_INVALID, 0, "a scope has no name, or too long a one");
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        if (request->most[i] < 0 || request->most[i] > INT64_MAX / 4)
            return wr_fail(err, WEIR_INVALID, 0, "a request cannot cost that");
    return ledger->ops->reserve(ledger, request, verdict, err);
}

weir_status wr_ledger_settle(struct wr_ledger *ledger,
                             const unsigned char ticket[WR_SPEND_TICKET_BYTES], int64_t tokens,
                             int64_t micro_usd, struct weir_err *err)
{
    if (tokens < 0 || micro_usd < 0 || tokens > INT64_MAX / 4 || micro_usd > INT64_MAX / 4)
        return wr_fail(err, WEIR_INVALID, 0, "a request cannot have cost that");
    return ledger->ops->settle(ledger, (weir_span){(const char *)ticket, WR_SPEND_TICKET_BYTES},
                               tokens, micro_usd, err);
}

weir_status wr_ledger_expire(struct wr_ledger *ledger, int64_t before_ms, int64_t forget_ms,
                             uint64_t *expired_count, struct weir_err *err)
{
    uint64_t count = 0;
    weir_status status = ledger->ops->expire(ledger, before_ms, forget_ms, &count, err);

    if (expired_count)
        *expired_count = count;
    return status;
}

weir_status wr_ledger_raise(struct wr_ledger *ledger, weir_span scope, enum wr_spend_period period,
                            int64_t start_ms, const struct wr_spent *least, struct weir_err *err)
{
    return ledger->ops->raise(ledger, scope, period, start_ms, least, err);
}
