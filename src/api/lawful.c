/* The rules of the providers, each a pass over the segments or the list of messages.
 *
 * Rules that all APIs share are here: pairs of calls and results, their order, empty texts, cache
 * markers. Which of them an API has, and its own, is in its table (api.h).
 */
#include "api/lawful.h"

#include <stdlib.h>

#include "api/api.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { CAP_FIRST_COUNT = 8 };

struct checker {
    const struct wr_transcript *t;
    struct wr_arena *arena;
    struct wr_breaches *breaches;
};

const char *wr_rule_text(enum wr_rule rule)
{
    switch (rule) {
#define X(name, text)    \
    case WR_RULE_##name: \
        return text;
        WR_RULE_MAP(X)
#undef X
    }
    return "unknown rule";
}

static void report(struct checker *c, enum wr_rule rule, weir_span id, uint32_t segment)
{
    struct wr_breaches *b = c->breaches;
    if (b->status)
        return;
    if (!WR_ARENA_ROOM(c->arena, b->items, b->count, b->cap, CAP_FIRST_COUNT)) {
        b->status = wr_arena_status(c->arena);
        return;
    }
    b->items[b->count++] = (struct wr_breach){rule, id, segment};
}

/* What tells a breach at this segment from others: the id of its call. Where calls are only
 * numbered, the number changes with what leaves before them; what is called does not. */
static weir_span id_of(const struct checker *c, const struct wr_segment *s)
{
    bool is_number =
        wr_api_of(c->t->dialect)->numbers_calls && wr_span_starts(s->call_id, WR_LIT("#"));
    return is_number ? wr_json_raw(c->t->doc, s->payload) : s->call_id;
}

/* What stood last before the segment at hand: the model output that results must follow, and a
 * message with other content that came between. */
struct position {
    uint32_t group;
    wr_json_id between;
};

static void check_result(struct checker *c, const struct position *at, uint32_t i)
{
    const struct wr_segment *s = &c->t->segments[i];

    if (s->pair == WR_SEGMENT_NONE) {
        if (!c->t->is_delta) /* the call may be in what the server holds */
            report(c, WR_RULE_RESULT_ORPHAN, id_of(c, s), i);
        return;
    }
    if (s->is_repeated_result)
        report(c, WR_RULE_RESULT_REPEATED, id_of(c, s), i);
    bool is_next = at->group == c->t->segments[s->pair].group &&
                   (at->between == WR_JSON_NONE || at->between == s->message);
    /* Responses pairs by id anywhere in its input, but not every server that speaks it does. */
    if (!is_next)
        report(c, WR_RULE_RESULT_NOT_NEXT, id_of(c, s), i);
}

static void check_pairs(struct checker *c)
{
    struct position at = {WR_SEGMENT_NONE, WR_JSON_NONE};

    for (uint32_t i = 0; i < c->t->segments_count; i++) {
        const struct wr_segment *s = &c->t->segments[i];
        if (s->kind == WEIR_KIND_TOOL_RESULT)
            check_result(c, &at, i);
        else if (s->from_model)
            at = (struct position){s->group, WR_JSON_NONE};
        else
            at.between = s->message;
        if (s->kind == WEIR_KIND_TOOL_CALL && s->pair == WR_SEGMENT_NONE)
            report(c, WR_RULE_CALL_UNANSWERED, id_of(c, s), i);
        bool is_answer = s->link == WR_LINK_ANSWERS && s->call_id.len;
        if (is_answer && s->pair == WR_SEGMENT_NONE && !c->t->is_delta)
            report(c, WR_RULE_ANSWER_ORPHAN, id_of(c, s), i);
    }
}

/* Messages: results come first in their message. */
static void check_result_order(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    if (!wr_api_of(t->dialect)->has_results_first)
        return;
    for (uint32_t i = 1; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i], *before = &t->segments[i - 1];
        if (s->kind == WEIR_KIND_TOOL_RESULT && before->message == s->message &&
            before->kind != WEIR_KIND_TOOL_RESULT)
            report(c, WR_RULE_RESULT_AFTER_TEXT, id_of(c, s), i);
    }
}

