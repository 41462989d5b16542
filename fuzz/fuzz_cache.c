/* Oracles: a second cache that is nothing but a list, asked in every rule's words, gives the same
 * numbers; read, written and plain tokens are the whole prompt; the cost is known. */
#include "models/cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

enum { BLOCKS_MAX = 48, KEYS_MAX = 4096, REQUESTS_MAX = 48 };

/* A prefix is named by all that is in it: no hashes here. */
struct prefix {
    uint64_t blocks[BLOCKS_MAX];
    uint32_t count;
    int64_t expires_ms;
    uint64_t used;
    bool is_long;
};

struct list {
    const struct wr_model *model;
    struct prefix *prefixes;
    uint32_t count;
    uint64_t used;
};

static struct prefix *find(struct list *list, const struct wr_cache_block *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t same = 0;
        while (same < count && list->prefixes[i].count == count &&
               list->prefixes[i].blocks[same] == blocks[same].hash)
            same++;
        if (list->prefixes[i].count == count && same == count)
            return &list->prefixes[i];
    }
    return NULL;
}

static void keep(struct list *list, const struct wr_cache_block *blocks, uint32_t count,
                 bool is_long, int64_t now_ms)
{
    const struct wr_cache_rule *rule = list->model->cache;
    int64_t expires_ms = now_ms + (int64_t)(is_long ? rule->ttl_long_s : rule->ttl_s) * 1000;
    struct prefix *prefix = find(list, blocks, count);
    if (!prefix) {
        prefix = &list->prefixes[list->count++];
        *prefix = (struct prefix){.count = count, .expires_ms = expires_ms};
        for (uint32_t i = 0; i < count; i++)
            prefix->blocks[i] = blocks[i].hash;
    }
    if (prefix->expires_ms < expires_ms)
        prefix->expires_ms = expires_ms;
    prefix->is_long = is_long;
    prefix->used = ++list->used;
}

static uint64_t tokens_of(const struct wr_cache_block *blocks, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += blocks[i].tokens;
    return sum;
}

/* The markers that count, as "how many blocks stand up to it", and which live long: an implicit one
 * does not, whatever marker that does not count stands there. */
static uint32_t marks_of(const struct list *list, const struct wr_cache_prompt *p, uint32_t *ends,
                         bool *is_long)
{
    enum wr_cache_mode mode = list->model->cache->mode;
    uint32_t count = 0, most = mode == WR_CACHE_BREAKPOINT ? 3 : 4, implicit = 0;
    if (mode != WR_CACHE_EXPLICIT && mode != WR_CACHE_BREAKPOINT)
        return 0;
    for (uint32_t i = 0; i < p->blocks_count; i++)
        if (p->blocks[i].part == WR_BLOCK_INPUT)
            implicit = i + 1;
    bool marked[BLOCKS_MAX + 1] = {false}, by_hand[BLOCKS_MAX + 1] = {false};
    for (uint32_t i = p->blocks_count, found = 0; i-- > 0;)
        if (p->blocks[i].mark != WR_MARK_NONE && found++ < most)
            marked[i + 1] = by_hand[i + 1] = true;
    if (mode == WR_CACHE_BREAKPOINT && implicit)
        marked[implicit] = true;
    for (uint32_t end = 1; end <= p->blocks_count; end++)
        if (marked[end]) {
            is_long[count] = by_hand[end] && p->blocks[end - 1].mark == WR_MARK_LONG;
            ends[count++] = end;
        }
    return count;
}

static bool is_reachable(const struct list *list, const uint32_t *ends, uint32_t count,
                         uint32_t length)
{
    const struct wr_cache_rule *rule = list->model->cache;
    if (rule->mode != WR_CACHE_EXPLICIT)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (length <= ends[i] && ends[i] - length < rule->lookback_blocks)
            return true;
    return false;
}

static bool is_recent(const struct list *list, const struct prefix *prefix)
{
    uint32_t newer = 0;
    for (uint32_t i = 0; i < list->count; i++)
        newer += list->prefixes[i].used > prefix->used;
    return !list->model->cache->keys_max || newer < list->model->cache->keys_max;
}

static uint32_t longest_hit(struct list *list, const struct wr_cache_prompt *p,
                            const uint32_t *ends, uint32_t ends_count, int64_t now_ms)
{
    for (uint32_t length = p->blocks_count; length > 0; length--) {
        struct prefix *prefix = find(list, p->blocks, length);
        if (prefix && prefix->expires_ms > now_ms && is_recent(list, prefix) &&
            tokens_of(p->blocks, length) >= list->model->min_cacheable_tokens &&
            is_reachable(list, ends, ends_count, length))
            return length;
    }
    return 0;
}

