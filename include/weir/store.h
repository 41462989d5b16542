/* store.h -- what outlives a request: originals, marks and pins. A host may supply its own store
 * (weir/store_host.h).
 *
 * 1. A commit is one transaction: all of its batch is kept, or nothing. When weir_store_commit()
 *    has returned WEIR_OK the batch survives kill -9; with WEIR_DURABLE_FULL, loss of power too.
 * 2. Originals are named by content: one text is stored once a tenant. What comes back was checked
 *    against its SHA-256, whoever's store it is.
 * 3. Nobody gets what another tenant stored, nor learns that it is there (weir_lookup.is_operator).
 * 4. Everything belongs to the sessions that refer to it, and leaves with the last of them.
 * 5. A store has no clock: times are milliseconds of any epoch, as its callers give them.
 *
 * A store is used by one thread at a time; several stores may be open on one directory. What a call
 * gives belongs to the store and lives until the next call on that store.
 */
#ifndef WEIR_STORE_H
#define WEIR_STORE_H

#include <stdbool.h>

#include "weir/handle.h"
#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

/* Whose things are meant where a call names no tenant, of every function of libweir. */
#define WEIR_TENANT_DEFAULT "local"

enum { WEIR_HASH_BYTES = 32 };

typedef struct weir_hash {
    unsigned char bytes[WEIR_HASH_BYTES];
} weir_hash;

/* Why a handle brought nothing back. */
#define WEIR_MISS_MAP(X)                                        \
    X(NONE, "nothing is missing")                               \
    X(NEVER_STORED, "never stored")                             \
    X(EXPIRED, "expired: it was stored and has been collected") \
    X(OTHER_TENANT, "stored by another tenant")                 \
    X(CORRUPT, "corrupt: what is stored is not what was put there")

/* Why a call failed, in more words than its status has. */
#define WEIR_TROUBLE_MAP(X)                                                \
    X(NONE, "none")                                                        \
    X(LOCKED, "another process holds the store")       /* WEIR_IO */       \
    X(FULL, "there is no room left")                   /* WEIR_LIMIT */    \
    X(DENIED, "the store cannot be opened or written") /* WEIR_IO */       \
    X(SYSTEM, "the operating system refused")          /* WEIR_IO */       \
    X(MISSING, "there is no store")                    /* WEIR_NOTFOUND */ \
    X(CORRUPT, "the store is damaged")                 /* WEIR_INVALID */  \
    X(NEWER, "the store was made by a newer Weir")     /* WEIR_INVALID */  \
    X(FOREIGN, "the file is not a store of Weir's")    /* WEIR_INVALID */  \
    X(COLLISION, "another text has this handle")       /* WEIR_INVALID */  \
    X(CONFLICT, "the mark or pin has another value")   /* WEIR_INVALID */  \
    X(REPLACED, "another store has taken its place")   /* WEIR_IO */       \
    X(AWAY, "the database does not answer")            /* WEIR_IO */       \
    X(OUTRUN, "the session was changed meanwhile")     /* WEIR_IO */

/* The numbers are kept in stores: a kind may be added at the end, never moved. */
#define WEIR_MARK_KIND_MAP(X)   \
    X(STEP, "step")             \
    X(KEPT_WHOLE, "kept whole") \
    X(ATTACHED, "attached")     \
    X(WINDOW, "window")         \
    X(SENT, "sent")             \
    X(ANSWER, "answer")         \
    X(SESSION, "session")       \
    X(LOOK_ALIKE, "look-alike") \
    X(COUNT, "count")           \
    X(OWN, "own recall")        \
    X(ORDERS, "orders")

typedef enum weir_miss {
#define X(name, text) WEIR_MISS_##name,
    WEIR_MISS_MAP(X)
#undef X
} weir_miss;

typedef enum weir_trouble {
#define X(name, text) WEIR_TROUBLE_##name,
    WEIR_TROUBLE_MAP(X)
#undef X
} weir_trouble;

typedef enum weir_mark_kind {
#define X(name, text) WEIR_MARK_##name,
    WEIR_MARK_KIND_MAP(X)
#undef X
        WEIR_MARK_KINDS_COUNT
} weir_mark_kind;

typedef enum weir_durability {
    WEIR_DURABLE_NORMAL, /* the batch survives the end of the process, however it comes */
    WEIR_DURABLE_FULL,   /* and of the machine */
} weir_durability;

/* An original. The caller gives the text, weir_store_commit() the rest. */
struct weir_artifact {
    weir_span text;
    weir_hash hash; /* SHA-256 of the text; its first bytes are the handle */
    bool collides;  /* another text of this tenant has this handle: leave the segment whole */
};

struct weir_mark {
    weir_hash key;
    weir_mark_kind kind;
    weir_span value; /* short */
    bool replaces;   /* else a mark of this key and kind with another value fails the commit */
};

struct weir_pin {
    weir_span model;
    weir_hash first_turn;
    weir_span value; /* short */
    bool replaces;   /* likewise: else a pin with another value fails the commit */
};

