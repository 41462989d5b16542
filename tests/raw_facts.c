#include "tests/raw_facts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "tests/raw_json.h"

/* ---- lists ---- */

static size_t find(const struct raw_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->texts[i], text))
            return i;
    return SIZE_MAX;
}

static void add(struct raw_list *list, const char *text)
{
    if (find(list, text) != SIZE_MAX)
        return;
    list->texts = raw_must(realloc(list->texts, (list->count + 1) * sizeof(*list->texts)));
    list->texts[list->count++] = raw_copy(text, strlen(text));
}

static void drop(struct raw_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->texts);
}

/* ---- the log ---- */

struct call {
    char *id, *tool, *arguments; /* arguments: JSON text */
    char *command, *dir;         /* of a shell; else "" */
    char *result;                /* "" until it comes */
    bool is_answered;
};

struct log {
    struct call *calls;
    size_t count;
};

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words))
            return true;
    return false;
}

static bool is_shell(const char *tool)
{
    static const char *const shells[] = {"Bash", "bash", "exec_command", "shell", NULL};
    return is_one_of(tool, shells);
}

static char *first_member(const char *object, const char *a, const char *b)
{
    const char *value = raw_member(object, a);
    return raw_string(value ? value : raw_member(object, b));
}

static void read_call(struct log *log, const char *object)
{
    const char *function = raw_member(object, "function");
    struct call call = {0};

    call.id = raw_string(raw_member(object, "id"));
    call.tool = raw_string(raw_member(function, "name"));
    call.arguments = raw_string(raw_member(function, "arguments"));
    bool shell = is_shell(call.tool);
    call.command = shell ? first_member(call.arguments, "command", "cmd") : raw_copy("", 0);
    call.dir = shell ? first_member(call.arguments, "workdir", "cwd") : raw_copy("", 0);
    call.result = raw_copy("", 0);
    log->calls = raw_must(realloc(log->calls, (log->count + 1) * sizeof(call)));
    log->calls[log->count++] = call;
}

static void read_result(struct log *log, const char *message)
{
    char *id = raw_string(raw_member(message, "tool_call_id"));
    for (size_t i = log->count; i-- > 0;) {
        if (strcmp(log->calls[i].id, id) || log->calls[i].is_answered)
            continue;
        free(log->calls[i].result);
        log->calls[i].result = raw_string(raw_member(message, "content"));
        log->calls[i].is_answered = true;
        break;
    }
    free(id);
}

static void read_message(struct log *log, const char *message)
{
    char *role = raw_string(raw_member(message, "role"));
    const char *list = raw_member(message, "tool_calls");
    if (!strcmp(role, "tool"))
        read_result(log, message);
    for (const char *at = list && *list == '[' ? raw_skip_space(list + 1) : ""; *at == '{';) {
        read_call(log, at);
        at = raw_skip_value(at);
        at = *at == ',' ? raw_skip_space(at + 1) : "";
    }
    free(role);
}

/* ---- failures: the words each agent uses ---- */

static bool number_after(const char *text, const char *words, long *number)
{
    const char *at = strstr(text, words);
    char *end;
    if (!at)
        return false;
    *number = strtol(at + strlen(words), &end, 10);
    return end != at + strlen(words);
}

/* A copy of the first or last few lines, where agents put their own words. */
static char *some_lines(const char *text, bool last, int lines)
{
    size_t len = strlen(text), at = last ? len : 0;
    for (int n = 0; n < lines; n++) {
        if (!last)
            at += strcspn(text + at, "\n") + (text[at + strcspn(text + at, "\n")] == '\n');
        while (last && at && (text[at - 1] == '\n' && at == len))
            at--, len--;
        while (last && at && text[at - 1] != '\n')
            at--;
        if (last && at && n + 1 < lines)
            at--;
    }
    return last ? raw_copy(text + at, len - at) : raw_copy(text, at);
}

