#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "models/cost.h"
#include "policy/policy_yaml.h"
#include "session/answer.h"
#include "session/disk.h"
#include "session/state.h"

static const char aborted[] = "[aborted: this call was not carried out]";
static const char checkpoint_pin[] = "weir:checkpoint";

/* ---- counting ---- */

static uint64_t count(void *user, weir_span text)
{
    struct weir_session *session = user;
    return session->is_loading ? 0 : wr_meter_count(session->meter, text);
}

uint64_t wr_live_window(const struct weir_session *session)
{
    if (session->thread.window_tokens)
        return session->thread.window_tokens;
    if (session->settings.input_tokens_max)
        return session->settings.input_tokens_max;
    if (session->match.window_tokens && strcmp(session->settings.policy, "layers"))
        return session->match.window_tokens;
    return wr_models_table_window(session->models, wr_span_of(session->model));
}

uint32_t wr_live_messages_max(const struct weir_session *session)
{
    if (!session->settings.input_tokens_max && !session->model[0])
        return WR_ACTOR_MESSAGES_DEFAULT;
    return wr_actor_message_limit(wr_live_window(session));
}

static weir_status use_model(struct weir_session *session, weir_span name, struct weir_err *err)
{
    if (name.len > WR_MODEL_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a model's name has at most %d bytes",
                       WR_MODEL_NAME_BYTES_MAX);
    struct wr_model_match match = wr_models_lookup(session->models, name);
    weir_status status = wr_meter_use_model(session->meter, match.model, err);
    if (status)
        return status;
    session->match = match;
    memmove(session->model, name.ptr ? name.ptr : "", name.len);
    session->model[name.len] = 0;
    wr_thread_recount(&session->thread);
    session->tools_tokens = 0;
    for (size_t i = 0; i < session->tools_count; i++)
        session->tools_tokens += count(session, session->tools[i].name) +
                                 count(session, session->tools[i].description) +
                                 count(session, session->tools[i].schema);
    return WEIR_OK;
}

/* ---- opening ---- */

static weir_status load(void *user, const struct wr_event *event, weir_span line)
{
    struct weir_session *session = user;
    struct wr_staged staged;

    (void)line;
    weir_status status = wr_thread_stage(&session->thread, event, &staged);
    if (!status)
        wr_thread_commit(&session->thread, &staged, event->seq);
    return status;
}

