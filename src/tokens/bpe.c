/* Counts, encodes and decodes text with one byte pair encoding.
 *
 * A text is cut into pieces (pretoken.h), and each piece becomes tokens by itself:
 *   1. a piece of at most 14 bytes that was counted lately: its count is in the scratch's memo
 *   2. a piece that is a token as a whole: one look-up (find_piece)
 *   3. any other piece: the tokens that merging makes of it (bpe_table.h)
 *
 * Why the memo: most pieces of a text have been there before, and the tables of an encoding are
 * larger than the caches near the processor. The memo is small enough to stay in them. A slot is
 * found by a hash of the piece and holds the piece itself, so a wrong count cannot come out of it;
 * a piece that was pushed out is only counted again. Pieces of the third kind, which are rare and
 * cost most, have a memo of their own behind it, where tokens do not push them out.
 *
 * Of pieces that the memo does not know several are looked up together (count_from).
 *
 * The encodings that the library carries are stored as the pairs of tokens that each token is
 * merged from (tools/make-bpe-table writes them), so reading one is only adding up texts.
 */
#include "tokens/bpe.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"
#include "tokens/bpe_table.h"

/* Made by tools/make-bpe-table. */
WR_EMBED(wr_o200k_base_table, "data/o200k_base.bpe");
WR_EMBED(wr_cl100k_base_table, "data/cl100k_base.bpe");

enum {
    MEMO_SLOTS_BITS = 13,
    MERGED_SLOTS_BITS = 12,
    MEMO_PIECE_BYTES_MAX = 14,
    TABLE_HEAD_BYTES = 16,
    IDS_CAP_FIRST = 64,
};

struct memo_slot {
    uint64_t head; /* the first 8 bytes */
    uint64_t tail; /* 6 more bytes, the length in the next byte, the tokens in the highest */
};

struct wr_bpe_scratch {
    const struct wr_bpe *bpe; /* borrowed */
    struct wr_bpe_stack stack;
    struct memo_slot memo[1 << MEMO_SLOTS_BITS];
    struct memo_slot merged[1 << MERGED_SLOTS_BITS]; /* the same, of pieces that are no token */
};

static const char *const encoding_names[] = {
#define ENCODING_NAME(name, text) text,
    WR_BPE_ENCODING_MAP(ENCODING_NAME)
#undef ENCODING_NAME
};

bool wr_bpe_encoding_find(weir_span name, enum wr_bpe_encoding *encoding)
{
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++) {
        if (wr_span_is(name, encoding_names[i])) {
            *encoding = (enum wr_bpe_encoding)i;
            return true;
        }
    }
    return false;
}

/* The numbers of `width` bits, lowest bit first, that follow the head of a table; see
 * tools/make-bpe-table. */
struct bit_reader {
    const uint8_t *at;
    uint64_t bits;
    unsigned filled, width;
};

static uint32_t bit_reader_next(struct bit_reader *reader)
{
    while (reader->filled < reader->width) {
        reader->bits |= (uint64_t)*reader->at++ << reader->filled;
        reader->filled += 8;
    }
    uint32_t number = (uint32_t)(reader->bits & ((UINT64_C(1) << reader->width) - 1));
    reader->bits >>= reader->width;
    reader->filled -= reader->width;
    return number;
}

static weir_status read_embedded_table(struct wr_bpe **bpe, weir_span table, struct weir_err *err)
{
    const uint8_t *head = (const uint8_t *)table.ptr, *singles = head + TABLE_HEAD_BYTES;

    WR_ASSERT(table.len > TABLE_HEAD_BYTES + WR_BPE_SINGLE_BYTES && !memcmp(head, "WEIRBPE1", 8));
    uint32_t tokens_count = (uint32_t)wr_bpe_load(head + 8, 4);
    weir_status status =
        wr_bpe_table_new(bpe, tokens_count, (size_t)wr_bpe_load(head + 12, 4), err);
    if (status)
        return status;

    struct bit_reader reader = {singles + WR_BPE_SINGLE_BYTES, 0, 0,
                                32u - (unsigned)__builtin_clz(tokens_count - 1)};
    for (uint32_t rank = 0; rank < WR_BPE_SINGLE_BYTES; rank++)
        wr_bpe_table_add(*bpe, (weir_span){(const char *)singles + rank, 1},
                         (struct wr_bpe_split){0});
    for (uint32_t rank = WR_BPE_SINGLE_BYTES; rank < tokens_count; rank++) {
        uint32_t left = bit_reader_next(&reader), right = bit_reader_next(&reader);
        WR_ASSERT(left < rank && right < rank);
        wr_bpe_table_add_merged(*bpe, (struct wr_bpe_split){left, right});
    }
    return WEIR_OK;
}

