/* Calls and results of every known agent, and the handles they give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/tool.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { TEXT_BYTES_MAX = 1 << 20 };

/* --- handles as a line of text: dialect, kind, path and lines, then what else is known --- */

static void put_text(struct wr_buf *out, const char *name, weir_span text)
{
    if (text.len)
        wr_buf_printf(out, " %s=%.*s", name, (int)text.len, text.ptr);
}

static void put_number(struct wr_buf *out, const char *name, int64_t number)
{
    if (number >= 0)
        wr_buf_printf(out, " %s=%lld", name, (long long)number);
}

static void put_flags(struct wr_buf *out, const struct wr_tool_handles *h)
{
    if (h->has_exit_code)
        wr_buf_printf(out, " exit=%d", h->exit_code);
    if (h->cut != WR_TOOL_CUT_NONE)
        wr_buf_printf(out, " cut=%s", wr_tool_cut_text(h->cut));
    wr_buf_text(out, h->is_running ? " running" : "");
    wr_buf_text(out, h->is_error ? " error" : "");
    wr_buf_text(out, h->is_unchanged ? " unchanged" : "");
    wr_buf_text(out, h->is_known ? "" : " guessed");
}

static void put_more_paths(struct wr_buf *out, const struct wr_tool_handles *h)
{
    bool first = true;
    for (size_t i = 0; i < h->effects_count; i++) {
        const struct wr_effect *effect = &h->effects[i];
        if (effect->kind == h->kind && first) {
            first = false;
            continue;
        }
        wr_buf_printf(out, " +%s:%.*s", wr_effect_kind_text(effect->kind),
                      effect->whole_tree ? 1 : (int)effect->path.len,
                      effect->whole_tree ? "*" : effect->path.ptr);
    }
}

static void describe(struct wr_buf *out, const struct wr_tool_handles *h)
{
    wr_buf_printf(out, "%s %s", wr_tool_dialect_text(h->dialect), wr_effect_kind_text(h->kind));
    put_text(out, "path", h->path);
    if (h->start_line || h->end_line)
        wr_buf_printf(out, " lines=%lld..%lld", (long long)h->start_line, (long long)h->end_line);
    put_number(out, "offset", h->offset);
    put_number(out, "limit", h->limit);
    put_number(out, "next", h->next_offset);
    put_number(out, "total", h->total_lines);
    put_text(out, "query", h->query);
    put_text(out, "process", h->process_id);
    put_text(out, "cursor", h->cursor);
    put_text(out, "mode", h->mode);
    put_text(out, "spill", h->spill_path);
    put_flags(out, h);
    put_more_paths(out, h);
}

static bool check(const char *behaviour, const char *name, const char *arguments,
                  const char *result, const char *want)
{
    struct wr_arena arena;
    struct wr_buf got;
    struct wr_tool_handles handles;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&got, TEXT_BYTES_MAX);
    weir_span no_directory = {"", 0};
    assert_int_equal(
        wr_tool_call(&handles, &arena, wr_span_of(name), wr_span_of(arguments), no_directory),
        WEIR_OK);
    if (result)
        wr_tool_result(&handles, wr_span_of(result), false);
    describe(&got, &handles);
    bool right = wr_span_is(wr_buf_view(&got), want);
    if (!right)
        print_message("%s\n    want %s\n    got  %.*s\n", behaviour, want, (int)got.len, got.bytes);
    wr_buf_release(&got);
    wr_arena_release(&arena);
    return right;
}

/* --- calls --- */

