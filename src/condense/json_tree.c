/* The tree of a text of nested lines, made in one pass by indentation alone. A parser would refuse
 * what a client cut off, which is what is read here most.
 */
#include "condense/json_tree.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

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
