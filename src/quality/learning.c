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

#include <stdio.h>

#include "base/hash.h"
#include "base/span.h"
#include "policy/policy.h"

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
