#include "policy/call.h"

#include "base/span.h"

static const weir_span nothing = {"", 0};

static weir_span arguments_of(const struct wr_transcript *t, const struct wr_segment *call,
                              struct wr_arena *arena)
{
    if (call->payload == WR_JSON_NONE)
        return nothing;
    if (wr_json_kind(t->doc, call->payload) == WR_JSON_STRING)
        return wr_json_text(t->doc, arena, call->payload);
    return wr_json_raw(t->doc, call->payload);
}

weir_span wr_call_result(const struct wr_transcript *t, uint32_t result, struct wr_arena *arena)
{
    const struct wr_segment *s = &t->segments[result];
    return s->parts_count ? wr_segment_text(t, s, arena) : nothing;
}

/* The transcript knows only the wrapper of a wrapped call, so the handles are read here. */
static weir_status read_wrapped_handles(struct wr_call *out, struct wr_arena *arena,
                                        const struct wr_transcript *t, uint32_t result)
{
    struct wr_tool_handles *handles = WR_ARENA_ARRAY(arena, struct wr_tool_handles, 1);
    if (!handles)
        return wr_arena_status(arena);
    weir_status status = wr_tool_call(handles, arena, out->capability, out->arguments, nothing);
    if (!status && result != WR_SEGMENT_NONE) {
        weir_span text = wr_call_result(t, result, arena);
        if (!text.ptr)
            return wr_arena_status(arena);
        wr_tool_result(handles, text, t->segments[result].is_error);
    }
    out->handles = handles;
    return status;
}

/* The text under the first of the names that has one; NULL ptr: no memory. */
static weir_span find_text(const struct wr_json *doc, struct wr_arena *arena,
                           const char *const *names)
{
    for (; *names; names++) {
        wr_json_id value = wr_json_find(doc, 0, *names);
        if (wr_json_is(doc, value, WR_JSON_STRING) && wr_json_inner(doc, value).len)
            return wr_json_text(doc, arena, value);
    }
    return nothing;
}

static weir_status read_object(struct wr_call *out, struct wr_arena *arena, bool is_wrapped)
{
    static const char *const purposes[] = {"purpose", "description", NULL};
    static const char *const capabilities[] = {"capability", NULL};
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, out->arguments, NULL, NULL))
        return wr_arena_status(arena); /* arguments that are no JSON say nothing more */
    out->purpose = wr_span_trim(find_text(&doc, arena, purposes));
    if (is_wrapped) {
        weir_span capability = wr_span_trim(find_text(&doc, arena, capabilities));
        wr_json_id args = wr_json_find(&doc, 0, "args");
        if (capability.len)
            out->capability = capability;
        if (args != WR_JSON_NONE)
            out->arguments = wr_json_raw(&doc, args);
    }
    return wr_arena_status(arena);
}

bool wr_call_is_wrapper(weir_span tool)
{
    return wr_span_is(tool, "call_capability");
}

weir_status wr_call_read(struct wr_call *out, struct wr_arena *arena, const struct wr_transcript *t,
                         uint32_t call)
{
    *out = (struct wr_call){WR_LIT("(unknown)"), nothing, nothing, NULL};
    if (call == WR_SEGMENT_NONE)
        return WEIR_OK;
    const struct wr_segment *s = &t->segments[call];
    bool is_wrapped = wr_call_is_wrapper(s->tool);

    out->arguments = arguments_of(t, s, arena);
    if (!out->arguments.ptr)
        return wr_arena_status(arena);
    if (s->tool.len)
        out->capability = s->tool;
    out->handles = s->handles;
    weir_status status = read_object(out, arena, is_wrapped);
    if (!status && is_wrapped)
        status = read_wrapped_handles(out, arena, t, s->pair);
    if (!out->purpose.len && out->handles)
        out->purpose = wr_span_trim(out->handles->command);
    return status;
}
