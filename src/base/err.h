/* err.h -- filling in a struct weir_err, and the assertion that stays in release builds. */
#ifndef WR_BASE_ERR_H
#define WR_BASE_ERR_H

#include "weir/status.h"

/* Records the failure in `err` (which may be NULL) and returns `code`, so that a failing
 * function can end with `return wr_fail(err, ...)`. The text is cut at its cap. */
weir_status wr_fail(struct weir_err *err, weir_status code, size_t at_byte, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A wrong program, as opposed to wrong input: stops, in release builds too. */
#define WR_ASSERT(condition) \
    ((condition) ? (void)0 : wr_assert_failed(#condition, __FILE__, __LINE__))

_Noreturn void wr_assert_failed(const char *condition, const char *file, int line);

#endif
