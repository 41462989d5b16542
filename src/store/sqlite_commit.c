/* One batch, one transaction.
 *
 *   follow -> pack what is new -> BEGIN IMMEDIATE -> tenant, session -> artifacts -> marks -> pins
 *          -> COMMIT -> follow
 *
 * What is slow and needs no lock, compressing, comes before the transaction. What another process
 * does meanwhile is found inside it, where every artifact is looked for once more. A batch names
 * all that its projection rests on, so most of it is usually there, and is only referred to by one
 * more session; an artifact that is damaged is written anew.
 *
 * Anything that is wrong, a failure of SQLite's or one of ours (a collision, a mark with another
 * value), stops the work through db->code and takes the transaction back whole: see give_up(). */
#include "store/sqlite.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

/* How an artifact is to be kept: a part of sqlite->packed, or the text as it is. */
struct piece {
    size_t start, len;
    enum wr_codec codec;
    bool is_packed;
};

struct work {
    struct wr_sqlite *sqlite;
    struct weir_batch *batch;
    struct piece *pieces; /* one an artifact */
    int64_t tenant_id, session_id;
    weir_status status; /* a failure that is not SQLite's */
    struct weir_err *err;
};

/* Ends the work with a failure of our own: the transaction is taken back. */
static void give_up(struct work *work, weir_status status, weir_trouble trouble)
{
    if (work->status || work->sqlite->db.code)
        return;
    work->status = status;
    work->sqlite->store.trouble = trouble;
    work->sqlite->db.code = SQLITE_ABORT;
    (void)wr_fail(work->err, status, 0, "%s",
                  trouble ? weir_trouble_text(trouble) : weir_status_text(status));
}

/* ---- artifacts ---- */

static void pack(struct work *work, size_t index)
{
    struct piece *piece = &work->pieces[index];
    struct wr_buf *packed = &work->sqlite->packed;

    if (piece->is_packed || work->status || !work->sqlite->path)
        return; /* in memory a text stays plain: there packing costs more than it gives */
    piece->start = packed->len;
    weir_status status =
        wr_pack(&work->sqlite->packer, work->batch->artifacts[index].text, packed, &piece->codec);
    piece->len = packed->len - piece->start;
    piece->is_packed = true;
    if (status)
        give_up(work, status, WEIR_TROUBLE_NONE);
}

/* Packs what is not stored yet. Another process may change that before the transaction: what it
 * stores is found there, what it takes out is packed there. */
static void pack_all(struct work *work)
{
    struct wr_db *db = &work->sqlite->db;
    if (!work->batch->artifacts_count)
        return;
    wr_db_begin_read(db); /* so that locks are taken once and not for each artifact */
    work->tenant_id = wr_sqlite_tenant(work->sqlite, work->batch->tenant);
    for (size_t i = 0; i < work->batch->artifacts_count; i++) {
        const weir_hash *hash = &work->batch->artifacts[i].hash;
        struct wr_found found = {.presence = WR_ABSENT};
        if (work->tenant_id)
            found = wr_sqlite_find(work->sqlite, work->tenant_id, hash, true);
        if (found.presence == WR_ABSENT || found.presence == WR_DAMAGED)
            pack(work, i);
        /* Only here: what is found whole in the transaction may be taken back with it. */
        if (found.presence == WR_WHOLE)
            wr_sqlite_trust(work->sqlite, found.id);
    }
    wr_db_end_read(db);
}

/* Binds what a row is made of: from ?1 hash, text_bytes, codec, data, checksum. */
static void bind_row(struct work *work, size_t index, sqlite3_stmt *row)
{
    const struct weir_artifact *artifact = &work->batch->artifacts[index];
    const struct piece *piece = &work->pieces[index];
    struct wr_db *db = &work->sqlite->db;
    weir_span data = artifact->text;
    if (piece->is_packed)
        data = wr_span_cut(wr_buf_view(&work->sqlite->packed), piece->start,
                           piece->start + piece->len);

    wr_db_bind_blob(db, row, 1, wr_hash_span(&artifact->hash));
    wr_db_bind_number(db, row, 2, (int64_t)artifact->text.len);
    wr_db_bind_number(db, row, 3, piece->codec);
    wr_db_bind_blob(db, row, 4, data);
    wr_db_bind_number(
        db, row, 5,
        wr_pack_checksum(data, piece->codec, artifact->text.len, wr_hash_span(&artifact->hash)));
}

