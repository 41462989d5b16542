#include "agent/plain_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/span.h"

static void nothing_steers_a_terminal(void **state)
{
    static const struct {
        const char *behaviour, *text, *shown;
    } rows[] = {
        {"text, tabs and lines", "a\tb\n\xC3\xA4\xE2\x82\xAC", "a\tb\n\xC3\xA4\xE2\x82\xAC"},
        {"escapes", "\x1b[31mred\x1b]0;t\x07", "?[31mred?]0;t?"},
        {"backspace, return, delete", "a\b\r\x7f", "a???"},
        {"controls of two bytes",
         "a\xC2\x9b"
         "31m\xC2\x80\xC2\xA0",
         "a?31m?\xC2\xA0"},
        {"half of one", "a\xC2", "a\xC2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        assert_non_null(out);
        wr_plain_text_put(out, wr_span_of(rows[i].text));
        assert_int_equal(fclose(out), 0);
        if (!wr_span_is((weir_span){text, bytes}, rows[i].shown))
            fail_msg("%s: %s", rows[i].behaviour, text);
        free(text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_steers_a_terminal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
