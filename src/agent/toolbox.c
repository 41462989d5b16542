/* The table of the tools: name, what it needs, function, description and schema; and running one.
 *
 * The definitions are part of every prompt, so their order and their bytes stay the same (a change
 * would cost every session its cache): a new tool goes to the end. A tool whose needs are not met
 * (no store, no processes) is not offered. What a tool gives back is made valid UTF-8, as requests
 * have to be, and an empty result becomes "[nothing]".
 */
#include "agent/toolbox.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- tool args ----
 *
 * The arguments of a call. Models write them, so each of these functions says what is wrong in
 * words that the model can act on, as the call's erroneous result. null counts as "not given" and
 * "5" as 5, because models write both.
 */

void wr_tool_fail(struct wr_tool_output *output, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    wr_buf_reset(&output->text);
    wr_buf_text(&output->text, "Error: ");
    wr_buf_text(&output->text, text);
    output->is_error = true;
}

static bool tool_args_init(struct wr_tool_args *args, weir_span text, struct wr_tool_output *output)
{
    struct weir_err err = {0};

    *args = (struct wr_tool_args){.output = output};
    wr_arena_init(&args->arena, WR_AGENT_TOOL_BYTES_MAX);
    if (!wr_span_trim(text).len)
        text = WR_LIT("{}");
    if (wr_json_parse(&args->doc, &args->arena, text, NULL, &err)) {
        wr_tool_fail(output, "the arguments are not JSON: %s", err.text);
        return false;
    }
    if (!wr_json_is(&args->doc, 0, WR_JSON_OBJECT)) {
        wr_tool_fail(output, "the arguments must be a JSON object");
        return false;
    }
    return true;
}

static void tool_args_release(struct wr_tool_args *args)
{
    wr_arena_release(&args->arena);
}

/* NONE also for null, which models write for "not given". */
static wr_json_id find_arg(const struct wr_tool_args *args, const char *name)
{
    wr_json_id id = wr_json_find(&args->doc, 0, name);
    return wr_json_is(&args->doc, id, WR_JSON_NULL) ? WR_JSON_NONE : id;
}

bool wr_tool_args_may_text(struct wr_tool_args *args, const char *name, weir_span *text)
{
    wr_json_id id = find_arg(args, name);

    if (id == WR_JSON_NONE)
        return true;
    if (!wr_json_is(&args->doc, id, WR_JSON_STRING)) {
        wr_tool_fail(args->output, "'%s' must be a string", name);
        return false;
    }
    *text = wr_json_text(&args->doc, &args->arena, id);
    if (!text->ptr)
        wr_tool_fail(args->output, "out of memory");
    return text->ptr;
}

bool wr_tool_args_text(struct wr_tool_args *args, const char *name, weir_span *text)
{
    *text = (weir_span){NULL, 0};
    if (!wr_tool_args_may_text(args, name, text))
        return false;
    if (!text->ptr)
        wr_tool_fail(args->output, "'%s' is missing", name);
    return text->ptr;
}

/* Some models write numbers as strings. */
bool wr_tool_args_may_number(struct wr_tool_args *args, const char *name, uint64_t *number)
{
    wr_json_id id = find_arg(args, name);
    int64_t value;

    if (id == WR_JSON_NONE)
        return true;
    if (wr_json_i64(&args->doc, id, &value) && value >= 0) {
        *number = (uint64_t)value;
        return true;
    }
    if (wr_json_is(&args->doc, id, WR_JSON_STRING) &&
        wr_span_u64(wr_json_inner(&args->doc, id), number))
        return true;
    wr_tool_fail(args->output, "'%s' must be a whole number, 0 or more", name);
    return false;
}

bool wr_tool_args_may_bool(struct wr_tool_args *args, const char *name, bool *value)
{
    wr_json_id id = find_arg(args, name);

    if (id == WR_JSON_NONE)
        return true;
    *value = wr_json_is(&args->doc, id, WR_JSON_TRUE);
    if (*value || wr_json_is(&args->doc, id, WR_JSON_FALSE))
        return true;
    wr_tool_fail(args->output, "'%s' must be true or false", name);
    return false;
}

const char *wr_tool_path(struct wr_tool_args *args, const struct wr_toolbox *box, weir_span path)
{
    bool is_absolute = path.len && path.ptr[0] == '/';
    size_t root_bytes = is_absolute ? 0 : strlen(box->root) + 1;

    if (memchr(path.ptr, '\0', path.len) || root_bytes + path.len >= PATH_MAX) {
        wr_tool_fail(args->output, "that is no path");
        return NULL;
    }
    char *whole = wr_arena_alloc(&args->arena, root_bytes + path.len + 1);
    if (!whole) {
        wr_tool_fail(args->output, "out of memory");
        return NULL;
    }
    if (root_bytes)
        (void)snprintf(whole, root_bytes + 1, "%s/", box->root);
    if (path.len)
        memcpy(whole + root_bytes, path.ptr, path.len);
    whole[root_bytes + path.len] = '\0';
    return whole;
}

