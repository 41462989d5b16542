/* shares.h -- how much of the traffic is whose: counters by user, team, model, upstream and agent.
 *
 * 1. They are in the metrics' memory, which several processes share without a lock. A place is
 *    taken once and never given back; its names do not change from then on.
 * 2. Names come from clients, so there are WR_PROXY_SHARES_MAX places at most. What finds none is
 *    counted under "other", and the page of the metrics cannot grow.
 */
#ifndef WR_PROXY_SHARES_H
#define WR_PROXY_SHARES_H

#include <stdatomic.h>

#include "base/buf.h"
#include "engine/record.h"

#define WR_SHARE_LABEL_MAP(X) \
    X(user)                   \
    X(team)                   \
    X(model)                  \
    X(upstream)               \
    X(agent)

enum wr_share_token {
    WR_SHARE_INPUT,
    WR_SHARE_OUTPUT,
    WR_SHARE_READ,
    WR_SHARE_WRITE,
    WR_SHARE_KINDS
};

enum { WR_SHARE_NAME_BYTES = 64 };

struct wr_share {
    atomic_uint state; /* 0: free; 1: its names are being written; 2: it is someone's */
#define X(name) char name[WR_SHARE_NAME_BYTES];
    WR_SHARE_LABEL_MAP(X)
#undef X
    _Atomic uint64_t requests, failed, unpriced, micro_usd;
    _Atomic uint64_t tokens[WR_SHARE_KINDS];
};

struct wr_shares {
    struct wr_share items[WR_PROXY_SHARES_MAX]; /* the last: all that found no place */
};

/* A request that asked a model and is settled. */
void wr_shares_count(struct wr_shares *shares, const struct wr_record *record);

/* As Prometheus reads them. */
void wr_shares_write(const struct wr_shares *shares, struct wr_buf *out);

#endif
