#include "proxy/quality_note.h"

#include "base/limits.h"
#include "proxy/notes.h"
#include "quality/bust.h"

/* A note of another version is not read. */
enum { VERSION = 2, HEAD_BYTES = 1 + 7 * 8 + 1 + 4, BLOCK_BYTES_MAX = 1 + 8 + 8 };
enum { BLOCKS_MAX = (WR_LEDGER_NOTE_BYTES_MAX - HEAD_BYTES) / BLOCK_BYTES_MAX };

/* The first byte of a block: its kind, and */
enum { IS_SENT_SO = 0x80, IS_NEXT_MESSAGE = 0x40, IS_HEAD = 0x20, KIND = 0x1f };
/* And of a prompt's flags: */
enum { HAS_MARKER = 1, HAS_LONG_MARKER = 2, IS_OTHER = 4 };

static void put_u64(struct wr_buf *out, uint64_t number)
{
    wr_note_put(out, number, sizeof(number));
}

static uint64_t take_u64(struct wr_note_reader *reader)
{
    return wr_note_take(reader, sizeof(uint64_t));
}

/* ---- prompts ---- */

static void put_block(struct wr_buf *out, const struct wr_prompt_block *b, uint32_t message)
{
    bool is_sent_so = b->sent != b->original;

    wr_note_put(out,
                (uint64_t)(b->kind & KIND) | (is_sent_so ? IS_SENT_SO : 0) |
                    (b->message && b->message != message ? IS_NEXT_MESSAGE : 0) |
                    (b->message ? 0 : IS_HEAD),
                1);
    put_u64(out, b->original);
    if (is_sent_so)
        put_u64(out, b->sent);
}

void wr_prompt_note_encode(const struct wr_bust_sent *sent, struct wr_buf *out)
{
    const struct wr_prompt *p = sent->prompt;
    uint32_t count = p->blocks_count < BLOCKS_MAX ? p->blocks_count : BLOCKS_MAX, message = 0;

    wr_note_put(out, VERSION, 1);
    put_u64(out, sent->model);
    put_u64(out, (uint64_t)sent->at_ms);
    put_u64(out, (uint64_t)sent->ttl_ms);
    put_u64(out, (uint64_t)sent->cached_tokens);
    put_u64(out, p->first_user);
    put_u64(out, p->parameters);
    wr_note_put(out,
                (p->has_marker ? HAS_MARKER : 0) | (p->has_long_marker ? HAS_LONG_MARKER : 0) |
                    (sent->is_other ? IS_OTHER : 0),
                1);
    wr_note_put(out, count, sizeof(count));
    for (uint32_t i = 0; i < count; i++) {
        put_block(out, &p->blocks[i], message);
        message = p->blocks[i].message ? p->blocks[i].message : message;
    }
}

static void take_block(struct wr_note_reader *reader, struct wr_prompt_block *b, uint32_t *message)
{
    uint64_t first = wr_note_take(reader, 1);

    *message += first & IS_NEXT_MESSAGE ? 1 : 0;
    b->kind = (uint8_t)(first & KIND);
    b->message = first & IS_HEAD ? 0 : *message;
    b->original = take_u64(reader);
    b->sent = first & IS_SENT_SO ? take_u64(reader) : b->original;
}

bool wr_prompt_note_decode(struct wr_arena *arena, weir_span bytes, struct wr_prompt *prompt,
                           struct wr_bust_sent *sent)
{
    struct wr_note_reader reader = {.rest = bytes};
    uint32_t message = 0;

    if (wr_note_take(&reader, 1) != VERSION)
        return false;
    *sent = (struct wr_bust_sent){.prompt = prompt, .model = take_u64(&reader)};
    sent->at_ms = (int64_t)take_u64(&reader);
    sent->ttl_ms = (int64_t)take_u64(&reader);
    sent->cached_tokens = (int64_t)take_u64(&reader);
    *prompt = (struct wr_prompt){.first_user = take_u64(&reader)};
    prompt->parameters = take_u64(&reader);
    uint64_t flags = wr_note_take(&reader, 1);
    prompt->has_marker = flags & HAS_MARKER;
    prompt->has_long_marker = flags & HAS_LONG_MARKER;
    sent->is_other = flags & IS_OTHER;
    prompt->blocks_count = (uint32_t)wr_note_take(&reader, sizeof(uint32_t));
    if (reader.is_short || prompt->blocks_count > BLOCKS_MAX)
        return false;
    prompt->blocks = WR_ARENA_ARRAY(arena, struct wr_prompt_block, prompt->blocks_count);
    for (uint32_t i = 0; prompt->blocks && i < prompt->blocks_count; i++)
        take_block(&reader, &prompt->blocks[i], &message);
    return prompt->blocks && !reader.is_short && !reader.rest.len;
}

/* ---- chains ---- */

void wr_chain_note_encode(const struct wr_bust_chain *chain, struct wr_buf *out)
{
    wr_note_put(out, VERSION, 1);
    put_u64(out, chain->model);
    put_u64(out, chain->tools);
    put_u64(out, chain->instructions);
    put_u64(out, chain->parameters);
    put_u64(out, (uint64_t)chain->at_ms);
    put_u64(out, (uint64_t)chain->ttl_ms);
    put_u64(out, (uint64_t)chain->cached_tokens);
}

bool wr_chain_note_decode(weir_span bytes, struct wr_bust_chain *chain)
{
    struct wr_note_reader reader = {.rest = bytes};

    if (wr_note_take(&reader, 1) != VERSION)
        return false;
    *chain = (struct wr_bust_chain){.model = take_u64(&reader)};
    chain->tools = take_u64(&reader);
    chain->instructions = take_u64(&reader);
    chain->parameters = take_u64(&reader);
    chain->at_ms = (int64_t)take_u64(&reader);
    chain->ttl_ms = (int64_t)take_u64(&reader);
    chain->cached_tokens = (int64_t)take_u64(&reader);
    return !reader.is_short && !reader.rest.len;
}