static bool exit_code(const struct call *call, long *code)
{
    static const char *const front[] = {"Process exited with code ", "<returncode>",
                                        "Exit code: ", NULL};
    static const char *const back[] = {"Command exited with code ", "<exited with exit code ",
                                       "completed with exit code ", NULL};
    char *head = some_lines(call->result, false, 6), *tail = some_lines(call->result, true, 2);
    bool found = !strncmp(head, "Exit code ", 10) && number_after(head, "Exit code ", code);
    for (size_t i = 0; front[i] && !found; i++)
        found = number_after(head, front[i], code);
    for (size_t i = 0; back[i] && !found; i++)
        found = number_after(tail, back[i], code);
    free(head);
    free(tail);
    return found;
}

/* ---- command lines, by their characters ---- */

/* The command without its here-documents. */
static char *strip_heredocs(const char *command)
{
    char *out = raw_copy(command, strlen(command)), *at = out, name[128];
    while ((at = strstr(at, "<<"))) {
        char *from = at, *end = at + 2 + (at[2] == '-');
        size_t len;
        if (*end == '<') { /* <<< */
            at += 3;
            continue;
        }
        while (*end == ' ' || *end == '\'' || *end == '"' || *end == '\\')
            end++;
        len = strcspn(end, " \t\n'\";|&)");
        if (!len || len >= sizeof(name) || !isalpha((unsigned char)*end))
            break;
        memcpy(name, end, len);
        name[len] = '\0';
        end += len + (end[len] == '\'' || end[len] == '"');
        char *body = strchr(end, '\n'), *line = body;
        for (; line; line = strchr(line + 1, '\n')) {
            char *text = line + 1 + strspn(line + 1, "\t");
            if (!strncmp(text, name, len) && (!text[len] || text[len] == '\n')) {
                memmove(body, text + len, strlen(text + len) + 1);
                break;
            }
        }
        if (body && !line)
            *body = '\0';
        memmove(from, end, strlen(end) + 1);
    }
    return out;
}

/* Cuts at `&&`, `||`, `;`, newlines and (with `pipes`) `|`, outside quotes. Returns how many
 * pieces. */
static size_t cut(const char *command, bool pipes, struct raw_list *pieces)
{
    const char *from = command;
    char quote = 0;
    *pieces = (struct raw_list){0};
    for (const char *at = command;; at++) {
        if (quote && *at) {
            if (*at == '\\' && quote == '"' && at[1])
                at++;
            else if (*at == quote)
                quote = 0;
            continue;
        }
        if (*at == '\'' || *at == '"') {
            quote = *at;
            continue;
        }
        bool doubled = (*at == '&' && at[1] == '&') || (*at == '|' && at[1] == '|');
        bool single = *at == ';' || *at == '\n' || (pipes && *at == '|');
        if (*at == '\\' && at[1])
            at++;
        else if (!*at || doubled || single) {
            pieces->texts = raw_must(realloc(pieces->texts, (pieces->count + 1) * sizeof(char *)));
            from = raw_skip_space(from);
            pieces->texts[pieces->count++] = raw_copy(from, from < at ? (size_t)(at - from) : 0);
            if (!*at)
                return pieces->count;
            at += doubled;
            from = at + 1;
        }
    }
}

/* The n-th word of a simple command, without quotes; assignments before it do not count. */
static bool word(const char *piece, size_t n, char *out, size_t out_bytes)
{
    while (*(piece = raw_skip_space(piece))) {
        size_t len = 0;
        char quote = 0;
        for (; *piece && (quote || !isspace((unsigned char)*piece)); piece++) {
            if (quote ? *piece == quote : (*piece == '\'' || *piece == '"'))
                quote = quote ? 0 : *piece;
            else if (len + 1 < out_bytes)
                out[len++] = *piece;
        }
        out[len] = '\0';
        if (!n--)
            return true;
    }
    return false;
}

/* Programs that only show something: that they find nothing is no failure. */
static const char *const looks[] = {
    "ls",     "cat",     "head",     "tail",    "grep",   "egrep",    "rg",      "find", "wc",
    "nl",     "diff",    "cd",       "echo",    "test",   "[",        "sleep",   "true", "pwd",
    "printf", "which",   "file",     "stat",    "tree",   "sort",     "uniq",    "cut",  "tr",
    "jq",     "less",    "awk",      "export",  "column", "du",       "fd",      "set",  "type",
    "cmp",    "for",     "do",       "done",    "if",     "then",     "fi",      "else", "xxd",
    "od",     "command", "basename", "dirname", "date",   "realpath", "strings", NULL};

