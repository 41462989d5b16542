/* Drawing the last lines of a terminal.
 *
 * The cursor is somewhere within the lines that were drawn; from there it goes up to the first of
 * them, everything below is erased, what is to stay is printed, and the lines are drawn behind it.
 * All of it is one write, so that nothing flickers. Nothing here knows where on the screen that is:
 * positions are relative, and the terminal scrolls by itself. That is what keeps its scrollback
 * whole, and why no alternate screen is used.
 */
#include "agent/dock.h"

#include <stdint.h>

#include "agent/cells.h"
#include "base/limits.h"
#include "base/span.h"

#define HIDE_CURSOR "\x1b[?25l"
#define SHOW_CURSOR "\x1b[?25h"
#define ERASE_BELOW "\x1b[J"
#define NORMAL      "\x1b[0m"

void wr_dock_init(struct wr_dock *d, FILE *out)
{
    *d = (struct wr_dock){.out = out, .columns = 80, .rows = 24};
    wr_buf_init(&d->next.text, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&d->drawn.text, WR_AGENT_FILE_BYTES_MAX);
}

void wr_dock_release(struct wr_dock *d)
{
    wr_buf_release(&d->next.text);
    wr_buf_release(&d->drawn.text);
}

void wr_dock_begin(struct wr_dock *d, size_t columns, size_t rows)
{
    d->columns = columns > 2 ? columns : 80;
    d->rows = rows > 2 ? rows : 24;
    wr_buf_reset(&d->next.text);
    d->next.count = d->next.cursor_line = d->next.cursor_column = 0;
}

size_t wr_dock_room(const struct wr_dock *d)
{
    size_t most = d->rows - 1 < WR_DOCK_LINES_MAX ? d->rows - 1 : WR_DOCK_LINES_MAX;
    return most > d->next.count ? most - d->next.count : 0;
}

/* Bytes of ESC [ ... m at the beginning; 0: there is none. */
static size_t colour_bytes(weir_span text)
{
    size_t at = 2;

    if (!wr_span_starts(text, WR_LIT("\x1b[")))
        return 0;
    while (at < text.len && ((text.ptr[at] >= '0' && text.ptr[at] <= '9') || text.ptr[at] == ';'))
        at++;
    return at < text.len && text.ptr[at] == 'm' ? at + 1 : 0;
}

size_t wr_dock_cut(struct wr_buf *out, weir_span line, size_t cells_max)
{
    size_t all = 0, at = 0, cells = 0;
    bool has_colours = false;

    while (at < line.len) {
        weir_span rest = wr_span_from(line, at);
        size_t bytes = colour_bytes(rest);
        has_colours |= bytes > 0;
        if (!bytes) {
            bytes = wr_cells_char(rest, &cells);
            if (all + cells > cells_max)
                break;
            all += cells;
        }
        wr_buf_append(out, wr_span_cut(rest, 0, bytes));
        at += bytes;
    }
    if (at < line.len && has_colours)
        wr_buf_text(out, NORMAL);
    return all;
}

void wr_dock_line(struct wr_dock *d, weir_span line)
{
    if (!wr_dock_room(d))
        return;
    d->next.cells[d->next.count++] = wr_dock_cut(&d->next.text, line, d->columns - 1);
    wr_buf_byte(&d->next.text, '\n');
}

void wr_dock_cursor(struct wr_dock *d, size_t line, size_t column)
{
    d->next.cursor_line = line;
    d->next.cursor_column = column < d->columns ? column : d->columns - 1;
}

/* How a terminal of this width breaks a drawn line: the row within it where `column` is, counted as
 * it was drawn. Two columns that do not fit the end of a row go to the next. A cursor behind the
 * last character of a row that is full stays in that row: terminals that break lines anew (tmux,
 * VTE) keep it with the text, and erasing a row too few is a smaller fault than one too many. */
static size_t row_of(const struct wr_dock *d, weir_span line, size_t column)
{
    size_t row = 0, in_row = 0, all = 0, cells;

    for (size_t at = 0; at < line.len && all <= column;) {
        weir_span rest = wr_span_from(line, at);
        size_t bytes = colour_bytes(rest);
        if (!bytes) {
            bytes = wr_cells_char(rest, &cells);
            bool is_broken = in_row + cells > d->columns;
            row += is_broken;
            in_row = is_broken ? cells : in_row + cells;
            all += cells;
        }
        at += bytes;
    }
    return row;
}

/* Rows of the screen above the cursor that the drawn lines take. */
static size_t rows_above(const struct wr_dock *d)
{
    weir_span text = wr_buf_view(&d->drawn.text), line = {"", 0};
    size_t rows = 0;

    for (size_t i = 0; i < d->drawn.cursor_line && wr_span_line(&text, &line); i++)
        rows += row_of(d, line, SIZE_MAX) + 1;
    if (d->drawn.count && wr_span_line(&text, &line))
        rows += row_of(d, line, d->drawn.cursor_column);
    return rows;
}

static void go_to_top(const struct wr_dock *d, struct wr_buf *out)
{
    size_t up = rows_above(d);

    if (up)
        wr_buf_printf(out, "\x1b[%zuA", up);
    wr_buf_text(out, "\r" ERASE_BELOW);
}

static bool is_same(const struct wr_dock *d)
{
    return d->next.count == d->drawn.count && d->next.cursor_line == d->drawn.cursor_line &&
           d->next.cursor_column == d->drawn.cursor_column &&
           wr_span_eq(wr_buf_view(&d->next.text), wr_buf_view(&d->drawn.text));
}

static void put_lines(const struct wr_dock *d, struct wr_buf *out)
{
    const struct wr_dock_lines *n = &d->next;
    weir_span text = wr_buf_view(&n->text);

    if (!n->count)
        return;
    wr_buf_append(out, wr_span_cut(text, 0, text.len - 1)); /* no line end behind the last */
    wr_buf_text(out, NORMAL "\r");
    if (n->count - 1 > n->cursor_line)
        wr_buf_printf(out, "\x1b[%zuA", n->count - 1 - n->cursor_line);
    if (n->cursor_column)
        wr_buf_printf(out, "\x1b[%zuC", n->cursor_column);
}

static void write_out(const struct wr_dock *d, struct wr_buf *out)
{
    if (!wr_buf_status(out))
        (void)fwrite(out->bytes, 1, out->len, d->out);
    (void)fflush(d->out);
    wr_buf_release(out);
}

void wr_dock_show(struct wr_dock *d, weir_span above)
{
    struct wr_buf out;

    if (!above.len && is_same(d))
        return;
    wr_buf_init(&out, WR_AGENT_ANSWER_BYTES_MAX + WR_AGENT_FILE_BYTES_MAX);
    wr_buf_text(&out, HIDE_CURSOR);
    if (d->drawn.count)
        go_to_top(d, &out);
    wr_buf_append(&out, above);
    put_lines(d, &out);
    wr_buf_text(&out, SHOW_CURSOR);
    write_out(d, &out);
    struct wr_dock_lines drawn = d->next;
    d->next = d->drawn;
    d->drawn = drawn;
}

void wr_dock_hide(struct wr_dock *d)
{
    struct wr_buf out;

    if (!d->drawn.count)
        return;
    wr_buf_init(&out, 1000);
    go_to_top(d, &out);
    write_out(d, &out);
    wr_dock_forget(d);
}

void wr_dock_forget(struct wr_dock *d)
{
    d->drawn.count = d->drawn.cursor_line = d->drawn.cursor_column = 0;
    wr_buf_reset(&d->drawn.text);
}
