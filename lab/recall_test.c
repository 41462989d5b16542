#include "lab/recall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

enum { LINES = 400 };

/* Lines "line 000" to "line 399"; some say more. */
static void write_text(struct wr_buf *out)
{
    for (int n = 0; n < LINES; n++)
        wr_buf_printf(out, "line %03d%s%s\n", n, n % 50 == 20 ? " open_the_sill" : "",
                      n == 120 ? " lower_the_gate" : "");
}

/* Which lines come back, as "first-last first-last". */
static void write_ranges(struct wr_buf *out, weir_span text)
{
    int first = -1, last = -2;
    weir_span line;
    while (wr_span_line(&text, &line)) {
        uint64_t number;
        assert_true(wr_span_u64(wr_span_cut(line, 5, 8), &number));
        if ((int)number != last + 1) {
            if (first >= 0)
                wr_buf_printf(out, "%d-%d ", first, last);
            first = (int)number;
        }
        last = (int)number;
    }
    if (first >= 0)
        wr_buf_printf(out, "%d-%d", first, last);
}

static const struct {
    const char *behaviour, *strings[2], *lines;
} cases[] = {
    {"a string comes with the lines around it", {"lower_the_gate", NULL}, "110-149"},
    {"at the end with those there are", {"line 395", NULL}, "385-399"},
    {"one that stands on many lines comes once, as it stood last",
     {"open_the_sill", NULL},
     "360-399"},
    {"or where another thing is shown", {"open_the_sill", "lower_the_gate"}, "110-149"},
    {"two places are two", {"line 010", "line 300"}, "0-39 290-329"},
    {"what is not there brings nothing", {"close_the_sluice", NULL}, ""},
};

static void what_is_sought_comes_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span strings[2] = {wr_span_of(cases[i].strings[0]),
                                wr_span_of(cases[i].strings[1] ? cases[i].strings[1] : "")};
        struct wr_buf text, out, ranges;
        struct wr_arena arena;

        wr_arena_init(&arena, 1 << 20);
        wr_buf_init(&text, 1 << 20);
        wr_buf_init(&out, 1 << 20);
        wr_buf_init(&ranges, 1 << 20);
        write_text(&text);
        assert_int_equal(
            wr_recall_lines(&out, &arena, wr_buf_view(&text), strings, cases[i].strings[1] ? 2 : 1),
            WEIR_OK);
        write_ranges(&ranges, wr_buf_view(&out));
        if (!wr_span_is(wr_buf_view(&ranges), cases[i].lines))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)ranges.len, ranges.bytes);
        wr_buf_release(&ranges);
        wr_buf_release(&out);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_sought_comes_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
