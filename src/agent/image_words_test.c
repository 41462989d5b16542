#include "agent/image_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *sentence, *text, *paths; /* each path and a '|' */
} rows[] = {
    {"no path", "what is 3/4 of a picture?", ""},
    {"behind an @", "look at @a/b.png please", "a/b.png|"},
    {"two of them", "@a.png and @b.gif", "a.png|b.gif|"},
    {"in quotes", "@\"my shots/a.png\" and @'it is.png'", "my shots/a.png|it is.png|"},
    {"spaces behind backslashes", "@my\\ shots/a.png", "my shots/a.png|"},
    {"dropped on the terminal", "/home/me/a.png what is it?", "/home/me/a.png|"},
    {"dropped, as terminals quote it", "why '/home/me/my a.png' ?", "/home/me/my a.png|"},
    {"dropped, as others do", "/home/me/my\\ a.png", "/home/me/my a.png|"},
    {"an end of line behind it", "/home/me/a.png\n", "/home/me/a.png|"},
    {"a log names files that nobody meant", "see\n/home/me/a.png failed", ""},
    {"an @ is meant in any line", "see\n@/home/me/a.png\nthere", "/home/me/a.png|"},
    {"in brackets", "(@a.png)", "a.png)|"},
    {"an address", "mail me@home.png", ""},
    {"an @ alone", "@ home", ""},
    {"a quote without its end", "@\"a b", "a b|"},
    {"a backslash at the end", "@a\\", "a\\|"},
};

static void paths_are_found_as_they_are_typed_and_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_image_word word;
        struct wr_buf found;
        size_t at = 0;

        wr_buf_init(&found, 1000);
        wr_buf_init(&word.path, 1000);
        while (wr_image_word_next(wr_span_of(rows[i].text), &at, &word)) {
            wr_buf_append(&found, wr_buf_view(&word.path));
            wr_buf_byte(&found, '|');
            wr_buf_reset(&word.path);
        }
        if (!wr_span_is(wr_buf_view(&found), rows[i].paths))
            fail_msg("%s: %.*s", rows[i].sentence, (int)found.len, found.bytes);
        wr_buf_release(&word.path);
        wr_buf_release(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_found_as_they_are_typed_and_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
