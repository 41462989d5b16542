#include "store/table.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "store/pg.h"
#include "store/sqlite.h"
#include "store/where.h"

enum { SQL_BYTES_MAX = 4096 };

struct reading {
    const struct wr_table_query *query;
    struct wr_arena *arena;
    struct wr_cell *cells;
    size_t cells_count, cells_cap, columns_count;
};

static struct wr_cell *add_cell(struct reading *r)
{
    if (!WR_ARENA_ROOM(r->arena, r->cells, r->cells_count, r->cells_cap, 64))
        return NULL;
    r->cells[r->cells_count] = (struct wr_cell){.number = 0};
    return &r->cells[r->cells_count++];
}

static void write_sql(const char *sql, const char *schema, struct wr_buf *out)
{
    for (const char *place; (place = strstr(sql, "{}")); sql = place + 2) {
        wr_buf_append(out, (weir_span){sql, (size_t)(place - sql)});
        wr_buf_text(out, schema);
    }
    wr_buf_text(out, sql);
    wr_buf_byte(out, '\0');
}

static weir_status read_sqlite(struct wr_sqlite *sqlite, const char *sql, struct reading *r,
                               struct weir_err *err)
{
    struct wr_db *db = &sqlite->db;
    const struct wr_table_query *q = r->query;
    struct wr_cell *cell;

    wr_db_start(db);
    sqlite3_stmt *statement = wr_db_make(db, sql);
    for (int i = 0; q->args[i]; i++) {
        if (q->args[i] == 'n')
            wr_db_bind_number(db, statement, i + 1, q->values[i].number);
        else if (q->args[i] == 't')
            wr_db_bind_text(db, statement, i + 1, q->values[i].bytes);
        else
            wr_db_bind_blob(db, statement, i + 1, q->values[i].bytes);
    }
    while (wr_db_next(db, statement))
        for (int i = 0; i < (int)r->columns_count && (cell = add_cell(r)); i++) {
            if (q->columns[i] == 'n')
                cell->number = sqlite3_column_int64(statement, i);
            else
                cell->bytes = wr_arena_copy(r->arena, wr_db_column(statement, i));
        }
    wr_db_drop(statement);
    return wr_db_status(db, &sqlite->store.trouble, err);
}

static weir_status read_postgres(struct wr_pg *pg, const char *sql, struct reading *r,
                                 struct weir_err *err)
{
    const struct wr_table_query *q = r->query;
    struct wr_pg_args args = {.count = 0};
    struct wr_cell *cell;

    for (int i = 0; q->args[i]; i++) {
        if (q->args[i] == 'n')
            wr_pg_number(&args, q->values[i].number);
        else
            wr_pg_bytes(&args, q->values[i].bytes);
    }
    wr_pg_start(&pg->link);
    do
        (void)wr_pg_run(&pg->link, sql, &args);
    while (wr_pg_again(&pg->link));
    for (int row = 0; row < wr_pg_rows(&pg->link); row++)
        for (int i = 0; i < (int)r->columns_count && (cell = add_cell(r)); i++) {
            if (q->columns[i] == 'n')
                cell->number = wr_pg_get_number(&pg->link, row, i);
            else
                cell->bytes = wr_arena_copy(r->arena, wr_pg_get(&pg->link, row, i));
        }
    return wr_pg_end(pg, err);
}

weir_status wr_table_read(const char *where, struct weir_store *store,
                          const struct wr_table_query *query, struct wr_arena *arena,
                          struct wr_table *table, struct weir_err *err)
{
    bool is_postgres = wr_where(where) == WR_WHERE_POSTGRES;
    struct reading r = {.query = query, .arena = arena, .columns_count = strlen(query->columns)};
    struct wr_buf sql;

    wr_buf_init(&sql, SQL_BYTES_MAX);
    write_sql(query->sql, is_postgres ? "weir." : "", &sql);
    weir_status status = wr_buf_status(&sql);
    if (!status)
        status = is_postgres ? read_postgres(wr_pg_of(store), sql.bytes, &r, err)
                             : read_sqlite(wr_sqlite_of(store), sql.bytes, &r, err);
    wr_buf_release(&sql);
    if (!status && wr_arena_status(arena))
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for what the store holds");
    *table = (struct wr_table){r.cells, r.cells_count / r.columns_count, r.columns_count};
    return status;
}
