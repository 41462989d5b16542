#include "transcript/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- path ---- */

static void joining_normalises(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *path, *want;
    } cases[] = {
        {"", "a/b", "a/b"},
        {"", "./a", "a"},
        {"", "a//b/", "a/b"},
        {"", "a/../b", "b"},
        {"", "../b", "../b"},
        {"", "../../b", "../../b"},
        {"", "a/../../b", "../b"},
        {"", "/a/./b", "/a/b"},
        {"", "/../a", "/a"},
        {"", "/", "/"},
        {"", ".", "."},
        {"", "a/..", "."},
        {"/w", "a", "/w/a"},
        {"/w", "/b", "/b"},
        {"/w", "../b", "/b"},
        {"/w/x", ".", "/w/x"},
        {"/w/x", "", "/w/x"},
        {"/w/", "a", "/w/a"},
        {"w", "../a", "a"},
        {"w", "../../a", "../a"},
        {"/w", "~/a", "~/a"},
        {"~/w", "a", "~/w/a"},
        {"~", "../a", "~/../a"},
        {"/", "a", "/a"},
        {"/w", "..", "/"},
        {"/w", "C:/x/y.c", "C:/x/y.c"},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_span got = wr_path_join(&arena, wr_span_of(cases[i].dir), wr_span_of(cases[i].path));
        if (!wr_span_is(got, cases[i].want))
            print_message("'%s' + '%s': %.*s\n", cases[i].dir, cases[i].path, (int)got.len,
                          got.ptr);
        assert_true(wr_span_is(got, cases[i].want));
        wr_arena_release(&arena);
    }
}

