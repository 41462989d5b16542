#include "proxy/agent_name.h"

#include "base/ascii.h"
#include "base/span.h"

/* A word in a header's value, upper or lower case, at its start or after a byte that is neither
 * letter nor digit. The first row that fits decides, so agents come before the libraries they use.
 */
static const struct {
    const char *header, *word, *agent;
} rows[] = {
    {"originator", "codex", "codex"},
    {"user-agent", "codex", "codex"},
    {"user-agent", "claude-cli/", "claude-code"},
    {"user-agent", "claude-code/", "claude-code"},
    {"user-agent", "opencode/", "opencode"},
    {"user-agent", "geminicli/", "gemini-cli"},
    {"user-agent", "gemini-cli/", "gemini-cli"},
    {"user-agent", "qwencode/", "qwen-code"},
    {"user-agent", "qwen-code/", "qwen-code"},
    {"user-agent", "pi-coding-agent", "pi"},
    {"user-agent", "pi/", "pi"},
    {"originator", "pi", "pi"},
    {"user-agent", "aider/", "aider"},
    {"x-title", "aider", "aider"},
    {"user-agent", "cline/", "cline"},
    {"x-title", "cline", "cline"},
    {"user-agent", "roocode/", "roo-code"},
    {"x-title", "roo code", "roo-code"},
    {"user-agent", "kilo-code/", "kilo-code"},
    {"x-title", "kilo code", "kilo-code"},
    {"user-agent", "goose/", "goose"},
    {"x-title", "goose", "goose"},
    {"user-agent", "crush/", "crush"},
    {"user-agent", "githubcopilot", "copilot"},
    {"user-agent", "copilot", "copilot"},
    {"user-agent", "openhands", "openhands"},
    {"user-agent", "zed/", "zed"},
    {"user-agent", "mini-swe-agent", "mini-swe-agent"},
    {"user-agent", "deepagents", "deepagents"},
    {"user-agent", "weir/", "weir"},
    {"user-agent", "ai-sdk/", "ai-sdk"},
    {"user-agent", "litellm/", "litellm"},
    {"user-agent", "langchain", "langchain"},
    {"user-agent", "openai/", "openai-sdk"},
    {"user-agent", "asyncopenai/", "openai-sdk"},
    {"user-agent", "anthropic/", "anthropic-sdk"},
    {"user-agent", "asyncanthropic/", "anthropic-sdk"},
    {"user-agent", "google-genai-sdk/", "google-sdk"},
    {"user-agent", "curl/", "curl"},
};

static bool starts_here(weir_span text, size_t at, const char *word)
{
    for (; *word; word++, at++)
        if (at == text.len || wr_lower(text.ptr[at]) != *word)
            return false;
    return true;
}

static bool header_has_word(weir_span text, const char *word)
{
    for (size_t at = 0; at < text.len; at++)
        if ((!at || !wr_is_alnum(text.ptr[at - 1])) && starts_here(text, at, word))
            return true;
    return false;
}

const char *wr_agent_name(const struct wr_head *head)
{
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (header_has_word(wr_head_find(head, rows[i].header), rows[i].word))
            return rows[i].agent;
    if (wr_head_find(head, "x-claude-code-session-id").len)
        return "claude-code";
    return "";
}
