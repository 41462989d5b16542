/* Sessions with JSON on both sides, for languages that would rather not read structs.
 *
 * A method is a row of a table and a function: it reads its members, makes the call of
 * weir/session.h, and writes what came of it. Words of the user, answers of providers and results
 * of tools can be large and need not be UTF-8, so they may stand beside the JSON (call_frame.h).
 */
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "face/call_frame.h"
#include "weir/session.h"

/* ---- opening ---- */

static weir_status open_session(struct wr_call *call, struct weir_session **session)
{
    struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
    const struct wr_arg args[] = {{"dir", WR_ARG_NAME, &options.dir},
                                  {"name", WR_ARG_NAME, &options.name},
                                  {"config", WR_ARG_TEXT, &options.config},
                                  {"model", WR_ARG_NAME, &options.model},
                                  {"tenant", WR_ARG_TEXT, &options.tenant},
                                  {"policies", WR_ARG_TEXT, &options.policies},
                                  {"now_ms", WR_ARG_TIME, &options.now_ms},
                                  {"must_exist", WR_ARG_BOOL, &options.must_exist},
                                  {"is_read_only", WR_ARG_BOOL, &options.is_read_only}};

    options.store = call->store;
    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status && (!options.dir || !options.dir[0]))
        status = wr_fail(&call->err, WEIR_INVALID, 0, "'dir' is the session's directory");
    if (!status)
        status = weir_session_open(&options, session, &call->err);
    if (status)
        return status;
    const struct weir_session_opened *opened = weir_session_opened(*session);
    wr_json_member_number(&call->w, "events_count", opened->events_count);
    wr_json_member_number(&call->w, "torn_bytes", opened->torn_bytes);
    wr_json_member_number(&call->w, "damage_line", opened->damage_line);
    wr_json_member_number(&call->w, "damage_byte", opened->damage_byte);
    wr_json_member_word(&call->w, "checkpoint", opened->checkpoint);
    wr_json_member_word(&call->w, "model", weir_session_model(*session));
    return WEIR_OK;
}

/* ---- what is said and done ---- */

typedef weir_status say_fn(struct weir_session *session, weir_span text, int64_t now_ms,
                           struct weir_err *err);

static weir_status say_by(struct wr_call *call, say_fn *say)
{
    weir_span text = {NULL, 0};
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"text", WR_ARG_TEXT, &text}, {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "text", &text);
    if (!status)
        status = say(call->session, text, now_ms, &call->err);
    if (!status)
        wr_json_member_number(&call->w, "event", weir_session_last_event(call->session));
    return status;
}

static weir_status call_say(struct wr_call *call)
{
    return say_by(call, weir_session_say);
}

static weir_status call_steer(struct wr_call *call)
{
    return say_by(call, weir_session_steer);
}

static weir_status call_note(struct wr_call *call)
{
    return say_by(call, weir_session_note);
}

static weir_status call_set_prompt(struct wr_call *call)
{
    return say_by(call, weir_session_set_prompt);
}

static weir_status call_abort(struct wr_call *call)
{
    return say_by(call, weir_session_abort);
}

static weir_status read_list(struct wr_call *call, weir_span array, struct wr_json *doc,
                             size_t *count)
{
    weir_status status = wr_json_parse(doc, &call->arena, array, NULL, &call->err);
    *count = status ? 0 : wr_json_count(doc, 0);
    return status;
}

static weir_status call_set_tools(struct wr_call *call)
{
    weir_span list = WR_LIT("[]");
    const struct wr_arg args[] = {{"tools", WR_ARG_ARRAY, &list}};
    struct weir_tool *tools = NULL;
    struct wr_json doc;
    size_t tools_count, i = 0;

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = read_list(call, list, &doc, &tools_count);
    if (status)
        return status;
    tools = wr_arena_zalloc(&call->arena, (tools_count + 1) * sizeof(*tools));
    if (!tools)
        return wr_arena_status(&call->arena);
    WR_JSON_EACH(at, &doc, 0) {
        wr_json_id schema = wr_json_find(&doc, at, "schema");
        tools[i].name = wr_json_find_text(&doc, &call->arena, at, "name");
        tools[i].description = wr_json_find_text(&doc, &call->arena, at, "description");
        tools[i++].schema = schema == WR_JSON_NONE ? (weir_span){"", 0} : wr_json_raw(&doc, schema);
    }
    return weir_session_set_tools(call->session, tools, tools_count, &call->err);
}

