#include "otel/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

struct variable {
    const char *name, *value;
};

static const struct variable *variables;

static const char *get_variable(const char *name)
{
    for (size_t i = 0; variables[i].name; i++)
        if (!strcmp(variables[i].name, name))
            return variables[i].value;
    return NULL;
}

static weir_status read_yaml(struct wr_otel_settings *s, struct wr_arena *arena, const char *text,
                             struct weir_err *err)
{
    struct wr_yaml yaml;
    weir_status status = wr_yaml_open(&yaml, wr_span_of(text), err);

    assert_int_equal(status, WEIR_OK);
    status = wr_otel_settings_read(s, arena, &yaml, wr_yaml_root(&yaml));
    wr_yaml_close(&yaml);
    return status;
}

static void the_file_names_a_receiver(void **state)
{
    struct wr_otel_settings s;
    struct wr_arena arena;
    struct weir_err err = {0};

    (void)state;
    wr_arena_init(&arena, 1 << 20);
    wr_otel_settings_init(&s);
    assert_false(wr_otel_is_on(&s));
    assert_int_equal(read_yaml(&s, &arena,
                               "{endpoint: 'http://collector:4318/', interval: 3, service: gate,\n"
                               " headers: {x-key: secret, b: 'two words'}}",
                               &err),
                     WEIR_OK);
    assert_true(wr_otel_is_on(&s));
    assert_string_equal(s.traces_url, "http://collector:4318/v1/traces");
    assert_string_equal(s.metrics_url, "http://collector:4318/v1/metrics");
    assert_string_equal(s.service, "gate");
    assert_int_equal(s.interval_ms, 3000);
    assert_int_equal(s.headers_count, 2);
    assert_true(wr_span_is(s.headers[1].value, "two words"));
    wr_arena_release(&arena);
}

static void what_is_wrong_in_the_file_has_a_place(void **state)
{
    static const struct {
        const char *yaml, *said;
    } rows[] = {
        {"{endpoint: collector}", "line 1, column 12: an endpoint is http://"},
        {"{interval: 3}", "otel has an endpoint"},
        {"{endpoint: 'http://a', interval: 0}", "interval is in seconds, 1 to 3600"},
        {"{endpoint: 'http://a', interval: 3601}", "interval is in seconds"},
        {"{endpoint: 'http://a', nosuch: 1}", "otel has endpoint, headers, interval and service"},
        {"{endpoint: 'http://a', headers: {'a b': c}}", "a header is NAME: one line"},
        {"{endpoint: 'http://a', headers: {a: \"b\\nc\"}}", "a header is NAME: one line"},
        {"{endpoint: 'http://me:pw@a'}", "an endpoint is http://"},
    };

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_otel_settings s;
        struct wr_arena arena;
        struct weir_err err = {0};
        wr_arena_init(&arena, 1 << 20);
        assert_int_not_equal(read_yaml(&s, &arena, rows[i].yaml, &err), WEIR_OK);
        assert_non_null(strstr(err.text, rows[i].said));
        wr_arena_release(&arena);
    }
}

static void variables_replace_the_file(void **state)
{
    static const struct variable set[] = {
        {"OTEL_EXPORTER_OTLP_ENDPOINT", "https://other/base"},
        {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://third/m?x=1"},
        {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc%3D, x-two=2,"},
        {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
        {"OTEL_METRIC_EXPORT_INTERVAL", "1500"},
        {"OTEL_SERVICE_NAME", "gateway"},
        {"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod"},
        {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
        {NULL, NULL}};
    struct wr_otel_settings s;
    struct wr_arena arena;
    struct weir_err err = {0};

    (void)state;
    wr_arena_init(&arena, 1 << 20);
    assert_int_equal(read_yaml(&s, &arena, "{endpoint: 'http://file'}", &err), WEIR_OK);
    variables = set;
    assert_int_equal(wr_otel_settings_environment(&s, &arena, get_variable, &err), WEIR_OK);
    assert_string_equal(s.traces_url, "https://other/base/v1/traces");
    assert_string_equal(s.metrics_url, "https://third/m?x=1");
    assert_int_equal(s.headers_count, 2);
    assert_true(wr_span_is(s.headers[0].value, "Basic abc="));
    assert_true(wr_span_is(s.headers[1].value, "2"));
    assert_int_equal(s.timeout_ms, 2500);
    assert_int_equal(s.interval_ms, 1500);
    assert_string_equal(s.service, "gateway");
    assert_true(wr_span_is(s.resource[0].name, "deployment.environment.name"));
    wr_arena_release(&arena);
}

static void variables_switch_off_and_refuse(void **state)
{
    static const struct variable disabled[] = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"},
                                               {"OTEL_SDK_DISABLED", "true"},
                                               {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                                               {NULL, NULL}};
    static const struct variable traces_off[] = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"},
                                                 {"OTEL_TRACES_EXPORTER", "none"},
                                                 {NULL, NULL}};
    static const struct variable wrong[][3] = {
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", "a:4317"}, {NULL, NULL}},
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4317"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}},
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"}, {"OTEL_EXPORTER_OTLP_HEADERS", "novalue"}},
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}}};
    static const struct variable none[] = {{NULL, NULL}};
    struct wr_otel_settings s;
    struct wr_arena arena;
    struct weir_err err = {0};

    (void)state;
    wr_arena_init(&arena, 1 << 20);
    wr_otel_settings_init(&s);
    variables = disabled;
    assert_int_equal(wr_otel_settings_environment(&s, &arena, get_variable, &err), WEIR_OK);
    assert_false(wr_otel_is_on(&s));
    variables = traces_off;
    assert_int_equal(wr_otel_settings_environment(&s, &arena, get_variable, &err), WEIR_OK);
    assert_null(s.traces_url);
    assert_non_null(s.metrics_url);
    for (size_t i = 0; i < WR_COUNT_OF(wrong); i++) {
        wr_otel_settings_init(&s);
        variables = wrong[i];
        assert_int_not_equal(wr_otel_settings_environment(&s, &arena, get_variable, &err), WEIR_OK);
        assert_non_null(strstr(err.text, "OTEL_EXPORTER_OTLP_"));
    }
    wr_otel_settings_init(&s);
    variables = none;
    assert_int_equal(wr_otel_settings_environment(&s, &arena, get_variable, &err), WEIR_OK);
    assert_false(wr_otel_is_on(&s));
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_file_names_a_receiver),
                                       cmocka_unit_test(what_is_wrong_in_the_file_has_a_place),
                                       cmocka_unit_test(variables_replace_the_file),
                                       cmocka_unit_test(variables_switch_off_and_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
