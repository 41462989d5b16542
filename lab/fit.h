/* fit.h -- odds (policy/odds.h) fitted from recorded sessions: how often a result that was cut to
 * so many tokens turns out to have been too short.
 *
 * Every result over 300 tokens is condensed to each of wr_odds_cuts, one policy each, and judged by
 * what later answers used of it (lab/misses.h). Few results say little, so each share leans towards
 * that of all classes of the same size, as if ten of those had been seen too. Samples belong to a
 * group, a repository, and a fit may leave one group out.
 */
#ifndef WR_LAB_FIT_H
#define WR_LAB_FIT_H

#include "lab/misses.h"
#include "policy/odds.h"

#define WR_FIT_NO_GROUP UINT32_MAX

struct wr_fit_sample {
    uint32_t group;
    uint64_t tokens;
    enum wr_odds_class class;
    bool is_far;
    uint32_t next[WR_ODDS_CUTS_COUNT]; /* strings that the next answer missed */
    bool ever[WR_ODDS_CUTS_COUNT], blind[WR_ODDS_CUTS_COUNT];
};

struct wr_fit { /* to be zeroed */
    struct wr_fit_sample *samples;
    uint32_t count, cap;
};

void wr_fit_release(struct wr_fit *fit);

/* The policies that a session must be run under, in this order, and their YAML. */
const char *const *wr_fit_policies(uint32_t *count);
weir_span wr_fit_yaml(void);

/* Takes in the results of a session that was run under those policies. */
WEIR_MUST_USE weir_status wr_fit_add(struct wr_fit *fit, const struct wr_misses *misses,
                                     uint32_t group);

/* Fits the rows; settings (turns_left and so on) stay as they are in `odds`. Samples of group
 * `but` are left out. */
void wr_fit_odds(const struct wr_fit *fit, uint32_t but, struct wr_odds *odds);

/* The rows as they stand in data/odds.tsv. */
void wr_fit_write(const struct wr_odds *odds, struct wr_buf *out);

#endif