static weir_status find_dialect(struct wr_call *call, weir_span name, weir_dialect *dialect)
{
    const struct wr_api *api = wr_api_named(name);
    if (!api)
        return wr_fail(&call->err, WEIR_INVALID, 0, "'dialect' is " WR_API_NAMES);
    *dialect = api->dialect;
    return WEIR_OK;
}

/* An answer in words and calls, of a model that was asked by some other way. */
static weir_status answer_in_words(struct wr_call *call, struct weir_answer *answer, weir_span list,
                                   int64_t now_ms)
{
    struct weir_call *calls;
    struct wr_json doc;
    size_t i = 0;

    weir_status status = read_list(call, list, &doc, &answer->calls_count);
    if (status)
        return status;
    calls = wr_arena_zalloc(&call->arena, (answer->calls_count + 1) * sizeof(*calls));
    if (!calls)
        return wr_arena_status(&call->arena);
    WR_JSON_EACH(at, &doc, 0) {
        calls[i].id = wr_json_find_text(&doc, &call->arena, at, "id");
        calls[i].name = wr_json_find_text(&doc, &call->arena, at, "name");
        calls[i++].arguments = wr_json_find_text(&doc, &call->arena, at, "arguments");
    }
    answer->calls = calls;
    return weir_session_answer(call->session, answer, now_ms, &call->err);
}

static void put_pending(struct wr_call *call)
{
    const struct weir_call *calls;
    size_t calls_count = weir_session_pending(call->session, &calls);

    wr_json_member_array(&call->w, "pending");
    for (size_t i = 0; i < calls_count; i++) {
        wr_json_write_object(&call->w);
        wr_json_member_text(&call->w, "id", calls[i].id);
        wr_json_member_text(&call->w, "name", calls[i].name);
        wr_json_member_text(&call->w, "arguments", calls[i].arguments);
        wr_json_member_bool(&call->w, "is_begun",
                            weir_session_call_is_begun(call->session, calls[i].id));
        wr_json_write_object_end(&call->w);
    }
    wr_json_write_array_end(&call->w);
}

static weir_status call_answer(struct wr_call *call)
{
    struct weir_answer answer = {.model = NULL};
    weir_span body = {NULL, 0}, list = WR_LIT("[]"), dialect = {NULL, 0};
    int64_t now_ms = 0;
    const struct wr_arg args[] = {
        {"dialect", WR_ARG_TEXT, &dialect},    {"body", WR_ARG_OBJECT, &body},
        {"text", WR_ARG_TEXT, &answer.text},   {"calls", WR_ARG_ARRAY, &list},
        {"model", WR_ARG_NAME, &answer.model}, {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "body", &body);
    if (!status && body.ptr)
        status = find_dialect(call, dialect, &answer.dialect);
    if (!status && body.ptr)
        status = weir_session_answer_body(call->session, answer.dialect, body, now_ms, &call->err);
    else if (!status)
        status = answer_in_words(call, &answer, list, now_ms);
    if (!status)
        put_pending(call);
    return status;
}

static weir_status call_result(struct wr_call *call)
{
    weir_span id = {NULL, 0}, text = {NULL, 0};
    bool is_error = false;
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"call_id", WR_ARG_TEXT, &id},
                                  {"text", WR_ARG_TEXT, &text},
                                  {"is_error", WR_ARG_BOOL, &is_error},
                                  {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "text", &text);
    if (!status)
        status = weir_session_result(call->session, id, text, is_error, now_ms, &call->err);
    if (!status)
        put_pending(call);
    return status;
}

static weir_status call_begin_call(struct wr_call *call)
{
    weir_span id = {NULL, 0};
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"call_id", WR_ARG_TEXT, &id}, {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    return status ? status : weir_session_begin_call(call->session, id, now_ms, &call->err);
}

static weir_status call_pending(struct wr_call *call)
{
    weir_status status = wr_call_args(call, NULL, 0);
    if (!status)
        put_pending(call);
    return status;
}

