#include "agent/keys.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

/* ---- what is pasted ---- */

static const struct {
    const char *behaviour, *before, *pasted, *after, *shown, *said;
} paste_rows[] = {
    {"one line is itself", "see ", "a line", ".", "see a line.", "see a line."},
    {"also with its end", "", "a line\r", "", "a line", "a line"},
    {"lines are a word, and said whole", "see ", "a\rb\r", " now",
     "see [pasted text #1: 2 lines] now", "see a\nb\n now"},
    {"CRLF is one end", "", "a\r\nb", "", "[pasted text #1: 2 lines]", "a\nb"},
    {"a word of the user's that looks like one is not", "[pasted text #9: 2 lines]", "x", "",
     "[pasted text #9: 2 lines]x", "[pasted text #9: 2 lines]x"},
    {"Unicode stays", "", "\xE6\xB0\xB4\r\xE6\xB0\xB4", "", "[pasted text #1: 2 lines]",
     "\xE6\xB0\xB4\n\xE6\xB0\xB4"},
};

static void what_is_pasted_is_shown_by_a_word_and_said_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(paste_rows); i++) {
        struct wr_pastes pastes = {.count = 0};
        struct wr_buf line, said;
        wr_buf_init(&line, 10000);
        wr_buf_init(&said, 10000);
        wr_buf_text(&line, paste_rows[i].before);
        wr_pastes_add(&pastes, wr_span_of(paste_rows[i].pasted), &line);
        wr_buf_text(&line, paste_rows[i].after);
        wr_pastes_expand(&pastes, wr_buf_view(&line), &said);
        if (!wr_span_is(wr_buf_view(&line), paste_rows[i].shown) ||
            !wr_span_is(wr_buf_view(&said), paste_rows[i].said))
            fail_msg("%s: '%.*s' '%.*s'", paste_rows[i].behaviour, (int)line.len, line.bytes,
                     (int)said.len, said.bytes);
        wr_pastes_clear(&pastes);
        wr_buf_release(&line);
        wr_buf_release(&said);
    }
}

static void more_than_can_be_kept_is_said(void **state)
{
    struct wr_pastes pastes = {.count = 0};
    struct wr_buf line;
    (void)state;
    wr_buf_init(&line, 100000);
    for (int i = 0; i <= WR_PASTES_MAX; i++)
        wr_pastes_add(&pastes, WR_LIT("a\rb"), &line);
    assert_true(wr_span_ends(wr_buf_view(&line), WR_LIT("[too many were pasted]")));
    wr_pastes_clear(&pastes);
    assert_int_equal(pastes.count, 0);
    wr_buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_keys),
        cmocka_unit_test(esc_alone_is_told_by_a_pause),
        cmocka_unit_test(what_is_pasted_is_shown_by_a_word_and_said_whole),
        cmocka_unit_test(more_than_can_be_kept_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
