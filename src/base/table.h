/* table.h -- a table as wide as the terminal, and no wider.
 *
 *     static const struct wr_table_column columns[] = {
 *         {"model", .cut_min = 12}, {"window", .is_right = true}, {"tokenizer", .rank = 1}};
 *     wr_table_init(&table, columns, WR_COUNT_OF(columns), &arena);
 *     wr_table_cell(&table, model->id);              one a column, row by row
 *     wr_table_format(&table, "%u", model->window);
 *     wr_table_print(&table, wr_cli_columns_told(), &out);
 *
 * Where there is not enough room columns with a rank go, the largest rank first, then cells are cut
 * that may be; what went is named below the table. Cells may hold anything: control bytes become
 * spaces.
 */
#ifndef WR_BASE_TABLE_H
#define WR_BASE_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

enum { WR_TABLE_COLUMNS_MAX = 16 };

struct wr_table_column {
    const char *title;
    bool is_right;    /* numbers */
    uint32_t rank;    /* 0: always there */
    uint32_t cut_min; /* may be cut to so many characters; 0: never */
    bool wraps;       /* of the last: goes on below itself */
};

struct wr_table_row {
    const char *colour;
    bool is_heading;
};

struct wr_table {
    const struct wr_table_column *columns;
    uint32_t columns_count;
    struct wr_arena *arena;
    const char *colour; /* of rows that begin from now on; NULL: none */
    weir_span *cells;
    size_t cells_count, cells_cap;
    struct wr_table_row *rows;
    size_t rows_count, rows_cap;
    weir_status status;
};

/* `columns` and `arena` are borrowed. */
void wr_table_init(struct wr_table *table, const struct wr_table_column *columns,
                   uint32_t columns_count, struct wr_arena *arena);

/* The next cell; of an empty text "-" is shown. Failure is kept, and told by the print. */
void wr_table_cell(struct wr_table *table, weir_span text);
void wr_table_format(struct wr_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A row that is one text, over all columns: what the rows below it are of. */
void wr_table_heading(struct wr_table *table, weir_span text);

/* A table without rows is a line of titles. Fails as `out` does. */
void wr_table_print(const struct wr_table *table, uint32_t columns_max, struct wr_buf *out);

#endif
