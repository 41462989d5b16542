/* first_sight_evidence.h -- what an action quotes, and whether a text holds it.
 *
 * Evidence is a path, an identifier of at least WORD_BYTES_MIN or a line of at least LINE_BYTES_MIN
 * bytes that stands in the strings of a call's arguments. What a model understood without quoting
 * it is not seen, so shares of it are a lower bound of what was needed.
 */
#ifndef WR_BENCH_FIRST_SIGHT_EVIDENCE_H
#define WR_BENCH_FIRST_SIGHT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/span.h"
#include "json/json.h"

enum { WORD_BYTES_MIN = 8, LINE_BYTES_MIN = 16, PATH_BYTES_MIN = 5, EVIDENCE_MAX = 8192 };

enum evidence_kind { EVIDENCE_WORD, EVIDENCE_PATH, EVIDENCE_LINE };

struct evidence_item {
    weir_span text;
    uint64_t hash;
    enum evidence_kind kind;
    bool is_name; /* no plain word: a path, a line, or an identifier that could be nothing else */
};

struct evidence {
    struct evidence_item items[EVIDENCE_MAX];
    uint32_t count;
};

static inline uint64_t evidence_hash(weir_span text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211u;
    return hash ? hash : 1;
}

static inline bool evidence_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static inline bool evidence_is_path_byte(char c)
{
    return evidence_is_word(c) || (c && memchr("./-@~+", c, 6));
}

/* Reads the next run of bytes of which `is` says yes. */
static inline bool evidence_next(weir_span text, size_t *at, bool (*is)(char), weir_span *found)
{
    while (*at < text.len && !is(text.ptr[*at]))
        ++*at;
    size_t first = *at;
    while (*at < text.len && is(text.ptr[*at]))
        ++*at;
    *found = wr_span_cut(text, first, *at);
    return *at > first;
}

/* "wr_keep_one", "sha256", "camelCase"; a plain word may stand in an action by chance. */
static inline bool evidence_is_name(weir_span word)
{
    for (size_t i = 1; i < word.len; i++)
        if (word.ptr[i] == '_' || (word.ptr[i] >= '0' && word.ptr[i] <= '9') ||
            (word.ptr[i] >= 'A' && word.ptr[i] <= 'Z'))
            return true;
    return false;
}

/* -- a text in which evidence is sought -------------------------------------------------------- */

struct evidence_index {
    weir_span text;
    uint64_t *slots; /* hashes of its identifiers, 0 where free */
    size_t mask;
};

static inline bool evidence_index_slot(const struct evidence_index *index, uint64_t hash,
                                       size_t *slot)
{
    *slot = (size_t)(hash ^ hash >> 29) & index->mask;
    while (index->slots[*slot] && index->slots[*slot] != hash)
        *slot = (*slot + 1) & index->mask;
    return index->slots[*slot] == hash;
}

static inline bool evidence_index_init(struct evidence_index *index, struct wr_arena *arena,
                                       weir_span text)
{
    size_t slots = 16, at = 0, slot;
    weir_span word;
    while (slots < text.len / WORD_BYTES_MIN * 2 + 2)
        slots *= 2;
    *index = (struct evidence_index){text, WR_ARENA_ARRAY(arena, uint64_t, slots), slots - 1};
    if (!index->slots)
        return false;
    while (evidence_next(text, &at, evidence_is_word, &word))
        if (word.len >= WORD_BYTES_MIN && !evidence_index_slot(index, evidence_hash(word), &slot))
            index->slots[slot] = evidence_hash(word);
    return true;
}

/* A line is seldom there when a word of it is not, and words are found at once. */
static inline bool evidence_may_hold(const struct evidence_index *index, weir_span line)
{
    size_t at = 0, slot;
    weir_span word;
    while (evidence_next(line, &at, evidence_is_word, &word))
        if (word.len >= WORD_BYTES_MIN && at < line.len && word.ptr > line.ptr &&
            !evidence_index_slot(index, evidence_hash(word), &slot))
            return false;
    return true;
}

static inline bool evidence_is_in(const struct evidence_item *item,
                                  const struct evidence_index *index)
{
    size_t slot;
    if (item->kind == EVIDENCE_WORD)
        return evidence_index_slot(index, item->hash, &slot);
    return evidence_may_hold(index, item->text) &&
           wr_span_find(index->text, item->text, 0) != SIZE_MAX;
}

/* -- what an action quotes --------------------------------------------------------------------- */

static inline void evidence_add(struct evidence *evidence, struct evidence_index *seen,
                                enum evidence_kind kind, weir_span text)
{
    uint64_t hash = evidence_hash(text);
    size_t slot;
    if (evidence->count == EVIDENCE_MAX || evidence_index_slot(seen, hash, &slot))
        return;
    seen->slots[slot] = hash;
    evidence->items[evidence->count++] =
        (struct evidence_item){text, hash, kind, kind != EVIDENCE_WORD || evidence_is_name(text)};
}

static inline bool evidence_is_path(weir_span text)
{
    const char *slash = memchr(text.ptr, '/', text.len);
    return text.len >= PATH_BYTES_MIN && slash && slash + 1 < text.ptr + text.len;
}

static inline void evidence_add_text(struct evidence *evidence, struct evidence_index *seen,
                                     weir_span text)
{
    weir_span found, rest = text;
    size_t at = 0;
    while (evidence_next(text, &at, evidence_is_path_byte, &found))
        if (evidence_is_path(found))
            evidence_add(evidence, seen, EVIDENCE_PATH, found);
    at = 0;
    while (evidence_next(text, &at, evidence_is_word, &found))
        if (found.len >= WORD_BYTES_MIN)
            evidence_add(evidence, seen, EVIDENCE_WORD, found);
    while (wr_span_line(&rest, &found)) {
        weir_span line = wr_span_trim(found);
        if (line.len >= LINE_BYTES_MIN)
            evidence_add(evidence, seen, EVIDENCE_LINE, line);
    }
}

/* Adds what the strings of `arguments` hold; arguments that are no JSON are one string. */
static inline void evidence_add_arguments(struct evidence *evidence, struct evidence_index *seen,
                                          struct wr_arena *arena, weir_span arguments)
{
    struct wr_json doc;
    if (wr_json_parse(&doc, arena, arguments, NULL, NULL)) {
        evidence_add_text(evidence, seen, arguments);
        return;
    }
    for (wr_json_id id = 0; id < doc.nodes_count; id++)
        if (doc.nodes[id].kind == WR_JSON_STRING && !doc.nodes[id].is_key)
            evidence_add_text(evidence, seen, wr_json_text(&doc, arena, id));
}

#endif