/* Gemini: a message that calls stands right behind one of the user or of results. */
static void check_calls_next(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    bool is_behind_model = false; /* the message at hand */

    for (uint32_t i = 0; i < t->segments_count && wr_api_of(t->dialect)->has_calls_next; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_first = !i || t->segments[i - 1].message != s->message;
        if (is_first)
            is_behind_model = i && t->segments[i - 1].from_model;
        if (s->kind == WEIR_KIND_TOOL_CALL && is_behind_model)
            report(c, WR_RULE_CALL_NOT_NEXT, id_of(c, s), i);
    }
}

/* As it is spelt in the body, where what is no space is an escape. */
static bool is_blank(weir_span inner)
{
    for (size_t i = 0; i < inner.len; i++) {
        char c = inner.ptr[i];
        if (c == '\\' && i + 1 < inner.len)
            c = memchr("nrt", inner.ptr[++i], 3) ? ' ' : '\\';
        if (c != ' ')
            return false;
    }
    return true;
}

static bool is_empty_content(const struct wr_json *doc, wr_json_id content)
{
    if (content == WR_JSON_NONE)
        return false;
    if (wr_json_kind(doc, content) == WR_JSON_STRING)
        return is_blank(wr_json_inner(doc, content));
    return wr_json_kind(doc, content) == WR_JSON_ARRAY &&
           wr_json_first(doc, content) == WR_JSON_NONE;
}

static void check_message(struct checker *c, wr_json_id message)
{
    const char *const names[] = {wr_api_of(c->t->dialect)->content_key, "tool_calls"};
    const struct wr_json *doc = c->t->doc;
    wr_json_id values[2];
    (void)wr_json_pick(doc, message, names, 2, values);
    if (values[1] == WR_JSON_NONE && is_empty_content(doc, values[0]))
        report(c, WR_RULE_CONTENT_EMPTY, wr_json_raw(doc, message), WR_SEGMENT_NONE);
}

static bool is_users(const struct wr_api *api, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id role = wr_json_find(doc, message, "role");
    return wr_json_text_is(doc, role, "user") || (role == WR_JSON_NONE && api->may_lack_role);
}

static void check_list(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    const struct wr_json *doc = t->doc;
    const struct wr_api *api = wr_api_of(t->dialect);
    const char *model_role = api->model_role ? api->model_role : "assistant";
    weir_span none = {"", 0};
    if (t->list == WR_JSON_NONE)
        return;
    wr_json_id first = wr_json_first(doc, t->list), last = first;
    for (wr_json_id m = first; m != WR_JSON_NONE; m = wr_json_next(doc, t->list, m)) {
        check_message(c, m);
        last = m;
    }
    if (first == WR_JSON_NONE)
        report(c, WR_RULE_LIST_EMPTY, none, WR_SEGMENT_NONE);
    else if (api->has_user_ends && !is_users(api, doc, first))
        report(c, WR_RULE_FIRST_NOT_USER, none, WR_SEGMENT_NONE);
    if (api->has_user_ends && wr_json_text_is(doc, wr_json_find(doc, last, "role"), model_role))
        report(c, WR_RULE_LAST_FROM_MODEL, none, WR_SEGMENT_NONE);
}

/* Whether a segment has text that may be edited, and all of it is white space or nothing. */
static bool is_empty_text(const struct wr_transcript *transcript, const struct wr_segment *segment)
{
    for (uint32_t p = 0; p < segment->parts_count; p++)
        if (!is_blank(wr_json_inner(transcript->doc, segment->parts[p])))
            return false;
    return segment->parts_count > 0;
}

static void check_texts(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_empty = is_empty_text(t, s);
        if (is_empty)
            report(c, WR_RULE_TEXT_EMPTY, id_of(c, s), i);
        wr_json_id marker = s->is_signed && s->marker == WR_JSON_NONE
                                ? wr_find_marker(t->doc, s->payload)
                                : s->marker;
        if (marker != WR_JSON_NONE && (is_empty || s->is_signed))
            report(c, WR_RULE_MARKER_MISPLACED, id_of(c, s), i);
    }
}

