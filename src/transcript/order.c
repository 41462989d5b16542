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

/* ==== classes ====
 *
 * Gives every segment its class, which says what may be done with it, and a sentence that says why.
 *
 * Results are the interesting ones; the first reason that holds decides (classify_result):
 *   exact          it has no text that may be edited
 *   rehydratable   it was recalled
 *   exact          it is a plan or instructions, an error of the turn under way, or an image, a
 *                  file or a reference stands beside its text
 *   duplicate      the same text stands earlier
 *   rehydratable   it is a read of a file that has not changed since
 *   lossless       only control bytes, trailing space or blank lines would go
 *   condensable    everything else
 *
 * Everything that is not a result keeps its bytes: it is protocol, the user's words, or state that
 * the provider checks. Duplicates are found by a hash of the text as it stands in the body, and
 * then compared byte by byte; texts under 64 bytes are not looked for.
 */

/* A shorter result is not worth a reference to an earlier one. */
enum { DUPLICATE_BYTES_MIN = 64 };

/* So many line ends in a row are two blank lines, of which one is enough. */
enum { BLANK_RUN_LINES = 3 };

static void set_class(struct wr_segment *s, weir_class class_, const char *why)
{
    s->class_ = class_;
    s->why = why;
}

static void classify_opaque(struct wr_segment *s)
{
    switch (s->kind) {
    case WEIR_KIND_TOOLS:
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "tool schemas");
        return;
    case WEIR_KIND_REASONING:
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "reasoning goes back as it came");
        return;
    case WEIR_KIND_COMPACTION:
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "the provider's own summary");
        return;
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "an attachment");
        return;
    case WEIR_KIND_SYSTEM:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions");
        return;
    case WEIR_KIND_TEXT:
    case WEIR_KIND_TOOL_CALL:
    case WEIR_KIND_TOOL_RESULT:
    case WEIR_KIND_OTHER:
        break;
    }
    if (s->is_continuation)
        set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "state that the provider checks");
    else
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a kind that is not known here");
}

static bool parts_equal(const struct wr_transcript *t, const struct wr_segment *a,
                        const struct wr_segment *b)
{
    if (a->parts_count != b->parts_count)
        return false;
    for (uint32_t i = 0; i < a->parts_count; i++)
        if (!wr_span_eq(wr_json_inner(t->doc, a->parts[i]), wr_json_inner(t->doc, b->parts[i])))
            return false;
    return true;
}

static size_t parts_bytes(const struct wr_transcript *t, const struct wr_segment *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < s->parts_count; i++)
        bytes += wr_json_inner(t->doc, s->parts[i]).len;
    return bytes;
}

/* The first result with the same text, or NONE; a new text is remembered. */
static uint32_t find_same_text(const struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    uint32_t at, item;

    if (parts_bytes(t, &t->segments[i]) < DUPLICATE_BYTES_MIN)
        return WR_SEGMENT_NONE;
    uint64_t hash = wr_segment_body_hash(t, &t->segments[i]).low;
    for (at = wr_index_first(texts, hash); (item = wr_index_item(texts, at)) != WR_INDEX_NONE;
         at = wr_index_next(texts, at, hash))
        if (parts_equal(t, &t->segments[item], &t->segments[i]))
            return item;
    wr_index_put(texts, at, hash, i);
    return WR_SEGMENT_NONE;
}

static bool is_escape(weir_span text, size_t at)
{
    return (wr_span_starts(wr_span_from(text, at), WR_LIT("\\u001b")) ||
            wr_span_starts(wr_span_from(text, at), WR_LIT("\\u001B")));
}

/* What a lossless transform would take: terminal control bytes, trailing space, runs of blank
 * lines. The text is looked at as it stands in the body, where these are escapes; an escaped
 * backslash before an `r` or a `b` is a path or a pattern, not one of them. */
static bool has_slack(weir_span text)
{
    size_t at = 0, lines = 0, after_line = SIZE_MAX;
    const char *found;

    while (at < text.len && (found = memchr(text.ptr + at, '\\', text.len - at))) {
        size_t start = (size_t)(found - text.ptr);
        char letter = text.ptr[start + 1];
        if (letter == 'r' || letter == 'b' || is_escape(text, start))
            return true;
        at = start + 2;
        if (letter != 'n')
            continue;
        lines = start == after_line ? lines + 1 : 1;
        after_line = at;
        if (lines == BLANK_RUN_LINES || (start && text.ptr[start - 1] == ' '))
            return true;
    }
    return false;
}

