/* One reader of answers for all APIs. What an API's events and bodies look like is in its own file
 * (chat.c, responses.c, messages.c); here is what they share: parts that grow piece by piece, caps,
 * and the two ways to end, as facts for one that looks on or as the body of the whole answer.
 *
 * A proxy and an agent once had a reader each. They agreed on every sound stream and differed on
 * odd ones (servers that number every call 0), which nobody noticed.
 */

#include "api/answer.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/ascii.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/window.h"

enum { ID_BYTES_MAX = 256 };

/* ---- small readings ---- */

void wr_answer_fail(struct wr_reply *a, weir_status status)
{
    if (!a->status)
        a->status = status;
}

weir_span wr_answer_text(struct wr_reply *a, const struct wr_json *doc, wr_json_id object,
                         const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, a->arena, id);
    if (!text.ptr)
        wr_answer_fail(a, WEIR_NOMEM);
    return text.ptr ? text : (weir_span){"", 0};
}

void wr_answer_show(struct wr_reply *a, enum wr_piece kind, weir_span text)
{
    if (text.len && a->on_piece)
        a->on_piece(a->user, kind, text);
}

static void keep_word(char *into, size_t bytes_max, weir_span word)
{
    size_t bytes = 0;

    if (!word.len)
        return;
    for (size_t i = 0; i < word.len && bytes + 1 < bytes_max; i++)
        if ((unsigned char)word.ptr[i] > ' ' && !strchr("\"\\", word.ptr[i]))
            into[bytes++] = word.ptr[i];
    into[bytes] = '\0';
}

void wr_answer_read_id(struct wr_reply *a, const struct wr_json *doc, wr_json_id object)
{
    if (!a->id.len)
        wr_buf_append(&a->id, wr_answer_text(a, doc, object, "id"));
    if (!a->id.len)
        wr_buf_append(&a->id, wr_answer_text(a, doc, object, "responseId"));
    weir_span model = wr_answer_text(a, doc, object, "model");
    if (!model.len)
        model = wr_answer_text(a, doc, object, "modelVersion");
    keep_word(a->model, sizeof(a->model), model);
    if (a->keeps_all && model.len) {
        wr_buf_reset(&a->model_name);
        wr_buf_append(&a->model_name, model);
    }
}

void wr_answer_read_usage(struct wr_reply *a, const struct wr_json *doc, wr_json_id usage)
{
    if (!wr_json_is(doc, usage, WR_JSON_OBJECT) || !wr_json_count(doc, usage))
        return;
    wr_seen_usage_read(&a->usage, doc, usage);
    if (!a->keeps_all)
        return;
    weir_span raw = wr_json_raw(doc, usage);
    if (a->usage_raw.len)
        wr_buf_byte(&a->usage_raw, ',');
    wr_buf_append(&a->usage_raw, wr_span_cut(raw, 1, raw.len - 1));
}

/* Some say it once and send empty words behind it. */
void wr_answer_read_finish(struct wr_reply *a, weir_span word)
{
    keep_word(a->finish, sizeof(a->finish), word);
}

void wr_answer_read_miss(struct wr_reply *a, weir_span word)
{
    keep_word(a->miss, sizeof(a->miss), word);
}

void wr_answer_read_error(struct wr_reply *a, const struct wr_json *doc, wr_json_id error,
                          wr_json_id refusal)
{
    weir_span word = wr_answer_text(a, doc, error, "code");
    weir_span message = wr_answer_text(a, doc, error, "message");

    if (wr_json_is(doc, error, WR_JSON_STRING)) /* words alone */
        message = wr_json_text(doc, a->arena, error);
    else if (!wr_json_is(doc, error, WR_JSON_OBJECT))
        return;
    if (!word.len)
        word = wr_answer_text(a, doc, error, "type");
    if (!word.len)
        word = wr_answer_text(a, doc, error, "status");
    a->has_error = true;
    a->error_kind = wr_answer_error_of(word, message.ptr ? message : WR_LIT(""));
    keep_word(a->error, sizeof(a->error), word.len ? word : WR_LIT("error"));
    wr_buf_reset(&a->refusal);
    if (a->keeps_all)
        wr_buf_append(&a->refusal, wr_json_raw(doc, refusal));
}

