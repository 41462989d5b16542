/* Which paths are the page's; what they answer is played by tests/upstream/call_cases.py. */
#include "proxy/call_page.h"

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
    } rows[] = {{"/weir/v1/project", true},
                {"/weir/v1/count", true},
                {"/weir/v1/condense?x=1", true},
                {"/weir/v1/recall", true},
                {"/weir/v1/models", true},
                {"/v1/compress", true},
                {"/weir/v1/webhook", true},
                {"/v1/retrieve/0123456789abcdef0123?query=a", true},
                {"/v1/retrieve/", false},
                {"/v1/retrieve", false},
                {"/v1/models", false}, /* the upstream's */
                {"/v1/compress/response", false},
                {"/p/openai/v1/compress", false},
                {"/weir/v1/projects", false},
                {"/weir/v1/project/x", false},
                {"/weir/v1/webhooks", false},
                {"/weir/v1/sessions", false},
                {"/weir/v1/traffic", false},
                {"/weir/v1/", false},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_call_page_is(wr_span_of(rows[i].target)) != rows[i].is_it)
            fail_msg("%s", rows[i].target);
}

static void it_comes_and_goes(void **state)
{
    struct wr_config *config = wr_config_new();
    uv_loop_t loop;
    (void)state;
    assert_non_null(config);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct wr_call_page *page = wr_call_page_new(&loop, config, (weir_span){"", 0});
    assert_non_null(page);
    assert_null(wr_call_page_new(&loop, config, WR_LIT("policies: 7\n")));
    while (uv_run(&loop, UV_RUN_NOWAIT))
        ;
    wr_call_page_free(page);
    assert_int_equal(uv_loop_close(&loop), 0);
    wr_call_page_free(NULL);
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_are_known),
                                       cmocka_unit_test(it_comes_and_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
