/* refusal.h -- a provider's refusal of a request, looked at before it is shown.
 *
 * Two refusals have a remedy, each tried once and only before a byte was shown: signed thinking
 * that is "bound to a different conversation" (the request goes in its other form, and the session
 * with it), and a prompt that is too long (a step is forced).
 */
#ifndef WR_PROXY_REFUSAL_H
#define WR_PROXY_REFUSAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "net/http.h"
#include "proxy/rollout.h"

struct wr_refusal { /* zeroed: nothing is held */
    bool is_held;
    struct wr_head *head; /* owned; points into `text` */
    struct wr_buf text, body;
};

/* What was refused. */
struct wr_refused {
    weir_span body;         /* as it was sent */
    bool was_changed;       /* what was sent is not what came */
    bool may_project;       /* what came is all here, and may be changed */
    bool was_projected;     /* by the engine, whether or not that changed it */
    uint64_t tokens_sent;   /* where it was */
    uint32_t answer_tokens; /* that it let its answer take; 0: it did not say */
};

struct wr_remedy {
    const char *reason; /* NULL: there is none */
    enum wr_bound bind; /* the form to send instead */
    uint32_t overflow_tokens;
    uint32_t counted_tokens; /* of the prompt, by the provider; 0: it does not say */
    wr_hash128 refused;      /* of the body */
};

/* Holds a copy of the head. False: it cannot be held, show it. */
bool wr_refusal_begin(struct wr_refusal *refusal, const struct wr_head *head);

/* False: it is too long to be a refusal; nothing of `bytes` was taken. */
bool wr_refusal_add(struct wr_refusal *refusal, weir_span bytes);

struct wr_remedy wr_refusal_judge(const struct wr_refusal *refusal,
                                  const struct wr_refused *refused);

/* Whether `body` is what the remedy asks for, and not what was refused: the same bytes would be
 * refused again. `is_changed`: it is not what came. */
bool wr_remedy_fits(const struct wr_remedy *remedy, weir_span body, bool is_changed);
void wr_refusal_release(struct wr_refusal *refusal);

#endif
