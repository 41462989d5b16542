/* words.h -- what a session is about, in its user's words. */
#ifndef WR_TRAFFIC_WORDS_H
#define WR_TRAFFIC_WORDS_H

#include "base/arena.h"
#include "store/ledger.h"

/* The first words that the user said in a request that was kept, on one line, cut, in `arena`;
 * valid UTF-8. Empty: there are none. */
weir_span wr_first_words(const struct wr_ledger_row *said, struct wr_arena *arena);

#endif
