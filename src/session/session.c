/* One event at a time: what is said, done and used. */
#include "session/session.h"

#include "api/answer.h"
#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "models/registry.h"
#include "session/disk.h"
#include "session/images.h"
#include "session/prompt.h"

static const char aborted[] = "[aborted: this call was not carried out]";
static const char unknown[] =
    "[aborted: this call was running when the session ended; its outcome is unknown]";
static const char checkpoint_pin[] = "weir:checkpoint";

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
                             .journal = &session->journal,
                             .messages_max = wr_live_messages_max(session),
                             .thread = &session->thread};
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf whole, row;

    if (!wr_journal_stamp_of(&session->journal, &state.stamp))
        return;
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
    wr_thread_commit(&session->thread, &staged, event);
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

/* Appends what changed, for people: "tools: +grep -edit"; where nobody named the pieces it says
 * only that it is another. */
static void tell_change(struct wr_buf *out, const char *what, weir_span before, weir_span now)
{
    if (out->len)
        wr_buf_text(out, "; ");
    wr_buf_text(out, what);
    if (before.len && now.len) {
        wr_buf_text(out, ": ");
        wr_pieces_diff(out, before, now);
    }
}

weir_status wr_live_set_front(struct weir_session *session, enum wr_event_kind kind, weir_span text,
                              weir_span pieces, int64_t now_ms, struct weir_err *err)
{
    const struct wr_thread *t = &session->thread;
    bool is_tools = kind == WR_EVENT_TOOLS;
    struct wr_event event = {.kind = kind, .pieces = pieces};

    if (wr_text_is_blank(text))
        text.len = 0;
    if (is_tools ? wr_span_eq(pieces, t->tools_pieces) : wr_span_eq(text, t->prompt))
        return WEIR_OK;
    if (!is_tools && t->prompt.len)
        tell_change(&session->told, "prompt", t->prompt_pieces, pieces);
    wr_arena_reset(&session->scratch);
    weir_status status = wr_event_set_text(&event, &session->scratch, text);
    return status ? status : wr_live_record(session, &event, now_ms, err);
}

weir_span weir_session_changes(struct weir_session *session)
{
    const struct wr_thread *t = &session->thread;

    wr_buf_reset(&session->changes);
    wr_buf_append(&session->changes, wr_buf_view(&session->told));
    if (t->tools_place.seq && !wr_span_eq(t->tools_pieces, session->tools_pieces))
        tell_change(&session->changes, "tools", t->tools_pieces, session->tools_pieces);
    return wr_buf_view(&session->changes);
}

weir_status weir_session_set_prompt(struct weir_session *session, weir_span text, int64_t now_ms,
                                    struct weir_err *err)
{
    return wr_live_set_front(session, WR_EVENT_PROMPT, text, (weir_span){"", 0}, now_ms, err);
}

weir_status weir_session_use_prompt(struct weir_session *session, const struct weir_prompt *prompt,
                                    int64_t now_ms, struct weir_err *err)
{
    struct wr_buf pieces;

    wr_buf_init(&pieces, WR_PIECES_BYTES_MAX);
    wr_pieces_of_prompt(&pieces, prompt);
    weir_status status = wr_buf_status(&pieces);
    if (!status)
        status = wr_live_set_front(session, WR_EVENT_PROMPT, weir_prompt_system(prompt),
                                   wr_buf_view(&pieces), now_ms, err);
    wr_buf_release(&pieces);
    return status;
}

static weir_status not_blank(weir_span text, struct weir_err *err)
{
    return wr_text_is_blank(text)
               ? wr_fail(err, WEIR_INVALID, 0, "the text is blank: no provider takes that")
               : WEIR_OK;
}

/* ---- images ---- */

weir_status weir_session_attach(struct weir_session *session, weir_span bytes,
                                struct weir_image_size *size, struct weir_err *err)
{
    struct wr_image_size found = {0};

    if (session->attached_count == WR_SESSION_IMAGES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a message has at most %d images",
                       WR_SESSION_IMAGES_MAX);
    if (bytes.len <= WR_SESSION_IMAGE_BYTES_MAX &&
        bytes.len + wr_images_bytes(session->dir, wr_buf_view(&session->attached)) >
            WR_SESSION_IMAGES_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "the images of a message have at most %d MB",
                       WR_SESSION_IMAGES_BYTES_MAX / 1024 / 1024);
    weir_status status = wr_images_keep(session->dir, bytes, &session->attached, &found, err);
    if (status)
        return status;
    session->attached_count++;
    if (size)
        *size = (struct weir_image_size){found.width_px, found.height_px};
    return WEIR_OK;
}

