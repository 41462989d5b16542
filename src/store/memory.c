/* A store in memory. It keeps texts as they are, and is plain enough to be
 * the yardstick of the store on disk (fuzz/fuzz_store.c).
 *
 * A commit writes into the table at once and notes each change; when something is wrong the notes
 * are undone from the last to the first. */
#include "weir/store_host.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/rows.h"

struct tenant {
    struct tenant *next;
    uint64_t id;
    size_t name_bytes;
    char name[];
};

struct session {
    struct session *next; /* in the order they were made */
    const struct tenant *tenant;
    uint64_t id;
    int64_t used_ms;
    size_t name_bytes;
    char name[];
};

/* One change of a commit, as it is undone. */
struct change {
    struct wr_row *added, *removed, *used, *valued;
    char *old_value;
    size_t old_value_bytes;
};

struct memory {
    struct weir_store store; /* first: a weir_store of ours is one of these */
    struct wr_rows rows;
    struct tenant *tenants;   /* owned */
    struct session *sessions; /* owned */
    uint64_t ids;             /* given so far */
    size_t bytes_max;
};

static struct memory *memory_of(struct weir_store *store)
{
    return (struct memory *)store;
}

/* ---- tenants and sessions ---- */

static struct tenant *find_tenant(const struct memory *memory, weir_span name)
{
    struct tenant *tenant = memory->tenants;
    while (tenant && !wr_span_eq(name, (weir_span){tenant->name, tenant->name_bytes}))
        tenant = tenant->next;
    return tenant;
}

static struct session *find_session(const struct memory *memory, const struct tenant *tenant,
                                    weir_span name)
{
    struct session *session = memory->sessions;
    while (session && !(session->tenant == tenant &&
                        wr_span_eq(name, (weir_span){session->name, session->name_bytes})))
        session = session->next;
    return session;
}

static struct tenant *new_tenant(struct memory *memory, weir_span name)
{
    struct tenant *tenant = calloc(1, sizeof(*tenant) + name.len);
    if (!tenant)
        return NULL;
    tenant->id = ++memory->ids;
    tenant->name_bytes = name.len;
    memcpy(tenant->name, name.ptr, name.len);
    tenant->next = memory->tenants;
    memory->tenants = tenant;
    return tenant;
}

static struct session *new_session(struct memory *memory, const struct tenant *tenant,
                                   weir_span name, int64_t used_ms)
{
    struct session *session = calloc(1, sizeof(*session) + name.len), **at = &memory->sessions;
    if (!session)
        return NULL;
    session->tenant = tenant;
    session->id = ++memory->ids;
    session->used_ms = used_ms;
    session->name_bytes = name.len;
    memcpy(session->name, name.ptr, name.len);
    while (*at)
        at = &(*at)->next;
    *at = session;
    return session;
}

static void drop_tenant(struct memory *memory, struct tenant *tenant)
{
    struct tenant **at = &memory->tenants;
    while (*at != tenant)
        at = &(*at)->next;
    *at = tenant->next;
    free(tenant);
}

static void drop_session(struct memory *memory, struct session *session)
{
    struct session **at = &memory->sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    free(session);
}

/* ---- commit ---- */

struct work {
    struct memory *memory;
    struct weir_batch *batch;
    struct tenant *tenant;
    struct session *session;
    struct change *changes;
    size_t changes_count;
};

static void undo(struct work *work)
{
    while (work->changes_count) {
        struct change *change = &work->changes[--work->changes_count];
        if (change->used)
            change->used->users_count--;
        if (change->valued) {
            wr_rows_swap_value(&work->memory->rows, change->valued, &change->old_value,
                               &change->old_value_bytes);
            free(change->old_value);
        }
        if (change->added) {
            wr_rows_unlink(&work->memory->rows, change->added);
            wr_row_free(change->added);
        }
        if (change->removed)
            wr_rows_link(&work->memory->rows, change->removed);
    }
}

static void make_final(struct work *work)
{
    for (size_t i = 0; i < work->changes_count; i++) {
        free(work->changes[i].old_value);
        wr_row_free(work->changes[i].removed);
    }
}

