/* What is read: one artifact, whether many are there and whole, the marks of many keys, a pin, and
 * everything for `stats` and `verify`.
 *
 * Whether an artifact is there is asked before a text is left out of a commit because it is stored
 * already, and before a projection rests on what is stored, and "there" means that it would come
 * back whole: each is read and its checksum compared. So that a request does not read everything
 * again that its session ever took out, two things are remembered. A commit trusts rows that this
 * store found whole before (checked_ids, by number, until they are recalled: the reader may find
 * that they are not what they should be). wr_sqlite_has() remembers hashes (seen) for as long as
 * the database has counted no loss: a trigger counts whatever is deleted or changed, by whichever
 * process, so one row read answers for all of them.
 *
 * Marks are searched for by 32 keys a statement, so that a chain of hundreds of turns is a handful
 * of them. A temporary table with the keys would make every read a write. */
#include "store/sqlite.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"

/* ---- what was checked ---- */

static int64_t *slot_of(struct wr_sqlite *sqlite, int64_t id)
{
    return &sqlite->checked_ids[(uint64_t)id % WR_SQLITE_CHECKED_COUNT];
}

void wr_sqlite_trust(struct wr_sqlite *sqlite, int64_t id)
{
    *slot_of(sqlite, id) = id;
}

/* To be looked at again. */
static void distrust_row(struct wr_sqlite *sqlite, int64_t id)
{
    if (*slot_of(sqlite, id) == id)
        *slot_of(sqlite, id) = 0;
}

/* One of the SEEN_PROBES places in which an artifact may be noted. With one place each, a session
 * that rests on thousands of originals read dozens of them again at every request. */
enum { SEEN_PROBES = 4 };

static struct wr_seen *seen_place(struct wr_sqlite *sqlite, int64_t tenant_id,
                                  const unsigned char handle[WEIR_HANDLE_BYTES], uint64_t probe)
{
    uint64_t hash = wr_hash64_seeded(wr_handle_span(handle), (uint64_t)tenant_id);
    return &sqlite->seen[(hash + probe) % WR_SQLITE_SEEN_COUNT];
}

/* The place where it is noted, else a place where it can be: a free one, or the first. */
static struct wr_seen *seen_of(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_hash *hash)
{
    struct wr_seen *free_place = NULL;
    for (uint64_t i = 0; i < SEEN_PROBES; i++) {
        struct wr_seen *seen = seen_place(sqlite, tenant_id, hash->bytes, i);
        if (seen->tenant_id == tenant_id && !memcmp(&seen->hash, hash, sizeof(*hash)))
            return seen;
        if (!seen->tenant_id && !free_place)
            free_place = seen;
    }
    return free_place ? free_place : seen_place(sqlite, tenant_id, hash->bytes, 0);
}

/* The same for what wr_sqlite_has() has found: damage is no loss that the database counts. */
static void look_again(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_handle *handle)
{
    for (uint64_t i = 0; i < SEEN_PROBES && sqlite->seen; i++)
        seen_place(sqlite, tenant_id, handle->bytes, i)->tenant_id = 0;
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
                                                wr_hash_span(&hash));
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

    wr_db_bind_blob(db, find, 1, wr_handle_span(hash->bytes));
    wr_db_bind_number(db, find, 2, tenant_id);
    if (wr_db_next(db, find)) {
        found.id = sqlite3_column_int64(find, 0);
        is_other = !wr_span_eq(wr_db_column(find, 1), wr_hash_span(hash));
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
        seen = seen_of(sqlite, tenant_id, hash);
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

/* ---- artifacts ---- */

/* From a row of: hash, text_bytes, codec, data. WEIR_SYNTAX when it cannot be what was put there.
 */
static weir_status read_row(struct wr_sqlite *sqlite, sqlite3_stmt *row, int at,
                            struct weir_artifact *artifact)
{
    int64_t text_bytes = sqlite3_column_int64(row, at + 1);
    if (!wr_db_column_is(row, at, WEIR_HASH_BYTES) || text_bytes < 0)
        return WEIR_SYNTAX;
    memcpy(artifact->hash.bytes, wr_db_column(row, at).ptr, WEIR_HASH_BYTES);
    wr_sqlite_reset_text(sqlite);
    weir_status status =
        wr_unpack(&sqlite->packer, wr_db_column(row, at + 3), sqlite3_column_int64(row, at + 2),
                  (uint64_t)text_bytes, &sqlite->text);
    artifact->text = wr_buf_view(&sqlite->text);
    return status;
}

static weir_status read_artifact(struct wr_sqlite *sqlite, int64_t tenant_id,
                                 const struct weir_lookup *lookup, struct weir_artifact *artifact)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *read = wr_db_use(db, WR_SQL_ARTIFACT_READ,
                                   "SELECT id, hash, text_bytes, codec, data FROM artifact"
                                   " WHERE handle = ?1 AND tenant_id = ?2");
    weir_status status = WEIR_NOTFOUND;

    look_again(sqlite, tenant_id, &lookup->handle);
    wr_db_bind_blob(db, read, 1, wr_handle_span(lookup->handle.bytes));
    wr_db_bind_number(db, read, 2, tenant_id);
    if (wr_db_next(db, read)) {
        /* The caller may find that this is not the text: then a commit shall write it anew. */
        distrust_row(sqlite, sqlite3_column_int64(read, 0));
        status = read_row(sqlite, read, 1, artifact);
    }
    wr_db_done(read);
    return status;
}

