#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
