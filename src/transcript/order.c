/* What follows from the order of segments alone: pairs, turns, loops and groups.
 *
 *   wr_order_pair     a result belongs to the latest call with its id. Calls from before there were
 *                     ids are found by their function's name, and what the provider runs itself is
 *                     kept apart from what the client runs
 *   wr_order_turns    a turn ends with the last thing the model said before somebody else speaks
 *   wr_order_loops    a loop begins with a user's message and ends with a model output that calls
 *                     nothing. What the user says before that end is steering
 *   wr_order_groups   one model output is one group: its reasoning, its words, its calls, and the
 *                     results of those. Groups that share a call become one
 *
 * Each question is one pass; pairs are found by hash, because a request may have thousands of
 * calls. Groups are formed by union-find inside the segments themselves: while it runs, `group`
 * leads to an earlier segment of the same group, or to the segment itself.
 */
#include "transcript/order.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/span.h"

/* What an answer finds its call by. */
struct call_key {
    weir_span text;
    bool is_name, is_client;
};

static bool asks_something(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_CALL || s->link == WR_LINK_ASKS;
}

static bool answers_something(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_RESULT || s->link == WR_LINK_ANSWERS;
}

static struct call_key call_key_of(const struct wr_segment *s)
{
    bool is_client = s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT;
    if (s->call_id.len)
        return (struct call_key){s->call_id, false, is_client};
    return (struct call_key){s->tool, true, is_client};
}

static bool is_known_by(const struct wr_segment *call, const struct call_key *key)
{
    if ((call->kind == WEIR_KIND_TOOL_CALL) != key->is_client)
        return false;
    if (key->is_name)
        return !call->call_id.len && wr_span_eq(call->tool, key->text);
    return wr_span_eq(call->call_id, key->text) || wr_span_eq(call->other_id, key->text);
}

/* The index holds, for each key, the last call of that key. */
static uint32_t find_call(const struct wr_transcript *t, const struct wr_index *calls,
                          const struct call_key *key, uint32_t *at)
{
    uint64_t hash = wr_hash64(key->text);
    uint32_t item;
    for (*at = wr_index_first(calls, hash); (item = wr_index_item(calls, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(calls, *at, hash))
        if (is_known_by(&t->segments[item], key))
            return item;
    return WR_SEGMENT_NONE;
}

static void remember_call(const struct wr_transcript *t, struct wr_index *calls,
                          const struct call_key *key, uint32_t call)
{
    uint32_t at;
    if (!key->text.len)
        return;
    (void)find_call(t, calls, key, &at);
    wr_index_put(calls, at, wr_hash64(key->text), call);
}

static void pair_with_call(struct wr_transcript *t, uint32_t call, uint32_t result)
{
    struct wr_segment *asked = &t->segments[call], *answered = &t->segments[result];
    answered->pair = call;
    if (asked->tool.len)
        answered->tool = asked->tool;
    if (asked->pair == WR_SEGMENT_NONE)
        asked->pair = result;
    else
        answered->is_repeated_result = answered->kind == WEIR_KIND_TOOL_RESULT;
}

static void pair_segment(struct wr_transcript *t, struct wr_index *calls, uint32_t i)
{
    struct wr_segment *s = &t->segments[i];
    struct call_key key = call_key_of(s), other = {s->other_id, false, key.is_client};

    if (asks_something(s)) {
        remember_call(t, calls, &key, i);
        remember_call(t, calls, &other, i);
    } else if (answers_something(s) && key.text.len) {
        uint32_t at, call = find_call(t, calls, &key, &at);
        if (call != WR_SEGMENT_NONE)
            pair_with_call(t, call, i);
    }
}

/* Responses pairs by id anywhere in its input: a result may stand before its call. */
static void pair_early_results(struct wr_transcript *t, const struct wr_index *calls)
{
    for (uint32_t i = 0; i < t->segments_count; i++) {
        struct call_key key = call_key_of(&t->segments[i]);
        uint32_t at;
        if (!answers_something(&t->segments[i]) || t->segments[i].pair != WR_SEGMENT_NONE ||
            !key.text.len)
            continue;
        uint32_t call = find_call(t, calls, &key, &at);
        if (call != WR_SEGMENT_NONE && t->segments[call].pair == WR_SEGMENT_NONE)
            pair_with_call(t, call, i);
    }
}

weir_status wr_order_pair(struct wr_transcript *t)
{
    struct wr_index calls; /* a call may be known by two ids */
    weir_status status = wr_index_init(&calls, t->arena, 2 * t->segments_count);
    if (status)
        return status;

    for (uint32_t i = 0; i < t->segments_count; i++)
        pair_segment(t, &calls, i);
    if (t->pairs_anywhere)
        pair_early_results(t, &calls);
    return WEIR_OK;
}

void wr_order_turns(struct wr_transcript *t)
{
    uint32_t turn = 0;
    bool answered = false;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        struct wr_segment *s = &t->segments[i];
        if (answered && !s->from_model) {
            turn++;
            answered = false;
        }
        answered |= s->from_model;
        s->turn = turn;
    }
    t->turns_count = t->segments_count ? turn + 1 : 0;
}

static bool is_user_input(const struct wr_segment *s)
{
    return s->role == WEIR_ROLE_USER && s->kind != WEIR_KIND_TOOL_RESULT;
}

/* Whether the first text of the message that segment `i` opens says so. */
static bool begins_as_steering(const struct wr_transcript *t, uint32_t i)
{
    wr_json_id message = t->segments[i].message;
    for (; i < t->segments_count && t->segments[i].message == message; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind == WEIR_KIND_TEXT && s->parts_count)
            return wr_span_starts(wr_json_inner(t->doc, s->parts[0]), WR_LIT("[steering]"));
    }
    return false;
}