/* ---- parts ---- */

static void init_part(const struct wr_reply *a, struct wr_part *part)
{
    size_t most = a->keeps_all ? WR_AGENT_ANSWER_BYTES_MAX : 0;

    wr_buf_init(&part->id, a->keeps_all ? most : ID_BYTES_MAX);
    wr_buf_init(&part->name, a->keeps_all ? most : WR_TOOL_NAME_BYTES_MAX);
    wr_buf_init(&part->text, a->keeps_all ? most : WR_PROXY_CALL_BYTES_MAX);
    wr_buf_init(&part->signature, most);
    wr_buf_init(&part->raw, most);
}

struct wr_part *wr_answer_part(struct wr_reply *a, enum wr_part_kind kind, int64_t index)
{
    size_t most = a->keeps_all ? WR_AGENT_BLOCKS_MAX : WR_PROXY_CALLS_MAX;

    if (kind != WR_PART_CALL && !a->keeps_all)
        return NULL;
    if (a->parts_count == most) {
        wr_answer_fail(a, WEIR_LIMIT);
        return NULL;
    }
    struct wr_part *grown = realloc(a->parts, (a->parts_count + 1) * sizeof(*grown));
    if (!grown) {
        wr_answer_fail(a, WEIR_NOMEM);
        return NULL;
    }
    a->parts = grown;
    struct wr_part *part = &grown[a->parts_count++];
    *part = (struct wr_part){.kind = kind, .index = index};
    init_part(a, part);
    return part;
}

struct wr_part *wr_answer_find(struct wr_reply *a, int64_t index)
{
    for (size_t i = a->parts_count; i > 0; i--)
        if (a->parts[i - 1].index == index)
            return &a->parts[i - 1];
    return NULL;
}

void wr_answer_extend(struct wr_reply *a, struct wr_part *part, weir_span text)
{
    if (part->is_cut)
        return;
    wr_buf_append(&part->text, text);
    if (a->keeps_all || !wr_buf_status(&part->text))
        return;
    part->is_cut = true;
    wr_buf_release(&part->text);
    wr_buf_init(&part->text, WR_PROXY_CALL_BYTES_MAX);
}

void wr_answer_add_call(struct wr_reply *a, weir_span id, weir_span name, weir_span arguments)
{
    struct wr_part *call = wr_answer_part(a, WR_PART_CALL, -1);

    if (!call)
        return;
    wr_buf_append(&call->id, id);
    wr_buf_append(&call->name, name);
    wr_answer_extend(a, call, arguments);
}

/* ---- life ---- */

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct wr_reply *a = user;
    enum wr_look look = a->api->look(event);
    struct wr_json doc;

    a->events_count++;
    if (event->is_cut)
        wr_answer_fail(a, WEIR_LIMIT);
    a->is_finished |= look == WR_LOOK_LAST;
    if (!event->data.len || (look == WR_LOOK_AWAY && !a->keeps_all) || look == WR_LOOK_LAST)
        return;
    if (wr_span_is(event->data, "[DONE]")) /* gateways end streams of any API like that */
        return;
    wr_arena_reset(a->arena);
    weir_status status = wr_json_parse(&doc, a->arena, event->data, NULL, NULL);
    if (status) { /* what was in it is missing: half a command must not run */
        wr_answer_fail(a, status == WEIR_NOMEM ? status : WEIR_SYNTAX);
        return;
    }
    if (wr_json_is(&doc, 0, WR_JSON_OBJECT))
        a->api->read_event(a, &doc);
}

static void on_frame(void *user, const struct wr_frame *frame)
{
    struct wr_reply *a = user;
    struct wr_sse_event event;

    if (wr_frame_open(frame, a->arena, &a->opened, &event))
        on_event(a, &event);
    else
        wr_answer_fail(a, wr_buf_status(&a->opened) ? WEIR_LIMIT : WEIR_SYNTAX);
}

