/* Text for people: pages, answers, notes.
 *
 * Kept: head and tail, headings, then whole paragraphs: those that hold most of what the call and
 * the newest turns name. A paragraph is often one line, so a line that would take too much of the
 * budget loses its middle (keep.h, 5): what it begins and ends with stays. Of a long line of links
 * these stay whole (prose.h), and it comes first: they are what is asked for next. */
#include "condense/prose.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/focus.h"

/* How much of the budget is spent when a step ends, in percent. */
enum { HEAD_PERCENT = 45, TAIL_PERCENT = 70, HEADINGS_PERCENT = 88 };

enum {
    LINE_PERCENT = 20, /* of the budget, on one line */
    LINE_BYTES_MIN = 320,
    LINKS_PERCENT = 50, /* of the budget, on lines of links */
    LINKS_BYTES_MIN = 320,
    HEADING_BYTES_MAX = 80,
    BLOCK_LINES_MAX = 12,
};

/* What a line is worth. */
enum {
    WORTH_TEXT = 4,
    WORTH_START = 4,    /* more: the first line of a paragraph or a list */
    WORTH_EVIDENCE = 2, /* more: a path, or a name in quotes */
    WORTH_FOCUS = 4,    /* each word of the focus, */
    FOCUS_MAX = 4,      /* so many at most */
};

struct prose {
    struct wr_keep keep;
    struct wr_focus focus;
    size_t bytes_budget;
};

/* ---- what a line is ---- */

static weir_span text_at(const struct wr_keep *keep, uint32_t line)
{
    if (line >= keep->lines_count)
        return (weir_span){NULL, 0};
    return wr_span_trim(wr_keep_line(keep, line));
}

static bool is_rule(weir_span text)
{
    if (text.len < 3 || !memchr("=-~*_", text.ptr[0], 5))
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (text.ptr[i] != text.ptr[0])
            return false;
    return true;
}

static bool has_lower(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (wr_is_alpha(text.ptr[i]) && !wr_is_upper(text.ptr[i]))
            return true;
    return false;
}

/* "## Title", a title over a rule, "TITLE", "**Title**", "Title:" alone between blank lines. */
static bool is_heading(weir_span before, weir_span text, weir_span next)
{
    if (!text.len || text.len > HEADING_BYTES_MAX || is_rule(text))
        return false;
    if (text.ptr[0] == '#' || (is_rule(next) && memchr("=-", next.ptr[0], 2)))
        return true;
    if (before.len)
        return false;
    bool is_loud = wr_is_upper(text.ptr[0]) && text.len > 3 && !has_lower(text);
    bool is_bold = wr_span_starts(text, WR_LIT("**")) && wr_span_ends(text, WR_LIT("**"));
    return is_loud || is_bold || text.ptr[text.len - 1] == ':';
}

static bool is_item(weir_span text)
{
    if (text.len > 2 && memchr("-*+", text.ptr[0], 3) && text.ptr[1] == ' ')
        return true;
    size_t at = 0;
    while (at < text.len && at < 3 && wr_is_digit(text.ptr[at]))
        at++;
    return at && at + 1 < text.len && memchr(".)", text.ptr[at], 2) && text.ptr[at + 1] == ' ';
}

/* The first line of a paragraph, or of a list. */
static bool starts_paragraph(weir_span before, weir_span text)
{
    return text.len && !is_rule(text) && (!before.len || is_item(text) != is_item(before));
}

/* ---- links ---- */

static weir_status shorten_links(struct prose *prose, uint32_t line, size_t bytes_max)
{
    struct wr_keep *keep = &prose->keep;
    struct wr_buf buf;
    weir_span form = {NULL, 0};
    wr_buf_init(&buf, bytes_max + 1);
    wr_link_line_write(&buf, wr_keep_line(keep, line), bytes_max);
    weir_status status = wr_buf_status(&buf);
    if (!status) {
        form = wr_arena_copy(keep->arena, wr_buf_view(&buf));
        status = form.ptr ? wr_keep_form(keep, line, form) : wr_arena_status(keep->arena);
    }
    wr_buf_release(&buf);
    return status;
}

/* The first long lines of links, each as short as it may be. */
static weir_status keep_links(struct prose *prose)
{
    struct wr_keep *keep = &prose->keep;
    size_t share = prose->bytes_budget / 100 * LINKS_PERCENT, gaps = 2 * WR_KEEP_GAP_BYTES;
    size_t bytes_max = share > gaps ? share - gaps : 0;
    weir_status status = WEIR_OK;
    if (bytes_max < WR_KEEP_CUT_BYTES_MIN)
        return status; /* no link fits */
    wr_keep_spend_until(keep, prose->bytes_budget, LINKS_PERCENT);
    for (uint32_t line = 0; line < keep->lines_count && !status; line++) {
        weir_span text = wr_keep_line(keep, line);
        if (text.len < LINKS_BYTES_MIN || keep->is_kept[line] || !wr_link_line_is(text))
            continue;
        status = shorten_links(prose, line, bytes_max < text.len ? bytes_max : text.len);
        if (!status && !wr_keep_one(keep, line))
            break;
    }
    return status;
}

/* ---- all ---- */

