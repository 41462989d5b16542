/* table.c -- lays out a table: widths first, then what has to go, then the rows.
 *
 * A width is a count of characters. Between two columns are two spaces. Cells that are cut end with
 * "..": three points would take a third of a column of ten.
 */
#include "base/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/span.h"
#include "base/text.h"

#define GAP 2
#define CUT ".."

enum { CELLS_CAP_FIRST = 64, CELL_BYTES_MAX = 4096, WRAP_MIN = 20 };

struct layout {
    const struct wr_table *table;
    uint32_t columns_max;
    size_t widths[WR_TABLE_COLUMNS_MAX];
    bool is_gone[WR_TABLE_COLUMNS_MAX];
};

void wr_table_init(struct wr_table *table, const struct wr_table_column *columns,
                   uint32_t columns_count, struct wr_arena *arena)
{
    *table = (struct wr_table){.columns = columns, .columns_count = columns_count, .arena = arena};
}

void wr_table_cell(struct wr_table *table, weir_span text)
{
    struct wr_buf clean;

    wr_buf_init(&clean, CELL_BYTES_MAX);
    wr_text_excerpt(&clean, text.len ? text : WR_LIT("-"), CELL_BYTES_MAX / 4);
    bool begins_row = table->cells_count % table->columns_count == 0;
    weir_span copy = wr_arena_copy(table->arena, wr_buf_view(&clean));
    if (wr_buf_status(&clean) || !copy.ptr ||
        !WR_ARENA_ROOM(table->arena, table->cells, table->cells_count, table->cells_cap,
                       CELLS_CAP_FIRST) ||
        (begins_row && !WR_ARENA_ROOM(table->arena, table->rows, table->rows_count, table->rows_cap,
                                      CELLS_CAP_FIRST)))
        table->status = WEIR_NOMEM;
    else
        table->cells[table->cells_count++] = copy;
    if (!table->status && begins_row)
        table->rows[table->rows_count++] = (struct wr_table_row){.colour = table->colour};
    wr_buf_release(&clean);
}

void wr_table_heading(struct wr_table *table, weir_span text)
{
    wr_table_cell(table, text);
    for (uint32_t i = 1; i < table->columns_count; i++)
        wr_table_cell(table, WR_LIT(" "));
    if (!table->status)
        table->rows[table->rows_count - 1].is_heading = true;
}

void wr_table_format(struct wr_table *table, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    wr_table_cell(table, wr_span_of(text));
}

/* ---- widths ---- */

static void measure(struct layout *l)
{
    const struct wr_table *t = l->table;

    for (uint32_t i = 0; i < t->columns_count; i++)
        l->widths[i] = strlen(t->columns[i].title);
    for (size_t i = 0; i < t->cells_count; i++) {
        if (t->rows[i / t->columns_count].is_heading)
            continue;
        size_t width = wr_text_width(t->cells[i]), *widest = &l->widths[i % t->columns_count];
        *widest = width > *widest ? width : *widest;
    }
}

static size_t total_of(const struct layout *l)
{
    size_t total = 0;
    for (uint32_t i = 0; i < l->table->columns_count; i++)
        total += l->is_gone[i] ? 0 : l->widths[i] + (total ? GAP : 0);
    return total;
}

/* The least that the columns which are still there can be made to take. */
static size_t least_of(const struct layout *l)
{
    size_t least = total_of(l);
    for (uint32_t i = 0; i < l->table->columns_count; i++) {
        const struct wr_table_column *c = &l->table->columns[i];
        size_t min = c->wraps ? WRAP_MIN : c->cut_min;
        if (!l->is_gone[i] && min && l->widths[i] > min)
            least -= l->widths[i] - min;
    }
    return least;
}

static void drop_columns(struct layout *l)
{
    while (least_of(l) > l->columns_max) {
        uint32_t worst = UINT32_MAX;
        for (uint32_t i = 0; i < l->table->columns_count; i++) {
            uint32_t rank = l->table->columns[i].rank;
            if (!l->is_gone[i] && rank &&
                (worst == UINT32_MAX || rank > l->table->columns[worst].rank))
                worst = i;
        }
        if (worst == UINT32_MAX)
            return;
        l->is_gone[worst] = true;
    }
}

