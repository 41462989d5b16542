#include "proxy/rollout.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/span.h"

enum { WAYS = 8, SETS = WR_PROXY_SESSIONS_MAX / WAYS };

/* A cache of sets: the least recently used of a set gives way. What is forgotten is decided anew,
 * and differs only where the configuration was changed in between. */
struct entry {
    wr_hash128 session; /* 0, 0: free */
    uint64_t used;      /* a count, not a time */
    uint8_t mode;
    uint8_t requests_count; /* up to 3 */
    uint8_t bound;          /* enum wr_bound */
    uint32_t percent;
};

static const char *const bound_words[] = {
    [WR_BOUND_NOT] = "", [WR_BOUND_RAW] = " raw", [WR_BOUND_PROJECTED] = " projected"};

enum { BOUND_COUNT = sizeof(bound_words) / sizeof(bound_words[0]) };

struct wr_sessions {
    pthread_mutex_t lock;
    uint64_t uses;
    struct entry entries[SETS][WAYS];
};

struct wr_sessions *wr_sessions_new(void)
{
    struct wr_sessions *sessions = calloc(1, sizeof(*sessions));
    if (sessions && pthread_mutex_init(&sessions->lock, NULL)) {
        free(sessions);
        return NULL;
    }
    return sessions;
}

void wr_sessions_free(struct wr_sessions *sessions)
{
    if (!sessions)
        return;
    (void)pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

static wr_hash128 hash_session(weir_span tenant, weir_span session)
{
    wr_hash128 hash = wr_hash128_seeded(session, wr_hash128_of(tenant));
    hash.low |= 1; /* 0, 0 is a free place */
    return hash;
}

/* The session's entry, or the one that it takes; *is_new then. Called with the lock held. */
static struct entry *find_entry(struct wr_sessions *sessions, wr_hash128 hash, bool *is_new)
{
    struct entry *set = sessions->entries[hash.high % SETS], *oldest = &set[0];

    *is_new = false;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].session.low == hash.low && set[i].session.high == hash.high) {
            set[i].used = ++sessions->uses;
            return &set[i];
        }
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    *is_new = true;
    *oldest = (struct entry){.session = hash, .used = ++sessions->uses};
    return oldest;
}

static bool model_matches(const char *pattern, weir_span model)
{
    weir_span wanted = wr_span_of(pattern);
    if (wanted.len && wanted.ptr[wanted.len - 1] == '*')
        return wr_span_starts(model, wr_span_cut(wanted, 0, wanted.len - 1));
    return wr_span_eq(model, wanted);
}

static bool rule_matches(const struct wr_rule *rule, const struct wr_rollout_input *input)
{
    return (!rule->upstream || !strcmp(rule->upstream, input->upstream)) &&
           (!rule->model || model_matches(rule->model, input->model));
}

static const struct wr_rule *find_rule(const struct wr_rollout_input *input)
{
    for (size_t i = 0; i < input->config->rules_count; i++) {
        const struct wr_rule *rule = &input->config->rules[i];
        if (!rule->tool && rule_matches(rule, input))
            return rule;
    }
    return NULL;
}

static void decide_action(struct wr_decision *d)
{
    bool is_in = d->bucket < d->percent;

    if (d->bound == WR_BOUND_PROJECTED || (d->bound == WR_BOUND_RAW && d->mode != WR_MODE_OFF)) {
        bool is_raw = d->bound == WR_BOUND_RAW;
        d->action = is_raw ? WR_ACTION_MEASURE : WR_ACTION_PROJECT;
        d->reason = is_raw ? "provider_pinned_exact" : "provider_pinned_projected";
        return;
    }
    switch (d->mode) {
    case WR_MODE_OFF:
        d->action = WR_ACTION_PASS;
        d->reason = "rollout_off";
        break;
    case WR_MODE_METER:
        d->action = WR_ACTION_MEASURE;
        d->reason = "rollout_meter";
        break;
    case WR_MODE_SHADOW:
        d->action = WR_ACTION_SHADOW;
        d->reason = "rollout_shadow";
        break;
    case WR_MODE_CANARY:
        d->action = is_in ? WR_ACTION_PROJECT : WR_ACTION_MEASURE;
        d->reason = is_in ? "rollout_canary_in" : "rollout_canary_out";
        break;
    case WR_MODE_HOLDOUT:
        d->action = is_in ? WR_ACTION_MEASURE : WR_ACTION_PROJECT;
        d->reason = is_in ? "rollout_holdout" : "rollout_holdout_out";
        break;
    case WR_MODE_ACTIVE:
        d->action = WR_ACTION_PROJECT;
        d->reason = "rollout_active";
        break;
    }
}

/* Takes the word for the bound form off the end of what was kept. */
static enum wr_bound take_bound(weir_span *kept)
{
    for (size_t i = 1; i < BOUND_COUNT; i++) {
        weir_span word = wr_span_of(bound_words[i]);
        if (kept->len < word.len ||
            !wr_span_eq(wr_span_cut(*kept, kept->len - word.len, kept->len), word))
            continue;
        kept->len -= word.len;
        return (enum wr_bound)i;
    }
    return WR_BOUND_NOT;
}

