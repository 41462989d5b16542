/* keyboard.h -- the terminal's keys: the line that is typed, at the prompt and while the agent
 * works.
 *
 * While it works Esc and Ctrl+C interrupt, and a line that ends with Enter steers: it waits for the
 * next request. Ctrl+O opens and closes cards at any time. Between wr_keyboard_begin() and
 * wr_keyboard_end() the terminal echoes nothing and hands over every key at once; its modes are put
 * back at the end.
 *
 * A question (wr_keyboard_answer()) is answered by a whole line. It appears while somebody may be
 * in the middle of a sentence, so keys belong to that sentence until nothing was pressed for a
 * while.
 */
#ifndef WR_AGENT_KEYBOARD_H
#define WR_AGENT_KEYBOARD_H

#include <termios.h>

#include "agent/client.h"
#include "agent/editor.h"

struct wr_keyboard {
    int terminal; /* opened anew: watching a file makes it non-blocking */
    struct wr_client *client;
    void (*on_open)(void *user);                 /* Ctrl+O */
    void (*on_line)(void *user, weir_span line); /* a line was finished */
    void (*on_change)(void *user, bool is_all);  /* to be drawn again; all: also what is there */
    void (*on_tick)(void *user);                 /* a few times a second, while the agent works */
    void (*on_page)(void *user, bool is_up);     /* Page Up and Page Down */
    void *user;                                  /* any of these may be NULL */
    bool is_at_prompt;                           /* the agent waits for the user */
    bool is_interrupted;                         /* Esc or Ctrl+C since the last begin */
    bool has_left;                               /* at the prompt: Ctrl+D, or Ctrl+C twice */
    uint32_t interrupts;                         /* of an empty prompt, one after the other */
    struct wr_keys keys;
    struct wr_editor editor;
    struct wr_buf lines; /* finished ones, each with a NUL */
    size_t lines_taken_bytes;
    uint64_t ticked_us;
    struct termios before, during;
    uv_poll_t poll;
    uv_timer_t timer;
    bool is_on, is_closed, is_timer_closed;
};

/* Watches the terminal of this process, or nothing: then nothing is typed. */
void wr_keyboard_init(struct wr_keyboard *keyboard, bool has_terminal, struct wr_client *client);
void wr_keyboard_release(struct wr_keyboard *keyboard);

void wr_keyboard_begin(struct wr_keyboard *keyboard);
void wr_keyboard_end(struct wr_keyboard *keyboard);

/* Looks for keys without waiting: for whoever keeps the loop busy. */
void wr_keyboard_look(struct wr_keyboard *keyboard);

/* Looks, and tells whether Esc or Ctrl+C was among them. The user is the keyboard. */
bool wr_keyboard_is_interrupted(void *user);

/* At the prompt: waits until a line is finished. False: the user has left, or the program ends. */
bool wr_keyboard_wait(struct wr_keyboard *keyboard);

enum wr_answer_end {
    WR_ANSWER_LINE,      /* Enter: the line is the answer */
    WR_ANSWER_ESCAPE,    /* Esc alone, or Ctrl+D */
    WR_ANSWER_INTERRUPT, /* Ctrl+C */
    WR_ANSWER_NONE,      /* there is no terminal, or the program ends */
};

struct wr_question {
    uint32_t quiet_ms; /* without a key, until keys are taken as the answer */
    bool (*is_answer)(weir_span line);
    void (*on_change)(void *user, weir_span line); /* the answer so far; first "": it is awaited */
    void *user;
};

/* Waits for an answer to a question that is on the screen; `line` gets it, trimmed. Keys that come
 * before the quiet time is over still belong to the line that was being typed. A line that is no
 * answer is taken as any other line, and the wait goes on. */
enum wr_answer_end wr_keyboard_answer(struct wr_keyboard *keyboard,
                                      const struct wr_question *question, struct wr_buf *line);

/* Takes the next finished line; one that was pasted may be several. */
bool wr_keyboard_take(struct wr_keyboard *keyboard, struct wr_buf *line);

/* The finished lines that nobody has taken, each with a NUL. */
weir_span wr_keyboard_queued(const struct wr_keyboard *keyboard);

#endif
