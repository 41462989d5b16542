/* The store in PostgreSQL: opening it, its schema, closing it.
 *
 *   load libpq -> connect -> which schema? -> older or none: bring it up to date, one node at a
 * time
 *                                          -> newer: refused, nothing is touched
 *
 * The steps of the schema are files of SQL (data/postgres), each taken with all that are missing in
 * one transaction under an advisory lock, because the nodes of a fleet start together. A database
 * that holds other things is fine: all of Weir's is in the schema `weir`. */
#include "store/pg.h"

#include <unistd.h>

#include "base/embed.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"

WR_EMBED(wr_pg_schema_1, "data/postgres/1.sql");
WR_EMBED(wr_pg_schema_2, "data/postgres/2.sql");
WR_EMBED(wr_pg_schema_3, "data/postgres/3.sql");
WR_EMBED(wr_pg_schema_4, "data/postgres/4.sql");
WR_EMBED(wr_pg_schema_5, "data/postgres/5.sql");

/* SERVED_VERSION: nodes that know this version of the schema, and none older, may use it still. */
enum { SCHEMA_VERSION = 5, SERVED_VERSION = 1, ARRAY_BYTES_MAX = 1024 * 1024 * 1024 - 1 };

/* ---- what the parts share ---- */

struct wr_buf *wr_pg_array_of(struct wr_pg *pg, int number, enum wr_pg_type type, size_t count)
{
    struct wr_buf *array = &pg->arrays[number];

    if (wr_buf_status(array)) {
        wr_buf_release(array);
        wr_buf_init(array, ARRAY_BYTES_MAX);
    }
    wr_pg_array(array, type, count);
    return array;
}

void wr_pg_give_array(struct wr_pg *pg, struct wr_pg_args *args, int number)
{
    weir_status status = wr_buf_status(&pg->arrays[number]);
    if (status)
        wr_pg_fail(&pg->link, status, WEIR_TROUBLE_NONE);
    wr_pg_bytes(args, wr_buf_view(&pg->arrays[number]));
}

void wr_pg_reset_text(struct wr_pg *pg)
{
    if (!wr_buf_status(&pg->text)) {
        wr_buf_reset(&pg->text);
        return;
    }
    wr_buf_release(&pg->text);
    wr_buf_init(&pg->text, WR_STORE_ARTIFACT_BYTES_MAX);
}

weir_status wr_pg_end(struct wr_pg *pg, struct weir_err *err)
{
    return wr_pg_status(&pg->link, &pg->store.trouble, err);
}

/* ---- the schema ---- */

/* 0: there is none. */
static int64_t schema_version(struct wr_pg_link *link)
{
    if (!wr_pg_ask_number(link, "SELECT count(*) FROM pg_class c JOIN pg_namespace n"
                                " ON n.oid = c.relnamespace WHERE n.nspname = 'weir'"
                                " AND c.relname = 'schema_version'"))
        return 0;
    return wr_pg_ask_number(link, "SELECT version::bigint FROM weir.schema_version");
}

/* Statements of a file, and what is around them, as one: several in one string are a transaction,
 * which only the simple protocol takes, so they are the body of an anonymous block. Whoever waited
 * for the lock finds the steps taken. */
static void upgrade(struct wr_pg_link *link)
{
    const weir_span steps[SCHEMA_VERSION] = {
        WR_EMBEDDED(wr_pg_schema_1), WR_EMBEDDED(wr_pg_schema_2), WR_EMBEDDED(wr_pg_schema_3),
        WR_EMBEDDED(wr_pg_schema_4), WR_EMBEDDED(wr_pg_schema_5)};
    struct wr_buf sql;

    wr_buf_init(&sql, 1024 * 1024);
    wr_buf_text(&sql, "DO $weir$ BEGIN"
                      " PERFORM pg_advisory_xact_lock(2003134834);"
                      " CREATE SCHEMA IF NOT EXISTS weir;"
                      " IF to_regclass('weir.schema_version') IS NULL THEN"
                      " CREATE TABLE weir.schema_version(version int NOT NULL);"
                      " INSERT INTO weir.schema_version VALUES(0); END IF;");
    for (int i = 0; i < SCHEMA_VERSION; i++) {
        wr_buf_printf(
            &sql, " IF (SELECT version FROM weir.schema_version) < %d THEN EXECUTE $step$", i + 1);
        wr_buf_append(&sql, steps[i]);
        wr_buf_printf(&sql, "$step$; UPDATE weir.schema_version SET version = %d; END IF;", i + 1);
    }
    wr_buf_printf(&sql,
                  " UPDATE weir.schema_version SET serves = %d WHERE serves < %d AND version = %d;"
                  " END $weir$",
                  (int)SERVED_VERSION, (int)SERVED_VERSION, (int)SCHEMA_VERSION);
    wr_buf_byte(&sql, '\0');
    if (wr_buf_status(&sql))
        wr_pg_fail(link, wr_buf_status(&sql), WEIR_TROUBLE_NONE);
    else
        (void)wr_pg_run(link, sql.bytes, NULL);
    wr_buf_release(&sql);
}

/* A node of a later release has been here. Its schema may still serve this one: then the nodes of a
 * fleet are upgraded one by one. */
