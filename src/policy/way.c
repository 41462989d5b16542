#include "policy/way.h"

#include "base/span.h"
#include "base/vec.h"

enum { TOOLS_FIRST_COUNT = 16 };

struct adder {
    struct wr_ways *ways;
    struct wr_arena *arena;
    const struct wr_json *doc;
    uint32_t cap;
};

/* Without Weir its own tools would not be in the prompt. A deferred one is not in it either. */
static weir_status add_tool(void *user, const struct wr_offer *offer)
{
    struct adder *a = user;
    struct wr_ways *ways = a->ways;

    if (!WR_ARENA_ROOM(a->arena, ways->tools, ways->tools_count, a->cap, TOOLS_FIRST_COUNT))
        return wr_arena_status(a->arena);
    ways->tools[ways->tools_count++] = offer->name;
    if (!ways->recall.len)
        ways->recall_at = offer->segment;
    if (!ways->recall.len && wr_tool_is_recall(offer->name))
        ways->recall = offer->name;
    if (wr_tool_is_own(offer->name) && !offer->is_deferred)
        ways->own_bytes += wr_json_raw(a->doc, offer->definition).len;
    return WEIR_OK;
}

weir_status wr_ways_read(struct wr_ways *ways, struct wr_arena *arena,
                         const struct wr_transcript *transcript)
{
    struct adder adder = {.ways = ways, .arena = arena, .doc = transcript->doc};

    *ways = (struct wr_ways){.recall = {"", 0}};
    return transcript->list_tools ? transcript->list_tools(transcript, arena, add_tool, &adder)
                                  : WEIR_OK;
}

weir_span wr_ways_recall(const struct wr_ways *ways, uint32_t arrived)
{
    return ways->recall_at < arrived ? ways->recall : (weir_span){"", 0};
}

static bool offers_tool(const struct wr_ways *ways, weir_span tool)
{
    for (uint32_t i = 0; i < ways->tools_count; i++)
        if (wr_span_eq(ways->tools[i], tool))
            return true;
    return false;
}

struct wr_way wr_way_to(const struct wr_ways *ways, const struct wr_segment *segment,
                        uint32_t arrived)
{
    struct wr_way way = {.kind = WR_WAY_NONE, .tool = {"", 0}, .path = {"", 0}};
    const struct wr_tool_handles *h = segment->handles;

    weir_span recall = wr_ways_recall(ways, arrived);
    if (recall.len) {
        way.kind = WR_WAY_RECALL;
        way.tool = recall;
        return way;
    }
    bool is_file = h && h->kind == WR_EFFECT_READ && !h->is_shell && h->path.len;
    bool is_touched = segment->touched_by < arrived;
    if (!is_file || is_touched || !offers_tool(ways, segment->tool))
        return way;
    way.kind = WR_WAY_READ;
    way.tool = segment->tool;
    way.path = h->path;
    way.start_line = h->start_line;
    way.end_line = h->end_line;
    return way;
}
