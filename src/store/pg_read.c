/* What is read: one original, whether many are there, the marks of many keys, a pin, and everything
 * for `stats` and `verify`.
 *
 * PostgreSQL keeps its own checksums of pages where it was told to; what comes back is hashed in
 * any case (store.c). An original that is not what its hash says is remembered, so that the next
 * commit that names it writes it anew. */
#include "store/pg.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- originals ---- */

/* The packed bytes may come in several rows. */
static weir_span join_chunks(struct wr_pg *pg, int rows_count)
{
    weir_span first = wr_pg_get(&pg->link, 0, 4);
    struct wr_buf *all = &pg->arrays[0];

    if (rows_count == 1)
        return first;
    wr_buf_reset(all);
    for (int i = 0; i < rows_count; i++)
        wr_buf_append(all, wr_pg_get(&pg->link, i, 4));
    return wr_buf_view(all);
}

static weir_status unpack(struct wr_pg *pg, weir_span hash, weir_span data, int64_t codec,
                          int64_t text_bytes, struct weir_artifact *artifact)
{
    if (hash.len != WEIR_HASH_BYTES || text_bytes < 0)
        return WEIR_SYNTAX;
    memcpy(artifact->hash.bytes, hash.ptr, WEIR_HASH_BYTES);
    wr_pg_reset_text(pg);
    weir_status status = wr_unpack(&pg->packer, data, codec, (uint64_t)text_bytes, &pg->text);
    artifact->text = wr_buf_view(&pg->text);
    return status;
}

static bool is_whole(const struct weir_artifact *artifact, weir_handle handle)
{
    unsigned char digest[WR_SHA256_BYTES];
    return !wr_sha256(artifact->text, digest) &&
           !memcmp(digest, artifact->hash.bytes, sizeof(digest)) &&
           !memcmp(digest, handle.bytes, sizeof(handle.bytes));
}

static weir_status read_artifact(struct wr_pg *pg, const struct weir_lookup *lookup,
                                 struct weir_artifact *artifact, weir_miss *miss)
{
    static const weir_miss misses[] = {WEIR_MISS_CORRUPT, WEIR_MISS_CORRUPT, WEIR_MISS_EXPIRED,
                                       WEIR_MISS_NEVER_STORED, WEIR_MISS_OTHER_TENANT};
    int rows = wr_pg_rows(&pg->link);
    int64_t what = rows ? wr_pg_get_number(&pg->link, 0, 0) : 1;

    *miss = misses[what];
    if (what)
        return WEIR_NOTFOUND;
    int64_t text_bytes = wr_pg_get_number(&pg->link, 0, 1);
    int64_t codec = wr_pg_get_number(&pg->link, 0, 2);
    weir_status status =
        unpack(pg, wr_pg_get(&pg->link, 0, 3), join_chunks(pg, rows), codec, text_bytes, artifact);
    if (status == WEIR_NOMEM)
        return status;
    if (!status && is_whole(artifact, lookup->handle)) {
        *miss = WEIR_MISS_NONE;
        return WEIR_OK;
    }
    pg->is_damaged = true;
    pg->damaged = lookup->handle;
    return WEIR_NOTFOUND;
}

weir_status wr_pg_get_artifact(struct weir_store *store, const struct weir_lookup *lookup,
                               struct weir_artifact *artifact, weir_miss *miss,
                               struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, lookup->tenant);
    wr_pg_bytes(&args, (weir_span){(const char *)lookup->handle.bytes, WEIR_HANDLE_BYTES});
    wr_pg_number(&args, lookup->is_operator);
    wr_pg_start(&pg->link);
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.get_1($1, $2, $3)", &args);
    weir_status status = wr_pg_end(pg, err);
    if (status)
        return status;
    status = read_artifact(pg, lookup, artifact, miss);
    if (status && status != WEIR_NOTFOUND)
        return wr_fail(err, status, 0, "cannot unpack the artifact: %s", weir_status_text(status));
    return status;
}

