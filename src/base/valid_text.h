/* valid_text.h -- text that every reader of JSON takes.
 *
 * Originals are bytes. What is no UTF-8 in them, lone surrogates included (strict readers refuse
 * those even as escapes), is shown as U+FFFD, one for every byte that begins nothing valid.
 */
#ifndef WR_BASE_VALID_TEXT_H
#define WR_BASE_VALID_TEXT_H

#include "base/arena.h"

/* `text` itself where it is valid, else a copy in `arena`. WEIR_NOMEM, WEIR_LIMIT: the arena's. */
WEIR_MUST_USE weir_status wr_valid_text(struct wr_arena *arena, weir_span text, weir_span *valid,
                                        uint64_t *replaced_count);

#endif
