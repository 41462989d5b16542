/* Opening a session: its settings, its journal from the checkpoint on, its model. */
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "engine/engine.h"
#include "policy/policy.h"
#include "session/disk.h"

/* ---- counting ---- */

static uint64_t count(void *user, weir_span text)
{
    struct weir_session *session = user;
    return session->thread.counts_later ? 0 : wr_meter_count(session->meter, text);
}

uint64_t wr_live_window(const struct weir_session *session)
{
    if (session->thread.window_tokens)
        return session->thread.window_tokens;
    struct wr_window_evidence evidence = {
        .configured_tokens = (uint32_t)session->settings.input_tokens_max,
        .match = session->model[0] ? &session->match : NULL,
        .fallback_tokens = wr_models_table_window(session->models, wr_span_of(session->model))};
    if (session->policy.has_window_table)
        evidence.match = NULL;
    return wr_window_select(&evidence).tokens;
}

uint32_t wr_live_messages_max(const struct weir_session *session)
{
    if (!session->settings.input_tokens_max && !session->model[0])
        return WR_ACTOR_MESSAGES_DEFAULT;
    return wr_actor_message_limit(wr_live_window(session));
}

weir_status wr_live_use_model(struct weir_session *session, weir_span name, bool recounts,
                              struct weir_err *err)
{
    if (name.len > WR_MODEL_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a model's name has at most %d bytes",
                       WR_MODEL_NAME_BYTES_MAX);
    struct wr_model_match match = wr_models_lookup(session->models, name);
    weir_status status = wr_meter_use_model(session->meter, match.model, err);
    if (status)
        return status;
    session->match = match;
    session->thread.image_rule = match.model->image;
    if (!wr_span_is(name, session->model))
        session->blind_seq = 0; /* another model may take what this one refused */
    memmove(session->model, name.ptr ? name.ptr : "", name.len);
    session->model[name.len] = 0;
    wr_thread_recount(&session->thread, recounts);
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
        wr_thread_commit(&session->thread, &staged, event);
    return status;
}

/* ---- from the checkpoint ---- */

static weir_status load_held(void *user, const struct wr_event *event, weir_span line)
{
    struct weir_session *session = user;
    (void)line;
    return wr_thread_hold(&session->thread, event,
                          wr_checkpoint_next(session->checkpoint, event->seq));
}

static void forget(void *user)
{
    struct weir_session *session = user;
    session->opened.checkpoint = "the journal is not the one it was made of";
    wr_thread_release(&session->thread);
    wr_thread_init(&session->thread, count, session);
    session->thread.counts_later = true;
}

/* Why there is none to use, a constant; NULL: there is. */
static const char *read_checkpoint(struct weir_session *session, struct wr_checkpoint *checkpoint)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf yaml;
    const char *why = "it cannot be read";

    *checkpoint = (struct wr_checkpoint){.counted_by = {"", 0}};
    wr_buf_init(&yaml, WR_STATE_BYTES_MAX);
    weir_status status = wr_disk_join(path, session->dir, WR_STATE_FILE, NULL);
    if (!status)
        status = wr_disk_read(path, &yaml, NULL);
    if (status == WEIR_NOTFOUND)
        why = "there is none";
    else if (!status)
        why = wr_checkpoint_read(checkpoint, wr_buf_view(&yaml), &session->thread);
    wr_buf_release(&yaml);
    return why;
}

/* Whether the counts that were held are those of the model in use. */
static bool has_counts(const struct weir_session *session, const char *model)
{
    struct wr_buf by;
    bool has = false;

    wr_buf_init(&by, WR_SESSION_PATH_BYTES_MAX);
    wr_state_counted_by(&by, model);
    if (session->checkpoint)
        has = !wr_buf_status(&by) && wr_span_eq(wr_buf_view(&by), session->checkpoint->counted_by);
    wr_buf_release(&by);
    return has;
}

static weir_status open_journal(struct weir_session *session, struct wr_journal_options *options,
                                struct weir_err *err)
{
    struct wr_checkpoint *checkpoint = session->checkpoint;
    const char *why = read_checkpoint(session, checkpoint);

    checkpoint->skim.fn = load_held;
    checkpoint->skim.forget = forget;
    if (!why)
        options->skim = &checkpoint->skim;
    session->opened.checkpoint = why;
    weir_status status = wr_journal_open(&session->journal, session->dir, options, load, session,
                                         &session->opened, err);
    session->opened.replayed_count = session->opened.events_count;
    if (!session->opened.checkpoint)
        session->opened.replayed_count -= checkpoint->skim.seq;
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
    weir_span tenant = options->tenant.len ? options->tenant : WR_LIT(WEIR_TENANT_DEFAULT);
    memcpy(session->tenant, tenant.ptr, tenant.len);
    return WEIR_OK;
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
    struct wr_policies *policies;
    weir_status status = wr_policies_new(&policies, own, err);
    if (status)
        return status;
    status = wr_session_policies(policies, &session->settings, &session->policy, err);
    if (status)
        wr_policies_free(policies);
    else
        wr_engine_take_policies(session->engine, policies);
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
        status = open_journal(session, &journal, err);
    session->has_journal = !status;
    if (!status && !options->is_read_only) /* so that the next one need not read it all again */
        session->turns_unsaved = session->opened.replayed_count;
    if (!status && !options->is_read_only)
        status = wr_trace_open(&session->trace, session->dir, err);
    return status;
}

