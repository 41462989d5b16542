/* A model of a provider's prompt cache: which tokens of a request it would read, write or charge.
 *
 *   make_chain     the key of each block: the hash of everything up to its end
 *   find_marks     where the cache writes: at the markers of the request, or at an implicit one
 *   find_hit       the last block whose key is still alive and where the rule lets it be read
 *   count_writes   what lies between the hit and the last marker, by lifetime
 *   keep_keys      the keys that are read or written live on from now
 *
 * The keys of a session are an open-addressed table in an arena. It doubles up to
 * WR_PROMPT_CACHE_KEYS_MAX places; then it is rebuilt in the same size with the live keys that were
 * used last, a quarter of its places. So a long session forgets the keys that it has not used for
 * longest.
 */
#include "models/cache.h"

#include "base/hash.h"
#include "base/limits.h"

enum { KEYS_CAP_FIRST = 256, MS_A_SECOND = 1000 };

#define NO_BLOCK UINT32_MAX

struct wr_cache_key {
    uint64_t key; /* 0: free */
    int64_t expires_ms;
    uint64_t used;
    bool is_long;
};

/* ---- the keys ---- */

weir_status wr_cache_init(struct wr_cache *cache, struct wr_arena *arena,
                          const struct wr_model *model, const struct wr_cache_options *options)
{
    *cache = (struct wr_cache){.model = model, .arena = arena, .keys_cap = KEYS_CAP_FIRST};
    if (options)
        cache->options = *options;
    cache->keys = WR_ARENA_ARRAY(arena, struct wr_cache_key, KEYS_CAP_FIRST);
    return cache->keys ? WEIR_OK : wr_arena_status(arena);
}

/* The key, or the free place for it. */
static struct wr_cache_key *find_key_place(const struct wr_cache *cache, uint64_t key)
{
    uint32_t at = (uint32_t)key & (cache->keys_cap - 1);
    while (cache->keys[at].key && cache->keys[at].key != key)
        at = (at + 1) & (cache->keys_cap - 1);
    return &cache->keys[at];
}

static struct wr_cache_key *find_live(const struct wr_cache *cache, uint64_t key, int64_t now_ms)
{
    struct wr_cache_key *found = find_key_place(cache, key);
    return found->key && found->expires_ms > now_ms ? found : NULL;
}

/* Moves the live keys to a table of `cap` places. Where the table does not grow, only those used
 * last are moved. */
static weir_status rebuild_keys(struct wr_cache *cache, uint32_t cap, int64_t now_ms)
{
    struct wr_cache_key *old = cache->keys;
    uint32_t old_cap = cache->keys_cap;
    uint64_t oldest = cap == old_cap && cache->used > cap / 4 ? cache->used - cap / 4 : 0;

    struct wr_cache_key *keys = WR_ARENA_ARRAY(cache->arena, struct wr_cache_key, cap);
    if (!keys)
        return wr_arena_status(cache->arena);
    cache->keys = keys;
    cache->keys_cap = cap;
    cache->keys_count = 0;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (!old[i].key || old[i].expires_ms <= now_ms || old[i].used < oldest)
            continue;
        *find_key_place(cache, old[i].key) = old[i];
        cache->keys_count++;
    }
    return WEIR_OK;
}

static weir_status make_key_room(struct wr_cache *cache, uint32_t keys_count, int64_t now_ms)
{
    weir_status status = WEIR_OK;
    while (!status && cache->keys_cap < WR_PROMPT_CACHE_KEYS_MAX &&
           cache->keys_count + keys_count > cache->keys_cap / 2)
        status = rebuild_keys(cache, cache->keys_cap * 2, now_ms);
    if (!status && cache->keys_count + keys_count > cache->keys_cap / 2)
        status = rebuild_keys(cache, cache->keys_cap, now_ms);
    return status;
}

static uint64_t ttl_ms(const struct wr_cache *cache, bool is_long)
{
    const struct wr_cache_rule *rule = cache->model->cache;
    uint64_t ttl_s = is_long && rule->ttl_long_s ? rule->ttl_long_s : rule->ttl_s;
    if (!ttl_s)
        ttl_s = cache->options.ttl_s_unknown ? cache->options.ttl_s_unknown
                                             : WR_CACHE_UNPUBLISHED_TTL_S;
    return ttl_s * MS_A_SECOND;
}

static void use_key(struct wr_cache *cache, uint64_t key, bool is_long, int64_t now_ms)
{
    struct wr_cache_key *place = find_key_place(cache, key);
    int64_t expires_ms = now_ms + (int64_t)ttl_ms(cache, is_long);
    if (!place->key) {
        cache->keys_count++;
        *place = (struct wr_cache_key){.key = key, .expires_ms = expires_ms};
    }
    if (place->expires_ms < expires_ms)
        place->expires_ms = expires_ms;
    place->is_long = is_long;
    place->used = ++cache->used;
}

