/* past.h -- a part of a session's past as one conversation: its facts, its summary, its text.
 *
 * It is read from the journal, from the first event on, whatever was compacted since: so a second
 * summary is made of what happened, not of the first summary.
 */
#ifndef WR_SESSION_PAST_H
#define WR_SESSION_PAST_H

#include "engine/request.h"
#include "policy/summary.h"
#include "session/thread.h"

struct wr_past {
    struct wr_arena arena;
    struct wr_thread thread;
    struct wr_buf body;
    struct weir_request *request; /* all of it, as a chat request */
    struct wr_facts facts;
    wr_count_fn *count;
    void *user;
};

/* Everything before event `before`. On failure there is nothing to release. WEIR_LIMIT: it is more
 * than one request can be. */
WEIR_MUST_USE weir_status wr_past_open(struct wr_past *past, const char *dir, uint64_t before,
                                       wr_count_fn *count, void *user, struct weir_err *err);
void wr_past_release(struct wr_past *past);

/* The structured summary; empty where not even its first lines fit. In the past's arena. */
WEIR_MUST_USE weir_status wr_past_summary(struct wr_past *past, uint64_t tokens_max,
                                          weir_span *text);

/* All of it as a text that people and models can read. */
WEIR_MUST_USE weir_status wr_past_text(struct wr_past *past, struct wr_buf *out);

/* Whether `text` names what a summary must not lose: every file that was changed, and every task
 * that failed last (its command, or one of its messages). */
bool wr_past_facts_are_in(const struct wr_past *past, weir_span text);

#endif
