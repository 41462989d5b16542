/* Markdown to lines of a terminal. md4c (docs/decisions/016-own-terminal.md) finds the blocks and
 * spans; this file keeps, for the block that is open, its text with colours, and writes it when the
 * block ends, broken for the width and behind the marks of the lists and quotes around it.
 */
#include "agent/markdown.h"

#include <md4c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/cells.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- breaking and fitting ----
 *
 * Breaking text with colours at words, and fitting tables into a width.
 */

enum { COLUMN_MIN = 6, TABLE_COLUMNS_MAX = 64 };

#define RULE   "─┼─"
#define GAP    " │ "
#define BOLD   "\x1b[1m"
#define NORMAL "\x1b[0m"
enum { GAP_CELLS = 3 };

/* A table: cells of plain text, row by row, the head first. Fitted into look->columns. */
struct md_table {
    struct wr_buf text;
    size_t *ends; /* of each cell in the text */
    size_t count, cap;
    size_t columns;
};

/* ---- words ---- */

static size_t colour_bytes(weir_span text)
{
    size_t at = 2;

    if (!wr_span_starts(text, WR_LIT("\x1b[")))
        return 0;
    while (at < text.len && text.ptr[at] != 'm')
        at++;
    return at < text.len ? at + 1 : at;
}

/* The next word, with the colours in it; `*cells` are its columns. */
static weir_span next_word(weir_span text, size_t *cells)
{
    size_t at = 0, one;

    *cells = 0;
    while (at < text.len && text.ptr[at] != ' ' && text.ptr[at] != '\n') {
        size_t bytes = colour_bytes(wr_span_from(text, at));
        if (!bytes) {
            bytes = wr_cells_char(wr_span_from(text, at), &one);
            *cells += one;
        }
        at += bytes;
    }
    return wr_span_cut(text, 0, at);
}

struct wrapping {
    struct wr_buf *out;
    weir_span indent;
    size_t indent_cells, column, columns;
    bool is_at_begin; /* of a line: no blank stands there */
};

static void break_line(struct wrapping *w)
{
    wr_buf_byte(w->out, '\n');
    wr_buf_append(w->out, w->indent);
    w->column = w->indent_cells;
    w->is_at_begin = true;
}

/* A word that is longer than a line is cut where the line is full. */
static void put_long_word(struct wrapping *w, weir_span word)
{
    size_t cells;

    for (size_t at = 0; at < word.len;) {
        size_t bytes = colour_bytes(wr_span_from(word, at));
        if (!bytes) {
            bytes = wr_cells_char(wr_span_from(word, at), &cells);
            if (w->column + cells > w->columns && w->column > w->indent_cells)
                break_line(w);
            w->column += cells;
        }
        wr_buf_append(w->out, wr_span_cut(word, at, at + bytes));
        at += bytes;
    }
}

/* Appends `text`, which may hold colours (ESC [ ... m), broken at words: lines after the first
 * begin with `indent`, which counts; the first has `used` columns already. No '\n' at the end. */
static void md_wrap(struct wr_buf *out, weir_span text, weir_span indent, size_t used,
                    size_t columns)
{
    struct wrapping w = {.out = out,
                         .indent = indent,
                         .indent_cells = wr_cells_of(indent),
                         .column = used,
                         .columns = columns ? columns - 1 : 1,
                         .is_at_begin = true};
    size_t cells;

    while (text.len) {
        if (text.ptr[0] == '\n' || text.ptr[0] == ' ') {
            if (text.ptr[0] == '\n')
                break_line(&w);
            text = wr_span_from(text, 1);
            continue;
        }
        weir_span word = next_word(text, &cells);
        size_t blank = !w.is_at_begin && cells;
        if (w.column + blank + cells > w.columns && !w.is_at_begin) {
            break_line(&w);
            blank = 0;
        }
        if (blank)
            wr_buf_byte(out, ' ');
        w.column += blank;
        put_long_word(&w, word);
        w.is_at_begin &= !cells;
        text = wr_span_from(text, word.len);
    }
}

/* ---- tables ---- */

