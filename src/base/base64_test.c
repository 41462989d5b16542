#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *text, *bytes; /* bytes NULL: refused */
} cases[] = {
    {"nothing is nothing", "", ""},
    {"one byte", "Zg==", "f"},
    {"two bytes", "Zm8=", "fo"},
    {"three bytes", "Zm9v", "foo"},
    {"six bytes", "Zm9vYmFy", "foobar"},
    {"padding may be missing", "Zm8", "fo"},
    {"both alphabets are read", "--__", "\xfb\xef\xff"},
    {"the other one", "++//", "\xfb\xef\xff"},
    {"one letter is no byte", "Zm9vY", NULL},
    {"a letter of no alphabet", "Zm9*", NULL},
    {"a line end", "Zm9v\nYmFy", NULL},
    {"padding in the middle", "Zg==Zg==", NULL},
};

static void texts_become_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 64);
        bool ok = wr_base64_decode(wr_span_of(cases[i].text), &out);
        if (ok != (cases[i].bytes != NULL) ||
            (ok && !wr_span_is(wr_buf_view(&out), cases[i].bytes)))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

static void every_length_comes_back(void **state)
{
    (void)state;
    for (size_t len = 0; len < 70; len++) {
        char bytes[70];
        struct wr_buf text, back;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(i * 83 + len);
        wr_buf_init(&text, 256);
        wr_buf_init(&back, 256);
        wr_base64_encode((weir_span){bytes, len}, &text);
        assert_int_equal(text.len, (len + 2) / 3 * 4);
        assert_true(wr_base64_decode(wr_buf_view(&text), &back));
        assert_true(wr_span_eq(wr_buf_view(&back), (weir_span){bytes, len}));
        wr_buf_release(&text);
        wr_buf_release(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_become_bytes),
                                       cmocka_unit_test(every_length_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
