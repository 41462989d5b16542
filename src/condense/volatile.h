/* volatile.h -- the parts of a message that differ from run to run, replaced by fixed marks.
 *
 * 1. Two texts that differ only in times, durations, process ids, addresses, hashes, names made up
 *    for temporary files, counters, white space or colour are written alike.
 * 2. Writing what was written changes nothing.
 * 3. Numbers that carry meaning stay: lines and columns, expected and actual values, exit codes.
 */
#ifndef WR_CONDENSE_VOLATILE_H
#define WR_CONDENSE_VOLATILE_H

#include "weir/span.h"

/* Offset behind the escape that begins at `at` with an ESC: CSI, OSC, or ESC and the byte behind
 * it. None reaches over a control byte, so that what is stripped holds no line end. */
size_t wr_volatile_escape_end(weir_span text, size_t at);

/* Copies `text` without terminal escapes into `out`, which has room for text.len bytes; returns the
 * bytes written. Every line end stays. */
size_t wr_volatile_strip_escapes(char *out, weir_span text);

/* Writes `text`, which has no terminal escapes, at most `out_bytes_max` bytes of it (cut between
 * characters); returns the bytes written. */
size_t wr_volatile_write(char *out, size_t out_bytes_max, weir_span text);

/* Bytes of the date, time or epoch that begins `text`; 0 where none does. */
size_t wr_volatile_time(weir_span text);

/* Bytes of the duration that begins `text` ("12ms", "1m3.5s", "0.1 seconds"); 0 where none does. */
size_t wr_volatile_duration(weir_span text);

#endif
