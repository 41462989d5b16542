#include "lab/import_reader.h"

#include "base/ascii.h"
#include "base/span.h"

enum { MS_OF_SECOND = 1000, SECONDS_OF_DAY = 24 * 60 * 60 };

/* Numbers from here on are milliseconds: as seconds they would be the year 5138. */
#define FIRST_MS INT64_C(100000000000)

struct scan {
    weir_span rest;
    bool ok;
};

static void skip(struct scan *s, const char *any_of)
{
    s->ok = s->ok && s->rest.len && strchr(any_of, s->rest.ptr[0]) && s->rest.ptr[0];
    if (s->ok)
        s->rest = wr_span_cut(s->rest, 1, s->rest.len);
}

static int64_t digits(struct scan *s, size_t count, int64_t max)
{
    int64_t number = 0;
    for (size_t i = 0; i < count && s->ok; i++) {
        s->ok = i < s->rest.len && wr_is_digit(s->rest.ptr[i]);
        if (s->ok)
            number = number * 10 + (s->rest.ptr[i] - '0');
    }
    s->ok = s->ok && number <= max;
    if (s->ok)
        s->rest = wr_span_cut(s->rest, count, s->rest.len);
    return number;
}

/* Days since 1970-01-01 of a day in the Gregorian calendar: years begin in March, so that the day
 * that is not always there is the last. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    int64_t era = y / 400, of_era = y % 400;
    int64_t of_year = (153 * m + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* ".123456" as milliseconds. */
static int64_t fraction_ms(struct scan *s)
{
    int64_t ms = 0, unit = 100;
    if (!s->rest.len || (s->rest.ptr[0] != '.' && s->rest.ptr[0] != ','))
        return 0;
    s->rest = wr_span_cut(s->rest, 1, s->rest.len);
    while (s->rest.len && wr_is_digit(s->rest.ptr[0])) {
        ms += (s->rest.ptr[0] - '0') * unit;
        unit /= 10;
        s->rest = wr_span_cut(s->rest, 1, s->rest.len);
    }
    return ms;
}

/* "Z", "+02:00", "-0530" or nothing, as seconds ahead of UTC. */
static int64_t zone_s(struct scan *s)
{
    if (!s->rest.len || s->rest.ptr[0] == 'Z' || s->rest.ptr[0] == 'z')
        return 0;
    int64_t sign = s->rest.ptr[0] == '-' ? -1 : 1;
    skip(s, "+-");
    int64_t hours = digits(s, 2, 23);
    if (s->rest.len && s->rest.ptr[0] == ':')
        skip(s, ":");
    return sign * (hours * 3600 + digits(s, 2, 59) * 60);
}

static int64_t iso_ms(weir_span text)
{
    struct scan s = {text, true};
    int64_t year = digits(&s, 4, 9999);
    skip(&s, "-");
    int64_t month = digits(&s, 2, 12);
    skip(&s, "-");
    int64_t day = digits(&s, 2, 31);
    skip(&s, "T t");
    int64_t hour = digits(&s, 2, 23);
    skip(&s, ":");
    int64_t minute = digits(&s, 2, 59);
    skip(&s, ":");
    int64_t second = digits(&s, 2, 60);
    if (!s.ok || !month || !day)
        return WR_SESSION_NO_TIME;
    int64_t ms = fraction_ms(&s), ahead_s = zone_s(&s);
    if (!s.ok)
        return WR_SESSION_NO_TIME;
    int64_t seconds = days_since_1970(year, month, day) * SECONDS_OF_DAY + hour * 3600 +
                      minute * 60 + second - ahead_s;
    return seconds * MS_OF_SECOND + ms;
}

/* A number with at most 15 digits before the point, and what follows it. */
static int64_t number_ms(weir_span spelling)
{
    struct scan s = {spelling, true};
    size_t count = 0;
    while (count < spelling.len && wr_is_digit(spelling.ptr[count]))
        count++;
    if (!count || count > 15)
        return WR_SESSION_NO_TIME;
    int64_t whole = digits(&s, count, INT64_MAX);
    int64_t ms = fraction_ms(&s);
    if (s.rest.len || !whole)
        return WR_SESSION_NO_TIME;
    return whole < FIRST_MS ? whole * MS_OF_SECOND + ms : whole;
}

int64_t wr_node_time(wr_node node)
{
    if (wr_node_is(node, WR_JSON_STRING))
        return iso_ms(wr_node_inner(node));
    if (wr_node_is(node, WR_JSON_NUMBER))
        return number_ms(wr_json_raw(node.doc, node.id));
    return WR_SESSION_NO_TIME;
}
