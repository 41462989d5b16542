/* How bodies began that were read before.
 *
 * A known body is a handful of growing lists: nodes, segments, the parts of those segments, and the
 * elements of the list of messages, each of which says how far the other lists go where it ends.
 * Cutting a body back to an element is therefore a matter of setting counts. When a session's next
 * request comes, its body is cut back to what the two have in common and the rest is appended: so
 * keeping it costs no more than what is new.
 *
 * Whether a text begins like a known body is asked of hashes of its blocks, the first block first,
 * and all known bodies are asked at once: those that differ fall away. Agents move their cache
 * markers from message to message, so the last messages of a body often differ from what was sent;
 * that is why the longest common beginning is looked for and not the whole body. Where it ends
 * inside an element, that element is read again.
 *
 * Comparing with the old body itself would be as fast, but each known body would then be in memory
 * twice. The hash has 128 bits, as everywhere where something is taken over by its hash.
 */
#include "transcript/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/vec.h"

enum { BLOCK_BYTES = 4096, BODIES_MAX = WR_STARTS_COUNT_MAX, POOL_BYTES_MAX = 1024 * 1024 };

/* Where the bytes of a name or an id are. Most stand in the body; what was unescaped, or is a word
 * of the reader's own, is kept in the pool. */
struct text_place {
    uint32_t at, bytes;
    bool is_in_pool;
};

struct known_segment {
    struct wr_segment read; /* its pointers are of a request that is gone: never followed */
    struct text_place tool, call_id, other_id;
    wr_hash128 hash;
};

struct known_element { /* how far everything goes where it ends */
    uint32_t end_byte, nodes_count, segments_count, parts_count, pool_bytes;
};

struct wr_known_body {
    weir_dialect dialect;
    wr_json_id list;
    bool has_hashes;
    uint64_t used; /* when, by the starts' own count */
    struct wr_json_node *nodes;
    struct known_segment *segments;
    wr_json_id *parts;
    struct known_element *elements;
    wr_hash128 *blocks;
    char *pool;
    uint32_t nodes_count, segments_count, parts_count, elements_count, blocks_count, pool_count;
    uint32_t nodes_cap, segments_cap, parts_cap, elements_cap, blocks_cap, pool_cap;
};

struct wr_starts {
    size_t bytes_max;
    uint64_t used;
    struct wr_known_body *bodies[BODIES_MAX]; /* NULL: free */
};

/* ---- lists ---- */

enum { CAP_FIRST = 64 };

/* Appends `count` items to one of the lists; false: no memory. */
#define APPEND(body, list, from, count)                                                            \
    (!(count) || (WR_HEAP_ROOM((body)->list, (body)->list##_count + (count)-1, (body)->list##_cap, \
                               CAP_FIRST) &&                                                       \
                  append(&(body)->list##_count, (body)->list + (body)->list##_count, (from),       \
                         (count), sizeof(*(body)->list))))

static bool append(uint32_t *list_count, void *to, const void *from, uint32_t count,
                   size_t item_bytes)
{
    memcpy(to, from, count * item_bytes);
    *list_count += count;
    return true;
}

static size_t body_bytes(const struct wr_known_body *b)
{
    return sizeof(*b) + b->nodes_cap * sizeof(struct wr_json_node) +
           b->segments_cap * sizeof(struct known_segment) + b->parts_cap * sizeof(wr_json_id) +
           b->elements_cap * sizeof(struct known_element) + b->blocks_cap * sizeof(wr_hash128) +
           b->pool_cap;
}

static void body_free(struct wr_known_body *body)
{
    if (!body)
        return;
    free(body->nodes);
    free(body->segments);
    free(body->parts);
    free(body->elements);
    free(body->blocks);
    free(body->pool);
    free(body);
}

static void cut_back(struct wr_known_body *body, uint32_t elements_count)
{
    struct known_element end = {0};
    if (elements_count)
        end = body->elements[elements_count - 1];
    body->elements_count = elements_count;
    body->nodes_count = end.nodes_count;
    body->segments_count = end.segments_count;
    body->parts_count = end.parts_count;
    body->pool_count = end.pool_bytes;
    if (body->blocks_count > end.end_byte / BLOCK_BYTES)
        body->blocks_count = end.end_byte / BLOCK_BYTES;
}

