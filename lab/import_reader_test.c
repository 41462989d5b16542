#include "lab/import_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* ---- times ---- */

static const struct {
    const char *behaviour, *json;
    int64_t expected_ms;
} cases[] = {
    {"the beginning", "\"1970-01-01T00:00:00Z\"", 0},
    {"a time with milliseconds", "\"2026-06-26T12:24:12.748Z\"", INT64_C(1782476652748)},
    {"microseconds are cut", "\"2026-06-26T12:24:12.748999Z\"", INT64_C(1782476652748)},
    {"no zone is UTC", "\"2026-06-26T12:24:12\"", INT64_C(1782476652000)},
    {"a space may stand for the T", "\"2026-06-26 12:24:12Z\"", INT64_C(1782476652000)},
    {"a zone ahead of UTC", "\"2026-06-26T14:54:12+02:30\"", INT64_C(1782476652000)},
    {"a zone behind UTC, without a colon", "\"2026-06-26T06:54:12-0530\"", INT64_C(1782476652000)},
    {"the last day of a leap year's February", "\"2024-02-29T00:00:00Z\"", INT64_C(1709164800000)},
    {"the day after a century's February without one", "\"2100-03-01T00:00:00Z\"",
     INT64_C(4107542400000)},
    {"a number of seconds", "1763511452", INT64_C(1763511452000)},
    {"a number of seconds with a fraction", "1763511452.25", INT64_C(1763511452250)},
    {"a number of milliseconds", "1780659111519", INT64_C(1780659111519)},
    {"a day alone is no time", "\"2026-06-26\"", WR_SESSION_NO_TIME},
    {"the thirteenth month is none", "\"2026-13-01T00:00:00Z\"", WR_SESSION_NO_TIME},
    {"day zero is none", "\"2026-01-00T00:00:00Z\"", WR_SESSION_NO_TIME},
    {"a word is no time", "\"today\"", WR_SESSION_NO_TIME},
    {"a broken zone makes none", "\"2026-06-26T12:24:12*02:00\"", WR_SESSION_NO_TIME},
    {"a negative number is none", "-5", WR_SESSION_NO_TIME},
    {"an exponent is none", "1e9", WR_SESSION_NO_TIME},
    {"zero is none", "0", WR_SESSION_NO_TIME},
    {"too large a number is none", "99999999999999999999", WR_SESSION_NO_TIME},
    {"null is none", "null", WR_SESSION_NO_TIME},
};

static void times_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(cases[i].json), NULL, NULL),
                         WEIR_OK);
        int64_t got_ms = wr_node_time((wr_node){&doc, 0});
        if (got_ms != cases[i].expected_ms)
            fail_msg("%s: %lld", cases[i].behaviour, (long long)got_ms);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
