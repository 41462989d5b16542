#include "agent/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/span.h"

struct bench {
    struct wr_screen screen;
    struct wr_view view;
    struct wr_keyboard keyboard; /* of no terminal */
    char *bytes;
    size_t len;
};

static void begin(struct bench *b, bool has_colours)
{
    *b = (struct bench){.keyboard = {.terminal = -1}};
    FILE *out = open_memstream(&b->bytes, &b->len);
    assert_non_null(out);
    wr_screen_init(&b->screen, out, has_colours, &b->keyboard);
    b->view = wr_screen_view(&b->screen);
}

static void end(struct bench *b)
{
    (void)fclose(b->screen.out);
    wr_screen_release(&b->screen);
    free(b->bytes);
}

static void piece(struct bench *b, enum wr_piece kind, const char *text)
{
    b->view.piece(b->view.user, kind, wr_span_of(text));
}

static void card(struct bench *b, const char *line, const char *text, bool is_error)
{
    struct weir_call call = {WR_LIT("c"), WR_LIT("t"), WR_LIT("{}")};
    b->view.call(b->view.user, &call, wr_span_of(line));
    b->view.result(b->view.user, &call, wr_span_of(text), is_error);
}

static void expect(struct bench *b, const char *text)
{
    (void)fflush(b->screen.out);
    if (!wr_span_is((weir_span){b->bytes, b->len}, text))
        fail_msg("got '%.*s'\nwanted '%s'", (int)b->len, b->bytes, text);
}

static bool shows(struct bench *b, const char *text)
{
    (void)fflush(b->screen.out);
    return wr_span_find((weir_span){b->bytes, b->len}, wr_span_of(text), 0) != SIZE_MAX;
}

static void text_is_shown_as_it_comes_and_ended_before_a_card(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, false);
    piece(&b, WR_PIECE_THINKING, "hidden");
    piece(&b, WR_PIECE_TEXT, "I ");
    piece(&b, WR_PIECE_TEXT, "look\x1b[2J");
    card(&b, "read_file a", "one\ntwo\n", false);
    wr_screen_say(&b.screen, "note\x07");
    expect(&b, "I look?[2J\n\xE2\x97\x8F read_file a\n  one\n  two\nnote?\n");
    end(&b);
}

static void a_card_is_closed_until_ctrl_o(void **state)
{
    static const char text[] = "1\n2\n3\n4\n5\n";
    struct bench b;
    (void)state;
    begin(&b, false);
    card(&b, "grep x", text, false);
    assert_true(shows(&b, "  3\n  \xE2\x80\xA6 2 more lines (Ctrl+O shows them)\n"));
    assert_false(shows(&b, "  4\n"));
    wr_screen_toggle(&b.screen);
    assert_true(shows(&b, "cards are open; Ctrl+O closes them\n"));
    assert_true(shows(&b, "  4\n  5\n"));
    piece(&b, WR_PIECE_THINKING, "now seen");
    assert_true(shows(&b, "now seen"));
    wr_screen_toggle(&b.screen);
    assert_true(shows(&b, "cards are closed\n"));
    card(&b, "grep y", "a\nb\nc\nd\n", false);
    assert_false(shows(&b, "  d\n"));
    end(&b);
}

static void a_long_line_is_cut_at_a_character(void **state)
{
    char line[700] = "";
    struct bench b;
    (void)state;
    for (size_t i = 0; i + 3 < sizeof(line); i += 3)
        memcpy(line + i, "\xE6\xB0\xB4", 4);
    begin(&b, false);
    card(&b, "grep", line, true);
    assert_true(shows(&b, "\xE6\xB0\xB4\xE2\x80\xA6\n"));
    end(&b);
}

static void only_the_last_cards_are_kept(void **state)
{
    struct bench b;
    char line[40];
    (void)state;
    begin(&b, false);
    for (int i = 0; i < WR_SCREEN_CARDS_MAX + 3; i++) {
        (void)snprintf(line, sizeof(line), "call %d;", i);
        card(&b, line, "r\n", false);
    }
    (void)fflush(b.screen.out);
    size_t before = b.len;
    wr_screen_toggle(&b.screen);
    (void)fflush(b.screen.out);
    weir_span shown = {b.bytes + before, b.len - before};
    assert_int_equal(wr_span_find(shown, WR_LIT("call 2;"), 0), SIZE_MAX);
    assert_true(wr_span_find(shown, WR_LIT("call 3;"), 0) != SIZE_MAX);
    end(&b);
}

static void colours_are_put_back(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, true);
    card(&b, "x", "wrong\n", true);
    expect(&b, "\x1b[36m\xE2\x97\x8F\x1b[0m x\n\x1b[31m  wrong\x1b[0m\n");
    end(&b);
}

static void nothing_steers_a_terminal(void **state)
{
    static const struct {
        const char *behaviour, *text, *shown;
    } rows[] = {
        {"text, tabs and lines", "a\tb\n\xC3\xA4\xE2\x82\xAC", "a\tb\n\xC3\xA4\xE2\x82\xAC"},
        {"escapes", "\x1b[31mred\x1b]0;t\x07", "?[31mred?]0;t?"},
        {"backspace, return, delete", "a\b\r\x7f", "a???"},
        {"controls of two bytes",
         "a\xC2\x9b"
         "31m\xC2\x80\xC2\xA0",
         "a?31m?\xC2\xA0"},
        {"half of one", "a\xC2", "a?"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        assert_non_null(out);
        wr_plain_text_put(out, wr_span_of(rows[i].text));
        assert_int_equal(fclose(out), 0);
        if (!wr_span_is((weir_span){text, bytes}, rows[i].shown))
            fail_msg("%s: %s", rows[i].behaviour, text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_shown_as_it_comes_and_ended_before_a_card),
        cmocka_unit_test(a_card_is_closed_until_ctrl_o),
        cmocka_unit_test(a_long_line_is_cut_at_a_character),
        cmocka_unit_test(only_the_last_cards_are_kept),
        cmocka_unit_test(colours_are_put_back),
        cmocka_unit_test(nothing_steers_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
