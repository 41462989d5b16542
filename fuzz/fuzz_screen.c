/* Keys, pastes, lines that are printed, questions and other sizes of the terminal, in any order and
 * cut at any byte, against a small terminal (paper.h). Oracles, after every step:
 *   what was printed stands above the dock, all of it, once, in order;
 *   the rows of the line that is typed say what the editor holds, and the cursor is where it is;
 *   the status is the last row, and the terminal broke no line of the dock;
 *   the editor's cursor stands between characters, and its text is what can be sent. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cells.h"
#include "agent/panel.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "paper.h"

enum { TEXT_BYTES_MAX = 1 << 20, TYPED_BYTES_MAX = 2000, INDENT = 2, STEPS_MAX = 400 };

static const char *const pieces[] = {"word ",
                                     "\xE6\xB0\xB4",
                                     "e\xCC\x81",
                                     "\xF0\x9F\x99\x82",
                                     "\xE2\x80\xAE",
                                     "/re",
                                     "@sr",
                                     "x",
                                     "  ",
                                     "\xFF",
                                     "0123456789012345678901234567890123456789"};
static const char *const sequences[] = {"\x1b[A",
                                        "\x1b[B",
                                        "\x1b[C",
                                        "\x1b[D",
                                        "\x1b[H",
                                        "\x1b[F",
                                        "\x1b[3~",
                                        "\x1b[1;5C",
                                        "\x7f",
                                        "\t",
                                        "\x1b[Z",
                                        "\x1b\r",
                                        "\x1b[200~",
                                        "\x1b[201~",
                                        "\x01",
                                        "\x05",
                                        "\x15",
                                        "\x0b",
                                        "\x17",
                                        "\x19",
                                        "\x18",
                                        "\x12",
                                        "\x1b",
                                        "\n",
                                        "\x02",
                                        "\x1b"
                                        "b",
                                        "\x1b"
                                        "d",
                                        "\\\r"};
#define LONG_LINE                                                                               \
    ("a long line that goes on behind the edge of every terminal that is tried here, and then " \
     "some more of it until the end")
static const char *const printed[] = {"one line", "", "\xE6\xB0\xB4\xE6\xB0\xB4 wide", LONG_LINE};

struct bench {
    struct paper paper;
    struct wr_dock dock;
    struct wr_editor editor;
    struct wr_keys keys;
    struct wr_buf log, queued; /* log: all lines that were printed */
    FILE *out;
    char *bytes;
    size_t len;
    size_t settled_rows, settled_bytes; /* of paper and log: read and compared, and fixed since */
    bool is_doing, is_asking, is_torn;  /* torn: the dock was larger than a screen that shrank */
    const char *tail;
};

static void must(bool condition, const char *oracle)
{
    if (condition)
        return;
    (void)fprintf(stderr, "%s\n", oracle);
    abort();
}

static void complete(void *user, weir_span text, size_t cursor, struct wr_choices *choices)
{
    (void)user;
    choices->begin = cursor;
    for (size_t i = 0; i < text.len % 12; i++) {
        wr_choices_add(choices, i % 2 ? WR_LIT("\xE6\xB0\xB4.c") : WR_LIT("file.c"));
        if (text.len % 2)
            wr_choices_add_label(choices, WR_LIT("a label that is rather long for a small screen"));
    }
}

static void begin(struct bench *b)
{
    *b = (struct bench){.tail = ""};
    paper_init(&b->paper, 60, 24);
    b->out = open_memstream(&b->bytes, &b->len);
    must(b->out, "no memory");
    wr_dock_init(&b->dock, b->out);
    wr_editor_init(&b->editor);
    /* Cut and put back twice, a line doubles: full soon, and each step draws all of it. */
    b->editor.text.cap_max = b->editor.before.cap_max = TYPED_BYTES_MAX;
    b->editor.complete = complete;
    wr_buf_init(&b->log, TEXT_BYTES_MAX);
    wr_buf_init(&b->queued, TEXT_BYTES_MAX);
}

static void end(struct bench *b)
{
    wr_dock_release(&b->dock);
    (void)fclose(b->out);
    free(b->bytes);
    wr_editor_release(&b->editor);
    wr_buf_release(&b->log);
    wr_buf_release(&b->queued);
    paper_release(&b->paper);
}

/* ---- oracles ---- */

