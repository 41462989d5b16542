/* What is done with a request: the mode of its session, and what overrides it.
 *
 *   1. the session's mode    from its entry; else as it was kept in the store; else from the rules
 *   2. what was typed        --mode and --policy of this server, unless a rule matches
 *   3. the provider's word   a session that is bound to one form gets that form
 *   4. the request's header  x-weir-mode: exact, for this request alone
 *
 * A session keeps its mode because changing it in the middle changes the whole prompt and costs
 * the cache. The table of sessions is a cache of sets of eight, with one lock. What falls out of
 * it is read from the store or decided anew from the same hash, which gives the same as long as
 * weir.yaml does not change.
 */
#include "proxy/rollout.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/span.h"
#include "engine/steer.h"
#include "policy/orders.h"
#include "proxy/config.h"
#include "proxy/projector.h"

enum { WAYS = 8, SETS = WR_PROXY_SESSIONS_MAX / WAYS };

/* A cache of sets: the least recently used of a set gives way. What is forgotten is decided anew,
 * and differs only where the configuration was changed in between. */
struct entry {
    wr_hash128 session; /* 0, 0: free */
    uint64_t used;      /* a count, not a time */
    uint8_t mode;
    uint8_t requests_count; /* up to 3 */
    uint8_t bound;          /* enum wr_bound */
    bool reads_cache;
    uint32_t percent;
    uint32_t said;        /* hash of the typed policy that it keeps since; 0: none was typed */
    uint32_t shadow_said; /* the same, in shadow */
};

static const char *const bound_words[] = {[WR_BOUND_NOT] = "",
                                          [WR_BOUND_RAW] = " raw",
                                          [WR_BOUND_PROJECTED] = " projected",
                                          [WR_BOUND_UNSIGNED] = " unsigned"};

#define SAID " policy="

enum { BOUND_COUNT = WR_COUNT_OF(bound_words) };

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

/* The session's entry; if it has none (*is_new), it takes the oldest of its set. Called with the
 * lock held. */
static struct entry *find_session(struct wr_sessions *sessions, wr_hash128 hash, bool *is_new)
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
        if (!rule->tool && !rule->path && rule_matches(rule, input))
            return rule;
    }
    return NULL;
}

static uint32_t hash_said(weir_span policy)
{
    return (uint32_t)wr_hash64(policy) | 1;
}

/* The policy of that hash; where none is meant, or it is not there any more, the configured one. */
static const char *policy_of(const struct wr_config *config, uint32_t said)
{
    for (uint32_t i = 0; said && config->policies && i < wr_policies_count(config->policies); i++) {
        const char *name = wr_policies_at(config->policies, i)->name;
        if (hash_said(wr_span_of(name)) == said)
            return name;
    }
    return config->policy;
}

