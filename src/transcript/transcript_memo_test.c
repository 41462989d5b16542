#include "transcript/transcript.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/span.h"

enum { MEMO_BYTES_MAX = 1 << 20 };

static wr_hash128 key_of(uint32_t n)
{
    return wr_hash128_of((weir_span){(const char *)&n, sizeof(n)});
}

static void what_is_put_is_found_again_as_a_copy(void **state)
{
    char path[] = "src/a.c";
    struct wr_effect effect = {.kind = WR_EFFECT_READ,
                               .path = {path, 7},
                               .query = WR_LIT(""),
                               .rev = WR_LIT(""),
                               .program = WR_LIT("cat")};
    struct wr_memo_entry entry = {
        .handles = {.path = {path, 7}, .effects = &effect, .effects_count = 1}, .has_slack = true};
    struct wr_memo *memo;
    (void)state;

    assert_int_equal(wr_memo_new(&memo, MEMO_BYTES_MAX), WEIR_OK);
    assert_null(wr_memo_find(memo, key_of(1)));
    wr_memo_put(memo, key_of(1), &entry);
    memset(path, 'x', 7); /* the memo must not look at the original any more */
    const struct wr_memo_entry *found = wr_memo_find(memo, key_of(1));
    assert_non_null(found);
    assert_true(wr_span_is(found->handles.path, "src/a.c"));
    assert_true(wr_span_is(found->handles.effects[0].path, "src/a.c"));
    assert_true(wr_span_is(found->handles.effects[0].program, "cat"));
    assert_true(found->has_slack);
    assert_null(wr_memo_find(memo, key_of(2)));
    wr_memo_free(memo);
}

static void a_memo_that_has_grown_forgets_when_a_request_begins(void **state)
{
    struct wr_memo_entry entry = {.handles = {.path = WR_LIT("p")}};
    struct wr_memo *memo;
    (void)state;

    assert_int_equal(wr_memo_new(&memo, MEMO_BYTES_MAX), WEIR_OK);
    for (uint32_t n = 0; n < 20000; n++)
        wr_memo_put(memo, key_of(n), &entry);
    assert_non_null(wr_memo_find(memo, key_of(0)));
    wr_memo_begin(memo);
    assert_null(wr_memo_find(memo, key_of(0)));
    wr_memo_put(memo, key_of(0), &entry);
    wr_memo_begin(memo);
    assert_non_null(wr_memo_find(memo, key_of(0)));
    wr_memo_free(memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found_again_as_a_copy),
        cmocka_unit_test(a_memo_that_has_grown_forgets_when_a_request_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
