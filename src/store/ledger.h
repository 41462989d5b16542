/* ledger.h -- one row a request in the store: who asked which model, and the line of the log.
 *
 * 1. A row holds names, times and figures; never a word of what was said. Its `line` is the JSON
 *    object that the request's line in the log is (docs/telemetry.md). What was said may be kept
 *    beside it (`keep: transcript`), and leaves with it.
 * 2. Rows belong to their session: they leave with it in gc and purge.
 * 3. Rows of one session come back in the order they were added.
 *
 * A ledger is used by one thread at a time; several may be open on one directory, beside stores.
 */
#ifndef WR_STORE_LEDGER_H
#define WR_STORE_LEDGER_H

#include "weir/store.h"

struct wr_ledger;

struct wr_ledger_row {
    int64_t id;      /* rises with time; given by the ledger */
    int64_t time_ms; /* when the request came, since 1970 */
    weir_span tenant, session;
    weir_span agent; /* such as "codex"; empty: not known */
    weir_span model;
    weir_span line; /* a JSON object */
    /* What the engine did to it, as `weir why` reads it; empty: nothing. The session keeps the
     * newest one. It is not given back with rows: wr_ledger_report() reads it. */
    weir_span report;
    /* What the request said, where that is kept: its body as it came and, unless it is the same, as
     * it was sent. Not given back with rows either: wr_ledger_said() reads it. */
    weir_span came, sent;
};

struct wr_ledger_filter { /* zeroed: everything */
    weir_span tenant, session, agent;
    int64_t since_ms;
    int64_t after_id;
};

/* A failure stops the reading and is returned. `row` dies when the call returns. The function may
 * not call the ledger. */
typedef weir_status wr_ledger_row_fn(void *user, const struct wr_ledger_row *row);

struct wr_ledger_session {
    weir_span tenant, session, agent, model; /* agent and model: of its last request */
    int64_t first_ms, last_ms;
    uint64_t requests_count;
};

typedef weir_status wr_ledger_session_fn(void *user, const struct wr_ledger_session *session);

/* Opens the rows of the store in `dir`; the store is made where there is none, unless must_exist.
 * `options`, `trouble` and `err` may be NULL. */
WEIR_MUST_USE weir_status wr_ledger_open(const char *dir, const struct weir_store_options *options,
                                         struct wr_ledger **ledger, weir_trouble *trouble,
                                         struct weir_err *err);
void wr_ledger_close(struct wr_ledger *ledger);                 /* NULL is fine */
weir_trouble wr_ledger_trouble(const struct wr_ledger *ledger); /* of the last failure */

/* Keeps all of them, or none. Rows that name no session are one session together. WEIR_LIMIT: a
 * name, line or report is too long, or there are more than WR_LEDGER_ROWS_MAX. */
WEIR_MUST_USE weir_status wr_ledger_add(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                                        size_t rows_count, struct weir_err *err);

/* ---- notes: what a later process goes on from, such as the calls of an answer ----
 *
 * A note belongs to its session as rows do. Of a session the newest WR_LEDGER_NOTES_MAX stay. */

enum { WR_LEDGER_KEY_BYTES = 16 };

struct wr_ledger_note {
    weir_span tenant, session;
    unsigned char key[WR_LEDGER_KEY_BYTES]; /* the tenant's; the newest note of a key stands */
    int64_t time_ms;
    weir_span data; /* up to WR_LEDGER_NOTE_BYTES_MAX */
};

/* Rows as wr_ledger_add() keeps them, and notes: all of them, or none. */
WEIR_MUST_USE weir_status wr_ledger_keep(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                                         size_t rows_count, const struct wr_ledger_note *notes,
                                         size_t notes_count, struct weir_err *err);

/* The key of the note that a session's plan is (engine/steer.h). */
void wr_plan_key(weir_span session, unsigned char key[WR_LEDGER_KEY_BYTES]);

/* WEIR_NOTFOUND: the tenant has none of that key. `data` lives until the next call. */
WEIR_MUST_USE weir_status wr_ledger_note(struct wr_ledger *ledger, weir_span tenant,
                                         const unsigned char key[WR_LEDGER_KEY_BYTES],
                                         weir_span *data, struct weir_err *err);