static void decide_action(struct wr_decision *d)
{
    bool is_in = d->bucket < d->percent;

    if (d->bound == WR_BOUND_UNSIGNED && d->mode != WR_MODE_OFF) {
        d->action = WR_ACTION_PROJECT;
        d->reason = "thinking_unsigned";
        return;
    }
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

/* The same for the hash of the policy that was typed. */
static uint32_t take_said(weir_span *kept)
{
    size_t at = wr_span_find(*kept, WR_LIT(SAID), 0);
    if (at == SIZE_MAX)
        return 0;
    weir_span hex = wr_span_cut(*kept, at + sizeof(SAID) - 1, kept->len);
    kept->len = at;
    return hex.len == 8 ? (uint32_t)strtoul(hex.ptr, NULL, 16) : 0;
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
    entry->said = take_said(&kept);
    if (!input->kept.len && input->wanted.len && !input->config->is_policy_said &&
        !(rule && rule->policy))
        entry->said = hash_said(input->wanted);
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
    int bytes = snprintf(text, WR_KEPT_MODE_BYTES, "%s", wr_mode_name(decision->mode));

    if (decision->mode == WR_MODE_CANARY || decision->mode == WR_MODE_HOLDOUT)
        bytes +=
            snprintf(text + bytes, WR_KEPT_MODE_BYTES - (size_t)bytes, " %u", decision->percent);
    if (decision->said)
        bytes +=
            snprintf(text + bytes, WR_KEPT_MODE_BYTES - (size_t)bytes, SAID "%08x", decision->said);
    (void)snprintf(text + bytes, WR_KEPT_MODE_BYTES - (size_t)bytes, "%s",
                   bound_words[decision->bound]);
}

/* On the request with which a session leaves its projection the figures are of what is sent, as it
 * came. */
enum wr_deed wr_decision_deed(const struct wr_decision *decision)
{
    if (decision->action == WR_ACTION_PROJECT)
        return WR_DEED_PROJECTED;
    return wr_decision_is_shadow(decision) ? WR_DEED_SHADOWED : WR_DEED_MEASURED;
}

void wr_decision_tell(const struct wr_decision *decision, struct wr_record *record)
{
    record->mode = wr_word_of(wr_mode_name(decision->mode));
    record->mode_reason = wr_word_of(decision->reason);
    record->has_bucket = decision->mode == WR_MODE_CANARY || decision->mode == WR_MODE_HOLDOUT;
    record->bucket = decision->bucket;
    record->bucket_percent = decision->percent;
}

/* A tool is left alone in every mode that sends what came, and so by sessions outside of a canary.
 */
static bool is_active(const struct wr_rule *rule, uint32_t bucket)
{
    return rule->mode == WR_MODE_ACTIVE ||
           (rule->mode == WR_MODE_CANARY && bucket < rule->percent) ||
           (rule->mode == WR_MODE_HOLDOUT && bucket >= rule->percent);
}

/* Words are parted by spaces: in a path a '*' stands for one. What may be changed anyway needs no
 * word, since of paths every rule holds. */
static size_t write_path(const struct wr_rule *rule, uint32_t bucket, char *text, size_t room)
{
    if (is_active(rule, bucket))
        return 0;
    int bytes = snprintf(text, room, WR_WORD_PATH "%s", rule->path);
    for (char *c = text; *c; c++)
        if (*c == ' ')
            *c = '*';
    return bytes > 0 ? (size_t)bytes : 0;
}

void wr_rollout_tools(const struct wr_rollout_input *input, uint32_t bucket,
                      char text[WR_TOOLS_BYTES_MAX + 1])
{
    size_t bytes = 0;

    text[0] = '\0';
    for (size_t i = 0; i < input->config->rules_count; i++) {
        const struct wr_rule *rule = &input->config->rules[i];
        const char *name = rule->tool ? rule->tool : rule->path;
        if (!name || !rule_matches(rule, input) ||
            bytes + strlen(name) + sizeof(WR_WORD_PATH) > WR_TOOLS_BYTES_MAX)
            continue;
        size_t front = bytes ? 1 : 0, room = WR_TOOLS_BYTES_MAX + 1 - bytes - front;
        char *word = text + bytes + front;
        size_t added = rule->path ? write_path(rule, bucket, word, room)
                                  : (size_t)snprintf(word, room, "%c%s",
                                                     is_active(rule, bucket) ? '+' : '-', name);
        if (added && front)
            text[bytes] = ' ';
        bytes += added ? added + front : 0;
    }
}

static bool is_projecting(const struct entry *entry, uint32_t bucket)
{
    struct wr_decision d = {.mode = (enum wr_mode)entry->mode,
                            .percent = entry->percent,
                            .bucket = bucket,
                            .bound = (enum wr_bound)entry->bound};
    decide_action(&d);
    return d.action == WR_ACTION_PROJECT && d.bound != WR_BOUND_UNSIGNED;
}

/* A mode that was typed for this server replaces the one that the session keeps, and the form that
 * it is bound to. (This is not called if a rule matches.) A session that is projected again keeps
 * what it was sent as; one that is no longer projected loses the signed thinking that the provider
 * would refuse. */
static void hear_mode(struct entry *entry, const struct wr_rollout_input *input,
                      struct wr_decision *d)
{
    const struct wr_config *config = input->config;

    if (!config->is_mode_said || (entry->mode == config->mode && entry->percent == config->percent))
        return;
    bool was_projecting = is_projecting(entry, d->bucket);
    entry->mode = (uint8_t)config->mode;
    entry->percent = config->percent;
    entry->bound = WR_BOUND_NOT;
    d->is_due = d->is_new = true;
    if (was_projecting == is_projecting(entry, d->bucket))
        return;
    d->turn = was_projecting ? WR_MODE_TURNS_WHOLE : WR_MODE_TURNS_PROJECTED;
    if (was_projecting && input->is_signed)
        entry->bound = WR_BOUND_UNSIGNED;
}

/* A policy that was typed is heard once. From then on it is the session's own, in its pin, and
 * learning may change it. */
static void hear_policy(struct entry *entry, const struct wr_rollout_input *input, bool is_known,
                        struct wr_decision *d)
{
    uint32_t said = hash_said(wr_span_of(input->config->policy));
    bool is_shadow = d->action == WR_ACTION_SHADOW;
    uint32_t *heard = is_shadow ? &entry->shadow_said : &entry->said;
    bool is_heard = d->action == WR_ACTION_PROJECT && d->bound != WR_BOUND_UNSIGNED;

    if ((!is_shadow && !is_heard) || *heard == said)
        return;
    *heard = said;
    d->says_policy = true;
    if (is_known && !is_shadow)
        d->is_due = d->is_new = true;
}

struct wr_decision wr_rollout_decide(struct wr_sessions *sessions,
                                     const struct wr_rollout_input *input)
{
    wr_hash128 hash = hash_session(input->tenant, input->session);
    const struct wr_rule *rule = find_rule(input);
    struct wr_decision d = {.bucket = (uint32_t)(hash.high % 100)};
    bool is_new;

    (void)pthread_mutex_lock(&sessions->lock);
    struct entry *entry = find_session(sessions, hash, &is_new);
    if (is_new)
        begin_session(entry, input, rule);
    else if (entry->requests_count < 3)
        d.is_due = ++entry->requests_count == 2;
    if (!rule)
        hear_mode(entry, input, &d);
    d.mode = (enum wr_mode)entry->mode;
    d.percent = entry->percent;
    d.bound = input->bind ? input->bind : (enum wr_bound)entry->bound;
    decide_action(&d);
    if (input->config->is_policy_said && !(rule && rule->policy))
        hear_policy(entry, input, !is_new || input->kept.len, &d);
    d.said = entry->said;
    d.reads_cache = entry->reads_cache;
    (void)pthread_mutex_unlock(&sessions->lock);

    bool is_said = input->config->is_policy_said;
    d.policy = rule && rule->policy ? rule->policy : policy_of(input->config, is_said ? 0 : d.said);
    d.recall = rule && rule->says_recall ? rule->recall : input->config->recall;
    if (wr_span_is(input->mode, "exact")) {
        d.is_exact = true;
        d.reason = is_new ? "exact" : "exact_mid_session";
        d.action = d.mode == WR_MODE_OFF ? WR_ACTION_PASS : WR_ACTION_MEASURE;
    }
    return d;
}

void wr_sessions_read_cache(struct wr_sessions *sessions, weir_span tenant, weir_span session)
{
    wr_hash128 hash = hash_session(tenant, session);
    struct entry *set = sessions->entries[hash.high % SETS];

    (void)pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].session.low == hash.low && set[i].session.high == hash.high)
            set[i].reads_cache = true;
    (void)pthread_mutex_unlock(&sessions->lock);
}