static bool is_look(const char *piece)
{
    char first[64] = "", second[64] = "";
    if (!word(piece, 0, first, sizeof(first)))
        return true;
    (void)word(piece, 1, second, sizeof(second));
    if (!strcmp(first, "sed"))
        return !strstr(piece, " -i");
    if (!strcmp(first, "git"))
        return !strcmp(second, "diff") || !strcmp(second, "show") || !strcmp(second, "grep") ||
               !strcmp(second, "ls-files") || !strcmp(second, "blame");
    /* `gh run view --log-failed` shows what failed in another place, and did not fail itself. */
    if (!strcmp(first, "gh"))
        return strstr(piece, " view ") || strstr(piece, " list") || strstr(piece, " checks");
    return is_one_of(first, looks);
}

static bool last_is_search(const char *command)
{
    static const char *const searches[] = {"grep", "egrep", "rg", "diff", "cmp", "test", "[", NULL};
    struct raw_list pieces;
    char first[64] = "";
    cut(command, true, &pieces);
    (void)word(pieces.texts[pieces.count - 1], 0, first, sizeof(first));
    drop(&pieces);
    return is_one_of(first, searches);
}

/* What two runs of one thing have in common: no `cd`, no redirections, of a pipe its first part. */
static char *task_of(const char *command)
{
    struct raw_list pieces;
    char *out = raw_must(calloc(1, strlen(command) + 2)), *at = out, first[64] = "";
    if (strstr(command, "<<")) {
        const char *joint = strstr(command, "&& ");
        if (!strncmp(command, "cd ", 3) && joint)
            command = joint + 3;
        memcpy(out, command, strlen(command) + 1);
        return out;
    }
    cut(command, false, &pieces);
    for (size_t i = 0; i < pieces.count; i++) {
        struct raw_list parts;
        char one[4096];
        (void)word(pieces.texts[i], 0, first, sizeof(first));
        if (!strcmp(first, "cd"))
            continue;
        cut(pieces.texts[i], true, &parts);
        for (size_t n = 0; word(parts.texts[0], n, one, sizeof(one)); n++) {
            if (strchr(one, '>'))
                n += one[strlen(one) - 1] == '>';
            else {
                size_t len = strlen(one);
                memcpy(at, one, len);
                at[len] = ' ';
                at += len + 1;
            }
        }
        drop(&parts);
    }
    drop(&pieces);
    return out;
}

/* ---- files ---- */

static void add_path(struct raw_list *changed, const char *dir, const char *path)
{
    char *joined, *at;
    if (!*path || strpbrk(path, "$*?{`(") || !strncmp(path, "/dev/", 5) || *path == '&')
        return;
    while (!strncmp(path, "./", 2))
        path += 2;
    bool absolute = *path == '/' || *path == '~' || !*dir;
    joined = raw_must(malloc(strlen(dir) + strlen(path) + 2));
    (void)snprintf(joined, strlen(dir) + strlen(path) + 2, "%s%s%s", absolute ? "" : dir,
                   absolute ? "" : "/", path);
    while ((at = strstr(joined, "//")))
        memmove(at, at + 1, strlen(at));
    size_t len = strlen(joined);
    if (len && joined[len - 1] != '/')
        add(changed, joined);
    free(joined);
}

