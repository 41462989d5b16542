/* The kind of output that a command line gives, by the names of its programs and a few of their
 * options. The line is cut into calls in a coarse way (quotes, pipes, lists): the exact reading of
 * a shell is transcript/shell.h, which this folder may not ask. Where programs do not agree the
 * kind is PROCESS.
 */
#include "condense/output_kind.h"

#include <stdbool.h>

#include "base/words.h"
#include "base/ascii.h"

/* The words of one program's call; the shell's quotes around a word are taken off. */
enum { WORDS_MAX = 12, SCRIPT_DEPTH_MAX = 3 };

struct call {
    weir_span words[WORDS_MAX];
    size_t count;
    bool piped; /* reads what the call before it printed */
};

static const weir_span NOTHING = {"", 0};

static weir_span word_of(const struct call *call, size_t at)
{
    return at < call->count ? call->words[at] : NOTHING;
}

static bool has_word(const struct call *call, const char *words)
{
    for (size_t i = 1; i < call->count; i++)
        if (wr_is_any_of(call->words[i], words))
            return true;
    return false;
}

/* -- reading the line -------------------------------------------------------------------------- */

/* End of the word at `at`: quotes and escapes belong to it. */
static size_t word_end(weir_span text, size_t at)
{
    char quote = 0;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '\\' && quote != '\'')
            at++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (wr_is_blank(c) || memchr(";|&\n()", c, 6))
            break;
    }
    return at < text.len ? at : text.len;
}

static weir_span unquoted(weir_span word)
{
    if (word.len > 1 && (word.ptr[0] == '"' || word.ptr[0] == '\'') &&
        word.ptr[word.len - 1] == word.ptr[0])
        return wr_span_cut(word, 1, word.len - 1);
    return word;
}

/* Reads the next call; false at the end of the line. */
static bool next_call(weir_span text, size_t *at, struct call *call)
{
    bool piped = false;
    call->count = 0;
    while (*at < text.len) {
        char c = text.ptr[*at];
        if (wr_is_blank(c)) {
            ++*at;
            continue;
        }
        if (memchr(";|&\n()", c, 6)) {
            if (call->count)
                break;
            piped = c == '|' && !(*at && text.ptr[*at - 1] == '|');
            ++*at;
            continue;
        }
        size_t end = word_end(text, *at);
        weir_span word = wr_span_cut(text, *at, end);
        bool redirect = memchr(word.ptr, '>', word.len) && !memchr(word.ptr, ' ', word.len);
        if (redirect && end < text.len && text.ptr[end] == '&')
            end = word_end(text, end + 1); /* 2>&1 */
        else if (!redirect && call->count < WORDS_MAX)
            call->words[call->count++] = unquoted(word);
        *at = end;
    }
    call->piped = piped;
    return call->count > 0;
}

/* -- what programs give ------------------------------------------------------------------------ */

/* SILENT programs print next to nothing. */
enum { SILENT = WR_OUTPUT_KINDS };

static bool is_silent(weir_span program)
{
    static const char names[] =
        "cd|export|set|source|.|true|pwd|mkdir|echo|printf|sleep|test|[|touch|rm|cp|mv|chmod|"
        "which|unset|date|exit|:|type|alias|ulimit|wait|then|else|fi|do|done|if";
    return wr_is_any_of(program, names);
}

static bool is_filter(weir_span program)
{
    static const char names[] =
        "head|tail|grep|egrep|fgrep|rg|sort|uniq|cut|awk|sed|tee|less|more|cat|tr|column|nl|gawk|"
        "perl";
    return wr_is_any_of(program, names);
}

static bool is_tester(weir_span program)
{
    static const char names[] =
        "pytest|py.test|jest|vitest|mocha|ctest|rspec|phpunit|tox|nox|ava|karma|bats|minitest|"
        "playwright|nose2";
    return wr_is_any_of(program, names);
}