/* Rows of the paper, as the lines that were printed there. */
static void read_log(const struct bench *b, size_t begin, size_t end, struct wr_buf *out)
{
    for (size_t row = begin; row < end; row++) {
        paper_read(&b->paper, row, 0, PAPER_COLUMNS, out);
        if (!b->paper.rows[row].goes_on)
            wr_buf_byte(out, '\n');
    }
}

/* Rows above the screen are compared once: nothing but another size changes them. */
static void check_log(struct bench *b, size_t end)
{
    struct wr_buf shown;
    size_t fixed = b->paper.top < end ? b->paper.top : end;

    if (b->is_torn)
        return;
    wr_buf_init(&shown, TEXT_BYTES_MAX);
    read_log(b, b->settled_rows, fixed, &shown);
    size_t fixed_bytes = shown.len;
    read_log(b, fixed > b->settled_rows ? fixed : b->settled_rows, end, &shown);
    weir_span printed_text = wr_span_from(wr_buf_view(&b->log), b->settled_bytes);
    if (!wr_span_eq(wr_buf_view(&shown), printed_text)) {
        (void)fprintf(stderr, "shown:\n%.*s---- printed:\n%.*s----\n", (int)shown.len, shown.bytes,
                      (int)printed_text.len, printed_text.ptr);
        must(false, "what was printed does not stand above the dock");
    }
    if (fixed > b->settled_rows) {
        b->settled_rows = fixed;
        b->settled_bytes += fixed_bytes;
    }
    wr_buf_release(&shown);
}

/* What takes columns of a text; returns its bytes. */
static size_t without_breaks(weir_span text, struct wr_buf *out)
{
    struct wr_buf plain;
    size_t count = 0;

    wr_buf_init(&plain, TEXT_BYTES_MAX);
    wr_cells_plain(&plain, text);
    for (size_t at = 0, cells; at < plain.len;) {
        weir_span rest = wr_span_from(wr_buf_view(&plain), at);
        size_t bytes = wr_cells_char(rest, &cells);
        at += bytes;
        if (rest.ptr[0] == '\n' || !cells)
            continue;
        count += bytes;
        if (out)
            wr_buf_append(out, wr_span_cut(rest, 0, bytes));
    }
    wr_buf_release(&plain);
    return count;
}

/* The rows from `first` to `last`, and the bytes of them before the cursor. */
static void check_input(const struct bench *b, size_t first, size_t last)
{
    struct wr_buf shown, wanted;
    size_t before = 0;
    weir_span text = wr_buf_view(&b->editor.text);

    wr_buf_init(&shown, TEXT_BYTES_MAX);
    wr_buf_init(&wanted, TEXT_BYTES_MAX);
    for (size_t row = first; row < last; row++) {
        bool is_cursor = row == b->paper.row;
        if (is_cursor) {
            paper_read(&b->paper, row, INDENT, b->paper.column, &shown);
            before = shown.len;
        }
        paper_read(&b->paper, row, is_cursor ? b->paper.column : INDENT, PAPER_COLUMNS, &shown);
    }
    size_t all = without_breaks(text, &wanted);
    size_t cursor = without_breaks(wr_span_cut(text, 0, b->editor.cursor), NULL);
    weir_span part = wr_buf_view(&shown);
    bool is_whole = part.len == all;
    size_t at = is_whole ? 0 : cursor - before;
    bool is_part = at <= all && part.len <= all - at &&
                   wr_span_eq(wr_span_cut(wr_buf_view(&wanted), at, at + part.len), part);
    if (!is_part || (is_whole && !b->is_asking && before != cursor)) {
        (void)fprintf(stderr, "shown '%.*s', cursor %zu\nheld  '%.*s', cursor %zu\n", (int)part.len,
                      part.ptr, before, (int)all, wanted.bytes, cursor);
        must(false, "the rows of the line do not say what the editor holds");
    }
    wr_buf_release(&shown);
    wr_buf_release(&wanted);
}

static void check_rows(struct bench *b)
{
    const struct wr_dock_lines *drawn = &b->dock.drawn;
    size_t first = b->paper.row - drawn->cursor_line, last = first + drawn->count - 1;
    size_t input = last;

    must(b->paper.row >= drawn->cursor_line, "the cursor is above the dock");
    must(paper_row_starts(&b->paper, last, WR_LIT("ctx ")), "the status is not the last row");
    for (size_t row = first; row <= last; row++)
        must(!b->paper.rows[row].goes_on, "the terminal broke a line of the dock");
    check_log(b, first);
    if (b->editor.is_searching)
        return;
    while (input > first && !paper_row_starts(&b->paper, input, WR_LIT("> ")))
        input--;
    bool has_begin = paper_row_starts(&b->paper, input, WR_LIT("> "));
    if (has_begin && !b->editor.choices.count) /* a chosen one begins like the line does */
        check_input(b, input, last);
}

