/* The tools of the agents we know, one row for each name and shape of arguments.
 *
 * A row is found by the tool's name and the keys that its arguments must have, never by the client:
 * agents borrow each other's tools, and one name (`read_file`) has had many shapes. Rows of one
 * name stand together, those with more keys first, because the first row that fits is taken. Each
 * row says what the tool does and the role of each argument; tool.c does the reading.
 *
 * A name may have a server's name in front (`mcp__fs__read_file`): then its last part is looked up,
 * but only in rows whose keys fit. For a name that no row has, wr_tool_guess() looks at its words:
 * "read_notes" reads.
 *
 * To add an agent's tool, add a row, and cases to tool_test.c.
 */
#include "transcript/tool_table.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

#define PATH(key)         \
    {                     \
        key, WR_ROLE_PATH \
    }
#define PATHS(key)         \
    {                      \
        key, WR_ROLE_PATHS \
    }
#define OFFSET(key)         \
    {                       \
        key, WR_ROLE_OFFSET \
    }
#define LIMIT(key)         \
    {                      \
        key, WR_ROLE_LIMIT \
    }
#define START(key)         \
    {                      \
        key, WR_ROLE_START \
    }
#define END(key)         \
    {                    \
        key, WR_ROLE_END \
    }
#define QUERY(key)         \
    {                      \
        key, WR_ROLE_QUERY \
    }
#define COMMAND(key)         \
    {                        \
        key, WR_ROLE_COMMAND \
    }
#define WORKDIR(key)         \
    {                        \
        key, WR_ROLE_WORKDIR \
    }
#define PROCESS(key)         \
    {                        \
        key, WR_ROLE_PROCESS \
    }
#define MODE(key)         \
    {                     \
        key, WR_ROLE_MODE \
    }

#define CLAUDE    WR_TOOL_CLAUDE_CODE
#define CODEX     WR_TOOL_CODEX
#define OPENCODE  WR_TOOL_OPENCODE
#define GEMINI    WR_TOOL_GEMINI_CLI
#define CLINE     WR_TOOL_CLINE
#define SWE       WR_TOOL_SWE_AGENT
#define HANDS     WR_TOOL_OPENHANDS
#define PI        WR_TOOL_PI
#define ANTHROPIC WR_TOOL_ANTHROPIC
#define COPILOT   WR_TOOL_COPILOT
#define ANYONE    WR_TOOL_UNKNOWN

/* The editor tool that Anthropic defined, and the frameworks that took it over. */
#define EDITOR(name, dialect)                          \
    {                                                  \
        name, "command path", dialect, WR_EFFECT_EDIT, \
        {                                              \
            {"command", WR_ROLE_VERB}, PATH("path"),   \
            {                                          \
                "view_range", WR_ROLE_LINES            \
            }                                          \
        }                                              \
    }

