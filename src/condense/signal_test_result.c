/* Names of failed tests, as some thirty test runners print them. The first byte of a line tells
 * which shapes are possible; each function reads the lines of one runner and says which in its
 * comment.
 */
#include "condense/location.h"
#include "condense/signal_scanner.h"
#include "condense/volatile.h"

static const weir_span NOTHING = {"", 0};

/* Takes off the time a test took: "name (5 ms)", "name [12 ms]", "name 5ms", "name (0.1 seconds)".
 */
static weir_span without_time(weir_span name)
{
    name = wr_span_trim(name);
    size_t start = name.len;
    char last = name.len ? name.ptr[name.len - 1] : 0;
    char open = last == ')' ? '(' : last == ']' ? '[' : 0;
    if (open) {
        while (start && name.ptr[start - 1] != open)
            start--;
        weir_span inside = start ? wr_span_trim(wr_span_cut(name, start, name.len - 1)) : NOTHING;
        if (inside.ptr && inside.len && inside.ptr[0] == '<')
            inside = wr_signal_behind(inside, 1); /* "[< 1 ms]" */
        size_t taken = inside.len ? wr_volatile_duration(inside) : 0;
        return taken && taken == inside.len ? wr_span_trim(wr_span_cut(name, 0, start - 1)) : name;
    }
    while (start && !wr_is_blank(name.ptr[start - 1]))
        start--;
    weir_span word = wr_span_from(name, start);
    bool timed = start && word.len && wr_volatile_duration(word) == word.len;
    return timed ? wr_span_trim(wr_span_cut(name, 0, start)) : name;
}

static bool add_name(struct wr_signal_scanner *scanner, weir_span name)
{
    wr_signal_add_exact(scanner, WR_SIGNAL_FAILED_TEST, without_time(name));
    scanner->error_found = true; /* a stack below is this test's */
    return true;
}

/* "FAILED path::name - message", "ERROR path::name". */
static bool add_pytest(struct wr_signal_scanner *scanner, weir_span text)
{
    size_t word = wr_span_starts(text, WR_LIT("FAILED "))  ? 7
                  : wr_span_starts(text, WR_LIT("ERROR ")) ? 6
                                                           : 0;
    if (!word)
        return false;
    weir_span name = wr_signal_behind(text, word);
    bool is_test = wr_span_has(name, WR_LIT("::"));
    size_t dash = wr_span_find(name, WR_LIT(" - "), 0);
    weir_span path = dash == SIZE_MAX ? name : wr_span_cut(name, 0, dash);
    if (!is_test && !(wr_location_is_path(path) && word == 7) &&
        !(wr_location_is_path(path) && wr_span_ends(path, WR_LIT(".py"))))
        return false;
    if (dash != SIZE_MAX)
        wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_signal_behind(name, dash + 3));
    return add_name(scanner, path);
}

/* "path::name FAILED  [ 50%]", "a > b FAILED", "test a::b ... FAILED", "a (x.y) ... ERROR". */
static bool add_trailing_word(struct wr_signal_scanner *scanner, weir_span text)
{
    weir_span name = text;
    if (!memchr("])DLR", text.ptr[text.len - 1], 5))
        return false;
    if (name.ptr[name.len - 1] == ']') {
        size_t open = wr_span_find(name, WR_LIT(" ["), 0);
        if (open != SIZE_MAX)
            name = wr_span_trim(wr_span_cut(name, 0, open));
    }
    name = without_time(name);
    size_t word = wr_span_ends(name, WR_LIT(" FAILED"))  ? 7
                  : wr_span_ends(name, WR_LIT(" FAIL"))  ? 5
                  : wr_span_ends(name, WR_LIT(" ERROR")) ? 6
                                                         : 0;
    if (!word || name.len == word)
        return false;
    name = wr_span_trim(wr_span_cut(name, 0, name.len - word));
    bool dots = wr_span_ends(name, WR_LIT("..."));
    if (dots)
        name = wr_span_trim(wr_span_cut(name, 0, name.len - 3));
    if (!dots && !wr_span_has(name, WR_LIT("::")) && !wr_span_has(name, WR_LIT(" > ")))
        return false;
    if (wr_span_starts(name, WR_LIT("test ")))
        name = wr_signal_behind(name, 5);
    return name.len && add_name(scanner, name);
}

/* "FAIL: TestX (0.00s)", "FAIL  path", "FAIL pkg 0.1s", "FAIL [ 0.1s] crate test", "--- FAIL: X".
 */
