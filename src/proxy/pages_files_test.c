#include "proxy/pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *path, *type; /* NULL: no file */
    bool is_open;                        /* given to whoever may ask at all */
} cases[] = {
    {"the page", "/weir/", "text/html; charset=utf-8", true},
    {"its address without the last slash leads there", "/weir", NULL, true},
    {"a script", "/weir/app.js", "text/javascript; charset=utf-8", true},
    {"a style", "/weir/style.css", "text/css; charset=utf-8", true},
    {"a picture", "/weir/icon.svg", "image/svg+xml", true},
    {"the page has one address", "/weir/index.html", NULL, false},
    {"pages in a file are not served", "/weir/file.js", NULL, false},
    {"nor is what they are made of", "/weir/file.html", NULL, false},
    {"data is no file", "/weir/v1/traffic", NULL, false},
    {"a longer name", "/weir/app.js/", NULL, false},
    {"a way out", "/weir/../app.js", NULL, false},
    {"another front", "/app.js", NULL, false},
    {"a name that begins the same", "/weirs", NULL, false},
    {"nothing", "", NULL, false},
};

static void a_path_is_a_file_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_web_file file = {.type = NULL};
        weir_span path = wr_span_of(cases[i].path);
        bool is_found = wr_page_file_find(path, &file);
        if (is_found != (cases[i].type != NULL) || wr_page_file_is(path) != cases[i].is_open)
            fail_msg("%s: found %d", cases[i].behaviour, is_found);
        if (is_found) {
            assert_string_equal(file.type, cases[i].type);
            assert_true(file.text.len > 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_path_is_a_file_or_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
