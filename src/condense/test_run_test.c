#include "condense/test_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/condense_rows.h"

/* ---- run ---- */

#define PASSED "*20 tests/test_a.py::test_@ PASSED   [ 10%]\n"

static const struct kept_case rows[] = {
    {"what fits stays", "test a ... ok\n1 passed\n", 1000, "all", NULL},
    {"all passed: the beginning, the totals, no names",
     "===== test session starts =====\ncollected 20 items\n\n" PASSED
     "\n===== 20 passed in 0.12s =====\n",
     600, "1-3 23-25", NULL},
    {"a failure stays whole, with its heading",
     "===== test session starts =====\n"
     "collected 41 items\n"
     "\n" PASSED "tests/test_a.py::test_x FAILED   [ 50%]\n" PASSED "\n"
     "=================== FAILURES ===================\n"
     "____________________ test_x ____________________\n"
     "\n"
     "    def test_x():\n"
     "        value = compute(1)\n"
     ">       assert value == 3\n"
     "E       assert 2 == 3\n"
     "\n"
     "tests/test_a.py:7: AssertionError\n"
     "----------------- Captured stdout --------------\n"
     "computing 1\n"
     "=========== short test summary info ============\n"
     "FAILED tests/test_a.py::test_x - assert 2 == 3\n"
     "========= 1 failed, 40 passed in 0.21s =========\n",
     900, "1-3 24 45-59", NULL},
    {"the nearest lines of every failure come before the rest of the first",
     "--- FAIL: TestOne (0.00s)\n"
     "*20     detail @ of the first one\n"
     "--- FAIL: TestTwo (0.00s)\n"
     "*20     detail @ of the second one\n"
     "FAIL\n"
     "FAIL\tpkg\t0.1s\n",
     700, "1-5 19-25 36-44", NULL},
    {"go: what a failed test said, not those that passed",
     "*20 === RUN   TestGood@\n"
     "*20 --- PASS: TestGood@ (0.00s)\n"
     "=== RUN   TestBad\n"
     "    bad_test.go:9: got 1, want 2\n"
     "--- FAIL: TestBad (0.00s)\n"
     "FAIL\n"
     "FAIL\tpkg/bad\t0.1s\n"
     "ok  \tpkg/good\t0.2s\n",
     400, "42-46", NULL},
    {"jest: the report of a failure with the difference",
     "*20 PASS src/@.test.js\n"
     "FAIL src/x.test.js\n"
     "  \xe2\x97\x8f sums \xe2\x80\xba adds\n"
     "\n"
     "    expect(received).toBe(expected)\n"
     "\n"
     "    Expected: 3\n"
     "    Received: 2\n"
     "\n"
     "      at Object.<anonymous> (src/x.test.js:3:5)\n"
     "\n"
     "*20 PASS lib/@.test.js\n"
     "Tests:       1 failed, 40 passed, 41 total\n",
     500, "21-30 49-51", NULL},
    {"a list of slow tests stays by its front",
     PASSED "===== slowest 10 durations =====\n"
            "*20 1.23s call tests/test_a.py::test_@\n"
            "*20 tests/test_b.py::test_@ PASSED   [ 90%]\n"
            "===== 40 passed in 9.87s =====\n",
     420, "21-26 60-62", NULL},
};

static void keeps_failures(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_TEST, wr_condense_test);
}

/* ---- line ---- */

static const struct {
    const char *line;
    enum wr_test_line kind;
} line_rows[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(line_rows); i++) {
        weir_span line = wr_span_of(line_rows[i].line);
        if (wr_test_line_read(line) != line_rows[i].kind ||
            wr_test_line_is_passed(line) != (line_rows[i].kind == WR_TEST_PASSED)) {
            print_error("%s\n", line_rows[i].line);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_failures),
        cmocka_unit_test(knows_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