static const struct {
    const char *behaviour, *name, *arguments, *want;
} calls[] = {
    /* Claude Code */
    {"Read of a part", "Read", "{\"file_path\":\"/p/a.go\",\"offset\":40,\"limit\":20}",
     "claude_code read path=/p/a.go lines=40..59 offset=40 limit=20"},
    {"Read of all", "Read", "{\"file_path\":\"/p/a.go\"}",
     "claude_code read path=/p/a.go lines=1..-1"},
    {"Read from a line on", "Read", "{\"file_path\":\"/p/a.go\",\"offset\":7}",
     "claude_code read path=/p/a.go lines=7..-1 offset=7"},
    {"Read of PDF pages", "Read", "{\"file_path\":\"/p/a.pdf\",\"pages\":\"1-5\"}",
     "claude_code read path=/p/a.pdf lines=1..-1 mode=1-5"},
    {"numbers may come as strings", "Read",
     "{\"file_path\":\"/p/a.go\",\"offset\":\"40\",\"limit\":\"20\"}",
     "claude_code read path=/p/a.go lines=40..59 offset=40 limit=20"},
    {"Grep with pages", "Grep",
     "{\"pattern\":\"dock\",\"path\":\"/"
     "p\",\"output_mode\":\"content\",\"head_limit\":50,\"offset\":100,\"-n\":true}",
     "claude_code search path=/p offset=100 limit=50 query=dock mode=content"},
    {"Grep of the working directory", "Grep", "{\"pattern\":\"dock\"}",
     "claude_code search query=dock"},
    {"Glob", "Glob", "{\"pattern\":\"**/*.go\",\"path\":\"/p\"}",
     "claude_code list path=/p query=**/*.go"},
    {"Bash that reads", "Bash", "{\"command\":\"sed -n '3,9p' a.go\",\"description\":\"look\"}",
     "claude_code read path=a.go lines=3..9"},
    {"Bash that runs", "Bash", "{\"command\":\"go test ./...\"}", "claude_code run"},
    {"Bash that runs and reads is a run", "Bash", "{\"command\":\"go vet; cat a.go\"}",
     "claude_code run +read:a.go"},
    {"Bash that only speaks is a run", "Bash", "{\"command\":\"echo hi\"}", "claude_code run"},
    {"TaskOutput", "TaskOutput", "{\"task_id\":\"b12\",\"block\":true,\"timeout\":5}",
     "claude_code poll process=b12"},
    {"TaskStop", "TaskStop", "{\"task_id\":\"b12\"}", "claude_code other process=b12"},
    {"BashOutput, older", "BashOutput", "{\"bash_id\":\"bash_1\",\"filter\":\"err\"}",
     "claude_code poll query=err process=bash_1"},
    {"KillShell, older", "KillShell", "{\"shell_id\":\"bash_1\"}",
     "claude_code other process=bash_1"},
    {"Edit", "Edit", "{\"file_path\":\"/p/a.go\",\"old_string\":\"a\",\"new_string\":\"b\"}",
     "claude_code edit path=/p/a.go"},
    {"Write", "Write", "{\"file_path\":\"/p/a.go\",\"content\":\"x\"}",
     "claude_code write path=/p/a.go"},
    {"NotebookEdit", "NotebookEdit", "{\"notebook_path\":\"/p/a.ipynb\",\"new_source\":\"x\"}",
     "claude_code edit path=/p/a.ipynb"},
    {"WebFetch", "WebFetch", "{\"url\":\"https://example.org/\",\"prompt\":\"x\"}",
     "claude_code fetch query=https://example.org/"},
    {"TodoWrite", "TodoWrite", "{\"todos\":[]}", "claude_code plan"},
    {"Task", "Task", "{\"prompt\":\"x\",\"description\":\"y\",\"subagent_type\":\"Explore\"}",
     "claude_code run mode=Explore"},

    /* Codex */
    {"exec_command joins its directory", "exec_command",
     "{\"cmd\":\"sed -n '1,80p' src/a.rs\",\"workdir\":\"/w\",\"max_output_tokens\":6000}",
     "codex read path=/w/src/a.rs lines=1..80"},
    {"write_stdin of nothing polls", "write_stdin", "{\"session_id\":4711,\"chars\":\"\"}",
     "codex poll process=4711"},
    {"write_stdin of something acts", "write_stdin", "{\"session_id\":4711,\"chars\":\"y\\n\"}",
     "codex run process=4711"},
    {"apply_patch, freeform", "apply_patch",
     "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Add File: src/b.rs\n+x\n*** "
     "Delete File: "
     "src/c.rs\n*** End Patch",
     "codex edit path=src/a.rs +write:src/b.rs +write:src/c.rs"},
    {"apply_patch that moves", "apply_patch",
     "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n*** End Patch",
     "codex edit path=a.rs +write:b.rs"},
    {"apply_patch, JSON", "apply_patch",
     "{\"input\":\"*** Begin Patch\\n*** Update File: a.rs\\n*** End Patch\"}",
     "codex edit path=a.rs"},
    {"code mode", "exec", "const r = await tools.exec_command({cmd: 'ls'});", "codex run"},
    {"wait", "wait", "{\"cell_id\":\"7\",\"max_tokens\":100}", "codex poll process=7"},
    {"shell, legacy", "shell",
     "{\"command\":[\"bash\",\"-lc\",\"cat a.rs | head -5\"],\"workdir\":\"/w\"}",
     "codex read path=/w/a.rs lines=1..5"},
    {"shell by words", "shell", "{\"command\":[\"sed\",\"-n\",\"2,4p\",\"it's.rs\"]}",
     "codex read path=it's.rs lines=2..4"},
    {"shell that patches", "shell",
     "{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Update File: a.rs\\n*** End Patch\"]}",
     "codex edit path=a.rs"},
    {"shell_command", "shell_command", "{\"command\":\"rg -n dock src\"}",
     "codex search path=src query=dock"},
    {"read_file, legacy", "read_file",
     "{\"file_path\":\"/w/a.rs\",\"offset\":10,\"limit\":5,\"mode\":\"slice\"}",
     "codex read path=/w/a.rs lines=10..14 offset=10 limit=5 mode=slice"},
    {"grep_files", "grep_files",
     "{\"pattern\":\"dock\",\"include\":\"*.rs\",\"path\":\"/w\",\"limit\":20}",
     "codex search path=/w limit=20 query=dock"},
    {"list_dir", "list_dir", "{\"dir_path\":\"/w/src\",\"offset\":1,\"limit\":25}",
     "codex list path=/w/src offset=1 limit=25"},
    {"update_plan", "update_plan", "{\"plan\":[]}", "codex plan"},

    /* opencode */
    {"read", "read", "{\"filePath\":\"/p/a.ts\",\"offset\":101,\"limit\":50}",
     "opencode read path=/p/a.ts lines=101..150 offset=101 limit=50"},
    {"grep", "grep", "{\"pattern\":\"quill\",\"path\":\"/p\",\"include\":\"*.ts\"}",
     "opencode search path=/p query=quill"},
    {"glob", "glob", "{\"pattern\":\"*.ts\",\"path\":\"/p\"}", "unknown list path=/p query=*.ts"},
    {"bash", "bash",
     "{\"command\":\"cat a.ts\",\"workdir\":\"/p\",\"timeout\":1000,\"description\":\"x\"}",
     "opencode read path=/p/a.ts lines=1..-1"},
    {"pwsh is not read as a shell", "pwsh", "{\"command\":\"Get-Content a.ts\"}", "opencode run"},
    {"edit", "edit", "{\"filePath\":\"/p/a.ts\",\"oldString\":\"a\",\"newString\":\"b\"}",
     "opencode edit path=/p/a.ts"},
    {"write", "write", "{\"filePath\":\"/p/a.ts\",\"content\":\"x\"}",
     "opencode write path=/p/a.ts"},
    {"apply_patch", "apply_patch",
     "{\"patchText\":\"*** Begin Patch\\n*** Add File: a.ts\\n+x\\n*** End Patch\"}",
     "opencode edit +write:a.ts"},
    {"task", "task", "{\"prompt\":\"x\",\"description\":\"y\",\"subagent_type\":\"general\"}",
     "opencode run mode=general"},

    /* Gemini CLI */
    {"read_file", "read_file", "{\"file_path\":\"a.py\",\"start_line\":11,\"end_line\":20}",
     "gemini_cli read path=a.py lines=11..20"},
    {"read_file, end only", "read_file", "{\"file_path\":\"a.py\",\"end_line\":20}",
     "gemini_cli read path=a.py lines=1..20"},
    {"read_file, older, from zero", "read_file",
     "{\"absolute_path\":\"/p/a.py\",\"offset\":10,\"limit\":5}",
     "gemini_cli read path=/p/a.py lines=11..15 offset=10 limit=5"},
    {"read_many_files", "read_many_files", "{\"include\":[\"a.py\",\"src/*.py\"],\"exclude\":[]}",
     "gemini_cli read path=a.py lines=1..-1 +read:src/*.py"},
    {"grep_search", "grep_search",
     "{\"pattern\":\"lamp\",\"dir_path\":\"src\",\"total_max_matches\":30}",
     "gemini_cli search path=src limit=30 query=lamp"},
    {"run_shell_command", "run_shell_command", "{\"command\":\"cat a.py\",\"dir_path\":\"src\"}",
     "gemini_cli read path=src/a.py lines=1..-1"},
    {"read_background_output", "read_background_output", "{\"pid\":812,\"lines\":40}",
     "gemini_cli poll limit=40 process=812"},
    {"list_background_processes", "list_background_processes", "{}", "gemini_cli list"},
    {"replace", "replace",
     "{\"file_path\":\"a.py\",\"old_string\":\"a\",\"new_string\":\"b\",\"instruction\":\"c\"}",
     "gemini_cli edit path=a.py"},
    {"write_file", "write_file", "{\"file_path\":\"a.py\",\"content\":\"x\"}",
     "gemini_cli write path=a.py"},
    {"list_directory", "list_directory", "{\"dir_path\":\"src\"}", "gemini_cli list path=src"},
    {"glob by dir_path", "glob", "{\"pattern\":\"*.py\",\"dir_path\":\"src\"}",
     "gemini_cli list path=src query=*.py"},

    /* Cline */
    {"read_files", "read_files",
     "{\"files\":[{\"path\":\"a.js\",\"start_line\":3,\"end_line\":9},{\"path\":\"b.js\"}]}",
     "cline read path=a.js lines=3..9 +read:b.js"},
    {"read_files by alias", "read_files", "{\"file_paths\":[\"a.js\"]}",
     "cline read path=a.js lines=1..-1"},
    {"read_files by objects with other keys", "read_files", "{\"files\":[{\"filePath\":\"a.js\"}]}",
     "cline read path=a.js lines=1..-1"},
    {"search_codebase", "search_codebase", "{\"queries\":[\"ink\",\"pen\"]}",
     "cline search query=ink"},
    {"run_commands", "run_commands", "{\"commands\":[\"cat a.js\",\"ls src\"]}",
     "cline read path=a.js lines=1..-1 +list:src"},
    {"editor", "editor", "{\"path\":\"a.js\",\"old_text\":\"a\",\"new_text\":\"b\"}",
     "cline edit path=a.js"},
    {"read_file, classic", "read_file",
     "{\"path\":\"a.js\",\"start_line\":\"3\",\"end_line\":\"9\"}",
     "cline read path=a.js lines=3..9"},
    {"execute_command", "execute_command", "{\"command\":\"npm test\",\"requires_approval\":false}",
     "cline run"},
    {"search_files", "search_files",
     "{\"path\":\"src\",\"regex\":\"ink\",\"file_pattern\":\"*.js\"}",
     "cline search path=src query=ink"},
    {"replace_in_file", "replace_in_file", "{\"path\":\"a.js\",\"diff\":\"x\"}",
     "cline edit path=a.js"},
    {"write_to_file", "write_to_file", "{\"path\":\"a.js\",\"content\":\"x\"}",
     "cline write path=a.js"},
    {"list_files", "list_files", "{\"path\":\"src\",\"recursive\":true}", "cline list path=src"},

    /* SWE-agent, OpenHands, Anthropic */
    {"view a range", "str_replace_editor",
     "{\"command\":\"view\",\"path\":\"/r/a.py\",\"view_range\":[10,40]}",
     "swe_agent read path=/r/a.py lines=10..40 mode=view"},
    {"view to the end", "str_replace_editor",
     "{\"command\":\"view\",\"path\":\"/r/a.py\",\"view_range\":[10,-1]}",
     "swe_agent read path=/r/a.py lines=10..-1 mode=view"},
    {"view", "str_replace_based_edit_tool", "{\"command\":\"view\",\"path\":\"/r/a.py\"}",
     "anthropic read path=/r/a.py lines=1..-1 mode=view"},
    {"create", "str_replace_editor",
     "{\"command\":\"create\",\"path\":\"/r/a.py\",\"file_text\":\"x\"}",
     "swe_agent write path=/r/a.py mode=create"},
    {"str_replace", "file_editor",
     "{\"command\":\"str_replace\",\"path\":\"/r/a.py\",\"old_str\":\"a\"}",
     "openhands edit path=/r/a.py mode=str_replace"},
    {"undo_edit", "str_replace_editor", "{\"command\":\"undo_edit\",\"path\":\"/r/a.py\"}",
     "swe_agent edit path=/r/a.py mode=undo_edit"},
    {"memory", "memory", "{\"command\":\"view\",\"path\":\"/memories\"}",
     "anthropic read path=/memories lines=1..-1 mode=view"},
    {"memory that renames", "memory",
     "{\"command\":\"rename\",\"old_path\":\"/m/a\",\"new_path\":\"/m/b\"}",
     "anthropic write path=/m/a +write:/m/b"},
    {"open", "open", "{\"path\":\"a.py\",\"line_number\":293}", "swe_agent read path=a.py"},
    {"goto", "goto", "{\"line_number\":10}", "swe_agent read"},
    {"scroll_down", "scroll_down", "{}", "swe_agent read"},
    {"search_file", "search_file", "{\"search_term\":\"lamp\",\"file\":\"a.py\"}",
     "swe_agent search path=a.py query=lamp"},
    {"search_dir", "search_dir", "{\"search_term\":\"lamp\",\"dir\":\"src\"}",
     "swe_agent search path=src query=lamp"},
    {"find_file", "find_file", "{\"file_name\":\"a.py\",\"dir\":\"src\"}",
     "swe_agent list path=src query=a.py"},
    {"an action as text", "open", "{\"command\":\"open a.py 293\\n\"}", "swe_agent read path=a.py"},
    {"an edit as text names no file", "edit",
     "{\"command\":\"edit 9:9\\n    x = 1\\nend_of_edit\\n\"}", "swe_agent edit"},
    {"any command as its own tool", "rm", "{\"command\":\"rm a.py\\n\"}",
     "swe_agent write path=a.py"},
    {"bash of the built-in kind", "bash", "{\"command\":\"cat a.py\",\"restart\":false}",
     "anthropic read path=a.py lines=1..-1"},
    {"bash of nobody in particular", "bash", "{\"command\":\"cat a.py\"}",
     "unknown read path=a.py lines=1..-1"},
    {"terminal", "terminal", "{\"command\":\"cat a.py\",\"timeout\":5}",
     "openhands read path=a.py lines=1..-1 process=terminal"},
    {"terminal asked for more", "execute_bash", "{\"command\":\"\"}",
     "openhands poll process=execute_bash"},
    {"typing into the terminal", "terminal", "{\"command\":\"cat a.py\",\"is_input\":\"true\"}",
     "openhands run process=terminal"},
    {"OpenHands grep", "grep", "{\"pattern\":\"lamp\",\"path\":\"src\"}",
     "unknown search path=src query=lamp"},

    /* pi */
    {"pi read", "read", "{\"path\":\"a.ts\",\"offset\":151,\"limit\":10}",
     "pi read path=a.ts lines=151..160 offset=151 limit=10"},
    {"pi bash", "bash", "{\"command\":\"ls src\",\"timeout\":5}", "unknown list path=src"},
    {"pi edit", "edit", "{\"path\":\"a.ts\",\"edits\":[{\"oldText\":\"a\",\"newText\":\"b\"}]}",
     "pi edit path=a.ts"},
    {"pi write", "write", "{\"path\":\"a.ts\",\"content\":\"x\"}", "pi write path=a.ts"},
    {"pi grep", "grep", "{\"pattern\":\"x\",\"path\":\"src\",\"glob\":\"*.ts\",\"limit\":9}",
     "pi search path=src limit=9 query=x"},
    {"pi find", "find", "{\"pattern\":\"*.ts\",\"path\":\"src\",\"limit\":9}",
     "pi list path=src limit=9 query=*.ts"},
    {"pi ls", "ls", "{\"path\":\"src\"}", "pi list path=src"},

    /* Copilot */
    {"view", "view", "{\"path\":\"/p/a.ts\",\"view_range\":[3,9]}",
     "copilot read path=/p/a.ts lines=3..9"},
    {"read_bash", "read_bash", "{\"shellId\":\"30\",\"delay\":2}", "copilot poll process=30"},

    /* names and shapes */
    {"an MCP tool by its last part", "mcp__files__read_file", "{\"path\":\"a.c\"}",
     "cline read path=a.c lines=1..-1"},
    {"a namespace with two lines", "files__read_file", "{\"path\":\"a.c\"}",
     "cline read path=a.c lines=1..-1"},
    {"a namespace with one line", "my_files_read_text_file", "{\"path\":\"a.c\"}",
     "unknown read path=a.c lines=1..-1"},
    {"a namespace with a dot", "files.edit_file", "{\"path\":\"a.c\"}", "unknown edit path=a.c"},
    {"two files of one call", "mcp__files__move_file",
     "{\"source\":\"a.c\",\"destination\":\"b.c\"}", "unknown write path=a.c +write:b.c"},
    {"a last part whose keys do not fit is no such tool", "mcp__mail__read", "{\"id\":4}",
     "unknown other guessed"},
    {"a name says what it does", "mcp__notes__view_note", "{\"path\":\"n/a.md\"}",
     "unknown read path=n/a.md guessed"},
    {"an issue is not a file", "mcp__hub__create_issue", "{\"title\":\"x\"}",
     "unknown other guessed"},
    {"a tool of a shop", "get_reservation_details", "{\"reservation_id\":\"X\"}",
     "unknown other guessed"},
    {"recall", "mcp__weir__weir_recall", "{\"handle\":\"h1\"}", "unknown recall cursor=h1"},
    {"arguments that are not JSON", "Read", "{\"file_path\":\"/p/a", "unknown other guessed"},
    {"arguments that are a list", "Read", "[1,2]", "unknown other guessed"},
    {"no arguments", "Read", "", "unknown other guessed"},
    {"arguments of the wrong kind", "Read",
     "{\"file_path\":{\"a\":1},\"offset\":\"x\",\"limit\":[]}", "claude_code read lines=1..-1"},
    {"a number too large for a line", "Read",
     "{\"file_path\":\"/a\",\"offset\":99999999999999999999}",
     "claude_code read path=/a lines=1..-1"},
    {"escapes in arguments are undone", "Read", "{\"file_path\":\"/p/\\u00e9\\/a.c\"}",
     "claude_code read path=/p/\xc3\xa9/a.c lines=1..-1"},
};

