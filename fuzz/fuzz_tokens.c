/* Oracles, for both encodings:
 * - the ids are those of plain merging: join the pair of lowest rank, the leftmost first, until
 * none is;
 * - decoding the ids gives the text;
 * - counting, with and without a memo, gives the number of ids;
 * - the text in chunks counts as the whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "tokens/bpe.h"
#include "tokens/bpe_stream.h"
#include "tokens/bpe_table.h"

enum { TEXT_BYTES_MAX = 8192, PIECE_BYTES_MAX = 512 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The rank of the bytes [from, to) of the piece, found through the table's text only. */
static uint32_t rank_of(const struct wr_bpe *bpe, const uint8_t *from, const uint8_t *to)
{
    size_t len = (size_t)(to - from);
    if (len > bpe->token_bytes_max)
        return WR_BPE_NO_RANK;
    return wr_bpe_find_key(bpe, from, len, wr_bpe_key(from, len, to));
}

/* Quadratic, and as the encoding is defined. */
static size_t merge_plainly(const struct wr_bpe *bpe, const uint8_t *at, size_t len, uint32_t *ids)
{
    const uint8_t *parts[PIECE_BYTES_MAX + 1];
    size_t count = len;

    if (rank_of(bpe, at, at + len) != WR_BPE_NO_RANK)
        return ids[0] = rank_of(bpe, at, at + len), 1;
    for (size_t i = 0; i <= len; i++)
        parts[i] = at + i;
    for (;;) {
        uint32_t lowest = WR_BPE_NO_RANK;
        size_t where = 0;
        for (size_t i = 0; i + 2 <= count; i++) {
            uint32_t rank = rank_of(bpe, parts[i], parts[i + 2]);
            if (rank < lowest)
                lowest = rank, where = i;
        }
        if (lowest == WR_BPE_NO_RANK)
            break;
        memmove(&parts[where + 1], &parts[where + 2], (count - where - 1) * sizeof *parts);
        count--;
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = rank_of(bpe, parts[i], parts[i + 1]);
    return count;
}

static void check_ids(const struct wr_bpe *bpe, weir_span text, const struct wr_bpe_ids *ids)
{
    const uint8_t *at = (const uint8_t *)text.ptr, *end = at + text.len;
    size_t next = 0;

    while (at < end) {
        uint32_t want[PIECE_BYTES_MAX];
        struct wr_piece piece = bpe->pretoken(at, end);
        size_t len = (size_t)(piece.end - at);
        must(len > 0 && piece.end <= end && piece.seen >= piece.end && piece.seen <= end);
        if (len > PIECE_BYTES_MAX)
            return;
        size_t count = merge_plainly(bpe, at, len, want);
        must(next + count <= ids->count && !memcmp(ids->ids + next, want, count * sizeof *want));
        next += count;
        at = piece.end;
    }
    must(next == ids->count);
}

static void check_stream(struct wr_bpe_scratch *scratch, weir_span text, size_t step, size_t tokens)
{
    struct wr_bpe_stream stream;
    size_t fed = 0, got = 0;

    wr_bpe_stream_init(&stream, scratch);
    for (size_t at = 0; at < text.len; at += step) {
        size_t to = at + step < text.len ? at + step : text.len;
        must(!wr_bpe_stream_feed(&stream, wr_span_cut(text, at, to)));
        fed = to;
    }
    must(fed == text.len);
    must(!wr_bpe_stream_count(&stream, &got) && got == tokens);
    wr_bpe_stream_release(&stream);
}

struct counters {
    struct wr_bpe *bpe;
    struct wr_bpe_scratch *scratch;
    struct wr_bpe_memo *memo;
};

static void check(const struct counters *c, weir_span text, const uint8_t *dice)
{
    struct wr_arena arena;
    struct wr_bpe_ids ids;
    weir_span back;
    size_t tokens;

    wr_arena_init(&arena, 1 << 24);
    must(!wr_bpe_encode(c->scratch, &arena, text, &ids));
    check_ids(c->bpe, text, &ids);
    must(!wr_bpe_decode(c->bpe, &arena, &ids, &back, NULL) && wr_span_eq(back, text));
    must(!wr_bpe_count(c->scratch, text, &tokens) && tokens == ids.count);
    must(!wr_bpe_memo_count(c->memo, text, &tokens) && tokens == ids.count);
    must(!wr_bpe_memo_count(c->memo, text, &tokens) && tokens == ids.count);
    check_stream(c->scratch, text, 1 + dice[5] % 64u, ids.count);
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct counters counters[WR_BPE_ENCODINGS_COUNT];
    enum { DICE_BYTES = 8 };

    if (len <= DICE_BYTES || len > TEXT_BYTES_MAX)
        return 0;
    struct counters *c = &counters[bytes[6] & 1];
    if (!c->bpe) {
        must(!wr_bpe_new(&c->bpe, (enum wr_bpe_encoding)(bytes[6] & 1), NULL));
        must(!wr_bpe_scratch_new(&c->scratch, c->bpe) &&
             !wr_bpe_memo_new(&c->memo, c->scratch, 64));
    }
    /* The middle is repeated, so that long pieces and long runs are common. */
    weir_span text = {(const char *)bytes + DICE_BYTES, len - DICE_BYTES};
    check(c, text, bytes);
    size_t times = bytes[7] % 32u;
    if (times > 1 && text.len * times <= TEXT_BYTES_MAX) {
        char *repeated = malloc(text.len * times);
        must(repeated != NULL);
        for (size_t n = 0; n < times; n++)
            memcpy(repeated + n * text.len, text.ptr, text.len);
        check(c, (weir_span){repeated, text.len * times}, bytes);
        free(repeated);
    }
    return 0;
}
