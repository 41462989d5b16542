/* What requests said, in PostgreSQL: bodies as lists of pieces, cut as in SQLite (said.h).
 *
 *   cut and hash -> which pieces do the sessions lack -> pack those -> weir.said_2
 *
 * A list is the hashes of its pieces, 16 bytes each: numbers of rows, as SQLite has them, would
 * have to be asked for first. It is done behind the answer, by the thread that writes rows, for
 * many requests at once: one commit each would wait for the database's disk each. */
#include "store/pg.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/said.h"

enum { HASH_BYTES = 16, LISTS_COUNT = 3, GROUP_BYTES = 8 * 1024 * 1024 };
enum { REQUEST, SESSION, TIME, CAME, SENT, REPORT, Q_SESSION, Q_HASH, Q_BYTES, Q_CODEC, Q_DATA };
enum { ALL = REQUEST, ALL_SESSIONS }; /* of the question before */

struct piece {
    weir_span text;
    int64_t session_id;
    unsigned char hash[WR_SHA256_BYTES];
    bool is_missing;
};

struct pieces {
    struct piece *items; /* in the store's arena */
    size_t count, cap;
};

static weir_span hash_of(const struct piece *piece)
{
    return (weir_span){(const char *)piece->hash, HASH_BYTES};
}

/* The arena still holds what the caller keeps of the rows. */
static weir_status cut_all(struct wr_arena *arena, struct wr_pg_said *said, struct pieces *pieces)
{
    const struct wr_ledger_row *row = said->row;
    const weir_span texts[LISTS_COUNT] = {row->came, row->sent, row->report};

    for (size_t i = 0; i < LISTS_COUNT; i++) {
        said->starts[i] = pieces->count;
        for (weir_span rest = texts[i]; rest.len;) {
            size_t bytes = wr_said_cut(rest);
            struct piece piece = {.text = wr_span_cut(rest, 0, bytes),
                                  .session_id = said->session_id};
            weir_status status = wr_sha256(piece.text, piece.hash);
            if (status)
                return status;
            if (!WR_ARENA_ROOM(arena, pieces->items, pieces->count, pieces->cap, 64))
                return wr_arena_status(arena);
            pieces->items[pieces->count++] = piece;
            rest = wr_span_cut(rest, bytes, rest.len);
        }
    }
    said->starts[LISTS_COUNT] = pieces->count;
    return WEIR_OK;
}

static size_t find_missing(struct wr_pg *pg, struct pieces *pieces)
{
    struct wr_buf *all = wr_pg_array_of(pg, ALL, WR_PG_BYTES, pieces->count);
    struct wr_buf *sessions = wr_pg_array_of(pg, ALL_SESSIONS, WR_PG_NUMBER, pieces->count);
    struct wr_pg_args args = {.count = 0};

    for (size_t i = 0; i < pieces->count; i++) {
        wr_pg_item(all, hash_of(&pieces->items[i]));
        wr_pg_item_number(sessions, pieces->items[i].session_id);
    }
    wr_pg_give_array(pg, &args, ALL_SESSIONS);
    wr_pg_give_array(pg, &args, ALL);
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.said_lacks_2($1, $2)", &args);
    int rows = wr_pg_rows(&pg->link);
    for (int i = 0; i < rows; i++)
        pieces->items[wr_pg_get_number(&pg->link, i, 0) - 1].is_missing = true;
    return (size_t)rows;
}

static weir_status put_pieces(struct wr_pg *pg, const struct pieces *pieces, size_t missing_count)
{
    struct wr_buf *sessions = wr_pg_array_of(pg, Q_SESSION, WR_PG_NUMBER, missing_count);
    struct wr_buf *hash = wr_pg_array_of(pg, Q_HASH, WR_PG_BYTES, missing_count);
    struct wr_buf *bytes = wr_pg_array_of(pg, Q_BYTES, WR_PG_NUMBER, missing_count);
    struct wr_buf *codecs = wr_pg_array_of(pg, Q_CODEC, WR_PG_NUMBER, missing_count);
    struct wr_buf *data = wr_pg_array_of(pg, Q_DATA, WR_PG_BYTES, missing_count);
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < pieces->count && !status; i++) {
        const struct piece *piece = &pieces->items[i];
        enum wr_codec codec;
        if (!piece->is_missing)
            continue;
        wr_pg_reset_text(pg);
        status = wr_pack(&pg->packer, piece->text, &pg->text, &codec);
        wr_pg_item_number(sessions, piece->session_id);
        wr_pg_item(hash, hash_of(piece));
        wr_pg_item_number(bytes, (int64_t)piece->text.len);
        wr_pg_item_number(codecs, (int64_t)codec);
        wr_pg_item(data, wr_buf_view(&pg->text));
    }
    return status;
}

