/* Writes a loop's summary within a budget. Names of files come first, because they are short and
 * later answers use them most often; then the calls, the newest first: with a block for their
 * result while those fit, then one line each, then only their number. The output is in the order
 * in which things happened. */
#include "policy/loop_brief.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/call.h"
#include "policy/stage.h"

enum { LINE_CHARS_MAX = 100, FILES_SHARE = 2, BLOCKS_SHARE_PCT = 75 };

struct brief {
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    const struct wr_loop_options *options;
    uint32_t *results; /* oldest first */
    bool *is_exact;
    weir_span *told; /* what is written of each; empty: nothing */
    uint32_t results_count;
    uint64_t left; /* of the budget */
};

static uint64_t count(const struct brief *b, weir_span text)
{
    return b->options->count(b->options->user, text);
}

/* ---- files ---- */

static bool is_listed(const weir_span *paths, uint32_t paths_count, weir_span path)
{
    for (uint32_t i = 0; i < paths_count; i++)
        if (wr_span_eq(paths[i], path))
            return true;
    return false;
}

/* Adds the path of an effect of the wanted sort, unless it is there. */
static uint32_t list_effects(const struct wr_tool_handles *h, bool changed, weir_span *paths,
                             uint32_t paths_count, uint32_t paths_max)
{
    for (size_t i = 0; i < h->effects_count && paths_count < paths_max; i++) {
        const struct wr_effect *e = &h->effects[i];
        bool is_change = e->kind == WR_EFFECT_EDIT || e->kind == WR_EFFECT_WRITE;
        if ((changed ? is_change : e->kind == WR_EFFECT_READ) && e->path.len &&
            !is_listed(paths, paths_count, e->path))
            paths[paths_count++] = e->path;
    }
    return paths_count;
}

enum { FILES_MAX = 64 };

/* The files of a loop, newest first, as far as they fit in a share of what is left. */
static void write_files(struct wr_buf *out, struct brief *b, const char *name, bool changed,
                        const weir_span *but, uint32_t but_count, weir_span paths[FILES_MAX],
                        uint32_t *paths_count)
{
    uint64_t room = b->left / FILES_SHARE;
    bool is_first = true;

    *paths_count = 0;
    for (uint32_t i = b->results_count; i-- > 0 && *paths_count < FILES_MAX;) {
        const struct wr_segment *s = &b->transcript->segments[b->results[i]];
        if (s->handles && !wr_result_has_failed(s, s->handles))
            *paths_count = list_effects(s->handles, changed, paths, *paths_count, FILES_MAX);
    }
    for (uint32_t i = 0; i < *paths_count; i++) {
        uint64_t tokens = count(b, paths[i]) + 1;
        if (is_listed(but, but_count, paths[i]))
            continue;
        if (tokens > room)
            break;
        room -= tokens;
        b->left -= tokens;
        wr_buf_printf(out, is_first ? "%s: " : ", ", name);
        wr_text_one_line(out, paths[i]);
        is_first = false;
    }
    if (!is_first)
        wr_buf_byte(out, '\n');
}

/* ---- calls ---- */

static weir_status write_line(struct brief *b, uint32_t result, weir_span *line)
{
    const struct wr_segment *s = &b->transcript->segments[result];
    struct wr_call call;
    struct wr_buf out;
    weir_status status = wr_call_read(&call, b->arena, b->transcript, s->pair);
    if (status)
        return status;
    weir_span what = call.handles && call.handles->path.len    ? call.handles->path
                     : call.handles && call.handles->query.len ? call.handles->query
                                                               : call.purpose;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&out, call.capability, LINE_CHARS_MAX);
    if (what.len) {
        wr_buf_text(&out, ": ");
        wr_text_one_line_max(&out, what, LINE_CHARS_MAX);
    }
    if (wr_result_has_failed(s, call.handles))
        wr_buf_text(&out, " (failed)");
    if (out.status) {
        wr_buf_release(&out);
        return out.status;
    }
    return wr_text_keep(b->arena, &out, line);
}

/* Takes the text for a result if it fits, leaving `reserve` of the budget. */
static bool take_text(struct brief *b, uint32_t i, weir_span text, uint64_t reserve)
{
    uint64_t tokens = count(b, text) + 1;
    if (tokens + reserve > b->left)
        return false;
    b->left -= tokens;
    b->told[i] = text;
    return true;
}

