#include "api/calls.h"

#include <stdio.h>

#include "base/span.h"

/* An output with more calls than that pairs by id alone. */
enum { CALLS_SEARCHED_MAX = 1024, NUMBER_BYTES = 12 };

void wr_calls_init(struct wr_calls *calls, struct wr_transcript *t)
{
    *calls = (struct wr_calls){.t = t, .message = WR_JSON_NONE};
    for (uint32_t i = 0; i < t->segments_count; i++)
        calls->count += t->segments[i].kind == WEIR_KIND_TOOL_CALL;
}

static bool is_numbered(const struct wr_segment *call)
{
    return call->call_id.len && call->call_id.ptr[0] == '#';
}

weir_status wr_calls_number(struct wr_calls *calls, struct wr_segment *call)
{
    calls->count++;
    if (call->call_id.len)
        return WEIR_OK;
    char *number = wr_arena_alloc(calls->t->arena, NUMBER_BYTES);
    if (!number)
        return wr_arena_status(calls->t->arena);
    int bytes = snprintf(number, NUMBER_BYTES, "#%u", calls->count);
    call->call_id = (weir_span){number, (size_t)bytes};
    return WEIR_OK;
}

/* Finds the model output before a message, and which of its calls have results already. */
static weir_status find_output(struct wr_calls *calls, wr_json_id message)
{
    struct wr_transcript *t = calls->t;
    uint32_t end = t->segments_count;

    if (calls->message == message)
        return WEIR_OK;
    calls->message = message;
    while (end && !t->segments[end - 1].from_model)
        end--;
    uint32_t first = end;
    while (first && t->segments[first - 1].from_model && end - first < CALLS_SEARCHED_MAX)
        first--;
    calls->output_first = first;
    calls->output_end = end;
    calls->is_answered = WR_ARENA_ARRAY(t->arena, bool, end - first);
    if (!calls->is_answered)
        return wr_arena_status(t->arena);
    for (uint32_t i = end; i < t->segments_count && i - end < CALLS_SEARCHED_MAX; i++)
        for (uint32_t k = first; k < end && t->segments[i].kind == WEIR_KIND_TOOL_RESULT; k++)
            if (wr_span_eq(t->segments[k].call_id, t->segments[i].call_id))
                calls->is_answered[k - first] = true;
    return WEIR_OK;
}

weir_status wr_calls_find(struct wr_calls *calls, wr_json_id message, weir_span tool, weir_span *id)
{
    weir_status status = find_output(calls, message);

    for (uint32_t i = calls->output_first; i < calls->output_end && !status; i++) {
        const struct wr_segment *call = &calls->t->segments[i];
        if (call->kind != WEIR_KIND_TOOL_CALL || calls->is_answered[i - calls->output_first])
            continue;
        bool is_meant = id->len && !is_numbered(call)
                            ? wr_span_eq(call->call_id, *id)
                            : wr_span_eq(call->tool, tool) || (calls->takes_nameless && !tool.len);
        if (!is_meant)
            continue;
        calls->is_answered[i - calls->output_first] = true;
        *id = call->call_id;
        break;
    }
    return status;
}
