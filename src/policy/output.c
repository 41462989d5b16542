#include "policy/output.h"

enum wr_output_origin wr_output_origin_of(enum wr_effect_kind effect)
{
    static const enum wr_output_origin origins[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = WR_ORIGIN_UNKNOWN, [WR_EFFECT_READ] = WR_ORIGIN_READ,
        [WR_EFFECT_SEARCH] = WR_ORIGIN_SEARCH, [WR_EFFECT_LIST] = WR_ORIGIN_LIST,
        [WR_EFFECT_DIFF] = WR_ORIGIN_DIFF,     [WR_EFFECT_EDIT] = WR_ORIGIN_CHANGE,
        [WR_EFFECT_WRITE] = WR_ORIGIN_CHANGE,  [WR_EFFECT_RUN] = WR_ORIGIN_RUN,
        [WR_EFFECT_POLL] = WR_ORIGIN_RUN,      [WR_EFFECT_PLAN] = WR_ORIGIN_TELL,
        [WR_EFFECT_FETCH] = WR_ORIGIN_FETCH,   [WR_EFFECT_RECALL] = WR_ORIGIN_TELL,
        [WR_EFFECT_SKILL] = WR_ORIGIN_TELL,
    };
    return origins[effect];
}

enum wr_output_kind wr_output_kind_of(const struct wr_segment *result, weir_span text)
{
    const struct wr_tool_handles *h = result->handles;
    struct wr_output_hint hint = {.command = {"", 0}, .path = {"", 0}};
    if (h)
        hint = (struct wr_output_hint){wr_output_origin_of(h->kind), h->command, h->path};
    return wr_output_kind(&hint, text);
}
