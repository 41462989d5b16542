#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/near.h"
#include "base/span.h"

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
        cmocka_unit_test(the_word_that_was_meant_is_found),
        cmocka_unit_test(a_distance_counts_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
