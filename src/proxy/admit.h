/* admit.h -- asks the store whether a request may go, and tells it what requests did cost.
 *
 * The loop never waits for the store: threads of the gate's own do, each with a handle of its own,
 * and what they were told comes back on the loop. Jobs and costs are taken in the order they came.
 * What an exchange does with that is in exchange_inside.h.
 */
#ifndef WR_PROXY_ADMIT_H
#define WR_PROXY_ADMIT_H

#include <uv.h>

#include "store/spend.h"

struct wr_gate;
struct wr_gate_job;

/* On the loop: `status` and `verdict` are filled in. */
typedef void wr_gate_fn(struct wr_gate_job *job);

struct wr_gate_job {
    struct wr_spend_request request;
    wr_gate_fn *done;
    void *user;
    weir_status status; /* else than WEIR_OK: the store could not be asked */
    struct wr_spend_verdict verdict;
    struct wr_gate_job *next; /* the gate's, */
    uint64_t number;          /* and so is this: how many came before it */
};

/* NULL: no memory, or no thread. `store_dir` is borrowed. */
struct wr_gate *wr_gate_new(uv_loop_t *loop, const char *store_dir);

/* Asks; the job is the gate's until `done`. False: too many wait. */
bool wr_gate_ask(struct wr_gate *gate, struct wr_gate_job *job);

/* What a request that was let in did cost. False: no memory, and it stays counted at its most. */
bool wr_gate_settle(struct wr_gate *gate, const unsigned char ticket[WR_SPEND_TICKET_BYTES],
                    int64_t tokens, int64_t micro_usd);

/* Before the loop ends: it is told nothing any more. NULL is fine. */
void wr_gate_close(struct wr_gate *gate);
/* When the loop has ended: what was to be settled is, as far as the store is there. NULL is fine.
 */
void wr_gate_free(struct wr_gate *gate);

#endif
