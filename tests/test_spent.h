/* test_spent.h -- for tests: what a counter of one user or team says.
 *
 * It is asked as a request asks: one that is refused for a period is told its counter as it is, and
 * changes none.
 */
#ifndef WR_TESTS_TEST_SPENT_H
#define WR_TESTS_TEST_SPENT_H

#include "base/span.h"
#include "store/spend.h"

static inline struct wr_spent wr_test_spent(struct wr_ledger *ledger, const char *scope,
                                            enum wr_spend_period period, int64_t now_ms)
{
    struct wr_spend_request r = {.ticket = "nobody's", .now_ms = now_ms, .scopes_count = 1};
    struct wr_spend_verdict verdict;

    r.scopes[0].name = wr_span_of(scope);
    for (int p = 0; p < WR_SPEND_PERIODS; p++)
        for (int k = 0; k < WR_SPEND_KINDS; k++)
            r.scopes[0].limits[p][k] = WR_SPEND_NO_LIMIT;
    r.scopes[0].limits[period][WR_SPEND_REQUESTS] = 0;
    assert_int_equal(wr_ledger_reserve(ledger, &r, &verdict, NULL), WEIR_OK);
    assert_true(verdict.is_refused);
    return verdict.spent[0][period];
}

#endif
