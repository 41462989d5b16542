/* evidence_tally.h -- what a policy's prompts had of what answers used, summed over requests.
 *
 * 1. A blind quote is a request whose answer quotes a whole line (an item of kind line that counts)
 *    that its prompt does not hold: an edit's old text, a patch's context. Without a recall the
 * edit fails or is wrong. It is counted before the recall, against the requests with evidence.
 * 2. First sight is counted three ways, since one read that is rewritten afterwards holds hundreds
 *    of strings: by string, by result and by request. A result or request is whole where nothing
 *    that was used at first sight is missing.
 * 3. Words of the user and of instructions are gone where a line of theirs stands nowhere in the
 *    prompt. A line counts once in a session, in the tokens of the request that lacks it first.
 */
#ifndef WR_LAB_EVIDENCE_TALLY_H
#define WR_LAB_EVIDENCE_TALLY_H

#include "lab/evidence.h"
#include "policy/fold.h"

/* How many answers were given since the source came. */
enum { WR_EVIDENCE_AGES = 5 };
const char *wr_evidence_age_text(int age); /* "0", "1-3", "4-10", "11-30", "31+" */

struct wr_evidence_tally {
    uint64_t all[WR_EVIDENCE_VERDICTS];         /* items that count */
    uint64_t first_sight[WR_EVIDENCE_VERDICTS]; /* of them, those seen for the first time */
    uint64_t repeated[WR_EVIDENCE_VERDICTS];    /* items that do not count, for comparison */
    uint64_t users[WR_EVIDENCE_VERDICTS];       /* items that only the user had said */
    uint64_t own[WR_EVIDENCE_VERDICTS];         /* items that the model had said itself */
    uint64_t answers_own;                       /* that quote a line the model wrote into a file, */
    uint64_t answers_own_blind;                 /* of them, one that is not in the prompt */
    uint64_t answers;                           /* that have an item that counts */
    uint64_t answers_wanting;                   /* of them, with something that was not supported */
    uint64_t answers_all_missing;               /* with nothing that was supported */
    uint64_t answers_blind;                     /* blind quotes */
    uint64_t blind_by_age[WR_EVIDENCE_AGES];    /* by the newest line that is missing */
    uint64_t sight_answers, sight_answers_whole;
    uint64_t sight_results, sight_results_whole;
    uint64_t user_tokens_gone;
};

void wr_evidence_count(struct wr_evidence_tally *tally, const struct wr_evidence_items *found,
                       const struct wr_evidence_judged *judged);

void wr_evidence_tally_add(struct wr_evidence_tally *sum, const struct wr_evidence_tally *tally);

/* Which segments of a session have lacked words; to be zeroed. */
struct wr_evidence_gone {
    struct wr_arena *arena; /* borrowed */
    bool *is_gone;          /* by the segments' numbers */
    uint32_t cap;
};

/* Tokens of what the user and the instructions of `original` say and the view does not show, of
 * segments that lacked none before. */
WEIR_MUST_USE weir_status wr_evidence_user_tokens_gone(struct wr_evidence_gone *gone,
                                                       const struct wr_transcript *original,
                                                       const struct wr_evidence_at *at,
                                                       const struct wr_evidence_view *view,
                                                       wr_count_fn *count, void *user,
                                                       uint64_t *tokens);

#endif