static void check_editor(const struct wr_editor *e)
{
    weir_span text = wr_buf_view(&e->text);

    must(e->cursor <= text.len, "the cursor is behind the text");
    must(e->cursor == text.len || !wr_utf8_is_tail(text.ptr[e->cursor]) ||
             wr_utf8_check(text, false) < text.len,
         "the cursor stands within a character");
}

/* ---- steps ---- */

static void draw(struct bench *b, const char *above)
{
    struct wr_panel panel = {.tail = wr_span_of(b->tail),
                             .doing = b->is_doing ? "read_file a/rather/long/path.c" : NULL,
                             .doing_ms = 61000,
                             .tokens = 1234,
                             .queued = wr_buf_view(&b->queued),
                             .is_asking = b->is_asking,
                             .status = WR_LIT("ctx 1% · $0.00 · cache 40% · a-model · a-session"),
                             .editor = &b->editor};

    wr_buf_text(&b->log, above);
    wr_dock_begin(&b->dock, b->paper.columns, b->paper.height);
    wr_panel_draw(&b->dock, &panel);
    (void)fseeko(b->out, 0, SEEK_SET);
    wr_dock_show(&b->dock, wr_span_of(above));
    (void)fflush(b->out);
    long len = ftell(b->out);
    paper_put(&b->paper, (weir_span){b->bytes, len > 0 ? (size_t)len : 0});
    check_editor(&b->editor);
    check_rows(b);
}

static void finish_line(struct bench *b)
{
    struct wr_buf line;

    wr_buf_init(&line, TEXT_BYTES_MAX);
    if (wr_editor_take(&b->editor, &line) && line.len && b->queued.len < 4000 &&
        !memchr(line.bytes, 0, line.len)) {
        wr_buf_append(&b->queued, wr_buf_view(&line));
        wr_buf_byte(&b->queued, 0);
    }
    wr_buf_release(&line);
}

static void press(struct bench *b, char byte)
{
    if (wr_editor_key(&b->editor, wr_keys_take(&b->keys, byte)) == WR_EDIT_DONE)
        finish_line(b);
}

static void type(struct bench *b, const char *text)
{
    for (; *text; text++)
        press(b, *text);
}

/* Lines that a narrower screen breaks anew may be more than it has rows; what scrolled away then
 * cannot be taken back by anybody. */
static void resize(struct bench *b, size_t columns, size_t height)
{
    size_t rows = 0;

    for (size_t i = 0; i < b->dock.drawn.count; i++)
        rows += 1 + b->dock.drawn.cells[i] / columns;
    b->is_torn |= rows + 1 >= height;
    paper_resize(&b->paper, columns, height);
    b->settled_rows = b->settled_bytes = 0;
}

static void take_step(struct bench *b, uint8_t op, uint8_t value)
{
    const char *above = "";
    char line[400];

    switch (op % 8) {
    case 0:
    case 1:
        press(b, (char)(value & 0x7F)); /* characters come whole, by `pieces` */
        break;
    case 2:
        type(b, pieces[value % WR_COUNT_OF(pieces)]);
        break;
    case 3:
        type(b, sequences[value % WR_COUNT_OF(sequences)]);
        break;
    case 4:
        resize(b, 30 + value % 100, 12 + value / 8);
        break;
    case 5:
        (void)snprintf(line, sizeof(line), "%s\n", printed[value % WR_COUNT_OF(printed)]);
        above = line;
        break;
    case 6:
        b->is_doing = value & 1;
        b->is_asking = value & 2;
        b->tail = value & 4 ? "an answer that is being\nwritten\n" : "";
        if (value & 8)
            wr_buf_reset(&b->queued);
        break;
    default:
        if (wr_editor_key(&b->editor, wr_keys_pause(&b->keys)) == WR_EDIT_DONE)
            finish_line(b);
        break;
    }
    draw(b, above);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench b;

    begin(&b);
    draw(&b, "");
    for (size_t i = 0; i + 1 < size && i < 2 * STEPS_MAX && paper_has_room(&b.paper, 200); i += 2)
        take_step(&b, data[i], data[i + 1]);
    b.settled_rows = b.settled_bytes = 0;
    check_rows(&b);
    end(&b);
    return 0;
}
