/* leave.c -- a request leaves: with what was made of it, or as it came, and once more where that
 * may help.
 *
 *   wr_exchange_send ──▶ the place that its session is at
 *     │ the place fails ──▶ wr_exchange_sends_again: the same bytes, to another place (below)
 *     │ the provider refuses, and there is a remedy (refusal.h) ──▶ a second try: other bytes
 *     ▼
 *   the answer is shown
 *
 * How it left is noted where the marks of its session do not say so (departures.h), before the
 * answer can come and with it the next request; whether its upstream could be reached is noted in
 * metrics.h, for all workers.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/span.h"
#include "proxy/counts.h"
#include "proxy/credential.h"
#include "proxy/departures.h"
#include "proxy/exchange_inside.h"
#include "proxy/refusal.h"

/* What only counts tokens leaves nothing in a cache, and of a request that the provider completes
 * nothing is sent again. */
static bool is_compared(const struct wr_exchange *ex)
{
    return ex->route.is_answer && ex->config->store_dir && !ex->record.is_delta;
}

/* Whether our own recall is in it may be known to this process alone. */
static void note_departure(struct wr_exchange *ex)
{
    struct wr_departure departure = ex->task.departure;

    if (!departure.is_other && ex->task.own.is_unkept)
        departure = (struct wr_departure){
            .is_other = true, .is_viewed = ex->task.own.is_viewed, .from = 1, .to = 0};
    wr_departures_note(&ex->service->metrics->departures, &ex->record, &departure);
    if (ex->is_sent_changed || !ex->task.own.is_viewed)
        wr_departures_note_own(&ex->service->metrics->departures, &ex->record, &ex->task.own.added);
}

void wr_exchange_send(struct wr_exchange *ex)
{
    if (wr_admit_hold(ex))
        return;
    bool is_known = wr_exchange_is_task_ready(ex) && ex->task_state != WR_TASK_MISSED;

    ex->is_sent_changed = wr_exchange_is_projected(ex);
    if (is_known && ex->task.decision.action == WR_ACTION_PROJECT && is_compared(ex))
        note_departure(ex);
    else if (is_known && ex->task.is_unread && is_compared(ex))
        wr_departures_note_unread(&ex->service->metrics->departures, &ex->record);
    (void)wr_exchange_ask(ex, wr_exchange_body(ex, ex->is_sent_changed));
}

void wr_exchange_tell_missed(struct wr_exchange *ex)
{
    struct wr_departures *departures = &ex->service->metrics->departures;
    struct wr_departure whole = wr_departure_whole(0);

    if (ex->task.decision.action != WR_ACTION_PROJECT || !is_compared(ex))
        return;
    if (ex->is_late && !ex->is_sent_changed) /* else it was a second try, and the first had left */
        wr_departures_note(departures, &ex->record, &whole);
    if (ex->record.is_step)
        wr_departures_add_reason(departures, &ex->record, ex->record.step_reason);
}

void wr_exchange_tell_lost(struct wr_exchange *ex)
{
    ex->record.own_lost++;
    if (is_compared(ex))
        wr_departures_add_reason(&ex->service->metrics->departures, &ex->record, WR_LIT("store"));
}

/* ==== a second try ====
 *
 * A request that the provider refused, projected otherwise and sent once more.
 *
 * The refusal is held while that goes on: it may turn out that there is nothing else to send, and
 * then the client gets it as it came. exchange.h draws the states, refusal.h says which refusals
 * have a remedy.
 */

/* Nothing is sent again after all. */
void wr_second_try_give_up(struct wr_exchange *ex)
{
    ex->record.retries_count = 0;
    ex->record.retry_reason = (weir_span){NULL, 0};
    wr_exchange_show_refusal(ex);
    wr_exchange_finish(ex);
}

/* Projects what came once more, as the provider wants it. The refusal is held until that is done:
 * it may turn out that there is nothing else to send. */
void wr_second_try_project(struct wr_exchange *ex)
{
    wr_task_release(&ex->task);
    ex->task_state = WR_TASK_NONE;
    wr_record_forget(&ex->record);
    if (!wr_exchange_project(ex, WR_EXCHANGE_REPROJECTING))
        wr_second_try_give_up(ex);
}

/* Of the prompt that left, by our count; 0: it is not known, or not yet. */
static uint64_t tokens_sent(const struct wr_exchange *ex)
{
    if (!wr_exchange_is_task_ready(ex))
        return 0;
    return ex->is_sent_changed ? ex->record.tokens_after : ex->record.tokens_before;
}

