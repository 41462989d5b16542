/* Messages made smaller for a gateway that sends them itself (compress.h).
 *
 *   body ──▶ read_ask ──▶ write_request ──▶ the engine ──▶ take_messages ──▶ answer
 *                           the messages,                    as many as came? the same roles?
 *                           and the promised tool            markers respelled
 *
 * LiteLLM holds back what it does not want changed: all words of the model, the newest user's, the
 * newest exchange. What comes then are results without their calls, and the list does not begin as
 * the last one did, so no decision could be found again by the turns before it. Each such result is
 * projected by itself (project_alone), as the only one of a session of its own: its form depends on
 * its text and nothing else, and stays the same however the list around it changes.
 *
 * The engine knows one recall tool, weir_recall, and no other may count for it: a tool of another
 * product resolves no handle of ours. So the request that it sees offers weir_recall where the
 * gateway promised its own tool, and in what comes out each marker is respelled to name that one.
 * That is a function of the text alone, so what was sent before comes out the same (law L3).
 */
#include "proxy/compress.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/engine.h"
#include "face/face.h"
#include "json/json.h"
#include "json/write.h"
#include "weir/weir.h"

#define PREFIX "wr_" /* of a handle; a hash is the rest */

/* What a gateway's adapter may ask for beside `messages`. */
struct ask {
    struct wr_json doc;
    wr_json_id messages;
    weir_span model;   /* raw; NULL: not said */
    weir_span session; /* empty: none */
    bool has_tool;     /* it offers the model a tool that retrieves */
    bool has_blocks;   /* messages in Anthropic's form */
    bool has_orphans;  /* results whose calls were held back */
    uint32_t window_tokens;
    uint32_t frozen_count; /* messages at the start that go back as they came */
};

struct answer {
    struct wr_buf messages;               /* the array */
    struct wr_buf hashes;                 /* of originals: WEIR_HANDLE_TEXT_BYTES each */
    uint64_t tokens_before, tokens_after; /* of the lists of messages, as JSON */
    bool is_changed;
};

/* ---- answers ---- */

static int refuse(struct wr_buf *out, int status, const char *text)
{
    struct wr_json_writer w;

    wr_buf_reset(out);
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "error");
    wr_json_write_object(&w);
    wr_json_member_word(&w, "type", status == 400 ? "invalid_request" : "unavailable");
    wr_json_member_word(&w, "message", text);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    return status;
}

static void write_answer(const struct answer *a, const char *policy, struct wr_buf *out)
{
    weir_span hashes = wr_buf_view(&a->hashes);
    uint64_t saved = a->tokens_before > a->tokens_after ? a->tokens_before - a->tokens_after : 0;
    double ratio = a->tokens_before ? (double)a->tokens_after / (double)a->tokens_before : 1.0;
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "messages");
    wr_json_write_raw(&w, wr_buf_view(&a->messages));
    wr_json_member_number(&w, "tokens_before", a->tokens_before);
    wr_json_member_number(&w, "tokens_after", a->tokens_after);
    wr_json_member_number(&w, "tokens_saved", saved);
    wr_json_member_fixed(&w, "compression_ratio", ratio, 4);
    wr_json_write_key(&w, "transforms_applied");
    wr_json_write_array(&w);
    if (a->is_changed)
        wr_json_write_text(&w, wr_span_of(policy));
    wr_json_write_array_end(&w);
    wr_json_write_key(&w, "ccr_hashes");
    wr_json_write_array(&w);
    for (size_t at = 0; at < hashes.len; at += WEIR_HANDLE_TEXT_BYTES)
        wr_json_write_text(&w,
                           wr_span_cut(hashes, at + strlen(PREFIX), at + WEIR_HANDLE_TEXT_BYTES));
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
}

/* ---- what is asked ---- */

/* Whether a part of some message has a type that only Anthropic's API has. */
static bool has_blocks(const struct wr_json *doc, wr_json_id messages)
{
    for (wr_json_id m = wr_json_first(doc, messages); m != WR_JSON_NONE;
         m = wr_json_next(doc, messages, m)) {
        wr_json_id parts = wr_json_find(doc, m, "content");
        if (!wr_json_is(doc, parts, WR_JSON_ARRAY))
            continue;
        for (wr_json_id p = wr_json_first(doc, parts); p != WR_JSON_NONE;
             p = wr_json_next(doc, parts, p)) {
            wr_json_id type = wr_json_find(doc, p, "type");
            if (wr_json_text_is(doc, type, "tool_use") || wr_json_text_is(doc, type, "tool_result"))
                return true;
        }
    }
    return false;
}

