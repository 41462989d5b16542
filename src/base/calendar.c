#include "base/calendar.h"

#include "base/ascii.h"
#include "base/span.h"

enum { ERA_DAYS = 146097, EPOCH_DAYS = 719468 }; /* of 400 years; from 1 March of the year 0 */

struct wr_date wr_date_of(int64_t time_ms)
{
    int64_t days = time_ms / WR_DAY_MS + EPOCH_DAYS, era = days / ERA_DAYS, day = days % ERA_DAYS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t rest = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * rest + 2) / 153; /* from March */

    return (struct wr_date){.year = (int)(year + era * 400 + (month >= 10)),
                            .month = (int)(month < 10 ? month + 3 : month - 9),
                            .day = (int)(rest - (153 * month + 2) / 5 + 1)};
}

int64_t wr_date_ms(struct wr_date date)
{
    int64_t year = date.year + (date.month - 1) / 12, month = (date.month - 1) % 12 + 1;
    int64_t from_march = month > 2 ? month - 3 : month + 9;

    year -= month <= 2;
    int64_t era = year / 400, of_era = year % 400;
    int64_t of_year = (153 * from_march + 2) / 5 + date.day - 1;
    int64_t days = era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS;
    return days * WR_DAY_MS;
}

/* "NNNN" at `at`: -1 where it is none. */
static int digits(weir_span text, size_t at, size_t count)
{
    int number = 0;

    for (size_t i = at; i < at + count; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        number = number * 10 + (text.ptr[i] - '0');
    }
    return number;
}

static bool has_form(weir_span text, const char *form)
{
    for (size_t i = 0; i < text.len; i++)
        if (form[i] != '0' && text.ptr[i] != form[i])
            return false;
    return true;
}

bool wr_date_parse(weir_span text, int64_t *end_ms)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    enum { DAY_BYTES = 10, ALL_BYTES = 20 };

    if ((text.len != DAY_BYTES && text.len != ALL_BYTES) || !has_form(text, form))
        return false;
    struct wr_date date = {digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)};
    if (date.year < 1970 || date.month < 1 || date.month > 12 || date.day < 1)
        return false;
    struct wr_date same = wr_date_of(wr_date_ms(date)); /* 31 April is the first of May */
    if (same.month != date.month || same.day != date.day)
        return false;
    *end_ms = wr_date_ms(date) + WR_DAY_MS;
    if (text.len == DAY_BYTES)
        return true;
    int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
    *end_ms = wr_date_ms(date) + ((hour * 60 + minute) * 60 + second) * INT64_C(1000);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

void wr_date_write(int64_t time_ms, char text[WR_DATE_BYTES])
{
    struct wr_date date = wr_date_of(time_ms);
    unsigned seconds = (unsigned)(time_ms % WR_DAY_MS / 1000) % 86400;

    (void)snprintf(text, WR_DATE_BYTES, "%04u-%02u-%02uT%02u:%02u:%02uZ",
                   (unsigned)date.year % 10000, (unsigned)date.month % 100,
                   (unsigned)date.day % 100, seconds / 3600, seconds / 60 % 60, seconds % 60);
}
