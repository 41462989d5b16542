/* version.h -- which version of libweir a program is compiled for, and which one it runs with.
 *
 * The macros are of the headers, weir_version() is of the library that was loaded. Before 1.0 every
 * minor version may change the interface; a patch version does not.
 */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#include "weir/api.h"

WEIR_BEGIN_DECLS

/* The one place where the version stands: the Makefile reads these three lines. */
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0

/* "major.minor.patch" */
#define WEIR_VERSION_STRING \
    WEIR_VERSION_JOIN_(WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR, WEIR_VERSION_PATCH)
#define WEIR_VERSION_JOIN_(major, minor, patch)  WEIR_VERSION_QUOTE_(major, minor, patch)
#define WEIR_VERSION_QUOTE_(major, minor, patch) #major "." #minor "." #patch

/* For #if: WEIR_VERSION_NUMBER >= 1002003 is 1.2.3 and later. */
#define WEIR_VERSION_NUMBER \
    (WEIR_VERSION_MAJOR * 1000000 + WEIR_VERSION_MINOR * 1000 + WEIR_VERSION_PATCH)

/* "major.minor.patch" of the library in use; a constant. */
WEIR_API const char *weir_version(void);

WEIR_END_DECLS

#endif