static void send(struct list *list, const struct wr_cache_prompt *p, int64_t now_ms, uint64_t *read,
                 uint64_t *written)
{
    const struct wr_cache_rule *rule = list->model->cache;
    bool is_long[BLOCKS_MAX];
    uint32_t ends[BLOCKS_MAX], count = marks_of(list, p, ends, is_long);
    uint32_t hit = p->is_bust ? 0 : longest_hit(list, p, ends, count, now_ms);
    uint64_t last = 0;
    *read = tokens_of(p->blocks, hit);
    if (rule->step_tokens > 1)
        *read -= *read % rule->step_tokens;
    if (*read < list->model->min_cacheable_tokens)
        *read = 0;
    for (uint32_t i = 0; i < count; i++)
        if (tokens_of(p->blocks, ends[i]) >= list->model->min_cacheable_tokens)
            last = tokens_of(p->blocks, ends[i]);
    *written = last > *read ? last - *read : 0;
    if (hit && rule->mode != WR_CACHE_PREFIX)
        keep(list, p->blocks, hit, find(list, p->blocks, hit)->is_long, now_ms);
    for (uint32_t i = 0; i < (rule->mode == WR_CACHE_PREFIX ? p->blocks_count : count); i++) {
        uint32_t length = rule->mode == WR_CACHE_PREFIX ? i + 1 : ends[i];
        if (tokens_of(p->blocks, length) >= list->model->min_cacheable_tokens)
            keep(list, p->blocks, length, rule->mode != WR_CACHE_PREFIX && is_long[i], now_ms);
    }
}

static void compare(const struct wr_cache_usage *usage, const struct wr_cache_prompt *p,
                    uint64_t read, uint64_t written)
{
    uint64_t total = tokens_of(p->blocks, p->blocks_count);
    if (usage->read_tokens == read && usage->written_tokens == written &&
        usage->read_tokens + usage->written_tokens + usage->uncached_tokens == total &&
        usage->cost.known)
        return;
    fprintf(stderr, "read %llu, not %llu; written %llu, not %llu; of %llu\n",
            (unsigned long long)usage->read_tokens, (unsigned long long)read,
            (unsigned long long)usage->written_tokens, (unsigned long long)written,
            (unsigned long long)total);
    abort();
}

/* Each request keeps some of the last one's blocks and has new ones behind them. */
static uint32_t next_request(const uint8_t *data, struct wr_cache_block *blocks, uint32_t count)
{
    uint32_t kept = count ? data[0] % (count + 1) : 0, added = data[1] % 8;
    for (uint32_t i = kept; i < kept + added && i < BLOCKS_MAX; i++)
        blocks[i] = (struct wr_cache_block){.hash = (uint64_t)data[2] + i % 3,
                                            .tokens = (uint32_t)data[3] * (i % 5 + 1),
                                            .part = (enum wr_block_part)(i % 4)};
    count = kept + added < BLOCKS_MAX ? kept + added : BLOCKS_MAX;
    for (uint32_t i = 0; i < count; i++)
        blocks[i].mark = (data[4] >> (i % 8)) & 1 ? WR_MARK_SHORT : WR_MARK_NONE;
    for (uint32_t i = 0; i < count && data[4] & 128; i++)
        if (blocks[i].mark != WR_MARK_NONE) {
            blocks[i].mark = WR_MARK_LONG;
            break;
        }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct wr_cache_rule rules[] = {
        {.mode = WR_CACHE_EXPLICIT,
         .ttl_s = 300,
         .ttl_long_s = 3600,
         .breakpoints_max = 4,
         .lookback_blocks = 5},
        {.mode = WR_CACHE_BREAKPOINT,
         .ttl_s = 1800,
         .ttl_long_s = 43200,
         .breakpoints_max = 4,
         .keys_max = 6},
        {.mode = WR_CACHE_PREFIX, .ttl_s = 300, .ttl_long_s = 86400, .step_tokens = 128}};
    static struct prefix prefixes[KEYS_MAX];
    struct wr_cache_block blocks[BLOCKS_MAX];
    struct wr_model model = {.prices = {1000, 100, WR_PRICE_UNSET, 1250, 2000, 1250, 5000}};
    struct list list = {.model = &model, .prefixes = prefixes};
    struct wr_cache cache;
    struct wr_arena arena;
    uint32_t count = 0, sent = 0;
    int64_t now_ms = 0;

    if (size < 2)
        return 0;
    model.cache = &rules[data[0] % 3];
    model.min_cacheable_tokens = (uint32_t)data[1] * 4;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (wr_cache_init(&cache, &arena, &model, NULL))
        abort();
    for (size_t at = 2; at + 6 <= size && sent < REQUESTS_MAX; at += 6, sent++) {
        struct wr_cache_usage usage;
        struct wr_cache_prompt prompt = {.seed = 1, .blocks = blocks};
        uint64_t read, written;
        prompt.blocks_count = count = next_request(data + at, blocks, count);
        prompt.is_bust = data[at + 5] == 255;
        now_ms += (int64_t)data[at + 5] * 2000;
        weir_status status = wr_cache_request(&cache, &prompt, now_ms, &usage);
        if (status == WEIR_INVALID)
            continue;
        if (status)
            abort();
        send(&list, &prompt, now_ms, &read, &written);
        compare(&usage, &prompt, read, written);
    }
    wr_arena_release(&arena);
    return 0;
}