struct loop_walk {
    uint32_t loop, started_in_turn;
    uint32_t user; /* the last segment the user said; one message is judged once */
    bool answered, called, is_steering;
};

static void hear_user(struct loop_walk *w, const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    bool is_same = w->user != WR_SEGMENT_NONE && t->segments[w->user].message == s->message;
    bool is_first = w->loop == WR_SEGMENT_NONE;

    w->user = i;
    if (is_same)
        return;
    if (is_first || (w->answered && !w->called && !begins_as_steering(t, i))) {
        w->loop = is_first ? 0 : w->loop + 1;
        w->started_in_turn = s->turn;
        w->answered = false;
    }
    w->is_steering = s->turn != w->started_in_turn;
}

/* What the user says before a loop's end steers that loop. So an interrupted loop is never taken
 * for a completed one. */
void wr_order_loops(struct wr_transcript *t)
{
    struct loop_walk w = {.loop = WR_SEGMENT_NONE, .user = WR_SEGMENT_NONE};

    for (uint32_t i = 0; i < t->segments_count; i++) {
        struct wr_segment *s = &t->segments[i];
        if (s->from_model && (!i || !t->segments[i - 1].from_model))
            w.called = false;
        w.called |= s->kind == WEIR_KIND_TOOL_CALL;
        if (is_user_input(s)) {
            hear_user(&w, t, i);
            s->is_steering = w.is_steering;
        }
        w.answered |= s->from_model;
        s->loop = w.loop;
    }
    t->loops_count = w.loop == WR_SEGMENT_NONE ? 0 : w.loop + 1;
}

/* The first segment of the group that segment `i` is in. */
static uint32_t group_first(struct wr_transcript *t, uint32_t i)
{
    struct wr_segment *s = t->segments;
    while (s[i].group != i)
        i = s[i].group = s[s[i].group].group;
    return i;
}

static void unite_groups(struct wr_transcript *t, uint32_t a, uint32_t b)
{
    a = group_first(t, a);
    b = group_first(t, b);
    if (a < b)
        t->segments[b].group = a;
    else
        t->segments[a].group = b;
}

void wr_order_groups(struct wr_transcript *t)
{
    struct wr_segment *s = t->segments;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (s[i].from_model && i && s[i - 1].from_model)
            s[i].group = i - 1;
        else if (s[i].from_model || s[i].pair != WR_SEGMENT_NONE)
            s[i].group = i;
    }
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (s[i].pair != WR_SEGMENT_NONE)
            unite_groups(t, i, s[i].pair);
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (s[i].group != WR_SEGMENT_NONE)
            s[i].group = s[s[i].group].group; /* what stands before is settled already */
}
