#include "agent/large_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "base/limits.h"
#include "base/span.h"

static void fill(struct wr_buf *result, size_t bytes)
{
    wr_buf_init(result, WR_AGENT_FILE_BYTES_MAX);
    while (result->len < bytes)
        wr_buf_byte(result, result->len % 10 == 9 ? '\n' : 'x');
}

static void a_large_result_is_a_file_that_its_end_names(void **state)
{
    char dir[] = "/tmp/weir-large-XXXXXX", path[200], command[100];
    struct wr_buf result;
    struct stat info;
    (void)state;
    assert_non_null(mkdtemp(dir));
    fill(&result, WR_AGENT_LARGE_RESULT_BYTES);
    wr_large_result_keep(dir, WR_LIT("../call/1"), &result);
    (void)snprintf(path, sizeof(path), "%s/large_tool_results/___call_1.txt", dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, WR_AGENT_LARGE_RESULT_BYTES);
    assert_true(wr_span_has(wr_buf_view(&result), wr_span_of(path)));
    assert_true(wr_span_ends(wr_buf_view(&result), WR_LIT("; read_file pages it]")));
    wr_buf_release(&result);
    (void)snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void others_stay_as_they_are(void **state)
{
    struct wr_buf result;
    (void)state;
    fill(&result, WR_AGENT_LARGE_RESULT_BYTES - 1);
    wr_large_result_keep("/tmp", WR_LIT("c1"), &result);
    assert_int_equal(result.len, WR_AGENT_LARGE_RESULT_BYTES - 1);
    wr_buf_byte(&result, 'x');
    wr_large_result_keep("/nowhere/at/all", WR_LIT("c1"), &result);
    assert_int_equal(result.len, WR_AGENT_LARGE_RESULT_BYTES);
    wr_buf_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_result_is_a_file_that_its_end_names),
        cmocka_unit_test(others_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
