/* policy_check.h -- for fuzz_project: a request run under a preset in a window that it hardly fits
 * in.
 *
 * Aborts where a law is broken. What must hold of calls and results is for the caller to see, who
 * gets the body that would leave.
 */
#ifndef FUZZ_POLICY_CHECK_H
#define FUZZ_POLICY_CHECK_H

#include "transcript/transcript.h"

/* `flags` choose the preset, whether there is a store and whether the model binds its thinking;
 * `size` the window. The body is in `out`, or is the request's own. */
weir_span policy_check(const struct wr_transcript *transcript, struct wr_arena *arena,
                       uint8_t flags, uint8_t size, struct wr_buf *out);

#endif
