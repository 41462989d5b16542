/* own_kept.c -- see own_kept.h. Keys and values in the store:
 *
 *   pin   "weir own recall MODEL", by first turn        the definition; empty: none for good
 *   mark  session, turns before, answer seen            HANDLE of the exchange, or "HANDLE left"
 *   mark  the id by which the client knows an answer    "HANDLE ID": the last leg's id
 *
 * A store that fails is asked again a few times: faults of a moment are over by then, and what is
 * lost here cannot be had from the client.
 */
#include "proxy/own_kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "store/store.h"

#define PIN_NAME "weir own recall " /* no model is called so */
#define LEFT     " left"            /* in the value of a mark: the exchange is out for good */

enum {
    SESSIONS_MAX = 512, /* that a thread remembers */
    FOUND_CAP_FIRST = 8,
    HITS_CAP_FIRST = 8,
    ASKS_MAX = 3, /* of a store that fails */
    VALUE_BYTES = WEIR_HANDLE_TEXT_BYTES + sizeof(LEFT)
};

/* ---- what a thread remembers ---- */

struct wr_own_memos {
    struct wr_own_memo sessions[SESSIONS_MAX];
    uint64_t uses;
    size_t bytes_max;
};

struct wr_own_memos *wr_own_memos_new(size_t bytes_max)
{
    struct wr_own_memos *memos = calloc(1, sizeof(*memos));

    if (memos)
        memos->bytes_max = bytes_max;
    return memos;
}

void wr_own_memo_shorten(struct wr_own_memo *memo, uint32_t count)
{
    while (memo->found_count > count) {
        weir_span exchange = memo->found[--memo->found_count].exchange;
        memo->bytes -= exchange.len;
        free((char *)exchange.ptr);
    }
}

void wr_own_memo_forget_found(struct wr_own_memo *memo)
{
    wr_own_memo_shorten(memo, 0);
    free(memo->found);
    memo->found = NULL;
    memo->found_cap = memo->answers_count = 0;
    memo->keys = wr_hash128_of((weir_span){"", 0});
}

static void clear_session(struct wr_own_memo *memo)
{
    wr_own_memo_forget_found(memo);
    free((char *)memo->definition.ptr);
    *memo = (struct wr_own_memo){.keys = memo->keys};
}

void wr_own_memos_free(struct wr_own_memos *memos)
{
    if (!memos)
        return;
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        clear_session(&memos->sessions[i]);
    free(memos);
}

/* Those that were used longest ago give way, but never the one at hand. */
static void make_room(struct wr_own_memos *memos, const struct wr_own_memo *at_hand)
{
    size_t bytes = 0;

    for (size_t i = 0; i < SESSIONS_MAX; i++)
        bytes += memos->sessions[i].bytes;
    while (bytes > memos->bytes_max) {
        struct wr_own_memo *oldest = NULL;
        for (size_t i = 0; i < SESSIONS_MAX; i++) {
            struct wr_own_memo *memo = &memos->sessions[i];
            if (memo->bytes && memo != at_hand && (!oldest || memo->used < oldest->used))
                oldest = memo;
        }
        if (!oldest)
            return;
        bytes -= oldest->bytes;
        clear_session(oldest);
    }
}

struct wr_own_memo *wr_own_memo_of(struct wr_own_memos *memos, weir_span tenant, weir_span session)
{
    wr_hash128 name = wr_hash128_seeded(session, wr_hash128_of(tenant));
    struct wr_own_memo *found = NULL, *oldest = &memos->sessions[0];

    for (size_t i = 0; i < SESSIONS_MAX && !found; i++) {
        struct wr_own_memo *memo = &memos->sessions[i];
        if (memo->used && memo->session.low == name.low && memo->session.high == name.high)
            found = memo;
        else if (memo->used < oldest->used)
            oldest = memo;
    }
    if (!found) {
        clear_session(oldest);
        oldest->session = name;
        found = oldest;
    }
    found->used = ++memos->uses;
    make_room(memos, found);
    return found;
}

bool wr_own_memo_add(struct wr_own_memo *memo, const struct wr_own_found *found)
{
    weir_span exchange = found->exchange;
    char *copy = malloc(exchange.len ? exchange.len : 1);

    if (!copy || !WR_HEAP_ROOM(memo->found, memo->found_count, memo->found_cap, FOUND_CAP_FIRST)) {
        free(copy);
        return false;
    }
    if (exchange.len)
        memcpy(copy, exchange.ptr, exchange.len);
    memo->found[memo->found_count] = *found;
    memo->found[memo->found_count++].exchange = (weir_span){copy, exchange.len};
    memo->bytes += exchange.len;
    return true;
}

void wr_own_memo_define(struct wr_own_memo *memo, wr_hash128 pin, weir_span definition)
{
    char *copy = definition.len ? malloc(definition.len) : NULL;

    if (definition.len && !copy)
        return;
    if (copy)
        memcpy(copy, definition.ptr, definition.len);
    memo->bytes += definition.len - memo->definition.len;
    free((char *)memo->definition.ptr);
    memo->definition = (weir_span){copy, definition.len};
    memo->has_none = !definition.len;
    memo->pin = pin;
}