static void calls_give_handles(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(calls); i++)
        wrong += !check(calls[i].behaviour, calls[i].name, calls[i].arguments, NULL, calls[i].want);
    assert_int_equal(wrong, 0);
}

/* --- results --- */

#define READ_CC "Read", "{\"file_path\":\"/p/a.go\"}"
#define BASH_CC "Bash", "{\"command\":\"make\"}"
#define EXEC    "exec_command", "{\"cmd\":\"make\"}"
#define READ_OC "read", "{\"filePath\":\"/p/a.ts\"}"
#define READ_PI "read", "{\"path\":\"a.ts\"}"
#define BASH    "bash", "{\"command\":\"make\"}"
#define VIEW    "str_replace_editor", "{\"command\":\"view\",\"path\":\"/r/a.py\"}"
#define OPEN    "open", "{\"path\":\"a.py\",\"line_number\":50}"

static const struct {
    const char *behaviour, *name, *arguments, *result, *want;
} results[] = {
    /* Claude Code */
    {"numbered lines tell the total", READ_CC, "1\tpackage a\n2\t\n3\tfunc main() {}",
     "claude_code read path=/p/a.go lines=1..-1 total=3"},
    {"older numbering with an arrow", READ_CC,
     "     1\xe2\x86\x92package a\n     2\xe2\x86\x92\n\n<system-reminder>\nBe "
     "careful.\n</system-reminder>\n",
     "claude_code read path=/p/a.go lines=1..-1 total=2"},
    {"a partial view", READ_CC,
     "<system-reminder>PARTIAL view of the file</system-reminder>\n1\ta\n2\tb\n",
     "claude_code read path=/p/a.go lines=1..2 cut=tail"},
    {"a file too large", READ_CC,
     "File content (41425 tokens) exceeds maximum allowed tokens (25000). Please use offset and "
     "limit.",
     "claude_code read path=/p/a.go lines=1..-1 error"},
    {"an unchanged file", READ_CC,
     "File unchanged since last read. The content from the earlier Read is still current.",
     "claude_code read path=/p/a.go lines=1..-1 unchanged"},
    {"a command that failed", BASH_CC, "Exit code 2\nmake: *** [all] Error 1",
     "claude_code run exit=2 error"},
    {"a call that the user refused", BASH_CC,
     "The user doesn't want to proceed with this tool use. The tool use was rejected.",
     "claude_code run error"},
    {"a call that is not allowed", BASH_CC,
     "Permission to use Bash with command make has been denied.", "claude_code run error"},
    {"words of a user elsewhere are text", BASH_CC, "ok\nThe user doesn't want to wait.\n",
     "claude_code run"},
    {"an exit code elsewhere is text", BASH_CC, "ok\nExit code 2\n", "claude_code run"},
    {"a spilled output", BASH_CC,
     "<persisted-output>\nOutput too large (4.8MB). Full output saved to: "
     "/h/x/tool-results/t1.txt\n\nPreview (first "
     "2KB):\nline\n</persisted-output>",
     "claude_code run spill=/h/x/tool-results/t1.txt cut=tail"},
    {"a background command", BASH_CC,
     "Command running in background with ID: bt2k. Output is being written to: "
     "/tmp/c/tasks/bt2k.output",
     "claude_code run process=bt2k spill=/tmp/c/tasks/bt2k.output running"},
    {"a task's output", "TaskOutput", "{\"task_id\":\"bt2k\"}",
     "<retrieval_status>success</retrieval_status>\n\n<task_id>bt2k</"
     "task_id>\n\n<task_type>local_bash</task_type>\n\n"
     "<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<output>\n[Truncated. Full output: "
     "/t/bt2k.output]\n\nx\n"
     "</output>",
     "claude_code poll process=bt2k spill=/t/bt2k.output exit=1 cut=head"},
    {"a task that goes on", "TaskOutput", "{\"task_id\":\"bt2k\"}",
     "<retrieval_status>not_ready</retrieval_status>\n\n<task_id>bt2k</"
     "task_id>\n\n<status>running</status>",
     "claude_code poll process=bt2k running"},
    {"a page of matches", "Grep", "{\"pattern\":\"a\",\"head_limit\":50,\"offset\":50}",
     "a.go:1:a\n\n[Showing results with pagination = limit: 50, offset: 50]",
     "claude_code search offset=50 limit=50 next=100 query=a cut=tail"},
    {"a list of files", "Grep", "{\"pattern\":\"a\"}", "Found 2 files\na.go\nb.go",
     "claude_code search query=a"},
    {"an edit", "Edit", "{\"file_path\":\"/p/a.go\"}",
     "The file /p/a.go has been updated successfully.", "claude_code edit path=/p/a.go"},
    {"a tool error", "Edit", "{\"file_path\":\"/p/a.go\"}",
     "<tool_use_error>String to replace not found</tool_use_error>",
     "claude_code edit path=/p/a.go error"},

    /* Codex */
    {"a command that ended", EXEC,
     "Chunk ID: 6c15f7\nWall time: 0.0512 seconds\nProcess exited with code 3\nOriginal token "
     "count: 4\nOutput:\nboom\n",
     "codex run exit=3"},
    {"a command that goes on", EXEC,
     "Chunk ID: 6c15f7\nWall time: 10.0 seconds\nProcess running with session ID 15748\nOriginal "
     "token count: 0\nOutput:\n",
     "codex run process=15748 running"},
    {"a poll", "write_stdin", "{\"session_id\":15748,\"chars\":\"\"}",
     "Wall time: 30.0 seconds\nProcess exited with code 0\nOutput:\nok\n",
     "codex poll process=15748 exit=0"},
    {"legacy shell", "shell", "{\"command\":[\"make\"]}",
     "Exit code: 2\nWall time: 1.2 seconds\nTotal output lines: "
     "310\nOutput:\nboom",
     "codex run total=310 exit=2"},
    {"older JSON", "shell", "{\"command\":[\"make\"]}",
     "{\"output\":\"boom\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":1.2}}",
     "codex run exit=1"},
    {"a cut in the middle", EXEC,
     "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nWarning: truncated output "
     "(original token count: "
     "34519)\nTotal output lines: 633\n\na\xe2\x80\xa6"
     "123 tokens truncated\xe2\x80\xa6z",
     "codex run total=633 exit=0 cut=middle"},
    {"a mark alone", EXEC,
     "Process exited with code 0\nOutput:\na\xe2\x80\xa6"
     "55 chars truncated\xe2\x80\xa6z",
     "codex run exit=0 cut=middle"},
    {"a patch that did not fit", "apply_patch",
     "*** Begin Patch\n*** Update File: a.rs\n*** End Patch",
     "apply_patch verification failed: Failed to find expected lines in a.rs:\nfn a() {}",
     "codex edit path=a.rs error"},
    {"a patch applied", "apply_patch", "*** Begin Patch\n*** Update File: a.rs\n*** End Patch",
     "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM a.rs\n",
     "codex edit path=a.rs exit=0"},
    {"an MCP tool's header", "mcp__docs__fetch_page", "{\"url\":\"https://example.org\"}",
     "Wall time: 0.8 seconds\nOutput:\n{}", "unknown fetch query=https://example.org guessed"},

    /* opencode */
    {"a page of a file", READ_OC,
     "<path>/p/a.ts</path>\n<type>file</type>\n<content>\n1: a\n2: b\n\n(Showing lines 1-2000 of "
     "8000. Use offset=2001 to "
     "continue.)\n</content>",
     "opencode read path=/p/a.ts lines=1..2000 next=2001 total=8000 cut=tail"},
    {"a page by bytes", READ_OC,
     "<path>/p/a.ts</path>\n<type>file</type>\n<content>\n1: a\n\n(Output capped at 50 KB. Showing "
     "lines 1-812. Use "
     "offset=813 to continue.)\n</content>",
     "opencode read path=/p/a.ts lines=1..812 next=813 cut=tail"},
    {"the end of a file", READ_OC,
     "<path>/p/a.ts</path>\n<type>file</type>\n<content>\n1: a\n2: b\n\n(End of file - total 2 "
     "lines)\n</content>",
     "opencode read path=/p/a.ts lines=1..-1 total=2"},
    {"matches that go on", "grep", "{\"pattern\":\"a\",\"include\":\"*\"}",
     "Found 100 matches (more matches available)\n/p/a.ts:\n  Line 12: a\n\n(Results truncated. "
     "Use a narrower path.)",
     "opencode search query=a cut=tail"},
    {"a command's tail", "bash", "{\"command\":\"make\",\"workdir\":\"/p\"}",
     "...output truncated...\n\nFull output saved to: /h/tool_1\n\nlast line",
     "opencode run spill=/h/tool_1 cut=head"},
    {"any tool's head", "webfetch", "{\"url\":\"u\"}",
     "text\n\n...812 lines truncated...\n\nThe tool call succeeded but the output was truncated. "
     "Full output saved to: "
     "/h/tool_2\nUse grep to search it.",
     "opencode fetch query=u spill=/h/tool_2 cut=tail"},

    /* Gemini CLI */
    {"a file cut", "read_file", "{\"file_path\":\"a.py\"}",
     "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-500 of 2300 total "
     "lines.\nAction: To read "
     "more, use the 'start_line' parameter. For example, to read on, use start_line: 501.\n\n--- "
     "FILE CONTENT (truncated) "
     "---\nimport a\n",
     "gemini_cli read path=a.py lines=1..500 next=501 total=2300 cut=tail"},
    {"a command", "run_shell_command", "{\"command\":\"make\"}",
     "Output: boom\nError: no\nExit Code: 2\nProcess Group PGID: 77", "gemini_cli run exit=2"},
    {"a command in the background", "run_shell_command",
     "{\"command\":\"serve\",\"is_background\":true}",
     "Output: up\nBackground PIDs: 812\nProcess Group PGID: 811",
     "gemini_cli run process=812 running"},
    {"matches", "grep_search", "{\"pattern\":\"lamp\"}",
     "Found 1 matches for pattern \"lamp\" in path \".\":\n---\nFile: a.py\nL12: lamp\n---",
     "gemini_cli search query=lamp"},
    {"a masked output", "run_shell_command", "{\"command\":\"make\"}",
     "Output too large. Showing first 10 and last 10 characters. For full output see: "
     "/t/out.txt\nabc\n... [812 characters "
     "omitted] ...\nxyz",
     "gemini_cli run spill=/t/out.txt cut=middle"},
    {"a masked output, tagged", "run_shell_command", "{\"command\":\"make\"}",
     "<tool_output_masked>\nfirst\n</tool_output_masked>", "gemini_cli run cut=middle"},

    /* Cline */
    {"a page", "read_files", "{\"files\":[{\"path\":\"a.js\"}]}",
     "  1 | a\n  2 | b\n[Showing lines 1-2000 of 9000. Use start_line to read on.]",
     "cline read path=a.js lines=1..2000 next=2001 total=9000 cut=tail"},
    {"a command cut", "run_commands", "{\"commands\":[\"make\"]}",
     "a\n[... output truncated: 90000 chars total. ...]\nz\n[stderr]\nboom",
     "cline run cut=middle"},

    /* SWE-agent, OpenHands */
    {"a view", VIEW,
     "Here's the result of running `cat -n` on /r/a.py:\n     1\timport a\n     2\t\n",
     "swe_agent read path=/r/a.py lines=1..-1 total=2 mode=view"},
    {"a view clipped", VIEW,
     "Here's the result of running `cat -n` on /r/a.py:\n     1\timport a\n<response "
     "clipped><NOTE>Due to the max output "
     "limit, only part of this file has been shown to you.</NOTE>",
     "swe_agent read path=/r/a.py lines=1..1 mode=view cut=tail"},
    {"a window", OPEN,
     "[File: /r/a.py (1997 lines total)]\n(1456 more lines above)\n1457:a\n1458:b\n(539 more lines "
     "below)\n(Open file: "
     "/r/a.py)\n(Current directory: /r)\nbash-$",
     "swe_agent read path=a.py lines=1457..1458 next=1459 total=1997 cut=tail"},
    {"a window whose call named no file", "scroll_down", "{}",
     "[File: /r/a.py (94 lines total)]\n1:a\n2:b\n(Open file: /r/a.py)",
     "swe_agent read path=/r/a.py lines=1..2 next=3 total=94"},
    {"an edit whose call named no file", "edit", "{\"search\":\"a\",\"replace\":\"b\"}",
     "[File: /r/a.py (94 lines total)]\n1:a\n(Open file: /r/a.py)",
     "swe_agent edit path=/r/a.py total=94"},
    {"a terminal", "terminal", "{\"command\":\"make\"}",
     "boom\n[Current working directory: /r]\n[Python interpreter: /usr/bin/python]\n[Command "
     "finished with exit code 2]",
     "openhands run process=terminal exit=2"},
    {"a terminal that goes on", "terminal", "{\"command\":\"\"}",
     "[Below is the output of the previous command.]\nx\n[The command has no new output after 30 "
     "seconds. You may wait.]",
     "openhands poll process=terminal running"},

    /* pi */
    {"a page", READ_PI, "a\nb\n\n[Showing lines 1-2000 of 8000. Use offset=2001 to continue.]",
     "pi read path=a.ts lines=1..2000 next=2001 total=8000 cut=tail"},
    {"a page by limit", "read", "{\"path\":\"a.ts\",\"limit\":150}",
     "a\n\n[180 more lines in file. Use offset=151 to "
     "continue.]",
     "pi read path=a.ts lines=1..150 limit=150 next=151 cut=tail"},
    {"a command's tail", BASH,
     "z\n\n[Showing lines 186-1175 of 1175 (50.0KB limit). Full output: /tmp/pi-bash-1.log]",
     "pi run total=1175 spill=/tmp/pi-bash-1.log cut=head"},
    {"a command that failed", BASH, "boom\n\n\nCommand exited with code 128", "pi run exit=128"},
    {"a limit of matches", "grep", "{\"pattern\":\"x\",\"limit\":9}",
     "a.ts:1: x\n\n[9 matches limit reached. Use limit=18 for more, or refine pattern]",
     "pi search limit=9 query=x cut=tail"},

    /* mini-swe-agent, Copilot */
    {"a command of mini-swe-agent", BASH, "<returncode>1</returncode>\n<output>\nboom\n</output>",
     "mini_swe_agent run exit=1"},
    {"a long one", BASH,
     "<returncode>0</returncode>\n<warning>\nThe output of your last command was too "
     "long.\n</warning>\n<output_head>\na\n"
     "</output_head>\n<elided_chars>\n348 characters "
     "elided\n</elided_chars>\n<output_tail>\nz\n</output_tail>",
     "mini_swe_agent run exit=0 cut=middle"},
    {"a shell of Copilot", BASH, "ok\n<shellId: 59 completed with exit code 0>",
     "copilot run process=59 exit=0"},
    {"numbers with a point", "view", "{\"path\":\"/p/a.ts\",\"view_range\":[28,30]}",
     "28. a\n29. b\n30. c", "copilot read path=/p/a.ts lines=28..30"},

    /* what results must not do */
    {"an empty result", READ_CC, "", "claude_code read path=/p/a.go lines=1..-1"},
    {"footers of others are text", READ_CC,
     "1\ta\n2\t[Showing lines 1-5 of 90. Use offset=6 to continue.]",
     "claude_code read path=/p/a.go lines=1..-1 total=2"},
    {"text that only looks like a header", READ_CC, "1\tProcess exited with code 9\n2\tx",
     "claude_code read path=/p/a.go lines=1..-1 total=2"},
    {"the call's lines stand where the result has fewer", "Read",
     "{\"file_path\":\"/a\",\"offset\":5,\"limit\":10}", "5\ta\n6\tb",
     "claude_code read path=/a lines=5..6 offset=5 limit=10"},
};

