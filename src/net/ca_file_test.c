#include "net/ca_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
