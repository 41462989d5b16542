/* Bodies as lists of pieces (said.h).
 *
 *   body ──wr_said_cut──▶ piece, piece, ... ──▶ known to the session? ──no──▶ packed, added
 *                                                      └──▶ its number, in the request's list
 *
 * A request has three lists: what came, what was sent (empty: the same), and the report of what was
 * done. A list is the numbers of its pieces, each as the difference to the one before, because
 * pieces that were added together have numbers in a row.
 *
 * A cut is where the hash of the last 64 bytes has zeros in front (a gear hash: each byte shifts
 * the one before out). Pieces are 8 KB on average; shorter ones would be found again more often,
 * longer ones compress better.
 */
#include "store/said.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/store.h"

enum {
    PIECE_BYTES_MIN = 2 * 1024,
    PIECE_BYTES_MAX = 64 * 1024,
    CUT_BITS = 13,
    HASHED_BYTES = 64,
    HASH_BYTES = 16,
    LISTS_COUNT = 3,
    VARINT_BYTES_MAX = 10,
    /* Of one transaction: requests that are to be projected wait for its end. */
    GROUP_ROWS_MAX = 64,
    GROUP_PACKED_BYTES = 128 * 1024
};

/* ---- cutting ---- */

/* A fixed number for each byte that has nothing to do with its neighbours' (splitmix64). */
#define GEAR_1(z)   (((z) ^ ((z) >> 30)) * 0xBF58476D1CE4E5B9ULL)
#define GEAR_2(z)   (((z) ^ ((z) >> 27)) * 0x94D049BB133111EBULL)
#define GEAR_3(z)   ((z) ^ ((z) >> 31))
#define GEAR(byte)  GEAR_3(GEAR_2(GEAR_1(((byte) + 1) * 0x9E3779B97F4A7C15ULL)))
#define GEARS_4(b)  GEAR(b), GEAR((b) + 1), GEAR((b) + 2), GEAR((b) + 3)
#define GEARS_16(b) GEARS_4(b), GEARS_4((b) + 4), GEARS_4((b) + 8), GEARS_4((b) + 12)
#define GEARS_64(b) GEARS_16(b), GEARS_16((b) + 16), GEARS_16((b) + 32), GEARS_16((b) + 48)

static const uint64_t gears[256] = {GEARS_64(0), GEARS_64(64), GEARS_64(128), GEARS_64(192)};

size_t wr_said_cut(weir_span text)
{
    size_t end = text.len < PIECE_BYTES_MAX ? text.len : PIECE_BYTES_MAX;
    size_t i = PIECE_BYTES_MIN - HASHED_BYTES;
    uint64_t hash = 0;

    for (; i < end && i < PIECE_BYTES_MIN; i++)
        hash = (hash << 1) + gears[(unsigned char)text.ptr[i]];
    for (; i < end; i++) {
        hash = (hash << 1) + gears[(unsigned char)text.ptr[i]];
        if (!(hash >> (64 - CUT_BITS)))
            return i + 1;
    }
    return end;
}

/* ---- lists of numbers ---- */

static void put_varint(struct wr_buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        wr_buf_byte(out, (char)(number | 0x80));
    wr_buf_byte(out, (char)number);
}

/* Differences may be negative: the lowest bit is the sign. */
static void put_difference(struct wr_buf *out, int64_t difference)
{
    put_varint(out, ((uint64_t)difference << 1) ^ (uint64_t)(difference >> 63));
}

static bool take_varint(weir_span *from, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < VARINT_BYTES_MAX && i < from->len; i++) {
        unsigned char byte = (unsigned char)from->ptr[i];
        *number |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) {
            *from = wr_span_cut(*from, i + 1, from->len);
            return true;
        }
    }
    return false;
}

