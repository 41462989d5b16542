#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(validity_is_that_of_the_standard),
        cmocka_unit_test(check_names_the_first_bad_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
