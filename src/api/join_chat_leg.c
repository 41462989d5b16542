/* Chat Completions: a leg that has ended, read from its deltas, and written back.
 *
 * Servers add members of their own to a message (reasoning_content, reasoning_details, a call's
 * extra_content), and several want them back. So a leg is read by merging its deltas member by
 * member, whatever they are called: texts are appended, lists too, all else is replaced. The parts
 * of a leg are then its members, spelt `"key":value`, and its calls.
 *
 * Whole answers are joined the same way: the message of a leg is one more delta.
 */
#include "api/join_chat.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { CALLS_CAP_FIRST = 8 };

/* ---- a message, merged from deltas ---- */

enum { KEY_BYTES_MAX = 64 };

enum member_kind { MEMBER_TEXT, MEMBER_LIST, MEMBER_VALUE };

struct member {
    weir_span key; /* as it is spelt */
    enum member_kind kind;
    struct wr_buf value; /* of a text unescaped, of a list its elements */
};

struct grown_call {
    int64_t index;
    struct wr_buf id, name, arguments, extra;
    weir_span raw; /* of one that came whole */
    bool is_own;
};

struct message {
    struct wr_join *j;
    struct wr_arena arena;
    struct member members[WR_OWN_MEMBERS_MAX];
    size_t members_count;
    struct grown_call *calls;
    size_t calls_count, calls_cap;
    bool is_whole;
};

static void init_message(struct message *m, struct wr_join *j, bool is_whole)
{
    *m = (struct message){.j = j, .is_whole = is_whole};
    wr_arena_init(&m->arena, WR_ARENA_BYTES_MAX);
}

static void release_message(struct message *m)
{
    for (size_t i = 0; i < m->members_count; i++)
        wr_buf_release(&m->members[i].value);
    for (size_t i = 0; i < m->calls_count; i++) {
        wr_buf_release(&m->calls[i].id);
        wr_buf_release(&m->calls[i].name);
        wr_buf_release(&m->calls[i].arguments);
        wr_buf_release(&m->calls[i].extra);
    }
    wr_arena_release(&m->arena);
}

static weir_span message_text(struct message *m, const struct wr_json *doc, wr_json_id id)
{
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, &m->arena, id);
    if (!text.ptr)
        wr_join_fail_with(m->j, wr_arena_status(&m->arena));
    return text.ptr ? text : (weir_span){"", 0};
}

static struct member *member_for(struct message *m, weir_span key, enum member_kind kind)
{
    for (size_t i = 0; i < m->members_count; i++)
        if (wr_span_eq(m->members[i].key, key)) {
            if (!m->members[i].value.len)
                m->members[i].kind = kind;
            return m->members[i].kind == kind ? &m->members[i] : NULL;
        }
    if (m->members_count == WR_OWN_MEMBERS_MAX || key.len > KEY_BYTES_MAX)
        return NULL;
    struct member *added = &m->members[m->members_count++];
    *added = (struct member){wr_join_keep(m->j, key), kind, {0}};
    wr_buf_init(&added->value, WR_AGENT_ANSWER_BYTES_MAX);
    return added;
}

static void merge_member(struct message *m, const struct wr_json *doc, wr_json_id key)
{
    wr_json_id value = wr_json_value(key);
    bool is_text = wr_json_is(doc, value, WR_JSON_STRING);
    bool is_list = wr_json_is(doc, value, WR_JSON_ARRAY);
    struct member *member;

    if (wr_chat_is_nothing(doc, value))
        return;
    member = member_for(m, wr_json_inner(doc, key),
                        is_text   ? MEMBER_TEXT
                        : is_list ? MEMBER_LIST
                                  : MEMBER_VALUE);
    if (!member)
        return;
    if (is_text) {
        wr_buf_append(&member->value, message_text(m, doc, value));
    } else if (is_list) {
        weir_span raw = wr_json_raw(doc, value);
        if (member->value.len)
            wr_buf_byte(&member->value, ',');
        wr_buf_append(&member->value, wr_span_trim(wr_span_cut(raw, 1, raw.len - 1)));
    } else {
        wr_buf_reset(&member->value);
        wr_buf_append(&member->value, wr_json_raw(doc, value));
    }
    wr_join_fail_with(m->j, wr_buf_status(&member->value));
}

