/* The outline of a file: each line that is no comment is shown to the rule of its language, and
 * what is indented further belongs to it. Comments and texts that go over several lines are
 * followed only as far as it takes not to find definitions in them.
 */
#include "condense/outline.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/numbered.h"

/* An item whose end has not been seen yet. */
struct open_item {
    uint32_t item;
    uint32_t indent;
};

struct scan {
    struct wr_outline *outline;
    struct wr_arena *arena;
    struct wr_numbered numbered;
    uint32_t items_max;
    struct open_item open[WR_OUTLINE_DEPTH_MAX];
    uint32_t open_count;
    uint32_t line, text_end; /* the line at hand; the line behind the last that was not blank */
    weir_span closer;        /* what ends the comment or text the line stands in; empty: none */
    uint32_t closer_indent;  /* of the line that opened it */
};

/* ---- comments ---- */

static bool has_trait(const struct scan *scan, unsigned traits)
{
    return (scan->outline->language->traits & traits) != 0;
}

static void open_block(struct scan *scan, weir_span text, size_t from, weir_span closer)
{
    if (wr_span_find(text, closer, from) == SIZE_MAX)
        scan->closer = closer;
}

/* Whether the line is a comment; one that goes on below is remembered. */
static bool is_comment(struct scan *scan, weir_span text)
{
    if (has_trait(scan, WR_LANGUAGE_SLASH) && text.ptr[0] == '/') {
        if (wr_span_starts(text, WR_LIT("/*")))
            open_block(scan, text, 2, WR_LIT("*/"));
        return wr_span_starts(text, WR_LIT("//")) || wr_span_starts(text, WR_LIT("/*"));
    }
    if (has_trait(scan, WR_LANGUAGE_TAG) && wr_span_starts(text, WR_LIT("<!--"))) {
        open_block(scan, text, 4, WR_LIT("-->"));
        return true;
    }
    if (has_trait(scan, WR_LANGUAGE_FENCE) && wr_span_starts(text, WR_LIT("```"))) {
        open_block(scan, text, 3, WR_LIT("```"));
        return true;
    }
    if (has_trait(scan, WR_LANGUAGE_DASH) && wr_span_starts(text, WR_LIT("--"))) {
        if (wr_span_starts(text, WR_LIT("--[[")))
            open_block(scan, text, 4, WR_LIT("]]"));
        return true;
    }
    return (has_trait(scan, WR_LANGUAGE_HASH) && text.ptr[0] == '#') ||
           (has_trait(scan, WR_LANGUAGE_SEMI) && text.ptr[0] == ';') ||
           (has_trait(scan, WR_LANGUAGE_SLASH) && wr_span_starts(text, WR_LIT("* ")));
}

/* A text in three quotes that the line opens and does not close. */
static void open_quotes(struct scan *scan, weir_span text)
{
    const char *quotes = "\"\"\"|'''";
    weir_span quote;
    while (wr_list_next(&quotes, &quote)) {
        size_t count = 0, at = wr_span_find(text, quote, 0);
        for (; at != SIZE_MAX; at = wr_span_find(text, quote, at + 3))
            count++;
        if (count % 2)
            scan->closer = quote;
    }
}

/* ---- what stands in what ---- */

/* "name:" alone. */
static bool is_label(weir_span text)
{
    size_t at = 0;
    while (at < text.len && wr_is_word(text.ptr[at]))
        at++;
    return at && at + 1 == text.len && text.ptr[at] == ':';
}

/* Items indented this much or more end before the line. A closing bracket belongs to the item it
 * closes; labels, and what the preprocessor reads, end nothing. */
static uint32_t closing_indent(const struct scan *scan, const struct wr_definition_line *line)
{
    weir_span text = line->text;
    if (has_trait(scan, WR_LANGUAGE_HEADINGS))
        return UINT32_MAX;
    if (memchr("{})]", text.ptr[0], 4) || wr_span_is(text, "end") ||
        wr_span_starts(text, WR_LIT("end ")))
        return line->indent + 1;
    if (text.ptr[0] == '#' && scan->outline->language->rule == wr_defines_c)
        return UINT32_MAX;
    return has_trait(scan, WR_LANGUAGE_SLASH) && is_label(text) ? UINT32_MAX : line->indent;
}

static void close_items(struct scan *scan, uint32_t indent)
{
    while (scan->open_count && scan->open[scan->open_count - 1].indent >= indent)
        scan->outline->items[scan->open[--scan->open_count].item].end = scan->text_end;
}

static enum wr_definition_place place_in(enum wr_definition_kind kind)
{
    switch (kind) {
    case WR_DEFINES_TYPE:
        return WR_PLACE_IN_TYPE;
    case WR_DEFINES_FUNCTION:
        return WR_PLACE_IN_FUNCTION;
    case WR_DEFINES_VALUE:
        break;
    }
    return WR_PLACE_IN_VALUE;
}

static void place_line(const struct scan *scan, struct wr_definition_line *line)
{
    if (!scan->open_count)
        return;
    const struct wr_outline_item *holder =
        &scan->outline->items[scan->open[scan->open_count - 1].item];
    line->place = place_in(holder->kind);
    line->holder = holder->name;
}