static weir_status set_names(struct weir_session *session,
                             const struct weir_session_options *options, struct weir_err *err)
{
    size_t len = strlen(options->dir);
    while (len > 1 && options->dir[len - 1] == '/')
        len--;
    if (!len || len >= sizeof(session->dir))
        return wr_fail(err, WEIR_LIMIT, 0, "a session's directory has 1 to %zu bytes",
                       sizeof(session->dir) - 1);
    memcpy(session->dir, options->dir, len);
    session->dir[len] = 0;
    const char *slash = strrchr(session->dir, '/');
    const char *name = options->name ? options->name : slash ? slash + 1 : session->dir;
    if (!wr_disk_name_is_good(wr_span_of(name)))
        return wr_fail(err, WEIR_INVALID, 0,
                       "'%.60s' is no name for a session: letters, digits, '-', '_' and '.'", name);
    memcpy(session->name, name, strlen(name));
    if (options->tenant.len > WR_STORE_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a tenant's name is too long");
    weir_span tenant = options->tenant.len ? options->tenant : WR_LIT("local");
    memcpy(session->tenant, tenant.ptr, tenant.len);
    return WEIR_OK;
}

static weir_status check_policy(const struct weir_session *session, weir_span yaml,
                                struct weir_err *err)
{
    struct wr_policies *policies;
    weir_status status = wr_policies_new(&policies, yaml, err);
    if (status)
        return status;
    bool is_there = wr_policies_find(policies, wr_span_of(wr_settings_policy(&session->settings)));
    wr_policies_free(policies);
    if (is_there)
        return WEIR_OK;
    return wr_fail(err, WEIR_NOTFOUND, 0, "no policy is called '%.60s'; `weir policies` lists them",
                   session->settings.policy);
}

struct weir_session_host {
    struct wr_models *models;
    struct wr_meter *meter;
    struct weir_engine *engine;
};

weir_status weir_session_host_new(struct weir_session_host **host, struct weir_err *err)
{
    struct weir_session_host *made = calloc(1, sizeof(*made));

    *host = NULL;
    if (!made)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    weir_status status = wr_models_new(&made->models, NULL, err);
    if (!status)
        status = wr_meter_new(&made->meter);
    if (!status)
        status = weir_engine_new(&made->engine, err);
    if (status)
        weir_session_host_free(made);
    else
        *host = made;
    return status;
}

void weir_session_host_free(struct weir_session_host *host)
{
    if (!host)
        return;
    weir_engine_free(host->engine);
    wr_meter_free(host->meter);
    wr_models_free(host->models);
    free(host);
}

static weir_status load_policies(struct weir_session *session, weir_span own, struct weir_err *err)
{
    struct wr_buf yaml;

    wr_buf_init(&yaml, WR_POLICIES_BYTES_MAX);
    bool is_ours = strcmp(wr_settings_policy(&session->settings), session->settings.policy) != 0;
    if (is_ours)
        wr_settings_policies(&session->settings, &yaml);
    else
        wr_buf_append(&yaml, own);
    weir_status status = wr_buf_status(&yaml);
    if (!status)
        status = weir_engine_load_policies(session->engine, wr_buf_view(&yaml), err);
    if (!status)
        status = check_policy(session, wr_buf_view(&yaml), err);
    wr_buf_release(&yaml);
    return status;
}

static weir_status use_host(struct weir_session *session, struct weir_session_host *host,
                            struct weir_err *err)
{
    weir_status status = host ? WEIR_OK : weir_session_host_new(&session->own_host, err);

    if (status)
        return status;
    host = host ? host : session->own_host;
    session->models = host->models;
    session->meter = host->meter;
    session->engine = host->engine;
    return WEIR_OK;
}

static weir_status open_parts(struct weir_session *session,
                              const struct weir_session_options *options, struct weir_err *err)
{
    struct wr_journal_options journal = {.must_exist = options->must_exist,
                                         .is_read_only = options->is_read_only,
                                         .syncs_all = options->durability == WEIR_DURABLE_FULL};
    weir_status status = use_host(session, options->host, err);
    if (!status)
        status = load_policies(session, options->policies, err);
    if (!status && !options->is_read_only && !options->must_exist)
        status = wr_disk_make_dir(session->dir, err);
    if (!status)
        status = wr_journal_open(&session->journal, session->dir, &journal, load, session,
                                 &session->opened, err);
    session->has_journal = !status;
    if (!status && !options->is_read_only)
        status = wr_trace_open(&session->trace, session->dir, err);
    return status;
}

/* What a new session begins with, and what an old one is told anew. */
static weir_status begin(struct weir_session *session, const struct weir_session_options *options,
                         struct weir_err *err)
{
    weir_span named =
        options->model ? wr_span_of(options->model) : wr_span_of(session->settings.model);
    weir_span model = session->thread.model.len && !options->model ? session->thread.model : named;
    struct wr_event run = {.kind = WR_EVENT_RUN};

    session->is_loading = false;
    /* A cut behind the last turn may have been sent or not: it counts as new. */
    if (session->thread.binds_after < session->thread.turn_seq)
        session->sent_binds_after = session->thread.binds_after;
    bool is_new = !session->thread.seq;
    bool is_other = model.len && !wr_span_eq(model, session->thread.model);
    weir_status status = use_model(session, model, err);
    if (!status && is_new && !options->is_read_only)
        status = wr_live_record(session, &run, options->now_ms, err);
    if (!status && is_other && !options->is_read_only)
        status = weir_session_switch_model(session, session->model, 0, options->now_ms, err);
    return status;
}

weir_status weir_session_open(const struct weir_session_options *options,
                              struct weir_session **session, struct weir_err *err)
{
    struct weir_session *s = calloc(1, sizeof(*s));

    *session = NULL;
    if (err)
        *err = (struct weir_err){0};
    if (!s)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    s->store = options->store;
    s->trace.fd = s->journal.fd = -1;
    s->is_loading = true;
    wr_thread_init(&s->thread, count, s);
    wr_arena_init(&s->tools_arena, WR_ARENA_BYTES_MAX);
    wr_arena_init(&s->scratch, WR_ARENA_BYTES_MAX);
    wr_buf_init(&s->body, WR_OUTPUT_BYTES_MAX);
    weir_status status = set_names(s, options, err);
    if (!status)
        status = wr_settings_read(&s->settings, options->config, err);
    if (!status)
        status = open_parts(s, options, err);
    if (!status)
        status = begin(s, options, err);
    if (status) {
        s->turns_unsaved = 0;
        weir_session_close(s);
        if (err && err->code != status)
            return wr_fail(err, status, 0, "%s", weir_status_text(status));
        return status;
    }
    *session = s;
    return WEIR_OK;
}

void weir_session_close(struct weir_session *session)
{
    if (!session)
        return;
    if (session->turns_unsaved)
        wr_live_save(session, 0);
    weir_request_free(session->request);
    if (session->has_journal)
        wr_journal_close(&session->journal);
    wr_trace_close(&session->trace);
    wr_thread_release(&session->thread);
    wr_buf_release(&session->body);
    wr_arena_release(&session->tools_arena);
    wr_arena_release(&session->scratch);
    weir_session_host_free(session->own_host);
    free(session);
}

const struct weir_session_opened *weir_session_opened(const struct weir_session *session)
{
    return &session->opened;
}

/* ---- the checkpoint ---- */

static void save_row(struct weir_session *session, weir_span value, int64_t now_ms)
{
    struct weir_pin pin = {.model = wr_span_of(checkpoint_pin), .value = value, .replaces = true};
    struct weir_batch batch = {.tenant = wr_span_of(session->tenant),
                               .session = wr_span_of(session->name),
                               .used_ms = now_ms,
                               .pins = &pin,
                               .pins_count = 1};
    if (session->store && weir_store_commit(session->store, &batch, NULL))
        return;
}

void wr_live_save(struct weir_session *session, int64_t now_ms)
{
    struct wr_state state = {.name = session->name,
                             .model = session->model,
                             .policy = session->settings.policy,
                             .window_tokens = wr_live_window(session),
                             .journal_bytes = session->journal.end_bytes,
                             .messages_max = wr_live_messages_max(session),
                             .thread = &session->thread};
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf whole, row;

    wr_buf_init(&whole, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&row, WR_STORE_PIN_BYTES_MAX);
    wr_state_write(&whole, &state, true);
    wr_state_write(&row, &state, false);
    if (!wr_buf_status(&whole) && !wr_disk_join(path, session->dir, WR_STATE_FILE, NULL) &&
        !wr_disk_replace(path, wr_buf_view(&whole), NULL))
        session->turns_unsaved = 0;
    if (!wr_buf_status(&row))
        save_row(session, wr_buf_view(&row), now_ms);
    wr_buf_release(&row);
    wr_buf_release(&whole);
}

/* ---- events ---- */

weir_status wr_live_record(struct weir_session *session, struct wr_event *event, int64_t now_ms,
                           struct weir_err *err)
{
    struct wr_staged staged;

    event->at_ms = now_ms;
    weir_status status = wr_thread_stage(&session->thread, event, &staged);
    if (status)
        return wr_fail(err, status, 0, "no room for the event: %s", weir_status_text(status));
    status = wr_journal_append(&session->journal, event, err);
    if (status) {
        wr_thread_drop(&staged);
        return status;
    }
    wr_thread_commit(&session->thread, &staged, event->seq);
    session->turns_unsaved++;
    return WEIR_OK;
}

/* An event that is a text. */
static weir_status record_text(struct weir_session *session, enum wr_event_kind kind,
                               weir_span text, int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {.kind = kind};

    wr_arena_reset(&session->scratch);
    weir_status status = wr_event_set_text(&event, &session->scratch, text);
    return status ? status : wr_live_record(session, &event, now_ms, err);
}

/* The actor's bound is looked at when words or an answer came; where it cannot be kept now (no room
 * on the disk), it is at the next. */
static void keep_bound(struct weir_session *session, int64_t now_ms)
{
    if (wr_thread_count(&session->thread) > wr_live_messages_max(session) &&
        wr_live_trim(session, false, now_ms, NULL))
        return;
}

weir_status weir_session_set_prompt(struct weir_session *session, weir_span text, int64_t now_ms,
                                    struct weir_err *err)
{
    if (wr_text_is_blank(text) && text.len)
        text.len = 0;
    if (wr_span_eq(text, session->thread.prompt))
        return WEIR_OK;
    return record_text(session, WR_EVENT_PROMPT, text, now_ms, err);
}

static weir_status not_blank(weir_span text, struct weir_err *err)
{
    return wr_text_is_blank(text)
               ? wr_fail(err, WEIR_INVALID, 0, "the text is blank: no provider takes that")
               : WEIR_OK;
}

weir_status weir_session_say(struct weir_session *session, weir_span text, int64_t now_ms,
                             struct weir_err *err)
{
    weir_status status = not_blank(text, err);
    if (!status)
        status = weir_session_abort(session, wr_span_of(aborted), now_ms, err);
    if (!status)
        status = record_text(session, WR_EVENT_USER, text, now_ms, err);
    if (!status)
        keep_bound(session, now_ms);
    return status;
}

weir_status weir_session_steer(struct weir_session *session, weir_span text, int64_t now_ms,
                               struct weir_err *err)
{
    weir_status status = not_blank(text, err);
    return status ? status : record_text(session, WR_EVENT_STEERING, text, now_ms, err);
}

weir_status weir_session_note(struct weir_session *session, weir_span text, int64_t now_ms,
                              struct weir_err *err)
{
    return record_text(session, WR_EVENT_NOTE, text, now_ms, err);
}

/* ---- answers and results ---- */

static void trace_calls(struct weir_session *session, const struct weir_answer *answer,
                        int64_t now_ms)
{
    for (size_t i = 0; i < answer->calls_count; i++) {
        struct wr_trace_field fields[] = {{"name", 0, answer->calls[i].name},
                                          {"call_id", 0, answer->calls[i].id}};
        wr_trace_tell(&session->trace, now_ms, "tool_call", fields, 2);
    }
}

static weir_status check_calls(const struct weir_answer *answer, struct weir_err *err)
{
    for (size_t i = 0; i < answer->calls_count; i++) {
        if (!answer->calls[i].id.len || !answer->calls[i].name.len)
            return wr_fail(err, WEIR_INVALID, 0, "call %zu has no id or no name", i);
        for (size_t k = 0; k < i; k++)
            if (wr_span_eq(answer->calls[i].id, answer->calls[k].id))
                return wr_fail(err, WEIR_INVALID, 0, "two calls of one answer have the id '%.*s'",
                               (int)(answer->calls[i].id.len % 60), answer->calls[i].id.ptr);
    }
    return WEIR_OK;
}

/* The scratch holds what `answer` points at. */
static weir_status record_answer(struct weir_session *session, const struct weir_answer *answer,
                                 int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_ASSISTANT,
                             .model = wr_span_of(answer->model ? answer->model : session->model),
                             .calls = answer->calls,
                             .calls_count = (uint32_t)answer->calls_count,
                             .dialect = answer->dialect,
                             .items = answer->items,
                             .items_count = (uint32_t)answer->items_count};
    weir_status status = check_calls(answer, err);

    if (!status && session->thread.pending_count)
        status = wr_fail(err, WEIR_INVALID, 0, "%u calls of the answer before have no result",
                         session->thread.pending_count);
    if (!status && session->thread.answer_seq >= session->thread.turn_seq)
        status = wr_fail(err, WEIR_INVALID, 0, "an answer without a request");
    if (!status)
        status = wr_event_set_text(&event, &session->scratch, answer->text);
    if (!status)
        status = wr_live_record(session, &event, now_ms, err);
    if (status)
        return status;
    session->refusals_count = 0;
    trace_calls(session, answer, now_ms);
    keep_bound(session, now_ms);
    return WEIR_OK;
}