static weir_span cell_at(const struct md_table *t, size_t number)
{
    size_t begin = number ? t->ends[number - 1] : 0;
    return wr_span_cut(wr_buf_view(&t->text), begin, t->ends[number]);
}

static size_t sum_of(const size_t *widths, size_t count)
{
    size_t all = (count - 1) * GAP_CELLS;
    for (size_t i = 0; i < count; i++)
        all += widths[i];
    return all;
}

/* The widest columns give way, one cell after the other. */
static bool fit_widths(const struct md_table *t, size_t *widths, size_t columns)
{
    for (size_t i = 0; i < t->columns; i++)
        widths[i] = 1;
    for (size_t i = 0; i < t->count; i++) {
        size_t cells = wr_cells_of(cell_at(t, i));
        size_t *width = &widths[i % t->columns];
        *width = cells > *width ? cells : *width;
    }
    while (sum_of(widths, t->columns) > columns - 1) {
        size_t widest = 0;
        for (size_t i = 1; i < t->columns; i++)
            widest = widths[i] > widths[widest] ? i : widest;
        if (widths[widest] <= COLUMN_MIN)
            return false;
        widths[widest]--;
    }
    return true;
}

static void pad(struct wr_buf *out, size_t cells)
{
    for (size_t i = 0; i < cells; i++)
        wr_buf_byte(out, ' ');
}

/* One row of the table: as many lines as its longest cell needs. */
static void put_row(struct wr_buf *out, const struct md_table *t, size_t first,
                    const size_t *widths, const char *indent)
{
    struct wr_buf lines[TABLE_COLUMNS_MAX];
    weir_span rest[TABLE_COLUMNS_MAX], line;
    bool has_more = true;

    for (size_t i = 0; i < t->columns; i++) {
        wr_buf_init(&lines[i], WR_AGENT_ANSWER_BYTES_MAX);
        md_wrap(&lines[i], cell_at(t, first + i), (weir_span){"", 0}, 0, widths[i] + 1);
        rest[i] = wr_buf_view(&lines[i]);
    }
    for (bool is_first = true; has_more || is_first; is_first = false) {
        wr_buf_text(out, indent);
        has_more = false;
        for (size_t i = 0; i < t->columns; i++) {
            line = (weir_span){"", 0};
            (void)wr_span_line(&rest[i], &line);
            wr_buf_text(out, i ? GAP : "");
            wr_buf_append(out, line);
            size_t cells = wr_cells_of(line);
            if (i + 1 < t->columns)
                pad(out, widths[i] > cells ? widths[i] - cells : 0);
            has_more |= rest[i].len > 0;
        }
        wr_buf_byte(out, '\n');
    }
    for (size_t i = 0; i < t->columns; i++)
        wr_buf_release(&lines[i]);
}

/* Too many columns for the width: each row as lines "head: cell". */
static void put_as_list(struct wr_buf *out, const struct md_table *t, const char *indent,
                        const struct wr_md_look *look)
{
    struct wr_buf line;

    for (size_t i = t->columns; i < t->count; i++) {
        wr_buf_init(&line, WR_AGENT_ANSWER_BYTES_MAX);
        wr_buf_append(&line, cell_at(t, i % t->columns));
        wr_buf_text(&line, ": ");
        wr_buf_append(&line, cell_at(t, i));
        if (i > t->columns && i % t->columns == 0)
            wr_buf_byte(out, '\n');
        wr_buf_text(out, indent);
        md_wrap(out, wr_buf_view(&line), WR_LIT("  "), 0, look->columns);
        wr_buf_byte(out, '\n');
        wr_buf_release(&line);
    }
}

static void md_table_put(struct wr_buf *out, const struct md_table *t, const char *indent,
                         const struct wr_md_look *look)
{
    size_t widths[TABLE_COLUMNS_MAX];

    if (!t->columns || t->count < t->columns)
        return;
    if (t->columns > TABLE_COLUMNS_MAX || !fit_widths(t, widths, look->columns)) {
        put_as_list(out, t, indent, look);
        return;
    }
    for (size_t first = 0; first + t->columns <= t->count; first += t->columns) {
        wr_buf_text(out, !first && look->has_colours ? BOLD : "");
        put_row(out, t, first, widths, indent);
        wr_buf_text(out, !first && look->has_colours ? NORMAL : "");
        if (first)
            continue;
        wr_buf_text(out, indent);
        for (size_t i = 0; i < t->columns; i++) {
            wr_buf_text(out, i ? RULE : "");
            for (size_t n = 0; n < widths[i]; n++)
                wr_buf_text(out, "─");
        }
        wr_buf_byte(out, '\n');
    }
}

