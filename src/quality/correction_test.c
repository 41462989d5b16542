#include "quality/correction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *message;
    bool is_correction;
} messages[] = {
    {"No, that's not what I asked for.", true},
    {"Wrong. The port is 8080.", true},
    {"wrong", true},
    {"No! Leave main alone", true},
    {"That\xe2\x80\x99s not right, the file has two of them", true},
    {"You forgot the header.", true},
    {"It still fails with the same error", true},
    {"Good start, but this is not what I wanted.", true},
    {"please undo that", true},
    {"Revert your last change", true},
    {"I said the other folder", true},
    {"  try again\n", true},
    /* what only looks like it */
    {"No problem, go on.", false},
    {"No.", false},
    {"No, that is fine, thanks", false},
    {"Wrong file is opened when I press Enter: find out why", false},
    {"Why is this test wrong?", false},
    {"Add undo and redo to the editor", false},
    {"Undo/redo should be kept across sessions", false},
    {"That's not a problem, go on", false},
    {"Nothing to add.", false},
    {"the build still needs a cache", false},
    {"You did notice the second file?", false},
    {"Good, now write the docs", false},
    {"", false},
};

static void corrections_are_told_from_other_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
        if (wr_is_correction(wr_span_of(messages[i].message)) != messages[i].is_correction)
            fail_msg("'%s' is %sa correction", messages[i].message,
                     messages[i].is_correction ? "" : "not ");
}

static void only_the_front_is_read(void **state)
{
    char text[1000];
    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + 500, " that's wrong ", 14);
    assert_false(wr_is_correction((weir_span){text, sizeof(text)}));
    memcpy(text + 100, " that's wrong ", 14);
    assert_true(wr_is_correction((weir_span){text, sizeof(text)}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(corrections_are_told_from_other_words),
                                       cmocka_unit_test(only_the_front_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