/* What one request leaves behind. Marks and artifacts that are there already are referred to from
 * now on by this session too: a batch names all that its projection rests on. */
struct weir_batch {
    weir_span tenant;  /* never a credential: a name, or the hash of a token; empty: "local" */
    weir_span session; /* any name without a NUL byte */
    int64_t used_ms;   /* the session is in use at this time; an earlier one changes nothing */
    weir_durability durability;
    struct weir_artifact *artifacts;
    size_t artifacts_count;
    const struct weir_mark *marks;
    size_t marks_count;
    const struct weir_pin *pins;
    size_t pins_count;
};

struct weir_lookup {
    weir_span tenant; /* empty: "local" */
    weir_handle handle;
    /* Tells WEIR_MISS_OTHER_TENANT from WEIR_MISS_NEVER_STORED. Only for someone who may read the
     * whole store anyway: a tenant could find out by it which texts others hold. */
    bool is_operator;
};

/* A mark that was found: `key_index` counts the keys asked for. `mark` dies when the call returns;
 * the function may not call the store. A failure stops the search and is returned. */
typedef weir_status weir_mark_fn(void *user, size_t key_index, const struct weir_mark *mark);

/* A stored text that is not what its hash says. The tenant's name dies when the call returns. */
typedef void weir_corrupt_fn(void *user, weir_span tenant, weir_handle handle);

struct weir_gc_options {
    size_t struct_bytes; /* sizeof, by WEIR_GC_OPTIONS_INIT; see weir/api.h */
    int64_t now_ms;
    int64_t retention_ms;      /* sessions not used for longer go; 0: none goes for its age */
    int64_t live_ms;           /* sessions used within this time never go */
    uint64_t stored_bytes_max; /* above it, least recently used sessions go; 0: no cap */
};
#define WEIR_GC_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_gc_options)

struct weir_gc_report {
    uint64_t sessions_count, artifacts_count, marks_count, pins_count; /* taken out */
    uint64_t stored_bytes; /* of the artifacts and rows taken out, as stored */
    bool is_over;          /* still above the cap: the rest is live */
    uint64_t rows_count;   /* of requests, taken out */
};

struct weir_verify_report {
    uint64_t artifacts_count; /* looked at */
    uint64_t text_bytes;
    uint64_t corrupt_count;
    bool has_damage;  /* the file's own structure is wrong */
    char damage[128]; /* the first thing wrong with it */
};

struct weir_store_stats {
    uint64_t tenants_count, sessions_count, artifacts_count, marks_count, pins_count;
    uint64_t expired_count;                 /* handles known to have been collected */
    uint64_t text_bytes;                    /* of the originals */
    uint64_t stored_bytes;                  /* of the same, as stored */
    uint64_t file_bytes;                    /* of the files; 0 where there are none */
    int64_t oldest_used_ms, newest_used_ms; /* 0 where there is no session */
    uint32_t schema_version;                /* 0 where there is none */
    uint64_t rows_count, rows_bytes;        /* one a request, and their reports */
    uint64_t samples_count;                 /* of what was learnt */
};

struct weir_store;

struct weir_store_options {
    size_t struct_bytes;  /* sizeof, by WEIR_STORE_OPTIONS_INIT; see weir/api.h */
    bool must_exist;      /* do not make a store where there is none: WEIR_TROUBLE_MISSING */
    uint32_t busy_ms_max; /* how long to wait for another process; 0: the default */
};
#define WEIR_STORE_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_store_options)

/* Opens the store in `dir`, making the directory (0700) and its files (0600) where they are
 * missing. A store of an older schema is brought up to date; of a newer one nothing is touched.
 * `options`, `trouble` and `err` may be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_store_open(const char *dir,
                                                   const struct weir_store_options *options,
                                                   struct weir_store **store, weir_trouble *trouble,
                                                   struct weir_err *err);

/* A store that lives in memory and dies with its close. Beside its empty tables it holds
 * `bytes_max` at most (0: the default), in pages; past that commits fail: WEIR_TROUBLE_FULL. */
WEIR_API WEIR_MUST_USE weir_status weir_store_new_memory(size_t bytes_max,
                                                         struct weir_store **store);
WEIR_API void weir_store_close(struct weir_store *store); /* NULL is fine */

/* Keeps the batch, and fills in hash and collides of its artifacts. A text that was stored before
 * and is damaged is written anew. WEIR_INVALID with a collision or a conflict: nothing was kept;
 * take the artifact out, or look the mark up, and commit again. WEIR_TROUBLE_REPLACED: nothing was
 * kept, nor is what the batch takes to be there from earlier; commit it all to the new one. */
WEIR_API WEIR_MUST_USE weir_status weir_store_commit(struct weir_store *store,
                                                     struct weir_batch *batch,
                                                     struct weir_err *err);

/* What is read from here on is for a commit of this session, until that or the next begin; an empty
 * `session`: for none. A store that others share may then answer from what it remembers, and
 * compares when the commit comes. WEIR_TROUBLE_OUTRUN: somebody else has committed to the session
 * meanwhile and nothing was kept; begin, read and commit again. */
