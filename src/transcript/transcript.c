/* A request as segments: adding them, and the order in which everything else is found.
 *
 *   wr_transcript_add       the dialect readers (src/api) add segments in the order of the prompt
 *   wr_transcript_finish    pairs, turns, loops, groups, handles, classes (order.c); staleness
 *                           (stale.c). Each needs what the ones before it found
 *
 * Texts and hashes of segments are made when they are first asked for, and kept. There are two
 * hashes. wr_segment_body_hash() is of the bytes as they stand in the body, for memos.
 * wr_segment_hash() is of what the segment says; cache markers are no part of it, because agents
 * move them from message to message.
 */
#include "transcript/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_memo.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/vec.h"
#include "transcript/effect.h"
#include "transcript/order.h"
#include "transcript/starts.h"
#include "weir/segment.h"

enum { SEGMENTS_FIRST_COUNT = 256 };

void wr_transcript_init(struct wr_transcript *transcript, struct wr_arena *arena,
                        const struct wr_json *doc, weir_dialect dialect)
{
    *transcript = (struct wr_transcript){
        .dialect = dialect, .doc = doc, .arena = arena, .list = WR_JSON_NONE};
}

weir_status wr_transcript_reserve(struct wr_transcript *t, uint32_t more)
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

bool wr_segment_is_editable(const struct wr_segment *segment)
{
    return segment->parts_count > 0;
}

/* ==== names of kinds and roles ====
 *
 * The words for kinds: of segments, roles, classes and dialects (public), and of effects.
 */

#define NAME_CASE(prefix, name, text) \
    case prefix##name:                \
        return text;

const char *weir_dialect_name(weir_dialect dialect)
{
    switch (dialect) {
#define X(name, text) NAME_CASE(WEIR_DIALECT_, name, text)
        WEIR_DIALECT_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_role_name(weir_role role)
{
    switch (role) {
#define X(name, text) NAME_CASE(WEIR_ROLE_, name, text)
        WEIR_ROLE_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_kind_name(weir_kind kind)
{
    switch (kind) {
#define X(name, text) NAME_CASE(WEIR_KIND_, name, text)
        WEIR_KIND_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_class_name(weir_class class_)
{
    switch (class_) {
#define X(name, text) NAME_CASE(WEIR_CLASS_, name, text)
        WEIR_CLASS_MAP(X)
#undef X
    }
    return "unknown";
}

/* ==== memo of calls ==== */

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