/* ---- what the store has ---- */

/* Whether it is to be asked again. */
static bool is_asked_again(weir_status status, int *asks)
{
    return status && status != WEIR_NOTFOUND && status != WEIR_NOMEM && ++*asks < ASKS_MAX;
}

void wr_own_follow(const struct wr_own_input *in)
{
    int asks = 0;

    if (wr_store_place(in->store))
        while (is_asked_again(wr_store_probe(in->store, false, NULL), &asks))
            continue;
}

weir_status wr_own_read_pin(const struct wr_own_input *in, struct weir_pin *pin)
{
    struct weir_pin asked = *pin;
    weir_status status;
    int asks = 0;

    do {
        *pin = asked;
        status = weir_store_pin(in->store, in->tenant, in->session, pin, NULL);
    } while (is_asked_again(status, &asks));
    return status;
}

weir_status wr_own_read_original(const struct wr_own_input *in, const struct weir_lookup *lookup,
                                 struct weir_artifact *original)
{
    weir_status status;
    int asks = 0;

    do
        status = weir_store_get(in->store, lookup, original, NULL, NULL);
    while (is_asked_again(status, &asks));
    return status;
}

/* A batch that is refused for what it holds is refused each time. */
static bool commit(const struct wr_own_input *in, struct weir_batch *batch)
{
    weir_status status;
    int asks = 0;

    do
        status = weir_store_commit(in->store, batch, NULL);
    while (status != WEIR_INVALID && is_asked_again(status, &asks));
    return !status;
}

/* ---- the definition ---- */

struct weir_pin wr_own_pin_of(const struct wr_own_input *in, weir_span model)
{
    char name[WR_STORE_NAME_BYTES_MAX + 1];
    struct weir_pin pin = {.value = {"", 0}};
    int bytes =
        snprintf(name, sizeof(name), PIN_NAME "%.*s",
                 (int)(model.len < WR_MODEL_NAME_BYTES_MAX ? model.len : WR_MODEL_NAME_BYTES_MAX),
                 model.len ? model.ptr : "");
    pin.model = wr_arena_copy(in->arena, (weir_span){name, (size_t)bytes});
    return pin;
}

bool wr_own_keep_definition(const struct wr_own_input *in, struct weir_pin pin,
                            weir_span definition, bool replaces)
{
    struct weir_pin pins[2];
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .pins = pins,
                               .pins_count = 2};
    pin.value = definition;
    pin.replaces = replaces;
    pins[0] = pins[1] = pin;
    pins[1].first_turn = (weir_hash){{0}};
    pins[1].replaces = true;
    return commit(in, &batch);
}

bool wr_own_keep_none(const struct wr_own_input *in, struct weir_pin pin)
{
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .pins = &pin,
                               .pins_count = 1};
    pin.value = (weir_span){"", 0};
    return commit(in, &batch);
}

/* ---- exchanges ---- */

/* By session too: what the model of one has recalled is nothing to another that has said the same.
 */
weir_hash wr_own_exchange_key(weir_span session, wr_hash128 before, wr_hash128 seen)
{
    weir_hash key = {{0}};

    seen = wr_hash128_seeded(session, seen);
    memcpy(key.bytes, &before, sizeof(before));
    memcpy(key.bytes + sizeof(before), &seen, sizeof(seen));
    return key;
}

struct search {
    const struct wr_own_input *in;
    struct wr_own_hit *hits;
    uint32_t count, cap;
};

static weir_status on_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct search *s = user;
    bool is_left = wr_span_ends(mark->value, WR_LIT(LEFT));
    weir_span name =
        wr_span_cut(mark->value, 0, mark->value.len - (is_left ? sizeof(LEFT) - 1 : 0));
    weir_handle handle;

    if (mark->kind != WEIR_MARK_OWN || !weir_handle_parse(name, &handle))
        return WEIR_OK;
    if (!WR_ARENA_ROOM(s->in->arena, s->hits, s->count, s->cap, HITS_CAP_FIRST))
        return wr_arena_status(s->in->arena);
    s->hits[s->count++] =
        (struct wr_own_hit){.key = (uint32_t)key_index, .is_left = is_left, .handle = handle};
    return WEIR_OK;
}

weir_status wr_own_read_hits(const struct wr_own_input *in, const weir_hash *keys, size_t count,
                             const struct wr_own_hit **hits, uint32_t *hits_count)
{
    struct search search = {.in = in};
    weir_status status;
    int asks = 0;

    do {
        search.count = 0;
        status = weir_store_marks(in->store, in->tenant, keys, count, on_mark, &search, NULL);
    } while (is_asked_again(status, &asks));
    *hits = search.hits;
    *hits_count = search.count;
    return status;
}

