/* span.h -- a request as a span of a trace, as OTLP's JSON writes one.
 *
 * A sink of the record. Names are those of OpenTelemetry's gen_ai conventions where it has one, and
 * begin with `weir.` where it has none. A span says who was asked, what was counted and what it
 * cost; as in the record there is no word in it of what was said.
 */
#ifndef WR_OTEL_SPAN_H
#define WR_OTEL_SPAN_H

#include "engine/record.h"
#include "json/write.h"

/* One of OTLP's attributes, as an item of an open list. */
void wr_otel_text(struct wr_json_writer *w, const char *key, weir_span text); /* empty: none */
void wr_otel_flag(struct wr_json_writer *w, const char *key, bool value);

/* Reads a `traceparent` header. False: it is none, and `trace` is empty. */
bool wr_otel_parent_read(weir_span header, struct wr_record_trace *trace);

/* "chat", "generate_content": what the conventions call it. */
const char *wr_otel_operation(const struct wr_record *record);
/* Why it failed, as one of few words; empty: it did not. */
weir_span wr_otel_error(const struct wr_record *record);

/* All input, what was cached included; 0: not known. */
uint64_t wr_otel_input_tokens(const struct wr_record *record);

/* `span_id` is 16 digits of hex; `cost` is of the record. */
void wr_otel_span_write(const struct wr_record *record, const char *span_id,
                        const struct wr_cost *cost, struct wr_buf *out);

#endif
