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
    {"the cursor goes to the line's ends",
     "b\x01"
     "a\x05"
     "c\r",
     "abc"},
    {"and to the middle", "ac\x1b[Db\r", "abc"},
    {"Alt+Enter begins a new line", "one\x1b\rtwo\r", "one\ntwo"},
    {"so does a backslash", "one\\\rtwo\r", "one\ntwo"},
};

static void keys_make_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
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
    struct bench b;
    (void)state;
    begin(&b);
    press(&b, "one\rhalf a li");
    wr_keyboard_look(&b.keyboard);
    assert_true(wr_span_is(wr_buf_view(&b.keyboard.editor.text), "half a li"));
    assert_true(wr_span_eq(wr_keyboard_queued(&b.keyboard), WR_LIT("one\0")));
    end(&b);
}

static void the_prompt_waits_for_a_line(void **state)
{
    struct wr_buf line;
    struct bench b;
    (void)state;
    begin(&b);
    wr_buf_init(&line, 1000);
    press(&b, "half\x03whole\r");
    assert_true(wr_keyboard_wait(&b.keyboard));
    assert_true(wr_keyboard_take(&b.keyboard, &line));
    assert_true(wr_span_is(wr_buf_view(&line), "whole"));
    assert_false(b.keyboard.is_interrupted); /* Ctrl+C gave up the line, and nothing else */
    assert_false(wr_keyboard_take(&b.keyboard, &line));
    press(&b, "x\x04\x7f\x04"); /* Ctrl+D leaves an empty line only */
    assert_false(wr_keyboard_wait(&b.keyboard));
    press(&b, "\x03\x03");
    assert_false(wr_keyboard_wait(&b.keyboard));
    wr_buf_release(&line);
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
    press(&b, "\x1b[A");
    assert_false(wr_keyboard_is_interrupted(&b.keyboard)); /* an arrow is no Esc */
    press(&b, "\x1b");
    assert_true(wr_keyboard_is_interrupted(&b.keyboard));
    end(&b);
}

/* ---- questions ---- */

enum { QUIET_MS = 20 };

struct asked {
    struct bench *b;
    const char *keys; /* pressed when the answer is awaited; then "n" and Enter */
    size_t awaited;   /* how often it was: each time the line is empty and no key was pressed */
};

static bool is_yes_or_no(weir_span line)
{
    return wr_span_is(line, "y") || wr_span_is(line, "n");
}

static void on_change(void *user, weir_span line)
{
    struct asked *asked = user;

    if (line.len || asked->awaited >= 2)
        return;
    if (asked->awaited && strchr(asked->keys, '\x15'))
        return; /* the user emptied it */
    if (asked->awaited++ == 0)
        press(asked->b, asked->keys);
    else
        press(asked->b, "n\r");
}

