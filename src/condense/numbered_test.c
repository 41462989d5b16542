#include "condense/numbered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *text, *line, *rest;
    uint64_t number;
} cases[] = {
    {"an arrow", "     1→a\n     2→b\n", "    12→  x", "  x", 12},
    {"a tab", "1\ta\n2\tb\n", "12\t\tx", "\tx", 12},
    {"a colon and a space", "1: a\n2: b\n", "12:   x", "  x", 12},
    {"a colon alone", "7:a\n8: b\n", "12: x", " x", 12},
    {"a bar", "  1 | a\n  2 | b\n", "  12 | x", "x", 12},
    {"an L before the number", "L1: a\nL2: b\n", "L12: x", "x", 12},
    {"a header may come first", "<file>\n1: a\n2: b\n", "3: x", "x", 3},
    {"an empty line may have lost its blank", "1: a\n2: b\n", "3:", "", 3},
    {"a line without a number is left alone", "1: a\n2: b\n", "text 3: x", "text 3: x", 0},
    {"numbers that do not follow one another are text", "1: a\n5: b\n9: c\n", "3: x", "3: x", 0},
    {"two separators are text", "1: a\n2\tb\n", "3: x", "3: x", 0},
    {"a number too long is none", "1: a\n2: b\n", "12345678901: x", "12345678901: x", 0},
    {"an empty text has no numbers", "", "1: x", "1: x", 0},
};

static void numbers_are_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_numbered numbered = wr_numbered_detect(wr_span_of(cases[i].text));
        weir_span line = wr_span_of(cases[i].line);
        uint64_t number = 0;
        size_t skip = wr_numbered_skip(&numbered, line, &number);
        weir_span rest = wr_span_from(line, skip);
        if (!wr_span_is(rest, cases[i].rest) || (skip && number != cases[i].number))
            fail_msg("%s: \"%.*s\"", cases[i].behaviour, (int)rest.len, rest.ptr);
    }
}

/* ---- without most of them ---- */

static const struct {
    const char *behaviour, *text, *thin; /* NULL: nothing is left out */
} thinned[] = {
    {"the first, the fourth and the last stay",
     "     1→a\n     2→b\n     3→c\n     4→\n     5→e\n"
     "     6→f\n",
     "     1→a\nb\nc\n     4→\ne\n     6→f\n"},
    {"the text keeps its blanks", "     1→a\n     2→  b \n     3→\tc\r\n     4→d",
     "     1→a\n  b \n\tc\r\n     4→d"},
    {"a line without text is empty", "1: a\n2: \n3: c\n", "1: a\n\n3: c\n"},
    {"noughts fill up like blanks", "00001| a\n00002| b\n00003| c\n", "00001| a\n b\n00003| c\n"},
    {"digits may take the place of a blank", "  98\ta\n  99\tb\n 100\tc\n 101\td\n 102\te\n",
     "  98\ta\nb\n 100\tc\nd\n 102\te\n"},
    {"where they do not, numbers stay", "   8\ta\n   9\tb\n   10\tc\n   11\td\n", NULL},
    {"a jump keeps the numbers around it",
     "     1→a\n     2→b\n     3→c\n    17→d\n    18→e\n    19→f\n",
     "     1→a\nb\n     3→c\n    17→d\ne\n    19→f\n"},
    {"so does a line without one", "     1→a\n     2→b\n     3→c\n[cut]\n     4→d\n     5→e\n",
     "     1→a\nb\n     3→c\n[cut]\n     4→d\n     5→e\n"},
    {"a line that reads like a number keeps its own", "     1→a\n     2→7→b\n     3→c\n", NULL},
    {"a list may be the file's own", "1: wash\n2: dry\n3: fold\n", NULL},
    {"without numbers nothing is left out", "a\nb\n", NULL},
    {"of an empty text likewise", "", NULL},
};

enum { EVERY = 4, TEXT_BYTES_MAX = 1 << 14 };

