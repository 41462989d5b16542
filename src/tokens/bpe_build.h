/* bpe_build.h -- making an encoding from a vocabulary that a file gave; private to src/tokens. */
#ifndef WR_TOKENS_BPE_BUILD_H
#define WR_TOKENS_BPE_BUILD_H

#include "base/index.h"
#include "tokens/bpe_load.h"
#include "tokens/bpe_table.h"

struct wr_bpe_word {
    weir_span text;
    uint32_t id;
    uint32_t at_byte; /* where in the file */
    bool added;       /* to the encoding */
};

struct wr_bpe_vocabulary {
    struct wr_bpe_word *words; /* in the arena */
    uint32_t count, count_max;
    size_t bytes_total;
    uint32_t ids_max; /* ids are below this */
    struct wr_index index;
};

/* Room for `count_max` words. */
WEIR_MUST_USE weir_status wr_bpe_vocabulary_init(struct wr_bpe_vocabulary *vocabulary,
                                                 struct wr_arena *arena, size_t count_max,
                                                 struct weir_err *err);

/* `text` is borrowed. Fails on an empty or long text, an id too large, a text that is there. */
WEIR_MUST_USE weir_status wr_bpe_vocabulary_add(struct wr_bpe_vocabulary *vocabulary,
                                                weir_span text, uint64_t id, size_t at_byte,
                                                struct weir_err *err);
struct wr_bpe_word *wr_bpe_vocabulary_find(const struct wr_bpe_vocabulary *vocabulary,
                                           weir_span text);

/* An encoding with the single bytes in it; fails where the vocabulary lacks one, or has an id
 * twice. */
WEIR_MUST_USE weir_status wr_bpe_build_new(struct wr_bpe **bpe,
                                           struct wr_bpe_vocabulary *vocabulary,
                                           enum wr_bpe_pattern pattern, struct weir_err *err);

/* Adds a word as the next in rank. A split of WR_BPE_NO_RANK: merging cannot reach it. */
void wr_bpe_build_add(struct wr_bpe *bpe, struct wr_bpe_word *word, struct wr_bpe_split split);

#endif
