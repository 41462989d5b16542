#include "policy/way.h"

#include "base/span.h"

enum { TOOLS_FIRST_COUNT = 16 };

static weir_status add_name(struct wr_ways *ways, struct wr_arena *arena, uint32_t *cap,
                            const struct wr_json *doc, weir_span space, wr_json_id name)
{
    if (!wr_json_is(doc, name, WR_JSON_STRING))
        return WEIR_OK;
    if (ways->tools_count == *cap) {
        uint32_t cap_new = *cap ? *cap * 2 : TOOLS_FIRST_COUNT;
        weir_span *grown =
            wr_arena_grow(arena, ways->tools, *cap * sizeof(*grown), cap_new * sizeof(*grown));
        if (!grown)
            return wr_arena_status(arena);
        ways->tools = grown;
        *cap = cap_new;
    }
    weir_span text = wr_tool_join(arena, space, wr_json_text(doc, arena, name));
    if (!text.ptr)
        return wr_arena_status(arena);
    ways->tools[ways->tools_count++] = text;
    if (!ways->recall.len && wr_tool_is_recall(text))
        ways->recall = text;
    return WEIR_OK;
}

/* Without Weir its own tools would not be in the prompt. A deferred one is not in it either. */
static void weigh_own(struct wr_ways *ways, const struct wr_json *doc, wr_json_id tool,
                      uint32_t names_before)
{
    bool is_own = false;
    for (uint32_t i = names_before; i < ways->tools_count; i++)
        is_own |= wr_tool_is_own(ways->tools[i]);
    if (is_own && !wr_json_is(doc, wr_json_find(doc, tool, "defer_loading"), WR_JSON_TRUE))
        ways->own_bytes += wr_json_raw(doc, tool).len;
}

/* Names stand under `name` of a tool, or of its `function` or `custom`. */
static weir_status read_tool(struct wr_ways *ways, struct wr_arena *arena, uint32_t *cap,
                             const struct wr_json *doc, weir_span space, wr_json_id tool)
{
    uint32_t names_before = ways->tools_count;
    weir_status status = add_name(ways, arena, cap, doc, space, wr_json_find(doc, tool, "name"));
    if (!status)
        status = add_name(ways, arena, cap, doc, space,
                          wr_json_find(doc, wr_json_find(doc, tool, "function"), "name"));
    if (!status)
        status = add_name(ways, arena, cap, doc, space,
                          wr_json_find(doc, wr_json_find(doc, tool, "custom"), "name"));
    if (!status)
        weigh_own(ways, doc, tool, names_before);
    return status;
}

/* The name of a namespace; empty for any other list of tools. */
static weir_span space_name(struct wr_arena *arena, const struct wr_json *doc, wr_json_id tool)
{
    wr_json_id name = wr_json_find(doc, tool, "name");
    if (!wr_json_text_is(doc, wr_json_find(doc, tool, "type"), "namespace") ||
        !wr_json_is(doc, name, WR_JSON_STRING))
        return (weir_span){"", 0};
    return wr_json_text(doc, arena, name);
}

/* Lists of tools may stand inside a tool (namespaces): one level of them. */
static weir_status read_list(struct wr_ways *ways, struct wr_arena *arena, uint32_t *cap,
                             const struct wr_json *doc, wr_json_id list)
{
    weir_status status = WEIR_OK;
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id tool = wr_json_first(doc, list); tool != WR_JSON_NONE && !status;
         tool = wr_json_next(doc, list, tool)) {
        status = read_tool(ways, arena, cap, doc, (weir_span){"", 0}, tool);
        wr_json_id inner = wr_json_find(doc, tool, "tools");
        if (status || !wr_json_is(doc, inner, WR_JSON_ARRAY))
            continue;
        weir_span space = space_name(arena, doc, tool);
        if (!space.ptr)
            return wr_arena_status(arena);
        for (wr_json_id t = wr_json_first(doc, inner); t != WR_JSON_NONE && !status;
             t = wr_json_next(doc, inner, t))
            status = read_tool(ways, arena, cap, doc, space, t);
    }
    return status;
}

weir_status wr_ways_read(struct wr_ways *ways, struct wr_arena *arena,
                         const struct wr_transcript *transcript)
{
    const struct wr_json *doc = transcript->doc;
    uint32_t cap = 0;
    weir_status status = WEIR_OK;

    *ways = (struct wr_ways){.recall = {"", 0}};
    for (uint32_t i = 0; i < transcript->segments_count && !status; i++) {
        const struct wr_segment *s = &transcript->segments[i];
        if (s->kind != WEIR_KIND_TOOLS)
            continue;
        wr_json_id list = wr_json_kind(doc, s->payload) == WR_JSON_ARRAY
                              ? s->payload
                              : wr_json_find(doc, s->payload, "tools");
        bool had_recall = ways->recall.len > 0;
        status = read_list(ways, arena, &cap, doc, list);
        if (!had_recall)
            ways->recall_at = i;
    }
    return status;
}

weir_span wr_ways_recall(const struct wr_ways *ways, uint32_t arrived)
{
    return ways->recall_at < arrived ? ways->recall : (weir_span){"", 0};
}

bool wr_ways_offer(const struct wr_ways *ways, weir_span tool)
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
    if (!is_file || is_touched || !wr_ways_offer(ways, segment->tool))
        return way;
    way.kind = WR_WAY_READ;
    way.tool = segment->tool;
    way.path = h->path;
    way.start_line = h->start_line;
    way.end_line = h->end_line;
    return way;
}
