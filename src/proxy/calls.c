#include "proxy/calls.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/span.h"

enum { ID_BYTES_MAX = 256, GROW_COUNT = 4 };

void wr_calls_init(struct wr_calls *calls)
{
    *calls = (struct wr_calls){.items = NULL};
    wr_buf_init(&calls->answer_id, ID_BYTES_MAX);
}

void wr_calls_release(struct wr_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        wr_buf_release(&calls->items[i].id);
        wr_buf_release(&calls->items[i].name);
        wr_buf_release(&calls->items[i].arguments);
    }
    free(calls->items);
    wr_buf_release(&calls->answer_id);
    wr_calls_init(calls);
}

static struct wr_call *new_call(struct wr_calls *calls, int64_t index)
{
    if (calls->count == WR_PROXY_CALLS_MAX)
        return NULL;
    if (calls->count % GROW_COUNT == 0) {
        struct wr_call *items =
            realloc(calls->items, (calls->count + GROW_COUNT) * sizeof(struct wr_call));
        if (!items)
            return NULL;
        calls->items = items;
    }
    struct wr_call *call = &calls->items[calls->count++];
    *call = (struct wr_call){.index = index};
    wr_buf_init(&call->id, ID_BYTES_MAX);
    wr_buf_init(&call->name, WR_TOOL_NAME_BYTES_MAX);
    wr_buf_init(&call->arguments, WR_PROXY_CALL_BYTES_MAX);
    return call;
}

struct wr_call *wr_calls_at(struct wr_calls *calls, int64_t index)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->items[i].index == index)
            return &calls->items[i];
    return new_call(calls, index);
}

void wr_call_add_arguments(struct wr_call *call, weir_span piece)
{
    if (!call || call->is_cut)
        return;
    wr_buf_append(&call->arguments, piece);
    if (!wr_buf_status(&call->arguments))
        return;
    call->is_cut = true;
    wr_buf_release(&call->arguments);
    wr_buf_init(&call->arguments, WR_PROXY_CALL_BYTES_MAX);
}

void wr_calls_add(struct wr_calls *calls, weir_span id, weir_span name, weir_span arguments)
{
    struct wr_call *call = new_call(calls, -1);
    if (!call)
        return;
    wr_buf_append(&call->id, id);
    wr_buf_append(&call->name, name);
    wr_call_add_arguments(call, arguments);
}

/* ---- of many answers ---- */

struct kept {
    wr_hash128 key;
    struct wr_calls calls;
    size_t bytes;
};

struct wr_answers {
    struct kept kept[WR_PROXY_ANSWERS_MAX]; /* a ring: `next` is the oldest */
    size_t next;
    size_t bytes;
};

struct wr_answers *wr_answers_new(void)
{
    return calloc(1, sizeof(struct wr_answers));
}

static void drop(struct wr_answers *answers, struct kept *kept)
{
    if (!kept->bytes)
        return;
    answers->bytes -= kept->bytes;
    wr_calls_release(&kept->calls);
    *kept = (struct kept){.bytes = 0};
}

void wr_answers_free(struct wr_answers *answers)
{
    if (!answers)
        return;
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX; i++)
        drop(answers, &answers->kept[i]);
    free(answers);
}

static size_t bytes_of(const struct wr_calls *calls)
{
    size_t bytes = sizeof(struct kept) + calls->answer_id.cap;
    for (size_t i = 0; i < calls->count; i++)
        bytes += sizeof(struct wr_call) + calls->items[i].id.cap + calls->items[i].name.cap +
                 calls->items[i].arguments.cap;
    return bytes;
}

static wr_hash128 key_of(weir_span tenant, weir_span answer_id)
{
    return wr_hash128_seeded(answer_id, wr_hash128_of(tenant));
}

void wr_answers_take(struct wr_answers *answers, weir_span tenant, struct wr_calls *calls)
{
    if (!calls->count || !calls->answer_id.len || wr_buf_status(&calls->answer_id))
        return;
    struct kept *kept = &answers->kept[answers->next];
    answers->next = (answers->next + 1) % WR_PROXY_ANSWERS_MAX;
    drop(answers, kept);
    *kept = (struct kept){key_of(tenant, wr_buf_view(&calls->answer_id)), *calls, bytes_of(calls)};
    answers->bytes += kept->bytes;
    wr_calls_init(calls);
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX && answers->bytes > WR_PROXY_ANSWERS_BYTES_MAX; i++)
        drop(answers, &answers->kept[(answers->next + i) % WR_PROXY_ANSWERS_MAX]);
}

const struct wr_calls *wr_answers_find(const struct wr_answers *answers, weir_span tenant,
                                       weir_span answer_id)
{
    wr_hash128 key = key_of(tenant, answer_id);
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX; i++)
        if (answers->kept[i].bytes && answers->kept[i].key.low == key.low &&
            answers->kept[i].key.high == key.high)
            return &answers->kept[i].calls;
    return NULL;
}
