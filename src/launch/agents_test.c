#include "launch/agents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

/* Words, variables and files of a plan, a line each. */
static void write_plan(struct wr_buf *out, const struct wr_plan *plan)
{
    for (char **at = plan->argv; *at; at++)
        wr_buf_printf(out, "%s\n", *at);
    for (size_t i = 0; i < plan->env_count; i++)
        wr_buf_printf(out, "%s=%s\n", plan->env[i].name, plan->env[i].value);
    for (size_t i = 0; i < plan->files_count; i++)
        wr_buf_printf(out, "%s: %.*s", plan->files[i].name, (int)plan->files[i].text.len,
                      plan->files[i].text.ptr);
    if (plan->has_recall)
        wr_buf_text(out, "has recall\n");
    wr_buf_byte(out, '\0');
}

static void make(struct wr_buf *out, struct wr_launch *launch, char **argv)
{
    struct wr_arena arena;
    struct wr_plan plan;

    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    wr_buf_init(out, WR_LAUNCH_MEMORY_BYTES_MAX);
    assert_int_equal(wr_plan_make(&plan, &arena, wr_agent_find(argv[0]), launch, argv), WEIR_OK);
    write_plan(out, &plan);
    wr_arena_release(&arena);
}

#define ROOT "http://127.0.0.1:9/r/0123456789abcdef"
#define MCP_SERVER                                     \
    "\"mcpServers\":{\"weir\":{\"command\":\"/bin/we " \
    "ir\",\"args\":[\"mcp\",\"--store\",\"/s\\\"1\"]"  \
    ",\"env\":{}}}"
#define MCP_JSON "{" MCP_SERVER "}\n"
#define OPENCODE_MCP                                                                          \
    "{\"mcp\":{\"weir\":{\"type\":\"local\",\"command\":[\"/bin/we ir\",\"mcp\",\"--store\"," \
    "\"/s\\\"1\"],\"enabled\":true,\"environment\":{}}},\"provider\":{"