static const struct {
    const char *behaviour, *before, *keys;
    enum wr_answer_end end;
    const char *answer, *line, *rest; /* line: said to the model; NULL: none */
} questions[] = {
    {"a word and Enter answer", "", "y\r", WR_ANSWER_LINE, "y", NULL, ""},
    {"blanks do not matter", "", " y \r", WR_ANSWER_LINE, "y", NULL, ""},
    {"Backspace mends it", "", "yx\x7f\r", WR_ANSWER_LINE, "y", NULL, ""},
    {"what was typed before is no answer", "why", "n\r", WR_ANSWER_LINE, "n", NULL, "why"},
    {"nor is an answer that came too early", "y\r", "n\r", WR_ANSWER_LINE, "n", NULL, ""},
    {"a line that was finished before is said", "stop it\r", "n\r", WR_ANSWER_LINE, "n", "stop it",
     ""},
    {"the end of a sentence is no answer", "wh", "y not\r", WR_ANSWER_LINE, "n", "why not", ""},
    {"nor is a word that begins with one", "", "yes, but\r", WR_ANSWER_LINE, "n", "yes, but", ""},
    {"an empty line is none", "", "\r", WR_ANSWER_LINE, "n", NULL, ""},
    {"a line's end in what is pasted is none", "", "\x1b[200~y\r\x1b[201~z\r", WR_ANSWER_LINE, "n",
     "y\nz", ""},
    {"a paste that began before it ends in the line", "\x1b[200~a b", "y\x1b[201~n\r",
     WR_ANSWER_LINE, "n", NULL, "a by"},
    {"an arrow is no Esc", "", "\x1b[Ay\r", WR_ANSWER_LINE, "y", NULL, ""},
    {"Ctrl+U empties it", "", "no way\x15y\r", WR_ANSWER_LINE, "y", NULL, ""},
    {"Esc ends it, what was typed stays", "half", " a li\x1b", WR_ANSWER_ESCAPE, NULL, NULL,
     "half a li"},
    {"Ctrl+D ends it", "", "\x04", WR_ANSWER_ESCAPE, NULL, NULL, ""},
    {"Ctrl+C ends it", "", "y\x03", WR_ANSWER_INTERRUPT, NULL, NULL, "y"},
    {"Esc before it is awaited interrupts", "half\x1b", "", WR_ANSWER_INTERRUPT, NULL, NULL,
     "half"},
    {"also before it is awaited", "y\x03", "", WR_ANSWER_INTERRUPT, NULL, NULL, "y"},
};

static void check_question(size_t i)
{
    struct bench b;
    struct asked asked = {&b, questions[i].keys, 0};
    struct wr_question question = {QUIET_MS, is_yes_or_no, on_change, &asked};
    struct wr_buf answer, line, rest;

    begin(&b);
    wr_buf_init(&answer, 1000);
    wr_buf_init(&line, 1000);
    wr_buf_init(&rest, 1000);
    press(&b, questions[i].before);
    enum wr_answer_end end_of = wr_keyboard_answer(&b.keyboard, &question, &answer);
    bool has_line = wr_keyboard_take(&b.keyboard, &line);
    wr_buf_append(&rest, wr_buf_view(&b.keyboard.editor.text));
    weir_span said = wr_span_trim(wr_buf_view(&answer));
    if (end_of != questions[i].end ||
        (questions[i].answer && !wr_span_is(said, questions[i].answer)))
        fail_msg("%s: end %d, '%.*s'", questions[i].behaviour, end_of, (int)said.len, said.ptr);
    if (has_line != (questions[i].line != NULL) ||
        (has_line && !wr_span_is(wr_buf_view(&line), questions[i].line)) ||
        !wr_span_is(wr_buf_view(&rest), questions[i].rest))
        fail_msg("%s: line '%.*s', rest '%.*s'", questions[i].behaviour, (int)line.len, line.bytes,
                 (int)rest.len, rest.bytes);
    wr_buf_release(&answer);
    wr_buf_release(&line);
    wr_buf_release(&rest);
    end(&b);
}

static void a_question_wants_a_whole_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(questions); i++)
        check_question(i);
}

static void without_a_terminal_there_is_no_answer(void **state)
{
    struct wr_keyboard keyboard = {.terminal = -1};
    struct wr_question question = {QUIET_MS, is_yes_or_no, on_change, NULL};
    struct wr_buf answer;
    (void)state;
    wr_buf_init(&answer, 1000);
    assert_int_equal(wr_keyboard_answer(&keyboard, &question, &answer), WR_ANSWER_NONE);
    wr_buf_release(&answer);
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
        cmocka_unit_test(the_prompt_waits_for_a_line),
        cmocka_unit_test(ctrl_c_interrupts_and_ctrl_o_opens),
        cmocka_unit_test(a_question_wants_a_whole_line),
        cmocka_unit_test(without_a_terminal_there_is_no_answer),
        cmocka_unit_test(the_terminal_is_put_back_as_it_was),
        cmocka_unit_test(a_terminal_that_is_gone_interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