/* ---- markdown ---- */

enum { DEPTH_MAX = 24, MARK_BYTES = 16, RULE_CELLS = 40, CELLS_FIRST = 64 };

#define ITALIC    "\x1b[3m"
#define UNDERLINE "\x1b[4m"
#define CYAN      "\x1b[36m"
#define DIM       "\x1b[2m"

/* What stands around a block: a quote, or an item of a list with its mark. */
struct around {
    enum { AROUND_QUOTE, AROUND_LIST, AROUND_ITEM } kind;
    char mark[MARK_BYTES];
    size_t mark_cells;
    bool is_used, is_tight, is_numbered;
    unsigned number;
};

struct page {
    struct wr_buf *out;
    const struct wr_md_look *look;
    struct wr_buf text; /* of the block that is open */
    struct around around[DEPTH_MAX];
    size_t depth, depth_over;
    bool has_blocks, is_tight_next;
    bool is_code, is_table;
    unsigned level; /* of a heading */
    char language[16];
    unsigned styles[4]; /* how many bold, italic, code, link spans are open */
    struct wr_buf link;
    size_t link_begin;
    struct md_table table;
};

enum { BOLD_ON, ITALIC_ON, CODE_ON, STRUCK_ON };

static const char *code_of(const struct page *p, const char *code)
{
    return p->look->has_colours ? code : "";
}

/* ---- what stands in front of a line ---- */

static size_t put_prefix(struct page *p, struct wr_buf *out, bool uses_marks)
{
    size_t cells = 0;

    for (size_t i = 0; i < p->depth; i++) {
        struct around *a = &p->around[i];
        if (a->kind == AROUND_LIST)
            continue;
        if (a->kind == AROUND_QUOTE || (!a->is_used && uses_marks)) {
            wr_buf_text(out, a->kind == AROUND_QUOTE ? "│ " : a->mark);
            a->is_used |= uses_marks;
        } else {
            for (size_t n = 0; n < a->mark_cells; n++)
                wr_buf_byte(out, ' ');
        }
        cells += a->mark_cells;
    }
    return cells;
}

static bool is_in_tight_list(const struct page *p)
{
    for (size_t i = p->depth; i > 0; i--)
        if (p->around[i - 1].kind == AROUND_LIST)
            return p->around[i - 1].is_tight;
    return false;
}

/* An empty line between two blocks, but for those of a tight list. */
static void part_blocks(struct page *p)
{
    if (p->has_blocks && !(is_in_tight_list(p) && p->is_tight_next))
        wr_buf_byte(p->out, '\n');
    p->has_blocks = true;
    p->is_tight_next = is_in_tight_list(p);
}

static void put_wrapped(struct page *p)
{
    weir_span text = wr_span_trim(wr_buf_view(&p->text));
    struct wr_buf indent;

    if (!text.len)
        return;
    part_blocks(p);
    size_t used = put_prefix(p, p->out, true);
    wr_buf_init(&indent, 4096);
    (void)put_prefix(p, &indent, false);
    md_wrap(p->out, text, wr_buf_view(&indent), used, p->look->columns);
    wr_buf_printf(p->out, "%s\n", code_of(p, NORMAL));
    wr_buf_release(&indent);
    wr_buf_reset(&p->text);
}

