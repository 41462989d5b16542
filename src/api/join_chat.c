/* Chat Completions: several answers shown as one.
 *
 * An answer is a message that grows by deltas. Calls are numbered apart from the text, and some
 * servers send the name of a call in pieces: chunks about calls wait in the queue until it is known
 * whose call it is. Text passes meanwhile.
 *
 *        note_calls ─┬─ all known ─▶ show_chunk ─┬─▶ shown: without our calls, renumbered
 *   chunk            │                           ├─▶ held: the finish reason, usage, [DONE]
 *                    └─ one is not ─▶ queue      └─▶ hidden: nothing is left in it
 */
#include "api/join_chat.h"
#include "api/own_api.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { NAME_BYTES = sizeof(WR_OWN_TOOL_NAME) + 1, CALLS_CAP_FIRST = 8 };

enum call_owner { OWNER_UNKNOWN, OWNER_CLIENT, OWNER_WEIR };

/* A call of the stream at hand. */
struct seen_call {
    int64_t index;
    weir_span id;
    char name[NAME_BYTES]; /* as much as tells ours from others */
    enum call_owner owner;
    int64_t number; /* that the client knows; -1: it was not shown yet */
};

struct seen_calls {
    struct seen_call *items;
    size_t count, cap;
};

/* ---- whose calls ---- */

static struct seen_calls *calls_of(struct wr_join *j)
{
    if (!j->calls)
        j->calls = wr_arena_zalloc(&j->kept, sizeof(struct seen_calls));
    if (!j->calls)
        wr_join_fail_with(j, wr_arena_status(&j->kept));
    return j->calls;
}

/* Some servers give every call the number 0: another id is another call. Others give none. */
static struct seen_call *call_find(struct seen_calls *calls, int64_t index, weir_span id)
{
    for (size_t i = calls ? calls->count : 0; i > 0; i--) {
        struct seen_call *call = &calls->items[i - 1];
        bool is_same = !id.len || wr_span_eq(call->id, id);
        if (index < 0 ? is_same : call->index == index && (is_same || !call->id.len))
            return call;
    }
    return NULL;
}

static struct seen_call *call_add(struct wr_join *j, struct seen_calls *calls, int64_t index)
{
    if (calls->count == WR_AGENT_BLOCKS_MAX)
        wr_join_fail_with(j, WEIR_LIMIT);
    else if (!WR_ARENA_ROOM(&j->kept, calls->items, calls->count, calls->cap, CALLS_CAP_FIRST))
        wr_join_fail_with(j, wr_arena_status(&j->kept));
    if (j->is_broken)
        return NULL;
    struct seen_call *call = &calls->items[calls->count++];
    *call = (struct seen_call){.index = index, .id = {"", 0}, .number = -1};
    return call;
}

static weir_span text_at(struct wr_join *j, const struct wr_json *doc, wr_json_id object,
                         const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, &j->scratch, id);
    if (!text.ptr)
        wr_join_fail_with(j, wr_arena_status(&j->scratch));
    return text.ptr ? text : (weir_span){"", 0};
}

int64_t wr_chat_index(const struct wr_json *doc, wr_json_id entry)
{
    wr_json_id number = wr_json_find(doc, entry, "index");
    int64_t index = -1;

    if (number != WR_JSON_NONE)
        (void)wr_json_i64(doc, number, &index);
    return index;
}

/* A name may come in pieces, or again with each piece of the arguments. It is whole when arguments
 * come, or a delta without a piece of it. */
static void note_name(struct seen_call *call, weir_span piece, bool has_arguments)
{
    weir_span own = WR_LIT(WR_OWN_TOOL_NAME);
    size_t len = strlen(call->name);

    if (call->owner != OWNER_UNKNOWN)
        return;
    if (piece.len && !wr_span_is(piece, call->name)) {
        size_t room = sizeof(call->name) - 1 - len;
        size_t bytes = piece.len < room ? piece.len : room;
        memcpy(call->name + len, piece.ptr, bytes);
        call->name[len + bytes] = '\0';
    }
    weir_span name = wr_span_of(call->name);
    bool is_whole = name.len && (has_arguments || !piece.len);
    if (wr_span_eq(name, own))
        call->owner = OWNER_WEIR;
    else if (!wr_span_starts(own, name) || is_whole)
        call->owner = OWNER_CLIENT;
}