static bool has_row(struct wr_db *db, sqlite3_stmt *find, weir_handle handle, int64_t tenant_id)
{
    wr_db_bind_blob(db, find, 1, wr_handle_span(handle.bytes));
    wr_db_bind_number(db, find, 2, tenant_id);
    bool found = wr_db_next(db, find);
    wr_db_done(find);
    return found;
}

static weir_miss why_missing(struct wr_db *db, int64_t tenant_id, const struct weir_lookup *lookup)
{
    sqlite3_stmt *find = wr_db_use(db, WR_SQL_EXPIRED_FIND,
                                   "SELECT 1 FROM expired WHERE handle = ?1 AND tenant_id = ?2");
    if (has_row(db, find, lookup->handle, tenant_id))
        return WEIR_MISS_EXPIRED;
    /* Not even looked for on behalf of a tenant: the time it takes would tell. */
    if (!lookup->is_operator)
        return WEIR_MISS_NEVER_STORED;
    find = wr_db_use(db, WR_SQL_ARTIFACT_ELSEWHERE,
                     "SELECT 1 FROM artifact WHERE handle = ?1 AND tenant_id <> ?2");
    return has_row(db, find, lookup->handle, tenant_id) ? WEIR_MISS_OTHER_TENANT
                                                        : WEIR_MISS_NEVER_STORED;
}

weir_status wr_sqlite_get(struct weir_store *store, const struct weir_lookup *lookup,
                          struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    wr_db_start(db);
    int64_t tenant_id = wr_sqlite_tenant(sqlite, lookup->tenant);
    status = read_artifact(sqlite, tenant_id, lookup, artifact);
    if (status == WEIR_NOTFOUND)
        *miss = why_missing(db, tenant_id, lookup);
    if (status == WEIR_SYNTAX || (db->code & 0xFF) == SQLITE_CORRUPT) {
        *miss = WEIR_MISS_CORRUPT;
        return WEIR_NOTFOUND;
    }
    if (db->code)
        return wr_db_status(db, &store->trouble, err);
    if (status && status != WEIR_NOTFOUND)
        return wr_fail(err, status, 0, "cannot unpack the artifact: %s", weir_status_text(status));
    return status;
}

/* ---- marks and pins ---- */

/* Keys are asked for by the group: one statement seeks for all of them, in the order they have
 * here, because a CROSS JOIN is done from left to right. */
enum { MARK_KEYS_COUNT = 32 };

static const char mark_sql[] =
    "WITH asked(at, key) AS (VALUES"
    "(0,?2),(1,?3),(2,?4),(3,?5),(4,?6),(5,?7),(6,?8),(7,?9),"
    "(8,?10),(9,?11),(10,?12),(11,?13),(12,?14),(13,?15),(14,?16),(15,?17),"
    "(16,?18),(17,?19),(18,?20),(19,?21),(20,?22),(21,?23),(22,?24),(23,?25),"
    "(24,?26),(25,?27),(26,?28),(27,?29),(28,?30),(29,?31),(30,?32),(31,?33)"
    ") SELECT asked.at, m.kind, m.value FROM asked CROSS JOIN mark m"
    " WHERE m.tenant_id = ?1 AND m.key = asked.key";

