/* note.h -- what a tool says of a run beside what the command printed: exit code, time, process id,
 * what was cut off and where all of it is.
 *
 * Such lines are short, nothing else says what they say, and losing a process id or a path cannot
 * be made good. They are sought at both ends of a text, where tools put them; marks of a cut in the
 * middle are sought everywhere.
 */
#ifndef WR_CONDENSE_NOTE_H
#define WR_CONDENSE_NOTE_H

#include "condense/keep.h"

/* Whether a line at either end of a text is one the tool wrote. */
bool wr_note_is(weir_span line);

/* Whether a line says that something was left out beside it, wherever it stands. */
bool wr_note_is_cut(weir_span line);

/* Keeps, of any kind of output, the notes at both ends without which more of it cannot be had: the
 * id of a process that still runs, the file with all of the output. */
void wr_note_keep_ways(struct wr_keep *keep);

/* Keeps all notes of the text, whatever they cost. */
void wr_note_keep(struct wr_keep *keep);

#endif
