#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
