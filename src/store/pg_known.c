/* What a connection to PostgreSQL knows of sessions: tables of hashes over growing lists.
 *
 * A session's marks, originals and pins are lists; a table with open addresses finds their places.
 * Each use of a session is numbered, and the one with the lowest number is forgotten first.
 */
#include "store/pg_known.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

enum { LIST_CAP_FIRST = 64, TABLE_CAP_FIRST = 128 };

/* ---- tables ---- */

/* Makes room for one more, by the hashes that `hash_at` gives of the list. */
static bool make_room(struct wr_pg_session *session, struct wr_pg_table *table,
                      uint64_t (*hash_at)(const struct wr_pg_session *session, size_t at))
{
    if (2 * (table->count + 1) <= table->cap)
        return true;
    size_t cap = table->cap ? 2 * table->cap : TABLE_CAP_FIRST;
    uint32_t *places = WR_ARENA_ARRAY(&session->arena, uint32_t, cap);
    if (!places)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        size_t at = hash_at(session, i) & (cap - 1);
        while (places[at])
            at = (at + 1) & (cap - 1);
        places[at] = (uint32_t)i + 1;
    }
    table->places = places;
    table->cap = cap;
    return true;
}

static void put_last(struct wr_pg_table *table, uint64_t hash)
{
    size_t at = hash & (table->cap - 1);
    while (table->places[at])
        at = (at + 1) & (table->cap - 1);
    table->places[at] = (uint32_t)++table->count;
}

/* ---- marks ---- */

static uint64_t mark_hash(const weir_hash *key, weir_mark_kind kind)
{
    return wr_hash64_seeded((weir_span){(const char *)key->bytes, WEIR_HASH_BYTES}, (uint64_t)kind);
}

static uint64_t mark_hash_at(const struct wr_pg_session *session, size_t at)
{
    return mark_hash(&session->marks[at].key, session->marks[at].kind);
}

static struct wr_pg_mark *find_mark(const struct wr_pg_session *session, const weir_hash *key,
                                    weir_mark_kind kind)
{
    const struct wr_pg_table *table = &session->by_key;
    size_t at = mark_hash(key, kind) & (table->cap - 1);

    for (; table->cap && table->places[at]; at = (at + 1) & (table->cap - 1)) {
        struct wr_pg_mark *mark = &session->marks[table->places[at] - 1];
        if (mark->kind == kind && !memcmp(&mark->key, key, sizeof(*key)))
            return mark;
    }
    return NULL;
}

void wr_pg_session_mark(struct wr_pg_session *session, const struct weir_mark *mark)
{
    struct wr_pg_mark *found = find_mark(session, &mark->key, mark->kind);

    if (mark->kind == WEIR_MARK_SESSION || (found && wr_span_eq(found->value, mark->value)))
        return;
    weir_span value = wr_arena_copy(&session->arena, mark->value);
    session->is_broken = session->is_broken || !value.ptr;
    if (session->is_broken)
        return;
    if (found) {
        found->value = value;
        return;
    }
    if (!WR_ARENA_ROOM(&session->arena, session->marks, session->marks_count, session->marks_cap,
                       LIST_CAP_FIRST) ||
        !make_room(session, &session->by_key, mark_hash_at)) {
        session->is_broken = true;
        return;
    }
    session->marks[session->marks_count++] = (struct wr_pg_mark){mark->key, mark->kind, value};
    put_last(&session->by_key, mark_hash(&mark->key, mark->kind));
}

const weir_span *wr_pg_session_find_mark(const struct wr_pg_session *session, const weir_hash *key,
                                         weir_mark_kind kind)
{
    const struct wr_pg_mark *found = find_mark(session, key, kind);
    return found ? &found->value : NULL;
}

/* ---- originals ---- */

static uint64_t original_hash(const weir_hash *hash)
{
    uint64_t number;
    memcpy(&number, hash->bytes, sizeof(number)); /* of a SHA-256: as good as any */
    return number;
}

static uint64_t original_hash_at(const struct wr_pg_session *session, size_t at)
{
    return original_hash(&session->originals[at]);
}

bool wr_pg_session_has(const struct wr_pg_session *session, const weir_hash *hash)
{
    const struct wr_pg_table *table = &session->by_hash;
    size_t at = original_hash(hash) & (table->cap - 1);

    for (; table->cap && table->places[at]; at = (at + 1) & (table->cap - 1))
        if (!memcmp(&session->originals[table->places[at] - 1], hash, sizeof(*hash)))
            return true;
    return false;
}