/* The widest column that may be cut is cut first; a text that wraps before any. */
static void cut_columns(struct layout *l)
{
    size_t total = total_of(l);
    while (total > l->columns_max) {
        uint32_t widest = UINT32_MAX;
        for (uint32_t i = 0; i < l->table->columns_count; i++) {
            const struct wr_table_column *c = &l->table->columns[i];
            size_t min = c->wraps ? WRAP_MIN : c->cut_min;
            if (l->is_gone[i] || !min || l->widths[i] <= min)
                continue;
            if (widest == UINT32_MAX || c->wraps || l->widths[i] > l->widths[widest])
                widest = i;
        }
        if (widest == UINT32_MAX)
            return;
        l->widths[widest]--;
        total--;
    }
}

/* ---- rows ---- */

static void put_spaces(struct wr_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wr_buf_byte(out, ' ');
}

static void put_cut(struct wr_buf *out, weir_span text, size_t width)
{
    if (wr_text_width(text) <= width) {
        wr_buf_append(out, text);
    } else {
        wr_buf_append(out, wr_text_head(text, width - strlen(CUT)));
        wr_buf_text(out, CUT);
    }
}

static void put_row(const struct layout *l, const weir_span *cells, struct wr_buf *out)
{
    size_t column = 0, behind = 0; /* spaces that are due before the next cell */

    for (uint32_t i = 0; i < l->table->columns_count; i++) {
        const struct wr_table_column *c = &l->table->columns[i];
        if (l->is_gone[i])
            continue;
        size_t width =
            wr_text_width(cells[i]) < l->widths[i] ? wr_text_width(cells[i]) : l->widths[i];
        size_t pad = l->widths[i] - width;
        put_spaces(out, behind + (c->is_right ? pad : 0));
        if (c->wraps)
            wr_text_wrap(out, cells[i], l->widths[i], column);
        else
            put_cut(out, cells[i], l->widths[i]);
        column += l->widths[i] + GAP;
        behind = GAP + (c->is_right ? 0 : pad);
    }
}

static void put_rows(const struct layout *l, struct wr_buf *out)
{
    const struct wr_table *t = l->table;

    for (size_t i = 0; i < t->cells_count / t->columns_count; i++) {
        const struct wr_table_row *row = &t->rows[i];
        const weir_span *cells = &t->cells[i * t->columns_count];
        wr_buf_text(out, row->colour ? row->colour : "");
        if (row->is_heading)
            put_cut(out, cells[0], l->columns_max);
        else
            put_row(l, cells, out);
        wr_buf_text(out, row->colour ? "\033[0m\n" : "\n");
    }
}

static void put_gone(const struct layout *l, struct wr_buf *out)
{
    const char *before = "not shown in this width: ";
    struct wr_buf line;

    wr_buf_init(&line, CELL_BYTES_MAX);
    for (uint32_t i = 0; i < l->table->columns_count; i++)
        if (l->is_gone[i]) {
            wr_buf_printf(&line, "%s%s", before, l->table->columns[i].title);
            before = ", ";
        }
    if (wr_buf_status(&line))
        out->status = wr_buf_status(&line);
    else
        wr_text_fit(out, wr_buf_view(&line), l->columns_max);
    wr_buf_release(&line);
}

void wr_table_print(const struct wr_table *table, uint32_t columns_max, struct wr_buf *out)
{
    struct layout l = {.table = table, .columns_max = columns_max};
    weir_span titles[WR_TABLE_COLUMNS_MAX];

    if (table->status) {
        out->status = table->status;
        return;
    }
    measure(&l);
    drop_columns(&l);
    cut_columns(&l);
    for (uint32_t i = 0; i < table->columns_count; i++)
        titles[i] = wr_span_of(table->columns[i].title);
    put_row(&l, titles, out);
    wr_buf_byte(out, '\n');
    put_rows(&l, out);
    put_gone(&l, out);
}
