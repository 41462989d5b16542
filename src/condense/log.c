/* Logs: lines with signals and what stands around them; what was sought; rows of a table that stand
 * out in a column; the first and the last lines; then lines by how rare their shape is, the first
 * of each, because what was said once tells more than what was said a thousand times; what is left
 * from the end. */
#include "condense/kinds.h"

#include "base/span.h"
#include "condense/choose.h"
#include "condense/odd_rows.h"
#include "condense/shape.h"

enum {
    FIRST_LINES = 4,
    LAST_LINES = 8,
    CONTEXT_BEFORE = 2,
    CONTEXT_AFTER = 6,
    CONTEXT_PERCENT = 40, /* each of what is left then */
    FOCUS_PERCENT = 40,
    ODD_PERCENT = 40,
    ENDS_PERCENT = 30,
    RARE_PERCENT = 70,
};

static weir_status keep_context(struct wr_keep *keep)
{
    uint8_t *borders = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    if (!borders)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++)
        borders[line] =
            wr_span_trim(wr_keep_line(keep, line)).len ? WR_BORDER_NONE : WR_BORDER_WALL;
    size_t budget = wr_choose_share(keep, CONTEXT_PERCENT);
    weir_status status = wr_choose_context(keep, borders, CONTEXT_BEFORE, CONTEXT_AFTER);
    keep->bytes_budget = budget;
    return status;
}

static weir_status keep_odd(struct wr_keep *keep)
{
    size_t budget = wr_choose_share(keep, ODD_PERCENT);
    weir_status status = wr_odd_rows_keep(keep);
    keep->bytes_budget = budget;
    return status;
}

static void keep_ends(struct wr_keep *keep)
{
    uint32_t count = keep->lines_count;
    size_t budget = wr_choose_share(keep, ENDS_PERCENT);
    (void)wr_keep_from_back(keep, count > LAST_LINES ? count - LAST_LINES : 0, count);
    (void)wr_keep_from_front(keep, 0, count < FIRST_LINES ? count : FIRST_LINES);
    keep->bytes_budget = budget;
}

/* The first lines of all shapes that stand on more than `least` and at most `most` lines. */
static uint32_t list_firsts(const struct wr_shapes *shapes, uint32_t least, uint32_t most,
                            uint32_t *lines)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shapes->count; i++)
        if (shapes->shapes[i].lines_count > least && shapes->shapes[i].lines_count <= most)
            lines[count++] = shapes->shapes[i].first_line;
    return count;
}

static weir_status keep_rare(struct wr_keep *keep)
{
    static const uint32_t tiers[] = {0, 1, 3, 10, 100, UINT32_MAX};
    struct wr_shapes shapes;
    weir_status status = wr_shapes_find(&shapes, keep);
    if (status)
        return status;
    uint32_t *lines = WR_ARENA_ARRAY(keep->arena, uint32_t, shapes.count);
    if (!lines)
        return wr_arena_status(keep->arena);
    size_t budget = wr_choose_share(keep, RARE_PERCENT);
    for (size_t i = 0; i + 1 < sizeof(tiers) / sizeof(tiers[0]); i++)
        wr_choose_spread(keep, lines, list_firsts(&shapes, tiers[i], tiers[i + 1], lines));
    keep->bytes_budget = budget;
    return WEIR_OK;
}

weir_status wr_condense_log(struct wr_condensed *out, struct wr_arena *arena,
                            const struct wr_condense_input *input)
{
    struct wr_keep keep;
    weir_status status = wr_choose_begin(&keep, arena, input);
    if (!status)
        status = keep_context(&keep);
    if (!status)
        status = wr_choose_focus(&keep, input, FOCUS_PERCENT);
    if (!status)
        status = keep_odd(&keep);
    if (status)
        return status;
    keep_ends(&keep);
    status = keep_rare(&keep);
    if (status)
        return status;
    (void)wr_keep_from_back(&keep, 0, keep.lines_count);
    (void)wr_keep_from_front(&keep, 0, keep.lines_count);
    wr_keep_widen(&keep);
    return wr_keep_write(&keep, out);
}
