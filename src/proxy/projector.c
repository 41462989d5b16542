#include "proxy/projector.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"
#include "engine/request.h"
#include "proxy/answer_note.h"
#include "proxy/categories.h"
#include "proxy/counts.h"
#include "proxy/facts.h"
#include "proxy/store_state.h"

enum { THREADS_MAX = 64, FRONT_BYTES = 1024, ENDS_BYTES = 16 * 1024 };

struct worker {
    struct wr_projector *projector;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct wr_task *first, *last; /* waiting */
    size_t waiting_count;
    bool stops, is_started;
    /* Below: the thread's own. */
    struct weir_engine *engine;
    struct weir_store *store;
    uint64_t place;                /* of the store, as wr_store_state_seen() knows it */
    struct weir_store *shadow;     /* made when it is first needed */
    struct wr_arena arena;         /* of the job at hand */
    struct wr_known_answer before; /* the answer that it goes on from; in the arena */
    struct wr_text_memo *weights;  /* of the categories; NULL: none */
    char tools[WR_TOOLS_BYTES_MAX + 1];
    uint64_t started_us;
};

struct wr_projector {
    struct wr_projector_options options;
    pid_t pid; /* this process; asked for once */
    uv_async_t wake;
    pthread_mutex_t lock;
    struct wr_task *ready, *done; /* newest first */
    struct worker workers[THREADS_MAX];
    size_t workers_count;
};

/* ---- one job, on a thread ---- */

static weir_status add_decoded(void *user, weir_span bytes)
{
    struct wr_buf *decoded = user;
    wr_buf_append(decoded, bytes);
    return wr_buf_status(decoded);
}

static bool decode(const struct wr_task *job, struct wr_buf *decoded)
{
    struct wr_decoder *decoder =
        wr_decoder_new(job->coding, WR_NET_DECODED_BYTES_MAX, add_decoded, decoded);
    bool ok = decoder && !wr_decoder_feed(decoder, job->body) && wr_decoder_is_complete(decoder);
    wr_decoder_free(decoder);
    return ok;
}

/* A store that cannot be opened is tried again by the next request: without it nothing that needs a
 * way back is taken out, and the requests still go (law L6). */
static void open_store(struct worker *w)
{
    const struct wr_projector_options *o = &w->projector->options;
    weir_trouble trouble;

    if (w->store || !o->store_dir)
        return;
    if (weir_store_open(o->store_dir, NULL, &w->store, &trouble, NULL)) {
        w->store = NULL;
        wr_store_state_failed(o->metrics, o->store_dir, trouble);
    }
}

/* How the store was while it was used for the job. */
static void note_store(struct worker *w, weir_trouble trouble)
{
    const struct wr_projector_options *o = &w->projector->options;

    wr_store_state_seen(o->metrics, o->store_dir, w->store, &w->place);
    wr_store_state_failed(o->metrics, o->store_dir, trouble);
}

static struct weir_store *store_for(struct worker *w, const struct wr_task *job)
{
    /* The last time of a session that was projected so far: the engine compares, and says whether
     * that is a step. */
    if (job->decision.action == WR_ACTION_PROJECT || job->decision.turn == WR_MODE_TURNS_WHOLE)
        return w->store;
    if (job->decision.action != WR_ACTION_SHADOW)
        return NULL;
    if (!w->shadow && weir_store_new_memory(WR_PROXY_SHADOW_BYTES_MAX, &w->shadow))
        w->shadow = NULL;
    return w->shadow;
}

/* A store in memory that is full is begun anew: shadow decisions are figures, not promises. */
static void empty_shadow(struct worker *w)
{
    if (w->shadow && weir_store_trouble(w->shadow) == WEIR_TROUBLE_FULL) {
        weir_store_close(w->shadow);
        w->shadow = NULL;
    }
}

static void take_result(struct wr_task *job, struct weir_request *request,
                        const struct weir_projected *projected)
{
    job->is_read = true;
    job->tokens_before = projected->tokens_before;
    job->tokens_after = projected->tokens_after;
    job->answer_tokens = projected->answer_tokens;
    job->is_step = projected->is_step;
    job->is_pending = projected->is_pending;
    job->step_reason = projected->step_reason;
    job->held_back = projected->held_back;
    job->would_change = projected->is_changed;
    if (job->decision.action != WR_ACTION_PROJECT || !projected->is_changed)
        return;
    if (!wr_request_take_output(request, projected->body, &job->out))
        wr_buf_append(&job->out, projected->body);
    wr_buf_append(&job->report, projected->report);
    job->is_changed = !wr_buf_status(&job->out);
}

