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
#define MCP_SERVER(more)                               \
    "\"mcpServers\":{\"weir\":{\"command\":\"/bin/we " \
    "ir\",\"args\":[\"mcp\",\"--store\",\"/s\\\"1\"]"  \
    ",\"env\":{}" more "}}"
#define MCP_JSON   "{" MCP_SERVER(",\"alwaysLoad\":true") "}\n"
#define SEARCH     "ENABLE_TOOL_SEARCH=true\n"
#define TOOL_WORDS "--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n"
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
     "codex\n-c\nopenai_base_url=\"" ROOT "/v1\"\nexec\n-m\nx\n"},
    {"codex that goes on with a session has a recall server",
     {"codex", "exec", "resume", "--last"},
     {0},
     {0},
     false,
     "codex\n-c\nopenai_base_url=\"" ROOT "/v1\"\n-c\nmcp_servers.weir.command=\"/bin/we ir\"\n"
     "-c\nmcp_servers.weir.args=[\"mcp\",\"--store\",\"/s\\\"1\"]\nexec\nresume\n--last\n"
     "has recall\n"},
    {"codex's own providers are redirected by name, its MCP process is given the token",
     {"/opt/codex", "resume"},
     {"WEIR_TOKEN=0123456789abcdef"},
     {"azure", "https://a"},
     false,
     "/opt/codex\n-c\nopenai_base_url=\"" ROOT "/v1\"\n-c\nmodel_providers.azure.base_url=\"" ROOT
     "/p/azure\"\n-c\nmcp_servers.weir.command=\"/bin/we ir\"\n"
     "-c\nmcp_servers.weir.args=[\"mcp\",\"--store\",\"/s\\\"1\"]\n"
     "-c\nmcp_servers.weir.env_vars=[\"WEIR_TOKEN\"]\nresume\nhas recall\n"},
    {"claude is told by a variable and a file",
     {"claude", "-p", "hi"},
     {0},
     {0},
     false,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n-p\nhi\n"
     "ANTHROPIC_BASE_URL=" ROOT "\n" SEARCH "mcp.json: " MCP_JSON "has recall\n"},
    {"claude's settings would go before the variable: they are told too",
     {"claude"},
     {0},
     {0},
     true,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n"
     "--settings={\"env\":{\"ANTHROPIC_BASE_URL\":\"" ROOT "\"}}\n"
     "ANTHROPIC_BASE_URL=" ROOT "\n" SEARCH "mcp.json: " MCP_JSON "has recall\n"},
    {"but not over settings of the call",
     {"claude", "--settings=x.json"},
     {0},
     {0},
     true,
     "claude\n--mcp-config=/d/mcp.json\n--allowedTools=mcp__weir__weir_recall\n--settings=x.json\n"
     "ANTHROPIC_BASE_URL=" ROOT "\n" SEARCH "mcp.json: " MCP_JSON "has recall\n"},
    {"a command of claude's keeps its place",
     {"claude", "mcp", "list"},
     {0},
     {0},
     false,
     "claude\nmcp\nlist\nANTHROPIC_BASE_URL=" ROOT "\n" SEARCH "mcp.json: " MCP_JSON
     "has recall\n"},
    {"claude's tool search is the user's where he has said something",
     {"claude"},
     {"ENABLE_TOOL_SEARCH=false"},
     {0},
     false,
     "claude\n" TOOL_WORDS "ANTHROPIC_BASE_URL=" ROOT "\nmcp.json: " MCP_JSON "has recall\n"},
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
     "qwen.json: {" MCP_SERVER(",\"alwaysLoadTools\":true") "}\nhas recall\n"},
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
    {"goose has words behind a command of its own that takes them",
     {"goose", "run", "-t", "hi"},
     {0},
     {0},
     false,
     "goose\nrun\n--with-extension\n/bin/we ir mcp --store /s\"1\n-t\nhi\nOPENAI_HOST=" ROOT
     "\nANTHROPIC_HOST=" ROOT "\nhas recall\n"},
    {"and none behind another; a host of the user's is asked by its own name",
     {"goose", "info"},
     {"OPENAI_HOST=http://mine"},
     {0},
     false,
     "goose\ninfo\nOPENAI_HOST=" ROOT "/p/goose-openai\nANTHROPIC_HOST=" ROOT "\n"},
    {"copilot's own models are asked by Weir",
     {"copilot"},
     {0},
     {0},
     false,
     "copilot\nCOPILOT_API_URL=" ROOT "/p/copilot\n"},
    {"and so is a provider of the user's",
     {"copilot"},
     {"COPILOT_PROVIDER_BASE_URL=https://a/v1"},
     {0},
     false,
     "copilot\nCOPILOT_API_URL=" ROOT "/p/copilot\nCOPILOT_PROVIDER_BASE_URL=" ROOT
     "/p/copilot-provider\n"},
    {"a copy of droid's settings goes into the run's folder",
     {"droid", "exec", "hi"},
     {0},
     {0},
     true,
     "droid\n--settings\n/d/droid.json\nexec\nhi\nFACTORY_API_BASE_URL=" ROOT
     "/p/factory\ndroid.json: {\"a\":\"" ROOT "/p/x\"}\n"},
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
        static const struct wr_own_piece pieces[] = {{{"{\"a\":\"", 6}, "/p/x"},
                                                     {{"\"}\n", 3}, NULL}};
        struct wr_buf out;
        launch.pieces = pieces;
        launch.pieces_count = WR_COUNT_OF(pieces);
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

