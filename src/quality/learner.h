/* learner.h -- learning buckets at work: asked when a session begins, told how sessions go.
 *
 * Samples are kept by a thread of its own, so that nobody waits for the disk. A session's policy is
 * chosen once and stays chosen (law L3). Without a store nothing is learnt. For any thread.
 */
#ifndef WR_QUALITY_LEARNER_H
#define WR_QUALITY_LEARNER_H

#include "quality/learning.h"
#include "weir/status.h"

struct wr_learner;

/* NULL: out of memory, or no thread can be had. `store_dir` may be NULL. */
struct wr_learner *wr_learner_new(const char *store_dir);
void wr_learner_free(struct wr_learner *learner); /* keeps what waits; NULL is fine */

struct wr_learner_session {
    weir_span tenant, name;
    uint64_t key; /* hash of tenant, session and model */
};

struct wr_learner_choice {
    char policy[WR_POLICY_NAME_BYTES_MAX + 1];    /* empty: what was asked for stays */
    bool is_trial;                                /* it stays, to see whether it goes well */
    char bucket[WR_QUALITY_BUCKET_BYTES_MAX + 1]; /* learnt from; or on trial */
    uint32_t blind_pct;                           /* odds of a blind edit, of the table's; 0: 100 */
};

/* The policy of a session, which `key` describes where it begins. */
void wr_learner_choose(struct wr_learner *learner, const struct wr_learner_session *session,
                       const struct wr_bucket_key *key, int64_t now_ms,
                       struct wr_learner_choice *choice);

/* What a changed request has shown. */
struct wr_learner_seen {
    const char *bucket, *within; /* it belongs to, and a narrower one */
    const char *blind;           /* its bucket of blind edits */
    uint32_t points;             /* of its signs */
    bool has_blind_edit;
    int64_t now_ms;
};

void wr_learner_tell(struct wr_learner *learner, const struct wr_learner_session *session,
                     const struct wr_learner_seen *seen);

#endif
