/* Runs of tests: failed tests with all that is said of each, as far as the budget reaches, the
 * nearest lines of all of them first; the end, with its totals; lists of slow and flaky tests; what
 * was sought; the beginning; what else was printed. Tests that passed are left out, and so is the
 * part of the budget they would have taken. */
#include "condense/test_run.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"
#include "condense/keep.h"

/* ---- lines of tests ---- */

/* -- passed ------------------------------------------------------------------------------------ */

static bool begins_as_passed(weir_span text)
{
    static struct wr_words fronts = WR_WORDS(
        "--- PASS|--- SKIP|=== RUN|=== PAUSE|=== CONT|=== NAME|ok  \t|?   \t|✓|✔|√|○ |↓ |✅|PASS |"
        "PASS\t|(pass) |(skip) |[       OK ]|[ RUN      ]|[  PASSED  ]|[----------]|[  SKIPPED ]");
    return wr_words_front(&fronts, text);
}

/* "ok 3 - name". */
static bool is_tap(weir_span text)
{
    return wr_span_starts(text, WR_LIT("ok ")) && text.len > 3 && wr_is_digit(text.ptr[3]);
}

/* Without a column of progress: "a.py::b PASSED   [ 50%]". */
static weir_span without_progress(weir_span text)
{
    if (!wr_span_ends(text, WR_LIT("%]")))
        return text;
    size_t at = text.len;
    while (at && text.ptr[at - 1] != '[')
        at--;
    return at ? wr_span_trim(wr_span_cut(text, 0, at - 1)) : text;
}

static bool ends_as_passed(weir_span text)
{
    static struct wr_words ends =
        WR_WORDS(" PASSED| SKIPPED| XFAIL|... ok|... skipped|... ignored| PASS");
    return text.len && wr_words_end(&ends, text);
}

/* "1/9 Test #1: name ...   Passed    0.01 sec". */
static bool is_ctest(weir_span text)
{
    return wr_span_ends(text, WR_LIT(" sec")) &&
           (wr_span_has(text, WR_LIT("   Passed  ")) || wr_span_starts(text, WR_LIT("Start ")));
}

enum { DOTS_MIN = 3 };

/* "tests/a_test.py ....s..  ", "....": a letter for each test, and none of a failure. */
static bool is_dots(weir_span text)
{
    size_t at = text.len, dots = 0;
    while (at && memchr(".sxX,", text.ptr[at - 1], 5)) {
        dots += text.ptr[at - 1] == '.';
        at--;
    }
    return dots >= DOTS_MIN && (!at || text.ptr[at - 1] == ' ') &&
           (!at || !wr_span_has(wr_span_cut(text, 0, at - 1), WR_LIT(" ")));
}

enum { PREFIX_BYTES_MAX = 64, PREFIXES_MAX = 3 };

/* Where several packages are tested at once, their names stand in front: "core test: (pass) name",
 * "web_1  | ok". */
static bool is_passed_behind_prefix(weir_span text)
{
    size_t end = text.len < PREFIX_BYTES_MAX ? text.len : PREFIX_BYTES_MAX, prefixes = 0;
    for (size_t i = 1; i + 1 < end && prefixes < PREFIXES_MAX; i++) {
        if ((text.ptr[i] != ':' && text.ptr[i] != '|') || text.ptr[i + 1] != ' ')
            continue;
        prefixes++;
        weir_span rest = wr_span_trim(wr_span_from(text, i + 2));
        if (rest.len && begins_as_passed(rest))
            return true;
    }
    return false;
}

static bool is_passed(weir_span text)
{
    if (begins_as_passed(text) || is_tap(text) || is_ctest(text) || is_passed_behind_prefix(text))
        return true;
    text = without_progress(text);
    return ends_as_passed(text) || is_dots(text);
}

/* -- headings ---------------------------------------------------------------------------------- */

enum { RULE_SIGNS_MIN = 4 }; /* "--- FAIL" is none */

/* Bytes of the run of one sign that begins `text`: "====", "____", "----", "----" drawn in UTF-8.
 */
static size_t rule_at(weir_span text)
{
    static struct wr_words signs = WR_WORDS("=|_|-|*|⎯|─|━");
    size_t sign = wr_words_front(&signs, text), at = 0;
    weir_span first = wr_span_cut(text, 0, sign);
    while (sign && wr_span_starts(wr_span_from(text, at), first))
        at += sign;
    return sign && at / sign >= RULE_SIGNS_MIN ? at : 0;
}

/* A rule, alone or with a title in it; "  1) name", "* name" (a bullet of jest). */
static bool is_heading(weir_span text)
{
    size_t rule = rule_at(text), digits = 0;
    if (rule)
        return rule == text.len || text.ptr[rule] == ' ' || text.ptr[rule] == '\n';
    if (wr_span_starts(text, WR_LIT("\xe2\x97\x8f ")))
        return true;
    while (digits < text.len && wr_is_digit(text.ptr[digits]))
        digits++;
    return digits && wr_span_starts(wr_span_from(text, digits), WR_LIT(") "));
}

