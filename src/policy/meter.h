/* meter.h -- tokens as the session's model counts them: of a text, and of every segment of a
 * request.
 *
 * Exact where the model's tokenizer is public, fitted (times the model's factor) elsewhere. A meter
 * has one owner and one thread at a time; it makes an encoding ready when it is first asked for and
 * keeps it, and remembers the counts of texts it has seen. Counting is a pure function of text and
 * model: what is remembered changes nothing but time.
 */
#ifndef WR_POLICY_METER_H
#define WR_POLICY_METER_H

#include "models/calibrate.h"
#include "models/registry.h"
#include "tokens/bpe.h"
#include "tokens/estimate.h"
#include "transcript/transcript.h"

struct wr_meter;

WEIR_MUST_USE weir_status wr_meter_new(struct wr_meter **meter);
void wr_meter_free(struct wr_meter *meter); /* NULL is fine */

/* Counts as `model` does from now on. The model is borrowed. */
WEIR_MUST_USE weir_status wr_meter_use_model(struct wr_meter *meter, const struct wr_model *model,
                                             struct weir_err *err);
WEIR_MUST_USE weir_status wr_meter_use_encoding(struct wr_meter *meter,
                                                enum wr_bpe_encoding encoding,
                                                struct weir_err *err);
/* Counts by a table that the user brought (tokens/bpe_load.h); the meter owns it from now on, also
 * when this fails. */
WEIR_MUST_USE weir_status wr_meter_take_table(struct wr_meter *meter, struct wr_bpe *table);
void wr_meter_use_estimator(struct wr_meter *meter, enum wr_estimator estimator);

/* Tokens of `text`; a wr_count_fn with the meter as `user`. A piece too long for the memory is
 * estimated. */
uint64_t wr_meter_count(void *meter, weir_span text);

/* The scratch of the encoding in use, for streams; NULL where it is an estimate. */
struct wr_bpe_scratch *wr_meter_scratch(struct wr_meter *meter);

const char *wr_meter_method(
    const struct wr_meter *meter); /* "o200k_base", "fitted estimate", ... */
enum wr_count_source wr_meter_source(const struct wr_meter *meter);

struct wr_measure {
    uint64_t *segment_tokens;    /* in the arena, one a segment */
    uint32_t *segment_overheads; /* framing that comes with each: of its message, of a call */
    uint32_t message_overhead_tokens;
    uint64_t base_tokens;     /* framing of the request and its tools, whatever is in it */
    uint64_t overhead_tokens; /* all framing: base and segments */
    uint64_t total_tokens;
};

WEIR_MUST_USE weir_status wr_meter_measure(struct wr_meter *meter,
                                           const struct wr_transcript *transcript,
                                           struct wr_arena *arena, struct wr_measure *measure);

#endif