/* ---- one request ---- */

/* A request at work: its keys, how many tokens stand up to each, and its markers. */
struct sending {
    const struct wr_cache_prompt *prompt;
    const uint64_t *chain, *sums;
    uint32_t marks[WR_CACHE_MARKERS_MAX]; /* rising block numbers */
    bool is_long[WR_CACHE_MARKERS_MAX];
    uint32_t marks_count;
    uint64_t total_tokens;
    int64_t now_ms;
};

static weir_status make_chain(struct wr_cache *cache, const struct wr_cache_prompt *prompt)
{
    uint32_t count = prompt->blocks_count;
    uint64_t key = prompt->seed, sum = 0;
    if (count > cache->blocks_cap) {
        uint32_t cap = count + count / 2;
        uint64_t *both = WR_ARENA_ARRAY(cache->arena, uint64_t, 2 * (size_t)cap);
        if (!both)
            return wr_arena_status(cache->arena);
        cache->chain = both;
        cache->sums = both + cap;
        cache->blocks_cap = cap;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = prompt->blocks[i].hash;
        key = wr_hash64_seeded((weir_span){(const char *)&hash, sizeof(hash)}, key);
        key += !key; /* 0 is a free place */
        sum += prompt->blocks[i].tokens;
        cache->chain[i] = key;
        cache->sums[i] = sum;
    }
    return WEIR_OK;
}

/* The markers as they came. More than `marks_max`: refused, or only the latest count. */
static weir_status take_sent_marks(struct sending *s, uint32_t marks_max, bool refuse)
{
    const struct wr_cache_prompt *p = s->prompt;
    uint32_t found = 0;
    for (uint32_t i = p->blocks_count; i-- > 0;) {
        if (p->blocks[i].mark == WR_MARK_NONE)
            continue;
        if (found == marks_max && refuse)
            return WEIR_INVALID;
        if (found == marks_max)
            break;
        s->marks[marks_max - ++found] = i;
    }
    for (uint32_t i = 0; i < found; i++)
        s->marks[i] = s->marks[marks_max - found + i];
    s->marks_count = found;
    for (uint32_t i = 0; i < found; i++) {
        s->is_long[i] = p->blocks[s->marks[i]].mark == WR_MARK_LONG;
        if (refuse && i && s->is_long[i] && !s->is_long[i - 1])
            return WEIR_INVALID;
    }
    return WEIR_OK;
}

static void add_implicit_mark(struct sending *s, bool is_long)
{
    const struct wr_cache_prompt *p = s->prompt;
    uint32_t at = p->blocks_count, place = s->marks_count;
    while (at > 0 && p->blocks[at - 1].part != WR_BLOCK_INPUT)
        at--;
    if (!at--)
        return;
    for (uint32_t i = 0; i < s->marks_count; i++)
        if (s->marks[i] == at)
            return;
    for (; place > 0 && s->marks[place - 1] > at; place--) {
        s->marks[place] = s->marks[place - 1];
        s->is_long[place] = s->is_long[place - 1];
    }
    s->marks[place] = at;
    s->is_long[place] = is_long;
    s->marks_count++;
}

static weir_status find_marks(const struct wr_cache *cache, struct sending *s)
{
    const struct wr_cache_rule *rule = cache->model->cache;
    uint32_t most = rule->breakpoints_max;
    if (!most || most > WR_CACHE_MARKERS_MAX)
        most = WR_CACHE_MARKERS_MAX;
    if (rule->mode == WR_CACHE_EXPLICIT)
        return take_sent_marks(s, most, true);
    if (rule->mode != WR_CACHE_BREAKPOINT)
        return WEIR_OK;
    if (cache->options.explicit_only)
        return take_sent_marks(s, most, false);
    weir_status status = take_sent_marks(s, most - 1, false);
    if (!status)
        add_implicit_mark(s, cache->options.use_long_ttl);
    return status;
}

static uint32_t hit_near_marks(const struct wr_cache *cache, const struct sending *s)
{
    uint32_t lookback = cache->model->cache->lookback_blocks;
    for (uint32_t i = s->marks_count; i-- > 0;) {
        uint32_t mark = s->marks[i];
        uint32_t last = lookback && mark + 1 > lookback ? mark + 1 - lookback : 0;
        for (uint32_t block = mark + 1; block-- > last;)
            if (s->sums[block] >= cache->model->min_cacheable_tokens &&
                find_live(cache, s->chain[block], s->now_ms))
                return block;
    }
    return NO_BLOCK;
}

/* Whether a key is among the `keys_max` that were used last. */
static bool is_considered(const struct wr_cache *cache, const struct wr_cache_key *key)
{
    uint32_t newer = 0, keys_max = cache->model->cache->keys_max;
    if (!keys_max || cache->keys_count <= keys_max)
        return true;
    for (uint32_t i = 0; i < cache->keys_cap; i++)
        newer += cache->keys[i].key && cache->keys[i].used > key->used;
    return newer < keys_max;
}

