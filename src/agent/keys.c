/* Keys from bytes: a machine with a state for what stands before (ESC, ESC [, a number).
 *
 * ESC alone is a key only when nothing follows for a while: wr_keys_pause() says that.
 */
#include "agent/keys.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

enum { ESCAPE = 27, ERASE = 127, PASTE_BEGINS = 200, PASTE_ENDS = 201, NUMBER_MAX = 10000 };

/* ESC [ MODIFIERS: 1 and the sum of 1 Shift, 2 Alt, 4 Ctrl. */
enum { SHIFT = 1, ALT = 2, CTRL = 4 };

static struct wr_key key_of(enum wr_key_kind kind)
{
    return (struct wr_key){kind, 0};
}

static struct wr_key of_letter(const struct wr_keys *k, char letter)
{
    uint32_t with = k->count > 1 && k->numbers[1] ? k->numbers[1] - 1 : 0;
    bool by_words = with & (ALT | CTRL);

    switch (letter) {
    case 'A':
        return key_of(WR_KEY_UP);
    case 'B':
        return key_of(WR_KEY_DOWN);
    case 'C':
        return key_of(by_words ? WR_KEY_WORD_RIGHT : WR_KEY_RIGHT);
    case 'D':
        return key_of(by_words ? WR_KEY_WORD_LEFT : WR_KEY_LEFT);
    case 'F':
        return key_of(WR_KEY_END);
    case 'H':
        return key_of(WR_KEY_HOME);
    case 'Z':
        return key_of(WR_KEY_BACKTAB);
    case 'M':
        return key_of(WR_KEY_ENTER); /* of the number block */
    case 'u':                        /* a key told by its code point: ESC [ 13 ; 2 u */
        return key_of(k->numbers[0] == '\r' ? (with ? WR_KEY_NEWLINE : WR_KEY_ENTER) : WR_KEY_NONE);
    default:
        return key_of(WR_KEY_NONE);
    }
}

static struct wr_key of_number(struct wr_keys *k)
{
    static const enum wr_key_kind kinds[] = {
        [1] = WR_KEY_HOME,      [3] = WR_KEY_DELETE, [4] = WR_KEY_END, [5] = WR_KEY_PAGE_UP,
        [6] = WR_KEY_PAGE_DOWN, [7] = WR_KEY_HOME,   [8] = WR_KEY_END};
    uint32_t number = k->numbers[0];

    if (number == PASTE_BEGINS || number == PASTE_ENDS) {
        k->is_pasting = number == PASTE_BEGINS;
        return key_of(k->is_pasting ? WR_KEY_PASTE_BEGINS : WR_KEY_PASTE_ENDS);
    }
    return key_of(number < sizeof(kinds) / sizeof(kinds[0]) ? kinds[number] : WR_KEY_NONE);
}

static struct wr_key in_sequence(struct wr_keys *k, char byte)
{
    uint32_t last = k->count ? k->count - 1 : 0;

    if (byte >= '0' && byte <= '9' && k->numbers[last] < NUMBER_MAX) {
        k->numbers[last] = k->numbers[last] * 10 + (uint32_t)(byte - '0');
        k->count = k->count ? k->count : 1;
    } else if (byte == ';' && k->count < 2) {
        k->count = 2;
    }
    if (byte >= ' ' && byte < '@')
        return key_of(WR_KEY_NONE);
    k->state = WR_KEYS_PLAIN;
    return byte == '~' ? of_number(k) : of_letter(k, byte);
}

static struct wr_key of_byte(const struct wr_keys *k, char byte)
{
    if (k->is_pasting && (byte == '\r' || byte == '\n' || byte == '\t'))
        return (struct wr_key){WR_KEY_BYTE, byte == '\t' ? '\t' : '\n'};
    if (k->is_pasting && (unsigned char)byte < ' ')
        return key_of(WR_KEY_NONE); /* a paste presses no key */
    if (byte == '\r')
        return key_of(WR_KEY_ENTER);
    if (byte == '\n')
        return key_of(WR_KEY_NEWLINE);
    if (byte == '\t')
        return key_of(WR_KEY_TAB);
    if (byte == '\b' || byte == ERASE)
        return key_of(k->is_pasting ? WR_KEY_NONE : WR_KEY_BACKSPACE);
    if (byte > 0 && byte <= 26)
        return (struct wr_key){WR_KEY_CTRL, (char)('a' + byte - 1)};
    return (unsigned char)byte >= ' ' ? (struct wr_key){WR_KEY_BYTE, byte} : key_of(WR_KEY_NONE);
}

