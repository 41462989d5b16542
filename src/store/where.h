/* where.h -- where a store is: a directory, or the address of a database.
 */
#ifndef WR_STORE_WHERE_H
#define WR_STORE_WHERE_H

#include <stdbool.h>

enum wr_where {
    WR_WHERE_DIRECTORY,
    WR_WHERE_POSTGRES,
    WR_WHERE_UNKNOWN, /* a scheme that is none of ours */
};

enum wr_where wr_where(const char *store);

enum { WR_WHERE_SHOWN_BYTES = 512 };

/* Writes it as it may be shown, without a password, and returns `shown`. */
const char *wr_where_shown(const char *store, char shown[WR_WHERE_SHOWN_BYTES]);

#endif
