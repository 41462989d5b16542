/* index.h -- the sessions of one tenant, with their sums, as the page lists them.
 *
 * It is made of the ledger's rows and kept in memory, so that ten thousand sessions can be sorted
 * and searched at once; what it is asked, it brings itself up to date first by the rows that are
 * new. The sums are those of `weir report`: the same rows added up by the same code.
 *
 * 1. Reading many rows is done in parts of WR_TRAFFIC_READ_MS; until all are read, an answer says
 *    how far it is.
 * 2. Where sessions have left the store, it begins anew.
 * 3. The first words of a session come from what its first request said, where that was kept; they
 *    are looked for when a session is shown or searched, and then remembered.
 */
#ifndef WR_TRAFFIC_INDEX_H
#define WR_TRAFFIC_INDEX_H

#include "ledger/report.h"
#include "models/registry.h"

enum { WR_SPARK_POINTS = 32, WR_TRAFFIC_WORDS_CHARS = 140 };

/* How the size of the prompts went: at most WR_SPARK_POINTS points, each of `step` requests. */
struct wr_spark {
    uint32_t came[WR_SPARK_POINTS], sent[WR_SPARK_POINTS]; /* tokens, of the largest */
    uint32_t count, step, filled;                          /* requests in the last point */
};

void wr_spark_add(struct wr_spark *spark, uint64_t came_tokens, uint64_t sent_tokens);

struct wr_traffic_session {
    weir_span session, agent, model, mode, policy; /* all but the name: of its last request */
    weir_span user, team;                          /* the same; empty: none is named */
    weir_span words;                               /* its first ones; empty: not known */
    bool are_words_sought;
    bool is_pending; /* what was said now waits for the user's next message */
    int64_t first_ms, last_ms, last_id;
    struct wr_tally tally;
    struct wr_spark spark;
};

struct wr_traffic_index;

/* `models` is borrowed. NULL: out of memory. */
struct wr_traffic_index *wr_traffic_index_new(weir_span tenant, const struct wr_models *models);
void wr_traffic_index_free(struct wr_traffic_index *index); /* NULL is fine */
weir_span wr_traffic_index_tenant(const struct wr_traffic_index *index);

/* Reads what is new. */
WEIR_MUST_USE weir_status wr_traffic_index_refresh(struct wr_traffic_index *index,
                                                   struct wr_ledger *ledger, struct weir_err *err);

/* The next refresh sees at once whether sessions have left the store. */
void wr_traffic_index_look_again(struct wr_traffic_index *index);

/* Whether rows were left for the next refresh, and how many of how many were read. */
struct wr_traffic_progress {
    bool is_whole;
    uint64_t read_count, rows_count;
};
struct wr_traffic_progress wr_traffic_index_progress(const struct wr_traffic_index *index);

/* Sums of all, by agent, model and hour. */
const struct wr_report *wr_traffic_index_report(const struct wr_traffic_index *index);

#define WR_TRAFFIC_SORT_MAP(X)                       \
    X(LAST, "last")         /* used most recently */ \
    X(SAVED, "saved")       /* money */              \
    X(COST, "cost")         /* money */              \
    X(REQUESTS, "requests") /* most */               \
    X(TROUBLE, "trouble")   /* caches that others broke, and signs that it goes badly */

enum wr_traffic_sort {
#define X(name, text) WR_TRAFFIC_SORT_##name,
    WR_TRAFFIC_SORT_MAP(X)
#undef X
};

struct wr_traffic_filter { /* zeroed: all */
    weir_span words;       /* in a name, the first words, user, agent or model; case aside */
    weir_span agent, model, user;
    int64_t since_ms;
    enum wr_traffic_sort sort;
};

/* The sessions that fit, sorted; `*count` of them, in `arena`. NULL with a count: out of memory.
 * The words of sessions are sought in `ledger` where the filter asks for some. */
const struct wr_traffic_session **wr_traffic_index_find(struct wr_traffic_index *index,
                                                        struct wr_ledger *ledger,
                                                        const struct wr_traffic_filter *filter,
                                                        struct wr_arena *arena, size_t *count);

/* NULL: there is none. */
struct wr_traffic_session *wr_traffic_index_session(struct wr_traffic_index *index,
                                                    weir_span session);

/* Its first words; empty: they were not kept. */
weir_span wr_traffic_index_words(struct wr_traffic_index *index, struct wr_ledger *ledger,
                                 const struct wr_traffic_session *session);

/* What counts as trouble. */
uint64_t wr_traffic_trouble(const struct wr_tally *tally);

#endif
