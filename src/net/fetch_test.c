#include "net/fetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "base/span.h"

static void who_is_near_is_asked_without_a_proxy(void **state)
{
    static const struct {
        const char *behaviour, *told, *url, *proxy; /* NULL: the environment's */
    } cases[] = {
        {"this machine", NULL, "http://127.0.0.1:11434/v1/x", ""},
        {"by name", NULL, "http://localhost/v1", ""},
        {"of IPv6", NULL, "http://[::1]:8080/v1", ""},
        {"a private network", NULL, "https://192.168.1.7/v1?x=1", ""},
        {"the world outside", NULL, "https://api.openai.com/v1", NULL},
        {"a name that begins alike", NULL, "http://127.0.0.1.evil.example/", NULL},
        {"a user that looks alike", NULL, "http://127.0.0.1@evil.example/", NULL},
        {"what was told holds", "http://p:1", "http://127.0.0.1/", "http://p:1"},
        {"and that there is none", "", "https://api.openai.com/v1", ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const char *proxy = wr_fetch_proxy(cases[i].told, cases[i].url);
        if (!proxy != !cases[i].proxy || (proxy && strcmp(proxy, cases[i].proxy) != 0))
            fail_msg("%s: %s", cases[i].behaviour, proxy ? proxy : "the environment's");
    }
}

/* ==== certificates ==== */

static const char *there; /* the one file that there is */

static bool can_read(const char *path)
{
    return there && !strcmp(path, there);
}

static void each_row_holds(void **state)
{
    static const struct {
        const char *behaviour, *there, *built_in, *said, *want;
    } rows[] = {
        {"libcurl knows itself", "/a", "/a", NULL, NULL},
        {"and needs nobody's word", "/a", "/a", "/b", NULL},
        {"what is said counts where it does not", NULL, NULL, "/b", "/b"},
        {"also where its own is missing", NULL, "/a", "/b", "/b"},
        {"an empty word is none", "/etc/ssl/cert.pem", NULL, "", "/etc/ssl/cert.pem"},
        {"Fedora's", "/etc/pki/tls/certs/ca-bundle.crt", NULL, NULL,
         "/etc/pki/tls/certs/ca-bundle.crt"},
        {"nowhere", NULL, NULL, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        there = rows[i].there;
        const char *got = wr_ca_file_choose(rows[i].built_in, rows[i].said, can_read);
        if (got != rows[i].want && (!got || !rows[i].want || strcmp(got, rows[i].want) != 0))
            fail_msg("%s: %s", rows[i].behaviour, got ? got : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_near_is_asked_without_a_proxy),
        cmocka_unit_test(each_row_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
