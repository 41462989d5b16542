#include "base/text_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/span.h"

enum { TEXTS_COUNT = 50000 };

static weir_span text_of(char out[32], uint32_t i)
{
    (void)snprintf(out, 32, "text %u", i);
    return wr_span_of(out);
}

static void what_is_found_is_what_was_put(void **state)
{
    struct wr_text_memo *memo;
    uint32_t found = 0;
    char name[32];
    weir_span text;
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 64 * 1024 * 1024), WEIR_OK);
    for (uint32_t i = 0; i < TEXTS_COUNT; i++)
        wr_text_memo_put(memo, wr_hash128_of(text_of(name, i)), text_of(name, i));
    for (uint32_t i = 0; i < TEXTS_COUNT; i++)
        if (wr_text_memo_find(memo, wr_hash128_of(text_of(name, i)), &text)) {
            assert_true(wr_span_eq(text, text_of(name, i)));
            found++;
        }
    assert_true(found > 10000); /* more were put than there are places */
    assert_false(wr_text_memo_find(memo, wr_hash128_of(WR_LIT("never put")), &text));
    wr_text_memo_free(memo);
}

static void an_empty_text_is_found_too(void **state)
{
    struct wr_text_memo *memo;
    weir_span text = {"x", 1};
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 1024), WEIR_OK);
    wr_text_memo_put(memo, wr_hash128_of(WR_LIT("a")), (weir_span){"", 0});
    assert_true(wr_text_memo_find(memo, wr_hash128_of(WR_LIT("a")), &text));
    assert_int_equal(text.len, 0);
    wr_text_memo_free(memo);
}

static void past_its_cap_it_forgets_between_requests_only(void **state)
{
    struct wr_text_memo *memo;
    weir_span text;
    char name[32];
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 64 * 1024), WEIR_OK);
    for (uint32_t i = 0; i < 20000; i++)
        wr_text_memo_put(memo, wr_hash128_of(text_of(name, i)), text_of(name, i));
    assert_true(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_begin(memo);
    assert_false(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_put(memo, wr_hash128_of(text_of(name, 0)), text_of(name, 0));
    assert_true(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_free(memo);
}

static void without_a_memo_nothing_is_found(void **state)
{
    weir_span text;
    (void)state;
    wr_text_memo_put(NULL, wr_hash128_of(WR_LIT("a")), WR_LIT("b"));
    assert_false(wr_text_memo_find(NULL, wr_hash128_of(WR_LIT("a")), &text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_what_was_put),
        cmocka_unit_test(an_empty_text_is_found_too),
        cmocka_unit_test(past_its_cap_it_forgets_between_requests_only),
        cmocka_unit_test(without_a_memo_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
