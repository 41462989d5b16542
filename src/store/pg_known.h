/* pg_known.h -- what a connection knows of sessions, so that a request need not ask again.
 *
 * 1. A known session is as it was at a version: its marks, pins and the hashes of its originals. A
 *    commit names that version, and is refused where the database has another.
 * 2. Marks of kind `session`, which all sessions of a tenant share, are not known.
 * 3. Sessions that were not used for longest are forgotten first; that costs a trip and no more.
 */
#ifndef WR_STORE_PG_KNOWN_H
#define WR_STORE_PG_KNOWN_H

#include "base/arena.h"
#include "store/pg_link.h"
#include "weir/store.h"

struct wr_pg_mark {
    weir_hash key;
    weir_mark_kind kind;
    weir_span value;
};

struct wr_pg_table { /* of places in a list, by hash; 0: free */
    uint32_t *places;
    size_t cap, count;
};

struct wr_pg_session {
    uint64_t name;    /* hash of tenant and session */
    int64_t id;       /* 0: the database had none */
    int64_t version;  /* as of that commit; 0: before the first */
    uint64_t used_at; /* counts uses */
    bool is_broken;   /* something could not be remembered: to be forgotten */
    struct wr_arena arena;
    struct wr_pg_mark *marks;
    size_t marks_count, marks_cap;
    struct wr_pg_table by_key;
    weir_hash *originals;
    size_t originals_count, originals_cap;
    struct wr_pg_table by_hash;
    struct weir_pin *pins;
    size_t pins_count, pins_cap;
};

enum { WR_PG_KNOWN_COUNT = 64 };

struct wr_pg_known {
    struct wr_pg_session *sessions[WR_PG_KNOWN_COUNT]; /* owned; NULL: free */
    uint64_t uses_count;
};

uint64_t wr_pg_session_name(weir_span tenant, weir_span session);

/* NULL: not known. */
struct wr_pg_session *wr_pg_known_find(struct wr_pg_known *known, uint64_t name);

/* One that nothing is known of, in place of what was. NULL: no memory. */
struct wr_pg_session *wr_pg_known_make(struct wr_pg_known *known, uint64_t name);
void wr_pg_known_forget(struct wr_pg_known *known, uint64_t name);
void wr_pg_known_release(struct wr_pg_known *known);

/* Values are copied; a mark or pin that is there gets the new one. */
void wr_pg_session_mark(struct wr_pg_session *session, const struct weir_mark *mark);
void wr_pg_session_pin(struct wr_pg_session *session, const struct weir_pin *pin);
void wr_pg_session_original(struct wr_pg_session *session, const weir_hash *hash);

/* NULL: it has none. */
const weir_span *wr_pg_session_find_mark(const struct wr_pg_session *session, const weir_hash *key,
                                         weir_mark_kind kind);
const weir_span *wr_pg_session_find_pin(const struct wr_pg_session *session,
                                        const struct weir_pin *pin);
bool wr_pg_session_has(const struct wr_pg_session *session, const weir_hash *hash);

#endif