const char *wr_tool_string(struct wr_tool_args *args, weir_span text)
{
    char *copy = NULL;

    if (memchr(text.ptr, '\0', text.len)) {
        wr_tool_fail(args->output, "there is a NUL byte in it");
        return NULL;
    }
    copy = wr_arena_alloc(&args->arena, text.len + 1);
    if (!copy) {
        wr_tool_fail(args->output, "out of memory");
        return NULL;
    }
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* ---- toolbox ---- */

/* ---- notes, skills, recall ---- */

/* The index shows a note's first line, unless the model says something else about it. */
static weir_span first_line(weir_span text)
{
    weir_span line = {"", 0};
    while (wr_span_line(&text, &line) && !wr_span_trim(line).len)
        ;
    line = wr_span_trim(line);
    while (line.len && line.ptr[0] == '#')
        line = wr_span_trim(wr_span_cut(line, 1, line.len));
    return line;
}

static void put_text(struct wr_tool_output *output, weir_status status, weir_span text,
                     const struct weir_err *err)
{
    if (status) {
        wr_tool_fail(output, "%s", err->text);
        return;
    }
    wr_buf_append(&output->text, text);
    weir_text_free(text);
}

static void write_note(const struct wr_toolbox *box, struct wr_tool_args *args, const char *name,
                       struct wr_tool_output *output)
{
    weir_span content, about = {"", 0};
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "content", &content) ||
        !wr_tool_args_may_text(args, "about", &about))
        return;
    about = first_line(about.len ? about : content);
    if (weir_note_write(box->agent_dir, name, about.len ? about : WR_LIT("a note"), content, &err))
        wr_tool_fail(output, "%s", err.text);
    else
        wr_buf_printf(&output->text, "Noted '%s'.", name);
}

static void do_memory(const struct wr_toolbox *box, struct wr_tool_args *args,
                      struct wr_tool_output *output)
{
    weir_span action, name, text;
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "action", &action) || !wr_tool_args_text(args, "name", &name))
        return;
    const char *note = wr_tool_string(args, name);
    if (!note)
        return;
    if (wr_span_is(action, "read"))
        put_text(output, weir_note_read(box->agent_dir, note, &text, &err), text, &err);
    else if (wr_span_is(action, "write"))
        write_note(box, args, note, output);
    else
        wr_tool_fail(output, "action is read or write");
}

static void do_skill(const struct wr_toolbox *box, struct wr_tool_args *args,
                     struct wr_tool_output *output)
{
    weir_span name, text;
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "name", &name))
        return;
    const char *skill = wr_tool_string(args, name);
    if (skill)
        put_text(output, weir_skill_read(box->agent_dir, skill, &text, &err), text, &err);
}

/* The same tool that agents have by MCP. */
static void do_recall(const struct wr_toolbox *box, struct wr_tool_args *args,
                      struct wr_tool_output *output)
{
    struct wr_mcp_call call = {.arena = &args->arena,
                               .tenant = box->tenant,
                               .doc = &args->doc,
                               .arguments = 0,
                               .out = &output->text};

    wr_mcp_recall(box->world, &call);
    output->is_error = call.is_error;
}

/* ---- the tools ---- */

enum {
    NEEDS_CONSENT = 1, /* it changes or runs something */
    NEEDS_MEMORY = 2,
    NEEDS_PROCESSES = 4,
    NEEDS_STORE = 8,
    NEEDS_SPAWN = 16,
    READS_PATH = 32, /* it shows files: elsewhere than here only with consent */
};

struct tool {
    const char *name;
    unsigned flags;
    wr_tool_fn *run;
    const char *subject; /* the argument that a card shows */
    const char *description;
    const char *schema;
};

#define TEXT(name, about)   "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define NUMBER(name, about) "\"" name "\":{\"type\":\"integer\",\"description\":\"" about "\"}"
#define BOOL(name, about)   "\"" name "\":{\"type\":\"boolean\",\"description\":\"" about "\"}"
#define SCHEMA(properties, required)                                               \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required \
    "],\"additionalProperties\":false}"

