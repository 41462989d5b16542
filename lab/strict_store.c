/* The store of one way through a case: a store in memory behind one that can lose what it holds,
 * give it back with other bytes, or refuse to write. The damage is done here and not in the
 * engine's way, so that the engine meets it as it would meet a bad disk.
 *
 * Below it, what a model would do then: find which required texts are a recall away, and recall
 * them. */
#include "lab/strict_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/recall.h"
#include "weir/recall.h"
#include "weir/store_host.h"

/* What a recall asks for: so many lines around a text. */
enum { LINES_BEFORE = 10, LINES_BEHIND = 30 };

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

static struct artifact *find_artifact(const struct strict_store *s, weir_handle handle)
{
    for (size_t i = 0; i < s->count; i++)
        if (!memcmp(s->artifacts[i].hash.bytes, handle.bytes, WEIR_HANDLE_BYTES))
            return &s->artifacts[i];
    return NULL;
}

static weir_status note(struct strict_store *s, const weir_hash *hash)
{
    struct artifact *known = find_artifact(s, weir_hash_handle(hash));
    if (known) {
        known->trouble = WR_CASE_SOUND;
        return WEIR_OK;
    }
    if (!WR_HEAP_ROOM(s->artifacts, s->count, s->cap, 64))
        return WEIR_NOMEM;
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
    const struct artifact *known = find_artifact(s, lookup->handle);

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

/* ---- what a turn requires and must recall ---- */

static struct weir_lookup lookup_of(weir_handle handle)
{
    return (struct weir_lookup){.tenant = WR_LIT("local"), .handle = handle};
}

static bool holds(struct weir_store *store, weir_handle handle, weir_span text)
{
    struct weir_lookup lookup = lookup_of(handle);
    struct weir_artifact artifact;
    return !weir_store_get(store, &lookup, &artifact, NULL, NULL) &&
           wr_span_find(artifact.text, text, 0) != SIZE_MAX;
}

weir_status wr_strict_find_wants(struct wr_strict_wants *wants, struct wr_arena *arena,
                                 const struct wr_case_texts *required, weir_span words,
                                 const struct wr_strict_handles *handles, struct weir_store *store)
{
    *wants = (struct wr_strict_wants){.count = 0};
    wants->items = WR_ARENA_ARRAY(arena, struct wr_strict_want, required->count);
    if (!wants->items)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < required->count; i++) {
        weir_span text = required->items[i];
        uint32_t k = 0;
        if (wr_span_find(words, text, 0) != SIZE_MAX)
            continue;
        while (k < handles->count && !holds(store, handles->items[k], text))
            k++;
        if (k < handles->count)
            wants->items[wants->count++] = (struct wr_strict_want){handles->items[k], text};
        else if (!wants->lost.len)
            wants->lost = text;
    }
    return WEIR_OK;
}

static uint64_t line_of(weir_span text, size_t at)
{
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text.ptr[i] == '\n';
    return line;
}

/* The lines around a text, in the arena. */
static weir_status recall_lines(struct weir_store *store, const struct wr_strict_want *want,
                                struct wr_arena *arena, weir_span *lines_around)
{
    struct weir_lookup lookup = lookup_of(want->handle);
    struct weir_artifact artifact;
    weir_status status = weir_store_get(store, &lookup, &artifact, NULL, NULL);
    if (status)
        return status;
    uint64_t lines = line_of(artifact.text, artifact.text.len);
    uint64_t line = line_of(artifact.text, wr_span_find(artifact.text, want->text, 0));
    struct weir_lines range = {.first = line > LINES_BEFORE ? line - LINES_BEFORE : 1,
                               .last = line + LINES_BEHIND < lines ? line + LINES_BEHIND
                                                                   : WEIR_LINES_END};
    struct weir_recall_options options = {.lines = &range, .lines_count = 1};
    struct weir_recalled recalled = {.owned = NULL};
    status = weir_recall(store, &lookup, &options, &recalled, NULL, NULL);
    if (!status)
        *lines_around = wr_arena_copy(arena, recalled.text);
    weir_recalled_release(&recalled);
    return status ? status : wr_arena_status(arena);
}

weir_status wr_strict_recall(struct wr_buf *out, size_t *call_bytes, struct wr_arena *arena,
                             const struct wr_strict_wants *wants, weir_dialect dialect,
                             uint64_t number, struct weir_store *store)
{
    struct wr_recall *recalls = WR_ARENA_ARRAY(arena, struct wr_recall, wants->count);
    weir_status status = recalls ? WEIR_OK : wr_arena_status(arena);
    for (uint32_t i = 0; i < wants->count && !status; i++) {
        recalls[i].handle = wants->items[i].handle;
        status = recall_lines(store, &wants->items[i], arena, &recalls[i].result);
    }
    return status ? status
                  : wr_recall_write(out, call_bytes, arena, dialect, number, recalls, wants->count);
}
