/* Markdown to lines of a terminal. md4c (docs/decisions/016-own-terminal.md) finds the blocks and
 * spans; this file keeps, for the block that is open, its text with colours, and writes it when the
 * block ends, broken for the width and behind the marks of the lists and quotes around it.
 */
#include "agent/markdown.h"

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/cells.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { DEPTH_MAX = 24, MARK_BYTES = 16, RULE_CELLS = 40, CELLS_FIRST = 64 };

#define BOLD      "\x1b[1m"
#define ITALIC    "\x1b[3m"
#define UNDERLINE "\x1b[4m"
#define CYAN      "\x1b[36m"
#define DIM       "\x1b[2m"
#define NORMAL    "\x1b[0m"

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
    struct wr_md_table table;
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
    wr_md_wrap(p->out, text, wr_buf_view(&indent), used, p->look->columns);
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
    wr_md_table_put(p->out, &p->table, wr_buf_status(&indent) ? "" : indent.bytes, &narrow);
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
    struct wr_md_table *t = &p->table;

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