void wr_md_code_line(struct wr_buf *out, weir_span line, weir_span language,
                     const struct wr_md_look *look)
{
    weir_span trimmed = wr_span_trim(line);
    bool is_diff = wr_span_is(language, "diff") || wr_span_is(language, "patch");
    bool is_comment =
        wr_span_starts(trimmed, WR_LIT("//")) || wr_span_starts(trimmed, WR_LIT("# ")) ||
        wr_span_starts(trimmed, WR_LIT("/*")) || wr_span_starts(trimmed, WR_LIT("-- "));
    const char *code = is_diff && line.len && line.ptr[0] == '+'   ? "\x1b[32m"
                       : is_diff && line.len && line.ptr[0] == '-' ? "\x1b[31m"
                       : is_comment                                ? DIM
                                                                   : CYAN;

    wr_buf_printf(out, "  %s", look->has_colours ? code : "");
    wr_cells_plain(out, line);
    wr_buf_printf(out, "%s\n", look->has_colours ? NORMAL : "");
}

static void put_code(struct page *p)
{
    weir_span rest = wr_buf_view(&p->text), line;

    part_blocks(p);
    while (wr_span_line(&rest, &line)) {
        (void)put_prefix(p, p->out, true);
        wr_md_code_line(p->out, line, wr_span_of(p->language), p->look);
    }
    wr_buf_reset(&p->text);
}

static void put_rule(struct page *p)
{
    part_blocks(p);
    size_t used = put_prefix(p, p->out, true);
    for (size_t i = 0; i < RULE_CELLS && used + i + 1 < p->look->columns; i++)
        wr_buf_text(p->out, "─");
    wr_buf_byte(p->out, '\n');
}

static void put_table(struct page *p)
{
    struct wr_md_look narrow = *p->look;
    struct wr_buf indent;

    part_blocks(p);
    wr_buf_init(&indent, 4096);
    size_t used = put_prefix(p, &indent, false);
    narrow.columns = narrow.columns > used + 4 ? narrow.columns - used : 4;
    wr_buf_byte(&indent, 0);
    md_table_put(p->out, &p->table, wr_buf_status(&indent) ? "" : indent.bytes, &narrow);
    wr_buf_release(&indent);
}

/* ---- md4c's events ---- */

static void enter_around(struct page *p, struct around around)
{
    if (p->depth == DEPTH_MAX)
        p->depth_over++; /* deeper ones are shown where they are */
    else
        p->around[p->depth++] = around;
}

static void leave_around(struct page *p)
{
    if (p->depth_over)
        p->depth_over--;
    else if (p->depth)
        p->depth--;
}

static struct around item_of(struct page *p, const MD_BLOCK_LI_DETAIL *detail)
{
    struct around item = {.kind = AROUND_ITEM};
    struct around *list = p->depth ? &p->around[p->depth - 1] : NULL;

    if (detail->is_task)
        (void)snprintf(item.mark, sizeof(item.mark), "%s ", detail->task_mark == ' ' ? "☐" : "☑");
    else if (list && list->is_numbered)
        (void)snprintf(item.mark, sizeof(item.mark), "%u. ", list->number++);
    else
        (void)snprintf(item.mark, sizeof(item.mark), "• ");
    item.mark_cells = wr_cells_of(wr_span_of(item.mark));
    return item;
}

static void note_language(struct page *p, const MD_BLOCK_CODE_DETAIL *detail)
{
    size_t bytes = detail->lang.text ? detail->lang.size : 0;
    (void)snprintf(p->language, sizeof(p->language), "%.*s",
                   (int)(bytes < sizeof(p->language) ? bytes : sizeof(p->language) - 1),
                   bytes ? detail->lang.text : "");
}

