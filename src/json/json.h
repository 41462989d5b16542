/* json.h -- a strict RFC 8259 reader that keeps, for every value, where its bytes are.
 *
 * 1. Nothing is copied or converted: a document is the text it was read from (which must outlive
 * it) and a flat array of nodes in the order of the text. Key order, duplicate keys, number
 * spelling, escapes and white space stay what they were because they are never touched.
 * 2. The nodes of a container are: the container, then its children's nodes. An object's children
 *    alternate key, value. `after` of a node is the index past everything inside it, so walking to
 *    the next sibling is one assignment.
 * 3. Text is valid UTF-8, or the reader refuses it. Escapes of lone surrogates are accepted as they
 *    are; unescaping gives them their three-byte form (WTF-8), which wr_json_escape() turns back.
 * 4. No recursion over input; depth, nodes and bytes are capped (base/limits.h).
 */
#ifndef WR_JSON_JSON_H
#define WR_JSON_JSON_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

enum wr_json_kind {
    WR_JSON_NULL,
    WR_JSON_FALSE,
    WR_JSON_TRUE,
    WR_JSON_NUMBER,
    WR_JSON_STRING,
    WR_JSON_ARRAY,
    WR_JSON_OBJECT,
};

/* Index of a node. Node 0 is the root. */
typedef uint32_t wr_json_id;
#define WR_JSON_NONE UINT32_MAX

struct wr_json_node {
    uint32_t start, end; /* bytes [start, end); a string's include its quotes */
    uint32_t after;      /* first node that is not inside this one */
    uint8_t kind;        /* enum wr_json_kind */
    bool escaped;        /* a string that holds a backslash */
    bool is_key;
    bool ascii; /* a string of ASCII bytes only */
};

struct wr_json {
    weir_span text; /* borrowed */
    struct wr_json_node *nodes;
    uint32_t nodes_count;
};

/* How a text begins that was read before: everything up to the end of an element of `list`, an
 * array that is a member of the outermost object. */
struct wr_json_start {
    const struct wr_json_node *nodes; /* of that reading; borrowed for the call */
    uint32_t nodes_count;             /* those before the place to go on from */
    wr_json_id list;
    uint32_t at_byte; /* where the element ends */
};

enum wr_json_path { WR_JSON_PATH_BEST, WR_JSON_PATH_SCALAR, WR_JSON_PATH_AVX2 };

struct wr_json_options {
    enum wr_json_path path; /* which scanner; one the machine lacks falls back to the scalar one */
    uint32_t depth_max;     /* 0: WR_JSON_DEPTH_MAX, which is also the most */
    uint32_t nodes_max;     /* 0: WR_JSON_NODES_MAX, which is also the most */
    /* Go on from here. The caller knows that the text begins with the bytes of that reading; the
     * nodes are then what reading all of it would have given. NULL: read from the first byte. */
    const struct wr_json_start *start;
};

/* Reads exactly one value with white space around it. Nodes live in `arena`; `text` is borrowed.
 * `options` may be NULL. Failure: WEIR_SYNTAX with the byte where the text stops being JSON,
 * WEIR_LIMIT or WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_json_parse(struct wr_json *doc, struct wr_arena *arena, weir_span text,
                                        const struct wr_json_options *options,
                                        struct weir_err *err);

static inline enum wr_json_kind wr_json_kind(const struct wr_json *doc, wr_json_id id)
{
    return (enum wr_json_kind)doc->nodes[id].kind;
}

static inline bool wr_json_is(const struct wr_json *doc, wr_json_id id, enum wr_json_kind kind)
{
    return id != WR_JSON_NONE && doc->nodes[id].kind == kind;
}

/* Walking a container: WR_JSON_EACH(id, doc, container). In an object `id` is the key and
 * wr_json_value(id) its value; next goes from key to key. Anything else than a container, NONE
 * included, has no first child. */
#define WR_JSON_EACH(id, doc, container)                                    \
    for (wr_json_id id = wr_json_first(doc, container); id != WR_JSON_NONE; \
         id = wr_json_next(doc, container, id))
