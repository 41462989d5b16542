/* What was promised survives kill -9: 500 kills on one store, and 50 stores killed while young. */
#include "tests/store_kill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void run(uint32_t kills, uint32_t seed)
{
    struct store_kill_report report;
    bool ok = store_kill_run(kills, seed, &report);
    print_message(
        "%u kills (%u before, %u after, %u in the middle of an operation), %u writers came"
        " to their end; %llu batches promised, %llu handles recalled,"
        " %llu marks read\n",
        report.kills, report.kills_by_way[0], report.kills_by_way[1], report.kills_by_way[2],
        report.ends, (unsigned long long)report.batches, (unsigned long long)report.handles,
        (unsigned long long)report.marks);
    if (!ok)
        fail_msg("%s", report.problem);
}

static void promises_survive_500_kills(void **state)
{
    (void)state;
    run(500, 2);
}

static void a_store_survives_kills_while_it_is_made(void **state)
{
    (void)state;
    for (uint32_t seed = 10; seed < 60; seed++)
        run(2, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_survive_500_kills),
        cmocka_unit_test(a_store_survives_kills_while_it_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
