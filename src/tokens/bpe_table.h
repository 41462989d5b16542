/* bpe_table.h -- the look-ups of one byte pair encoding; private to src/tokens.
 *
 * 1. A token's number here is its rank: merging takes the pair with the lowest. Numbers 0 to 255
 *    are the single bytes. What the outside calls the token may differ (`names`).
 * 2. A token that merging can reach is made by one last merge, of the two tokens in `makings`; both
 *    have lower numbers. A token that merging cannot reach has itself as both parts, and is only
 *    ever found as a whole piece.
 * 3. Nothing changes after the last wr_bpe_table_add().
 *
 * All tables are in one block of memory and probed linearly from a place that a product gives.
 */
#ifndef WR_TOKENS_BPE_TABLE_H
#define WR_TOKENS_BPE_TABLE_H

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "tokens/bpe.h"
#include "tokens/bpe_load.h"
#include "tokens/pretoken.h"

enum {
    WR_BPE_SINGLE_BYTES = 256,
    WR_BPE_RANK_BITS = 21,
    WR_BPE_KEY_EXACT_BYTES = 7, /* up to this many bytes a key is the text itself */
    WR_BPE_PREFIX_LEAST_SHIFT = 2,
    WR_BPE_PREFIX_LENGTHS = 16,
    WR_BPE_PREFIX_FILTER_SHIFT = 64 - 21,
    WR_BPE_PAIR_FILTER_SHIFT = 64 - 22,
};
#define WR_BPE_NO_RANK     UINT32_MAX
#define WR_BPE_UNREACHABLE (UINT32_C(1) << 31)

/* The two tokens that a token is made of. */
struct wr_bpe_split {
    uint32_t left, right;
};

/* How a token came about; of a single byte all are NO_RANK. */
struct wr_bpe_making {
    struct wr_bpe_split split;
    uint32_t first_merge; /* the token that its first byte was first merged into */
    uint32_t last_merge;  /* the same of its last byte */
};

/* A large block of zeroed memory that is read at random. Where the system has large pages it asks
 * for them: a hash table of megabytes then costs fewer faults to fill. Elsewhere it is plain
 * memory. */
struct wr_pages {
    void *memory; /* aligned for any type; NULL on failure */
    void *held;   /* owned: what the memory is a part of */
};

struct wr_pages wr_pages_new(size_t bytes);
void wr_pages_free(struct wr_pages pages); /* NULL is fine */

struct wr_bpe_slot {
    uint64_t key;   /* wr_bpe_key(); 0: free */
    uint32_t rank;  /* WR_BPE_UNREACHABLE set where merging cannot reach it */
    uint32_t bytes; /* the length of its text */
};

struct wr_bpe_two {
    uint32_t rank;   /* the token of these two bytes; 0: none */
    uint32_t thirds; /* bit b: some token goes on with a byte whose low five bits are b */
};

struct wr_bpe {
    wr_pretoken_fn *pretoken;
    wr_pretoken_many_fn *pretoken_many; /* or NULL */
    bool whole_pieces; /* a piece that is a token is that token, however merging would go */
    uint32_t tokens_count;
    uint32_t tokens_max;
    uint32_t token_bytes_max;
    struct wr_pages block; /* the tables that follow are parts of it */

    uint8_t *bytes;
    uint32_t *starts; /* token i is bytes[starts[i]] .. bytes[starts[i + 1]] */
    struct wr_bpe_making *makings;

    struct wr_bpe_slot *slots; /* every token by its text */
    uint32_t slots_max;

    uint64_t *pairs; /* left, right and merged token, WR_BPE_RANK_BITS each; 0: free */
    uint32_t pairs_max;
    uint64_t *pair_filter; /* bits: a pair that is not in here is not in `pairs` */

    uint32_t *prefixes; /* which lengths of token begin so; see wr_bpe_merge(). 0: free */
    uint32_t prefixes_max;
    uint64_t *prefix_filter; /* the same for `prefixes` */

    struct wr_bpe_two *twos;               /* by the tokens of two bytes: wr_bpe_two_of() */
    uint32_t singles[WR_BPE_SINGLE_BYTES]; /* the token of a byte */

