#include "proxy/tap.h"

#include "base/span.h"

/* ---- small readings ---- */

static weir_span text_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

static void keep_word(char *into, size_t bytes_max, weir_span word)
{
    size_t bytes = 0;
    for (size_t i = 0; i < word.len && bytes + 1 < bytes_max; i++)
        if ((unsigned char)word.ptr[i] > ' ' && !strchr("\"\\", word.ptr[i]))
            into[bytes++] = word.ptr[i];
    into[bytes] = '\0';
}

static void keep_id(struct wr_tap *tap, const struct wr_json *doc, wr_json_id object)
{
    weir_span id = text_at(doc, object, "id"), model = text_at(doc, object, "model");
    if (id.len && !tap->calls.answer_id.len)
        wr_buf_append(&tap->calls.answer_id, id);
    if (model.len)
        keep_word(tap->model, sizeof(tap->model), model);
}

static void keep_error(struct wr_tap *tap, const struct wr_json *doc, wr_json_id object)
{
    wr_json_id error = wr_json_find(doc, object, "error");
    if (!wr_json_is(doc, error, WR_JSON_OBJECT))
        return;
    weir_span word = text_at(doc, error, "code");
    if (!word.len)
        word = text_at(doc, error, "type");
    tap->has_error = true;
    tap->error_kind = wr_answer_error_of(word, text_at(doc, error, "message"));
    keep_word(tap->error, sizeof(tap->error), word);
}

static void keep_finish(struct wr_tap *tap, weir_span word)
{
    if (word.len)
        keep_word(tap->finish, sizeof(tap->finish), word);
}

/* Messages has the reason by itself or as an object's type, Responses beside what was missed. */
static void keep_miss(struct wr_tap *tap, const struct wr_json *doc, wr_json_id answer)
{
    wr_json_id said = wr_json_find(doc, answer, "diagnostics");
    wr_json_id reason = wr_json_find(doc, said, "cache_miss_reason");
    wr_json_id missed =
        wr_json_find(doc, wr_json_find(doc, answer, "prompt_cache_diagnostics"), "cache_miss");
    weir_span word = text_at(doc, said, "cache_miss_reason");

    if (!word.len)
        word = text_at(doc, reason, "type");
    if (!word.len)
        word = text_at(doc, missed, "reason");
    if (word.len)
        keep_word(tap->miss, sizeof(tap->miss), word);
}

/* ---- Chat Completions ---- */

static void read_chat_calls(struct wr_tap *tap, const struct wr_json *doc, wr_json_id list)
{
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id function = wr_json_find(doc, at, "function");
        int64_t index = (int64_t)tap->calls.count;
        wr_json_id number = wr_json_find(doc, at, "index");
        if (number != WR_JSON_NONE)
            (void)wr_json_i64(doc, number, &index);
        struct wr_call *call = wr_calls_at(&tap->calls, index);
        if (!call)
            return;
        if (!call->id.len)
            wr_buf_append(&call->id, text_at(doc, at, "id"));
        if (!call->name.len)
            wr_buf_append(&call->name, text_at(doc, function, "name"));
        wr_json_id arguments = wr_json_find(doc, function, "arguments");
        if (wr_json_is(doc, arguments, WR_JSON_STRING))
            wr_call_add_arguments(call, wr_json_text(doc, tap->arena, arguments));
    }
}

static void read_chat(struct wr_tap *tap, const struct wr_json *doc)
{
    wr_json_id choices = wr_json_find(doc, 0, "choices");

    keep_id(tap, doc, 0);
    keep_error(tap, doc, 0);
    wr_seen_usage_read(&tap->usage, doc, wr_json_find(doc, 0, "usage"));
    for (wr_json_id at = wr_json_first(doc, choices); at != WR_JSON_NONE;
         at = wr_json_next(doc, choices, at)) {
        wr_json_id message = wr_json_find(doc, at, "delta");
        if (message == WR_JSON_NONE)
            message = wr_json_find(doc, at, "message");
        keep_finish(tap, text_at(doc, at, "finish_reason"));
        wr_json_id calls = wr_json_find(doc, message, "tool_calls");
        if (wr_json_is(doc, calls, WR_JSON_ARRAY))
            read_chat_calls(tap, doc, calls);
    }
}

/* ---- Responses ---- */

static void read_item(struct wr_tap *tap, const struct wr_json *doc, wr_json_id item)
{
    wr_json_id type = wr_json_find(doc, item, "type");
    bool is_custom = wr_json_text_is(doc, type, "custom_tool_call");

    if (!is_custom && !wr_json_text_is(doc, type, "function_call"))
        return;
    wr_json_id arguments = wr_json_find(doc, item, is_custom ? "input" : "arguments");
    weir_span text = {"", 0};
    if (wr_json_is(doc, arguments, WR_JSON_STRING))
        text = wr_json_text(doc, tap->arena, arguments);
    wr_calls_add(&tap->calls, text_at(doc, item, "call_id"), text_at(doc, item, "name"), text);
}

