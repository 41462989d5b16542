#include "agent/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *bytes;
    enum wr_key_kind kind; /* the last key */
    char byte;
} rows[] = {
    {"a letter", "a", WR_KEY_BYTE, 'a'},
    {"a byte of a character", "\xC3", WR_KEY_BYTE, '\xC3'},
    {"Enter", "\r", WR_KEY_ENTER, 0},
    {"Ctrl+J begins a line", "\n", WR_KEY_NEWLINE, 0},
    {"Alt+Enter too", "\x1b\r", WR_KEY_NEWLINE, 0},
    {"Shift+Enter too, where it is told", "\x1b[13;2u", WR_KEY_NEWLINE, 0},
    {"Ctrl and a letter", "\x12", WR_KEY_CTRL, 'r'},
    {"an arrow", "\x1b[A", WR_KEY_UP, 0},
    {"in the other mode", "\x1bOB", WR_KEY_DOWN, 0},
    {"Ctrl and an arrow", "\x1b[1;5C", WR_KEY_WORD_RIGHT, 0},
    {"Shift and an arrow", "\x1b[1;2C", WR_KEY_RIGHT, 0},
    {"Alt and a letter",
     "\x1b"
     "b",
     WR_KEY_WORD_LEFT, 0},
    {"Delete", "\x1b[3~", WR_KEY_DELETE, 0},
    {"Home by number", "\x1b[1~", WR_KEY_HOME, 0},
    {"Page Up", "\x1b[5~", WR_KEY_PAGE_UP, 0},
    {"Shift+Tab", "\x1b[Z", WR_KEY_BACKTAB, 0},
    {"a key that means nothing", "\x1b[15~", WR_KEY_NONE, 0},
    {"a letter behind it", "\x1b[15~x", WR_KEY_BYTE, 'x'},
    {"Esc and Esc", "\x1b\x1b", WR_KEY_ESCAPE, 0},
    {"a sequence that is cut by a control key", "\x1b[1\x03", WR_KEY_CTRL, 'c'},
    {"a line's end in a paste is text", "\x1b[200~\r", WR_KEY_BYTE, '\n'},
    {"a control key in a paste is none", "\x1b[200~\x03", WR_KEY_NONE, 0},
    {"nor is Backspace", "\x1b[200~\x7f", WR_KEY_NONE, 0},
    {"the paste ends", "\x1b[200~a\x1b[201~", WR_KEY_PASTE_ENDS, 0},
    {"and Enter is Enter", "\x1b[200~a\x1b[201~\r", WR_KEY_ENTER, 0},
};

static void bytes_are_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_keys keys = {.count = 0};
        struct wr_key key = {WR_KEY_NONE, 0};
        for (const char *byte = rows[i].bytes; *byte; byte++)
            key = wr_keys_take(&keys, *byte);
        if (key.kind != rows[i].kind || key.byte != rows[i].byte)
            fail_msg("%s: %d '%c'", rows[i].behaviour, key.kind, key.byte);
    }
}

static void esc_alone_is_told_by_a_pause(void **state)
{
    struct wr_keys keys = {.count = 0};
    (void)state;
    (void)wr_keys_take(&keys, '\x1b');
    assert_true(wr_keys_is_waiting(&keys));
    assert_int_equal(wr_keys_pause(&keys).kind, WR_KEY_ESCAPE);
    assert_false(wr_keys_is_waiting(&keys));
    assert_int_equal(wr_keys_pause(&keys).kind, WR_KEY_NONE);
    assert_int_equal(wr_keys_take(&keys, '[').kind, WR_KEY_BYTE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_keys),
        cmocka_unit_test(esc_alone_is_told_by_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