/* Which pieces each request consists of. */
static void put_lists(struct wr_pg *pg, const struct wr_pg_said *said, size_t count,
                      const struct pieces *pieces)
{
    struct wr_buf *request = wr_pg_array_of(pg, REQUEST, WR_PG_NUMBER, count);
    struct wr_buf *session = wr_pg_array_of(pg, SESSION, WR_PG_NUMBER, count);
    struct wr_buf *time = wr_pg_array_of(pg, TIME, WR_PG_NUMBER, count);
    struct wr_buf *lists[LISTS_COUNT] = {wr_pg_array_of(pg, CAME, WR_PG_BYTES, count),
                                         wr_pg_array_of(pg, SENT, WR_PG_BYTES, count),
                                         wr_pg_array_of(pg, REPORT, WR_PG_BYTES, count)};

    for (size_t i = 0; i < count; i++) {
        wr_pg_item_number(request, said[i].request_id);
        wr_pg_item_number(session, said[i].session_id);
        wr_pg_item_number(time, said[i].row->time_ms);
        for (size_t n = 0; n < LISTS_COUNT; n++) {
            wr_pg_reset_text(pg);
            for (size_t at = said[i].starts[n]; at < said[i].starts[n + 1]; at++)
                wr_buf_append(&pg->text, hash_of(&pieces->items[at]));
            wr_pg_item(lists[n], wr_buf_view(&pg->text));
        }
    }
}

/* Those of one group; how many were kept. */
static size_t keep_group(struct wr_pg *pg, struct wr_pg_said *said, size_t count)
{
    struct pieces pieces = {.count = 0};
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_KEEP_MS);
    for (size_t i = 0; i < count; i++)
        if (cut_all(&pg->arena, &said[i], &pieces))
            return 0;
    size_t missing_count = find_missing(pg, &pieces);
    if (pg->link.status || put_pieces(pg, &pieces, missing_count))
        return 0;
    put_lists(pg, said, count, &pieces);
    for (int i = REQUEST; i <= Q_DATA; i++)
        wr_pg_give_array(pg, &args, i);
    wr_pg_ask_often(&pg->link,
                    "SELECT * FROM weir.said_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                    &args);
    return (size_t)wr_pg_rows(&pg->link);
}

size_t wr_pg_said_keep(struct wr_pg *pg, struct wr_pg_said *said, size_t count)
{
    size_t kept_count = 0, from = 0, bytes = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += said[i].row->came.len + said[i].row->sent.len;
        if (i + 1 < count && bytes < GROUP_BYTES)
            continue;
        kept_count += keep_group(pg, said + from, i + 1 - from);
        from = i + 1;
        bytes = 0;
    }
    return kept_count;
}

/* ---- reading ---- */

#define SAID_COLUMNS                                                                        \
    "SELECT r.id, r.time_ms, s.name, r.agent, r.model, r.line, s.id, coalesce(d.came, '')," \
    " coalesce(d.sent, ''), coalesce(d.report, '')"
#define SAID_OF_SESSION                                                          \
    SAID_COLUMNS " FROM weir.tenant t JOIN weir.session s ON s.tenant_id = t.id" \
                 " JOIN weir.said d ON d.session_id = s.id"                      \
                 " JOIN weir.request r ON r.id = d.request_id"                   \
                 " WHERE t.name = $1 AND s.name = $2 ORDER BY d.request_id"

static const char *said_sql(const struct wr_ledger_which *which)
{
    if (which->id)
        return SAID_COLUMNS " FROM weir.request r JOIN weir.session s ON s.id = r.session_id"
                            " JOIN weir.tenant t ON t.id = s.tenant_id"
                            " LEFT JOIN weir.said d ON d.request_id = r.id"
                            " WHERE t.name = $1 AND r.id = $2";
    return which->is_last ? SAID_OF_SESSION " DESC LIMIT 1" : SAID_OF_SESSION " LIMIT 1";
}

/* From a row of: hash, text_bytes, codec, data. Appends the piece to pg->text. */
static weir_status take_piece(struct wr_pg *pg, int row, weir_span wanted)
{
    size_t from = pg->text.len;
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status =
        wr_unpack(&pg->packer, wr_pg_get(&pg->link, row, 2), wr_pg_get_number(&pg->link, row, 1),
                  (uint64_t)wr_pg_get_number(&pg->link, row, 0), &pg->text);

    if (!status)
        status = wr_sha256(wr_span_cut(wr_buf_view(&pg->text), from, pg->text.len), digest);
    if (!status && memcmp(digest, wanted.ptr, HASH_BYTES) != 0)
        status = WEIR_INVALID;
    return status;
}

