#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash_memo.h"

static wr_hash128 key_of(uint64_t number)
{
    return wr_hash128_seeded((weir_span){(const char *)&number, sizeof(number)},
                             (wr_hash128){number, 1});
}

static void what_was_put_in_is_found_while_it_grows(void **state)
{
    enum { COUNT = 5000 };
    struct wr_hash_memo memo;
    uint64_t value;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, 1 << 16), WEIR_OK);
    uint32_t sets_first = memo.sets_count;
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_false(wr_hash_memo_find(&memo, key_of(i), &value));
        wr_hash_memo_put(&memo, key_of(i), i * 7);
    }
    assert_true(memo.sets_count > sets_first);
    assert_true(memo.sets_count * WR_HASH_MEMO_SET < 8 * COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(wr_hash_memo_find(&memo, key_of(i), &value));
        assert_int_equal(value, i * 7);
    }
    wr_hash_memo_release(&memo);
}

static void a_full_memo_takes_the_new_and_keeps_most_of_the_old(void **state)
{
    struct wr_hash_memo memo;
    uint64_t value, found_count = 0;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, WR_HASH_MEMO_SET), WEIR_OK);
    for (uint64_t i = 0; i <= WR_HASH_MEMO_SET; i++) {
        wr_hash_memo_put(&memo, key_of(i), i);
        assert_true(wr_hash_memo_find(&memo, key_of(i), &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(memo.sets_count, 1);
    for (uint64_t i = 0; i <= WR_HASH_MEMO_SET; i++)
        found_count += wr_hash_memo_find(&memo, key_of(i), &value);
    assert_int_equal(found_count, WR_HASH_MEMO_SET);
    wr_hash_memo_release(&memo);
}

static void a_cleared_memo_has_nothing_and_takes_more(void **state)
{
    struct wr_hash_memo memo;
    uint64_t value;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, 1000), WEIR_OK);
    wr_hash_memo_put(&memo, key_of(1), 1);
    wr_hash_memo_clear(&memo);
    assert_false(wr_hash_memo_find(&memo, key_of(1), &value));
    assert_false(wr_hash_memo_find(&memo, (wr_hash128){0, 0}, &value));
    wr_hash_memo_put(&memo, key_of(1), 2);
    assert_true(wr_hash_memo_find(&memo, key_of(1), &value));
    assert_int_equal(value, 2);
    wr_hash_memo_release(&memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_is_found_while_it_grows),
        cmocka_unit_test(a_full_memo_takes_the_new_and_keeps_most_of_the_old),
        cmocka_unit_test(a_cleared_memo_has_nothing_and_takes_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