static bool add_user(struct wr_row *row, uint64_t session_id, struct change *change)
{
    if (wr_row_user(row, session_id) < row->users_count)
        return true;
    uint64_t *users = realloc(row->users, (row->users_count + 1) * sizeof(*users));
    if (!users)
        return false;
    row->users = users;
    row->users[row->users_count++] = session_id;
    change->used = row;
    return true;
}

static bool set_value(struct memory *memory, struct wr_row *row, weir_span value,
                      struct change *change)
{
    char *copy = malloc(value.len + 1);
    if (!copy)
        return false;
    if (value.len)
        memcpy(copy, value.ptr, value.len);
    change->valued = row;
    change->old_value = copy;
    change->old_value_bytes = value.len;
    wr_rows_swap_value(&memory->rows, row, &change->old_value, &change->old_value_bytes);
    return true;
}

/* The row of `key`, made where there is none, referred to by the session. NULL without memory. */
static struct wr_row *need_row(struct work *work, const struct wr_row_key *key, weir_span value,
                               struct change **change)
{
    struct wr_row *row = wr_rows_find(&work->memory->rows, key);
    *change = &work->changes[work->changes_count++];
    if (!row) {
        row = wr_row_new(key, value);
        if (!row)
            return NULL;
        wr_rows_link(&work->memory->rows, row);
        (*change)->added = row;
    }
    return add_user(row, work->session->id, *change) ? row : NULL;
}

static weir_status fail(struct work *work, weir_status status, weir_trouble trouble,
                        struct weir_err *err)
{
    work->memory->store.trouble = trouble;
    return wr_fail(err, status, 0, "%s",
                   trouble ? weir_trouble_text(trouble) : weir_status_text(status));
}

static weir_status keep_artifact(struct work *work, struct weir_artifact *artifact,
                                 struct weir_err *err)
{
    struct wr_row_key key =
        wr_row_key_handle(work->tenant->id, WR_ROW_ARTIFACT, artifact->hash.bytes);
    struct change *change;
    struct wr_row *row = need_row(work, &key, artifact->text, &change);

    if (!row)
        return fail(work, WEIR_NOMEM, WEIR_TROUBLE_NONE, err);
    if (change->added)
        row->hash = artifact->hash;
    artifact->collides = memcmp(&row->hash, &artifact->hash, sizeof(row->hash)) != 0;
    if (artifact->collides)
        return fail(work, WEIR_INVALID, WEIR_TROUBLE_COLLISION, err);
    key.kind = WR_ROW_EXPIRED;
    change->removed = wr_rows_find(&work->memory->rows, &key);
    if (change->removed)
        wr_rows_unlink(&work->memory->rows, change->removed);
    return WEIR_OK;
}

static weir_status keep_value(struct work *work, const struct wr_row_key *key, weir_span value,
                              bool replaces, struct weir_err *err)
{
    struct change *change;
    struct wr_row *row = need_row(work, key, value, &change);

    if (!row)
        return fail(work, WEIR_NOMEM, WEIR_TROUBLE_NONE, err);
    if (wr_span_eq(value, (weir_span){row->value, row->value_bytes}))
        return WEIR_OK;
    if (!replaces)
        return fail(work, WEIR_INVALID, WEIR_TROUBLE_CONFLICT, err);
    if (!set_value(work->memory, row, value, change))
        return fail(work, WEIR_NOMEM, WEIR_TROUBLE_NONE, err);
    return WEIR_OK;
}

static weir_status keep_all(struct work *work, struct weir_err *err)
{
    const struct weir_batch *batch = work->batch;
    weir_status status = WEIR_OK;
    uint64_t tenant_id = work->tenant->id;

    for (size_t i = 0; i < batch->artifacts_count && !status; i++)
        status = keep_artifact(work, &batch->artifacts[i], err);
    for (size_t i = 0; i < batch->marks_count && !status; i++) {
        const struct weir_mark *mark = &batch->marks[i];
        struct wr_row_key key = wr_row_key_mark(tenant_id, &mark->key, mark->kind);
        status = keep_value(work, &key, mark->value, mark->replaces, err);
    }
    for (size_t i = 0; i < batch->pins_count && !status; i++) {
        const struct weir_pin *pin = &batch->pins[i];
        struct wr_row_key key = wr_row_key_pin(tenant_id, work->session->id, pin);
        status = keep_value(work, &key, pin->value, pin->replaces, err);
    }
    if (!status && work->memory->rows.bytes > work->memory->bytes_max)
        status = fail(work, WEIR_LIMIT, WEIR_TROUBLE_FULL, err);
    return status;
}

