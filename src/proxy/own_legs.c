/* own_legs.c -- answers in which the model calls the proxy's own recall, on the loop.
 *
 * The answer runs through a join (api/join.h), which hides our calls. When one has ended that holds
 * calls of ours alone, a thread reads what they ask for and projects the request that goes on from
 * there; the provider is asked again, and its answer goes on in the client's. A leg is one such
 * question. Each leg has a record of its own, so that every sum of what was paid is the true one.
 *
 *   wr_own_legs_head ─▶ wr_own_legs_data ... ─▶ wr_own_legs_end
 *     ▲                                           │ calls of ours alone: wr_own_legs_next
 *     └── wr_own_legs_ready ◀── (thread) ◀────────┤
 *                                                 └ the last leg, or calls beside the client's:
 *                                                   start_keep ─▶ (thread) ─▶ on_kept ─▶ the end
 *
 * 1. The end of an answer that hides calls is shown when they are in the store: the next request
 *    may come at once, and on another node. Where the store does not take them they are lost for
 *    good: the record says so, and the next request declares it.
 * 2. A later leg that fails ends the answer with an error in the API's shape. What is incomplete is
 *    never called complete.
 * 3. An answer that comes whole is held until all legs are there.
 */
#include "base/clock.h"
#include "base/span.h"
#include "proxy/exchange_inside.h"

/* ---- signs of life ---- */

/* A stream that waits for its next leg must not look dead. */
static void on_pulse(uv_timer_t *timer)
{
    struct wr_service *service = timer->data;

    for (struct wr_exchange *ex = service->recalling; ex; ex = ex->own.next) {
        /* Clients of AWS know no sign of life, and wait for long. */
        if (ex->conn && ex->own.is_quiet && !ex->own.is_held && !ex->own.bridge &&
            wr_conn_has_room(ex->conn)) {
            wr_join_ping(ex->own.join, &ex->own.out);
            if (!wr_buf_status(&ex->own.out))
                wr_conn_write(ex->conn, wr_buf_view(&ex->own.out));
            wr_buf_reset(&ex->own.out);
        }
        ex->own.is_quiet = true;
    }
    if (!service->recalling)
        (void)uv_timer_stop(timer);
}

static void link_recalling(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;

    if (ex->own.is_linked)
        return;
    ex->own.is_linked = true;
    ex->own.next = service->recalling;
    service->recalling = ex;
    service->pulse.data = service;
    if (!uv_is_active((uv_handle_t *)&service->pulse))
        (void)uv_timer_start(&service->pulse, on_pulse, WR_OWN_QUIET_MS, WR_OWN_QUIET_MS);
}

static void unlink_recalling(struct wr_exchange *ex)
{
    for (struct wr_exchange **at = &ex->service->recalling; *at; at = &(*at)->own.next)
        if (*at == ex) {
            *at = ex->own.next;
            break;
        }
    ex->own.is_linked = false;
}

/* ---- an answer comes ---- */

/* An answer whose type says neither is taken for what was asked for: to hold a stream would stall
 * it, and either is joined by what it turns out to be. Lines of JSON are called JSON by some
 * servers. */
static bool is_event_stream(const struct wr_exchange *ex, const struct wr_head *head)
{
    weir_span type = wr_head_find(head, "content-type");
    bool says_whole =
        wr_span_starts(type, WR_LIT("application/json")) && !ex->route.api->streams_lines;

    return wr_answer_is_stream(ex->route.api, type) ||
           wr_span_starts(type, WR_LIT(WR_FRAMES_TYPE)) || (ex->task.own.is_stream && !says_whole);
}

static weir_status feed_join(void *user, weir_span bytes)
{
    struct wr_exchange *ex = user;

    if (ex->own.bridge) {
        wr_buf_reset(&ex->own.framed);
        wr_bridge_in(ex->own.bridge, bytes, &ex->own.framed);
        bytes = wr_buf_view(&ex->own.framed);
    }
    wr_join_feed(ex->own.join, bytes, &ex->own.out);
    return wr_buf_status(&ex->own.out);
}

