#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "policy/orders.h"

static void a_line_is_read_and_written_again(void **state)
{
    static const char *const lines[] = {"pin tool Read",
                                        "pin path src/with a space.c",
                                        "pin handle wr_0123456789abcdef0123",
                                        "unpin tool *",
                                        "back",
                                        "undo",
                                        "now",
                                        "exact",
                                        "resume",
                                        "odds 1",
                                        "odds 500"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        struct wr_order order;
        struct wr_buf out;
        wr_buf_init(&out, 1024);
        assert_true(wr_order_read(wr_span_of(lines[i]), &order));
        wr_order_write(&out, &order);
        assert_true(wr_span_is(wr_buf_view(&out), lines[i]));
        wr_buf_release(&out);
    }
}

static void what_is_no_order_is_refused(void **state)
{
    static const char *const lines[] = {
        "",         "pin",      "pin tool",         "pin tool ",         "pin x y",
        "undo it",  "Pin tool", "pin path a\nundo", "pin path \x1b[31m", "odds 0",
        "odds 501", "odds many"};
    char too_long[WR_ORDER_BYTES_MAX + 2];
    struct wr_order order;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        assert_false(wr_order_read(wr_span_of(lines[i]), &order));
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    memcpy(too_long, "pin path ", 9);
    assert_false(wr_order_read(wr_span_of(too_long), &order));
}

static void pins_fit_what_is_meant(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool is_path, fits;
    } rows[] = {
        {"Read", "Read", false, true},
        {"Read", "ReadAll", false, false},
        {"read_file", "mcp__fs__read_file", false, true},
        {"read_file", "fs.read_file", false, true},
        {"shell*", "shell_command", false, true},
        {"*", "", false, false},
        {"src/a.c", "src/a.c", true, true},
        {"src/a.c", "/home/me/src/a.c", true, true},
        {"./src/a.c", "/home/me/src/a.c", true, true},
        {"a.c", "src/ba.c", true, false},
        {"*.c", "/home/me/src/a.c", true, true},
        {"src/*", "/home/me/src/x/a.c", true, true},
        {"src/*", "/home/me/lib/a.c", true, false},
        {"*a*b*c*", "xaxbxc", true, true},
        {"*a*b*c*", "xaxcxb", true, false},
        {"", "a", true, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span pattern = wr_span_of(rows[i].pattern), name = wr_span_of(rows[i].name);
        bool fits =
            rows[i].is_path ? wr_pin_fits_path(pattern, name) : wr_pin_fits_tool(pattern, name);
        if (fits != rows[i].fits)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_read_and_written_again),
        cmocka_unit_test(what_is_no_order_is_refused),
        cmocka_unit_test(pins_fit_what_is_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
