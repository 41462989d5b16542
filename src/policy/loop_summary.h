/* loop_summary.h -- the two blocks of the `guarded-mid` document: [TOOL RESULT SUMMARY] of one
 * result, and [COMPLETED AGENT LOOP SUMMARY] of a loop whose work is done.
 *
 *   [TOOL RESULT SUMMARY]
 *   capability: read_file
 *   purpose: inspect file
 *   path: src/main.rs              handles of the call, then what the result says of itself
 *   exact_evidence:                the lines that were read, where they fit in the budget; else
 *   content_preview: ...           their beginning, and how to read them again
 *
 * 1. The words and the order of the lines are the document's. A handle the result repeats from the
 * call (its <path>) is written twice, as there.
 * 2. Four choices are not the document's. The budget for exact evidence goes to the newest reads
 *    first: the document spends it oldest first, on what is likeliest to be out of date. A preview
 *    of what a command printed shows its end as well as its beginning: the document shows only the
 *    beginning, and the outcome stands at the end. Blank lines of exact evidence stay. Behind the
 *    document's own lines stands `changed_since` where the file was changed after the read: what
 *    it advises gives another text then.
 * 3. The text depends on the given segments and options alone.
 * 4. Nothing of a result can pass for a line of the block: previews and handles are on one line,
 *    evidence is indented.
 */
#ifndef WR_POLICY_LOOP_SUMMARY_H
#define WR_POLICY_LOOP_SUMMARY_H

#include "policy/fold.h"

struct wr_loop_options {
    uint64_t evidence_tokens; /* for all reads together: 18000 active, 2000 completed */
    uint64_t preview_tokens;  /* 220; a preview that is cut has four characters for each */
    wr_count_fn *count;
    void *user;
    uint32_t arrived; /* a read is outdated where a segment before this one changed its file */
};

/* Whether a result shows a file that a segment before `arrived` changed. */
bool wr_loop_is_outdated(const struct wr_segment *result, uint32_t arrived);

/* Which of the results, given oldest first, keep what was read: the newest ones that fit in
 * `evidence_tokens`. Fills is_exact[0..results_count). */
WEIR_MUST_USE weir_status wr_loop_evidence(const struct wr_transcript *transcript,
                                           struct wr_arena *arena, const uint32_t *results,
                                           uint32_t results_count,
                                           const struct wr_loop_options *options, bool *is_exact);

/* The block of one result, without a line end behind it. `is_exact`: a read keeps its lines. */
WEIR_MUST_USE weir_status wr_tool_result_summary(const struct wr_transcript *transcript,
                                                 struct wr_arena *arena, uint32_t result,
                                                 bool is_exact,
                                                 const struct wr_loop_options *options,
                                                 weir_span *text);

/* The block of a loop. Of `segments` (ascending) the results and the model's texts are told; all
 * else is passed over. */
WEIR_MUST_USE weir_status wr_completed_loop_summary(
    const struct wr_transcript *transcript, struct wr_arena *arena, const uint32_t *segments,
    uint32_t segments_count, const struct wr_loop_options *options, weir_span *text);

/* A completed loop in a budget: what Weir's own presets leave in its place.
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
 * wr_completed_loop_summary() has a block for every call, as a document wants it: a loop of 300
 * calls then takes 40,000 tokens that hardly any later answer uses. Here the lists of files and
 * calls together take `tokens` at most; the model's own words stay. The text depends on the given
 * segments and options alone. */

/* Of `segments` (ascending) the calls' results and the model's texts are told. */
WEIR_MUST_USE weir_status wr_loop_brief(const struct wr_transcript *transcript,
                                        struct wr_arena *arena, const uint32_t *segments,
                                        uint32_t segments_count, uint64_t tokens,
                                        const struct wr_loop_options *options, weir_span *text);

#endif