static bool take_difference(weir_span *from, int64_t *difference)
{
    uint64_t number;
    if (!take_varint(from, &number))
        return false;
    *difference = (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
    return true;
}

/* ---- keeping ---- */

/* A piece of a body that is about to be kept. */
struct piece {
    unsigned char hash[WR_SHA256_BYTES];
    int64_t session_id, id; /* 0: the session has none */
    size_t text_bytes, packed_from, packed_end;
    enum wr_codec codec;
};

/* The pieces of several requests, whose lists stand one behind the other. */
struct pieces {
    struct piece *items; /* in the store's arena */
    size_t count, cap;
};

static int64_t find_piece(struct wr_db *db, int64_t session_id, const unsigned char *hash)
{
    sqlite3_stmt *find = wr_db_use(db, WR_SQL_PIECE_FIND,
                                   "SELECT id FROM piece WHERE session_id = ?1 AND hash = ?2");
    wr_db_bind_number(db, find, 1, session_id);
    wr_db_bind_blob(db, find, 2, (weir_span){(const char *)hash, HASH_BYTES});
    int64_t id = wr_db_next(db, find) ? sqlite3_column_int64(find, 0) : 0;
    wr_db_done(find);
    return id;
}

/* What came and what was sent share most of their pieces, new ones too. */
static bool is_packed_already(const struct pieces *pieces, const struct piece *piece)
{
    for (size_t i = pieces->count; i-- > 0;)
        if (pieces->items[i].packed_end && pieces->items[i].session_id == piece->session_id &&
            !memcmp(pieces->items[i].hash, piece->hash, HASH_BYTES))
            return true;
    return false;
}

static weir_status prepare_piece(struct wr_sqlite *sqlite, int64_t session_id, weir_span text,
                                 struct pieces *pieces)
{
    struct piece piece = {.session_id = session_id, .text_bytes = text.len};
    weir_status status = wr_sha256(text, piece.hash);

    if (status)
        return status;
    piece.id = find_piece(&sqlite->db, session_id, piece.hash);
    if (!piece.id && !is_packed_already(pieces, &piece)) {
        piece.packed_from = sqlite->packed.len;
        status = wr_pack(&sqlite->packer, text, &sqlite->packed, &piece.codec);
        piece.packed_end = sqlite->packed.len;
    }
    if (!status && !WR_ARENA_ROOM(&sqlite->arena, pieces->items, pieces->count, pieces->cap, 64))
        status = wr_arena_status(&sqlite->arena);
    if (!status)
        pieces->items[pieces->count++] = piece;
    return status;
}

/* All that takes time, before the store is locked: hashing and packing. `ends`: of the lists. */
static weir_status prepare_pieces(struct wr_sqlite *sqlite, const struct wr_said_row *said,
                                  struct pieces *pieces, size_t ends[LISTS_COUNT])
{
    const weir_span texts[LISTS_COUNT] = {said->row->came, said->row->sent, said->row->report};
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < LISTS_COUNT && !status; i++) {
        weir_span text = texts[i];
        while (text.len && !status) {
            size_t bytes = wr_said_cut(text);
            status = prepare_piece(sqlite, said->session_id, wr_span_cut(text, 0, bytes), pieces);
            text = wr_span_cut(text, bytes, text.len);
        }
        ends[i] = pieces->count;
    }
    return status;
}

/* Another process may have added it meanwhile, and gc may have taken out all there was. */
static int64_t need_piece(struct wr_sqlite *sqlite, int64_t session_id, const struct piece *piece)
{
    struct wr_db *db = &sqlite->db;
    int64_t id = find_piece(db, session_id, piece->hash);

    if (id || db->code || !piece->packed_end)
        return id;
    sqlite3_stmt *add = wr_db_use(db, WR_SQL_PIECE_ADD,
                                  "INSERT INTO piece(session_id, hash, text_bytes, codec, data)"
                                  " VALUES(?1, ?2, ?3, ?4, ?5)");
    wr_db_bind_number(db, add, 1, session_id);
    wr_db_bind_blob(db, add, 2, (weir_span){(const char *)piece->hash, HASH_BYTES});
    wr_db_bind_number(db, add, 3, (int64_t)piece->text_bytes);
    wr_db_bind_number(db, add, 4, (int64_t)piece->codec);
    wr_db_bind_blob(
        db, add, 5,
        wr_span_cut(wr_buf_view(&sqlite->packed), piece->packed_from, piece->packed_end));
    wr_db_run(db, add);
    return db->code ? 0 : sqlite3_last_insert_rowid(db->handle);
}

/* False: a piece is missing. `at`: the request's first piece. */
static bool put_lists(struct wr_sqlite *sqlite, int64_t session_id, const struct pieces *pieces,
                      size_t at, const size_t ends[LISTS_COUNT], struct wr_buf *lists)
{
    for (size_t i = 0; i < LISTS_COUNT; i++) {
        int64_t last = 0;
        put_varint(lists, ends[i] - at);
        for (; at < ends[i]; at++) {
            int64_t id = need_piece(sqlite, session_id, &pieces->items[at]);
            if (!id)
                return false;
            put_difference(lists, id - last);
            last = id;
        }
    }
    return !wr_buf_status(lists);
}