static struct grown_call *grown_call_for(struct message *m, int64_t index, weir_span id)
{
    for (size_t i = m->is_whole ? 0 : m->calls_count; i > 0; i--) {
        struct grown_call *call = &m->calls[i - 1];
        bool is_same = !id.len || wr_span_eq(wr_buf_view(&call->id), id);
        if (index < 0 ? is_same : call->index == index && (is_same || !call->id.len))
            return call;
    }
    if (m->calls_count == WR_AGENT_BLOCKS_MAX)
        wr_join_fail_with(m->j, WEIR_LIMIT);
    else if (!WR_ARENA_ROOM(&m->j->kept, m->calls, m->calls_count, m->calls_cap, CALLS_CAP_FIRST))
        wr_join_fail_with(m->j, wr_arena_status(&m->j->kept));
    if (m->j->is_broken)
        return NULL;
    struct grown_call *call = &m->calls[m->calls_count++];
    *call = (struct grown_call){.index = index, .raw = {NULL, 0}};
    wr_buf_init(&call->id, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&call->name, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&call->arguments, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&call->extra, WR_AGENT_ANSWER_BYTES_MAX);
    return call;
}

/* Members of a call that are the server's own, such as the signature of a thought. */
static void merge_extra(struct grown_call *call, const struct wr_json *doc, wr_json_id entry)
{
    static const char *const known[] = {"index", "id", "type", "function"};

    for (wr_json_id key = wr_json_first(doc, entry); key != WR_JSON_NONE;
         key = wr_json_next(doc, entry, key)) {
        bool is_known = wr_chat_is_nothing(doc, wr_json_value(key));
        for (size_t i = 0; i < WR_COUNT_OF(known); i++)
            is_known |= wr_json_text_is(doc, key, known[i]);
        if (is_known)
            continue;
        wr_buf_byte(&call->extra, ',');
        wr_buf_append(&call->extra, wr_json_member(doc, key));
    }
}

static void merge_call(struct message *m, const struct wr_json *doc, wr_json_id entry)
{
    weir_span id = message_text(m, doc, wr_json_find(doc, entry, "id"));
    wr_json_id function = wr_json_find(doc, entry, "function");
    struct grown_call *call = grown_call_for(m, wr_chat_index(doc, entry), id);
    weir_span name = message_text(m, doc, wr_json_find(doc, function, "name"));

    if (!call)
        return;
    if (!call->id.len)
        wr_buf_append(&call->id, id);
    if (!wr_span_eq(name, wr_buf_view(&call->name)))
        wr_buf_append(&call->name, name);
    wr_buf_append(&call->arguments, message_text(m, doc, wr_json_find(doc, function, "arguments")));
    merge_extra(call, doc, entry);
    const struct wr_buf *const bufs[] = {&call->id, &call->name, &call->arguments, &call->extra};
    for (size_t i = 0; i < WR_COUNT_OF(bufs); i++)
        wr_join_fail_with(m->j, wr_buf_status(bufs[i]));
    call->is_own = wr_span_is(wr_buf_view(&call->name), WR_OWN_TOOL_NAME);
    if (m->is_whole)
        call->raw = wr_join_keep(m->j, wr_json_raw(doc, entry));
    if (wr_json_is(doc, wr_json_find(doc, function, "arguments"), WR_JSON_OBJECT))
        wr_buf_append(&call->arguments, wr_json_raw(doc, wr_json_find(doc, function, "arguments")));
}

static void merge_delta(struct message *m, const struct wr_json *doc, wr_json_id delta)
{
    /* Said by an answer, refused in a request. */
    static const char *const one_way[] = {"role", "annotations", "audio", "function_call"};

    if (!wr_json_is(doc, delta, WR_JSON_OBJECT))
        return;
    for (wr_json_id key = wr_json_first(doc, delta); key != WR_JSON_NONE;
         key = wr_json_next(doc, delta, key)) {
        wr_json_id value = wr_json_value(key);
        bool stays = true;
        for (size_t i = 0; i < WR_COUNT_OF(one_way); i++)
            stays &= !wr_json_text_is(doc, key, one_way[i]);
        if (!wr_json_text_is(doc, key, "tool_calls")) {
            if (stays)
                merge_member(m, doc, key);
            continue;
        }
        if (wr_json_is(doc, value, WR_JSON_ARRAY))
            for (wr_json_id at = wr_json_first(doc, value); at != WR_JSON_NONE;
                 at = wr_json_next(doc, value, at))
                merge_call(m, doc, at);
    }
}

