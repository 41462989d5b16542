#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

/* The sanitizer would stop the program where malloc only has to say no. */
WEIR_API const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void assert_holds(const struct wr_buf *buf, const char *text)
{
    if (!wr_span_is(wr_buf_view(buf), text))
        fail_msg("holds \"%.*s\", should be \"%s\"", (int)buf->len, buf->len ? buf->bytes : "",
                 text);
}

static void appends_join(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    assert_int_equal(wr_buf_view(&buf).len, 0);
    wr_buf_append(&buf, WR_LIT("one "));
    wr_buf_append(&buf, (weir_span){NULL, 0});
    wr_buf_byte(&buf, 't');
    wr_buf_text(&buf, "wo");
    wr_buf_printf(&buf, " %d%s", 3, "");
    wr_buf_printf(&buf, "%s", "");
    assert_holds(&buf, "one two 3");
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_release(&buf);
}

static void growing_keeps_the_content(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1 << 20);
    for (int i = 0; i < 100000; i++)
        wr_buf_byte(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf.bytes[i], 'a' + i % 26);
    wr_buf_release(&buf);
}

/* For every small cap: what fits exactly is taken, one byte more is not and changes nothing. */
static void the_cap_is_exact(void **state)
{
    static const char text[] = "0123456789";
    (void)state;

    for (size_t cap = 0; cap <= 600; cap++) {
        struct wr_buf buf;
        wr_buf_init(&buf, cap);
        for (size_t i = 0; i < cap; i++)
            wr_buf_byte(&buf, text[i % 10]);
        assert_int_equal(wr_buf_status(&buf), WEIR_OK);
        assert_int_equal(buf.len, cap);
        wr_buf_byte(&buf, 'x');
        assert_int_equal(wr_buf_status(&buf), WEIR_LIMIT);
        assert_int_equal(buf.len, cap);
        assert_true(buf.cap <= cap);
        wr_buf_release(&buf);
    }
}

static void formatted_text_may_fill_the_cap(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 6);
    wr_buf_printf(&buf, "%s", "abc");
    wr_buf_printf(&buf, "%d", 123);
    assert_holds(&buf, "abc123");
    wr_buf_printf(&buf, "%s", "");
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_printf(&buf, "%d", 4);
    assert_int_equal(wr_buf_status(&buf), WEIR_LIMIT);
    assert_holds(&buf, "abc123");
    wr_buf_release(&buf);

    wr_buf_init(&buf, 0);
    wr_buf_printf(&buf, "%s", "");
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_release(&buf);
}

static void a_failure_sticks(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 4);
    wr_buf_text(&buf, "abc");
    wr_buf_text(&buf, "too long");
    wr_buf_byte(&buf, 'd'); /* would fit, but comes after the failure */
    wr_buf_printf(&buf, "%d", 1);
    assert_holds(&buf, "abc");
    wr_buf_reset(&buf);
    wr_buf_byte(&buf, 'd');
    assert_int_equal(wr_buf_status(&buf), WEIR_LIMIT);
    assert_holds(&buf, "");
    wr_buf_release(&buf);
}

static void reset_keeps_the_memory(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_buf_text(&buf, "abc");
    const char *bytes = buf.bytes;
    wr_buf_reset(&buf);
    wr_buf_text(&buf, "xy");
    assert_ptr_equal(buf.bytes, bytes);
    assert_holds(&buf, "xy");
    wr_buf_release(&buf);
    assert_null(buf.bytes);
}

static void reserve_changes_no_content(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_buf_text(&buf, "abc");
    wr_buf_reserve(&buf, 997);
    const char *bytes = buf.bytes;
    for (int i = 0; i < 997; i++)
        wr_buf_byte(&buf, 'x');
    assert_ptr_equal(buf.bytes, bytes);
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_reserve(&buf, 1);
    assert_int_equal(wr_buf_status(&buf), WEIR_LIMIT);
    wr_buf_release(&buf);
}

static void no_memory_is_a_status(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, SIZE_MAX);
    wr_buf_text(&buf, "abc");
    wr_buf_reserve(&buf, SIZE_MAX / 4);
    assert_int_equal(wr_buf_status(&buf), WEIR_NOMEM);
    assert_holds(&buf, "abc");
    wr_buf_release(&buf);

    wr_buf_init(&buf, SIZE_MAX);
    wr_buf_reserve(&buf, SIZE_MAX);
    assert_int_not_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_release(&buf);
}

static void a_question_for_room_leaves_the_buffer_usable(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 8);
    wr_buf_text(&buf, "abc");
    assert_true(wr_buf_try_reserve(&buf, 5));
    assert_false(wr_buf_try_reserve(&buf, 6));
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    wr_buf_text(&buf, "defgh");
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    assert_int_equal(buf.len, 8);
    wr_buf_release(&buf);
}

/* ==== arrays ==== */

struct item {
    uint32_t number;
    char text[8];
};

struct small_list { /* as most lists are */
    struct item *items;
    uint32_t count, cap;
};

struct large_list {
    struct item *items;
    size_t count, cap;
};