/* ---- life ---- */

weir_status wr_starts_new(struct wr_starts **starts, size_t bytes_max)
{
    *starts = calloc(1, sizeof(**starts));
    if (!*starts)
        return WEIR_NOMEM;
    (*starts)->bytes_max = bytes_max;
    return WEIR_OK;
}

void wr_starts_free(struct wr_starts *starts)
{
    for (size_t i = 0; starts && i < BODIES_MAX; i++)
        body_free(starts->bodies[i]);
    free(starts);
}

/* ---- finding ---- */

static wr_hash128 block_hash(weir_span text, uint32_t block)
{
    return wr_hash128_of((weir_span){text.ptr + (size_t)block * BLOCK_BYTES, BLOCK_BYTES});
}

static bool has_block(const struct wr_known_body *body, uint32_t block, wr_hash128 hash)
{
    if (block >= body->blocks_count)
        return false;
    const wr_hash128 *known = &body->blocks[block];
    return known->low == hash.low && known->high == hash.high;
}

/* The known body that shares the most blocks with the text, and how many those are. */
static struct wr_known_body *find_body(const struct wr_starts *starts, weir_span text,
                                       uint32_t *blocks_count)
{
    struct wr_known_body *alike[BODIES_MAX], *best = NULL;
    size_t alike_count = 0;
    uint32_t blocks_max = (uint32_t)(text.len / BLOCK_BYTES);

    for (size_t i = 0; i < BODIES_MAX; i++)
        if (starts->bodies[i])
            alike[alike_count++] = starts->bodies[i];
    *blocks_count = 0;
    for (uint32_t block = 0; block < blocks_max && alike_count; block++) {
        wr_hash128 hash = block_hash(text, block);
        size_t left_count = 0;
        for (size_t i = 0; i < alike_count; i++)
            if (has_block(alike[i], block, hash))
                alike[left_count++] = alike[i];
        alike_count = left_count;
        if (!alike_count)
            break;
        best = alike[0];
        *blocks_count = block + 1;
    }
    return best;
}

