/* keyboard.h -- what is typed while the agent works.
 *
 * Ctrl+C interrupts. Ctrl+O opens and closes cards. A line that ends with Enter steers: it waits
 * for the next request. Between wr_keyboard_begin() and wr_keyboard_end() the terminal echoes
 * nothing and hands over every key at once; its modes are put back at the end.
 *
 * A question (wr_keyboard_answer()) is answered by a whole line. It appears while somebody may be
 * in the middle of a sentence, so keys belong to that sentence until nothing was pressed for a
 * while.
 */
#ifndef WR_AGENT_KEYBOARD_H
#define WR_AGENT_KEYBOARD_H

#include <termios.h>

#include "agent/client.h"

enum { WR_KEY_CTRL_C = 3, WR_KEY_CTRL_D = 4, WR_KEY_CTRL_O = 15, WR_KEY_ESCAPE = 27 };

struct wr_keyboard {
    int terminal; /* opened anew: watching a file makes it non-blocking */
    struct wr_client *client;
    void (*on_open)(void *user);                 /* Ctrl+O */
    void (*on_line)(void *user, weir_span line); /* a line was finished */
    void *user;
    bool is_interrupted; /* Ctrl+C since the last begin */
    struct wr_buf typed; /* of the line that is not finished */
    enum { WR_KEYS_PLAIN, WR_KEYS_ESCAPE, WR_KEYS_SEQUENCE } keys; /* of an arrow, for one */
    uint32_t sequence;                                             /* its number */
    bool is_pasting;     /* between ESC[200~ and ESC[201~: a line's end is text */
    struct wr_buf lines; /* finished ones, each with a NUL */
    size_t lines_taken_bytes;
    struct termios before;
    uv_poll_t poll;
    bool is_on, is_closed;
};

/* Watches the terminal of this process, or nothing: then nothing is typed. */
void wr_keyboard_init(struct wr_keyboard *keyboard, bool has_terminal, struct wr_client *client);
void wr_keyboard_release(struct wr_keyboard *keyboard);

void wr_keyboard_begin(struct wr_keyboard *keyboard);
void wr_keyboard_end(struct wr_keyboard *keyboard);

/* Looks for keys without waiting: for whoever keeps the loop busy. */
void wr_keyboard_look(struct wr_keyboard *keyboard);

/* Looks, and tells whether Ctrl+C was among them. The user is the keyboard. */
bool wr_keyboard_is_interrupted(void *user);

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

/* Takes the beginning of a line that was not finished. */
void wr_keyboard_take_rest(struct wr_keyboard *keyboard, struct wr_buf *line);

#endif