/* With its lines where it is a read that keeps them, then without. */
static weir_status tell_block(struct brief *b, uint32_t i, uint64_t reserve, bool *is_told)
{
    weir_status status = WEIR_OK;
    *is_told = false;
    for (int exact = b->is_exact[i]; exact >= 0 && !status && !*is_told; exact--) {
        weir_span text;
        status = wr_tool_result_summary(b->transcript, b->arena, b->results[i], exact > 0,
                                        b->options, &text);
        *is_told = !status && take_text(b, i, text, reserve);
    }
    return status;
}

/* Returns in *first the oldest result that is told of. */
static weir_status tell_calls(struct brief *b, uint32_t *first)
{
    uint64_t reserve = b->left * (100 - BLOCKS_SHARE_PCT) / 100;
    bool has_room = true, is_told = true;
    weir_status status = WEIR_OK;

    for (*first = b->results_count; *first > 0; --*first) {
        weir_span line;
        uint32_t i = *first - 1;
        if (has_room)
            status = tell_block(b, i, reserve, &has_room);
        if (!status && !has_room)
            status = write_line(b, b->results[i], &line);
        if (!status && !has_room)
            is_told = take_text(b, i, line, 0);
        if (status || !is_told)
            break;
    }
    return status;
}

static weir_status write_activity(struct wr_buf *out, struct brief *b)
{
    uint32_t first;
    weir_status status = wr_loop_evidence(b->transcript, b->arena, b->results, b->results_count,
                                          b->options, b->is_exact);
    if (!status)
        status = tell_calls(b, &first);
    if (status)
        return status;
    wr_buf_text(out, "tool_activity:\n");
    if (!b->results_count)
        wr_buf_text(out, "none\n");
    if (first)
        wr_buf_printf(out, "- %u %scall%s behind the handle below\n", first,
                      first < b->results_count ? "earlier " : "", first == 1 ? " is" : "s are");
    for (uint32_t i = first; i < b->results_count; i++)
        wr_text_indent(out, b->told[i], "- ");
    return WEIR_OK;
}

/* ---- the whole ---- */

static weir_status find_results(struct brief *b, const uint32_t *segments, uint32_t segments_count)
{
    b->results = WR_ARENA_ARRAY(b->arena, uint32_t, segments_count);
    b->is_exact = WR_ARENA_ARRAY(b->arena, bool, segments_count);
    b->told = WR_ARENA_ARRAY(b->arena, weir_span, segments_count);
    if (!b->results || !b->is_exact || !b->told)
        return wr_arena_status(b->arena);
    for (uint32_t i = 0; i < segments_count; i++)
        if (b->transcript->segments[segments[i]].kind == WEIR_KIND_TOOL_RESULT)
            b->results[b->results_count++] = segments[i];
    return WEIR_OK;
}

weir_status wr_loop_brief(const struct wr_transcript *transcript, struct wr_arena *arena,
                          const uint32_t *segments, uint32_t segments_count, uint64_t tokens,
                          const struct wr_loop_options *options, weir_span *text)
{
    struct brief b = {.transcript = transcript, .arena = arena, .options = options, .left = tokens};
    weir_span changed[FILES_MAX], read[FILES_MAX];
    uint32_t changed_count, read_count;
    struct wr_buf out;

    weir_status status = find_results(&b, segments, segments_count);
    if (status)
        return status;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&out, WR_LOOP_FRONT "\n");
    write_files(&out, &b, "files_changed", true, NULL, 0, changed, &changed_count);
    write_files(&out, &b, "files_read", false, changed, changed_count, read, &read_count);
    status = write_activity(&out, &b);
    if (!status) {
        wr_buf_text(&out, "assistant_result:\n");
        status = wr_loop_words(&out, transcript, arena, segments, segments_count);
    }
    wr_buf_text(&out, "recovery_rule: the handle below holds every call and result of this work; "
                      "ask it by grep or by lines for exact details.");
    if (status) {
        wr_buf_release(&out);
        return status;
    }
    return wr_text_keep(arena, &out, text);
}
