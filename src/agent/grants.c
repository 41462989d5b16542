/* "Always", kept to what was asked.
 *
 * A command line is cut by the shell lexer, and the first word of each simple command is its
 * program. `make && ./run` asks for two grants, and `make test` is covered by the first. Wherever
 * the first word does not say what runs, or something beside it is run or written, the whole line
 * becomes the grant: `git log > notes` is not a grant for git, since the next one could write
 * anywhere. Being asked once too often is the cheaper mistake.
 */
#include "agent/grants.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/shell_lex.h"

/* ---- what a command runs ---- */

/* They run what their arguments say, by whatever path and in whatever version. */
static const char *const wrappers[] = {
    "sh", "bash", "dash", "zsh", "ksh", "fish", "sudo", "doas", "su", "env", "xargs", "find",
    "nohup", "setsid", "nice", "timeout", "time", "exec", "eval", "command", "source", ".",
    "python", "python3", "perl", "ruby", "node", "ssh", "watch", "strace", "awk", "gawk", "mawk",
    "php", "lua", "npx", "bun", "deno", "uv", "uvx", "pipx", "docker", "podman", "gdb", "busybox",
    "chroot", "stdbuf", "ionice", "chrt", "taskset", "unshare", "nsenter", "parallel", "script",
    "expect", "tclsh", "osascript", "flock", "systemd-run", "at", "batch", "crontab", "builtin",
    "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "nodejs", "pypy", "pwsh", "Rscript",
    "julia", "guile", "tsx", "ts-node", "bunx", "pnpx", "m4", "dc", "sqlite", "ltrace", "valgrind",
    "perf", "rr", "entr", "unbuffer", "rlwrap", "runuser", "pkexec", "tmux", "screen",
    /* they set variables, among them PATH, or what a name means */
    "read", "readonly", "declare", "typeset", "local", "getopts", "mapfile", "readarray", "printf",
    "hash", "enable", "shopt", "unalias",
    /* words of the shell's grammar: what follows is a command too */
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "function", "select", "{", "}", "!", "[[", "coproc", "trap", "alias", "export"};

/* "/usr/bin/python3.12" is python. */
static weir_span plain_name(weir_span word)
{
    for (size_t i = word.len; i > 0; i--)
        if (word.ptr[i - 1] == '/') {
            word = wr_span_from(word, i);
            break;
        }
    while (word.len > 1 && (word.ptr[word.len - 1] == '.' || word.ptr[word.len - 1] == '-' ||
                            (word.ptr[word.len - 1] >= '0' && word.ptr[word.len - 1] <= '9')))
        word.len--;
    return word;
}

static bool is_wrapper(weir_span word)
{
    word = plain_name(word);
    for (size_t i = 0; i < WR_COUNT_OF(wrappers); i++)
        if (wr_span_is(word, wrappers[i]))
            return true;
    return false;
}

static bool has_byte(weir_span text, char byte)
{
    return text.len && memchr(text.ptr, byte, text.len);
}

/* `(` in what is expanded is a substitution: a command of its own. Quotes within `${..}` end
 * elsewhere in each shell. */
static bool runs_nothing(const struct wr_shell_token *token)
{
    weir_span text = token->text;
    bool has_braces = wr_span_has(text, WR_LIT("${"));

    return token->literal ||
           !(has_byte(text, '(') || has_byte(text, '`') ||
             (has_braces && (has_byte(text, '\'') || has_byte(text, '"') || has_byte(text, '\\'))));
}

/* `<>` is for writing too: `echo x <>file 1>&0`. */
static bool is_plain_redirect(const struct wr_shell_token *token)
{
    uint64_t number;

    if (token->redirect == WR_SHELL_DUP)
        return token->literal &&
               (wr_span_is(token->text, "-") || wr_span_u64(token->text, &number));
    if (token->redirect == WR_SHELL_IN)
        return !token->is_written && runs_nothing(token);
    return token->literal && wr_span_is(token->text, "/dev/null");
}

static bool is_plain(const struct wr_shell_token *token)
{
    if (token->kind == WR_SHELL_REDIRECT)
        return is_plain_redirect(token);
    return token->kind == WR_SHELL_WORD ? runs_nothing(token) : token->kind != WR_SHELL_CASE_END;
}

static bool is_program(const struct wr_shell_token *token)
{
    return token->literal && token->text.len && !has_byte(token->text, '=') &&
           !has_byte(token->text, '\n') && !is_wrapper(token->text);
}

