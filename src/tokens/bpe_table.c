/* Fills the tables of an encoding; bpe_table.h says what they hold and has the look-ups.
 *
 * All tables are cut from one block (wr_pages_new), so that a system with large pages can give the
 * whole of it on few of them. lay_out_tables() is called twice: without a block it only adds up the
 * sizes.
 *
 * Tokens come in order of rank. What is entered for each:
 *   its text                         always (slot_add): a piece may be a token as a whole
 *   its pair, first bytes, prefixes  only where merging can reach it (reachable_add)
 */
#include "tokens/bpe_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

enum { TWOS = 1 << 16, ALIGN_BYTES = 64, PAD_BYTES = 8 };

/* Hands out the parts of a block. Without a block it only counts. */
struct cutter {
    uint8_t *block;
    size_t used;
};

static void *cut_table(struct cutter *cutter, size_t count, size_t item_bytes)
{
    void *part = cutter->block ? cutter->block + cutter->used : NULL;
    cutter->used += (count * item_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    return part;
}

static size_t filter_words(unsigned shift)
{
    return (size_t)1 << (64 - shift - 6);
}

static size_t lay_out_tables(struct wr_bpe *bpe, uint8_t *block, size_t bytes_total)
{
    struct cutter cutter = {block, 0};
    size_t tokens = bpe->tokens_max;

    bpe->slots = cut_table(&cutter, bpe->slots_max, sizeof *bpe->slots);
    bpe->pairs = cut_table(&cutter, bpe->pairs_max, sizeof *bpe->pairs);
    bpe->prefixes = cut_table(&cutter, bpe->prefixes_max, sizeof *bpe->prefixes);
    bpe->pair_filter =
        cut_table(&cutter, filter_words(WR_BPE_PAIR_FILTER_SHIFT), sizeof *bpe->pair_filter);
    bpe->prefix_filter =
        cut_table(&cutter, filter_words(WR_BPE_PREFIX_FILTER_SHIFT), sizeof *bpe->prefix_filter);
    bpe->twos = cut_table(&cutter, TWOS, sizeof *bpe->twos);
    bpe->makings = cut_table(&cutter, tokens, sizeof *bpe->makings);
    bpe->starts = cut_table(&cutter, tokens + 1, sizeof *bpe->starts);
    bpe->bytes = cut_table(&cutter, bytes_total + PAD_BYTES, 1);
    return cutter.used;
}

weir_status wr_bpe_table_new(struct wr_bpe **out, uint32_t tokens_max, size_t bytes_total,
                             struct weir_err *err)
{
    struct wr_bpe *bpe = calloc(1, sizeof *bpe);
    if (bpe) {
        bpe->tokens_max = tokens_max;
        bpe->slots_max = tokens_max + tokens_max / 2 + 1;
        bpe->pairs_max = bpe->slots_max;
        /* A token of n bytes has log2(n) - 1 prefixes, which is never above n / 4. */
        bpe->prefixes_max = (uint32_t)(bytes_total / 4) + 1;
        bpe->block = wr_pages_new(lay_out_tables(bpe, NULL, bytes_total));
    }
    if (!bpe || !bpe->block.memory) {
        wr_bpe_free(bpe);
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for a table of %u tokens", tokens_max);
    }
    lay_out_tables(bpe, bpe->block.memory, bytes_total);
    *out = bpe;
    return WEIR_OK;
}

static void filter_add(uint64_t *filter, uint64_t product, unsigned shift)
{
    uint64_t bit = product >> shift;
    filter[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

static void slot_add(struct wr_bpe *bpe, const uint8_t *at, size_t len, uint32_t rank,
                     bool reachable)
{
    uint64_t key = wr_bpe_key(at, len, bpe->bytes + bpe->starts[rank] + len + PAD_BYTES);
    uint32_t i = wr_bpe_place(key * WR_BPE_MIX, bpe->slots_max);
    while (bpe->slots[i].key)
        i = i + 1 == bpe->slots_max ? 0 : i + 1;
    bpe->slots[i] =
        (struct wr_bpe_slot){key, reachable ? rank : rank | WR_BPE_UNREACHABLE, (uint32_t)len};
}

static void pair_add(struct wr_bpe *bpe, struct wr_bpe_split split, uint32_t rank)
{
    uint64_t key = wr_bpe_pair_key(split.left, split.right);
    uint64_t product = wr_bpe_pair_product(key);
    uint32_t i = wr_bpe_place(product, bpe->pairs_max);
    while (bpe->pairs[i])
        i = i + 1 == bpe->pairs_max ? 0 : i + 1;
    bpe->pairs[i] = key << WR_BPE_RANK_BITS | rank;
    filter_add(bpe->pair_filter, product, WR_BPE_PAIR_FILTER_SHIFT);
}

static void prefixes_add(struct wr_bpe *bpe, const uint8_t *at, size_t len)
{
    for (unsigned shift = WR_BPE_PREFIX_LEAST_SHIFT; (size_t)1 << shift <= len; shift++) {
        size_t power = (size_t)1 << shift;
        uint64_t product = wr_bpe_prefix_product(wr_bpe_prefix_load(at, shift), shift);
        uint32_t *entry = wr_bpe_prefix_entry(bpe, product);
        *entry |= wr_bpe_prefix_tag(product);
        if (len < power * 2)
            *entry |= UINT32_C(1) << ((len - power) >> wr_bpe_length_shift(shift));
        filter_add(bpe->prefix_filter, product, WR_BPE_PREFIX_FILTER_SHIFT);
    }
}

/* For a token of two bytes or more: notes what its first two and three bytes lead to. */
static void twos_add(struct wr_bpe *bpe, const uint8_t *at, size_t len, uint32_t rank)
{
    struct wr_bpe_two *two = wr_bpe_two_of(bpe, bpe->singles[at[0]], bpe->singles[at[1]]);
    if (len == 2)
        two->rank = rank;
    else
        two->thirds |= wr_bpe_third_bit(at[2]);
}

static void reachable_add(struct wr_bpe *bpe, const uint8_t *at, size_t len, uint32_t rank)
{
    struct wr_bpe_making *making = &bpe->makings[rank];
    const struct wr_bpe_split split = making->split;

    making->first_merge =
        split.left < WR_BPE_SINGLE_BYTES ? rank : bpe->makings[split.left].first_merge;
    making->last_merge =
        split.right < WR_BPE_SINGLE_BYTES ? rank : bpe->makings[split.right].last_merge;
    pair_add(bpe, split, rank);
    twos_add(bpe, at, len, rank);
    prefixes_add(bpe, at, len);
}

/* The text of the next token is in its place. */
static void add_in_place(struct wr_bpe *bpe, size_t len, struct wr_bpe_split split)
{
    WR_ASSERT(bpe->tokens_count < bpe->tokens_max);
    uint32_t rank = bpe->tokens_count++;
    const uint8_t *at = bpe->bytes + bpe->starts[rank];

    bpe->starts[rank + 1] = bpe->starts[rank] + (uint32_t)len;
    if (len > bpe->token_bytes_max)
        bpe->token_bytes_max = (uint32_t)len;
    bool is_single = rank < WR_BPE_SINGLE_BYTES, reachable = is_single || split.left != rank;
    bpe->makings[rank] = (struct wr_bpe_making){split, WR_BPE_NO_RANK, WR_BPE_NO_RANK};
    slot_add(bpe, at, len, rank, reachable);
    if (is_single)
        bpe->singles[at[0]] = rank;
    else if (reachable)
        reachable_add(bpe, at, len, rank);
}

void wr_bpe_table_add(struct wr_bpe *bpe, weir_span text, struct wr_bpe_split split)
{
    memcpy(bpe->bytes + bpe->starts[bpe->tokens_count], text.ptr, text.len);
    add_in_place(bpe, text.len, split);
}

void wr_bpe_table_add_merged(struct wr_bpe *bpe, struct wr_bpe_split split)
{
    uint8_t *at = bpe->bytes + bpe->starts[bpe->tokens_count];
    size_t left = wr_bpe_token_bytes(bpe, split.left), right = wr_bpe_token_bytes(bpe, split.right);
    memcpy(at, bpe->bytes + bpe->starts[split.left], left);
    memcpy(at + left, bpe->bytes + bpe->starts[split.right], right);
    add_in_place(bpe, left + right, split);
}

void wr_bpe_free(struct wr_bpe *bpe)
{
    if (!bpe)
        return;
    wr_pages_free(bpe->block);
    free(bpe->names);
    free(bpe->ranks);
    free(bpe);
}

/* ==== bpe build ====
 *
 * Makes an encoding from the vocabulary that a file gave, for both kinds of files.
 *
 *   wr_bpe_vocabulary_init, _add    the reader of a file brings its tokens in any order
 *   wr_bpe_build_new                checks that no id is there twice, adds the 256 single bytes
 *   wr_bpe_build_add                the reader adds the other tokens in order of rank
 *
 * The order matters: a token's rank is its number inside the encoding, and merging takes the pair
 * of lowest rank. What the file calls the token (its id) is kept beside it, in `names` and `ranks`.
 *
 * A vocabulary that lacks a single byte is refused: there would be texts that it cannot encode.
 */

static const char *const pattern_names[] = {
#define PATTERN_NAME(name, text) text,
    WR_BPE_PATTERN_MAP(PATTERN_NAME)
#undef PATTERN_NAME
};

bool wr_bpe_pattern_find(weir_span name, enum wr_bpe_pattern *pattern)
{
    for (int i = 0; i < WR_BPE_PATTERNS_COUNT; i++) {
        if (wr_span_is(name, pattern_names[i])) {
            *pattern = (enum wr_bpe_pattern)i;
            return true;
        }
    }
    return false;
}

static wr_pretoken_fn *pretoken_of(enum wr_bpe_pattern pattern)
{
    switch (pattern) {
    case WR_BPE_PATTERN_O200K:
        return wr_pretoken_o200k;
    case WR_BPE_PATTERN_QWEN2:
        return wr_pretoken_qwen2;
    case WR_BPE_PATTERN_GPT2:
        return wr_pretoken_gpt2;
    case WR_BPE_PATTERN_NONE:
        return wr_pretoken_none;
    case WR_BPE_PATTERN_CL100K:
    case WR_BPE_PATTERNS_COUNT:
        break;
    }
    return wr_pretoken_cl100k;
}

weir_status wr_bpe_vocabulary_init(struct wr_bpe_vocabulary *vocabulary, struct wr_arena *arena,
                                   size_t count_max, struct weir_err *err)
{
    *vocabulary = (struct wr_bpe_vocabulary){0};
    if (count_max > WR_TOKENS_TABLE_COUNT_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "%zu tokens, at most %d are read", count_max,
                       WR_TOKENS_TABLE_COUNT_MAX);
    vocabulary->count_max = (uint32_t)count_max;
    vocabulary->words = WR_ARENA_ARRAY(arena, struct wr_bpe_word, count_max);
    if (!vocabulary->words)
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for %zu tokens", count_max);
    weir_status status = wr_index_init(&vocabulary->index, arena, vocabulary->count_max);
    return status ? wr_fail(err, status, 0, "no memory for %zu tokens", count_max) : WEIR_OK;
}

/* The place of the word in the index, or the free one where it belongs. */
static uint32_t find_word_place(const struct wr_bpe_vocabulary *vocabulary, weir_span text,
                                uint64_t hash)
{
    const struct wr_index *index = &vocabulary->index;
    uint32_t at = wr_index_first(index, hash), item;
    while ((item = wr_index_item(index, at)) != WR_INDEX_NONE &&
           !wr_span_eq(vocabulary->words[item].text, text))
        at = wr_index_next(index, at, hash);
    return at;
}

struct wr_bpe_word *wr_bpe_vocabulary_find(const struct wr_bpe_vocabulary *vocabulary,
                                           weir_span text)
{
    uint32_t item =
        wr_index_item(&vocabulary->index, find_word_place(vocabulary, text, wr_hash64(text)));
    return item == WR_INDEX_NONE ? NULL : &vocabulary->words[item];
}

weir_status wr_bpe_vocabulary_add(struct wr_bpe_vocabulary *vocabulary, weir_span text, uint64_t id,
                                  size_t at_byte, struct weir_err *err)
{
    WR_ASSERT(vocabulary->count < vocabulary->count_max);
    if (!text.len)
        return wr_fail(err, WEIR_INVALID, at_byte, "a token of no bytes");
    if (text.len > WR_TOKENS_TOKEN_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, at_byte, "a token of %zu bytes, at most %d are read",
                       text.len, WR_TOKENS_TOKEN_BYTES_MAX);
    if (id >= WR_TOKENS_TABLE_COUNT_MAX)
        return wr_fail(err, WEIR_LIMIT, at_byte, "token number %llu, below %d are read",
                       (unsigned long long)id, WR_TOKENS_TABLE_COUNT_MAX);
    uint64_t hash = wr_hash64(text);
    uint32_t place = find_word_place(vocabulary, text, hash);
    if (wr_index_item(&vocabulary->index, place) != WR_INDEX_NONE)
        return wr_fail(err, WEIR_INVALID, at_byte, "the token of this line or key is there twice");

    uint32_t item = vocabulary->count++;
    wr_index_put(&vocabulary->index, place, hash, item);
    vocabulary->words[item] = (struct wr_bpe_word){text, (uint32_t)id, (uint32_t)at_byte, false};
    vocabulary->bytes_total += text.len;
    if (id >= vocabulary->ids_max)
        vocabulary->ids_max = (uint32_t)id + 1;
    return WEIR_OK;
}

void wr_bpe_build_add(struct wr_bpe *bpe, struct wr_bpe_word *word, struct wr_bpe_split split)
{
    uint32_t rank = bpe->tokens_count;
    if (split.left == WR_BPE_NO_RANK)
        split = (struct wr_bpe_split){rank, rank};
    wr_bpe_table_add(bpe, word->text, split);
    bpe->names[rank] = word->id;
    bpe->ranks[word->id] = rank;
    word->added = true;
}

static weir_status alloc_names(struct wr_bpe *bpe, const struct wr_bpe_vocabulary *vocabulary,
                               struct weir_err *err)
{
    bpe->names_max = vocabulary->ids_max;
    bpe->names = calloc(vocabulary->count, sizeof *bpe->names);
    bpe->ranks = malloc(vocabulary->ids_max * sizeof *bpe->ranks);
    if (!bpe->names || !bpe->ranks)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for %u tokens", vocabulary->count);
    memset(bpe->ranks, 0xFF, vocabulary->ids_max * sizeof *bpe->ranks);
    for (uint32_t i = 0; i < vocabulary->count; i++) {
        const struct wr_bpe_word *word = &vocabulary->words[i];
        if (bpe->ranks[word->id] != WR_BPE_NO_RANK)
            return wr_fail(err, WEIR_INVALID, word->at_byte, "token number %u is there twice",
                           word->id);
        bpe->ranks[word->id] = 0;
    }
    return WEIR_OK;
}

static weir_status add_single_bytes(struct wr_bpe *bpe, const struct wr_bpe_vocabulary *vocabulary,
                                    struct weir_err *err)
{
    for (unsigned byte = 0; byte < WR_BPE_SINGLE_BYTES; byte++) {
        char text = (char)byte;
        struct wr_bpe_word *word = wr_bpe_vocabulary_find(vocabulary, (weir_span){&text, 1});
        if (!word)
            return wr_fail(err, WEIR_INVALID, 0,
                           "no token for the byte 0x%02X: not an encoding of bytes", byte);
        wr_bpe_build_add(bpe, word, (struct wr_bpe_split){0, 0});
    }
    return WEIR_OK;
}

weir_status wr_bpe_build_new(struct wr_bpe **out, struct wr_bpe_vocabulary *vocabulary,
                             enum wr_bpe_pattern pattern, struct weir_err *err)
{
    struct wr_bpe *bpe = NULL;
    weir_status status = wr_bpe_table_new(&bpe, vocabulary->count, vocabulary->bytes_total, err);
    if (!status)
        status = alloc_names(bpe, vocabulary, err);
    if (!status)
        status = add_single_bytes(bpe, vocabulary, err);
    if (status) {
        wr_bpe_free(bpe);
        return status;
    }
    bpe->pretoken = pretoken_of(pattern);
    bpe->pretoken_many = wr_pretoken_many_of(bpe->pretoken);
    *out = bpe;
    return WEIR_OK;
}

/* ==== pages ==== */

enum { LARGE_PAGE_BYTES = 2 * 1024 * 1024 };

struct wr_pages wr_pages_new(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * LARGE_PAGE_BYTES)
        return (struct wr_pages){NULL, NULL};
    /* The system gives a block of this size zeroed and untouched. Nobody ever touches what lies
     * outside the large pages, so it costs addresses and no memory. */
    char *held = calloc(1, bytes + 2 * LARGE_PAGE_BYTES);
    if (!held)
        return (struct wr_pages){NULL, NULL};
    char *memory = held + (LARGE_PAGE_BYTES - (uintptr_t)held % LARGE_PAGE_BYTES);
#if defined(MADV_HUGEPAGE)
    /* Advice only: without large pages everything still works. */
    (void)madvise(memory, (bytes + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES,
                  MADV_HUGEPAGE);
#endif
    return (struct wr_pages){memory, held};
}

void wr_pages_free(struct wr_pages pages)
{
    free(pages.held);
}

/* ==== merging without merging ====
 *
 * Merging without merging.
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
 * fuzzer compares the two. Short pieces are merged properly (merge_short).
 *
 * The longest token at a place is found without a trie. For each token of n bytes there is an entry
 * for its first 4, 8, 16, ... bytes, for each power of two up to n. The entry for the largest such
 * power also has a bit for n. A look-up climbs the powers while the beginning of the text is an
 * entry, then comes down, trying only lengths that have a bit. Two texts may share an entry because
 * their tags clash; that costs a vain try and no more, because every try compares the text.
 */

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

/* ---- short pieces ----
 *
 * Most pieces that are no token have few bytes. For them merging proper is quicker: it looks up
 * pairs alone, two at a time, where the way above waits for one table after the other. From 16
 * bytes on it is slower, since it is quadratic. */

enum { SHORT_BYTES_MAX = 14 };

struct parts {
    uint32_t begins;                  /* bit i: a token begins at byte i */
    uint32_t pairs;                   /* bit i: it can be merged with the one behind it */
    uint32_t ranks[SHORT_BYTES_MAX];  /* of the token at byte i */
    uint32_t merged[SHORT_BYTES_MAX]; /* what the two would be merged into */
};

static uint32_t place_bit(unsigned place)
{
    return UINT32_C(1) << place;
}

static void find_pair(const struct wr_bpe *bpe, struct parts *parts, unsigned left, unsigned right)
{
    uint32_t merged = find_merged(bpe, parts->ranks[left], parts->ranks[right]);
    parts->merged[left] = merged;
    parts->pairs &= ~place_bit(left);
    parts->pairs |= (uint32_t)(merged != WR_BPE_NO_RANK) << left;
}

/* The pair of the lowest rank, of these the leftmost; there is one. */
static unsigned lowest_pair(const struct parts *parts)
{
    uint32_t lowest = UINT32_MAX;
    unsigned place = 0;

    for (uint32_t left = parts->pairs; left; left &= left - 1) {
        unsigned at = (unsigned)__builtin_ctz(left);
        bool lower = parts->merged[at] < lowest;
        lowest = lower ? parts->merged[at] : lowest;
        place = lower ? at : place;
    }
    return place;
}

static void merge_pair(const struct wr_bpe *bpe, struct parts *parts, unsigned place)
{
    uint32_t before = parts->begins & (place_bit(place) - 1);
    uint32_t behind = parts->begins & ~(place_bit(place + 1) - 1);
    unsigned joined = (unsigned)__builtin_ctz(behind);

    parts->ranks[place] = parts->merged[place];
    parts->begins &= ~place_bit(joined);
    parts->pairs &= ~(place_bit(place) | place_bit(joined));
    behind &= behind - 1;
    if (behind)
        find_pair(bpe, parts, place, (unsigned)__builtin_ctz(behind));
    if (before)
        find_pair(bpe, parts, 31u - (unsigned)__builtin_clz(before), place);
}

/* Puts the tokens of the piece into `ranks`. */
static size_t merge_short(const struct wr_bpe *bpe, const uint8_t *at, unsigned bytes,
                          uint32_t *ranks)
{
    struct parts parts = {.begins = place_bit(bytes) - 1};
    size_t count = 0;

    for (unsigned i = 0; i < bytes; i++)
        parts.ranks[i] = bpe->singles[at[i]];
    for (unsigned i = 0; i + 1 < bytes; i++) {
        parts.merged[i] = wr_bpe_two_of(bpe, parts.ranks[i], parts.ranks[i + 1])->rank;
        parts.pairs |= (uint32_t)(parts.merged[i] != 0) << i;
    }
    while (parts.pairs)
        merge_pair(bpe, &parts, lowest_pair(&parts));
    for (uint32_t left = parts.begins; left; left &= left - 1)
        ranks[count++] = parts.ranks[__builtin_ctz(left)];
    return count;
}

weir_status wr_bpe_merge(const struct wr_bpe *bpe, struct wr_bpe_stack *stack, const uint8_t *at,
                         const uint8_t *piece_end, const uint8_t *end, size_t *tokens)
{
    size_t bytes = (size_t)(piece_end - at), place = 0, count = 0, len_max = bytes;
    weir_status status = reserve_stack(stack, bytes < 256 ? 256 : bytes);
    if (status)
        return status;
    if (bytes <= SHORT_BYTES_MAX) {
        *tokens = merge_short(bpe, at, (unsigned)bytes, stack->ranks);
        return WEIR_OK;
    }
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
