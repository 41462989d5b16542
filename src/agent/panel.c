/* The lines of the dock.
 *
 * What the user needs to go on (the line, the question, the status) is laid out first; the lines
 * above get the rows that are left, their newest ones. The line that is typed is broken at the
 * edge and not at words, so that the cursor's place follows from the text before it alone.
 */
#include "agent/panel.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/cells.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- dock ----
 *
 * Drawing the last lines of a terminal.
 *
 * The cursor is somewhere within the lines that were drawn; from there it goes up to the first of
 * them, everything below is erased, what is to stay is printed, and the lines are drawn behind it.
 * All of it is one write, so that nothing flickers. Nothing here knows where on the screen that is:
 * positions are relative, and the terminal scrolls by itself. That is what keeps its scrollback
 * whole, and why no alternate screen is used.
 */

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

/* How many lines are still free. */
static size_t dock_room(const struct wr_dock *d)
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
    if (!dock_room(d))
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

/* ---- what stands in it ---- */

enum { INDENT = 2, QUEUED_MAX = 3, INPUT_ROWS_MIN = 3, SPIN_MS = 100, CHOICE_GAP = 2 };
enum { CHOICE_ROWS = 8, CARD_ROWS_MIN = 6, STATUS_PARTS_MAX = 12, ANSWER_CELLS_MIN = 7 };

#define DIM    "\x1b[2m"
#define BOLD   "\x1b[1m"
#define CYAN   "\x1b[36m"
#define YELLOW "\x1b[33m"
#define INVERT "\x1b[7m"

#define QUESTION        "  allow this? [y]es, [n]o or [a]lways, then Enter: "
#define NARROW_QUESTION "  allow? y, n, a, then Enter: "
#define PARTED          " · "
#define FULL            "the line is full; what is longer can be pasted, or read from a file (@)"

struct drawing {
    struct wr_dock *dock;
    const struct wr_panel *panel;
    struct wr_buf line;  /* the one that is being made */
    struct wr_buf input; /* the typed text, harmless */
    size_t input_rows, cursor_row, cursor_column, first_row, shown_rows;
    size_t above_rows, queued_rows, choice_rows; /* that there is room for */
    weir_span hint;
};

static const char *colour(const struct drawing *d, const char *code)
{
    return d->panel->has_colours ? code : "";
}

static void put_line(struct drawing *d)
{
    wr_dock_line(d->dock, wr_buf_view(&d->line));
    wr_buf_reset(&d->line);
}

/* One line, whatever breaks the text has, of at most so many columns. */
static void put_cut(struct drawing *d, weir_span text, size_t cells_max)
{
    struct wr_buf line, plain;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&plain, WR_AGENT_READ_BYTES_MAX);
    wr_text_one_line_max(&line, wr_text_head(text, cells_max * 4), cells_max);
    wr_cells_plain(&plain, wr_buf_view(&line));
    weir_span all = wr_buf_view(&plain);
    weir_span head = wr_cells_head(all, cells_max);
    if (head.len < all.len)
        head = wr_cells_head(all, cells_max ? cells_max - 1 : 0);
    wr_buf_append(&d->line, head);
    wr_buf_text(&d->line, head.len < all.len ? "…" : "");
    wr_buf_release(&line);
    wr_buf_release(&plain);
}

/* What is left of a line when so many columns of it are taken. */
static size_t room_beside(const struct drawing *d, size_t cells)
{
    return d->dock->columns - 1 > cells ? d->dock->columns - 1 - cells : 0;
}

/* ---- the line that is typed ---- */

static size_t input_columns(const struct drawing *d)
{
    return d->dock->columns - 1 > INDENT + 2 ? d->dock->columns - 1 - INDENT : 2;
}

/* Takes the next row off `rest`. */
static weir_span next_row(weir_span *rest, size_t columns)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    weir_span line = wr_span_cut(*rest, 0, end ? (size_t)(end - rest->ptr) : rest->len);
    weir_span row = wr_cells_head(line, columns);
    bool ends_line = row.len == line.len && end;

    if (!row.len && line.len)
        row = wr_span_cut(line, 0, 1);
    *rest = wr_span_from(*rest, row.len + ends_line);
    return row;
}

/* Where the text before the cursor ends. */
static void lay_out(struct drawing *d, weir_span before)
{
    size_t columns = input_columns(d), rows = 0;
    weir_span rest = before, row = {"", 0};
    bool is_at_line_begin = !before.len || before.ptr[before.len - 1] == '\n';

    while (rest.len) {
        row = next_row(&rest, columns);
        rows++;
    }
    size_t column = is_at_line_begin ? 0 : wr_cells_of(row);
    d->cursor_row = rows - (rows && !is_at_line_begin);
    if (column >= columns) {
        d->cursor_row++;
        column = 0;
    }
    d->cursor_column = column;
}