void wr_answer_init(struct wr_reply *a, const struct wr_answer_options *o)
{
    size_t most = o->keeps_all ? WR_AGENT_ANSWER_BYTES_MAX : 0;

    *a = (struct wr_reply){.api = o->api,
                           .arena = o->arena,
                           .keeps_all = o->keeps_all,
                           .on_piece = o->on_piece,
                           .user = o->user};
    wr_seen_usage_init(&a->usage);
    wr_buf_init(&a->id, o->keeps_all ? most : ID_BYTES_MAX);
    wr_buf_init(&a->conversation_id, ID_BYTES_MAX);
    wr_buf_init(&a->usage_raw, most);
    wr_buf_init(&a->model_name, most);
    wr_buf_init(&a->refusal, most);
    wr_buf_init(&a->body, most);
    size_t event_most = o->keeps_all ? WR_AGENT_ANSWER_BYTES_MAX : WR_NET_EVENT_BYTES_MAX;
    wr_sse_init(&a->sse, event_most, on_event, a);
    a->sse.is_lines = o->api && o->api->streams_lines;
    wr_frames_init(&a->frames, event_most, on_frame, a);
    wr_buf_init(&a->opened, event_most);
}

void wr_answer_release(struct wr_reply *a)
{
    struct wr_buf *const bufs[] = {&a->id,        &a->conversation_id, &a->model_name,
                                   &a->usage_raw, &a->refusal,         &a->body,
                                   &a->opened};

    for (size_t i = 0; i < a->parts_count; i++) {
        struct wr_part *part = &a->parts[i];
        wr_buf_release(&part->id);
        wr_buf_release(&part->name);
        wr_buf_release(&part->text);
        wr_buf_release(&part->signature);
        wr_buf_release(&part->raw);
    }
    free(a->parts);
    a->parts = NULL;
    a->parts_count = 0;
    for (size_t i = 0; i < WR_COUNT_OF(bufs); i++)
        wr_buf_release(bufs[i]);
    wr_sse_release(&a->sse);
    wr_frames_release(&a->frames);
}

bool wr_answer_is_stream(const struct wr_api *api, weir_span type)
{
    return wr_span_starts(type, api && api->streams_lines ? WR_LIT("application/x-ndjson")
                                                          : WR_LIT("text/event-stream"));
}

void wr_answer_feed(struct wr_reply *a, weir_span bytes)
{
    wr_sse_feed(&a->sse, bytes);
}

void wr_answer_feed_frames(struct wr_reply *a, weir_span bytes)
{
    wr_frames_feed(&a->frames, bytes);
}

/* ---- a stream's end ---- */

/* The last line of a stream of lines may lack its end. */
void wr_answer_end_feed(struct wr_reply *a)
{
    if (a->sse.is_lines && a->sse.line.len)
        wr_sse_feed(&a->sse, WR_LIT("\n"));
}

/* A part that did not fit is missing, and there is no answer without it. */
weir_status wr_answer_check(const struct wr_reply *a)
{
    weir_status status = a->status ? a->status : wr_buf_status(&a->usage_raw);

    for (size_t i = 0; !status && i < a->parts_count; i++) {
        const struct wr_part *p = &a->parts[i];
        const struct wr_buf *const bufs[] = {&p->id, &p->name, &p->text, &p->signature, &p->raw};
        for (size_t j = 0; !status && j < WR_COUNT_OF(bufs); j++)
            status = wr_buf_status(bufs[j]);
    }
    return status;
}

static bool has_id_of_its_own(const struct wr_reply *a, size_t at)
{
    if (!a->parts[at].id.len)
        return false;
    for (size_t i = 0; i < at; i++)
        if (wr_span_eq(wr_buf_view(&a->parts[i].id), wr_buf_view(&a->parts[at].id)))
            return false;
    return true;
}

/* The same stream gives the same id; another request of the session has another usage. */
static void name_calls(struct wr_reply *a)
{
    for (size_t i = 0, number = 0; i < a->parts_count; i++) {
        struct wr_part *call = &a->parts[i];
        if (call->kind != WR_PART_CALL)
            continue;
        const uint64_t parts[] = {number++, wr_hash64(wr_buf_view(&a->usage_raw)),
                                  wr_hash64(wr_buf_view(&call->name)),
                                  wr_hash64(wr_buf_view(&call->text))};
        if (has_id_of_its_own(a, i))
            continue;
        wr_buf_reset(&call->id);
        wr_buf_printf(
            &call->id, "call_%016llx",
            (unsigned long long)wr_hash64((weir_span){(const char *)parts, sizeof(parts)}));
    }
}

