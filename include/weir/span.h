/* span.h -- borrowed bytes: a pointer and a length, never NUL-terminated. */
#ifndef WEIR_SPAN_H
#define WEIR_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "weir/api.h"

WEIR_BEGIN_DECLS

typedef struct weir_span {
    const char *ptr;
    size_t len;
} weir_span;

/* A half-open byte range [start, end) of a body. Bodies are at most 64 MiB, so 32 bits do. */
typedef struct weir_range {
    uint32_t start, end;
} weir_range;

WEIR_END_DECLS

#endif
