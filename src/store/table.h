/* table.h -- rows of either kind of database, read by one text of SQL.
 *
 * The tables have the same names and columns in SQLite and PostgreSQL; only the schema's name
 * stands before them in the latter. `{}` in a text is its place.
 */
#ifndef WR_STORE_TABLE_H
#define WR_STORE_TABLE_H

#include "base/arena.h"
#include "weir/store.h"

struct wr_cell {
    int64_t number;  /* where the column is one */
    weir_span bytes; /* in the arena; where it is not */
};

struct wr_table {
    const struct wr_cell *cells; /* row by row; in the arena */
    size_t rows_count, columns_count;
};

enum { WR_TABLE_ARGS_MAX = 2 };

struct wr_table_query {
    const char *sql;     /* $1 and $2 are its arguments, in the order they first stand there */
    const char *columns; /* a letter each: n a number, t a text, b bytes */
    const char *args;    /* the same */
    struct wr_cell values[WR_TABLE_ARGS_MAX];
};

static inline const struct wr_cell *wr_table_row(const struct wr_table *table, size_t at)
{
    return table->cells + at * table->columns_count;
}

/* `store` is one of ours, opened at `where`. */
WEIR_MUST_USE weir_status wr_table_read(const char *where, struct weir_store *store,
                                        const struct wr_table_query *query, struct wr_arena *arena,
                                        struct wr_table *table, struct weir_err *err);

#endif
