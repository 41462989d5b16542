/* evidence_index.h -- which segments of a session hold a string, by the string's hash.
 *
 * Segments are added in the order in which they came; numbers only rise. Hashes of 64 bits stand
 * for the strings: two strings of one hash in one session are not told apart.
 */
#ifndef WR_LAB_EVIDENCE_INDEX_H
#define WR_LAB_EVIDENCE_INDEX_H

#include <stdbool.h>

#include "base/arena.h"

#define WR_EVIDENCE_NONE UINT32_MAX

struct wr_evidence_string {
    uint64_t hash;      /* 0: a free place */
    uint32_t last;      /* the newest segment that holds it */
    uint32_t said;      /* the newest that is no result, or NONE */
    uint32_t said_line; /* of that segment, from 0: the first that holds it */
    uint32_t result;    /* the newest result that holds it, or NONE */
    uint32_t line;      /* of that result, from 0: the first that holds it */
    uint32_t posting;   /* the newest of its postings */
    uint32_t seen;      /* the answer it was last found in */
};

struct wr_evidence_posting {
    uint32_t segment;
    uint32_t older; /* or NONE */
};

struct wr_evidence_index {
    struct wr_arena *arena; /* borrowed */
    struct wr_evidence_string *strings;
    uint32_t strings_count, strings_cap;
    struct wr_evidence_posting *postings;
    uint32_t postings_count, postings_cap;
};

WEIR_MUST_USE weir_status wr_evidence_index_init(struct wr_evidence_index *index,
                                                 struct wr_arena *arena);

/* WEIR_LIMIT past WR_EVIDENCE_STRINGS_MAX. */
WEIR_MUST_USE weir_status wr_evidence_index_add(struct wr_evidence_index *index, weir_span text,
                                                uint32_t segment, uint32_t line, bool is_result);

/* NULL: no segment holds it. Lives until the next add. */
struct wr_evidence_string *wr_evidence_index_find(const struct wr_evidence_index *index,
                                                  weir_span text);

#endif
