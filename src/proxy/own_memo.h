/* own_memo.h -- what a thread remembers of sessions with the proxy's own recall: the definition of
 * the tool that a session began with, and the exchanges found for its first answers.
 *
 * Forgetting costs a look into the store and changes no byte. There is room for so many sessions,
 * and for so many bytes of them all; the session that was not used for longest gives way. What is
 * found lives until the next wr_own_memo_of().
 */
#ifndef WR_PROXY_OWN_MEMO_H
#define WR_PROXY_OWN_MEMO_H

#include <stdbool.h>

#include "base/hash.h"
#include "weir/store.h"

/* An exchange that was found. */
struct wr_own_found {
    uint32_t answer; /* its number among the client's answers */
    bool is_left;    /* out, for good */
    weir_hash key;   /* of its mark */
    weir_span exchange;
};

/* One session. Texts are copies of the memo's own. */
struct wr_own_memo {
    wr_hash128 session;      /* with its tenant */
    wr_hash128 pin;          /* of the model and the first turn that these are of: */
    bool has_none;           /* it is known to have no definition */
    weir_span definition;    /* kept also for a store that was lost, to be told again */
    uint64_t replaced_count; /* of the store in which all of this is (weir_store_replacements) */
    wr_hash128 keys;         /* of the answers looked up so far, chained */
    uint32_t answers_count;
    struct wr_own_found *found;
    uint32_t found_count, found_cap;
    uint64_t used;
    size_t bytes;
};

struct wr_own_memos;

struct wr_own_memos *wr_own_memos_new(size_t bytes_max); /* NULL: no memory */
void wr_own_memos_free(struct wr_own_memos *memos);      /* NULL is fine */

/* That of a session, empty where nothing is remembered. Others give way where there are too many
 * bytes. */
struct wr_own_memo *wr_own_memo_of(struct wr_own_memos *memos, weir_span tenant, weir_span session);

/* The exchange is copied. False: no memory, and nothing was added. */
bool wr_own_memo_add(struct wr_own_memo *memo, const struct wr_own_found *found);
/* The newest are taken out, until `count` are left. */
void wr_own_memo_shorten(struct wr_own_memo *memo, uint32_t count);
void wr_own_memo_forget_found(struct wr_own_memo *memo);
/* Empty: the session is known to have none. Out of memory: it stays as it was. */
void wr_own_memo_define(struct wr_own_memo *memo, wr_hash128 pin, weir_span definition);

#endif
