/* summary.h -- a structured summary of a part of a conversation, extracted, not written by a model.
 *
 *   [CONVERSATION SUMMARY]
 *   (extracted from earlier messages that were taken out; these are not words of the user)
 *   session_intent:            the user's first and newest words, quoted
 *   key_decisions:             sentences of the model
 *   files_changed: files_read: with counts and lines
 *   commands:                  that never failed, with their newest outcome
 *   errors_resolved:           failed once, succeeded since
 *   errors_open:               failed last
 *   open_items: next_steps:    the newest plan, and what the model said it would do
 *
 * 1. The same range gives the same text. A longer range gives the same lines, updated, and new ones
 *    behind them in each section: a later summary is made by extending the range of the earlier.
 * 2. Never more than `tokens_max` tokens. What is too long is shortened by halving sections in a
 *    fixed order (see summary.c), the items touched longest ago first; a section says how many it
 *    leaves out. Where not even its first lines fit there is no summary: the text is empty.
 * 3. Valid UTF-8. Every item is one line that begins with "- ", so nothing of a file or a message
 *    can pass for a section.
 * 4. Messages of the user are not summarised: they stay in the prompt. The quotes only say which.
 */
#ifndef WR_POLICY_SUMMARY_H
#define WR_POLICY_SUMMARY_H

#include "policy/fold.h"
#include "policy/summary_facts.h"

struct wr_summary_input {
    struct wr_facts_range range;
    uint64_t tokens_max;
    wr_count_fn *count;
    void *user;
};

WEIR_MUST_USE weir_status wr_summary_build(const struct wr_summary_input *input,
                                           struct wr_arena *arena, weir_span *text);

/* The same from facts already read; of `input` the range is not used. */
WEIR_MUST_USE weir_status wr_summary_write(const struct wr_facts *facts,
                                           const struct wr_summary_input *input,
                                           struct wr_arena *arena, weir_span *text);

#endif
