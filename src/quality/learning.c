/* Buckets of sessions by what was known when they began, and the policy that they teach.
 *
 * A bucket is its name, "route=chat model=... policy=...": one string, because it is also the key
 * of its samples in the store and what `weir learn` shows. Choosing goes step by step: as long as
 * a bad bucket matches the session under its policy, the policy becomes the next tighter one and
 * is looked up again, for a bucket of that policy may be bad too.
 *
 * How often models edit what they cannot see is no question of the policy, so it is learnt apart:
 * it raises a number that the policies' own sums go by.
 *
 * A sign that can hardly be anything but our fault is worth enough points to make a session bad
 * alone; one that happens in any session must come several times.
 */
#include "quality/learning.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/span.h"
#include "policy/policy.h"
#include "store/ledger.h"

enum { VALUE_BYTES_MAX = 96, HARD_POINTS = WR_LEARNING_BAD_POINTS, BLIND_POINTS = 2 };
enum { BLIND_GOOD_COUNT = 2, BLIND_RISE_PCT = 400 }; /* at most, if all sessions had a blind edit */

#define BLIND "odds=blind "

/* ---- names ---- */

struct dimension {
    const char *name;
    size_t offset;
};

static const struct dimension dimensions[] = {
#define X(name) {#name, offsetof(struct wr_bucket_key, name)},
    WR_DIMENSION_MAP(X)
#undef X
};

enum { DIMENSIONS_COUNT = WR_COUNT_OF(dimensions) };

static weir_span dimension_value(const struct wr_bucket_key *key, size_t dimension)
{
    return *(const weir_span *)((const char *)key + dimensions[dimension].offset);
}

/* A name is split at spaces, so that none may be in a value. */
static weir_span clean_value(weir_span value, char into[VALUE_BYTES_MAX])
{
    size_t bytes = value.len < VALUE_BYTES_MAX ? value.len : VALUE_BYTES_MAX;
    for (size_t i = 0; i < bytes; i++)
        into[i] = (unsigned char)value.ptr[i] > ' ' && value.ptr[i] != 0x7f ? value.ptr[i] : '_';
    return (weir_span){into, bytes};
}

void wr_bucket_name(const struct wr_bucket_key *key, char text[WR_QUALITY_BUCKET_BYTES_MAX + 1])
{
    char value[VALUE_BYTES_MAX];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < DIMENSIONS_COUNT; i++) {
        weir_span shown = clean_value(dimension_value(key, i), value);
        if (!shown.len || len + shown.len + 16 > WR_QUALITY_BUCKET_BYTES_MAX)
            continue;
        int bytes = snprintf(text + len, WR_QUALITY_BUCKET_BYTES_MAX + 1 - len, "%s%s=%.*s",
                             len ? " " : "", dimensions[i].name, (int)shown.len, shown.ptr);
        len += bytes > 0 ? (size_t)bytes : 0;
    }
}

weir_span wr_bucket_value(weir_span bucket, const char *dimension)
{
    weir_span wanted = wr_span_of(dimension);
    for (size_t at = 0; at < bucket.len;) {
        size_t end = wr_span_find(bucket, WR_LIT(" "), at);
        weir_span part = wr_span_cut(bucket, at, end == SIZE_MAX ? bucket.len : end);
        if (wr_span_starts(part, wanted) && part.len > wanted.len && part.ptr[wanted.len] == '=')
            return wr_span_cut(part, wanted.len + 1, part.len);
        at += part.len + 1;
    }
    return (weir_span){"", 0};
}

bool wr_bucket_matches(weir_span bucket, const struct wr_bucket_key *query)
{
    char value[VALUE_BYTES_MAX];

    for (size_t i = 0; i < DIMENSIONS_COUNT; i++) {
        weir_span wanted = clean_value(dimension_value(query, i), value);
        weir_span has = wr_bucket_value(bucket, dimensions[i].name);
        if (wanted.len && !wr_span_eq(wanted, has))
            return false;
    }
    return true;
}

/* ---- what is learnt ---- */

void wr_blind_bucket_name(const struct wr_bucket_key *key,
                          char text[WR_QUALITY_BUCKET_BYTES_MAX + 1])
{
    struct wr_bucket_key of = {.route = key->route, .model = key->model, .task = key->task};
    char name[WR_QUALITY_BUCKET_BYTES_MAX + 1];

    wr_bucket_name(&of, name);
    (void)snprintf(text, WR_QUALITY_BUCKET_BYTES_MAX + 1, BLIND "%.*s",
                   (int)(WR_QUALITY_BUCKET_BYTES_MAX - sizeof(BLIND)), name);
}

