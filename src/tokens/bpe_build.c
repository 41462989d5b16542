/* Makes an encoding from the vocabulary that a file gave, for both kinds of files.
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
#include "tokens/bpe_build.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

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
    *out = bpe;
    return WEIR_OK;
}