static uint32_t hit_longest(const struct wr_cache *cache, const struct sending *s)
{
    for (uint32_t block = s->prompt->blocks_count; block-- > 0;) {
        const struct wr_cache_key *key = find_live(cache, s->chain[block], s->now_ms);
        if (key && s->sums[block] >= cache->model->min_cacheable_tokens &&
            is_considered(cache, key))
            return block;
    }
    return NO_BLOCK;
}

static uint32_t find_hit(const struct wr_cache *cache, const struct sending *s)
{
    enum wr_cache_mode mode = cache->model->cache->mode;
    if (mode == WR_CACHE_NONE || s->prompt->is_bust)
        return NO_BLOCK;
    return mode == WR_CACHE_EXPLICIT ? hit_near_marks(cache, s) : hit_longest(cache, s);
}

static uint64_t tokens_read(const struct wr_cache *cache, const struct sending *s, uint32_t hit)
{
    uint32_t step = cache->model->cache->step_tokens;
    if (hit == NO_BLOCK)
        return 0;
    uint64_t tokens = step > 1 ? s->sums[hit] - s->sums[hit] % step : s->sums[hit];
    if (tokens < cache->model->min_cacheable_tokens)
        return 0;
    return wr_cache_read_likely(cache->model, tokens);
}

/* Splits what lies between the hit and the last marker by the lifetime it is written for. */
static void count_writes(const struct wr_cache *cache, const struct sending *s,
                         struct wr_cache_usage *usage)
{
    uint64_t from = usage->read_tokens;
    for (uint32_t i = 0; i < s->marks_count; i++) {
        uint64_t to = s->sums[s->marks[i]];
        if (to < cache->model->min_cacheable_tokens || to <= from)
            continue;
        if (cache->model->cache->mode == WR_CACHE_BREAKPOINT)
            usage->usage.cache_write_30m_tokens += to - from;
        else if (s->is_long[i])
            usage->usage.cache_write_1h_tokens += to - from;
        else
            usage->usage.cache_write_5m_tokens += to - from;
        usage->written_tokens += to - from;
        from = to;
    }
}

static weir_status keep_keys(struct wr_cache *cache, const struct sending *s, uint32_t hit)
{
    bool is_prefix = cache->model->cache->mode == WR_CACHE_PREFIX;
    uint32_t count = is_prefix ? s->prompt->blocks_count : s->marks_count, first = 0;

    if (cache->model->cache->mode == WR_CACHE_NONE)
        return WEIR_OK;
    /* A quarter of the places is what a rebuild keeps, and one request may add as much again. */
    if (count > WR_PROMPT_CACHE_KEYS_MAX / 4)
        first = count - WR_PROMPT_CACHE_KEYS_MAX / 4;
    weir_status status = make_key_room(cache, count - first + 1, s->now_ms);
    if (status)
        return status;
    struct wr_cache_key *read = hit == NO_BLOCK ? NULL : find_live(cache, s->chain[hit], s->now_ms);
    if (read && !is_prefix)
        use_key(cache, read->key, read->is_long, s->now_ms);
    for (uint32_t i = first; i < count; i++) {
        uint32_t block = is_prefix ? i : s->marks[i];
        if (s->sums[block] >= cache->model->min_cacheable_tokens)
            use_key(cache, s->chain[block], is_prefix ? cache->options.use_long_ttl : s->is_long[i],
                    s->now_ms);
    }
    return WEIR_OK;
}

weir_status wr_cache_request(struct wr_cache *cache, const struct wr_cache_prompt *prompt,
                             int64_t at_ms, struct wr_cache_usage *usage)
{
    struct sending s = {.prompt = prompt, .now_ms = at_ms};
    *usage = (struct wr_cache_usage){.usage = {.output_tokens = prompt->output_tokens}};

    weir_status status = make_chain(cache, prompt);
    if (!status)
        status = find_marks(cache, &s);
    if (status)
        return status;
    s.chain = cache->chain;
    s.sums = cache->sums;
    s.total_tokens = prompt->blocks_count ? cache->sums[prompt->blocks_count - 1] : 0;
    uint32_t hit = find_hit(cache, &s);
    usage->read_tokens = tokens_read(cache, &s, hit);
    usage->read_blocks = usage->read_tokens ? hit + 1 : 0;
    count_writes(cache, &s, usage);
    usage->uncached_tokens = s.total_tokens - usage->read_tokens - usage->written_tokens;
    usage->usage.input_tokens = usage->uncached_tokens;
    usage->usage.cache_read_tokens = usage->read_tokens;
    usage->cost = wr_cost(cache->model, &usage->usage);
    return keep_keys(cache, &s, hit);
}
