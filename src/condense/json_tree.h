/* json_tree.h -- which line belongs to which: a text of nested lines as a tree.
 *
 * A line is a node; lines further in below it are its children. JSON that was written for people,
 * YAML, JSON a line each, and the units of json_unit.h all have this shape, cut off or not: nothing
 * is parsed, so nothing can be malformed. A line that begins with '}' or ']' closes the node it
 * stands under and is no node of its own. No recursion: nodes know their parents.
 */
#ifndef WR_CONDENSE_JSON_TREE_H
#define WR_CONDENSE_JSON_TREE_H

#include <stdbool.h>

#include "condense/keep.h"

#define WR_TREE_NONE UINT32_MAX

struct wr_tree_node {
    uint32_t parent;   /* WR_TREE_NONE: stands outermost */
    uint32_t end;      /* behind the last line of it, its closing line included */
    uint32_t close;    /* the line that closes it, or WR_TREE_NONE */
    uint32_t children; /* how many */
    uint32_t index;    /* among its siblings, from 0 */
    uint32_t indent;
    uint64_t shape;  /* of its keys; the same for objects with the same keys */
    bool is_closing; /* no node: a closing line, of the same parent as what it closes; or blank */
    bool is_element; /* has no key: one of an array's */
};

struct wr_tree {
    struct wr_tree_node *nodes; /* one a line */
    uint32_t count;
    uint32_t roots; /* nodes without parent */
};

/* The tree of the lines of `keep`. `indents` gives how far in each line stands; NULL: as many
 * blanks as it begins with. */
WEIR_MUST_USE weir_status wr_tree_build(struct wr_tree *tree, const struct wr_keep *keep,
                                        const uint16_t *indents);

/* The key of a line: `"key":` or, in YAML, `key:`; empty where it has none. */
weir_span wr_tree_key(weir_span line);

/* How many nodes are siblings of this one, itself included. */
uint32_t wr_tree_siblings(const struct wr_tree *tree, uint32_t line);

#endif