static bool add_fail(struct wr_signal_scanner *scanner, weir_span text)
{
    if (wr_span_starts(text, WR_LIT("--- ")))
        text = wr_signal_behind(text, 4);
    bool error = wr_span_starts(text, WR_LIT("ERROR: "));
    if (!error && !wr_span_starts(text, WR_LIT("FAIL")))
        return false;
    if (text.len == 4) {
        wr_signal_add(scanner, WR_SIGNAL_ERROR, text);
        return true;
    }
    char next = text.ptr[error ? 5 : 4];
    weir_span name = wr_signal_behind(text, error ? 7 : 5);
    if (next != ':' && !wr_is_blank(next))
        return false;
    /* "ERROR: test_x (module.Class)" is unittest's; any other "ERROR: " is a message. */
    if (error && (!wr_span_starts(name, WR_LIT("test")) || name.ptr[name.len - 1] != ')'))
        return false;
    if (name.len && name.ptr[0] == '[') {
        size_t close = wr_span_find(name, WR_LIT("]"), 0);
        name = close == SIZE_MAX ? name : wr_signal_behind(name, close + 1);
    }
    return name.len && add_name(scanner, name);
}

/* Takes off the rule that playwright draws behind a heading. */
static weir_span without_rule(weir_span name)
{
    while (wr_span_ends(name, WR_LIT("─")))
        name = wr_span_trim(wr_span_cut(name, 0, name.len - 3));
    return name;
}

/* "12 [chromium] › a.spec.ts:3:1 › name" of playwright, without the number. */
static weir_span without_number(weir_span name)
{
    size_t digits = 0;
    while (digits < name.len && wr_is_digit(name.ptr[digits]))
        digits++;
    weir_span rest = wr_signal_behind(name, digits);
    return digits && wr_span_starts(rest, WR_LIT("[")) && wr_span_has(rest, WR_LIT("] › ")) ? rest
                                                                                            : name;
}

/* "› a.spec.ts:3:1 › name ────": in playwright's list of what failed, the browser taken off. */
static bool add_playwright(struct wr_signal_scanner *scanner, weir_span text)
{
    weir_span name = without_rule(text);
    return name.len < text.len && wr_span_starts(name, WR_LIT("› ")) &&
           add_name(scanner, wr_signal_behind(name, 4));
}

/* "//pkg:test   FAILED in 0.5s", "(cached) FAILED in 2 out of 5 in 1.2s", "TIMEOUT in 300.0s" of
 * bazel. */
static bool add_bazel(struct wr_signal_scanner *scanner, weir_span text)
{
    const char *blank = memchr(text.ptr, ' ', text.len);
    if (!blank || (!wr_span_starts(text, WR_LIT("//")) && text.ptr[0] != '@'))
        return false;
    size_t end = (size_t)(blank - text.ptr);
    weir_span verdict = wr_signal_behind(text, end);
    if (wr_span_starts(verdict, WR_LIT("(cached) ")))
        verdict = wr_signal_behind(verdict, 9);
    bool failed = wr_span_starts(verdict, WR_LIT("FAILED in ")) ||
                  wr_span_starts(verdict, WR_LIT("TIMEOUT in ")) ||
                  wr_span_starts(verdict, WR_LIT("FAILED TO BUILD"));
    return failed && memchr(text.ptr, ':', end) && add_name(scanner, wr_span_cut(text, 0, end));
}

/* A sign of failure, then the name: "✕ name (5 ms)", "✗ name", "✖ name", "× name", "● a › b". */
static bool add_signed(struct wr_signal_scanner *scanner, weir_span text)
{
    static const char signs[] = "✕ |✗ |✖ |× |✘ |● |(fail) |❌";
    size_t sign = wr_front_of(text, signs);
    if (!sign)
        return false;
    weir_span name = without_number(wr_signal_behind(text, sign));
    bool bullet =
        wr_span_starts(text, WR_LIT("● ")); /* jest's, but also systemd's and any list's */
    if (bullet && !wr_span_has(name, WR_LIT(" › ")))
        return false;
    if (!name.len || wr_is_digit(name.ptr[0]))
        return false; /* "✖ 3 problems" counts them */
    if (scanner->kind == WR_OUTPUT_TEST || text.ptr[0] == '(' || without_time(name).len < name.len)
        return add_name(scanner, name);
    wr_signal_add(scanner, WR_SIGNAL_ERROR, name); /* linters have the same signs */
    return true;
}

