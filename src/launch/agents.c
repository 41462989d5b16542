/* The agents that Weir knows, as a table: a row says what a program must be given so that it asks
 * our server. plan.c makes variables, words and files of a row; this file has hardly any other
 * code.
 *
 * No row writes into the user's own settings. Where a row looks odd the agent is odd, and a
 * comment beside it says how. The last row is for every program that is not known.
 */
#include "launch/agents.h"

#include "base/span.h"
#include "launch/pi_extension.h"

#define MCP_COMMAND "<\"weir\">,\"mcp\",\"--store\",<\"store\">"
#define MCP_ARGS    "[\"mcp\",\"--store\",<\"store\">]"
#define MCP_SERVER \
    "\"mcpServers\":{\"weir\":{\"command\":<\"weir\">,\"args\":" MCP_ARGS ",\"env\":<mcp_env>}}"
#define MCP_SERVERS "{" MCP_SERVER "}\n"
/* Where qwen can search for tools it offers those of MCP servers only once they were found, and a
 * tool that a request does not offer is no way back. */
#define QWEN_DEFAULTS "{" MCP_SERVER ",\"tools\":{\"exclude\":[\"tool_search\"]}}\n"
#define OPENCODE_CONFIG                                                                      \
    "{\"mcp\":{\"weir\":{\"type\":\"local\",\"command\":[" MCP_COMMAND "],\"enabled\":true," \
    "\"environment\":<mcp_env>}},\"provider\":{<opencode_providers>}}\n"

#define ENV(variable, value)   .kind = WR_SET_ENV, .name = variable, .text = value
#define FILE_OF(file, content) .kind = WR_SET_FILE, .name = file, .text = content
#define WORDS(words)           .kind = WR_SET_WORDS, .text = words

static const char *const claude_commands[] = {
    "mcp", "update", "doctor", "install", "setup-token", "plugin", "config", "auth", NULL};
static const char *const pi_commands[] = {"install", "remove", "uninstall", "update",
                                          "list",    "config", NULL};