static struct wr_remedy find_remedy(const struct wr_exchange *ex)
{
    bool is_known = wr_exchange_is_task_ready(ex) && ex->record.deed != WR_DEED_PASSED;
    struct wr_refused refused = {
        .body = wr_exchange_body(ex, ex->is_sent_changed),
        .was_changed = ex->is_sent_changed,
        .may_project = !(is_known && ex->task.decision.bound == WR_BOUND_RAW),
        .was_projected = is_known && ex->task.decision.action == WR_ACTION_PROJECT,
        .tokens_sent = tokens_sent(ex),
        .answer_tokens = is_known ? (uint32_t)ex->record.answer_tokens : 0,
    };
    return wr_refusal_judge(&ex->refusal, &refused);
}

/* True: the request goes out again, or may; nothing of the refusal is shown yet. */
bool wr_second_try_begin(struct wr_exchange *ex)
{
    ex->remedy = find_remedy(ex);
    if (wr_exchange_is_task_ready(ex))
        (void)!wr_counts_add(ex->service->counts, ex->record.base_url, ex->record.model,
                             tokens_sent(ex), ex->remedy.counted_tokens);
    if (!ex->remedy.reason)
        return false;
    ex->record.retries_count++;
    ex->record.retry_reason = wr_span_of(ex->remedy.reason);
    ex->first_byte_us = 0;
    if (wr_exchange_is_task_running(ex))
        ex->state = WR_EXCHANGE_RETRY_DUE;
    else
        wr_second_try_project(ex);
    return true;
}

/* The second try is projected: what is not another form of what was refused is not sent. */
void wr_second_try_send(struct wr_exchange *ex)
{
    bool is_changed = wr_exchange_is_projected(ex);

    if (!wr_remedy_fits(&ex->remedy, wr_exchange_body(ex, is_changed), is_changed)) {
        wr_exchange_tell_missed(ex); /* its marks are in the store */
        wr_second_try_give_up(ex);
        return;
    }
    wr_refusal_release(&ex->refusal);
    wr_exchange_send(ex);
}

/* A request that leaves once more with the same bytes: on a fresh connection, because the kept one
 * had died, or to another place of its upstream, because that one failed.
 *
 *   leaves ── choose_place: the session's own, unless that rests
 *     │ 429, 529, 502, 503, 504; 401, 403 of a key that Weir holds; nobody there
 *     ▼
 *   the place rests; is there another that does not? ── no: the client sees this answer
 *     │ yes: the answer is thrown away (sends_again), the session moves
 *     ▼
 *   leaves
 *
 * Only where all of the request is here, and nothing of an answer has been shown. A request that
 * had left whole and got no answer may have been carried out: to send it elsewhere could be paid
 * twice, and counted once. The place rests, and the client is told; when it asks again it is asked
 * elsewhere.
 */

/* ---- which place ---- */

static uint64_t session_hash(const struct wr_exchange *ex)
{
    struct wr_session_name name = {.len = 0};
    uint64_t hash = wr_hash64(wr_span_of(ex->entry.tenant));

    if (wr_exchange_is_task_ready(ex))
        return wr_hash64_seeded(wr_session_span(&ex->task.session), hash);
    if (ex->head)
        wr_identity_from_head(ex->head, &name);
    return wr_hash64_seeded(wr_session_span(&name), hash);
}

/* Places at another provider's host, which must not see the client's credential. */
static unsigned find_barred(const struct wr_exchange *ex)
{
    const struct wr_upstream *upstream = ex->route.upstream;
    struct wr_credential credential;
    unsigned barred = 0;

    for (size_t i = 0; i < upstream->places_count; i++)
        if (!wr_upstream_has_key(&upstream->places[i]) &&
            wr_credential_find_strange(ex->head, ex->route.target, &upstream->places[i],
                                       &credential))
            barred |= 1u << i;
    return barred;
}

static size_t index_of(const struct wr_exchange *ex)
{
    return (size_t)(ex->place - ex->route.upstream->places);
}

static void go_to(struct wr_exchange *ex, size_t index)
{
    ex->place = &ex->route.upstream->places[index];
    ex->record.place = wr_span_of(ex->place->place_name);
    ex->record.place_url = ex->place->base_url;
}

void wr_exchange_choose_place(struct wr_exchange *ex)
{
    const struct wr_upstream *upstream = ex->route.upstream;
    size_t own;

    if (!wr_upstream_has_places(upstream) || !ex->conn || ex->is_moving)
        return;
    if (ex->place) { /* a further leg, or a second try */
        go_to(ex, index_of(ex));
        return;
    }
    ex->places_tried = find_barred(ex);
    size_t index = wr_places_choose(&ex->service->metrics->places, upstream, session_hash(ex),
                                    ex->places_tried, wr_clock_ms(), &own);
    if (index == SIZE_MAX)
        return;
    go_to(ex, index);
    if (index == own)
        return;
    ex->record.left_place = wr_span_of(upstream->places[own].place_name);
    ex->record.left_reason = WR_LIT("rests");
}