/* Whether it is known whose call each of the chunk's is. */
static bool note_calls(struct wr_join *j, const struct wr_json *doc, wr_json_id list)
{
    struct seen_calls *calls = calls_of(j);
    bool is_known = true;

    for (wr_json_id at = calls ? wr_json_first(doc, list) : WR_JSON_NONE; at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id function = wr_json_find(doc, at, "function");
        int64_t index = wr_chat_index(doc, at);
        weir_span id = text_at(j, doc, at, "id");
        struct seen_call *call = call_find(calls, index, id);
        if (!call)
            call = call_add(j, calls, index);
        if (!call)
            return true;
        if (id.len && !call->id.len)
            call->id = wr_join_keep(j, id);
        if (wr_json_is(doc, wr_json_find(doc, at, "custom"), WR_JSON_OBJECT))
            call->owner = OWNER_CLIENT;
        note_name(call, text_at(j, doc, function, "name"),
                  text_at(j, doc, function, "arguments").len > 0);
        j->has_hidden |= call->owner == OWNER_WEIR;
        is_known &= call->owner != OWNER_UNKNOWN;
    }
    return is_known;
}

/* ---- chunks ---- */

struct wr_chat_chunk wr_chat_read_chunk(const struct wr_json *doc)
{
    wr_json_id choices = wr_json_find(doc, 0, "choices");
    struct wr_chat_chunk c = {.doc = doc, .choice = wr_json_first(doc, choices)};

    if (!wr_json_is(doc, choices, WR_JSON_ARRAY))
        c.choice = WR_JSON_NONE;
    c.delta = wr_json_find(doc, c.choice, "delta");
    c.calls = wr_json_find(doc, c.delta, "tool_calls");
    if (!wr_json_is(doc, c.calls, WR_JSON_ARRAY))
        c.calls = WR_JSON_NONE;
    c.role = wr_json_find(doc, c.delta, "role");
    if (!wr_json_is(doc, c.role, WR_JSON_STRING))
        c.role = WR_JSON_NONE;
    c.finish = wr_json_find(doc, c.choice, "finish_reason");
    c.is_finish = wr_json_is(doc, c.finish, WR_JSON_STRING) && wr_json_inner(doc, c.finish).len;
    c.usage = wr_json_find(doc, 0, "usage");
    c.is_usage = c.choice == WR_JSON_NONE && wr_json_is(doc, c.usage, WR_JSON_OBJECT);
    return c;
}

bool wr_chat_is_nothing(const struct wr_json *doc, wr_json_id value)
{
    switch (wr_json_kind(doc, value)) {
    case WR_JSON_NULL:
        return true;
    case WR_JSON_STRING:
        return !wr_json_inner(doc, value).len;
    case WR_JSON_ARRAY:
    case WR_JSON_OBJECT:
        return wr_json_first(doc, value) == WR_JSON_NONE;
    case WR_JSON_FALSE:
    case WR_JSON_TRUE:
    case WR_JSON_NUMBER:
        break;
    }
    return false;
}

/* Whether something is left in the delta when our calls are gone. */
static bool says_something(const struct wr_join *j, const struct wr_chat_chunk *c)
{
    for (wr_json_id key = wr_json_first(c->doc, c->delta); key != WR_JSON_NONE;
         key = wr_json_next(c->doc, c->delta, key)) {
        wr_json_id value = wr_json_value(key);
        bool counts = value == c->calls  ? c->calls_count > 0
                      : value == c->role ? !j->has_role
                                         : !wr_chat_is_nothing(c->doc, value);
        if (counts)
            return true;
    }
    return false;
}

static void edit_calls(struct wr_join *j, struct wr_splice *splice, struct wr_chat_chunk *c)
{
    struct seen_calls *calls = calls_of(j);

    for (wr_json_id at = wr_json_first(c->doc, c->calls); at != WR_JSON_NONE;
         at = wr_json_next(c->doc, c->calls, at)) {
        weir_span id = text_at(j, c->doc, at, "id");
        struct seen_call *call = call_find(calls, wr_chat_index(c->doc, at), id);
        if (call && call->owner == OWNER_WEIR) {
            c->own_count++;
            wr_splice_remove(splice, c->calls, at);
            continue;
        }
        c->calls_count++;
        if (call && call->number < 0)
            call->number = j->number_next++;
        if (call)
            wr_join_set_number(j, splice, wr_json_find(c->doc, at, "index"), call->number);
    }
}

/* Our calls, the ids of a later leg, a role that was said before. */
static void edit_chunk(struct wr_join *j, struct wr_splice *splice, struct wr_chat_chunk *c)
{
    wr_splice_init(splice, c->doc, &j->scratch);
    edit_calls(j, splice, c);
    if (c->own_count && !c->calls_count) {
        wr_splice_init(splice, c->doc, &j->scratch);
        wr_splice_remove(splice, c->delta, c->calls - 1);
    }
    wr_join_envelope(j, splice, c->doc, 0);
    if (c->role != WR_JSON_NONE && j->has_role && !wr_join_is_first(j))
        wr_splice_remove(splice, c->delta, c->role - 1);
}

/* The end is shown when it is known that this was the last leg; what it says beside is shown now.
 */
static void split_finish(struct wr_join *j, const struct wr_join_event *event,
                         struct wr_chat_chunk *c)
{
    bool says = says_something(j, c);
    struct wr_splice now, later;