/* The order is part of the prompt: a tool is added at the end. */
static const struct tool tools[] = {
    {"read_file", READS_PATH, wr_tool_read_file, "path",
     "Read a text file. The last line tells which lines these are, the next offset and the sha256.",
     SCHEMA(TEXT("path", "the file") "," NUMBER("offset", "first line, from 1") "," NUMBER(
                "limit", "how many lines, 2000 unless told"),
            "\"path\"")},
    {"list", READS_PATH, wr_tool_list, "path",
     "List a directory: names, sizes; directories end in a slash.",
     SCHEMA(TEXT("path", "the directory; the working directory unless told"), "")},
    {"grep", READS_PATH, wr_tool_grep, "pattern",
     "Search files for a PCRE2 pattern, line by line. Gives path:line:text.",
     SCHEMA(TEXT("pattern", "what to look for") "," TEXT("path", "a file or directory") "," TEXT(
                "glob", "only files whose names match, such as *.c"),
            "\"pattern\"")},
    {"edit", NEEDS_CONSENT, wr_tool_edit, "path",
     "Replace a text in a file. old_text must occur exactly once unless replace_all is set.",
     SCHEMA(TEXT("path", "the file") "," TEXT("old_text", "copied exactly") "," TEXT(
                "new_text", "what stands there then") "," BOOL("replace_all", "every occurrence"),
            "\"path\",\"old_text\",\"new_text\"")},
    {"write", NEEDS_CONSENT, wr_tool_write, "path", "Write a whole file, new or in place of one.",
     SCHEMA(TEXT("path", "the file") "," TEXT("content", "all of it"), "\"path\",\"content\"")},
    {"process_start", NEEDS_CONSENT | NEEDS_PROCESSES, wr_tool_process_start, "command",
     "Run a shell command in the working directory. Gives its output and exit code, or, if it is "
     "still running after wait_seconds, its id for process_read.",
     SCHEMA(TEXT("command", "for sh -c") "," NUMBER("wait_seconds", "30 unless told, 600 at most"),
            "\"command\"")},
    {"process_read", NEEDS_PROCESSES, wr_tool_process_read, "id",
     "Read the output of a process: what is new since the last read, unless told otherwise.",
     SCHEMA(NUMBER("id", "from process_start") "," NUMBER("cursor", "byte to read from") "," TEXT(
                "mode",
                "new, all or tail") "," TEXT("search",
                                             "only lines matching this") "," NUMBER("wait_seconds",
                                                                                    "to wait for "
                                                                                    "output or the "
                                                                                    "end"),
            "\"id\"")},
    {"process_stop", NEEDS_PROCESSES, wr_tool_process_stop, "id", "End a process.",
     SCHEMA(NUMBER("id", "from process_start"), "\"id\"")},
    {"memory", NEEDS_MEMORY, do_memory, "name",
     "Notes that outlive this session: read one, or write one.",
     SCHEMA(TEXT("action", "read or write") "," TEXT("name", "the note") "," TEXT(
                "content", "of a note to write") "," TEXT("about", "its line in the index"),
            "\"action\",\"name\"")},
    {"skill", NEEDS_MEMORY, do_skill, "name", "Read a skill's instructions, by its name.",
     SCHEMA(TEXT("name", "the skill"), "\"name\"")},
    {"weir_recall", NEEDS_STORE, do_recall, "handle",
     "Bring back text that was taken out of this conversation, by its handle (wr_...).",
     SCHEMA(
         TEXT("handle", "wr_ and 20 hex digits") "," TEXT("lines", "such as 1-20,90-") "," NUMBER(
             "head", "first lines") "," NUMBER("tail", "last lines") "," TEXT("grep",
                                                                              "PCRE2 pattern"),
         "\"handle\"")},
    {"spawn_agent", NEEDS_SPAWN, NULL, "task",
     "Give a task to a helper with a context of its own; its conclusion comes back. Kind explore "
     "reads sources and changes nothing; kind task has all tools.",
     SCHEMA(TEXT("task", "all that the helper needs to know") "," TEXT("kind", "explore or task"),
            "\"task\"")},
};

enum { TOOLS_COUNT = WR_COUNT_OF(tools) };

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static bool is_offered(const struct wr_toolbox *box, const struct tool *tool)
{
    unsigned have = (box->agent_dir ? NEEDS_MEMORY : 0) | (box->world ? NEEDS_STORE : 0) |
                    (box->has_helpers ? NEEDS_SPAWN : 0) | (box->processes ? NEEDS_PROCESSES : 0) |
                    NEEDS_CONSENT | READS_PATH;
    if (box->is_list_only)
        return true;
    return !(tool->flags & ~have) && (!box->only || is_among(tool->name, box->only));
}

