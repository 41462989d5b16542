#include "condense/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *a, *b;
    bool same_shape, same_outline;
} rows[] = {
    {"numbers do not count", "GET /v1/items/17 200", "GET /v1/items/4 404", true, true},
    {"nor do times", "2024-03-04T05:06:07.890Z INFO up", "2025-11-12T13:14:15Z INFO up", true,
     true},
    {"nor names with numbers", "part_1/unit_7.c.o", "part_22/unit_8.c.o", true, true},
    {"nor white space", "a  b\tc", "a b c", true, true},
    {"other words are another shape", "user came", "user left", false, true},
    {"other first words are another outline", "Compiling a", "Linking a", false, false},
    {"paths are words of an outline", "Compiling a/b/c.c", "Compiling d.c", false, true},
    {"other signs are another outline", "name = x", "name: x", false, false},
    {"no words at all", "", "", true, true},
};

static void knows_what_is_alike(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span a = wr_span_of(rows[i].a), b = wr_span_of(rows[i].b);
        if ((wr_shape_of(a) == wr_shape_of(b)) != rows[i].same_shape ||
            (wr_shape_outline_of(a) == wr_shape_outline_of(b)) != rows[i].same_outline) {
            print_error("%s\n", rows[i].behaviour);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void counts_lines(void **state)
{
    struct wr_arena arena;
    struct wr_keep keep;
    struct wr_shapes shapes;
    struct wr_condense_input input = {.text = WR_LIT("hit 1\nmiss\nhit 2\nhit 3\n")};
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
    assert_int_equal(wr_shapes_find(&shapes, &keep), WEIR_OK);
    assert_int_equal(shapes.count, 2);
    assert_int_equal(shapes.shapes[0].lines_count, 3);
    assert_int_equal(shapes.shapes[0].first_line, 0);
    assert_int_equal(shapes.shapes[0].last_line, 3);
    assert_int_equal(shapes.of_line[1], 1);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_is_alike),
        cmocka_unit_test(counts_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