/* All lists, one behind the other, with one question. */
static weir_status read_pieces(struct wr_pg *pg, int64_t session_id, weir_span hashes)
{
    size_t count = hashes.len / HASH_BYTES;
    struct wr_buf *all = wr_pg_array_of(pg, ALL, WR_PG_BYTES, count);
    struct wr_pg_args args = {.count = 0};
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < count; i++)
        wr_pg_item(all, wr_span_cut(hashes, i * HASH_BYTES, (i + 1) * HASH_BYTES));
    wr_pg_number(&args, session_id);
    wr_pg_give_array(pg, &args, ALL);
    (void)wr_pg_run(&pg->link,
                    "SELECT p.text_bytes, p.codec, p.data FROM unnest($2::bytea[]) WITH ORDINALITY"
                    " AS x(hash, at) JOIN weir.piece p ON p.session_id = $1 AND p.hash = x.hash"
                    " ORDER BY x.at",
                    &args);
    if ((size_t)wr_pg_rows(&pg->link) != count)
        return WEIR_INVALID;
    wr_pg_reset_text(pg);
    for (size_t i = 0; i < count && !status; i++)
        status = take_piece(pg, (int)i, wr_span_cut(hashes, i * HASH_BYTES, (i + 1) * HASH_BYTES));
    return status;
}

/* Where the lists end in pg->text is known by the lengths of their pieces. */
static size_t text_bytes_of(const struct wr_pg *pg, size_t from, size_t to)
{
    size_t bytes = 0;
    for (size_t i = from; i < to; i++)
        bytes += (size_t)wr_pg_get_number(&pg->link, (int)i, 0);
    return bytes;
}

static weir_status read_lists(struct wr_pg *pg, int64_t session_id, weir_span lists[LISTS_COUNT],
                              struct wr_ledger_row *said)
{
    struct wr_buf hashes;
    size_t ends[LISTS_COUNT];

    wr_buf_init(&hashes, (size_t)LISTS_COUNT * WR_LEDGER_SAID_BYTES_MAX);
    for (size_t i = 0; i < LISTS_COUNT; i++) {
        wr_buf_append(&hashes, lists[i]);
        ends[i] = hashes.len / HASH_BYTES;
    }
    weir_status status = wr_buf_status(&hashes);
    if (!status)
        status = read_pieces(pg, session_id, wr_buf_view(&hashes));
    if (!status) {
        weir_span all = wr_buf_view(&pg->text);
        size_t first = text_bytes_of(pg, 0, ends[0]);
        size_t second = first + text_bytes_of(pg, ends[0], ends[1]);
        said->came = wr_span_cut(all, 0, first);
        said->sent = wr_span_cut(all, first, second);
        said->report = wr_span_cut(all, second, all.len);
    }
    wr_buf_release(&hashes);
    return status;
}

weir_status wr_pg_said_read(struct wr_pg *pg, const struct wr_ledger_which *which,
                            struct wr_ledger_row *said, struct weir_err *err)
{
    struct wr_pg_args args = {.count = 0};
    weir_span lists[LISTS_COUNT];

    wr_pg_bytes(&args, which->tenant);
    if (which->id)
        wr_pg_number(&args, which->id);
    else
        wr_pg_bytes(&args, which->session);
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link, said_sql(which), &args);
    weir_status status = wr_pg_end(pg, err);
    if (status)
        return status;
    if (!wr_pg_rows(&pg->link))
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such request");
    wr_arena_reset(&pg->arena);
    weir_span copies[4];
    for (int i = 0; i < 4; i++)
        copies[i] = wr_arena_copy(&pg->arena, wr_pg_get(&pg->link, 0, 2 + i));
    *said = (struct wr_ledger_row){.id = wr_pg_get_number(&pg->link, 0, 0),
                                   .time_ms = wr_pg_get_number(&pg->link, 0, 1),
                                   .tenant = which->tenant,
                                   .session = copies[0],
                                   .agent = copies[1],
                                   .model = copies[2],
                                   .line = copies[3]};
    int64_t session_id = wr_pg_get_number(&pg->link, 0, 6);
    for (int i = 0; i < LISTS_COUNT; i++)
        lists[i] = wr_arena_copy(&pg->arena, wr_pg_get(&pg->link, 0, 7 + i));
    status = wr_arena_status(&pg->arena);
    if (!status && lists[0].len)
        status = read_lists(pg, session_id, lists, said);
    if (status)
        return wr_fail(err, status, 0, "what the request said is damaged in the store");
    return wr_pg_end(pg, err);
}
