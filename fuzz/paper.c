#include "paper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cells.h"
#include "base/span.h"

void paper_init(struct paper *p, size_t columns, size_t height)
{
    *p = (struct paper){
        .rows = calloc(PAPER_ROWS, sizeof(*p->rows)), .columns = columns, .height = height};
    if (!p->rows)
        abort();
}

void paper_release(struct paper *p)
{
    free(p->rows);
}

bool paper_has_room(const struct paper *p, size_t rows)
{
    return p->row + rows < PAPER_ROWS;
}

static void go_down(struct paper *p)
{
    p->row++;
    p->column = 0;
    if (p->row >= p->top + p->height)
        p->top = p->row - p->height + 1;
}

/* ---- sequences ---- */

static void erase_row(struct paper_row *row, size_t from)
{
    if (from < row->count) {
        memset(row->cells + from, 0, (row->count - from) * sizeof(*row->cells));
        row->count = from;
    }
    row->goes_on = false;
}

static void erase_below(struct paper *p)
{
    erase_row(&p->rows[p->row], p->column < p->columns ? p->column : p->columns);
    for (size_t row = p->row + 1; row < p->top + p->height && row < PAPER_ROWS; row++)
        erase_row(&p->rows[row], 0);
}

static size_t put_sequence(struct paper *p, weir_span text)
{
    size_t number = 0, at = 2;

    for (; at < text.len && (strchr("0123456789;?", text.ptr[at])); at++)
        if (text.ptr[at] >= '0' && text.ptr[at] <= '9')
            number = number * 10 + (size_t)(text.ptr[at] - '0');
    char letter = at < text.len ? text.ptr[at] : 0;
    if (letter == 'A') {
        p->row -= p->row - p->top < number ? p->row - p->top : number;
    } else if (letter == 'C') {
        p->column = p->column + number < p->columns ? p->column + number : p->columns - 1;
    } else if (letter == 'J') {
        erase_below(p);
    } else if (letter != 'm' && letter != 'h' && letter != 'l') {
        (void)fprintf(stderr, "the dock sent a sequence that ends in %d\n", letter);
        abort();
    }
    return at + 1;
}

/* ---- characters ---- */

static void put_cell(struct paper *p, weir_span character, size_t cells)
{
    if (p->column + cells > p->columns) {
        p->rows[p->row].goes_on = true;
        go_down(p);
    }
    struct paper_row *row = &p->rows[p->row];
    struct paper_cell *cell = &row->cells[p->column];
    memset(cell, 0, sizeof(*cell) * cells);
    memcpy(cell->text, character.ptr, character.len);
    if (cells == 2)
        cell[1].is_tail = true;
    p->column += cells;
    row->count = p->column > row->count ? p->column : row->count;
}

void paper_put(struct paper *p, weir_span bytes)
{
    for (size_t at = 0; at < bytes.len;) {
        weir_span rest = wr_span_from(bytes, at);
        size_t cells;
        if (rest.ptr[0] == '\x1b') {
            at += put_sequence(p, rest);
        } else if (rest.ptr[0] == '\n') {
            go_down(p);
            at++;
        } else if (rest.ptr[0] == '\r') {
            p->column = 0;
            at++;
        } else {
            size_t len = wr_cells_char(rest, &cells);
            if (cells) /* what joins the character before it is not kept */
                put_cell(p, wr_span_cut(rest, 0, len), cells);
            at += len;
        }
    }
}

void paper_read(const struct paper *p, size_t row, size_t begin, size_t end, struct wr_buf *out)
{
    for (size_t i = begin; i < end && i < p->rows[row].count; i++)
        wr_buf_text(out, p->rows[row].cells[i].text);
}

bool paper_row_starts(const struct paper *p, size_t row, weir_span text)
{
    weir_span rest = text;

    for (size_t i = 0; i < p->rows[row].count && rest.len; i++) {
        weir_span cell = wr_span_of(p->rows[row].cells[i].text);
        if (!wr_span_starts(rest, cell))
            return false;
        rest = wr_span_from(rest, cell.len);
    }
    return !rest.len;
}

/* ---- another size ---- */

/* Without those at the end that the cursor went over and did not write. */
static size_t written_cells(const struct paper *p, size_t row)
{
    const struct paper_row *r = &p->rows[row];
    size_t count = r->count;

    while (count && !r->cells[count - 1].text[0] && !r->cells[count - 1].is_tail)
        count--;
    return count;
}

static size_t last_row(const struct paper *p)
{
    size_t last = p->row;

    for (size_t row = p->row; row < PAPER_ROWS && row < p->top + p->height; row++)
        last = written_cells(p, row) ? row : last;
    return last;
}

static void copy_row(struct paper *next, const struct paper *p, size_t row, size_t *cursor_row,
                     size_t *cursor_column)
{
    size_t count = written_cells(p, row);

    for (size_t i = 0; i < count; i++) {
        const struct paper_cell *cell = &p->rows[row].cells[i];
        if (cell->is_tail)
            continue;
        bool is_wide = i + 1 < PAPER_COLUMNS && p->rows[row].cells[i + 1].is_tail;
        weir_span text = cell->text[0] ? wr_span_of(cell->text) : WR_LIT(" ");
        put_cell(next, text, is_wide ? 2 : 1);
        if (row == p->row && i == p->column) {
            *cursor_row = next->row;
            *cursor_column = next->column - (is_wide ? 2 : 1);
        }
    }
    if (row == p->row && p->column >= count) {
        size_t behind = next->column + (p->column - count);
        *cursor_row = next->row;
        *cursor_column = behind < next->columns ? behind : next->columns - 1;
    }
}

void paper_resize(struct paper *p, size_t columns, size_t height)
{
    struct paper next;
    size_t last = last_row(p), cursor_row = 0, cursor_column = 0;

    paper_init(&next, columns, height);
    for (size_t row = 0; row <= last && paper_has_room(&next, 8); row++) {
        copy_row(&next, p, row, &cursor_row, &cursor_column);
        if (!p->rows[row].goes_on && row < last)
            go_down(&next);
    }
    next.row = cursor_row;
    next.column = cursor_column;
    /* The cursor never leaves the screen: where it stands too high, terminals give up the rows
     * below it. */
    if (cursor_row < next.top) {
        next.top = cursor_row;
        for (size_t row = next.top + height; row < PAPER_ROWS; row++)
            erase_row(&next.rows[row], 0);
    }
    paper_release(p);
    *p = next;
}
