#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"

/* ==== UTF-8 ==== */

static bool is_surrogate(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

static void every_code_point_comes_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4];
        uint32_t back = UINT32_MAX;
        size_t len = wr_utf8_encode(code, bytes);
        size_t expected = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (len != expected || wr_utf8_decode((weir_span){bytes, len}, true, &back) != len ||
            back != code)
            fail_msg("U+%04X does not come back", code);
        if (wr_utf8_decode((weir_span){bytes, len}, false, &back) != (is_surrogate(code) ? 0 : len))
            fail_msg("U+%04X is judged wrong where surrogates are not allowed", code);
        for (size_t cut = 0; cut < len; cut++)
            if (wr_utf8_decode((weir_span){bytes, cut}, true, &back))
                fail_msg("U+%04X is taken with %zu of its bytes", code, cut);
    }
}

/* Table 3-7 of the Unicode standard: the ranges of bytes of every well-formed sequence. */
static const struct {
    unsigned char first[2], second[2];
    size_t len;
    bool surrogate;
} forms[] = {
    {{0x00, 0x7F}, {0, 0}, 1, false},       {{0xC2, 0xDF}, {0x80, 0xBF}, 2, false},
    {{0xE0, 0xE0}, {0xA0, 0xBF}, 3, false}, {{0xE1, 0xEC}, {0x80, 0xBF}, 3, false},
    {{0xED, 0xED}, {0x80, 0x9F}, 3, false}, {{0xED, 0xED}, {0xA0, 0xBF}, 3, true},
    {{0xEE, 0xEF}, {0x80, 0xBF}, 3, false}, {{0xF0, 0xF0}, {0x90, 0xBF}, 4, false},
    {{0xF1, 0xF3}, {0x80, 0xBF}, 4, false}, {{0xF4, 0xF4}, {0x80, 0x8F}, 4, false},
};

static bool within(unsigned char byte, const unsigned char range[2])
{
    return byte >= range[0] && byte <= range[1];
}

static size_t len_by_table(const unsigned char s[4], bool wtf8)
{
    static const unsigned char tail[2] = {0x80, 0xBF};
    for (size_t i = 0; i < WR_COUNT_OF(forms); i++) {
        if (!within(s[0], forms[i].first) || (forms[i].surrogate && !wtf8))
            continue;
        if (forms[i].len >= 2 && !within(s[1], forms[i].second))
            continue;
        if (forms[i].len >= 3 && !within(s[2], tail))
            continue;
        if (forms[i].len >= 4 && !within(s[3], tail))
            continue;
        return forms[i].len;
    }
    return 0;
}

static void validity_is_that_of_the_standard(void **state)
{
    static const unsigned char borders[] = {0x00, 0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                            0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF};
    (void)state;

    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (size_t i = 0; i < WR_COUNT_OF(borders); i++)
                for (size_t k = 0; k < WR_COUNT_OF(borders); k++) {
                    const unsigned char s[4] = {(unsigned char)first, (unsigned char)second,
                                                borders[i], borders[k]};
                    weir_span text = {(const char *)s, 4};
                    uint32_t code;
                    if (wr_utf8_decode(text, false, &code) != len_by_table(s, false) ||
                        wr_utf8_decode(text, true, &code) != len_by_table(s, true))
                        fail_msg("%02X %02X %02X %02X is judged wrong", s[0], s[1], s[2], s[3]);
                }
}

/* Each text stands at the end of its own memory, so that reading past it is caught. */
static size_t check_at_end(const char *bytes, size_t len, bool wtf8)
{
    char *own = malloc(len ? len : 1);
    assert_non_null(own);
    if (len)
        memcpy(own, bytes, len);
    size_t at = wr_utf8_check((weir_span){own, len}, wtf8);
    free(own);
    return at;
}

static void check_names_the_first_bad_byte(void **state)
{
    static const struct {
        const char *behaviour, *bytes;
        bool ok, ok_wtf8;
    } cases[] = {
        {"two bytes", "\xC3\xA9", true, true},
        {"three bytes", "\xE2\x82\xAC", true, true},
        {"four bytes", "\xF0\x9F\x98\x80", true, true},
        {"a tail alone", "\x80", false, false},
        {"a lead alone", "\xC3", false, false},
        {"an overlong slash", "\xC0\xAF", false, false},
        {"a surrogate", "\xED\xA0\x80", false, true},
        {"above U+10FFFF", "\xF4\x90\x80\x80", false, false},
        {"a byte UTF-8 does not have", "\xFF", false, false},
        {"a sequence cut short", "\xF0\x9F\x98", false, false},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        for (size_t before = 0; before <= 20; before++) {
            for (size_t behind = 0; behind <= 20; behind++) {
                char text[64];
                size_t len = strlen(cases[i].bytes), all = before + len + behind;
                memset(text, 'a', sizeof(text));
                memcpy(text + before, cases[i].bytes, len);
                if (check_at_end(text, all, false) != (cases[i].ok ? all : before) ||
                    check_at_end(text, all, true) != (cases[i].ok_wtf8 ? all : before))
                    fail_msg("%s, %zu bytes in", cases[i].behaviour, before);
            }
        }
    }
    assert_int_equal(wr_utf8_check((weir_span){NULL, 0}, false), 0);
}

/* ==== changes ==== */

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

#define R "\xEF\xBF\xBD"

static const struct {
    const char *behaviour;
    weir_span text;
    const char *valid;
    uint64_t replaced_count;
} valid_cases[] = {
    {"nothing", {"", 0}, "", 0},
    {"letters", {"abc\n", 4}, "abc\n", 0},
    {"characters of two to four bytes",
     {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9},
     "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
     0},
    {"one byte that begins nothing",
     {"a\xFF"
      "b",
      3},
     "a" R "b",
     1},
    {"several",
     {"\xFF\xFE"
      "a\x80",
      4},
     R R "a" R,
     3},
    {"a character that is cut off", {"a\xE2\x82", 3}, "a" R R, 2},
    {"a lone surrogate is one",
     {"a\xED\xA0\x80"
      "b",
      5},
     "a" R "b",
     1},
    {"an overlong form", {"\xC0\xAF", 2}, R R, 2},
};

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(valid_cases); i++) {
        struct wr_arena arena;
        weir_span valid;
        uint64_t replaced_count;
        wr_arena_init(&arena, 1024 * 1024);
        assert_int_equal(wr_valid_text(&arena, valid_cases[i].text, &valid, &replaced_count),
                         WEIR_OK);
        if (!wr_span_is(valid, valid_cases[i].valid) ||
            replaced_count != valid_cases[i].replaced_count)
            fail_msg("%s: '%.*s', %d", valid_cases[i].behaviour, (int)valid.len, valid.ptr,
                     (int)replaced_count);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(validity_is_that_of_the_standard),
        cmocka_unit_test(check_names_the_first_bad_byte),
        cmocka_unit_test(numbers_are_grouped_by_thousands),
        cmocka_unit_test(wide_lines_are_wrapped_behind_their_label),
        cmocka_unit_test(head_and_tail_count_characters),
        cmocka_unit_test(one_line),
        cmocka_unit_test(indent_puts_the_prefix_before_every_line),
        cmocka_unit_test(keep_moves_the_text_into_the_arena),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
