/* refusal.h -- a provider's refusal of a request that was rewritten, looked at before it is shown.
 *
 * Two refusals have a remedy, each tried once and only before a byte was shown: signed thinking
 * that is "bound to a different conversation" (the request goes as it came, and the session with
 * it), and a prompt that is too long (a step is forced).
 */
#ifndef WR_PROXY_REFUSAL_H
#define WR_PROXY_REFUSAL_H

#include "net/head.h"
#include "proxy/projector.h"

struct wr_refusal { /* zeroed: nothing is held */
    bool is_held;
    struct wr_head *head; /* owned; points into `text` */
    struct wr_buf text, body;
};

struct wr_remedy {
    const char *reason; /* NULL: there is none */
    bool is_exact;      /* send what came */
    uint32_t overflow_tokens;
};

/* Holds a copy of the head. False: it cannot be held, show it. */
bool wr_refusal_begin(struct wr_refusal *refusal, const struct wr_head *head);

/* False: it is too long to be a refusal; nothing of `bytes` was taken. */
bool wr_refusal_add(struct wr_refusal *refusal, weir_span bytes);

struct wr_remedy wr_refusal_judge(const struct wr_refusal *refusal, const struct wr_task *job);
void wr_refusal_release(struct wr_refusal *refusal);

#endif
