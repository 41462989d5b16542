/* signal_words.h -- words and phrases in the middle of a line that say something went wrong. */
#ifndef WR_CONDENSE_SIGNAL_WORDS_H
#define WR_CONDENSE_SIGNAL_WORDS_H

#include "condense/signal.h"

struct wr_signal_words {
    bool found;
    enum wr_signal_kind kind; /* CRITICAL or ERROR */
};

/* "0 failed", "no errors", `error_handler`, "src/errors.go" are not found. */
struct wr_signal_words wr_signal_words_find(weir_span text);

/* "a.b.SomeError: message", "java.lang.Exception", "Caused by: ...", "Traceback (most ...": a line
 * that heads or ends a stack. */
bool wr_signal_is_exception(weir_span text);
enum wr_signal_kind wr_signal_exception_kind(
    weir_span text); /* ERROR or, for "SomeWarning: ", WARNING */

/* Whether the line is more likely a line of a program than a message of one. */
bool wr_signal_is_code(weir_span text);

#endif