weir_status wr_bpe_new(struct wr_bpe **out, enum wr_bpe_encoding encoding, struct weir_err *err)
{
    bool o200k = encoding == WR_BPE_O200K_BASE;
    struct wr_bpe *bpe = NULL;
    weir_status status = read_embedded_table(
        &bpe, o200k ? WR_EMBEDDED(wr_o200k_base_table) : WR_EMBEDDED(wr_cl100k_base_table), err);
    if (status) {
        wr_bpe_free(bpe);
        return status;
    }
    bpe->pretoken = o200k ? wr_pretoken_o200k : wr_pretoken_cl100k;
    bpe->pretoken_many = wr_pretoken_many_of(bpe->pretoken);
    bpe->whole_pieces = true;
    bpe->names_max = bpe->tokens_count;
    *out = bpe;
    return WEIR_OK;
}

uint32_t wr_bpe_tokens_count(const struct wr_bpe *bpe)
{
    return bpe->tokens_count;
}

weir_status wr_bpe_scratch_new(struct wr_bpe_scratch **out, const struct wr_bpe *bpe)
{
    struct wr_bpe_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return WEIR_NOMEM;
    scratch->bpe = bpe;
    *out = scratch;
    return WEIR_OK;
}

void wr_bpe_scratch_free(struct wr_bpe_scratch *scratch)
{
    if (!scratch)
        return;
    wr_bpe_stack_release(&scratch->stack);
    free(scratch);
}

/* The token that all of the piece is, or NO_RANK; `key` is its wr_bpe_key(). */
static inline uint32_t find_piece(const struct wr_bpe *bpe, const uint8_t *at, size_t len,
                                  uint64_t key)
{
    uint32_t rank = wr_bpe_find_key(bpe, at, len, key);
    if (rank & WR_BPE_UNREACHABLE)
        return bpe->whole_pieces && rank != WR_BPE_NO_RANK ? rank & ~WR_BPE_UNREACHABLE
                                                           : WR_BPE_NO_RANK;
    return rank;
}

/* ---- counting ---- */

enum {
    SLOT_BYTES = 16,
    VIEW_BYTES = WR_PRETOKEN_WINDOW_BYTES + SLOT_BYTES,
    WINDOW_LEAST_BYTES = 16, /* for less the scanner is as quick */
    WAITING_MAX = 16,
    WAITING_ROOM = WAITING_MAX + WR_PRETOKEN_WINDOW_BYTES,
};

/* A piece whose count is not in the memo. */
struct waiting {
    const uint8_t *at;
    size_t len;
    uint64_t key;
    struct memo_slot memo;  /* what is to be remembered, its tokens left open */
    struct memo_slot *slot; /* where; NULL: it is too long for the memo */
};

/* A text that is being counted. */
struct counting {
    struct wr_bpe_scratch *scratch;
    const uint8_t *at, *end;
    size_t tokens;
    size_t waiting_count;
    uint8_t view[VIEW_BYTES]; /* the end of the text, with zeros behind */
    struct waiting waiting[WAITING_ROOM];
};

/* The piece as a slot would hold it, its tokens left open; SLOT_BYTES may be read. Without a
 * branch: lengths cannot be foretold. */
