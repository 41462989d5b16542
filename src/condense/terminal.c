/* What a terminal shows in the end. Escapes are read here and obeyed on a screen
 * (struct screen). A line in which nothing moves the cursor, nearly every line, never reaches
 * the screen: its bytes are copied without escapes.
 */
#include "condense/terminal.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/volatile.h"

/* ---- the screen ---- */

/* Rows of characters and a cursor.
 *
 * Rows are numbered from the beginning of the text and never renumbered. The newest
 * WR_TERMINAL_ROWS_MAX of them can be changed; older ones are written to the output. A row is the
 * bytes it was given until something is written over it; from then on it is cells, one a character.
 * Rows that can still change are in the ring; those that cannot are written to the output. */
enum {
    VISIBLE_ROWS = 24, /* of a terminal that says nothing of its size */
    HOME_ROWS_MAX = 200,
    CELLS_MIN = 128,
    WORK_PER_BYTE = 16,
};

/* Bytes that are no UTF-8 are cells, too. */
#define BYTE_CELL UINT32_C(0x80000000)

struct row {
    weir_span bytes; /* while it is not in cells */
    uint32_t *cells; /* kept for the next row in the same place */
    uint32_t count, count_max;
    bool in_cells;
};

struct screen {
    struct wr_arena *arena; /* borrowed */
    struct row *rows;       /* a ring: row n is at n % WR_TERMINAL_ROWS_MAX */
    uint32_t first, end;    /* the rows that can be changed */
    uint32_t row, column;   /* the cursor; it may stand behind the last row */
    uint32_t home;          /* the row that is at the top of the visible screen */
    uint32_t erased_end;    /* behind the last row that stayed when all were erased */
    bool has_home, lines_moved;
    char *out; /* rows that are final */
    size_t out_len, out_max;
    size_t work_left;   /* cells that may still be filled with blanks */
    bool is_over;       /* out_max or the work was not enough: nothing is to be believed */
    weir_status status; /* first failure */
};

/* The screen writes at most `out_max` bytes. */
static weir_status screen_init(struct screen *screen, struct wr_arena *arena, size_t out_max)
{
    *screen = (struct screen){
        .arena = arena,
        .rows = WR_ARENA_ARRAY(arena, struct row, WR_TERMINAL_ROWS_MAX),
        .end = 1,
        .out = wr_arena_alloc(arena, out_max),
        .out_max = out_max,
        .work_left = out_max * WORK_PER_BYTE,
    };
    return screen->rows && screen->out ? WEIR_OK : wr_arena_status(arena);
}

static struct row *row_at(const struct screen *screen, uint32_t row)
{
    return &screen->rows[row % WR_TERMINAL_ROWS_MAX];
}

static void empty(struct row *row)
{
    row->bytes = (weir_span){"", 0};
    row->count = 0;
    row->in_cells = false;
}

/* -- rows that are final ----------------------------------------------------------------------- */

static void write(struct screen *screen, weir_span bytes)
{
    if (screen->out_max - screen->out_len < bytes.len) {
        screen->is_over = true;
        return;
    }
    if (bytes.len)
        memcpy(screen->out + screen->out_len, bytes.ptr, bytes.len);
    screen->out_len += bytes.len;
}

static uint32_t count_without_blanks(const struct row *row)
{
    uint32_t count = row->count;
    while (count && row->cells[count - 1] == ' ')
        count--;
    return count;
}

static void write_row(struct screen *screen, const struct row *row)
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

static void add_row(struct screen *screen)
{
    if (screen->end - screen->first == WR_TERMINAL_ROWS_MAX) {
        write_row(screen, row_at(screen, screen->first++));
        write(screen, WR_LIT("\n"));
    }
    empty(row_at(screen, screen->end++));
}

static bool is_blank(const struct row *row)
{
    return row->in_cells ? !count_without_blanks(row) : !row->bytes.len;
}

/* Writes the rows that are left. The text is `out`, of `out_len` bytes. */
static void screen_finish(struct screen *screen)
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

static bool reserve(struct screen *screen, struct row *row, uint32_t count)
{
    if (WR_ARENA_ROOM(screen->arena, row->cells, count, row->count_max, CELLS_MIN))
        return true;
    screen->status = wr_arena_status(screen->arena);
    return false;
}

static bool spend(struct screen *screen, size_t work)
{
    if (work > screen->work_left)
        screen->is_over = true;
    screen->work_left -= screen->is_over ? 0 : work;
    return !screen->is_over;
}