static void numbers_that_can_be_counted_leave(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(thinned); i++) {
        struct wr_buf out;
        wr_buf_init(&out, TEXT_BYTES_MAX);
        uint32_t count = wr_numbered_thin(&out, wr_span_of(thinned[i].text), EVERY);
        weir_span thin = wr_buf_view(&out);
        const char *expected = thinned[i].thin ? thinned[i].thin : thinned[i].text;
        if (!wr_span_is(thin, expected) && !(thin.len == 0 && !thinned[i].thin))
            fail_msg("%s:\n%.*s", thinned[i].behaviour, (int)thin.len, thin.ptr);
        if ((count > 0) != (thinned[i].thin != NULL))
            fail_msg("%s: %u are said to be left out", thinned[i].behaviour, count);
        wr_buf_release(&out);
    }
}

/* Counts on from the line above, as its number is printed: "%*u" or "%0*u". */
static void restore(struct wr_buf *out, weir_span thin, const struct wr_numbered *numbered,
                    const char *format)
{
    weir_span line;
    uint64_t number = 0, read;
    while (wr_span_line(&thin, &line)) {
        bool is_ended = thin.ptr > line.ptr + line.len;
        if (wr_numbered_skip(numbered, line, &read))
            number = read;
        else {
            char digits[32];
            (void)snprintf(digits, sizeof(digits), format, 6, (unsigned)++number);
            wr_buf_text(out, digits);
            wr_buf_append(out, numbered->separator);
        }
        wr_buf_append(out, line);
        if (is_ended)
            wr_buf_byte(out, '\n');
    }
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % below;
}

/* Files of any text, numbered from anywhere: what is left out can be put back, byte for byte. */
static void numbers_can_be_put_back(void **state)
{
    static const char *const texts[] = {"",   "a", "  x = 1;", "7→",     "12→b", "3: c",
                                        "\t", "9", "→",        "   10→", "L4→z", "0012→q"};
    static const char *const formats[] = {"%*u", "%0*u"};
    static const char *const separators[] = {"→", "\t", " | ", "|"};
    uint32_t seed = 7, thinned_count = 0;
    (void)state;

    for (uint32_t round = 0; round < 4000; round++) {
        const char *format = formats[draw(&seed, 2)], *separator = separators[draw(&seed, 4)];
        uint32_t first = 1 + draw(&seed, 120000), lines = 2 + draw(&seed, 40);
        struct wr_buf text, thin, again;
        wr_buf_init(&text, TEXT_BYTES_MAX);
        wr_buf_init(&thin, TEXT_BYTES_MAX);
        wr_buf_init(&again, TEXT_BYTES_MAX);
        for (uint32_t i = 0; i < lines; i++) {
            char digits[32];
            (void)snprintf(digits, sizeof(digits), format, 6, first + i);
            wr_buf_text(&text, digits);
            wr_buf_text(&text, separator);
            wr_buf_text(&text, texts[draw(&seed, WR_COUNT_OF(texts))]);
            if (i + 1 < lines || draw(&seed, 2))
                wr_buf_byte(&text, '\n');
        }
        struct wr_numbered numbered = wr_numbered_detect(wr_buf_view(&text));
        if (wr_numbered_thin(&thin, wr_buf_view(&text), 2 + draw(&seed, 12))) {
            restore(&again, wr_buf_view(&thin), &numbered, format);
            if (!wr_span_eq(wr_buf_view(&again), wr_buf_view(&text)))
                fail_msg("round %u:\n%.*s\nis restored as\n%.*s", round, (int)text.len, text.bytes,
                         (int)again.len, again.bytes);
            thinned_count++;
        }
        wr_buf_release(&text);
        wr_buf_release(&thin);
        wr_buf_release(&again);
    }
    assert_true(thinned_count > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_passed_over),
                                       cmocka_unit_test(numbers_that_can_be_counted_leave),
                                       cmocka_unit_test(numbers_can_be_put_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