/* A conversation that begins asks for one, and a group is run through whole. */
static const char one_mark_sql[] =
    "SELECT 0, kind, value FROM mark WHERE tenant_id = ?1 AND key = ?2";

/* Fewer than a group: what is not bound is NULL, which no key is equal to. */
static sqlite3_stmt *ask_for_marks(struct wr_db *db, int64_t tenant_id, const weir_hash *keys,
                                   size_t keys_count)
{
    sqlite3_stmt *read = keys_count == 1 ? wr_db_use(db, WR_SQL_MARK_READ_ONE, one_mark_sql)
                                         : wr_db_use(db, WR_SQL_MARK_READ, mark_sql);
    if (!db->code && keys_count > 1 && keys_count < MARK_KEYS_COUNT)
        (void)sqlite3_clear_bindings(read);
    wr_db_bind_number(db, read, 1, tenant_id);
    for (size_t i = 0; i < keys_count; i++)
        wr_db_bind_blob(db, read, (int)i + 2, wr_hash_span(&keys[i]));
    return read;
}

struct mark_search {
    const weir_hash *keys;
    weir_mark_fn *found;
    void *user;
};

static weir_status read_marks(struct wr_db *db, int64_t tenant_id, const struct mark_search *search,
                              size_t first, size_t keys_count)
{
    weir_status status = WEIR_OK;
    sqlite3_stmt *read = ask_for_marks(db, tenant_id, search->keys + first, keys_count);

    while (!status && wr_db_next(db, read)) {
        size_t at = first + (size_t)sqlite3_column_int64(read, 0);
        int64_t kind = sqlite3_column_int64(read, 1);
        /* A kind that a later Weir of the same schema added is not known here. */
        if (kind < 0 || kind >= WEIR_MARK_KINDS_COUNT)
            continue;
        struct weir_mark mark = {.key = search->keys[at], .kind = (weir_mark_kind)kind};
        mark.value = wr_db_column(read, 2);
        status = search->found(search->user, at, &mark);
    }
    wr_db_done(read);
    return status;
}

/* A database whose file was removed can fail to be read once another has begun to use the log that
 * was left. Then store->replaced_count tells the caller to begin anew. */
static weir_status look_behind_failure(struct weir_store *store, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    weir_status status = wr_db_status(&sqlite->db, &store->trouble, err);
    weir_trouble trouble = store->trouble;

    (void)!wr_sqlite_follow(sqlite, NULL);
    store->trouble = trouble;
    return status;
}

weir_status wr_sqlite_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                            size_t keys_count, weir_mark_fn *found, void *user,
                            struct weir_err *err)
{
    struct mark_search search = {keys, found, user};
    struct wr_db *db = &wr_sqlite_of(store)->db;
    weir_status status = WEIR_OK;

    /* One transaction, so that all keys are answered from one moment and locks are taken once. */
    wr_db_begin_read(db);
    int64_t tenant_id = wr_sqlite_tenant(wr_sqlite_of(store), tenant);
    for (size_t i = 0; i < keys_count && !status && !db->code && tenant_id; i += MARK_KEYS_COUNT) {
        size_t rest_count = keys_count - i;
        status = read_marks(db, tenant_id, &search, i,
                            rest_count < MARK_KEYS_COUNT ? rest_count : MARK_KEYS_COUNT);
    }
    wr_db_end(db);
    if (db->code)
        return look_behind_failure(store, err);
    return status ? wr_fail(err, status, 0, "the search for marks was stopped") : WEIR_OK;
}

struct pin_search {
    weir_pin_fn *found;
    void *user;
    size_t found_count;
    weir_status status; /* of the last that was told */
};

static void read_pin(struct wr_db *db, weir_span tenant, const struct weir_pin_query *query,
                     size_t at, struct pin_search *search)
{
    struct weir_pin pin = query->pin;
    sqlite3_stmt *read = wr_db_use(db, WR_SQL_PIN_READ,
                                   "SELECT p.value FROM pin p JOIN session s ON s.id = p.session_id"
                                   " JOIN tenant t ON t.id = s.tenant_id WHERE t.name = ?1"
                                   " AND s.name = ?2 AND p.model = ?3 AND p.first_turn = ?4");
    wr_db_bind_text(db, read, 1, tenant);
    wr_db_bind_text(db, read, 2, query->session);
    wr_db_bind_text(db, read, 3, pin.model);
    wr_db_bind_blob(db, read, 4, wr_hash_span(&pin.first_turn));
    if (wr_db_next(db, read)) {
        pin.value = wr_db_column(read, 0);
        search->found_count++;
        search->status = search->found(search->user, at, &pin);
    }
    wr_db_done(read);
}