/* Fills up to `column`, so that a cell can stand there. */
static bool pad(struct screen *screen, struct row *row, uint32_t column)
{
    if (column <= row->count)
        return true;
    if (!spend(screen, column - row->count) || !reserve(screen, row, column))
        return false;
    while (row->count < column)
        row->cells[row->count++] = ' ';
    return true;
}

static bool put(struct screen *screen, struct row *row, uint32_t column, uint32_t cell)
{
    if (!pad(screen, row, column) || !reserve(screen, row, column + 1))
        return false;
    row->cells[column] = cell;
    if (column == row->count)
        row->count++;
    return true;
}

/* Prints from `column` on; returns the column behind. */
static uint32_t put_bytes(struct screen *screen, struct row *row, uint32_t column, weir_span bytes)
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

static void to_cells(struct screen *screen, struct row *row)
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

static struct row *cursor_row(struct screen *screen)
{
    while (screen->row >= screen->end)
        add_row(screen);
    return row_at(screen, screen->row);
}

/* -- what terminal.c asks for ------------------------------------------------------------------ */

/* At the beginning of an empty last row: what is given with _set can be the whole row. */
static bool screen_is_fresh(const struct screen *screen)
{
    const struct row *row = row_at(screen, screen->row);
    return screen->row + 1 == screen->end && !screen->column && !row->in_cells && !row->bytes.len;
}

/* Makes `bytes`, borrowed as long as the screen, the text of the last row. */
static void screen_set(struct screen *screen, weir_span bytes)
{
    row_at(screen, screen->row)->bytes = bytes;
}

/* Prints `bytes`, which hold no line end and no control byte that moves, at the cursor. */
static void screen_print(struct screen *screen, weir_span bytes)
{
    if (!bytes.len)
        return;
    struct row *row = cursor_row(screen);
    to_cells(screen, row);
    screen->column = put_bytes(screen, row, screen->column, bytes);
}

static void screen_newline(struct screen *screen)
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

static uint32_t lowest_row(const struct screen *screen)
{
    uint32_t visible = screen->home + VISIBLE_ROWS - 1;
    return screen->end - 1 > visible ? screen->end - 1 : visible;
}

static void screen_go(struct screen *screen, uint32_t row, uint32_t column)
{
    screen->lines_moved |= row != screen->row;
    screen->row = row < screen->first ? screen->first : row;
    screen->column = column;
}

/* Moves the cursor; it stays on the screen. */
static void screen_move(struct screen *screen, int64_t rows, int64_t columns)
{
    uint32_t row = screen->row, column = screen->column;
    if (rows)
        row = within((int64_t)row + rows, screen->first, lowest_row(screen));
    /* A long line may reach further than the cursor may be sent. */
    uint32_t most = column > WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX;
    screen_go(screen, row, within((int64_t)column + columns, 0, most));
}

/* The height of the terminal is not known. What is drawn again and again from the top of the screen
 * has the same top each time, unless more was printed in between than any screen has rows. */
static uint32_t screen_home(struct screen *screen)
{
    bool scrolled = screen->end - screen->home > HOME_ROWS_MAX;
    if (!screen->has_home || scrolled)
        screen->home = screen->end > VISIBLE_ROWS ? screen->end - VISIBLE_ROWS : 0;
    screen->has_home = true;
    return screen->home;
}