static weir_status memory_commit(struct weir_store *store, struct weir_batch *batch,
                                 struct weir_err *err)
{
    struct work work = {.memory = memory_of(store), .batch = batch};
    size_t count = batch->artifacts_count + batch->marks_count + batch->pins_count;
    struct tenant *made_tenant = NULL;
    struct session *made_session = NULL;
    weir_status status = WEIR_NOMEM;

    work.changes = calloc(count + 1, sizeof(struct change));
    work.tenant = find_tenant(work.memory, batch->tenant);
    if (!work.tenant)
        work.tenant = made_tenant = new_tenant(work.memory, batch->tenant);
    if (work.tenant)
        work.session = find_session(work.memory, work.tenant, batch->session);
    if (work.tenant && !work.session)
        work.session = made_session =
            new_session(work.memory, work.tenant, batch->session, batch->used_ms);
    if (!work.changes || !work.session)
        (void)fail(&work, status, WEIR_TROUBLE_NONE, err);
    else
        status = keep_all(&work, err);

    if (!status) {
        make_final(&work);
        if (work.session->used_ms < batch->used_ms)
            work.session->used_ms = batch->used_ms;
    } else {
        undo(&work);
        if (made_session)
            drop_session(work.memory, made_session);
        if (made_tenant)
            drop_tenant(work.memory, made_tenant);
    }
    free(work.changes);
    return status;
}

/* ---- reading ---- */

static bool is_elsewhere(const struct memory *memory, uint64_t tenant_id, weir_handle handle)
{
    for (const struct tenant *tenant = memory->tenants; tenant; tenant = tenant->next) {
        struct wr_row_key key = wr_row_key_handle(tenant->id, WR_ROW_ARTIFACT, handle.bytes);
        if (tenant->id != tenant_id && wr_rows_find(&memory->rows, &key))
            return true;
    }
    return false;
}

static weir_status memory_get(struct weir_store *store, const struct weir_lookup *lookup,
                              struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    const struct tenant *tenant = find_tenant(memory, lookup->tenant);
    uint64_t tenant_id = tenant ? tenant->id : 0;
    struct wr_row_key key = wr_row_key_handle(tenant_id, WR_ROW_ARTIFACT, lookup->handle.bytes);
    const struct wr_row *row = wr_rows_find(&memory->rows, &key);

    (void)err;
    if (row) {
        artifact->text = (weir_span){row->value, row->value_bytes};
        artifact->hash = row->hash;
        return WEIR_OK;
    }
    key.kind = WR_ROW_EXPIRED;
    *miss = WEIR_MISS_NEVER_STORED;
    if (wr_rows_find(&memory->rows, &key))
        *miss = WEIR_MISS_EXPIRED;
    else if (lookup->is_operator && is_elsewhere(memory, tenant_id, lookup->handle))
        *miss = WEIR_MISS_OTHER_TENANT;
    return WEIR_NOTFOUND;
}

static weir_status memory_has(struct weir_store *store, weir_span tenant_name,
                              const weir_hash *hashes, size_t hashes_count, bool *is_there,
                              struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    const struct tenant *tenant = find_tenant(memory, tenant_name);

    (void)err;
    for (size_t i = 0; i < hashes_count && tenant; i++) {
        struct wr_row_key key = wr_row_key_handle(tenant->id, WR_ROW_ARTIFACT, hashes[i].bytes);
        const struct wr_row *row = wr_rows_find(&memory->rows, &key);
        is_there[i] = row && !memcmp(&row->hash, &hashes[i], sizeof(row->hash));
    }
    return WEIR_OK;
}

