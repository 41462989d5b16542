#include "hook/settings.h"

#include <string.h>

#include "base/ascii.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/span.h"
#include "json/write.h"

WR_EMBED(wr_opencode_plugin, "data/opencode_plugin.js");

enum { TIMEOUT_S = 10 };

/* A word for a shell. */
static void put_shell_word(struct wr_buf *out, const char *word)
{
    bool is_plain = *word != '\0';
    for (const char *at = word; *at; at++)
        is_plain &= wr_is_word(*at) || strchr("/.-+:,@%", *at);
    if (is_plain) {
        wr_buf_text(out, word);
        return;
    }
    wr_buf_byte(out, '\'');
    for (const char *at = word; *at; at++) {
        if (*at == '\'')
            wr_buf_text(out, "'\\''");
        else
            wr_buf_byte(out, *at);
    }
    wr_buf_byte(out, '\'');
}

void wr_hook_command(const struct wr_hook_agent *agent, const struct wr_hook_words *words,
                     struct wr_buf *out)
{
    put_shell_word(out, words->weir);
    wr_buf_printf(out, " hook %s", agent->name);
    if (!words->store)
        return;
    wr_buf_text(out, " --store ");
    put_shell_word(out, words->store);
}

/* Only tools whose results can be changed start a process. */
static void put_claude(struct wr_buf *out, const struct wr_hook_agent *agent,
                       const struct wr_hook_words *words)
{
    struct wr_buf command;

    wr_buf_init(&command, out->cap_max);
    wr_hook_command(agent, words, &command);
    wr_buf_text(out, "{\n  \"hooks\": {\"PostToolUse\": [{\n"
                     "    \"matcher\": \"Bash|PowerShell|Grep|WebFetch|mcp__.*\",\n"
                     "    \"hooks\": [{\"type\": \"command\", \"command\": \"");
    wr_json_escape(out, wr_buf_view(&command));
    wr_buf_printf(out, "\", \"timeout\": %d}]\n  }]},\n", TIMEOUT_S);
    wr_buf_printf(out, "  \"permissions\": {\"allow\": [\"%s\"]}\n}\n", agent->recall);
    wr_buf_release(&command);
}

/* The program and its words, as a list that JavaScript reads, in place of the plugin's @WEIR@. */
static void put_opencode(struct wr_buf *out, const struct wr_hook_agent *agent,
                         const struct wr_hook_words *words)
{
    weir_span text = WR_EMBEDDED(wr_opencode_plugin), mark = WR_LIT("\"@WEIR@\"");
    size_t at = wr_span_find(text, mark, 0);
    struct wr_json_writer w;

    WR_ASSERT(at != SIZE_MAX);
    wr_buf_append(out, wr_span_cut(text, 0, at));
    wr_json_write_init(&w, out);
    wr_json_write_array(&w);
    wr_json_write_text(&w, wr_span_of(words->weir));
    wr_json_write_text(&w, WR_LIT("hook"));
    wr_json_write_text(&w, wr_span_of(agent->name));
    if (words->store) {
        wr_json_write_text(&w, WR_LIT("--store"));
        wr_json_write_text(&w, wr_span_of(words->store));
    }
    wr_json_write_array_end(&w);
    wr_buf_append(out, wr_span_cut(text, at + mark.len, text.len));
}

static const struct {
    const char *agent, *place;
    void (*put)(struct wr_buf *out, const struct wr_hook_agent *agent,
                const struct wr_hook_words *words);
} rows[] = {
    {"claude",
     "put this into ~/.claude/settings.json, and give it weir_recall once: claude mcp add --scope "
     "user weir -- weir mcp",
     put_claude},
    {"opencode",
     "write this to ~/.config/opencode/plugins/weir.js, and name `weir mcp` under \"mcp\" in "
     "opencode.json: {\"mcp\":{\"weir\":{\"type\":\"local\",\"command\":[\"weir\",\"mcp\"]}}}",
     put_opencode},
};

void wr_hook_settings(const struct wr_hook_agent *agent, const struct wr_hook_words *words,
                      struct wr_buf *out)
{
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (!strcmp(rows[i].agent, agent->name))
            rows[i].put(out, agent, words);
}

const char *wr_hook_settings_place(const struct wr_hook_agent *agent)
{
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (!strcmp(rows[i].agent, agent->name))
            return rows[i].place;
    return agent->lack;
}