static void read_patch(struct raw_list *changed, const char *dir, const char *patch)
{
    static const char *const marks[] = {
        "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", NULL};
    for (const char *line = patch; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        for (size_t i = 0; marks[i]; i++) {
            if (strncmp(line, marks[i], strlen(marks[i])))
                continue;
            const char *name = line + strlen(marks[i]);
            char *path = raw_copy(name, strcspn(name, "\r\n"));
            add_path(changed, dir, path);
            free(path);
        }
}

static void read_redirections(struct raw_list *changed, const char *dir, const char *piece)
{
    char one[4096], next[4096];
    for (size_t n = 0; word(piece, n, one, sizeof(one)); n++) {
        const char *at = strchr(one, '>');
        if (!at || at - one > 1 || strchr(one, '<') || strpbrk(one, " =("))
            continue;
        if (*one != '>' && !isdigit((unsigned char)*one) && *one != '&')
            continue;
        at += 1 + (at[1] == '>') + (at[1] == '|');
        if (!*at && word(piece, n + 1, next, sizeof(next)))
            at = next;
        add_path(changed, dir, at);
    }
}

static bool only_looks(const char *command)
{
    struct raw_list pieces, written = {0};
    bool all = true;
    cut(command, true, &pieces);
    for (size_t i = 0; i < pieces.count && all; i++)
        all = is_look(pieces.texts[i]);
    for (size_t i = 0; i < pieces.count; i++)
        read_redirections(&written, "", pieces.texts[i]);
    all &= !written.count;
    drop(&pieces);
    drop(&written);
    return all;
}

/* Programs that write the files they name: from which word on, and whether only the last one. */
static const struct {
    const char *program;
    bool only_last;
} writers[] = {{"rm", false}, {"touch", false}, {"tee", false},
               {"mv", false}, {"cp", true},     {"unlink", false}};

static void read_writer(struct raw_list *changed, const char *dir, const char *piece)
{
    char first[64] = "", one[4096], last[4096] = "";
    size_t n = 1, kind = 0, kinds = WR_COUNT_OF(writers);
    (void)word(piece, 0, first, sizeof(first));
    if (!strcmp(first, "git") && word(piece, 1, first, sizeof(first)))
        n = strcmp(first, "rm") && strcmp(first, "mv") ? 1 : 2;
    bool is_sed = !strcmp(first, "sed") && strstr(piece, " -i");
    while (kind < kinds && strcmp(first, writers[kind].program))
        kind++;
    if (kind == kinds && !is_sed)
        return;
    for (; word(piece, n, one, sizeof(one)); n++) {
        if (*one == '-' || strchr(one, '>') || (!is_sed && strchr(one, '<')))
            continue;
        memcpy(last, one, sizeof(one));
        if (!is_sed && !writers[kind].only_last)
            add_path(changed, dir, one);
    }
    if (is_sed || writers[kind].only_last)
        add_path(changed, dir, last);
}

static void change_dir(char *dir, size_t dir_bytes, const char *to)
{
    size_t len = *to == '/' || *to == '~' ? 0 : strlen(dir);
    if (len + strlen(to) + 2 > dir_bytes)
        return;
    if (len)
        dir[len++] = '/';
    memcpy(dir + len, to, strlen(to) + 1);
}

static void read_shell_files(struct raw_list *changed, const struct call *call)
{
    char dir[4096] = "", *command = strip_heredocs(call->command);
    struct raw_list pieces;

    (void)snprintf(dir, sizeof(dir), "%s", call->dir);
    if (strstr(call->command, "*** Begin Patch"))
        read_patch(changed, dir, call->command);
    cut(command, true, &pieces);
    for (size_t i = 0; i < pieces.count; i++) {
        char first[64] = "", to[4096];
        (void)word(pieces.texts[i], 0, first, sizeof(first));
        if (!strcmp(first, "cd") && word(pieces.texts[i], 1, to, sizeof(to)))
            change_dir(dir, sizeof(dir), to);
        read_redirections(changed, dir, pieces.texts[i]);
        read_writer(changed, dir, pieces.texts[i]);
    }
    drop(&pieces);
    free(command);
}

static bool is_editor(const char *tool)
{
    static const char *const editors[] = {"Edit", "Write", "MultiEdit", "NotebookEdit",
                                          "edit", "write", "create",    NULL};
    return is_one_of(tool, editors);
}

static char *editor_path(const struct call *call)
{
    char *path = first_member(call->arguments, "file_path", "path");
    if (*path)
        return path;
    free(path);
    return first_member(call->arguments, "notebook_path", "filename");
}

static bool tool_failed(const struct call *call)
{
    static const char *const words[] = {"<tool_use_error>",
                                        "Error: ",
                                        "Error executing",
                                        "Could not find",
                                        "[Edit failed",
                                        "apply_patch verification",
                                        "Your proposed edit has introduced",
                                        NULL};
    long code = 0;
    for (size_t i = 0; words[i]; i++)
        if (!strncmp(call->result, words[i], strlen(words[i])))
            return true;
    return exit_code(call, &code) && code;
}

static bool was_refused(const struct call *call)
{
    return !strncmp(call->result, "The user doesn't want", 21);
}

/* Codex calls it `input` or `patch`, opencode `patchText`. */
static char *patch_of(const struct call *call)
{
    char *patch = first_member(call->arguments, "input", "patch");
    if (*patch)
        return patch;
    free(patch);
    return raw_string(raw_member(call->arguments, "patchText"));
}

static void read_changed(struct raw_facts *facts, const struct call *call)
{
    if (was_refused(call))
        return;
    if (*call->command) {
        read_shell_files(&facts->changed, call);
    } else if (!strcmp(call->tool, "apply_patch") && !tool_failed(call)) {
        char *patch = patch_of(call);
        read_patch(&facts->changed, "", *patch ? patch : call->arguments);
        free(patch);
    } else if (is_editor(call->tool) && !tool_failed(call)) {
        char *path = editor_path(call);
        add_path(&facts->changed, "", path);
        free(path);
    }
}

/* ---- tasks ---- */

struct task {
    char *key, *line, *last_id, *process;
    bool is_command, has_failed;
};

struct tasks {
    struct task *items;
    size_t count;
};

static struct task *get_task(struct tasks *tasks, const char *key)
{
    for (size_t i = 0; i < tasks->count; i++)
        if (!strcmp(tasks->items[i].key, key))
            return &tasks->items[i];
    tasks->items = raw_must(realloc(tasks->items, (tasks->count + 1) * sizeof(*tasks->items)));
    tasks->items[tasks->count] = (struct task){.key = raw_copy(key, strlen(key)),
                                               .line = raw_copy("", 0),
                                               .last_id = raw_copy("", 0),
                                               .process = raw_copy("", 0)};
    return &tasks->items[tasks->count++];
}

static void set(char **field, const char *text)
{
    free(*field);
    *field = raw_copy(text, strlen(text));
}

static char *one_line(const char *text)
{
    char *out = raw_must(malloc(strlen(text) + 1)), *at = out;
    for (text = raw_skip_space(text); *text; text++) {
        if (!isspace((unsigned char)*text))
            *at++ = *text;
        else if (*raw_skip_space(text))
            *at++ = ' ', text = raw_skip_space(text) - 1;
    }
    *at = '\0';
    if (at - out > RAW_LINE_BYTES)
        out[RAW_LINE_BYTES] = '\0';
    return out;
}

static bool names_failed_tests(const char *text)
{
    static const char *const marks[] = {"--- FAIL: ",
                                        "\nFAILED ",
                                        "\nnot ok ",
                                        "(fail) ",
                                        " ... FAILED",
                                        "ERR_PNPM_", /* how pnpm begins what stopped it */
                                        "panicked at ",
                                        "Traceback (most recent call last)",
                                        NULL};
    for (size_t i = 0; marks[i]; i++)
        if (strstr(text, marks[i]))
            return true;
    return false;
}

static bool hides_exit_code(const char *stripped)
{
    struct raw_list with_pipes, without;
    size_t all = cut(stripped, true, &with_pipes), lists = cut(stripped, false, &without);
    bool hidden = all > lists || strstr(stripped, "||") || strchr(stripped, ';') ||
                  (strchr(stripped, '\n') && raw_skip_space(strchr(stripped, '\n'))[0]);
    drop(&with_pipes);
    drop(&without);
    return hidden;
}

static bool command_failed(const struct call *call, const char *stripped)
{
    long code = 0;
    bool has_code = exit_code(call, &code);
    if (has_code && code == 1 && last_is_search(stripped))
        return false;
    if (has_code && code)
        return true;
    return tool_failed(call) || (hides_exit_code(stripped) && names_failed_tests(call->result));
}

static char *process_of(const char *text)
{
    const char *at = strstr(text, "Process running with session ID ");
    return at ? raw_copy(at + 32, strspn(at + 32, "0123456789")) : raw_copy("", 0);
}

static void read_command(struct tasks *tasks, const struct call *call)
{
    char *stripped = strip_heredocs(call->command), *key = task_of(call->command);
    long code;
    if (!only_looks(stripped)) {
        struct task *task = get_task(tasks, key);
        char *line = one_line(call->command), *process = process_of(call->result);
        set(&task->line, line);
        set(&task->last_id, call->id);
        task->is_command = true;
        task->has_failed = command_failed(call, stripped);
        if (*process && !exit_code(call, &code))
            set(&task->process, process);
        free(line);
        free(process);
    }
    free(stripped);
    free(key);
}

static void read_poll(struct tasks *tasks, const struct call *call)
{
    const char *value = raw_member(call->arguments, "session_id");
    char *id =
        value && *value != '"' ? raw_copy(value, strspn(value, "0123456789")) : raw_string(value);
    long code;
    for (size_t i = tasks->count; i-- > 0 && *id && exit_code(call, &code);) {
        if (strcmp(tasks->items[i].process, id))
            continue;
        tasks->items[i].has_failed = code != 0;
        set(&tasks->items[i].last_id, call->id);
        break;
    }
    free(id);
}

/* The first file of a patch; "" for all other tools. */
static char *patched_path(const struct call *call)
{
    struct raw_list files = {0};
    if (!strcmp(call->tool, "apply_patch")) {
        char *patch = patch_of(call);
        read_patch(&files, "", *patch ? patch : call->arguments);
        free(patch);
    }
    char *path =
        raw_copy(files.count ? files.texts[0] : "", files.count ? strlen(files.texts[0]) : 0);
    drop(&files);
    return path;
}

static void read_other(struct tasks *tasks, const struct call *call)
{
    static const char *const silent[] = {"Read",       "read",       "view",       "Grep",
                                         "Glob",       "LS",         "TaskCreate", "ls",
                                         "TodoWrite",  "TaskUpdate", "TaskList",   "update_plan",
                                         "TaskOutput", "ToolSearch", NULL};
    char *path = is_editor(call->tool) ? editor_path(call) : patched_path(call), *key;
    size_t bytes = strlen(path) + strlen(call->tool) + strlen(call->arguments) + 2;

    if (!is_one_of(call->tool, silent)) {
        key = raw_must(malloc(bytes));
        (void)snprintf(key, bytes, "%s %s", *path ? "edit" : call->tool,
                       *path ? path : call->arguments);
        struct task *task = get_task(tasks, key);
        set(&task->last_id, call->id);
        task->has_failed = !was_refused(call) && tool_failed(call);
        free(key);
    }
    free(path);
}

static void collect(struct raw_facts *facts, struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->items[i];
        if (task->has_failed && task->is_command)
            add(&facts->failing, task->line);
        if (task->has_failed)
            add(&facts->open, task->last_id);
        free(task->key);
        free(task->line);
        free(task->last_id);
        free(task->process);
    }
    free(tasks->items);
}

