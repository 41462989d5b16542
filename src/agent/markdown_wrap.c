/* Breaking text with colours at words, and fitting tables into a width. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/cells.h"
#include "agent/markdown.h"
#include "base/limits.h"
#include "base/span.h"

enum { COLUMN_MIN = 6, TABLE_COLUMNS_MAX = 64 };

#define RULE   "─┼─"
#define GAP    " │ "
#define BOLD   "\x1b[1m"
#define NORMAL "\x1b[0m"
enum { GAP_CELLS = 3 };

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

void wr_md_wrap(struct wr_buf *out, weir_span text, weir_span indent, size_t used, size_t columns)
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

static weir_span cell_at(const struct wr_md_table *t, size_t number)
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
static bool fit_widths(const struct wr_md_table *t, size_t *widths, size_t columns)
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
static void put_row(struct wr_buf *out, const struct wr_md_table *t, size_t first,
                    const size_t *widths, const char *indent)
{
    struct wr_buf lines[TABLE_COLUMNS_MAX];
    weir_span rest[TABLE_COLUMNS_MAX], line;
    bool has_more = true;

    for (size_t i = 0; i < t->columns; i++) {
        wr_buf_init(&lines[i], WR_AGENT_ANSWER_BYTES_MAX);
        wr_md_wrap(&lines[i], cell_at(t, first + i), (weir_span){"", 0}, 0, widths[i] + 1);
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
static void put_as_list(struct wr_buf *out, const struct wr_md_table *t, const char *indent,
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
        wr_md_wrap(out, wr_buf_view(&line), WR_LIT("  "), 0, look->columns);
        wr_buf_byte(out, '\n');
        wr_buf_release(&line);
    }
}

void wr_md_table_put(struct wr_buf *out, const struct wr_md_table *t, const char *indent,
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
