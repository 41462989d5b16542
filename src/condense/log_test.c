#include "base/span.h"
#include "tests/condense_rows.h"

#define STAMP  "2024-03-04T05:06:07.890Z "
#define SERVED "*20 " STAMP "INFO http: GET /v1/items/~ 200 in ~ms\n"

static const struct kept_case rows[] = {
    {"what fits stays", STAMP "INFO one\n" STAMP "INFO two\n", 1000, "all", NULL},
    {"an error stays with its stack, and the first and the last lines",
     SERVED STAMP "ERROR store: lost connection to shard 3\n"
                  "java.io.IOException: broken pipe\n"
                  "\tat a.b.Store.write(Store.java:31)\n"
                  "\tat a.b.Pool.run(Pool.java:7)\n" SERVED,
     900, "1 19-25 39-44", NULL},
    {"what was said once stays over what was said often",
     SERVED STAMP "INFO config: reloaded from disk\n" SERVED STAMP
                  "INFO leader: this node leads now\n" SERVED SERVED,
     1000, "1 21 42 73-82", NULL},
    {"of a warning that comes again and again, the first",
     SERVED STAMP "WARN disk is slow\n" SERVED STAMP "WARN disk is slow\n" SERVED, 400,
     "1 21-22 61-62", NULL},
    {"lines with words that matter stay",
     SERVED STAMP "INFO auth: user margaret came in\n" SERVED SERVED, 700, "1 20-22 57-61",
     "margaret"},
    {"a row with another code than nearly all stays",
     "id,name,code\n*60 ~,job~,0\n61,job61,137\n*60 ~,job~,0\n", 260, "1-2 62 110-122", NULL},
};

static void keeps_lines_by_worth(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_LOG, wr_condense_log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_lines_by_worth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