static void measure_input(struct drawing *d)
{
    const struct wr_editor *e = d->panel->editor;
    weir_span text = wr_buf_view(&e->text);

    wr_cells_plain(&d->input, wr_span_cut(text, 0, e->cursor));
    size_t cursor = d->input.len;
    wr_buf_reset(&d->input);
    wr_cells_plain(&d->input, text);
    weir_span all = wr_buf_view(&d->input);
    lay_out(d, wr_span_cut(all, 0, cursor < all.len ? cursor : all.len));
    for (weir_span rest = all; rest.len; d->input_rows++)
        (void)next_row(&rest, input_columns(d));
    if (d->input_rows <= d->cursor_row)
        d->input_rows = d->cursor_row + 1;
    size_t most = d->dock->rows / 3 > INPUT_ROWS_MIN ? d->dock->rows / 3 : INPUT_ROWS_MIN;
    d->shown_rows = d->input_rows < most ? d->input_rows : most;
    d->first_row = d->cursor_row >= d->shown_rows ? d->cursor_row - d->shown_rows + 1 : 0;
}

static void put_input(struct drawing *d)
{
    weir_span rest = wr_buf_view(&d->input);
    size_t columns = input_columns(d);

    for (size_t row = 0; row < d->first_row + d->shown_rows; row++) {
        weir_span text = rest.len ? next_row(&rest, columns) : (weir_span){"", 0};
        if (row < d->first_row)
            continue;
        if (row == d->cursor_row && !d->panel->is_awaited)
            wr_dock_cursor(d->dock, d->dock->next.count, INDENT + d->cursor_column);
        wr_buf_printf(&d->line, "%s%s%s", colour(d, BOLD), row ? "  " : "> ", colour(d, NORMAL));
        wr_buf_append(&d->line, text);
        put_line(d);
    }
}

static void put_search(struct drawing *d)
{
    const struct wr_editor *e = d->panel->editor;
    weir_span wanted = wr_buf_view(&e->wanted);

    wr_buf_text(&d->line, "search: ");
    put_cut(d, wanted, 60);
    size_t column = wr_cells_of(wr_buf_view(&d->line));
    wr_buf_text(&d->line, "  ");
    if (e->found != SIZE_MAX)
        put_cut(d, wr_history_at(e->history, e->found), 400);
    else
        wr_buf_printf(&d->line, "%s%s%s", colour(d, DIM),
                      wanted.len ? "no line before has that" : "type a part of a line before",
                      colour(d, NORMAL));
    wr_dock_cursor(d->dock, d->dock->next.count, column);
    put_line(d);
}

/* ---- the other lines ---- */

/* The numbers stay in a narrow terminal; the text before them gives way. */
static void put_doing(struct drawing *d)
{
    static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    const struct wr_panel *p = d->panel;
    char tokens[64] = "", end[128];

    if (p->tokens)
        (void)snprintf(tokens, sizeof(tokens), PARTED "%s tokens", WR_GROUPED(p->tokens));
    (void)snprintf(end, sizeof(end), PARTED "%llu s%s" PARTED "Esc interrupts",
                   (unsigned long long)(p->doing_ms / 1000), tokens);
    wr_buf_printf(&d->line, "%s%s%s ", colour(d, CYAN),
                  frames[p->doing_ms / SPIN_MS % WR_COUNT_OF(frames)], colour(d, NORMAL));
    size_t room = room_beside(d, INDENT + wr_cells_of(wr_span_of(end)));
    put_cut(d, wr_span_of(p->doing), room < 60 ? room : 60);
    wr_buf_printf(&d->line, "%s%s%s", colour(d, DIM), end, colour(d, NORMAL));
    put_line(d);
}

static size_t count_queued(weir_span queued)
{
    size_t count = 0;
    for (size_t i = 0; i < queued.len; i++)
        count += !queued.ptr[i];
    return count;
}

/* Rows of what is queued: some of its lines, and how many more there are. */
static size_t queued_rows(weir_span queued)
{
    size_t all = count_queued(queued);
    return all > QUEUED_MAX ? QUEUED_MAX + 1 : all;
}

