#include "launch/own_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

static const struct {
    const char *behaviour;
    enum wr_own_format format;
    const char *text;
    const char *copy; /* R stands for the server's root; "": there is none */
    const char *upstreams;
} cases[] = {
    {"droid's custom models, and nothing else of its settings", WR_OWN_DROID,
     "{\"theme\":\"x\",\"customModels\":[{\"model\":\"a\",\"baseUrl\":\"http://a/v1\",\"apiKey\":"
     "\"k<root>\"},{\"baseUrl\":\"https:\\/\\/b\"}],\"z\":1}",
     "{\"customModels\":[{\"model\":\"a\",\"baseUrl\":\"R/p/"
     "custom-model-1\",\"apiKey\":\"k<root>\"}"
     ",{\"baseUrl\":\"R/p/custom-model-2\"}]}\n",
     "custom-model-1=http://a/v1 custom-model-2=https://b"},
    {"droid without one has no copy", WR_OWN_DROID, "{\"customModels\":[],\"theme\":\"x\"}", "",
     ""},
    {"droid without the member", WR_OWN_DROID, "{\"theme\":\"x\"}", "", ""},
    {"an address with a variable in it is left", WR_OWN_DROID,
     "{\"customModels\":[{\"baseUrl\":\"${URL}/v1\"}]}", "", ""},
    {"what is no JSON", WR_OWN_DROID, "{\"customModels\":[{\"baseUrl\":", "", ""},
    {"cline's file whole, with comments blanked", WR_OWN_CLINE,
     "{\"lastUsedProvider\":\"openai-compatible\",//"
     "\n\"providers\":{\"openai-compatible\":{\"settings\":"
     "{\"apiKey\":\"k\",\"baseUrl\":\"http://a/v1\"}}},\"modes\":{}}",
     "{\"lastUsedProvider\":\"openai-compatible\",  "
     "\n\"providers\":{\"openai-compatible\":{\"settings\":"
     "{\"apiKey\":\"k\",\"baseUrl\":\"R/p/openai-compatible\"}}},\"modes\":{}}",
     "openai-compatible=http://a/v1"},
    {"cline's usual providers get an address", WR_OWN_CLINE,
     "{\"lastUsedProvider\":\"anthropic\",\"providers\":{\"anthropic\":{\"settings\":{\"apiKey\":"
     "\"k\"}},"
     "\"openai-native\":{\"settings\":{\"apiKey\":\"l\"}}}}",
     "{\"lastUsedProvider\":\"anthropic\",\"providers\":{\"anthropic\":{\"settings\":{\"baseUrl\":"
     "\"R/v1\","
     "\"apiKey\":\"k\"}},\"openai-native\":{\"settings\":{\"baseUrl\":\"R/"
     "v1\",\"apiKey\":\"l\"}}}}",
     ""},
    {"cline's own login needs no copy", WR_OWN_CLINE,
     "{\"lastUsedProvider\":\"cline\",\"providers\":{\"cline\":{\"settings\":{\"auth\":{"
     "\"refreshToken\":"
     "\"r\"}}}}}",
     "", ""},
    {"beside a login that is renewed nothing is copied", WR_OWN_CLINE,
     "{\"lastUsedProvider\":\"anthropic\",\"providers\":{\"cline\":{\"settings\":{\"auth\":"
     "{\"refreshToken\":\"r\"}}},\"anthropic\":{\"settings\":{\"apiKey\":\"k\"}}}}",
     "", "refused"},
    {"a provider that cannot be redirected", WR_OWN_CLINE,
     "{\"lastUsedProvider\":\"bedrock\",\"providers\":{\"bedrock\":{\"settings\":{\"region\":\"x\"}"
     "}}}",
     "", "refused"},
    {"cline before its first login", WR_OWN_CLINE, "{\"providers\":{}}", "", ""},
};

static void write_found(struct wr_buf *copy, struct wr_buf *upstreams, const struct wr_own *own)
{
    wr_buf_init(copy, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(upstreams, WR_LAUNCH_MEMORY_BYTES_MAX);
    for (size_t i = 0; own->is_redirected && i < own->pieces_count; i++) {
        wr_buf_append(copy, own->pieces[i].text);
        if (own->pieces[i].address)
            wr_buf_printf(copy, "R%s", own->pieces[i].address);
    }
    for (size_t i = 0; i < own->upstreams_count; i++)
        wr_buf_printf(upstreams, "%s%s=%s", i ? " " : "", own->upstreams[i].name,
                      own->upstreams[i].url);
    if (own->refusal)
        wr_buf_text(upstreams, "refused");
    wr_buf_byte(copy, '\0');
    wr_buf_byte(upstreams, '\0');
}

static void addresses_lead_through_weir(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_own own = {.upstreams_count = 0};
        struct wr_arena arena;
        struct wr_buf copy, upstreams;
        wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
        wr_own_copy(&own, &arena, cases[i].format, wr_span_of(cases[i].text));
        write_found(&copy, &upstreams, &own);
        if (strcmp(copy.bytes, cases[i].copy) || strcmp(upstreams.bytes, cases[i].upstreams))
            fail_msg("%s:\n%s\n%s\nwanted:\n%s\n%s", cases[i].behaviour, copy.bytes,
                     upstreams.bytes, cases[i].copy, cases[i].upstreams);
        wr_buf_release(&copy);
        wr_buf_release(&upstreams);
        wr_arena_release(&arena);
    }
}

/* More than can be kept: no copy, rather than one in which some lead elsewhere. */
static void too_many_are_no_copy(void **state)
{
    struct wr_own own = {.upstreams_count = 0};
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(&text, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_text(&text, "{\"customModels\":[{}");
    for (int i = 0; i < WR_PROVIDERS_MAX + 1; i++)
        wr_buf_text(&text, ",{\"baseUrl\":\"http://a\"}");
    wr_buf_text(&text, "]}");
    wr_own_copy(&own, &arena, WR_OWN_DROID, wr_buf_view(&text));
    assert_false(own.is_redirected);
    assert_non_null(own.refusal);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses_lead_through_weir),
                                       cmocka_unit_test(too_many_are_no_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