static void write_body(struct wr_reply *a)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, &a->body);
    wr_json_write_object(&w);
    if (a->model_name.len)
        wr_json_member_text(&w, "model", wr_buf_view(&a->model_name));
    a->api->write_answer(a, &w);
    wr_json_write_object_end(&w);
    if (!a->usage_raw.len || wr_buf_status(&a->body))
        return;
    a->body.len--; /* the brace */
    wr_buf_printf(&a->body, ",\"%s\":{", a->api->usage_key ? a->api->usage_key : "usage");
    wr_buf_append(&a->body, wr_buf_view(&a->usage_raw));
    wr_buf_text(&a->body, "}}");
}

weir_status wr_answer_end(struct wr_reply *a, weir_span *body)
{
    *body = (weir_span){"", 0};
    wr_answer_end_feed(a);
    if (a->has_error || (!a->is_finished && !a->has_stopped))
        return WEIR_INVALID;
    a->status = wr_answer_check(a);
    if (!a->status) {
        if (a->api->names_calls)
            name_calls(a);
        write_body(a);
    }
    *body = wr_buf_view(&a->body);
    return a->status ? a->status : wr_buf_status(&a->body);
}

/* ---- what comes whole ---- */

void wr_answer_read_item(struct wr_reply *a, const struct wr_json *doc, wr_json_id item)
{
    if (a->keeps_all) {
        weir_span *grown = wr_arena_grow(a->arena, a->items, a->items_count * sizeof(*grown),
                                         (a->items_count + 1) * sizeof(*grown));
        if (!grown) {
            wr_answer_fail(a, wr_arena_status(a->arena));
            return;
        }
        a->items = grown;
        a->items[a->items_count++] = wr_json_raw(doc, item);
        if (!wr_json_is(doc, item, WR_JSON_OBJECT)) {
            wr_answer_fail(a, WEIR_INVALID);
            return;
        }
    }
    a->api->read_item(a, doc, item);
}

void wr_answer_read_items(struct wr_reply *a, const struct wr_json *doc, wr_json_id list)
{
    for (wr_json_id item = wr_json_first(doc, list); item != WR_JSON_NONE;
         item = wr_json_next(doc, list, item))
        wr_answer_read_item(a, doc, item);
}

static weir_status parse_into(struct wr_reply *a, weir_span text, struct wr_json **doc,
                              struct weir_err *err)
{
    *doc = WR_ARENA_ARRAY(a->arena, struct wr_json, 1);
    if (!*doc)
        return wr_arena_status(a->arena);
    return wr_json_parse(*doc, a->arena, text, NULL, err);
}

weir_status wr_answer_whole(struct wr_reply *a, weir_span body, struct weir_err *err)
{
    struct wr_json *doc;
    weir_status status = parse_into(a, body, &doc, err);

    if (status)
        return status;
    a->on_piece = NULL; /* there are no pieces */
    bool is_whole = wr_json_is(doc, 0, WR_JSON_OBJECT) ||
                    (a->api->streams_lists && wr_json_is(doc, 0, WR_JSON_ARRAY));
    bool is_answer = is_whole && a->api->read_whole(a, doc);
    a->is_finished = is_whole;
    if (!is_answer)
        return wr_fail(err, WEIR_INVALID, 0, "this is no answer of the %s API", a->api->name);
    return WEIR_OK;
}

weir_status wr_answer_item(struct wr_reply *a, weir_span item, struct weir_err *err)
{
    struct wr_json *doc;
    weir_status status = parse_into(a, item, &doc, err);

    if (!status)
        wr_answer_read_item(a, doc, 0);
    return status;
}

/* ---- what it says ---- */

static weir_status list_call(const struct wr_part *part, struct wr_arena *arena,
                             struct weir_call *call, struct weir_err *err)
{
    if (!part->id.len || !part->name.len)
        return wr_fail(err, WEIR_INVALID, 0, "a call of the answer has no id or no name");
    *call = (struct weir_call){wr_arena_copy(arena, wr_buf_view(&part->id)),
                               wr_arena_copy(arena, wr_buf_view(&part->name)),
                               wr_arena_copy(arena, wr_buf_view(&part->text))};
    return wr_arena_status(arena);
}

