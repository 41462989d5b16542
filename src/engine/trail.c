#include "engine/trail.h"

#include "api/lawful.h"
#include "base/span.h"

static wr_hash128 add(wr_hash128 chain, weir_span bytes)
{
    return wr_hash128_seeded(bytes, chain);
}

static wr_hash128 add_number(wr_hash128 chain, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return add(chain, (weir_span){(const char *)bytes, sizeof(bytes)});
}

/* An object's members but for its cache marker, each as it stands in the body. */
static wr_hash128 add_value(wr_hash128 chain, const struct wr_json *doc, wr_json_id value)
{
    if (value == WR_JSON_NONE)
        return chain;
    if (wr_json_kind(doc, value) != WR_JSON_OBJECT)
        return add(chain, wr_json_raw(doc, value));
    wr_json_id marker = wr_find_marker(doc, value);
    for (wr_json_id key = wr_json_first(doc, value); key != WR_JSON_NONE;
         key = wr_json_next(doc, value, key)) {
        if (key == marker)
            continue;
        chain = add(chain, wr_json_raw(doc, key));
        chain = add(chain, wr_json_raw(doc, wr_json_value(key)));
    }
    return chain;
}

static wr_hash128 add_segment(wr_hash128 chain, const struct wr_transcript *t,
                              const struct wr_segment *s)
{
    chain = add_number(chain, (uint64_t)s->role << 32 | (uint64_t)s->kind << 8 |
                                  (uint64_t)s->is_error << 1 | s->is_opaque);
    chain = add(chain, s->call_id);
    chain = add(chain, s->tool);
    if (s->parts_count)
        chain = wr_hash128_add(wr_segment_body_hash(t, s), chain);
    if (!s->has_exact_blocks)
        return s->parts_count ? chain : add_value(chain, t->doc, s->payload);
    /* Images and files stand beside the text, in blocks of their own. */
    for (wr_json_id block = wr_json_first(t->doc, s->payload); block != WR_JSON_NONE;
         block = wr_json_next(t->doc, s->payload, block))
        chain = add_value(chain, t->doc, block);
    return chain;
}

static bool is_head(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_SYSTEM || s->kind == WEIR_KIND_TOOLS ||
           s->role == WEIR_ROLE_SYSTEM || s->role == WEIR_ROLE_DEVELOPER;
}

weir_status wr_trail_read(struct wr_trail *trail, struct wr_arena *arena,
                          const struct wr_transcript *t)
{
    wr_hash128 chain = {0, 0}, head = {0, 0}, places = {0, 0};

    *trail = (struct wr_trail){.turns_count = t->turns_count, .model = wr_hash64(t->model)};
    trail->turns = WR_ARENA_ARRAY(arena, wr_hash128, t->turns_count);
    trail->heads = WR_ARENA_ARRAY(arena, wr_hash128, t->turns_count);
    trail->ends = WR_ARENA_ARRAY(arena, uint32_t, t->turns_count);
    if (!trail->turns || !trail->heads || !trail->ends)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (is_head(s)) {
            head = add_segment(head, t, s);
            places = add_number(add_number(places, i), head.low);
        } else {
            chain = add_segment(chain, t, s);
        }
        bool is_output = s->from_model && i + 1 < t->segments_count;
        if (is_output)
            continue;
        trail->turns[s->turn] = chain;
        trail->heads[s->turn] = places;
        trail->ends[s->turn] = i + 1;
    }
    trail->head = head.low;
    return WEIR_OK;
}