/* Of all APIs: no two of them use a name for two things. */
static const char *const marker_names[] = {"cache_control", "prompt_cache_breakpoint",
                                           "cachePoint"};

wr_json_id wr_find_marker(const struct wr_json *doc, wr_json_id block)
{
    wr_json_id values[WR_COUNT_OF(marker_names)];
    (void)wr_json_pick(doc, block, marker_names, WR_COUNT_OF(marker_names), values);
    for (size_t i = 0; i < WR_COUNT_OF(marker_names); i++)
        if (wr_json_is(doc, values[i], WR_JSON_OBJECT))
            return values[i] - 1; /* a value's key is the node before it */
    return WR_JSON_NONE;
}

bool wr_lawful_is_marker(const struct wr_json *doc, wr_json_id key)
{
    if (key >= doc->nodes_count || !doc->nodes[key].is_key ||
        !wr_json_is(doc, wr_json_value(key), WR_JSON_OBJECT))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(marker_names); i++)
        if (wr_json_text_is(doc, key, marker_names[i]))
            return true;
    return false;
}

/* Arguments and schemas may hold the same key; their keys are never edited, so they count alike
 * before and after. */
uint32_t wr_lawful_markers_count(const struct wr_json *doc)
{
    const struct wr_json_node *nodes = doc->nodes;
    uint32_t count = 0;
    for (wr_json_id i = 0; i + 1 < doc->nodes_count; i++)
        if (nodes[i].is_key && nodes[i + 1].kind == WR_JSON_OBJECT)
            count += wr_lawful_is_marker(doc, i);
    return count;
}

bool wr_lawful_has_marker_key(const struct wr_json *doc, wr_json_id block)
{
    for (size_t i = 0; i < WR_COUNT_OF(marker_names); i++)
        if (wr_json_find(doc, block, marker_names[i]) != WR_JSON_NONE)
            return true;
    return false;
}

bool wr_lawful_can_hold_marker(const struct wr_transcript *t, const struct wr_segment *s)
{
    if (s->block == WR_JSON_NONE || s->message == WR_JSON_NONE)
        return false;
    if (wr_api_of(t->dialect)->marks_blocks_only && s->block == s->message)
        return false;
    switch (s->kind) {
    case WEIR_KIND_REASONING:
    case WEIR_KIND_SYSTEM:
    case WEIR_KIND_TOOLS:
    case WEIR_KIND_COMPACTION:
    case WEIR_KIND_OTHER:
        return false;
    case WEIR_KIND_TEXT:
    case WEIR_KIND_TOOL_CALL:
    case WEIR_KIND_TOOL_RESULT:
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        break;
    }
    if (s->marker != WR_JSON_NONE)
        return true;
    /* Converse: a document that is no PDF may have none behind it. */
    if (wr_api_of(t->dialect)->marks_with_blocks && s->kind == WEIR_KIND_FILE)
        return false;
    return !is_empty_text(t, s) && !wr_lawful_has_marker_key(t->doc, s->block);
}

bool wr_lawful_marker_is_long(const struct wr_json *doc, wr_json_id marker)
{
    return wr_json_text_is(doc, wr_json_find(doc, wr_json_value(marker), "ttl"), "1h");
}

/* Messages: markers of one hour come before those of five minutes. */
static void check_marker_order(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    bool has_short = false;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->marker == WR_JSON_NONE)
            continue;
        bool is_long = wr_lawful_marker_is_long(t->doc, s->marker);
        if (is_long && has_short)
            report(c, WR_RULE_MARKER_ORDER, id_of(c, s), i);
        has_short |= !is_long;
    }
}

/* Responses: a reasoning item and the item behind it travel together. */
static void check_reasoning(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    if (!wr_api_of(t->dialect)->ties_reasoning)
        return;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        bool is_followed = i + 1 < t->segments_count && t->segments[i + 1].from_model;
        if (t->segments[i].kind == WEIR_KIND_REASONING && !is_followed)
            report(c, WR_RULE_REASONING_ALONE, wr_json_raw(t->doc, t->segments[i].payload), i);
    }
}

