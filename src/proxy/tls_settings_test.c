#include "proxy/tls_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void paths_are_read(void **state)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    struct wr_tls *tls;

    (void)state;
    assert_int_equal(wr_tls_settings_load(config, &tls, &err), WEIR_OK);
    assert_null(tls); /* unless told there is none */
    assert_int_equal(
        wr_config_read(config, WR_LIT("tls: {cert: /a/c.pem, key: /a/k.pem, client_ca: /a/ca}"),
                       &err),
        WEIR_OK);
    assert_string_equal(config->tls.cert, "/a/c.pem");
    assert_string_equal(config->tls.key, "/a/k.pem");
    assert_string_equal(config->tls.client_ca, "/a/ca");
    assert_int_equal(wr_tls_settings_load(config, &tls, &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "/a/c.pem"));
    wr_config_free(config);
}

static void what_is_wrong_has_a_place(void **state)
{
    static const struct {
        const char *yaml, *said;
    } rows[] = {{"tls: {key: /k}", "line 1, column 6: tls has a cert"},
                {"tls: {cert: /c, port: 1}", "line 1, column 17: tls has cert, key and client_ca"},
                {"tls: {cert: ''}", "tls has cert, key and client_ca"}};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        assert_int_equal(wr_config_read(config, wr_span_of(rows[i].yaml), &err), WEIR_INVALID);
        assert_non_null(strstr(err.text, rows[i].said));
        wr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_are_read),
                                       cmocka_unit_test(what_is_wrong_has_a_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
