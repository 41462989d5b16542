#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/span.h"
#include "tokens/estimate.h"

static const struct {
    const char *behaviour, *text;
    enum wr_estimate_feature feature;
    uint64_t count;
} cases[] = {
    {"letters", "ab, CD\n", WR_ESTIMATE_LETTER, 4},
    {"a word begins after what is no letter", "ab cd-ef", WR_ESTIMATE_WORD, 3},
    {"a letter after a symbol", "a.b (c", WR_ESTIMATE_GLUED, 2},
    {"letters that go on a word", "abcdefg", WR_ESTIMATE_LONG, 3},
    {"letters that go on a long word", "abcdefghijk", WR_ESTIMATE_LONGER, 3},
    {"consonants in a row", "strength", WR_ESTIMATE_CLUSTER, 3},
    {"capitals", "aBC", WR_ESTIMATE_CAPITAL, 2},
    {"a capital inside a word", "fooBarBAZ", WR_ESTIMATE_CAMEL, 2},
    {"digits", "12 3", WR_ESTIMATE_DIGIT, 3},
    {"a number begins after what is no digit", "12 3a4", WR_ESTIMATE_NUMBER, 3},
    {"a letter after a digit", "0x1f", WR_ESTIMATE_MIXED, 2},
    {"symbols", "a+=~!", WR_ESTIMATE_SYMBOL, 4},
    {"symbols begin after something else", "a+=b.c", WR_ESTIMATE_SYMBOLS, 2},
    {"a symbol after the same one", "---=aa", WR_ESTIMATE_REPEATED, 2},
    {"spaces and tabs", "a \t b", WR_ESTIMATE_SPACE, 3},
    {"a space after something else", "a \t b c", WR_ESTIMATE_SPACES, 2},
    {"line ends", "a\n\nb\r\n", WR_ESTIMATE_LINE, 3},
    {"a character of two bytes", "\xC3\xA9", WR_ESTIMATE_LEAD_2, 1},
    {"an arrow", "\xE2\x86\x92", WR_ESTIMATE_LEAD_E2, 1},
    {"kana", "\xE3\x81\x82", WR_ESTIMATE_LEAD_E3, 1},
    {"han", "\xE4\xB8\xAD", WR_ESTIMATE_LEAD_HAN, 1},
    {"hangul", "\xED\x95\x9C", WR_ESTIMATE_LEAD_HANGUL, 1},
    {"an emoji", "\xF0\x9F\x98\x80", WR_ESTIMATE_LEAD_4, 1},
    {"a control byte", "a\x01\r", WR_ESTIMATE_REST, 2},
};

static void features_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_estimate_features features;
        wr_estimate_features(wr_span_of(cases[i].text), &features);
        if (features.counts[cases[i].feature] != cases[i].count)
            fail_msg("%s: %llu", cases[i].behaviour,
                     (unsigned long long)features.counts[cases[i].feature]);
    }
}

/* Blocks, flushes and ends must not show: repeating a text that ends in a line end multiplies every
 * feature. */
static void long_texts_add_up(void **state)
{
    static const char unit[] =
        "foo(Bar, 0x1f) -- \xE4\xB8\xAD\xE3\x80\x82 strengths \xF0\x9F\x98\x80\n";
    enum { TIMES = 1000, BYTES = TIMES * (sizeof unit - 1) };
    struct wr_estimate_features one, many;
    char *text = test_malloc(BYTES);
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        text[i] = unit[i % (sizeof unit - 1)];
    wr_estimate_features(
        WR_LIT("\n"
               "foo(Bar, 0x1f) -- \xE4\xB8\xAD\xE3\x80\x82 strengths \xF0\x9F\x98\x80"),
        &one);
    wr_estimate_features((weir_span){text, BYTES}, &many);
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        assert_int_equal(many.counts[i], one.counts[i] * TIMES);
    test_free(text);
}

static void no_sum_runs_over(void **state)
{
    enum { BYTES = 100000 };
    struct wr_estimate_features features;
    char *text = test_malloc(BYTES);
    (void)state;
    memset(text, 'a', BYTES);
    wr_estimate_features((weir_span){text, BYTES}, &features);
    assert_int_equal(features.counts[WR_ESTIMATE_LETTER], BYTES);
    test_free(text);
}

static void estimates_stay_within_reason(void **state)
{
    char text[4096];
    (void)state;
    assert_int_equal(wr_estimate_tokens(WR_ESTIMATOR_FITTED, (weir_span){NULL, 0}), 0);
    for (unsigned byte = 0; byte < 256; byte++) {
        memset(text, (int)byte, sizeof text);
        for (size_t len = 1; len <= sizeof text; len *= 4) {
            size_t tokens = wr_estimate_tokens(WR_ESTIMATOR_FITTED, (weir_span){text, len});
            assert_in_range(tokens, 1, len);
        }
    }
}

static void english_is_about_four_bytes_a_token(void **state)
{
    weir_span text =
        WR_LIT("The quick brown fox jumps over the lazy dog, and nobody minds at all.");
    (void)state;
    assert_in_range(wr_estimate_tokens(WR_ESTIMATOR_FITTED, text), 13, 20);
    assert_int_equal(wr_estimate_tokens(WR_ESTIMATOR_BYTES_4, text), 17);
    assert_int_equal(wr_estimate_tokens(WR_ESTIMATOR_BYTES_4, WR_LIT("abcde")), 1);
}

static void estimators_are_found_by_name(void **state)
{
    enum wr_estimator estimator;
    (void)state;
    assert_true(wr_estimator_find(WR_LIT("bytes/4"), &estimator));
    assert_int_equal(estimator, WR_ESTIMATOR_BYTES_4);
    assert_string_equal(wr_estimator_name(WR_ESTIMATOR_FITTED), "fitted");
    assert_false(wr_estimator_find(WR_LIT("bytes"), &estimator));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_counted),
        cmocka_unit_test(long_texts_add_up),
        cmocka_unit_test(no_sum_runs_over),
        cmocka_unit_test(estimates_stay_within_reason),
        cmocka_unit_test(english_is_about_four_bytes_a_token),
        cmocka_unit_test(estimators_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
