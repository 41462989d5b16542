#include "proxy/credential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/api.h"
#include "base/span.h"

static struct wr_config *read_config(const char *yaml, struct weir_err *err, weir_status *status)
{
    struct wr_config *config = wr_config_new();

    assert_non_null(config);
    *status = wr_config_read(config, wr_span_of(yaml), err);
    return config;
}

static void keys_are_where_weir_yaml_says(void **state)
{
    static const struct {
        const char *yaml, *words; /* words NULL: it is right */
    } cases[] = {
        {"upstreams: {openai: {key: {env: WEIR_TEST_KEY}}}\n", NULL},
        {"upstreams: {openrouter: {key: {env: WEIR_TEST_KEY}}}\n", NULL},
        {"upstreams: {azure: {key: {env: WEIR_TEST_KEY}}}\n",
         "line 1, column 20: an upstream has a base_url, such as https://NAME.openai.azure.com"},
        {"upstreams: {openai: {key: sk-secret}}\n",
         "line 1, column 27: a key does not stand in weir.yaml"},
        {"upstreams: {openai: {key: {env: WEIR_TEST_NONE}}}\n",
         "the variable WEIR_TEST_NONE is not set"},
        {"upstreams: {openai: {key: {env: WEIR_TEST_EMPTY}}}\n", "it is empty"},
        {"upstreams: {openai: {key: {env: WEIR_TEST_LINES}}}\n", "it is one line"},
        {"upstreams: {openai: {key: {file: /nowhere/key}}}\n", "this file cannot be read"},
        {"upstreams: {openai: {key: {file: /dev/null}}}\n", "this file holds no key"},
        {"upstreams: {openai: {key: {header: x-api-key}}}\n", "a key has env or file"},
        {"upstreams: {openai: {key: {env: WEIR_TEST_KEY, header: 'a b'}}}\n", "the name of one"},
        {"upstreams: {openai: {key: {env: WEIR_TEST_KEY, file: /dev/null}}}\n", "one place"},
        {"upstreams: {b: {base_url: http://h, sign: {region: r}}}\n", "access_key and secret_key"},
        {"upstreams: {b: {base_url: http://h, sign: {access_key: {env: WEIR_TEST_KEY}, secret_key: "
         "{env: WEIR_TEST_KEY}}}}\n",
         "a region is needed"},
        {"upstreams: {b: {base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com', sign: "
         "{access_key: {env: WEIR_TEST_KEY}, secret_key: {env: WEIR_TEST_KEY}}}}\n",
         NULL},
        {"upstreams: {b: {base_url: http://h, key: {env: WEIR_TEST_KEY}, sign: {region: r, "
         "access_key: {env: WEIR_TEST_KEY}, secret_key: {env: WEIR_TEST_KEY}}}}\n",
         "`key` or `sign`"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct weir_err err = {0};
        weir_status status;
        struct wr_config *config = read_config(cases[i].yaml, &err, &status);
        if (!status != !cases[i].words || (status && !strstr(err.text, cases[i].words)))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        assert_null(strstr(err.text, "sk-secret"));
        wr_config_free(config);
    }
}

static void a_region_may_stand_in_the_host(void **state)
{
    weir_status status;
    struct wr_config *config = read_config(
        "upstreams: {b: {base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com', sign: "
        "{access_key: {env: WEIR_TEST_KEY}, secret_key: {env: WEIR_TEST_KEY}}}}\n",
        NULL, &status);
    (void)state;
    assert_string_equal(wr_config_find(config, WR_LIT("b"))->aws->region, "eu-west-1");
    wr_config_free(config);
}

static void a_key_goes_in_its_providers_header(void **state)
{
    static const struct {
        const char *behaviour, *name, *base_url, *header;
        const struct wr_api *api;
        const char *shown;
    } cases[] = {
        {"OpenAI's", "x", "https://api.openai.com/v1", NULL, &wr_api_chat,
         "Authorization: Bearer k"},
        {"Anthropic's", "x", "https://api.anthropic.com", NULL, NULL, "x-api-key: k"},
        {"Azure's", "x", "https://a.openai.azure.com", NULL, &wr_api_chat, "api-key: k"},
        {"Gemini's", "x", "https://generativelanguage.googleapis.com", NULL, NULL,
         "x-goog-api-key: k"},
        {"Vertex's", "x", "https://eu-aiplatform.googleapis.com", NULL, &wr_api_gemini,
         "Authorization: Bearer k"},
        {"Bedrock's", "x", "https://bedrock-runtime.r.amazonaws.com", NULL, &wr_api_messages,
         "Authorization: Bearer k"},
        {"by its name", "azure", "http://127.0.0.1:1", NULL, &wr_api_chat, "api-key: k"},
        {"by the API", "x", "http://127.0.0.1:1", NULL, &wr_api_messages, "x-api-key: k"},
        {"else as Bearer", "x", "http://127.0.0.1:1", NULL, NULL, "Authorization: Bearer k"},
        {"as the user says", "x", "https://api.anthropic.com", "authorization", &wr_api_messages,
         "Authorization: Bearer k"},
        {"whatever it is", "x", "http://h", "X-Key", NULL, "X-Key: k"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_upstream upstream = {.name = cases[i].name,
                                       .base_url = cases[i].base_url,
                                       .key = "k",
                                       .key_header = cases[i].header};
        struct wr_key_call call = {.upstream = &upstream, .api = cases[i].api};
        struct wr_header headers[WR_KEY_HEADERS_MAX];
        struct wr_buf text, shown;
        wr_buf_init(&text, 4096);
        wr_buf_init(&shown, 4096);
        assert_int_equal(wr_key_headers(&call, headers, &text), 1);
        wr_buf_append(&shown, headers[0].name);
        wr_buf_text(&shown, ": ");
        wr_buf_append(&shown, headers[0].value);
        if (!wr_span_is(wr_buf_view(&shown), cases[i].shown))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)shown.len, shown.bytes);
        wr_key_forget(&text);
        wr_buf_release(&shown);
    }
}

