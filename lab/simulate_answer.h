/* simulate_answer.h -- a simulation in one sentence and a small table, for a person who asks what
 * Weir would have saved on the sessions of this machine.
 *
 * The report must have the lanes of wr_simulate_answer_policies(), the first of which sends
 * everything as it came.
 */
#ifndef WR_LAB_SIMULATE_ANSWER_H
#define WR_LAB_SIMULATE_ANSWER_H

#include "transcript/effect.h"
#include "lab/simulate_report.h"

/* What results of each kind weigh in all prompts together: a result's tokens, once for every
 * request from the one it came with to the session's last. Where the host compacts, that is more
 * than was sent. */
struct wr_habits {
    uint64_t sent[WR_EFFECT_KINDS];
    uint64_t unused[WR_EFFECT_KINDS]; /* of them, those of which no answer used anything */
};

void wr_habits_add(struct wr_habits *habits, const struct wr_misses *misses,
                   uint32_t requests_count);

/* The four policies of the table. */
const char *const *wr_simulate_answer_policies(uint32_t *count);

/* Lines are at most `columns` wide, but for words that are longer. `are_found`: the logs were
 * looked for on this machine, so they are the reader's own. */
void wr_simulate_answer(struct wr_simulate_report *report, const struct wr_habits *habits,
                        bool are_found, uint32_t columns, struct wr_buf *out);

#endif
