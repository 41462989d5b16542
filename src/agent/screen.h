/* screen.h -- the agent's work on a terminal: text as it comes, calls and results as cards.
 *
 * In a terminal that can move its cursor the last lines are a dock (panel.h): what the agent does,
 * the line that is typed, the status; everything else is printed above it for good. In a plain one
 * nothing is ever drawn over, and for a screen reader words stand for signs.
 *
 * A card is closed: what is called, and how much came back. Ctrl+O shows the last results whole,
 * above the line, until it is pressed again. That is for the eye only: what the model sees is the
 * same either way.
 */
#ifndef WR_AGENT_SCREEN_H
#define WR_AGENT_SCREEN_H

#include <stdio.h>

#include "agent/agent.h"
#include "agent/panel.h"
#include "agent/keyboard.h"
#include "agent/markdown.h"

enum { WR_SCREEN_CARDS_MAX = 16 };

struct wr_card {
    struct wr_buf line, text;
    bool is_error;
};

enum wr_screen_kind {
    WR_SCREEN_PLAIN,  /* no cursor is moved */
    WR_SCREEN_SPOKEN, /* nor is a sign used that is no word */
    WR_SCREEN_DOCKED,
};

struct wr_screen {
    FILE *out;
    enum wr_screen_kind kind;
    bool has_colours;
    bool is_open;
    bool is_in_text;     /* a piece of text was written and its line is not ended */
    bool is_in_thinking; /* or of thinking */
    struct wr_keyboard *keyboard;
    struct wr_card cards[WR_SCREEN_CARDS_MAX]; /* the last ones, a ring */
    size_t cards_count;                        /* ever */
    struct wr_buf printed;                     /* what is to be printed, for good */
    struct wr_dock dock;
    size_t columns, rows;         /* of the terminal; 0: it is asked */
    struct wr_md_stream markdown; /* in a dock: the answer that is being written */
    struct wr_buf tail;           /* of an answer: what is not printed yet */
    struct wr_buf opened;         /* the open cards, drawn */
    size_t opened_behind;         /* of their lines, below what is shown */
    struct wr_buf status;         /* as on_status last told */
    void (*on_status)(void *user, struct wr_buf *out); /* may be NULL */
    void *status_user;
    char doing[120];
    bool is_working;
    uint64_t began_us, worked_us; /* worked: of the last run */
    uint64_t answer_bytes;
    bool is_asking, is_awaited;
    struct wr_buf answer; /* to a question, so far */
    struct wr_buf later;  /* commands that were typed while the agent worked, each with a NUL */
};

void wr_screen_init(struct wr_screen *screen, FILE *out, bool has_colours,
                    struct wr_keyboard *keyboard);
void wr_screen_release(struct wr_screen *screen);

struct wr_view wr_screen_view(struct wr_screen *screen);

/* What this terminal can do: a dock, unless it is told to be plain or cannot move its cursor. */
enum wr_screen_kind wr_screen_kind_of(const char *term, bool is_plain, bool is_spoken);

/* Prints what is to be printed and draws the dock. */
void wr_screen_draw(struct wr_screen *screen);

/* The agent works from here, and waits for the user from there. */
void wr_screen_begin_work(struct wr_screen *screen);
void wr_screen_end_work(struct wr_screen *screen);

/* The dock is erased: somebody else writes to the terminal. */
void wr_screen_hide(struct wr_screen *screen);

/* Ctrl+O. */
void wr_screen_toggle(struct wr_screen *screen);

/* Page Up and Page Down in open cards. */
void wr_screen_page(struct wr_screen *screen, bool is_up);

/* As it is, but for control characters. */
void wr_screen_text(struct wr_screen *screen, weir_span text);

/* A line of its own, dim. */
void wr_screen_say(struct wr_screen *screen, const char *text);

/* What the user said, as it stood in the line. */
void wr_screen_said(struct wr_screen *screen, weir_span line);

/* Writes text of others. What a model, a command or a file says may hold escapes, and they must not
 * steer the terminal (cells.h); tabs stay. */
void wr_plain_text_put(FILE *out, weir_span text);

#endif
