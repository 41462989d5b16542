#include "condense/test_line.h"

#include "base/span.h"
#include "condense/letters.h"

/* -- passed ------------------------------------------------------------------------------------ */

static bool begins_as_passed(weir_span text)
{
    static const weir_span fronts[] = {
        /* go */
        WR_WORD("--- PASS"),
        WR_WORD("--- SKIP"),
        WR_WORD("=== RUN"),
        WR_WORD("=== PAUSE"),
        WR_WORD("=== CONT"),
        WR_WORD("=== NAME"),
        WR_WORD("ok  \t"),
        WR_WORD("?   \t"),
        /* check marks of many */
        WR_WORD("\xe2\x9c\x93"),
        WR_WORD("\xe2\x9c\x94"),
        WR_WORD("\xe2\x88\x9a"),
        WR_WORD("\xe2\x97\x8b "),
        WR_WORD("\xe2\x86\x93 "),
        WR_WORD("\xe2\x9c\x85"),
        /* jest, bun, nextest, googletest */
        WR_WORD("PASS "),
        WR_WORD("PASS\t"),
        WR_WORD("(pass) "),
        WR_WORD("(skip) "),
        WR_WORD("[       OK ]"),
        WR_WORD("[ RUN      ]"),
        WR_WORD("[  PASSED  ]"),
        WR_WORD("[----------]"),
        WR_WORD("[  SKIPPED ]"),
    };
    return memchr("-=o?\xe2P([", text.ptr[0], 8) &&
           wr_front_of(text, fronts, WR_COUNT_OF(fronts)) > 0;
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
    static const weir_span ends[] = {
        WR_WORD(" PASSED"),     WR_WORD(" SKIPPED"),    WR_WORD(" XFAIL"), WR_WORD("... ok"),
        WR_WORD("... skipped"), WR_WORD("... ignored"), WR_WORD(" PASS")};
    return text.len && memchr("DLkdS", text.ptr[text.len - 1], 5) &&
           wr_ends_in_any(text, ends, WR_COUNT_OF(ends));
}

/* "1/9 Test #1: name ...   Passed    0.01 sec". */
static bool is_ctest(weir_span text)
{
    return wr_span_ends(text, WR_LIT(" sec")) &&
           (wr_span_find(text, WR_LIT("   Passed  "), 0) != SIZE_MAX ||
            wr_span_starts(text, WR_LIT("Start ")));
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
           (!at || wr_span_find(wr_span_cut(text, 0, at - 1), WR_LIT(" "), 0) == SIZE_MAX);
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
        weir_span rest = wr_span_trim(wr_span_cut(text, i + 2, text.len));
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
    static const weir_span signs[] = {WR_WORD("="),
                                      WR_WORD("_"),
                                      WR_WORD("-"),
                                      WR_WORD("*"),
                                      WR_WORD("\xe2\x8e\xaf"),
                                      WR_WORD("\xe2\x94\x80"),
                                      WR_WORD("\xe2\x94\x81")};
    size_t sign = wr_front_of(text, signs, WR_COUNT_OF(signs)), at = 0;
    weir_span first = wr_span_cut(text, 0, sign);
    while (sign && wr_span_starts(wr_span_cut(text, at, text.len), first))
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
    return digits && wr_span_starts(wr_span_cut(text, digits, text.len), WR_LIT(") "));
}

enum { EXTRA_BYTES_MAX = 120 };

/* "slowest 10 durations", "Slow tests:", "2 flaky". */
static bool is_extra(weir_span text)
{
    static const weir_span words[] = {WR_WORD("slowest "), WR_WORD("slow test"), WR_WORD("flaky")};
    for (size_t i = 0; text.len <= EXTRA_BYTES_MAX && i < text.len; i++) {
        char c = wr_fold(text.ptr[i]);
        if ((c == 's' || c == 'f') && (!i || !wr_is_word(text.ptr[i - 1])) &&
            wr_front_of_folded(wr_span_cut(text, i, text.len), words, WR_COUNT_OF(words)))
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