static void read_log(struct raw_facts *facts, struct log *log)
{
    struct tasks tasks = {0};
    for (size_t i = 0; i < log->count; i++) {
        struct call *call = &log->calls[i];
        read_changed(facts, call);
        if (*call->command)
            read_command(&tasks, call);
        else if (!strcmp(call->tool, "write_stdin"))
            read_poll(&tasks, call);
        else
            read_other(&tasks, call);
        free(call->id);
        free(call->tool);
        free(call->arguments);
        free(call->command);
        free(call->dir);
        free(call->result);
    }
    collect(facts, &tasks);
    free(log->calls);
}

void raw_facts_read(struct raw_facts *facts, const char *jsonl, size_t len)
{
    struct log log = {0};
    *facts = (struct raw_facts){0};
    for (size_t from = 0; from < len;) {
        const char *end = memchr(jsonl + from, '\n', len - from);
        size_t bytes = end ? (size_t)(end - jsonl) - from : len - from;
        char *line = raw_copy(jsonl + from, bytes);
        read_message(&log, line);
        free(line);
        from += bytes + 1;
    }
    read_log(facts, &log);
}

void raw_facts_free(struct raw_facts *facts)
{
    drop(&facts->changed);
    drop(&facts->failing);
    drop(&facts->open);
}