static void results_refine_handles(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(results); i++)
        wrong += !check(results[i].behaviour, results[i].name, results[i].arguments,
                        results[i].result, results[i].want);
    assert_int_equal(wrong, 0);
}

/* --- the rest --- */

static void recall_is_known_by_its_name_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool want;
    } cases[] = {
        {"weir_recall", true},
        {"mcp__weir__weir_recall", true},
        {"weir__weir_recall", true},
        {"weir_weir_recall", true},
        {"weir.weir_recall", true},
        {"weir/weir_recall", true},
        {"weir_recall_all", false},
        {"xweir_recall", false},
        {"weir-weir_recall", false},
        {"Weir_Recall", false},
        {"recall", false},
        {"", false},
        {"mcp__weir__recall", false},
        {"weir:weir_recall", false},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        if (wr_tool_is_recall(wr_span_of(cases[i].name)) != cases[i].want)
            print_message("%s\n", cases[i].name);
        assert_int_equal(wr_tool_is_recall(wr_span_of(cases[i].name)), cases[i].want);
    }
}

static void writes_are_walked(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_tool_handles handles;
    size_t at = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span command = WR_LIT("{\"command\":\"cat a && sed -i s/x/y/ b && cp b c\"}");
    assert_int_equal(wr_tool_call(&handles, &arena, WR_LIT("Bash"), command, WR_LIT("/w")),
                     WEIR_OK);
    assert_true(wr_span_is(wr_tool_next_write(&handles, &at)->path, "/w/b"));
    assert_true(wr_span_is(wr_tool_next_write(&handles, &at)->path, "/w/c"));
    assert_null(wr_tool_next_write(&handles, &at));

    weir_span edit = WR_LIT("{\"file_path\":\"/w/b\"}");
    assert_int_equal(wr_tool_call(&handles, &arena, WR_LIT("Edit"), edit, WR_LIT("/w")), WEIR_OK);
    at = 0;
    assert_non_null(wr_tool_next_write(&handles, &at));
    wr_tool_result(&handles, WR_LIT("no such text"), true);
    at = 0;
    assert_null(wr_tool_next_write(&handles, &at)); /* a failed edit changed nothing */
    wr_arena_release(&arena);
}