static weir_status memory_marks(struct weir_store *store, weir_span tenant_name,
                                const weir_hash *keys, size_t keys_count, weir_mark_fn *found,
                                void *user, struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    const struct tenant *tenant = find_tenant(memory, tenant_name);
    size_t answers_count = tenant ? keys_count * WEIR_MARK_KINDS_COUNT : 0;

    for (size_t i = 0; i < answers_count; i++) {
        struct weir_mark mark = {.key = keys[i / WEIR_MARK_KINDS_COUNT],
                                 .kind = (weir_mark_kind)(i % WEIR_MARK_KINDS_COUNT)};
        struct wr_row_key key = wr_row_key_mark(tenant->id, &mark.key, mark.kind);
        const struct wr_row *row = wr_rows_find(&memory->rows, &key);
        if (!row)
            continue;
        mark.value = (weir_span){row->value, row->value_bytes};
        weir_status status = found(user, i / WEIR_MARK_KINDS_COUNT, &mark);
        if (status)
            return wr_fail(err, status, 0, "the search for marks was stopped");
    }
    return WEIR_OK;
}

static weir_status memory_pin(struct weir_store *store, weir_span tenant_name,
                              weir_span session_name, struct weir_pin *pin, struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    const struct tenant *tenant = find_tenant(memory, tenant_name);
    const struct session *session = tenant ? find_session(memory, tenant, session_name) : NULL;
    const struct wr_row *row = NULL;

    if (session) {
        struct wr_row_key key = wr_row_key_pin(tenant->id, session->id, pin);
        row = wr_rows_find(&memory->rows, &key);
    }
    if (!row)
        return wr_fail(err, WEIR_NOTFOUND, 0, "no such pin");
    pin->value = (weir_span){row->value, row->value_bytes};
    return WEIR_OK;
}

static weir_status memory_touch(struct weir_store *store, weir_span tenant_name,
                                weir_span session_name, int64_t used_ms, struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    const struct tenant *tenant = find_tenant(memory, tenant_name);
    struct session *session = tenant ? find_session(memory, tenant, session_name) : NULL;

    (void)err;
    if (session && session->used_ms < used_ms)
        session->used_ms = used_ms;
    return WEIR_OK;
}

/* ---- what leaves ---- */

struct removal {
    struct memory *memory;
    bool remembers;
    int64_t now_ms;
    struct weir_gc_report *report;
};

static void count_removed(struct weir_gc_report *report, const struct wr_row *row)
{
    switch (row->kind) {
    case WR_ROW_ARTIFACT:
        report->artifacts_count++;
        report->stored_bytes += row->value_bytes;
        break;
    case WR_ROW_MARK:
        report->marks_count++;
        break;
    case WR_ROW_PIN:
        report->pins_count++;
        break;
    case WR_ROW_EXPIRED:
        break;
    }
}

/* Turns an artifact into the memory of one: no new row, so it cannot fail. */
static void expire_row(struct removal *removal, struct wr_row *row)
{
    free(row->value);
    row->value = NULL;
    row->value_bytes = 0;
    row->kind = WR_ROW_EXPIRED;
    row->gone_ms = removal->now_ms;
    wr_rows_link(&removal->memory->rows, row);
}

/* Rows of the session that nobody else refers to leave; their handles may stay. */
static void drop_rows(struct removal *removal, uint64_t session_id)
{
    struct wr_rows *rows = &removal->memory->rows;
    struct wr_row *expired = NULL;
    struct wr_rows_walk walk;

    for (struct wr_row *row = wr_rows_first(rows, &walk); row; row = wr_rows_next(&walk)) {
        size_t user = wr_row_user(row, session_id);
        if (user == row->users_count)
            continue;
        row->users[user] = row->users[--row->users_count];
        if (row->users_count)
            continue;
        count_removed(removal->report, row);
        wr_rows_unlink(rows, row);
        if (row->kind == WR_ROW_ARTIFACT && removal->remembers) {
            row->next = expired;
            expired = row;
        } else {
            wr_row_free(row);
        }
    }
    while (expired) {
        struct wr_row *next = expired->next;
        expire_row(removal, expired);
        expired = next;
    }
}

static void remove_session(struct removal *removal, struct session *session)
{
    drop_rows(removal, session->id);
    drop_session(removal->memory, session);
    removal->report->sessions_count++;
}

