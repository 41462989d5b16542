/* correction.h -- whether a user's message says that what was done is wrong.
 *
 * In English, German, French, Spanish, Portuguese, Chinese and Japanese (correction.c has the
 * words), and only where it is said plainly: at the beginning of the message, or in one of a few
 * sentences that mean nothing else. Better to miss one than to see one that is none: a message that
 * merely speaks of errors ("why is this test wrong?") is not a correction.
 */
#ifndef WR_QUALITY_CORRECTION_H
#define WR_QUALITY_CORRECTION_H

#include <stdbool.h>

#include "weir/span.h"

bool wr_is_correction(weir_span message);

#endif
