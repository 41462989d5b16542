/* learning.h -- what sessions that went badly teach about those to come, and their keeping.
 *
 * 1. A session whose prompts were changed is a sample of its bucket, which is named by what was
 *    known of it when it began, and of a narrower one for each length and transform that its
 *    requests had. It is bad where its signs add up to WR_LEARNING_BAD_POINTS.
 * 2. A bucket of at least WR_LEARNING_SAMPLES_MIN samples, half of them bad, is bad; its newest
 *    WR_LEARNING_WINDOW samples count. It tightens the policy of new sessions that match it, and of
 *    nobody else.
 * 3. A dimension that is known of the new session must be the bucket's too; one that is not known
 *    of it is not compared.
 * 4. Nothing here changes a session that has begun: its policy is pinned (law L3).
 * 5. Blind edits raise the odds of one, for sessions of the same API, model and class of task: a
 *    bucket of its own ("odds=blind ..."), whose samples are bad where a session had one. Fewer of
 *    them lower the odds again.
 * 6. There is a way back: of the sessions that would be tightened one in WR_LEARNING_TRIAL_EVERY,
 *    by a hash of its name, is a trial. It keeps its policy, and is a sample of the bucket that
 *    would have tightened it: once most of the newest went well, that bucket is no longer bad.
 */
#ifndef WR_QUALITY_LEARNING_H
#define WR_QUALITY_LEARNING_H

#include "base/limits.h"
#include "engine/record.h"
#include "policy/marker.h"
#include "weir/status.h"

enum {
    WR_LEARNING_BAD_POINTS = 3,
    WR_LEARNING_SAMPLES_MIN = 2,
    WR_LEARNING_WINDOW = 8,
    WR_LEARNING_TRIAL_EVERY = 4
};

#define WR_DIMENSION_MAP(X)                               \
    X(route)     /* the API: chat, responses, messages */ \
    X(model)     /* its name in the request */            \
    X(policy)    /* that was in force */                  \
    X(provider)  /* the upstream's name */                \
    X(window)    /* band of the model's window */         \
    X(length)    /* band of the session's turns */        \
    X(task)      /* class: coding, tools, chat */         \
    X(transform) /* the form most changed segments were given */

struct wr_bucket_key { /* empty: not known */
#define X(name) weir_span name;
    WR_DIMENSION_MAP(X)
#undef X
};

/* "route=messages model=claude-opus-5 policy=auto ...": what is not known is left out. */
void wr_bucket_name(const struct wr_bucket_key *key, char text[WR_QUALITY_BUCKET_BYTES_MAX + 1]);

/* The value of a dimension in a bucket's name; empty: it has none. */
weir_span wr_bucket_value(weir_span bucket, const char *dimension);

bool wr_bucket_matches(weir_span bucket, const struct wr_bucket_key *query);

struct wr_bucket {
    weir_span name;
    uint64_t samples_count, bad_count; /* of its newest WR_LEARNING_WINDOW samples */
};

bool wr_bucket_is_bad(const struct wr_bucket *bucket);

/* The bucket of blind edits that a session belongs to. */
void wr_blind_bucket_name(const struct wr_bucket_key *key,
                          char text[WR_QUALITY_BUCKET_BYTES_MAX + 1]);

bool wr_bucket_is_blind(weir_span bucket);

/* What a bucket of blind edits makes of the odds, in percent of the table's: two more sessions are
 * taken to have gone well. 100 with fewer than WR_LEARNING_SAMPLES_MIN samples. */
uint32_t wr_blind_odds_pct(const struct wr_bucket *bucket);

struct wr_learned {
    const char *policy;             /* NULL: the one that was asked for may stay */
    const struct wr_bucket *bucket; /* that says so */
    const struct wr_bucket *first;  /* that is bad under the policy that was asked for */
};

/* The policy for a new session that `key` describes and that would get key->policy. */
struct wr_learned wr_learning_choose(const struct wr_bucket *buckets, size_t buckets_count,
                                     const struct wr_bucket_key *key);

/* Whether the session of this name is a trial, if it would be tightened. */
bool wr_learning_is_trial(weir_span tenant, weir_span session);

uint32_t wr_quality_points(const struct wr_quality *quality);

const char *wr_window_band(uint64_t window_tokens); /* "" where it is not known */
const char *wr_length_band(uint32_t turns_count);
const char *wr_task_class(const struct wr_ways *ways); /* by the tools that are offered */

/* ==== buckets at work ==== */

/* Learning buckets at work: asked when a session begins, told how sessions go.
 *
 * Samples are kept by a thread of its own, so that nobody waits for the disk. A session's policy is
 * chosen once and stays chosen (law L3). Without a store nothing is learnt. For any thread.
 */

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