static void begin_table(struct page *p, const MD_BLOCK_TABLE_DETAIL *detail)
{
    p->table.columns = detail->col_count;
    p->table.count = 0;
    wr_buf_reset(&p->table.text);
    p->is_table = true;
}

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct page *p = user;

    /* Words of an item of a tight list have no block of their own: a list in it ends them. */
    if (type != MD_BLOCK_TD && type != MD_BLOCK_TH)
        put_wrapped(p);
    switch (type) {
    case MD_BLOCK_QUOTE:
        enter_around(p, (struct around){.kind = AROUND_QUOTE, .mark_cells = 2});
        break;
    case MD_BLOCK_UL:
        enter_around(p, (struct around){.kind = AROUND_LIST,
                                        .is_tight = ((MD_BLOCK_UL_DETAIL *)detail)->is_tight});
        break;
    case MD_BLOCK_OL:
        enter_around(p, (struct around){.kind = AROUND_LIST,
                                        .is_numbered = true,
                                        .number = ((MD_BLOCK_OL_DETAIL *)detail)->start,
                                        .is_tight = ((MD_BLOCK_OL_DETAIL *)detail)->is_tight});
        break;
    case MD_BLOCK_LI:
        enter_around(p, item_of(p, detail));
        break;
    case MD_BLOCK_H:
        p->level = ((MD_BLOCK_H_DETAIL *)detail)->level;
        if (p->look->has_colours)
            wr_buf_text(&p->text, p->level == 1 ? BOLD UNDERLINE : BOLD);
        for (unsigned i = 0; i < p->level && !p->look->has_colours; i++)
            wr_buf_text(&p->text, i + 1 == p->level ? "# " : "#");
        break;
    case MD_BLOCK_CODE:
        p->is_code = true;
        note_language(p, detail);
        break;
    case MD_BLOCK_TABLE:
        begin_table(p, detail);
        break;
    default:
        break;
    }
    return 0;
}

static void end_cell(struct page *p)
{
    struct md_table *t = &p->table;

    if (!WR_HEAP_ROOM(t->ends, t->count, t->cap, CELLS_FIRST))
        return;
    wr_buf_append(&t->text, wr_span_trim(wr_buf_view(&p->text)));
    t->ends[t->count++] = t->text.len;
    wr_buf_reset(&p->text);
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct page *p = user;

    (void)detail;
    switch (type) {
    case MD_BLOCK_CODE:
        put_code(p);
        p->is_code = false;
        break;
    case MD_BLOCK_HR:
        put_rule(p);
        break;
    case MD_BLOCK_TD:
    case MD_BLOCK_TH:
        end_cell(p);
        break;
    case MD_BLOCK_TABLE:
        p->is_table = false;
        put_table(p);
        break;
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
    case MD_BLOCK_LI:
        put_wrapped(p);
        leave_around(p);
        break;
    case MD_BLOCK_P:
    case MD_BLOCK_H:
    case MD_BLOCK_HTML:
        put_wrapped(p);
        break;
    default:
        break;
    }
    return 0;
}

/* Colours cannot be ended one by one: those that are still open are set again. */
static void put_styles(struct page *p)
{
    if (!p->look->has_colours || p->is_table)
        return;
    wr_buf_text(&p->text, NORMAL);
    wr_buf_text(&p->text, p->styles[BOLD_ON] ? BOLD : "");
    wr_buf_text(&p->text, p->styles[ITALIC_ON] ? ITALIC : "");
    wr_buf_text(&p->text, p->styles[CODE_ON] ? CYAN : "");
    wr_buf_text(&p->text, p->styles[STRUCK_ON] ? "\x1b[9m" : "");
}

static void put_mark(struct page *p, const char *mark)
{
    if (!p->look->has_colours && !p->is_table)
        wr_buf_text(&p->text, mark);
}

static const struct {
    MD_SPANTYPE type;
    unsigned style;
    const char *mark;
} spans[] = {
    {MD_SPAN_STRONG, BOLD_ON, "**"},
    {MD_SPAN_EM, ITALIC_ON, "*"},
    {MD_SPAN_CODE, CODE_ON, "`"},
    {MD_SPAN_DEL, STRUCK_ON, "~~"},
};

static void keep_address(struct page *p, const MD_ATTRIBUTE *address)
{
    wr_buf_reset(&p->link);
    wr_cells_plain(&p->link, (weir_span){address->text ? address->text : "", address->size});
    p->link_begin = p->text.len;
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct page *p = user;

    for (size_t i = 0; i < WR_COUNT_OF(spans); i++)
        if (spans[i].type == type) {
            p->styles[spans[i].style]++;
            put_styles(p);
            put_mark(p, spans[i].mark);
        }
    if (type == MD_SPAN_IMG)
        wr_buf_text(&p->text, "image: ");
    if (type == MD_SPAN_A)
        keep_address(p, &((MD_SPAN_A_DETAIL *)detail)->href);
    else if (type == MD_SPAN_IMG)
        keep_address(p, &((MD_SPAN_IMG_DETAIL *)detail)->src);
    return 0;
}

