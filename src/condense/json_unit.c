#include "condense/json_tree.h"

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

struct unit {
    uint32_t start;
    uint16_t indent;
};

struct splitter {
    struct wr_json doc;
    struct unit *units; /* room for every node and every end */
    uint32_t count;
    wr_json_id containers[WR_JSON_DEPTH_MAX],
        children[WR_JSON_DEPTH_MAX]; /* open, and next in it */
    uint32_t depth;
};

static void add_unit(struct splitter *splitter, uint32_t start, uint32_t indent)
{
    splitter->units[splitter->count++] = (struct unit){start, (uint16_t)indent};
}

static void open(struct splitter *splitter, wr_json_id id)
{
    const struct wr_json_node *node = &splitter->doc.nodes[id];
    if (node->kind < WR_JSON_ARRAY || node->end - node->start <= WR_UNIT_BYTES_MAX)
        return;
    splitter->containers[splitter->depth] = id;
    splitter->children[splitter->depth++] = wr_json_first(&splitter->doc, id);
}

static void split(struct splitter *splitter)
{
    const struct wr_json *doc = &splitter->doc;
    add_unit(splitter, 0, 0);
    open(splitter, 0);
    while (splitter->depth) {
        uint32_t level = splitter->depth - 1;
        wr_json_id container = splitter->containers[level], child = splitter->children[level];
        if (child == WR_JSON_NONE) {
            add_unit(splitter, doc->nodes[container].end - 1, level);
            splitter->depth--;
            continue;
        }
        add_unit(splitter, doc->nodes[child].start, level + 1);
        splitter->children[level] = wr_json_next(doc, container, child);
        open(splitter, doc->nodes[child].is_key ? wr_json_value(child) : child);
    }
}

static weir_status write(struct wr_units *units, struct wr_arena *arena,
                         const struct splitter *splitter, weir_span line)
{
    char *text = wr_arena_alloc(arena, line.len + splitter->count);
    units->indents = WR_ARENA_ARRAY(arena, uint16_t, splitter->count);
    if (!text || !units->indents)
        return wr_arena_status(arena);
    size_t len = 0;
    for (uint32_t i = 0; i < splitter->count; i++) {
        size_t start = splitter->units[i].start;
        size_t end = i + 1 < splitter->count ? splitter->units[i + 1].start : line.len;
        memcpy(text + len, line.ptr + start, end - start);
        len += end - start;
        text[len++] = '\n';
        units->indents[i] = splitter->units[i].indent;
    }
    units->text = (weir_span){text, len};
    units->count = splitter->count;
    return WEIR_OK;
}

weir_status wr_units_read(struct wr_units *units, struct wr_arena *arena, weir_span line)
{
    struct splitter *splitter = WR_ARENA_ARRAY(arena, struct splitter, 1);
    if (!splitter)
        return wr_arena_status(arena);
    weir_status status = wr_json_parse(&splitter->doc, arena, line, NULL, NULL);
    if (status)
        return status;
    splitter->units = WR_ARENA_ARRAY(arena, struct unit, (size_t)splitter->doc.nodes_count * 2 + 1);
    if (!splitter->units)
        return wr_arena_status(arena);
    split(splitter);
    return write(units, arena, splitter, line);
}

/* Where the record behind the "}" at `at` begins, or 0: behind a comma, or at once where records
 * are strung together without one. */
static size_t next_record(weir_span line, size_t at)
{
    size_t start = at + 1;
    bool has_comma = start < line.len && line.ptr[start] == ',';
    start += has_comma;
    while (start < line.len && line.ptr[start] == ' ')
        start++;
    if (start == line.len)
        return 0;
    return line.ptr[start] == '{' || (has_comma && line.ptr[start] == '"') ? start : 0;
}

weir_status wr_units_split(struct wr_units *units, struct wr_arena *arena, weir_span line)
{
    struct splitter splitter = {.count = 0};
    splitter.units = WR_ARENA_ARRAY(arena, struct unit, line.len / (WR_UNIT_BYTES_MAX / 2) + 2);
    if (!splitter.units)
        return wr_arena_status(arena);
    add_unit(&splitter, 0, 0);
    for (size_t at = 0; (at = wr_span_find(line, WR_LIT("}"), at)) != SIZE_MAX; at++) {
        size_t start = next_record(line, at);
        if (start >= splitter.units[splitter.count - 1].start + WR_UNIT_BYTES_MAX / 2)
            add_unit(&splitter, (uint32_t)start, 0);
    }
    return write(units, arena, &splitter, line);
}
