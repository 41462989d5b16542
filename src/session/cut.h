/* cut.h -- where a conversation may be cut, and what then leaves: pure choices over a view.
 *
 * 1. A cut keeps whole groups: it lies before an answer of the model, or before an exchange (words
 *    of the user and all that follows up to the next words).
 * 2. A cut goes deeper than it must, so that the next one is far away: every cut costs the
 *    provider's cache.
 */
#ifndef WR_SESSION_CUT_H
#define WR_SESSION_CUT_H

#include "session/render.h"

struct wr_cut {
    uint64_t before;         /* events before this one leave; 0: no cut is to be made */
    uint64_t leaving_count;  /* messages */
    uint64_t leaving_tokens; /* that leave */
    uint64_t *kept;          /* exchanges before the cut that matter, by event */
    uint32_t kept_count;
    bool drops_words;
};

/* ---- for a summary ---- */

struct wr_cut_summary {
    uint32_t tail_count;      /* the newest says that stay; more, while they have no more than */
    uint64_t tail_tokens_min; /* this; fewer, where they have more than */
    uint64_t tail_tokens_max; /* this, down to one answer */
    bool is_signed_open;      /* signed thinking in a running loop: the loop leaves whole */
};

/* The cut before an answer, with the words of the user staying. What is signed binds all that
 * stands before it, so a running loop that holds such leaves whole: the cut is behind its last
 * result. */
void wr_cut_for_summary(struct wr_cut *cut, const struct wr_view *view,
                        const struct wr_thread *thread, const struct wr_cut_summary *options);

/* Whether the running loop holds signed thinking of this API and model. */
bool wr_cut_is_signed_open(const struct wr_view *view, weir_span model);

/* ---- for a history that has a budget ---- */

struct wr_cut_budget {
    uint64_t history_tokens_max; /* 0: no cap of this kind */
    uint64_t messages_max;       /* likewise */
    bool drops_words;            /* the user's leave too, as `layers` has it (law L5) */
};

/* The cut before an exchange: of history, which is all before the newest one, exchanges that were
 * rated get up to a quarter of the room, the highest first; the rest is filled from the newest
 * back. Where one exchange alone has too many messages it lies before an answer, and words stay.
 * Words that stay are carried over at the head of the prompt, all of them as one message. */
WEIR_MUST_USE weir_status wr_cut_for_budget(struct wr_cut *cut, struct wr_arena *arena,
                                            const struct wr_view *view,
                                            const struct wr_thread *thread,
                                            const struct wr_cut_budget *budget);

#endif