weir_status weir_session_answer(struct weir_session *session, const struct weir_answer *answer,
                                int64_t now_ms, struct weir_err *err)
{
    struct weir_answer whole = *answer;

    wr_arena_reset(&session->scratch);
    weir_status status = wr_answer_complete(&whole, &session->scratch, err);
    return status ? status : record_answer(session, &whole, now_ms, err);
}

weir_status weir_session_answer_body(struct weir_session *session, weir_dialect dialect,
                                     weir_span body, int64_t now_ms, struct weir_err *err)
{
    struct weir_session_usage usage;
    struct weir_answer answer;
    bool has_usage;

    wr_arena_reset(&session->scratch);
    weir_status status =
        wr_answer_read(&answer, &session->scratch, dialect, body, &usage, &has_usage, err);
    if (!status)
        status = record_answer(session, &answer, now_ms, err);
    if (!status && has_usage)
        status = weir_session_add_usage(session, &usage, now_ms, err);
    return status;
}

static const struct weir_call *find_pending(const struct weir_session *session, weir_span id)
{
    for (uint32_t i = 0; i < session->thread.pending_count; i++)
        if (wr_span_eq(session->thread.pending[i].id, id))
            return &session->thread.pending[i];
    return NULL;
}

static int64_t answered_ms(const struct weir_session *session)
{
    for (uint32_t i = session->thread.messages_count; i-- > 0;)
        if (session->thread.messages[i].event.kind == WR_EVENT_ASSISTANT)
            return session->thread.messages[i].event.at_ms;
    return 0;
}

