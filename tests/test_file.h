/* test_file.h -- for tests: a file outside the project that may be there or not. */
#ifndef WR_TESTS_TEST_FILE_H
#define WR_TESTS_TEST_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

/* Appends the whole file to `out`. False, and a line that says so, where there is none: skip the
 * test. */
static inline bool wr_test_file(const char *path, struct wr_buf *out)
{
    char piece[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("SKIPPED: %s is not here\n", path);
        return false;
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
        wr_buf_append(out, (weir_span){piece, got});
    (void)fclose(file);
    return wr_buf_status(out) == WEIR_OK;
}

#endif
