#include "launch/own_settings.h"

#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

static const struct {
    const char *behaviour;
    enum wr_own_format format;
    const char *text;
    const char *found; /* upstreams, '/' and providers */
} cases[] = {
    {"claude's address", WR_OWN_CLAUDE, "{\"env\":{\"ANTHROPIC_BASE_URL\":\"https://a/x\"}}",
     "anthropic=https://a/x / redirected"},
    {"claude by a cloud, which its settings switch on", WR_OWN_CLAUDE,
     "{\"env\":{\"CLAUDE_CODE_USE_BEDROCK\":\"1\"}}", "/ refused"},
    {"claude by none", WR_OWN_CLAUDE, "{\"env\":{\"CLAUDE_CODE_USE_BEDROCK\":\"0\"}}", "/"},
    {"claude without one", WR_OWN_CLAUDE, "{\"env\":{\"A\":\"https://a\"},\"model\":\"x\"}", "/"},
    {"an address of another kind", WR_OWN_CLAUDE, "{\"env\":{\"ANTHROPIC_BASE_URL\":\"unix:/s\"}}",
     "/"},
    {"an address that no server would take", WR_OWN_PI,
     "{\"providers\":{\"a\":{\"baseUrl\":\"http://h/?v=1\"},\"b\":{\"baseUrl\":\"http:///x\"},"
     "\"c\":{\"baseUrl\":\"http://{env:H}/\"},\"d\":{\"baseUrl\":\"http://a b\"},"
     "\"e\":{\"baseUrl\":\"http://u:p@h\"},\"f\":{\"baseUrl\":\"http://h\\u0000\"}}}",
     "/"},
    {"opencode's providers, with comments and a comma too many", WR_OWN_OPENCODE,
     "// mine\n{\"provider\": { /* two */ \"a-1\": {\"options\": {\"baseURL\": \"http://a//x\",}},"
     "\"b\": {\"npm\": \"x\"}, \"c d\": {\"options\": {\"baseURL\": \"http://c\"}},},}",
     "a-1=http://a//x / a-1=http://a//x"},
    {"a comment's marks in a text are text", WR_OWN_OPENCODE,
     "{\"provider\":{\"a\":{\"options\":{\"x\":\"\\\"/*\",\"baseURL\":\"http://a\"}}}}",
     "a=http://a / a=http://a"},
    {"pi's providers", WR_OWN_PI, "{\"providers\":{\"openai\":{\"baseUrl\":\"http://o/v1\"}}}",
     "openai=http://o/v1 / openai=http://o/v1"},
    {"what is no JSON", WR_OWN_PI, "{\"providers\":", "/"},
    {"nothing", WR_OWN_PI, "", "/"},
    {"a comment without an end", WR_OWN_OPENCODE, "{/*", "/"},
    {"a string without an end", WR_OWN_OPENCODE, "{\"a\\", "/"},
    {"codex's address and providers", WR_OWN_CODEX,
     "model = \"m\" # x\nopenai_base_url = 'http://o' # x\n[model_providers.azure]\nname = \"a\"\n"
     "base_url = \"https://z/v1\"\n[model_providers.\"q\"]\nbase_url=\"http://q\"\n"
     "[profiles.p]\nbase_url = \"http://no\"\nopenai_base_url = \"http://no\"\n",
     "openai=http://o azure=https://z/v1 q=http://q / azure=https://z/v1 q=http://q"},
    {"codex's providers by keys", WR_OWN_CODEX,
     "model_providers.a.base_url = \"http://a\"\n[model_providers]\n'b'.base_url = 'http://b'\n"
     "[other]\nmodel_providers.c.base_url = \"http://no\"\n",
     "a=http://a b=http://b / a=http://a b=http://b"},
    {"recall by a section", WR_OWN_CODEX, "[mcp_servers.weir]\ncommand = \"weir\"\n", "/ recall"},
    {"recall by a section below it", WR_OWN_CODEX, "[mcp_servers.\"weir\".env]\n", "/ recall"},
    {"recall by a key", WR_OWN_CODEX, "mcp_servers.weir = {command = \"weir\"}\n", "/ recall"},
    {"recall by both", WR_OWN_CODEX, "[mcp_servers]\nweir.command = \"weir\"\n", "/ recall"},
    {"another MCP server", WR_OWN_CODEX, "[mcp_servers.weird]\n[x.mcp_servers.weir]\n", "/"},
    {"codex's file, broken", WR_OWN_CODEX, "[model_providers.x\nbase_url = \"http://x\n=\n[", "/"},
};

