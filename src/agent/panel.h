/* panel.h -- what stands in the dock, from the top: the end of what is being written, open cards,
 * what the agent does, lines that are queued, a question, choices, the line that is typed, the
 * status. All of it is text of others or of the user, and none of it can steer the terminal.
 */
#ifndef WR_AGENT_PANEL_H
#define WR_AGENT_PANEL_H

#include "agent/dock.h"
#include "agent/editor.h"

struct wr_panel {
    bool has_colours;
    weir_span tail;      /* lines that are not finished, drawn (colours are ours) */
    weir_span cards;     /* open cards, drawn */
    size_t cards_behind; /* lines of them below what is shown */
    const char *doing;   /* NULL: the agent waits for the user */
    uint64_t doing_ms;
    uint64_t tokens; /* of the answer so far; 0: none yet */
    weir_span queued;
    bool is_asking;   /* a question is on the screen */
    bool is_awaited;  /* and its answer is awaited: the cursor stands there */
    weir_span answer; /* so far */
    weir_span hint;   /* a line for the user; empty: none */
    weir_span status; /* drawn */
    const struct wr_editor *editor;
};

void wr_panel_draw(struct wr_dock *dock, const struct wr_panel *panel);

#endif