/* A session's mode is kept among its pins, under a name no model has. */
static struct weir_pin mode_pin(weir_span value)
{
    return (struct weir_pin){.model = WR_LIT("weir rollout mode"), .value = value};
}

static weir_span kept_mode(struct worker *w, const struct wr_task *job)
{
    struct weir_pin pin = mode_pin((weir_span){"", 0});
    weir_span session = wr_session_span(&job->session);

    if (!w->store || wr_sessions_has(w->projector->options.sessions, job->tenant, session) ||
        weir_store_pin(w->store, job->tenant, session, &pin, NULL))
        return (weir_span){"", 0};
    return pin.value;
}

/* What cannot be kept is decided anew by the next process, which decides the same unless its
 * configuration has changed. */
static void keep_mode(struct worker *w, const struct wr_task *job, bool replaces)
{
    char text[WR_KEPT_MODE_BYTES];
    wr_decision_mode(&job->decision, text);
    struct weir_pin pin = mode_pin(wr_span_of(text));
    pin.replaces = replaces;
    struct weir_batch batch = {.tenant = job->tenant,
                               .session = wr_session_span(&job->session),
                               .used_ms = job->now_ms,
                               .pins = &pin,
                               .pins_count = 1};
    if (w->store)
        (void)!weir_store_commit(w->store, &batch, NULL);
}

/* Here, and in the store for every other process. */
static void bind_session(struct worker *w, const struct wr_task *job)
{
    wr_sessions_bind(w->projector->options.sessions, job->tenant, wr_session_span(&job->session),
                     job->bind);
    keep_mode(w, job, true);
}

static void decide(struct worker *w, struct wr_task *job, const struct weir_request *request)
{
    weir_span model = weir_request_model(request);
    struct wr_rollout_input input = {.config = job->config,
                                     .tenant = job->tenant,
                                     .session = wr_session_span(&job->session),
                                     .model = model,
                                     .upstream = job->upstream,
                                     .mode = job->mode,
                                     .kept = kept_mode(w, job),
                                     .bind = job->bind,
                                     .is_signed = job->config->is_mode_said &&
                                                  wr_engine_binds(w->engine, request)};

    (void)snprintf(job->model, sizeof(job->model), "%.*s", (int)model.len, model.ptr);
    job->decision = wr_rollout_decide(w->projector->options.sessions, &input);
    wr_rollout_tools(&input, job->decision.bucket, w->tools);
    if (job->bind == WR_BOUND_RAW)
        bind_session(w, job);
    else if (job->decision.is_due)
        keep_mode(w, job, job->decision.is_new);
}

static weir_span text_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

/* What the provider holds the history under: an answer's id, or a conversation's. */
static weir_span id_before(const struct wr_json *doc)
{
    wr_json_id thread = wr_json_find(doc, 0, "thread");
    weir_span id = text_at(doc, 0, "previous_response_id");

    if (!id.len)
        id = text_at(doc, 0, "conversation");
    if (!id.len)
        id = text_at(doc, wr_json_find(doc, 0, "conversation"), "id");
    return id.len ? id : text_at(doc, thread, "previous_message_id");
}

/* A host that sends its whole history each time says so, in Responses by `store`. */
static bool is_continued(const struct weir_request *request)
{
    const struct wr_json *doc = &request->doc;
    if (weir_request_dialect(request) == WEIR_DIALECT_MESSAGES)
        return wr_json_find(doc, 0, "thread") != WR_JSON_NONE;
    return weir_request_dialect(request) == WEIR_DIALECT_RESPONSES &&
           !wr_json_is(doc, wr_json_find(doc, 0, "store"), WR_JSON_FALSE);
}

static void know_session(struct worker *w, struct wr_task *job, const struct weir_request *request)
{
    wr_arena_reset(&w->arena);
    w->before = (struct wr_known_answer){.calls_count = 0};
    if (weir_request_is_delta(request) &&
        !wr_answers_find(w->projector->options.answers, &w->arena, job->tenant,
                         id_before(&request->doc), &w->before))
        (void)wr_answer_note_find(w->projector->options.notes, &w->arena, job->tenant,
                                  id_before(&request->doc), &w->before);
    open_store(w);
    if (!job->session.len)
        wr_identity_from_body(&request->doc, &w->arena, w->before.session, job->run, &job->session);
    job->is_delta = weir_request_is_delta(request);
    job->is_continued = is_continued(request);
}

