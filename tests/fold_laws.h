/* fold_laws.h -- what must hold for every preset on every request of a session: prefix stability,
 * idempotence, pairing, the newest user message, instructions, no growth, determinism; with signed
 * thinking, that the provider finds it where it was signed; without a recall tool, that nothing
 * leaves but in the last resort, and is reported. */
#ifndef TESTS_FOLD_LAWS_H
#define TESTS_FOLD_LAWS_H

#include "policy/policy.h"
#include "lab/session.h"

struct fold_laws_case {
    const struct wr_session *session;
    const struct wr_policy *policy;
    weir_dialect dialect;
    uint64_t window_tokens;
    uint32_t requests_max; /* the newest so many */
    bool without_recall;   /* no request offers a recall tool */
    bool thinks;           /* every output has signed thinking, which binds what stands before it */
};

struct fold_laws_counts {
    uint64_t requests, edits, inserts, steps, rolled_back, fallbacks;
    uint64_t pruned, rehydrated; /* of the edits, of the inserts */
    uint64_t tokens_before, tokens_after;
    uint64_t over_window;  /* requests still over it */
    uint64_t over_promise; /* of them, those that something lawful could have left */
    uint64_t operators;    /* requests of which only the operator has all originals */
    uint64_t folded_open;  /* requests whose running calls are one message */
    uint64_t markers;      /* cache markers that were added */
    uint64_t instructions; /* results that show some, all requests together */
};

/* False with lines on stdout that say what broke and where. */
bool fold_laws_hold(const struct fold_laws_case *c, struct fold_laws_counts *counts);

/* (a) Whether the list of `after` begins with the list of `before`, byte for byte but for
 * cache markers. */
bool fold_laws_extends(weir_span before, weir_span after, weir_dialect dialect,
                       struct wr_arena *arena);

/* Puts signed thinking before every output of the model; each is known by its signature. */
bool fold_laws_think(struct wr_buf *body, weir_dialect dialect);

/* The numbers that thoughts were signed with, and a hash of what stood before each. */
enum { FOLD_LAWS_THOUGHTS_MAX = 4096 };

struct fold_laws_signed {
    bool is_known[FOLD_LAWS_THOUGHTS_MAX];
    uint64_t hash[FOLD_LAWS_THOUGHTS_MAX];
    uint64_t sent; /* of all that the last request had: what the next output is signed over */
    bool has_sent;
};

/* (i) Whether all thinking that is sent stands behind the bytes that it was signed over, and the
 * newest calls have theirs: NULL, or what is wrong. Requests come in their order. */
const char *fold_laws_unbound(struct fold_laws_signed *s, weir_span body, struct wr_arena *arena);

/* What the provider would refuse in `after` and not in `before` (api/lawful.h), in words; NULL:
 * nothing. What it points to is in `arena`, which is not reset. */
const char *fold_laws_breach(weir_span before, weir_span after, weir_dialect dialect,
                             struct wr_arena *arena);

#endif
