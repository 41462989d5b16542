#include "traffic/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static void values_are_found_and_undone(void **state)
{
    static const struct {
        const char *query, *name, *value;
    } cases[] = {
        {"session=a%20b&limit=5", "session", "a b"},
        {"session=a+b", "session", "a b"},
        {"x=1&session=claude%3Acc", "session", "claude:cc"},
        {"sessions=wrong", "session", ""},
        {"session=", "session", ""},
        {"", "session", ""},
        {"q=50%", "q", "50%"},
        {"q=%zz%41", "q", "%zzA"},
    };
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span value = wr_query_text(wr_span_of(cases[i].query), cases[i].name, &arena);
        if (!wr_span_is(value, cases[i].value))
            fail_msg("%s: %.*s", cases[i].query, (int)value.len, value.ptr);
    }
    wr_arena_release(&arena);
    assert_int_equal(wr_query_number(WR_LIT("limit=20&offset=x"), "limit", 7), 20);
    assert_int_equal(wr_query_number(WR_LIT("limit=20&offset=x"), "offset", 7), 7);
    assert_int_equal(wr_query_number(WR_LIT(""), "offset", 7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_found_and_undone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
