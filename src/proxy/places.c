/* Which place of an upstream is asked (places.h).
 *
 * An entry of `moved` is one word: 40 bits of the hash of upstream and session, 16 bits of the
 * minute it was last used in, 8 bits of the place's index. It is believed for as long as a cache
 * may live that nobody used (IDLE_MINUTES). Weights are obeyed by rendezvous hashing: each place
 * draws a number for the session, and the lowest number, divided by the weight, wins; a place that
 * is taken out of weir.yaml then moves no session but its own.
 */
#include "proxy/places.h"

#include <math.h>

#include "base/hash.h"
#include "base/span.h"
#include "proxy/credential.h"

enum {
    PROBES = 8,
    INDEX_BITS = 8,
    MINUTE_BITS = 16,
    TAG_BITS = 40,
    IDLE_MINUTES = 60, /* the longest that a provider keeps a prompt unless it is paid to */
    MS_A_MINUTE = 60 * 1000,
};

static uint64_t hash_of(const struct wr_upstream *upstream, uint64_t session)
{
    uint64_t hash = wr_hash64_seeded(wr_span_of(upstream->name), session);
    return hash ? hash : 1;
}

/* Of a place: it outlives a reload that changes others. */
static uint64_t place_hash(const struct wr_upstream *upstream, size_t index)
{
    const struct wr_upstream *place = &upstream->places[index];
    uint64_t hash = wr_hash64_seeded(wr_span_of(place->base_url), index + 1);

    hash = wr_hash64_seeded(wr_span_of(place->key ? place->key : ""), hash);
    hash = wr_hash64_seeded(wr_span_of(upstream->name), hash);
    return hash ? hash : 1;
}

/* ---- rests ---- */

static bool is_resting(struct wr_places *places, const struct wr_upstream *upstream, size_t index,
                       int64_t now_ms)
{
    uint64_t hash = place_hash(upstream, index);

    for (size_t i = 0; i < PROBES; i++) {
        size_t at = (hash + i) % WR_PLACES_RESTS;
        if (atomic_load_explicit(&places->rests[at].place, memory_order_relaxed) == hash)
            return atomic_load_explicit(&places->rests[at].until_ms, memory_order_relaxed) > now_ms;
    }
    return false;
}

void wr_places_rest(struct wr_places *places, const struct wr_upstream *upstream, size_t index,
                    uint64_t rest_ms, int64_t now_ms)
{
    uint64_t hash = place_hash(upstream, index);
    size_t at = hash % WR_PLACES_RESTS;

    for (size_t i = 0; i < PROBES; i++) {
        size_t probe = (hash + i) % WR_PLACES_RESTS;
        uint64_t held = atomic_load_explicit(&places->rests[probe].place, memory_order_relaxed);
        if (held == hash || !held) {
            at = probe;
            break;
        }
    }
    if (!rest_ms)
        rest_ms = WR_PROXY_REST_MS;
    if (rest_ms > WR_PROXY_REST_MS_MAX)
        rest_ms = WR_PROXY_REST_MS_MAX;
    atomic_store_explicit(&places->rests[at].until_ms, now_ms + (int64_t)rest_ms,
                          memory_order_relaxed);
    atomic_store_explicit(&places->rests[at].place, hash, memory_order_relaxed);
}

/* ---- sessions that moved ---- */

static uint64_t minute_of(int64_t now_ms)
{
    return (uint64_t)(now_ms / MS_A_MINUTE) & ((1u << MINUTE_BITS) - 1);
}

static uint64_t entry_of(uint64_t hash, size_t index, int64_t now_ms)
{
    uint64_t tag = hash >> (64 - TAG_BITS);
    return tag << (MINUTE_BITS + INDEX_BITS) | minute_of(now_ms) << INDEX_BITS | (index + 1);
}

static bool is_entry_of(uint64_t entry, uint64_t hash)
{
    return entry && entry >> (MINUTE_BITS + INDEX_BITS) == hash >> (64 - TAG_BITS);
}

