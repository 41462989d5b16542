/* edit.h -- one setting put into a settings file, and taken out again.
 *
 * 1. What the edit does not name stays the bytes that it was: comments, order, odd spacing.
 * 2. Undone on the text it made, an edit gives back what it was made of; undone on a text that was
 *    changed since, or written anew by its program, it takes out the setting and nothing else.
 * 3. A setting that is there with another value is not replaced: it is the user's.
 */
#ifndef WR_LAUNCH_EDIT_H
#define WR_LAUNCH_EDIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

enum { WR_EDIT_KEYS_MAX = 6 };

struct wr_edit {
    /* Of JSON, comments and a comma too many allowed: from the outermost object to the value. "[]"
     * as the last adds `value` to the list there. Ends with NULL. */
    const char *keys[WR_EDIT_KEYS_MAX];
    const char *value; /* JSON */
    /* Of TOML, where keys[0] is NULL: a line `name = value`, the first of the file. */
    const char *name;
    const char *rival; /* another name, with which this one would have no effect; NULL: none */
    bool is_optional;  /* where the user has set it, his stays and nobody minds */
};

/* Appends nothing but the new text to `arena`. *is_there: nothing was to be done, and *after is
 * `text`. WEIR_INVALID: `err` says why it cannot be. */
WEIR_MUST_USE weir_status wr_edit_make(const struct wr_edit *edit, struct wr_arena *arena,
                                       weir_span text, weir_span *after, bool *is_there,
                                       struct weir_err *err);

/* WEIR_NOTFOUND: the setting is not there any more. WEIR_INVALID: it has another value, or none can
 * be there. *after is `text` then. */
WEIR_MUST_USE weir_status wr_edit_undo(const struct wr_edit *edit, struct wr_arena *arena,
                                       weir_span text, weir_span *after, struct weir_err *err);

/* The change as lines with '-' and '+', and one around them. */
void wr_edit_show(struct wr_buf *out, weir_span before, weir_span after);

#endif
