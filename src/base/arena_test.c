#include "base/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* The sanitizer would stop the program where malloc only has to say no. */
WEIR_API const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void pieces_are_aligned_and_apart(void **state)
{
    enum { PIECES_COUNT = 2000 };
    unsigned char *pieces[PIECES_COUNT];
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < PIECES_COUNT; i++) {
        pieces[i] = wr_arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)(i % 251), i);
    }
    for (size_t i = 0; i < PIECES_COUNT; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(pieces[i][k], i % 251);
    wr_arena_release(&arena);
}

static void zero_bytes_are_a_piece(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    void *a = wr_arena_alloc(&arena, 0), *b = wr_arena_zalloc(&arena, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_non_null(wr_arena_copy(&arena, (weir_span){NULL, 0}).ptr);
    wr_arena_release(&arena);
}

static void zalloc_clears_used_memory(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    memset(wr_arena_alloc(&arena, 1000), 0xFF, 1000);
    wr_arena_reset(&arena);
    const unsigned char *bytes = wr_arena_zalloc(&arena, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(bytes[i], 0);
    wr_arena_release(&arena);
}

static void the_newest_piece_grows_in_place(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    char *piece = wr_arena_grow(&arena, NULL, 0, 10);
    memcpy(piece, "0123456789", 10);
    assert_ptr_equal(wr_arena_grow(&arena, piece, 10, 1000), piece);
    assert_ptr_equal(wr_arena_grow(&arena, piece, 1000, 10), piece);
    char *next = wr_arena_alloc(&arena, 1);
    assert_true(next >= piece + 10 && next < piece + 1000); /* what was given back is used */

    char *moved = wr_arena_grow(&arena, piece, 10, 20);
    assert_ptr_not_equal(moved, piece);
    assert_memory_equal(moved, "0123456789", 10);
    wr_arena_release(&arena);
}

static void growing_past_a_chunk_keeps_the_bytes(void **state)
{
    struct wr_arena arena;
    size_t len = 1;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    unsigned char *piece = wr_arena_alloc(&arena, len);
    piece[0] = 7;
    for (; len < 4u * WR_ARENA_CHUNK_BYTES; len *= 2) {
        piece = wr_arena_grow(&arena, piece, len, len * 2);
        assert_non_null(piece);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(piece[i], 7);
        memset(piece, 7, len * 2);
    }
    wr_arena_release(&arena);
}

/* One large piece must not cost the room that is left in the chunk the small ones come from. */
static void a_large_piece_leaves_the_small_ones_their_chunk(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    (void)wr_arena_alloc(&arena, 16);
    for (int i = 0; i < 10; i++) {
        assert_non_null(wr_arena_alloc(&arena, 2 * WR_ARENA_CHUNK_BYTES));
        assert_non_null(wr_arena_alloc(&arena, 16));
    }
    assert_true(arena.bytes_held < 22u * WR_ARENA_CHUNK_BYTES);
    wr_arena_release(&arena);
}

static void the_cap_holds(void **state)
{
    struct wr_arena arena;
    (void)state;

    for (size_t max = 0; max < 3000; max += 7) {
        wr_arena_init(&arena, max);
        for (int i = 0; i < 300; i++)
            (void)wr_arena_alloc(&arena, 16);
        assert_true(arena.bytes_held <= max);
        assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
        wr_arena_release(&arena);
    }
    wr_arena_init(&arena, 1000);
    assert_null(wr_arena_alloc(&arena, 1001));
    assert_null(wr_arena_grow(&arena, NULL, 0, 1001));
    assert_null(wr_arena_copy(&arena, (weir_span){"", 1001}).ptr);
    assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
    wr_arena_reset(&arena);
    assert_int_equal(wr_arena_status(&arena), WEIR_OK);
    assert_non_null(wr_arena_alloc(&arena, 100));
    wr_arena_release(&arena);
}

static void counts_that_overflow_are_a_limit(void **state)
{
    struct wr_arena arena;
    uint32_t count = 3;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    uint64_t *three = WR_ARENA_ARRAY(&arena, uint64_t, count);
    assert_non_null(three);
    assert_int_equal(three[2], 0);
    assert_null(WR_ARENA_ARRAY(&arena, uint64_t, SIZE_MAX / 8 + 2));
    assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
    wr_arena_release(&arena);

    wr_arena_init(&arena, SIZE_MAX);
    for (size_t less = 0; less < 64; less++) {
        assert_null(wr_arena_alloc(&arena, SIZE_MAX - less));
        assert_null(wr_arena_grow(&arena, NULL, 0, SIZE_MAX - less));
    }
    assert_int_not_equal(wr_arena_status(&arena), WEIR_OK);
    wr_arena_release(&arena);
}

static void no_memory_is_a_status(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, SIZE_MAX);
    assert_null(wr_arena_alloc(&arena, SIZE_MAX / 4));
    assert_int_equal(wr_arena_status(&arena), WEIR_NOMEM);
    wr_arena_release(&arena);
}

static void reset_keeps_the_largest_chunk(void **state)
{
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_arena_reset(&arena);
    assert_int_equal(arena.bytes_held, 0);
    (void)wr_arena_alloc(&arena, 16);
    (void)wr_arena_alloc(&arena, 3 * WR_ARENA_CHUNK_BYTES);
    (void)wr_arena_alloc(&arena, 2 * WR_ARENA_CHUNK_BYTES);
    wr_arena_reset(&arena);
    size_t held = arena.bytes_held;
    assert_true(held > 3 * WR_ARENA_CHUNK_BYTES && held < 4 * WR_ARENA_CHUNK_BYTES);
    assert_non_null(wr_arena_alloc(&arena, 3 * WR_ARENA_CHUNK_BYTES));
    assert_int_equal(arena.bytes_held, held);
    wr_arena_release(&arena);
}

static void a_copy_is_apart_from_its_original(void **state)
{
    struct wr_arena arena;
    char bytes[] = "abc";
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span copy = wr_arena_copy(&arena, (weir_span){bytes, 3});
    bytes[0] = 'x';
    assert_true(wr_span_is(copy, "abc"));
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(zero_bytes_are_a_piece),
        cmocka_unit_test(zalloc_clears_used_memory),
        cmocka_unit_test(the_newest_piece_grows_in_place),
        cmocka_unit_test(growing_past_a_chunk_keeps_the_bytes),
        cmocka_unit_test(a_large_piece_leaves_the_small_ones_their_chunk),
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(counts_that_overflow_are_a_limit),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(reset_keeps_the_largest_chunk),
        cmocka_unit_test(a_copy_is_apart_from_its_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
