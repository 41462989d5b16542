/* identity.h -- which session a request belongs to, and what is known of it before it is read.
 *
 * In this order: Codex's thread and session headers, Claude Code's session header (with its agent's
 * id), the body's prompt_cache_key, the session named in metadata.user_id, the session of the
 * answer that the request goes on from, and else a hash of the model, the instructions and the
 * first user message, with the run of `weir run` that it came in: the same words in another run
 * begin another session. Never a credential: those rotate.
 */
#ifndef WR_PROXY_IDENTITY_H
#define WR_PROXY_IDENTITY_H

#include "base/arena.h"
#include "json/json.h"
#include "net/head.h"

enum { WR_SESSION_NAME_BYTES = WR_PROXY_SESSION_BYTES_MAX };

struct wr_session_name {
    char text[WR_SESSION_NAME_BYTES];
    size_t len; /* 0: not known */
};

/* From the headers alone. */
void wr_identity_from_head(const struct wr_head *head, struct wr_session_name *name);

/* From the body, where the headers said nothing. `before` is the session of the answer that it goes
 * on from; empty: it goes on from none, or from one that is not known. `run` is the run that it
 * came in; empty: none. */
void wr_identity_from_body(const struct wr_json *body, struct wr_arena *arena, weir_span before,
                           weir_span run, struct wr_session_name *name);

static inline weir_span wr_session_span(const struct wr_session_name *name)
{
    return (weir_span){name->text, name->len};
}

#endif
