#include "base/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static void a_text_is_a_moment(void **state)
{
    static const struct {
        const char *behaviour, *text;
        int64_t end_ms; /* -1: it is refused */
    } cases[] = {
        {"a day lasts until the next", "1970-01-01", WR_DAY_MS},
        {"a moment is itself", "1970-01-02T00:00:01Z", WR_DAY_MS + 1000},
        {"a day of our time", "2026-11-18", INT64_C(1795046400000)},
        {"a leap day", "2028-02-29", INT64_C(1835481600000)},
        {"no leap day", "2027-02-29", -1},
        {"no such day", "2026-04-31", -1},
        {"no such month", "2026-13-01", -1},
        {"no such hour", "2026-01-01T24:00:00Z", -1},
        {"another form", "18.11.2026", -1},
        {"letters", "2026-1x-01", -1},
        {"without a zone", "2026-01-01T10:00:00", -1},
        {"nothing", "", -1},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        int64_t end_ms = 0;
        bool ok = wr_date_parse(wr_span_of(cases[i].text), &end_ms);
        if (ok != (cases[i].end_ms >= 0) || (ok && end_ms != cases[i].end_ms))
            fail_msg("%s: %lld", cases[i].behaviour, (long long)end_ms);
    }
}

static void days_go_there_and_back(void **state)
{
    int64_t days = 0;
    (void)state;
    for (; days < 200 * 366; days++) {
        struct wr_date date = wr_date_of(days * WR_DAY_MS + WR_DAY_MS - 1);
        assert_int_equal(wr_date_ms(date), days * WR_DAY_MS);
    }
    assert_int_equal(wr_date_ms((struct wr_date){2026, 13, 1}),
                     wr_date_ms((struct wr_date){2027, 1, 1}));
    char text[WR_DATE_BYTES];
    wr_date_write(INT64_C(1835481599000), text);
    assert_string_equal(text, "2028-02-29T23:59:59Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_moment),
        cmocka_unit_test(days_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