static void on_delta(void *user, const struct wr_sse_event *event)
{
    struct message *m = user;
    struct wr_json doc;

    wr_arena_reset(&m->arena);
    weir_status status = wr_json_parse(&doc, &m->arena, event->data, NULL, NULL);
    if (status == WEIR_NOMEM || event->is_cut) /* all of the leg is within the cap */
        wr_join_fail_with(m->j, WEIR_NOMEM);
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return;
    if (m->j->api->streams_lines) {
        merge_delta(m, &doc, wr_json_find(&doc, 0, "message"));
        return;
    }
    struct wr_chat_chunk c = wr_chat_read_chunk(&doc);
    merge_delta(m, &doc, c.delta);
}

static void write_member_value(struct wr_buf *out, const struct member *member)
{
    static const char *const around[][2] = {{"\"", "\""}, {"[", "]"}, {"", ""}};

    wr_buf_text(out, around[member->kind][0]);
    if (member->kind == MEMBER_TEXT)
        wr_json_escape(out, wr_buf_view(&member->value));
    else
        wr_buf_append(out, wr_buf_view(&member->value));
    wr_buf_text(out, around[member->kind][1]);
}

static weir_span keep_buf(struct wr_join *j, struct wr_buf *buf)
{
    wr_join_fail_with(j, wr_buf_status(buf));
    weir_span kept = j->is_broken ? (weir_span){"", 0} : wr_join_keep(j, wr_buf_view(buf));
    wr_buf_release(buf);
    return kept;
}

/* Of content in parts the texts alone. */
static weir_span said_in(struct message *m, const struct member *content)
{
    struct wr_buf list, text;
    struct wr_json doc;

    if (content->kind == MEMBER_TEXT)
        return wr_join_keep(m->j, wr_buf_view(&content->value));
    wr_buf_init(&list, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    write_member_value(&list, content);
    wr_arena_reset(&m->arena);
    weir_status status = wr_json_parse(&doc, &m->arena, wr_buf_view(&list), NULL, NULL);
    if (status == WEIR_NOMEM)
        wr_join_fail_with(m->j, status);
    for (wr_json_id at = status ? WR_JSON_NONE : wr_json_first(&doc, 0); at != WR_JSON_NONE;
         at = wr_json_next(&doc, 0, at))
        if (wr_json_text_is(&doc, wr_json_find(&doc, at, "type"), "text"))
            wr_buf_append(&text, message_text(m, &doc, wr_json_find(&doc, at, "text")));
    wr_buf_release(&list);
    return keep_buf(m->j, &text);
}

/* ---- a leg ---- */

static weir_span call_json(struct wr_join *j, const struct grown_call *call, weir_span id)
{
    struct wr_json_writer writer;
    struct wr_buf out;

    if (call->raw.ptr && (call->id.len || j->api->streams_lines))
        return call->raw;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&writer, &out);
    wr_json_write_object(&writer);
    wr_json_member_text(&writer, "id", id);
    wr_json_member_word(&writer, "type", "function");
    wr_json_write_key(&writer, "function");
    wr_json_write_object(&writer);
    wr_json_member_text(&writer, "name", wr_buf_view(&call->name));
    wr_json_member_text(&writer, "arguments",
                        call->arguments.len ? wr_buf_view(&call->arguments) : WR_LIT("{}"));
    wr_json_write_object_end(&writer);
    wr_buf_append(&out, wr_buf_view(&call->extra));
    wr_json_write_object_end(&writer);
    return keep_buf(j, &out);
}

/* What tells a call where ids may be missing; of ours its id, if it has one. */
static weir_span mark_of(struct wr_join *j, const struct grown_call *call)
{
    struct wr_json doc;
    uint64_t mark = 0;

    if (call->is_own)
        return wr_join_keep(j, wr_buf_view(&call->id));
    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, call->raw, NULL, NULL);
    if (!status)
        mark = j->api->joiner->mark_call(&doc, 0, &j->scratch);
    wr_join_fail_with(j, status == WEIR_NOMEM ? status : wr_arena_status(&j->scratch));
    return wr_join_keep(j, (weir_span){(const char *)&mark, sizeof(mark)});
}