/* False: there is no memory. */
static bool begin_bridge(struct wr_exchange *ex, const struct wr_head *head)
{
    bool is_framed = wr_span_starts(wr_head_find(head, "content-type"), WR_LIT(WR_FRAMES_TYPE));

    if (is_framed && !ex->own.bridge) {
        ex->own.bridge = wr_bridge_new();
        wr_buf_init(&ex->own.framed, WR_OUTPUT_BYTES_MAX);
    }
    if (ex->own.bridge)
        wr_bridge_begin(ex->own.bridge);
    return !is_framed || ex->own.bridge;
}

/* What is in a coding all the same is decoded; false: it cannot be. */
static bool begin_decoding(struct wr_exchange *ex, const struct wr_head *head)
{
    enum wr_coding coding = wr_coding_of(wr_head_find(head, "content-encoding"));

    wr_decoder_free(ex->own.decoder);
    ex->own.decoder = NULL;
    ex->own.is_undecodable = false;
    if (coding == WR_CODING_IDENTITY)
        return true;
    if (coding != WR_CODING_UNKNOWN)
        ex->own.decoder = wr_decoder_new(coding, WR_NET_DECODED_BYTES_MAX, feed_join, ex);
    return ex->own.decoder != NULL;
}

/* The client has the head of the first leg. One that is refused is shown in the client's answer. */
static bool begin_later(struct wr_exchange *ex, const struct wr_head *head)
{
    if (head->status != 200 || !begin_decoding(ex, head) || !begin_bridge(ex, head))
        ex->own.refused = head->status;
    ex->state = WR_EXCHANGE_ANSWERING;
    ex->record.status = (uint64_t)head->status;
    return true;
}

/* False: no memory, or a coding that is not known. To pass it on unread could show calls of ours.
 */
static bool begin_first(struct wr_exchange *ex, const struct wr_head *head, bool is_stream)
{
    ex->own.join = wr_join_new(ex->route.api, is_stream);
    wr_buf_init(&ex->own.out, WR_OUTPUT_BYTES_MAX);
    ex->own.is_held = !is_stream;
    return ex->own.join && begin_decoding(ex, head) && begin_bridge(ex, head) &&
           (is_stream || wr_refusal_begin(&ex->refusal, head));
}

bool wr_own_legs_head(struct wr_exchange *ex, const struct wr_head *head)
{
    bool is_stream = is_event_stream(ex, head);

    if (ex->own.count) {
        wr_tap_init(&ex->tap, ex->route.api, head, &ex->service->events);
        return begin_later(ex, head);
    }
    wr_join_free(ex->own.join); /* of a first try */
    ex->own.join = NULL;
    if (head->status != 200)
        return false;
    if (!begin_first(ex, head, is_stream)) {
        wr_own_legs_release(ex);
        wr_exchange_fail(ex, 502, "own_recall_failed",
                         "weir: the answer cannot be read, and may hold what is not the client's");
        return true;
    }
    wr_tap_init(&ex->tap, ex->route.api, head, &ex->service->events);
    if (ex->own.is_held) {
        ex->state = WR_EXCHANGE_ANSWERING;
        ex->record.status = (uint64_t)head->status;
    } else {
        wr_exchange_begin_answer(ex, head, -1);
    }
    return true;
}

/* What the client may have by now. */
static void show(struct wr_exchange *ex)
{
    struct wr_buf *shown = &ex->own.out;

    if (!ex->own.is_held && ex->own.bridge) {
        shown = &ex->own.framed;
        wr_buf_reset(shown);
        wr_bridge_out(ex->own.bridge, wr_buf_view(&ex->own.out), shown);
    }
    if (!ex->own.is_held && shown->len) {
        ex->own.is_quiet = false;
        wr_conn_write(ex->conn, wr_buf_view(shown));
    }
    if (!ex->own.is_held)
        wr_buf_reset(&ex->own.out);
}

