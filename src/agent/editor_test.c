#include "agent/editor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/chat.h"
#include "base/limits.h"
#include "base/span.h"

struct bench {
    struct wr_editor editor;
    struct wr_history history;
    struct wr_keys keys;
};

static const char *command_name(size_t number)
{
    static const char *const names[] = {"help", "context", "compact", NULL};
    return names[number];
}

static const struct wr_completer completer = {.root = "/nowhere", .command = command_name};

static void begin(struct bench *b)
{
    *b = (struct bench){.keys = {.count = 0}};
    wr_editor_init(&b->editor);
    wr_history_open(&b->history, NULL);
    wr_history_add(&b->history, WR_LIT("make test"));
    wr_history_add(&b->history, WR_LIT("two\nlines"));
    wr_history_add(&b->history, WR_LIT("make all"));
    b->editor.history = &b->history;
    b->editor.history_at = b->history.count;
    b->editor.complete = wr_line_complete;
    b->editor.complete_user = (void *)(uintptr_t)&completer;
}

static void end(struct bench *b)
{
    wr_editor_release(&b->editor);
    wr_history_release(&b->history);
}

static enum wr_edit press(struct bench *b, const char *bytes)
{
    enum wr_edit edit = WR_EDIT_NONE;
    for (; *bytes; bytes++)
        edit = wr_editor_key(&b->editor, wr_keys_take(&b->keys, *bytes));
    if (wr_keys_is_waiting(&b->keys))
        edit = wr_editor_key(&b->editor, wr_keys_pause(&b->keys));
    return edit;
}

#define LEFT   "\x1b[D"
#define UP     "\x1b[A"
#define DOWN   "\x1b[B"
#define CTRL_A "\x01"
#define CTRL_E "\x05"
#define CTRL_K "\x0b"
#define CTRL_R "\x12"
#define CTRL_U "\x15"
#define CTRL_W "\x17"
#define CTRL_Y "\x19"
#define CTRL_X "\x18"

static const struct {
    const char *behaviour, *keys, *text;
    size_t cursor;
} rows[] = {
    {"text is put in", "abc", "abc", 3},
    {"in the middle", "ac" LEFT "b", "abc", 2},
    {"Backspace", "abc\x7f", "ab", 2},
    {"at the beginning it does nothing", "abc" CTRL_A "\x7f", "abc", 0},
    {"a letter with its accent is one step", "ae\xCC\x81" LEFT "x", "axe\xCC\x81", 2},
    {"and one Backspace", "ae\xCC\x81\x7f", "a", 1},
    {"Chinese is one step", "\xE6\xB0\xB4\xE6\xB0\xB4" LEFT "x", "\xE6\xB0\xB4x\xE6\xB0\xB4", 4},
    {"Delete", "abc" CTRL_A "\x1b[3~", "bc", 0},
    {"Ctrl+D deletes in a line", "abc" CTRL_A "\x04", "bc", 0},
    {"Ctrl+U empties the line to the left", "one two" LEFT CTRL_U, "o", 0},
    {"Ctrl+K to the right", "one two" CTRL_A CTRL_K "x", "x", 1},
    {"Ctrl+W takes a word", "one two " CTRL_W, "one ", 4},
    {"Ctrl+Y puts it back", "one two" CTRL_W CTRL_A CTRL_Y, "twoone ", 3},
    {"Ctrl+X takes back what was killed", "one two" CTRL_U CTRL_X, "one two", 7},
    {"words to the left",
     "one two\x1b"
     "b\x1b"
     "bx",
     "xone two", 1},
    {"words to the right",
     "one two" CTRL_A "\x1b"
     "fx",
     "onex two", 4},
    {"Up is the line before", UP, "make all", 8},
    {"and the one before that", UP UP, "two\nlines", 9},
    {"within two lines Up goes up", UP UP UP, "two\nlines", 3},
    {"Down comes back to what was typed", "half" UP DOWN, "half", 4},
    {"Ctrl+R finds a part", CTRL_R "test\r", "make test", 9},
    {"again finds the one before", CTRL_R "make" CTRL_R "\r", "make test", 9},
    {"Esc leaves the search", "x" CTRL_R "make\x1b", "x", 1},
    {"another key goes on with what was found", CTRL_R "all" CTRL_A "x", "xmake all", 1},
    {"Tab completes a command", "/h\t", "/help ", 6},
    {"as far as they agree", "/co\t", "/co", 3},
    {"and then goes through them", "/co\t\t\t", "/compact", 8},
    {"backwards too", "/co\t\x1b[Z", "/compact", 8},
    {"Tab in a sentence is nothing", "a /h\t", "a /h", 4},
    {"a short paste is put in", "a\x1b[200~b\x1b[201~c", "abc", 3},
    {"a long one is a word", "\x1b[200~x\ry\x1b[201~", "[pasted text #1: 2 lines]", 25},
};