/* A result needs the id of its call. Servers that give none take any. */
static weir_span call_id(struct wr_join *j, const struct grown_call *call, size_t number)
{
    struct wr_buf id;

    if (j->api->joiner->mark_call)
        return mark_of(j, call);
    if (call->id.len)
        return wr_join_keep(j, wr_buf_view(&call->id));
    uint64_t hash = wr_hash64_seeded(wr_buf_view(&call->arguments), j->legs_count);
    wr_buf_init(&id, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&id, "call_%016llx",
                  (unsigned long long)wr_hash64_seeded(
                      (weir_span){(const char *)&number, sizeof(number)}, hash));
    return keep_buf(j, &id);
}

static void add_parts(struct message *m, struct wr_leg *leg)
{
    struct wr_join *j = m->j;

    for (size_t i = 0; i < m->members_count && !j->is_broken; i++) {
        bool is_text = wr_span_is(m->members[i].key, "content");
        struct wr_leg_part *part = wr_leg_add(j, leg, is_text ? WR_LEG_TEXT : WR_LEG_OTHER);
        struct wr_buf json;
        if (!part)
            return;
        wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
        if (is_text)
            part->text = said_in(m, &m->members[i]);
        part->is_dropped = is_text && m->members[i].kind == MEMBER_TEXT &&
                           wr_text_is_blank(part->text); /* servers refuse it */
        wr_buf_byte(&json, '"');
        wr_buf_append(&json, m->members[i].key);
        wr_buf_text(&json, "\":");
        write_member_value(&json, &m->members[i]);
        part->json = keep_buf(j, &json);
    }
    for (size_t i = 0; i < m->calls_count && !j->is_broken; i++) {
        const struct grown_call *call = &m->calls[i];
        struct wr_leg_part *part = wr_leg_add(j, leg, call->is_own ? WR_LEG_OWN : WR_LEG_CALL);
        if (!part)
            return;
        part->id = call_id(j, call, i);
        part->json = call_json(j, call, part->id);
        part->text =
            wr_join_keep(j, call->arguments.len ? wr_buf_view(&call->arguments) : WR_LIT("{}"));
    }
}

/* Of a whole answer: in its first choice, or by itself (Ollama). */
static wr_json_id message_in(const struct wr_json *doc)
{
    wr_json_id choices = wr_json_find(doc, 0, "choices");
    wr_json_id choice =
        wr_json_is(doc, choices, WR_JSON_ARRAY) ? wr_json_first(doc, choices) : WR_JSON_NONE;

    return wr_json_find(doc, choices == WR_JSON_NONE ? 0 : choice, "message");
}

static void merge_whole(struct message *m, weir_span bytes)
{
    struct wr_json doc;

    if (!wr_json_parse(&doc, &m->arena, bytes, NULL, NULL))
        merge_delta(m, &doc, message_in(&doc));
}

void wr_chat_read_leg(struct wr_join *j, struct wr_leg *leg)
{
    struct wr_arena arena;
    struct wr_reply reply;
    struct message message;
    struct wr_sse sse;

    init_message(&message, j, leg->bytes.len > 0 || j->api->streams_lines); /* calls come whole */
    wr_sse_init(&sse, WR_AGENT_ANSWER_BYTES_MAX, on_delta, &message);
    sse.is_lines = j->api->streams_lines;
    if (leg->bytes.len)
        merge_whole(&message, leg->bytes);
    else
        wr_sse_feed(&sse, wr_buf_view(&j->bytes));
    if (wr_arena_status(&message.arena) == WEIR_NOMEM)
        wr_join_fail_with(j, WEIR_NOMEM);
    wr_leg_read_answer(j, leg, &arena, &reply);
    add_parts(&message, leg);
    wr_sse_release(&sse);
    release_message(&message);
    wr_answer_release(&reply);
    wr_arena_release(&arena);
}

/* ---- whole ---- */

