/* Is an artifact there, and is it what was put there? Asked before a text is left out of a commit
 * because it is stored already, and before a projection rests on what is stored. */
#include "store/sqlite.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"

static weir_span hash_span(const weir_hash *hash)
{
    return (weir_span){(const char *)hash->bytes, WEIR_HASH_BYTES};
}

/* ---- what was checked ---- */

static int64_t *slot_of(struct wr_sqlite *sqlite, int64_t id)
{
    return &sqlite->checked_ids[(uint64_t)id % WR_SQLITE_CHECKED_COUNT];
}

void wr_sqlite_trust(struct wr_sqlite *sqlite, int64_t id)
{
    *slot_of(sqlite, id) = id;
}

void wr_sqlite_distrust(struct wr_sqlite *sqlite, int64_t id)
{
    if (*slot_of(sqlite, id) == id)
        *slot_of(sqlite, id) = 0;
}

static struct wr_seen *seen_of(struct wr_sqlite *sqlite, int64_t tenant_id,
                               const unsigned char handle[WEIR_HANDLE_BYTES])
{
    weir_span bytes = {(const char *)handle, WEIR_HANDLE_BYTES};
    return &sqlite->seen[wr_hash64_seeded(bytes, (uint64_t)tenant_id) % WR_SQLITE_SEEN_COUNT];
}

void wr_sqlite_look_again(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_handle *handle)
{
    if (sqlite->seen)
        seen_of(sqlite, tenant_id, handle->bytes)->tenant_id = 0;
}

/* ---- checking ---- */

/* A row from before there were checksums says what it is worth only when it is unpacked. */
static weir_status check_by_hash(struct wr_sqlite *sqlite, sqlite3_stmt *row, const weir_hash *hash)
{
    unsigned char digest[WR_SHA256_BYTES];
    wr_sqlite_reset_text(sqlite);
    weir_status status =
        wr_unpack(&sqlite->packer, wr_db_column(row, 4), sqlite3_column_int64(row, 2),
                  (uint64_t)sqlite3_column_int64(row, 1), &sqlite->text);
    if (!status)
        status = wr_sha256(wr_buf_view(&sqlite->text), digest);
    if (!status && memcmp(digest, hash->bytes, sizeof(digest)) != 0)
        status = WEIR_SYNTAX;
    return status;
}

/* From a row of: hash, text_bytes, codec, checksum, data. WEIR_SYNTAX when something in it has
 * changed since it was put there. */
static weir_status check_row(struct wr_sqlite *sqlite, sqlite3_stmt *row)
{
    int64_t text_bytes = sqlite3_column_int64(row, 1), codec = sqlite3_column_int64(row, 2);
    int64_t checksum = sqlite3_column_int64(row, 3);
    weir_hash hash;

    if (!wr_db_column_is(row, 0, WEIR_HASH_BYTES) || text_bytes < 0)
        return WEIR_SYNTAX;
    memcpy(hash.bytes, wr_db_column(row, 0).ptr, WEIR_HASH_BYTES);
    if (!checksum)
        return check_by_hash(sqlite, row, &hash);
    bool is_same = checksum == wr_pack_checksum(wr_db_column(row, 4), codec, (uint64_t)text_bytes,
                                                hash_span(&hash));
    return is_same ? WEIR_OK : WEIR_SYNTAX;
}

/* A page that cannot be read is damage to this artifact, not the end of the work. */
static bool is_whole(struct wr_sqlite *sqlite, int64_t id)
{
    struct wr_db *db = &sqlite->db;
    weir_status status = WEIR_SYNTAX;
    sqlite3_stmt *read = wr_db_use(db, WR_SQL_ARTIFACT_CHECK,
                                   "SELECT hash, text_bytes, codec, checksum, data FROM artifact"
                                   " WHERE id = ?1");
    wr_db_bind_number(db, read, 1, id);
    if (wr_db_next(db, read))
        status = check_row(sqlite, read);
    wr_db_done(read);
    if ((db->code & 0xFF) == SQLITE_CORRUPT)
        wr_db_start(db);
    if (status == WEIR_NOMEM && !db->code)
        db->code = SQLITE_NOMEM;
    return !status && !db->code;
}

struct wr_found wr_sqlite_find(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_hash *hash,
                               bool is_trusting)
{
    struct wr_db *db = &sqlite->db;
    struct wr_found found = {.presence = WR_ABSENT};
    bool is_other = false;
    sqlite3_stmt *find =
        wr_db_use(db, WR_SQL_ARTIFACT_FIND,
                  "SELECT id, hash FROM artifact WHERE handle = ?1 AND tenant_id = ?2");

    wr_db_bind_blob(db, find, 1, (weir_span){(const char *)hash->bytes, WEIR_HANDLE_BYTES});
    wr_db_bind_number(db, find, 2, tenant_id);
    if (wr_db_next(db, find)) {
        found.id = sqlite3_column_int64(find, 0);
        is_other = !wr_span_eq(wr_db_column(find, 1), hash_span(hash));
    }
    wr_db_done(find);
    if (!found.id || db->code)
        return found;
    if (!is_other && is_trusting && *slot_of(sqlite, found.id) == found.id)
        found.presence = WR_WHOLE;
    else if (!is_whole(sqlite, found.id))
        found.presence = WR_DAMAGED;
    else
        found.presence = is_other ? WR_COLLIDES : WR_WHOLE;
    return found;
}

/* ---- for many ---- */

/* Every request asks for all that its session rests on, and nearly always nothing was lost. */
static void forget_lost(struct wr_sqlite *sqlite)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *losses = wr_db_use(db, WR_SQL_ARTIFACT_LOSS, "SELECT count FROM artifact_loss");
    int64_t count = wr_db_next(db, losses) ? sqlite3_column_int64(losses, 0) : -1;
    wr_db_done(losses);
    if (!sqlite->seen)
        sqlite->seen = calloc(WR_SQLITE_SEEN_COUNT, sizeof(*sqlite->seen));
    else if (count < 0 || count != sqlite->losses_count)
        memset(sqlite->seen, 0, WR_SQLITE_SEEN_COUNT * sizeof(*sqlite->seen));
    sqlite->losses_count = count;
}

static bool has_one(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_hash *hash)
{
    struct wr_seen *seen = NULL;

    if (sqlite->seen && sqlite->losses_count >= 0)
        seen = seen_of(sqlite, tenant_id, hash->bytes);
    if (seen && seen->tenant_id == tenant_id && !memcmp(&seen->hash, hash, sizeof(*hash)))
        return true;
    bool is_there = wr_sqlite_find(sqlite, tenant_id, hash, false).presence == WR_WHOLE;
    if (seen && is_there)
        *seen = (struct wr_seen){tenant_id, *hash};
    return is_there;
}

weir_status wr_sqlite_has(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                          size_t hashes_count, bool *is_there, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    /* One transaction that only reads: it sees one moment, and no writer can block it. */
    wr_db_begin_read(db);
    int64_t tenant_id = wr_sqlite_tenant(sqlite, tenant);
    forget_lost(sqlite);
    for (size_t i = 0; i < hashes_count && tenant_id && !db->code; i++)
        is_there[i] = has_one(sqlite, tenant_id, &hashes[i]);
    wr_db_end_read(db);
    return wr_db_status(db, &store->trouble, err);
}