/* Rows in the order of their ids. */
WEIR_MUST_USE weir_status wr_ledger_each(struct wr_ledger *ledger,
                                         const struct wr_ledger_filter *filter,
                                         wr_ledger_row_fn *row, void *user, struct weir_err *err);

/* The newest report of a session. WEIR_NOTFOUND: it has none. `report` (of which the session, the
 * time, the model and the report are set) lives until the next call. */
WEIR_MUST_USE weir_status wr_ledger_report(struct wr_ledger *ledger, weir_span tenant,
                                           weir_span session, struct wr_ledger_row *report,
                                           struct weir_err *err);

/* A request by its number; or, without one, the first or the last of a session that was kept with
 * what it said. */
struct wr_ledger_which {
    weir_span tenant, session;
    int64_t id;
    bool is_last;
};

/* The row of a request with all that was kept of it: what came, what was sent, and the report.
 * `came` is empty where that was not kept. WEIR_NOTFOUND: there is no such request. It lives until
 * the next call. */
WEIR_MUST_USE weir_status wr_ledger_said(struct wr_ledger *ledger,
                                         const struct wr_ledger_which *which,
                                         struct wr_ledger_row *said, struct weir_err *err);

/* Requests of this handle that were kept without what they said, because that failed. */
uint64_t wr_ledger_said_lost(const struct wr_ledger *ledger);

/* How many rows there are of all tenants, and the number of the first. */
WEIR_MUST_USE weir_status wr_ledger_extent(struct wr_ledger *ledger, uint64_t *rows_count,
                                           int64_t *first_id, struct weir_err *err);

/* Sessions, the most recently used first. */
WEIR_MUST_USE weir_status wr_ledger_sessions(struct wr_ledger *ledger,
                                             const struct wr_ledger_filter *filter,
                                             wr_ledger_session_fn *session, void *user,
                                             struct weir_err *err);

/* ---- what was learnt (quality/learning.h): one sample a bucket and session ---- */

struct wr_ledger_sample {
    weir_span bucket; /* its name */
    weir_span tenant, session;
    int64_t time_ms;
    bool is_bad; /* stays so once it is */
};

WEIR_MUST_USE weir_status wr_ledger_add_sample(struct wr_ledger *ledger,
                                               const struct wr_ledger_sample *sample,
                                               struct weir_err *err);

typedef weir_status wr_ledger_bucket_fn(void *user, weir_span bucket, uint64_t samples_count,
                                        uint64_t bad_count);

/* Buckets by name, each with its newest `newest_max` samples. An empty `tenant`: of all. */
WEIR_MUST_USE weir_status wr_ledger_buckets(struct wr_ledger *ledger, weir_span tenant,
                                            uint32_t newest_max, wr_ledger_bucket_fn *bucket,
                                            void *user, struct weir_err *err);

/* Forgets the samples of a bucket; of all with an empty name. */
WEIR_MUST_USE weir_status wr_ledger_forget(struct wr_ledger *ledger, weir_span bucket,
                                           struct weir_err *err);

/* ---- how providers count (models/calibrate.h): of all tenants ---- */

struct wr_ledger_calibration {
    weir_span model; /* and its server: proxy/counts.h */
    int64_t time_ms;
    uint64_t accepted_tokens; /* the largest prompt that was accepted */
    weir_span data;           /* up to WR_LEDGER_NOTE_BYTES_MAX */
};

/* Told what the ledger has of a model, NULL where it has nothing; fills in all of `changed` but its
 * model. `data` of both is borrowed: what is filled in stays until the call is over. */
typedef weir_status wr_ledger_calibrate_fn(void *user, const struct wr_ledger_calibration *stored,
                                           struct wr_ledger_calibration *changed);

/* Reads and writes in one transaction, so that no process undoes what another wrote. Of all models
 * the newest WR_LEDGER_CALIBRATIONS_MAX stay. */
WEIR_MUST_USE weir_status wr_ledger_calibrate(struct wr_ledger *ledger, weir_span model,
                                              wr_ledger_calibrate_fn *change, void *user,
                                              struct weir_err *err);

/* WEIR_NOTFOUND: there is none of this model. `data` lives until the next call. */
WEIR_MUST_USE weir_status wr_ledger_calibration(struct wr_ledger *ledger, weir_span model,
                                                struct wr_ledger_calibration *calibration,
                                                struct weir_err *err);

#endif
