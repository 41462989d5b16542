/* traffic.h -- what went through the proxy, as JSON: `/weir/v1/traffic...` (docs/page.md).
 *
 *   GET /weir/v1/traffic              how it goes: sums, agents, models, hours, what is kept
 *   GET /weir/v1/traffic/sessions     a page of the sessions, filtered and sorted
 *   GET /weir/v1/traffic/session      one of them, with all its requests
 *   GET /weir/v1/traffic/request      one request before and after
 *   GET /weir/v1/traffic/text         a part of it, whole, as plain text
 *   GET /weir/v1/traffic/original     what a handle stands for, as plain text
 *   GET /weir/v1/traffic/originals    what was taken out of a session, and who asked for it
 *   GET /weir/v1/traffic/search       lines of those that match
 *   GET /weir/v1/traffic/busts        requests whose cache was broken, and what to change
 *   GET /weir/v1/traffic/rows         rows behind a number, for the tail
 *
 * 1. A tenant sees its own alone.
 * 2. Errors are {"error":{"message":...}}, with the HTTP status.
 * 3. It only reads, and keeps nothing of what was said but the first words of sessions.
 */
#ifndef WR_TRAFFIC_TRAFFIC_H
#define WR_TRAFFIC_TRAFFIC_H

#include "base/buf.h"
#include "models/registry.h"
#include "store/ledger.h"

struct wr_traffic;

/* What a server says of itself. Texts outlive the call. */
struct wr_traffic_facts {
    const char *mode, *policy, *trouble; /* trouble: of the store; NULL: none */
    bool keeps_transcripts;
    uint64_t transcripts_skipped;
    bool plays;      /* sessions under other policies */
    bool is_serving; /* else: it is read without a server, as by `weir report` */
};

struct wr_traffic_call {
    weir_span tenant;
    weir_span path;  /* behind /weir/v1/traffic */
    weir_span query; /* behind its `?`; may be empty */
    int64_t now_ms;
    struct wr_traffic_facts facts;
};

struct wr_traffic_answer {
    int status;       /* HTTP */
    const char *type; /* of the content */
    struct wr_buf *body;
};

#define WR_TRAFFIC_JSON "application/json"
#define WR_TRAFFIC_TEXT "text/plain; charset=utf-8"

/* `store_dir` and `models` are borrowed. The store is opened when it is first asked. NULL: out of
 * memory. */
struct wr_traffic *wr_traffic_new(const char *store_dir, const struct wr_models *models);
void wr_traffic_free(struct wr_traffic *traffic); /* NULL is fine */

/* Fills in the status and the type, and appends to the body. */
void wr_traffic_ask(struct wr_traffic *traffic, const struct wr_traffic_call *call,
                    struct wr_traffic_answer *answer);

/* The newest prompt of a session as it came, as a log (export.h), and the model that it asked.
 * WEIR_NOTFOUND: what it said was not kept. */
WEIR_MUST_USE weir_status wr_traffic_log(struct wr_traffic *traffic, weir_span tenant,
                                         weir_span session, struct wr_buf *log, char *model,
                                         size_t model_bytes, struct weir_err *err);

/* The number of the newest row; for a stream that begins now. */
WEIR_MUST_USE weir_status wr_traffic_newest(struct wr_traffic *traffic, int64_t *id,
                                            struct weir_err *err);

/* Calls `row` for every row of all tenants behind `after_id`. */
WEIR_MUST_USE weir_status wr_traffic_follow(struct wr_traffic *traffic, int64_t after_id,
                                            wr_ledger_row_fn *row, void *user,
                                            struct weir_err *err);

#endif