/* As CSI K and J: 0 behind the cursor, 1 before it, 2 all. */
static void screen_erase_row(struct screen *screen, uint32_t part)
{
    struct row *row = cursor_row(screen);
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

static void erase_rows(struct screen *screen, uint32_t from, uint32_t end)
{
    for (uint32_t row = from < screen->first ? screen->first : from; row < end; row++) {
        empty(row_at(screen, row));
        screen->lines_moved = true;
    }
}

static void screen_erase(struct screen *screen, uint32_t part)
{
    (void)cursor_row(screen);
    if (part == 0 || part == 1)
        screen_erase_row(screen, part);
    if (part == 1)
        erase_rows(screen, screen_home(screen), screen->row);
    if (part == 2) {
        erase_rows(screen, screen_home(screen), screen->end);
        screen->erased_end = screen->row + 1;
    }
    if (part == 1 || screen->end == screen->row + 1)
        return;
    screen->end = screen->row + 1;
    screen->lines_moved = true;
}

/* ---- what is printed ---- */

enum { ESCAPE = 0x1b, BELL = 0x07, NUMBER_MAX = 9999, NUMBERS_MAX = 2 };

static size_t find_byte(weir_span text, size_t from, char byte)
{
    const char *found = from < text.len ? memchr(text.ptr + from, byte, text.len - from) : NULL;
    return found ? (size_t)(found - text.ptr) : text.len;
}

/* A carriage return before a line end, or before the end of the text, moves nothing. */
static bool has_lone_return(weir_span text)
{
    for (size_t i = find_byte(text, 0, '\r'); i < text.len; i = find_byte(text, i + 1, '\r'))
        if (i + 1 < text.len && text.ptr[i + 1] != '\n')
            return true;
    return false;
}

static bool needs_terminal(weir_span text)
{
    return find_byte(text, 0, ESCAPE) < text.len || find_byte(text, 0, '\b') < text.len ||
           has_lone_return(text);
}

/* -- escapes ----------------------------------------------------------------------------------- */

struct reader {
    struct screen screen;
    uint32_t saved_row, saved_column;
};

/* A control sequence: "ESC [ 12 ; 3 H". */
struct control {
    char final;
    uint32_t numbers[NUMBERS_MAX];
    bool given[NUMBERS_MAX];
};

/* False where the sequence is cut off, or a terminal's own ("ESC [ ? 25 l"). */
static bool read_control(weir_span sequence, struct control *control)
{
    size_t at = 2, number = 0;
    *control = (struct control){.final = sequence.ptr[sequence.len - 1]};
    if (sequence.len < 3 || (unsigned char)control->final < 0x40)
        return false;
    for (; at + 1 < sequence.len; at++) {
        char c = sequence.ptr[at];
        if (c == ';') {
            number++;
        } else if (!wr_is_digit(c)) {
            return false;
        } else if (number < NUMBERS_MAX) {
            uint32_t value = control->numbers[number] * 10 + (uint32_t)(c - '0');
            control->numbers[number] = value < NUMBER_MAX ? value : NUMBER_MAX;
            control->given[number] = true;
        }
    }
    return true;
}

/* Places count from 1; none given, and 0, mean 1. */
static uint32_t count_of(const struct control *control, size_t at)
{
    return control->numbers[at] ? control->numbers[at] : 1;
}

static void go_to_place(struct screen *screen, uint32_t row, uint32_t column)
{
    uint32_t rows_max = WR_TERMINAL_ROWS_MAX / 4;
    uint32_t home = screen_home(screen);
    screen_go(screen, home + (row < rows_max ? row : rows_max) - 1,
              (column < WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX) - 1);
}

static void go_to_column(struct screen *screen, uint32_t column)
{
    screen->column = (column < WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX) - 1;
}

static void restore(struct reader *reader)
{
    struct screen *screen = &reader->screen;
    uint32_t row = reader->saved_row < screen->end ? reader->saved_row : screen->end - 1;
    screen_go(screen, row, reader->saved_column);
}

static void save(struct reader *reader)
{
    reader->saved_row = reader->screen.row;
    reader->saved_column = reader->screen.column;
}

static void obey_control(struct reader *reader, const struct control *control)
{
    struct screen *screen = &reader->screen;
    uint32_t count = count_of(control, 0);
    switch (control->final) {
    case 'A':
        screen_move(screen, -(int64_t)count, 0);
        break;
    case 'B':
        screen_move(screen, count, 0);
        break;
    case 'C':
        screen_move(screen, 0, count);
        break;
    case 'D':
        screen_move(screen, 0, -(int64_t)count);
        break;
    case 'E':
        screen->column = 0;
        screen_move(screen, count, 0);
        break;
    case 'F':
        screen->column = 0;
        screen_move(screen, -(int64_t)count, 0);
        break;
    case 'G':
        go_to_column(screen, count);
        break;
    case 'H':
    case 'f':
        go_to_place(screen, count, count_of(control, 1));
        break;
    case 'd':
        go_to_place(screen, count, screen->column + 1);
        break;
    case 'J':
        screen_erase(screen, control->numbers[0]);
        break;
    case 'K':
        screen_erase_row(screen, control->numbers[0]);
        break;
    case 's':
        save(reader);
        break;
    case 'u':
        restore(reader);
        break;
    default:
        break;
    }
}

static void obey_escape(struct reader *reader, weir_span sequence)
{
    struct screen *screen = &reader->screen;
    struct control control;
    if (sequence.len < 2)
        return;
    switch (sequence.ptr[1]) {
    case '[':
        if (read_control(sequence, &control))
            obey_control(reader, &control);
        break;
    case '7':
        save(reader);
        break;
    case '8':
        restore(reader);
        break;
    case 'M':
        screen_move(screen, -1, 0);
        break;
    case 'D':
    case 'E': {
        uint32_t column = sequence.ptr[1] == 'D' ? screen->column : 0;
        screen_newline(screen);
        screen->column = column;
        screen->lines_moved = true;
        break;
    }
    case 'c':
        screen_erase(screen, 2);
        go_to_place(screen, 1, 1);
        break;
    default:
        break;
    }
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool is_moving(weir_span sequence)
{
    if (sequence.len < 2)
        return false;
    return sequence.ptr[1] == '[' ? memchr("ABCDEFGHfdJKsu", sequence.ptr[sequence.len - 1], 14)
                                  : memchr("78MEDc", sequence.ptr[1], 6);
}

/* A line in which nothing moves the cursor is its bytes without escapes. */
static bool is_still(weir_span line)
{
    weir_span body = line;
    if (body.len && body.ptr[body.len - 1] == '\r')
        body.len--;
    if (find_byte(body, 0, '\b') < body.len || find_byte(body, 0, '\r') < body.len)
        return false;
    for (size_t i = find_byte(body, 0, ESCAPE); i < body.len; i = find_byte(body, i, ESCAPE)) {
        size_t end = wr_volatile_escape_end(body, i);
        if (is_moving(wr_span_cut(body, i, end)))
            return false;
        i = end;
    }
    return true;
}

static void read_line(struct reader *reader, weir_span line)
{
    struct screen *screen = &reader->screen;
    size_t from = 0;
    for (size_t i = 0; i < line.len;) {
        char c = line.ptr[i];
        if (c != ESCAPE && c != '\r' && c != '\b' && c != BELL) {
            i++;
            continue;
        }
        screen_print(screen, wr_span_cut(line, from, i));
        size_t end = c == ESCAPE ? wr_volatile_escape_end(line, i) : i + 1;
        if (c == ESCAPE)
            obey_escape(reader, wr_span_cut(line, i, end));
        else if (c == '\r')
            screen->column = 0;
        else if (c == '\b')
            screen->column -= screen->column > 0;
        from = i = end;
    }
    screen_print(screen, wr_span_from(line, from));
}

/* The bytes of a line without its escapes, in `plain`, which has room for the text. */
static weir_span without_escapes(weir_span line, char *plain, size_t *plain_len)
{
    if (find_byte(line, 0, ESCAPE) == line.len)
        return line;
    weir_span stripped = {plain + *plain_len, wr_volatile_strip_escapes(plain + *plain_len, line)};
    *plain_len += stripped.len;
    return stripped;
}

static void read_lines(struct reader *reader, weir_span text, char *plain)
{
    struct screen *screen = &reader->screen;
    size_t plain_len = 0;
    for (size_t at = 0; at < text.len && !screen->is_over && !screen->status;) {
        size_t end = find_byte(text, at, '\n');
        weir_span line = wr_span_cut(text, at, end);
        if (screen_is_fresh(screen) && is_still(line)) {
            weir_span row = without_escapes(line, plain, &plain_len);
            screen_set(screen, row);
        } else {
            read_line(reader, line);
        }
        if (end < text.len)
            screen_newline(screen);
        at = end + 1;
    }
    screen_finish(screen);
}

weir_status wr_terminal_render(struct wr_terminal_text *out, struct wr_arena *arena, weir_span text)
{
    struct reader reader = {.saved_row = 0};
    struct screen *screen = &reader.screen;

    *out = (struct wr_terminal_text){.text = text, .is_same = true};
    if (text.len > WR_TERMINAL_TEXT_BYTES_MAX || !needs_terminal(text))
        return WEIR_OK;
    char *plain = wr_arena_alloc(arena, text.len);
    weir_status status = screen_init(screen, arena, text.len);
    if (status || !plain)
        return wr_arena_status(arena);
    read_lines(&reader, text, plain);
    if (screen->status || screen->is_over)
        return screen->status;
    *out = (struct wr_terminal_text){.text = {screen->out, screen->out_len},
                                     .lines_moved = screen->lines_moved};
    return WEIR_OK;
}

/* -- caps -------------------------------------------------------------------------------------- */

weir_span wr_terminal_tail(weir_span text, size_t bytes_max)
{
    if (text.len <= bytes_max)
        return text;
    size_t from = text.len - bytes_max, line = from;
    if (text.ptr[from - 1] != '\n')
        line = find_byte(text, from, '\n') + 1;
    if (line < text.len)
        return wr_span_from(text, line);
    while (from < text.len && wr_utf8_is_tail(text.ptr[from]))
        from++;
    return wr_span_from(text, from);
}
