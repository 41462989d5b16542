/* signal_level.h -- how grave a line says it is: "error:", "[WARN]", "FATAL", "npm ERR!". */
#ifndef WR_CONDENSE_SIGNAL_LEVEL_H
#define WR_CONDENSE_SIGNAL_LEVEL_H

#include "condense/signal.h"

struct wr_signal_level {
    bool found;
    bool note;                /* a word such as "note:" that says it is less than a warning */
    enum wr_signal_kind kind; /* CRITICAL, ERROR or WARNING */
    weir_span message;        /* behind the word */
};

/* Of the word that begins `text`. "error: none" and the like say that there is none. */
struct wr_signal_level wr_signal_level_read(weir_span text);

/* Without the lines some tools draw around a message. */
weir_span wr_signal_without_frame(weir_span text);

/* Without what logs put in front: times, hosts, process ids, names in brackets. What is left begins
 * with the level where the line has one. */
weir_span wr_signal_without_prefix(weir_span text);

#endif
