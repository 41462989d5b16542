#include "api/clouds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

#define VERTEX "/v1/projects/p/locations/us-east5/publishers/"

static const struct {
    const char *behaviour, *path, *body;
    const char *api, *model; /* api NULL: it is not read */
} cases[] = {
    {"Azure's deployment is the model", "/openai/deployments/my-gpt/chat/completions?api-version=1",
     "{\"messages\":[]}", "chat", "my-gpt"},
    {"unless the body names one", "/openai/deployments/my-gpt/chat/completions",
     "{\"model\":\"gpt-5.4\",\"messages\":[]}", "chat", "gpt-5.4"},
    {"behind a gateway's path too", "/gw/openai/deployments/d/chat/completions",
     "{\"messages\":[]}", "chat", "d"},
    {"its v1 has the model in the body", "/openai/v1/responses",
     "{\"model\":\"d\",\"input\":\"x\"}", "responses", "d"},
    {"Claude on Vertex", VERTEX "anthropic/models/claude-sonnet-5-5@20260901:streamRawPredict",
     "{\"anthropic_version\":\"vertex-2023-10-16\",\"messages\":[]}", "messages",
     "claude-sonnet-5-5@20260901"},
    {"whole", VERTEX "anthropic/models/claude-x:rawPredict", "{\"messages\":[]}", "messages",
     "claude-x"},
    {"its counts have the model in the body", VERTEX "anthropic/models/count-tokens:rawPredict",
     "{\"model\":\"claude-x\",\"messages\":[]}", "messages", "claude-x"},
    {"Gemini on Vertex", VERTEX "google/models/gemini-x:streamGenerateContent?alt=sse",
     "{\"contents\":[]}", "gemini", "gemini-x"},
    {"other makers' models on Vertex are not read", VERTEX "mistralai/models/m:rawPredict",
     "{\"messages\":[]}", NULL, NULL},
    {"Claude on Bedrock", "/model/us.anthropic.claude-x-v1:0/invoke",
     "{\"anthropic_version\":\"bedrock-2023-05-31\",\"messages\":[]}", "messages",
     "us.anthropic.claude-x-v1:0"},
    {"an id may be escaped",
     "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-x/"
     "invoke-with-response-stream",
     "{\"anthropic_version\":\"bedrock-2023-05-31\",\"messages\":[]}", "messages",
     "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x"},
    {"other makers' models on Bedrock are not read", "/model/amazon.nova-pro-v1:0/invoke",
     "{\"schemaVersion\":\"messages-v1\",\"messages\":[]}", NULL, NULL},
    {"a path that only holds the words is another", "/model/m/invoke/x", "{\"a\":[]}", NULL, NULL},
    {"no model, no path", "/model//invoke", "{\"a\":[]}", NULL, NULL},
};

static void paths_say_api_and_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_transcript transcript;
        struct wr_arena arena;
        struct wr_json doc;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(cases[i].body), NULL, NULL), 0);
        weir_status status = wr_api_read(&transcript, &arena, &doc,
                                         &(struct wr_api_options){.path = cases[i].path}, NULL);
        bool is_read = status == WEIR_OK && wr_api_by_path(wr_span_of(cases[i].path), NULL);
        if (is_read != (cases[i].api != NULL) ||
            (is_read && (strcmp(wr_api_of(transcript.dialect)->name, cases[i].api) != 0 ||
                         !wr_span_is(transcript.model, cases[i].model))))
            fail_msg("%s: %d %.*s", cases[i].behaviour, status, (int)transcript.model.len,
                     transcript.model.ptr);
        wr_arena_release(&arena);
    }
}

static bool page_has(const char *page, const char *a, const char *b)
{
    char row[256];

    (void)snprintf(row, sizeof(row), "| %s | `%s` |", a, b);
    return strstr(page, row) != NULL;
}

/* The page has a row for each, and each shape of a credential. */
static void the_page_has_every_row(void **state)
{
    static char page[64 * 1024];
    const struct wr_credential_shape *shape;
    const struct wr_cloud *cloud;
    FILE *file = fopen("docs/clouds.md", "r");
    (void)state;

    if (!file)
        skip();
    page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
    (void)fclose(file);
    for (size_t i = 0; (cloud = wr_cloud_at(i)); i++) {
        if (!page_has(page, cloud->title, cloud->name) || !strstr(page, cloud->base_url))
            fail_msg("docs/clouds.md has no row `| %s | %s |`, or not %s", cloud->title,
                     cloud->name, cloud->base_url);
        for (const struct wr_cloud_path *p = cloud->paths; p && p->pattern; p++)
            if (!strstr(page, p->pattern))
                fail_msg("docs/clouds.md does not have %s", p->pattern);
    }
    for (size_t i = 0; (shape = wr_credential_shape_at(i)); i++)
        if (!strstr(page, *shape->begins ? shape->begins : shape->name))
            fail_msg("docs/clouds.md does not have %s", shape->shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_say_api_and_model),
                                       cmocka_unit_test(the_page_has_every_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