static weir_status add_item(struct scan *scan, const struct wr_definition *found, uint32_t indent)
{
    struct wr_outline *outline = scan->outline;
    if (outline->count >= WR_OUTLINE_ITEMS_MAX || scan->open_count >= WR_OUTLINE_DEPTH_MAX)
        return WEIR_OK;
    if (!WR_ARENA_ROOM(scan->arena, outline->items, outline->count, scan->items_max, 64))
        return wr_arena_status(scan->arena);
    outline->items[outline->count] = (struct wr_outline_item){
        scan->line, scan->line + 1, (uint16_t)scan->open_count, found->kind, found->name};
    scan->open[scan->open_count++] = (struct open_item){outline->count++, indent};
    return WEIR_OK;
}

/* ---- lines ---- */

static bool find_definition(const struct scan *scan, const struct wr_definition_line *line,
                            struct wr_definition *found)
{
    const struct wr_language *language = scan->outline->language;
    *found = (struct wr_definition){.kind = WR_DEFINES_VALUE};
    return language->rule(line, language->words, found);
}

/* In a part of a file the first three quotes may close a text whose opening was not shown, and all
 * texts and code would change places. A function found in a text is taken as the sign of that. */
static bool is_in_text(struct scan *scan, const struct wr_definition_line *line)
{
    struct wr_definition found;
    if (!scan->closer.len)
        return false;
    size_t close = wr_span_find(line->text, scan->closer, 0);
    if (close != SIZE_MAX) {
        scan->closer.len = 0;
        return true;
    }
    bool is_code = has_trait(scan, WR_LANGUAGE_QUOTES) &&
                   line->text.ptr[line->text.len - 1] == ':' &&
                   find_definition(scan, line, &found) && found.kind != WR_DEFINES_VALUE;
    if (is_code)
        scan->closer.len = 0;
    return !is_code;
}

/* Without a comment behind the code. */
static weir_span without_comment(weir_span text)
{
    size_t at = text.len;
    if (wr_span_ends(text, WR_LIT("*/")))
        while (at && !wr_span_starts(wr_span_from(text, at), WR_LIT("/*")))
            at--;
    else
        at = wr_span_find(text, WR_LIT(" //"), 0);
    if (!at || at == SIZE_MAX)
        return text;
    while (at > 1 && wr_is_blank(text.ptr[at - 1]))
        at--;
    return wr_span_cut(text, 0, at);
}

static struct wr_definition_line read_line(const struct scan *scan, weir_span whole)
{
    size_t at = wr_numbered_skip(&scan->numbered, whole, NULL);
    struct wr_definition_line line = {.place = WR_PLACE_TOP};
    for (; at < whole.len && wr_is_blank(whole.ptr[at]); at++)
        line.indent += whole.ptr[at] == '\t' ? 4 : 1;
    size_t end = whole.len;
    while (end > at && (wr_is_blank(whole.ptr[end - 1]) || whole.ptr[end - 1] == '\r'))
        end--;
    if (end - at > WR_OUTLINE_LINE_BYTES_MAX)
        end = at + WR_OUTLINE_LINE_BYTES_MAX;
    line.text = wr_span_cut(whole, at, end);
    if (line.text.len && has_trait(scan, WR_LANGUAGE_SLASH))
        line.text = without_comment(line.text);
    return line;
}

static weir_status scan_code(struct scan *scan, struct wr_definition_line *line)
{
    struct wr_definition found;
    weir_status status = WEIR_OK;
    close_items(scan, closing_indent(scan, line));
    place_line(scan, line);
    if (find_definition(scan, line, &found)) {
        uint32_t indent = line->indent + found.level;
        close_items(scan, indent);
        status = add_item(scan, &found, indent);
    }
    if (has_trait(scan, WR_LANGUAGE_QUOTES))
        open_quotes(scan, line->text);
    return status;
}

static weir_status scan_line(struct scan *scan, weir_span whole)
{
    struct wr_definition_line line = read_line(scan, whole);
    weir_status status = WEIR_OK;
    if (!line.text.len)
        return WEIR_OK;
    bool in_text = is_in_text(scan, &line);
    bool is_code = !in_text && !is_comment(scan, line.text);
    if (is_code)
        status = scan_code(scan, &line);
    if (!in_text)
        scan->closer_indent = line.indent;
    /* A comment that is not indented belongs to what comes below it. */
    if (is_code ||
        (scan->open_count && scan->closer_indent > scan->open[scan->open_count - 1].indent))
        scan->text_end = scan->line + 1;
    return status;
}

weir_status wr_outline_read(struct wr_outline *outline, struct wr_arena *arena, weir_span text,
                            weir_span path)
{
    weir_status status = WEIR_OK;
    weir_span line;
    *outline = (struct wr_outline){.language = wr_language_of(path, text)};
    struct scan scan = {.outline = outline, .arena = arena, .numbered = wr_numbered_detect(text)};
    for (; !status && wr_span_line(&text, &line); scan.line++)
        status = scan_line(&scan, line);
    close_items(&scan, 0);
    return status;
}