void wr_sessions_bind(struct wr_sessions *sessions, weir_span tenant, weir_span session,
                      enum wr_bound bound)
{
    bool is_new;
    (void)pthread_mutex_lock(&sessions->lock);
    struct entry *entry = find_session(sessions, hash_session(tenant, session), &is_new);
    if (is_new)
        entry->mode = WR_MODE_ACTIVE;
    entry->bound = (uint8_t)bound;
    (void)pthread_mutex_unlock(&sessions->lock);
}

/* ==== words for modes and for recall ====
 *
 * The words for modes and for recall, as weir.yaml, options and headers have them.
 */

static const char *const mode_names[] = {
#define X(name, text) [WR_MODE_##name] = text,
    WR_MODE_MAP(X)
#undef X
};

enum { MODES_COUNT = WR_COUNT_OF(mode_names) };

const char *wr_mode_name(enum wr_mode mode)
{
    return mode_names[mode];
}

static bool takes_percent(enum wr_mode mode)
{
    return mode == WR_MODE_CANARY || mode == WR_MODE_HOLDOUT;
}

static bool parse_percent(weir_span text, uint32_t *percent)
{
    uint64_t number;
    if (text.len && text.ptr[text.len - 1] == '%')
        text.len--;
    if (!wr_span_u64(wr_span_trim(text), &number) || number > 100)
        return false;
    *percent = (uint32_t)number;
    return true;
}

bool wr_mode_parse(weir_span text, enum wr_mode *mode, uint32_t *percent)
{
    for (size_t i = 0; i < MODES_COUNT; i++) {
        weir_span name = wr_span_of(mode_names[i]);
        if (!wr_span_starts(text, name))
            continue;
        weir_span rest = wr_span_trim(wr_span_cut(text, name.len, text.len));
        *mode = (enum wr_mode)i;
        if (!takes_percent(*mode))
            return !rest.len;
        return text.len > name.len && text.ptr[name.len] == ' ' && parse_percent(rest, percent);
    }
    return false;
}

bool wr_recall_parse(weir_span text, enum wr_recall *recall)
{
    static const char *const names[] = WR_NAMES_OF(WR_RECALL_MAP);
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(text, names[i])) {
            *recall = (enum wr_recall)i;
            return true;
        }
    return false;
}

/* ---- what is kept in the store ---- */