static void write_list(struct wr_buf *out, const struct wr_provider *list, size_t count,
                       const char *before)
{
    for (size_t i = 0; i < count; i++)
        wr_buf_printf(out, "%s%s=%s%s", before, list[i].name, list[i].url, *before ? "" : " ");
}

static void write_own(struct wr_buf *out, const struct wr_own *own)
{
    wr_buf_init(out, 64 * 1024);
    write_list(out, own->upstreams, own->upstreams_count, "");
    wr_buf_byte(out, '/');
    write_list(out, own->providers, own->providers_count, " ");
    wr_buf_text(out, own->is_redirected ? " redirected" : "");
    wr_buf_text(out, own->has_recall ? " recall" : "");
    wr_buf_text(out, own->refusal ? " refused" : "");
    wr_buf_byte(out, '\0');
}

static void files_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_own own = {.upstreams_count = 0};
        struct wr_arena arena;
        struct wr_buf out;

        wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
        if (cases[i].format == WR_OWN_CODEX)
            wr_own_read_codex(&own, &arena, wr_span_of(cases[i].text));
        else
            wr_own_read_json(&own, &arena, cases[i].format, wr_span_of(cases[i].text));
        write_own(&out, &own);
        if (strcmp(out.bytes, cases[i].found))
            fail_msg("%s: '%s', wanted '%s'", cases[i].behaviour, out.bytes, cases[i].found);
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

static void variables_are_read(void **state)
{
    char *environment[] = {"OPENAI_API_BASE=http://old",
                           "OPENAI_BASE_URL=http://o/v1",
                           "ANTHROPIC_BASE_URL=",
                           "GOOGLE_GEMINI_BASE_URL=https://g",
                           "HOME=/nowhere",
                           NULL};
    struct wr_own own;
    struct wr_arena arena;
    struct wr_buf out;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_own_read(&own, &arena, wr_agent_find("pi"), environment, "/nowhere/at/all");
    write_own(&out, &own);
    assert_string_equal(out.bytes, "openai=http://o/v1 gemini=https://g /");
    wr_buf_release(&out);
    wr_arena_release(&arena);
}

