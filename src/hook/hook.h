/* hook.h -- one result, condensed as it arrives, for an agent that no proxy stands in front of.
 *
 * The engine is given a request that consists of nothing but this call and its result, and offers
 * weir_recall. What its policy makes of the result is what the agent gets. So a hook decides by the
 * same stages as the proxy does on arrival: small results, failed ones and instructions stay whole.
 *
 *   event ─▶ is it a text? ─▶ does the agent have weir_recall? ─▶ project ─▶ store ─▶ answer
 *             no: whole         no: whole                           as it was: whole
 *
 * 1. Before the answer is there, the original is in the store (law L2).
 * 2. A file that is read again after an earlier read of it was shortened stays whole; a note of the
 *    session in the ledger remembers that from one process to the next.
 * 3. Nothing that was sent is changed: a result is new when it comes here, so no cache is broken.
 * 4. Whatever goes wrong, the answer is empty, and the agent keeps what it has (law L6).
 */
#ifndef WR_HOOK_HOOK_H
#define WR_HOOK_HOOK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

/* ---- what an agent tells its hook of a tool that has run, and what it is answered ----
 *
 * Agents that run a program after every tool give it one JSON object on stdin. The members are
 * nearly the same everywhere: session_id, tool_name, tool_input, tool_response. What differs is
 * where in tool_response the text is that the model will see, and in which member the answer is
 * taken.
 *
 * 1. One text of a result may be changed, or none. Everything else of tool_response goes back byte
 *    for byte: agents check the shape of what they get, and a result whose shape they do not know
 *    is dropped without a word.
 * 2. A result of which it is not certain that the model sees this text, all of it and nothing that
 *    is made of it, stays whole (law L6). `whole` says why.
 */

/* Which member of the answer the agent takes a result from. */
enum wr_hook_taker {
    WR_TAKES_NOTHING, /* no member does it without loss */
    WR_TAKES_UPDATED, /* hookSpecificOutput.updatedToolOutput, in the shape of tool_response */
    WR_TAKES_OUTPUT   /* output, a text: what our own plugin takes */
};

struct wr_hook_agent {
    const char *name;
    const char *event;  /* what it calls the moment after a tool ran */
    const char *recall; /* weir_recall as it spells it, where the server is called weir */
    const char *model;  /* that is counted for, where the event names none */
    enum wr_hook_taker taker;
    const char *bare; /* tools that give the text itself, or blocks, begin so; others an object */
    const char *lack; /* of WR_TAKES_NOTHING: why, in a sentence; of the others what it leaves */
};

/* NULL: no agent is called so. */
const struct wr_hook_agent *wr_hook_agent_find(const char *name);
const struct wr_hook_agent *wr_hook_agent_at(size_t index); /* NULL past the last */

struct wr_hook_event {
    weir_span session, tool, model; /* empty: not said */
    weir_span input;                /* the call's arguments, as JSON */
    weir_span text;                 /* of the result; empty where `whole` says why */
    const char *whole;              /* a constant sentence; NULL: the text may be changed */
    struct wr_json response;        /* tool_response, and */
    wr_json_id place;               /* where the text is in it */
};

/* Reads one event. Everything lives in `arena` or points into `json`. WEIR_SYNTAX, WEIR_INVALID: it
 * is none, and `err` says why. */
WEIR_MUST_USE weir_status wr_hook_event_read(struct wr_hook_event *event, struct wr_arena *arena,
                                             const struct wr_hook_agent *agent, weir_span json,
                                             struct weir_err *err);

/* Appends the answer that puts `text` in the place of the event's text. */
WEIR_MUST_USE weir_status wr_hook_event_answer(const struct wr_hook_event *event,
                                               struct wr_arena *arena,
                                               const struct wr_hook_agent *agent, weir_span text,
                                               struct wr_buf *out, struct weir_err *err);

/* ---- the answer ---- */

struct wr_hook {
    const struct wr_hook_agent *agent;
    const char *store;  /* its folder */
    const char *policy; /* a preset's name */
    const char *model;  /* NULL: the event's, else the agent's */
    const char *recall; /* weir_recall as the agent spells it; NULL: it has none */
    int64_t now_ms;
    uint32_t patience_ms; /* for all of it: half for the projection, by the time that this process
                           * works, a fifth for a store that another one holds */
};

struct wr_hooked {
    const char *whole; /* why there is no answer, a constant sentence; NULL: there is one */
    uint64_t tokens_before, tokens_after; /* of the result */
};

/* Appends the answer to `out`, or nothing. Failure: `err` says what went wrong, and `out` is not to
 * be used. */
WEIR_MUST_USE weir_status wr_hook_answer(const struct wr_hook *hook, weir_span event,
                                         struct wr_buf *out, struct wr_hooked *hooked,
                                         struct weir_err *err);

#endif
