/* rows.h -- what a store in memory holds: rows by key in a hash table, each with its users.
 *
 * A row belongs to the table from wr_rows_link() to wr_rows_unlink(), and to the caller otherwise.
 * Linking cannot fail.
 */
#ifndef WR_STORE_ROWS_H
#define WR_STORE_ROWS_H

#include "base/limits.h"
#include "weir/store.h"

enum wr_row_kind { WR_ROW_ARTIFACT, WR_ROW_MARK, WR_ROW_PIN, WR_ROW_EXPIRED };

struct wr_row {
    struct wr_row *next; /* of its bucket */
    uint64_t tenant_id;
    enum wr_row_kind kind;
    weir_hash hash;  /* of an artifact */
    int64_t gone_ms; /* of an expired one */
    char *value;     /* owned */
    size_t value_bytes;
    uint64_t *users; /* owned: the sessions that refer to it */
    size_t users_count;
    size_t key_bytes;
    char key[];
};

struct wr_rows {
    struct wr_row **buckets; /* owned */
    size_t buckets_count;    /* a power of two */
    size_t count;
    size_t bytes; /* of all rows */
};

struct wr_row_key {
    uint64_t tenant_id;
    enum wr_row_kind kind;
    size_t len;
    char bytes[WEIR_HASH_BYTES + sizeof(uint64_t) + WR_STORE_NAME_BYTES_MAX];
};

/* Of a WR_ROW_ARTIFACT or a WR_ROW_EXPIRED. */
struct wr_row_key wr_row_key_handle(uint64_t tenant_id, enum wr_row_kind kind,
                                    const unsigned char handle[WEIR_HANDLE_BYTES]);
struct wr_row_key wr_row_key_mark(uint64_t tenant_id, const weir_hash *key, weir_mark_kind kind);
struct wr_row_key wr_row_key_pin(uint64_t tenant_id, uint64_t session_id,
                                 const struct weir_pin *pin);

/* A row of its own, with a copy of `value`; NULL without memory. */
struct wr_row *wr_row_new(const struct wr_row_key *key, weir_span value);
void wr_row_free(struct wr_row *row); /* NULL is fine */

/* Where in `users` the session is; users_count when it is not there. */
size_t wr_row_user(const struct wr_row *row, uint64_t session_id);

/* False without memory. */
bool wr_rows_init(struct wr_rows *rows);
void wr_rows_release(struct wr_rows *rows); /* with all rows in it */

struct wr_row *wr_rows_find(const struct wr_rows *rows, const struct wr_row_key *key);
void wr_rows_link(struct wr_rows *rows, struct wr_row *row);
void wr_rows_unlink(struct wr_rows *rows, struct wr_row *row);

/* Gives the linked row the value in `*value`, which the caller owns, and gives back the old one. */
void wr_rows_swap_value(struct wr_rows *rows, struct wr_row *row, char **value,
                        size_t *value_bytes);

/* All rows, in no order. The row that is at hand may be unlinked; none may be linked. */
struct wr_rows_walk {
    const struct wr_rows *rows;
    size_t bucket;
    struct wr_row *next;
};

struct wr_row *wr_rows_first(const struct wr_rows *rows, struct wr_rows_walk *walk);
struct wr_row *wr_rows_next(struct wr_rows_walk *walk);

#endif
