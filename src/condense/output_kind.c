/* The kind of an output: what the tool does, then the command line, then a look at the text, in
 * this order. A look is bounded, and can only make PROCESS into something narrower where hardly any
 * text of another kind looks so.
 */
#include "condense/output_kind.h"

#include <stdbool.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/numbered.h"
#include "condense/shape.h"
#include "condense/volatile.h"

const char *wr_output_kind_text(enum wr_output_kind kind)
{
    static const char *const texts[WR_OUTPUT_KINDS] = {
        [WR_OUTPUT_PROCESS] = "process", [WR_OUTPUT_FILE] = "file",     [WR_OUTPUT_LOG] = "log",
        [WR_OUTPUT_TEST] = "test",       [WR_OUTPUT_SEARCH] = "search", [WR_OUTPUT_DIFF] = "diff",
        [WR_OUTPUT_JSON] = "json",       [WR_OUTPUT_LIST] = "list",     [WR_OUTPUT_BLOB] = "blob",
        [WR_OUTPUT_PROSE] = "prose",
    };
    return kind < WR_OUTPUT_KINDS ? texts[kind] : "unknown";
}

/* -- a look at the text ------------------------------------------------------------------------ */

enum { JSON_LINE_BYTES_MIN = 1000 }; /* of each line, on average */
enum { LINES_MAX = 64, BLOB_LINE_BYTES_MIN = 200, CUT_JSON_BYTES = 512, CUT_JSON_KEYS_MIN = 3 };

/* Behind the header some tools put before the output of a command. */
static weir_span without_header(weir_span text)
{
    static struct wr_words fronts = WR_WORDS("Chunk ID:|Wall time|Exit code|Process exited");
    if (!wr_words_front(&fronts, text))
        return text;
    weir_span head = wr_span_cut(text, 0, text.len < 512 ? text.len : 512);
    size_t output = wr_span_find(head, WR_LIT("Output:\n"), 0);
    return output == SIZE_MAX ? text : wr_span_from(text, output + 8);
}

static bool is_json(weir_span text)
{
    weir_span body = wr_span_trim(text);
    if (body.len < 2)
        return false;
    char first = body.ptr[0], last = body.ptr[body.len - 1];
    weir_span inside = wr_span_trim(wr_span_from(body, 1));
    bool object = first == '{' && last == '}' && memchr("\"}", inside.ptr[0], 2);
    bool array = first == '[' && last == ']' &&
                 (memchr("{[\"]-", inside.ptr[0], 5) || wr_is_digit(inside.ptr[0]));
    return object || array;
}

/* The last line that says something. */
static weir_span last_line(weir_span text)
{
    weir_span body = wr_span_trim(text);
    size_t at = body.len;
    while (at && body.ptr[at - 1] != '\n')
        at--;
    return wr_span_trim(wr_span_from(body, at));
}

/* JSON that was cut off: begins as such, has keys, and still is JSON on its last line. A complaint
 * behind it is none. */
static bool is_cut_json(weir_span text)
{
    weir_span body = wr_span_trim(text);
    weir_span front = wr_span_cut(body, 0, body.len < CUT_JSON_BYTES ? body.len : CUT_JSON_BYTES);
    if (body.len < 2 || !memchr("{[", body.ptr[0], 2))
        return false;
    weir_span inside = wr_span_trim(wr_span_from(body, 1)), last = last_line(body);
    if (!inside.len || !memchr("{[\"", inside.ptr[0], 3) || !memchr("{}[]\"", last.ptr[0], 5))
        return false;
    unsigned keys = 0;
    for (size_t at = 0; (at = wr_span_find(front, WR_LIT("\":"), at)) != SIZE_MAX; at += 2)
        keys++;
    return keys >= CUT_JSON_KEYS_MIN;
}

/* NUL bytes, or a long line of base64 alone. */
static bool is_blob(weir_span text)
{
    weir_span head = wr_span_cut(text, 0, text.len < 4096 ? text.len : 4096);
    if (memchr(head.ptr, 0, head.len))
        return true;
    weir_span body = wr_span_trim(head);
    size_t run = 0;
    while (run < body.len && (wr_is_word(body.ptr[run]) || memchr("+/=\n", body.ptr[run], 4)))
        run++;
    return run == body.len && run >= BLOB_LINE_BYTES_MIN &&
           memchr(body.ptr, ' ', body.len) == NULL &&
           (memchr(body.ptr, '\n', body.len) == NULL || memchr(body.ptr, '\n', 80));
}

