#include "proxy/mcp_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void the_path_is_known(void **state)
{
    (void)state;
    assert_true(wr_mcp_page_is(WR_LIT("/mcp")));
    assert_true(wr_mcp_page_is(WR_LIT("/mcp?x=1")));
    assert_false(wr_mcp_page_is(WR_LIT("/mcp/x")));
    assert_false(wr_mcp_page_is(WR_LIT("/mcpx")));
    assert_false(wr_mcp_page_is(WR_LIT("/v1/mcp")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_path_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
