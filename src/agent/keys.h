/* keys.h -- the bytes of a keyboard as keys.
 *
 * Terminals send a letter as itself, Ctrl and a letter as a control character, Alt and a letter as
 * ESC and the letter, other keys as ESC [ NUMBER ; MODIFIERS LETTER, and what is pasted between
 * ESC[200~ and ESC[201~. A key may come in several reads.
 */
#ifndef WR_AGENT_KEYS_H
#define WR_AGENT_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum wr_key_kind {
    WR_KEY_NONE, /* more bytes are needed, or the key means nothing */
    WR_KEY_BYTE, /* of a text: one of `byte`, a line break in a paste included */
    WR_KEY_ENTER,
    WR_KEY_NEWLINE, /* Alt+Enter, Shift+Enter where the terminal tells, Ctrl+J */
    WR_KEY_TAB,
    WR_KEY_BACKTAB,
    WR_KEY_BACKSPACE,
    WR_KEY_DELETE,
    WR_KEY_LEFT,
    WR_KEY_RIGHT,
    WR_KEY_UP,
    WR_KEY_DOWN,
    WR_KEY_HOME,
    WR_KEY_END,
    WR_KEY_PAGE_UP,
    WR_KEY_PAGE_DOWN,
    WR_KEY_WORD_LEFT,
    WR_KEY_WORD_RIGHT,
    WR_KEY_WORD_BACK,    /* deletes the word before */
    WR_KEY_WORD_FORWARD, /* or behind the cursor */
    WR_KEY_ESCAPE,       /* alone: told by wr_keys_pause() */
    WR_KEY_CTRL,         /* `byte` is the letter, 'a' to 'z' */
    WR_KEY_PASTE_BEGINS,
    WR_KEY_PASTE_ENDS,
};

struct wr_key {
    enum wr_key_kind kind;
    char byte;
};

struct wr_keys {
    enum { WR_KEYS_PLAIN, WR_KEYS_ESCAPE, WR_KEYS_SEQUENCE, WR_KEYS_LETTER } state;
    uint32_t numbers[2];
    uint32_t count;  /* of the numbers of the sequence */
    bool is_pasting; /* between the two marks: a line's end is text */
};

/* The key that this byte ends. */
struct wr_key wr_keys_take(struct wr_keys *keys, char byte);

/* Whether an ESC has come whose rest has not: Esc alone looks the same. */
bool wr_keys_is_waiting(const struct wr_keys *keys);

/* Nothing more came for a while: an ESC that waits was Esc alone. */
struct wr_key wr_keys_pause(struct wr_keys *keys);

/* ---- what is pasted ----
 *
 * A terminal puts ESC[200~ and ESC[201~ around what is pasted. Several lines stand in the line that
 * is edited as "[pasted text #1: 40 lines]"; when the line is finished the text takes its place.
 */

#define WR_PASTE_TOO_LONG "[what was pasted is too long]"

enum { WR_PASTES_MAX = 32 };

struct wr_pastes {
    struct wr_buf texts[WR_PASTES_MAX];
    size_t count;
};

/* Appends to `shown` what the line shows for it: a text of one line is shown as it is. If there are
 * too many pastes, or this one is too long, a word says so. */
void wr_pastes_add(struct wr_pastes *pastes, weir_span text, struct wr_buf *shown);

/* Appends the line with the texts in their places. */
void wr_pastes_expand(const struct wr_pastes *pastes, weir_span line, struct wr_buf *out);

/* Forgets them: the line is finished or given up. */
void wr_pastes_clear(struct wr_pastes *pastes);

#endif