/* Whether all of them are the session's that was begun, and whole as far as anybody knows. */
static bool are_known(const struct wr_pg *pg, weir_span tenant, const weir_hash *hashes,
                      size_t hashes_count)
{
    if (!wr_pg_is_begun(pg, tenant) || pg->is_damaged)
        return false;
    for (size_t i = 0; i < hashes_count; i++)
        if (!wr_pg_session_has(pg->begun, &hashes[i]))
            return false;
    return true;
}

weir_status wr_pg_has(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                      size_t hashes_count, bool *is_there, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct wr_pg_args args = {.count = 0};
    struct wr_buf *asked = wr_pg_array_of(pg, 0, WR_PG_BYTES, hashes_count);

    if (are_known(pg, tenant, hashes, hashes_count)) {
        for (size_t i = 0; i < hashes_count; i++)
            is_there[i] = true;
        return WEIR_OK;
    }
    wr_pg_start(&pg->link);
    for (size_t i = 0; i < hashes_count; i++)
        wr_pg_item(asked, wr_pg_hash(&hashes[i]));
    wr_pg_bytes(&args, tenant);
    wr_pg_give_array(pg, &args, 0);
    wr_pg_ask(&pg->link,
              "SELECT x.at FROM unnest($2::bytea[]) WITH ORDINALITY AS x(hash, at)"
              " JOIN weir.artifact a ON a.handle = substr(x.hash, 1, 10)"
              " AND a.hash = x.hash JOIN weir.tenant t ON t.id = a.tenant_id"
              " WHERE t.name = $1",
              &args);
    for (int i = 0; i < wr_pg_rows(&pg->link); i++) {
        size_t at = (size_t)wr_pg_get_number(&pg->link, i, 0) - 1;
        bool is_doubted =
            pg->is_damaged && !memcmp(hashes[at].bytes, pg->damaged.bytes, WEIR_HANDLE_BYTES);
        is_there[at] = !is_doubted;
    }
    return wr_pg_end(pg, err);
}

/* ---- marks and pins ---- */

/* Marks of the session that was begun; false: the database has to be asked. */
static bool find_known(struct wr_pg *pg, const weir_hash *keys, size_t keys_count,
                       weir_mark_fn *found, void *user, weir_status *status)
{
    size_t lacking_count = 0;

    for (size_t i = 0; i < keys_count; i++) {
        bool is_there = false;
        for (int kind = 0; kind < WEIR_MARK_KINDS_COUNT && !is_there; kind++)
            is_there = wr_pg_session_find_mark(pg->begun, &keys[i], (weir_mark_kind)kind);
        lacking_count += !is_there;
        if (!wr_pg_note_key(pg, &keys[i], !is_there))
            return false;
    }
    if (lacking_count && (pg->is_careful || !pg->begun->version)) {
        pg->absent_count = 0; /* they are asked for */
        return false;
    }
    for (size_t i = 0; i < keys_count; i++)
        for (int kind = 0; kind < WEIR_MARK_KINDS_COUNT && !*status; kind++) {
            const weir_span *value =
                wr_pg_session_find_mark(pg->begun, &keys[i], (weir_mark_kind)kind);
            struct weir_mark mark = {.key = keys[i], .kind = (weir_mark_kind)kind};
            if (!value)
                continue;
            mark.value = *value;
            *status = found(user, i, &mark);
        }
    return true;
}