weir_status weir_session_result(struct weir_session *session, weir_span call_id, weir_span text,
                                bool is_error, int64_t now_ms, struct weir_err *err)
{
    const struct weir_call *call = find_pending(session, call_id);
    struct wr_event event = {.kind = WR_EVENT_RESULT, .call_id = call_id, .is_error = is_error};

    if (!call)
        return wr_fail(err, WEIR_NOTFOUND, 0, "no call that waits for a result has the id '%.*s'",
                       (int)(call_id.len < 60 ? call_id.len : 60), call_id.ptr);
    event.name = call->name;
    int64_t took_ms = now_ms - answered_ms(session);
    struct wr_trace_field fields[] = {{"name", 0, call->name},
                                      {"call_id", 0, call_id},
                                      {"bytes", text.len, {"", 0}},
                                      {"ms", took_ms > 0 ? (uint64_t)took_ms : 0, {"", 0}},
                                      {"is_error", is_error, {"", 0}}};
    wr_arena_reset(&session->scratch);
    weir_status status = wr_event_set_text(&event, &session->scratch, text);
    if (!status)
        status = wr_live_record(session, &event, now_ms, err);
    if (!status)
        wr_trace_tell(&session->trace, now_ms, "tool_result", fields, 5);
    return status;
}

size_t weir_session_pending(const struct weir_session *session, const struct weir_call **calls)
{
    *calls = session->thread.pending;
    return session->thread.pending_count;
}