static const struct {
    const char *behaviour;
    char *argv[6];
    char *environment[4];
    struct wr_provider provider;
    bool is_redirected;
    const char *plan;
} cases[] = {
    {"codex is told by words before the user's",
     {"codex", "exec", "-m", "x"},
     {0},
     {0},
     false,
     "codex\n-c\nopenai_base_url=\"" ROOT "/v1\"\n-c\nmcp_servers.weir.command=\"/bin/we ir\"\n"
     "-c\nmcp_servers.weir.args=[\"mcp\",\"--store\",\"/s\\\"1\"]\nexec\n-m\nx\nhas recall\n"},
    {"codex's own providers are redirected by name, its MCP process is given the token",
     {"/opt/codex"},
     {"WEIR_TOKEN=0123456789abcdef"},
     {"azure", "https://a"},
     false,
     "/opt/codex\n-c\nopenai_base_url=\"" ROOT "/v1\"\n-c\nmodel_providers.azure.base_url=\"" ROOT
     "/p/azure\"\n-c\nmcp_servers.weir.command=\"/bin/we ir\"\n"
     "-c\nmcp_servers.weir.args=[\"mcp\",\"--store\",\"/s\\\"1\"]\n"
     "-c\nmcp_servers.weir.env_vars=[\"WEIR_TOKEN\"]\nhas recall\n"},
    {"claude is told by a variable and a file",
     {"claude", "-p", "hi"},
     {0},
     {0},
     false,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n-p\nhi\n"
     "ANTHROPIC_BASE_URL=" ROOT "\nmcp.json: " MCP_JSON "has recall\n"},
    {"claude's settings would go before the variable: they are told too",
     {"claude"},
     {0},
     {0},
     true,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n"
     "--settings={\"env\":{\"ANTHROPIC_BASE_URL\":\"" ROOT "\"}}\n"
     "ANTHROPIC_BASE_URL=" ROOT "\nmcp.json: " MCP_JSON "has recall\n"},
    {"but not over settings of the call",
     {"claude", "--settings=x.json"},
     {0},
     {0},
     true,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n--settings=x.json\n"
     "ANTHROPIC_BASE_URL=" ROOT "\nmcp.json: " MCP_JSON "has recall\n"},
    {"a command of claude's keeps its place",
     {"claude", "mcp", "list"},
     {0},
     {0},
     false,
     "claude\nmcp\nlist\nANTHROPIC_BASE_URL=" ROOT "\nmcp.json: " MCP_JSON "has recall\n"},
    {"opencode is told by variables",
     {"opencode", "run", "hi"},
     {0},
     {0},
     false,
     "opencode\nrun\nhi\nOPENAI_BASE_URL=" ROOT "/v1\nANTHROPIC_BASE_URL=" ROOT
     "/v1\nOPENCODE_CONFIG_CONTENT=" OPENCODE_MCP "}}\n\nhas recall\n"},
    {"the user's own content stays, ours is in a file; his provider is redirected",
     {"opencode"},
     {"OPENCODE_CONFIG_CONTENT={}"},
     {"mine", "http://m"},
     false,
     "opencode\nOPENAI_BASE_URL=" ROOT "/v1\nANTHROPIC_BASE_URL=" ROOT
     "/v1\nOPENCODE_CONFIG=/d/opencode.json\nopencode.json: " OPENCODE_MCP
     "\"mine\":{\"options\":{\"baseURL\":\"" ROOT "/p/mine\"}}}}\nhas recall\n"},
    {"where both places are the user's there is no recall",
     {"opencode"},
     {"OPENCODE_CONFIG_CONTENT={}", "OPENCODE_CONFIG=/c"},
     {0},
     false,
     "opencode\nOPENAI_BASE_URL=" ROOT "/v1\nANTHROPIC_BASE_URL=" ROOT "/v1\n"},
    {"gemini has variables for both its logins",
     {"gemini"},
     {0},
     {0},
     false,
     "gemini\nGOOGLE_GEMINI_BASE_URL=" ROOT "/gemini\nCODE_ASSIST_ENDPOINT=" ROOT "\n"},
    {"qwen has a variable and defaults",
     {"qwen"},
     {0},
     {0},
     false,
     "qwen\nOPENAI_BASE_URL=" ROOT "/v1\nQWEN_CODE_SYSTEM_DEFAULTS_PATH=/d/qwen.json\n"
     "qwen.json: {" MCP_SERVER ",\"tools\":{\"exclude\":[\"tool_search\"]}}\nhas recall\n"},
    {"qwen with defaults of its own keeps them",
     {"qwen"},
     {"QWEN_CODE_SYSTEM_DEFAULTS_PATH=/etc/q"},
     {0},
     false,
     "qwen\nOPENAI_BASE_URL=" ROOT "/v1\n"},
    {"aider has variables of its own",
     {"aider"},
     {0},
     {0},
     false,
     "aider\nOPENAI_API_BASE=" ROOT "/v1\nANTHROPIC_API_BASE=" ROOT "\n"},
    {"aider reads another variable first, where the user has set it",
     {"aider"},
     {"OPENAI_BASE_URL=http://mine/v1"},
     {0},
     false,
     "aider\nOPENAI_API_BASE=" ROOT "/v1\nOPENAI_BASE_URL=" ROOT "/v1\nANTHROPIC_API_BASE=" ROOT
     "\n"},
    {"any other program has the usual ones",
     {"./codex.sh", "x"},
     {0},
     {0},
     false,
     "./codex.sh\nx\nOPENAI_BASE_URL=" ROOT "/v1\nOPENAI_API_BASE=" ROOT
     "/v1\nANTHROPIC_BASE_URL=" ROOT "\nANTHROPIC_API_BASE=" ROOT "\nWEIR_MCP_URL=" ROOT "/mcp\n"},
};