static void a_signature_is_of_what_is_sent(void **state)
{
    struct wr_aws_keys aws = {"AKID", "secret", "token", "us-east-1"};
    struct wr_upstream upstream = {.name = "b", .base_url = "http://127.0.0.1:1", .aws = &aws};
    struct wr_key_call call = {.upstream = &upstream,
                               .method = WR_LIT("POST"),
                               .url = WR_LIT("https://h.example:443/model/m%3A0/invoke?b=1&a=2"),
                               .body = WR_LIT("{}"),
                               .now_ms = 1440938160000};
    struct wr_aws_request request = {.method = call.method,
                                     .host = WR_LIT("h.example"),
                                     .target = WR_LIT("/model/m%3A0/invoke?b=1&a=2"),
                                     .body = call.body,
                                     .service = "bedrock",
                                     .now_ms = call.now_ms};
    struct wr_header headers[WR_KEY_HEADERS_MAX];
    char date[WR_AWS_DATE_BYTES];
    struct wr_buf text, expected;
    (void)state;

    wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX * 2);
    wr_buf_init(&expected, 4096);
    assert_int_equal(wr_key_headers(&call, headers, &text), 3);
    assert_true(wr_aws_sign(&aws, &request, date, &expected));
    assert_true(wr_span_eq(headers[0].value, wr_buf_view(&expected)));
    assert_true(wr_span_is(headers[1].value, "20150830T123600Z"));
    assert_true(wr_span_is(headers[2].value, "token"));
    wr_key_forget(&text);
    assert_int_equal(text.len, 0);
    wr_buf_release(&expected);
    aws.session_token = NULL;
    wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX * 2);
    assert_int_equal(wr_key_headers(&call, headers, &text), 2);
    assert_true(wr_span_is(headers[0].name, "Authorization"));
    assert_true(wr_span_is(headers[1].name, "X-Amz-Date"));
    wr_key_forget(&text);
}

static void a_host_is_signed_as_it_is_asked(void **state)
{
    static const struct {
        const char *url, *host, *target;
    } rows[] = {{"https://h.example:443/x", "h.example", "/x"},
                {"https://h.example:80/x", "h.example:80", "/x"},
                {"http://h.example:80/x", "h.example", "/x"},
                {"http://h.example:443/x", "h.example:443", "/x"},
                {"http://h.example/", "h.example", "/"},
                {"http://h.example", "h.example", ""}};
    struct wr_aws_keys aws = {"AKID", "secret", NULL, "us-east-1"};
    struct wr_upstream upstream = {.name = "b", .base_url = "http://127.0.0.1:1", .aws = &aws};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_key_call call = {.upstream = &upstream,
                                   .method = WR_LIT("POST"),
                                   .url = wr_span_of(rows[i].url),
                                   .body = WR_LIT("{}"),
                                   .now_ms = 1440938160000};
        struct wr_aws_request request = {.method = call.method,
                                         .host = wr_span_of(rows[i].host),
                                         .target = wr_span_of(rows[i].target),
                                         .body = call.body,
                                         .service = "bedrock",
                                         .now_ms = call.now_ms};
        struct wr_header headers[WR_KEY_HEADERS_MAX];
        char date[WR_AWS_DATE_BYTES];
        struct wr_buf text, expected;
        wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX * 2);
        wr_buf_init(&expected, 4096);
        assert_int_equal(wr_key_headers(&call, headers, &text), 2);
        assert_true(wr_aws_sign(&aws, &request, date, &expected));
        if (!wr_span_eq(headers[0].value, wr_buf_view(&expected)))
            fail_msg("%s", rows[i].url);
        wr_key_forget(&text);
        wr_buf_release(&expected);
    }
}

