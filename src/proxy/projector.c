/* projector.c -- the threads that read and project bodies.
 *
 * A task comes from the loop, waits in the queue of one thread, is read (which session is it, what
 * is decided for it), projected by that thread's engine, and goes back in two steps: `ready` as
 * soon as it is known what to send, so that the request leaves, and `done` when the rest is in the
 * record too (the report, what the watch saw). Between the two the thread still reads the
 * record, and the loop writes nothing that the thread has written.
 *
 * All requests of a session go to one thread, by a hash of its name or of how its bodies begin: the
 * engine there still knows the last one. Nothing here waits for the store but the engine's commit.
 */
#include "proxy/projector.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "policy/budget.h"
#include "policy/orders.h"
#include "proxy/counts.h"
#include "proxy/metrics.h"
#include "proxy/rollout.h"
#include "proxy/store_state.h"

enum { THREADS_MAX = 64, FRONT_BYTES = 1024, YIELD_BYTES_LEAST = 64 * 1024 };

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
    struct wr_thread_stores stores;
    struct wr_own *own;            /* NULL: no memory for it */
    struct wr_own *own_imagined;   /* the same for shadow, where nothing of it is sent, */
    struct wr_own_part imagined;   /* and what the task at hand has of it */
    struct wr_arena arena;         /* of the task at hand */
    struct wr_known_answer before; /* the answer that it goes on from; in the arena */
    char tools[WR_TOOLS_BYTES_MAX + 1];
    uint64_t started_us, began_us; /* of its own time, when the engine first asked; 0: not yet */
};

struct wr_projector {
    struct wr_projector_options options;
    pid_t pid; /* this process; asked for once */
    uv_poll_t wake;
    struct wr_os_wake waker; /* uv_async_t lets the loop spin while the thread still wakes it */
    pthread_mutex_t lock;
    bool is_woken;                /* the loop is told that there is something */
    struct wr_task *ready, *done; /* newest first */
    struct worker workers[THREADS_MAX];
    size_t workers_count;
};

/* ---- one task, on a thread ---- */

static void take_result(struct wr_task *task, struct weir_request *request,
                        const struct weir_projected *projected)
{
    struct wr_record *r = task->record;

    r->deed = wr_decision_deed(&task->decision);
    if (r->deed == WR_DEED_MEASURED)
        r->is_changed = false;
    /* A view is not what came, whatever the engine made of it. */
    if (r->deed != WR_DEED_PROJECTED || !(r->is_changed || task->own.is_viewed))
        return;
    if (!wr_request_take_output(request, projected->body, &task->out))
        wr_buf_append(&task->out, projected->body);
    /* Our tool alone is a change too, of which no text became shorter. */
    if (!r->is_changed)
        r->budget.mode = wr_span_of(wr_budget_mode_text(WR_MODE_LARGE_LOSSLESS));
    r->is_changed = !wr_buf_status(&task->out);
    if (!r->is_changed) {
        r->not_read = WR_LIT("no_memory");
        r->has_projection = r->is_step = false;
        r->deed = WR_DEED_PASSED;
    }
}

static void keep_mode(struct worker *w, const struct wr_task *task, bool replaces)
{
    wr_keep_mode(w->stores.store, task->record->tenant, wr_session_span(&task->session),
                 task->now_ms, &task->decision, replaces);
}

/* Here, and in the store for every other process. */
static void bind_session(struct worker *w, const struct wr_task *task)
{
    wr_sessions_bind(w->projector->options.sessions, task->record->tenant,
                     wr_session_span(&task->session), task->bind);
    keep_mode(w, task, true);
}