    uint32_t *names;    /* owned: the id outside, by rank; NULL: the rank itself */
    uint32_t *ranks;    /* owned: the rank or NO_RANK, by id outside; NULL as above */
    uint32_t names_max; /* ids outside are below this */
};

/* Little-endian bytes as a number; the bytes past `len` are zero. len <= 8. */
static inline uint64_t wr_bpe_load(const uint8_t *at, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

/* A byte that is not ASCII, in eight. */
#define WR_BPE_HIGH_BITS UINT64_C(0x8080808080808080)

static inline uint64_t wr_bpe_load8(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* wr_bpe_load() of 1 to 8 bytes, by one read where the text goes on long enough. */
static inline uint64_t wr_bpe_load_within(const uint8_t *at, size_t len, const uint8_t *end)
{
    if ((size_t)(end - at) >= 8)
        return wr_bpe_load8(at) & (UINT64_MAX >> (8 * (8 - len)));
    return wr_bpe_load(at, len);
}

#define WR_BPE_MIX        UINT64_C(0x9E3779B97F4A7C15)
#define WR_BPE_PREFIX_MIX UINT64_C(0xD6E8FEB86659FD93)
#define WR_BPE_PAIR_MIX   UINT64_C(0xBF58476D1CE4E5B9)

static inline uint64_t wr_bpe_hash_long(const uint8_t *at, size_t len)
{
    uint64_t hash = (wr_bpe_load8(at) + len) * WR_BPE_MIX;
    for (size_t i = 8; i + 8 < len; i += 8)
        hash = ((hash ^ (hash >> 29)) + wr_bpe_load8(at + i)) * WR_BPE_MIX;
    return ((hash ^ (hash >> 32)) + wr_bpe_load8(at + len - 8)) * WR_BPE_MIX;
}

/* The key of a text. For up to 7 bytes it is these bytes and their number, so that equal keys are
 * equal texts; for more it is a hash with the top bit set. Never 0. Bytes up to `end` may be read.
 */
static inline uint64_t wr_bpe_key(const uint8_t *at, size_t len, const uint8_t *end)
{
    if (len <= WR_BPE_KEY_EXACT_BYTES)
        return wr_bpe_load_within(at, len, end) | (uint64_t)len << 56;
    return wr_bpe_hash_long(at, len) | UINT64_C(1) << 63;
}

/* A number below `below` from the top bits of a product. */
static inline uint32_t wr_bpe_place(uint64_t product, uint32_t below)
{
    return (uint32_t)(((product >> 32) * below) >> 32);
}

/* The token whose text is the `len` bytes at `at`, which have the key `key`; or NO_RANK. One that
 * merging cannot reach comes with WR_BPE_UNREACHABLE. */
static inline uint32_t wr_bpe_find_key(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                       uint64_t key)
{
    uint32_t i = wr_bpe_place(key * WR_BPE_MIX, bpe->slots_max);
    for (;;) {
        const struct wr_bpe_slot *slot = &bpe->slots[i];
        if (slot->key == key) {
            if (len <= WR_BPE_KEY_EXACT_BYTES)
                return slot->rank;
            uint32_t rank = slot->rank & ~WR_BPE_UNREACHABLE;
            if (slot->bytes == len && !memcmp(bpe->bytes + bpe->starts[rank], at, len))
                return slot->rank;
        }
        if (!slot->key)
            return WR_BPE_NO_RANK;
        if (++i == bpe->slots_max)
            i = 0;
    }
}

static inline struct wr_bpe_two *wr_bpe_two_of(const struct wr_bpe *bpe, uint32_t left,
                                               uint32_t right)
{
    return &bpe->twos[left << 8 | right];
}

static inline uint32_t wr_bpe_third_bit(uint8_t byte)
{
    return UINT32_C(1) << (byte & 31);
}

static inline uint32_t wr_bpe_token_bytes(const struct wr_bpe *bpe, uint32_t rank)
{
    return bpe->starts[rank + 1] - bpe->starts[rank];
}

/* Both ranks as one number, and the product that gives its place. */
static inline uint64_t wr_bpe_pair_key(uint32_t left, uint32_t right)
{
    return (uint64_t)left << WR_BPE_RANK_BITS | right;
}

static inline uint64_t wr_bpe_pair_product(uint64_t key)
{
    return key * WR_BPE_PAIR_MIX;
}

/* For the first 2^power_shift bytes of a text, which are `word` or have it as their hash. */
static inline uint64_t wr_bpe_prefix_product(uint64_t word, unsigned power_shift)
{
    uint64_t product = (word + power_shift) * WR_BPE_PREFIX_MIX;
    return (product ^ (product >> 31)) * WR_BPE_MIX;
}

/* The word of a prefix of 4, 8, 16, ... bytes. */
static inline uint64_t wr_bpe_prefix_load(const uint8_t *at, unsigned power_shift)
{
    if (power_shift == 2)
        return wr_bpe_load(at, 4);
    return power_shift == 3 ? wr_bpe_load8(at) : wr_bpe_hash_long(at, (size_t)1 << power_shift);
}

/* An entry of `prefixes`: a tag in the upper half, which is never 0, lengths in the lower. */
static inline uint32_t wr_bpe_prefix_tag(uint64_t product)
{
    return (uint32_t)product << 16 | UINT32_C(1) << 31;
}

/* The entry that has the tag of `product`, or the free one where it belongs. */
static inline uint32_t *wr_bpe_prefix_entry(const struct wr_bpe *bpe, uint64_t product)
{
    uint32_t tag = wr_bpe_prefix_tag(product);
    uint32_t i = wr_bpe_place(product, bpe->prefixes_max);
    while (bpe->prefixes[i] && (bpe->prefixes[i] & 0xFFFF0000u) != tag)
        i = i + 1 == bpe->prefixes_max ? 0 : i + 1;
    return &bpe->prefixes[i];
}

/* Lengths that share a bit at a power of two: one up to 31 bytes, two up to 63, and so on. */
static inline unsigned wr_bpe_length_shift(unsigned power_shift)
{
    return power_shift > 4 ? power_shift - 4 : 0;
}

static inline bool wr_bpe_filter_has(const uint64_t *filter, uint64_t product, unsigned shift)
{
    uint64_t bit = product >> shift;
    return filter[bit >> 6] >> (bit & 63) & 1;
}

/* Building: new, then every token in order of rank, the single bytes first. `tokens_max` and
 * `bytes_total` are those that will be added. A token that merging cannot reach is added with
 * itself as both parts. Freed by wr_bpe_free(). */
WEIR_MUST_USE weir_status wr_bpe_table_new(struct wr_bpe **bpe, uint32_t tokens_max,
                                           size_t bytes_total, struct weir_err *err);
void wr_bpe_table_add(struct wr_bpe *bpe, weir_span text, struct wr_bpe_split split);

/* Adds the token whose text is that of both parts together. */
void wr_bpe_table_add_merged(struct wr_bpe *bpe, struct wr_bpe_split split);

/* ---- bpe build ----
 *
 * Making an encoding from a vocabulary that a file gave; private to src/tokens.
 */

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

/* ---- merging without merging ----
 *
 * The tokens of a piece that is no token itself; private to src/tokens.
 */

/* Memory that grows to the longest piece seen. */
struct wr_bpe_stack {
    uint32_t *ranks; /* the tokens of the piece, after wr_bpe_merge() */
    uint64_t *dead;  /* bits, by place in the piece: no encoding has a token end here */
    size_t bytes_max;
};

void wr_bpe_stack_release(struct wr_bpe_stack *stack);

/* Encodes the bytes [at, piece_end) by merging; `end` is where the text ends that may be read. The
 * tokens are in stack->ranks. Failure: WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_merge(const struct wr_bpe *bpe, struct wr_bpe_stack *stack,
                                       const uint8_t *at, const uint8_t *piece_end,
                                       const uint8_t *end, size_t *tokens);

/* Whether merging the text of both tokens gives just these two. */
bool wr_bpe_is_stable_pair(const struct wr_bpe *bpe, uint32_t left, uint32_t right);

#endif
