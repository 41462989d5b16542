/* traces.h -- recorded sessions for tests: the files of ../shared/traces where they are present,
 * else a session that was made here (examples/session.json). */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include "base/buf.h"
#include "lab/session.h"

enum { TRACES_MAX = 512 };

struct traces {
    char *paths[TRACES_MAX]; /* sorted by name */
    size_t count;
    bool are_recorded; /* false: only the example made here */
};

/* Finds the sessions and says on stdout which they are. */
void traces_open(struct traces *traces);
void traces_close(struct traces *traces);

/* What WEIR_SESSIONS, WEIR_REQUESTS or WEIR_TURNS say, else `otherwise`: how much a test of the
 * laws plays. tests/run plays little of it under sanitizers, and the whole without them. */
uint32_t traces_setting(const char *name, uint32_t otherwise);

/* The distance between sessions of which `wanted` or a few more are played. */
size_t traces_step(const struct traces *traces, size_t wanted);

/* Reads one session; exits with a message when it cannot be read. `text` and `arena` belong to the
 * caller and outlive `session`. */
void traces_read(const struct traces *traces, size_t index, struct wr_buf *text,
                 struct wr_arena *arena, struct wr_session *session);

/* Calls `holds` for some `wanted` sessions; `number` counts them, `index` is their place among all.
 * Says which it does not hold for, and gives false where there is one. */
typedef bool traces_fn(void *user, struct wr_session *session, size_t number, size_t index);
bool traces_all_hold(uint32_t wanted, traces_fn *holds, void *user);

#endif
