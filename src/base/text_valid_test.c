#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

#define R "\xEF\xBF\xBD"

static const struct {
    const char *behaviour;
    weir_span text;
    const char *valid;
    uint64_t replaced_count;
} cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        weir_span valid;
        uint64_t replaced_count;
        wr_arena_init(&arena, 1024 * 1024);
        assert_int_equal(wr_valid_text(&arena, cases[i].text, &valid, &replaced_count), WEIR_OK);
        if (!wr_span_is(valid, cases[i].valid) || replaced_count != cases[i].replaced_count)
            fail_msg("%s: '%.*s', %d", cases[i].behaviour, (int)valid.len, valid.ptr,
                     (int)replaced_count);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_utf8_is_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