static bool remove_oldest(struct removal *removal, int64_t before_ms)
{
    struct session *oldest = NULL;
    for (struct session *s = removal->memory->sessions; s; s = s->next)
        if (s->used_ms < before_ms && (!oldest || s->used_ms < oldest->used_ms))
            oldest = s;
    if (oldest)
        remove_session(removal, oldest);
    return oldest != NULL;
}

static uint64_t artifact_bytes(const struct memory *memory)
{
    struct wr_rows_walk walk;
    uint64_t bytes = 0;
    for (const struct wr_row *row = wr_rows_first(&memory->rows, &walk); row;
         row = wr_rows_next(&walk))
        bytes += row->kind == WR_ROW_ARTIFACT ? row->value_bytes : 0;
    return bytes;
}

static int64_t time_before(int64_t now_ms, int64_t ago_ms)
{
    return now_ms < INT64_MIN + ago_ms ? INT64_MIN : now_ms - ago_ms;
}

static void collect_by_cap(struct removal *removal, uint64_t stored_bytes_max, int64_t before_ms)
{
    uint64_t bytes = artifact_bytes(removal->memory);
    bool removed = true;
    while (bytes > stored_bytes_max && removed) {
        uint64_t before_bytes = removal->report->stored_bytes;
        removed = remove_oldest(removal, before_ms);
        bytes -= removal->report->stored_bytes - before_bytes;
    }
    removal->report->is_over = bytes > stored_bytes_max;
}

static struct wr_row *oldest_expired(const struct memory *memory, uint64_t *count)
{
    struct wr_row *oldest = NULL;
    struct wr_rows_walk walk;

    *count = 0;
    for (struct wr_row *row = wr_rows_first(&memory->rows, &walk); row; row = wr_rows_next(&walk)) {
        if (row->kind != WR_ROW_EXPIRED)
            continue;
        ++*count;
        if (!oldest || row->gone_ms < oldest->gone_ms)
            oldest = row;
    }
    return oldest;
}

static void forget_oldest_expired(struct memory *memory)
{
    uint64_t count;
    struct wr_row *oldest;
    while ((oldest = oldest_expired(memory, &count)) && count > WR_STORE_EXPIRED_COUNT_MAX) {
        wr_rows_unlink(&memory->rows, oldest);
        wr_row_free(oldest);
    }
}

static weir_status memory_gc(struct weir_store *store, const struct weir_gc_options *options,
                             struct weir_gc_report *report, struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    struct removal removal = {memory, true, options->now_ms, report};
    int64_t live_ms = time_before(options->now_ms, options->live_ms);
    int64_t old_ms = time_before(options->now_ms, options->retention_ms);

    (void)err;
    for (struct session *s = memory->sessions; s; s = s->next)
        if (s->used_ms > options->now_ms)
            s->used_ms = options->now_ms;
    if (options->retention_ms)
        while (remove_oldest(&removal, old_ms < live_ms ? old_ms : live_ms))
            ;
    if (options->stored_bytes_max)
        collect_by_cap(&removal, options->stored_bytes_max, live_ms);
    forget_oldest_expired(memory);
    return WEIR_OK;
}

static void purge_tenant(struct removal *removal, struct tenant *tenant)
{
    struct memory *memory = removal->memory;
    struct session *next_session;
    struct wr_rows_walk walk;
    for (struct session *s = memory->sessions; s; s = next_session) {
        next_session = s->next;
        if (s->tenant == tenant)
            remove_session(removal, s);
    }
    for (struct wr_row *row = wr_rows_first(&memory->rows, &walk); row; row = wr_rows_next(&walk)) {
        if (row->tenant_id != tenant->id)
            continue;
        wr_rows_unlink(&memory->rows, row);
        wr_row_free(row);
    }
    drop_tenant(memory, tenant);
}

static weir_status memory_purge(struct weir_store *store, weir_span tenant_name,
                                weir_span session_name, struct weir_gc_report *report,
                                struct weir_err *err)
{
    struct memory *memory = memory_of(store);
    struct removal removal = {memory, false, 0, report};
    struct tenant *tenant = find_tenant(memory, tenant_name);
    struct session *session = tenant ? find_session(memory, tenant, session_name) : NULL;

