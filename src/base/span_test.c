#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const weir_span nothing = {NULL, 0};

static void equal_means_the_same_bytes(void **state)
{
    (void)state;
    assert_true(wr_span_eq(WR_LIT("ab"), WR_LIT("ab")));
    assert_true(wr_span_eq(WR_LIT("a\0b"), WR_LIT("a\0b")));
    assert_false(wr_span_eq(WR_LIT("a\0b"), WR_LIT("a\0c")));
    assert_false(wr_span_eq(WR_LIT("ab"), WR_LIT("abc")));
    assert_true(wr_span_eq(nothing, WR_LIT("")));
    assert_true(wr_span_is(nothing, ""));
    assert_false(wr_span_is(WR_LIT("a\0b"), "a"));
}

static void starts_and_ends(void **state)
{
    static const struct {
        const char *behaviour, *text, *part;
        bool starts, ends;
    } cases[] = {
        {"the front", "abc", "ab", true, false},
        {"the back", "abc", "bc", false, true},
        {"all of it", "abc", "abc", true, true},
        {"more than all", "abc", "abcd", false, false},
        {"nothing is everywhere", "abc", "", true, true},
        {"nothing is in nothing", "", "", true, true},
        {"something is not in nothing", "", "a", false, false},
        {"the middle is neither", "abc", "b", false, false},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span text = wr_span_of(cases[i].text), part = wr_span_of(cases[i].part);
        if (wr_span_starts(text, part) != cases[i].starts ||
            wr_span_ends(text, part) != cases[i].ends)
            fail_msg("%s", cases[i].behaviour);
    }
    assert_true(wr_span_starts(nothing, nothing));
    assert_true(wr_span_ends(nothing, nothing));
}

static void find_gives_the_first_place(void **state)
{
    static const struct {
        const char *behaviour, *hay, *needle;
        size_t from, place;
    } cases[] = {
        {"at the front", "abab", "ab", 0, 0},
        {"from a place inside", "abab", "ab", 1, 2},
        {"the place itself counts", "abab", "ab", 2, 2},
        {"at the very end", "xxab", "ab", 0, 2},
        {"not there", "abab", "ba ", 0, SIZE_MAX},
        {"only half of it there", "xxa", "ab", 0, SIZE_MAX},
        {"longer than the rest", "abc", "bc", 2, SIZE_MAX},
        {"nothing is found where the search begins", "abc", "", 2, 2},
        {"nothing is found at the end", "abc", "", 3, 3},
        {"a search from behind the end finds nothing", "abc", "", 4, SIZE_MAX},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        size_t place =
            wr_span_find(wr_span_of(cases[i].hay), wr_span_of(cases[i].needle), cases[i].from);
        if (place != cases[i].place)
            fail_msg("%s: %zu", cases[i].behaviour, place);
    }
    assert_int_equal(wr_span_find(nothing, nothing, 0), 0);
    assert_int_equal(wr_span_find(nothing, WR_LIT("a"), 0), SIZE_MAX);
    assert_int_equal(wr_span_find(WR_LIT("a\0b"), WR_LIT("\0b"), 0), 1);
}

static void lines_come_off_one_by_one(void **state)
{
    static const struct {
        const char *behaviour, *text, *lines; /* lines: each followed by '|' */
    } cases[] = {
        {"nothing has no lines", "", ""},
        {"a last line needs no end", "a\nb", "a|b|"},
        {"an end makes no further line", "a\nb\n", "a|b|"},
        {"empty lines count", "\n\na\n", "||a|"},
        {"a CR stays in its line", "a\r\nb", "a\r|b|"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        char got[64];
        size_t len = 0;
        weir_span rest = wr_span_of(cases[i].text), line;
        while (wr_span_line(&rest, &line)) {
            memcpy(got + len, line.ptr, line.len);
            len += line.len;
            got[len++] = '|';
        }
        uint64_t count = 0;
        for (const char *c = cases[i].lines; *c; c++)
            count += *c == '|';
        if (wr_span_lines(wr_span_of(cases[i].text)) != count)
            fail_msg("%s: another number of lines", cases[i].behaviour);
        if (!wr_span_eq((weir_span){got, len}, wr_span_of(cases[i].lines)))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)len, got);
    }
}

static void trim_takes_both_ends(void **state)
{
    (void)state;
    assert_true(wr_span_is(wr_span_trim(WR_LIT(" \t\r\na b\n\r\t ")), "a b"));
    assert_true(wr_span_is(wr_span_trim(WR_LIT("a")), "a"));
    assert_true(wr_span_is(wr_span_trim(WR_LIT(" \n ")), ""));
    assert_true(wr_span_is(wr_span_trim(nothing), ""));
    assert_true(wr_span_is(wr_span_trim(WR_LIT("\v\f")), "\v\f"));
}

static void cut_takes_a_part(void **state)
{
    (void)state;
    assert_true(wr_span_is(wr_span_cut(WR_LIT("abc"), 1, 2), "b"));
    assert_true(wr_span_is(wr_span_cut(WR_LIT("abc"), 3, 3), ""));
    assert_int_equal(wr_span_cut(nothing, 0, 0).len, 0);
}

static void numbers_are_all_digits_and_fit(void **state)
{
    static const struct {
        const char *behaviour, *text;
        bool ok;
        uint64_t number;
    } cases[] = {
        {"a digit", "7", true, 7},
        {"leading zeros", "0012", true, 12},
        {"the largest", "18446744073709551615", true, UINT64_MAX},
        {"one more than the largest", "18446744073709551616", false, 0},
        {"ten times the largest", "184467440737095516150", false, 0},
        {"the largest with zeros before it", "00018446744073709551615", true, UINT64_MAX},
        {"nothing", "", false, 0},
        {"a sign", "-1", false, 0},
        {"a plus", "+1", false, 0},
        {"a space", " 1", false, 0},
        {"a fraction", "1.0", false, 0},
        {"the byte before '0'", "/", false, 0},
        {"the byte behind '9'", ":", false, 0},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        uint64_t number = 0;
        bool ok = wr_span_u64(wr_span_of(cases[i].text), &number);
        if (ok != cases[i].ok || number != cases[i].number)
            fail_msg("%s", cases[i].behaviour);
    }
    assert_false(wr_span_u64(nothing, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_means_the_same_bytes),
        cmocka_unit_test(starts_and_ends),
        cmocka_unit_test(find_gives_the_first_place),
        cmocka_unit_test(lines_come_off_one_by_one),
        cmocka_unit_test(trim_takes_both_ends),
        cmocka_unit_test(cut_takes_a_part),
        cmocka_unit_test(numbers_are_all_digits_and_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
