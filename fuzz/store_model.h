/* store_model.h -- a store in the plainest way that can be written: the yardstick of fuzz_store.c.
 *
 * Everything is a row of one array that is searched from its start. A commit that fails puts back a
 * copy of all rows. It is for the fuzzer's few short names and texts, which must outlive it, and
 * knows no handles that collide and nothing that is damaged. */
#ifndef FUZZ_STORE_MODEL_H
#define FUZZ_STORE_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "weir/store_host.h"

enum { MODEL_ROWS_MAX = 512, MODEL_VALUE_BYTES = 512 };

enum model_kind {
    MODEL_TENANT,
    MODEL_SESSION,
    MODEL_ARTIFACT,
    MODEL_MARK,
    MODEL_PIN,
    MODEL_EXPIRED
};

struct model_row {
    enum model_kind kind;
    weir_span tenant;
    weir_hash key;   /* of a text, a mark, or a pin's first turn */
    int mark_kind;   /* of a mark */
    weir_span name;  /* of a session, or a pin's model */
    uint32_t users;  /* numbers of sessions, as bits; of a session its own */
    int64_t used_ms; /* of a session */
    size_t value_bytes;
    char value[MODEL_VALUE_BYTES];
};

struct model {
    struct weir_store store;
    size_t rows_count;
    struct model_row rows[MODEL_ROWS_MAX], before[MODEL_ROWS_MAX];
};

/* The row that is equal to `like` in all that names one; made where there is none and `makes`. */
static struct model_row *model_find(struct model *m, const struct model_row *like, bool makes)
{
    for (size_t i = 0; i < m->rows_count; i++) {
        struct model_row *row = &m->rows[i];
        if (row->kind == like->kind && wr_span_eq(row->tenant, like->tenant) &&
            !memcmp(&row->key, &like->key, sizeof(row->key)) && row->mark_kind == like->mark_kind &&
            wr_span_eq(row->name, like->name) &&
            (row->kind != MODEL_PIN || row->users == like->users))
            return row;
    }
    if (!makes)
        return NULL;
    if (m->rows_count == MODEL_ROWS_MAX)
        abort();
    m->rows[m->rows_count] = *like;
    return &m->rows[m->rows_count++];
}

/* In the order they were made, which is the order that sessions of one time leave in. */
static void model_remove(struct model *m, struct model_row *row)
{
    memmove(row, row + 1, (size_t)(m->rows + --m->rows_count - row) * sizeof(*row));
}

static struct model_row *model_session(struct model *m, weir_span tenant, weir_span name)
{
    return model_find(m, &(struct model_row){MODEL_SESSION, .tenant = tenant, .name = name}, false);
}

static uint32_t model_free_number(const struct model *m)
{
    uint32_t taken = 0;
    for (size_t i = 0; i < m->rows_count; i++)
        taken |= m->rows[i].kind == MODEL_SESSION ? m->rows[i].users : 0;
    return ~taken & (taken + 1);
}

static bool model_keep(struct model *m, struct model_row like, uint32_t user, weir_span value,
                       bool replaces)
{
    struct model_row *row = model_find(m, &like, false);
    bool is_new = !row;
    if (is_new)
        row = model_find(m, &like, true);
    row->users |= user;
    if (!is_new && !replaces && !wr_span_eq(value, (weir_span){row->value, row->value_bytes}))
        return false;
    row->value_bytes = value.len;
    memcpy(row->value, value.ptr, value.len);
    return true;
}

static weir_status model_commit(struct weir_store *store, struct weir_batch *b,
                                struct weir_err *err)
{
    struct model *m = (struct model *)store;
    size_t before_count = m->rows_count;
    bool ok = true;

