/* bpe.h -- exact tokens of byte pair encodings.
 *
 * 1. Counts and ids equal those of the original's ordinary encoding: the text of a special token is
 *    plain text.
 * 2. Time is linear in the text, whatever the text is.
 * 3. Any bytes are text. Bytes that are not UTF-8 are cut into pieces as if U+FFFD stood in their
 *    place: a surrogate in three bytes is one character, and so is any other wrong byte. Then they
 *    are encoded as they are, so decoding gives them back. Their count is rarely below that of
 *    U+FFFD.
 * 4. An encoding never changes once made; any number of threads may use it. The memory that a call
 *    works on is a `wr_bpe_scratch`, one for each thread.
 */
#ifndef WR_TOKENS_BPE_H
#define WR_TOKENS_BPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "weir/span.h"
#include "weir/status.h"

struct wr_bpe;
struct wr_bpe_scratch;

/* The names of the encodings that the library carries. */
#define WR_BPE_ENCODING_MAP(X)  \
    X(O200K_BASE, "o200k_base") \
    X(CL100K_BASE, "cl100k_base")

enum wr_bpe_encoding {
#define WR_BPE_ENCODING_ENUM(name, text) WR_BPE_##name,
    WR_BPE_ENCODING_MAP(WR_BPE_ENCODING_ENUM)
#undef WR_BPE_ENCODING_ENUM
        WR_BPE_ENCODINGS_COUNT
};

bool wr_bpe_encoding_find(weir_span name, enum wr_bpe_encoding *encoding);

/* Makes a carried encoding ready, which takes some milliseconds and 16 MB: keep it. Failure:
 * WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_new(struct wr_bpe **bpe, enum wr_bpe_encoding encoding,
                                     struct weir_err *err);
void wr_bpe_free(struct wr_bpe *bpe);

uint32_t wr_bpe_tokens_count(const struct wr_bpe *bpe); /* how many tokens there are */

/* `bpe` is borrowed and must outlive the scratch. */
WEIR_MUST_USE weir_status wr_bpe_scratch_new(struct wr_bpe_scratch **scratch,
                                             const struct wr_bpe *bpe);
void wr_bpe_scratch_free(struct wr_bpe_scratch *scratch);

/* The number of tokens of `text`. Failure: WEIR_NOMEM, for a single piece too long for the memory.
 */
WEIR_MUST_USE weir_status wr_bpe_count(struct wr_bpe_scratch *scratch, weir_span text,
                                       size_t *tokens);

struct wr_bpe_ids {
    uint32_t *ids;
    size_t count;
};

/* The ids of `text`, in `arena`. Failure: WEIR_NOMEM, WEIR_LIMIT. */
WEIR_MUST_USE weir_status wr_bpe_encode(struct wr_bpe_scratch *scratch, struct wr_arena *arena,
                                        weir_span text, struct wr_bpe_ids *ids);

/* The text of one token, borrowed from `bpe`; a NULL ptr where there is no such id. */
weir_span wr_bpe_token_text(const struct wr_bpe *bpe, uint32_t id);

/* The bytes of `ids`, in `arena`. Failure: WEIR_INVALID with the index of an id that there is not,
 * WEIR_NOMEM, WEIR_LIMIT. */
WEIR_MUST_USE weir_status wr_bpe_decode(const struct wr_bpe *bpe, struct wr_arena *arena,
                                        const struct wr_bpe_ids *ids, weir_span *text,
                                        struct weir_err *err);

/* A place up to which text has been counted for good: the first `bytes` of it are `tokens`,
 * whatever follows. Zero is the start of every text. */
struct wr_bpe_mark {
    size_t bytes;
    size_t tokens;
};

/* Moves the mark as far towards the end of `text` as it can go. */
WEIR_MUST_USE weir_status wr_bpe_mark_move(struct wr_bpe_scratch *scratch, weir_span text,
                                           struct wr_bpe_mark *mark);

/* ---- counts remembered ----
 *
 * Counts remembered by content, so that a text seen before costs a hash.
 *
 * The memo holds so many counts and then forgets older ones (base/hash.h). Forgetting changes
 * nothing but time. One owner, one thread at a time.
 */

struct wr_bpe_memo;

/* About `entries_count` texts. `scratch` is borrowed: it counts, and its encoding
 * is the memo's. Failure: WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_memo_new(struct wr_bpe_memo **memo, struct wr_bpe_scratch *scratch,
                                          uint32_t entries_count);
void wr_bpe_memo_free(struct wr_bpe_memo *memo);

/* Counts as wr_bpe_count() does. Two texts with the same XXH3 of 128 bits are taken for one. */
WEIR_MUST_USE weir_status wr_bpe_memo_count(struct wr_bpe_memo *memo, weir_span text,
                                            size_t *tokens);

struct wr_bpe_memo_use {
    uint64_t found, counted; /* texts; short ones, which are never kept, are in neither */
};
struct wr_bpe_memo_use wr_bpe_memo_use(const struct wr_bpe_memo *memo);

#endif
