/* os_error.h -- what the operating system refused, as a store says it. */
#ifndef WR_STORE_OS_ERROR_H
#define WR_STORE_OS_ERROR_H

#include "weir/store.h"

/* `what` could not be done for the reason in errno: fills `trouble` and `err` (which may be NULL),
 * and gives WEIR_LIMIT where there is no room, WEIR_IO otherwise. */
weir_status wr_os_error(const char *what, weir_trouble *trouble, struct weir_err *err);

#endif