    (void)err;
    memcpy(m->before, m->rows, sizeof(m->rows));
    (void)model_find(m, &(struct model_row){MODEL_TENANT, .tenant = b->tenant}, true);
    struct model_row *session = model_session(m, b->tenant, b->session);
    if (!session) {
        struct model_row made = {MODEL_SESSION, .tenant = b->tenant, .name = b->session};
        made.users = model_free_number(m);
        made.used_ms = b->used_ms;
        session = model_find(m, &made, true);
    }
    if (session->used_ms < b->used_ms)
        session->used_ms = b->used_ms;
    uint32_t user = session->users;
    for (size_t i = 0; i < b->artifacts_count; i++) {
        struct model_row like = {MODEL_EXPIRED, .tenant = b->tenant, .key = b->artifacts[i].hash};
        struct model_row *expired = model_find(m, &like, false);
        if (expired)
            model_remove(m, expired);
        like.kind = MODEL_ARTIFACT;
        ok &= model_keep(m, like, user, b->artifacts[i].text, false);
    }
    for (size_t i = 0; i < b->marks_count; i++) {
        const struct weir_mark *mark = &b->marks[i];
        struct model_row like = {MODEL_MARK, .tenant = b->tenant, .key = mark->key};
        like.mark_kind = (int)mark->kind;
        ok &= model_keep(m, like, user, mark->value, mark->replaces);
    }
    for (size_t i = 0; i < b->pins_count; i++) {
        const struct weir_pin *pin = &b->pins[i];
        struct model_row like = {MODEL_PIN, .tenant = b->tenant, .key = pin->first_turn};
        like.name = pin->model;
        like.users = user;
        ok &= model_keep(m, like, user, pin->value, pin->replaces);
    }
    if (ok)
        return WEIR_OK;
    memcpy(m->rows, m->before, sizeof(m->rows));
    m->rows_count = before_count;
    store->trouble = WEIR_TROUBLE_CONFLICT;
    return WEIR_INVALID;
}

static weir_status model_get(struct weir_store *store, const struct weir_lookup *lookup,
                             struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err)
{
    struct model *m = (struct model *)store;

    (void)err;
    *miss = WEIR_MISS_NEVER_STORED;
    for (size_t i = 0; i < m->rows_count; i++) {
        struct model_row *row = &m->rows[i];
        bool is_own = wr_span_eq(row->tenant, lookup->tenant);
        if (memcmp(row->key.bytes, lookup->handle.bytes, WEIR_HANDLE_BYTES))
            continue;
        if (row->kind == MODEL_EXPIRED && is_own)
            *miss = WEIR_MISS_EXPIRED;
        if (row->kind != MODEL_ARTIFACT)
            continue;
        if (is_own) {
            artifact->text = (weir_span){row->value, row->value_bytes};
            artifact->hash = row->key;
            *miss = WEIR_MISS_NONE;
            return WEIR_OK;
        }
        if (*miss == WEIR_MISS_NEVER_STORED)
            *miss = WEIR_MISS_OTHER_TENANT; /* weir_store_get() tells an operator only */
    }
    return WEIR_NOTFOUND;
}

static weir_status model_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                               size_t keys_count, weir_mark_fn *found, void *user,
                               struct weir_err *err)
{
    weir_status status = WEIR_OK;

    (void)err;
    for (size_t i = 0; i < keys_count * WEIR_MARK_KINDS_COUNT && !status; i++) {
        size_t at = i / WEIR_MARK_KINDS_COUNT;
        struct weir_mark mark = {.key = keys[at],
                                 .kind = (weir_mark_kind)(i % WEIR_MARK_KINDS_COUNT)};
        struct model_row like = {MODEL_MARK, .tenant = tenant, .key = keys[at]};
        like.mark_kind = (int)mark.kind;
        const struct model_row *row = model_find((struct model *)store, &like, false);
        if (row) {
            mark.value = (weir_span){row->value, row->value_bytes};
            status = found(user, at, &mark);
        }
    }
    return status;
}

static weir_status model_pin(struct weir_store *store, weir_span tenant, weir_span session,
                             struct weir_pin *pin, struct weir_err *err)
{
    struct model *m = (struct model *)store;
    const struct model_row *owner = model_session(m, tenant, session), *row = NULL;
    struct model_row like = {MODEL_PIN, .tenant = tenant, .key = pin->first_turn};

    (void)err;
    like.name = pin->model;
    like.users = owner ? owner->users : 0;
    if (owner)
        row = model_find(m, &like, false);
    if (row)
        pin->value = (weir_span){row->value, row->value_bytes};
    return row ? WEIR_OK : WEIR_NOTFOUND;
}

static weir_status model_touch(struct weir_store *store, weir_span tenant, weir_span session,
                               int64_t used_ms, struct weir_err *err)
{
    struct model_row *row = model_session((struct model *)store, tenant, session);
    (void)err;
    if (row && row->used_ms < used_ms)
        row->used_ms = used_ms;
    return WEIR_OK;
}

static void model_drop(struct model *m, struct model_row *session, bool remembers,
                       struct weir_gc_report *report)
{
    uint32_t user = session->users;
    for (size_t i = m->rows_count; i-- > 0;) {
        struct model_row *row = &m->rows[i], expired = *row;
        if (row->kind == MODEL_TENANT || row->kind == MODEL_EXPIRED || row->users != user) {
            row->users &= ~user;
            continue;
        }
        report->sessions_count += row->kind == MODEL_SESSION;
        report->artifacts_count += row->kind == MODEL_ARTIFACT;
        report->marks_count += row->kind == MODEL_MARK;
        report->pins_count += row->kind == MODEL_PIN;
        model_remove(m, row);
        expired.users = 0;
        if (remembers && expired.kind == MODEL_ARTIFACT) {
            expired.kind = MODEL_EXPIRED;
            (void)model_find(m, &expired, true);
        }
    }
}