static void decide(struct worker *w, struct wr_task *task, const struct weir_request *request)
{
    struct wr_rollout_input input = {.config = task->config,
                                     .tenant = task->record->tenant,
                                     .session = wr_session_span(&task->session),
                                     .model = weir_request_model(request),
                                     .upstream = task->route->upstream->name,
                                     .mode = task->mode,
                                     .bind = task->bind,
                                     .is_signed = task->config->is_mode_said &&
                                                  wr_engine_binds(w->engine, request)};

    wr_kept_ask(w->stores.store, &w->arena, w->projector->options.sessions, task->now_ms, &input);
    task->decision = wr_rollout_decide(w->projector->options.sessions, &input);
    wr_decision_tell(&task->decision, task->record);
    wr_rollout_tools(&input, task->decision.bucket, w->tools);
    if (task->bind == WR_BOUND_RAW)
        bind_session(w, task);
    else if (task->decision.is_due)
        keep_mode(w, task, task->decision.is_new);
}

/* The answer or conversation that the request continues; empty if it names none. */
static weir_span id_before(const struct weir_request *request)
{
    const struct wr_api *api = wr_api_of(weir_request_dialect(request));
    return api->id_before ? api->id_before(&request->doc) : (weir_span){"", 0};
}

static bool is_answer_before(const struct weir_request *request)
{
    const struct wr_api *api = wr_api_of(weir_request_dialect(request));
    return api->is_answer_before && api->is_answer_before(&request->doc);
}

static bool is_continued(const struct weir_request *request)
{
    const struct wr_api *api = wr_api_of(weir_request_dialect(request));
    return api->is_continued && api->is_continued(&request->doc);
}

/* What is known of the answer that a request continues. If that answer had several legs, the
 * client names the first, but the request continues the last: its calls are the ones that are
 * answered now. */
static void find_before(struct worker *w, const struct wr_task *task,
                        const struct weir_request *request)
{
    struct wr_own_input input = {
        .store = w->stores.store, .arena = &w->arena, .tenant = task->record->tenant};
    weir_span id = id_before(request), last = wr_own_id(&input, id);

    if (last.len)
        id = last;
    if (!wr_answers_find(w->projector->options.answers, &w->arena, task->record->tenant, id,
                         &w->before))
        (void)wr_answer_note_find(w->projector->options.notes, &w->arena, task->record->tenant, id,
                                  is_answer_before(request), &w->before);
}

static void know_session(struct worker *w, struct wr_task *task, const struct weir_request *request)
{
    wr_arena_reset(&w->arena);
    w->before = (struct wr_known_answer){.calls_count = 0};
    wr_thread_stores_open(&w->stores);
    if (weir_request_is_delta(request))
        find_before(w, task, request);
    if (!task->session.len)
        wr_identity_from_body(&request->doc, &w->arena, w->before.session, task->record->run,
                              &task->session);
    task->record->session = wr_session_span(&task->session);
    task->record->is_delta = weir_request_is_delta(request);
    weir_span model = weir_request_model(request);
    (void)snprintf(task->record->model, sizeof(task->record->model), "%.*s", (int)model.len,
                   model.ptr);
    task->record->asked_tokens = request->transcript.answer_tokens_max;
    task->record->asked_answers = request->transcript.answers_count;
    task->record->is_background = request->transcript.is_background;
    task->is_continued = is_continued(request);
}

static struct wr_watch_request watched(const struct wr_task *task,
                                       const struct weir_request *request)
{
    return (struct wr_watch_request){.transcript = &request->transcript,
                                     .tenant = task->record->tenant,
                                     .session = wr_session_span(&task->session),
                                     .before = id_before(request),
                                     .route = weir_dialect_name(weir_request_dialect(request)),
                                     .upstream = task->route->upstream->name,
                                     .now_ms = task->now_ms,
                                     .is_second_try = task->overflow_tokens || task->bind,
                                     .is_other = task->departure.is_other};
}

/* The policy of a session that begins, unless its request names one: what was learnt may have
 * tightened it. */
static const char *default_policy(struct worker *w, struct wr_task *task,
                                  const struct weir_request *request)
{
    struct wr_watch *watch = w->projector->options.watch;
    struct wr_watch_request r = watched(task, request);

    if (!watch || !task->route->is_answer || !task->config->learns ||
        task->decision.action == WR_ACTION_MEASURE)
        return task->decision.policy;
    return wr_watch_policy(watch, &r, task->decision.policy, &task->note);
}

