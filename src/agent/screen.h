/* screen.h -- the agent's work on a terminal: text as it comes, calls and results as cards.
 *
 * A card is closed: what is called, and how much came back. Ctrl+O shows the last results whole,
 * and keeps the next cards open until it is pressed again. That is for the eye only: what the model
 * sees is the same either way.
 */
#ifndef WR_AGENT_SCREEN_H
#define WR_AGENT_SCREEN_H

#include <stdio.h>

#include "agent/agent.h"
#include "agent/keyboard.h"

enum { WR_SCREEN_CARDS_MAX = 16 };

struct wr_card {
    struct wr_buf line, text;
    bool is_error;
};

struct wr_screen {
    FILE *out;
    bool has_colours;
    bool is_open;
    bool is_in_text;     /* a piece of text was written and its line is not ended */
    bool is_in_thinking; /* or of thinking */
    struct wr_keyboard *keyboard;
    struct wr_card cards[WR_SCREEN_CARDS_MAX]; /* the last ones, a ring */
    size_t cards_count;                        /* ever */
};

void wr_screen_init(struct wr_screen *screen, FILE *out, bool has_colours,
                    struct wr_keyboard *keyboard);
void wr_screen_release(struct wr_screen *screen);

struct wr_view wr_screen_view(struct wr_screen *screen);

/* Ctrl+O. */
void wr_screen_toggle(struct wr_screen *screen);

/* Ends a line of text that is not ended. */
void wr_screen_end_text(struct wr_screen *screen);

/* As it is, but for control characters. */
void wr_screen_text(struct wr_screen *screen, weir_span text);

/* A line of its own, dim. */
void wr_screen_say(struct wr_screen *screen, const char *text);

/* Writes text of others. What a model, a command or a file says may hold escapes, and they must not
 * steer the terminal: control characters other than tab and line break, also those of two bytes
 * (U+0080 to U+009F), are shown as '?'. */
void wr_plain_text_put(FILE *out, weir_span text);

#endif