static bool add_program(struct wr_grant_wish *wish, weir_span program)
{
    char text[WR_GRANT_BYTES_MAX];

    if (snprintf(text, sizeof(text), "commands of %.*s", (int)program.len, program.ptr) >=
        (int)sizeof(text))
        return false;
    for (size_t i = 0; i < wish->count; i++)
        if (!strcmp(wish->texts[i], text))
            return true;
    if (wish->count == WR_GRANT_PROGRAMS_MAX)
        return false;
    memcpy(wish->texts[wish->count++], text, sizeof(text));
    return true;
}

/* `cd a && ./run` is another ./run than `cd b && ./run`. */
static bool is_elsewhere(const struct wr_grant_wish *wish, weir_span program)
{
    bool is_relative = has_byte(program, '/') && program.ptr[0] != '/' && program.ptr[0] != '~';

    for (size_t i = 0; is_relative && i < wish->count; i++)
        if (!strcmp(wish->texts[i], "commands of cd") ||
            !strcmp(wish->texts[i], "commands of pushd"))
            return true;
    return false;
}

/* False: what runs cannot be told from the text. */
static bool find_programs(struct wr_grant_wish *wish, const struct wr_shell_tokens *tokens)
{
    bool is_first = true;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct wr_shell_token *token = &tokens->items[i];
        if (!is_plain(token))
            return false;
        if (token->kind == WR_SHELL_REDIRECT)
            continue;
        if (token->kind != WR_SHELL_WORD) {
            is_first = true;
            continue;
        }
        if (is_first && (!is_program(token) || is_elsewhere(wish, token->text) ||
                         !add_program(wish, token->text)))
            return false;
        is_first = false;
    }
    /* /bin/sh is dash here and bash there: what they read differently cannot be told. */
    return wish->count && !tokens->incomplete && !tokens->is_bash;
}

/* ---- wishes ---- */

void wr_grant_wish_of(struct wr_grant_wish *wish, weir_span tool, weir_span command)
{
    struct wr_shell_tokens tokens;
    struct wr_arena arena;

    *wish = (struct wr_grant_wish){.count = 0};
    if (!command.len) {
        (void)snprintf(wish->texts[0], WR_GRANT_BYTES_MAX, "%.*s", (int)tool.len, tool.ptr);
        wish->count = tool.len && tool.len < WR_GRANT_BYTES_MAX;
        return;
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool is_known = !wr_shell_lex(&tokens, &arena, command) && find_programs(wish, &tokens);
    wr_arena_release(&arena);
    if (is_known)
        return;
    int bytes = snprintf(wish->texts[0], WR_GRANT_BYTES_MAX, "the command: %.*s", (int)command.len,
                         command.ptr);
    wish->count = bytes > 0 && bytes < WR_GRANT_BYTES_MAX && !has_byte(command, '\0');
}

/* ---- grants ---- */

static bool is_granted(const struct wr_grants *grants, const char *text)
{
    for (size_t i = 0; i < grants->count; i++)
        if (!strcmp(grants->texts[i], text))
            return true;
    return false;
}

bool wr_grants_cover(const struct wr_grants *grants, const struct wr_grant_wish *wish)
{
    for (size_t i = 0; i < wish->count; i++)
        if (!is_granted(grants, wish->texts[i]))
            return false;
    return wish->count > 0;
}

bool wr_grants_add(struct wr_grants *grants, const struct wr_grant_wish *wish)
{
    if (!wish->count || grants->count + wish->count > WR_GRANTS_MAX)
        return false;
    for (size_t i = 0; i < wish->count; i++)
        if (!is_granted(grants, wish->texts[i]))
            memcpy(grants->texts[grants->count++], wish->texts[i], WR_GRANT_BYTES_MAX);
    return true;
}

void wr_grants_list(const struct wr_grants *grants, struct wr_buf *out)
{
    for (size_t i = 0; i < grants->count; i++)
        wr_buf_printf(out, "%zu  %s\n", i + 1, grants->texts[i]);
}

bool wr_grants_revoke(struct wr_grants *grants, size_t number)
{
    if (!number || number > grants->count)
        return false;
    grants->count--;
    memmove(grants->texts[number - 1], grants->texts[number],
            (grants->count - (number - 1)) * sizeof(grants->texts[0]));
    return true;
}