/* The time this thread has worked, not the time that has passed: a busy machine is no reason to
 * leave a result whole. */
static uint64_t own_time_us(void *user)
{
    struct worker *w = user;
    uint64_t now_us = wr_clock_thread_us();

    if (!w->began_us)
        w->began_us = now_us;
    return now_us;
}

static uint64_t failures_of(const struct weir_store *store)
{
    return store ? weir_store_hash_failures(store) : 0;
}

static void wake_loop(struct wr_projector *p)
{
    (void)pthread_mutex_lock(&p->lock);
    bool is_woken = p->is_woken;
    p->is_woken = true;
    (void)pthread_mutex_unlock(&p->lock);
    if (!is_woken)
        wr_os_wake_tell(&p->waker);
}

/* The request may leave; what is left to find out is for the log. */
static void tell_ready(struct worker *w, struct wr_task *task)
{
    struct wr_projector *p = w->projector;

    task->record->project_us = wr_clock_steady_us() - w->started_us;
    (void)pthread_mutex_lock(&p->lock);
    task->next_ready = p->ready;
    p->ready = task;
    (void)pthread_mutex_unlock(&p->lock);
    wake_loop(p);
    /* On a machine without an idle core the loop would wait for us to be done with the rest. Of a
     * small body the rest is shorter than the switch. */
    if (task->body.len > YIELD_BYTES_LEAST)
        (void)sched_yield();
}

/* What was learnt of blind edits is one more word of what a session begins with. Rules leave room
 * for it (WR_TOOLS_LEARNED_BYTES). */
static void add_learned_odds(struct worker *w, const struct wr_task *task)
{
    size_t bytes = strlen(w->tools);

    if (task->note.choice.blind_pct > 100 && !strstr(w->tools, WR_WORD_BLIND))
        (void)snprintf(w->tools + bytes, sizeof(w->tools) - bytes, "%s" WR_WORD_BLIND "%u",
                       bytes ? " " : "", task->note.choice.blind_pct);
}

/* Under which policy. What goes as it came is counted, and nothing of that is kept. What somebody
 * says now, by a header or to this server, is the session's from now on. */
static void choose_policy(struct worker *w, struct wr_task *task,
                          const struct weir_request *request,
                          char header[WR_POLICY_NAME_BYTES_MAX + 1],
                          struct weir_project_options *options)
{
    const struct wr_decision *d = &task->decision;
    bool is_whole = d->action == WR_ACTION_MEASURE || d->turn == WR_MODE_TURNS_WHOLE ||
                    d->bound == WR_BOUND_UNSIGNED || !options->store;

    (void)snprintf(header, WR_POLICY_NAME_BYTES_MAX + 1, "%.*s", (int)task->policy.len,
                   task->policy.len ? task->policy.ptr : "");
    options->policy_default = header[0] ? header : default_policy(w, task, request);
    add_learned_odds(w, task);
    if (is_whole) {
        options->policy = "exact";
        options->pinning = WEIR_PIN_NOTHING;
    } else if (header[0] || d->says_policy) {
        options->policy = options->policy_default;
        options->pinning = WEIR_PIN_POLICY;
    }
}

static bool has_task(struct worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    bool has_one = w->first || w->stops;
    (void)pthread_mutex_unlock(&w->lock);
    return has_one;
}

/* What is left to do when the request may leave: its lists are read while they are there. */
static void tell_rest(struct worker *w, struct wr_task *task, struct weir_request *request,
                      const struct weir_projected *projected)
{
    struct wr_watch *watch = w->projector->options.watch;
    struct wr_watch_request watch_request = watched(task, request);
    struct wr_record *r = task->record;

    if (task->config->shadow_dir && wr_record_is_shadow(r) && r->is_changed)
        wr_shadow_keep(task->config->shadow_dir, r, request->doc.text, projected->body);
    if (watch && task->route->is_answer)
        wr_watch_request(watch, &watch_request, r, &task->note);
    if (task->note.check.is_back)
        wr_departures_declare(r, &request->transcript);
    if (r->deed == WR_DEED_PROJECTED && r->is_changed)
        wr_record_report(r, &task->report);
    r->changes = NULL;
    r->inserts = NULL;
    r->changes_count = r->inserts_count = 0;
    if (r->deed == WR_DEED_PROJECTED && task->route->is_answer && !has_task(w))
        wr_plan_keep(w->projector->options.notes, request, r->tenant, r->session, task->now_ms);
}

