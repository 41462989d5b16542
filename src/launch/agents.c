/* The agents that Weir knows, as a table: a row says what a program must be given so that it asks
 * our server, on which version of the real program that rests, and what leads past Weir. plan.c
 * makes variables, words and files of a row; this file has hardly any other code.
 *
 * No row writes into the user's own settings. Where a row looks odd the agent is odd, and a
 * comment beside it says how. A row without `tried` rests on what its makers write, and `weir run`
 * says so. The last row is for every program that is not known. tests/clients/agents_page.py plays
 * the real programs and writes docs/agents.md.
 */
#include "launch/agents.h"

#include "base/ascii.h"
#include "base/embed.h"
#include "base/span.h"
#include "base/words.h"

/* pi speaks no MCP, but its extensions may redirect providers and register tools: this one asks
 * `weir mcp` for its tools and hands the calls on, so that they are the same as everywhere. */
WR_EMBED(wr_pi_extension, "data/pi_extension.ts");

#define MCP_COMMAND "<\"weir\">,\"mcp\",\"--store\",<\"store\">"
#define MCP_ARGS    "[\"mcp\",\"--store\",<\"store\">]"
#define MCP_SERVER(more)                                                  \
    "\"mcpServers\":{\"weir\":{\"command\":<\"weir\">,\"args\":" MCP_ARGS \
    ",\"env\":<mcp_env>" more "}}"
/* Agents that let their model search for tools offer those of MCP servers only once they were
 * found, and a tool that a request does not offer is no way back: ours is always there. */
#define CLAUDE_SERVERS "{" MCP_SERVER(",\"alwaysLoad\":true") "}\n"
#define QWEN_DEFAULTS  "{" MCP_SERVER(",\"alwaysLoadTools\":true") "}\n"
#define OPENCODE_CONFIG                                                                      \
    "{\"mcp\":{\"weir\":{\"type\":\"local\",\"command\":[" MCP_COMMAND "],\"enabled\":true," \
    "\"environment\":<mcp_env>}},\"provider\":{<opencode_providers>}}\n"

#define ENV(variable, value)   .kind = WR_SET_ENV, .name = variable, .text = value
#define FILE_OF(file, content) .kind = WR_SET_FILE, .name = file, .text = content
#define WORDS(words)           .kind = WR_SET_WORDS, .text = words
/* A service of its maker; a cloud that a variable switches on. */
#define SERVICE(its_name, its_url, in) .name = its_name, .url = its_url, .variable = in
#define CLOUD(its_name, in, on, region) \
    .name = its_name, .variable = in, .if_env = on, .place = region

/* What codex is told to go on with a session that has begun. */
#define RESUMES "resume|fork"

/* A request is signed for the host that it is sent to. */
#define SIGNED                                                                             \
    "it asks a cloud that wants every request signed for the cloud's own address, unless " \
    "AWS_BEARER_TOKEN_BEDROCK has an API key"

/* What leads Claude Code to a cloud. */
#define CLAUDE_CLOUDS "CLAUDE_CODE_USE_BEDROCK|CLAUDE_CODE_USE_VERTEX|CLAUDE_CODE_USE_FOUNDRY"

static const char *const claude_commands[] = {
    "mcp", "update", "doctor", "install", "setup-token", "plugin", "config", "auth", NULL};
static const char *const pi_commands[] = {"install", "remove", "uninstall", "update",
                                          "list",    "config", NULL};
static const char *const droid_commands[] = {"daemon", "search",   "find",   "update", "mcp",
                                             "plugin", "computer", "doctor", "help",   NULL};

