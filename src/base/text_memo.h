/* text_memo.h -- texts that were made before, remembered by a hash of what they were made from.
 *
 * Forgetting changes nothing but time: a text is a pure function of its key. One owner, one thread
 * at a time. What is found lives until the next wr_text_memo_begin().
 */
#ifndef WR_BASE_TEXT_MEMO_H
#define WR_BASE_TEXT_MEMO_H

#include <stdbool.h>

#include "base/hash.h"

struct wr_text_memo;

/* Holds about `bytes_max`, and forgets everything when it has grown past that. */
WEIR_MUST_USE weir_status wr_text_memo_new(struct wr_text_memo **memo, size_t bytes_max);
void wr_text_memo_free(struct wr_text_memo *memo); /* NULL is fine */

/* Nobody uses what was found before: it may go now. */
void wr_text_memo_begin(struct wr_text_memo *memo);

/* Without a memo (NULL) nothing is found and nothing is kept. */
bool wr_text_memo_find(const struct wr_text_memo *memo, wr_hash128 key, weir_span *text);

/* Keeps a copy. Out of memory: nothing is kept, which is no failure. */
void wr_text_memo_put(struct wr_text_memo *memo, wr_hash128 key, weir_span text);

#endif