static inline struct memo_slot memo_key(const uint8_t *at, size_t len)
{
    static const uint8_t kept[2 * SLOT_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const uint8_t *bits = kept + SLOT_BYTES - len;
    return (struct memo_slot){wr_bpe_load8(at) & wr_bpe_load8(bits),
                              (wr_bpe_load8(at + 8) & wr_bpe_load8(bits + 8)) | (uint64_t)len
                                                                                    << 48};
}

static inline struct memo_slot *slot_of(struct wr_bpe_scratch *scratch, struct memo_slot key)
{
    uint64_t product = (key.head ^ (key.tail * WR_BPE_PREFIX_MIX)) * WR_BPE_MIX;
    return &scratch->memo[product >> (64 - MEMO_SLOTS_BITS)];
}

static inline bool holds(const struct memo_slot *slot, struct memo_slot key)
{
    return slot->head == key.head && !((slot->tail ^ key.tail) << 8);
}

/* Puts the piece off. The place of the table where looking it up begins is on its way from memory.
 */
static void put_off(struct counting *c, const uint8_t *at, size_t len, struct memo_slot memo,
                    struct memo_slot *slot)
{
    const struct wr_bpe *bpe = c->scratch->bpe;
    struct waiting *w = &c->waiting[c->waiting_count++];

    w->at = at;
    w->len = len;
    w->memo = memo;
    w->slot = slot;
    if (len <= bpe->token_bytes_max) {
        w->key = wr_bpe_key(at, len, c->end);
        __builtin_prefetch(&bpe->slots[wr_bpe_place(w->key * WR_BPE_MIX, bpe->slots_max)]);
    }
}

/* The tokens of the piece at `at`, or 0: it is put off. `view` has its bytes, and SLOT_BYTES may be
 * read there. */
static inline size_t count_piece(struct counting *c, const uint8_t *at, const uint8_t *view,
                                 size_t len)
{
    if (len > MEMO_PIECE_BYTES_MAX) {
        put_off(c, at, len, (struct memo_slot){0, 0}, NULL);
        return 0;
    }
    struct memo_slot memo = memo_key(view, len), *slot = slot_of(c->scratch, memo);
    if (holds(slot, memo))
        return slot->tail >> 56;
    put_off(c, at, len, memo, slot);
    return 0;
}

/* The text from c->at on, where VIEW_BYTES may be read. */
static const uint8_t *view_of(struct counting *c)
{
    size_t left = (size_t)(c->end - c->at);
    if (left >= VIEW_BYTES)
        return c->at;
    memcpy(c->view, c->at, left);
    return c->view;
}

/* The pieces whose ends can be told many at once; false: there are none. */
static bool count_window(struct counting *c)
{
    wr_pretoken_many_fn *cut = c->scratch->bpe->pretoken_many;
    size_t left = (size_t)(c->end - c->at);
    unsigned from = 0;

    if (!cut || left < WINDOW_LEAST_BYTES || wr_bpe_load8(c->at) & WR_BPE_HIGH_BITS)
        return false;
    const uint8_t *view = view_of(c);
    uint64_t cuts =
        cut(view, left < WR_PRETOKEN_WINDOW_BYTES ? (unsigned)left : WR_PRETOKEN_WINDOW_BYTES);
    const uint8_t *at = c->at;
    size_t tokens = 0;
    for (; cuts; cuts &= cuts - 1) {
        unsigned to = (unsigned)__builtin_ctzll(cuts);
        tokens += count_piece(c, at + from, view + from, to - from);
        from = to;
    }
    c->tokens += tokens;
    c->at = at + from;
    return from > 0;
}

/* The next piece alone; false: it could change if more text came, which `closed_only` asks for. */
static bool count_single(struct counting *c, bool closed_only)
{
    struct wr_piece piece = c->scratch->bpe->pretoken(c->at, c->end);

    if (closed_only && wr_piece_is_open(piece, c->end))
        return false;
    c->tokens += count_piece(c, c->at, view_of(c), (size_t)(piece.end - c->at));
    c->at = piece.end;
    return true;
}

/* The tokens of a piece that is none. */
static weir_status count_merged(struct counting *c, const struct waiting *w, size_t *count)
{
    const struct wr_bpe *bpe = c->scratch->bpe;
    uint64_t product = (w->memo.head ^ (w->memo.tail * WR_BPE_PREFIX_MIX)) * WR_BPE_PAIR_MIX;
    struct memo_slot *slot = &c->scratch->merged[product >> (64 - MERGED_SLOTS_BITS)];

    if (w->slot && holds(slot, w->memo)) {
        *count = slot->tail >> 56;
        return WEIR_OK;
    }
    weir_status status =
        wr_bpe_merge(bpe, &c->scratch->stack, w->at, w->at + w->len, c->end, count);
    if (w->slot && !status)
        *slot = (struct memo_slot){w->memo.head, w->memo.tail | (uint64_t)*count << 56};
    return status;
}

static weir_status count_waiting(struct counting *c)
{
    const struct wr_bpe *bpe = c->scratch->bpe;
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < c->waiting_count && !status; i++) {
        const struct waiting *w = &c->waiting[i];
        size_t count = 1;
        if (w->len > bpe->token_bytes_max ||
            find_piece(bpe, w->at, w->len, w->key) == WR_BPE_NO_RANK)
            status = count_merged(c, w, &count);
        c->tokens += count;
        if (w->slot && !status)
            *w->slot = (struct memo_slot){w->memo.head, w->memo.tail | (uint64_t)count << 56};
    }
    c->waiting_count = 0;
    return status;
}