static void drop_expired(struct work *work, const weir_hash *hash)
{
    struct wr_db *db = &work->sqlite->db;
    sqlite3_stmt *drop = wr_db_use(db, WR_SQL_EXPIRED_DROP,
                                   "DELETE FROM expired WHERE handle = ?1 AND tenant_id = ?2");
    wr_db_bind_blob(db, drop, 1, wr_handle_span(hash->bytes));
    wr_db_bind_number(db, drop, 2, work->tenant_id);
    wr_db_run(db, drop);
}

static int64_t add_artifact(struct work *work, size_t index)
{
    const weir_hash *hash = &work->batch->artifacts[index].hash;
    struct wr_db *db = &work->sqlite->db;

    pack(work, index);
    sqlite3_stmt *add = wr_db_use(db, WR_SQL_ARTIFACT_ADD,
                                  "INSERT INTO artifact(tenant_id, handle, hash, text_bytes, codec,"
                                  " data, checksum) VALUES(?6, ?7, ?1, ?2, ?3, ?4, ?5)");
    bind_row(work, index, add);
    wr_db_bind_number(db, add, 6, work->tenant_id);
    wr_db_bind_blob(db, add, 7, wr_handle_span(hash->bytes));
    wr_db_run(db, add);
    int64_t id = sqlite3_last_insert_rowid(db->handle);
    drop_expired(work, hash);
    return id;
}

/* Writes a damaged artifact anew. Where its pages cannot even be freed the commit fails. */
static void heal_artifact(struct work *work, size_t index, int64_t id)
{
    struct wr_db *db = &work->sqlite->db;

    work->sqlite->store.hash_failures_count++;
    pack(work, index);
    sqlite3_stmt *set = wr_db_use(db, WR_SQL_ARTIFACT_SET,
                                  "UPDATE artifact SET hash = ?1, text_bytes = ?2, codec = ?3,"
                                  " data = ?4, checksum = ?5 WHERE id = ?6");
    bind_row(work, index, set);
    wr_db_bind_number(db, set, 6, id);
    wr_db_run(db, set);
}

static void keep_artifact(struct work *work, size_t index)
{
    struct weir_artifact *artifact = &work->batch->artifacts[index];
    struct wr_db *db = &work->sqlite->db;
    struct wr_found found = wr_sqlite_find(work->sqlite, work->tenant_id, &artifact->hash, true);

    artifact->collides = found.presence == WR_COLLIDES;
    if (artifact->collides)
        give_up(work, WEIR_INVALID, WEIR_TROUBLE_COLLISION);
    if (found.presence == WR_ABSENT && !db->code)
        found.id = add_artifact(work, index);
    if (found.presence == WR_DAMAGED && !db->code)
        heal_artifact(work, index, found.id);
    sqlite3_stmt *use =
        wr_db_use(db, WR_SQL_ARTIFACT_USE, "INSERT OR IGNORE INTO artifact_use VALUES(?1, ?2)");
    wr_db_bind_number(db, use, 1, work->session_id);
    wr_db_bind_number(db, use, 2, found.id);
    wr_db_run(db, use);
}

/* ---- marks and pins ---- */

/* A value that is there may stay, be replaced, or be in the way. True: it is to be written. */
static bool is_to_write(struct work *work, weir_span old, weir_span value, bool replaces)
{
    if (wr_span_eq(old, value))
        return false;
    if (!replaces)
        give_up(work, WEIR_INVALID, WEIR_TROUBLE_CONFLICT);
    return replaces;
}