static const struct wr_agent agents[] = {
    {
        .name = "codex",
        .what = "the Responses API, with an API key or a ChatGPT login; recall by MCP",
        .by_hand = "codex -c openai_base_url='\"<v1>\"'",
        .settings =
            {
                {WORDS("-c\nopenai_base_url=<\"v1\">")},
                {WORDS("-c\nmodel_providers.<name>.base_url=<\"url\">"), .is_for_each = true},
                {WORDS("-c\nmcp_servers.weir.command=<\"weir\">")},
                {WORDS("-c\nmcp_servers.weir.args=" MCP_ARGS), .is_recall = true},
                {WORDS("-c\nmcp_servers.weir.env_vars=[\"WEIR_TOKEN\"]"), .if_env = "WEIR_TOKEN"},
            },
        .own = WR_OWN_CODEX,
    },
    {
        .name = "claude",
        .what = "the Messages API; recall by MCP",
        .by_hand = "ANTHROPIC_BASE_URL=<root> claude",
        .settings =
            {
                {ENV("ANTHROPIC_BASE_URL", "<root>")},
                {FILE_OF("mcp.json", MCP_SERVERS)},
                /* With '=': the option takes every word that follows it. */
                {WORDS("--mcp-config=<dir>/mcp.json"), .is_recall = true},
                {WORDS("--allowedTools=mcp__weir__weir_recall")},
                {WORDS("--settings={\"env\":{\"ANTHROPIC_BASE_URL\":<\"root\">}}"),
                 .name = "--settings", .if_redirected = true},
            },
        .commands = claude_commands,
        .own = WR_OWN_CLAUDE,
    },
    {
        .name = "opencode",
        .what = "OpenAI, Anthropic and the providers of its configuration; recall by MCP",
        .by_hand = "OPENAI_BASE_URL=<v1> ANTHROPIC_BASE_URL=<v1> opencode",
        .settings =
            {
                /* Its SDKs want /v1 for both. */
                {ENV("OPENAI_BASE_URL", "<v1>")},
                {ENV("ANTHROPIC_BASE_URL", "<v1>")},
                {ENV("OPENCODE_CONFIG_CONTENT", OPENCODE_CONFIG),
                 .unless_env = "OPENCODE_CONFIG_CONTENT", .is_recall = true},
                /* Where the user has that one, the file that is read before it. */
                {FILE_OF("opencode.json", OPENCODE_CONFIG), .if_env = "OPENCODE_CONFIG_CONTENT",
                 .unless_env = "OPENCODE_CONFIG"},
                {ENV("OPENCODE_CONFIG", "<dir>/opencode.json"), .if_env = "OPENCODE_CONFIG_CONTENT",
                 .unless_env = "OPENCODE_CONFIG", .is_recall = true},
            },
        .own = WR_OWN_OPENCODE,
    },
    {
        .name = "gemini",
        .what = "Gemini, with an API key or a login of Google's; recall if you add it",
        .by_hand = "GOOGLE_GEMINI_BASE_URL=<gemini> CODE_ASSIST_ENDPOINT=<root> gemini",
        .upstream = "gemini",
        .settings =
            {
                {ENV("GOOGLE_GEMINI_BASE_URL", "<gemini>")},
                {ENV("CODE_ASSIST_ENDPOINT", "<root>")},
            },
    },
    {
        .name = "pi",
        .what = "OpenAI, Anthropic, ChatGPT and the providers of models.json; recall by extension",
        .by_hand = "{\"providers\":{\"openai\":{\"baseUrl\":\"<v1>\"}}} in models.json",
        .settings =
            {
                {FILE_OF("weir.ts", WR_PI_EXTENSION)},
                {WORDS("-e\n<dir>/weir.ts"), .is_recall = true},
            },
        .providers = {{"openai", "/v1"}, {"anthropic", ""}, {"openai-codex", "/backend-api"}},
        .commands = pi_commands,
        .own = WR_OWN_PI,
    },
    {
        .name = "qwen",
        .what = "Chat Completions; recall by MCP",
        .by_hand = "OPENAI_BASE_URL=<v1> qwen",
        .settings =
            {
                {ENV("OPENAI_BASE_URL", "<v1>")},
                {FILE_OF("qwen.json", QWEN_DEFAULTS),
                 .unless_env = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"},
                {ENV("QWEN_CODE_SYSTEM_DEFAULTS_PATH", "<dir>/qwen.json"),
                 .unless_env = "QWEN_CODE_SYSTEM_DEFAULTS_PATH", .is_recall = true},
            },
    },
    {
        .name = "aider",
        .what = "Chat Completions and Messages; it has no tools, so little can be taken out",
        .by_hand = "OPENAI_API_BASE=<v1> ANTHROPIC_API_BASE=<root> aider",
        .settings =
            {
                {ENV("OPENAI_API_BASE", "<v1>")},
                /* It is read before the other one, which an option or a file of aider's may set. */
                {ENV("OPENAI_BASE_URL", "<v1>"), .if_env = "OPENAI_BASE_URL"},
                {ENV("ANTHROPIC_API_BASE", "<root>")},
            },
    },
    {
        .name = "any other program",
        .what = "what reads the usual variables; recall is not registered",
        .by_hand = "OPENAI_BASE_URL=<v1> ANTHROPIC_BASE_URL=<root> PROGRAM",
        .settings =
            {
                {ENV("OPENAI_BASE_URL", "<v1>")},
                {ENV("OPENAI_API_BASE", "<v1>")},
                {ENV("ANTHROPIC_BASE_URL", "<root>")},
                {ENV("ANTHROPIC_API_BASE", "<root>")},
                {ENV("WEIR_MCP_URL", "<mcp>")},
            },
    },
};

enum { AGENTS_COUNT = WR_COUNT_OF(agents) };

const struct wr_agent *wr_agent_at(size_t index)
{
    return index < AGENTS_COUNT ? &agents[index] : NULL;
}

bool wr_agent_is_known(const struct wr_agent *agent)
{
    return agent != &agents[AGENTS_COUNT - 1];
}

const struct wr_agent *wr_agent_find(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;

    for (size_t i = 0; i + 1 < AGENTS_COUNT; i++)
        if (!strcmp(agents[i].name, name))
            return &agents[i];
    return &agents[AGENTS_COUNT - 1];
}
