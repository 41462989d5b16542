/* handle.h -- the short name of a text that was taken out: `wr_` and 20 lower-case hex digits.
 *
 * The digits are the first 80 bits of the SHA-256 of the text, so a handle is known before the text
 * is stored, and one text has the same handle everywhere.
 */
#ifndef WEIR_HANDLE_H
#define WEIR_HANDLE_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

enum {
    WEIR_HANDLE_BYTES = 10,      /* of the hash */
    WEIR_HANDLE_TEXT_BYTES = 23, /* as text, without a NUL */
};

typedef struct weir_handle {
    unsigned char bytes[WEIR_HANDLE_BYTES];
} weir_handle;

/* The handle of `text`. Fails only with WEIR_NOMEM. */
WEIR_API WEIR_MUST_USE weir_status weir_handle_of(weir_span text, weir_handle *handle);

/* Writes the text form and a NUL. */
WEIR_API void weir_handle_format(weir_handle handle, char text[WEIR_HANDLE_TEXT_BYTES + 1]);

/* True when all of `text` is a handle. */
WEIR_API bool weir_handle_parse(weir_span text, weir_handle *handle);

/* Where the first handle at or after `from` stands; SIZE_MAX when there is none. A handle stands
 * alone: with a letter, a digit or '_' directly before or after it, it is part of some other word.
 */
WEIR_API size_t weir_handle_find(weir_span text, size_t from, weir_handle *handle);

WEIR_END_DECLS

#endif
