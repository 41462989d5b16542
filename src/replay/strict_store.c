#include "replay/strict_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "weir/store_host.h"

struct artifact {
    weir_hash hash;
    enum wr_case_trouble trouble;
};

struct strict_store {
    struct weir_store store; /* first: it is one */
    struct weir_store *inner;
    struct artifact *artifacts; /* owned */
    size_t count, cap;
    bool is_locked;
    struct wr_buf altered; /* what a damaged artifact gives */
};

static struct strict_store *store_of(struct weir_store *store)
{
    return (struct strict_store *)store;
}

static struct artifact *find(const struct strict_store *s, weir_handle handle)
{
    for (size_t i = 0; i < s->count; i++)
        if (!memcmp(s->artifacts[i].hash.bytes, handle.bytes, WEIR_HANDLE_BYTES))
            return &s->artifacts[i];
    return NULL;
}

static weir_status note(struct strict_store *s, const weir_hash *hash)
{
    struct artifact *known = find(s, weir_hash_handle(hash));
    if (known) {
        known->trouble = WR_CASE_SOUND;
        return WEIR_OK;
    }
    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        struct artifact *grown = realloc(s->artifacts, cap * sizeof(*grown));
        if (!grown)
            return WEIR_NOMEM;
        s->artifacts = grown;
        s->cap = cap;
    }
    s->artifacts[s->count++] = (struct artifact){.hash = *hash};
    return WEIR_OK;
}

/* ---- what a store does ---- */

static weir_status commit(struct weir_store *store, struct weir_batch *batch, struct weir_err *err)
{
    struct strict_store *s = store_of(store);
    if (s->is_locked) {
        store->trouble = WEIR_TROUBLE_LOCKED;
        return wr_fail(err, WEIR_IO, 0, "%s", weir_trouble_text(WEIR_TROUBLE_LOCKED));
    }
    weir_status status = weir_store_commit(s->inner, batch, err);
    store->trouble = s->inner->trouble;
    for (size_t i = 0; i < batch->artifacts_count && !status; i++)
        status = note(s, &batch->artifacts[i].hash);
    return status;
}

static weir_status get(struct weir_store *store, const struct weir_lookup *lookup,
                       struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err)
{
    struct strict_store *s = store_of(store);
    const struct artifact *known = find(s, lookup->handle);

    if (known && known->trouble == WR_CASE_MISSING) {
        *miss = WEIR_MISS_EXPIRED;
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s", weir_miss_text(*miss));
    }
    weir_status status = weir_store_get(s->inner, lookup, artifact, miss, err);
    store->trouble = s->inner->trouble;
    if (status || !known || known->trouble != WR_CASE_CORRUPT)
        return status;
    wr_buf_reset(&s->altered);
    wr_buf_append(&s->altered, artifact->text);
    wr_buf_text(&s->altered, "?");
    artifact->text = wr_buf_view(&s->altered);
    return wr_buf_status(&s->altered);
}

static weir_status marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                         size_t keys_count, weir_mark_fn *found, void *user, struct weir_err *err)
{
    return weir_store_marks(store_of(store)->inner, tenant, keys, keys_count, found, user, err);
}

static weir_status pin(struct weir_store *store, weir_span tenant, weir_span session,
                       struct weir_pin *value, struct weir_err *err)
{
    return weir_store_pin(store_of(store)->inner, tenant, session, value, err);
}

static weir_status touch(struct weir_store *store, weir_span tenant, weir_span session,
                         int64_t used_ms, struct weir_err *err)
{
    return weir_store_touch(store_of(store)->inner, tenant, session, used_ms, err);
}

static void close_store(struct weir_store *store)
{
    struct strict_store *s = store_of(store);
    weir_store_close(s->inner);
    wr_buf_release(&s->altered);
    free(s->artifacts);
    free(s);
}

weir_status wr_strict_store_new(struct weir_store **store)
{
    static const struct weir_store_ops ops = {.struct_bytes = sizeof(ops),
                                              .commit = commit,
                                              .get = get,
                                              .marks = marks,
                                              .pin = pin,
                                              .touch = touch,
                                              .close = close_store};
    *store = NULL;
    struct strict_store *s = calloc(1, sizeof(*s));
    if (!s)
        return WEIR_NOMEM;
    s->store.ops = &ops;
    wr_buf_init(&s->altered, WR_STORE_ARTIFACT_BYTES_MAX + 1);
    weir_status status = weir_store_new_memory(WR_SIMULATE_STORE_BYTES_MAX, &s->inner);
    if (status)
        free(s);
    else
        *store = &s->store;
    return status;
}

void wr_strict_store_damage(struct weir_store *store, enum wr_case_trouble trouble)
{
    struct strict_store *s = store_of(store);
    s->is_locked = trouble == WR_CASE_LOCKED;
    if (trouble != WR_CASE_MISSING && trouble != WR_CASE_CORRUPT)
        return;
    for (size_t i = 0; i < s->count; i++)
        s->artifacts[i].trouble = trouble;
}