/* "cargo test", "npm run test:unit", "make check": a builder told to test. */
static bool runs_tests(const struct call *call)
{
    static const char builders[] =
        "cargo|go|npm|pnpm|yarn|bun|deno|mix|dotnet|mvn|gradle|./gradlew|make|swift|python|"
        "python3|bundle|rake|rails|zig|sbt|nx|turbo|uv|poetry|just|mise";
    if (is_tester(word_of(call, 0)))
        return true;
    if (!wr_is_any_of(word_of(call, 0), builders))
        return false;
    for (size_t i = 1; i < call->count && i < 5; i++) {
        weir_span word = call->words[i];
        if (wr_span_starts(word, WR_LIT("test")) || wr_span_is(word, "check") ||
            wr_span_is(word, "nextest") || wr_span_is(word, "unittest") || is_tester(word))
            return !wr_span_is(word_of(call, 0), "cargo") || !wr_span_is(word, "check");
    }
    return false;
}

static int kind_of_git(const struct call *call)
{
    static const char summaries[] = "--stat|--name-only|--name-status|--shortstat|--numstat";
    static const char patches[] = "-p|-u|--patch";
    size_t at = 1;
    while (at + 1 < call->count &&
           (wr_span_is(call->words[at], "-C") || wr_span_is(call->words[at], "-c")))
        at += 2;
    while (at < call->count && wr_span_starts(call->words[at], WR_LIT("-")))
        at++;
    weir_span verb = word_of(call, at);
    if (wr_span_is(verb, "grep"))
        return WR_OUTPUT_SEARCH;
    if (wr_span_is(verb, "ls-files") || wr_span_is(verb, "ls-tree"))
        return WR_OUTPUT_LIST;
    if (wr_span_is(verb, "diff"))
        return has_word(call, summaries) ? WR_OUTPUT_LIST : WR_OUTPUT_DIFF;
    if (wr_span_is(verb, "log"))
        return has_word(call, patches) ? WR_OUTPUT_DIFF : WR_OUTPUT_PROCESS;
    if (!wr_span_is(verb, "show") || has_word(call, summaries))
        return WR_OUTPUT_PROCESS;
    for (size_t i = at + 1; i < call->count; i++)
        if (memchr(call->words[i].ptr, ':', call->words[i].len) && call->words[i].ptr[0] != '-')
            return WR_OUTPUT_FILE; /* REV:path */
    return WR_OUTPUT_DIFF;
}

static bool names_data(const struct call *call)
{
    for (size_t i = 1; i < call->count; i++)
        if (wr_output_is_data_path(call->words[i]))
            return true;
    return false;
}

/* sed that edits in place, or awk that runs a program of its own, shows no file. */
static int kind_of_reader(const struct call *call)
{
    for (size_t i = 1; i < call->count; i++)
        if (wr_span_starts(call->words[i], WR_LIT("-i")) ||
            wr_span_is(call->words[i], "--in-place"))
            return SILENT;
    return names_data(call) ? WR_OUTPUT_LOG : WR_OUTPUT_FILE;
}

static int kind_of_search(const struct call *call)
{
    static const char names[] = "-l|-c|--files|--files-with-matches|--count|-L|-rl|-lr|-rc";
    return has_word(call, names) ? WR_OUTPUT_LIST : WR_OUTPUT_SEARCH;
}

static int kind_of_find(const struct call *call)
{
    static const char actions[] = "-exec|-execdir|-delete|-x|--exec";
    return has_word(call, actions) ? WR_OUTPUT_PROCESS : WR_OUTPUT_LIST;
}

static bool shows_log(const struct call *call)
{
    weir_span program = word_of(call, 0);
    if (wr_span_is(program, "journalctl") || wr_span_is(program, "dmesg"))
        return true;
    bool keeper = wr_span_is(program, "docker") || wr_span_is(program, "kubectl") ||
                  wr_span_is(program, "podman");
    return keeper && (wr_span_is(word_of(call, 1), "logs") || wr_span_is(word_of(call, 2), "logs"));
}

