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

#include <stdlib.h>

#include "base/err.h"

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