static weir_status keep_paragraphs(struct prose *prose)
{
    struct wr_keep *keep = &prose->keep;
    struct wr_block_line *lines =
        WR_ARENA_ARRAY(keep->arena, struct wr_block_line, keep->lines_count);
    weir_span before = {NULL, 0};
    if (!lines)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span text = text_at(keep, line);
        uint32_t focus = wr_focus_weigh(&prose->focus, text);
        uint32_t worth = WORTH_TEXT + WORTH_FOCUS * (focus < FOCUS_MAX ? focus : FOCUS_MAX);
        if (starts_paragraph(before, text))
            worth += WORTH_START;
        if (text.len && (memchr(text.ptr, '`', text.len) || memchr(text.ptr, '/', text.len)))
            worth += WORTH_EVIDENCE;
        lines[line].is_blank = !text.len;
        lines[line].worth = (uint16_t)(text.len && !is_rule(text) ? worth : 0);
        before = text;
    }
    return wr_blocks_keep(keep, lines, BLOCK_LINES_MAX);
}

static void keep_headings(struct wr_keep *keep)
{
    weir_span before = {NULL, 0}, text = text_at(keep, 0);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span next = text_at(keep, line + 1);
        if (is_heading(before, text, next))
            (void)wr_keep_one(keep, line);
        before = text;
        text = next;
    }
}

/* Lets `percent` of what the links have left be spent, as wr_keep_spend_until() does. */
static void spend_until(struct prose *prose, size_t bytes_before, uint32_t percent)
{
    wr_keep_spend_until(&prose->keep, prose->bytes_budget - bytes_before, percent);
    prose->keep.bytes_budget += bytes_before;
}

static weir_status choose_prose(struct prose *prose)
{
    struct wr_keep *keep = &prose->keep;
    weir_status status = keep_links(prose);
    if (status)
        return status;
    size_t before = keep->bytes_used > WR_KEEP_GAP_BYTES ? keep->bytes_used - WR_KEEP_GAP_BYTES : 0;
    if (before > prose->bytes_budget)
        before = prose->bytes_budget;
    spend_until(prose, before, HEAD_PERCENT);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    spend_until(prose, before, TAIL_PERCENT);
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    spend_until(prose, before, HEADINGS_PERCENT);
    keep_headings(keep);
    spend_until(prose, before, 100);
    return keep_paragraphs(prose);
}

weir_status wr_condense_prose(struct wr_condensed *out, struct wr_arena *arena,
                              const struct wr_condense_input *input)
{
    struct prose prose = {.bytes_budget = input->bytes_budget};
    size_t line_bytes_max = input->bytes_budget / 100 * LINE_PERCENT;
    if (line_bytes_max < LINE_BYTES_MIN)
        line_bytes_max = LINE_BYTES_MIN;
    weir_status status = wr_keep_init(&prose.keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&prose.keep, line_bytes_max, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&prose.keep, input->kind, 0);
    if (!status)
        status = wr_focus_init(&prose.focus, arena, input);
    if (!status)
        status = wr_focus_find(&prose.focus, &prose.keep);
    if (!status)
        status = choose_prose(&prose);
    if (status)
        return status;
    wr_keep_widen(&prose.keep);
    return wr_keep_write(&prose.keep, out);
}

/* ---- blocks ---- */

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

/* ---- lines that are links ---- */

#define MARK "\xe2\x80\xa6"

enum {
    LINKS_MIN = 2,
    FRONT_BYTES = 48, /* of what stands before a link: a title begins there */
    END_BYTES = 8,    /* and the key of the link, or what opens it */
    MARK_BYTES = sizeof(MARK) - 1,
};

static size_t find_link(weir_span line, size_t from)
{
    for (size_t at = from; (at = wr_span_find(line, WR_LIT("://"), at)) != SIZE_MAX; at += 3) {
        size_t first = at;
        while (first > from && wr_is_alpha(line.ptr[first - 1]))
            first--;
        if (first < at)
            return first;
    }
    return SIZE_MAX;
}

static size_t link_end(weir_span line, size_t at)
{
    while (at < line.len && !memchr(" \t\"'<>()[]{}|\\^`,", line.ptr[at], 18))
        at++;
    return at;
}

bool wr_link_line_is(weir_span line)
{
    size_t at = 0;
    for (int count = 0; count < LINKS_MIN; count++) {
        at = find_link(line, at);
        if (at == SIZE_MAX)
            return false;
        at = link_end(line, at);
    }
    return true;
}

/* The nearest place at or before (behind) `at` where no character is cut in two. */
static size_t place_before(weir_span line, size_t at, size_t least)
{
    while (at > least && at < line.len && wr_utf8_is_tail(line.ptr[at]))
        at--;
    return at;
}

static size_t place_behind(weir_span line, size_t at)
{
    while (at < line.len && wr_utf8_is_tail(line.ptr[at]))
        at++;
    return at;
}

void wr_link_line_write(struct wr_buf *out, weir_span line, size_t bytes_max)
{
    size_t start = out->len, from = 0;
    for (size_t link; (link = find_link(line, from)) != SIZE_MAX;) {
        size_t end = link_end(line, link), front_end = link, back = link;
        if (link - from > FRONT_BYTES + END_BYTES + MARK_BYTES) {
            front_end = place_before(line, from + FRONT_BYTES, from);
            back = place_behind(line, link - END_BYTES);
        }
        size_t bytes = front_end - from + end - back + (back > front_end ? MARK_BYTES : 0);
        if (out->len - start + bytes + MARK_BYTES > bytes_max)
            break;
        wr_buf_append(out, wr_span_cut(line, from, front_end));
        if (back > front_end)
            wr_buf_text(out, MARK);
        wr_buf_append(out, wr_span_cut(line, back, end));
        from = end;
    }
    if (line.len - from <= MARK_BYTES)
        wr_buf_append(out, wr_span_from(line, from));
    else
        wr_buf_text(out, MARK);
}
