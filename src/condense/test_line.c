#include "condense/test_line.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"

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
