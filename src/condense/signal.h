/* signal.h -- what a condensed text must still say: errors, exit codes, failed tests, places,
 * hunks.
 *
 * 1. A signal is the essence, not the line: its kind, and its text without what varies from run to
 * run (volatile.h). A set holds each distinct signal once; how often it came is not kept.
 * 2. Signals are sought by kind of output: diagnostics in what commands print, places in search
 *    results, headers in diffs, error fields in JSON. A file that was read has none of its own.
 * 3. The lines listed in a set are enough: scanning only them gives the same set. They are the
 * lines where a signal first stands and those without which it could not be read there (the heading
 *    above a result, the message below a panic).
 * 4. A blank line and a line of plain words end any record: with these between them, texts do not
 *    change what is found in each other.
 * 5. Time is linear in the text. No state outlives a scan.
 */
#ifndef WR_CONDENSE_SIGNAL_H
#define WR_CONDENSE_SIGNAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "condense/output_kind.h"

enum wr_signal_kind {
    WR_SIGNAL_CRITICAL,    /* the message of what ends a process or a service */
    WR_SIGNAL_ERROR,       /* a message */
    WR_SIGNAL_WARNING,     /* a message */
    WR_SIGNAL_EXIT,        /* a code, in decimal */
    WR_SIGNAL_FAILED_TEST, /* its name */
    WR_SIGNAL_TOTALS,      /* "3 failed, 10 passed" */
    WR_SIGNAL_LOCATION,    /* "path:line" or "path:line:column" */
    WR_SIGNAL_FRAME,       /* the innermost frame of a stack */
    WR_SIGNAL_DIFF_FILE,   /* the path */
    WR_SIGNAL_DIFF_HUNK,   /* "path -1,3 +1,4" */
    WR_SIGNAL_KINDS
};

struct wr_signal {
    enum wr_signal_kind kind;
    weir_span text;                /* in the arena of the scan */
    uint32_t first_line, end_line; /* [first, end) of its first occurrence, counted from 0 */
    uint64_t hash;
};

struct wr_signal_set {
    struct wr_signal *signals; /* by first occurrence */
    uint32_t count;
    uint32_t *lines; /* see 3; ascending, distinct, counted from 0 */
    uint32_t lines_count;
    struct wr_index index; /* private, as are the two below */
    uint32_t signals_max, lines_max;
};

/* Everything of `set` lives in `arena`; `text` is borrowed for the call. Failure: WEIR_LIMIT where
 * there are more than WR_SIGNALS_MAX, or WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_signal_scan(struct wr_signal_set *set, struct wr_arena *arena,
                                         weir_span text, enum wr_output_kind kind);

/* NULL where the set has no such signal. */
const struct wr_signal *wr_signal_set_find(const struct wr_signal_set *set,
                                           enum wr_signal_kind kind, weir_span text);

struct wr_signal_difference {
    const struct wr_signal
        *missing;                  /* the first one of `original` that `condensed` lacks, or NULL */
    const struct wr_signal *added; /* the first one that only `condensed` has, or NULL */
};

/* Whether both hold the same signals. `difference` may be NULL. */
bool wr_signal_set_equal(const struct wr_signal_set *original,
                         const struct wr_signal_set *condensed,
                         struct wr_signal_difference *difference);

/* Whether line `line` (from 0) is one of those listed. */
bool wr_signal_set_has_line(const struct wr_signal_set *set, uint32_t line);

/* The word for a kind: "critical", "error", ..., "diff hunk". */
const char *wr_signal_kind_text(enum wr_signal_kind kind);

#endif