static struct wr_watch_request watched(const struct wr_task *job,
                                       const struct weir_request *request)
{
    return (struct wr_watch_request){.transcript = &request->transcript,
                                     .tenant = job->tenant,
                                     .session = wr_session_span(&job->session),
                                     .before = id_before(&request->doc),
                                     .route = weir_dialect_name(weir_request_dialect(request)),
                                     .upstream = job->upstream,
                                     .now_ms = job->now_ms};
}

/* The policy of a session that begins, unless its request names one: what was learnt may have
 * tightened it. */
static const char *default_policy(struct worker *w, struct wr_task *job,
                                  const struct weir_request *request)
{
    struct wr_watch *watch = w->projector->options.watch;
    struct wr_watch_request r = watched(job, request);

    if (!watch || !job->is_watched || !job->config->learns ||
        job->decision.action == WR_ACTION_MEASURE)
        return job->decision.policy;
    return wr_watch_policy(watch, &r, job->decision.policy, &job->note);
}

static void watch_request(struct worker *w, struct wr_task *job, const struct weir_request *request,
                          const struct weir_projected *projected)
{
    /* Not job->is_changed: it is the loop's by now. */
    bool is_changed = job->decision.action == WR_ACTION_PROJECT && projected->is_changed;
    struct wr_watch_request r = watched(job, request);
    struct wr_watch_projected p = {.step_reason = projected->step_reason,
                                   .is_second_try = job->overflow_tokens || job->bind};

    if (is_changed)
        p.report = projected->report;
    if (w->projector->options.watch && job->is_watched)
        wr_watch_request(w->projector->options.watch, &r, &p, &job->note);
}

/* The time this thread has worked, not the time that has passed: a busy machine is no reason to
 * leave a result whole. */
static uint64_t own_time_us(void *user)
{
    (void)user;
    return wr_clock_thread_us();
}

/* Of what the engine does not take for its size, too, it says WEIR_LIMIT. */
static const char *name_failure(weir_status status, uint64_t took_us)
{
    if (status == WEIR_NOTFOUND)
        return "no_such_policy";
    if (status == WEIR_NOMEM)
        return "no_memory";
    if (status != WEIR_LIMIT)
        return "not_projected";
    return took_us >= (uint64_t)WR_PROJECT_MS_MAX * 1000 ? WR_DEADLINE_HARD : "too_large";
}

static uint64_t failures_of(const struct weir_store *store)
{
    return store ? weir_store_hash_failures(store) : 0;
}

/* What the engine does not report. */
static void add_facts(struct worker *w, struct wr_task *job, const struct weir_request *request,
                      const struct weir_projected *projected, uint64_t hash_failures_count)
{
    bool is_sent = job->decision.action == WR_ACTION_PROJECT;
    bool is_shadow = wr_decision_is_shadow(&job->decision);

    wr_facts_from_report(projected->report, is_shadow ? "shadow_" : "", &job->facts);
    if (weir_request_is_delta(request))
        wr_buf_text(&job->facts, ",\"delta\":true");
    if (is_sent)
        wr_buf_printf(&job->facts, ",\"artifact_hash_failures\":%llu",
                      (unsigned long long)hash_failures_count);
    wr_categories_append(request, request->doc.text, projected, is_sent, w->weights, &job->facts);
}

/* The request may leave; what is left to find out is for the log. */
static void tell_ready(struct worker *w, struct wr_task *job)
{
    struct wr_projector *p = w->projector;

    job->took_us = wr_clock_steady_us() - w->started_us;
    (void)pthread_mutex_lock(&p->lock);
    job->next_ready = p->ready;
    p->ready = job;
    (void)pthread_mutex_unlock(&p->lock);
    (void)uv_async_send(&p->wake);
    /* On a machine without an idle core the loop would wait for us to be done with the rest. */
    (void)sched_yield();
}

/* Under which policy. What goes as it came is counted, and nothing of that is kept. What somebody
 * says now, by a header or to this server, is the session's from now on. */