static bool is_result(const struct wr_json *doc, wr_json_id message)
{
    return wr_json_text_is(doc, wr_json_find(doc, message, "role"), "tool");
}

/* Whether a result comes before any message of the model's that has calls. */
static bool has_orphans(const struct wr_json *doc, wr_json_id messages)
{
    for (wr_json_id m = wr_json_first(doc, messages); m != WR_JSON_NONE;
         m = wr_json_next(doc, messages, m)) {
        if (is_result(doc, m))
            return true;
        if (wr_json_is(doc, wr_json_find(doc, m, "tool_calls"), WR_JSON_ARRAY))
            return false;
    }
    return false;
}

/* NULL: it was read. */
static const char *read_config(struct ask *ask, struct wr_arena *arena, wr_json_id config)
{
    const struct wr_json *doc = &ask->doc;
    wr_json_id mode = wr_json_find(doc, config, "mode");
    wr_json_id session = wr_json_find(doc, config, "session_id");
    wr_json_id frozen = wr_json_find(doc, config, "frozen_message_count");
    int64_t count = 0;

    ask->has_tool = wr_json_text_is(doc, mode, "ccr");
    if (mode != WR_JSON_NONE && !wr_json_is(doc, mode, WR_JSON_NULL) && !ask->has_tool &&
        !wr_json_text_is(doc, mode, "lossy_inline") &&
        !wr_json_text_is(doc, mode, "lossless_then_lossy"))
        return "config.mode is \"ccr\" (the model has the tool headroom_retrieve), "
               "\"lossy_inline\" or missing";
    if (wr_json_is(doc, session, WR_JSON_STRING))
        ask->session = wr_json_text(doc, arena, session);
    if (frozen != WR_JSON_NONE && !wr_json_is(doc, frozen, WR_JSON_NULL) &&
        (!wr_json_i64(doc, frozen, &count) || count < 0))
        return "config.frozen_message_count is a whole number from 0";
    ask->frozen_count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    return ask->session.ptr ? NULL : "out of memory";
}

/* NULL: it was read. */
static const char *read_ask(struct ask *ask, struct wr_arena *arena, weir_span body)
{
    static const char *const names[] = {"messages", "model", "config", "token_budget"};
    wr_json_id f[WR_COUNT_OF(names)];
    int64_t budget = 0;

    *ask = (struct ask){.session = {"", 0}};
    if (wr_json_parse(&ask->doc, arena, body, NULL, NULL) ||
        !wr_json_is(&ask->doc, 0, WR_JSON_OBJECT))
        return "the body is no JSON object";
    (void)wr_json_pick(&ask->doc, 0, names, WR_COUNT_OF(names), f);
    if (!wr_json_is(&ask->doc, f[0], WR_JSON_ARRAY))
        return "'messages' is the list of messages to compress";
    ask->messages = f[0];
    if (wr_json_is(&ask->doc, f[1], WR_JSON_STRING))
        ask->model = wr_json_raw(&ask->doc, f[1]);
    if (wr_json_i64(&ask->doc, f[3], &budget) && budget > 0 && budget <= UINT32_MAX)
        ask->window_tokens = (uint32_t)budget;
    ask->has_blocks = has_blocks(&ask->doc, ask->messages);
    ask->has_orphans = !ask->has_blocks && has_orphans(&ask->doc, ask->messages);
    return read_config(ask, arena, f[2]);
}

/* ---- the request that the engine sees ---- */

static const char chat_tool[] =
    ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"parameters\":"
    "{\"type\":\"object\",\"properties\":{\"handle\":{\"type\":\"string\"}}}}}]";
static const char block_tool[] =
    ",\"tools\":[{\"name\":\"weir_recall\",\"input_schema\":"
    "{\"type\":\"object\",\"properties\":{\"handle\":{\"type\":\"string\"}}}}]";

