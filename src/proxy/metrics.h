/* metrics.h -- counters of all workers together, as Prometheus reads them.
 *
 * They are in memory shared by the supervisor and its workers, so they go on when one is restarted,
 * and whichever worker is asked answers for all.
 */
#ifndef WR_PROXY_METRICS_H
#define WR_PROXY_METRICS_H

#include <stdatomic.h>

#include "api/api.h"
#include "base/buf.h"
#include "engine/record.h"
#include "mcp/server.h"
#include "proxy/config.h"
#include "proxy/leave.h"
#include "proxy/places.h"

/* How much of the traffic is whose: counters by user, team, model, upstream and agent.
 *
 * 1. They are in the metrics' memory, which several processes share without a lock. A place is
 *    taken once and never given back; its names do not change from then on.
 * 2. Names come from clients, so there are WR_PROXY_SHARES_MAX places at most. What finds none is
 *    counted under "other", and the page of the metrics cannot grow. */

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

/* Whether upstreams can be reached, as the requests of all workers found out.
 *
 * Nothing is asked for this: an upstream is down where the last tries of requests did not reach it,
 * and up again with the first answer, whatever that says. It is in the metrics' memory. */

enum { WR_UPSTREAM_TRIES_MIN = 3 }; /* in a row, before it is called down */

struct wr_upstream_states {
    struct wr_upstream_state {
        _Atomic uint64_t name;     /* hash; 0: free */
        _Atomic uint64_t failures; /* in a row */
        _Atomic int64_t since_ms;  /* of the first of those */
    } items[WR_PROXY_UPSTREAMS_MAX * 2];
};

void wr_upstream_state_note(struct wr_upstream_states *states, const char *name, bool is_reached,
                            int64_t now_ms);

/* Whether one is down, and since when. */
bool wr_upstream_is_down(const struct wr_upstream_states *states, const char *name,
                         int64_t *since_ms);

/* Whether any request was for it. */
bool wr_upstream_is_known(const struct wr_upstream_states *states, const char *name);

enum {
    WR_METRICS_APIS = WR_APIS_COUNT + 1, /* the first: none of them */
    WR_METRICS_CLASSES = 6,              /* of status: 0 for none, 1xx to 5xx */
    WR_METRICS_BUCKETS = 12,
    WR_METRICS_TOOLS = 3, /* of MCP */
    WR_METRICS_RESULTS = 3,
    WR_METRICS_WORKERS_MAX = 64
};

struct wr_histogram {
    _Atomic uint64_t buckets[WR_METRICS_BUCKETS + 1]; /* the last: all above */
    _Atomic uint64_t sum_us;
};

#define WR_COUNTER_MAP(X)                                                                 \
    X(request_bytes, "bytes of request bodies received")                                  \
    X(sent_bytes, "bytes of request bodies sent on")                                      \
    X(answer_bytes, "bytes of answers")                                                   \
    X(requests_read, "requests that were read")                                           \
    X(requests_changed, "requests that were sent on changed")                             \
    X(requests_held_back, "requests with a change that was not made")                     \
    X(requests_unread, "requests of a known API that went on unread")                     \
    X(deadline_hard, "requests that went as they came: their projection took too long")   \
    X(requests_refused, "requests refused before they reached an upstream")               \
    X(steps, "projections that did not extend what was sent before")                      \
    X(tokens_before, "estimated tokens of requests that were projected, as they came")    \
    X(tokens_after, "estimated tokens of the same, as they were sent")                    \
    X(shadow_tokens_before, "estimated tokens of requests in shadow")                     \
    X(shadow_tokens_after, "what they would have been")                                   \
    X(shadow_changed, "requests in shadow that would have been changed")                  \
    X(usage_unknown, "answers that gave no usage")                                        \
    X(usage_input_tokens, "input tokens as providers reported them")                      \
    X(usage_output_tokens, "output tokens as providers reported them")                    \
    X(usage_cache_read_tokens, "of the input, read from a cache")                         \
    X(usage_cache_write_tokens, "of the input, written to a cache")                       \
    X(cache_judged, "answers whose cache reads could be compared with what was expected") \
    X(cache_expected_tokens, "tokens that those were expected to read from a cache")      \
    X(mcp_requests, "messages to /mcp")                                                   \
    X(own_recalls, "calls of the recall tool that the proxy itself offers")               \
    X(own_recall_misses, "those of them that brought nothing back")                       \
    X(failed_edits, "edits whose old text was not in the file")                           \
    X(blind_edits, "of those, of a file that the model had last seen shortened")          \
    X(own_legs, "requests that went on from such calls")                                  \
    X(retries, "requests sent a second time")                                             \
    X(budget_refusals, "requests refused because of a budget")                            \
    X(budget_warnings, "requests let in above a budget that only warns")                  \
    X(budget_uncounted, "requests that the store could not count for their budget")       \
    X(clients_gone, "clients that left before their answer was complete")                 \
    X(upstream_moves, "requests whose session went on at another place of its upstream")  \
    X(upstream_failures, "upstreams that could not be reached or broke off")              \
    X(ledger_rows, "rows of requests kept in the store")                                  \
    X(ledger_rows_lost, "rows of requests that could not be kept")                        \
    X(ledger_notes_lost, "notes for a later process that could not be kept")              \
    X(log_lines_lost, "lines of the log that could not be written")                       \
    X(audit_lines_lost, "lines of the audit that could not be written")                   \
    X(transcripts_skipped, "requests that were kept without what they said")              \
    X(otel_spans, "spans that the OTLP receiver has taken")                               \
    X(otel_spans_dropped, "spans that were lost: the receiver was away or too slow")      \
    X(otel_exports_failed, "exports of spans or metrics that failed")                     \
    X(worker_restarts, "workers that died and were started anew")

struct wr_metrics {
#define X(name, help) _Atomic uint64_t name;
    WR_COUNTER_MAP(X)
#undef X
    _Atomic uint64_t requests[WR_METRICS_APIS][WR_METRICS_CLASSES];
    _Atomic uint64_t busts[WR_BUSTS_COUNT], bust_tokens[WR_BUSTS_COUNT];
    _Atomic uint64_t mcp_calls[WR_METRICS_TOOLS][WR_METRICS_RESULTS];
    _Atomic uint64_t mcp_misses[WR_MCP_MISSES_COUNT];
    _Atomic int64_t exchanges[WR_METRICS_WORKERS_MAX]; /* open now, of each worker: one that dies
                                                        * takes its own with it */
    atomic_bool has_begun;         /* a worker that serves: what it was told cannot be wrong */
    _Atomic uint32_t reloads_told; /* how often it was said that weir.yaml is to be read again */
    atomic_bool has_reloaded;      /* and some worker has done so, and found it good */
    struct wr_histogram added, first_byte, total;
    _Atomic uint64_t store_place, store_trouble; /* store_state.h */
    struct wr_departures departures;
    struct wr_places places;
    struct wr_shares shares;
    struct wr_upstream_states upstreams;
};

/* NULL: there is no memory to share. Lives as long as the processes that have it. */
struct wr_metrics *wr_metrics_new(void);

void wr_metrics_count(struct wr_metrics *metrics, const struct wr_record *record);
void wr_metrics_count_mcp(struct wr_metrics *metrics, const struct wr_mcp_answer *answer);
void wr_metrics_write(const struct wr_metrics *metrics, struct wr_buf *out);
int64_t wr_metrics_open(const struct wr_metrics *metrics); /* requests, of all workers */

#endif