/* Converse: a cache point stands behind something of its own message that is no reasoning. */
static void check_points(struct checker *c)
{
    const struct wr_transcript *t = c->t;

    if (!wr_api_of(t->dialect)->marks_with_blocks)
        return;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_lost = s->kind == WEIR_KIND_OTHER && s->message != WR_JSON_NONE &&
                       wr_find_marker(t->doc, s->payload) != WR_JSON_NONE;
        if (is_lost ||
            (s->kind == WEIR_KIND_REASONING && !s->is_signed && s->marker != WR_JSON_NONE))
            report(c, WR_RULE_MARKER_MISPLACED, id_of(c, s), i);
    }
}

/* Converse: user and model take turns. */
static void check_turns(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    const struct wr_json *doc = t->doc;
    wr_json_id before = WR_JSON_NONE, m;

    if (t->list == WR_JSON_NONE || !wr_api_of(t->dialect)->must_alternate)
        return;
    for (m = wr_json_first(doc, t->list); m != WR_JSON_NONE; m = wr_json_next(doc, t->list, m)) {
        wr_json_id role = wr_json_find(doc, m, "role");
        if (before != WR_JSON_NONE && wr_json_is(doc, role, WR_JSON_STRING) &&
            wr_json_is(doc, before, WR_JSON_STRING) &&
            wr_span_eq(wr_json_inner(doc, role), wr_json_inner(doc, before)))
            report(c, WR_RULE_TURNS_NOT_TAKEN, wr_json_inner(doc, role), WR_SEGMENT_NONE);
        before = role;
    }
}

/* Messages: neighbouring messages of the model are one output to the provider, and thinking begins
 * it. */
static void check_thinking(struct checker *c)
{
    const struct wr_transcript *t = c->t;
    bool can_begin = true;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (!i || !t->segments[i - 1].from_model || !s->from_model)
            can_begin = true;
        if (s->is_signed && !can_begin)
            report(c, WR_RULE_THINKING_NOT_FIRST, wr_json_raw(t->doc, s->payload), i);
        can_begin &= s->is_signed;
    }
}

weir_status wr_lawful_check(const struct wr_transcript *transcript, struct wr_arena *arena,
                            struct wr_breaches *breaches)
{
    struct checker c = {transcript, arena, breaches};
    *breaches = (struct wr_breaches){0};
    check_pairs(&c);
    check_result_order(&c);
    check_calls_next(&c);
    check_list(&c);
    check_texts(&c);
    check_reasoning(&c);
    check_thinking(&c);
    check_marker_order(&c);
    check_points(&c);
    check_turns(&c);
    for (uint32_t over = wr_lawful_markers_count(transcript->doc); over > WR_CACHE_MARKERS_MAX;
         over--)
        report(&c, WR_RULE_MARKERS_OVER, (weir_span){"", 0}, WR_SEGMENT_NONE);
    return breaches->status;
}

static int compare_breaches(const void *x, const void *y)
{
    const struct wr_breach *a = x, *b = y;
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    size_t len = a->id.len < b->id.len ? a->id.len : b->id.len;
    int order = len ? memcmp(a->id.ptr, b->id.ptr, len) : 0;
    return order ? order : (a->id.len > b->id.len) - (a->id.len < b->id.len);
}

static void sort_breaches(struct wr_breaches *b)
{
    if (b->count)
        qsort(b->items, b->count, sizeof(*b->items), compare_breaches);
}

const struct wr_breach *wr_lawful_new_breach(struct wr_breaches *before, struct wr_breaches *after)
{
    uint32_t b = 0;

    sort_breaches(before);
    sort_breaches(after);
    for (uint32_t a = 0; a < after->count; a++, b++) {
        while (b < before->count && compare_breaches(&before->items[b], &after->items[a]) < 0)
            b++;
        if (b == before->count || compare_breaches(&before->items[b], &after->items[a]))
            return &after->items[a];
    }
    return NULL;
}