static inline wr_json_id wr_json_first(const struct wr_json *doc, wr_json_id container)
{
    if (container == WR_JSON_NONE)
        return WR_JSON_NONE;
    return container + 1 < doc->nodes[container].after ? container + 1 : WR_JSON_NONE;
}

static inline wr_json_id wr_json_value(wr_json_id key)
{
    return key + 1;
}

static inline wr_json_id wr_json_next(const struct wr_json *doc, wr_json_id container,
                                      wr_json_id child)
{
    wr_json_id last = doc->nodes[child].is_key ? wr_json_value(child) : child;
    wr_json_id next = doc->nodes[last].after;
    return next < doc->nodes[container].after ? next : WR_JSON_NONE;
}

/* The value's bytes as they stand in the text. */
static inline weir_span wr_json_raw(const struct wr_json *doc, wr_json_id id)
{
    const struct wr_json_node *n = &doc->nodes[id];
    return (weir_span){doc->text.ptr + n->start, n->end - n->start};
}

/* A string's bytes between its quotes, escapes and all. */
static inline weir_span wr_json_inner(const struct wr_json *doc, wr_json_id id)
{
    const struct wr_json_node *n = &doc->nodes[id];
    return (weir_span){doc->text.ptr + n->start + 1, n->end - n->start - 2};
}

/* A member's bytes, from its key to the end of its value. */
static inline weir_span wr_json_member(const struct wr_json *doc, wr_json_id key)
{
    uint32_t start = doc->nodes[key].start;
    return (weir_span){doc->text.ptr + start, doc->nodes[wr_json_value(key)].end - start};
}

/* A string's text, unescaped: borrowed from the document where there was nothing to unescape, else
 * in `arena`. NULL ptr: out of memory (see the arena's status). */
weir_span wr_json_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id);

/* Whether the value is a string whose unescaped text is `text`. NONE is not. */
bool wr_json_text_is(const struct wr_json *doc, wr_json_id id, const char *text);

/* The value under `key`; the last one where the key is repeated, as most readers take it. NONE
 * where there is none or `object` is no object (NONE included). */
wr_json_id wr_json_find(const struct wr_json *doc, wr_json_id object, const char *key);

/* Looks several keys up in one walk: values[i] is the value under names[i], or NONE. Returns false,
 * still having filled `values`, where one of the names is repeated: such an object means different
 * things to different readers. */
bool wr_json_pick(const struct wr_json *doc, wr_json_id object, const char *const *names,
                  size_t count, wr_json_id *values);

/* A number that is a plain integer within range (no fraction or exponent); false for all else. */
bool wr_json_i64(const struct wr_json *doc, wr_json_id id, int64_t *number);

uint32_t wr_json_count(const struct wr_json *doc, wr_json_id container); /* elements, or members */

/* What stands under `key`: the text as wr_json_text() has it, or the number. Empty, or 0, where it
 * is of another kind, not there, or cannot be had; wr_json_find_u64() gives 0 for one below 0. */
weir_span wr_json_find_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id object,
                            const char *key);
int64_t wr_json_find_i64(const struct wr_json *doc, wr_json_id object, const char *key);
uint64_t wr_json_find_u64(const struct wr_json *doc, wr_json_id object, const char *key);

/* Unescapes the inside of a JSON string that the reader has accepted. The buffer must have room for
 * inner.len bytes, though less may come out. */
void wr_json_unescape(struct wr_buf *out, weir_span inner);

/* Appends `text` as the inside of a JSON string, escaping only what must be escaped. A `text` that
 * is neither UTF-8 nor WTF-8 fails the buffer with WEIR_INVALID. */
void wr_json_escape(struct wr_buf *out, weir_span text);

/* Line and column (both from 1, in bytes) of an offset: for messages. */
void wr_json_line_column(weir_span text, size_t at_byte, size_t *line, size_t *column);

#endif
