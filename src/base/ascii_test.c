#include "base/ascii.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

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
        {"small letters", wr_is_lower, LOWER},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_has_its_bytes_and_no_other),
        cmocka_unit_test(only_capitals_are_made_small),
        cmocka_unit_test(a_hexadecimal_digit_has_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