static void put_queued(struct drawing *d, size_t rows)
{
    weir_span rest = d->panel->queued;
    size_t all = count_queued(rest);
    size_t shown = all > rows ? rows - (rows > 0) : all;

    for (size_t i = 0; i < shown; i++) {
        size_t len = strlen(rest.ptr);
        wr_buf_printf(&d->line, "%squeued: ", colour(d, DIM));
        put_cut(d, wr_span_cut(rest, 0, len), room_beside(d, strlen("queued: ")));
        wr_buf_text(&d->line, colour(d, NORMAL));
        put_line(d);
        rest = wr_span_from(rest, len + 1);
    }
    if (all == shown || !rows)
        return;
    wr_buf_printf(&d->line, "%squeued: %zu more%s", colour(d, DIM), all - shown, colour(d, NORMAL));
    put_line(d);
}

/* Of a long answer the end is shown, where the cursor is. */
static void put_answer(struct drawing *d, size_t room)
{
    struct wr_buf plain;

    wr_buf_init(&plain, WR_AGENT_READ_BYTES_MAX);
    wr_text_one_line_max(&plain, d->panel->answer, d->panel->answer.len);
    weir_span rest = wr_buf_view(&plain);
    size_t all = wr_cells_of(rest), cells = 0;
    while (all > room && rest.len) {
        rest = wr_span_from(rest, wr_cells_step(rest, &cells));
        all -= cells < all ? cells : all;
    }
    wr_cells_plain(&d->line, rest);
    wr_buf_release(&plain);
}