static int kind_of_call(const struct call *call)
{
    static const char readers[] = "cat|sed|head|tail|nl|bat|less|more|tac";
    static const char searchers[] = "rg|grep|egrep|fgrep|ag|ack|zgrep";
    static const char listers[] = "ls|tree|du|wc|stat|df|basename|dirname|realpath";
    weir_span program = word_of(call, 0);
    if (wr_span_is(program, "git"))
        return kind_of_git(call);
    if (wr_is_any_of(program, readers))
        return kind_of_reader(call);
    if (wr_is_any_of(program, searchers))
        return kind_of_search(call);
    if (wr_is_any_of(program, listers))
        return WR_OUTPUT_LIST;
    if (wr_span_is(program, "find") || wr_span_is(program, "fd"))
        return kind_of_find(call);
    if (wr_span_is(program, "diff"))
        return WR_OUTPUT_DIFF;
    if (wr_span_is(program, "gh") && wr_span_is(word_of(call, 2), "diff"))
        return WR_OUTPUT_DIFF;
    if (shows_log(call))
        return WR_OUTPUT_LOG;
    if (runs_tests(call))
        return WR_OUTPUT_TEST;
    return is_silent(program) ? (int)SILENT : (int)WR_OUTPUT_PROCESS;
}

/* Takes off what only wraps a call: NAME=value, sudo, timeout 10, npx, xargs -n1. Returns the
 * script where the call is `sh -c SCRIPT`, else nothing. */
static weir_span unwrap(struct call *call)
{
    static const char wrappers[] =
        "sudo|env|time|nohup|command|exec|npx|bunx|xargs|timeout|stdbuf|nice|then|do|else|!";
    size_t at = 0;
    while (at < call->count) {
        weir_span word = call->words[at];
        const char *equals = memchr(word.ptr, '=', word.len);
        bool wraps = wr_is_any_of(word, wrappers);
        if (!wraps && !(equals && equals > word.ptr && wr_is_word(word.ptr[0])))
            break;
        at++;
        while (wraps && at < call->count && call->words[at].len &&
               (call->words[at].ptr[0] == '-' || wr_is_digit(call->words[at].ptr[0])))
            at++;
    }
    call->count -= at;
    memmove(call->words, call->words + at, call->count * sizeof(weir_span));
    weir_span program = word_of(call, 0), option = word_of(call, 1);
    bool shell =
        wr_span_is(program, "bash") || wr_span_is(program, "sh") || wr_span_is(program, "zsh");
    bool script = option.len > 1 && option.ptr[0] == '-' && option.ptr[option.len - 1] == 'c';
    return shell && script ? word_of(call, 2) : NOTHING;
}

/* SILENT where nothing said anything. */
static int kind_of_line(weir_span command)
{
    struct call call;
    int kind = SILENT;
    if (wr_span_has(command, WR_LIT("<<")))
        return WR_OUTPUT_PROCESS; /* what follows is text, not calls */
    for (size_t at = 0; next_call(command, &at, &call);) {
        bool wrapped = wr_span_is(word_of(&call, 0), "xargs");
        if (unwrap(&call).len)
            return WR_OUTPUT_PROCESS;
        int one = kind_of_call(&call);
        if (call.piped && !wrapped && is_filter(word_of(&call, 0)))
            continue;
        if (call.piped && wrapped && one != SILENT)
            kind = one; /* what xargs runs prints, not what feeds it */
        else if (one != SILENT && kind != SILENT && one != kind)
            return WR_OUTPUT_PROCESS;
        else if (one != SILENT)
            kind = one;
    }
    return kind;
}

enum wr_output_kind wr_output_kind_of_command(weir_span command)
{
    /* `bash -lc '...'` is what runs in it. */
    for (int depth = 0; depth < SCRIPT_DEPTH_MAX; depth++) {
        struct call call;
        size_t at = 0;
        if (!next_call(command, &at, &call))
            break;
        weir_span script = unwrap(&call);
        if (!script.len || wr_span_trim(wr_span_from(command, at)).len)
            break;
        command = script;
    }
    int kind = kind_of_line(command);
    return kind == SILENT ? WR_OUTPUT_PROCESS : (enum wr_output_kind)kind;
}
