/* choose.h -- steps that the condensers of printed output take alike, each worth less than the one
 * before it. All of them keep lines of a struct wr_keep while its budget lasts. */
#ifndef WR_CONDENSE_CHOOSE_H
#define WR_CONDENSE_CHOOSE_H

#include "condense/keep.h"

/* Begins: the lines, those with signals, and the tool's notes. Lines that are too long for the
 * budget will be cut. */
WEIR_MUST_USE weir_status wr_choose_begin(struct wr_keep *keep, struct wr_arena *arena,
                                          const struct wr_condense_input *input);

/* Lets only `percent` of what is left of the budget be spent from here on. Returns the budget to
 * put back afterwards. */
size_t wr_choose_share(struct wr_keep *keep, uint32_t percent);

/* Where what belongs to a signal ends. */
enum wr_border {
    WR_BORDER_NONE,
    WR_BORDER_WALL,    /* belongs to nothing */
    WR_BORDER_HEADING, /* begins what is below it */
};

/* Keeps what stands around the signals, up to `before` and `after` lines and over no border (an
 * enum wr_border for each line): first the nearest lines of all signals, then those further away.
 */
WEIR_MUST_USE weir_status wr_choose_context(struct wr_keep *keep, const uint8_t *borders,
                                            uint32_t before, uint32_t after);

/* Keeps lines with words that were sought or that matter now. */
WEIR_MUST_USE weir_status wr_choose_focus(struct wr_keep *keep,
                                          const struct wr_condense_input *input, uint32_t percent);

/* Keeps as many of `lines` (ascending) as the budget allows, spread over all of them. */
void wr_choose_spread(struct wr_keep *keep, const uint32_t *lines, uint32_t count);

#endif