weir_status weir_session_abort(struct weir_session *session, weir_span why, int64_t now_ms,
                               struct weir_err *err)
{
    weir_status status = WEIR_OK;
    while (session->thread.pending_count && !status)
        status =
            weir_session_result(session, session->thread.pending[0].id, why, true, now_ms, err);
    return status;
}

/* ---- the rest ---- */

weir_status weir_session_add_usage(struct weir_session *session,
                                   const struct weir_session_usage *usage, int64_t now_ms,
                                   struct weir_err *err)
{
    struct wr_usage priced = {.input_tokens = usage->input_tokens,
                              .cache_read_tokens = usage->cache_read_tokens,
                              .cache_write_5m_tokens = usage->cache_write_tokens,
                              .output_tokens = usage->output_tokens};
    struct wr_event event = {.kind = WR_EVENT_USAGE,
                             .model = wr_span_of(session->model),
                             .usage = *usage,
                             .cost_micro_usd = wr_cost(session->match.model, &priced).micro_usd};
    struct wr_trace_field fields[] = {{"model", 0, event.model},
                                      {"input_tokens", usage->input_tokens, {"", 0}},
                                      {"cache_read_tokens", usage->cache_read_tokens, {"", 0}},
                                      {"cache_write_tokens", usage->cache_write_tokens, {"", 0}},
                                      {"output_tokens", usage->output_tokens, {"", 0}},
                                      {"cost_micro_usd", event.cost_micro_usd, {"", 0}}};
    weir_status status = wr_live_record(session, &event, now_ms, err);
    if (!status)
        wr_trace_tell(&session->trace, now_ms, "model_usage", fields, 6);
    return status;
}

