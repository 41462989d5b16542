/* err.h -- filling in a struct weir_err, the assertion that stays in release builds, and options of
 * programs that were compiled with the headers of another version.
 */
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

/* ==== options ==== */

/* Every public struct of options begins with `size_t struct_bytes`, the size it has in the headers
 * of the caller. The library copies it into its own, so that
 * 1. members the caller's headers lack are 0, which is the default of every option;
 * 2. members that only the caller's headers have must be 0. Otherwise the caller asks for something
 *    that this library does not know, and gets WEIR_INVALID rather than silence;
 * 3. 0 is the size that the struct had in version 0.1.0, in every later version too. It cannot be
 *    the size of the library's headers: they may be newer than the caller's.
 *
 * Whoever adds a member after 0.1.0 adds it at the end, makes the struct larger by it (a bool in
 * the padding would be read from bytes that an older caller never set), leaves no new padding, and
 * gives wr_options_read() the offset of the first such as `first_bytes`, in place of the size that
 * WR_OPTIONS_READ() gives.
 */

/* Fills `own`, of `own_bytes`, from `given` (NULL: all defaults). Failure is WEIR_INVALID. */
WEIR_MUST_USE weir_status wr_options_read(void *own, size_t own_bytes, size_t first_bytes,
                                          const void *given, struct weir_err *err);

#define WR_OPTIONS_READ(own, given, err) \
    wr_options_read(own, sizeof(*(own)), sizeof(*(own)), given, err)

#endif
