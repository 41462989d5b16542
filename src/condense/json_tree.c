/* The tree of a text of nested lines, made in one pass by indentation alone. A parser would refuse
 * what a client cut off, which is what is read here most.
 */
#include "condense/json_tree.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

/* ---- one line ---- */

static weir_span key_of(weir_span text)
{
    if (text.len && text.ptr[0] == '"') {
        size_t end = wr_json_string_end(text, 1), behind = wr_json_skip_blanks(text, end + 1);
        bool is = end < text.len && behind < text.len && text.ptr[behind] == ':';
        return is ? wr_span_cut(text, 1, end) : (weir_span){"", 0};
    }
    size_t end = 0;
    while (end < text.len && (wr_is_word(text.ptr[end]) || memchr("-./ ", text.ptr[end], 4)))
        end++;
    bool is = end && end < text.len && text.ptr[end] == ':' && text.ptr[0] != '-' &&
              (end + 1 == text.len || wr_is_blank(text.ptr[end + 1]));
    return is ? wr_span_cut(text, 0, end) : (weir_span){"", 0};
}

/* The keys of an object that stands on one line, those inside its values not counted. */
static uint64_t shape_of_line(weir_span text)
{
    uint64_t shape = 0;
    int depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (c != '"')
            continue;
        size_t end = wr_json_string_end(text, i + 1), behind = wr_json_skip_blanks(text, end + 1);
        if (depth == 1 && behind < text.len && text.ptr[behind] == ':')
            shape += wr_hash64(wr_span_cut(text, i + 1, end));
        i = end;
    }
    return shape;
}

/* Twice the blanks, so that YAML's "- x" can stand between its key and what is further in. */
static uint32_t indent_of(weir_span line)
{
    size_t blanks = wr_json_skip_blanks(line, 0);
    bool dash = blanks + 1 < line.len && line.ptr[blanks] == '-' && line.ptr[blanks + 1] == ' ';
    return (uint32_t)(blanks * 2 + dash);
}

/* ---- the tree ---- */

struct builder {
    struct wr_tree *tree;
    uint32_t open[WR_JSON_DEPTH_MAX]; /* the nodes the line at hand may stand in */
    uint32_t depth;
};

static void leave_to(struct builder *builder, uint32_t indent, uint32_t line)
{
    struct wr_tree_node *nodes = builder->tree->nodes;
    while (builder->depth && nodes[builder->open[builder->depth - 1]].indent >= indent)
        nodes[builder->open[--builder->depth]].end = line;
}

/* A closing line stands as far in as the line it closes, which is then the innermost left. */
static bool close_node(struct builder *builder, uint32_t line, uint32_t indent)
{
    struct wr_tree_node *nodes = builder->tree->nodes, *closing = &nodes[line];
    leave_to(builder, indent + 1, line);
    if (!builder->depth || nodes[builder->open[builder->depth - 1]].indent != indent)
        return false;
    uint32_t opener = builder->open[--builder->depth];
    nodes[opener].close = line;
    nodes[opener].end = line + 1;
    *closing = (struct wr_tree_node){.parent = nodes[opener].parent,
                                     .end = line + 1,
                                     .close = WR_TREE_NONE,
                                     .indent = indent,
                                     .is_closing = true};
    return true;
}

static uint32_t innermost(const struct builder *builder)
{
    return builder->depth ? builder->open[builder->depth - 1] : WR_TREE_NONE;
}

/* A blank line says nothing and is no node. */
static void add_blank(struct builder *builder, uint32_t line)
{
    builder->tree->nodes[line] = (struct wr_tree_node){
        .parent = innermost(builder), .end = line + 1, .close = WR_TREE_NONE, .is_closing = true};
}

static void add_node(struct builder *builder, uint32_t line, uint32_t indent, weir_span text)
{
    struct wr_tree *tree = builder->tree;
    leave_to(builder, indent, line);
    uint32_t parent = innermost(builder);
    weir_span key = key_of(text);
    struct wr_tree_node *node = &tree->nodes[line];
    *node = (struct wr_tree_node){.parent = parent,
                                  .end = line + 1,
                                  .close = WR_TREE_NONE,
                                  .indent = indent,
                                  .is_element = !key.len};
    if (node->is_element)
        node->shape = shape_of_line(text);
    if (parent == WR_TREE_NONE) {
        node->index = tree->roots++;
    } else {
        node->index = tree->nodes[parent].children++;
        if (key.len)
            tree->nodes[parent].shape += wr_hash64(key);
    }
    if (builder->depth < WR_JSON_DEPTH_MAX)
        builder->open[builder->depth++] = line;
}

weir_span wr_tree_key(weir_span line)
{
    return key_of(wr_span_trim(line));
}

weir_status wr_tree_build(struct wr_tree *tree, const struct wr_keep *keep, const uint16_t *indents)
{
    struct builder builder = {.tree = tree};
    *tree = (struct wr_tree){.count = keep->lines_count};
    tree->nodes = WR_ARENA_ARRAY(keep->arena, struct wr_tree_node, keep->lines_count);
    if (!tree->nodes)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span whole = wr_keep_line(keep, line), text = wr_span_trim(whole);
        uint32_t indent = indents ? indents[line] : indent_of(whole);
        bool closing = text.len && (text.ptr[0] == '}' || text.ptr[0] == ']');
        if (!text.len)
            add_blank(&builder, line);
        else if (!closing || !close_node(&builder, line, indent))
            add_node(&builder, line, indent, text);
    }
    leave_to(&builder, 0, keep->lines_count);
    return WEIR_OK;
}

uint32_t wr_tree_siblings(const struct wr_tree *tree, uint32_t line)
{
    uint32_t parent = tree->nodes[line].parent;
    return parent == WR_TREE_NONE ? tree->roots : tree->nodes[parent].children;
}

/* ---- units of a long line ---- */

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