static void items_stay_while_the_list_grows(void **state)
{
    struct small_list in_arena = {0}, on_heap = {0};
    struct large_list large = {0};
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(WR_ARENA_ROOM(&arena, in_arena.items, in_arena.count, in_arena.cap, 3));
        assert_true(WR_HEAP_ROOM(on_heap.items, on_heap.count, on_heap.cap, 1));
        assert_true(WR_HEAP_ROOM(large.items, large.count, large.cap, 7));
        in_arena.items[in_arena.count++] = (struct item){i, "arena"};
        on_heap.items[on_heap.count++] = (struct item){i, "heap"};
        large.items[large.count++] = (struct item){i, "large"};
    }
    assert_int_equal(in_arena.cap, 6144);
    assert_int_equal(on_heap.cap, 8192);
    assert_int_equal(large.cap, 7168);
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(in_arena.items[i].number, i);
        assert_string_equal(in_arena.items[i].text, "arena");
        assert_int_equal(on_heap.items[i].number, i);
        assert_int_equal(large.items[i].number, i);
    }
    free(on_heap.items);
    free(large.items);
    wr_arena_release(&arena);
}

static void how_large_the_room_becomes(void **state)
{
    static const struct {
        const char *behaviour;
        uint32_t cap, index, cap_first, cap_after;
    } rows[] = {
        {"an empty list begins with the first cap", 0, 0, 16, 16},
        {"a full list doubles", 16, 16, 5, 32},
        {"an item far behind the end doubles it as often as need be", 4, 100, 9, 128},
        {"an empty list too", 0, 100, 3, 192},
        {"an item that has room changes nothing", 10, 9, 16, 10},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        uint32_t *items = rows[i].cap ? calloc(rows[i].cap, sizeof(*items)) : NULL;
        uint32_t cap = rows[i].cap;
        bool is_roomy = WR_HEAP_ROOM(items, rows[i].index, cap, rows[i].cap_first);
        free(items);
        if (!is_roomy || cap != rows[i].cap_after)
            fail_msg("%s: %u", rows[i].behaviour, cap);
    }
}

static void a_list_that_cannot_grow_stays_as_it_was(void **state)
{
    struct small_list list = {0};
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, 1000);
    while (WR_ARENA_ROOM(&arena, list.items, list.count, list.cap, 4))
        list.items[list.count++] = (struct item){list.count, "kept"};
    struct item *items = list.items;
    assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
    assert_int_equal(list.count, list.cap);
    assert_false(WR_ARENA_ROOM(&arena, list.items, list.count, list.cap, 4));
    assert_ptr_equal(list.items, items);
    assert_string_equal(items[list.cap - 1].text, "kept");
    wr_arena_release(&arena);
}

/* The list is a lie: nothing of it may be touched. */
static void a_number_of_items_that_wraps_round_is_refused(void **state)
{
    char *bytes = NULL;
    struct item *items = NULL;
    uint32_t narrow = UINT32_MAX / 2 + 1;
    size_t wide = SIZE_MAX / 2 + 1, wide_bytes = SIZE_MAX / sizeof(*items);
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, SIZE_MAX);
    assert_false(WR_ARENA_ROOM(&arena, bytes, narrow, narrow, 1));
    assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
    assert_false(WR_HEAP_ROOM(bytes, narrow, narrow, 1));
    assert_false(WR_HEAP_ROOM(bytes, wide, wide, 1));
    assert_false(WR_HEAP_ROOM(items, wide_bytes, wide_bytes, 1));
    wr_arena_reset(&arena);
    assert_false(WR_ARENA_ROOM(&arena, items, wide_bytes, wide_bytes, 1));
    assert_int_equal(wr_arena_status(&arena), WEIR_LIMIT);
    assert_null(bytes);
    assert_null(items);
    assert_int_equal(narrow, UINT32_MAX / 2 + 1);
    wr_arena_release(&arena);
}

static int by_number(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Numbers below `count`, each once: `ordered` of them in order, the rest behind them in none. */
static void fill_items(struct item *items, uint32_t count, uint32_t ordered, uint32_t seed)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct item){.number = i};
    for (uint32_t i = count; i-- > 1;) {
        uint32_t other = (seed = seed * 1664525u + 1013904223u) % (i + 1);
        struct item kept = items[i];
        items[i] = items[other];
        items[other] = kept;
    }
    qsort(items, ordered, sizeof(*items), by_number);
}

static void a_list_is_sorted_however_much_of_it_was(void **state)
{
    static const struct {
        uint32_t count, ordered;
    } rows[] = {
        {0, 0},       {1, 1},       {2, 1},       {2, 2},       {10, 9},
        {10, 5},      {10, 0},      {2000, 2000}, {2000, 1999}, {2000, 1970},
        {2000, 1200}, {2000, 1000}, {2000, 0},    {5000, 4317}, {5000, 4318},
    };
    struct item *items = malloc(5000 * sizeof(*items));
    (void)state;

    assert_non_null(items);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (uint32_t seed = 0; seed < 8; seed++) {
            fill_items(items, rows[i].count, rows[i].ordered, seed);
            wr_sort(items, rows[i].count, sizeof(*items), by_number);
            for (uint32_t at = 0; at < rows[i].count; at++)
                if (items[at].number != at)
                    fail_msg("row %zu, seed %u: %u at %u", i, seed, items[at].number, at);
        }
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_for_room_leaves_the_buffer_usable),
        cmocka_unit_test(appends_join),
        cmocka_unit_test(growing_keeps_the_content),
        cmocka_unit_test(the_cap_is_exact),
        cmocka_unit_test(formatted_text_may_fill_the_cap),
        cmocka_unit_test(a_failure_sticks),
        cmocka_unit_test(reset_keeps_the_memory),
        cmocka_unit_test(reserve_changes_no_content),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(items_stay_while_the_list_grows),
        cmocka_unit_test(how_large_the_room_becomes),
        cmocka_unit_test(a_list_that_cannot_grow_stays_as_it_was),
        cmocka_unit_test(a_number_of_items_that_wraps_round_is_refused),
        cmocka_unit_test(a_list_is_sorted_however_much_of_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
