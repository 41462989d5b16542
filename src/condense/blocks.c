#include "condense/blocks.h"

enum {
    DENSITY_MAX = 1023,    /* densities are whole numbers, so that they are sorted by counting */
    DENSITY_SCALE = 1024,  /* of worth by the byte: a worth of one a byte is dense beyond doubt */
    NEIGHBOUR_DIVISOR = 4, /* what a block has of the density of each of its neighbours */
    FRONT_DIVISOR = 4,     /* and how much more the first block counts than the last */
};

struct block {
    uint32_t first, end;
    uint32_t density;
};

static uint32_t block_end(const struct wr_keep *keep, const struct wr_block_line *lines,
                          uint32_t first, uint32_t lines_max)
{
    uint32_t end = first + 1;
    while (end < keep->lines_count && end - first < lines_max && !lines[end].is_start &&
           !lines[end - 1].is_blank)
        end++;
    return end;
}

static struct block read_block(const struct wr_keep *keep, const struct wr_block_line *lines,
                               uint32_t first, uint32_t lines_max)
{
    struct block block = {first, block_end(keep, lines, first, lines_max), 0};
    uint64_t worth = 0, bytes = keep->starts[block.end] - keep->starts[first];
    for (uint32_t line = first; line < block.end; line++)
        worth += lines[line].worth;
    uint64_t density = worth * DENSITY_SCALE / (bytes + WR_KEEP_GAP_BYTES);
    block.density = density < DENSITY_MAX ? (uint32_t)density : DENSITY_MAX;
    return block;
}

static uint32_t read_blocks(struct block *blocks, const struct wr_keep *keep,
                            const struct wr_block_line *lines, uint32_t lines_max)
{
    uint32_t count = 0;
    for (uint32_t line = 0; line < keep->lines_count; line = blocks[count++].end)
        blocks[count] = read_block(keep, lines, line, lines_max);
    return count;
}

/* The density of a block in the light of its neighbours and its place. */
static uint32_t rank(const struct block *blocks, uint32_t at, uint32_t count)
{
    uint32_t before = blocks[at ? at - 1 : at].density;
    uint32_t after = blocks[at + 1 < count ? at + 1 : at].density;
    uint64_t density = blocks[at].density + (before + after) / NEIGHBOUR_DIVISOR;
    density += density * (count - at) / count / FRONT_DIVISOR;
    return density < DENSITY_MAX ? (uint32_t)density : DENSITY_MAX;
}

/* The blocks' numbers, the densest first and equals in their order. */
static void sort_blocks(uint32_t *order, const struct block *blocks, uint32_t count)
{
    uint32_t places[DENSITY_MAX + 2] = {0};
    for (uint32_t i = 0; i < count; i++)
        places[DENSITY_MAX - rank(blocks, i, count) + 1]++;
    for (uint32_t i = 1; i <= DENSITY_MAX; i++)
        places[i] += places[i - 1];
    for (uint32_t i = 0; i < count; i++)
        order[places[DENSITY_MAX - rank(blocks, i, count)]++] = i;
}

weir_status wr_blocks_keep(struct wr_keep *keep, const struct wr_block_line *lines,
                           uint32_t lines_max)
{
    struct block *blocks = WR_ARENA_ARRAY(keep->arena, struct block, keep->lines_count);
    uint32_t *order = WR_ARENA_ARRAY(keep->arena, uint32_t, keep->lines_count);
    if (!blocks || !order)
        return wr_arena_status(keep->arena);
    uint32_t count = read_blocks(blocks, keep, lines, lines_max);
    sort_blocks(order, blocks, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct block *block = &blocks[order[i]];
        for (uint32_t line = block->first; block->density && line < block->end; line++)
            if (!wr_keep_one(keep, line))
                break;
    }
    return WEIR_OK;
}
