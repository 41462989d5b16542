/* Models of what other systems do, each with the figures that it publishes. They show segments,
 * and the cost follows from what they show; none of them stores anything, so what they take out is
 * lost. What a policy of ours can express is no code here but an entry of data/baselines.yaml. */
#include "lab/baseline.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum {
    CAP_FIRST = 256,
    BYTES_A_TOKEN = 4,
    /* Anthropic's clear_tool_uses_20250919 with nothing set. */
    CLEAR_TRIGGER_TOKENS = 100000,
    CLEAR_KEEP = 3,
    /* opencode's prune. */
    PRUNE_PROTECT_TOKENS = 40000,
    PRUNE_MINIMUM_TOKENS = 20000,
    PRUNE_LOOPS = 2,
    MASK_KEEP_LAST = 10,
    HEAD_TAIL_OVER_TOKENS = 4000,
    HEAD_TAIL_TO_TOKENS = 2000,
};

void wr_baseline_init(struct wr_baseline *baseline, struct wr_arena *arena,
                      const struct wr_baseline_def *def, wr_count_fn *count, void *user)
{
    *baseline = (struct wr_baseline){.def = def, .arena = arena, .count = count, .user = user};
}

/* ---- what the models share ---- */

static bool is_result(const struct wr_transcript *t, uint32_t i)
{
    return t->segments[i].kind == WEIR_KIND_TOOL_RESULT && wr_segment_is_editable(&t->segments[i]);
}

static void show_text(struct wr_baseline *b, uint32_t i, weir_span text)
{
    uint64_t tokens = b->count(b->user, text);
    b->total_tokens += tokens;
    b->total_tokens -= b->tokens[i];
    b->tokens[i] = tokens;
    b->shown[i] = (struct wr_shown){.text = text};
}

static void clear(struct wr_baseline *b, uint32_t i)
{
    show_text(b, i, WR_LIT("[Old tool result content cleared]"));
}

/* ---- the models ---- */

/* What was cleared stays cleared; the next time is when the rest has grown past the trigger again.
 */
static weir_status clear_tool_uses(struct wr_baseline *b, const struct wr_transcript *t)
{
    uint32_t kept = 0;
    if (b->total_tokens <= CLEAR_TRIGGER_TOKENS)
        return WEIR_OK;
    for (uint32_t i = t->segments_count; i-- > 0;) {
        if (!is_result(t, i))
            continue;
        if (kept++ >= CLEAR_KEEP && b->shown[i].is_whole)
            clear(b, i);
    }
    return WEIR_OK;
}

static bool is_prunable(const struct wr_transcript *t, uint32_t i, uint32_t newest_loop)
{
    const struct wr_segment *s = &t->segments[i];
    return is_result(t, i) && s->loop != WR_SEGMENT_NONE && s->loop + PRUNE_LOOPS < newest_loop &&
           !wr_span_is(s->tool, "skill");
}

/* Walks from the newest result back to the first that was pruned before. Returns what lies beyond
 * the protected tokens, and prunes it if told to. */
static uint64_t prune(struct wr_baseline *b, const struct wr_transcript *t, uint32_t newest_loop,
                      bool apply)
{
    uint64_t seen_tokens = 0, gain_tokens = 0;
    for (uint32_t i = t->segments_count; i-- > 0;) {
        if (!is_prunable(t, i, newest_loop))
            continue;
        if (!b->shown[i].is_whole)
            break;
        uint64_t tokens = b->tokens[i];
        seen_tokens += tokens;
        if (seen_tokens <= PRUNE_PROTECT_TOKENS)
            continue;
        gain_tokens += tokens;
        if (apply)
            clear(b, i);
    }
    return gain_tokens;
}

/* It runs when a loop has ended, so it shows with the next message of the user. The two newest
 * loops are left alone, then 40,000 tokens of results; the rest goes where that is worth 20,000. */
static weir_status opencode_prune(struct wr_baseline *b, const struct wr_transcript *t)
{
    const struct wr_segment *newest = &t->segments[t->segments_count - 1];
    if (newest->kind != WEIR_KIND_TEXT || newest->role != WEIR_ROLE_USER)
        return WEIR_OK;
    if (prune(b, t, newest->loop, false) > PRUNE_MINIMUM_TOKENS)
        (void)prune(b, t, newest->loop, true);
    return WEIR_OK;
}

/* The boundary slides with every result. */
static weir_status mask_last(struct wr_baseline *b, const struct wr_transcript *t)
{
    uint32_t kept = 0;
    for (uint32_t i = t->segments_count; i-- > 0;)
        if (is_result(t, i) && kept++ >= MASK_KEEP_LAST && b->shown[i].is_whole)
            clear(b, i);
    return WEIR_OK;
}

