#include "net/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void addresses_are_read_strictly(void **state)
{
    static const struct {
        const char *text, *name; /* NULL: it is no address */
        int port;
    } cases[] = {
        {"localhost", "localhost", WR_PORT_NONE},
        {"localhost:0", "localhost", 0},
        {"a-b_c.example:65535", "a-b_c.example", 65535},
        {"[::1]", "::1", WR_PORT_NONE},
        {"[::1]:4141", "::1", 4141},
        {"[fe80::1%eth0]:1", "fe80::1%eth0", 1},
        {"", NULL, 0},
        {":80", NULL, 0},
        {"h:", NULL, 0},
        {"h:65536", NULL, 0},
        {"h:99999", NULL, 0},
        {"h:-1", NULL, 0},
        {"h:+1", NULL, 0},
        {"h:80x", NULL, 0},
        {"h: 80", NULL, 0},
        {"h:18446744073709551617", NULL, 0},
        {"127.0.0.1:4141:evil", NULL, 0},
        {"::1", NULL, 0},
        {"::1:80", NULL, 0},
        {"[::1", NULL, 0},
        {"[]", NULL, 0},
        {"[::1%]", NULL, 0},
        {"[localhost]", NULL, 0},
        {"[::1].evil.example", NULL, 0},
        {"[::1]x:1", NULL, 0},
        {"[::1]:", NULL, 0},
        {"user@h", NULL, 0},
        {"a b", NULL, 0},
        {"h/x", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_host host;
        bool ok = wr_host_parse(wr_span_of(cases[i].text), &host);
        if (ok != (cases[i].name != NULL) ||
            (ok && (!wr_span_is(host.name, cases[i].name) || host.port != cases[i].port)))
            fail_msg("'%s'", cases[i].text);
    }
}

static void the_host_of_a_url_ends_where_its_path_begins(void **state)
{
    static const struct {
        const char *url, *name;
        int port;
    } cases[] = {
        {"http://h", "h", WR_PORT_NONE},
        {"https://h:1/v1", "h", 1},
        {"http://[::1]:2?x=1", "::1", 2},
        {"http://127.0.0.1.evil.example/", "127.0.0.1.evil.example", WR_PORT_NONE},
        {"http://127.0.0.1@evil.example/", NULL, 0},
        {"vscode-webview://1a2b", "1a2b", WR_PORT_NONE},
        {"http://", NULL, 0},
        {"null", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_host host;
        bool ok = wr_host_of_url(wr_span_of(cases[i].url), &host);
        if (ok != (cases[i].name != NULL) ||
            (ok && (!wr_span_is(host.name, cases[i].name) || host.port != cases[i].port)))
            fail_msg("'%s'", cases[i].url);
    }
}

static void a_host_is_near_by_its_name(void **state)
{
    static const struct {
        const char *name;
        bool is_loopback, is_private;
    } cases[] = {
        {"localhost", true, true},
        {"LocalHost", true, true},
        {"127.0.0.1", true, true},
        {"127.255.255.254", true, true},
        {"::1", true, true},
        {"0:0:0:0:0:0:0:1", true, true},
        {"model.localhost", true, true},
        {"a.Model.LOCALHOST.", true, true},
        {"localhost.", true, true},
        {"localhost..", false, false},
        {".localhost", false, false},
        {"127.0.0.1.", true, true},
        {"127.1", false, true},
        {"0x7f000001", false, true},
        {"0.0.0.0", false, true},
        {"::", false, true},
        {"::ffff:127.0.0.1", true, true},
        {"::ffff:7f00:2", true, true},
        {"::ffff:0.0.0.0", false, true},
        {"10.1.2.3", false, true},
        {"172.16.0.1", false, true},
        {"172.31.255.255", false, true},
        {"192.168.1.1", false, true},
        {"169.254.169.254", false, true},
        {"fe80::1%eth0", false, true},
        {"fd12::1", false, true},
        {"::ffff:192.168.0.1", false, true},
        {"172.15.0.1", false, false},
        {"172.32.0.1", false, false},
        {"192.169.0.1", false, false},
        {"11.0.0.1", false, false},
        {"8.8.8.8", false, false},
        {"::ffff:8.8.8.8", false, false},
        {"2001:db8::1", false, false},
        {"127.0.0.1.evil.example", false, false},
        {"localhost.evil.example", false, false},
        {"evil-localhost", false, false},
        {"evil.xlocalhost", false, false},
        {"api.openai.com", false, false},
        {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span name = wr_span_of(cases[i].name);
        if (wr_host_is_loopback(name) != cases[i].is_loopback ||
            wr_host_is_private(name) != cases[i].is_private)
            fail_msg("'%s'", cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read_strictly),
        cmocka_unit_test(the_host_of_a_url_ends_where_its_path_begins),
        cmocka_unit_test(a_host_is_near_by_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