static void settings_reach_each_agent(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_launch launch = {.root = ROOT,
                                   .weir = "/bin/we ir",
                                   .store = "/s\"1",
                                   .dir = "/d",
                                   .environment = (char **)(uintptr_t)cases[i].environment,
                                   .is_redirected = cases[i].is_redirected,
                                   .providers = {cases[i].provider},
                                   .providers_count = cases[i].provider.name ? 1 : 0};
        struct wr_buf out;
        make(&out, &launch, (char **)(uintptr_t)cases[i].argv);
        if (strcmp(out.bytes, cases[i].plan))
            fail_msg("%s:\n%s\nwanted:\n%s", cases[i].behaviour, out.bytes, cases[i].plan);
        wr_buf_release(&out);
    }
}

static void pi_has_an_extension(void **state)
{
    char *argv[] = {"pi", "-p", "hi", NULL}, *command[] = {"pi", "install", "x", NULL};
    struct wr_launch launch = {.root = ROOT,
                               .weir = "/w",
                               .store = "/s",
                               .dir = "/d",
                               .providers = {{"openai", "http://o"}, {"mine", "http://m"}},
                               .providers_count = 2};
    struct wr_buf out;
    (void)state;
    make(&out, &launch, argv);
    assert_non_null(strstr(out.bytes, "pi\n-e\n/d/weir.ts\n-p\nhi\n"));
    assert_non_null(strstr(out.bytes, "of [[\"openai\",\"" ROOT "/p/openai\"],[\"mine\",\"" ROOT
                                      "/p/mine\"],[\"anthropic\",\"" ROOT
                                      "\"],[\"openai-codex\",\"" ROOT "/backend-api\"]])"));
    assert_non_null(strstr(out.bytes, "spawn(\"/w\", [\"mcp\", \"--store\", \"/s\"]"));
    assert_null(strstr(out.bytes, "<providers>"));
    wr_buf_release(&out);
    make(&out, &launch, command);
    assert_true(wr_span_starts(wr_span_of(out.bytes), WR_LIT("pi\ninstall\nx\n")));
    wr_buf_release(&out);
}

/* The token is in files that only the user reads, and in the environment; in no word but codex's
 * address. */
static void a_token_reaches_the_mcp_process(void **state)
{
    char *claude[] = {"claude", NULL};
    struct wr_launch launch = {
        .root = ROOT, .weir = "/w", .store = "/s", .dir = "/d", .token = "secret-of-sixteen"};
    struct wr_buf out;
    (void)state;
    make(&out, &launch, claude);
    assert_non_null(strstr(out.bytes, "\"env\":{\"WEIR_TOKEN\":\"secret-of-sixteen\"}"));
    assert_non_null(strstr(out.bytes, "\nWEIR_TOKEN=secret-of-sixteen\n"));
    wr_buf_release(&out);
}

static void one_upstream_has_no_names(void **state)
{
    char *gemini[] = {"gemini", NULL};
    struct wr_launch launch = {.root = ROOT, .has_one_upstream = true};
    struct wr_buf out;
    (void)state;
    make(&out, &launch, gemini);
    assert_string_equal(out.bytes,
                        "gemini\nGOOGLE_GEMINI_BASE_URL=" ROOT "\nCODE_ASSIST_ENDPOINT=" ROOT "\n");
    wr_buf_release(&out);
}

/* What a text names must be there: a name that is not known would reach the agent as it is. */
static void every_text_is_complete(void **state)
{
    struct wr_launch launch = {.root = "R", .weir = "W", .store = "S", .dir = "D"};
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    for (size_t i = 0; wr_agent_at(i); i++) {
        const struct wr_agent *agent = wr_agent_at(i);
        assert_non_null(agent->what);
        const char *how = wr_launch_text(&arena, &launch, agent, agent->by_hand);
        assert_null(strchr(how, '<'));
        for (size_t j = 0; agent->settings[j].text; j++) {
            const char *text = wr_launch_text(&arena, &launch, agent, agent->settings[j].text);
            if (strchr(text, '<') && !agent->settings[j].is_for_each)
                fail_msg("%s: %s", agent->name, text);
        }
    }
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_reach_each_agent), cmocka_unit_test(pi_has_an_extension),
        cmocka_unit_test(a_token_reaches_the_mcp_process),
        cmocka_unit_test(one_upstream_has_no_names), cmocka_unit_test(every_text_is_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