static void only_head_and_tail_of_a_result_are_read(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_tool_handles handles;
    struct wr_buf text;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 64 << 20);
    for (int i = 0; i < 100000; i++)
        wr_buf_printf(&text, "%d\tProcess exited with code 9\n", i + 1);
    weir_span call = WR_LIT("{\"file_path\":\"/w/b\"}");
    assert_int_equal(wr_tool_call(&handles, &arena, WR_LIT("Read"), call, WR_LIT("")), WEIR_OK);
    wr_tool_result(&handles, wr_buf_view(&text), false);
    assert_false(handles.has_exit_code);
    assert_int_equal(handles.end_line, 100000);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

/* Every allocation of a call fails once: the status says so, and nothing is left behind. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const char *const bash =
        "{\"command\":\"cd /srv/a/../b && cat 'x y' \\\"z\\\" | head -5; cp a b c/\"}";
    bool passed = false;
    for (size_t bytes = 0; bytes < 512 * 1024 && !passed; bytes += 1024) {
        struct wr_arena arena;
        struct wr_tool_handles handles;
        wr_arena_init(&arena, bytes);
        weir_status status =
            wr_tool_call(&handles, &arena, WR_LIT("Bash"), wr_span_of(bash), WR_LIT("/w"));
        passed = status == WEIR_OK && handles.effects_count == 4;
        assert_true(passed || status == WEIR_LIMIT);
        wr_arena_release(&arena);
    }
    assert_true(passed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_give_handles),
        cmocka_unit_test(results_refine_handles),
        cmocka_unit_test(recall_is_known_by_its_name_alone),
        cmocka_unit_test(writes_are_walked),
        cmocka_unit_test(only_head_and_tail_of_a_result_are_read),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