static void write_front(const struct ask *ask, struct wr_buf *out)
{
    wr_buf_text(out, "{\"model\":");
    wr_buf_append(out, ask->model.ptr ? ask->model : WR_LIT("\"unknown\""));
    if (ask->has_tool)
        wr_buf_text(out, ask->has_blocks ? block_tool : chat_tool);
    wr_buf_text(out, ",\"messages\":");
}

/* A request whose last message, and only result, is `message`. */
static void write_alone(const struct ask *ask, wr_json_id message, struct wr_buf *out)
{
    wr_json_id id = wr_json_find(&ask->doc, message, "tool_call_id");
    wr_json_id name = wr_json_find(&ask->doc, message, "name");

    write_front(ask, out);
    wr_buf_text(out, "[{\"role\":\"user\",\"content\":\"-\"},{\"role\":\"assistant\",\"content\":"
                     "null,\"tool_calls\":[{\"id\":");
    wr_buf_append(out, wr_json_is(&ask->doc, id, WR_JSON_STRING) ? wr_json_raw(&ask->doc, id)
                                                                 : WR_LIT("\"\""));
    wr_buf_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
    wr_buf_append(out, wr_json_is(&ask->doc, name, WR_JSON_STRING) ? wr_json_raw(&ask->doc, name)
                                                                   : WR_LIT("\"tool\""));
    wr_buf_text(out, ",\"arguments\":\"{}\"}}]},");
    wr_buf_append(out, wr_json_raw(&ask->doc, message));
    wr_buf_text(out, "]}");
}

static void write_request(const struct ask *ask, struct wr_buf *out)
{
    write_front(ask, out);
    wr_buf_append(out, wr_json_raw(&ask->doc, ask->messages));
    wr_buf_byte(out, '}');
}

/* ---- what comes out ---- */

static bool knows_original(const struct wr_compress *c, weir_handle handle)
{
    struct weir_lookup lookup = {.tenant = c->tenant, .handle = handle};
    struct weir_artifact artifact;

    return c->store && !weir_store_get(c->store, &lookup, &artifact, NULL, NULL);
}

static void add_hash(struct answer *a, weir_span handle)
{
    weir_span known = wr_buf_view(&a->hashes);

    for (size_t at = 0; at < known.len; at += WEIR_HANDLE_TEXT_BYTES)
        if (wr_span_eq(wr_span_cut(known, at, at + WEIR_HANDLE_TEXT_BYTES), handle))
            return;
    wr_buf_append(&a->hashes, handle);
}

/* Copies a message that was changed, with the gateway's tool in its markers. In `raw` texts stand
 * escaped; a marker has nothing that is escaped but the quotes of its call. */
static bool copy_changed(const struct wr_compress *c, weir_span raw, struct answer *a)
{
    static const char opening[] = "[weir ", call[] = "weir_recall {\\\"handle\\\":\\\"";
    weir_handle handle;
    size_t done = 0, at = 0;

    while ((at = wr_span_find(raw, wr_span_of(opening), at)) != SIZE_MAX) {
        size_t named = at + strlen(opening), end = named + WEIR_HANDLE_TEXT_BYTES;
        weir_span text = wr_span_cut(raw, named, end < raw.len ? end : raw.len);
        at = named;
        if (!weir_handle_parse(text, &handle) || !knows_original(c, handle))
            continue;
        add_hash(a, text);
        size_t spelt = wr_span_find(raw, wr_span_of(call), end);
        size_t next = wr_span_find(raw, wr_span_of(opening), end);
        if (spelt == SIZE_MAX || spelt > next)
            continue; /* the text stands elsewhere in the prompt */
        size_t inner = spelt + strlen(call);
        if (!wr_span_starts(wr_span_from(raw, inner), text))
            return false;
        wr_buf_append(&a->messages, wr_span_cut(raw, done, spelt));
        wr_buf_text(&a->messages, "headroom_retrieve {\\\"hash\\\":\\\"");
        wr_buf_append(&a->messages, wr_span_from(text, strlen(PREFIX)));
        done = at = inner + WEIR_HANDLE_TEXT_BYTES;
    }
    wr_buf_append(&a->messages, wr_span_from(raw, done));
    return true;
}

