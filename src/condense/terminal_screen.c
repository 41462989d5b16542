/* The screen: rows that can still change, and the output that they are written to once they cannot.
 * A row stays plain bytes until something is written over it, because most rows are never touched
 * again.
 */
#include "condense/terminal_screen.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum {
    VISIBLE_ROWS = 24, /* of a terminal that says nothing of its size */
    HOME_ROWS_MAX = 200,
    CELLS_MIN = 128,
    WORK_PER_BYTE = 16,
};

/* Bytes that are no UTF-8 are cells, too. */
#define BYTE_CELL UINT32_C(0x80000000)

weir_status wr_terminal_screen_init(struct wr_terminal_screen *screen, struct wr_arena *arena,
                                    size_t out_max)
{
    *screen = (struct wr_terminal_screen){
        .arena = arena,
        .rows = WR_ARENA_ARRAY(arena, struct wr_terminal_row, WR_TERMINAL_ROWS_MAX),
        .end = 1,
        .out = wr_arena_alloc(arena, out_max),
        .out_max = out_max,
        .work_left = out_max * WORK_PER_BYTE,
    };
    return screen->rows && screen->out ? WEIR_OK : wr_arena_status(arena);
}

static struct wr_terminal_row *row_at(const struct wr_terminal_screen *screen, uint32_t row)
{
    return &screen->rows[row % WR_TERMINAL_ROWS_MAX];
}

static void empty(struct wr_terminal_row *row)
{
    row->bytes = (weir_span){"", 0};
    row->count = 0;
    row->in_cells = false;
}

/* -- rows that are final ----------------------------------------------------------------------- */

static void write(struct wr_terminal_screen *screen, weir_span bytes)
{
    if (screen->out_max - screen->out_len < bytes.len) {
        screen->is_over = true;
        return;
    }
    if (bytes.len)
        memcpy(screen->out + screen->out_len, bytes.ptr, bytes.len);
    screen->out_len += bytes.len;
}

static uint32_t count_without_blanks(const struct wr_terminal_row *row)
{
    uint32_t count = row->count;
    while (count && row->cells[count - 1] == ' ')
        count--;
    return count;
}

static void write_row(struct wr_terminal_screen *screen, const struct wr_terminal_row *row)
{
    if (!row->in_cells) {
        write(screen, row->bytes);
        return;
    }
    uint32_t count = count_without_blanks(row);
    for (uint32_t i = 0; i < count && !screen->is_over; i++) {
        char bytes[4] = {(char)(row->cells[i] & 0xFF)};
        size_t len = row->cells[i] >= 0x80 && row->cells[i] < BYTE_CELL
                         ? wr_utf8_encode(row->cells[i], bytes)
                         : 1;
        write(screen, (weir_span){bytes, len});
    }
}

static void add_row(struct wr_terminal_screen *screen)
{
    if (screen->end - screen->first == WR_TERMINAL_ROWS_MAX) {
        write_row(screen, row_at(screen, screen->first++));
        write(screen, WR_LIT("\n"));
    }
    empty(row_at(screen, screen->end++));
}

static bool is_blank(const struct wr_terminal_row *row)
{
    return row->in_cells ? !count_without_blanks(row) : !row->bytes.len;
}

void wr_terminal_screen_finish(struct wr_terminal_screen *screen)
{
    /* Rows below the cursor that were erased are no part of the text. */
    while (screen->end > screen->row + 1 && screen->end <= screen->erased_end &&
           is_blank(row_at(screen, screen->end - 1)))
        screen->end--;
    for (uint32_t row = screen->first; row < screen->end; row++) {
        if (row > screen->first)
            write(screen, WR_LIT("\n"));
        write_row(screen, row_at(screen, row));
    }
}

/* -- cells ------------------------------------------------------------------------------------- */

static bool reserve(struct wr_terminal_screen *screen, struct wr_terminal_row *row, uint32_t count)
{
    if (WR_ARENA_ROOM(screen->arena, row->cells, count, row->count_max, CELLS_MIN))
        return true;
    screen->status = wr_arena_status(screen->arena);
    return false;
}

static bool spend(struct wr_terminal_screen *screen, size_t work)
{
    if (work > screen->work_left)
        screen->is_over = true;
    screen->work_left -= screen->is_over ? 0 : work;
    return !screen->is_over;
}

/* Fills up to `column`, so that a cell can stand there. */
static bool pad(struct wr_terminal_screen *screen, struct wr_terminal_row *row, uint32_t column)
{
    if (column <= row->count)
        return true;
    if (!spend(screen, column - row->count) || !reserve(screen, row, column))
        return false;
    while (row->count < column)
        row->cells[row->count++] = ' ';
    return true;
}

static bool put(struct wr_terminal_screen *screen, struct wr_terminal_row *row, uint32_t column,
                uint32_t cell)
{
    if (!pad(screen, row, column) || !reserve(screen, row, column + 1))
        return false;
    row->cells[column] = cell;
    if (column == row->count)
        row->count++;
    return true;
}