/* The number of a mark that is there and may not be replaced: it must have the value. */
static int64_t find_mark(struct work *work, const struct weir_mark *mark)
{
    struct wr_db *db = &work->sqlite->db;
    sqlite3_stmt *find =
        wr_db_use(db, WR_SQL_MARK_FIND,
                  "SELECT id, value FROM mark WHERE tenant_id = ?1 AND key = ?2 AND kind = ?3");
    int64_t id = 0;

    wr_db_bind_number(db, find, 1, work->tenant_id);
    wr_db_bind_blob(db, find, 2, wr_hash_span(&mark->key));
    wr_db_bind_number(db, find, 3, mark->kind);
    if (wr_db_next(db, find)) {
        id = sqlite3_column_int64(find, 0);
        (void)is_to_write(work, wr_db_column(find, 1), mark->value, false);
    }
    wr_db_done(find);
    return id;
}

/* The statement that adds a mark, where there is none, and where the mark replaces one gives that
 * the new value. Most marks are new, so it is tried to add them before they are looked for. */
static sqlite3_stmt *mark_adder(struct wr_db *db, bool replaces)
{
    if (replaces)
        return wr_db_use(db, WR_SQL_MARK_PUT,
                         "INSERT INTO mark(tenant_id, key, kind, value) VALUES(?1, ?2, ?3, ?4)"
                         " ON CONFLICT DO UPDATE SET value = excluded.value"
                         " WHERE value <> excluded.value");
    return wr_db_use(db, WR_SQL_MARK_ADD,
                     "INSERT INTO mark(tenant_id, key, kind, value) VALUES(?1, ?2, ?3, ?4)"
                     " ON CONFLICT DO NOTHING");
}

/* The session refers to a mark that was there and has the value by now. */
static void use_again(struct work *work, const struct weir_mark *mark)
{
    struct wr_db *db = &work->sqlite->db;
    sqlite3_stmt *use = wr_db_use(db, WR_SQL_MARK_USE_AGAIN,
                                  "INSERT OR IGNORE INTO mark_use SELECT ?4, id FROM mark"
                                  " WHERE tenant_id = ?1 AND key = ?2 AND kind = ?3");
    wr_db_bind_number(db, use, 1, work->tenant_id);
    wr_db_bind_blob(db, use, 2, wr_hash_span(&mark->key));
    wr_db_bind_number(db, use, 3, mark->kind);
    wr_db_bind_number(db, use, 4, work->session_id);
    wr_db_run(db, use);
}

static void keep_mark(struct work *work, const struct weir_mark *mark)
{
    struct wr_db *db = &work->sqlite->db;
    sqlite3_stmt *add = mark_adder(db, mark->replaces);

    wr_db_bind_number(db, add, 1, work->tenant_id);
    wr_db_bind_blob(db, add, 2, wr_hash_span(&mark->key));
    wr_db_bind_number(db, add, 3, mark->kind);
    wr_db_bind_blob(db, add, 4, mark->value);
    sqlite3_set_last_insert_rowid(db->handle, 0); /* which only a row that is added sets */
    wr_db_run(db, add);
    int64_t id = db->code ? 0 : sqlite3_last_insert_rowid(db->handle);
    if (!id && mark->replaces) {
        use_again(work, mark);
        return;
    }
    if (!id)
        id = find_mark(work, mark);

    sqlite3_stmt *use =
        wr_db_use(db, WR_SQL_MARK_USE, "INSERT OR IGNORE INTO mark_use VALUES(?1, ?2)");
    wr_db_bind_number(db, use, 1, work->session_id);
    wr_db_bind_number(db, use, 2, id);
    wr_db_run(db, use);
}

static void keep_pin(struct work *work, const struct weir_pin *pin)
{
    struct wr_db *db = &work->sqlite->db;
    sqlite3_stmt *find = wr_db_use(db, WR_SQL_PIN_FIND,
                                   "SELECT value FROM pin WHERE session_id = ?1 AND model = ?2"
                                   " AND first_turn = ?3");
    bool is_to_set = true;

    wr_db_bind_number(db, find, 1, work->session_id);
    wr_db_bind_text(db, find, 2, pin->model);
    wr_db_bind_blob(db, find, 3, wr_hash_span(&pin->first_turn));
    if (wr_db_next(db, find))
        is_to_set = is_to_write(work, wr_db_column(find, 0), pin->value, pin->replaces);
    wr_db_done(find);
    if (!is_to_set)
        return;
    sqlite3_stmt *set =
        wr_db_use(db, WR_SQL_PIN_SET, "INSERT OR REPLACE INTO pin VALUES(?1, ?2, ?3, ?4)");
    wr_db_bind_number(db, set, 1, work->session_id);
    wr_db_bind_text(db, set, 2, pin->model);
    wr_db_bind_blob(db, set, 3, wr_hash_span(&pin->first_turn));
    wr_db_bind_blob(db, set, 4, pin->value);
    wr_db_run(db, set);
}