static const struct tool *find_tool(weir_span name)
{
    for (size_t i = 0; i < TOOLS_COUNT; i++)
        if (wr_span_is(name, tools[i].name))
            return &tools[i];
    return NULL;
}

/* Nobody knows what a tool of others does: it counts as one that changes something. */
bool wr_tool_changes(weir_span name)
{
    const struct tool *tool = find_tool(name);
    return tool ? tool->flags & NEEDS_CONSENT : wr_span_starts(name, WR_LIT(WR_MCP_TOOL_FRONT));
}

bool wr_toolbox_shows_file(weir_span name)
{
    const struct tool *tool = find_tool(name);
    return tool && (tool->run == wr_tool_read_file || tool->run == do_recall);
}

/* The call's own words for what it is about: a path, a command. Empty: it has none. */
static weir_span subject_of(struct wr_arena *arena, const struct wr_tool_call_text *call,
                            const char *name)
{
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, call->arguments, NULL, NULL))
        return (weir_span){"", 0};
    wr_json_id id = wr_json_find(&doc, 0, name);
    return wr_json_is(&doc, id, WR_JSON_STRING) ? wr_json_text(&doc, arena, id)
                                                : (weir_span){"", 0};
}

static bool reads_elsewhere(const struct wr_toolbox *box, struct wr_arena *arena,
                            const struct wr_tool_call_text *call)
{
    const char *const homes[] = {box->root, box->session_dir, box->agent_dir};
    weir_span path = subject_of(arena, call, "path");

    if (!path.len)
        return false; /* it is the working directory, or the call fails */
    for (size_t i = 0; i < WR_COUNT_OF(homes); i++)
        if (homes[i] && wr_tool_is_below(box, arena, path, homes[i]))
            return false;
    return true;
}

bool wr_toolbox_needs_consent(const struct wr_toolbox *box, struct wr_arena *arena,
                              const struct wr_tool_call_text *call, weir_span *command)
{
    const struct tool *tool = find_tool(call->name);

    *command = (weir_span){"", 0};
    if (!tool)
        return wr_mcp_servers_have(box->servers, call->name) &&
               !wr_mcp_servers_allow(box->servers, call->name);
    if (tool->flags & READS_PATH)
        return reads_elsewhere(box, arena, call);
    if (tool->run == wr_tool_process_start)
        *command = subject_of(arena, call, "command");
    return tool->flags & NEEDS_CONSENT;
}

/* What a tool of others would be given, an argument a line. */
static void put_arguments(weir_span arguments, struct wr_buf *out)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    if (!wr_json_parse(&doc, &arena, arguments, NULL, NULL) && wr_json_is(&doc, 0, WR_JSON_OBJECT))
        WR_JSON_EACH(key, &doc, 0) {
            wr_json_id value = wr_json_value(key);
            bool is_text = wr_json_is(&doc, value, WR_JSON_STRING);
            wr_buf_byte(out, ' '); /* no line of a diff */
            wr_text_one_line_max(out, wr_json_text(&doc, &arena, key), 80);
            wr_buf_text(out, ": ");
            wr_text_one_line_max(
                out, is_text ? wr_json_text(&doc, &arena, value) : wr_json_raw(&doc, value),
                WR_AGENT_MATCH_BYTES_MAX);
            wr_buf_byte(out, '\n');
        }
    wr_arena_release(&arena);
}

enum { SUBJECT_CHARS_MAX = 160 };

/* A command of several lines, or a long one, is not what the line of its call shows; whoever
 * answers must see what would run. */
