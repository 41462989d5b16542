/* status.h -- the one result type of libweir, and the detail that may come with it. */
#ifndef WEIR_STATUS_H
#define WEIR_STATUS_H

#include <stddef.h>

#include "weir/api.h"

WEIR_BEGIN_DECLS

/* Code and text live on one line, so neither can be added without the other. */
#define WEIR_STATUS_MAP(X)                          \
    X(OK, "ok")                                     \
    X(NOMEM, "out of memory")                       \
    X(LIMIT, "a configured limit was reached")      \
    X(SYNTAX, "input is not well formed")           \
    X(INVALID, "well formed, but not allowed here") \
    X(NOTFOUND, "no such thing")                    \
    X(IO, "the operating system refused an operation")

typedef enum weir_status {
#define WEIR_STATUS_ENUM(name, text) WEIR_##name,
    WEIR_STATUS_MAP(WEIR_STATUS_ENUM)
#undef WEIR_STATUS_ENUM
} weir_status;

enum { WEIR_ERR_TEXT_BYTES = 256 };

/* What went wrong and where. Filled on failure only; pass NULL where it is not wanted. */
struct weir_err {
    weir_status code;
    size_t at_byte; /* offset in the input that was given */
    char text[WEIR_ERR_TEXT_BYTES];
};

WEIR_API const char *weir_status_text(weir_status status);

WEIR_END_DECLS

#endif