/* "[  FAILED  ] Suite.Name (0 ms)" of googletest; a count of them is no name. */
static bool add_googletest(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!wr_span_starts(text, WR_LIT("[  FAILED  ]")))
        return false;
    weir_span name = wr_signal_behind(text, 12);
    size_t comma = wr_span_find(name, WR_LIT(", where "), 0);
    if (comma != SIZE_MAX)
        name = wr_span_cut(name, 0, comma);
    if (!name.len || wr_is_digit(name.ptr[0]))
        return false;
    return add_name(scanner, name);
}

/* "not ok 3 - name"; its number tells only how many came before. A planned failure is none. */
static bool add_tap(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!wr_span_starts(text, WR_LIT("not ok")))
        return false;
    weir_span name = wr_signal_behind(text, 6);
    size_t digits = 0;
    while (digits < name.len && wr_is_digit(name.ptr[digits]))
        digits++;
    weir_span rest = wr_signal_behind(name, digits);
    if (wr_span_starts(rest, WR_LIT("- ")))
        rest = wr_signal_behind(rest, 2);
    if (wr_span_has(rest, WR_LIT("# TO"
                                 "DO")) ||
        wr_span_has(rest, WR_LIT("# SKIP")))
        return true;
    return add_name(scanner, rest.len ? rest : text);
}

/* "3/9 Test #3: name ....***Failed 0.1 sec" and "  3 - name (Failed)" of ctest. */
static bool add_ctest(struct wr_signal_scanner *scanner, weir_span text)
{
    size_t stars = wr_span_find(text, WR_LIT("***"), 0);
    size_t test = wr_span_find(text, WR_LIT("Test"), 0);
    if (stars != SIZE_MAX && test < stars) {
        size_t colon = wr_span_find(text, WR_LIT(": "), test);
        if (colon == SIZE_MAX || colon > stars)
            return false;
        weir_span name = wr_span_cut(text, colon + 2, stars);
        while (name.len && (name.ptr[name.len - 1] == '.' || name.ptr[name.len - 1] == ' '))
            name.len--;
        return add_name(scanner, name);
    }
    size_t dash = wr_span_find(text, WR_LIT(" - "), 0);
    if (!wr_is_digit(text.ptr[0]) || dash == SIZE_MAX || dash > 6)
        return false;
    size_t end =
        wr_end_of(text, " (Failed)| (Timeout)| (SEGFAULT)| (Not Run)| (Subprocess aborted)");
    return end && add_name(scanner, wr_span_cut(text, dash + 3, text.len - end));
}

/* Headings that carry a name: "---- a::b stdout ----", "____ test_x ____", "=== FAIL: x". */
static bool add_heading(struct wr_signal_scanner *scanner, weir_span text)
{
    if (wr_span_starts(text, WR_LIT("---- ")) && wr_span_ends(text, WR_LIT(" stdout ----")))
        return add_name(scanner, wr_span_cut(text, 5, text.len - 12));
    if (wr_span_starts(text, WR_LIT("___")) && wr_span_ends(text, WR_LIT("___"))) {
        size_t start = 0, end = text.len;
        while (start < end && text.ptr[start] == '_')
            start++;
        while (end > start && text.ptr[end - 1] == '_')
            end--;
        weir_span name = wr_span_trim(wr_span_cut(text, start, end));
        return name.len && add_name(scanner, name);
    }
    if (wr_span_starts(text, WR_LIT("=== FAIL: ")))
        return add_name(scanner, wr_signal_behind(text, 10));
    return false;
}

static size_t indent_of(weir_span line)
{
    size_t indent = 0;
    while (indent < line.len && wr_is_blank(line.ptr[indent]))
        indent++;
    return indent;
}

enum { SUITES_MAX = 8 };

/* Mocha writes a failed test as its suites, one below and inside the other, and the test with a
 * colon:
 *
 *   1) Array
 *        #indexOf()
 *          gives -1:
 *
 * Returns how many lines below this one belong to it, 0 where it is no such heading; `*looked` is
 * how many that rests on. */
static uint32_t lines_of_name(const struct wr_signal_scanner *scanner, uint32_t *looked)
{
    weir_span rest = scanner->rest, line;
    size_t indent = 0;
    for (*looked = 0; *looked < SUITES_MAX && wr_span_line(&rest, &line);) {
        weir_span text = wr_span_trim(line);
        ++*looked;
        if (!text.len || indent_of(line) <= indent || indent_of(line) < 4)
            return 0;
        if (text.ptr[text.len - 1] == ':')
            return *looked;
        indent = indent_of(line);
    }
    return 0;
}