static void settle_own(struct worker *w, struct wr_task *task);

static void project_task(struct worker *w, struct wr_task *task, struct weir_request *request)
{
    char header[WR_POLICY_NAME_BYTES_MAX + 1];
    struct wr_record *r = task->record;
    struct weir_projected projected = {0};
    struct weir_store *store = wr_thread_stores_for(&w->stores, &task->decision);
    struct wr_known_count count =
        wr_counts_find(w->projector->options.counts, r->base_url, r->model);
    uint32_t loaded_tokens = wr_loaded_windows_find(w->projector->options.loaded, r->base_url,
                                                    weir_request_model(request));
    struct weir_project_options options = {
        .store = store,
        .tenant = r->tenant,
        .session = r->session,
        .now_ms = task->now_ms,
        .factor_bp = count.factor_bp,
        .observed_tokens = count.accepted_tokens,
        .loaded_tokens = loaded_tokens,
        .attaches = task->decision.action == WR_ACTION_PROJECT,
        .overflow_tokens = task->overflow_tokens,
        .calls = w->before.calls,
        .calls_count = w->before.calls_count,
        .tools = w->tools,
        .clock_us = own_time_us,
        .clock_user = w,
        .deadline_ms = task->config->new_ms_max,
        .was_whole = task->decision.turn == WR_MODE_TURNS_PROJECTED,
        .alternates = task->route->upstream->alternates,
        .reads_cache = task->decision.reads_cache,
        .without_recall = wr_task_recall(task) == WR_RECALL_OFF,
    };
    choose_policy(w, task, request, header, &options);

    r->loaded_tokens = loaded_tokens;
    uint64_t failures_count = failures_of(store);
    w->began_us = 0;
    weir_status status = wr_engine_project(w->engine, request, &options, r, &projected, NULL);
    if (status)
        r->not_read = wr_task_failure(status, own_time_us(w) - w->began_us);
    else
        take_result(task, request, &projected);
    if (w->imagined.is_viewed)
        wr_shadow_forget_tool(r);
    if (task->bind == WR_BOUND_PROJECTED) {
        r->is_changed = r->is_changed && projected.is_known;
        if (r->is_changed)
            bind_session(w, task);
    }
    if (task->decision.action == WR_ACTION_PROJECT && !status)
        r->hash_failures_count = (int64_t)(failures_of(store) - failures_count);
    if (!store && w->projector->options.store_dir && task->decision.action == WR_ACTION_PROJECT)
        r->held_back = wr_word_of(weir_trouble_text(WEIR_TROUBLE_DENIED));
    settle_own(w, task);
    if (task->decision.action == WR_ACTION_PROJECT && task->route->is_answer &&
        w->projector->options.store_dir)
        task->departure = wr_departures_tell(
            &w->projector->options.metrics->departures, r, &request->transcript,
            task->own.is_viewed, !status && store && !r->is_unmarked && !r->not_read.ptr);
    tell_ready(w, task);
    if (store && store == w->stores.store)
        wr_thread_stores_note(&w->stores,
                              status ? weir_store_trouble(store) : projected.store_trouble);
    wr_counts_sync(w->projector->options.counts, r->base_url, r->model, task->now_ms);
    if (!status)
        tell_rest(w, task, request, &projected);
    wr_thread_stores_empty_shadow(&w->stores);
}

/* ---- the proxy's own recall ---- */

static struct wr_own_input own_input(struct worker *w, const struct wr_task *task)
{
    return (struct wr_own_input){.engine = w->engine,
                                 .store = w->stores.store,
                                 .arena = &w->arena,
                                 .tenant = task->record->tenant,
                                 .session = wr_session_span(&task->session),
                                 .path = task->path ? task->path : task->route->path,
                                 .recall = wr_task_recall(task),
                                 .may_begin = wr_task_may_take_out(task),
                                 .is_answer = task->route->is_answer,
                                 .now_ms = task->now_ms};
}

