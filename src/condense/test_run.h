/* test_run.h -- what a line says in the output of a run of tests, beside its signals. */
#ifndef WR_CONDENSE_TEST_RUN_H
#define WR_CONDENSE_TEST_RUN_H

#include <stdbool.h>

#include "weir/span.h"

enum wr_test_line {
    WR_TEST_OTHER,
    WR_TEST_PASSED,  /* of a test, file or package that passed or was skipped, or that begins */
    WR_TEST_HEADING, /* begins a section or the report of one failure */
    WR_TEST_EXTRA,   /* heads a list of slow or flaky tests */
};

enum wr_test_line wr_test_line_read(weir_span line);

/* Whether it says PASSED, without a look at what else it may say. */
bool wr_test_line_is_passed(weir_span line);

#endif