static bool has_same_roles(const struct ask *ask, const struct wr_json *out, wr_json_id list)
{
    wr_json_id a = wr_json_first(&ask->doc, ask->messages), b = wr_json_first(out, list);

    for (; a != WR_JSON_NONE && b != WR_JSON_NONE;
         a = wr_json_next(&ask->doc, ask->messages, a), b = wr_json_next(out, list, b)) {
        wr_json_id x = wr_json_find(&ask->doc, a, "role"), y = wr_json_find(out, b, "role");
        if (x == WR_JSON_NONE || y == WR_JSON_NONE ||
            !wr_span_eq(wr_json_raw(&ask->doc, x), wr_json_raw(out, y)))
            return false;
    }
    return a == b; /* both have ended */
}

/* False: it is none that an adapter would take. */
static bool take_messages(const struct wr_compress *c, const struct ask *ask,
                          struct wr_arena *arena, weir_span body, struct answer *a)
{
    struct wr_json out;

    if (wr_json_parse(&out, arena, body, NULL, NULL))
        return false;
    wr_json_id list = wr_json_find(&out, 0, "messages");
    if (!wr_json_is(&out, list, WR_JSON_ARRAY) || !has_same_roles(ask, &out, list))
        return false;
    wr_json_id came = wr_json_first(&ask->doc, ask->messages), sent = wr_json_first(&out, list);
    wr_buf_byte(&a->messages, '[');
    for (uint32_t i = 0; sent != WR_JSON_NONE; i++) {
        weir_span before = wr_json_raw(&ask->doc, came), after = wr_json_raw(&out, sent);
        if (i)
            wr_buf_byte(&a->messages, ',');
        if (i < ask->frozen_count || wr_span_eq(before, after))
            wr_buf_append(&a->messages, before);
        else if (!copy_changed(c, after, a))
            return false;
        else
            a->is_changed = true;
        came = wr_json_next(&ask->doc, ask->messages, came);
        sent = wr_json_next(&out, list, sent);
    }
    wr_buf_byte(&a->messages, ']');
    return true;
}

/* The messages as they came. */
static void take_all(const struct ask *ask, struct answer *a)
{
    wr_buf_reset(&a->messages);
    wr_buf_reset(&a->hashes);
    wr_buf_append(&a->messages, wr_json_raw(&ask->doc, ask->messages));
    a->is_changed = false;
}

/* Projects the request in `body`. On success `*request` owns what `projected` points to. */
static weir_status project(const struct wr_compress *c, const struct ask *ask,
                           const struct wr_buf *body, weir_span session, int64_t now_ms,
                           struct weir_request **request, struct weir_projected *projected)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;

    how.dialect = ask->has_blocks ? "messages" : "chat";
    options.policy_default = c->policy;
    options.store = c->store;
    options.tenant = c->tenant;
    options.session = session;
    options.now_ms = now_ms;
    options.window_tokens = ask->window_tokens;
    weir_status status = wr_buf_status(body);
    if (!status)
        status = weir_engine_request(c->engine, wr_buf_view(body), &how, request, NULL);
    if (!status)
        status = weir_engine_project(c->engine, *request, &options, projected, NULL);
    return status;
}

static bool project_whole(const struct wr_compress *c, const struct ask *ask,
                          struct wr_arena *arena, struct wr_buf *body, struct answer *a)
{
    weir_span session = ask->session.len ? ask->session : c->session;
    struct weir_request *request = NULL;
    struct weir_projected projected;

    write_request(ask, body);
    bool is_taken = !project(c, ask, body, session, c->now_ms, &request, &projected) &&
                    projected.is_changed && take_messages(c, ask, arena, projected.body, a);
    weir_request_free(request);
    return is_taken;
}

/* Appends what stands for one result. */
static void project_alone(const struct wr_compress *c, const struct ask *ask,
                          struct wr_arena *arena, struct wr_buf *body, wr_json_id message,
                          struct answer *a)
{
    char session[sizeof("compress-") + WEIR_HANDLE_TEXT_BYTES] = "compress-";
    weir_span before = wr_json_raw(&ask->doc, message);
    struct weir_request *request = NULL;
    struct weir_projected projected;
    size_t messages_bytes = a->messages.len, hashes_bytes = a->hashes.len;
    struct wr_json out;
    weir_handle name;
    bool is_taken = false;

