#include "condense/link_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"

#define MARK "\xe2\x80\xa6"
#define LONG "a title that goes on and on and on and on and on and on and on and on"

static const struct {
    const char *behaviour, *line;
    size_t bytes_max;
    const char *expected; /* NULL: this is no line of links */
} rows[] = {
    {"one link makes no such line", "see https://a.org/b for more", 100, NULL},
    {"colons and slashes are no links", "a:// b:/c ://d", 100, NULL},
    {"links stay, and short words between them", "[a](https://a.org/b) [c](https://c.org)", 100,
     "[a](https://a.org/b) [c](https://c.org)"},
    {"long words between them are shortened",
     "https://a.org/b\"},{\"title\":\"" LONG "\",\"url\":\"https://c.org\"}]", 200,
     "https://a.org/b\"},{\"title\":\"a title that goes on and on and on " MARK
     ",\"url\":\"https://c.org\"}]"},
    {"what does not fit is left out from the end", "https://a.org/b https://c.org/d", 24,
     "https://a.org/b" MARK},
    {"what is behind the last link is left out", "https://a.org/b https://c.org/d " LONG, 100,
     "https://a.org/b https://c.org/d" MARK},
};

static void shortens_what_is_between_links(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf buf;
        weir_span line = wr_span_of(rows[i].line);
        bool is_links = wr_link_line_is(line);
        wr_buf_init(&buf, 1000);
        wr_link_line_write(&buf, line, rows[i].bytes_max);
        weir_span got = wr_buf_view(&buf);
        bool holds = rows[i].expected ? is_links && wr_span_is(got, rows[i].expected) : !is_links;
        if (!holds || (is_links && got.len > rows[i].bytes_max)) {
            print_error("%s: \"%.*s\"\n", rows[i].behaviour, (int)got.len, got.ptr);
            wrong++;
        }
        wr_buf_release(&buf);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shortens_what_is_between_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
