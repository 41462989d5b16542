/* location.h -- places in files as tools write them: "a/b.c:12:3", "a.ts(12,3)", "line 12 of ...".
 */
#ifndef WR_CONDENSE_LOCATION_H
#define WR_CONDENSE_LOCATION_H

#include <stdbool.h>

#include "weir/span.h"

struct wr_location {
    weir_span path, line, column; /* column empty where none was given */
    size_t end;                   /* offset behind it in the text it was read from */
};

/* Reads the place that begins at `at`: "path:12", "path:12:3", "path:12-14", "path(12,3)",
 * "path(12)". The path must look like one: a dot with an extension, a slash, or a name such as
 * Makefile. */
bool wr_location_read(weir_span text, size_t at, struct wr_location *location);

/* The first place anywhere in `text` at or after `from`. */
bool wr_location_find(weir_span text, size_t from, struct wr_location *location);

/* Whether all of `text` is a path without white space: a slash or an extension in it. */
bool wr_location_is_path(weir_span text);

#endif
