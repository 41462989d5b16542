/* condense.h -- one tool output, shorter: the lines that matter stay as they are.
 *
 *     struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
 *     struct weir_condensed condensed;
 *     options.command = (weir_span){"make test", 9};
 *     options.budget_bytes = 2000;
 *     if (weir_condense(text, &options, &condensed, &err) == WEIR_OK) {
 *         fwrite(condensed.text.ptr, 1, condensed.text.len, stdout);
 *         weir_condensed_release(&condensed);
 *     }
 *
 * 1. Lines are chosen, not rewritten; where some were left out stands a line in brackets that says
 *    which.
 * 2. Every error, exit code, failed test, place and hunk header stays, whatever the budget.
 * 3. The result is never longer than the text. The same input gives the same bytes, everywhere.
 *
 * Calls share nothing: any number of threads may condense at once. Nothing is stored: whoever wants
 * the rest back keeps the text (weir_store_commit(), weir_recall_select()).
 */
#ifndef WEIR_CONDENSE_H
#define WEIR_CONDENSE_H

#include "weir/recall.h"

WEIR_BEGIN_DECLS

/* What is known of the call that gave the text; all of it may be empty, and the text is then read
 * for what it is. */
struct weir_condense_options {
    size_t struct_bytes; /* sizeof, by WEIR_CONDENSE_OPTIONS_INIT; see weir/api.h */
    weir_span tool;      /* "Read", "Bash", "Grep", ... */
    weir_span command;   /* the command line that printed it */
    weir_span path;      /* the file that was read */
    weir_span query;     /* what was sought */
    weir_span focus;     /* words that matter now: lines that have them are kept first */
    size_t budget_bytes; /* at most a tenth more, unless what must stay takes more; 0: a quarter of
                          * the text, and at least 2,000 */
};
#define WEIR_CONDENSE_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_condense_options)

struct weir_condensed {
    weir_span text;   /* the caller's own bytes where is_same */
    const char *kind; /* what it was taken for: "process", "file", "log", "test", ...; a constant */
    bool is_same;     /* nothing was left out */
    uint64_t lines_total;           /* of the text that came in */
    const struct weir_lines *lines; /* those that were kept, from 1, ascending */
    size_t lines_count;
    void *owned; /* what text and lines are part of */
};

/* `text` must stay where it is until the release. Failure: WEIR_NOMEM, WEIR_LIMIT (too large), and
 * WEIR_INVALID of the options. `options` and `err` may be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_condense(weir_span text,
                                                 const struct weir_condense_options *options,
                                                 struct weir_condensed *condensed,
                                                 struct weir_err *err);
WEIR_API void weir_condensed_release(struct weir_condensed *condensed);

WEIR_END_DECLS

#endif
