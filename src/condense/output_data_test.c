#include "condense/output_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ascii.h"
#include "base/buf.h"

enum { ROWS = 40 };

static const char prose[] = "Here is what the parts of it do, and why.\n"
                            "First read the chapter on errors.\n"
                            "Then build it; see below.\n"
                            "An error of the parser is told with its line.\n";
static const char source[] = "int main(void)\n{\n    if (failed())\n        return error(12);\n}\n";

/* `row` ROWS times, '~' for the number of each. */
static const struct {
    const char *behaviour, *path, *front, *row;
    enum wr_output_kind kind;
} rows[] = {
    {"a table by its name", "r.csv", "", "x", WR_OUTPUT_LOG},
    {"records by their name", "e.jsonl", "", "{}", WR_OUTPUT_LOG},
    {"what nohup wrote", "nohup.out", "", "x", WR_OUTPUT_LOG},
    {"text of rows that are alike", "b.txt", "", "step ~ finished in ~s\n", WR_OUTPUT_LOG},
    {"text with numbers before its lines", "b.txt", "", "  ~\tstep ~ finished in ~s\n",
     WR_OUTPUT_LOG},
    {"text that may be anybody's", "b.txt", "", prose, WR_OUTPUT_PROCESS},
    {"a page that is a table", "r.md", "| job | state |\n|---|---|\n", "| job~ | ok |\n",
     WR_OUTPUT_LOG},
    {"a page", "r.md", "", prose, WR_OUTPUT_FILE},
    {"a page with a small table", "r.md", "| job | state |\n|---|---|\n| a | ok |\n", prose,
     WR_OUTPUT_FILE},
    {"a report of tests", "t.xml", "<?xml version=\"1.0\"?>\n<testsuite tests=\"40\">\n",
     "  <testcase name=\"t~\"/>\n", WR_OUTPUT_LOG},
    {"other XML", "pom.xml", "<project>\n", "  <module>m~</module>\n", WR_OUTPUT_FILE},
    {"lines with times, whatever the name", "x.json", "", "2026-01-02T03:04:05 INFO served ~\n",
     WR_OUTPUT_LOG},
    {"lines with times behind numbers", "x", "", "~\t2026-01-02T03:04:05 INFO served ~\n",
     WR_OUTPUT_LOG},
    {"source", "a.c", "", source, WR_OUTPUT_FILE},
    {"source of lines alike", "table.c", "", "    {~, \"error\"},\n", WR_OUTPUT_FILE},
    {"numbered source of lines alike", "table.c", "", "~\tint f~(void);\n", WR_OUTPUT_FILE},
    {"a build file that is called text", "lib/CMakeLists.txt", "", "add(x~)\n", WR_OUTPUT_FILE},
    {"no name", "", "", source, WR_OUTPUT_FILE},
};

static void files_are_told_by_name_and_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf text;
        wr_buf_init(&text, 1 << 20);
        wr_buf_text(&text, rows[i].front);
        for (int n = 1; n <= ROWS; n++)
            for (const char *c = rows[i].row; *c; c++) {
                if (*c == '~')
                    wr_buf_printf(&text, "%d", n);
                else
                    wr_buf_byte(&text, *c);
            }
        enum wr_output_kind kind =
            wr_output_kind_of_file(wr_span_of(rows[i].path), wr_buf_view(&text));
        if (kind != rows[i].kind)
            fail_msg("%s: %s", rows[i].behaviour, wr_output_kind_text(kind));
        wr_buf_release(&text);
    }
}

static void nothing_is_a_file(void **state)
{
    (void)state;
    assert_int_equal(wr_output_kind_of_file(WR_LIT("a.c"), WR_LIT("")), WR_OUTPUT_FILE);
    assert_int_equal(wr_output_kind_of_file(WR_LIT(""), WR_LIT("\n\n")), WR_OUTPUT_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_told_by_name_and_rows),
        cmocka_unit_test(nothing_is_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
