/* On a terminal that is really one. */
#include "agent/keyboard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <unistd.h>

#include "base/span.h"

struct bench {
    struct wr_client client;
    struct wr_keyboard keyboard;
    int master, slave;
    size_t opened, lines;
};

static void on_open(void *user)
{
    struct bench *b = user;
    b->opened++;
}

static void on_line(void *user, weir_span line)
{
    struct bench *b = user;
    (void)line;
    b->lines++;
}

static void begin(struct bench *b)
{
    struct weir_err err = {0};
    *b = (struct bench){.master = -1};
    assert_int_equal(openpty(&b->master, &b->slave, NULL, NULL, NULL), 0);
    assert_int_equal(wr_client_init(&b->client, NULL, &err), WEIR_OK);
    wr_keyboard_init(&b->keyboard, false, &b->client);
    b->keyboard.terminal = dup(b->slave); /* instead of /dev/tty, which a test may not have */
    b->keyboard.on_open = on_open;
    b->keyboard.on_line = on_line;
    b->keyboard.user = b;
    wr_keyboard_begin(&b->keyboard);
    assert_true(b->keyboard.is_on);
}

static void end(struct bench *b)
{
    wr_keyboard_release(&b->keyboard);
    wr_client_release(&b->client);
    (void)close(b->slave);
    if (b->master >= 0)
        (void)close(b->master);
}

static void press(struct bench *b, const char *keys)
{
    size_t len = strlen(keys);
    assert_int_equal(write(b->master, keys, len), len);
}

static const struct {
    const char *behaviour, *keys, *line; /* NULL: no line came */
} rows[] = {
    {"a line and Enter", "go on\r", "go on"},
    {"blanks around it are not kept", "  go on \r", "go on"},
    {"an empty line is none", " \r", NULL},
    {"Backspace takes back a character", "gob\x7f on\r", "go on"},
    {"also one of several bytes", "g\xC3\xA9\x7fo\r", "go"},
    {"an arrow is no text", "a\x1b[Ab\r", "ab"},
    {"nor is one in the other mode", "a\x1bOAb\r", "ab"},
    {"nor a key with a number", "a\x1b[15~b\r", "ab"},
    {"Unicode stays", "\xE6\xB0\xB4 \xF0\x9F\x8C\x8A\r", "\xE6\xB0\xB4 \xF0\x9F\x8C\x8A"},
    {"what is pasted is one line, whatever its ends", "see \x1b[200~a\rb\tc\x1b[201~ now\r",
     "see a\nb\tc now"},
    {"other control keys are nothing",
     "a\x01\x05"
     "b\r",
     "ab"},
};

static void keys_make_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr_buf line;
        struct bench b;
        begin(&b);
        wr_buf_init(&line, 10000);
        press(&b, rows[i].keys);
        bool has_line = wr_keyboard_take(&b.keyboard, &line);
        if (has_line != (rows[i].line != NULL) ||
            (has_line && !wr_span_is(wr_buf_view(&line), rows[i].line)))
            fail_msg("%s: '%.*s'", rows[i].behaviour, (int)line.len, line.bytes);
        assert_false(wr_keyboard_take(&b.keyboard, &line));
        assert_int_equal(b.lines, has_line);
        wr_buf_release(&line);
        end(&b);
    }
}

static void half_a_line_is_kept_for_the_prompt(void **state)
{
    struct wr_buf rest;
    struct bench b;
    (void)state;
    begin(&b);
    wr_buf_init(&rest, 1000);
    press(&b, "one\rhalf a li");
    wr_keyboard_look(&b.keyboard);
    wr_keyboard_take_rest(&b.keyboard, &rest);
    assert_true(wr_span_is(wr_buf_view(&rest), "half a li"));
    wr_buf_reset(&rest);
    wr_keyboard_take_rest(&b.keyboard, &rest);
    assert_int_equal(rest.len, 0);
    wr_buf_release(&rest);
    end(&b);
}

static void ctrl_c_interrupts_and_ctrl_o_opens(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    assert_false(wr_keyboard_is_interrupted(&b.keyboard));
    press(&b, "\x0f");
    assert_false(wr_keyboard_is_interrupted(&b.keyboard));
    assert_int_equal(b.opened, 1);
    press(&b, "half a line\x03");
    assert_true(wr_keyboard_is_interrupted(&b.keyboard));
    assert_true(b.client.is_interrupted);
    wr_keyboard_end(&b.keyboard);
    wr_keyboard_begin(&b.keyboard);
    assert_false(wr_keyboard_is_interrupted(&b.keyboard)); /* another turn */
    end(&b);
}

static void one_key_is_waited_for(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    press(&b, "y");
    assert_int_equal(wr_keyboard_key(&b.keyboard), 'y');
    end(&b);
}

static void the_terminal_is_put_back_as_it_was(void **state)
{
    struct termios before, during, after;
    struct bench b;
    (void)state;
    begin(&b);
    before = b.keyboard.before;
    assert_int_equal(tcgetattr(b.slave, &during), 0);
    assert_int_equal(during.c_lflag & (ICANON | ECHO | ISIG), 0);
    wr_keyboard_end(&b.keyboard);
    assert_int_equal(tcgetattr(b.slave, &after), 0);
    assert_int_equal(after.c_lflag, before.c_lflag);
    assert_int_equal(after.c_iflag, before.c_iflag);
    end(&b);
}

static void a_terminal_that_is_gone_interrupts(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    (void)close(b.master);
    b.master = -1;
    assert_true(wr_keyboard_is_interrupted(&b.keyboard));
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_make_lines),
        cmocka_unit_test(half_a_line_is_kept_for_the_prompt),
        cmocka_unit_test(ctrl_c_interrupts_and_ctrl_o_opens),
        cmocka_unit_test(one_key_is_waited_for),
        cmocka_unit_test(the_terminal_is_put_back_as_it_was),
        cmocka_unit_test(a_terminal_that_is_gone_interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
