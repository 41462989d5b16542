/* panel.h -- what stands in the dock, from the top: the end of what is being written, open cards,
 * what the agent does, lines that are queued, a question, choices, the line that is typed, the
 * status. All of it is text of others or of the user, and none of it can steer the terminal.
 */
#ifndef WR_AGENT_PANEL_H
#define WR_AGENT_PANEL_H

#include <stdio.h>

#include "agent/editor.h"
#include "base/buf.h"

/* ---- the last lines of the terminal, drawn again and again; all above them is scrollback ----
 *
 *     wr_dock_begin(&dock, columns, rows);
 *     wr_dock_line(&dock, line);          from the top to the bottom
 *     wr_dock_cursor(&dock, 1, 5);
 *     wr_dock_show(&dock, above);         `above` is printed for good, then the lines are drawn
 *
 * 1. Only the lines that the dock itself drew are ever moved over or erased.
 * 2. No line is wider than the terminal less one column: the terminal breaks none of them.
 * 3. After another size of the terminal the dock reckons with how it broke the lines anew.
 */

enum { WR_DOCK_LINES_MAX = 512 };

struct wr_dock_lines {
    struct wr_buf text; /* each line with '\n' */
    size_t cells[WR_DOCK_LINES_MAX];
    size_t count;
    size_t cursor_line, cursor_column;
};

struct wr_dock {
    FILE *out;
    struct wr_dock_lines next, drawn;
    size_t columns, rows;
};

void wr_dock_init(struct wr_dock *dock, FILE *out);
void wr_dock_release(struct wr_dock *dock);

void wr_dock_begin(struct wr_dock *dock, size_t columns, size_t rows);

/* `line` may hold colours (ESC [ ... m) and no other control characters; what is too wide is cut. A
 * line for which there is no room is left out. */
void wr_dock_line(struct wr_dock *dock, weir_span line);

void wr_dock_cursor(struct wr_dock *dock, size_t line, size_t column);

void wr_dock_show(struct wr_dock *dock, weir_span above);

/* Erases it. */
void wr_dock_hide(struct wr_dock *dock);

/* What was drawn is gone from the screen: somebody else has written there. */
void wr_dock_forget(struct wr_dock *dock);

/* Appends `line`, which may hold colours, cut to `cells_max` columns; returns its columns. */
size_t wr_dock_cut(struct wr_buf *out, weir_span line, size_t cells_max);

/* ---- what stands in it ---- */

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
