#include "base/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"

static uint32_t find(const struct wr_index *index, const uint64_t *keys, uint64_t key, uint32_t *at)
{
    uint64_t hash = wr_hash64((weir_span){(const char *)&key, sizeof(key)});
    uint32_t item;
    for (*at = wr_index_first(index, hash); (item = wr_index_item(index, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(index, *at, hash))
        if (keys[item] == key)
            return item;
    return WR_INDEX_NONE;
}

static void every_item_put_is_found_and_no_other(void **state)
{
    enum { COUNT = 5000 };
    static uint64_t keys[COUNT];
    struct wr_arena arena;
    struct wr_index index;
    uint32_t at;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_index_init(&index, &arena, COUNT), WEIR_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (uint64_t)i * 7919;
        assert_int_equal(find(&index, keys, keys[i], &at), WR_INDEX_NONE);
        wr_index_put(&index, at, wr_hash64((weir_span){(const char *)&keys[i], sizeof(keys[i])}),
                     i);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(find(&index, keys, keys[i], &at), i);
        assert_int_equal(find(&index, keys, keys[i] + 1, &at), WR_INDEX_NONE);
    }
    wr_arena_release(&arena);
}

static void items_of_one_hash_are_told_apart_by_the_caller(void **state)
{
    struct wr_arena arena;
    struct wr_index index;
    uint32_t seen = 0;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_index_init(&index, &arena, 3), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t at = wr_index_first(&index, 42);
        while (wr_index_item(&index, at) != WR_INDEX_NONE)
            at = wr_index_next(&index, at, 42);
        wr_index_put(&index, at, 42, i);
    }
    for (uint32_t at = wr_index_first(&index, 42); wr_index_item(&index, at) != WR_INDEX_NONE;
         at = wr_index_next(&index, at, 42))
        seen |= 1u << wr_index_item(&index, at);
    assert_int_equal(seen, 7);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_put_is_found_and_no_other),
        cmocka_unit_test(items_of_one_hash_are_told_apart_by_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