static void keys_edit_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        (void)press(&b, rows[i].keys);
        weir_span text = wr_buf_view(&b.editor.text);
        if (!wr_span_is(text, rows[i].text) || b.editor.cursor != rows[i].cursor)
            fail_msg("%s: '%.*s', %zu", rows[i].behaviour, (int)text.len, text.ptr,
                     b.editor.cursor);
        end(&b);
    }
}

static void a_line_is_taken_with_what_was_pasted(void **state)
{
    struct wr_buf line;
    struct bench b;
    (void)state;
    begin(&b);
    wr_buf_init(&line, 1000);
    assert_int_equal(press(&b, " see \x1b[200~x\ry\x1b[201~ \r"), WR_EDIT_DONE);
    assert_true(wr_editor_take(&b.editor, &line));
    assert_true(wr_span_is(wr_buf_view(&line), "see x\ny"));
    assert_int_equal(b.editor.text.len, 0);
    (void)press(&b, UP);
    assert_true(wr_span_is(wr_buf_view(&b.editor.text), "see x\ny"));
    wr_buf_release(&line);
    end(&b);
}

static void a_line_that_is_full_takes_no_more_and_says_so(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    for (size_t len = 8; len <= WR_AGENT_TYPED_BYTES_MAX; len *= 2)
        (void)press(&b, len == 8 ? "12345678" : "\x15\x19\x19"); /* cut, and put back twice */
    assert_int_equal(b.editor.text.len, WR_AGENT_TYPED_BYTES_MAX);
    assert_false(b.editor.is_full);
    (void)press(&b, "x");
    assert_true(b.editor.is_full);
    assert_int_equal(b.editor.text.len, WR_AGENT_TYPED_BYTES_MAX);
    (void)press(&b, "\x7f");
    assert_false(b.editor.is_full);
    assert_int_equal(b.editor.text.len, WR_AGENT_TYPED_BYTES_MAX - 1);
    (void)press(&b, UP); /* a line of the history takes the place of all of it */
    assert_false(b.editor.is_full);
    assert_true(wr_span_is(wr_buf_view(&b.editor.text), "make all"));
    end(&b);
}

static void keys_ask_something_of_others(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    assert_int_equal(press(&b, "\x03"), WR_EDIT_INTERRUPT);
    assert_int_equal(press(&b, "\x1b"), WR_EDIT_ESCAPE);
    assert_int_equal(press(&b, "\x04"), WR_EDIT_LEAVE);
    assert_int_equal(press(&b, "\x0f"), WR_EDIT_OPEN);
    assert_int_equal(press(&b, "/co\t"), WR_EDIT_CHANGED);
    assert_int_equal(b.editor.choices.count, 2);
    assert_int_equal(press(&b, "\x1b"), WR_EDIT_CHANGED); /* Esc leaves the choices first */
    assert_int_equal(b.editor.choices.count, 0);
    end(&b);
}

/* Any keys in any order: the cursor stays between characters of a text that is valid. */
static void no_keys_break_the_line(void **state)
{
    static const char *const presses[] = {"a",
                                          " ",
                                          "\xC3\xA9",
                                          "\xE6\xB0\xB4",
                                          "e\xCC\x81",
                                          "\x7f",
                                          LEFT,
                                          "\x1b[C",
                                          UP,
                                          DOWN,
                                          CTRL_A,
                                          CTRL_E,
                                          CTRL_K,
                                          CTRL_U,
                                          CTRL_W,
                                          CTRL_Y,
                                          CTRL_X,
                                          CTRL_R,
                                          "\t",
                                          "\x1b[Z",
                                          "\x1b"
                                          "b",
                                          "\x1b"
                                          "f",
                                          "\x1b"
                                          "d",
                                          "\x1b\r",
                                          "\x1b",
                                          "/c",
                                          "@",
                                          "\x1b[200~p\rq\x1b[201~",
                                          "\x1b[3~"};
    uint32_t seed = 1;
    struct bench b;
    (void)state;
    begin(&b);
    for (int n = 0; n < 20000; n++) {
        seed = seed * 1664525 + 1013904223;
        (void)press(&b, presses[(seed >> 16) % WR_COUNT_OF(presses)]);
        weir_span text = wr_buf_view(&b.editor.text);
        assert_in_range(b.editor.cursor, 0, text.len);
        assert_true(b.editor.cursor == text.len ||
                    ((unsigned char)text.ptr[b.editor.cursor] & 0xC0) != 0x80);
        if (n % 500 == 499)
            wr_editor_clear(&b.editor);
    }
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit_the_line),
        cmocka_unit_test(a_line_is_taken_with_what_was_pasted),
        cmocka_unit_test(a_line_that_is_full_takes_no_more_and_says_so),
        cmocka_unit_test(keys_ask_something_of_others),
        cmocka_unit_test(no_keys_break_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
