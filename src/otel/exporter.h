/* exporter.h -- sends spans and metrics to a receiver, by OTLP over HTTP, as JSON.
 *
 *   wr_otel_take ──▶ spans wait, in a queue with a cap ──▶ one batch on its way ──▶ gone
 *                        │ it is full: dropped, counted      │ refused for now: the same batch
 * again, ▼                                   │ later and later; refused for good, or ▼ too often:
 * dropped, counted
 *
 * 1. No request waits for it: what is taken is written down when the answer is over, and leaves on
 *    the loop's own time.
 * 2. What is on its way is at most one batch of spans and one of metrics.
 * 3. No content: it sees nothing but records.
 */
#ifndef WR_OTEL_EXPORTER_H
#define WR_OTEL_EXPORTER_H

#include <stdatomic.h>

#include "engine/record.h"
#include "models/registry.h"
#include "net/fetch.h"
#include "otel/settings.h"

struct wr_otel;

struct wr_otel_options {
    uv_loop_t *loop;
    struct wr_fetcher *fetcher;
    const struct wr_otel_settings *settings; /* outlives it, or wr_otel_set() */
    weir_span models_yaml;                   /* weir.yaml, for prices; empty: none */
    /* What is counted: spans that arrived, spans that were lost, exports that failed. */
    _Atomic uint64_t *spans_count, *dropped_count, *failed_count;
};

WEIR_MUST_USE weir_status wr_otel_new(struct wr_otel **otel, const struct wr_otel_options *options,
                                      struct weir_err *err);
/* From the next export on; after a reload. */
void wr_otel_set(struct wr_otel *otel, const struct wr_otel_settings *settings);

/* Where a request begins: its place in the trace that its head names, else in one of its own. NULL
 * is fine, as in the calls below. */
void wr_otel_begin(struct wr_otel *otel, const struct wr_head *head, struct wr_record_trace *trace);
void wr_otel_take(struct wr_otel *otel, const struct wr_record *record);

/* Sends what waits at once; called again, what came meanwhile. It is idle when all has arrived, was
 * refused, or is late. */
void wr_otel_drain(struct wr_otel *otel);
bool wr_otel_is_idle(const struct wr_otel *otel);

/* The loop must run once more in between. */
void wr_otel_close(struct wr_otel *otel);
void wr_otel_free(struct wr_otel *otel);

#endif