/* False: what the session was sent before is not known, and the request goes as it came. */
static bool offer_own(struct worker *w, struct wr_task *task, struct weir_request **request)
{
    struct wr_own_input input = own_input(w, task);
    bool is_found =
        task->kind != WR_TASK_REQUEST || wr_own_offer(w->own, &input, request, &task->own);

    memcpy(&task->record->first_turn, task->own.first_turn.bytes, sizeof(uint64_t));
    if (task->kind == WR_TASK_REQUEST && is_found)
        wr_departures_compare_own(&w->projector->options.metrics->departures, task->record,
                                  &task->own.added, task->own.lost_count);
    if (!is_found) {
        task->record->not_read = WR_LIT("own_recall_not_found");
        task->departure = wr_departure_whole((*request)->transcript.turns_count);
        return false;
    }
    task->record->has_own_recall = task->own.is_offered;
    task->record->own_put_back = task->own.put_count;
    task->record->own_left = task->own.left_count;
    task->record->own_misfits = task->own.misfit_count;
    return true;
}

/* In shadow the session is decided as if it had the tool that active would give it, with pins in
 * memory alone. Nothing of it is sent, and nothing of it outlasts this thread. */
static void imagine_own(struct worker *w, struct wr_task *task, struct weir_request **request)
{
    struct wr_own_input input = own_input(w, task);

    input.store = wr_thread_stores_for(&w->stores, &task->decision);
    if (input.store && w->own_imagined && task->kind == WR_TASK_REQUEST)
        (void)wr_own_offer(w->own_imagined, &input, request, &w->imagined);
}

/* What the store has lost of it meanwhile is there again before the request leaves. */
static void settle_own(struct worker *w, struct wr_task *task)
{
    struct wr_own_input input = own_input(w, task);
    wr_own_settle(w->own, &input, wr_span_of(task->record->model), &task->own);
}

/* A request that is sent unchanged also continues from the last leg, because the first leg ends
 * with a call of ours. */
static void chain_own(struct worker *w, struct wr_task *task, const struct weir_request *request)
{
    struct wr_own_input input = own_input(w, task);
    task->is_chained = wr_own_chain(&input, request, &task->out);
}

static void read_request(struct worker *w, struct wr_task *task, weir_span body)
{
    struct weir_request *request;
    struct weir_request_options options = {.path = task->path ? task->path : task->route->path};

    wr_engine_renew_policies(w->engine, task->config->policies_number, task->config->policies_yaml);
    weir_status status = weir_engine_request(w->engine, body, &options, &request, NULL);
    if (status) {
        task->is_unread = status == WEIR_NOMEM;
        task->record->not_read = task->is_unread ? WR_LIT("no_memory") : WR_LIT("not_a_request");
        return;
    }
    know_session(w, task, request);
    decide(w, task, request);
    bool is_found = true;
    if (task->decision.action == WR_ACTION_PROJECT)
        is_found = offer_own(w, task, &request);
    else if (weir_request_is_delta(request))
        chain_own(w, task, request);
    else if (task->decision.action == WR_ACTION_SHADOW)
        imagine_own(w, task, &request);
    if (task->decision.action == WR_ACTION_PASS)
        task->record->not_read = task->record->mode_reason;
    else if (is_found)
        project_task(w, task, request);
    weir_request_free(request);
    wr_own_release(&w->imagined);
}

static void read_body(struct worker *w, struct wr_task *task, weir_span body)
{
    int note;

    task->record->bytes_before = body.len;
    if (!wr_crash_enter(w->projector->options.crashes, w->projector->pid, wr_crash_hash(body),
                        &note)) {
        task->record->not_read = WR_LIT("suspected_of_crashes");
        return;
    }
    read_request(w, task, body);
    wr_crash_leave(w->projector->options.crashes, note);
}

