/* near.h -- which of many words was meant by one that was mistyped: "did you mean".
 *
 * What is typed and no word at all is compared with each that would do; the nearest one is named,
 * where it is near enough for a slip: a letter too many, too few or wrong (two of them in a word of
 * five letters or more), two letters that changed places, or only the beginning of the word.
 */
#ifndef WR_BASE_NEAR_H
#define WR_BASE_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/span.h"

/* Insertions, deletions and replacements of a letter between the first 64 letters of each;
 * capitals (ASCII) do not count. */
uint32_t wr_near_distance(weir_span a, weir_span b);

struct wr_near {
    weir_span typed; /* borrowed */
    uint32_t distance;
    char text[96]; /* "; did you mean X?", or ";" where nothing is near: what to do follows */
};

struct wr_near wr_near_to(weir_span typed);

/* `what` is not looked at: commands list their words with what they mean (cli/options.h). */
void wr_near_offer(void *near, const char *word, const char *what);

/* Whether one of the words so far is near. */
bool wr_near_is_found(const struct wr_near *near);

/* The same for a sentence that ends there: "; did you mean X?", or "". */
const char *wr_near_end(const struct wr_near *near);

#endif
