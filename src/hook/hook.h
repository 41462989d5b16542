/* hook.h -- one result, condensed as it arrives, for an agent that no proxy stands in front of.
 *
 * The engine is given a request that consists of nothing but this call and its result, and offers
 * weir_recall. What its policy makes of the result is what the agent gets. So a hook decides by the
 * same stages as the proxy does on arrival: small results, failed ones and instructions stay whole.
 *
 *   event ─▶ is it a text? ─▶ does the agent have weir_recall? ─▶ project ─▶ store ─▶ answer
 *             no: whole         no: whole                           as it was: whole
 *
 * 1. Before the answer is there, the original is in the store (law L2).
 * 2. A file that is read again after an earlier read of it was shortened stays whole; a note of the
 *    session in the ledger remembers that from one process to the next.
 * 3. Nothing that was sent is changed: a result is new when it comes here, so no cache is broken.
 * 4. Whatever goes wrong, the answer is empty, and the agent keeps what it has (law L6).
 */
#ifndef WR_HOOK_HOOK_H
#define WR_HOOK_HOOK_H

#include "hook/event.h"

struct wr_hook {
    const struct wr_hook_agent *agent;
    const char *store;  /* its folder */
    const char *policy; /* a preset's name */
    const char *model;  /* NULL: the event's, else the agent's */
    const char *recall; /* weir_recall as the agent spells it; NULL: it has none */
    int64_t now_ms;
    uint32_t patience_ms; /* for all of it: half for the projection, by the time that this process
                           * works, a fifth for a store that another one holds */
};

struct wr_hooked {
    const char *whole; /* why there is no answer, a constant sentence; NULL: there is one */
    uint64_t tokens_before, tokens_after; /* of the result */
};

/* Appends the answer to `out`, or nothing. Failure: `err` says what went wrong, and `out` is not to
 * be used. */
WEIR_MUST_USE weir_status wr_hook_answer(const struct wr_hook *hook, weir_span event,
                                         struct wr_buf *out, struct wr_hooked *hooked,
                                         struct weir_err *err);

#endif