/* HANDLE, or "HANDLE left". */
static void write_value(char value[VALUE_BYTES], weir_handle handle, bool is_left)
{
    weir_handle_format(handle, value);
    (void)snprintf(value + WEIR_HANDLE_TEXT_BYTES, sizeof(LEFT), "%s", is_left ? LEFT : "");
}

bool wr_own_keep_left(const struct wr_own_input *in, weir_hash key, weir_handle handle)
{
    char value[VALUE_BYTES];

    write_value(value, handle, true);
    struct weir_mark mark = {
        .key = key, .kind = WEIR_MARK_OWN, .value = wr_span_of(value), .replaces = true};
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .marks = &mark,
                               .marks_count = 1};
    return commit(in, &batch);
}

bool wr_own_keep_all(const struct wr_own_input *in, struct weir_pin pin,
                     const struct wr_own_memo *memo)
{
    struct weir_pin pins[2] = {pin, pin};
    size_t count = memo->found_count;
    struct weir_artifact *originals = WR_ARENA_ARRAY(in->arena, struct weir_artifact, count + 1);
    struct weir_mark *marks = WR_ARENA_ARRAY(in->arena, struct weir_mark, count + 1);
    char *values = wr_arena_alloc(in->arena, (count + 1) * VALUE_BYTES);
    weir_handle handle;

    if (!originals || !marks || !values || !pin.model.ptr)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct wr_own_found *found = &memo->found[i];
        char *value = values + i * VALUE_BYTES;
        if (weir_handle_of(found->exchange, &handle))
            return false;
        write_value(value, handle, found->is_left);
        originals[i] = (struct weir_artifact){.text = found->exchange};
        marks[i] = (struct weir_mark){
            .key = found->key, .kind = WEIR_MARK_OWN, .value = wr_span_of(value), .replaces = true};
    }
    pins[0].value = pins[1].value = memo->definition;
    pins[1].first_turn = (weir_hash){{0}};
    pins[1].replaces = true;
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .artifacts = originals,
                               .artifacts_count = count,
                               .marks = marks,
                               .marks_count = count,
                               .pins = pins,
                               .pins_count = 2};
    return commit(in, &batch);
}

/* ---- answers that are known by another id ---- */

static weir_hash alias_key(weir_span id)
{
    wr_hash128 hash = wr_hash128_of(id);
    return wr_own_exchange_key(WR_LIT("own recall answer"), hash, hash);
}

static weir_status on_alias(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct wr_own_alias *alias = user;
    weir_span value = wr_arena_copy(alias->arena, mark->value);
    size_t space = value.ptr ? wr_span_find(value, WR_LIT(" "), 0) : SIZE_MAX;

    (void)key_index;
    if (mark->kind == WEIR_MARK_OWN && space != SIZE_MAX) {
        alias->handle = wr_span_cut(value, 0, space);
        alias->id = wr_span_cut(value, space + 1, value.len);
    }
    return WEIR_OK;
}

struct wr_own_alias wr_own_alias_find(const struct wr_own_input *in, weir_span id)
{
    struct wr_own_alias alias = {.arena = in->arena, .id = {"", 0}, .handle = {"", 0}};
    weir_hash key = alias_key(id);

    if (in->store && id.len)
        (void)!weir_store_marks(in->store, in->tenant, &key, 1, on_alias, &alias, NULL);
    return alias;
}

bool wr_own_keep_exchange(const struct wr_own_input *in, struct wr_join *join, weir_span exchange,
                          weir_hash key)
{
    char value[WEIR_HANDLE_TEXT_BYTES + 1 + WR_OWN_ID_BYTES_MAX + 1];
    weir_span id_seen = wr_join_id_seen(join), id_last = wr_join_id_last(join);
    struct weir_artifact original = {.text = exchange};
    weir_handle handle;

    if (weir_handle_of(exchange, &handle))
        return false;
    weir_handle_format(handle, value);
    bool has_id = id_seen.len && id_last.len <= WR_OWN_ID_BYTES_MAX;
    int bytes = snprintf(value + WEIR_HANDLE_TEXT_BYTES, sizeof(value) - WEIR_HANDLE_TEXT_BYTES,
                         " %.*s", has_id ? (int)id_last.len : 0, has_id ? id_last.ptr : "");
    struct weir_mark marks[2] = {
        {.key = key,
         .kind = WEIR_MARK_OWN,
         .value = {value, WEIR_HANDLE_TEXT_BYTES},
         .replaces = true},
        {.key = alias_key(id_seen),
         .kind = WEIR_MARK_OWN,
         .value = {value, WEIR_HANDLE_TEXT_BYTES + (size_t)bytes},
         .replaces = true},
    };
    struct weir_batch batch = {.tenant = in->tenant,
                               .session = in->session,
                               .used_ms = in->now_ms,
                               .artifacts = &original,
                               .artifacts_count = 1,
                               .marks = marks,
                               .marks_count = has_id ? 2 : 1};
    return commit(in, &batch);
}
