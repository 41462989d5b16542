#include "engine/over_window.h"

/* What stays, by why it stays. */
enum part { USER, INSTRUCTIONS, NEWS, REST, PARTS_COUNT };

static enum part part_of(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];

    if (s->kind == WEIR_KIND_SYSTEM || s->kind == WEIR_KIND_TOOLS)
        return INSTRUCTIONS;
    if (s->role == WEIR_ROLE_USER && s->kind != WEIR_KIND_TOOL_RESULT)
        return USER;
    return s->turn == fold->turn && !s->from_model ? NEWS : REST;
}

/* Where what never leaves is too much by itself, the rest was left alone and is not the reason. */
static const char *largest_part(const struct wr_fold *fold)
{
    static const char *const sentences[PARTS_COUNT] = {
        [USER] = "most of it are the user's words, which stay",
        [INSTRUCTIONS] = "most of it are instructions and tools, which stay",
        [NEWS] = "most of it has just come and stays whole until a step",
        [REST] = "nothing lawful is left to take"};
    uint64_t tokens[PARTS_COUNT] = {0};
    enum part largest = USER;

    for (uint32_t i = 0; i < fold->arrived; i++)
        tokens[part_of(fold, i)] += fold->segments[i].tokens;
    if (tokens[USER] + tokens[INSTRUCTIONS] > wr_fold_room(fold))
        tokens[NEWS] = tokens[REST] = 0;
    for (enum part p = USER; p < PARTS_COUNT; p++)
        if (tokens[p] > tokens[largest])
            largest = p;
    return sentences[largest];
}

/* A policy with a last resort is barred by nothing but the law. */
static bool has_last_resort(const struct wr_policy *policy)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->unbar)
            return true;
    return false;
}

const char *wr_over_window(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    const struct wr_policy *policy = fold->input->policy;

    if (run->tokens_after <= wr_fold_room(fold))
        return NULL;
    if (!policy->stages_count)
        return "the policy takes nothing out";
    if (run->settled.is_fallback)
        return "what was to be taken out was held back";
    if (fold->transcript->is_delta)
        return "the provider holds the rest of the conversation";
    if (!wr_fold_recall(fold).len && !fold->input->keeps_originals)
        return "there is no store to keep what would be taken out";
    if (!wr_fold_recall(fold).len && !has_last_resort(policy))
        return "the request offers no way back to what would be taken out";
    if (!wr_fold_may_step(fold) && !has_last_resort(policy))
        return "signed thinking bars a step until the user speaks";
    return largest_part(fold);
}
