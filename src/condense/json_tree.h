/* json_tree.h -- which line belongs to which: a text of nested lines as a tree.
 *
 * A line is a node; lines further in below it are its children. JSON that was written for people,
 * YAML, JSON a line each, and the units of a long line all have this shape, cut off or not: nothing
 * is parsed, so nothing can be malformed. A line that begins with '}' or ']' closes the node it
 * stands under and is no node of its own. No recursion: nodes know their parents.
 */
#ifndef WR_CONDENSE_JSON_TREE_H
#define WR_CONDENSE_JSON_TREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
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

/* -- steps along a line of JSON that need not be whole ----------------------------------------- */

/* The quote that ends the string whose inside begins at `at`: the first with an even number of
 * backslashes before it. The end of the text where there is none. */
static inline size_t wr_json_string_end(weir_span text, size_t at)
{
    const char *quote;
    while (at < text.len && (quote = memchr(text.ptr + at, '"', text.len - at)) != NULL) {
        size_t end = (size_t)(quote - text.ptr), escape = end;
        while (escape > at && text.ptr[escape - 1] == '\\')
            escape--;
        if ((end - escape) % 2 == 0)
            return end;
        at = end + 1;
    }
    return text.len;
}

static inline size_t wr_json_skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && wr_is_blank(text.ptr[at]))
        at++;
    return at;
}

/* -- JSON on one line, with a line for each of its parts --------------------------------------- */

/* The elements and members of every container of more than WR_UNIT_BYTES_MAX are units; so are the
 * openings and ends of those containers. Smaller containers stay in one piece. A line end is put
 * before each unit and nothing else is changed: the text means the same, and a unit is a line that
 * can be kept or left out. */

enum { WR_UNIT_BYTES_MAX = 200 };

struct wr_units {
    weir_span text;    /* in the arena; ends in a line end */
    uint16_t *indents; /* how deep each unit stands */
    uint32_t count;
};

/* For what is no JSON from end to end, as where a client cut it: a unit ends behind "}," before the
 * next record. All stand outermost. */
WEIR_MUST_USE weir_status wr_units_split(struct wr_units *units, struct wr_arena *arena,
                                         weir_span line);

/* Fails with WEIR_SYNTAX where `line` is not JSON from end to end, WEIR_LIMIT or WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_units_read(struct wr_units *units, struct wr_arena *arena,
                                        weir_span line);

/* ---- names that are cut ----
 *
 * A long line cut to a width, with the names of its middle.
 *
 * What a reader takes from a long text, word for word, are names: paths and identifiers. So of what
 * is left out of the middle these stay, as many as there is room for:
 *
 *   "body": "The first words [… 811 bytes left out …] src/a/b.c … push_policy … and the last."
 *
 * The form is made of pieces of the line in their order; no character of UTF-8 is cut in two.
 */

enum { WR_NAMES_CUT_BYTES_MIN = 120 };

/* Appends `line`, which has no line end, in at most `bytes_max` (at least WR_NAMES_CUT_BYTES_MIN)
 * bytes. A line that is not longer is written as it is. */
void wr_names_cut_write(struct wr_buf *out, weir_span line, size_t bytes_max);

#endif