static bool is_cold(uint64_t entry, int64_t now_ms)
{
    uint64_t minute = entry >> INDEX_BITS & ((1u << MINUTE_BITS) - 1);
    return ((minute_of(now_ms) - minute) & ((1u << MINUTE_BITS) - 1)) > IDLE_MINUTES;
}

/* SIZE_MAX: it did not move, or long ago. */
static size_t find_moved(struct wr_places *places, const struct wr_upstream *upstream,
                         uint64_t hash, int64_t now_ms)
{
    for (size_t i = 0; i < PROBES; i++) {
        uint64_t entry = atomic_load_explicit(&places->moved[(hash + i) % WR_PROXY_PLACED_MAX],
                                              memory_order_relaxed);
        if (!is_entry_of(entry, hash) || is_cold(entry, now_ms))
            continue;
        size_t index = (entry & ((1u << INDEX_BITS) - 1)) - 1;
        return index < upstream->places_count ? index : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* ---- order ---- */

/* The lower, the rather. By order: the index. */
static double rank_of(const struct wr_upstream *upstream, size_t index, uint64_t session)
{
    if (!upstream->is_weighted)
        return (double)index;
    uint64_t draw = wr_hash64_seeded(wr_span_of("place"), session ^ place_hash(upstream, index));
    double unit = ((double)(draw >> 11) + 1) / 9007199254740994.0; /* in (0, 1) */
    return -log(unit) / upstream->places[index].weight;
}

static size_t lowest(struct wr_places *places, const struct wr_upstream *upstream, uint64_t session,
                     unsigned tried, int64_t now_ms)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < upstream->places_count; i++) {
        if (tried & 1u << i || (places && is_resting(places, upstream, i, now_ms)))
            continue;
        if (best == SIZE_MAX || rank_of(upstream, i, session) < rank_of(upstream, best, session))
            best = i;
    }
    return best;
}

size_t wr_places_next(struct wr_places *places, const struct wr_upstream *upstream,
                      uint64_t session, unsigned tried, int64_t now_ms)
{
    return lowest(places, upstream, session, tried, now_ms);
}

size_t wr_places_choose(struct wr_places *places, const struct wr_upstream *upstream,
                        uint64_t session, unsigned barred, int64_t now_ms, size_t *own)
{
    *own = find_moved(places, upstream, hash_of(upstream, session), now_ms);
    if (*own == SIZE_MAX || barred & 1u << *own)
        *own = lowest(NULL, upstream, session, barred, now_ms);
    if (*own == SIZE_MAX || !is_resting(places, upstream, *own, now_ms))
        return *own;
    size_t other = lowest(places, upstream, session, barred | 1u << *own, now_ms);
    return other == SIZE_MAX ? *own : other;
}

/* Where a session begins by itself nothing has to be remembered, unless something else is. */
void wr_places_keep(struct wr_places *places, const struct wr_upstream *upstream, uint64_t session,
                    size_t index, int64_t now_ms)
{
    uint64_t hash = hash_of(upstream, session);
    size_t at = hash % WR_PROXY_PLACED_MAX;
    bool is_known = false, has_free = false;

    for (size_t i = 0; i < PROBES && !is_known; i++) {
        size_t probe = (hash + i) % WR_PROXY_PLACED_MAX;
        uint64_t entry = atomic_load_explicit(&places->moved[probe], memory_order_relaxed);
        is_known = is_entry_of(entry, hash);
        bool is_free = !has_free && (!entry || is_cold(entry, now_ms));
        if (is_known || is_free)
            at = probe;
        has_free = has_free || is_free;
    }
    if (is_known || index != lowest(NULL, upstream, session, 0, now_ms))
        atomic_store_explicit(&places->moved[at], entry_of(hash, index, now_ms),
                              memory_order_relaxed);
}