/* Several in one transaction, so that locks are taken once. */
static void read_pins(struct wr_db *db, weir_span tenant, const struct weir_pin_query *queries,
                      size_t queries_count, struct pin_search *search)
{
    if (queries_count == 1)
        wr_db_start(db);
    else
        wr_db_begin_read(db);
    for (size_t i = 0; i < queries_count && !search->status && !db->code; i++)
        read_pin(db, tenant, &queries[i], i, search);
    if (queries_count > 1)
        wr_db_end(db);
}

/* The files are looked at only where nothing is read: what a session has a pin in is what it goes
 * on with, and its commit looks before anything of it is used. */
weir_status wr_sqlite_pins(struct weir_store *store, weir_span tenant,
                           const struct weir_pin_query *queries, size_t queries_count,
                           weir_pin_fn *found, void *user, struct weir_err *err)
{
    struct wr_db *db = &wr_sqlite_of(store)->db;
    struct pin_search search = {.found = found, .user = user};

    read_pins(db, tenant, queries, queries_count, &search);
    if (!search.found_count) {
        weir_status status = wr_sqlite_follow(wr_sqlite_of(store), err);
        if (status)
            return status;
        read_pins(db, tenant, queries, queries_count, &search);
    }
    if (db->code)
        return wr_db_status(db, &store->trouble, err);
    return search.status ? wr_fail(err, search.status, 0, "the search for pins was stopped")
                         : WEIR_OK;
}

struct kept_pin {
    struct wr_buf *text;
    struct weir_pin *pin;
    bool is_there;
};

static weir_status keep_pin_value(void *user, size_t at, const struct weir_pin *pin)
{
    struct kept_pin *kept = user;

    (void)at;
    wr_buf_append(kept->text, pin->value);
    kept->pin->value = wr_buf_view(kept->text);
    kept->is_there = true;
    return wr_buf_status(kept->text);
}

weir_status wr_sqlite_pin(struct weir_store *store, weir_span tenant, weir_span session,
                          struct weir_pin *pin, struct weir_err *err)
{
    struct kept_pin kept = {.text = &wr_sqlite_of(store)->text, .pin = pin};
    struct weir_pin_query query = {session, *pin};

    wr_sqlite_reset_text(wr_sqlite_of(store));
    weir_status status = wr_sqlite_pins(store, tenant, &query, 1, keep_pin_value, &kept, err);
    if (!status && !kept.is_there)
        return wr_fail(err, WEIR_NOTFOUND, 0, "no such pin");
    return status;
}

/* ---- everything ---- */

static uint64_t file_bytes(const char *path)
{
    struct stat found;
    return stat(path, &found) || found.st_size < 0 ? 0 : (uint64_t)found.st_size;
}

static uint64_t count(struct wr_db *db, const char *sql)
{
    int64_t number = wr_db_number(db, sql);
    return number < 0 ? 0 : (uint64_t)number;
}

weir_status wr_sqlite_stats(struct weir_store *store, struct weir_store_stats *stats,
                            struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    wr_db_begin_read(db);
    stats->tenants_count = count(db, "SELECT count(*) FROM tenant");
    stats->sessions_count = count(db, "SELECT count(*) FROM session");
    stats->artifacts_count = count(db, "SELECT count(*) FROM artifact");
    stats->marks_count = count(db, "SELECT count(*) FROM mark");
    stats->pins_count = count(db, "SELECT count(*) FROM pin");
    stats->expired_count = count(db, "SELECT count(*) FROM expired");
    stats->text_bytes = count(db, "SELECT sum(text_bytes) FROM artifact");
    stats->stored_bytes = count(db, "SELECT sum(length(data)) FROM artifact");
    stats->rows_count = count(db, "SELECT count(*) FROM request");
    stats->rows_bytes = count(db, "SELECT total(length(CAST(line AS BLOB))) FROM request") +
                        count(db, "SELECT total(length(data)) FROM report") +
                        count(db, "SELECT total(length(data)) FROM piece") +
                        count(db, "SELECT total(length(lists)) FROM said");
    stats->samples_count = count(db, "SELECT count(*) FROM sample");
    stats->oldest_used_ms = wr_db_number(db, "SELECT min(used_ms) FROM session");
    stats->newest_used_ms = wr_db_number(db, "SELECT max(used_ms) FROM session");
    stats->schema_version = (uint32_t)count(db, "PRAGMA user_version");
    if (sqlite->path)
        stats->file_bytes = file_bytes(sqlite->paths[WR_SQLITE_DATABASE]) +
                            file_bytes(sqlite->paths[WR_SQLITE_LOG]);
    wr_db_end(db);
    return wr_db_status(db, &store->trouble, err);
}

