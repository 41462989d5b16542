#include "condense/option_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *line, *column;
} rows[] = {
    {"  -n, --limit int    how many there are", "  -n, --limit int"},
    {"      --json         print them as JSON", "      --json"},
    {"  update      Update one or more of them", "  update"},
    {"  -q    quiet", ""},
    {"--limit int    how many there are", ""},
    {"  some words of a sentence that goes on", ""},
    {"  name        12345678901234567890", ""},
    {"            value = compute(one,  two, three, four);", ""},
    {"", ""},
};

static void finds_the_first_column(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span line = wr_span_of(rows[i].line);
        weir_span column = wr_span_cut(line, 0, wr_option_list_column(line));
        if (!wr_span_is(column, rows[i].column)) {
            print_error("%s: \"%.*s\"\n", rows[i].line, (int)column.len, column.ptr);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_first_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
