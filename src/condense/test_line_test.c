#include "condense/test_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *line;
    enum wr_test_line kind;
} rows[] = {
    {"tests/test_a.py::test_x PASSED                 [ 50%]", WR_TEST_PASSED},
    {"tests/test_a.py::test_x SKIPPED (no network)", WR_TEST_OTHER},
    {"tests/test_a.py ....s..                         [ 40%]", WR_TEST_PASSED},
    {"tests/test_a.py ..F.                            [ 40%]", WR_TEST_OTHER},
    {"test a::b ... ok", WR_TEST_PASSED},
    {"test a::b ... FAILED", WR_TEST_OTHER},
    {"test_x (mod.Case) ... ok", WR_TEST_PASSED},
    {"--- PASS: TestX (0.00s)", WR_TEST_PASSED},
    {"=== RUN   TestX", WR_TEST_PASSED},
    {"--- FAIL: TestX (0.00s)", WR_TEST_OTHER},
    {"ok  \tpkg/a\t0.2s", WR_TEST_PASSED},
    {"ok 3 - adds", WR_TEST_PASSED},
    {"not ok 3 - adds", WR_TEST_OTHER},
    {"   \xe2\x9c\x93 adds (5 ms)", WR_TEST_PASSED},
    {"   \xe2\x9c\x95 adds (5 ms)", WR_TEST_OTHER},
    {"PASS src/a.test.js", WR_TEST_PASSED},
    {"(pass) adds [1.00ms]", WR_TEST_PASSED},
    {"@x/core test: (pass) adds [1.00ms]", WR_TEST_PASSED},
    {"@x/core test: (fail) adds [1.00ms]", WR_TEST_OTHER},
    {"[       OK ] A.b (0 ms)", WR_TEST_PASSED},
    {"[  FAILED  ] A.b (0 ms)", WR_TEST_OTHER},
    {"1/9 Test #1: a ..........   Passed    0.01 sec", WR_TEST_PASSED},
    {"===== FAILURES =====", WR_TEST_HEADING},
    {"_____ test_x _____", WR_TEST_HEADING},
    {"----------------------------------------", WR_TEST_HEADING},
    {"\xe2\x97\x8f sums", WR_TEST_HEADING},
    {"  1) sums adds:", WR_TEST_HEADING},
    {"-- a comment", WR_TEST_OTHER},
    {"===== slowest 10 durations =====", WR_TEST_EXTRA},
    {"  2 flaky", WR_TEST_EXTRA},
    {"collected 4 items", WR_TEST_OTHER},
    {"", WR_TEST_OTHER},
};

static void knows_lines(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span line = wr_span_of(rows[i].line);
        if (wr_test_line_read(line) != rows[i].kind ||
            wr_test_line_is_passed(line) != (rows[i].kind == WR_TEST_PASSED)) {
            print_error("%s\n", rows[i].line);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