static void note_damage(struct weir_verify_report *report, weir_span what)
{
    if (report->has_damage)
        return;
    report->has_damage = true;
    (void)snprintf(report->damage, sizeof(report->damage), "%.*s", (int)(what.len & 0xFFFF),
                   what.ptr);
}

static void verify_file(struct wr_db *db, struct weir_verify_report *report)
{
    sqlite3_stmt *check = wr_db_make(db, "PRAGMA integrity_check(1)");
    if (wr_db_next(db, check) && !wr_span_is(wr_db_column(check, 0), "ok"))
        note_damage(report, wr_db_column(check, 0));
    wr_db_drop(check);
    if (wr_db_number(db, "SELECT count(*) FROM artifact_use"
                         " WHERE artifact_id NOT IN (SELECT id FROM artifact)"))
        note_damage(report, WR_LIT("a session refers to an artifact that is not there"));
    if (wr_db_number(db, "SELECT count(*) FROM mark_use"
                         " WHERE mark_id NOT IN (SELECT id FROM mark)"))
        note_damage(report, WR_LIT("a session refers to a mark that is not there"));
    if (wr_db_number(db, "SELECT count(*) FROM (SELECT session_id FROM request UNION"
                         " SELECT session_id FROM report UNION SELECT session_id FROM sample"
                         " UNION SELECT session_id FROM note)"
                         " WHERE session_id NOT IN (SELECT id FROM session)"))
        note_damage(report, WR_LIT("a request's row is of a session that is not there"));
}

/* From a row of: tenant's name, handle, and what read_row() wants. */
static weir_status verify_row(struct wr_sqlite *sqlite, sqlite3_stmt *row, weir_corrupt_fn *corrupt,
                              void *user, struct weir_verify_report *report)
{
    struct weir_artifact artifact = {.text = {NULL, 0}};
    unsigned char digest[WR_SHA256_BYTES];
    weir_span handle = wr_db_column(row, 1);
    weir_status status = read_row(sqlite, row, 2, &artifact);

    if (!status)
        status = wr_sha256(artifact.text, digest);
    if (status == WEIR_NOMEM)
        return status;
    report->artifacts_count++;
    report->text_bytes += artifact.text.len;
    if (!status && !memcmp(digest, artifact.hash.bytes, sizeof(digest)) &&
        wr_span_eq(handle, (weir_span){(const char *)digest, WEIR_HANDLE_BYTES}))
        return WEIR_OK;
    report->corrupt_count++;
    if (corrupt) {
        weir_handle name = {{0}};
        memcpy(name.bytes, handle.ptr,
               handle.len < WEIR_HANDLE_BYTES ? handle.len : WEIR_HANDLE_BYTES);
        corrupt(user, wr_db_column(row, 0), name);
    }
    return WEIR_OK;
}

weir_status wr_sqlite_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                             struct weir_verify_report *report, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    wr_db_start(db);
    verify_file(db, report);
    sqlite3_stmt *rows = wr_db_make(db, "SELECT t.name, a.handle, a.hash, a.text_bytes, a.codec,"
                                        " a.data FROM artifact a LEFT JOIN tenant t"
                                        " ON t.id = a.tenant_id ORDER BY a.id");
    while (!status && wr_db_next(db, rows))
        status = verify_row(sqlite, rows, corrupt, user, report);
    wr_db_drop(rows);
    if (status)
        return wr_fail(err, status, 0, "cannot verify the store: %s", weir_status_text(status));
    if ((db->code & 0xFF) != SQLITE_CORRUPT)
        return wr_db_status(db, &store->trouble, err);
    note_damage(report, wr_span_of(sqlite3_errstr(db->code)));
    return WEIR_OK;
}
