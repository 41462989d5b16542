/* answer_note.h -- the calls of an answer in the store, for a server that was started since. */
#ifndef WR_PROXY_ANSWER_NOTE_H
#define WR_PROXY_ANSWER_NOTE_H

#include "proxy/answers.h"
#include "proxy/notes.h"

/* Under the answer's id, and its conversation's. `has_arguments`: with what the calls say, which is
 * for sessions whose originals are in the store too; left out also where it is too long for a note.
 * `notes` may be NULL. */
void wr_answer_note_keep(struct wr_notes *notes, weir_span tenant, weir_span session,
                         const struct wr_calls *calls, bool has_arguments, int64_t now_ms);

/* As wr_answers_find(). */
bool wr_answer_note_find(struct wr_notes *notes, struct wr_arena *arena, weir_span tenant,
                         weir_span id, struct wr_known_answer *known);

#endif
