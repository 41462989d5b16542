/* made_sessions.h -- coding sessions made here, with what each answer used of earlier results.
 *
 * A session is a made-up project and an agent that searches, reads, edits, tests and explains in
 * it, in the manner of one of three kinds of agents. The maker writes down what it took from a
 * result and what it only made up, so that an extractor can be measured. One seed, one session.
 */
#ifndef TESTS_MADE_SESSIONS_H
#define TESTS_MADE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { MADE_USES_MAX = 8192, MADE_TEXT_BYTES = 192 };

/* A string in an answer. */
struct made_use {
    uint32_t answer; /* the message that says it, from 0 */
    bool is_used;    /* taken from a result; else made up, from the user, or the agent's own */
    char text[MADE_TEXT_BYTES];
};

struct made_session {
    struct wr_buf lines; /* one Chat Completions message a line; result of call rN is message N */
    struct made_use *uses;
    uint32_t uses_count;
};

void made_session_new(struct made_session *session, uint64_t seed);
void made_session_free(struct made_session *session);

#endif
