#include "tests/signal_check.h"

#define T WR_OUTPUT_TEST
#define P WR_OUTPUT_PROCESS

static const struct signal_case failed_tests_rows[] = {
    {"pytest: the summary's line", T, "FAILED tests/a.py::test_x - assert 1 == 2\n",
     "T:tests/a.py::test_x | E:assert 1 == 2"},
    {"pytest: verbose", T,
     "tests/a.py::test_x FAILED                  [ 50%]\ntests/a.py::test_y PASSED    [100%]\n",
     "T:tests/a.py::test_x"},
    {"pytest: error at collection", T, "ERROR tests/a.py - ImportError: no x\n",
     "T:tests/a.py | E:ImportError: no x"},
    {"pytest: explanation", T,
     ">       assert f() == 2\nE       assert 1 == 2\nE        +  where 1 = f()\n\na.py:3: "
     "AssertionError\n",
     "E:assert 1 == 2 | E:AssertionError | L:a.py:3"},
    {"pytest: heading", T, "_________ test_x _________\n", "T:test_x"},
    {"unittest", T,
     "FAIL: test_x (mod.Case)\nERROR: test_y (mod.Case)\nFAILED (failures=1, errors=1)\n",
     "T:test_x (mod.Case) | T:test_y (mod.Case) | N:1 failures, 1 errors"},
    {"cargo: a line a test", T, "test a::ok ... ok\ntest a::b ... FAILED\n", "T:a::b"},
    {"cargo: its output's heading", T, "---- a::b stdout ----\n", "T:a::b"},
    {"cargo: totals", T, "test result: FAILED. 3 passed; 1 failed; 0 ignored; finished in 0.01s\n",
     "N:3 passed, 1 failed, 0 ignored"},
    {"nextest", T, "        FAIL [   0.100s] crate mod::t\n", "T:crate mod::t"},
    {"go", T,
     "=== RUN   TestX\n    x_test.go:12: got 1, want 2\n--- FAIL: TestX (0.00s)\n    --- FAIL: "
     "TestX/sub (0.00s)\nFAIL\n"
     "FAIL\texample.com/x\t0.012s\nok  \texample.com/y\t0.1s\n",
     "E:got 1, want 2 | L:x_test.go:12 | T:TestX | T:TestX/sub | E:FAIL | T:example.com/x"},
    {"go: a package that does not build", T, "FAIL\texample.com/x [build failed]\n",
     "T:example.com/x [build failed]"},
    {"jest: file and names", T,
     "FAIL src/a.test.ts\n  \xe2\x9c\x95 adds (5 ms)\n  \xe2\x9c\x93 subtracts\n  \xe2\x97\x8f "
     "math \xe2\x80\xba adds\n",
     "T:src/a.test.ts | T:adds | T:math \xe2\x80\xba adds"},
    {"jest: totals", T,
     "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 "
     "total\nTime: 3 s\n",
     "N:1 failed, 1 passed, 2 total | N:1 failed, 4 passed, 5 total"},
    {"vitest", T,
     " FAIL  src/a.test.ts > math > adds\n   \xc3\x97 math > adds 5ms\n      Tests  1 failed | "
     "3 passed (4)\n",
     "T:src/a.test.ts > math > adds | T:math > adds | N:1 failed, 3 passed"},
    {"mocha", T,
     "  3 passing (10ms)\n  1 failing\n\n  1) math adds:\n     AssertionError: expected 1 to "
     "equal 2\n      at Context.<anonymous> (t.js:3:4)\n",
     "N:3 passing | N:1 failing | T:math adds: | E:AssertionError: expected 1 to equal 2 | "
     "S:Context.<anonymous> (t.js:3:4)"},
    {"TAP", T, "ok 1 - a\nnot ok 2 - b\n# pass 1\n# fail 1\n", "T:b | N:1 pass | N:1 fail"},
    {"TAP: what is planned to fail", T, "not ok 3 - c # SKIP slow\n", ""},
    {"ctest", T,
     " 3/9 Test  #3: parser ...........***Failed    0.01 sec\n\t  3 - parser (Failed)\n67% "
     "tests passed, 3 tests failed out of 9\n",
     "T:parser | N:3 failed"},
    {"googletest", T, "[       OK ] A.b (0 ms)\n[  FAILED  ] A.c (3 ms)\n 1 FAILED TEST\n",
     "T:A.c | N:1 failed"},
    {"rspec", T, "rspec ./spec/a_spec.rb:12 # A does b\n10 examples, 2 failures\n",
     "T:./spec/a_spec.rb:12 # A does b | L:spec/a_spec.rb:12 | N:10 examples, 2 failures"},
    {"minitest", T, "5 runs, 7 assertions, 1 failures, 0 errors, 0 skips\n",
     "N:5 runs, 7 assertions, 1 failures, 0 errors, 0 skips"},
    {"phpunit", T, "1) FooTest::testBar\nTests: 3, Assertions: 5, Failures: 1.\n",
     "T:FooTest::testBar | N:3 tests, 5 assertions, 1 failures"},
    {"dotnet test", T,
     "  Failed A.B.C [12 ms]\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:  "
     "   4\n",
     "T:A.B.C | N:1 failed, 3 passed, 0 skipped, 4 total"},
    {"surefire", T, "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n",
     "N:5 run, 1 failures, 0 errors, 0 skipped"},
    {"gradle", T, "FooTest > bar() FAILED\n", "T:FooTest > bar()"},
    {"xcode", T, "Test Case '-[A b]' failed (0.1 seconds).\n", "T:-[A b]"},
    {"bun", T, "(fail) math > adds [0.5ms]\n 3 pass\n 1 fail\n",
     "T:math > adds | N:3 pass | N:1 fail"},
    {"deno", T, "adds ... FAILED (3ms)\n", "T:adds"},
    {"pytest: totals", T, "==== 3 failed, 10 passed in 0.12s ====\n", "N:3 failed, 10 passed"},
    {"totals of a run that went well are kept", T, "test result: ok. 10 passed; 0 failed\n",
     "N:10 passed, 0 failed"},
    {"how long it took does not count", T,
     "==== 3 passed in 0.12s ====\n==== 3 passed in 9.99s ====\n", "N:3 passed"},
    {"passes are no signals", T,
     "PASS src/a.test.ts\n  \xe2\x9c\x93 adds\nok  \tx\t0.1s\n--- PASS: TestA (0.00s)\n", ""},
    {"bazel", P,
     "//a:ok_test                (cached) PASSED in 0.5s\n//a/b:c_test             FAILED in 0.5s\n"
     "@repo//d:e_test   (cached) FAILED in 2 out of 5 in 9.1s\n//f:slow_test  TIMEOUT in 300.0s\n"
     "//g:h_test   FAILED TO BUILD\n",
     "T://a/b:c_test | T:@repo//d:e_test | T://f:slow_test | T://g:h_test"},
    {"bazel: a target alone, and one in a sentence, say nothing", P,
     "//a/b:c_test\n// FAILED in 3 places is a comment\n", ""},
    {"go test -json: what failed, and its package", T,
     "{\"Action\":\"run\",\"Package\":\"a.b/c\",\"Test\":\"TestX\"}\n"
     "{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"fail\",\"Package\":\"a.b/c\",\"Test\":"
     "\"TestX\",\"Elapsed\":0}\n"
     "{\"Action\":\"pass\",\"Package\":\"a.b/c\",\"Test\":\"TestY\"}\n"
     "{\"Action\":\"fail\",\"Package\":\"a.b/c\",\"Elapsed\":0.01}\n",
     "T:a.b/c TestX | T:a.b/c"},
    {"go test -json: the same test of another package is another", WR_OUTPUT_JSON,
     "{\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"TestX\"}\n"
     "{\"Action\":\"fail\",\"Package\":\"b\",\"Test\":\"TestX\"}\n",
     "T:a TestX | T:b TestX"},
    {"playwright: lists and headings, with or without the browser's number", P,
     "  \xe2\x9c\x93  1 [chromium] \xe2\x80\xba tests/a.spec.ts:9:1 \xe2\x80\xba opens (9ms)\n"
     "  \xe2\x9c\x98  2 [chromium] \xe2\x80\xba tests/a.spec.ts:3:1 \xe2\x80\xba logs in (5ms)\n"
     "  1) [firefox] \xe2\x80\xba b.spec.ts:3:1 \xe2\x80\xba goes \xe2\x94\x80\xe2\x94\x80\n"
     "    [webkit] \xe2\x80\xba c.spec.ts:3:1 \xe2\x80\xba stays \xe2\x94\x80\xe2\x94\x80\n"
     "[1/9] [chromium] \xe2\x80\xba d.spec.ts:3:1 \xe2\x80\xba begins\n",
     "T:[chromium] \xe2\x80\xba tests/a.spec.ts:3:1 \xe2\x80\xba logs in | "
     "T:[firefox] \xe2\x80\xba b.spec.ts:3:1 \xe2\x80\xba goes | "
     "T:c.spec.ts:3:1 \xe2\x80\xba stays"},
    {"mocha: suites inside one another", P,
     "  1) Array\n       #indexOf()\n         gives -1:\n\n      AssertionError: no\n",
     "T:Array > #indexOf() > gives -1: | E:AssertionError: no"},
    {"mocha: a mark in the tree of tests", T,
     "    1) gives -1\n    \xe2\x9c\x93 gives 0\n  2) is not there\n\n",
     "T:gives -1 | T:is not there"},
    {"a numbered list is no failure", P,
     "1) build it\n2) run it:\n3) look at Foo::bar twice\n   and then:\n", ""},
    {"phpunit: without a word of tests", P,
     "1) App\\FooTest::testBar with data set #1\n2) FooTest::testBaz\n",
     "T:App\\FooTest::testBar with data set #1 | T:FooTest::testBaz"},
    {"a cross in colour", T, "\xe2\x9d\x8c adds two numbers\n\xe2\x9d\x8c 3 failed\n",
     "T:adds two numbers | N:3 failed"},
    {"a cross in colour, where no tests run", P, "\xe2\x9d\x8c deploy of web\n", "E:deploy of web"},
    {"junit: a failure's message", T,
     "<testcase name=\"a\"><failure message=\"expected 400\">x</failure></testcase>\n",
     "E:<testcase name=\"a\"><failure message=\"expected 400\">x</failure></testcase>"},
};

static void failed_tests(void **state)
{
    (void)state;
    signal_check(failed_tests_rows, WR_COUNT_OF(failed_tests_rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failed_tests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