/* The model's calls of our own recall are answered, and the request that goes on from there is
 * projected like one that came. */
static void run_leg(struct worker *w, struct wr_task *task)
{
    struct wr_own_input input = own_input(w, task);

    task->recalls = wr_own_answer(w->own, input.tenant, task->join, &task->own);
    task->record->own_recalls = task->recalls.calls_count;
    task->record->own_misses = task->recalls.missed_count;
    task->record->own_text_bytes = task->recalls.text_bytes;
    task->is_failed = !wr_own_extend(&input, task->join, &task->own);
    if (task->is_failed)
        return;
    read_body(w, task, wr_buf_view(&task->own.view));
}

/* Calls beside the client's own are answered now: their results wait for the client's. */
static void run_keep(struct worker *w, struct wr_task *task)
{
    struct wr_own_input input = own_input(w, task);

    settle_own(w, task);
    task->recalls = wr_own_answer(w->own, input.tenant, task->join, &task->own);
    task->is_failed = !wr_own_keep(&input, task->join, &task->own);
}

static void run_forget(struct worker *w, const struct wr_task *task)
{
    wr_arena_reset(&w->arena);
    struct wr_own_input input = own_input(w, task);
    wr_own_forget(&input, wr_span_of(task->record->model), &task->own);
}

static void run_name(struct worker *w, struct wr_task *task)
{
    struct wr_own_input input = {
        .store = w->stores.store, .arena = &w->arena, .tenant = task->record->tenant};

    wr_arena_reset(&w->arena);
    wr_own_find_stored(&input, task->body, &task->out, &task->report);
}

static void run(struct worker *w, struct wr_task *task)
{
    struct wr_buf decoded;

    w->started_us = wr_clock_steady_us();
    if (task->kind == WR_TASK_KEEP) {
        run_keep(w, task);
        return;
    }
    if (task->kind == WR_TASK_FORGET) {
        run_forget(w, task);
        return;
    }
    if (task->kind == WR_TASK_NAME) {
        run_name(w, task);
        return;
    }
    wr_buf_init(&decoded, WR_NET_DECODED_BYTES_MAX);
    if (task->kind == WR_TASK_LEG)
        run_leg(w, task);
    else if (task->coding == WR_CODING_IDENTITY)
        read_body(w, task, task->body);
    else if (!wr_decode_whole(task->coding, task->body, &decoded))
        task->record->not_read = WR_LIT("not_decoded");
    else
        read_body(w, task, wr_buf_view(&decoded));
    wr_buf_release(&decoded);
    if (!task->record->project_us)
        task->record->project_us = wr_clock_steady_us() - w->started_us;
}

/* ---- threads ---- */

static struct wr_task *take_task(struct worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    while (!w->first && !w->stops)
        (void)pthread_cond_wait(&w->wake, &w->lock);
    struct wr_task *task = w->stops ? NULL : w->first;
    if (task) {
        w->first = task->next;
        w->waiting_count--;
    }
    (void)pthread_mutex_unlock(&w->lock);
    return task;
}

/* The request has left, so this is in no hurry: where another task waits it is told with that one.
 */
static void give_back(struct worker *w, struct wr_task *task)
{
    struct wr_projector *p = w->projector;

    (void)pthread_mutex_lock(&p->lock);
    task->next = p->done;
    p->done = task;
    (void)pthread_mutex_unlock(&p->lock);
    if (!has_task(w))
        wake_loop(p);
}

/* Tables of tokens are read when a model first needs them, which takes a third of a second: not
 * while a client waits. */
