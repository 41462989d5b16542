/* rehydrate: a message of the user's that names a handle brings its original back, in a message of
 * its own right behind.
 *
 *   [weir wr_0123456789abcdef0123: brought back, lines 1-40 of 400]
 *   ... the lines ...
 *   [weir wr_0123456789abcdef0123: 360 lines, ~2900 tokens left out; weir_recall {...}]
 *
 * Only what this very fold gave a handle to can come back, so that the same transcript always gives
 * the same bytes. The first line is a marker: a text that holds one is not taken out. What the
 * model itself asks for comes through weir_recall, not through here. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { FRAME_TOKENS = 96 }; /* room for the lines before and behind */

static uint64_t budget_left(const struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t budget = (uint64_t)stage->params[WR_REHYDRATE_MAX_TOKENS], used = 0;
    uint64_t threshold = wr_fold_threshold(fold, 10000);
    uint64_t room = threshold > fold->total_tokens ? threshold - fold->total_tokens : 0;

    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (fold->inserts[i].is_rehydrated && fold->inserts[i].turn == fold->turn)
            used += fold->inserts[i].tokens;
    budget = budget > used ? budget - used : 0;
    return budget < room ? budget : room;
}

static bool is_back_already(const struct wr_fold *fold, const struct wr_handle *handle)
{
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (fold->inserts[i].is_rehydrated && !strcmp(fold->inserts[i].handle.text, handle->text))
            return true;
    return false;
}

/* The first lines that fit into `tokens_max`; `*rest` is what does not. */
static weir_span first_lines(const struct wr_fold *fold, weir_span text, uint64_t tokens_max,
                             weir_span *rest, uint64_t *lines)
{
    uint64_t tokens = 0;
    weir_span line;

    *rest = text;
    *lines = 0;
    for (weir_span next = text; wr_span_line(&next, &line); *rest = next, (*lines)++) {
        tokens += fold->input->count(fold->input->user, line) + 1;
        if (tokens > tokens_max)
            break;
    }
    return wr_span_cut(text, 0, text.len - rest->len);
}

/* Nothing is written (and the text empty) where not even a line fits, or what is missing would have
 * no way back. */
static weir_status write_block(struct wr_fold *fold, const struct wr_handle *handle,
                               weir_span original, uint64_t tokens_max, weir_span *text)
{
    const struct wr_fold_input *input = fold->input;
    uint64_t lines;
    weir_span rest, kept = first_lines(fold, original, tokens_max, &rest, &lines);
    struct wr_marker marker = {
        .handle = *handle,
        .way = {.kind = WR_WAY_RECALL, .tool = wr_ways_recall(input->ways, UINT32_MAX)},
        .lines = wr_span_lines(rest),
        .tokens = input->count(input->user, rest),
        .what = "left out"};
    struct wr_buf buf;

    *text = (weir_span){"", 0};
    if (!kept.len || (rest.len && !wr_ways_recall(input->ways, UINT32_MAX).len))
        return WEIR_OK;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&buf, "[weir %s: brought back, lines 1-%llu of %llu]\n", handle->text,
                  (unsigned long long)lines, (unsigned long long)(lines + marker.lines));
    wr_buf_append(&buf, kept);
    if (rest.len)
        wr_marker_write(&buf, &marker);
    return wr_text_keep(fold->arena, &buf, text);
}

static weir_status bring_back(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                              const struct wr_handle *handle)
{
    uint64_t tokens_max = budget_left(fold, stage);
    weir_span original, text;

    if (tokens_max <= FRAME_TOKENS || fold->inserts_count == WR_FOLD_INSERTS_MAX ||
        is_back_already(fold, handle) || !wr_fold_original(fold, handle, &original))
        return WEIR_OK;
    if (!original.ptr)
        return wr_arena_status(fold->arena);
    weir_status status = write_block(fold, handle, original, tokens_max - FRAME_TOKENS, &text);
    if (status || !text.len)
        return status;
    return wr_fold_rehydrate(fold, segment, handle, text, original);
}

static weir_status rehydrate_arrive(struct wr_fold *fold, const struct wr_stage *stage,
                                    uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    weir_status status = WEIR_OK;
    weir_handle found;

    if (s->kind != WEIR_KIND_TEXT || s->role != WEIR_ROLE_USER || s->message == WR_JSON_NONE ||
        fold->transcript->list == WR_JSON_NONE)
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    if (!text.ptr)
        return wr_arena_status(fold->arena);
    for (size_t at = 0; !status && (at = weir_handle_find(text, at, &found)) != SIZE_MAX;
         at += WEIR_HANDLE_TEXT_BYTES) {
        struct wr_handle handle;
        weir_handle_format(found, handle.text);
        status = bring_back(fold, stage, segment, &handle);
    }
    return status;
}

const struct wr_stage_def wr_stage_rehydrate = {
    .name = "rehydrate",
    .what = "a message that names a handle brings its original back, right behind it",
    .arrive = rehydrate_arrive,
    .acts = "when a message names a handle",
    .params = {{"max_tokens", 8000, 128, 1000000, NULL, "what comes back in one turn, all of it"}},
    .params_count = 1,
};