/* Rows of one name stand together, the ones with more keys first. */
static const struct wr_tool_row rows[] = {
    /* Claude Code */
    {"Read",
     "file_path",
     CLAUDE,
     WR_EFFECT_READ,
     {PATH("file_path"), OFFSET("offset"), LIMIT("limit"), MODE("pages")}},
    {"Grep",
     "pattern",
     CLAUDE,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("path"), OFFSET("offset"), LIMIT("head_limit"), MODE("output_mode")}},
    {"Glob", "pattern", CLAUDE, WR_EFFECT_LIST, {QUERY("pattern"), PATH("path")}},
    {"LS", "path", CLAUDE, WR_EFFECT_LIST, {PATH("path")}},
    {"Bash", "command", CLAUDE, WR_EFFECT_RUN, {COMMAND("command")}},
    {"PowerShell", "command", CLAUDE, WR_EFFECT_RUN, {{"command", WR_ROLE_SOURCE}}},
    {"TaskOutput", "task_id", CLAUDE, WR_EFFECT_POLL, {PROCESS("task_id")}},
    {"AgentOutputTool", "agentId", CLAUDE, WR_EFFECT_POLL, {PROCESS("agentId")}},
    {"BashOutput", "bash_id", CLAUDE, WR_EFFECT_POLL, {PROCESS("bash_id"), QUERY("filter")}},
    {"TaskStop", "task_id", CLAUDE, WR_EFFECT_OTHER, {PROCESS("task_id")}},
    {"TaskStop", "shell_id", CLAUDE, WR_EFFECT_OTHER, {PROCESS("shell_id")}},
    {"KillShell", "shell_id", CLAUDE, WR_EFFECT_OTHER, {PROCESS("shell_id")}},
    {"KillBash", "shell_id", CLAUDE, WR_EFFECT_OTHER, {PROCESS("shell_id")}},
    {"Edit", "file_path", CLAUDE, WR_EFFECT_EDIT, {PATH("file_path")}},
    {"MultiEdit", "file_path", CLAUDE, WR_EFFECT_EDIT, {PATH("file_path")}},
    {"Write", "file_path", CLAUDE, WR_EFFECT_WRITE, {PATH("file_path")}},
    {"NotebookEdit", "notebook_path", CLAUDE, WR_EFFECT_EDIT, {PATH("notebook_path")}},
    {"NotebookEdit", "file_path", CLAUDE, WR_EFFECT_EDIT, {PATH("file_path")}},
    {"NotebookRead", "notebook_path", CLAUDE, WR_EFFECT_READ, {PATH("notebook_path")}},
    {"LSP", "filePath", CLAUDE, WR_EFFECT_SEARCH, {PATH("filePath"), MODE("operation")}},
    {"WebFetch", "url", CLAUDE, WR_EFFECT_FETCH, {QUERY("url")}},
    {"WebSearch", "query", CLAUDE, WR_EFFECT_FETCH, {QUERY("query")}},
    {"Task", "prompt", CLAUDE, WR_EFFECT_RUN, {MODE("subagent_type")}},
    {"Agent", "prompt", CLAUDE, WR_EFFECT_RUN, {MODE("subagent_type")}},
    {"TodoWrite", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"TodoRead", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"TaskCreate", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"TaskUpdate", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"TaskList", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"TaskGet", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"ExitPlanMode", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"EnterPlanMode", "", CLAUDE, WR_EFFECT_PLAN, {{0}}},
    {"AskUserQuestion", "", CLAUDE, WR_EFFECT_OTHER, {{0}}},
    {"Skill", "", CLAUDE, WR_EFFECT_SKILL, {MODE("skill")}},
    {"SlashCommand", "", CLAUDE, WR_EFFECT_OTHER, {MODE("command")}},
    {"ToolSearch", "", CLAUDE, WR_EFFECT_OTHER, {QUERY("query")}},
    {"ListMcpResourcesTool", "", CLAUDE, WR_EFFECT_LIST, {{0}}},
    {"ReadMcpResourceTool", "uri", CLAUDE, WR_EFFECT_FETCH, {QUERY("uri")}},

    /* Codex */
    {"exec_command", "cmd", CODEX, WR_EFFECT_RUN, {COMMAND("cmd"), WORKDIR("workdir")}},
    {"write_stdin",
     "session_id",
     CODEX,
     WR_EFFECT_POLL,
     {PROCESS("session_id"), {"chars", WR_ROLE_INPUT}}},
    {"apply_patch", "patchText", OPENCODE, WR_EFFECT_EDIT, {{"patchText", WR_ROLE_PATCH}}},
    {"apply_patch", "input", CODEX, WR_EFFECT_EDIT, {{"input", WR_ROLE_PATCH}}},
    {"apply_patch", "patch", CODEX, WR_EFFECT_EDIT, {{"patch", WR_ROLE_PATCH}}},
    {"apply_patch", "diff", ANYONE, WR_EFFECT_EDIT, {{"diff", WR_ROLE_PATCH}, PATH("path")}},
    {"apply_patch", "", CODEX, WR_EFFECT_EDIT, {{0}}},
    {"exec", "", CODEX, WR_EFFECT_RUN, {{"source", WR_ROLE_SOURCE}, {"code", WR_ROLE_SOURCE}}},
    {"wait", "cell_id", CODEX, WR_EFFECT_POLL, {PROCESS("cell_id")}},
    {"shell", "command", CODEX, WR_EFFECT_RUN, {COMMAND("command"), WORKDIR("workdir")}},
    {"local_shell",
     "command",
     CODEX,
     WR_EFFECT_RUN,
     {COMMAND("command"), WORKDIR("working_directory")}},
    {"shell_command", "command", CODEX, WR_EFFECT_RUN, {COMMAND("command"), WORKDIR("workdir")}},
    {"container.exec", "cmd", CODEX, WR_EFFECT_RUN, {COMMAND("cmd"), WORKDIR("workdir")}},
    {"grep_files",
     "pattern",
     CODEX,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("path"), LIMIT("limit")}},
    {"list_dir",
     "dir_path",
     CODEX,
     WR_EFFECT_LIST,
     {PATH("dir_path"), OFFSET("offset"), LIMIT("limit")}},
    {"list_dir", "path", ANYONE, WR_EFFECT_LIST, {PATH("path")}},
    {"view_image", "path", CODEX, WR_EFFECT_READ, {PATH("path")}},
    {"update_plan", "", CODEX, WR_EFFECT_PLAN, {{0}}},
    {"spawn_agent", "", CODEX, WR_EFFECT_RUN, {MODE("agent_type")}},
    {"wait_agent", "", CODEX, WR_EFFECT_POLL, {PROCESS("id")}},
    {"send_input", "id", CODEX, WR_EFFECT_RUN, {PROCESS("id")}},
    {"close_agent", "id", CODEX, WR_EFFECT_OTHER, {PROCESS("id")}},
    {"tool_search_call", "", CODEX, WR_EFFECT_OTHER, {QUERY("query")}},
    {"tool_search", "", CODEX, WR_EFFECT_OTHER, {QUERY("query")}},
    {"request_user_input", "", CODEX, WR_EFFECT_OTHER, {{0}}},

    /* read_file has had many shapes */
    {"read_file",
     "file_path start_line",
     GEMINI,
     WR_EFFECT_READ,
     {PATH("file_path"), START("start_line"), END("end_line")}},
    {"read_file",
     "file_path end_line",
     GEMINI,
     WR_EFFECT_READ,
     {PATH("file_path"), START("start_line"), END("end_line")}},
    {"read_file",
     "file_path mode",
     CODEX,
     WR_EFFECT_READ,
     {PATH("file_path"), OFFSET("offset"), LIMIT("limit"), MODE("mode")}},
    {"read_file",
     "file_path offset",
     CODEX,
     WR_EFFECT_READ,
     {PATH("file_path"), OFFSET("offset"), LIMIT("limit")}},
    {"read_file",
     "file_path limit",
     CODEX,
     WR_EFFECT_READ,
     {PATH("file_path"), OFFSET("offset"), LIMIT("limit")}},
    {"read_file", "file_path", GEMINI, WR_EFFECT_READ, {PATH("file_path")}},
    {"read_file",
     "absolute_path",
     GEMINI,
     WR_EFFECT_READ,
     {PATH("absolute_path"), {"offset", WR_ROLE_OFFSET0}, LIMIT("limit")}},
    {"read_file",
     "filePath",
     COPILOT,
     WR_EFFECT_READ,
     {PATH("filePath"), START("startLine"), END("endLine"), OFFSET("offset"), LIMIT("limit")}},
    {"read_file",
     "target_file",
     ANYONE,
     WR_EFFECT_READ,
     {PATH("target_file"), START("start_line_one_indexed"), END("end_line_one_indexed_inclusive"),
      OFFSET("offset"), LIMIT("limit")}},
    {"read_file", "files", CLINE, WR_EFFECT_READ, {PATHS("files")}},
    {"read_file",
     "path",
     CLINE,
     WR_EFFECT_READ,
     {PATH("path"), START("start_line"), END("end_line"), OFFSET("offset"), LIMIT("limit")}},

    /* opencode and pi; their names are the same, their keys are not */
    {"read",
     "filePath",
     OPENCODE,
     WR_EFFECT_READ,
     {PATH("filePath"), OFFSET("offset"), LIMIT("limit")}},
    {"read", "path", PI, WR_EFFECT_READ, {PATH("path"), OFFSET("offset"), LIMIT("limit")}},
    {"read",
     "file_path",
     PI,
     WR_EFFECT_READ,
     {PATH("file_path"), OFFSET("offset"), LIMIT("limit")}},
    {"grep", "pattern include", OPENCODE, WR_EFFECT_SEARCH, {QUERY("pattern"), PATH("path")}},
    {"grep",
     "pattern glob",
     PI,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("path"), LIMIT("limit")}},
    {"grep",
     "pattern limit",
     PI,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("path"), LIMIT("limit")}},
    {"grep",
     "pattern output_mode",
     COPILOT,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("path"), MODE("output_mode")}},
    {"grep", "pattern", ANYONE, WR_EFFECT_SEARCH, {QUERY("pattern"), PATH("path"), LIMIT("limit")}},
    {"glob", "pattern dir_path", GEMINI, WR_EFFECT_LIST, {QUERY("pattern"), PATH("dir_path")}},
    {"glob", "pattern", ANYONE, WR_EFFECT_LIST, {QUERY("pattern"), PATH("path")}},
    {"list", "path", OPENCODE, WR_EFFECT_LIST, {PATH("path")}},
    {"find", "pattern", PI, WR_EFFECT_LIST, {QUERY("pattern"), PATH("path"), LIMIT("limit")}},
    {"ls", "", PI, WR_EFFECT_LIST, {PATH("path"), LIMIT("limit")}},
    {"bash", "command restart", ANTHROPIC, WR_EFFECT_RUN, {COMMAND("command")}},
    {"bash", "restart", ANTHROPIC, WR_EFFECT_RUN, {{0}}},
    {"bash", "command workdir", OPENCODE, WR_EFFECT_RUN, {COMMAND("command"), WORKDIR("workdir")}},
    {"bash",
     "command sessionId",
     COPILOT,
     WR_EFFECT_RUN,
     {COMMAND("command"), PROCESS("sessionId")}},
    {"bash", "command shellId", COPILOT, WR_EFFECT_RUN, {COMMAND("command"), PROCESS("shellId")}},
    {"bash", "command", ANYONE, WR_EFFECT_RUN, {COMMAND("command"), WORKDIR("cwd")}},
    {"pwsh", "command", OPENCODE, WR_EFFECT_RUN, {{"command", WR_ROLE_SOURCE}, WORKDIR("workdir")}},
    {"powershell",
     "command",
     OPENCODE,
     WR_EFFECT_RUN,
     {{"command", WR_ROLE_SOURCE}, WORKDIR("workdir")}},
    {"cmd", "command", OPENCODE, WR_EFFECT_RUN, {{"command", WR_ROLE_SOURCE}, WORKDIR("workdir")}},
    {"edit", "filePath", OPENCODE, WR_EFFECT_EDIT, {PATH("filePath")}},
    {"edit", "path edits", PI, WR_EFFECT_EDIT, {PATH("path")}},
    {"edit", "path oldText", PI, WR_EFFECT_EDIT, {PATH("path")}},
    {"edit", "path old_str", COPILOT, WR_EFFECT_EDIT, {PATH("path")}},
    {"edit", "path", ANYONE, WR_EFFECT_EDIT, {PATH("path")}},
    {"edit", "search replace", SWE, WR_EFFECT_EDIT, {{0}}},
    {"multiedit", "filePath", OPENCODE, WR_EFFECT_EDIT, {PATH("filePath")}},
    {"write", "filePath", OPENCODE, WR_EFFECT_WRITE, {PATH("filePath")}},
    {"write", "path", PI, WR_EFFECT_WRITE, {PATH("path")}},
    {"patch", "patchText", OPENCODE, WR_EFFECT_EDIT, {{"patchText", WR_ROLE_PATCH}}},
    {"task", "prompt", OPENCODE, WR_EFFECT_RUN, {MODE("subagent_type")}},
    {"todowrite", "", OPENCODE, WR_EFFECT_PLAN, {{0}}},
    {"todoread", "", OPENCODE, WR_EFFECT_PLAN, {{0}}},
    {"webfetch", "url", OPENCODE, WR_EFFECT_FETCH, {QUERY("url")}},
    {"websearch", "query", OPENCODE, WR_EFFECT_FETCH, {QUERY("query")}},
    {"codesearch", "query", OPENCODE, WR_EFFECT_FETCH, {QUERY("query")}},
    {"skill", "", OPENCODE, WR_EFFECT_SKILL, {MODE("name"), MODE("skill")}},
    {"question", "questions", OPENCODE, WR_EFFECT_OTHER, {{0}}},

    /* Gemini CLI */
    {"read_many_files", "include", GEMINI, WR_EFFECT_READ, {PATHS("include")}},
    {"read_many_files", "paths", GEMINI, WR_EFFECT_READ, {PATHS("paths")}},
    {"grep_search",
     "pattern",
     GEMINI,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("dir_path"), LIMIT("total_max_matches")}},
    {"grep_search", "query", COPILOT, WR_EFFECT_SEARCH, {QUERY("query"), LIMIT("maxResults")}},
    {"search_file_content",
     "pattern",
     GEMINI,
     WR_EFFECT_SEARCH,
     {QUERY("pattern"), PATH("dir_path"), PATH("path")}},
    {"run_shell_command",
     "command",
     GEMINI,
     WR_EFFECT_RUN,
     {COMMAND("command"), WORKDIR("dir_path"), WORKDIR("directory")}},
    {"read_background_output", "pid", GEMINI, WR_EFFECT_POLL, {PROCESS("pid"), LIMIT("lines")}},
    {"list_background_processes", "", GEMINI, WR_EFFECT_LIST, {{0}}},
    {"replace", "file_path", GEMINI, WR_EFFECT_EDIT, {PATH("file_path")}},
    {"write_file", "file_path", GEMINI, WR_EFFECT_WRITE, {PATH("file_path")}},
    {"write_file", "path", ANYONE, WR_EFFECT_WRITE, {PATH("path")}},
    {"list_directory", "dir_path", GEMINI, WR_EFFECT_LIST, {PATH("dir_path")}},
    {"list_directory", "path", ANYONE, WR_EFFECT_LIST, {PATH("path")}},
    {"google_web_search", "query", GEMINI, WR_EFFECT_FETCH, {QUERY("query")}},
    {"web_fetch", "", GEMINI, WR_EFFECT_FETCH, {QUERY("prompt"), QUERY("url")}},
    {"write_todos", "", GEMINI, WR_EFFECT_PLAN, {{0}}},
    {"save_memory", "", GEMINI, WR_EFFECT_OTHER, {{0}}},
    {"activate_skill", "", GEMINI, WR_EFFECT_SKILL, {MODE("name")}},
    {"load_skill", "", ANYONE, WR_EFFECT_SKILL, {MODE("name"), MODE("skill_name")}},
    {"use_skill", "", ANYONE, WR_EFFECT_SKILL, {MODE("name"), MODE("skill_name")}},
    {"read_skill", "", ANYONE, WR_EFFECT_SKILL, {MODE("name"), MODE("skill_name")}},
    {"skill_view", "", ANYONE, WR_EFFECT_SKILL, {MODE("name")}},

    /* Cline, and its relatives */
    {"read_files", "files", CLINE, WR_EFFECT_READ, {PATHS("files")}},
    {"read_files", "paths", CLINE, WR_EFFECT_READ, {PATHS("paths")}},
    {"read_files", "file_paths", CLINE, WR_EFFECT_READ, {PATHS("file_paths")}},
    {"read_files",
     "path",
     CLINE,
     WR_EFFECT_READ,
     {PATH("path"), START("start_line"), END("end_line")}},
    {"read_files",
     "file_path",
     CLINE,
     WR_EFFECT_READ,
     {PATH("file_path"), START("start_line"), END("end_line")}},
    {"read_files",
     "filePath",
     CLINE,
     WR_EFFECT_READ,
     {PATH("filePath"), START("start_line"), END("end_line")}},
    {"search_codebase", "queries", CLINE, WR_EFFECT_SEARCH, {QUERY("queries")}},
    {"run_commands", "commands", CLINE, WR_EFFECT_RUN, {{"commands", WR_ROLE_COMMANDS}}},
    {"editor", "path", CLINE, WR_EFFECT_EDIT, {PATH("path")}},
    {"execute_command", "command", CLINE, WR_EFFECT_RUN, {COMMAND("command"), WORKDIR("cwd")}},
    {"search_files", "regex", CLINE, WR_EFFECT_SEARCH, {QUERY("regex"), PATH("path")}},
    {"search_files", "pattern", ANYONE, WR_EFFECT_LIST, {QUERY("pattern"), PATH("path")}},
    {"codebase_search",
     "query",
     CLINE,
     WR_EFFECT_SEARCH,
     {QUERY("query"), PATH("path"), PATHS("target_directories")}},
    {"replace_in_file", "path", CLINE, WR_EFFECT_EDIT, {PATH("path")}},
    {"apply_diff", "path", CLINE, WR_EFFECT_EDIT, {PATH("path")}},
    {"insert_content", "path", CLINE, WR_EFFECT_EDIT, {PATH("path")}},
    {"search_and_replace", "path", CLINE, WR_EFFECT_EDIT, {PATH("path")}},
    {"write_to_file", "path", CLINE, WR_EFFECT_WRITE, {PATH("path")}},
    {"list_files", "path", CLINE, WR_EFFECT_LIST, {PATH("path")}},
    {"list_code_definition_names", "path", CLINE, WR_EFFECT_LIST, {PATH("path")}},
    {"update_todo_list", "", CLINE, WR_EFFECT_PLAN, {{0}}},
    {"ask_followup_question", "", CLINE, WR_EFFECT_OTHER, {{0}}},
    {"attempt_completion", "", CLINE, WR_EFFECT_OTHER, {{0}}},
    {"new_task", "", CLINE, WR_EFFECT_RUN, {MODE("mode")}},

    /* SWE-agent, OpenHands and Anthropic's own */
    EDITOR("str_replace_based_edit_tool", ANTHROPIC),
    EDITOR("str_replace_editor", SWE),
    EDITOR("file_editor", HANDS),
    EDITOR("memory", ANTHROPIC),
    {"memory",
     "command old_path",
     ANTHROPIC,
     WR_EFFECT_WRITE,
     {{"old_path", WR_ROLE_FROM}, PATH("new_path")}},
    {"open", "path", SWE, WR_EFFECT_READ, {PATH("path"), {"line_number", WR_ROLE_AROUND}}},
    {"goto", "line_number", SWE, WR_EFFECT_READ, {{"line_number", WR_ROLE_AROUND}}},
    {"scroll_down", "", SWE, WR_EFFECT_READ, {{0}}},
    {"scroll_up", "", SWE, WR_EFFECT_READ, {{0}}},
    {"search_file", "search_term", SWE, WR_EFFECT_SEARCH, {QUERY("search_term"), PATH("file")}},
    {"search_dir", "search_term", SWE, WR_EFFECT_SEARCH, {QUERY("search_term"), PATH("dir")}},
    {"find_file", "file_name", SWE, WR_EFFECT_LIST, {QUERY("file_name"), PATH("dir")}},
    {"create", "filename", SWE, WR_EFFECT_WRITE, {PATH("filename")}},
    {"create", "path", COPILOT, WR_EFFECT_WRITE, {PATH("path")}},
    {"insert", "text", SWE, WR_EFFECT_EDIT, {{0}}},
    {"submit", "", SWE, WR_EFFECT_OTHER, {{0}}},
    {"terminal", "command", HANDS, WR_EFFECT_RUN, {COMMAND("command")}},
    {"execute_bash", "command", HANDS, WR_EFFECT_RUN, {COMMAND("command")}},
    {"execute_ipython_cell", "code", HANDS, WR_EFFECT_RUN, {{"code", WR_ROLE_SOURCE}}},
    {"task_tracker", "", HANDS, WR_EFFECT_PLAN, {{0}}},
    {"think", "thought", HANDS, WR_EFFECT_PLAN, {{0}}},
    {"finish", "message", HANDS, WR_EFFECT_OTHER, {{0}}},

    /* Copilot, in the terminal and in the editor */
    {"view", "path", COPILOT, WR_EFFECT_READ, {PATH("path"), {"view_range", WR_ROLE_LINES}}},
    {"read_bash", "shellId", COPILOT, WR_EFFECT_POLL, {PROCESS("shellId")}},
    {"read_bash", "sessionId", COPILOT, WR_EFFECT_POLL, {PROCESS("sessionId")}},
    {"write_bash",
     "shellId",
     COPILOT,
     WR_EFFECT_POLL,
     {PROCESS("shellId"), {"input", WR_ROLE_INPUT}}},
    {"write_bash",
     "sessionId",
     COPILOT,
     WR_EFFECT_POLL,
     {PROCESS("sessionId"), {"input", WR_ROLE_INPUT}}},
    {"stop_bash", "", COPILOT, WR_EFFECT_OTHER, {PROCESS("shellId"), PROCESS("sessionId")}},
    {"ask_user", "", COPILOT, WR_EFFECT_OTHER, {{0}}},
    {"report_intent", "", COPILOT, WR_EFFECT_PLAN, {{0}}},
    {"run_in_terminal", "command", COPILOT, WR_EFFECT_RUN, {COMMAND("command")}},
    {"get_terminal_output", "id", COPILOT, WR_EFFECT_POLL, {PROCESS("id")}},
    {"replace_string_in_file", "filePath", COPILOT, WR_EFFECT_EDIT, {PATH("filePath")}},
    {"insert_edit_into_file", "filePath", COPILOT, WR_EFFECT_EDIT, {PATH("filePath")}},
    {"create_file", "filePath", COPILOT, WR_EFFECT_WRITE, {PATH("filePath")}},
    {"file_search", "query", COPILOT, WR_EFFECT_LIST, {QUERY("query")}},
    {"semantic_search", "query", COPILOT, WR_EFFECT_SEARCH, {QUERY("query")}},
    {"manage_todo_list", "", COPILOT, WR_EFFECT_PLAN, {{0}}},
    {"run_terminal_cmd", "command", ANYONE, WR_EFFECT_RUN, {COMMAND("command")}},
    {"edit_file", "target_file", ANYONE, WR_EFFECT_EDIT, {PATH("target_file")}},
    {"delete_file", "target_file", ANYONE, WR_EFFECT_WRITE, {PATH("target_file")}},

    /* the reference MCP server for files */
    {"read_text_file", "path", ANYONE, WR_EFFECT_READ, {PATH("path")}},
    {"read_multiple_files", "paths", ANYONE, WR_EFFECT_READ, {PATHS("paths")}},
    {"edit_file", "path", ANYONE, WR_EFFECT_EDIT, {PATH("path")}},
    {"directory_tree", "path", ANYONE, WR_EFFECT_LIST, {PATH("path")}},
    {"move_file",
     "source destination",
     ANYONE,
     WR_EFFECT_WRITE,
     {{"source", WR_ROLE_FROM}, PATH("destination")}},
    {"get_file_info", "path", ANYONE, WR_EFFECT_LIST, {PATH("path")}},
};