weir_status weir_session_rate(struct weir_session *session, uint64_t event_seq, uint32_t score,
                              int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {
        .kind = WR_EVENT_IMPORTANCE, .of = event_seq, .number = score > 100 ? 100 : score};
    if (!wr_thread_find(&session->thread, event_seq))
        return wr_fail(err, WEIR_NOTFOUND, 0, "event %llu is no message that the session holds",
                       (unsigned long long)event_seq);
    return wr_live_record(session, &event, now_ms, err);
}

uint64_t weir_session_last_event(const struct weir_session *session)
{
    return session->thread.seq;
}

weir_status weir_session_switch_model(struct weir_session *session, const char *model,
                                      uint32_t window_tokens, int64_t now_ms, struct weir_err *err)
{
    weir_span name = wr_span_of(model);
    struct wr_event event = {.kind = WR_EVENT_MODEL, .model = name, .number = window_tokens};

    if (!name.len || name.len > WR_MODEL_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_INVALID, 0, "a model's name has 1 to %d bytes",
                       WR_MODEL_NAME_BYTES_MAX);
    weir_status status = wr_live_record(session, &event, now_ms, err);
    if (status)
        return status;
    session->refusals_count = 0;
    return use_model(session, session->thread.model, err);
}

const char *weir_session_model(const struct weir_session *session)
{
    return session->model;
}

weir_status weir_session_disconnect(struct weir_session *session, int64_t now_ms,
                                    struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_PAUSE};
    if (session->settings.continues || session->thread.is_paused)
        return WEIR_OK;
    return wr_live_record(session, &event, now_ms, err);
}

weir_status weir_session_resume(struct weir_session *session, int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_RESUME};
    return session->thread.is_paused ? wr_live_record(session, &event, now_ms, err) : WEIR_OK;
}

weir_status weir_session_start_run(struct weir_session *session, int64_t now_ms,
                                   struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_RUN};
    return wr_live_record(session, &event, now_ms, err);
}

weir_status weir_session_trace(struct weir_session *session, const char *kind, weir_span fields,
                               int64_t now_ms, struct weir_err *err)
{
    return wr_trace_write(&session->trace, now_ms, kind, fields, err);
}