/* How many elements end before `end_byte`, and not at it: a number may go on behind it. */
static uint32_t elements_before(const struct wr_known_body *body, uint32_t end_byte)
{
    uint32_t low = 0, high = body->elements_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (body->elements[middle].end_byte < end_byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool wr_starts_find(struct wr_starts *starts, weir_span text, struct wr_start *start)
{
    uint32_t blocks_count;

    *start = (struct wr_start){.body = NULL};
    if (!starts || text.len > WR_JSON_BODY_BYTES_MAX)
        return false;
    struct wr_known_body *body = find_body(starts, text, &blocks_count);
    uint32_t count = body ? elements_before(body, blocks_count * BLOCK_BYTES) : 0;
    if (!count)
        return false;
    const struct known_element *last = &body->elements[count - 1];
    body->used = ++starts->used;
    *start = (struct wr_start){.json = {.nodes = body->nodes,
                                        .nodes_count = last->nodes_count,
                                        .list = body->list,
                                        .at_byte = last->end_byte},
                               .body = body,
                               .elements_count = count};
    return true;
}

/* ---- taking over ---- */

static weir_span text_of_place(const struct text_place *place, weir_span body, const char *pool)
{
    if (!place->bytes)
        return (weir_span){"", 0};
    return (weir_span){(place->is_in_pool ? pool : body.ptr) + place->at, place->bytes};
}

struct taken { /* copies of the lists, in the request's arena */
    wr_json_id *parts;
    char *pool;
};

static weir_status take_lists(struct wr_transcript *t, const struct wr_known_body *body,
                              const struct known_element *end, struct taken *taken)
{
    taken->parts = wr_arena_alloc(t->arena, end->parts_count * sizeof(*taken->parts));
    taken->pool = wr_arena_alloc(t->arena, end->pool_bytes);
    if (!taken->parts || !taken->pool)
        return wr_arena_status(t->arena);
    if (end->parts_count)
        memcpy(taken->parts, body->parts, end->parts_count * sizeof(*taken->parts));
    if (end->pool_bytes)
        memcpy(taken->pool, body->pool, end->pool_bytes);
    return wr_transcript_reserve(t, end->segments_count);
}

wr_json_id wr_start_segments(const struct wr_start *start, struct wr_transcript *t, wr_json_id list,
                             weir_status *status)
{
    const struct wr_known_body *body = start ? start->body : NULL;
    struct taken taken;

    if (!body || body->dialect != t->dialect || body->list != list)
        return wr_json_first(t->doc, list);
    const struct known_element *end = &body->elements[start->elements_count - 1];
    *status = take_lists(t, body, end, &taken);
    if (*status)
        return WR_JSON_NONE;
    t->taken_first = t->segments_count;
    t->taken_count = end->segments_count;
    for (uint32_t i = 0, part = 0; i < end->segments_count && !*status; i++) {
        const struct known_segment *known = &body->segments[i];
        struct wr_segment segment = known->read;
        segment.parts = taken.parts + part;
        part += segment.parts_count;
        segment.tool = text_of_place(&known->tool, t->doc->text, taken.pool);
        segment.call_id = text_of_place(&known->call_id, t->doc->text, taken.pool);
        segment.other_id = text_of_place(&known->other_id, t->doc->text, taken.pool);
        t->binds_prefix |= segment.is_signed;
        *status = wr_transcript_add(t, &segment);
    }
    return end->nodes_count < t->doc->nodes[list].after ? end->nodes_count : WR_JSON_NONE;
}

void wr_start_hashes(const struct wr_start *start, struct wr_transcript *t)
{
    if (!start || !start->body || !start->body->has_hashes)
        return;
    const struct known_segment *known = start->body->segments;
    for (uint32_t i = 0; i < t->taken_count; i++)
        t->hashes[t->taken_first + i] = known[i].hash;
}

/* ---- keeping ---- */

static bool place_text(struct wr_known_body *body, weir_span text, weir_span name,
                       struct text_place *place)
{
    *place = (struct text_place){.bytes = (uint32_t)name.len};
    if (!name.len)
        return true;
    if (name.ptr >= text.ptr && name.ptr + name.len <= text.ptr + text.len) {
        place->at = (uint32_t)(name.ptr - text.ptr);
        return true;
    }
    if (name.len > POOL_BYTES_MAX || body->pool_count > POOL_BYTES_MAX - name.len)
        return false;
    place->at = body->pool_count;
    place->is_in_pool = true;
    return APPEND(body, pool, name.ptr, (uint32_t)name.len);
}

/* What is found by looking at all segments is found again each time: a later one may change it. */
static struct wr_segment as_read(const struct wr_segment *s)
{
    struct wr_segment read = *s;
    read.class_ = 0;
    read.why = NULL;
    read.turn = 0;
    read.is_steering = read.is_repeated_result = read.is_superseded = false;
    read.staleness = 0;
    read.has_slack = read.is_slack_known = false;
    read.handles = NULL;
    return read;
}

static bool keep_segment(struct wr_known_body *body, const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    struct known_segment known = {.read = as_read(s)};

    if (body->has_hashes)
        known.hash = wr_segment_body_hash(t, s);
    return place_text(body, t->doc->text, s->tool, &known.tool) &&
           place_text(body, t->doc->text, s->call_id, &known.call_id) &&
           place_text(body, t->doc->text, s->other_id, &known.other_id) &&
           APPEND(body, parts, s->parts, s->parts_count) && APPEND(body, segments, &known, 1u);
}

/* What answers a call that stands behind it has the name of its tool from there. */
static bool depends_on_later(const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    bool answers = s->kind == WEIR_KIND_TOOL_RESULT || s->link == WR_LINK_ANSWERS;
    return answers && s->pair != WR_SEGMENT_NONE && s->pair > i;
}

/* Appends the elements from `element` on, whose segments begin at `i`. False: what was appended of
 * the last one is not whole. */
static bool keep_elements(struct wr_known_body *body, const struct wr_transcript *t,
                          wr_json_id element, uint32_t i)
{
    const struct wr_json *doc = t->doc;

    for (; element != WR_JSON_NONE; element = wr_json_next(doc, t->list, element)) {
        const struct wr_json_node *node = &doc->nodes[element];
        for (; i < t->segments_count && t->segments[i].message == element; i++)
            if (depends_on_later(t, i) || !keep_segment(body, t, i))
                return false;
        uint32_t first = body->nodes_count;
        if (!APPEND(body, nodes, doc->nodes + first, node->after - first))
            return false;
        struct known_element end = {node->end, body->nodes_count, body->segments_count,
                                    body->parts_count, body->pool_count};
        if (!APPEND(body, elements, &end, 1u))
            return false;
    }
    return true;
}

static bool keep_blocks(struct wr_known_body *body, weir_span text)
{
    uint32_t end = body->elements_count ? body->elements[body->elements_count - 1].end_byte : 0;
    for (uint32_t block = body->blocks_count; block < end / BLOCK_BYTES; block++) {
        wr_hash128 hash = block_hash(text, block);
        if (!APPEND(body, blocks, &hash, 1u))
            return false;
    }
    return true;
}

/* A place for another one: a free one, else that of the one used least recently. */
static struct wr_known_body **place_for_new(struct wr_starts *starts)
{
    struct wr_known_body **oldest = &starts->bodies[0];
    for (size_t i = 0; i < BODIES_MAX; i++) {
        if (!starts->bodies[i])
            return &starts->bodies[i];
        if (starts->bodies[i]->used < (*oldest)->used)
            oldest = &starts->bodies[i];
    }
    body_free(*oldest);
    *oldest = NULL;
    return oldest;
}

static void forget(struct wr_starts *starts, const struct wr_known_body *body)
{
    for (size_t i = 0; i < BODIES_MAX; i++)
        if (starts->bodies[i] == body) {
            body_free(starts->bodies[i]);
            starts->bodies[i] = NULL;
        }
}

static void drop_oldest_bodies(struct wr_starts *starts)
{
    for (;;) {
        struct wr_known_body *oldest = NULL;
        size_t bytes = 0;
        for (size_t i = 0; i < BODIES_MAX; i++) {
            struct wr_known_body *body = starts->bodies[i];
            bytes += body ? body_bytes(body) : 0;
            if (body && (!oldest || body->used < oldest->used))
                oldest = body;
        }
        if (bytes <= starts->bytes_max || !oldest)
            return;
        forget(starts, oldest);
    }
}

/* The known body that this one replaces: the one it went on from, unless the two have little in
 * common, as two sessions of one agent do. */
static struct wr_known_body *body_to_extend(struct wr_starts *starts, const struct wr_transcript *t,
                                            const struct wr_start *start)
{
    struct wr_known_body *known = start ? start->body : NULL;
    if (known && known->dialect == t->dialect && known->list == t->list &&
        start->elements_count >= known->elements_count / 2) {
        cut_back(known, start->elements_count);
        return known;
    }
    struct wr_known_body *body = calloc(1, sizeof(*body));
    if (!body)
        return NULL;
    body->dialect = t->dialect;
    body->list = t->list;
    body->has_hashes = t->hashes != NULL;
    *place_for_new(starts) = body;
    return body;
}

/* The first segment of the list: those before it belong to no message. */
static uint32_t first_in_list(const struct wr_transcript *t)
{
    uint32_t i = 0;
    while (i < t->segments_count && t->segments[i].message == WR_JSON_NONE)
        i++;
    return i;
}

static bool is_member_of_root(const struct wr_json *doc, wr_json_id list)
{
    for (wr_json_id key = wr_json_first(doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(doc, 0, key))
        if (wr_json_value(key) == list)
            return wr_json_is(doc, list, WR_JSON_ARRAY);
    return false;
}

void wr_starts_keep(struct wr_starts *starts, const struct wr_transcript *t,
                    const struct wr_start *start)
{
    /* Shorter than a block it cannot be found again. */
    if (!starts || !is_member_of_root(t->doc, t->list) || t->doc->nodes[t->list].end < BLOCK_BYTES)
        return;
    struct wr_known_body *body = body_to_extend(starts, t, start);
    if (!body)
        return;
    wr_json_id element = wr_json_first(t->doc, t->list);
    uint32_t i = first_in_list(t);
    if (body->elements_count) {
        wr_json_id next = body->elements[body->elements_count - 1].nodes_count;
        element = next < t->doc->nodes[t->list].after ? next : WR_JSON_NONE;
        i += body->segments_count;
    }
    if (!keep_elements(body, t, element, i))
        cut_back(body, body->elements_count);
    if (!keep_blocks(body, t->doc->text))
        forget(starts, body);
    else
        body->used = ++starts->used;
    drop_oldest_bodies(starts);
}
