#include "base/ascii.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void each_class_has_its_bytes_and_no_other(void **state)
{
    static const struct {
        const char *behaviour;
        bool (*is)(char);
        const char *members;
    } rows[] = {
        {"digits", wr_is_digit, DIGITS},
        {"capitals", wr_is_upper, UPPER},
        {"letters", wr_is_alpha, LOWER UPPER},
        {"letters and digits", wr_is_alnum, LOWER UPPER DIGITS},
        {"an underscore is part of a word, a dash is not", wr_is_word, LOWER UPPER DIGITS "_"},
        {"hexadecimal digits of either case", wr_is_hex, DIGITS "abcdefABCDEF"},
        {"hexadecimal digits as hashes have them", wr_is_lower_hex, DIGITS "abcdef"},
        {"blanks end no line", wr_is_blank, " \t"},
        {"white space of JSON", wr_is_white, " \t\r\n"},
        {"white space of C", wr_is_space, " \t\r\n\v\f"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        for (int byte = 0; byte < 256; byte++) {
            bool is_member = byte && strchr(rows[i].members, byte);
            if (rows[i].is((char)byte) != is_member)
                fail_msg("%s: byte 0x%02x", rows[i].behaviour, (unsigned)byte);
        }
}

static void only_capitals_are_made_small(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char *capital = byte ? strchr(UPPER, byte) : NULL;
        char expected = capital ? LOWER[capital - UPPER] : (char)byte;
        assert_int_equal(wr_lower((char)byte), expected);
    }
}

static void a_hexadecimal_digit_has_a_value(void **state)
{
    (void)state;
    for (int value = 0; value < 16; value++) {
        assert_int_equal(wr_hex_value("0123456789abcdef"[value]), value);
        assert_int_equal(wr_hex_value("0123456789ABCDEF"[value]), value);
    }
    for (const char *none = "/:@G`g \xC3"; *none; none++)
        assert_int_equal(wr_hex_value(*none), -1);
    assert_int_equal(wr_hex_value('\0'), -1);
}

/* ==== did you mean ==== */

static const struct {
    const char *behaviour, *typed, *expected;
} rows[] = {
    {"two letters changed places", "insepct", "; did you mean inspect?"},
    {"a letter is missing", "serv", "; did you mean serve?"},
    {"a letter is wrong", "serge", "; did you mean serve?"},
    {"two letters are wrong in a long word", "sinulote", "; did you mean simulate?"},
    {"it is how the word begins", "sim", "; did you mean simulate?"},
    {"capitals do not count", "SERVE", "; did you mean serve?"},
    {"nothing is near", "frobnicate", ";"},
    {"half of a short word would fit anything", "xy", ";"},
    {"nothing is near to nothing", "", ";"},
    {"what completion calls a class of values is no word", ":file", ";"},
};

static void the_word_that_was_meant_is_found(void **state)
{
    static const char *const words[] = {"run", "serve", "inspect", "simulate", ":file"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr_near near = wr_near_to(wr_span_of(rows[i].typed));
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
            wr_near_offer(&near, words[k], "");
        if (!wr_span_is(wr_span_of(near.text), rows[i].expected))
            fail_msg("%s: %s", rows[i].behaviour, near.text);
        assert_string_equal(wr_near_end(&near), rows[i].expected[1] ? rows[i].expected : "");
    }
}

static void a_distance_counts_letters(void **state)
{
    (void)state;
    assert_int_equal(wr_near_distance(WR_LIT("abc"), WR_LIT("abc")), 0);
    assert_int_equal(wr_near_distance(WR_LIT("abc"), WR_LIT("")), 3);
    assert_int_equal(wr_near_distance(WR_LIT("abc"), WR_LIT("axcd")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_has_its_bytes_and_no_other),
        cmocka_unit_test(only_capitals_are_made_small),
        cmocka_unit_test(a_hexadecimal_digit_has_a_value),
        cmocka_unit_test(the_word_that_was_meant_is_found),
        cmocka_unit_test(a_distance_counts_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
