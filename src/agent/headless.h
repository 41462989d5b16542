/* headless.h -- the agent's work without a terminal: the answer's text, or one JSON object a line.
 *
 * The lines (docs/agent.md): {"type":"text","text"}, {"type":"call","id","name","arguments"},
 * {"type":"result","id","is_error","text"}, {"type":"turn",...}, {"type":"notice","text"} and, by
 * wr_headless_end(), {"type":"end",...}. Nobody can be asked, so what needs consent is refused
 * unless it was given beforehand.
 */
#ifndef WR_AGENT_HEADLESS_H
#define WR_AGENT_HEADLESS_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/agent.h"
#include "weir/status.h"

/* ---- what another process does in a session, shown as it happens ----
 *
 * The journal is read and nothing is written (session/journal.h). As text: what the user said, what
 * the model said and called, the first line of each result. As JSON: the lines of the journal as
 * they stand (docs/session.md, "Events").
 */

struct wr_watch {
    FILE *out;
    bool is_json;
};

/* Everything from the first event on, until nobody has had the session open for two seconds, or
 * nobody reads `out`. */
WEIR_MUST_USE weir_status wr_watch_session(const struct wr_watch *watch, const char *dir,
                                           struct weir_err *err);

/* ---- headless ---- */

struct wr_headless {
    FILE *out;
    bool is_json;
    bool is_terminal;   /* `out` is one: what the model says must not steer it */
    struct wr_buf text; /* pieces of one answer, for a JSON line */
    struct wr_buf line;
    char last; /* byte written; text ends with a line break */
};

void wr_headless_init(struct wr_headless *headless, FILE *out, bool is_json);
void wr_headless_release(struct wr_headless *headless);

struct wr_view wr_headless_view(struct wr_headless *headless);

void wr_headless_end(struct wr_headless *headless, struct wr_agent *agent, enum wr_worked worked);

#endif
