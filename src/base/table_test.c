#include "base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

static const struct wr_table_column columns[] = {
    {"name", .cut_min = 6},
    {"count", .is_right = true},
    {"more", .rank = 1},
    {"most", .rank = 2},
};

static void print(struct wr_buf *out, const struct wr_table_column *of, uint32_t count,
                  const char *const *cells, size_t cells_count, uint32_t width)
{
    struct wr_arena arena;
    struct wr_table table;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(out, WR_OUTPUT_BYTES_MAX);
    wr_table_init(&table, of, count, &arena);
    for (size_t i = 0; i < cells_count; i++)
        wr_table_cell(&table, wr_span_of(cells[i]));
    wr_table_print(&table, width, out);
    wr_buf_byte(out, '\0');
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    wr_arena_release(&arena);
}

static void it_gives_up_columns_then_cuts_cells(void **state)
{
    static const char *const cells[] = {"a-long-name", "7", "one", "two", "b", "1,234", "", "x"};
    static const struct {
        uint32_t width;
        const char *text;
    } cases[] = {
        {200, "name         count  more  most\n"
              "a-long-name      7  one   two\n"
              "b            1,234  -     x\n"},
        {25, "name    count  more  most\n"
             "a-lo..      7  one   two\n"
             "b       1,234  -     x\n"},
        {24, "name         count  more\n"
             "a-long-name      7  one\n"
             "b            1,234  -\n"
             "not shown in this\n"
             "  width: most\n"},
        {13, "name    count\n"
             "a-lo..      7\n"
             "b       1,234\n"
             "not shown\n"
             "  in this\n"
             "  width:\n"
             "  more, most\n"},
        {5, "name    count\n"
            "a-lo..      7\n"
            "b       1,234\n"
            "not\n"
            "  shown\n"
            "  in\n"
            "  this\n"
            "  width:\n"
            "  more,\n"
            "  most\n"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_buf out;
        print(&out, columns, 4, cells, 8, cases[i].width);
        if (strcmp(out.bytes, cases[i].text))
            fail_msg("%u columns:\n%s", cases[i].width, out.bytes);
        wr_buf_release(&out);
    }
}

static void a_text_wraps_below_itself(void **state)
{
    static const struct wr_table_column of[] = {{"name", .rank = 0}, {"what", .wraps = true}};
    static const char *const cells[] = {"a", "one two three four five six seven"};
    struct wr_buf out;
    (void)state;

    print(&out, of, 2, cells, 2, 30);
    assert_string_equal(out.bytes, "name  what\n"
                                   "a     one two three four five\n"
                                   "      six seven\n");
    wr_buf_release(&out);
}

static void rows_have_headings_and_colours(void **state)
{
    struct wr_table table;
    struct wr_arena arena;
    struct wr_buf out;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_table_init(&table, columns, 2, &arena);
    wr_table_heading(&table, WR_LIT("no column is as wide as this"));
    table.colour = "\033[2m";
    wr_table_cell(&table, WR_LIT("a"));
    wr_table_cell(&table, WR_LIT("7"));
    table.colour = NULL;
    wr_table_cell(&table, WR_LIT("b"));
    wr_table_cell(&table, WR_LIT("123"));
    wr_table_print(&table, 20, &out);
    wr_buf_byte(&out, '\0');
    assert_string_equal(out.bytes, "name  count\n"
                                   "no column is as wi..\n"
                                   "\033[2ma         7\033[0m\n"
                                   "b       123\n");
    wr_buf_release(&out);
    wr_arena_release(&arena);
}

static void cells_cannot_move_the_cursor(void **state)
{
    static const struct wr_table_column of[] = {{"name", .rank = 0}};
    static const char *const cells[] = {"\033[2Jx\ny", "\xC3\xA9t\xC3\xA9"};
    struct wr_buf out;
    (void)state;

    print(&out, of, 1, cells, 2, 80);
    assert_null(memchr(out.bytes, '\033', out.len));
    assert_string_equal(out.bytes, "name\n[2Jx y\n\xC3\xA9t\xC3\xA9\n");
    wr_buf_release(&out);
}

static void no_row_is_wider_than_it_may_be(void **state)
{
    static const char *const cells[] = {"\xC3\xA9-long-name-of-all", "7", "one", "two"};
    (void)state;

    for (uint32_t width = 13; width < 60; width++) {
        struct wr_buf out;
        print(&out, columns, 4, cells, 4, width);
        for (const char *line = out.bytes; *line; line = strchr(line, '\n') + 1)
            assert_true(wr_text_width((weir_span){line, strcspn(line, "\n")}) <= width);
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gives_up_columns_then_cuts_cells),
        cmocka_unit_test(a_text_wraps_below_itself),
        cmocka_unit_test(rows_have_headings_and_colours),
        cmocka_unit_test(cells_cannot_move_the_cursor),
        cmocka_unit_test(no_row_is_wider_than_it_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
