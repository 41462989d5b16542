/* Merging without merging.
 *
 * Byte pair merging joins, again and again, the neighbours whose pair has the lowest rank. A
 * sequence of tokens is its result exactly when every two neighbours in it are a result by
 * themselves: two tokens that merging leaves alone could only be joined by way of the bytes at
 * their border, and those bytes are in these two tokens. wr_bpe_is_stable_pair() tells whether two
 * tokens are such a pair.
 *
 * So the tokens are found from left to right (wr_bpe_merge): take the longest token that goes with
 * the one before it. Where none does, the one before it was wrong: it is taken back, and its next
 * shorter alternative is tried. A place that was given up is never tried again, so the time is
 * linear.
 *
 * Merging proper needs a heap to be O(n log n) and is several times slower on long pieces; the
 * fuzzer compares the two.
 *
 * The longest token at a place is found without a trie. For each token of n bytes there is an entry
 * for its first 4, 8, 16, ... bytes, for each power of two up to n. The entry for the largest such
 * power also has a bit for n. A look-up climbs the powers while the beginning of the text is an
 * entry, then comes down, trying only lengths that have a bit. Two texts may share an entry because
 * their tags clash; that costs a vain try and no more, because every try compares the text.
 */
#include "tokens/bpe_merge.h"

#include <stdlib.h>

struct match {
    uint32_t rank; /* or NO_RANK */
    uint32_t bytes;
};

static const struct match no_match = {WR_BPE_NO_RANK, 0};

static struct match find_reachable(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                   const uint8_t *end)
{
    uint32_t rank = wr_bpe_find_key(bpe, at, len, wr_bpe_key(at, len, end));
    return rank & WR_BPE_UNREACHABLE ? no_match : (struct match){rank, (uint32_t)len};
}

/* The longest token of 2^power_shift bytes up to twice that, among the lengths that have a bit. */
static struct match longest_of_power(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                     const uint8_t *end, unsigned power_shift, uint32_t lengths)
{
    size_t power = (size_t)1 << power_shift, width = (size_t)1 << wr_bpe_length_shift(power_shift);

    while (lengths) {
        unsigned highest = 31u - (unsigned)__builtin_clz(lengths);
        lengths &= ~(UINT32_C(1) << highest);
        size_t least = power + highest * width;
        size_t most = least + width - 1;
        for (size_t n = most < len ? most : len; n >= least; n--) {
            struct match match = find_reachable(bpe, at, n, end);
            if (match.bytes)
                return match;
        }
    }
    return no_match;
}

/* The longest token of four bytes or more. */
static struct match longest_from_4(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                   const uint8_t *end)
{
    uint32_t entries[32];
    unsigned shift = WR_BPE_PREFIX_LEAST_SHIFT;
    struct match match = no_match;

    for (; shift < 32 && (size_t)1 << shift <= len; shift++) {
        uint64_t product = wr_bpe_prefix_product(wr_bpe_prefix_load(at, shift), shift);
        if (!wr_bpe_filter_has(bpe->prefix_filter, product, WR_BPE_PREFIX_FILTER_SHIFT))
            break;
        entries[shift] = *wr_bpe_prefix_entry(bpe, product);
        if (!entries[shift])
            break;
    }
    while (!match.bytes && shift-- > WR_BPE_PREFIX_LEAST_SHIFT)
        match = longest_of_power(bpe, at, len, end, shift, entries[shift] & 0xFFFF);
    return match;
}

/* The longest token that merging can reach and that begins the `len` bytes at `at`; len > 0. */
static struct match longest_token(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                  const uint8_t *end)
{
    struct match one = {bpe->singles[at[0]], 1};
    if (len < 2)
        return one;
    const struct wr_bpe_two *two = wr_bpe_two_of(bpe, one.rank, bpe->singles[at[1]]);
    if (len > 2 && two->thirds & wr_bpe_third_bit(at[2])) {
        struct match match = len > 3 ? longest_from_4(bpe, at, len, end) : no_match;
        if (!match.bytes)
            match = find_reachable(bpe, at, 3, end);
        if (match.bytes)
            return match;
    }
    return two->rank ? (struct match){two->rank, 2} : one;
}

/* The token that a merge of the two makes, or NO_RANK. */
static uint32_t find_merged(const struct wr_bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t key = wr_bpe_pair_key(left, right), product = wr_bpe_pair_product(key);
    if (!wr_bpe_filter_has(bpe->pair_filter, product, WR_BPE_PAIR_FILTER_SHIFT))
        return WR_BPE_NO_RANK;
    uint32_t i = wr_bpe_place(product, bpe->pairs_max);
    for (; bpe->pairs[i]; i = i + 1 == bpe->pairs_max ? 0 : i + 1)
        if (bpe->pairs[i] >> WR_BPE_RANK_BITS == key)
            return (uint32_t)(bpe->pairs[i] & ((UINT64_C(1) << WR_BPE_RANK_BITS) - 1));
    return WR_BPE_NO_RANK;
}