/* "a" and the lines below it: "a > b > c". */
static bool add_nested(struct wr_signal_scanner *scanner, weir_span name, uint32_t count)
{
    char text[WR_SIGNAL_TEXT_BYTES_MAX];
    size_t len = 0;
    for (uint32_t i = 0;; i++) {
        size_t room = sizeof(text) - len;
        size_t bytes = name.len < room ? name.len : room;
        memcpy(text + len, name.ptr, bytes);
        len += bytes;
        if (i == count || room - bytes < 3)
            break;
        memcpy(text + len, " > ", 3);
        len += 3;
        name = wr_signal_peek(scanner);
        wr_signal_take_next(scanner);
    }
    return add_name(scanner, (weir_span){text, len});
}

/* "FooTest::testBar", "App\\FooTest::testBar with data set #1" of phpunit. */
static bool is_method(weir_span name)
{
    size_t colons = wr_span_find(name, WR_LIT("::"), 0), end = 0;
    while (end < name.len && (wr_is_word(name.ptr[end]) || name.ptr[end] == '\\'))
        end++;
    return end && end == colons && colons + 2 < name.len && wr_is_word(name.ptr[colons + 2]);
}

/* "1) name": the name, empty where it is no such line. */
static weir_span numbered_name(weir_span text)
{
    size_t digits = 0;
    while (digits < text.len && wr_is_digit(text.ptr[digits]))
        digits++;
    weir_span rest = wr_span_from(text, digits);
    if (!digits || !wr_span_starts(rest, WR_LIT(") ")))
        return (weir_span){"", 0};
    return without_rule(wr_signal_behind(rest, 2));
}

static uint32_t lines_below(const struct wr_signal_scanner *scanner, weir_span name,
                            uint32_t *looked)
{
    *looked = 0;
    return name.len && name.ptr[name.len - 1] != ':' ? lines_of_name(scanner, looked) : 0;
}

void wr_signal_look_below(struct wr_signal_scanner *scanner, weir_span text)
{
    uint32_t looked;
    if (!lines_below(scanner, numbered_name(text), &looked))
        scanner->below_count = looked;
}

/* "1) name" of mocha, phpunit, playwright, rspec. Where no tests are known to run it may be a list,
 * so that the name must look like one. */
static bool add_numbered(struct wr_signal_scanner *scanner, weir_span text)
{
    weir_span name = numbered_name(text);
    uint32_t looked, below = lines_below(scanner, name, &looked);
    if (below)
        return add_nested(scanner, name, below);
    bool is_name =
        scanner->kind == WR_OUTPUT_TEST || is_method(name) || wr_span_has(name, WR_LIT("] › "));
    if (!is_name || !name.len)
        return false;
    (void)add_name(scanner, name);
    return true;
}

/* "Failed Name [12 ms]" of dotnet, "Test Case '-[X y]' failed (0.1 seconds).", "rspec ./a.rb:3 #
 * x". */
static bool add_other(struct wr_signal_scanner *scanner, weir_span text)
{
    struct wr_location location;
    if (wr_span_starts(text, WR_LIT("Failed ")) && text.ptr[text.len - 1] == ']')
        return add_name(scanner, wr_signal_behind(text, 7));
    if (wr_span_starts(text, WR_LIT("Test Case '"))) {
        size_t end = wr_span_find(text, WR_LIT("' failed"), 11);
        return end != SIZE_MAX && add_name(scanner, wr_span_cut(text, 11, end));
    }
    if (wr_span_starts(text, WR_LIT("rspec ")) && wr_location_read(text, 6, &location)) {
        wr_signal_add_place(scanner, location.path, location.line, location.column);
        return add_name(scanner, wr_signal_behind(text, 6));
    }
    return false;
}

/* The first byte tells which shapes are possible; a word at the end goes with any. */
bool wr_signal_test_result(struct wr_signal_scanner *scanner, weir_span text)
{
    bool found = false;
    switch (text.ptr[0]) {
    case 'F':
    case 'E':
        found = add_pytest(scanner, text) || add_fail(scanner, text) || add_other(scanner, text);
        break;
    case '-':
    case '_':
    case '=':
        found = add_heading(scanner, text) || add_fail(scanner, text);
        break;
    case '[':
        found = add_googletest(scanner, text);
        break;
    case 'n':
        found = add_tap(scanner, text);
        break;
    case 'T':
    case 'r':
        found = add_other(scanner, text);
        break;
    default:
        if (wr_is_digit(text.ptr[0]))
            found = add_ctest(scanner, text) || add_numbered(scanner, text);
        else if (!wr_is_word(text.ptr[0]))
            found = add_bazel(scanner, text) || add_playwright(scanner, text) ||
                    add_signed(scanner, text);
        break;
    }
    return found || add_trailing_word(scanner, text);
}