static void choose_policy(struct worker *w, struct wr_task *job, const struct weir_request *request,
                          char header[WR_POLICY_NAME_BYTES_MAX + 1],
                          struct weir_project_options *options)
{
    const struct wr_decision *d = &job->decision;
    bool is_whole = d->action == WR_ACTION_MEASURE || d->turn == WR_MODE_TURNS_WHOLE ||
                    d->bound == WR_BOUND_UNSIGNED || !options->store;

    (void)snprintf(header, WR_POLICY_NAME_BYTES_MAX + 1, "%.*s", (int)job->policy.len,
                   job->policy.len ? job->policy.ptr : "");
    options->policy_default = header[0] ? header : default_policy(w, job, request);
    if (is_whole) {
        options->policy = "exact";
        options->pinning = WEIR_PIN_NOTHING;
    } else if (header[0] || d->says_policy) {
        options->policy = options->policy_default;
        options->pinning = WEIR_PIN_POLICY;
    }
}

static void project(struct worker *w, struct wr_task *job, struct weir_request *request)
{
    char header[WR_POLICY_NAME_BYTES_MAX + 1];
    struct weir_projected projected = {0};
    struct weir_store *store = store_for(w, job);
    struct wr_known_count count =
        wr_counts_find(w->projector->options.counts, job->base_url, job->model);
    job->loaded_tokens = wr_loaded_windows_find(w->projector->options.loaded, job->base_url,
                                                weir_request_model(request));
    struct weir_project_options options = {
        .store = store,
        .tenant = job->tenant,
        .session = wr_session_span(&job->session),
        .now_ms = job->now_ms,
        .factor_bp = count.factor_bp,
        .observed_tokens = count.accepted_tokens,
        .loaded_tokens = job->loaded_tokens,
        .attaches = job->decision.action == WR_ACTION_PROJECT,
        .overflow_tokens = job->overflow_tokens,
        .calls = w->before.calls,
        .calls_count = w->before.calls_count,
        .tools = w->tools,
        .clock_us = own_time_us,
        .deadline_ms = job->config->new_ms_max,
        .was_whole = job->decision.turn == WR_MODE_TURNS_PROJECTED,
        .alternates = job->alternates,
        .reads_cache = job->decision.reads_cache,
    };
    choose_policy(w, job, request, header, &options);

    uint64_t failures_count = failures_of(options.store), began_us = own_time_us(NULL);
    weir_status status = weir_engine_project(w->engine, request, &options, &projected, NULL);
    if (status)
        job->why = name_failure(status, own_time_us(NULL) - began_us);
    else
        take_result(job, request, &projected);
    if (job->bind == WR_BOUND_PROJECTED) {
        job->is_changed = job->is_changed && projected.is_known;
        if (job->is_changed)
            bind_session(w, job);
    }
    if (!store && w->projector->options.store_dir && job->decision.action == WR_ACTION_PROJECT)
        job->held_back = weir_trouble_text(WEIR_TROUBLE_DENIED);
    tell_ready(w, job);
    if (store && store == w->store)
        note_store(w, status ? weir_store_trouble(store) : projected.store_trouble);
    wr_counts_sync(w->projector->options.counts, job->base_url, job->model, job->now_ms);
    if (!status) {
        add_facts(w, job, request, &projected, failures_of(options.store) - failures_count);
        watch_request(w, job, request, &projected);
    }
    empty_shadow(w);
}

static void read_request(struct worker *w, struct wr_task *job, weir_span body)
{
    struct weir_request_options options = {.path = job->path};
    struct weir_request *request;

    if (weir_engine_request(w->engine, body, &options, &request, NULL)) {
        job->why = "not_a_request";
        return;
    }
    know_session(w, job, request);
    decide(w, job, request);
    if (job->decision.action == WR_ACTION_PASS)
        job->why = job->decision.reason;
    else
        project(w, job, request);
    weir_request_free(request);
}

/* Tells bodies of a session apart, which differ in their length and at their end, without reading
 * all of them. */
static uint64_t hash_of_body(weir_span body)
{
    size_t part = body.len < ENDS_BYTES ? body.len : ENDS_BYTES;
    uint64_t front = wr_hash64_seeded(wr_span_cut(body, 0, part), body.len);
    return wr_hash64_seeded(wr_span_cut(body, body.len - part, body.len), front);
}