/* Alt and a key. */
static struct wr_key behind_escape(struct wr_keys *k, char byte)
{
    k->state = WR_KEYS_PLAIN;
    switch (byte) {
    case '[':
        k->state = WR_KEYS_SEQUENCE;
        break;
    case 'O':
        k->state = WR_KEYS_LETTER;
        break;
    case '\r':
    case '\n':
        return key_of(WR_KEY_NEWLINE);
    case 'b':
        return key_of(WR_KEY_WORD_LEFT);
    case 'f':
        return key_of(WR_KEY_WORD_RIGHT);
    case 'd':
        return key_of(WR_KEY_WORD_FORWARD);
    case '\b':
    case ERASE:
        return key_of(WR_KEY_WORD_BACK);
    default:
        break;
    }
    k->numbers[0] = k->numbers[1] = k->count = 0;
    return key_of(WR_KEY_NONE);
}

struct wr_key wr_keys_take(struct wr_keys *k, char byte)
{
    if (byte == ESCAPE) {
        bool is_second = k->state == WR_KEYS_ESCAPE;
        k->state = WR_KEYS_ESCAPE;
        return key_of(is_second ? WR_KEY_ESCAPE : WR_KEY_NONE);
    }
    bool is_printed = byte >= ' ' && byte <= '~';
    if (k->state == WR_KEYS_ESCAPE)
        return behind_escape(k, byte);
    if (k->state == WR_KEYS_SEQUENCE && is_printed)
        return in_sequence(k, byte);
    if (k->state == WR_KEYS_LETTER && is_printed) {
        k->state = WR_KEYS_PLAIN;
        return of_letter(k, byte);
    }
    k->state = WR_KEYS_PLAIN;
    return of_byte(k, byte);
}

bool wr_keys_is_waiting(const struct wr_keys *k)
{
    return k->state == WR_KEYS_ESCAPE;
}

struct wr_key wr_keys_pause(struct wr_keys *k)
{
    bool is_escape = k->state == WR_KEYS_ESCAPE && !k->is_pasting;

    k->state = WR_KEYS_PLAIN;
    return key_of(is_escape ? WR_KEY_ESCAPE : WR_KEY_NONE);
}

/* ---- what is pasted ---- */

static const char begin[] = "[pasted text #";

/* Terminals send line ends as CR. */
static void append_lines(struct wr_buf *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_crlf = text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
        if (!is_crlf)
            wr_buf_byte(out, text.ptr[i] == '\r' ? '\n' : text.ptr[i]);
    }
}

static void name_paste(const struct wr_pastes *pastes, size_t i, char name[80])
{
    (void)snprintf(name, 80, "%s%zu: %llu lines]", begin, i + 1,
                   (unsigned long long)wr_span_lines(wr_buf_view(&pastes->texts[i])));
}

void wr_pastes_add(struct wr_pastes *pastes, weir_span text, struct wr_buf *shown)
{
    char name[80];

    if (pastes->count == WR_PASTES_MAX) {
        wr_buf_text(shown, "[too many were pasted]");
        return;
    }
    struct wr_buf *kept = &pastes->texts[pastes->count];
    wr_buf_init(kept, WR_AGENT_FILE_BYTES_MAX);
    append_lines(kept, text);
    if (wr_buf_status(kept)) {
        wr_buf_release(kept);
        wr_buf_text(shown, WR_PASTE_TOO_LONG);
    } else if (wr_span_lines(wr_buf_view(kept)) < 2 && kept->len <= WR_AGENT_PASTE_BYTES_SHOWN) {
        wr_buf_append(shown, wr_span_trim(wr_buf_view(kept)));
        wr_buf_release(kept);
    } else {
        name_paste(pastes, pastes->count++, name);
        wr_buf_text(shown, name);
    }
}

/* The index of the paste whose word is at `at`, or SIZE_MAX. `*bytes` is the length of that word.
 */
static size_t find_at(const struct wr_pastes *pastes, weir_span line, size_t at, size_t *bytes)
{
    char name[80];

    for (size_t i = 0; i < pastes->count; i++) {
        name_paste(pastes, i, name);
        *bytes = strlen(name);
        if (wr_span_starts(wr_span_cut(line, at, line.len), wr_span_of(name)))
            return i;
    }
    return SIZE_MAX;
}

void wr_pastes_expand(const struct wr_pastes *pastes, weir_span line, struct wr_buf *out)
{
    for (size_t at = 0; at < line.len;) {
        size_t bytes = 1;
        size_t found = line.ptr[at] == begin[0] ? find_at(pastes, line, at, &bytes) : SIZE_MAX;
        if (found == SIZE_MAX)
            wr_buf_byte(out, line.ptr[at++]);
        else
            wr_buf_append(out, wr_buf_view(&pastes->texts[found]));
        at += found == SIZE_MAX ? 0 : bytes;
    }
}

void wr_pastes_clear(struct wr_pastes *pastes)
{
    for (size_t i = 0; i < pastes->count; i++)
        wr_buf_release(&pastes->texts[i]);
    pastes->count = 0;
}
