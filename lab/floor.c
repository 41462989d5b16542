/* The clairvoyant's prompts: of each result the lines that some later answer used.
 *
 * Lines are noted while the requests are looked at, sorted by their place and counted once at the
 * end, because only then is it known what all answers used.
 */
#include "lab/floor.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { CAP_FIRST = 256 };

void wr_floor_init(struct wr_floor *floor, struct wr_arena *arena, wr_count_fn *count, void *user,
                   bool with_words)
{
    *floor =
        (struct wr_floor){.arena = arena, .count = count, .user = user, .with_words = with_words};
}

/* One cap for three lists that grow alike. */
static weir_status make_room(struct wr_floor *floor)
{
    uint32_t blocks = floor->segments_cap, texts = blocks, overheads = blocks;
    uint32_t index = floor->segments_count;
    if (!WR_ARENA_ROOM(floor->arena, floor->blocks, index, blocks, CAP_FIRST) ||
        !WR_ARENA_ROOM(floor->arena, floor->texts, index, texts, CAP_FIRST) ||
        !WR_ARENA_ROOM(floor->arena, floor->overheads, index, overheads, CAP_FIRST))
        return wr_arena_status(floor->arena);
    floor->segments_cap = blocks;
    return WEIR_OK;
}

static weir_status copy_text(struct wr_floor *floor, const struct wr_transcript *original,
                             const struct wr_segment *segment, weir_span *text)
{
    *text = wr_segment_text(original, segment, floor->arena);
    *text = text->ptr ? wr_arena_copy(floor->arena, *text) : *text;
    return text->ptr ? WEIR_OK : wr_arena_status(floor->arena);
}

static weir_status append_string(void *user, weir_span key, weir_span text)
{
    struct wr_buf *out = user;
    weir_span line;
    (void)key;
    while (wr_span_line(&text, &line)) {
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
    return out->status;
}

/* The strings of a call's arguments, line by line, as evidence numbers them. */
static weir_status copy_strings(struct wr_floor *floor, const struct wr_transcript *original,
                                const struct wr_segment *segment, weir_span *text)
{
    struct wr_buf out;
    weir_span arguments = wr_segment_text(original, segment, floor->arena);
    if (!arguments.ptr)
        return wr_arena_status(floor->arena);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_evidence_each_string(arguments, floor->arena, append_string, &out);
    if (!status)
        *text = wr_arena_copy(floor->arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return status || text->ptr ? status : wr_arena_status(floor->arena);
}

static bool is_models_word(const struct wr_segment *s)
{
    return s->payload != WR_JSON_NONE && !s->is_opaque &&
           (s->kind == WEIR_KIND_TOOL_CALL ||
            (s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_ASSISTANT));
}

static weir_status add_segment(struct wr_floor *floor, const struct wr_transcript *original,
                               uint32_t i, const struct wr_cache_block *block, uint32_t overhead)
{
    const struct wr_segment *segment = &original->segments[i];
    weir_status status = make_room(floor);
    weir_span text = {0};
    if (!status && segment->kind == WEIR_KIND_TOOL_RESULT && wr_segment_is_editable(segment))
        status = copy_text(floor, original, segment, &text);
    if (!status && floor->with_words && is_models_word(segment)) {
        bool is_call = segment->kind == WEIR_KIND_TOOL_CALL;
        status = is_call ? copy_strings(floor, original, segment, &text)
                         : copy_text(floor, original, segment, &text);
        overhead += is_call ? (uint32_t)floor->count(floor->user, segment->tool) : 0;
    }
    if (status)
        return status;
    floor->blocks[floor->segments_count] = *block;
    floor->texts[floor->segments_count] = text;
    floor->overheads[floor->segments_count++] = overhead;
    return WEIR_OK;
}

static weir_status add_line(struct wr_floor *floor, struct wr_evidence_place place)
{
    if (!WR_ARENA_ROOM(floor->arena, floor->lines, floor->lines_count, floor->lines_cap, CAP_FIRST))
        return wr_arena_status(floor->arena);
    floor->lines[floor->lines_count++] = place;
    return WEIR_OK;
}

weir_status wr_floor_note(struct wr_floor *floor, const struct wr_transcript *original,
                          const struct wr_evidence_at *at, const struct wr_cache_block *blocks,
                          const uint32_t *overheads, const struct wr_evidence_items *found)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = floor->segments_count - at->base; i < at->segments_count && !status; i++)
        status = add_segment(floor, original, i, &blocks[i], overheads ? overheads[i] : 0);
    for (uint32_t i = 0; i < found->count && !status; i++)
        if (!found->items[i].is_repeated)
            status = add_line(
                floor, (struct wr_evidence_place){found->items[i].source, found->items[i].line});
    for (uint32_t i = 0; i < found->said_count && floor->with_words && !status; i++)
        status = add_line(floor, found->said[i]);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const struct wr_evidence_place *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* The lines of `text` that are listed from `*at` on for segment `number`; moves `*at` past them. */
static weir_status keep_lines(struct wr_floor *floor, uint32_t number, uint32_t *at,
                              weir_span *kept)
{
    weir_span rest = floor->texts[number], line;
    char *out = wr_arena_alloc(floor->arena, rest.len + 1);
    size_t len = 0;
    if (!out)
        return wr_arena_status(floor->arena);
    for (uint32_t n = 0; wr_span_line(&rest, &line); n++) {
        bool is_kept = *at < floor->lines_count && floor->lines[*at].number == number &&
                       floor->lines[*at].line == n;
        while (*at < floor->lines_count && floor->lines[*at].number == number &&
               floor->lines[*at].line <= n)
            ++*at;
        if (!is_kept)
            continue;
        if (len)
            out[len++] = '\n';
        memcpy(out + len, line.ptr, line.len);
        len += line.len;
    }
    *kept = (weir_span){out, len};
    return WEIR_OK;
}

weir_status wr_floor_finish(struct wr_floor *floor)
{
    uint32_t at = 0;
    if (floor->lines_count)
        qsort(floor->lines, floor->lines_count, sizeof(*floor->lines), by_place);
    for (uint32_t number = 0; number < floor->segments_count; number++) {
        struct wr_cache_block *block = &floor->blocks[number];
        weir_span kept;
        while (at < floor->lines_count && floor->lines[at].number < number)
            at++;
        if (!floor->texts[number].ptr)
            continue;
        weir_status status = keep_lines(floor, number, &at, &kept);
        if (status)
            return status;
        uint64_t tokens =
            (kept.len ? floor->count(floor->user, kept) : 0) + floor->overheads[number];
        if (tokens >= block->tokens)
            continue;
        floor->texts[number] = kept;
        *block = wr_cache_block_of(block, kept, tokens);
    }
    return WEIR_OK;
}

struct wr_cache_block *wr_floor_request(struct wr_floor *floor, const struct wr_evidence_at *at)
{
    return floor->blocks + at->base;
}

weir_span wr_floor_kept(const struct wr_floor *floor, uint32_t number)
{
    return number < floor->segments_count ? floor->texts[number] : (weir_span){0};
}
