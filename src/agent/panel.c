/* The lines of the dock.
 *
 * What the user needs to go on (the line, the question, the status) is laid out first; the lines
 * above get the rows that are left, their newest ones. The line that is typed is broken at the
 * edge and not at words, so that the cursor's place follows from the text before it alone.
 */
#include "agent/panel.h"

#include <stdint.h>

#include "agent/cells.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { INDENT = 2, QUEUED_MAX = 3, INPUT_ROWS_MIN = 3, SPIN_MS = 100, CHOICE_GAP = 2 };

#define DIM    "\x1b[2m"
#define BOLD   "\x1b[1m"
#define CYAN   "\x1b[36m"
#define YELLOW "\x1b[33m"
#define INVERT "\x1b[7m"
#define NORMAL "\x1b[0m"

#define QUESTION "  allow this? [y]es, [n]o or [a]lways, then Enter: "

struct drawing {
    struct wr_dock *dock;
    const struct wr_panel *panel;
    struct wr_buf line;  /* the one that is being made */
    struct wr_buf input; /* the typed text, harmless */
    size_t input_rows, cursor_row, cursor_column, first_row, shown_rows;
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

/* One line, whatever breaks the text has. */
static void put_plain(struct drawing *d, weir_span text, size_t chars_max)
{
    struct wr_buf line;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    wr_text_one_line_max(&line, wr_text_head(text, chars_max * 4), chars_max);
    wr_cells_plain(&d->line, wr_buf_view(&line));
    wr_buf_release(&line);
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
    put_plain(d, wanted, 60);
    size_t column = wr_cells_of(wr_buf_view(&d->line));
    wr_buf_text(&d->line, "  ");
    if (e->found != SIZE_MAX)
        put_plain(d, wr_history_at(e->history, e->found), 400);
    else
        wr_buf_printf(&d->line, "%s%s%s", colour(d, DIM),
                      wanted.len ? "no line before has that" : "type a part of a line before",
                      colour(d, NORMAL));
    wr_dock_cursor(d->dock, d->dock->next.count, column);
    put_line(d);
}

/* ---- the other lines ---- */

static void put_doing(struct drawing *d)
{
    static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    const struct wr_panel *p = d->panel;

    wr_buf_printf(&d->line, "%s%s%s ", colour(d, CYAN),
                  frames[p->doing_ms / SPIN_MS % WR_COUNT_OF(frames)], colour(d, NORMAL));
    put_plain(d, wr_span_of(p->doing), 60);
    wr_buf_printf(&d->line, "%s · %llu s", colour(d, DIM),
                  (unsigned long long)(p->doing_ms / 1000));
    if (p->tokens)
        wr_buf_printf(&d->line, " · %s tokens", WR_GROUPED(p->tokens));
    wr_buf_printf(&d->line, " · Esc interrupts%s", colour(d, NORMAL));
    put_line(d);
}

static size_t count_queued(weir_span queued)
{
    size_t count = 0;
    for (size_t i = 0; i < queued.len; i++)
        count += !queued.ptr[i];
    return count;
}

static void put_queued(struct drawing *d)
{
    weir_span rest = d->panel->queued;
    size_t all = count_queued(rest);

    for (size_t i = 0; i < all && i < QUEUED_MAX; i++) {
        size_t len = strlen(rest.ptr);
        wr_buf_printf(&d->line, "%squeued: ", colour(d, DIM));
        put_plain(d, wr_span_cut(rest, 0, len), 400);
        wr_buf_text(&d->line, colour(d, NORMAL));
        put_line(d);
        rest = wr_span_from(rest, len + 1);
    }
    if (all <= QUEUED_MAX)
        return;
    wr_buf_printf(&d->line, "%squeued: %zu more%s", colour(d, DIM), all - QUEUED_MAX,
                  colour(d, NORMAL));
    put_line(d);
}

static void put_question(struct drawing *d)
{
    const struct wr_panel *p = d->panel;

    wr_buf_text(&d->line, colour(d, YELLOW));
    wr_buf_text(&d->line, p->is_awaited ? QUESTION : "  allow this?");
    wr_buf_text(&d->line, colour(d, NORMAL));
    put_plain(d, p->answer, 200);
    if (p->is_awaited)
        wr_dock_cursor(d->dock, d->dock->next.count, strlen(QUESTION) + wr_cells_of(p->answer));
    put_line(d);
}

static void put_choices(struct drawing *d)
{
    const struct wr_choices *c = &d->panel->editor->choices;
    size_t columns = INDENT, first = c->chosen == SIZE_MAX ? 0 : c->chosen;

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

static size_t rows_below(const struct drawing *d)
{
    const struct wr_panel *p = d->panel;
    size_t queued = count_queued(p->queued);
    bool is_searching = p->editor->is_searching;

    return 1 + (is_searching ? 1 : d->shown_rows) + (p->doing && !p->is_asking) +
           (queued > QUEUED_MAX ? QUEUED_MAX + 1 : queued) + p->is_asking +
           (p->editor->choices.count > 0) + (p->hint.len > 0);
}

static void put_above(struct drawing *d)
{
    const struct wr_panel *p = d->panel;
    size_t all = wr_dock_room(d->dock), below = rows_below(d);
    size_t room = all > below ? all - below : 0;
    size_t tail = (size_t)wr_span_lines(p->tail);

    tail = tail < room ? tail : room;
    put_end_of(d, p->tail, tail, 0);
    put_end_of(d, p->cards, room - tail, p->cards_behind);
}

void wr_panel_draw(struct wr_dock *dock, const struct wr_panel *panel)
{
    struct drawing d = {.dock = dock, .panel = panel};

    wr_buf_init(&d.line, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&d.input, WR_AGENT_FILE_BYTES_MAX);
    measure_input(&d);
    put_above(&d);
    if (panel->doing && !panel->is_asking)
        put_doing(&d);
    put_queued(&d);
    if (panel->is_asking)
        put_question(&d);
    if (panel->hint.len)
        wr_dock_line(dock, panel->hint);
    if (panel->editor->choices.count)
        put_choices(&d);
    if (panel->editor->is_searching)
        put_search(&d);
    else
        put_input(&d);
    wr_dock_line(dock, panel->status);
    wr_buf_release(&d.line);
    wr_buf_release(&d.input);
}
