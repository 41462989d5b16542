#include "api/spoken.h"

#include "base/ascii.h"
#include "base/span.h"

/* As the text stands in the body, where a line's end is two characters. One call and no more: with
 * several, which part of the answer belongs to which cannot be told. */
#define CALL_FRONT   "Calling tools:\\n[{'id': '"
#define CALL_MIDDLE  "', 'type': 'function', 'function': {'name': '"
#define CALL_END     "', 'arguments': "
#define RESULT_FRONT "Observation:\\n"
#define ERROR_FRONT  "Error:\\n"
#define ID_FRONT     "Call id: "

enum { HANDLE_DIGITS = 20 };

/* The one text of a message; NONE: it has several parts, or another kind. */
static wr_json_id only_text(const struct wr_json *doc, wr_json_id content)
{
    if (wr_json_is(doc, content, WR_JSON_ARRAY)) {
        wr_json_id part = wr_json_first(doc, content);
        if (part == WR_JSON_NONE || wr_json_next(doc, content, part) != WR_JSON_NONE ||
            !wr_json_text_is(doc, wr_json_find(doc, part, "type"), "text"))
            return WR_JSON_NONE;
        content = wr_json_find(doc, part, "text");
    }
    return wr_json_is(doc, content, WR_JSON_STRING) ? content : WR_JSON_NONE;
}

/* Takes what stands before `end` off `rest`, and `end` with it; empty: it is not there, or is no
 * plain name. */
static weir_span take_name(weir_span *rest, const char *end)
{
    weir_span mark = wr_span_of(end);
    size_t at = wr_span_find(*rest, mark, 0);
    weir_span name = wr_span_cut(*rest, 0, at == SIZE_MAX ? 0 : at);

    for (size_t i = 0; i < name.len; i++)
        if (!wr_is_word(name.ptr[i]) && !strchr("-.:", name.ptr[i]))
            return (weir_span){"", 0};
    *rest = wr_span_cut(*rest, at == SIZE_MAX ? rest->len : at + mark.len, rest->len);
    return name;
}

static bool read_call(weir_span text, weir_span *id, weir_span *tool)
{
    if (!wr_span_starts(text, WR_LIT(CALL_FRONT)))
        return false;
    weir_span rest = wr_span_cut(text, strlen(CALL_FRONT), text.len);
    *id = take_name(&rest, CALL_MIDDLE);
    *tool = id->len ? take_name(&rest, CALL_END) : (weir_span){"", 0};
    return tool->len && wr_span_ends(rest, WR_LIT("}}]")) &&
           !wr_span_has(rest, WR_LIT(CALL_MIDDLE));
}

weir_status wr_add_spoken_call(struct wr_transcript *t, const struct wr_place *place,
                               wr_json_id content, bool *is_call)
{
    wr_json_id text = only_text(t->doc, content);
    weir_span id, tool;

    *is_call = text != WR_JSON_NONE && read_call(wr_json_inner(t->doc, text), &id, &tool);
    if (!*is_call)
        return WEIR_OK;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_CALL, text);
    segment.call_id = id;
    segment.tool = tool;
    return wr_transcript_add(t, &segment);
}

weir_span wr_spoken_call_id(const struct wr_transcript *t)
{
    const struct wr_segment *last = t->segments_count ? &t->segments[t->segments_count - 1] : NULL;
    weir_span id, tool;

    if (!last || last->kind != WEIR_KIND_TOOL_CALL ||
        !wr_json_is(t->doc, last->payload, WR_JSON_STRING) ||
        !read_call(wr_json_inner(t->doc, last->payload), &id, &tool))
        return (weir_span){"", 0};
    return last->call_id;
}

/* What stands for a text that was taken out may begin otherwise, but names its handle. */
static bool has_handle(weir_span text)
{
    for (size_t at = 0; (at = wr_span_find(text, WR_LIT("wr_"), at)) != SIZE_MAX; at += 3) {
        size_t digits = 0;
        while (digits < HANDLE_DIGITS && at + 3 + digits < text.len &&
               wr_is_hex(text.ptr[at + 3 + digits]))
            digits++;
        if (digits == HANDLE_DIGITS)
            return true;
    }
    return false;
}

/* "Error:", with the call's id on a line before it or without. */
static bool is_failure(weir_span text, weir_span id)
{
    weir_span rest = wr_span_cut(text, strlen(ID_FRONT), text.len);

    if (wr_span_starts(text, WR_LIT(ID_FRONT)) && wr_span_starts(rest, id)) {
        text = wr_span_cut(rest, id.len, rest.len);
        if (!wr_span_starts(text, WR_LIT("\\n")))
            return false;
        text = wr_span_cut(text, 2, text.len);
    }
    return wr_span_starts(text, WR_LIT(ERROR_FRONT));
}

bool wr_is_spoken_result(const struct wr_transcript *t, wr_json_id content, bool *is_error)
{
    weir_span id = wr_spoken_call_id(t);

    *is_error = false;
    if (!id.len)
        return false;
    wr_json_id text = only_text(t->doc, content);
    weir_span inner = text != WR_JSON_NONE ? wr_json_inner(t->doc, text) : (weir_span){"", 0};
    *is_error = is_failure(inner, id);
    return *is_error || wr_span_starts(inner, WR_LIT(RESULT_FRONT)) || has_handle(inner);
}