static void add_lists(struct wr_db *db, int64_t session_id, int64_t request_id, weir_span lists)
{
    sqlite3_stmt *add = wr_db_use(
        db, WR_SQL_SAID_ADD, "INSERT INTO said(request_id, session_id, lists) VALUES(?1, ?2, ?3)");
    wr_db_bind_number(db, add, 1, request_id);
    wr_db_bind_number(db, add, 2, session_id);
    wr_db_bind_blob(db, add, 3, lists);
    wr_db_run(db, add);
}

/* Requests that are kept together. */
struct group {
    const struct wr_said_row *rows;
    size_t count, kept_count;
    struct pieces pieces;
    size_t ends[GROUP_ROWS_MAX][LISTS_COUNT];
    bool is_ready[GROUP_ROWS_MAX]; /* false: one that could not be prepared */
};

/* As many of the rows as make a group; one at least. */
static void prepare_group(struct wr_sqlite *sqlite, struct group *group, size_t rows_count)
{
    struct wr_db *db = &sqlite->db;

    wr_sqlite_reset_packed(sqlite);
    wr_db_begin_read(db);
    while (group->count < rows_count && group->count < GROUP_ROWS_MAX &&
           sqlite->packed.len < GROUP_PACKED_BYTES) {
        size_t i = group->count++, from = group->pieces.count;
        group->is_ready[i] =
            !prepare_pieces(sqlite, &group->rows[i], &group->pieces, group->ends[i]) && !db->code;
        if (!group->is_ready[i]) {
            group->pieces.count = from;
            wr_db_start(db);
        }
    }
    wr_db_end_read(db);
}

static void write_group(struct wr_sqlite *sqlite, struct group *group)
{
    struct wr_db *db = &sqlite->db;
    struct wr_buf lists;
    size_t at = 0;

    wr_buf_init(&lists, WR_LEDGER_SAID_BYTES_MAX);
    wr_db_begin(db);
    for (size_t i = 0; i < group->count && !db->code; i++) {
        const struct wr_said_row *said = &group->rows[i];
        if (!group->is_ready[i])
            continue;
        wr_buf_reset(&lists);
        if (put_lists(sqlite, said->session_id, &group->pieces, at, group->ends[i], &lists)) {
            add_lists(db, said->session_id, said->request_id, wr_buf_view(&lists));
            group->kept_count++;
        }
        at = group->ends[i][LISTS_COUNT - 1];
    }
    wr_db_end(db);
    if (db->code)
        group->kept_count = 0;
    wr_buf_release(&lists);
}

size_t wr_said_keep(struct wr_sqlite *sqlite, const struct wr_said_row *rows, size_t rows_count)
{
    size_t kept_count = 0;

    for (size_t i = 0; i < rows_count;) {
        struct group group = {.rows = &rows[i]};
        prepare_group(sqlite, &group, rows_count - i);
        write_group(sqlite, &group);
        kept_count += group.kept_count;
        i += group.count;
    }
    return kept_count;
}

/* ---- reading ---- */

/* Appends the piece, which is what its hash says, to sqlite->text. */
static weir_status read_piece(struct wr_sqlite *sqlite, int64_t session_id, int64_t id)
{
    struct wr_db *db = &sqlite->db;
    size_t from = sqlite->text.len;
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status = WEIR_INVALID;

    sqlite3_stmt *read =
        wr_db_use(db, WR_SQL_PIECE_READ,
                  "SELECT hash, text_bytes, codec, data FROM piece WHERE id = ?1 AND"
                  " session_id = ?2");
    wr_db_bind_number(db, read, 1, id);
    wr_db_bind_number(db, read, 2, session_id);
    if (wr_db_next(db, read) && wr_db_column_is(read, 0, HASH_BYTES)) {
        status = wr_unpack(&sqlite->packer, wr_db_column(read, 3), sqlite3_column_int64(read, 2),
                           (uint64_t)sqlite3_column_int64(read, 1), &sqlite->text);
        weir_span text = wr_span_cut(wr_buf_view(&sqlite->text), from, sqlite->text.len);
        if (!status)
            status = wr_sha256(text, digest);
        if (!status && memcmp(digest, wr_db_column(read, 0).ptr, HASH_BYTES))
            status = WEIR_INVALID;
    }
    wr_db_done(read);
    return status;
}

