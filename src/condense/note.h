/* note.h -- what a tool says of a run beside what the command printed: exit code, time, process id,
 * what was cut off and where all of it is.
 *
 * Such lines are short, nothing else says what they say, and losing a process id or a path cannot
 * be made good. They are sought at both ends of a text, where tools put them; marks of a cut in the
 * middle are sought everywhere.
 */
#ifndef WR_CONDENSE_NOTE_H
#define WR_CONDENSE_NOTE_H

#include <stdbool.h>

#include "base/buf.h"
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

/* ---- gaps ----
 *
 * The line that stands where lines of a text were left out.
 *
 *   [... 80 lines left out: 41-120]
 *   [... 1 line left out: 7]
 *   [... 98 parts left out of this line]
 *   [... 12 lines left out of what was shown]
 *
 * It carries no signal, and the scan for signals passes over it as if it were not there, so that
 * what stands behind it is read in the light of what stands before it.
 */

/* Appends the line with its line end: `count` lines (at least one) from number `first` on. */
void wr_gap_write(struct wr_buf *out, uint64_t first, uint64_t count);

/* The same for `count` parts of one line that is written part by part. */
void wr_gap_write_parts(struct wr_buf *out, uint64_t count);

/* The same for `count` lines of a screen, which have no numbers in the text. */
void wr_gap_write_shown(struct wr_buf *out, uint64_t count);

/* Whether `line`, with or without its line end, is such a line. */
bool wr_gap_is(weir_span line);

#endif
