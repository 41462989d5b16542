/* leave.c -- a request leaves: with what was made of it, or as it came.
 *
 * Either is noted where the marks of its session do not say so (departures.h), before the answer
 * can come and with it the next request.
 */
#include "proxy/exchange_inside.h"

#include "base/span.h"

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