static bool starts_diff(weir_span line)
{
    return wr_span_starts(line, WR_LIT("diff --git ")) ||
           wr_span_starts(line, WR_LIT("diff --cc ")) || wr_span_starts(line, WR_LIT("Index: "));
}

static bool begins_with_time(weir_span line)
{
    if (line.len && line.ptr[0] == '[')
        line = wr_span_from(line, 1);
    return wr_volatile_time(line) > 0;
}

static bool tells_tests(weir_span line)
{
    static struct wr_words fronts =
        WR_WORDS("test result: |=== RUN |--- PASS|--- FAIL|Test Suites: |TAP version|ok  \t|PASS |"
                 "Tests run: |[ RUN |[==========]|======================= test session");
    return wr_words_front(&fronts, line);
}

enum wr_output_kind wr_output_kind_sniff(weir_span text)
{
    text = without_header(text);
    if (!text.len)
        return WR_OUTPUT_PROCESS;
    if (is_json(text) || is_cut_json(text))
        return WR_OUTPUT_JSON;
    if (is_blob(text))
        return WR_OUTPUT_BLOB;
    weir_span rest = wr_span_cut(
        text, 0, text.len < WR_OUTPUT_SNIFF_BYTES_MAX ? text.len : WR_OUTPUT_SNIFF_BYTES_MAX);
    weir_span line;
    unsigned lines = 0, logged = 0;
    while (lines < LINES_MAX && wr_span_line(&rest, &line)) {
        if (!wr_span_trim(line).len)
            continue;
        if (!lines && starts_diff(line))
            return WR_OUTPUT_DIFF;
        if (tells_tests(line))
            return WR_OUTPUT_TEST;
        lines++;
        logged += begins_with_time(line);
    }
    return lines > 2 && logged * 5 >= lines * 3 ? WR_OUTPUT_LOG : WR_OUTPUT_PROCESS;
}

/* By the name alone: "app.log", "/var/log/x", "results.csv", "events.jsonl". */
static bool is_data_path(weir_span path)
{
    static struct wr_words ends = WR_WORDS(".log|.out|.err|.output|.csv|.tsv|.jsonl|.ndjson");
    return wr_words_end(&ends, path) || wr_span_starts(path, WR_LIT("/var/log/"));
}

/* -- all together ------------------------------------------------------------------------------ */

static enum wr_output_kind kind_of_read(weir_span path, weir_span text)
{
    if (is_data_path(path))
        return WR_OUTPUT_LOG;
    return text.len && is_blob(text) ? WR_OUTPUT_BLOB : wr_output_kind_of_file(path, text);
}

/* A command whose kind is not known may still print nothing but JSON, or a log. What would hide its
 * diagnostics is not believed on sight alone. */
static enum wr_output_kind kind_of_run(weir_span command, weir_span text)
{
    enum wr_output_kind kind = wr_output_kind_of_command(command);
    if (kind == WR_OUTPUT_FILE)
        return wr_output_kind_of_file((weir_span){"", 0}, without_header(text));
    if (kind != WR_OUTPUT_PROCESS)
        return kind;
    kind = wr_output_kind_sniff(text);
    return kind == WR_OUTPUT_JSON || kind == WR_OUTPUT_LOG || kind == WR_OUTPUT_TEST
               ? kind
               : WR_OUTPUT_PROCESS;
}

/* `git show REV:path` gives a file, `git diff --stat` a list. */
static enum wr_output_kind kind_of_diff(weir_span command)
{
    enum wr_output_kind kind = wr_output_kind_of_command(command);
    return kind == WR_OUTPUT_FILE || kind == WR_OUTPUT_LIST ? kind : WR_OUTPUT_DIFF;
}

/* Records on lines so long that there are none to choose from: whatever gave them, and whatever
 * the file is called, they are chosen as JSON. */
static bool is_json_on_long_lines(weir_span text)
{
    weir_span body = without_header(text);
    return body.len >= JSON_LINE_BYTES_MIN && (is_json(body) || is_cut_json(body)) &&
           body.len / JSON_LINE_BYTES_MIN >= wr_span_lines(body);
}