/* Prints from `column` on; returns the column behind. */
static uint32_t put_bytes(struct wr_terminal_screen *screen, struct wr_terminal_row *row,
                          uint32_t column, weir_span bytes)
{
    for (size_t i = 0; i < bytes.len;) {
        uint32_t cell = (unsigned char)bytes.ptr[i];
        size_t len = 1;
        if (cell == '\t') { /* goes over what is there */
            column = (column / 8 + 1) * 8;
            i++;
            continue;
        }
        if (cell >= 0x80) {
            len = wr_utf8_decode(wr_span_from(bytes, i), false, &cell);
            if (!len) {
                cell = BYTE_CELL | (unsigned char)bytes.ptr[i];
                len = 1;
            }
        }
        if (!put(screen, row, column, cell))
            break;
        column++;
        i += len;
    }
    return column;
}

static void to_cells(struct wr_terminal_screen *screen, struct wr_terminal_row *row)
{
    weir_span bytes = row->bytes;
    if (row->in_cells)
        return;
    if (bytes.len && bytes.ptr[bytes.len - 1] == '\r')
        bytes.len--;
    empty(row);
    row->in_cells = true;
    (void)put_bytes(screen, row, 0, bytes);
}

static struct wr_terminal_row *cursor_row(struct wr_terminal_screen *screen)
{
    while (screen->row >= screen->end)
        add_row(screen);
    return row_at(screen, screen->row);
}

/* -- what terminal.c asks for ------------------------------------------------------------------ */

bool wr_terminal_screen_is_fresh(const struct wr_terminal_screen *screen)
{
    const struct wr_terminal_row *row = row_at(screen, screen->row);
    return screen->row + 1 == screen->end && !screen->column && !row->in_cells && !row->bytes.len;
}

void wr_terminal_screen_set(struct wr_terminal_screen *screen, weir_span bytes)
{
    row_at(screen, screen->row)->bytes = bytes;
}

void wr_terminal_screen_print(struct wr_terminal_screen *screen, weir_span bytes)
{
    if (!bytes.len)
        return;
    struct wr_terminal_row *row = cursor_row(screen);
    to_cells(screen, row);
    screen->column = put_bytes(screen, row, screen->column, bytes);
}

void wr_terminal_screen_newline(struct wr_terminal_screen *screen)
{
    (void)cursor_row(screen);
    screen->row++;
    screen->column = 0;
    (void)cursor_row(screen);
}

static uint32_t within(int64_t value, uint32_t least, uint32_t most)
{
    return value < (int64_t)least ? least : value > (int64_t)most ? most : (uint32_t)value;
}

static uint32_t lowest_row(const struct wr_terminal_screen *screen)
{
    uint32_t visible = screen->home + VISIBLE_ROWS - 1;
    return screen->end - 1 > visible ? screen->end - 1 : visible;
}

void wr_terminal_screen_go(struct wr_terminal_screen *screen, uint32_t row, uint32_t column)
{
    screen->lines_moved |= row != screen->row;
    screen->row = row < screen->first ? screen->first : row;
    screen->column = column;
}

void wr_terminal_screen_move(struct wr_terminal_screen *screen, int64_t rows, int64_t columns)
{
    uint32_t row = screen->row, column = screen->column;
    if (rows)
        row = within((int64_t)row + rows, screen->first, lowest_row(screen));
    /* A long line may reach further than the cursor may be sent. */
    uint32_t most = column > WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX;
    wr_terminal_screen_go(screen, row, within((int64_t)column + columns, 0, most));
}

/* The height of the terminal is not known. What is drawn again and again from the top of the screen
 * has the same top each time, unless more was printed in between than any screen has rows. */
uint32_t wr_terminal_screen_home(struct wr_terminal_screen *screen)
{
    bool scrolled = screen->end - screen->home > HOME_ROWS_MAX;
    if (!screen->has_home || scrolled)
        screen->home = screen->end > VISIBLE_ROWS ? screen->end - VISIBLE_ROWS : 0;
    screen->has_home = true;
    return screen->home;
}

void wr_terminal_screen_erase_row(struct wr_terminal_screen *screen, uint32_t part)
{
    struct wr_terminal_row *row = cursor_row(screen);
    if (part == 2 || (part == 0 && !screen->column)) {
        empty(row);
        row->in_cells = true;
        return;
    }
    to_cells(screen, row);
    if (part == 0 && screen->column < row->count)
        row->count = screen->column;
    if (part != 1)
        return;
    uint32_t end = screen->column + 1 < row->count ? screen->column + 1 : row->count;
    if (!spend(screen, end))
        return;
    for (uint32_t i = 0; i < end; i++)
        row->cells[i] = ' ';
}

static void erase_rows(struct wr_terminal_screen *screen, uint32_t from, uint32_t end)
{
    for (uint32_t row = from < screen->first ? screen->first : from; row < end; row++) {
        empty(row_at(screen, row));
        screen->lines_moved = true;
    }
}

void wr_terminal_screen_erase(struct wr_terminal_screen *screen, uint32_t part)
{
    (void)cursor_row(screen);
    if (part == 0 || part == 1)
        wr_terminal_screen_erase_row(screen, part);
    if (part == 1)
        erase_rows(screen, wr_terminal_screen_home(screen), screen->row);
    if (part == 2) {
        erase_rows(screen, wr_terminal_screen_home(screen), screen->end);
        screen->erased_end = screen->row + 1;
    }
    if (part == 1 || screen->end == screen->row + 1)
        return;
    screen->end = screen->row + 1;
    screen->lines_moved = true;
}