    wr_buf_reset(body);
    write_alone(ask, message, body);
    if (!weir_handle_of(before, &name)) {
        weir_handle_format(name, session + strlen("compress-"));
        if (!project(c, ask, body, wr_span_of(session), 0, &request, &projected) &&
            projected.is_changed && !wr_json_parse(&out, arena, projected.body, NULL, NULL)) {
            wr_json_id list = wr_json_find(&out, 0, "messages"), last = wr_json_first(&out, list);
            for (wr_json_id m = last; m != WR_JSON_NONE; m = wr_json_next(&out, list, m))
                last = m;
            is_taken = last != WR_JSON_NONE && is_result(&out, last) &&
                       copy_changed(c, wr_json_raw(&out, last), a);
        }
    }
    if (!is_taken) {
        a->messages.len = messages_bytes;
        a->hashes.len = hashes_bytes;
        wr_buf_append(&a->messages, before);
    }
    a->is_changed |= is_taken;
    weir_request_free(request);
}

static bool project_orphans(const struct wr_compress *c, const struct ask *ask,
                            struct wr_arena *arena, struct wr_buf *body, struct answer *a)
{
    wr_json_id m = wr_json_first(&ask->doc, ask->messages);

    wr_buf_byte(&a->messages, '[');
    for (uint32_t i = 0; m != WR_JSON_NONE; i++) {
        if (i)
            wr_buf_byte(&a->messages, ',');
        if (i >= ask->frozen_count && is_result(&ask->doc, m))
            project_alone(c, ask, arena, body, m, a);
        else
            wr_buf_append(&a->messages, wr_json_raw(&ask->doc, m));
        m = wr_json_next(&ask->doc, ask->messages, m);
    }
    wr_buf_byte(&a->messages, ']');
    return a->is_changed;
}

/* Of the messages as they stand in JSON; by the usual encoding where the model is not known. */
static void count_tokens(const struct wr_compress *c, const struct ask *ask, struct answer *a)
{
    struct wr_meter *meter = wr_engine_meter(c->engine);
    const struct wr_models *models = wr_engine_models(c->engine);
    char model[256];

    (void)snprintf(model, sizeof(model), "%.*s", (int)(ask->model.len < 250 ? ask->model.len : 250),
                   ask->model.ptr ? ask->model.ptr : "\"\"");
    model[strcspn(model + 1, "\"") + 1] = '\0';
    if (wr_face_choose(meter, models, model[1] ? model + 1 : NULL, NULL, NULL) &&
        wr_face_choose(meter, models, NULL, NULL, NULL))
        return;
    a->tokens_before = wr_meter_count(meter, wr_json_raw(&ask->doc, ask->messages));
    a->tokens_after =
        a->is_changed ? wr_meter_count(meter, wr_buf_view(&a->messages)) : a->tokens_before;
}

int wr_compress_answer(const struct wr_compress *compress, weir_span body, struct wr_buf *answer)
{
    struct answer a = {.is_changed = false};
    struct wr_arena arena;
    struct wr_buf request;
    struct ask ask;
    int status = 200;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&request, WR_CALL_PAGE_BODY_BYTES_MAX + WR_ARENA_CHUNK_BYTES);
    wr_buf_init(&a.messages, WR_CALL_PAGE_ANSWER_BYTES_MAX);
    wr_buf_init(&a.hashes, WR_CALL_PAGE_ANSWER_BYTES_MAX);
    const char *wrong = read_ask(&ask, &arena, body);
    if (wrong) {
        status = refuse(answer, wr_arena_status(&arena) ? 503 : 400, wrong);
    } else {
        bool is_changed = !compress->is_bypassed &&
                          (ask.has_orphans ? project_orphans : project_whole)(compress, &ask,
                                                                              &arena, &request, &a);
        if (!is_changed)
            take_all(&ask, &a);
        count_tokens(compress, &ask, &a);
        write_answer(&a, compress->policy, answer);
    }
    if (wr_buf_status(&a.messages) || wr_buf_status(&a.hashes))
        status = refuse(answer, 503, "out of memory");
    wr_buf_release(&a.hashes);
    wr_buf_release(&a.messages);
    wr_buf_release(&request);
    wr_arena_release(&arena);
    return status;
}