weir_status wr_answer_said(const struct wr_reply *a, struct wr_arena *arena,
                           struct weir_answer *said, struct weir_err *err)
{
    struct weir_call *calls = WR_ARENA_ARRAY(arena, struct weir_call, WR_JOURNAL_CALLS_MAX);
    struct wr_buf text;

    weir_status status = wr_answer_check(a);
    if (status == WEIR_INVALID)
        return wr_fail(err, status, 0, "an item of the answer is no object");
    if (status)
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    if (!calls)
        return wr_arena_status(arena);
    said->calls = calls;
    said->calls_count = 0;
    wr_buf_init(&text, WR_JOURNAL_LINE_BYTES_MAX);
    for (size_t i = 0; i < a->parts_count && !status; i++) {
        const struct wr_part *part = &a->parts[i];
        if (part->kind == WR_PART_TEXT && part->text.len) {
            wr_buf_text(&text, text.len ? "\n" : "");
            wr_buf_append(&text, wr_buf_view(&part->text));
        } else if (part->kind == WR_PART_CALL && said->calls_count == WR_JOURNAL_CALLS_MAX) {
            status = wr_fail(err, WEIR_LIMIT, 0, "an answer has more calls than a session takes");
        } else if (part->kind == WR_PART_CALL) {
            status = list_call(part, arena, &calls[said->calls_count++], err);
        }
    }
    status = status ? status : wr_buf_status(&text);
    if (!status) {
        said->text = wr_arena_copy(arena, wr_buf_view(&text));
        status = wr_arena_status(arena);
    }
    wr_buf_release(&text);
    return status;
}

/* ==== errors ==== */

enum { MESSAGE_BYTES_MAX = 1024 };

static weir_span lower(weir_span text, char into[MESSAGE_BYTES_MAX])
{
    size_t bytes = text.len < MESSAGE_BYTES_MAX ? text.len : MESSAGE_BYTES_MAX;
    for (size_t i = 0; i < bytes; i++)
        into[i] = wr_lower(text.ptr[i]);
    return (weir_span){into, bytes};
}

static bool holds_any(weir_span text, const char *const *words)
{
    for (; *words; words++)
        if (wr_span_find(text, wr_span_of(*words), 0) != SIZE_MAX)
            return true;
    return false;
}

/* Whether an API has such a word, and `text` holds it. */
static bool is_told(weir_span text, size_t field)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const char *const *words = *(const char *const *const *)((const char *)wr_apis[i] + field);
        if (words && holds_any(text, words))
            return true;
    }
    return false;
}

#define IS_TOLD(text, words) is_told(text, offsetof(struct wr_api, words))

enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message)
{
    char small[MESSAGE_BYTES_MAX];
    struct wr_overflow overflow;
    weir_span text = lower(message, small);

    if (IS_TOLD(code, previous_codes) ||
        (wr_span_find(text, WR_LIT("previous response"), 0) != SIZE_MAX &&
         wr_span_find(text, WR_LIT("not found"), 0) != SIZE_MAX))
        return WR_ANSWER_ERROR_PREVIOUS;
    if (IS_TOLD(text, continuation_words))
        return WR_ANSWER_ERROR_CONTINUATION;
    if (IS_TOLD(code, overflow_codes) || wr_overflow_read(message, &overflow))
        return WR_ANSWER_ERROR_CONTEXT;
    return WR_ANSWER_ERROR_NONE;
}

bool wr_error_is_unbound(weir_span text)
{
    return IS_TOLD(text, unbound_words);
}

bool wr_finish_is_end(weir_span word)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        for (const char *const *known = wr_apis[i]->end_words; *known; known++)
            if (wr_span_is(word, *known))
                return true;
    return false;
}

