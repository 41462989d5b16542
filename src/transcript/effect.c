#include "transcript/effect.h"

const char *wr_effect_kind_text(enum wr_effect_kind kind)
{
    static const char *const texts[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = "other", [WR_EFFECT_READ] = "read",   [WR_EFFECT_SEARCH] = "search",
        [WR_EFFECT_LIST] = "list",   [WR_EFFECT_DIFF] = "diff",   [WR_EFFECT_EDIT] = "edit",
        [WR_EFFECT_WRITE] = "write", [WR_EFFECT_RUN] = "run",     [WR_EFFECT_POLL] = "poll",
        [WR_EFFECT_PLAN] = "plan",   [WR_EFFECT_FETCH] = "fetch", [WR_EFFECT_RECALL] = "recall",
        [WR_EFFECT_SKILL] = "skill",
    };
    return (unsigned)kind < WR_EFFECT_KINDS ? texts[kind] : "other";
}