    if (tenant_name.len && (!tenant || (session_name.len && !session)))
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such session or tenant");
    if (session)
        remove_session(&removal, session);
    else if (tenant)
        purge_tenant(&removal, tenant);
    while (!tenant_name.len && memory->tenants)
        purge_tenant(&removal, memory->tenants);
    return WEIR_OK;
}

/* ---- everything ---- */

static weir_span tenant_name_of(const struct memory *memory, uint64_t tenant_id)
{
    const struct tenant *tenant = memory->tenants;
    while (tenant && tenant->id != tenant_id)
        tenant = tenant->next;
    return tenant ? (weir_span){tenant->name, tenant->name_bytes} : WR_LIT("");
}

static weir_status memory_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                                 struct weir_verify_report *report, struct weir_err *err)
{
    const struct memory *memory = memory_of(store);
    struct wr_rows_walk walk;

    for (const struct wr_row *row = wr_rows_first(&memory->rows, &walk); row;
         row = wr_rows_next(&walk)) {
        weir_hash hash;
        if (row->kind != WR_ROW_ARTIFACT)
            continue;
        if (wr_sha256((weir_span){row->value, row->value_bytes}, hash.bytes))
            return wr_fail(err, WEIR_NOMEM, 0, "no memory to verify the store");
        report->artifacts_count++;
        report->text_bytes += row->value_bytes;
        if (!memcmp(&hash, &row->hash, sizeof(hash)))
            continue;
        report->corrupt_count++;
        if (corrupt)
            corrupt(user, tenant_name_of(memory, row->tenant_id), weir_hash_handle(&row->hash));
    }
    return WEIR_OK;
}

static void count_row(struct weir_store_stats *stats, const struct wr_row *row)
{
    switch (row->kind) {
    case WR_ROW_ARTIFACT:
        stats->artifacts_count++;
        stats->text_bytes += row->value_bytes;
        stats->stored_bytes += row->value_bytes;
        break;
    case WR_ROW_MARK:
        stats->marks_count++;
        break;
    case WR_ROW_PIN:
        stats->pins_count++;
        break;
    case WR_ROW_EXPIRED:
        stats->expired_count++;
        break;
    }
}

static weir_status memory_stats(struct weir_store *store, struct weir_store_stats *stats,
                                struct weir_err *err)
{
    const struct memory *memory = memory_of(store);
    struct wr_rows_walk walk;

    (void)err;
    for (const struct wr_row *row = wr_rows_first(&memory->rows, &walk); row;
         row = wr_rows_next(&walk))
        count_row(stats, row);
    for (const struct tenant *t = memory->tenants; t; t = t->next)
        stats->tenants_count++;
    for (const struct session *s = memory->sessions; s; s = s->next) {
        bool is_first = !stats->sessions_count++;
        if (is_first || s->used_ms < stats->oldest_used_ms)
            stats->oldest_used_ms = s->used_ms;
        if (is_first || s->used_ms > stats->newest_used_ms)
            stats->newest_used_ms = s->used_ms;
    }
    return WEIR_OK;
}

static void memory_close(struct weir_store *store)
{
    struct memory *memory = memory_of(store);
    struct weir_gc_report ignored = {0};
    struct removal removal = {memory, false, 0, &ignored};
    while (memory->tenants)
        purge_tenant(&removal, memory->tenants);
    wr_rows_release(&memory->rows);
    free(memory);
}

static const struct weir_store_ops ops = {
    .struct_bytes = sizeof(ops),
    .commit = memory_commit,
    .get = memory_get,
    .marks = memory_marks,
    .pin = memory_pin,
    .touch = memory_touch,
    .gc = memory_gc,
    .purge = memory_purge,
    .verify = memory_verify,
    .stats = memory_stats,
    .close = memory_close,
    .has = memory_has,
};

weir_status weir_store_new_memory(size_t bytes_max, struct weir_store **store)
{
    struct memory *memory = calloc(1, sizeof(*memory));

    *store = NULL;
    if (!memory || !wr_rows_init(&memory->rows)) {
        free(memory);
        return WEIR_NOMEM;
    }
    memory->store.ops = &ops;
    memory->bytes_max = bytes_max ? bytes_max : WR_STORE_MEMORY_BYTES_MAX;
    *store = &memory->store;
    return WEIR_OK;
}