static void put_command(const struct wr_tool_call_text *call, struct wr_buf *out)
{
    struct wr_arena arena;
    struct wr_buf shown;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    wr_buf_init(&shown, WR_AGENT_READ_BYTES_MAX);
    weir_span command = subject_of(&arena, call, "command");
    wr_text_one_line_max(&shown, command, SUBJECT_CHARS_MAX);
    weir_span rest = wr_text_head(command, WR_AGENT_READ_BYTES_MAX), line;
    size_t more = command.len - rest.len;
    while (!wr_span_eq(wr_buf_view(&shown), command) && wr_span_line(&rest, &line)) {
        wr_buf_byte(out, ' '); /* no line of a diff */
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
    if (more)
        wr_buf_printf(out, " [%zu more bytes]\n", more);
    wr_buf_release(&shown);
    wr_arena_release(&arena);
}

void wr_toolbox_preview(const struct wr_toolbox *box, const struct wr_tool_call_text *call,
                        struct wr_buf *diff)
{
    const struct tool *tool = find_tool(call->name);
    struct wr_tool_output output = {.is_error = false};
    struct wr_tool_args args;
    struct wr_toolbox looking = *box;

    if (!tool && wr_mcp_servers_have(box->servers, call->name))
        put_arguments(call->arguments, diff);
    if (tool && tool->run == wr_tool_process_start)
        put_command(call, diff);
    if (!tool || (tool->run != wr_tool_edit && tool->run != wr_tool_write))
        return;
    looking.preview = diff;
    wr_buf_init(&output.text, WR_AGENT_FILE_BYTES_MAX);
    if (tool_args_init(&args, call->arguments, &output))
        tool->run(&looking, &args, &output);
    tool_args_release(&args);
    wr_buf_release(&output.text);
}

size_t wr_toolbox_tools(const struct wr_toolbox *box, struct weir_tool list[WR_TOOLBOX_TOOLS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < TOOLS_COUNT; i++)
        if (is_offered(box, &tools[i]))
            list[count++] =
                (struct weir_tool){wr_span_of(tools[i].name), wr_span_of(tools[i].description),
                                   wr_span_of(tools[i].schema)};
    if (box->only)
        return count;
    return wr_mcp_servers_tools(box->servers, list, count, WR_TOOLBOX_TOOLS_MAX);
}

/* ---- running ---- */

void wr_toolbox_describe(const struct wr_tool_call_text *call, struct wr_buf *line)
{
    const struct tool *tool = find_tool(call->name);
    struct wr_tool_output ignored = {.is_error = false};
    struct wr_tool_args args;

    wr_buf_init(&ignored.text, WR_AGENT_READ_BYTES_MAX);
    wr_text_one_line_max(line, call->name, 80);
    if (!tool && wr_span_starts(call->name, WR_LIT(WR_MCP_TOOL_FRONT))) {
        wr_buf_byte(line, ' ');
        wr_text_one_line_max(line, call->arguments, 160);
    }
    if (tool && tool_args_init(&args, call->arguments, &ignored)) {
        wr_json_id id = wr_json_find(&args.doc, 0, tool->subject);
        if (id != WR_JSON_NONE) {
            bool is_text = wr_json_is(&args.doc, id, WR_JSON_STRING);
            wr_buf_byte(line, ' ');
            wr_text_one_line_max(line,
                                 is_text ? wr_json_text(&args.doc, &args.arena, id)
                                         : wr_json_raw(&args.doc, id),
                                 SUBJECT_CHARS_MAX);
        }
        tool_args_release(&args);
    } else if (tool) {
        tool_args_release(&args);
    }
    wr_buf_release(&ignored.text);
}

/* What goes into a request is UTF-8. */
static void make_valid(struct wr_tool_output *output)
{
    struct wr_arena arena;
    weir_span valid;
    uint64_t replaced;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    if (wr_valid_text(&arena, wr_buf_view(&output->text), &valid, &replaced)) {
        wr_tool_fail(output, "out of memory");
    } else if (replaced) {
        wr_buf_reset(&output->text);
        wr_buf_append(&output->text, valid);
        wr_buf_text(&output->text, "\n[bytes that are not UTF-8 are shown as \xEF\xBF\xBD]");
    }
    wr_arena_release(&arena);
}

void wr_toolbox_run(const struct wr_toolbox *box, const struct wr_tool_call_text *call,
                    struct wr_tool_output *output)
{
    const struct tool *tool = find_tool(call->name);
    struct wr_tool_args args;

    *output = (struct wr_tool_output){.is_error = false};
    wr_buf_init(&output->text, WR_AGENT_FILE_BYTES_MAX);
    bool is_others = !tool && !box->only && wr_mcp_servers_have(box->servers, call->name);
    if (!is_others && (!tool || !tool->run || !is_offered(box, tool))) {
        wr_tool_fail(output, "there is no tool '%.*s'",
                     (int)(call->name.len < 80 ? call->name.len : 80), call->name.ptr);
        return;
    }
    if (is_others) {
        output->is_error =
            wr_mcp_servers_call(box->servers, call->name, call->arguments, &output->text);
    } else {
        if (tool_args_init(&args, call->arguments, output))
            tool->run(box, &args, output);
        tool_args_release(&args);
    }
    if (wr_buf_status(&output->text)) {
        wr_buf_release(&output->text);
        wr_buf_init(&output->text, WR_AGENT_FILE_BYTES_MAX);
        wr_tool_fail(output, "out of memory");
    }
    make_valid(output);
    if (!output->text.len)
        wr_buf_text(&output->text, "[nothing]");
}