static bool has_lossless_slack(const struct wr_transcript *t, const struct wr_segment *s)
{
    if (s->is_slack_known)
        return s->has_slack;
    for (uint32_t p = 0; p < s->parts_count; p++)
        if (has_slack(wr_json_inner(t->doc, s->parts[p])))
            return true;
    return false;
}

bool wr_result_has_failed(const struct wr_segment *result, const struct wr_tool_handles *handles)
{
    return result->is_error ||
           (handles && (handles->is_error || (handles->has_exit_code && handles->exit_code != 0)));
}

static void classify_result(struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    struct wr_segment *s = &t->segments[i];
    enum wr_effect_kind effect = s->handles ? s->handles->kind : WR_EFFECT_OTHER;
    bool is_newest = s->turn + 1 == t->turns_count;

    if (s->is_opaque || !s->parts_count) {
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a result without text that may be edited");
        return;
    }
    uint32_t same = find_same_text(t, texts, i);
    if (effect == WR_EFFECT_RECALL) {
        set_class(s, WEIR_CLASS_REHYDRATABLE_EXACT, "recalled text comes back whole");
    } else if (effect == WR_EFFECT_PLAN) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "a plan or instructions");
    } else if (s->handles && s->handles->is_instructions && s->staleness != WR_STALE) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions that were read");
    } else if (is_newest && wr_result_has_failed(s, s->handles)) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "an error of the current turn");
    } else if (s->has_exact_blocks) {
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "a result with an image, a file or a reference");
    } else if (same != WR_SEGMENT_NONE) {
        set_class(s, WEIR_CLASS_DROPPABLE_DUPLICATE, "the same text stands earlier, in segment");
        s->why_other = same;
    } else if (effect == WR_EFFECT_READ && s->handles->path.len && s->staleness == WR_FRESH) {
        set_class(s, WEIR_CLASS_REHYDRATABLE_EXACT, "a file that can be read again");
    } else if (has_lossless_slack(t, s)) {
        set_class(s, WEIR_CLASS_LOSSLESS_TRANSFORMABLE,
                  "control bytes, trailing space or blank lines");
    } else {
        set_class(s, WEIR_CLASS_CONDENSABLE,
                  s->staleness == WR_STALE ? "a read of a file that changed since" : "tool output");
    }
}

static void classify_segment(struct wr_transcript *t, struct wr_index *texts, uint32_t i)
{
    struct wr_segment *s = &t->segments[i];

    switch (s->kind) {
    case WEIR_KIND_TOOL_RESULT:
        classify_result(t, texts, i);
        return;
    case WEIR_KIND_TOOL_CALL:
        set_class(s, WEIR_CLASS_PROTOCOL_EXACT, "a call and its arguments");
        return;
    case WEIR_KIND_SYSTEM:
        set_class(s, WEIR_CLASS_CRITICAL_EXACT, "instructions");
        return;
    case WEIR_KIND_TEXT:
        if (s->from_model)
            set_class(s, WEIR_CLASS_CONTINUATION_EXACT, "the model's own words");
        else
            set_class(s, WEIR_CLASS_CRITICAL_EXACT, "the user's words");
        return;
    case WEIR_KIND_REASONING:
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
    case WEIR_KIND_TOOLS:
    case WEIR_KIND_COMPACTION:
    case WEIR_KIND_OTHER:
        classify_opaque(s);
        return;
    }
}

weir_status wr_order_classify(struct wr_transcript *t)
{
    struct wr_index texts;
    weir_status status = wr_index_init(&texts, t->arena, t->segments_count);
    if (status)
        return status;
    for (uint32_t i = 0; i < t->segments_count; i++)
        classify_segment(t, &texts, i);
    return WEIR_OK;
}

/* ==== handles ====
 *
 * Finds the handles of each call (transcript/tool.h) and, from them, which results are out of date.
 *
 * A session's next request repeats all its calls, so what was found out about a call and its result
 * is kept in a memo, under a hash of the tool, the arguments and the result. A call and its result
 * share one entry. Staleness is found anew in every request: it depends on what came later.
 */

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
 * first part; the text of one part is made once for all who ask for it. */
static weir_status read_result_handles(struct wr_transcript *t, struct wr_tool_handles *handles,
                                       const struct wr_segment *result)
{
    weir_span text = {"", 0};
    if (result->parts_count) {
        text = result->parts_count == 1 ? wr_segment_text(t, result, t->arena)
                                        : wr_json_text(t->doc, t->arena, result->parts[0]);
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
        entry->has_slack = has_slack(wr_json_inner(t->doc, result->parts[0]));
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
