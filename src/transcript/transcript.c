/* A request as segments: adding them, and the order in which everything else is found; and what is
 * remembered of how earlier requests began.
 *
 *   wr_transcript_add       the dialect readers (src/api) add segments in the order of the prompt
 *   wr_transcript_finish    pairs, turns, loops, groups, handles, classes (order.c); staleness
 *                           (path.c). Each needs what the ones before it found
 *
 * Texts and hashes of segments are made when they are first asked for, and kept. There are two
 * hashes. wr_segment_body_hash() is of the bytes as they stand in the body, for memos.
 * wr_segment_hash() is of what the segment says; cache markers are no part of it, because agents
 * move them from message to message. */
#include "transcript/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/order.h"
#include "weir/segment.h"

enum { SEGMENTS_FIRST_COUNT = 256 };

void wr_transcript_init(struct wr_transcript *transcript, struct wr_arena *arena,
                        const struct wr_json *doc, weir_dialect dialect)
{
    *transcript = (struct wr_transcript){
        .dialect = dialect, .doc = doc, .arena = arena, .list = WR_JSON_NONE};
}

/* Room for `more` segments, so that adding them one by one moves none. */
static weir_status transcript_reserve(struct wr_transcript *t, uint32_t more)
{
    if (more > WR_SEGMENTS_MAX - t->segments_count)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(t->arena, t->segments, t->segments_count + more, t->segments_cap,
                       SEGMENTS_FIRST_COUNT))
        return wr_arena_status(t->arena);
    return WEIR_OK;
}

weir_status wr_transcript_add(struct wr_transcript *t, const struct wr_segment *segment)
{
    if (t->segments_count == WR_SEGMENTS_MAX)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(t->arena, t->segments, t->segments_count, t->segments_cap,
                       SEGMENTS_FIRST_COUNT))
        return wr_arena_status(t->arena);
    struct wr_segment *added = &t->segments[t->segments_count++];
    *added = *segment;
    added->pair = added->group = added->loop = added->why_other = WR_SEGMENT_NONE;
    added->stale_by = added->touched_by = WR_SEGMENT_NONE;
    return WEIR_OK;
}

/* ORDER FINISH: groups need pairs, loops need turns, handles need pairs, classes need all. */
weir_status wr_transcript_finish_structure(struct wr_transcript *t)
{
    weir_status status = wr_order_pair(t);
    if (status)
        return status;
    wr_order_turns(t);
    wr_order_loops(t);
    wr_order_groups(t);
    return WEIR_OK;
}

weir_status wr_transcript_finish(struct wr_transcript *t)
{
    weir_status status = wr_transcript_finish_structure(t);
    if (status)
        return status;
    t->texts = WR_ARENA_ARRAY(t->arena, weir_span, t->segments_count);
    t->hashes = WR_ARENA_ARRAY(t->arena, wr_hash128, t->segments_count);
    if (!t->texts || !t->hashes)
        return wr_arena_status(t->arena);
    wr_start_hashes(t->start, t);
    status = wr_order_handles(t);
    return status ? status : wr_order_classify(t);
}

weir_range wr_segment_range(const struct wr_transcript *t, const struct wr_segment *segment)
{
    const struct wr_json_node *node = &t->doc->nodes[segment->payload];
    if (node->kind == WR_JSON_STRING)
        return (weir_range){node->start + 1, node->end - 1};
    return (weir_range){node->start, node->end};
}

static weir_span join_parts(const struct wr_transcript *t, const struct wr_segment *segment,
                            struct wr_arena *arena)
{
    size_t bytes = segment->parts_count;
    for (uint32_t i = 0; i < segment->parts_count; i++)
        bytes += wr_json_inner(t->doc, segment->parts[i]).len;
    char *joined = wr_arena_alloc(arena, bytes);
    size_t len = 0;
    for (uint32_t i = 0; joined && i < segment->parts_count; i++) {
        weir_span part = wr_json_text(t->doc, arena, segment->parts[i]);
        if (!part.ptr)
            return part;
        if (i)
            joined[len++] = '\n';
        memcpy(joined + len, part.ptr, part.len);
        len += part.len;
    }
    return (weir_span){joined, joined ? len : 0};
}