enum wr_output_kind wr_output_kind(const struct wr_output_hint *hint, weir_span text)
{
    if (hint->origin != WR_ORIGIN_CHANGE && is_json_on_long_lines(text))
        return WR_OUTPUT_JSON;
    switch (hint->origin) {
    case WR_ORIGIN_READ:
        return kind_of_read(hint->path, text);
    case WR_ORIGIN_SEARCH:
        return WR_OUTPUT_SEARCH;
    case WR_ORIGIN_LIST:
        return WR_OUTPUT_LIST;
    case WR_ORIGIN_DIFF:
        return kind_of_diff(hint->command);
    case WR_ORIGIN_CHANGE:
        return WR_OUTPUT_FILE;
    case WR_ORIGIN_RUN:
        return kind_of_run(hint->command, text);
    case WR_ORIGIN_FETCH:
        return is_json(without_header(text)) ? WR_OUTPUT_JSON : WR_OUTPUT_PROSE;
    case WR_ORIGIN_TELL:
        return WR_OUTPUT_PROSE;
    case WR_ORIGIN_UNKNOWN:
        break;
    }
    return wr_output_kind_sniff(text);
}

/* ---- by the command line ---- */

/* The kind of output that a command line gives, by the names of its programs and a few of their
 * options. The line is cut into calls in a coarse way (quotes, pipes, lists): the exact reading of
 * a shell is transcript/shell.h, which this folder may not ask. Where programs do not agree the
 * kind is PROCESS.
 */

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
        if (is_data_path(call->words[i]))
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

/* ---- by what data looks like ---- */

enum {
    DATA_LINES_MAX = 64,    /* that are looked at, */
    DATA_LINES_MIN = 12,    /* and without which nothing is said */
    FRONT_BYTES_MAX = 2048, /* where the root of a report stands */
};

/* What the first lines of a file have in common. */
struct sample {
    unsigned lines;
    unsigned alike;  /* of the shape that most of them have, as far as one has a majority */
    unsigned timed;  /* begin with a time */
    unsigned barred; /* rows of a table */
};

/* A shape that has the majority is the one that is left of a vote; a second look counts it. */
static void read_sample(struct sample *s, weir_span text)
{
    struct wr_numbered numbered = wr_numbered_detect(text);
    uint64_t shapes[DATA_LINES_MAX], winner = 0;
    unsigned votes = 0;
    weir_span line;

    if (text.len > WR_OUTPUT_SNIFF_BYTES_MAX)
        text.len = WR_OUTPUT_SNIFF_BYTES_MAX;
    *s = (struct sample){.lines = 0};
    while (s->lines < DATA_LINES_MAX && wr_span_line(&text, &line)) {
        size_t skip = wr_numbered_skip(&numbered, line, NULL);
        line = wr_span_trim(wr_span_from(line, skip));
        if (!line.len)
            continue;
        uint64_t shape = shapes[s->lines++] = wr_shape_of(line);
        s->timed += begins_with_time(line);
        s->barred += line.ptr[0] == '|';
        if (!votes)
            winner = shape;
        votes += shape == winner ? 1U : -1U;
    }
    for (unsigned i = 0; i < s->lines; i++)
        s->alike += shapes[i] == winner;
}

static bool is_report(weir_span text)
{
    static const char roots[] = "<testsuite|<testcase|<test-run|<TestRun|<assembly |<checkstyle";
    weir_span front = wr_span_cut(text, 0, text.len < FRONT_BYTES_MAX ? text.len : FRONT_BYTES_MAX);
    return wr_has_any_of(front, roots);
}

/* Files of plain text that are a program's all the same. */
static bool is_written_text(weir_span path)
{
    static struct wr_words names =
        WR_WORDS("CMakeLists.txt|requirements.txt|README.txt|LICENSE.txt|CHANGELOG.txt|robots.txt");
    return wr_words_end(&names, path);
}

enum wr_output_kind wr_output_kind_of_file(weir_span path, weir_span text)
{
    struct sample s;

    if (is_data_path(path))
        return WR_OUTPUT_LOG;
    read_sample(&s, text);
    bool is_text = wr_span_ends(path, WR_LIT(".txt")) && !is_written_text(path);
    if (s.lines < DATA_LINES_MIN)
        return is_text ? WR_OUTPUT_PROCESS : WR_OUTPUT_FILE;
    if (s.timed * 5 >= s.lines * 3)
        return WR_OUTPUT_LOG;
    if (is_text)
        return s.alike * 2 > s.lines ? WR_OUTPUT_LOG : WR_OUTPUT_PROCESS;
    bool is_page = wr_span_ends(path, WR_LIT(".md")) || wr_span_ends(path, WR_LIT(".markdown"));
    if (is_page)
        return s.barred * 2 > s.lines ? WR_OUTPUT_LOG : WR_OUTPUT_FILE;
    return wr_span_ends(path, WR_LIT(".xml")) && is_report(text) ? WR_OUTPUT_LOG : WR_OUTPUT_FILE;
}
