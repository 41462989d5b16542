#include "session/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *name, *before, *now, *diff;
} rows[] = {
    {"the same says nothing", "a=1 b=2", "a=1 b=2", ""},
    {"one more", "a=1", "a=1 b=2", "+b"},
    {"one less", "a=1 b=2", "a=1", "-b"},
    {"another text under the same name", "a=1 b=2", "a=1 b=3", "~b"},
    {"all three", "a=1 b=2", "b=3 c=4", "~b +c -a"},
    {"all new", "", "a=1 b=2", "+a +b"},
    {"all gone", "a=1", "", "-a"},
    {"only the order", "a=1 b=2", "b=2 a=1", "their order"},
    {"a name that begins as another", "ab=1", "a=1", "+a -ab"},
};

static void what_differs_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 1000);
        wr_pieces_diff(&out, wr_span_of(rows[i].before), wr_span_of(rows[i].now));
        if (!wr_span_is(wr_buf_view(&out), rows[i].diff))
            fail_msg("%s: '%.*s'", rows[i].name, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

static void a_tool_is_its_name_its_description_and_its_schema(void **state)
{
    struct weir_tool tools[] = {{WR_LIT("read me=1"), WR_LIT("d"), WR_LIT("{}")},
                                {WR_LIT("b"), WR_LIT("d"), WR_LIT("{}")}};
    struct wr_buf first, second, diff;
    (void)state;
    wr_buf_init(&first, 1000);
    wr_buf_init(&second, 1000);
    wr_buf_init(&diff, 1000);
    wr_pieces_of_tools(&first, tools, 2);
    tools[0].description = WR_LIT("e");
    tools[1].schema = WR_LIT("{ }");
    wr_pieces_of_tools(&second, tools, 2);
    wr_pieces_diff(&diff, wr_buf_view(&first), wr_buf_view(&second));
    assert_true(wr_span_is(wr_buf_view(&diff), "~read_me_1 ~b"));
    wr_buf_release(&diff);
    wr_buf_release(&second);
    wr_buf_release(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(a_tool_is_its_name_its_description_and_its_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
