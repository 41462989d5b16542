#include "agent/cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *text;
    size_t cells;
} widths[] = {
    {"letters take a column each", "abc", 3},
    {"so do letters of several bytes", "h\xC3\xA9llo", 5},
    {"Chinese takes two", "\xE6\xB0\xB4\xE6\xB0\xB4", 4},
    {"an emoji takes two", "\xF0\x9F\x8C\x8A", 2},
    {"an accent joins its letter", "e\xCC\x81", 1},
    {"a byte that is no UTF-8 is a character", "a\xFF", 2},
    {"nothing takes none", "", 0},
};

static void text_has_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(widths); i++)
        if (wr_cells_of(wr_span_of(widths[i].text)) != widths[i].cells)
            fail_msg("%s: %zu", widths[i].behaviour, wr_cells_of(wr_span_of(widths[i].text)));
}

static void the_cursor_steps_over_a_character_with_its_marks(void **state)
{
    size_t cells;
    (void)state;
    assert_int_equal(wr_cells_step(WR_LIT("e\xCC\x81x"), &cells), 3);
    assert_int_equal(cells, 1);
    assert_int_equal(wr_cells_step(WR_LIT("ab"), &cells), 1);
    /* woman, joiner, laptop */
    assert_int_equal(wr_cells_step(WR_LIT("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBBx"), &cells),
                     11);
}

static const struct {
    const char *behaviour, *text;
    size_t cells;
    const char *head, *line;
} cuts[] = {
    {"a short text is whole", "one two", 10, "one two", "one two"},
    {"a line ends behind a blank", "one two", 5, "one t", "one "},
    {"or where the blank is over the edge", "one two", 3, "one", "one "},
    {"a long word is cut", "abcdefgh", 3, "abc", "abc"},
    {"no character is cut in two", "\xE6\xB0\xB4\xE6\xB0\xB4", 3, "\xE6\xB0\xB4", "\xE6\xB0\xB4"},
    {"one that is too wide is taken all the same", "\xE6\xB0\xB4", 1, "", "\xE6\xB0\xB4"},
};

static void text_is_cut_by_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cuts); i++) {
        weir_span text = wr_span_of(cuts[i].text);
        if (!wr_span_is(wr_cells_head(text, cuts[i].cells), cuts[i].head) ||
            !wr_span_is(wr_cells_wrap(text, cuts[i].cells), cuts[i].line))
            fail_msg("%s", cuts[i].behaviour);
    }
}

static const struct {
    const char *behaviour, *text, *shown;
} plain[] = {
    {"an escape does not steer", "a\x1b[2Jb\x07", "a?[2Jb?"},
    {"nor one of two bytes",
     "a\xC2\x9B"
     "2J",
     "a?2J"},
    {"nor the same byte alone",
     "a\x9B"
     "2J",
     "a?2J"},
    {"nor the first half of it", "a\xC2", "a?"},
    {"a carriage return does not go back", "safe\rrm -rf", "safe?rm -rf"},
    {"nor does a backspace", "ab\b\b", "ab??"},
    {"the direction of writing is not turned",
     "a\xE2\x80\xAE"
     "b\xE2\x81\xA6",
     "a?b?"},
    {"lines stay lines", "a\nb", "a\nb"},
    {"a tab is spaces", "a\tb\n\tc", "a       b\n        c"},
    {"letters stay", "h\xC3\xA9 \xE6\xB0\xB4", "h\xC3\xA9 \xE6\xB0\xB4"},
};

static void text_of_others_steers_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(plain); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 1000);
        wr_cells_plain(&out, wr_span_of(plain[i].text));
        if (!wr_span_is(wr_buf_view(&out), plain[i].shown))
            fail_msg("%s: '%.*s'", plain[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_columns),
        cmocka_unit_test(the_cursor_steps_over_a_character_with_its_marks),
        cmocka_unit_test(text_is_cut_by_columns),
        cmocka_unit_test(text_of_others_steers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
