#include "lab/cache_blocks.h"

#include "base/hash.h"
#include "base/limits.h"

static enum wr_block_part part_of(const struct wr_segment *segment)
{
    if (segment->kind == WEIR_KIND_TOOLS)
        return WR_BLOCK_TOOLS;
    if (segment->from_model)
        return WR_BLOCK_OUTPUT;
    bool is_system = segment->role == WEIR_ROLE_SYSTEM || segment->role == WEIR_ROLE_DEVELOPER;
    return is_system || segment->kind == WEIR_KIND_SYSTEM ? WR_BLOCK_SYSTEM : WR_BLOCK_INPUT;
}

static uint32_t capped(uint64_t tokens)
{
    return tokens < WR_MODEL_TOKENS_MAX ? (uint32_t)tokens : WR_MODEL_TOKENS_MAX;
}

static enum wr_block_mark mark_of(const struct wr_transcript *t, const struct wr_segment *segment)
{
    if (segment->marker == WR_JSON_NONE)
        return WR_MARK_NONE;
    wr_json_id ttl = wr_json_find(t->doc, wr_json_value(segment->marker), "ttl");
    return wr_json_text_is(t->doc, ttl, "1h") ? WR_MARK_LONG : WR_MARK_SHORT;
}

void wr_cache_blocks(const struct wr_transcript *transcript, const uint64_t *tokens,
                     const uint32_t *overheads, struct wr_cache_block *blocks)
{
    for (uint32_t i = 0; i < transcript->segments_count; i++) {
        const struct wr_segment *segment = &transcript->segments[i];
        blocks[i] = (struct wr_cache_block){
            .hash = wr_segment_hash(transcript, segment),
            .tokens = capped(tokens[i] + (overheads ? overheads[i] : 0)),
            .part = part_of(segment),
            .mark = mark_of(transcript, segment),
        };
    }
}

struct wr_cache_block wr_cache_block_of(const struct wr_cache_block *original, weir_span text,
                                        uint64_t tokens)
{
    struct wr_cache_block block = *original;
    block.hash = wr_hash64_seeded(text, original->hash);
    block.tokens = capped(tokens);
    return block;
}

void wr_cache_mark_like_agents(struct wr_cache_block *blocks, uint32_t blocks_count,
                               enum wr_block_mark mark)
{
    for (uint32_t i = 0; i < blocks_count; i++) {
        bool is_last = i + 1 == blocks_count;
        /* Instructions may also come late, as messages: only those at the front get a marker. */
        bool ends_part = !is_last && blocks[i].part < WR_BLOCK_INPUT &&
                         blocks[i + 1].part > blocks[i].part &&
                         (!i || blocks[i].part >= blocks[i - 1].part);
        blocks[i].mark = is_last || ends_part ? mark : WR_MARK_NONE;
    }
    for (uint32_t i = 0, found = 0; i + 1 < blocks_count; i++)
        if (blocks[i].mark != WR_MARK_NONE && ++found > 2)
            blocks[i].mark = WR_MARK_NONE;
}