static void comparing_knows_what_it_cannot_know(void **state)
{
    (void)state;
    static const struct {
        const char *behaviour, *a, *b, *cwd;
        enum wr_path_relation want;
    } cases[] = {
        {"the same text", "a/b.c", "a/b.c", "", WR_PATH_SAME},
        {"dots and slashes do not count", "./a//b.c", "a/x/../b.c", "", WR_PATH_SAME},
        {"other names", "a/b.c", "a/c.c", "", WR_PATH_DIFFERENT},
        {"relative seen from the directory", "b.c", "/w/b.c", "/w", WR_PATH_SAME},
        {"up from the directory", "../b.c", "/b.c", "/w", WR_PATH_SAME},
        {"relative elsewhere", "b.c", "/v/b.c", "/w", WR_PATH_DIFFERENT},
        {"relative with no directory known", "src/b.c", "/w/src/b.c", "", WR_PATH_MAYBE},
        {"names that only end alike", "rc/b.c", "/w/src/b.c", "", WR_PATH_DIFFERENT},
        {"two relative ones of other depth", "b.c", "src/b.c", "", WR_PATH_MAYBE},
        {"absolute ones of other depth", "/b.c", "/src/b.c", "", WR_PATH_DIFFERENT},
        {"home may be anywhere", "~/a.c", "/home/me/a.c", "", WR_PATH_MAYBE},
        {"home and another file", "~/a.c", "/home/me/b.c", "", WR_PATH_DIFFERENT},
        {"home twice", "~/x/../a.c", "~/a.c", "", WR_PATH_SAME},
        {"above the directory twice", "../a", "../a", "", WR_PATH_SAME},
        {"above the directory, another depth", "../../a", "../a", "", WR_PATH_MAYBE},
        {"above it on one side only", "../a", "b/a", "", WR_PATH_DIFFERENT},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (int swap = 0; swap < 2; swap++) {
            weir_span a = wr_span_of(swap ? cases[i].b : cases[i].a),
                      b = wr_span_of(swap ? cases[i].a : cases[i].b);
            enum wr_path_relation got = wr_path_compare(a, b, wr_span_of(cases[i].cwd));
            if (got != cases[i].want)
                print_message("%s (swapped: %d): %d\n", cases[i].behaviour, swap, (int)got);
            assert_int_equal(got, cases[i].want);
        }
}

/* ---- instructions ---- */

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

/* ---- stale ---- */

enum { CALLS_MAX = 8 };

/* A call is a letter, a space and its argument: r read, e edit, E edit that fails, s shell, p poll,
 * S shell that starts a process. */
struct story {
    const char *behaviour;
    const char *calls[CALLS_MAX];
    const char *cwd;
    const char
        *want; /* a letter a call: . fresh, m maybe, s stale, x superseded; its cause follows */
};

static const struct story stories[] = {
    {"a read of a file that is edited later", {"r /p/a", "e /p/a"}, "", "s1."},
    {"a read after the edit is fresh", {"e /p/a", "r /p/a"}, "", ".."},
    {"another file", {"r /p/a", "e /p/b"}, "", ".."},
    {"the nearest later write is named", {"r /p/a", "e /p/a", "e /p/a"}, "", "s1.."},
    {"each read is judged by what follows it",
     {"r /p/a", "e /p/a", "r /p/a", "e /p/a"},
     "",
     "s1.s3."},
    {"a failed edit changes nothing", {"r /p/a", "E /p/a"}, "", ".."},
    {"a shell that edits", {"r /p/a", "s sed -i s/x/y/ /p/a"}, "", "s1."},
    {"a shell that reads", {"s sed -n 1,5p /p/a", "e /p/a"}, "", "s1."},
    {"spelling does not matter", {"s cat /p/./x/../a", "e /p/a"}, "", "s1."},
    {"a relative path from a known directory", {"s cat a", "e /p/a"}, "/p", "s1."},
    {"a relative path from nowhere", {"s cat src/a", "e /p/src/a"}, "", "m1."},
    {"and the other way round", {"r /p/src/a", "s sed -i s/x/y/ src/a"}, "", "m1."},
    {"relative both times", {"s cat src/a", "s sed -i s/x/y/ src/a"}, "", "s1."},
    {"names that only end alike", {"r /p/xa", "s sed -i s/x/y/ a"}, "", ".."},
    {"home and an absolute path", {"s cat ~/c/a", "e /home/me/c/a"}, "", "m1."},
    {"a directory that is removed", {"r /p/src/a", "s rm -rf /p/src"}, "", "m1."},
    {"a relative directory that is removed", {"r /p/src/deep/a", "s rm -rf src"}, "", "m1."},
    {"an absolute one, read relatively", {"s cat src/a", "s rm -rf /p/src"}, "", "m1."},
    {"everything here", {"s cat src/a", "s git checkout ."}, "", "m1."},
    {"a switch of branches", {"r /p/a", "s git checkout main"}, "", "m1."},
    {"a patch without names", {"r /p/a", "s git apply x.patch"}, "", "m1."},
    {"a write to a variable", {"r /p/a", "s echo x > $F"}, "", "m1."},
    {"a certain write wins over a possible one", {"r /p/a", "s git stash", "e /p/a"}, "", "s2.."},
    {"writes before the read in one line do not count",
     {"s sed -i s/x/y/ /p/a && cat /p/a"},
     "",
     "."},
    {"writes behind it do", {"s cat /p/a; sed -i s/x/y/ /p/a"}, "", "s0"},
    {"a search of a file", {"s grep x /p/a.c", "e /p/a.c"}, "", "s1."},
    {"a search of a directory",
     {"s grep -r x /p/src", "e /p/src/a.c", "s git checkout main"},
     "",
     "..."},
    {"another version", {"s git show HEAD:a.c", "s sed -i s/x/y/ a.c"}, "", ".."},
    {"a run changes nothing that we know", {"r /p/a", "s make"}, "", ".."},
    {"a line that cannot be read may do anything", {"r /p/a", "s echo 'x"}, "", "m1."},
    {"polls of one process", {"p 7", "p 7", "p 8", "p 7"}, "", "x1x3.."},
    {"a process that began between has another life", {"p 7", "S 7", "p 7"}, "", "..."},
};

static weir_status make_call(struct wr_tool_handles *handles, struct wr_arena *arena,
                             const char *call)
{
    static const char *const names[] = {"Read", "Edit", "Bash", "write_stdin"};
    static const char *const keys[] = {"file_path", "file_path", "command", "session_id"};
    char kind = call[0];
    size_t which = kind == 'r'                  ? 0
                   : kind == 'e' || kind == 'E' ? 1
                   : kind == 's' || kind == 'S' ? 2
                                                : 3;
    struct wr_buf arguments;
    wr_buf_init(&arguments, 1 << 16);
    wr_buf_printf(&arguments, "{\"%s\":\"%s\"}", keys[which], kind == 'S' ? "serve" : call + 2);
    weir_span text = wr_arena_copy(arena, wr_buf_view(&arguments));
    wr_buf_release(&arguments);
    weir_status status =
        wr_tool_call(handles, arena, wr_span_of(names[which]), text, (weir_span){"", 0});
    handles->is_error = kind == 'E';
    if (kind == 'S')
        handles->process_id = wr_span_of(call + 2);
    return status;
}

static bool tell(const struct story *story)
{
    struct wr_arena arena;
    struct wr_buf got;
    struct wr_tool_handles handles[CALLS_MAX];
    const struct wr_tool_handles *list[CALLS_MAX];
    struct wr_stale stale[CALLS_MAX];
    size_t count = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&got, 1 << 16);
    for (; count < CALLS_MAX && story->calls[count]; count++) {
        assert_int_equal(make_call(&handles[count], &arena, story->calls[count]), WEIR_OK);
        list[count] = &handles[count];
    }
    assert_int_equal(wr_stale_mark(stale, &arena, list, count, wr_span_of(story->cwd)), WEIR_OK);
    for (size_t i = 0; i < count; i++) {
        wr_buf_byte(&got, stale[i].is_superseded ? 'x' : ".ms"[stale[i].staleness]);
        if (stale[i].by != UINT32_MAX)
            wr_buf_printf(&got, "%u", stale[i].by);
    }
    bool right = wr_span_is(wr_buf_view(&got), story->want);
    if (!right)
        print_message("%s: want %s, got %.*s\n", story->behaviour, story->want, (int)got.len,
                      got.bytes);
    wr_buf_release(&got);
    wr_arena_release(&arena);
    return right;
}

static void stories_end_as_told(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(stories); i++)
        wrong += !tell(&stories[i]);
    assert_int_equal(wrong, 0);
}

static void calls_may_be_missing(void **state)
{
    (void)state;
    struct wr_arena arena;
    const struct wr_tool_handles *list[2] = {NULL, NULL};
    struct wr_stale stale[2];
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_stale_mark(stale, &arena, list, 2, (weir_span){"", 0}), WEIR_OK);
    assert_int_equal(stale[1].staleness, WR_FRESH);
    assert_int_equal(wr_stale_mark(stale, &arena, list, 0, (weir_span){"", 0}), WEIR_OK);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_normalises),
        cmocka_unit_test(comparing_knows_what_it_cannot_know),
        cmocka_unit_test(paths_are_told_by_the_names_agents_look_for),
        cmocka_unit_test(calls_are_told_by_what_they_show),
        cmocka_unit_test(stories_end_as_told),
        cmocka_unit_test(calls_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