weir_status wr_pg_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                        size_t keys_count, weir_mark_fn *found, void *user, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct wr_pg_args args = {.count = 0};
    struct wr_buf *asked = wr_pg_array_of(pg, 0, WR_PG_BYTES, keys_count);
    weir_status status = WEIR_OK;

    if (!keys_count)
        return WEIR_OK;
    if (wr_pg_is_begun(pg, tenant) && find_known(pg, keys, keys_count, found, user, &status))
        return status ? wr_fail(err, status, 0, "the search for marks was stopped") : WEIR_OK;
    wr_pg_start(&pg->link);
    for (size_t i = 0; i < keys_count; i++)
        wr_pg_item(asked, wr_pg_hash(&keys[i]));
    wr_pg_bytes(&args, tenant);
    wr_pg_give_array(pg, &args, 0);
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.marks_1($1, $2)", &args);
    for (int i = 0; i < wr_pg_rows(&pg->link) && !status; i++) {
        size_t at = (size_t)wr_pg_get_number(&pg->link, i, 0) - 1;
        int64_t kind = wr_pg_get_number(&pg->link, i, 1);
        if (kind < 0 || kind >= WEIR_MARK_KINDS_COUNT)
            continue; /* of a later Weir */
        struct weir_mark mark = {.key = keys[at], .kind = (weir_mark_kind)kind};
        mark.value = wr_pg_get(&pg->link, i, 2);
        status = found(user, at, &mark);
    }
    if (status)
        return wr_fail(err, status, 0, "the search for marks was stopped");
    return wr_pg_end(pg, err);
}

weir_status wr_pg_pin(struct weir_store *store, weir_span tenant, weir_span session,
                      struct weir_pin *pin, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct wr_pg_args args = {.count = 0};

    const struct wr_pg_session *known = NULL;

    if (wr_pg_is_begun(pg, tenant))
        known = pg->begun->name == wr_pg_session_name(tenant, session)
                    ? pg->begun
                    : wr_pg_other(pg, tenant, session);
    if (known) {
        const weir_span *value = wr_pg_session_find_pin(known, pin);
        if (!value)
            return wr_fail(err, WEIR_NOTFOUND, 0, "no such pin");
        wr_pg_reset_text(pg);
        wr_buf_append(&pg->text, *value);
        pin->value = wr_buf_view(&pg->text);
        return wr_buf_status(&pg->text);
    }
    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, session);
    wr_pg_bytes(&args, pin->model);
    wr_pg_bytes(&args, wr_pg_hash(&pin->first_turn));
    wr_pg_start(&pg->link);
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.pin_1($1, $2, $3, $4)", &args);
    weir_status status = wr_pg_end(pg, err);
    if (status)
        return status;
    if (!wr_pg_rows(&pg->link))
        return wr_fail(err, WEIR_NOTFOUND, 0, "no such pin");
    wr_pg_reset_text(pg);
    wr_buf_append(&pg->text, wr_pg_get(&pg->link, 0, 0));
    pin->value = wr_buf_view(&pg->text);
    status = wr_buf_status(&pg->text);
    return status ? wr_fail(err, status, 0, "cannot read the pin") : WEIR_OK;
}

/* ---- everything: a request waits for none of it, and a large database takes minutes ---- */

static const char stats_sql[] =
    "SELECT (SELECT count(*) FROM weir.tenant), (SELECT count(*) FROM weir.session),"
    " (SELECT count(*) FROM weir.artifact), (SELECT count(*) FROM weir.mark),"
    " (SELECT count(*) FROM weir.pin), (SELECT count(*) FROM weir.expired),"
    " (SELECT coalesce(sum(text_bytes), 0)::bigint FROM weir.artifact),"
    " (SELECT coalesce(sum(stored_bytes), 0)::bigint FROM weir.artifact),"
    " (SELECT count(*) FROM weir.request),"
    " (SELECT coalesce(sum(octet_length(line)), 0)::bigint FROM weir.request) +"
    " (SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM weir.report) +"
    " (SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM weir.piece),"
    " (SELECT count(*) FROM weir.sample), (SELECT coalesce(min(used_ms), 0) FROM weir.session),"
    " (SELECT coalesce(max(used_ms), 0) FROM weir.session),"
    " (SELECT version::bigint FROM weir.schema_version),"
    " (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'weir' AND c.relkind = 'r')";