/* Words take what was attached with them, whether they are written or not. */
static weir_status record_words(struct weir_session *session, enum wr_event_kind kind,
                                weir_span text, int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {.kind = kind, .images = wr_buf_view(&session->attached)};

    wr_arena_reset(&session->scratch);
    weir_status status = wr_event_set_text(&event, &session->scratch, text);
    if (!status)
        status = wr_live_record(session, &event, now_ms, err);
    wr_buf_reset(&session->attached);
    session->attached_count = 0;
    return status;
}

/* ---- words ---- */

/* The one that was begun comes first: the result of another would take its mark away. */
static const struct weir_call *next_to_close(const struct weir_session *session)
{
    const struct wr_thread *t = &session->thread;

    for (uint32_t i = 0; i < t->pending_count; i++)
        if (weir_session_call_is_begun(session, t->pending[i].id))
            return &t->pending[i];
    return &t->pending[0];
}

/* A call that was begun may have been done, in part or whole: only of the others it can be said
 * that they were not. */
static weir_status close_calls(struct weir_session *session, int64_t now_ms, struct weir_err *err)
{
    weir_status status = WEIR_OK;

    while (session->thread.pending_count && !status) {
        const struct weir_call *call = next_to_close(session);
        bool is_begun = weir_session_call_is_begun(session, call->id);
        status = weir_session_result(session, call->id, wr_span_of(is_begun ? unknown : aborted),
                                     true, now_ms, err);
    }
    return status;
}

weir_status weir_session_say(struct weir_session *session, weir_span text, int64_t now_ms,
                             struct weir_err *err)
{
    weir_status status = not_blank(text, err);
    if (!status)
        status = close_calls(session, now_ms, err);
    if (!status)
        status = record_words(session, WR_EVENT_USER, text, now_ms, err);
    if (status)
        return status;
    session->refusals_count = 0; /* other words may fit, or the user has compacted */
    keep_bound(session, now_ms);
    return WEIR_OK;
}

weir_status weir_session_steer(struct weir_session *session, weir_span text, int64_t now_ms,
                               struct weir_err *err)
{
    weir_status status = not_blank(text, err);
    return status ? status : record_words(session, WR_EVENT_STEERING, text, now_ms, err);
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

static bool same_calls(const struct weir_answer *a, const struct weir_answer *b)
{
    if (a->calls_count != b->calls_count)
        return false;
    for (size_t i = 0; i < a->calls_count; i++)
        if (!wr_span_eq(a->calls[i].id, b->calls[i].id) ||
            !wr_span_eq(a->calls[i].name, b->calls[i].name))
            return false;
    return true;
}

/* Text and calls are found in the items. Calls that the caller gives must be those of the items. */
static weir_status complete(struct weir_answer *answer, struct wr_arena *arena,
                            struct weir_err *err)
{
    struct weir_answer said = *answer;
    struct wr_reply reader;
    weir_status status = WEIR_OK;

