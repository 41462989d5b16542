#include "proxy/own_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { SESSIONS_MAX = 512, FOUND_CAP_FIRST = 8 };

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