static void put_question(struct drawing *d)
{
    const struct wr_panel *p = d->panel;
    size_t room = room_beside(d, strlen(QUESTION));
    bool is_narrow = room < ANSWER_CELLS_MIN || wr_cells_of(p->answer) >= room;
    const char *question = !p->is_awaited ? "  allow this?"
                           : is_narrow    ? NARROW_QUESTION
                                          : QUESTION;

    put_answer(d, room_beside(d, strlen(question) + 1));
    if (p->is_awaited)
        wr_dock_cursor(d->dock, d->dock->next.count,
                       strlen(question) + wr_cells_of(wr_buf_view(&d->line)));
    struct wr_buf answer = d->line;
    wr_buf_init(&d->line, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_printf(&d->line, "%s%s%s", colour(d, YELLOW), question, colour(d, NORMAL));
    wr_buf_append(&d->line, wr_buf_view(&answer));
    wr_buf_release(&answer);
    put_line(d);
}

/* Choices that say what they are stand below each other, those around the chosen one. */
static size_t choice_rows(const struct wr_choices *c)
{
    if (!c->count || !c->labels.len)
        return c->count > 0;
    return c->count < CHOICE_ROWS ? c->count : CHOICE_ROWS;
}

static void put_choice_list(struct drawing *d, const struct wr_choices *c, size_t rows)
{
    size_t chosen = c->chosen == SIZE_MAX ? 0 : c->chosen;
    size_t first = chosen < rows ? 0 : chosen - rows + 1;

    for (size_t i = first; i < first + rows; i++) {
        wr_buf_printf(&d->line, "%s%s ", i == c->chosen ? colour(d, INVERT) : colour(d, DIM),
                      i == c->chosen ? ">" : " ");
        put_cut(d, wr_choices_label(c, i), room_beside(d, INDENT));
        wr_buf_text(&d->line, colour(d, NORMAL));
        put_line(d);
    }
}

static void put_choices(struct drawing *d, size_t rows)
{
    const struct wr_choices *c = &d->panel->editor->choices;
    size_t columns = INDENT, first = c->chosen == SIZE_MAX ? 0 : c->chosen;

    if (c->labels.len) {
        put_choice_list(d, c, rows);
        return;
    }
    wr_buf_text(&d->line, "  ");
    for (size_t i = 0; i < c->count; i++) {
        size_t number = (first + i) % c->count;
        weir_span name = wr_choices_at(c, number);
        columns += wr_cells_of(name) + CHOICE_GAP;
        if (i && columns > d->dock->columns)
            break;
        bool is_chosen = number == c->chosen;
        wr_buf_text(&d->line, colour(d, is_chosen ? INVERT : DIM));
        wr_cells_plain(&d->line, name);
        wr_buf_printf(&d->line, "%s  ", colour(d, NORMAL));
    }
    put_line(d);
}

/* ---- the status ---- */

/* Cuts the widest parts until the line fits: each thing that it tells is still there. */
static void fit_parts(size_t *cells, size_t count, size_t room)
{
    size_t all = (count - 1) * wr_cells_of(WR_LIT(PARTED));

    for (size_t i = 0; i < count; i++)
        all += cells[i];
    while (all > room) {
        size_t widest = 1; /* how full the window is comes first, and stays */
        for (size_t i = 2; i < count; i++)
            if (cells[i] > cells[widest])
                widest = i;
        if (count < 2 || cells[widest] <= 1)
            return;
        cells[widest]--;
        all--;
    }
}

static void put_part(struct drawing *d, weir_span part, size_t cells)
{
    struct wr_buf scratch;

    wr_buf_init(&scratch, WR_AGENT_READ_BYTES_MAX);
    bool is_cut = wr_dock_cut(&scratch, part, SIZE_MAX) > cells;
    wr_buf_release(&scratch);
    (void)wr_dock_cut(&d->line, part, is_cut ? cells - 1 : cells);
    wr_buf_text(&d->line, is_cut ? "…" : "");
}

static void put_status(struct drawing *d)
{
    weir_span parts[STATUS_PARTS_MAX], rest = d->panel->status;
    size_t cells[STATUS_PARTS_MAX], count = 0;
    struct wr_buf scratch;

    wr_buf_init(&scratch, WR_AGENT_READ_BYTES_MAX);
    while (count < STATUS_PARTS_MAX) {
        size_t end =
            count + 1 < STATUS_PARTS_MAX ? wr_span_find(rest, WR_LIT(PARTED), 0) : SIZE_MAX;
        parts[count] = wr_span_cut(rest, 0, end == SIZE_MAX ? rest.len : end);
        wr_buf_reset(&scratch);
        cells[count] = wr_dock_cut(&scratch, parts[count], SIZE_MAX);
        count++;
        if (end == SIZE_MAX)
            break;
        rest = wr_span_from(rest, end + strlen(PARTED));
    }
    wr_buf_release(&scratch);
    fit_parts(cells, count, d->dock->columns - 1);
    for (size_t i = 0; i < count; i++) {
        wr_buf_text(&d->line, i ? PARTED : "");
        put_part(d, parts[i], cells[i]);
    }
    put_line(d);
}

/* The last `rows_max` lines of `text`, `behind` lines before its end. */
static void put_end_of(struct drawing *d, weir_span text, size_t rows_max, size_t behind)
{
    size_t lines = (size_t)wr_span_lines(text);
    size_t end = behind < lines ? lines - behind : lines;
    size_t begin = end > rows_max ? end - rows_max : 0;
    weir_span line;

    for (size_t i = 0; i < end && wr_span_line(&text, &line); i++)
        if (i >= begin)
            wr_dock_line(d->dock, line);
}

/* Rows below what is being written. Where the screen is small, the line that is typed, the
 * question, what the agent does and the status come first. */
static void share_rows(struct drawing *d)
{
    const struct wr_panel *p = d->panel;
    size_t all = dock_room(d->dock);
    size_t must = 1 + (p->editor->is_searching ? 1 : d->shown_rows) + (p->doing && !p->is_asking) +
                  p->is_asking;
    size_t spare = all > must ? all - must : 0;
    size_t choices = choice_rows(&p->editor->choices), queued = queued_rows(p->queued);

    d->choice_rows = choices < spare ? choices : spare;
    spare -= d->choice_rows;
    d->hint = !spare ? WR_LIT("") : p->editor->is_full ? WR_LIT(FULL) : p->hint;
    spare -= d->hint.len > 0;
    d->queued_rows = queued < spare ? queued : spare;
    d->above_rows = spare - d->queued_rows;
}

static void put_above(struct drawing *d)
{
    const struct wr_panel *p = d->panel;
    size_t tail = (size_t)wr_span_lines(p->tail);
    size_t cards = d->dock->rows / 2 > CARD_ROWS_MIN ? d->dock->rows / 2 : CARD_ROWS_MIN;

    tail = tail < d->above_rows ? tail : d->above_rows;
    put_end_of(d, p->tail, tail, 0);
    /* What cards push out at the top of the screen does not come back when they are closed. */
    put_end_of(d, p->cards, d->above_rows - tail < cards ? d->above_rows - tail : cards,
               p->cards_behind);
}

void wr_panel_draw(struct wr_dock *dock, const struct wr_panel *panel)
{
    struct drawing d = {.dock = dock, .panel = panel};

    wr_buf_init(&d.line, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&d.input, WR_AGENT_FILE_BYTES_MAX);
    measure_input(&d);
    share_rows(&d);
    put_above(&d);
    if (panel->doing && !panel->is_asking)
        put_doing(&d);
    put_queued(&d, d.queued_rows);
    if (panel->is_asking)
        put_question(&d);
    if (d.hint.len)
        wr_dock_line(dock, d.hint);
    if (d.choice_rows)
        put_choices(&d, d.choice_rows);
    if (panel->editor->is_searching)
        put_search(&d);
    else
        put_input(&d);
    put_status(&d);
    wr_buf_release(&d.line);
    wr_buf_release(&d.input);
}