    if (answer->items_count > WR_JOURNAL_ITEMS_MAX || answer->calls_count > WR_JOURNAL_CALLS_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "an answer has at most %d items and %d calls",
                       WR_JOURNAL_ITEMS_MAX, WR_JOURNAL_CALLS_MAX);
    if (!answer->items_count)
        return WEIR_OK;
    wr_answer_init(&reader, &(struct wr_answer_options){.api = wr_api_of(answer->dialect),
                                                        .arena = arena,
                                                        .keeps_all = true});
    for (size_t i = 0; i < answer->items_count && !status; i++)
        status = wr_answer_item(&reader, answer->items[i], err);
    if (!status)
        status = wr_answer_said(&reader, arena, &said, err);
    wr_answer_release(&reader);
    if (!status && answer->calls_count && !same_calls(answer, &said))
        status =
            wr_fail(err, WEIR_INVALID, 0, "the calls of the answer are not those of its items");
    if (status)
        return status;
    answer->calls = said.calls;
    answer->calls_count = said.calls_count;
    if (!answer->text.len)
        answer->text = said.text;
    return WEIR_OK;
}

weir_status weir_session_answer(struct weir_session *session, const struct weir_answer *answer,
                                int64_t now_ms, struct weir_err *err)
{
    struct weir_answer whole = *answer;

    wr_arena_reset(&session->scratch);
    weir_status status = complete(&whole, &session->scratch, err);
    return status ? status : record_answer(session, &whole, now_ms, err);
}

weir_status weir_session_answer_body(struct weir_session *session, weir_dialect dialect,
                                     weir_span body, int64_t now_ms, struct weir_err *err)
{
    struct weir_answer answer = {.dialect = dialect};
    struct wr_reply reader;

    wr_arena_reset(&session->scratch);
    wr_answer_init(&reader, &(struct wr_answer_options){.api = wr_api_of(dialect),
                                                        .arena = &session->scratch,
                                                        .keeps_all = true});
    weir_status status = wr_answer_whole(&reader, body, err);
    if (!status)
        status = wr_answer_said(&reader, &session->scratch, &answer, err);
    if (!status && reader.items_count > WR_JOURNAL_ITEMS_MAX)
        status =
            wr_fail(err, WEIR_LIMIT, 0, "an answer has at most %d items", WR_JOURNAL_ITEMS_MAX);
    answer.items = reader.items;
    answer.items_count = reader.items_count;
    bool has_usage = wr_seen_usage_is_known(&reader.usage);
    struct weir_session_usage usage =
        wr_seen_usage_split(&reader.usage, reader.api->counts_cached_apart);
    wr_answer_release(&reader);
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

weir_status weir_session_begin_call(struct weir_session *session, weir_span call_id, int64_t now_ms,
                                    struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_BEGUN, .call_id = call_id};

    if (!find_pending(session, call_id))
        return wr_fail(err, WEIR_NOTFOUND, 0, "no call that waits for a result has the id '%.*s'",
                       (int)(call_id.len < 60 ? call_id.len : 60), call_id.ptr);
    return wr_live_record(session, &event, now_ms, err);
}

bool weir_session_call_is_begun(const struct weir_session *session, weir_span call_id)
{
    wr_hash128 id = wr_hash128_of(call_id);
    return find_pending(session, call_id) && session->thread.begun.high == id.high &&
           session->thread.begun.low == id.low;
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

/* ---- what it costs ---- */

static struct wr_cost cost_of(const struct wr_model *model, const struct weir_session_usage *usage)
{
    struct wr_usage priced = {.input_tokens = usage->input_tokens,
                              .cache_read_tokens = usage->cache_read_tokens,
                              .cache_write_5m_tokens = usage->cache_write_tokens,
                              .output_tokens = usage->output_tokens};
    return wr_cost(model, &priced);
}

bool weir_session_price(const struct weir_session *session, const char *model,
                        const struct weir_session_usage *usage, uint64_t *micro_usd)
{
    weir_span name = wr_span_of(model ? model : session->model);
    struct wr_cost cost = cost_of(wr_models_lookup(session->models, name).model, usage);

    *micro_usd = cost.micro_usd;
    return cost.known;
}

weir_status weir_session_add_spent(struct weir_session *session,
                                   const struct weir_session_spent *spent, int64_t now_ms,
                                   struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_SPENT,
                             .why = wr_span_of(spent->by ? spent->by : "other"),
                             .model = wr_span_of(spent->model ? spent->model : ""),
                             .usage = spent->usage,
                             .turns = spent->turns,
                             .tool_calls = spent->tool_calls,
                             .cost_micro_usd = spent->cost_micro_usd,
                             .is_unpriced = !spent->is_priced};
    return wr_live_record(session, &event, now_ms, err);
}

weir_status weir_session_add_usage(struct weir_session *session,
                                   const struct weir_session_usage *usage, int64_t now_ms,
                                   struct weir_err *err)
{
    struct wr_cost cost = cost_of(session->match.model, usage);
    struct wr_event event = {.kind = WR_EVENT_USAGE,
                             .model = wr_span_of(session->model),
                             .usage = *usage,
                             .cost_micro_usd = cost.micro_usd,
                             .is_unpriced = !cost.known};
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
    return wr_live_use_model(session, session->thread.model, true, err);
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
