/* state.h -- state.yaml: a bounded picture of a session, and the checkpoint it is opened from.
 *
 * 1. It is never the truth. It names the front of the journal that it was made of by size, number
 * of events and hash (a file that nobody has written to since is known by its times and not hashed
 *    again); where one of them is not so, or a byte of it is not as it was written, it is left
 * aside with a reason and the journal is read whole.
 * 2. It has no texts of messages but their fronts, for people. Which messages are held, their
 *    tokens (costly to count) and the numbers of the thread are in it; the messages themselves come
 *    from the journal.
 * 3. A line is `key: value` with a value in JSON, so it is YAML, up to the list of messages.
 */
#ifndef WR_SESSION_STATE_H
#define WR_SESSION_STATE_H

#include "base/buf.h"
#include "session/journal.h"
#include "session/thread.h"

#define WR_STATE_FILE "state.yaml"

struct wr_state {
    const char *name, *model, *policy;
    uint64_t window_tokens, messages_max;
    const struct wr_journal *journal;
    struct wr_journal_stamp stamp;
    const struct wr_thread *thread;
};

/* `has_messages` false: the numbers alone, as the store keeps them. */
void wr_state_write(struct wr_buf *out, const struct wr_state *state, bool has_messages);

struct wr_checkpoint {
    struct wr_arena arena;
    struct wr_journal_skim skim; /* what of the journal it wants; `fn` is the caller's */
    struct wr_held *held;        /* ascending */
    uint32_t held_count, held_next;
    weir_span counted_by; /* whose tokens they are; see wr_state_counted_by() */
};

/* Reads what wr_state_write() wrote and puts its numbers into a thread that is empty. NULL: done;
 * else why it is of no use, a constant, and the thread is as before. Release it either way. */
const char *wr_checkpoint_read(struct wr_checkpoint *checkpoint, weir_span yaml,
                               struct wr_thread *thread);
void wr_checkpoint_release(struct wr_checkpoint *checkpoint);

/* What is held of an event that the checkpoint wants; they are asked for in order. NULL: it is no
 * message. */
const struct wr_held *wr_checkpoint_next(struct wr_checkpoint *checkpoint, uint64_t seq);

/* Appends by which counter the tokens of a model were counted. */
void wr_state_counted_by(struct wr_buf *out, const char *model);

#endif
