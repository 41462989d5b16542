/* store_host.h -- for hosts that keep originals and marks themselves: a store of their own.
 *
 * A host's struct begins with a struct weir_store, whose `ops` it sets, all else 0; a pointer to
 * that is a store for every function of libweir. Only those who write a store include this header:
 * for those who use one the struct is closed, and weir_store_trouble() and its like read it.
 */
#ifndef WEIR_STORE_HOST_H
#define WEIR_STORE_HOST_H

#include "weir/store.h"

WEIR_BEGIN_DECLS

/* What a host implements. It is called through the functions of weir/store.h only: they check the
 * arguments, compute the hashes and verify what comes back, so an implementation only keeps. Each
 * function sets store->trouble when it fails, and fills `err` where that is not NULL. */
struct weir_store_ops {
    size_t struct_bytes; /* sizeof, as of options (weir/api.h); functions beyond it are not there */
    /* artifacts[].hash is filled in. On a collision: artifacts[].collides, and nothing is kept. */
    weir_status (*commit)(struct weir_store *store, struct weir_batch *batch, struct weir_err *err);
    /* Fills text and hash, or gives WEIR_NOTFOUND and says in `miss` why. */
    weir_status (*get)(struct weir_store *store, const struct weir_lookup *lookup,
                       struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err);
    weir_status (*marks)(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                         size_t keys_count, weir_mark_fn *found, void *user, struct weir_err *err);
    weir_status (*pin)(struct weir_store *store, weir_span tenant, weir_span session,
                       struct weir_pin *pin, struct weir_err *err);
    weir_status (*touch)(struct weir_store *store, weir_span tenant, weir_span session,
                         int64_t used_ms, struct weir_err *err);
    weir_status (*gc)(struct weir_store *store, const struct weir_gc_options *options,
                      struct weir_gc_report *report, struct weir_err *err);
    /* With an empty session all of the tenant, with both empty everything. No other function is
     * called with an empty tenant. */
    weir_status (*purge)(struct weir_store *store, weir_span tenant, weir_span session,
                         struct weir_gc_report *report, struct weir_err *err);
    weir_status (*verify)(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                          struct weir_verify_report *report, struct weir_err *err);
    weir_status (*stats)(struct weir_store *store, struct weir_store_stats *stats,
                         struct weir_err *err);
    void (*close)(struct weir_store *store);
    /* Sets is_there[], which is all false, for what get() would bring back whole. May be NULL: then
     * get() is asked for one after the other. */
    weir_status (*has)(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                       size_t hashes_count, bool *is_there, struct weir_err *err);
    /* Whether the store is where it was, or with `writes` whether something could be kept now.
     * Changes nothing. May be NULL: it is. */
    weir_status (*probe)(struct weir_store *store, bool writes, struct weir_err *err);
    /* A number for what the store is kept in: another one when that was replaced. May be NULL. */
    uint64_t (*place)(const struct weir_store *store);
    /* weir_store_begin(). May be NULL: everything is read from what is kept. */
    weir_status (*begin)(struct weir_store *store, weir_span tenant, weir_span session,
                         struct weir_err *err);
    /* Several pins at once. May be NULL: then pin() is asked for one after the other. */
    weir_status (*pins)(struct weir_store *store, weir_span tenant,
                        const struct weir_pin_query *queries, size_t queries_count,
                        weir_pin_fn *found, void *user, struct weir_err *err);
};

/* The head of every implementation's own struct. */
struct weir_store {
    const struct weir_store_ops *ops;
    weir_trouble trouble; /* the host sets it when a function fails */
    /* These count, and only go up; see weir_store_hash_failures() and weir_store_replacements(). */
    uint64_t hash_failures_count;
    uint64_t replaced_count; /* by the host, where a store can be replaced under it */
};

WEIR_END_DECLS

#endif
