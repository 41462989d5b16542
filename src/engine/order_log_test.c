#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "engine/order_log.h"
#include "tests/test_dir.h"

static weir_status say(struct weir_store *store, const char *session, const char *line,
                       struct wr_order_head *head)
{
    struct wr_order order;
    assert_true(wr_order_read(wr_span_of(line), &order));
    struct wr_order_said said = {.tenant = WR_LIT("t"),
                                 .session = wr_span_of(session),
                                 .orders = &order,
                                 .orders_count = 1,
                                 .now_ms = 1000};
    return wr_order_say(store, &said, head, NULL);
}

static void expect_pins(struct weir_store *store, const char *session, const char *wanted)
{
    struct wr_order_head head;
    struct wr_arena arena;
    struct wr_buf pins;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&pins, 4096);
    assert_int_equal(wr_order_head_read(store, WR_LIT("t"), wr_span_of(session), &head), WEIR_OK);
    assert_int_equal(
        wr_order_pins(store, WR_LIT("t"), wr_span_of(session), head.count, &arena, &pins), WEIR_OK);
    assert_true(wr_span_is(wr_buf_view(&pins), wanted));
    wr_buf_release(&pins);
    wr_arena_release(&arena);
}

static void what_is_said_is_counted_and_kept(void **state)
{
    struct weir_store *store;
    struct wr_order_head head;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    assert_int_equal(wr_order_head_read(store, WR_LIT("t"), WR_LIT("s"), &head), WEIR_OK);
    assert_int_equal(head.count, 0);
    assert_int_equal(say(store, "s", "pin tool Read", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "pin path a.c", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "exact", &head), WEIR_OK);
    assert_true(head.count == 3 && head.is_exact);
    assert_int_equal(say(store, "s", "unpin tool Read", &head), WEIR_OK);
    assert_true(head.count == 4 && head.is_exact);
    assert_int_equal(say(store, "s", "resume", &head), WEIR_OK);
    assert_false(head.is_exact);
    expect_pins(store, "s", "pin path a.c\n");
    expect_pins(store, "another", "");
    weir_store_close(store);
}

/* Two processes: neither takes the other's number. */
static void two_who_speak_at_once_are_both_heard(void **state)
{
    struct weir_store *stores[2];
    struct wr_order_head head;
    struct wr_test_dir dir = wr_test_dir_fast();
    char line[64];
    (void)state;

    for (int i = 0; i < 2; i++)
        assert_int_equal(weir_store_open(dir.path, NULL, &stores[i], NULL, NULL), WEIR_OK);
    for (int i = 0; i < 6; i++) {
        (void)snprintf(line, sizeof(line), "pin path %d.c", i);
        assert_int_equal(say(stores[i % 2], "s", line, &head), WEIR_OK);
    }
    assert_int_equal(head.count, 6);
    expect_pins(stores[0], "s",
                "pin path 0.c\npin path 1.c\npin path 2.c\npin path 3.c\npin path 4.c\n"
                "pin path 5.c\n");
    for (int i = 0; i < 2; i++)
        weir_store_close(stores[i]);
    wr_test_dir_remove(&dir);
}

static void a_session_has_so_many_pins_at_most(void **state)
{
    struct weir_store *store;
    struct wr_order_head head;
    weir_status status = WEIR_OK;
    char line[64];
    int i = 0;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    for (; i <= WR_ORDER_PINS_MAX && !status; i++) {
        (void)snprintf(line, sizeof(line), "pin path %d.c", i);
        status = say(store, "s", line, &head);
    }
    assert_int_equal(status, WEIR_LIMIT);
    assert_int_equal(i, WR_ORDER_PINS_MAX + 1);
    assert_int_equal(say(store, "s", "unpin path 3.c", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "pin path new.c", &head), WEIR_OK);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_counted_and_kept),
        cmocka_unit_test(two_who_speak_at_once_are_both_heard),
        cmocka_unit_test(a_session_has_so_many_pins_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