weir_status wr_pg_stats(struct weir_store *store, struct weir_store_stats *stats,
                        struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    uint64_t *const counts[] = {
        &stats->tenants_count, &stats->sessions_count, &stats->artifacts_count,
        &stats->marks_count,   &stats->pins_count,     &stats->expired_count,
        &stats->text_bytes,    &stats->stored_bytes,   &stats->rows_count,
        &stats->rows_bytes,    &stats->samples_count};
    int at = 0;

    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_GC_MS);
    wr_pg_ask(&pg->link, stats_sql, NULL);
    if (wr_pg_rows(&pg->link)) {
        for (; at < (int)WR_COUNT_OF(counts); at++)
            *counts[at] = (uint64_t)wr_pg_get_number(&pg->link, 0, at);
        stats->oldest_used_ms = wr_pg_get_number(&pg->link, 0, at++);
        stats->newest_used_ms = wr_pg_get_number(&pg->link, 0, at++);
        stats->schema_version = (uint32_t)wr_pg_get_number(&pg->link, 0, at++);
        stats->file_bytes = (uint64_t)wr_pg_get_number(&pg->link, 0, at);
    }
    return wr_pg_end(pg, err);
}

struct verification {
    struct wr_pg *pg;
    weir_corrupt_fn *corrupt;
    void *user;
    struct weir_verify_report *report;
};

static weir_status verify_row(void *user, struct wr_pg_link *link)
{
    struct verification *v = user;
    struct weir_artifact artifact = {.text = {NULL, 0}};
    weir_handle name = {{0}};
    weir_span handle = wr_pg_get(link, 0, 1);
    weir_status status =
        unpack(v->pg, wr_pg_get(link, 0, 2), wr_pg_get(link, 0, 5), wr_pg_get_number(link, 0, 4),
               wr_pg_get_number(link, 0, 3), &artifact);

    if (status == WEIR_NOMEM)
        return status;
    memcpy(name.bytes, handle.ptr, handle.len < WEIR_HANDLE_BYTES ? handle.len : WEIR_HANDLE_BYTES);
    v->report->artifacts_count++;
    v->report->text_bytes += artifact.text.len;
    if (!status && is_whole(&artifact, name))
        return WEIR_OK;
    v->report->corrupt_count++;
    if (v->corrupt)
        v->corrupt(v->user, wr_pg_get(link, 0, 0), name);
    return WEIR_OK;
}

weir_status wr_pg_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                         struct weir_verify_report *report, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct verification v = {pg, corrupt, user, report};

    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_GC_MS);
    if (wr_pg_ask_number(&pg->link,
                         "SELECT count(*) FROM (SELECT session_id FROM weir.request UNION"
                         " SELECT session_id FROM weir.report UNION"
                         " SELECT session_id FROM weir.sample UNION"
                         " SELECT session_id FROM weir.note UNION"
                         " SELECT session_id FROM weir.artifact_use UNION"
                         " SELECT session_id FROM weir.mark_use) x"
                         " WHERE session_id NOT IN (SELECT id FROM weir.session)")) {
        report->has_damage = true;
        (void)snprintf(report->damage, sizeof(report->damage),
                       "a row is of a session that is not there");
    }
    weir_status status =
        wr_pg_each(&pg->link,
                   "SELECT coalesce(t.name, ''), a.handle, a.hash, a.text_bytes, a.codec,"
                   " a.data || coalesce((SELECT string_agg(c.data, '' ORDER BY c.at)"
                   " FROM weir.artifact_chunk c WHERE a.chunks > 0 AND c.tenant_id = a.tenant_id"
                   " AND c.hash = a.hash), '') FROM weir.artifact a"
                   " LEFT JOIN weir.tenant t ON t.id = a.tenant_id ORDER BY a.id",
                   NULL, verify_row, &v);
    if (status)
        return wr_fail(err, status, 0, "cannot verify the store: %s", weir_status_text(status));
    return wr_pg_end(pg, err);
}
