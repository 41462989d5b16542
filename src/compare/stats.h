/* stats.h -- how far apart two arms are, and how sure that is.
 *
 * An arm is a list of units that were drawn by chance: runs of one task, or sessions of many. Each
 * unit has a quantity (tokens, money, failed edits) and a size (1 for a run; tasks of a session),
 * and the arm's figure is the quantity by size, sum by sum. That is a ratio of two sums over units
 * that are independent of each other while what happens inside one is not, so its error is taken
 * over units (linearised: the residuals of quantity - figure x size), never over single events.
 *
 * 1. Two arms of independent units are compared by Welch's t: their spread may differ, and so may
 *    their numbers, as in a holdout of 10 %. The difference in percent is taken on the logarithm,
 *    where the error of a ratio is nearly symmetric and no interval reaches below -100 %.
 * 2. Pairs (one task, both ways) are compared in percent, by leaving out each pair once; the
 *    difference is that of the first's mean.
 * 3. Shares (checks that passed) are compared by Newcombe's hybrid of two Wilson intervals, which
 *    holds its promise with few units and at 0 % and 100 %, where the textbook's does not.
 * 4. Nothing is said of fewer units or events than the intervals were tried with.
 *
 * Coverage of each is tried by simulation in stats_test.c. Percentile intervals of a bootstrap were
 * tried too: of the ratio of two skewed means, with five or ten units, they cover 89 %.
 */
#ifndef WR_COMPARE_STATS_H
#define WR_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over the units of one arm. Zeroed: none yet. */
struct wr_arm {
    uint64_t count;
    double quantity, size;                    /* sums, */
    double quantity_2, size_2, quantity_size; /* of squares and products */
};

void wr_arm_add(struct wr_arm *arm, double quantity, double size);
double wr_arm_figure(const struct wr_arm *arm); /* 0: it has no size */

enum wr_verdict {
    WR_VERDICT_TOO_FEW, /* nothing can be said */
    WR_VERDICT_UNKNOWN, /* the interval holds "no difference" */
    WR_VERDICT_LESS,    /* the second arm's figure is lower, */
    WR_VERDICT_MORE,    /* or higher */
};

const char *wr_verdict_name(enum wr_verdict verdict);

/* The second arm against the first, at 95 %. */
struct wr_contrast {
    double first, second;
    double difference, low, high;              /* second - first */
    double percent, percent_low, percent_high; /* of the first; where has_percent */
    bool has_percent;
    enum wr_verdict verdict;
    uint64_t needed_count; /* units more, at the present shares, to tell 5 % apart with a power of
                            * 80 %, and to say anything at all; 0: there are enough. Where
                            * has_needed */
    bool has_needed;
};

/* How many units each arm must have before anything is said, and how many events both together.
 * `events_least` 0: the quantity is no count of rare events. */
struct wr_least {
    uint64_t units, events;
};

struct wr_contrast wr_contrast_arms(const struct wr_arm *first, const struct wr_arm *second,
                                    struct wr_least least);

/* Pairs: the same task both ways. `first` and `second` have `count` values each. */
struct wr_contrast wr_contrast_pairs(const double *first, const double *second, size_t count,
                                     uint64_t least);

/* `hits` of `count` units in each arm. */
struct wr_contrast wr_contrast_shares(uint64_t first_hits, uint64_t first_count,
                                      uint64_t second_hits, uint64_t second_count, uint64_t least);

/* The value below which Student's t with `freedom` degrees is in `share` of cases; above one half.
 */
double wr_t_quantile(double share, double freedom);

/* ---- chance that can be had again ---- */

struct wr_chance {
    uint64_t state;
};

uint64_t wr_chance_next(struct wr_chance *chance);
uint64_t wr_chance_below(struct wr_chance *chance, uint64_t bound); /* 0 to bound - 1 */

#endif
