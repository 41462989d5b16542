/* state.h -- state.yaml: a bounded picture of a session, made from its journal.
 *
 * It is for people and other programs: a session is always read from its journal. It has no more
 * messages than the session holds, and of each the front of its text. The store, where there is
 * one, gets the same without the messages, as a row of its own.
 */
#ifndef WR_SESSION_STATE_H
#define WR_SESSION_STATE_H

#include "base/buf.h"
#include "session/thread.h"

#define WR_STATE_FILE "state.yaml"

struct wr_state {
    const char *name, *model, *policy;
    uint64_t window_tokens, journal_bytes, messages_max;
    const struct wr_thread *thread;
};

void wr_state_write(struct wr_buf *out, const struct wr_state *state, bool has_messages);

#endif
