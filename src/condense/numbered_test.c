#include "condense/numbered.h"

#include <setjmp.h>
#include <stdarg.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_passed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