weir_span wr_error_message(const struct wr_json *doc, struct wr_arena *arena)
{
    wr_json_id root = wr_json_is(doc, 0, WR_JSON_ARRAY) ? wr_json_first(doc, 0) : 0;
    wr_json_id error = wr_json_find(doc, root, "error");
    wr_json_id message = wr_json_find(doc, error != WR_JSON_NONE ? error : root, "message");
    weir_span text = {"", 0};

    if (wr_json_is(doc, error, WR_JSON_STRING))
        message = error; /* words alone */
    if (wr_json_is(doc, message, WR_JSON_STRING))
        text = wr_json_text(doc, arena, message);
    return text.ptr ? text : (weir_span){"", 0};
}

/* ==== usage ==== */

enum { PATH_PARTS_MAX = 3 };

/* One table for all APIs: no two of them use a name for two things. Input tokens are counted
 * without the cache by Messages and with it by the others; that is left as it is said. */
static const struct {
    const char *path[PATH_PARTS_MAX];
    size_t offset;
} fields[] = {
    {{"prompt_tokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"input_tokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"completion_tokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"output_tokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"total_tokens"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"prompt_tokens_details", "cached_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"input_tokens_details", "cached_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"cache_read_input_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"prompt_tokens_details", "cache_write_tokens"},
     offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"input_tokens_details", "cache_write_tokens"},
     offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"cache_creation_input_tokens"}, offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"cache_creation", "ephemeral_5m_input_tokens"},
     offsetof(struct wr_seen_usage, cache_write_5m_tokens)},
    {{"cache_creation", "ephemeral_1h_input_tokens"},
     offsetof(struct wr_seen_usage, cache_write_1h_tokens)},
    {{"input_tokens_details", "cache_write_tokens_details", "ttl_30m_tokens"},
     offsetof(struct wr_seen_usage, cache_write_30m_tokens)},
    {{"input_tokens_details", "cache_write_tokens_details", "ttl_12h_tokens"},
     offsetof(struct wr_seen_usage, cache_write_12h_tokens)},
    {{"prompt_eval_count"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"eval_count"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"promptTokenCount"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"candidatesTokenCount"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"thoughtsTokenCount"}, offsetof(struct wr_seen_usage, reasoning_tokens)},
    {{"totalTokenCount"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"cachedContentTokenCount"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"inputTokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"outputTokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"totalTokens"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"cacheReadInputTokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"cacheWriteInputTokens"}, offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"completion_tokens_details", "reasoning_tokens"},
     offsetof(struct wr_seen_usage, reasoning_tokens)},
    {{"output_tokens_details", "reasoning_tokens"},
     offsetof(struct wr_seen_usage, reasoning_tokens)},
};

void wr_seen_usage_init(struct wr_seen_usage *usage)
{
#define X(name) usage->name = -1;
    WR_USAGE_MAP(X)
#undef X
}

bool wr_seen_usage_is_known(const struct wr_seen_usage *usage)
{
    return usage->input_tokens >= 0 || usage->output_tokens >= 0;
}

void wr_seen_usage_read(struct wr_seen_usage *usage, const struct wr_json *doc, wr_json_id id)
{
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++) {
        wr_json_id at = id;
        int64_t number;
        for (size_t part = 0; part < PATH_PARTS_MAX && fields[i].path[part]; part++)
            at = wr_json_is(doc, at, WR_JSON_OBJECT) ? wr_json_find(doc, at, fields[i].path[part])
                                                     : WR_JSON_NONE;
        if (at != WR_JSON_NONE && wr_json_i64(doc, at, &number) && number >= 0 &&
            number <= WR_MODEL_TOKENS_MAX)
            *(int64_t *)((char *)usage + fields[i].offset) = number;
    }
}

static uint64_t known(int64_t tokens)
{
    return tokens > 0 ? (uint64_t)tokens : 0;
}

struct weir_session_usage wr_seen_usage_split(const struct wr_seen_usage *usage,
                                              bool counts_cached_apart)
{
    struct weir_session_usage split = {.input_tokens = known(usage->input_tokens),
                                       .output_tokens = known(usage->output_tokens),
                                       .cache_read_tokens = known(usage->cache_read_tokens),
                                       .cache_write_tokens = known(usage->cache_write_tokens)};
    uint64_t cached = split.cache_read_tokens + split.cache_write_tokens;

    if (!counts_cached_apart)
        split.input_tokens = split.input_tokens > cached ? split.input_tokens - cached : 0;
    return split;
}