static weir_span make_segment_text(const struct wr_transcript *t, const struct wr_segment *segment,
                                   struct wr_arena *arena)
{
    if (segment->parts_count > 1)
        return join_parts(t, segment, arena);
    wr_json_id id = segment->parts_count ? segment->parts[0] : segment->payload;
    return wr_json_kind(t->doc, id) == WR_JSON_STRING ? wr_json_text(t->doc, arena, id)
                                                      : wr_json_raw(t->doc, id);
}

weir_span wr_segment_text(const struct wr_transcript *t, const struct wr_segment *segment,
                          struct wr_arena *arena)
{
    if (!t->texts)
        return make_segment_text(t, segment, arena);
    weir_span *kept = &t->texts[segment - t->segments];
    if (kept->ptr)
        return *kept;
    weir_span text = make_segment_text(t, segment, arena);
    if (arena == t->arena)
        *kept = text;
    return text;
}

static wr_hash128 make_body_hash(const struct wr_transcript *t, const struct wr_segment *segment)
{
    wr_hash128 hash = {segment->parts_count, 0};
    if (!segment->parts_count)
        return wr_hash128_seeded(wr_json_raw(t->doc, segment->payload), hash);
    for (uint32_t i = 0; i < segment->parts_count; i++)
        hash = wr_hash128_seeded(wr_json_raw(t->doc, segment->parts[i]), hash);
    return hash;
}

wr_hash128 wr_segment_body_hash(const struct wr_transcript *t, const struct wr_segment *segment)
{
    if (!t->hashes)
        return make_body_hash(t, segment);
    wr_hash128 *kept = &t->hashes[segment - t->segments];
    if (!kept->low && !kept->high)
        *kept = make_body_hash(t, segment);
    return *kept;
}

/* A segment with strings is hashed by them alone, so that a cache marker beside them is left out.
 */
uint64_t wr_segment_hash(const struct wr_transcript *t, const struct wr_segment *segment)
{
    uint64_t hash = (uint64_t)segment->role << 8 | (uint64_t)segment->kind;
    hash = wr_hash64_seeded(segment->call_id, wr_hash64_seeded(segment->tool, hash));
    for (uint32_t i = 0; i < segment->parts_count; i++)
        hash = wr_hash64_seeded(wr_json_inner(t->doc, segment->parts[i]), hash);
    if (segment->parts_count || segment->payload == WR_JSON_NONE)
        return hash;
    return wr_hash64_seeded(wr_json_raw(t->doc, segment->payload), hash);
}

bool wr_transcript_has_late_answer(const struct wr_transcript *t, uint32_t end)
{
    for (uint32_t i = end; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->pair < end && (s->is_repeated_result || s->link == WR_LINK_ANSWERS))
            return true;
    }
    return false;
}

/* ---- names of kinds and roles ---- */

const char *weir_dialect_name(weir_dialect dialect)
{
    static const char *const names[] = WR_NAMES_OF(WEIR_DIALECT_MAP);
    return (size_t)dialect < WR_COUNT_OF(names) ? names[dialect] : "unknown";
}

const char *weir_role_name(weir_role role)
{
    static const char *const names[] = WR_NAMES_OF(WEIR_ROLE_MAP);
    return (size_t)role < WR_COUNT_OF(names) ? names[role] : "unknown";
}

const char *weir_kind_name(weir_kind kind)
{
    static const char *const names[] = WR_NAMES_OF(WEIR_KIND_MAP);
    return (size_t)kind < WR_COUNT_OF(names) ? names[kind] : "unknown";
}

