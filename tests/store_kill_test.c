/* What was promised survives kill -9: a short run. tests/store_kill_long.c is the long one. */
#include "tests/store_kill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void promises_survive_kills(void **state)
{
    struct store_kill_report report;
    (void)state;

    bool ok = store_kill_run(60, 1, &report);
    print_message(
        "%u kills (%u before, %u after, %u in the middle of an operation), %u writers came"
        " to their end; %llu batches promised, %llu handles recalled,"
        " %llu marks read\n",
        report.kills, report.kills_by_way[0], report.kills_by_way[1], report.kills_by_way[2],
        report.ends, (unsigned long long)report.batches, (unsigned long long)report.handles,
        (unsigned long long)report.marks);
    if (!ok)
        fail_msg("%s", report.problem);
    assert_true(report.batches > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(promises_survive_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