static void read_body(struct worker *w, struct wr_task *job, weir_span body)
{
    int note;

    job->decoded_bytes = body.len;
    if (!wr_crash_enter(w->projector->options.crashes, w->projector->pid, hash_of_body(body),
                        &note)) {
        job->why = "suspected_of_crashes";
        return;
    }
    read_request(w, job, body);
    wr_crash_leave(w->projector->options.crashes, note);
}

static void run(struct worker *w, struct wr_task *job)
{
    struct wr_buf decoded;

    w->started_us = wr_clock_steady_us();
    wr_buf_init(&decoded, WR_NET_DECODED_BYTES_MAX);
    if (job->coding == WR_CODING_IDENTITY)
        read_body(w, job, job->body);
    else if (job->coding == WR_CODING_UNKNOWN || !decode(job, &decoded))
        job->why = "not_decoded";
    else
        read_body(w, job, wr_buf_view(&decoded));
    wr_buf_release(&decoded);
    if (!job->took_us)
        job->took_us = wr_clock_steady_us() - w->started_us;
}

/* ---- threads ---- */

static struct wr_task *take_job(struct worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    while (!w->first && !w->stops)
        (void)pthread_cond_wait(&w->wake, &w->lock);
    struct wr_task *job = w->stops ? NULL : w->first;
    if (job) {
        w->first = job->next;
        w->waiting_count--;
    }
    (void)pthread_mutex_unlock(&w->lock);
    return job;
}

static void give_back(struct wr_projector *p, struct wr_task *job)
{
    (void)pthread_mutex_lock(&p->lock);
    job->next = p->done;
    p->done = job;
    (void)pthread_mutex_unlock(&p->lock);
    (void)uv_async_send(&p->wake);
}

static bool has_job(struct worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    bool has_one = w->first || w->stops;
    (void)pthread_mutex_unlock(&w->lock);
    return has_one;
}

/* Tables of tokens are read when a model first needs them, which takes a third of a second: not
 * while a client waits. */
static void warm_up(struct worker *w)
{
    static const char *const models[] = {"gpt-5", "gpt-4", "claude-opus-5"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]) && !has_job(w); i++) {
        char body[128];
        int bytes = snprintf(body, sizeof(body),
                             "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\","
                             "\"content\":\"Good morning.\"}]}",
                             models[i]);
        struct weir_project_options options = {.policy = "exact"};
        struct weir_request *request;
        struct weir_projected projected;
        if (weir_engine_request(w->engine, (weir_span){body, (size_t)bytes}, NULL, &request, NULL))
            continue;
        (void)!weir_engine_project(w->engine, request, &options, &projected, NULL);
        weir_request_free(request);
    }
}

static void *work(void *user)
{
    struct worker *w = user;
    struct wr_task *job;

    warm_up(w);
    while ((job = take_job(w))) {
        run(w, job);
        give_back(w->projector, job);
    }
    return NULL;
}

/* Both lists come newest first; they are told in the order they were made, and of one task the
 * first thing first. */
static void on_wake(uv_async_t *wake)
{
    struct wr_projector *p = wake->data;
    struct wr_task *ready = NULL, *done = NULL;

    (void)pthread_mutex_lock(&p->lock);
    while (p->ready) {
        struct wr_task *job = p->ready;
        p->ready = job->next_ready;
        job->next_ready = ready;
        ready = job;
    }
    while (p->done) {
        struct wr_task *job = p->done;
        p->done = job->next;
        job->next = done;
        done = job;
    }
    (void)pthread_mutex_unlock(&p->lock);
    while (ready) {
        struct wr_task *job = ready;
        ready = job->next_ready;
        job->ready(job->user, job);
    }
    while (done) {
        struct wr_task *job = done;
        done = job->next;
        job->done(job->user, job);
    }
}

/* What a session's requests have in common before anything is read: its name, or how its bodies
 * begin. */
static size_t choose_worker(const struct wr_projector *p, const struct wr_task *job)
{
    size_t front = job->body.len < FRONT_BYTES ? job->body.len : FRONT_BYTES;
    weir_span key =
        job->session.len ? wr_session_span(&job->session) : wr_span_cut(job->body, 0, front);
    return wr_hash64(key) % p->workers_count;
}

