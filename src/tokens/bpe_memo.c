#include "tokens/bpe_memo.h"

#include <stdlib.h>

#include "base/hash.h"

/* Below this, counting is as quick as looking up. */
enum { TEXT_BYTES_LEAST = 64, SET_ENTRIES = 4 };

struct entry {
    wr_hash128 hash;
    uint64_t tokens;
    uint64_t used_at; /* 0: free */
};

struct wr_bpe_memo {
    struct wr_bpe_scratch *scratch; /* borrowed */
    struct entry *entries;          /* owned: sets of SET_ENTRIES */
    size_t sets_count;
    uint64_t looks; /* a clock for used_at */
    struct wr_bpe_memo_use use;
};

weir_status wr_bpe_memo_new(struct wr_bpe_memo **out, struct wr_bpe_scratch *scratch,
                            size_t entries_count)
{
    struct wr_bpe_memo *memo = calloc(1, sizeof *memo);
    if (!memo)
        return WEIR_NOMEM;
    memo->scratch = scratch;
    memo->sets_count = entries_count / SET_ENTRIES + 1;
    memo->entries = calloc(memo->sets_count, SET_ENTRIES * sizeof *memo->entries);
    if (!memo->entries) {
        free(memo);
        return WEIR_NOMEM;
    }
    *out = memo;
    return WEIR_OK;
}

void wr_bpe_memo_free(struct wr_bpe_memo *memo)
{
    if (!memo)
        return;
    free(memo->entries);
    free(memo);
}

/* The entry of the text, or the one to give up for it. */
static struct entry *find_or_free_entry(struct wr_bpe_memo *memo, wr_hash128 hash)
{
    struct entry *set = &memo->entries[hash.low % memo->sets_count * SET_ENTRIES], *oldest = set;
    for (int i = 0; i < SET_ENTRIES; i++) {
        if (set[i].used_at && set[i].hash.low == hash.low && set[i].hash.high == hash.high)
            return &set[i];
        if (set[i].used_at < oldest->used_at)
            oldest = &set[i];
    }
    oldest->used_at = 0;
    return oldest;
}

weir_status wr_bpe_memo_count(struct wr_bpe_memo *memo, weir_span text, size_t *tokens)
{
    if (text.len < TEXT_BYTES_LEAST)
        return wr_bpe_count(memo->scratch, text, tokens);

    wr_hash128 hash = wr_hash128_of(text);
    struct entry *entry = find_or_free_entry(memo, hash);
    if (entry->used_at) {
        memo->use.found++;
    } else {
        weir_status status = wr_bpe_count(memo->scratch, text, tokens);
        if (status)
            return status;
        memo->use.counted++;
        *entry = (struct entry){hash, *tokens, 0};
    }
    entry->used_at = ++memo->looks;
    *tokens = (size_t)entry->tokens;
    return WEIR_OK;
}

struct wr_bpe_memo_use wr_bpe_memo_use(const struct wr_bpe_memo *memo)
{
    return memo->use;
}