enum { EXTRA_BYTES_MAX = 120 };

/* "slowest 10 durations", "Slow tests:", "2 flaky". */
static bool is_extra(weir_span text)
{
    static struct wr_words words = WR_WORDS("slowest |slow test|flaky");
    for (size_t i = 0; text.len <= EXTRA_BYTES_MAX && i < text.len; i++) {
        char c = wr_lower(text.ptr[i]);
        if ((c == 's' || c == 'f') && (!i || !wr_is_word(text.ptr[i - 1])) &&
            wr_words_front_folded(&words, wr_span_from(text, i)))
            return true;
    }
    return false;
}

bool wr_test_line_is_passed(weir_span line)
{
    weir_span text = wr_span_trim(line);
    return text.len && is_passed(text);
}

enum wr_test_line wr_test_line_read(weir_span line)
{
    weir_span text = wr_span_trim(line);
    if (!text.len)
        return WR_TEST_OTHER;
    if (is_passed(text))
        return WR_TEST_PASSED;
    if (is_extra(text))
        return WR_TEST_EXTRA;
    return is_heading(text) ? WR_TEST_HEADING : WR_TEST_OTHER;
}

/* ---- a run ---- */

enum {
    BLOCK_LINES_MAX = 60, /* of one failure, on each side of its signals */
    BLOCK_PERCENT = 75,   /* each of what is left then */
    LAST_LINES = 12,
    LAST_LINES_ANY = 3, /* whatever they say */
    FIRST_LINES = 8,
    ENDS_PERCENT = 40,
    EXTRA_LINES = 6, /* of a list of slow or flaky tests */
    FOCUS_PERCENT = 40,
};

struct run {
    struct wr_keep keep;
    uint8_t *kinds;   /* an enum wr_test_line for each line */
    uint8_t *borders; /* an enum wr_border */
};

static weir_status read_lines(struct run *run)
{
    struct wr_keep *keep = &run->keep;
    run->kinds = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    run->borders = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    if (!run->kinds || !run->borders)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        enum wr_test_line kind = wr_test_line_read(wr_keep_line(keep, line));
        run->kinds[line] = (uint8_t)kind;
        run->borders[line] = kind == WR_TEST_PASSED    ? WR_BORDER_WALL
                             : kind == WR_TEST_HEADING ? WR_BORDER_HEADING
                                                       : WR_BORDER_NONE;
    }
    return WEIR_OK;
}

static bool keep_unless_passed(struct run *run, uint32_t line)
{
    return run->kinds[line] == WR_TEST_PASSED || wr_keep_one(&run->keep, line);
}

static void keep_from_back(struct run *run, uint32_t first)
{
    for (uint32_t line = run->keep.lines_count; line > first; line--)
        if (!keep_unless_passed(run, line - 1))
            return;
}

static void keep_from_front(struct run *run, uint32_t end)
{
    for (uint32_t line = 0; line < end; line++)
        if (!keep_unless_passed(run, line))
            return;
}

static void keep_ends(struct run *run)
{
    uint32_t count = run->keep.lines_count;
    size_t budget = wr_choose_share(&run->keep, ENDS_PERCENT);
    (void)wr_keep_from_back(&run->keep, count > LAST_LINES_ANY ? count - LAST_LINES_ANY : 0, count);
    keep_from_back(run, count > LAST_LINES ? count - LAST_LINES : 0);
    keep_from_front(run, count < FIRST_LINES ? count : FIRST_LINES);
    run->keep.bytes_budget = budget;
}

static void keep_extras(struct run *run)
{
    struct wr_keep *keep = &run->keep;
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        if (run->kinds[line] != WR_TEST_EXTRA)
            continue;
        uint32_t end =
            line + EXTRA_LINES < keep->lines_count ? line + EXTRA_LINES : keep->lines_count;
        (void)wr_keep_from_front(keep, line, end);
    }
}

weir_status wr_condense_test(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct run run;
    struct wr_keep *keep = &run.keep;
    weir_status status = wr_choose_begin(keep, arena, input);
    if (!status)
        status = read_lines(&run);
    if (status)
        return status;
    size_t budget = wr_choose_share(keep, BLOCK_PERCENT);
    status = wr_choose_context(keep, run.borders, BLOCK_LINES_MAX, BLOCK_LINES_MAX);
    keep->bytes_budget = budget;
    if (status)
        return status;
    keep_ends(&run);
    keep_extras(&run);
    status = wr_choose_focus(keep, input, FOCUS_PERCENT);
    if (status)
        return status;
    keep_from_back(&run, 0);
    keep_from_front(&run, keep->lines_count);
    wr_keep_widen(keep);
    return wr_keep_write(keep, out);
}