const struct wr_tool_row wr_tool_any_row = {
    "",
    "",
    WR_TOOL_UNKNOWN,
    WR_EFFECT_OTHER,
    {PATH("file_path"), PATH("filePath"), PATH("path"), PATH("filename"), PATH("relative_path"),
     PATH("absolute_path"), PATHS("paths"), QUERY("query"), QUERY("pattern"), QUERY("url"),
     COMMAND("command"), COMMAND("cmd")},
};

static bool has_keys(const char *keys, const struct wr_json *doc, wr_json_id object)
{
    char key[WR_TOOL_NAME_BYTES_MAX];
    for (const char *at = keys; *at;) {
        size_t len = strcspn(at, " ");
        memcpy(key, at, len);
        key[len] = '\0';
        if (object == WR_JSON_NONE || wr_json_find(doc, object, key) == WR_JSON_NONE)
            return false;
        at += len + strspn(at + len, " ");
    }
    return true;
}

static const struct wr_tool_row *find_row(weir_span name, const struct wr_json *doc,
                                          wr_json_id object, bool keys_needed)
{
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_span_is(name, rows[i].name) && (rows[i].keys[0] || !keys_needed) &&
            has_keys(rows[i].keys, doc, object))
            return &rows[i];
    return NULL;
}

static bool is_separator(char c)
{
    return c == '_' || c == '.' || c == '/' || c == ':' || c == '-';
}

