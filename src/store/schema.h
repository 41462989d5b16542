/* schema.h -- the tables of a store, and how one of an older version becomes one of ours.
 *
 * The version is in the file's header (user_version), and so is the mark by which a store is told
 * from any other SQLite file (application_id). docs/store-format.md describes the tables.
 */
#ifndef WR_STORE_SCHEMA_H
#define WR_STORE_SCHEMA_H

#include "store/db.h"

/* A row brings a store of version `index` to version `index + 1`; the first makes the tables. */
struct wr_schema {
    const char *const *steps;
    uint32_t steps_count; /* the version that this program knows */
};

extern const struct wr_schema wr_schema_current;

/* Makes, upgrades or accepts the store behind `db`. One that is newer, or not ours, is an error and
 * nothing of it is touched. */
WEIR_MUST_USE weir_status wr_schema_prepare(struct wr_db *db, const struct wr_schema *schema,
                                            weir_trouble *trouble, struct weir_err *err);

#endif
