#include "engine/arguments.h"

#include "base/span.h"
#include "base/utf8.h"
#include "engine/compare.h"
#include "policy/marker.h"

static void find(struct wr_finding *finding, uint32_t segment, const char *what)
{
    if (!finding->found)
        *finding = (struct wr_finding){true, segment, what, {"", 0}};
}

static void check_string(uint32_t segment, weir_span before, weir_span after,
                         struct wr_finding *finding)
{
    if (wr_utf8_check(after, true) != after.len)
        find(finding, segment, "its new text is not UTF-8");
    else if (!wr_span_trim(after).len)
        find(finding, segment, "its text became empty");
    else if (after.len >= before.len)
        find(finding, segment, "its new text is not smaller than the original");
    else if (!wr_marker_find(after, NULL))
        find(finding, segment, "a pruned argument has no marker");
}

/* The strings of both documents that differ, as touches, in the order of the text. What is no
 * string, or is a key, is not touched, so that a difference there is found as one. */
static weir_status list_touches(const struct wr_json *before, const struct wr_json *after,
                                struct wr_arena *arena, struct wr_touches *touches)
{
    uint32_t count =
        before->nodes_count < after->nodes_count ? before->nodes_count : after->nodes_count;
    *touches = (struct wr_touches){.items = WR_ARENA_ARRAY(arena, struct wr_touch, count)};
    if (!touches->items)
        return wr_arena_status(arena);
    for (wr_json_id i = 0; i < count; i++) {
        bool is_value = wr_json_is(before, i, WR_JSON_STRING) && !before->nodes[i].is_key &&
                        wr_json_is(after, i, WR_JSON_STRING) && !after->nodes[i].is_key;
        if (!is_value || wr_span_eq(wr_json_raw(before, i), wr_json_raw(after, i)))
            continue;
        weir_span text = wr_json_text(after, arena, i);
        if (!text.ptr)
            return wr_arena_status(arena);
        touches->items[touches->count++] = (struct wr_touch){WR_TOUCH_TEXT, WR_JSON_NONE, i, text};
    }
    return WEIR_OK;
}

static weir_status check_strings(uint32_t segment, const struct wr_json *before,
                                 const struct wr_touches *touches, struct wr_arena *arena,
                                 struct wr_finding *finding)
{
    for (uint32_t i = 0; i < touches->count; i++) {
        weir_span text = wr_json_text(before, arena, touches->items[i].node);
        if (!text.ptr)
            return wr_arena_status(arena);
        check_string(segment, text, touches->items[i].text, finding);
    }
    return WEIR_OK;
}

/* Arguments that are a string: both texts are JSON, and differ in string values only. */
static weir_status check_text(uint32_t segment, weir_span before, weir_span after,
                              struct wr_arena *arena, struct wr_finding *finding)
{
    struct wr_json old, new;
    struct wr_touches touches;
    bool is_same;

    if (wr_json_parse(&old, arena, before, NULL, NULL) ||
        wr_json_parse(&new, arena, after, NULL, NULL)) {
        find(finding, segment, "its arguments are not JSON");
        return wr_arena_status(arena);
    }
    weir_status status = list_touches(&old, &new, arena, &touches);
    if (!status)
        status = wr_compare_documents(&old, &new, &touches, arena, &is_same);
    if (status)
        return status;
    if (!is_same)
        find(finding, segment, "more of its arguments changed than strings");
    return check_strings(segment, &old, &touches, arena, finding);
}

weir_status wr_arguments_check(const struct wr_plan *plan, const struct wr_change *change,
                               struct wr_arena *arena, struct wr_finding *finding)
{
    const struct wr_json *doc = plan->transcript->doc;
    wr_json_id payload = plan->transcript->segments[change->segment].payload;
    bool is_text = wr_json_kind(doc, payload) == WR_JSON_STRING;

    *finding = (struct wr_finding){.segment = WR_SEGMENT_NONE};
    for (uint32_t i = 0; i < change->arguments_count; i++) {
        weir_span before = wr_json_text(doc, arena, change->arguments[i].node);
        if (!before.ptr)
            return wr_arena_status(arena);
        if (is_text)
            return check_text(change->segment, before, change->arguments[i].text, arena, finding);
        check_string(change->segment, before, change->arguments[i].text, finding);
    }
    return WEIR_OK;
}
