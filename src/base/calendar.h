/* calendar.h -- days of the calendar, in UTC, from milliseconds since 1970 and back. */
#ifndef WR_BASE_CALENDAR_H
#define WR_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/span.h"

enum { WR_DAY_MS = 24 * 60 * 60 * 1000, WR_DATE_BYTES = sizeof("YYYY-MM-DDTHH:MM:SSZ") };

struct wr_date {
    int year, month, day; /* month and day from 1 */
};

/* The day of a moment that is not before 1970. */
struct wr_date wr_date_of(int64_t time_ms);

/* When a day begins. A month of 13 is the next year's first. */
int64_t wr_date_ms(struct wr_date date);

/* Reads YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SSZ. `end_ms` is the first moment that is behind it: the
 * next day's, or the moment itself. False: it is no such text, or there is no such day. */
bool wr_date_parse(weir_span text, int64_t *end_ms);

/* Writes a moment as YYYY-MM-DDTHH:MM:SSZ. */
void wr_date_write(int64_t time_ms, char text[WR_DATE_BYTES]);

#endif
