/* sqlite.h -- the store in one SQLite file: its parts share this struct.
 *
 *   sqlite.c         opening and closing
 *   sqlite.c         is what is open what is at the path
 *   sqlite_commit.c  one request's batch, in one transaction
 *   sqlite_read.c    artifacts, and whether they are there and whole; marks and pins;
 *                    statistics; verification
 *   sqlite_gc.c      what leaves: by age, by the cap, by order
 *   sqlite_ledger.c  the rows of requests (ledger.h), through a handle of their own
 *   said.c           what requests said, in pieces
 */
#ifndef WR_STORE_SQLITE_H
#define WR_STORE_SQLITE_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "store/db.h"
#include "store/ledger.h"
#include "store/store.h"
#include "weir/store_host.h"

enum { WR_SQLITE_CHECKED_COUNT = 4096, WR_SQLITE_SEEN_COUNT = 16384 };

/* A text that a tenant has, whole. */
struct wr_seen {
    int64_t tenant_id; /* 0: none */
    weir_hash hash;
};

/* The files of a store. */
enum wr_sqlite_file {
    WR_SQLITE_DATABASE,
    WR_SQLITE_LOG,
    WR_SQLITE_INDEX, /* of the log */
    WR_SQLITE_FILES_COUNT
};

struct wr_sqlite_place {
    bool is_known;
    dev_t device;
    ino_t inode;
};

/* What only tests change but `common`. What it points at lives as long as the store. */
struct wr_sqlite_options {
    struct weir_store_options common;
    const char *vfs;                /* NULL: the system's */
    const struct wr_schema *schema; /* NULL: wr_schema_current */
    uint32_t checkpoint_pages;      /* 0: SQLite's default */
    int64_t expired_count_max;      /* 0: WR_STORE_EXPIRED_COUNT_MAX */
    size_t memory_bytes_max;        /* a store in memory, of at most that; 0: one in files */
};

struct wr_sqlite {
    struct weir_store store; /* first: a weir_store of ours is one of these */
    struct wr_db db;
    struct wr_packer packer;
    struct wr_buf text;    /* what the last call gave */
    struct wr_buf packed;  /* the artifacts of a commit */
    struct wr_arena arena; /* a commit's notes on them */
    bool is_full;          /* synchronous=FULL is set */
    bool is_fixed;         /* it is read as it lies there, without a log */
    char *path;            /* owned: of the database file; NULL: it is in memory */
    const char *paths[WR_SQLITE_FILES_COUNT]; /* of all files, behind `path` */
    struct wr_sqlite_options options;
    struct wr_sqlite_place places[WR_SQLITE_FILES_COUNT]; /* of the files that are open */

    /* Artifacts that this store has found whole, by their number: a batch names all that its
     * projection rests on, and need not read it all again. Where two share a place one is
     * forgotten. */
    int64_t checked_ids[WR_SQLITE_CHECKED_COUNT];

    /* What wr_sqlite_has() has found whole, by its hash, since the database counted its last loss.
     * Made when first needed; owned. */
    struct wr_seen *seen;
    int64_t losses_count;
};

WEIR_MUST_USE weir_status wr_sqlite_open(const char *dir, const struct wr_sqlite_options *options,
                                         struct weir_store **store, weir_trouble *trouble,
                                         struct weir_err *err);

/* weir_store_open(), whose log is written into the database by the commit that makes it longer than
 * `checkpoint_pages` (0: SQLite's default). `options` and `trouble` may be NULL. */
WEIR_MUST_USE weir_status wr_sqlite_open_dir(const char *dir,
                                             const struct weir_store_options *options,
                                             uint32_t checkpoint_pages, struct weir_store **store,
                                             weir_trouble *trouble, struct weir_err *err);

/* At how many pages a commit writes the log, for which a client waits. */
extern const uint32_t wr_sqlite_commit_pages;

/* wr_ledger_open() of a directory. */
WEIR_MUST_USE weir_status wr_sqlite_ledger_open(const char *dir,
                                                const struct weir_store_options *options,
                                                struct wr_ledger **ledger, weir_trouble *trouble,
                                                struct weir_err *err);

static inline struct wr_sqlite *wr_sqlite_of(struct weir_store *store)
{
    return (struct wr_sqlite *)store;
}

