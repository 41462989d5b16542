/* Finds the handles of each call (transcript/tool.h) and, from them, which results are out of date.
 *
 * A session's next request repeats all its calls, so what was found out about a call and its result
 * is kept in a memo, under a hash of the tool, the arguments and the result. A call and its result
 * share one entry. Staleness is found anew in every request: it depends on what came later.
 */
#include "transcript/order.h"

#include "base/span.h"

/* What a call was made with, as text: the inside of an arguments string, or an object as it stands.
 */
static weir_span call_arguments(const struct wr_transcript *t, const struct wr_segment *call)
{
    if (wr_json_kind(t->doc, call->payload) == WR_JSON_STRING)
        return wr_json_text(t->doc, t->arena, call->payload);
    return wr_json_raw(t->doc, call->payload);
}

enum { CALLS_AHEAD = 32 };

/* Of a result only the first and the last bytes are read. A result of many parts is judged by its
 * first part. */
static weir_status read_result_handles(struct wr_transcript *t, struct wr_tool_handles *handles,
                                       const struct wr_segment *result)
{
    weir_span text = {"", 0};
    if (result->parts_count) {
        text = wr_json_text(t->doc, t->arena, result->parts[0]);
        if (!text.ptr)
            return wr_arena_status(t->arena);
    }
    wr_tool_result(handles, text, result->is_error);
    return WEIR_OK;
}

/* What handles depend on: the tool, what it was called with, and the result. */
static wr_hash128 call_memo_key(const struct wr_transcript *t, const struct wr_segment *call)
{
    wr_hash128 key = wr_hash128_seeded(call->tool, (wr_hash128){call->kind, 0});
    key = wr_hash128_seeded(wr_json_raw(t->doc, call->payload), key);
    if (call->pair == WR_SEGMENT_NONE)
        return key;
    const struct wr_segment *result = &t->segments[call->pair];
    key.high += 1u + result->is_error;
    return result->parts_count ? wr_hash128_add(wr_segment_body_hash(t, result), key) : key;
}

static weir_status make_entry(struct wr_transcript *t, const struct wr_segment *call,
                              struct wr_memo_entry *entry)
{
    weir_span arguments = call_arguments(t, call), no_directory = {"", 0};
    if (!arguments.ptr)
        return wr_arena_status(t->arena);
    weir_status status =
        wr_tool_call(&entry->handles, t->arena, call->tool, arguments, no_directory);
    if (status || call->pair == WR_SEGMENT_NONE)
        return status;
    const struct wr_segment *result = &t->segments[call->pair];
    if (result->parts_count)
        entry->has_slack = wr_order_has_slack(wr_json_inner(t->doc, result->parts[0]));
    return read_result_handles(t, &entry->handles, result);
}

static void share_entry(struct wr_transcript *t, struct wr_segment *call,
                        const struct wr_memo_entry *entry)
{
    call->handles = &entry->handles;
    if (call->pair == WR_SEGMENT_NONE)
        return;
    struct wr_segment *result = &t->segments[call->pair];
    result->handles = &entry->handles;
    result->has_slack = entry->has_slack;
    result->is_slack_known = result->parts_count == 1;
}

static weir_status read_call_handles(struct wr_transcript *t, uint32_t i, wr_hash128 key)
{
    struct wr_segment *call = &t->segments[i];
    struct wr_memo_entry *entry = WR_ARENA_ARRAY(t->arena, struct wr_memo_entry, 1);
    if (!entry)
        return wr_arena_status(t->arena);
    weir_status status = make_entry(t, call, entry);
    if (status)
        return status;
    share_entry(t, call, entry);
    if (t->memo)
        wr_memo_put(t->memo, key, entry);
    return WEIR_OK;
}

/* Calls whose keys are made before the first is looked for, so that the memory of the memo is
 * waited for once. */
struct calls_ahead {
    uint32_t segments[CALLS_AHEAD];
    wr_hash128 keys[CALLS_AHEAD];
    const struct wr_memo_entry *known[CALLS_AHEAD];
    uint32_t count;
};

static weir_status read_calls(struct wr_transcript *t, struct calls_ahead *calls)
{
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < calls->count; i++) {
        calls->known[i] = t->memo ? wr_memo_find(t->memo, calls->keys[i]) : NULL;
        if (calls->known[i])
            __builtin_prefetch(&calls->known[i]->has_slack);
    }
    for (uint32_t i = 0; i < calls->count && !status; i++) {
        uint32_t call = calls->segments[i];
        if (calls->known[i])
            share_entry(t, &t->segments[call], calls->known[i]);
        else
            status = read_call_handles(t, call, calls->keys[i]);
    }
    calls->count = 0;
    return status;
}

static weir_status add_call(struct wr_transcript *t, struct calls_ahead *calls, uint32_t call)
{
    wr_hash128 key = {0, 0};

    if (t->memo) {
        key = call_memo_key(t, &t->segments[call]);
        wr_memo_expect(t->memo, key);
    }
    calls->segments[calls->count] = call;
    calls->keys[calls->count++] = key;
    return calls->count == CALLS_AHEAD ? read_calls(t, calls) : WEIR_OK;
}

static weir_status mark_stale_results(struct wr_transcript *t)
{
    const struct wr_tool_handles **handles =
        WR_ARENA_ARRAY(t->arena, const struct wr_tool_handles *, t->segments_count);
    struct wr_stale *stale = WR_ARENA_ARRAY(t->arena, struct wr_stale, t->segments_count);
    if (!handles || !stale)
        return wr_arena_status(t->arena);

    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_CALL)
            handles[i] = t->segments[i].handles;
    weir_status status =
        wr_stale_mark(stale, t->arena, handles, t->segments_count, (weir_span){"", 0});
    for (uint32_t i = 0; i < t->segments_count && !status; i++) {
        uint32_t result = t->segments[i].pair;
        if (!handles[i] || result == WR_SEGMENT_NONE)
            continue;
        t->segments[result].staleness = stale[i].staleness;
        t->segments[result].stale_by = stale[i].by;
        t->segments[result].touched_by = stale[i].touched_by;
        t->segments[result].is_superseded = stale[i].is_superseded;
    }
    return status;
}

weir_status wr_order_handles(struct wr_transcript *t)
{
    struct calls_ahead calls = {.count = 0};
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < t->segments_count && !status; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_CALL)
            status = add_call(t, &calls, i);
    if (!status)
        status = read_calls(t, &calls);
    return status ? status : mark_stale_results(t);
}

weir_status wr_transcript_know_call(struct wr_transcript *t, uint32_t result, weir_span tool,
                                    weir_span arguments)
{
    struct wr_segment *s = &t->segments[result];
    struct wr_tool_handles *handles;

    if (s->kind != WEIR_KIND_TOOL_RESULT || s->pair != WR_SEGMENT_NONE)
        return WEIR_OK;
    handles = WR_ARENA_ARRAY(t->arena, struct wr_tool_handles, 1);
    if (!handles)
        return wr_arena_status(t->arena);
    weir_span copy = wr_arena_copy(t->arena, arguments);
    if (!copy.ptr)
        return wr_arena_status(t->arena);
    weir_status status = wr_tool_call(handles, t->arena, tool, copy, (weir_span){"", 0});
    if (!status)
        status = read_result_handles(t, handles, s);
    if (status)
        return status;
    s->tool = wr_arena_copy(t->arena, tool);
    if (!s->tool.ptr)
        return wr_arena_status(t->arena);
    s->handles = handles;
    return WEIR_OK;
}
