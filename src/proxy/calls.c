#include "proxy/calls.h"

#include <stdlib.h>

#include "base/span.h"

enum { ID_BYTES_MAX = 256, GROW_COUNT = 4 };

void wr_calls_init(struct wr_calls *calls)
{
    *calls = (struct wr_calls){.items = NULL};
    wr_buf_init(&calls->answer_id, ID_BYTES_MAX);
    wr_buf_init(&calls->conversation_id, ID_BYTES_MAX);
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
    wr_buf_release(&calls->conversation_id);
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