const struct wr_tool_row *wr_tool_find(weir_span name, const struct wr_json *doc, wr_json_id object)
{
    if (name.len > WR_TOOL_NAME_BYTES_MAX)
        return NULL;
    const struct wr_tool_row *row = find_row(name, doc, object, false);
    for (size_t i = 1; i < name.len && !row; i++)
        if (is_separator(name.ptr[i - 1]) && !is_separator(name.ptr[i]))
            row = find_row(wr_span_from(name, i), doc, object, true);
    return row;
}

/* --- names of no known agent --- */

static const struct {
    const char *word;
    enum wr_effect_kind kind;
} verbs[] = {
    {"read", WR_EFFECT_READ},      {"view", WR_EFFECT_READ},    {"open", WR_EFFECT_READ},
    {"cat", WR_EFFECT_READ},       {"show", WR_EFFECT_READ},    {"search", WR_EFFECT_SEARCH},
    {"grep", WR_EFFECT_SEARCH},    {"query", WR_EFFECT_SEARCH}, {"find", WR_EFFECT_SEARCH},
    {"list", WR_EFFECT_LIST},      {"ls", WR_EFFECT_LIST},      {"glob", WR_EFFECT_LIST},
    {"tree", WR_EFFECT_LIST},      {"edit", WR_EFFECT_EDIT},    {"replace", WR_EFFECT_EDIT},
    {"patch", WR_EFFECT_EDIT},     {"insert", WR_EFFECT_EDIT},  {"modify", WR_EFFECT_EDIT},
    {"rename", WR_EFFECT_WRITE},   {"move", WR_EFFECT_WRITE},   {"write", WR_EFFECT_WRITE},
    {"create", WR_EFFECT_WRITE},   {"save", WR_EFFECT_WRITE},   {"delete", WR_EFFECT_WRITE},
    {"remove", WR_EFFECT_WRITE},   {"run", WR_EFFECT_RUN},      {"exec", WR_EFFECT_RUN},
    {"execute", WR_EFFECT_RUN},    {"shell", WR_EFFECT_RUN},    {"bash", WR_EFFECT_RUN},
    {"terminal", WR_EFFECT_RUN},   {"fetch", WR_EFFECT_FETCH},  {"browse", WR_EFFECT_FETCH},
    {"navigate", WR_EFFECT_FETCH}, {"todo", WR_EFFECT_PLAN},    {"todos", WR_EFFECT_PLAN},
    {"plan", WR_EFFECT_PLAN},      {"skill", WR_EFFECT_SKILL},
};

/* The next word of a name in snake, kebab or camel case, lower-cased into `word`. */
static size_t take_name_word(weir_span name, size_t *at, char *word, size_t word_max)
{
    size_t len = 0;
    while (*at < name.len && is_separator(name.ptr[*at]))
        ++*at;
    while (*at < name.len && !is_separator(name.ptr[*at]) && len < word_max) {
        char c = name.ptr[*at];
        if (len && wr_is_upper(c) && !wr_is_upper(name.ptr[*at - 1]))
            break;
        word[len++] = wr_lower(c);
        ++*at;
    }
    return len;
}

enum wr_effect_kind wr_tool_guess(weir_span name)
{
    char word[32];
    size_t len, at = 0;
    if (name.len > WR_TOOL_NAME_BYTES_MAX)
        return WR_EFFECT_OTHER;
    while ((len = take_name_word(name, &at, word, sizeof(word))))
        for (size_t i = 0; i < WR_COUNT_OF(verbs); i++)
            if (wr_span_is((weir_span){word, len}, verbs[i].word))
                return verbs[i].kind;
    return WR_EFFECT_OTHER;
}