/* ---- the transaction ---- */

static void write_all(struct work *work)
{
    struct wr_db *db = &work->sqlite->db;
    wr_db_begin(db);
    work->tenant_id = wr_sqlite_need_tenant(work->sqlite, work->batch->tenant);
    work->session_id = wr_sqlite_need_session(work->sqlite, work->tenant_id, work->batch->session,
                                              work->batch->used_ms);
    for (size_t i = 0; i < work->batch->artifacts_count && !db->code; i++)
        keep_artifact(work, i);
    for (size_t i = 0; i < work->batch->marks_count && !db->code; i++)
        keep_mark(work, &work->batch->marks[i]);
    for (size_t i = 0; i < work->batch->pins_count && !db->code; i++)
        keep_pin(work, &work->batch->pins[i]);
    wr_db_end(db);
}

/* SQLite changes it only between transactions. */
static void set_durability(struct wr_sqlite *sqlite, weir_durability durability)
{
    bool is_full = durability == WEIR_DURABLE_FULL;
    if (sqlite->is_full == is_full)
        return;
    wr_db_exec(&sqlite->db, is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    sqlite->is_full = is_full;
}

static weir_status commit_here(struct wr_sqlite *sqlite, struct weir_batch *batch,
                               struct weir_err *err)
{
    struct work work = {.sqlite = sqlite, .batch = batch, .err = err};

    wr_arena_reset(&sqlite->arena);
    wr_sqlite_reset_packed(sqlite);
    work.pieces = WR_ARENA_ARRAY(&sqlite->arena, struct piece, batch->artifacts_count);
    if (!work.pieces)
        return wr_fail(err, wr_arena_status(&sqlite->arena), 0, "no memory for a commit");
    wr_db_start(&sqlite->db);
    set_durability(sqlite, batch->durability);
    if (!sqlite->db.code)
        pack_all(&work);
    if (!work.status && !sqlite->db.code)
        write_all(&work);
    return work.status ? work.status : wr_db_status(&sqlite->db, &sqlite->store.trouble, err);
}

static weir_status say_replaced(struct weir_store *store, struct weir_err *err)
{
    store->trouble = WEIR_TROUBLE_REPLACED;
    return wr_fail(err, WEIR_IO, 0, "%s", weir_trouble_text(store->trouble));
}

/* Law L2: what was committed is in the store at the path. So it is looked at before, for what the
 * batch takes to be there, and behind, for what it brought. */
weir_status wr_sqlite_commit(struct weir_store *store, struct weir_batch *batch,
                             struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    uint64_t replaced_count = store->replaced_count;

    weir_status status = wr_sqlite_follow_to_write(sqlite, err);
    if (!status && store->replaced_count != replaced_count)
        return say_replaced(store, err);
    if (!status)
        status = commit_here(sqlite, batch, err);
    if (!status)
        status = wr_sqlite_follow_behind(sqlite, err);
    if (!status && store->replaced_count != replaced_count)
        return say_replaced(store, err);
    return status;
}

weir_status wr_sqlite_probe(struct weir_store *store, bool writes, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;

    weir_status status =
        writes ? wr_sqlite_follow_to_write(sqlite, err) : wr_sqlite_follow(sqlite, err);
    if (status || !writes)
        return status;
    /* One page may fit where no request does: said to be well, the store would be in trouble again
     * with the next one, and so on. */
    wr_db_try_room(db, WR_STORE_ROOM_BYTES);
    if (!db->code) {
        wr_db_begin(db);
        wr_db_exec(db, "UPDATE artifact_loss SET count = count");
        wr_db_end(db);
    }
    return wr_db_status(db, &store->trouble, err);
}
