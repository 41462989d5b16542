#include "proxy/mcp_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *listen, *origin, *host;
    bool is_known;
} cases[] = {
    {"no browser", "127.0.0.1:1", NULL, "localhost:1", true},
    {"a page of this machine", "127.0.0.1:1", "http://localhost:3000", "localhost:1", true},
    {"by number", "127.0.0.1:1", "https://127.0.0.1", "localhost:1", true},
    {"of IPv6", "[::1]:1", "http://[::1]:8080", "[::1]:1", true},
    {"another page", "127.0.0.1:1", "https://evil.example", "localhost:1", false},
    {"a name that begins alike", "127.0.0.1:1", "http://localhost.evil.example", "localhost:1",
     false},
    {"a name that ends alike", "127.0.0.1:1", "http://evil-localhost", "localhost:1", false},
    {"a page without an origin", "127.0.0.1:1", "null", "localhost:1", false},
    {"an empty one", "127.0.0.1:1", "", "localhost:1", false},
    {"elsewhere: its own", "0.0.0.0:1", "https://weir.example:1", "Weir.example:1", true},
    {"elsewhere: another port", "0.0.0.0:1", "https://weir.example:2", "weir.example:1", false},
    {"elsewhere: this machine's", "0.0.0.0:1", "http://localhost", "weir.example:1", false},
};

static void only_pages_of_our_own_may_ask(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        weir_span origin = cases[i].origin ? wr_span_of(cases[i].origin) : (weir_span){NULL, 0};
        if (wr_mcp_page_knows_origin(cases[i].listen, origin, wr_span_of(cases[i].host)) !=
            cases[i].is_known)
            fail_msg("%s", cases[i].behaviour);
    }
}

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_pages_of_our_own_may_ask),
                                       cmocka_unit_test(the_path_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
