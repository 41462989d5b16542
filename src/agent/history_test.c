#include "agent/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static void lines_outlive_the_program(void **state)
{
    char path[] = "/tmp/weir-history-XXXXXX";
    struct wr_history h;
    struct stat info;
    (void)state;
    int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    wr_history_open(&h, path);
    wr_history_add(&h, WR_LIT("one\ntwo \\n"));
    wr_history_add(&h, WR_LIT("three"));
    wr_history_add(&h, WR_LIT("three"));
    assert_int_equal(h.count, 2);
    wr_history_release(&h);
    wr_history_open(&h, path);
    assert_int_equal(h.count, 2);
    assert_true(wr_span_is(wr_history_at(&h, 0), "one\ntwo \\n"));
    assert_true(wr_span_is(wr_history_at(&h, 1), "three"));
    assert_int_equal(wr_history_find(&h, WR_LIT("two"), h.count), 0);
    assert_int_equal(wr_history_find(&h, WR_LIT("three"), 1), SIZE_MAX);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0077, 0);
    wr_history_release(&h);
    (void)unlink(path);
}

static void only_the_newest_are_kept(void **state)
{
    struct wr_history h;
    char line[40];
    (void)state;
    wr_history_open(&h, NULL);
    for (int i = 0; i < WR_AGENT_HISTORY_LINES_MAX + 5; i++) {
        (void)snprintf(line, sizeof(line), "line %d", i);
        wr_history_add(&h, wr_span_of(line));
    }
    assert_int_equal(h.count, WR_AGENT_HISTORY_LINES_MAX);
    assert_true(wr_span_is(wr_history_at(&h, 0), "line 5"));
    wr_history_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_outlive_the_program),
        cmocka_unit_test(only_the_newest_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
