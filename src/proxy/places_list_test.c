#include "proxy/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void places_are_as_the_upstream_but_for_what_they_name(void **state)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};

    (void)state;
    /* `places` stands before what they inherit. */
    assert_int_equal(
        wr_config_read(config,
                       WR_LIT("upstreams: {openai: {places: [{base_url: 'http://b/v1', "
                              "weight: 1000}, {base_url: 'http://c', name: third}], "
                              "base_url: 'http://a/v1', http2: true, balance: weight, "
                              "weight: 2}}"),
                       &err),
        WEIR_OK);
    const struct wr_upstream *u = wr_config_find(config, WR_LIT("openai"));
    assert_true(u->is_weighted);
    assert_int_equal(u->places_count, 3);
    assert_string_equal(u->places[0].base_url, "http://a/v1");
    assert_int_equal(u->places[0].weight, 2);
    assert_string_equal(u->places[1].base_url, "http://b/v1");
    assert_true(u->places[1].http2);
    assert_int_equal(u->places[1].weight, 1000);
    assert_string_equal(u->places[1].place_name, "2");
    assert_string_equal(u->places[2].place_name, "third");
    assert_int_equal(u->places[2].weight, 1);
    assert_null(wr_config_find(config, WR_LIT("anthropic"))->places);
    wr_config_free(config);
}

static void what_is_wrong_has_a_place(void **state)
{
    static const struct {
        const char *yaml, *said;
    } rows[] = {{"[]", "a list of 1 to 7 more places"},
                {"{}", "a list of 1 to 7 more places"},
                {"[{weight: 2}]", "a base_url or a key of its own"},
                {"[{base_url: nosuch}]", "base_url is http://HOST"},
                {"[{base_url: 'http://b', weight: 0}]", "a weight is from 1 to 1000"},
                {"[{base_url: 'http://b', weight: 1001}]", "a weight is from 1 to 1000"},
                {"[{base_url: 'http://b', weight: many}]", "a weight is from 1 to 1000"},
                {"[{base_url: 'http://b', size: 1}]", "weight and name, not 'size'"},
                {"7", "a list of 1 to 7 more places"},
                {"[{base_url: 'http://b', name: ''}]", "a name is wanted here"}};
    char yaml[256];

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *config = wr_config_new();
        struct weir_err err = {0};
        (void)snprintf(yaml, sizeof(yaml), "upstreams: {openai: {places: %s}}", rows[i].yaml);
        assert_int_equal(wr_config_read(config, wr_span_of(yaml), &err), WEIR_INVALID);
        assert_non_null(strstr(err.text, rows[i].said));
        assert_non_null(strstr(err.text, "line 1, column "));
        wr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_as_the_upstream_but_for_what_they_name),
        cmocka_unit_test(what_is_wrong_has_a_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
