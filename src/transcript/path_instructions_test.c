#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/path.h"

#include "base/limits.h"
#include "base/span.h"

static void paths_are_told_by_the_names_agents_look_for(void **state)
{
    static const struct {
        const char *path;
        bool want;
    } rows[] = {
        {"AGENTS.md", true},
        {"/w/sub/AGENTS.md", true},
        {"AGENT.md", true},
        {"CLAUDE.md", true},
        {"~/.claude/CLAUDE.md", true},
        {"CLAUDE.local.md", true},
        {"GEMINI.md", true},
        {"QWEN.md", true},
        {".claude/skills/x/SKILL.md", true},
        {"CONVENTIONS.md", true},
        {".cursorrules", true},
        {"/w/.cursor/rules/a.mdc", true},
        {".cursor/rules/deep/b.md", true},
        {".github/copilot-instructions.md", true},
        {".github/instructions/c.instructions.md", true},
        {".clinerules", true},
        {".clinerules/01.md", true},
        {".windsurfrules", true},
        {".junie/guidelines.md", true},
        {"C:\\w\\AGENTS.md", true},
        {"", false},
        {"README.md", false},
        {"docs/guidelines.md", false},
        {"copilot-instructions.md", false},
        {"agents.md", false},
        {"MY_AGENTS.md", false},
        {"AGENTS.md.bak", false},
        {"AGENTS.md/x.c", false},
        {"my.cursor/rules/a.mdc", false},
        {"src/rules/a.c", false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_path_is_instructions(wr_span_of(rows[i].path)) != rows[i].want)
            fail_msg("%s", rows[i].path);
}

static void calls_are_told_by_what_they_show(void **state)
{
    static const struct {
        const char *behaviour, *tool, *arguments;
        bool want;
    } rows[] = {
        {"a read", "Read", "{\"file_path\":\"/w/AGENTS.md\"}", true},
        {"a read of some lines", "Read", "{\"file_path\":\"AGENTS.md\",\"limit\":20}", true},
        {"a read among others", "read_many_files", "{\"paths\":[\"a.c\",\"CLAUDE.md\"]}", true},
        {"cat", "Bash", "{\"command\":\"cat AGENTS.md\"}", true},
        {"cat behind something else", "Bash", "{\"command\":\"cd /w && ls && cat AGENTS.md\"}",
         true},
        {"sed prints lines", "exec_command", "{\"cmd\":\"sed -n '1,200p' CLAUDE.md\"}", true},
        {"a view of the editor", "str_replace_based_edit_tool",
         "{\"command\":\"view\",\"path\":\"/w/SKILL.md\"}", true},
        {"a skill of Claude Code", "Skill", "{\"skill\":\"pdf\"}", true},
        {"a skill of opencode", "skill", "{\"name\":\"pdf\"}", true},
        {"a skill of Gemini CLI", "activate_skill", "{\"name\":\"pdf\"}", true},
        {"a skill of a server", "mcp__kit__load_skill", "{\"id\":\"pdf\"}", true},
        {"another file", "Read", "{\"file_path\":\"/w/a.c\"}", false},
        {"a search", "Grep", "{\"pattern\":\"tabs\",\"path\":\"AGENTS.md\"}", false},
        {"grep", "Bash", "{\"command\":\"grep -n tabs AGENTS.md\"}", false},
        {"a filter", "Bash", "{\"command\":\"cat AGENTS.md | grep tabs\"}", false},
        {"an edit", "Edit",
         "{\"file_path\":\"AGENTS.md\",\"old_string\":\"a\",\"new_string\":\"b\"}", false},
        {"a write", "Write", "{\"file_path\":\"AGENTS.md\",\"content\":\"b\"}", false},
        {"an older version", "Bash", "{\"command\":\"git show HEAD~3:AGENTS.md\"}", false},
        {"a listing", "Bash", "{\"command\":\"ls -l AGENTS.md\"}", false},
        {"a skill that is made", "create_skill", "{\"name\":\"pdf\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_tool_handles handles;
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_tool_call(&handles, &arena, wr_span_of(rows[i].tool),
                                      wr_span_of(rows[i].arguments), (weir_span){"", 0}),
                         WEIR_OK);
        if (handles.is_instructions != rows[i].want)
            fail_msg("%s", rows[i].behaviour);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_told_by_the_names_agents_look_for),
        cmocka_unit_test(calls_are_told_by_what_they_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
