/* loop_brief.h -- a completed loop in a budget: what Weir's own presets leave in its place.
 *
 *   [COMPLETED AGENT LOOP SUMMARY]
 *   files_changed: src/gate.c, src/sill.c           the newest first, each once
 *   files_read: src/weir.c
 *   tool_activity:                                  the newest calls that fit, oldest first
 *   - 212 earlier calls are behind the handle below
 *   - Read: src/sill.c
 *   - [TOOL RESULT SUMMARY]                         the newest of all with their results
 *     ...
 *   assistant_result:
 *     what the model said, as it said it
 *   recovery_rule: ...
 *
 * loop_summary.h has a block for every call, as a document wants it: a loop of 300 calls then takes
 * 40,000 tokens that hardly any later answer uses. Here the lists of files and calls together take
 * `tokens` at most; the model's own words stay. The text depends on the given segments and options
 * alone.
 */
#ifndef WR_POLICY_LOOP_BRIEF_H
#define WR_POLICY_LOOP_BRIEF_H

#include "policy/loop_summary.h"

/* Of `segments` (ascending) the calls' results and the model's texts are told. */
WEIR_MUST_USE weir_status wr_loop_brief(const struct wr_transcript *transcript,
                                        struct wr_arena *arena, const uint32_t *segments,
                                        uint32_t segments_count, uint64_t tokens,
                                        const struct wr_loop_options *options, weir_span *text);

#endif