static weir_status call_add_usage(struct wr_call *call)
{
    struct weir_session_usage usage = {0};
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"input_tokens", WR_ARG_COUNT, &usage.input_tokens},
                                  {"cache_read_tokens", WR_ARG_COUNT, &usage.cache_read_tokens},
                                  {"cache_write_tokens", WR_ARG_COUNT, &usage.cache_write_tokens},
                                  {"output_tokens", WR_ARG_COUNT, &usage.output_tokens},
                                  {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    return status ? status : weir_session_add_usage(call->session, &usage, now_ms, &call->err);
}

static weir_status call_switch_model(struct wr_call *call)
{
    const char *model = NULL;
    uint64_t window_tokens = 0;
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"model", WR_ARG_NAME, &model},
                                  {"window_tokens", WR_ARG_COUNT, &window_tokens},
                                  {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status && (!model || !model[0] || window_tokens > UINT32_MAX))
        status = wr_fail(&call->err, WEIR_INVALID, 0,
                         "'model' is a name, and 'window_tokens' at "
                         "most 4,294,967,295");
    return status ? status
                  : weir_session_switch_model(call->session, model, (uint32_t)window_tokens, now_ms,
                                              &call->err);
}

/* ---- the next request ---- */

static weir_status put_turn(struct wr_call *call, const struct weir_session_turn *turn)
{
    weir_status status = wr_call_put_text(call, "body", turn->body, false, NULL);

    wr_json_member_bool(&call->w, "is_changed", turn->is_changed);
    wr_json_member_bool(&call->w, "is_step", turn->is_step);
    wr_json_member_bool(&call->w, "is_compacted", turn->is_compacted);
    wr_json_member_word(&call->w, "step_reason", turn->step_reason);
    wr_json_member_word(&call->w, "held_back", turn->held_back);
    wr_json_member_number(&call->w, "tokens_before", turn->tokens_before);
    wr_json_member_number(&call->w, "tokens_after", turn->tokens_after);
    wr_json_member_number(&call->w, "window_tokens", turn->window_tokens);
    wr_json_member_raw(&call->w, "report", turn->report.len ? turn->report : WR_LIT("null"));
    return status;
}

static weir_status call_request(struct wr_call *call)
{
    struct weir_session_want want = WEIR_SESSION_WANT_INIT;
    struct weir_session_turn turn;
    weir_span dialect = {NULL, 0};
    const struct wr_arg args[] = {{"dialect", WR_ARG_TEXT, &dialect},
                                  {"now_ms", WR_ARG_TIME, &want.now_ms},
                                  {"context", WR_ARG_TEXT, &want.context},
                                  {"extra", WR_ARG_TEXT, &want.extra},
                                  {"is_preview", WR_ARG_BOOL, &want.is_preview},
                                  {"is_without_cache", WR_ARG_BOOL, &want.is_without_cache},
                                  {"alternates", WR_ARG_BOOL, &want.alternates}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = find_dialect(call, dialect, &want.dialect);
    if (!status)
        status = weir_session_request(call->session, &want, &turn, &call->err);
    return status ? status : put_turn(call, &turn);
}

static weir_status call_refused(struct wr_call *call)
{
    weir_span body = {NULL, 0};
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"body", WR_ARG_OBJECT, &body}, {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "body", &body);
    if (!status)
        wr_json_member_bool(&call->w, "is_too_long",
                            weir_session_refused(call->session, body, now_ms));
    return status;
}

static weir_status call_compact(struct wr_call *call)
{
    struct weir_compacted compacted = {.is_taken = false};
    const char *why = "asked";
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"why", WR_ARG_NAME, &why}, {"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = weir_session_compact(call->session, why, now_ms, &compacted, &call->err);
    if (status)
        return status;
    wr_json_member_bool(&call->w, "is_taken", compacted.is_taken);
    wr_json_member_number(&call->w, "tokens_before", compacted.tokens_before);
    wr_json_member_number(&call->w, "tokens_after", compacted.tokens_after);
    wr_json_member_number(&call->w, "messages_count", compacted.messages_count);
    wr_json_member_text(&call->w, "path", compacted.is_taken ? compacted.path : WR_LIT(""));
    return WEIR_OK;
}

/* ---- what fills the window, and what a run used ---- */

