#include "traffic/align.h"

#include "base/hash.h"
#include "base/span.h"

/* How far ahead a segment is sought before it is taken for gone. */
enum { LOOK_AHEAD_COUNT = 4096 };

const char *wr_align_name(enum wr_align change)
{
    static const char *const names[] = {"same", "edited", "dropped", "inserted"};
    return names[change];
}

weir_status wr_align_prepare(struct wr_align_side *side, weir_span body,
                             struct weir_request *request, struct wr_arena *arena)
{
    uint32_t count = weir_request_segments(request);

    *side = (struct wr_align_side){.body = body, .request = request, .count = count};
    side->hashes = WR_ARENA_ARRAY(arena, uint64_t, count + 1);
    side->slots = WR_ARENA_ARRAY(arena, uint64_t, count + 1);
    if (wr_arena_status(arena))
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_segment s;
        weir_status status = weir_request_segment(request, i, &s);
        if (status)
            return status;
        uint64_t slot = wr_hash64_seeded(s.call_id, (uint64_t)s.kind * 64 + (uint64_t)s.role);
        side->slots[i] = wr_hash64_seeded(s.tool, slot);
        side->hashes[i] =
            wr_hash64_seeded(wr_span_cut(body, s.span.start, s.span.end), side->slots[i]);
    }
    return WEIR_OK;
}

static bool has_call(const struct wr_align_side *side, uint32_t i)
{
    struct weir_segment s;
    return !weir_request_segment(side->request, i, &s) && s.call_id.len;
}

enum wr_align wr_align_at(const struct wr_align_side *before, const struct wr_align_side *after,
                          uint32_t i, uint32_t j)
{
    if (i == before->count)
        return WR_ALIGN_INSERTED;
    if (j == after->count)
        return WR_ALIGN_DROPPED;
    if (before->hashes[i] == after->hashes[j])
        return WR_ALIGN_SAME;
    bool is_same_slot = before->slots[i] == after->slots[j];
    if (is_same_slot && has_call(before, i))
        return WR_ALIGN_EDITED;
    for (uint32_t k = 1; k < LOOK_AHEAD_COUNT; k++) {
        if (i + k < before->count && before->hashes[i + k] == after->hashes[j])
            return WR_ALIGN_DROPPED;
        if (j + k < after->count && before->hashes[i] == after->hashes[j + k])
            return WR_ALIGN_INSERTED;
        if (i + k >= before->count && j + k >= after->count)
            break;
    }
    return is_same_slot ? WR_ALIGN_EDITED : WR_ALIGN_DROPPED;
}
