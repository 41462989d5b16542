/* headless.h -- the agent's work without a terminal: the answer's text, or one JSON object a line.
 *
 * The lines (docs/agent.md): {"type":"text","text"}, {"type":"call","id","name","arguments"},
 * {"type":"result","id","is_error","text"}, {"type":"turn",...}, {"type":"notice","text"} and, by
 * wr_headless_end(), {"type":"end",...}. Nobody can be asked, so what needs consent is refused
 * unless it was given beforehand.
 */
#ifndef WR_AGENT_HEADLESS_H
#define WR_AGENT_HEADLESS_H

#include <stdio.h>

#include "agent/agent.h"

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
