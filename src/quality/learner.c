/* Buckets at work: which policy a session gets, and samples of how sessions went.
 *
 * Choosing reads the store at most once a second; telling never does: samples go into a ring, and
 * a thread of its own writes them, so no request waits for the disk. Two locks keep it so: `lock`
 * for the sessions and the ring, `reading` for the buckets and their ledger.
 *
 * A session has one sample in each bucket. It is written when the session first shows up there and
 * again when it turns bad, under the same key, so that a session counts once however long it is.
 * If the ring is full a sample is lost, and learning is slower.
 */
#include "quality/learner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/span.h"
#include "store/ledger.h"

enum {
    SESSIONS_MAX = WR_QUALITY_PROMPTS_MAX,
    FRESH_MS = 1000,
    BUCKETS_BYTES_MAX = 4 * 1024 * 1024
};

/* What is remembered of a session while it runs. */
struct counted {
    uint64_t bucket; /* hash of the bucket that it has a sample in; 0: none */
    uint32_t points;
    bool is_bad;
};

struct known {
    uint64_t key; /* 0: free */
    uint64_t used;
    bool has_choice;
    struct counted whole, within, trial, blind;
    struct wr_learner_choice choice;
};

struct sample {
    char bucket[WR_QUALITY_BUCKET_BYTES_MAX + 1];
    char tenant[WR_STORE_NAME_BYTES_MAX + 1], session[WR_STORE_NAME_BYTES_MAX + 1];
    int64_t time_ms;
    bool is_bad;
};

struct wr_learner {
    pthread_mutex_t lock; /* of `sessions` and the queue */
    pthread_cond_t wake;
    pthread_t thread;
    bool stops;
    uint64_t uses;
    struct known sessions[SESSIONS_MAX];
    struct sample queue[WR_QUALITY_SAMPLES_MAX]; /* a ring */
    size_t queue_first, queue_count;

    pthread_mutex_t reading; /* of all below */
    struct wr_ledger *reader;
    struct wr_arena arena; /* of the buckets */
    struct wr_bucket *buckets;
    size_t buckets_count;
    uint64_t tenant; /* whose buckets they are, as a hash */
    int64_t read_ms;
    struct wr_ledger *writer; /* the thread's */
};

/* ---- sessions ---- */

static struct known *find_known(struct wr_learner *l, uint64_t key)
{
    struct known *old = &l->sessions[0];

    key |= 1;
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct known *k = &l->sessions[i];
        if (k->key == key) {
            k->used = ++l->uses;
            return k;
        }
        if (k->used < old->used)
            old = k;
    }
    *old = (struct known){.key = key, .used = ++l->uses};
    return old;
}

/* ---- buckets ---- */

static weir_status take_bucket(void *user, weir_span name, uint64_t samples, uint64_t bad)
{
    struct wr_learner *l = user;
    struct wr_bucket bucket = {wr_arena_copy(&l->arena, name), samples, bad};

    /* A bucket that is not bad changes nothing, and is not worth a place. */
    bool tells =
        wr_bucket_is_blind(name) ? wr_blind_odds_pct(&bucket) > 100 : wr_bucket_is_bad(&bucket);
    if (bucket.name.ptr && tells && l->buckets_count < WR_QUALITY_BUCKETS_MAX)
        l->buckets[l->buckets_count++] = bucket;
    return WEIR_OK;
}

/* What cannot be read teaches nothing. */
static void read_buckets(struct wr_learner *l, weir_span tenant, int64_t now_ms)
{
    uint64_t whose = wr_hash64(tenant) | 1;

    if (l->tenant == whose && now_ms - l->read_ms < FRESH_MS && now_ms >= l->read_ms)
        return;
    l->tenant = whose;
    l->read_ms = now_ms;
    l->buckets_count = 0;
    wr_arena_reset(&l->arena);
    l->buckets = WR_ARENA_ARRAY(&l->arena, struct wr_bucket, WR_QUALITY_BUCKETS_MAX);
    if (!l->buckets ||
        wr_ledger_buckets(l->reader, tenant, WR_LEARNING_WINDOW, take_bucket, l, NULL))
        l->buckets_count = 0;
}

static uint32_t learn_blind_pct(const struct wr_learner *l, const struct wr_bucket_key *key)
{
    char name[WR_QUALITY_BUCKET_BYTES_MAX + 1];

    wr_blind_bucket_name(key, name);
    for (size_t i = 0; i < l->buckets_count; i++)
        if (wr_span_is(l->buckets[i].name, name))
            return wr_blind_odds_pct(&l->buckets[i]);
    return 0;
}

static void learn_policy(struct wr_learner *l, const struct wr_learner_session *session,
                         const struct wr_bucket_key *key, int64_t now_ms,
                         struct wr_learner_choice *choice)
{
    (void)pthread_mutex_lock(&l->reading);
    read_buckets(l, session->tenant, now_ms);
    struct wr_learned learned = wr_learning_choose(l->buckets, l->buckets_count, key);
    choice->blind_pct = learn_blind_pct(l, key);
    if (learned.policy) {
        choice->is_trial = wr_learning_is_trial(session->tenant, session->name);
        const struct wr_bucket *from = choice->is_trial ? learned.first : learned.bucket;
        (void)snprintf(choice->policy, sizeof(choice->policy), "%s",
                       choice->is_trial ? "" : learned.policy);
        (void)snprintf(choice->bucket, sizeof(choice->bucket), "%.*s", (int)from->name.len,
                       from->name.ptr);
    }
    (void)pthread_mutex_unlock(&l->reading);
}

