/* What a terminal shows in the end. Escapes are read here and obeyed on a screen
 * (terminal_screen.c). A line in which nothing moves the cursor, nearly every line, never reaches
 * the screen: its bytes are copied without escapes.
 */
#include "condense/terminal.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/terminal_screen.h"
#include "condense/volatile.h"

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
    struct wr_terminal_screen screen;
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

static void go_to_place(struct wr_terminal_screen *screen, uint32_t row, uint32_t column)
{
    uint32_t rows_max = WR_TERMINAL_ROWS_MAX / 4;
    uint32_t home = wr_terminal_screen_home(screen);
    wr_terminal_screen_go(screen, home + (row < rows_max ? row : rows_max) - 1,
                          (column < WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX) -
                              1);
}

static void go_to_column(struct wr_terminal_screen *screen, uint32_t column)
{
    screen->column = (column < WR_TERMINAL_COLUMNS_MAX ? column : WR_TERMINAL_COLUMNS_MAX) - 1;
}

static void restore(struct reader *reader)
{
    struct wr_terminal_screen *screen = &reader->screen;
    uint32_t row = reader->saved_row < screen->end ? reader->saved_row : screen->end - 1;
    wr_terminal_screen_go(screen, row, reader->saved_column);
}

static void save(struct reader *reader)
{
    reader->saved_row = reader->screen.row;
    reader->saved_column = reader->screen.column;
}

static void obey_control(struct reader *reader, const struct control *control)
{
    struct wr_terminal_screen *screen = &reader->screen;
    uint32_t count = count_of(control, 0);
    switch (control->final) {
    case 'A':
        wr_terminal_screen_move(screen, -(int64_t)count, 0);
        break;
    case 'B':
        wr_terminal_screen_move(screen, count, 0);
        break;
    case 'C':
        wr_terminal_screen_move(screen, 0, count);
        break;
    case 'D':
        wr_terminal_screen_move(screen, 0, -(int64_t)count);
        break;
    case 'E':
        screen->column = 0;
        wr_terminal_screen_move(screen, count, 0);
        break;
    case 'F':
        screen->column = 0;
        wr_terminal_screen_move(screen, -(int64_t)count, 0);
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
        wr_terminal_screen_erase(screen, control->numbers[0]);
        break;
    case 'K':
        wr_terminal_screen_erase_row(screen, control->numbers[0]);
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
    struct wr_terminal_screen *screen = &reader->screen;
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
        wr_terminal_screen_move(screen, -1, 0);
        break;
    case 'D':
    case 'E': {
        uint32_t column = sequence.ptr[1] == 'D' ? screen->column : 0;
        wr_terminal_screen_newline(screen);
        screen->column = column;
        screen->lines_moved = true;
        break;
    }
    case 'c':
        wr_terminal_screen_erase(screen, 2);
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
    struct wr_terminal_screen *screen = &reader->screen;
    size_t from = 0;
    for (size_t i = 0; i < line.len;) {
        char c = line.ptr[i];
        if (c != ESCAPE && c != '\r' && c != '\b' && c != BELL) {
            i++;
            continue;
        }
        wr_terminal_screen_print(screen, wr_span_cut(line, from, i));
        size_t end = c == ESCAPE ? wr_volatile_escape_end(line, i) : i + 1;
        if (c == ESCAPE)
            obey_escape(reader, wr_span_cut(line, i, end));
        else if (c == '\r')
            screen->column = 0;
        else if (c == '\b')
            screen->column -= screen->column > 0;
        from = i = end;
    }
    wr_terminal_screen_print(screen, wr_span_from(line, from));
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
    struct wr_terminal_screen *screen = &reader->screen;
    size_t plain_len = 0;
    for (size_t at = 0; at < text.len && !screen->is_over && !screen->status;) {
        size_t end = find_byte(text, at, '\n');
        weir_span line = wr_span_cut(text, at, end);
        if (wr_terminal_screen_is_fresh(screen) && is_still(line)) {
            weir_span row = without_escapes(line, plain, &plain_len);
            wr_terminal_screen_set(screen, row);
        } else {
            read_line(reader, line);
        }
        if (end < text.len)
            wr_terminal_screen_newline(screen);
        at = end + 1;
    }
    wr_terminal_screen_finish(screen);
}

weir_status wr_terminal_render(struct wr_terminal_text *out, struct wr_arena *arena, weir_span text)
{
    struct reader reader = {.saved_row = 0};
    struct wr_terminal_screen *screen = &reader.screen;

    *out = (struct wr_terminal_text){.text = text, .is_same = true};
    if (text.len > WR_TERMINAL_TEXT_BYTES_MAX || !needs_terminal(text))
        return WEIR_OK;
    char *plain = wr_arena_alloc(arena, text.len);
    weir_status status = wr_terminal_screen_init(screen, arena, text.len);
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
