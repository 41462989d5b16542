/* Ollama: several answers shown as one.
 *
 * A stream is lines of JSON, each with the next piece of a message like one of Chat Completions,
 * but that calls come whole, so nothing has to wait for a name. What is held is the end, the line
 * that is `done`. It may say something too: where more legs may follow, its words are shown as a
 * line that is not done, and the end is held without them.
 *
 * Legs are read, written and put back as those of Chat Completions (join_chat_leg.c, own_chat.c).
 * Most servers give calls no ids: a call of the client's is known by its name and what it is called
 * with, a result by the name of its tool and its place.
 */
#include "api/join_chat.h"
#include "api/own_api.h"
#include "base/span.h"

struct line {
    wr_json_id message, calls;
    size_t own_count, others_count; /* calls */
    bool has_words, is_done;
};

static bool says(const struct wr_json *doc, wr_json_id message, const char *key)
{
    wr_json_id id = wr_json_find(doc, message, key);
    return wr_json_is(doc, id, WR_JSON_STRING) && wr_json_inner(doc, id).len;
}

static struct line read_joined_ollama_line(const struct wr_json *doc)
{
    struct line l = {.message = wr_json_find(doc, 0, "message")};

    l.calls = wr_json_find(doc, l.message, "tool_calls");
    if (!wr_json_is(doc, l.calls, WR_JSON_ARRAY))
        l.calls = WR_JSON_NONE;
    for (wr_json_id at = l.calls == WR_JSON_NONE ? l.calls : wr_json_first(doc, l.calls);
         at != WR_JSON_NONE; at = wr_json_next(doc, l.calls, at)) {
        wr_json_id name = wr_json_find(doc, wr_json_find(doc, at, "function"), "name");
        bool is_own = wr_join_is_own(doc, name);
        l.own_count += is_own;
        l.others_count += !is_own;
    }
    l.has_words = says(doc, l.message, "content") || says(doc, l.message, "thinking");
    l.is_done = wr_json_is(doc, wr_json_find(doc, 0, "done"), WR_JSON_TRUE);
    return l;
}

static void hide_own(struct wr_splice *splice, const struct wr_json *doc, const struct line *l)
{
    if (l->own_count && !l->others_count)
        wr_splice_remove(splice, l->message, l->calls - 1);
    else if (l->own_count)
        wr_join_remove_own(splice, doc, l->calls);
}

/* What the last line says, in a line that is not the last. */
static void show_words(struct wr_join *j, const struct wr_join_event *event, const struct line *l)
{
    static const char *const stay[] = {"model", "created_at", "message", "done"};
    const struct wr_json *doc = event->doc;
    struct wr_splice splice;

    wr_splice_init(&splice, doc, &j->scratch);
    wr_join_envelope(j, &splice, doc, 0);
    hide_own(&splice, doc, l);
    wr_splice_set_json(&splice, wr_json_find(doc, 0, "done"), WR_LIT("false"));
    for (wr_json_id key = wr_json_first(doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(doc, 0, key)) {
        bool stays = false;
        for (size_t i = 0; i < WR_COUNT_OF(stay); i++)
            stays |= wr_json_text_is(doc, key, stay[i]);
        if (!stays)
            wr_splice_remove(&splice, 0, key);
    }
    wr_join_show(j, event, &splice);
}

static void hold_end(struct wr_join *j, const struct wr_join_event *event, const struct line *l)
{
    const struct wr_json *doc = event->doc;
    wr_json_id thinking = wr_json_find(doc, l->message, "thinking");
    struct wr_splice splice;

    if (l->has_words || l->others_count)
        show_words(j, event, l);
    wr_splice_init(&splice, doc, &j->scratch);
    if (says(doc, l->message, "content"))
        wr_splice_set_text(&splice, wr_json_find(doc, l->message, "content"), WR_LIT(""));
    if (thinking != WR_JSON_NONE)
        wr_splice_remove(&splice, l->message, thinking - 1);
    if (l->calls != WR_JSON_NONE)
        wr_splice_remove(&splice, l->message, l->calls - 1);
    wr_join_hold(j, event, &splice);
}

static void join_ollama_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;
    struct wr_splice splice;

    if (!doc) {
        wr_join_show(j, event, NULL);
        return;
    }
    struct line l = read_joined_ollama_line(doc);
    j->has_hidden |= l.own_count > 0;
    if (wr_json_find(doc, 0, "error") != WR_JSON_NONE && !wr_join_is_first(j)) {
        j->has_error = true;
        return;
    }
    wr_splice_init(&splice, doc, &j->scratch);
    wr_join_envelope(j, &splice, doc, 0);
    if (wr_join_is_plain(j)) {
        wr_join_show(j, event, NULL);
    } else if (j->is_ending) {
        wr_join_edit_usage(j, &splice, doc, 0); /* it stands among the line's members */
        wr_join_show(j, event, &splice);
    } else if (l.is_done) {
        hold_end(j, event, &l);
    } else if (!l.own_count || l.others_count || l.has_words) {
        hide_own(&splice, doc, &l);
        wr_join_show(j, event, &splice);
    }
}

static void write_joined_ollama_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                       weir_span text, bool is_error)
{
    (void)is_error; /* the API has no word for it */
    wr_json_write_object(w);
    wr_json_member_word(w, "role", "tool");
    wr_json_member_text(w, "content", text);
    wr_json_member_word(w, "tool_name", WR_OWN_TOOL_NAME);
    if (call->id.len)
        wr_json_member_text(w, "tool_call_id", call->id);
    wr_json_write_object_end(w);
}

/* ---- requests ---- */

static bool may_join(const struct wr_json *doc)
{
    (void)doc;
    return true;
}

static uint64_t mark_call(const struct wr_json *doc, wr_json_id call, struct wr_arena *arena)
{
    wr_json_id function = wr_json_find(doc, call, "function");
    uint64_t name = wr_own_likeness(doc, wr_json_find(doc, function, "name"), arena);
    uint64_t arguments = wr_own_likeness(doc, wr_json_find(doc, function, "arguments"), arena);

    return name * 0x9e3779b97f4a7c15u + arguments;
}

/* ---- the table ---- */

static const char *const call_words[] = {"stop", NULL}; /* it has no other word for it */

const struct wr_joiner wr_joiner_ollama = {
    .join_event = join_ollama_event,
    .read_leg = wr_chat_read_leg,
    .edit_whole = wr_chat_edit_whole,
    .write_elements = wr_chat_write_elements,
    .write_result = write_joined_ollama_result,
    .error_front = "",
    .error_back = "\n",
    .ping = "",
    .call_words = call_words,
    .may_join = may_join,
    .is_hosted = wr_own_chat_is_hosted,
    .mark_call = mark_call,
    .put_back = wr_own_chat_put_back,
};