static void a_credential_is_without_its_scheme(void **state)
{
    static const struct {
        const char *header, *value, *credential;
    } rows[] = {{"Authorization", " bearer  k ", "k"},
                {"authorization", "Bearer ", "Bearer"},
                {"Authorization", "Basic k", "Basic k"},
                {"x-api-key", "Bearer k", "Bearer k"},
                {"Authorization", "Bearer k", "k"}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_header header = {wr_span_of(rows[i].header), wr_span_of(rows[i].value)};
        if (!wr_span_is(wr_key_value(&header), rows[i].credential))
            fail_msg("%s: %s", rows[i].header, rows[i].value);
    }
}

/* Two keys in one request would let the upstream choose. */
static void what_a_key_of_weirs_replaces_stays(void **state)
{
    static const struct {
        const char *header, *key_header;
        bool has_key, stays;
    } rows[] = {
        {"authorization", NULL, true, true},
        {"Authorization", NULL, false, false},
        {"x-api-key", NULL, true, true},
        {"x-goog-api-key", NULL, true, true},
        {"api-key", NULL, true, true},
        {"x-amz-security-token", NULL, true, true},
        {"x-amz-date", NULL, true, true},
        {"chatgpt-account-id", NULL, true, true},
        {"cookie", NULL, true, true},
        {"anthropic-version", NULL, true, false},
        {"x-gateway-key", NULL, true, false},
        {"X-Gateway-Key", "x-gateway-key", true, true},
        {"x-other", "x-gateway-key", true, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_upstream upstream = {.key = rows[i].has_key ? "k" : NULL,
                                       .key_header = rows[i].key_header};
        struct wr_header header = {wr_span_of(rows[i].header), WR_LIT("v")};
        if (wr_key_replaces(&upstream, &header) != rows[i].stays)
            fail_msg("%s", rows[i].header);
    }
}

static void parameters_that_are_credentials_stay(void **state)
{
    static const char yaml[] = "upstreams: {openai: {key: {env: WEIR_TEST_KEY}}}\n"
                               "tokens: [weir-token-of-anna]\n";
    static const struct {
        const char *upstream, *target, *leaves;
    } rows[] = {
        {"openai", "/v1/x", "/v1/x"},
        {"openai", "/v1/x?key=k", "/v1/x"},
        {"openai", "/v1/x?alt=sse&key=k&b=", "/v1/x?alt=sse&b="},
        {"openai", "/v1/x?key=k&alt=sse", "/v1/x?alt=sse"},
        {"openai", "/v1/x?X-Amz-Signature=s&x-amz-date=d&a", "/v1/x?a"},
        {"openai", "/v1/x?keys=1", "/v1/x?keys=1"},
        {"openai", "/v1/x?", "/v1/x"},
        {"anthropic", "/v1/x?key=k&a", "/v1/x?key=k&a"}, /* the client's, for its provider */
        {"anthropic", "/v1/x?a=b&key=weir-token-of-anna&c=", "/v1/x?a=b&c="},
        {"anthropic", "/v1/x?auth=weir-token-of-anna", "/v1/x"},
        {"anthropic", "/v1/x?weir-token-of-anna", "/v1/x"},
    };
    weir_status status;
    struct wr_config *config = read_config(yaml, NULL, &status);

    (void)state;
    assert_int_equal(status, WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 256);
        wr_key_clean_target(config, wr_config_find(config, wr_span_of(rows[i].upstream)),
                            wr_span_of(rows[i].target), &out);
        if (!wr_span_is(wr_buf_view(&out), rows[i].leaves))
            fail_msg("%s: %.*s", rows[i].target, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_where_weir_yaml_says),
                                       cmocka_unit_test(a_region_may_stand_in_the_host),
                                       cmocka_unit_test(a_key_goes_in_its_providers_header),
                                       cmocka_unit_test(a_signature_is_of_what_is_sent),
                                       cmocka_unit_test(a_host_is_signed_as_it_is_asked),
                                       cmocka_unit_test(a_credential_is_without_its_scheme),
                                       cmocka_unit_test(what_a_key_of_weirs_replaces_stays),
                                       cmocka_unit_test(parameters_that_are_credentials_stay)};
    (void)setenv("WEIR_TEST_KEY", " sk-k \n", 1);
    (void)setenv("WEIR_TEST_EMPTY", " ", 1);
    (void)setenv("WEIR_TEST_LINES", "a\nb", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