static void read_response(struct wr_tap *tap, const struct wr_json *doc, wr_json_id response,
                          bool has_items)
{
    weir_span conversation = text_at(doc, wr_json_find(doc, response, "conversation"), "id");

    keep_id(tap, doc, response);
    keep_error(tap, doc, response);
    wr_seen_usage_read(&tap->usage, doc, wr_json_find(doc, response, "usage"));
    keep_finish(tap, text_at(doc, response, "status"));
    keep_miss(tap, doc, response);
    if (!tap->calls.conversation_id.len)
        wr_buf_append(&tap->calls.conversation_id, conversation);
    wr_json_id output = wr_json_find(doc, response, "output");
    for (wr_json_id at = has_items ? wr_json_first(doc, output) : WR_JSON_NONE; at != WR_JSON_NONE;
         at = wr_json_next(doc, output, at))
        read_item(tap, doc, at);
}

/* Items have come one by one; the last event repeats them all. */
static void read_responses_event(struct wr_tap *tap, const struct wr_json *doc)
{
    wr_json_id type = wr_json_find(doc, 0, "type");

    if (wr_json_text_is(doc, type, "response.output_item.done")) {
        read_item(tap, doc, wr_json_find(doc, 0, "item"));
    } else if (wr_json_text_is(doc, type, "error")) {
        tap->has_error = true;
        tap->error_kind = wr_answer_error_of(text_at(doc, 0, "code"), text_at(doc, 0, "message"));
        keep_word(tap->error, sizeof(tap->error), text_at(doc, 0, "code"));
    } else {
        read_response(tap, doc, wr_json_find(doc, 0, "response"), !tap->calls.count);
        tap->is_finished = true;
    }
}

/* ---- Messages ---- */

static void begin_block(struct wr_tap *tap, const struct wr_json *doc, wr_json_id event)
{
    wr_json_id block = wr_json_find(doc, event, "content_block");
    int64_t index;

    if (!wr_json_text_is(doc, wr_json_find(doc, block, "type"), "tool_use") ||
        !wr_json_i64(doc, wr_json_find(doc, event, "index"), &index))
        return;
    struct wr_call *call = wr_calls_at(&tap->calls, index);
    if (!call || call->id.len)
        return;
    wr_buf_append(&call->id, text_at(doc, block, "id"));
    wr_buf_append(&call->name, text_at(doc, block, "name"));
}

static void extend_block(struct wr_tap *tap, const struct wr_json *doc, wr_json_id event)
{
    wr_json_id piece = wr_json_find(doc, wr_json_find(doc, event, "delta"), "partial_json");
    wr_json_id number = wr_json_find(doc, event, "index");
    int64_t index;

    if (!wr_json_is(doc, piece, WR_JSON_STRING) || number == WR_JSON_NONE ||
        !wr_json_i64(doc, number, &index))
        return;
    wr_call_add_arguments(wr_calls_at(&tap->calls, index), wr_json_text(doc, tap->arena, piece));
}

static void read_messages_event(struct wr_tap *tap, const struct wr_json *doc)
{
    wr_json_id type = wr_json_find(doc, 0, "type");

    if (wr_json_text_is(doc, type, "message_start")) {
        wr_json_id message = wr_json_find(doc, 0, "message");
        keep_id(tap, doc, message);
        keep_miss(tap, doc, message);
        wr_seen_usage_read(&tap->usage, doc, wr_json_find(doc, message, "usage"));
    } else if (wr_json_text_is(doc, type, "content_block_start")) {
        begin_block(tap, doc, 0);
    } else if (wr_json_text_is(doc, type, "content_block_delta")) {
        extend_block(tap, doc, 0);
    } else if (wr_json_text_is(doc, type, "message_delta")) {
        keep_finish(tap, text_at(doc, wr_json_find(doc, 0, "delta"), "stop_reason"));
        wr_seen_usage_read(&tap->usage, doc, wr_json_find(doc, 0, "usage"));
    } else if (wr_json_text_is(doc, type, "error")) {
        keep_error(tap, doc, 0);
    }
}

static void read_message(struct wr_tap *tap, const struct wr_json *doc)
{
    wr_json_id content = wr_json_find(doc, 0, "content");

    keep_id(tap, doc, 0);
    keep_error(tap, doc, 0);
    keep_miss(tap, doc, 0);
    keep_finish(tap, text_at(doc, 0, "stop_reason"));
    wr_seen_usage_read(&tap->usage, doc, wr_json_find(doc, 0, "usage"));
    for (wr_json_id at = wr_json_first(doc, content); at != WR_JSON_NONE;
         at = wr_json_next(doc, content, at)) {
        wr_json_id input = wr_json_find(doc, at, "input");
        if (wr_json_text_is(doc, wr_json_find(doc, at, "type"), "tool_use") &&
            input != WR_JSON_NONE)
            wr_calls_add(&tap->calls, text_at(doc, at, "id"), text_at(doc, at, "name"),
                         wr_json_raw(doc, input));
    }
}

/* ---- which events are read ---- */