/* ---- a place that fails ---- */

/* What it asks for itself: "retry-after: 20", "retry-after-ms: 1500"; 0: nothing. */
static uint64_t rest_ms_of(const struct wr_head *head)
{
    uint64_t number = 0;

    if (wr_span_u64(wr_head_find(head, "retry-after-ms"), &number))
        return number;
    if (wr_span_u64(wr_head_find(head, "retry-after"), &number) && number < WR_PROXY_REST_MS_MAX)
        return number * 1000;
    return 0;
}

static bool is_failure(const struct wr_exchange *ex, int status)
{
    bool is_our_key = wr_upstream_has_key(ex->place) && (status == 401 || status == 403);
    return status == 429 || status == 529 || (status >= 502 && status <= 504) || is_our_key;
}

/* The place rests. False: no other can be asked, or not all of the request is here any more. */
static bool find_next(struct wr_exchange *ex, uint64_t rest_ms)
{
    struct wr_places *places = &ex->service->metrics->places;
    const struct wr_upstream *upstream = ex->route.upstream;

    wr_places_rest(places, upstream, index_of(ex), rest_ms, wr_clock_ms());
    ex->places_tried |= 1u << index_of(ex);
    if (ex->upload == WR_UPLOAD_STREAMED || ex->own.count)
        return false;
    ex->place_next =
        wr_places_next(places, upstream, session_hash(ex), ex->places_tried, wr_clock_ms());
    return ex->place_next != SIZE_MAX;
}

static weir_span reason_of(int status)
{
    static const struct {
        int status;
        const char *word;
    } words[] = {{429, "429"}, {529, "529"}, {502, "502"}, {503, "503"},
                 {504, "504"}, {401, "401"}, {403, "403"}};

    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        if (words[i].status == status)
            return wr_span_of(words[i].word);
    return WR_LIT("unreachable");
}

/* The first that it left is the one where its cache is. */
static void note_left(struct wr_exchange *ex, int status)
{
    ex->record.places_tried++;
    if (ex->record.left_place.len)
        return;
    ex->record.left_place = wr_span_of(ex->place->place_name);
    ex->record.left_reason = reason_of(status);
}

bool wr_exchange_leaves_place(struct wr_exchange *ex, const struct wr_head *head)
{
    if (!ex->place)
        return false;
    if (is_failure(ex, head->status)) {
        if (!find_next(ex, rest_ms_of(head)))
            return false;
        note_left(ex, head->status);
        ex->is_moving = true;
        if (ex->fetch)
            wr_fetch_drop(ex->fetch); /* the rest may never come */
        return true;
    }
    if (head->status < 400)
        wr_places_keep(&ex->service->metrics->places, ex->route.upstream, session_hash(ex),
                       index_of(ex), wr_clock_ms());
    return false;
}

/* ---- once more ---- */

bool wr_exchange_sends_again(struct wr_exchange *ex, enum wr_fetch_result result)
{
    bool is_away = result == WR_FETCH_UNREACHABLE || result == WR_FETCH_TIMEOUT;

    if (result == WR_FETCH_STALE && !ex->is_fresh && ex->upload != WR_UPLOAD_STREAMED) {
        ex->is_fresh = true;
        ex->body_taken_bytes = 0;
        if (ex->upload == WR_UPLOAD_REPLAYED)
            (void)wr_exchange_ask(ex, (weir_span){"", 0});
        else
            wr_exchange_send(ex);
        return true;
    }
    if (result == WR_FETCH_UNANSWERED)
        wr_admit_note_lost(ex);
    if (!ex->is_moving && ex->place && ex->state == WR_EXCHANGE_ASKING &&
        (is_away || result == WR_FETCH_UNANSWERED) && find_next(ex, 0) && is_away) {
        note_left(ex, 0);
        ex->is_moving = true;
    }
    if (!ex->is_moving)
        return false;
    ex->is_moving = false;
    go_to(ex, ex->place_next);
    ex->is_fresh = false;
    ex->first_byte_us = 0;
    ex->body_taken_bytes = 0;
    bool is_whole = ex->upload == WR_UPLOAD_WHOLE;
    (void)wr_exchange_ask(ex, is_whole ? wr_exchange_body(ex, ex->is_sent_changed)
                                       : (weir_span){"", 0});
    return true;
}
