/* What a tool call is about: its handles, read from its name and its arguments.
 *
 *   wr_tool_call         find the tool's row by its name and keys (tool_table.c)
 *   read_known_tool      each argument by its role in that row: a path, a query, a command, ...
 *   read_action          SWE-agent's commands, which are text and not JSON
 *   read_unknown_tool    no row: what the name says, and the arguments such tools usually have
 *   finish_*             what follows when all arguments are known: lines, the path, the command
 *
 * Models write arguments loosely: a number in a string, a path under another key, one path where a
 * list is wanted. All of that is taken. Arguments that make no sense give fewer handles, never an
 * error. A command line is read by shell.c, and its effects are then the call's.
 */
#include "transcript/tool.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/effect.h"
#include "transcript/path.h"
#include "transcript/shell.h"
#include "transcript/shell_lex.h"
#include "transcript/tool_table.h"

/* One call while its arguments are read. */
struct call {
    struct wr_tool_handles *handles;
    struct wr_arena *arena;
    const struct wr_json *doc;
    wr_json_id object; /* NONE: the arguments are no JSON object */
    weir_span name, text;
    weir_span base; /* relative paths are meant from here */
    const struct wr_tool_row *row;
    size_t effects_cap;
    bool has_lines; /* a range was asked for by number */
    weir_status status;
};

/* --- values --- */

/* A string's text, or a number or a truth value as it is spelled; empty for anything else. */
static weir_span value_text(struct call *call, wr_json_id value)
{
    weir_span none = {"", 0};
    if (value == WR_JSON_NONE)
        return none;
    enum wr_json_kind kind = wr_json_kind(call->doc, value);
    if (kind == WR_JSON_NUMBER || kind == WR_JSON_TRUE || kind == WR_JSON_FALSE)
        return wr_json_raw(call->doc, value);
    if (kind != WR_JSON_STRING)
        return none;
    weir_span text = wr_json_text(call->doc, call->arena, value);
    if (!text.ptr) {
        call->status = wr_arena_status(call->arena);
        return none;
    }
    return text;
}

/* An integer, also one in a string: models write both. Lines past 2^31 are no lines. */
static bool value_number(struct call *call, wr_json_id value, int64_t *number)
{
    uint64_t positive;
    int64_t any;
    if (wr_json_is(call->doc, value, WR_JSON_STRING)) {
        if (!wr_span_u64(value_text(call, value), &positive) || positive > INT32_MAX)
            return false;
        *number = (int64_t)positive;
        return true;
    }
    if (!wr_json_is(call->doc, value, WR_JSON_NUMBER) || !wr_json_i64(call->doc, value, &any))
        return false;
    if (any > INT32_MAX || any < -INT32_MAX)
        return false;
    *number = any;
    return true;
}

/* --- effects --- */

static void add_call_effect(struct call *call, struct wr_effect effect)
{
    struct wr_tool_handles *handles = call->handles;
    if (call->status || handles->effects_count == WR_TOOL_PATHS_MAX)
        return;
    if (!WR_ARENA_ROOM(call->arena, handles->effects, handles->effects_count, call->effects_cap,
                       2)) {
        call->status = wr_arena_status(call->arena);
        return;
    }
    handles->effects[handles->effects_count++] = effect;
}

static void add_path_effect(struct call *call, enum wr_effect_kind kind, weir_span path,
                            int64_t start, int64_t end)
{
    weir_span joined = wr_path_join(call->arena, call->base, path);
    if (!joined.ptr && path.len) {
        call->status = wr_arena_status(call->arena);
        return;
    }
    bool pattern = kind == WR_EFFECT_READ && memchr(path.ptr, '*', path.len);
    add_call_effect(call, (struct wr_effect){.kind = kind,
                                             .path = pattern ? path : joined,
                                             .literal = !pattern,
                                             .query = kind == WR_EFFECT_READ ? (weir_span){"", 0}
                                                                             : call->handles->query,
                                             .program = call->name,
                                             .start_line = start,
                                             .end_line = end});
}