/* It is kept among the session's pins, under a name no model has. */
static struct weir_pin mode_pin(weir_span value)
{
    return (struct weir_pin){.model = WR_LIT("weir rollout mode"), .value = value};
}

static weir_span kept_mode(struct weir_store *store, weir_span tenant, weir_span session)
{
    struct weir_pin pin = mode_pin((weir_span){"", 0});

    if (weir_store_pin(store, tenant, session, &pin, NULL))
        return (weir_span){"", 0};
    return pin.value;
}

void wr_keep_mode(struct weir_store *store, weir_span tenant, weir_span session, int64_t now_ms,
                  const struct wr_decision *decision, bool replaces)
{
    char text[WR_KEPT_MODE_BYTES];
    wr_decision_mode(decision, text);
    struct weir_pin pin = mode_pin(wr_span_of(text));
    pin.replaces = replaces;
    struct weir_batch batch = {
        .tenant = tenant, .session = session, .used_ms = now_ms, .pins = &pin, .pins_count = 1};
    if (store)
        (void)!weir_store_commit(store, &batch, NULL);
}

/* ---- the policy of new sessions ---- */

#define NO_POLICY "-" /* a pin is never taken out, and never empty */

/* Among what is said of all sessions. */
static struct weir_pin policy_pin(weir_span value)
{
    return (struct weir_pin){.model = WR_LIT("weir policy of new sessions"), .value = value};
}

weir_span wr_wanted_policy(struct weir_store *store, weir_span tenant)
{
    struct weir_pin pin = policy_pin((weir_span){"", 0});

    if (!store || weir_store_pin(store, tenant, WR_LIT(WR_ORDER_EVERY_SESSION), &pin, NULL) ||
        wr_span_is(pin.value, NO_POLICY))
        return (weir_span){"", 0};
    return pin.value;
}

static weir_status commit_policy(struct weir_store *store, weir_span tenant, struct weir_pin *pin,
                                 int64_t now_ms, struct weir_err *err)
{
    struct weir_batch batch = {.tenant = tenant,
                               .session = WR_LIT(WR_ORDER_EVERY_SESSION),
                               .used_ms = now_ms,
                               .pins = pin,
                               .pins_count = 1};
    return weir_store_commit(store, &batch, err);
}

weir_status wr_want_policy(struct weir_store *store, weir_span tenant, weir_span policy,
                           int64_t now_ms, struct weir_err *err)
{
    struct weir_pin pin = policy_pin(policy.len ? policy : WR_LIT(NO_POLICY));
    pin.replaces = true;
    return commit_policy(store, tenant, &pin, now_ms, err);
}

/* ---- asking ---- */

void wr_kept_ask(struct weir_store *store, struct wr_arena *arena, struct wr_sessions *sessions,
                 int64_t now_ms, struct wr_rollout_input *input)
{
    if (!store || wr_sessions_has(sessions, input->tenant, input->session))
        return;
    input->kept = wr_arena_copy(arena, kept_mode(store, input->tenant, input->session));
    if (input->kept.len)
        return;
    input->wanted = wr_arena_copy(arena, wr_wanted_policy(store, input->tenant));
    /* What a session begins with is in use, and not collected. One that was changed meanwhile
     * stays: this is a conflict then, and nobody's loss. */
    struct weir_pin pin = policy_pin(input->wanted);
    if (input->wanted.len)
        (void)!commit_policy(store, input->tenant, &pin, now_ms, NULL);
}

/* ---- what a thread asks of its task ---- */

weir_span wr_task_failure(weir_status status, uint64_t took_us)
{
    if (status == WEIR_NOTFOUND)
        return WR_LIT("no_such_policy");
    if (status == WEIR_NOMEM)
        return WR_LIT("no_memory");
    if (status != WEIR_LIMIT)
        return WR_LIT("not_projected");
    return took_us >= (uint64_t)WR_PROJECT_MS_MAX * 1000 ? WR_LIT(WR_DEADLINE_HARD)
                                                         : WR_LIT("too_large");
}

enum wr_recall wr_task_recall(const struct wr_task *task)
{
    enum wr_recall recall = task->decision.recall;
    (void)wr_recall_parse(task->recall, &recall);
    return recall;
}

bool wr_task_may_take_out(const struct wr_task *task)
{
    const struct wr_policies *policies = task->config->policies;
    weir_span name = task->policy.len ? task->policy : wr_span_of(task->decision.policy);
    const struct wr_policy *policy = policies ? wr_policies_find(policies, name) : NULL;

    return !policy || policy->stages_count;
}

void wr_task_release(struct wr_task *task)
{
    wr_buf_release(&task->out);
    wr_buf_release(&task->report);
    wr_own_release(&task->own);
}