/* ==== weir.yaml's list of places ==== */

enum { MEMBERS_MAX = 8 };

struct reading {
    struct wr_config *config;
    struct wr_yaml *yaml;
    struct wr_upstream *place;
    bool has_address, has_key;
};

static weir_status read_weight(struct reading *r, yaml_node_t *value)
{
    uint64_t weight;

    if (!wr_span_u64(wr_yaml_text(value), &weight) || !weight || weight > WR_PROXY_WEIGHT_MAX)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "a weight is from 1 to %d",
                            WR_PROXY_WEIGHT_MAX);
    r->place->weight = (uint32_t)weight;
    return WEIR_OK;
}

static weir_status read_name(struct reading *r, yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);

    if (!text.len)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "a name is wanted here");
    r->place->place_name = wr_arena_string(&r->config->arena, text);
    return r->place->place_name ? WEIR_OK : WEIR_NOMEM;
}

static weir_status on_place_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "base_url")) {
        r->has_address = true;
        weir_status status = wr_config_set_url(r->config, r->place, wr_yaml_text(value));
        return status == WEIR_INVALID
                   ? wr_yaml_fail(r->yaml, value, status,
                                  "base_url is http://HOST[:PORT][/PATH] or https://...")
                   : status;
    }
    if (wr_span_is(name, "key") || wr_span_is(name, "sign")) {
        r->has_key = true;
        r->place->key = r->place->key_header = NULL;
        r->place->aws = NULL;
        return wr_span_is(name, "key") ? wr_upstream_key_read(r->config, r->yaml, value, r->place)
                                       : wr_upstream_sign_read(r->config, r->yaml, value, r->place);
    }
    if (wr_span_is(name, "weight"))
        return read_weight(r, value);
    if (wr_span_is(name, "name"))
        return read_name(r, value);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "a place has base_url, key, sign, weight and name, not '%.*s'",
                        (int)name.len, name.ptr);
}

/* A key is for the host that it was named with. */
static weir_status read_place(struct reading *r, yaml_node_t *node)
{
    weir_status status = wr_yaml_each(r->yaml, node, MEMBERS_MAX, on_place_member, r);

    if (status)
        return status;
    if (!r->has_address && !r->has_key)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a place has a base_url or a key of its own, or both");
    if (r->has_address && !r->has_key && wr_upstream_has_key(r->place))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a place with a base_url of its own has a key of its own too: that of "
                            "the upstream is for another host");
    return WEIR_OK;
}

weir_status wr_places_read(struct wr_config *config, struct wr_yaml *yaml, yaml_node_t *list,
                           struct wr_upstream *upstream)
{
    static const char *const numbers[WR_PROXY_PLACES_MAX] = {"1", "2", "3", "4",
                                                             "5", "6", "7", "8"};
    size_t count = 0;

    if (list->type == YAML_SEQUENCE_NODE)
        count = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
    if (!count || count >= WR_PROXY_PLACES_MAX)
        return wr_yaml_fail(yaml, list, WEIR_INVALID,
                            "a list of 1 to %d more places is wanted here",
                            WR_PROXY_PLACES_MAX - 1);
    struct wr_upstream *places = wr_arena_alloc(&config->arena, (count + 1) * sizeof(*places));
    if (!places)
        return WEIR_NOMEM;
    places[0] = *upstream;
    places[0].place_name = numbers[0];
    places[0].weight = upstream->weight ? upstream->weight : 1;
    for (size_t i = 1; i <= count; i++) {
        struct reading r = {.config = config, .yaml = yaml, .place = &places[i]};
        places[i] = places[0];
        places[i].weight = 1;
        places[i].place_name = numbers[i];
        weir_status status = read_place(
            &r, yaml_document_get_node(&yaml->doc, list->data.sequence.items.start[i - 1]));
        if (status)
            return status;
    }
    upstream->places = places;
    upstream->places_count = count + 1;
    return WEIR_OK;
}
