#include "agent/mcp_link.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static void set_up_link(struct wr_mcp_link *link, struct wr_mcp_setting *setting)
{
    *setting = (struct wr_mcp_setting){.name = "peer", .url = "http://127.0.0.1:1/mcp"};
    wr_mcp_link_init(link, setting, NULL, "/");
    link->wanted = 1;
}

static void a_server_that_asks_on_and_on_costs_no_memory(void **state)
{
    struct wr_mcp_setting setting;
    struct wr_mcp_link link;
    char text[100];
    (void)state;

    set_up_link(&link, &setting);
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}",
                       i);
        wr_mcp_link_take(&link, wr_span_of(text));
    }
    assert_true(link.going.len > 0);
    assert_true(link.going.len < 2 * WR_AGENT_MCP_REPLIES_BYTES_MAX);
    wr_mcp_link_take(&link, WR_LIT("{\"id\":2,\"result\":{}}"));
    assert_false(link.has_answer);
    wr_mcp_link_take(&link, WR_LIT("{\"id\":1,\"result\":{\"n\":1}}"));
    wr_mcp_link_take(&link, WR_LIT("{\"id\":1,\"result\":{\"n\":2}}")); /* one is enough */
    assert_true(link.has_answer);
    assert_true(wr_span_is(wr_buf_view(&link.answer), "{\"id\":1,\"result\":{\"n\":1}}"));
    wr_mcp_link_release(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_asks_on_and_on_costs_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