static const struct wr_agent agents[] = {
    {
        .name = "codex",
        .what = "the Responses API, with an API key or a ChatGPT login; recall by the proxy",
        .by_hand = "codex -c openai_base_url='\"<v1>\"'",
        .tried = "0.169.0",
        .settings =
            {
                {WORDS("-c\nopenai_base_url=<\"v1\">")},
                {WORDS("-c\nmodel_providers.<name>.base_url=<\"url\">"), .is_for_each = true},
                /* With an MCP server it adds three tools of its own beside ours: 700 tokens a
                 * request. The proxy's own recall has none of that, but is for sessions that begin
                 * with it. */
                {WORDS("-c\nmcp_servers.weir.command=<\"weir\">"), .if_word = RESUMES},
                {WORDS("-c\nmcp_servers.weir.args=" MCP_ARGS), .if_word = RESUMES,
                 .is_recall = true},
                {WORDS("-c\nmcp_servers.weir.env_vars=[\"WEIR_TOKEN\"]"), .if_word = RESUMES,
                 .if_env = "WEIR_TOKEN"},
            },
        .own = WR_OWN_CODEX,
    },
    {
        .name = "claude",
        .what = "the Messages API, also by Bedrock, Vertex or Foundry; recall by MCP",
        .by_hand = "ANTHROPIC_BASE_URL=<root> ENABLE_TOOL_SEARCH=true claude",
        .tried = "2.1.197",
        .services = {{CLOUD("bedrock", "ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_USE_BEDROCK",
                            "AWS_REGION|AWS_DEFAULT_REGION|us-east-1")},
                     {CLOUD("vertex", "ANTHROPIC_VERTEX_BASE_URL", "CLAUDE_CODE_USE_VERTEX",
                            "CLOUD_ML_REGION|us-east5")},
                     {SERVICE("azure", "https://NAME.services.ai.azure.com",
                              "ANTHROPIC_FOUNDRY_BASE_URL"),
                      .if_env = "CLAUDE_CODE_USE_FOUNDRY", .place = "ANTHROPIC_FOUNDRY_RESOURCE"}},
        .detours = {{"CLAUDE_CODE_USE_BEDROCK", NULL, "AWS_BEARER_TOKEN_BEDROCK", SIGNED}},
        .settings =
            {
                {ENV("ANTHROPIC_BASE_URL", "<root>")},
                {ENV("ANTHROPIC_BEDROCK_BASE_URL", "<root>"), .if_env = "CLAUDE_CODE_USE_BEDROCK"},
                {ENV("ANTHROPIC_VERTEX_BASE_URL", "<v1>"), .if_env = "CLAUDE_CODE_USE_VERTEX"},
                {ENV("ANTHROPIC_FOUNDRY_BASE_URL", "<root>/p/azure/anthropic"),
                 .if_env = "CLAUDE_CODE_USE_FOUNDRY"},
                /* It takes one of the two. */
                {ENV("ANTHROPIC_FOUNDRY_RESOURCE", ""), .if_env = "CLAUDE_CODE_USE_FOUNDRY"},
                /* At an address that is not Anthropic's it sends every tool's schema, unless it is
                 * told that the server behind it knows tool search: where the user has no other
                 * address that is Anthropic. Of clouds it knows itself. */
                {ENV("ENABLE_TOOL_SEARCH", "true"),
                 .unless_env = "ENABLE_TOOL_SEARCH|" CLAUDE_CLOUDS, .unless_upstream = "anthropic"},
                {FILE_OF("mcp.json", CLAUDE_SERVERS)},
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
        .tried = "1.18.33",
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
        .name = "kilo", /* a child of opencode, with a gateway of its own */
        .also = "kilocode",
        .what = "Kilo's gateway, OpenAI, Anthropic, the providers of kilo.json; recall by MCP",
        .by_hand = "OPENAI_BASE_URL=<v1> ANTHROPIC_BASE_URL=<v1> kilo",
        .tried = "7.7.7",
        .services = {{SERVICE("kilo", "https://api.kilo.ai", "KILO_API_URL")}},
        .settings =
            {
                {ENV("OPENAI_BASE_URL", "<v1>")},
                {ENV("ANTHROPIC_BASE_URL", "<v1>")},
                {ENV("KILO_API_URL", "<root>/p/kilo")},
                {ENV("KILO_CONFIG_CONTENT", OPENCODE_CONFIG), .unless_env = "KILO_CONFIG_CONTENT",
                 .is_recall = true},
                {FILE_OF("kilo.json", OPENCODE_CONFIG), .if_env = "KILO_CONFIG_CONTENT",
                 .unless_env = "KILO_CONFIG"},
                {ENV("KILO_CONFIG", "<dir>/kilo.json"), .if_env = "KILO_CONFIG_CONTENT",
                 .unless_env = "KILO_CONFIG", .is_recall = true},
            },
        .own = WR_OWN_KILO,
    },
    {
        .name = "gemini",
        .what = "Gemini, with an API key or a login of Google's, or Vertex; recall by the proxy",
        .by_hand = "GOOGLE_GEMINI_BASE_URL=<gemini> CODE_ASSIST_ENDPOINT=<root> gemini",
        .tried = "0.61.0",
        .upstream = "gemini",
        .services = {{CLOUD("vertex", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
                            "GOOGLE_CLOUD_LOCATION|global")}},
        .settings =
            {
                {ENV("GOOGLE_GEMINI_BASE_URL", "<gemini>")},
                {ENV("GOOGLE_VERTEX_BASE_URL", "<root>"), .if_env = "GOOGLE_GENAI_USE_VERTEXAI"},
                {ENV("CODE_ASSIST_ENDPOINT", "<root>")},
            },
    },
    {
        .name = "pi",
        .what = "OpenAI, Anthropic, ChatGPT and the providers of models.json; recall by extension",
        .by_hand = "{\"providers\":{\"openai\":{\"baseUrl\":\"<v1>\"}}} in models.json",
        .tried = "0.73.1",
        .settings =
            {
                {FILE_OF("weir.ts", (const char *)wr_pi_extension)},
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
        .tried = "0.24.4",
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
        .name = "copilot",
        .what = "GitHub's models with its login, or a provider of yours; recall by the proxy",
        .by_hand = "COPILOT_PROVIDER_BASE_URL=<v1> copilot",
        .tried = "1.0.102",
        .services = {{SERVICE("copilot", "https://api.githubcopilot.com", "COPILOT_API_URL")},
                     {SERVICE("copilot-provider", NULL, "COPILOT_PROVIDER_BASE_URL")}},
        .detours = {{"COPILOT_PROVIDER_TYPE", "azure", NULL,
                     "it asks Azure by paths that it makes of the address's host"},
                    {"COPILOT_PROVIDER_TRANSPORT", "websockets", NULL,
                     "it is told to talk over a WebSocket, which Weir does not read"},
                    {"COPILOT_GH_HOST", NULL, "COPILOT_API_URL",
                     "its models are at an address of your company; name it in COPILOT_API_URL"},
                    {"GH_HOST", NULL, "COPILOT_API_URL",
                     "its models are at an address of your company; name it in COPILOT_API_URL"}},
        .settings =
            {
                {ENV("COPILOT_API_URL", "<root>/p/copilot")},
                {ENV("COPILOT_PROVIDER_BASE_URL", "<root>/p/copilot-provider"),
                 .if_env = "COPILOT_PROVIDER_BASE_URL"},
            },
    },
    {
        .name = "droid",
        .what = "Factory's models with its login, and the custom models; recall by the proxy",
        .by_hand = "a custom model with \"baseUrl\": \"<v1>\" in ~/.factory/settings.json",
        .tried = "0.215.0",
        .services = {{SERVICE("factory", "https://api.factory.ai", "FACTORY_API_BASE_URL")}},
        .settings =
            {
                {ENV("FACTORY_API_BASE_URL", "<root>/p/factory")},
                {FILE_OF("droid.json", "<own>"), .if_redirected = true},
                {WORDS("--settings\n<dir>/droid.json"), .name = "--settings",
                 .if_redirected = true},
            },
        .commands = droid_commands,
        .own = WR_OWN_DROID,
    },
    {
        .name = "cline",
        .what = "Cline's models with its login, and providers with an API key; recall by the proxy",
        .by_hand = "cline auth -p openai-compatible -k KEY -m MODEL -b <v1>",
        .tried = "3.0.65",
        .services = {{SERVICE("cline", "https://api.cline.bot", "CLINE_API_BASE_URL")}},
        .detours = {{"CLINE_PROVIDER_SETTINGS_PATH", .why = "its providers are in a file of your "
                                                            "own, which Weir does not read"}},
        .settings =
            {
                {ENV("CLINE_API_BASE_URL", "<root>/p/cline")},
                /* Else a daemon of an earlier session works, by the settings of that one. */
                {ENV("CLINE_SESSION_BACKEND_MODE", "local")},
                {FILE_OF("providers.json", "<own>"), .if_redirected = true},
                {ENV("CLINE_PROVIDER_SETTINGS_PATH", "<dir>/providers.json"),
                 .if_redirected = true},
            },
        .own = WR_OWN_CLINE,
    },
    {
        .name = "goose",
        .what = "its providers openai and anthropic; recall by MCP in `goose run` and `session`",
        .by_hand = "OPENAI_HOST=<root> ANTHROPIC_HOST=<root> goose",
        .tried = "1.34.0",
        .services = {{SERVICE("goose-openai", NULL, "OPENAI_HOST")},
                     {SERVICE("goose-anthropic", NULL, "ANTHROPIC_HOST")}},
        .detours =
            {{"GOOSE_PROVIDER",
              "databricks|azure_openai|aws_bedrock|sagemaker_tgi|gcp_vertex_ai|google|ollama|"
              "openrouter|litellm|snowflake|github_copilot|xai|claude-code|claude_code|codex|"
              "gemini-cli|gemini_cli|cursor-agent|cursor_agent",
              NULL, "this provider of goose's has an address of its own"}},
        .settings =
            {
                /* It puts v1/... behind a host. */
                {ENV("OPENAI_HOST", "<root>"), .unless_env = "OPENAI_HOST"},
                {ENV("OPENAI_HOST", "<root>/p/goose-openai"), .if_env = "OPENAI_HOST"},
                {ENV("OPENAI_BASE_URL", "<v1>"), .if_env = "OPENAI_BASE_URL"},
                {ENV("ANTHROPIC_HOST", "<root>"), .unless_env = "ANTHROPIC_HOST"},
                {ENV("ANTHROPIC_HOST", "<root>/p/goose-anthropic"), .if_env = "ANTHROPIC_HOST"},
                /* It moves a note with the time from one of its turns to the next, so its sessions
                 * have no beginning by which the proxy's own recall could be remembered. */
                {WORDS("--with-extension\n<weir> mcp --store <store>"), .after = "run|session|s",
                 .is_recall = true},
            },
    },
    {
        .name = "crush",
        .what = "its providers openai and anthropic; recall by the proxy",
        .by_hand = "OPENAI_API_ENDPOINT=<v1> ANTHROPIC_API_ENDPOINT=<root> crush",
        .settings =
            {
                {ENV("OPENAI_API_ENDPOINT", "<v1>")},
                {ENV("ANTHROPIC_API_ENDPOINT", "<root>")},
            },
    },
    {
        .name = "aider",
        .what = "Chat Completions and Messages; it has no tools, so little can be taken out",
        .by_hand = "OPENAI_API_BASE=<v1> ANTHROPIC_API_BASE=<root> aider",
        .tried = "0.86.2",
        .has_no_tools = true,
        .settings =
            {
                {ENV("OPENAI_API_BASE", "<v1>")},
                /* It is read before the other one, which an option or a file of aider's may set. */
                {ENV("OPENAI_BASE_URL", "<v1>"), .if_env = "OPENAI_BASE_URL"},
                {ENV("ANTHROPIC_API_BASE", "<root>")},
            },
    },
    {
        .name = "amp",
        .what = "nothing",
        .by_hand = "(cannot be pointed at a server)",
        .tried = "0.0.1790142911",
        .refusal = "a conversation lives at ampcode.com, which asks the models itself: no request "
                   "of a model's API leaves this machine",
    },
    {
        .name = "auggie",
        .what = "nothing",
        .by_hand = "(cannot be pointed at a server)",
        .tried = "0.36.0",
        .refusal = "it talks to Augment's own servers (/chat-stream) in a format of their own, and "
                   "they ask the models",
    },
    {
        .name = "cursor-agent",
        .what = "nothing",
        .by_hand = "(cannot be pointed at a server)",
        .refusal = "it talks to Cursor's own servers in a format of their own, and they ask the "
                   "models",
    },
    {
        .name = "python",
        .also = "python3|uv|uvx|node|npx|tsx|bun|bunx|deno",
        .what = "programs of OpenAI's, Anthropic's and Google's SDKs and what stands on them; "
                "recall by the proxy",
        .by_hand = "OPENAI_BASE_URL=<v1> ANTHROPIC_BASE_URL=<root> python PROGRAM",
        .tried = "3.11.7",
        .upstream = "gemini",
        .services = {{CLOUD("vertex", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
                            "GOOGLE_CLOUD_LOCATION|global")}},
        .settings =
            {
                {ENV("GOOGLE_VERTEX_BASE_URL", "<root>"), .if_env = "GOOGLE_GENAI_USE_VERTEXAI"},
                {ENV("OPENAI_BASE_URL", "<v1>")},
                {ENV("OPENAI_API_BASE", "<v1>")},
                {ENV("ANTHROPIC_BASE_URL", "<root>")},
                {ENV("ANTHROPIC_API_BASE", "<root>")},
                {ENV("GOOGLE_GEMINI_BASE_URL", "<gemini>")},
                {ENV("WEIR_MCP_URL", "<mcp>")},
            },
    },
    {
        .name = "any other program",
        .what = "what reads the usual variables; recall by the proxy",
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

struct wr_near wr_agent_near(const char *program)
{
    struct wr_near near = wr_near_to(wr_span_of(program));

    for (size_t i = 0; i < WR_COUNT_OF(agents); i++)
        if (wr_agent_is_known(&agents[i]))
            wr_near_offer(&near, agents[i].name, "");
    return near;
}

bool wr_agent_is_known(const struct wr_agent *agent)
{
    return agent != &agents[AGENTS_COUNT - 1];
}

/* python3.12 is python3. */
static weir_span program_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    weir_span name = wr_span_of(slash ? slash + 1 : program);

    if (wr_span_starts(name, WR_LIT("python3.")))
        name.len = strlen("python3");
    return name;
}

const struct wr_agent *wr_agent_find(const char *program)
{
    weir_span name = program_name(program);

    for (size_t i = 0; i + 1 < AGENTS_COUNT; i++)
        if (wr_span_is(name, agents[i].name) ||
            (agents[i].also && wr_is_any_of(name, agents[i].also)))
            return &agents[i];
    return &agents[AGENTS_COUNT - 1];
}

const char *wr_agent_detour(const struct wr_agent *agent, char **environment)
{
    for (size_t i = 0; i < WR_COUNT_OF(agent->detours) && agent->detours[i].variable; i++) {
        const struct wr_detour *detour = &agent->detours[i];
        const char *value = wr_environment_find(environment, detour->variable);
        if (!value || (detour->unless_env && wr_environment_find(environment, detour->unless_env)))
            continue;
        if (detour->values ? wr_is_any_of_folded(wr_span_of(value), detour->values)
                           : wr_environment_is_on(environment, detour->variable))
            return detour->why;
    }
    return NULL;
}
