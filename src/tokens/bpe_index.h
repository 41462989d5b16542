/* bpe_index.h -- counts of parts of a text that has been counted once.
 *
 * Every so many bytes the index keeps a place where a piece starts, with the tokens before it. The
 * count of a part then costs what lies between its ends and the places next to them.
 */
#ifndef WR_TOKENS_BPE_INDEX_H
#define WR_TOKENS_BPE_INDEX_H

#include "tokens/bpe.h"

struct wr_bpe_index_place {
    size_t bytes;      /* the start of a piece */
    size_t tokens;     /* before it */
    size_t seen_bytes; /* the text from here on has no part in what came before `bytes` */
};

struct wr_bpe_index {
    weir_span text;                    /* borrowed */
    struct wr_bpe_index_place *places; /* in the arena */
    size_t places_count;
    size_t tokens; /* of the whole text */
};

/* Failure: WEIR_NOMEM, WEIR_LIMIT. `text` must outlive the index. */
WEIR_MUST_USE weir_status wr_bpe_index_init(struct wr_bpe_index *index, struct wr_arena *arena,
                                            struct wr_bpe_scratch *scratch, weir_span text);

/* The count of bytes [from, to) of the text, as a text by itself. from <= to <= text.len. `scratch`
 * must be of the same encoding. */
WEIR_MUST_USE weir_status wr_bpe_index_count(const struct wr_bpe_index *index,
                                             struct wr_bpe_scratch *scratch, size_t from, size_t to,
                                             size_t *tokens);

#endif