void wr_learner_choose(struct wr_learner *l, const struct wr_learner_session *session,
                       const struct wr_bucket_key *key, int64_t now_ms,
                       struct wr_learner_choice *choice)
{
    *choice = (struct wr_learner_choice){.policy = ""};
    if (!l->reader)
        return;
    (void)pthread_mutex_lock(&l->lock);
    struct known *known = find_known(l, session->key);
    bool has_choice = known->has_choice;
    if (has_choice)
        *choice = known->choice;
    (void)pthread_mutex_unlock(&l->lock);
    if (has_choice)
        return;
    learn_policy(l, session, key, now_ms, choice);
    (void)pthread_mutex_lock(&l->lock);
    known = find_known(l, session->key);
    known->has_choice = true;
    known->choice = *choice;
    (void)pthread_mutex_unlock(&l->lock);
}

/* ---- samples ---- */

static void queue_sample(struct wr_learner *l, const struct sample *sample)
{
    if (l->queue_count == WR_QUALITY_SAMPLES_MAX)
        return;
    l->queue[(l->queue_first + l->queue_count++) % WR_QUALITY_SAMPLES_MAX] = *sample;
    (void)pthread_cond_signal(&l->wake);
}

/* Signs count in the bucket where they were seen. */
static void count_points(struct wr_learner *l, struct counted *counted, const char *bucket,
                         uint32_t points, struct sample *sample)
{
    uint64_t hash = wr_hash64(wr_span_of(bucket)) | 1;
    bool is_new = counted->bucket != hash;

    if (is_new)
        *counted = (struct counted){.bucket = hash};
    bool was_bad = counted->is_bad;
    counted->points += points < UINT32_MAX - counted->points ? points : 0;
    counted->is_bad = counted->points >= WR_LEARNING_BAD_POINTS;
    if (!is_new && counted->is_bad == was_bad)
        return;
    sample->is_bad = counted->is_bad;
    (void)snprintf(sample->bucket, sizeof(sample->bucket), "%s", bucket);
    queue_sample(l, sample);
}

void wr_learner_tell(struct wr_learner *l, const struct wr_learner_session *session,
                     const struct wr_learner_seen *seen)
{
    struct sample sample = {.time_ms = seen->now_ms};

    if (!l->writer || !seen->bucket[0])
        return;
    (void)snprintf(sample.tenant, sizeof(sample.tenant), "%.*s", (int)session->tenant.len,
                   session->tenant.ptr);
    (void)snprintf(sample.session, sizeof(sample.session), "%.*s", (int)session->name.len,
                   session->name.ptr);
    (void)pthread_mutex_lock(&l->lock);
    struct known *known = find_known(l, session->key);
    count_points(l, &known->whole, seen->bucket, seen->points, &sample);
    count_points(l, &known->within, seen->within, seen->points, &sample);
    count_points(l, &known->blind, seen->blind, seen->has_blind_edit ? WR_LEARNING_BAD_POINTS : 0,
                 &sample);
    if (known->choice.is_trial && strcmp(known->choice.bucket, seen->bucket) != 0 &&
        strcmp(known->choice.bucket, seen->within) != 0)
        count_points(l, &known->trial, known->choice.bucket, seen->points, &sample);
    (void)pthread_mutex_unlock(&l->lock);
}

static bool take_sample(struct wr_learner *l, struct sample *sample)
{
    (void)pthread_mutex_lock(&l->lock);
    while (!l->queue_count && !l->stops)
        (void)pthread_cond_wait(&l->wake, &l->lock);
    bool has_one = l->queue_count > 0;
    if (has_one) {
        *sample = l->queue[l->queue_first];
        l->queue_first = (l->queue_first + 1) % WR_QUALITY_SAMPLES_MAX;
        l->queue_count--;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return has_one;
}

static void *keep_samples(void *user)
{
    struct wr_learner *l = user;
    struct sample next;

    while (take_sample(l, &next)) {
        struct wr_ledger_sample sample = {.bucket = wr_span_of(next.bucket),
                                          .tenant = wr_span_of(next.tenant),
                                          .session = wr_span_of(next.session),
                                          .time_ms = next.time_ms,
                                          .is_bad = next.is_bad};
        /* A sample that cannot be kept is lost: learning is slower then, not wrong. */
        (void)!wr_ledger_add_sample(l->writer, &sample, NULL);
    }
    return NULL;
}

/* ---- life ---- */

struct wr_learner *wr_learner_new(const char *store_dir)
{
    struct wr_learner *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    wr_arena_init(&l->arena, BUCKETS_BYTES_MAX);
    if (store_dir && (wr_ledger_open(store_dir, NULL, &l->reader, NULL, NULL) ||
                      wr_ledger_open(store_dir, NULL, &l->writer, NULL, NULL))) {
        wr_ledger_close(l->reader);
        l->reader = l->writer = NULL;
    }
    if (pthread_mutex_init(&l->lock, NULL) || pthread_mutex_init(&l->reading, NULL) ||
        pthread_cond_init(&l->wake, NULL) || pthread_create(&l->thread, NULL, keep_samples, l)) {
        wr_ledger_close(l->reader);
        wr_ledger_close(l->writer);
        free(l);
        return NULL;
    }
    return l;
}

void wr_learner_free(struct wr_learner *l)
{
    if (!l)
        return;
    (void)pthread_mutex_lock(&l->lock);
    l->stops = true;
    (void)pthread_cond_signal(&l->wake);
    (void)pthread_mutex_unlock(&l->lock);
    (void)pthread_join(l->thread, NULL);
    (void)pthread_mutex_destroy(&l->lock);
    (void)pthread_mutex_destroy(&l->reading);
    (void)pthread_cond_destroy(&l->wake);
    wr_ledger_close(l->reader);
    wr_ledger_close(l->writer);
    wr_arena_release(&l->arena);
    free(l);
}