/* A cloud that the user has switched on is asked in the user's region, or at his own address. */
static void clouds_are_found_by_their_region(void **state)
{
    static const struct {
        const char *agent;
        char *environment[4];
        const char *found;
    } rows[] = {
        {"claude", {"AWS_REGION=eu-west-1"}, "/"},
        {"claude", {"CLAUDE_CODE_USE_BEDROCK=0", "AWS_REGION=eu-west-1"}, "/"},
        {"claude",
         {"CLAUDE_CODE_USE_BEDROCK=1"},
         "bedrock=https://bedrock-runtime.us-east-1.amazonaws.com /"},
        {"claude",
         {"CLAUDE_CODE_USE_BEDROCK=1", "AWS_DEFAULT_REGION=a", "AWS_REGION=eu-west-1"},
         "bedrock=https://bedrock-runtime.eu-west-1.amazonaws.com /"},
        {"claude",
         {"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BEDROCK_BASE_URL=http://mine/x"},
         "bedrock=http://mine/x /"},
        {"claude", {"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=evil.example/"}, "/"},
        {"claude",
         {"CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=us-east5"},
         "vertex=https://us-east5-aiplatform.googleapis.com/v1 /"},
        {"claude",
         {"CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=eu"},
         "vertex=https://aiplatform.eu.rep.googleapis.com/v1 /"},
        {"claude",
         {"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_RESOURCE=ours"},
         "azure=https://ours.services.ai.azure.com /"},
        {"claude", {"CLAUDE_CODE_USE_FOUNDRY=1"}, "/"},
        {"gemini",
         {"GOOGLE_GENAI_USE_VERTEXAI=true"},
         "vertex=https://aiplatform.googleapis.com/v1 /"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_own own;
        struct wr_arena arena;
        struct wr_buf out;
        wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
        wr_own_read(&own, &arena, wr_agent_find(rows[i].agent),
                    (char **)(uintptr_t)rows[i].environment, "/nowhere/at/all");
        write_own(&out, &own);
        assert_string_equal(out.bytes, rows[i].found);
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

static void write_file(const struct wr_test_dir *dir, const char *name, const char *text)
{
    char path[2 * WR_TEST_PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct wr_test_dir make_folder(const struct wr_test_dir *above, const char *name)
{
    struct wr_test_dir dir;
    (void)snprintf(dir.path, sizeof(dir.path), "%.400s/%.100s", above->path, name);
    assert_int_equal(mkdir(dir.path, 0700), 0);
    return dir;
}

static void assert_own(const struct wr_test_dir *dir, const char *agent, const char *found)
{
    char home[2 * WR_TEST_PATH_BYTES];
    char *environment[] = {home, NULL};
    struct wr_arena arena;
    struct wr_own own;
    struct wr_buf out;

    (void)snprintf(home, sizeof(home), "HOME=%s/no-home", dir->path);
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_own_read(&own, &arena, wr_agent_find(agent), environment, dir->path);
    write_own(&out, &own);
    assert_string_equal(out.bytes, found);
    wr_buf_release(&out);
    wr_arena_release(&arena);
}

/* Where a project says otherwise than what is around it, the project counts. */
static void nearest_counts(void **state)
{
    struct wr_test_dir dir = wr_test_dir_fast(), above = make_folder(&dir, "a b"),
                       here = make_folder(&above, "c"), claude = make_folder(&here, ".claude");
    (void)state;
    write_file(&above, "opencode.json",
               "{\"provider\":{\"x\":{\"options\":{\"baseURL\":\"http://above\"}}}}");
    write_file(&here, "opencode.json",
               "{\"provider\":{\"x\":{\"options\":{\"baseURL\":\"http://here\"}}}}");
    assert_own(&here, "opencode", "x=http://here / x=http://here");
    write_file(&claude, "settings.json", "{\"env\":{\"ANTHROPIC_BASE_URL\":\"http://project\"}}");
    assert_own(&here, "claude", "anthropic=http://project / redirected");
    write_file(&claude, "settings.local.json",
               "{\"env\":{\"ANTHROPIC_BASE_URL\":\"http://mine\"}}");
    assert_own(&here, "claude", "anthropic=http://mine / redirected");
    wr_test_dir_remove(&claude);
    wr_test_dir_remove(&here);
    wr_test_dir_remove(&above);
    wr_test_dir_remove(&dir);
}

/* ---- copies led through Weir ---- */

static const struct {
    const char *behaviour_of_own_copies;
    enum wr_own_format format;
    const char *text;
    const char *copy; /* R stands for the server's root; "": there is none */
    const char *upstreams;
} cases_of_own_copies[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases_of_own_copies); i++) {
        struct wr_own own = {.upstreams_count = 0};
        struct wr_arena arena;
        struct wr_buf copy, upstreams;
        wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
        wr_own_copy(&own, &arena, cases_of_own_copies[i].format,
                    wr_span_of(cases_of_own_copies[i].text));
        write_found(&copy, &upstreams, &own);
        if (strcmp(copy.bytes, cases_of_own_copies[i].copy) ||
            strcmp(upstreams.bytes, cases_of_own_copies[i].upstreams))
            fail_msg("%s:\n%s\n%s\nwanted:\n%s\n%s", cases_of_own_copies[i].behaviour_of_own_copies,
                     copy.bytes, upstreams.bytes, cases_of_own_copies[i].copy,
                     cases_of_own_copies[i].upstreams);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(nearest_counts),
        cmocka_unit_test(clouds_are_found_by_their_region),
        cmocka_unit_test(variables_are_read),
        cmocka_unit_test(addresses_lead_through_weir),
        cmocka_unit_test(too_many_are_no_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