/* Tool search needs a server that knows it: of an address of the user's own nobody knows that. */
static void tool_search_is_for_anthropic_alone(void **state)
{
    static const struct wr_provider own[] = {{"openai", "http://o"}, {"anthropic", "http://a"}};
    char *claude[] = {"claude", NULL};
    struct wr_launch launch = {.root = ROOT, .weir = "/w", .store = "/s", .dir = "/d"};
    struct wr_buf out;
    (void)state;
    launch.upstreams = own;
    for (size_t count = 1; count <= 2; count++) {
        launch.upstreams_count = count;
        make(&out, &launch, claude);
        assert_int_equal(strstr(out.bytes, "ENABLE_TOOL_SEARCH") != NULL, count == 1);
        wr_buf_release(&out);
    }
}

/* Claude Code knows which clouds take tool search, and gets their addresses only with them. */
static void clouds_get_the_address_of_the_server(void **state)
{
    static const struct {
        const char *program, *variable, *given;
    } rows[] = {
        {"claude", "CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BEDROCK_BASE_URL=" ROOT},
        {"claude", "CLAUDE_CODE_USE_VERTEX=1", "ANTHROPIC_VERTEX_BASE_URL=" ROOT "/v1"},
        {"claude", "CLAUDE_CODE_USE_FOUNDRY=1",
         "ANTHROPIC_FOUNDRY_BASE_URL=" ROOT "/p/azure/anthropic"},
        {"gemini", "GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_VERTEX_BASE_URL=" ROOT},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char *words[] = {(char *)(uintptr_t)rows[i].program, NULL};
        char *environment[] = {(char *)(uintptr_t)rows[i].variable, NULL};
        struct wr_launch launch = {.root = ROOT, .weir = "/w", .store = "/s", .dir = "/d"};
        for (size_t is_set = 0; is_set < 2; is_set++) {
            struct wr_buf out;
            launch.environment = is_set ? environment : NULL;
            make(&out, &launch, words);
            assert_int_equal(strstr(out.bytes, rows[i].given) != NULL, is_set);
            if (is_set)
                assert_null(strstr(out.bytes, "ENABLE_TOOL_SEARCH"));
            wr_buf_release(&out);
        }
    }
}

static void programs_are_found_by_their_names(void **state)
{
    static const char *const names[][2] = {
        {"/usr/bin/python3.12", "python"},
        {"node", "python"},
        {"kilocode", "kilo"},
        {"./kilo", "kilo"},
        {"python2", "any other program"},
        {"pythons", "any other program"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        assert_string_equal(wr_agent_find(names[i][0])->name, names[i][1]);
}

static void what_leads_elsewhere_is_known(void **state)
{
    static const struct {
        const char *agent;
        char *environment[3];
        bool is_detour;
    } rows[] = {
        {"claude", {0}, false},
        {"claude", {"CLAUDE_CODE_USE_BEDROCK=1"}, true},
        {"claude", {"CLAUDE_CODE_USE_BEDROCK=0"}, false},
        {"claude", {"CLAUDE_CODE_USE_BEDROCK=1", "AWS_BEARER_TOKEN_BEDROCK=k"}, false},
        {"claude", {"CLAUDE_CODE_USE_VERTEX=1"}, false},
        {"copilot", {"COPILOT_PROVIDER_TYPE=anthropic"}, false},
        {"copilot", {"COPILOT_PROVIDER_TYPE=azure"}, true},
        {"copilot", {"GH_HOST=a.ghe.com"}, true},
        {"copilot", {"GH_HOST=a.ghe.com", "COPILOT_API_URL=https://a"}, false},
        {"goose", {"GOOSE_PROVIDER=anthropic"}, false},
        {"goose", {"GOOSE_PROVIDER=ollama"}, true},
        {"codex", {"GH_HOST=a.ghe.com"}, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        const char *why =
            wr_agent_detour(wr_agent_find(rows[i].agent), (char **)(uintptr_t)rows[i].environment);
        if ((why != NULL) != rows[i].is_detour)
            fail_msg("%s, %s", rows[i].agent, rows[i].environment[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_reach_each_agent),
                                       cmocka_unit_test(pi_has_an_extension),
                                       cmocka_unit_test(a_token_reaches_the_mcp_process),
                                       cmocka_unit_test(one_upstream_has_no_names),
                                       cmocka_unit_test(every_text_is_complete),
                                       cmocka_unit_test(tool_search_is_for_anthropic_alone),
                                       cmocka_unit_test(clouds_get_the_address_of_the_server),
                                       cmocka_unit_test(programs_are_found_by_their_names),
                                       cmocka_unit_test(what_leads_elsewhere_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