static inline weir_span wr_hash_span(const weir_hash *hash)
{
    return (weir_span){(const char *)hash->bytes, WEIR_HASH_BYTES};
}

/* The first bytes of a hash, or a handle. */
static inline weir_span wr_handle_span(const unsigned char bytes[WEIR_HANDLE_BYTES])
{
    return (weir_span){(const char *)bytes, WEIR_HANDLE_BYTES};
}

/* Sees that what is open is what is at the path, and opens that where it is not.
 * store->replaced_count tells whether it is another database. Operations begin with it, but for
 * the search for pins and marks, where it is behind a failure: a commit follows them. */
WEIR_MUST_USE weir_status wr_sqlite_follow(struct wr_sqlite *sqlite, struct weir_err *err);
WEIR_MUST_USE weir_status wr_sqlite_follow_to_write(struct wr_sqlite *sqlite, struct weir_err *err);

/* The same behind a commit, which is safe where the database and its log are in place. */
WEIR_MUST_USE weir_status wr_sqlite_follow_behind(struct wr_sqlite *sqlite, struct weir_err *err);

/* The tenant's or session's number; 0 where it is not known. */
int64_t wr_sqlite_tenant(struct wr_sqlite *sqlite, weir_span name);
int64_t wr_sqlite_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name);

/* The same, made where it is not known; the session is in use at `used_ms`, unless it was later or
 * less than WR_STORE_TOUCH_MS before. For work that writes. */
int64_t wr_sqlite_need_tenant(struct wr_sqlite *sqlite, weir_span name);
int64_t wr_sqlite_need_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name,
                               int64_t used_ms);

/* Empties sqlite->text, sqlite->packed. */
void wr_sqlite_reset_text(struct wr_sqlite *sqlite);
void wr_sqlite_reset_packed(struct wr_sqlite *sqlite);

enum wr_presence {
    WR_ABSENT,
    WR_WHOLE,
    WR_DAMAGED,  /* what is there is not what was put there */
    WR_COLLIDES, /* another text, whole, has the handle */
};

struct wr_found {
    int64_t id; /* 0: absent */
    enum wr_presence presence;
};

/* Looks for a text by its hash. `is_trusting`: what was found whole before is taken to be so still.
 */
struct wr_found wr_sqlite_find(struct wr_sqlite *sqlite, int64_t tenant_id, const weir_hash *hash,
                               bool is_trusting);

/* This artifact is known to be whole. */
void wr_sqlite_trust(struct wr_sqlite *sqlite, int64_t id);

/* ---- the operations, as weir/store.h describes them ---- */

weir_status wr_sqlite_commit(struct weir_store *store, struct weir_batch *batch,
                             struct weir_err *err);
weir_status wr_sqlite_get(struct weir_store *store, const struct weir_lookup *lookup,
                          struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err);
weir_status wr_sqlite_has(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                          size_t hashes_count, bool *is_there, struct weir_err *err);
weir_status wr_sqlite_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                            size_t keys_count, weir_mark_fn *found, void *user,
                            struct weir_err *err);
weir_status wr_sqlite_pin(struct weir_store *store, weir_span tenant, weir_span session,
                          struct weir_pin *pin, struct weir_err *err);
weir_status wr_sqlite_pins(struct weir_store *store, weir_span tenant,
                           const struct weir_pin_query *queries, size_t queries_count,
                           weir_pin_fn *found, void *user, struct weir_err *err);
weir_status wr_sqlite_touch(struct weir_store *store, weir_span tenant, weir_span session,
                            int64_t used_ms, struct weir_err *err);
weir_status wr_sqlite_gc(struct weir_store *store, const struct weir_gc_options *options,
                         struct weir_gc_report *report, struct weir_err *err);
weir_status wr_sqlite_purge(struct weir_store *store, weir_span tenant, weir_span session,
                            struct weir_gc_report *report, struct weir_err *err);
weir_status wr_sqlite_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                             struct weir_verify_report *report, struct weir_err *err);
weir_status wr_sqlite_stats(struct weir_store *store, struct weir_store_stats *stats,
                            struct weir_err *err);
weir_status wr_sqlite_probe(struct weir_store *store, bool writes, struct weir_err *err);
uint64_t wr_sqlite_place(const struct weir_store *store);

#endif