void wr_own_legs_data(struct wr_exchange *ex, weir_span bytes)
{
    if (ex->own.refused || ex->own.is_undecodable)
        return;
    if (ex->own.decoder)
        ex->own.is_undecodable = wr_decoder_feed(ex->own.decoder, bytes) != WEIR_OK;
    else
        (void)!feed_join(ex, bytes);
    show(ex);
}

/* ---- the end of one ---- */

/* All that there is for the client is in `out`, or follows. */
static void finish_joined(struct wr_exchange *ex)
{
    wr_join_finish(ex->own.join, &ex->own.out);
    if (wr_buf_status(&ex->own.out)) {
        wr_exchange_fail(ex, 503, "no_memory", "out of memory");
        return;
    }
    if (wr_join_is_broken(ex->own.join) || (ex->own.is_held && !ex->own.out.len)) {
        wr_own_legs_fail(ex, "out of memory"); /* what has no end is not called complete */
        return;
    }
    if (ex->own.is_held) {
        ex->own.is_held = false;
        wr_exchange_begin_answer(ex, ex->refusal.head, (int64_t)ex->own.out.len);
        wr_refusal_release(&ex->refusal);
    }
    show(ex);
    wr_exchange_finish(ex);
}

void wr_own_legs_fail(struct wr_exchange *ex, const char *why)
{
    char text[640];

    (void)snprintf(text, sizeof(text), "weir: %s: %s",
                   ex->own.count ? "the model recalled what was left out, and then could not go on"
                                 : "the answer could not be shown to its end",
                   why);
    if (ex->own.is_held) {
        wr_exchange_fail(ex, 502, "own_recall_failed", text);
        return;
    }
    ex->record.end = WR_LIT("own_recall_failed");
    wr_join_fail(ex->own.join, text, &ex->own.out);
    show(ex);
    wr_exchange_finish(ex);
}

static void on_kept(void *user, struct wr_task *task)
{
    struct wr_exchange *ex = user;

    ex->own.is_keeping = false;
    ex->record.own_recalls += task->recalls.calls_count;
    ex->record.own_misses += task->recalls.missed_count;
    ex->record.own_text_bytes += task->recalls.text_bytes;
    task->own = (struct wr_own_part){.is_offered = false}; /* it is the other task's */
    if (task->is_failed && task->kind == WR_TASK_KEEP && ex->state == WR_EXCHANGE_KEEPING)
        wr_exchange_tell_lost(ex);
    wr_task_release(task);
    if (ex->conn && ex->state == WR_EXCHANGE_KEEPING)
        finish_joined(ex);
    else
        wr_exchange_free_if_over(ex);
}

static void add_keep(struct wr_exchange *ex, enum wr_task_kind kind)
{
    ex->own.keep = (struct wr_task){.kind = kind,
                                    .join = ex->own.join,
                                    .worker = ex->task.worker,
                                    .config = ex->config,
                                    .route = &ex->route,
                                    .now_ms = wr_clock_ms(),
                                    .record = &ex->record,
                                    .session = ex->task.session,
                                    .decision = ex->task.decision,
                                    .own = ex->task.own,
                                    .done = on_kept,
                                    .user = ex};
    ex->own.is_keeping = wr_projector_add(ex->service->projector, &ex->own.keep);
}

/* Invariant 1. */
static void start_keep(struct wr_exchange *ex)
{
    ex->state = WR_EXCHANGE_KEEPING;
    add_keep(ex, WR_TASK_KEEP);
    if (!ex->own.is_keeping) {
        wr_exchange_tell_lost(ex);
        finish_joined(ex);
    }
}

void wr_own_legs_forget(struct wr_exchange *ex)
{
    if (ex->is_late && ex->task.own.has_begun)
        add_keep(ex, WR_TASK_FORGET);
}

/* Whether something of the leg did not come through its frames or its coding. Some servers leave
 * out the end of a coding behind an answer that is complete. */
static bool lacks_bytes(const struct wr_exchange *ex)
{
    bool is_coding_open = ex->own.decoder && !wr_decoder_is_complete(ex->own.decoder);

    return ex->own.is_undecodable || (is_coding_open && !ex->tap.answer.is_finished) ||
           (ex->own.bridge && wr_bridge_is_lost(ex->own.bridge));
}

