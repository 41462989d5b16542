#include "base/span.h"
#include "tests/condense_rows.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