/* ---- originals ---- */

int wr_retrieve_answer(const struct wr_compress *compress, weir_span hash, struct wr_buf *answer)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    struct weir_lookup lookup = {.tenant = compress->tenant};
    struct weir_artifact artifact;
    struct wr_arena arena;
    struct wr_json_writer w;
    weir_span content;
    uint64_t replaced;

    (void)snprintf(text, sizeof(text), PREFIX "%.*s", (int)(hash.len < 64 ? hash.len : 64),
                   hash.len ? hash.ptr : "");
    if (hash.len != WEIR_HANDLE_TEXT_BYTES - strlen(PREFIX) ||
        !weir_handle_parse(wr_span_of(text), &lookup.handle))
        return refuse(answer, 404, "a hash is 20 hex digits, as `ccr_hashes` gave it");
    if (!compress->store || weir_store_get(compress->store, &lookup, &artifact, NULL, NULL))
        return refuse(answer, 404, "no original has this hash");
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_valid_text(&arena, artifact.text, &content, &replaced);
    if (!status) {
        wr_json_write_init(&w, answer);
        wr_json_write_object(&w);
        wr_json_member_text(&w, "hash", hash);
        wr_json_member_text(&w, "original_content", content);
        wr_json_write_object_end(&w);
    }
    wr_arena_release(&arena);
    return status ? refuse(answer, 503, "out of memory") : 200;
}

/* ==== the webhook of a gateway ==== */

/* The request in it; empty where there is nothing to project. */
static weir_status find_asked(struct wr_json *doc, struct wr_arena *arena, weir_span body,
                              weir_span *asked, struct weir_err *err)
{
    *asked = (weir_span){NULL, 0};
    weir_status status = wr_json_parse(doc, arena, body, NULL, err);
    if (status)
        return status;
    wr_json_id request = wr_json_find(doc, 0, "request");
    if (!wr_json_is(doc, request, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, 0, "'request' is the request, with its body in 'json'");
    wr_json_id json = wr_json_find(doc, request, "json");
    wr_json_id event = wr_json_find(doc, 0, "eventType");
    if (wr_json_is(doc, json, WR_JSON_OBJECT) &&
        (event == WR_JSON_NONE || wr_json_text_is(doc, event, "beforeRequestHook")))
        *asked = wr_json_raw(doc, json);
    return WEIR_OK;
}

/* False: it goes as it came. On success `*request` owns what `projected` points to. */
static bool project_webhook(const struct wr_compress *how, weir_span asked,
                            struct weir_request **request, struct weir_projected *projected)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;

    options.policy_default = how->policy;
    options.store = how->store;
    options.tenant = how->tenant;
    options.session = how->session;
    options.now_ms = how->now_ms;
    return !weir_engine_request(how->engine, asked, NULL, request, NULL) &&
           !weir_engine_project(how->engine, *request, &options, projected, NULL) &&
           projected->is_changed;
}

weir_status wr_webhook_answer(const struct wr_compress *how, weir_span body, struct wr_buf *answer,
                              struct weir_err *err)
{
    struct weir_request *request = NULL;
    struct weir_projected projected;
    struct wr_json_writer w;
    struct wr_arena arena;
    struct wr_json doc;
    weir_span asked;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = find_asked(&doc, &arena, body, &asked, err);
    if (!status) {
        wr_json_write_init(&w, answer);
        wr_json_write_object(&w);
        wr_json_member_bool(&w, "verdict", true);
        if (asked.len && !how->is_bypassed && project_webhook(how, asked, &request, &projected)) {
            wr_json_write_key(&w, "transformedData");
            wr_json_write_object(&w);
            wr_json_write_key(&w, "request");
            wr_json_write_object(&w);
            wr_json_write_key(&w, "json");
            wr_json_write_raw(&w, projected.body);
            wr_json_write_object_end(&w);
            wr_json_write_object_end(&w);
        }
        wr_json_write_object_end(&w);
        status = wr_buf_status(answer);
    }
    weir_request_free(request);
    wr_arena_release(&arena);
    return status;
}