static weir_status read_list(struct wr_sqlite *sqlite, int64_t session_id, weir_span *list)
{
    uint64_t count;
    int64_t id = 0, difference;

    if (!take_varint(list, &count))
        return WEIR_INVALID;
    for (uint64_t i = 0; i < count; i++) {
        if (!take_difference(list, &difference))
            return WEIR_INVALID;
        id += difference;
        weir_status status = read_piece(sqlite, session_id, id);
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status read_lists(struct wr_sqlite *sqlite, int64_t session_id, weir_span lists,
                              struct wr_ledger_row *said)
{
    size_t ends[LISTS_COUNT] = {0};
    weir_status status = WEIR_OK;

    wr_sqlite_reset_text(sqlite);
    for (size_t i = 0; i < LISTS_COUNT && !status; i++) {
        status = read_list(sqlite, session_id, &lists);
        ends[i] = sqlite->text.len;
    }
    if (status)
        return status;
    weir_span all = wr_buf_view(&sqlite->text);
    said->came = wr_span_cut(all, 0, ends[0]);
    said->sent = wr_span_cut(all, ends[0], ends[1]);
    said->report = wr_span_cut(all, ends[1], ends[2]);
    return WEIR_OK;
}

#define SAID_COLUMNS "SELECT r.id, r.time_ms, s.name, r.agent, r.model, r.line, s.id, d.lists"
#define SAID_OF_SESSION                                                               \
    SAID_COLUMNS " FROM tenant t JOIN session s ON s.tenant_id = t.id JOIN said d ON" \
                 " d.session_id = s.id JOIN request r ON r.id = d.request_id"         \
                 " WHERE t.name = ?1 AND s.name = ?2 ORDER BY d.request_id"

static const char *said_sql(const struct wr_ledger_which *which)
{
    if (which->id)
        return SAID_COLUMNS " FROM request r JOIN session s ON s.id = r.session_id"
                            " JOIN tenant t ON t.id = s.tenant_id"
                            " LEFT JOIN said d ON d.request_id = r.id"
                            " WHERE t.name = ?1 AND r.id = ?2";
    return which->is_last ? SAID_OF_SESSION " DESC LIMIT 1" : SAID_OF_SESSION " LIMIT 1";
}

/* Which request is meant: by its number, or the first or last of a session that was kept. */
static sqlite3_stmt *find_said(struct wr_db *db, const struct wr_ledger_which *which)
{
    sqlite3_stmt *find = wr_db_make(db, said_sql(which));
    wr_db_bind_text(db, find, 1, which->tenant);
    if (which->id)
        wr_db_bind_number(db, find, 2, which->id);
    else
        wr_db_bind_text(db, find, 2, which->session);
    return find;
}

weir_status wr_said_read(struct wr_sqlite *sqlite, const struct wr_ledger_which *which,
                         struct wr_ledger_row *said, struct weir_err *err)
{
    struct wr_db *db = &sqlite->db;
    weir_status status = WEIR_NOTFOUND;

    *said = (struct wr_ledger_row){.id = 0};
    wr_db_start(db);
    wr_arena_reset(&sqlite->arena);
    sqlite3_stmt *find = find_said(db, which);
    if (wr_db_next(db, find)) {
        *said =
            (struct wr_ledger_row){.id = sqlite3_column_int64(find, 0),
                                   .time_ms = sqlite3_column_int64(find, 1),
                                   .tenant = which->tenant,
                                   .session = wr_arena_copy(&sqlite->arena, wr_db_column(find, 2)),
                                   .agent = wr_arena_copy(&sqlite->arena, wr_db_column(find, 3)),
                                   .model = wr_arena_copy(&sqlite->arena, wr_db_column(find, 4)),
                                   .line = wr_arena_copy(&sqlite->arena, wr_db_column(find, 5))};
        bool is_said = sqlite3_column_type(find, 7) != SQLITE_NULL;
        status =
            is_said ? read_lists(sqlite, sqlite3_column_int64(find, 6), wr_db_column(find, 7), said)
                    : WEIR_OK;
    }
    wr_db_drop(find);
    if (!status && wr_arena_status(&sqlite->arena))
        status = wr_arena_status(&sqlite->arena);
    if (status == WEIR_NOTFOUND && !db->code)
        return wr_fail(err, status, 0, "there is no such request");
    if (status && !db->code)
        return wr_fail(err, status, 0, "what the request said is damaged in the store");
    return WEIR_OK;
}
