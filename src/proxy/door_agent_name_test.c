#include "proxy/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *header, *value, *agent;
} cases[] = {
    {"Codex says so in a header of its own", "originator", "codex_cli_rs", "codex"},
    {"and in its name", "User-Agent", "codex_exec/0.99.0 (Debian 12; x86_64) xterm", "codex"},
    {"Claude Code", "user-agent", "claude-cli/2.1.0 (external, cli)", "claude-code"},
    {"Claude Code by its session", "X-Claude-Code-Session-Id", "8a", "claude-code"},
    {"opencode before its library", "user-agent", "opencode/1.2 ai-sdk/openai/3.0", "opencode"},
    {"Gemini CLI", "user-agent", "GeminiCLI/0.20.0/gemini-3-pro (linux; x64)", "gemini-cli"},
    {"Qwen Code", "user-agent", "QwenCode/0.8.1 (linux; x64)", "qwen-code"},
    {"pi", "user-agent", "pi/0.40.1 (linux)", "pi"},
    {"a word that only ends like pi", "user-agent", "my-api2pi/1", ""},
    {"Aider names itself to routers", "X-Title", "Aider", "aider"},
    {"the Python library", "user-agent", "AsyncOpenAI/Python 2.7.0", "openai-sdk"},
    {"the JavaScript library", "user-agent", "Anthropic/JS 1.2.0", "anthropic-sdk"},
    {"curl", "user-agent", "curl/8.5.0", "curl"},
    {"somebody else", "user-agent", "Mozilla/5.0 (X11; Linux x86_64)", ""},
    {"an empty header", "user-agent", "", ""},
    {"no such header", "accept", "*/*", ""},
};

static void agents_are_told_by_their_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_head head = {.headers_count = 1};
        head.headers[0] =
            (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        if (strcmp(wr_agent_name(&head), cases[i].agent))
            fail_msg("%s: '%s', expected '%s'", cases[i].behaviour, wr_agent_name(&head),
                     cases[i].agent);
    }
}

static void an_agent_comes_before_its_library(void **state)
{
    struct wr_head head = {.headers_count = 2};
    (void)state;
    head.headers[0] = (struct wr_header){WR_LIT("User-Agent"), WR_LIT("OpenAI/JS 6.1.0")};
    head.headers[1] = (struct wr_header){WR_LIT("originator"), WR_LIT("pi")};
    assert_string_equal(wr_agent_name(&head), "pi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agents_are_told_by_their_headers),
                                       cmocka_unit_test(an_agent_comes_before_its_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