static void check_newer(struct wr_pg_link *link, int64_t version)
{
    int64_t serves = wr_pg_ask_number(link, "SELECT serves::bigint FROM weir.schema_version");

    if (link->status || serves <= SCHEMA_VERSION)
        return;
    wr_pg_fail(link, WEIR_INVALID, WEIR_TROUBLE_NEWER);
    (void)wr_fail(&link->err, WEIR_INVALID, 0,
                  "the store has schema %lld, which serves %lld and newer, and this Weir knows %d:"
                  " use a newer Weir",
                  (long long)version, (long long)serves, (int)SCHEMA_VERSION);
}

static void prepare(struct wr_pg *pg)
{
    struct wr_pg_link *link = &pg->link;
    int64_t version = schema_version(link);

    if (link->status)
        return;
    if (version > SCHEMA_VERSION)
        check_newer(link, version);
    if (!version && pg->must_exist)
        wr_pg_fail(link, WEIR_NOTFOUND, WEIR_TROUBLE_MISSING);
    if (!link->status && version < SCHEMA_VERSION) {
        wr_pg_extend(link, WR_STORE_KEEP_MS); /* another node may be at it */
        upgrade(link);
    }
    if (!link->status && version < SCHEMA_VERSION)
        (void)wr_pg_run(link, "SELECT weir.make_days_1((extract(epoch FROM now()) * 1000)::bigint)",
                        NULL);
    pg->place = (uint64_t)wr_pg_ask_number(link, "SELECT id FROM weir.place");
}

/* ---- opening ---- */

static weir_status probe(struct weir_store *store, bool writes, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);

    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link, writes ? "UPDATE weir.place SET id = id" : "SELECT id FROM weir.place",
              NULL);
    if (writes)
        wr_pg_wrote(&pg->link);
    if (!writes && wr_pg_rows(&pg->link))
        pg->place = (uint64_t)wr_pg_get_number(&pg->link, 0, 0);
    return wr_pg_end(pg, err);
}

static uint64_t place(const struct weir_store *store)
{
    return store ? ((const struct wr_pg *)store)->place : 0;
}

static void close_store(struct weir_store *store)
{
    struct wr_pg *pg = wr_pg_of(store);

    wr_pg_group_leave(pg->group);
    wr_pg_link_close(&pg->link);
    wr_pg_known_release(&pg->known);
    free(pg->asked);
    wr_packer_release(&pg->packer);
    wr_buf_release(&pg->text);
    wr_buf_release(&pg->other_name);
    for (int i = 0; i < WR_PG_ARRAYS; i++)
        wr_buf_release(&pg->arrays[i]);
    wr_arena_release(&pg->arena);
    free(pg);
}

static const struct weir_store_ops ops = {
    .struct_bytes = sizeof(ops),
    .commit = wr_pg_commit,
    .get = wr_pg_get_artifact,
    .marks = wr_pg_marks,
    .pin = wr_pg_pin,
    .touch = wr_pg_touch,
    .gc = wr_pg_gc,
    .purge = wr_pg_purge,
    .verify = wr_pg_verify,
    .stats = wr_pg_stats,
    .close = close_store,
    .has = wr_pg_has,
    .probe = probe,
    .place = place,
    .begin = wr_pg_begin,
};

/* Tickets of two nodes, or of one that was started again, may not be the same. */
static uint64_t make_seed(const struct wr_pg *pg)
{
    struct {
        const struct wr_pg *at;
        int64_t pid, time[2];
    } what = {.at = pg, .pid = getpid()};
    (void)wr_os_random(what.time, sizeof(what.time));
    return wr_hash64((weir_span){(const char *)&what, sizeof(what)});
}

weir_status wr_pg_open(const char *url, const struct weir_store_options *options,
                       struct weir_store **store, weir_trouble *trouble, struct weir_err *err)
{
    struct weir_store_options own;
    weir_trouble ignored;
    weir_status status = WR_OPTIONS_READ(&own, options, err);

    if (!trouble)
        trouble = &ignored;
    *trouble = WEIR_TROUBLE_NONE;
    if (status)
        return status;
    struct wr_pg *pg = calloc(1, sizeof(*pg));
    if (!pg)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the store");
    pg->store.ops = &ops;
    pg->must_exist = own.must_exist;
    pg->seed = make_seed(pg);
    wr_buf_init(&pg->text, WR_STORE_ARTIFACT_BYTES_MAX);
    wr_buf_init(&pg->other_name, WR_STORE_NAME_BYTES_MAX);
    for (int i = 0; i < WR_PG_ARRAYS; i++)
        wr_buf_init(&pg->arrays[i], ARRAY_BYTES_MAX);
    wr_arena_init(&pg->arena, WR_ARENA_BYTES_MAX);
    status =
        wr_pg_link_open(&pg->link, url, own.busy_ms_max ? own.busy_ms_max : WR_STORE_AWAY_MS, err);
    if (status)
        *trouble = WEIR_TROUBLE_DENIED;
    if (!status) {
        pg->group = wr_pg_group_join(url); /* without one commits go alone */
        wr_pg_start(&pg->link);
        do
            prepare(pg);
        while (wr_pg_again(&pg->link));
        status = wr_pg_status(&pg->link, trouble, err);
    }
    if (status)
        close_store(&pg->store);
    else
        *store = &pg->store;
    return status;
}