/* What the last request had, for a refusal that another process is told of (the sidecar opens a
 * session for each call). */
static uint64_t sum_sent(const struct wr_thread *t)
{
    const struct wr_sent *s = &t->sent;
    return t->sent_seq > t->turn_seq ? s->system_tokens + s->tools_tokens + s->user_tokens +
                                           s->assistant_tokens + s->calls_tokens + s->results_tokens
                                     : 0;
}

/* What a new session begins with, and what an old one is told anew. */
static weir_status begin(struct weir_session *session, const struct weir_session_options *options,
                         struct weir_err *err)
{
    weir_span named =
        options->model ? wr_span_of(options->model) : wr_span_of(session->settings.model);
    weir_span model = session->thread.model.len && !options->model ? session->thread.model : named;
    struct wr_event run = {.kind = WR_EVENT_RUN};

    session->thread.counts_later = false;
    session->sent_tokens = sum_sent(&session->thread);
    /* A cut behind the last turn may have been sent or not: it counts as new. */
    if (session->thread.binds_after < session->thread.turn_seq)
        session->sent_binds_after = session->thread.binds_after;
    if (session->thread.cut_seq < session->thread.turn_seq)
        session->sent_cut_seq = session->thread.cut_seq;
    bool is_new = !session->thread.seq;
    bool is_other = model.len && !wr_span_eq(model, session->thread.model);
    if (is_other && session->thread.model.len)
        wr_buf_printf(&session->told, "model: %.*s, was %.*s", (int)model.len, model.ptr,
                      (int)session->thread.model.len, session->thread.model.ptr);
    char name[WR_MODEL_NAME_BYTES_MAX + 1];
    (void)snprintf(name, sizeof(name), "%.*s", (int)model.len, model.ptr ? model.ptr : "");
    weir_status status = wr_live_use_model(session, model, !has_counts(session, name), err);
    if (!status && is_new && !options->is_read_only)
        status = wr_live_record(session, &run, options->now_ms, err);
    if (!status && is_other && !options->is_read_only)
        status = weir_session_switch_model(session, session->model, 0, options->now_ms, err);
    return status;
}

static weir_status open_session(const struct weir_session_options *options,
                                struct weir_session **session, struct weir_err *err)
{
    struct weir_session *s = calloc(1, sizeof(*s));
    struct wr_checkpoint checkpoint = {.counted_by = {"", 0}};

    *session = NULL;
    if (err)
        *err = (struct weir_err){0};
    if (!s)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    s->store = options->store;
    s->trace.fd = s->journal.fd = -1;
    s->checkpoint = &checkpoint;
    wr_thread_init(&s->thread, count, s);
    s->thread.counts_later = true;
    wr_buf_init(&s->changes, WR_PIECES_BYTES_MAX);
    wr_buf_init(&s->told, WR_PIECES_BYTES_MAX);
    wr_buf_init(&s->attached, WR_PIECES_BYTES_MAX);
    wr_arena_init(&s->tools_arena, WR_ARENA_BYTES_MAX);
    wr_arena_init(&s->scratch, WR_ARENA_BYTES_MAX);
    wr_buf_init(&s->body, WR_OUTPUT_BYTES_MAX);
    weir_status status = set_names(s, options, err);
    if (!status)
        status = wr_settings_read(&s->settings, options->config, err);
    if (!status && options->compression_threshold_bp)
        s->settings.threshold_bp = options->compression_threshold_bp;
    if (!status)
        status = open_parts(s, options, err);
    if (!status)
        status = begin(s, options, err);
    s->checkpoint = NULL;
    wr_checkpoint_release(&checkpoint);
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

weir_status weir_session_open(const struct weir_session_options *options,
                              struct weir_session **session, struct weir_err *err)
{
    struct weir_session_options own;
    weir_status status = WR_OPTIONS_READ(&own, options, err);

    *session = NULL;
    return status ? status : open_session(&own, session, err);
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
    wr_buf_release(&session->report);
    wr_buf_release(&session->left_out);
    wr_buf_release(&session->changes);
    wr_buf_release(&session->told);
    wr_live_forget_past(session);
    wr_buf_release(&session->attached);
    wr_arena_release(&session->tools_arena);
    wr_arena_release(&session->scratch);
    weir_session_host_free(session->own_host);
    free(session);
}

const struct weir_session_opened *weir_session_opened(const struct weir_session *session)
{
    return &session->opened;
}
