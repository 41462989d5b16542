/* output.h -- what kind of output a result is, from what is known of its call. */
#ifndef WR_POLICY_OUTPUT_H
#define WR_POLICY_OUTPUT_H

#include "condense/output_kind.h"
#include "transcript/transcript.h"

enum wr_output_origin wr_output_origin_of(enum wr_effect_kind effect);

/* `text` is the result's own, as it came. */
enum wr_output_kind wr_output_kind_of(const struct wr_segment *result, weir_span text);

#endif