WEIR_API WEIR_MUST_USE weir_status weir_store_begin(struct weir_store *store, weir_span tenant,
                                                    weir_span session, struct weir_err *err);

/* The text behind a handle, whole and verified. WEIR_NOTFOUND: `*miss` (may be NULL) says why. */
WEIR_API WEIR_MUST_USE weir_status weir_store_get(struct weir_store *store,
                                                  const struct weir_lookup *lookup,
                                                  struct weir_artifact *artifact, weir_miss *miss,
                                                  struct weir_err *err);

/* Which of these texts, by their SHA-256, this tenant has stored and would get back whole: sets
 * is_there[i] for hashes[i], all false on failure. It only reads, so a store that another process
 * holds for writing answers too. No session refers to them by this: commit them when it is free. */
WEIR_API WEIR_MUST_USE weir_status weir_store_has(struct weir_store *store, weir_span tenant,
                                                  const weir_hash *hashes, size_t hashes_count,
                                                  bool *is_there, struct weir_err *err);

/* Calls `found` for every mark of every key: in the order of the keys, then of the kinds. */
WEIR_API WEIR_MUST_USE weir_status weir_store_marks(struct weir_store *store, weir_span tenant,
                                                    const weir_hash *keys, size_t keys_count,
                                                    weir_mark_fn *found, void *user,
                                                    struct weir_err *err);

/* Fills in the value of the pin whose model and first turn are given; WEIR_NOTFOUND without one. */
WEIR_API WEIR_MUST_USE weir_status weir_store_pin(struct weir_store *store, weir_span tenant,
                                                  weir_span session, struct weir_pin *pin,
                                                  struct weir_err *err);

/* A pin of a session, by its model and first turn. */
struct weir_pin_query {
    weir_span session;
    struct weir_pin pin;
};

/* `pin` is that of queries[at], with its value, which lives until the function returns. */
typedef weir_status weir_pin_fn(void *user, size_t at, const struct weir_pin *pin);

/* Calls `found` for each of these pins that there is, in their order. A store in files answers all
 * of them from one moment. */
WEIR_API WEIR_MUST_USE weir_status weir_store_pins(struct weir_store *store, weir_span tenant,
                                                   const struct weir_pin_query *queries,
                                                   size_t queries_count, weir_pin_fn *found,
                                                   void *user, struct weir_err *err);

/* The session is in use. One that has stored nothing is not remembered. */
WEIR_API WEIR_MUST_USE weir_status weir_store_touch(struct weir_store *store, weir_span tenant,
                                                    weir_span session, int64_t used_ms,
                                                    struct weir_err *err);

/* Takes out sessions by age, then by the cap, the least recently used first; what no session refers
 * to any more goes with them, its handles remembered as expired. A session whose time lies after
 * now_ms is set to now_ms, so that a clock that jumped does not keep it for ever. */
WEIR_API WEIR_MUST_USE weir_status weir_store_gc(struct weir_store *store,
                                                 const struct weir_gc_options *options,
                                                 struct weir_gc_report *report,
                                                 struct weir_err *err);

/* Takes out one session, or with an empty `session` all of a tenant (empty: "local"), without a
 * trace: not even the handles are remembered. WEIR_NOTFOUND when there is no such one. */
WEIR_API WEIR_MUST_USE weir_status weir_store_purge(struct weir_store *store, weir_span tenant,
                                                    weir_span session,
                                                    struct weir_gc_report *report,
                                                    struct weir_err *err);

/* The same of everything, whoever's it is. It has a name of its own so that a tenant's name that
 * was left empty by mistake cannot mean it. */
WEIR_API WEIR_MUST_USE weir_status weir_store_purge_all(struct weir_store *store,
                                                        struct weir_gc_report *report,
                                                        struct weir_err *err);

/* Reads everything and checks every hash. Damage is in the report, not in the status. `corrupt` may
 * be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_store_verify(struct weir_store *store,
                                                     weir_corrupt_fn *corrupt, void *user,
                                                     struct weir_verify_report *report,
                                                     struct weir_err *err);

WEIR_API WEIR_MUST_USE weir_status weir_store_stats(struct weir_store *store,
                                                    struct weir_store_stats *stats,
                                                    struct weir_err *err);

/* Why the last call on this store failed; WEIR_TROUBLE_NONE: it did not. */
WEIR_API weir_trouble weir_store_trouble(const struct weir_store *store);

/* Originals that were not what their hash says, and met by a commit, which writes them anew, or by
 * a get. */
WEIR_API uint64_t weir_store_hash_failures(const struct weir_store *store);

/* How often another store was found where this one was, which was removed, moved, or put back from
 * a copy: it is the one in use from then on, and what was committed before may not be in it. */
WEIR_API uint64_t weir_store_replacements(const struct weir_store *store);

WEIR_API weir_handle weir_hash_handle(const weir_hash *hash);
WEIR_API const char *weir_miss_text(weir_miss miss);
WEIR_API const char *weir_trouble_text(weir_trouble trouble);
WEIR_API const char *weir_mark_kind_name(weir_mark_kind kind);

WEIR_END_DECLS

#endif
