/* quality_note.h -- what is remembered of a prompt as the bytes of a note: hashes and figures, so
 * that a server that was started since can judge the next one of its conversation.
 */
#ifndef WR_PROXY_QUALITY_NOTE_H
#define WR_PROXY_QUALITY_NOTE_H

#include "base/arena.h"
#include "base/buf.h"
#include "quality/bust.h"

/* Of a very long prompt only the front is kept. */
void wr_prompt_note_encode(const struct wr_bust_sent *sent, struct wr_buf *out);

/* Blocks are in `arena`; sent->prompt is `prompt`. False: the bytes are no such note, or there is
 * no memory. */
bool wr_prompt_note_decode(struct wr_arena *arena, weir_span bytes, struct wr_prompt *prompt,
                           struct wr_bust_sent *sent);

void wr_chain_note_encode(const struct wr_bust_chain *chain, struct wr_buf *out);
bool wr_chain_note_decode(weir_span bytes, struct wr_bust_chain *chain);

#endif
