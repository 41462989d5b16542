/* Which paths are the page's; what they do is played by tests/upstream/steer_cases.py. */
#include "proxy/steer_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/config.h"

static void the_paths_are_known(void **state)
{
    static const struct {
        const char *target;
        bool is_it;
    } rows[] = {{"/weir/v1/plan", true},
                {"/weir/v1/plan?session=a", true},
                {"/weir/v1/pin", true},
                {"/weir/v1/unpin", true},
                {"/weir/v1/undo", true},
                {"/weir/v1/exact", true},
                {"/weir/v1/pause", true},
                {"/weir/v1/resume", true},
                {"/weir/v1/policy", true},
                {"/weir/v1/policies", false},
                {"/weir/v1/resume/all", false},
                {"/weir/v1/pins", false},
                {"/weir/v1/", false},
                {"/weir/v1/now", false},
                {"/v1/plan", false},
                {"/weir/v2/plan", false},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_steer_page_is(wr_span_of(rows[i].target)) != rows[i].is_it)
            fail_msg("%s", rows[i].target);
}

static void it_comes_and_goes(void **state)
{
    struct wr_config *config = wr_config_new();
    uv_loop_t loop;
    (void)state;
    assert_non_null(config);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct wr_steer_page *page = wr_steer_page_new(&loop, config);
    assert_non_null(page);
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    wr_steer_page_free(page);
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    assert_int_equal(uv_loop_close(&loop), 0);
    wr_steer_page_free(NULL);
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_are_known),
                                       cmocka_unit_test(it_comes_and_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
