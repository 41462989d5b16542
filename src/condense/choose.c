#include "condense/choose.h"

#include "base/limits.h"
#include "base/span.h"
#include "condense/focus.h"
#include "condense/note.h"

enum {
    LINE_SHARE = 8, /* of the budget, what one line may have */
    LINE_BYTES_MIN = 320,
};

weir_status wr_choose_begin(struct wr_keep *keep, struct wr_arena *arena,
                            const struct wr_condense_input *input)
{
    size_t line_bytes_max = input->bytes_budget / LINE_SHARE;
    weir_status status = wr_keep_init(keep, arena, input);
    if (line_bytes_max < LINE_BYTES_MIN)
        line_bytes_max = LINE_BYTES_MIN;
    if (line_bytes_max > WR_KEEP_LINE_BYTES_MAX)
        line_bytes_max = WR_KEEP_LINE_BYTES_MAX;
    if (!status && input->text.len > input->bytes_budget)
        status = wr_keep_shorten(keep, line_bytes_max, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(keep, input->kind, 0);
    if (!status)
        wr_note_keep(keep);
    return status;
}

size_t wr_choose_share(struct wr_keep *keep, uint32_t percent)
{
    size_t budget = keep->bytes_budget;
    size_t left = budget > keep->bytes_used ? budget - keep->bytes_used : 0;
    keep->bytes_budget = keep->bytes_used + left * percent / 100;
    return budget;
}

/* How far what belongs to one signal has grown. */
struct reach {
    uint32_t first, last;
    bool is_closed_above, is_closed_below;
};

static void grow_up(struct wr_keep *keep, const uint8_t *borders, struct reach *reach)
{
    if (reach->is_closed_above)
        return;
    bool at_border = !reach->first || borders[reach->first] == WR_BORDER_HEADING ||
                     borders[reach->first - 1] == WR_BORDER_WALL;
    if (at_border || !wr_keep_one(keep, reach->first - 1))
        reach->is_closed_above = true;
    else
        reach->first--;
}

static void grow_down(struct wr_keep *keep, const uint8_t *borders, struct reach *reach)
{
    if (reach->is_closed_below)
        return;
    bool at_border =
        reach->last + 1 >= keep->lines_count || borders[reach->last + 1] != WR_BORDER_NONE;
    if (at_border || !wr_keep_one(keep, reach->last + 1))
        reach->is_closed_below = true;
    else
        reach->last++;
}

weir_status wr_choose_context(struct wr_keep *keep, const uint8_t *borders, uint32_t before,
                              uint32_t after)
{
    const struct wr_signal_set *set = keep->signals;
    uint32_t most = before > after ? before : after, count = 0;
    struct reach *reaches = WR_ARENA_ARRAY(keep->arena, struct reach, set->lines_count);
    if (!reaches)
        return wr_arena_status(keep->arena);
    for (uint32_t i = 0; i < set->lines_count; i++)
        if (set->lines[i] < keep->lines_count)
            reaches[count++] = (struct reach){set->lines[i], set->lines[i], false, false};
    for (uint32_t distance = 1; distance <= most; distance++)
        for (uint32_t i = 0; i < count && keep->bytes_used < keep->bytes_budget; i++) {
            if (distance <= after)
                grow_down(keep, borders, &reaches[i]);
            if (distance <= before)
                grow_up(keep, borders, &reaches[i]);
        }
    return WEIR_OK;
}

weir_status wr_choose_focus(struct wr_keep *keep, const struct wr_condense_input *input,
                            uint32_t percent)
{
    struct wr_focus focus;
    if (!input->query.len && !input->focus.len)
        return WEIR_OK;
    weir_status status = wr_focus_init(&focus, keep->arena, input);
    if (!status)
        status = wr_focus_find(&focus, keep);
    if (status)
        return status;
    size_t left = keep->bytes_budget > keep->bytes_used ? keep->bytes_budget - keep->bytes_used : 0;
    wr_focus_keep(&focus, keep, 1, left * percent / 100);
    return WEIR_OK;
}

enum { STRIDE_MAX = 256 };

void wr_choose_spread(struct wr_keep *keep, const uint32_t *lines, uint32_t count)
{
    for (uint32_t stride = STRIDE_MAX; stride && keep->bytes_used < keep->bytes_budget; stride /= 2)
        for (uint32_t i = 0; i < count; i += stride)
            (void)wr_keep_one(keep, lines[i]);
}