/* Members of the messages before, merged with those of the last. */
static void merge_legs(struct message *m, const struct wr_json *doc, wr_json_id message)
{
    struct wr_join *j = m->j;

    for (size_t i = 0; i + 1 < j->legs_count; i++)
        for (size_t at = 0; at < j->legs[i].parts_count; at++) {
            const struct wr_leg_part *part = &j->legs[i].parts[at];
            struct wr_json earlier;
            struct wr_buf text;
            weir_span object;
            if (part->kind != WR_LEG_TEXT && part->kind != WR_LEG_OTHER)
                continue;
            wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
            wr_buf_byte(&text, '{');
            wr_buf_append(&text, part->json);
            wr_buf_byte(&text, '}');
            wr_join_fail_with(j, wr_text_keep(&m->arena, &text, &object));
            if (!j->is_broken && !wr_json_parse(&earlier, &m->arena, object, NULL, NULL))
                merge_delta(m, &earlier, 0);
        }
    merge_delta(m, doc, message);
}

static void edit_members(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                         wr_json_id message)
{
    struct message merged;

    init_message(&merged, j, true);
    merge_legs(&merged, doc, message);
    for (size_t i = 0; i < merged.members_count && !j->is_broken; i++) {
        const struct member *member = &merged.members[i];
        char key[KEY_BYTES_MAX + 1] = {0};
        struct wr_buf json;
        weir_span value;
        memcpy(key, member->key.ptr, member->key.len);
        wr_json_id now = wr_json_find(doc, message, key);
        wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
        if (now == WR_JSON_NONE)
            wr_buf_printf(&json, "\"%s\":", key);
        write_member_value(&json, member);
        wr_join_fail_with(j, wr_text_keep(&j->scratch, &json, &value));
        if (j->is_broken)
            break;
        if (now == WR_JSON_NONE)
            wr_splice_insert(splice, message, WR_JSON_NONE, value);
        else if (!wr_span_eq(wr_json_raw(doc, now), value))
            wr_splice_set_json(splice, now, value);
    }
    release_message(&merged);
}

void wr_chat_edit_whole(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    wr_json_id message = message_in(doc);
    wr_json_id calls = wr_json_find(doc, message, "tool_calls");
    bool has_other = false;

    wr_join_envelope(j, splice, doc, 0);
    if (!wr_json_is(doc, message, WR_JSON_OBJECT))
        return;
    if (!wr_join_is_first(j))
        edit_members(j, splice, doc, message);
    wr_join_edit_usage(j, splice, doc, j->api->streams_lines ? 0 : wr_json_find(doc, 0, "usage"));
    if (!wr_json_is(doc, calls, WR_JSON_ARRAY))
        return;
    for (wr_json_id at = wr_json_first(doc, calls); at != WR_JSON_NONE;
         at = wr_json_next(doc, calls, at))
        has_other |=
            !wr_join_is_own(doc, wr_json_find(doc, wr_json_find(doc, at, "function"), "name"));
    if (has_other)
        wr_join_remove_own(splice, doc, calls);
    else if (wr_json_first(doc, calls) != WR_JSON_NONE)
        wr_splice_remove(splice, message, calls - 1);
}

/* ---- what goes back ---- */

void wr_chat_write_elements(const struct wr_leg *leg, struct wr_buf *out)
{
    bool has_text = false;
    size_t calls_count = 0;

    wr_buf_text(out, "{\"role\":\"assistant\"");
    for (size_t i = 0; i < leg->parts_count; i++)
        has_text |= leg->parts[i].kind == WR_LEG_TEXT && !leg->parts[i].is_dropped;
    if (!has_text)
        wr_buf_text(out, ",\"content\":null");
    for (size_t i = 0; i < leg->parts_count; i++) {
        const struct wr_leg_part *part = &leg->parts[i];
        if (part->is_dropped)
            continue;
        if (part->kind == WR_LEG_CALL || part->kind == WR_LEG_OWN)
            wr_buf_text(out, calls_count++ ? "," : ",\"tool_calls\":[");
        else
            wr_buf_byte(out, ',');
        wr_buf_append(out, part->json);
    }
    wr_buf_text(out, calls_count ? "]}" : "}");
    for (size_t i = 0; i < leg->calls_count; i++) {
        wr_buf_byte(out, ',');
        wr_buf_append(out, leg->results[i]);
    }
}
