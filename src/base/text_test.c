#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"

static void head_and_tail_count_characters(void **state)
{
    static const struct {
        const char *behaviour, *text;
        uint64_t chars_max;
        const char *head, *tail;
    } cases[] = {
        {"a short text is whole", "abc", 5, "abc", "abc"},
        {"exactly as long is whole", "abc", 3, "abc", "abc"},
        {"a longer one is cut", "abcdef", 2, "ab", "ef"},
        {"nothing of nothing", "", 2, "", ""},
        {"none wanted", "abc", 0, "", ""},
        {"a character of two bytes is one", "\xc3\xa4\xc3\xb6\xc3\xbc", 2, "\xc3\xa4\xc3\xb6",
         "\xc3\xb6\xc3\xbc"},
        {"as many characters as wanted, though more bytes", "\xc3\xa4\xc3\xb6", 2,
         "\xc3\xa4\xc3\xb6", "\xc3\xa4\xc3\xb6"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span text = wr_span_of(cases[i].text);
        if (!wr_span_is(wr_text_head(text, cases[i].chars_max), cases[i].head) ||
            !wr_span_is(wr_text_tail(text, cases[i].chars_max), cases[i].tail))
            fail_msg("%s", cases[i].behaviour);
    }
}

static void one_line(void **state)
{
    static const struct {
        const char *behaviour, *text;
        uint64_t chars_max;
        const char *expected;
    } cases[] = {
        {"white space is one space, none at the ends", "\n a \t\n b\r\n", 100, "a b"},
        {"nothing stays nothing", " \n ", 100, ""},
        {"what does not fit is cut, and says so", "abc def", 5, "abc d ..."},
        {"exactly fitting is whole", "abc def", 7, "abc def"},
        {"space at the end needs no room", "abc def  ", 7, "abc def"},
        {"a gap is not written for what is cut", "abc def", 3, "abc ..."},
        {"characters are cut whole", "\xc3\xa4\xc3\xb6", 1, "\xc3\xa4 ..."},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf buf;
        wr_buf_init(&buf, 1000);
        wr_text_one_line_max(&buf, wr_span_of(cases[i].text), cases[i].chars_max);
        if (!wr_span_is(wr_buf_view(&buf), cases[i].expected))
            fail_msg("%s: \"%.*s\"", cases[i].behaviour, (int)buf.len, buf.bytes);
        wr_buf_release(&buf);
    }
}

static void indent_puts_the_prefix_before_every_line(void **state)
{
    struct wr_buf buf;
    (void)state;
    wr_buf_init(&buf, 1000);
    wr_text_indent(&buf, WR_LIT("a\n\nb"), "- ");
    assert_true(wr_span_is(wr_buf_view(&buf), "- a\n- \n- b\n"));
    wr_buf_release(&buf);
}

static void keep_moves_the_text_into_the_arena(void **state)
{
    struct wr_arena arena;
    struct wr_buf buf;
    weir_span text;
    (void)state;

    wr_arena_init(&arena, 1 << 20);
    wr_buf_init(&buf, 1000);
    wr_buf_text(&buf, "abc");
    assert_int_equal(wr_text_keep(&arena, &buf, &text), WEIR_OK);
    assert_true(wr_span_is(text, "abc"));

    wr_buf_init(&buf, 2);
    wr_buf_text(&buf, "abc");
    assert_int_equal(wr_text_keep(&arena, &buf, &text), WEIR_LIMIT);
    wr_arena_release(&arena);
}

static void wide_lines_are_wrapped_behind_their_label(void **state)
{
    static const struct {
        const char *text, *fitted;
    } rows[] = {
        {"short\n\nlines stay\n", "short\n\nlines stay\n"},
        {"  price   one two three four five\n", "  price   one two\n          three four\n"
                                                "          five\n"},
        {"no label, words and more words\n", "no label, words\n  and more words\n"},
        {"  a label that is too  wide\n", "  a label that is\n    too wide\n"},
        {"\033[1mcolours\033[0m take no room\n", "\033[1mcolours\033[0m take no room\n"},
        {"\033[1mcolours\033[0m are wrapped too\n", "\033[1mcolours\033[0m are\n  wrapped too\n"},
        {"\033[1m  one two three four five\033[0m\n",
         "\033[1m  one two three\n    four five\033[0m\n"},
        {"  \033[1mkey\033[0m   one two three four\n",
         "  \033[1mkey\033[0m   one two\n        three four\n"},
        {"averyveryverylongwordthatcannotbecut\n", "averyveryverylongwordthatcannotbecut\n"},
    };
    struct wr_buf out;
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        wr_buf_init(&out, 1000);
        wr_text_fit(&out, wr_span_of(rows[i].text), 20);
        assert_true(wr_span_is(wr_buf_view(&out), rows[i].fitted));
        wr_buf_release(&out);
    }
}

static void numbers_are_grouped_by_thousands(void **state)
{
    (void)state;
    assert_string_equal(WR_GROUPED(0), "0");
    assert_string_equal(WR_GROUPED(999), "999");
    assert_string_equal(WR_GROUPED(1000), "1,000");
    assert_string_equal(WR_GROUPED(1234567), "1,234,567");
    assert_string_equal(WR_GROUPED(UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_grouped_by_thousands),
        cmocka_unit_test(wide_lines_are_wrapped_behind_their_label),
        cmocka_unit_test(head_and_tail_count_characters),
        cmocka_unit_test(one_line),
        cmocka_unit_test(indent_puts_the_prefix_before_every_line),
        cmocka_unit_test(keep_moves_the_text_into_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