bool wr_bucket_is_blind(weir_span bucket)
{
    return wr_span_starts(bucket, WR_LIT(BLIND));
}

uint32_t wr_blind_odds_pct(const struct wr_bucket *bucket)
{
    if (bucket->samples_count < WR_LEARNING_SAMPLES_MIN)
        return 100;
    return 100 + (uint32_t)(BLIND_RISE_PCT * bucket->bad_count /
                            (bucket->samples_count + BLIND_GOOD_COUNT));
}

bool wr_bucket_is_bad(const struct wr_bucket *bucket)
{
    return !wr_bucket_is_blind(bucket->name) && bucket->samples_count >= WR_LEARNING_SAMPLES_MIN &&
           bucket->bad_count * 2 >= bucket->samples_count;
}

static const struct wr_bucket *find_bad(const struct wr_bucket *buckets, size_t count,
                                        const struct wr_bucket_key *key)
{
    for (size_t i = 0; i < count; i++)
        if (wr_bucket_is_bad(&buckets[i]) && wr_bucket_matches(buckets[i].name, key))
            return &buckets[i];
    return NULL;
}

struct wr_learned wr_learning_choose(const struct wr_bucket *buckets, size_t buckets_count,
                                     const struct wr_bucket_key *key)
{
    struct wr_bucket_key now = *key;
    struct wr_learned learned = {0};
    const struct wr_bucket *bad;
    const char *tighter;

    while ((tighter = wr_policy_tighter(now.policy)) &&
           (bad = find_bad(buckets, buckets_count, &now))) {
        learned.first = learned.first ? learned.first : bad;
        learned.policy = tighter;
        learned.bucket = bad;
        now.policy = wr_span_of(tighter);
    }
    return learned;
}

/* The word keeps it apart from other draws by the same name, such as the canary's. */
bool wr_learning_is_trial(weir_span tenant, weir_span session)
{
    uint64_t hash = wr_hash64_seeded(tenant, wr_hash64(WR_LIT("trial")));
    return wr_hash64_seeded(session, hash) % WR_LEARNING_TRIAL_EVERY == 0;
}

/* What can hardly be anything but our fault is enough by itself; what a session of any policy may
 * show now and then has to come several times. An overlong prompt says nothing against a change. */
uint32_t wr_quality_points(const struct wr_quality *q)
{
    uint64_t hard =
        q->invalid_tool_call_continuation + q->missing_artifact_requests + q->placeholders_written;
    uint64_t soft = q->repeated_tool_call_count + q->model_reread_requests +
                    q->corrective_user_messages + q->test_or_build_failed_after_rewrite;
    /* An edit of what it could not see was a guess that we made it take: one alone may be chance.
     */
    uint64_t points = hard * HARD_POINTS + q->blind_edits * BLIND_POINTS + soft;
    return points < UINT32_MAX ? (uint32_t)points : UINT32_MAX;
}

/* ---- bands ---- */

const char *wr_window_band(uint64_t window_tokens)
{
    static const struct {
        uint64_t tokens_max;
        const char *band;
    } bands[] = {{16384, "16k"},   {32768, "32k"},   {65536, "64k"},
                 {131072, "128k"}, {262144, "256k"}, {524288, "512k"}};

    if (!window_tokens)
        return "";
    for (size_t i = 0; i < WR_COUNT_OF(bands); i++)
        if (window_tokens <= bands[i].tokens_max)
            return bands[i].band;
    return "1m";
}

const char *wr_length_band(uint32_t turns_count)
{
    return turns_count < 10    ? "short"
           : turns_count < 40  ? "medium"
           : turns_count < 150 ? "long"
                               : "huge";
}

const char *wr_task_class(const struct wr_ways *ways)
{
    static const char *const words[] = {"bash",  "shell", "exec", "terminal", "command", "edit",
                                        "write", "patch", "Bash", "Edit",     "Write"};
    for (uint32_t i = 0; i < ways->tools_count; i++)
        for (size_t k = 0; k < WR_COUNT_OF(words); k++)
            if (wr_span_find(ways->tools[i], wr_span_of(words[k]), 0) != SIZE_MAX)
                return "coding";
    return ways->tools_count ? "tools" : "chat";
}

/* ==== buckets at work ==== */

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