/* The address is always seen: what a link says may be another one. */
static void end_link(struct page *p)
{
    weir_span said = wr_span_from(wr_buf_view(&p->text), p->link_begin);

    if (p->link.len && !wr_span_eq(said, wr_buf_view(&p->link)))
        wr_buf_printf(&p->text, " (%.*s)", (int)p->link.len, p->link.bytes);
    wr_buf_reset(&p->link);
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct page *p = user;

    (void)detail;
    for (size_t i = 0; i < WR_COUNT_OF(spans); i++)
        if (spans[i].type == type) {
            put_mark(p, spans[i].mark);
            p->styles[spans[i].style] -= p->styles[spans[i].style] > 0;
            put_styles(p);
        }
    if (type == MD_SPAN_A || type == MD_SPAN_IMG)
        end_link(p);
    return 0;
}

static void put_entity(struct page *p, weir_span entity)
{
    static const struct {
        const char *name, *text;
    } names[] = {{"&amp;", "&"},  {"&lt;", "<"},    {"&gt;", ">"},     {"&quot;", "\""},
                 {"&apos;", "'"}, {"&nbsp;", " "},  {"&hellip;", "…"}, {"&mdash;", "—"},
                 {"&rarr;", "→"}, {"&ndash;", "–"}, {"&times;", "×"}};
    char bytes[4];

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(entity, names[i].name)) {
            wr_buf_text(&p->text, names[i].text);
            return;
        }
    unsigned long code = 0;
    if (wr_span_starts(entity, WR_LIT("&#")) && entity.len < 12)
        code = entity.ptr[2] == 'x' || entity.ptr[2] == 'X' ? strtoul(entity.ptr + 3, NULL, 16)
                                                            : strtoul(entity.ptr + 2, NULL, 10);
    if (code && code <= 0x10FFFF)
        wr_cells_plain(&p->text, (weir_span){bytes, wr_utf8_encode((uint32_t)code, bytes)});
    else
        wr_cells_plain(&p->text, entity);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    struct page *p = user;
    weir_span span = {text, size};

    if (p->is_code)
        wr_buf_append(&p->text, span); /* made harmless line by line */
    else if (type == MD_TEXT_BR)
        wr_buf_byte(&p->text, p->is_table ? ' ' : '\n');
    else if (type == MD_TEXT_SOFTBR)
        wr_buf_byte(&p->text, ' ');
    else if (type == MD_TEXT_ENTITY)
        put_entity(p, span);
    else
        wr_cells_plain(&p->text, span);
    return 0;
}

void wr_markdown(struct wr_buf *out, weir_span source, const struct wr_md_look *look)
{
    MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                                 MD_FLAG_NOHTML | MD_FLAG_PERMISSIVEURLAUTOLINKS,
                        .enter_block = on_enter_block,
                        .leave_block = on_leave_block,
                        .enter_span = on_enter_span,
                        .leave_span = on_leave_span,
                        .text = on_text};
    struct page page = {.out = out, .look = look};
    size_t begin = out->len;
    struct wr_buf copy; /* md4c 0.4 looks for the NUL of a string */

    wr_buf_init(&copy, WR_AGENT_ANSWER_BYTES_MAX + 1);
    wr_buf_append(&copy, source);
    wr_buf_byte(&copy, 0);

    wr_buf_init(&page.text, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&page.link, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&page.table.text, WR_AGENT_ANSWER_BYTES_MAX);
    if (wr_buf_status(&copy) || md_parse(copy.bytes, (MD_SIZE)source.len, &parser, &page)) {
        out->len = begin; /* it is shown as it is */
        wr_cells_plain(out, source);
        wr_buf_byte(out, '\n');
    }
    free(page.table.ends);
    wr_buf_release(&copy);
    wr_buf_release(&page.table.text);
    wr_buf_release(&page.link);
    wr_buf_release(&page.text);
}