static void begin_session(struct entry *entry, const struct wr_rollout_input *input,
                          const struct wr_rule *rule)
{
    enum wr_mode mode = rule ? rule->mode : input->config->mode;
    uint32_t percent = rule ? rule->percent : input->config->percent;

    enum wr_mode kept_mode;
    uint32_t kept_percent = 0;
    weir_span kept = input->kept;

    entry->bound = (uint8_t)take_bound(&kept);
    entry->requests_count = 1;
    if (kept.len && wr_mode_parse(kept, &kept_mode, &kept_percent)) {
        entry->requests_count = 3;
        mode = kept_mode;
        percent = kept_percent;
    }
    entry->mode = (uint8_t)mode;
    entry->percent = percent;
}

bool wr_sessions_has(struct wr_sessions *sessions, weir_span tenant, weir_span session)
{
    wr_hash128 hash = hash_session(tenant, session);
    const struct entry *set = sessions->entries[hash.high % SETS];
    bool is_there = false;

    (void)pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < WAYS; i++)
        is_there = is_there || (set[i].session.low == hash.low && set[i].session.high == hash.high);
    (void)pthread_mutex_unlock(&sessions->lock);
    return is_there;
}

void wr_decision_mode(const struct wr_decision *decision, char text[WR_KEPT_MODE_BYTES])
{
    const char *bound = bound_words[decision->bound];
    if (decision->mode == WR_MODE_CANARY || decision->mode == WR_MODE_HOLDOUT)
        (void)snprintf(text, WR_KEPT_MODE_BYTES, "%s %u%s", wr_mode_name(decision->mode),
                       decision->percent, bound);
    else
        (void)snprintf(text, WR_KEPT_MODE_BYTES, "%s%s", wr_mode_name(decision->mode), bound);
}

/* Out of canary a tool is left alone, as in every mode that sends what came. */
static bool is_active(const struct wr_rule *rule, uint32_t bucket)
{
    return rule->mode == WR_MODE_ACTIVE ||
           (rule->mode == WR_MODE_CANARY && bucket < rule->percent) ||
           (rule->mode == WR_MODE_HOLDOUT && bucket >= rule->percent);
}

void wr_rollout_tools(const struct wr_rollout_input *input, uint32_t bucket,
                      char text[WR_TOOLS_BYTES_MAX + 1])
{
    size_t bytes = 0;

    text[0] = '\0';
    for (size_t i = 0; i < input->config->rules_count; i++) {
        const struct wr_rule *rule = &input->config->rules[i];
        if (!rule->tool || !rule_matches(rule, input) ||
            bytes + strlen(rule->tool) + 2 > WR_TOOLS_BYTES_MAX)
            continue;
        bytes +=
            (size_t)snprintf(text + bytes, WR_TOOLS_BYTES_MAX + 1 - bytes, "%s%c%s",
                             bytes ? " " : "", is_active(rule, bucket) ? '+' : '-', rule->tool);
    }
}

struct wr_decision wr_rollout_decide(struct wr_sessions *sessions,
                                     const struct wr_rollout_input *input)
{
    wr_hash128 hash = hash_session(input->tenant, input->session);
    const struct wr_rule *rule = find_rule(input);
    struct wr_decision d = {.bucket = (uint32_t)(hash.high % 100)};
    bool is_new;

    (void)pthread_mutex_lock(&sessions->lock);
    struct entry *entry = find_entry(sessions, hash, &is_new);
    if (is_new)
        begin_session(entry, input, rule);
    else if (entry->requests_count < 3)
        d.is_due = ++entry->requests_count == 2;
    d.mode = (enum wr_mode)entry->mode;
    d.percent = entry->percent;
    d.bound = input->bind ? input->bind : (enum wr_bound)entry->bound;
    (void)pthread_mutex_unlock(&sessions->lock);

    d.policy = rule && rule->policy ? rule->policy : input->config->policy;
    decide_action(&d);
    if (wr_span_is(input->mode, "exact")) {
        d.is_exact = true;
        d.reason = is_new ? "exact" : "exact_mid_session";
        d.action = d.mode == WR_MODE_OFF ? WR_ACTION_PASS : WR_ACTION_MEASURE;
    }
    return d;
}

void wr_sessions_bind(struct wr_sessions *sessions, weir_span tenant, weir_span session,
                      enum wr_bound bound)
{
    bool is_new;
    (void)pthread_mutex_lock(&sessions->lock);
    struct entry *entry = find_entry(sessions, hash_session(tenant, session), &is_new);
    if (is_new)
        entry->mode = WR_MODE_ACTIVE;
    entry->bound = (uint8_t)bound;
    (void)pthread_mutex_unlock(&sessions->lock);
}