/* Counts `text` from `mark` on and moves the mark. With `closed_only` it stops before a piece that
 * could change if more text came.
 *
 * Pieces are cut some way ahead of those that are looked up: the tables are larger than the caches,
 * and a look-up that waits for memory costs more than cutting ten pieces. */
static weir_status count_from(struct wr_bpe_scratch *scratch, weir_span text, bool closed_only,
                              struct wr_bpe_mark *mark)
{
    struct counting c;
    weir_status status = WEIR_OK;

    WR_ASSERT(mark->bytes <= text.len);
    if (mark->bytes == text.len)
        return WEIR_OK;
    c.scratch = scratch;
    c.at = (const uint8_t *)text.ptr + mark->bytes;
    c.end = (const uint8_t *)text.ptr + text.len;
    c.tokens = c.waiting_count = 0;
    memset(c.view, 0, sizeof(c.view)); /* all else is written before it is read */
    while (c.at < c.end && !status) {
        if (!count_window(&c) && !count_single(&c, closed_only))
            break;
        if (c.waiting_count >= WAITING_MAX)
            status = count_waiting(&c);
    }
    if (!status)
        status = count_waiting(&c);
    if (status)
        return status;
    mark->tokens += c.tokens;
    mark->bytes = (size_t)(c.at - (const uint8_t *)text.ptr);
    return WEIR_OK;
}

weir_status wr_bpe_count(struct wr_bpe_scratch *scratch, weir_span text, size_t *tokens)
{
    struct wr_bpe_mark mark = {0, 0};
    weir_status status = count_from(scratch, text, false, &mark);
    *tokens = mark.tokens;
    return status;
}

weir_status wr_bpe_mark_move(struct wr_bpe_scratch *scratch, weir_span text,
                             struct wr_bpe_mark *mark)
{
    return count_from(scratch, text, true, mark);
}

static uint32_t id_of_rank(const struct wr_bpe *bpe, uint32_t rank)
{
    return bpe->names ? bpe->names[rank] : rank;
}

weir_status wr_bpe_encode(struct wr_bpe_scratch *scratch, struct wr_arena *arena, weir_span text,
                          struct wr_bpe_ids *ids)
{
    const struct wr_bpe *bpe = scratch->bpe;
    const uint8_t *at = (const uint8_t *)text.ptr, *end = text.len ? at + text.len : at;
    size_t held = 0;
    weir_status status = WEIR_OK;

