#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

#define TEXT(s)             \
    {                       \
        "" s, sizeof(s) - 1 \
    }

static const struct {
    const char *behaviour;
    weir_span plain, inner;
} both_ways[] = {
    {"nothing", TEXT(""), TEXT("")},
    {"plain text stays", TEXT("a b/c\x7F"), TEXT("a b/c\x7F")},
    {"quotes and backslashes", TEXT("\"a\\b\""), TEXT("\\\"a\\\\b\\\"")},
    {"control bytes that have a letter", TEXT("\b\t\n\f\r"), TEXT("\\b\\t\\n\\f\\r")},
    {"control bytes that have none", TEXT("\x01\x07\x0B\x0E\x1B\x1F"),
     TEXT("\\u0001\\u0007\\u000b\\u000e\\u001b\\u001f")},
    {"NUL", TEXT("a\0b"), TEXT("a\\u0000b")},
    {"UTF-8 stays", TEXT("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
     TEXT("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")},
    {"a lone surrogate", TEXT("a\xED\xA0\xBD z"), TEXT("a\\ud83d z")},
    {"surrogates the wrong way round", TEXT("\xED\xB8\x80\xED\xA0\xBD"), TEXT("\\ude00\\ud83d")},
    {"a lone surrogate between characters", TEXT("\xC3\xA9\xED\xBF\xBF\xC3\xA9"),
     TEXT("\xC3\xA9\\udfff\xC3\xA9")},
};

static const struct {
    const char *behaviour;
    weir_span inner, plain;
} only_back[] = {
    {"a solidus may be escaped", TEXT("a\\/b"), TEXT("a/b")},
    {"letters by number", TEXT("\\u0041\\u00e9\\u20AC"), TEXT("A\xC3\xA9\xE2\x82\xAC")},
    {"digits in either case", TEXT("\\uABCD\\uabcd"), TEXT("\xEA\xAF\x8D\xEA\xAF\x8D")},
    {"a pair of surrogates is one character", TEXT("\\ud83d\\ude00"), TEXT("\xF0\x9F\x98\x80")},
    {"the first and last pair", TEXT("\\uD800\\uDC00\\uDBFF\\uDFFF"),
     TEXT("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")},
    {"a high one before a pair stays alone", TEXT("\\ud83d\\ud83d\\ude00"),
     TEXT("\xED\xA0\xBD\xF0\x9F\x98\x80")},
    {"a high one before another escape", TEXT("\\ud83d\\n"), TEXT("\xED\xA0\xBD\n")},
    {"a high one before an escaped backslash", TEXT("\\ud83d\\\\ude00"),
     TEXT("\xED\xA0\xBD\\ude00")},
    {"a high one before a letter by number", TEXT("\\ud83d\\u0041"),
     TEXT("\xED\xA0\xBD"
          "A")},
    {"an escaped backslash before u", TEXT("\\\\u0041"), TEXT("\\u0041")},
};

static void check(const struct wr_buf *buf, weir_span expected, const char *behaviour,
                  const char *way)
{
    weir_span got = wr_buf_view(buf);
    if (wr_buf_status(buf) || !wr_span_eq(got, expected))
        fail_msg("%s, %s: \"%.*s\"", behaviour, way, (int)got.len, got.len ? got.ptr : "");
}

static void escaping_and_unescaping(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    for (size_t i = 0; i < WR_COUNT_OF(both_ways); i++) {
        wr_buf_reset(&buf);
        wr_json_escape(&buf, both_ways[i].plain);
        check(&buf, both_ways[i].inner, both_ways[i].behaviour, "escaped");
        wr_buf_reset(&buf);
        wr_json_unescape(&buf, both_ways[i].inner);
        check(&buf, both_ways[i].plain, both_ways[i].behaviour, "unescaped");
    }
    for (size_t i = 0; i < WR_COUNT_OF(only_back); i++) {
        wr_buf_reset(&buf);
        wr_json_unescape(&buf, only_back[i].inner);
        check(&buf, only_back[i].plain, only_back[i].behaviour, "unescaped");
    }
    wr_buf_release(&buf);
}

static void both_append(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_buf_text(&buf, "<");
    wr_json_escape(&buf, WR_LIT("\n"));
    wr_json_unescape(&buf, WR_LIT("\\t"));
    wr_json_unescape(&buf, (weir_span){NULL, 0});
    wr_json_escape(&buf, (weir_span){NULL, 0});
    check(&buf, WR_LIT("<\\n\t"), "both append", "in turn");
    wr_buf_release(&buf);
}

/* Every code point: escaped it is JSON that reads back as itself, by escape and by number. */
static void every_code_point_comes_back(void **state)
{
    struct wr_buf buf, back;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_buf_init(&back, 1000);
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4], digits[16];
        weir_span plain = {bytes, wr_utf8_encode(code, bytes)};
        wr_buf_reset(&buf);
        wr_buf_reset(&back);
        wr_json_escape(&buf, plain);
        wr_json_unescape(&back, wr_buf_view(&buf));
        check(&back, plain, "a code point", "there and back");

        if (code >= 0x10000)
            (void)snprintf(digits, sizeof(digits), "\\u%04x\\u%04X", 0xD7C0 + (code >> 10),
                           0xDC00 + (code & 0x3FF));
        else
            (void)snprintf(digits, sizeof(digits), "\\u%04x", code);
        wr_buf_reset(&back);
        wr_json_unescape(&back, wr_span_of(digits));
        check(&back, plain, "a code point", "by number");
    }
    wr_buf_release(&buf);
    wr_buf_release(&back);
}

static void only_what_must_be_is_escaped(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 100);
    for (unsigned byte = 0; byte < 0x80; byte++) {
        char c = (char)byte;
        bool must = byte < 0x20 || c == '"' || c == '\\';
        wr_buf_reset(&buf);
        wr_json_escape(&buf, (weir_span){&c, 1});
        assert_int_equal(wr_buf_view(&buf).len > 1, must);
    }
    wr_buf_release(&buf);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    static const char *const bad[] = {"\xFF",       "a\x80", "\xC3", "\xC0\xAF", "\xF4\x90\x80\x80",
                                      "abc\xE2\x82"};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(bad); i++) {
        struct wr_buf buf;
        wr_buf_init(&buf, 100);
        wr_json_escape(&buf, wr_span_of(bad[i]));
        assert_int_equal(wr_buf_status(&buf), WEIR_INVALID);
        wr_buf_release(&buf);
    }
}

static void the_cap_holds(void **state)
{
    static const weir_span plain = TEXT("a\"b\n\x01\xC3\xA9\xED\xA0\xBD"
                                        "c");
    static const weir_span inner = TEXT("a\\\"b\\n\\u0001\xC3\xA9\\ud83dc");
    (void)state;

    for (size_t cap = 0; cap <= inner.len; cap++) {
        struct wr_buf buf;
        wr_buf_init(&buf, cap);
        wr_json_escape(&buf, plain);
        assert_int_equal(wr_buf_status(&buf), cap < inner.len ? WEIR_LIMIT : WEIR_OK);
        assert_true(buf.len <= cap);
        wr_buf_release(&buf);

        wr_buf_init(&buf, cap);
        wr_json_unescape(&buf, inner);
        assert_int_equal(wr_buf_status(&buf), cap < inner.len ? WEIR_LIMIT : WEIR_OK);
        wr_buf_release(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaping_and_unescaping),
        cmocka_unit_test(both_append),
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(only_what_must_be_is_escaped),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(the_cap_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
