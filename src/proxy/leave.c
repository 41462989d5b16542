/* leave.c -- a request leaves: with what was made of it, or as it came, and once more where that
 * may help.
 *
 *   wr_exchange_send ──▶ the place that its session is at
 *     │ the place fails ──▶ wr_exchange_sends_again: the same bytes, to another place (move.c)
 *     │ the provider refuses, and there is a remedy (refusal.h) ──▶ a second try: other bytes
 *     ▼
 *   the answer is shown
 *
 * How it left is noted where the marks of its session do not say so (departures.h), before the
 * answer can come and with it the next request; whether its upstream could be reached is noted in
 * metrics.h, for all workers.
 */
#include "base/span.h"
#include "proxy/counts.h"
#include "proxy/departures.h"
#include "proxy/exchange_inside.h"
#include "proxy/refusal.h"
#include "proxy/task.h"

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