/* Takes the two tokens apart from their border outwards, latest merge first, and looks whether at
 * any time a pair across the border would have been merged before the parts were joined. */
bool wr_bpe_is_stable_pair(const struct wr_bpe *bpe, uint32_t left, uint32_t right)
{
    uint32_t before = UINT32_MAX; /* a pair across the border merges if it is of lower rank */

    /* The token of higher rank was merged later, so it is taken apart first. Single bytes have the
     * lowest ranks: when the later of the two is a single byte, both are. A tie is a token next to
     * itself, and of two equal merges the left one is made first. */
    while (left >= WR_BPE_SINGLE_BYTES || right >= WR_BPE_SINGLE_BYTES) {
        if (find_merged(bpe, left, right) < before)
            return false;
        bool left_later = left > right;
        struct wr_bpe_split split = bpe->makings[left_later ? left : right].split;
        before = left_later ? left : right + 1;
        left = left_later ? split.right : left;
        right = left_later ? right : split.left;
    }
    uint32_t two = wr_bpe_two_of(bpe, left, right)->rank;
    return !two || two >= before;
}

/* The cheapest check first, which turns down most candidates: the last step of the loop above, for
 * the token `left` that ends at `border`. It gives the rank of the merge of the two bytes at the
 * border where that comes before the left byte is merged otherwise, else NO_MERGE. That merge is
 * made unless the right byte was merged earlier. */
#define NO_MERGE UINT64_MAX

static uint64_t border_merge(const struct wr_bpe *bpe, uint32_t left, const uint8_t *border)
{
    uint32_t two = wr_bpe_two_of(bpe, bpe->singles[border[-1]], bpe->singles[border[0]])->rank;
    return two && two < bpe->makings[left].last_merge ? two : NO_MERGE;
}

static weir_status reserve_stack(struct wr_bpe_stack *stack, size_t bytes)
{
    if (bytes <= stack->bytes_max)
        return WEIR_OK;
    size_t words = bytes / 64 + 1;
    free(stack->ranks);
    free(stack->dead);
    stack->ranks = malloc(bytes * sizeof *stack->ranks);
    stack->dead = malloc(words * sizeof *stack->dead);
    stack->bytes_max = stack->ranks && stack->dead ? bytes : 0;
    return stack->bytes_max ? WEIR_OK : WEIR_NOMEM;
}

void wr_bpe_stack_release(struct wr_bpe_stack *stack)
{
    free(stack->ranks);
    free(stack->dead);
    *stack = (struct wr_bpe_stack){0};
}

static bool is_dead(const struct wr_bpe_stack *stack, size_t place)
{
    return stack->dead[place / 64] >> (place % 64) & 1;
}

/* The longest token of at most `len_max` bytes at `place` that may follow the last one on the
 * stack. */
static struct match longest_fitting(const struct wr_bpe *bpe, const struct wr_bpe_stack *stack,
                                    size_t count, const uint8_t *at, size_t place, size_t len_max,
                                    const uint8_t *end)
{
    uint32_t last = count ? stack->ranks[count - 1] : 0;
    uint64_t border = count ? border_merge(bpe, last, at + place) : NO_MERGE;

    while (len_max) {
        struct match match = longest_token(bpe, at + place, len_max, end);
        bool fits =
            border > bpe->makings[match.rank].first_merge && !is_dead(stack, place + match.bytes);
        if (fits && (!count || wr_bpe_is_stable_pair(bpe, last, match.rank)))
            return match;
        len_max = match.bytes - 1;
    }
    return no_match;
}

weir_status wr_bpe_merge(const struct wr_bpe *bpe, struct wr_bpe_stack *stack, const uint8_t *at,
                         const uint8_t *piece_end, const uint8_t *end, size_t *tokens)
{
    size_t bytes = (size_t)(piece_end - at), place = 0, count = 0, len_max = bytes;
    weir_status status = reserve_stack(stack, bytes < 256 ? 256 : bytes);
    if (status)
        return status;
    memset(stack->dead, 0, (bytes / 64 + 1) * sizeof *stack->dead);

    while (place < bytes) {
        struct match match = longest_fitting(bpe, stack, count, at, place, len_max, end);
        if (match.bytes) {
            stack->ranks[count++] = match.rank;
            place += match.bytes;
            len_max = bytes - place;
        } else {
            /* Some encoding exists, so the first token is never turned down for good. */
            stack->dead[place / 64] |= UINT64_C(1) << (place % 64);
            uint32_t len = wr_bpe_token_bytes(bpe, stack->ranks[--count]);
            place -= len;
            len_max = len - 1;
        }
    }
    *tokens = count;
    return WEIR_OK;
}