const char *weir_class_name(weir_class class_)
{
    static const char *const names[] = WR_NAMES_OF(WEIR_CLASS_MAP);
    return (size_t)class_ < WR_COUNT_OF(names) ? names[class_] : "unknown";
}

/* ---- memo of calls ---- */

enum { ENTRIES_MAX = 1 << 16 };

struct wr_memo {
    struct wr_arena arena;
    size_t bytes_max;
    struct wr_hash_memo entries; /* pointers into the arena */
};

weir_status wr_memo_new(struct wr_memo **memo, size_t bytes_max)
{
    struct wr_memo *m = calloc(1, sizeof(*m));
    *memo = NULL;
    if (!m)
        return WEIR_NOMEM;
    weir_status status = wr_hash_memo_init(&m->entries, ENTRIES_MAX);
    if (status) {
        free(m);
        return status;
    }
    m->bytes_max = bytes_max;
    /* Twice the cap: the cap is looked at between requests, and one request may go past it. */
    wr_arena_init(&m->arena,
                  bytes_max > WR_ARENA_BYTES_MAX / 2 ? WR_ARENA_BYTES_MAX : bytes_max * 2);
    *memo = m;
    return WEIR_OK;
}

void wr_memo_free(struct wr_memo *memo)
{
    if (!memo)
        return;
    wr_arena_release(&memo->arena);
    wr_hash_memo_release(&memo->entries);
    free(memo);
}

void wr_memo_begin(struct wr_memo *memo)
{
    if (memo->arena.bytes_held <= memo->bytes_max && !memo->arena.status)
        return;
    size_t bytes_max = memo->arena.bytes_max;
    wr_arena_release(&memo->arena);
    wr_arena_init(&memo->arena, bytes_max);
    wr_hash_memo_clear(&memo->entries);
}

const struct wr_memo_entry *wr_memo_find(const struct wr_memo *memo, wr_hash128 key)
{
    uint64_t entry;
    return wr_hash_memo_find(&memo->entries, key, &entry) ? (void *)(uintptr_t)entry : NULL;
}

void wr_memo_expect(const struct wr_memo *memo, wr_hash128 key)
{
    wr_hash_memo_expect(&memo->entries, key);
}

static bool copy_spans(struct wr_arena *arena, weir_span *const *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *spans[i] = wr_arena_copy(arena, *spans[i]);
        if (!spans[i]->ptr)
            return false;
    }
    return true;
}

static bool copy_effect(struct wr_arena *arena, struct wr_effect *e)
{
    weir_span *const spans[] = {&e->path, &e->query, &e->rev, &e->program};
    return copy_spans(arena, spans, WR_COUNT_OF(spans));
}

static bool copy_handles(struct wr_arena *arena, struct wr_tool_handles *h)
{
    weir_span *const spans[] = {&h->path, &h->query,   &h->process_id, &h->cursor,
                                &h->mode, &h->command, &h->workdir,    &h->spill_path};
    const struct wr_effect *from = h->effects;
    if (!copy_spans(arena, spans, WR_COUNT_OF(spans)))
        return false;
    h->effects = WR_ARENA_ARRAY(arena, struct wr_effect, h->effects_count);
    if (!h->effects)
        return false;
    for (size_t i = 0; i < h->effects_count; i++) {
        h->effects[i] = from[i];
        if (!copy_effect(arena, &h->effects[i]))
            return false;
    }
    return true;
}

void wr_memo_put(struct wr_memo *memo, wr_hash128 key, const struct wr_memo_entry *entry)
{
    struct wr_memo_entry *copy = WR_ARENA_ARRAY(&memo->arena, struct wr_memo_entry, 1);
    if (!copy)
        return;
    *copy = *entry;
    if (!copy_handles(&memo->arena, &copy->handles))
        return;
    wr_hash_memo_put(&memo->entries, key, (uintptr_t)copy);
}

/* ---- beginnings ---- */

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
    return transcript_reserve(t, end->segments_count);
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