/* The session that was used least recently, before a time; NULL: there is none. */
static struct model_row *model_oldest(struct model *m, int64_t before_ms)
{
    struct model_row *oldest = NULL;
    for (struct model_row *row = m->rows; row < m->rows + m->rows_count; row++)
        if (row->kind == MODEL_SESSION && row->used_ms < before_ms &&
            (!oldest || row->used_ms < oldest->used_ms))
            oldest = row;
    return oldest;
}

static uint64_t model_bytes(const struct model *m)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->rows_count; i++)
        bytes += m->rows[i].kind == MODEL_ARTIFACT ? m->rows[i].value_bytes : 0;
    return bytes;
}

static weir_status model_gc(struct weir_store *store, const struct weir_gc_options *o,
                            struct weir_gc_report *report, struct weir_err *err)
{
    struct model *m = (struct model *)store;
    int64_t live_ms = o->now_ms - o->live_ms, old_ms = o->now_ms - o->retention_ms;
    struct model_row *oldest;

    (void)err;
    for (size_t i = 0; i < m->rows_count; i++)
        if (m->rows[i].used_ms > o->now_ms)
            m->rows[i].used_ms = o->now_ms;
    while (o->retention_ms && (oldest = model_oldest(m, old_ms < live_ms ? old_ms : live_ms)))
        model_drop(m, oldest, true, report);
    while (o->stored_bytes_max && model_bytes(m) > o->stored_bytes_max &&
           (oldest = model_oldest(m, live_ms)))
        model_drop(m, oldest, true, report);
    report->is_over = o->stored_bytes_max && model_bytes(m) > o->stored_bytes_max;
    return WEIR_OK;
}

static weir_status model_purge(struct weir_store *store, weir_span tenant, weir_span session,
                               struct weir_gc_report *report, struct weir_err *err)
{
    struct model *m = (struct model *)store;
    struct model_row *one = session.len ? model_session(m, tenant, session) : NULL;
    size_t found_count = one != NULL;

    (void)err;
    if (one)
        model_drop(m, one, false, report);
    for (size_t i = m->rows_count; i-- > 0 && !session.len;) {
        struct model_row *row = &m->rows[i];
        if (tenant.len && !wr_span_eq(row->tenant, tenant))
            continue;
        report->sessions_count += row->kind == MODEL_SESSION;
        report->artifacts_count += row->kind == MODEL_ARTIFACT;
        report->marks_count += row->kind == MODEL_MARK;
        report->pins_count += row->kind == MODEL_PIN;
        model_remove(m, row);
        found_count++;
    }
    return tenant.len && !found_count ? WEIR_NOTFOUND : WEIR_OK;
}

static weir_status model_stats(struct weir_store *store, struct weir_store_stats *stats,
                               struct weir_err *err)
{
    struct model *m = (struct model *)store;

    (void)err;
    for (size_t i = 0; i < m->rows_count; i++) {
        const struct model_row *row = &m->rows[i];
        stats->tenants_count += row->kind == MODEL_TENANT;
        stats->artifacts_count += row->kind == MODEL_ARTIFACT;
        stats->marks_count += row->kind == MODEL_MARK;
        stats->pins_count += row->kind == MODEL_PIN;
        stats->expired_count += row->kind == MODEL_EXPIRED;
        if (row->kind != MODEL_SESSION)
            continue;
        bool is_first = !stats->sessions_count++;
        if (is_first || row->used_ms < stats->oldest_used_ms)
            stats->oldest_used_ms = row->used_ms;
        if (is_first || row->used_ms > stats->newest_used_ms)
            stats->newest_used_ms = row->used_ms;
    }
    stats->text_bytes = model_bytes(m);
    return WEIR_OK;
}

/* An empty one; the same memory each time. */
static struct weir_store *model_new(void)
{
    static struct model model;
    static const struct weir_store_ops ops = {.struct_bytes = sizeof(ops),
                                              .commit = model_commit,
                                              .get = model_get,
                                              .marks = model_marks,
                                              .pin = model_pin,
                                              .touch = model_touch,
                                              .gc = model_gc,
                                              .purge = model_purge,
                                              .stats = model_stats};
    model.store = (struct weir_store){.ops = &ops};
    model.rows_count = 0;
    return &model.store;
}

#endif