void wr_own_legs_end(struct wr_exchange *ex)
{
    char text[64];

    wr_tap_end(&ex->tap);
    if (ex->own.refused) {
        (void)snprintf(text, sizeof(text), "the provider answered with HTTP %d", ex->own.refused);
        wr_own_legs_fail(ex, text);
        return;
    }
    enum wr_join_verdict verdict = wr_join_end_leg(ex->own.join, &ex->own.out);
    if (wr_join_is_broken(ex->own.join) || lacks_bytes(ex)) {
        wr_own_legs_fail(ex, "the provider broke off");
    } else if (verdict == WR_JOIN_ASK && ex->own.count + 1 >= WR_OWN_LEGS_MAX) {
        wr_own_legs_fail(ex, "it recalled too often");
    } else if (verdict == WR_JOIN_ASK) {
        link_recalling(ex);
        ex->state = WR_EXCHANGE_LEG_DUE;
        if (!wr_exchange_is_task_running(ex))
            wr_own_legs_next(ex);
    } else if (verdict == WR_JOIN_BESIDE || ex->own.count) {
        start_keep(ex);
    } else {
        finish_joined(ex);
    }
}

/* ---- the next leg ---- */

/* The record of the next leg: the same who and whom. */
static void begin_record(struct wr_exchange *ex)
{
    struct wr_record *r = &ex->record, last = *r;

    wr_record_init(r);
    r->time_ms = wr_clock_ms();
    r->api = last.api;
    r->asks_model = last.asks_model;
    r->upstream = last.upstream;
    r->base_url = last.base_url;
    r->provider = last.provider;
    r->trace = last.trace;
    r->path = last.path;
    r->tenant = last.tenant;
    r->user = last.user;
    r->team = last.team;
    r->agent = last.agent;
    r->run = last.run;
    r->leg = ++ex->own.count;
    ex->started_us = ex->body_ended_us = wr_clock_steady_us();
    ex->first_byte_us = 0;
    ex->is_answer_kept = false;
    ex->own.refused = 0;
}

void wr_own_legs_next(struct wr_exchange *ex)
{
    struct wr_task last = ex->task;

    wr_exchange_tell(ex);
    begin_record(ex);
    ex->task = (struct wr_task){.kind = WR_TASK_LEG,
                                .join = ex->own.join,
                                .worker = last.worker,
                                .config = ex->config,
                                .route = &ex->route,
                                .path = last.path,
                                .mode = last.mode,
                                .policy = last.policy,
                                .recall = last.recall,
                                .now_ms = ex->record.time_ms,
                                .session = last.session,
                                .decision = last.decision,
                                .own = last.own};
    ex->record.session = wr_session_span(&ex->task.session);
    last.own = (struct wr_own_part){.is_offered = false};
    wr_task_release(&last);
    wr_tap_release(&ex->tap);
    ex->tap = (struct wr_tap){.kind = WR_TAP_OFF};
    ex->task_state = WR_TASK_NONE;
    if (!wr_exchange_start_task(ex, WR_EXCHANGE_RECALLING)) {
        wr_task_release(&ex->task);
        wr_own_legs_fail(ex, "too many requests wait");
    }
}

void wr_own_legs_ready(struct wr_exchange *ex)
{
    const struct wr_task *task = &ex->task;

    if (task->is_failed || !wr_exchange_is_projected(ex)) {
        wr_own_legs_fail(ex, "the next request could not be made");
        return;
    }
    wr_join_next(ex->own.join);
    wr_exchange_send(ex);
}

/* ---- answers that are named ---- */

