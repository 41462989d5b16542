#include "condense/names_cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"

#define MARK "\xe2\x80\xa6"
#define ON   "and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, "

static const struct {
    const char *behaviour, *line;
    size_t bytes_max;
    const char *expected;
} rows[] = {
    {"a line that fits passes", "short", 120, "short"},
    {"the middle goes", ON ON ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and on, and on,  [" MARK
     " 163 bytes left out " MARK "]  on, and on, end"},
    {"paths and identifiers of the middle stay",
     ON ON "in src/a/b.c there is read_all and readLine, " ON "end", 120,
     "and on, and on, and on, and on, and o [" MARK " 235 bytes left out " MARK "] src/a/b.c " MARK
     " read_all " MARK "  on, and on, end"},
    {"each once", ON ON "read_all, read_all, read_all " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and [" MARK " 205 bytes left out " MARK
     "] read_all " MARK "  on, and on, end"},
    {"an escape is no part of a name", ON ON "\\nread_all\\n " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and [" MARK " 189 bytes left out " MARK
     "] read_all " MARK "  on, and on, end"},
    {"words that a dash joins are no name", ON ON "well-known etc. v1.2 " ON "end", 120,
     "and on, and on, and on, and on, and on, and on, and on, and on,  [" MARK
     " 184 bytes left out " MARK "]  on, and on, end"},
};

static void cuts_lines(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf buf;
        wr_buf_init(&buf, 1000);
        wr_names_cut_write(&buf, wr_span_of(rows[i].line), rows[i].bytes_max);
        weir_span got = wr_buf_view(&buf);
        if (!wr_span_is(got, rows[i].expected) || got.len > rows[i].bytes_max) {
            print_error("%s: \"%.*s\"\n", rows[i].behaviour, (int)got.len, got.ptr);
            wrong++;
        }
        wr_buf_release(&buf);
    }
    assert_int_equal(wrong, 0);
}

static void cuts_no_character_in_two(void **state)
{
    struct wr_buf line, buf;
    (void)state;
    wr_buf_init(&line, 4000);
    for (int i = 0; i < 300; i++)
        wr_buf_text(&line, "\xe2\x82\xac");
    for (size_t bytes_max = WR_NAMES_CUT_BYTES_MIN; bytes_max < 300; bytes_max++) {
        wr_buf_init(&buf, 1000);
        wr_names_cut_write(&buf, wr_buf_view(&line), bytes_max);
        weir_span got = wr_buf_view(&buf);
        size_t mark = wr_span_find(got, WR_LIT(" [" MARK), 0);
        size_t end = wr_span_find(got, WR_LIT(MARK "] "), 0);
        assert_true(got.len <= bytes_max);
        assert_true(mark != SIZE_MAX && mark % 3 == 0);
        assert_true(end != SIZE_MAX && (got.len - end - 5) % 3 == 0);
        wr_buf_release(&buf);
    }
    wr_buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_lines),
        cmocka_unit_test(cuts_no_character_in_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