bool wr_projector_add(struct wr_projector *projector, struct wr_task *job)
{
    struct worker *w = &projector->workers[choose_worker(projector, job)];

    job->next = NULL;
    wr_buf_init(&job->out, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&job->facts, WR_STORE_PIN_BYTES_MAX);
    wr_buf_init(&job->report, WR_LEDGER_REPORT_BYTES_MAX);
    (void)pthread_mutex_lock(&w->lock);
    bool has_room = w->waiting_count < WR_PROXY_JOBS_MAX;
    if (has_room) {
        if (w->first)
            w->last->next = job;
        else
            w->first = job;
        w->last = job;
        w->waiting_count++;
        (void)pthread_cond_signal(&w->wake);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return has_room;
}

void wr_task_leave_unchanged(struct wr_task *job, bool is_late)
{
    if (job->decision.action != WR_ACTION_PROJECT)
        return;
    if (is_late)
        job->held_back = WR_DEADLINE_HARD;
    else if (job->is_changed)
        job->held_back = "nobody waited for the projection";
    job->is_unsent = job->is_changed;
    job->is_changed = job->is_step = false;
    job->step_reason = NULL;
    job->tokens_after = job->tokens_before;
}

void wr_task_release(struct wr_task *job)
{
    wr_buf_release(&job->out);
    wr_buf_release(&job->facts);
    wr_buf_release(&job->report);
}

/* ---- life ---- */

static weir_status load_policies(struct worker *w, weir_span yaml, struct weir_err *err)
{
    const char *models = w->projector->options.config->models_yaml;
    weir_status status =
        models ? weir_engine_load_models(w->engine, wr_span_of(models), err) : WEIR_OK;
    if (!status && yaml.len)
        status = weir_engine_load_policies(w->engine, yaml, err);
    return status;
}

static weir_status open_worker(struct wr_projector *p, struct worker *w, struct weir_err *err)
{
    w->projector = p;
    wr_arena_init(&w->arena, WR_ARENA_BYTES_MAX);
    if (wr_text_memo_new(&w->weights, WR_PROXY_WEIGHTS_BYTES_MAX))
        w->weights = NULL;
    weir_status status = weir_engine_new(&w->engine, err);
    if (!status)
        status = load_policies(w, p->options.policies, err);
    if (!status)
        open_store(w);
    if (!status && (pthread_mutex_init(&w->lock, NULL) || pthread_cond_init(&w->wake, NULL) ||
                    pthread_create(&w->thread, NULL, work, w)))
        status = wr_fail(err, WEIR_IO, 0, "cannot start a thread");
    w->is_started = !status;
    return status;
}

weir_status wr_projector_new(struct wr_projector **projector, uv_loop_t *loop,
                             const struct wr_projector_options *options, struct weir_err *err)
{
    struct wr_projector *p = calloc(1, sizeof(*p));
    weir_status status = WEIR_OK;

    *projector = p;
    if (!p || pthread_mutex_init(&p->lock, NULL))
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    p->options = *options;
    p->pid = getpid();
    p->wake.data = p;
    if (uv_async_init(loop, &p->wake, on_wake) < 0)
        return wr_fail(err, WEIR_IO, 0, "cannot start a thread");
    while (!status && p->workers_count < options->config->threads && p->workers_count < THREADS_MAX)
        status = open_worker(p, &p->workers[p->workers_count++], err);
    return status;
}

static void close_worker(struct worker *w)
{
    if (w->is_started) {
        (void)pthread_mutex_lock(&w->lock);
        w->stops = true;
        (void)pthread_cond_signal(&w->wake);
        (void)pthread_mutex_unlock(&w->lock);
        (void)pthread_join(w->thread, NULL);
        (void)pthread_mutex_destroy(&w->lock);
        (void)pthread_cond_destroy(&w->wake);
    }
    weir_store_close(w->shadow);
    weir_store_close(w->store);
    weir_engine_free(w->engine);
    wr_text_memo_free(w->weights);
    wr_arena_release(&w->arena);
}

void wr_projector_close(struct wr_projector *projector)
{
    for (size_t i = 0; i < projector->workers_count; i++)
        close_worker(&projector->workers[i]);
    if (projector->wake.type == UV_ASYNC)
        uv_close((uv_handle_t *)&projector->wake, NULL);
}

void wr_projector_free(struct wr_projector *projector)
{
    (void)pthread_mutex_destroy(&projector->lock);
    free(projector);
}
