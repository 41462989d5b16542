#include "store/rows.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"

enum { BUCKETS_FIRST = 64, ROW_KINDS = 4 };

/* ---- keys ---- */

static void add(struct wr_row_key *key, const void *bytes, size_t len)
{
    WR_ASSERT(len <= sizeof(key->bytes) - key->len);
    if (len)
        memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

struct wr_row_key wr_row_key_handle(uint64_t tenant_id, enum wr_row_kind kind,
                                    const unsigned char handle[WEIR_HANDLE_BYTES])
{
    struct wr_row_key key = {.tenant_id = tenant_id, .kind = kind};
    add(&key, handle, WEIR_HANDLE_BYTES);
    return key;
}

struct wr_row_key wr_row_key_mark(uint64_t tenant_id, const weir_hash *hash, weir_mark_kind kind)
{
    struct wr_row_key key = {.tenant_id = tenant_id, .kind = WR_ROW_MARK};
    unsigned char byte = (unsigned char)kind;
    add(&key, hash->bytes, sizeof(hash->bytes));
    add(&key, &byte, 1);
    return key;
}

/* The two parts in front have fixed lengths, so no two pins have one key. */
struct wr_row_key wr_row_key_pin(uint64_t tenant_id, uint64_t session_id,
                                 const struct weir_pin *pin)
{
    struct wr_row_key key = {.tenant_id = tenant_id, .kind = WR_ROW_PIN};
    add(&key, &session_id, sizeof(session_id));
    add(&key, pin->first_turn.bytes, sizeof(pin->first_turn.bytes));
    add(&key, pin->model.ptr, pin->model.len);
    return key;
}

/* ---- rows ---- */

struct wr_row *wr_row_new(const struct wr_row_key *key, weir_span value)
{
    struct wr_row *row = calloc(1, sizeof(*row) + key->len);
    char *copy = malloc(value.len + 1); /* never NULL for a value of no bytes */
    if (!row || !copy) {
        free(row);
        free(copy);
        return NULL;
    }
    if (value.len)
        memcpy(copy, value.ptr, value.len);
    row->tenant_id = key->tenant_id;
    row->kind = key->kind;
    row->value = copy;
    row->value_bytes = value.len;
    row->key_bytes = key->len;
    memcpy(row->key, key->bytes, key->len);
    return row;
}

void wr_row_free(struct wr_row *row)
{
    if (!row)
        return;
    free(row->value);
    free(row->users);
    free(row);
}

size_t wr_row_user(const struct wr_row *row, uint64_t session_id)
{
    size_t i = 0;
    while (i < row->users_count && row->users[i] != session_id)
        i++;
    return i;
}

/* ---- the table ---- */

static struct wr_row **bucket_of(const struct wr_rows *rows, uint64_t tenant_id,
                                 enum wr_row_kind kind, weir_span key)
{
    uint64_t hash = wr_hash64_seeded(key, tenant_id * ROW_KINDS + (uint64_t)kind);
    return &rows->buckets[hash & (rows->buckets_count - 1)];
}

static struct wr_row **bucket_of_row(const struct wr_rows *rows, const struct wr_row *row)
{
    return bucket_of(rows, row->tenant_id, row->kind, (weir_span){row->key, row->key_bytes});
}

static size_t bytes_of(const struct wr_row *row)
{
    return sizeof(*row) + row->key_bytes + row->value_bytes;
}

static void push(struct wr_rows *rows, struct wr_row *row)
{
    struct wr_row **bucket = bucket_of_row(rows, row);
    row->next = *bucket;
    *bucket = row;
}

/* Without memory for more buckets the chains only get longer. */
static void grow(struct wr_rows *rows)
{
    struct wr_rows larger = *rows;
    struct wr_rows_walk walk;

    larger.buckets_count *= 2;
    larger.buckets = calloc(larger.buckets_count, sizeof(struct wr_row *));
    if (!larger.buckets)
        return;
    for (struct wr_row *row = wr_rows_first(rows, &walk); row; row = wr_rows_next(&walk))
        push(&larger, row);
    free(rows->buckets);
    *rows = larger;
}

bool wr_rows_init(struct wr_rows *rows)
{
    *rows = (struct wr_rows){.buckets_count = BUCKETS_FIRST};
    rows->buckets = calloc(BUCKETS_FIRST, sizeof(struct wr_row *));
    return rows->buckets != NULL;
}

void wr_rows_release(struct wr_rows *rows)
{
    struct wr_rows_walk walk;
    for (struct wr_row *row = wr_rows_first(rows, &walk); row; row = wr_rows_next(&walk))
        wr_row_free(row);
    free(rows->buckets);
    *rows = (struct wr_rows){.buckets = NULL};
}

struct wr_row *wr_rows_find(const struct wr_rows *rows, const struct wr_row_key *key)
{
    weir_span wanted = {key->bytes, key->len};
    struct wr_row *row = *bucket_of(rows, key->tenant_id, key->kind, wanted);
    while (row && !(row->tenant_id == key->tenant_id && row->kind == key->kind &&
                    wr_span_eq(wanted, (weir_span){row->key, row->key_bytes})))
        row = row->next;
    return row;
}

void wr_rows_link(struct wr_rows *rows, struct wr_row *row)
{
    if (rows->count >= rows->buckets_count)
        grow(rows);
    push(rows, row);
    rows->count++;
    rows->bytes += bytes_of(row);
}

void wr_rows_unlink(struct wr_rows *rows, struct wr_row *row)
{
    struct wr_row **at = bucket_of_row(rows, row);
    while (*at != row)
        at = &(*at)->next;
    *at = row->next;
    rows->count--;
    rows->bytes -= bytes_of(row);
}

void wr_rows_swap_value(struct wr_rows *rows, struct wr_row *row, char **value, size_t *value_bytes)
{
    char *old_value = row->value;
    size_t old_bytes = row->value_bytes;
    rows->bytes = rows->bytes - old_bytes + *value_bytes;
    row->value = *value;
    row->value_bytes = *value_bytes;
    *value = old_value;
    *value_bytes = old_bytes;
}

struct wr_row *wr_rows_first(const struct wr_rows *rows, struct wr_rows_walk *walk)
{
    *walk = (struct wr_rows_walk){.rows = rows, .next = rows->buckets ? rows->buckets[0] : NULL};
    return wr_rows_next(walk);
}

struct wr_row *wr_rows_next(struct wr_rows_walk *walk)
{
    while (!walk->next && walk->bucket + 1 < walk->rows->buckets_count)
        walk->next = walk->rows->buckets[++walk->bucket];
    struct wr_row *row = walk->next;
    if (row)
        walk->next = row->next;
    return row;
}