    *ids = (struct wr_bpe_ids){NULL, 0};
    while (at < end && !status) {
        struct wr_piece piece = bpe->pretoken(at, end);
        size_t len = (size_t)(piece.end - at);
        uint32_t whole = WR_BPE_NO_RANK;
        if (len <= bpe->token_bytes_max)
            whole = find_piece(bpe, at, len, wr_bpe_key(at, len, end));
        const uint32_t *ranks = &whole;
        size_t count = 1;
        if (whole == WR_BPE_NO_RANK) {
            status = wr_bpe_merge(bpe, &scratch->stack, at, piece.end, end, &count);
            ranks = scratch->stack.ranks;
        }
        if (!status && !WR_ARENA_ROOM(arena, ids->ids, ids->count + count, held, IDS_CAP_FIRST))
            status = wr_arena_status(arena);
        for (size_t i = 0; i < count && !status; i++)
            ids->ids[ids->count++] = id_of_rank(bpe, ranks[i]);
        at = piece.end;
    }
    return status;
}

weir_span wr_bpe_token_text(const struct wr_bpe *bpe, uint32_t id)
{
    uint32_t rank = WR_BPE_NO_RANK;
    if (id < bpe->names_max)
        rank = bpe->ranks ? bpe->ranks[id] : id;
    if (rank == WR_BPE_NO_RANK)
        return (weir_span){NULL, 0};
    return (weir_span){(const char *)bpe->bytes + bpe->starts[rank], wr_bpe_token_bytes(bpe, rank)};
}

weir_status wr_bpe_decode(const struct wr_bpe *bpe, struct wr_arena *arena,
                          const struct wr_bpe_ids *ids, weir_span *text, struct weir_err *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ids->count; i++) {
        weir_span token = wr_bpe_token_text(bpe, ids->ids[i]);
        if (!token.ptr)
            return wr_fail(err, WEIR_INVALID, i, "there is no token %u", ids->ids[i]);
        bytes += token.len;
    }
    char *out = wr_arena_alloc(arena, bytes);
    if (!out)
        return wr_fail(err, wr_arena_status(arena), 0, "no room for %zu bytes of text", bytes);
    *text = (weir_span){out, bytes};
    for (size_t i = 0; i < ids->count; i++) {
        weir_span token = wr_bpe_token_text(bpe, ids->ids[i]);
        memcpy(out, token.ptr, token.len);
        out += token.len;
    }
    return WEIR_OK;
}

/* ==== counts remembered ==== */

/* Below this, counting is as quick as looking up. */
enum { TEXT_BYTES_LEAST = 64 };

struct wr_bpe_memo {
    struct wr_bpe_scratch *scratch; /* borrowed */
    struct wr_hash_memo counts;
    struct wr_bpe_memo_use use;
};

weir_status wr_bpe_memo_new(struct wr_bpe_memo **out, struct wr_bpe_scratch *scratch,
                            uint32_t entries_count)
{
    struct wr_bpe_memo *memo = calloc(1, sizeof *memo);
    if (!memo)
        return WEIR_NOMEM;
    memo->scratch = scratch;
    weir_status status = wr_hash_memo_init(&memo->counts, entries_count);
    if (status) {
        free(memo);
        return status;
    }
    *out = memo;
    return WEIR_OK;
}

void wr_bpe_memo_free(struct wr_bpe_memo *memo)
{
    if (!memo)
        return;
    wr_hash_memo_release(&memo->counts);
    free(memo);
}

weir_status wr_bpe_memo_count(struct wr_bpe_memo *memo, weir_span text, size_t *tokens)
{
    if (text.len < TEXT_BYTES_LEAST)
        return wr_bpe_count(memo->scratch, text, tokens);

    wr_hash128 hash = wr_hash128_of(text);
    uint64_t known;
    if (wr_hash_memo_find(&memo->counts, hash, &known)) {
        memo->use.found++;
        *tokens = (size_t)known;
        return WEIR_OK;
    }
    weir_status status = wr_bpe_count(memo->scratch, text, tokens);
    if (status)
        return status;
    memo->use.counted++;
    wr_hash_memo_put(&memo->counts, hash, *tokens);
    return WEIR_OK;
}

struct wr_bpe_memo_use wr_bpe_memo_use(const struct wr_bpe_memo *memo)
{
    return memo->use;
}