static void warm_up(struct worker *w)
{
    static const char *const models[] = {"gpt-5", "gpt-4", "claude-opus-5"};

    for (size_t i = 0; i < WR_COUNT_OF(models) && !has_task(w); i++) {
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
    struct wr_task *task;

    warm_up(w);
    while ((task = take_task(w))) {
        run(w, task);
        give_back(w, task);
    }
    wake_loop(w->projector); /* what it was to be told with may not come any more */
    return NULL;
}

/* Both lists come newest first; they are told in the order they were made, and of one task the
 * first thing first. */
static void on_wake(uv_poll_t *wake, int status, int events)
{
    struct wr_projector *p = wake->data;
    struct wr_task *ready = NULL, *done = NULL;

    (void)status;
    (void)events;
    wr_os_wake_heard(&p->waker);
    (void)pthread_mutex_lock(&p->lock);
    p->is_woken = false;
    while (p->ready) {
        struct wr_task *task = p->ready;
        p->ready = task->next_ready;
        task->next_ready = ready;
        ready = task;
    }
    while (p->done) {
        struct wr_task *task = p->done;
        p->done = task->next;
        task->next = done;
        done = task;
    }
    (void)pthread_mutex_unlock(&p->lock);
    while (ready) {
        struct wr_task *task = ready;
        ready = task->next_ready;
        task->ready(task->user, task);
    }
    while (done) {
        struct wr_task *task = done;
        done = task->next;
        task->done(task->user, task);
    }
}

/* What a session's requests have in common before anything is read: its name, or how its bodies
 * begin. */
static size_t choose_worker(const struct wr_projector *p, const struct wr_task *task)
{
    size_t front = task->body.len < FRONT_BYTES ? task->body.len : FRONT_BYTES;
    weir_span key =
        task->session.len ? wr_session_span(&task->session) : wr_span_cut(task->body, 0, front);
    return wr_hash64(key) % p->workers_count;
}

bool wr_projector_add(struct wr_projector *projector, struct wr_task *task)
{
    size_t number = task->worker ? task->worker - 1 : choose_worker(projector, task);
    struct worker *w = &projector->workers[number];

    task->worker = (uint32_t)number + 1;
    task->next = NULL;
    wr_buf_init(&task->out, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&task->report, WR_LEDGER_REPORT_BYTES_MAX);
    (void)pthread_mutex_lock(&w->lock);
    bool has_room = w->waiting_count < WR_PROXY_JOBS_MAX;
    if (has_room) {
        *(w->first ? &w->last->next : &w->first) = task;
        w->last = task;
        w->waiting_count++;
        (void)pthread_cond_signal(&w->wake);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return has_room;
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
    w->stores =
        (struct wr_thread_stores){.dir = p->options.store_dir, .metrics = p->options.metrics};
    wr_arena_init(&w->arena, WR_ARENA_BYTES_MAX);
    weir_status status = weir_engine_new(&w->engine, err);
    if (!status)
        status = load_policies(w, p->options.policies, err);
    if (!status)
        wr_thread_stores_open(&w->stores);
    w->own = wr_own_new(p->options.store_dir);
    w->own_imagined = wr_own_new(NULL);
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
    if (p)
        p->waker = (struct wr_os_wake){-1, -1};
    if (!p || pthread_mutex_init(&p->lock, NULL))
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    p->options = *options;
    p->pid = getpid();
    p->wake.data = p;
    if (!wr_os_wake_open(&p->waker) || uv_poll_init(loop, &p->wake, p->waker.poll_fd) < 0 ||
        uv_poll_start(&p->wake, UV_READABLE, on_wake) < 0)
        return wr_fail(err, WEIR_IO, 0, "cannot start a thread");
    size_t count = wr_config_threads(options->config, options->store_dir);
    while (!status && p->workers_count < count && p->workers_count < THREADS_MAX)
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
    wr_own_free(w->own);
    wr_own_free(w->own_imagined);
    wr_thread_stores_close(&w->stores);
    weir_engine_free(w->engine);
    wr_arena_release(&w->arena);
}

void wr_projector_close(struct wr_projector *projector)
{
    for (size_t i = 0; i < projector->workers_count; i++)
        close_worker(&projector->workers[i]);
    if (projector->wake.type == UV_POLL)
        uv_close((uv_handle_t *)&projector->wake, NULL);
}

void wr_projector_free(struct wr_projector *projector)
{
    (void)pthread_mutex_destroy(&projector->lock);
    wr_os_wake_close(&projector->waker);
    free(projector);
}