static weir_status cut_middle(struct wr_baseline *b, uint32_t i, weir_span text)
{
    enum { SIDE_CHARS = HEAD_TAIL_TO_TOKENS * BYTES_A_TOKEN / 2 };
    struct wr_buf buf;
    weir_span head = wr_text_head(text, SIDE_CHARS), tail = wr_text_tail(text, SIDE_CHARS), form;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&buf, head);
    wr_buf_printf(&buf, "\n[%zu characters truncated]\n", text.len - head.len - tail.len);
    wr_buf_append(&buf, tail);
    weir_status status = wr_text_keep(b->arena, &buf, &form);
    if (!status)
        show_text(b, i, form);
    return status;
}

static weir_status head_tail(struct wr_baseline *b, const struct wr_transcript *t)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < t->segments_count && !status; i++) {
        if (!is_result(t, i) || !b->shown[i].is_whole || b->tokens[i] <= HEAD_TAIL_OVER_TOKENS)
            continue;
        weir_span text = wr_segment_text(t, &t->segments[i], t->arena);
        if (!text.ptr)
            return wr_arena_status(t->arena);
        if (text.len > (size_t)HEAD_TAIL_TO_TOKENS * BYTES_A_TOKEN)
            status = cut_middle(b, i, text);
    }
    return status;
}

static const struct wr_baseline_def defs[] = {
    {"raw", "every request as the agent sent it", "exact", NULL},
    {"exact-duplicates", "a result that was there already becomes a pointer to it",
     "exact-duplicates", NULL},
    {"clear-tool-uses", "Anthropic's clear_tool_uses: past 100,000 tokens all but 3 results go",
     NULL, clear_tool_uses},
    {"opencode-prune", "opencode's prune: results beyond the newest 40,000 tokens, from 20,000 on",
     NULL, opencode_prune},
    {"mask-last-10", "all results but the newest 10, at every request", NULL, mask_last},
    {"head-tail", "results over 4,000 tokens are cut to 2,000 as they arrive: head and tail", NULL,
     head_tail},
    {WR_BASELINE_CLAIRVOYANT, "knows what answers will use and keeps those lines alone: the floor",
     NULL, NULL},
    {WR_BASELINE_CLAIRVOYANT_ALL,
     "the same, and of calls and the model's texts only what later answers use", NULL, NULL},
};

uint32_t wr_baseline_count(void)
{
    return WR_COUNT_OF(defs);
}

const struct wr_baseline_def *wr_baseline_at(uint32_t index)
{
    return &defs[index];
}

const struct wr_baseline_def *wr_baseline_find(weir_span name)
{
    for (uint32_t i = 0; i < wr_baseline_count(); i++)
        if (wr_span_is(name, defs[i].name))
            return &defs[i];
    return NULL;
}

/* ---- running one ---- */

static weir_status make_room(struct wr_baseline *b, uint32_t segments_count)
{
    uint32_t shown = b->segments_cap, tokens = shown;
    if (!WR_ARENA_ROOM(b->arena, b->shown, segments_count, shown, CAP_FIRST) ||
        !WR_ARENA_ROOM(b->arena, b->tokens, segments_count, tokens, CAP_FIRST))
        return wr_arena_status(b->arena);
    b->segments_cap = shown;
    return WEIR_OK;
}

weir_status wr_baseline_request(struct wr_baseline *baseline, const struct wr_transcript *original,
                                const struct wr_evidence_at *at, const uint64_t *tokens,
                                struct wr_evidence_view *view)
{
    weir_status status = make_room(baseline, at->segments_count);
    if (status)
        return status;
    if (baseline->base != at->base) { /* the host compacted: a new beginning */
        baseline->base = at->base;
        baseline->segments_count = 0;
        baseline->total_tokens = 0;
    }
    for (uint32_t i = baseline->segments_count; i < at->segments_count; i++) {
        baseline->shown[i] = (struct wr_shown){.is_whole = true};
        baseline->tokens[i] = tokens[i];
        baseline->total_tokens += tokens[i];
    }
    baseline->segments_count = at->segments_count;
    if (at->segments_count)
        status = baseline->def->request(baseline, original);
    *view = (struct wr_evidence_view){.segments = baseline->shown,
                                      .segments_count = baseline->segments_count};
    return status;
}

void wr_baseline_blocks(const struct wr_baseline *baseline, const uint32_t *overheads,
                        struct wr_cache_block *blocks)
{
    for (uint32_t i = 0; i < baseline->segments_count; i++)
        if (!baseline->shown[i].is_whole)
            blocks[i] = wr_cache_block_of(&blocks[i], baseline->shown[i].text,
                                          baseline->tokens[i] + (overheads ? overheads[i] : 0));
}