    if (says) {
        *c = wr_chat_read_chunk(c->doc);
        edit_chunk(j, &now, c);
        wr_splice_set_json(&now, c->finish, WR_LIT("null"));
        if (wr_json_is(c->doc, c->usage, WR_JSON_OBJECT))
            wr_splice_set_json(&now, c->usage, WR_LIT("null"));
        wr_join_show(j, event, &now);
        j->has_role |= c->role != WR_JSON_NONE;
    }
    wr_splice_init(&later, c->doc, &j->scratch);
    if ((says || c->own_count || c->role != WR_JSON_NONE) && c->delta != WR_JSON_NONE)
        wr_splice_set_json(&later, c->delta, WR_LIT("{}"));
    wr_join_hold(j, event, &later);
}

static void show_chunk(struct wr_join *j, const struct wr_join_event *event,
                       struct wr_chat_chunk *c)
{
    struct wr_splice splice;

    if (wr_join_is_plain(j)) {
        for (wr_json_id at = wr_json_first(c->doc, c->calls); at != WR_JSON_NONE;
             at = wr_json_next(c->doc, c->calls, at)) {
            struct seen_call *call =
                call_find(calls_of(j), wr_chat_index(c->doc, at), text_at(j, c->doc, at, "id"));
            if (call && call->number < 0)
                call->number = j->number_next++;
        }
        wr_join_envelope(j, NULL, c->doc, 0);
        j->has_role |= c->role != WR_JSON_NONE;
        wr_join_show(j, event, NULL);
        return;
    }
    if (c->is_usage) {
        wr_join_hold(j, event, NULL);
        return;
    }
    edit_chunk(j, &splice, c);
    if (c->is_finish) {
        split_finish(j, event, c);
        return;
    }
    bool is_begin = !wr_join_is_first(j) && c->role != WR_JSON_NONE && j->has_role;
    if ((c->own_count || is_begin) && !says_something(j, c))
        return;
    wr_join_show(j, event, &splice);
    j->has_role |= c->role != WR_JSON_NONE;
}

static void show_end(struct wr_join *j, const struct wr_join_event *event)
{
    struct wr_splice splice;

    if (!event->doc) {
        wr_join_show(j, event, NULL);
        return;
    }
    wr_splice_init(&splice, event->doc, &j->scratch);
    wr_join_envelope(j, &splice, event->doc, 0);
    wr_join_edit_usage(j, &splice, event->doc, wr_json_find(event->doc, 0, "usage"));
    wr_join_show(j, event, &splice);
}

/* [DONE], or what cannot be read. */
static void join_word(struct wr_join *j, const struct wr_join_event *event)
{
    if (wr_join_is_plain(j) || !wr_span_is(event->data, "[DONE]"))
        wr_join_show(j, event, NULL);
    else
        wr_join_hold(j, event, NULL);
}

static void join_chat_event(struct wr_join *j, const struct wr_join_event *event)
{
    if (j->is_ending) {
        show_end(j, event);
        return;
    }
    if (!event->doc) {
        join_word(j, event);
        return;
    }
    if (!wr_join_is_first(j) &&
        wr_json_is(event->doc, wr_json_find(event->doc, 0, "error"), WR_JSON_OBJECT)) {
        j->has_error = true;
        return;
    }
    struct wr_chat_chunk c = wr_chat_read_chunk(event->doc);
    if (j->is_replaying) {
        show_chunk(j, event, &c);
        return;
    }
    bool is_known = c.calls == WR_JSON_NONE || note_calls(j, c.doc, c.calls);
    if (is_known && (!j->queue.len || (c.calls == WR_JSON_NONE && !c.is_finish))) {
        show_chunk(j, event, &c);
        return;
    }
    wr_join_queue(j, event);
    if (is_known || c.is_finish)
        wr_join_unqueue(j); /* a name that ended early is the client's */
}

/* ---- results and errors ---- */

static void write_joined_chat_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                     weir_span text, bool is_error)
{
    (void)is_error; /* the API has no word for it */
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "tool");
    wr_json_member_text(w, "tool_call_id", call->id);
    wr_json_member_text(w, "content", text);
    wr_json_write_object_end(w);
}

/* ---- the table ---- */

/* Servers that mean a call say `stop` too. */
static const char *const call_words[] = {"tool_calls", "stop", "function_call", NULL};

const struct wr_joiner wr_joiner_chat = {
    .join_event = join_chat_event,
    .read_leg = wr_chat_read_leg,
    .edit_whole = wr_chat_edit_whole,
    .write_elements = wr_chat_write_elements,
    .write_result = write_joined_chat_result,
    .error_front = "data: ",
    .error_back = "\n\n",
    .ping = ": ping\n\n",
    .call_words = call_words,
    .may_join = wr_own_chat_may_join,
    .is_hosted = wr_own_chat_is_hosted,
    .put_back = wr_own_chat_put_back,
};
