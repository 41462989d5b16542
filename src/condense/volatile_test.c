#include "condense/volatile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"

static void what_varies_is_marked(void **state)
{
    static const struct {
        const char *behaviour, *text, *expected;
    } rows[] = {
        {"a date with a time", "at 2024-01-02T03:04:05.678Z x", "at <time> x"},
        {"a date with a zone", "2024-01-02 03:04:05 +0100 x", "<time> x"},
        {"a date with a zone's colon", "2024-01-02T03:04:05+01:00", "<time>"},
        {"a date alone", "on 2024/01/02.", "on <time>."},
        {"a clock", "12:34:56,789 x", "<time> x"},
        {"an access log's", "[02/Jan/2024:03:04:05 +0000]", "[<time>]"},
        {"syslog's", "Jan  2 03:04:05 host", "<time> host"},
        {"seconds since 1970", "ts=1700000000 1700000000123 1700000000.5",
         "ts=<time> <time> <time>"},
        {"durations", "12ms 1.5s 1m3s 2h 10 seconds 5 ms",
         "<time> <time> <time> <time> <time> <time>"},
        {"a name with digits is no duration", "x12s a1 m2s3x", "x12s a1 m2s3x"},
        {"an address", "at 0x7ffee3b0", "at <hex>"},
        {"a uuid", "123e4567-e89b-12d3-a456-426614174000", "<hex>"},
        {"a hash", "commit 1a2b3c4d5e", "commit <hex>"},
        {"a word of hex letters is a word", "deadbeef facade", "deadbeef facade"},
        {"a number is a number", "1234567 400", "1234567 400"},
        {"a process id", "app[123]: pid 77 pid=78", "app[<n>]: pid <n> pid=<n>"},
        {"progress", "[12/340] 45%", "[<n>/<n>] <n>%"},
        {"tries", "attempt 3, retry #4", "attempt <n>, retry #<n>"},
        {"ports that were chosen, not those that were asked for", "127.0.0.1:54321 :8080",
         "127.0.0.1:<n> :8080"},
        {"names of temporary files", "/tmp/tmpx1/y /tmp/build/z", "/tmp/<tmp>/y /tmp/build/z"},
        {"macOS has longer ones", "/var/folders/a1/b2c3/T/x", "/var/folders/<tmp>/<tmp>/T/x"},
        {"lines and columns stay", "a.c:12:34: x", "a.c:12:34: x"},
        {"white space is one space", "  a\t\t b  ", "a b"},
        {"nothing", "", ""},
    };
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char out[256], again[256];
        size_t len = wr_volatile_write(out, sizeof(out), wr_span_of(rows[i].text));
        size_t twice = wr_volatile_write(again, sizeof(again), (weir_span){out, len});
        if (!wr_span_is((weir_span){out, len}, rows[i].expected) || twice != len ||
            memcmp(out, again, len)) {
            print_error("%s: %.*s\n", rows[i].behaviour, (int)len, out);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void it_is_cut_between_characters(void **state)
{
    char out[4];
    (void)state;
    assert_int_equal(wr_volatile_write(out, 4, WR_LIT("abc\xc3\xa9")), 3);
    assert_int_equal(wr_volatile_write(out, 4, WR_LIT("ab\xc3\xa9x")), 4);
    assert_int_equal(wr_volatile_write(out, 4, WR_LIT("ab\xe2\x82\xac")), 2);
    assert_int_equal(wr_volatile_write(out, 4, WR_LIT("abcdef")), 4);
}

static void escapes_are_stripped(void **state)
{
    static const struct {
        const char *behaviour, *text, *expected;
    } rows[] = {
        {"colour", "\x1b[1;31mred\x1b[0m x", "red x"},
        {"a link", "\x1b]8;;http://x\x1b\\name\x1b]8;;\x07", "name"},
        {"a single one", "a\x1b=b\x1b", "ab"},
        {"no line end is lost", "a\x1b[\nb\x1b]x\nc\x1b\nd", "a\nb\nc\nd"},
        {"plain text", "abc", "abc"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        char out[64];
        size_t len = wr_volatile_strip_escapes(out, wr_span_of(rows[i].text));
        if (!wr_span_is((weir_span){out, len}, rows[i].expected))
            fail_msg("%s: %.*s", rows[i].behaviour, (int)len, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_varies_is_marked),
        cmocka_unit_test(it_is_cut_between_characters),
        cmocka_unit_test(escapes_are_stripped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