static bool holds(weir_span data, const char *word)
{
    return wr_span_find(data, wr_span_of(word), 0) != SIZE_MAX;
}

static bool is_one_of(weir_span name, const char *const *names)
{
    for (; *names; names++)
        if (wr_span_is(name, *names))
            return true;
    return false;
}

/* Most events are pieces of text and are not worth a look. */
static bool is_worth_reading(const struct wr_tap *tap, const struct wr_sse_event *event)
{
    static const char *const responses[] = {"response.output_item.done",
                                            "response.completed",
                                            "response.failed",
                                            "response.incomplete",
                                            "error",
                                            NULL};
    static const char *const messages[] = {"message_start", "content_block_start", "message_delta",
                                           "error", NULL};
    switch (tap->api) {
    case WR_API_CHAT:
        return holds(event->data, "\"usage\"") || holds(event->data, "\"tool_calls\"") ||
               holds(event->data, "\"error\"") || holds(event->data, "\"finish_reason\":\"") ||
               holds(event->data, "\"finish_reason\": \"");
    case WR_API_RESPONSES:
        return is_one_of(event->name, responses);
    case WR_API_MESSAGES:
        return is_one_of(event->name, messages) || holds(event->data, "\"input_json_delta\"");
    case WR_API_NONE:
        break;
    }
    return false;
}

static void on_event(void *user, const struct wr_sse_event *event)
{
    struct wr_tap *tap = user;
    struct wr_json doc;

    tap->events_count++;
    if (wr_span_is(event->data, "[DONE]") || wr_span_is(event->name, "message_stop"))
        tap->is_finished = true;
    if (!is_worth_reading(tap, event))
        return;
    wr_arena_reset(tap->arena);
    if (wr_json_parse(&doc, tap->arena, event->data, NULL, NULL) ||
        !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return;
    if (tap->api == WR_API_CHAT)
        read_chat(tap, &doc);
    else if (tap->api == WR_API_RESPONSES)
        read_responses_event(tap, &doc);
    else
        read_messages_event(tap, &doc);
}

/* ---- life ---- */

static weir_status on_decoded(void *user, weir_span bytes)
{
    struct wr_tap *tap = user;
    if (tap->kind == WR_TAP_STREAM)
        wr_sse_feed(&tap->sse, bytes);
    else
        wr_buf_append(&tap->whole, bytes);
    return tap->kind == WR_TAP_STREAM ? WEIR_OK : wr_buf_status(&tap->whole);
}

void wr_tap_init(struct wr_tap *tap, enum wr_api api, const struct wr_head *answer,
                 struct wr_arena *arena)
{
    weir_span type = wr_head_find(answer, "content-type");
    enum wr_coding coding = wr_coding_of(wr_head_find(answer, "content-encoding"));

    *tap = (struct wr_tap){.api = api, .arena = arena};
    wr_seen_usage_init(&tap->usage);
    wr_calls_init(&tap->calls);
    wr_sse_init(&tap->sse, WR_NET_EVENT_BYTES_MAX, on_event, tap);
    wr_buf_init(&tap->whole, WR_PROXY_ANSWER_BYTES_MAX);
    if (wr_span_starts(type, WR_LIT("text/event-stream")))
        tap->kind = WR_TAP_STREAM;
    else if (wr_span_starts(type, WR_LIT("application/json")))
        tap->kind = WR_TAP_WHOLE;
    if (api == WR_API_NONE || coding == WR_CODING_UNKNOWN)
        tap->kind = WR_TAP_OFF;
    if (tap->kind == WR_TAP_OFF || coding == WR_CODING_IDENTITY)
        return;
    tap->decoder = wr_decoder_new(coding, SIZE_MAX, on_decoded, tap);
    if (!tap->decoder)
        tap->kind = WR_TAP_OFF;
}

void wr_tap_feed(struct wr_tap *tap, weir_span bytes)
{
    if (tap->kind == WR_TAP_OFF)
        return;
    weir_status status =
        tap->decoder ? wr_decoder_feed(tap->decoder, bytes) : on_decoded(tap, bytes);
    if (!status)
        return;
    tap->kind = WR_TAP_OFF;
    wr_buf_release(&tap->whole);
}

void wr_tap_end(struct wr_tap *tap)
{
    struct wr_json doc;

    if (tap->kind != WR_TAP_WHOLE)
        return;
    wr_arena_reset(tap->arena);
    if (wr_json_parse(&doc, tap->arena, wr_buf_view(&tap->whole), NULL, NULL) ||
        !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return;
    if (tap->api == WR_API_CHAT)
        read_chat(tap, &doc);
    else if (tap->api == WR_API_RESPONSES)
        read_response(tap, &doc, 0, true);
    else
        read_message(tap, &doc);
    tap->is_finished = true;
}

void wr_tap_release(struct wr_tap *tap)
{
    wr_decoder_free(tap->decoder);
    wr_sse_release(&tap->sse);
    wr_buf_release(&tap->whole);
    wr_calls_release(&tap->calls);
    tap->decoder = NULL;
    tap->kind = WR_TAP_OFF;
}
