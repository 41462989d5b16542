/* meter.h -- what OpenTelemetry's metrics say of all requests of a process, and OTLP's JSON of it.
 *
 * A sink of the record. Sums and histograms grow from the start of the process on (cumulative
 * temporality), so an export that is lost loses nothing. Requests are told apart by operation,
 * provider, model and kind of error; from WR_OTEL_SERIES_MAX such series on all others are counted
 * in one, which says `otel.metric.overflow`.
 */
#ifndef WR_OTEL_METER_H
#define WR_OTEL_METER_H

#include "engine/record.h"
#include "json/write.h"

struct wr_otel_meter;

struct wr_otel_meter *wr_otel_meter_new(int64_t started_ms); /* NULL: out of memory */
void wr_otel_meter_free(struct wr_otel_meter *meter);        /* NULL is fine */

void wr_otel_meter_take(struct wr_otel_meter *meter, const struct wr_record *record,
                        const struct wr_cost *cost);
bool wr_otel_meter_is_empty(const struct wr_otel_meter *meter);

/* The items of OTLP's list `metrics`, as they are at `now_ms`. */
void wr_otel_meter_write(const struct wr_otel_meter *meter, int64_t now_ms,
                         struct wr_json_writer *writer);

#endif
