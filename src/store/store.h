/* store.h -- for whoever serves from a store and watches over it (weir/store_host.h has the same as
 * functions of a host). */
#ifndef WR_STORE_STORE_H
#define WR_STORE_STORE_H

#include "weir/store.h"

/* Whether the store is there, or with `writes` whether something could be kept now. */
WEIR_MUST_USE weir_status wr_store_probe(struct weir_store *store, bool writes,
                                         struct weir_err *err);

/* A number for what it is kept in: another file, another number. 0: it has none. */
uint64_t wr_store_place(const struct weir_store *store);

#endif