/* --- command lines --- */

/* Words of a command, each in single quotes, as one command line. */
static weir_span quote_words(struct call *call, wr_json_id array)
{
    size_t bytes = 1;
    for (wr_json_id id = wr_json_first(call->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(call->doc, array, id))
        bytes += value_text(call, id).len * 4 + 3;
    char *out = wr_arena_alloc(call->arena, bytes);
    size_t len = 0;
    if (!out) {
        call->status = wr_arena_status(call->arena);
        return (weir_span){"", 0};
    }
    for (wr_json_id id = wr_json_first(call->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(call->doc, array, id)) {
        weir_span word = value_text(call, id);
        out[len++] = '\'';
        for (size_t i = 0; i < word.len; i++) {
            bool quote = word.ptr[i] == '\'';
            memcpy(out + len, quote ? "'\\''" : &word.ptr[i], quote ? 4 : 1);
            len += quote ? 4 : 1;
        }
        out[len++] = '\'';
        out[len++] = ' ';
    }
    return (weir_span){out, len};
}

/* `["bash", "-lc", "script"]` is the script. */
static wr_json_id find_script(struct call *call, wr_json_id array)
{
    static const char *const shells[] = {"bash",    "sh",       "zsh",          "/bin/bash",
                                         "/bin/sh", "/bin/zsh", "/usr/bin/bash"};
    if (wr_json_count(call->doc, array) != 3)
        return WR_JSON_NONE;
    wr_json_id first = wr_json_first(call->doc, array);
    wr_json_id second = wr_json_next(call->doc, array, first);
    bool runs =
        wr_json_text_is(call->doc, second, "-lc") || wr_json_text_is(call->doc, second, "-c");
    for (size_t i = 0; i < WR_COUNT_OF(shells) && runs; i++)
        if (wr_json_text_is(call->doc, first, shells[i]))
            return wr_json_next(call->doc, array, second);
    return WR_JSON_NONE;
}

static weir_span command_text(struct call *call, wr_json_id value)
{
    if (!wr_json_is(call->doc, value, WR_JSON_ARRAY))
        return value_text(call, value);
    wr_json_id script = find_script(call, value);
    return script != WR_JSON_NONE ? value_text(call, script) : quote_words(call, value);
}

/* Several command lines, one a line: they are run one after the other. */
static weir_span join_commands(struct call *call, wr_json_id array)
{
    struct wr_buf lines;
    weir_span joined = {"", 0};
    if (!wr_json_is(call->doc, array, WR_JSON_ARRAY))
        return value_text(call, array);
    wr_buf_init(&lines, WR_TOOL_ARGUMENTS_BYTES_MAX);
    for (wr_json_id id = wr_json_first(call->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(call->doc, array, id)) {
        bool object = wr_json_is(call->doc, id, WR_JSON_OBJECT);
        wr_buf_append(&lines,
                      value_text(call, object ? wr_json_find(call->doc, id, "command") : id));
        wr_buf_byte(&lines, '\n');
    }
    if (!wr_buf_status(&lines))
        joined = wr_arena_copy(call->arena, wr_buf_view(&lines));
    else
        call->status = wr_buf_status(&lines);
    if (!joined.ptr)
        call->status = wr_arena_status(call->arena);
    wr_buf_release(&lines);
    return joined;
}

/* What a command line shows: see wr_tool_call() in the header. */
static enum wr_effect_kind shown_kind(const struct wr_shell *shell)
{
    enum wr_effect_kind first_shown = WR_EFFECT_OTHER, first = WR_EFFECT_RUN;
    for (size_t i = shell->effects_count; i > 0; i--) {
        const struct wr_effect *effect = &shell->effects[i - 1];
        if (effect->kind == WR_EFFECT_RUN)
            return WR_EFFECT_RUN;
        if (!wr_effect_writes(effect))
            first_shown = effect->kind;
        first = effect->kind;
    }
    return first_shown != WR_EFFECT_OTHER ? first_shown : first;
}

static void read_command(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    struct wr_shell shell;
    if (call->status)
        return;
    call->status = wr_shell_parse(&shell, call->arena, handles->command, call->base);
    if (call->status)
        return;
    handles->is_shell = true;
    handles->is_understood = shell.is_complete;
    handles->effects = shell.effects;
    handles->effects_count = shell.effects_count;
    handles->kind = shown_kind(&shell);
}

static void read_patch(struct call *call, weir_span text)
{
    struct wr_patch patch;
    struct wr_patch_file file;
    wr_patch_init(&patch, text);
    while (wr_patch_next(&patch, &file))
        add_path_effect(call, file.kind, file.path, 0, 0);
    if (!call->handles->effects_count && !call->handles->path.len)
        add_call_effect(call, (struct wr_effect){.kind = WR_EFFECT_EDIT,
                                                 .program = call->name,
                                                 .literal = true,
                                                 .whole_tree = true});
}

/* --- arguments by their role --- */

/* The lines an offset and a limit ask for. */
static void set_lines(struct call *call, int64_t first)
{
    struct wr_tool_handles *handles = call->handles;
    if (first < 1 || handles->kind != WR_EFFECT_READ)
        return;
    handles->start_line = first;
    handles->end_line = handles->limit > 0 ? first + handles->limit - 1 : -1;
}

static void add_listed_path(struct call *call, wr_json_id item)
{
    static const char *const keys[] = {"path", "file_path", "filePath"};
    weir_span path = value_text(call, item);
    int64_t start = 1, end = -1;
    if (wr_json_is(call->doc, item, WR_JSON_OBJECT)) {
        for (size_t i = 0; i < WR_COUNT_OF(keys) && !path.len; i++)
            path = value_text(call, wr_json_find(call->doc, item, keys[i]));
        value_number(call, wr_json_find(call->doc, item, "start_line"), &start);
        value_number(call, wr_json_find(call->doc, item, "end_line"), &end);
    }
    bool read = call->handles->kind == WR_EFFECT_READ;
    if (path.len)
        add_path_effect(call, call->handles->kind, path, read ? start : 0, read ? end : 0);
}

static void read_paths(struct call *call, wr_json_id value)
{
    if (!wr_json_is(call->doc, value, WR_JSON_ARRAY)) {
        add_listed_path(call, value);
        return;
    }
    for (wr_json_id id = wr_json_first(call->doc, value); id != WR_JSON_NONE;
         id = wr_json_next(call->doc, value, id))
        add_listed_path(call, id);
}

static void read_line_pair(struct call *call, wr_json_id value)
{
    int64_t start, end;
    if (!wr_json_is(call->doc, value, WR_JSON_ARRAY) || wr_json_count(call->doc, value) != 2)
        return;
    wr_json_id first = wr_json_first(call->doc, value);
    if (!value_number(call, first, &start) ||
        !value_number(call, wr_json_next(call->doc, value, first), &end))
        return;
    call->handles->start_line = start;
    call->handles->end_line = end;
    call->has_lines = true;
}

/* view, create, str_replace, insert, undo_edit, delete. */
static void read_editor_verb(struct call *call, weir_span verb)
{
    struct wr_tool_handles *handles = call->handles;
    handles->mode = verb;
    if (wr_span_is(verb, "view"))
        handles->kind = WR_EFFECT_READ;
    else if (wr_span_is(verb, "create") || wr_span_is(verb, "delete"))
        handles->kind = WR_EFFECT_WRITE;
}

static void read_query_arg(struct call *call, wr_json_id value)
{
    if (wr_json_is(call->doc, value, WR_JSON_ARRAY))
        value = wr_json_first(call->doc, value);
    wr_set_once(&call->handles->query, value_text(call, value));
}

static void read_number_arg(struct call *call, wr_json_id value, enum wr_tool_role role)
{
    struct wr_tool_handles *handles = call->handles;
    int64_t number;
    if (!value_number(call, value, &number))
        return;
    if (role == WR_ROLE_OFFSET || role == WR_ROLE_OFFSET0) {
        handles->offset = number;
    } else if (role == WR_ROLE_LIMIT) {
        handles->limit = number;
    } else {
        *(role == WR_ROLE_START ? &handles->start_line : &handles->end_line) = number;
        call->has_lines = true;
    }
}

static void read_arg(struct call *call, enum wr_tool_role role, wr_json_id value)
{
    struct wr_tool_handles *handles = call->handles;
    switch (role) {
    case WR_ROLE_PATH:
        wr_set_once(&handles->path, value_text(call, value));
        break;
    case WR_ROLE_FROM:
        add_path_effect(call, WR_EFFECT_WRITE, value_text(call, value), 0, 0);
        break;
    case WR_ROLE_PATHS:
        read_paths(call, value);
        break;
    case WR_ROLE_QUERY:
        read_query_arg(call, value);
        break;
    case WR_ROLE_COMMAND:
        wr_set_once(&handles->command, command_text(call, value));
        break;
    case WR_ROLE_COMMANDS:
        wr_set_once(&handles->command, join_commands(call, value));
        break;
    case WR_ROLE_SOURCE:
        wr_set_once(&handles->command, value_text(call, value));
        break;
    case WR_ROLE_WORKDIR:
        wr_set_once(&handles->workdir, value_text(call, value));
        break;
    case WR_ROLE_PROCESS:
        wr_set_once(&handles->process_id, value_text(call, value));
        break;
    case WR_ROLE_MODE:
        wr_set_once(&handles->mode, value_text(call, value));
        break;
    case WR_ROLE_LINES:
        read_line_pair(call, value);
        break;
    case WR_ROLE_VERB:
        read_editor_verb(call, value_text(call, value));
        break;
    case WR_ROLE_OFFSET:
    case WR_ROLE_OFFSET0:
    case WR_ROLE_LIMIT:
    case WR_ROLE_START:
    case WR_ROLE_END:
        read_number_arg(call, value, role);
        break;
    case WR_ROLE_INPUT:
        /* Typing something is an act of its own; typing nothing asks for more output. */
        if (value_text(call, value).len)
            handles->kind = WR_EFFECT_RUN;
        break;
    case WR_ROLE_AROUND:
        call->has_lines = true;
        break;
    case WR_ROLE_PATCH:
    case WR_ROLE_NONE:
        break;
    }
}

static wr_json_id find_role(const struct call *call, enum wr_tool_role role)
{
    for (size_t i = 0; i < WR_TOOL_ARGS_MAX && call->row->args[i].key; i++)
        if (call->row->args[i].role == role && call->object != WR_JSON_NONE) {
            wr_json_id value = wr_json_find(call->doc, call->object, call->row->args[i].key);
            if (value != WR_JSON_NONE)
                return value;
        }
    return WR_JSON_NONE;
}

static bool has_role(const struct wr_tool_row *row, enum wr_tool_role role)
{
    for (size_t i = 0; i < WR_TOOL_ARGS_MAX && row->args[i].key; i++)
        if (row->args[i].role == role)
            return true;
    return false;
}

static void read_args(struct call *call)
{
    /* The directory first: paths are joined to it as they are read. */
    wr_set_once(&call->handles->workdir, value_text(call, find_role(call, WR_ROLE_WORKDIR)));
    call->base = wr_path_join(call->arena, call->base, call->handles->workdir);
    if (!call->base.ptr)
        call->base = (weir_span){"", 0};
    for (size_t i = 0; i < WR_TOOL_ARGS_MAX && call->row->args[i].key && !call->status; i++) {
        if (call->object == WR_JSON_NONE)
            return;
        wr_json_id value = wr_json_find(call->doc, call->object, call->row->args[i].key);
        if (value != WR_JSON_NONE)
            read_arg(call, call->row->args[i].role, value);
    }
}

/* --- from arguments to handles --- */

static void finish_lines(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    if (handles->kind != WR_EFFECT_READ)
        return;
    if (call->has_lines) {
        if (handles->end_line && !handles->start_line)
            handles->start_line = 1;
        else if (handles->start_line && !handles->end_line)
            handles->end_line = -1;
        return;
    }
    /* A window, or a file that only the result names: how much is shown is not known. */
    if (has_role(call->row, WR_ROLE_AROUND) ||
        !(has_role(call->row, WR_ROLE_PATH) || has_role(call->row, WR_ROLE_PATHS)))
        return;
    bool from_zero = has_role(call->row, WR_ROLE_OFFSET0);
    bool ranged = has_role(call->row, WR_ROLE_OFFSET) || from_zero;
    if (!ranged || handles->offset < 0)
        set_lines(call, handles->offset < -1 ? 0 : 1);
    else
        set_lines(call, handles->offset + (from_zero || !handles->offset));
}

/* OpenHands asks its one terminal for more by an empty command, and types into it by `is_input`. */
static bool is_terminal_input(struct call *call)
{
    wr_json_id input = wr_json_find(call->doc, call->object, "is_input");
    return wr_span_is(value_text(call, input), "true");
}

static void finish_command(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    bool terminal = call->row->dialect == WR_TOOL_OPENHANDS;
    if (terminal)
        handles->process_id = call->name;
    if (terminal && !handles->command.len)
        handles->kind = WR_EFFECT_POLL;
    else if (handles->command.len && !(terminal && is_terminal_input(call)))
        read_command(call);
}

static bool touches_files(enum wr_effect_kind kind)
{
    return kind == WR_EFFECT_READ || kind == WR_EFFECT_SEARCH || kind == WR_EFFECT_LIST ||
           kind == WR_EFFECT_EDIT || kind == WR_EFFECT_WRITE;
}

static void finish_path(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    if (handles->path.len) {
        add_path_effect(call, handles->kind, handles->path, handles->start_line, handles->end_line);
    } else if (touches_files(handles->kind) && !handles->effects_count) {
        /* A file that only the result names, or none. */
        bool searches = handles->kind == WR_EFFECT_SEARCH || handles->kind == WR_EFFECT_LIST;
        add_call_effect(call, (struct wr_effect){.kind = handles->kind,
                                                 .query = handles->query,
                                                 .program = call->name,
                                                 .path = searches ? call->base : (weir_span){"", 0},
                                                 .start_line = handles->start_line,
                                                 .end_line = handles->end_line,
                                                 .literal = searches});
    }
}

/* The first effect of the call's kind gives it its path and lines. */
static void take_first_effect(struct wr_tool_handles *handles)
{
    for (size_t i = 0; i < handles->effects_count; i++) {
        const struct wr_effect *effect = &handles->effects[i];
        if (effect->kind != handles->kind)
            continue;
        handles->path = effect->path;
        handles->start_line = effect->start_line;
        handles->end_line = effect->end_line;
        wr_set_once(&handles->query, effect->query);
        return;
    }
}

static void read_known_tool(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    handles->dialect = call->row->dialect;
    handles->kind = call->row->kind;
    handles->is_known = true;
    read_args(call);
    finish_lines(call);
    bool freeform = call->object == WR_JSON_NONE;
    if (has_role(call->row, WR_ROLE_COMMAND) || has_role(call->row, WR_ROLE_COMMANDS))
        finish_command(call);
    else if (wr_span_is(wr_span_of(call->row->name), "apply_patch") ||
             has_role(call->row, WR_ROLE_PATCH))
        read_patch(call, freeform ? call->text : value_text(call, find_role(call, WR_ROLE_PATCH)));
    else if (has_role(call->row, WR_ROLE_SOURCE) && freeform)
        handles->command = call->text;
    if (!handles->is_shell && handles->kind != WR_EFFECT_POLL)
        finish_path(call);
    take_first_effect(handles);
}

/* --- SWE-agent's commands as text: a tool `open` with {"command": "open src/a.py 40"} --- */

static void read_action(struct call *call, weir_span action)
{
    static const struct {
        const char *name;
        enum wr_effect_kind kind;
        int path, query, line; /* which word; 0: none */
    } actions[] = {
        {"open", WR_EFFECT_READ, 1, 0, 2},         {"goto", WR_EFFECT_READ, 0, 0, 1},
        {"scroll_down", WR_EFFECT_READ, 0, 0, 0},  {"scroll_up", WR_EFFECT_READ, 0, 0, 0},
        {"create", WR_EFFECT_WRITE, 1, 0, 0},      {"edit", WR_EFFECT_EDIT, 0, 0, 0},
        {"find_file", WR_EFFECT_LIST, 2, 1, 0},    {"search_file", WR_EFFECT_SEARCH, 2, 1, 0},
        {"search_dir", WR_EFFECT_SEARCH, 2, 1, 0}, {"submit", WR_EFFECT_OTHER, 0, 0, 0},
    };
    struct wr_tool_handles *handles = call->handles;
    struct wr_shell_tokens tokens;
    weir_span rest = action, line;

    handles->dialect = WR_TOOL_SWE_AGENT;
    handles->is_known = true;
    handles->command = action;
    for (size_t i = 0; i < WR_COUNT_OF(actions); i++) {
        if (!wr_span_is(call->name, actions[i].name))
            continue;
        handles->kind = actions[i].kind;
        if (!wr_span_line(&rest, &line))
            return;
        call->status = wr_shell_lex(&tokens, call->arena, line);
        if (call->status)
            return;
        if (actions[i].path && tokens.count > (size_t)actions[i].path)
            handles->path = tokens.items[actions[i].path].text;
        if (actions[i].query && tokens.count > (size_t)actions[i].query)
            handles->query = tokens.items[actions[i].query].text;
        finish_path(call);
        return;
    }
    handles->kind = WR_EFFECT_RUN;
    read_command(call);
    take_first_effect(handles);
}

static bool is_action(struct call *call, weir_span *action)
{
    if (call->object == WR_JSON_NONE || wr_json_count(call->doc, call->object) != 1)
        return false;
    *action = value_text(call, wr_json_find(call->doc, call->object, "command"));
    if (!wr_span_starts(*action, call->name) || !call->name.len)
        return false;
    char next = action->len > call->name.len ? action->ptr[call->name.len] : ' ';
    return next == ' ' || next == '\n' || next == '\t';
}

/* --- tools of no known agent --- */

static void read_unknown_tool(struct call *call)
{
    struct wr_tool_handles *handles = call->handles;
    enum wr_effect_kind guess = wr_tool_guess(call->name);
    call->row = &wr_tool_any_row;
    handles->kind = guess;
    read_args(call);
    if (guess == WR_EFFECT_RUN && handles->command.len) {
        read_command(call);
    } else if (touches_files(guess) && handles->path.len) {
        finish_path(call); /* the lines are not known */
    } else if (touches_files(guess) && !handles->effects_count &&
               !(guess == WR_EFFECT_SEARCH && handles->query.len)) {
        handles->kind = WR_EFFECT_OTHER; /* "create_issue" writes no file */
    }
    take_first_effect(handles);
}

static bool starts_object(weir_span text)
{
    text = wr_span_trim(text);
    return text.len && text.ptr[0] == '{' && text.len <= WR_TOOL_ARGUMENTS_BYTES_MAX;
}

weir_status wr_tool_call(struct wr_tool_handles *handles, struct wr_arena *arena, weir_span name,
                         weir_span arguments, weir_span cwd)
{
    struct wr_json doc = {0};
    struct call call = {.handles = handles,
                        .arena = arena,
                        .doc = &doc,
                        .object = WR_JSON_NONE,
                        .name = name,
                        .text = arguments,
                        .base = cwd};
    weir_span action;

    *handles =
        (struct wr_tool_handles){.offset = -1, .limit = -1, .next_offset = -1, .total_lines = -1};
    if (starts_object(arguments)) {
        weir_status status = wr_json_parse(&doc, arena, arguments, NULL, NULL);
        if (wr_arena_status(arena))
            return wr_arena_status(arena);
        if (!status)
            call.object = 0;
    }
    call.row = wr_tool_find(name, &doc, call.object);
    if (wr_tool_is_recall(name)) {
        handles->kind = WR_EFFECT_RECALL;
        handles->is_known = true;
        if (call.object != WR_JSON_NONE)
            handles->cursor = value_text(&call, wr_json_find(&doc, 0, "handle"));
    } else if (!(call.row && call.row->keys[0]) && is_action(&call, &action)) {
        read_action(&call, action);
    } else if (call.row) {
        read_known_tool(&call);
    } else {
        read_unknown_tool(&call);
    }
    handles->is_instructions = wr_tool_shows_instructions(handles);
    return call.status;
}

/* --- questions about handles --- */

weir_span wr_tool_join(struct wr_arena *arena, weir_span space, weir_span name)
{
    size_t separator_bytes = wr_span_ends(space, WR_LIT("__")) ? 0 : 2;
    size_t bytes = space.len + separator_bytes + name.len;

    if (!space.len || !name.ptr)
        return name;
    char *joined = wr_arena_alloc(arena, bytes);
    if (!joined)
        return (weir_span){NULL, 0};
    memcpy(joined, space.ptr, space.len);
    memcpy(joined + space.len, "__", separator_bytes);
    memcpy(joined + bytes - name.len, name.ptr, name.len);
    return (weir_span){joined, bytes};
}

static bool is_spelling_of(weir_span word, weir_span name)
{
    if (!wr_span_ends(name, word))
        return false;
    if (name.len == word.len)
        return true;
    char before = name.ptr[name.len - word.len - 1];
    return before == '_' || before == '.' || before == '/';
}

bool wr_tool_is_recall(weir_span name)
{
    return is_spelling_of(WR_LIT("weir_recall"), name);
}

bool wr_tool_is_own(weir_span name)
{
    return wr_tool_is_recall(name) || is_spelling_of(WR_LIT("weir_context"), name) ||
           is_spelling_of(WR_LIT("weir_steer"), name);
}

const struct wr_effect *wr_tool_next_write(const struct wr_tool_handles *handles, size_t *at)
{
    if (handles->is_error && !handles->is_shell)
        return NULL;
    while (*at < handles->effects_count) {
        const struct wr_effect *effect = &handles->effects[(*at)++];
        if (wr_effect_writes(effect))
            return effect;
    }
    return NULL;
}

const char *wr_tool_dialect_text(enum wr_tool_dialect dialect)
{
    static const char *const texts[WR_TOOL_DIALECTS] = {
        "unknown",   "claude_code", "codex", "opencode",  "gemini_cli",     "cline",
        "swe_agent", "openhands",   "pi",    "anthropic", "mini_swe_agent", "copilot",
    };
    return (unsigned)dialect < WR_TOOL_DIALECTS ? texts[dialect] : "unknown";
}

const char *wr_tool_cut_text(enum wr_tool_cut cut)
{
    static const char *const texts[] = {"none", "head", "tail", "middle", "somewhere"};
    return (unsigned)cut < WR_COUNT_OF(texts) ? texts[cut] : "somewhere";
}
