/* pg.h -- the store in PostgreSQL: its parts share this struct.
 *
 *   pg_link.c     libpq, loaded when needed; a connection, its waits and its failures
 *   pg.c          opening and closing, schema, migrations by several nodes
 *   pg_known.c    what is known of sessions without asking
 *   pg_commit.c   reading from that, until a commit says whether it still held; one request's
 *                 batch, in one statement and one trip
 *   pg_group.c    small ones of several threads, in one transaction
 *   pg_read.c     artifacts, marks, pins; statistics; verification
 *   pg_gc.c       what leaves: by age, by the cap, by order
 *   pg_ledger.c   the rows of requests (ledger.h), through a connection of their own
 *   pg_said.c     what requests said (said.h), in pieces
 *   data/postgres/N.sql   tables, and the functions that are called, by version of the schema
 */
#ifndef WR_STORE_PG_H
#define WR_STORE_PG_H

#include "store/ledger.h"
#include "store/pg_group.h"
#include "store/pg_known.h"
#include "store/pg_link.h"
#include "store/store.h"
#include "weir/store_host.h"

enum { WR_PG_ARRAYS = 18 };

struct wr_pg {
    struct weir_store store; /* first: a weir_store of ours is one of these */
    struct wr_pg_link link;
    struct wr_pg_group *group; /* with the other stores of this process at that address */
    struct wr_packer packer;
    struct wr_buf text;                 /* what the last call gave */
    struct wr_buf arrays[WR_PG_ARRAYS]; /* of the statement at hand */
    struct wr_arena arena;              /* notes on a commit */
    bool must_exist;
    uint64_t place;  /* a number of the database's; 0: not asked yet */
    uint64_t seed;   /* of tickets */
    uint64_t unsure; /* hash of rows of which the database did not say whether it has them */
    struct wr_pg_known known;
    struct wr_pg_session *begun; /* what is read is of this session; NULL: all is asked for */
    uint64_t begun_tenant;       /* hash */
    struct wr_pg_session *other; /* one more that was read since, of that tenant; NULL: none */
    struct wr_buf other_name;
    bool is_careful;  /* keys that are not known are asked for all the same */
    weir_hash *asked; /* keys that it was asked for since; owned */
    size_t asked_count, asked_cap, absent_count; /* those that it lacks are the first */
    /* The original that came back damaged last: a commit that names it writes it anew. */
    bool is_damaged;
    weir_handle damaged;
};

/* weir_store_open() and wr_ledger_open() of an address. */
WEIR_MUST_USE weir_status wr_pg_open(const char *url, const struct weir_store_options *options,
                                     struct weir_store **store, weir_trouble *trouble,
                                     struct weir_err *err);
WEIR_MUST_USE weir_status wr_pg_ledger_open(const char *url,
                                            const struct weir_store_options *options,
                                            struct wr_ledger **ledger, weir_trouble *trouble,
                                            struct weir_err *err);

static inline struct wr_pg *wr_pg_of(struct weir_store *store)
{
    return (struct wr_pg *)store;
}

static inline weir_span wr_pg_hash(const weir_hash *hash)
{
    return (weir_span){(const char *)hash->bytes, WEIR_HASH_BYTES};
}

/* An array to fill, and as an argument when that is done. */
struct wr_buf *wr_pg_array_of(struct wr_pg *pg, int number, enum wr_pg_type type, size_t count);
void wr_pg_give_array(struct wr_pg *pg, struct wr_pg_args *args, int number);

void wr_pg_reset_text(struct wr_pg *pg);

/* What a request said, with the numbers of its row. */
struct wr_pg_said {
    int64_t request_id, session_id;
    const struct wr_ledger_row *row;
    size_t starts[4]; /* filled in: where its three lists begin, and end */
};

/* Keeps what requests said; how many of them could be. */
size_t wr_pg_said_keep(struct wr_pg *pg, struct wr_pg_said *said, size_t count);
WEIR_MUST_USE weir_status wr_pg_said_read(struct wr_pg *pg, const struct wr_ledger_which *which,
                                          struct wr_ledger_row *said, struct weir_err *err);

/* weir_store_begin(). */
weir_status wr_pg_begin(struct weir_store *store, weir_span tenant, weir_span session,
                        struct weir_err *err);

/* What is known of another session of that tenant, asked for where nothing is; the commit compares
 * it too. NULL: the database has to be asked. */
const struct wr_pg_session *wr_pg_other(struct wr_pg *pg, weir_span tenant, weir_span session);

/* Whether `tenant` is that of the session that was begun. */
bool wr_pg_is_begun(const struct wr_pg *pg, weir_span tenant);

/* Notes that a key was asked for; false: there is no room for it. */
bool wr_pg_note_key(struct wr_pg *pg, const weir_hash *key, bool is_absent);

/* Takes what load_1 or commit_1 said of a session, but for the first row, which is of its number
 * and version; true: among it is something that was asked for since the session was begun. */
bool wr_pg_take_news(struct wr_pg *pg, struct wr_pg_session **session, uint64_t name);

/* What became of the work, and what the store says of it. */
WEIR_MUST_USE weir_status wr_pg_end(struct wr_pg *pg, struct weir_err *err);

/* ---- the operations, as weir/store.h describes them ---- */

weir_status wr_pg_commit(struct weir_store *store, struct weir_batch *batch, struct weir_err *err);
weir_status wr_pg_get_artifact(struct weir_store *store, const struct weir_lookup *lookup,
                               struct weir_artifact *artifact, weir_miss *miss,
                               struct weir_err *err);
weir_status wr_pg_has(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                      size_t hashes_count, bool *is_there, struct weir_err *err);
weir_status wr_pg_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                        size_t keys_count, weir_mark_fn *found, void *user, struct weir_err *err);
weir_status wr_pg_pin(struct weir_store *store, weir_span tenant, weir_span session,
                      struct weir_pin *pin, struct weir_err *err);
weir_status wr_pg_touch(struct weir_store *store, weir_span tenant, weir_span session,
                        int64_t used_ms, struct weir_err *err);
weir_status wr_pg_gc(struct weir_store *store, const struct weir_gc_options *options,
                     struct weir_gc_report *report, struct weir_err *err);
weir_status wr_pg_purge(struct weir_store *store, weir_span tenant, weir_span session,
                        struct weir_gc_report *report, struct weir_err *err);
weir_status wr_pg_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                         struct weir_verify_report *report, struct weir_err *err);
weir_status wr_pg_stats(struct weir_store *store, struct weir_store_stats *stats,
                        struct weir_err *err);

#endif