static weir_status call_context(struct wr_call *call)
{
    struct weir_session_context c;
    weir_status status = wr_call_args(call, NULL, 0);
    if (status)
        return status;
    weir_session_context(call->session, &c);
    const struct {
        const char *name;
        uint64_t number;
    } rows[] = {{"system_tokens", c.system_tokens},
                {"tools_tokens", c.tools_tokens},
                {"user_tokens", c.user_tokens},
                {"assistant_tokens", c.assistant_tokens},
                {"calls_tokens", c.calls_tokens},
                {"results_tokens", c.results_tokens},
                {"summary_tokens", c.summary_tokens},
                {"total_tokens", c.total_tokens},
                {"window_tokens", c.window_tokens},
                {"usable_tokens", c.usable_tokens},
                {"used_tokens", c.used_tokens},
                {"used_percent", c.used_percent},
                {"last_input_tokens", c.last_input_tokens},
                {"clear_at_tokens", c.clear_at_tokens},
                {"summarise_at_tokens", c.summarise_at_tokens},
                {"messages_count", c.messages_count},
                {"messages_max", c.messages_max},
                {"messages_omitted", c.messages_omitted}};
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        wr_json_member_number(&call->w, rows[i].name, rows[i].number);
    wr_json_member_bool(&call->w, "is_sent", c.is_sent);
    return WEIR_OK;
}

static weir_status call_run(struct wr_call *call)
{
    struct weir_session_run run;
    int64_t now_ms = 0;
    const struct wr_arg args[] = {{"now_ms", WR_ARG_TIME, &now_ms}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (status)
        return status;
    weir_session_run(call->session, now_ms, &run);
    wr_json_member_number(&call->w, "turns", run.turns);
    wr_json_member_number(&call->w, "tokens", run.tokens);
    wr_json_member_number(&call->w, "tool_calls", run.tool_calls);
    wr_json_member_number(&call->w, "cost_micro_usd", run.cost_micro_usd);
    wr_json_member_bool(&call->w, "is_cost_known", run.is_cost_known);
    wr_json_member_number(&call->w, "elapsed_ms", run.elapsed_ms);
    wr_json_member_word(&call->w, "limit", run.limit);
    return WEIR_OK;
}

/* ---- the call ---- */

static const struct session_method {
    const char *name;
    weir_status (*answer)(struct wr_call *call);
} session_methods[] = {
    {"say", call_say},
    {"steer", call_steer},
    {"note", call_note},
    {"abort", call_abort},
    {"set_prompt", call_set_prompt},
    {"set_tools", call_set_tools},
    {"answer", call_answer},
    {"result", call_result},
    {"begin_call", call_begin_call},
    {"pending", call_pending},
    {"add_usage", call_add_usage},
    {"switch_model", call_switch_model},
    {"request", call_request},
    {"refused", call_refused},
    {"compact", call_compact},
    {"context", call_context},
    {"run", call_run},
};

static weir_status answer_session_method(struct wr_call *call, const char *name)
{
    for (size_t i = 0; i < WR_COUNT_OF(session_methods); i++)
        if (!strcmp(name, session_methods[i].name))
            return session_methods[i].answer(call);
    return wr_fail(&call->err, WEIR_NOTFOUND, 0, "no method of a session is called '%.60s'", name);
}

weir_status weir_session_call_open(struct weir_store *store, const char *json, size_t json_bytes,
                                   struct weir_session **session, struct weir_called *called,
                                   struct weir_err *err)
{
    struct wr_call call = {.store = store, .json = {json, json_bytes}, .called = called};

    *session = NULL;
    wr_call_begin(&call);
    weir_status status = wr_call_end_beside(&call, open_session(&call, session), err);
    if (status) {
        weir_session_close(*session);
        *session = NULL;
    }
    return status;
}

weir_status weir_session_call(struct weir_session *session, const char *method, const char *json,
                              size_t json_bytes, const char *bytes, size_t bytes_count,
                              struct weir_called *called, struct weir_err *err)
{
    struct wr_call call = {.session = session,
                           .json = {json, json_bytes},
                           .beside = {bytes, bytes_count},
                           .called = called};

    wr_call_begin(&call);
    return wr_call_end_beside(&call, answer_session_method(&call, method), err);
}
