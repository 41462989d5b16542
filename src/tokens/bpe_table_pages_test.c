#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokens/bpe_table.h"

#include "base/span.h"

static void a_block_is_zeroed_and_all_of_it_can_be_written(void **state)
{
    static const size_t sizes[] = {1, 4096, 2 * 1024 * 1024, 2 * 1024 * 1024 + 1, 5 * 1000 * 1000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(sizes); i++) {
        struct wr_pages pages = wr_pages_new(sizes[i]);
        assert_non_null(pages.memory);
        assert_int_equal((uintptr_t)pages.memory % sizeof(max_align_t), 0);
        unsigned char *bytes = pages.memory;
        for (size_t at = 0; at < sizes[i]; at++) {
            assert_int_equal(bytes[at], 0);
            bytes[at] = 1;
        }
        wr_pages_free(pages);
    }
}

static void a_block_too_large_is_refused(void **state)
{
    (void)state;
    struct wr_pages pages = wr_pages_new(SIZE_MAX - 1);
    assert_null(pages.memory);
    wr_pages_free(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_zeroed_and_all_of_it_can_be_written),
        cmocka_unit_test(a_block_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