static void on_named(void *user, struct wr_task *task)
{
    struct wr_exchange *ex = user;
    weir_span target = ex->route.target, id = ex->route.answer_id;

    ex->own.is_keeping = false;
    if (ex->state == WR_EXCHANGE_NAMING && task->out.len) {
        size_t at = (size_t)(id.ptr - target.ptr);
        wr_buf_reset(&ex->own.target);
        wr_buf_append(&ex->own.target, wr_span_cut(target, 0, at));
        wr_buf_append(&ex->own.target, wr_buf_view(&task->out));
        wr_buf_append(&ex->own.target, wr_span_cut(target, at + id.len, target.len));
        if (!wr_buf_status(&ex->own.target))
            ex->route.target = wr_buf_view(&ex->own.target);
        wr_buf_append(&ex->own.named, wr_buf_view(&task->report));
    }
    wr_task_release(task);
    if (ex->state == WR_EXCHANGE_NAMING)
        wr_exchange_send(ex);
    else
        wr_exchange_free_if_over(ex);
}

bool wr_own_legs_name(struct wr_exchange *ex)
{
    if (!ex->route.answer_id.len || !ex->config->store_dir)
        return false;
    wr_buf_init(&ex->own.named, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&ex->own.target, WR_NET_HEAD_BYTES_MAX);
    wr_buf_append(&ex->own.target, ex->route.answer_id); /* the thread may outlive the head */
    if (wr_buf_status(&ex->own.target))
        return false;
    ex->own.keep = (struct wr_task){.kind = WR_TASK_NAME,
                                    .body = wr_buf_view(&ex->own.target),
                                    .config = ex->config,
                                    .route = &ex->route,
                                    .record = &ex->record,
                                    .done = on_named,
                                    .user = ex};
    ex->own.is_keeping = wr_projector_add(ex->service->projector, &ex->own.keep);
    if (ex->own.is_keeping)
        ex->state = WR_EXCHANGE_NAMING;
    return ex->own.is_keeping;
}

bool wr_own_legs_hold_named(struct wr_exchange *ex, const struct wr_head *head)
{
    bool is_json = wr_span_find(wr_head_find(head, "content-type"), WR_LIT("json"), 0) != SIZE_MAX;

    if (!ex->own.named.len || head->status != 200 || !is_json ||
        wr_head_find(head, "content-encoding").len || !wr_refusal_begin(&ex->refusal, head))
        return false;
    wr_buf_init(&ex->own.out, WR_OUTPUT_BYTES_MAX);
    ex->own.is_named = true;
    ex->state = WR_EXCHANGE_ANSWERING;
    return true;
}

void wr_own_legs_show_named(struct wr_exchange *ex)
{
    struct wr_own_stored stored = {.exchange = wr_buf_view(&ex->own.named)};
    struct wr_arena arena;
    struct wr_buf shown;
    char id[WR_OWN_ID_BYTES_MAX + 1];

    /* The path in the head is as it came: with the id that the client knows. */
    weir_span known = wr_api_answer_id(ex->head->target);
    (void)snprintf(id, sizeof(id), "%.*s", (int)known.len, known.len ? known.ptr : "");
    stored.id = wr_span_of(id);
    stored.arena = &arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&shown, WR_OUTPUT_BYTES_MAX);
    bool is_shown = !wr_own_show_stored(wr_api_of_answers(ex->head->target),
                                        wr_buf_view(&ex->own.out), &stored, &shown) &&
                    !wr_buf_status(&shown);
    weir_span body = wr_buf_view(is_shown ? &shown : &ex->own.out);
    wr_exchange_begin_answer(ex, ex->refusal.head, (int64_t)body.len);
    wr_refusal_release(&ex->refusal);
    wr_conn_write(ex->conn, body);
    wr_buf_release(&shown);
    wr_arena_release(&arena);
    wr_exchange_finish(ex);
}

void wr_own_legs_release(struct wr_exchange *ex)
{
    if (ex->own.is_linked)
        unlink_recalling(ex);
    wr_join_free(ex->own.join);
    ex->own.join = NULL;
    wr_decoder_free(ex->own.decoder);
    ex->own.decoder = NULL;
    wr_bridge_free(ex->own.bridge);
    ex->own.bridge = NULL;
    wr_buf_release(&ex->own.framed);
    wr_buf_release(&ex->own.out);
    wr_buf_release(&ex->own.target);
    wr_buf_release(&ex->own.named);
}
