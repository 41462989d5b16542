/* Reads the rank files of tiktoken: a line for each token, its bytes in base64, a space, its rank.
 *
 * Such a file has no list of merges: which two tokens a token is merged from follows from the
 * ranks. last_merge() finds them by merging the token's own text with the tokens of lower rank,
 * which are those added so far. Plain merging (joining the lowest pair again and again) is slow on
 * long texts, but a token is at most WR_TOKENS_TOKEN_BYTES_MAX bytes long. A token whose text does
 * not come down to two parts cannot be reached by merging and is only found as a whole piece.
 */
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "tokens/bpe_table.h"

enum { ARENA_BYTES_MAX = 1024 * 1024 * 1024 };

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes `text` to `out`, which has room; SIZE_MAX where it is not base64. */
static size_t base64_decode(weir_span text, char *out)
{
    unsigned bits = 0, filled = 0;
    size_t len = 0;

    if (text.len % 4)
        return SIZE_MAX;
    while (text.len && text.ptr[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        int value = base64_value(text.ptr[i]);
        if (value < 0)
            return SIZE_MAX;
        bits = bits << 6 | (unsigned)value;
        filled += 6;
        if (filled >= 8) {
            filled -= 8;
            out[len++] = (char)(bits >> filled);
        }
    }
    return len;
}

static size_t lines_count(weir_span file)
{
    size_t count = 1;
    for (size_t i = 0; i < file.len; i++)
        count += file.ptr[i] == '\n';
    return count;
}

static weir_status read_rank_line(struct wr_bpe_vocabulary *vocabulary, struct wr_arena *arena,
                                  weir_span line, size_t at_byte, struct weir_err *err)
{
    size_t space = wr_span_find(line, WR_LIT(" "), 0);
    uint64_t rank;
    if (space == SIZE_MAX || !wr_span_u64(wr_span_cut(line, space + 1, line.len), &rank))
        return wr_fail(err, WEIR_SYNTAX, at_byte, "want a token in base64, a space and its rank");
    char *text = wr_arena_alloc(arena, space + 1);
    if (!text)
        return wr_fail(err, wr_arena_status(arena), at_byte, "no memory for this token");
    size_t len = base64_decode(wr_span_cut(line, 0, space), text);
    if (len == SIZE_MAX)
        return wr_fail(err, WEIR_SYNTAX, at_byte, "the token is not base64");
    return wr_bpe_vocabulary_add(vocabulary, (weir_span){text, len}, rank, at_byte, err);
}

static weir_status read_rank_lines(struct wr_bpe_vocabulary *vocabulary, struct wr_arena *arena,
                                   weir_span file, struct weir_err *err)
{
    weir_span rest = file, line;
    weir_status status = wr_bpe_vocabulary_init(vocabulary, arena, lines_count(file), err);
    while (!status && wr_span_line(&rest, &line)) {
        size_t at_byte = (size_t)(line.ptr - file.ptr);
        line = wr_span_trim(line);
        if (line.len)
            status = read_rank_line(vocabulary, arena, line, at_byte, err);
    }
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    const struct wr_bpe_word *left = *(struct wr_bpe_word *const *)a;
    const struct wr_bpe_word *right = *(struct wr_bpe_word *const *)b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static uint32_t rank_of_bytes(const struct wr_bpe *bpe, const uint8_t *from, const uint8_t *to)
{
    size_t len = (size_t)(to - from);
    return wr_bpe_find_key(bpe, from, len, wr_bpe_key(from, len, to));
}

/* The last two tokens that merging the text by the tokens so far leaves; NO_RANK where it leaves
 * more than two. */
static struct wr_bpe_split last_merge(const struct wr_bpe *bpe, weir_span text)
{
    const uint8_t *borders[WR_TOKENS_TOKEN_BYTES_MAX + 1], *at = (const uint8_t *)text.ptr;
    size_t count = text.len;

    for (size_t i = 0; i <= count; i++)
        borders[i] = at + i;
    while (count > 2) {
        uint32_t lowest = WR_BPE_NO_RANK;
        size_t where = 0;
        for (size_t i = 0; i + 2 <= count; i++) {
            uint32_t rank = rank_of_bytes(bpe, borders[i], borders[i + 2]);
            if (rank < lowest) {
                lowest = rank;
                where = i;
            }
        }
        if (lowest >= WR_BPE_UNREACHABLE)
            return (struct wr_bpe_split){WR_BPE_NO_RANK, WR_BPE_NO_RANK};
        memmove(&borders[where + 1], &borders[where + 2], (count - where - 1) * sizeof *borders);
        count--;
    }
    return (struct wr_bpe_split){rank_of_bytes(bpe, borders[0], borders[1]),
                                 rank_of_bytes(bpe, borders[1], borders[2])};
}

static weir_status add_by_rank(struct wr_bpe *bpe, struct wr_bpe_vocabulary *vocabulary,
                               struct wr_arena *arena, struct weir_err *err)
{
    struct wr_bpe_word **order = WR_ARENA_ARRAY(arena, struct wr_bpe_word *, vocabulary->count);
    if (!order)
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for %u tokens",
                       vocabulary->count);
    for (uint32_t i = 0; i < vocabulary->count; i++)
        order[i] = &vocabulary->words[i];
    qsort(order, vocabulary->count, sizeof(struct wr_bpe_word *), compare_ids);
    for (uint32_t i = 0; i < vocabulary->count; i++)
        if (!order[i]->added)
            wr_bpe_build_add(bpe, order[i], last_merge(bpe, order[i]->text));
    return WEIR_OK;
}

weir_status wr_bpe_load_tiktoken(struct wr_bpe **out, weir_span file, enum wr_bpe_pattern pattern,
                                 struct weir_err *err)
{
    struct wr_bpe_vocabulary vocabulary;
    struct wr_bpe *bpe = NULL;
    struct wr_arena arena;

    if (file.len > WR_TOKENS_TABLE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, file.len, "a table of %zu bytes, at most %d are read",
                       file.len, WR_TOKENS_TABLE_BYTES_MAX);
    wr_arena_init(&arena, ARENA_BYTES_MAX);
    weir_status status = read_rank_lines(&vocabulary, &arena, file, err);
    if (!status)
        status = wr_bpe_build_new(&bpe, &vocabulary, pattern, err);
    if (!status)
        status = add_by_rank(bpe, &vocabulary, &arena, err);
    wr_arena_release(&arena);
    if (status) {
        wr_bpe_free(bpe);
        return status;
    }
    bpe->whole_pieces = true;
    *out = bpe;
    return WEIR_OK;
}