void wr_pg_session_original(struct wr_pg_session *session, const weir_hash *hash)
{
    if (session->is_broken || wr_pg_session_has(session, hash))
        return;
    if (!WR_ARENA_ROOM(&session->arena, session->originals, session->originals_count,
                       session->originals_cap, LIST_CAP_FIRST) ||
        !make_room(session, &session->by_hash, original_hash_at)) {
        session->is_broken = true;
        return;
    }
    session->originals[session->originals_count++] = *hash;
    put_last(&session->by_hash, original_hash(hash));
}

/* ---- pins ---- */

static struct weir_pin *find_pin(const struct wr_pg_session *session, const struct weir_pin *pin)
{
    for (size_t i = 0; i < session->pins_count; i++)
        if (wr_span_eq(session->pins[i].model, pin->model) &&
            !memcmp(&session->pins[i].first_turn, &pin->first_turn, sizeof(pin->first_turn)))
            return &session->pins[i];
    return NULL;
}

const weir_span *wr_pg_session_find_pin(const struct wr_pg_session *session,
                                        const struct weir_pin *pin)
{
    const struct weir_pin *found = find_pin(session, pin);
    return found ? &found->value : NULL;
}

void wr_pg_session_pin(struct wr_pg_session *session, const struct weir_pin *pin)
{
    struct weir_pin *found = find_pin(session, pin);

    if (session->is_broken || (found && wr_span_eq(found->value, pin->value)))
        return;
    struct weir_pin copy = {.model = wr_arena_copy(&session->arena, pin->model),
                            .first_turn = pin->first_turn,
                            .value = wr_arena_copy(&session->arena, pin->value)};
    if (!copy.model.ptr || !copy.value.ptr)
        session->is_broken = true;
    else if (found) /* before there is room for one more: that may move them */
        *found = copy;
    else if (WR_ARENA_ROOM(&session->arena, session->pins, session->pins_count, session->pins_cap,
                           4))
        session->pins[session->pins_count++] = copy;
    else
        session->is_broken = true;
}

/* ---- sessions ---- */

uint64_t wr_pg_session_name(weir_span tenant, weir_span session)
{
    return wr_hash64_seeded(session, wr_hash64(tenant));
}

static struct wr_pg_session **slot_of(struct wr_pg_known *known, uint64_t name)
{
    struct wr_pg_session **oldest = &known->sessions[0];

    for (size_t i = 0; i < WR_PG_KNOWN_COUNT; i++) {
        struct wr_pg_session **slot = &known->sessions[i];
        if (*slot && (*slot)->name == name)
            return slot;
        if (*oldest && (!*slot || (*slot)->used_at < (*oldest)->used_at))
            oldest = slot;
    }
    return oldest;
}

static void empty_slot(struct wr_pg_session **slot)
{
    if (*slot)
        wr_arena_release(&(*slot)->arena);
    free(*slot);
    *slot = NULL;
}

struct wr_pg_session *wr_pg_known_find(struct wr_pg_known *known, uint64_t name)
{
    struct wr_pg_session **slot = slot_of(known, name);

    if (!*slot || (*slot)->name != name)
        return NULL;
    if ((*slot)->is_broken) {
        empty_slot(slot);
        return NULL;
    }
    (*slot)->used_at = ++known->uses_count;
    return *slot;
}

struct wr_pg_session *wr_pg_known_make(struct wr_pg_known *known, uint64_t name)
{
    struct wr_pg_session **slot = slot_of(known, name);

    empty_slot(slot);
    *slot = calloc(1, sizeof(**slot));
    if (!*slot)
        return NULL;
    (*slot)->name = name;
    (*slot)->used_at = ++known->uses_count;
    wr_arena_init(&(*slot)->arena, WR_STORE_KNOWN_BYTES_MAX);
    return *slot;
}

void wr_pg_known_forget(struct wr_pg_known *known, uint64_t name)
{
    struct wr_pg_session **slot = slot_of(known, name);
    if (*slot && (*slot)->name == name)
        empty_slot(slot);
}

void wr_pg_known_release(struct wr_pg_known *known)
{
    for (size_t i = 0; i < WR_PG_KNOWN_COUNT; i++)
        empty_slot(&known->sessions[i]);
}
