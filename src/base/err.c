#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *weir_status_text(weir_status status)
{
    switch (status) {
#define STATUS_CASE(name, text) \
    case WEIR_##name:           \
        return text;
        WEIR_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

weir_status wr_fail(struct weir_err *err, weir_status code, size_t at_byte, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    err->at_byte = at_byte;

    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return code;
}

void wr_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "weir: %s:%d: this must hold and does not: %s\n", file, line, condition);
    abort();
}

/* ==== options ==== */

weir_status wr_options_read(void *own, size_t own_bytes, size_t first_bytes, const void *given,
                            struct weir_err *err)
{
    size_t given_bytes = first_bytes;

    memset(own, 0, own_bytes);
    if (!given)
        return WEIR_OK;
    memcpy(&given_bytes, given, sizeof(given_bytes));
    if (!given_bytes)
        given_bytes = first_bytes;
    if (given_bytes < sizeof(given_bytes))
        return wr_fail(err, WEIR_INVALID, 0, "options of %zu bytes: struct_bytes is wrong",
                       given_bytes);
    memcpy(own, given, given_bytes < own_bytes ? given_bytes : own_bytes);
    memcpy(own, &own_bytes, sizeof(own_bytes));
    for (size_t i = own_bytes; i < given_bytes; i++) {
        if (((const unsigned char *)given)[i])
            return wr_fail(err, WEIR_INVALID, 0,
                           "an option at byte %zu that this version of Weir does not have", i);
    }
    return WEIR_OK;
}
